"""Ask gpuadvised from Python: when jobs start, where a training finishes first, why a job waits.

One file, standard library only, Python 3.8 or newer. Copy it beside your program, or put its folder on PYTHONPATH.

    from gpuadvise import Client
    print(Client().when({"gres": "gpu:l40s:2", "time_limit_seconds": 14400})["answers"][0]["wait_p50_seconds"])

The daemon is found as the command line finds it: the argument, GPUADVISE_SOCKET, client.yaml is not read, then
/run/gpuadvise/gpuadvised.sock. On a Unix socket the kernel tells the daemon who asks. A URL (http:// or https://) asks
its TCP listener without a name: the public part only.

Answers are the API's JSON (docs/api.md); the TypedDicts below name the members that programs read, not every one. Times
are Unix seconds, durations seconds; None is "not known". Whatever goes wrong is a GpuadviseError whose text is a sentence
for a person. A call lasts at most `timeout` seconds, whatever the server does, and reads at most MAX_ANSWER_BYTES. A
Client holds no connection: it may be shared by threads.
"""
from __future__ import annotations

import http.client
import io
import json
import os
import pwd
import socket
import ssl
import struct
import time
from typing import Any, Dict, List, Optional, TypedDict, Union, cast
from urllib.parse import quote, urlencode, urlsplit

__all__ = ["Client", "GpuadviseError", "BadInput", "NotFound", "Infeasible", "Unavailable", "Untrusted"]

DEFAULT_SOCKET = "/run/gpuadvise/gpuadvised.sock"
MAX_ANSWER_BYTES = 64 << 20
_MAX_MESSAGE = 4096
_CHUNK = 64 << 10


class GpuadviseError(Exception):
    """What went wrong, in a sentence. `code` is the API's word, `pointer` the member of the request to blame ("" none),
    `status` HTTP's (0: no answer)."""

    def __init__(self, message: str, code: str = "internal", pointer: str = "", status: int = 0) -> None:
        super().__init__(_printable(message))
        self.code = code
        self.pointer = _printable(pointer)
        self.status = status


class BadInput(GpuadviseError):
    """The request is wrong; `pointer` says where."""


class NotFound(GpuadviseError):
    """There is no such job, partition, GPU or route."""


class Infeasible(GpuadviseError):
    """Nothing on this cluster can run it."""


class Unavailable(GpuadviseError):
    """The daemon does not answer in time, has no data yet, or is no gpuadvised."""


class Untrusted(GpuadviseError):
    """The program behind the socket belongs to somebody else than root, you, or the daemon's user."""


# What is answered; members that an answer leaves out are not in its dictionary. And what is asked: Constraints and
# JobRequest, of which every member is optional; strings are read as Slurm reads them.
# Made from common/api by packaging/contract.py; not written by hand.
class Meta(TypedDict, total=False):
    version: str
    cluster: Optional[str]
    source: Optional[str]
    snapshot_taken_at: Optional[int]
    stale_cause: Optional[str]
    unseen: str


class Error(TypedDict, total=False):
    code: str
    message: str
    pointer: str


class TrainingLength(TypedDict, total=False):
    max_steps: int
    num_train_epochs: float
    samples: int
    effective_batch_size: List[int]


class SbatchOptions(TypedDict, total=False):
    partition: str
    account: str
    qos: str
    gres: str
    nodes: int
    ntasks_per_node: int
    cpus_per_task: int
    mem: str
    constraint: str
    exclude: str
    nodelist: str
    time: str


class StageFigures(TypedDict, total=False):
    name: str
    micro_batch: int
    accumulation: int
    effective_batch_size: int
    steps: int
    samples: int
    memory_bytes: int
    memory_checked: bool
    run_p50_seconds: int


class Strategy(TypedDict, total=False):
    rank: int
    gpu: str
    gpu_name: str
    gres_type: str
    gpus_per_node: int
    nodes: int
    partition: str
    account: str
    qos: str
    micro_batch: int
    accumulation: int
    effective_batch_size: int
    steps: int
    samples: int
    precision: str
    time_limit_seconds: int
    links: int
    memory_bytes: int
    memory_checked: bool
    gradient_checkpointing: Optional[bool]
    gpu_memory_bytes: int
    others_delay_seconds: int
    others_delayed: float
    gpu_hours: float
    cost: Optional[float]
    cost_unit: Optional[str]
    energy_kwh: Optional[float]
    priority: int
    jobs_before: int
    lost_mean_seconds: int
    wait_at_limits_seconds: int
    wait_p10_seconds: int
    wait_p50_seconds: int
    wait_p90_seconds: int
    wait_mean_seconds: int
    run_p10_seconds: int
    run_p50_seconds: int
    run_p90_seconds: int
    run_mean_seconds: int
    total_p10_seconds: int
    total_p50_seconds: int
    total_p90_seconds: int
    total_mean_seconds: int
    deadline_chance: float
    makes_deadline: bool
    reasons: List[str]
    notes: List[str]
    sbatch: SbatchOptions
    stages: List[StageFigures]
    cluster: str
    cluster_rank: int
    advice_id: str
    outcomes_dir: str


class SweepShare(TypedDict, total=False):
    rank: int
    members: int
    array: str
    at_a_time: int
    start_p50_seconds: int
    end_p10_seconds: int
    end_p50_seconds: int
    end_p90_seconds: int
    end_mean_seconds: int


class Seconds(TypedDict, total=False):
    p10_seconds: int
    p50_seconds: int
    p90_seconds: int
    mean_seconds: int


