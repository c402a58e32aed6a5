// The command that submits one strategy: `gpuadvise submit` with the flags that leave it as the only
// one (sbatch's own: client/commands/command_line.cc).
import type { Strategy } from '../../api/contract';
import type { Objective } from './objectives';

export interface Asked {
  section: string;
  objective: Objective | '';
}

const kPlain = /^[A-Za-z0-9_\-./:=,+@%]+$/;

/** As client/shell/shell_text.cc: one word of a POSIX shell; control characters become "_". */
export function shellQuoted(text: string): string {
  const clean = text.replace(/[\u0000-\u001f\u007f]/g, '_');
  return kPlain.test(clean) ? clean : `'${clean.replaceAll("'", `'\\''`)}'`;
}

function begun(asked: Asked): string[] {
  const words = ['gpuadvise', 'submit', 'train.yaml'];
  if (asked.section) words.push('--section', shellQuoted(asked.section));
  if (asked.objective) words.push('--objective', asked.objective);
  return words;
}

/** Of a sweep, which is planned anew when it is submitted: an array for each of the strategies that share its runs. */
export const sweepCommand = (asked: Asked): string => begun(asked).join(' ');

/** `among` are all strategies of the answer: account and QOS are named where they tell two apart. */
export function submitCommand(strategy: Strategy, among: Strategy[], asked: Asked): string {
  const words = begun(asked);
  words.push('-p', shellQuoted(strategy.partition));
  words.push('--gpus-per-node', shellQuoted(`${strategy.gres_type || strategy.gpu}:${strategy.gpus_per_node}`));
  words.push('-N', String(strategy.nodes));
  const twins = among.filter((other) => samePlace(other, strategy));
  if (strategy.account && twins.some((twin) => twin.account !== strategy.account)) words.push('-A', shellQuoted(strategy.account));
  if (strategy.qos && twins.some((twin) => twin.qos !== strategy.qos)) words.push('-q', shellQuoted(strategy.qos));
  return words.join(' ');
}

function samePlace(a: Strategy, b: Strategy): boolean {
  return a.partition === b.partition && a.gres_type === b.gres_type && a.gpus_per_node === b.gpus_per_node && a.nodes === b.nodes;
}

/** Line of the file that an error names: "train.yaml:7: sentence" → 7; null where it names none. */
export function errorLine(message: string): number | null {
  const found = /^[^\s:]{1,200}:(\d{1,6}):/.exec(message);
  return found ? Number(found[1]) : null;
}
