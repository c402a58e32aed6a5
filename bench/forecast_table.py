#!/usr/bin/env python3
"""The rows of docs/forecast.md's table of accuracy, by gpuadvise-backtest.

    bench/forecast_table.py build/release/bin/gpuadvise-backtest "NAME" OPTIONS... [-- "NAME" OPTIONS...]...

Each group of words is the name of a row and the options of one back-test; `--threads 1 --json` is added. Prints Markdown,
and the CPU seconds of each run on standard error.
"""
import json
import resource
import subprocess
import sys

GROUP = "does_not_fit_now"
ENOUGH = 100  # jobs of a week that counts
COLUMNS = ("log", "scored", "CRPS log", "CRPS seconds", "/ best part (worst span)", "median error of those that waited",
           "p10, p50, p90 by place", "weeks ≥ .80")


def plain(value):
    """.83, 1.02"""
    return f"{value:.2f}".removeprefix("0")


def ratio(loss):
    interval = f" [{plain(loss['low'])}–{plain(loss['high'])}]" if loss["low"] < loss["high"] else ""
    return plain(loss["ratio"]) + interval


def row(name, answer):
    """One line of Markdown from the JSON of a back-test."""
    group, losses = answer["groups"][GROUP], answer["ratios_to_best_baseline"][GROUP]
    product, log = group["product"], losses["crps_log"]
    best = group[losses["median_abs_error_seconds"]["best_baseline"]]
    span = f" ({plain(log['worst_span_of_500'])})" if log.get("worst_span_of_500", 0) > 0 else ""
    weeks = [week["product"] for week in answer["weeks"] if week["product"]["jobs"] >= ENOUGH]
    return (name, f"{product['jobs']:,}", ratio(log), ratio(losses["crps_seconds"]), plain(log["to_best_part"]) + span,
            f"{product['waited_abs_error_seconds']:,.0f} s ({best['waited_abs_error_seconds']:,.0f})",
            " ".join(plain(product[place]) for place in ("place_p10", "place_p50", "place_p90")),
            f"{sum(week['coverage_p90'] >= 0.8 for week in weeks)} of {len(weeks)}")


def runs_of(program, words):
    """(name, command) for each group of words between the `--`."""
    group = []
    for word in [*words, "--"]:
        if word != "--":
            group.append(word)
        elif group:
            yield group[0], [program, *group[1:], "--threads", "1", "--json"]
            group = []


def line(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    line(COLUMNS)
    line(["---"] * len(COLUMNS))
    for name, command in runs_of(sys.argv[1], sys.argv[2:]):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{name}: {done.stderr}")
        line(row(name, json.loads(done.stdout)))
        print(f"{name}: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before:.0f} s CPU", file=sys.stderr)


if __name__ == "__main__":
    main()
