#!/usr/bin/env python3
"""Draws how the time from a snapshot to a forecast grows, as an SVG file for bench/performance.md.

    build/release/bin/forecast_bench --benchmark_filter=BM_Growth --benchmark_format=json > growth.json
    docs/plots/growth_plot.py --out docs/plots growth.json

One line each for nodes, waiting jobs and samples, the other two as they are where the lines cross.
"""
import argparse
import json
import math
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import forecast_plots  # noqa: E402

BASE = {"nodes": 1000, "pending": 3000, "samples": 16}
WORDS = {"nodes": "nodes", "pending": "waiting jobs", "samples": "samples"}
TICKS = [(0.01, "10 ms"), (0.1, "100 ms"), (1, "1 s"), (10, "10 s"), (100, "100 s")]


def read(path):
    """Points (arguments, seconds) of the benchmark."""
    try:
        runs = json.loads(pathlib.Path(path).read_text())["benchmarks"]
    except (OSError, ValueError, KeyError) as error:
        raise forecast_plots.PlotError(f"{path}: {error}; give the JSON of forecast_bench") from error
    points = []
    for run in runs:
        arguments = {name: int(value) for name, value in re.findall(r"(\w+):(\d+)", run["name"])}
        if set(BASE) <= set(arguments):
            points.append((arguments, run["cpu_time"] / 1e3))
    if not points:
        raise forecast_plots.PlotError(f"{path}: there is no BM_Growth in it")
    return points


def growth(points):
    factors = [arguments[name] / BASE[name] for arguments, _ in points for name in BASE]
    low, high = min(factors), max(factors)
    seconds = [s for _, s in points]
    bottom = max((t for t, _ in TICKS if t <= min(seconds)), default=TICKS[0][0])
    top = min((t for t, _ in TICKS if t >= max(seconds)), default=TICKS[-1][0])
    picture = forecast_plots.Picture(
        "From a snapshot to a forecast", "one core; all lines cross at 1,000 nodes, 3,000 waiting jobs, 16 samples",
        640, 440, 62, 130)
    for second, words in TICKS:
        if bottom <= second <= top:
            picture.y_tick(forecast_plots.log_share(second, bottom, top), words)
    for factor in (0.1, 0.3, 1, 3, 10):
        if low <= factor <= high * 1.001:
            picture.x_tick(math.log(factor / low) / math.log(high / low), f"× {factor:g}")
    for number, name in enumerate(BASE):
        line = sorted((arguments[name] / BASE[name], s) for arguments, s in points
                      if all(arguments[other] == BASE[other] for other in BASE if other != name))
        picture.series(number, WORDS[name], [[(math.log(factor / low) / math.log(high / low),
                                               forecast_plots.log_share(s, bottom, top)) for factor, s in line]])
    return picture.svg()


def main():
    parser = argparse.ArgumentParser(description="How the time to a forecast grows")
    parser.add_argument("file", help="forecast_bench --benchmark_filter=BM_Growth --benchmark_format=json")
    parser.add_argument("--out", default=".", help="folder for growth.svg")
    options = parser.parse_args()
    try:
        (pathlib.Path(options.out) / "growth.svg").write_text(growth(read(options.file)))
    except (forecast_plots.PlotError, OSError) as error:
        sys.exit(f"growth_plot: {error}")


if __name__ == "__main__":
    main()
