#!/usr/bin/env python3
"""Makes the workload of a day for bench/lab_day.py: lab_workload.py --seed 31 [--hours 24] [--load 1.1] > W.csv

Jobs for every kind of GPU of the lab's cluster by 18 users, each of whom has a kind, a size and a run time
that most of his jobs are like, in batches of one to six that are made within minutes. `load` is the GPU time
that is asked for, in shares of what the cluster has. Run times are log-normal with a median of 5 minutes to
2 hours by user; limits are 1.3 to 20 times the run time, as people over-ask. Every third job is probed. The same seed makes the same
day, whatever the release that runs it.
"""
import argparse
import csv
import math
import random
import sys

# GPU type: nodes, GPUs on each.
POOLS = {"gpu2080": (15, 4), "gpu4070": (1, 4), "gpul40s": (2, 6), "h100_1g.11gb": (2, 14), "gpu4090": (1, 4)}
USERS = 18
COLUMNS = "t_s,user,gres,nodes,limit_min,runtime_s,probe".split(",")
LONGEST_RUN, LONGEST_LIMIT_MINUTES = 4 * 3600, 24 * 60
PROBED = 3  # one of so many


def habits(dice):
    """What a user's jobs are like."""
    pools = list(POOLS)
    kind = dice.choices(pools, [math.prod(POOLS[p]) for p in pools])[0]
    return {"kind": kind, "gpus": min(POOLS[kind][1], dice.choice([1, 1, 2, 4])),
            "median_s": math.exp(dice.uniform(math.log(300), math.log(7200))), "over": dice.choice([1.3, 2, 4, 8, 20])}


def batches(dice, seconds):
    """Endless batches: (moment, user, jobs)."""
    while True:
        yield dice.uniform(0, seconds), dice.randrange(USERS), dice.choice([1, 1, 2, 3, 6])


def workload(seed, hours, load):
    dice = random.Random(seed)
    users = [habits(dice) for _ in range(USERS)]
    wanted = {kind: load * hours * 3600 * math.prod(pool) for kind, pool in POOLS.items()}
    rows = []
    for moment, user, jobs in batches(dice, hours * 3600):
        if all(left <= 0 for left in wanted.values()):
            break
        like = users[user]
        kind = like["kind"] if wanted[like["kind"]] > 0 else max(wanted, key=wanted.get)
        gpus = min(like["gpus"], POOLS[kind][1])
        for _ in range(jobs):
            run = round(min(LONGEST_RUN, max(60, dice.lognormvariate(math.log(like["median_s"]), 0.6))))
            limit = min(LONGEST_LIMIT_MINUTES, max(5, math.ceil(run * max(1.3, like["over"] * dice.uniform(0.7, 1.3)) / 60)))
            wanted[kind] -= gpus * run
            rows.append([round(moment + dice.uniform(0, 240)), f"u{user:02d}", f"{kind}:{gpus}", 1, limit, run,
                         int(len(rows) % PROBED == 0)])
    return sorted(rows)


def main():
    parser = argparse.ArgumentParser(description="A made workload for bench/lab_day.py")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--hours", type=float, default=24)
    parser.add_argument("--load", type=float, default=1.1, help="GPU time asked for, in shares of the cluster's")
    options = parser.parse_args()
    csv.writer(sys.stdout, lineterminator="\n").writerows([COLUMNS, *workload(options.seed, options.hours, options.load)])


if __name__ == "__main__":
    main()
