#!/usr/bin/env python3
"""The lab itself: it comes up, breaks when told to, and leaves nothing behind.

    lab_test.py [BIN_DIR] [unittest options]
"""
import os
import pathlib
import signal
import subprocess
import sys
import unittest

import lab as slurm_lab
import lab_processes
from lab import Lab, LabError, wait_until

SKIPPED = 77
HERE = pathlib.Path(__file__).parent
# Starts a lab with a job, says where it is, and waits to be killed.
VICTIM = """
import sys
sys.path.insert(0, sys.argv[1])
from lab import Lab
lab = Lab(cluster="tiny")
lab.up()
lab.wait_for_state(lab.submit("-t", "60"), "RUNNING")
print(lab.folder, flush=True)
sys.stdin.read()
"""


def living_pids(folder):
    lines = (folder / "pids").read_text().splitlines()
    return [int(pid) for _, pid, started in map(str.split, lines) if lab_processes.start_time(pid) == started]


class ALab(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = cls.enterClassContext(Lab(cluster="tiny"))

    def test_runs_jobs_as_the_user_who_submits(self):
        job = self.lab.submit("--gres=gpu:gpu4090:4", "-t", "5", user="lab2")
        running = self.lab.wait_for_state(job, "RUNNING")
        self.assertTrue(running["UserId"].startswith("lab2("))
        self.assertEqual(running["NodeList"], "n3")

    def test_comes_back_with_its_jobs_after_slurmctld_was_killed(self):
        job = self.lab.submit("-H", "-t", "5")
        self.lab.kill_slurmctld()
        self.assertNotEqual(self.lab.run("squeue", check=False).returncode, 0)
        self.lab.start_slurmctld()
        self.assertEqual(self.lab.job(job)["JobState"], "PENDING")

    def test_hides_its_configuration_from_clients_only(self):
        self.lab.hide_slurm_conf()
        with self.assertRaises(subprocess.TimeoutExpired):  # Slurm's tools look for it for a minute
            self.lab.run("sinfo", timeout=1)
        self.assertTrue(self.lab.processes.alive("slurmctld"))
        self.lab.show_slurm_conf()
        self.assertEqual(self.lab.run("sinfo", check=False).returncode, 0)

    def test_says_what_was_waited_for_in_vain(self):
        with self.assertRaisesRegex(LabError, "job 4711 to be RUNNING"):
            self.lab.wait_for_state(4711, "RUNNING", timeout=0.1)

    def tearDown(self):
        self.lab.cancel_all()


class TheEnd(unittest.TestCase):
    def test_leaves_no_process_and_no_folder(self):
        with Lab(cluster="tiny") as lab:
            pids = living_pids(lab.folder)
            self.assertEqual(len(pids), 5)  # munged, slurmctld, three slurmds
        self.assertEqual([pid for pid in pids if lab_processes.start_time(pid)], [])
        self.assertFalse(lab.folder.exists())

    def test_also_comes_when_the_test_is_killed(self):
        victim = subprocess.Popen([sys.executable, "-B", "-c", VICTIM, str(HERE)], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(victim.stdin.close)
        self.addCleanup(victim.stdout.close)
        folder = pathlib.Path(victim.stdout.readline().strip())
        processes = lab_processes.Processes(folder)
        pids = living_pids(folder) + processes.job_pids()
        self.assertGreater(len(pids), 5)
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()
        wait_until(lambda: not any(map(lab_processes.start_time, pids)), "every process to end")
        wait_until(lambda: not folder.exists(), "the folder to go")


def main():
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and pathlib.Path(sys.argv[1]).is_dir():
        sys.argv.pop(1)  # the programs are not needed here
    reason = slurm_lab.why_not()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
