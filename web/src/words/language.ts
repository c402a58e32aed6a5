// Which language the page speaks: ?lang=ko in its address, which is kept, else the browser's first
// one that there is. Other languages than English are fetched when they are wanted.
import { languages } from 'virtual:languages';
import { recall, remember } from '../parts/stored';
import { speak } from './say';

export const kLanguages = ['en', ...Object.keys(languages)];

const known = (tag: string): string | undefined => kLanguages.find((language) => tag.toLowerCase().split('-')[0] === language);

/** "en", "ko": of the address, of the last choice, of the browser, in this order. */
export function wantedLanguage(): string {
  const asked = known(new URLSearchParams(location.search).get('lang') ?? '');
  if (asked) remember('lang', asked);
  const kept = known(recall('lang') ?? '');
  return asked ?? kept ?? navigator.languages.map(known).find((language) => language !== undefined) ?? 'en';
}

/** Fetches the sentences; where they do not come the page is in English. */
export async function chooseLanguage(): Promise<void> {
  const language = wantedLanguage();
  const sentences = await languages[language]?.().catch(() => undefined);
  if (!sentences) return;
  speak(language, sentences.default);
  document.documentElement.lang = language;
}

/** Another language from now on: the page starts anew. */
export function switchTo(language: string): void {
  remember('lang', language);
  const address = new URL(location.href);
  address.searchParams.delete('lang');
  if (address.href === location.href) location.reload();
  else location.assign(address);
}
