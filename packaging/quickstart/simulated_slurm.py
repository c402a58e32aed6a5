#!/usr/bin/env python3
"""Slurm's commands for the simulated cluster of quickstart.sh. No Slurm is needed, and none is used.

    simulated_slurm.py sbatch|srun|salloc|squeue|scancel|sinfo|scontrol|sacct [options as of Slurm's command]

A job is a file in the folder GPUADVISE_SIMULATED_JOBS. gpuadvised's simulated cluster reads it, queues
the job among those of its simulated users, and says when it starts. Then a process of yours on this
machine runs the script, in the background (sbatch) or here (srun), and writes down when it ended.
So the wait and the GPUs are simulated, and the script is real. gpuadvised itself runs nothing.

Options are read as Slurm reads them, as far as they mean something here; others are ignored, aloud.
"""
import http.client
import json
import os
import pathlib
import pwd
import re
import shlex
import signal
import socket
import subprocess
import sys
import time

FIRST_ID = 100001  # of jobs of people; simulated ones have smaller numbers
POLL_SECONDS = 1
QUEUE_SECONDS = 10  # that a submitted job may take to be shown
KILL_AFTER_SECONDS = 10  # SIGTERM, then SIGKILL
MOST_TASKS = 40  # of an array: each is a process that waits
GIVE_UP_SECONDS = 600  # without an answer of gpuadvised, a job that waits is forgotten
DEFAULTS = {"nodes": "1", "ntasks-per-node": "1", "cpus-per-task": "1", "mem": "4G", "time": "60"}

SHORT = {"J": "job-name", "p": "partition", "N": "nodes", "n": "ntasks", "c": "cpus-per-task", "t": "time",
         "o": "output", "e": "error", "D": "chdir", "A": "account", "q": "qos", "G": "gpus", "W": "wait",
         "C": "constraint", "x": "exclude", "w": "nodelist", "d": "dependency", "s": "signal", "u": "user",
         "j": "jobs", "h": "noheader", "M": "clusters", "a": "array", "r": "each-task"}
FLAGS = {"wait", "parsable", "test-only", "requeue", "no-requeue", "exclusive", "hold", "quiet", "verbose",
         "quit-on-interrupt", "kill-on-bad-exit", "batch", "full", "me", "noheader", "start", "help", "version", "each-task", "all"}
UNDERSTOOD = {"job-name", "partition", "nodes", "ntasks", "ntasks-per-node", "cpus-per-task", "time", "output",
              "error", "chdir", "account", "gpus", "gres", "gpus-per-node", "mem", "mem-per-gpu", "cpus-per-gpu",
              "wait", "parsable", "test-only", "quiet", "quit-on-interrupt", "kill-on-bad-exit", "open-mode", "array"}


class Refused(Exception):
    """A sentence for the person; the command exits with 1."""


# ---- gpuadvised ----------------------------------------------------------------------------------


class Daemon(http.client.HTTPConnection):
    def __init__(self):
        super().__init__("localhost", timeout=30)

    def connect(self):
        path = os.environ.get("GPUADVISE_SOCKET", "")
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(path)


