#!/usr/bin/env python3
"""Is row 1 the right row? Trainings on a busy cluster of a real Slurm, and when each other row would have been done.

    bench/outcome_day.py BIN_DIR --seed 101 [--trainings 29] [--hours 9] [--speed 60] [--load 0.85] [--seen] [--out FILE.json]

The lab of bench/lab_day.py --multifactor (21 nodes, 18 users, fair share, QOS, limits of GPUs, a fast clock) gets the
jobs of bench/lab_workload.py. After three hours of that, to learn from, one of three users has a training every few
minutes until --hours: 20 minutes to 6 hours on an RTX 4090 each, every second one for one GPU only. Its train.yaml has
a timing for each GPU type and number of GPUs, so that only the wait has to be forecast. Then, at the same moment,
1. `gpuadvise advise --json` ranks the rows;
2. `sbatch --test-only` is asked for the best row of each GPU type;
3. row 1 is submitted with exactly its options, and runs as long as it says;
4. the best row of each other type is submitted as a *shadow*: its start is noted, and it is cancelled at once.

Time to result of a row: its wait from its own submission, and its run time. Hindsight is the least of them. A policy is
judged by its choice: row 1; the earliest end by --test-only; the type that runs fastest. A choice that has not started
when all else is known, or eight hours after the last question, counts until then; where it may still be the best,
the training is left out.

Where it is wrong. While a shadow waits, Slurm keeps a place for it in its plan, and jobs of lower rank that would
delay it wait longer; when it starts, its GPUs are idle until it is cancelled, about a second, a minute of the clock.
Both make later waits longer. So shadows are few: one is cancelled once it can no longer be the best, unless a policy
chose it. gpuadvised does not see them (a filter behind its collector), else it would expect five whole jobs for each
training, and learn runs of a second; --seen shows them. Hidden ones make jobs behind them look held, which costs a day some
tenths of hindsight (docs/forecast.md). Three users have all trainings, so that fair share lowers
their priority hour by hour, that of shadows too. Needs what bench/lab_day.py --multifactor needs, and 15 to 20 minutes.
"""
import argparse
import dataclasses
import json
import math
import pathlib
import random
import signal
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import lab_day  # noqa: E402
import lab_workload  # noqa: E402
import made_trainings  # noqa: E402

TRAINERS = {"u01": "normal", "u03": "normal", "u05": "high"}  # of three accounts, without a limit of GPUs
WARM_UP_HOURS, PATIENCE_HOURS = 3, 8  # before the first training, and after the last
SHORTEST_HOURS, LONGEST_HOURS = 1 / 3, 6  # on one RTX 4090, or on four
SHADOW = "shadow"
CLOSE, FAR, LOOKED_INTO = 1.05, 1.5, 1.3
POLICIES = ["row 1", "--test-only", "fastest type"]
WAITS = ["wait_p10_seconds", "wait_p50_seconds", "wait_p90_seconds"]
# Copies the records of gpuadvise-collect, without the shadows and with their GPUs free.
WITHOUT_SHADOWS = """import json, subprocess, sys
def without_shadows(rows):
    shadows = [r for r in rows if r["record"] == "job" and r.get("name") == SHADOW]
    nodes = {r["name"]: r for r in rows if r["record"] == "node"}
    for held in [part for shadow in shadows for part in shadow.get("allocations", [])]:
        taken = nodes.get(held["nodes"], {}).get("gpus_allocated", {})
        for gpu in held["gpus"]:
            taken[gpu] = max(0, taken.get(gpu, 0) - held["gpus"][gpu])
    if shadows: rows[-1]["counts"]["jobs"] -= len(shadows)
    return [r for r in rows if r not in shadows]
batch = []
for line in subprocess.Popen([COLLECT, *sys.argv[1:]], stdout=subprocess.PIPE, text=True).stdout:
    batch.append(json.loads(line))
    if batch[-1]["record"] in ("end", "error"):
        print(*map(json.dumps, without_shadows(batch)), sep="\\n", flush=True)
        batch = []
"""


@dataclasses.dataclass(eq=False)
class Row:
    """The best row of a GPU type: what was said of it, and what came of its job."""
    said: dict
    run: float  # seconds, the truth
    shadow: bool
    job: int = 0
    submit: float = 0
    start: float | None = None
    priority: int = 0  # as last seen while it waited
    test_only: float | None = None  # seconds from the question to the start that it names
    at_least: float | None = None  # time to result of one that had not started when it was given up

    @property
    def name(self):
        return f"{self.said['gpu']}:{made_trainings.gpus_of(self.said)}"

    @property
    def wait(self):
        return None if self.start is None else max(0, self.start - self.submit)

    @property
    def result(self):
        return None if self.start is None else self.wait + self.run

    def told(self):
        return {"row": self.name, "job": self.job, "run": self.run, "wait": self.wait, "at_least": self.at_least,
                "test_only": self.test_only, "priority": self.priority, "said": self.said}

    def give_up(self, now):
        self.at_least = now - self.submit + self.run


