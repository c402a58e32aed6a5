// What the page uses of the API. Made from common/api by packaging/contract.py; not written by hand.

export interface Frame {
  /** Where the data comes from. */
  meta: Meta;
  /** Age of the data; null before the first snapshot. */
  snapshot_age_seconds: number | null;
  /** What is wrong; empty for an answer. */
  errors: Error[];
  /** Sentences on this answer. */
  warnings: string[];
}

export interface Meta {
  /** Version of the daemon. */
  version: string;
  /** ClusterName of slurm.conf; null before the first snapshot. */
  cluster: string | null;
  /** Where the snapshot comes from; null before the first. */
  source: string | null;
  /** Unix time; null before the first snapshot. */
  snapshot_taken_at: number | null;
  /** Why the snapshot is old; null while new ones arrive. */
  stale_cause: string | null;
  /** What PrivateData hides from the daemon, with the remedy. */
  unseen?: string;
}

export interface Error {
  /** What kind of error it is. */
  code: 'bad_input' | 'not_found' | 'infeasible' | 'unavailable' | 'internal' | 'forbidden' | 'unauthorized' | 'standby';
  /** One sentence with the remedy. */
  message: string;
  /** JSON pointer into the body of the request; empty if no member is to blame. */
  pointer: string;
}

export interface Advice extends Frame {
  /** Names this advice in POST /v1/advice/{id}/submitted. */
  advice_id?: string;
  /** Name of the training. */
  name: string;
  /** What strategies are ranked by. */
  objective: 'finish' | 'start' | 'cost' | 'deadline';
  /** Unix time by which it must be done; absent without one. */
  deadline?: number;
  /** Length and batch of the training. */
  training: TrainingLength;
  /** Where and how to run it, the best first. */
  strategies: Strategy[];
  /** Where to run each task of a job array; absent without one. */
  sweep?: Sweep;
  /** What cannot run it, with reasons. */
  rejected: Rejection[];
  /** A shorter time limit; null if none is worth it. */
  limit_advice: StrategyLimit | null;
  /** What would help, in sentences. */
  tips: string[];
  /** What memory and run time rest on although the file does not say it, in sentences. */
  assumed: string[];
  /** Keys of the training file that decide memory or run time and are missing. */
  unsettled: string[];
  /** How waits are forecast. */
  forecast: Forecast;
  /** Folder in which jobs leave outcomes; absent if there is none. */
  outcomes_dir?: string;
  /** `gpuadvise --json` only: where the command cannot follow strategies. */
  command_conflicts?: CommandConflict[];
}

export interface TrainingLength {
  /** Optimizer steps. */
  max_steps?: number;
  /** Passes over the data. */
  num_train_epochs?: number;
  /** Samples of the data set. */
  samples?: number;
  /** Least and most samples of one optimizer step. */
  effective_batch_size?: number[];
}

export interface Strategy {
  /** 1 is the best. */
  rank: number;
  /** Id of the GPU in the catalogue. */
  gpu: string;
  /** Name of the GPU for people. */
  gpu_name: string;
  /** GRES type as Slurm has it; "" for untyped GPUs. */
  gres_type: string;
  /** GPUs on each node. */
  gpus_per_node: number;
  /** Number of nodes. */
  nodes: number;
  /** Name of the partition. */
  partition: string;
  /** Account of the job; "" for the caller's default. */
  account: string;
  /** Quality of service; "" for the default. */
  qos: string;
  /** Samples that one GPU processes at once. */
  micro_batch: number;
  /** Micro-batches of one optimizer step. */
  accumulation: number;
  /** Samples of one optimizer step on all GPUs. */
  effective_batch_size: number;
  /** Optimizer steps. */
  steps: number;
  /** Samples processed. */
  samples: number;
  /** Precision of the computation. */
  precision: 'bf16' | 'fp16' | 'fp32';
  /** Time limit of the job. */
  time_limit_seconds: number;
  /** Starts of the job; more than 1 if it resumes after its time limit. */
  links: number;
  /** Memory needed on each GPU; 0 if not known. */
  memory_bytes: number;
  /** Whether a model, a memory line or a measurement says that every stage fits. */
  memory_checked: boolean;
  /** Whether memory and run time count with it; null where neither is computed. */
  gradient_checkpointing: boolean | null;
  /** Memory of one GPU. */
  gpu_memory_bytes: number;
  /** How much later jobs of others start because of it, summed over them; absent where it was not asked. */
  others_delay_seconds?: number;
  /** How many of them start over a minute later. */
  others_delayed?: number;
  /** GPU-hours of the mean run time. */
  gpu_hours: number;
  /** Cost of the mean run time; null if not known. */
  cost: number | null;
  /** Unit of `cost`: the site's currency, or hours of Slurm's billing TRES; null without cost. */
  cost_unit: 'price' | 'billing_hours' | null;
  /** Energy at the GPU's power limit, kWh; null if not known. */
  energy_kwh: number | null;
  /** Slurm's priority. */
  priority: number;
  /** Pending jobs ahead of it. */
  jobs_before: number;
  /** Mean time lost to preemption. */
  lost_mean_seconds: number;
  /** Wait if every present job ran to its time limit and no other job came before. */
  wait_at_limits_seconds: number;
  /** Queue wait: 10th percentile. */
  wait_p10_seconds: number;
  /** Queue wait: Median. */
  wait_p50_seconds: number;
  /** Queue wait: 90th percentile. */
  wait_p90_seconds: number;
  /** Queue wait: Mean. */
  wait_mean_seconds: number;
  /** Run time: 10th percentile. */
  run_p10_seconds: number;
  /** Run time: Median. */
  run_p50_seconds: number;
  /** Run time: 90th percentile. */
  run_p90_seconds: number;
  /** Run time: Mean. */
  run_mean_seconds: number;
  /** Queue wait + run time: 10th percentile. */
  total_p10_seconds: number;
  /** Queue wait + run time: Median. */
  total_p50_seconds: number;
  /** Queue wait + run time: 90th percentile. */
  total_p90_seconds: number;
  /** Queue wait + run time: Mean. */
  total_mean_seconds: number;
  /** Probability that it is done by the deadline; absent without one. */
  deadline_chance?: number;
  /** Whether that is 90 % or more. */
  makes_deadline?: boolean;
  /** Why it has this rank, in sentences. */
  reasons: string[];
  /** What to know about this strategy, in sentences. */
  notes: string[];
  /** What sbatch is given. */
  sbatch: SbatchOptions;
  /** The stages of the training; absent if there is one. */
  stages?: StageFigures[];
  /** With -M: the cluster. */
  cluster?: string;
  /** With -M: the rank on that cluster. */
  cluster_rank?: number;
  /** With -M: the advice of that cluster. */
  advice_id?: string;
  /** With -M: the folder of that cluster. */
  outcomes_dir?: string;
}

export interface SbatchOptions {
  /** --partition */
  partition?: string;
  /** --account */
  account?: string;
  /** --qos */
  qos?: string;
  /** --gres */
  gres?: string;
  /** --nodes */
  nodes: number;
  /** --ntasks-per-node */
  ntasks_per_node?: number;
  /** --cpus-per-task */
  cpus_per_task?: number;
  /** --mem: memory on each node */
  mem?: string;
  /** --constraint */
  constraint?: string;
  /** --exclude: a host list */
  exclude?: string;
  /** --nodelist */
  nodelist?: string;
  /** --time: the time limit */
  time?: string;
}

export interface StageFigures {
  /** Name of the stage. */
  name: string;
  /** Samples that one GPU processes at once. */
  micro_batch: number;
  /** Micro-batches of one optimizer step. */
  accumulation: number;
  /** Samples of one optimizer step on all GPUs. */
  effective_batch_size: number;
  /** Optimizer steps. */
  steps: number;
  /** Samples processed. */
  samples: number;
  /** Memory needed on each GPU; 0 if not known. */
  memory_bytes: number;
  /** Whether a model, a memory line or a measurement says that it fits. */
  memory_checked: boolean;
  /** Median of the run time. */
  run_p50_seconds: number;
}

