#!/usr/bin/env python3
"""Plain sbatch with integrations/plugins/cli_filter.lua: real Slurm, real gpuadvised, jobs of several users.

    cli_filter_test.py BIN_DIR [unittest options]
"""
import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import unittest

import lab_root
import programs
from lab import path_of, wait_until

PLUGIN = pathlib.Path(__file__).resolve().parents[2] / "integrations" / "plugins" / "cli_filter.lua"
AUTO = "--comment=gpuadvise:auto"
ETC_SLURM = pathlib.Path("/etc/slurm")
LOOKS_BESIDE_SLURM_CONF = (21, 8)
JOB = "#!/bin/sh\n{}sleep 3600\n"

# A site's own filter that calls ours; `notes` shows that its other hooks still run.
SITES_OWN = """\
local gpuadvise = dofile("{plugin}")
gpuadvise.settings.client = "{client}"
gpuadvise.settings.socket = "{socket}"
gpuadvise.settings.seconds = {seconds}
gpuadvise.settings.default_for = {{ auto = true }}

function slurm_cli_pre_submit(options, offset)
  if options["job-name"] == "log" then slurm.log_info("the site's own filter") end
  return gpuadvise.pre_submit(options, offset)
end

function slurm_cli_post_submit(offset, job, step)
  slurm.log_info("the site saw job %d", job)
  return gpuadvise.post_submit(offset, job, step)
end
"""


