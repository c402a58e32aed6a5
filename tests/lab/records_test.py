#!/usr/bin/env python3
"""`gpuadvise logs`, `eff` and `queue` beside scontrol, sacct and squeue of a real Slurm.

    records_test.py BIN_DIR [unittest options]
"""
import json
import threading

import programs
from lab import wait_until


class Records(programs.SiteTest):
    LAB = {"cluster": "tiny", "accounting": True}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.site.start()

    def log_name(self, name):
        return str(self.site.home("lab1") / f"{name}-%x-%j.out")

    def submit(self, name, command, *options):
        return self.lab.submit("--gres=gpu:gpu4090:1", "-c", "2", "-t", "60", "-J", "say", *options, command=command,
                               output=self.log_name(name))

    def test_a_log_is_found_followed_and_found_again_after_the_end(self):
        job = self.submit("follow", "for i in 1 2 3; do echo line $i; sleep 1; done")
        told = []
        reader = threading.Thread(target=lambda: told.append(self.site.run("logs", str(job), "-f", timeout=90)))
        reader.start()
        reader.join(90)
        self.assertEqual(told[0].stdout, "line 1\nline 2\nline 3\n", told[0])
        self.assertIn(f"job {job} has ended: COMPLETED", told[0].stderr)
        self.assertEqual(self.site.run("logs", str(job), "-n", "1").stdout, "line 3\n")
        path = self.site.run("logs", str(job), "--path").stdout.strip()
        self.assertEqual(path, self.log_name("follow").replace("%x", "say").replace("%j", str(job)))

    def test_what_a_job_used_is_what_sacct_says(self):
        job = self.submit("eff", "sleep 3")
        self.lab.wait_for_state(job, "RUNNING")
        running = self.site.run("eff", str(job), check=False)
        self.assertEqual(running.returncode, 2)
        self.assertRegex(running.stderr, "has not ended|accounting knows no job")
        self.lab.wait_for_state(job, "COMPLETED")

        def sacct_row():
            """Nothing while slurmdbd has not written all of it: the end may arrive before the limit."""
            words = self.lab.run("sacct", "-X", "-n", "-P", "-j", str(job), "-o",
                                 "ElapsedRaw,TimelimitRaw,AllocCPUS,State").stdout.strip().split("|")
            return words if all(words) and words[-1] == "COMPLETED" else None
        cells = wait_until(sacct_row, "accounting to know the job", 60)
        found = json.loads(self.site.run("eff", str(job), "--json").stdout)["jobs"][0]
        self.assertEqual([found["elapsed_seconds"], found["time_limit_seconds"], found["cpus"], found["state"]],
                         [int(cells[0]), 60 * int(cells[1]), int(cells[2]), cells[3]])
        self.assertEqual(found["gpus"], 1)
        self.assertIn("say", self.site.run("eff", "-u", "lab1", "-S", "1h").stdout)

    def test_the_queue_chooses_as_squeue_does(self):
        first = self.submit("queue", "sleep 600")
        second = self.submit("queue", "sleep 600", "--begin=now+1hour")
        self.lab.wait_for_state(first, "RUNNING")
        self.site.wait_for_next_snapshot()
        for options in (["-t", "R"], ["-t", "PD"], ["-j", f"{first},{second}"], ["-u", "lab1,lab2"], ["-j", str(second)]):
            ours = json.loads(self.site.run("queue", "--json", *options).stdout)["jobs"]
            theirs = self.lab.run("squeue", "-h", "-o", "%i", *options).stdout.split()
            self.assertEqual(sorted(job["job_id"] for job in ours), sorted(map(int, theirs)), options)
        self.lab.cancel_all()


if __name__ == "__main__":
    programs.main(accounting=True)
