// What the daemon answers (docs/api.md). Times are unix seconds on the snapshot's clock; null is
// "not known". Members that the page does not read are left out.

export interface Meta {
  version: string;
  cluster: string;
  source: string;
  snapshot_taken_at: number | null;
  stale_cause: string | null;
}

export interface Frame {
  meta: Meta;
  snapshot_age_seconds: number | null;
  errors: { code: string; message: string; pointer: string }[];
  warnings: string[];
}

export interface Record_ {
  jobs: number;
  median_abs_error_seconds: number | null;
  within_600s: number | null;
  at_once: number | null;
  covered_jobs: number;
  covered_median_abs_error_seconds: number | null;
  coverage_p50: number | null;
  coverage_p90: number | null;
  slurm_jobs: number;
  slurm_median_abs_error_seconds: number | null;
  median_abs_error_seconds_beside_slurm: number | null;
}

export interface Forecast {
  method: string;
  samples: number;
  note: string;
}

export interface ShapeWait {
  shape: 'one' | 'half_node' | 'node' | 'two_nodes';
  gpus_per_node: number;
  nodes: number;
  time_limit_seconds: number;
  partition: string | null;
  wait_p10_seconds: number | null;
  wait_p50_seconds: number | null;
  wait_p90_seconds: number | null;
  reason: string | null;
}

export interface GpuWaits {
  gpu: string;
  gpu_name: string;
  memory_bytes: number | null;
  partitions: string[];
  nodes: number;
  gpus_per_node: number;
  total: number;
  usable: number;
  free: number;
  waits: ShapeWait[];
}

export interface BestChoice {
  gpu: string;
  gpu_name: string;
  partition: string;
  wait_p50_seconds: number | null;
  wait_p90_seconds: number | null;
}

export interface BestRow {
  gpus_per_node: number;
  nodes: number;
  time_limit_seconds: number;
  choices: BestChoice[];
}

export interface WaitsAnswer extends Frame {
  gpus: GpuWaits[];
  best: BestRow[];
  pending: number;
  running: number;
  forecast: Forecast;
}

/** One kind of GPU of another cluster; a shape of its waits is of GPUs per node × nodes. */
export interface OtherGpu {
  gpu: string;
  gpu_name: string;
  total: number;
  free: number;
  waits: Pick<ShapeWait, 'gpus_per_node' | 'nodes' | 'time_limit_seconds' | 'wait_p50_seconds' | 'wait_p90_seconds'>[];
}

export interface OtherCluster {
  cluster: string;
  gpus: OtherGpu[] | null; // null: it has never answered
  age_seconds: number | null;
  problem: string | null; // why there is no newer answer
}

export interface ClustersAnswer extends Frame {
  clusters: OtherCluster[];
}

export interface NodeGroup {
  partition: string;
  gpu: string;
  gpu_name: string;
  nodes: number;
  gpus: number;
  free: number;
  used: number;
  promised: number;
  unavailable: number;
}

export type Condition = 'free' | 'partly' | 'busy' | 'promised' | 'drained' | 'down';

export interface NodeGpus {
  gpu: string;
  gpu_name: string;
  gres_type: string;
  total: number;
  used: number;
  free: number;
}

export interface NodeJob {
  job_id: number;
  name: string | null;
  user: string | null;
  gpus: number;
  cpus: number;
  start_time: number | null;
  end_p50: number | null;
  end_p90: number | null;
  end_limit: number | null;
}

export interface ClusterNode {
  name: string;
  state: string;
  condition: Condition;
  reason: string;
  partitions: string[];
  features: string[];
  cpus: number;
  cpus_allocated: number;
  memory_mib: number;
  memory_allocated_mib: number;
  gpus: NodeGpus[];
  jobs: NodeJob[];
  jobs_total: number;
  next_end_p50: number | null;
  promised: { job_id: number; start: number } | null;
  reserved: { name: string; start: number; end: number } | null;
}

export interface NodesAnswer extends Frame {
  groups: NodeGroup[];
  conditions: Partial<Record<Condition, number>>;
  nodes: ClusterNode[];
  total: number;
  offset: number;
}

export interface QueueRow {
  job_id: number;
  array_tasks: string;
  array_task_count: number;
  name: string | null;
  user: string | null;
  account: string | null;
  qos: string | null;
  partition: string;
  state: string;
  gres: string;
  gpu: string;
  gpu_name: string;
  gpus: number;
  nodes: number;
  time_limit_seconds: number | null;
  priority: number;
  submit_time: number | null;
  start_time?: number | null;
  end_time?: number | null;
  end_p50?: number | null;
  end_p90?: number | null;
  reason?: string;
  reason_words?: string;
  clears?: string;
  slurm_start?: number | null;
  jobs_before?: number | null;
  wait_p10_seconds?: number | null;
  wait_p50_seconds?: number | null;
  wait_p90_seconds?: number | null;
  start_p10?: number | null;
  start_p50?: number | null;
  start_p90?: number | null;
  run_p50_seconds?: number | null;
}

