#!/usr/bin/env python3
"""compile_matrix.py finds what it is for: what a release does not declare, and what its library does not have."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import compile_matrix as matrix

HEADER = """#define SLURM_VERSION_NUMBER 0x180b05
extern "C" {
int slurm_load(void);
int slurm_renamed(void);
}
"""
API = """extern int slurm_load(
	int flags)
{
	slurm_called_only(flags);
}
extern char *slurm_name(void)
{
slurm_mutex_lock(&lock);
strong_alias(bit_test, slurm_bit_test);
"""


class Matrix(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        headers = self.folder / "include" / "slurm"
        headers.mkdir(parents=True)
        (headers / "slurm.h").write_text(HEADER)
        matrix.write_functions(self.folder, ["slurm_load"])

    def findings(self, code):
        source = self.folder / "slurm_api_x.cc"
        source.write_text("#include <slurm/slurm.h>\n" + code)
        return matrix.check(self.folder, [source])

    def test_what_is_declared_and_there_is_no_finding(self):
        self.assertEqual(self.findings("int Use() { return slurm_load(); }\n"), [])

    def test_what_the_header_does_not_declare(self):
        finding, = self.findings("int Use() { return slurm_removed(); }\n")
        self.assertRegex(finding, r"^slurm_api_x\.cc: .slurm_removed. was not declared")

    def test_what_the_library_does_not_have(self):
        self.assertEqual(self.findings("int Use() { return slurm_renamed(); }\n"),
                         ["slurm_api_x.cc: slurm_renamed() is not in libslurm"])

    def test_a_warning_is_a_finding(self):
        finding, = self.findings("int Use(int unused) { return slurm_load(); }\n")
        self.assertIn("unused parameter", finding)

    def test_the_release_is_what_the_header_says(self):
        self.assertEqual(matrix.release_of(self.folder), "24.11.5")

    def test_the_newest_tag_is_the_highest_number_and_no_candidate(self):
        tags = "slurm-23-11-9-1\nabc refs/tags/slurm-23-11-10-2\nslurm-23-11-11-0rc1\nslurm-24-05-1-1\n"
        self.assertEqual(matrix.newest_tag(tags, "23.11"), "slurm-23-11-10-2")
        with self.assertRaises(matrix.Unavailable):
            matrix.newest_tag(tags, "22.05")

    @unittest.skipUnless(shutil.which("git"), "needs git")
    def test_sources_become_a_release(self):
        clone = self.folder / "clone"
        for path, text in {"META": "  Major:\t\t23\n  Minor:\t11\n  Micro:\t7\n", "slurm/slurm_errno.h": "",
                           "slurm/slurm_version.h.in": "#undef SLURM_VERSION_NUMBER\n", "src/api/a.c": API}.items():
            (clone / path).parent.mkdir(parents=True, exist_ok=True)
            (clone / path).write_text(text)
        identity = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_AUTHOR_NAME="t", GIT_AUTHOR_EMAIL="t@localhost",
                        GIT_COMMITTER_NAME="t", GIT_COMMITTER_EMAIL="t@localhost")
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"], ["tag", "slurm-23-11-7-1"]):
            subprocess.run(["git", "-C", clone, *words], check=True, env=identity)
        taken = self.folder / "taken"
        matrix.take_sources("23.11", clone, taken)
        self.assertEqual(matrix.release_of(taken), "23.11.7")
        self.assertEqual((taken / "functions").read_text().split(), ["slurm_bit_test", "slurm_load", "slurm_name"])

    def test_a_release_that_cannot_be_had_says_why(self):
        with self.assertRaisesRegex(matrix.Unavailable, "git: "):
            matrix.obtain("23.11", self.folder / "cache", self.folder / "no clone")
        self.assertEqual(list((self.folder / "cache").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
