// What a ranking can be for.
import type { Objective } from '../../api/ask_types';
import { phrase } from '../../words/say';

export const kObjectives: [Objective, string][] = [
  ['finish', 'finish first'],
  ['start', 'start first'],
  ['cost', 'cost least'],
  ['deadline', 'be done by the deadline'],
];

/** "finish first"; the id itself where this page does not know it. */
export function objectiveWords(objective: string): string {
  const words = kObjectives.find(([id]) => id === objective)?.[1];
  return words === undefined ? objective.slice(0, 40) : phrase(words);
}