export interface Sweep {
  /** Number of runs. */
  members: number;
  /** All of them, as sbatch's --array. */
  array: string;
  /** Time until the last run ends: 10th percentile. */
  makespan_p10_seconds: number;
  /** Time until the last run ends: Median. */
  makespan_p50_seconds: number;
  /** Time until the last run ends: 90th percentile. */
  makespan_p90_seconds: number;
  /** Time until the last run ends: Mean. */
  makespan_mean_seconds: number;
  /** Median time until half of the runs have ended. */
  half_done_p50_seconds: number;
  /** GPU-hours of all runs. */
  gpu_hours: number;
  /** How much later jobs of others start because of it, summed over them; absent where that is not told. */
  others_delay_seconds?: number;
  /** How many of them start over a minute later. */
  others_delayed?: number;
  /** The split, by rank. */
  shares: SweepShare[];
  /** The strategy that is done first if it gets all runs. */
  single_rank: number;
  /** Time until that one's last run ends: 10th percentile. */
  single_makespan_p10_seconds: number;
  /** Time until that one's last run ends: Median. */
  single_makespan_p50_seconds: number;
  /** Time until that one's last run ends: 90th percentile. */
  single_makespan_p90_seconds: number;
  /** Time until that one's last run ends: Mean. */
  single_makespan_mean_seconds: number;
  /** Whether some runs start after the simulated time. */
  later_than_played: boolean;
  /** Time until the last run ends where they wait now; absent where that is not known. */
  as_it_waits?: Seconds;
}

export interface SweepShare {
  /** Rank of the strategy. */
  rank: number;
  /** Number of runs. */
  members: number;
  /** Which runs, as sbatch's --array. */
  array: string;
  /** Most at once, median. */
  at_a_time: number;
  /** Median time until the first run starts. */
  start_p50_seconds: number;
  /** Time until the last run ends: 10th percentile. */
  end_p10_seconds: number;
  /** Time until the last run ends: Median. */
  end_p50_seconds: number;
  /** Time until the last run ends: 90th percentile. */
  end_p90_seconds: number;
  /** Time until the last run ends: Mean. */
  end_mean_seconds: number;
}

export interface Seconds {
  /** 10th percentile. */
  p10_seconds: number;
  /** Median. */
  p50_seconds: number;
  /** 90th percentile. */
  p90_seconds: number;
  /** Mean. */
  mean_seconds: number;
}

export interface Rejection {
  /** Id of the GPU in the catalogue. */
  gpu: string;
  /** Name of the GPU for people. */
  gpu_name: string;
  /** GPUs on each node. */
  gpus_per_node: number;
  /** Number of nodes. */
  nodes: number;
  /** Name of the partition. */
  partition: string;
  /** Whether another number of the same GPUs in this partition can run it. */
  others_possible: boolean;
  /** Why not, in sentences. */
  reasons: string[];
  /** With -M: the cluster. */
  cluster?: string;
}

export interface StrategyLimit {
  /** Rank of the strategy. */
  rank: number;
  /** The recommended time limit. */
  time_limit_seconds: number;
  /** The recommendation with its gain and risk. */
  words: string;
}

export interface Forecast {
  /** How waits are forecast. */
  method: 'history' | 'limits';
  /** Runs of the simulation. */
  samples: number;
  /** One sentence on the accuracy. */
  note: string;
  /** Whether enough forecast jobs have started. */
  accuracy_known?: boolean;
  /** The accuracy so far; null without a history. */
  record: AccuracyFigures | null;
}

export interface AccuracyFigures {
  /** Forecast jobs that have started. */
  jobs: number;
  /** Median absolute error of the median forecast. */
  median_abs_error_seconds: number | null;
  /** Share with an error of at most ten minutes. */
  within_600s: number | null;
  /** Share of jobs forecast to start at once that did. */
  at_once: number | null;
  /** Jobs forecast to wait. */
  covered_jobs: number;
  /** Median absolute error of those. */
  covered_median_abs_error_seconds: number | null;
  /** Share that started within the median. */
  coverage_p50: number | null;
  /** Share that started within the 90th percentile. */
  coverage_p90: number | null;
  /** Jobs for which Slurm published a start. */
  slurm_jobs: number;
  /** Median absolute error of Slurm's start. */
  slurm_median_abs_error_seconds: number | null;
  /** Median absolute error of this forecast for the same jobs. */
  median_abs_error_seconds_beside_slurm: number | null;
}

export interface CommandConflict {
  /** What the command says. */
  cause: string;
  /** What to change in it. */
  remedy: string;
  /** False where the program may see to it by itself. */
  certain: boolean;
  /** Strategies that it cannot follow. */
  ranks: number[];
}

export interface EarlierStart {
  /** The change, as sbatch options. */
  change: string;
  /** The same in words, with its cost. */
  words: string;
  /** How much later the result would come; negative if earlier; null if not known. */
  done_later_seconds: number | null;
  /** Queue wait: 10th percentile. */
  wait_p10_seconds: number;
  /** Queue wait: Median. */
  wait_p50_seconds: number;
  /** Queue wait: 90th percentile. */
  wait_p90_seconds: number;
  /** Queue wait: Mean. */
  wait_mean_seconds: number;
  /** 10th percentile of the start, Unix time. */
  start_p10: number;
  /** Median of the start, Unix time. */
  start_p50: number;
  /** 90th percentile of the start, Unix time. */
  start_p90: number;
}

export interface LimitChoice {
  /** The time limit. */
  time_limit_seconds: number;
  /** sbatch options of this choice. */
  options: string;
  /** 10th percentile of the gain. */
  sooner_p10_seconds: number;
  /** Median gain; negative: it starts later. */
  sooner_seconds: number;
  /** 90th percentile of the gain. */
  sooner_p90_seconds: number;
  /** Probability that the run takes longer than the limit; null if not known. */
  risk: number | null;
  /** Queue wait: 10th percentile. */
  wait_p10_seconds: number;
  /** Queue wait: Median. */
  wait_p50_seconds: number;
  /** Queue wait: 90th percentile. */
  wait_p90_seconds: number;
  /** Queue wait: Mean. */
  wait_mean_seconds: number;
  /** 10th percentile of the start, Unix time. */
  start_p10: number;
  /** Median of the start, Unix time. */
  start_p50: number;
  /** 90th percentile of the start, Unix time. */
  start_p90: number;
}

export interface LimitAdvice {
  /** The recommendation, or why there is none. */
  words: string;
  /** What sbatch's --time-min would do. */
  time_min_words: string;
  /** The recommended limit; null if there is none. */
  time_limit_seconds: number | null;
  /** The change, as sbatch options. */
  options?: string;
  /** What changes a pending job to it. */
  command?: string;
}

export interface Selection extends Frame {
  /** Names the choice in POST /v1/advice/{id}/submitted. */
  advice_id?: string;
  /** What to add to the job; empty if nothing. */
  job: SelectedJob;
  /** Why nothing is chosen; "" if something is. */
  reason: string;
  /** Where it can run, the best first. */
  alternatives: SelectAlternative[];
  /** Where it cannot, with reasons. */
  rejected: SelectRejection[];
  /** The chosen job; absent if nothing is chosen. */
  strategies?: SelectStrategy[];
  /** A sentence on a shorter time limit; absent if none is worth it. */
  limit_words?: string;
  /** How waits are forecast; absent if nothing is chosen. */
  forecast?: Forecast;
}

export interface SelectedJob {
  /** --partition: one or several. */
  partition?: string;
  /** --constraint */
  constraint?: string;
  /** GRES type as Slurm has it. */
  gres_type?: string;
  /** --gres, if the job has that. */
  gres?: string;
  /** --gpus-per-node, if the job has that. */
  gpus_per_node?: string;
  /** --gpus, if the job has that. */
  gpus?: string;
  /** Of the job with these options: Queue wait: 10th percentile. */
  wait_p10_seconds?: number;
  /** Of the job with these options: Queue wait: Median. */
  wait_p50_seconds?: number;
  /** Of the job with these options: Queue wait: 90th percentile. */
  wait_p90_seconds?: number;
  /** Of the job with these options: Queue wait: Mean. */
  wait_mean_seconds?: number;
  /** Of the job with these options: 10th percentile of the start, Unix time. */
  start_p10?: number;
  /** Of the job with these options: Median of the start, Unix time. */
  start_p50?: number;
  /** Of the job with these options: 90th percentile of the start, Unix time. */
  start_p90?: number;
}

export interface SelectAlternative {
  /** Partitions, separated by commas. */
  partition: string;
  /** Id of the GPU in the catalogue. */
  gpu: string;
  /** Name of the GPU for people. */
  gpu_name: string;
  /** GRES type as Slurm has it. */
  gres_type: string;
  /** Features that the nodes must have. */
  constraint: string;
  /** Memory of one GPU; 0: not known. */
  gpu_memory_bytes: number;
  /** Whether jobs there may be preempted. */
  may_be_preempted: boolean;
  /** Whether the options stand for this choice too. */
  in_job: boolean;
  /** Queue wait: 10th percentile. */
  wait_p10_seconds: number;
  /** Queue wait: Median. */
  wait_p50_seconds: number;
  /** Queue wait: 90th percentile. */
  wait_p90_seconds: number;
  /** Queue wait: Mean. */
  wait_mean_seconds: number;
  /** 10th percentile of the start, Unix time. */
  start_p10: number;
  /** Median of the start, Unix time. */
  start_p50: number;
  /** 90th percentile of the start, Unix time. */
  start_p90: number;
}

