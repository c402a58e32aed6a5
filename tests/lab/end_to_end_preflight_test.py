#!/usr/bin/env python3
"""What a job needs is looked at before it is submitted: real Slurm with limits, real folders of real users.

    end_to_end_preflight_test.py BIN_DIR [unittest options]
"""
import json
import re

import programs
from lab import wait_until

TRAIN = """\
name: lab-train
model: {memory: {base: 5 GB, per_sample: 1.2 GB, overhead: 2 GB}}
training:
  max_steps: 10000
  effective_batch_size: [120, 144]
  measured: [{gpu: rtx4090, gpus: 4, batch: 10, seconds_per_step: 3.9}]
resources: {cpus_per_gpu: 2, mem_per_gpu: 4G, max_nodes: 1, gpus: [rtx4090]}
slurm: {partition: gpu_shared, extra: [--output=logs/%x/%j.out]}
output: {dir: OUTPUT, checkpoint: SIZE, keep: 5, save_steps: 500}
command: bash train.sh --batch {micro_batch} {accumulation}
"""


class Preflight(programs.SiteTest):
    LAB = {"accounting": True, "cluster": "tiny"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.site.start()

    def train_file(self, output="$HOME/runs", size="1 MB"):
        self.site.write("train.sh", "sleep 600\n")
        return self.site.write("train.yaml", TRAIN.replace("OUTPUT", output).replace("SIZE", size))

    def checks(self, *words, **more):
        """`doctor FILE --json`: {subject: (health, finding)}."""
        done = self.site.run("doctor", "--json", *words, check=False, **more)
        return {c["check"]: (c["health"], c["finding"]) for c in json.loads(done.stdout)["checks"]}

    def test_a_job_that_will_run_passes_every_check_and_nothing_is_made_or_submitted(self):
        found = self.checks(self.train_file())
        self.assertEqual({health for health, _ in found.values()}, {"ok"}, found)
        self.assertRegex(found["slurm"][1], r"accepts the job and estimates a start today \d\d:\d\d")
        self.assertEqual(self.queue(), [])
        self.assertFalse((self.site.home("lab1") / "logs").exists())

    def test_the_log_folder_is_made_and_the_job_writes_into_it(self):
        printed = self.site.run("submit", self.train_file(), "--yes").stdout
        job_id = int(re.search(r"^Submitted job (\d+)", printed, re.M).group(1))
        logs = self.site.home("lab1") / "logs"
        # Slurm says RUNNING before the job's own process opens the file.
        # Jobs of the other tests may write theirs meanwhile.
        wait_until((logs / "lab-train" / f"{job_id}.out").exists, f"job {job_id} to open its log")

    def test_an_output_folder_of_somebody_else_stops_the_submission(self):
        other = self.site.home("lab2")
        other.chmod(0o755)
        done = self.site.run("submit", self.train_file(str(other / "runs")), "--yes", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("error    output", done.stdout)
        self.assertIn("--force submits anyway", done.stderr)
        self.assertEqual(self.queue(), [])
        forced = self.site.run("submit", self.train_file(str(other / "runs")), "--yes", "--force").stdout
        self.assertIn("Submitted job", forced)

    def test_checkpoints_that_do_not_fit_stop_the_submission(self):
        health, finding = self.checks(self.train_file(size="900 TB"))["space"]
        self.assertEqual(health, "error")
        self.assertIn("no room for even one", finding)

    def test_what_slurm_refuses_is_told_in_its_own_words(self):
        done = self.site.run("submit", self.train_file(), "--yes", "--", "--reservation=nope", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(" ".join(done.stdout.split()), "sbatch --test-only rejects the job: .*reservation")
        self.assertEqual(self.queue(), [])

    def test_an_account_that_is_not_the_callers_is_an_error(self):
        done = self.site.run("doctor", self.train_file(), "-A", "a2", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(" ".join(done.stdout.split()), r"error (strategies|advice) [^✔]*a2")


if __name__ == "__main__":
    programs.main(accounting=True)
