#!/usr/bin/env python3
"""The plot of growth: a line for each thing that grows, and a sentence for what is no benchmark."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "plots" / "growth_plot.py"
SVG = "{http://www.w3.org/2000/svg}"


def run_of(nodes, pending, samples, milliseconds):
    return {"name": f"BM_Growth/nodes:{nodes}/pending:{pending}/samples:{samples}/iterations:1",
            "cpu_time": milliseconds, "time_unit": "ms"}


class GrowthPlot(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def draw(self, text):
        (self.folder / "growth.json").write_text(text)
        return subprocess.run([sys.executable, "-B", SCRIPT, "--out", self.folder, self.folder / "growth.json"],
                              capture_output=True, text=True)

    def test_draws_a_line_for_nodes_jobs_and_samples(self):
        runs = [run_of(1000, 3000, 16, 500), run_of(100, 3000, 16, 90), run_of(1000, 300, 16, 60),
                run_of(1000, 30000, 16, 9000), run_of(1000, 3000, 64, 2000)]
        self.assertEqual(self.draw(json.dumps({"benchmarks": runs})).stderr, "")
        picture = ElementTree.parse(self.folder / "growth.svg").getroot()
        lines = [line.get("points").split() for line in picture.iter(f"{SVG}polyline")]
        self.assertEqual([len(line) for line in lines], [2, 3, 2])
        words = [text.text for text in picture.iter(f"{SVG}text")]
        for name in ["nodes", "waiting jobs", "samples", "× 1", "10 s"]:
            self.assertIn(name, words)

    def test_what_is_no_benchmark_is_a_sentence(self):
        for text in ["rubbish", "{}", json.dumps({"benchmarks": [{"name": "BM_Other", "cpu_time": 1}]})]:
            done = self.draw(text)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"^growth_plot: .*growth\.json: .*\n$")


if __name__ == "__main__":
    unittest.main()
