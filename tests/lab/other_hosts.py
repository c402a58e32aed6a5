"""Other hosts, as network namespaces, and requests from them over TLS, as users and attackers make them.

    with OtherHosts(lab, 2) as hosts:
        certificate = Certificate(folder, hosts.address)
        hosts[0].ask(certificate, 6829, "GET", "/v1/me", headers={"Authorization": hosts[0].munge("lab1", "GET", "/v1/me")})

The daemon's host is this one. Each other host has a munged of its own, with the cluster's key.
"""
import base64
import ctypes
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import pwd
import re
import secrets
import socket
import ssl
import subprocess
import threading
import time

import programs
from lab import wait_until

CLONE_NEWNET = 0x40000000


class Certificate:
    """One of its own signature, as docs/other-hosts.md makes it, readable to the daemon's user."""

    def __init__(self, folder, *addresses):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(exist_ok=True)
        self.names = ["DNS:localhost", "IP:127.0.0.1", *(f"IP:{address}" for address in addresses)]
        self.file, self.key = self.folder / "daemon.crt", self.folder / "daemon.key"
        self.make()

    def make(self):
        """A new one in the place of the old."""
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "825",
                        "-keyout", f"{self.key}.new", "-out", f"{self.file}.new", "-subj", "/CN=centre", "-addext",
                        f"subjectAltName={','.join(self.names)}"], check=True, stderr=subprocess.DEVNULL)
        who = pwd.getpwnam(programs.DAEMON_USER)
        for path in [self.folder, f"{self.key}.new", f"{self.file}.new"]:
            os.chown(path, who.pw_uid, who.pw_gid)
        os.chmod(f"{self.key}.new", 0o600)
        os.rename(f"{self.key}.new", self.key)
        os.rename(f"{self.file}.new", self.file)

    def context(self, **limits):
        """A client's; `limits`: attributes of ssl.SSLContext."""
        made = ssl.create_default_context(cafile=str(self.file))
        for name, value in limits.items():
            setattr(made, name, value)
        return made


class OtherHosts:
    def __init__(self, lab, count):
        self.lab, self.count = lab, count
        self.word = f"{os.getpid() % 10_000}"
        self.net = f"10.{200 + os.getpid() // 250 % 50}.{os.getpid() % 250}"
        self.bridge, self.address = f"gpuab{self.word}", f"{self.net}.1"
        self.hosts = []

    def __enter__(self):
        _ip("link", "add", self.bridge, "type", "bridge")
        _ip("addr", "add", f"{self.address}/24", "dev", self.bridge)
        _ip("link", "set", self.bridge, "up")
        for i in range(self.count):
            name = f"gpua{self.word}x{i}"
            _ip("netns", "add", name)
            _ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
            _ip("link", "set", name, "master", self.bridge, "up")
            _ip("-n", name, "addr", "add", f"{self.net}.{10 + i}/24", "dev", "eth0")
            _ip("-n", name, "link", "set", "eth0", "up")
            _ip("-n", name, "link", "set", "lo", "up")
            self.hosts.append(OtherHost(self, name))
        return self

    def __exit__(self, *_):
        for host in self.hosts:
            host.end()
        _ip("link", "del", self.bridge)

    def __getitem__(self, i):
        return self.hosts[i]


