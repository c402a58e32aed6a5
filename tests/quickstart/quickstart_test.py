#!/usr/bin/env python3
"""quickstart.sh with the real programs, in a folder that looks like a built clone.

    quickstart_test.py BIN_DIR

Only the compiler and the package manager are stand-ins: the programs of BIN_DIR are "built" already.
"""
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
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
        shutil.copytree(TOP / "packaging/quickstart", self.folder / "packaging/quickstart")
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
        commands = [line.strip() for line in said.split("Ask more")[1].split("Submit a small")[0].splitlines()[1:]]
        self.assertGreaterEqual(len(commands), 4)
        pasted = subprocess.run(["bash", "-ec", "\n".join(commands)], text=True, cwd="/",
                                capture_output=True, check=False, timeout=60)
        self.assertEqual(pasted.returncode, 0, pasted.stdout + pasted.stderr)

    def pasted(self, clone, text, **environment):
        """A shell in the clone's folder with what the script prints in its PATH."""
        home = clone.folder / ".quickstart"
        env = {**os.environ, "PATH": f"{home / 'bin'}:{os.environ['PATH']}", "COLUMNS": "120",
               "GPUADVISE_SOCKET": str(home / "gpuadvised.sock"), **environment}
        return subprocess.run(["bash", "-c", text], text=True, cwd=clone.folder, env=env, capture_output=True,
                              check=False, timeout=180)

    def shorter(self, clone, steps):
        file = clone.folder / "examples/tiny.yaml"
        file.write_text(file.read_text().replace("max_steps: 60", f"max_steps: {steps}"))

    def wait_for(self, clone, pattern, command):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            done = self.pasted(clone, command)
            if re.search(pattern, done.stdout + done.stderr):
                return done.stdout
            time.sleep(0.5)
        self.fail(f"{command} never said {pattern}: {done.stdout}{done.stderr}")

    def test_a_submitted_training_runs_is_watched_and_logged(self):
        clone = self.clone()
        said = self.start(clone)
        self.shorter(clone, 12)
        commands = said.split("Submit a small training")[1].split("Stop it:")[0].splitlines()[2:]
        done = self.pasted(clone, "set -e\n" + "\n".join(commands))
        words = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, words)
        self.assertRegex(words, r"Submitted job 100001: starts now")
        self.assertIn("sbatch: [simulated cluster] the wait and the GPUs of job 100001 are simulated", words)
        self.assertRegex(words, r"ended today .* ok")
        log = done.stdout.split("ok")[-1] + self.pasted(clone, "gpuadvise jobs").stdout
        self.assertRegex(log, r"100001\b.*\btiny\b")
        row = json.loads(self.pasted(clone, "gpuadvise jobs --json").stdout)["jobs"][0]
        self.assertEqual((row["job_id"], row["state"], row["exit_code"]), (100001, "ended", 0), row)
        self.assertAlmostEqual(row["seconds_per_step"], 0.5, delta=0.3)
        output = (clone.folder / ".quickstart/tiny-100001.out").read_text()
        self.assertIn("[simulated cluster: job 100001 has simulated GPUs on ", output)
        self.assertIn("12/12 [", output)
        self.assertTrue((clone.folder / ".quickstart/tiny/checkpoint.json").exists())

    def test_a_job_can_be_cancelled_and_its_end_is_told(self):
        clone = self.clone()
        self.start(clone)
        submit = ("sbatch --parsable -p gpu_shared --gres=gpu:gpu2080:1 -t 5 -o log <<'S'\n#!/bin/bash\n"
                  "trap 'echo told; exit 9' TERM\necho ready\nwhile :; do sleep 0.1; done\nS")
        self.assertEqual(self.pasted(clone, submit).stdout, "100001\n")
        self.wait_for(clone, "ready", "cat log")
        self.assertRegex(self.pasted(clone, "squeue --me").stdout, "100001 .* R ")
        self.assertEqual(self.pasted(clone, "scancel 100001").returncode, 0)
        self.wait_for(clone, "^$", "squeue --me -h")
        self.assertIn("told", (clone.folder / "log").read_text())
        self.assertIn("JobState=FAILED ExitCode=9:0", self.pasted(clone, "scontrol show job 100001").stdout)

    def test_what_the_cluster_cannot_run_is_refused(self):
        clone = self.clone()
        self.start(clone)
        for options, words in (("--gres=gpu:gpul40s:7", "error: [simulated cluster] "),
                               ("--gres=gpu:a100:1", "no node has the GRES gpu:a100"),
                               ("--gres=gpu:2", "typed GPUs only"), ("-t never --gres=gpu:gpu2080:1", "is not a time limit")):
            done = self.pasted(clone, f"printf '#!/bin/sh\n' | sbatch {options}")
            self.assertEqual((done.returncode, done.stdout), (1, ""), done)
            self.assertIn(words, done.stderr)
        self.assertEqual(list((clone.folder / ".quickstart/jobs").glob("*.job")), [])

    def test_a_probe_runs_there_and_measures_the_time(self):
        clone = self.clone()
        self.start(clone)
        done = self.pasted(clone, "gpuadvise probe examples/tiny.yaml --gpu rtx2080ti --steps 4")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("its command runs on this machine", done.stderr)
        self.assertIn("probing on one simulated RTX 2080 Ti in gpu_shared, free now", done.stderr)
        self.assertIn("the cluster is simulated: these times are of this machine", done.stdout)
        text = (clone.folder / "examples/tiny.yaml").read_text()
        self.assertRegex(text, r"- \{gpu: rtx2080ti, gpus: 1, batch: 2, effective_batch_size: 2, seconds_per_step: 0\.")

    def test_stop_ends_what_runs_there(self):
        clone = self.clone()
        self.start(clone)
        self.pasted(clone, "printf '#!/bin/sh\necho $$ >pid\nsleep 600\n' | "
                           "sbatch -p gpu_shared --gres=gpu:gpu2080:1 -o log")
        self.wait_for(clone, r"\d+", "cat pid")
        clone.run("stop")
        self.wait_for(clone, "ended", "[ -e .quickstart/jobs/100001.end ] && echo ended")

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
