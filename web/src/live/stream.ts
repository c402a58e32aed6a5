// The daemon's events, with its own reconnection: EventSource gives up when the answer is an HTTP
// error (a restart behind a proxy), so every failure closes it and opens another after a back-off.
import type { SnapshotEvent } from '../api/types';
import { retryDelay } from '../api/loader';

export type StreamState = 'connecting' | 'open' | 'lost';

export interface Live {
  state: StreamState;
  snapshot: SnapshotEvent | null;
  receivedAt: number; // Date.now() when `snapshot` came
  lostAt: number; // Date.now() when the connection was lost; 0: it never was
  opened: number; // how often the stream has been opened again after it was lost
}

const kMostRetryMilliseconds = 15_000;
const kFirstMilliseconds = 10_000; // without any first event the stream counts as lost
const kSilenceMilliseconds = 40_000; // the daemon says something every 15 s

export class Stream {
  private live: Live = { state: 'connecting', snapshot: null, receivedAt: 0, lostAt: 0, opened: 0 };
  private source: EventSource | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private heardAt = Date.now();

  constructor(private readonly publish: (live: Live) => void) {}

  start(): void {
    const source = new EventSource('v1/events');
    this.source = source;
    this.expect(kFirstMilliseconds);
    source.addEventListener('alive', () => this.expect(kSilenceMilliseconds));
    source.addEventListener('snapshot', (event) => this.arrived((event as MessageEvent<string>).data));
    source.onerror = () => this.lost();
  }

  /** Lets go of the connection, of which a browser allows six for all tabs of a host. */
  stop(): void {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }

  /** The network or the tab is back: waits neither for the back-off nor, after a sleep, for the timer of the silence. */
  hurry(): void {
    if (this.source && this.live.state !== 'lost' && Date.now() - this.heardAt <= kSilenceMilliseconds) return;
    this.stop();
    this.start();
  }

  /** A connection that died without a word is only told by its silence. */
  private expect(milliseconds: number): void {
    this.heardAt = Date.now();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.lost(), milliseconds);
  }

  private arrived(text: string): void {
    const snapshot = readSnapshot(text);
    if (!snapshot) return;
    this.expect(kSilenceMilliseconds);
    this.failures = 0;
    const opened = this.live.opened + (this.live.state === 'lost' ? 1 : 0);
    this.set({ state: 'open', snapshot, receivedAt: Date.now(), lostAt: 0, opened });
  }

  private lost(): void {
    this.stop();
    this.failures += 1;
    this.set({ ...this.live, state: 'lost', lostAt: this.live.lostAt || this.heardAt });
    this.timer = setTimeout(() => this.start(), retryDelay(this.failures, kMostRetryMilliseconds));
  }

  private set(live: Live): void {
    this.live = live;
    this.publish(live);
  }
}

function readSnapshot(text: string): SnapshotEvent | null {
  try {
    const value = JSON.parse(text) as SnapshotEvent;
    return typeof value === 'object' && value !== null && 'snapshot_taken_at' in value ? value : null;
  } catch {
    return null;
  }
}
