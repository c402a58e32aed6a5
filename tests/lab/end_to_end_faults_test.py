#!/usr/bin/env python3
"""Slurm, its configuration and the collector break and come back; gpuadvised answers throughout.

    end_to_end_faults_test.py BIN_DIR [unittest options]
"""
import json
import os
import signal
import subprocess

import programs
from lab import wait_until

TRAIN = """\
model: {memory: {base: 5 GB, per_sample: 1.2 GB, overhead: 2 GB}}
training:
  max_steps: 10000
  effective_batch_size: 120
  measured: [{gpu: rtx4090, gpus: 4, batch: 10, seconds_per_step: 3.9}]
resources: {cpus_per_gpu: 2, mem_per_gpu: 4G}
command: sleep 60
"""
RUBBISH = """\
#!/bin/sh
# What a broken or foreign program might print.
printf '{"begin": \\000\\377\\n[1, 2, 3\\n\\n}{\\n'
while :; do echo "no record at all"; sleep 0.2; done
"""
# Opens 300 connections, each with an unfinished request, until its input ends.
HOARD = """\
import socket, sys
held = []
for _ in range(300):
    one = socket.socket(socket.AF_UNIX)
    one.connect(sys.argv[1])
    try:
        one.send(b"POST /v1/advise HTTP/1.1\\r\\n")
    except OSError:
        pass
    held.append(one)
print("open", flush=True)
sys.stdin.read()
"""


