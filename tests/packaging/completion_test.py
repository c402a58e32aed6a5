#!/usr/bin/env python3
"""Completion in the real shells: completion_test.py GPUADVISE.

A stand-in daemon answers with GPU types, partitions and jobs, some of whose names are shell commands. Where a shell runs
interactively it has a terminal, Tab and Enter; the `gpuadvise` of its PATH then notes the words it got.
"""
import getpass
import http.server
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
BASH_COMPLETION = pathlib.Path("/usr/share/bash-completion/bash_completion")
GPUADVISE = None
SECONDS = 60  # for a shell to do something
HOSTILE = ["$(touch PWNED)", "`touch PWNED`", "a;touch PWNED", "x&&touch PWNED", "'$(touch PWNED)'", "\x1b]0;PWNED\x07",
           "a\ntouch PWNED", "${IFS}touch${IFS}PWNED", "two words", "~root", "*", "-rf", "<(touch PWNED)", "%Fx"]


class Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    silent = False

    def do_GET(self):
        if self.silent:
            time.sleep(5)
        body = {"errors": [], "warnings": []}
        if self.path.startswith("/v1/gpus"):
            body["gpus"] = [{"gpu": "l40s", "gpu_name": "L40S", "gres_types": ["gpul40s"], "partitions": ["gpu", "gpu2"] + HOSTILE},
                            {"gpu": "rtx4090", "gpu_name": "RTX 4090", "gres_types": ["gpu4090"], "partitions": ["gpu"]}]
        elif self.path.startswith("/v1/queue"):
            names = HOSTILE + ["train-llama"]
            body["jobs"] = [{"job_id": 4700 + i, "name": name, "state": "RUNNING", "user": getpass.getuser()}
                            for i, name in enumerate(names)]
        elif self.path.startswith("/v1/advice"):
            body["jobs"] = [{"job_id": 17, "name": "ended-one", "state": "ok"}]
        data = json.dumps(body).encode()
        try:
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            pass  # who asked has left

    def address_string(self):
        return "socket"

    def log_message(self, *words):
        pass


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


class Shell:
    """An interactive shell on a terminal."""

    def __init__(self, words, folder, environment):
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(words[0], [str(word) for word in words], environment)
        self.seen = ""

    def type(self, text):
        os.write(self.end, text.encode())

    def wait_for(self, holds, what):
        deadline = time.monotonic() + SECONDS
        while not holds():
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} did not come; the terminal shows: {self.seen!r}")
            if select.select([self.end], [], [], 0.05)[0]:
                try:
                    self.seen += os.read(self.end, 65536).decode(errors="replace")
                except OSError:
                    raise AssertionError(f"the shell ended: {self.seen!r}") from None

    def wait_for_prompt(self):
        """The prompt at the start of a line: in the echo of the line that sets it, it is within quotes, or scrolled away."""
        self.wait_for(lambda: re.search(r"[\r\n]READY> ", self.seen), "a prompt")

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.end)


