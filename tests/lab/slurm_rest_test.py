#!/usr/bin/env python3
"""slurm-rest says what slurm-cli says, through a real slurmrestd over a socket and with tokens.

    slurm_rest_test.py BIN_DIR [unittest options]

The Slurm is the host's, or that of GPUADVISE_LAB_ROOT. Debian 12's slurmrestd is of 22.05 and speaks no version of the API
that can be read: there only the refusal is looked at.
"""
import json
import sys
import unittest

import collecting
import lab_root
import slurmrestd
from lab import wait_until

ROOT = lab_root.from_environment()
RELEASE = lab_root.release_of(slurmrestd.path_of(ROOT))
# From this release on slurmrestd tells the configuration and the flags of partitions.
TELLS_CONF = (26, 5)


class RestTest(collecting.CollectorTest):
    def setUp(self):
        if RELEASE < slurmrestd.OLDEST_READ:
            self.skipTest(f"Slurm {RELEASE[0]}.{RELEASE[1]:02} speaks no version of the API that is read")

    def tearDown(self):
        self.lab.cancel_all()

    def records(self, source, *words):
        records = [json.loads(line) for line in self.once(source, *words).stdout.splitlines()]
        for name in ["source", "taken_at", "requests"]:
            records[0].pop(name)
        for record in records:
            record.pop("health", None)  # of the scheduler: never twice the same
        for job in (r for r in records if r["record"] == "job" and RELEASE >= TELLS_CONF):
            job["request"].pop("over_subscribe", None)  # v0.0.44 says it also of those that their partition lets share
        return records

    def agreed(self, *words):
        """What both say, taken while nothing changed."""
        for _ in range(10):
            before = self.records("slurm-cli")
            told = self.records("slurm-rest", *words)
            if self.records("slurm-cli") == before:
                break
        self.maxDiff = None
        self.assertEqual(before, told)
        return told


class WithoutAccounting(RestTest):
    LAB = {"cluster": "odd"}

    def setUp(self):
        super().setUp()
        self.rest = self.enterContext(slurmrestd.Slurmrestd(self.lab))
        self.url = ["--url", self.rest.url]

    def test_jobs_of_every_kind_are_those_of_slurm_cli(self):
        submit = self.lab.submit
        for options in ["-p short -n3 --gres=gpu:a100:1", "-p shared -n2", "--gpus-per-task=1 -n3 --mem-per-gpu=2G",
                        "--threads-per-core=1 -n3 -w t2 --mem-per-cpu=1500", "--exclusive -w m1 --mem=0",
                        "-H --array=1-900:3%7 -n4 -p short,shared -N1-3", "--begin=now+3hours --no-requeue --nice=50",
                        "-H -d afterany:1 -C ib&nvlink -x m1", "-H --oversubscribe --switches=1@10:00"]:
            submit(*options.split())
        running = self.lab.submit("-w", "u1", "-n1")
        self.lab.wait_for_state(running, "RUNNING")
        self.lab.run("scontrol", "create", "reservation", "reservationname=maint", "starttime=now+10days", "duration=60",
                     "nodes=t1,m1", "flags=maint", "users=root,lab1")
        self.addCleanup(self.lab.run, "scontrol", "delete", "reservation=maint")
        told = self.agreed(*self.url)
        self.assertGreater(sum(r["record"] == "job" for r in told), 8)

    def test_the_schedulers_figures_are_those_of_sdiag(self):
        def figures(source, *words):
            records = [json.loads(line) for line in self.once(source, *words).stdout.splitlines()]
            return next(record["health"] for record in records if "health" in record)
        by_cli, by_rest = figures("slurm-cli"), figures("slurm-rest", *self.url)
        self.assertEqual(by_cli["since"], by_rest["since"])
        self.assertGreaterEqual(by_rest["rpcs"], by_cli["rpcs"])
        self.assertGreaterEqual(by_rest["main"]["cycles"], by_cli["main"]["cycles"])

    def test_a_release_that_does_not_tell_the_configuration_says_so(self):
        done = self.once("slurm-rest", *self.url, env={"SLURM_CONF": ""})
        said = "does not report the configuration" in done.stderr
        self.assertEqual(said, RELEASE < TELLS_CONF, done.stderr)

    def test_jobs_follow_one_another_from_poll_to_poll(self):
        running = self.collector("slurm-rest", "--poll-interval", "0.2", *self.url)
        running.next_batch()
        job = self.lab.submit("-w", "u1", "-n1")
        wait_until(lambda: any(r["record"] == "job" and r["id"] == job for r in running.next_batch()), "the new job")
        self.lab.run("scancel", job)
        wait_until(lambda: all(r.get("id") != job for r in running.next_batch() if r["record"] == "job"), "its end")

    def test_slurmctld_that_is_gone_is_said(self):
        self.lab.stop_slurmctld()
        self.addCleanup(self.lab.continue_slurmctld)
        done = self.once("slurm-rest", *self.url, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"slurmrestd at unix:\S+ does not (tell|answer) /slurm/")


