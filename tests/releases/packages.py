#!/usr/bin/env python3
"""The .deb packages and the static client, in clean roots: packages.py [--debian SUITE] [--old SUITE].

Builds the presets release and static-client, makes the packages (and once more as a later version), and in a new copy of
a root by debootstrap installs, starts, upgrades, removes and purges them. The client of the tarball runs in a root of an
older Debian and in one that has nothing but it. SUITE must be the host's own Debian, for which it builds (default: that).
Roots are kept in $GPUADVISE_PACKAGE_ROOTS, else /var/cache/gpuadvise/packages: 200 MB each. Needs root, debootstrap and a
mirror; without them it ends with 77.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import toolchains

TOP = pathlib.Path(__file__).resolve().parents[2]
LATER = "0.9.9"
# What a site's own build does not have: an address to write to, a place in the archive.
NO_FAULTS = "bogus-mail-host,bogus-mail-host-in-debian-changelog,root-in-contact,initial-upload-closes-no-bugs"
SETTINGS = "/etc/gpuadvise/gpuadvised.yaml"
START = """
sed -i 's/^source: auto .*/source: sim/' /etc/gpuadvise/gpuadvised.yaml
mkdir -p /run/gpuadvise; chown gpuadvise:gpuadvise /run/gpuadvise
setpriv --reuid gpuadvise --regid gpuadvise --clear-groups --no-new-privs /usr/sbin/gpuadvised >/tmp/log 2>&1 & pid=$!
for i in $(seq 300); do gpuadvise gpus >/tmp/gpus 2>/dev/null && break; sleep 0.2; done
cat /tmp/log /tmp/gpus; kill $pid; wait $pid
"""
OPTIONS = None


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, cwd=TOP, **more)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))}: {done.stdout[-3000:]}")
    return done.stdout


def build(preset):
    cache = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    run("cmake", "--preset", preset, *cache)
    run("cmake", "--build", "--preset", preset)
    return TOP / "build" / preset


def packages(folder, version=None):
    """The .deb files, made of build/release."""
    shutil.rmtree(folder, ignore_errors=True)
    words = ["-D", f"CPACK_PACKAGE_VERSION={version}"] if version else []
    run("cpack", "--config", TOP / "build/release/CPackConfig.cmake", "-B", folder, *words)
    return sorted(folder.glob("*.deb"))


class Roots:
    """Clean roots by suite; copies of them to work in."""

    def __init__(self, folder):
        self.folder = folder
        self.copies = folder / "copies"
        shutil.rmtree(self.copies, ignore_errors=True)
        self.copies.mkdir(parents=True)

    def copy(self, suite, name):
        clean = toolchains.Root(suite, self.folder, toolchains.MIRROR)
        if not (clean.folder / "var/lib/apt/lists/lock").exists():
            clean.inside("lists", "apt-get -qq update")
        run("cp", "-a", "--reflink=auto", clean.folder, self.copies / name)
        clean.folder = self.copies / name
        return clean


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build("release")
        cls.first = packages(OPTIONS.folder / "first")
        cls.later = packages(OPTIONS.folder / "later", LATER)

    def field(self, name, field):
        path = next(path for path in self.first if path.name.startswith(name + "_"))
        return run("dpkg-deb", "-f", path, field).strip()

    def test_there_are_three_with_what_they_need(self):
        self.assertEqual([path.name.split("_")[0] for path in self.first], ["gpuadvise-collect", "gpuadvise-daemon", "gpuadvise"])
        self.assertIn("libc6", self.field("gpuadvise", "Depends"))
        self.assertNotIn("slurm", self.field("gpuadvise-daemon", "Depends"))
        self.assertRegex(self.field("gpuadvise-collect", "Depends"), r"libslurm\d+(t64)? ")
        self.assertRegex(self.field("gpuadvise-collect", "Depends"), r"gpuadvise-daemon \(= [\d.]+\)")
        self.assertRegex(self.field("gpuadvise-collect", "Description"), r"made for Slurm \d\d\.\d\d;")

    @unittest.skipUnless(shutil.which("lintian"), "needs lintian")
    def test_lintian_finds_no_error(self):
        for path in self.first:
            run("lintian", "--fail-on", "error", "--suppress-tags", NO_FAULTS, path)

    def test_install_start_upgrade_remove_and_purge(self):
        root = OPTIONS.roots.copy(OPTIONS.debian, "packages")
        for name, files in (("first", self.first), ("later", self.later)):
            (root.folder / "tmp" / name).mkdir()
            for path in files:
                shutil.copy(path, root.folder / "tmp" / name)
        install = "apt-get -qq install -y --no-install-recommends -o Dpkg::Options::=--force-confold /tmp/{}/*.deb 2>&1"
        root.inside("install", install.format("first"))
        self.check_installed(root)
        said = root.inside("start", START)
        self.assertRegex(said, r"GPU +", said)
        # A simulated cluster leaves no history.
        root.inside("history", "install -o gpuadvise -g gpuadvise -m 600 /dev/null /var/lib/gpuadvise/history.db")

        root.inside("upgrade", install.format("later"))
        versions = root.inside("versions", "dpkg-query -W -f='${Version}\\n' gpuadvise gpuadvise-daemon gpuadvise-collect")
        self.assertEqual(set(versions.split()), {LATER})
        self.assertIn("source: sim", (root.folder / SETTINGS[1:]).read_text())
        self.assertTrue((root.folder / "var/lib/gpuadvise/history.db").exists())

        root.inside("remove", "apt-get -qq remove -y gpuadvise gpuadvise-daemon gpuadvise-collect 2>&1")
        self.assertFalse((root.folder / "usr/sbin/gpuadvised").exists())
        self.assertTrue((root.folder / "var/lib/gpuadvise/history.db").exists())
        self.assertTrue((root.folder / SETTINGS[1:]).exists())
        root.inside("purge", "apt-get -qq purge -y gpuadvise gpuadvise-daemon gpuadvise-collect 2>&1")
        left = root.inside("left", "find / -xdev -name '*gpuadvise*' -not -path '/tmp/*' -not -path '/proc/*' "
                                   "-not -path '/run/*' -not -path '/var/cache/*'")
        self.assertEqual(left.strip(), "")

    def check_installed(self, root):
        self.assertRegex(root.inside("user", "getent passwd gpuadvise"), r"^gpuadvise:.*:/var/lib/gpuadvise:.*nologin")
        self.assertEqual(root.inside("state", "stat -c '%U:%G %a' /var/lib/gpuadvise").strip(), "gpuadvise:gpuadvise 750")
        self.assertEqual(root.inside("files", "dpkg -V gpuadvise gpuadvise-daemon gpuadvise-collect").strip(), "")
        self.assertIn("gpuadvised.service", root.inside("unit", "ls /etc/systemd/system/multi-user.target.wants"))
        for program in ("gpuadvise", "gpuadvised", "gpuadvise-backtest", "/usr/libexec/gpuadvise/gpuadvise-collect",
                        "/usr/libexec/gpuadvise/gpuadvise-collect-api"):
            self.assertNotIn("not found", root.inside("libraries", f"ldd $(command -v {program})"), program)
        self.assertIn(SETTINGS, root.inside("conffiles", "cat /var/lib/dpkg/info/gpuadvise-daemon.conffiles"))


class StaticClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = OPTIONS.folder / "static"
        shutil.rmtree(folder, ignore_errors=True)
        run("cpack", "--config", build("static-client") / "CPackConfig.cmake", "-B", folder)
        cls.tarball = next(folder.glob("*.tar.gz"))
        run("tar", "-xzf", cls.tarball, "-C", folder, "--strip-components=1")
        cls.program = folder / "bin/gpuadvise"

    def test_needs_no_library_and_no_fixed_address(self):
        self.assertNotIn("NEEDED", run("readelf", "-dW", self.program))
        self.assertNotIn("INTERP", run("readelf", "-lW", self.program))
        self.assertRegex(run("readelf", "-hW", self.program), r"Type: +DYN")

    def test_the_tarball_has_pages_and_completion(self):
        listed = run("tar", "-tzf", self.tarball)
        for path in ("share/man/man1/gpuadvise.1.gz", "share/bash-completion/completions/gpuadvise", "LICENSE"):
            self.assertIn(path, listed)

    def test_runs_in_a_root_that_has_nothing_else(self):
        root = OPTIONS.roots.copies / "empty"
        root.mkdir()
        shutil.copy(self.program, root)
        self.assertRegex(run("chroot", root, "/gpuadvise", "--version"), r"^gpuadvise \d")
        fit = run("chroot", root, "/gpuadvise", "fit", "gpt2", "--seq", "1024", "--gpu", "l40s")
        self.assertIn("L40S", fit)
        done = subprocess.run(["chroot", root, "/gpuadvise", "gpus"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 4, done)

    def test_runs_in_an_old_debian_and_knows_its_users(self):
        root = OPTIONS.roots.copy(OPTIONS.old, "old")
        shutil.copy(self.program, root.folder / "usr/bin")
        self.assertIn("gpuadvise", root.inside("version", "gpuadvise --version"))
        self.assertIn("Usage: gpuadvise fit", root.inside("help", "gpuadvise help fit"))
        # Completion offers the caller's own jobs, by the name that `getent` says: a stand-in notes that it was asked.
        root.inside("user", "useradd -m ann; mv /usr/bin/getent /usr/bin/getent.own; chmod 1777 /tmp; printf '#!/bin/sh\\n"
                            "touch /tmp/asked; exec /usr/bin/getent.own \"$@\"\\n' >/usr/bin/getent; chmod 755 /usr/bin/getent")
        asked = root.inside("getent", "setpriv --reuid ann --clear-groups gpuadvise complete why ''; ls /tmp/asked; id -un")
        self.assertIn("/tmp/asked", asked)


def main():
    global OPTIONS
    codename = re.search(r"^VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text(), re.M)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--debian", default=codename.group(1) if codename else "", metavar="SUITE")
    parser.add_argument("--old", default="bullseye", metavar="SUITE")
    OPTIONS, rest = parser.parse_known_args()
    if os.geteuid() != 0 or not shutil.which("debootstrap") or not shutil.which("dpkg-shlibdeps"):
        print("packages: root, debootstrap and dpkg-dev are needed to try packages in a Debian root", file=sys.stderr)
        return 77
    OPTIONS.folder = pathlib.Path(os.environ.get("GPUADVISE_PACKAGE_ROOTS") or "/var/cache/gpuadvise/packages").absolute()
    OPTIONS.roots = Roots(OPTIONS.folder)
    return unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    sys.exit(main())
