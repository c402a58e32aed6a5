"""The collector in a lab: one batch as a value, or a running collector whose lines are read."""
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import time
import unittest

import lab as slurm_lab
import slurmrestd
from lab import Lab, LabError

SKIPPED = 77
POLLED = ["nodes", "jobs", "partitions", "reservations"]  # tables of every poll


def temporary_folder():
    """A folder that every user can enter, as a context that gives its path."""
    folder = tempfile.TemporaryDirectory(prefix="gpuadvise-")
    pathlib.Path(folder.name).chmod(0o755)
    return folder


class Collector:
    """A running gpuadvise-collect. Its stdin is a pipe: closing it ends the collector."""

    def __init__(self, program, lab, source, *words, env=None):
        self.process = subprocess.Popen(
            [str(program), source, *map(str, words)], env=dict(lab.env, **(env or {})), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.rest = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def next_record(self, timeout=30):
        """The next line as JSON; LabError when none comes, EOFError at the end."""
        deadline = time.monotonic() + timeout
        while b"\n" not in self.rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise LabError(f"no record within {timeout:g} s")
            more = os.read(self.process.stdout.fileno(), 65536)
            if not more:
                raise EOFError
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def next_batch(self, timeout=30):
        """The records of the next whole batch, errors before it skipped."""
        records = []
        while True:
            record = self.next_record(timeout)
            records = [record] if record["record"] == "begin" else records + [record]
            if record["record"] == "end":
                return records

    def next_error(self, timeout=30):
        """The message of the next error record, batches before it skipped."""
        while True:
            record = self.next_record(timeout)
            if record["record"] == "error":
                return record["message"]


class CollectorTest(unittest.TestCase):
    LAB = {}
    program = None
    rest = None  # the lab's slurmrestd, from the first question to it on

    @classmethod
    def setUpClass(cls):
        cls.lab = cls.enterClassContext(Lab(**cls.LAB))

    def collector(self, source, *words, env=None):
        return self.enterContext(Collector(self.program, self.lab, source, *words, env=env))

    def once(self, source, *words, check=True, user=None, env=None):
        return self.lab.run(self.program, source, "--once", *words, check=check, user=user, env=env)

    @classmethod
    def words_of(cls, source):
        """What a source needs on its command line beside its name."""
        if source != "slurm-rest":
            return []
        if cls.rest is None:
            cls.rest = cls.enterClassContext(slurmrestd.Slurmrestd(cls.lab))
        return ["--url", cls.rest.url]

    def snapshot(self, source):
        """One batch, without what says who took it and when."""
        records = [json.loads(line) for line in self.once(source, *self.words_of(source)).stdout.splitlines()]
        for name in ["source", "taken_at", "requests"]:
            records[0].pop(name)
        for record in records:
            record.pop("health", None)  # of the scheduler: never twice the same
        return records


def main(accounting=False):
    """MODULE BIN_DIR [unittest options]"""
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} BIN_DIR [unittest options]")
    CollectorTest.program = pathlib.Path(sys.argv.pop(1)).absolute() / "gpuadvise-collect"
    reason = slurm_lab.why_not(accounting)
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
