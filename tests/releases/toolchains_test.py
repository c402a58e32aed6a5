#!/usr/bin/env python3
"""What toolchains.py reads out of ctest's and dpkg's words, without a root."""
import unittest

import toolchains

# As ctest 3.31 ends.
FAILED = """\
 3/4 Test #3: releases.installed ...............***Skipped   0.06 sec
75% tests passed, 1 tests failed out of 4

Label Time Summary:
lab    =   4.00 sec*proc (1 test)

Total Test time (real) =   3.01 sec

The following tests did not run:
\t  3 - releases.installed (Skipped)

The following tests FAILED:
\t  2 - Backfill.ShortJobStartsBeforeTheReservation (Failed)
\t  4 - docs.links (Timeout)
Errors while running CTest
"""


class Toolchains(unittest.TestCase):
    def test_skipped_tests_are_not_counted_as_passed(self):
        self.assertEqual(toolchains.result_of(FAILED.replace("1 tests failed", "2 tests failed")),
                         ("1 of 4 passed, 1 skipped",
                          ["Backfill.ShortJobStartsBeforeTheReservation", "docs.links"]))

    def test_all_passed(self):
        self.assertEqual(toolchains.result_of("100% tests passed, 0 tests failed out of 812\n"), ("812 of 812 passed", []))

    def test_newer_ctest_counts_in_other_words(self):
        self.assertEqual(toolchains.result_of("100% tests passed, 0 tests failed out of 1\n")[0], "1 of 1 passed")

    def test_no_tests_are_no_result(self):
        self.assertIsNone(toolchains.result_of("No tests were found!!!\n"))

    def test_versions_are_named_as_people_name_them(self):
        packages = ("cmake 3.31.6-2\nlibboost1.81-dev 1.81.0-5+deb12u1\nlibcli11-dev 2.4.1+ds-2\n"
                    "libfmt-dev:amd64 9\nlibgtest-dev 1:1.17.0-1\nlibslurm-dev 24.11.5-4\n")
        self.assertEqual(toolchains.versions_of(packages), ["3.31.6", "1.81.0", "–", "2.4.1", "1.17.0", "24.11.5"])


if __name__ == "__main__":
    unittest.main()
