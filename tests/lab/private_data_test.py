#!/usr/bin/env python3
"""What the collector sees, and says that it does not, as an ordinary user of a cluster with PrivateData.

    private_data_test.py BIN_DIR [unittest options]
"""
import json

import collecting
from lab import wait_until

SOURCES = ["slurm-cli", "slurm-api"]


class Private(collecting.CollectorTest):
    def seen(self, source, user="lab1"):
        return [json.loads(line) for line in self.once(source, user=user).stdout.splitlines()]

    def rows(self, records, kind):
        return [r for r in records if r["record"] == kind]


class JobsAreHidden(Private):
    LAB = {"accounting": True, "cluster": "tiny", "conf": {"PrivateData": "jobs,usage,users"}}

    def setUp(self):
        self.own = self.lab.submit("--gres=gpu:gpu2080:1", "-n1", "-w", "n1", "--mem=100")
        self.other = self.lab.submit("--gres=gpu:gpu2080:2", "-n1", "-w", "n1", "--mem=100", "-J", "secret", user="lab3")
        for job in [self.own, self.other]:
            self.lab.wait_for_state(job, "RUNNING")

    def tearDown(self):
        self.lab.run("sacctmgr", "-i", "modify", "user", "lab1", "set", "adminlevel=none", check=False)
        self.lab.cancel_all()

    def test_an_ordinary_user_counts_gpus_right_and_says_what_is_hidden(self):
        for source in SOURCES:
            with self.subTest(source=source):
                text = self.once(source, user="lab1").stdout
                records = [json.loads(line) for line in text.splitlines()]
                self.assertEqual([r["id"] for r in self.rows(records, "job")], [self.own])
                self.assertNotIn("secret", text)
                self.assertNotIn("lab3", text)
                node = next(r for r in self.rows(records, "node") if r["name"] == "n1")
                self.assertEqual(node["gpus_allocated"], {"gpu2080": 3})
                config, = self.rows(records, "config")
                self.assertEqual(config["hidden"], ["jobs", "usage", "users"])

    def test_an_operator_sees_all(self):
        self.lab.run("sacctmgr", "-i", "modify", "user", "lab1", "set", "adminlevel=operator")

        def sees(source):
            records = self.seen(source)
            config, = self.rows(records, "config")
            return {r["id"] for r in self.rows(records, "job")} == {self.own, self.other} and "hidden" not in config

        for source in SOURCES:
            wait_until(lambda source=source: sees(source), f"slurmctld to know of the operator by {source}")

    def test_root_sees_all(self):
        for source in SOURCES:
            records = self.seen(source, user=None)
            config, = self.rows(records, "config")
            self.assertNotIn("hidden", config)
            self.assertEqual(len(self.rows(records, "job")), 2)


class NodesAreHidden(Private):
    LAB = {"cluster": "tiny", "conf": {"PrivateData": "nodes"}}

    def test_it_is_said_with_the_remedy(self):
        done = self.once("slurm-cli", user="lab1", check=False)
        self.assertIn("make the user of gpuadvised an operator", done.stdout + done.stderr)


if __name__ == "__main__":
    collecting.main(accounting=True)
