"""Ask gpuadvised from Python: when jobs start, where a training finishes first, why a job waits.

One file, standard library only, Python 3.8 or newer. Copy it beside your program, or put its folder on PYTHONPATH.

    from gpuadvise import Client
    print(Client().when({"gres": "gpu:l40s:2", "time_limit_seconds": 14400})["answers"][0]["wait_p50_seconds"])

The daemon is found as the command line finds it: the argument, GPUADVISE_SOCKET, client.yaml is not read, then
/run/gpuadvise/gpuadvised.sock. On a Unix socket the kernel tells the daemon who asks. A URL (http:// or https://) asks
its TCP listener without a name: the public part only.

Answers are the API's JSON (docs/api.md); the TypedDicts below name the members that programs read, not every one. Times
are Unix seconds, durations seconds; None is "not known". Whatever goes wrong is a GpuadviseError whose text is a sentence
for a person. A call lasts at most `timeout` seconds, whatever the server does, and reads at most MAX_ANSWER_BYTES. A
Client holds no connection: it may be shared by threads.
"""
from __future__ import annotations

import http.client
import io
import json
import os
import pwd
import socket
import ssl
import struct
import time
from typing import Any, Dict, List, Optional, TypedDict, Union, cast
from urllib.parse import quote, unquote, urlencode, urlsplit

__all__ = ["Client", "GpuadviseError", "BadInput", "NotFound", "Infeasible", "Unavailable", "Untrusted"]

DEFAULT_SOCKET = "/run/gpuadvise/gpuadvised.sock"
MAX_ANSWER_BYTES = 64 << 20
_MAX_MESSAGE = 4096
_CHUNK = 64 << 10


class GpuadviseError(Exception):
    """What went wrong, in a sentence. `code` is the API's word, `pointer` the member of the request to blame ("" none),
    `status` HTTP's (0: no answer)."""

    def __init__(self, message: str, code: str = "internal", pointer: str = "", status: int = 0) -> None:
        super().__init__(_printable(message))
        self.code = code
        self.pointer = _printable(pointer)
        self.status = status


class BadInput(GpuadviseError):
    """The request is wrong; `pointer` says where."""


class NotFound(GpuadviseError):
    """There is no such job, partition, GPU or route."""


class Infeasible(GpuadviseError):
    """Nothing on this cluster can run it."""


class Unavailable(GpuadviseError):
    """The daemon does not answer in time, has no data yet, or is no gpuadvised."""


class Untrusted(GpuadviseError):
    """The program behind the socket belongs to somebody else than root, you, or the daemon's user."""


# What is asked. Every member is optional; strings are read as Slurm reads them.
class JobRequest(TypedDict, total=False):
    name: str
    partition: str
    gres: str
    gpus: str
    gpus_per_node: str
    nodes: int
    ntasks: int
    cpus_per_task: int
    mem_mib: int
    mem_per_cpu_mib: int
    time_limit_seconds: int
    time_min_seconds: int
    account: str
    qos: str
    constraint: str
    nodelist: str
    exclude: str
    exclusive: bool
    begin: int
    reservation: str
    array_tasks: int
    array_throttle: int


class Constraints(TypedDict, total=False):
    partition: str
    account: str
    qos: str
    time_limit_seconds: int
    exclude: str
    constraint: str
    gpus: List[str]
    gpus_per_node: int
    nodes: int


# What is answered. Members that an answer leaves out are not in its dictionary.
class Error(TypedDict, total=False):
    code: str
    message: str
    pointer: str


class Meta(TypedDict, total=False):
    version: str
    cluster: str
    source: str
    snapshot_taken_at: Optional[int]
    stale_cause: Optional[str]


class StartAnswer(TypedDict, total=False):
    error: Optional[Error]
    partition: str
    gres: str
    wait_p10_seconds: Optional[float]
    wait_p50_seconds: Optional[float]
    wait_p90_seconds: Optional[float]
    wait_mean_seconds: Optional[float]
    start_p10: Optional[int]
    start_p50: Optional[int]
    start_p90: Optional[int]
    jobs_before: int
    priority: int
    reasons: List[str]
    doubts: List[str]


