#!/usr/bin/env python3
"""When a job would start, asked on a real cluster; and what it costs Slurm to be asked.

    end_to_end_when_test.py BIN_DIR [unittest options]
"""
import concurrent.futures
import re
import shlex

import programs
from lab import wait_until

HOUR = 3600
WHOLE_4090 = ["-p", "gpu_shared", "--gres", "gpu:gpu4090:4"]
TRAIN = """\
name: on-the-4090
model: {memory: {base: 5 GB, per_sample: 1.2 GB, overhead: 2 GB}}
training:
  max_steps: 10000
  effective_batch_size: 120
  measured: [{gpu: rtx4090, gpus: 4, batch: 10, seconds_per_step: 3.9}]
resources: {cpus_per_gpu: 2, mem_per_gpu: 4G, gpus: [rtx4090]}
slurm: {time: 15:00:00}
command: sleep 3000
"""

SHORT_TRAIN = TRAIN.replace("max_steps: 10000", "max_steps: 300").replace("slurm: {time: 15:00:00}\n", "").replace(
    "gpus: 4, batch: 10, seconds_per_step: 3.9", "gpus: 2, batch: 10, seconds_per_step: 7.8")


class Waiting(programs.SiteTest):
    """Answers from a daemon that polls all the time."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.site.start()

    def occupy_the_4090(self, hours=1):
        """A job of `hours` runs on the only 4090 node and a pending one of 3 h waits for it."""
        running = self.lab.submit("--gres=gpu:gpu4090:4", "-t", hours * 60, user="lab1")
        self.lab.wait_for_state(running, "RUNNING")
        pending = self.lab.submit("--gres=gpu:gpu4090:4", "-t", 3 * 60, user="lab2")
        self.lab.wait_for_reason(pending, "Priority", "Resources")
        self.site.wait_for_next_snapshot()
        return running, pending

    def test_a_pending_job_counts_where_slurms_own_estimate_forgets_it(self):
        self.occupy_the_4090()
        answer = self.site.when(*WHOLE_4090, "-t", "60", user="lab3")
        self.assertAlmostEqual(answer["wait_at_limits_seconds"], 4 * HOUR, delta=120)
        self.assertEqual(answer["jobs_before"], 1)
        # Slurm spreads the pending job's 3 h over all 21 nodes of the partition: 1 h 08.
        self.assertLess(self.slurms_own_estimate("--gres=gpu:gpu4090:4", "-t", "60"), 1.25 * HOUR)

    def test_what_is_promised_is_what_slurm_then_plans(self):
        """Slurm's own plan for a job exists only once it waits; ours is asked before."""
        self.occupy_the_4090()
        for user, options in [("lab3", [*WHOLE_4090, "-t", "90"]), ("lab4", [*WHOLE_4090, "-t", "600"]),
                              ("lab5", ["--gres", "gpu:gpu4090:1", "-t", "60"])]:
            answer = self.site.when(*options, user=user)
            promised = answer["start_p50"] - answer["wait_p50_seconds"] + answer["wait_at_limits_seconds"]
            job = self.lab.submit(*options, user=user)
            planned = wait_until(lambda job=job: self.planned_start(job), f"Slurm to plan job {job}")
            self.assertAlmostEqual(promised, planned, delta=120, msg=options)
            self.site.wait_for_next_snapshot()

    def planned_start(self, job):
        start = self.lab.job(job)["StartTime"]
        return None if start == "Unknown" else int(self.lab.run("date", "-d", start, "+%s").stdout)

    def test_a_submitted_job_that_is_cancelled_is_forgotten(self):
        train = self.site.write("train.yaml", TRAIN)
        for _ in range(2):
            answer = self.site.json("submit", train, "--yes")
            self.lab.run("scancel", answer["job_id"])
        self.lab.cancel_all()
        for _ in range(4):
            self.site.wait_for_next_snapshot()
        answer = self.site.when(*WHOLE_4090, "-t", "60", user="lab3")
        self.assertEqual((answer["jobs_before"], answer["wait_p50_seconds"] < 60), (0, True))

    def test_only_the_gpus_that_are_taken_are_waited_for(self):
        self.occupy_the_4090()
        answer = self.site.when("--gres", "gpu:gpu2080:4", "-t", "60", user="lab3")
        self.assertLess(answer["wait_p50_seconds"], 60)
        gpus = {g["gpu"]: g for g in self.site.json("gpus")["gpus"]}
        self.assertEqual((gpus["rtx4090"]["total"], gpus["rtx4090"]["free"]), (4, 0))
        self.assertEqual((gpus["rtx2080ti"]["total"], gpus["rtx2080ti"]["free"]), (60, 60))
        self.assertGreater(gpus["rtx4090"]["wait_node_seconds"], 0)
        self.assertEqual(gpus["rtx2080ti"]["wait_node_seconds"], 0)

    def test_a_session_gets_what_is_free_now(self):
        """The line is Slurm's own, and --run puts salloc in its place, whose shell ends at once without a terminal."""
        self.occupy_the_4090()
        shown = self.site.run("now", "-t", "30", "-c", "2", user="lab3").stdout
        self.assertNotIn("gpu4090", line := next(line for line in shown.splitlines() if line.startswith("  salloc ")))
        job = self.lab.submit(*shlex.split(line)[1:], user="lab3")
        self.lab.wait_for_state(job, "RUNNING")
        granted = self.site.run("now", "-t", "30", "--largest", "--run", user="lab3")
        self.assertRegex(granted.stderr, r"(?s)salloc --gpus=gpul40s:1 .*Granted job allocation \d+")

    def test_nothing_free_is_said_with_the_soonest(self):
        self.occupy_the_4090()
        whole = ["-p", "gpu_shared", "--gpus-per-node", "gpu4090:4", "--gpu-memory", "20G"]
        refused = self.site.run("now", *whole, user="lab3", check=False)
        self.assertEqual(refused.returncode, 2, refused.stdout)
        self.assertIn("ask gpuadvise when", refused.stderr)
        shown = self.site.run("now", "--gpus-per-node", "gpu4090:4", "-t", "90", user="lab3").stdout
        self.assertIn("Nothing surely starts within a minute. The soonest, ", shown)

    def test_a_short_job_beside_a_pending_one_is_backfilled(self):
        running = self.lab.submit("--gres=gpu:gpu4090:2", "-t", "120", user="lab1")
        self.lab.wait_for_state(running, "RUNNING")
        pending = self.lab.submit("--gres=gpu:gpu4090:4", "-t", "180", user="lab2")
        self.lab.wait_for_reason(pending, "Priority", "Resources")
        self.site.wait_for_next_snapshot()
        short = self.site.when("--gres", "gpu:gpu4090:2", "-t", "60", user="lab3")
        long = self.site.when("--gres", "gpu:gpu4090:2", "-t", "240", user="lab3")
        self.assertLess(short["wait_p50_seconds"], 60)
        self.assertAlmostEqual(long["wait_at_limits_seconds"], 5 * HOUR, delta=120)
        backfilled = self.lab.submit("--gres=gpu:gpu4090:2", "-t", "60", user="lab3")
        self.lab.wait_for_state(backfilled, "RUNNING")  # Slurm agrees

    def test_a_limit_that_is_advised_starts_the_job(self):
        """A training that asks for ten hours waits behind one that wants the whole node; with the advised limit, or
        with --time-min at it, it runs before."""
        running = self.lab.submit("--gres=gpu:gpu4090:2", "-t", "120", user="lab1")
        self.lab.wait_for_state(running, "RUNNING")
        pending = self.lab.submit("--gres=gpu:gpu4090:4", "-t", "180", user="lab2")
        self.lab.wait_for_reason(pending, "Priority", "Resources")
        self.site.wait_for_next_snapshot()
        train = self.site.write("train.yaml", SHORT_TRAIN, "lab3")
        job = self.site.json("submit", train, "--gres=gpu:gpu4090:2", "-t", "600", "--yes", user="lab3")["job_id"]
        self.lab.wait_for_reason(job, "Priority", "Resources")
        self.site.wait_for_next_snapshot()
        answer = self.site.json("why", job, user="lab3")
        advice = answer["limit_advice"]
        self.assertRegex(advice["words"], r"^-t 0\d:\d\d:00 instead of 10:00:00: starts .* sooner.*would be cut off$")
        self.assertLess(answer["limits"][0]["risk"], 0.05)
        self.assertIn(advice["command"], self.site.run("why", job, user="lab3").stdout)
        self.lab.run(*advice["command"].split(), user="lab3")
        self.lab.wait_for_state(job, "RUNNING")
        self.lab.run("scancel", job)
        soft = self.lab.submit("--gres=gpu:gpu4090:2", "-t", "600", f"--time-min={advice['time_limit_seconds'] // 60}",
                               user="lab3")
        self.lab.wait_for_state(soft, "RUNNING")

    def test_an_array_is_answered_to_its_last_task(self):
        """Three tasks that take the node one after the other, asked about and then submitted."""
        options = [*WHOLE_4090, "-t", "30"]
        asked = self.site.when(*options, "--array=1-3", user="lab3")
        self.assertLess(asked["wait_p50_seconds"], 60)
        self.assertEqual((asked["array"]["tasks"], asked["array"]["tasks_played"]), (3, 3))
        one_by_one = self.site.when("--gres", "gpu:gpu4090:1", "-t", "30", "--array=1-3%1", user="lab3")
        together = self.site.when("--gres", "gpu:gpu4090:1", "-t", "30", "--array=1-3", user="lab3")
        self.assertAlmostEqual(one_by_one["array"]["wait_at_limits_seconds"], HOUR, delta=600)
        self.assertLess(together["array"]["wait_at_limits_seconds"], 120)
        job = self.lab.submit(*options, "--array=1-3", user="lab3")
        promised = asked["start_p50"] - asked["wait_p50_seconds"] + asked["array"]["wait_at_limits_seconds"]
        self.assertAlmostEqual(asked["array"]["wait_at_limits_seconds"], HOUR, delta=120)
        # Slurm plans task after task; the record shows the last one that it has planned, by 24.11 the next one.
        shown = promised - (HOUR / 2 if self.lab.release >= (24, 11) else 0)
        wait_until(lambda: abs((self.planned_start(f"{job}_3") or 0) - shown) < 120, "Slurm to plan its tasks")

    def test_a_job_script_is_asked_about_by_its_sbatch_lines(self):
        self.occupy_the_4090()
        script = self.site.write("job.sh", "#!/bin/bash\n#SBATCH -p gpu_shared\n#SBATCH --gres=gpu:gpu4090:1 -t 30\n"
                                           "srun hostname\n")
        self.assertAlmostEqual(self.site.when(script)["wait_at_limits_seconds"], 4 * HOUR, delta=120)
        text = self.site.run("when", script).stdout
        self.assertRegex(text, r"gpu:gpu4090:1 · limit 00:30:00 .*\n +starts in")

    def test_a_drained_node_is_said_to_be_the_reason(self):
        self.lab.run("scontrol", "update", "nodename=classt25", "state=drain", "reason=test")
        try:
            self.site.wait_for_next_snapshot()
            gpus = {g["gpu"]: g for g in self.site.json("gpus")["gpus"]}
            self.assertEqual((gpus["rtx4090"]["total"], gpus["rtx4090"]["usable"]), (4, 0))
            done = self.site.run("advise", self.site.write("train.yaml", TRAIN), check=False)
            self.assertEqual(done.returncode, 3, done)
            self.assertIn("classt25 is down or drained", done.stdout)
        finally:
            self.lab.run("scontrol", "update", "nodename=classt25", "state=resume")

    def test_the_file_that_init_writes_can_be_asked_about_and_all_is_well(self):
        self.site.run("init", "new.yaml", user="lab3")
        self.assertIn("RTX 4090", self.site.run("advise", "new.yaml", user="lab3").stdout)
        self.assertNotIn("FAIL", self.site.run("doctor", user="lab3").stdout.upper())

    def slurms_own_estimate(self, *options):
        """In how many seconds sbatch --test-only says the job would start."""
        done = self.lab.run("sbatch", "--test-only", *options, "--wrap=true", user="lab3")
        start = re.search(r"to start at (\S+)", done.stderr).group(1)
        now = int(self.lab.run("date", "+%s").stdout)
        return int(self.lab.run("date", "-d", start, "+%s").stdout) - now


