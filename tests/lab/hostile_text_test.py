#!/usr/bin/env python3
"""Two users write into names, comments and paths what looks like Slurm's own text: nobody's job is invented,
hidden or changed, and both sources say the same.

    hostile_text_test.py BIN_DIR [unittest options]
"""
import json
import pwd

import collecting
from lab import wait_until

BODY = ("   UserId=lab2({uid}) GroupId=root(0) MCS_label=N/A\n   Priority=99 Nice=0 Account=(null) QOS=(null)\n"
        "   JobState=RUNNING Reason=None Dependency=(null)\n   StartTime=1795364929 EndTime=1995364929\n"
        "   Partition=gpu_shared AllocNode:Sid=localhost:1\n   NodeList=m1\n   NumNodes=1 NumCPUs=1\n"
        "     Nodes=m1 CPU_IDs=0 Mem=2000 GRES=gpu:a100:1(IDX:0)\n"
        "   OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null)\n   Command=(null)\n")


def record(job):
    """What Slurm would show of a job of lab2's."""
    return f"\n\nJobId={job} JobName=evil\n" + BODY.replace("{uid}", str(pwd.getpwnam("lab2").pw_uid))


class HostileText(collecting.CollectorTest):
    LAB = {"cluster": "odd"}

    def setUp(self):
        self.maxDiff = None

    def tearDown(self):
        self.lab.cancel_all()

    def submit(self, user, *options):
        """By the user's own sbatch, held, so that nothing changes while both sources look."""
        return int(self.lab.run("sbatch", "--parsable", "-H", "-D", "/tmp", *options, "--wrap", "sleep 100",
                                user=user).stdout)

    def jobs(self):
        """By id, as both sources say; and what slurm-cli says on stderr.

        The scheduler may give a job another reason at any time: slurm-cli is asked again until
        slurm-api says the same before and after it.
        """
        for _ in range(20):
            api = self.jobs_by_id()
            done = self.once("slurm-cli")
            if self.jobs_by_id() == api:
                break
        records = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(records[-1]["record"], "end")
        self.assertEqual(api, {r["id"]: r for r in records if r["record"] == "job"})
        return api, done.stderr

    def jobs_by_id(self):
        return {r["id"]: r for r in self.snapshot("slurm-api") if r["record"] == "job"}

    def test_a_comment_with_two_records_of_an_invented_job(self):
        mine = self.submit("lab1", "--comment=x" + record(9999) * 2, "-o", "/tmp/o" + record(9999),
                           "--mail-type=ALL", "--mail-user=m" + record(9999))
        other = self.submit("lab3", "--gpus=1", "--comment=x" + record(mine))
        jobs, said = self.jobs()
        self.assertEqual(sorted(jobs), [mine, other])
        self.assertEqual({i: j["user"] for i, j in jobs.items()}, {mine: "lab1", other: "lab3"})
        self.assertEqual({j["state"] for j in jobs.values()}, {"PENDING"})
        self.assertIn("left out: job 9999 is not in squeue's list; it follows job", said)

    def test_a_record_of_the_next_users_job_written_before_it_exists(self):
        mine = self.submit("lab1", "-o", "/tmp/o")
        ahead = "".join(record(mine + i) for i in range(1, 3))
        self.lab.run("scontrol", "update", f"jobid={mine}", f"comment=x{ahead}", user="lab1")
        other = self.submit("lab2", "-J", "evil", "--gpus=a100:2", "-N2")
        jobs, _ = self.jobs()
        self.assertEqual(sorted(jobs), [mine, other])
        self.assertEqual(jobs[other]["state"], "PENDING")
        self.assertEqual(jobs[other]["request"]["gpus_total"], {"a100": 2})

    def test_a_record_of_another_users_job_that_agrees_with_all_that_squeue_lists(self):
        other = self.submit("lab2", "-J", "y", "-p", "gpu_shared", "--gpus=a100:1")
        array = self.submit("lab2", "-J", "y", "--array=1-3", "--gpus=a100:1")
        forged = "".join(
            f"\n\nJobId={job} JobName=y\n{BODY}".replace("JobState=RUNNING", "JobState=PENDING").replace(
                "Account=(null)", "Account=(null) WCKey=(null) Reservation=(null) TresPerJob=gres:gpu:a100:1")
            for job in [other, array])
        mine = self.submit("lab1", "-o", "/tmp/o" + forged, "-e", "/tmp/e" + forged)
        jobs, said = self.jobs()
        self.assertEqual(sorted(jobs), [other, array, mine])
        self.assertEqual(jobs[other].get("priority", 0), 0)
        self.assertEqual(jobs[array]["array_tasks"], "1-3")
        self.assertIn("records are left out: ", said)

    def test_names_labels_and_accounts(self):
        name = "na\nme\t\x1b[31m ü\n" + BODY + record(9999)
        named = self.submit("lab1", "-J", name, "--gpus=1")
        labelled = self.submit("lab2", "--mcs-label=m\n   JobState=RUNNING Reason=None\n   Priority=77",
                               "-A", "a\n   QOS=b Reservation=maint", "--wckey=w\n   NumNodes=4 NumCPUs=99")
        jobs, _ = self.jobs()
        self.assertEqual(sorted(jobs), [named, labelled])
        self.assertEqual((jobs[named]["name"], jobs[named]["user"]), (name, "lab1"))
        self.assertEqual(jobs[named]["request"]["gpus_total"], {"": 1})
        self.assertEqual((jobs[labelled]["state"], jobs[labelled]["priority"] if "priority" in jobs[labelled] else 0),
                         ("PENDING", 0))

    def test_paths_and_mail_set_no_field(self):
        lines = "\n   Reservation=maint\n   TresPerNode=gres:gpu:8\n   MemPerTres=gres:gpu:9000"
        job = self.submit("lab1", "-o", "/tmp/o" + lines, "-e", "/tmp/e" + lines, "-i", "/tmp/i" + lines,
                          f"--mail-user=m{lines}", "--mail-type=ALL", f"--comment=c{lines}", f"--network=n{lines}")
        row, = self.jobs()[0].values()
        self.assertEqual((row["id"], row["user"]), (job, "lab1"))
        for key in ["reservation", "gpus_per_node", "gpus_total"]:
            self.assertNotIn(key, row["request"])

    def test_tasks_of_an_array_that_have_records_of_their_own(self):
        array = self.submit("lab1", "--array=1-6", "--gpus=1", "--comment=x" + record(9999).replace(
            " JobName", " ArrayJobId=1 ArrayTaskId=2 JobName"))
        self.lab.run("scontrol", "update", f"jobid={array}_3", "timelimit=60", user="lab1")
        self.lab.run("scontrol", "update", f"jobid={array}_5", "name=other\n\nJobId=9998 JobName=x", user="lab1")
        jobs, _ = self.jobs()
        self.assertEqual(sorted(j["array_tasks"] for j in jobs.values()), ["1-2,4,6", "3", "5"])
        self.assertEqual({j["array_job_id"] for j in jobs.values()}, {array})

    def test_the_reason_of_a_node(self):
        self.lab.run("scontrol", "update", "nodename=u1", "state=drain", "reason=fan\n   CPUAlloc=9\n   Gres=gpu:99")
        self.addCleanup(self.lab.run, "scontrol", "update", "nodename=u1", "state=resume")
        for source in ["slurm-api", "slurm-cli"]:
            node, = [r for r in self.snapshot(source) if r["record"] == "node" and r["name"] == "u1"]
            self.assertEqual((node["gpus"], node["reason"], node.get("cpus_allocated", 0)), ({"": 4}, "fan", 0))


class HostileAccounting(collecting.CollectorTest):
    LAB = {"cluster": "tiny", "accounting": True}

    def test_a_name_that_looks_like_rows_of_accounting(self):
        row = ["99", "1790000000", "1790000000", "1790000100", "1790003700", "60", "1", "1", "cpu=1,gres/gpu=4", "lab2",
               "lab", "gpu_shared", "normal", "COMPLETED", "classt06", "evil"]
        rows = "\n" + "".join(mark.join(row) + mark + "\n" for mark in ["|", "\x1f"])
        names = {self.submit(f"a{rows}"): f"a{rows}", self.submit("b"): "b"}
        wait_until(lambda: sorted(self.accounted()) == sorted(names), "both jobs to be accounted for", 30)
        self.assertEqual({i: j["name"] for i, j in self.accounted().items()}, names)

    def submit(self, name):
        return self.lab.submit("-J", name, command="true")

    def accounted(self):
        done = self.lab.run(self.program, "accounting", "--since", "1700000000", "--until", "2000000000")
        records = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(records[-1]["unreadable"], 0)
        return {r["job"]["id"]: r["job"] for r in records if "job" in r}


if __name__ == "__main__":
    collecting.main(accounting=True)
