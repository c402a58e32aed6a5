// Sentences of the page by key (words/english.ts), with values put in where {name} stands. Another
// language is a table from the English sentence to its own, made from po/*.po (words/language.ts);
// what it lacks is said in English.
import type { ComponentChildren } from 'preact';
import { kEnglish, kEnglishCounts } from './english';
import type { CountKey, Key } from './english';
import { grouped } from './numbers';

export type Sentences = Readonly<Record<string, string>>;

const kRules = new Intl.PluralRules('en'); // a translation has a sentence for each English form

let sentences: Sentences = {};
let spoken = 'en';

/** From now on the page speaks `language` ("ko"); before anything is drawn. */
export function speak(language: string, table: Sentences): void {
  spoken = language;
  sentences = table;
}

/** "en", "ko". */
export const spokenLanguage = (): string => spoken;

/** The language's tag, for dates: "en-GB", "ko-KR". */
export const locale = (): string => (spoken === 'ko' ? 'ko-KR' : 'en-GB');

type Values = Record<string, string | number>;

const translated = (english: string): string => (Object.hasOwn(sentences, english) ? sentences[english] ?? english : english);

const template = (key: Key): string => translated(kEnglish[key]);

const filled = (text: string, values: Values): string => text.replace(/\{(\w+)\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : whole));

/** A sentence or label that is written where it is shown, in the reader's language. Never a name or
 *  other data: those are values. */
export const phrase = (english: string, values: Values = {}): string => filled(translated(english), values);

export const say = (key: Key, values: Values = {}): string => filled(template(key), values);

/** The form of `key` for `count` things; {n} is the count. */
export function sayCount(key: CountKey, count: number, values: Values = {}): string {
  const forms: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string } = kEnglishCounts[key];
  const form = kRules.select(count);
  return filled(translated(forms[form] ?? forms.other), { n: grouped(count), ...values });
}

/** The same sentence with elements as values, such as a name that somebody else chose. */
export function sayNodes(key: Key, values: Record<string, ComponentChildren>): ComponentChildren[] {
  return template(key)
    .split(/(\{\w+\})/)
    .map((part) => {
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      return name !== undefined && Object.hasOwn(values, name) ? values[name] : part;
    });
}
