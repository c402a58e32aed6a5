#!/usr/bin/env python3
"""slurm-api and slurm-cli look at the same busy cluster and say the same.

    collectors_agree_test.py BIN_DIR [unittest options]
"""
import json
import re

import collecting
from lab import wait_until

HET_JOB = """#!/bin/sh
#SBATCH -n1 --gres=gpu:1
#SBATCH hetjob
#SBATCH -n2
sleep 100
"""


class Agreeing(collecting.CollectorTest):
    def agreed(self):
        """The snapshot on which both agree, taken while nothing changed: api, cli, api."""
        for _ in range(10):
            before = self.snapshot("slurm-api")
            from_tools = self.snapshot("slurm-cli")
            if self.snapshot("slurm-api") == before:
                break
        self.maxDiff = None
        self.assertEqual(before, from_tools)
        self.assertGreater(len(before), 5)
        return before

    def rows(self, kind):
        return [r for r in self.agreed() if r["record"] == kind]

    def job_rows(self):
        return {r["id"]: r for r in self.rows("job")}

    def submit_all(self, *jobs, user="lab1"):
        return [self.lab.submit(*options.split(), user=user) for options in jobs]

    def wait_until_scheduled(self, running):
        wait_until(lambda: len(self.lab.run("squeue", "-h", "-t", "RUNNING", "-o", "%i").stdout.split()) == running,
                   f"{running} jobs to run", 60)

    def tearDown(self):
        self.lab.cancel_all()


class WithoutAccounting(Agreeing):
    """Threads, specialised cores, mixed and untyped GPUs, partitions with rules."""
    LAB = {"cluster": "odd"}

    def test_an_idle_cluster(self):
        nodes = {r["name"]: r for r in self.rows("node")}
        self.assertEqual((nodes["t1"]["cpus"], nodes["t1"]["memory_mib"]), (14, 62000))  # less what is specialised
        self.assertEqual(nodes["m1"]["gpus"], {"a100": 1, "l40s": 2})
        self.assertEqual(nodes["u1"]["gpus"], {"": 4})

    def test_the_requests_that_a_batch_tells_are_the_rpcs_that_slurmctld_counts(self):
        def rpcs():
            by_user = self.lab.run("sdiag").stdout.split("statistics by user")[1]
            found = re.search(r"^\s*lab1\s*\(\s*\d+\)\s*count:(\d+)", by_user, re.MULTILINE)
            return int(found.group(1)) if found else 0
        before = rpcs()
        told = json.loads(self.once("slurm-api", user="lab1").stdout.splitlines()[0])["requests"]
        self.assertEqual(told, rpcs() - before)

    def test_allocations_of_every_kind_add_up_to_what_the_nodes_say(self):
        self.submit_all("-p short -n3 --gres=gpu:a100:1", "-p shared -n2", "--gpus-per-task=1 -n3 --mem-per-gpu=2G",
                        "--threads-per-core=1 -n3 -w t2 --mem-per-cpu=1500", "-N1-3 -n3 -C ib&nvlink -x m1",
                        "--gpus=a100:2 --gpus-per-node=a100:1 -N2", "--gres=gpu:l40s:1,gpu:a100:1")
        self.wait_until_scheduled(7)
        records = self.agreed()
        held = {}
        for job in (r for r in records if r["record"] == "job"):
            for allocation in job["allocations"]:
                for node in self.lab.run("scontrol", "show", "hostnames", allocation["nodes"]).stdout.split():
                    cpus, memory, gpus = held.get(node, (0, 0, 0))
                    held[node] = (cpus + allocation["cpus"], memory + allocation["memory_mib"],
                                  gpus + sum(allocation.get("gpus", {}).values()))
        for node in (r for r in records if r["record"] == "node"):
            said = (node.get("cpus_allocated", 0), node.get("memory_allocated_mib", 0),
                    sum(node.get("gpus_allocated", {}).values()))
            self.assertEqual(held.get(node["name"], (0, 0, 0)), said, node["name"])

    def test_whole_nodes_and_all_of_their_memory(self):
        whole, = self.submit_all("--exclusive -w u1 --mem=0")
        self.wait_until_scheduled(1)
        allocation, = self.job_rows()[whole]["allocations"]
        self.assertEqual((allocation["cpus"], allocation["memory_mib"]), (32, 128000))

    def test_jobs_that_wait_for_every_kind_of_reason(self):
        blocker, held, array, begin, after = self.submit_all(
            "--exclusive -w u1 -t 60", "-H --nice=50 --no-requeue", "-H --array=1-900:3%7 -n4 -p short,shared",
            "--begin=now+3hours", "-d afterok:1 -H")
        self.lab.wait_for_state(blocker, "RUNNING")
        blocked, dependent = self.submit_all("-w u1 --gpus-per-task=1 -n2 -t 30", f"-d afterany:{blocker}")
        self.lab.wait_for_reason(blocked, "Resources", "Priority")
        jobs = self.job_rows()
        self.assertEqual((jobs[array]["array_task_count"], jobs[array]["array_throttle"]), (300, 7))
        self.assertEqual(jobs[array]["request"]["partitions"], ["short", "shared"])
        self.assertEqual((jobs[held]["nice"], jobs[held]["requeue"], jobs[held]["reason"]), (50, False, "JobHeldUser"))
        self.assertGreater(jobs[begin]["request"]["begin_time"], jobs[begin]["submit_time"] + 3000)
        self.assertEqual(jobs[dependent]["dependency"], f"afterany:{blocker}(unfulfilled)")
        self.assertEqual(jobs[blocked]["request"]["gpus_total"], {"": 2})
        self.assertIn(after, jobs)

    def test_names_that_look_like_other_fields(self):
        job, = self.submit_all("-H")
        name = "my job = a Reason=None UserId=root(0)"
        self.lab.run("scontrol", "update", f"jobid={job}", f"name={name}", "comment=JobState=RUNNING x")
        row = self.job_rows()[job]
        self.assertEqual((row["name"], row["user"], row["state"]), (name, "lab1", "PENDING"))

    def test_arrays_that_run_het_jobs_and_suspended_jobs(self):
        array, suspended = self.submit_all("-p shared -n1 --array=1-3%2", "-w m1 -n1")
        script = self.lab.folder / "het.sh"
        script.write_text(HET_JOB)
        het = int(self.lab.run("sbatch", "--parsable", "--uid=lab2", "-H", "-o", "/dev/null", script).stdout)
        self.wait_until_scheduled(3)
        self.lab.run("scontrol", "suspend", suspended)
        rows = self.job_rows()
        self.assertEqual(rows[suspended]["state"], "SUSPENDED")
        self.assertEqual([r["id"] for r in rows.values() if r.get("het_job_id") == het], [het, het + 1])
        tasks = sorted((r["state"], r["array_tasks"]) for r in rows.values() if r.get("array_job_id") == array)
        self.assertEqual(tasks, [("PENDING", "3"), ("RUNNING", "1"), ("RUNNING", "2")])

    def test_reservations_and_nodes_out_of_service(self):
        self.lab.run("scontrol", "create", "reservation", "reservationname=maint", "starttime=now+1hour",
                     "duration=60", "nodes=t1,m1", "flags=maint", "users=root,lab1")
        self.addCleanup(self.lab.run, "scontrol", "delete", "reservation=maint")
        self.lab.run("scontrol", "update", "nodename=u1", "state=drain", "reason=fan broken = bad")
        self.addCleanup(self.lab.run, "scontrol", "update", "nodename=u1", "state=resume")
        reservation, = self.rows("reservation")
        self.assertEqual((reservation["nodes"], reservation["users"]), ("m1,t1", ["root", "lab1"]))
        u1, = [r for r in self.rows("node") if r["name"] == "u1"]
        self.assertEqual((u1["state"], u1["reason"]), ("IDLE+DRAIN", "fan broken = bad"))

    def test_jobs_that_have_ended_are_gone(self):
        job = self.lab.submit(command="true")
        self.lab.wait_for_state(job, "COMPLETED")
        self.assertEqual(self.rows("job"), [])


