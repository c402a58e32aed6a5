#!/usr/bin/env python3
"""quickstart.sh with the real programs, in a folder that looks like a built clone.

    quickstart_test.py BIN_DIR

Only the compiler and the package manager are stand-ins: the programs of BIN_DIR are "built" already.
"""
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
import urllib.request

TOP = pathlib.Path(__file__).resolve().parents[2]
BIN = None
PROGRAMS = ("gpuadvise", "gpuadvised", "gpuadvise-collect")


class Clone:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.bin = self.folder / "build/release/bin"
        self.bin.mkdir(parents=True)
        self.tools = self.folder / "stand-ins"
        self.tools.mkdir()
        self.script = self.folder / "quickstart.sh"
        shutil.copy(TOP / "quickstart.sh", self.script)
        shutil.copytree(TOP / "examples", self.folder / "examples")
        self.stand_in("packaging/install-packages.sh", 'echo "packages: $*"')
        self.stand_in("stand-ins/cmake", 'echo "cmake $*"')
        (self.folder / "build/release/build.ninja").touch()
        (self.folder / "build/release/CMakeCache.txt").write_text(
            f"CMAKE_HOME_DIRECTORY:INTERNAL={self.folder.resolve()}\n")
        for name in PROGRAMS:
            self.link(name)

    def link(self, name):
        """A program of its own: a hard link would share the time stamp with the others' clones."""
        shutil.copy2(BIN / name, self.bin / name)

    def stand_in(self, path, script):
        path = self.folder / path
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)

    def run(self, *words, **environment):
        env = {**os.environ, "PATH": f"{self.tools}:{os.environ['PATH']}", **environment}
        return subprocess.run([self.script, *words], text=True, env=env, cwd="/",
                              capture_output=True, check=False, timeout=120)

    def pid(self):
        return int((self.folder / ".quickstart/pid").read_text())


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


class Quickstart(unittest.TestCase):
    def clone(self, name="a clone"):
        parent = tempfile.TemporaryDirectory()
        self.addCleanup(parent.cleanup)
        folder = pathlib.Path(parent.name) / name
        folder.mkdir()
        clone = Clone(folder)
        self.addCleanup(clone.run, "stop")
        return clone

    def start(self, clone, **environment):
        done = clone.run(**environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_prints_a_ranking_and_how_to_go_on_and_stop(self):
        clone = self.clone()
        said = self.start(clone)
        self.assertIn("packages: build\n", said)
        self.assertIn("RTX 4090 × 4", said)
        self.assertIn("export GPUADVISE_SOCKET=", said)
        self.assertIn("quickstart.sh stop", said)
        self.assertIn("running as process", clone.run("status").stdout)

    def test_the_commands_it_prints_work_when_pasted(self):
        said = self.start(self.clone())
        commands = [line.strip() for line in said.split("Ask more")[1].split("Stop it:")[0].splitlines()[1:]]
        self.assertGreaterEqual(len(commands), 4)
        pasted = subprocess.run(["bash", "-ec", "\n".join(commands)], text=True, cwd="/",
                                capture_output=True, check=False, timeout=60)
        self.assertEqual(pasted.returncode, 0, pasted.stdout + pasted.stderr)

    def test_the_dashboard_is_at_the_address_that_it_prints(self):
        address = re.search(r"dashboard of this cluster: (http://127\.0\.0\.1:\d+/)\n", self.start(self.clone()))[1]
        with urllib.request.urlopen(address + "v1/gpus", timeout=10) as answer:
            self.assertIn(b"rtx4090", answer.read())

    def test_a_second_clone_takes_another_port_and_a_restart_the_same(self):
        first, second = self.clone("one"), self.clone("two")
        self.start(first)
        self.start(second)
        address = [clone.run("status").stdout.split()[-1] for clone in (first, second)]
        self.assertNotEqual(*address)
        second.run("stop")
        self.start(second)
        self.assertEqual(second.run("status").stdout.split()[-1], address[1])

    def test_run_twice_it_keeps_the_daemon(self):
        clone = self.clone()
        self.start(clone)
        pid = clone.pid()
        self.assertNotIn("Starting", self.start(clone))
        self.assertEqual(clone.pid(), pid)

    def test_a_daemon_of_an_older_build_is_replaced(self):
        clone = self.clone()
        self.start(clone)
        pid = clone.pid()
        (clone.bin / "gpuadvise-collect").touch()
        self.assertIn("Starting", self.start(clone))
        self.assertNotEqual(clone.pid(), pid)
        self.assertFalse(alive(pid))

    def test_a_daemon_that_died_is_started_again(self):
        clone = self.clone()
        self.start(clone)
        pid = clone.pid()
        os.kill(pid, 9)
        while alive(pid):
            os.sched_yield()
        self.start(clone)
        self.assertTrue(alive(clone.pid()))

    def test_stop_ends_the_daemon_and_can_be_repeated(self):
        clone = self.clone()
        self.start(clone)
        pid = clone.pid()
        self.assertIn("stopped", clone.run("stop").stdout)
        self.assertFalse(alive(pid))
        self.assertEqual(clone.run("stop").returncode, 0)
        self.assertEqual(clone.run("status").returncode, 3)

    def test_everything_is_private_to_the_user(self):
        clone = self.clone()
        self.start(clone)
        home = clone.folder / ".quickstart"
        self.assertEqual(stat.S_IMODE(home.stat().st_mode), 0o700)
        self.assertEqual(stat.S_IMODE((home / "gpuadvised.sock").stat().st_mode), 0o600)

    def test_a_long_path_puts_the_socket_into_a_private_folder_elsewhere(self):
        clone = self.clone("long" * 30)
        with tempfile.TemporaryDirectory() as runtime:
            said = self.start(clone, XDG_RUNTIME_DIR=runtime)
            [folder] = pathlib.Path(runtime).iterdir()
            self.assertEqual(stat.S_IMODE(folder.stat().st_mode), 0o700)
            self.assertIn(str(folder / "gpuadvised.sock"), said)
            clone.run("stop", XDG_RUNTIME_DIR=runtime)

    def test_a_folder_that_others_can_write_is_refused_for_the_socket(self):
        clone = self.clone("long" * 30)
        with tempfile.TemporaryDirectory() as runtime:
            self.start(clone, XDG_RUNTIME_DIR=runtime)
            clone.run("stop", XDG_RUNTIME_DIR=runtime)
            [folder] = pathlib.Path(runtime).iterdir()
            folder.chmod(0o777)
            done = clone.run(XDG_RUNTIME_DIR=runtime)
            self.assertEqual(done.returncode, 1)
            self.assertIn("not a private folder", done.stderr)

    def test_a_daemon_that_cannot_start_says_why(self):
        clone = self.clone()
        clone.stand_in("build/release/bin/gpuadvised", 'echo "settings are wrong" >&2; exit 1')
        done = clone.run()
        self.assertEqual(done.returncode, 1)
        self.assertIn("settings are wrong", done.stderr)
        self.assertIn("did not get ready", done.stderr)

    def test_an_unknown_word_gets_the_usage(self):
        done = self.clone().run("sotp")
        self.assertEqual(done.returncode, 2)
        self.assertIn("usage: ./quickstart.sh [start|stop|status]", done.stderr)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
