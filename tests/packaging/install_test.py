#!/usr/bin/env python3
"""What `cmake --install` puts where, and that it works from there: install_test.py BUILD.

BUILD is a build folder. It is installed below another prefix into a DESTDIR; the installed daemon then runs from the
DESTDIR with a simulated cluster, and the installed client asks it.
"""
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREFIX = "/opt/site/gpuadvise"
FILES = """
bin/gpuadvise
bin/gpuadvise-mcp
bin/gpuadvise-backtest
sbin/gpuadvised
libexec/gpuadvise/gpuadvise-collect
etc/gpuadvise/gpuadvised.yaml
lib/systemd/system/gpuadvised.service
lib/systemd/user/gpuadvised.service
lib/sysusers.d/gpuadvise.conf
lib/tmpfiles.d/gpuadvise.conf
share/bash-completion/completions/gpuadvise
share/zsh/site-functions/_gpuadvise
share/fish/vendor_completions.d/gpuadvise.fish
share/gpuadvise/gpus.yaml
share/gpuadvise/models.yaml
share/gpuadvise/train.schema.json
share/gpuadvise/gpuadvised.yaml
share/gpuadvise/listen.conf
share/gpuadvise/grafana/operators.json
share/gpuadvise/prometheus/alerts.yaml
share/gpuadvise/plugins/cli_filter.lua
share/gpuadvise/integrations/hydra/hydra_plugins/gpuadvise_launcher.py
share/gpuadvise/integrations/python/gpuadvise.py
share/gpuadvise/integrations/ondemand/gpuadvise.rb
share/doc/gpuadvise/README.md
share/doc/gpuadvise/LICENSE
share/doc/gpuadvise/api.md
share/doc/gpuadvise/examples/tiny.yaml
""".split()
PAGES = """
share/man/man1/gpuadvise.1.gz
share/man/man1/gpuadvise-backtest.1.gz
share/man/man5/gpuadvised.yaml.5.gz
share/man/man5/train.yaml.5.gz
share/man/man8/gpuadvised.8.gz
""".split()


class Install(unittest.TestCase):
    build: pathlib.Path

    def setUp(self):
        self.destdir = pathlib.Path(tempfile.mkdtemp(prefix="install-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.destdir)
        self.daemon = None

    def install(self, prefix=PREFIX):
        done = subprocess.run(["cmake", "--install", self.build, "--prefix", prefix], text=True, check=False,
                              env={**os.environ, "DESTDIR": str(self.destdir)}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])
        return self.destdir / prefix.lstrip("/")

    def test_every_file_has_its_place(self):
        top = self.install()
        wanted = FILES + (PAGES if shutil.which("scdoc") else [])
        self.assertEqual([path for path in wanted if not (top / path).is_file()], [])
        outside = [path for path in self.destdir.rglob("*") if path.is_file() and top not in path.parents]
        self.assertEqual(outside, [])

    def test_the_users_unit_has_the_path_of_the_prefix(self):
        unit = (self.install() / "lib/systemd/user/gpuadvised.service").read_text()
        self.assertIn(f"\nExecStart={PREFIX}/sbin/gpuadvised --user\n", unit)

    def test_the_unit_has_the_paths_of_the_prefix(self):
        unit = (self.install() / "lib/systemd/system/gpuadvised.service").read_text()
        self.assertIn(f"\nExecStart={PREFIX}/sbin/gpuadvised --config {PREFIX}/etc/gpuadvise/gpuadvised.yaml\n", unit)
        self.assertNotIn("@", re.sub(r"~?@[a-z-]+", "", unit))  # but systemd's own sets of system calls

    def test_below_usr_the_settings_are_in_etc(self):
        top = self.install("/usr")
        self.assertTrue((self.destdir / "etc/gpuadvise/gpuadvised.yaml").is_file())
        unit = (top / "lib/systemd/system/gpuadvised.service").read_text()
        self.assertIn("\nExecStart=/usr/sbin/gpuadvised\n", unit)

    def test_a_sites_settings_are_kept(self):
        settings = self.install() / "etc/gpuadvise/gpuadvised.yaml"
        settings.write_text("source: sim\n")
        self.install()
        self.assertEqual(settings.read_text(), "source: sim\n")

    def test_the_installed_daemon_answers_the_installed_client(self):
        top = self.install()
        socket = self.destdir / "s"
        (top / "etc/gpuadvise/gpuadvised.yaml").write_text(
            f"source: sim\nsocket: {socket}\nstate_dir: {self.destdir}/state\n")
        words = [top / "sbin/gpuadvised", "--config", top / "etc/gpuadvise/gpuadvised.yaml"]
        with open(self.destdir / "log", "wb") as log:
            self.daemon = subprocess.Popen(words, stdout=log, stderr=log, cwd="/")
        self.addCleanup(self.stop)
        deadline = time.monotonic() + 120
        answer = self.ask(top, socket)
        while answer is None:
            self.assertIsNone(self.daemon.poll(), (self.destdir / "log").read_text())
            self.assertLess(time.monotonic(), deadline, (self.destdir / "log").read_text())
            time.sleep(0.1)
            answer = self.ask(top, socket)
        self.assertTrue(answer["gpus"])
        self.assertEqual(answer["meta"]["source"], "sim")

    def ask(self, top, socket):
        asked = subprocess.run([top / "bin/gpuadvise", "--socket", socket, "gpus", "--json"], capture_output=True,
                               text=True, check=False)
        return json.loads(asked.stdout) if asked.returncode == 0 else None

    def stop(self):
        self.daemon.terminate()
        self.daemon.wait(30)

    def test_programs_can_be_run_by_everybody_and_changed_by_root(self):
        top = self.install()
        for path in FILES[:5]:
            self.assertEqual(stat.S_IMODE((top / path).stat().st_mode), 0o755, path)
        self.assertEqual(stat.S_IMODE((top / FILES[5]).stat().st_mode), 0o644)


if __name__ == "__main__":
    Install.build = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
