// Sentences of the page by key (words/english.ts), with values put in where {name} stands. Another
// language is a table of the same keys; what it lacks is said in English.
import type { ComponentChildren } from 'preact';
import { kEnglish, kEnglishCounts } from './english';
import type { CountKey, Key } from './english';
import { grouped } from './numbers';

export type PluralForms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

export interface Catalogue {
  language: string; // "en", "ko"
  sentences: Partial<Record<Key, string>>;
  counts: Partial<Record<CountKey, PluralForms>>;
}

const kEnglishCatalogue: Catalogue = { language: 'en', sentences: kEnglish, counts: kEnglishCounts };

let catalogue = kEnglishCatalogue;
let rules = new Intl.PluralRules('en');

/** From now on the page speaks this language; null: English. */
export function speak(next: Catalogue | null): void {
  catalogue = next ?? kEnglishCatalogue;
  rules = new Intl.PluralRules(catalogue.language);
}

type Values = Record<string, string | number>;

const template = (key: Key): string => catalogue.sentences[key] ?? kEnglish[key];

const filled = (text: string, values: Values): string => text.replace(/\{(\w+)\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : whole));

export const say = (key: Key, values: Values = {}): string => filled(template(key), values);

/** The form of `key` for `count` things; {n} is the count. */
export function sayCount(key: CountKey, count: number, values: Values = {}): string {
  const forms: PluralForms = catalogue.counts[key] ?? kEnglishCounts[key];
  const form = (catalogue.counts[key] ? rules : new Intl.PluralRules('en')).select(count);
  return filled(forms[form] ?? forms.other, { n: grouped(count), ...values });
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
