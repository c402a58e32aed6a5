#!/usr/bin/env python3
"""The forecast alive: a few hours of a busy cluster at 120 times its pace, with the daemon in the same clock.

Users over-ask their time limits. Right before each job its user asks `gpuadvise when` with the same
options and then submits exactly that; the daemon forecasts every job by itself. Both are compared
with what Slurm did and with what `sbatch --test-only` said, by 26.05 also `srun --test-only --jobid` of the job itself. First in, first out, and multifactor
priority with fair share, QOS and GPU limits. Whole days and figures: bench/lab_day.py, docs/forecast.md.

    live_day_test.py BIN_DIR [unittest options]
"""
import csv
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import lab as slurm_lab
import lab_root

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
SKIPPED = 77
SPEED = "120"
TELLS_OF_A_JOB = (26, 5)  # the release from which `srun --test-only --jobid` answers
BIN_DIR = None


def workload(seed, jobs, hours):
    """Jobs for the two small pools, twice as many as they can take at once; limits 2 to 12 times the run time."""
    dice = random.Random(seed)
    rows = []
    for _ in range(jobs):
        gpu, most = dice.choice([("gpu4090", 4), ("gpul40s", 6), ("gpul40s", 6)])
        run = round(dice.lognormvariate(6.6, 0.7))
        limit = min(720, max(10, run * dice.choice([2, 4, 8, 12]) // 60))
        rows.append([round(dice.uniform(0, hours * 3600)), f"u{dice.randrange(18):02d}",
                     f"{gpu}:{dice.choice([1, 2, most, most])}", 1, limit, min(run, 3600), 1])
    return sorted(rows)


def median(values):
    values = sorted(values)
    return values[len(values) // 2]


@unittest.skipUnless(shutil.which("faketime"), "faketime is not installed")
class LiveDay(unittest.TestCase):
    release = lab_root.release_of(slurm_lab.path_of(lab_root.from_environment()))

    def live(self, *options, seed):
        """The log of a few hours, as numbers, and what the script printed."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        with open(folder / "w.csv", "w", newline="") as file:
            csv.writer(file).writerows([["t_s", "user", "gres", "nodes", "limit_min", "runtime_s", "probe"],
                                        *workload(seed, 40, 1.5)])
        done = subprocess.run(
            [sys.executable, "-B", BENCH / "lab_day.py", "--workload", folder / "w.csv", "--out", folder / "day.csv",
             "--speed", SPEED, "--programs", BIN_DIR, *options], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(folder / "day.csv", newline="") as file:
            rows = [{k: int(v) if v.isdigit() else v for k, v in line.items()} for line in csv.DictReader(file)]
        self.history = sqlite3.connect(folder / "day.db")
        self.addCleanup(self.history.close)
        return rows, done.stdout

    def check(self, rows, printed):
        asked = [r for r in rows if r["when_p50"] != ""]
        said = [r for r in rows if r["said_p50"] != ""]
        self.assertGreaterEqual(len(asked), 0.9 * len(rows), printed)
        self.assertGreaterEqual(len(said), 0.9 * len(rows), printed)
        for who, known in [("when", asked), ("said", said)]:
            for row in known:
                self.assertLessEqual(row[f"{who}_p10"], row[f"{who}_p50"], row)
                self.assertLessEqual(row[f"{who}_p50"], row[f"{who}_p90"], row)
            waited = [r for r in known if r["start"] - r["submit"] > 600 and r["test_only"] != ""]
            self.assertGreater(len(waited), 5, printed)
            ours = median([abs(r[f"{who}_p50"] - r["start"]) for r in waited])
            slurms = median([abs(r["test_only"] - r["start"]) for r in waited])
            self.assertLess(ours, slurms, printed)
            told = [r for r in waited if r["test_only_job"] != ""]
            if self.release >= TELLS_OF_A_JOB:
                self.assertGreater(len(told), 5, printed)
                ours = median([abs(r[f"{who}_p50"] - r["start"]) for r in told])
                self.assertLess(ours, median([abs(r["test_only_job"] - r["start"]) for r in told]), printed)
            else:
                self.assertEqual(told, [])
            late = [r for r in known if r["start"] > r[f"{who}_p90"] + 60]
            self.assertLess(len(late), 0.35 * len(known), printed)
        self.assertIn("Accuracy of start times", printed)
        kept = self.history.execute("SELECT count(*) FROM job WHERE start IS NOT NULL").fetchone()[0]
        self.assertGreaterEqual(kept, 0.95 * len(rows), "the history has the jobs that ran")

    def test_first_in_first_out(self):
        self.check(*self.live(seed=5))

    def test_multifactor_priority_with_limits_and_accounting(self):
        reason = slurm_lab.why_not(accounting=True)
        if reason:
            self.skipTest(reason)
        self.check(*self.live("--multifactor", seed=6))


def main():
    global BIN_DIR
    if len(sys.argv) < 2 or not pathlib.Path(sys.argv[1]).is_dir():
        sys.exit("usage: live_day_test.py BIN_DIR [unittest options]")
    BIN_DIR = str(pathlib.Path(sys.argv.pop(1)).resolve())
    reason = slurm_lab.why_not()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
