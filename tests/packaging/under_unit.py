#!/usr/bin/env python3
"""Runs a command with the user, system call filter and limits of a systemd unit: under_unit.py USER GROUPS UNIT... -- COMMAND.

A stand-in for systemd, where there is none to start units: UNIT is the unit's file and then its drop-ins. Of the unit it
obeys SystemCallFilter, UMask, LimitCORE, LimitNOFILE and NoNewPrivileges. Needs root and libseccomp. GROUPS are the user's
supplementary groups, separated by commas.
"""
import ctypes
import errno
import grp
import os
import pwd
import resource
import subprocess
import sys

ALLOW = 0x7FFF0000
REFUSE = 0x00050000 | errno.EPERM


def settings_of(files):
    settings = {}
    for file in files:
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                key, equals, value = line.strip().partition("=")
                if equals and not key.startswith("#"):
                    settings.setdefault(key, []).append(value)
    return settings


def calls_of(word):
    """The system calls of a word of SystemCallFilter: a name, or a set as systemd has it."""
    if not word.startswith("@"):
        return {word}
    listed = subprocess.run(["systemd-analyze", "syscall-filter", word], check=True, capture_output=True, text=True).stdout
    words = [line.strip() for line in listed.splitlines()[1:]]
    return set().union(*(calls_of(name) for name in words if name and not name.startswith("#")))


def allowed_calls(filters):
    allowed = calls_of("@default")
    for value in filters:
        named = set().union(*(calls_of(word) for word in value.lstrip("~").split()))
        allowed = allowed - named if value.startswith("~") else allowed | named
    return allowed


def refuse_all_but(calls):
    library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_rule_add.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint]
    library.seccomp_load.argtypes = [ctypes.c_void_p]
    rules = library.seccomp_init(REFUSE)
    for name in sorted(calls):
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:
            library.seccomp_rule_add(rules, ALLOW, number, 0)
    if library.seccomp_load(rules) != 0:
        sys.exit("under_unit: the filter cannot be loaded")


def main():
    split = sys.argv.index("--")
    user, groups, units, command = sys.argv[1], sys.argv[2], sys.argv[3:split], sys.argv[split + 1:]
    settings = settings_of(units)
    calls = allowed_calls(settings["SystemCallFilter"])
    account = pwd.getpwnam(user)
    os.umask(int(settings["UMask"][-1], 8))
    for key, limit in (("LimitCORE", resource.RLIMIT_CORE), ("LimitNOFILE", resource.RLIMIT_NOFILE)):
        hard = resource.getrlimit(limit)[1]
        number = int(settings[key][-1])
        if hard != resource.RLIM_INFINITY:
            number = min(number, hard)
        resource.setrlimit(limit, (number, number))
    os.setgroups([grp.getgrnam(name).gr_gid for name in groups.split(",") if name])
    os.setgid(account.pw_gid)
    os.setuid(account.pw_uid)
    no_new_privileges = 38
    ctypes.CDLL(None).prctl(no_new_privileges, 1, 0, 0, 0)
    refuse_all_but(calls)
    os.execvp(command[0], command)


main()
