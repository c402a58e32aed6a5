"""Processes that ask gpuadvised as its users do: the kernel names the caller by the process.

    with Caller("/run/gpuadvise/gpuadvised.sock", "lab1") as caller:
        caller.ask("POST", "/v1/advise", {"spec": ...})  # {"status": {"200": 1}, "bytes": ..., "seconds": [...], "body": ...}
"""
import collections
import http.client
import json
import multiprocessing
import os
import pwd
import socket
import time

SHOWN = 4_000
CONTEXT = multiprocessing.get_context("fork")  # another user may not find this Python


class Caller:
    """Asks at `where`, a socket's path or HOST:PORT, as `user` (None: as it is)."""

    def __init__(self, where, user):
        self.pipe, theirs = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=_serve, args=(str(where), user, theirs), daemon=True)
        self.process.start()
        theirs.close()

    def send(self, method, target, body=None, again=0):
        """Begins to ask, for `again` seconds once more when answered. `body`: text, or what becomes JSON."""
        if body is not None and not isinstance(body, str):
            body = json.dumps(body)
        self.pipe.send((_ask_often, (method, target, body, again)))

    def receive(self):
        """What was answered: "status" -> how often, "seconds" of each, "bytes" and "body" (cut) of the last."""
        return self.pipe.recv()

    def ask(self, *words, **more):
        self.send(*words, **more)
        return self.receive()

    def hold(self, connections):
        """Opens so many connections, and keeps them until the end; how many could be opened."""
        self.pipe.send((_hold, (connections,)))
        return self.receive()

    def close(self):
        self.pipe.send(None)  # the pipe's end is inherited by later callers: it would not be noticed
        self.process.join()
        self.pipe.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class _Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def _connection_to(where):
    if where.startswith("/"):
        return _Unix(where)
    host, port = where.rsplit(":", 1)
    return http.client.HTTPConnection(host, int(port), timeout=60)


def _ask_once(connection, method, target, body):
    begun = time.monotonic()
    try:
        connection.request(method, target, None if body is None else body.encode())
        answer = connection.getresponse()
        text = answer.read()
        return str(answer.status), text, time.monotonic() - begun
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        return type(error).__name__, b"", time.monotonic() - begun


def _ask_often(where, method, target, body, again):
    connection = _connection_to(where)
    counts, seconds = collections.Counter(), []
    end = time.monotonic() + again
    while True:
        status, text, took = _ask_once(connection, method, target, body)
        counts[status] += 1
        seconds.append(took)
        if time.monotonic() >= end:
            break
    connection.close()
    return {"status": dict(counts), "bytes": len(text), "seconds": seconds, "body": text[:SHOWN].decode(errors="replace")}


_held = []


def _hold(where, connections):
    for _ in range(connections):
        connection = _connection_to(where)
        try:
            connection.connect()
        except OSError:
            break
        _held.append(connection)
    return len(_held)


def _serve(where, user, pipe):
    if user:
        who = pwd.getpwnam(user)
        os.setgroups([])
        os.setgid(who.pw_gid)
        os.setuid(who.pw_uid)
    while request := pipe.recv():
        what, words = request
        pipe.send(what(where, *words))
