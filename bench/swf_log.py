#!/usr/bin/env python3
"""Turns a log of the Parallel Workloads Archive (Standard Workload Format 2.2) into what gpuadvise-backtest reads.

    bench/swf_log.py LOG.swf[.gz] --out LOG.csv --cluster LOG.yaml [--processors-per-node N] [--from JOB --to JOB]

The format: https://www.cs.huji.ac.il/labs/parallel/workload/swf.html. A job asks for the processors that it requested, or
else for those that it got; they are counted as whole nodes of N processors each (MaxProcs over MaxNodes of the header
unless given). Left out and counted: jobs that never ran, jobs without processors, and jobs larger than the machine.
"""
import argparse
import csv
import gzip
import math
import pathlib
import re
import sys

(JOB, SUBMIT, WAIT, RUN, ALLOCATED, REQUESTED, LIMIT, STATUS, USER, GROUP, PARTITION) = (0, 1, 2, 3, 4, 7, 8, 10, 11, 12, 15)
FIELDS = 18
STATES = {1: "COMPLETED", 0: "FAILED", 5: "CANCELLED"}
COLUMNS = "job_id,submit,start,end,limit,nodes,cpus_per_node,gpus_per_node,gpu,user,account,partition,state".split(",")


def read(path):
    """The header's `Key: value` comments as a dict, and the rows as lists of numbers."""
    header, rows = {}, []
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if line.startswith(";"):
                if found := re.match(r";\s*(\w+):\s*(.+)", line):
                    header.setdefault(found[1], found[2].strip())
            elif line.strip():
                words = line.split()
                if len(words) != FIELDS:
                    sys.exit(f"{path}:{number}: {len(words)} fields where the Standard Workload Format has {FIELDS}")
                rows.append([float(word) for word in words])
    return header, rows


def number_of(header, key, path):
    """A whole number of the header; an end with a sentence where it is missing."""
    found = re.match(r"\d+", header.get(key, ""))
    if not found:
        sys.exit(f"{path}: the header says no {key}; say --processors-per-node and --nodes")
    return int(found[0])


def job_of(row, begin, per_node, machine):
    """One row of the CSV, or None if the job never ran or does not fit the machine."""
    processors = int(row[REQUESTED] if row[REQUESTED] > 0 else row[ALLOCATED])
    nodes = math.ceil(processors / per_node)
    if processors <= 0 or row[RUN] < 0 or row[WAIT] < 0 or nodes > machine:
        return None
    submit = begin + int(row[SUBMIT])
    start = submit + int(row[WAIT])
    return [int(row[JOB]), submit, start, start + int(row[RUN]), int(row[LIMIT]) if row[LIMIT] > 0 else "", nodes, per_node, 0,
            "", f"u{int(row[USER])}", f"g{int(row[GROUP])}", "all", STATES.get(int(row[STATUS]), "COMPLETED")]


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("log", type=pathlib.Path)
    asked.add_argument("--out", type=pathlib.Path, required=True, help="the CSV to write (gzip if it ends in .gz)")
    asked.add_argument("--cluster", type=pathlib.Path, required=True, help="the cluster file to write")
    asked.add_argument("--processors-per-node", type=int, help="else MaxProcs over MaxNodes of the header")
    asked.add_argument("--nodes", type=int, help="else MaxNodes of the header")
    asked.add_argument("--from", dest="first", type=int, default=0, metavar="JOB", help="the first job's number")
    asked.add_argument("--to", dest="last", type=int, default=sys.maxsize, metavar="JOB", help="the last job's number")
    want = asked.parse_args()
    header, rows = read(want.log)
    nodes = want.nodes or number_of(header, "MaxNodes", want.log)
    per_node = want.processors_per_node or max(1, number_of(header, "MaxProcs", want.log) // nodes)
    begin = int(header.get("UnixStartTime", "0").split()[0])
    jobs = [job_of(row, begin, per_node, nodes) for row in rows if want.first <= row[JOB] <= want.last]
    kept = [job for job in jobs if job]
    with (gzip.open if want.out.suffix == ".gz" else open)(want.out, "wt", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *kept])
    want.cluster.write_text(f"partitions:\n  all: {{nodes: {nodes}, cpus_per_node: {per_node}}}\n")
    print(f"{len(kept)} jobs, {len(jobs) - len(kept)} left out; {nodes} nodes of {per_node} processors")


if __name__ == "__main__":
    main()