def ask(path, body=None):
    """The answer's JSON; None where there is no such thing. Refused: no daemon, or a wrong question."""
    connection = Daemon()
    try:
        text = None if body is None else json.dumps(body)
        connection.request("GET" if body is None else "POST", path, text, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        document = json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Refused(f"the simulated cluster does not answer ({error}); ./quickstart.sh starts it") from error
    finally:
        connection.close()
    if answer.status == 404:
        return None
    if answer.status != 200:
        raise Refused(document.get("error", {}).get("message", f"gpuadvised answered {answer.status}"))
    return document


# ---- options -------------------------------------------------------------------------------------


def read_options(words):
    """(options by long name, the words after them), as getopt reads a command line."""
    options, words = {}, list(words)
    while words and words[0].startswith("-") and words[0] != "-":
        word = words.pop(0)
        if word == "--":
            break
        if word.startswith("--"):
            name, has_value, value = word[2:].partition("=")
        else:
            name, has_value, value = SHORT.get(word[1], word[1]), word[2:] != "", word[2:].lstrip("=")
        if name not in FLAGS and not has_value:
            if not words:
                raise Refused(f"option {word} needs a value")
            value = words.pop(0)
        options[name] = value
    return options, words


def options_of_script(text):
    options = {}
    for line in text.splitlines():
        if line.startswith("#SBATCH"):
            options.update(read_options(shlex.split(line[len("#SBATCH"):], comments=True))[0])
        elif line.strip() and not line.startswith("#"):
            break
    return options


def count(options, name):
    try:
        number = int(options[name].partition("-")[0])
    except ValueError:
        number = 0
    if number < 1:
        raise Refused(f"--{name}={options[name]} is not a whole number of 1 or more")
    return number


def tasks_of(text):
    """The numbers of --array=1-4,9%2; how many run at a time is not simulated."""
    tasks = []
    try:
        for part in text.partition("%")[0].split(","):
            low, _, rest = part.partition("-")
            high, _, step = rest.partition(":")
            tasks += range(int(low), int(high or low) + 1, int(step or 1))
    except ValueError as error:
        raise Refused(f"--array={text} is not a list of tasks") from error
    if not 0 < len(tasks) <= MOST_TASKS:
        raise Refused(f"it runs arrays of 1 to {MOST_TASKS} tasks")
    return tasks


def mebibytes(text):
    found = re.fullmatch(r"(\d+)([KMGT]?)B?", text.upper())
    if not found:
        raise Refused(f"'{text}' is not a memory size such as 20G")
    kibi = {"K": 1, "M": 1 << 10, "": 1 << 10, "G": 1 << 20, "T": 1 << 30}[found[2]]
    return max(1, int(found[1]) * kibi >> 10)


def seconds_of(limit):
    """Slurm's time limits: minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS."""
    if not re.fullmatch(r"(\d+-)?\d+(:\d+){0,2}", limit):
        raise Refused(f"'{limit}' is not a time limit such as 30 or 02:00:00")
    days, dash, clock = limit.rpartition("-")
    parts = [int(part) for part in clock.split(":")]
    if dash:
        parts += [0] * (3 - len(parts))
    elif len(parts) < 3:
        parts = [0] + parts + [0] * (2 - len(parts))
    return max(60, int(days or 0) * 86400 + parts[0] * 3600 + parts[1] * 60 + parts[2])


def gpus_of(options, nodes):
    """(GRES type, GPUs of one node)."""
    for name in ("gres", "gpus-per-node", "gpus"):
        if name not in options:
            continue
        text = options[name].removeprefix("gpu:") if name == "gres" else options[name]
        parts = ("" if text == "gpu" else text).split(":")
        number = int(parts.pop()) if parts[-1].isdigit() else 1
        if not parts or not parts[0]:
            break
        return parts[0], -(-number // nodes) if name == "gpus" else number
    raise Refused("the simulated cluster has typed GPUs only; say which, such as --gres=gpu:gpul40s:1")


def job_of(options):
    """What the folder of jobs takes (sim_jobs.h)."""
    options = {**DEFAULTS, **options}
    nodes = count(options, "nodes")
    gpu_type, gpus = gpus_of(options, nodes)
    tasks = -(-count(options, "ntasks") // nodes) if "ntasks" in options else count(options, "ntasks-per-node")
    cpus = gpus * count(options, "cpus-per-gpu") if "cpus-per-gpu" in options else \
        tasks * count(options, "cpus-per-task")
    memory = gpus * mebibytes(options["mem-per-gpu"]) if "mem-per-gpu" in options else mebibytes(options["mem"])
    user = pwd.getpwuid(os.getuid()).pw_name
    return {"name": options.get("job-name", "job"), "user": user, "uid": os.getuid(),
            "account": options.get("account", ""), "partition": options.get("partition") or default_partition(),
            "gpu_type": gpu_type, "gpus": gpus, "nodes": nodes, "cpus": cpus, "memory_mib": memory,
            "limit_seconds": seconds_of(options["time"])}


def default_partition():
    return ask("/v1/gpus")["gpus"][0]["partitions"][0]


def forecast_of(job):
    """When it would start. Refused: it never could."""
    question = {"partition": job["partition"], "gres": f"gpu:{job['gpu_type']}:{job['gpus']}", "nodes": job["nodes"],
                "ntasks": job["nodes"], "cpus_per_task": job["cpus"], "mem_mib": job["memory_mib"],
                "time_limit_seconds": job["limit_seconds"]}
    types = [name for row in ask("/v1/gpus")["gpus"] for name in row["gres_types"]]
    if job["gpu_type"] not in types:
        raise Refused(f"no node has the GRES gpu:{job['gpu_type']}; there is {', '.join(types)}")
    answer = ask("/v1/when", {"jobs": [question]})["answers"][0]
    if answer.get("error"):
        raise Refused(answer["error"]["message"])
    return answer


# ---- the folder of jobs --------------------------------------------------------------------------


def folder():
    path = os.environ.get("GPUADVISE_SIMULATED_JOBS", "")
    if not path or not os.path.isdir(path):
        raise Refused("GPUADVISE_SIMULATED_JOBS names no folder; use the commands that ./quickstart.sh puts into "
                      ".quickstart/bin")
    return pathlib.Path(path)


def write_whole(path, text):
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    beside.write_text(text)
    os.replace(beside, path)


def add_job(job, script=None):
    """Writes the job down under the next free number. `script` is there before the job can start."""
    place = folder()
    known = [int(path.stem) for path in place.glob("*.job") if path.stem.isdigit()]
    number = max([FIRST_ID - 1, *known]) + 1
    while True:
        try:
            os.close(os.open(place / f"{number}.lock", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            break
        except FileExistsError:
            number += 1
    if script is not None:
        (place / f"{number}.sh").write_text(script)
    write_whole(place / f"{number}.job", json.dumps({"id": number, "submit": int(time.time()), **job}))
    return number


def end_job(number, exit_code):
    write_whole(folder() / f"{number}.end", f"{int(time.time())} {exit_code}\n")


def has_ended(number):
    return (folder() / f"{number}.end").exists()


def exit_code_of(number):
    return int((folder() / f"{number}.end").read_text().split()[1])


# ---- running a job -------------------------------------------------------------------------------


def nodes_of(number):
    """Names of the nodes that the simulated cluster gave to the job."""
    names, offset = [], 0
    while True:
        answer = ask(f"/v1/nodes?limit=100&offset={offset}")
        rows = answer["nodes"]
        names += [row["name"] for row in rows if any(job["job_id"] == number for job in row.get("jobs", []))]
        offset += len(rows)
        if not rows or offset >= answer.get("total", 0):
            return sorted(names)


def await_start(number):
    """The job's nodes, once it runs; None when it was cancelled before."""
    silent_since = time.time()
    while not has_ended(number):
        try:
            row = ask(f"/v1/jobs/{number}")
            silent_since = time.time()
            if row is not None and row["state"] == "RUNNING":
                return nodes_of(number)
        except Refused:
            if time.time() - silent_since > GIVE_UP_SECONDS:
                end_job(number, 1)
        time.sleep(POLL_SECONDS)
    return None


def environment_of(number, job, nodes, rank=0):
    task = {} if "task" not in job else {
        "SLURM_ARRAY_JOB_ID": str(job.get("array", number)), "SLURM_ARRAY_TASK_ID": str(job["task"]),
        "SLURM_ARRAY_TASK_COUNT": str(job["tasks"])}
    return {**os.environ, **task, "SLURM_JOB_ID": str(number), "SLURM_JOBID": str(number), "SLURM_JOB_NAME": job["name"],
            "SLURM_JOB_NODELIST": ",".join(nodes), "SLURM_JOB_NUM_NODES": str(job["nodes"]),
            "SLURM_NNODES": str(job["nodes"]), "SLURM_NODEID": str(rank), "SLURM_PROCID": str(rank),
            "SLURM_NTASKS": str(job["nodes"]), "SLURM_CPUS_PER_TASK": str(job["cpus"]),
            "SLURM_GPUS_ON_NODE": str(job["gpus"]), "SLURM_JOB_PARTITION": job["partition"],
            "SLURM_SUBMIT_DIR": os.getcwd(), "SLURM_CLUSTER_NAME": "seed", "SLURMD_NODENAME": nodes[rank],
            # No process of this machine may take its GPUs for the simulated ones.
            "CUDA_VISIBLE_DEVICES": "simulated"}


class Run:
    """A process group with a time limit, that goes when we are told to go."""

    def __init__(self, number, limit_seconds):
        self.number, self.deadline = number, time.time() + limit_seconds
        self.process = self.kill_at = None
        for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(name, self._end)
        for name in (signal.SIGUSR1, signal.SIGUSR2):
            signal.signal(name, self._pass_on)

    def _pass_on(self, name, _frame=None):
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, name)

    def _end(self, *_):
        self.kill_at = self.kill_at or time.time() + KILL_AFTER_SECONDS
        self._pass_on(signal.SIGTERM)

    def wait(self, command, environment, **where):
        """The exit status as a shell says it."""
        if self.kill_at is not None:
            return 143
        self.process = subprocess.Popen(command, env=environment, start_new_session=True, **where)
        while True:
            try:
                status = self.process.wait(0.2)
                return 128 - status if status < 0 else status
            except subprocess.TimeoutExpired:
                pass
            if self.kill_at is None and time.time() > self.deadline:
                print(f"slurmstepd: error: *** JOB {self.number} CANCELLED DUE TO TIME LIMIT *** (simulated)",
                      file=sys.stderr, flush=True)
                self._end()
            elif self.kill_at is not None and time.time() > self.kill_at:
                self._pass_on(signal.SIGKILL)


def shepherd(number):
    """Waits for the job's start, runs its script, writes its end; in the background, without a terminal."""
    number = int(number)
    job = json.loads((folder() / f"{number}.job").read_text())
    (folder() / f"{number}.pid").write_text(str(os.getpid()))
    run = Run(number, job["limit_seconds"])
    nodes = await_start(number)
    if nodes is None:
        return 0
    run.deadline = time.time() + job["limit_seconds"]
    print(f"[simulated cluster: job {number} has simulated GPUs on {','.join(nodes)}; this script runs on "
          f"{socket.gethostname()}]", flush=True)
    code = 1
    try:
        code = run.wait(["bash", str(folder() / f"{number}.sh")], environment_of(number, job, nodes),
                        stdin=subprocess.DEVNULL)
    finally:
        end_job(number, code)
    return 0


# ---- the commands --------------------------------------------------------------------------------


def say(command, text, options=None):
    if not (options or {}).get("quiet") == "":
        print(f"{command}: [simulated cluster] {text}", file=sys.stderr, flush=True)


def say_ignored(command, options):
    ignored = sorted(set(options) - UNDERSTOOD)
    if ignored:
        say(command, "ignored: " + ", ".join(f"--{name}" for name in ignored), options)


def read_submission(command, words):
    options, rest = read_options(words)
    script = ""
    if command == "sbatch":
        script = pathlib.Path(rest[0]).read_text() if rest else sys.stdin.read()
        if not script.startswith("#!"):
            raise Refused("the script must start with #!, such as #!/bin/bash")
        options = {**options_of_script(script), **options}
    return options, rest, script


def output_of(options, key, number, name):
    path = options.get(key)
    if path is None:
        return None
    job = own_job(str(number))
    for sign, value in (("%j", number), ("%A", job.get("array", number)), ("%a", job.get("task", 0)), ("%x", name)):
        path = path.replace(sign, str(value))
    return open(path, "ab" if options.get("open-mode") == "append" else "wb")


def begin(options, job, script):
    """Writes the job down and starts what runs it; gives its number."""
    number = add_job(job, script)
    options.setdefault("output", "slurm-%j.out")
    output = output_of(options, "output", number, job["name"])
    error = output_of(options, "error", number, job["name"])
    write_whole(folder() / f"{number}.stdout", os.path.abspath(output.name))
    subprocess.Popen([sys.executable, os.path.abspath(__file__), "shepherd", str(number)],
                     stdin=subprocess.DEVNULL, stdout=output, stderr=error or output, start_new_session=True)
    return number


def sbatch(words):
    options, _, script = read_submission("sbatch", words)
    job = job_of(options)
    forecast = forecast_of(job)
    if "test-only" in options:
        start = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() + forecast["wait_p50_seconds"]))
        print(f"sbatch: Job 0 to start at {start} using {job['cpus'] * job['nodes']} processors on nodes "
              f"(simulated) in partition {job['partition']}", file=sys.stderr)
        return 0
    say_ignored("sbatch", options)
    if "chdir" in options:
        os.chdir(options["chdir"])
    if "array" in options:  # each task is a job of its own; the array has the id of the first
        tasks = tasks_of(options["array"])
        number = begin(options, {**job, "task": tasks[0], "tasks": len(tasks)}, script)
        last = number
        for task in tasks[1:]:
            last = begin(options, {**job, "array": number, "task": task, "tasks": len(tasks)}, script)
    else:
        number = last = begin(options, job, script)
    say("sbatch", f"the wait and the GPUs of job {number} are simulated; its script will run on this machine", options)
    await_in_queue(last)
    print(number if "parsable" in options else f"Submitted batch job {number}", flush=True)
    if "wait" not in options:
        return 0
    while not has_ended(number):
        time.sleep(POLL_SECONDS)
    return exit_code_of(number)


def srun(words):
    options, command, _ = read_submission("srun", words)
    if not command:
        raise Refused("nothing to run: srun [options] COMMAND")
    if os.environ.get("SLURM_JOB_ID"):
        return srun_in_job(options, command)
    job = job_of({"job-name": os.path.basename(command[0]), **options})
    forecast_of(job)
    say_ignored("srun", options)
    number = add_job(job)
    (folder() / f"{number}.pid").write_text(str(os.getpid()))
    say("srun", f"job {number} queued and waiting for simulated GPUs", options)
    run = Run(number, job["limit_seconds"])
    signal.signal(signal.SIGINT, lambda *_: end_job(number, 130))  # while it waits
    nodes = await_start(number)
    if nodes is None:
        raise Refused(f"job {number} was cancelled")
    signal.signal(signal.SIGINT, run._end)
    say("srun", f"job {number} has simulated GPUs on {','.join(nodes)}; its command runs on this machine", options)
    run.deadline = time.time() + job["limit_seconds"]
    code = 1
    try:
        code = run.wait(command, environment_of(number, job, nodes))
    finally:
        end_job(number, code)
    return code


def srun_in_job(options, command):
    """A step: one task for each simulated node, all on this machine; it ends with the first that fails."""
    names = os.environ["SLURM_JOB_NODELIST"].split(",")
    tasks = []
    for rank, name in enumerate(names[:int(options.get("nodes", len(names)))]):
        ranked = {**os.environ, "SLURM_NODEID": str(rank), "SLURM_PROCID": str(rank), "SLURMD_NODENAME": name}
        tasks.append(subprocess.Popen(command, env=ranked))
    worst, running = 0, list(tasks)
    while running:
        time.sleep(0.05)
        for task in [task for task in running if task.poll() is not None]:
            running.remove(task)
            worst = worst or task.returncode
            if task.returncode and "kill-on-bad-exit" in options:
                for other in running:
                    other.terminate()
    return 128 - worst if worst < 0 else worst


def rows_of_queue(user=None):
    rows, offset = [], 0
    while True:
        answer = ask(f"/v1/queue?limit=500&offset={offset}" + (f"&user={user}" if user else ""))
        rows += answer["jobs"]
        offset += len(answer["jobs"])
        if not answer["jobs"] or offset >= answer["total"]:
            return rows


def await_in_queue(number):
    """Returns when the queue shows the job, as Slurm's does at once; a daemon that hangs holds nobody up."""
    until = time.monotonic() + QUEUE_SECONDS
    user = pwd.getpwuid(os.getuid()).pw_name
    while time.monotonic() < until and all(row["job_id"] != number for row in rows_of_queue(user)):
        if has_ended(number):
            return
        time.sleep(POLL_SECONDS)


def squeue(words):
    options, _ = read_options(words)
    user = pwd.getpwuid(os.getuid()).pw_name if "me" in options else options.get("user")
    wanted = set(options.get("jobs", "").split(",")) - {""}
    if "noheader" not in options:
        say("squeue", "other people's jobs are simulated, too")
        print(f"{'JOBID':>8} {'PARTITION':<11} {'NAME':<16} {'USER':<10} {'ST':<2} "
              + (f"{'START_TIME':<19} " if "start" in options else "") + f"{'LIMIT':>9} {'NODES':>5} GRES (REASON)")
    for row in sorted(rows_of_queue(user), key=lambda row: row["job_id"]):
        if wanted and str(row["job_id"]) not in wanted:
            continue
        state = {"PENDING": "PD", "RUNNING": "R"}.get(row["state"], row["state"][:2])
        if "format" in options:
            path = folder() / f"{row['job_id']}.job"
            job = json.loads(path.read_text()) if path.exists() else {}
            text = options["format"]
            for sign, value in (("%A", row["job_id"]), ("%F", job.get("array", row["job_id"])), ("%K", job.get("task", "N/A")), ("%t", state)):
                text = text.replace(sign, str(value))
            print(text)
            continue
        start = ""
        if "start" in options:
            if state != "PD":
                continue
            known = row.get("start_p50")
            start = time.strftime("%Y-%m-%dT%H:%M:%S ", time.localtime(known)) if known else f"{'N/A':<19} "
        limit = time.strftime("%H:%M:%S", time.gmtime(row["time_limit_seconds"] % 86400))
        days = row["time_limit_seconds"] // 86400
        reason = f" ({row.get('reason')})" if state == "PD" else ""
        print(f"{row['job_id']:>8} {row['partition']:<11} {row['name'][:16]:<16} {row['user'][:10]:<10} {state:<2} {start}"
              f"{(str(days) + '-' if days else '') + limit:>9} {row['nodes']:>5} {row['gres']}{reason}")
    return 0


def own_job(word):
    path = folder() / f"{word}.job"
    if not word.isdigit() or not path.exists():
        raise Refused(f"job {word} is none of yours on the simulated cluster")
    return json.loads(path.read_text())


def cancel(number, name):
    """A signal to the process that runs the job, or the job's end where none does."""
    if has_ended(number):
        return
    row = ask(f"/v1/jobs/{number}")
    waits = row is None or row["state"] != "RUNNING"
    try:
        pid = int((folder() / f"{number}.pid").read_text())
        # A pid that now belongs to another program is not ours.
        ours = b"simulated_slurm" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        ours = False
    if name != signal.SIGTERM or (ours and not waits):
        if ours:
            os.kill(pid, name)
        return
    end_job(number, 143)


def jobs_of(word):
    """The jobs that "5001", "5001_3" and "5001_[1,4-5]" name."""
    array, has_tasks, tasks = word.partition("_")
    jobs = [json.loads(path.read_text()) for path in folder().glob("*.job")]
    of_array = [job for job in jobs if str(job.get("array", job["id"])) == array]
    if has_tasks:
        of_array = [job for job in of_array if job.get("task") in tasks_of(tasks.strip("[]"))]
    return [str(job["id"]) for job in of_array] or [word]


def scancel(words):
    options, jobs = read_options(words)
    name = options.get("signal", "TERM").removeprefix("SIG")
    try:
        number = int(name) if name.isdigit() else signal.Signals[f"SIG{name}"]
    except KeyError as error:
        raise Refused(f"'{name}' is not a signal") from error
    if "me" in options or "user" in options:
        jobs = [path.stem for path in folder().glob("*.job") if not has_ended(path.stem)]
    for job in [each for word in jobs for each in jobs_of(word)]:
        own_job(job)
        runs = options.get("state") == "PENDING" and (ask(f"/v1/jobs/{job}") or {}).get("state") == "RUNNING"
        if not runs:
            cancel(int(job), number)
    return 0


def sacct(_words):
    raise Refused("it keeps no accounting; `gpuadvise jobs` shows what the jobs of `gpuadvise submit` used")


def sinfo(_words):
    say("sinfo", "nodes and GPUs are simulated")
    print(f"{'PARTITION':<12} {'NODES':>5} {'GRES':<22} {'GPUS':>5} {'FREE':>5}")
    for row in ask("/v1/gpus")["gpus"]:
        gres = f"gpu:{row['gres_types'][0]}:{row['gpus_per_node']}"
        print(f"{','.join(row['partitions']):<12} {row['nodes']:>5} {gres:<22} {row['total']:>5} {row['free']:>5}")
    return 0


def scontrol(words):
    if words[:2] == ["show", "hostnames"]:
        print("\n".join((words[2] if len(words) > 2 else os.environ.get("SLURM_JOB_NODELIST", "")).split(",")))
        return 0
    if words[:2] == ["show", "job"] and len(words) == 3:
        job = own_job(words[2])
        row = ask(f"/v1/jobs/{job['id']}")
        state = row["state"] if row else ("PENDING" if not has_ended(job["id"]) else "COMPLETED")
        code = exit_code_of(job["id"]) if has_ended(job["id"]) else 0
        if state == "COMPLETED" and code:
            state = "CANCELLED" if code == 143 else "FAILED"
        print(f"JobId={job['id']} JobName={job['name']} (simulated)\n   UserId={job['user']}({job['uid']})\n"
              f"   JobState={state} ExitCode={code}:0 Partition={job['partition']}\n"
              f"   NumNodes={job['nodes']} TresPerNode=gres:gpu:{job['gpu_type']}:{job['gpus']}")
        output = folder() / f"{job['id']}.stdout"  # of sbatch; srun has none
        if output.exists():
            print(f"   StdOut={output.read_text()}")
        return 0
    raise Refused(f"scontrol {' '.join(words)} cannot be done on the simulated cluster; it knows show job and show "
                  "hostnames")


def salloc(words):
    raise Refused("a session cannot be had on the simulated cluster; run a command with srun, or a script with sbatch")


COMMANDS = {"sbatch": sbatch, "srun": srun, "salloc": salloc, "squeue": squeue, "scancel": scancel, "sinfo": sinfo,
            "scontrol": scontrol, "sacct": sacct}


def main():
    command, words = sys.argv[1] if len(sys.argv) > 1 else "", sys.argv[2:]
    try:
        if command == "shepherd":
            return shepherd(words[0])
        if command not in COMMANDS:
            raise Refused(f"'{command}' is none of " + ", ".join(COMMANDS))
        if words[:1] in (["-V"], ["--version"]):
            print("the simulated cluster of quickstart.sh (not Slurm)")
            return 0
        if words[:1] == ["--help"]:
            print(__doc__.strip())
            return 0
        return COMMANDS[command](words)
    except Refused as error:
        print(f"{command}: error: [simulated cluster] {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 0
    except OSError as error:
        print(f"{command}: error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
