#!/usr/bin/env python3
"""A day with a maintenance, on which slurmctld is killed: what `queue`, `why`, `when` and `gpus` say, and what then happens.

Jobs run and wait when a maintenance of all nodes is announced. Soon after, and again within the maintenance, slurmctld is killed
(SIGKILL) and comes back before most nodes do, so jobs keep stale reasons. At several moments everything is asked. Each `when` is
then submitted exactly so. At the end each forecast is held against the start that Slurm gave the job; a table and counts are printed.

Asserted is what no noise excuses: every waiting job has a forecast at every moment, a p50 is within 5 minutes or half of the wait
that was left (behind a job that ends early: the truth is between p10 and p90), `gpus` counts what is free as Slurm does, and offers no
GPU before the maintenance ends to a job that does not fit before it.

    maintenance_test.py BIN_DIR [--long] [--out FILE.csv] [unittest options]      FILE.csv: a line for each forecast

The maintenance begins 16 minutes after it is announced and takes 6; with --long ten times as much, in ten true minutes.
"""
import csv
import dataclasses
import json
import pathlib
import re
import shutil
import sys
import time
import unittest

import lab as slurm_lab
import stage as stages
from lab import wait_until
from situations_test import take
from stage import ALICE, BOB, DAVE, ERIN, FRANK

sys.path.append(str(stages.BENCH))
from made_trainings import CURTAILED  # noqa: E402

SKIPPED = 77
SPEED = 40
# In units of 1 or 10 minutes.
LEARNED_LIMITS = range(5, 9)
BEGINS, TAKES = 16, 6
NOISE, SHARE = 60, .1  # what counts as right
BUSY_NOISE, BUSY_SHARE = 300, .5  # what is asserted
AN_HOUR = 3600  # the time limit that the waits of `gpus` are for
EARLY = "after one that ends early"
IDLE = "rtx2080ti"  # nobody's jobs but those of ALICE are there
NODE = {"4090": "--gres=gpu:gpu4090:4", "4070": "--gres=gpu:gpu4070:4", "2080": "--gres=gpu:gpu2080:4", "L40S": "--gres=gpu:gpul40s:6"}


@dataclasses.dataclass
class Forecast:
    """What was said of a job's start; seconds of the fast clock since its beginning, `left` from when it was asked."""
    moment: str
    by: str
    job: int
    asked: float
    p10: float | None = None
    p50: float | None = None
    p90: float | None = None
    slurms: float | None = None  # the start that Slurm has published
    early: bool = False  # a job before it ends earlier than its limit says
    words: str = ""  # Slurm's reason, or doubts
    truth: float | None = None

    def left(self, value):
        return None if value is None else max(0, round(value - self.asked))

    def close(self, said, noise=NOISE, share=SHARE):
        return said is not None and abs(self.left(said) - self.left(self.truth)) <= max(noise, share * self.left(self.truth))

    def inside(self, noise=NOISE):
        return None not in (self.p10, self.p90) and self.p10 - noise <= self.truth <= self.p90 + noise

    def acceptable(self):
        return self.inside(BUSY_NOISE) if self.early else self.close(self.p50, BUSY_NOISE, BUSY_SHARE)


