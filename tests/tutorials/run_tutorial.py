#!/usr/bin/env python3
"""Runs one tutorial with the programs of a build, on a simulated cluster of its own.

    run_tutorial.py [--update] BIN_DIR DOCUMENT

--update writes what the commands show into DOCUMENT; look at the difference before you keep it.
"""
import contextlib
import pathlib
import subprocess
import sys
import tempfile
import time

import tutorial

READY_SECONDS = 30
TOP = pathlib.Path(__file__).resolve().parents[2]
SLURM_COMMANDS = ("sbatch", "srun", "squeue", "scancel", "sinfo", "scontrol", "sacct")


@contextlib.contextmanager
def simulated_cluster(bin_folder, folder):
    """A daemon on the simulated cluster, ready to answer; gives its socket."""
    socket = folder / "s"
    settings = folder / "gpuadvised.yaml"
    settings.write_text(f'socket: "{socket}"\nsocket_mode: "0600"\nstate_dir: "{folder}/state"\nsource: sim\n'
                        f'simulation: {{jobs_dir: "{folder}/jobs"}}\n')
    with (folder / "log").open("w") as log:
        daemon = subprocess.Popen([bin_folder / "gpuadvised", "--config", settings], stdout=log, stderr=log)
    try:
        ask = [bin_folder / "gpuadvise", "gpus", "--socket", socket]
        end = time.monotonic() + READY_SECONDS
        while subprocess.run(ask, capture_output=True, check=False).returncode != 0:
            if daemon.poll() is not None or time.monotonic() > end:
                sys.exit(f"the daemon did not get ready:\n{(folder / 'log').read_text()}")
            time.sleep(0.1)
        yield socket
    finally:
        daemon.terminate()
        daemon.wait()


def write_slurm_commands(folder, socket):
    """Slurm's commands for the simulated cluster, as quickstart.sh has them."""
    (folder / "jobs").mkdir()
    commands = folder / "bin"
    commands.mkdir()
    for name in SLURM_COMMANDS:
        command = commands / name
        command.write_text(f"#!/bin/sh\nGPUADVISE_SOCKET='{socket}' GPUADVISE_SIMULATED_JOBS='{folder}/jobs' "
                           f"exec python3 '{TOP}/packaging/quickstart/simulated_slurm.py' {name} \"$@\"\n")
        command.chmod(0o700)
    return commands


def main(words):
    update = "--update" in words
    bin_folder, document = [pathlib.Path(word).resolve() for word in words if word != "--update"]
    text = document.read_text()
    steps = tutorial.steps_of(text)
    commands = [step for step in steps if isinstance(step, tutorial.Command)]
    with tempfile.TemporaryDirectory() as temporary:
        top = pathlib.Path(temporary)
        work = top / "work"
        work.mkdir()
        (work / "examples").symlink_to(TOP / "examples")  # as in a clone
        slurm = write_slurm_commands(top, top / "s")
        with simulated_cluster(bin_folder, top) as socket:
            environment = tutorial.environment_of(f"{slurm}:{bin_folder}", work, socket)
            outcomes = tutorial.run(steps, work, environment)
            subprocess.run([slurm / "scancel", "--me"], capture_output=True, check=False)
    if update:
        document.write_text(tutorial.rewritten(text, outcomes))
        return 0
    complaints = [tutorial.complaint_about(command, *outcome) for command, outcome in zip(commands, outcomes)]
    complaints = [f"{document.name}, {each}" for each in complaints if each]
    print("\n\n".join(complaints) or f"{document.name}: {len(commands)} commands as shown")
    return 1 if complaints or not commands else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
