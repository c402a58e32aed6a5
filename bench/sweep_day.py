#!/usr/bin/env python3
"""How soon is a sweep done? Many runs of a training on a busy day of a real Slurm, on a fast clock.

    bench/sweep_day.py BIN_DIR --seed 601 [--rules plan,keep,single] [--runs 80] [--multifactor] [--speed 60] [--load 0.85]

The lab of bench/lab_day.py gets the jobs of bench/lab_workload.py. After three hours a user submits --runs runs of a training of
one GPU, an hour each on an RTX 4090. The same day is played for each rule: plan (as `gpuadvise submit -a` splits them), keep
(the same with `gpuadvise sweep --keep` beside it), single (all on the type that the plan names as the best alone), or a GPU
type (all on it). Told are the makespan, what was forecast, and how long the jobs of others waited from then on.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import lab_day  # noqa: E402
import lab_workload  # noqa: E402
import made_trainings  # noqa: E402
import programs  # noqa: E402  (lab_day makes it known)

WARM_UP_HOURS, LONGEST_HOURS = 3, 16
USER = "u03"


class Day(made_trainings.Day):
    def __init__(self, lab, clock, site, options, rule):
        super().__init__(lab, clock, site, clock.now() + lab_day.FIRST_SUBMISSION_AFTER,
                         lab_workload.workload(options.seed, WARM_UP_HOURS + LONGEST_HOURS, options.load),
                         multifactor=options.multifactor)
        self.options, self.rule = options, rule

    def run(self):
        others = threading.Thread(target=self.submit_background)
        others.start()
        try:
            self.clock.sleep_until(self.begin + 3600 * WARM_UP_HOURS)
            return self._sweep()
        finally:
            self.over.set()
            others.join()

    def _file(self):
        training = made_trainings.Training(0, 1, True, USER, 0, made_trainings.TIMED,
                                           lab_day.qos_of(USER) if self.options.multifactor else None)
        seconds = " ".join(f"{gpu}) sleep {training.run_seconds(gpu, 1):.0f} ;;" for gpu in made_trainings.TIMED)
        text = training.file().replace('"command": "true"', f'"command": "case $GPUADVISE_GPU in {seconds} esac"')
        # On the fast clock a job's start and end take minutes, so the limit is twice the longest run.
        slurm = {"extra": ["--output=/dev/null"], "time": "08:00:00"}
        if self.options.multifactor:
            slurm["qos"] = lab_day.qos_of(USER)
        text = json.dumps({**json.loads(text), "slurm": slurm})
        return self.site.write("sweep.yaml", text, USER)

    def _sweep(self):
        file, tasks = self._file(), f"1-{self.options.runs}"
        plan = self.site.json("sweep", file, "-a", tasks, user=USER)
        rows, sweep = plan["strategies"], plan["sweep"]
        words = ["-a", tasks, "--yes", "--force"]
        if self.rule == "single":
            words += ["--pick", sweep["single_rank"]]
        elif self.rule in made_trainings.TIMED:
            words += ["--pick", next(row["rank"] for row in rows if row["gpu"] == self.rule and row["gpus_per_node"] == 1)]
        folder = self.site.home(USER) / "kept"
        keeper = None
        began = self.clock.now()
        self.site.run("submit", file, *words, *(["--sweep-dir", folder] if self.rule == "keep" else []), user=USER)
        if self.rule == "keep":
            argv = [self.site.bin / "gpuadvise", "sweep", folder, "--keep", "--every", "120"]
            keeper = subprocess.Popen([str(a) for a in argv], env=self.site.client_env(USER), cwd=self.site.home(USER), text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **programs.as_user(USER))
        while self.clock.now() < began + 3600 * LONGEST_HOURS:
            self.clock.sleep_until(self.clock.now() + 60)
            left = self.command("squeue", "-h", "-r", "-u", USER, "-n", "training0", "-o", "%i", check=False)
            if left.returncode == 0 and not left.stdout.split() and (keeper is None or keeper.poll() is not None):
                break
        makespan = self.clock.now() - began
        said = ""
        if keeper is not None:
            keeper.kill()
            said = keeper.communicate()[0]
        return makespan, sweep, {row["rank"]: row["gpu"] for row in rows}, said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin_dir", type=pathlib.Path)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--rules", default="plan,keep,single")
    parser.add_argument("--runs", type=int, default=80)
    parser.add_argument("--multifactor", action="store_true")
    parser.add_argument("--speed", type=float, default=60)
    parser.add_argument("--load", type=float, default=0.85, help="of the background, in shares of the cluster's GPU time")
    options = parser.parse_args()
    for rule in options.rules.split(","):
        clock = lab_day.FastClock(options.speed)
        try:
            with lab_day.DayLab(clock, options.multifactor) as lab, lab_day.DaySite(lab, options.bin_dir.absolute()) as site:
                site.start()
                day = Day(lab, clock, site, options, rule)
                makespan, sweep, gpus, said = day.run()
        finally:
            clock.end()
        shares = ", ".join(f"{share['members']} {gpus[share['rank']]}" for share in sweep["shares"])
        print(f"{rule}: {makespan / 3600:.2f} h; the plan ({shares}) said {sweep['makespan_p50_seconds'] / 3600:.2f} "
              f"({sweep['makespan_p90_seconds'] / 3600:.2f}), one type ({gpus[sweep['single_rank']]}) "
              f"{sweep['single_makespan_p50_seconds'] / 3600:.2f}; lags {lab_day.median(day.lags):.0f} s", flush=True)
        if said:
            print("  " + said.replace("\n", "\n  ").rstrip(), flush=True)


if __name__ == "__main__":
    main()