class Sweep(TypedDict, total=False):
    members: int
    array: str
    makespan_p10_seconds: int
    makespan_p50_seconds: int
    makespan_p90_seconds: int
    makespan_mean_seconds: int
    half_done_p50_seconds: int
    gpu_hours: float
    others_delay_seconds: int
    others_delayed: float
    shares: List[SweepShare]
    single_rank: int
    single_makespan_p10_seconds: int
    single_makespan_p50_seconds: int
    single_makespan_p90_seconds: int
    single_makespan_mean_seconds: int
    later_than_played: bool
    as_it_waits: Seconds


class Rejection(TypedDict, total=False):
    gpu: str
    gpu_name: str
    gpus_per_node: int
    nodes: int
    partition: str
    others_possible: bool
    reasons: List[str]
    cluster: str


class StrategyLimit(TypedDict, total=False):
    rank: int
    time_limit_seconds: int
    words: str


class AccuracyFigures(TypedDict, total=False):
    jobs: int
    median_abs_error_seconds: Optional[float]
    within_600s: Optional[float]
    at_once: Optional[float]
    covered_jobs: int
    covered_median_abs_error_seconds: Optional[float]
    coverage_p50: Optional[float]
    coverage_p90: Optional[float]
    slurm_jobs: int
    slurm_median_abs_error_seconds: Optional[float]
    median_abs_error_seconds_beside_slurm: Optional[float]


class Forecast(TypedDict, total=False):
    method: str
    samples: int
    note: str
    accuracy_known: bool
    record: Optional[AccuracyFigures]


class CommandConflict(TypedDict, total=False):
    cause: str
    remedy: str
    certain: bool
    ranks: List[int]


class Advice(TypedDict, total=False):
    advice_id: str
    name: str
    objective: str
    deadline: int
    training: TrainingLength
    strategies: List[Strategy]
    sweep: Sweep
    rejected: List[Rejection]
    limit_advice: Optional[StrategyLimit]
    tips: List[str]
    assumed: List[str]
    unsettled: List[str]
    forecast: Forecast
    outcomes_dir: str
    command_conflicts: List[CommandConflict]
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class EarlierStart(TypedDict, total=False):
    change: str
    words: str
    done_later_seconds: Optional[int]
    wait_p10_seconds: int
    wait_p50_seconds: int
    wait_p90_seconds: int
    wait_mean_seconds: int
    start_p10: int
    start_p50: int
    start_p90: int


class LastTask(TypedDict, total=False):
    tasks: int
    throttle: Optional[int]
    tasks_played: int
    later_than_played: bool
    wait_p10_seconds: int
    wait_p50_seconds: int
    wait_p90_seconds: int
    wait_mean_seconds: int
    start_p10: int
    start_p50: int
    start_p90: int
    wait_at_limits_seconds: Optional[int]


class LimitChoice(TypedDict, total=False):
    time_limit_seconds: int
    options: str
    sooner_p10_seconds: int
    sooner_seconds: int
    sooner_p90_seconds: int
    risk: Optional[float]
    wait_p10_seconds: int
    wait_p50_seconds: int
    wait_p90_seconds: int
    wait_mean_seconds: int
    start_p10: int
    start_p50: int
    start_p90: int


class LimitAdvice(TypedDict, total=False):
    words: str
    time_min_words: str
    time_limit_seconds: Optional[int]
    options: str
    command: str


class StartAnswer(TypedDict, total=False):
    error: Optional[Error]
    partition: str
    gres: str
    gpus_total: str
    nodes: int
    time_limit_seconds: Optional[int]
    priority: int
    jobs_before: int
    reasons: List[str]
    doubts: List[str]
    wait_p10_seconds: int
    wait_p50_seconds: int
    wait_p90_seconds: int
    wait_mean_seconds: int
    start_p10: int
    start_p50: int
    start_p90: int
    wait_at_limits_seconds: Optional[int]
    lost_mean_seconds: int
    cheaper: List[EarlierStart]
    array: LastTask
    limits: List[LimitChoice]
    limit_advice: LimitAdvice
    cluster: str


class Starts(TypedDict, total=False):
    answers: List[StartAnswer]
    forecast: Forecast
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class SelectedJob(TypedDict, total=False):
    partition: str
    constraint: str
    gres_type: str
    gres: str
    gpus_per_node: str
    gpus: str
    wait_p10_seconds: int
    wait_p50_seconds: int
    wait_p90_seconds: int
    wait_mean_seconds: int
    start_p10: int
    start_p50: int
    start_p90: int


class SelectAlternative(TypedDict, total=False):
    partition: str
    gpu: str
    gpu_name: str
    gres_type: str
    constraint: str
    gpu_memory_bytes: int
    may_be_preempted: bool
    in_job: bool
    wait_p10_seconds: int
    wait_p50_seconds: int
    wait_p90_seconds: int
    wait_mean_seconds: int
    start_p10: int
    start_p50: int
    start_p90: int


class SelectRejection(TypedDict, total=False):
    partition: str
    gpu: str
    gpu_name: str
    reason: str


class SelectStrategy(TypedDict, total=False):
    rank: int
    gres_type: str
    gpus_per_node: int
    nodes: int
    account: str
    qos: str
    priority: int
    time_limit_seconds: int
    sbatch: SbatchOptions


