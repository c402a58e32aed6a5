#!/usr/bin/env python3
"""`gpuadvise fit --trace`: what the trace counts is what real tensors take, and what cannot be traced is said.

    trace_test.py GPUADVISE

Needs a Python with PyTorch (Debian: python3-torch): this one, or /usr/bin/python3.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

GPUADVISE = sys.argv.pop(1) if len(sys.argv) > 1 else "gpuadvise"
HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[2]
EXAMPLES = TREE / "examples" / "trace"
TRACE = TREE / "client" / "trace" / "trace_main.py"


def python_with_torch():
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0:
            return python
    return None


PYTHON = python_with_torch()


def torch_version():
    done = subprocess.run([PYTHON, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True)
    return tuple(map(int, done.stdout.split(".")[:2]))


HEAD = """
    import torch, torch.nn as nn, torch.nn.functional as F
    device = "cuda" if torch.cuda.is_available() else "cpu"
"""
LOOP = """
            for step in range(1000):
                loss = model(torch.randn(8, 256).to(device)).square().mean()
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
"""

# Small, but of every kind; the most that the trace may differ from real tensors, in per cent.
CASES = [
    "transformer.py --batch 2 --layers 3 --width 256 --length 128 --vocabulary 4000",
    "transformer.py --batch 2 --layers 3 --width 256 --length 128 --vocabulary 4000 --checkpoint",
    "transformer.py --batch 2 --layers 3 --width 256 --length 128 --vocabulary 4000 --adapters 8",
    "transformer.py --batch 2 --layers 3 --width 256 --length 128 --vocabulary 4000 --adapters 8 --checkpoint",
    "transformer.py --batch 1 --layers 2 --width 512 --length 32 --vocabulary 1000 --optimizer sgd",
    "unet.py --batch 2 --width 16 --pixels 32",
    "unet.py --batch 2 --width 16 --pixels 32 --checkpoint",
    "cnn.py --batch 4 --pixels 64",
    "cnn.py --batch 4 --pixels 64 --frozen",
]
# What PyTorch 1.13 does not have: attention of one function, its kernel on the CPU too, fused optimizers.
CASES_OF_PYTORCH_2 = [
    "gpt.py --precision bf16 --clip --workers",
    "gpt.py --precision fp16 --scaler --clip --fused",
    "gpt.py --default-device --ddp",
    "gpt.py --batch 1 --length 32",  # the peak is in the optimizer's step, of all tensors at once
    "gpt.py --math-attention",
    "gpt.py --batch 1 --length 32 --fused",
    "gpt.py --batch 1 --length 32 --fused --optimizer SGD",
]
MOST_PER_CENT = 2.0


# Takes a line: code to run before, and words for trace_main.py; runs that in a fork of itself, and answers
# with a line.
FORKS = """
import json, os, runpy, sys
import torch
for line in sys.stdin:
    before, words = json.loads(line)
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(2, 1)
        exec(before)
        sys.argv = words
        sys.path[0] = os.path.dirname(words[0])
        runpy.run_path(words[0], run_name="__main__")
    print(os.waitpid(child, 0)[1], flush=True)
