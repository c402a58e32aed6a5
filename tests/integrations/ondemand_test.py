#!/usr/bin/env python3
"""integrations/ondemand beside a live daemon: ondemand_test.py BIN.

The form, the submission and the dashboard card are rendered by ERB as Open OnDemand does. With OOD_CORE, a checkout of
github.com/OSC/ood_core, the submission also goes through its own Slurm adapter, with a program in sbatch's place.
"""
import html.parser
import json
import os
import pathlib
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from live_daemon import LiveDaemon

TOP = pathlib.Path(__file__).resolve().parents[2]
ONDEMAND = TOP / "integrations/ondemand"
BIN = pathlib.Path(sys.argv.pop(1)).resolve()
RUBY = shutil.which("ruby")
NODE = shutil.which("node")
OOD_CORE = os.environ.get("OOD_CORE", "")

RENDER = """
require 'erb'; require 'yaml'; require 'json'
context = JSON.parse(ARGV[1]).transform_values(&:to_s)
place = binding
context.each { |name, value| place.local_variable_set(name, value) }
text = ERB.new(File.read(ARGV[0]), trim_mode: '-').result(place)
puts ARGV[0].end_with?('.yml.erb') ? JSON.generate(YAML.safe_load(text)) : text
"""

# The adapter's own code; what its gems would bring and this path does not use is left out.
SUBMIT = """
require 'json'; require 'open3'; require 'pathname'
module OodSupport; end
%w[ood_support ostruct fog/openstack].each { |name| begin; require name; rescue LoadError; $LOADED_FEATURES << "#{name}.rb"; end }
$LOAD_PATH.unshift(File.join(ENV['OOD_CORE'], 'lib'))
require 'ood_core'
require 'ood_core/refinements/array_extensions'
require 'ood_core/job/adapters/slurm'
batch = OodCore::Job::Adapters::Slurm::Batch.new(cluster: nil, conf: nil, bin: nil, bin_overrides: {}, submit_host: '',
                                                strict_host_checking: true)
adapter = OodCore::Job::Adapters::Slurm.new(slurm: batch)
script = JSON.parse(ARGV[0], symbolize_names: true)
puts adapter.submit(OodCore::Job::Script.new(content: "#!/bin/bash\\nnvidia-smi\\n", **script))
"""


def ruby(code, *arguments, **environment):
    done = subprocess.run([RUBY, "-w", "-e", code, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, "GPUADVISE_RB": str(ONDEMAND / "gpuadvise.rb"), "LC_ALL": "C.UTF-8", **environment})
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


