#!/usr/bin/env python3
"""What a whole daemon costs on a large cluster: reading a snapshot, the forecast, advice meanwhile, memory.

    bench/whole_daemon.py BIN_DIR [--nodes 10000 --running 20000 --pending 30000] [--polls 4] [--changes 40]
                          [--clients 1] [--poll-interval 5s]

A made cluster (bench/made_recording, target made_recording) is played to gpuadvised as a recording, one
snapshot after the other, each with so many ends, starts and submissions; clients ask for advice all the
time, also while a new forecast is made. Prints medians of what the daemon says it took (log_level debug),
percentiles of whole HTTP requests, and the most memory that it had resident.
"""
import argparse
import contextlib
import http.client
import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

SPEC = {"spec": {"name": "made", "model": {"memory": {"base": "5 GB", "per_sample": "1.2 GB", "overhead": "2 GB"}},
                 "training": {"max_steps": 5000, "effective_batch_size": [120, 144],
                              "measured": [{"gpu": "rtx4090", "gpus": 4, "batch": 10, "seconds_per_step": 3.9}]},
                 "resources": {"cpus_per_gpu": 4, "mem_per_gpu": "16G", "max_nodes": 1}, "command": "train"}}


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=600)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(600)
        self.sock.connect(self.path)


def ask(path, method, target, body=None):
    connection = Connection(path)
    connection.request(method, target, json.dumps(body) if body else None)
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return answer


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


def resident_mb(pid, what):
    return int(re.search(rf"{what}:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) / 1e3


def answers(path):
    try:
        return ask(path, "GET", "/healthz")["status"] != "starting"
    except OSError:
        return False


def form_times(path, cheaper, times=40):
    """Milliseconds of POST /v1/when with the 20 alternatives of a portal's form."""
    types = [name for row in ask(path, "GET", "/v1/gpus")["gpus"] for name in row["gres_types"]]
    pairs = [(name, count) for count in (1, 2, 4, 8) for name in types]
    body = {"jobs": [{"gres": f"gpu:{name}:{count}", "time_limit_seconds": 14400} for name, count in (pairs * 20)[:20]],
            "cheaper": cheaper}
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        answer = ask(path, "POST", "/v1/when", body)
        taken.append(1e3 * (time.perf_counter() - start))
        assert len(answer["answers"]) == 20, answer
    return taken


def show(result):
    for name, value in result.items():
        print(f"{name:24} {value:.3f}" if isinstance(value, float) else f"{name:24} {value}")


@contextlib.contextmanager
def made_daemon(options, polls, settings, change=lambda lines: lines):
    """A gpuadvised that plays a made cluster of the sizes in `options`, with more `settings`, the recording's lines changed by
    `change`: its process, its socket and its folder, with its messages in log; it answers."""
    programs = pathlib.Path(options.programs).resolve()
    with tempfile.TemporaryDirectory(prefix="made-daemon-") as folder:
        home = pathlib.Path(folder)
        made = subprocess.Popen([programs / "made_recording", *map(str, (
            options.nodes, options.running, options.pending, polls, options.changes))], stdout=subprocess.PIPE, text=True)
        with open(home / "made.jsonl", "w", encoding="utf-8") as out:
            out.writelines(line.rstrip("\n") + "\n" for line in change(made.stdout))
        config, path = home / "gpuadvised.yaml", str(home / "s")
        config.write_text(f"socket: {path}\nstate_dir: {home}/state\nsource: replay:{home}/made.jsonl\nstale_after: 1h\n{settings}")
        with open(home / "log", "wb") as log:
            daemon = subprocess.Popen([programs / "gpuadvised", "--config", config], stderr=log)
        try:
            while not answers(path):
                if daemon.poll() is not None:
                    sys.exit((home / "log").read_text())
                time.sleep(0.05)
            yield daemon, path, home
        finally:
            daemon.terminate()
            daemon.wait(60)


def measure(options):
    with made_daemon(options, options.polls, f"poll_interval: {options.poll_interval}\nlog_level: debug\n") as (daemon, path, home):
        times, done = [], threading.Event()

        def client():
            while not done.is_set():
                start = time.perf_counter()
                answer = ask(path, "POST", "/v1/advise", SPEC)
                times.append((time.perf_counter() - start, len(answer["strategies"])))
                time.sleep(0.05)

        threads = [threading.Thread(target=client) for _ in range(options.clients)]
        for thread in threads:
            thread.start()
        wanted = options.polls
        deadline = time.monotonic() + 900
        while (home / "log").read_text().count("a view of") < wanted and time.monotonic() < deadline:
            time.sleep(0.2)
        done.set()
        for thread in threads:
            thread.join()
        form, whole_form = form_times(path, False), form_times(path, True)
        start = time.perf_counter()
        queue = ask(path, "GET", "/v1/queue?state=pending&limit=1000")
        queue_seconds = time.perf_counter() - start
        text = (home / "log").read_text()
        views = [float(x) for x in re.findall(r"a view of .* took ([\d.]+) s", text)]
        reads = [float(x) for x in re.findall(r"a snapshot was read in ([\d.]+) s", text)]
        asked = [t for t, _ in times]
        return {
            "nodes": options.nodes, "jobs": options.running + options.pending, "first_view_s": views[0],
            "view_median_s": percentile(views[1:] or views, 0.5), "view_worst_s": max(views),
            "read_median_s": percentile(reads, 0.5), "read_worst_s": max(reads), "advise": len(asked),
            "strategies": times[-1][1] if times else 0, "advise_median_ms": 1e3 * percentile(asked, 0.5),
            "advise_p99_ms": 1e3 * percentile(asked, 0.99), "when_20_median_ms": percentile(form, 0.5),
            "when_20_p90_ms": percentile(form, 0.9), "when_20_cheaper_median_ms": percentile(whole_form, 0.5),
            "when_20_cheaper_p90_ms": percentile(whole_form, 0.9), "queue_first_s": queue_seconds, "queue_total": queue["total"],
            "resident_mb": resident_mb(daemon.pid, "VmRSS"), "most_resident_mb": resident_mb(daemon.pid, "VmHWM")}


def main():
    parser = argparse.ArgumentParser(description="What a whole daemon costs on a large cluster")
    parser.add_argument("programs")
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--running", type=int, default=20_000)
    parser.add_argument("--pending", type=int, default=30_000)
    parser.add_argument("--polls", type=int, default=4)
    parser.add_argument("--changes", type=int, default=40, help="ends, starts and submissions from poll to poll")
    parser.add_argument("--clients", type=int, default=1, help="that ask at the same time")
    parser.add_argument("--poll-interval", default="5s")
    show(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
