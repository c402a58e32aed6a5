#!/usr/bin/env python3
"""A real Slurm on this machine, private, in one folder, for tests.

    with Lab(accounting=True) as lab:                  # needs root and Debian's Slurm packages
        job = lab.submit("--gres=gpu:gpu4090:4", "-t", "60", user="lab1")
        lab.wait_for_state(job, "RUNNING")
        print(lab.run("squeue").stdout)

    lab.py up DIR [--accounting] [--cluster seed|tiny]     for people: stays up, prints the environment
    lab.py down DIR

What runs: munged, slurmctld, one slurmd per node of the cluster (and mariadbd and slurmdbd with
accounting), on loopback with free ports and a munge socket of their own. `lab.env` holds SLURM_CONF
for every client. Nothing outlives the test: a guard process ends everything, by process id and in
order, also when the test itself was killed.

Waiting: `wait_until(condition, what)` asks again and again until a deadline; no test needs a sleep.
With accounting: accounts a0 (users lab1, lab2), a1 (lab3, lab4), a2 (lab5, lab6) with 50, 30 and 20
shares; QOS normal (priority 10) and high (priority 1000, at most 4 GPUs a user); limits enforced;
priority/multifactor. lab1 may also use a1.

The Slurm is the host's own, or that of a Debian root (lab_root.py): with GPUADVISE_LAB_ROOT=ROOT every
test of a lab runs on that release.
"""
import argparse
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lab_config  # noqa: E402
import lab_machine  # noqa: E402
import lab_processes  # noqa: E402
import lab_root  # noqa: E402

PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol"]
ACCOUNTING_PROGRAMS = ["slurmdbd", "sacctmgr", "mariadbd", "mariadb-install-db"]
USERS = [f"lab{i}" for i in range(1, 7)]
os.environ["PATH"] = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


HOSTS_PATH = os.environ["PATH"]


class LabError(RuntimeError):
    """The lab could not do what was asked; the message says why."""


def why_not(accounting=False):
    """A sentence on why no lab can run here, or '' when one can."""
    if os.geteuid() != 0:
        return "the Slurm lab needs root (it runs slurmd and submits as several users)"
    wanted = PROGRAMS + (ACCOUNTING_PROGRAMS if accounting else [])
    missing = [p for p in wanted if not shutil.which(p, path=path_of(lab_root.from_environment()))]
    if missing:
        return f"the Slurm lab needs {', '.join(missing)}: install slurm-wlm, munge, slurmdbd, mariadb-server"
    return ""


def path_of(root):
    """The PATH by which a root's programs are found; the host's own without one."""
    return f"{root.bin}:{HOSTS_PATH}" if root else HOSTS_PATH


