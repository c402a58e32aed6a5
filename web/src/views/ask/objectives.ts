// What a ranking can be for.
import type { Advice } from '../../api/contract';

export type Objective = Advice['objective'];

export const kObjectives: [Objective, string][] = [
  ['finish', 'finish first'],
  ['start', 'start first'],
  ['cost', 'cost least'],
  ['deadline', 'be done by the deadline'],
];

/** "finish first"; the id itself where this page does not know it. */
export function objectiveWords(objective: string): string {
  const words = kObjectives.find(([id]) => id === objective)?.[1];
  return words ?? objective.slice(0, 40);
}
