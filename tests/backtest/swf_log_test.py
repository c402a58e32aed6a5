#!/usr/bin/env python3
"""bench/swf_log.py: what it makes of a log of the Parallel Workloads Archive is what gpuadvise-backtest reads."""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "bench" / "swf_log.py"
BACK_TEST = sys.argv.pop(1)
HEADER = "; Version: 2.2\n; UnixStartTime: 1000000000\n; MaxNodes: 4\n; MaxProcs: 16\n;\n"


def row(job, submit, wait, run, processors, limit=600, status=1, asked=-1):
    return (f"{job} {submit} {wait} {run} {processors} -1 -1 {asked} {limit} -1 {status} 7 3 -1 -1 -1 -1 -1\n")


class SwfLog(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def turn(self, text, *options):
        (self.folder / "log.swf").write_text(text)
        return subprocess.run([sys.executable, "-B", SCRIPT, self.folder / "log.swf", "--out", self.folder / "log.csv",
                               "--cluster", self.folder / "log.yaml", *options], capture_output=True, text=True)

    def rows(self):
        with open(self.folder / "log.csv", newline="") as file:
            return list(csv.DictReader(file))

    def test_a_job_asks_for_what_it_requested_in_whole_nodes(self):
        done = self.turn(HEADER + row(1, 50, 10, 300, 4) + row(2, 60, 0, 20, 4, asked=5, limit=-1))
        self.assertEqual(done.returncode, 0, done.stderr)
        one, two = self.rows()
        self.assertEqual((one["submit"], one["start"], one["end"]), ("1000000050", "1000000060", "1000000360"))
        self.assertEqual((one["nodes"], one["cpus_per_node"], one["limit"], one["user"]), ("1", "4", "600", "u7"))
        self.assertEqual((two["nodes"], two["limit"]), ("2", ""))
        self.assertIn("nodes: 4, cpus_per_node: 4", (self.folder / "log.yaml").read_text())

    def test_what_never_ran_or_does_not_fit_is_counted(self):
        done = self.turn(HEADER + row(1, 0, 0, 10, 4) + row(2, 0, 0, -1, 4) + row(3, 0, 0, 10, 17) + row(4, 0, 0, 10, 0))
        self.assertEqual(len(self.rows()), 1)
        self.assertIn("1 jobs, 3 left out; 4 nodes of 4 processors", done.stdout)

    def test_a_line_of_another_format_is_named(self):
        done = self.turn(HEADER + row(1, 0, 0, 10, 4) + "1 2 3\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("log.swf:7: 3 fields where the Standard Workload Format has 18", done.stderr)

    def test_without_a_header_the_machine_must_be_said(self):
        self.assertIn("--nodes", self.turn(row(1, 0, 0, 10, 4)).stderr)
        done = self.turn(row(1, 0, 0, 10, 4), "--nodes", "2", "--processors-per-node", "4")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_back_test_reads_it(self):
        self.turn(HEADER + "".join(row(k, 100 * k, 50 * (k % 3), 250, 16) for k in range(1, 60)))
        done = subprocess.run([BACK_TEST, "--trace", self.folder / "log.csv", "--cluster", self.folder / "log.yaml", "--json"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("CRPS".lower(), json.dumps(json.loads(done.stdout)).lower())


if __name__ == "__main__":
    unittest.main()
