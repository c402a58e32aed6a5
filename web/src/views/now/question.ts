// The question on top of Now: how much, for how long, from when on. It is in the address, so that it can be sent.
import type { GpuWaits, Selection, SelectRequest, Waits } from '../../api/contract';
import { grouped, plural } from '../../words/numbers';

export interface Question {
  gpus: number; // on each node
  nodes: number;
  hours: number;
  memory: number; // GB of each GPU, at least
  begin: number | null; // unix time; null: now
}

/** Where and when it would start. */
export interface Start {
  gpu: string;
  gpu_name: string;
  partition: string;
  memory_bytes: number | null;
  may_be_preempted?: boolean; // absent: not known
  p10: number; // seconds from the snapshot on
  p50: number;
  p90: number;
}

const kHour = 3600;
export const kSoonSeconds = 30; // what starts sooner starts now
export const kUsual: Question = { gpus: 1, nodes: 1, hours: 8, memory: 0, begin: null };

export type Field = keyof Question;
export type Refusals = Partial<Record<Field, string>>;

interface Bounds {
  name: string;
  whole: boolean;
  least: number;
  most: number;
}

const kBounds: Record<Field, Bounds> = {
  gpus: { name: 'GPUs', whole: true, least: 1, most: 1024 },
  nodes: { name: 'Nodes', whole: true, least: 1, most: 10_000 },
  hours: { name: 'Hours', whole: false, least: 0.001, most: 87_600 }, // ten years, as the daemon
  memory: { name: 'GB', whole: false, least: 0, most: 10_000 },
  begin: { name: 'Start after', whole: true, least: 0, most: 4_102_444_800 }, // the year 2100
};

/** What was typed, or stands in the address, as a number; null where that is no answer. */
export function valueOf(field: Field, text: string): number | null {
  const { whole, least, most } = kBounds[field];
  const value = /^(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : NaN;
  return value >= least && value <= most && (!whole || Number.isInteger(value)) ? value : null;
}

const kFields = Object.keys(kBounds) as Field[];

/** A sentence for each field whose text is no answer: nothing is asked then. */
export function refusalsOf(params: URLSearchParams): Refusals {
  const refused = kFields.filter((field) => params.get(field) && valueOf(field, params.get(field) ?? '') === null);
  return Object.fromEntries(refused.map((field) => [field, refusalWords(field)]));
}

function refusalWords(field: Field): string {
  const { name, whole, least, most } = kBounds[field];
  if (field === 'begin') return `${name}: choose a time before the year 2100.`;
  return `${name}: enter a ${whole ? 'whole number' : 'number'} from ${least} to ${grouped(most)}.`;
}

/** What is no answer counts as not said. */
export function questionOf(params: URLSearchParams): Question {
  const said = (field: Field) => valueOf(field, params.get(field) ?? '');
  return {
    gpus: said('gpus') ?? kUsual.gpus,
    nodes: said('nodes') ?? kUsual.nodes,
    hours: said('hours') ?? kUsual.hours,
    memory: said('memory') ?? kUsual.memory,
    begin: said('begin') || null,
  };
}

/** "2 GPUs × 3 nodes for 8 h, at least 24 GB". */
export const questionWords = ({ gpus, nodes, hours, memory }: Question): string =>
  `${plural(gpus, 'GPU')} × ${plural(nodes, 'node')} for ${hours} h${memory > 0 ? `, at least ${memory} GB` : ''}`;

/** What POST /v1/select is asked. */
export function selectBody(question: Question): SelectRequest {
  const { gpus, nodes, hours, memory, begin } = question;
  const job = { gres: `gpu:${gpus}`, nodes, time_limit_seconds: Math.round(hours * kHour), ...(begin === null ? {} : { begin }) };
  return { job, ...(memory > 0 ? { min_gpu_memory_bytes: Math.round(memory * 1e9) } : {}) };
}

export function startsOf(answer: Selection): Start[] {
  return answer.alternatives.map((one) => ({
    ...one,
    memory_bytes: one.gpu_memory_bytes || null,
    p10: one.wait_p10_seconds,
    p50: one.wait_p50_seconds,
    p90: one.wait_p90_seconds,
  }));
}

/**
 * The answer that /v1/waits has already, which the daemon computes once for all pages: of common sizes and limits, of any GPU,
 * from now on. Null where the question is another one.
 */
export function knownStarts(waits: Waits, question: Question): Start[] | null {
  const { memory, begin } = question;
  if (memory > 0 || begin !== null) return null;
  const same = sameShape(question);
  const choices = waits.best.find(same)?.choices ?? [];
  const starts = choices.map((choice) => {
    const type = waits.gpus.find((one) => one.gpu === choice.gpu);
    const wait = type?.waits.find(same);
    if (!type || wait?.wait_p10_seconds == null || choice.wait_p90_seconds === null) return null;
    // The type's own row may be of another partition, whose p10 says nothing here.
    if (wait.wait_p50_seconds !== choice.wait_p50_seconds || wait.wait_p90_seconds !== choice.wait_p90_seconds) return null;
    const { gpu, gpu_name, memory_bytes } = type;
    const { partition, wait_p50_seconds, wait_p90_seconds } = choice;
    return { gpu, gpu_name, memory_bytes, partition, p10: wait.wait_p10_seconds, p50: wait_p50_seconds, p90: wait_p90_seconds };
  });
  return starts.length > 0 && starts.every((one) => one !== null) ? starts : null;
}

const sameShape =
  ({ gpus, nodes, hours }: Question) =>
  (one: { gpus_per_node: number; nodes: number; time_limit_seconds: number }): boolean =>
    one.gpus_per_node === gpus && one.nodes === nodes && one.time_limit_seconds === hours * kHour;

/** The start on a type by its own row of /v1/waits, for types that are not among the first; undefined where that does not have it. */
export function startOfType(type: GpuWaits, question: Question): Start | undefined {
  const { gpu, gpu_name, memory_bytes } = type;
  if (question.memory > 0 || question.begin !== null) return undefined;
  const wait = type.waits.find(sameShape(question));
  const { partition, wait_p10_seconds: p10, wait_p50_seconds: p50, wait_p90_seconds: p90 } = wait ?? {};
  if (partition == null || p10 == null || p50 == null || p90 == null) return undefined;
  return { gpu, gpu_name, memory_bytes, partition, p10, p50, p90 };
}

/** The best start of each GPU type, the first first; the answer has one for each partition. */
export function firstOfTypes(starts: Start[], most: number): Start[] {
  return starts.filter((one, at) => starts.findIndex((other) => other.gpu === one.gpu) === at).slice(0, most);
}

/** The limit, of those that the waits of all types have, that stands for `hours`: the next longer one. */
export function limitFor(gpus: GpuWaits[], hours: number): number {
  const limits = [...new Set(gpus.flatMap((gpu) => gpu.waits.map((wait) => wait.time_limit_seconds)))].sort((a, b) => a - b);
  return limits.find((limit) => limit >= hours * kHour) ?? limits[limits.length - 1] ?? hours * kHour;
}