class Starts(TypedDict, total=False):
    meta: Meta
    snapshot_age_seconds: Optional[float]
    warnings: List[str]
    answers: List[StartAnswer]


class GpuType(TypedDict, total=False):
    gpu: str
    gpu_name: str
    gres_types: List[str]
    partitions: List[str]
    memory_bytes: int
    gpus_per_node: int
    nodes: int
    total: int
    usable: int
    free: int
    wait_one_seconds: Optional[float]
    wait_half_node_seconds: Optional[float]
    wait_node_seconds: Optional[float]
    wait_two_nodes_seconds: Optional[float]


class Gpus(TypedDict, total=False):
    meta: Meta
    snapshot_age_seconds: Optional[float]
    warnings: List[str]
    gpus: List[GpuType]


class SbatchOptions(TypedDict, total=False):
    partition: str
    gres: str
    nodes: int
    ntasks_per_node: int
    cpus_per_task: int
    mem: str
    constraint: str
    account: str
    qos: str


class Strategy(TypedDict, total=False):
    rank: int
    gpu: str
    gpu_name: str
    gres_type: str
    gpus_per_node: int
    nodes: int
    partition: str
    precision: str
    micro_batch: int
    accumulation: int
    effective_batch_size: int
    time_limit_seconds: float
    wait_p50_seconds: Optional[float]
    wait_p90_seconds: Optional[float]
    run_p50_seconds: Optional[float]
    run_p90_seconds: Optional[float]
    total_mean_seconds: float
    total_p50_seconds: float
    total_p90_seconds: float
    cost: Optional[float]
    gpu_hours: float
    reasons: List[str]
    notes: List[str]
    sbatch: SbatchOptions


class Advice(TypedDict, total=False):
    meta: Meta
    snapshot_age_seconds: Optional[float]
    warnings: List[str]
    advice_id: str
    objective: str
    strategies: List[Strategy]
    rejected: List[Dict[str, Any]]
    tips: List[Dict[str, Any]]


class SelectedJob(TypedDict, total=False):
    partition: str
    gres: str
    gpus: str
    gpus_per_node: str
    gres_type: str
    constraint: str
    wait_p50_seconds: Optional[float]
    wait_p90_seconds: Optional[float]
    start_p50: Optional[int]


class Selection(TypedDict, total=False):
    meta: Meta
    snapshot_age_seconds: Optional[float]
    warnings: List[str]
    advice_id: str
    job: SelectedJob
    reason: Optional[str]
    limit_words: str


class Job(TypedDict, total=False):
    meta: Meta
    snapshot_age_seconds: Optional[float]
    warnings: List[str]
    job_id: int
    name: Optional[str]
    user: Optional[str]
    partition: str
    gres: str
    gpus: int
    nodes: int
    state: str
    reason: Optional[str]
    reason_words: str
    submit_time: int
    start_p50: Optional[int]
    start_p90: Optional[int]
    wait_p50_seconds: Optional[float]
    wait_p90_seconds: Optional[float]
    why: List[Dict[str, Any]]
    cheaper: List[Dict[str, Any]]


class QueueJob(TypedDict, total=False):
    job_id: int
    name: Optional[str]
    user: Optional[str]
    partition: str
    gres: str
    gpus: int
    state: str
    start_p50: Optional[int]
    start_p90: Optional[int]


class Queue(TypedDict, total=False):
    meta: Meta
    snapshot_age_seconds: Optional[float]
    warnings: List[str]
    jobs: List[QueueJob]
    total: int
    hidden: int


