#!/usr/bin/env python3
"""The first gpuadvised is killed under load; a standby takes over and gives back. A real Slurm throughout.

    standby_test.py BIN_DIR [unittest options]
"""
import sqlite3
import threading
import time

import programs
from lab import wait_until


class Standby(programs.Site):
    """A second daemon beside the same lab, with the first one's programs."""

    def __init__(self, first, **settings):
        self.lab, self.bin, self.folder = first.lab, first.bin, first.folder
        self.socket = first.folder / "run" / "standby.sock"
        self.config = first.folder / "standby.yaml"
        self.log = first.folder / "standby.log"
        self.process = None
        state = first.folder / "standby"
        self._folder_of(programs.DAEMON_USER, state)
        self.settings = {**first.settings, "socket": str(self.socket), "state_dir": str(state), **settings}


class Callers:
    """Clients that ask the standby without a pause, as the answers lead them."""

    def __init__(self, standby, count=4):
        self.standby, self.ending, self.good, self.bad = standby, False, [], []
        self.threads = [threading.Thread(target=self._ask) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def _ask(self):
        while not self.ending:
            done = self.standby.run("when", "--json", "--gres=gpu:1", check=False)
            (self.bad if done.returncode else self.good).append((time.monotonic(), done))

    def end(self):
        self.ending = True
        for thread in self.threads:
            thread.join()


class TakeOver(programs.SiteTest):
    LAB = {"cluster": "tiny"}
    SETTINGS = {"source": "slurm-cli", "accounting_interval": "0s"}

    def standby_health(self, key):
        try:
            return self.standby.health().get(key)
        except (OSError, ValueError):
            return None

    def rows(self):
        """(job id, who scored it) of the first's history, as a copy of now."""
        source = sqlite3.connect(f"file:{self.site.settings['state_dir']}/history.db?mode=ro", uri=True)
        try:
            return source.execute("SELECT job_id, scored_by FROM job").fetchall()
        finally:
            source.close()

    def test_a_first_that_is_killed_under_load(self):
        self.site.start()
        self.addCleanup(self.site.stop)
        self.standby = Standby(self.site, standby={"first": str(self.site.socket), "check_interval": "5s",
                                                   "copy_interval": "2s"})
        self.standby.start(fresh=False)
        self.addCleanup(self.standby.stop)
        before = self.lab.submit("--gres=gpu:1", "-t", "60")
        self.lab.wait_for_state(before, "RUNNING")
        wait_until(lambda: before in [row[0] for row in self.rows()], "the first to have seen it start")
        asked = time.monotonic()
        wait_until(lambda: self.standby_health("copy_age_seconds") == 0 and time.monotonic() > asked + 10, "a copy", 40)
        followed = self.standby.run("gpus")
        self.assertIn("is a standby; the first daemon is asked", followed.stderr)

        callers = Callers(self.standby)
        try:
            time.sleep(1)
            killed = time.monotonic()
            self.site.process.kill()
            self.site.process.wait()
            wait_until(lambda: self.standby_health("standing_in") and self.standby_health("status") == "ok",
                       "the standby to take over", 70)
            took = time.monotonic() - killed
            print(f"took over {took:.1f} s after kill -9", flush=True)
            self.assertLess(took, 60)
            during = self.lab.submit("--gres=gpu:1", "-t", "60")
            self.lab.wait_for_state(during, "RUNNING")
            time.sleep(2)
            self.site.start(fresh=False)
            back = time.monotonic()
            wait_until(lambda: self.standby_health("status") == "standby", "the standby to stand back", 60)
            wait_until(lambda: self.standby_health("copy_age_seconds") == 0, "rows given back, and a new copy", 60)
            print(f"gave back {time.monotonic() - back:.1f} s after the first was there", flush=True)
        finally:
            callers.end()
        self.assertTrue(callers.good)
        late = [done for at, done in callers.bad if not killed <= at <= back + 30]
        self.assertEqual(late, [], "while one of them lives it answers")
        self.assertEqual({done.returncode for _, done in callers.bad} - {4}, set(), callers.bad[:2])
        rows = self.rows()
        self.assertEqual(sorted(row[0] for row in rows).count(during), 1)
        self.assertEqual(sorted(row[0] for row in rows).count(before), 1)
        self.assertIn("given back", self.standby.log.read_text())


if __name__ == "__main__":
    programs.main()
