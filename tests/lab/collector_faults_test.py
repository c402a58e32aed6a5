#!/usr/bin/env python3
"""Slurm breaks under a running collector: it says why, within bounds, and recovers by itself.

    collector_faults_test.py BIN_DIR [unittest options]
"""
import json
import os
import pathlib
import signal
import subprocess

import collecting
from lab import wait_until

SOURCES = ["slurm-api", "slurm-cli"]
FAST = ["--poll-interval", "0.3"]
# Stands before the real tools in --bin-dir.
RUBBISH = "#!/bin/sh\nhead -c 3000 /dev/urandom\n"
ENDLESS = "#!/bin/sh\nexec cat /dev/zero\n"
HANGS = "#!/bin/sh\nexec sleep 1000\n"
FAILS = "#!/bin/sh\necho 'slurm_load_jobs error: Zero Bytes were transmitted' >&2\nexit 1\n"


class Faults(collecting.CollectorTest):
    LAB = {"cluster": "tiny"}

    def for_each_source(self, test):
        for source in SOURCES:
            with self.subTest(source):
                test(source)

    def tools(self, script):
        """A folder with a scontrol that does something else."""
        folder = self.lab.folder / f"tools-{self.id().rsplit('.', 1)[1]}"
        folder.mkdir()
        (folder / "scontrol").write_text(script)
        (folder / "scontrol").chmod(0o755)
        return folder

    def test_only_what_changed_is_printed_again(self):
        def check(source):
            collector = self.collector(source, *FAST)
            begin = collector.next_batch()[0]
            self.assertEqual(len(begin["tables"]), 7)
            job = self.lab.submit("-H")
            while "jobs" not in begin["tables"] or "nodes" in begin["tables"]:
                records = collector.next_batch()
                begin = records[0]
            self.assertEqual([r["id"] for r in records if r["record"] == "job"], [job])
            self.lab.cancel_all()
        self.for_each_source(check)

    def test_a_killed_slurmctld_is_an_error_and_its_return_a_batch(self):
        def check(source):
            collector = self.collector(source, *FAST)
            collector.next_batch()
            self.lab.kill_slurmctld()
            self.assertRegex(collector.next_error(40), "(?i)slurm.*(contact|connect)")
            self.lab.start_slurmctld()
            collector.next_batch(40)
            self.assertIsNone(collector.process.poll())  # the same process all the time
        self.for_each_source(check)

    def test_a_stopped_slurmctld_is_an_error_within_bounds(self):
        def check(source):
            collector = self.collector(source, *FAST)
            collector.next_batch()
            self.lab.stop_slurmctld()
            self.addCleanup(self.lab.continue_slurmctld)
            self.assertTrue(collector.next_error(30))
            self.lab.continue_slurmctld()
            collector.next_batch(60)
        self.for_each_source(check)

    def test_an_unreadable_slurm_conf_is_said_at_once(self):
        def check(source):
            done = self.once(source, check=False, env={"SLURM_CONF": "/no/such/slurm.conf"})
            self.assertEqual(done.returncode, 1)
            self.assertIn("/no/such/slurm.conf cannot be read: No such file", done.stderr)
        self.for_each_source(check)

    def test_slurm_conf_may_be_named_on_the_command_line(self):
        self.once("slurm-cli", "--slurm-conf", self.lab.slurm_conf, env={"SLURM_CONF": "/no/such/slurm.conf"})

    def test_any_user_may_collect(self):
        for name in ("gpuadvise-collect", "gpuadvise-collect-api"):  # where every user may run them
            copy = self.lab.folder / name
            copy.write_bytes(self.program.with_name(name).read_bytes())
            copy.chmod(0o755)
        program = self.lab.folder / "gpuadvise-collect"
        for source in SOURCES:
            with self.subTest(source):
                done = self.lab.run(program, source, "--once", user="lab6")
                self.assertEqual(json.loads(done.stdout.splitlines()[-1])["counts"]["nodes"], 3)

    def test_a_host_that_lost_libslurm_still_has_its_tools(self):
        linked = subprocess.run(["ldd", self.program.with_name("gpuadvise-collect-api")], check=True,
                                capture_output=True, text=True).stdout
        library = next(line.split()[2] for line in linked.splitlines() if "libslurm" in line)

        def without(source):  # the tools have a library of their own
            hidden = f'mount --bind /dev/null "$(readlink -f {library})" && exec "$0" {source} --once'
            return self.lab.run("unshare", "-m", "sh", "-c", hidden, self.program, check=False)
        said = without("slurm-api")
        self.assertEqual((said.returncode, said.stdout), (1, ""))
        self.assertRegex(said.stderr, r"libslurm\.so\S* cannot be loaded on this host, .*; install the libslurm")
        self.assertEqual(json.loads(without("slurm-cli").stdout.splitlines()[-1])["counts"]["nodes"], 3)

    def test_rubbish_from_a_tool_is_no_cluster(self):
        done = self.once("slurm-cli", "--bin-dir", self.tools(RUBBISH), check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("scontrol", done.stderr)

    def test_what_a_failing_tool_says_is_passed_on(self):
        collector = self.collector("slurm-cli", *FAST, "--bin-dir", self.tools(FAILS))
        self.assertIn("Zero Bytes were transmitted", collector.next_error())

    def test_a_tool_that_prints_without_end_is_ended(self):
        done = self.once("slurm-cli", "--bin-dir", self.tools(ENDLESS), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "printed more than|did not answer")

    def test_a_tool_that_hangs_is_reported_and_dies_with_the_collector(self):
        collector = self.collector("slurm-cli", *FAST, "--bin-dir", self.tools(HANGS))
        self.assertRegex(collector.next_error(30), "no answer for 1[0-9] s")
        child, = self.children(collector.process.pid)
        collector.process.send_signal(signal.SIGTERM)
        self.assertEqual(collector.process.wait(10), 0)
        wait_until(lambda: not os.path.exists(f"/proc/{child}") or self.is_zombie(child), "the tool to end")

    def test_it_ends_when_nobody_reads_or_feeds_it_any_more(self):
        for pipe in ["stdin", "stdout"]:
            with self.subTest(pipe):
                collector = self.collector("slurm-api", *FAST)
                collector.next_batch()
                getattr(collector.process, pipe).close()
                self.assertEqual(collector.process.wait(20), 0)
                if pipe == "stdout":
                    collector.process.stdout = None
                else:
                    collector.process.stdin = None

    def children(self, pid):
        return wait_until(lambda: [int(c) for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children")
                                   for c in task.read_text().split()], "the tool to run")

    @staticmethod
    def is_zombie(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
        except OSError:
            return True


if __name__ == "__main__":
    collecting.main()
