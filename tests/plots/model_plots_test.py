#!/usr/bin/env python3
"""The plots of predicted against measured: what is drawn where, and what a wrong input is told."""
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "plots"
sys.path.insert(0, str(FOLDER))
import model_plots as plots  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
MEMORY = """grade,source,preset,measured,predicted,outcome,fits
A,one/exact,bert-base,10.00,10.00,measured,fits
A,one/exact,bert-base,20.00,21.00,measured,fits
A,one/exact,bert-base,40.00,60.00,measured,fits
B,two/vague,qwen-7b,30.00,15.00,measured,fits
A-oom,two/vague,qwen-7b,0.00,99.00,oom,does not fit
A-fits,two/vague,qwen-7b,0.00,5.00,fits,fits
"""
TIME = """grade,source,gpu,measured,predicted,anchored
B,two/vague,old,1,1,1
A,one/exact,new,2,4,2.2
A,one/exact,new,8,8,0
"""
GPUS = """gpus:
  # id, architecture: as sold
  - {id: old, name: Old, aliases: ["older"],
     architecture: Pascal, memory_gb: 11}
  - {id: new, name: New,
     architecture: Hopper, memory_gb: 80}
"""


def elements(svg, tag):
    return list(ElementTree.fromstring(svg).iter(SVG + tag))


def words(svg):
    return [text.text or "" for text in elements(svg, "text")]


def segments(svg, kind):
    """Ends of the lines of a class, as (x1, y1, x2, y2)."""
    return [tuple(float(line.get(key)) for key in ("x1", "y1", "x2", "y2"))
            for line in elements(svg, "line") if line.get("class") == kind]


def dots(svg, kind):
    """Middles of the circles of a class inside the plot; those of the legend are right of it."""
    ((_, _, right, _),) = segments(svg, "ideal solid")
    middles = [(float(c.get("cx")), float(c.get("cy"))) for c in elements(svg, "circle") if c.get("class") == kind]
    return [(x, y) for x, y in middles if x <= right]


def height_of(segment, x):
    x1, y1, x2, y2 = segment
    return y1 + (x - x1) / (x2 - x1) * (y2 - y1)


def legend(svg, name):
    """The rows, median error and share within the bound beside a name."""
    said = words(svg)
    return said[said.index(name) + 1:said.index(name) + 4]


