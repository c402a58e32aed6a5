#!/usr/bin/env python3
"""When are 80 runs done, and what do others wait? The same day of a real Slurm, once for each way to submit a sweep.

    bench/sweep_day.py BIN_DIR --out FOLDER [--seeds 601,602] [--rules none,sweep,...] [--multifactor] [--runs 80]
                       [--hours 12] [--load 0.8] [--speed 60]

The lab of bench/lab_day.py (21 nodes, a fast clock; FIFO with backfill, or --multifactor with its fair share, QOS and limits of
GPUs) runs the jobs of bench/lab_workload.py for --hours. After three hours one user has a sweep of --runs runs, each on one GPU for
half an hour to two hours on an RTX 4090, longer on the other types (bench/made_trainings.py). Arrivals and seeds are the same for
every rule, and gpuadvised runs in all from the first minute on.

- none: no sweep, for the waits of others;
- split: `gpuadvise submit -a 1-80`;
- sweep: the same, then `gpuadvise sweep --keep` every minute of the clock;
- courteous: all that with `courtesy: 1` in gpuadvised's settings;
- TYPE: `submit -a 1-80 --gpu TYPE`, one array as people submit it;
- bound: not a rule but the best split by one who knows all arrivals and run times: every type's runs are placed by
  bench/clairvoyant_plan.py, and those that end first are taken. It knows no priorities and limits. Takes seconds.

Makespan counts from the sweep's moment to the end of its last run; a sweep that is not done when the day stops counts as if it ended
then, marked ">". Others' waits are those of all jobs submitted after the sweep's moment; one that still waits counts as if it
started when the day stops.

FOLDER gets each run as SCHEDULER-SEED-RULE.json. Runs that it has are not repeated, so several processes can share the work, and
the table covers all. Where it is wrong: one second of a busy machine is a minute of the day; lags of submissions are printed.
Needs what bench/lab_day.py needs.
"""
import argparse
import collections
import json
import math
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clairvoyant_plan  # noqa: E402
import lab_day  # noqa: E402
import lab_workload  # noqa: E402
import made_trainings  # noqa: E402
import programs  # noqa: E402

WARM_UP = 3 * 3600  # until the sweep
SHORTEST_HOURS, LONGEST_HOURS = 1 / 2, 2
SWEEPERS = lab_day.USERS[:8]
TYPES = ["rtx2080ti", "l40s"]  # the other types have four GPUs each
# GPU type as gpuadvise names it: as Slurm does, and its nodes.
KINDS = {"rtx4090": ("gpu4090", "classt25"), "l40s": ("gpul40s", "classt2[12]"), "rtx4070": ("gpu4070", "classt06"),
         "rtx2080ti": ("gpu2080", "classt*")}
SETTINGS = {"courteous": {"courtesy": 1.0}}
NONE, BOUND, SPLIT, KEPT = "none", "bound", "split", ["sweep", "courteous"]
RULES = [NONE, SPLIT, *KEPT, *TYPES, BOUND]
NAME = "sweep"


def training_of(seed, multifactor):
    """The sweep's training; its user and length follow from the seed."""
    dice = random.Random(seed)
    hours, user = math.exp(dice.uniform(math.log(SHORTEST_HOURS), math.log(LONGEST_HOURS))), dice.choice(SWEEPERS)
    timed = {gpu: (made_trainings.TIMED[gpu][0], [1]) for gpu in KINDS}
    return made_trainings.Training(0, hours, True, user, WARM_UP, timed, lab_day.qos_of(user) if multifactor else None)


def others_of(seed, options):
    return lab_workload.workload(seed, options.hours, options.load)


