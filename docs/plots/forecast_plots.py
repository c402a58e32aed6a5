#!/usr/bin/env python3
"""Draws what `gpuadvise-backtest --json` found, as SVG files for docs/forecast.md.

    docs/plots/forecast_plots.py --out docs/plots lab_day1=lab_day1.json curie=curie.json

writes `calibration.svg`, one line per log: of the waits, which share was at most the forecast
quantile (on the diagonal: calibrated; below it: waits are longer than was said), and per log
`error_by_horizon-NAME.svg`: the median absolute error of the product and of the baselines, by how
long a wait the product forecast. Buckets of fewer than MIN_JOBS jobs are not drawn.

The pictures have their own background, and follow the reader's light or dark preference.
"""
import argparse
import json
import math
import pathlib
import sys
from xml.sax.saxutils import escape

MIN_JOBS = 5
# Readable for the colour-blind, in light and in dark; lines are labelled directly as well.
COLOURS = [("#2a78d6", "#3987e5"), ("#eb6834", "#d95926"), ("#1baf7a", "#199e70"), ("#c98500", "#eda100"),
           ("#4a3aa7", "#9085e9"), ("#d5517f", "#e87ba4")]
PREDICTORS = [("product", "gpuadvise"), ("plan_limits", "plan with limits"), ("plan_last_two", "plan, last two"),
              ("like_states", "like states"), ("partition_median", "partition median"), ("zero", "zero wait")]
TICKS = [(1, "1 s"), (10, "10 s"), (60, "1 min"), (600, "10 min"), (3600, "1 h"), (6 * 3600, "6 h"), (86400, "1 d"),
         (7 * 86400, "7 d"), (30 * 86400, "30 d")]
LABEL_HEIGHT = 15


class PlotError(Exception):
    """A sentence on what is wrong with the input."""


class Picture:
    """An SVG under construction: a plot area with axes, lines with labels at their right ends, marks.
    Series are numbered; a number is a place in `colours`, pairs for light and dark."""

    def __init__(self, title, subtitle, width, height, left, right, colours=COLOURS):
        self.title, self.width, self.height, self.colours = title, width, height, colours
        self.left, self.right, self.top, self.bottom = left, width - right, 74, height - 62
        self.parts, self.labels = [], []
        self.text(20, 30, title, "title")
        self.text(20, 50, subtitle, "soft")

    def x(self, share):
        return self.left + share * (self.right - self.left)

    def y(self, share):
        return self.bottom - share * (self.bottom - self.top)

    def text(self, x, y, words, kind="soft", anchor="start"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>')

    def segment(self, x1, y1, x2, y2, kind):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>')

    def x_tick(self, share, words, below=""):
        self.text(self.x(share), self.bottom + 20, words, "soft", "middle")
        if below:
            self.text(self.x(share), self.bottom + 36, below, "faint", "middle")

    def y_tick(self, share, words):
        self.segment(self.left, self.y(share), self.right, self.y(share), "grid")
        self.text(self.left - 8, self.y(share) + 4, words, "soft", "end")

    def series(self, number, name, runs, bold=False):
        """Lines through the runs of (x share, y share), a dot at each point, a label at the end."""
        kind = f"s{number}" + (" bold" if bold else "")
        for run in runs:
            points = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in run)
            self.parts.append(f'<polyline points="{points}" class="line {kind}"/>')
            for x, y in run:
                self.parts.append(f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="{4 if bold else 3}" '
                                  f'class="dot {kind}"/>')
        if runs:
            self.labels.append([self.y(runs[-1][-1][1]), self.x(runs[-1][-1][0]), number, name])

    def points(self, number, places, hollow=False):
        """A mark at each (x share, y share): a circle, or a square where the colours of lines are used up."""
        kind = f"{'line' if hollow else 'dot'} s{number}"
        self.parts.extend(mark(self.x(x), self.y(y), kind, number) for x, y in places)

    def diagonal(self, shift=0.0, kind="ideal"):
        """The line where y's share is x's and `shift`, as far as it is inside the plot."""
        first, last = max(0, -shift), min(1, 1 - shift)
        self.segment(self.x(first), self.y(first + shift), self.x(last), self.y(last + shift), kind)

    def svg(self):
        for y, x, number, name in spread(self.labels, self.top, self.bottom):
            self.parts.append(f'<text x="{x + 10:.1f}" y="{y + 4:.1f}" class="label s{number}">{escape(name)}</text>')
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" role="img">\n'
                f'<title>{escape(self.title)}</title>\n<style>{style(self.colours)}</style>\n'
                f'<rect width="{self.width}" height="{self.height}" rx="8" class="paper"/>\n'
                + "\n".join(self.parts) + "\n</svg>\n")


