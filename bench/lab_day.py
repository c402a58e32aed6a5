#!/usr/bin/env python3
"""One day of jobs through a real Slurm whose clock runs faster: a job log to judge forecasts by.

    bench/lab_day.py --workload W.csv --out day.csv [--speed 60] [--multifactor] [--release 26.05 | --root ROOT]
                     [--programs BIN_DIR [--history DAY.db] [--days-ahead N] [--limits ask|follow]]

W.csv: t_s,user,gres,nodes,limit_min,runtime_s,probe - when after the beginning of the day a user
u00 .. u17 submits what, how long it really runs, and whether `sbatch --test-only` is asked for the
start right before. The log has one line per job that ran, times in unix seconds; `test_only` is what
Slurm answered. From 26.05 on Slurm is also asked about the job itself right after its submission, with
`srun --test-only --jobid` (column `test_only_job`). The day ends when the last job has.

--release: that Slurm instead of the host's own, in a Debian root that tests/lab/releases/roots.py makes
once; its libc must not be older than the host's, whose libfaketime it loads. --root: one that is there.

--multifactor: accounting, fair share between accounts a0, a1 and a2 with 1, 2 and 4 shares (user k
is in account k mod 3), QOS high for every fifth user, at most 8 GPUs at a time for every fourth, and
Slurm's `priority` right after the submission as a further column.

--programs: gpuadvised of BIN_DIR runs in the same clock from the first minute on, with an empty
history, or that of an earlier day (--history DAY.db, which is left beside each log; --days-ahead 2
for a clock that is past it). Right before each probed job its user asks `gpuadvise when` with the same options
(columns when_p10 .. when_p90: the starts it named), then submits exactly that; and what the daemon
said by itself of every job as of its submission is read from its history (said_p10 .. said_p90).
What it then says of its own accuracy is printed.

--limits ask|follow: the question is `when --limits`, and `--test-only` is not asked. The columns `sooner_p10` ..
`sooner_p90`, `risk` and `advised_limit` hold what a shorter limit was said to be worth, and `row` the job's place in
the workload. With `follow` the job is submitted with that limit. bench/limit_pairs.py compares the two days.

Idea: the lab of the tests (tests/lab/lab.py, 21 nodes), all of it on one clock of libfaketime. A
`faketime` that does nothing but hold that clock lends its environment to every process of the lab.
This script stays on the true clock, so that its deadlines mean what they say, and reckons when the
next submission is due. At 60x a day takes 24 minutes, its tail about 10 more, and some per cent of a
core. Where it is wrong: one true second of a busy machine is a minute of the day. Run it with
`nice -n -5`; the lag of the submissions is printed at the end, and belongs beside the results.

Needs root, Debian's slurm-wlm, munge, faketime, and for --multifactor slurmdbd and mariadb-server.
"""
import argparse
import contextlib
import csv
import datetime
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

LAB = pathlib.Path(__file__).resolve().parent.parent / "tests" / "lab"
sys.path[:0] = [str(LAB), str(LAB / "releases")]
import lab as slurm_lab  # noqa: E402
import lab_config  # noqa: E402
import lab_machine  # noqa: E402
import lab_root  # noqa: E402
import programs  # noqa: E402
import roots  # noqa: E402

USERS = [f"u{k:02d}" for k in range(18)]
SHARES = {"a0": 1, "a1": 2, "a2": 4}
LIMITED_GPUS = 8
PATIENCE = 3600  # seconds of the day's clock in which nothing runs and nothing starts
FIRST_SUBMISSION_AFTER = 60  # seconds of the day's clock between "all nodes idle" and the day's second 0
# Slurm's own scheduling, and deadlines that a fast clock does not run into.
CONF = {"SchedulerParameters": None, "MinJobAge": 300, "KillWait": 30, "SlurmdTimeout": 0, "MessageTimeout": 600,
        "SlurmctldTimeout": 3600, "TCPTimeout": 100}
