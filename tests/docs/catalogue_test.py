#!/usr/bin/env python3
"""The translations: each stands for a text of the sources, and has its replacement fields.

    catalogue_test.py SOURCE_DIR [unittest options]
"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

CPP_FOLDERS = ("client", "common", "daemon", "yaml", "process")
CPP_TOKEN = re.compile(
    r'(?P<skip>//[^\n]*|/\*.*?\*/|\'(?:[^\'\\\n]|\\.)+\')'
    r'|(?:\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\((?P<raw>.*?)\)(?P=mark)")'
    r'|(?:\b(?:u8|[uUL]))?"(?P<text>(?:[^"\\\n]|\\.)*)"', re.S)
# Strings of TypeScript and the text between two tags; comments go first.
TS_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
TS_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"|\'((?:[^\'\\\n]|\\.)*)\'|`((?:[^`\\]|\\.)*)`|>([^<>{}]+)<', re.S)
PHRASE = re.compile(r"\bphrase\('([^'\\]*)'")  # also in a `${}`
ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.S)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "e": "\033"}
FIELD = re.compile(r"\{(\d*)(:[^{}]*)?\}")
NAMED = re.compile(r"\{[A-Za-z_]\w*\}")  # {zone} of the page, {micro_batch} of a command
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"\s*$')


def unescaped(text):
    def character(match):
        code = match.group(1)
        if code[0] == "x" and len(code) > 1:
            return chr(int(code[1:], 16))
        if code[0] in "01234567":
            return chr(int(code, 8))
        return ESCAPES.get(code, code)
    return ESCAPE.sub(character, text)


def literals(source):
    """(line, text) of the string literals of C++, those next to each other joined."""
    found, end = [], None
    for match in CPP_TOKEN.finditer(source):
        if match.group("skip") is not None:
            if match.group("skip")[0] == "/" and end is not None and not source[end:match.start()].strip():
                end = match.end()  # a comment between two parts
            continue
        raw = match.group("raw")
        text = raw if raw is not None else unescaped(match.group("text"))
        if end is not None and not source[end:match.start()].strip():
            found[-1] = (found[-1][0], found[-1][1] + text)
        else:
            found.append((source.count("\n", 0, match.start()) + 1, text))
        end = match.end()
    return found


def page_strings(source):
    """The strings of TypeScript and the texts of its elements, blanks as the page shows them."""
    for match in TS_STRING.finditer(TS_COMMENT.sub(" ", source)):
        text = next(part for part in match.groups() if part is not None)
        yield unescaped(text)
        yield " ".join(text.split())


def cpp_texts(top):
    """The strings of the C++ sources, and each line of them, as texts are translated line by line."""
    known = set()
    for folder in CPP_FOLDERS:
        for path in (top / folder).rglob("*"):
            if path.suffix in (".cc", ".h"):
                for _, text in literals(path.read_text()):
                    known |= {text, *text.split("\n")}
    return known


def page_texts(top):
    """The strings of the web page; in a catalogue they have the context "page"."""
    known = set()
    for path in (top / "web" / "src").rglob("*"):
        if path.suffix in (".ts", ".tsx"):
            text = path.read_text()
            known |= set(page_strings(text)) | set(PHRASE.findall(text))
    return known


def messages(po):
    """The entries of a catalogue but for its header, as {"msgid", "msgstr", "flags", "line"}."""
    entries, entry, key = [], None, None
    for number, line in enumerate(po.splitlines(), 1):
        word = line.split(" ", 1)[0]
        if word in ("msgid", "msgstr", "msgctxt", "msgid_plural") or word.startswith("msgstr["):
            if entry is None or (word in ("msgid", "msgctxt") and "msgid" in entry):
                entry = {"flags": "", "line": number}
                entries.append(entry)
            key = word
            entry[key] = ""
        elif line.startswith("#") or not line.strip():
            if line.startswith("#,"):
                entry = {"flags": line, "line": number}
                entries.append(entry)
            elif entry is not None and "msgstr" in entry:
                entry = None
            continue
        entry[key] += unescaped(QUOTED.search(line).group(1))
    return [each for each in entries if each.get("msgid") != ""]


def fields(text):
    """Number and format of each replacement field, as fmt counts them; None where fmt takes no such text."""
    found = FIELD.findall(text.replace("{{", "").replace("}}", ""))
    if len({bool(number) for number, _ in found}) > 1:
        return None  # fmt takes all numbered or none
    return sorted((int(number) if number else at, form) for at, (number, form) in enumerate(found))


def neighbours(text):
    """Pairs of fields with nothing between: where one ends and the other begins cannot be seen in a sentence."""
    pairs, last, end = set(), None, None
    for at, match in enumerate(FIELD.finditer(text.replace("{{", "").replace("}}", ""))):
        number = int(match.group(1)) if match.group(1) else at
        if end == match.start():
            pairs.add((last, number))
        last, end = number, match.end()
    return pairs


class Readers(unittest.TestCase):
    def test_literals_next_to_each_other_are_one(self):
        self.assertEqual(literals('f("a {} "\n  // why\n  "b\\n", R"(c\\d)", \'"\', "e\\"")  // "no"\n'),
                         [(1, "a {} b\n"), (3, "c\\d"), (3, 'e"')])

    def test_texts_of_the_page_are_found(self):
        self.assertLessEqual({"a b", "c", "d"}, set(page_strings('<p>a\n  b</p> // "x"\n t("c", `d`)')))

    def test_fields_are_those_of_fmt(self):
        self.assertEqual(fields("{} of {:.1f}, {{x}}"), [(0, ""), (1, ":.1f")])
        self.assertEqual(fields("{1:.1f} {0}"), fields("{} {:.1f}"))
        self.assertIsNone(fields("{} {0}"))
        self.assertEqual(neighbours("{}{}: {}"), {(0, 1)})
        self.assertEqual(neighbours("{2}: {0}{1}"), {(0, 1)})

    def test_entries_are_read(self):
        po = 'msgid ""\nmsgstr "Language: ko\\n"\n\n#, fuzzy\nmsgid "a"\nmsgstr ""\n"b\\n"\n\n# c\nmsgid "d"\nmsgstr "e"\n'
        self.assertEqual([(each["msgid"], each["msgstr"], each["flags"]) for each in messages(po)],
                         [("a", "b\n", "#, fuzzy"), ("d", "e", "")])


class Catalogues(unittest.TestCase):
    top = None

    @classmethod
    def setUpClass(cls):
        cls.catalogues = {path: messages(path.read_text()) for path in sorted((cls.top / "po").glob("*.po"))}

    def of_each_entry(self):
        for path, entries in self.catalogues.items():
            for entry in entries:
                yield f"{path.name}:{entry['line']}: {entry.get('msgid')!r}", entry

    def test_there_are_catalogues_with_many_texts(self):
        self.assertTrue(self.catalogues)
        for path, entries in self.catalogues.items():
            self.assertGreater(len(entries), 100, path.name)

    def test_every_text_is_one_of_the_sources(self):
        known = {None: cpp_texts(self.top), "page": page_texts(self.top)}
        words = {word for text in known[None] for word in re.findall(r"[A-Za-z]+", text)}
        known["composed"] = {entry["msgid"] for _, entry in self.of_each_entry() if entry.get("msgctxt") == "composed"
                          and all(word in words or word.removesuffix("s") in words
                                  for word in re.findall(r"[A-Za-z]+", entry["msgid"]))}
        self.assertEqual([where for where, entry in self.of_each_entry()
                          if entry["msgid"] not in known.get(entry.get("msgctxt"), ())], [])

    def test_fields_agree(self):
        for where, entry in self.of_each_entry():
            self.assertIsNotNone(fields(entry["msgid"]), where)
            self.assertEqual(fields(entry["msgid"]), fields(entry["msgstr"]), where)

    def test_names_in_braces_agree(self):
        for where, entry in self.of_each_entry():
            self.assertEqual(sorted(NAMED.findall(entry["msgid"])), sorted(NAMED.findall(entry["msgstr"])), where)

    def test_fields_with_nothing_between_stay_together(self):
        for where, entry in self.of_each_entry():
            self.assertLessEqual(neighbours(entry["msgid"]), neighbours(entry["msgstr"]), where)

    def test_blanks_and_newlines_at_the_ends_agree(self):
        for where, entry in self.of_each_entry():
            english, translated = entry["msgid"], entry["msgstr"]
            self.assertEqual([english.startswith("\n"), english.endswith("\n")],
                             [translated.startswith("\n"), translated.endswith("\n")], where)
            self.assertEqual(english.count("\n"), translated.count("\n"), f"{where}: lines")

    def test_nothing_is_empty_fuzzy_or_there_twice(self):
        for path, entries in self.catalogues.items():
            seen = set()
            for entry in entries:
                where = f"{path.name}:{entry['line']}: {entry.get('msgid')!r}"
                self.assertTrue(entry.get("msgstr", "").strip(), where)
                self.assertNotIn("fuzzy", entry["flags"], where)
                key = (entry.get("msgctxt"), entry["msgid"])
                self.assertNotIn(key, seen, where)
                seen.add(key)

    def test_msgfmt_takes_it(self):
        if shutil.which("msgfmt") is None:
            self.skipTest("msgfmt is not installed")
        for path in self.catalogues:
            done = subprocess.run(["msgfmt", "--check", "--output-file=/dev/null", path], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), path.name)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: catalogue_test.py SOURCE_DIR [unittest options]")
    Catalogues.top = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