class Day:
    """The jobs of the day, and what was said at each moment."""

    def __init__(self, stage, unit):
        self.stage, self.lab, self.site, self.unit = stage, stage.lab, stage.site, unit
        self.names, self.forecasts, self.gpus = {}, [], []  # names: what each job that is forecast is called
        self.waited = []  # (moment, job, when asked) of each job that had been submitted when `queue` was asked
        self.slowest, self.curtailed, self.asked = 0.0, 0, 0
        self.zero = 0.0

    # ---- what happens ------------------------------------------------------------------------

    def begin(self):
        """Who runs to the limit, and who waits, before anybody knows of a maintenance."""
        self.stage.begin("maintenance")
        for user, options, share in [(BOB, f"{NODE['4090']} -t {6 * self.unit}", None),
                                     (BOB, f"{NODE['4070']} -t {5 * self.unit}", None),
                                     (DAVE, f"{NODE['L40S']} -w classt22 -t {10 * self.unit}", None),
                                     (ERIN, f"{NODE['L40S']} -w classt21 -t {10 * self.unit}", .5)]:
            self.stage.running(user, options, share)
        self.wait_for("fits", DAVE, f"{NODE['4090']} -t {6 * self.unit}")
        self.wait_for("too long", FRANK, f"{NODE['4090']} -t {8 * self.unit}")
        self.wait_for("backfills", FRANK, f"{NODE['4090']} -t {2 * self.unit}")
        self.wait_for(EARLY, FRANK, f"{NODE['L40S']} -w classt21 -t {3 * self.unit}")
        self.wait_for("on the other node", DAVE, f"{NODE['L40S']} -w classt22 -t {8 * self.unit}")

    def wait_for(self, name, user, options):
        self.names[self.stage.waiting(user, options)] = name

    def announce(self):
        """From here on moments are counted."""
        times = [f"starttime=now+{BEGINS * self.unit}minutes", f"duration={TAKES * self.unit}"]
        self.lab.run("scontrol", "create", "reservation", "reservationname=maintenance", *times, "flags=maint", "nodes=ALL", "user=root")
        shown = self.lab.run("scontrol", "-o", "show", "reservation", "maintenance").stdout
        self.begins, self.ends = (stages.lab_day.unix_seconds(re.search(rf"{name}=(\S+)", shown).group(1))
                                  for name in ("StartTime", "EndTime"))
        self.zero = self.begins - 60 * BEGINS * self.unit

        def known():
            nodes = self.site.ask("/v1/nodes?limit=1")[1]["nodes"]
            return nodes and nodes[0]["reserved"]
        wait_until(known, "gpuadvised to know of the maintenance", 60)

    def kill_slurmctld(self, name, moment):
        """And brings it back; meanwhile everything is asked. `name`: of a job that waits, whose reason tells when it misses its nodes."""
        begun = self.now()
        waiting = next(job for job, each in self.names.items() if each == name)
        self.stage.restart_slurmctld(waiting, lambda: self.ask(moment, fresh=False))
        print(f"{moment}: slurmctld and most nodes were away for {self.now() - begun:.0f} s of the clock", flush=True)

    def until(self, units):
        """Sleeps until so many units after the announcement."""
        self.stage.clock.sleep_until(self.zero + 60 * units * self.unit)

    def now(self):
        return self.stage.clock.now()

    # ---- what is asked -----------------------------------------------------------------------

    def ask(self, moment, *questions, fresh=True):
        """Asks about every waiting job, and each of `questions`, (name, options), which is then submitted. `fresh`: of a snapshot
        that is newer than this call."""
        if fresh:
            self.site.wait_for_next_snapshot()
            self.waited += [(moment, job, self.now()) for job in self.names]
        self._ask_gpus(moment, fresh)
        waiting = [row for row in self._answer("queue", "--state", "pending")["jobs"] if row["job_id"] in self.names]
        for row in waiting:
            self._note(moment, "queue", row["job_id"], row, row["reason"], row["slurm_start"])
        for row in waiting:
            self._note(moment, "why", row["job_id"], self._answer("why", str(row["job_id"])))
        for name, options in questions:
            answer = self._answer("when", *options.split())["answers"][0]
            said = dict(answer, asked=self.now())
            job = self.lab.submit(*options.split(), user=ALICE, command=stages.FOREVER)
            self.names[job] = name
            self._note(moment, "when", job, said, "; ".join([*answer["doubts"], str(answer["error"] or "")]))

    def _note(self, moment, by, job, said, words="", slurms=None):
        quantiles = (said.get(f"start_{name}") for name in ("p10", "p50", "p90"))
        self.forecasts.append(Forecast(moment, by, job, said.get("asked", self.now()), *quantiles, slurms, self.names[job] == EARLY, words))

    def _ask_gpus(self, moment, fresh):
        """What is free by gpuadvise and by Slurm, of every type; asked again where a job starts or ends just then."""
        for _ in range(3):
            rows = {row["gres_types"][0]: row for row in self._answer("gpus")["gpus"]}
            asked = self.now()
            told = {kind: row["free"] for kind, row in rows.items()}
            slurms = self._free_by_slurm() if fresh else told
            if told == slurms:
                break
            self.site.wait_for_next_snapshot()
        wait = next(row["wait_node_seconds"] for row in rows.values() if row["gpu"] == IDLE)
        self.gpus.append((moment, asked, told, slurms, wait))

    def _free_by_slurm(self):
        free = {}
        for line in self.lab.run("sinfo", "-h", "-N", "-p", "markov_gpu", "-O", "Gres:60,GresUsed:60,StateLong:40").stdout.splitlines():
            (kind, total), (_, used) = (re.match(r"gpu:([^:(]+):(\d+)", words).groups() for words in line.split()[:2])
            free[kind] = free.get(kind, 0) + (0 if "maint" in line.split()[2] else int(total) - int(used))
        return free

    def _answer(self, verb, *words):
        begun = time.monotonic()
        done = self.site.run(verb, "--json", *words, user=ALICE, check=False)
        self.slowest = max(self.slowest, time.monotonic() - begun)
        if not done.stdout.startswith("{"):
            raise AssertionError(f"gpuadvise {verb} {' '.join(words)}: {done.stderr}")
        answer = json.loads(done.stdout)
        self.asked += 1
        self.curtailed += any(CURTAILED in warning for warning in answer.get("warnings", []))
        return answer

    # ---- what came of it ---------------------------------------------------------------------

    def watch(self):
        """Until every job has started; then every forecast has its truth. Returns (moment, name) of jobs that `queue` left out."""
        text = self.lab.folder / "jobcomp.txt"

        def all_starts():
            known = {int(words["JobId"]): words["StartTime"] for words in stages.lab_day.completions(text.read_text())}
            for job in self.names:
                if job not in known and (state := self.lab.job(job)).get("JobState") == "RUNNING":
                    known[job] = state["StartTime"]
            return known if set(self.names) <= set(known) else None
        starts = wait_until(all_starts, "every job to start", 600)
        starts = {job: stages.lab_day.unix_seconds(starts[job]) for job in self.names}
        for forecast in self.forecasts:
            forecast.truth = starts[forecast.job]
        told = {(forecast.moment, forecast.job) for forecast in self.forecasts if forecast.by == "queue"}
        return [(moment, self.names[job]) for moment, job, asked in self.waited
                if starts[job] > asked + NOISE and (moment, job) not in told]

    def free_wait(self, asked):
        """The true wait of an hour's job on idle nodes."""
        return 0 if asked + AN_HOUR <= self.begins or asked >= self.ends else self.ends - asked


