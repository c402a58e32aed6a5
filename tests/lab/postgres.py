"""A PostgreSQL server for a test: in a folder of its own, on loopback, ended by its pid."""
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile

import lab_machine
from lab import wait_until

SERVERS_USER = "postgres"  # it refuses to run as root
ROLE = "gpuadvise"
PASSWORD = "not-for-logs"


def programs_folder():
    """Where initdb is; None: it is not installed."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


class Postgres:
    """A server with one role, which needs its password, and one database."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="postgres-"))
        self.bin = programs_folder()
        self.port = lab_machine.free_ports(1)[0]
        self.who = pwd.getpwnam(SERVERS_USER)
        self.process = None
        self.log = self.folder / "log"
        self.log.touch()
        for path in (self.folder, self.log):
            os.chown(path, self.who.pw_uid, self.who.pw_gid)
        secret = self.folder / "secret"
        secret.write_text(PASSWORD)
        self.folder.chmod(0o755)
        secret.chmod(0o644)
        self._run("initdb", "-D", self.folder / "data", "-U", ROLE, "-A", "scram-sha-256", f"--pwfile={secret}", "--no-sync",
                  "-E", "UTF8", "--locale=C")

    def __enter__(self):
        self.start()
        self.sql("CREATE SCHEMA cluster_lab")
        return self

    def __exit__(self, *_):
        self.send(signal.SIGCONT)
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def passfile(self, user):
        """For a daemon that runs as `user`."""
        path = self.folder / f"passfile-{user}"
        path.write_text(f"*:*:*:{ROLE}:{PASSWORD}\n")
        path.chmod(0o600)
        os.chown(path, pwd.getpwnam(user).pw_uid, -1)
        return path

    def url(self, user):
        return (f"postgresql://{ROLE}@127.0.0.1:{self.port}/postgres?options=-csearch_path%3Dcluster_lab"
                f"&passfile={self.passfile(user)}")

    def start(self):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [self.bin / "postgres", "-D", self.folder / "data", "-k", "", "-p", str(self.port), "-c", "fsync=off",
                 "-c", "listen_addresses=127.0.0.1"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                user=self.who.pw_uid, group=self.who.pw_gid, extra_groups=[])
        wait_until(lambda: self._run("pg_isready", "-q", "-h", "127.0.0.1", "-p", self.port, check=False).returncode == 0,
                   "the PostgreSQL server", 60)

    def stop(self, number=signal.SIGINT):
        """SIGQUIT: as if it had crashed."""
        if self.process:
            self.process.send_signal(number)
            self.process.wait()
            self.process = None

    def send(self, number):
        """To the server and to all that serve its connections."""
        if self.process:
            task = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
            for pid in [self.process.pid, *map(int, task.read_text().split())]:
                os.kill(pid, number)

    def sql(self, text):
        """Rows as lists of words."""
        done = self._run("psql", "-h", "127.0.0.1", "-p", self.port, "-U", ROLE, "-d", "postgres", "-Atq", "-F", " ", "-c",
                         "SET search_path = cluster_lab, public; " + text)
        return [line.split(" ") for line in done.stdout.splitlines()]

    def _run(self, program, *words, check=True):
        done = subprocess.run([self.bin / program, *map(str, words)], text=True, capture_output=True, cwd="/",
                              env={"PGPASSWORD": PASSWORD, "PATH": os.environ["PATH"]}, user=self.who.pw_uid,
                              group=self.who.pw_gid, extra_groups=[])
        if check and done.returncode != 0:
            raise AssertionError(f"{program}: {done.stdout}{done.stderr}")
        return done