class Training(made_trainings.Training):
    def __init__(self, number, hours, user, due):
        super().__init__(number, hours, number % 2 == 1, user, due, made_trainings.TIMED, TRAINERS[user])
        self.rows, self.choices = [], {}

    def take(self, strategies):
        """The best row of each type, row 1 first."""
        types = {said["gpu"]: said for said in sorted(strategies, key=lambda said: -said["rank"])}
        for said in sorted(types.values(), key=lambda said: said["rank"]):
            self.rows.append(Row(said, self.run_seconds(said["gpu"], said["gpus_per_node"]), shadow=bool(self.rows)))

    def choose(self):
        named = [row for row in self.rows if row.test_only is not None] or self.rows[:1]
        self.choices = dict(zip(POLICIES, [self.rows[0], min(named, key=lambda row: (row.test_only or 0) + row.run),
                                           min(self.rows, key=lambda row: row.run)]))

    def best(self):
        return min((row for row in self.rows if row.result is not None), key=lambda row: row.result, default=None)

    def waiting(self):
        return [row for row in self.rows if row.job and row.start is None and row.at_least is None]

    def lost(self, now):
        """Shadows that can no longer be the best."""
        best = self.best()
        return [row for row in self.waiting() if row.shadow and best and now - row.submit + row.run > best.result]

    def settled(self):
        """Whether hindsight is known."""
        return bool(self.best()) and all(row.start is not None or row.at_least > self.best().result for row in self.rows)

    def took(self, policy):
        return self.choices[policy].result or self.choices[policy].at_least

    def ratio(self, policy):
        return self.took(policy) / self.best().result


class Day(made_trainings.Day):
    def __init__(self, lab, clock, site, options):
        dice = random.Random(options.seed)
        super().__init__(lab, clock, site, clock.now() + lab_day.FIRST_SUBMISSION_AFTER, lab_workload.workload(
            options.seed, options.hours + PATIENCE_HOURS, options.load), multifactor=True)
        gap = (options.hours - WARM_UP_HOURS) / options.trainings
        self.trainings = [
            Training(i, math.exp(dice.uniform(math.log(SHORTEST_HOURS), math.log(LONGEST_HOURS))),
                     dice.choice(list(TRAINERS)), self.begin + 3600 * (WARM_UP_HOURS + gap * (i + dice.random())))
            for i in range(options.trainings)]

    def run(self):
        others = threading.Thread(target=self.submit_background)
        others.start()
        try:
            for training in self.trainings:
                while self.clock.now() < training.due:
                    self._look()
                self._ask(training)
            last = self.trainings[-1].due + 3600 * PATIENCE_HOURS
            while (now := self.clock.now()) < last and any(len(t.waiting()) > len(t.lost(now)) for t in self.trainings):
                self._look()
            for row in [row for training in self.trainings for row in training.waiting()]:
                row.give_up(self.clock.now())
        finally:
            self.over.set()
            others.join()

    def _ask(self, training):
        training.take(self.ask(training))
        for row in training.rows:
            row.test_only = self.test_only(training, row.run, row.said)
        training.choose()
        for row in training.rows:
            name = SHADOW if row.shadow else f"training{training.number}"
            row.submit = self.clock.now()
            row.job = int(self.sbatch(training.user, row.run, *made_trainings.options_of(row.said), "--parsable",
                                      f"--job-name={name}").stdout)

    def _look(self):
        """Notes what has started, ends shadows that have started or have lost."""
        time.sleep(.2)
        if not (rows := {row.job: row for training in self.trainings for row in training.waiting()}):
            return
        asked = self.command("squeue", "-h", "-j", ",".join(map(str, rows)), "-t", "all", "-o", "%A %T %S %Q", check=False)
        for job, state, start, priority in map(str.split, asked.stdout.splitlines()):
            rows[int(job)].priority = int(priority)
            if state not in ("PENDING", "CONFIGURING"):
                rows[int(job)].start = lab_day.unix_seconds(start)
        lost = [row for t in self.trainings for row in t.lost(self.clock.now()) if row not in t.choices.values()]
        for row in lost:
            row.give_up(self.clock.now())
        over = [row.job for row in rows.values() if row.shadow and (row.start is not None or row in lost)]
        if over:
            self.command("scancel", *over, check=False)


def hide_shadows(site):
    """Between gpuadvised and its collector."""
    wrapper = site.bin / "collect-without-shadows"
    wrapper.write_text(f"#!/usr/bin/python3\nSHADOW, COLLECT = {SHADOW!r}, '{site.bin}/gpuadvise-collect'\n{WITHOUT_SHADOWS}")
    wrapper.chmod(0o755)
    site.settings["collector"] = str(wrapper)


# ---- what is made of it --------------------------------------------------------------------------------------------


