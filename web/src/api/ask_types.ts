// Answers of the view Ask: advise (docs/api.md), fit and scale (docs/models.md).
import type { Forecast, Frame } from './types';

export type Objective = 'finish' | 'start' | 'cost' | 'deadline';

export interface Strategy {
  cluster?: string; // where several clusters were asked
  rank: number;
  gpu: string;
  gpu_name: string;
  gres_type: string;
  gpus_per_node: number;
  nodes: number;
  partition: string;
  account: string | null;
  qos: string | null;
  micro_batch: number;
  accumulation: number;
  effective_batch_size: number;
  precision: string;
  time_limit_seconds: number;
  links: number;
  wait_p10_seconds: number;
  wait_p50_seconds: number;
  wait_p90_seconds: number;
  run_p50_seconds: number;
  run_p90_seconds: number;
  total_p50_seconds: number;
  total_p90_seconds: number;
  memory_bytes: number;
  memory_checked?: boolean;
  gpu_memory_bytes: number;
  gpu_hours: number;
  cost: number | null;
  cost_unit: string | null;
  energy_kwh: number | null;
  deadline_chance?: number; // with a deadline
  makes_deadline?: boolean;
  reasons: string[];
  notes: string[];
}

export interface Rejected {
  cluster?: string; // as above
  gpu: string;
  gpu_name: string;
  gpus_per_node: number;
  nodes: number;
  partition: string;
  reasons: string[];
}

export interface AdviseAnswer extends Frame {
  advice_id: string;
  name: string;
  objective: Objective;
  deadline?: number;
  strategies: Strategy[];
  rejected: Rejected[];
  tips: string[];
  forecast: Forecast;
}

export interface MemoryParts {
  total_bytes: number;
  weights_bytes?: number;
  gradients_bytes?: number;
  optimizer_bytes?: number;
  activations_bytes?: number;
  logits_bytes?: number;
  workspace_bytes?: number;
  framework_bytes?: number;
  peak_in?: string;
  basis: string;
}

export interface FitRow {
  gpu: string;
  gpu_name: string;
  gpu_memory_bytes: number;
  margin: number;
  max_micro_batch?: { conservative: number; recommended: number; aggressive: number };
  micro_batch: number;
  accumulation?: number;
  effective_batch_size?: number;
  fits: boolean;
  memory?: MemoryParts;
  savings?: { change: string; saves_bytes: number; max_micro_batch: number; costs: string }[];
  would_fit_with?: string[];
  notes?: string[];
}

export interface FitStage {
  name: string;
  model: string;
  assumed?: string[];
  gpus: FitRow[];
}

export interface FitAnswer extends Frame {
  name: string;
  stages: FitStage[];
}

export interface ScaleStep {
  gpus: number;
  gpus_per_node: number;
  nodes: number;
  runs: boolean;
  reason?: string;
  run_p50_seconds?: number;
  run_p90_seconds?: number;
  efficiency?: number;
  gpu_hours?: number;
  cost?: number;
  energy_kwh?: number;
}

export interface ScaleCurve {
  gpu: string;
  gpu_name: string;
  steps: ScaleStep[];
  assumed?: string[];
  recommended?: { gpus: number; why: string; why_not_more: string; beyond?: string };
}

export interface ScaleAnswer extends Frame, ScaleCurve {
  gpus: ScaleCurve[];
}