export interface SelectRejection {
  /** Name of the partition. */
  partition: string;
  /** Id of the GPU in the catalogue. */
  gpu: string;
  /** Name of the GPU for people. */
  gpu_name: string;
  /** Why not, in one sentence. */
  reason: string;
}

export interface SelectStrategy {
  /** 1. */
  rank: number;
  /** GRES type as Slurm has it. */
  gres_type: string;
  /** GPUs on each node. */
  gpus_per_node: number;
  /** Number of nodes. */
  nodes: number;
  /** Account of the job. */
  account: string;
  /** Quality of service. */
  qos: string;
  /** Slurm's priority. */
  priority: number;
  /** Time limit of the job. */
  time_limit_seconds: number;
  /** What sbatch is given. */
  sbatch: SbatchOptions;
}

export interface SweepProgress {
  /** Number of its first array, which names it. */
  job_id: number;
  /** Name of the training. */
  name: string;
  /** Owner. */
  user: string;
  /** Unix time of submission. */
  submitted_at: number;
  /** Numbers of its arrays. */
  arrays: number[];
  /** Number of runs. */
  runs: number;
  /** Runs that completed, by Slurm's accounting. */
  done: number;
  /** Runs that ended otherwise. */
  failed: number;
  /** Runs that run. */
  running: number;
  /** Runs in the queue. */
  waiting: number;
  /** Runs out of the queue that accounting does not have; also those cancelled before they began. */
  unknown: number;
  /** Runs that `gpuadvise sweep --keep` moved to another array. */
  moved: number;
  /** Median of the end of the last run, Unix time, of running ones the latest median, which is early if many run; null if not known. */
  end_p50: number | null;
  /** 90th percentile of it, likewise. */
  end_p90: number | null;
  /** With -M: the cluster. */
  cluster?: string;
}

export interface Fit extends Frame {
  /** Name of the training. */
  name: string;
  /** The stages of the training. */
  stages: FitStage[];
  /** The only stage: The model in words. */
  model?: string;
  /** The only stage: GPUs of the job. */
  gpus_in_all?: number;
  /** The only stage: Parameters; absent if the shape is not known. */
  parameters?: number;
  /** The only stage: Those that are trained. */
  trained_parameters?: number;
  /** The only stage: Assumptions, in sentences. */
  assumed?: string[];
  /** The only stage: Each type of GPU. */
  gpus?: FitGpu[];
  /** The only stage: `gpuadvise fit --tips` only. */
  tips?: Tip[];
  /** The only GPU of the only stage: Id of the GPU in the catalogue. */
  gpu?: string;
  /** The only GPU of the only stage: Name of the GPU for people. */
  gpu_name?: string;
  /** The only GPU of the only stage: Memory of one GPU. */
  gpu_memory_bytes?: number;
  /** The only GPU of the only stage: Whether micro_batch fits. */
  fits?: boolean;
  /** The only GPU of the only stage: What to know about this row, in sentences. */
  notes?: string[];
  /** The only GPU of the only stage: Share of memory that the recommended micro-batch leaves. */
  margin?: number;
  /** The only GPU of the only stage: Largest micro-batches. */
  max_micro_batch?: MicroBatches;
  /** The only GPU of the only stage: Samples that one GPU processes at once. */
  micro_batch?: number;
  /** The only GPU of the only stage: Micro-batches of one optimizer step. */
  accumulation?: number;
  /** The only GPU of the only stage: Samples of one optimizer step on all GPUs. */
  effective_batch_size?: number;
  /** The only GPU of the only stage: Memory with micro_batch. */
  memory?: MemoryUse;
  /** The only GPU of the only stage: What it was counted with. */
  settings?: FitSettings;
  /** The only GPU of the only stage: Largest batch of an evaluation. */
  eval_micro_batch?: number;
  /** The only GPU of the only stage: Largest batch of inference. */
  inference_batch?: number;
  /** The only GPU of the only stage: Memory of inference of one sample. */
  inference_memory_bytes?: number;
  /** The only GPU of the only stage: Largest rank of adapters that fits; 0: none that was tried. */
  lora_rank_that_fits?: number;
  /** The only GPU of the only stage: Changes that save memory, the least harmful first; absent if not computed. */
  savings?: MemorySaving[];
  /** The only GPU of the only stage: If not one sample fits: changes, one on top of the other, until one does; empty if none do. */
  would_fit_with?: string[];
  /** Accuracy of such estimates. */
  accuracy: EstimateAccuracy[];
  /** `gpuadvise fit` only: on the GPUs asked about. */
  gpu_notes?: string[];
}

export interface FitStage {
  /** Name of the stage; "" if it is the only one. */
  name: string;
  /** The model in words. */
  model: string;
  /** GPUs of the job. */
  gpus_in_all: number;
  /** Parameters; absent if the shape is not known. */
  parameters?: number;
  /** Those that are trained. */
  trained_parameters?: number;
  /** Assumptions, in sentences. */
  assumed?: string[];
  /** Each type of GPU. */
  gpus: FitGpu[];
  /** `gpuadvise fit --tips` only. */
  tips?: Tip[];
}

export interface FitGpu {
  /** Id of the GPU in the catalogue. */
  gpu: string;
  /** Name of the GPU for people. */
  gpu_name: string;
  /** Memory of one GPU. */
  gpu_memory_bytes: number;
  /** Whether micro_batch fits. */
  fits: boolean;
  /** What to know about this row, in sentences. */
  notes?: string[];
  /** Share of memory that the recommended micro-batch leaves. */
  margin?: number;
  /** Largest micro-batches. */
  max_micro_batch?: MicroBatches;
  /** Samples that one GPU processes at once. */
  micro_batch?: number;
  /** Micro-batches of one optimizer step. */
  accumulation?: number;
  /** Samples of one optimizer step on all GPUs. */
  effective_batch_size?: number;
  /** Memory with micro_batch. */
  memory?: MemoryUse;
  /** What it was counted with. */
  settings?: FitSettings;
  /** Largest batch of an evaluation. */
  eval_micro_batch?: number;
  /** Largest batch of inference. */
  inference_batch?: number;
  /** Memory of inference of one sample. */
  inference_memory_bytes?: number;
  /** Largest rank of adapters that fits; 0: none that was tried. */
  lora_rank_that_fits?: number;
  /** Changes that save memory, the least harmful first; absent if not computed. */
  savings?: MemorySaving[];
  /** If not one sample fits: changes, one on top of the other, until one does; empty if none do. */
  would_fit_with?: string[];
}

export interface MicroBatches {
  /** With twice the margin of free memory, at most half of the GPU. */
  conservative: number;
  /** With the margin. */
  recommended: number;
  /** Without margin. */
  aggressive: number;
}

export interface MemoryUse {
  /** Peak on one GPU. */
  total_bytes: number;
  /** 10th percentile of the peak. */
  low_bytes?: number;
  /** 90th percentile of the peak, and an upper bound if lengths vary. */
  high_bytes?: number;
  /** Weights. */
  weights_bytes: number;
  /** Gradients. */
  gradients_bytes?: number;
  /** Optimizer states. */
  optimizer_bytes?: number;
  /** Activations. */
  activations_bytes: number;
  /** Logits. */
  logits_bytes?: number;
  /** Workspace of kernels. */
  workspace_bytes?: number;
  /** CUDA context and framework. */
  framework_bytes: number;
  /** Where in a step the peak is. */
  peak_in?: string;
  /** Where the figures come from. */
  basis: string;
}

export interface FitSettings {
  /** Precision of the computation. */
  precision: 'bf16' | 'fp16' | 'fp32';
  /** How it trains: full, lora, … */
  method: string;
  /** true, false or "selective". */
  gradient_checkpointing?: unknown;
  /** Optimizer. */
  optim?: string;
  /** Stage of ZeRO, or what FSDP does of it. */
  zero_stage?: number;
  /** Weights, gradients and states in half precision. */
  pure_bf16?: boolean;
  /** Tokens of a sample. */
  max_seq_length?: number;
  /** Side of an image in pixels. */
  resolution?: number;
  /** Frames of a video. */
  num_frames?: number;
  /** Length of an audio sample. */
  audio_seconds?: number;
  /** Rank of adapters. */
  lora_rank?: number;
}

