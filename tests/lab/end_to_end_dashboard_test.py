#!/usr/bin/env python3
"""The dashboard of a live Slurm, in a real browser: what it shows is what squeue, sinfo and the API say.

    end_to_end_dashboard_test.py BIN_DIR [unittest options]
"""
import http.client
import json
import pathlib
import re
import shutil
import socket
import subprocess
import unittest

import programs
from lab import wait_until

HOSTILE = ("<img src=x onerror=alert(1)>", "\u202egnp.exe\u202c", "x" * 1000, "'\"&amp;<script>alert(1)</script>")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Visit:
    """web/test/visit.mjs, which keeps its page open: `first` is its report, look() looks again."""

    def __init__(self, page_folder, port):
        self.process = subprocess.Popen(
            ["node", "test/visit.mjs", f"http://127.0.0.1:{port}/", "--stay"], cwd=page_folder, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"visit.mjs ended with {self.process.wait()}")
        self.first = json.loads(line)

    def look(self, view):
        self.process.stdin.write(f"look {view}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


class Dashboard(programs.SiteTest):
    LAB = {"cluster": "seed"}

    @classmethod
    def setUpClass(cls):
        cls.page_folder = cls.bin_folder.parent / "web" / "page"
        if not (cls.page_folder / "test" / "visit.mjs").exists() or not shutil.which("node"):
            raise unittest.SkipTest("this build has no dashboard: npm was missing when it was built")
        super().setUpClass()
        cls.port = free_port()
        cls.site.start(listen=f"127.0.0.1:{cls.port}")

    def get(self, path, **fields):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", path, headers=fields)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def ask(self, path):
        return json.loads(self.get(path)[1])

    def visit(self):
        visit = Visit(self.page_folder, self.port)
        self.addCleanup(visit.close)
        return visit

    def gpus_by_sinfo(self):
        """Node: (GPUs configured, GPUs in use), by Slurm's own words."""
        nodes = {}
        for line in self.lab.run("sinfo", "-h", "-N", "-O", "NodeList:40,Gres:80,GresUsed:120").stdout.splitlines():
            name, gres, used = line.split()
            count = [sum(map(int, re.findall(r"gpu:[^:,(]+:(\d+)", text))) for text in (gres, used)]
            nodes[name] = tuple(count)
        return nodes

    def assert_clean(self, report):
        self.assertEqual(report["trouble"], {"console": [], "exceptions": [], "elsewhere": [], "policy": []})
        self.assertEqual({view: faults for view, faults in report["axe"].items() if faults}, {})

    def fill(self):
        """A cluster at work: jobs that run, wait and are held, with names that mean harm."""
        running = [self.lab.submit("--gres=gpu:gpu4090:4", "-t", "60", user="lab1"),
                   self.lab.submit("--gres=gpu:gpul40s:6", "-t", "120", "-J", HOSTILE[0], user="lab2"),
                   self.lab.submit("--gres=gpu:gpu2080:2", "-t", "30", "-J", HOSTILE[1], user="lab2")]
        for job in running:
            self.lab.wait_for_state(job, "RUNNING")
        waiting = [self.lab.submit("--gres=gpu:gpu4090:2", "-t", "30", "-J", HOSTILE[2], user="lab3"),
                   self.lab.submit("--gres=gpu:gpu4090:4", "-t", "60", "-J", HOSTILE[3], user="lab3"),
                   self.lab.submit("--gres=gpu:gpul40s:1", "-t", "60", "-H", user="lab4")]
        self.site.wait_for_next_snapshot()
        return running, waiting

    def stand_still(self):
        """One more snapshot and then none for long: what is asked twice is answered from the same."""
        delivered = self.site.log.read_text().count(" delivers")
        self.site.reload(poll_interval="10m", stale_after="10m")
        self.addCleanup(self.site.reload, poll_interval="300ms", stale_after="2m")
        wait_until(lambda: self.site.log.read_text().count(" delivers") > delivered, "a collector with the new settings")

    # ---- right numbers ----------------------------------------------------------------------

    def test_every_view_shows_what_slurm_and_the_api_say(self):
        running, waiting = self.fill()
        self.stand_still()
        report = self.visit().first
        self.assert_clean(report)
        views = report["views"]
        nodes = self.gpus_by_sinfo()

        shown = {node["name"]: (sum(g["total"] for g in node["gpus"]), sum(g["used"] for g in node["gpus"]))
                 for node in views["nodes"]["nodes"]}
        self.assertEqual(shown, nodes)
        self.assertEqual(views["nodes"]["total"], len(nodes))

        rows = {row["gpu"]: row for row in views["now"]["gpus"]}
        self.assertEqual({gpu: sum(row["split"].values()) for gpu, row in rows.items()},
                         {row["gpu"]: row["total"] for row in self.ask("/v1/gpus")["gpus"]})
        free = {gpu: sum(row["split"].get(part, 0) for part in ("free", "kept", "free, but not for this job")) for gpu, row in rows.items()}
        self.assertEqual(free, {row["gpu"]: row["free"] for row in self.ask("/v1/gpus")["gpus"]})
        self.assertEqual((free["rtx4090"], free["l40s"]), (0, 6))
        for row in self.ask("/v1/waits")["gpus"]:
            one = next(wait for wait in row["waits"] if wait["shape"] == "one" and wait["time_limit_seconds"] == 8 * 3600)
            shown = rows[row["gpu"]]["waits"][0]["values"]
            self.assertEqual((shown[0], shown[-1] if len(shown) > 1 else one["wait_p90_seconds"]),
                             (one["wait_p50_seconds"], one["wait_p90_seconds"]), row["gpu"])

        squeue = {int(job): state for job, state in (line.split() for line in self.queue("%i", "%T"))}
        self.assertEqual({job["job_id"]: job["state"] for job in views["queue"]["jobs"]}, squeue)
        self.assertEqual(set(squeue), {*running, *waiting})
        for view in views.values():
            self.assertEqual((view["head"]["pending"], view["head"]["running"], view["head"]["condition"]), (3, 3, "live"))
        rows = {row["job_id"]: row for row in self.ask("/v1/queue")["jobs"]}
        for job in views["queue"]["jobs"]:
            row = rows[job["job_id"]]
            self.assertEqual((job["wait_p50"], job["end_p50"]), (row.get("wait_p50_seconds"), row.get("end_p50")))
        self.assertIn("its owner holds it", next(job["why"] for job in views["queue"]["jobs"] if job["job_id"] == waiting[2]))

        ranks = views["ask"]["ranks"]
        self.assertEqual([rank["rank"] for rank in ranks], list(range(1, len(ranks) + 1)))
        self.assertTrue(views["ask"]["command"].startswith("gpuadvise submit train.yaml "))
        self.assertGreater(len([row for row in views["ask"]["memory"] if row["fits"]]), 1)
        self.assertIn("those who are signed in", views["group"]["note"])
        self.assertTrue(views["history"]["little"])  # minutes are no line

    def test_the_command_that_ask_copies_gives_its_strategy(self):
        ask = self.visit().first["views"]["ask"]
        words = ask["command"].split()
        self.assertEqual(words[:3], ["gpuadvise", "submit", "train.yaml"])
        train = self.site.write("train.yaml", (pathlib.Path(__file__).parents[2] / "examples/gr00t.yaml").read_text())
        best = self.site.json("submit", "--dry-run", train, *words[3:])["strategy"]
        self.assertEqual((best["gpu"], best["gpus_per_node"] * best["nodes"]),
                         (ask["ranks"][0]["gpu"], ask["ranks"][0]["gpus"]))

    # ---- who may see what -------------------------------------------------------------------

    def test_nobody_is_named_over_tcp(self):
        self.fill()
        for path in ("/v1/queue", "/v1/nodes", "/v1/waits", "/v1/history", "/v1/accuracy"):
            text = self.get(path)[1].decode()
            for word in ("lab1", "lab2", "lab3", "onerror", "xxxxxxxxxx", "\\u202e", "\u202e"):
                self.assertNotIn(word, text, path)

    def test_another_site_may_not_read(self):
        for fields in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}, {"Origin": "null"},
                       {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}):
            status, body = self.get("/v1/gpus", **fields)
            self.assertEqual(status, 403, fields)
            self.assertNotIn(b"rtx4090", body)

    def test_a_reason_that_means_harm_reaches_no_page(self):
        for reason in HOSTILE:
            self.lab.run("scontrol", "update", "nodename=classt10", "state=drain", f"reason={reason}")
        self.addCleanup(self.lab.run, "scontrol", "update", "nodename=classt10", "state=resume")
        self.site.wait_for_next_snapshot()
        def classt10(nodes):
            return next(node for node in nodes if node["name"] == "classt10")
        self.assertIn("<script>", classt10(self.site.ask("/v1/nodes")[1]["nodes"])["reason"], "users are told")
        self.assertEqual(classt10(self.ask("/v1/nodes")["nodes"])["reason"], "", "strangers are not")
        report = self.visit().first
        self.assert_clean(report)
        shown = next(node for node in report["views"]["nodes"]["nodes"] if node["name"] == "classt10")
        self.assertEqual(shown["condition"], "drained")

    # ---- faults -----------------------------------------------------------------------------

    def test_comes_back_after_a_restart_and_shows_what_happened_meanwhile(self):
        visit = self.visit()
        self.assertEqual(visit.look("queue")["total"], 0)
        self.site.stop()
        wait_until(lambda: visit.look("queue")["head"]["condition"] != "live", "the page to notice")
        job = self.lab.submit("--gres=gpu:gpu4090:4", "-t", "60")
        self.lab.wait_for_state(job, "RUNNING")
        self.site.start()
        wait_until(lambda: visit.look("queue")["head"]["condition"] == "live", "the page to come back", 60)
        wait_until(lambda: [row["job_id"] for row in visit.look("queue")["jobs"]] == [job], "the new job", 60)
        trouble = visit.look("now")["trouble"]
        self.assertEqual((trouble["exceptions"], trouble["elsewhere"], trouble["policy"]), ([], [], []))

    def test_says_why_when_slurmctld_is_gone_and_recovers(self):
        visit = self.visit()
        self.site.reload(stale_after="2s")
        self.lab.kill_slurmctld()
        stale = wait_until(lambda: (seen := visit.look("now"))["head"]["condition"] == "stale" and seen, "a stale page", 90)
        self.assertTrue(stale["head"]["banner"])
        self.assertTrue(stale["gpus"])
        self.lab.start_slurmctld()
        wait_until(lambda: visit.look("now")["head"]["condition"] == "live", "a live page", 90)


if __name__ == "__main__":
    programs.main()
