#!/usr/bin/env python3
"""Compiles the slurm-api source against the public headers of every Slurm release: compile_matrix.py [RELEASE...]

Each file that knows libslurm is compiled with all warnings as errors, and each of libslurm's functions that it calls is
looked for in that release's library. Nothing of Slurm runs. Headers and names of functions are kept in a cache
($GPUADVISE_RELEASES_CACHE, else gpuadvise/releases in $XDG_CACHE_HOME). They come from

  a Debian suite   libslurm-dev and the library, unpacked beside the cache, by the mirror that this host's apt uses
  Slurm's sources  the newest tag of the release, in the clone that --slurm-git or $GPUADVISE_SLURM_GIT names, else
                   fetched alone from Slurm's public repository

A release that cannot be had is named and not checked; with --all that is a failure. --installed checks what this host
has, and exits with 77 where it has none.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "daemon" / "collect").glob("slurm_api*.cc"))
SUITES = {"20.11": "bullseye", "22.05": "bookworm", "24.11": "trixie", "26.05": "sid"}
RELEASES = ("20.11", "21.08", "22.05", "23.02", "23.11", "24.05", "24.11", "25.05", "25.11", "26.05")
REPOSITORY = "https://github.com/SchedMD/slurm"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# What stands for a library's list: functions at the start of a line, and the names that they are exported under.
DEFINITION = re.compile(r"^(?:[a-zA-Z_][\w *]*?[ *])?(slurm_\w+)\s*\([^;\n]*$", re.MULTILINE)
ALIAS = re.compile(r"^strong_alias\(\s*\w+\s*,\s*(slurm_\w+)\s*\)", re.MULTILINE)
SKIPPED = 77
SECONDS = 600  # for one command


class Unavailable(Exception):
    """Why a release's headers cannot be had."""


def run(*words, **options):
    try:
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace",
                              timeout=SECONDS, **options)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{words[0]}: {error}") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise Unavailable(f"{words[0]}: {said[-1] if said else f'exit status {done.returncode}'}")
    return done.stdout


def cache_folder():
    if os.environ.get("GPUADVISE_RELEASES_CACHE"):
        return pathlib.Path(os.environ["GPUADVISE_RELEASES_CACHE"])
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(home) / "gpuadvise" / "releases"


# ---- a release: a folder with include/slurm/*.h and a file `functions`, one name a line ---------------------------


def functions_of_library(library):
    names = (line.split()[-1].split("@")[0] for line in run("nm", "-D", "--defined-only", library).splitlines())
    return sorted({name for name in names if name.startswith("slurm")})


def release_of(folder):
    """"24.11.5", as the headers say it."""
    for name in ("slurm_version.h", "slurm.h"):
        header = folder / "include" / "slurm" / name
        found = re.search(r"^#define\s+SLURM_VERSION_NUMBER\s+0x(\w+)", header.read_text(), re.MULTILINE) \
            if header.exists() else None
        if found:
            number = int(found.group(1), 16)
            return f"{number >> 16 & 255:02}.{number >> 8 & 255:02}.{number & 255}"
    raise Unavailable(f"{folder} has no SLURM_VERSION_NUMBER")


def mirror():
    """Where this host's apt gets Debian from."""
    for uri in run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Origin: Debian").splitlines():
        if "security" not in uri:
            return uri
    raise Unavailable("apt knows no Debian mirror; run apt-get update once")


def unpack_suite(suite, folder):
    state = folder / "apt"
    for part in ("lists/partial", "archives/partial", "debs"):
        (state / part).mkdir(parents=True)
    (state / "sources.list").write_text(f"deb [signed-by={KEYRING}] {mirror()} {suite} main\n")
    (state / "status").touch()
    options = [f"-o={key}={value}" for key, value in (
        ("Dir::Etc::sourcelist", state / "sources.list"), ("Dir::Etc::sourceparts", "-"),
        ("Dir::State::lists", state / "lists"), ("Dir::State::status", state / "status"),
        ("Dir::Cache", state), ("APT::Sandbox::User", "root"), ("Acquire::Languages", "none"))]
    run("apt-get", *options, "-qq", "update")
    rows = run("apt-cache", *options, "depends", "libslurm-dev").splitlines()
    library = next((row.split()[-1] for row in rows if re.search(r"Depends: libslurm\d+\w*$", row)), None)
    if library is None:
        raise Unavailable(f"{suite} has no libslurm-dev")
    run("apt-get", *options, "-qq", "download", "libslurm-dev", library, cwd=state / "debs")
    for package in (state / "debs").glob("*.deb"):
        run("dpkg-deb", "-x", package, state / "root")
    shutil.copytree(state / "root/usr/include/slurm", folder / "include" / "slurm")
    found = next((state / "root/usr/lib").rglob("libslurm.so.*.*"))
    write_functions(folder, functions_of_library(found))
    shutil.rmtree(state)


