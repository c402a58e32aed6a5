#!/usr/bin/env python3
"""The history in a PostgreSQL server: kept, while the server is away, and shared with a standby. A real Slurm throughout.

    postgres_test.py BIN_DIR [unittest options]
"""
import signal
import subprocess
import sys
import threading
import time

import postgres
import programs
from lab import wait_until
from standby_test import Standby


class HistoryInAServer(programs.SiteTest):
    LAB = {"cluster": "tiny"}
    SETTINGS = {"source": "slurm-cli", "accounting_interval": "0s"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = cls.enterClassContext(postgres.Postgres())
        cls.site.settings["history"] = cls.server.url(programs.DAEMON_USER)

    def setUp(self):
        self.site.start(history=self.server.url(programs.DAEMON_USER))
        self.addCleanup(self.site.stop)

    def rows(self):
        return {int(job): scored for job, scored, *_ in
                self.server.sql("SELECT job_id, coalesce(nullif(scored_by, ''), '-') FROM job")}

    def running_job(self):
        job = self.lab.submit("--gres=gpu:1", "-t", "60")
        self.lab.wait_for_state(job, "RUNNING")
        return job

    def history(self):
        return self.site.health().get("history") or {}

    def test_jobs_are_rows_and_no_password_is_told(self):
        job = self.running_job()
        wait_until(lambda: job in self.rows(), "a row of the job")
        self.assertIn("127.0.0.1", self.history()["file"])
        self.site.stop()
        shown = subprocess.run([self.site.bin / "gpuadvised", "--config", self.site.config, "--check-config"], text=True,
                               capture_output=True, user=programs.DAEMON_USER, check=True).stdout
        count = len(self.rows())
        self.assertRegex(shown, rf"# history: postgresql://gpuadvise@127\.0\.0\.1:\d+/postgres, .*, {count} job")
        self.site.start(fresh=False)
        wait_until(lambda: self.history().get("jobs") == count, "the row after a restart")
        for text in (shown, self.site.log.read_text(), str(self.site.health())):
            self.assertNotIn(postgres.PASSWORD, text)
        self.site.stop()
        with_password = self.site.settings["history"].replace("gpuadvise@", f"gpuadvise:{postgres.PASSWORD}@")
        self.site.start(history=with_password)
        shown = subprocess.run([self.site.bin / "gpuadvised", "--config", self.site.config, "--check-config"], text=True,
                               capture_output=True, user=programs.DAEMON_USER, check=True).stdout
        for text in (shown, self.site.log.read_text(), str(self.site.health())):
            self.assertNotIn(postgres.PASSWORD, text)

    def test_a_server_that_crashes_costs_no_answer_and_no_row(self):
        before = self.running_job()
        wait_until(lambda: before in self.rows(), "a row of the job")
        self.server.stop(signal.SIGQUIT)
        self.addCleanup(lambda: self.server.process or self.server.start())
        during = self.running_job()
        wait_until(lambda: self.history().get("problem"), "the daemon to say so", 60)
        self.assertIn("postgresql://gpuadvise@127.0.0.1", self.history()["problem"])
        self.assertEqual(self.site.run("when", "--gres=gpu:1").returncode, 0)
        self.assertIn("postgresql://", self.site.run("doctor", check=False).stdout)
        self.server.start()
        wait_until(lambda: during in self.rows(), "the row that waited", 120)
        wait_until(lambda: not self.history().get("problem"), "the daemon to say that it is well", 60)

    def test_a_server_that_hangs_blinds_nobody(self):
        self.running_job()
        self.server.send(signal.SIGSTOP)
        self.addCleanup(self.server.send, signal.SIGCONT)
        answers, ending = [], threading.Event()

        def ask(words):
            while not ending.is_set():
                begun = time.monotonic()
                done = self.site.run(*words, check=False)
                answers.append((time.monotonic() - begun, words[0], done))

        callers = [threading.Thread(target=ask, args=(words,))
                   for words in (["when", "--gres=gpu:1"], ["queue"], ["gpus"], ["limits"])]
        for caller in callers:
            caller.start()
        during = self.running_job()  # something to be written while it hangs
        wait_until(lambda: self.history().get("problem"), "the daemon to say so", 60)
        time.sleep(20)
        ending.set()
        for caller in callers:
            caller.join()
        slowest = {name: max(took for took, asked, _ in answers if asked == name) for _, name, _ in answers}
        print("slowest while the server hangs: " + ", ".join(f"{name} {took:.2f} s" for name, took in slowest.items()), flush=True)
        failed = [done.stderr for _, name, done in answers if name != "limits" and done.returncode != 0]
        self.assertEqual(failed, [])
        for name in ("when", "queue", "gpus"):
            self.assertLess(slowest[name], 5, name)
        self.server.send(signal.SIGCONT)
        wait_until(lambda: during in self.rows(), "the row that waited", 120)

    def test_a_standby_shares_it(self):
        before = self.running_job()
        wait_until(lambda: before in self.rows(), "a row of the job")
        standby = Standby(self.site, standby={"first": str(self.site.socket), "check_interval": "2s", "copy_interval": "1s"})
        standby.start(fresh=False)
        self.addCleanup(standby.stop)
        wait_until(lambda: standby.health().get("first_answers"), "the standby to see the first")
        self.assertEqual(standby.health()["history"], "shared")
        self.site.process.send_signal(signal.SIGSTOP)  # it keeps its session, and the lock
        self.addCleanup(self.site.process.send_signal, signal.SIGCONT)
        began = time.monotonic()

        def health():
            try:
                return standby.health()
            except OSError:  # between its two roles
                return {}

        wait_until(lambda: health().get("standing_in") and health().get("status") == "ok", "the standby to take over", 70)
        wait_until(lambda: health()["history"].get("jobs"), "the history that it shares", 60)
        print(f"took over {time.monotonic() - began:.1f} s after the first stopped, with the history", flush=True)
        during = self.running_job()
        wait_until(lambda: during in self.rows(), "a row that the standby saved", 60)
        scored = self.rows()[before]
        self.site.process.send_signal(signal.SIGCONT)
        wait_until(lambda: health().get("status") == "standby", "the standby to stand back", 60)
        after = self.running_job()
        wait_until(lambda: after in self.rows(), "the first to write again", 120)
        self.assertEqual(self.rows()[before], scored, "scored once")
        jobs = [int(row[0]) for row in self.server.sql("SELECT job_id FROM job")]
        self.assertEqual(sorted(jobs), sorted(set(jobs)))


if __name__ == "__main__":
    if postgres.programs_folder() is None:
        print("skipped: PostgreSQL's initdb is not installed")
        sys.exit(programs.SKIPPED)
    programs.main()
