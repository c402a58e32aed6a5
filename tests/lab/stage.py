"""Where situations are played: a real Slurm on a clock 60 times as fast (or as asked), gpuadvised in it, and a question.

    with the_stage(BIN_DIR) as stage:
        stage.begin("busy")                                      # an empty cluster, a daemon with the same history
        stage.running(BOB, "--gres=gpu:gpu4090:4 -t 15")         # jobs of others, which run to their limits
        row = stage.ask("--gres=gpu:gpu4090:4 -t 10")            # `when`, --test-only, sbatch; what became of it

What a daemon says of the end of a job depends on what it has learned of its user. Before the first situation
each user therefore runs some jobs: all to their limits, but ERIN's, which end at half of them. Each situation
begins with this history, whatever was played before. It is dated two and a half days back, so that the burst in
which it was made is not taken for the rate of arrivals at this hour.

Times are seconds of the fast clock, from the submission of the job that was asked about.
"""
import contextlib
import dataclasses
import json
import pathlib
import shutil
import signal
import sqlite3
import sys
import time

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.append(str(BENCH))
import lab as slurm_lab  # noqa: E402
import lab_day  # noqa: E402
import programs  # noqa: E402
from lab import wait_until  # noqa: E402

SPEED = 60
ALICE, DAVE, BOB, CAROL, ERIN, FRANK = slurm_lab.USERS  # accounts a0, a0, a1, a1, a2, a2
CAROLS_GPUS, GPUS_OF_NORMAL, GPUS_OF_HIGH = 8, 24, 4  # limits: of the association, and of each QOS for a user
LEARNED_LIMITS = range(5, 13)  # minutes; of each user one job each, since jobs that are alike count as one
HISTORY_AGE = 60 * 3600
FOREVER = "sleep 100000"  # to the time limit
PATIENCE = 3000  # how long a start is waited for
NEVER = 300  # how long to look at a job that cannot start
CLOCK_NOISE = 60
CONF = {**lab_day.CONF, **lab_day.MULTIFACTOR, "PriorityWeightFairshare": 1000, "PriorityWeightPartition": 1000,
        "PriorityCalcPeriod": "00:01:00"}


@dataclasses.dataclass
class Row:
    """What was said of a job, and what Slurm did."""
    name: str
    options: str = ""
    truth: int | None = None  # seconds it waited; None: it had not started when the look ended
    looked: int = 0
    p10: int | None = None
    p50: int | None = None
    p90: int | None = None
    test_only: int | None = None
    why: int | None = None  # p50 of `why`, asked once the job waited
    words: str = ""  # the error, or the doubts
    reason: str = ""  # Slurm's, of the job that waited
    asked: bool = True  # with `when`; else only `why`
    early: bool = False  # jobs before it end earlier than their limits say
    never: bool = False
    held: bool = False

    def close(self, said, seconds, share):
        return said is not None and self.truth is not None and abs(said - self.truth) <= max(seconds, share * self.truth)

    def inside(self, noise=CLOCK_NOISE):
        return None not in (self.p10, self.p90, self.truth) and self.p10 - noise <= self.truth <= self.p90 + noise

    def faults(self, noise=120, share=.15):
        """What is wrong with the forecast, beyond all noise."""
        if self.never:
            return self._faults_of_never()
        if self.truth is None:
            return [f"not started after {self.looked} s"]
        faults = []
        for who, said in [("when", self.p50), ("why", self.why)]:
            if said is None:
                if who == "when" and self.asked:
                    faults.append(f"no start is forecast: {self.words}")
            elif self.truth > 120 and said < 60:
                faults.append(f"{who}: now, {said} s for {self.truth} s")
            elif not self.early and not self.close(said, noise, share):
                faults.append(f"{who}: p50 {said} s for {self.truth} s")
        if self.early and self.asked and not self.inside(noise):
            faults.append(f"{self.truth} s is outside {self.p10}-{self.p90} s")
        return faults

    def _faults_of_never(self):
        if self.truth is not None:
            return [f"started after {self.truth} s"]
        if self.held:
            return [] if "held" in self.words else [f"nothing says that it is held: {self.words}"]
        return [] if self.p50 is None else [f"p50 {self.p50} s for never"]


class FastLab(slurm_lab.Lab):
    """The seed cluster with accounting, priorities and limits, in the fast clock."""

    def __init__(self, clock):
        super().__init__(accounting=True, cluster="day", conf=CONF)
        self.env.update(clock.env)

    def _make_qos(self):
        def done():
            return all(self.run("sacctmgr", "-i", "modify", *words.split(), check=False).returncode == 0 for words in [
                f"qos normal set maxtresperuser=gres/gpu={GPUS_OF_NORMAL}", f"qos high set maxtresperuser=gres/gpu={GPUS_OF_HIGH}",
                f"user {CAROL} set grptres=gres/gpu={CAROLS_GPUS}"])
        wait_until(done, "slurmdbd to know gres/gpu", 30)


