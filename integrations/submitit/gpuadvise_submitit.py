"""submitit: the executor gets the partition and GPU type with which its jobs start first.

    import submitit
    from gpuadvise_submitit import choose, submit

    executor = submitit.AutoExecutor(folder="logs")
    executor.update_parameters(timeout_min=240, mem_gb=64)
    choice = choose(executor, gpus=2, timeout_min=240)   # slurm_partition, slurm_gres
    job = submit(executor, choice, train, 0.1)           # submits, and tells gpuadvised so

With this folder and ../python on PYTHONPATH. `choose` before each batch of jobs: the queue moves.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, Optional

from gpuadvise_select import options_of, select, submitted


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
