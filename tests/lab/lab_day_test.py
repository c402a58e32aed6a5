#!/usr/bin/env python3
"""bench/lab_day.py: the fast clock, the log that a day leaves, and a quarter of an hour of a real day.

    lab_day_test.py [BIN_DIR] [unittest options]
"""
import csv
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import types
import unittest

import lab as slurm_lab

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import lab_day  # noqa: E402
import lab_workload  # noqa: E402

SKIPPED = 77
HEADER = "t_s,user,gres,nodes,limit_min,runtime_s,probe\n"
NOON = 1795262400  # 2026-11-21T12:00:00 UTC


def completed(job, submit, start, end, state="COMPLETED"):
    return (f"JobId={job} UserId=u01(1001) Name=wrap JobState={state} Partition=markov_gpu TimeLimit=60 "
            f"StartTime={start} EndTime={end} NodeList=classt25 NodeCnt=1 ProcCnt=1 SubmitTime={submit}\n")


class HandClock:
    """A clock that stands still unless someone sleeps."""

    def __init__(self):
        self.time = NOON

    def now(self):
        return self.time

    def sleep_until(self, moment):
        self.time = max(self.time, moment)


class ListLab:
    """Notes who submits what when, takes 2 s for it, and answers as Slurm does."""

    def __init__(self, clock, folder):
        self.clock, self.folder, self.calls, self.ids = clock, pathlib.Path(folder), [], 0
        self.release = (22, 5)

    def run(self, *argv, check=True):
        self.calls.append((self.clock.now(), argv))
        said = types.SimpleNamespace(stdout="", stderr="", returncode=0)
        if "--test-only" in argv:
            self.ids += 1
            said.stderr = "sbatch: Job 1 to start at 2026-11-21T13:00:00 using 1 processors on nodes classt25\n"
        if argv[0] == "srun":
            said.stderr = "srun: Job 2 to start at 2026-11-21T14:00:00 a using 1 processors on nodes classt25 in partition p\n"
        if "%Q" in argv:
            said.stdout = "12345\n"
        return said

    def submit(self, *options, user, command):
        self.calls.append((self.clock.now(), ("submit", *options, user, command)))
        self.clock.time += 2
        if "--gres=gpu:none:1" in options:
            raise slurm_lab.LabError("sbatch: invalid gres")
        self.ids += 1
        return self.ids


def row(t_s, user="u01", gres="gpu4090:2", probe="0"):
    return {"t_s": str(t_s), "user": user, "gres": gres, "nodes": "1", "limit_min": "60", "runtime_s": "600",
            "probe": probe}


class AdvisingSite:
    """A daemon that always advises half an hour."""

    @staticmethod
    def answer(_, options):
        assert options[-1] == "--limits"
        point = {"options": "-t 00:30:00", "sooner_p10_seconds": 600, "sooner_seconds": 1200, "sooner_p90_seconds": 3600, "risk": 0.01}
        return {"start_p10": NOON, "start_p50": NOON + 5, "start_p90": NOON + 9, "limits": [{**point, "options": "-t 01:00:00"}, point],
                "limit_advice": {"time_limit_seconds": 1800, "options": "-t 00:30:00", "words": "-t 00:30:00 is enough"}}


