#!/usr/bin/env python3
"""What `gpuadvise run` itself costs while a training runs: CPU seconds of its process, not of the
training's, as a share of one core.

    run_cost.py GPUADVISE [--seconds S] [--lines-per-second N] [--nvml LIBRARY]

LIBRARY stands in for libnvidia-ml.so.1 where there is no driver; its answers cost less than a real
driver's. The training is a shell that prints Trainer-like lines.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time


def cpu_seconds(pid):
    """User and system time of this process alone."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(program, seconds, lines, nvml):
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ)
        if nvml:
            os.symlink(os.path.abspath(nvml), os.path.join(folder, "libnvidia-ml.so.1"))
            environment["LD_LIBRARY_PATH"] = folder
        pause = 1 / lines
        training = f"i=0; while :; do i=$((i+1)); echo \"step $i/100000 loss 0.5\"; sleep {pause}; done"
        child = subprocess.Popen([program, "run", "--output", folder, "--", "sh", "-c", training], env=environment,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        time.sleep(2)
        before, began = cpu_seconds(child.pid), time.monotonic()
        time.sleep(seconds)
        used, took = cpu_seconds(child.pid) - before, time.monotonic() - began
        child.terminate()
        child.wait(30)
        return {"lines_per_second": lines, "seconds": round(took, 1), "cpu_seconds": round(used, 3),
                "share_of_a_core": round(used / took, 5)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--lines-per-second", type=float, nargs="+", default=[1, 10, 100])
    parser.add_argument("--nvml")
    options = parser.parse_args()
    for lines in options.lines_per_second:
        print(json.dumps(measure(options.program, options.seconds, lines, options.nvml)), flush=True)


main()
