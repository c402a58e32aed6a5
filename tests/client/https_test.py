#!/usr/bin/env python3
"""The client and a daemon of another host: certificates, tokens, munge, and servers that mean harm.

    https_test.py GPUADVISE [unittest options]

The daemon is a server on loopback that answers each TLS connection with given bytes.
"""
import hashlib
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

SKIPPED = 77
UNAVAILABLE = 4
USAGE = 2


def http(status, body=b"{}", fields=""):
    return f"HTTP/1.1 {status} X\r\n{fields}Content-Length: {len(body)}\r\n\r\n".encode() + body


GPUS = http(200, b'{"gpus": []}')


class Daemon:
    """Gives each connection what `answer(request)` says: bytes, and whether the session ends in good order."""

    def __init__(self, context, answer):
        self.context, self.answer, self.requests = context, answer, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def url(self, host="localhost"):
        return f"https://{host}:{self.port}"

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                try:
                    self.serve_one(connection)
                except OSError:
                    pass  # a client that does not trust it leaves

    def serve_one(self, connection):
        if self.context is None:
            return self.answer(connection)
        with self.context.wrap_socket(connection, server_side=True) as stream:
            request = b""
            while b"\r\n\r\n" not in request:
                got = stream.recv(65536)
                if not got:
                    return None
                request += got
            head, body = request.split(b"\r\n\r\n", 1)
            length = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
            while length and len(body) < length[0]:
                body += stream.recv(65536)
            self.requests.append(head.decode() + "\r\n\r\n" + body.decode())
            answer, in_order = self.answer(self.requests[-1]), True
            if isinstance(answer, tuple):
                answer, in_order = answer
            stream.sendall(answer)
            if in_order:
                stream.unwrap()
        return None

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()


def field(request, name):
    for line in request.split("\r\n\r\n")[0].split("\r\n")[1:]:
        if line.lower().startswith(name.lower() + ": "):
            return line.split(": ", 1)[1]
    return None


