#!/usr/bin/env python3
"""Draws predictions of memory and step time against published measurements, as SVG files.

    build/release/bin/accuracy memory bench/data/memory_measurements.csv --rows > memory.csv
    build/release/bin/accuracy time bench/data/time_measurements.csv --rows > time.csv
    docs/plots/model_plots.py --out docs/plots memory.csv time.csv

writes `memory_accuracy.svg` (peak memory, GiB), `time_accuracy.svg` (seconds of a step, without any
timing) and `time_anchored.svg` (with one timing of the same training on another GPU, where there is
one). A prediction that is right is on the diagonal; both axes have the same scale. The legend has
the rows and median errors that `accuracy` prints, and the share of rows between the dashed lines.
"""
import argparse
import csv
import math
import pathlib
import re
import sys
import typing
from collections import Counter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from forecast_plots import COLOURS, Picture, PlotError, log_share, mark  # noqa: E402

# The first are circles, those added here squares (Picture.points).
SOURCE_COLOURS = COLOURS + [("#8a5a2b", "#b98a58"), ("#5b6b7c", "#93a4b7"), ("#6f8f00", "#a3c22e"),
                            ("#b3261e", "#f2827a")]
GPUS_FILE = pathlib.Path(__file__).resolve().parents[2] / "config" / "gpus.yaml"
GRADES = "filled: the exact configuration is published (A); hollow: some of it is not (B)"
WIDTH, HEIGHT, LEFT, RIGHT = 1010, 580, 74, 492  # the plot area is a square
COLUMNS = (276, 356, 416)  # right ends of the legend's figures
ROW_HEIGHT = 21


class Point(typing.NamedTuple):
    """One row: what was measured and what is predicted, in the unit of its file."""
    grade: str
    group: str
    measured: float
    predicted: float

    def error(self):
        return abs(self.predicted / self.measured - 1)


def read(path, command, columns):
    """The rows of `accuracy COMMAND FILE --rows` as dictionaries, with their lines in the file."""
    advice = f"give what `accuracy {command} FILE --rows` prints"
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            header = reader.fieldnames or []
            rows = [dict(row, line=reader.line_num) for row in reader]
    except (OSError, ValueError, csv.Error) as error:
        raise PlotError(f"{path}: {reason(error)}; {advice}") from error
    missing = [column for column in columns if column not in header]
    if missing:
        raise PlotError(f"{path}: there is no column `{missing[0]}`; {advice}")
    if not rows:
        raise PlotError(f"{path}: there are no rows; {advice}")
    for row in rows:
        if None in row or None in row.values():  # csv's marks of too many and too few
            raise PlotError(f"{path}:{row['line']}: the row has not as many values as the header; {advice}")
    return rows


def reason(error):
    return getattr(error, "strerror", None) or error


def amount(path, row, column, zero=False):
    """A number over 0, or also 0 where that has a meaning."""
    try:
        value = float(row[column])
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0 or (value == 0 and not zero):
        raise PlotError(f"{path}:{row['line']}: {column} is `{row[column]}`, which is no amount")
    return value


def point(path, row, column, group):
    return Point(row["grade"], group, amount(path, row, "measured"), amount(path, row, column))


def memory_points(path):
    rows = read(path, "memory", ["grade", "source", "measured", "predicted", "outcome"])
    found = [point(path, row, "predicted", row["source"]) for row in rows if row["outcome"] == "measured"]
    if not found:
        raise PlotError(f"{path}: no row has the outcome `measured`")
    return found


def time_points(path, architectures):
    """Points without a timing by source, and points with one by architecture of the GPU."""
    rows = read(path, "time", ["grade", "source", "gpu", "measured", "predicted", "anchored"])
    unknown = [row["gpu"] for row in rows if row["gpu"] not in architectures]
    if unknown:
        raise PlotError(f"{path}: the GPU `{unknown[0]}` is not in the catalogue; name the one it is in with --gpus")
    anchored = [point(path, row, "anchored", architectures[row["gpu"]]) for row in rows
                if amount(path, row, "anchored", zero=True) > 0]
    if not anchored:
        raise PlotError(f"{path}: no row has a timing on another GPU")
    return [point(path, row, "predicted", row["source"]) for row in rows], anchored


