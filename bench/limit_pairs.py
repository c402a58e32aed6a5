#!/usr/bin/env python3
"""What shorter limits were worth on a real Slurm: limit_pairs.py ASKED.csv FOLLOWED.csv

Both logs are of bench/lab_day.py with the same workload and history: in the first (`--limits ask`) every job keeps its own
limit, in the second (`--limits follow`) the advised jobs have the advised one. The gain of a job is its wait in
the first less its wait in the second. *Kept*: within 25 % of the promise or 5 minutes of it. *In range*: between the p10 and
p90 that were promised, or 5 minutes from them. A job that was cut off counts as one that is submitted again with its own limit
and then takes as long as it took in the first. Two days of the same workload differ even where nobody follows advice: give
two logs of `--limits ask` to see by how much.
"""
import argparse
import csv
import sys

NEAR = 300  # seconds
LOADED = 600  # a job that waited longer, seconds


def rows_by_place(path):
    with open(path, newline="") as file:
        reader = csv.DictReader(file)
        if "advised_limit" not in (reader.fieldnames or []):
            sys.exit(f"limit_pairs.py: {path}: no column advised_limit; make the log with lab_day.py --limits")
        return {int(row["row"]): row for row in reader}


def wait(row):
    return int(row["start"]) - int(row["submit"])


def to_result(row):
    return int(row["end"]) - int(row["submit"])


def median(values):
    values = sorted(values)
    return values[len(values) // 2] if values else float("nan")


def mean(values):
    return sum(values) / len(values) if values else float("nan")


def is_cut(asked, followed):
    return followed["state"] == "TIMEOUT" and asked["state"] != "TIMEOUT"


def most_cut(risks):
    """The number of cut jobs that 95 % of days with these risks stay within."""
    chances = [1.0]
    for risk in risks:
        chances = [(chances[k] if k < len(chances) else 0) * (1 - risk) + (chances[k - 1] * risk if k else 0)
                   for k in range(len(chances) + 1)]
    total, k = 0.0, 0
    while total + chances[k] < 0.95:
        total, k = total + chances[k], k + 1
    return k


class Pair:
    """One advised job on both days."""

    def __init__(self, asked, followed):
        self.before, self.after = wait(asked), wait(followed)
        self.gain = self.before - self.after
        self.low, self.promised, self.high = (float(followed[f"sooner_{q}"]) for q in ("p10", "p50", "p90"))
        self.risk = float(followed["risk"] or 0)
        self.cut = is_cut(asked, followed)
        self.kept = abs(self.gain - self.promised) <= max(NEAR, 0.25 * self.promised)
        self.in_range = self.low - NEAR <= self.gain <= self.high + NEAR
        self.most_of_it = self.gain >= 0.75 * self.promised


def about_advised(pairs):
    count = max(1, len(pairs))
    risks = [p.risk for p in pairs]
    return (f"{len(pairs)} advised: kept {sum(p.kept for p in pairs) / count:.2f}, in range "
            f"{sum(p.in_range for p in pairs) / count:.2f}, at least 3/4 of it {sum(p.most_of_it for p in pairs) / count:.2f}\n"
            f"promised {sum(p.promised for p in pairs) / 3600:.0f} h, gained {sum(p.gain for p in pairs) / 3600:.0f} h\n"
            f"cut off {sum(p.cut for p in pairs)}, expected {sum(risks):.1f}, at most {most_cut(risks)} in 95 %\n"
            f"median wait of the advised {median([p.before for p in pairs])} -> {median([p.after for p in pairs])} s")


def about_all(asked, followed):
    both = sorted(asked.keys() & followed.keys())
    before = mean([to_result(asked[k]) for k in both])
    after = mean([to_result(followed[k]) + (to_result(asked[k]) if is_cut(asked[k], followed[k]) else 0) for k in both])
    others = [(wait(asked[k]), wait(followed[k])) for k in both if not followed[k]["advised_limit"]]
    waited = [(a, b) for a, b in others if max(a, b) > LOADED]
    near = sum(abs(a - b) <= max(NEAR, 0.25 * a) for a, b in waited) / max(1, len(waited))
    return (f"{len(both)} jobs on both days: mean time to result {before:.0f} -> {after:.0f} s ({100 * (after / before - 1):+.1f} %)\n"
            f"mean wait of the {len(others)} others {mean([a for a, _ in others]):.0f} -> {mean([b for _, b in others]):.0f} s; of the "
            f"{len(waited)} that waited, {near:.2f} waited the same within 25 % or 5 min")


def main():
    parser = argparse.ArgumentParser(description="What shorter limits were worth on a real Slurm")
    parser.add_argument("asked", help="log of lab_day.py --limits ask")
    parser.add_argument("followed", help="log of lab_day.py --limits follow, of the same workload")
    options = parser.parse_args()
    asked, followed = rows_by_place(options.asked), rows_by_place(options.followed)
    pairs = [Pair(asked[k], row) for k, row in sorted(followed.items()) if row["advised_limit"] and k in asked]
    print(about_advised(pairs))
    print(about_all(asked, followed))


if __name__ == "__main__":
    main()