export interface MemorySaving {
  /** The change, as a key of train.yaml. */
  change: string;
  /** What it saves. */
  saves_bytes: number;
  /** The recommended micro-batch with it. */
  max_micro_batch: number;
  /** What it costs, in words. */
  costs: string;
}

export interface Tip {
  /** What it is about. */
  name: string;
  /** What to do. */
  text: string;
  /** What it brings; "" if not known. */
  effect: string;
  /** Who says so. */
  effect_source: string;
  /** Whether it applies to this training. */
  applies: boolean;
  /** Why not; "" if it does. */
  why_not: string;
}

export interface EstimateAccuracy {
  /** Which measurements. */
  of: string;
  /** How many they are. */
  rows: number;
  /** Median of the error. */
  median_error: number;
  /** 90th percentile of the error. */
  p90_error: number;
}

export interface Scale extends Frame {
  /** Name of the training. */
  name: string;
  /** What the number is recommended by. */
  objective: 'finish' | 'start' | 'cost' | 'deadline';
  /** Of the GPU that is shown in full: Id of the GPU in the catalogue. */
  gpu?: string;
  /** Of the GPU that is shown in full: Name of the GPU for people. */
  gpu_name?: string;
  /** Of the GPU that is shown in full: 1, 2, 4, … GPUs. */
  steps?: ScaleStep[];
  /** Of the GPU that is shown in full: Assumptions, in sentences; absent if none can run it. */
  assumed?: string[];
  /** Of the GPU that is shown in full: How many to use; absent if none can run it. */
  recommended?: Recommended;
  /** Why that GPU; absent if there is no choice. */
  gpu_why?: string;
  /** Each type of GPU. */
  gpus: ScaleCurve[];
  /** Where nothing runs: changes with which a sample would fit, in sentences. */
  ways_to_fit?: string[];
  /** Accuracy of such estimates. */
  accuracy: EstimateAccuracy[];
  /** `gpuadvise scale` only: on the GPUs asked about. */
  gpu_notes?: string[];
}

export interface ScaleStep {
  /** GPUs in all. */
  gpus: number;
  /** GPUs on each node. */
  gpus_per_node: number;
  /** Number of nodes. */
  nodes: number;
  /** Whether they can run it. */
  runs: boolean;
  /** Why not. */
  reason?: string;
  /** Median of the run time, hours. */
  hours?: number;
  /** Median of the run time. */
  run_p50_seconds?: number;
  /** 90th percentile of the run time. */
  run_p90_seconds?: number;
  /** Samples a second of each GPU, as a share of those with the fewest GPUs. */
  efficiency?: number;
  /** GPU-hours. */
  gpu_hours?: number;
  /** Cost; absent without a price. */
  cost?: number;
  /** Energy at the GPU's power limit, kWh; absent if not known. */
  energy_kwh?: number;
  /** The stages of the training. */
  stages?: ScaleStage[];
}

export interface ScaleStage {
  /** Name of the stage; "" if it is the only one. */
  name: string;
  /** Median of the run time, hours. */
  hours: number;
  /** Optimizer steps. */
  steps: number;
  /** Time of an optimizer step. */
  seconds_per_step: number;
  /** Time of all checkpoints. */
  checkpoint_seconds: number;
  /** Samples that one GPU processes at once. */
  micro_batch: number;
  /** Micro-batches of one optimizer step. */
  accumulation: number;
  /** Samples of one optimizer step on all GPUs. */
  effective_batch_size: number;
  /** Precision of the computation. */
  precision: 'bf16' | 'fp16' | 'fp32';
  /** Whether it needs gradient checkpointing, which the file leaves open. */
  gradient_checkpointing_chosen: boolean;
  /** Whether a model, a memory line or a measurement says that it fits. */
  memory_checked: boolean;
  /** Where the run time comes from. */
  basis: string;
  /** Where timings contradict each other. */
  disagreement?: string;
  /** Memory needed on each GPU; absent if not known. */
  memory_bytes?: number;
  /** Parts of a step; absent unless computed from the shape. */
  step?: StepParts;
}

export interface StepParts {
  /** Matrix products. */
  compute_seconds: number;
  /** Reading and writing memory. */
  memory_traffic_seconds: number;
  /** Waiting for the host. */
  launches_seconds: number;
  /** Communication that computing does not hide. */
  communication_seconds: number;
  /** Optimizer. */
  optimizer_seconds: number;
  /** Waiting for data. */
  loader_seconds: number;
}

export interface Recommended {
  /** The recommended number of GPUs. */
  gpus: number;
  /** Why that many. */
  why: string;
  /** Why not more. */
  why_not_more: string;
  /** What runs on which day. */
  schedule: DayOfWork[];
  /** From which number on GPUs gain too little. */
  beyond?: string;
}

export interface DayOfWork {
  /** Counted from 1. */
  first_day: number;
  /** The last of equal days. */
  last_day: number;
  /** Name of a stage, or "start". */
  task: string;
  /** Hours a day. */
  hours: number;
}

export interface ScaleCurve {
  /** Id of the GPU in the catalogue. */
  gpu: string;
  /** Name of the GPU for people. */
  gpu_name: string;
  /** 1, 2, 4, … GPUs. */
  steps: ScaleStep[];
  /** Assumptions, in sentences; absent if none can run it. */
  assumed?: string[];
  /** How many to use; absent if none can run it. */
  recommended?: Recommended;
}

export interface FreeGpus extends Frame {
  /** Unix time of the first step: that of the snapshot. */
  start: number;
  /** Length of a step. */
  step_seconds: number;
  /** Unix time of the last step; before the end of the hours that were asked for where no more is known. */
  until: number;
  /** Runs of the simulation. */
  samples: number;
  /** How long submissions were watched, from which arriving jobs are drawn; under an hour: none are. */
  watched_seconds: number;
  /** The GPU types of the cluster. */
  gpus: FreeGpusOfType[];
}

export interface FreeGpusOfType {
  /** Id of the GPU in the catalogue. */
  gpu: string;
  /** Name of the GPU for people. */
  gpu_name: string;
  /** Number in all. */
  total: number;
  /** GPUs without those of down and drained nodes. */
  usable: number;
  /** 10th percentile of the free GPUs at the beginning of the step. */
  p10: number[];
  /** Median of the free GPUs at the beginning of the step. */
  p50: number[];
  /** 90th percentile of the free GPUs at the beginning of the step. */
  p90: number[];
}

export interface Queue extends Frame {
  /** Pending jobs in the order of their starts, then running ones. */
  jobs: QueueJob[];
  /** Number of jobs that the filter leaves. */
  total: number;
  /** Jobs that the filter cannot choose by, because the caller may not see whose they are. */
  hidden: number;
  /** Jobs that were skipped. */
  offset: number;
  /** By partition and GPU type, before filters. */
  pools: QueuePool[];
  /** By what the jobs can be filtered. */
  owners: QueueOwners;
  /** Sweeps of these jobs, the newest first; absent without any. */
  sweeps?: SweepProgress[];
}