class Selection(TypedDict, total=False):
    advice_id: str
    job: SelectedJob
    reason: str
    alternatives: List[SelectAlternative]
    rejected: List[SelectRejection]
    strategies: List[SelectStrategy]
    limit_words: str
    forecast: Forecast
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class Experiment(TypedDict, total=False):
    job_id: int
    advice_id: Optional[str]
    name: str
    state: str
    submitted_at: int
    started_at: Optional[int]
    ended_at: Optional[int]
    slurm_state: Optional[str]
    wait_seconds: Optional[int]
    run_seconds: Optional[int]
    limit_used: Optional[float]
    real_cost: Optional[float]
    output_dir: Optional[str]
    sweep: int
    gpu: Optional[str]
    gpus_per_node: Optional[int]
    nodes: Optional[int]
    partition: Optional[str]
    qos: Optional[str]
    micro_batch: Optional[int]
    accumulation: Optional[int]
    effective_batch_size: Optional[int]
    precision: Optional[str]
    steps: Optional[int]
    time_limit_seconds: Optional[int]
    links: Optional[int]
    wait_p50_seconds: Optional[int]
    wait_p90_seconds: Optional[int]
    run_p50_seconds: Optional[int]
    run_p90_seconds: Optional[int]
    memory_bytes: Optional[int]
    gpu_memory_bytes: Optional[int]
    cost: Optional[float]
    cost_is_billing: bool
    has_outcome: bool
    outcome_running: bool
    attempts: int
    out_of_memory: int
    final_micro_batch: Optional[int]
    final_accumulation: Optional[int]
    loss: Optional[float]
    seconds_per_step: Optional[float]
    mean_utilisation: Optional[float]
    peak_memory_bytes: Optional[int]
    exit_code: Optional[int]
    signal: Optional[int]
    outcome: Any
    request: Any
    strategy: Any


class SweepProgress(TypedDict, total=False):
    job_id: int
    name: str
    user: str
    submitted_at: int
    arrays: List[int]
    runs: int
    done: int
    failed: int
    running: int
    waiting: int
    unknown: int
    moved: int
    end_p50: Optional[int]
    end_p90: Optional[int]
    cluster: str


class Experiments(TypedDict, total=False):
    jobs: List[Experiment]
    sweeps: List[SweepProgress]
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class MeasuredLine(TypedDict, total=False):
    gpu: str
    gpus: int
    micro_batch: int
    effective_batch_size: int
    seconds_per_step: float
    peak_bytes: int
    out_of_memory: bool
    start_seconds: Optional[float]
    by: str
    by_others: bool


class MeasuredRuns(TypedDict, total=False):
    measured: List[MeasuredLine]
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class Reported(TypedDict, total=False):
    job_id: int
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class MicroBatches(TypedDict, total=False):
    conservative: int
    recommended: int
    aggressive: int


class MemoryUse(TypedDict, total=False):
    total_bytes: int
    low_bytes: int
    high_bytes: int
    weights_bytes: int
    gradients_bytes: int
    optimizer_bytes: int
    activations_bytes: int
    logits_bytes: int
    workspace_bytes: int
    framework_bytes: int
    peak_in: str
    basis: str


class FitSettings(TypedDict, total=False):
    precision: str
    method: str
    gradient_checkpointing: Any
    optim: str
    zero_stage: int
    pure_bf16: bool
    max_seq_length: int
    resolution: int
    num_frames: int
    audio_seconds: float
    lora_rank: int


class MemorySaving(TypedDict, total=False):
    change: str
    saves_bytes: int
    max_micro_batch: int
    costs: str


class FitGpu(TypedDict, total=False):
    gpu: str
    gpu_name: str
    gpu_memory_bytes: int
    fits: bool
    notes: List[str]
    margin: float
    max_micro_batch: MicroBatches
    micro_batch: int
    accumulation: int
    effective_batch_size: int
    memory: MemoryUse
    settings: FitSettings
    eval_micro_batch: int
    inference_batch: int
    inference_memory_bytes: int
    lora_rank_that_fits: int
    savings: List[MemorySaving]
    would_fit_with: List[str]


class Tip(TypedDict, total=False):
    name: str
    text: str
    effect: str
    effect_source: str
    applies: bool
    why_not: str


class FitStage(TypedDict, total=False):
    name: str
    model: str
    gpus_in_all: int
    parameters: int
    trained_parameters: int
    assumed: List[str]
    gpus: List[FitGpu]
    tips: List[Tip]


class EstimateAccuracy(TypedDict, total=False):
    of: str
    rows: int
    median_error: float
    p90_error: float


class Fit(TypedDict, total=False):
    name: str
    stages: List[FitStage]
    model: str
    gpus_in_all: int
    parameters: int
    trained_parameters: int
    assumed: List[str]
    gpus: List[FitGpu]
    tips: List[Tip]
    gpu: str
    gpu_name: str
    gpu_memory_bytes: int
    fits: bool
    notes: List[str]
    margin: float
    max_micro_batch: MicroBatches
    micro_batch: int
    accumulation: int
    effective_batch_size: int
    memory: MemoryUse
    settings: FitSettings
    eval_micro_batch: int
    inference_batch: int
    inference_memory_bytes: int
    lora_rank_that_fits: int
    savings: List[MemorySaving]
    would_fit_with: List[str]
    accuracy: List[EstimateAccuracy]
    gpu_notes: List[str]
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class StepParts(TypedDict, total=False):
    compute_seconds: float
    memory_traffic_seconds: float
    launches_seconds: float
    communication_seconds: float
    optimizer_seconds: float
    loader_seconds: float


class ScaleStage(TypedDict, total=False):
    name: str
    hours: float
    steps: int
    seconds_per_step: float
    checkpoint_seconds: float
    micro_batch: int
    accumulation: int
    effective_batch_size: int
    precision: str
    gradient_checkpointing_chosen: bool
    memory_checked: bool
    basis: str
    disagreement: str
    memory_bytes: int
    step: StepParts


class ScaleStep(TypedDict, total=False):
    gpus: int
    gpus_per_node: int
    nodes: int
    runs: bool
    reason: str
    hours: float
    run_p50_seconds: float
    run_p90_seconds: float
    efficiency: float
    gpu_hours: float
    cost: float
    energy_kwh: float
    stages: List[ScaleStage]


class DayOfWork(TypedDict, total=False):
    first_day: int
    last_day: int
    task: str
    hours: float


class Recommended(TypedDict, total=False):
    gpus: int
    why: str
    why_not_more: str
    schedule: List[DayOfWork]
    beyond: str


