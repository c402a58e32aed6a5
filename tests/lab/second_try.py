#!/usr/bin/env python3
"""Names the tests that passed only when they were run a second time: second_try.py LastTest.log

The log is that of `ctest --repeat until-pass:2`.
"""
import pathlib
import re
import sys


def second_tries(log):
    """Tests that failed first and passed then."""
    outcomes = {}
    for run in re.split(r"^\d+/\d+ Testing: ", log, flags=re.M)[1:]:
        passed = re.findall(r"^Test (Passed|Failed)\.$", run, re.M)[-1:] == ["Passed"]
        outcomes.setdefault(run.partition("\n")[0], []).append(passed)
    return [name for name, passed in outcomes.items() if passed[-1] and not all(passed)]


def summary(log):
    names = second_tries(log)
    return f"{len(names)} lab tests passed only in a second run: {', '.join(names)}" if names else "No lab test needed a second run."


if __name__ == "__main__":
    print(summary(pathlib.Path(sys.argv[1]).read_text(errors="replace")))
