"""What labs share with each other on one machine: its users and its ports."""
import contextlib
import fcntl
import os
import pwd
import random
import socket
import subprocess
import tempfile

FIRST_PORT, PORTS_OF_ONE, RANGES = 12000, 64, 250  # below the kernel's own range
_claims = []  # open files; a range is ours while its file is


def _lock(name, flags):
    lock = open(os.path.join(tempfile.gettempdir(), f"gpuadvise-lab-{name}.lock"), "w")
    try:
        fcntl.flock(lock, flags)
    except OSError:
        lock.close()
        raise
    return lock


def make_users(names):
    """Makes those that are not there; labs that begin together take turns."""
    with _lock("users", fcntl.LOCK_EX):
        for name in names:
            try:
                pwd.getpwnam(name)
            except KeyError:
                subprocess.run(["useradd", "--no-create-home", "--home-dir", "/tmp", "--shell", "/bin/sh", name],
                               check=True)


def free_ports(count):
    """Ports that are free now and that no other lab gets while this process lives."""
    assert count <= PORTS_OF_ONE, f"a lab of {count} ports; a range has {PORTS_OF_ONE}"
    for number in random.sample(range(RANGES), RANGES):
        try:
            claim = _lock(f"ports-{number}", fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        first = FIRST_PORT + number * PORTS_OF_ONE
        ports = list(range(first, first + count))
        if all(map(_is_free, ports)):
            _claims.append(claim)
            return ports
        claim.close()
    raise RuntimeError(f"no {count} ports are free from {FIRST_PORT} on")


def _is_free(port):
    with contextlib.closing(socket.socket()) as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
