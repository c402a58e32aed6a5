#!/usr/bin/env python3
"""The history in a PostgreSQL server: what is kept, and answers while the server is away or hangs. A real Slurm throughout.

    postgres_test.py BIN_DIR [unittest options]
"""
import json
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import postgres
import programs
from lab import wait_until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "attack"))
from caller import Caller  # noqa: E402


class SecondDaemon(programs.Site):
    """Another daemon beside the same lab, with the first one's programs and history."""

    def __init__(self, first):
        self.lab, self.bin, self.folder = first.lab, first.bin, first.folder
        self.socket = first.folder / "run" / "second.sock"
        self.config = first.folder / "second.yaml"
        self.log = first.folder / "second.log"
        self.process = None
        self.settings = {**first.settings, "socket": str(self.socket)}


def status_of(site):
    return programs.ask(site)[1].get("status")


class Callers:
    """Clients that ask every socket in turn until one answers, without a pause, and report jobs of theirs."""

    WHEN = json.dumps({"jobs": [{"gres": "gpu:1", "time_limit_seconds": 3600}]})

    def __init__(self, sites, count=4):
        self.sites, self.ending, self.good, self.wrong = sites, threading.Event(), [], []
        self.threads = [threading.Thread(target=self._ask) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def _ask(self):
        while not self.ending.is_set():
            for site in self.sites:
                status, answer = programs.ask(site, "POST", "/v1/when", self.WHEN)
                if status == 200:
                    self.good.append(time.monotonic())
                elif status not in (0, 503):
                    self.wrong.append((status, answer))

    def end(self):
        self.ending.set()
        for thread in self.threads:
            thread.join()


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
        return [int(job) for job, *_ in self.server.sql("SELECT job_id FROM job")]

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
        said = self.site.run("doctor", check=False).stdout
        self.assertIn("the database of the history cannot be used", said)
        self.assertNotIn("gpuadvise@", said)
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
                   for words in (["when", "--gres=gpu:1"], ["queue"], ["gpus"])]
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
        failed = [done.stderr for _, name, done in answers if done.returncode != 0]
        self.assertEqual(failed, [])
        for name in ("when", "queue", "gpus"):
            self.assertLess(slowest[name], 5, name)
        self.server.send(signal.SIGCONT)
        wait_until(lambda: during in self.rows(), "the row that waited", 120)

    # ---- two daemons, one history ----------------------------------------------------------

    def both(self):
        second = SecondDaemon(self.site)
        second.start(fresh=False)
        self.addCleanup(second.stop)
        wait_until(lambda: status_of(second) == "standby", "the second to stand by")
        return self.site, second

    def assert_one_row_each(self):
        rows = self.rows()
        self.assertEqual(sorted(rows), sorted(set(rows)))

    def test_who_stands_by_answers_nothing_and_asks_slurm_nothing(self):
        _, second = self.both()
        for path in ("/v1/gpus", "/v1/me"):
            status, answer = programs.ask(second, path=path)
            self.assertEqual((status, answer["errors"][0]["code"]), (503, "standby"))
        self.assertEqual(second.collector_pid(), 0)
        self.assertEqual(programs.ask(second)[0], 200)

    def test_a_first_that_is_killed_under_load(self):
        first, second = self.both()
        before = self.running_job()
        wait_until(lambda: before in self.rows(), "a row of the job")
        user = self.enterContext(Caller(first.socket, "lab1"))
        callers, kept, failed = Callers([first, second]), [], []
        self.addCleanup(callers.end)

        def report(user):
            """Outcomes of the job, each later than the one before, until the first is gone."""
            for number in range(1, 100_000):
                attempt = {"seconds": 60, "began": number, "exit_code": 0, "micro_batch": 1}
                said = user.ask("POST", "/v1/outcomes", {"version": 1, "job_id": str(before), "attempts": [attempt]})
                if said["status"] != {"200": 1}:
                    return failed.append(said)
                if not json.loads(said["body"])["warnings"]:
                    kept.append(number)

        reporter = threading.Thread(target=report, args=(user,))
        reporter.start()
        wait_until(lambda: failed or len(callers.good) > 20 and len(kept) > 20, "answers of the first")
        self.assertEqual(failed, [])
        killed = time.monotonic()
        first.process.kill()
        first.process.wait()
        reporter.join()
        wait_until(lambda: any(when > killed + 0.5 for when in callers.good), "an answer of the second", 20)
        again = min(when for when in callers.good if when > killed + 0.5) - killed
        print(f"answered again {again:.1f} s after kill -9 of the first", flush=True)
        self.assertEqual(callers.wrong, [])
        text = " ".join(" ".join(row) for row in self.server.sql("SELECT text FROM experiment"))
        began = int(re.search(r'"began":(\d+)', text.replace(" ", "")).group(1))
        # One more may have been written without its answer arriving.
        self.assertIn(began, (kept[-1], kept[-1] + 1), "what was acknowledged last is there")
        during = self.running_job()
        wait_until(lambda: during in self.rows(), "a row that the second saved", 60)
        self.assert_one_row_each()
        first.start(fresh=False)
        wait_until(lambda: status_of(first) == "standby", "the first to stand by")

    def test_a_first_that_hangs_is_no_longer_first(self):
        first, second = self.both()
        before = self.running_job()
        wait_until(lambda: before in self.rows(), "a row of the job")
        first.process.send_signal(signal.SIGSTOP)
        stopped = time.monotonic()
        self.addCleanup(first.process.send_signal, signal.SIGCONT)
        wait_until(lambda: status_of(second) == "ok", "the second to take over", 60)
        print(f"answered again {time.monotonic() - stopped:.1f} s after SIGSTOP of the first", flush=True)
        during = self.running_job()
        wait_until(lambda: during in self.rows(), "a row that the second saved", 60)
        first.process.send_signal(signal.SIGCONT)
        woken = time.monotonic()
        wait_until(lambda: status_of(first) == "standby", "the first to stand by", 60)
        print(f"the first stood by {time.monotonic() - woken:.1f} s after SIGCONT", flush=True)
        self.assertEqual(status_of(second), "ok")
        self.assert_one_row_each()

    def test_a_server_that_starts_again_leaves_one_who_answers(self):
        sites = self.both()
        self.server.stop()
        self.server.start()
        during = self.running_job()
        wait_until(lambda: during in self.rows(), "a row after the restart", 60)
        wait_until(lambda: sorted(map(str, map(status_of, sites))) == ["ok", "standby"], "one to answer", 60)
        self.assert_one_row_each()


if __name__ == "__main__":
    if postgres.programs_folder() is None:
        print("skipped: PostgreSQL's initdb is not installed")
        sys.exit(programs.SKIPPED)
    programs.main()