export interface QueueJob {
  /** Number of the job. */
  job_id: number;
  /** Task numbers of an array, as Slurm writes them. */
  array_tasks: string;
  /** Number of tasks of an array; 1 for other jobs. */
  array_task_count: number;
  /** Name of the job; null where the caller may not see it. */
  name: string | null;
  /** Owner of the job; null where the caller may not see it. */
  user: string | null;
  /** Account; null where the caller may not see it. */
  account: string | null;
  /** Quality of service; null where the caller may not see it. */
  qos: string | null;
  /** Partitions, separated by commas. */
  partition: string;
  /** Slurm's word for the state. */
  state: string;
  /** GPUs as asked for, in Slurm's words. */
  gres: string;
  /** Id of the GPU in the catalogue; "" without GPUs or for any type. */
  gpu: string;
  /** Name of the GPU for people. */
  gpu_name: string;
  /** GPUs of one task in all. */
  gpus: number;
  /** Number of nodes. */
  nodes: number;
  /** Time limit; null without one. */
  time_limit_seconds: number | null;
  /** Slurm's priority. */
  priority: number;
  /** Unix time of submission. */
  submit_time: number | null;
  /** The sweep that it is a part of; absent outside of sweeps, and where the caller may not see it. */
  sweep?: number;
  /** Running jobs only. Unix time of the start. */
  start_time?: number | null;
  /** Running jobs only. Unix time at which the time limit ends; null without one. */
  end_time?: number | null;
  /** Running jobs only. Median of the end, Unix time; null if not known. */
  end_p50?: number | null;
  /** Running jobs only. 90th percentile of the end, Unix time; null if not known. */
  end_p90?: number | null;
  /** Pending jobs only. Slurm's reason for a pending job. */
  reason?: string;
  /** Pending jobs only. The reason in words. */
  reason_words?: string;
  /** Pending jobs only. When the reason goes away, in words. */
  clears?: string;
  /** Pending jobs only. Start that Slurm's backfill has published, Unix time; null if none. */
  slurm_start?: number | null;
  /** Pending jobs only. Median of the run time; null if not known. */
  run_p50_seconds?: number | null;
  /** Pending jobs only. Pending jobs ahead of it; null if its start cannot be forecast. */
  jobs_before?: number | null;
  /** Pending jobs only. Absent if its start cannot be forecast. Queue wait: 10th percentile. */
  wait_p10_seconds?: number;
  /** Pending jobs only. Absent if its start cannot be forecast. Queue wait: Median. */
  wait_p50_seconds?: number;
  /** Pending jobs only. Absent if its start cannot be forecast. Queue wait: 90th percentile. */
  wait_p90_seconds?: number;
  /** Pending jobs only. Absent if its start cannot be forecast. Queue wait: Mean. */
  wait_mean_seconds?: number;
  /** Pending jobs only. Absent if its start cannot be forecast. 10th percentile of the start, Unix time. */
  start_p10?: number;
  /** Pending jobs only. Absent if its start cannot be forecast. Median of the start, Unix time. */
  start_p50?: number;
  /** Pending jobs only. Absent if its start cannot be forecast. 90th percentile of the start, Unix time. */
  start_p90?: number;
  /** With -M: the cluster. */
  cluster?: string;
}

export interface QueuePool {
  /** Name of the partition. */
  partition: string;
  /** Id of the GPU in the catalogue; "" without GPUs or for any type. */
  gpu: string;
  /** Name of the GPU for people. */
  gpu_name: string;
  /** Jobs that wait; one for several partitions counts in each. */
  pending: number;
  /** GPUs of all their tasks. */
  pending_gpus: number;
  /** Jobs that run. */
  running: number;
  /** Their GPUs. */
  running_gpus: number;
  /** GPUs that a small job could take now. */
  free: number;
}

export interface QueueOwners {
  /** Login names. */
  users: string[];
  /** Accounts. */
  accounts: string[];
  /** QOS, several of one job as one text. */
  qos: string[];
}

export interface Job extends Frame {
  /** Number of the job. */
  job_id: number;
  /** Task numbers of an array, as Slurm writes them. */
  array_tasks: string;
  /** Number of tasks of an array; 1 for other jobs. */
  array_task_count: number;
  /** Name of the job; null where the caller may not see it. */
  name: string | null;
  /** Owner of the job; null where the caller may not see it. */
  user: string | null;
  /** Account; null where the caller may not see it. */
  account: string | null;
  /** Quality of service; null where the caller may not see it. */
  qos: string | null;
  /** Partitions, separated by commas. */
  partition: string;
  /** Slurm's word for the state. */
  state: string;
  /** GPUs as asked for, in Slurm's words. */
  gres: string;
  /** Id of the GPU in the catalogue; "" without GPUs or for any type. */
  gpu: string;
  /** Name of the GPU for people. */
  gpu_name: string;
  /** GPUs of one task in all. */
  gpus: number;
  /** Number of nodes. */
  nodes: number;
  /** Time limit; null without one. */
  time_limit_seconds: number | null;
  /** Slurm's priority. */
  priority: number;
  /** Unix time of submission. */
  submit_time: number | null;
  /** The sweep that it is a part of; absent outside of sweeps, and where the caller may not see it. */
  sweep?: number;
  /** Running jobs only. Unix time of the start. */
  start_time?: number | null;
  /** Running jobs only. Unix time at which the time limit ends; null without one. */
  end_time?: number | null;
  /** Running jobs only. Median of the end, Unix time; null if not known. */
  end_p50?: number | null;
  /** Running jobs only. 90th percentile of the end, Unix time; null if not known. */
  end_p90?: number | null;
  /** Pending jobs only. Slurm's reason for a pending job. */
  reason?: string;
  /** Pending jobs only. The reason in words. */
  reason_words?: string;
  /** Pending jobs only. When the reason goes away, in words. */
  clears?: string;
  /** Pending jobs only. Start that Slurm's backfill has published, Unix time; null if none. */
  slurm_start?: number | null;
  /** Pending jobs only. Median of the run time; null if not known. */
  run_p50_seconds?: number | null;
  /** Pending jobs only. Pending jobs ahead of it; null if its start cannot be forecast. */
  jobs_before?: number | null;
  /** Pending jobs only. Absent if its start cannot be forecast. Queue wait: 10th percentile. */
  wait_p10_seconds?: number;
  /** Pending jobs only. Absent if its start cannot be forecast. Queue wait: Median. */
  wait_p50_seconds?: number;
  /** Pending jobs only. Absent if its start cannot be forecast. Queue wait: 90th percentile. */
  wait_p90_seconds?: number;
  /** Pending jobs only. Absent if its start cannot be forecast. Queue wait: Mean. */
  wait_mean_seconds?: number;
  /** Pending jobs only. Absent if its start cannot be forecast. 10th percentile of the start, Unix time. */
  start_p10?: number;
  /** Pending jobs only. Absent if its start cannot be forecast. Median of the start, Unix time. */
  start_p50?: number;
  /** Pending jobs only. Absent if its start cannot be forecast. 90th percentile of the start, Unix time. */
  start_p90?: number;
  /** With -M: the cluster. */
  cluster?: string;
  /** Names of the nodes that it runs on; empty for a pending job, and where the caller may not see it. */
  on_nodes: string[];
  /** Why it waits; empty for a running job. */
  why: WhyPending[];
  /** Changes that would start it earlier. */
  cheaper: EarlierStart[];
  /** Pending jobs only. The first of the `jobs_before`, at most 10, without those that the caller may not see. */
  ahead?: JobAhead[];
  /** Pending jobs only. How its start has moved; null: hardly, or the caller may not see it. */
  moved?: StartMoved | null;
  /** Pending jobs only. Null without the multifactor plugin, or where the caller may not see it. */
  priority_factors?: PriorityParts | null;
  /** Pending jobs only. How waits are forecast. */
  forecast?: Forecast;
  /** Pending jobs of the caller only. Waits and risks of shorter time limits. */
  limits?: LimitChoice[];
  /** Pending jobs of the caller only. Which time limit to take. */
  limit_advice?: LimitAdvice;
}

export interface WhyPending {
  /** A reason why it waits, in words. */
  words: string;
  /** When that ends, in words. */
  clears: string;
}

export interface JobAhead {
  /** Number of the job. */
  job_id: number;
  /** GPUs of one task in all. */
  gpus: number;
  /** Number of nodes. */
  nodes: number;
  /** Slurm's priority. */
  priority: number;
}

export interface StartMoved {
  /** Median as of the submission, Unix time. */
  said_start: number;
  /** Median now, Unix time. */
  start: number;
  /** What moved it, in sentences. */
  because: string[];
}

export interface PriorityParts {
  /** The priority. */
  total: number;
  /** From waiting. */
  age: number;
  /** Of the association. */
  association: number;
  /** From fair share. */
  fair_share: number;
  /** From the job's size. */
  job_size: number;
  /** Of the partition. */
  partition: number;
  /** Of the QOS. */
  qos: number;
  /** From the TRES. */
  tres: number;
  /** What --nice takes off. */
  nice: number;
}

export interface Waits extends Frame {
  /** The GPU types of the cluster. */
  gpus: GpuWaits[];
  /** The shortest waits by number of GPUs and time limit. */
  best: BestChoices[];
  /** Jobs that wait. */
  pending: number;
  /** Jobs that run. */
  running: number;
  /** How waits are forecast. */
  forecast: Forecast;
}

export interface GpuWaits {
  /** Id of the GPU in the catalogue. */
  gpu: string;
  /** Name of the GPU for people. */
  gpu_name: string;
  /** Memory of one GPU; null if it is not in the catalogue. */
  memory_bytes: number | null;
  /** Names of the partitions. */
  partitions: string[];
  /** Number of nodes. */
  nodes: number;
  /** Most GPUs of one node. */
  gpus_per_node: number;
  /** Number in all. */
  total: number;
  /** GPUs without those of down and drained nodes. */
  usable: number;
  /** GPUs that a small job could take now. */
  free: number;
  /** By shape and time limit. */
  waits: ShapeWait[];
}

