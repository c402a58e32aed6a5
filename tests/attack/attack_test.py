#!/usr/bin/env python3
"""What local users and callers over TCP may try against a daemon on a live Slurm, and what stops them.

    attack_test.py BIN_DIR [--figures FILE] [unittest options]

Each test is a row of docs/security.md. With --figures what was measured is written to FILE as a table: run it with programs
of two builds to compare them. Nothing is asserted of seconds.
"""
import json
import os
import pathlib
import re
import stat
import socket
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lab"))
import programs  # noqa: E402
from caller import Caller  # noqa: E402

SECRET = "hf_SECRETTOKEN"
FIGURES = {}

SPEC = {
    "name": "train",
    "model": {"memory": {"base": "5 GB", "per_sample": "1.2 GB", "overhead": "2 GB"}},
    "training": {"max_steps": 10_000, "effective_batch_size": [120, 144],
                 "measured": [{"gpu": "rtx4090", "gpus": 4, "batch": 10, "seconds_per_step": 3.9}]},
    "resources": {"cpus_per_gpu": 2, "mem_per_gpu": "4G"},
    "command": "sleep 60",
}


def spec_with(**changes):
    """SPEC with some of its sections changed."""
    spec = json.loads(json.dumps(SPEC))
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(spec.get(key), dict):
            spec[key].update(value)
        else:
            spec[key] = value
    return spec


def timing(batch=10):
    return {"gpu": "rtx4090", "gpus": 4, "batch": batch, "seconds_per_step": 3.9}


def large_questions():
    """Requests of up to 1 MB that once cost seconds: name -> (path, body)."""
    hosts = ",".join(f"n[{i:019d}-{i + 99_999:019d}]" for i in range(1, 65))
    stages = [{"name": f"s{i}", "training": SPEC["training"]} for i in range(3_000)]
    staged = {key: value for key, value in SPEC.items() if key != "training"}
    return {
        "12,600 timings": ("/v1/advise", {"spec": spec_with(training={"measured": [timing()] * 12_600})}),
        "70,000 partitions": ("/v1/when", {"gres": "gpu:1", "partition": ",".join(["tiny"] * 70_000)}),
        "64 host lists of 100,000 nodes": ("/v1/when", {"gres": "gpu:1", "nodelist": hosts}),
        "70,000 names of modules": ("/v1/advise", {"spec": spec_with(
            model={"preset": "llama-3.1-8b", "memory": None},
            training={"method": "lora", "lora": {"target_modules": [f"m{i}" for i in range(70_000)]}})}),
        "3,000 stages": ("/v1/advise", {"spec": {**staged, "stages": stages}}),
        "a name of 900 kB": ("/v1/advise", {"spec": spec_with(name="x" * 900_000)}),
        "a million GPUs": ("/v1/scale", {"spec": spec_with(), "most_gpus": 10**12}),
        "deep nesting": ("/v1/advise", '{"spec":' * 100_000),
        "a long constraint": ("/v1/when", {"gres": "gpu:1", "constraint": "&".join(["a"] * 200_000)}),
    }


