// The head of a ranking: of what, by which objective, of which moment; and what has changed since.
import type { Advice } from '../../api/contract';
import { useLive } from '../../live/live';
import { Name } from '../../parts/name';
import { ago } from '../../words/durations';
import { clockTime } from '../../words/times';
import { ask } from './desk';
import { objectiveWords } from './objectives';
import type { Question } from './question';

const kSaidSeconds = 60; // from this age on it is said
const kOldSeconds = 120; // from this age on another is offered

interface DatedProps {
  answer: Advice;
  changed: string | null; // as changedSince
}

export function Dated({ answer, changed }: DatedProps) {
  const newest = useLive().snapshot?.snapshot_taken_at ?? null;
  const taken = answer.meta.snapshot_taken_at;
  const age = newest === null || taken === null ? 0 : Math.max(0, newest - taken);
  return (
    <div class="dated">
      <p>
        <b>
          <Name of={answer.name} wide />
        </b>
        , {objectiveWords(answer.objective)}, as of {clockTime(taken, newest ?? taken ?? 0)}
        {age > kSaidSeconds ? <> ({ago(age)})</> : null}
      </p>
      {changed ? <p class="few">For the {changed} before your changes. Ask again to have its commands.</p> : null}
      {changed || age > kOldSeconds ? (
        <button type="button" class="again" onClick={ask}>
          Ask again
        </button>
      ) : null}
    </div>
  );
}

/** What differs, in words ("text, objective"), or null where the ranking is for what is asked now. */
export function changedSince(asked: Question, now: Question): string | null {
  const parts = (['text', 'objective', 'section'] as const).filter((part) => asked[part] !== now[part]);
  return parts.length > 0 ? parts.join(' and ') : null;
}
