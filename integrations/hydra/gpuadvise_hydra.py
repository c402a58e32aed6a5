"""Hydra: values of the configuration that gpuadvise chooses when the job is launched.

    # config.yaml, with hydra-submitit-launcher
    defaults: [{override hydra/launcher: submitit_slurm}]
    hydra:
      launcher:
        timeout_min: 240
        partition: ${gpuadvise:partition,2,04:00:00}
        gres: ${gpuadvise:gres,2,04:00:00}

    # train.py
    import gpuadvise_hydra
    gpuadvise_hydra.register()          # before @hydra.main runs

${gpuadvise:WHAT,GPUS,LIMIT,DEFAULT}: WHAT is partition, gres, constraint or why; DEFAULT is used where gpuadvise has no
choice, and without it launching fails with its sentence. The same question within 30 s has the same answer, so that
partition and gres belong together. With this folder and ../python on PYTHONPATH.
"""
from __future__ import annotations

from typing import Optional

from gpuadvise_select import NoChoice, options_of, select

WORDS = ("partition", "gres", "constraint", "why")


def resolve(what: str, gpus: int = 1, limit: str = "", default: Optional[str] = None) -> str:
    """One value of the choice; "" for a constraint where none is needed."""
    if what not in WORDS:
        raise ValueError(f"gpuadvise: '{what}' is unknown; write one of {', '.join(WORDS)}")
    try:
        choice = select(*options_of(int(gpus), str(limit)))
    except NoChoice:
        if default is None:
            raise
        return str(default)
    if what == "gres" and choice.get("gpus"):
        return "gpu:" + choice["gpus"]
    return choice.get(what, "")


def register() -> None:
    """Makes ${gpuadvise:...} known to OmegaConf."""
    from omegaconf import OmegaConf  # pylint: disable=import-outside-toplevel
    OmegaConf.register_new_resolver("gpuadvise", resolve, replace=True)
