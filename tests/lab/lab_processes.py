"""The processes of one lab: started with a log each, remembered by id, ended in order.

The ids are also in DIR/pids, so that `lab.py down` and the guard (a child that outlives a killed
test just long enough to clean up) can end what another process started. An id is only signalled
while /proc says that it is still the same process, by its start time.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

# The order of ending: whoever depends on another goes first.
ORDER = ["slurmrestd", "slurmctld", "slurmd", "jobs", "slurmdbd", "mariadbd", "munged"]
GRACE_SECONDS = 8.0


def start_time(pid):
    """The kernel's start time of a process, None when it is gone or a zombie."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return None
    return None if fields[0] in "ZX" else fields[19]


class Processes:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.children = {}  # pid -> Popen, of this process only
        self.guard = None

    def log_path(self, name):
        return self.folder / "log" / f"{name}.log"

    def start(self, name, argv, env):
        """Starts a daemon in its own session, its output in log/NAME.log.

        SIGPIPE stays ignored, as under systemd: on a fast clock munge's deadlines are some
        milliseconds, and a slurmd that is coming up would die of a connection closed by munged.
        """
        with open(self.log_path(name), "ab") as log:
            child = subprocess.Popen([str(a) for a in argv], env=env, stdin=subprocess.DEVNULL, stdout=log,
                                     stderr=log, start_new_session=True, cwd=self.folder,
                                     restore_signals=False)
        self.children[child.pid] = child
        with open(self.folder / "pids", "a") as pids:
            pids.write(f"{name} {child.pid} {start_time(child.pid)}\n")

    def _recorded(self):
        path = self.folder / "pids"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line.split() for line in lines if len(line.split()) == 3]

    def pids(self, name):
        """Living processes of a name; "slurmd" means every node's."""
        self._reap()
        return [int(pid) for kind, pid, started in self._recorded()
                if (kind == name or kind.startswith(name + ".")) and start_time(pid) == started]

    def alive(self, name):
        return bool(self.pids(name))

    def ended(self):
        """Names of daemons that were started, and not ended, and live no more."""
        alive = {kind for kind, pid, started in self._recorded() if start_time(int(pid)) == started}
        return sorted({kind for kind, _, _ in self._recorded()} - alive)

    def send(self, name, number):
        for pid in self.pids(name):
            os.kill(pid, number)

    def end(self, name, number=signal.SIGTERM):
        """Signals, waits, and kills what is left after a grace period."""
        self._end_pids(lambda: self.pids(name), number)

    def end_all(self):
        for name in ORDER:
            if name == "jobs":
                self._end_pids(self.job_pids, signal.SIGKILL)
            else:
                self.send(name, signal.SIGCONT)
                self.end(name)
        (self.folder / "pids").unlink(missing_ok=True)
        if self.guard:
            self.guard.stdin.close()
            self.guard.wait()
            self.guard = None

    def start_guard(self):
        """A child that waits for this process's end and then ends whatever is still recorded."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.guard = subprocess.Popen([sys.executable, __file__, str(self.folder)], stdin=subprocess.PIPE,
                                      start_new_session=True)

    def _end_pids(self, living, number):
        for pid in living():
            _signal(pid, number)
        deadline = time.monotonic() + GRACE_SECONDS
        while living() and time.monotonic() < deadline:
            time.sleep(0.02)
        for pid in living():
            _signal(pid, signal.SIGKILL)
        while living() and time.monotonic() < deadline + GRACE_SECONDS:
            time.sleep(0.02)

    def job_pids(self):
        """Jobs and their slurmstepd: whoever has this lab's slurm.conf in its environment."""
        mark = f"SLURM_CONF={self.folder}/slurm.conf".encode()
        found = []
        for proc in pathlib.Path("/proc").glob("[0-9]*"):
            pid = int(proc.name)
            try:
                environment = (proc / "environ").read_bytes().split(b"\0")
                name = (proc / "comm").read_text()
            except OSError:
                continue
            in_job = any(e.startswith(b"SLURM_JOB_ID=") for e in environment)
            if mark in environment and (in_job or name.startswith("slurmstepd")) and start_time(pid):
                found.append(pid)
        return found

    def _reap(self):
        for child in list(self.children.values()):
            if child.poll() is not None:
                del self.children[child.pid]


def _signal(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def guard_main(folder):
    """Waits until the test closes the pipe or dies, then ends what it left."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdin.buffer.read()
    if (pathlib.Path(folder) / "pids").exists():
        Processes(folder).end_all()
        if pathlib.Path(folder).name.startswith("gpuadvise-lab-"):
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    guard_main(sys.argv[1])
