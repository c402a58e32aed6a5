// Asks advise, fit and scale about one file: first the ranking and the scale curves, then the memory
// of the setup that is ranked first.
import type { Advice, AdviseRequest, Fit, FitRequest, Scale, ScaleRequest } from '../../api/contract';
import type { Objective } from './objectives';
import { postJson } from '../../api/fetch';
import { grouped } from '../../words/numbers';

export interface Question {
  text: string;
  objective: Objective | '';
  section: string;
}

/** A ranking with the question that it answers. */
export interface Ranked {
  asked: Question;
  advise: Advice;
  fit: Fit | null;
  fitError: string | null;
  scale: Scale | null;
  scaleError: string | null;
}

const kMostBytes = 60_000;

/** Why `bytes` are too many, or null. */
export function tooManyBytes(bytes: number): string | null {
  return bytes <= kMostBytes
    ? null
    : `The file has ${grouped(bytes)} bytes; at most ${grouped(kMostBytes)} can be asked about. Shorten it.`;
}

/** The same for a text, in bytes as it is sent. */
export const tooLong = (text: string): string | null => tooManyBytes(new TextEncoder().encode(JSON.stringify(text)).length - 2);

/** Never throws: `error` says why there is no ranking. */
export async function askAll(question: Question, signal: AbortSignal): Promise<{ ranked: Ranked | null; error: string | null }> {
  const { text: spec_yaml, section, objective } = question;
  const spec = { spec_yaml, ...(section ? { section } : {}) };
  const body: ScaleRequest = spec;
  const rankedBody: AdviseRequest = { ...spec, ...(objective ? { objective } : {}) };
  const [advise, scale] = await Promise.all([
    settled(postJson<Advice>('v1/advise', rankedBody, signal)),
    settled(postJson<Scale>('v1/scale', body, signal)),
  ]);
  if (!advise.value) return { ranked: null, error: advise.error };
  const first = advise.value.strategies[0];
  const fitBody: FitRequest = first ? { ...spec, gpus_in_all: first.gpus_per_node * first.nodes } : spec;
  const fit = await settled(postJson<Fit>('v1/fit', fitBody, signal));
  const ranked = {
    asked: question,
    advise: advise.value,
    fit: fit.value,
    fitError: fit.error,
    scale: scale.value,
    scaleError: scale.error,
  };
  return { ranked, error: null };
}

async function settled<T>(promise: Promise<T>): Promise<{ value: T | null; error: string | null }> {
  try {
    return { value: await promise, error: null };
  } catch (error) {
    return { value: null, error: error instanceof Error ? error.message : String(error) };
  }
}
