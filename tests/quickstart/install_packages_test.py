#!/usr/bin/env python3
"""packaging/install-packages.sh against stand-ins for dpkg-query, apt-get, id and sudo."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]


class Machine:
    """A copy of packaging/ and a PATH that holds only what a test puts there."""

    def __init__(self, folder, installed=(), root=True, apt_fails=False):
        self.folder = pathlib.Path(folder)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        self.calls = self.folder / "calls"
        self.calls.write_text("")
        shutil.copytree(TOP / "packaging", self.folder / "packaging")
        for tool in ("bash", "env", "dirname", "readlink", "grep", "echo"):
            (self.bin / tool).symlink_to(shutil.which(tool))
        states = "".join(f"{p} installed\\n" for p in installed)
        self.tool("dpkg-query", f"printf '{states}'")
        self.tool("id", f"echo {0 if root else 1000}")
        self.tool("apt-get", f'echo "apt-get $*" >>"{self.calls}"; exit {100 if apt_fails else 0}')

    def tool(self, name, script):
        path = self.bin / name
        path.write_text(f"#!{shutil.which('bash')}\n{script}\n")
        path.chmod(0o755)

    def list(self, text):
        (self.folder / "packaging/debian-packages.txt").write_text(text)

    def install(self, *sections):
        return subprocess.run([self.folder / "packaging/install-packages.sh", *sections], text=True,
                              env={"PATH": str(self.bin)}, capture_output=True, check=False)


class InstallPackages(unittest.TestCase):
    LIST = "# why\n[build]\ng++\ncmake\n\n[test]\nmunge\n"

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def machine(self, **how):
        machine = Machine(self.folder.name, **how)
        machine.list(self.LIST)
        return machine

    def test_says_and_does_nothing_when_all_are_there(self):
        machine = self.machine(installed=["g++", "cmake"])
        done = machine.install("build")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(machine.calls.read_text(), "")

    def test_names_and_installs_only_what_is_missing(self):
        machine = self.machine(installed=["cmake"])
        done = machine.install("build", "test")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Installing 2 packages: g++ munge", done.stdout)
        install = machine.calls.read_text().splitlines()[-1]
        self.assertTrue(install.endswith("install -y --no-install-recommends g++ munge"), install)

    def test_a_package_that_is_only_configured_counts_as_missing(self):
        machine = self.machine(installed=["cmake"])
        machine.tool("dpkg-query", "printf 'g++ config-files\\ncmake installed\\n'")
        self.assertIn("1 packages: g++", machine.install("build").stdout)

    def test_uses_sudo_only_when_not_root(self):
        machine = self.machine(installed=["g++"], root=False)
        machine.tool("sudo", f'echo sudo >>"{machine.calls}"')
        self.assertEqual(machine.install("build").returncode, 0)
        self.assertEqual(set(machine.calls.read_text().split()), {"sudo"})

    def test_without_root_or_sudo_says_the_command(self):
        done = self.machine(installed=["g++"], root=False).install("build")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("as root run: apt-get install cmake", done.stderr)

    def test_a_package_is_not_wanted_where_its_command_is_there_from_elsewhere(self):
        machine = self.machine(installed=["cmake", "g++"])
        machine.list(self.LIST + "[page]\ngzip\nnpm no-such-command\nnodejs bash\n")
        self.assertIn("Installing 2 packages: gzip npm\n", machine.install("page").stdout)

    def choice(self, candidates, **how):
        """A machine that wants new-boost, else boost, where apt has `candidates`."""
        machine = self.machine(**how)
        machine.list("[build]\nnew-boost|boost\n")
        cases = "".join(f"{name}) echo '  Candidate: 1.8' ;; " for name in candidates)
        machine.tool("apt-cache", f"case $2 in {cases} new-boost) echo '  Candidate: (none)' ;; esac")
        return machine

    def test_of_two_names_the_first_that_this_release_has_is_installed(self):
        machine = self.choice(["new-boost", "boost"], installed=["boost"])
        self.assertIn("Installing 1 packages: new-boost\n", machine.install("build").stdout)

    def test_the_other_name_is_installed_where_the_first_has_no_candidate(self):
        machine = self.choice(["boost"])
        self.assertIn("Installing 1 packages: boost\n", machine.install("build").stdout)

    def test_nothing_is_done_where_the_other_name_is_all_there_is_and_is_there(self):
        machine = self.choice(["boost"], installed=["boost"])
        self.assertEqual((machine.install("build").stdout, machine.calls.read_text()), ("", ""))

    def test_the_name_is_chosen_by_the_refreshed_lists(self):
        machine = self.choice([])
        machine.tool("apt-cache", f'[ -s "{machine.calls}" ] && [ $2 = boost ] && echo "  Candidate: 1.8"')
        self.assertIn("Installing 1 packages: boost\n", machine.install("build").stdout)

    def test_a_package_that_apt_does_not_know_is_still_named(self):
        done = self.choice([], apt_fails=True).install("build")
        self.assertIn("apt-get could not install all of: new-boost", done.stderr)

    def test_a_failing_apt_gives_a_sentence_with_the_packages(self):
        done = self.machine(installed=["g++"], apt_fails=True).install("build")
        self.assertEqual(done.returncode, 1)
        self.assertIn("apt-get could not install all of: cmake", done.stderr)

    def test_another_system_gives_a_sentence(self):
        machine = self.machine()
        (machine.bin / "dpkg-query").unlink()
        done = machine.install("build")
        self.assertEqual(done.returncode, 1)
        self.assertIn("not a Debian-like system", done.stderr)

    def test_an_unknown_section_is_refused(self):
        done = self.machine().install("bulid")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no packages are listed under: bulid", done.stderr)


class PackageList(unittest.TestCase):
    def test_names_each_package_once_and_in_order(self):
        sections, names = {}, None
        for line in (TOP / "packaging/debian-packages.txt").read_text().splitlines():
            if line.startswith("["):
                names = sections.setdefault(line, [])
            elif line and not line.startswith("#"):
                names.append(line.split()[0])
        self.assertEqual(list(sections), ["[build]", "[page]", "[test]", "[releases]", "[portable]", "[aarch64]"])
        for names in sections.values():
            self.assertEqual(names, sorted(set(names)))
        every = [name for names in sections.values() for name in names]
        self.assertEqual(len(every), len(set(every)))


if __name__ == "__main__":
    unittest.main()