export interface Pool {
  partition: string;
  gpu: string;
  gpu_name: string;
  pending: number;
  pending_gpus: number;
  running: number;
  running_gpus: number;
  free: number;
}

export interface QueueAnswer extends Frame {
  jobs: QueueRow[];
  total: number;
  hidden: number;
  offset: number;
  pools: Pool[];
}

export interface HeatCell {
  weekday: number;
  hour: number;
  jobs: number;
  wait_p50_seconds: number | null;
  wait_p90_seconds: number | null;
  use: number | null;
  queue: number | null;
}

export interface WeekRow {
  week_start: number;
  gpu: string;
  jobs: number;
  wait_p50_seconds: number | null;
  wait_p90_seconds: number | null;
  use: number | null;
  queue: number | null;
}

export interface SeriesRow {
  time: number;
  seconds: number;
  pending: number | null;
  pending_gpus: number | null;
  busy_gpus: number | null;
}

export interface HistoryAnswer extends Frame {
  time_zone: string;
  utc_offset_seconds: number;
  weeks: number;
  since: number | null;
  until: number;
  gpus: { gpu: string; gpu_name: string; total: number }[];
  heat: HeatCell[];
  by_week: WeekRow[];
  series: SeriesRow[];
  note: string;
  best_time: BestTime | null;
  best_time_unknown: 'few_jobs' | 'no_difference' | null;
}

export interface BestTime {
  weekend: boolean;
  hour_from: number;
  hour_to: number;
  jobs: number;
  wait_p90_seconds: number | null;
  usual_wait_p90_seconds: number | null;
}

export interface CalibrationRow {
  said: number;
  came: number | null;
  low: number | null;
  high: number | null;
  jobs: number;
}

export interface AccuracyWeek {
  week_start: number;
  jobs: number;
  covered_jobs: number;
  coverage_p50: number | null;
  coverage_p90: number | null;
  median_abs_error_seconds: number | null;
  slurm_jobs: number;
  slurm_median_abs_error_seconds: number | null;
  median_abs_error_seconds_beside_slurm: number | null;
}

export interface AccuracyPoint {
  started_at: number;
  gpu: string;
  gpu_name: string;
  gpus: number;
  said_p10_seconds: number;
  said_p50_seconds: number;
  said_p90_seconds: number;
  wait_seconds: number;
  slurm_error_seconds: number | null;
}

export interface AccuracyAnswer extends Frame {
  all: Record_;
  fits_now: Partial<Record_>;
  does_not_fit_now: Partial<Record_>;
  by_gpu: (Record_ & { gpu: string; gpu_name: string; gpus: string })[];
  since: number | null;
  note: string;
  calibration: CalibrationRow[];
  weeks: AccuracyWeek[];
  points: AccuracyPoint[];
}

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
}

export interface MeAnswer extends Frame {
  user: string | null;
  anonymous: boolean;
  note: string | null; // why a login proxy's user is nobody here
}

export interface WaitingReason {
  reason: string;
  reason_words: string;
  clears: string;
  jobs: number;
  gpus: number;
}

export interface AccountQueue {
  account: string | null; // null: those that are not named
  pending: number;
  pending_gpus: number;
  pending_gpu_hours: number;
  running: number;
  running_gpus: number;
  oldest_submit: number | null;
  next_start_p50: number | null;
  reasons: WaitingReason[];
}

export interface WaitingAnswer extends Frame {
  gpus: { total: number; used: number; free: number; promised: number; unavailable: number };
  all: AccountQueue;
  accounts: AccountQueue[];
}

export interface AccountUsage {
  account: string | null;
  jobs: number;
  gpu_hours: number;
  cost: number | null;
  weekly_gpu_hours: number[];
  weekly_cost: number[] | null;
}

export interface UsageAnswer extends Frame {
  weeks: number[]; // their beginnings
  until: number;
  own_only: boolean;
  known_since: number | null; // jobs submitted before are not known
  note: string | null;
  all: AccountUsage;
  accounts: AccountUsage[];
}

export interface PresetsAnswer extends Frame {
  presets: string[];
}

export interface Remedy {
  change: string;
  words: string;
  wait_p50_seconds: number | null;
}

export interface JobAnswer extends QueueRow, Frame {
  why: { words: string; clears: string }[];
  cheaper: Remedy[];
  moved?: { said_start: number; start: number; because: string[] } | null;
  limit_advice?: { words: string; time_limit_seconds: number | null; command?: string } | null;
}