MULTIFACTOR = {
    "PriorityWeightAge": 2000, "PriorityMaxAge": "2-00:00:00", "PriorityWeightFairshare": 10000,
    "PriorityWeightJobSize": 500, "PriorityWeightQOS": 3000, "PriorityWeightPartition": None,
    "PriorityWeightTRES": None, "PriorityDecayHalfLife": "1-00:00:00", "PriorityCalcPeriod": "00:05:00"}
WORKLOAD_COLUMNS = "t_s,user,gres,nodes,limit_min,runtime_s,probe".split(",")
COLUMNS = ("job_id,submit,start,end,limit,nodes,cpus_per_node,gpus_per_node,gpu,user,account,partition,state,"
           "nodelist,test_only,test_only_job").split(",")
MULTIFACTOR_COLUMNS = ["qos", "group_gpu_limit", "priority"]
QUANTILES = ["p10", "p50", "p90"]
TELLS_OF_A_JOB = (26, 5)  # the release from which `srun --test-only --jobid` answers
FORECAST_COLUMNS = [f"{who}_{q}" for who in ("when", "said") for q in QUANTILES]
LIMIT_COLUMNS = ["row", "sooner_p10", "sooner_p50", "sooner_p90", "risk", "advised_limit", "limit_words"]
ANSWER_CPU_MS = 250  # gpuadvised's default; the clock of CPU time is as fast as the other
SHOWN_WAIT = 60  # coverage is about forecasts whose p90 is longer