class ScaleCurve(TypedDict, total=False):
    gpu: str
    gpu_name: str
    steps: List[ScaleStep]
    assumed: List[str]
    recommended: Recommended


class Scale(TypedDict, total=False):
    name: str
    objective: str
    gpu: str
    gpu_name: str
    steps: List[ScaleStep]
    assumed: List[str]
    recommended: Recommended
    gpu_why: str
    gpus: List[ScaleCurve]
    ways_to_fit: List[str]
    accuracy: List[EstimateAccuracy]
    gpu_notes: List[str]
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class Interconnect(TypedDict, total=False):
    link_gb_per_s: float
    network_gb_per_s: float


class GpuType(TypedDict, total=False):
    gpu: str
    gpu_name: str
    gres_types: List[str]
    partitions: List[str]
    memory_bytes: Optional[int]
    catalogue: Any
    interconnect: Interconnect
    nodes: int
    gpus_per_node: int
    total: int
    usable: int
    free: int
    wait_one_seconds: Optional[int]
    wait_half_node_seconds: Optional[int]
    wait_node_seconds: Optional[int]
    wait_two_nodes_seconds: Optional[int]
    cluster: str


class Gpus(TypedDict, total=False):
    gpus: List[GpuType]
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class FreeGpusOfType(TypedDict, total=False):
    gpu: str
    gpu_name: str
    total: int
    usable: int
    p10: List[int]
    p50: List[int]
    p90: List[int]


class FreeGpus(TypedDict, total=False):
    start: int
    step_seconds: int
    until: int
    samples: int
    watched_seconds: int
    gpus: List[FreeGpusOfType]
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class QueueJob(TypedDict, total=False):
    job_id: int
    array_tasks: str
    array_task_count: int
    name: Optional[str]
    user: Optional[str]
    account: Optional[str]
    qos: Optional[str]
    partition: str
    state: str
    gres: str
    gpu: str
    gpu_name: str
    gpus: int
    nodes: int
    time_limit_seconds: Optional[int]
    priority: int
    submit_time: Optional[int]
    sweep: int
    start_time: Optional[int]
    end_time: Optional[int]
    end_p50: Optional[int]
    end_p90: Optional[int]
    reason: str
    reason_words: str
    clears: str
    slurm_start: Optional[int]
    run_p50_seconds: Optional[int]
    jobs_before: Optional[int]
    wait_p10_seconds: int
    wait_p50_seconds: int
    wait_p90_seconds: int
    wait_mean_seconds: int
    start_p10: int
    start_p50: int
    start_p90: int
    cluster: str


class QueuePool(TypedDict, total=False):
    partition: str
    gpu: str
    gpu_name: str
    pending: int
    pending_gpus: int
    running: int
    running_gpus: int
    free: int


class QueueOwners(TypedDict, total=False):
    users: List[str]
    accounts: List[str]
    qos: List[str]


class Queue(TypedDict, total=False):
    jobs: List[QueueJob]
    total: int
    hidden: int
    offset: int
    pools: List[QueuePool]
    owners: QueueOwners
    sweeps: List[SweepProgress]
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class WhyPending(TypedDict, total=False):
    words: str
    clears: str


class JobAhead(TypedDict, total=False):
    job_id: int
    gpus: int
    nodes: int
    priority: int


class StartMoved(TypedDict, total=False):
    said_start: int
    start: int
    because: List[str]


class PriorityParts(TypedDict, total=False):
    total: int
    age: int
    association: float
    fair_share: float
    job_size: float
    partition: float
    qos: float
    tres: float
    nice: int


class Job(TypedDict, total=False):
    job_id: int
    array_tasks: str
    array_task_count: int
    name: Optional[str]
    user: Optional[str]
    account: Optional[str]
    qos: Optional[str]
    partition: str
    state: str
    gres: str
    gpu: str
    gpu_name: str
    gpus: int
    nodes: int
    time_limit_seconds: Optional[int]
    priority: int
    submit_time: Optional[int]
    sweep: int
    start_time: Optional[int]
    end_time: Optional[int]
    end_p50: Optional[int]
    end_p90: Optional[int]
    reason: str
    reason_words: str
    clears: str
    slurm_start: Optional[int]
    run_p50_seconds: Optional[int]
    jobs_before: Optional[int]
    wait_p10_seconds: int
    wait_p50_seconds: int
    wait_p90_seconds: int
    wait_mean_seconds: int
    start_p10: int
    start_p50: int
    start_p90: int
    cluster: str
    on_nodes: List[str]
    why: List[WhyPending]
    cheaper: List[EarlierStart]
    ahead: List[JobAhead]
    moved: Optional[StartMoved]
    priority_factors: Optional[PriorityParts]
    forecast: Forecast
    limits: List[LimitChoice]
    limit_advice: LimitAdvice
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class ShapeWait(TypedDict, total=False):
    shape: str
    gpus_per_node: int
    nodes: int
    time_limit_seconds: int
    partition: Optional[str]
    wait_p10_seconds: Optional[int]
    wait_p50_seconds: Optional[int]
    wait_p90_seconds: Optional[int]
    reason: Optional[str]


class GpuWaits(TypedDict, total=False):
    gpu: str
    gpu_name: str
    memory_bytes: Optional[int]
    partitions: List[str]
    nodes: int
    gpus_per_node: int
    total: int
    usable: int
    free: int
    waits: List[ShapeWait]


class BestChoice(TypedDict, total=False):
    gpu: str
    gpu_name: str
    partition: str
    wait_p50_seconds: int
    wait_p90_seconds: int
    wait_mean_seconds: int


class BestChoices(TypedDict, total=False):
    gpus_per_node: int
    nodes: int
    time_limit_seconds: int
    choices: List[BestChoice]


