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


class Spec(unittest.TestCase):
    def test_has_the_version_of_the_project(self):
        version = re.search(r"project\(gpuadvise VERSION ([\d.]+)", (TOP / "CMakeLists.txt").read_text()).group(1)
        self.assertIn(f"\nVersion:        {version}\n", SPEC.read_text())

    @unittest.skipUnless(shutil.which("rpmspec"), "needs rpmspec")
    def test_can_be_read(self):
        for more in ([], ["--without", "slurm"]):
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
            subprocess.run(["cmake", "--install", BUILD, "--prefix", "/usr"], env={**os.environ, "DESTDIR": folder}, check=True,
                           stdout=subprocess.DEVNULL)
            files = ["/" + str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*") if path.is_file()]
        holds = lambda path, pattern: path.startswith(pattern + "/") or fnmatch.fnmatch(path, pattern)
        self.assertEqual([path for path in files if not any(holds(path, pattern) for pattern in patterns)], [])
        unused = [pattern for pattern in patterns if not any(holds(path, pattern) for path in files)]
        self.assertLessEqual(set(unused), {"/usr/libexec/gpuadvise/gpuadvise-collect-api"})  # needs libslurm


class Containerfile(unittest.TestCase):
    def test_names_what_is_there(self):
        text = (TOP / "packaging/Containerfile").read_text()
        self.assertIn("packaging/install-packages.sh build page", text)
        self.assertIn('"name": "release"', (TOP / "CMakePresets.json").read_text())
        self.assertEqual(set(re.findall(r"/packages/([a-z-]+)_\*\.deb", text)), {"gpuadvise", "gpuadvise-daemon"})


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
