"""The project's own programs in a lab: one gpuadvised with private settings, and its clients.

    with Lab() as lab, Site(lab, BIN_DIR) as site:
        site.start()                                   # gpuadvised, as a user without rights
        print(site.run("gpus", user="lab1").stdout)    # gpuadvise, as another

The programs are copied into the lab's folder, where every user of the lab can run them. The daemon
dies with the test, and is ended by its process id. Each user works in a folder of its own.
"""
import ctypes
import http.client
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lab as slurm_lab  # noqa: E402
from lab import Lab, wait_until  # noqa: E402

PROGRAMS = ("gpuadvised", "gpuadvise", "gpuadvise-collect")
API_PROGRAM = "gpuadvise-collect-api"  # in a build with libslurm
DAEMON_USER = "lab6"  # no operator of Slurm: what anybody can read must do
SKIPPED = 77
PR_SET_PDEATHSIG = 1


class Site:
    """gpuadvised and its clients beside one lab. `settings`: keys of gpuadvised.yaml."""

    def __init__(self, lab, bin_folder, **settings):
        self.lab = lab
        self.folder = lab.folder / "gpuadvise"
        self.bin = self.folder / "bin"
        self.socket = self.folder / "run" / "gpuadvised.sock"
        self.config = self.folder / "gpuadvised.yaml"
        self.log = self.folder / "gpuadvised.log"
        self.process = None
        self.settings = {
            "socket": str(self.socket), "state_dir": str(self.folder / "state"), "poll_interval": "300ms",
            "policy_interval": "5s", **settings}
        self._install(pathlib.Path(bin_folder))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    # ---- gpuadvised ------------------------------------------------------------------------

    def start(self, fresh=True, **settings):
        """Starts the daemon, with `settings` changed first, and waits until it answers: with
        `fresh`, from a snapshot of this cluster."""
        self.write_settings(**settings)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [str(self.bin / "gpuadvised"), "--config", str(self.config)], env=self.lab.env, cwd=self.folder,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, preexec_fn=_die_with_parent,
                **as_user(DAEMON_USER))
        wait_until(self._answers, f"gpuadvised to answer; its log: {self.log}", 20)
        if fresh:
            self.wait_until_fresh()

    def stop(self):
        """SIGTERM, and waits; a second signal where that is not enough."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def restart(self, **settings):
        self.stop()
        self.start(**settings)

    def write_settings(self, **settings):
        self.settings.update(settings)
        self.config.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in self.settings.items()))

    def reload(self, **settings):
        """Changes settings of the running daemon."""
        self.write_settings(**settings)
        self.process.send_signal(signal.SIGHUP)

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def ask(self, path):
        """GET `path` over the socket: (status, JSON)."""
        connection = _UnixConnection(str(self.socket))
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def health(self):
        return self.ask("/healthz")[1]

    def wait_until_fresh(self, timeout=60):
        """Until snapshots arrive."""
        try:
            wait_until(lambda: self.health()["status"] == "ok", "a fresh snapshot", timeout)
        except slurm_lab.LabError as error:
            raise AssertionError(f"{error}; {self.health().get('cause')}; the log: {self.log_tail()}") from error

    def wait_until_not_fresh(self, timeout=60):
        """Until the daemon says why there is no newer snapshot; returns the cause."""
        return wait_until(lambda: self.health().get("cause"), "the daemon to notice", timeout)

    def wait_for_next_snapshot(self):
        """Until a snapshot taken after this call is served."""
        after = int(self.lab.run("date", "+%s").stdout) + 1
        wait_until(lambda: (self.health()["meta"]["snapshot_taken_at"] or 0) >= after, "a newer snapshot")

    def collector_pid(self):
        """The daemon's child, 0 while there is none."""
        path = pathlib.Path(f"/proc/{self.process.pid}/task")
        children = [int(pid) for task in path.glob("*/children") for pid in task.read_text().split()]
        return children[0] if children else 0

    def log_tail(self, lines=8):
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    # ---- gpuadvise -------------------------------------------------------------------------

    def home(self, user):
        return self.folder / "home" / user

    def run(self, *words, user="lab1", check=True, stdin=subprocess.DEVNULL, env=None, timeout=60):
        """Runs gpuadvise as `user` in its folder. With `check`, a failure is an AssertionError."""
        done = subprocess.run(
            [str(self.bin / "gpuadvise"), *map(str, words)], cwd=self.home(user), text=True, stdin=stdin,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, env=self.client_env(user, env),
            **as_user(user))
        if check and done.returncode != 0:
            raise AssertionError(f"gpuadvise {' '.join(map(str, words))}: exit {done.returncode}: "
                                 f"{done.stdout}{done.stderr}")
        return done

    def json(self, *words, user="lab1", **more):
        """What gpuadvise says with --json."""
        verb, *rest = words
        return json.loads(self.run(verb, "--json", *rest, user=user, **more).stdout)

    def when(self, *options, user="lab1"):
        """The one answer to `when`."""
        return self.json("when", *options, user=user)["answers"][0]

    def client_env(self, user, env=None):
        return {**self.lab.env, "HOME": str(self.home(user)), "USER": user, "GPUADVISE_SOCKET": str(self.socket),
                "COLUMNS": "120", **(env or {})}

    def write(self, name, content, user="lab1"):
        """A file in the user's folder; text or bytes. Returns its path."""
        path = self.home(user) / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(0o644)
        return path

    # ---- parts -----------------------------------------------------------------------------

    def _install(self, bin_folder):
        self.bin.mkdir(parents=True)
        for name in PROGRAMS:
            shutil.copy2(bin_folder / name, self.bin / name)
        if (bin_folder / API_PROGRAM).exists():
            shutil.copy2(bin_folder / API_PROGRAM, self.bin / API_PROGRAM)
        for user in slurm_lab.USERS:
            self._folder_of(user, self.home(user))
        for name in ["run", "state"]:
            self._folder_of(DAEMON_USER, self.folder / name)

    @staticmethod
    def _folder_of(user, path):
        path.mkdir(parents=True)
        who = pwd.getpwnam(user)
        os.chown(path, who.pw_uid, who.pw_gid)

    def _answers(self):
        if not self.alive():
            raise AssertionError(f"gpuadvised ended: {self.log_tail()}")
        try:
            return self.health()
        except OSError:
            return None


