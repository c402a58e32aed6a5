#!/usr/bin/env python3
"""A cluster whose GRES has no type: features and settings say which GPU is where.

    end_to_end_untyped_test.py BIN_DIR [unittest options]
"""
import programs

TRAIN = """\
name: untyped
model: {memory: {base: 5 GB, per_sample: 1.2 GB, overhead: 2 GB}}
training:
  max_steps: 10000
  effective_batch_size: [120, 144]
  measured: [{gpu: rtx4090, gpus: 4, batch: 10, seconds_per_step: 3.9}]
resources: {cpus_per_gpu: 2, mem_per_gpu: 4G, gpus: [GPU]}
command: sleep 600
"""


class Untyped(programs.SiteTest):
    """Nodes u1 and u2 have the feature turing, u3 the feature ada, u4 none: `node:` names its GPUs."""
    LAB = {"cluster": "untyped"}
    SETTINGS = {"untyped_gpus": [{"feature": "turing", "gpu": "rtx2080ti"}, {"feature": "ada", "gpu": "rtx4090"},
                                 {"node": "u4", "gpu": "l40s"}]}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.site.start()

    def submit(self, gpu, *flags):
        train = self.site.write("train.yaml", TRAIN.replace("GPU", gpu))
        answer = self.site.json("submit", train, "--yes", *flags)
        job = self.lab.wait_for_state(answer["job_id"], "RUNNING")
        return answer["strategy"], job

    def test_gpus_are_told_apart_by_feature_and_node(self):
        gpus = {g["gpu"]: (g["total"], g["nodes"]) for g in self.site.json("gpus")["gpus"]}
        self.assertEqual(gpus, {"rtx2080ti": (8, 2), "rtx4090": (4, 1), "l40s": (4, 1)})

    def test_a_feature_is_asked_for_with_constraint(self):
        strategy, job = self.submit("rtx4090")
        self.assertEqual(strategy["sbatch"]["constraint"], "ada")
        self.assertEqual((job["NodeList"], job["ReqNodeList"]), ("u3", "(null)"))
        self.assertEqual(job["TresPerNode"], f"gres:gpu:{strategy['gpus_per_node']}")

    def test_without_a_feature_the_other_nodes_are_excluded(self):
        strategy, job = self.submit("l40s")
        self.assertEqual(strategy["sbatch"]["exclude"], "u[1-3]")
        self.assertEqual((job["NodeList"], job["ReqNodeList"]), ("u4", "(null)"))

    def test_what_the_user_asks_for_is_added_to_and_not_replaced(self):
        strategy, job = self.submit("rtx2080ti", "-C", "turing", "--exclude", "u1")
        self.assertEqual(strategy["sbatch"]["constraint"], "(turing)&turing")
        self.assertEqual((job["NodeList"], job["ExcNodeList"]), ("u2", "u1"))
        strategy, job = self.submit("l40s", "--exclude", "u2")
        self.assertEqual((job["NodeList"], job["ExcNodeList"]), ("u4", "u[1-3]"))

    def test_two_jobs_of_one_feature_take_its_two_nodes(self):
        nodes = {self.submit("rtx2080ti", "--gres", "gpu:4")[1]["NodeList"] for _ in range(2)}
        self.assertEqual(nodes, {"u1", "u2"})

    def test_the_wait_is_that_of_the_nodes_with_the_feature(self):
        running = self.lab.submit("--gres=gpu:4", "-C", "ada", "-t", "60")
        self.lab.wait_for_state(running, "RUNNING")
        self.site.wait_for_next_snapshot()
        waits = {}
        for gpu in ("rtx4090", "l40s"):
            train = self.site.write("train.yaml", TRAIN.replace("GPU", gpu))
            waits[gpu] = self.site.json("advise", train, "--gres", "gpu:4")["strategies"][0]["wait_at_limits_seconds"]
        self.assertAlmostEqual(waits["rtx4090"], 3600, delta=120)
        self.assertLess(waits["l40s"], 60)
        self.assertAlmostEqual(self.site.when("--gres=gpu:4", "-C", "ada", "-t", "30")["wait_at_limits_seconds"], 3600,
                               delta=120)


if __name__ == "__main__":
    programs.main()
