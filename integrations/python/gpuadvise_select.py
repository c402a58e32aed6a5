"""`gpuadvise select` from Python: the partition and GPU type with which a job starts first, as sbatch options.

Used by the integrations for Snakemake, submitit and Hydra. Standard library only; runs the command, because the site's
client knows the socket, your groups and sbatch's spellings.
"""
from __future__ import annotations

import subprocess
import time
from typing import Dict, Optional, Tuple

KEEP_SECONDS = 30.0  # the same question within that time has the same answer: partition and GPUs belong together
_answers: Dict[Tuple[str, ...], Tuple[float, Dict[str, str]]] = {}


class NoChoice(RuntimeError):
    """gpuadvise chose nothing; the text is its sentence."""


def options_of(gpus: int = 1, limit: str = "", **sbatch: str) -> Tuple[str, ...]:
    """Words of sbatch for so many GPUs on one node. `limit`: as Slurm writes it, "04:00:00"; `sbatch`: mem="64G", ..."""
    words = [f"--gres=gpu:{int(gpus)}"] + ([f"--time={limit}"] if limit else [])
    return tuple(words + [f"--{name.replace('_', '-')}={value}" for name, value in sorted(sbatch.items())])


def select(*words: str, timeout: float = 5.0, default: Optional[Dict[str, str]] = None) -> Dict[str, str]:
    """What to add to a job with these sbatch options: partition, gres or gpus, constraint; advice_id and why beside them.
    Where there is no choice `default` is returned, else NoChoice is raised."""
    known = _answers.get(words)
    if known and time.monotonic() - known[0] < KEEP_SECONDS:
        return dict(known[1])
    try:
        done = subprocess.run(["gpuadvise", "select", f"--timeout={timeout:g}", *words], capture_output=True, text=True,
                              timeout=timeout + 5, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        return _none(f"gpuadvise select cannot be run: {error}", default)
    if done.returncode != 0:
        return _none(done.stderr.strip() or f"gpuadvise select ended with status {done.returncode}", default)
    answer = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    _answers[words] = (time.monotonic(), answer)
    return dict(answer)


def submitted(answer: Dict[str, str], job_id: str) -> None:
    """Tells the daemon that the choice became this job, so that it looks at the queue within seconds. Never fails."""
    if answer.get("advice_id"):
        try:
            subprocess.run(["gpuadvise", "select", f"--advice={answer['advice_id']}", f"--submitted={job_id}"], timeout=5,
                           capture_output=True, check=False, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.TimeoutExpired):
            pass


def _none(sentence: str, default: Optional[Dict[str, str]]) -> Dict[str, str]:
    if default is None:
        raise NoChoice(sentence)
    return dict(default)
