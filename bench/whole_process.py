#!/usr/bin/env python3
"""Whole programs beside Slurm's own, on one live cluster: gpuadvise advise : sbatch --test-only,
gpuadvise gpus : sinfo.

    bench/whole_process.py BIN_DIR [--pairs N]

Starts the lab cluster of tests/lab (needs root and Slurm) with jobs running and waiting on it, and
gpuadvised beside it. Each comparison alternates A B B A …, so that what slows the machine for a while
slows both, and prints the medians and the median ratio of the pairs with its middle half.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP / "tests/lab"))
from lab import Lab, wait_until, why_not  # noqa: E402

WARM_UP = 10


def milliseconds(command, env):
    """The wall time of one whole process, its output thrown away."""
    begin = time.perf_counter()
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False)
    elapsed = (time.perf_counter() - begin) * 1000
    if done.returncode != 0:
        sys.exit(f"whole_process: {' '.join(map(str, command))}: exit {done.returncode}: {done.stderr.decode()}")
    return elapsed


def compare(ours, theirs, env, pairs):
    """Medians of both and of the ratio of each pair; the order within a pair alternates."""
    for command in [ours, theirs] * WARM_UP:
        milliseconds(command, env)
    mine, other = [], []
    for pair in range(pairs):
        order = [(ours, mine), (theirs, other)]
        for command, times in order if pair % 2 == 0 else reversed(order):
            times.append(milliseconds(command, env))
    ratios = sorted(a / b for a, b in zip(mine, other))
    quarter = len(ratios) // 4
    return {"ours_ms": statistics.median(mine), "theirs_ms": statistics.median(other),
            "ratio": statistics.median(ratios),
            "ratio_middle_half": [ratios[quarter], ratios[-1 - quarter]], "pairs": pairs}


def occupy(lab):
    """Jobs on every kind of node, and some that wait."""
    ask = [("gpu4090:4", 180), ("gpu4090:2", 60), ("gpul40s:6", 600), ("gpul40s:6", 600), ("gpul40s:6", 300),
           ("gpu2080:4", 120), ("gpu2080:1", 60), ("gpu4070:1", 30), ("h100_1g.11gb:1", 240)]
    jobs = [lab.submit(f"--gres=gpu:{gres}", "-t", minutes, "-n1", "--mem=4000") for gres, minutes in ask]
    lab.wait_for_state(jobs[0], "RUNNING")


def start_daemon(bin_dir, lab, folder):
    settings = folder / "gpuadvised.yaml"
    settings.write_text(f"socket: {folder}/sock\nstate_dir: {folder}/state\nsource: auto\n"
                        f"slurm_conf: {lab.slurm_conf}\n")
    (folder / "state").mkdir()
    log = open(folder / "log", "w")  # noqa: SIM115: lives as long as the daemon
    daemon = subprocess.Popen([bin_dir / "gpuadvised", "--config", settings], env=lab.env, stderr=log, stdout=log)
    env = dict(lab.env, GPUADVISE_SOCKET=f"{folder}/sock")

    def answers():
        if daemon.poll() is not None:
            sys.exit(f"whole_process: gpuadvised ended: {(folder / 'log').read_text()}")
        return subprocess.run([bin_dir / "gpuadvise", "gpus", "--json"], env=env, check=False,
                              capture_output=True).returncode == 0

    wait_until(answers, "gpuadvised to answer", 30)
    return daemon, env


def comparisons(bin_dir):
    client = bin_dir / "gpuadvise"
    return {
        "advise : sbatch --test-only": (
            [client, "advise", TOP / "examples/gr00t.yaml"],
            ["sbatch", "--test-only", "--gres=gpu:gpu4090:4", "-n1", "-t", "720", "--mem=4000", "--wrap=true"]),
        "gpus : sinfo": ([client, "gpus"], ["sinfo", "-N", "-o", "%N %T %G"]),
    }


def show(results):
    print(f"{'whole processes':30} {'ours ms':>8} {'theirs ms':>10} {'ratio':>6}  middle half")
    for name, r in results.items():
        low, high = r["ratio_middle_half"]
        print(f"{name:30} {r['ours_ms']:8.2f} {r['theirs_ms']:10.2f} {r['ratio']:6.2f}  {low:.2f}–{high:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin_dir", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=100)
    options = parser.parse_args()
    if reason := why_not():
        sys.exit(f"whole_process: {reason}")
    bin_dir = options.bin_dir.resolve()
    with tempfile.TemporaryDirectory() as folder, Lab() as lab:
        occupy(lab)
        daemon, env = start_daemon(bin_dir, lab, pathlib.Path(folder))
        try:
            results = {name: compare(ours, theirs, env, options.pairs)
                       for name, (ours, theirs) in comparisons(bin_dir).items()}
        finally:
            daemon.terminate()
            daemon.wait()
    show(results)


if __name__ == "__main__":
    main()
