#!/usr/bin/env python3
"""integrations/python/gpuadvise.py against a live daemon and against servers that mean ill: python_client_test.py BIN YAML_TO_JSON."""
import ast
import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "integrations/python"))
import gpuadvise  # noqa: E402
from live_daemon import LiveDaemon  # noqa: E402

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
YAML_TO_JSON = sys.argv.pop(1)
SOURCE = TOP / "integrations/python/gpuadvise.py"
TRAINING = "name: t\nmodel: {preset: gpt2}\ntraining: {max_steps: 2000, effective_batch_size: 64, max_seq_length: 512}\n"


class Live(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = LiveDaemon(BIN)
        cls.addClassCleanup(cls.daemon.stop)
        cls.client = gpuadvise.Client(cls.daemon.socket)

    def test_every_question_is_answered(self):
        starts = self.client.when({"gres": "gpu:1", "time_limit_seconds": 3600}, {"partition": "none"}, cheaper=False)
        self.assertGreaterEqual(starts["answers"][0]["wait_p50_seconds"], 0)
        self.assertEqual(starts["answers"][1]["error"]["code"], "not_found")
        self.assertEqual({gpu["gpu"] for gpu in self.client.gpus()["gpus"]} & {"l40s"}, {"l40s"})
        advice = self.client.advise(TRAINING, objective="cost", constraints={"gpus": ["l40s"]})
        self.assertEqual({strategy["gpu"] for strategy in advice["strategies"]}, {"l40s"})
        self.assertEqual(self.client.advise({"name": "t", "model": {"preset": "gpt2"}, "training": {
            "max_steps": 9, "effective_batch_size": 8, "max_seq_length": 64}})["strategies"][0]["rank"], 1)
        self.assertTrue(self.client.fit(TRAINING)["gpus"])
        self.assertTrue(self.client.scale(TRAINING)["steps"])
        self.assertTrue(self.client.select({"gres": "gpu:1"})["job"]["partition"])
        pending = self.daemon.pending()
        self.assertEqual(self.client.why(pending)["job_id"], pending)
        self.assertGreater(self.client.queue(state="pending", limit=2)["total"], 0)
        self.assertEqual(self.client.jobs()["jobs"], [])
        self.assertEqual(self.client.health()["status"], "ok")
        self.assertIn("errors", self.client.accuracy())
        self.assertIn("errors", self.client.submitted(advice["advice_id"], 999_999))
        self.client.submitted(advice["advice_id"], 999_998, sweep={"job_id": 999_998, "runs": 5})
        self.assertEqual([sweep["runs"] for sweep in self.client.get("/v1/advice")["sweeps"]], [5])

    def test_a_url_is_the_public_part(self):
        client = gpuadvise.Client(self.daemon.url)
        self.assertTrue(client.gpus()["gpus"])
        with self.assertRaises(gpuadvise.GpuadviseError) as raised:
            client.jobs()
        self.assertIn(raised.exception.status, (404, 405))

    def test_errors_are_exceptions_with_the_daemons_sentence(self):
        with self.assertRaises(gpuadvise.NotFound) as raised:
            self.client.why(999_999_999)
        self.assertIn("no job 999999999", str(raised.exception))
        self.assertEqual((raised.exception.code, raised.exception.status), ("not_found", 404))
        with self.assertRaises(gpuadvise.BadInput) as raised:
            self.client.advise("training: {max_step: 9}")
        self.assertIn("max_step", str(raised.exception))
        with self.assertRaises(gpuadvise.BadInput) as raised:
            self.client.when(*[{"gres": "gpu:1"}] * 65)
        self.assertEqual(raised.exception.pointer, "/jobs")
        with self.assertRaises(gpuadvise.BadInput):
            self.client.when({"gres": object()})
        with self.assertRaises(gpuadvise.BadInput):
            self.client.when({"nodes": float("nan")})

    def test_text_in_a_path_stays_text(self):
        for wrong in ("../healthz", "1 HTTP/1.1\r\nX: y", "1?x=1", "\x00"):
            with self.assertRaises(gpuadvise.GpuadviseError):
                self.client.why(wrong)

    def test_twenty_alternatives_are_one_request(self):
        types = [name for gpu in self.client.gpus()["gpus"] for name in gpu["gres_types"]]
        jobs = [{"gres": f"gpu:{types[i % len(types)]}:{1 + i // len(types)}", "time_limit_seconds": 14400} for i in range(20)]
        quick = self.client.when(*jobs, cheaper=False)["answers"]
        self.assertEqual(len(quick), 20)
        self.assertTrue(all(answer.get("error") or answer["cheaper"] == [] for answer in quick))

    def test_no_redirect_is_followed(self):
        location = b"http+unix://" + urllib.parse.quote(str(self.daemon.socket), safe="").encode() + b"/v1/gpus"
        answer = b"HTTP/1.1 307 Temporary Redirect\r\nLocation: " + location + b"\r\nContent-Length: 0\r\n\r\n"
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            with self.assertRaises(gpuadvise.GpuadviseError) as raised:
                gpuadvise.Client(BadServer(folder, send(answer)).path, timeout=2).gpus()
            self.assertIn("307", str(raised.exception))

    def test_threads_may_share_a_client(self):
        found = []
        threads = [threading.Thread(target=lambda: found.append(len(self.client.gpus()["gpus"]))) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(found)), 1)
        self.assertEqual(len(found), 16)

    def test_another_owner_of_the_socket_is_refused(self):
        if os.getuid() != 0:
            self.skipTest("needs root to be another user")
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            os.chmod(folder, 0o777)
            path = folder + "/s"
            code = ("import os,socket,sys\nos.setgid(65534); os.setuid(65534)\ns=socket.socket(socket.AF_UNIX)\n"
                    "s.bind(sys.argv[1]); s.listen(); print('up', flush=True)\nwhile True: s.accept()[0].recv(9)")
            with subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE) as other:
                try:
                    self.assertEqual(other.stdout.readline(), b"up\n")
                    with self.assertRaises(gpuadvise.Untrusted) as raised:
                        gpuadvise.Client(path, timeout=5).gpus()
                    self.assertIn("nobody (uid 65534)", str(raised.exception))
                    with self.assertRaises(gpuadvise.Unavailable):
                        gpuadvise.Client(path, timeout=5, owner="nobody").gpus()
                finally:
                    other.kill()