class Completion(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="complete-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "train.yaml").write_text("")
        self.socket = self.folder / "socket"
        self.handler = type("Handler", (Answers,), {})
        self.server = Server(str(self.socket), self.handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        programs = self.folder / "bin"
        programs.mkdir()
        self.ran = self.folder / "ran"
        program = programs / "gpuadvise"
        program.write_text(f'#!/bin/sh\n[ "$1" = complete ] && exec "{GPUADVISE}" "$@"\n'
                           f'for word in "$@"; do printf "%s\\n" "$word"; done > {self.ran}.new; mv {self.ran}.new {self.ran}\n')
        program.chmod(0o755)
        self.environment = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(self.folder), "TERM": "dumb", "LC_ALL": "C.UTF-8",
                            "GPUADVISE_SOCKET": str(self.socket), "XDG_CONFIG_HOME": str(self.folder / "config")}

    def tearDown(self):
        self.assertEqual(list(self.folder.rglob("*PWNED*")), [])

    def complete(self, *words):
        done = subprocess.run([GPUADVISE, "complete", *words], capture_output=True, text=True, check=False, timeout=SECONDS,
                              env=self.environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [line.split("\t")[0] for line in done.stdout.splitlines()]

    def test_commands_options_and_their_values(self):
        self.assertEqual(self.complete("adv"), ["advise"])
        self.assertIn("help", self.complete(""))
        self.assertIn("--deadline", self.complete("advise", "--de"))
        self.assertEqual(self.complete("jobs", "--state", "pen"), ["pending"])
        self.assertEqual(self.complete("queue", "-t", "r"), ["running"])
        self.assertEqual(self.complete("advise", "--objective=co"), ["--objective=cost"])
        self.assertEqual(self.complete("--json", "acc"), ["accuracy"])
        self.assertEqual(self.complete("help", "rank"), ["ranking"])
        self.assertEqual(self.complete("nonsense", ""), [])

    def test_what_the_daemon_says(self):
        self.assertEqual(self.complete("jobs", "--gpu", ""), ["l40s", "rtx4090"])
        self.assertEqual(self.complete("jobs", "--gpu=l"), ["--gpu=l40s"])
        self.assertEqual(self.complete("when", "--gres", "gpu:"), ["gpu:gpu4090", "gpu:gpul40s"])
        self.assertEqual(self.complete("queue", "-p", ""), ["gpu", "gpu2"])
        self.assertEqual(self.complete("--socket", str(self.socket), "queue", "--partition=gpu2"), ["--partition=gpu2"])
        self.assertIn("17", self.complete("watch", ""))
        self.assertNotIn("17", self.complete("why", ""))  # it has ended
        self.assertEqual(self.complete("fit", "--method", "q"), ["qlora"])
        self.assertEqual(self.complete("jobs", "--name", "tr"), ["train-llama"])

    def test_models_cards_and_files(self):
        self.assertIn("llama-3.1-8b", self.complete("fit", "llama-3.1"))
        self.assertIn(":files", self.complete("fit", "llama-3.1"))
        self.assertIn("h100-80gb-sxm", self.complete("fit", "--gpu", "h100"))
        self.assertEqual(self.complete("advise", ""), [":files"])
        self.assertEqual(self.complete("run", "--", "py"), [":files"])

    def test_hostile_names_are_not_offered_as_words(self):
        for words in (("jobs", "--name", ""), ("queue", "-p", ""), ("why", "")):
            for word in self.complete(*words):
                self.assertRegex(word, r"\A[A-Za-z0-9_.,:=+@/-]+\Z")

    def test_a_daemon_that_hangs_or_is_not_there_costs_nothing(self):
        self.handler.silent = True
        self.assertEqual(self.complete("jobs", "--gpu", ""), [])
        self.environment["GPUADVISE_SOCKET"] = str(self.folder / "nobody")
        self.assertEqual(self.complete("why", ""), [])
        (self.folder / "config/gpuadvise").mkdir(parents=True)
        (self.folder / "config/gpuadvise/client.yaml").write_text("{broken")
        self.assertEqual(self.complete("queue", "-t", "r"), ["running"])

    def ran_words(self, shell):
        shell.wait_for(self.ran.exists, "the command")
        words = self.ran.read_text().splitlines()
        self.ran.unlink()
        return words

    @unittest.skipUnless(shutil.which("bash") and BASH_COMPLETION.exists(), "needs bash-completion")
    def test_bash(self):
        shell = Shell(["bash", "--norc", "--noprofile", "-i"], self.folder, self.environment)
        self.addCleanup(shell.close)
        shell.type(f"PS1='READY> '; . {BASH_COMPLETION}; . {TOP}/packaging/completions/gpuadvise.bash\n")
        shell.wait_for_prompt()
        self.in_a_shell(shell)

    @unittest.skipUnless(shutil.which("zsh"), "needs zsh")
    def test_zsh(self):
        functions = self.folder / "functions"
        functions.mkdir()
        shutil.copy(TOP / "packaging/completions/_gpuadvise", functions)
        shell = Shell(["zsh", "-f", "-i"], self.folder, self.environment)
        self.addCleanup(shell.close)
        shell.type(f"PS1='READY> '; fpath=({functions} $fpath); autoload -U compinit; "
                   "compinit -u -D; setopt no_auto_menu no_list_beep\n")
        shell.wait_for_prompt()
        self.in_a_shell(shell)

    def in_a_shell(self, shell):
        """Tab and Enter, in a shell that has loaded its file."""
        for typed, words in (("gpuadvise acc\t\n", ["accuracy"]),
                             ("gpuadvise jobs --gpu rtx\t\n", ["jobs", "--gpu", "rtx4090"]),
                             ("gpuadvise jobs --gpu=rtx\t\n", ["jobs", "--gpu=rtx4090"]),
                             ("gpuadvise when --gres gpu:gpul\t\n", ["when", "--gres", "gpu:gpul40s"]),
                             ("gpuadvise advise tra\t\n", ["advise", "train.yaml"]),
                             ("gpuadvise watch 1\t\n", ["watch", "17"]),
                             ("gpuadvise jobs --name train-l\t\n", ["jobs", "--name", "train-llama"])):
            with self.subTest(typed=typed):
                shell.type(typed)
                self.assertEqual(self.ran_words(shell), words)
        # The jobs with hostile names are listed, and nothing of them runs.
        start = len(shell.seen)
        shell.type("gpuadvise why 47\t\t")
        shell.wait_for(lambda: "4714" in shell.seen[start:], "the list of jobs")
        self.assertNotIn("\x1b]0;", shell.seen[start:])
        shell.type("\x15gpuadvise '$(touch PWNED)' \"`touch PWNED`\" x\t\x15gpuadvise gpus\n")
        self.ran_words(shell)

    @unittest.skipUnless(shutil.which("fish"), "needs fish")
    def test_fish(self):
        def candidates(line):
            script = f"source {TOP}/packaging/completions/gpuadvise.fish; complete -C {json.dumps(line)}"
            done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, check=False,
                                  timeout=SECONDS, env=self.environment, cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return [each.split("\t")[0] for each in done.stdout.splitlines()]
        self.assertEqual(candidates("gpuadvise acc"), ["accuracy"])
        self.assertEqual(candidates("gpuadvise jobs --gpu rtx"), ["rtx4090"])
        self.assertEqual(candidates("gpuadvise jobs --gpu=rtx"), ["--gpu=rtx4090"])
        self.assertEqual(candidates("gpuadvise when --gres gpu:gpul"), ["gpu:gpul40s"])
        self.assertEqual(candidates("gpuadvise advise tra"), ["train.yaml"])
        self.assertEqual(sorted(candidates("gpuadvise watch ")), ["17"] + [str(4700 + i) for i in range(len(HOSTILE) + 1)])
        self.assertEqual(candidates("gpuadvise jobs --name t"), ["train-llama"])


if __name__ == "__main__":
    GPUADVISE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
