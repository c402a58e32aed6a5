#!/usr/bin/env python3
"""Commands that the documents show exist, with their options: commands_test.py BIN [unittest options].

A command is a line of an indented or fenced block, or code in a line, that begins with `gpuadvise WORD`, also behind `$ `
or `sudo `. The other side is what --help prints.
"""
import pathlib
import re
import subprocess
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ("gpuadvise", "gpuadvised", "gpuadvise-backtest")
INLINE = re.compile(r"`([^`]+)`")
OPTION = re.compile(r"(?<!\S)--[a-z][\w-]*")
ENDS = re.compile(r" -- |\s*(?:[|;#>]|&&|$)| {2,}")  # of the words that are gpuadvise's own
UNLISTED = ("complete",)  # what the shells' completions ask; no help lists it
BIN = None


def pages():
    return sorted([*TOP.glob("*.md"), *TOP.glob("docs/**/*.md"), *TOP.glob("bench/*.md"), *TOP.glob("integrations/plugins/*.md")])


def shown(text):
    """What a page shows as code: (line number, text)."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            yield number, line.strip()
        else:
            for code in INLINE.findall(line):
                yield number, code


def commands(text):
    """(line number, program, its words) for each command of ours."""
    for number, code in shown(text):
        code = re.sub(r"^(?:\$ |sudo |export \S+ |[A-Z_]+=\S+ )+", "", code).replace("\\|", "/")
        program = code.split(" ")[0]
        if program in PROGRAMS and " " in code:
            yield number, program, ENDS.split(code.split(" ", 1)[1], 1)[0]


class Commands(unittest.TestCase):
    helps = {}

    def help_of(self, *words):
        if words not in self.helps:
            done = subprocess.run([BIN / words[0], *words[1:], "--help"], capture_output=True, text=True, check=False,
                                  env={"LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}, timeout=60)
            self.helps[words] = done.stdout if done.returncode == 0 else ""
        return self.helps[words]

    def complaint(self, program, words):
        text = self.help_of(program)
        if program == "gpuadvise" and re.match(r"[a-z]", words):
            name = re.match(r"[\w-]+", words)[0]
            if name in UNLISTED:
                return ""
            text = self.help_of(program, name)
            if f"Usage: gpuadvise {name} " not in text:
                return f"no command {name}"
        unknown = [option for option in OPTION.findall(words)
                   if option not in ("--help", "--version") and not re.search(rf"{option}(?![\w-])", text)]
        return f"no option {', '.join(unknown)}" if unknown else ""

    def test_every_command_that_is_shown_exists(self):
        found, wrong = 0, []
        for page in pages():
            for number, program, words in commands(page.read_text()):
                found += 1
                complaint = self.complaint(program, words)
                if complaint:
                    wrong.append(f"{page.relative_to(TOP)}:{number}: {program} {words}: {complaint}")
        self.assertEqual(wrong, [])
        self.assertGreater(found, 150)

    def test_a_command_or_option_that_does_not_exist_is_found(self):
        text = "Type `gpuadvise rank x.yaml`, or:\n\n    $ gpuadvise jobs --quick\n    gpuadvise run -- train --fast\n"
        complaints = [self.complaint(program, words) for _, program, words in commands(text)]
        self.assertEqual(complaints, ["no command rank", "no option --quick", ""])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: commands_test.py BIN [unittest options]")
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
