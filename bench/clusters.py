#!/usr/bin/env python3
"""What -M costs: five made clusters of 2,000 nodes each, asked as one.

    bench/clusters.py BIN_DIR [--clusters 5] [--nodes 2000 --running 4000 --pending 6000] [--times 20]

Each cluster is a recording (target made_recording) that a gpuadvised of its own plays. Prints how long a whole
`gpuadvise advise` takes of one cluster, of all, and of all with one that is stopped (SIGSTOP), in turn.
"""
import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from whole_daemon import SPEC, answers  # noqa: E402


def took(words, env, times):
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
        taken.append(1e3 * (time.perf_counter() - began))
        assert done.returncode == 0, done.stderr
    taken.sort()
    return f"median {statistics.median(taken):.0f} ms, most {taken[-1]:.0f}"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("bin_dir", type=pathlib.Path)
    for name, value in [("clusters", 5), ("nodes", 2000), ("running", 4000), ("pending", 6000), ("times", 20)]:
        options.add_argument(f"--{name}", type=int, default=value)
    wanted = options.parse_args()
    bins = wanted.bin_dir.absolute()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        recording = folder / "recording"
        with open(recording, "w", encoding="utf-8") as file:
            subprocess.run([bins / "made_recording", str(wanted.nodes), str(wanted.running), str(wanted.pending), "1", "0"],
                           stdout=file, check=True)
        daemons, clusters = [], {}
        for i in range(wanted.clusters):
            config = folder / f"{i}.yaml"
            config.write_text(json.dumps({"socket": str(folder / f"{i}.sock"), "state_dir": str(folder / f"state{i}"),
                                          "source": f"replay:{recording}", "poll_interval": "1h"}))
            daemons.append(subprocess.Popen([bins / "gpuadvised", "--config", config], stderr=subprocess.DEVNULL))
            clusters[f"c{i}"] = str(folder / f"{i}.sock")
        try:
            home = folder / "config" / "gpuadvise"
            home.mkdir(parents=True)
            (home / "client.yaml").write_text(json.dumps({"clusters": clusters}))
            train = folder / "train.yaml"
            train.write_text(json.dumps(SPEC["spec"]))
            env = {**os.environ, "XDG_CONFIG_HOME": str(folder / "config")}
            for place in clusters.values():
                while not answers(place):
                    time.sleep(0.2)
            advise = [bins / "gpuadvise", "advise", "--json"]
            took([*advise, "-M", "all", train], env, 2)
            for _ in range(2):
                print("one cluster:", took([*advise, "--socket", clusters["c0"], train], env, wanted.times), flush=True)
                print(f"{wanted.clusters} clusters:", took([*advise, "-M", "all", train], env, wanted.times), flush=True)
            daemons[-1].send_signal(signal.SIGSTOP)
            print("one of them silent:", took([*advise, "-M", "all", train], env, 5), flush=True)
        finally:
            for daemon in daemons:
                daemon.send_signal(signal.SIGCONT)
                daemon.kill()
                daemon.wait()


if __name__ == "__main__":
    main()