class Pairs(unittest.TestCase):
    """bench/limit_pairs.py on made logs."""

    def write(self, name, *rows):
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / name
        lab_day.write_log(path, rows, forecasts=True, limits=True)
        return path

    def test_gains_are_differences_of_waits_and_a_cut_job_runs_again(self):
        plain = {"submit": 0, "start": 4000, "end": 5000, "state": "COMPLETED"}
        said = {"sooner_p10": 1800, "sooner_p50": 3600, "sooner_p90": 3900, "risk": 0.04, "advised_limit": 1800}
        asked = self.write("asked.csv", *({**plain, "row": k} for k in range(4)))
        followed = self.write(
            "followed.csv", {**plain, **said, "row": 0, "start": 300, "end": 1300}, {**plain, **said, "row": 1, "start": 2200},
            {**plain, **said, "row": 2, "start": 0, "end": 1800, "state": "TIMEOUT"}, {**plain, "row": 3, "start": 4600, "end": 5600})
        done = subprocess.run([sys.executable, "-B", lab_day.LAB.parent.parent / "bench" / "limit_pairs.py", asked, followed], text=True,
                              capture_output=True, check=True)
        self.assertEqual(done.stdout.splitlines(), [
            "3 advised: kept 0.67, in range 1.00, at least 3/4 of it 0.67", "promised 3 h, gained 3 h",
            "cut off 1, expected 0.1, at most 1 in 95 %", "median wait of the advised 4000 -> 300 s",
            "4 jobs on both days: mean time to result 5000 -> 4675 s (-6.5 %)",
            "mean wait of the 1 others 4000 -> 4600 s; of the 1 that waited, 1.00 waited the same within 25 % or 5 min"])


