#!/usr/bin/env python3
"""The documents: lines that a terminal shows, links that lead somewhere, plain words, and messages that the programs have.

    prose_test.py SOURCE_DIR [unittest options]
"""
import pathlib
import re
import sys
import unittest

LONGEST = 160
AVOIDED = ("how right", "not to be had", "nobody can agree", "more bring too little", "whoever", "shown nobody", "team guide")
SOURCES = ("client", "common", "daemon")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchor_of(heading):
    """GitHub's anchor of a heading."""
    text = re.sub(r"[`*\[\]]|\([^)]*\.md[^)]*\)", "", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def prose(text):
    """(number, line) of what is not code."""
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code:
            yield number, line


class Documents(unittest.TestCase):
    top = None

    def pages(self):
        pages = sorted([*self.top.glob("*.md"), *self.top.glob("docs/**/*.md"), *self.top.glob("bench/*.md"),
                        *self.top.glob("integrations/plugins/*.md")])
        self.assertGreater(len(pages), 20)
        return pages

    def test_lines_fit(self):
        long = [f"{page.relative_to(self.top)}:{number}: {len(line)}"
                for page in self.pages() for number, line in prose(page.read_text())
                if len(line) > LONGEST and not line.startswith("|")]  # a table is as wide as its rows
        self.assertEqual(long, [], f"lines over {LONGEST} characters")

    def test_links_lead_somewhere(self):
        dead = []
        for page in self.pages():
            for number, line in prose(page.read_text()):
                for target in LINK.findall(line):
                    if re.match(r"[a-z]+:", target):
                        continue
                    name, _, anchor = target.partition("#")
                    path = (page.parent / name).resolve() if name else page
                    if not path.exists():
                        dead.append(f"{page.relative_to(self.top)}:{number}: {target}")
                    elif anchor and path.suffix == ".md":
                        anchors = {anchor_of(line.lstrip("#")) for _, line in prose(path.read_text())
                                   if line.startswith("#")}
                        if anchor not in anchors:
                            dead.append(f"{page.relative_to(self.top)}:{number}: {target} (no such heading)")
        self.assertEqual(dead, [])

    def test_words_are_plain(self):
        found = [f"{page.relative_to(self.top)}:{number}: {word}"
                 for page in self.pages() for number, line in prose(page.read_text())
                 for word in AVOIDED if word in line.lower()]
        self.assertEqual(found, [])

    def test_messages_of_troubleshooting_are_those_of_the_programs(self):
        """What the first column quotes, between the parts that vary (…, figures), is in the sources."""
        sources = "".join(file.read_text() for folder in SOURCES for file in sorted((self.top / folder).rglob("*.cc")))
        sources = re.sub(r'"\s*\n\s*"', "", sources)  # literals next to each other
        wrong, checked = [], 0
        for number, line in prose((self.top / "docs/troubleshooting.md").read_text()):
            for message in re.findall(r"`([^`]+)`", line.split("|")[1]) if line.startswith("|") else []:
                for part in re.split(r"…|\b[A-Z]{4,}\b|\d+", message):
                    part = part.strip(" :;,.'()")
                    checked += len(part) > 3
                    if len(part) > 3 and part not in sources:
                        wrong.append(f"docs/troubleshooting.md:{number}: {part}")
        self.assertEqual(wrong, [])
        self.assertGreater(checked, 20)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: prose_test.py SOURCE_DIR [unittest options]")
    Documents.top = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
