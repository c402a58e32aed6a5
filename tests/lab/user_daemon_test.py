#!/usr/bin/env python3
"""`gpuadvised --user`: a daemon of an ordinary user, on a live cluster with PrivateData, and who else can use it.

    user_daemon_test.py BIN_DIR [unittest options]
"""
import json
import os
import pathlib
import pwd
import subprocess
import tempfile

import programs
from lab import wait_until

USER, OTHER = "lab1", "lab2"


class UserDaemon(programs.SiteTest):
    LAB = {"cluster": "tiny", "accounting": True, "conf": {"PrivateData": "jobs"}}

    def setUp(self):
        super().setUp()
        self.runtime = self.folder_of(USER)
        self.daemons = []

    def tearDown(self):
        for daemon in self.daemons:
            daemon.terminate()
            daemon.communicate(timeout=15)
        self.lab.cancel_all()
        super().tearDown()

    def folder_of(self, user):
        folder = tempfile.TemporaryDirectory(prefix="xdg-", dir="/tmp")
        self.addCleanup(folder.cleanup)
        os.chown(folder.name, pwd.getpwnam(user).pw_uid, -1)
        return pathlib.Path(folder.name)

    def environment(self, user=USER, **changes):
        own = {**self.site.client_env(user), "XDG_RUNTIME_DIR": str(self.runtime), **changes}
        del own["GPUADVISE_SOCKET"]
        return {key: value for key, value in own.items() if value is not None}

    def daemon(self, user=USER, **changes):
        started = subprocess.Popen([str(self.site.bin / "gpuadvised"), "--user"], env=self.environment(user, **changes),
                                   cwd="/", stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   **programs.as_user(user))
        return started

    def running(self):
        started = self.daemon()
        self.daemons.append(started)
        wait_until(lambda: self.client("gpus").returncode == 0, "the user's daemon to answer", 30)
        return started

    def client(self, *words, user=USER, **changes):
        return subprocess.run([str(self.site.bin / "gpuadvise"), *words], env=self.environment(user, **changes), text=True,
                              cwd=self.site.home(user), stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                              **programs.as_user(user))

    def test_it_answers_its_user_with_what_slurm_shows_him(self):
        self.assertFalse(pathlib.Path("/run/gpuadvise/gpuadvised.sock").exists(), "a site's daemon is on this host")
        own = self.lab.submit("--gres=gpu:gpu4090:1", "-t", "60", user=USER)
        hidden = self.lab.submit("--gres=gpu:gpu4090:1", "-t", "60", "-J", "secret", user=OTHER)
        for job in (own, hidden):
            self.lab.wait_for_state(job, "RUNNING")
        self.running()
        queue = self.client("queue", "--json")
        self.assertEqual([job["job_id"] for job in json.loads(queue.stdout)["jobs"]], [own])
        self.assertNotIn("secret", queue.stdout)
        when = self.client("when", "--gres", "gpu:gpu4090:1", "-t", "60", "--json")
        self.assertIsNotNone(json.loads(when.stdout)["answers"][0]["start_p50"], when)
        path = self.runtime / "gpuadvise/gpuadvised.sock"
        self.assertEqual(json.loads(self.client("doctor", "--json").stdout)["checks"][0]["finding"], str(path))
        state = self.site.home(USER) / ".local/state/gpuadvise"
        self.assertTrue(state.is_dir())
        self.assertEqual([each.stat().st_mode & 0o777 for each in (path.parent, path)], [0o700, 0o600])

    def test_nobody_else_reaches_it_and_a_second_one_says_so(self):
        self.running()
        knock = self.client("gpus", "--socket", str(self.runtime / "gpuadvise/gpuadvised.sock"), user=OTHER)
        self.assertEqual(knock.returncode, 4, knock)
        self.assertIn("permission denied", knock.stderr)
        self.assertEqual(self.client("gpus", user=OTHER).returncode, 4, "the socket of another user is not taken")
        second = self.daemon()
        self.assertRegex(second.communicate(timeout=20)[1], "another|already")
        self.assertEqual(second.returncode, 1)
        self.assertEqual(self.client("gpus").returncode, 0, "the first one answers on")

    def test_a_folder_that_is_not_the_users_alone_is_refused(self):
        for changes, words in (({"XDG_RUNTIME_DIR": None}, "XDG_RUNTIME_DIR is not set; log in"),
                               ({"XDG_RUNTIME_DIR": "/tmp"}, "belongs to user 0"),
                               ({"XDG_RUNTIME_DIR": str(self.folder_of(OTHER))}, "belongs to user"),
                               ({"XDG_RUNTIME_DIR": str(self.runtime / ("d" * 100))}, "No such file")):
            refused = self.daemon(**changes)
            self.assertIn(words, refused.communicate(timeout=20)[1])
            self.assertEqual(refused.returncode, 2, words)
        os.chmod(self.runtime, 0o777)
        refused = self.daemon()
        self.assertIn(f"run: chmod 700 {self.runtime}", refused.communicate(timeout=20)[1])
        self.assertEqual(refused.returncode, 2)


if __name__ == "__main__":
    programs.main(accounting=True)
