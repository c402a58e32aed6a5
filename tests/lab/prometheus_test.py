#!/usr/bin/env python3
"""GET /metrics of a live Slurm, scraped by a real Prometheus: its values are those of sinfo and squeue, and every
query of the boards and alert rules gives data.

    prometheus_test.py BIN_DIR [unittest options]
"""
import collections
import contextlib
import http.client
import http.server
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import sys
import threading
import unittest
import urllib.parse

import programs
from end_to_end_dashboard_test import free_port
from lab import wait_until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
from metrics_test import queries, scrape  # noqa: E402

# Accounts that mean harm to a text format; what a scrape makes of the last is valid text.
HOSTILE = ('a"} 1 #', "back\\slash", os.fsdecode(b"\xff\xfe\ngpuadvise_gpus 666"))


class Prometheus:
    """A Prometheus that scrapes one address each second, in a folder of its own."""

    def __init__(self, folder, target):
        folder.mkdir()
        (folder / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(pathlib.Path(__file__).resolve().parents[2] / "config/prometheus/alerts.yaml")],
            "scrape_configs": [{"job_name": "gpuadvise", "static_configs": [{"targets": [target]}]}]}))
        self.port = free_port()
        self.log = folder / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}",
                 f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"], cwd=folder,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=programs._die_with_parent)

    def __enter__(self):
        wait_until(lambda: self.value("up") == 1, f"Prometheus to scrape; its log: {self.log}", 60)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)

    def ask(self, path, **words):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", f"/api/v1/{path}?{urllib.parse.urlencode(words)}")
            answer = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        if answer["status"] != "success":
            raise AssertionError(f"{words}: {answer.get('error')}")
        return answer["data"]

    def series(self, query):
        """[(labels, value)] at this moment."""
        return [(row["metric"], float(row["value"][1])) for row in self.ask("query", query=query)["result"]]

    def value(self, query):
        """The one value; None while there is no answer."""
        with contextlib.suppress(OSError, http.client.HTTPException, json.JSONDecodeError):  # not up yet
            values = [value for _, value in self.series(query)]
            return values[0] if len(values) == 1 else None
        return None

    def by(self, label, query):
        """Label to value, without zeros."""
        return {labels.get(label, ""): value for labels, value in self.series(query) if value}