class Client:
    """`where`: a socket's path or the URL of a TCP listener. `owner`: the user that runs the daemon, where that is neither
    root, nor you, nor gpuadvise. `context`: for https, such as one with a client certificate."""

    def __init__(self, where: Optional[str] = None, timeout: float = 30.0, owner: str = "gpuadvise",
                 context: Optional[ssl.SSLContext] = None) -> None:
        self.where = where or os.environ.get("GPUADVISE_SOCKET") or DEFAULT_SOCKET
        self.timeout = timeout
        self._owner = owner
        self._context = context

    def when(self, *jobs: JobRequest, cheaper: bool = True, limits: bool = False) -> Starts:
        """When each of up to 64 jobs would start. cheaper=False leaves out what would start it earlier: much faster for
        many. A job that cannot run has its `error`; the others are answered."""
        body: Dict[str, Any] = {"jobs": list(jobs), "limits": limits}
        if not cheaper:
            body["cheaper"] = False
        return cast(Starts, self.post("/v1/when", body))

    def gpus(self) -> Gpus:
        """The GPU types of the cluster, free now, and waits."""
        return cast(Gpus, self.get("/v1/gpus"))

    def advise(self, training: Union[str, Dict[str, Any]], section: str = "", objective: str = "",
               deadline: Optional[int] = None, constraints: Optional[Constraints] = None) -> Advice:
        """Strategies for a training, the best first. `training`: the text of a train.yaml, or the same as a dictionary."""
        body: Dict[str, Any] = {"spec_yaml" if isinstance(training, str) else "spec": training}
        for key, value in (("section", section), ("objective", objective), ("deadline", deadline),
                           ("constraints", constraints)):
            if value:
                body[key] = value
        return cast(Advice, self.post("/v1/advise", body))

    def select(self, job: JobRequest, min_gpu_memory_bytes: int = 0, avoid_partitions: Optional[List[str]] = None,
               groups: Optional[List[str]] = None) -> Selection:
        """Partition and GPU type with which a plain job starts first. `groups`: yours, for partitions with AllowGroups."""
        body: Dict[str, Any] = {"job": job, "groups": _own_groups() if groups is None else groups}
        if min_gpu_memory_bytes:
            body["min_gpu_memory_bytes"] = min_gpu_memory_bytes
        if avoid_partitions:
            body["avoid_partitions"] = avoid_partitions
        return cast(Selection, self.post("/v1/select", body))

    def fit(self, training: Union[str, Dict[str, Any]], gpus_in_all: int = 1) -> Dict[str, Any]:
        """What fits on which GPU."""
        return self.post("/v1/fit", {"spec_yaml" if isinstance(training, str) else "spec": training,
                                     "gpus_in_all": gpus_in_all})

    def scale(self, training: Union[str, Dict[str, Any]]) -> Dict[str, Any]:
        """How many GPUs are worth it."""
        return self.post("/v1/scale", {"spec_yaml" if isinstance(training, str) else "spec": training})

    def why(self, job_id: Union[int, str]) -> Job:
        """Why a job waits, when it starts, what would start it earlier."""
        return cast(Job, self.get("/v1/jobs/" + quote(str(job_id), safe="")))

    def queue(self, **filters: Union[str, int]) -> Queue:
        """Jobs of the cluster: state="pending", user=, partition=, gpu=, search=, limit=, offset=."""
        return cast(Queue, self.get("/v1/queue" + ("?" + urlencode(filters) if filters else "")))

    def jobs(self, limit: int = 100) -> Dict[str, Any]:
        """Your own jobs that were advised: forecast and outcome."""
        return self.get(f"/v1/advice?limit={int(limit)}")

    def accuracy(self) -> Dict[str, Any]:
        """How accurate forecasts have been on this cluster."""
        return self.get("/v1/accuracy")

    def health(self) -> Dict[str, Any]:
        """Whether the daemon works, and why not."""
        return self.get("/healthz")

    def submitted(self, advice_id: str, job_id: int, rank: int = 1) -> Dict[str, Any]:
        """Tells the daemon that the strategy of that rank became this job: it counts as pending from now on."""
        return self.post(f"/v1/advice/{quote(advice_id, safe='')}/submitted", {"job_id": job_id, "rank": rank})

    def get(self, target: str) -> Dict[str, Any]:
        """The answer of any route, such as "/v1/waits"."""
        return self._ask("GET", target, None)

    def post(self, target: str, body: Any) -> Dict[str, Any]:
        return self._ask("POST", target, body)

    def _ask(self, method: str, target: str, body: Any) -> Dict[str, Any]:
        deadline = time.monotonic() + self.timeout
        try:
            text = None if body is None else json.dumps(body, allow_nan=False).encode("utf-8", "replace")
        except (TypeError, ValueError, RecursionError) as error:
            raise BadInput(f"the request is no JSON: {error}", "bad_input") from error
        return self._sent(method, target, text, deadline, self.where, True)

    def _sent(self, method: str, target: str, text: Optional[bytes], deadline: float, where: str,
              follow: bool) -> Dict[str, Any]:
        connection = self._connection(where, deadline)
        first = None
        try:
            connection.request(method, target, text, {"Content-Type": "application/json"} if text is not None else {})
            answer = connection.getresponse()
            first = _first_of(answer) if follow and "://" not in where else None
            if first is None:
                return _read_answer(answer.status, self._read_body(answer))
        except (TimeoutError, socket.timeout) as error:
            raise Unavailable(f"no answer from {self.where} within {self.timeout:g} s; gpuadvised is overloaded or hanging",
                              "unavailable") from error
        except OSError as error:
            raise Unavailable(f"cannot reach gpuadvised at {self.where}: {error.strerror or error}; start it with "
                              "`systemctl start gpuadvised`, or name another socket with GPUADVISE_SOCKET",
                              "unavailable") from error
        except (http.client.HTTPException, ValueError) as error:
            raise Unavailable(f"{self.where} does not answer in HTTP: is it gpuadvised's?", "unavailable") from error
        finally:
            connection.end()
        return self._sent(method, target, text, deadline, first, False)

    def _read_body(self, answer: http.client.HTTPResponse) -> bytes:
        parts: List[bytes] = []
        size = 0
        while True:
            part = answer.read(_CHUNK)
            if not part:
                if answer.length:  # of Content-Length, still to come
                    raise http.client.IncompleteRead(b"")
                return b"".join(parts)
            parts.append(part)
            size += len(part)
            if size > MAX_ANSWER_BYTES:
                raise Unavailable(f"the answer of {self.where} is larger than {MAX_ANSWER_BYTES >> 20} MiB; ask for less",
                                  "unavailable")

    def _connection(self, where: str, deadline: float) -> _OverTcp:
        if "://" not in where:
            return _OverSocket(where, deadline, self._owner)
        try:
            url = urlsplit(where)
            host, port = url.hostname, url.port
        except ValueError as error:
            raise BadInput(f"{where} is no URL: {error}", "bad_input") from error
        if url.scheme not in ("http", "https") or not host or url.path not in ("", "/") or url.username:
            raise BadInput(f"{where}: write http://HOST:PORT, https://HOST:PORT or the path of a socket", "bad_input")
        context = (self._context or ssl.create_default_context()) if url.scheme == "https" else None
        return _OverTcp(host, port or (443 if context else 80), deadline, context)