def write_functions(folder, names):
    (folder / "functions").write_text("".join(f"{name}\n" for name in names))


def newest_tag(listing, release):
    """The newest of e.g. slurm-24-11-7-1 in lines that end with tags; release candidates do not count."""
    prefix = "slurm-" + release.replace(".", "-") + "-"
    tags = {line.split("/")[-1].strip() for line in listing.splitlines()}
    numbers = [tuple(map(int, tag[len(prefix):].split("-"))) for tag in tags
               if tag.startswith(prefix) and re.fullmatch(r"\d+-\d+", tag[len(prefix):])]
    if not numbers:
        raise Unavailable(f"the repository has no tag of {release}")
    return prefix + "-".join(map(str, max(numbers)))


def clone_with(release, given, folder):
    """A repository that has the newest tag of `release`, and that tag."""
    if given:
        return given, newest_tag(run("git", "-C", given, "tag", "--list"), release)
    tag = newest_tag(run("git", "ls-remote", "--tags", "--refs", REPOSITORY), release)
    run("git", "init", "-q", "--bare", folder / "git")
    run("git", "-C", folder / "git", "fetch", "-q", "--depth", "1", REPOSITORY, f"refs/tags/{tag}:refs/tags/{tag}")
    return folder / "git", tag


def functions_of_sources(repository, tag):
    code = run("git", "-C", repository, "grep", "-hE", r"slurm_\w+ *\(|strong_alias\(", tag, "--", "src/api/*.c",
               "src/common/*.c", "src/interfaces/*.c", "src/conmgr/*.c")
    return sorted(set(DEFINITION.findall(code)) | set(ALIAS.findall(code)))


def take_sources(release, given, folder):
    repository, tag = clone_with(release, given, folder)
    headers = folder / "include" / "slurm"
    headers.mkdir(parents=True)
    meta = run("git", "-C", repository, "show", f"{tag}:META")
    version = [int(re.search(rf"^\s*{part}:\s*(\d+)", meta, re.MULTILINE).group(1))
               for part in ("Major", "Minor", "Micro")]
    number = f"0x{version[0]:02x}{version[1]:02x}{version[2]:02x}"
    for path in run("git", "-C", repository, "ls-tree", "--name-only", tag, "slurm/").splitlines():
        if not path.endswith((".h", ".h.in")):
            continue
        text = run("git", "-C", repository, "show", f"{tag}:{path}")
        # What configure fills in.
        text = re.sub(r"^#undef SLURM_VERSION_NUMBER", f"#define SLURM_VERSION_NUMBER {number}", text,
                      flags=re.MULTILINE)
        (headers / pathlib.Path(path).name.removesuffix(".in")).write_text(text)
    write_functions(folder, functions_of_sources(repository, tag))
    shutil.rmtree(folder / "git", ignore_errors=True)


def obtain(release, cache, slurm_git):
    """The folder of `release`, filled where it is not there yet."""
    folder = cache / release
    if (folder / "functions").exists():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    causes = []
    ways = [lambda new: take_sources(release, slurm_git, new)]
    if release in SUITES:
        ways.insert(0, lambda new: unpack_suite(SUITES[release], new))
    for way in ways:
        new = pathlib.Path(tempfile.mkdtemp(prefix=f"{release}.", dir=cache))
        try:
            way(new)
            found = release_of(new)
            if not found.startswith(release):
                raise Unavailable(f"what should be {release} is {found}")
            new.rename(folder)
            return folder
        except Unavailable as error:
            causes.append(str(error))
        finally:
            shutil.rmtree(new, ignore_errors=True)
    raise Unavailable("; ".join(causes))