class GpuExporter(http.server.ThreadingHTTPServer):
    """Two idle GPUs of the node n1 and a busy one, as dcgm-exporter tells of them."""

    TEXT = "".join(f'DCGM_FI_DEV_GPU_UTIL{{Hostname="n1",gpu="{gpu}"}} {use}\n' for gpu, use in enumerate((0, 0, 93)))

    def __init__(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802, the library's name
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                self.wfile.write(GpuExporter.TEXT.encode())

            def log_message(self, *_):
                pass
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class SocketProxy(http.server.ThreadingHTTPServer):
    """What docs/metrics.md has nginx do: GET /metrics of the Unix socket, as root."""

    def __init__(self, path):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802, the library's name
                content_type, text = scrape(path)
                self.send_response(200)
                self.send_header("Content-Type", content_type)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Metrics(programs.SiteTest):
    LAB = {"cluster": "kinds"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        port = free_port()
        cls.site.start(listen=f"127.0.0.1:{port}")
        proxy = SocketProxy(str(cls.site.socket))
        cls.addClassCleanup(proxy.server_close)
        cls.addClassCleanup(proxy.shutdown)
        folder = cls.lab.folder
        cls.public = cls.enterClassContext(Prometheus(folder / "public", f"127.0.0.1:{port}"))
        cls.inside = cls.enterClassContext(Prometheus(folder / "inside", f"127.0.0.1:{proxy.server_port}"))

    def slurm(self, *words):
        return self.lab.run(*words).stdout.splitlines()

    def stand_still(self):
        """One more snapshot and then none for long, and a scrape of it."""
        delivered = self.site.log.read_text().count(" delivers")
        self.site.reload(poll_interval="10m", stale_after="10m")
        self.addCleanup(self.site.reload, poll_interval="300ms", stale_after="2m")
        wait_until(lambda: self.site.log.read_text().count(" delivers") > delivered, "a collector with the new settings")
        for prometheus in (self.public, self.inside):
            scrapes = 'count_over_time(up{job="gpuadvise"}[10m])'
            seen = prometheus.value(scrapes)
            wait_until(lambda p=prometheus, n=seen: p.value(scrapes) >= n + 3, "three more scrapes")

    # ---- right numbers ----------------------------------------------------------------------

    def test_values_are_those_of_sinfo_and_squeue(self):
        self.lab.run("scontrol", "update", "nodename=n3", "state=drain", "reason=test")
        self.addCleanup(self.lab.run, "scontrol", "update", "nodename=n3", "state=resume")
        running = [self.lab.submit("-p", "old", "--gres=gpu:a100:3", "-c", "6", "-A", "physics", "-t", "60"),
                   self.lab.submit("-p", "new", "--gres=gpu:l40s:4", "-A", "bio", "-t", "60", user="lab2"),
                   self.lab.submit("-p", "auto", "--gres=gpu:1", "-A", HOSTILE[0], "-t", "60")]
        for job in running:
            self.lab.wait_for_state(job, "RUNNING")
        array = self.lab.submit("-p", "old", "--gres=gpu:a100:2", "-A", "bio", "-a", "0-4", "-t", "60", user="lab2")
        self.lab.submit("-p", "new", "--gres=gpu:l40s:1", "-A", HOSTILE[1], "-d", f"afterok:{running[0]}", "-t", "60")
        self.lab.submit("-p", "new", "--gres=gpu:l40s:1", "-A", HOSTILE[2], "-H", "-t", "60")
        self.lab.wait_for_reason(array, "Resources", "Priority")
        self.site.wait_for_next_snapshot()
        self.stand_still()
        gpus = [[sum(map(int, re.findall(r"gpu:(?:[^:,(]+:)?(\d+)", text))) for text in line.split()[1:]]
                for line in self.slurm("sinfo", "-a", "-h", "-N", "-O", "Partition:20,Gres:60,GresUsed:90")
                if line.startswith("everything ")]
        queue = [line.split("|") for line in self.slurm("squeue", "-a", "-r", "-h", "-o", "%T|%P")]
        inside = self.inside
        self.assertEqual(inside.value("sum(gpuadvise_gpus)"), sum(total for total, _ in gpus))
        self.assertEqual(inside.value('sum(gpuadvise_gpus{state="used"})'), sum(used for _, used in gpus))
        self.assertEqual(inside.value('sum(gpuadvise_gpus{state="unavailable"})'), 4)
        for state in ("pending", "running"):
            self.assertEqual(inside.by("partition", f'sum by (partition) (gpuadvise_jobs{{state="{state}"}})'),
                             collections.Counter(partition for each, partition in queue if each == state.upper()), state)
        # What is told over TCP is the same, for all but what is hidden: here only a second name of the same nodes.
        for name in ("sum(gpuadvise_gpus)", 'sum(gpuadvise_gpus{state="used"})', 'sum(gpuadvise_jobs{state="pending"})'):
            self.assertEqual(self.public.value(name), inside.value(name), name)
        self.assertNotIn("everything", self.public.by("partition", "gpuadvise_partition_gpus"))
        self.assertEqual(self.public.series("gpuadvise_account_gpus"), [])
        self.assertEqual(inside.by("account", 'gpuadvise_account_gpus{state="running"}'), {"physics": 3, "bio": 4, HOSTILE[0]: 1})
        accounts = inside.by("account", 'gpuadvise_account_gpus{state="pending"}')
        self.assertEqual((accounts["bio"], accounts[HOSTILE[1]]), (10, 1))
        self.assertEqual(len(accounts), 3)
        self.assertEqual(inside.value("sum(gpuadvise_gpus)"), 16, "nothing of a name became a sample")

    def test_forecasts_are_those_of_the_api(self):
        self.lab.wait_for_state(self.lab.submit("-p", "new", "--gres=gpu:l40s:4", "-t", "60"), "RUNNING")
        self.site.wait_for_next_snapshot()
        self.stand_still()
        told = {(w["gpu"], w["gpus"], w["nodes"], w["time_limit"], w["quantile"]): value
                for w, value in self.public.series("gpuadvise_forecast_wait_seconds")}
        api = {(row["gpu"], str(wait["gpus_per_node"] * wait["nodes"]), str(wait["nodes"]),
                f"{wait['time_limit_seconds'] // 3600}h", quantile): wait[field]
               for row in self.site.ask("/v1/waits")[1]["gpus"] for wait in row["waits"] if wait["partition"]
               for quantile, field in (("0.1", "wait_p10_seconds"), ("0.5", "wait_p50_seconds"), ("0.9", "wait_p90_seconds"))}
        self.assertGreater(len(api), 20)
        self.assertEqual(told, api)

    # ---- every query ------------------------------------------------------------------------

    def live(self):
        """Jobs that wait and start, so that every figure there is has been measured."""
        # Slurm's times are whole seconds: a job is forecast as of its submission if that lies between two snapshots.
        self.site.reload(poll_interval="3s")
        self.addCleanup(self.site.reload, poll_interval="300ms")
        job = ["-p", "new", "--gres=gpu:l40s:4", "-A", "bio", "-t", "30"]
        running = self.lab.submit(*job)
        self.lab.wait_for_state(running, "RUNNING")

        def replaced(by_next):
            """Ends the job that runs; the next one starts, which Slurm had an estimate for."""
            wait_until(lambda: self.lab.job(by_next).get("StartTime", "Unknown") not in ("Unknown", "N/A"), "Slurm's estimate", 120)
            self.site.wait_for_next_snapshot()
            self.lab.run("scancel", running)
            self.lab.wait_for_state(by_next, "RUNNING")
            self.site.wait_for_next_snapshot()
            return by_next

        for _ in range(8):
            self.site.wait_for_next_snapshot()
            running = replaced(self.lab.submit(*job))
            accuracy = self.site.ask("/v1/accuracy")[1]["all"]
            if accuracy["covered_jobs"] and accuracy["slurm_jobs"]:
                break
        count = 'sum(gpuadvise_wait_seconds_count{gpu="l40s"})'
        known = {p: wait_until(lambda p=p: p.value(count), "the first waits") for p in (self.public, self.inside)}
        running = replaced(self.lab.submit(*job))
        self.lab.submit(*job)
        self.site.ask("/v1/nosuch")
        for prometheus in (self.public, self.inside):
            wait_until(lambda p=prometheus: p.value(count) > known[p], "a later wait")
            wait_until(lambda p=prometheus: p.value('gpuadvise_forecast_coverage_ratio{gpu="all",quantile="0.9"}') is not None,
                       "a forecast that was scored", 60)
        self.site.ask("/v1/nosuch")
        self.site.wait_for_next_snapshot()

    def test_every_query_gives_data(self):
        self.live()
        asked = [(where, expr.replace("$time_limit", "8h").replace("$__rate_interval", "1m")) for where, expr in queries()]
        empty = {"users": [], "operators": []}
        for where, expr in asked:
            if where.startswith("alerts.yaml"):
                self.inside.series(expr)  # most have nothing to say here
                for name in re.findall(r"\b(gpuadvise_\w+)", expr):
                    self.assertTrue(self.inside.series(name), f"{where}: {name}")
                continue
            board = where.split(".")[0]
            prometheus = self.public if board == "users" else self.inside
            with contextlib.suppress(programs.slurm_lab.LabError):
                wait_until(lambda p=prometheus, e=expr: p.series(e), where, 15)
                continue
            empty[board].append(where)
        self.assertEqual(empty, {"users": [], "operators": []})
        waits = self.public.series('histogram_quantile(0.5, sum by (le, gpu) (increase(gpuadvise_wait_seconds_bucket{gpu="l40s"}[1d])))')
        self.assertGreaterEqual(waits[0][1], 0)
        rules = [rule for group in self.inside.ask("rules")["groups"] for rule in group["rules"]]
        self.assertEqual([(rule["name"], rule.get("lastError")) for rule in rules if rule["health"] != "ok"], [])
        self.assertGreaterEqual(len(rules), 9)

    # ---- GPUs that do nothing ---------------------------------------------------------------

    def test_idle_gpus_come_from_the_sites_prometheus(self):
        exporter = GpuExporter()
        self.addCleanup(exporter.server_close)
        self.addCleanup(exporter.shutdown)
        gpus = self.enterContext(Prometheus(self.lab.folder / "gpus", f"127.0.0.1:{exporter.server_port}"))
        self.addCleanup(self.site.reload, prometheus="")
        query = "count by (Hostname) (DCGM_FI_DEV_GPU_UTIL == 0)"

        def told(place):
            self.site.reload(prometheus=place, idle_gpus_query=query)
            return wait_until(lambda: self.site.ask("/v1/nodes?limit=0")[1]["idle_allocated"], "an answer about idle GPUs")
        self.assertIn("nothing listens", told("http://127.0.0.1:1")["problem"])
        place = f"http://127.0.0.1:{gpus.port}"
        self.site.reload(prometheus=place, idle_gpus_query=query)
        wait_until(lambda: self.site.ask("/v1/nodes?limit=0")[1]["idle_allocated"] == {"nodes": 0, "gpus": 0, "problem": None},
                   "what no job has held for 30 minutes is nobody's")
        records = self.lab.run(str(self.site.bin / "gpuadvise-collect"), "slurm-cli", "--once", "--prometheus", place,
                               "--idle-gpus-query", query).stdout.splitlines()
        nodes = [row for row in map(json.loads, records) if row["record"] == "node"]
        idle = {node["name"]: node.get("gpus_idle", 0) for node in nodes}
        self.assertEqual({name: count for name, count in idle.items() if count}, {"n1": 2})

    # ---- faults -----------------------------------------------------------------------------

    def test_a_slurmctld_that_is_gone_is_a_stale_snapshot_that_fires(self):
        self.site.reload(stale_after="2s")
        self.addCleanup(self.site.reload, stale_after="2m")
        self.lab.kill_slurmctld()
        try:
            wait_until(lambda: self.public.value("gpuadvise_snapshot_stale") == 1, "a stale snapshot", 90)
            wait_until(lambda: self.public.series('ALERTS{alertname="GpuadviseSnapshotStale"}'), "a pending alert", 30)
            self.assertEqual(self.public.value("sum(gpuadvise_gpus)"), 16, "the last snapshot is still told")
        finally:
            self.lab.start_slurmctld()
        wait_until(lambda: self.public.value("gpuadvise_snapshot_stale") == 0, "a fresh one", 90)

    def test_who_asks_the_socket_decides_what_is_told(self):
        self.lab.wait_for_state(self.lab.submit("-p", "old", "-A", "physics", "-t", "60"), "RUNNING")
        self.site.wait_for_next_snapshot()
        def told(user):
            """A scrape by a process of this user."""
            reading, writing = os.pipe()
            child = os.fork()
            if child == 0:
                with os.fdopen(writing, "w") as pipe:
                    os.setgid(pwd.getpwnam(user).pw_gid)
                    os.setuid(pwd.getpwnam(user).pw_uid)
                    pipe.write(scrape(str(self.site.socket))[1])
                os._exit(0)
            os.close(writing)
            with os.fdopen(reading) as pipe:
                text = pipe.read()
            os.waitpid(child, 0)
            return text
        self.assertIn('account="physics"', told("lab2"))
        self.assertNotIn("everything", told("lab2"))
        self.assertIn('partition="everything"', told(programs.DAEMON_USER))


if __name__ == "__main__":
    if not shutil.which("prometheus"):
        print("skipped: prometheus is not installed (packaging/install-packages.sh test)")
        sys.exit(programs.SKIPPED)
    programs.main()
