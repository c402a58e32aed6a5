#!/usr/bin/env python3
"""bench/follow_day.py: an hour of its day at 120 times its pace, by one rule after the other. Whole days: docs/forecast.md.

    follow_day_test.py BIN_DIR [unittest options]
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import lab as slurm_lab
import programs

TOOL = pathlib.Path(__file__).resolve().parents[2] / "bench" / "follow_day.py"
RULES = ["fastest", "test-only", "advise"]
TRAININGS = 8


class FollowDay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Each rule's day, and row 1's with priorities and limits."""
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        days = [["--rules", rule] for rule in RULES]
        if not slurm_lab.why_not(accounting=True):
            days.append(["--rules", "advise", "--multifactor"])
        for options in days:  # a fast clock makes a busy slurmctld: at most one at a time
            done = cls.follow(*options)
            if done.returncode:
                raise AssertionError(done.stdout)

    @classmethod
    def follow(cls, *options):
        return subprocess.run(
            [sys.executable, "-B", TOOL, programs.SiteTest.bin_folder, "--out", cls.folder, "--hours", "1", "--trainings",
             str(TRAININGS), "--speed", "120", *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run_of(self, rule, scheduler="fifo"):
        return json.loads((self.folder / f"{scheduler}-201-{rule}.json").read_text())

    def test_asks_the_same_trainings_by_every_rule(self):
        asked = [[(row["number"], row["user"], row["due"]) for row in self.run_of(rule)["trainings"]] for rule in RULES]
        self.assertEqual([number for number, *_ in asked[0]], list(range(TRAININGS)))
        self.assertEqual(asked, [asked[0]] * len(RULES))

    def test_the_fastest_rule_always_takes_the_type_that_runs_fastest(self):
        found = {(row["gpu"], row["gpus"]) for row in self.run_of("fastest")["trainings"]}
        self.assertEqual(found, {("l40s", 6), ("rtx4090", 1)})

    def test_test_only_sends_large_trainings_to_several_types(self):
        large = [row for row in self.run_of("test-only")["trainings"] if row["number"] % 4 != 3]
        self.assertGreater(len({row["gpu"] for row in large}), 1)

    def test_advise_takes_row_1(self):
        self.assertEqual({row["rank"] for row in self.run_of("advise")["trainings"]}, {1})

    def test_counts_the_jobs_of_others(self):
        for rule in RULES:
            run = self.run_of(rule)
            self.assertGreater(len(run["others"]), 20)
            self.assertEqual((run["refused"], run["curtailed"]), (0, 0))
            self.assertGreater(sum(row["start"] is not None for row in run["others"]), 0)

    def test_runs_with_priorities_and_limits(self):
        if slurm_lab.why_not(accounting=True):
            self.skipTest(slurm_lab.why_not(accounting=True))
        self.assertEqual(len(self.run_of("advise", "multifactor")["trainings"]), TRAININGS)

    def test_the_bound_is_below_every_rule_and_all_are_in_the_table(self):
        done = self.follow()  # the runs are there; the bound is not
        self.assertEqual(done.returncode, 0, done.stdout)
        bound = self.run_of("bound")["figures"]["placed_hours"]
        for rule in RULES:
            self.assertLessEqual(bound, self.run_of(rule)["figures"]["placed_hours"] + 1e-9)
        for rule in [*RULES, "bound"]:
            self.assertRegex(done.stdout, rf"(?m)^201 {rule}: ")

    def test_refuses_a_folder_of_other_conditions(self):
        done = self.follow("--load", "0.3")
        self.assertEqual(done.returncode, 1)
        self.assertIn("take another --out", done.stdout)


if __name__ == "__main__":
    if not shutil.which("faketime"):
        print("skipped: faketime is not installed")
        sys.exit(programs.SKIPPED)
    programs.main()
