#!/usr/bin/env python3
"""No character that a terminal obeys, or that nobody sees, comes out of the client.

    hostile_text_test.py GPUADVISE

Every command is run with training files and job scripts of somebody who means ill, beside a stand-in
for a daemon that does: each text of its answers, and each of its errors, has an escape sequence, a bell,
C1, bidirectional controls and invisible letters in it. Whatever the command says, standard output and
standard error must be clean; with --json standard output must be one JSON document with the same texts.
"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import unicodedata
import unittest

GPUADVISE = sys.argv.pop(1) if len(sys.argv) > 1 else "gpuadvise"
DATA = pathlib.Path(__file__).resolve().parent / "data"

HIDDEN = "\x1b]0;pwn\x07\x1b[2J\x7f\x9b31m\u061c\u200b\u200d\u202e\u2028\u2066\u3164\ufeff\U000e0041"
NO_GLYPH = set("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")  # by category they are letters

ANSWERS = {
    "/v1/advise": "advice.json", "/v1/when": "when.json", "/v1/queue": "queue.json",
    "/v1/gpus": "gpus.json", "/v1/accuracy": "accuracy.json", "/v1/jobs": "why.json",
    "/v1/advice": "jobs.json",
}
HEALTH = {"status": "ok", "version": "0.1.0", "cause": "x", "snapshot_age_seconds": 1,
          "history": {"status": "broken", "cause": "y"}, "meta": {"version": "0.1.0", "cluster": "c", "stale_cause": "z"}}
SELECTED = {"job": {"partition": "gpu", "gres": "gpu:1", "wait_p50_seconds": 1}, "reason": "r",
            "alternatives": [{"gpu_name": "L40S", "in_job": True}], "advice_id": "a-1"}


def poisoned(value):
    if isinstance(value, dict):
        return {key: poisoned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [poisoned(item) for item in value]
    return value + HIDDEN if isinstance(value, str) else value


class HostileDaemon(threading.Thread):
    """Answers one request a connection. `mode`: "answers" (all texts poisoned), "errors", "sbatch"."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.mode = "answers"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(16)

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            with connection:
                request = b""
                while b"\r\n\r\n" not in request:
                    request += connection.recv(65536)
                head, _, body = request.partition(b"\r\n\r\n")
                length = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length")]
                while length and len(body) < length[0]:
                    body += connection.recv(65536)
                status, answer = self.answer(head.split(b" ")[1].decode())
                connection.sendall(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n" % (status, len(answer)) + answer)

    def answer(self, target):
        path = target.split("?")[0]
        if self.mode == "errors":
            error = {"code": "bad_input", "message": "no " + HIDDEN + "\n" + HIDDEN, "pointer": "/spec/" + HIDDEN}
            return 400, json.dumps({"errors": [error], "cause": HIDDEN}).encode()
        if path == "/healthz":
            return 200, json.dumps(poisoned(HEALTH)).encode()
        if path == "/v1/select":
            names = dict(SELECTED, job=dict(SELECTED["job"]))
            answer = poisoned(names)
            answer["job"], answer["advice_id"] = names["job"], "a-1"
            return 200, json.dumps(answer).encode()
        name = next((file for known, file in ANSWERS.items() if path == known), None)
        name = name or ("why.json" if path.startswith("/v1/jobs/") else "jobs.json")
        answer = json.loads((DATA / name).read_text())
        clean = [dict(strategy.get("sbatch", {})) for strategy in answer.get("strategies", [])]
        state = answer.get("state")
        answer = poisoned(answer)
        if state is not None:
            answer["state"] = state  # so that it is read on
        for strategy, sbatch in zip(answer.get("strategies", []), clean):
            strategy["sbatch"] = poisoned(sbatch) if self.mode == "sbatch" else sbatch
        return 200, json.dumps(answer).encode()


def is_shown(character, after):
    if character in "\n\t" or (character == "\r" and after == "\n"):
        return True
    category = unicodedata.category(character)
    selector = 0xFE00 <= ord(character) <= 0xFE0F
    return category not in ("Cc", "Cf", "Cs", "Zl", "Zp", "Cn") and character not in NO_GLYPH and not selector


def hidden_in(output):
    text = output.decode("utf-8")  # anything else is a failure too
    return sorted({f"U+{ord(c):04X}" for c, after in zip(text, text[1:] + "\0") if not is_shown(c, after)})


def quoted(text):
    """As YAML: double-quoted, controls escaped."""
    return '"' + "".join(f"\\x{ord(c):02x}" if ord(c) < 0xA0 and not c.isprintable() else c for c in text) + '"'


GOOD = {"name": "x", "model": "{preset: gpt2}", "training": "{max_steps: 5}", "command": "train"}
BAD_VALUES = {
    "name": "%s", "model": "{preset: %s}", "training": "{max_steps: %s}", "command": "%s", "objective": "%s",
    "deadline": "%s", "resources": "{gpus: [%s]}", "slurm": "{partition: %s, account: %s, extra: [%s]}",
    "output": "{dir: %s}", "env": "{A: %s}", "setup": "[%s]", "workdir": "%s", "container": "%s", "stages": "[{name: %s}]",
    "%s": "1",
}
MORE_BAD_VALUES = {
    "model": ["{hf_config: %s}", "{%s: 1}", "%s", "{memory: %s}", "{params: %s}"],
    "training": ["{%s: 1}", "{max_steps: 5, time: %s}", "{max_steps: 5, method: %s}", "{max_steps: 5, deepspeed: %s}",
                 "{max_steps: 5, measured: [{gpu: %s}]}", "{max_steps: 5, resume: %s}"],
    "resources": ["{%s: 1}", "{max_nodes: %s}", "{gpu_memory: %s}", "{nodes: [%s]}"],
    "slurm": ["{%s: 1}", "{time: %s}", "{array: %s}", "{constraint: %s}"],
}


def hostile_files():
    forms = [(key, form) for key, form in BAD_VALUES.items()]
    forms += [(key, form) for key, each in MORE_BAD_VALUES.items() for form in each]
    for key, form in forms:
        fields = dict(GOOD)
        fields[key.replace("%s", quoted("k" + HIDDEN))] = form.replace("%s", quoted("v" + HIDDEN))
        yield "".join(f"{name}: {value}\n" for name, value in fields.items())
    yield "name: [" + HIDDEN.replace("\x1b", "") + "\n"
    yield "a: b: " + HIDDEN


SCRIPT = ("#!/bin/bash\n#SBATCH --partition='p%s' --gres=gpu:%s\n#SBATCH --time=1%s\n#SBATCH --b%s=1\n"
          "torchrun --nproc_per_node=2 train.py --model_name_or_path 'm%s' --learning_rate%s 1 --max_steps '5%s'\n") % ((HIDDEN,) * 7)
JOB_COMMANDS = [["gpus"], ["queue"], ["queue", "-u", "x" + HIDDEN], ["why", "7"], ["accuracy"], ["jobs"], ["jobs", "4711"],
                ["watch", "7", "--once"], ["doctor"], ["when", "-p", "a", "--gres", "gpu:1"], ["cards"],
                ["select", "-p", "a", "--gres", "gpu:1"], ["now", "-p", "a"], ["fit", "gpt2"], ["scale", "gpt2", "--max-steps", "9"]]


class HostileText(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        cls.daemon = HostileDaemon(str(cls.path / "s"))
        cls.daemon.start()
        sbatch = cls.path / "sbatch"
        sbatch.write_text("#!/bin/sh\nprintf 'sbatch: \\033]0;x\\007 \\302\\233 refused\\n' >&2\nexit 1\n")
        sbatch.chmod(0o755)
        cls.environment = {"PATH": f"{cls.path}:/usr/bin:/bin", "HOME": str(cls.path), "LC_ALL": "C.UTF-8",
                           "GPUADVISE_SOCKET": str(cls.path / "s"), "COLUMNS": "100"}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_client(self, words):
        return subprocess.run([GPUADVISE, *words], cwd=self.path, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60)

    def check(self, words):
        done = self.run_client(words)
        with self.subTest(words=words, mode=self.daemon.mode, status=done.returncode):
            self.assertIn(done.returncode, [*range(6), 127], done.stderr)
            self.assertEqual(hidden_in(done.stdout), [], done.stdout[:500])
            self.assertEqual(hidden_in(done.stderr), [], done.stderr[:500])
            if "--json" in words:
                document = json.loads(done.stdout)
                if done.returncode in (2, 4):
                    self.assertTrue(document.get("errors") or document.get("checks") or document.get("complaints")
                                    or document.get("answers"), document)
        return done

    def test_of_a_daemon(self):
        (self.path / "good.yaml").write_text("".join(f"{key}: {value}\n" for key, value in GOOD.items()))
        of_file = [["advise", "good.yaml"], ["advise", "--all", "good.yaml"], ["doctor", "good.yaml"], ["submit", "good.yaml"],
                   ["submit", "--yes", "good.yaml"], ["submit", "--dry-run", "good.yaml"],
                   ["advise", "good.yaml", "--max-age", "0"], ["probe", "good.yaml", "--dry-run"]]
        for self.daemon.mode in ("answers", "errors", "sbatch"):
            for words in JOB_COMMANDS + of_file:
                self.check(words)
                if words[0] != "probe":
                    self.check(words + ["--json"])
        self.check(["jobs", "--csv"])

    def test_the_same_json(self):
        self.daemon.mode = "answers"
        document = json.loads(self.check(["queue", "--json"]).stdout)
        self.assertTrue(document["jobs"][0]["name"].endswith(HIDDEN))
        self.daemon.mode = "errors"
        document = json.loads(self.check(["queue", "--json"]).stdout)
        self.assertEqual(document["errors"][0]["message"], "no " + HIDDEN + "\n" + HIDDEN)
        self.assertEqual(document["errors"][0]["code"], "bad_input")

    def test_of_training_files(self):
        self.daemon.mode = "answers"
        name = "file.yaml"
        for text in hostile_files():
            (self.path / name).write_text(text)
            for words in (["advise", name], ["fit", name], ["doctor", name, "--json"], ["submit", "--yes", name]):
                self.check(words)

    def test_of_job_scripts_and_words(self):
        self.daemon.mode = "answers"
        (self.path / "job.sh").write_text(SCRIPT)
        name = "v" + HIDDEN
        for words in (["when", "job.sh"], ["init", "out.yaml", "--from", "job.sh"], ["advise", "--from", "job.sh"],
                      ["advise", name], ["fit", name], ["fit", "gpt2", "--gpu", name], ["fit", "gpt2", "--method", name], [name],
                      ["queue", "--" + name], ["advise", "good.yaml", "--objective", name],
                      ["advise", "good.yaml", "--section", name], ["advise", "good.yaml", "-t", name], ["why", name],
                      ["models", name], ["cards", name], ["reference", name], ["run", "--pattern", "(" + name, "--", "true"],
                      ["select", "--gres", name], ["select", "--gres", "gpu:1", "--gpu-memory", name], ["jobs", "--since", name],
                      ["jobs", "--import", name], ["run", "--", "/no/" + name], ["when", "--" + name], ["when", "--gres=" + name],
                      ["queue", "--socket", name], ["probe", name], ["doctor", name], ["submit", "good.yaml", "--", name]):
            self.check(words)


if __name__ == "__main__":
    unittest.main()