class Https(unittest.TestCase):
    program = None

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.certificate, cls.key = cls.folder / "daemon.crt", cls.folder / "daemon.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-keyout", cls.key, "-out", cls.certificate],
                       check=True, capture_output=True)

    def setUp(self):
        self.home = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.settings(f"ca: {self.certificate}\nmunge_socket: {self.home}/none\n")

    def settings(self, text):
        (self.home / "gpuadvise").mkdir(exist_ok=True)
        (self.home / "gpuadvise/client.yaml").write_text(text)

    def context(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        return context

    def serve(self, answer=lambda request: GPUS, context=None):
        daemon = Daemon(context or self.context(), answer)
        self.addCleanup(daemon.close)
        return daemon

    def serve_bytes(self, speak):
        daemon = Daemon(None, speak)
        self.addCleanup(daemon.close)
        return daemon

    def ask(self, url, *words, **environment):
        words = words or ("gpus", "--json")
        return subprocess.run([self.program, words[0], "--daemon", url, *words[1:]], capture_output=True, text=True, timeout=60,
                              env={"XDG_CONFIG_HOME": str(self.home), "PATH": os.environ["PATH"], **environment})

    def refused(self, url, *words, **environment):
        done = self.ask(url, *words, **environment)
        self.assertEqual((done.returncode, done.stdout.count('"gpus"')), (UNAVAILABLE, 0), done)
        return done.stderr + done.stdout

    # ---- certificates --------------------------------------------------------------------------------

    def test_a_certificate_in_the_ca_file_is_trusted(self):
        daemon = self.serve()
        self.assertEqual(self.ask(daemon.url()).returncode, 0)
        self.assertIsNone(field(daemon.requests[0], "Authorization"))

    def test_an_unknown_certificate_gets_nothing(self):
        self.settings("")
        daemon = self.serve()
        said = self.refused(daemon.url(), SLURM_JWT="a.b.c")
        self.assertIn("its certificate is not trusted (", said)
        self.assertIn("as ca: in client.yaml", said)
        self.assertEqual(daemon.requests, [])

    def test_a_certificate_of_another_name_gets_nothing(self):
        daemon = self.serve()
        self.assertIn("its certificate is not trusted (", self.refused(daemon.url("127.0.0.1"), SLURM_JWT="a.b.c"))
        self.assertEqual(daemon.requests, [])

    def test_a_ca_file_that_is_none_is_named(self):
        self.settings("ca: none.crt\n")
        done = self.ask(self.serve().url())
        self.assertEqual(done.returncode, USAGE)
        self.assertIn(f"no certificates can be read from {self.home}/gpuadvise/none.crt", done.stdout + done.stderr)

    def test_tls_1_2_is_spoken_and_nothing_older(self):
        context = self.context()
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        self.assertEqual(self.ask(self.serve(context=context).url()).returncode, 0)
        old = self.context()
        old.set_ciphers("DEFAULT:@SECLEVEL=0")
        old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
        self.assertIn("TLS fails (", self.refused(self.serve(context=old).url()))

    # ---- servers that mean harm ----------------------------------------------------------------------

    def test_an_answer_that_is_cut_anywhere_is_none(self):
        state = {"size": 0}
        daemon = self.serve(lambda request: (GPUS[:state["size"]], False))
        for state["size"] in range(len(GPUS)):
            self.assertIn("in the middle of its answer", self.refused(daemon.url()), state)

    def test_the_end_of_an_answer_without_a_length_needs_the_end_of_the_session(self):
        bytes_to_end = b'HTTP/1.1 200 OK\r\n\r\n{"gpus": []}'
        self.assertEqual(self.ask(self.serve(lambda request: bytes_to_end).url()).returncode, 0)
        self.assertIn("in the middle of its answer", self.refused(self.serve(lambda request: (bytes_to_end, False)).url()))

    def test_a_handshake_that_is_cut_or_rubbish_is_said(self):
        def speak(connection):
            connection.recv(65536)
            connection.sendall(speak.answer)
        for speak.answer in (b"", b"\x16", b"\x16\x03\x03", b"\x16\x03\x03\x00\x7a\x02\x00", b"HTTP/1.1 400 Bad Request\r\n\r\n",
                             b"\x15\x03\x03\x00\x02\x02\x28", os.urandom(4096), b"\x00" * 70000):
            said = self.refused(self.serve_bytes(speak).url())
            self.assertRegex(said, "TLS fails|in the middle of its answer|connection was cut", speak.answer[:40])

    def test_a_header_without_an_end_is_left(self):
        self.assertIn("no end of the header", self.refused(self.serve(lambda request: b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 20000).url()))

    def test_redirects_lead_nowhere(self):
        other = self.serve()
        daemon = self.serve(lambda request: http(307, fields=f"Location: {other.url()}/v1/gpus\r\n"))
        self.assertIn("HTTP status 307", self.refused(daemon.url(), SLURM_JWT="a.b.c"))
        self.assertEqual(other.requests, [])

    def test_no_proxy_of_the_environment_is_used(self):
        proxy = self.serve_bytes(lambda connection: self.fail("asked"))
        daemon = self.serve()
        self.assertEqual(self.ask(daemon.url(), https_proxy=f"http://localhost:{proxy.port}", ALL_PROXY=proxy.url()).returncode, 0)

    # ---- who asks ------------------------------------------------------------------------------------

    def test_a_token_is_that_of_slurm_jwt_else_of_the_file(self):
        daemon = self.serve()
        (self.home / "token").write_text("SLURM_JWT=of.the.file\n")
        self.settings(f"ca: {self.certificate}\ntoken_file: {self.home}/token\n")
        for environment in ({}, {"SLURM_JWT": ""}, {"SLURM_JWT": "of.the.environment"}):
            self.assertEqual(self.ask(daemon.url(), **environment).returncode, 0)
        self.assertEqual([field(request, "Authorization") for request in daemon.requests],
                         ["Bearer of.the.file", "Bearer of.the.file", "Bearer of.the.environment"])

    def test_a_token_that_is_refused_is_the_error(self):
        refusal = b'{"errors": [{"code": "bad_input", "message": "the token has expired"}]}'
        daemon = self.serve(lambda request: http(401, refusal))
        done = self.ask(daemon.url(), SLURM_JWT="a.b.c")
        self.assertIn("the token has expired", done.stdout + done.stderr)
        self.assertEqual(len(daemon.requests), 1)

    def munge(self):
        """A munged of this test; where there is none the test is skipped."""
        munged = shutil.which("munged") or shutil.which("munged", path="/usr/sbin:/usr/local/sbin")
        if munged is None or shutil.which("unmunge") is None:
            self.skipTest("munge is not installed")
        os.chmod(self.home, 0o711)  # munged looks at who may enter the folder of its socket
        key = self.home / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        process = subprocess.Popen([munged, "--foreground", "--force", f"--socket={self.home}/munge.sock", f"--key-file={key}",
                                    f"--pid-file={self.home}/munged.pid", f"--seed-file={self.home}/munged.seed",
                                    f"--log-file={self.home}/munged.log"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(lambda: (process.terminate(), process.communicate()))
        while subprocess.run(["munge", "-n", f"--socket={self.home}/munge.sock"], capture_output=True).returncode:
            self.assertIsNone(process.poll(), "munged has ended")
        self.settings(f"ca: {self.certificate}\nmunge_socket: {self.home}/munge.sock\n")

    def proof(self, request):
        """The uid and payload of a request's credential."""
        scheme, credential = field(request, "Authorization").split(" ")
        self.assertEqual(scheme, "Munge")
        done = subprocess.run(["unmunge", f"--socket={self.home}/munge.sock", "--keys=UID"], input=credential, text=True,
                              capture_output=True, check=True)
        about, payload = done.stdout.split("\n\n", 1)
        return about, payload

    def test_munge_shows_who_makes_this_very_request(self):
        self.munge()
        daemon = self.serve(lambda request: http(200, b'{"gpus": []}', f"Gpuadvise-Uid: {os.geteuid()}\r\n"))
        for _ in range(2):
            done = self.ask(daemon.url())
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        nonces = set()
        for request in daemon.requests:
            nonce = field(request, "Gpuadvise-Nonce")
            self.assertRegex(nonce, "^[0-9a-f]{32}$")
            nonces.add(nonce)
            method, target, _ = request.split("\r\n")[0].split(" ")
            body = request.split("\r\n\r\n", 1)[1]
            about, payload = self.proof(request)
            self.assertIn(f"({os.geteuid()})", about)
            self.assertEqual(payload, "gpuadvise " + hashlib.sha256(f"{method}\n{target}\n{nonce}\n{body}".encode()).hexdigest())
        self.assertEqual(len(nonces), 2)

    def test_an_answer_for_somebody_else_is_refused(self):
        self.munge()
        daemon = self.serve(lambda request: http(200, b'{"gpus": []}', "Gpuadvise-Uid: 4711\r\n"))
        self.assertIn("answered as uid 4711, but you are uid", self.refused(daemon.url()))

    def test_where_munge_is_not_taken_the_public_part_is_shown_and_that_is_said(self):
        self.munge()
        refusal = b'{"errors": [{"code": "bad_input", "message": "no munge here"}]}'
        daemon = self.serve(lambda request: http(401, refusal) if field(request, "Authorization") else GPUS)
        done = self.ask(daemon.url())
        self.assertEqual(done.returncode, 0)
        self.assertIn("did not take the munge credential (no munge here)", done.stderr)

    # ---- lists ---------------------------------------------------------------------------------------

    def test_the_next_of_the_list_is_asked_with_the_same_token(self):
        standby = self.serve(lambda request: http(503, b'{"errors": [{"code": "standby", "message": "not the first"}]}'))
        first = self.serve()
        dead = socket.create_server(("127.0.0.1", 0))
        port = dead.getsockname()[1]
        dead.close()
        done = self.ask(f"https://localhost:{port},{standby.url()},{first.url()}", SLURM_JWT="a.b.c")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([field(daemon.requests[0], "Authorization") for daemon in (standby, first)], ["Bearer a.b.c"] * 2)

    def test_a_silent_daemon_is_left_in_time(self):
        held = []
        silent = self.serve_bytes(lambda connection: held.append(connection.recv(65536)) or connection.recv(1))
        (self.home / "job.sh").write_text("#!/bin/sh\n#SBATCH --gres=gpu:1\n")
        done = self.ask(silent.url(), "select", "--timeout", "0.5", str(self.home / "job.sh"))
        self.assertIn("no answer within 0.5 s", done.stdout + done.stderr)


if __name__ == "__main__":
    Https.program = str(pathlib.Path(sys.argv.pop(1)).absolute())
    if not shutil.which("openssl"):
        print("skipped: openssl is missing, which makes the certificate")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
