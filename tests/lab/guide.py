"""The pages for administrators as steps: what they say to type, in order.

Fenced blocks are as in tutorials (tests/tutorials/tutorial.py), with more words:

    ```console as=user host=other    typed by an ordinary user (else root), on another host than the daemon's (else there)
    ```yaml add=/etc/FILE            these keys are written into that file, in the place of its own
    ```yaml check=/etc/FILE          the daemon accepts that file with these keys; the file stays as it is

A command is also code in a line that has more than one word and begins with a program. What a command shows is compared only
where the page shows something. A block that is indented, or of sh or no language, is refused.
"""
import dataclasses
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tutorials"))
import tutorial  # noqa: E402

INLINE = re.compile(r"`([^`]+)`")
TOP_LEVEL_KEY = re.compile(r"^([a-z_]+):")


@dataclasses.dataclass
class Step:
    page: str
    section: str
    line: int
    command: tutorial.Command | None = None
    user: str = "root"
    host: str = ""
    how: str = ""  # "add", "check": keys of the file `path`
    path: str = ""
    text: str = ""

    def __str__(self):
        return f"{self.page}, line {self.line}"


def steps_of(page, text, is_program):
    """The steps of a page; is_program(word) says whether a word is one."""
    blocks = {block.line: block for block in tutorial.blocks_of(text)}
    steps, section, block = [], "", None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            block = None if block else blocks[number + 1]
            steps += steps_of_block(page, section, block) if block else []
        elif block:
            continue
        elif line.startswith("#"):
            section = line.lstrip("# ")
        elif line.startswith("    ") and line.strip():
            raise ValueError(f"{page}, line {number}: what is typed stands in a console block, settings in one of yaml")
        else:
            steps += [Step(page, section, number, tutorial.Command(number, code)) for code in INLINE.findall(line.replace("\\|", "|"))
                      if " " in code and is_program(code.split(" ")[0])]
    return steps


def steps_of_block(page, section, block):
    words = block.words
    if block.language in tutorial.UNRUN:
        raise ValueError(f"{page}, line {block.line}: commands stand in a console block, so that they are run")
    if block.language == "console":
        unknown = set(words) - {"as", "host", "exit", "live"}
        if unknown:
            raise ValueError(f"{page}, line {block.line}: a console block has no word {', '.join(sorted(unknown))}")
        return [Step(page, section, command.line, command, words.get("as", "root"), words.get("host", ""))
                for command in tutorial.commands_of(block)]
    return [Step(page, section, block.line, how=how, path=words[how], text="\n".join(block.lines) + "\n")
            for how in ("add", "check") if how in words]


def with_keys(settings, added):
    """The text of a settings file with the keys of `added` in the place of its own."""
    named = {found.group(1) for found in map(TOP_LEVEL_KEY.match, added.splitlines()) if found}
    kept, skips = [], False
    for line in settings.splitlines():
        found = TOP_LEVEL_KEY.match(line)
        skips = found.group(1) in named if found else skips and line.startswith((" ", "#"))
        if not skips:
            kept.append(line)
    return "\n".join(kept) + "\n" + added
