#!/usr/bin/env python3
"""What hardens the programs is in them: hardened_test.py BIN.

BIN holds the programs of this build. C functions that check their buffers come only with optimisation: they are looked
for in the flags that the preset `release` compiles with, and in what its compiler makes of a small program.
"""
import json
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ("gpuadvised", "gpuadvise", "gpuadvise-collect", "gpuadvise-collect-api", "gpuadvise-backtest")
HAS_MARKS = platform.machine() == "x86_64"  # of control flow
COPIES = """#include <cstring>
int main(int count, char** words) { char room[8]; std::strcpy(room, words[count - 1]); return room[0]; }
"""


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


@unittest.skipUnless(shutil.which("readelf") and shutil.which("objdump"), "needs readelf and objdump")
class Programs(unittest.TestCase):
    folder: pathlib.Path

    def for_each(self, check):
        for name in PROGRAMS:
            with self.subTest(program=name):
                check(str(self.folder / name))

    def test_lie_at_addresses_that_nobody_knows(self):
        def check(program):
            self.assertRegex(output("readelf", "-h", program), r"Type: +DYN")
            self.assertRegex(output("readelf", "-d", program), r"FLAGS_1.*PIE")
        self.for_each(check)

    def test_relocations_are_read_only(self):
        def check(program):
            self.assertIn("GNU_RELRO", output("readelf", "-lW", program))
            self.assertRegex(output("readelf", "-d", program), r"BIND_NOW|FLAGS_1.*NOW")
        self.for_each(check)

    def test_no_stack_is_executable(self):
        def check(program):
            stack = next(line for line in output("readelf", "-lW", program).splitlines() if "GNU_STACK" in line)
            self.assertNotIn("E", stack.split()[6], stack)
        self.for_each(check)

    def test_stacks_are_guarded_and_jumps_are_marked(self):
        def check(program):
            self.assertIn("__stack_chk_fail", output("readelf", "-sW", program))
            if HAS_MARKS:
                main = output("objdump", "-d", "--no-show-raw-insn", "--disassemble=main", program)
                self.assertIn("endbr64", main)
        self.for_each(check)


class Release(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        subprocess.run(["cmake", "--preset", "release", "-S", ROOT, "-B", self.folder / "build"], check=True,
                       capture_output=True, cwd=ROOT)
        commands = json.loads((self.folder / "build" / "compile_commands.json").read_text())
        self.commands = [entry["command"].split() for entry in commands]

    def test_every_file_is_compiled_with_the_flags(self):
        wanted = ["-fstack-protector-strong", "-D_FORTIFY_SOURCE=2", "-O2", "-fPIE"]
        wanted += ["-fcf-protection"] if HAS_MARKS else []
        for words in self.commands:
            for flag in wanted:
                self.assertIn(flag, words, words[-1])

    @unittest.skipUnless(shutil.which("readelf"), "needs readelf")
    def test_checks_the_buffers_of_c_functions(self):
        source = self.folder / "copies.cc"
        source.write_text(COPIES)
        words = self.commands[0]
        compiler = next(word for word in words if pathlib.Path(word).name != "ccache")
        flags = [word for word in words if word.startswith(("-O", "-U", "-D_FORTIFY", "-f"))]
        subprocess.run([compiler, *flags, source, "-o", self.folder / "copies"], check=True, capture_output=True)
        self.assertIn("__strcpy_chk", output("readelf", "-sW", self.folder / "copies"))


if __name__ == "__main__":
    Programs.folder = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
