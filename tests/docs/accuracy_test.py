#!/usr/bin/env python3
"""The errors that answers give are those that docs/models.md and README.md publish."""
import pathlib
import re
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
ROW = re.compile(r'\{"([^"]+)", (\d+), ([\d.]+), ([\d.]+)\}')


class Accuracy(unittest.TestCase):
    def setUp(self):
        header = (TOP / "common/plan/model_accuracy.h").read_text()
        self.rows = [(of, int(rows), f"{100 * float(median):.1f}", f"{100 * float(p90):.1f}")
                     for of, rows, median, p90 in ROW.findall(header)]

    def test_the_page_has_every_figure_of_the_answers(self):
        page = (TOP / "docs/models.md").read_text()
        self.assertEqual(len(self.rows), 6)
        for of, rows, median, p90 in self.rows:
            self.assertRegex(page, rf"\| {rows} \| \*\*{median}\*\* \| \*\*{p90}\*\* \|", of)

    def test_the_readme_has_the_headline(self):
        readme = " ".join((TOP / "README.md").read_text().split())
        for of, _, median, p90 in self.rows:
            if of == "grade A":
                self.assertIn(f"{median} % (p90 {p90} %)", readme)


if __name__ == "__main__":
    unittest.main()
