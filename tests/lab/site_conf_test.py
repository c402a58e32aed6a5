#!/usr/bin/env python3
"""Keys of slurm.conf that move a start: `when` and then Slurm itself, on one cluster.

    site_conf_test.py BIN_DIR [unittest options]

Each question is asked, then submitted: what `when` says starts now is running at once, and what it
says starts in hours is still waiting after backfill has looked at it.
"""
import programs

HOUR = 3600
LICENCES = ("Licenses", "Resources", "Priority")


class SiteConf(programs.SiteTest):
    """n1 in a partition with MaxCPUsPerNode and one without, n2 in one with OverSubscribe=FORCE."""
    LAB = {"cluster": "site", "conf": {"Licenses": "matlab:4"}}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.site.start()

    def setUp(self):
        self.addCleanup(self.lab.cancel_all)

    def run_job(self, *options, user="lab1"):
        job = self.lab.submit(*options, user=user)
        self.lab.wait_for_state(job, "RUNNING")
        self.site.wait_for_next_snapshot()

    def starts_now(self, *options, user="lab2"):
        """What `when` says; Slurm has to agree."""
        answer = self.site.when(*options, user=user)
        now = answer["wait_at_limits_seconds"] == 0 and answer["wait_p50_seconds"] < 60
        job = self.lab.submit(*options, user=user)
        if now:
            self.lab.wait_for_state(job, "RUNNING")
        else:
            self.lab.wait_for_reason(job, *LICENCES)
        self.lab.run("scancel", job)
        self.lab.wait_for_state(job, "CANCELLED")
        return now

    def test_max_cpus_per_node_bounds_all_jobs_of_the_partition(self):
        self.run_job("-p", "few", "-c", "6", "-t", "180")
        self.assertTrue(self.starts_now("-p", "few", "-c", "2", "-t", "60"))
        self.assertFalse(self.starts_now("-p", "few", "-c", "4", "-t", "60"))
        self.assertTrue(self.starts_now("-p", "shared", "-c", "24", "-t", "60", "--mem=1G"))

    def test_force_shares_cpus_and_no_gpus(self):
        self.run_job("-p", "twice", "-c", "32", "--gres=gpu:gpu4090:2", "-t", "180", "--mem=1G")
        self.assertTrue(self.starts_now("-p", "twice", "-c", "32", "--gres=gpu:gpu4090:2", "-t", "60", "--mem=1G"))
        self.assertFalse(self.starts_now("-p", "twice", "-c", "1", "--gres=gpu:gpu4090:3", "-t", "60", "--mem=1G"))

    def test_jobs_wait_for_licences(self):
        if not self.site.ask("/v1/site")[1]["settings"] or not self.known("Licenses"):
            self.skipTest("this collector reads no licences")
        self.run_job("-p", "shared", "-L", "matlab:3", "-t", "180", "--mem=1G")
        self.assertTrue(self.starts_now("-p", "shared", "-L", "matlab:1", "-t", "60", "--mem=1G"))
        self.assertFalse(self.starts_now("-p", "shared", "-L", "matlab:2", "-t", "60", "--mem=1G"))

    def known(self, key):
        return [s for s in self.site.ask("/v1/site")[1]["settings"] if s["key"] == key]

    def test_doctor_lists_what_the_site_has_set(self):
        text = self.site.run("doctor", "--site").stdout
        self.assertRegex(text, r"simulated +partition MaxCPUsPerNode \(few: 8\)")
        self.assertRegex(text, r"approximated +partition OverSubscribe \(.*twice: FORCE:2")
        self.assertRegex(text, r"simulated +SchedulerParameters bf_interval \(2\)")


if __name__ == "__main__":
    programs.main()
