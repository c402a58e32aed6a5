#!/usr/bin/env python3
"""Does what `gpuadvise now` shows as free start within a minute? On a busy day of a real Slurm, on a fast clock.

    bench/now_day.py BIN_DIR --seed 301 [--tries 200] [--gap 5] [--speed 60] [--load 0.85]

The lab of bench/lab_day.py --multifactor gets the jobs of bench/lab_workload.py. After three hours one of six users asks every
--gap minutes for a session of 1, 2 or 4 GPUs and half an hour to four hours, half of the time with 40 GB a GPU. The salloc line
that `gpuadvise now` prints is submitted at once, as a batch job with the same options; 150 seconds of the clock later its
start is read, and it is cancelled. Where nothing starts now, the line that names the soonest is not tried.
"""
import argparse
import collections
import pathlib
import random
import shlex
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import lab_day  # noqa: E402
import lab_workload  # noqa: E402
import made_trainings  # noqa: E402

USERS = ["u01", "u03", "u05", "u07", "u10", "u12"]
WARM_UP_HOURS, SOON, LOOKED_AFTER = 3, 60, 150  # seconds of the clock
LINE = "  salloc "


class Day(made_trainings.Day):
    def __init__(self, lab, clock, site, options):
        hours = WARM_UP_HOURS + options.tries * options.gap / 60
        super().__init__(lab, clock, site, clock.now() + lab_day.FIRST_SUBMISSION_AFTER,
                         lab_workload.workload(options.seed, hours + 1, options.load), multifactor=True)
        self.options, self.dice = options, random.Random(options.seed)
        self.found = collections.Counter()
        self.late = []

    def run(self):
        others = threading.Thread(target=self.submit_background)
        others.start()
        try:
            for number in range(self.options.tries):
                self.clock.sleep_until(self.begin + 3600 * WARM_UP_HOURS + 60 * self.options.gap * number)
                self._try()
        finally:
            self.over.set()
            others.join()

    def _try(self):
        user, gpus = self.dice.choice(USERS), self.dice.choice([1, 1, 1, 2, 2, 4])
        words = ["-G", str(gpus), "-t", str(self.dice.choice([30, 60, 120, 240])), f"--qos={lab_day.qos_of(user)}", "-c", "2"]
        if self.dice.random() < .5:
            words += ["--gpu-memory", "40G"]
        said = self.site.run("now", *words, user=user, check=False)
        line = next((line for line in said.stdout.splitlines() if line.startswith(LINE)), None)
        if line is None:
            self.found["nothing now" if said.returncode == 0 else f"exit {said.returncode}: {said.stderr.strip()}"] += 1
            return
        asked = self.clock.now()
        job = self.sbatch(user, 3600, *shlex.split(line)[1:], "--parsable").stdout.strip()
        self.clock.sleep_until(asked + LOOKED_AFTER)
        shown = self.command("squeue", "-h", "-j", job, "-t", "all", "-o", "%T %S %r").stdout.split(maxsplit=2)
        self.command("scancel", job, check=False)
        start = lab_day.unix_seconds(shown[1]) if shown[0] not in ("PENDING", "CONFIGURING") else None
        waited = None if start is None else max(0, start - asked)
        self.found["started" if waited is not None and waited <= SOON else "late"] += 1
        if waited is None or waited > SOON:
            self.late.append((line.strip(), "pending: " + shown[2].strip() if waited is None else f"{waited:.0f} s"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin_dir", type=pathlib.Path)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--tries", type=int, default=200)
    parser.add_argument("--gap", type=float, default=5, help="minutes of the clock between tries")
    parser.add_argument("--speed", type=float, default=60)
    parser.add_argument("--load", type=float, default=0.85, help="of the background, in shares of the cluster's GPU time")
    options = parser.parse_args()
    clock = lab_day.FastClock(options.speed)
    try:
        with lab_day.DayLab(clock, multifactor=True) as lab, lab_day.DaySite(lab, options.bin_dir.absolute()) as site:
            site.start()
            day = Day(lab, clock, site, options)
            began = time.monotonic()
            day.run()
    finally:
        clock.end()
    tried = day.found["started"] + day.found["late"]
    print(f"{options.tries} questions in {time.monotonic() - began:.0f} s: {dict(day.found)}")
    print(f"started within {SOON} s: {day.found['started']} of {tried}")
    for line, what in day.late:
        print(f"{what}: {line}")


if __name__ == "__main__":
    main()
