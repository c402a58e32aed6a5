#!/usr/bin/env python3
"""The portable bundle in bare roots, on real Slurms: portable.py TARBALL [--release RELEASE...] [--root ROOT...]

TARBALL is that of packaging/portable.sh. For each release a lab runs (tests/lab), and in each root an ordinary user unpacks
the bundle in the home folder, without systemd, and runs ./gpuadvise-up. ROOT is a suite of Debian (debootstrap's minbase)
or "nothing": no libc, no library, no getent, only busybox and the release's own Slurm commands with their own loader. The
table of docs/slurm-releases.md is printed at the end. --slow-home MILLISECONDS puts the home folder on a file system in
which every operation takes so long (needs python3-fusepy). Roots are kept in $GPUADVISE_PACKAGE_ROOTS, else
/var/cache/gpuadvise/packages. Needs root, debootstrap, busybox-static and a mirror; without them it ends with 77.
"""
import argparse
import contextlib
import os
import pathlib
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lab"), str(HERE.parent / "lab/releases")]
import lab as slurm_lab  # noqa: E402
import lab_root  # noqa: E402
import roots as slurm_roots  # noqa: E402
import toolchains  # noqa: E402

USER = "lab1"
HOME = "/home/lab1"
NOTHING = "nothing"
SUITES = ["bullseye", "bookworm", "trixie", "sid", NOTHING]
COLUMNS = ["starts", "ranking after", "submit", "page", "why not, without Slurm"]
BUSYBOX = pathlib.Path("/bin/busybox")


def make_slurm(release):
    """The root of a release's Slurm; of the host's own release too, whose programs need a root's libraries here."""
    suite = slurm_roots.SUITES[release]
    root = lab_root.Root(slurm_roots.folder() / suite)
    if not (root.path / "usr/sbin/slurmctld").is_symlink():
        slurm_roots._debootstrap(suite, root.path)
    slurm_roots._make_tools(root)
    return root


