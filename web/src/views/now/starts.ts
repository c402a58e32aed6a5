// The answer to the question on top of Now: where and when the job starts.
import type { Selection, Waits } from '../../api/contract';
import { questionText } from '../../api/loader';
import type { Loaded } from '../../api/loader';
import { useAnswer } from '../../live/live';
import { knownStarts, questionOf, refusalsOf, selectBody, startsOf } from './question';
import type { Question, Refusals, Start } from './question';

const kSelect = 'v1/select';
const kRestSeconds = 10;

export interface Asked {
  question: Question;
  refused: Refusals | null; // why nothing is asked
  starts: Start[] | null; // null: not known yet
  selection: Loaded<Selection> | null; // null: /v1/waits has the answer
}

export function useStarts(params: URLSearchParams, waits: Waits | null, now: number): Asked {
  const asked = questionOf(params);
  const question = asked.begin !== null && asked.begin <= now ? { ...asked, begin: null } : asked;
  const refusals = refusalsOf(params);
  const refused = Object.keys(refusals).length > 0 ? refusals : null;
  const known = waits && !refused ? knownStarts(waits, question) : null;
  const mayAsk = waits !== null && known === null && !refused;
  const body = selectBody(question);
  const answer = useAnswer<Selection>(mayAsk ? kSelect : null, kRestSeconds, mayAsk ? body : undefined);
  if (!mayAsk) return { question, refused, starts: known, selection: null };
  const data = answer.path === questionText(kSelect, body) ? answer.data : null; // never that of another question
  return { question, refused, starts: data ? startsOf(data) : null, selection: { ...answer, data } };
}