class Attack(programs.SiteTest):
    LAB = {"cluster": "tiny"}
    SETTINGS = {"listen": "127.0.0.1:0"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.start()

    @classmethod
    def start(cls):
        """The daemon, and where it listens on TCP."""
        def places():
            return re.findall(r"http://([0-9.]+:\d+)/", cls.site.log.read_text()) if cls.site.log.exists() else []
        before = len(places())
        cls.site.start()
        cls.tcp = programs.wait_until(lambda: places()[before:], "its address on TCP")[-1]

    def setUp(self):
        if not self.site.alive():
            self.start()

    def tearDown(self):
        if self.site.process is not None:
            self.assertTrue(self.site.alive(), self.site.log_tail())
            self.site.wait_until_fresh()
        super().tearDown()

    def restart(self):
        """For figures of one test alone."""
        self.site.stop()
        self.start()

    def as_(self, user):
        return Caller(self.site.socket, user)

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.site.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self, what):
        status = pathlib.Path(f"/proc/{self.site.process.pid}/status").read_text()
        return int(re.search(rf"{what}:\s+(\d+)", status).group(1)) / 1024

    def stored_megabytes(self):
        return sum(file.stat().st_size for file in (self.site.folder / "state").iterdir()) / 1e6

    def advice(self, caller):
        answer = caller.ask("POST", "/v1/advise", {"spec": SPEC})
        self.assertEqual(answer["status"], {"200": 1}, answer["body"])
        return re.search(r'"advice_id":"([^"]+)"', answer["body"]).group(1)

    def newest_job(self):
        """The id of a job of lab1 that waits, the last one that Slurm has given."""
        job = self.lab.submit("--hold", "--partition=gpu_shared", user="lab1")
        self.site.wait_for_next_snapshot()
        return job

    # ---- claims --------------------------------------------------------------------------------

    def test_invented_submissions_move_nobodys_forecast(self):
        self.restart()
        newest = self.newest_job()
        before = self.site.when("--gres", "gpu:1", user="lab2")
        with self.as_("lab1") as attacker:
            advice = self.advice(attacker)
            taken = 0
            begun = self.cpu_seconds()
            for number in range(1, 301):
                answer = attacker.ask("POST", f"/v1/advice/{advice}/submitted", {"job_id": newest + number, "rank": 1})
                taken += answer["status"].get("200", 0)
        cpu = self.cpu_seconds() - begun
        during = self.site.when("--gres", "gpu:1", user="lab2")
        figure("300 invented submissions: taken", taken)
        figure("300 invented submissions: CPU seconds", round(cpu, 2))
        figure("300 invented submissions: jobs before another user's, then", during.get("jobs_before"))
        self.assertEqual(taken, 300)
        self.site.wait_for_next_snapshot()
        after = self.site.when("--gres", "gpu:1", user="lab2")
        for later in (during, after):
            self.assertEqual((later["jobs_before"], later["wait_p50_seconds"]),
                             (before["jobs_before"], before["wait_p50_seconds"]))

    def test_invented_submissions_cost_a_poll_in_five_seconds(self):
        newest = self.newest_job()
        self.site.stop()
        self.site.settings["poll_interval"] = "1h"
        self.start()
        try:
            waits, polls = set(), set()
            with self.as_("lab1") as attacker:
                advice = self.advice(attacker)
                begun = time.monotonic()
                while len(polls) < 4:
                    for number in range(1, 11):
                        report = {"job_id": newest + number, "rank": 1}
                        answer = attacker.ask("POST", f"/v1/advice/{advice}/submitted", report)
                        self.assertEqual(answer["status"], {"200": 1}, answer["body"])
                    answer = self.site.json("when", "--gres", "gpu:gpu4090:4", "-p", "gpu_shared", "-t", "60", user="lab2")
                    waits.add(answer["answers"][0]["wait_p50_seconds"])
                    polls.add(answer["meta"]["snapshot_taken_at"])
                took = time.monotonic() - begun
        finally:
            self.site.stop()
            self.site.settings["poll_interval"] = "300ms"
            self.start()
        figure("ten invented submissions again and again: seconds a poll", round(took / (len(polls) - 1), 1))
        self.assertEqual(waits, {0})
        self.assertLessEqual(len(polls), took / 5 + 2)

    def test_a_claim_far_from_the_queue_is_refused(self):
        self.newest_job()
        with self.as_("lab1") as attacker:
            advice = self.advice(attacker)
            for job in (10**15, 2**31 - 5):
                answer = attacker.ask("POST", f"/v1/advice/{advice}/submitted", {"job_id": job, "rank": 1})
                self.assertNotIn("200", answer["status"], answer["body"])

    def test_outcomes_fill_neither_disk_nor_memory(self):
        self.restart()
        newest = self.newest_job()
        attempt = {"seconds": 60, "began": 1, "exit_code": 0, "micro_batch": 1,
                   "gpus": [{"peak_memory_bytes": 1, "memory_total_bytes": 2}] * 64}
        with self.as_("lab1") as attacker:
            advice = self.advice(attacker)
            taken = 0
            for number in range(1, 121):
                attacker.ask("POST", f"/v1/advice/{advice}/submitted", {"job_id": newest + number, "rank": 1})
                outcome = {"version": 1, "job_id": str(newest + number), "attempts": [attempt] * 100}
                taken += attacker.ask("POST", "/v1/outcomes", outcome)["status"].get("200", 0)
        figure("120 outcomes of 0.9 MB: taken", taken)
        figure("120 outcomes of 0.9 MB: MB on disk", round(self.stored_megabytes(), 1))
        figure("120 outcomes of 0.9 MB: MB of memory", round(self.megabytes("VmRSS")))
        self.assertEqual(taken, 0)
        self.assertLess(self.stored_megabytes(), 32)

    # ---- one question --------------------------------------------------------------------------

    def test_no_question_is_too_large_to_be_refused(self):
        for name, (path, body) in large_questions().items():
            with self.subTest(name):
                self.restart()
                text = body if isinstance(body, str) else json.dumps(body)
                memory, cpu = self.megabytes("VmRSS"), self.cpu_seconds()
                with self.as_("lab1") as attacker:
                    answer = attacker.ask("POST", path, text)
                figure(f"{name}: answer", "/".join(answer["status"]))
                figure(f"{name}: CPU ms", round(1000 * (self.cpu_seconds() - cpu)))
                figure(f"{name}: MB more", round(self.megabytes("VmHWM") - memory))
                self.assertIn(list(answer["status"]), (["400"], ["422"], ["413"]), answer["body"][:200])
                message = json.loads(answer["body"])["errors"][0]["message"] if answer["bytes"] < 4_000 else ""
                self.assertGreater(len(message), 10, answer["body"][:200])
                self.assertLess(answer["bytes"], 4_000)

    def test_users_who_flood_do_not_turn_others_away(self):
        self.restart()
        heavy = {"spec": spec_with(training={"measured": [timing(1 + i % 9) for i in range(250)]})}
        callers = [self.as_(user) for user in ("lab1", "lab3", "lab4") for _ in range(2)]
        try:
            for caller in callers:
                caller.send("POST", "/v1/advise", heavy, again=6)
            with self.as_("lab2") as victim:
                victim.send("POST", "/v1/advise", {"spec": SPEC}, again=4)
                answer = victim.receive()
                selected = victim.ask("POST", "/v1/select", {"gres": "gpu:1"}, again=1)
            for caller in callers:
                caller.receive()
        finally:
            for caller in callers:
                caller.close()
        seconds = sorted(answer["seconds"])
        figure("six floods: another's advise, median ms", round(1000 * statistics.median(seconds)))
        figure("six floods: another's advise, p99 ms", round(1000 * seconds[int(.99 * (len(seconds) - 1))]))
        figure("six floods: another's select, worst ms", round(1000 * max(selected["seconds"])))
        self.assertEqual(set(answer["status"]), {"200"})
        self.assertNotIn("429", selected["status"])

    def test_the_last_connections_are_for_who_holds_none(self):
        self.restart()
        holders = [self.as_(user) for user in ("lab1", "lab3", "lab4", "lab5")]
        try:
            for holder in holders:
                holder.hold(80)
            with self.as_("lab2") as victim:
                self.assertEqual(victim.ask("GET", "/healthz")["status"], {"200": 1})
            with self.as_("root") as root:
                self.assertEqual(root.ask("GET", "/healthz")["status"], {"200": 1})
        finally:
            for holder in holders:
                holder.close()

    def test_odd_targets_are_refused_and_no_fault(self):
        odd = ["/", "//", "/v1", "/v1/", "/v1/jobs/", "/v1/jobs/0", "/v1/jobs/-1", "/v1/jobs/1/2", f"/v1/jobs/{10**20}", "/v1/jobs/1e3",
               "/v1/jobs/%31", "/v1/jobs/..", "/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "*", "http://x/healthz", "/healthz#x", "/healthz?",
               "/v1/queue?limit=-1", "/v1/queue?limit=1e9", "/v1/queue?offset=99999999999999999999", "/v1/queue?user=%ff%fe",
               "/v1/queue?user=%00", "/v1/queue?user=%", "/v1/queue?x=1", "/v1/queue?user=a&user=b", "/v1/queue?" + "a" * 5_000,
               "/v1/history?weeks=0", "/v1/usage?weeks=1000000", "/v1/advice?job=x", "/v1/advice//submitted", "/v1/advice/a-x-1/submitted/"]
        for where, user in ((self.site.socket, "lab1"), (self.tcp, None)):
            with Caller(where, user) as caller:
                for target in odd:
                    for method in ("GET", "POST", "PUT", "DELETE", "TRACE"):
                        for status in caller.ask(method, target)["status"]:
                            self.assertIn(status[0], "24", (method, target))
                self.assertEqual(caller.ask("GET", "/healthz")["status"], {"200": 1})

    def test_event_streams_of_one_user_have_a_bound(self):
        streams, statuses = [], []
        try:
            for _ in range(50):
                stream = socket.socket(socket.AF_UNIX)
                streams.append(stream)
                stream.settimeout(10)
                stream.connect(str(self.site.socket))
                stream.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
                statuses.append(stream.recv(12)[-3:])
            with self.as_("lab2") as other:
                self.assertEqual(other.ask("GET", "/healthz")["status"], {"200": 1})
        finally:
            for stream in streams:
                stream.close()
        self.assertEqual((statuses.count(b"200"), statuses.count(b"429")), (32, 18))

    # ---- secrets -------------------------------------------------------------------------------

    def test_no_secret_is_stored_and_nobody_else_reads_what_is(self):
        newest = self.newest_job()
        secret = {**SPEC, "env": {"HF_TOKEN": SECRET}, "setup": f"export A={SECRET}", "command": f"x --token {SECRET}"}
        with self.as_("lab1") as user:
            answer = user.ask("POST", "/v1/advise", {"spec": secret})
            advice = re.search(r'"advice_id":"([^"]+)"', answer["body"]).group(1)
            user.ask("POST", f"/v1/advice/{advice}/submitted", {"job_id": newest, "rank": 1})
        self.site.wait_for_next_snapshot()
        self.site.stop()
        for file in (self.site.folder / "state").iterdir():
            self.assertFalse(SECRET.encode() in file.read_bytes(), file.name)
            self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600, file.name)

    # ---- TCP -----------------------------------------------------------------------------------

    def test_what_is_not_asked_for_is_not_kept(self):
        self.restart()
        memory = self.megabytes("VmRSS")
        with Caller(self.tcp, None) as stranger:
            statuses = set()
            for number in range(1_500):
                statuses |= set(stranger.ask("GET", f"/v1/gpus?x{'y' * 8_000}={number}")["status"])
        figure("1,500 addresses of 8 kB: MB more", round(self.megabytes("VmRSS") - memory))
        self.assertEqual(statuses, {"400"})

    def test_one_address_does_not_hold_all_connections(self):
        self.restart()
        with Caller(self.tcp, None) as holder:
            held = holder.hold(1_500)
            figure("connections over TCP that one address opened", held)
            host, port = self.tcp.split(":")
            with socket.create_connection((host, int(port)), source_address=("127.0.0.2", 0)) as other:
                other.settimeout(10)
                other.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                self.assertIn(b" 200 ", other.recv(100))

    def test_a_body_of_an_unknown_encoding_closes_the_connection(self):
        host, port = self.tcp.split(":")
        for encoding in ("xchunked", "identity", "gzip", "chunked, identity"):
            with self.subTest(encoding), socket.create_connection((host, int(port))) as wire:
                wire.settimeout(10)
                wire.sendall(f"POST /v1/when HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: {encoding}\r\n\r\n"
                             "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                said = b""
                while more := wire.recv(65536):
                    said += more
                self.assertEqual(said.count(b"HTTP/1.1 "), 1, said)
                self.assertIn(b"HTTP/1.1 400", said)

    # ---- faults --------------------------------------------------------------------------------

    def test_a_removed_socket_is_made_again(self):
        self.site.socket.unlink()
        programs.wait_until(self.site.socket.exists, "the socket", 20)
        self.assertEqual(self.site.health()["status"], "ok")

    def test_settings_that_are_a_fifo_are_refused_at_once(self):
        fifo = self.site.folder / "models.yaml"
        os.mkfifo(fifo)
        self.site.reload(models_file=str(fifo))
        try:
            programs.wait_until(lambda: "not a regular file" in self.site.log.read_text(), "the refusal", 20)
            self.assertEqual(self.site.health()["status"], "ok")
        finally:
            del self.site.settings["models_file"]
            fifo.unlink()
            self.site.reload()


def figure(name, value):
    FIGURES[name] = value


if __name__ == "__main__":
    target = None
    if "--figures" in sys.argv:
        at = sys.argv.index("--figures")
        target = pathlib.Path(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    try:
        programs.main()
    finally:
        if target:
            target.write_text("".join(f"| {name} | {value} |\n" for name, value in FIGURES.items()))
