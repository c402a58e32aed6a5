#!/usr/bin/env python3
"""The man pages have every command, option and key of the programs, and no others: man_test.py BIN PAGES.

The other side is what the programs themselves print: --help, `gpuadvised --check-config`, `gpuadvise reference`.
"""
import gzip
import pathlib
import re
import subprocess
import sys
import unittest

BIN = None
PAGES = None
OPTION = re.compile(r"(?<![\w-])(--?[A-Za-z][\w-]*)")


def output(*words, status=0):
    done = subprocess.run([BIN / words[0], *words[1:]], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == status, (words, done.stderr)
    return done.stdout


def plain(roff):
    for mark, text in ((r"\\f[BIRP]", ""), (r"\\-", "-"), (r"\\&", ""), (r"\\(?!\w)", "")):
        roff = re.sub(mark, text, roff)
    return roff


def roff_of(page):
    return gzip.decompress((PAGES / f"{page}.gz").read_bytes()).decode()


def text_of(page):
    return plain(roff_of(page))


def bold_lines(roff):
    """The lines that begin in bold: terms, with their explanation indented below."""
    return [plain(line) for line in roff.splitlines() if line.startswith("\\fB")]


def options_of_help(text):
    """The names in the columns of --help: in a line that begins with blanks and a dash, what stands before its description."""
    names = set()
    for line in text.splitlines():
        if re.match(r"  -", line):
            names |= set(OPTION.findall(re.split(r"  +", line.strip())[0]))
    return names


def terms(roff):
    """The option names that a page explains."""
    return {name for line in bold_lines(roff) if line.startswith("-") for name in OPTION.findall(line)}


class Pages(unittest.TestCase):
    def test_gpuadvise_has_every_command_with_its_options(self):
        page = roff_of("gpuadvise.1")
        chapters = dict(re.findall(r'^\.SS (\S+)\n(.*?)(?=^\.S[SH] )', page, re.M | re.S))
        listed = re.findall(r"^  ([a-z-]+)  ", output("gpuadvise", "--help").split("Subcommands:\n")[1], re.M)
        self.assertEqual(sorted(chapters), sorted(listed))
        for command in listed:
            with self.subTest(command=command):
                wanted = options_of_help(output("gpuadvise", command, "--help")) - {"-h", "--help"}
                self.assertEqual(terms(chapters[command]), wanted)

    def test_gpuadvised_has_its_options(self):
        self.assertEqual(terms(roff_of("gpuadvised.8")), options_of_help(output("gpuadvised", "--help")))

    def test_gpuadvise_backtest_has_its_options(self):
        wanted = options_of_help(output("gpuadvise-backtest", "--help"))
        self.assertIn("--sacct", wanted)
        self.assertEqual(terms(roff_of("gpuadvise-backtest.1")), wanted)

    def test_gpuadvised_yaml_has_every_key(self):
        empty = PAGES / "no-settings.yaml"
        empty.write_text("")
        checked = output("gpuadvised", "--check-config", "--config", empty)
        wanted = re.findall(r"^([a-z_]+): ", checked, re.M)
        self.assertGreater(len(wanted), 20)
        found = [line.partition(":")[0] for line in bold_lines(roff_of("gpuadvised.yaml.5").split(".SH KEYS")[1])
                 if re.match(r"[a-z_]+:", line)]
        self.assertEqual(sorted(found), sorted(wanted))

    def test_train_yaml_has_every_key(self):
        wanted = re.findall(r"^([a-z]\S*)$", output("gpuadvise", "reference"), re.M)
        self.assertGreater(len(wanted), 60)
        page = roff_of("train.yaml.5").split(".SH KEYS")[1].split(".SH EXAMPLE")[0]
        self.assertEqual(sorted(bold_lines(page)), sorted(wanted))

    def test_templates_hold_no_mark_that_nothing_replaced(self):
        for page in sorted(PAGES.glob("*.gz")):
            self.assertNotRegex(text_of(page.stem), r"(?m)^@[A-Z_]+@$", page.name)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    PAGES = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
