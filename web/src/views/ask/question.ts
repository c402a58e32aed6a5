// Asks advise, fit and scale about one file: first the ranking and the scale curves, then the memory
// of the setup that is ranked first.
import type { AdviseAnswer, FitAnswer, Objective, ScaleAnswer } from '../../api/ask_types';
import { getJson, postJson } from '../../api/fetch';
import type { ClustersAnswer } from '../../api/types';
import { grouped } from '../../words/numbers';
import { phrase } from '../../words/say';
import type { OtherAnswer } from './merged';

export interface Question {
  text: string;
  objective: Objective | '';
  section: string;
  everywhere: boolean; // other clusters are asked too
}

/** A ranking with the question that it answers. */
export interface Ranked {
  asked: Question;
  advise: AdviseAnswer;
  others: OtherAnswer[]; // none where this cluster alone was asked
  fit: FitAnswer | null;
  fitError: string | null;
  scale: ScaleAnswer | null;
  scaleError: string | null;
}

const kMostBytes = 60_000;

/** Why `bytes` are too many, or null. */
export function tooManyBytes(bytes: number): string | null {
  return bytes <= kMostBytes ? null : phrase('The file has {bytes} bytes; at most {most} can be asked about. Shorten it.', { bytes: grouped(bytes), most: grouped(kMostBytes) });
}

/** The same for a text, in bytes as it is sent. */
export const tooLong = (text: string): string | null => tooManyBytes(new TextEncoder().encode(JSON.stringify(text)).length - 2);

/** Never throws: `error` says why there is no ranking. */
export async function askAll(question: Question, signal: AbortSignal): Promise<{ ranked: Ranked | null; error: string | null }> {
  const body = { spec_yaml: question.text, ...(question.section ? { section: question.section } : {}) };
  const rankedBody = question.objective ? { ...body, objective: question.objective } : body;
  const [advise, others, scale] = await Promise.all([
    settled(postJson<AdviseAnswer>('v1/advise', rankedBody, signal)),
    question.everywhere ? askOthers(rankedBody, signal) : [],
    settled(postJson<ScaleAnswer>('v1/scale', body, signal)),
  ]);
  if (!advise.value) return { ranked: null, error: advise.error };
  const first = advise.value.strategies[0];
  const fitBody = first ? { ...body, gpus_in_all: first.gpus_per_node * first.nodes } : body;
  const fit = await settled(postJson<FitAnswer>('v1/fit', fitBody, signal));
  const ranked = { asked: question, advise: advise.value, others, fit: fit.value, fitError: fit.error, scale: scale.value, scaleError: scale.error };
  return { ranked, error: null };
}

/** Each cluster that this daemon knows; the daemon waits for a silent one for a second. */
async function askOthers(body: object, signal: AbortSignal): Promise<OtherAnswer[]> {
  const known = await settled(getJson<ClustersAnswer>('v1/clusters', signal));
  const clusters = known.value?.clusters ?? [];
  return Promise.all(
    clusters.map(async ({ cluster }) => {
      const { value, error } = await settled(postJson<AdviseAnswer>(`v1/clusters/${cluster}/advise`, body, signal));
      return { cluster, advise: value, error };
    }),
  );
}

async function settled<T>(promise: Promise<T>): Promise<{ value: T | null; error: string | null }> {
  try {
    return { value: await promise, error: null };
  } catch (error) {
    return { value: null, error: error instanceof Error ? error.message : String(error) };
  }
}
