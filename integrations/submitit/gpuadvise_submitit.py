"""submitit: the executor gets the partition and GPU type with which its jobs start first, or many runs are split.

    import submitit
    from gpuadvise_submitit import choose, map_array, submit

    executor = submitit.AutoExecutor(folder="logs")
    executor.update_parameters(timeout_min=240, mem_gb=64)
    choice = choose(executor, gpus=2, timeout_min=240)   # slurm_partition, slurm_gres
    job = submit(executor, choice, train, 0.1)           # submits, and tells gpuadvised so

    jobs = map_array(executor, "train.yaml", train, rates)  # one array a GPU type, so that the last is done first

With this folder and ../python on PYTHONPATH. `choose` before each batch of jobs: the queue moves.
"""
from __future__ import annotations

import functools
from typing import Any, Callable, Dict, Iterable, List, Optional

from gpuadvise_select import options_of, select, submitted
from gpuadvise_sweep import options, others, split

GENERIC = ("nodes", "cpus_per_task", "timeout_min", "tasks_per_node")  # words of every executor; others are slurm_


def parameters(choice: Dict[str, str]) -> Dict[str, str]:
    """A choice in the words of AutoExecutor.update_parameters."""
    found = {f"slurm_{name}": choice[name] for name in ("partition", "gres", "constraint") if choice.get(name)}
    if choice.get("gpus"):
        found["slurm_gres"] = "gpu:" + choice["gpus"]  # one node: all GPUs are its own
    return found


def limit_of(timeout_min: int) -> str:
    """240 -> "04:00:00"."""
    return f"{timeout_min // 60:02d}:{timeout_min % 60:02d}:00"


def choose(executor: Any, gpus: int = 1, timeout_min: int = 60, default: Optional[Dict[str, str]] = None,
           **sbatch: str) -> Dict[str, str]:
    """Sets partition, GRES and time limit of `executor` (an AutoExecutor) and returns the choice. `default`: what to use
    where gpuadvise has none, {"partition": "gpu", "gres": "gpu:1"}; without it NoChoice is raised."""
    choice = select(*options_of(gpus, limit_of(timeout_min), **sbatch), default=default)
    executor.update_parameters(timeout_min=timeout_min, **parameters(choice))
    return choice


def submit(executor: Any, choice: Dict[str, str], function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """executor.submit, and gpuadvised looks at the queue within seconds."""
    job = executor.submit(function, *arguments, **named)
    submitted(choice, str(job.job_id).split("_", maxsplit=1)[0])
    return job


def map_array(executor: Any, train_yaml: str, function: Callable[..., Any], *iterables: Iterable[Any],
              default: Optional[Dict[str, Any]] = None, with_batch: bool = False) -> List[Any]:
    """executor.map_array with the calls split over GPU types; the jobs are in the order of the arguments. `with_batch`:
    function is also given micro_batch= and accumulation= of its GPU type. `default`: the options of all calls where
    gpuadvise has no choice, {"partition": "gpu", "gres": "gpu:1", "micro_batch": 4, "accumulation": 4}; without it
    NoChoice is raised. What is chosen is set for these calls only, and all of them are submitted or none."""
    calls, before = list(zip(*iterables)), dict(executor.parameters)
    at_a_time = before.get("slurm_array_parallelism", before.get("array_parallelism")) or 0
    parts = split(train_yaml, len(calls), default=default, at_a_time=at_a_time) if calls else []
    jobs: List[Any] = []
    try:
        for part in parts:
            _reset(executor, others(part, before))
            executor.update_parameters(**{("" if name in GENERIC else "slurm_") + name: value
                                          for name, value in options(part).items()})
            batch = {name: part[name] for name in ("micro_batch", "accumulation") if with_batch and part[name]}
            called = functools.partial(function, **batch) if batch else function
            jobs += executor.map_array(called, *zip(*(calls[run] for run in part["runs"])))
    except BaseException:
        for job in jobs:
            job.cancel(check=False)
        raise
    finally:
        _reset(executor, before)
    return jobs


def _reset(executor: Any, parameters_then: Dict[str, Any]) -> None:
    executor.parameters.clear()
    executor.parameters.update(parameters_then)