def table(trainings):
    """Markdown. Seconds; a row's wait as forecast (p10-p90) and as it was."""
    lines = [f"| # | user | row 1 | forecast wait | wait | run | {' | '.join(POLICIES)} | best | forecast wait | wait | run |",
             "|" + "---|" * (10 + len(POLICIES))]
    for t in trainings:
        cells = [t.number, t.user, *cells_of(t.rows[0]), *(f"{t.ratio(p):.2f}" for p in POLICIES), *cells_of(t.best())]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def cells_of(row):
    return row.name, forecast(row), "-" if row.wait is None else f"{row.wait:.0f}", f"{row.run:.0f}"


def forecast(row):
    p10, p50, p90 = (row.said[name] for name in WAITS)
    return f"{p50:.0f} ({p10:.0f}-{p90:.0f})"


def judged(trainings, policy):
    """One policy in numbers."""
    ratios = [training.ratio(policy) for training in trainings]
    took, best = sum(t.took(policy) for t in trainings), sum(t.best().result for t in trainings)
    return {"hours": took / len(trainings) / 3600, "of_hindsight": took / best, "median": statistics.median(ratios),
            "mean": statistics.mean(ratios), "close": sum(ratio <= CLOSE for ratio in ratios),
            "far": [t.number for t in trainings if t.ratio(policy) > FAR],
            "never_started": [t.number for t in trainings if t.choices[policy].result is None]}


def causes(trainings):
    """Each training whose row 1 took much longer than the best: which forecast was how wrong."""
    for training in [t for t in trainings if t.ratio("row 1") > LOOKED_INTO]:
        for what, row in [("row 1", training.rows[0]), ("best", training.best())]:
            wait, said = row.at_least - row.run if row.wait is None else row.wait, row.said
            yield (f"#{training.number} {training.ratio('row 1'):.2f} {what:5} {row.name}: wait {wait:.0f} s, forecast "
                   f"{forecast(row)}: {wait - said['wait_p50_seconds']:+.0f} s; "
                   f"run time {said['run_p50_seconds'] / row.run - 1:+.1%}; priority {said['priority']}, then {row.priority}")


def of_forecasts(trainings):
    """How right the waits of all rows were that have started."""
    rows = [row for training in trainings for row in training.rows if row.wait is not None]
    covered = [row.wait <= row.said["wait_p90_seconds"] for row in rows if row.said["wait_p90_seconds"] > lab_day.SHOWN_WAIT]
    error = lab_day.median([abs(row.wait - row.said["wait_p50_seconds"]) for row in rows])
    slurms = lab_day.median([abs(row.wait - row.test_only) for row in rows if row.test_only is not None])
    run = max(abs(row.said["run_p50_seconds"] / row.run - 1) for row in rows)
    return (f"{len(rows)} rows started: median error of the wait {error:.0f} s, --test-only {slurms:.0f} s; p90 held for "
            f"{sum(covered)} of {len(covered)}; run time off by {run:.2%}")


def report(day, options):
    known = [training for training in day.trainings if training.settled()]
    print(table(known), "", *causes(known), "", sep="\n")
    print(f"{len(known)} of {len(day.trainings)} trainings; {day.refused} of {len(day.background)} background jobs refused; "
          f"hindsight: mean time to result {statistics.mean(t.best().result for t in known) / 3600:.2f} h")
    figures = {policy: judged(known, policy) for policy in POLICIES}
    for policy, found in figures.items():
        print(f"{policy}: mean time to result {found['hours']:.2f} h, {found['of_hindsight']:.2f} of hindsight; ratio median "
              f"{found['median']:.2f}, mean {found['mean']:.2f}; within 5 %: {found['close']}; over {FAR}: {len(found['far'])} "
              f"{found['far']}; not started, counted until the end: {found['never_started']}")
    print(of_forecasts(known))
    if options.out:
        told = [{"number": t.number, "user": t.user, "due": t.due - day.begin, "rows": [row.told() for row in t.rows],
                 "choices": {policy: row.name for policy, row in t.choices.items()}} for t in known]
        options.out.write_text(json.dumps({"figures": figures, "trainings": told}, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin_dir", type=pathlib.Path)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--trainings", type=int, default=29)
    parser.add_argument("--hours", type=float, default=9, help="of the clock, until the last training; three are to learn from")
    parser.add_argument("--speed", type=float, default=60)
    parser.add_argument("--load", type=float, default=0.85, help="of the background, in shares of the cluster's GPU time")
    parser.add_argument("--seen", action="store_true", help="gpuadvised sees the shadows")
    parser.add_argument("--out", type=pathlib.Path, help="everything, as JSON")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("outcome_day.py: ended by SIGTERM"))  # an end in order
    clock = lab_day.FastClock(options.speed)
    try:
        with lab_day.DayLab(clock, multifactor=True) as lab, lab_day.DaySite(lab, options.bin_dir.absolute()) as site:
            site.settings["accounting_interval"] = "0s"  # sacct has the shadows
            if not options.seen:
                hide_shadows(site)
            site.start()
            day = Day(lab, clock, site, options)
            day.run()
        report(day, options)
    finally:
        clock.end()


if __name__ == "__main__":
    main()