def mark(x, y, kind, number, size=3):
    if number < len(COLOURS):
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" class="{kind}"/>'
    return f'<rect x="{x - size:.1f}" y="{y - size:.1f}" width="{2 * size}" height="{2 * size}" class="{kind}"/>'


def spread(labels, top, bottom):
    """The labels, moved as little as keeps each LABEL_HEIGHT from the next: isotonic regression, by
    pooling neighbours, of the heights less what the labels above take."""
    placed = sorted(map(list, labels))
    blocks = []  # [sum, count]
    for one, label in enumerate(placed):
        blocks.append([label[0] - one * LABEL_HEIGHT, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1] = [blocks[-1][0] + total, blocks[-1][1] + count]
    lowest = bottom - (len(placed) - 1) * LABEL_HEIGHT
    offsets = [max(top, min(lowest, total / count)) for total, count in blocks for _ in range(count)]
    for one, (label, offset) in enumerate(zip(placed, offsets)):
        label[0] = offset + one * LABEL_HEIGHT
    return placed


def style(series=COLOURS):
    def colours(dark):
        paper, ink, soft, grid = ("#16181c", "#f0f1f3", "#b4b8bf", "#34383f") if dark else \
            ("#ffffff", "#16181c", "#555a63", "#e4e6ea")
        rules = [f".paper{{fill:{paper}}}.title{{fill:{ink}}}.soft,.faint{{fill:{soft}}}.grid{{stroke:{grid}}}"
                 f".ideal{{stroke:{soft}}}"]
        for number, pair in enumerate(series):
            colour = pair[1 if dark else 0]
            rules.append(f".line.s{number}{{stroke:{colour}}}.dot.s{number},.label.s{number}{{fill:{colour}}}")
        return "".join(rules)
    return ("text{font:12px system-ui,sans-serif}.title{font-size:16px;font-weight:600}.faint{font-size:10.5px}"
            ".label{font-weight:600}.grid{stroke-width:1}.ideal{stroke-width:1.5;stroke-dasharray:4 4}"
            ".solid{stroke-dasharray:none}"
            ".line{fill:none;stroke-width:1.75;stroke-linejoin:round}.line.bold{stroke-width:3}"
            + colours(False) + "@media(prefers-color-scheme:dark){" + colours(True) + "}")


def calibration(results):
    """One line per log. `results`: name -> the back-test's JSON."""
    if len(results) > len(COLOURS):
        raise PlotError(f"{len(results)} logs are too many for one plot: give at most {len(COLOURS)}")
    picture = Picture("Calibration", "share of waits that were at most the forecast quantile", 560, 480, 62, 130)
    for percent in (0, 25, 50, 75, 100):
        picture.y_tick(percent / 100, f"{percent} %")
        picture.x_tick(percent / 100, f"{percent} %")
    picture.text(picture.x(0.5), picture.bottom + 44, "forecast quantile", "soft", "middle")
    picture.diagonal()
    for number, (name, result) in enumerate(results.items()):
        points = sorted((p["nominal"], p["observed"]) for p in field(result, name, "calibration"))
        picture.series(number, name, [points] if points else [])
    return picture.svg()


def error_by_horizon(name, result):
    """One line per predictor over buckets of the forecast wait; the error's axis is logarithmic."""
    buckets = field(result, name, "error_by_horizon")
    drawn = [(i, b) for i, b in enumerate(buckets) if b["jobs"] >= MIN_JOBS]
    predictors = [(key, words) for key, words in PREDICTORS if any(key in b for _, b in drawn)]
    low, high = error_range([b[key] for _, b in drawn for key, _ in predictors if key in b])
    picture = Picture(f"Error by horizon: {name}", "median absolute error, by the wait that gpuadvise forecast",
                      760, 460, 70, 140)
    for seconds, words in TICKS:
        if low <= seconds <= high:
            picture.y_tick(log_share(seconds, low, high), words)
    places = [(i + 0.5) / max(1, len(buckets)) for i in range(len(buckets))]
    for place, bucket in zip(places, buckets):
        picture.x_tick(place, bucket_name(bucket), f"{bucket['jobs']} jobs")
    for number, (key, words) in reversed(list(enumerate(predictors))):  # the product is drawn on top
        points = [(i, log_share(b[key], low, high)) for i, b in drawn if key in b]
        runs = [[(places[i], y) for i, y in run] for run in unbroken(points)]
        picture.series(number, words, runs, bold=key == "product")
    return picture.svg()


def field(result, name, key):
    if not isinstance(result, dict) or not isinstance(result.get(key), list):
        raise PlotError(f"{name}: there is no list `{key}`; give the output of gpuadvise-backtest --json")
    return result[key]


def unbroken(points):
    """Runs of points whose buckets follow each other, so that no line crosses a missing bucket."""
    runs = []
    for i, y in points:
        if runs and runs[-1][-1][0] == i - 1:
            runs[-1].append((i, y))
        else:
            runs.append([(i, y)])
    return runs


def error_range(values):
    """The nearest ticks around the values, in seconds; errors under a second count as one."""
    seconds = [t for t, _ in TICKS]
    smallest, largest = max(1, min(values, default=1)), max(60, max(values, default=60))
    return (max(t for t in seconds if t <= smallest), min((t for t in seconds if t >= largest), default=largest))


def log_share(value, low, high):
    return math.log(max(value, low) / low) / math.log(high / low)


def bucket_name(bucket):
    start, end = bucket["from_seconds"], bucket["to_seconds"]
    if end > 1e9:
        return f"over {duration(start)}"
    if start == 0:
        return f"under {duration(end)}"
    (number, unit), (_, end_unit) = duration(start).split(), duration(end).split()
    return f"{number if unit == end_unit else f'{number} {unit}'} – {duration(end)}"


def duration(seconds):
    return f"{seconds / 60:g} min" if seconds < 3600 else f"{seconds / 3600:g} h"


def read(argument):
    name, equals, path = argument.partition("=")
    if not equals:
        name, path = pathlib.Path(argument).stem, argument
    try:
        return name, json.loads(pathlib.Path(path).read_text())
    except (OSError, ValueError) as error:
        raise PlotError(f"{path}: {error}") from error


def main(arguments):
    parser = argparse.ArgumentParser(description="Plots of gpuadvise-backtest --json")
    parser.add_argument("--out", default=".", help="folder of the SVG files")
    parser.add_argument("result", nargs="+", help="[NAME=]FILE.json")
    options = parser.parse_args(arguments)
    folder = pathlib.Path(options.out)
    try:
        results = dict(map(read, options.result))
        pictures = {"calibration": calibration(results)}
        pictures.update((f"error_by_horizon-{name}", error_by_horizon(name, r)) for name, r in results.items())
        folder.mkdir(parents=True, exist_ok=True)
        for name, svg in pictures.items():
            (folder / f"{name}.svg").write_text(svg)
    except (PlotError, OSError) as error:
        sys.exit(f"forecast_plots.py: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