class OtherHost:
    def __init__(self, hosts, name):
        self.hosts, self.name = hosts, name
        self.munge_socket = hosts.lab.folder / "run" / f"{name}.munge.sock"
        folder = hosts.lab.folder
        self.munged = subprocess.Popen(
            ["ip", "netns", "exec", name, "munged", "-F", "--force", f"--key-file={folder}/munge.key",
             f"--socket={self.munge_socket}", f"--pid-file={folder}/run/{name}.pid", f"--log-file={folder}/log/{name}.log",
             f"--seed-file={folder}/{name}.seed"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self.munge_socket.exists, f"munged of {name}", 10)

    def end(self):
        self.munged.terminate()
        self.munged.wait()
        _ip("netns", "del", self.name)

    def run(self, *words, **more):
        """A program of this host."""
        return subprocess.run(["ip", "netns", "exec", self.name, *map(str, words)], text=True, capture_output=True, **more)

    def gpuadvise(self, site, user, *words, env=None, **settings):
        """gpuadvise of this host, as `user`; `settings`: of the user's client.yaml."""
        folder = site.home(user) / ".config" / "gpuadvise"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "client.yaml").write_text("".join(f"{key}: {json.dumps(str(value))}\n" for key, value in settings.items()))
        who = pwd.getpwnam(user)
        clean = {name: value for name, value in site.client_env(user, env).items() if name != "GPUADVISE_SOCKET"}
        return self.run("setpriv", f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}", "--clear-groups", site.bin / "gpuadvise",
                        *words, env=clean, cwd=site.home(user), timeout=60)

    def connect(self, port, timeout=30):
        """A socket of this host that is connected to the daemon's."""
        made = []

        def connect():  # the namespace is the thread's own
            with open(f"/run/netns/{self.name}") as space:
                if ctypes.CDLL(None, use_errno=True).setns(space.fileno(), CLONE_NEWNET) != 0:
                    made.append(OSError(ctypes.get_errno(), "setns"))
                    return
            try:
                made.append(socket.create_connection((self.hosts.address, port), timeout=timeout))
            except OSError as error:
                made.append(error)
        thread = threading.Thread(target=connect)
        thread.start()
        thread.join()
        if isinstance(made[0], OSError):
            raise made[0]
        return made[0]

    def connect_tls(self, certificate, port, timeout=30, **limits):
        return certificate.context(**limits).wrap_socket(self.connect(port, timeout), server_hostname=self.hosts.address)

    def ask(self, certificate, port, method, target, body=None, headers=(), timeout=30):
        """(status, text, header) of one request; `headers`: pairs, or a dict. `body`: text."""
        connection = http.client.HTTPConnection(self.hosts.address, port, timeout=timeout)
        connection.sock = self.connect_tls(certificate, port, timeout)
        return exchange(connection, method, target, body, headers)

    def munge(self, user, method, target, body="", nonce=None):
        """The headers of a request by munge."""
        nonce = nonce or secrets.token_hex(16)
        digest = hashlib.sha256(f"{method}\n{target}\n{nonce}\n{body or ''}".encode()).hexdigest()
        made = subprocess.run(["munge", "-S", str(self.munge_socket), "-s", f"gpuadvise {digest}"], text=True, check=True,
                              stdout=subprocess.PIPE, **programs.as_user(user))
        return {"Authorization": f"Munge {made.stdout.strip()}", "Gpuadvise-Nonce": nonce}


def ask_socket(path, user, method, target, body=None):
    """The same by the Unix socket of the daemon, as `user`."""
    connection = http.client.HTTPConnection("localhost", timeout=60)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(60)
    os.seteuid(pwd.getpwnam(user).pw_uid)  # the kernel tells who is in effect when it connects
    try:
        connection.sock.connect(str(path))
    finally:
        os.seteuid(0)
    return exchange(connection, method, target, body, ())


def exchange(connection, method, target, body, headers):
    try:
        connection.putrequest(method, target)
        for name, value in dict(headers).items() if isinstance(headers, dict) else headers:
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body.encode())))
        connection.endheaders(body.encode() if body is not None else None)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers
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
    said = {name: value for name, value in {"exp": now + 600, "iat": now, "sun": "lab1", **claims}.items() if value is not None}
    head = {"alg": algorithm, "typ": "JWT", **(header or {})}
    signed = f"{_base64(json.dumps(head).encode())}.{_base64(json.dumps(said).encode())}"
    signature = "" if algorithm.lower() == "none" else _base64(hmac.new(key, signed.encode(), hashlib.sha256).digest())
    return f"{signed}.{signature}"


def _ip(*words):
    subprocess.run(["ip", *words], check=True)
