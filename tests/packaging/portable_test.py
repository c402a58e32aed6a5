#!/usr/bin/env python3
"""The portable bundle's gpuadvise-up: portable_test.py PROGRAMS BUILD.

The bundle is put together of this build's programs, which are not static: how it looks, starts and ends is tried here, on
the simulated cluster. tests/releases/portable.py tries the real one.
"""
import fcntl
import os
import pathlib
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = BUILD = None
SLURM = ("squeue", "scontrol", "sinfo")


class Bundle(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="portable-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.top = self.folder / "a bundle"
        for place, name in (("bin", "gpuadvise"), ("sbin", "gpuadvised"), ("libexec/gpuadvise", "gpuadvise-collect")):
            (self.top / place).mkdir(parents=True)
            (self.top / place / name).symlink_to(PROGRAMS / name)
        shutil.copytree(TOP / "examples", self.top / "share/doc/gpuadvise/examples")
        (self.top / "lib/systemd/system").mkdir(parents=True)
        shutil.copy(BUILD / "systemd/gpuadvised.service", self.top / "lib/systemd/system")
        for place in ("sysusers", "tmpfiles"):
            (self.top / f"lib/{place}.d").mkdir()
            shutil.copy(TOP / f"packaging/{place}.conf", self.top / f"lib/{place}.d/gpuadvise.conf")
        (self.top / "share/gpuadvise").mkdir()
        shutil.copy(TOP / "config/gpuadvised.yaml", self.top / "share/gpuadvise")
        shutil.copy(TOP / "packaging/portable/gpuadvise-up", self.top)
        self.slurm = self.folder / "slurm"
        self.slurm.mkdir()
        for name in SLURM:
            (self.slurm / name).symlink_to("/bin/false")
        self.home = self.folder / "home"
        (self.home / ".config/gpuadvise").mkdir(parents=True)
        self.settings = self.home / ".config/gpuadvise/gpuadvised.yaml"
        self.settings.write_text("source: sim\n")
        self.addCleanup(self.up, "stop")

    def up(self, *words, **changes):
        path = f"{self.slurm}:{os.environ['PATH']}"
        env = {"PATH": path, "HOME": str(self.home), "GPUADVISE_UP_FOLDER": str(self.folder / "own"), **changes}
        return subprocess.run([self.top / "gpuadvise-up", *words], env=env, text=True, capture_output=True, check=False,
                              cwd="/", stdin=subprocess.DEVNULL)

    def pid(self):
        return int(re.search(r"running as process (\d+) on ", self.up("status").stdout)[1])

    def test_ranks_an_example_and_says_how_to_go_on_and_stop(self):
        done = self.up()
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stdout, r"Starting gpuadvised as \w+ on .*\n\ngr00t-finetune · ")
        self.assertIn("✔ 1  ", done.stdout)
        first = self.pid()
        # The lines that it prints can be pasted.
        lines = re.search(r"Ask more:\n((?:  .*\n)+)", done.stdout)[1]
        said = subprocess.run(["sh", "-ec", lines], text=True, capture_output=True, check=False,
                              env={"PATH": os.environ["PATH"], "HOME": str(self.home)})
        self.assertEqual(said.returncode, 0, said)
        self.assertIn("#SBATCH", said.stdout)

        again = self.up(str(self.top / "share/doc/gpuadvise/examples/llama-lora.yaml"))
        self.assertIn("llama-lora · ", again.stdout)
        self.assertNotIn("Starting", again.stdout)
        self.assertEqual(self.pid(), first)
        self.assertIn(f"running as process {first} on ", self.up("status").stdout)

        self.assertIn("is stopped", self.up("stop").stdout)
        self.assertEqual(self.up("status").returncode, 3)
        self.assertEqual(self.up("stop").returncode, 0)

    def test_the_daemon_of_another_bundle_makes_room_for_this_one(self):
        self.up()
        first = self.pid()
        (self.top / "sbin/gpuadvised").unlink()
        shutil.copy(PROGRAMS / "gpuadvised", self.top / "sbin")
        (self.top / "sbin/gpuadvise-collect").symlink_to(PROGRAMS / "gpuadvise-collect")  # looked for beside it first
        self.assertIn("Starting", self.up().stdout)
        self.assertNotEqual(self.pid(), first)

    def test_in_a_session_gpuadvise_finds_the_daemon_by_itself(self):
        session = self.folder / "session"
        session.mkdir(mode=0o700)
        done = self.up(XDG_RUNTIME_DIR=str(session))
        self.assertEqual(done.returncode, 0, done)
        self.assertNotIn("GPUADVISE_SOCKET", done.stdout)
        asked = subprocess.run([self.top / "bin/gpuadvise", "gpus"], capture_output=True, text=True, check=False,
                               env={"HOME": str(self.home), "XDG_RUNTIME_DIR": str(session)})
        self.assertEqual(asked.returncode, 0, asked)
        self.up("stop", XDG_RUNTIME_DIR=str(session))

    def test_finds_the_daemon_after_its_files_are_gone(self):
        self.up()
        first = self.pid()
        for path in (self.folder / "own").iterdir():
            if path.is_file():
                path.unlink()
        again = self.up()
        self.assertEqual(again.returncode, 0, again)
        self.assertNotIn("Starting", again.stdout)
        self.assertEqual(self.pid(), first)
        self.assertIn("is stopped", self.up("stop").stdout)
        self.assertFalse((self.folder / "own/gpuadvise/gpuadvised.sock").exists())  # it removes it as it ends

    @unittest.skipUnless(shutil.which("flock"), "needs flock")
    def test_the_folder_is_not_aged_while_the_daemon_runs(self):
        self.up()
        folder = os.open(self.folder / "own", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        with self.assertRaises(BlockingIOError):  # as systemd-tmpfiles tries it
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.up("stop")
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def test_a_daemon_started_otherwise_is_asked_and_not_stopped(self):
        own = self.folder / "own"
        (own / "gpuadvise").mkdir(parents=True)
        own.chmod(0o700)
        with open(self.folder / "other.log", "wb") as log, \
                subprocess.Popen([PROGRAMS / "gpuadvised", "--source", "sim", "--socket", own / "gpuadvise/gpuadvised.sock",
                                  "--state-dir", self.folder / "state"], stdout=log, stderr=log) as other:
            self.addCleanup(other.kill)
            for _ in range(100):
                status = self.up("status")
                if status.returncode == 0:
                    break
                time.sleep(0.1)
            self.assertIn("that this script did not start in", status.stdout)
            done = self.up("--page")
            self.assertEqual(done.returncode, 0, done)
            self.assertIn("--page is not used", done.stdout)
            for word in ("Starting", "The dashboard", "Stop it"):
                self.assertNotIn(word, done.stdout)
            stopped = self.up("stop")
            self.assertEqual(stopped.returncode, 1)
            self.assertIn("still answers on", stopped.stderr)
            self.assertNotIn("is stopped", stopped.stdout)
            other.terminate()

    def test_a_folder_below_a_setgid_one(self):
        self.folder.chmod(0o2700)
        self.assertEqual(self.up().returncode, 0)
        self.assertEqual((self.folder / "own").stat().st_mode & 0o7777, 0o2700)

    def test_serves_the_page_where_it_is_asked_for(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        # No end of the last line, and a socket on which this script would not wait.
        self.settings.write_text(f"listen: ''\nsocket: {self.folder}/elsewhere.sock\nsource: sim")
        address = f"http://127.0.0.1:{port}/"
        done = self.up("--page", str(port))
        self.assertIn(f"The dashboard: {address} (from your desk: ssh -L {port}:127.0.0.1:{port} ", done.stdout)
        self.assertIn(f"its dashboard is at {address}", self.up("status").stdout)
        with urllib.request.urlopen(address) as page:
            self.assertIn("<html", page.read().decode())
        again = self.up()
        self.assertNotIn("Starting", again.stdout)
        self.assertIn(f"ssh -L {port}:127.0.0.1:{port} ", again.stdout)

    def test_ends_what_does_not_get_ready_and_says_why(self):
        self.settings.write_text("source: nothing\n")
        done = self.up()
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("source is \"nothing\"", done.stderr)
        self.assertIn("gpuadvised did not get ready; the lines above say why", done.stderr)
        self.assertEqual(self.up("status").returncode, 3)

    def test_needs_slurms_commands(self):
        (self.slurm / "squeue").unlink()
        done = self.up(PATH=f"{self.slurm}:/bin/none:{self.tools()}")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("there is no squeue in PATH; start this on a login node of the cluster", done.stderr)

    def tools(self):
        """A folder of what the script uses, without the host's Slurm."""
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        for name in "sh dirname readlink id mkdir stat cat tail sed date uname sleep flock grep tr".split():
            if shutil.which(name):
                (tools / name).symlink_to(shutil.which(name))
        return tools

    def test_a_folder_that_others_may_enter_is_refused(self):
        (self.folder / "own").mkdir()
        (self.folder / "own").chmod(0o755)
        done = self.up()
        self.assertEqual(done.returncode, 1)
        self.assertIn("own is not a folder of yours alone; remove it, or chmod 700 it if it is yours", done.stderr)
        (self.folder / "own").chmod(0o700)

    def test_says_when_its_programs_do_not_run_here(self):
        (self.top / "bin/gpuadvise").unlink()
        (self.top / "bin/gpuadvise").write_text("other architecture")
        done = self.up()
        self.assertEqual(done.returncode, 1)
        self.assertIn("does not run on this machine", done.stderr)

    def test_wrong_words_are_refused(self):
        for words, why in ((["--pages"], "unknown option --pages"), (["nothing.yaml"], "nothing.yaml is no file"),
                           (["--site"], "needs a PREFIX"), (["--site", "opt"], "an absolute path"),
                           (["--site", "/"], "and not /"), (["--site", "//"], "and not /"),
                           (["--site", "/opt/a b"], "only letters"), (["--site", "/opt/a|b"], "only letters")):
            done = self.up(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(why, done.stderr)
        self.assertIn("./gpuadvise-up --site PREFIX", self.up("--help").stdout)

    def test_a_site_gets_the_unit_for_its_prefix_and_keeps_its_settings(self):
        to = self.folder / "root"
        done = self.up("--site", "/opt/gpuadvise/", DESTDIR=str(to))
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("systemctl enable gpuadvised && systemctl restart gpuadvised", done.stdout)
        unit = (to / "etc/systemd/system/gpuadvised.service").read_text()
        self.assertIn("\nExecStart=/opt/gpuadvise/sbin/gpuadvised\n", unit)
        for path in ("opt/gpuadvise/sbin/gpuadvised", "opt/gpuadvise/libexec/gpuadvise/gpuadvise-collect",
                     "opt/gpuadvise/bin/gpuadvise", "etc/sysusers.d/gpuadvise.conf", "etc/tmpfiles.d/gpuadvise.conf"):
            self.assertTrue((to / path).is_file(), path)
        settings = to / "etc/gpuadvise/gpuadvised.yaml"
        settings.write_text("source: sim\n")
        self.assertEqual(self.up("--site", "/opt/gpuadvise", DESTDIR=str(to)).returncode, 0)
        self.assertEqual(settings.read_text(), "source: sim\n")

    def test_all_users_can_use_a_site_of_what_was_unpacked_with_a_strict_umask(self):
        (self.top / "sbin/gpuadvised").unlink()
        (self.top / "sbin/gpuadvised").write_text("program")
        for path in (self.top, *self.top.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o700 if path.is_dir() or path.name in ("gpuadvised", "gpuadvise-up") else 0o600)
        to = self.folder / "root"
        done = self.up("--site", "/opt/gpuadvise", DESTDIR=str(to))
        self.assertEqual(done.returncode, 0, done)
        for path in to.rglob("*"):
            if not path.is_symlink():
                wanted = 0o755 if path.is_dir() or path.name == "gpuadvised" else 0o644
                self.assertEqual(path.stat().st_mode & 0o7777, wanted, path)

    def test_a_site_that_cannot_be_copied_is_said(self):
        to = self.folder / "root"
        (to / "opt/bin/gpuadvise/in the way").mkdir(parents=True)
        self.assertIn("not everything could be copied", self.up("--site", "/opt", DESTDIR=str(to)).stderr)
        shutil.rmtree(to)
        shutil.rmtree(self.top / "libexec")
        done = self.up("--site", "/opt", DESTDIR=str(to))
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("not everything could be copied", done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to be another user")
    def test_a_site_is_installed_by_root_alone(self):
        nobody = pwd.getpwnam("nobody")
        self.folder.chmod(0o755)
        done = subprocess.run([self.top / "gpuadvise-up", "--site", "/opt/gpuadvise"], text=True, capture_output=True,
                              check=False, cwd="/", user=nobody.pw_uid, group=nobody.pw_gid)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("--site needs root", done.stderr)


class Script(unittest.TestCase):
    @unittest.skipUnless(shutil.which("shellcheck"), "needs shellcheck")
    def test_shellcheck_finds_nothing(self):
        for path in ("portable.sh", "portable/gpuadvise-up"):
            done = subprocess.run(["shellcheck", TOP / "packaging" / path], text=True, capture_output=True, check=False)
            self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(2)).resolve()
    PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