export interface ShapeWait {
  /** The shape in one word. */
  shape: 'one' | 'half_node' | 'node' | 'two_nodes';
  /** GPUs on each node. */
  gpus_per_node: number;
  /** Number of nodes. */
  nodes: number;
  /** Time limit of the job. */
  time_limit_seconds: number;
  /** Where it starts first; null if nowhere. */
  partition: string | null;
  /** 10th percentile of the queue wait; null if it cannot run. */
  wait_p10_seconds: number | null;
  /** Median of the queue wait; null if it cannot run. */
  wait_p50_seconds: number | null;
  /** 90th percentile of the queue wait; null if it cannot run. */
  wait_p90_seconds: number | null;
  /** Why it cannot run; null if it can. */
  reason: string | null;
}

export interface BestChoices {
  /** GPUs of the job. */
  gpus_per_node: number;
  /** 1. */
  nodes: number;
  /** Time limit of the job. */
  time_limit_seconds: number;
  /** At most three GPU types, the shortest wait first. */
  choices: BestChoice[];
}

export interface BestChoice {
  /** Id of the GPU in the catalogue. */
  gpu: string;
  /** Name of the GPU for people. */
  gpu_name: string;
  /** Name of the partition. */
  partition: string;
  /** Median of the queue wait. */
  wait_p50_seconds: number;
  /** 90th percentile of the queue wait. */
  wait_p90_seconds: number;
  /** Mean of the queue wait. */
  wait_mean_seconds: number;
}

export interface ClusterMap extends Frame {
  /** In the order of the nodes' names. */
  groups: MapGroup[];
}

export interface MapGroup {
  /** Name of the first partition that the nodes are in. */
  partition: string;
  /** Id of the GPU in the catalogue. */
  gpu: string;
  /** Name of the GPU for people. */
  gpu_name: string;
  /** GPUs of each node. */
  gpus_per_node: number;
  /** Names of the nodes, as a host list. */
  nodes: string;
  /** The condition: f free, p partly, b busy, k promised, d drained, x down. */
  condition: string;
  /** GPUs in use, to base 36; z: 35 or more. */
  used: string;
  /** Idle GPUs that can take a job, promised ones among them, to base 36. */
  free: string;
}

export interface Timeline extends Frame {
  /** Unix time at which it begins. */
  start: number;
  /** Unix time at which it ends. */
  until: number;
  /** Unix time of the daemon's first snapshot; jobs that ended earlier are not known. */
  known_since: number | null;
  /** Nodes with GPUs. */
  nodes: TimelineNode[];
  /** Number of nodes that the filters leave. */
  total: number;
  /** Nodes that were skipped. */
  offset: number;
}

export interface TimelineNode {
  /** Name of the node. */
  name: string;
  /** What the node can take. */
  condition: 'free' | 'partly' | 'busy' | 'promised' | 'drained' | 'down';
  /** Id of the first of its GPU types in the catalogue. */
  gpu: string;
  /** Name of that GPU for people. */
  gpu_name: string;
  /** Its GPUs. */
  total: number;
  /** Those with GPUs in this time, the first to start first. */
  jobs: TimelineJob[];
  /** How many these are; at most 100 are listed. */
  jobs_total: number;
}

export interface TimelineJob {
  /** Number of the job. */
  job_id: number;
  /** Name of the job; null where the caller may not see it, and of one that has ended. */
  name: string | null;
  /** Owner of the job; null where the caller may not see it. */
  user: string | null;
  /** Its GPUs on this node. */
  gpus: number;
  /** What it does. */
  kind: 'ended' | 'running' | 'forecast';
  /** Unix time of the start; of a forecast its median. */
  start: number;
  /** 90th percentile of a forecast start, Unix time; null for the others. */
  start_p90: number | null;
  /** Unix time of the end; of the others its median, null if not known. */
  end: number | null;
  /** 90th percentile of the end of a running job, Unix time; null if not known. */
  end_p90: number | null;
}

export interface SchedulerHealth extends Frame {
  /** Unix time at which the figures were read; null if they were not. */
  read_at: number | null;
  /** Unix time from which on is counted. */
  since: number | null;
  /** The main scheduler. */
  main: SchedulerCycles;
  /** The backfill scheduler. */
  backfill: SchedulerCycles;
  /** Jobs that backfill has started. */
  backfilled_jobs: number | null;
  /** RPCs that slurmctld has answered. */
  rpcs: number | null;
  /** Mean time of one. */
  rpc_mean_seconds: number | null;
  /** Threads that answer RPCs. */
  server_threads: number | null;
  /** Messages that wait to be sent to nodes. */
  agent_queue: number | null;
  /** Why they could not be read; null if they were, and where the source of snapshots does not read them. */
  problem: string | null;
}

export interface SchedulerCycles {
  /** Time of the last cycle. */
  last_seconds: number | null;
  /** Mean time of a cycle. */
  mean_seconds: number | null;
  /** Time of the longest cycle. */
  max_seconds: number | null;
  /** Number of cycles. */
  cycles: number | null;
  /** Mean number of jobs that a cycle looks at. */
  mean_depth: number | null;
  /** Jobs in its queue in the last cycle. */
  queue_length: number | null;
}

export interface Nodes extends Frame {
  /** By partition and GPU type, before filters. */
  groups: NodeGroup[];
  /** Down and drained nodes by GPU type, before filters. */
  broken: BrokenGpus[];
  /** Before filters; null: the daemon knows no Prometheus. */
  idle_allocated: IdleAllocated | null;
  /** Number of nodes by condition, before that filter. */
  conditions: NodeConditions;
  /** Those of this page. */
  nodes: ClusterNode[];
  /** Number of nodes that the filters leave. */
  total: number;
  /** Nodes that were skipped. */
  offset: number;
}

export interface NodeGroup {
  /** Name of the partition. */
  partition: string;
  /** Id of the GPU in the catalogue; "": the nodes without GPUs. */
  gpu: string;
  /** Name of the GPU for people. */
  gpu_name: string;
  /** Number of nodes. */
  nodes: number;
  /** Number of GPUs. */
  gpus: number;
  /** GPUs that a small job could take now. */
  free: number;
  /** GPUs in use. */
  used: number;
  /** Idle GPUs kept for a waiting job or a reservation. */
  promised: number;
  /** Idle GPUs that no job can take. */
  unavailable: number;
}

export interface BrokenGpus {
  /** Id of the GPU in the catalogue; "": the nodes without GPUs. */
  gpu: string;
  /** Name of the GPU for people. */
  gpu_name: string;
  /** Number of nodes. */
  nodes: number;
  /** Their GPUs. */
  gpus: number;
  /** Those of them that no job uses. */
  lost: number;
}

export interface IdleAllocated {
  /** Number of nodes with such GPUs. */
  nodes: number;
  /** GPUs that jobs have held for 30 minutes and that did nothing in them, at least. */
  gpus: number;
  /** Why they are not known; null if they are. Details are for those who are signed in. */
  problem: string | null;
}

export interface NodeConditions {
  /** Idle. */
  free: number;
  /** Some GPUs are idle, without GPUs some CPUs. */
  partly: number;
  /** No small job finds room. */
  busy: number;
  /** Idle, but kept. */
  promised: number;
  /** No new job gets it. */
  drained: number;
  /** Nothing can run there. */
  down: number;
}

export interface ClusterNode {
  /** Name of the node. */
  name: string;
  /** Slurm's words for the state. */
  state: string;
  /** What the node can take. */
  condition: 'free' | 'partly' | 'busy' | 'promised' | 'drained' | 'down';
  /** Why an administrator drained it; "" over TCP. */
  reason: string;
  /** Who gave the reason; "" if not known, and over TCP. */
  reason_user: string;
  /** Unix time at which the reason was given; null if not known. */
  since: number | null;
  /** Names of the partitions. */
  partitions: string[];
  /** Features of the node. */
  features: string[];
  /** CPUs. */
  cpus: number;
  /** CPUs in use. */
  cpus_allocated: number;
  /** Memory, MiB. */
  memory_mib: number;
  /** Memory in use, MiB. */
  memory_allocated_mib: number;
  /** GPU shards. */
  shards: number;
  /** GPU shards in use. */
  shards_allocated: number;
  /** By GRES type. */
  gpus: NodeGpus[];
  /** At most 16, the first to end first. */
  jobs: NodeJob[];
  /** Number of jobs on the node. */
  jobs_total: number;
  /** Median of the first end of these; null if not known. */
  next_end_p50: number | null;
  /** GPUs that jobs have held for 30 minutes and that did nothing in them, at least; 0 where it is not known. */
  idle_allocated: number;
  /** Null: it is kept for no waiting job. */
  promised: NodePromise | null;
  /** The reservation that holds it now, else the next; null if none. */
  reserved: NodeReservation | null;
}

