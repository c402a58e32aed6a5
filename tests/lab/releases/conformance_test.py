#!/usr/bin/env python3
"""What gpuadvise sees of a Slurm, on whatever release GPUADVISE_LAB_ROOT names: the same, by every source, on each.

    conformance_test.py BIN_DIR [unittest options]

Each test makes one scenario on the cluster "every" (lab_config.py) and takes a snapshot of it by every source that this
build has. They must be equal, the GPUs in use must be what `scontrol show node -d` says, and the snapshot, without ids and
times, must be the one in expected/SCENARIO.json, which is the same file for all releases: where a release is different, the
test says so. GPUADVISE_UPDATE_GOLDEN=1 writes the files anew.

Jobs are pinned to nodes, since releases place them differently.
"""
import json
import os
import pathlib
import re
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import collecting  # noqa: E402
import lab as slurm_lab  # noqa: E402
import lab_root  # noqa: E402
import slurmrestd  # noqa: E402
from lab import wait_until  # noqa: E402

EXPECTED = HERE / "expected"
IN_SERVICE = ["IDLE", "MIXED", "ALLOCATED"]
TIMES = ["submit_time", "eligible_time", "start_time", "end_time", "taken_at", "requests"]
LICENSES = "ansys:4,matlab:2"
# What a node that is powered down does here: nothing, it only counts as being so.
POWER_SAVING = {"SuspendProgram": "/bin/true", "ResumeProgram": "/bin/true", "SuspendTime": 86400,
                "SuspendTimeout": 2, "ResumeTimeout": 300}
SHARDS_SINCE = (22, 5)
DYNAMIC_SINCE = (22, 5)
GPU_RESERVATIONS_SINCE = (23, 11)
PLANNED_SINCE = (21, 8)
RELEASE = lab_root.release_of(slurm_lab.path_of(lab_root.from_environment()))
SOURCES = [source for source in os.environ.get("GPUADVISE_LAB_SOURCES", "slurm-cli slurm-api slurm-rest").split()
           if source != "slurm-rest" or RELEASE >= slurmrestd.OLDEST_READ]
UPDATE = os.environ.get("GPUADVISE_UPDATE_GOLDEN") == "1"
OR_LICENSES_SINCE = (25, 5)
EXPEDITE_SINCE = (25, 11)

HET_JOB = """#!/bin/sh
#SBATCH -J het --gres=gpu:a100:1 -n1 -w p1
#SBATCH hetjob
#SBATCH -n2 -w c1
sleep 1000
"""


def gpus_of(gres):
    """GPUs by type of "gpu:a100:2(S:0-1),shard:8" or "gpu:a100:1(IDX:0),mps:0"."""
    counts = {}
    for kind, count in re.findall(r"(?:^|,)gpu:(?:([^:,()]+):)?(\d+)", re.sub(r"\([^)]*\)", "", gres)):
        counts[kind] = counts.get(kind, 0) + int(count)
    return {kind: count for kind, count in counts.items() if count}


def one(records, kind, name):
    """The record of that kind and name."""
    found = [r for r in records if r["record"] == kind and r["name"] == name]
    assert len(found) == 1, f"{len(found)} records of {kind} {name}"
    return found[0]


def key_of(record):
    return (record["record"], record["name"], str(record.get("array_tasks", "")), str(record.get("id", "")))


# What a release tells differently: from, to before, the name of the record ("" all), the field.
KNOWN = [
    # 20.11 does not say of what type the GPUs are of a job that did not ask for a type.
    ((0, 0), (21, 8), "per_task", "allocations"),
    # It writes the node's memory where a job asked for all of it, --mem=0.
    ((0, 0), (21, 8), "whole", "request.memory_per_node_mib"),
    # Of a whole node it counts the specialised cores too, which no job gets.
    ((0, 0), (21, 8), "unequal", "request.cpus"),
    ((0, 0), (21, 8), "t1", "cpus_allocated"),
    # A bound that partitions have since.
    ((23, 2), (99, 0), "", "max_cpus_per_socket"),
    # A job that names tasks and no nodes may use as many nodes; older releases say 1.
    ((25, 5), (99, 0), "", "request.nodes_max"),
]
# What slurmrestd does not tell, likewise.
NOT_IN_REST = [
    # From v0.0.44 on it is said also of jobs that only their partition lets share.
    ((26, 5), (99, 0), "", "request.over_subscribe"),
    # No version has it.
    ((25, 11), (99, 0), "", "expedited_requeue"),
]


