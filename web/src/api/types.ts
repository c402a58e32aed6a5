// What is not an answer of the API (contract.ts): events, and words that several views share.
import type { ClusterNode } from './contract';

export type Condition = ClusterNode['condition'];

// The event `snapshot` of GET /v1/events.
export interface SnapshotEvent {
  number: number;
  snapshot_taken_at: number | null;
  snapshot_age_seconds: number | null;
  stale_cause: string | null;
  cluster: string;
  source: string;
  version: string;
  pending: number;
  running: number;
  free: { gpu: string; free: number }[];
}
