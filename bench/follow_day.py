#!/usr/bin/env python3
"""What if everybody follows one rule? The same day of a real Slurm, once for each rule by which all trainings choose.

    bench/follow_day.py BIN_DIR --out FOLDER [--seeds 201,202] [--rules fastest,test-only,advise,bound] [--multifactor]
                        [--hours 14] [--trainings 80] [--load 0.45] [--speed 60]

The lab of bench/lab_day.py (21 nodes, a fast clock; FIFO with backfill, or --multifactor with its fair share, QOS and limits of
GPUs) runs the jobs of bench/lab_workload.py for --hours. Eight of its 18 users also have trainings with known step times: 20 minutes to
3 hours on four RTX 4090, every fourth for one GPU only, between 1/14 and 10/14 of the day. Each training can run on four GPU types
(bench/made_trainings.py). When one arrives, its user asks `gpuadvise advise`. The rule picks one of the strategies, which is submitted with
exactly its options. Arrivals, others' jobs and seeds are the same for every rule, and gpuadvised runs in all.

- fastest: the shortest run time;
- test-only: `sbatch --test-only` for the fastest strategy of each GPU type, earliest end;
- advise: row 1;
- bound: not a rule but the plan of bench/clairvoyant_plan.py, which knows all arrivals and run times. Takes a few minutes.

Time to result counts from arrival to end. The day stops at --hours. The end of a running training follows from its run time. One that
still waits counts as if it started then, so the mean is a lower bound, marked ">"; others' waits likewise. GPU-hours are those of all
chosen strategies, finished or not. "Placed" is the mean when the planner's scheduler places the rule's choices up to the last training:
the closer it is to the lab, the better the bound can be trusted. With --multifactor the planner still places first in, first out.

FOLDER gets each run as SCHEDULER-SEED-RULE.json. Runs that it has are not repeated, so several processes can share the work, and
the table covers all. Intervals are 95 % by Student's t over seeds.

Where it is wrong: one second of a busy machine is a minute of the day. The lag of submissions is printed (of others' jobs, and of trainings
with question and choice), and a run in which one of these medians is over two minutes of the clock is left out of the table. Answers
curtailed for lack of CPU time are counted. A debug build is too slow for --multifactor at 60 times the pace on two cores. Needs what
bench/lab_day.py needs.
"""
import argparse
import dataclasses
import itertools
import json
import math
import pathlib
import random
import signal
import statistics
import sys
import threading
import typing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clairvoyant_plan  # noqa: E402
import lab_day  # noqa: E402
import lab_workload  # noqa: E402
import made_trainings  # noqa: E402

TRAINERS = lab_day.USERS[:8]
FROM, TO, PARTS = 1, 10, 14  # trainings arrive between these parts of the day
SHORTEST_HOURS, LONGEST_HOURS = 1 / 3, 3
ONE_GPU = 4  # one of so many trainings
# GPU type as gpuadvise names it: as Slurm does.
KINDS = {"rtx4090": "gpu4090", "l40s": "gpul40s", "rtx4070": "gpu4070", "rtx2080ti": "gpu2080"}
TIMED = {gpu: made_trainings.TIMED[gpu] for gpu in KINDS}
WORST_LAG = 120  # medians of a run, seconds of the clock
LAGS = {"submissions": "lag", "trainings": "lag_of_trainings"}
BOUND, SEARCHES = "bound", 3
T95 = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09, 2.09, 2.08, 2.07,
       2.07, 2.06, 2.06, 2.06, 2.05, 2.05, 2.05, 2.04]  # by degrees of freedom, from 1


# ---- rules ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Rule:
    """`choose`(day, training, strategies) → one of the strategies of `advise --json`; `settings`: of gpuadvised.yaml."""
    choose: typing.Callable
    settings: dict = dataclasses.field(default_factory=dict)


def fastest(_, training, strategies):
    return min(strategies, key=lambda said: seconds_of(training, said))


def earliest_by_test_only(day, training, strategies):
    ends = []
    for gpu in {said["gpu"]: None for said in strategies}:
        said = fastest(day, training, [said for said in strategies if said["gpu"] == gpu])
        seconds = seconds_of(training, said)
        start = day.test_only(training, seconds, said)
        if start is not None:
            ends.append((start + seconds, len(ends), said))
    return min(ends)[2] if ends else fastest(day, training, strategies)