def differences_of(expected, got, release, source):
    """Lines on what is not as expected, field by field."""
    expected, got = {key_of(r): r for r in expected}, {key_of(r): r for r in got}
    lines = [f"{' '.join(key)}: missing" for key in expected.keys() - got.keys()]
    lines += [f"{' '.join(key)}: unexpected" for key in got.keys() - expected.keys()]
    known = [(name, field) for since, before, name, field in KNOWN + (NOT_IN_REST if source == "slurm-rest" else []) if since <= release < before]
    for key in expected.keys() & got.keys():
        was, now = flat(expected[key]), flat(got[key])
        lines += [f"{' '.join(key)}: {field}: expected {was.get(field)!r}, got {now.get(field)!r}"
                  for field in sorted(was.keys() | now.keys()) if was.get(field) != now.get(field)
                  and (key[1], field) not in known and ("", field) not in known]
    return sorted(lines)


def flat(record):
    """A record with the fields of its request beside the others."""
    return {**record, **{f"request.{key}": value for key, value in record.get("request", {}).items()}, "request": None}


class Conformance(collecting.CollectorTest):
    LAB = {"cluster": "every", "conf": {
        "Licenses": LICENSES, "SlurmctldParameters": "enable_expedited_requeue",
        "ReturnToService": 0}}  # a node that is down stays so
    maxDiff = None

    def setUp(self):
        self.names = {}  # job id -> the name that stands for it
        wait_until(lambda: set(self.lab.run("sinfo", "-h", "-N", "-o", "%T").stdout.split()) == {"idle"},
                   "every node to be idle again")

    def tearDown(self):
        self.lab.cancel_all()

    # ---- making scenarios --------------------------------------------------------------------

    def submit(self, name, *options, user="lab1"):
        job = self.lab.submit("-J", name, *" ".join(options).split(), user=user)
        self.names[job] = name
        return job

    def runs(self, name, *options, user="lab1"):
        job = self.submit(name, *options, user=user)
        self.lab.wait_for_state(job, "RUNNING")
        return job

    def change(self, *words, back=None):
        """scontrol WORDS now, and scontrol `back` after the test."""
        if back:
            self.addCleanup(self.lab.run, "scontrol", *back, check=False)
        self.lab.run("scontrol", *words)

    def since(self, release):
        if self.lab.release < release:
            self.skipTest("Slurm %d.%02d does not have this" % self.lab.release)

    # ---- looking at them ---------------------------------------------------------------------

    def check(self, *kinds, also=None):
        """By every source: the GPUs in use are Slurm's, the records of `kinds` are the expected ones, and
        also(records) holds."""
        for source in SOURCES:
            with self.subTest(source=source):
                records = self.snapshot(source)
                self.assert_gpus_in_use_are_slurms(records)
                if also:
                    also(records)
                if kinds:
                    self.assert_expected(self.plain(records, *kinds), source)

    def check_job(self, name, see):
        """see(job) of the job of that name, by every source."""
        self.check(also=lambda records: see(one(records, "job", name)))

    def assert_gpus_in_use_are_slurms(self, records):
        nodes = {r["name"]: r for r in records if r["record"] == "node"}
        for line in self.lab.run("scontrol", "-d", "-o", "show", "node").stdout.splitlines():
            words = dict(word.split("=", 1) for word in line.split() if "=" in word)
            node = nodes.pop(words["NodeName"])
            self.assertEqual(node.get("gpus", {}), gpus_of(words.get("Gres", "")), node["name"])
            self.assertEqual(node.get("gpus_allocated", {}), gpus_of(words.get("GresUsed", "")), node["name"])
        self.assertEqual(nodes, {})

    def plain(self, records, *kinds):
        """Records of `kinds` without what differs from run to run."""
        kept = []
        for record in records:
            if record["record"] not in kinds:
                continue
            record = {key: value for key, value in record.items() if key not in [*TIMES, "uid"]}
            for key in ["id", "array_job_id", "het_job_id"]:
                if key in record:
                    record[key] = self.names.get(record[key], "?")
            if "priority" in record and record["record"] == "job":
                record["priority"] = "some"  # releases number them differently
            if "begin_time" in record.get("request", {}):
                record["request"] = {**record["request"], "begin_time": "some"}
            if record["record"] == "node" and record["state"] in IN_SERVICE:
                record.pop("reason", None)  # 24.11 keeps the reason of a node that is in service again
            if record["record"] == "partition" and record.get("exclusive"):
                record["over_subscribe"] = "EXCLUSIVE"  # from 26.05 on it is not said here
            if "dependency" in record:
                record["dependency"] = re.sub(r"\d+", lambda m: self.names.get(int(m.group()), "?"), record["dependency"])
            kept.append(record)
        return sorted(kept, key=key_of)

    def assert_expected(self, got, source):
        """The records are those that every release gives, but for what is known."""
        scenario = re.sub(r"^test_", "", self._testMethodName)
        path = EXPECTED / f"{scenario}.json"
        if UPDATE:
            path.parent.mkdir(exist_ok=True)
            path.write_text("[\n" + ",\n".join(json.dumps(r, sort_keys=True) for r in got) + "\n]\n")
        differences = differences_of(json.loads(path.read_text()), got, self.lab.release, source)
        self.assertFalse(differences, "\n" + "\n".join(differences))

    # ---- nodes and partitions ----------------------------------------------------------------

    def test_an_idle_cluster(self):
        self.check("node", "partition")

    def test_nodes_out_of_service(self):
        for node, state in [("u1", "drain"), ("c1", "down"), ("m1", "fail")]:
            self.change("update", f"nodename={node}", f"state={state}", "reason=fan broken = bad",
                        back=["update", f"nodename={node}", "state=resume"])
        self.check("node")

    def test_a_node_that_drains_under_a_job(self):
        self.runs("under", "--gres=gpu:2 -w u1 -n1 --mem=1000")
        self.change("update", "nodename=u1", "state=drain", "reason=soon", back=["update", "nodename=u1", "state=resume"])
        self.check("node", "job")

    def test_a_node_that_is_planned(self):
        self.since(PLANNED_SINCE)
        self.runs("holder", "-w c1 -n8 -t 30 --mem=100")
        waits = self.submit("both", "-w c1,u1 -N2 -n2 --ntasks-per-node=1 --exclusive -t 30 --mem=100")
        self.lab.wait_for_reason(waits, "Resources", "Priority")
        wait_until(lambda: "planned" in self.lab.run("sinfo", "-h", "-n", "u1", "-o", "%T").stdout, "u1 to be planned")
        self.check(also=lambda records: self.assertEqual(
            (one(records, "node", "u1")["state"], one(records, "node", "u1").get("gpus_allocated", {})),
            ("IDLE+PLANNED", {})))

    # ---- jobs that run -----------------------------------------------------------------------

    def test_every_form_of_asking_for_gpus(self):
        self.runs("gres", "--gres=gpu:a100:1 -w t1 -n1 --mem-per-cpu=1500")
        self.runs("untyped", "--gres=gpu:3 -w u1 -n1 --mem=1000")
        self.runs("total", "--gpus=l40s:1 -w m1 -N1 -n1 --mem=1000")
        self.runs("per_node", "--gpus-per-node=a100:1 -N2 -n2 -w t2,p1 --mem=1000")
        self.runs("per_task", "--gpus-per-task=1 -n2 -w w1 -N1 --mem=1000")
        self.runs("several", "--gres=gpu:l40s:1,gpu:a100:1 -w m1 -n1 --mem=1000")
        self.runs("mig", "--gres=gpu:h100_1g.11gb:2,gpu:h100_3g.47gb:1 -w g1 -n1 --mem=1000")
        self.runs("per_gpu", "--gpus=gpu4090:1 --cpus-per-gpu=3 --mem-per-gpu=2G -w w1 -N1")
        self.check("node", "job")

    def test_gpus_per_socket(self):
        self.runs("sockets", "--gpus-per-socket=l40s:1 --sockets-per-node=2 -n2 --ntasks-per-socket=1 -N1 -w m1 --mem=1000")
        self.check_job("sockets", lambda job: self.assertEqual(job["allocations"][0]["gpus"], {"l40s": 2}))

    def test_shards(self):
        self.since(SHARDS_SINCE)
        self.runs("thirds", "--gres=shard:3 -w s1 -n1 --mem=1000")
        self.check_job("thirds", lambda job: self.assertEqual(
            (job["request"].get("shards_per_node"), job["allocations"][0].get("shards")), (3, 3)))

    def test_mps(self):
        self.runs("half", "--gres=mps:50 -w p1 -n1 --mem=1000")
        self.check_job("half", lambda job: self.assertEqual(
            (job["request"].get("mps_per_node"), job["allocations"][0].get("mps")), (50, 50)))

    def test_whole_nodes(self):
        self.runs("whole", "--exclusive -w u1 --mem=0")
        self.runs("partition", "-p whole --gres=gpu:1 -t 60 --mem=1000")
        self.runs("ordinary", "-w m1 -n1 --mem=1000")
        self.check("node", "job")

    def test_nodes_for_one_user(self):
        self.runs("user", "--exclusive=user -w c1 -n1 --mem=1000")
        self.check_job("user", lambda job: self.assertEqual(
            (job["request"].get("exclusive", False), job["request"].get("exclusive_to")), (False, "user")))

    def test_jobs_that_share_with_others(self):
        self.runs("shares", "-s -p shared -n1 --mem=100")
        self.check_job("shares", lambda job: self.assertTrue(job["request"].get("over_subscribe")))

    def test_unequal_nodes(self):
        self.runs("unequal", "-N3 -n3 -w t1,c1,u1 --exclusive --mem-per-cpu=700")
        self.check("node", "job")

    def test_arrays_het_jobs_and_suspended_jobs(self):
        array = self.submit("array", "-w c1 -n1 --array=1-9:2%2 --mem=100")

        def running():
            words = self.lab.run("squeue", "-h", "-t", "RUNNING", "-j", array, "-o", "%A").stdout.split()
            return words if len(words) == 2 else []
        self.names.update({int(task): "task" for task in wait_until(running, "two tasks to run") if int(task) != array})
        suspended = self.runs("suspended", "-w m1 -n1 --mem=100")
        self.lab.run("scontrol", "suspend", suspended)
        script = self.lab.folder / "het.sh"
        script.write_text(HET_JOB)
        het = int(self.lab.run("sbatch", "--parsable", "--uid=lab2", "-H", "-o", "/dev/null", "--mem=100", script).stdout)
        self.names.update({het: "het", het + 1: "het+1"})
        self.check("job")

    def test_licences(self):
        self.runs("holds", "-L ansys:3 -w c1 -n1 --mem=100")
        waits = self.submit("waits", "-L ansys:2,matlab:1 -w c1 -n1 --mem=100")
        self.lab.wait_for_reason(waits, "Licenses")

        def counts(records):
            config, = [r for r in records if r["record"] == "config"]
            self.assertEqual({r["name"]: (r["total"], r.get("used", 0)) for r in config.get("licenses", [])},
                             {"ansys": (4, 3), "matlab": (2, 0)})
        self.check("job", also=counts)

    # ---- jobs that wait ----------------------------------------------------------------------

    def test_jobs_that_wait_for_every_reason(self):
        blocker = self.runs("blocker", "--exclusive -w u1 -t 60 --mem=100")
        self.submit("held", "-H --nice=50 --no-requeue --gpus-per-task=1 -n2")
        self.submit("array", "-H --array=1-900:3%7 -n4 -p short,shared --gpus=2")
        self.submit("later", "--begin=now+3hours -n1")
        self.submit("either", "-H --gpus=a100:2,l40s:1 -N1-3 -n3 -C ib&nvlink -x m1")
        self.submit("sockets", "-H --gpus-per-socket=a100:1 --sockets-per-node=1 -n1 -N2")
        after = self.submit("after", f"-d afterany:{blocker} -n1 --gres=gpu:1")
        blocked = self.submit("blocked", "-w u1 --gres=gpu:2 -t 30 -n1 --mem=100")
        self.lab.wait_for_reason(blocked, "Resources", "Priority")
        self.lab.wait_for_reason(after, "Dependency")
        self.check("job")

    def test_switches(self):
        self.submit("near", "-H -N2 --switches=1@2:00 --gpus-per-node=2")
        self.check_job("near", lambda job: self.assertEqual(
            (job["request"].get("switches"), job["request"].get("switches_wait_seconds")), (1, 120)))

    def test_licences_of_which_one_is_enough(self):
        self.since(OR_LICENSES_SINCE)
        self.submit("any", "-H -L ansys:1|matlab:2 -n1")
        self.check_job("any", lambda job: self.assertEqual(
            (job["request"].get("licenses"), job["request"].get("any_license")), ({"ansys": 1, "matlab": 2}, True)))

    def test_segments_and_expedited_requeue(self):
        self.since(EXPEDITE_SINCE)
        self.submit("segments", "-H -N4 --segment=2 --requeue=expedite")
        self.check_job("segments", lambda job: self.assertEqual(
            (job["request"].get("segment_nodes"), job.get("expedited_requeue")), (2, True)))

    def test_a_reservation_of_nodes(self):
        self.change("create", "reservation", "reservationname=maint", "starttime=now+1hour", "duration=60", "nodes=t1,m1",
                    "flags=maint", "users=root,lab1", back=["delete", "reservation=maint"])
        waits = self.submit("inside", "--reservation=maint -n1 -w m1")
        self.lab.wait_for_reason(waits, "Reservation", "ReqNodeNotAvail", "BeginTime")

        def see(records):
            maint = one(records, "reservation", "maint")
            self.assertEqual((maint["nodes"], maint["users"]), ("m1,t1", ["root", "lab1"]))
            self.assertEqual(one(records, "job", "inside")["request"]["reservation"], "maint")
        self.check(also=see)


