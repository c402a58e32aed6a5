#!/usr/bin/env python3
"""Every test that docs/security.md names is there: a threat is held by a test, or the page is wrong."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def names_of_tests():
    """Suites and tests of C++, methods of Python, fuzz targets, and what CMake calls tests."""
    names = set()
    for file in (ROOT / "tests").rglob("*"):
        if file.suffix == ".cc":
            for suite, name in re.findall(r"^(?:TEST|TEST_F|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\((\w+),\s*(\w+)",
                                          file.read_text(), re.M):
                names |= {suite, f"{suite}.{name}"}
            if file.parent.name == "fuzz":
                names.add(file.stem)
        elif file.suffix == ".py":
            names |= set(re.findall(r"def (test_\w+)", file.read_text()))
            names.add(f"lab.{file.stem}")
        elif file.name == "CMakeLists.txt":
            names |= set(re.findall(r"NAME ([\w.]+)", file.read_text()))
    return names


class Security(unittest.TestCase):
    def test_the_tests_of_each_threat_exist(self):
        text = (ROOT / "docs" / "security.md").read_text()
        rows = [row.split(" | ")[-1] for row in text.split("## Threats")[1].split("\n## ")[0].splitlines() if " | " in row]
        known = names_of_tests()
        self.assertGreater(len(rows), 20)
        for row in rows[1:]:
            named = re.findall(r"`([^`]+)`", row)
            self.assertTrue(named, row)
            for name in named:
                self.assertTrue(name in known, name)


if __name__ == "__main__":
    unittest.main()