class Day(made_trainings.Day):
    def __init__(self, lab, clock, site, seed, options):
        super().__init__(lab, clock, site, clock.now() + lab_day.FIRST_SUBMISSION_AFTER, others_of(seed, options),
                         options.multifactor)
        self.runs, self.end = options.runs, self.begin + 3600 * options.hours
        self.training, self.said = training_of(seed, options.multifactor), {}

    def run(self, rule):
        others = threading.Thread(target=self.submit_background)
        others.start()
        keeper = None
        try:
            self.clock.sleep_until(self.begin + self.training.due)
            if rule != NONE:
                keeper = self._submit(rule)
            self.clock.sleep_until(self.end)
        finally:
            self.over.set()
            others.join()
            if keeper:
                keeper.terminate()
                keeper.wait()
        if len(self.lags) < sum(self.begin + row[0] < self.end - 600 for row in self.background):
            raise lab_day.slurm_lab.LabError("a submission by others hung: nothing is written of this day; run it again")

    def _submit(self, rule):
        """The process that keeps the sweep; None for a rule without."""
        user, file = self.training.user, self._file()
        only = ["--gpu", rule] if rule in TYPES else []
        keep = ["--sweep-dir", "runs"] if rule in KEPT else []
        words = ["submit", file, "-a", f"1-{self.runs}", *only, *keep]
        self.said = self.site.json("sweep", file, "-n", self.runs, *only, user=user).get("sweep", {})
        self.site.run(*words, "--yes", user=user, timeout=600)
        if not keep:
            return None
        log = open(self.site.home(user) / "keep.log", "w")
        return subprocess.Popen([str(self.site.bin / "gpuadvise"), "sweep", "runs", "--keep", "--every", "1", "--settle", "3"],
                                env=self.site.client_env(user), cwd=self.site.home(user), stdout=log, stderr=log,
                                **programs.as_user(user))

    def _file(self):
        """The training as a file whose command sleeps on the true clock, which the client and so its jobs have."""
        file = json.loads(self.training.file())
        cases = "; ".join(f"{nodes}) s={self.training.run_seconds(gpu, 1) / self.clock.speed:.2f}"
                          for gpu, (_, nodes) in KINDS.items()).replace("; ", " ;; ")
        file.update(name=NAME, command=f'case "$SLURMD_NODENAME" in {cases} ;; esac; sleep "$s"')
        file.setdefault("slurm", {})["extra"] = ["--output=/dev/null"]
        return self.site.write("train.yaml", json.dumps(file), self.training.user)

    def told(self):
        """What became of every job; times from the day's second 0, None for what had not come by its end."""
        runs, others = collections.defaultdict(list), []
        jobs = [(words["Name"], words["SubmitTime"], words["StartTime"], words["EndTime"], words["JobState"])
                for words in lab_day.completions((self.lab.folder / "jobcomp.txt").read_text())]
        asked = self.command("squeue", "-h", "-r", "-t", "PENDING,CONFIGURING,RUNNING,COMPLETING", "-o", "%j %V %S %T").stdout
        for name, submit, start, state in map(str.split, asked.splitlines()):
            jobs.append((name, submit, "Unknown" if state == "PENDING" else start, "Unknown", state))
        for name, submit, start, end, state in jobs:
            submit, start, end = map(self._moment, (submit, start, end))
            if name == NAME:
                runs[state].append({"start": start, "end": end})
            elif submit is not None and submit >= self.training.due:
                others.append({"submit": submit, "start": start})
        return {"runs": runs, "others": others, "lag": max(self.lags), "lag_median": lab_day.median(self.lags),
                "refused": self.refused, "said": self.said}

    def _moment(self, text):
        moment = None if text in ("Unknown", "N/A") else lab_day.unix_seconds(text) - self.begin
        return moment if moment is not None and moment <= self.end - self.begin else None


def live(rule, seed, options):
    """One day by one rule."""
    clock = lab_day.FastClock(options.speed)
    try:
        with lab_day.DayLab(clock, options.multifactor) as lab, lab_day.DaySite(lab, options.bin_dir.absolute()) as site:
            site.start(**SETTINGS.get(rule, {}))
            day = Day(lab, clock, site, seed, options)
            record = path_of(options, seed, rule).with_suffix(".recording") if options.record else None
            with lab_day.recording(lab, options.bin_dir, record):
                day.run(rule)
            told = day.told()
            if (log := site.home(day.training.user) / "keep.log").exists():
                told["keeper"] = log.read_text()[-20_000:]
    finally:
        clock.end()
    done = told["runs"].get("COMPLETED", [])
    ends = [run["end"] for run in done if run["end"] is not None]
    waits = [(options.hours * 3600 if row["start"] is None else row["start"]) - row["submit"] for row in told["others"]]
    over = len(ends) >= options.runs
    return {**told, "figures": {
        "user": day.training.user, "done": len(ends), "over": over, "others": len(waits),
        "makespan_hours": ((max(ends) if over else options.hours * 3600) - WARM_UP) / 3600,
        "others_wait_minutes": statistics.mean(waits) / 60, "others_wait_median_minutes": statistics.median(waits) / 60}}


def bound(seed, options):
    training, ends = training_of(seed, options.multifactor), []
    for gpu, (kind, _) in KINDS.items():
        jobs = []
        for moment, _, gres, _, _, seconds, _ in others_of(seed, options):
            wanted, gpus = gres.split(":")
            if wanted == kind:
                jobs.append((moment, clairvoyant_plan.Request(kind, int(gpus), seconds)))
        run = clairvoyant_plan.Request(kind, 1, training.run_seconds(gpu, 1))
        before = [job for job in jobs if job[0] <= WARM_UP]
        placed = clairvoyant_plan.place(before + [(WARM_UP, run)] * options.runs, *lab_workload.POOLS[kind])
        ends += [start + run.seconds for start in placed[len(before):]]
    last = sorted(ends)[options.runs - 1]
    return {"figures": {"user": training.user, "done": options.runs, "over": True, "makespan_hours": (last - WARM_UP) / 3600}}