def row_1(_, __, strategies):
    return min(strategies, key=lambda said: said["rank"])


RULES = {"fastest": Rule(fastest), "test-only": Rule(earliest_by_test_only), "advise": Rule(row_1)}


def seconds_of(training, said):
    return training.run_seconds(said["gpu"], made_trainings.gpus_of(said))


# ---- a day ---------------------------------------------------------------------------------------------------------


def trainings_of(seed, options):
    """The same for every rule; `due` counts from the day's second 0."""
    dice = random.Random(seed)
    first, last = (options.hours * 3600 * part / PARTS for part in (FROM, TO))
    found = []
    for i in range(options.trainings):
        user = dice.choice(TRAINERS)
        hours = math.exp(dice.uniform(math.log(SHORTEST_HOURS), math.log(LONGEST_HOURS)))
        due = first + (last - first) * (i + dice.random()) / options.trainings
        qos = lab_day.qos_of(user) if options.multifactor else None
        found.append(made_trainings.Training(i, hours, i % ONE_GPU == ONE_GPU - 1, user, due, TIMED, qos))
    return found


def others_of(seed, options):
    return lab_workload.workload(seed, options.hours, options.load)


class Day(made_trainings.Day):
    def __init__(self, lab, clock, site, seed, options):
        super().__init__(lab, clock, site, clock.now() + lab_day.FIRST_SUBMISSION_AFTER, others_of(seed, options),
                         options.multifactor)
        self.trainings, self.end = trainings_of(seed, options), self.begin + 3600 * options.hours
        self.chosen, self.asking = {}, []  # by job id: what is known of its training; seconds from a moment to its submission

    def run(self, rule):
        others = threading.Thread(target=self.submit_background)
        others.start()
        try:
            for training in self.trainings:
                self.clock.sleep_until(self.begin + training.due)
                self._follow(rule, training)
            self.clock.sleep_until(self.end)
        finally:
            self.over.set()
            others.join()

    def _follow(self, rule, training):
        said = rule.choose(self, training, self.ask(training))
        seconds = seconds_of(training, said)
        job = self.sbatch(training.user, seconds, *made_trainings.options_of(said), "--parsable",
                          f"--job-name=training{training.number}").stdout
        self.asking.append(self.clock.now() - self.begin - training.due)
        self.chosen[int(job.split(";")[0])] = {
            "number": training.number, "user": training.user, "due": training.due, "rank": said["rank"],
            "gpu": said["gpu"], "gpus": made_trainings.gpus_of(said), "run": seconds}

    def told(self):
        """What became of every job; times from the day's second 0, None for what had not come by its end."""
        jobs = {int(words["JobId"]): [words["SubmitTime"], words["StartTime"], words["JobState"]]
                for words in lab_day.completions((self.lab.folder / "jobcomp.txt").read_text())}
        asked = self.command("squeue", "-h", "-t", "PENDING,CONFIGURING,RUNNING,COMPLETING", "-o", "%A %V %S %T").stdout
        for job, submit, start, state in map(str.split, asked.splitlines()):
            jobs.setdefault(int(job), [submit, "Unknown" if state == "PENDING" else start, state])
        trainings, others = [], []
        for job, (submit, start, state) in jobs.items():
            times = {"submit": self._moment(submit), "start": self._moment(start), "state": state}
            if job in self.chosen:
                trainings.append({**self.chosen[job], **times})
            elif times["submit"] is not None:
                others.append(times)
        return {"trainings": sorted(trainings, key=lambda row: row["number"]), "others": others,
                "lag": spread(self.lags), "lag_of_trainings": spread(self.asking), "refused": self.refused,
                "curtailed": self.curtailed}

    def _moment(self, text):
        """None for one that is not known or after the end, such as Slurm's plan for a job that waits."""
        moment = None if text in ("Unknown", "N/A") else lab_day.unix_seconds(text) - self.begin
        return moment if moment is not None and moment <= self.end - self.begin else None


def spread(lags):
    return {"median": lab_day.median(lags), "worst": max(lags, default=0)}