class FastClock:
    """A clock `speed` times as fast as the true one, for every process that is given `env`."""

    def __init__(self, speed, days_ahead=0):
        self.speed = speed
        # The first process sets the clock's beginning; all others, from then on, must not.
        self.holder = subprocess.Popen(
            ["faketime", "-f", f"+{days_ahead * 86400:g} x{speed:g}", "sh", "-c",
             "date >/dev/null; export FAKETIME_DONT_RESET=1; env -0; echo; exec cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        pairs = [pair.split("=", 1) for pair in self.holder.stdout.readline()[:-2].decode().split("\0")]
        self.env = {name: value for name, value in pairs if name.startswith("FAKETIME") or name == "LD_PRELOAD"}
        for name in self.env["FAKETIME_SHARED"].split():  # jobs of every user read the clock
            for path in [f"/dev/shm{name}", f"/dev/shm/sem.{name[1:]}"]:
                if os.path.exists(path):
                    os.chmod(path, 0o666)
        before = time.monotonic()
        date = float(self._date())
        self.zero = date - (before + time.monotonic()) / 2 * speed

    def _date(self):
        env = dict(os.environ, **self.env)
        return subprocess.run(["date", "+%s.%N"], env=env, check=True, capture_output=True, text=True).stdout

    def now(self):
        return self.zero + time.monotonic() * self.speed

    def sleep_until(self, moment):
        time.sleep(max(0.0, (moment - self.now()) / self.speed))

    def end(self):
        """Ends the holder by the end of its input, so that it takes its shared memory with it."""
        self.holder.stdin.close()
        self.holder.stdout.close()
        self.holder.wait()


class DayLab(slurm_lab.Lab):
    """The lab with the day's clock, users, accounts and limits."""

    def __init__(self, clock, multifactor):
        super().__init__(accounting=multifactor, conf={**CONF, **(MULTIFACTOR if multifactor else {})})
        self.clock = clock
        self.env.update(clock.env)

    def _make_users(self):
        super()._make_users()
        lab_machine.make_users(USERS)

    def _make_accounts(self):
        self.run("sacctmgr", "-i", "add", "cluster", lab_config.CLUSTER_NAME)
        for account, shares in SHARES.items():
            self.run("sacctmgr", "-i", "add", "account", account, f"fairshare={shares}", "description=lab",
                     "organization=lab")
            users = ",".join(user for user in USERS if account_of(user) == account)
            self.run("sacctmgr", "-i", "add", "user", users, f"account={account}")
        self.run("sacctmgr", "-i", "add", "qos", "high", "priority=100")
        self.run("sacctmgr", "-i", "modify", "qos", "normal", "set", "priority=10")
        self.run("sacctmgr", "-i", "modify", "account", "a0,a1,a2", "set", "qos=normal,high", "defaultqos=normal")

    def _make_qos(self):
        limited = ",".join(user for user in USERS if gpu_limit_of(user))

        def done():
            return self.run("sacctmgr", "-i", "modify", "user", limited, "set", f"grptres=gres/gpu={LIMITED_GPUS}",
                            check=False).returncode == 0
        slurm_lab.wait_until(done, "slurmdbd to know gres/gpu", 30)


class FastSite(programs.Site):
    """gpuadvised in the lab's fast clock; its clients ask from the true one, so that they have time to wait."""

    def client_env(self, user, env=None):
        real = {name: value for name, value in self.lab.env.items()
                if not name.startswith("FAKETIME") and name != "LD_PRELOAD"}
        return {**real, "HOME": str(self.home(user)), "USER": user, "GPUADVISE_SOCKET": str(self.socket)}


class DaySite(FastSite):
    """With the day's users, and perhaps the history of an earlier day."""

    def __init__(self, lab, bin_folder, history=None):
        super().__init__(lab, bin_folder, poll_interval="30s", policy_interval="5m", stale_after="1h",
                         request_timeout="1h", answer_cpu_time=f"{ANSWER_CPU_MS * lab.clock.speed:.0f}ms")
        if history:
            shutil.copy2(history, self.folder / "state" / "history.db")
            shutil.chown(self.folder / "state" / "history.db", programs.DAEMON_USER)
        for user in USERS:
            self._folder_of(user, self.home(user))

    def answer(self, user, options):
        """What `when` answers; {} where it gives no answer."""
        try:
            return self.when(*options, user=user)
        except (AssertionError, OSError, ValueError):
            return {}

    def copy_history(self, path):
        """The history as it is now, in one file."""
        path.unlink(missing_ok=True)
        source, copy = sqlite3.connect(f"file:{self.folder}/state/history.db?mode=ro", uri=True), sqlite3.connect(path)
        source.backup(copy)
        source.close()
        copy.close()

    def said(self):
        """What the daemon said of each job by itself: starts by quantile, by job id."""
        database = sqlite3.connect(f"file:{self.folder}/state/history.db?mode=ro", uri=True)
        rows = database.execute("SELECT job_id, eligible, said_p10, said_p50, said_p90 FROM job "
                                "WHERE said_p50 IS NOT NULL").fetchall()
        database.close()
        return {job: {f"said_{q}": round(eligible + wait) for q, wait in zip(QUANTILES, waits)}
                for job, eligible, *waits in rows}


def number_of(user):
    return int(user[1:])


def account_of(user):
    return f"a{number_of(user) % 3}"


def qos_of(user):
    return "high" if number_of(user) % 5 == 0 else "normal"


def gpu_limit_of(user):
    return LIMITED_GPUS if number_of(user) % 4 == 0 else ""


class Day:
    """Submits a workload in time and makes the log of what became of it."""

    def __init__(self, lab, clock, workload, multifactor, site=None, limits=None):
        self.lab, self.clock, self.workload, self.multifactor, self.site = lab, clock, workload, multifactor, site
        self.limits = limits  # "ask", "follow", or None
        self.lags = []  # seconds of the day's clock
        self.refused = []  # why jobs could not be submitted
        self.never_started = []
        self.rows = {}  # job id -> the log's line as far as it is known

    def run(self):
        begin = self.clock.now() + FIRST_SUBMISSION_AFTER
        for place, row in enumerate(self.workload):
            self.clock.sleep_until(begin + float(row["t_s"]))
            try:
                self._submit(place, row)
            except slurm_lab.LabError as error:
                self.refused.append(str(error))
            self.lags.append(self.clock.now() - begin - float(row["t_s"]))
        self._wait_for_the_end()

    def _wait_for_the_end(self):
        """Until the last job has ended; what can never start (over a limit of its own) is cancelled and counted."""
        idle_since = self.clock.now()
        while True:
            jobs = self._jobs_left()
            if not jobs:
                return
            if any(state != "PD" for _, state in jobs):
                idle_since = self.clock.now()
            elif self.clock.now() - idle_since > PATIENCE:
                self.never_started = [job for job, _ in jobs]
                self.lab.run("scancel", *self.never_started)
            time.sleep(2)

    def _jobs_left(self):
        """(job id, state) of each job in the queue. A controller that is late may drop the connection, of which
        squeue dies: it is asked again, five times."""
        for attempt in range(5):
            asked = self.lab.run("squeue", "-h", "-o", "%A %t", check=attempt == 4)
            if asked.returncode == 0:
                return [line.split() for line in asked.stdout.split("\n") if line.strip()]
            time.sleep(2)

    def _submit(self, place, row):
        user, multifactor = row["user"], self.multifactor
        account = [f"--account={account_of(user)}", f"--qos={qos_of(user)}"] if multifactor else []
        options = [f"--gres=gpu:{row['gres']}", f"--nodes={row['nodes']}", f"--time={row['limit_min']}", *account]
        probed = row["probe"] == "1"
        test_only = self._test_only(user, options) if probed and not self.limits else ""
        answer = self.site.answer(user, [*options, *(["--limits"] if self.limits else [])]) if self.site and probed else {}
        limits = {"row": place, **limit_columns(answer)} if self.limits else {}
        if self.limits == "follow" and limits.get("advised_limit"):
            options += answer["limit_advice"]["options"].split()
        job = self.lab.submit(*options, user=user, command=f"sleep {row['runtime_s']}")
        gpu, gpus = row["gres"].split(":")
        self.rows[job] = {
            "job_id": job, "limit": int(row["limit_min"]) * 60, "nodes": row["nodes"], "cpus_per_node": 1,
            "gpus_per_node": gpus, "gpu": gpu, "user": user, "test_only": test_only,
            "test_only_job": self._test_only_of(job) if probed and not self.limits else "", **limits,
            **{f"when_{q}": answer.get(f"start_{q}", "") for q in QUANTILES if answer}}
        if multifactor:
            priority = self.lab.run("squeue", "-h", "-j", job, "-o", "%Q", check=False).stdout.strip()
            self.rows[job].update(account=account_of(user), qos=qos_of(user), group_gpu_limit=gpu_limit_of(user),
                                  priority=priority)

    def _test_only(self, user, options):
        done = self.lab.run("sbatch", "--test-only", f"--uid={user}", "--chdir=/tmp", *options, "--wrap=sleep 1",
                            check=False)
        return named_start(done.stderr)

    def _test_only_of(self, job):
        """What Slurm says of a job that waits; "" for one that has started, and before 26.05."""
        if self.lab.release < TELLS_OF_A_JOB:
            return ""
        return named_start(self.lab.run("srun", "--test-only", f"--jobid={job}", check=False).stderr)

    def log(self):
        """The lines of all jobs that ran, by submission, from Slurm's own record of completed jobs."""
        for words in completions((self.lab.folder / "jobcomp.txt").read_text()):
            row = self.rows.get(int(words["JobId"]))
            if row is not None and words["StartTime"] != "Unknown":
                row.update(submit=unix_seconds(words["SubmitTime"]), start=unix_seconds(words["StartTime"]),
                           end=unix_seconds(words["EndTime"]), state=words["JobState"], nodelist=words["NodeList"],
                           partition=words["Partition"])
        return sorted((row for row in self.rows.values() if "start" in row), key=lambda row: row["job_id"])


def limit_columns(answer):
    """What a shorter limit is said to be worth, by LIMIT_COLUMNS."""
    advice = answer.get("limit_advice", {})
    said = {"limit_words": advice.get("words", "")}
    if advice.get("time_limit_seconds") is None:
        return said
    point = next(point for point in answer["limits"] if point["options"] == advice["options"])
    return {**said, "sooner_p10": point["sooner_p10_seconds"], "sooner_p50": point["sooner_seconds"],
            "sooner_p90": point["sooner_p90_seconds"], "risk": point["risk"],
            "advised_limit": advice["time_limit_seconds"]}


def named_start(text):
    """The start that --test-only names, in unix seconds; "" when it names none."""
    found = re.search(r"to start at (\S+)", text)
    return unix_seconds(found.group(1)) if found else ""


def completions(text):
    """The lines of jobcomp/filetxt as dicts."""
    for line in text.splitlines():
        words = dict(word.split("=", 1) for word in line.split() if "=" in word)
        if "JobId" in words:
            yield words


def unix_seconds(text):
    """Slurm's 2026-11-21T04:00:00, in UTC as the lab is."""
    return int(datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc).timestamp())


def write_log(path, rows, multifactor=False, forecasts=False, limits=False):
    columns = (COLUMNS + (MULTIFACTOR_COLUMNS if multifactor else []) + (FORECAST_COLUMNS if forecasts else [])
               + (LIMIT_COLUMNS if limits else []))
    with open(path, "w", newline="") as out:
        writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def median(values):
    values = sorted(values)
    return values[len(values) // 2] if values else float("nan")


def read_workload(path):
    with open(path, newline="") as file:
        reader = csv.DictReader(file)
        missing = [name for name in WORKLOAD_COLUMNS if name not in (reader.fieldnames or [])]
        if missing:
            raise slurm_lab.LabError(f"{path}: no column {', '.join(missing)}")
        rows = sorted(reader, key=lambda row: float(row["t_s"]))
    strangers = sorted({row["user"] for row in rows} - set(USERS))
    if strangers:
        raise slurm_lab.LabError(f"{path}: user {strangers[0]} is none of {USERS[0]} .. {USERS[-1]}")
    return rows


def summary(rows, lags):
    """What to know of a day before it is used: its lag, its waits, and how far off --test-only was."""
    waited = [r for r in rows if r["start"] - r["submit"] > 600]
    asked = [r for r in waited if r["test_only"] != ""]
    return (f"{len(rows)} jobs, {len(waited)} waited over 10 min, {sum(r['test_only'] != '' for r in rows)} asked; "
            f"lag of submissions median {median(lags):.1f} s, worst {max(lags, default=0):.1f} s; median error of "
            f"the {len(asked)} asked that waited: --test-only {median([abs(r['test_only'] - r['start']) for r in asked])}"
            f" s, zero {median([r['start'] - r['submit'] for r in asked])} s" + summary_of_waiting(waited))


def summary_of_waiting(waited):
    """What Slurm said of the jobs themselves, beside what it had said before they were there; "" where it cannot."""
    asked = [r for r in waited if r["test_only_job"] != "" and r["test_only"] != ""]
    if not asked:
        return ""
    errors = [median([abs(r[name] - r["start"]) for r in asked]) for name in ("test_only_job", "test_only")]
    return f"; of {len(asked)} asked again once they waited: --test-only --jobid {errors[0]} s, --test-only {errors[1]} s"


def live_summary(rows):
    """How right the live forecast was: of jobs asked about before they existed, and of all as they came."""
    lines = []
    for who, title in [("when", "asked with `when` before"), ("said", "forecast as they came")]:
        known = [r for r in rows if r.get(f"{who}_p50") not in (None, "")]
        for name, group in [("all", known), ("waited over 10 min", [r for r in known if r["start"] - r["submit"] > 600])]:
            shown = [r for r in group if r[f"{who}_p90"] - r["submit"] > SHOWN_WAIT]
            slurm = [r for r in group if r["test_only"] != ""]
            ours = median([abs(r[f"{who}_p50"] - r["start"]) for r in slurm])
            theirs = median([abs(r["test_only"] - r["start"]) for r in slurm])
            covered = sum(r["start"] <= r[f"{who}_p90"] for r in shown) / max(1, len(shown))
            again = [r for r in group if r.get("test_only_job", "") != ""]
            lines.append(f"{title}, {name}: {len(group)} jobs, median error "
                         f"{median([abs(r[f'{who}_p50'] - r['start']) for r in group])} s; p90 coverage {covered:.3f} "
                         f"of {len(shown)}; beside --test-only {ours} : {theirs} s, {len(slurm)} jobs"
                         + (f"; beside --test-only --jobid {median([abs(r[f'{who}_p50'] - r['start']) for r in again])} : "
                            f"{median([abs(r['test_only_job'] - r['start']) for r in again])} s, {len(again)} jobs"
                            if again else ""))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="One day of jobs through a real Slurm with a fast clock")
    parser.add_argument("--workload", required=True, help="t_s,user,gres,nodes,limit_min,runtime_s,probe")
    parser.add_argument("--out", required=True, help="the job log to write")
    parser.add_argument("--speed", type=float, default=60)
    parser.add_argument("--multifactor", action="store_true")
    parser.add_argument("--release", choices=sorted(roots.SUITES), help="the Slurm to run, instead of the host's own")
    parser.add_argument("--root", help="a root with a Slurm and its tools, as roots.py makes them")
    parser.add_argument("--programs", help="folder of gpuadvised, to forecast live")
    parser.add_argument("--history", help="history.db of an earlier day to begin with")
    parser.add_argument("--days-ahead", type=float, default=0, help="the day's clock begins so many days from now")
    parser.add_argument("--limits", choices=["ask", "follow"], help="what a shorter limit is said to be worth, and to take it")
    parser.add_argument("--record", metavar="FILE", help="forecast nothing, but keep what the collector of --programs sees "
                        "(bench/recorded_day.cc)")
    options = parser.parse_args()
    if (options.limits or options.record) and not options.programs:
        parser.error("--limits and --record need --programs")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("lab_day.py: ended by SIGTERM"))  # an end in order
    try:
        choose_slurm(options)
        record(options)
    except (slurm_lab.LabError, roots.Unavailable, OSError) as error:
        sys.exit(f"lab_day.py: {error}")


