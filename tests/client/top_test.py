#!/usr/bin/env python3
"""`gpuadvise top` in a terminal of its own, on a simulated cluster.

    top_test.py BIN_DIR [unittest options]
"""
import fcntl
import os
import pathlib
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

PATIENCE = 30.0
LEAVES = "\x1b[?1049l"  # xterm's rmcup: the screen of before is back


class Terminal:
    """A program in a pseudo-terminal; what it has written is in `text`."""

    def __init__(self, words, env, columns=100, rows=30):
        self.text = ""
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execve(words[0], [str(word) for word in words], env)
        self.resize(columns, rows)

    def resize(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds=0.2):
        """What comes within `seconds`; None at the end."""
        if not select.select([self.master], [], [], seconds)[0]:
            return ""
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return None
        self.text += data.decode(errors="replace")
        return data.decode(errors="replace") or None

    def wait_for(self, words, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while words not in self.text:
            if self.read() is None or time.monotonic() > end:
                raise AssertionError(f"no {words!r} in {self.text[-2000:]!r}")

    def type(self, keys):
        os.write(self.master, keys.encode())

    def end(self):
        """Its exit status, after the rest of what it writes."""
        end = time.monotonic() + PATIENCE
        while self.read() is not None:
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                break
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def hang_up(self):
        os.close(self.master)


class Top(unittest.TestCase):
    bin = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="gpuadvise-top-")
        home = pathlib.Path(cls.folder.name)
        cls.socket = home / "s"
        config = home / "gpuadvised.yaml"
        config.write_text(f"socket: {cls.socket}\nstate_dir: {home}/state\nsource: sim\n")
        cls.log = open(home / "log", "wb")
        cls.daemon = subprocess.Popen([cls.bin / "gpuadvised", "--config", config], stderr=cls.log)
        end = time.monotonic() + PATIENCE
        while subprocess.run([cls.bin / "gpuadvise", "queue", "--socket", cls.socket], capture_output=True).returncode:
            if time.monotonic() > end:
                raise AssertionError((home / "log").read_text())
            time.sleep(0.1)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.terminate()
        cls.daemon.wait(30)
        cls.log.close()
        cls.folder.cleanup()

    def top(self, columns=100, rows=30, socket=None, **env):
        return Terminal([self.bin / "gpuadvise", "top", "--socket", str(socket or self.socket)],
                        {"PATH": os.environ["PATH"], "TERM": "xterm", "LC_ALL": "C.UTF-8", **env}, columns, rows)

    def test_shows_the_queue_at_every_width_and_leaves_the_terminal_as_it_was(self):
        for columns in (60, 80, 120, 200):
            terminal = self.top(columns)
            terminal.wait_for("JOBID")
            terminal.wait_for("[1 Queue]")
            terminal.type("3")
            terminal.wait_for("RTX 4090")
            terminal.type("?")
            terminal.wait_for("this help")
            terminal.type("q")
            self.assertEqual(terminal.end(), 0)
            self.assertIn(LEAVES, terminal.text)

    def test_a_signal_leaves_the_terminal_as_it_was(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            terminal = self.top()
            terminal.wait_for("JOBID")
            os.kill(terminal.pid, number)
            self.assertEqual(terminal.end(), 128 + number)
            self.assertIn(LEAVES, terminal.text)

    def test_a_terminal_that_vanishes_ends_it(self):
        terminal = self.top()
        terminal.wait_for("JOBID")
        terminal.hang_up()
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            pid, status = os.waitpid(terminal.pid, os.WNOHANG)
            if pid:
                return
            time.sleep(0.1)
        os.kill(terminal.pid, signal.SIGKILL)
        self.fail("it still runs")

    def test_resizes_filters_and_believes_no_columns_that_lie(self):
        terminal = self.top(120, COLUMNS="9999", LINES="9999")
        terminal.wait_for("ENDS")
        terminal.resize(60, 12)
        os.kill(terminal.pid, signal.SIGWINCH)
        terminal.text = ""
        terminal.type("/zzz-no-such-job\r")
        terminal.wait_for("nothing to show")
        terminal.resize(20, 3)
        os.kill(terminal.pid, signal.SIGWINCH)
        terminal.read(1)
        terminal.type("q")
        self.assertEqual(terminal.end(), 0)

    def test_ascii_where_the_locale_shows_no_utf8(self):
        terminal = self.top(LC_ALL="C")
        terminal.wait_for("JOBID")
        terminal.type("q")
        self.assertEqual(terminal.end(), 0)
        self.assertTrue(terminal.text.isascii(), terminal.text[:500])

    def test_without_a_daemon_it_says_so_and_goes_on(self):
        terminal = self.top(socket=pathlib.Path(self.folder.name) / "nobody")
        terminal.wait_for("there is no such socket")
        terminal.type("q")
        self.assertEqual(terminal.end(), 0)

    def test_what_is_no_terminal_gets_a_sentence(self):
        done = subprocess.run([self.bin / "gpuadvise", "top", "--socket", self.socket], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("top needs a terminal", done.stderr)
        terminal = self.top(TERM="no-such-terminal")
        self.assertEqual(terminal.end(), 2)
        self.assertIn("'no-such-terminal' is not known here", terminal.text)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: top_test.py BIN_DIR [unittest options]")
    Top.bin = pathlib.Path(sys.argv.pop(1)).absolute()
    unittest.main(verbosity=2)
