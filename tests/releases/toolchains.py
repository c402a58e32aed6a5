#!/usr/bin/env python3
"""Builds all of gpuadvise and runs its fast tests with the tools of another Debian release: toolchains.py SUITE[:COMPILER]...

    tests/releases/toolchains.py trixie sid sid:clang++

For each a root by debootstrap (kept in $GPUADVISE_TOOLCHAIN_ROOTS, else /var/cache/gpuadvise/toolchains, 3 to 6 GB) in
which everything is done as a new user does it: the last commit is copied there, packaging/install-packages.sh installs,
the preset dev (warnings are errors) is built with the suite's g++ or the compiler named, and `ctest -LE lab` run. Each
ends with a line of suite, compiler, versions and tests; the log of all steps lies beside the root. Needs root, debootstrap,
a mirror, and some 20 minutes of two cores for each.
"""
import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
MIRROR = "http://deb.debian.org/debian"
PATH = "/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin"  # a root with ccache uses it
SHOWN = {"CMake": "cmake", "Boost": r"libboost[\d.]*-dev", "fmt": "libfmt-dev", "CLI11": "libcli11-dev",
         "GoogleTest": "libgtest-dev", "Slurm": "libslurm-dev"}  # a column's title, and the name of its package
# Services are not started in a root: Debian's way to say so.
NO_SERVICES = "#!/bin/sh\nexit 101\n"
HEAD = "| suite | compiler | " + " | ".join(SHOWN) + " | tests |"


class Failed(Exception):
    """Which step failed, and where its output lies."""


def versions_of(packages):
    """SHOWN's versions out of lines "PACKAGE VERSION": without epoch, Debian's revision and repacking; "–" for none."""
    found = [re.search(rf"^{name} (?:\d+:)?([^-+~\s]+)", packages, re.MULTILINE) for name in SHOWN.values()]
    return [version[1] if version else "–" for version in found]


def result_of(ctest):
    """How many passed, in words, and the names of failed tests, of what ctest printed; None where it ran none."""
    end = re.search(r"(\d+) tests failed out of (\d+)", ctest)
    if end is None:
        return None
    failed, total = int(end[1]), int(end[2])
    listed = re.findall(r"^\s+\d+ - (\S+) \(([^)]*)\)", ctest, re.MULTILINE)
    skipped = sum(why == "Skipped" for _, why in listed)  # which ctest counts as passed
    names = [name for name, why in listed if why not in ("Skipped", "Disabled")]
    return f"{total - failed - skipped} of {total} passed" + (f", {skipped} skipped" if skipped else ""), names


class Root:
    """A Debian root with a copy of this repository in /src/gpuadvise."""

    def __init__(self, suite, folder, mirror):
        self.folder = folder / suite
        self.log = folder / f"{suite}.log"
        self.log.write_text("")
        if not (self.folder / "usr" / "bin" / "apt-get").exists():
            self.step("debootstrap", ["debootstrap", "--variant=minbase", suite, self.folder, mirror])
        # The host's own ways to the mirror: proxies, and what it checks.
        ways = subprocess.run(["apt-config", "dump", "Acquire"], capture_output=True, text=True, check=False).stdout
        conf = self.folder / "etc/apt/apt.conf.d/90host"
        conf.write_text("".join(f"{line}\n" for line in ways.splitlines() if not line.startswith("Acquire::Languages")))
        conf.chmod(0o600)
        policy = self.folder / "usr/sbin/policy-rc.d"
        policy.write_text(NO_SERVICES)
        policy.chmod(0o755)
        shutil.copy("/etc/resolv.conf", self.folder / "etc/resolv.conf")
        (self.folder / "etc/hosts").write_text(f"127.0.0.1 localhost {os.uname().nodename}\n")

    def step(self, name, words):
        """Runs a command on the host, its output added to the log and returned."""
        done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False)
        with self.log.open("a") as log:
            log.write(f"== {name}\n{done.stdout}\n")
        if done.returncode != 0:
            raise Failed(f"{name} failed with exit status {done.returncode}: {self.log} says why")
        return done.stdout

    def inside(self, name, script):
        """Runs a shell script in the root, with mounts that end with it."""
        mounts = f"mount --make-rprivate / && mount --bind {q(self.folder)} {q(self.folder)} && cd {q(self.folder)} && " \
                 "mount --rbind /dev dev && mount -t proc proc proc"  # the root is a mount, as everywhere
        start = f"exec env -i PATH={PATH} HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive " \
                f"chroot {q(self.folder)} bash -euc {q(script)}"
        return self.step(name, ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c",
                                f"{mounts} && {start}"])

    def take_source(self):
        """Copies the last commit; a build that is there is kept."""
        source = self.folder / "src/gpuadvise"
        for old in source.glob("*"):
            if old.name != "build":
                shutil.rmtree(old) if old.is_dir() else old.unlink()
        source.mkdir(parents=True, exist_ok=True)
        self.step("copy", ["bash", "-o", "pipefail", "-c",
                           f"git -C {q(TOP)} archive HEAD | tar -x -m -C {q(source)}"])


def q(word):
    return shlex.quote(str(word))


def check(suite, compiler, options):
    """The table's line of one suite and compiler; Failed where a step did."""
    root = Root(suite, options.folder, options.mirror)
    root.take_source()
    root.inside("packages", "apt-get -qq update; apt-get -qq install -y ca-certificates >/dev/null; cd /src/gpuadvise; "
                            "packaging/install-packages.sh build test")
    build = "build/" + compiler.replace("+", "p")
    root.inside("build", f"cd /src/gpuadvise; cmake --preset dev -B {build} -DCMAKE_CXX_COMPILER={q(compiler)}; "
                         f"cmake --build {build} -j{options.jobs} -- -k 0")
    ctest = root.inside("tests", f"cd /src/gpuadvise; ctest --test-dir {build} -LE lab -j{options.jobs} "
                                 "--output-on-failure || true")
    result = result_of(ctest)
    if result is None:
        raise Failed(f"no tests ran: {root.log} says why")
    version = root.inside("compiler", f"{q(compiler)} -dumpfullversion 2>/dev/null || {q(compiler)} -dumpversion").strip()
    packages = root.inside("versions", "dpkg-query -W -f='${Package} ${Version}\\n'")
    print("|", " | ".join([suite, f"{compiler} {version}", *versions_of(packages), result[0]]), "|", flush=True)
    if result[1]:
        raise Failed(f"failed tests: {' '.join(result[1])} ({root.log})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", nargs="+", metavar="SUITE[:COMPILER]")
    parser.add_argument("--mirror", default=MIRROR)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    options.folder = pathlib.Path(os.environ.get("GPUADVISE_TOOLCHAIN_ROOTS") or "/var/cache/gpuadvise/toolchains").absolute()
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        print("toolchains: root and debootstrap are needed to make a Debian root", file=sys.stderr)
        return 77
    options.folder.mkdir(parents=True, exist_ok=True)
    print(HEAD, "|---" * (len(SHOWN) + 3) + "|", sep="\n")
    failed = 0
    for word in options.suite:
        suite, _, compiler = word.partition(":")
        try:
            check(suite, compiler or "g++", options)
        except Failed as failure:
            print(f"toolchains: {word}: {failure}", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