class Waits(TypedDict, total=False):
    gpus: List[GpuWaits]
    best: List[BestChoices]
    pending: int
    running: int
    forecast: Forecast
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class MapGroup(TypedDict, total=False):
    partition: str
    gpu: str
    gpu_name: str
    gpus_per_node: int
    nodes: str
    condition: str
    used: str
    free: str


class ClusterMap(TypedDict, total=False):
    groups: List[MapGroup]
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class TimelineJob(TypedDict, total=False):
    job_id: int
    name: Optional[str]
    user: Optional[str]
    gpus: int
    kind: str
    start: int
    start_p90: Optional[int]
    end: Optional[int]
    end_p90: Optional[int]


class TimelineNode(TypedDict, total=False):
    name: str
    condition: str
    gpu: str
    gpu_name: str
    total: int
    jobs: List[TimelineJob]
    jobs_total: int


class Timeline(TypedDict, total=False):
    start: int
    until: int
    known_since: Optional[int]
    nodes: List[TimelineNode]
    total: int
    offset: int
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class SchedulerCycles(TypedDict, total=False):
    last_seconds: Optional[float]
    mean_seconds: Optional[float]
    max_seconds: Optional[float]
    cycles: Optional[int]
    mean_depth: Optional[int]
    queue_length: Optional[int]


class SchedulerHealth(TypedDict, total=False):
    read_at: Optional[int]
    since: Optional[int]
    main: SchedulerCycles
    backfill: SchedulerCycles
    backfilled_jobs: Optional[int]
    rpcs: Optional[int]
    rpc_mean_seconds: Optional[float]
    server_threads: Optional[int]
    agent_queue: Optional[int]
    problem: Optional[str]
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class NodeGroup(TypedDict, total=False):
    partition: str
    gpu: str
    gpu_name: str
    nodes: int
    gpus: int
    free: int
    used: int
    promised: int
    unavailable: int


class BrokenGpus(TypedDict, total=False):
    gpu: str
    gpu_name: str
    nodes: int
    gpus: int
    lost: int


class IdleAllocated(TypedDict, total=False):
    nodes: int
    gpus: int
    problem: Optional[str]


class NodeConditions(TypedDict, total=False):
    free: int
    partly: int
    busy: int
    promised: int
    drained: int
    down: int


class NodeGpus(TypedDict, total=False):
    gpu: str
    gpu_name: str
    gres_type: str
    total: int
    used: int
    free: int


class NodeJob(TypedDict, total=False):
    job_id: int
    name: Optional[str]
    user: Optional[str]
    gpus: int
    cpus: int
    start_time: Optional[int]
    end_p50: Optional[int]
    end_p90: Optional[int]
    end_limit: Optional[int]


class NodePromise(TypedDict, total=False):
    job_id: Optional[int]
    start: int


class NodeReservation(TypedDict, total=False):
    name: Optional[str]
    start: Optional[int]
    end: Optional[int]


class ClusterNode(TypedDict, total=False):
    name: str
    state: str
    condition: str
    reason: str
    reason_user: str
    since: Optional[int]
    partitions: List[str]
    features: List[str]
    cpus: int
    cpus_allocated: int
    memory_mib: int
    memory_allocated_mib: int
    shards: int
    shards_allocated: int
    gpus: List[NodeGpus]
    jobs: List[NodeJob]
    jobs_total: int
    next_end_p50: Optional[int]
    idle_allocated: int
    promised: Optional[NodePromise]
    reserved: Optional[NodeReservation]


class Nodes(TypedDict, total=False):
    groups: List[NodeGroup]
    broken: List[BrokenGpus]
    idle_allocated: Optional[IdleAllocated]
    conditions: NodeConditions
    nodes: List[ClusterNode]
    total: int
    offset: int
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class SiteKey(TypedDict, total=False):
    place: str
    key: str
    value: str
    treatment: str
    effect: str


class Site(TypedDict, total=False):
    slurm_version: str
    settings: List[SiteKey]
    hidden: List[str]
    problems: List[str]
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class AccuracyOfGpu(TypedDict, total=False):
    jobs: int
    median_abs_error_seconds: Optional[float]
    within_600s: Optional[float]
    at_once: Optional[float]
    covered_jobs: int
    covered_median_abs_error_seconds: Optional[float]
    coverage_p50: Optional[float]
    coverage_p90: Optional[float]
    slurm_jobs: int
    slurm_median_abs_error_seconds: Optional[float]
    median_abs_error_seconds_beside_slurm: Optional[float]
    gpu: str
    gpu_name: str
    gpus: str


class CalibrationPoint(TypedDict, total=False):
    said: float
    came: Optional[float]
    low: Optional[float]
    high: Optional[float]
    jobs: int


class AccuracyWeek(TypedDict, total=False):
    jobs: int
    median_abs_error_seconds: Optional[float]
    within_600s: Optional[float]
    at_once: Optional[float]
    covered_jobs: int
    covered_median_abs_error_seconds: Optional[float]
    coverage_p50: Optional[float]
    coverage_p90: Optional[float]
    slurm_jobs: int
    slurm_median_abs_error_seconds: Optional[float]
    median_abs_error_seconds_beside_slurm: Optional[float]
    week_start: int


class AccuracyPoint(TypedDict, total=False):
    started_at: int
    gpu: str
    gpu_name: str
    gpus: int
    said_p10_seconds: float
    said_p50_seconds: float
    said_p90_seconds: float
    wait_seconds: float
    slurm_error_seconds: Optional[float]


class Accuracy(TypedDict, total=False):
    all: AccuracyFigures
    fits_now: AccuracyFigures
    does_not_fit_now: AccuracyFigures
    by_gpu: List[AccuracyOfGpu]
    since: Optional[int]
    note: str
    calibration: List[CalibrationPoint]
    weeks: List[AccuracyWeek]
    points: List[AccuracyPoint]
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class HistoryGpu(TypedDict, total=False):
    gpu: str
    gpu_name: str
    total: int
    last_day: List[float]


