#!/usr/bin/env python3
"""Several clusters, each a real Slurm with its own gpuadvised: asked, ranked and submitted to as one.

    clusters_test.py BIN_DIR [unittest options]
"""
import json
import signal
import time

import programs
from lab import Lab, wait_until

TRAIN = """name: wherever
model: {memory: {base: 1 GB, per_sample: 100 MB, overhead: 1 MB}}
training: {max_steps: 10, effective_batch_size: 4, measured: [{gpu: rtx2080ti, gpus: 1, batch: 4, seconds_per_step: 1}]}
resources: {max_gpus: 1}
command: sleep 30
"""


class SeveralClusters(programs.SiteTest):
    LAB = {"cluster": "tiny"}
    SETTINGS = {"source": "slurm-cli"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.other_lab = cls.enterClassContext(Lab(cluster="tiny"))
        cls.other = cls.enterClassContext(programs.Site(cls.other_lab, cls.bin_folder, **cls.SETTINGS))
        for site in [cls.site, cls.other]:
            site.start()
        # As a site would: a command that reaches the other cluster's sbatch.
        login = cls.site.folder / "login-b"
        login.write_text(f"#!/bin/sh\nexport SLURM_CONF={cls.other_lab.slurm_conf}\nexec \"$@\"\n")
        login.chmod(0o755)
        folder = cls.site.home("lab1") / "config" / "gpuadvise"
        folder.mkdir(parents=True)
        (folder / "client.yaml").write_text(json.dumps({"clusters": {
            "a": str(cls.site.socket),
            "b": {"daemon": str(cls.other.socket), "submit_command": f"{login} sbatch"}}}))
        cls.env = {"XDG_CONFIG_HOME": str(folder.parent)}

    def tearDown(self):
        super().tearDown()
        self.other_lab.cancel_all()

    def ask(self, *words, **more):
        return self.site.run(*words, env=self.env, **more)

    def fill(self, lab):
        """Every GPU of the cluster for an hour, and who waits for them."""
        for _ in range(12):
            lab.submit("--gres=gpu:1", "-t", "60", "--exclusive")

    def test_the_ranking_goes_over_all_and_submit_lands_where_it_says(self):
        self.fill(self.lab)
        self.site.wait_for_next_snapshot()
        train = self.site.write("train.yaml", TRAIN)
        answer = json.loads(self.ask("advise", "-M", "a,b", "--json", train).stdout)
        self.assertEqual({row["cluster"] for row in answer["strategies"]}, {"a", "b"})
        ends = [row["total_p50_seconds"] + row["total_p90_seconds"] for row in answer["strategies"]]
        self.assertEqual(ends, sorted(ends))
        self.assertEqual(answer["strategies"][0]["cluster"], "b", "a is full")
        self.assertEqual([one["error"] for one in answer["clusters"]], [None, None])
        done = json.loads(self.ask("submit", "-M", "all", "--yes", "--json", train).stdout)
        job = done["job_id"]
        self.assertEqual(done["strategy"]["cluster"], "b")
        self.assertIn(str(job), self.other_lab.run("squeue", "-h", "-o", "%i", "--user=lab1").stdout.split())
        rows = wait_until(lambda: self.other.json("jobs")["jobs"], "b's daemon to know of it")
        self.assertEqual([row["job_id"] for row in rows], [job])
        self.assertEqual(self.site.json("jobs")["jobs"], [], "and a's not")

    def test_tables_have_the_cluster_as_a_column(self):
        for words in [["gpus"], ["queue"], ["advise", self.site.write("train.yaml", TRAIN)]]:
            self.lab.submit("--gres=gpu:1", "-t", "60")
            self.site.wait_for_next_snapshot()
            said = self.ask(words[0], "-M", "a,b", *words[1:]).stdout
            self.assertIn("CLUSTER", said)
            self.assertIn("cluster a and b", " ".join(said.split()))
        when = self.ask("-M", "a,b", "when", "--gres=gpu:1", "-t", "60").stdout
        self.assertEqual(when.count("· cluster "), 2, when)

    def test_without_m_or_of_one_nothing_changes_for_others(self):
        plain = self.site.json("gpus")
        self.assertNotIn("clusters", plain)
        self.assertNotIn("cluster", plain["gpus"][0])
        self.assertEqual(self.ask("gpus", "-M", "c", check=False).returncode, 2)
        self.assertEqual(self.ask("why", "-M", "a", "1", check=False).returncode, 2)

    def test_a_silent_cluster_is_said_and_not_waited_for(self):
        self.other.process.send_signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            done = self.ask("gpus", "-M", "a,b", "--json")
            took = time.monotonic() - began
        finally:
            self.other.process.send_signal(signal.SIGCONT)
        self.assertIn("cluster b is left out: cannot reach gpuadvised at ", done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual({row["cluster"] for row in answer["gpus"]}, {"a"})
        self.assertIn("within 1 s", answer["clusters"][1]["error"])
        self.assertLess(took, 3)
        print(f"answered in {took:.2f} s beside a silent cluster", flush=True)
        self.other.stop()
        try:
            gone = self.ask("when", "-M", "b", "--gres=gpu:1", check=False)
            self.assertEqual(gone.returncode, 4)
            self.assertIn("b: cannot reach gpuadvised", gone.stderr)
        finally:
            self.other.start()


if __name__ == "__main__":
    programs.main()