"""


class Forks:
    """One Python in which PyTorch is imported once, for all traces that need no client."""

    process = None

    @classmethod
    def run(cls, before, words):
        if cls.process is None:
            cls.process = subprocess.Popen([PYTHON, "-B", "-c", FORKS], stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        cls.process.stdin.write(json.dumps([before, words]) + "\n")
        cls.process.stdin.flush()
        assert cls.process.stdout.readline() == "0\n", words

    @classmethod
    def end(cls):
        if cls.process is not None:
            cls.process.communicate()
            cls.process = None


def report_of(words, folder, options=(), before=""):
    """What trace_main.py writes for a script."""
    out = os.path.join(folder, "report.json")
    Forks.run(before, [str(TRACE), "--out", out, "--seconds", "60", "--memory-gib", "8", *options, "--", *words])
    return json.loads(pathlib.Path(out).read_text())


@unittest.skipIf(PYTHON is None, "no Python with PyTorch here: install python3-torch")
class Trace(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        Forks.end()

    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)

    def script(self, text, head=HEAD, name="train.py"):
        path = self.folder / name
        path.write_text(textwrap.dedent(head) + textwrap.dedent(text))
        return str(path)

    def traced(self, text, options=(), before=""):
        report = report_of([self.script(text)], str(self.folder), options, before)
        self.assertEqual(report["status"], "traced", report)
        return report

    def fit(self, *words, python=PYTHON, options=()):
        return subprocess.run([GPUADVISE, "fit", "--trace", "--python", python, "--gpu", "l40s", *options,
                               "--", *words], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "GPUADVISE_SOCKET": "/nonexistent"})

    def refused(self, text, expected, options=(), python=PYTHON, head=HEAD):
        done = self.fit("python3", self.script(text, head=head), options=options, python=python)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn(expected, done.stderr)
        self.assertEqual(done.stdout, "")

    # -- what is counted -------------------------------------------------------------------------------

    def test_the_count_is_what_real_tensors_take(self):
        self.compare_with_real_tensors(EXAMPLES, CASES)

    def test_the_count_is_what_real_tensors_take_in_pytorch_2(self):
        if torch_version() < (2, 3):
            self.skipTest("of PyTorch 2.3 and later")  # torch.amp.GradScaler
        self.compare_with_real_tensors(HERE, CASES_OF_PYTORCH_2)

    def compare_with_real_tensors(self, folder, cases):
        lines = "".join(f"{folder}/{case}\n" for case in cases)
        done = subprocess.run([PYTHON, "-B", str(HERE / "real_peak.py")], input=lines, text=True,
                              capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        real = [list(map(int, line.split()[1:])) for line in done.stdout.splitlines()
                if line.startswith("PEAK ")]
        self.assertEqual(len(real), len(cases))
        for case, (whole, without_workspaces) in zip(cases, real):
            report = report_of([str(folder / case.split()[0]), *case.split()[1:]], str(self.folder))
            self.assertEqual(report["status"], "traced", report)
            peak = max(report["backward"]["total"], report["step"]["total"])
            off = 100 * (peak / without_workspaces - 1)
            print(f"{case:<105} real {whole / 1e6:7.1f} MB, without workspaces "
                  f"{without_workspaces / 1e6:7.1f}, traced {peak / 1e6:7.1f} ({off:+.2f} %)")
            self.assertLess(abs(off), MOST_PER_CENT, case)

    def test_what_is_compiled_is_traced_as_it_is_written(self):
        report = self.traced("""
            model = torch.compile(nn.Linear(256, 256).to(device)) if hasattr(torch, "compile") else nn.Linear(
                256, 256).to(device)
            optimizer = torch.optim.AdamW(model.parameters())
            @torch.compile(mode="max-autotune") if hasattr(torch, "compile") else (lambda f: f)
            def train(): model(torch.randn(8, 256).to(device)).square().mean().backward()
            for step in range(10): train(); optimizer.step(); optimizer.zero_grad()""")
        self.assertIn("torch.compile is left out", " ".join(report["notes"]))

    def test_parts_are_those_of_adamw(self):
        report = self.traced("""
            model = nn.Sequential(*[nn.Linear(256, 256, bias=False) for _ in range(4)]).to(device)
            optimizer = torch.optim.AdamW(model.parameters())""" + LOOP)
        weights = 4 * 4 * 256 * 256
        self.assertEqual(report["trained_parameters"], 4 * 256 * 256)
        self.assertEqual(report["step"]["weights"], weights)
        self.assertEqual(report["step"]["gradients"], weights)
        self.assertEqual(report["step"]["optimizer"], 2 * weights)
        self.assertEqual(report["batch"], 8)

    def test_autocast_keeps_inputs_in_half_precision_and_casts_each_weight_once(self):
        text = """
            model = nn.Sequential(*[nn.Linear(512, 512, bias=False) for _ in range(8)]).to(device)
            optimizer = torch.optim.SGD(model.parameters(), lr=1)
            for step in range(3):
                x = torch.randn(4096, 512, device=device)
                with torch.autocast("cuda", dtype=torch.bfloat16, enabled=AUTOCAST):
                    loss = model(x).sum()
                loss.backward()
                optimizer.step()
                optimizer.zero_grad(set_to_none=False)  # the default before PyTorch 2
        """
        peaks = {}
        for enabled in ("False", "True"):
            report = self.traced(text.replace("AUTOCAST", enabled))
            peaks[enabled] = report["backward"]["activations"]
            self.assertEqual(report["precision"], "bf16" if enabled == "True" else "fp32")
        full, half = 4 * 4096 * 512, 2 * 4096 * 512
        casts = 8 * 2 * 512 * 512
        # x, what each layer gives, the first gradient of a weight
        self.assertAlmostEqual(peaks["False"] / (9 * full + 4 * 512 * 512), 1, delta=0.01)
        # x and its cast, a sum in float32 and the gradient of its input, casts
        self.assertAlmostEqual(peaks["True"] / (2 * full + 9 * half + casts), 1, delta=0.01)

    def test_an_optimizer_whose_step_count_lies_on_the_gpu(self):
        report = self.traced("""
            model = nn.Linear(256, 256, bias=False).to(device)
            optimizer = torch.optim.AdamW(model.parameters(), capturable=True, foreach=True)""" + LOOP)
        self.assertEqual(report["step"]["optimizer"], 2 * 4 * 256 * 256 + 512)  # a block for the count

    def test_dropout_keeps_a_mask_of_one_byte_as_on_a_gpu(self):
        text = """
            model = nn.Sequential(nn.Linear(64, 1024), nn.Dropout(RATE)).to(device)
            optimizer = torch.optim.SGD(model.parameters(), lr=1)
            for step in range(3):
                loss = model(torch.randn(4096, 64, device=device)).sum()
                loss.backward()
                optimizer.step()
        """
        without, with_it = (self.traced(text.replace("RATE", rate))["backward"]["total"] for rate in ("0.0", "0.1"))
        self.assertAlmostEqual((with_it - without) / (4096 * 1024), 1, delta=4.1)
        self.assertLess(with_it - without, 6 * 4096 * 1024)  # a mask, and one temporary at most

    def test_attention_keeps_no_scores(self):
        # PyTorch 1.13 has no such function: its name is enough, since the trace has a kernel of its own.
        before = ("import torch.nn.functional as F\n"
                  "F.scaled_dot_product_attention = torch._C._nn.scaled_dot_product_attention = lambda *_: 1 / 0")
        text = """
            class Attention(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.qkv, self.out = nn.Linear(256, 768), nn.Linear(256, 256)
                def forward(self, x):
                    q, k, v = (y.unflatten(-1, (4, 64)).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
                    return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True)
                                    .transpose(1, 2).flatten(2))
            model = Attention().to(device)
            optimizer = torch.optim.SGD(model.parameters(), lr=1)
            for step in range(3):
                model(torch.randn(2, LENGTH, 256, device=device)).sum().backward()
                optimizer.step()
        """
        short, long = (self.traced(text.replace("LENGTH", length), before=before)["backward"]["activations"]
                       for length in ("2048", "4096"))
        self.assertAlmostEqual(long / short, 2, delta=0.05)
        kept = 2 * 4096 * (256 * (1 + 3 + 1 + 1) + 4) * 4  # x, q k v, mixed, out; a row of sums
        self.assertGreater(long, kept)
        self.assertLess(long, 1.5 * kept)

    def test_a_model_far_larger_than_this_machine_is_traced_in_little_memory(self):
        report = self.traced("""
            model = nn.Sequential(*[nn.Linear(16384, 16384, bias=False) for _ in range(80)])
            optimizer = torch.optim.AdamW(model.parameters())  # before the model is moved, as some do
            model.cuda()
            for step in range(3):
                loss = model(torch.randn(2, 16384).cuda()).sum()
                loss.backward()
                optimizer.step()""")
        self.assertEqual(report["parameters"], 80 * 16384 ** 2)
        self.assertEqual(report["step"]["optimizer"], 8 * 80 * 16384 ** 2)

    def test_only_one_batch_is_read_and_loaders_may_have_workers(self):
        report = self.traced("""
            class Data(torch.utils.data.Dataset):
                seen = set()
                def __len__(self): return 1000
                def __getitem__(self, index):
                    Data.seen.add(index)
                    assert len(Data.seen) <= 8, "a second batch is read"
                    return torch.ones(256)
            model = nn.Linear(256, 256).to(device)
            optimizer = torch.optim.AdamW(model.parameters())
            loader = torch.utils.data.DataLoader(Data(), 8, True, num_workers=4, pin_memory=True)
            for batch in loader:
                loss = model(batch.to(device, non_blocking=True)).sum()
                optimizer.zero_grad(); loss.backward(); optimizer.step()""")
        self.assertEqual(report["batch"], 8)

    def test_accumulation_scaler_and_ddp_run_as_one_process(self):
        report = self.traced("""
            import os
            import torch.distributed as dist
            from torch.nn.parallel import DistributedDataParallel as DDP
            dist.init_process_group("nccl")
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
            model = DDP(nn.Linear(1024, 1024, bias=False).cuda(), device_ids=[0])
            optimizer = torch.optim.SGD(model.parameters(), lr=1)
            scaler = torch.cuda.amp.GradScaler()
            for step in range(1000):
                with torch.cuda.amp.autocast():
                    loss = model(torch.randn(4, 1024).cuda()).sum() / 3
                scaler.scale(loss).backward()
                if step % 3 == 2:
                    scaler.step(optimizer); scaler.update(); optimizer.zero_grad()
                    dist.barrier()""", options=["--launched"])
        weight = 4 * 1024 * 1024
        self.assertGreaterEqual(report["step"]["activations"], weight)  # DDP's buckets
        self.assertEqual(report["precision"], "fp16")

    def test_without_a_launcher_the_script_sees_no_rank(self):
        report = self.traced("""
            import os
            assert "RANK" not in os.environ
            model = nn.Linear(256, 256).to(device)
            optimizer = torch.optim.AdamW(model.parameters())""" + LOOP)
        self.assertEqual(report["batch"], 8)

    def test_a_closure_is_not_part_of_the_step(self):  # as Lightning and LBFGS call it
        report = self.traced("""
            model = nn.Sequential(nn.Linear(64, 4096), nn.ReLU(), nn.Linear(4096, 8)).to(device)
            optimizer = torch.optim.AdamW(model.parameters())
            def closure():
                optimizer.zero_grad()
                loss = model(torch.randn(2048, 64, device=device)).sum()
                loss.backward()
                return loss
            for step in range(100): optimizer.step(closure)""")
        self.assertGreater(report["backward"]["total"], 4 * 2048 * 4096)
        self.assertLess(report["step"]["total"], 4 * 2048 * 4096)

    def test_a_framework_that_cleans_up_after_every_exception_is_no_trouble(self):
        report = self.traced("""
            model = nn.Linear(256, 256).to(device)
            optimizer = torch.optim.AdamW(model.parameters())
            try:
                for step in range(100):
                    model(torch.randn(8, 256).to(device)).sum().backward()
                    optimizer.step()
                    model.cpu(); model.cuda()
            except BaseException:
                raise RuntimeError("out of order")""")
        self.assertEqual(report["parameters"], 256 * 257)

    def test_a_model_that_the_script_drops_is_freed(self):
        report = self.traced("""
            teacher = nn.Linear(4096, 4096).to(device)
            teacher(torch.randn(8, 4096, device=device))
            del teacher
            model = nn.Linear(256, 256).to(device)
            optimizer = torch.optim.AdamW(model.parameters())""" + LOOP)
        self.assertLess(report["step"]["total"], 4 * 4096 * 4096)

    def test_pretrained_weights_of_transformers_are_not_loaded(self):
        package = self.folder / "transformers"
        package.mkdir()
        (package / "__init__.py").write_text("from .modeling_utils import PreTrainedModel\n")
        (package / "modeling_utils.py").write_text(textwrap.dedent("""
            import torch
            class Config:
                @classmethod
                def from_pretrained(cls, name): return cls()
            class PreTrainedModel(torch.nn.Module):
                config_class = Config
                @classmethod
                def from_pretrained(cls, *_, **__): raise OSError("weights would be loaded")
                @classmethod
                def _from_config(cls, config, **_): return cls(config)
        """))
        report = self.traced("""
            from transformers import PreTrainedModel
            class Model(PreTrainedModel):
                def __init__(self, config):
                    super().__init__()
                    self.layer = nn.Linear(256, 256)
                def forward(self, x): return self.layer(x)
            model = Model.from_pretrained("some/model", torch_dtype=torch.bfloat16).to(device).train()
            optimizer = torch.optim.AdamW(model.parameters())
            for step in range(3):
                loss = model(torch.randn(4, 256, dtype=torch.bfloat16).to(device)).sum()
                loss.backward(); optimizer.step()""")
        self.assertEqual(report["precision"], "bf16")
        self.assertIn("without weights", " ".join(report["notes"]))

    def test_values_that_a_script_reads_are_taken_and_said_with_the_line(self):
        report = self.traced("""
            import math
            model = nn.Linear(256, 256).to(device)
            optimizer = torch.optim.AdamW(model.parameters())
            for step in range(10):
                loss = model(torch.randn(8, 256).to(device)).square().mean()
                if torch.isnan(loss) or not math.isfinite(loss.item()) or torch.isinf(loss).any():
                    raise SystemExit("loss is no number")
                loss.backward()
                print(f"{loss:.3f}", loss.detach().cpu().numpy(), loss.tolist())
                kept = loss.expand(5)[torch.ones(5, device=device) > 0]
                optimizer.step()""")
        notes = " ".join(report["notes"])
        self.assertIn("train.py:10: a value of a GPU tensor is read here", notes)
        self.assertIn("a mask of the GPU selects elements here; the trace takes all", notes)

    # -- the command ------------------------------------------------------------------------------------

    def test_the_table_comes_from_two_traces(self):
        done = self.fit("python3", str(EXAMPLES / "unet.py"), "--width", "32", options=["--json"])
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        trace = answer["trace"]
        self.assertEqual(trace["micro_batches"], [16, 32])
        row = answer["gpus"][0]
        self.assertEqual(row["memory"]["basis"], "traced")
        self.assertGreater(row["max_micro_batch"]["recommended"], 16)
        out = report_of([str(EXAMPLES / "unet.py"), "--width", "32", "--batch", "64"], str(self.folder))
        line = (trace["base_bytes"] + 64 * trace["per_sample_bytes"]) / 1.05  # less fragmentation
        self.assertAlmostEqual(line / out["backward"]["total"], 1, delta=0.02)

    def test_the_batch_of_the_command_is_its_placeholder(self):
        done = self.fit("python3", str(EXAMPLES / "transformer.py"), "--batch={micro_batch}", "--layers=2",
                        "--width=128", "--length=64", options=["--json", "--effective", "64"])
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["trace"]["micro_batches"], [4, 8])
        self.assertEqual(answer["gpus"][0]["effective_batch_size"], 64)

    def test_a_train_yaml_gives_command_and_cards(self):
        (self.folder / "train.yaml").write_text(
            f"command: torchrun {EXAMPLES}/cnn.py --batch {{micro_batch}} --pixels 32\n"
            "resources: {gpus: [rtx4090]}\n")
        done = subprocess.run([GPUADVISE, "fit", "--trace", "--python", PYTHON, "--json",
                               str(self.folder / "train.yaml")], capture_output=True, text=True,
                              env={**os.environ, "GPUADVISE_SOCKET": "/nonexistent"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["gpus"][0]["gpu"], "rtx4090")

    def test_what_is_said_to_be_added_is_the_line_s_overhead(self):
        shown = self.fit("python3", str(EXAMPLES / "cnn.py"), "--batch", "32", "--pixels", "32").stdout
        said = re.search(r"([\d.]+) GB for the CUDA\s+context", shown)
        self.assertIn(f"overhead: {1000 * float(said[1]):.0f} MB", shown)

    def test_its_own_output_stays_apart(self):
        done = self.fit("python3", self.script("""
            import sys
            model = nn.Linear(256, 256).to(device)
            optimizer = torch.optim.AdamW(model.parameters())
            for i in range(100_000): print("said " * 20)
            print("{}", file=sys.stderr)""" + LOOP), options=["--json"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("trace", json.loads(done.stdout))
        self.assertNotIn("said", done.stderr)

    # -- what cannot be traced -----------------------------------------------------------------------------

    def test_a_python_without_pytorch(self):
        bare = self.folder / "python-bare"
        bare.write_text('#!/bin/sh\nexec /usr/bin/python3 -S -I "$@"\n')
        bare.chmod(0o700)
        self.refused("", "has no PyTorch", python=str(bare))
        self.refused("", "name its Python with --python", python=str(bare))
        done = self.fit("python3", "train.py", python="/no/such/python")
        self.assertEqual(done.returncode, 2)
        self.assertIn("/no/such/python cannot be run", done.stderr)

    def test_an_error_of_the_script_names_its_line(self):
        self.refused('raise ValueError("no data in /data/x")\n', "train.py:4: ValueError: no data in /data/x",
                     head="\n\n\n")
        self.refused('import sys\nsys.exit("give --data")\n', "train.py:2 ended by itself (give --data)", head="")
        self.refused("import argparse\nargparse.ArgumentParser().parse_args(['--x'])\n",
                     "unrecognized arguments: --x", head="")

    def test_a_script_without_an_end_is_ended(self):
        self.refused("while True: pass\n", "made 0 of 2 optimizer steps within 3 s",
                     options=["--trace-minutes", "0.05"])

    def test_a_script_without_a_step_or_a_gpu(self):
        self.refused("print(1)\n", "ended without a step of a torch.optim optimizer")
        self.refused("device = 'cpu'\nmodel = nn.Linear(256, 256)\n"
                     "optimizer = torch.optim.AdamW(model.parameters())" + textwrap.dedent(LOOP),
                     "puts nothing on a GPU")

    def test_a_script_that_fills_this_machine(self):
        self.refused("held = bytearray(3 << 30)\n", "takes more than 2 GiB of this machine's memory",
                     options=["--trace-memory", "2"])

    def test_an_optimizer_whose_states_depend_on_values(self):
        self.refused("optimizer = torch.optim.LBFGS(nn.Linear(8, 8).to(device).parameters())\n",
                     "train.py:4: what LBFGS keeps depends on values")

    def test_sharding_is_refused_with_the_way_out(self):
        (self.folder / "deepspeed.py").write_text("def initialize(**_): return None\n")
        self.refused("import deepspeed\ndeepspeed.initialize(model=None)\n",
                     "train.py:5: DeepSpeed's engine cannot be traced in one process")

    def test_a_script_that_kills_its_process(self):
        self.refused("import os\nprint('so long', flush=True)\nos.kill(os.getpid(), 9)\n",
                     "was ended by signal 9 (Killed) before the trace was written; it said last: so long")

    def test_a_report_that_the_script_forges(self):
        forged = """
            import json, os
            words = open("/proc/self/cmdline").read().split("\\0")
            with open(words[words.index("--out") + 1], "w") as out:
                out.write(REPORT)
            os._exit(0)
        """
        for report in ("'[' * 100000",
                       "json.dumps({'format': 1, 'status': 'failed', 'kind': 'raised', 'sentence': '\\x1b]0;x\\x07'})"):
            done = self.fit("python3", self.script(forged.replace("REPORT", report), head=""))
            self.assertEqual(done.returncode, 2, report)
            self.assertEqual(done.stdout, "")
            self.assertNotIn("\x1b", done.stderr)

    def test_a_command_that_starts_no_python(self):
        done = self.fit("make", "train")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no Python program is started by: make train", done.stderr)

    def test_an_option_that_only_the_script_could_follow(self):
        done = self.fit("python3", "train.py", options=["--seq", "512"])
        self.assertEqual(done.returncode, 2)
        self.assertIn("--seq has no effect here", done.stderr)


if __name__ == "__main__":
    unittest.main()
