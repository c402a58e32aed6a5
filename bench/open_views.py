#!/usr/bin/env python3
"""Bytes that an open view of the dashboard takes in an hour on a large cluster.

    bench/open_views.py BIN_DIR [--nodes 10000 --running 20000 --pending 30000] [--changes 40] [--minutes 10]

A made cluster (target made_recording) is played to gpuadvised as a recording, a snapshot every 30 s, each with so many
ends, starts and submissions; what nodes have allocated follows from the jobs on them. Chromium opens every view, each in a page
of its own (web/test/open_views.mjs, so `npm ci` in web/ first), and what each receives is counted: first to load, then
to stay open.
"""
import argparse
import collections
import functools
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from whole_daemon import made_daemon  # noqa: E402

WEB = pathlib.Path(__file__).resolve().parents[1] / "web"
VIEWS = ["now", "nodes", "nodes?map=cluster", "nodes?condition=broken", "queue", "history", "accuracy"]
INTERVAL = 30


def with_allocations(lines, changes):
    """The recording with the nodes' allocations, as the jobs of each snapshot make them; but `changes` nodes, others each time,
    have a GPU less in use, because in a made cluster a job that ends has one like it in its place at once."""
    nodes, batch, batches = {}, [], 0
    for line in lines:
        record = json.loads(line)
        if record["record"] == "node":
            nodes[record["name"]] = record
            continue
        batch.append((record, line))
        if record["record"] != "end":
            continue
        held = collections.defaultdict(lambda: [0, 0, collections.Counter()])
        for job, _ in batch:
            for part in job.get("allocations", []):
                for node in [part["nodes"]] if isinstance(part["nodes"], str) else part["nodes"]:
                    held[node][0] += part.get("cpus", 0)
                    held[node][1] += part.get("memory_mib", 0)
                    held[node][2].update(part.get("gpus", {}))
        begin, end = batch[0][0], record
        begin["tables"] = sorted({*begin["tables"], "nodes"})
        end["counts"]["nodes"] = len(nodes)
        yield json.dumps(begin)
        for at, (name, node) in enumerate(nodes.items()):
            cpus, memory, gpus = held[name]
            if (at - batches * changes) % len(nodes) < changes:
                gpus = {kind: count - 1 for kind, count in gpus.items()}
            yield json.dumps({**node, "cpus_allocated": cpus, "memory_allocated_mib": memory, "gpus_allocated": gpus})
        yield from (line for _, line in batch[1:-1])
        yield json.dumps(end)
        batch, batches = [], batches + 1


def measure(options):
    polls = 60 * (options.minutes + 4) // INTERVAL
    settings = f"listen: 127.0.0.1:0\npoll_interval: {INTERVAL}s\n"
    change = functools.partial(with_allocations, changes=options.changes)
    with made_daemon(options, polls, settings, change) as (_, _, home):
        url = re.search(r"http://127\.0\.0\.1:\d+/", (home / "log").read_text()).group()
        counted = subprocess.run(["node", WEB / "test/open_views.mjs", url, str(options.minutes), *VIEWS],
                                 stdout=subprocess.PIPE, text=True, check=True).stdout
        return json.loads(counted)


def main():
    parser = argparse.ArgumentParser(description="Bytes that an open view of the dashboard takes in an hour")
    parser.add_argument("programs")
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--running", type=int, default=20_000)
    parser.add_argument("--pending", type=int, default=30_000)
    parser.add_argument("--changes", type=int, default=40, help="ends, starts and submissions from snapshot to snapshot")
    parser.add_argument("--minutes", type=int, default=10)
    for row in measure(parser.parse_args()):
        print(f"{row['view']:24} first {row['first'] / 1e3:7.0f} KB   in an hour {row['hour'] / 1e6:6.2f} MB")
        for what, size in sorted(row["of"].items(), key=lambda item: -item[1]):
            print(f"    {what[:70]:70} {size / 1e3:8.0f} KB")


if __name__ == "__main__":
    main()