class PoweredDown(collecting.CollectorTest):
    LAB = {"cluster": "tiny", "conf": POWER_SAVING}

    def test_a_node_that_is_powered_down(self):
        self.lab.run("scontrol", "update", "nodename=n3", "state=power_down")
        wait_until(lambda: "~" in self.lab.run("sinfo", "-h", "-n", "n3", "-o", "%t").stdout, "n3 to be powered down", 60)
        for source in SOURCES:
            with self.subTest(source=source):
                node = one(self.snapshot(source), "node", "n3")
                self.assertEqual((node["state"], node["gpus"]), ("IDLE+POWERED_DOWN", {"gpu4090": 4}))


class Dynamic(collecting.CollectorTest):
    """Nodes that are in no slurm.conf."""
    LAB = {"cluster": "tiny", "conf": {"MaxNodeCount": 8, "TreeWidth": 65533}}

    @classmethod
    def setUpClass(cls):
        if lab_root.release_of(slurm_lab.path_of(lab_root.from_environment())) < DYNAMIC_SINCE:
            raise unittest.SkipTest("this Slurm has no dynamic nodes")
        super().setUpClass()

    def test_a_node_that_registers_by_itself(self):
        self.lab.start_dynamic_slurmd("d1", "CPUs=8 RealMemory=16000 Gres=gpu:l40s:2 Feature=cloudy")
        wait_until(lambda: "idle" in self.lab.run("sinfo", "-h", "-n", "d1", "-o", "%T").stdout, "d1 to register: " + self.lab.log_tail("slurmd.d1") + self.lab.log_tail("slurmctld"), 30)
        for source in SOURCES:
            with self.subTest(source=source):
                node = one(self.snapshot(source), "node", "d1")
                self.assertEqual((node["cpus"], node["gpus"]), (8, {"l40s": 2}))
                self.assertIn("DYNAMIC_NORM", node["state"])