export interface NodeGpus {
  /** Id of the GPU in the catalogue. */
  gpu: string;
  /** Name of the GPU for people. */
  gpu_name: string;
  /** GRES type as Slurm has it. */
  gres_type: string;
  /** Number in all. */
  total: number;
  /** GPUs in use. */
  used: number;
  /** Idle GPUs that can take a job, promised ones among them. */
  free: number;
}

export interface NodeJob {
  /** Number of the job. */
  job_id: number;
  /** Name of the job; null where the caller may not see it. */
  name: string | null;
  /** Owner of the job; null where the caller may not see it. */
  user: string | null;
  /** Its GPUs on this node. */
  gpus: number;
  /** Its CPUs on this node. */
  cpus: number;
  /** Unix time of the start. */
  start_time: number | null;
  /** Median of the end, Unix time; null if not known. */
  end_p50: number | null;
  /** 90th percentile of the end, Unix time; null if not known. */
  end_p90: number | null;
  /** Unix time at which the time limit ends; null without one. */
  end_limit: number | null;
}

export interface NodePromise {
  /** Number of the job; null where the caller may not see it. */
  job_id: number | null;
  /** Median of its start, Unix time. */
  start: number;
}

export interface NodeReservation {
  /** Name of the reservation; null where the caller may not see it. */
  name: string | null;
  /** Unix time. */
  start: number | null;
  /** Unix time. */
  end: number | null;
}

export interface Accuracy extends Frame {
  /** Of all jobs. */
  all: AccuracyFigures;
  /** Of those that had room when they were forecast. */
  fits_now: AccuracyFigures;
  /** Of the others. */
  does_not_fit_now: AccuracyFigures;
  /** By GPU type and number of GPUs. */
  by_gpu: AccuracyOfGpu[];
  /** Unix time of the first start; null if there is none. */
  since: number | null;
  /** One sentence on the result. */
  note: string;
  /** Forecast deciles against what happened. */
  calibration: CalibrationPoint[];
  /** By the week in which jobs started. */
  weeks: AccuracyWeek[];
  /** The newest jobs that were forecast to wait. */
  points: AccuracyPoint[];
}

export interface AccuracyOfGpu {
  /** Forecast jobs that have started. */
  jobs: number;
  /** Median absolute error of the median forecast. */
  median_abs_error_seconds: number | null;
  /** Share with an error of at most ten minutes. */
  within_600s: number | null;
  /** Share of jobs forecast to start at once that did. */
  at_once: number | null;
  /** Jobs forecast to wait. */
  covered_jobs: number;
  /** Median absolute error of those. */
  covered_median_abs_error_seconds: number | null;
  /** Share that started within the median. */
  coverage_p50: number | null;
  /** Share that started within the 90th percentile. */
  coverage_p90: number | null;
  /** Jobs for which Slurm published a start. */
  slurm_jobs: number;
  /** Median absolute error of Slurm's start. */
  slurm_median_abs_error_seconds: number | null;
  /** Median absolute error of this forecast for the same jobs. */
  median_abs_error_seconds_beside_slurm: number | null;
  /** Id of the GPU in the catalogue; "" for jobs without GPUs. */
  gpu: string;
  /** Name of the GPU for people. */
  gpu_name: string;
  /** Number of GPUs: 4-7. */
  gpus: string;
}

export interface CalibrationPoint {
  /** Forecast probability. */
  said: number;
  /** Share that happened; null if not known. */
  came: number | null;
  /** Lower end of its 95 % interval. */
  low: number | null;
  /** Upper end of its 95 % interval. */
  high: number | null;
  /** Number of jobs. */
  jobs: number;
}

export interface AccuracyWeek {
  /** Forecast jobs that have started. */
  jobs: number;
  /** Median absolute error of the median forecast. */
  median_abs_error_seconds: number | null;
  /** Share with an error of at most ten minutes. */
  within_600s: number | null;
  /** Share of jobs forecast to start at once that did. */
  at_once: number | null;
  /** Jobs forecast to wait. */
  covered_jobs: number;
  /** Median absolute error of those. */
  covered_median_abs_error_seconds: number | null;
  /** Share that started within the median. */
  coverage_p50: number | null;
  /** Share that started within the 90th percentile. */
  coverage_p90: number | null;
  /** Jobs for which Slurm published a start. */
  slurm_jobs: number;
  /** Median absolute error of Slurm's start. */
  slurm_median_abs_error_seconds: number | null;
  /** Median absolute error of this forecast for the same jobs. */
  median_abs_error_seconds_beside_slurm: number | null;
  /** Unix time of the Monday. */
  week_start: number;
}

export interface AccuracyPoint {
  /** Unix time of its start. */
  started_at: number;
  /** Id of the GPU in the catalogue; "" without GPUs. */
  gpu: string;
  /** Name of the GPU for people. */
  gpu_name: string;
  /** Number of GPUs. */
  gpus: number;
  /** 10th percentile of the forecast wait. */
  said_p10_seconds: number;
  /** Median of the forecast wait. */
  said_p50_seconds: number;
  /** 90th percentile of the forecast wait. */
  said_p90_seconds: number;
  /** The wait that came. */
  wait_seconds: number;
  /** Error of Slurm's own start; null if it published none. */
  slurm_error_seconds: number | null;
}

export interface History extends Frame {
  /** Time zone of the daemon's machine. */
  time_zone: string;
  /** Offset of the time zone. */
  utc_offset_seconds: number;
  /** Weeks that were asked for. */
  weeks: number;
  /** Unix time from which on something is known; null if nothing is. */
  since: number | null;
  /** Unix time of the snapshot. */
  until: number;
  /** GPU types of the cluster or the history. */
  gpus: HistoryGpu[];
  /** By weekday and hour. */
  heat: HeatCell[];
  /** By week and GPU type. */
  by_week: HistoryWeek[];
  /** The queue over time. */
  series: HistoryStep[];
  /** Null: not known, or no difference. */
  best_time: BestTime | null;
  /** Why there is no best_time; null if there is one. */
  best_time_unknown: 'few_jobs' | 'no_difference' | null;
  /** One sentence on the result. */
  note: string;
}

export interface HistoryGpu {
  /** Id of the GPU in the catalogue. */
  gpu: string;
  /** Name of the GPU for people. */
  gpu_name: string;
  /** Number in the cluster. */
  total: number;
  /** Share of them in use in each hour that is known of the last 24, oldest first; the last is not over. */
  last_day: number[];
}

export interface HeatCell {
  /** 0: Monday. */
  weekday: number;
  /** Hour of the day. */
  hour: number;
  /** Jobs that became eligible then and have started. */
  jobs: number;
  /** Median of the queue wait; null if not known. */
  wait_p50_seconds: number | null;
  /** 90th percentile of the queue wait; null if not known. */
  wait_p90_seconds: number | null;
  /** Mean share of the GPUs in use; null if not known. */
  use: number | null;
  /** Mean number of pending jobs; null if not known. */
  queue: number | null;
}

export interface HistoryWeek {
  /** Unix time of the Monday. */
  week_start: number;
  /** Id of the GPU in the catalogue. */
  gpu: string;
  /** Jobs that became eligible then and have started. */
  jobs: number;
  /** Median of the queue wait; null if not known. */
  wait_p50_seconds: number | null;
  /** 90th percentile of the queue wait; null if not known. */
  wait_p90_seconds: number | null;
  /** Mean share of the GPUs in use; null if not known. */
  use: number | null;
  /** Mean number of pending jobs; null if not known. */
  queue: number | null;
}

export interface HistoryStep {
  /** Unix time at which it begins. */
  time: number;
  /** Length of the step. */
  seconds: number;
  /** Mean number of pending jobs; null if not known. */
  pending: number | null;
  /** GPUs that these ask for; null if not known. */
  pending_gpus: number | null;
  /** GPUs in use; null if not known. */
  busy_gpus: number | null;
}

export interface BestTime {
  /** Saturday and Sunday, else Monday to Friday. */
  weekend: boolean;
  /** Hour of the day. */
  hour_from: number;
  /** Hour of the day. */
  hour_to: number;
  /** Jobs that started then. */
  jobs: number;
  /** Median of the queue wait. */
  wait_p50_seconds: number | null;
  /** 90th percentile of the queue wait. */
  wait_p90_seconds: number | null;
  /** Median of the whole week. */
  usual_wait_p50_seconds: number | null;
  /** 90th percentile of the whole week. */
  usual_wait_p90_seconds: number | null;
}