class HeatCell(TypedDict, total=False):
    weekday: int
    hour: int
    jobs: int
    wait_p50_seconds: Optional[int]
    wait_p90_seconds: Optional[int]
    use: Optional[float]
    queue: Optional[float]


class HistoryWeek(TypedDict, total=False):
    week_start: int
    gpu: str
    jobs: int
    wait_p50_seconds: Optional[int]
    wait_p90_seconds: Optional[int]
    use: Optional[float]
    queue: Optional[float]


class HistoryStep(TypedDict, total=False):
    time: int
    seconds: int
    pending: Optional[float]
    pending_gpus: Optional[float]
    busy_gpus: Optional[float]


class BestTime(TypedDict, total=False):
    weekend: bool
    hour_from: int
    hour_to: int
    jobs: int
    wait_p50_seconds: Optional[int]
    wait_p90_seconds: Optional[int]
    usual_wait_p50_seconds: Optional[int]
    usual_wait_p90_seconds: Optional[int]


class History(TypedDict, total=False):
    time_zone: str
    utc_offset_seconds: int
    weeks: int
    since: Optional[int]
    until: int
    gpus: List[HistoryGpu]
    heat: List[HeatCell]
    by_week: List[HistoryWeek]
    series: List[HistoryStep]
    best_time: Optional[BestTime]
    best_time_unknown: Optional[str]
    note: str
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class Me(TypedDict, total=False):
    user: Optional[str]
    anonymous: bool
    note: Optional[str]
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class GpuUse(TypedDict, total=False):
    total: int
    used: int
    free: int
    promised: int
    unavailable: int


class WaitingReason(TypedDict, total=False):
    reason: str
    reason_words: str
    clears: str
    jobs: int
    gpus: int


class AccountQueue(TypedDict, total=False):
    account: Optional[str]
    pending: int
    pending_gpus: int
    pending_gpu_hours: float
    running: int
    running_gpus: int
    oldest_submit: Optional[int]
    next_start_p50: Optional[int]
    reasons: List[WaitingReason]


class Waiting(TypedDict, total=False):
    gpus: GpuUse
    all: AccountQueue
    accounts: List[AccountQueue]
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class WeekWaits(TypedDict, total=False):
    jobs: int
    p50_seconds: Optional[int]
    p90_seconds: Optional[int]


class AccountUsage(TypedDict, total=False):
    account: Optional[str]
    jobs: int
    gpu_hours: float
    cost: Optional[float]
    unpriced_gpu_hours: float
    weekly_gpu_hours: List[float]
    weekly_cost: Optional[List[float]]
    weekly_waits: List[WeekWaits]


class Usage(TypedDict, total=False):
    weeks: List[int]
    until: int
    own_only: bool
    known_since: Optional[int]
    note: Optional[str]
    all: AccountUsage
    accounts: List[AccountUsage]
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class UserActivity(TypedDict, total=False):
    user: Optional[str]
    accounts: List[str]
    pending: int
    pending_gpus: int
    running: int
    running_gpus: int
    oldest_submit: Optional[int]
    next_start_p50: Optional[int]
    jobs: int
    gpu_hours: float
    waited_hours: float
    stalled_hours: float
    wait_p50_seconds: Optional[int]


class Users(TypedDict, total=False):
    since: int
    until: int
    own_only: bool
    known_since: Optional[int]
    note: Optional[str]
    own_accounts: List[str]
    accounts: List[str]
    cluster_wait_p50_seconds: Optional[int]
    all: UserActivity
    users: List[UserActivity]
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class Presets(TypedDict, total=False):
    presets: List[str]
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class HistoryState(TypedDict, total=False):
    problem: Optional[str]
    file: str
    bytes: int
    max_bytes: int
    jobs: int
    oldest_age_seconds: Optional[int]
    newest_age_seconds: Optional[int]


class Health(TypedDict, total=False):
    status: str
    cause: str
    history: HistoryState
    view_seconds: float
    passed_over: str
    site_problems: List[str]
    meta: Meta
    snapshot_age_seconds: Optional[float]
    errors: List[Error]
    warnings: List[str]


class WaitingTasks(TypedDict, total=False):
    gpu: str
    partition: str
    gpus_per_node: int
    nodes: int
    tasks: int
    job_id: int


class Constraints(TypedDict, total=False):
    partition: str
    account: str
    qos: str
    time_limit_seconds: int
    time_min_seconds: int
    nodelist: str
    exclude: str
    constraint: str
    gpus: List[str]
    gpus_per_node: int
    nodes: int
    gpus_total: int


class JobRequest(TypedDict, total=False):
    name: str
    partition: str
    gres: str
    gpus: str
    gpus_per_node: str
    nodes: int
    ntasks: int
    cpus_per_task: int
    mem_mib: int
    mem_per_cpu_mib: int
    time_limit_seconds: int
    time_min_seconds: int
    account: str
    qos: str
    constraint: str
    nodelist: str
    exclude: str
    exclusive: bool
    begin: int
    dependency: str
    nice: int
    hold: bool
    reservation: str
    array_tasks: int
    array_throttle: int


class SweepPart(TypedDict, total=False):
    job_id: int
    runs: int
    moved: int
# End of what is made.