class WithAccounting(Agreeing):
    """Associations, QOS, their limits and what counts against them."""
    LAB = {"cluster": "seed", "accounting": True}

    def manage(self, *words):
        self.lab.run("sacctmgr", "-i", *words)

    def test_limits_usage_and_priorities_of_a_busy_cluster(self):
        self.manage("modify", "account", "a0", "set", "grptres=gres/gpu=8,mem=100G", "grpjobs=7", "grpsubmitjobs=70",
                    "maxjobs=5", "maxsubmitjobs=50", "maxwall=1-0", "maxtresperjob=gres/gpu=6,mem=200G",
                    "maxtrespernode=cpu=16")
        self.manage("modify", "user", "lab1", "where", "account=a0", "set", "maxjobs=3", "priority=7", "defaultqos=high")
        self.manage("add", "qos", "scavenger")
        self.manage("modify", "qos", "high", "set", "preempt=scavenger,normal", "flags=DenyOnLimit,NoReserve",
                    "usagefactor=2", "preemptmode=cancel", "maxtresperjob=gres/gpu=6,mem=200G", "maxtrespernode=cpu=16",
                    "maxtresperaccount=cpu=100", "grptres=gres/gpu=9", "grpjobs=3", "grpsubmitjobs=4",
                    "maxjobsperuser=5", "maxsubmitjobsperuser=6", "maxwall=2-0", "mintresperjob=gres/gpu=1")
        limited = self.submit_all("--qos=high --gres=gpu:gpul40s:3 -t 60", "--qos=high --gres=gpu:gpul40s:3 -t 60")
        self.submit_all("-N2 --gres=gpu:gpu2080:4 --mem=20G -t 1-2:00:00", user="lab3")
        self.submit_all("--gpus=2 -n2 --mem-per-cpu=1500 --gpus-per-task=1 --cpus-per-task=3", user="lab4")
        self.submit_all("-H --array=1-9:2%2 --gpus=gpu2080:2", user="lab5")
        self.wait_until_scheduled(3)
        self.lab.wait_for_reason(limited[1], "QOSMaxGRESPerUser")
        records = self.agreed()
        qos = {r["name"]: r for r in records if r["record"] == "qos"}
        self.assertEqual(qos["high"]["limits"]["max_tres_per_user"], {"gres/gpu": 4})
        self.assertEqual(qos["high"]["limits"]["group_tres_used"]["gres/gpu:gpul40s"], 3)
        self.assertEqual(qos["high"]["preempt"], ["normal", "scavenger"])
        of_lab1, = [r for r in records if r["record"] == "association" and r.get("user") == "lab1"
                    and r["account"] == "a0"]
        self.assertEqual((of_lab1["default_qos"], of_lab1["qos"]), ("high", ["high", "normal"]))
        self.assertEqual((of_lab1["limits"]["max_jobs"], of_lab1["limits"]["group_jobs_used"]), (3, 1))


if __name__ == "__main__":
    collecting.main(accounting=True)
