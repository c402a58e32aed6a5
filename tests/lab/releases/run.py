#!/usr/bin/env python3
"""gpuadvise on real Slurms of other releases: run.py BIN_DIR [RELEASE...] [--table FILE]

    tests/lab/releases/run.py build/dev/bin                    # 20.11 22.05 24.11 26.05: about ten minutes each
    tests/lab/releases/run.py build/dev/bin 26.05

Each release runs in a Debian root that debootstrap makes once (roots.py), the host's own as it is. What runs there:
conformance_test.py, source by source; the lab's tests of everything that a user asks, submits or filters; RPCs of a poll
by sdiag. At the end the table of docs/slurm-releases.md is printed. Exit 1 where something failed; 77 where nothing could
run: not root, or no root to be had.
"""
import argparse
import contextlib
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import lab as slurm_lab  # noqa: E402
import lab_root  # noqa: E402
import roots  # noqa: E402
import slurmrestd  # noqa: E402

SKIPPED = 77
SECONDS = 1800  # for one module of tests
# What a column of the table stands for: modules of the lab's tests.
COLUMNS = {
    "sources agree": ["collectors_agree_test"],
    "when, why, queue": ["end_to_end_when_test", "end_to_end_untyped_test"],
    "advise, submit": ["end_to_end_submit_test"],
    "plugin": ["cli_filter_test"],
    "accounting": ["end_to_end_priority_test"],
    "hostile text": ["hostile_text_test"],
}
SOURCES = ["slurm-cli", "slurm-api", "slurm-rest"]


class Outcome:
    """How many tests of a module passed; with `source`, of those that failed by another source alone too."""

    def __init__(self, text, code, source=None):
        ran = re.search(r"^Ran (\d+) tests? in", text, re.MULTILINE)
        skipped = re.search(r"^(?:OK|FAILED) .*skipped=(\d+)", text, re.MULTILINE)
        # A test with several failed subtests has failed once.
        failed = re.findall(r"^(?:FAIL|ERROR): (\w+) \(\S+\)(?: \(source='([\w-]+)'\))?", text, re.MULTILINE)
        self.failed = sorted({name for name, of in failed if not source or not of or of == source})
        self.ran = int(ran.group(1)) - (int(skipped.group(1)) if skipped else 0) if ran else 0
        self.skipped = code == SKIPPED
        self.ok = self.ran > 0 and not self.failed and (code == 0 or source is not None)

    def __str__(self):
        if self.skipped or (self.ran == 0 and not self.failed):
            return "–"
        return str(self.ran) if self.ok else f"{self.ran - len(self.failed)} of {self.ran}"


# A module sees an empty /etc/slurm, for Slurm 20.11 looks there for cli_filter.lua, and the host's own stays as it is.
OWN_ETC_SLURM = ["unshare", "--mount", "sh", "-c", "[ ! -d /etc/slurm ] || mount -t tmpfs tmpfs /etc/slurm; exec \"$@\"", "sh"]


