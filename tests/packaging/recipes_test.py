#!/usr/bin/env python3
"""The recipes for packages of other systems agree with what is installed: recipes_test.py BUILD.

The RPM spec is read by rpmspec where it is there, its %files are held against an installation, and its version against
CMake's. The steps of the Containerfile are looked at: what they name is in the repository.
"""
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
SPEC = TOP / "packaging/gpuadvise.spec"
MACROS = {"%{_bindir}": "/usr/bin", "%{_sbindir}": "/usr/sbin", "%{_libexecdir}": "/usr/libexec", "%{_datadir}": "/usr/share",
          "%{_mandir}": "/usr/share/man", "%{_docdir}": "/usr/share/doc", "%{_sysconfdir}": "/etc", "%{_prefix}": "/usr"}
BUILD = None


def installed(folder):
    """The files of an installation below `folder`, by their paths in it."""
    subprocess.run(["cmake", "--install", BUILD, "--prefix", "/usr"], env={**os.environ, "DESTDIR": str(folder)}, check=True,
                   stdout=subprocess.DEVNULL)
    return [path.relative_to(folder) for path in pathlib.Path(folder).rglob("*") if path.is_file()]


class Spec(unittest.TestCase):
    def test_all_that_names_a_version_names_the_project_s(self):
        version = re.search(r"project\(gpuadvise VERSION ([\d.]+)", (TOP / "CMakeLists.txt").read_text()).group(1)
        for file, line in [("packaging/gpuadvise.spec", f"Version:        {version}"), ("docs/openapi.yaml", f"  version: {version}"),
                           ("web/package.json", f'  "version": "{version}",'), ("web/package-lock.json", f'  "version": "{version}",')]:
            self.assertIn(f"\n{line}\n", (TOP / file).read_text(), file)
        self.assertRegex((TOP / "CHANGELOG.md").read_text(), rf"(?m)^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$")
        named = set(re.findall(r"gpuadvise(?:-daemon)?[-_](\d[\d.]*\d)", (TOP / "docs/install.md").read_text()))
        self.assertEqual(named, {version})

    @unittest.skipUnless(shutil.which("rpmspec"), "needs rpmspec")
    def test_can_be_read(self):
        for more in ([], ["--without", "slurm"], ["--with", "portable"]):
            done = subprocess.run(["rpmspec", "-P", SPEC, *more], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual("%files collect" in done.stdout, not more)

    def test_lists_every_file_that_is_installed_and_no_other(self):
        if not shutil.which("scdoc"):
            self.skipTest("needs scdoc, for the man pages")
        patterns = []
        for line in SPEC.read_text().split("\n%files\n")[1].splitlines():
            path = re.sub(r"^%(dir|config\(\w+\)) +", "", line)
            for macro, folder in MACROS.items():
                path = path.replace(macro, folder)
            if path.startswith("/") and not line.startswith("%dir"):
                patterns.append(path)
        with tempfile.TemporaryDirectory() as folder:
            files = [f"/{path}" for path in installed(folder)]
        holds = lambda path, pattern: path.startswith(pattern + "/") or fnmatch.fnmatch(path, pattern)
        self.assertEqual([path for path in files if not any(holds(path, pattern) for pattern in patterns)], [])
        unused = [pattern for pattern in patterns if not any(holds(path, pattern) for path in files)]
        self.assertLessEqual(set(unused), {"/usr/libexec/gpuadvise/gpuadvise-collect-api"})  # needs libslurm


    @unittest.skipUnless(shutil.which("rpmbuild"), "needs rpmbuild")
    def test_makes_packages_of_what_is_installed(self):
        if not shutil.which("scdoc"):
            self.skipTest("needs scdoc, for the man pages")
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder) / "tree"
            for path in installed(tree):  # what is in the files is not looked at here
                mode = (tree / path).stat().st_mode
                (tree / path).unlink()
                (tree / path).touch()
                (tree / path).chmod(mode)
            (tree / "usr/libexec/gpuadvise/gpuadvise-collect-api").unlink(missing_ok=True)
            done = subprocess.run(["rpmbuild", "-bb", "--quiet", "--nodeps", "--with", "portable", "--define", f"tree {tree}", "--define",
                                   f"_topdir {folder}", "--target", "aarch64", SPEC], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            made = {path.name.rsplit("-", 2)[0]: path for path in pathlib.Path(folder, "RPMS/aarch64").iterdir()}
            self.assertEqual(set(made), {"gpuadvise", "gpuadvise-daemon"})
            ask = lambda name, *words: subprocess.run(["rpm", "-qp", *words, made[name]], capture_output=True, text=True, check=True).stdout
            self.assertLess({"/usr/bin/gpuadvise", "/usr/share/man/man1/gpuadvise.1.gz", "/usr/share/doc/gpuadvise/LICENSE"},
                            set(ask("gpuadvise", "--list").split()))
            daemon = ask("gpuadvise-daemon", "--list").split()
            self.assertLess({"/usr/sbin/gpuadvised", "/usr/libexec/gpuadvise/gpuadvise-collect", "/etc/gpuadvise/gpuadvised.yaml",
                             "/usr/lib/systemd/system/gpuadvised.service"}, set(daemon))
            scripts = ask("gpuadvise-daemon", "--scripts")
            for step in ("systemd-sysusers gpuadvise.conf", "systemctl --no-reload preset gpuadvised.service",
                         "systemctl --no-reload disable --now gpuadvised.service", "systemctl try-restart gpuadvised.service"):
                self.assertIn(step, scripts)
            self.assertNotIn("%", scripts)  # a macro that this rpmbuild does not know
            self.assertEqual(ask("gpuadvise-daemon", "--configfiles").split(), ["/etc/gpuadvise/gpuadvised.yaml"])
            needs = ask("gpuadvise", "--requires") + ask("gpuadvise-daemon", "--requires")
            self.assertNotIn(".so", needs)


class Containerfile(unittest.TestCase):
    def test_names_what_is_there(self):
        text = (TOP / "packaging/Containerfile").read_text()
        self.assertIn("packaging/install-packages.sh build page", text)
        self.assertIn('"name": "release"', (TOP / "CMakePresets.json").read_text())
        self.assertEqual(set(re.findall(r"/packages/([a-z-]+)_\*\.deb", text)), {"gpuadvise", "gpuadvise-daemon"})


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