class WithAccounting(RestTest):
    LAB = {"cluster": "seed", "accounting": True}

    def test_limits_usage_and_priorities_are_those_of_slurm_cli(self):
        rest = self.enterContext(slurmrestd.Slurmrestd(self.lab))
        def manage(*words):
            self.lab.run("sacctmgr", "-i", *words)
        manage("modify", "account", "a0", "set", "grptres=gres/gpu=8,mem=100G", "grpjobs=7", "grpsubmitjobs=70",
               "maxjobs=5", "maxsubmitjobs=50", "maxwall=1-0", "maxtresperjob=gres/gpu=6,mem=200G",
               "maxtrespernode=cpu=16")
        manage("modify", "user", "lab1", "where", "account=a0", "set", "maxjobs=3", "priority=7", "defaultqos=high")
        manage("add", "qos", "scavenger")
        manage("modify", "qos", "high", "set", "preempt=scavenger,normal", "flags=DenyOnLimit,NoReserve",
               "usagefactor=2", "preemptmode=cancel", "maxtresperjob=gres/gpu=6,mem=200G", "maxtresperaccount=cpu=100",
               "grptres=gres/gpu=9", "grpjobs=3", "maxjobsperuser=5", "maxwall=2-0", "mintresperjob=gres/gpu=1")
        self.lab.submit(*"--qos=high --gres=gpu:gpul40s:3 -t 60".split())
        two = self.lab.submit(*"-N2 --gres=gpu:gpu2080:4 --mem=20G -t 1-2:00:00".split(), user="lab3")
        self.lab.wait_for_state(two, "RUNNING")
        told = self.agreed("--url", rest.url)
        high, = [r for r in told if r["record"] == "qos" and r["name"] == "high"]
        self.assertEqual(high["limits"]["group_tres_used"]["gres/gpu:gpul40s"], 3)


class WithTokens(RestTest):
    LAB = {"cluster": "tiny"}

    @classmethod
    def setUpClass(cls):
        reason = slurmrestd.why_no_tokens(ROOT)
        if reason:
            raise unittest.SkipTest(reason)
        folder = cls.enterClassContext(collecting.temporary_folder())
        cls.LAB = {"cluster": "tiny", "conf": slurmrestd.write_token_key(folder)}
        super().setUpClass()

    def setUp(self):
        super().setUp()
        self.rest = self.enterContext(slurmrestd.Slurmrestd(self.lab, tokens=True))

    def test_a_token_opens_the_door_and_a_newer_one_is_taken(self):
        path = self.rest.token_file(lifespan=1)
        running = self.collector("slurm-rest", "--poll-interval", "0.2", "--url", self.rest.url, "--jwt-file", path)
        error = running.next_error()
        self.assertIn(f"refuses the token in {path}", error)
        self.assertIn("scontrol token lifespan=", error)
        self.assertNotIn(path.read_text().strip().removeprefix("SLURM_JWT="), error)
        self.rest.token_file()
        self.assertEqual(running.next_batch()[0]["record"], "begin")

    def test_without_a_token_the_remedy_is_said(self):
        done = self.once("slurm-rest", "--url", self.rest.url, check=False)
        self.assertIn("wants a token; set slurmrestd.token_file", done.stderr)


class AnOldRelease(collecting.CollectorTest):
    LAB = {"cluster": "tiny"}

    def test_is_refused_with_what_it_offers(self):
        if RELEASE >= slurmrestd.OLDEST_READ:
            self.skipTest("this release speaks a version that is read")
        rest = self.enterContext(slurmrestd.Slurmrestd(self.lab))
        done = self.once("slurm-rest", "--url", rest.url, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"offers v0\.0\.36, v0\.0\.37.*; gpuadvise reads v0\.0\.40 to v0\.0\.45 .*slurm-cli")


if __name__ == "__main__":
    reason = slurmrestd.why_not(ROOT)
    if reason:
        print(f"skipped: {reason}")
        sys.exit(collecting.SKIPPED)
    collecting.main(accounting=True)
