#!/usr/bin/env python3
"""What if everybody follows one rule, on many days? bench/follow_day.py's days, simulated instead of run by a real Slurm.

    bench/follow_days.py build/release/bin/gpuadvise-backtest --seeds 401-410 [--rules bound,fastest,test-only,median,advise,courtesy-.25,courtesy-.5,courtesy-1]
                         [--hours 14] [--trainings 80] [--load 0.45] [--samples 24]

Users, others' jobs and trainings are those of bench/follow_day.py for the same seeds. Every training can run on each number of GPUs
that is timed, with a time limit of 1.25 times its run. `gpuadvise-backtest --follow` plays the day first in, first out with
backfill, and each training chooses when it arrives. All jobs run to their ends, so nothing is a lower bound.

- fastest: the shortest run; test-only: the earliest end if every job ran to its limit;
- bound: bench/clairvoyant_plan.py, which knows all arrivals and run times: the best of three searches for the least sum of the
  trainings' times. It does not care for others. No rule, and not part of the default: a day takes minutes;
- median: row 1 if it went by the median end alone; advise: row 1; told: row 1 if all run times were known; courtesy-X: row 1 with the setting `courtesy: X`.

Prints a table: means over days, and the mean of the daily ratios to `median` with 95 % intervals (Student's t).
"""
import argparse
import concurrent.futures
import csv
import io
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import follow_day  # noqa: E402
import lab_workload  # noqa: E402

RULES = {"fastest": ["fastest"], "test-only": ["test-only"], "median": ["median"], "advise": ["advise"], "told": ["told"],
         **{f"courtesy-{x}": ["advise", "--courtesy", x] for x in [".25", ".5", "1"]}}
BASE, BOUND = "median", "bound"
OVER_RUN = 1.25  # a training's time limit in shares of its run
SHOWN = {"result_mean_seconds": ("time to result", 3600, "h"), "wait_mean_seconds": ("of it waiting", 3600, "h"),
         "gpu_hours": ("GPU-hours", 1, ""), "others_wait_mean_seconds": ("others' wait", 60, "min"),
         "others_wait_median_seconds": ("median", 60, "min"), "everybody_seconds": ("everybody", 3600, "h")}
RATIOS = ["result_mean_seconds", "others_wait_mean_seconds", "everybody_seconds"]


def cluster():
    lines = ["partitions:", "  gpu:"]
    for kind, (nodes, gpus) in lab_workload.POOLS.items():
        lines.append(f'    - {{nodes: "{kind.replace("_", "").replace(".", "")}-[1-{nodes}]", cpus_per_node: 64, gpu: {kind}, '
                     f"gpus_per_node: {gpus}}}")
    return "\n".join(lines) + "\n"


def rows_of(seed, options):
    for moment, user, gres, nodes, minutes, seconds, _ in follow_day.others_of(seed, options):
        yield [moment, user, gres, nodes, minutes, seconds, ""]
    for training in follow_day.trainings_of(seed, options):
        for gpu, (_, numbers) in training.timed.items():
            for gpus in numbers:
                if gpus > training.max_gpus():
                    continue
                run = round(training.run_seconds(gpu, gpus))
                yield [round(training.due), training.user, f"{follow_day.KINDS[gpu]}:{gpus}", 1, math.ceil(OVER_RUN * run / 60), run,
                       f"training{training.number}"]


def workload(seed, options):
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(["t_s", "user", "gres", "nodes", "limit_min", "runtime_s", "training"])
    out.writerows(sorted(rows_of(seed, options)))
    return text.getvalue()


def play(folder, seed, rule, options):
    day = folder / f"{seed}.csv"
    if rule == BOUND:
        return bound(seed, options)
    told = subprocess.run([options.backtest, "--workload", day, "--cluster", folder / "cluster.yaml", "--samples", str(options.samples),
                           "--follow", *RULES[rule]], stdout=subprocess.PIPE, text=True, check=True)
    figures = json.loads(told.stdout)
    if figures["never_started"]:
        raise ValueError(f"seed {seed}: {figures['never_started']} jobs never start on this cluster")
    return figures


def bound(seed, options):
    """What the best of the planner's searches gives."""
    plans = [follow_day.planner(seed, options) for _ in range(follow_day.SEARCHES)]
    for order, plan in enumerate(plans):
        plan.improve(order)
    plan = min(plans, key=lambda plan: plan.cost)
    results = [start + chosen.seconds - due for start, chosen, (due, _) in zip(plan.starts, plan.chosen, plan.trainings)]
    others = plan.others_waits()
    return {"result_mean_seconds": statistics.mean(results), "gpu_hours": sum(c.gpus * c.seconds for c in plan.chosen) / 3600,
            "wait_mean_seconds": statistics.mean(result - c.seconds for result, c in zip(results, plan.chosen)),
            "others_wait_mean_seconds": statistics.mean(others), "others_wait_median_seconds": statistics.median(others),
            "everybody_seconds": sum(results) + sum(others)}


def interval(values):
    mean = statistics.mean(values)
    if len(values) < 2:
        return f"{mean:.2f}"
    t = follow_day.T95[min(len(values) - 2, len(follow_day.T95) - 1)]
    return f"{mean:.2f} ± {t * statistics.stdev(values) / math.sqrt(len(values)):.2f}"


def table(found, options):
    titles = [f"{title}, {unit}" if unit else title for title, _, unit in SHOWN.values()]
    yield f"| rule | {' | '.join(titles)} | {' | '.join(SHOWN[name][0] + f' / {BASE}' for name in RATIOS)} |"
    yield "|" + "---|" * (1 + len(titles) + len(RATIOS))
    for rule in options.rules:
        cells = [f"{statistics.mean(found[seed, rule][name] / per for seed in options.seeds):.2f}" for name, (_, per, _) in SHOWN.items()]
        if BASE in options.rules:
            cells += [interval([found[seed, rule][name] / found[seed, BASE][name] for seed in options.seeds]) for name in RATIOS]
        yield f"| {rule} | {' | '.join(cells)} |"


def numbers(text):
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backtest", type=pathlib.Path)
    parser.add_argument("--seeds", type=numbers, required=True, help="401-410")
    parser.add_argument("--rules", type=lambda text: text.split(","), default=list(RULES))
    parser.add_argument("--hours", type=float, default=14)
    parser.add_argument("--trainings", type=int, default=80)
    parser.add_argument("--load", type=float, default=0.45, help="of others' jobs, in shares of the cluster's GPU time")
    parser.add_argument("--samples", type=int, default=24)
    options = parser.parse_args()
    if unknown := [rule for rule in options.rules if rule not in [*RULES, BOUND]]:
        parser.error(f"no rule {unknown[0]}: there are {', '.join([*RULES, BOUND])}")
    options.multifactor = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "cluster.yaml").write_text(cluster())
        for seed in options.seeds:
            (folder / f"{seed}.csv").write_text(workload(seed, options))
        with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
            jobs = {(seed, rule): pool.submit(play, folder, seed, rule, options) for seed in options.seeds for rule in options.rules}
            found = {key: job.result() for key, job in jobs.items()}
    print(f"{len(options.seeds)} days, seeds {options.seeds[0]} to {options.seeds[-1]}\n")
    print(*table(found, options), sep="\n")


if __name__ == "__main__":
    main()