class SiteTest(unittest.TestCase):
    """Tests that share one lab and one site; every test begins with an empty queue, and a daemon
    that runs by then has seen that it is empty."""
    LAB = {}
    SETTINGS = {}
    bin_folder = None

    @classmethod
    def setUpClass(cls):
        cls.lab = cls.enterClassContext(Lab(**cls.LAB))
        cls.site = cls.enterClassContext(Site(cls.lab, cls.bin_folder, **cls.SETTINGS))

    def setUp(self):
        if self.site.alive():
            self.site.wait_for_next_snapshot()

    def tearDown(self):
        self.lab.cancel_all()

    def queue(self, *fields, user=None):
        """The lines of squeue."""
        whose = [f"--user={user}"] if user else []
        return self.lab.run("squeue", "-h", *whose, "-o", " ".join(fields or ["%i"])).stdout.splitlines()


def ask(site, method="GET", path="/healthz", body=None):
    """(status, JSON); (0, {}) where nobody listens."""
    connection = _UnixConnection(str(site.socket))
    try:
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    except (OSError, http.client.HTTPException):
        return 0, {}
    finally:
        connection.close()


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=10)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def seconds(limit):
    """Slurm's [D-]HH:MM:SS."""
    days, _, clock = limit.rpartition("-")
    hours, minutes, rest = map(int, clock.split(":"))
    return int(days or 0) * 86400 + hours * 3600 + minutes * 60 + rest


def as_user(user):
    who = pwd.getpwnam(user)
    return {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}


def _die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def main(accounting=False):
    """Runs the tests of the calling module: MODULE BIN_DIR [unittest's own words]."""
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} BIN_DIR [unittest options]")
    SiteTest.bin_folder = pathlib.Path(sys.argv.pop(1)).absolute()
    reason = slurm_lab.why_not(accounting)
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
