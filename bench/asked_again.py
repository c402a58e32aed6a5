#!/usr/bin/env python3
"""How right a forecast is that is asked for again and again while its job waits (docs/forecast.md):

    gpuadvise-backtest --again 10 --json ... | asked_again.py

A user who looks every few minutes wants a start that stays where it is: ranges that hold at every age of the job, and an
expected start that on average neither recedes nor comes nearer. Waits and ages are in seconds; each job weighs 1 / jobs of
its burst.

drift: how far the start at the p50 moves until the next question, or to the real start, over the time that passes: 0 for a
promise that holds, 1 for one that recedes as fast as the clock runs. jumps: share of questions whose p50 is more than a
quarter and ten minutes off the one before.
"""
import bisect
import json
import sys

AGES = [0, 600, 3_600, 14_400, 43_200]
SHOWN_LEFT = 60  # coverage is about forecasts whose p90 is longer
JUMP_SECONDS = 600  # a p50 that moves less is noise to its reader …
JUMP_SHARE = 0.25  # … and so is one that moves less than this share of itself


def weighted_median(values):
    """`values`: (value, weight)."""
    half, sum_ = sum(weight for _, weight in values) / 2, 0
    for value, weight in sorted(values):
        sum_ += weight
        if sum_ >= half:
            return value
    return 0


def share(part, whole):
    return part / whole if whole > 0 else 0


def scores(rows):
    """Of (row, the next row of its job or None)."""
    shown = [(row, row["weight"]) for row, _ in rows if row["started"] and row["p90"] > SHOWN_LEFT]
    moved = passed = followed = jumped = 0
    for row, later in rows:
        weight = row["weight"]
        if later is None:
            if row["started"]:
                moved += weight * (row["left"] - row["p50"])
                passed += weight * row["left"]
            continue
        time = later["age"] - row["age"]
        move = time + later["p50"] - row["p50"]
        moved += weight * move
        passed += weight * time
        followed += weight
        jumped += weight * (abs(move) > max(JUMP_SECONDS, JUMP_SHARE * row["p50"]))
    total = sum(weight for _, weight in shown)
    return {"asked": len(rows),
            **{f"coverage_{p}": share(sum(weight for row, weight in shown if row["left"] <= row[p]), total) for p in ("p10", "p50", "p90")},
            "median_abs_error": weighted_median([(abs(row["p50"] - row["left"]), row["weight"]) for row, _ in rows if row["started"]]),
            "drift": share(moved, passed), "jumps": share(jumped, followed)}


def by_age(rows):
    """Scores by (from, to) of the age, and of all; `rows`: of each job in the order of time."""
    later, ages, pairs = {}, {}, []
    for row in reversed(rows):
        pair = (row, later.get(row["job_id"]))
        later[row["job_id"]] = row
        pairs.append(pair)
        ages.setdefault(bisect.bisect(AGES, row["age"]) - 1, []).append(pair)
    bounds = [*AGES, float("inf")]
    return [((bounds[i], bounds[i + 1]), scores(ages[i])) for i in sorted(ages)] + [((0, float("inf")), scores(pairs))]


def main():
    print(f"{'age, minutes':<14}{'asked':>8}  {'covers p10, p50, p90':<20}{'MAE s':>9}{'drift':>8}{'jumps':>7}")
    for (begin, end), s in by_age(json.load(sys.stdin)["asked_again"]):
        age = "all" if (begin, end) == (0, float("inf")) else f"{begin / 60:.0f} .. {'' if end == float('inf') else f'{end / 60:.0f}'}"
        print(f"{age:<14}{s['asked']:>8}  {s['coverage_p10']:.3f} {s['coverage_p50']:.3f} {s['coverage_p90']:.3f}   "
              f"{s['median_abs_error']:>9.0f}{s['drift']:>+8.3f}{s['jumps']:>7.3f}")


if __name__ == "__main__":
    main()
