#!/usr/bin/env python3
"""Snakemake, submitit and Hydra with `gpuadvise select` and `sweep` beside a live daemon: tools_test.py BIN.

Without more the functions are called as the tools' documents say they call them. Where a tool is there it is run too:
snakemake in PATH (Debian's, 7.21), Debian's python3-omegaconf for Hydra's resolver, submitit with SUBMITIT, a checkout
of github.com/facebookincubator/submitit, and Hydra with HYDRA, a PYTHONPATH of hydra, omegaconf and
hydra-submitit-launcher, each with a program in sbatch's place.
"""
import importlib
import itertools
import json
import os
import pathlib
import re
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
from unittest import mock

TOP = pathlib.Path(__file__).resolve().parents[2]
PLACES = [str(TOP / "integrations" / name) for name in ("python", "snakemake", "submitit", "hydra")]
sys.path[:0] = PLACES
import gpuadvise_hydra  # noqa: E402
import gpuadvise_select  # noqa: E402
import gpuadvise_snakemake  # noqa: E402
import gpuadvise_submitit  # noqa: E402
import gpuadvise_sweep  # noqa: E402
from live_daemon import LiveDaemon  # noqa: E402

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
SYSTEM_PYTHON = "/usr/bin/python3"  # Debian's packages are this one's
SUBMITIT = os.environ.get("SUBMITIT", "")
HYDRA = ":".join([os.environ.get("HYDRA", ""), SUBMITIT])
TRAIN = """\
name: search
model: {preset: qwen2.5-0.5b}
training: {method: lora, max_seq_length: 512, max_steps: 500, effective_batch_size: 16}
resources: {cpus_per_gpu: 4, mem_per_gpu: 20G, gpus: [l40s, rtx4090, rtx4070]}
"""
BATCH = 16
LAUNCHER = """\
_target_: hydra_plugins.gpuadvise_launcher.GpuadviseLauncher
submitit_folder: ${hydra.sweep.dir}/.submitit/%j
name: ${hydra.job.name}
gpuadvise_train_yaml: ../train.yaml
gpuadvise_overrides: ["batch={micro_batch}", "accumulation={accumulation}"]
"""
# sbatch that keeps the script and runs its tasks at once, one after the other, and what it and submitit ask for.
RUNNING_SLURM = {
    "sbatch": """#!/bin/sh
cp "$1" FOLDER/script.$$
echo Submitted batch job $$
last=$(sed -n 's/^#SBATCH --array=0-\\([0-9]*\\)%.*/\\1/p' "$1")
export SLURM_JOB_NUM_NODES=1 SLURM_NTASKS=1 SLURM_NODEID=0 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_JOB_NODELIST=n1
if [ -z "$last" ]; then
  SLURM_JOB_ID=$$ sh "$1" >FOLDER/log.$$ 2>&1 &
  exit
fi
for task in $(seq 0 "$last"); do
  SLURM_JOB_ID=$$ SLURM_ARRAY_JOB_ID=$$ SLURM_ARRAY_TASK_ID=$task sh FOLDER/script.$$
done >FOLDER/log.$$ 2>&1 &
""",
    "srun": """#!/bin/sh
while :; do case $1 in --output | --error) shift 2 ;; --*) shift ;; *) break ;; esac; done
exec "$@"
""",
    "sacct": "#!/bin/sh\n",
    "scancel": "#!/bin/sh\n",
}


def has(module, path=""):
    code = [SYSTEM_PYTHON, "-c", f"import {module}"]
    return pathlib.Path(SYSTEM_PYTHON).exists() and subprocess.run(
        code, capture_output=True, check=False, env={**os.environ, "PYTHONPATH": path}).returncode == 0


def put_programs(folder, programs):
    for name, text in programs.items():
        program = pathlib.Path(folder) / name
        program.write_text(text.replace("FOLDER", str(folder)))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)


class Executor:
    """Stands for submitit.AutoExecutor: what update_parameters, submit and map_array were given."""

    def __init__(self, **parameters):
        self.parameters, self.calls, self.arrays, self.cancelled = parameters, [], [], []

    def update_parameters(self, **parameters):
        self.parameters.update(parameters)

    def submit(self, function, *arguments, **named):
        self.calls.append((function, arguments, named))
        return type("Job", (), {"job_id": "998877_3"})()

    def map_array(self, function, *iterables):
        if self.arrays and self.parameters.get("refused"):
            raise RuntimeError("sbatch: refused")
        self.arrays.append((dict(self.parameters), list(zip(*iterables))))
        return [types.SimpleNamespace(value=function(*arguments), cancel=lambda check: self.cancelled.append(check))
                for arguments in self.arrays[-1][1]]


