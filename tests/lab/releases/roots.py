#!/usr/bin/env python3
"""Makes a Debian root with the Slurm of another release, and what a lab needs to run it: roots.py RELEASE...

A root is debootstrap's minimal Debian of the suite that carries the release, kept in $GPUADVISE_LAB_ROOTS (else
/var/cache/gpuadvise/roots, which the users of a lab can read): some 300 MB and a minute each, made once. Beside it ROOT.tools gets copies of its
Slurm programs whose loader and library path (patchelf) are the root's: no chroot, no mounts, nothing of the host is
changed. ROOT.build is the collector, built by the host against the root's slurm.h and libslurm, and copied to
ROOT.tools/slurm-api. The host's own release needs none of it.
"""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[2]
sys.path.insert(0, str(HERE.parent))
import lab_root  # noqa: E402

SUITES = {"20.11": "bullseye", "22.05": "bookworm", "24.11": "trixie", "26.05": "sid"}
PACKAGES = "slurm-wlm,slurm-client,slurmdbd,slurmrestd,munge,libslurm-dev"
PROGRAMS = ["munged", "sacct", "sacctmgr", "salloc", "sattach", "sbatch", "sbcast", "scancel", "scontrol", "sdiag", "sinfo",
            "slurmctld", "slurmd", "slurmdbd", "slurmrestd", "slurmstepd", "sprio", "squeue", "sreport", "srun", "sshare",
            "sstat", "strigger"]
API_PROGRAM = "gpuadvise-collect-api"  # the one that links libslurm
OTHER_PROGRAMS = ("gpuadvised", "gpuadvise", "gpuadvise-collect")
MIRROR = "http://deb.debian.org/debian"
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
SECONDS = 1200  # for one command


class Unavailable(Exception):
    """Why a release's root cannot be had."""


def run(*words, **options):
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", timeout=SECONDS, **options)
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(map(str, words[:3]))}: {done.stdout.strip()[-600:]}")
    return done.stdout


def folder():
    """Where roots are kept."""
    return pathlib.Path(os.environ.get("GPUADVISE_LAB_ROOTS") or "/var/cache/gpuadvise/roots").absolute()


def is_hosts(release):
    """Whether the host's own Slurm is of this release."""
    return "%d.%02d" % lab_root.release_of(os.environ.get("PATH", "") + ":" + PATH) == release


def make(release):
    """The Root of a release, made if it is not there, with its tools; None for the host's own release."""
    if is_hosts(release):
        return None
    suite = SUITES.get(release)
    if suite is None:
        raise Unavailable(f"no Debian suite carries Slurm {release}; there are {', '.join(SUITES)}")
    if platform.machine() != "x86_64":
        raise Unavailable("roots are made for x86_64 only")
    path = folder() / suite
    if not (path / "usr" / "sbin" / "slurmctld").is_symlink():
        _debootstrap(suite, path)
    root = lab_root.Root(path)
    _make_tools(root)
    return root


def _debootstrap(suite, path):
    if not shutil.which("debootstrap"):
        raise Unavailable("debootstrap is missing: install it")
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    run("debootstrap", "--variant=minbase", f"--include={PACKAGES}", suite, unfinished,
        os.environ.get("GPUADVISE_LAB_MIRROR", MIRROR))
    unfinished.rename(path)


def _make_tools(root):
    """Programs that are loaded with the root's libc, whoever starts them from wherever."""
    if root.bin.exists():
        return
    if not shutil.which("patchelf"):
        raise Unavailable("patchelf is missing: install it")
    unfinished = root.tools.with_name(root.tools.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    (unfinished / "bin").mkdir(parents=True)
    for name in PROGRAMS:
        found = [path for path in (_inside(root.path, f"usr/{place}/{name}") for place in ("bin", "sbin")) if path]
        if found:
            _copy(found[0], unfinished / "bin" / name, root.loader, f"{root.plugins}:{_libc(root)}")
    # The root's usr/include is also its libc's: the compiler must not see that.
    (unfinished / "include").mkdir()
    (unfinished / "include" / "slurm").symlink_to(root.path / "usr/include/slurm")
    (unfinished / "lib").mkdir()
    for library in root.libraries.glob("libslurm.so*"):
        (unfinished / "lib" / library.name).symlink_to(library.resolve())
    unfinished.rename(root.tools)


def _inside(root, name):
    """The file that a path means inside the root: its absolute links (Debian's alternatives) lead into it."""
    path = root / name
    for _ in range(8):
        if not path.is_symlink():
            return path if path.exists() else None
        target = os.readlink(path)
        path = root / target.lstrip("/") if target.startswith("/") else path.parent / target
    return None


def _libc(root):
    """Where a root's own libraries are; those of the older Debian's libc are not in usr."""
    return f"{root.libraries}:{root.path}/lib/x86_64-linux-gnu"


def _copy(program, to, loader, search):
    shutil.copy2(program, to)
    words = ["--set-interpreter", loader] if loader else []
    run("patchelf", *words, "--force-rpath", "--set-rpath", search, to)


def libc_version(loader):
    """The version of the libc beside a loader, as a pair."""
    libc = pathlib.Path(os.path.realpath(loader)).with_name("libc.so.6")
    found = re.search(rb"GNU C Library .* release version (\d+)\.(\d+)", libc.read_bytes())
    return (int(found.group(1)), int(found.group(2)))


def build_programs(root, bin_folder):
    """The folder of programs for a root: the host's of bin_folder, and the one that links libslurm, built against its."""
    build = root.path.with_name(root.path.name + ".build")
    cache = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    run("cmake", "-S", SOURCE, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DBUILD_TESTING=OFF", *cache,
        "-DGPUADVISE_LIBSLURM=ON", f"-DSLURM_INCLUDE_DIR={root.tools}/include", f"-DSLURM_LIBRARY={root.tools}/lib/libslurm.so")
    run("cmake", "--build", build, "--target", API_PROGRAM)
    programs = root.tools / "programs"
    shutil.rmtree(programs, ignore_errors=True)
    programs.mkdir()
    for name in OTHER_PROGRAMS:
        shutil.copy2(pathlib.Path(bin_folder) / name, programs / name)
    # A library of a newer Debian wants its newer libc; one of an older Debian is content with the host's.
    newer = libc_version(root.loader) > libc_version(lab_root.HOSTS_LOADER)
    _copy(build / "bin" / API_PROGRAM, programs / API_PROGRAM, root.loader if newer else None,
          _libc(root) if newer else f"{root.tools}/lib")
    return programs


def main():
    for release in sys.argv[1:]:
        try:
            root = make(release)
        except Unavailable as error:
            sys.exit(f"{release}: {error}")
        print(f"{release}: {root.path if root else 'the host itself'}")


if __name__ == "__main__":
    main()
