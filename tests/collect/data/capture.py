#!/usr/bin/env python3
"""Writes what a real Slurm prints of one small cluster into DIR: capture.py DIR [--accounting]

GPUADVISE_LAB_ROOT names the root whose release is asked (tests/lab/releases/roots.py makes them), else it is the host's.
Every text is what the collector's slurm-cli would read, under the collector's environment; the fields of squeue are
separated by @mark@. Needs root, as every lab does.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "lab"))
import lab as slurm_lab  # noqa: E402

# As daemon/collect/slurm_cli.cc sets them.
ASKED_WITH = {"SLURM_TIME_FORMAT": "%s", "TZ": "UTC", "LC_ALL": "C", "SLURM_BITSTR_LEN": "0"}
COLUMNS = ["JobID", "ArrayJobID", "UserID", "State", "Name", "MCSLabel", "Account", "QOS", "WCKey", "AllocNodes", "Reservation",
           "tres-per-job", "tres-per-node", "tres-per-socket", "tres-per-task", "mem-per-tres", "Licenses", "ReqSwitch",
           "Wait4Switch"]  # as daemon/collect/scontrol_jobs.cc asks
CONF = {"Licenses": "ansys:4,matlab:2", "SuspendProgram": "/bin/true", "ResumeProgram": "/bin/true",
        "SuspendTime": 86400, "SuspendTimeout": 45, "ResumeTimeout": 300, "PrivateData": "usage,users"}
SHARDS_SINCE = (22, 5)
SEGMENTS_SINCE = (24, 5)
SEVERAL_QOS_SINCE = (24, 11)
RELATIVE_QOS_SINCE = (23, 11)

HET_JOB = """#!/bin/sh
#SBATCH -J het --gres=gpu:a100:1 -n1 -w p1
#SBATCH hetjob
#SBATCH -n2 -w c1
sleep 1000
"""


class Capture:
    def __init__(self, lab, folder):
        self.lab, self.folder = lab, folder

    def runs(self, name, *options):
        self.lab.wait_for_state(self.submit(name, *options), "RUNNING", timeout=120)

    def submit(self, name, *options):
        return self.lab.submit("-J", name, "-t", "60", *" ".join(options).split())

    def jobs(self):
        since = lambda release: self.lab.release >= release  # noqa: E731
        self.runs("gres", "--gres=gpu:a100:1 -w t1 -n1 --mem-per-cpu=1500")
        self.runs("per_node", "--gpus-per-node=a100:1 -N2 -n2 -w t1,t2 --mem=1000")
        self.runs("several", "--gres=gpu:l40s:1,gpu:a100:1 -w m1 -n1 --mem=1000")
        self.runs("per_task", "--gpus-per-task=1 -n2 -w u1 -N1 --mem=1000")
        self.runs("total", "--gpus=1 --cpus-per-gpu=3 --mem-per-gpu=2G -w u1 -N1")
        self.runs("half", "--gres=mps:50 -w p1 -n1 --mem=1000")
        if since(SHARDS_SINCE):
            self.runs("thirds", "--gres=shard:3 -w s1 -n1 --mem=1000")
        self.runs("mig", "--gres=gpu:h100_1g.11gb:2 -w g1 -n1 --mem=1000 -L matlab:1")
        self.runs("whole", "--exclusive -w w1 --mem=0")
        self.runs("user", "--exclusive=user -w c1 -n1 --mem=1000")
        self.submit("shares", "-s -p shared -n1 --mem=100 -H")
        self.submit("in_whole", "-p whole --gres=gpu:1 -t 60 --mem=1000")
        self.submit("apart", "-p apart -n1 --mem=100 -H")
        self.submit("range", "-N1-3 -n3 --exclusive -w w1 -t 60 --mem=1000")
        self.submit("licences", "-n1 --mem=100 -L ansys:3,matlab:2 -t 60 --begin=now+1000000")
        self.submit("switches", "-n1 -N2 --switches=1@30:00 --mem=100 -H")
        self.submit("array", "-n1 --array=1-9:2%2 --mem=100 -H")
        self.submit("two_partitions", "-p short,gpu_shared -n1 -H --mem=100")
        self.submit("in_reservation", "--reservation=later -n1 -w g1 --mem=100")
        self.lab.run("sbatch", "--uid=lab1", "--output=/dev/null", "--chdir=/tmp", stdin=HET_JOB)
        if since(SEGMENTS_SINCE):
            self.submit("segment", "-N4 -n4 --segment=2 --mem=100 -H")
            self.submit("topo", "--exclusive=topo -n1 --mem=100 -H")
        if since(SEVERAL_QOS_SINCE) and self.lab.accounting:
            self.submit("two_qos", "--qos=normal,high -n1 --mem=100 -H")
        downs = self.submit("downs", "-n1 -w t2 --exclusive --mem=100 -t 60")
        self.lab.run("scontrol", "update", "nodename=t2", "state=drain", "reason=fan broken = bad")
        self.lab.wait_for_reason(downs, "ReqNodeNotAvail", *self.lab_words(downs))

    def lab_words(self, job):
        """Whatever this release says of it by then."""
        return [self.lab.job(job).get("Reason", "None")]

    def tables(self):
        self.lab.run("scontrol", "create", "reservation", "reservationname=maint", "starttime=now+10000", "duration=60",
                     "users=root,lab1", "nodes=t1,m1", "flags=maint,ignore_jobs")
        self.lab.run("scontrol", "create", "reservation", "reservationname=later", "starttime=now+9000000", "duration=600",
                     "accounts=a0" if self.lab.accounting else "users=lab1", "nodecnt=1", "nodes=g1", "licenses=ansys:1")
        self.lab.run("scontrol", "create", "reservation", "reservationname=part", "starttime=now+20000", "duration=60",
                     "users=lab1", "tres=gres/gpu:a100=1", "nodes=p1", check=False)

    def ask(self, name, *words, user=None):
        done = self.lab.run(*words, env=ASKED_WITH, check=False, user=user)
        text = done.stdout if done.returncode == 0 else f"status {done.returncode}\n{done.stderr}"
        (self.folder / name).write_text(text.replace(str(self.lab.folder), "/lab"))

    def all(self):
        show = ["scontrol", "-a", "--local", "-d", "show"]
        for table in ["job", "node", "partition", "reservation"]:
            self.ask(f"{table}.txt", *show, table)
        self.ask("config.txt", "scontrol", "show", "config")
        self.ask("license.txt", "scontrol", "show", "license")
        asked = dict(ASKED_WITH, SQUEUE_FORMAT2=",".join(f"{column}:0@mark@" for column in COLUMNS))
        done = self.lab.run("squeue", "-a", "--local", "-h", "-t", "all", env=asked)
        (self.folder / "squeue.txt").write_text(done.stdout)
        if self.lab.accounting:
            self.ask("assoc_mgr.txt", "scontrol", "show", "assoc_mgr")
            self.ask("assoc_mgr_lab1.txt", "scontrol", "show", "assoc_mgr", user="lab1")
            self.ask("shares.txt", "sshare", "-a", "-m", "-P", "-o",
                     "Account,User,Partition,RawShares,NormShares,RawUsage,EffectvUsage,FairShare")
            self.ask("associations.txt", "sacctmgr", "-P", "show", "assoc", "cluster=lab", "format=ID,QOS,DefaultQOS")
            self.ask("qos.txt", "sacctmgr", "-P", "show", "qos", "format=Name,Priority,Preempt,PreemptMode,Flags,"
                     "UsageFactor,GrpTRES,GrpJobs,GrpSubmit,MaxTRES,MaxTRESPerNode,MaxWall,MaxTRESPU,MaxJobsPU,"
                     "MaxSubmitPU,MaxTRESPA,MinTRES")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with slurm_lab.Lab(accounting="--accounting" in sys.argv, cluster="every", conf=CONF) as lab:
        capture = Capture(lab, folder)
        if lab.accounting:
            if lab.release >= RELATIVE_QOS_SINCE:
                lab.run("sacctmgr", "-i", "add", "qos", "half", "flags=Relative", "grptres=gres/gpu=50,cpu=25")
            lab.run("sacctmgr", "-i", "modify", "account", "a0", "set", "qos+=half,high", check=False)
        capture.tables()
        capture.jobs()
        capture.all()


if __name__ == "__main__":
    main()
