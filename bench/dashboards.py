#!/usr/bin/env python3
"""Whether many open dashboards, or a flood, slow the Unix socket down.

    bench/dashboards.py BIN_DIR [--pages 500] [--seconds 30] [--nodes 21 --running 60 --pending 60]

A made cluster (target made_recording) is played to gpuadvised as a recording. One client on the Unix socket asks
for advice all the time: first alone, then beside so many pages over TCP, each with an open event stream, that
load the page and ask for their view after every snapshot (spread over two seconds, as the page does), then
beside clients that flood, that send slowly and that never read, then beside another user (nobody, where this runs
as root) who does the same on the Unix socket. Prints percentiles of whole requests of each phase, what the pages
waited, and the most memory that the daemon had resident. The load runs at the lowest priority: it stands for
other machines.
"""
import argparse
import asyncio
import http.client
import json
import logging
import math
import multiprocessing
import os
import pwd
import random
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from whole_daemon import SPEC, ask, made_daemon, percentile, resident_mb, show  # noqa: E402

VIEWS = ("/v1/waits", "/v1/nodes?limit=200", "/v1/queue?limit=100", "/v1/history?weeks=8", "/v1/accuracy")
SPREAD_SECONDS = 2


async def fetch(port, target):
    """One GET on a connection of its own: seconds until all of it was there, and its bytes."""
    begun = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    return time.perf_counter() - begun, answer


async def page(port, number, until, waited):
    """A dashboard: its files, an event stream, and its view after each snapshot."""
    view = VIEWS[number % len(VIEWS)]
    await asyncio.sleep(random.random() * SPREAD_SECONDS)
    _, html = await fetch(port, "/")
    for name in re.findall(rb'(?:src|href)="\./([^"]+)"', html):
        await fetch(port, "/" + name.decode())
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    while time.monotonic() < until:
        try:
            line = await asyncio.wait_for(reader.readline(), until - time.monotonic())
        except asyncio.TimeoutError:
            break
        if not line:
            raise AssertionError("an event stream ended")
        if line.startswith(b"event: snapshot"):
            await asyncio.sleep(random.random() * SPREAD_SECONDS)
            waited.append((await fetch(port, view))[0])
    writer.close()


async def connect(where):
    """To a port, or to the path of a Unix socket."""
    return await (asyncio.open_connection("127.0.0.1", where) if isinstance(where, int)
                  else asyncio.open_unix_connection(where))


async def flood(where, number, until, _):
    """A client that means no good: one of four kinds."""
    while time.monotonic() < until:
        try:
            reader, writer = await connect(where)
            if number % 4 == 0:      # asks without reading
                for _ in range(50):
                    writer.write(b"GET /v1/nodes?limit=1000 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                    await asyncio.sleep(0.01)
            elif number % 4 == 1:    # sends a request so slowly that it never ends
                for byte in b"GET /v1/gpus HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"y" * 20:
                    writer.write(bytes([byte]))
                    await asyncio.sleep(0.3)
            elif number % 4 == 2:    # questions that have to be computed
                body = json.dumps(SPEC).encode()
                writer.write(b"POST /v1/advise HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                await asyncio.wait_for(reader.read(200), 5)
            else:                    # an open connection and nothing else
                await asyncio.sleep(3)
            writer.close()
        except (OSError, asyncio.TimeoutError):
            await asyncio.sleep(0.1)


def load(kind, where, count, seconds, results):
    """In a process of its own: `count` clients of a kind."""
    os.nice(19)
    if not isinstance(where, int) and os.getuid() == 0:
        os.setuid(pwd.getpwnam("nobody").pw_uid)
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # else a word for each write to a closed socket
    waited = []

    async def all_of_them():
        until = time.monotonic() + seconds
        done = await asyncio.gather(*(kind(where, i, until, waited) for i in range(count)), return_exceptions=True)
        return [repr(one) for one in done if isinstance(one, Exception)]

    failures = asyncio.run(all_of_them())
    results.put((waited, failures))


def advise_for(path, seconds):
    """Seconds of each request; infinite for one that was turned away."""
    times = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        begun = time.perf_counter()
        try:
            answered = "strategies" in ask(path, "POST", "/v1/advise", SPEC)
        except (OSError, http.client.HTTPException):
            answered = False
        times.append(time.perf_counter() - begun if answered else math.inf)
        time.sleep(0.02)
    return times


def beside(kind, where, count, options, path):
    """Advice on the Unix socket while `count` clients of `kind` are there."""
    results = multiprocessing.Queue()
    process = multiprocessing.Process(target=load, args=(kind, where, count, options.seconds + 6, results))
    process.start()
    time.sleep(3)
    times = advise_for(path, options.seconds)
    waited, failures = results.get(timeout=120)
    process.join()
    return times, waited, failures


def measure(options):
    polls = 25 + int(5 * options.seconds / options.poll_interval)
    settings = f"poll_interval: {options.poll_interval}s\nlisten: 127.0.0.1:0\nsocket_mode: '0666'\n"
    with made_daemon(options, polls, settings) as (daemon, path, home):
        port = int(re.search(r"http://127\.0\.0\.1:(\d+)/", (home / "log").read_text())[1])
        result = {"nodes": options.nodes, "jobs": options.running + options.pending, "pages": options.pages}

        def note(phase, times):
            result[f"{phase}_turned_away"] = sum(map(math.isinf, times))
            result[f"{phase}_advise_median_ms"] = 1e3 * percentile(times, 0.5)
            result[f"{phase}_advise_p99_ms"] = 1e3 * percentile(times, 0.99)
            result[f"{phase}_resident_mb"] = resident_mb(daemon.pid, "VmRSS")

        note("alone", advise_for(path, options.seconds))
        times, waited, failures = beside(page, port, options.pages, options, path)
        note("pages", times)
        result.update({"pages_asked": len(waited), "pages_failed": len(failures),
                       "page_view_median_ms": 1e3 * percentile(waited, 0.5), "page_view_p99_ms": 1e3 * percentile(waited, 0.99)})
        if failures:
            print(failures[0], file=sys.stderr)
        times, _, _ = beside(flood, port, options.pages, options, path)
        note("flood", times)
        os.chmod(home, 0o711)
        times, _, _ = beside(flood, path, options.pages, options, path)
        note("neighbour", times)
        result["most_resident_mb"] = resident_mb(daemon.pid, "VmHWM")
        return result


def main():
    parser = argparse.ArgumentParser(description="Whether many open dashboards slow the Unix socket down")
    parser.add_argument("programs")
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--seconds", type=int, default=30, help="of each of the three phases")
    parser.add_argument("--nodes", type=int, default=21)
    parser.add_argument("--running", type=int, default=60)
    parser.add_argument("--pending", type=int, default=60)
    parser.add_argument("--poll-interval", type=float, default=5)
    parser.add_argument("--changes", type=int, default=4, help="ends, starts and submissions from poll to poll")
    show(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