def live(rule, seed, options):
    """One day by one rule."""
    clock = lab_day.FastClock(options.speed)
    try:
        with lab_day.DayLab(clock, options.multifactor) as lab, lab_day.DaySite(lab, options.bin_dir.absolute()) as site:
            site.start(**RULES[rule].settings)
            day = Day(lab, clock, site, seed, options)
            day.run(RULES[rule])
            told = day.told()
    finally:
        clock.end()
    hours = options.hours
    results = [start_of(row, hours) + row["run"] - row["due"] for row in told["trainings"]]
    waits = [start_of(row, hours) - row["submit"] for row in told["others"]]
    placed = planner(seed, options, [request(row["gpu"], row["gpus"], row["run"]) for row in told["trainings"]])
    return {**told, "figures": {
        **figures(results, [row["due"] for row in told["trainings"]], waits, hours),
        "waiting": sum(row["start"] is None for row in told["trainings"]),
        "others_waiting": sum(row["start"] is None for row in told["others"]),
        "gpu_hours": sum(row["gpus"] * row["run"] for row in told["trainings"]) / 3600,
        "placed_hours": placed.cost / len(results) / 3600}}


def start_of(row, hours):
    """The day's end for a job that still waits."""
    return hours * 3600 if row["start"] is None else row["start"]


def figures(results, dues, waits, hours):
    return {"result_hours": statistics.mean(results) / 3600, "trainings": len(results),
            "done": sum(due + result <= hours * 3600 for due, result in zip(dues, results)),
            "others": len(waits), "others_wait_minutes": statistics.mean(waits) / 60,
            "others_wait_median_minutes": statistics.median(waits) / 60}


# ---- the bound -----------------------------------------------------------------------------------------------------


def request(gpu, gpus, seconds):
    return clairvoyant_plan.Request(KINDS[gpu], gpus, seconds)


def planner(seed, options, chosen=None):
    """The day for the planner; `chosen`: a request for each training."""
    others = []
    for moment, _, gres, _, _, seconds, _ in others_of(seed, options):
        kind, gpus = gres.split(":")
        others.append((moment, clairvoyant_plan.Request(kind, int(gpus), seconds)))
    trainings = [(t.due, [request(gpu, n, t.run_seconds(gpu, n)) for gpu, (_, numbers) in TIMED.items() for n in numbers
                          if n <= t.max_gpus()]) for t in trainings_of(seed, options)]
    return clairvoyant_plan.Plan(lab_workload.POOLS, others, trainings, chosen)


def bound(seed, options):
    """The best that SEARCHES searches reach, each from the planner's own first plan and from what each rule chose."""
    runs = [run for run in (read(options, seed, rule) for rule in RULES) if run]
    starts = [None, *([request(row["gpu"], row["gpus"], row["run"]) for row in run["trainings"]] for run in runs)]
    plans = []
    for chosen, order in itertools.product(starts, range(SEARCHES)):
        plans.append(planner(seed, options, chosen))
        plans[-1].improve(order)
    plan = min(plans, key=lambda plan: plan.cost)
    dues = [due for due, _ in plan.trainings]
    results = [start + chosen.seconds - due for start, chosen, due in zip(plan.starts, plan.chosen, dues)]
    return {"searches": [plan.cost / len(results) / 3600 for plan in plans], "figures": {
        **figures(results, dues, plan.others_waits(), options.hours), "waiting": 0, "others_waiting": 0,
        "gpu_hours": sum(chosen.gpus * chosen.seconds for chosen in plan.chosen) / 3600,
        "placed_hours": plan.cost / len(results) / 3600}}


# ---- runs in the folder, and the table -----------------------------------------------------------------------------


def scheduler(options):
    return "multifactor" if options.multifactor else "fifo"


def path_of(options, seed, rule):
    return options.out / f"{scheduler(options)}-{seed}-{rule}.json"


def conditions(options):
    return {name: getattr(options, name) for name in ["hours", "trainings", "load", "speed", "multifactor"]}


def read(options, seed, rule):
    """A run of the folder; None where there is none."""
    path = path_of(options, seed, rule)
    if not path.exists():
        return None
    run = json.loads(path.read_text())
    if run["conditions"] != conditions(options):
        sys.exit(f"follow_day.py: {path} was made with {run['conditions']}, not {conditions(options)}; take another --out")
    return run


