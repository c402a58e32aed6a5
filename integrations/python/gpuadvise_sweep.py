"""`gpuadvise sweep` from Python: many runs of a training, split over GPU types so that the last one is done first.

    for part in gpuadvise_sweep.split("train.yaml", 80):
        print(part["runs"], part["partition"], part["gres"], part["micro_batch"])

Used by the integrations for submitit and Hydra. Standard library only; runs the command.
"""
from __future__ import annotations

import json
import subprocess
from typing import Any, Dict, List, Optional

from gpuadvise_select import NoChoice

Part = Dict[str, Any]
SBATCH = ("partition", "account", "qos", "gres", "nodes", "cpus_per_task", "mem", "constraint", "exclude", "nodelist")
FIGURES = ("gpu", "gpus_per_node", "micro_batch", "accumulation", "precision")
REPLACED = {"gres": ("gpus_per_node", "gpus_per_task", "num_gpus"), "cpus_per_task": ("cpus_per_gpu",),
            "mem": ("mem_gb", "mem_per_cpu", "mem_per_gpu")}  # which sbatch does not take beside it


def split(train_yaml: str, runs: int, timeout: float = 30.0, default: Optional[Part] = None, at_a_time: int = 0) -> List[Part]:
    """The parts of so many runs. Each has `runs`, the numbers of its runs from 0, in order and without gaps; sbatch's
    options of SBATCH, `time` as Slurm writes it, `timeout_min`, `tasks_per_node`; and the FIGURES. None: not set.
    `at_a_time`: most runs at once, which the parts divide (`array_parallelism`); 0: all. Where there is no choice all runs are one part with the options of `default`, else NoChoice is raised."""
    try:
        return _parts(_ask(str(train_yaml), f"1-{runs}" + (f"%{at_a_time}" if at_a_time else ""), timeout), runs)
    except NoChoice:
        if default is None:
            raise
        return [{**_part(f"1-{runs}", {"sbatch": {}}), "array_parallelism": at_a_time or None, **default}]


def options(part: Part) -> Part:
    """What a part sets, in submitit's words."""
    return {name: part[name] for name in (*SBATCH, "timeout_min", "tasks_per_node", "array_parallelism") if part.get(name) is not None}


def others(part: Part, parameters: Dict[str, Any]) -> Dict[str, Any]:
    """Those of submitit's parameters that may stand beside what a part sets."""
    replaced = {word for name in options(part) for word in REPLACED.get(name, ())}
    return {name: value for name, value in parameters.items() if name not in replaced}


def _ask(train_yaml: str, array: str, timeout: float) -> Dict[str, Any]:
    try:
        done = subprocess.run(["gpuadvise", "sweep", train_yaml, "-a", array, "--json"], timeout=timeout, text=True,
                              capture_output=True, check=False, stdin=subprocess.DEVNULL)
        answer = json.loads(done.stdout) if done.stdout.startswith("{") else {}
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise NoChoice(f"gpuadvise sweep cannot be run: {error}") from error
    if not answer.get("strategies"):
        reasons = [f"{row['gpu_name']}: {reason}" for row in answer.get("rejected", []) for reason in row["reasons"]]
        raise NoChoice(done.stderr.strip() or "; ".join(["gpuadvise: nothing here can run it", *reasons[:3]]))
    return answer


def _parts(answer: Dict[str, Any], runs: int) -> List[Part]:
    try:
        rows = {row["rank"]: row for row in answer["strategies"]}
        shares = answer["sweep"]["shares"] if answer.get("sweep") else [{"rank": 1, "array": f"1-{runs}"}]
        parts = [_part(share["array"], rows[share["rank"]]) for share in shares]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise NoChoice(f"the answer of gpuadvise sweep cannot be read: {error!r}") from error
    if [run for part in parts for run in part["runs"]] != list(range(runs)):
        raise NoChoice(f"the shares of gpuadvise sweep are not {runs} runs in order")
    return parts


def _part(array: str, row: Dict[str, Any]) -> Part:
    first, _, last = array.partition("%")[0].partition("-")  # "5-8%2": runs are counted from 1 there
    sbatch, seconds = row["sbatch"], row.get("time_limit_seconds")
    return {"runs": list(range(int(first) - 1, int(last or first))), "time": sbatch.get("time"),
            "array_parallelism": int(array.partition("%")[2] or 0) or None,
            "timeout_min": -(-seconds // 60) if seconds else None, "tasks_per_node": sbatch.get("ntasks_per_node"),
            **{name: sbatch.get(name) for name in SBATCH}, **{name: row.get(name) for name in FIGURES}}
