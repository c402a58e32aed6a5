#!/usr/bin/env python3
"""The first gpuadvised is killed under load; a standby takes over and gives back. A real Slurm throughout.

    standby_test.py BIN_DIR [unittest options]
"""
import http.client
import sqlite3
import threading
import time

import lab_machine
import programs
import remote
from lab import wait_until


class Standby(programs.Site):
    """A second daemon beside the same lab, with the first one's programs."""

    def __init__(self, first, name="standby", **settings):
        self.lab, self.bin, self.folder = first.lab, first.bin, first.folder
        self.socket = first.folder / "run" / f"{name}.sock"
        self.config = first.folder / f"{name}.yaml"
        self.log = first.folder / f"{name}.log"
        self.process = None
        state = first.folder / name
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

    def test_over_tls_relays_go_on_asking_when_the_standby_has_taken_over(self):
        certificates = remote.Certificates(self.site.folder / "tls", self.bin_folder / "gpuadvised", "spare", "relay1", "relay2")
        ports = lab_machine.free_ports(2)
        edge = {**certificates.remote, "relays": ["relay1"], "standbys": ["spare"]}
        self.site.start(remote={**edge, "listen": f"127.0.0.1:{ports[0]}"})
        self.addCleanup(self.site.stop)
        job = self.lab.submit("--gres=gpu:1", "-t", "60")
        self.lab.wait_for_state(job, "RUNNING")
        wait_until(lambda: job in [row[0] for row in self.rows()], "the first to have seen it start")
        own = certificates.folder / "relays" / "spare"
        self.standby = Standby(self.site, "spare", standby={"first": f"https://localhost:{ports[0]}", "check_interval": "1s",
                                                   "copy_interval": "1s"},
                               remote={**edge, "listen": f"127.0.0.1:{ports[1]}"},
                               relay={"ca": str(own / "ca.crt"), "certificate": str(own / "relay.crt"), "key": str(own / "relay.key")})
        self.standby.start(fresh=False)
        self.addCleanup(self.standby.stop)
        wait_until(lambda: self.standby_health("copy_age_seconds") is not None, "a copy over TLS", 40)
        connection = remote.UnixConnection(self.standby.socket)
        connection.request("GET", "/v1/gpus")
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.getheader("Location")), (303, f"https://localhost:{ports[0]}/v1/gpus"))
        connection.close()
        relay = remote.Relay(self.site, certificates, "relay1", ",".join(f"https://localhost:{port}" for port in ports))
        relay.start()
        self.addCleanup(relay.stop)
        self.assertEqual(relay.run("gpus").returncode, 0)
        self.site.process.kill()
        self.site.process.wait()
        killed = time.monotonic()
        wait_until(lambda: relay.run("gpus", check=False).returncode == 0, "the relay to have found the standby", 60)
        print(f"the relay answered again {time.monotonic() - killed:.1f} s after kill -9 (checks every second)", flush=True)
        self.assertIn(str(ports[1]), relay.state()["url"])
        rows = sqlite3.connect(f"file:{self.standby.settings['state_dir']}/history.db?mode=ro", uri=True)
        self.assertIn((job,), rows.execute("SELECT job_id FROM job").fetchall())
        rows.close()
        self.site.start(fresh=False)
        wait_until(lambda: self.standby_health("status") == "standby", "the standby to stand back", 60)
        wait_until(lambda: relay.run("gpus", check=False).returncode == 0, "the relay to have found the first again", 30)

    def test_a_relays_certificate_gets_no_history(self):
        certificates = remote.Certificates(self.site.folder / "tls2", self.bin_folder / "gpuadvised", "spare", "relay1")
        port = lab_machine.free_ports(1)[0]
        self.site.start(remote={**certificates.remote, "relays": ["relay1"], "standbys": ["spare"], "listen": f"127.0.0.1:{port}"})
        self.addCleanup(self.site.stop)
        for name, wanted in [("relay1", 404), ("spare", 200), (None, 404)]:
            connection = http.client.HTTPSConnection("localhost", port, timeout=20, context=certificates.context(name))
            self.assertEqual(remote.ask(connection, "GET", "/v1/standby")[0], wanted, name)


if __name__ == "__main__":
    programs.main()
