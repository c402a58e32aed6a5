#!/usr/bin/env python3
"""A man page as scdoc, from its text and what the programs say of themselves: make_page.py SETTINGS GPUADVISE... < PAGE.scd

Runs while gpuadvise is built; GPUADVISE is its program, behind the words of an emulator where it is another architecture's.
A line of the text that is only a mark is replaced:
  @COMMANDS@    the commands of gpuadvise with their options, from --help
  @TRAIN_KEYS@  the keys of a train.yaml, from `gpuadvise reference --markdown`
  @SETTINGS@    the keys of gpuadvised.yaml with the comments of SETTINGS, the shipped file
The options of the other programs stand in the texts; tests/docs/man_test.py compares them with --help.
"""
import itertools
import os
import re
import subprocess
import sys


def plain(text):
    """`text` as it is: scdoc's own marks lose their meaning."""
    return re.sub(r"([\\*_#`~\[\]|<>])", r"\\\1", text)


def without_markdown(text):
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("`", "")


def below(text):
    """A paragraph under the line before it."""
    return f"\t{plain(text)}\n\n"


def literal(lines, indent=""):
    """Lines that keep their shape."""
    return "".join(f"{indent}{line}\n" for line in ["```", *lines, "```"]) + "\n"


def option_text(term, description):
    """`term`: as --help has it, "-t,--state STATE"."""
    names, _, value = term.partition(" ")
    head = ", ".join(f"*{plain(name)}*" for name in names.split(","))
    return head + (f" _{plain(value.replace('_', '-'))}_" if value else "") + "\n" + below(description)


def options_of(lines):
    """(term, description) of the lines below a heading of --help: descriptions begin in column 32, after a long term in the next line."""
    options = []
    for line in lines:
        if line.startswith(" " * 32):
            options[-1] = (options[-1][0] + options[-1][1], line.strip())
        else:
            options.append((line[:32], line[32:]))
    return [(term.strip(), description) for term, description in options]


def command_text(name, shown):
    """`shown`: what `gpuadvise NAME --help` prints."""
    description, usage, *rest = shown.splitlines()
    arguments = re.findall(r"(\[?)([^\s\[\].]+)(\.\.\.)?\]?", usage.split(" [OPTIONS]")[1])
    text = f"## {name}\n\n*gpuadvise {name}* \\[OPTIONS\\]"
    for optional, word, many in arguments:
        word = plain(word) + (" ..." if many else "")
        text += f" \\[{word}\\]" if optional else f" {word}"
    text += f"\n\n{plain(description)}.\n\n"
    # Headings with their options, and blank lines, until the footer.
    while rest and (not rest[0] or rest[0] == "Positionals:" or "".join(rest[1:2]).startswith("  -")):
        heading = rest.pop(0)
        below_it = list(itertools.takewhile(bool, rest)) if heading else []
        del rest[:len(below_it)]
        if heading not in ("", "Positionals:", "Options:"):
            text += f"{plain(heading)}\n\n"
        for term, said in options_of(below_it):
            if heading == "Positionals:":
                term = term.split(" ")[0]
            if term != "-h,--help":  # every command has it
                text += option_text(term, said)
    footer = "\n".join(rest).strip("\n")
    return text + (literal(footer.splitlines()) if footer else "")


def commands(gpuadvise):
    listed = gpuadvise("--help").split("\nSubcommands:\n")[1]
    names = re.findall(r"^  ([a-z-]+)  ", listed.split("\n\n")[0], re.M)
    return "".join(command_text(name, gpuadvise(name, "--help")) for name in names)


def train_keys(gpuadvise):
    text, section = "", ""
    for block in re.split(r"^(?=## |- \*\*)", gpuadvise("reference", "--markdown"), flags=re.M)[1:]:
        lines = [line.strip() for line in block.splitlines()]
        if lines[0].startswith("## "):
            section = "" if lines[0] == "## The file" else lines[0][3:].strip("`")
            text += f"## {section}\n\n" if section else ""
            continue
        name, value, meaning = re.fullmatch(r"- \*\*`([^`]+)`\*\* — (.*?)<br> ?(.*?) *", " ".join(lines)).groups()
        path = f"{section}.{name}" if section else name
        text += f"*{plain(path)}*\n" + below(without_markdown(value)) + below(without_markdown(meaning))
    return text


def comment_text(lines, indent):
    """Comment lines as paragraphs; those in columns or further in keep their shape."""
    text = ""
    for is_shaped, group in itertools.groupby(lines, lambda line: "  " in line):
        text += literal(group, indent) if is_shaped else f"{indent}{plain(' '.join(group))}\n\n"
    return text


def settings(path):
    """Headings "# ---- who ... ----", comments, and the keys below them: each in bold with its default, then what it may be."""
    text, comment, keys = "", [], []
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for line in [*lines, ""]:
        heading = re.match(r"# ---- (.*?) --", line)
        if heading or not line:
            text += "".join(f"{key}{'' if key is keys[-1] else '++'}\n" for key in keys)
            text += comment_text(comment, "\t" if keys else "")
            text += f"## {plain(heading[1])}\n\n" if heading else ""
            comment, keys = [], []
        elif line.startswith("#"):
            comment.append(line[2:])
        else:
            key, _, words = line.partition("# ")
            indent = "    " if line.startswith(" ") else ""
            keys.append(indent + (f"*{plain(key.strip())}*  " if key.strip() else "") + plain(words))
    return text


def main():
    settings_file, *program = sys.argv[1:]

    def gpuadvise(*words):
        return subprocess.run([*program, *words], check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout

    marks = {"@COMMANDS@\n": lambda: commands(gpuadvise), "@TRAIN_KEYS@\n": lambda: train_keys(gpuadvise),
             "@SETTINGS@\n": lambda: settings(settings_file)}
    for line in sys.stdin:
        sys.stdout.write(marks[line]() if line in marks else line)


if __name__ == "__main__":
    main()
