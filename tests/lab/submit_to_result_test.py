#!/usr/bin/env python3
"""From submission to result and into the next advice: real Slurm, real daemon, a training stand-in.

    submit_to_result_test.py BIN_DIR [unittest options]
"""
import json
import os
import pathlib
import re
import shutil
import subprocess

import programs
from lab import wait_until

TRAIN = """\
name: lab-train
model: {memory: {base: 5 GB, per_sample: 1.2 GB, overhead: 2 GB}}
training:
  max_steps: 40
  effective_batch_size: 120
  retry_on_oom: true
  measured: [{gpu: l40s, gpus: 6, batch: 10, seconds_per_step: 2.6}]
resources: {cpus_per_gpu: 2, mem_per_gpu: 4G, max_nodes: <MAX_NODES>, gpus: [<GPUS>]}
slurm: {partition: gpu_shared}
output: {dir: <OUTPUT>}
env: {LD_LIBRARY_PATH: <LIBRARY>, FAKE_NVML: <FAKE>}
command: <COMMAND>
"""
HERE = pathlib.Path(__file__).resolve().parent


class SubmitToResult(programs.SiteTest):
    LAB = {"conf": {"MinJobAge": "4"}}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        tools = cls.site.folder / "tools"
        tools.mkdir()
        cls.trainer = tools / "train.py"
        shutil.copy2(HERE / "train_stand_in.py", cls.trainer)
        cls.library = tools / "lib"
        cls.library.mkdir()
        fake = cls.bin_folder.parent / "tests" / "client" / "libfake_nvml.so"
        shutil.copy2(fake, cls.library / "libnvidia-ml.so.1")
        cls.site.start()

    def train_file(self, options, gpus="rtx4090", max_nodes=1, user="lab1", output="out", more=None):
        """A training file whose command is the stand-in with `options`."""
        folder = self.site.home(user) / output
        fake = self.site.home(user) / "nvml"
        fake.mkdir(exist_ok=True)
        fake.chmod(0o777)
        command = (f"/usr/bin/python3 {self.trainer} --batch-size {{micro_batch}} "
                   f"--accumulation {{accumulation}} {options}")
        words = {"MAX_NODES": max_nodes, "GPUS": gpus, "OUTPUT": folder, "LIBRARY": self.library, "FAKE": fake,
                 "COMMAND": command}
        text = TRAIN
        for word, value in words.items():
            text = text.replace(f"<{word}>", str(value))
        for old, new in (more or {}).items():
            text = text.replace(old, new)
        return self.site.write("train.yaml", text, user)

    def submit(self, file, *words, user="lab1", env=None):
        path = {"PATH": f"{self.site.bin}:{os.environ['PATH']}", **(env or {})}
        printed = self.site.run("submit", file, "--yes", *words, user=user, env=path).stdout
        return int(re.search(r"^Submitted job (\d+)", printed, re.M).group(1))

    def wait_for_end(self, job_id, timeout=60):
        wait_until(lambda: f"{job_id}" not in self.queue(), f"job {job_id} to leave the queue", timeout)

    def log_row(self, job_id, user="lab1"):
        rows = [job for job in self.site.json("jobs", user=user)["jobs"] if job["job_id"] == job_id]
        self.assertEqual(len(rows), 1, rows)
        return rows[0]

    def strategy(self, file, gpus_per_node=4, user="lab1"):
        answer = self.site.json("advise", file, user=user)
        return next(s for s in answer["strategies"] if s["gpus_per_node"] == gpus_per_node)

    # ---- the whole loop ----------------------------------------------------------------------

    def test_an_advised_job_survives_out_of_memory_and_makes_the_next_advice_better(self):
        family = {"max_steps: 40": "max_steps: 40\n  max_seq_length: 777"}  # of this test alone
        file = self.train_file("--fits 6", more=family)
        before = self.strategy(file)
        self.assertGreater(before["micro_batch"], 6, "the line says more than the stand-in allows")
        job_id = self.submit(file, "--gres", "gpu:rtx4090:4")
        self.wait_for_end(job_id)
        row = self.log_row(job_id)
        self.assertEqual(row["exit_code"], 0, row)
        self.assertEqual((row["attempts"], row["out_of_memory"]), (2, 1))
        self.assertEqual(row["final_micro_batch"] * row["final_accumulation"] * 4, 120)
        self.assertLessEqual(row["final_micro_batch"], 6)
        self.assertAlmostEqual(row["seconds_per_step"], 0.06, delta=0.05)
        self.assertGreater(row["peak_memory_bytes"], 0)
        wait_until(lambda: self.log_row(job_id)["run_seconds"] is not None, "Slurm's times in the log")
        after = self.strategy(file)
        self.assertLess(after["micro_batch"], before["micro_batch"])
        self.assertIn("measured on 1 of your runs", " ".join(after["reasons"]))
        self.assertLess(after["run_p50_seconds"], before["run_p50_seconds"])
        others_file = self.train_file("", user="lab2", more=family)
        others = self.strategy(others_file, user="lab2")
        self.assertEqual(others["micro_batch"], before["micro_batch"], "one user's word moves nobody else")
        self.assertNotIn("other user", " ".join(others["reasons"]))
        self.assertNotIn(job_id, [job["job_id"] for job in self.site.json("jobs", user="lab2")["jobs"]])
        other = self.site.run("jobs", str(job_id), user="lab2", check=False)
        self.assertEqual(other.returncode, 2, other)
        second = self.submit(self.train_file("--fits 6", user="lab3", more=family), "--gres", "gpu:rtx4090:4", user="lab3")
        self.wait_for_end(second)
        wait_until(lambda: self.log_row(second, "lab3")["run_seconds"] is not None, "Slurm's times in the log")
        agreed = self.strategy(others_file, user="lab2")
        self.assertLess(agreed["micro_batch"], before["micro_batch"], "two users say that it runs out of memory")
        self.assertEqual(agreed["time_limit_seconds"], others["time_limit_seconds"])

    def test_ranks_on_two_nodes_stop_together_and_start_again(self):
        file = self.train_file("--fits 3 --rank-that-fails 1", gpus="rtx2080ti", max_nodes=2,
                               more={"base: 5 GB": "base: 1 GB", "overhead: 2 GB": "overhead: 1 GB"})
        answer = self.site.json("advise", file)
        two = next(s for s in answer["strategies"] if s["nodes"] == 2)
        self.assertGreater(two["micro_batch"], 3, two)
        job_id = self.submit(file, "--pick", two["rank"])
        self.wait_for_end(job_id, 90)
        row = self.log_row(job_id)
        self.assertEqual((row["exit_code"], row["out_of_memory"]), (0, 1), row)
        self.assertEqual(row["final_micro_batch"] * row["final_accumulation"] * 2 * two["gpus_per_node"], 120)

    # ---- when the daemon cannot be reached -----------------------------------------------------

    def test_an_outcome_that_the_daemon_did_not_hear_is_found_in_the_output_folder(self):
        file = self.train_file("--steps 60 --step-seconds 0.1", output="alone")
        job_id = self.submit(file)
        self.lab.wait_for_state(job_id, "RUNNING")
        self.site.stop()
        try:
            self.wait_for_end(job_id)
            left = json.loads((self.site.home("lab1") / "alone" / "gpuadvise-outcome.json").read_text())
            self.assertEqual(left["job_id"], str(job_id))
        finally:
            self.site.start()
        row = self.log_row(job_id)  # `jobs` looks into the folder by itself
        self.assertEqual((row["has_outcome"], row["exit_code"]), (True, 0), row)

    def test_what_no_socket_takes_is_picked_up_from_the_sites_folder(self):
        shared = self.site.folder / "outcomes"
        shared.mkdir()
        shared.chmod(0o1777)
        self.site.restart(outcomes_dir=str(shared), accounting_interval="2s")
        job_id = self.submit(self.train_file("--steps 60 --step-seconds 0.1", output="gone"))
        self.lab.wait_for_state(job_id, "RUNNING")
        self.site.stop()
        try:
            self.wait_for_end(job_id)
            self.assertEqual([f.name for f in shared.iterdir() if f"-{job_id}-" not in f.name], [])
            (self.site.home("lab1") / "gone" / "gpuadvise-outcome.json").unlink()
        finally:
            self.site.start()
        wait_until(lambda: self.log_row(job_id)["has_outcome"], "the daemon to look into the folder", 60)
        self.assertEqual(self.log_row(job_id)["exit_code"], 0)

    # ---- a run that is longer than a job may be --------------------------------------------------

    def test_a_run_longer_than_its_limit_goes_on_from_its_checkpoint_as_the_same_job(self):
        saved = self.site.home("lab1") / "saved"
        file = self.train_file(
            f"--steps 150 --step-seconds 0.2 --checkpoint {saved} {{resume}}",
            more={"retry_on_oom: true": "retry_on_oom: true\n  resume: --resume"})
        job_id = self.submit(file, "-t", "600")
        self.lab.wait_for_state(job_id, "RUNNING")
        # Slurm's signal before the limit, now: limits are whole minutes.
        wait_until(lambda: "step 5/" in self.output_of(job_id), "some steps")
        self.lab.run("scancel", "--signal=USR1", "--batch", job_id)
        self.lab.wait_for_state(job_id, "PENDING", "REQUEUED")
        self.assertTrue(saved.exists())
        # Slurm waits two minutes; earlier, but not in the second in which the first start is being ended.
        wait_until(lambda: "COMPLETING" not in self.lab.run("scontrol", "show", "job", job_id).stdout, "its end")
        self.lab.run("scontrol", "update", f"jobid={job_id}", "starttime=now+5")
        wait_until(lambda: "resumed at step" in self.output_of(job_id), "the second start", 90)
        self.wait_for_end(job_id, 90)
        row = self.log_row(job_id)
        self.assertEqual((row["attempts"], row["exit_code"]), (2, 0), row)

    def output_of(self, job_id):
        path = self.site.home("lab1") / f"lab-train-{job_id}.out"
        return path.read_text() if path.exists() else ""

    # ---- bad input -------------------------------------------------------------------------------

    def test_outcomes_of_others_forged_or_cut_ones_change_nothing(self):
        job_id = self.submit(self.train_file(""))
        self.wait_for_end(job_id)
        mine = (self.site.home("lab1") / "out" / "gpuadvise-outcome.json").read_text()
        forged = self.site.write("forged.json", mine.replace('"exit_code": 0', '"exit_code": 9'), "lab2")
        os.chown(forged, os.stat(self.site.home("lab2")).st_uid, -1)
        cut = self.site.write("cut.json", mine[:len(mine) // 2])
        os.chown(cut, os.stat(self.site.home("lab1")).st_uid, -1)
        done = self.site.run("jobs", "--import", forged, user="lab2", check=False)
        self.assertIn("no job", done.stdout + done.stderr)
        done = self.site.run("jobs", "--import", cut, check=False)
        self.assertIn("cut", done.stdout + done.stderr)
        done = self.site.run("jobs", "--import", forged, check=False)
        self.assertIn("somebody else", done.stdout + done.stderr)
        self.assertEqual(self.log_row(job_id)["exit_code"], 0)

    def test_a_full_disk_does_not_end_the_training(self):
        full = self.site.home("lab1") / "full"
        full.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k,mode=1777", "tmpfs", full], check=True)
        try:
            (full / "filler").write_bytes(b"x" * 4096)
            job_id = self.submit(self.train_file("", output="full"), "--force")
            self.wait_for_end(job_id)
            row = self.log_row(job_id)
            self.assertEqual((row["has_outcome"], row["exit_code"]), (True, 0), "the daemon heard of it")
        finally:
            subprocess.run(["umount", full], check=True)

    def test_a_command_that_goes_elsewhere_and_execs_is_watched_all_the_same(self):
        file = self.train_file("", output="here",
                               more={"command: ": "setup: [cd /tmp, WHERE=/]\ncommand: cd $WHERE && exec "})
        job_id = self.submit(file)
        self.wait_for_end(job_id)
        self.assertEqual(self.log_row(job_id)["exit_code"], 0)
        self.assertTrue((self.site.home("lab1") / "here" / "gpuadvise-outcome.json").exists())

    def test_a_node_without_gpuadvise_trains_unwatched(self):
        file = self.train_file("")
        job_id = self.submit(file, env={"PATH": os.environ["PATH"]})
        self.wait_for_end(job_id)
        self.assertIn("step 40/40", self.output_of(job_id))


if __name__ == "__main__":
    programs.main()