class SlurmLauncher:
    """Stands for hydra-submitit-launcher's: a run's result is its number and its overrides."""

    made: list = []

    def __init__(self, **params):
        self.params, self.context = params, {}
        self.made.append(self)

    def setup(self, *, hydra_context, task_function, config):
        self.context = {"hydra_context": hydra_context, "task_function": task_function, "config": config}

    def launch(self, job_overrides, initial_job_idx):
        self.meet(initial_job_idx)
        return [(initial_job_idx + place, list(overrides)) for place, overrides in enumerate(job_overrides)]

    def meet(self, initial_job_idx):
        """Returns when every part has been launched, so that they are at the same time."""


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

    def train_file(self, more=""):
        file = pathlib.Path(self.daemon.folder) / "train.yaml"
        file.write_text(TRAIN + more)
        return str(file)

    def test_a_sweep_is_split_into_parts_in_order(self):
        parts = gpuadvise_sweep.split(self.train_file(), 40)
        self.assertEqual([run for part in parts for run in part["runs"]], list(range(40)))
        self.assertGreater(len(parts), 1)
        for part in parts:
            with self.subTest(part["gpu"]):
                self.assertEqual((part["partition"], part["nodes"], part["constraint"]), ("gpu_shared", 1, None))
                self.assertRegex(part["gres"], rf"^gpu:[\w.]+:{part['gpus_per_node']}$")
                self.assertEqual(part["micro_batch"] * part["accumulation"] * part["gpus_per_node"], BATCH)
                self.assertRegex(part["time"], r"^(\d+-)?\d\d:\d\d:\d\d$")
                self.assertIn(part["time"], f"{part['timeout_min'] // 60:02d}:{part['timeout_min'] % 60:02d}:00")
                self.assertEqual(part["cpus_per_task"], 4 * part["gpus_per_node"])
                self.assertRegex(part["mem"], r"^\d+[MG]$")
        one = gpuadvise_sweep.split(self.train_file(), 1)
        self.assertEqual([part["runs"] for part in one], [[0]])
        self.assertGreaterEqual(one[0]["gpus_per_node"], 1)

    def test_a_sweep_without_a_choice_has_the_default_or_the_sentence(self):
        file = self.train_file("slurm: {constraint: none_has_it}\n")
        for name, sentence in ((file, "no node with -C"), ("/nonexistent.yaml", "/nonexistent.yaml")):
            with self.assertRaisesRegex(gpuadvise_select.NoChoice, sentence):
                gpuadvise_sweep.split(name, 3)
            parts = gpuadvise_sweep.split(name, 3, default={"partition": "p", "gres": "gpu:1"})
            self.assertEqual([part["runs"] for part in parts], [[0, 1, 2]])
            self.assertEqual(gpuadvise_sweep.options(parts[0]), {"partition": "p", "gres": "gpu:1"})
        row = {"rank": 1, "sbatch": {}}
        for wrong in ("", "[]", "{", {"strategies": [{}]}, {"strategies": [row], "sweep": {"shares": []}},
                      {"strategies": [row], "sweep": {"shares": [{"rank": 1, "array": "1-2"}]}},
                      {"strategies": [row], "sweep": {"shares": [{"rank": 2, "array": "1-3"}]}}):
            with self.subTest(wrong), tempfile.TemporaryDirectory(dir="/tmp") as folder:
                answer = pathlib.Path(folder) / "answer"
                answer.write_text(wrong if isinstance(wrong, str) else json.dumps(wrong))
                put_programs(folder, {"gpuadvise": "#!/bin/sh\ncat FOLDER/answer\n"})
                with mock.patch.dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"):
                    with self.assertRaises(gpuadvise_select.NoChoice):
                        gpuadvise_sweep.split(file, 3)
        os.environ["PATH"] = "/nonexistent"
        with self.assertRaises(gpuadvise_select.NoChoice):
            gpuadvise_sweep.split(file, 3)

    def test_submitits_executor_gets_an_array_for_each_part(self):
        executor = Executor(gpus_per_node=8, mem_per_cpu="1G", job_name="search")

        def train(run, word, micro_batch, accumulation):
            return run, word, micro_batch, accumulation

        jobs = gpuadvise_submitit.map_array(executor, self.train_file(), train, range(40), itertools.repeat("x"),
                                            with_batch=True)
        self.assertEqual([job.value[:2] for job in jobs], [(run, "x") for run in range(40)])
        self.assertGreater(len(executor.arrays), 1)
        self.assertEqual(executor.parameters, {"gpus_per_node": 8, "mem_per_cpu": "1G", "job_name": "search"})
        values = iter(jobs)
        for parameters, calls in executor.arrays:
            self.assertEqual(set(parameters), {"job_name", "slurm_partition", "slurm_gres", "slurm_mem", "nodes",
                                               "timeout_min", "cpus_per_task", "tasks_per_node"})
            gpus = int(parameters["slurm_gres"].rsplit(":", 1)[1])
            for job in itertools.islice(values, len(calls)):
                self.assertEqual(job.value[2] * job.value[3] * gpus, BATCH)
        self.assertEqual(gpuadvise_submitit.map_array(executor, self.train_file(), abs, []), [])

    def test_submitits_arrays_are_all_submitted_or_none(self):
        executor = Executor(refused=True)
        with self.assertRaisesRegex(RuntimeError, "refused"):
            gpuadvise_submitit.map_array(executor, self.train_file(), abs, range(40))
        self.assertEqual(len(executor.cancelled), len(executor.arrays[0][1]))
        self.assertEqual(executor.parameters, {"refused": True})
        with self.assertRaises(gpuadvise_select.NoChoice):
            gpuadvise_submitit.map_array(Executor(), "/nonexistent.yaml", abs, range(3))
        jobs = gpuadvise_submitit.map_array(Executor(), "/nonexistent.yaml", abs, range(-3, 0), with_batch=True,
                                            default={"partition": "p"})
        self.assertEqual([job.value for job in jobs], [3, 2, 1])

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

    @unittest.skipUnless(SUBMITIT and has("submitit", SUBMITIT), "SUBMITIT is no checkout: a stand-in takes the calls")
    def test_submitit_itself_runs_a_sweep(self):
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            put_programs(folder, RUNNING_SLURM)
            said = self.python("import submitit\nfrom gpuadvise_submitit import map_array\n"
                               f"executor = submitit.AutoExecutor(folder={folder + '/logs'!r}, cluster='slurm')\n"
                               f"jobs = map_array(executor, {self.train_file()!r}, dict, "
                               "[[('n', n)] for n in range(12)], with_batch=True)\n"
                               "print([job.result() for job in jobs])\n",
                               SUBMITIT, PATH=f"{folder}:{self.environment['PATH']}")
            results = eval(said)  # pylint: disable=eval-used
            self.assertEqual([result["n"] for result in results], list(range(12)))
            self.check_scripts(folder, results)

    def check_scripts(self, folder, results):
        """There is an array for each GPU type, with the GPUs for the batch of its runs."""
        scripts = [file.read_text() for file in pathlib.Path(folder).glob("script.*")]
        self.assertGreater(len(scripts), 1)
        gpus = [re.search(r"#SBATCH --gres=gpu:([\w.]+):(\d)\n", script).groups() for script in scripts]
        self.assertEqual(len({name for name, _ in gpus}), len(scripts))
        self.assertEqual({int(count) for _, count in gpus},
                         {BATCH // (result["micro_batch"] * result["accumulation"]) for result in results})
        for script in scripts:
            self.assertRegex(script, r"#SBATCH --mem=\d+[MG]\n")
            self.assertNotIn("--gpus-per-node", script)

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

    def hydra_launcher(self):
        """The launcher's module with stand-ins for what it imports, and the number of parts it has."""
        modules = {name: types.ModuleType(name) for name in (
            "hydra", "hydra.plugins", "hydra.plugins.launcher", "hydra_plugins.hydra_submitit_launcher",
            "hydra_plugins.hydra_submitit_launcher.submitit_launcher")}
        modules["hydra.plugins.launcher"].Launcher = object
        modules["hydra_plugins.hydra_submitit_launcher.submitit_launcher"].SlurmLauncher = SlurmLauncher
        for patch in (mock.patch.dict(sys.modules, modules), mock.patch.object(SlurmLauncher, "made", [])):
            patch.start()
            self.addCleanup(patch.stop)
        return importlib.import_module("hydra_plugins.gpuadvise_launcher")

    def test_hydras_runs_are_launched_in_parts_at_the_same_time(self):
        module = self.hydra_launcher()
        launcher = module.GpuadviseLauncher(
            gpuadvise_train_yaml=self.train_file(), gpuadvise_overrides=["batch={micro_batch}", "name={gpu}/{other}"],
            submitit_folder="f", gpus_per_node=8, mem_gb=1, partition="other")
        launcher.setup(hydra_context=1, task_function=2, config=3)
        all_there = []

        def split(*words, **named):
            parts = gpuadvise_sweep.split(*words, **named)
            all_there.append(threading.Barrier(len(parts)))
            return parts

        with mock.patch.object(module, "split", split), \
                mock.patch.object(SlurmLauncher, "meet", lambda *_: all_there[0].wait(60)):
            results = launcher.launch([["rate=%d" % run] for run in range(40)], 100)
        self.assertEqual([number for number, _ in results], list(range(100, 140)))
        self.assertEqual([overrides[0] for _, overrides in results], ["rate=%d" % run for run in range(40)])
        self.assertGreater(len(SlurmLauncher.made), 1)
        for part in SlurmLauncher.made:
            self.assertEqual(set(part.params), {"submitit_folder", "partition", "gres", "mem", "nodes", "timeout_min",
                                                "cpus_per_task", "tasks_per_node"})
            self.assertEqual((part.params["submitit_folder"], part.params["partition"]), ("f", "gpu_shared"))
            self.assertEqual(part.context, {"hydra_context": 1, "task_function": 2, "config": 3})
        for _, (_, batch, name) in results:
            self.assertRegex(batch, r"^batch=\d+$")
            self.assertRegex(name, r"^name=(l40s|rtx4090|rtx4070)/\{other\}$")

    def test_hydras_launch_says_at_once_that_a_part_failed(self):
        module = self.hydra_launcher()
        launcher = module.GpuadviseLauncher(gpuadvise_train_yaml=self.train_file(), submitit_folder="f")
        launcher.setup(hydra_context=1, task_function=2, config=3)
        end = threading.Event()
        self.addCleanup(end.set)

        def meet(_, initial_job_idx):
            if initial_job_idx > 0:
                raise RuntimeError("sbatch: refused")
            end.wait(600)

        with mock.patch.object(SlurmLauncher, "meet", meet), self.assertRaisesRegex(RuntimeError, "refused"):
            launcher.launch([["rate=1"]] * 40, 0)

    def test_hydra_without_a_choice_launches_the_default_or_says_why(self):
        module = self.hydra_launcher()
        own = {"gpuadvise_train_yaml": "/nonexistent.yaml", "gpuadvise_overrides": ["batch={micro_batch}", "gpu={gpu}"]}
        with self.assertRaisesRegex(gpuadvise_select.NoChoice, "nonexistent"):
            module.GpuadviseLauncher(**own).launch([["a=1"]], 0)
        launcher = module.GpuadviseLauncher(**own, gpuadvise_default={"gres": "gpu:1", "micro_batch": 4}, partition="p")
        launcher.setup(hydra_context=1, task_function=2, config=3)
        self.assertEqual(launcher.launch([["a=1"], ["a=2"]], 0), [(0, ["a=1", "batch=4"]), (1, ["a=2", "batch=4"])])
        self.assertEqual(SlurmLauncher.made[0].params, {"partition": "p", "gres": "gpu:1"})

    @unittest.skipUnless(has("hydra_plugins.hydra_submitit_launcher.submitit_launcher, submitit", HYDRA),
                         "HYDRA is no path of hydra, omegaconf and hydra-submitit-launcher, or SUBMITIT no checkout: "
                         "stand-ins take the calls")
    def test_hydra_itself_runs_a_sweep(self):
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            put_programs(folder, RUNNING_SLURM)
            shutil.copy(self.train_file(), folder)
            app = pathlib.Path(folder) / "app"
            (app / "conf/hydra/launcher").mkdir(parents=True)
            (app / "conf/config.yaml").write_text("rate: 0\nbatch: 0\naccumulation: 0\n")
            (app / "conf/hydra/launcher/gpuadvise.yaml").write_text(LAUNCHER)
            (app / "app.py").write_text(
                "import json, hydra\nfrom hydra.core.hydra_config import HydraConfig\n\n"
                "@hydra.main(version_base=None, config_path='conf', config_name='config')\ndef main(c):\n"
                "    n = HydraConfig.get().job.num\n    with open(f'FOLDER/result.{n}', 'w') as file:\n"
                "        json.dump({'n': n, 'rate': c.rate, 'micro_batch': c.batch, 'accumulation': c.accumulation},\n"
                "                  file)\n\nmain()\n".replace("FOLDER", folder))
            done = subprocess.run(
                [SYSTEM_PYTHON, "app.py", "-m", "hydra/launcher=gpuadvise", "rate=range(50,58)"], cwd=app, timeout=300,
                check=False, capture_output=True, text=True,
                env={**self.environment, "PATH": f"{folder}:{self.environment['PATH']}",
                     "PYTHONPATH": ":".join([*PLACES, HYDRA])})
            logs = "".join(file.read_text() for file in pathlib.Path(folder).glob("log.*"))
            self.assertEqual(done.returncode, 0, done.stderr + logs)
            results = [json.loads((pathlib.Path(folder) / f"result.{n}").read_text()) for n in range(8)]
            self.assertEqual([(result["n"], result["rate"]) for result in results], [(n, 50 + n) for n in range(8)])
            self.check_scripts(folder, results)

    def test_each_is_short_and_needs_nothing_but_the_standard_library_and_its_tool(self):
        for name in ("snakemake/gpuadvise_snakemake.py", "submitit/gpuadvise_submitit.py", "hydra/gpuadvise_hydra.py",
                     "hydra/hydra_plugins/gpuadvise_launcher.py", "python/gpuadvise_select.py",
                     "python/gpuadvise_sweep.py"):
            self.assertLessEqual(len((TOP / "integrations" / name).read_text().splitlines()), 100, name)


if __name__ == "__main__":
    unittest.main()
