#!/usr/bin/env python3
"""docs/metrics.md, the boards and the alert rules against a real scrape of a simulated cluster.

    metrics_test.py BIN_DIR
"""
import http.client
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = None


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def scrape(path):
    connection = UnixConnection(path)
    try:
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        return answer.getheader("Content-Type"), answer.read().decode()
    finally:
        connection.close()


def documented():
    """Name: (type, labels), from the tables."""
    rows = {}
    for line in (ROOT / "docs/metrics.md").read_text().splitlines():
        row = re.match(r"\| `(\w+)` \| (\w+) \| [^|]+ \| ([^|]+) \|", line)
        if row:
            rows[row[1]] = (row[2], set(re.findall(r"`(\w+)`", row[3])))
    return rows


def families(text):
    """Name: (type, labels of its series, how many there are), and every sample's name belongs to one."""
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    told = {name: (kind, set(), 0) for name, kind in types.items()}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        name, labels = re.match(r"(\w+)(?:\{(.*)\})? \S+$", line).groups()
        family = name if name in types else re.sub(r"_(bucket|sum|count)$", "", name)
        kind, known, count = told[family]
        own = set(re.findall(r'(\w+)="(?:[^"\\]|\\.)*"', labels or "")) - ({"le"} if kind == "histogram" else set())
        told[family] = (kind, known | own, count + 1)
    return told


def queries():
    """(where, expression) of every panel and rule."""
    for board in sorted((ROOT / "config/grafana").glob("*.json")):
        for panel in json.loads(board.read_text())["panels"]:
            for target in panel["targets"]:
                yield f"{board.name}: {panel['title']}", target["expr"]
    rules = (ROOT / "config/prometheus/alerts.yaml").read_text()
    for name, expr in re.findall(r"- alert: (\w+)\n\s+expr: (?:>-\n)?(.*?)\n\s+(?:for|labels):", rules, re.S):
        yield f"alerts.yaml: {name}", expr


class Scrape(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="gpuadvise-metrics-")))
        cls.socket = str(folder / "socket")
        config = folder / "gpuadvised.yaml"
        config.write_text(f"socket: {cls.socket}\nstate_dir: {folder / 'state'}\nsource: sim\n"
                          "poll_interval: 200ms\nsimulation: {seed: 1, speed: 600}\n")
        cls.daemon = subprocess.Popen([BIN / "gpuadvised", "--config", config], stderr=subprocess.PIPE)
        cls.addClassCleanup(cls.stop)
        deadline = time.monotonic() + 120
        while True:
            try:
                cls.content_type, cls.text = scrape(cls.socket)
            except OSError:
                cls.text = ""
            # Forecasts come a moment after the first scrape; some jobs must have started by then.
            if "gpuadvise_forecast_wait_seconds{" in cls.text and "gpuadvise_wait_seconds_count{" in cls.text:
                break
            if cls.daemon.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"no whole scrape; the last:\n{cls.text[-2000:]}")
            time.sleep(0.1)  # how often to ask, not what is waited for

    @classmethod
    def stop(cls):
        cls.daemon.terminate()
        cls.daemon.communicate()

    def test_the_tables_are_what_a_scrape_has(self):
        told, tables = families(self.text), documented()
        self.assertEqual(sorted(told), sorted(tables))
        for name, (kind, labels) in tables.items():
            self.assertEqual(told[name][0], kind, name)
            if told[name][2]:
                self.assertEqual(told[name][1], labels, name)

    def test_most_families_have_series(self):
        empty = {name for name, (_, _, count) in families(self.text).items() if not count}
        self.assertLessEqual(empty, {"gpuadvise_history_bytes", "gpuadvise_history_jobs", "gpuadvise_slurm_start_error_seconds",
                                     "gpuadvise_forecast_error_seconds", "gpuadvise_forecast_coverage_ratio"})

    def test_its_type_is_that_of_the_text_format(self):
        self.assertEqual(self.content_type, "text/plain; version=0.0.4; charset=utf-8")

    def test_boards_and_rules_ask_only_for_what_there_is(self):
        known = documented()
        asked = list(queries())
        self.assertGreater(len(asked), 30)
        for where, expr in asked:
            for name in re.findall(r"\b(gpuadvise_\w+)", expr):
                self.assertTrue(re.sub(r"_bucket$", "", name) in known, f"{where}: {name}")

    def test_each_board_asks_the_chosen_data_source(self):
        for board in sorted((ROOT / "config/grafana").glob("*.json")):
            text = json.loads(board.read_text())
            self.assertIn("datasource", [v["name"] for v in text["templating"]["list"]])
            for panel in text["panels"]:
                self.assertEqual(panel["datasource"], {"type": "prometheus", "uid": "${datasource}"})
            self.assertEqual(len({panel["id"] for panel in text["panels"]}), len(text["panels"]))

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed (Debian's prometheus)")
    def test_prometheus_takes_scrape_and_rules(self):
        done = subprocess.run(["promtool", "check", "metrics"], input=self.text, text=True, capture_output=True, check=False)
        # Not followed: a forecast's quantiles come without a count or sum.
        advice = [line for line in (done.stdout + done.stderr).splitlines() if 'should not have "quantile" label' not in line]
        self.assertEqual(advice, [])
        for check in (["check", "rules", ROOT / "config/prometheus/alerts.yaml"],
                      ["test", "rules", ROOT / "tests/docs/alerts_test.yaml"]):
            done = subprocess.run(["promtool", *check], text=True, capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed (Debian's prometheus)")
    def test_the_usual_query_counts_gpus_idle_for_all_of_the_time(self):
        """Counted, once: idle of two jobs and without a job. Not: in use, idle for 20 minutes only, known for 10 only, and no longer known."""
        query = re.search(r'^idle_gpus_query: "(.*)"', (ROOT / "config/gpuadvised.yaml").read_text(), re.M)[1]
        values = {'Hostname="a",gpu="0",hpc_job="7"': "0x120", 'Hostname="a",gpu="0",hpc_job="8"': "50x20 0x100", 'Hostname="a",gpu="1"': "0x120", 'Hostname="a",gpu="2"': "0x60 9x60",
                  'Hostname="b",gpu="0"': "50x120", 'Hostname="b",gpu="1"': "50x100 0x20", 'Hostname="b",gpu="2"': "_x110 0x10",
                  'Hostname="b",gpu="3"': "0x110 _x10"}
        series = [{"series": f"DCGM_FI_DEV_GPU_UTIL{{{labels}}}", "values": value} for labels, value in values.items()]
        wanted = {"expr": query, "eval_time": "120m", "exp_samples": [{"labels": '{Hostname="a"}', "value": 2}]}
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            json.dump({"tests": [{"interval": "1m", "input_series": series, "promql_expr_test": [wanted]}]}, file)
            file.flush()
            done = subprocess.run(["promtool", "test", "rules", file.name], text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).absolute()
    unittest.main()
