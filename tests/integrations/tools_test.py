#!/usr/bin/env python3
"""Snakemake, submitit and Hydra with `gpuadvise select` of this build beside a live daemon: tools_test.py BIN.

Without more the functions are called as the tools' documents say they call them. Where a tool is there it is run too:
snakemake in PATH (Debian's, 7.21), Debian's python3-omegaconf for Hydra's resolver, and submitit with SUBMITIT, a checkout
of github.com/facebookincubator/submitit, and a program in sbatch's place.
"""
import os
import pathlib
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
PLACES = [str(TOP / "integrations" / name) for name in ("python", "snakemake", "submitit", "hydra")]
sys.path[:0] = PLACES
import gpuadvise_hydra  # noqa: E402
import gpuadvise_select  # noqa: E402
import gpuadvise_snakemake  # noqa: E402
import gpuadvise_submitit  # noqa: E402
from live_daemon import LiveDaemon  # noqa: E402

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
SYSTEM_PYTHON = "/usr/bin/python3"  # Debian's packages are this one's
SUBMITIT = os.environ.get("SUBMITIT", "")


def has(module, path=""):
    code = [SYSTEM_PYTHON, "-c", f"import {module}"]
    return pathlib.Path(SYSTEM_PYTHON).exists() and subprocess.run(
        code, capture_output=True, check=False, env={**os.environ, "PYTHONPATH": path}).returncode == 0


class Executor:
    """Stands for submitit.AutoExecutor: what update_parameters and submit were given."""

    def __init__(self):
        self.parameters, self.calls = {}, []

    def update_parameters(self, **parameters):
        self.parameters.update(parameters)

    def submit(self, function, *arguments, **named):
        self.calls.append((function, arguments, named))
        return type("Job", (), {"job_id": "998877_3"})()


