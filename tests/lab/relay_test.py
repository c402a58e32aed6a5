#!/usr/bin/env python3
"""Callers from other hosts on a real Slurm: through a relay, with a token, with munge; and who pretends to be one.

    relay_test.py BIN_DIR [unittest options]
"""
import http.client
import json
import os
import pathlib
import pwd
import signal
import socket
import ssl
import subprocess
import time

import collecting
import lab_machine
import programs
import remote
import slurmrestd
from lab import wait_until
from remote import ask, effective_user, message


class RemoteTest(programs.SiteTest):
    """A daemon that relay1 may ask; relay2 has a certificate of its authority, too, but is not listed."""
    LAB = {"cluster": "tiny"}

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(collecting.temporary_folder()))
        os.chmod(folder, 0o755)
        cls.LAB = {"cluster": "tiny", "conf": {}}
        cls.has_tokens = slurmrestd.why_no_tokens() is None
        cls.key = folder / "jwt_hs256.key"
        if cls.has_tokens:
            cls.LAB["conf"] = slurmrestd.write_token_key(folder)
        else:
            cls.key.write_bytes(os.urandom(32))
        super().setUpClass()
        cls.certificates = remote.Certificates(cls.site.folder / "tls", cls.bin_folder / "gpuadvised", "relay1", "relay2")
        # The daemon's user reads a copy of Slurm's key, as a site would give it.
        own_key = cls.certificates.folder / "slurm.key"
        own_key.write_bytes(cls.key.read_bytes())
        own_key.chmod(0o644)
        cls.port = lab_machine.free_ports(1)[0]
        cls.url = f"https://localhost:{cls.port}"
        cls.site.start(source="slurm-cli", remote={
            **cls.certificates.remote, "listen": f"127.0.0.1:{cls.port}", "relays": ["relay1"], "token_key": str(own_key),
            "munge": True, "munge_socket": str(next(cls.lab.folder.rglob("munge.sock")))})
        cls.addClassCleanup(cls.site.stop)

    def relay(self, name="relay1", url=None, start=True):
        made = remote.Relay(self.site, self.certificates, name, url or self.url)
        if start:
            made.start()
            self.addCleanup(made.stop)
        return made

    def tls(self, relay=None, timeout=30, **limits):
        return http.client.HTTPSConnection("localhost", self.port, timeout=timeout,
                                           context=self.certificates.context(relay, **limits))

    def munge(self, user, method, target):
        socket_path = next(self.lab.folder.rglob("munge.sock"))
        done = subprocess.run(["munge", "-S", str(socket_path), "-s", f"gpuadvise {method} {target}"], text=True, check=True,
                              stdout=subprocess.PIPE, **programs.as_user(user))
        return f"Munge {done.stdout.strip()}"

    def refused(self, headers, relay=None, status=401):
        answer = ask(self.tls(relay), "GET", "/v1/me", headers=headers)
        self.assertEqual(answer[0], status, answer)
        return message(answer)


QUESTIONS = [("GET", "/v1/me", None), ("GET", "/v1/gpus", None), ("GET", "/v1/queue", None), ("GET", "/v1/nodes", None),
             ("GET", "/v1/accuracy", None), ("GET", "/v1/advice", None), ("GET", "/v1/site", None), ("GET", "/v1/nothing", None),
             ("GET", "/v1/standby", None), ("POST", "/v1/when", {"gres": "gpu:1", "time_limit_seconds": 3600}),
             ("POST", "/v1/when", {"gres": "gpu:unknown:1"}), ("POST", "/v1/advise", {"nonsense": 1})]


