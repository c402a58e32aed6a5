// What lies on the desk of Ask: the file, objective and section, and the last answers. It outlives
// the view, so that looking at another view and coming back loses nothing.
import { useEffect, useState } from 'preact/hooks';
import type { Objective } from './objectives';
import { recall, remember } from '../../parts/stored';
import { kExample } from './example';
import { askAll, tooLong } from './question';
import type { Question, Ranked } from './question';

export interface Desk {
  text: string;
  objective: Objective | '';
  section: string;
  asking: boolean;
  rounds: number; // how many questions have been answered, well or badly
  failed: Failed | null; // the last question, where it was not answered with a ranking
  ranked: Ranked | null; // the last ranking
}

interface Failed {
  error: string;
  text: string; // that was asked about
}

let desk: Desk = { text: recall('draft') ?? kExample, objective: '', section: '', asking: false, rounds: 0, failed: null, ranked: null };
const watchers = new Set<(next: Desk) => void>();
let controller: AbortController | null = null;

function change(part: Partial<Desk>): void {
  desk = { ...desk, ...part };
  for (const watch of watchers) watch(desk);
}

export function useDesk(): Desk {
  const [shown, setShown] = useState(desk);
  useEffect(() => {
    watchers.add(setShown);
    setShown(desk);
    return () => void watchers.delete(setShown);
  }, []);
  return shown;
}

export function editText(text: string): void {
  remember('draft', text === kExample ? null : text.slice(0, 200_000));
  change({ text });
}

export const choose = (part: { objective?: Objective | ''; section?: string }): void => change(part);

/** Says why nothing was asked or opened. */
export const refuse = (error: string): void => change({ asking: false, rounds: desk.rounds + 1, failed: { error, text: desk.text } });

export const questionOf = ({ text, objective, section }: Desk): Question => ({ text, objective, section: section.trim() });

/** Asks about what lies on the desk; an answer that is still awaited is given up. */
export function ask(): void {
  controller?.abort();
  const question = questionOf(desk);
  const long = tooLong(question.text);
  if (long) return refuse(long);
  const mine = new AbortController();
  controller = mine;
  change({ asking: true });
  void askAll(question, mine.signal).then(({ ranked, error }) => {
    if (controller !== mine) return;
    const failed = error === null ? null : { error, text: question.text };
    change({ asking: false, rounds: desk.rounds + 1, failed, ranked: ranked ?? desk.ranked });
  });
}