class Maintenance(unittest.TestCase):
    bin_folder, out, unit = None, None, 1

    def test_what_is_said_before_in_and_after_it_is_what_happens(self):
        with stages.the_stage(self.bin_folder, SPEED, [limit * self.unit for limit in LEARNED_LIMITS]) as stage:
            day = Day(stage, self.unit)
            day.begin()
            day.announce()
            self.play(day)
            left_out = day.watch()
            self.judge(day)
            self.assertEqual(left_out, [])

    def play(self, day):
        minutes = lambda units: f"-t {units * self.unit}"
        day.ask("announced", ("asked when announced", f"{NODE['4070']} {minutes(5)}"))
        day.kill_slurmctld("backfills", "killed")
        day.ask("restarted")
        stale = [each for each in day.forecasts if each.moment == "restarted" and "UnavailableNodes" in each.words]
        self.assertTrue(stale, "no job has a stale reason")
        day.until(10)
        day.ask("an hour before", ("does not fit any more", f"{NODE['4070']} {minutes(7)}"),
                ("fits before", f"{NODE['2080']} {minutes(3)}"))
        day.until(15)
        day.ask("just before", ("next to another", f"{NODE['4070']} {minutes(2)}"), ("on idle nodes", f"{NODE['2080']} {minutes(2)}"))
        day.until(18)
        day.ask("within", ("asked within", f"{NODE['2080']} {minutes(3)}"))
        day.kill_slurmctld("too long", "killed within")
        day.ask("restarted within")
        day.until(23)
        day.ask("after", ("asked after", f"{NODE['4090']} {minutes(2)}"))

    def judge(self, day):
        print(table(day), flush=True)
        if self.out:
            with open(self.out, "w", newline="") as file:
                writer = csv.DictWriter(file, [field.name for field in dataclasses.fields(Forecast)], lineterminator="\n")
                writer.writeheader()
                writer.writerows(map(dataclasses.asdict, day.forecasts))
        self.assertEqual([each for each in day.forecasts if not each.acceptable()], [])
        for moment, asked, told, slurms, wait in day.gpus:
            self.assertEqual(told, slurms, moment)
            self.assertIsNotNone(wait, moment)
            self.assertLess(abs(wait - day.free_wait(asked)), BUSY_NOISE, moment)


