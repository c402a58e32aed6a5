"""Snakemake: each GPU job goes to the partition and GPU type where it starts first.

In the Snakefile, with this folder and ../python on PYTHONPATH:

    from gpuadvise_snakemake import gpu_job
    gpu = gpu_job(gpus=2, limit="04:00:00", default="gpu")

    rule train:
        resources: slurm_partition=gpu.partition, slurm_extra=gpu.extra, runtime=240
        shell: "python train.py"

Snakemake calls both when it submits the job, so the choice is as fresh as the queue; with --dry-run it asks as well.
Where gpuadvised does not answer, jobs go to `default` and ask for GPUs of any type. Works with --slurm (Snakemake 7) and
--executor slurm (8 and newer): both read slurm_partition and slurm_extra.
"""
from __future__ import annotations

import shlex
from typing import Any, Callable, Dict

from gpuadvise_select import options_of, select


class GpuJob:
    def __init__(self, gpus: int, limit: str, default: str, sbatch: Dict[str, str]) -> None:
        self.words = options_of(gpus, limit, **sbatch)
        self.fallback = {"partition": default, "gres": f"gpu:{int(gpus)}"} if default else None
        # Attributes, not methods: Snakemake looks at the names of a function's parameters.
        self.partition: Callable[[Any], str] = lambda wildcards: self._choice()["partition"]
        self.extra: Callable[[Any], str] = lambda wildcards: self._extra()

    def _choice(self) -> Dict[str, str]:
        choice = select(*self.words, default=self.fallback)
        # A partition that was fixed with partition= is not chosen again.
        fixed = next((word.split("=", 1)[1] for word in self.words if word.startswith("--partition=")), "")
        return {"partition": fixed, **choice}

    def _extra(self) -> str:
        choice = self._choice()
        names = [name for name in ("gres", "gpus", "gpus_per_node", "constraint") if choice.get(name)]
        return " ".join(shlex.quote(f"--{name.replace('_', '-')}={choice[name]}") for name in names)


def gpu_job(gpus: int = 1, limit: str = "", default: str = "", **sbatch: str) -> GpuJob:
    """`limit`: time limit as Slurm writes it; `default`: partition where gpuadvise has no choice ("": the rule fails);
    further sbatch options that decide: mem="64G", cpus_per_task="8", gpu_memory="40G"."""
    return GpuJob(gpus, limit, default, sbatch)