class Drawn(unittest.TestCase):
    """Base of the tests that draw the tiny files above."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.write("gpus.yaml", GPUS)

    def write(self, name, text):
        (self.folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return self.folder / name

    def draw(self, memory=MEMORY, time=TIME):
        return plots.draw(self.write("memory.csv", memory), self.write("time.csv", time), self.folder / "gpus.yaml")


class Memory(Drawn):
    def setUp(self):
        super().setUp()
        self.svg = self.draw()["memory_accuracy"]
        (self.diagonal,) = segments(self.svg, "ideal solid")

    def test_a_right_prediction_is_on_the_diagonal(self):
        x, y = min(dots(self.svg, "dot s0"))
        self.assertAlmostEqual(y, height_of(self.diagonal, x), delta=0.2)

    def test_too_much_is_above_the_diagonal_and_too_little_below(self):
        x, y = max(dots(self.svg, "dot s0"))
        self.assertLess(y, height_of(self.diagonal, x) - 10)  # SVG's y grows downwards
        ((x, y),) = dots(self.svg, "line s1")
        self.assertGreater(y, height_of(self.diagonal, x) + 10)

    def test_both_axes_have_the_same_scale(self):
        x1, y1, x2, y2 = self.diagonal
        self.assertAlmostEqual(x2 - x1, y1 - y2)

    def test_dashed_lines_are_at_fifteen_percent(self):
        svg = self.draw(MEMORY + "A,one/exact,x,10,11.5,measured,fits\nA,one/exact,x,10,8.5,measured,fits\n")[
            "memory_accuracy"]
        above, below = segments(svg, "ideal")
        left = min(x for x, _ in dots(svg, "dot s0"))
        high, _, low = sorted(y for x, y in dots(svg, "dot s0") if x == left)
        self.assertAlmostEqual(high, height_of(above, left), delta=0.3)
        self.assertAlmostEqual(low, height_of(below, left), delta=0.3)

    def test_grade_a_is_filled_and_grade_b_hollow(self):
        self.assertEqual((len(dots(self.svg, "dot s0")), len(dots(self.svg, "line s0"))), (3, 0))
        self.assertEqual((len(dots(self.svg, "dot s1")), len(dots(self.svg, "line s1"))), (0, 1))

    def test_what_only_fitted_or_ran_out_is_not_drawn(self):
        self.assertEqual(len(elements(self.svg, "circle")), 4 + 2)  # two in the legend

    def test_the_legend_counts_rows_and_says_the_median_error_and_the_share_within(self):
        self.assertEqual(legend(self.svg, "A one/exact"), ["3", "5 %", "67 %"])
        self.assertEqual(legend(self.svg, "B two/vague"), ["1", "50 %", "0 %"])
        self.assertEqual(legend(self.svg, "all of grade A"), ["3", "5 %", "67 %"])

    def test_the_picture_has_a_title(self):
        root = ElementTree.fromstring(self.svg)
        self.assertEqual((root[0].tag, root[0].text), (SVG + "title", "Peak memory against published measurements"))

    def test_ticks_are_one_two_and_five(self):
        self.assertEqual(plots.ticks(0.9, 60), [1, 2, 5, 10, 20, 50])

    def test_equal_points_leave_room_for_the_dashed_lines(self):
        svg = self.draw("grade,source,measured,predicted,outcome\nA,s,7,7,measured\n")["memory_accuracy"]
        ((left, bottom, right, top),) = segments(svg, "ideal solid")
        for x1, y1, x2, y2 in segments(svg, "ideal"):
            self.assertTrue(left <= x1 < x2 <= right and top <= y2 < y1 <= bottom)


class Time(Drawn):
    def test_a_source_has_the_colour_it_has_in_memory(self):
        pictures = self.draw()
        for name in ["memory_accuracy", "time_accuracy"]:
            self.assertTrue(dots(pictures[name], "dot s0"))
            self.assertTrue(dots(pictures[name], "line s1"))

    def test_without_a_timing_the_prediction_is_drawn_with_lines_at_a_quarter(self):
        svg = self.draw()["time_accuracy"]
        self.assertEqual(legend(svg, "A one/exact"), ["2", "100 %", "50 %"])
        self.assertIn("+25 %", words(svg))

    def test_with_a_timing_only_rows_that_have_one_are_drawn_by_architecture(self):
        svg = self.draw()["time_anchored"]
        self.assertEqual(legend(svg, "A Hopper"), ["1", "10 %", "100 %"])
        self.assertEqual(legend(svg, "B Pascal"), ["1", "0 %", "100 %"])
        self.assertEqual(len(dots(svg, "dot s1") + dots(svg, "line s0")), 2)  # the oldest is the first


class Marks(unittest.TestCase):
    def test_a_colour_beyond_those_of_lines_is_a_square_in_the_middle_of_its_place(self):
        square = ElementTree.fromstring(plots.mark(10, 20, "dot s6", 6))
        self.assertEqual([square.get(key) for key in ("x", "y", "width", "height")], ["7.0", "17.0", "6", "6"])
        self.assertEqual(ElementTree.fromstring(plots.mark(10, 20, "dot s5", 5)).tag, "circle")

    def test_the_group_with_most_points_has_the_first_colour_and_equal_ones_go_by_name(self):
        self.assertEqual(plots.numbered(["b", "c", "a", "c"]), {"c": 0, "a": 1, "b": 2})

    def test_more_sources_than_colours_are_refused(self):
        with self.assertRaisesRegex(plots.PlotError, "11 sources .* at most 10"):
            plots.numbered(map(str, range(11)))

    def test_every_source_has_its_colour_in_light_and_in_dark(self):
        svg = plots.accuracy("t", "u", [plots.Point("A", "g", 1, 1)], {"g": 9}, 0.15)
        (style,) = (element.text for element in elements(svg, "style"))
        for part in style.split("@media(prefers-color-scheme:dark)"):
            self.assertRegex(part, r"\.line\.s9\{stroke:#[0-9a-f]{6}\}\.dot\.s9,\.label\.s9\{fill:#[0-9a-f]{6}\}")

    def test_the_median_of_two_is_the_greater(self):
        self.assertEqual(plots.median([3, 1]), 3)
        self.assertEqual(plots.median([3, 1, 2]), 2)


class WrongInput(Drawn):
    def refused(self, sentence, **files):
        with self.assertRaisesRegex(plots.PlotError, sentence):
            self.draw(**files)

    def test_other_columns_are_named(self):
        self.refused(r"memory\.csv: there is no column `outcome`; give what `accuracy memory FILE --rows` prints",
                     memory=TIME)
        self.refused(r"time\.csv: there is no column `gpu`; give what `accuracy time FILE --rows` prints", time=MEMORY)

    def test_an_empty_file_and_a_header_alone_are_told_apart(self):
        self.refused(r"memory\.csv: there is no column `grade`", memory="")
        self.refused(r"memory\.csv: there are no rows", memory=MEMORY.splitlines()[0] + "\n")

    def test_no_measured_row_and_no_anchored_row_are_said(self):
        self.refused("no row has the outcome `measured`", memory=MEMORY.replace(",measured,f", ",fits,f"))
        self.refused("no row has a timing on another GPU", time=TIME.replace(",1\n", ",0\n").replace("2.2", "0"))

    def test_what_is_no_amount_is_named_with_its_line(self):
        for text in ["much", "nan", "inf", "-1", "0", ""]:
            self.refused(rf"memory\.csv:2: predicted is `{text}`, which is no amount",
                         memory=MEMORY.replace("10.00,10.00", f"10.00,{text}"))

    def test_a_row_cut_short_or_too_long_is_named_with_its_line(self):
        self.refused(r"memory\.csv:8: the row has not as many values", memory=MEMORY + "A,one/exact,bert-base,10.00")
        self.refused(r"time\.csv:2: the row has not as many values", time=TIME.replace("1,1,1", "1,1,1,1"))

    def test_a_gpu_that_is_not_in_the_catalogue_is_named(self):
        self.refused("the GPU `abacus` is not in the catalogue", time=TIME.replace("old", "abacus"))

    def test_a_catalogue_of_something_else_is_named(self):
        self.write("gpus.yaml", "gpus: []\n")
        self.refused(r"gpus\.yaml: there is no GPU with an architecture")

    def test_bytes_that_are_no_text_are_named(self):
        self.refused(r"memory\.csv: .*; give what", memory=b"\xff\xfe\x00")

    def test_a_file_cut_at_any_byte_is_drawn_or_told(self):
        for end in range(len(TIME)):
            try:
                self.draw(time=TIME[:end])
            except plots.PlotError:
                pass


class CommandLine(Drawn):
    def run_with(self, memory, time):
        return subprocess.run([sys.executable, "-B", FOLDER / "model_plots.py", "--out", self.folder / "out", "--gpus",
                               self.folder / "gpus.yaml", memory, time], capture_output=True, text=True)

    def test_writes_the_three_pictures(self):
        done = self.run_with(self.write("memory.csv", MEMORY), self.write("time.csv", TIME))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(path.name for path in (self.folder / "out").iterdir()),
                         ["memory_accuracy.svg", "time_accuracy.svg", "time_anchored.svg"])

    def test_a_missing_file_is_one_sentence_and_nothing_is_written(self):
        done = self.run_with(self.folder / "missing.csv", self.write("time.csv", TIME))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^model_plots: .*missing\.csv: No such file or directory; give what .*\n$")
        self.assertFalse((self.folder / "out").exists())


class Catalogue(unittest.TestCase):
    def test_every_gpu_of_the_catalogue_has_its_own_architecture(self):
        found = plots.architectures_of(plots.GPUS_FILE)
        self.assertEqual(len(found), plots.GPUS_FILE.read_text().count("- {id: "))
        self.assertEqual([found[gpu] for gpu in ("gtx1080ti", "rtx2080ti", "h100-80gb-sxm")],
                         ["Pascal", "Turing", "Hopper"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