class Answers(RemoteTest):
    def test_they_are_the_same_by_socket_relay_token_and_munge(self):
        relay = self.relay()
        job = self.lab.submit("--gres=gpu:1", "-t", "60")
        self.lab.wait_for_state(job, "RUNNING")
        self.site.wait_for_next_snapshot()
        self.site.restart(poll_interval="1h")  # from now on there is one snapshot
        self.addCleanup(self.site.restart, poll_interval="300ms")
        compared = 0
        for user in ["lab1", "lab2"]:
            token = self.token(user)
            for method, target, body in [*QUESTIONS, ("GET", f"/v1/jobs/{job}", None)]:
                with effective_user(user):
                    wanted = self.said(remote.UnixConnection(self.site.socket), method, target, body)
                    ways = {"relay": self.said(remote.UnixConnection(relay.socket), method, target, body)}
                if token:
                    ways["token"] = self.said(self.tls(), method, target, body, {"Authorization": f"Bearer {token}"})
                ways["munge"] = self.said(self.tls(), method, target, body, {"Authorization": self.munge(user, method, target)})
                for way, answer in ways.items():
                    self.assertEqual(answer, wanted, f"{user} {method} {target} by {way}")
                    compared += 1
        self.assertIn(f'"user":"{user}"', self.said(self.tls(), "GET", "/v1/me", None, {
            "Authorization": self.munge(user, "GET", "/v1/me")})[1])
        print(f"{compared} answers are the same, byte by byte", flush=True)

    def test_the_client_goes_every_way(self):
        relay = self.relay()
        by_socket = self.site.json("gpus")["gpus"]
        self.assertEqual([row["gpu"] for row in relay.json("gpus")["gpus"]], [row["gpu"] for row in by_socket])
        trusted = {"GPUADVISE_SOCKET": self.url, "XDG_CONFIG_HOME": str(self.site.home("lab1") / "config")}
        (self.site.home("lab1") / "config" / "gpuadvise").mkdir(parents=True, exist_ok=True)
        file = self.site.home("lab1") / "config" / "gpuadvise" / "client.yaml"
        file.write_text(f"ca_file: {self.certificates.folder}/ca.crt\n")
        if self.has_tokens:
            token = self.token("lab1")
            self.assertEqual(self.site.run("jobs", env={**trusted, "SLURM_JWT": token}).returncode, 0)
            (self.site.home("lab1") / "token").write_text(f"SLURM_JWT={token}\n")
            file.write_text(f"ca_file: {self.certificates.folder}/ca.crt\ntoken_file: {self.site.home('lab1')}/token\n")
            self.assertEqual(self.site.run("jobs", env=trusted).returncode, 0)
            bad = self.site.run("jobs", env={**trusted, "SLURM_JWT": "x"}, check=False)  # the file goes before
            self.assertEqual(bad.returncode, 0)
        file.write_text(f"ca_file: {self.certificates.folder}/ca.crt\n"
                        f"munge_socket: {next(self.lab.folder.rglob('munge.sock'))}\n")
        self.assertEqual(self.site.run("jobs", env=trusted).returncode, 0)
        stranger = self.site.run("gpus", env={"GPUADVISE_SOCKET": self.url}, check=False)
        self.assertEqual(stranger.returncode, 4, stranger)
        self.assertIn("ca_file", stranger.stderr)

    def test_submit_through_a_relay_is_the_users_own(self):
        relay = self.relay()
        relay.write("train.yaml", "name: by-relay\nmodel: {memory: {base: 1 GB, per_sample: 100 MB, overhead: 1 MB}}\n"
                    "training: {max_steps: 10, effective_batch_size: 4, measured: [{gpu: rtx2080ti, gpus: 1, batch: 4, "
                    "seconds_per_step: 1}]}\nresources: {max_gpus: 1}\ncommand: sleep 5\n")
        job = relay.json("submit", "--yes", "train.yaml")["job_id"]
        self.assertIn(f"{job} lab1", self.queue("%i %u"))
        mine = wait_until(lambda: relay.json("jobs")["jobs"], "the job among those of its user")
        self.assertEqual([row["job_id"] for row in mine], [job])
        self.assertEqual(relay.json("jobs", user="lab2")["jobs"], [])
        self.assertEqual(self.site.json("jobs")["jobs"], mine)

    def test_events_stream_through_and_end_with_the_daemon(self):
        relay = self.relay()
        stream = remote.UnixConnection(relay.socket, timeout=30)
        self.addCleanup(stream.close)
        with effective_user("lab1"):
            stream.request("GET", "/v1/events")
            answer = stream.getresponse()
        self.assertEqual(answer.getheader("Content-Type"), "text/event-stream")
        line = answer.readline().decode()
        self.assertTrue(line.startswith("event: "), line)
        for _ in range(3):  # not only what was there at the start
            while not answer.readline().startswith(b"event: "):
                pass
        self.site.stop()
        began = time.monotonic()
        while answer.readline():
            pass
        self.assertLess(time.monotonic() - began, 20)
        self.site.start()

    def token(self, user):
        if not self.has_tokens:
            return None
        return self.lab.run("scontrol", "token", f"username={user}", "lifespan=600").stdout.strip().removeprefix("SLURM_JWT=")

    @staticmethod
    def said(connection, method, target, body, headers=None):
        status, text = ask(connection, method, target, body, headers)
        return status, remote.without_clock(text)