class Tools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = LiveDaemon(BIN)
        cls.addClassCleanup(cls.daemon.stop)
        cls.environment = cls.daemon.environment(PATH=f"{BIN}:{os.environ['PATH']}", PYTHONPATH=":".join(PLACES),
                                                 PYTHONDONTWRITEBYTECODE="1")

    def setUp(self):
        old = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(old)))
        os.environ.update(self.environment)
        gpuadvise_select._answers.clear()  # pylint: disable=protected-access

    def python(self, code, path="", **more):
        done = subprocess.run([SYSTEM_PYTHON, "-c", code], capture_output=True, text=True, timeout=60, check=False,
                              env={**self.environment, "PYTHONPATH": ":".join([*PLACES, path]), **more})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_a_choice_is_what_the_command_says(self):
        words = gpuadvise_select.options_of(2, "04:00:00", cpus_per_task="4")
        self.assertEqual(words, ("--gres=gpu:2", "--time=04:00:00", "--cpus-per-task=4"))
        choice = gpuadvise_select.select(*words)
        self.assertRegex(choice["gres"], r"^gpu:[\w.]+:2$")
        self.assertEqual(choice["partition"], "gpu_shared")
        self.assertIs(gpuadvise_select.submitted(choice, "998877"), None)

    def test_where_there_is_no_choice_the_default_or_the_sentence(self):
        for words in (gpuadvise_select.options_of(4096), ("--array=1-4", "--gres=gpu:1"), ("--no-such-option",)):
            self.assertEqual(gpuadvise_select.select(*words, default={"partition": "p"}), {"partition": "p"})
            with self.assertRaises(gpuadvise_select.NoChoice) as raised:
                gpuadvise_select.select(*words)
            self.assertGreater(len(str(raised.exception)), 10)
        os.environ["PATH"] = "/nonexistent"
        with self.assertRaises(gpuadvise_select.NoChoice):
            gpuadvise_select.select("--gres=gpu:1")

    def test_a_daemon_that_hangs_costs_the_timeout(self):
        with tempfile.TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as listener:
            listener.bind(folder + "/s")
            listener.listen()
            os.environ["GPUADVISE_SOCKET"] = folder + "/s"
            began = time.monotonic()
            choice = gpuadvise_select.select("--gres=gpu:1", timeout=0.5, default={})
            self.assertEqual(choice, {})
            self.assertLess(time.monotonic() - began, 5)

    def test_snakemakes_functions_give_partition_and_gres_of_one_choice(self):
        gpu = gpuadvise_snakemake.gpu_job(gpus=2, limit="04:00:00", default="other")
        self.assertEqual(gpu.partition({}), "gpu_shared")
        self.assertRegex(gpu.extra({}), r"^--gres=gpu:[\w.]+:2$")
        lost = gpuadvise_snakemake.gpu_job(gpus=4096, default="other")
        self.assertEqual((lost.partition({}), lost.extra({})), ("other", "--gres=gpu:4096"))
        with self.assertRaises(gpuadvise_select.NoChoice):
            gpuadvise_snakemake.gpu_job(gpus=4096).partition({})

    @unittest.skipUnless(shutil.which("snakemake"), "snakemake is not installed: its functions are called without it")
    def test_snakemake_itself_resolves_them(self):
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            (pathlib.Path(folder) / "Snakefile").write_text(
                "from gpuadvise_snakemake import gpu_job\ngpu = gpu_job(gpus=2, limit='04:00:00', default='other')\n"
                "rule train:\n    output: 'model.txt'\n    resources: slurm_partition=gpu.partition, slurm_extra=gpu.extra, runtime=240\n"
                "    shell: 'echo {resources.slurm_partition} {resources.slurm_extra} > {output}'\n")
            done = subprocess.run(["snakemake", "--cores", "1", "--nocolor"], cwd=folder, capture_output=True, text=True, timeout=120,
                                  check=False, env={**self.environment, "HOME": folder})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex((pathlib.Path(folder) / "model.txt").read_text(), r"^gpu_shared --gres=gpu:[\w.]+:2\n$")

    def test_submitits_executor_gets_the_choice_and_the_daemon_the_job(self):
        executor = Executor()
        choice = gpuadvise_submitit.choose(executor, gpus=2, timeout_min=250)
        self.assertEqual(executor.parameters["timeout_min"], 250)
        self.assertEqual(executor.parameters["slurm_partition"], "gpu_shared")
        self.assertRegex(executor.parameters["slurm_gres"], r"^gpu:[\w.]+:2$")
        self.assertEqual(gpuadvise_submitit.limit_of(250), "04:10:00")
        job = gpuadvise_submitit.submit(executor, choice, print, 1, end="")
        self.assertEqual(executor.calls, [(print, (1,), {"end": ""})])
        known = {row["job_id"] for row in self.daemon.ask("GET", "/v1/advice")["jobs"]}
        self.assertIn(998877, known, job.job_id)

    @unittest.skipUnless(SUBMITIT and has("submitit", SUBMITIT), "SUBMITIT is no checkout of github.com/facebookincubator/submitit "
                         "(with python3-cloudpickle): a stand-in takes the calls")
    def test_submitit_itself_hands_them_to_sbatch(self):
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            for name, text in (("sbatch", f"#!/bin/sh\ncat \"$1\" > {folder}/script\necho Submitted batch job 4711\n"),
                               ("srun", "#!/bin/sh\n"), ("squeue", "#!/bin/sh\n"), ("sacct", "#!/bin/sh\n")):
                program = pathlib.Path(folder) / name
                program.write_text(text)
                program.chmod(program.stat().st_mode | stat.S_IXUSR)
            said = self.python("import submitit\nfrom gpuadvise_submitit import choose, submit\n"
                               f"executor = submitit.AutoExecutor(folder={folder + '/logs'!r}, cluster='slurm')\n"
                               "choice = choose(executor, gpus=2, timeout_min=240)\nprint(submit(executor, choice, abs, -1).job_id)\n",
                               SUBMITIT, PATH=f"{folder}:{self.environment['PATH']}")
            self.assertEqual(said, "4711")
            script = (pathlib.Path(folder) / "script").read_text()
            self.assertIn("#SBATCH --partition=gpu_shared\n", script)
            self.assertRegex(script, r"#SBATCH --gres=gpu:[\w.]+:2\n")
            self.assertIn("#SBATCH --time=240\n", script)

    def test_hydras_resolver_gives_one_value(self):
        self.assertEqual(gpuadvise_hydra.resolve("partition", 2, "04:00:00"), "gpu_shared")
        self.assertRegex(gpuadvise_hydra.resolve("gres", "2", "04:00:00"), r"^gpu:[\w.]+:2$")
        self.assertEqual(gpuadvise_hydra.resolve("gres", 4096, "", "gpu:1"), "gpu:1")
        with self.assertRaises(gpuadvise_select.NoChoice):
            gpuadvise_hydra.resolve("gres", 4096)
        with self.assertRaises(ValueError):
            gpuadvise_hydra.resolve("account", 1)

    @unittest.skipUnless(has("omegaconf"), "python3-omegaconf is not installed: the resolver is called without it")
    def test_omegaconf_itself_resolves_it(self):
        said = self.python("import gpuadvise_hydra\nfrom omegaconf import OmegaConf\ngpuadvise_hydra.register()\n"
                           "c = OmegaConf.create({'n': 2, 'launcher': {'partition': '${gpuadvise:partition,${n},04:00:00}', "
                           "'gres': '${gpuadvise:gres,2,04:00:00}', 'other': '${gpuadvise:gres,4096,1:00:00,gpu:1}'}})\n"
                           "print(c.launcher.partition, c.launcher.gres, c.launcher.other)")
        self.assertRegex(said, r"^gpu_shared gpu:[\w.]+:2 gpu:1$")

    def test_each_is_short_and_needs_nothing_but_the_standard_library_and_its_tool(self):
        for name in ("snakemake/gpuadvise_snakemake.py", "submitit/gpuadvise_submitit.py", "hydra/gpuadvise_hydra.py",
                     "python/gpuadvise_select.py"):
            self.assertLessEqual(len((TOP / "integrations" / name).read_text().splitlines()), 100, name)


if __name__ == "__main__":
    unittest.main()