export interface Me extends Frame {
  /** The login name; null without one. */
  user: string | null;
  /** Whether the caller has no name here. */
  anonymous: boolean;
  /** Why the user of a login proxy is nobody here; null otherwise. */
  note: string | null;
}

export interface Waiting extends Frame {
  /** What the cluster's GPUs do now. */
  gpus: GpuUse;
  /** All accounts together. */
  all: AccountQueue;
  /** Most GPUs waiting first. */
  accounts: AccountQueue[];
}

export interface GpuUse {
  /** Number in all. */
  total: number;
  /** GPUs in use. */
  used: number;
  /** GPUs that a small job could take now. */
  free: number;
  /** Idle GPUs kept for a waiting job or a reservation. */
  promised: number;
  /** Idle GPUs that no job can take. */
  unavailable: number;
}

export interface AccountQueue {
  /** Name of the account; null: all others, or all. */
  account: string | null;
  /** Pending jobs with GPUs. */
  pending: number;
  /** GPUs of all their tasks. */
  pending_gpus: number;
  /** Their GPUs times their median run time. */
  pending_gpu_hours: number;
  /** Running jobs with GPUs. */
  running: number;
  /** Their GPUs. */
  running_gpus: number;
  /** Unix time of the oldest submission that waits; null if none does. */
  oldest_submit: number | null;
  /** Unix time of the earliest median start; null if none is known. */
  next_start_p50: number | null;
  /** Why they wait; most GPUs first. */
  reasons: WaitingReason[];
}

export interface WaitingReason {
  /** Slurm's reason. */
  reason: string;
  /** The reason in words. */
  reason_words: string;
  /** When that ends, in words. */
  clears: string;
  /** Number of jobs. */
  jobs: number;
  /** GPUs of these jobs. */
  gpus: number;
}

export interface Usage extends Frame {
  /** When each begins, Unix time. */
  weeks: number[];
  /** Unix time of the snapshot. */
  until: number;
  /** Whether PrivateData leaves only the caller's own jobs. */
  own_only: boolean;
  /** Unix time of the first submission in the history; null without one. */
  known_since: number | null;
  /** Why only running jobs count; null if the history counts too. */
  note: string | null;
  /** All accounts together. */
  all: AccountUsage;
  /** Most GPU-hours first. */
  accounts: AccountUsage[];
}

export interface AccountUsage {
  /** Name of the account; null: all others, or all. */
  account: string | null;
  /** Jobs that ran. */
  jobs: number;
  /** GPU-hours in all weeks. */
  gpu_hours: number;
  /** Their cost in the unit of price_per_gpu_hour, of GPUs that have a price; null if none has. */
  cost: number | null;
  /** GPU-hours of GPUs without a price, which are not in `cost`. */
  unpriced_gpu_hours: number;
  /** GPU-hours by week. */
  weekly_gpu_hours: number[];
  /** Cost by week; null like `cost`. */
  weekly_cost: number[] | null;
  /** Queue waits by week, within 10 %. */
  weekly_waits: WeekWaits[];
}

export interface WeekWaits {
  /** Number of jobs. */
  jobs: number;
  /** Median; null without a job. */
  p50_seconds: number | null;
  /** 90th percentile; null without a job. */
  p90_seconds: number | null;
}

export interface Users extends Frame {
  /** Unix time at which the weeks begin. */
  since: number;
  /** Unix time of the snapshot. */
  until: number;
  /** Whether PrivateData leaves only the caller's own jobs. */
  own_only: boolean;
  /** Unix time of the first submission in the history; null without one. */
  known_since: number | null;
  /** Why only running jobs count; null if the history counts too. */
  note: string | null;
  /** Accounts that the caller may submit to. */
  own_accounts: string[];
  /** Accounts of all jobs that the caller may see, before the filter. */
  accounts: string[];
  /** Median wait of everybody's jobs; null if not known. */
  cluster_wait_p50_seconds: number | null;
  /** All rows together. */
  all: UserActivity;
  /** Most GPUs in use and waiting first. */
  users: UserActivity[];
}

export interface UserActivity {
  /** Login name; null: all others, or all. */
  user: string | null;
  /** Accounts of the jobs. */
  accounts: string[];
  /** Pending jobs with GPUs. */
  pending: number;
  /** GPUs of all their tasks. */
  pending_gpus: number;
  /** Running jobs with GPUs. */
  running: number;
  /** Their GPUs. */
  running_gpus: number;
  /** Unix time of the oldest submission that waits; null if none does. */
  oldest_submit: number | null;
  /** Unix time of the earliest median start; null if none is known. */
  next_start_p50: number | null;
  /** Jobs that ran in these weeks, running ones among them. */
  jobs: number;
  /** Their GPU-hours in these weeks. */
  gpu_hours: number;
  /** Queue waits of those that started in these weeks, summed. */
  waited_hours: number;
  /** Hours of these weeks in which jobs of the user waited and none ran; of several users the sum. */
  stalled_hours: number;
  /** Median of these waits; null if there are none. */
  wait_p50_seconds: number | null;
}

export interface Presets extends Frame {
  /** Names for model: {preset: NAME}. */
  presets: string[];
}

export interface AdviseRequest {
  spec?: TrainingSpec;
  /** The text of a train.yaml, in place of spec. */
  spec_yaml?: string;
  /** Section of spec_yaml. */
  section?: string;
  objective?: 'finish' | 'start' | 'cost' | 'deadline';
  /** Unix time. */
  deadline?: number;
  /** Many runs, as sbatch's --array: 1-80%8. Without it slurm.array of the spec. */
  array?: string;
  /** The caller's pending jobs and arrays that the runs would replace. */
  replaces?: number[];
  /** Where the runs wait now: what that would be is answered, too. */
  waiting?: WaitingTasks[];
  constraints?: Constraints;
}

export interface TrainingSpec {
  [key: string]: unknown;
}

export interface WaitingTasks {
  /** GPU type, as in a strategy. */
  gpu: string;
  partition: string;
  gpus_per_node?: number;
  nodes?: number;
  tasks?: number;
  /** Of the job or array, which is among `replaces`. */
  job_id?: number;
}

export interface Constraints {
  partition?: string;
  account?: string;
  qos?: string;
  time_limit_seconds?: number;
  time_min_seconds?: number;
  nodelist?: string;
  exclude?: string;
  constraint?: string;
  /** Ids of the catalogue. */
  gpus?: string[];
  gpus_per_node?: number;
  nodes?: number;
  /** GPUs on all nodes together. */
  gpus_total?: number;
}

export interface FitRequest {
  spec?: TrainingSpec;
  /** The text of a train.yaml, in place of spec. */
  spec_yaml?: string;
  /** Section of spec_yaml. */
  section?: string;
  /** GPUs of the job. */
  gpus_in_all?: number;
}

export interface ScaleRequest {
  spec?: TrainingSpec;
  /** The text of a train.yaml, in place of spec. */
  spec_yaml?: string;
  /** Section of spec_yaml. */
  section?: string;
  objective?: 'finish' | 'cost' | 'deadline';
  /** The largest number of GPUs. */
  most_gpus?: number;
}

export interface JobRequest {
  /** Tells which past runs are alike. */
  name?: string;
  /** Partitions, separated by commas. */
  partition?: string;
  /** GPUs per node: gpu:l40s:6. */
  gres?: string;
  /** GPUs in all: l40s:12. */
  gpus?: string;
  gpus_per_node?: string;
  /** Number of nodes. */
  nodes?: number;
  /** Number of tasks. */
  ntasks?: number;
  /** CPUs of each task. */
  cpus_per_task?: number;
  mem_mib?: number;
  mem_per_cpu_mib?: number;
  time_limit_seconds?: number;
  time_min_seconds?: number;
  /** Account of the job. */
  account?: string;
  /** Quality of service. */
  qos?: string;
  /** Features that the nodes must have. */
  constraint?: string;
  nodelist?: string;
  exclude?: string;
  exclusive?: boolean;
  /** Unix time. */
  begin?: number;
  /** afterok:123, as --dependency. */
  dependency?: string;
  /** Taken off the priority. */
  nice?: number;
  /** Whether it would be submitted held; forecast as if it were not, and said. */
  hold?: boolean;
  reservation?: string;
  array_tasks?: number;
  array_throttle?: number;
}

export interface SelectRequest {
  job: JobRequest;
  min_gpu_memory_bytes?: number;
  /** The caller's groups. */
  groups?: string[];
  avoid_partitions?: string[];
}