class Client:
    """`where`: a socket's path or the URL of a TCP listener. `owner`: the user that runs the daemon, where that is neither
    root, nor you, nor gpuadvise. `context`: for https, such as one with a client certificate."""

    def __init__(self, where: Optional[str] = None, timeout: float = 30.0, owner: str = "gpuadvise",
                 context: Optional[ssl.SSLContext] = None) -> None:
        self.where = where or os.environ.get("GPUADVISE_SOCKET") or DEFAULT_SOCKET
        self.timeout = timeout
        self._owner = owner
        self._context = context

    def when(self, *jobs: JobRequest, cheaper: bool = True, limits: bool = False) -> Starts:
        """When each of up to 64 jobs would start. cheaper=False leaves out what would start it earlier: much faster for
        many. A job that cannot run has its `error`; the others are answered."""
        body: Dict[str, Any] = {"jobs": list(jobs), "limits": limits}
        if not cheaper:
            body["cheaper"] = False
        return cast(Starts, self.post("/v1/when", body))

    def gpus(self) -> Gpus:
        """The GPU types of the cluster, free now, and waits."""
        return cast(Gpus, self.get("/v1/gpus"))

    def advise(self, training: Union[str, Dict[str, Any]], section: str = "", objective: str = "",
               deadline: Optional[int] = None, constraints: Optional[Constraints] = None) -> Advice:
        """Strategies for a training, the best first. `training`: the text of a train.yaml, or the same as a dictionary."""
        body: Dict[str, Any] = {"spec_yaml" if isinstance(training, str) else "spec": training}
        for key, value in (("section", section), ("objective", objective), ("deadline", deadline),
                           ("constraints", constraints)):
            if value:
                body[key] = value
        return cast(Advice, self.post("/v1/advise", body))

    def select(self, job: JobRequest, min_gpu_memory_bytes: int = 0, avoid_partitions: Optional[List[str]] = None,
               groups: Optional[List[str]] = None) -> Selection:
        """Partition and GPU type with which a plain job starts first. `groups`: yours, for partitions with AllowGroups."""
        body: Dict[str, Any] = {"job": job, "groups": _own_groups() if groups is None else groups}
        if min_gpu_memory_bytes:
            body["min_gpu_memory_bytes"] = min_gpu_memory_bytes
        if avoid_partitions:
            body["avoid_partitions"] = avoid_partitions
        return cast(Selection, self.post("/v1/select", body))

    def fit(self, training: Union[str, Dict[str, Any]], gpus_in_all: int = 1) -> Dict[str, Any]:
        """What fits on which GPU."""
        return self.post("/v1/fit", {"spec_yaml" if isinstance(training, str) else "spec": training,
                                     "gpus_in_all": gpus_in_all})

    def scale(self, training: Union[str, Dict[str, Any]]) -> Dict[str, Any]:
        """How many GPUs are worth it."""
        return self.post("/v1/scale", {"spec_yaml" if isinstance(training, str) else "spec": training})

    def measured(self, training: Union[str, Dict[str, Any]]) -> MeasuredRuns:
        """What past runs of a training have shown."""
        return cast(MeasuredRuns, self.post("/v1/measured", {"spec_yaml" if isinstance(training, str) else "spec": training}))

    def why(self, job_id: Union[int, str]) -> Job:
        """Why a job waits, when it starts, what would start it earlier."""
        return cast(Job, self.get("/v1/jobs/" + quote(str(job_id), safe="")))

    def queue(self, **filters: Union[str, int]) -> Queue:
        """Jobs of the cluster: state="pending", user=, partition=, gpu=, search=, limit=, offset=."""
        return cast(Queue, self.get("/v1/queue" + ("?" + urlencode(filters) if filters else "")))

    def jobs(self, limit: int = 100) -> Dict[str, Any]:
        """Your own jobs that were advised: forecast and outcome."""
        return self.get(f"/v1/advice?limit={int(limit)}")

    def accuracy(self) -> Dict[str, Any]:
        """How accurate forecasts have been on this cluster."""
        return self.get("/v1/accuracy")

    def health(self) -> Dict[str, Any]:
        """Whether the daemon works, and why not."""
        return self.get("/healthz")

    def submitted(self, advice_id: str, job_id: int, rank: int = 1, sweep: Optional[SweepPart] = None) -> Dict[str, Any]:
        """Tells the daemon that the strategy of that rank became this job, an array of `sweep`: the daemon looks at the queue within
        seconds."""
        body = {"job_id": job_id, "rank": rank, **({"sweep": sweep} if sweep else {})}
        return self.post(f"/v1/advice/{quote(advice_id, safe='')}/submitted", body)

    def get(self, target: str) -> Dict[str, Any]:
        """The answer of any route, such as "/v1/waits"."""
        return self._ask("GET", target, None)

    def post(self, target: str, body: Any) -> Dict[str, Any]:
        return self._ask("POST", target, body)

    def _ask(self, method: str, target: str, body: Any) -> Dict[str, Any]:
        deadline = time.monotonic() + self.timeout
        try:
            text = None if body is None else json.dumps(body, allow_nan=False).encode("utf-8", "replace")
        except (TypeError, ValueError, RecursionError) as error:
            raise BadInput(f"the request is no JSON: {error}", "bad_input") from error
        connection = self._connection(deadline)
        try:
            connection.request(method, target, text, {"Content-Type": "application/json"} if text is not None else {})
            answer = connection.getresponse()
            return _read_answer(answer.status, self._read_body(answer))
        except (TimeoutError, socket.timeout) as error:
            raise Unavailable(f"no answer from {self.where} within {self.timeout:g} s; gpuadvised is overloaded or hanging",
                              "unavailable") from error
        except OSError as error:
            raise Unavailable(f"cannot reach gpuadvised at {self.where}: {error.strerror or error}; start it with "
                              "`systemctl start gpuadvised`, or name another socket with GPUADVISE_SOCKET",
                              "unavailable") from error
        except (http.client.HTTPException, ValueError) as error:
            raise Unavailable(f"{self.where} does not answer in HTTP: is it gpuadvised's?", "unavailable") from error
        finally:
            connection.end()

    def _read_body(self, answer: http.client.HTTPResponse) -> bytes:
        parts: List[bytes] = []
        size = 0
        while True:
            part = answer.read(_CHUNK)
            if not part:
                if answer.length:  # of Content-Length, still to come
                    raise http.client.IncompleteRead(b"")
                return b"".join(parts)
            parts.append(part)
            size += len(part)
            if size > MAX_ANSWER_BYTES:
                raise Unavailable(f"the answer of {self.where} is larger than {MAX_ANSWER_BYTES >> 20} MiB; ask for less",
                                  "unavailable")

    def _connection(self, deadline: float) -> _OverTcp:
        where = self.where
        if "://" not in where:
            return _OverSocket(where, deadline, self._owner)
        try:
            url = urlsplit(where)
            host, port = url.hostname, url.port
        except ValueError as error:
            raise BadInput(f"{where} is no URL: {error}", "bad_input") from error
        if url.scheme not in ("http", "https") or not host or url.path not in ("", "/") or url.username:
            raise BadInput(f"{where}: write http://HOST:PORT, https://HOST:PORT or the path of a socket", "bad_input")
        context = (self._context or ssl.create_default_context()) if url.scheme == "https" else None
        return _OverTcp(host, port or (443 if context else 80), deadline, context)