class _Deadline(io.RawIOBase):
    """A socket whose reads and writes all end by one deadline: a server that drips cannot go on for ever."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        super().__init__()
        self._sock = sock
        self._deadline = deadline

    def _arm(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise socket.timeout("timed out")
        self._sock.settimeout(left)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._arm()
        return self._sock.recv_into(buffer)

    def sendall(self, data: bytes) -> None:
        self._arm()
        self._sock.sendall(data)

    def makefile(self, *_mode: Any, **_more: Any) -> io.BufferedReader:
        return io.BufferedReader(_Deadline(self._sock, self._deadline))


class _OverTcp(http.client.HTTPConnection):
    def __init__(self, host: str, port: int, deadline: float, context: Optional[ssl.SSLContext]) -> None:
        super().__init__(host, port)
        self._deadline = deadline
        self._context = context
        self._plain: Optional[socket.socket] = None

    def connect(self) -> None:
        left = max(0.001, self._deadline - time.monotonic())
        self._plain = socket.create_connection((self.host, self.port), left)
        if self._context is not None:
            self._plain = self._context.wrap_socket(self._plain, server_hostname=self.host)
        self.sock = cast(Any, _Deadline(self._plain, self._deadline))

    def end(self) -> None:
        """close() comes with the head of an answer already, when its body is still to be read."""
        self.close()
        if self._plain is not None:
            self._plain.close()


class _OverSocket(_OverTcp):
    def __init__(self, path: str, deadline: float, owner: str) -> None:
        super().__init__("localhost", 80, deadline, None)
        self._path = path
        self._owner = owner

    def connect(self) -> None:
        self._plain = socket.socket(socket.AF_UNIX)
        self._plain.settimeout(max(0.001, self._deadline - time.monotonic()))
        self._plain.connect(self._path)
        self._check_peer(self._plain)
        self.sock = cast(Any, _Deadline(self._plain, self._deadline))

    def _check_peer(self, sock: socket.socket) -> None:
        if not hasattr(socket, "SO_PEERCRED"):
            return  # not Linux: no daemon of ours
        size = struct.calcsize("3i")
        _, uid, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
        trusted = {0, os.getuid()}
        try:
            trusted.add(pwd.getpwnam(self._owner).pw_uid)
        except KeyError:
            pass
        if uid not in trusted:
            raise Untrusted(f"the program behind {self._path} runs as {_user(uid)}, not as {self._owner}, root or you; if that "
                            "is the daemon's user, say so: Client(owner=...)", "untrusted")


def _user(uid: int) -> str:
    try:
        return f"{pwd.getpwuid(uid).pw_name} (uid {uid})"
    except KeyError:
        return f"uid {uid}"


def _own_groups() -> List[str]:
    import grp  # pylint: disable=import-outside-toplevel
    names = []
    for gid in {os.getgid(), *os.getgroups()}:
        try:
            names.append(grp.getgrgid(gid).gr_name)
        except KeyError:
            pass
    return sorted(names)


def _printable(text: str) -> str:
    """For terminals and logs: nothing that they obey, nothing without end."""
    return "".join(c if c.isprintable() else "?" for c in str(text)[:_MAX_MESSAGE])


_KINDS = {"bad_input": BadInput, "not_found": NotFound, "infeasible": Infeasible, "unavailable": Unavailable}


def _first_of(answer: http.client.HTTPResponse) -> Optional[str]:
    """Where a standby sends its callers: the socket of the first daemon."""
    location = answer.getheader("Location") or ""
    if answer.status not in (303, 307) or not location.startswith("http+unix://"):
        return None
    path = unquote(location[len("http+unix://"):].partition("/")[0])
    return path if path.startswith("/") and "\0" not in path else None


def _read_answer(status: int, body: bytes) -> Dict[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if 200 <= status < 300:
        if isinstance(answer, dict):
            return answer
        raise Unavailable("the answer is no JSON object: is it gpuadvised's, and of the same version?", "unavailable",
                          status=status)
    raise _error_of(status, answer)


def _error_of(status: int, answer: Any) -> GpuadviseError:
    errors = answer.get("errors") if isinstance(answer, dict) else None
    first = errors[0] if isinstance(errors, list) and errors and isinstance(errors[0], dict) else {}
    code, message, pointer = (first.get(key) for key in ("code", "message", "pointer"))
    by_status = {404: "not_found", 408: "unavailable", 422: "infeasible", 429: "unavailable", 503: "unavailable"}
    if not isinstance(code, str):
        code = by_status.get(status, "internal" if status >= 500 else "bad_input")
    if not isinstance(message, str) or not message:
        cause = answer.get("cause") if isinstance(answer, dict) else None
        message = f"no data yet: {cause}" if isinstance(cause, str) else f"gpuadvised answered with HTTP status {status}"
    return _KINDS.get(code, GpuadviseError)(message, code, pointer if isinstance(pointer, str) else "", status)
