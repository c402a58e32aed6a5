#!/usr/bin/env python3
"""The plots of a tiny back-test: what is drawn where, and what a wrong input is told."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "plots"
sys.path.insert(0, str(FOLDER))
import forecast_plots as plots  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def bucket(start, end, jobs, **errors):
    return {"from_seconds": start, "to_seconds": end, "jobs": jobs, **errors}


def tiny():
    return {
        "calibration": [{"nominal": 0.5, "observed": 0.4}, {"nominal": 0.9, "observed": 0.9}],
        "error_by_horizon": [
            bucket(0, 60, 100, product=0, zero=2),
            bucket(60, 600, 2, product=7, zero=7),
            bucket(600, 3600, 50, product=60, zero=600),
            bucket(3600, 1e12, 30, product=600, zero=6000)],
    }


def elements(svg, tag):
    return list(ElementTree.fromstring(svg).iter(SVG + tag))


def words(svg):
    return [text.text for text in elements(svg, "text")]


def lines(svg, number):
    """The corners of each line of a series."""
    return [[tuple(map(float, corner.split(","))) for corner in line.get("points").split()]
            for line in elements(svg, "polyline") if f"s{number}" in line.get("class").split()]


class Calibration(unittest.TestCase):
    def test_a_calibrated_quantile_is_on_the_diagonal_and_a_late_one_below(self):
        svg = plots.calibration({"lab": tiny()})
        (diagonal,) = [line for line in elements(svg, "line") if line.get("class") == "ideal"]
        x1, y1, x2, y2 = (float(diagonal.get(k)) for k in ("x1", "y1", "x2", "y2"))
        (((x50, y50), (x90, y90)),) = lines(svg, 0)

        def ideal(x):
            return y1 + (x - x1) / (x2 - x1) * (y2 - y1)
        self.assertAlmostEqual(y90, ideal(x90), delta=0.2)
        self.assertGreater(y50, ideal(x50) + 10)  # SVG's y grows downwards

    def test_every_log_has_a_line_and_its_name(self):
        svg = plots.calibration({"one": tiny(), "two <2>": tiny()})
        self.assertEqual(len(lines(svg, 0)), 1)
        self.assertEqual(len(lines(svg, 1)), 1)
        self.assertIn("one", words(svg))
        self.assertIn("two <2>", words(svg))

    def test_equal_lines_keep_their_names_apart(self):
        svg = plots.calibration({name: tiny() for name in "abcd"})
        heights = sorted(float(t.get("y")) for t in elements(svg, "text") if "label" in t.get("class"))
        self.assertEqual(len(heights), 4)
        for low, high in zip(heights, heights[1:]):
            self.assertGreaterEqual(high - low, plots.LABEL_HEIGHT - 0.1)

    def test_a_log_without_forecasts_over_a_minute_has_no_line(self):
        self.assertEqual(lines(plots.calibration({"quiet": {"calibration": []}}), 0), [])

    def test_more_logs_than_colours_are_refused(self):
        with self.assertRaisesRegex(plots.PlotError, "at most 6"):
            plots.calibration({str(k): tiny() for k in range(7)})


class Labels(unittest.TestCase):
    def test_labels_at_the_bottom_move_up_into_the_picture(self):
        placed = plots.spread([[100, 0, 0, "a"], [99, 0, 1, "b"], [98, 0, 2, "c"]], 0, 100)
        self.assertEqual([label[0] for label in placed], [70, 85, 100])
        self.assertEqual([label[3] for label in placed], ["c", "b", "a"])

    def test_labels_that_meet_move_apart_around_where_they_met(self):
        placed = plots.spread([[50, 0, 0, "a"], [50, 0, 1, "b"], [50, 0, 2, "c"], [99, 0, 3, "d"]], 0, 100)
        self.assertEqual([label[0] for label in placed], [35, 50, 65, 99])

    def test_labels_with_room_stay(self):
        self.assertEqual([label[0] for label in plots.spread([[80, 0, 0, "a"], [20, 0, 1, "b"]], 0, 100)], [20, 80])


class ErrorByHorizon(unittest.TestCase):
    def setUp(self):
        self.svg = plots.error_by_horizon("lab", tiny())

    def test_a_bucket_with_few_jobs_breaks_the_line(self):
        self.assertEqual([len(line) for line in lines(self.svg, 0)], [1, 2])

    def test_ten_times_the_error_is_the_same_step_anywhere(self):
        (_, product), (_, zero) = lines(self.svg, 0), lines(self.svg, 1)
        steps = [product[0][1] - product[1][1], product[0][1] - zero[0][1], zero[0][1] - zero[1][1]]
        self.assertGreater(steps[0], 10)
        self.assertAlmostEqual(steps[0], steps[1], delta=0.2)
        self.assertAlmostEqual(steps[0], steps[2], delta=0.2)

    def test_an_error_of_zero_is_on_the_axis_not_below(self):
        bottom = max(float(line.get("y1")) for line in elements(self.svg, "line"))
        self.assertEqual(lines(self.svg, 0)[0][0][1], bottom)

    def test_buckets_are_named_with_their_jobs(self):
        said = words(self.svg)
        for expected in ["under 1 min", "1 – 10 min", "10 min – 1 h", "over 1 h", "100 jobs", "2 jobs"]:
            self.assertIn(expected, said)

    def test_the_product_is_bold_and_on_top(self):
        drawn = [line.get("class") for line in elements(self.svg, "polyline")]
        self.assertEqual(drawn[-1], "line s0 bold")
        self.assertEqual([kind for kind in drawn if "bold" in kind], ["line s0 bold"] * 2)

    def test_predictors_that_were_not_scored_are_left_out(self):
        self.assertIn("zero wait", words(self.svg))
        self.assertNotIn("plan with limits", words(self.svg))

    def test_an_empty_log_gives_an_empty_plot(self):
        svg = plots.error_by_horizon("empty", {"error_by_horizon": [bucket(0, 60, 0, product=0)]})
        self.assertEqual(elements(svg, "polyline"), [])

    def test_errors_beyond_the_last_tick_stay_inside(self):
        svg = plots.error_by_horizon("long", {"error_by_horizon": [bucket(0, 60, 9, product=1e8)]})
        top = min(float(line.get("y1")) for line in elements(svg, "line"))
        self.assertLessEqual(abs(lines(svg, 0)[0][0][1] - 74), 0.2)
        self.assertGreaterEqual(top, 74)


class Colours(unittest.TestCase):
    def test_light_and_dark_both_define_paper_ink_and_every_series(self):
        light, dark = plots.style().split("@media(prefers-color-scheme:dark)")
        for part in (light, dark):
            self.assertRegex(part, r"\.paper\{fill:#[0-9a-f]{6}\}\.title\{fill:#[0-9a-f]{6}\}")
            self.assertEqual(len(re.findall(r"\.line\.s\d\{stroke:#", part)), len(plots.COLOURS))


class CommandLine(unittest.TestCase):
    def run_with(self, folder, *arguments):
        return subprocess.run([sys.executable, "-B", FOLDER / "forecast_plots.py", "--out", folder / "out", *arguments],
                              capture_output=True, text=True)

    def test_writes_a_calibration_and_an_error_plot_per_log(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "day1.json").write_text(json.dumps(tiny()))
            done = self.run_with(folder, folder / "day1.json", f"again={folder}/day1.json")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(sorted(path.name for path in (folder / "out").iterdir()),
                             ["calibration.svg", "error_by_horizon-again.svg", "error_by_horizon-day1.svg"])

    def test_a_json_of_something_else_is_named(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "other.json").write_text("{}")
            done = self.run_with(folder, folder / "other.json")
            self.assertEqual(done.returncode, 1)
            self.assertIn("other: there is no list `calibration`", done.stderr)
            self.assertFalse((folder / "out").exists())

    def test_an_unreadable_or_broken_file_is_named(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "broken.json").write_text("{")
            for file in ["missing.json", "broken.json"]:
                done = self.run_with(folder, folder / file)
                self.assertEqual(done.returncode, 1)
                self.assertIn(file, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