class Faults(programs.SiteTest):
    LAB = {"cluster": "tiny"}
    SETTINGS = {"stale_after": "2s"}

    def setUp(self):
        self.train = self.site.write("train.yaml", TRAIN)
        self.addCleanup(self.site.stop)

    def assert_answers_go_on(self, cause=""):
        """Old data is served with its age and its cause, and `--max-age` makes that an exit code."""
        gpus = self.site.json("gpus")
        self.assertEqual({g["gpu"] for g in gpus["gpus"]}, {"rtx4090", "rtx2080ti"})
        self.assertIn(cause, gpus["meta"]["stale_cause"])
        self.assertTrue(gpus["meta"]["stale_cause"])
        wait_until(lambda: self.site.json("gpus")["snapshot_age_seconds"] > 5, "data older than 5 s")
        advised = self.site.json("advise", self.train)
        self.assertGreater(len(advised["strategies"]), 0)
        self.assertGreater(advised["snapshot_age_seconds"], 5)
        old = self.site.run("advise", self.train, "--max-age", "5", check=False)
        self.assertEqual(old.returncode, 5, old)
        self.assertRegex(old.stderr, r"the data is \d+ s old, --max-age allows 5 s: .+")
        self.assertIn("RTX 4090", old.stdout)
        text = self.site.run("advise", self.train).stdout
        self.assertRegex(text, r"\d+ s old")

    def assert_fresh_again(self):
        daemon = self.site.process.pid
        self.site.wait_until_fresh()
        self.site.wait_for_next_snapshot()
        answer = self.site.json("gpus")
        self.assertIsNone(answer["meta"]["stale_cause"])
        self.assertTrue(self.site.alive() and self.site.process.pid == daemon, "no restart was needed")
        self.assertEqual(self.site.run("advise", self.train, "--max-age", "60").returncode, 0)

    def bring_slurmctld_back(self):
        """Starts it, and waits until its nodes have told it that they live."""
        self.lab.start_slurmctld()
        wait_until(lambda: set(self.lab.run("sinfo", "-h", "-N", "-o", "%T").stdout.split()) == {"idle"},
                   "every node to report")

    # ---- slurmctld ---------------------------------------------------------------------------

    def test_slurmctld_dies_and_comes_back(self):
        self.site.start()
        self.lab.kill_slurmctld()
        try:
            wait_until(lambda: self.the_cause_with("slurm"), "the cause to speak of Slurm", 60)
            self.assert_answers_go_on()
            self.assertTrue(self.site.alive())
        finally:
            self.bring_slurmctld_back()
        self.assert_fresh_again()

    def test_slurmctld_hangs_and_goes_on(self):
        self.site.start()
        self.lab.stop_slurmctld()
        try:
            self.site.wait_until_not_fresh()
            self.assert_answers_go_on()
        finally:
            self.lab.continue_slurmctld()
        self.assert_fresh_again()

    def test_slurmctld_may_be_absent_when_the_daemon_starts(self):
        self.lab.kill_slurmctld()
        try:
            self.site.start(fresh=False)
            self.assert_says_there_is_no_data_yet()
        finally:
            self.bring_slurmctld_back()
        self.assert_fresh_again()

    def assert_says_there_is_no_data_yet(self, word="slurm"):
        cause = wait_until(lambda: self.the_cause_with(word), f"a cause that speaks of {word}")
        status, answer = self.site.ask("/healthz")
        self.assertEqual((status, answer["status"]), (503, "starting"))
        done = self.site.run("gpus", check=False)
        self.assertEqual(done.returncode, 4, done)
        self.assertIn(cause.split(":")[0], done.stderr)
        self.assertTrue(self.site.alive())

    def the_cause_with(self, word):
        cause = self.site.health().get("cause") or ""
        return cause if word in cause.lower() and "on its way" not in cause else None

    # ---- slurm.conf --------------------------------------------------------------------------

    def test_slurm_conf_is_missing_at_the_start_and_put_back(self):
        self.lab.hide_slurm_conf()
        try:
            self.site.start(fresh=False)
            self.assert_says_there_is_no_data_yet("slurm.conf")
        finally:
            self.lab.show_slurm_conf()
        self.assert_fresh_again()

    def test_slurm_conf_is_unreadable_at_the_start_and_mended(self):
        self.lab.slurm_conf.chmod(0o600)
        try:
            self.site.start(fresh=False)
            self.assert_says_there_is_no_data_yet("slurm.conf")
        finally:
            self.lab.slurm_conf.chmod(0o644)
        self.assert_fresh_again()

    def test_slurm_conf_vanishes_later_and_is_put_back(self):
        self.site.start(source="slurm-cli")
        self.lab.hide_slurm_conf()
        try:
            wait_until(lambda: self.the_cause_with("slurm.conf"), "the cause to name the file")
            self.assert_answers_go_on("slurm.conf")
        finally:
            self.lab.show_slurm_conf()
            self.site.write_settings(source="auto")
        self.assert_fresh_again()

    def test_libslurm_needs_slurm_conf_only_to_start(self):
        self.site.start(source="slurm-api")
        self.lab.hide_slurm_conf()
        try:
            self.site.wait_for_next_snapshot()  # it remembers what it has read
            os.kill(self.site.collector_pid(), signal.SIGKILL)
            wait_until(lambda: self.the_cause_with("slurm.conf"), "the cause to name the file")
            self.assert_answers_go_on("slurm.conf")
        finally:
            self.lab.show_slurm_conf()
            self.site.write_settings(source="auto")
        self.assert_fresh_again()

    # ---- the collector -----------------------------------------------------------------------

    def test_a_killed_collector_is_started_again(self):
        self.site.start()
        killed = self.site.collector_pid()
        os.kill(killed, signal.SIGKILL)
        self.assertEqual(len(self.site.json("gpus")["gpus"]), 2)
        wait_until(lambda: self.site.collector_pid() not in (0, killed), "another collector")
        self.assert_fresh_again()
        self.assertRegex(self.site.log.read_text(), r"(?i)signal 9|killed")

    def test_a_stopped_collector_is_noticed_and_replaced(self):
        self.site.start()
        stopped = self.site.collector_pid()
        os.kill(stopped, signal.SIGSTOP)
        self.assertIn("nothing new", self.site.wait_until_not_fresh())
        self.assert_answers_go_on("nothing new")
        wait_until(lambda: self.site.collector_pid() not in (0, stopped), "another collector", 60)
        self.assert_fresh_again()
        self.assertFalse(os.path.exists(f"/proc/{stopped}"), "the stopped one is gone")

    def test_a_collector_that_prints_rubbish_is_survived(self):
        rubbish = self.site.bin / "rubbish"
        rubbish.write_text(RUBBISH)
        rubbish.chmod(0o755)
        self.site.start()
        self.site.reload(collector=str(rubbish))
        wait_until(lambda: "invalid record" in self.the_cause(), "the cause to speak of what was printed")
        self.assert_answers_go_on()
        self.site.reload(collector="")
        self.assert_fresh_again()

    def test_a_collector_that_ends_at_once_is_survived(self):
        self.site.start()
        self.site.reload(collector="/bin/false")
        wait_until(lambda: "exit" in self.the_cause() or "ended" in self.the_cause(), "the cause")
        self.assert_answers_go_on()
        self.site.reload(collector="")
        self.assert_fresh_again()

    def the_cause(self):
        return self.site.health().get("cause") or ""

    # ---- the daemon --------------------------------------------------------------------------

    def test_without_a_daemon_the_client_says_how_to_start_it(self):
        for words in [["gpus"], ["advise", self.train], ["submit", self.train, "--yes"],
                      ["when", "--gres", "gpu:1", "-t", "60"]]:
            done = self.site.run(*words, check=False)
            self.assertEqual(done.returncode, 4, done)
            self.assertIn("systemctl start gpuadvised", done.stderr)
        self.assertEqual(self.queue(), [], "and submits nothing")

    def test_a_daemon_that_was_killed_can_be_started_over_its_old_socket(self):
        self.site.start()
        self.site.process.kill()
        self.site.process.wait()
        self.assertEqual(self.site.run("gpus", check=False).returncode, 4)
        self.site.start()
        self.assertEqual(len(self.site.json("gpus")["gpus"]), 2)

    def test_settings_that_are_wrong_leave_the_running_ones(self):
        self.site.start()
        good = self.site.config.read_text()
        self.site.config.write_text(good + "pol_interval: 3s\n")
        self.site.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "pol_interval" in self.site.log.read_text(), "the log to name the key")
        self.site.config.write_text(good)
        self.assert_fresh_again()

    def test_one_users_connections_do_not_keep_others_out(self):
        self.site.start()
        hoard = subprocess.Popen(["/usr/bin/python3", "-c", HOARD, str(self.site.socket)], text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, **programs.as_user("lab1"))
        try:
            self.assertEqual(hoard.stdout.readline(), "open\n")
            done = self.site.run("gpus", check=False, user="lab1")
            self.assertEqual(done.returncode, 4)
            self.assertRegex(" ".join(done.stderr.split()), r"64 connections of yours are open.*max_connections_per_user")
            self.assertGreater(len(self.site.json("advise", self.train, user="lab2")["strategies"]), 0)
        finally:
            hoard.communicate()
        wait_until(lambda: self.site.run("gpus", check=False, user="lab1").returncode == 0, "room again")

    def test_sigterm_ends_daemon_and_collector(self):
        self.site.start()
        collector = self.site.collector_pid()
        process = self.site.process
        self.site.stop()
        self.assertEqual(process.returncode, 0)
        self.assertFalse(os.path.exists(f"/proc/{collector}"))
        self.assertFalse(self.site.socket.exists())


class TwoSources(programs.SiteTest):
    """Both ways of asking Slurm lead to the same answers."""
    LAB = {"cluster": "tiny"}

    def test_libslurm_and_the_command_line_tools_give_equal_answers(self):
        train = self.site.write("train.yaml", TRAIN)
        running = self.lab.submit("--gres=gpu:gpu4090:4", "-t", "60")
        self.lab.wait_for_state(running, "RUNNING")
        answers = {}
        for source in ("slurm-api", "slurm-cli"):
            self.site.start(source=source)
            answers[source] = [self.without_times(self.site.json("gpus")["gpus"]),
                               self.without_times(self.site.json("advise", train)["strategies"])]
            self.assertEqual(self.site.json("gpus")["meta"]["source"], source)
            self.site.stop()
        self.assertEqual(answers["slurm-api"], answers["slurm-cli"])

    @staticmethod
    def without_times(rows):
        """The rows without what moves with the clock."""
        def moves(key):
            return key.startswith(("wait_", "total_")) or key in ("reasons", "advice_id")
        return [json.dumps({k: v for k, v in row.items() if not moves(k)}, sort_keys=True) for row in rows]


if __name__ == "__main__":
    programs.main()
