#!/usr/bin/env python3
"""slurm-rest over https: the certificate and its name are checked, a token goes to nobody else.

    rest_tls_test.py GPUADVISE_COLLECT [unittest options]

A small https server on loopback answers what a slurmrestd 24.11.5 answered (data/rest).
"""
import http.server
import json
import pathlib
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

DATA = pathlib.Path(__file__).resolve().parent / "data" / "rest"
SKIPPED = 77


class Answers(http.server.BaseHTTPRequestHandler):
    tokens = []

    def do_GET(self):
        Answers.tokens.append(self.headers.get("X-SLURM-USER-TOKEN"))
        table = "openapi" if self.path == "/openapi/v3" else self.path.split("?")[0].rstrip("/").rsplit("/", 1)[-1]
        file = DATA / f"{table}_24.11_v42.json"
        body = file.read_bytes() if file.exists() else b"Unable find requested URL"
        self.send_response(200 if file.exists() else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class OverHttps(unittest.TestCase):
    program = None

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.certificate, key = cls.folder / "cert.pem", cls.folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cls.certificate],
                       check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cls.certificate, key)
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        cls.server.socket = context.wrap_socket(cls.server.socket, server_side=True)
        cls.server.handle_error = lambda *_: None  # a client that does not trust it leaves
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.server.shutdown)
        (cls.folder / "token").write_text("SLURM_JWT=a.b.c\n")

    def setUp(self):
        Answers.tokens.clear()

    def ask(self, host, *words):
        url = f"https://{host}:{self.server.server_address[1]}"
        return subprocess.run([self.program, "slurm-rest", "--once", "--url", url, "--jwt-file", self.folder / "token", *words],
                              capture_output=True, text=True, timeout=60, env={})

    def test_a_server_with_a_known_certificate_is_asked(self):
        done = self.ask("localhost", "--ca-file", self.certificate)
        self.assertEqual(done.returncode, 0, done.stderr)
        records = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual((records[0]["source"], records[0]["cluster"]), ("slurm-rest", "lab"))
        self.assertEqual(sum(r["record"] == "node" for r in records), 5)
        self.assertEqual(set(Answers.tokens), {"a.b.c"})

    def test_an_unknown_certificate_gets_no_token(self):
        done = self.ask("localhost")
        self.assertEqual(done.returncode, 1)
        self.assertIn("its certificate is not trusted", done.stderr)
        self.assertEqual(Answers.tokens, [])

    def test_a_certificate_of_another_name_gets_no_token(self):
        done = self.ask("127.0.0.1", "--ca-file", self.certificate)
        self.assertEqual(done.returncode, 1)
        self.assertIn("its certificate is not trusted", done.stderr)
        self.assertEqual(Answers.tokens, [])

    def test_a_file_of_certificates_that_is_not_there_is_said(self):
        done = self.ask("localhost", "--ca-file", self.folder / "none.pem")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no certificates can be read from", done.stderr)


if __name__ == "__main__":
    OverHttps.program = str(pathlib.Path(sys.argv.pop(1)).absolute())
    if not shutil.which("openssl"):
        print("skipped: openssl is missing, which makes the certificate")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