def run_module(path, programs, root):
    """A module's output and exit status."""
    env = {name: value for name, value in os.environ.items() if name != lab_root.VARIABLE}
    if root:
        env[lab_root.VARIABLE] = str(root.path)
    try:
        done = subprocess.run([*OWN_ETC_SLURM, sys.executable, "-B", str(path), str(programs)], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"ERROR: {path.stem} (took more than {SECONDS} s)", 1
    return done.stdout, done.returncode


def rpcs_of(root, programs, source):
    """RPCs that one poll, and one with policy, cost slurmctld by its own count (sdiag), and the milliseconds of a poll."""
    if root:
        os.environ[lab_root.VARIABLE] = str(root.path)
    else:
        os.environ.pop(lab_root.VARIABLE, None)
    with slurm_lab.Lab(cluster="seed") as lab:
        for _ in range(40):
            lab.submit("--gres=gpu:1", "-t", "60")
        slurm_lab.wait_until(lambda: "RUNNING" in lab.run("squeue", "-h", "-o", "%T").stdout, "jobs to run")
        with contextlib.ExitStack() as stack:
            words = []
            if source == "slurm-rest":
                words = ["--url", stack.enter_context(slurmrestd.Slurmrestd(lab)).url]
            # A collector's first poll asks for the policy too; those after it do not.
            first = _count(lab, programs, source, words, polls=1)
            several = _count(lab, programs, source, words, polls=6)
        return {"with policy": first, "poll": {name: (several[name][0] - first.get(name, (0, 0))[0]) / 5 for name in several}}


def _count(lab, programs, source, words, polls):
    """Name to (RPCs, microseconds) of a collector that has polled so often."""
    lab.run("sdiag", "--reset")
    import collecting
    with collecting.Collector(pathlib.Path(programs) / "gpuadvise-collect", lab, source, *words,
                              "--interval=0.5", "--policy-interval=3600") as collector:
        for _ in range(polls):
            collector.next_batch()
    said = lab.run("sdiag").stdout.split("by message type")[1].split("by user")[0]
    rpcs = {name: (int(count), int(time)) for name, count, time in
            re.findall(r"^\s*([A-Z]\w+)\s*\(\s*\d+\)\s*count:(\d+)\s+ave_time:\d+\s+total_time:(\d+)", said, re.MULTILINE)}
    return {name: value for name, value in rpcs.items() if name not in IGNORED_RPCS}


# What the lab's own nodes send, and sdiag.
IGNORED_RPCS = {"MESSAGE_NODE_REGISTRATION_STATUS", "REQUEST_STATS_INFO", "REQUEST_PING", "MESSAGE_EPILOG_COMPLETE",
                "REQUEST_COMPLETE_BATCH_SCRIPT", "REQUEST_SUBMIT_BATCH_JOB", "REQUEST_STEP_COMPLETE"}


def version_of(root):
    said = subprocess.run(["slurmctld", "-V"], env=dict(os.environ, PATH=slurm_lab.path_of(root)), capture_output=True,
                          text=True).stdout
    return said.split()[-1]


def check(release, bin_folder, logs):
    """The row of the table for a release."""
    root = roots.make(release)
    programs = roots.build_programs(root, bin_folder) if root else bin_folder
    row = {"release": version_of(root)}
    sources = [s for s in SOURCES if s != "slurm-rest" or lab_root.release_of(slurm_lab.path_of(root)) >= slurmrestd.OLDEST_READ]
    modules = [("snapshot", HERE / "conformance_test.py")]
    modules += [(column, HERE.parent / f"{module}.py") for column, names in COLUMNS.items() for module in names]
    for column, path in modules:
        output, code = run_module(path, programs, root)
        log = logs / f"{release}-{path.stem}.log"
        log.write_text(output)
        for source in sources if column == "snapshot" else [None]:
            outcome = Outcome(output, code, source)
            failed = f"; failed: {', '.join(outcome.failed)}; {log}" if not outcome.ok and not outcome.skipped else ""
            print(f"{release} {path.stem} {source or ''}: {outcome}{failed}", flush=True)
            row.setdefault(f"snapshot {source}" if source else column, []).append(outcome)
    row["rpcs"] = {source: rpcs_of(root, programs, source) for source in sources}
    print(f"{release} RPCs: {json.dumps(row['rpcs'])}", flush=True)
    return row


def table(rows):
    """The table of what ran."""
    columns = [f"snapshot {source}" for source in SOURCES] + list(COLUMNS)
    lines = ["| Slurm | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for row in rows:
        lines.append(f"| {row['release']} | " + " | ".join(" + ".join(map(str, row.get(c, ["–"]))) for c in columns) + " |")
    lines += ["", "| Slurm | source | RPCs of a poll | with policy | ms in slurmctld, with policy |", "|---|---|---|---|---|"]
    for row in rows:
        for source, rpcs in row["rpcs"].items():
            first = rpcs["with policy"]
            lines.append(f"| {row['release']} | {source} | {sum(rpcs['poll'].values()):g} | {sum(n for n, _ in first.values())} | "
                         f"{sum(t for _, t in first.values()) / 1000:.1f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="gpuadvise on real Slurms of other releases")
    parser.add_argument("programs", help="the folder of gpuadvised")
    parser.add_argument("releases", nargs="*", metavar="RELEASE", help=f"of {', '.join(roots.SUITES)}; default: all")
    parser.add_argument("--table", help="also write the table here")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("skipped: the labs of other releases need root (debootstrap, slurmd)")
        sys.exit(SKIPPED)
    logs = pathlib.Path(tempfile.mkdtemp(prefix="gpuadvise-releases-"))
    rows = []
    for release in options.releases or roots.SUITES:
        try:
            rows.append(check(release, pathlib.Path(options.programs).absolute(), logs))
        except (roots.Unavailable, slurm_lab.LabError, OSError) as error:
            print(f"{release}: not run: {error}", flush=True)
    if not rows:
        sys.exit(SKIPPED)
    text = table(rows)
    print(f"\n{datetime.date.today()}: {' '.join(map(str, sys.argv))}\n\n{text}")
    if options.table:
        pathlib.Path(options.table).write_text(text + "\n")
    outcomes = [o for row in rows for value in row.values() if isinstance(value, list) for o in value]
    sys.exit(0 if all(o.ok or o.skipped for o in outcomes) and len(rows) == len(options.releases or roots.SUITES) else 1)


if __name__ == "__main__":
    main()
