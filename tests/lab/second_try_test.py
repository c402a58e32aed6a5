#!/usr/bin/env python3
"""The line about second runs, from the log of a real ctest: second_try_test.py CTEST"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import second_try

CTEST = sys.argv.pop()


def flaky(name):
    """A test that fails the first time only."""
    return f'add_test({name} sh -c "test -e {name} || {{ echo Test Passed.; touch {name}; exit 1; }}")\n'


class SecondTry(unittest.TestCase):
    def run_tests(self, tests):
        """The exit status of ctest, and the line."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "CTestTestfile.cmake").write_text(tests)
        done = subprocess.run([CTEST, "-j", "4", "--repeat", "until-pass:2"], cwd=folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False)
        return done.returncode, second_try.summary((folder / "Testing/Temporary/LastTest.log").read_text())

    def test_names_those_that_passed_in_the_second_run(self):
        status, line = self.run_tests(flaky("lab.b") + "add_test(lab.good true)\n" + flaky("lab.a"))
        self.assertEqual(status, 0)
        self.assertIn("2 lab tests passed only in a second run: ", line)
        self.assertEqual(sorted(line.split(": ")[1].split(", ")), ["lab.a", "lab.b"])

    def test_what_failed_twice_failed(self):
        status, line = self.run_tests("add_test(lab.bad false)\n")
        self.assertNotEqual(status, 0)
        self.assertEqual(line, "No lab test needed a second run.")

    def test_what_passed_at_once_or_was_skipped_is_not_named(self):
        status, line = self.run_tests('add_test(lab.good true)\nadd_test(lab.skipped sh -c "exit 77")\n'
                                      "set_tests_properties(lab.skipped PROPERTIES SKIP_RETURN_CODE 77)\n")
        self.assertEqual((status, line), (0, "No lab test needed a second run."))


if __name__ == "__main__":
    unittest.main()
