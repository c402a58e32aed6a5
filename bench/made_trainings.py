"""Trainings with known step times, and a day on which they are submitted among the jobs of others on a fast clock: what
bench/outcome_day.py and bench/follow_day.py share. Run times are known exactly, so only the wait has to be forecast."""
import json
import threading

import lab_day

START_SECONDS = 120
EFFECTIVE_BATCH, SCALING = 24, 0.9  # the batch is divided by each number of GPUs below; n GPUs are n^0.9 times as fast
# GPU type: how much longer a step takes than on an RTX 4090, and the numbers of GPUs that are timed.
TIMED = {"rtx4090": (1.0, [1, 2, 4]), "l40s": (1.05, [1, 2, 3, 4, 6]), "rtx4070": (1.4, [1, 2, 4]),
         "rtx2080ti": (1.9, [1, 2, 4]), "h100-1g.11gb": (3.0, [1])}
CURTAILED = "made from few samples"  # a warning of gpuadvised at the end of answer_cpu_time


class Training:
    """`hours` on one RTX 4090 (with `one_gpu`) or on four; `due`: when its user asks; `timed`: as TIMED; `qos`: None for none."""

    def __init__(self, number, hours, one_gpu, user, due, timed, qos):
        self.number, self.hours, self.one_gpu, self.user, self.due = number, hours, one_gpu, user, due
        self.timed, self.qos = timed, qos
        self.steps = round(100 * hours)  # one is 36 s on the RTX 4090s that its length is said of

    def step_seconds(self, gpu, gpus):
        return 36 * self.timed[gpu][0] * (1 if self.one_gpu else 4 ** SCALING) / gpus ** SCALING

    def run_seconds(self, gpu, gpus):
        return START_SECONDS + self.steps * self.step_seconds(gpu, gpus)

    def max_gpus(self):
        return 1 if self.one_gpu else 6

    def file(self):
        """train.yaml, which may be JSON."""
        measured = [{"gpu": gpu, "gpus": n, "batch": 1, "seconds_per_step": self.step_seconds(gpu, n),
                     "start_seconds": START_SECONDS} for gpu, (_, numbers) in self.timed.items() for n in numbers]
        resources = {"max_gpus": self.max_gpus(), "cpus_per_gpu": 2, "mem_per_gpu": "8G", "gpus": list(self.timed)}
        return json.dumps({
            "name": f"training{self.number}", "model": {"memory": {"base": "2 GB", "per_sample": "500 MB", "overhead": "1 GB"}},
            "training": {"max_steps": self.steps, "effective_batch_size": EFFECTIVE_BATCH,
                         "per_device_train_batch_size": 1, "measured": measured},
            "resources": resources, **({"slurm": {"qos": self.qos}} if self.qos else {}), "command": "true"})


def gpus_of(said):
    """All GPUs of a strategy of `advise --json`."""
    return said["gpus_per_node"] * said["nodes"]


def options_of(said):
    """sbatch's options of a strategy of `advise --json`."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in said["sbatch"].items()]


class Day:
    """Submits the jobs of others in time, while a derived class submits trainings. `begin`: the day's second 0;
    `background`: rows of lab_workload.workload; `multifactor`: the lab has accounting, QOS and limits."""

    def __init__(self, lab, clock, site, begin, background, multifactor):
        self.lab, self.clock, self.site, self.begin, self.background = lab, clock, site, begin, background
        self.multifactor = multifactor
        self.refused, self.lags, self.over = 0, [], threading.Event()  # lags: seconds of the clock
        self.curtailed = 0  # answers from fewer samples

    def submit_background(self):
        """Until the last job or until `over` is set; for a thread of its own."""
        for moment, user, gres, nodes, minutes, seconds, _ in self.background:
            if self.over.wait(max(0, (self.begin + moment - self.clock.now()) / self.clock.speed)):
                return
            qos = [f"--qos={lab_day.qos_of(user)}"] if self.multifactor else []
            options = [f"--gres=gpu:{gres}", f"--nodes={nodes}", f"--time={minutes}", *qos]
            self.refused += self.sbatch(user, seconds, *options, check=False).returncode != 0
            self.lags.append(self.clock.now() - self.begin - moment)

    def ask(self, training):
        """The strategies of `gpuadvise advise`, best first."""
        file = self.site.write("train.yaml", training.file(), training.user)
        answer = self.site.json("advise", file, user=training.user)
        self.curtailed += any(CURTAILED in warning for warning in answer["warnings"])
        return answer["strategies"]

    def test_only(self, training, seconds, said):
        """Seconds until the start that `sbatch --test-only` names for a strategy; None where it names none."""
        start = lab_day.named_start(self.sbatch(training.user, seconds, *options_of(said), "--test-only", check=False).stderr)
        return max(0, start - self.clock.now()) if start else None

    def sbatch(self, user, seconds, *options, check=True):
        words = [f"--uid={user}", "--chdir=/tmp", "--output=/dev/null", *options, f"--wrap=sleep {seconds:.0f}"]
        return self.command("sbatch", *words, check=check)

    def command(self, *argv, check=True):
        """A controller that is late may drop the connection, of which the command dies: it is run again, five times."""
        for attempt in range(5):
            done = self.lab.run(*argv, check=check and attempt == 4)
            if done.returncode == 0 or attempt == 4:
                return done