def choose_slurm(options):
    """The lab takes the root that the environment names."""
    root = lab_root.Root(options.root) if options.root else roots.make(options.release) if options.release else None
    if root:
        os.environ[lab_root.VARIABLE] = str(root.path)
        own = lab_root.HOSTS_LOADER
        if roots.libc_version(root.loader) < roots.libc_version(own):
            raise slurm_lab.LabError(f"{root.path}: its libc is older than the host's and cannot load libfaketime")
    elif options.release:
        os.environ.pop(lab_root.VARIABLE, None)


def record(options):
    workload = read_workload(options.workload)
    reason = slurm_lab.why_not(options.multifactor)
    if reason or not shutil.which("faketime"):
        raise slurm_lab.LabError(reason or "faketime is missing: install faketime")
    clock = FastClock(options.speed, options.days_ahead)
    try:
        with DayLab(clock, options.multifactor) as lab:
            live = options.programs and not options.record
            site = DaySite(lab, pathlib.Path(options.programs), options.history) if live else None
            if site:
                site.start()
            try:
                day = Day(lab, clock, workload, options.multifactor, site, options.limits)
                with recording(lab, options.programs, options.record):
                    day.run()
                rows = day.log()
                if site:
                    report(site, rows, pathlib.Path(options.out))
            finally:
                if site:
                    site.stop()
    finally:
        clock.end()
    write_log(options.out, rows, options.multifactor, bool(live), bool(options.limits))
    print(summary(rows, day.lags))
    if live:
        print(live_summary(rows))
    if day.never_started:
        print(f"{len(day.never_started)} could never start: {' '.join(day.never_started)}")
    if day.refused:
        print(f"{len(day.refused)} could not be submitted, the first: {day.refused[0]}")


@contextlib.contextmanager
def recording(lab, programs_folder, path):
    """What the collector prints meanwhile goes to a file; None: nowhere."""
    if not path:
        yield
        return
    words = [f"{programs_folder}/gpuadvise-collect", "slurm-cli", "--poll-interval", "60", "--policy-interval", "300"]
    with open(path, "wb") as out:
        collector = subprocess.Popen(words, env=lab.env, stdin=subprocess.PIPE, stdout=out)
        try:
            yield
        finally:
            collector.stdin.close()  # which ends it
            collector.wait()


def report(site, rows, out):
    """What the daemon knows at the end of the day: joined to the log, printed, and kept beside it."""
    print(site.run("accuracy", user=USERS[0]).stdout)
    time.sleep(2)  # the history is written behind the answers
    said = site.said()
    for row in rows:
        row.update(said.get(int(row["job_id"]), {}))
    site.copy_history(out.with_suffix(".db"))
    shutil.copy2(site.log, out.with_suffix(".log"))


if __name__ == "__main__":
    main()
