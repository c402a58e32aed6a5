#!/usr/bin/env python3
"""What hardens the programs is in them: hardened_test.py BIN.

BIN holds the programs of this build. C functions that check their buffers come only with optimisation: they are looked
for in the flags that the preset `release` compiles with, and in its programs where they are built beside these.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ("gpuadvised", "gpuadvise", "gpuadvise-collect", "gpuadvise-backtest")


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


class Programs(unittest.TestCase):
    folder: pathlib.Path

    def each(self):
        for name in PROGRAMS:
            with self.subTest(program=name):
                yield str(self.folder / name)

    def test_lie_at_addresses_that_nobody_knows(self):
        for program in self.each():
            self.assertRegex(output("readelf", "-h", program), r"Type: +DYN")
            self.assertIn("(FLAGS_1)", output("readelf", "-d", program))
            self.assertRegex(output("readelf", "-d", program), r"FLAGS_1.*PIE")

    def test_relocations_are_read_only(self):
        for program in self.each():
            self.assertIn("GNU_RELRO", output("readelf", "-lW", program))
            self.assertRegex(output("readelf", "-d", program), r"BIND_NOW|FLAGS_1.*NOW")

    def test_no_stack_is_executable_and_no_path_is_built_in(self):
        for program in self.each():
            stack = next(line for line in output("readelf", "-lW", program).splitlines() if "GNU_STACK" in line)
            self.assertNotIn("E", stack.split()[6], stack)
            self.assertNotRegex(output("readelf", "-d", program), r"RPATH|RUNPATH")

    def test_stacks_are_guarded_in_our_own_code(self):
        for program in self.each():
            # A function of ours that has a buffer; a library's would not do.
            main = output("objdump", "-d", "--no-show-raw-insn", "--disassemble=main", program)
            self.assertIn("endbr64", main, "control-flow marks")
            symbols = output("readelf", "-sW", program)
            self.assertIn("__stack_chk_fail", symbols)


class Flags(unittest.TestCase):
    def test_every_file_of_a_release_is_compiled_with_them(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["cmake", "--preset", "release", "-S", ROOT, "-B", folder, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"],
                           check=True, capture_output=True, cwd=ROOT)
            for entry in json.loads((pathlib.Path(folder) / "compile_commands.json").read_text()):
                words = entry["command"].split()
                for flag in ("-fstack-protector-strong", "-D_FORTIFY_SOURCE=2", "-O2", "-fPIE", "-fcf-protection"):
                    self.assertIn(flag, words, entry["file"])


class Release(unittest.TestCase):
    def test_checks_the_buffers_of_c_functions(self):
        folder = Programs.folder.parent.parent / "release" / "bin"
        if not (folder / "gpuadvised").exists():
            self.skipTest("no release build beside this one")
        for name in PROGRAMS:
            with self.subTest(program=name):
                self.assertRegex(output("readelf", "-sW", folder / name), r"__\w+_chk\b(?<!__stack_chk)")


if __name__ == "__main__":
    Programs.folder = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
