#!/usr/bin/env python3
"""What thousands of silent TLS connections cost a user who asks over TLS, on a simulated cluster.

    bench/tls_callers.py BIN_DIR [--silent 3600] [--addresses 9] [--times 200]

The user asks `advise` with a token, a new connection each time, as gpuadvise does. Prints how long that takes by the Unix
socket and over TLS: alone; while another process opens the connections and keeps silent on them; while that process also
opens each again that the daemon ends; and afterwards. Beside it the daemon's memory (RSS), before and after.
"""
import argparse
import base64
import hashlib
import hmac
import http.client
import json
import multiprocessing
import os
import pathlib
import pwd
import re
import selectors
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from whole_daemon import SPEC  # noqa: E402

ASKED = json.dumps(SPEC)


def token(key):
    def coded(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
    user = pwd.getpwuid(os.getuid() or pwd.getpwnam("nobody").pw_uid).pw_name
    said = [{"alg": "HS256", "typ": "JWT"}, {"sun": user, "exp": int(time.time()) + 3600}]
    text = ".".join(coded(json.dumps(part).encode()) for part in said)
    return f"{text}.{coded(hmac.new(key, text.encode(), hashlib.sha256).digest())}"


class Daemon:
    def __init__(self, bin_dir, folder):
        self.socket, self.crt, key = folder / "s", folder / "daemon.crt", os.urandom(32)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                        folder / "daemon.key", "-out", self.crt, "-subj", "/CN=x", "-addext", "subjectAltName=IP:127.0.0.1"],
                       check=True, stderr=subprocess.DEVNULL)
        (folder / "jwt.key").touch(0o600)
        (folder / "jwt.key").write_bytes(key)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        (folder / "gpuadvised.yaml").write_text(json.dumps({
            "socket": str(self.socket), "state_dir": str(folder / "state"), "source": "sim", "log_level": "warning", "listen_tls": {
                "address": f"127.0.0.1:{self.port}", "certificate": str(self.crt), "key": str(folder / "daemon.key"),
                "jwt_key": str(folder / "jwt.key")}}))
        self.headers = {"Authorization": f"Bearer {token(key)}", "Content-Length": str(len(ASKED))}
        self.tls = ssl.create_default_context(cafile=str(self.crt))
        self.process = subprocess.Popen([bin_dir / "gpuadvised", "--config", folder / "gpuadvised.yaml"])
        deadline = time.monotonic() + 60
        while self.asked_by_socket() is None:
            assert time.monotonic() < deadline and self.process.poll() is None, "the daemon does not answer"
            time.sleep(0.2)

    def asked_by_socket(self):
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        try:
            connection.sock.connect(str(self.socket))
            return self._asked(connection, {})
        except OSError:
            return None
        finally:
            connection.close()

    def asked_over_tls(self):
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30, context=self.tls)
        try:
            return self._asked(connection, self.headers)
        except OSError:
            return None
        finally:
            connection.close()

    @staticmethod
    def _asked(connection, headers):
        """Milliseconds; None if it was not answered."""
        began = time.perf_counter()
        connection.request("POST", "/v1/advise", ASKED, headers)
        answer = connection.getresponse()
        answer.read()
        return 1e3 * (time.perf_counter() - began) if answer.status == 200 else None

    def megabytes(self):
        return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{self.process.pid}/status").read_text())[1]) / 1024


def keep_silent(port, count, addresses, again, opened, end):
    """Opens `count` connections over TLS, from so many addresses, and sends nothing on them."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.VerifyMode.CERT_NONE
    wakes, number = selectors.DefaultSelector(), 0

    def open_one():
        nonlocal number
        number += 1
        try:
            raw = socket.create_connection(("127.0.0.1", port), 10, (f"127.0.1.{1 + number % addresses}", 0))
            secure = context.wrap_socket(raw)
            secure.setblocking(False)
            wakes.register(secure, selectors.EVENT_READ)
        except OSError:
            return
    while not end.is_set():
        if number < count or (again.is_set() and len(wakes.get_map()) < count):
            open_one()
        if number == count:
            opened.set()
        for key, _ in wakes.select(0 if number < count or again.is_set() else 0.1):
            try:
                ended = key.fileobj.recv(100) == b""
            except ssl.SSLWantReadError:
                ended = False
            except OSError:
                ended = True
            if ended:
                wakes.unregister(key.fileobj)
                key.fileobj.close()


def spread(ask, times):
    taken = [ask() for _ in range(times)]
    answered = sorted(each for each in taken if each is not None)
    p99 = answered[int(.99 * (len(answered) - 1))]
    return f"median {statistics.median(answered):.1f} ms, p99 {p99:.1f}, most {answered[-1]:.1f}; not answered: {taken.count(None)}"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("bin_dir", type=pathlib.Path)
    for name, value in [("silent", 3600), ("addresses", 9), ("times", 200)]:
        options.add_argument(f"--{name}", type=int, default=value)
    wanted = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        daemon = Daemon(wanted.bin_dir, pathlib.Path(folder))
        opened, again, end = (multiprocessing.Event() for _ in range(3))
        strangers = multiprocessing.Process(target=keep_silent, daemon=True, args=(
            daemon.port, wanted.silent, wanted.addresses, again, opened, end))

        def report(when):
            print(f"{when}: {spread(daemon.asked_over_tls, wanted.times)}; memory {daemon.megabytes():.0f} MB", flush=True)
        try:
            print(f"by the Unix socket, alone: {spread(daemon.asked_by_socket, wanted.times)}")
            report("over TLS, alone")
            strangers.start()
            report(f"while {wanted.silent} connections are opened")
            opened.wait()
            report("once they are open and silent")
            again.set()
            report("while each that the daemon ends is opened again")
            end.set()
            strangers.join()
            time.sleep(6)  # a silent connection ends after five seconds
            report("afterwards")
        finally:
            daemon.process.terminate()
            daemon.process.wait()


if __name__ == "__main__":
    main()
