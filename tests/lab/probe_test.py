#!/usr/bin/env python3
"""gpuadvise probe on a real Slurm: a job of one GPU, and what it measured in the training file.

    probe_test.py BIN_DIR [unittest options]
"""
import os
import pathlib
import shutil
import signal
import subprocess

import programs

TRAIN = """\
name: lab-probe   # stays
training:
  max_steps: 4000
  effective_batch_size: 24
  measured: [{gpu: l40s, gpus: 6, batch: 4, seconds_per_step: 99}]  # a guess
resources: {cpus_per_gpu: 2, mem_per_gpu: 4G, gpus: [rtx4090, l40s]}
slurm: {partition: gpu_shared}
command: <COMMAND>
"""
HERE = pathlib.Path(__file__).resolve().parent


class Probe(programs.SiteTest):
    LAB = {"conf": {"MinJobAge": "4"}}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tools = cls.site.folder / "tools"
        cls.tools.mkdir()
        shutil.copy2(HERE / "train_stand_in.py", cls.tools / "train.py")
        fake = cls.bin_folder.parent / "tests" / "client" / "libfake_nvml.so"
        shutil.copy2(fake, cls.tools / "libnvidia-ml.so.1")
        cls.site.start()

    def train_file(self, options="--steps {max_steps}", user="lab1"):
        nvml = self.site.home(user) / "nvml"
        nvml.mkdir(exist_ok=True)
        nvml.chmod(0o777)
        for name, text in (("name", "NVIDIA L40S"), ("total_gib", "48"), ("used", "400000000")):
            (nvml / name).write_text(text)
            (nvml / name).chmod(0o666)
        command = (f"/usr/bin/python3 {self.tools}/train.py --batch-size {{micro_batch}} "
                   f"--accumulation {{accumulation}} {options}")
        return self.site.write("train.yaml", TRAIN.replace("<COMMAND>", command), user)

    def probe(self, file, *words, user="lab1", check=True):
        env = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": str(self.tools),
               "FAKE_NVML": str(self.site.home(user) / "nvml")}
        return self.site.run("probe", file, *words, user=user, env=env, check=check, timeout=180)

    def test_a_job_of_one_gpu_measures_and_the_ranking_follows(self):
        file = pathlib.Path(self.train_file())
        done = self.probe(file)
        self.assertIn("probing on one L40S in gpu_shared, free now", done.stderr)
        self.assertIn("step 20/20", done.stdout, "the training's own words pass through")
        text = file.read_text()
        self.assertIn("name: lab-probe   # stays\n", text)
        # The stand-in takes 2 GiB and 1.2 GiB a sample.
        self.assertIn("memory: {base: 2.147 GB, per_sample: 1.288 GB}", text)
        self.assertRegex(text, r"measured: \[\{gpu: l40s, gpus: 1, batch: 8, effective_batch_size: 8, "
                               r"seconds_per_step: 0\.0\d+, peak: 12\.46 GB\}, \{gpu: l40s, gpus: 6, .*\]  # a guess\n")
        before, after = done.stdout.split("Before:\n")[1].split("After:\n")
        self.assertIn("4 × 1 × 6 = 24", before, "only the batch that was timed is known to fit")
        self.assertRegex(after, r"(12 × 1 × 2|8 × 1 × 3) = 24", "a larger batch fits, as measured")
        self.assertEqual(sorted(p.name for p in file.parent.iterdir() if "probe" in p.name), [])
        self.assertIn("L40S", self.site.run("advise", file).stdout)

    def test_out_of_memory_in_the_job_means_a_smaller_batch(self):
        file = self.train_file("--fits 3 --steps 100000")
        done = self.probe(file, "--micro-batch", "2", "--micro-batch", "6")
        self.assertIn("micro-batch 6: out of memory", done.stdout)
        self.assertIn("micro-batch 3: ", done.stdout)
        self.assertIn("memory: {base: 2.147 GB, per_sample: 1.288 GB}", pathlib.Path(file).read_text())

    def test_a_command_that_fails_in_the_job_leaves_the_file_alone(self):
        file = pathlib.Path(self.train_file("--nothing-like-that"))
        before = file.read_text()
        done = self.probe(file, check=False)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("the command ended with status 2 before its first step", done.stderr)
        self.assertEqual(file.read_text(), before)

    def test_a_probe_that_waits_says_why_and_ctrl_c_leaves_no_job(self):
        file = self.train_file()
        self.lab.submit("-N1", "--gres=gpu:gpu4090:4", "-w", "classt25", "-t", "60", user="lab2")
        self.site.wait_for_next_snapshot()
        with subprocess.Popen([str(self.site.bin / "gpuadvise"), "probe", str(file), "--gpu", "rtx4090"],
                              cwd=self.site.home("lab1"), env=self.site.client_env("lab1"), text=True,
                              stderr=subprocess.PIPE, **programs.as_user("lab1")) as probe:
            number = programs.wait_until(lambda: self.lab.run("squeue", "-ho", "%i", "-u", "lab1").stdout.strip(),
                                         "the probe's job")
            said = ""
            while "waits: " not in said and probe.poll() is None:
                said += probe.stderr.readline()
            probe.send_signal(signal.SIGINT)
            said += probe.communicate(timeout=30)[1]
        self.assertIn("probing on one RTX 4090 in gpu_shared, which starts in", said)
        self.assertIn(f"job {number} waits for its GPU; Ctrl-C ends the wait and removes the job", said)
        self.assertRegex(said, f"job {number} waits: .*; it starts in")
        self.assertIn("interrupted: the probe's job is removed", said)
        self.assertEqual(self.lab.run("squeue", "-h", "-u", "lab1").stdout, "")

    def test_a_gpu_that_the_file_does_not_allow_is_refused(self):
        done = self.probe(self.train_file(), "--gpu", "rtx2080ti", check=False)
        self.assertEqual(done.returncode, 3, done)
        self.assertIn("no GPU of this cluster is allowed by this file", done.stderr)


if __name__ == "__main__":
    programs.main()
