#!/usr/bin/env python3
"""docs/openapi.yaml says what the daemon does: openapi_test.py BIN YAML_TO_JSON.

Its routes and parameters are those of the daemon's table (daemon/api/routes.cc), and real answers of a daemon with a
simulated cluster are as their schemas say, with no member that is not documented.
"""
import copy
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import api_requests
from json_schema import faults, resolved

TOP = pathlib.Path(__file__).resolve().parents[2]
ROUTE = re.compile(r'\{"(GET|POST)", "([^"]+)", (nullptr|"[^"]*"), (true|false), \w+(?:,\s*"([^"]*)")?')
BIN = None
DOCUMENT = None
# Answers that the client's tests read, with more states of a cluster; some members are left out of them.
RECORDED = {("GET", "/v1/accuracy"): "accuracy", ("GET", "/v1/jobs/{id}"): "why",
            ("GET", "/v1/queue"): "queue", ("POST", "/v1/advise"): "advice", ("POST", "/v1/when"): "when",
            ("GET", "/v1/gpus"): "gpus", ("GET", "/v1/advice"): "jobs"}


def table():
    """(method, path) -> (asked over TCP too, parameters), of the daemon."""
    routes = {}
    for method, before, after, anonymous, parameters in ROUTE.findall((TOP / "daemon/api/routes.cc").read_text()):
        path = before if after == "nullptr" else before + "{id}" + after.strip('"')
        routes[method, path] = (anonymous == "true", [name for name in parameters.split(",") if name])
    return routes


def operations():
    return {(method.upper(), path): operation for path, methods in DOCUMENT["paths"].items()
            for method, operation in methods.items()}


def documented(method, target):
    """The path of the document that a target is of."""
    path = target.partition("?")[0]
    for known_method, known in operations():
        if known_method == method and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", known), path):
            return known
    raise AssertionError(f"{method} {target} is not documented")


def schema_of(operation, status):
    response = resolved(operation["responses"].get(str(status)) or operation["responses"]["default"], DOCUMENT)
    return response["content"]


class Document(unittest.TestCase):
    def test_has_every_route_of_the_daemon_and_no_other(self):
        self.assertGreater(len(table()), 15)
        self.assertEqual(sorted(operations()), sorted(table()))

    def test_has_every_parameter_and_says_what_is_not_served_over_tcp(self):
        for route, (anonymous, parameters) in table().items():
            operation = operations()[route]
            listed = [each["name"] for each in operation.get("parameters", []) if each["in"] == "query"]
            self.assertEqual(listed, parameters, route)
            self.assertEqual(not operation.get("x-unix-socket-only", False), anonymous, route)

    def test_references_lead_somewhere_and_every_component_is_used(self):
        text = json.dumps(DOCUMENT)
        used = set(re.findall(r'"#/components/(\w+/\w+)"', text))
        for reference in used:
            resolved({"$ref": "#/components/" + reference}, DOCUMENT)
        kept = {f"{kind}/{name}" for kind, names in DOCUMENT["components"].items() for name in names}
        self.assertEqual(used, kept)

    def test_operations_have_names_of_their_own(self):
        names = [operation["operationId"] for operation in operations().values()]
        self.assertEqual(len(names), len(set(names)))


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="openapi-", dir="/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        settings = cls.folder / "gpuadvised.yaml"
        settings.write_text(f"source: sim\nsocket: {cls.folder}/s\nstate_dir: {cls.folder}/state\nlisten: 127.0.0.1:0\n"
                            "simulation: {seed: 3, speed: 300}\npoll_interval: 2s\nanswer_cpu_time: 30s\n")
        cls.log = cls.folder / "log"
        with open(cls.log, "wb") as log:
            process = subprocess.Popen([BIN / "gpuadvised", "--config", settings], stdout=log, stderr=log)
        cls.addClassCleanup(lambda: (process.terminate(), process.wait(30)))
        cls.daemon = api_requests.Daemon(cls.folder / "s")
        deadline = time.monotonic() + 120
        while not cls.is_ready():
            if process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(cls.log.read_text())
            time.sleep(0.1)
        cls.daemon.address = re.search(r"http://(127\.0\.0\.1:\d+)/", cls.log.read_text()).group(1)

    @classmethod
    def is_ready(cls):
        """The cluster has jobs that run and jobs that wait."""
        try:
            states = {job["state"] for job in cls.daemon.get("/v1/queue")["jobs"]}
        except (OSError, KeyError):
            return False
        return {"PENDING", "RUNNING"} <= states and "http://127" in cls.log.read_text()

    def ask(self, method, target, body, tcp=False):
        """Asks, and holds request and answer against the document."""
        status, kind, text = self.daemon.ask(method, target, body, tcp)
        operation = operations()[method, documented(method, target)]
        content = schema_of(operation, status)
        self.assertIn(kind, content, (method, target, status))
        if kind == "application/json":
            found = faults(json.loads(text), content[kind]["schema"], DOCUMENT)
            self.assertEqual(found, [], (method, target, status))
            self.assertEqual(bool(json.loads(text)["errors"]), status != 200, (method, target, text[:500]))
        if body is not None and status == 200:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            self.assertEqual(faults(body, schema, DOCUMENT), [], (method, target))
        return status

    def test_every_route_answers_as_it_is_documented(self):
        answered = set()
        for method, target, body in api_requests.requests(self.daemon):
            with self.subTest(method=method, target=target):
                if self.ask(method, target, body) == 200:
                    answered.add((method, documented(method, target)))
        self.assertEqual(set(operations()), answered)

    def test_callers_over_tcp_get_the_same_document(self):
        for method, target, body in api_requests.requests(self.daemon):
            with self.subTest(method=method, target=target):
                operation = operations()[method, documented(method, target)]
                status = self.ask(method, target, body, tcp=True)
                if operation.get("x-unix-socket-only"):
                    self.assertIn(status, (404, 405))

    def test_recorded_answers_are_as_documented(self):
        for route, name in RECORDED.items():
            with self.subTest(name):
                answer = json.loads((TOP / f"tests/client/data/{name}.json").read_text())
                schema = schema_of(operations()[route], 200)["application/json"]["schema"]
                found = faults(answer, schema, DOCUMENT)
                self.assertEqual([fault for fault in found if not fault.endswith(" is missing")], [])

    def test_a_wrong_answer_is_found(self):
        answer = self.daemon.get("/v1/gpus")
        schema = schema_of(operations()["GET", "/v1/gpus"], 200)["application/json"]["schema"]
        self.assertEqual(faults(answer, schema, DOCUMENT), [])
        for change in (lambda wrong: wrong.pop("gpus"), lambda wrong: wrong["gpus"][0].update(total="four"),
                       lambda wrong: wrong["gpus"][0].update(colour="red"), lambda wrong: wrong["meta"].update(version=None),
                       lambda wrong: wrong.update(errors=[{"code": "odd", "message": "", "pointer": ""}])):
            wrong = copy.deepcopy(answer)
            change(wrong)
            self.assertNotEqual(faults(wrong, schema, DOCUMENT), [])


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    DOCUMENT = json.loads(subprocess.run([sys.argv.pop(1), TOP / "docs/openapi.yaml"], check=True, capture_output=True,
                                         text=True).stdout)
    unittest.main()