class CliFilter(programs.SiteTest):
    """Partition old (default): n1 with A100, partition new: n2 with L40S and n3 with the same A100,
    partition auto: n4, whose GPUs have no type. Of features only n3's and n2's tell kinds apart."""
    LAB = {"cluster": "kinds", "conf": {"CliFilterPlugins": "cli_filter/lua"}}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plugin = cls.lab.folder / "gpuadvise.lua"
        cls.plugin.write_text(PLUGIN.read_text())
        cls.plugin.chmod(0o644)
        cls.conf = cls.lab.folder / "cli_filter.lua"
        if lab_root.release_of(path_of(cls.lab.root)) < LOOKS_BESIDE_SLURM_CONF:
            if not os.path.ismount(ETC_SLURM):
                raise unittest.SkipTest(f"this Slurm looks for cli_filter.lua in {ETC_SLURM} alone; releases/run.py gives it one")
            cls.conf = ETC_SLURM / "cli_filter.lua"
        cls.use()
        cls.site.start()

    @classmethod
    def use(cls, text=None, **changes):
        """Installs the site's filter; with `text` another one; `changes`: of its settings."""
        values = {"plugin": cls.plugin, "client": cls.site.bin / "gpuadvise", "socket": cls.site.socket, "seconds": 20, **changes}
        cls.conf.write_text((text or SITES_OWN).format(**values))
        cls.conf.chmod(0o644)

    def tearDown(self):
        self.use()
        super().tearDown()

    def sbatch(self, *options, user="lab1", lines="", check=True):
        """A plain sbatch as `user`: (job's dict, what was said on stderr)."""
        done = self.lab.run("sbatch", "--parsable", "--chdir=/tmp", "--output=/dev/null", "--mem=100", *options,
                            user=user, check=check, stdin=JOB.format(lines))
        if done.returncode != 0:
            return None, done.stderr
        self.lab.newest_job = int(done.stdout.split(";")[0])
        return self.lab.job(self.lab.newest_job), done.stderr

    def said(self, stderr):
        """The lines of the plugin."""
        return [line for line in stderr.splitlines() if "gpuadvise: " in line]

    def busy(self, *nodes, minutes=60):
        """Takes all GPUs of nodes, without the plugin, and waits until the daemon has seen it."""
        for node in nodes:
            self.sbatch("-p", "everything", "--gres=gpu:4", "-w", node, "-t", minutes, user="lab4")
            self.lab.wait_for_state(self.lab.newest_job, "RUNNING")
        self.site.wait_for_next_snapshot()

    def assert_unchanged(self, job, stderr, *words):
        """As the user wrote `--gres=gpu:2`, with one line that says why."""
        self.assertEqual((job["Partition"], job["TresPerNode"]), ("old", "gres:gpu:2"))
        self.assertEqual(len(self.said(stderr)), 1, stderr)
        self.assertIn("gpuadvise: job unchanged: ", stderr)
        for word in words:
            self.assertIn(word, stderr)

    # ---- what is chosen ---------------------------------------------------------------------

    def test_a_job_gets_the_gpus_that_are_free_and_starts_there(self):
        self.busy("n1", "n3")
        answer = self.site.json("select", "--gres=gpu:2", "-t", "60", "--mem=100", user="lab2")
        job, said = self.sbatch(AUTO, "--gres=gpu:2", "-t", "60", user="lab2")
        self.assertEqual((answer["job"]["partition"], answer["job"]["gres"]), ("new", "gpu:l40s:2"))
        self.assertEqual((job["Partition"], job["TresPerNode"]), ("new", "gres:gpu:l40s:2"))
        self.assertRegex(said, r"gpuadvise: L40S in new, start now")
        self.assertEqual(self.lab.wait_for_state(job["JobId"], "RUNNING")["NodeList"], "n2")

    def test_the_line_in_the_script_does_the_same(self):
        self.busy("n1", "n3")
        job, _ = self.sbatch(lines="#SBATCH --comment='my run, gpuadvise:auto'\n#SBATCH --gres=gpu:2 -t 60\n", user="lab3")
        self.assertEqual((job["Partition"], job["TresPerNode"]), ("new", "gres:gpu:l40s:2"))

    def test_users_one_after_the_other_are_each_sent_where_it_starts(self):
        nodes = []
        for user in ("lab1", "lab2", "lab3"):
            job, said = self.sbatch(AUTO, "--gres=gpu:4", "-t", "60", user=user)
            nodes.append(self.lab.wait_for_state(job["JobId"], "RUNNING")["NodeList"])
            self.assertEqual(len(self.said(said)), 1, said)
            self.site.wait_for_next_snapshot()
        self.assertEqual(sorted(nodes), ["n1", "n2", "n3"])

    def test_a_loop_of_sbatch_with_pauses_is_spread_long_before_the_next_poll_is_due(self):
        self.site.restart(poll_interval="1h")
        nodes = []
        try:
            for _ in range(3):
                job = self.sbatch(AUTO, "--gres=gpu:4", "-t", "60", user="lab2")[0]["JobId"]
                nodes.append(self.lab.wait_for_state(job, "RUNNING")["NodeList"])
                wait_until(lambda: self.site.ask(f"/v1/jobs/{job}")[0] == 200, "the job in the daemon's queue", 30)
        finally:
            self.site.restart(poll_interval="300ms")
        self.assertEqual(sorted(nodes), ["n1", "n2", "n3"])

    def test_one_kind_in_two_partitions_is_one_job_for_both(self):
        self.busy("n2")
        job, said = self.sbatch(AUTO, "--gpus-per-node=2", "-t", "60")
        self.assertRegex(said, " in (new,old|old,new), start now")
        self.assertLessEqual(set(job["Partition"].split(",")), {"new", "old"}, "a job that has started names one")
        self.assertEqual(job["TresPerNode"], "gres:gpu:a100:2")
        self.assertIn(self.lab.wait_for_state(job["JobId"], "RUNNING")["NodeList"], ("n1", "n3"))

    def test_two_kinds_that_tie_are_one_job_and_it_takes_what_is_free_first(self):
        self.busy("n1", "n2", "n3")
        job, said = self.sbatch(AUTO, "--gres=gpu:4", "-t", "60", user="lab2")
        self.assertEqual(set(job["Partition"].split(",")), {"new", "old"})
        self.assertEqual(job["TresPerNode"], "gres:gpu:4")
        self.assertIn(" or ", said)
        holder = self.lab.run("squeue", "-h", "-w", "n2", "-o", "%A").stdout.split()[0]
        self.lab.run("scancel", holder)
        self.assertEqual(self.lab.wait_for_state(job["JobId"], "RUNNING")["NodeList"], "n2")

    def test_least_gpu_memory_is_kept(self):
        self.busy("n1", "n3")
        job, _ = self.sbatch("--comment=gpuadvise:auto:44G", "--gres=gpu:2", "-t", "60")
        self.assertEqual(job["TresPerNode"], "gres:gpu:l40s:2")
        job, said = self.sbatch("--comment=gpuadvise:auto:400G", "--gres=gpu:2", "-t", "60")
        self.assert_unchanged(job, said, "A100 40GB SXM in old: it has 40 GiB of memory")

    def test_a_site_leaves_partitions_out(self):
        self.busy("n1", "n3")
        self.use(SITES_OWN + 'gpuadvise.settings.avoid = "debug,new"\n')
        job, _ = self.sbatch(AUTO, "--gres=gpu:2", "-t", "60", user="lab2")
        self.assertEqual((job["Partition"], job["TresPerNode"]), ("old", "gres:gpu:a100:2"))

    def test_a_site_makes_it_the_default_of_a_partition(self):
        job, said = self.sbatch("-p", "auto", "--gres=gpu:2", "-t", "60")
        self.assertEqual((job["Partition"], job["Features"]), ("auto", "(null)"))
        self.assertEqual(self.said(said), [], "nothing to choose is no news where nobody asked")
        job, said = self.sbatch("-p", "auto", "--gres=gpu:2", "--comment=gpuadvise:off")
        self.assertEqual(self.said(said), [])

    # ---- what stays as it is ----------------------------------------------------------------

    def test_without_the_word_nothing_changes(self):
        self.busy("n1", "n3")
        for comment in ("", "--comment=gpuadvise", "--comment=gpuadvise:automatic", "--comment=nogpuadvise:auto"):
            job, said = self.sbatch(*filter(None, [comment]), "--gres=gpu:2", "-t", "60")
            self.assertEqual((job["Partition"], job["TresPerNode"]), ("old", "gres:gpu:2"))
            self.assertEqual(self.said(said), [])

    def test_what_the_user_fixed_stays(self):
        self.busy("n1", "n3")
        job, _ = self.sbatch(AUTO, "--gres=gpu:2", "-t", "60", "-p", "old")
        self.assertEqual((job["Partition"], job["TresPerNode"]), ("old", "gres:gpu:a100:2"))
        job, _ = self.sbatch(AUTO, "--gres=gpu:a100:2", "-t", "60")
        self.assertEqual(job["TresPerNode"], "gres:gpu:a100:2")
        self.assertEqual(set(job["Partition"].split(",")), {"new", "old"})
        job, _ = self.sbatch(AUTO, "--gres=gpu:2", "-t", "60", "-C", "ampere")
        self.assertEqual((job["TresPerNode"], job["Features"]), ("gres:gpu:a100:2", "ampere"))
        job, said = self.sbatch(AUTO, "--gres=gpu:a100:2", "-t", "60", "-p", "old")
        self.assertEqual((job["Partition"], job["TresPerNode"]), ("old", "gres:gpu:a100:2"))
        self.assertIn("job unchanged: partition and GPU type are given", said)
        job, _ = self.sbatch(AUTO, "--gres=gpu:2", "-t", "7", "--job-name=mine")
        self.assertEqual((job["TimeLimit"], job["JobName"], job["Comment"]), ("00:07:00", "mine", "gpuadvise:auto"))

    def test_variables_of_sbatch_fix_as_flags_do(self):
        self.busy("n1", "n3")
        done = self.lab.run("sbatch", "--parsable", "-o", "/dev/null", "--mem=100", AUTO, "--gres=gpu:2", "-t", "60",
                            user="lab1", stdin=JOB.format(""), env={"SBATCH_PARTITION": "old"})
        self.assertEqual(self.lab.job(int(done.stdout))["Partition"], "old")

    def test_jobs_without_gpus_and_for_other_users_are_left_alone(self):
        job, said = self.sbatch(AUTO, "-t", "60")
        self.assertEqual(job["Partition"], "old")
        self.assertIn("job unchanged: it asks for no GPU", said)
        done = self.lab.run("sbatch", "--parsable", "--uid=lab2", "-o", "/dev/null", AUTO, "--gres=gpu:2", "--mem=100",
                            stdin=JOB.format(""))
        self.assert_unchanged(self.lab.job(int(done.stdout)), done.stderr, "--uid")

    def test_options_that_the_forecast_does_not_see_leave_the_job_alone(self):
        for option in ("--mincpus=2", "--contiguous", "--ntasks-per-gpu=1", "--array=1-3",
                       "--dependency=singleton", "--switches=1", "--nice=10", "--oversubscribe", "-N1-2"):
            job, said = self.sbatch(AUTO, "--gres=gpu:2", "-t", "60", option)
            self.assert_unchanged(job, said, option.split("=")[0] if option != "-N1-2" else "--nodes")

    def test_srun_and_salloc_are_left_alone(self):
        for program in ("srun", "salloc"):
            done = self.lab.run(program, AUTO, "--gres=gpu:1", "--mem=100", "-D", "/tmp", "printenv", "SLURM_JOB_PARTITION",
                                user="lab1")
            self.assertEqual((done.stdout.split()[-1], self.said(done.stderr)), ("old", []))

    def test_of_a_heterogeneous_job_only_the_first_part_is_asked_about(self):
        self.busy("n1", "n3")
        done = self.lab.run("sbatch", "--parsable", "-o", "/dev/null", "--mem=100", AUTO, "--gres=gpu:1", "-t", "60", ":",
                            AUTO, "--gres=gpu:2", "-t", "60", user="lab1", stdin=JOB.format(""))
        first = int(done.stdout)
        self.assertEqual(self.lab.job(first + 1)["TresPerNode"], "gres:gpu:2", done.stderr)
        self.assertEqual(len(self.said(done.stderr)), 1, done.stderr)

    def test_the_sites_other_hooks_still_run(self):
        job, said = self.sbatch("--job-name=log")
        self.assertIn("the site's own filter", said)
        self.assertIn(f"the site saw job {job['JobId']}", said)

    def test_alone_it_is_a_whole_filter(self):
        self.use(PLUGIN.read_text().replace("{", "{{").replace("}", "}}").replace(
            "/usr/bin/gpuadvise", "{client}").replace('socket = ""', 'socket = "{socket}"'))
        self.busy("n1", "n3")
        job, said = self.sbatch(AUTO, "--gres=gpu:2", "-t", "60")
        self.assertEqual(job["Partition"], "new", said)
        done = self.lab.run("srun", "--mem=100", "-D", "/tmp", "true", user="lab1")
        self.assertNotIn("lua", done.stderr)

    # ---- trouble ----------------------------------------------------------------------------

    def timed(self, *options, **more):
        began = time.monotonic()
        job, said = self.sbatch(AUTO, "--gres=gpu:2", "-t", "60", *options, **more)
        return job, said, time.monotonic() - began

    def test_a_daemon_that_hangs_costs_a_second(self):
        self.use(seconds=1)
        self.site.process.send_signal(signal.SIGSTOP)
        try:
            job, said, seconds = self.timed()
        finally:
            self.site.process.send_signal(signal.SIGCONT)
        self.assert_unchanged(job, said, "no answer")
        self.assertLess(seconds, 10, "sbatch itself, and a second")

    def test_a_daemon_that_accepts_and_never_answers_costs_a_second(self):
        silent = self.lab.folder / "silent.sock"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(silent))
            silent.chmod(0o666)
            listener.listen(5)
            self.use(socket=silent, seconds=1)
            job, said, seconds = self.timed()
        self.assert_unchanged(job, said, "no answer")
        self.assertLess(seconds, 10)

    def test_without_a_daemon_the_job_goes_through(self):
        self.use(socket="/nonexistent/gpuadvised.sock")
        job, said, _ = self.timed()
        self.assert_unchanged(job, said, "cannot reach gpuadvised")

    def test_without_a_client_the_job_goes_through(self):
        self.use(client="/nonexistent/gpuadvise")
        job, said, _ = self.timed()
        self.assert_unchanged(job, said)

    def client(self, script):
        """A client that misbehaves."""
        path = self.lab.folder / "client.sh"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        self.use(client=path, seconds=1)

    def test_answers_that_make_no_sense_change_nothing(self):
        for script in ("exit 0", "printf 'partition=a b\\n'", "printf 'partition=$(id)\\ngres=x;y\\n'", "echo partition=",
                       "head -c 300000 /dev/zero", "yes partition=new", "printf 'exit=0\\npartition=new\\n'; exit 1",
                       "printf '\\033[2J\\n'; exit 1", "kill -SEGV $$", "echo gpus=l40s:9", "sleep 30"):
            self.client(script)
            job, said, seconds = self.timed()
            self.assert_unchanged(job, said)
            self.assertNotIn("\x1b", said)
            self.assertLess(seconds, 10, script)

    def test_a_process_that_the_client_leaves_behind_holds_nothing_up(self):
        for end in ("echo partition=new", "exit 1", "sleep 30"):
            self.client("setsid sleep 100 &\n" + end)
            job, said, seconds = self.timed()
            self.assertEqual(len(self.said(said)), 1, said)
            self.assertEqual(job["Partition"], "new" if "new" in end else "old", said)
            self.assertLess(seconds, 30, "not as long as what was left behind")

    def test_a_client_cannot_say_how_it_ended(self):
        self.client("printf 'partition=new\\n\\nexit=0\\n'; exit 1")
        job, said, _ = self.timed()
        self.assert_unchanged(job, said)

    def test_letters_of_all_kinds_stay_and_what_is_not_seen_goes(self):
        self.client("printf 'waits … 한글 \\342\\200\\256 \\363\\240\\201\\201 \\302\\233x\\n'; exit 1")
        job, said, _ = self.timed()
        self.assert_unchanged(job, said, "waits … 한글 ? ? ?x")

    def test_a_wish_that_is_none_is_said(self):
        for wish in ("off", "", "G", "40G:x"):
            job, said = self.sbatch(f"--comment=gpuadvise:auto:{wish}", "--gres=gpu:2", "-t", "60")
            self.assert_unchanged(job, said, f"gpuadvise:auto:{wish}: write gpuadvise:auto")

    def test_a_mistake_in_the_plugin_stops_no_job(self):
        self.use(SITES_OWN.replace("gpuadvise.settings.default_for = {{ auto = true }}",
                                   "gpuadvise.settings.seconds = nil"))
        job, said, _ = self.timed()
        self.assert_unchanged(job, said, "nil")

    # ---- hostile words ----------------------------------------------------------------------

    HOSTILE = ["; touch {mark} ;", "$(touch {mark})", "`touch {mark}`", "'; touch {mark}; '", "\" touch {mark} \"",
               "\\'; touch {mark} #", "| touch {mark}", "&& touch {mark}", "{mark}\ntouch {mark}", "\ttouch {mark}",
               "*", "--help", "%s%n%s", "\x01\x1b[2J", "ü\u202e"]

    def test_nothing_of_a_comment_is_ever_executed(self):
        mark = pathlib.Path("/tmp") / f"gpuadvise-lab-mark-{os.getpid()}"
        for words in self.HOSTILE:
            comment = "gpuadvise:auto " + words.format(mark=mark)
            job, said = self.sbatch("--comment=" + comment, "--gres=gpu:1", "-t", "60")
            self.assertLessEqual(set(job["Partition"].split(",")), {"new", "old", "auto"}, comment)
            self.assertEqual(len(self.said(said)), 1, said)
            self.assertFalse(mark.exists(), comment)
            self.lab.run("scancel", "-u", "lab1")

    def test_nothing_of_any_option_is_ever_executed(self):
        mark = pathlib.Path("/tmp") / f"gpuadvise-lab-mark-{os.getpid()}"
        for words in self.HOSTILE:
            for option in ("-C", "--account", "--qos", "--exclude", "--reservation", "--partition"):
                _, said = self.sbatch(AUTO, "--gres=gpu:1", "-t", "60", option, words.format(mark=mark), check=False)
                self.assertFalse(mark.exists(), (option, words))
                self.assertLessEqual(len(self.said(said)), 1, said)
                self.assertFalse([line for line in self.said(said) if re.search("[\x01-\x08\x1b\u202e]", line)], said)
            self.lab.run("scancel", "-u", "lab1")

    def test_users_at_the_same_time_all_get_an_answer(self):
        self.busy("n1")
        processes = [subprocess.Popen(
            ["sbatch", "--parsable", "-o", "/dev/null", "--mem=100", AUTO, "--gres=gpu:1", "-t", "60", "--wrap=sleep 600"],
            env=self.lab.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/tmp",
            **programs.as_user(f"lab{1 + i}")) for i in range(4)]
        for process in processes:
            out, said = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, said)
            job = self.lab.wait_for_state(int(out), "RUNNING")
            self.assertEqual(len(self.said(said)), 1, said)
            self.assertIn(job["NodeList"], ("n2", "n3"), said)


if __name__ == "__main__":
    programs.main()