def architectures_of(path):
    """GPU id -> architecture, oldest first as the catalogue has them."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise PlotError(f"{path}: {reason(error)}; give a catalogue of GPUs such as config/gpus.yaml") from error
    found = dict(re.findall(r"\{id: ([\w.-]+),[^{}]*?\barchitecture: (\w+)", text))
    if not found:
        raise PlotError(f"{path}: there is no GPU with an architecture in it")
    return found


def numbered(groups):
    """Group -> number of its colour, those with the most points first: they get the best colours."""
    names = [name for name, _ in sorted(Counter(groups).items(), key=lambda one: (-one[1], one[0]))]
    if len(names) > len(SOURCE_COLOURS):
        raise PlotError(f"{len(names)} sources are too many for one plot: give at most {len(SOURCE_COLOURS)}")
    return {name: place for place, name in enumerate(names)}


def median(values):
    """The upper one of the middle two, as `accuracy` has it."""
    return sorted(values)[len(values) // 2]


def accuracy(title, unit, points, numbers, bound):
    """Predicted against measured, `numbers`: group -> colour, dashed lines at ± `bound`."""
    amounts = [value for p in points for value in (p.measured, p.predicted)]
    low = min(amounts) / 1.15
    high = max(max(amounts) * 1.15, 4 * low)  # room for the dashed lines around equal points
    picture = Picture(title, GRADES, WIDTH, HEIGHT, LEFT, RIGHT, SOURCE_COLOURS)
    draw_axes(picture, unit, low, high)
    draw_bounds(picture, bound, math.log(high / low))
    groups = {}
    for p in points:
        groups.setdefault((p.grade, p.group), []).append(p)
    for (grade, group), members in sorted(groups.items(), key=lambda one: -len(one[1])):
        picture.points(numbers[group], [(log_share(p.measured, low, high), log_share(p.predicted, low, high))
                                        for p in members], grade != "A")
    draw_legend(picture, groups, numbers, bound)
    return picture.svg()


def draw_axes(picture, unit, low, high):
    for tick in ticks(low, high):
        share = log_share(tick, low, high)
        picture.y_tick(share, f"{tick:g}")
        picture.segment(picture.x(share), picture.bottom, picture.x(share), picture.top, "grid")
        picture.x_tick(share, f"{tick:g}")
    picture.text(picture.x(0.5), picture.bottom + 44, f"measured {unit}", "soft", "middle")
    middle = picture.y(0.5)
    picture.parts.append(f'<g transform="rotate(-90 28 {middle:.1f})">')
    picture.text(28, middle, f"predicted {unit}", "soft", "middle")
    picture.parts.append("</g>")


def draw_bounds(picture, bound, span):
    """`span`: natural logarithm of the axes' end over their start."""
    picture.diagonal(0, "ideal solid")
    above, below = math.log(1 + bound) / span, math.log(1 - bound) / span
    picture.diagonal(above)
    picture.diagonal(below)
    picture.text(picture.x(1 - above), picture.top - 6, f"+{bound * 100:.0f} %", "soft", "middle")
    picture.text(picture.right + 6, picture.y(1 + below) + 4, f"−{bound * 100:.0f} %")


def ticks(low, high):
    """1, 2 and 5 times the powers of ten between them."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [t for power in powers for t in (10.0 ** power, 2 * 10.0 ** power, 5 * 10.0 ** power) if low <= t <= high]


def draw_legend(picture, groups, numbers, bound):
    """A mark, rows, median error and share within the bound, per grade and group and per grade."""
    left = picture.right + 62
    y = picture.top + 12
    legend_row(picture, left, y, "", ["rows", "median error", f"in ±{bound * 100:.0f} %"], "faint")
    for grade in sorted({grade for grade, _ in groups}):
        mine = {group: members for (of, group), members in groups.items() if of == grade}
        for group in sorted(mine, key=numbers.get):
            y += ROW_HEIGHT
            kind = f"{'dot' if grade == 'A' else 'line'} s{numbers[group]}"
            picture.parts.append(mark(left + 5, y - 4, kind, numbers[group], 4))
            legend_row(picture, left, y, f"{grade} {group}", figures(mine[group], bound))
        y += ROW_HEIGHT
        legend_row(picture, left, y, f"all of grade {grade}", figures(sum(mine.values(), []), bound))
        y += ROW_HEIGHT / 2


def legend_row(picture, left, y, name, columns, kind="soft"):
    picture.text(left + 18, y, name, kind)
    for right, words in zip(COLUMNS, columns):
        picture.text(left + right, y, words, kind, "end")


def figures(points, bound):
    errors = [p.error() for p in points]
    within = sum(error <= bound for error in errors) / len(errors)
    return [str(len(errors)), f"{100 * median(errors):.0f} %", f"{100 * within:.0f} %"]


def draw(memory_file, time_file, gpus_file):
    """Name -> SVG of all three."""
    architectures = architectures_of(gpus_file)
    memory = memory_points(memory_file)
    seconds, anchored = time_points(time_file, architectures)
    sources = numbered([p.group for p in memory + seconds])  # a source has one colour in both
    in_use = {p.group for p in anchored}
    ages = [name for name in dict.fromkeys(architectures.values()) if name in in_use]
    return {
        "memory_accuracy": accuracy("Peak memory against published measurements", "peak memory, GiB", memory,
                                    sources, 0.15),
        "time_accuracy": accuracy("Step time against published measurements, without a timing",
                                  "time of a step, seconds", seconds, sources, 0.25),
        "time_anchored": accuracy("Step time with one timing on another GPU", "time of a step, seconds", anchored,
                                  {name: place for place, name in enumerate(ages)}, 0.15),
    }


def main(arguments):
    parser = argparse.ArgumentParser(description="Plots of predicted against measured memory and step time")
    parser.add_argument("--out", default=".", help="folder of the SVG files")
    parser.add_argument("--gpus", default=GPUS_FILE, help="catalogue of GPUs, for their architectures")
    parser.add_argument("memory", help="accuracy memory FILE --rows")
    parser.add_argument("time", help="accuracy time FILE --rows")
    options = parser.parse_args(arguments)
    folder = pathlib.Path(options.out)
    try:
        pictures = draw(options.memory, options.time, options.gpus)
        folder.mkdir(parents=True, exist_ok=True)
        for name, svg in pictures.items():
            (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
    except (PlotError, OSError) as error:
        sys.exit(f"model_plots: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