def read_request(peer):
    """Head and body: who closes before the end breaks the caller's pipe, or not, as it happens."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += peer.recv(65536) or b"\r\n\r\n"
    head, _, body = data.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    while length and len(body) < int(length[1]):
        more = peer.recv(65536)
        if not more:
            return
        body += more


class BadServer(threading.Thread):
    """Answers each connection with `behave(connection)` after the request's head."""

    def __init__(self, folder, behave):
        super().__init__(daemon=True)
        self.path = folder + "/bad"
        self.behave = behave
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        self.start()

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                with self.listener.accept()[0] as peer:
                    read_request(peer)
                    with contextlib.suppress(OSError):
                        self.behave(peer)


def drip(head, byte):
    def behave(peer):
        peer.sendall(head)
        while True:
            peer.sendall(byte)
            time.sleep(0.02)
    return behave


def send(data):
    return lambda peer: peer.sendall(data)


def endless(head, block):
    def behave(peer):
        peer.sendall(head)
        while True:
            peer.sendall(block)
    return behave


class Hostile(unittest.TestCase):
    def ask(self, behave, timeout=1.0):
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            server = BadServer(folder, behave)
            began = time.monotonic()
            try:
                return gpuadvise.Client(server.path, timeout=timeout).gpus()
            finally:
                self.assertLess(time.monotonic() - began, timeout + 3)
                server.listener.close()

    def test_servers_that_hang_drip_or_never_end_are_given_up_in_time(self):
        for name, behave in (("hangs", lambda peer: time.sleep(5)),
                             ("drips its head", drip(b"HTTP/1.1 200 OK\r\nX: ", b"x")),
                             ("drips its body", drip(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", b" ")),
                             ("drips chunks", drip(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n")),
                             ("says continue", endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"))):
            with self.subTest(name), self.assertRaises(gpuadvise.Unavailable) as raised:
                self.ask(behave)
            self.assertIn("within 1 s", str(raised.exception))

    def test_an_answer_without_end_is_bounded(self):
        old, gpuadvise.MAX_ANSWER_BYTES = gpuadvise.MAX_ANSWER_BYTES, 2 << 20
        self.addCleanup(setattr, gpuadvise, "MAX_ANSWER_BYTES", old)
        for head in (b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n"):
            with self.assertRaises(gpuadvise.Unavailable) as raised:
                self.ask(endless(head, b" " * 65536), 20)
            self.assertIn("larger than 2 MiB", str(raised.exception))

    def test_what_is_no_answer_of_ours_is_unavailable(self):
        ok = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"
        for data in (b"", b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 banana\r\n\r\n", b"\xff" * 99, b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 999,
                     b"HTTP/1.1 200 OK\r\nX: " + b"x" * 99999, ok % (2, b"[]"), ok % (4, b"null"), ok % (3, b"\xff\xfe{"),
                     ok % (9, b"[" * 9), ok % (200_000, b"[" * 200_000), ok % (90, b"{}"),
                     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"):
            with self.subTest(data[:40]), self.assertRaises(gpuadvise.Unavailable):
                self.ask(send(data), 5)

    def test_sentences_are_printable_and_bounded(self):
        body = json.dumps({"errors": [{"code": "bad_input", "message": "a\x1b[2J\u202e\n" + "x" * 99999, "pointer": "/\x07"}]}).encode()
        with self.assertRaises(gpuadvise.BadInput) as raised:
            self.ask(send(b"HTTP/1.1 400 X\r\nContent-Length: %d\r\n\r\n" % len(body) + body))
        self.assertTrue(str(raised.exception).isprintable())
        self.assertLess(len(str(raised.exception)), 5000)
        self.assertEqual(raised.exception.pointer, "/?")
        for wrong in (b"", b"x", b"[]", b'{"errors": 7}', b'{"errors": [7]}', b'{"errors": [{"code": 7, "message": []}]}'):
            with self.assertRaises(gpuadvise.GpuadviseError) as raised:
                self.ask(send(b"HTTP/1.1 500 X\r\nContent-Length: %d\r\n\r\n" % len(wrong) + wrong))
            self.assertIn("HTTP status 500", str(raised.exception))

    def test_where_nobody_listens_the_remedy_is_said(self):
        for where in ("/nonexistent/s", "http://127.0.0.1:1", "x" * 300, "a\x00b"):
            with self.subTest(where[:20]), self.assertRaises(gpuadvise.Unavailable):
                gpuadvise.Client(where, timeout=3).gpus()
        for where in ("ftp://x", "http://", "http://u@h:1", "http://h:99999", "http://h/path"):
            with self.subTest(where), self.assertRaises(gpuadvise.BadInput):
                gpuadvise.Client(where, timeout=3).gpus()


class Source(unittest.TestCase):
    def test_the_types_are_those_of_the_api_document(self):
        """Each TypedDict's members are in docs/openapi.yaml, with a type that fits."""
        document = json.loads(subprocess.run([YAML_TO_JSON, TOP / "docs/openapi.yaml"], check=True, capture_output=True).stdout)
        schemas = document["components"]["schemas"]
        words = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
        checked = 0
        for node in ast.parse(SOURCE.read_text()).body:
            if not (isinstance(node, ast.ClassDef) and any(getattr(base, "id", "") == "TypedDict" for base in node.bases)):
                continue
            properties = schemas[node.name]["properties"]
            for member in node.body:
                name, said = member.target.id, ast.unparse(member.annotation)
                self.assertIn(name, properties, node.name)
                schema = properties[name]
                while "$ref" in schema:
                    schema = schemas[schema["$ref"].rsplit("/", 1)[1]]
                if "anyOf" in schema:
                    continue
                if "type" not in schema:
                    self.assertEqual(said, "Any", (node.name, name))
                    continue
                kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
                inner = said.removeprefix("Optional[").removesuffix("]") if said.startswith("Optional[") else said
                self.assertEqual("null" in kinds, said.startswith("Optional["), (node.name, name))
                wanted = words.get(inner) or ("array" if inner.startswith("List[") else "object")
                self.assertIn(wanted, kinds, (node.name, name, said))
                checked += 1
        self.assertGreater(checked, 100)

    def test_it_is_one_file_of_python_3_8_and_the_standard_library(self):
        tree = ast.parse(SOURCE.read_text(), feature_version=(3, 8))
        imported = {name.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
        imported |= {node.module.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        self.assertEqual(imported - set(sys.stdlib_module_names) - {"__future__"}, set())


if __name__ == "__main__":
    unittest.main()
