"""A gpuadvised with a simulated cluster for tests of what asks it: started in a temporary folder, ended by its pid."""
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time


class _OverSocket(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


class LiveDaemon:
    """`binaries`: the folder of gpuadvised. Ready when the cluster has jobs that run and jobs that wait."""

    def __init__(self, binaries):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="live-", dir="/tmp"))
        self.socket = str(self.folder / "s")
        settings = self.folder / "gpuadvised.yaml"
        settings.write_text(f"source: sim\nsocket: {self.socket}\nstate_dir: {self.folder}/state\nlisten: 127.0.0.1:0\n"
                            "simulation: {seed: 3, speed: 60}\npoll_interval: 2s\nanswer_cpu_time: 30s\n")
        self.log = self.folder / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([pathlib.Path(binaries) / "gpuadvised", "--config", settings],
                                            stdout=log, stderr=log)
        deadline = time.monotonic() + 120
        while not self._ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise AssertionError("gpuadvised did not start:\n" + self.log.read_text())
            time.sleep(0.1)
        self.url = "http://" + re.search(r"http://(127\.0\.0\.1:\d+)/", self.log.read_text()).group(1)

    def ask(self, method, target, body=None):
        connection = _OverSocket(self.socket)
        try:
            connection.request(method, target, json.dumps(body) if body is not None else None)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def _ready(self):
        try:
            states = {job["state"] for job in self.ask("GET", "/v1/queue")["jobs"]}
        except (OSError, KeyError, ValueError):
            return False
        return {"PENDING", "RUNNING"} <= states and "http://127" in self.log.read_text()

    def pending(self):
        """Number of a job that waits."""
        return next(job["job_id"] for job in self.ask("GET", "/v1/queue?state=pending")["jobs"])

    def environment(self, **more):
        return {**os.environ, "GPUADVISE_SOCKET": self.socket, "HOME": str(self.folder), "LC_ALL": "C.UTF-8", **more}

    def stop(self):
        self.process.terminate()
        self.process.wait(30)
        if self.folder.exists():
            log = self.log.read_text() if self.process.returncode not in (0, -15) else ""
            shutil.rmtree(self.folder)
            if log:
                raise AssertionError(f"gpuadvised ended with {self.process.returncode}:\n{log}")