def wait_until(condition, what, timeout=30.0):
    """Asks condition() until it is true and returns its value; LabError after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    pause = 0.02
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise LabError(f"waited {timeout:g} s in vain for: {what}")
        time.sleep(pause)  # how often to ask, not what is waited for
        pause = min(pause * 1.5, 0.5)


class Lab:
    """One private Slurm. `conf` adds or replaces lines of slurm.conf; `cluster`: of lab_config.CLUSTERS;
    `root`: whose Slurm (lab_root.Root), by default the environment's."""

    def __init__(self, folder=None, accounting=False, cluster="seed", conf=None, guarded=True, root=None):
        self.owns_folder = folder is None
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="gpuadvise-lab-")).absolute()
        self.accounting = accounting
        self.cluster = cluster
        self.conf_changes = dict(conf or {})
        self.guarded = guarded
        self.newest_job = None
        self.processes = lab_processes.Processes(self.folder)
        self.slurm_conf = self.folder / "slurm.conf"
        self.root = root or lab_root.from_environment()
        self.release = lab_root.release_of(path_of(self.root))
        self.env = dict(os.environ, SLURM_CONF=str(self.slurm_conf), TZ="UTC", PATH=path_of(self.root))
        for name in [n for n in self.env if n.startswith(("SBATCH_", "SLURM_")) and n != "SLURM_CONF"]:
            del self.env[name]

    # ---- life ------------------------------------------------------------------------------

    def __enter__(self):
        try:
            self.up()
        except BaseException:
            self.down()
            raise
        return self

    def __exit__(self, *_):
        self.down()

    def up(self):
        """Starts everything and returns when every node is idle."""
        reason = why_not(self.accounting)
        if reason:
            raise LabError(reason)
        if self.guarded:
            self.processes.start_guard()
        self._make_users()
        lab_config.write(self)
        self._start_munge()
        if self.accounting:
            self._start_database()
        self.start_slurmctld()
        self.start_slurmds()
        if self.accounting:
            self._make_qos()
        try:
            wait_until(self._all_idle, "every node idle", 60)
        except LabError as error:
            ended = [f"{name} ended: {self.log_tail(name)}" for name in self.processes.ended()]
            raise LabError("\n".join([str(error), *ended])) from error

    def down(self):
        """Ends every process of the lab, in order, and removes its folder if the lab made it."""
        self.processes.end_all()
        if self.owns_folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    # ---- Slurm's daemons -------------------------------------------------------------------

    def start_slurmctld(self):
        """Starts slurmctld (again) and waits until it answers."""
        self.processes.start("slurmctld", ["slurmctld", "-D", "-f", self.slurm_conf], self.env)
        self.wait_for_slurmctld()

    def wait_for_slurmctld(self, timeout=30):
        wait_until(self._slurmctld_answers, "slurmctld to answer " + self.log_tail("slurmctld"), timeout)

    def kill_slurmctld(self):
        """kill -9, once the jobs that were submitted are on disk, and waits until it is gone."""
        self._wait_until_saved()
        self.processes.end("slurmctld", signal.SIGKILL)

    def stop_slurmctld(self):
        """SIGSTOP: the kernel still accepts connections, nobody answers."""
        self.processes.send("slurmctld", signal.SIGSTOP)

    def continue_slurmctld(self):
        self.processes.send("slurmctld", signal.SIGCONT)

    def start_slurmds(self, nodes=None):
        """Starts the slurmd of each of `nodes`, by default of all."""
        for node in nodes or lab_config.node_names(self.cluster):
            self._start_slurmd(node)

    def start_dynamic_slurmd(self, node, line):
        """Starts a slurmd whose node no slurm.conf names, one in a lab; `line` is what it says of itself."""
        with open(self.folder / "gres.conf", "a") as gres:
            gres.writelines(f"NodeName={node} Name=gpu Type={kind} File=/dev/tty[0-{int(count) - 1}]\n"
                            for kind, count in re.findall(r"gpu:(\w+):(\d+)", line))
        self._start_slurmd(node, "-Z", "--conf", line)

    def _start_slurmd(self, node, *options):
        stepd = ["-d", self.root.stepd] if self.root else []
        self.processes.start(f"slurmd.{node}", ["slurmd", "-D", "-f", self.slurm_conf, *stepd, "-N", node, *options], self.env)

    def hide_slurm_conf(self):
        """Takes slurm.conf away from clients; the daemons keep what they read."""
        self.slurm_conf.rename(self.folder / "slurm.conf.hidden")

    def show_slurm_conf(self):
        (self.folder / "slurm.conf.hidden").rename(self.slurm_conf)

    # ---- commands --------------------------------------------------------------------------

    def run(self, *argv, user=None, check=True, timeout=60, env=None, stdin=""):
        """Runs a command with the lab's environment, as `user` if given; text output captured."""
        who = pwd.getpwnam(user) if user else None
        for _ in range(2):
            done = subprocess.run(
                [str(a) for a in argv], env=dict(self.env, **(env or {})), input=stdin, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, cwd="/",
                user=who.pw_uid if who else None, group=who.pw_gid if who else None,
                extra_groups=[] if who else None)
            if done.returncode != -signal.SIGPIPE:  # a busy daemon closed the connection before the question
                break
        if check and done.returncode != 0:
            raise LabError(f"{' '.join(map(str, argv))}: exit {done.returncode}: {done.stdout}{done.stderr}")
        return done

    def submit(self, *sbatch_options, user="lab1", command="sleep 3600", output="/dev/null"):
        """Submits `command` as `user` and returns the job's id. Output goes to /dev/null by default."""
        done = self.run("sbatch", "--parsable", f"--uid={user}", f"--output={output}", "--chdir=/tmp",
                        *sbatch_options, f"--wrap={command}")
        self.newest_job = int(done.stdout.strip().split(";")[0])
        return self.newest_job

    def job(self, job_id):
        """What `scontrol show job` says, as a dict of its words; {} when the job is gone. TresPerNode as 22.05
        writes it, "gres:gpu:2": older releases say "gpu:2", newer ones "gres/gpu:2"."""
        done = self.run("scontrol", "-o", "-d", "show", "job", job_id, check=False)
        words = done.stdout.splitlines()[0].split() if done.returncode == 0 and done.stdout else []
        said = dict(w.split("=", 1) for w in words if "=" in w)
        if "TresPerNode" in said:
            said["TresPerNode"] = ",".join("gres:" + re.sub("^gres[:/]", "", part) for part in said["TresPerNode"].split(","))
        return said

    def wait_for_state(self, job_id, *states, timeout=30):
        """Waits until the job is in one of `states` (Slurm's words) and returns its dict."""
        def reached():
            job = self.job(job_id)
            return job if job.get("JobState") in states else None
        return wait_until(reached, f"job {job_id} to be {' or '.join(states)}", timeout)

    def wait_for_reason(self, job_id, *reasons, timeout=60):
        """Waits until the pending job gives one of `reasons` (Priority, Resources, …)."""
        def reached():
            job = self.job(job_id)
            return job if job.get("Reason") in reasons else None
        return wait_until(reached, f"job {job_id} to wait for {' or '.join(reasons)}", timeout)

    def cancel_all(self):
        """Cancels every job and waits until all nodes are idle again."""
        def jobs():
            return self.run("squeue", "-h", "-a", "-o", "%A", check=False).stdout.split()
        self.run("scancel", *jobs(), check=False)
        wait_until(lambda: not jobs(), "an empty queue", 60)

    def log_tail(self, name, lines=5):
        """The last lines of a daemon's log, for messages."""
        path = self.processes.log_path(name)
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:]) if path.exists() else ""

    # ---- parts -----------------------------------------------------------------------------

    def _make_users(self):
        lab_machine.make_users(USERS)

    def _start_munge(self):
        run = self.folder / "run"
        self.processes.start("munged", [
            "munged", "-F", "--force", f"--key-file={self.folder}/munge.key", f"--socket={run}/munge.sock",
            f"--pid-file={run}/munged.pid", f"--log-file={self.folder}/log/munged.own.log",
            f"--seed-file={self.folder}/munge.seed"], self.env)
        wait_until(lambda: (run / "munge.sock").exists(), "munged's socket", 10)

    def _start_database(self):
        data, sock = self.folder / "mysql", self.folder / "run" / "mysql.sock"
        made = self._make_database(data)
        if made.returncode != 0:  # seen once in hundreds of labs, several being made at the same time
            shutil.rmtree(data, ignore_errors=True)
            made = self._make_database(data)
        if made.returncode != 0:
            raise LabError(f"mariadb-install-db ended with {made.returncode}: {made.stdout[-2000:]}")
        self.processes.start("mariadbd", [
            "mariadbd", "--no-defaults", "--user=root", f"--datadir={data}", f"--socket={sock}", "--skip-networking",
            f"--pid-file={self.folder}/run/mysql.pid", "--innodb-buffer-pool-size=64M",
            "--innodb-flush-log-at-trx-commit=0", "--innodb-log-file-size=16M",
            "--innodb-lock-wait-timeout=900"], self.env)
        client = ["mariadb", "--no-defaults", "-u", "root", f"--socket={sock}"]
        sql = ("create database if not exists slurm_lab; create user if not exists slurm@localhost "
               "identified by 'lab'; grant all on slurm_lab.* to slurm@localhost")
        wait_until(lambda: subprocess.run(client + ["-e", sql], capture_output=True).returncode == 0,
                   "mariadbd to answer", 30)
        self.processes.start("slurmdbd", ["slurmdbd", "-D"], dict(self.env, MYSQL_UNIX_PORT=str(sock)))
        wait_until(lambda: self._lives("slurmdbd") and
                   self.run("sacctmgr", "-n", "show", "cluster", check=False).returncode == 0,
                   "slurmdbd to answer", 30)
        self._make_accounts()

    @staticmethod
    def _make_database(data):
        return subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--user=root",
                               "--skip-test-db", "--auth-root-authentication-method=normal"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)

    def _make_accounts(self):
        def manage(*words):
            self.run("sacctmgr", "-i", *words)
        def has_cluster():  # the first command after slurmdbd has made its tables failed once in hundreds of labs
            self.run("sacctmgr", "-i", "add", "cluster", lab_config.CLUSTER_NAME, check=False)
            return lab_config.CLUSTER_NAME in self.run("sacctmgr", "-nP", "show", "cluster", "format=cluster").stdout.split()
        wait_until(has_cluster, "slurmdbd to add the cluster", 30)
        for account, shares, users in [("a0", 50, "lab1,lab2"), ("a1", 30, "lab3,lab4"), ("a2", 20, "lab5,lab6")]:
            manage("add", "account", account, f"fairshare={shares}", "description=lab", "organization=lab")
            manage("add", "user", users, f"account={account}")
        manage("add", "user", "lab1", "account=a1")
        manage("add", "qos", "high", "priority=1000")
        manage("modify", "qos", "normal", "set", "priority=10")
        manage("modify", "account", "a0,a1,a2", "set", "qos=normal,high", "defaultqos=normal")

    def _make_qos(self):
        """Limits on GPUs need the TRES that slurmctld tells slurmdbd when it first starts."""
        def limited():
            done = self.run("sacctmgr", "-i", "modify", "qos", "high", "set", "maxtresperuser=gres/gpu=4", check=False)
            return done.returncode == 0
        wait_until(limited, "slurmdbd to know gres/gpu", 30)

    def _wait_until_saved(self):
        """slurmctld saves its jobs seconds after a change; a change that changes nothing shows when."""
        name = self.run("squeue", "-h", "-o", "%j", "-j", self.newest_job or 0, check=False).stdout.split("\n")[0]
        if not name:
            return
        state, now = self.folder / "state" / "job_state", time.time()
        self.run("scontrol", "update", f"jobid={self.newest_job}", f"name={name}", check=False)
        wait_until(lambda: state.exists() and state.stat().st_mtime > now, "slurmctld to save its jobs")

    def _lives(self, name):
        if not self.processes.alive(name):
            raise LabError(f"{name} ended: {self.log_tail(name)}")
        return True

    def _slurmctld_answers(self):
        return self._lives("slurmctld") and " UP" in self.run("scontrol", "ping", check=False).stdout

    def _all_idle(self):
        states = self.run("sinfo", "-h", "-N", "-o", "%T", check=False).stdout.split()
        return states and all(s == "idle" for s in states)


def main():
    parser = argparse.ArgumentParser(description="A private Slurm for tests")
    parser.add_argument("command", choices=["up", "down"])
    parser.add_argument("folder")
    parser.add_argument("--accounting", action="store_true")
    parser.add_argument("--cluster", choices=sorted(lab_config.CLUSTERS), default="seed")
    options = parser.parse_args()
    lab = Lab(options.folder, options.accounting, options.cluster, guarded=False)
    if options.command == "down":
        return lab.down()
    try:
        lab.up()
    except LabError as error:
        lab.down()
        sys.exit(f"lab.py: {error}")
    print(f"export SLURM_CONF={lab.slurm_conf}")


if __name__ == "__main__":
    main()