class _Deadline(io.RawIOBase):
    """A socket whose reads and writes all end by one deadline: a server that drips cannot go on for ever."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        super().__init__()
        self._sock = sock
        self._deadline = deadline

    def _arm(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise socket.timeout("timed out")
        self._sock.settimeout(left)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._arm()
        return self._sock.recv_into(buffer)

    def sendall(self, data: bytes) -> None:
        self._arm()
        self._sock.sendall(data)

    def makefile(self, *_mode: Any, **_more: Any) -> io.BufferedReader:
        return io.BufferedReader(_Deadline(self._sock, self._deadline))


class _OverTcp(http.client.HTTPConnection):
    def __init__(self, host: str, port: int, deadline: float, context: Optional[ssl.SSLContext]) -> None:
        super().__init__(host, port)
        self._deadline = deadline
        self._context = context
        self._plain: Optional[socket.socket] = None

    def connect(self) -> None:
        left = max(0.001, self._deadline - time.monotonic())
        self._plain = socket.create_connection((self.host, self.port), left)
        if self._context is not None:
            self._plain = self._context.wrap_socket(self._plain, server_hostname=self.host)
        self.sock = cast(Any, _Deadline(self._plain, self._deadline))

    def end(self) -> None:
        """close() comes with the head of an answer already, when its body is still to be read."""
        self.close()
        if self._plain is not None:
            self._plain.close()


class _OverSocket(_OverTcp):
    def __init__(self, path: str, deadline: float, owner: str) -> None:
        super().__init__("localhost", 80, deadline, None)
        self._path = path
        self._owner = owner

    def connect(self) -> None:
        self._plain = socket.socket(socket.AF_UNIX)
        self._plain.settimeout(max(0.001, self._deadline - time.monotonic()))
        self._plain.connect(self._path)
        self._check_peer(self._plain)
        self.sock = cast(Any, _Deadline(self._plain, self._deadline))

    def _check_peer(self, sock: socket.socket) -> None:
        if not hasattr(socket, "SO_PEERCRED"):
            return  # not Linux: no daemon of ours
        size = struct.calcsize("3i")
        _, uid, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
        trusted = {0, os.getuid()}
        try:
            trusted.add(pwd.getpwnam(self._owner).pw_uid)
        except KeyError:
            pass
        if uid not in trusted:
            raise Untrusted(f"the program behind {self._path} runs as {_user(uid)}, not as {self._owner}, root or you; if that "
                            "is the daemon's user, say so: Client(owner=...)", "untrusted")


def _user(uid: int) -> str:
    try:
        return f"{pwd.getpwuid(uid).pw_name} (uid {uid})"
    except KeyError:
        return f"uid {uid}"


def _own_groups() -> List[str]:
    import grp  # pylint: disable=import-outside-toplevel
    names = []
    for gid in {os.getgid(), *os.getgroups()}:
        try:
            names.append(grp.getgrgid(gid).gr_name)
        except KeyError:
            pass
    return sorted(names)


def _printable(text: str) -> str:
    """For terminals and logs: nothing that they obey, nothing without end."""
    return "".join(c if c.isprintable() else "?" for c in str(text)[:_MAX_MESSAGE])


_KINDS = {"bad_input": BadInput, "not_found": NotFound, "infeasible": Infeasible, "unavailable": Unavailable}


def _read_answer(status: int, body: bytes) -> Dict[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if 200 <= status < 300:
        if isinstance(answer, dict):
            return answer
        raise Unavailable("the answer is no JSON object: is it gpuadvised's, and of the same version?", "unavailable",
                          status=status)
    raise _error_of(status, answer)


def _error_of(status: int, answer: Any) -> GpuadviseError:
    errors = answer.get("errors") if isinstance(answer, dict) else None
    first = errors[0] if isinstance(errors, list) and errors and isinstance(errors[0], dict) else {}
    code, message, pointer = (first.get(key) for key in ("code", "message", "pointer"))
    by_status = {404: "not_found", 408: "unavailable", 422: "infeasible", 429: "unavailable", 503: "unavailable"}
    if not isinstance(code, str):
        code = by_status.get(status, "internal" if status >= 500 else "bad_input")
    if not isinstance(message, str) or not message:
        cause = answer.get("cause") if isinstance(answer, dict) else None
        message = f"no data yet: {cause}" if isinstance(cause, str) else f"gpuadvised answered with HTTP status {status}"
    return _KINDS.get(code, GpuadviseError)(message, code, pointer if isinstance(pointer, str) else "", status)
