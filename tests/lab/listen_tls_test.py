#!/usr/bin/env python3
"""Users of other hosts ask one daemon of a real Slurm over TLS, by munge and by token; and who pretends to be one.

    listen_tls_test.py BIN_DIR [unittest options]
"""
import http.client
import json
import os
import pathlib
import pwd
import re
import secrets
import ssl
import subprocess
import time

import collecting
import lab_machine
import programs
import slurmrestd
from lab import wait_until
from other_hosts import Certificate, OtherHosts, ask_socket, exchange, forged_token, message, without_clock


class ListenTlsTest(programs.SiteTest):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(collecting.temporary_folder()))
        os.chmod(folder, 0o755)
        cls.LAB = {"cluster": "tiny", "conf": {}}
        cls.has_tokens = slurmrestd.why_no_tokens() is None
        cls.key = os.urandom(32)
        if cls.has_tokens:
            cls.LAB["conf"] = slurmrestd.write_token_key(folder)
            cls.key = (folder / "jwt_hs256.key").read_bytes()
        super().setUpClass()
        cls.hosts = cls.enterClassContext(OtherHosts(cls.lab, 2))
        cls.certificate = Certificate(cls.site.folder / "tls", cls.hosts.address)
        cls.key_file = cls.certificate.folder / "jwt.key"  # a copy, as a site makes it for the daemon's user
        cls.key_file.write_bytes(cls.key)
        cls.key_file.chmod(0o600)
        os.chown(cls.key_file, pwd.getpwnam(programs.DAEMON_USER).pw_uid, -1)
        cls.port = lab_machine.free_ports(1)[0]
        cls.site.start(source="slurm-cli", listen_tls={
            "address": f"0.0.0.0:{cls.port}", "certificate": str(cls.certificate.file), "key": str(cls.certificate.key),
            "jwt_key": str(cls.key_file), "munge_socket": str(cls.lab.folder / "run" / "munge.sock")})
        cls.addClassCleanup(cls.site.stop)

    def ask(self, method, target, body=None, headers=(), host=0, **more):
        return self.hosts[host].ask(self.certificate, self.port, method, target, body, headers, **more)

    def by_munge(self, user, method, target, body=None, host=0):
        return self.ask(method, target, body, self.hosts[host].munge(user, method, target, body), host)

    def by_token(self, user, method, target, body=None, host=0):
        return self.ask(method, target, body, {"Authorization": f"Bearer {self.token(user)}"}, host)

    def token(self, user):
        """One of Slurm's own making, where it makes any."""
        if not self.has_tokens:
            return forged_token(self.key, sun=user)
        return self.lab.run("scontrol", "token", f"username={user}", "lifespan=600").stdout.strip().removeprefix("SLURM_JWT=")

    def refused(self, headers, method="GET", target="/v1/me", body=None):
        answer = self.ask(method, target, body, headers)
        self.assertEqual(answer[0], 401, answer)
        return message(answer)

    def memory(self):
        status = pathlib.Path(f"/proc/{self.site.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


SPEC = {"name": "train", "model": {"memory": {"base": "1 GB", "per_sample": "100 MB", "overhead": "1 MB"}},
        "training": {"max_steps": 10, "effective_batch_size": 4,
                     "measured": [{"gpu": "rtx2080ti", "gpus": 1, "batch": 4, "seconds_per_step": 1}]},
        "resources": {"max_gpus": 1}, "command": "sleep 5"}
QUESTIONS = [("GET", "/v1/me", None), ("GET", "/v1/gpus", None), ("GET", "/v1/queue", None), ("GET", "/v1/nodes", None),
             ("GET", "/v1/accuracy", None), ("GET", "/v1/advice", None), ("GET", "/v1/site", None), ("GET", "/v1/nothing", None),
             ("POST", "/v1/when", {"jobs": [{"gres": "gpu:1", "time_limit_seconds": 3600}]}),
             ("POST", "/v1/when", {"gres": "gpu:unknown:1"}), ("POST", "/v1/advise", {"spec": SPEC}), ("POST", "/v1/advise", {"nonsense": "x" * 100_000})]


class Answers(ListenTlsTest):
    def test_they_are_the_same_by_socket_munge_and_token(self):
        job = self.lab.submit("--gres=gpu:1", "-t", "60")
        self.lab.wait_for_state(job, "RUNNING")
        self.site.wait_for_next_snapshot()
        self.site.restart(poll_interval="1h")  # from now on there is one snapshot
        self.addCleanup(self.site.restart, poll_interval="300ms")
        compared = 0
        for host, user in enumerate(["lab1", "lab2"]):
            uid = str(pwd.getpwnam(user).pw_uid)
            for method, target, asked in [*QUESTIONS, ("GET", f"/v1/jobs/{job}", None)]:
                body = None if asked is None else json.dumps(asked)
                wanted = ask_socket(self.site.socket, user, method, target, body)
                for way in (self.by_munge, self.by_token):
                    status, text, header = way(user, method, target, body, host)
                    self.assertEqual((status, without_clock(text)), (wanted[0], without_clock(wanted[1])),
                                     f"{user} {method} {target} {way.__name__}")
                    self.assertEqual(header["Gpuadvise-Uid"], uid)
                    compared += 1
            self.assertIn(f'"user":"{user}"', self.by_munge(user, "GET", "/v1/me", host=host)[1])
        print(f"{compared} answers are the same, byte by byte", flush=True)

    def test_who_shows_nothing_sees_the_public_part(self):
        status, text, header = self.ask("GET", "/v1/me")
        self.assertEqual((status, json.loads(text)["anonymous"]), (200, True))
        self.assertIsNone(header["Gpuadvise-Uid"])
        self.assertEqual(self.ask("GET", "/v1/gpus")[0], 200)
        self.assertTrue(json.loads(self.ask("GET", "/v1/me", headers={"Gpuadvise-Uid": "1000"})[1])["anonymous"])

    def test_a_renewed_certificate_needs_no_restart(self):
        before = self.certificate.file.read_text()
        self.certificate.make()
        self.assertNotEqual(self.certificate.file.read_text(), before)
        wait_until(lambda: "certificate of listen_tls was read again" in self.site.log.read_text(), "the daemon to see it", 20)
        self.assertEqual(self.ask("GET", "/v1/me")[0], 200)

    def test_keys_that_others_may_read_are_refused(self):
        for key in [self.key_file, self.certificate.key]:
            key.chmod(0o644)
            done = subprocess.run([str(self.site.bin / "gpuadvised"), "--config", str(self.site.config), "--socket",
                                   str(self.site.folder / "run" / "other.sock")], text=True, capture_output=True, timeout=30)
            key.chmod(0o600)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(f"chmod 600 {key}", done.stderr)


class Client(ListenTlsTest):
    def gpuadvise(self, host, user, *words, env=None, **settings):
        return self.hosts[host].gpuadvise(self.site, user, *words, env=env, **{
            "daemon": f"https://{self.hosts.address}:{self.port}", "ca": self.certificate.file, **settings})

    def test_users_are_known_on_their_hosts(self):
        for host, user in enumerate(["lab1", "lab2"]):
            for way, more in {"munge": {"munge_socket": self.hosts[host].munge_socket},
                              "token": {"munge_socket": "/nowhere", "env": {"SLURM_JWT": self.token(user)}}}.items():
                with self.subTest(user=user, way=way):
                    gpus = self.gpuadvise(host, user, "gpus", "--json", **more)
                    self.assertEqual((gpus.returncode, gpus.stderr), (0, ""))
                    self.assertEqual([row["gpu"] for row in json.loads(gpus.stdout)["gpus"]],
                                     [row["gpu"] for row in self.site.json("gpus")["gpus"]])
                    own = self.gpuadvise(host, user, "jobs", "--json", **more)  # only a user has some
                    self.assertEqual((own.returncode, json.loads(own.stdout)["jobs"]), (0, []))

    def test_who_shows_nothing_has_the_public_part(self):
        self.assertEqual(self.gpuadvise(0, "lab1", "gpus", munge_socket="/nowhere").returncode, 0)
        self.assertNotEqual(self.gpuadvise(0, "lab1", "jobs", munge_socket="/nowhere").returncode, 0)

    def test_a_token_that_is_not_believed_is_said(self):
        done = self.gpuadvise(0, "lab1", "gpus", env={"SLURM_JWT": forged_token(os.urandom(32))})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("jwt_key", done.stderr)

    def test_a_daemon_of_another_certificate_is_not_asked(self):
        done = self.gpuadvise(0, "lab1", "gpus", ca=Certificate(self.site.folder / "foreign", self.hosts.address).file)
        self.assertEqual(done.returncode, 4, done.stdout)

    def test_the_next_of_the_list_is_asked(self):
        real = f"https://{self.hosts.address}:{self.port}"
        done = self.gpuadvise(1, "lab2", "gpus", daemon=f"https://{self.hosts.address}:1,{real}",
                              munge_socket=self.hosts[1].munge_socket)
        self.assertEqual(done.returncode, 0, done.stderr)


class Attacks(ListenTlsTest):
    def test_root_is_nobody_by_munge_and_by_token(self):
        for way in (self.hosts[0].munge("root", "GET", "/v1/me"),
                    {"Authorization": f"Bearer {forged_token(self.key, sun='root')}"}):
            status, text, header = self.ask("GET", "/v1/me", headers=way)
            self.assertEqual(status, 200, text)
            self.assertTrue(json.loads(text)["anonymous"])
            self.assertIn("root of another host", json.loads(text)["note"])
            self.assertEqual(header["Gpuadvise-Uid"], "0")

    def test_tokens_that_are_forged(self):
        key, now = self.key, int(time.time())
        good = forged_token(key)
        self.assertEqual(self.ask("GET", "/v1/me", headers={"Authorization": f"Bearer {good}"})[0], 200)
        head, claims, signature = good.split(".")
        not_signed = "is not signed (HS256) by this cluster's jwt_key"
        wrong = {
            "alg none": (forged_token(key, "none"), not_signed),
            "alg None": (forged_token(key, "None"), not_signed),
            "no signature": (f"{head}.{claims}.", not_signed),
            "cut": (f"{head}.{claims}", not_signed),
            "claims of another": (f"{head}.{forged_token(key, sun='root').split('.')[1]}.{signature}", not_signed),
            "other cluster's key": (forged_token(os.urandom(32)), not_signed),
            "expired": (forged_token(key, exp=now - 3600), "expired 1 h ago"),
            "without an end": (forged_token(key, exp=None), "has no end"),
            "an end in words": (forged_token(key, exp="tomorrow"), "not a whole number"),
            "a begin in words": (forged_token(key, nbf="yesterday"), "not a whole number"),
            "of a clock an hour ahead": (forged_token(key, iat=now + 3600, exp=now + 7200), "compare the clocks"),
            "extensions": (forged_token(key, header={"crit": ["b64"]}), "crit"),
            "RS256 with the secret": (forged_token(key, "RS256"), not_signed),
            "HS512 with a short signature": (forged_token(key, "HS512"), not_signed),
            "a key of its own": (forged_token(os.urandom(32), header={"jwk": {"kty": "oct", "k": "AAAA"}}), not_signed),
            "a path as key": (forged_token(b"", header={"kid": "/dev/null"}), not_signed),
            "without a user": (forged_token(key, sun=None), "names no user"),
            "a user who is a list": (forged_token(key, sun=["root"]), "names no user"),
            "a stranger": (forged_token(key, sun="nobody-here"), "does not know"),
            "a number": (forged_token(key, sun="0"), "does not know"),
            "a name with a break": (forged_token(key, sun="lab1\nroot"), "does not know"),
            "a name with a zero": (forged_token(key, sun="lab1\0root"), ""),
            "nothing": ("", ""),
            "noise": ("a.b.c", not_signed),
            "long": ("a" * 9000, "longer than"),
        }
        for name, (token, why) in wrong.items():
            with self.subTest(name):
                self.assertIn(why, self.refused({"Authorization": f"Bearer {token}"}))
        self.assertIn("neither", self.refused({"Authorization": "Basic bGFiMTp4"}))

    def test_two_authorizations_are_none(self):
        good = forged_token(self.key)
        twice = [("Authorization", f"Bearer {good}"), ("Authorization", f"Bearer {good}")]
        self.assertIn("neither", self.refused(twice))
        mixed = [*self.hosts[0].munge("lab1", "GET", "/v1/me").items(), ("Authorization", f"Bearer {good}")]
        self.assertIn("neither", self.refused(mixed))

    def test_a_munge_credential_is_taken_once_and_for_its_request(self):
        host, body = self.hosts[0], json.dumps({"jobs": [{"gres": "gpu:1", "time_limit_seconds": 3600}]})
        made = host.munge("lab1", "POST", "/v1/when", body)
        self.assertEqual(self.ask("POST", "/v1/when", body, made)[0], 200)
        self.assertIn("Replayed credential", self.refused(made, "POST", "/v1/when", body))
        for changed in [{"target": "/v1/when?x"}, {"body": body + " "}, {"body": None}, {"method": "PUT"}]:
            asked = {"method": "POST", "target": "/v1/when", "body": body, **changed}
            with self.subTest(changed):
                made = host.munge("lab1", "POST", "/v1/when", body)
                self.assertIn("for another request", self.refused(made, **asked))
        made = host.munge("lab1", "GET", "/v1/me")
        self.assertIn("for another request", self.refused({**made, "Gpuadvise-Nonce": secrets.token_hex(16)}))
        for nonce in ["", "x", "A" * 32, "a" * 33]:
            made = host.munge("lab1", "GET", "/v1/me", nonce=nonce or "a" * 32)
            self.assertIn("Gpuadvise-Nonce", self.refused({**made, "Gpuadvise-Nonce": nonce}))
        self.assertIn("not valid", self.refused({"Authorization": "Munge MUNGE:AAAA:", "Gpuadvise-Nonce": "a" * 32}))
        old = subprocess.run(["munge", "-S", str(host.munge_socket), "-s", "gpuadvise GET /v1/me"], text=True, check=True,
                             stdout=subprocess.PIPE, **programs.as_user("lab1")).stdout.strip()
        self.assertIn("for another request", self.refused({"Authorization": f"Munge {old}", "Gpuadvise-Nonce": "a" * 32}))

    def test_a_credential_of_another_clusters_key_is_not_valid(self):
        folder = self.lab.folder / "foreign"
        folder.mkdir()
        (folder / "munge.key").write_bytes(os.urandom(1024))
        (folder / "munge.key").chmod(0o600)
        munged = subprocess.Popen(["munged", "-F", "--force", f"--key-file={folder}/munge.key", f"--socket={folder}/sock",
                                   f"--pid-file={folder}/pid", f"--log-file={folder}/log", f"--seed-file={folder}/seed"],
                                  stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until((folder / "sock").exists, "another munged", 10)
            made = subprocess.run(["munge", "-S", str(folder / "sock"), "-s", "x"], text=True, check=True,
                                  stdout=subprocess.PIPE).stdout.strip()
        finally:
            munged.terminate()
            munged.wait()
        self.assertIn("not valid", self.refused({"Authorization": f"Munge {made}", "Gpuadvise-Nonce": "a" * 32}))

    def test_who_shows_nobody_sends_no_large_body(self):
        large = json.dumps({"spec": {"name": "x" * 100_000}})
        self.assertEqual(self.ask("POST", "/v1/advise", large)[0], 413)
        self.assertEqual(self.by_munge("lab1", "POST", "/v1/advise", large)[0], 400)  # read, and found wrong
        self.assertEqual(self.by_token("lab1", "POST", "/v1/advise", large)[0], 400)

    def test_older_tls_and_no_tls(self):
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            self.hosts[0].connect_tls(self.certificate, self.port, maximum_version=ssl.TLSVersion.TLSv1_2)
        plain = http.client.HTTPConnection("localhost")
        plain.sock = self.hosts[0].connect(self.port)
        status, text, _ = exchange(plain, "GET", "/v1/gpus", None, ())
        self.assertEqual(status, 400)
        self.assertIn("https://", text)

    def test_who_drips_holds_up_nobody(self):
        self.site.restart(request_timeout="2s")
        self.addCleanup(self.site.restart, request_timeout="10s")
        begun = (f"POST /v1/advise HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {forged_token(self.key)}\r\n"
                 "Content-Length: 100\r\n\r\n{").encode()
        dripping = []
        for host in self.hosts:
            for _ in range(10):
                dripping.append(host.connect_tls(self.certificate, self.port))
                dripping[-1].send(begun)
        halves = [self.hosts[1].connect(self.port) for _ in range(20)]  # no handshake
        self.assertEqual(self.site.run("gpus").returncode, 0)
        self.assertEqual(self.by_munge("lab2", "GET", "/v1/gpus")[0], 200)
        for secure in dripping:
            said = secure.recv(4096)
            self.assertTrue(said == b"" or b" 408 " in said, said)
            secure.close()
        for half in halves:
            self.assertEqual(half.recv(10), b"")
            half.close()

    def test_silent_connections_keep_no_user_out(self):
        user = http.client.HTTPConnection("centre", timeout=30)
        user.sock = self.hosts[1].connect_tls(self.certificate, self.port)
        own = {"Authorization": f"Bearer {self.token('lab1')}"}

        def asked():
            user.request("GET", "/v1/me", headers=own)
            return json.loads(user.getresponse().read())["user"]
        self.assertEqual(asked(), "lab1")
        before = self.memory()
        context = self.certificate.context()
        silent = []
        for i in range(700):  # more than an eighth of max_connections
            raw = self.hosts[i % 2].connect(self.port)
            try:
                silent.append(context.wrap_socket(raw, server_hostname=self.hosts.address))
            except (ssl.SSLError, OSError):  # its place went to a later one
                raw.close()
        most = self.memory()
        self.assertEqual(asked(), "lab1", "on a connection that was there before")
        self.assertEqual(self.by_munge("lab2", "GET", "/v1/me")[0], 200, "on a new one")
        self.assertEqual(self.ask("GET", "/v1/gpus")[0], 200, "a stranger who asks")
        for secure in silent:
            try:
                self.assertEqual(secure.recv(1), b"")  # after five seconds at most
            except OSError:
                pass
            secure.close()
        self.assertEqual(asked(), "lab1")
        user.close()
        wait_until(lambda: self.memory() < (before + most) / 2, f"the memory to come back: {before:.0f} to {most:.0f} MB", 30)


if __name__ == "__main__":
    programs.main()
