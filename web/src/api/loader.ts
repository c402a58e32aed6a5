// Keeps one address fresh: never two requests at once, none while the tab is hidden, a small random
// delay after each snapshot so that many pages do not ask in the same moment, a retry with back-off
// after an error. A late answer for an address that is no longer shown is dropped.
import type { Frame } from './contract';
import { ApiError, getJson } from './fetch';

export interface Loaded<T> {
  path: string; // of `data`, or where there is none, of the question under way
  data: T | null;
  error: ApiError | null;
  loading: boolean;
}

const kMostRemembered = 12;
const remembered = new Map<string, Frame>();

export class Loader<T extends Frame> {
  private path = '';
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

  /** Shows `path` from now on: at once what was last known of it, then the answer. */
  show(path: string): void {
    if (path === this.path) return;
    this.cancel();
    this.path = path;
    this.failures = 0;
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
    if (takenAt === null) this.askedAt = 0;
    if (takenAt === null || this.failures > 0) this.hurry();
    this.plan();
  }

  /** The tab is seen again. */
  seen(): void {
    if (this.wanted) this.plan();
  }

  stop(): void {
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
    const rest = Math.max(0, this.askedAt + this.restMilliseconds - Date.now());
    this.startAfter(rest + Math.random() * this.spreadMilliseconds);
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
    this.publish({ path, data: this.data, error: null, loading: true });
    getJson<T>(path, controller.signal).then(
      (data) => this.controller === controller && this.arrived(path, data),
      (error: unknown) => this.controller === controller && this.failed(path, error),
    );
  }

  private arrived(path: string, data: T): void {
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
    this.publish({ path, data: this.data, error: shown, loading: false });
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
