#!/usr/bin/env python3
"""From a training file to a job on the promised GPUs: real Slurm, real gpuadvised, real gpuadvise.

    end_to_end_submit_test.py BIN_DIR [unittest options]
"""
import os
import pty
import re
import select
import subprocess

import programs
from lab import wait_until

# The job of Isaac-GR00T's team guide. RECORD writes its environment to a file for every node it runs on.
TRAIN = """\
name: lab-train
model: {memory: {base: 5 GB, per_sample: 1.2 GB, overhead: 2 GB}}
training:
  max_steps: 10000
  effective_batch_size: [120, 144]
  measured: [{gpu: rtx4090, gpus: 4, batch: 10, seconds_per_step: 3.9}]
resources: {cpus_per_gpu: 2, mem_per_gpu: 4G, max_nodes: MAX_NODES, gpus: [GPUS]}
slurm: {partition: gpu_shared}
env: {GREETING: "hello from {nodes} × {gpus_per_node}"}
setup: [export SETUP_RAN=yes]
command: RECORD --batch {micro_batch} --accumulation {accumulation}
"""

RECORD = """\
#!/bin/sh
# One file a job and node: the arguments, then the environment; there at once or not at all.
file=FACTS/$SLURM_JOB_ID.$SLURM_NODEID
{ echo "ARGUMENTS=$*"; echo "SLURMD_HERE=$(printenv SLURMD_NODENAME)"; env; } > "$file.part"
mv "$file.part" "$file"
"""