class Stage:
    def __init__(self, lab, clock, bin_folder):
        self.lab, self.clock = lab, clock
        # CPU time passes on the fast clock, too.
        self.site = lab_day.FastSite(lab, bin_folder, poll_interval="15s", policy_interval="1m", stale_after="1h",
                                     request_timeout="1h", accounting_interval="0s",
                                     answer_cpu_time=f"{lab_day.ANSWER_CPU_MS * clock.speed}ms")
        self.state, self.learned = self.site.folder / "state", self.site.folder / "learned"
        self.name, self.drained = "", []

    # ---- what the daemon has learned ---------------------------------------------------------

    def learn(self, limits):
        """Lets every user run jobs like those of the situations, and keeps the history of that."""
        self.site.start()
        for user in [ALICE, DAVE, BOB, CAROL, ERIN, FRANK]:
            for minutes in limits:
                self._submit(user, f"--gres=gpu:gpu2080:1 -t {minutes}", .5 if user == ERIN else None)
        patience = 45 + 60 * max(limits) / self.clock.speed
        wait_until(lambda: not self.lab.run("squeue", "-h").stdout, "the jobs to learn from to end", patience)
        for _ in range(2):
            self.site.wait_for_next_snapshot()
        self.site.stop()
        self.state.rename(self.learned)
        database = sqlite3.connect(self.learned / "history.db")
        database.execute(f'UPDATE job SET submit = submit - {HISTORY_AGE}, eligible = eligible - {HISTORY_AGE}, '
                         f'start = start - {HISTORY_AGE}, "end" = "end" - {HISTORY_AGE}')
        database.commit()
        database.close()

    def begin(self, name):
        """An empty cluster on which nobody has used anything, and a daemon that knows what was learned."""
        self.name = name
        self.site.stop()
        self.lab.run("sacctmgr", "-i", "modify", "account", "a0,a1,a2", "set", "rawusage=0", check=False)
        # slurmctld ranks the users anew once in PriorityCalcPeriod; gpuadvised must not read the shares before that.
        wait_until(self._all_shares_equal, "the shares of unused accounts", 30)
        shutil.rmtree(self.state, ignore_errors=True)
        shutil.copytree(self.learned, self.state)
        for path in [self.state, *self.state.rglob("*")]:
            shutil.chown(path, programs.DAEMON_USER)
        self.site.start()

    def _all_shares_equal(self):
        shown = self.lab.run("sshare", "--all", "--noheader", "--parsable2", "--format=User,FairShare").stdout
        rows = [line.split("|") for line in shown.splitlines()]
        return {float(share) for user, share in rows if user in slurm_lab.USERS} == {1.0}

    def end(self):
        """No jobs, no reservations, every node up."""
        self.lab.cancel_all()
        for line in self.lab.run("scontrol", "-o", "show", "reservations", check=False).stdout.splitlines():
            if line.startswith("ReservationName="):
                name = line.split()[0].replace("ReservationName", "reservation")
                self.lab.run("scontrol", "delete", name, check=False)  # it may just have ended
        for node in self.drained:
            self.lab.run("scontrol", "update", f"nodename={node}", "state=resume")
        self.drained = []
        wait_until(self.lab._all_idle, "every node idle", 30)

    # ---- what is there before ----------------------------------------------------------------

    def running(self, user, options, share=None):
        """A job that runs to its limit, or until that share of it; returns its id once it runs."""
        job = self._submit(user, options, share)
        self.lab.wait_for_state(f"{job}_0" if "--array" in options else job, "RUNNING")
        return job

    def waiting(self, user, options, share=None):
        """The same of a job that waits."""
        job = self._submit(user, options, share)
        wait_until(lambda: self.lab.job(job).get("Reason", "None") != "None", f"job {job} to wait")
        if self.lab.job(job)["JobState"] != "PENDING":
            raise AssertionError(f"{self.name}: job {job} should wait: {options}")
        return job

    def reserve(self, words):
        self.lab.run("scontrol", "create", "reservation", *words.split())
        self.site.restart()  # else it may not know for another minute

    def drain(self, node):
        self.lab.run("scontrol", "update", f"nodename={node}", "state=drain", "reason=test")
        self.drained.append(node)

    def restart_slurmctld(self, waiting, meanwhile=lambda: None):
        """As after a fall of the whole cluster: most nodes answer later than slurmctld. `waiting`: a job that gets the reason
        ReqNodeNotAvail by that, and keeps it long after where it is not the first in line. `meanwhile`: done without slurmctld."""
        self.lab.processes.send("slurmd", signal.SIGSTOP)
        self.lab.kill_slurmctld()
        meanwhile()
        self.lab.start_slurmctld()
        self.lab.processes.send("slurmd.classt02", signal.SIGCONT)
        wait_until(lambda: "ReqNodeNotAvail" in self.lab.job(waiting).get("Reason", ""), "slurmctld to miss its nodes")
        self.lab.processes.send("slurmd", signal.SIGCONT)
        wait_until(lambda: "unknown" not in self.lab.run("sinfo", "-h", "-o", "%T").stdout, "the nodes to answer")

    def time(self, minutes):
        """A moment so far from now, as sbatch reads it."""
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(self.clock.now() + 60 * minutes))

    def _submit(self, user, options, share):
        words = options.split()
        minutes = int(words[words.index("-t") + 1])
        command = FOREVER if share is None else f"sleep {round(60 * minutes * share)}"
        return self.lab.submit(*words, user=user, command=command)

    # ---- the question ------------------------------------------------------------------------

    def ask(self, options, user=ALICE, part="", when=True, watched=None, **kind):
        """The row of a job with `options`. `part`: "_7" or "+1", the task or part that is looked at; `when`: whether
        it is asked before, or only `why` after; `watched`: a job whose reason to wait is noted; `kind`: early,
        never, held."""
        row = Row(self.name, options, asked=when, **kind)
        if watched:
            row.words = f"job {watched}: {self.lab.job(watched).get('Reason')}"
        words = options.split()
        self.site.wait_for_next_snapshot()
        answer = self._when(row, user, words) if when else {}
        test_only = self._test_only(user, words)
        try:
            job = self.lab.submit(*words, user=user, command=FOREVER)
        except slurm_lab.LabError as error:
            row.words = f"sbatch: {error}"
            return row
        submitted = lab_day.unix_seconds(self.lab.job(job)["SubmitTime"])
        for name in ("p10", "p50", "p90"):
            setattr(row, name, seconds_after(submitted, answer.get(f"start_{name}")))
        row.test_only = seconds_after(submitted, test_only)
        self._look(row, f"{job}{part}", submitted, user)
        return row

    def _when(self, row, user, words):
        """The answer, of an array its last task's."""
        done = self.site.run("when", "--json", *words, user=user, check=False)
        if done.returncode != 0 and not done.stdout.startswith("{"):
            row.words = done.stderr.strip()
            return {}
        answer = json.loads(done.stdout)["answers"][0]
        said = [answer["error"]["message"]] if answer.get("error") else answer["doubts"]
        row.words = "; ".join([row.words, *said] if row.words else said)
        return answer.get("array") or answer

    def _test_only(self, user, words):
        done = self.lab.run("sbatch", "--test-only", f"--uid={user}", "--chdir=/tmp", *words, "--wrap=sleep 1", check=False)
        return lab_day.named_start(done.stderr) or None

    def _look(self, row, job, submitted, user):
        """Waits for the start; asks `why` as soon as a snapshot has the job."""
        patience = NEVER if row.never else PATIENCE
        asked = False
        while (passed := self.clock.now() - submitted) < patience:
            state = self.lab.job(job)
            started = state.get("StartTime", "Unknown")
            if state.get("JobState") in ("RUNNING", "COMPLETED", "TIMEOUT"):
                row.truth = lab_day.unix_seconds(started) - submitted
                return
            row.reason = state.get("Reason", row.reason)
            if not asked and passed > 60:
                asked, row.why = True, seconds_after(submitted, self._why(job, user))
            time.sleep(.05)
        row.looked = round(passed)

    def _why(self, job, user):
        done = self.site.run("why", "--json", job, user=user, check=False)
        return json.loads(done.stdout).get("start_p50") if done.returncode == 0 else None


def seconds_after(moment, start):
    return None if start is None else max(0, round(start - moment))


@contextlib.contextmanager
def the_stage(bin_folder, speed=SPEED, limits=LEARNED_LIMITS):
    """`limits`: minutes, of the jobs that each user has run before."""
    clock = lab_day.FastClock(speed)
    try:
        with FastLab(clock) as lab:
            stage = Stage(lab, clock, pathlib.Path(bin_folder))
            try:
                stage.learn(limits)
                yield stage
            finally:
                stage.site.stop()
    finally:
        clock.end()
