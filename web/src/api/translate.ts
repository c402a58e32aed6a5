// The daemon's own sentences in the reader's language. Its answers are in English; what they hold of
// sentences is sent to `POST v1/words` once, and remembered. What that does not know, or where it does
// not answer, stays English. Names and other people's texts are never sent.
import { spokenLanguage } from '../words/say';

/** Members that hold the daemon's sentences, alone or in a list. */
const kSentences = new Set(['assumed', 'because', 'beyond', 'clears', 'message', 'note', 'notes', 'problem', 'reason_words', 'reasons', 'stale_cause', 'tips', 'warnings', 'why', 'why_not_more', 'words', 'would_fit_with']);
/** In these answers `reason` is a sentence too; elsewhere it is Slurm's word, or an administrator's text. */
const kReasonsOf = ['v1/waits', 'v1/scale'];
const kMostAtOnce = 500;
const kMostBytes = 1000;
const kMostRemembered = 5000;
const kPatienceMilliseconds = 5000;

const known = new Map<string, string>();

type Change = (text: string) => string;

/** `value` with `change` made to each sentence in it. */
function changed(value: unknown, isSentence: boolean, members: ReadonlySet<string>, change: Change): unknown {
  if (typeof value === 'string') return isSentence ? change(value) : value;
  if (Array.isArray(value)) return value.map((one) => changed(one, isSentence, members, change));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, changed(of, members.has(name), members, change)]));
}

/** The answer to `path` with the daemon's sentences in the reader's language. */
export async function inReadersLanguage<T>(path: string, answer: T): Promise<T> {
  if (spokenLanguage() === 'en') return answer;
  const members = new Set(kSentences);
  if (kReasonsOf.some((start) => path.startsWith(start))) members.add('reason');
  const unknown = new Set<string>();
  changed(answer, false, members, (text) => {
    if (text.includes(' ') && text.length <= kMostBytes && !known.has(text)) unknown.add(text);
    return text;
  });
  if (unknown.size > 0) await learn([...unknown].slice(0, kMostAtOnce));
  return changed(answer, false, members, (text) => known.get(text) ?? text) as T;
}

/** One sentence of the daemon in the reader's language. */
export const sentence = async (words: string): Promise<string> => (await inReadersLanguage('', { words })).words;

async function learn(texts: string[]): Promise<void> {
  try {
    const response = await fetch('v1/words', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ language: spokenLanguage(), texts }),
      signal: AbortSignal.timeout(kPatienceMilliseconds),
    });
    const answer = (await response.json()) as { texts?: unknown[] };
    if (known.size > kMostRemembered) known.clear();
    texts.forEach((text, i) => {
      const own = answer.texts?.[i];
      if (typeof own === 'string') known.set(text, own);
    });
  } catch {
    // In English, then.
  }
}