class Seldom(programs.SiteTest):
    """Answers from a daemon that polls once an hour."""
    LAB = {"cluster": "tiny"}
    SETTINGS = {"poll_interval": "1h", "policy_interval": "1h"}

    def setUp(self):
        self.site.start()
        self.addCleanup(self.site.stop)

    def submit(self, user):
        """Submits, and waits until the daemon's queue has the job: long before the hour is over. The strategy."""
        train = self.site.write("train.yaml", TRAIN, user)
        answer = self.site.json("submit", train, "--yes", user=user)
        wait_until(lambda: self.site.ask(f"/v1/jobs/{answer['job_id']}")[0] == 200, "the job in the daemon's queue", 30)
        return answer["strategy"]

    def test_a_job_just_submitted_is_pending_for_the_next_caller(self):
        before = self.site.when(*WHOLE_4090, "-t", "60", user="lab2")
        self.assertLess(before["wait_p50_seconds"], 60)
        strategy = self.submit("lab1")
        after = self.site.when(*WHOLE_4090, "-t", "60", user="lab2")
        self.assertAlmostEqual(after["wait_at_limits_seconds"], strategy["time_limit_seconds"], delta=120)
        theirs = self.site.write("train.yaml", TRAIN, "lab2")
        advised = self.site.json("advise", theirs, user="lab2")["strategies"][0]
        self.assertAlmostEqual(advised["wait_at_limits_seconds"], 15 * HOUR, delta=120)

    def test_people_who_ask_within_one_poll_are_not_promised_the_same_gpus(self):
        for place, user in enumerate(("lab1", "lab2", "lab3")):
            self.assertAlmostEqual(self.submit(user)["wait_at_limits_seconds"], place * 15 * HOUR, delta=120)

    def test_a_thousand_questions_from_many_processes_cost_slurmctld_nothing(self):
        train = self.site.write("train.yaml", TRAIN, "lab2")
        questions = [("gpus",), ("advise", train), ("when", *WHOLE_4090, "-t", "60"), ("queue",)]
        before = self.rpcs()
        with concurrent.futures.ThreadPoolExecutor(16) as many:
            done = [many.submit(self.site.run, *questions[i % len(questions)], user="lab2") for i in range(1000)]
            for each in done:
                each.result()
        after = self.rpcs()
        for user in ("lab2", programs.DAEMON_USER):
            self.assertEqual(after.get(user, 0), before.get(user, 0), f"RPCs of {user}")

    def rpcs(self):
        """RPCs that slurmctld has served, by user."""
        text = self.lab.run("sdiag").stdout
        part = text[text.index("statistics by user"):].split("\n\n")[0]
        found = re.findall(r"^\s*(\S+)\s*\(\s*\d+\)\s*count:(\d+)", part, re.M)
        self.assertTrue(found, text)
        return {user: int(count) for user, count in found}


if __name__ == "__main__":
    programs.main()
