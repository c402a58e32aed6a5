"""Requests that bring every route of the daemon to answer, and how they are sent."""
import http.client
import json
import pathlib
import socket

SPEC = {"name": "t", "model": {"preset": "gpt2"},
        "training": {"max_steps": 20000, "effective_batch_size": 64, "max_seq_length": 1024}}
STAGES = {"name": "two", "model": {"preset": "gpt2"}, "stages": [
    {"name": "a", "training": {"max_steps": 2000, "effective_batch_size": 64, "max_seq_length": 512}},
    {"name": "b", "training": {"max_steps": 1000, "effective_batch_size": 32, "max_seq_length": 1024}}]}


class OverSocket(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


class Daemon:
    """A daemon at a Unix socket, and at an address for callers without a name."""

    def __init__(self, path, address=None):
        self.path = path
        self.address = address

    def ask(self, method, target, body=None, tcp=False):
        """Status, content type and text of the answer; of an event stream its first event."""
        connection = http.client.HTTPConnection(self.address, timeout=60) if tcp else OverSocket(self.path)
        try:
            connection.request(method, target, json.dumps(body) if body is not None else None,
                               {"Content-Type": "application/json"} if body is not None else {})
            answer = connection.getresponse()
            kind = answer.headers.get_content_type()
            if kind == "text/event-stream":
                lines = []
                while not lines or lines[-1].strip():
                    lines.append(answer.readline().decode())
                return answer.status, kind, "".join(lines)
            return answer.status, kind, answer.read().decode()
        finally:
            connection.close()

    def get(self, target):
        return json.loads(self.ask("GET", target)[2])


def requests(daemon):
    """(method, target, body) of every route: the usual question, its variants, and wrong ones."""
    queue = daemon.get("/v1/queue")["jobs"]
    pending = next(job for job in queue if job["state"] == "PENDING")
    running = next(job for job in queue if job["state"] == "RUNNING")
    ours = max(job["job_id"] for job in queue) + 2000  # no job of the cluster gets it meanwhile
    gpu = next(row["gpu"] for row in daemon.get("/v1/gpus")["gpus"])
    advice = json.loads(daemon.ask("POST", "/v1/advise", {"spec": SPEC})[2])
    job = {"job_id": ours, "rank": 1}
    outcome = {"version": 1, "job_id": str(ours), "advice_id": "", "host": "gpu01", "gpu_names": ["NVIDIA L40S"],
               "attempts": [{"began": 1795281829, "seconds": 3600.5, "exit_code": 0, "signal": 0, "out_of_memory": False,
                             "micro_batch": 4, "accumulation": 8, "steps": 1000, "total_steps": 1000, "steps_done": 999,
                             "seconds_per_step": 3.5, "loss": 0.41,
                             "gpus": [{"peak_memory_bytes": 21474836480, "memory_total_bytes": 51539607552,
                                       "mean_utilisation": 0.93, "mean_watts": 280}]}]}
    soon = daemon.get("/healthz")["meta"]["snapshot_taken_at"] + 200_000
    return [
        ("GET", "/healthz", None),
        ("GET", "/v1/gpus", None),
        ("GET", "/v1/waits", None),
        ("GET", "/v1/free", None),
        ("GET", "/v1/free?hours=2", None),
        ("GET", "/v1/free?hours=49", None),
        ("GET", "/v1/site", None),
        ("GET", "/v1/me", None),
        ("GET", "/v1/waiting", None),
        ("GET", "/v1/usage?weeks=4", None),
        ("GET", "/v1/usage?weeks=27", None),
        ("GET", "/v1/users", None),
        ("GET", "/v1/users?weeks=1&account=none", None),
        ("GET", "/v1/presets", None),
        ("GET", "/v1/nodes", None),
        ("GET", "/v1/nodes?condition=broken&node=none", None),
        ("GET", "/v1/map", None),
        ("GET", "/v1/scheduler", None),
        ("GET", "/v1/queue?format=csv&limit=2", None),
        ("GET", f"/v1/timeline?gpu={gpu}&hours=6", None),
        ("GET", "/v1/timeline?hours=49", None),
        ("GET", f"/v1/nodes?gpu={gpu}&partition=none&condition=free&search=a&offset=0&limit=5", None),
        ("GET", "/v1/nodes?condition=nonsense", None),
        ("GET", "/v1/queue", None),
        ("GET", f"/v1/queue?state=pending&offset=1&limit=3&gpu={gpu}", None),
        ("GET", "/v1/queue?state=running&search=a&user=root&partition=none", None),
        ("GET", "/v1/queue?account=none&sort=-gpus", None),
        ("GET", "/v1/queue?sort=colour", None),
        ("GET", "/v1/queue?colour=red", None),
        ("GET", f"/v1/jobs/{pending['job_id']}", None),
        ("GET", f"/v1/jobs/{running['job_id']}", None),
        ("GET", "/v1/jobs/999999999", None),
        ("GET", "/v1/jobs/x", None),
        ("GET", "/v1/accuracy", None),
        ("GET", "/v1/history", None),
        ("GET", f"/v1/history?weeks=1&gpu={gpu}", None),
        ("GET", "/v1/history?weeks=0", None),
        ("GET", "/v1/events", None),
        ("GET", "/metrics", None),
        ("POST", "/v1/advise", {"spec": SPEC}),
        ("POST", "/v1/advise", {"spec": SPEC, "objective": "deadline", "deadline": soon, "constraints": {"gpus": [gpu]}}),
        ("POST", "/v1/advise", {"spec": STAGES}),
        ("POST", "/v1/advise", {"spec_yaml": "training: {max_step: 9}"}),
        ("POST", "/v1/fit", {"spec": SPEC, "gpus_in_all": 2}),
        ("POST", "/v1/fit", {"spec": 7}),
        ("POST", "/v1/measured", {"spec": SPEC}),
        ("POST", "/v1/measured", {}),
        ("POST", "/v1/scale", {"spec": SPEC, "most_gpus": 4}),
        ("POST", "/v1/scale", {"spec": STAGES}),
        ("POST", "/v1/scale", []),
        ("POST", "/v1/when", {"jobs": [{"gpus_per_node": "4", "time_limit_seconds": 90000}, {"partition": "none"},
                                       {"gpus": "2", "array_tasks": 8, "array_throttle": 2}]}),
        ("POST", "/v1/when", {"jobs": [{"gpus_per_node": "2", "time_limit_seconds": 86400}], "limits": True}),
        ("POST", "/v1/when", {"jobs": [{"gres": f"gpu:{n}", "time_limit_seconds": 14400} for n in (1, 2)], "cheaper": False}),
        ("POST", "/v1/when", {}),
        ("POST", "/v1/select", {"job": {"gres": "gpu:2", "time_limit_seconds": 28800}, "groups": ["staff"]}),
        ("POST", "/v1/select", {"job": {"gres": "gpu:1"}, "min_gpu_memory_bytes": 40 * 2**30, "avoid_partitions": ["debug"]}),
        ("POST", "/v1/select", {}),
        ("POST", f"/v1/advice/{advice['advice_id']}/submitted", job),
        ("POST", "/v1/advice/a-0-0/submitted", job),
        ("POST", "/v1/outcomes", outcome),
        ("POST", "/v1/outcomes", {"job_id": "1"}),
        ("GET", "/v1/advice", None),
        ("GET", f"/v1/advice?job={ours}&limit=5", None),
        ("GET", "/v1/advice?limit=x", None),
    ]
