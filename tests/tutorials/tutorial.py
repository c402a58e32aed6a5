"""A tutorial as a test: its commands are run in order, in one shell, and what they show is compared.

What counts in a Markdown file are its fenced blocks:

    ```console               commands after "$ " ("> " goes on), then what they show, standard error too
    ```console live          the same on a cluster that changes: numbers, times and blanks may differ
    ```console exit=3        the last command ends with this status (else 0)
    ```yaml file=train.yaml  a file that is written before the commands below it; any language

A line "…" stands for any lines. Blocks of sh, bash, shell or of no language are refused, so that no
command of a tutorial is left out; other blocks without file= are not looked at.
"""
import contextlib
import dataclasses
import os
import pathlib
import re
import subprocess
import tempfile

UNRUN = ("", "sh", "bash", "shell")
ANY_LINES = "…"
SECONDS_FOR_ALL = 150
SHELL = ("bash", "--noprofile", "--norc")


@dataclasses.dataclass
class Block:
    line: int  # of its first line in the document, from 1
    language: str
    words: dict  # what follows the language: {"live": "", "exit": "3"}
    lines: list


@dataclasses.dataclass
class Command:
    line: int
    text: str
    shown: list = dataclasses.field(default_factory=list)
    live: bool = False
    status: int = 0


def blocks_of(text):
    """The fenced blocks, in order."""
    blocks, open_block = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("```"):
            if open_block:
                open_block.lines.append(line)
        elif open_block:
            blocks.append(open_block)
            open_block = None
        else:
            language, *words = line[3:].split() or [""]
            pairs = dict(word.partition("=")[::2] for word in words)
            open_block = Block(number + 1, language, pairs, [])
    if open_block:
        raise ValueError(f"line {open_block.line}: the block does not end")
    return blocks


def commands_of(block):
    """The commands of a console block, each with the lines that it shows."""
    commands = []
    for number, line in enumerate(block.lines, block.line):
        if line.startswith("$ "):
            commands.append(Command(number, line[2:], live="live" in block.words))
        elif line.startswith("> ") and commands and not commands[-1].shown:
            commands[-1].text += "\n" + line[2:]
        elif commands:
            commands[-1].shown.append(line.rstrip())
        else:
            raise ValueError(f"line {number}: a console block begins with '$ '")
    if commands:
        commands[-1].status = int(block.words.get("exit", 0))
    return commands


def steps_of(text):
    """Files to write (name, contents) and commands to run, in order."""
    steps = []
    for block in blocks_of(text):
        if block.language == "console":
            steps += commands_of(block)
        elif "file" in block.words:
            steps.append((block.words["file"], "\n".join(block.lines) + "\n"))
        elif block.language in UNRUN:
            raise ValueError(f"line {block.line}: commands stand in a console block, so that they are run")
    return steps


def run(steps, folder, environment, shell=SHELL):
    """Runs the steps in one shell in `folder`. For each command: its status and the lines it showed."""
    with tempfile.TemporaryDirectory() as results:
        os.chmod(results, 0o777)  # the shell may be another user's
        return _run(steps, folder, environment, shell, pathlib.Path(results))


def _run(steps, folder, environment, shell, results):
    script, commands = ["set +e"], []
    for step in steps:
        if isinstance(step, tuple):
            name, contents = step
            if pathlib.PurePath(name).is_absolute() or ".." in pathlib.PurePath(name).parts:
                raise ValueError(f"{name}: a tutorial writes files in its own folder only")
            held = results / f"file.{len(script)}"
            held.write_text(contents)
            script.append(f"mkdir -p \"$(dirname '{name}')\"; cp '{held}' '{name}'")
        else:
            at = results / f"{len(commands)}"
            commands.append(at)
            script.append(f"{{ {step.text}\n}} >'{at}.out' 2>&1; echo $? >'{at}.status'")
    with contextlib.suppress(subprocess.TimeoutExpired):  # what has not ended then has no status
        subprocess.run(shell, input="\n".join(script) + "\n", text=True, cwd=folder, env=environment, check=False,
                       timeout=SECONDS_FOR_ALL)
    outcomes = []
    for at in commands:
        status = pathlib.Path(f"{at}.status")
        shown = pathlib.Path(f"{at}.out")
        lines = shown.read_text(errors="replace").splitlines() if shown.exists() else []
        outcomes.append((int(status.read_text()) if status.exists() else None,
                         [line.rstrip() for line in lines]))
    return outcomes


def without_what_varies(line):
    """A line with starts, numbers, times, bars and the width of columns taken out."""
    line = re.sub(r"\s+", " ", line)
    line = re.sub(r"^ ?starts (now|in \S.*)$", "starts #", line)  # at one hour of the day all may be free
    line = re.sub(r"\b(today|tomorrow|now|Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b", "#", line)
    line = re.sub(r"\d[\d,.:]*", "#", line)
    line = re.sub(r"# [dhms]\b", "#", line)
    return re.sub(r"#( #)+", "#", re.sub("▪+", "▪", line)).strip()


def agrees(expected, shown):
    """Whether the lines are those expected; ANY_LINES stands for any."""
    if not expected:
        return not shown
    if expected[0] == ANY_LINES:
        return any(agrees(expected[1:], shown[skipped:]) for skipped in range(len(shown) + 1))
    return bool(shown) and expected[0] == shown[0] and agrees(expected[1:], shown[1:])


def complaint_about(command, status, shown):
    """What is wrong with what a command did; "" nothing."""
    if status is None:
        return "\n".join([f"line {command.line}: no end within {SECONDS_FOR_ALL} s, or the shell ended before",
                          f"  $ {command.text}", *shown])
    expected, found = command.shown, shown
    while expected and expected[-1] == "":
        expected = expected[:-1]
    while found and found[-1] == "":
        found = found[:-1]
    whole = "\n".join(found)
    if status != command.status:
        return f"line {command.line}: status {status} instead of {command.status}\n  $ {command.text}\n{whole}"
    if command.live:
        expected = [each if each == ANY_LINES else without_what_varies(each) for each in expected]
        found = [without_what_varies(each) for each in found]
    if agrees(expected, found):
        return ""
    return "\n".join([f"line {command.line}: shows something else\n  $ {command.text}", "--- document",
                      *command.shown, "--- shown", whole])


def rewritten(text, outcomes):
    """The document with what its commands have shown; a command whose lines have ANY_LINES keeps them."""
    commands = [step for step in steps_of(text) if isinstance(step, Command)]
    lines = text.splitlines()
    for command, (_, shown) in reversed(list(zip(commands, outcomes))):
        if ANY_LINES in command.shown:
            continue
        first = command.line + command.text.count("\n")
        lines[first:first + len(command.shown)] = shown
    return "\n".join(lines) + "\n"


def environment_of(bin_folder, home, socket):
    """What a tutorial's shell has: the programs of this build, and nothing of who runs the test."""
    return {"PATH": f"{bin_folder}:{os.environ['PATH']}", "HOME": str(home), "TZ": "UTC", "COLUMNS": "100",
            "LC_ALL": "C.UTF-8", "TERM": "dumb", "USER": "me", "GPUADVISE_SOCKET": str(socket)}