class Attacks(RemoteTest):
    def test_a_uid_is_believed_from_listed_relays_alone(self):
        self.assertIn("shows no certificate", self.refused({"Gpuadvise-Uid": "0"}))
        self.assertIn("'relay2' is not of a relay", self.refused({"Gpuadvise-Uid": "0"}, relay="relay2"))
        for bad in ["-1", "x", "4294967295", "0 0", ""]:
            answer = ask(self.tls("relay1"), "GET", "/v1/me", headers={"Gpuadvise-Uid": bad})
            self.assertTrue(answer[0] == 401 or json.loads(answer[1])["anonymous"], (bad, answer))
        twice = self.tls("relay1")
        twice.putrequest("GET", "/v1/me")
        for uid in ["1000", "0"]:
            twice.putheader("Gpuadvise-Uid", uid)
        twice.endheaders()
        self.assertEqual(twice.getresponse().status, 401)
        twice.close()
        both = self.refused({"Gpuadvise-Uid": "1000", "Authorization": "Bearer x"}, relay="relay1")
        self.assertIn("says twice", both)

    def test_a_stolen_relay_certificate_is_no_root_and_no_daemon(self):
        """Who has a relay's key may name any user, but neither root nor the standby's rights."""
        status, text = ask(self.tls("relay1"), "GET", "/v1/me", headers={"Gpuadvise-Uid": "0"})
        self.assertEqual(status, 200)
        self.assertTrue(json.loads(text)["anonymous"])
        self.assertIn("root of another host", json.loads(text)["note"])
        own = str(pwd.getpwnam(programs.DAEMON_USER).pw_uid)
        for uid in ["0", own]:
            status, text = ask(self.tls("relay1"), "GET", "/v1/standby", headers={"Gpuadvise-Uid": uid})
            self.assertEqual(status, 404, text)

    def test_root_is_nobody_by_munge_and_by_token_too(self):
        ways = [self.munge("root", "GET", "/v1/me")]
        if self.has_tokens:
            ways.append(f"Bearer {remote.forged_token(self.key.read_bytes(), sun='root')}")
        for authorization in ways:
            status, text = ask(self.tls(), "GET", "/v1/me", headers={"Authorization": authorization})
            self.assertEqual(status, 200, text)
            self.assertTrue(json.loads(text)["anonymous"])
            self.assertIn("root of another host", json.loads(text)["note"])

    def test_who_shows_no_certificate_sends_no_large_body(self):
        large = {"spec": {"name": "x" * 100_000}}
        self.assertEqual(ask(self.tls(), "POST", "/v1/advise", large)[0], 413)
        uid = str(pwd.getpwnam("lab1").pw_uid)
        self.assertEqual(ask(self.tls("relay1"), "POST", "/v1/advise", large, {"Gpuadvise-Uid": uid})[0], 400)

    def test_a_relays_socket_that_was_removed_is_made_again(self):
        relay = self.relay()
        self.assertEqual(relay.run("gpus", check=False).returncode, 0)
        pathlib.Path(relay.socket).unlink()
        wait_until(lambda: relay.run("gpus", check=False).returncode == 0, "the socket to be there again", 20)

    def test_certificates_that_are_not_good(self):
        self.certificates.make("--relay", "late,gone", "--days", "1", before=["faketime", "-f", "-40d"])
        with self.assertRaises((ssl.SSLError, ConnectionError)):  # expired for 39 days
            ask(self.tls("late"), "GET", "/v1/me", headers={"Gpuadvise-Uid": "1000"})
        other = remote.Certificates(self.site.folder / "other", self.bin_folder / "gpuadvised", "relay1")
        stranger = self.certificates.context()
        own = other.folder / "relays" / "relay1"
        stranger.load_cert_chain(own / "relay.crt", own / "relay.key")
        connection = http.client.HTTPSConnection("localhost", self.port, timeout=10, context=stranger)
        with self.assertRaises((ssl.SSLError, ConnectionError)):  # the same name from another authority
            ask(connection, "GET", "/v1/me", headers={"Gpuadvise-Uid": "1000"})
        server_as_client = self.certificates.context()
        server_as_client.load_cert_chain(self.certificates.folder / "daemon.crt", self.certificates.folder / "daemon.key")
        connection = http.client.HTTPSConnection("localhost", self.port, timeout=10, context=server_as_client)
        with self.assertRaises((ssl.SSLError, ConnectionError)):  # the daemon's own is not for clients
            ask(connection, "GET", "/v1/me", headers={"Gpuadvise-Uid": "1000"})

    def test_a_revoked_relay_is_cut_off_also_where_it_is_connected(self):
        self.certificates.make("--relay", "relay3")
        self.site.restart(remote={**self.site.settings["remote"], "relays": ["relay1", "relay3"]})
        relay = self.relay("relay3")
        self.assertEqual(relay.run("gpus", check=False).returncode, 0)
        own = self.tls("relay3")
        own.connect()  # open before
        own.request("GET", "/v1/me", headers={"Gpuadvise-Uid": "1000"})
        self.assertEqual(own.getresponse().read()[:1], b"{")
        keys = [(self.certificates.folder / "relays" / "relay3" / name).read_bytes() for name in ["relay.crt", "relay.key"]]
        said = self.certificates.make("--revoke", "relay3")
        self.assertIn("revoked the certificate of relay3", said)
        folder = self.certificates.folder / "relays" / "relay3"  # the thief kept a copy
        folder.mkdir()
        for name, text in zip(["relay.crt", "relay.key"], keys):
            (folder / name).write_bytes(text)
        refused = wait_until(lambda: (done := relay.run("gpus", check=False)).returncode == 4 and done, "the relay to be refused", 20)
        self.assertIn("revoked", refused.stderr)
        with self.assertRaises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
            own.request("GET", "/v1/me", headers={"Gpuadvise-Uid": "1000"})
            own.getresponse().read()
        self.assertEqual(self.relay().run("gpus", check=False).returncode, 0)  # others are not
        for name in ["relay.crt", "relay.key"]:
            (folder / name).unlink()
        folder.rmdir()

    def test_clocks_an_hour_apart(self):
        library = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
        for shift in ["-1h", "+1h"]:
            relay = self.relay("relay1", start=False)
            relay.write_settings()
            relay.process = subprocess.Popen(
                [str(self.site.bin / "gpuadvised"), "--config", str(relay.config)], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **programs.as_user(programs.DAEMON_USER),
                env={**os.environ, "LD_PRELOAD": str(library), "FAKETIME": shift, "DONT_FAKE_MONOTONIC": "1"})
            self.addCleanup(relay.stop)
            wait_until(relay._answers, "the relay to listen")
            done = relay.run("gpus")
            self.assertEqual((done.returncode, done.stderr), (0, ""), shift)
            relay.stop()

    def test_renewed_certificates_need_no_restart(self):
        relay = self.relay()
        self.assertEqual(relay.run("gpus", check=False).returncode, 0)
        before = (self.certificates.folder / "daemon.crt").read_text()
        for name in ["daemon.crt", "relays/relay1/relay.crt"]:
            (self.certificates.folder / name).unlink()
        self.certificates.make("--daemon", "localhost,127.0.0.1", "--relay", "relay1")
        self.assertNotEqual((self.certificates.folder / "daemon.crt").read_text(), before)
        wait_until(lambda: "certificates of relays were read again" in self.site.log.read_text(), "the daemon to see it", 20)
        self.assertEqual(relay.run("gpus", check=False).returncode, 0)

    def test_older_tls_and_no_tls(self):
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            ask(self.tls(maximum_version=ssl.TLSVersion.TLSv1_2), "GET", "/healthz")
        plain = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        status, text = ask(plain, "GET", "/v1/gpus", headers={"Gpuadvise-Uid": "0"})
        self.assertEqual(status, 400)
        self.assertIn("https://", text)
        self.assertEqual(self.relay(url=self.url.replace("https", "http"), start=False).bin.name, "bin")
        done = subprocess.run([str(self.site.bin / "gpuadvised"), "--relay", self.url.replace("https", "http"), "--config",
                               "/dev/null"], text=True, capture_output=True, timeout=20)
        self.assertEqual(done.returncode, 1)
        self.assertIn("write https://HOST:PORT", done.stderr)

    def test_tokens_that_are_forged(self):
        key = self.key.read_bytes()
        good = remote.forged_token(key)
        self.assertEqual(ask(self.tls(), "GET", "/v1/me", headers={"Authorization": f"Bearer {good}"})[0], 200)
        now = int(time.time())
        head, claims, signature = good.split(".")
        wrong = {
            "alg none": (remote.forged_token(key, "none"), "which this daemon does not take"),
            "alg None": (remote.forged_token(key, "None"), ""),
            "no signature": (f"{head}.{claims}.", ""),
            "cut": (f"{head}.{claims}", ""),
            "claims of another": (f"{head}.{remote.forged_token(key, sun='root').split('.')[1]}.{signature}", "not signed by a key"),
            "other cluster's key": (remote.forged_token(os.urandom(32)), "another cluster's"),
            "expired": (remote.forged_token(key, exp=now - 3600), "expired 1 h ago"),
            "without an end": (remote.forged_token(key, exp=None), "has no end"),
            "an end in words": (remote.forged_token(key, exp="tomorrow"), "has no end"),
            "of a clock an hour ahead": (remote.forged_token(key, iat=now + 3600, exp=now + 7200), "compare the clocks"),
            "RS256 with the secret": (remote.forged_token(key, "RS256"), "which this daemon does not take"),
            "without a user": (remote.forged_token(key, sun=None), "names no user"),
            "a user who is a list": (remote.forged_token(key, sun=["root"]), "names no user"),
            "a stranger": (remote.forged_token(key, sun="nobody-here"), "does not know"),
            "a number": (remote.forged_token(key, sun="0"), "does not know"),
            "a name with a break": (remote.forged_token(key, sun="lab1\nroot"), "does not know"),
            "nothing": ("", ""),
            "noise": ("a.b.c", "no JSON Web Token"),
            "long": ("a" * 9000, "longer than"),
        }
        for name, (token, why) in wrong.items():
            with self.subTest(name):
                self.assertIn(why, self.refused({"Authorization": f"Bearer {token}"}))
        self.assertIn("neither", self.refused({"Authorization": "Basic bGFiMTp4"}))
        plain = self.site.ask("/v1/me")[1]  # on the Unix socket nobody looks at tokens
        self.assertFalse(plain["anonymous"])

    def test_a_munge_credential_is_taken_once_and_for_its_request(self):
        place = str(next(self.lab.folder.rglob("munge.sock")))
        made = subprocess.run(["munge", "-S", place, "-s", "gpuadvise GET /v1/me"], text=True, check=True,
                              stdout=subprocess.PIPE, **programs.as_user("lab1")).stdout.strip()
        answer = ask(self.tls(), "GET", "/v1/me", headers={"Authorization": f"Munge {made}"})
        self.assertEqual(json.loads(answer[1])["user"], "lab1")
        self.assertIn("Replayed credential", self.refused({"Authorization": f"Munge {made}"}))
        other = subprocess.run(["munge", "-S", place, "-s", "gpuadvise GET /v1/gpus"], text=True, check=True,
                               stdout=subprocess.PIPE).stdout.strip()
        self.assertIn("for another request", self.refused({"Authorization": f"Munge {other}"}))
        self.assertIn("not valid", self.refused({"Authorization": "Munge MUNGE:AAAA:"}))

    def test_a_relay_that_drips_holds_up_nobody(self):
        self.site.restart(request_timeout="2s")
        self.addCleanup(self.site.restart, request_timeout="10s")
        dripping = []
        for _ in range(20):
            raw = socket.create_connection(("127.0.0.1", self.port), timeout=10)
            secure = self.certificates.context("relay1").wrap_socket(raw, server_hostname="localhost")
            secure.send(b"POST /v1/advise HTTP/1.1\r\nHost: x\r\nGpuadvise-Uid: 1000\r\nContent-Length: 100\r\n\r\n{")
            dripping.append(secure)
        halves = [socket.create_connection(("127.0.0.1", self.port), timeout=10) for _ in range(20)]  # no handshake
        began = time.monotonic()
        self.assertEqual(self.site.run("gpus").returncode, 0)
        self.assertEqual(self.relay().run("gpus").returncode, 0)
        self.assertLess(time.monotonic() - began, 5)
        for secure in dripping:
            secure.settimeout(8)
            secure.send(b" ")
            said = secure.recv(4096)
            self.assertTrue(said == b"" or b" 408 " in said, said)
            secure.close()
        for half in halves:
            half.settimeout(8)
            self.assertEqual(half.recv(10), b"")
            half.close()

    def test_a_daemon_that_hangs_or_is_gone_is_said(self):
        relay = self.relay()
        self.assertEqual(relay.run("gpus").returncode, 0)
        self.site.process.send_signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            hangs = relay.run("gpus", check=False)
            self.assertEqual(hangs.returncode, 4)
            self.assertLess(time.monotonic() - began, 31)
            self.assertRegex(hangs.stderr, r"cannot be asked: no answer in time; it last answered .* ago")
        finally:
            self.site.process.send_signal(signal.SIGCONT)
        self.site.stop()
        gone = relay.run("gpus", "--json", check=False)
        self.assertEqual(gone.returncode, 4)
        self.assertIn("Connection refused; it last answered", message((4, gone.stdout)))
        self.assertTrue(relay.state()["problem"])
        self.site.start()
        wait_until(lambda: relay.run("gpus", check=False).returncode == 0, "the relay to answer again", 20)


if __name__ == "__main__":
    programs.main()