class Cells(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        if data.strip():
            self.text.append(data.strip())


@unittest.skipUnless(RUBY, "ruby is not installed (apt-get install ruby): the Open OnDemand parts are not tested")
class OnDemand(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = LiveDaemon(BIN)
        cls.addClassCleanup(cls.daemon.stop)

    def form(self, path=None):
        return json.loads(ruby(RENDER, ONDEMAND / "example_app/form.yml.erb", "{}", GPUADVISE_SOCKET=path or self.daemon.socket))

    def card(self, path=None):
        cells = Cells()
        cells.feed(ruby(RENDER, ONDEMAND / "_gpuadvise.html.erb", "{}", GPUADVISE_SOCKET=path or self.daemon.socket))
        return cells

    def submission(self, **choice):
        return json.loads(ruby(RENDER, ONDEMAND / "example_app/submit.yml.erb", json.dumps(choice)))

    def test_the_form_offers_every_gpu_type_with_its_wait(self):
        form = self.form()
        options = form["attributes"]["gpu_type"]["options"]
        types = {gpu["gres_types"][0] for gpu in self.daemon.ask("GET", "/v1/gpus")["gpus"]}
        self.assertEqual(options[0], ["Any GPU", "any"])
        self.assertEqual({option[1] for option in options[1:]}, types)
        for label, _, data in options[1:]:
            self.assertRegex(label, r"– (starts now|about .+ \(p90 .+\)|cannot run)$")
            self.assertEqual(sorted(data), ["data-gpuadvise-name", *(f"data-gpuadvise-wait-{n}" for n in (1, 2, 4))])
        self.assertLessEqual(set(form["form"]) - set(form["attributes"]), set())

    def test_the_card_shows_every_gpu_type(self):
        cells = self.card()
        for gpu in self.daemon.ask("GET", "/v1/gpus")["gpus"]:
            self.assertIn(gpu["gpu_name"], cells.text)
        self.assertEqual(cells.tags.count("tr"), 1 + len(self.daemon.ask("GET", "/v1/gpus")["gpus"]))

    def test_a_choice_becomes_gres_and_nothing_else_does(self):
        for gpu_type, count, wanted in (("l40s", "2", "gpu:l40s:2"), ("any", "1", "gpu:1"), ("h100_1g.11gb", "4", "gpu:h100_1g.11gb:4"),
                                        ("l40s:9 --account=root", "2", "gpu:2"), ('"]\n- rm', "2", "gpu:2"), ("$(id)", "x", "gpu:1"),
                                        ("l40s", "-5", "gpu:l40s:1"), ("l40s", "99999999999", "gpu:l40s:1024"), ("", "", "gpu:1")):
            with self.subTest(gpu_type):
                self.assertEqual(self.submission(gpu_type=gpu_type, num_gpus=count)["script"]["native"], [f"--gres={wanted}"])

    @unittest.skipUnless(OOD_CORE, "OOD_CORE is not set to a checkout of github.com/OSC/ood_core: its Slurm adapter is not tested")
    def test_ood_cores_own_slurm_adapter_hands_it_to_sbatch(self):
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            sbatch = pathlib.Path(folder) / "sbatch"
            sbatch.write_text(f'#!/bin/sh\ncat > {folder}/script\nprintf "%s\\n" "$@" > {folder}/arguments\necho 4711\n')
            sbatch.chmod(sbatch.stat().st_mode | stat.S_IXUSR)
            script = self.submission(gpu_type="l40s", num_gpus="2")["script"]
            said = ruby(SUBMIT, json.dumps(script), OOD_CORE=OOD_CORE, PATH=f"{folder}:{os.environ['PATH']}")
            self.assertEqual(said.strip(), "4711")
            self.assertIn("--gres=gpu:l40s:2", (pathlib.Path(folder) / "arguments").read_text().splitlines())

    def test_without_a_daemon_the_form_and_the_card_still_work_at_once(self):
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            listener = socket.socket(socket.AF_UNIX)
            self.addCleanup(listener.close)
            listener.bind(folder + "/hangs")
            listener.listen()
            for path in ("/nonexistent/s", folder + "/hangs", "x" * 200):
                began = time.monotonic()
                self.assertEqual(self.form(path)["attributes"]["gpu_type"]["options"], [["Any GPU", "any"]])
                self.assertIn("Waits are not known at the moment.", self.card(path).text)
                self.assertLess(time.monotonic() - began, 10)

    def test_hostile_answers_are_text_or_left_out(self):
        evil = '<script>alert(1)</script>\u202e"\n- x: 1'
        gpus = [{"gres_types": ["l40s"], "gpu_name": evil, "free": evil, "total": {"a": 1}}, {"gres_types": [evil], "gpu_name": "x"},
                {"gres_types": evil}, 7, {"gres_types": ["a100"], "gpu_name": 9, "free": 3, "total": 4}]
        for body in (json.dumps({"gpus": gpus, "answers": [{"wait_p50_seconds": evil, "wait_p90_seconds": 1}, 7, {"error": evil}]}),
                     json.dumps({"gpus": gpus, "answers": evil}), "[" * 99999, "[]", "\x00", '{"gpus": 7}'):
            with self.subTest(body[:30]), tempfile.TemporaryDirectory(dir="/tmp") as folder, \
                    socket.socket(socket.AF_UNIX) as listener:
                listener.bind(folder + "/s")
                listener.listen()
                threading.Thread(target=answer_all, args=(listener, body.encode()), daemon=True).start()
                options = self.form(folder + "/s")["attributes"]["gpu_type"]["options"]
                self.assertLessEqual({option[1] for option in options}, {"any", "l40s", "a100"})
                cells = self.card(folder + "/s")
                self.assertNotIn("script", cells.tags)
                listener.shutdown(socket.SHUT_RDWR)

    @unittest.skipUnless(NODE, "node is not installed: form.js is not tested")
    def test_the_labels_follow_the_number_of_gpus(self):
        code = """
const options = [{a: {}, textContent: 'Any GPU'}, {a: {'data-gpuadvise-name': 'L40S', 'data-gpuadvise-wait-1': 'starts now',
  'data-gpuadvise-wait-4': 'about 2 h (p90 5 h)', 'data-gpuadvise-wait-8': 'cannot run'}, textContent: 'L40S – starts now'}];
for (const option of options) option.getAttribute = name => option.a[name] ?? null;
const count = {value: '1', addEventListener: (name, call) => { count.changed = call; }};
let loaded;
global.document = {readyState: 'loading', addEventListener: (name, call) => { loaded = call; },
  getElementById: id => ({batch_connect_session_context_gpu_type: {options}, batch_connect_session_context_num_gpus: count})[id]};
require(process.argv[1]);
loaded();
const seen = [];
for (const value of ['4', '8', '1', '3']) { count.value = value; count.changed(); seen.push([options[1].textContent, options[1].disabled]); }
console.log(JSON.stringify([options[0].textContent, seen]));
"""
        said = subprocess.run([NODE, "-e", code, ONDEMAND / "example_app/form.js"], capture_output=True, text=True, check=True, timeout=60)
        self.assertEqual(json.loads(said.stdout), ["Any GPU", [
            ["L40S – about 2 h (p90 5 h)", False], ["L40S – cannot run", True], ["L40S – starts now", False],
            ["L40S – starts now", False]]])


def answer_all(listener, body):
    while True:
        try:
            peer, _ = listener.accept()
        except OSError:
            return
        with peer:
            peer.recv(65536)
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


if __name__ == "__main__":
    unittest.main()
