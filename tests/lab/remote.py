"""Callers from other hosts: certificates, a relay, and requests over TLS as an attacker would make them.

    certificates = Certificates(folder, programs, "relay1")
    with Relay(site, certificates, "relay1", port) as relay: ...
"""
import base64
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import pwd
import re
import socket
import ssl
import subprocess
import time
from contextlib import contextmanager

import programs
from lab import wait_until


class Certificates:
    """What `gpuadvised relay-certs` makes, readable to the daemon's user."""

    def __init__(self, folder, gpuadvised, *relays):
        self.folder, self.gpuadvised = pathlib.Path(folder), gpuadvised
        self.said = self.make("--daemon", "localhost,127.0.0.1", *(["--relay", ",".join(relays)] if relays else []))

    def make(self, *options, before=()):
        done = subprocess.run([*before, str(self.gpuadvised), "relay-certs", "--dir", str(self.folder), *options],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)
        who = pwd.getpwnam(programs.DAEMON_USER)
        for path in [self.folder, *self.folder.rglob("*")]:
            os.chown(path, who.pw_uid, who.pw_gid)
        return done.stdout

    @property
    def remote(self):
        """The daemon's setting."""
        names = ["certificate=daemon.crt", "key=daemon.key", "ca=ca.crt", "revoked=revoked.crl"]
        return {key: str(self.folder / name) for key, name in (each.split("=") for each in names)}

    def context(self, relay=None, **limits):
        """A client's, with the certificate of `relay`; `limits`: attributes of ssl.SSLContext."""
        made = ssl.create_default_context(cafile=str(self.folder / "ca.crt"))
        if relay:
            made.load_cert_chain(self.folder / "relays" / relay / "relay.crt", self.folder / "relays" / relay / "relay.key")
        for name, value in limits.items():
            setattr(made, name, value)
        return made


class Relay(programs.Site):
    """`gpuadvised --relay` beside a site, with the site's programs; it is asked like a site."""

    def __init__(self, first, certificates, name, url):
        self.lab, self.bin, self.folder = first.lab, first.bin, first.folder
        self.socket = first.folder / "run" / f"{name}.sock"
        self.config = first.folder / f"{name}.yaml"
        self.log = first.folder / f"{name}.log"
        self.process = None
        own = certificates.folder / "relays" / name
        self.settings = {"socket": str(self.socket), "relay": {
            "url": url, "ca": str(own / "ca.crt"), "certificate": str(own / "relay.crt"), "key": str(own / "relay.key")}}

    def state(self):
        return self.ask("/v1/relay")[1]

    def _answers(self):
        if not self.alive():
            raise AssertionError(f"the relay ended: {self.log_tail()}")
        try:
            return self.state()
        except OSError:
            return None

    def start(self, fresh=False, **settings):
        super().start(fresh, **settings)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=60):
        super().__init__("localhost", timeout=timeout)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


@contextmanager
def effective_user(user):
    """The kernel tells the other end of a socket who is in effect when it connects."""
    os.seteuid(pwd.getpwnam(user).pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)


def ask(connection, method, target, body=None, headers=None):
    """(status, text)."""
    try:
        connection.request(method, target, json.dumps(body) if body is not None else None,
                           {"Host": "localhost", **(headers or {})})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def message(answer):
    """The first error's sentence."""
    return json.loads(answer[1])["errors"][0]["message"]


def without_clock(text):
    """What may differ between two requests in different seconds, or was measured."""
    text = re.sub(r'"(snapshot_age_seconds|view_seconds|age_seconds|refresh_seconds)":[-0-9.e]+', r'"\1":0', text)
    return re.sub(r'"advice_id":"[^"]*"', '"advice_id":""', text)


def _base64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def forged_token(key, algorithm="HS256", header=None, **claims):
    """A token of one's own making; None takes a claim out."""
    now = int(time.time())
    said = {key: value for key, value in {"exp": now + 600, "iat": now, "sun": "lab1", **claims}.items() if value is not None}
    head = {"alg": algorithm, "typ": "JWT", **(header or {})}
    signed = f"{_base64(json.dumps(head).encode())}.{_base64(json.dumps(said).encode())}"
    signature = "" if algorithm.lower() == "none" else _base64(hmac.new(key, signed.encode(), hashlib.sha256).digest())
    return f"{signed}.{signature}"


def wait_until_listens(port):
    def listens():
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0
    wait_until(listens, "the TLS port to listen")
