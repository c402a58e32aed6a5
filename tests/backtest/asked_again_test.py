#!/usr/bin/env python3
"""bench/asked_again.py, with rows of which the answer is known."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import asked_again  # noqa: E402


def said(wait, late=0, job=1, weight=1):
    """Of a job that starts `wait` seconds after it came, asked about every 10 minutes; each forecast is exact but for `late` seconds."""
    return [{"job_id": job, "age": age, "left": wait - age, "started": True, "weight": weight,
             "p10": wait - age + late, "p50": wait - age + late, "p90": wait - age + late} for age in range(0, wait, 600)]


def whole(rows):
    return asked_again.by_age(rows)[-1][1]


class AskedAgain(unittest.TestCase):
    def test_a_promise_that_holds_neither_drifts_nor_jumps(self):
        found = asked_again.by_age(said(7_200))
        self.assertEqual([bounds for bounds, _ in found], [(0, 600), (600, 3_600), (3_600, 14_400), (0, float("inf"))])
        self.assertEqual(found[-1][1], {"asked": 12, "coverage_p10": 1, "coverage_p50": 1, "coverage_p90": 1, "median_abs_error": 0,
                                        "drift": 0, "jumps": 0})

    def test_a_wait_that_is_always_the_same_recedes_as_the_clock_runs(self):
        rows = [{**row, "p50": 5_000} for row in said(36_000)]
        self.assertEqual(asked_again.by_age(rows)[1][1]["drift"], 1)
        self.assertEqual(whole(rows)["jumps"], 0, "each time by ten minutes only")

    def test_what_comes_too_early_comes_nearer_at_its_start(self):
        self.assertEqual(whole(said(6_000, late=3_000))["drift"], -0.5)

    def test_a_p50_that_is_elsewhere_the_next_time_is_a_jump(self):
        rows = said(7_200)
        rows[5]["p50"] = 20_000
        self.assertAlmostEqual(whole(rows)["jumps"], 2 / 11)

    def test_who_never_starts_counts_in_no_coverage(self):
        found = whole([{**row, "started": False} for row in said(1_200)])
        self.assertEqual((found["asked"], found["coverage_p90"], found["drift"]), (2, 0, 0))

    def test_a_short_burst_weighs_as_much_as_a_job_alone(self):
        rows = said(1_200)
        for job in range(2, 12):
            rows += said(1_200, late=-601, job=job, weight=0.1)
        self.assertAlmostEqual(asked_again.by_age(rows)[0][1]["coverage_p50"], 0.5)


if __name__ == "__main__":
    unittest.main()
