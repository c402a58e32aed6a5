#!/usr/bin/env python3
"""bench/seeds.md: its commands print what it shows, and its tables say nothing else.

    seeds_test.py BIN            compares
    seeds_test.py BIN --update   writes the outputs anew; the tables are for a person to correct
"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = TOP / "bench" / "seeds.md"
BLOCK = re.compile(r"```console\n(.*?)```\n", re.DOTALL)
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
BIN = ""


def run(command):
    environment = {"PATH": f"{BIN}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "COLUMNS": "80",
                   "GPUADVISE_SOCKET": "/nonexistent/gpuadvised.sock", "HOME": "/nonexistent"}
    done = subprocess.run(["bash", "-c", command], cwd=TOP, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout


def filled(block):
    """The block with what its commands print today."""
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"{command}\n{run(command[2:])}" for command in commands)


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def own_numbers(section):
    """Each number under a column named gpuadvise, with its row."""
    columns = None
    for line in section.splitlines():
        if not line.startswith("|"):
            columns = None
        elif columns is None:
            columns = [i for i, head in enumerate(cells(line)) if head.startswith("gpuadvise")]
        else:
            row = cells(line)
            for i in columns:
                for number in NUMBER.findall(row[i]):
                    yield number, line


class Seeds(unittest.TestCase):
    def test_every_command_prints_what_is_shown(self):
        blocks = BLOCK.findall(DOCUMENT.read_text())
        self.assertGreaterEqual(len(blocks), 5)
        for block in blocks:
            self.assertEqual(block, filled(block))
            for output in re.split(r"^\$ .*$", block, flags=re.MULTILINE)[1:]:
                self.assertNotEqual(output.strip(), "", block)

    def test_the_tables_have_no_number_that_no_command_printed(self):
        sections = re.split(r"^## ", DOCUMENT.read_text(), flags=re.MULTILINE)[1:]
        self.assertEqual(len(sections), 6)
        checked = 0
        for section in sections:
            shown = "\n".join(line for block in BLOCK.findall(section) for line in block.splitlines()
                              if not line.startswith("$ "))
            printed = set(NUMBER.findall(shown))
            for number, line in own_numbers(section):
                self.assertIn(number, printed, line)
                checked += 1
        self.assertGreater(checked, 80)


if __name__ == "__main__":
    BIN = sys.argv.pop(1)
    if "--update" in sys.argv:
        text = DOCUMENT.read_text()
        DOCUMENT.write_text(BLOCK.sub(lambda m: f"```console\n{filled(m[1])}```\n", text))
    else:
        unittest.main()
