#!/usr/bin/env python3
"""What relays cost: 20 hosts (network namespaces) with a relay each, 2,000 users, one daemon on a real Slurm.

    bench/relays.py BIN_DIR [--relays 20] [--clients 2000] [--pause 10] [--seconds 60]

Needs root and the lab's programs (tests/lab). Each client is a user of its own, who asks through a relay, waits, and asks
again. Prints what a request takes by the daemon's own socket and by a relay, nobody else asking; the same under load; what
slurmctld was asked meanwhile (sdiag) with and without the load; and how long nobody was answered after `kill -9` of the
daemon, with a standby that the relays know.
"""
import argparse
import asyncio
import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "lab"))
import programs  # noqa: E402
import remote  # noqa: E402
from lab import Lab, wait_until  # noqa: E402

BRIDGE, NET = "gpuadvbr", "10.231.77"
FIRST_USER = 30_000
WHEN = json.dumps({"jobs": [{"gres": "gpu:1", "time_limit_seconds": 3600}]})


def run(*words):
    subprocess.run(words, check=True)


class Hosts:
    """Network namespaces on one bridge; the daemon is at NET.1, host i at NET.(10 + i)."""

    def __init__(self, count):
        self.names = [f"gpuadv{i}" for i in range(count)]

    def __enter__(self):
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        run("ip", "addr", "add", f"{NET}.1/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        for i, name in enumerate(self.names):
            run("ip", "netns", "add", name)
            run("ip", "link", "add", f"gav{i}", "type", "veth", "peer", "name", "eth0", "netns", name)
            run("ip", "link", "set", f"gav{i}", "master", BRIDGE, "up")
            run("ip", "-n", name, "addr", "add", f"{NET}.{10 + i}/24", "dev", "eth0")
            run("ip", "-n", name, "link", "set", "eth0", "up")
            run("ip", "-n", name, "link", "set", "lo", "up")
        return self

    def __exit__(self, *_):
        for name in self.names:
            run("ip", "netns", "del", name)
        run("ip", "link", "del", BRIDGE)


class Relay:
    def __init__(self, site, certificates, host, name, urls):
        self.socket = site.folder / "run" / f"{name}.sock"
        own = certificates.folder / "relays" / name
        config = site.folder / f"{name}.yaml"
        config.write_text(json.dumps({"socket": str(self.socket), "relay": {
            "url": urls, "ca": str(own / "ca.crt"), "certificate": str(own / "relay.crt"), "key": str(own / "relay.key")}}))
        self.process = subprocess.Popen(["ip", "netns", "exec", host, str(site.bin / "gpuadvised"), "--config", str(config)],
                                        stderr=open(site.folder / f"{name}.log", "w"))
        wait_until(self.socket.exists, f"{name} to listen")

    def end(self):
        self.process.terminate()
        self.process.wait()


async def ask(path, user, method, target, body=""):
    """(milliseconds, status)."""
    began = time.perf_counter()
    connected = socket.socket(socket.AF_UNIX)
    os.seteuid(user)  # no other client has its turn until it is root's again
    try:
        connected.connect(str(path))
    finally:
        os.seteuid(0)
    connected.setblocking(False)
    reader, writer = await asyncio.open_unix_connection(sock=connected)
    try:
        writer.write(f"{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n{body}"
                     .encode())
        answer = await reader.read(-1)
        return 1e3 * (time.perf_counter() - began), int(answer[9:12] or b"0")
    finally:
        writer.close()


async def client(i, path, until, pause, results):
    await asyncio.sleep(pause * (i * 0.618 % 1))
    while time.monotonic() < until:
        question = ("POST", "/v1/when", WHEN) if i % 4 == 0 else ("GET", "/v1/gpus", "")
        try:
            took, status = await ask(path, FIRST_USER + i, *question)
        except OSError:
            took, status = 0, 0
        results.append((time.monotonic(), question[1], took, status))
        await asyncio.sleep(pause)


async def load(relays, count, pause, seconds):
    results, until = [], time.monotonic() + seconds
    await asyncio.gather(*(client(i, relays[i % len(relays)].socket, until, pause, results) for i in range(count)))
    return results


def spread(values):
    values = sorted(values)
    if not values:
        return "none"
    return f"median {statistics.median(values):.2f} ms, p99 {values[int(.99 * (len(values) - 1))]:.2f} ms ({len(values)})"


def alone(path, target, times=300):
    async def measure():
        return [(await ask(path, FIRST_USER, "GET", target))[0] for _ in range(times)]
    return asyncio.run(measure())


def rpcs(lab):
    """Those that slurmctld has counted by user; by type the same are counted once more."""
    by_user = lab.run("sdiag").stdout.split("statistics by user")[1]
    return sum(int(count) for count in re.findall(r"count:(\d+)", by_user.split("\n\n")[0]))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("bin_dir")
    options.add_argument("--relays", type=int, default=20)
    options.add_argument("--clients", type=int, default=2000)
    options.add_argument("--pause", type=float, default=10)
    options.add_argument("--seconds", type=float, default=60)
    wanted = options.parse_args()
    names = [f"relay{i}" for i in range(wanted.relays)]
    with Hosts(wanted.relays) as hosts, Lab(cluster="tiny") as lab, programs.Site(lab, wanted.bin_dir) as site:
        certificates = remote.Certificates(site.folder / "tls", site.bin / "gpuadvised")
        certificates.make("--daemon", f"localhost,{NET}.1", "--relay", ",".join(names))
        edge = {**certificates.remote, "listen": f"{NET}.1:6829", "relays": names}
        site.start(source="slurm-cli", poll_interval="5s", accounting_interval="0s", remote=edge)
        state = site.folder / "standby"
        site._folder_of(programs.DAEMON_USER, state)
        standby = programs.Site.__new__(programs.Site)
        standby.__dict__.update(site.__dict__, socket=site.folder / "run" / "standby.sock", config=site.folder / "standby.yaml",
                                log=site.folder / "standby.log", process=None)
        standby.settings = {**site.settings, "socket": str(standby.socket), "state_dir": str(state),
                            "standby": {"first": str(site.socket), "check_interval": "10s"},
                            "remote": {**edge, "listen": f"{NET}.1:6830"}}
        standby.start(fresh=False)
        urls = f"https://{NET}.1:6829,https://{NET}.1:6830"
        relays = [Relay(site, certificates, host, name, urls) for host, name in zip(hosts.names, names)]
        try:
            for _ in range(12):
                lab.submit("--gres=gpu:1", "-t", "60")
            site.wait_for_next_snapshot()
            for target in ["/v1/me", "/v1/gpus"]:
                alone(relays[0].socket, target, 20)
                for _ in range(2):
                    print(f"{target}: socket {spread(alone(site.socket, target))}; relay {spread(alone(relays[0].socket, target))}",
                          flush=True)
            before = rpcs(lab)
            time.sleep(wanted.seconds)
            quiet = rpcs(lab) - before
            before = rpcs(lab)
            began = time.monotonic()
            results = asyncio.run(load(relays, wanted.clients, wanted.pause, wanted.seconds))
            took = time.monotonic() - began
            loaded = rpcs(lab) - before
            for target in ["/v1/gpus", "/v1/when"]:
                print(f"{target} under load: {spread([ms for _, t, ms, status in results if t == target and status == 200])}")
            bad = [status for *_, status in results if status != 200]
            print(f"{len(results) / took:.0f} requests/s, {len(bad)} not answered with 200 {sorted(set(bad))}")
            print(f"slurmctld: {quiet} RPCs in {wanted.seconds:.0f} s without callers, {loaded} in {took:.0f} s with "
                  f"{wanted.clients}; {quiet / wanted.seconds * took:.0f} expected")
            print("memory of the daemon, a relay:", *(re.search(r"VmHWM:\s+(\d+ kB)", pathlib.Path(
                f"/proc/{pid}/status").read_text())[1] for pid in (site.process.pid, relays[0].process.pid)))
            site.process.kill()
            killed = time.monotonic()
            site.process.wait()
            results = asyncio.run(load(relays, wanted.clients, wanted.pause, 60))
            good = sorted(at for at, *_, status in results if status == 200)
            print(f"after kill -9 under load: answered again after {good[0] - killed:.1f} s; then "
                  f"{sum(1 for at, *_, status in results if at > good[0] + 1 and status != 200)} of "
                  f"{sum(1 for at, *_ in results if at > good[0] + 1)} not answered")
        finally:
            for relay in relays:
                relay.end()
            standby.stop()
            site.process = None


if __name__ == "__main__":
    main()
