#!/usr/bin/env python3
"""The systemd unit: how exposed it is, and that the daemon works under its user and filter: unit_test.py BIN UNIT."""
import ctypes.util
import grp
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNIT = None  # as it is installed below /usr
LISTEN = ROOT / "systemd" / "listen.conf"
SOCKET_GROUP = ROOT / "systemd" / "socket-group.conf"
USER = "nobody"
GROUP = "users"
MOST_EXPOSED = 1.2


class Unit(unittest.TestCase):
    def test_is_hardly_exposed(self):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("no systemd-analyze here")
        done = subprocess.run(["systemd-analyze", "security", "--offline=yes", UNIT], capture_output=True, text=True)
        level = re.search(r"Overall exposure level for .*: ([0-9.]+)", done.stdout)
        self.assertIsNotNone(level, done.stdout + done.stderr)
        self.assertLessEqual(float(level.group(1)), MOST_EXPOSED, done.stdout)

    def test_bounds_memory_and_writes_no_core(self):
        text = UNIT.read_text()
        self.assertRegex(text, r"(?m)^MemoryMax=\d")
        self.assertRegex(text, r"(?m)^LimitCORE=0$")
        self.assertRegex(text, r"(?m)^IPAddressDeny=any$")


class Daemon(unittest.TestCase):
    """gpuadvised as the unit would run it."""
    bin: pathlib.Path

    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to become another user")
        if ctypes.util.find_library("seccomp") is None or shutil.which("systemd-analyze") is None:
            self.skipTest("no libseccomp or systemd-analyze here")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="unit-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.folder.chmod(0o777)
        # Its user must reach the programs, wherever they are built.
        self.programs = self.folder / "bin"
        self.programs.mkdir()
        for name in ("gpuadvised", "gpuadvise-collect"):
            shutil.copy(self.bin / name, self.programs)
        self.socket = self.folder / "s" / "gpuadvised.sock"
        self.log = self.folder / "log"
        self.daemon = None
        self.addCleanup(self.stop)

    def start(self, drop_ins=(), settings=""):
        config = self.folder / "gpuadvised.yaml"
        config.write_text(f"source: sim\nsocket: {self.socket}\nstate_dir: {self.folder}/state\n{settings}")
        config.chmod(0o644)
        words = [sys.executable, "-B", str(pathlib.Path(__file__).with_name("under_unit.py")), USER, GROUP, str(UNIT),
                 *map(str, drop_ins), "--", str(self.programs / "gpuadvised"), "--config", str(config)]
        with open(self.log, "wb") as log:
            self.daemon = subprocess.Popen(words, stdout=log, stderr=log)

    def stop(self):
        if self.daemon is not None and self.daemon.poll() is None:
            self.daemon.send_signal(signal.SIGTERM)
            self.daemon.wait(30)

    def wait_for(self, what, holds):
        deadline = time.monotonic() + 60
        while not holds():
            if self.daemon.poll() is not None or time.monotonic() > deadline:
                self.fail(f"{what}: {self.log.read_text()}")
            time.sleep(0.05)

    def gpus(self):
        asked = subprocess.run([self.bin / "gpuadvise", "--socket", self.socket, "gpus", "--json"], capture_output=True,
                               text=True)
        return json.loads(asked.stdout) if asked.returncode == 0 else None

    def test_answers_under_the_units_user_and_filter(self):
        self.start()
        self.wait_for("an answer", lambda: self.gpus() is not None)
        status = pathlib.Path(f"/proc/{self.daemon.pid}/status").read_text()
        self.assertRegex(status, r"(?m)^Seccomp:\s+2$")
        self.assertRegex(status, r"(?m)^CapEff:\s+0+$")
        self.daemon.send_signal(signal.SIGHUP)
        self.wait_for("the settings", lambda: "settings read again" in self.log.read_text())
        self.assertIsNotNone(self.gpus())
        self.stop()
        self.assertEqual(self.daemon.returncode, 0, self.log.read_text())

    def test_makes_a_removed_socket_again(self):
        self.start()
        self.wait_for("an answer", lambda: self.gpus() is not None)
        for _ in range(2):
            self.socket.unlink()
            self.wait_for("an answer", lambda: self.gpus() is not None)
        self.assertIn("was removed; it is made again", self.log.read_text())
        self.stop()
        self.assertFalse(self.socket.exists())

    def test_gives_the_socket_to_a_group_with_the_drop_in(self):
        self.start([SOCKET_GROUP], f'socket_mode: "0660"\nsocket_group: {GROUP}\n')
        self.wait_for("an answer", lambda: self.gpus() is not None)
        about = self.socket.stat()
        self.assertEqual(about.st_gid, grp.getgrnam(GROUP).gr_gid)
        self.assertEqual(stat.S_IMODE(about.st_mode), 0o660)

    def test_says_which_drop_in_is_missing_for_the_group(self):
        self.start([], f"socket_group: {GROUP}\n")
        self.assertEqual(self.daemon.wait(60), 1)
        self.assertIn("socket-group.conf", self.log.read_text())

    def test_listens_with_the_drop_in_and_puts_strangers_behind(self):
        self.start([LISTEN], "listen: 127.0.0.1:0\n")
        self.wait_for("the dashboard", lambda: re.search(r"http://127\.0\.0\.1:\d+/", self.log.read_text()))
        address = re.search(r"http://127\.0\.0\.1:\d+/", self.log.read_text()).group(0)
        self.wait_for("an answer", lambda: self.gpus() is not None)
        with urllib.request.urlopen(address + "v1/gpus", timeout=30) as answer:
            self.assertEqual(answer.status, 200)
        self.assertNotIn("listen.conf", self.log.read_text())


if __name__ == "__main__":
    Daemon.bin = pathlib.Path(sys.argv.pop(1)).resolve()
    UNIT = pathlib.Path(sys.argv.pop(1))
    unittest.main()
