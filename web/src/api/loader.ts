// Keeps one address fresh: never two requests at once, none while the tab is hidden, a small random
// delay after each snapshot so that many pages do not ask in the same moment, a retry with back-off
// after an error. A late answer for an address that is no longer shown is dropped. Large answers are asked for less often, so that an
// open page takes at most kBytesPerHour: each as often as makes their ages smallest, by the square root of its bytes.
import type { Frame } from './contract';
import { ApiError, bytesOf, getJson, postJson } from './fetch';

export interface Loaded<T> {
  path: string; // what `data` answers, with the body where there is one; where there is no data, the question under way
  data: T | null;
  error: ApiError | null;
  loading: boolean;
}

/** What is asked, in one text: the path of Loaded. */
export const questionText = (address: string, body?: unknown): string =>
  body === undefined ? address : `${address} ${JSON.stringify(body)}`;

/** What answers a path: one request, or several. */
export type Collect<T> = (path: string, signal: AbortSignal) => Promise<T>;

const kMostRemembered = 12;
const remembered = new Map<string, Frame>();

const kBytesPerHour = 500_000; // of large answers; small ones and events take up to as much
const kSmallBytes = 4_000; // such an answer may be asked for after each snapshot
const roots = new Map<object, number>(); // by loader, of the bytes of its last answer; 0: it was small

export class Loader<T extends Frame> {
  private path = ''; // with the body behind it where there is one: what is asked, in one text
  private ask: (signal: AbortSignal) => Promise<T> = () => Promise.reject(new Error('nothing is asked'));
  private data: T | null = null;
  private dataPath = ''; // what `data` answers; another one's is shown while the answer is awaited
  private controller: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wanted = false; // something changed since the last question was asked
  private wantedAt: number | null = null; // the snapshot that did; null: whatever is shown may be wrong
  private failures = 0;
  private askedAt = 0;

  constructor(
    private readonly publish: (loaded: Loaded<T>) => void,
    private readonly spreadMilliseconds: number,
    private readonly restMilliseconds: number,
  ) {}

  /** Shows `path` from now on (with a `body` it is posted): at once what was last known of it, then the answer. Null: nothing. */
  show(address: string | null, body?: unknown, collect?: Collect<T>): void {
    const path = address === null ? '' : questionText(address, body);
    if (path === this.path) return;
    this.cancel();
    this.path = path;
    this.failures = 0;
    if (address === null) return void roots.delete(this);
    const ask: Collect<T> =
      collect ??
      (body === undefined
        ? (to, signal) => getJson<T>(to, signal, remembered.get(to) as T | undefined)
        : (to, signal) => postJson<T>(to, body, signal));
    this.ask = (signal) => ask(address, signal);
    const known = remembered.get(path) as T | undefined;
    if (known) this.keep(path, known);
    this.start();
  }

  /** A snapshot of `taken_at` exists; null: whatever is shown may be wrong. */
  changed(takenAt: number | null): void {
    if (!this.path) return;
    if (takenAt !== null && this.data?.meta?.snapshot_taken_at === takenAt && !this.controller) return;
    this.wantedAt = this.wanted && this.wantedAt === null ? null : takenAt;
    this.wanted = true;
    if (takenAt === null || this.failures > 0) {
      this.askedAt = 0;
      this.hurry();
    }
    this.plan();
  }

  /** The tab is seen again. */
  seen(): void {
    if (this.wanted) this.plan();
  }

  stop(): void {
    roots.delete(this);
    this.cancel();
    this.path = '';
  }

  private cancel(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.controller?.abort();
    this.controller = null;
    this.wanted = false;
  }

  private hurry(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private plan(): void {
    if (document.hidden || this.controller || this.timer !== undefined) return;
    const rest = Math.max(0, this.askedAt + Math.max(this.restMilliseconds, this.fairMilliseconds()) - Date.now());
    this.startAfter(rest + Math.random() * this.spreadMilliseconds);
  }

  /** How long an answer of such a size has to do, beside those of the other loaders. */
  private fairMilliseconds(): number {
    const all = [...roots.values()].reduce((sum, root) => sum + root, 0);
    return ((roots.get(this) ?? 0) * all * 3_600_000) / kBytesPerHour;
  }

  private startAfter(milliseconds: number): void {
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (document.hidden) this.wanted = true;
      else this.start();
    }, milliseconds);
  }

  private start(): void {
    const controller = new AbortController();
    const path = this.path;
    this.controller = controller;
    this.wanted = false;
    this.askedAt = Date.now();
    this.publish({ path: this.data ? this.dataPath : path, data: this.data, error: null, loading: true });
    this.ask(controller.signal).then(
      (data) => this.controller === controller && this.arrived(path, data),
      (error: unknown) => this.controller === controller && this.failed(path, error),
    );
  }

  private arrived(path: string, data: T): void {
    const bytes = this.controller ? bytesOf(this.controller.signal) : 0;
    roots.set(this, bytes > kSmallBytes ? Math.sqrt(bytes) : 0);
    this.controller = null;
    this.failures = 0;
    this.keep(path, data);
    remember(path, data);
    this.publish({ path, data, error: null, loading: false });
    if (this.wantedAt !== null && data.meta?.snapshot_taken_at === this.wantedAt) this.wanted = false; // it has come already
    if (this.wanted) this.plan();
  }

  private keep(path: string, data: T): void {
    this.data = data;
    this.dataPath = path;
  }

  private failed(path: string, error: unknown): void {
    this.controller = null;
    this.failures += 1;
    const shown = error instanceof ApiError ? error : new ApiError(0, 'internal', String(error));
    const refused = shown.status >= 400 && shown.status < 500 && shown.status !== 429 && shown.status !== 408;
    if (refused && this.dataPath !== path) this.data = null; // there is no answer to come in its place
    this.publish({ path: this.data ? this.dataPath : path, data: this.data, error: shown, loading: false });
    if (refused) return;
    this.startAfter(retryDelay(this.failures, 20_000));
  }
}

function remember(path: string, data: Frame): void {
  remembered.delete(path);
  remembered.set(path, data);
  if (remembered.size > kMostRemembered) remembered.delete(remembered.keys().next().value as string);
}

/** Milliseconds before try number `failures` + 1: doubling from one second, half of it by chance. */
export function retryDelay(failures: number, most: number): number {
  const whole = Math.min(most, 1000 * 2 ** Math.min(failures - 1, 10));
  return whole / 2 + (Math.random() * whole) / 2;
}