def installed(folder):
    """This host's headers and library as a release in `folder`; None where it has none."""
    header = next((path for path in map(pathlib.Path, ("/usr/include", "/usr/local/include"))
                   if (path / "slurm/slurm.h").exists()), None)
    libraries = [line.split("=> ")[-1] for line in run("/sbin/ldconfig", "-p").splitlines() if "libslurm.so" in line]
    if header is None or not libraries:
        return None
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "include").mkdir(parents=True)
    (folder / "include/slurm").symlink_to(header / "slurm")
    write_functions(folder, functions_of_library(libraries[0]))
    return folder


# ---- the check ------------------------------------------------------------------------------------------------------


def compiler():
    chosen = os.environ.get("CXX", "g++").split()
    return ["ccache", *chosen] if shutil.which("ccache") else chosen


def compile_one(source, headers, target):
    """The errors' first lines; none where it compiles."""
    done = subprocess.run([*compiler(), "-std=c++20", "-c", "-I", str(ROOT), "-isystem", str(headers), "-Wall", "-Wextra",
                           "-Wpedantic", "-Wshadow", "-Werror", str(source), "-o", str(target)],
                          capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode == 0:
        return []
    errors = [line for line in done.stderr.splitlines() if "error: " in line]
    return [f"{source.name}: {line.split('error: ')[-1]}" for line in errors] or [f"{source.name}: {done.stderr}"]


def missing_functions(target, functions):
    """What the object file calls of libslurm and the library does not have."""
    used = {line.split()[-1] for line in run("nm", "-u", target).splitlines()}
    return sorted(name for name in used if re.match(r"slurm(db)?_", name) and name not in functions)


def check(folder, sources):
    """What is wrong with `sources` on the release in `folder`, one finding a line."""
    functions = set((folder / "functions").read_text().split())
    findings = []
    with tempfile.TemporaryDirectory() as objects:
        for source in sources:
            target = pathlib.Path(objects) / (source.stem + ".o")
            errors = compile_one(source, folder / "include", target)
            findings += errors
            if not errors:
                findings += [f"{source.name}: {name}() is not in libslurm"
                             for name in missing_functions(target, functions)]
    return findings


def report(name, findings):
    print(f"{name:8} {'ok' if not findings else 'FAILED'}", flush=True)
    for finding in findings:
        print(f"         {finding}", flush=True)
    return not findings


def check_installed(arguments, sources):
    release = installed(arguments.cache / "installed")
    if release is None:
        print("this host has no libslurm with its headers")
        return SKIPPED
    return 0 if report(release_of(release), check(release, sources)) else 1


def check_releases(arguments, sources):
    passed, absent = True, {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        folders = {}
        for release in arguments.release or RELEASES:
            try:
                folders[release] = obtain(release, arguments.cache, arguments.slurm_git)
            except Unavailable as error:
                absent[release] = str(error)
        results = {release: workers.submit(check, folder, sources) for release, folder in folders.items()}
        for release, result in results.items():
            passed = report(release_of(folders[release]), result.result()) and passed
    for release, why in absent.items():
        print(f"{release:8} not checked: {why}")
    print(f"{len(results)} releases checked, {len(absent)} not")
    return 0 if passed and results and not (arguments.all and absent) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", nargs="*", choices=[*RELEASES, []], metavar="RELEASE", help=", ".join(RELEASES))
    parser.add_argument("--all", action="store_true", help="fail where a release cannot be had")
    parser.add_argument("--installed", action="store_true", help="check only what this host has")
    parser.add_argument("--cache", type=pathlib.Path, default=cache_folder())
    parser.add_argument("--slurm-git", default=os.environ.get("GPUADVISE_SLURM_GIT"), help="a clone of Slurm's sources")
    arguments = parser.parse_args()
    check_these = check_installed if arguments.installed else check_releases
    return check_these(arguments, SOURCES)


if __name__ == "__main__":
    sys.exit(main())