# ---- runs in the folder, and the table -----------------------------------------------------------------------------


def path_of(options, seed, rule):
    return options.out / f"{'multifactor' if options.multifactor else 'fifo'}-{seed}-{rule}.json"


def run_of(options, seed, rule):
    """The run of the folder, made if it is not there."""
    conditions = {name: getattr(options, name) for name in ["hours", "runs", "load", "speed"]}
    path = path_of(options, seed, rule)
    if path.exists():
        run = json.loads(path.read_text())
        if run["conditions"] != conditions:
            sys.exit(f"sweep_day.py: {path} was made with {run['conditions']}, not {conditions}; take another --out")
        return run
    run = {"rule": rule, "seed": seed, "conditions": conditions,
           **(bound(seed, options) if rule == BOUND else live(rule, seed, options))}
    path.write_text(json.dumps(run, indent=1))
    return run


def summary(run):
    f = run["figures"]
    said = [f"{run['seed']} {run['rule']}, {f['user']}"]
    if run["rule"] != NONE:
        said.append(f"{f['done']} done in {'' if f['over'] else '> '}{f['makespan_hours']:.2f} h")
    if run["rule"] != BOUND:
        said.append(f"{f['others']} others wait {f['others_wait_minutes']:.0f} min, median {f['others_wait_median_minutes']:.1f}")
        said.append(f"lag median {run['lag_median']:.1f} s, worst {run['lag']:.1f} s, {run['refused']} refused")
    if run.get("said"):
        said.append(f"said {run['said']['makespan_p50_seconds'] / 3600:.2f} ({run['said']['makespan_p90_seconds'] / 3600:.2f}) h")
    return "; ".join(said)


HEAD = ["day", "split", "said p50 (p90)", "sweep", "courteous", *TYPES, "bound", "sweep / bound", "sweep / best type",
        "others wait without, mean (median) min", "with sweep", "with courteous", "with best type"]


def cells_of(seed, runs):
    """A day's row of the table; `runs`: {rule: run}."""
    hours = {rule: run["figures"]["makespan_hours"] for rule, run in runs.items() if rule != NONE}
    best = min((rule for rule in TYPES if rule in runs), key=hours.get, default=None)

    def made(rule):
        return "-" if rule not in runs else ("" if runs[rule]["figures"]["over"] else "> ") + f"{hours[rule]:.2f} h"

    def over(other):
        return f"{hours['sweep'] / hours[other]:.2f}" if "sweep" in hours and other in hours else "-"

    def waits(rule):
        if rule not in runs:
            return "-"
        return "{others_wait_minutes:.0f} ({others_wait_median_minutes:.1f})".format(**runs[rule]["figures"])

    said = runs.get(SPLIT, {}).get("said") or {}
    told = "{:.2f} ({:.2f}) h".format(*(said[f"makespan_{q}_seconds"] / 3600 for q in ["p50", "p90"])) if said else "-"
    return [str(seed), made(SPLIT), told, made("sweep"), made("courteous"), *map(made, TYPES), made(BOUND), over(BOUND), over(best),
            waits(NONE), waits("sweep"), waits("courteous"), waits(best)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin_dir", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the runs, as JSON")
    parser.add_argument("--seeds", type=lambda text: [int(word) for word in text.split(",")], default=[601])
    parser.add_argument("--rules", type=lambda text: text.split(","), default=RULES)
    parser.add_argument("--multifactor", action="store_true", help="fair share, QOS and limits of GPUs instead of FIFO")
    parser.add_argument("--runs", type=int, default=80)
    parser.add_argument("--hours", type=float, default=12, help="of the clock")
    parser.add_argument("--load", type=float, default=0.8, help="of others' jobs, in shares of the cluster's GPU time")
    parser.add_argument("--speed", type=float, default=60)
    parser.add_argument("--record", action="store_true", help="keep what the collector sees, for bench/recorded_day.cc")
    options = parser.parse_args()
    for rule in options.rules:
        if rule not in RULES:
            parser.error(f"no rule {rule}: there are {', '.join(RULES)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("sweep_day.py: ended by SIGTERM"))  # an end in order
    options.out.mkdir(parents=True, exist_ok=True)
    rows = [HEAD, ["---"] * len(HEAD)]
    for seed in options.seeds:
        runs = {}
        for rule in options.rules:
            runs[rule] = run_of(options, seed, rule)
            print(summary(runs[rule]), flush=True)
        rows.append(cells_of(seed, runs))
    print("\n".join(f"| {' | '.join(cells)} |" for cells in rows))


if __name__ == "__main__":
    main()
