#!/usr/bin/env python3
"""Jobs of a higher tier take the nodes of a lower one: what is said, and what Slurm then does.

    end_to_end_preemption_test.py BIN_DIR [unittest options]
"""
import time

import programs
from lab import wait_until

HOUR = 3600
NODE = ["--gres", "gpu:gpu4090:4"]
REQUEUE_DELAY = 121  # kRequeueDelay of common/scheduler/simulation.cc


class Preemption(programs.SiteTest):
    """One node in partitions `low` and `high`; what `high` displaces is requeued."""
    LAB = {"cluster": "tiers", "conf": {"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE"}}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.site.start()

    def run_job(self, partition, hours, user="lab1"):
        job = self.lab.submit("-p", partition, "--requeue", "--gres=gpu:gpu4090:4", "-t", hours * 60, user=user)
        self.lab.wait_for_state(job, "RUNNING")
        self.site.wait_for_next_snapshot()
        return job

    def test_the_higher_tier_starts_now_and_the_lower_one_waits(self):
        low = self.run_job("low", 5)
        answer = self.site.when("-p", "high", *NODE, "-t", "60", user="lab2")
        self.assertLess(answer["wait_p50_seconds"], 60)
        answer = self.site.when("-p", "low", *NODE, "-t", "60", user="lab2")
        self.assertAlmostEqual(answer["wait_at_limits_seconds"], 5 * HOUR, delta=120)
        high = self.lab.submit("-p", "high", "--gres=gpu:gpu4090:4", "-t", "60", user="lab2")
        self.lab.wait_for_state(high, "RUNNING")  # Slurm agrees
        self.lab.wait_for_state(low, "PENDING")
        eligible = wait_until(lambda: self.time_of(low, "EligibleTime"), "the requeued job's begin")
        self.assertAlmostEqual(eligible - time.time(), REQUEUE_DELAY, delta=30)

    def time_of(self, job, field):
        text = self.lab.job(job)[field]
        return None if text == "Unknown" else int(self.lab.run("date", "-d", text, "+%s").stdout)

    def test_equals_do_not_displace_each_other(self):
        self.run_job("high", 3)
        answer = self.site.when("-p", "high", *NODE, "-t", "60", user="lab2")
        self.assertAlmostEqual(answer["wait_at_limits_seconds"], 3 * HOUR, delta=120)

    def test_what_may_be_lost_is_said(self):
        answer = self.site.when("-p", "low", *NODE, "-t", "60")
        self.assertIn("may be preempted, though no such job is pending", answer["reasons"])
        later = self.lab.submit("-p", "high", "--begin=now+1hour", "--gres=gpu:gpu4090:4", "-t", "60", user="lab2")
        self.lab.wait_for_reason(later, "BeginTime")
        self.site.wait_for_next_snapshot()
        answer = self.site.when("-p", "low", *NODE, "-t", "300")
        self.assertLess(answer["wait_p50_seconds"], 60)
        # An hour of work is done again, after the hour in which the other one has the node.
        self.assertGreater(answer["lost_mean_seconds"], 0)
        self.assertRegex(" ".join(answer["reasons"]), r"preempted in \d+ % of cases")


if __name__ == "__main__":
    programs.main()