def make(options, seed, rule):
    run = {"rule": rule, "seed": seed, "conditions": conditions(options),
           **(bound(seed, options) if rule == BOUND else live(rule, seed, options))}
    path_of(options, seed, rule).write_text(json.dumps(run, indent=1))
    return run


def summary(run):
    f = run["figures"]
    said = [f"{run['seed']} {run['rule']}: {more(f['waiting'])}{f['result_hours']:.2f} h, placed {f['placed_hours']:.2f} h",
            f"{f['done']} of {f['trainings']} done", f"{f['gpu_hours']:.0f} GPU-hours",
            f"{f['others']} others wait {more(f['others_waiting'])}{f['others_wait_minutes']:.0f} min, "
            f"median {f['others_wait_median_minutes']:.0f}"]
    if run["rule"] != BOUND:
        said += [f"lag of {what} median {run[name]['median']:.1f} s, worst {run[name]['worst']:.1f} s"
                 for what, name in LAGS.items()]
        said.append(f"{run['refused']} refused, {run['curtailed']} answers curtailed")
    return "; ".join(said)


def more(waiting):
    return "> " if waiting else ""


def interval(values):
    """Mean and half of its 95 % interval; no half of one value."""
    mean, degrees = statistics.mean(values), len(values) - 1
    if degrees == 0:
        return f"{mean:.2f}" if mean < 10 else f"{mean:.0f}"
    half = T95[min(degrees, len(T95)) - 1] * statistics.stdev(values) / math.sqrt(len(values))
    return f"{mean:.2f} ± {half:.2f}" if mean < 10 else f"{mean:.0f} ± {half:.0f}"


HEAD = ["rule", "seeds", "trainings: time to result, mean h", "over the bound", "placed to the last, mean h", "done within the day",
        "GPU-hours", "others' wait, mean min", "median min"]


def table(runs):
    """Markdown; `runs`: {rule: {seed: run}}."""
    lines = [HEAD, ["---"] * len(HEAD)]
    for rule, by_seed in runs.items():
        found = [run["figures"] for run in by_seed.values()]
        bounds = {seed: run["figures"]["result_hours"] for seed, run in runs.get(BOUND, {}).items()}
        ratios = [run["figures"]["result_hours"] / bounds[seed] for seed, run in by_seed.items() if seed in bounds]
        waiting, others_waiting = (more(any(f[name] for f in found)) for name in ["waiting", "others_waiting"])
        lines.append([
            rule, " ".join(map(str, by_seed)), waiting + interval([f["result_hours"] for f in found]),
            waiting + interval(ratios) if ratios else "-", interval([f["placed_hours"] for f in found]),
            f"{statistics.mean(f['done'] for f in found):.0f} of {found[0]['trainings']}",
            interval([f["gpu_hours"] for f in found]), others_waiting + interval([f["others_wait_minutes"] for f in found]),
            interval([f["others_wait_median_minutes"] for f in found])])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin_dir", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the runs, as JSON")
    parser.add_argument("--seeds", type=lambda text: [int(word) for word in text.split(",")], default=[201])
    parser.add_argument("--rules", type=lambda text: text.split(","), default=[*RULES, BOUND])
    parser.add_argument("--multifactor", action="store_true", help="fair share, QOS and limits of GPUs instead of FIFO")
    parser.add_argument("--hours", type=float, default=14, help="of the clock")
    parser.add_argument("--trainings", type=int, default=80)
    parser.add_argument("--load", type=float, default=0.45, help="of others' jobs, in shares of the cluster's GPU time")
    parser.add_argument("--speed", type=float, default=60)
    options = parser.parse_args()
    for rule in options.rules:
        if rule not in [*RULES, BOUND]:
            parser.error(f"no rule {rule}: there are {', '.join([*RULES, BOUND])}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("follow_day.py: ended by SIGTERM"))  # an end in order
    options.out.mkdir(parents=True, exist_ok=True)
    runs = {}
    for seed in options.seeds:
        for rule in options.rules:
            run = read(options, seed, rule) or make(options, seed, rule)
            kept = rule == BOUND or max(run[name]["median"] for name in LAGS.values()) <= WORST_LAG
            print(summary(run) + ("" if kept else "; left out for its lag"), flush=True)
            if kept:
                runs.setdefault(rule, {})[seed] = run
    print(table(runs))


if __name__ == "__main__":
    main()