class TheDay(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.clock = HandClock()
        self.lab = ListLab(self.clock, self.folder)

    def day(self, *rows, multifactor=False, completions=""):
        day = lab_day.Day(self.lab, self.clock, rows, multifactor)
        day.run()
        (pathlib.Path(self.folder) / "jobcomp.txt").write_text(completions)
        return day

    def submissions(self):
        return [(when - NOON, what) for when, what in self.lab.calls if what[0] == "submit"]

    def test_jobs_are_submitted_when_they_are_due(self):
        day = self.day(row(0), row(100, user="u02"))
        (first, _), (second, what) = self.submissions()
        self.assertEqual((first, second), (60, 160))
        self.assertEqual(what, ("submit", "--gres=gpu:gpu4090:2", "--nodes=1", "--time=60", "u02", "sleep 600"))
        self.assertEqual(day.lags, [2, 2])

    def test_a_late_submission_is_made_at_once_and_counted(self):
        day = self.day(row(0), row(1), row(2))
        self.assertEqual([when for when, _ in self.submissions()], [60, 62, 64])
        self.assertEqual(day.lags, [2, 3, 4])

    def test_slurm_is_asked_right_before_a_probed_job_and_only_then(self):
        day = self.day(row(0), row(10, probe="1"))
        asked = [k for k, (_, what) in enumerate(self.lab.calls) if "--test-only" in what]
        self.assertEqual(len(asked), 1)
        self.assertEqual(self.lab.calls[asked[0] + 1][1][0], "submit")
        self.assertEqual([line["test_only"] for line in day.rows.values()], ["", NOON + 3600])

    def test_a_slurm_that_tells_of_a_waiting_job_is_asked_right_after_a_probed_one(self):
        self.lab.release = (26, 5)
        day = self.day(row(0), row(10, probe="1"))
        asked = [k for k, (_, what) in enumerate(self.lab.calls) if what[0] == "srun"]
        self.assertEqual([self.lab.calls[k][1] for k in asked], [("srun", "--test-only", "--jobid=3")])
        self.assertEqual(self.lab.calls[asked[0] - 1][1][0], "submit")
        self.assertEqual([line["test_only_job"] for line in day.rows.values()], ["", NOON + 7200])

    def test_an_older_slurm_is_not(self):
        self.day(row(10, probe="1"))
        self.assertEqual([what for _, what in self.lab.calls if what[0] == "srun"], [])

    def test_a_job_that_slurm_refuses_does_not_end_the_day(self):
        day = self.day(row(0, gres="none:1"), row(10))
        self.assertEqual(day.refused, ["sbatch: invalid gres"])
        self.assertEqual(list(day.rows), [1])

    def test_the_log_has_slurms_times_and_the_workloads_shape(self):
        day = self.day(row(0), completions=completed(
            1, "2026-11-21T12:01:00", "2026-11-21T12:31:00", "2026-11-21T12:41:00"))
        (line,) = day.log()
        self.assertEqual(line, {
            "job_id": 1, "submit": NOON + 60, "start": NOON + 1860, "end": NOON + 2460, "limit": 3600, "nodes": "1",
            "cpus_per_node": 1, "gpus_per_node": "2", "gpu": "gpu4090", "user": "u01", "partition": "markov_gpu",
            "state": "COMPLETED", "nodelist": "classt25", "test_only": "", "test_only_job": ""})

    def test_jobs_that_never_ran_and_jobs_of_others_are_not_in_the_log(self):
        day = self.day(row(0), completions=completed(1, "2026-11-21T12:01:00", "Unknown", "Unknown", "CANCELLED")
                       + completed(77, "2026-11-21T12:01:00", "2026-11-21T12:01:00", "2026-11-21T12:01:00"))
        self.assertEqual(day.log(), [])

    def test_advised_limits_are_logged_and_taken_only_where_they_are_followed(self):
        for limits, options in [("ask", ()), ("follow", ("-t", "00:30:00"))]:
            self.lab.calls.clear()
            day = lab_day.Day(self.lab, self.clock, [row(10, probe="1")], False, AdvisingSite(), limits)
            day.run()
            (_, what), = self.submissions()
            self.assertEqual(what[4:-2], options, limits)
            (line,) = day.rows.values()
            self.assertEqual([line[name] for name in lab_day.LIMIT_COLUMNS], [0, 600, 1200, 3600, 0.01, 1800, "-t 00:30:00 is enough"])
            self.assertEqual((line["test_only"], line["when_p50"]), ("", NOON + 5))

    def test_with_multifactor_the_users_account_qos_and_priority_are_logged(self):
        day = self.day(row(0, user="u05"), row(9, user="u04"), multifactor=True)
        self.assertIn("--account=a2", self.submissions()[0][1])
        self.assertIn("--qos=high", self.submissions()[0][1])
        self.assertEqual([[line[k] for k in ("account", "qos", "group_gpu_limit", "priority")]
                          for line in day.rows.values()], [["a2", "high", "", "12345"], ["a1", "normal", 8, "12345"]])


class Files(unittest.TestCase):
    def setUp(self):
        self.path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "file.csv"

    def test_a_workload_is_put_in_order_of_time(self):
        self.path.write_text(HEADER + "10,u01,gpu4090:1,1,10,5,0\n9,u02,gpu4090:1,1,10,5,0\n")
        self.assertEqual([r["user"] for r in lab_day.read_workload(self.path)], ["u02", "u01"])

    def test_a_workload_without_a_column_is_refused_with_its_name(self):
        self.path.write_text("t_s,user,gres,nodes,limit_min,probe\n")
        with self.assertRaisesRegex(slurm_lab.LabError, "file.csv: no column runtime_s"):
            lab_day.read_workload(self.path)

    def test_a_user_who_has_no_account_is_refused(self):
        self.path.write_text(HEADER + "0,root,gpu4090:1,1,10,5,0\n")
        with self.assertRaisesRegex(slurm_lab.LabError, "user root is none of u00 .. u17"):
            lab_day.read_workload(self.path)

    def test_columns_without_a_value_stay_empty(self):
        lab_day.write_log(self.path, [{"job_id": 5, "user": "u01"}], multifactor=True)
        header, line = self.path.read_text().splitlines()
        self.assertEqual(header, ",".join(lab_day.COLUMNS + lab_day.MULTIFACTOR_COLUMNS))
        self.assertEqual(line, "5" + "," * 9 + "u01" + "," * 9)

    def test_the_summary_counts_the_waits_and_errors_of_those_that_waited(self):
        rows = [{"submit": 0, "start": 5, "test_only": 0, "test_only_job": ""},
                {"submit": 0, "start": 1000, "test_only": 4000, "test_only_job": ""},
                {"submit": 0, "start": 2000, "test_only": "", "test_only_job": ""}]
        self.assertEqual(lab_day.summary(rows, [1, 2, 9]), (
            "3 jobs, 2 waited over 10 min, 2 asked; lag of submissions median 2.0 s, worst 9.0 s; median error of "
            "the 1 asked that waited: --test-only 3000 s, zero 1000 s"))
        rows[1]["test_only_job"] = 1200
        self.assertTrue(lab_day.summary(rows, [1]).endswith(
            "; of 1 asked again once they waited: --test-only --jobid 200 s, --test-only 3000 s"))


class Workloads(unittest.TestCase):
    def test_a_seed_is_always_the_same_day_and_asks_for_the_share_that_was_said(self):
        rows = lab_workload.workload(seed=31, hours=8, load=1.0)
        self.assertEqual(rows, lab_workload.workload(seed=31, hours=8, load=1.0))
        self.assertNotEqual(rows, lab_workload.workload(seed=32, hours=8, load=1.0))
        self.assertEqual(rows, sorted(rows))
        for kind, (nodes, gpus) in lab_workload.POOLS.items():
            asked = sum(int(gres.split(":")[1]) * run for _, _, gres, _, _, run, _ in rows if gres.split(":")[0] == kind)
            self.assertGreaterEqual(asked, nodes * gpus * 8 * 3600, kind)
        self.assertTrue(all(run <= 60 * limit for *_, limit, run, _ in rows))


@unittest.skipUnless(shutil.which("faketime"), "faketime is not installed")
class Clock(unittest.TestCase):
    def setUp(self):
        self.clock = lab_day.FastClock(1000)
        self.env = dict(os.environ, **self.clock.env)

    def date(self):
        return float(subprocess.run(["date", "+%s.%N"], env=self.env, check=True, capture_output=True).stdout)

    def test_all_processes_share_it(self):
        self.addCleanup(self.clock.end)
        first = self.date()
        begin = time.monotonic()
        subprocess.run(["true"], check=True)
        passed = time.monotonic() - begin
        self.assertGreaterEqual(self.date() - first, 1000 * passed)

    def test_its_end_leaves_no_shared_memory(self):
        left = [path for name in self.clock.env["FAKETIME_SHARED"].split()
                for path in (f"/dev/shm{name}", f"/dev/shm/sem.{name[1:]}")]
        self.assertEqual(sum(map(os.path.exists, left)), 2)
        self.clock.end()
        self.assertEqual(sum(map(os.path.exists, left)), 0)


@unittest.skipUnless(shutil.which("faketime"), "faketime is not installed")
class ARealDay(unittest.TestCase):
    def test_two_jobs_for_one_node_run_one_after_the_other(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "w.csv").write_text(HEADER + "0,u01,gpu4090:4,1,60,300,1\n5,u02,gpu4090:4,1,60,300,1\n")
        done = subprocess.run([sys.executable, "-B", BENCH / "lab_day.py", "--workload", folder / "w.csv",
                               "--out", folder / "day.csv"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 jobs", done.stdout)
        with open(folder / "day.csv", newline="") as file:
            first, second = [{k: int(v) if v.isdigit() else v for k, v in line.items()} for line in csv.DictReader(file)]
        self.assertGreaterEqual(first["end"] - first["start"], 299)
        self.assertGreaterEqual(second["start"], first["end"])
        self.assertEqual((first["state"], second["state"]), ("COMPLETED", "COMPLETED"))
        self.assertLess(first["test_only"], first["start"] + 3600)  # the node was free
        self.assertGreaterEqual(second["test_only"], first["start"] + 3600)  # Slurm plans with limits

    def test_a_workload_that_cannot_be_read_is_a_sentence(self):
        done = subprocess.run([sys.executable, "-B", BENCH / "lab_day.py", "--workload", "missing.csv", "--out", "x"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^lab_day.py: .*missing.csv.*\n$")


def main():
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and pathlib.Path(sys.argv[1]).is_dir():
        sys.argv.pop(1)  # the programs are not needed here
    reason = slurm_lab.why_not()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
