// What the visitor wants to be told of: that a job starts, or that GPUs are free. Each is the address that shows it. Kept by the tab,
// over reloads, and looked at after each snapshot, also while the tab is hidden.
import { createContext } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, getJson, postJson } from '../api/fetch';
import type { Job, Queue, Selection } from '../api/contract';
import { parseRoute, requestOf } from '../parts/route';
import { recall, remember } from '../parts/stored';
import { kSoonSeconds, questionOf, questionWords, selectBody, startsOf } from '../views/now/question';
import type { Question } from '../views/now/question';
import type { Live } from './stream';

export interface Watch {
  hash: string;
  said: string | null; // what has happened; null: nothing yet
}

type Change = (list: Watch[]) => Watch[];

export interface Watches {
  list: Watch[];
  change: (by: Change) => void;
}

const kMost = 10; // each is a small question after each snapshot
const kSpreadMilliseconds = 1500;

export const WatchContext = createContext<Watches>({ list: [], change: () => undefined });

export const jobHash = (id: string): string => requestOf('#/queue', { job: id });
export const questionHash = ({ gpus, nodes, hours, memory }: Question): string =>
  requestOf('#/now', { gpus, nodes, hours, memory: memory || null });

/** "job 4711 starts", "2 GPUs × 1 node for 8 h are free". */
export function watchWords(hash: string): string {
  const { params } = parseRoute(hash);
  const job = params.get('job');
  return job === null ? `${questionWords(questionOf(params))} are free` : `job ${job} starts`;
}

export function useWatchList(): Watches {
  const [list, setList] = useState(recalled);
  useEffect(() => remember('watches', list.length > 0 ? JSON.stringify(list) : null, 'sessionStorage'), [list]);
  return { list, change: (by) => setList((old) => by(old).slice(-kMost)) };
}

function recalled(): Watch[] {
  try {
    const list = JSON.parse(recall('watches', 'sessionStorage') ?? '[]') as Watch[];
    const known = list.filter(({ hash }) => typeof hash === 'string' && hash.startsWith('#/'));
    return known.map(({ hash, said }) => ({ hash, said: typeof said === 'string' ? said : null }));
  } catch {
    return [];
  }
}

/** Looks at what is watched after each snapshot, and shows a notification of what has happened. */
export function useTelling(live: Live, { list, change }: Watches): void {
  const open = list.filter((one) => one.said === null);
  const busy = useRef(false);
  const wanted = useRef(open);
  wanted.current = open;
  const look = async () => {
    busy.current = true;
    await new Promise((done) => setTimeout(done, Math.random() * kSpreadMilliseconds));
    for (const { hash } of open) {
      const said = await happened(hash, live).catch(() => null); // the next snapshot asks again
      if (said === null || !wanted.current.some((one) => one.hash === hash)) continue;
      show(hash, said);
      change((all) => all.map((one) => (one.hash === hash ? { hash, said } : one)));
    }
    busy.current = false;
  };
  useEffect(() => {
    if (open.length > 0 && live.state === 'open' && !busy.current) void look();
  }, [live.snapshot, open.length]);
}

/** What there is to say of it, without names that others chose; null: nothing yet. */
async function happened(hash: string, { snapshot }: Live): Promise<string | null> {
  const { params } = parseRoute(hash);
  const { signal } = new AbortController();
  const id = params.get('job');
  if (id !== null) {
    const { jobs } = await getJson<Queue>(requestOf('v1/queue', { state: 'pending', search: id }), signal);
    if (jobs.some((row) => String(row.job_id) === id)) return null; // the job's own answer costs the daemon simulations
    try {
      const job = await getJson<Job>(`v1/jobs/${encodeURIComponent(id)}`, signal);
      return job.state === 'PENDING' ? null : `Job ${id} has started.`;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return `Job ${id} is no longer in the queue.`;
      throw error;
    }
  }
  const question = { ...questionOf(params), begin: null };
  if (!snapshot?.free.some((type) => type.free >= question.gpus * question.nodes)) return null;
  const starts = startsOf(await postJson<Selection>('v1/select', selectBody(question), signal));
  const first = starts.find((one) => one.p50 < kSoonSeconds);
  return first ? `${first.gpu_name.slice(0, 40)}: ${questionWords(question)} are free.` : null;
}

function show(hash: string, words: string): void {
  try {
    const shown = new Notification(words, { tag: hash }); // other tabs that watch it show the same one
    shown.onclick = () => {
      window.focus();
      window.location.hash = hash;
    };
  } catch {
    // not allowed any more, or a phone: the page has the words
  }
}