def make_bare(name, folder):
    """A new copy of a bare root, with the user of the lab."""
    path = folder / "copies" / f"bare-{name}"
    shutil.rmtree(path, ignore_errors=True)
    if name == NOTHING:
        (path / "bin").mkdir(parents=True)
        shutil.copy(BUSYBOX, path / "bin")
        subprocess.run(["chroot", path, "/bin/busybox", "--install", "-s", "/bin"], check=True)
        (path / "etc").mkdir()
        (path / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\n")  # SlurmUser
    else:
        clean = toolchains.Root(name, folder, toolchains.MIRROR).folder
        path.parent.mkdir(exist_ok=True)
        subprocess.run(["cp", "-a", "--reflink=auto", clean, path], check=True)
    user = pwd.getpwnam(USER)
    with open(path / "etc/passwd", "a") as users:
        users.write(f"{USER}:x:{user.pw_uid}:{user.pw_gid}::{HOME}:/bin/sh\n")
    for place in ("proc", "dev", "tmp", "var/tmp", HOME[1:]):
        (path / place).mkdir(parents=True, exist_ok=True)
    for place in ("tmp", "var/tmp"):
        (path / place).chmod(0o1777)
    os.chown(path / HOME[1:], user.pw_uid, user.pw_gid)
    return path


class Machine:
    """A bare root with the lab's files and the release's programs at their own paths."""

    def __init__(self, path, lab, tarball, slow):
        self.path, self.lab, self.slow = path, lab, slow
        self.setup = f"mount --make-rprivate / && cd {path} && mount -t proc proc proc && mount --rbind /dev dev"
        for shared in (lab.folder, slurm_roots.folder()):
            place = path / str(shared)[1:]
            place.mkdir(parents=True, exist_ok=True)
            self.setup += f" && mount --bind {shared} {place}"
        if slow:
            self.setup += f" && mount --rbind {slow} {path}{HOME}"
        place = pathlib.Path(slow) if slow else path / HOME[1:]
        shutil.copy(tarball, place / "bundle.tar.xz")

    def run(self, script, slurm=True):
        """A shell script as the user, in a login without a session."""
        slurm_path = f"{self.lab.root.bin}:" if slurm else ""
        env = ["env", "-i", f"PATH={slurm_path}/usr/bin:/bin", f"HOME={HOME}", f"SLURM_CONF={self.lab.slurm_conf}", "TZ=UTC"]
        user = pwd.getpwnam(USER)
        chroot = ["/usr/sbin/chroot", f"--userspec={user.pw_uid}:{user.pw_gid}", "--groups=", str(self.path), "sh", "-c", f"cd {HOME}; {script}"]
        return subprocess.run(["unshare", "--mount", "sh", "-ec", self.setup + ' && cd / && exec "$@"', "sh", *env, *chroot], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", timeout=300, check=False)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def try_bundle(machine, log):
    """What the bundle did, by column; a value that begins with "no" is a failure."""
    def step(script, **how):
        done = machine.run(script, **how)
        log.write(f"$ {script}\n{done.stdout}\n")
        log.flush()
        return done

    unpacked = step("tar -xJf bundle.tar.xz")
    if unpacked.returncode != 0:  # Debian's minbase has no xz
        place = pathlib.Path(machine.slow or machine.path / HOME[1:])
        subprocess.run(["tar", "-xJf", place / "bundle.tar.xz", "-C", place, "--no-same-owner"], check=True)
        subprocess.run(["chown", "-R", USER, place], check=True)
    result = {}
    up = "cd gpuadvise-*-linux-*; ./gpuadvise-up"
    refused = step(up, slurm=False)
    result[COLUMNS[4]] = "said" if "there is no squeue in PATH" in refused.stdout else "no"
    port = free_port()
    began = time.monotonic()
    started = step(f"{up} --page {port}")
    seconds = time.monotonic() - began
    try:
        result["starts"] = "yes" if started.returncode == 0 else "no"
        result["ranking after"] = f"{seconds:.1f} s" if "✔ 1 " in started.stdout else "no"
        lines = re.search(r"Ask more:\n((?:  .*\n)+)", started.stdout)
        commands = step(f"set -e\n{lines[1]}  gpuadvise submit $HOME/gpuadvise-*-linux-*/share/doc/gpuadvise/examples/gr00t.yaml "
                        "--objective start --yes") if lines else started
        job = re.search(r"\b[Jj]ob (\d+)", commands.stdout)
        known = machine.lab.job(int(job[1])) if job else {}
        result["submit"] = "yes" if commands.returncode == 0 and known.get("UserId", "").startswith(f"{USER}(") else "no"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10) as page:
                result["page"] = "yes" if b"<html" in page.read() else "no"
        except OSError as error:
            result["page"] = f"no: {error}"
    finally:
        stopped = step(f"{up} stop")
    if "is stopped" not in stopped.stdout:
        result["starts"] = "no: not stopped"
    return result


@contextlib.contextmanager
def slow_folder(milliseconds):
    """A folder in which every operation takes so long; None where it is 0."""
    if not milliseconds:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="slow-") as folder:
        place, behind = pathlib.Path(folder) / "home", pathlib.Path(folder) / "behind"
        place.mkdir()
        behind.mkdir()
        user = pwd.getpwnam(USER)
        os.chown(behind, user.pw_uid, user.pw_gid)
        os.chmod(folder, 0o755)
        served = subprocess.Popen([HERE / "slow_folder.py", behind, place, str(milliseconds)])
        try:
            slurm_lab.wait_until(lambda: os.path.ismount(place), "the slow file system", 10)
            yield place
        finally:
            subprocess.run(["umount", "-l", place], check=False)
            served.wait(20)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tarball")
    parser.add_argument("--release", nargs="+", default=list(slurm_roots.SUITES), metavar="RELEASE")
    parser.add_argument("--root", nargs="+", default=SUITES, choices=SUITES, metavar="ROOT")
    parser.add_argument("--slow-home", type=float, default=0, metavar="MILLISECONDS")
    options = parser.parse_args()
    if os.geteuid() != 0 or not shutil.which("debootstrap") or not BUSYBOX.exists():
        print("portable: root, debootstrap and busybox-static are needed", file=sys.stderr)
        return 77
    folder = pathlib.Path(os.environ.get("GPUADVISE_PACKAGE_ROOTS") or "/var/cache/gpuadvise/packages").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    log_path = pathlib.Path(tempfile.mkdtemp(prefix="portable-roots-")) / "log"
    print("| root | Slurm | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 2) + "|", sep="\n", flush=True)
    failed = False
    with log_path.open("w") as log:
        for release in options.release:
            with slurm_lab.Lab(cluster="seed", root=make_slurm(release)) as lab:
                os.chmod(lab.folder, 0o755)
                for name in options.root:
                    log.write(f"==== {name}, Slurm {release}\n")
                    path = make_bare(name, folder)
                    with slow_folder(options.slow_home) as slow:
                        result = try_bundle(Machine(path, lab, options.tarball, slow), log)
                    failed = failed or any(value.startswith("no") for value in result.values())
                    print(f"| {name} | {release} | " + " | ".join(result.get(c, "–") for c in COLUMNS) + " |", flush=True)
                    shutil.rmtree(path)
                    lab.cancel_all()
    print(f"log: {log_path}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