class Submitting(programs.SiteTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.facts = cls.site.folder / "facts"
        cls.facts.mkdir()
        cls.facts.chmod(0o1777)
        cls.record = cls.site.bin / "record"
        cls.record.write_text(RECORD.replace("FACTS", str(cls.facts)))
        cls.record.chmod(0o755)
        cls.site.start()

    def train_file(self, gpus="rtx4090, l40s, rtx2080ti", max_nodes=1, user="lab1", name="train.yaml"):
        text = TRAIN.replace("RECORD", str(self.record)).replace("MAX_NODES", str(max_nodes)).replace("GPUS", gpus)
        return self.site.write(name, text, user)

    def submit(self, *words, user="lab1", **more):
        """Submits and returns (job id, what was printed)."""
        printed = self.site.run("submit", self.train_file(user=user), "--yes", *words, user=user, **more).stdout
        found = re.search(r"^Submitted job (\d+)", printed, re.M)
        self.assertTrue(found, printed)
        return int(found.group(1)), printed

    def facts_of(self, job_id, node=0):
        """The environment that the command saw on the job's node number `node`."""
        path = self.facts / f"{job_id}.{node}"
        wait_until(path.exists, f"job {job_id} to run on its node {node}")
        return dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line)

    def assert_runs_as(self, job_id, strategy):
        """The job has what the strategy promised."""
        job = self.lab.wait_for_state(job_id, "RUNNING", "COMPLETED", "COMPLETING")
        self.assertEqual(job["Partition"], strategy["partition"])
        self.assertEqual(job["TresPerNode"], f"gres:gpu:{strategy['gres_type']}:{strategy['gpus_per_node']}")
        self.assertEqual(int(job["NumNodes"].split("-")[0]), strategy["nodes"])
        self.assertEqual(programs.seconds(job["TimeLimit"]), strategy["time_limit_seconds"])
        gres = self.lab.run("sinfo", "-h", "-N", "-n", job["NodeList"], "-o", "%G").stdout.split()
        for words in gres:
            self.assertIn(strategy["gres_type"], words)
        return job

    # ---- the choice becomes the job ----------------------------------------------------------

    def test_the_first_row_becomes_a_job_on_the_gpus_it_promised(self):
        best = self.site.json("advise", self.train_file())["strategies"][0]
        job_id, printed = self.submit()
        job = self.assert_runs_as(job_id, best)
        self.assertEqual(job["ReqNodeList"], "(null)", "nobody pinned a node")
        self.assertEqual(job["UserId"].split("(")[0], "lab1")
        self.assertRegex(printed, rf"Submitted job {job_id}: .*(start|now|done)")

    def test_the_command_is_told_its_batch_and_runs_after_setup(self):
        best = self.site.json("advise", self.train_file())["strategies"][0]
        job_id, _ = self.submit()
        facts = self.facts_of(job_id)
        self.assertEqual(facts["ARGUMENTS"], f"--batch {best['micro_batch']} --accumulation {best['accumulation']}")
        self.assertEqual(facts["GPUADVISE_MICRO_BATCH"], str(best["micro_batch"]))
        self.assertEqual(facts["GPUADVISE_ACCUMULATION"], str(best["accumulation"]))
        self.assertEqual(facts["GPUADVISE_GPUS_PER_NODE"], str(best["gpus_per_node"]))
        self.assertEqual(facts["GPUADVISE_NODES"], "1")
        self.assertEqual(facts["SETUP_RAN"], "yes")
        self.assertEqual(facts["GREETING"], f"hello from 1 × {best['gpus_per_node']}")
        product = best["micro_batch"] * best["accumulation"] * best["gpus_per_node"]
        self.assertEqual(product, best["effective_batch_size"])
        self.assertTrue(120 <= product <= 144, best)

    def test_pick_takes_another_row(self):
        first, second = self.site.json("advise", self.train_file())["strategies"][:2]
        self.assertNotEqual(self.gpus_of(first), self.gpus_of(second), "the test wants rows that differ")
        job_id, _ = self.submit("--pick", "2")
        self.assert_runs_as(job_id, second)

    @staticmethod
    def gpus_of(strategy):
        return (strategy["gpu"], strategy["gpus_per_node"], strategy["nodes"])

    def test_every_row_of_the_table_can_be_had(self):
        strategies = self.site.json("advise", self.train_file(), user="lab2")["strategies"]
        kinds = {s["gres_type"]: s for s in reversed(strategies)}
        self.assertEqual(set(kinds), {"gpu4090", "gpul40s", "gpu2080"})
        for strategy in kinds.values():
            job_id, _ = self.submit("--pick", strategy["rank"], user="lab2")
            self.assert_runs_as(job_id, strategy)
            self.lab.cancel_all()
            self.site.wait_for_next_snapshot()

    def test_json_gives_the_job_and_its_script(self):
        answer = self.site.json("submit", self.train_file(), "--yes")
        self.assertEqual(self.lab.job(answer["job_id"])["JobName"], "lab-train")
        self.assertTrue(answer["script"].startswith("#!"))

    # ---- nothing is submitted ----------------------------------------------------------------

    def test_a_dry_run_prints_the_script_and_submits_nothing(self):
        done = self.site.run("submit", self.train_file(), "--dry-run")
        self.assertTrue(done.stdout.startswith("#!/bin/bash\n#SBATCH "), done.stdout)
        self.assertIn("#SBATCH --gres=gpu:", done.stdout)
        self.assertNotIn("nodelist", done.stdout)
        self.assertEqual(self.queue(user="lab1"), [])

    def test_the_script_of_a_dry_run_is_accepted_by_sbatch(self):
        best = self.site.json("advise", self.train_file())["strategies"][0]
        script = self.site.write("job.sh", self.site.run("submit", self.train_file(), "--dry-run").stdout)
        job_id = int(self.lab.run("sbatch", "--parsable", "--chdir", self.site.home("lab1"), script,
                                  user="lab1").stdout)
        self.assert_runs_as(job_id, best)

    def test_without_a_terminal_and_without_yes_nobody_is_asked_and_nothing_submitted(self):
        done = self.site.run("submit", self.train_file(), check=False)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("--yes", done.stderr)
        self.assertEqual(self.queue(user="lab1"), [])

    def test_on_a_terminal_no_means_no_and_yes_means_yes(self):
        text, code = self.answer_on_a_terminal("n")
        self.assertEqual((code, self.queue(user="lab1")), (1, []), text)
        text, code = self.answer_on_a_terminal("y")
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"Submitted job \d+")

    def answer_on_a_terminal(self, word):
        """Runs submit with a terminal for input and output; returns (what it showed, exit code)."""
        master, slave = pty.openpty()
        argv = [str(self.site.bin / "gpuadvise"), "submit", str(self.train_file())]
        child = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, cwd=self.site.home("lab1"),
                                 env=self.site.client_env("lab1", {"TERM": "xterm"}), **programs.as_user("lab1"))
        os.close(slave)
        shown, answered = "", False
        while True:
            if not select.select([master], [], [], 30)[0]:
                child.kill()
                self.fail(f"silent for 30 s: {shown}")
            try:
                piece = os.read(master, 65536)
            except OSError:  # the other end is closed: it has ended
                break
            shown += piece.decode(errors="replace")
            if "[y/N]" in shown and not answered:
                answered = True
                os.write(master, f"{word}\n".encode())
        os.close(master)
        self.assertTrue(answered, shown)
        return shown, child.wait(30)

    # ---- what the user fixed wins ------------------------------------------------------------

    def test_flags_win_over_the_advice(self):
        job_id, _ = self.submit("--gres", "gpu:l40s:2", "-t", "30:00:00")
        job = self.lab.wait_for_state(job_id, "RUNNING", "COMPLETED")
        self.assertEqual(job["TresPerNode"], "gres:gpu:gpul40s:2")
        self.assertEqual(job["TimeLimit"], "1-06:00:00")

    def test_what_follows_two_dashes_goes_to_sbatch_and_wins(self):
        job_id, printed = self.submit("-t", "30:00:00", "--", "--time=3000", "--job-name=mine", "--comment=as written")
        job = self.lab.job(job_id)
        self.assertEqual((job["TimeLimit"], job["JobName"]), ("2-02:00:00", "mine"))
        self.assertIn("as written", self.lab.run("scontrol", "show", "job", job_id).stdout)
        self.assertIn("--job-name=mine", printed)

    def test_variables_of_sbatch_do_not_move_the_job(self):
        best = self.site.json("advise", self.train_file())["strategies"][0]
        job_id, _ = self.submit(env={"SBATCH_TIMELIMIT": "7", "SBATCH_GRES": "gpu:gpu4070:1"})
        self.assert_runs_as(job_id, best)

    def test_a_pinned_node_is_kept_and_no_other_is_ever_named(self):
        job_id, _ = self.submit("--gres", "gpu:l40s:1", "--nodelist", "classt22")
        job = self.lab.wait_for_state(job_id, "RUNNING", "COMPLETED")
        self.assertEqual((job["ReqNodeList"], job["NodeList"]), ("classt22", "classt22"))

    # ---- several nodes -----------------------------------------------------------------------

    def test_a_job_of_two_nodes_runs_one_launcher_on_each(self):
        train = self.train_file(gpus="l40s", max_nodes=2)
        answer = self.site.json("submit", train, "--yes", "-N", "2")
        strategy, job_id = answer["strategy"], answer["job_id"]
        self.assertEqual((strategy["gpu"], strategy["nodes"], strategy["gpus_per_node"]), ("l40s", 2, 6))
        job = self.assert_runs_as(job_id, strategy)
        self.assertEqual(job["NodeList"], "classt[21-22]")
        first, second = self.facts_of(job_id, 0), self.facts_of(job_id, 1)
        self.assertEqual({first["SLURMD_HERE"], second["SLURMD_HERE"]}, {"classt21", "classt22"})
        for facts in (first, second):
            self.assertEqual((facts["SLURM_NNODES"], facts["SLURM_NTASKS"]), ("2", "2"))
            self.assertEqual(facts["MASTER_ADDR"], "classt21")
            self.assertTrue(1024 < int(facts["MASTER_PORT"]) < 65536, facts["MASTER_PORT"])
            self.assertEqual(facts["SRUN_CPUS_PER_TASK"], "12")
            self.assertEqual(facts["GPUADVISE_NODES"], "2")
            self.assertEqual(facts["GREETING"], "hello from 2 × 6")
        self.assertEqual(first["MASTER_PORT"], second["MASTER_PORT"])
        self.lab.wait_for_state(job_id, "COMPLETED")
        self.assertEqual(sorted(p.name for p in self.facts.glob(f"{job_id}.*")), [f"{job_id}.0", f"{job_id}.1"])

    def test_without_leave_for_several_nodes_one_is_used(self):
        for strategy in self.site.json("advise", self.train_file(gpus="l40s"))["strategies"]:
            self.assertEqual(strategy["nodes"], 1)


if __name__ == "__main__":
    programs.main()