@unittest.skipIf(slurm_lab.why_not(accounting=True), slurm_lab.why_not(accounting=True))
class Accounting(collecting.CollectorTest):
    LAB = {"cluster": "tiny", "accounting": True}

    @unittest.skipIf(RELEASE < GPU_RESERVATIONS_SINCE, "this Slurm reserves whole nodes and cores only")
    def test_a_reservation_of_some_gpus_of_a_node(self):
        self.lab.run("scontrol", "create", "reservation", "reservationname=two", "starttime=now+1hour", "duration=60",
                     "nodes=n3", "trespernode=gres/gpu:gpu4090=2", "users=lab1")
        self.addCleanup(self.lab.run, "scontrol", "delete", "reservation=two")
        for source in SOURCES:
            with self.subTest(source=source):
                reservation = one(self.snapshot(source), "reservation", "two")
                self.assertEqual(reservation["nodes"], "n3")
                self.assertEqual(reservation["tres"], {"cpu": 32, "gres/gpu": 2, "gres/gpu:gpu4090": 2})

    def test_what_jobs_asked_for_and_became_is_imported(self):
        done = self.lab.submit("--gres=gpu:gpu4090:2", "-t", "60", "-J", "done", command="true")
        array = self.lab.submit("--gres=gpu:3", "-t", "30", "--array=1-2", command="exit 3", user="lab3")
        stopped = self.lab.submit("-N2", "-n2", "-t", "60", user="lab5")
        self.lab.wait_for_state(stopped, "RUNNING")
        self.lab.run("scancel", stopped)

        def imported():
            now = int(time.time())
            rows = self.once("accounting", "--since", now - 3600, "--until", now + 60).stdout.splitlines()
            jobs = [json.loads(row)["job"] for row in rows if "job" in json.loads(row)]
            return jobs if len(jobs) == 4 and all(j["state"] != "RUNNING" for j in jobs) else []
        jobs = wait_until(imported, "four jobs in accounting")
        self.assertEqual(
            sorted((j["user"], j["account"], j["state"], j.get("gpu", ""), j.get("gpus", 0), j.get("nodes", 1),
                    j["limit_seconds"]) for j in jobs),
            [("lab1", "a0", "COMPLETED", "gpu4090", 2, 1, 3600), ("lab3", "a1", "FAILED", "", 3, 1, 1800),
             ("lab3", "a1", "FAILED", "", 3, 1, 1800), ("lab5", "a2", "CANCELLED", "", 0, 2, 3600)])
        self.assertLessEqual({done, array, stopped}, {j["id"] for j in jobs})


if __name__ == "__main__":
    collecting.main()
