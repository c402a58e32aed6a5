#!/usr/bin/env python3
"""Many runs of a training as arrays on several GPU types: real Slurm, real gpuadvised, real gpuadvise.

    [KILLED_SWEEP_RUNS=150] sweep_test.py BIN_DIR [unittest options]
"""
import collections
import os
import random
import signal
import subprocess
import time

import programs
from lab import wait_until

TRAIN = """\
name: search
model: {memory: {base: 1 GB, per_sample: 1 GB, overhead: 1 GB}}
training:
  max_steps: 1000
  effective_batch_size: 4
  start_seconds: 0
  measured:
    - {gpu: rtx4090, gpus: 1, batch: 4, seconds_per_step: 3.6}
    - {gpu: rtx2080ti, gpus: 1, batch: 4, seconds_per_step: 7.2}
resources: {cpus_per_gpu: 1, mem_per_gpu: 1G, gpus: [GPUS]}
slurm: {partition: gpu_shared, extra: [--output=/dev/null, --gpus-per-node=1]}
command: RECORD {index} {micro_batch} {accumulation} {gpus_per_node}
"""

# Notes each run as begun; those of the numbers in FAIL end with 3 the first time.
RECORD = """\
#!/bin/sh
echo "$SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_COUNT $SLURM_ARRAY_TASK_MAX $GPUADVISE_GPU" >> FACTS/begun.$1
sleep SECONDS
case " FAIL " in *" $1 "*) [ "$(wc -l < FACTS/begun.$1)" -gt 1 ] || exit 3 ;; esac
echo "$SLURM_JOB_ID" >> FACTS/done.$1
"""


RUNS = int(os.environ.get("KILLED_SWEEP_RUNS", "150"))  # of the sweep whose keeper is killed again and again