def table(day):
    """Markdown: p50 and truth by job and moment, as `queue` said, or `when` at the moment of the submission; and counts."""
    moments = list(dict.fromkeys(each.moment for each in day.forecasts))
    lines = ["| job | " + " | ".join(moments) + " |", "|---" * (len(moments) + 1) + "|"]
    for job, name in day.names.items():
        said = {each.moment: each for each in day.forecasts if each.job == job and each.by != "why"}
        lines.append(f"| {name} | " + " | ".join(cell(said.get(moment)) for moment in moments) + " |")
    lines.append("| an hour on idle GPUs (`gpus`) | " + " | ".join(
        f"{wait} : {day.free_wait(asked):.0f}" for _, asked, _, _, wait in day.gpus) + " |")
    lines += ["", "p50 : truth in seconds; * neither within 60 s nor 10 %, ! truth not in p10-p90"]
    for group in ("queue", "why", "when"):
        rows = [each for each in day.forecasts if each.by == group]
        lines.append(f"{group}: p50 right {sum(each.close(each.p50) for each in rows)} of {len(rows)}, "
                     f"truth inside p10-p90 {sum(each.inside() for each in rows)} of {len(rows)}")
    rows = [each for each in day.forecasts if each.by == "queue"]
    lines.append(f"Slurm's own estimates: right {sum(each.close(each.slurms) for each in rows)} of {len(rows)}")
    return "\n".join([*lines, f"{day.asked} answers, {day.curtailed} curtailed, the slowest in {day.slowest:.2f} true seconds"])


def cell(forecast):
    if forecast is None:
        return ""
    marks = ("" if forecast.close(forecast.p50) else " *") + ("" if forecast.inside() else " !")
    return f"{forecast.left(forecast.p50)} : {forecast.left(forecast.truth)}{marks}"


def main():
    words = sys.argv[1:]
    Maintenance.unit = 10 if take(words, "--long") else 1
    Maintenance.out = take(words, "--out", with_value=True)
    if not words or not pathlib.Path(words[0]).is_dir():
        sys.exit("usage: maintenance_test.py BIN_DIR [--long] [--out FILE.csv] [unittest options]")
    Maintenance.bin_folder = pathlib.Path(words.pop(0)).absolute()
    reason = slurm_lab.why_not(accounting=True) or ("" if shutil.which("faketime") else "faketime is not installed")
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *words], verbosity=2)


if __name__ == "__main__":
    main()