class SweepTest(programs.SiteTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.site.start(poll_interval="1s", accounting_interval="2s")

    def setUp(self):
        super().setUp()
        self.facts = self.site.home("lab1") / f"facts-{self.id()}"
        self.facts.mkdir()
        self.facts.chmod(0o1777)
        self.folder = self.site.home("lab1") / f"sweep-{self.id()}"

    def train_file(self, seconds="0.2", fail="", gpus="rtx4090, rtx2080ti"):
        record = self.facts / "record"
        record.write_text(RECORD.replace("FACTS", str(self.facts)).replace("SECONDS", seconds).replace("FAIL", fail))
        record.chmod(0o755)
        return self.site.write("sweep.yaml", TRAIN.replace("RECORD", str(record)).replace("GPUS", gpus))

    def submit(self, array, *words, **more):
        return self.site.json("submit", self.train_file(**more), "-a", array, "--sweep-dir", self.folder, "--yes", *words)

    def counts(self):
        return self.site.json("sweep", self.folder)["counts"]

    def times(self, what):
        """How often each run left `what`."""
        return collections.Counter({int(file.name.split(".")[1]): len(file.read_text().splitlines())
                                    for file in self.facts.glob(f"{what}.*")})

    def keep(self, *words):
        argv = [self.site.bin / "gpuadvise", "sweep", str(self.folder), "--keep", "--every", "0.3", "--settle", "1", *words]
        return subprocess.Popen([str(a) for a in argv], env=self.site.client_env("lab1"), cwd="/", text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **programs.as_user("lab1"))

    def cancel_waiting(self, task):
        """Unless it begins just now. (On Slurm 22.05 `scancel --state=PENDING` cancels all waiting tasks of its array.)"""
        self.lab.run("scontrol", "hold", task, check=False)
        if self.lab.run("squeue", "-h", "-j", task, "-o", "%t", check=False).stdout.strip() == "PD":
            self.lab.run("scancel", task)

    def progress(self, *words):
        """What the answer to `words` says of the sweep that was submitted last."""
        return next(iter(self.site.json(*words).get("sweeps", [])), {})


class Sweeps(SweepTest):
    # ---- submitting --------------------------------------------------------------------------

    def test_each_type_gets_an_array_and_each_run_its_number(self):
        plan = self.site.json("sweep", self.train_file(), "-n", "130")["sweep"]
        self.assertEqual(len(plan["shares"]), 2, plan)
        self.assertLess(plan["makespan_p50_seconds"], plan["single_makespan_p50_seconds"])
        jobs = self.submit("1-130")["jobs"]
        self.assertEqual(len({job["strategy"]["gpu"] for job in jobs}), 2)
        wait_until(lambda: self.counts()["done"] == 130, "130 runs", 120)
        self.assertEqual(self.times("done"), collections.Counter({run: 1 for run in range(1, 131)}))
        facts = [line.split() for file in self.facts.glob("begun.*") for line in file.read_text().splitlines()]
        self.assertEqual({tuple(fact[1:3]) for fact in facts}, {("130", "130")})
        by_gpu = collections.Counter(fact[3] for fact in facts)
        self.assertEqual(sorted(by_gpu.values()), sorted(share["members"] for share in plan["shares"]))

    def test_without_accounting_the_folder_says_how_runs_ended(self):
        self.submit("1-8", fail="7")
        wait_until(lambda: self.progress("jobs").get("unknown") == 8, "eight runs that nobody accounts for", 60)
        watched = self.site.run("watch", self.folder, check=False)
        self.assertEqual((watched.returncode, watched.stdout[7:]), (1, "7 of 8 done, 1 failed\n"), watched.stderr)

    def test_a_picked_row_gets_all_runs(self):
        job = self.submit("3-8:2%2", "--pick", "1")["jobs"][0]
        self.assertIn("#SBATCH --array=3-8:2%2\n", job["script"])
        wait_until(lambda: self.counts()["done"] == 3, "three runs", 60)
        self.assertEqual(set(self.times("done")), {3, 5, 7})

    def test_what_cannot_be_is_a_sentence(self):
        file = self.train_file()
        for words, said in [(["-a", "1-4%x"], "is not a list of tasks"), (["-a", "5-2"], "is not a list of tasks"),
                            (["--sweep-dir", "x"], "say which with -a")]:
            failed = self.site.run("submit", file, "--yes", *words, check=False)
            self.assertNotEqual(failed.returncode, 0, words)
            self.assertIn(said, failed.stderr, words)
        failed = self.site.run("submit", file, "--yes", "-a", "1-5000", check=False)  # above MaxArraySize
        self.assertIn("nothing was submitted", failed.stdout + failed.stderr)
        self.folder.mkdir()
        failed = self.site.run("submit", file, "--yes", "-a", "1-4", "--sweep-dir", self.folder, check=False)
        self.assertIn("exists already", failed.stderr)
        self.assertEqual(self.queue(user="lab1"), [])

    # ---- keeping -----------------------------------------------------------------------------

    def test_every_run_is_made_once_although_keep_is_killed_and_jobs_are_cancelled(self):
        lucky, kills = random.Random(5), 0
        self.submit(f"1-{RUNS}", seconds=str(RUNS / 75), fail="7 8 90")
        ends, left = time.monotonic() + RUNS / 5, RUNS
        while left > 0 and time.monotonic() < ends:
            keeper = self.keep("--retry", "1")
            if kills % 4 == 0:
                runs = self.site.json("sweep", self.folder)["runs"]
                waiting = [run for run in runs if run["state"] == "waiting"]
                left = sum(run["state"] in ("waiting", "lost") for run in runs)
                for run in lucky.sample(waiting, min(5, len(waiting))):
                    self.cancel_waiting(f"{run['job_id']}_{run['run']}")
            time.sleep(lucky.uniform(.1, 1.5))
            keeper.send_signal(signal.SIGKILL)
            keeper.communicate()
            kills += 1
        keeper = self.keep("--retry", "1")
        said = keeper.communicate(timeout=RUNS)[0]
        self.assertEqual(keeper.returncode, 0, said)
        self.assertIn(f"{RUNS} of {RUNS} done", said)
        self.assertEqual(self.times("done"), collections.Counter({run: 1 for run in range(1, RUNS + 1)}))
        begun = self.times("begun")
        self.assertEqual({run for run, count in begun.items() if count != 1}, {7, 8, 90}, "begun again without a failure")
        self.assertEqual([begun[run] for run in (7, 8, 90)], [2, 2, 2])
        print(f"{RUNS} of {RUNS} runs made once; the keeper was killed {kills} times")

    def test_a_run_that_fails_is_counted_and_ends_the_sweep_with_1(self):
        self.submit("1-4", fail="2")
        keeper = self.keep()
        said = keeper.communicate(timeout=90)[0]
        self.assertEqual(keeper.returncode, 1, said)
        self.assertIn("3 of 4 done, 1 failed (2)", said)
        failed = [run for run in self.site.json("sweep", self.folder)["runs"] if run["state"] == "failed"]
        self.assertEqual([(run["run"], run["exit_status"]) for run in failed], [(2, 3)])

    def test_a_run_that_is_cancelled_or_requeued_is_not_done(self):
        self.submit("1-3", seconds="300")
        wait_until(lambda: self.counts()["running"] == 3, "three running runs", 60)
        runs = {run["run"]: run["job_id"] for run in self.site.json("sweep", self.folder)["runs"]}
        wait_until(lambda: len(self.times("begun")) and len(list(self.facts.glob("begun.*"))) == 3, "their commands", 30)
        self.lab.run("scancel", f"{runs[1]}_1")
        wait_until(lambda: self.counts()["failed"] == 1, "the cancelled run to count as failed", 60)
        self.lab.run("scontrol", "requeue", f"{runs[2]}_2")
        wait_until(lambda: self.counts()["done"] == 0 and self.counts()["running"] + self.counts()["waiting"] == 2,
                   "the requeued run to be in the queue", 60)

    def test_waiting_runs_move_to_gpus_that_become_free(self):
        busy = [self.lab.submit("--gres=gpu:gpu2080:4", "-t", "1-00:00:00", user="lab2") for _ in range(15)]
        for job in busy:
            self.lab.wait_for_state(job, "RUNNING")
        self.site.wait_for_next_snapshot()
        rows = self.site.json("advise", self.train_file(seconds="30"))["strategies"]
        rank = next(row["rank"] for row in rows if (row["gpu"], row["gpus_per_node"]) == ("rtx4090", 1))
        self.submit("1-40", "--pick", rank, seconds="30")
        for job in busy:
            self.lab.run("scancel", job)
        self.site.wait_for_next_snapshot()
        keeper = self.keep()
        wait_until(lambda: self.counts()["running"] > 30, "runs on the RTX 2080 Ti", 60)
        second = self.keep()
        self.assertIn("another `gpuadvise sweep --keep`", second.communicate(timeout=30)[0])
        keeper.kill()
        said = keeper.communicate()[0]
        self.assertRegex(said, r"submitted job \d+: runs \S+ on RTX 2080 Ti × 1")
        self.assertNotIn("neither begun nor queued", said, "a move takes more out of the queue than it puts in")
        self.assertGreater(self.progress("jobs")["moved"], 0)
        begun = [file.read_text().split() for file in self.facts.glob("begun.*")]
        self.assertEqual(len({fact[0] for fact in begun}), len(begun))
        self.assertIn("rtx2080ti", {fact[3] for fact in begun})

    def test_without_slurm_nothing_is_called_lost(self):
        self.submit("1-6", seconds="5")
        keeper = self.keep()
        self.lab.stop_slurmctld()
        try:
            time.sleep(3)
        finally:
            self.lab.continue_slurmctld()
        said = keeper.communicate(timeout=150)[0]
        self.assertEqual(keeper.returncode, 0, said)
        self.assertEqual(self.times("begun"), collections.Counter({run: 1 for run in range(1, 7)}))
        self.assertNotIn("submitted job", said)


class SweepsInAccounting(SweepTest):
    LAB = {"accounting": True}

    def test_all_answers_know_a_sweep_as_one(self):
        jobs = [job["job_id"] for job in self.submit("1-130", seconds="12", fail="7 9")["jobs"]]
        self.assertEqual(len(jobs), 2)
        self.site.wait_for_next_snapshot()
        wait_until(lambda: self.progress("queue", "--me").get("running", 0) > 0, "running runs", 30)
        seen = self.progress("queue", "--me")
        self.assertEqual((seen["job_id"], seen["arrays"], seen["runs"]), (jobs[0], jobs, 130), seen)
        counts = ("done", "failed", "running", "waiting", "unknown")
        self.assertEqual(sum(seen[name] for name in counts), 130, seen)
        self.assertGreater(seen["end_p50"] or 0, time.time() - 5, seen)
        shown = self.site.run("queue", "--me").stdout
        self.assertIn(f"{jobs[0]}_[130 runs]", shown)
        self.assertIn(f"Sweep {jobs[0]}, search: ", shown)
        self.site.restart()  # what was reported is in the history
        watched = self.site.run("watch", self.folder, "--interval", "5", check=False, timeout=120)
        self.assertEqual(watched.returncode, 1, watched.stdout + watched.stderr)
        self.assertIn("128 of 130 done, 2 failed", watched.stdout)
        self.assertEqual([row["sweep"] for row in self.site.json("jobs")["jobs"] if row["job_id"] in jobs], 2 * [jobs[0]])
        # The folder knew of the last ends before slurmdbd did.
        wait_until(lambda: "128 of 130 done" in self.site.run("jobs").stdout, "accounting to know all runs", 60)
        self.assertEqual(self.counts()["failed"], 2, "as the sweep's folder says")


if __name__ == "__main__":
    programs.main(accounting=True)
