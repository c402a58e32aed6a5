"""A small GPT as newcomers to PyTorch 2 write it: fused attention, autocast, a fused optimizer, clipping."""
import argparse
import contextlib
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

parser = argparse.ArgumentParser()
for name, default in (("batch", 4), ("layers", 3), ("width", 256), ("length", 128), ("vocabulary", 2000)):
    parser.add_argument(f"--{name}", type=int, default=default)
parser.add_argument("--optimizer", default="AdamW")
parser.add_argument("--precision", default="fp32", choices=["fp32", "bf16", "fp16"])
for name in ("fused", "clip", "compile", "scaler", "workers", "ddp", "default-device", "math-attention"):
    parser.add_argument(f"--{name}", action="store_true")
args = parser.parse_args()
device = "cuda" if torch.cuda.is_available() else "cpu"


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = nn.LayerNorm(args.width), nn.LayerNorm(args.width)
        self.qkv, self.out = nn.Linear(args.width, 3 * args.width), nn.Linear(args.width, args.width)
        self.mlp = nn.Sequential(nn.Linear(args.width, 4 * args.width), nn.GELU(),
                                 nn.Linear(4 * args.width, args.width))

    def forward(self, x):
        heads = [y.unflatten(-1, (-1, 64)).transpose(1, 2) for y in self.qkv(self.before(x)).chunk(3, -1)]
        with sdpa_kernel(SDPBackend.MATH) if args.math_attention else contextlib.nullcontext():
            mixed = F.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.mlp(self.between(x))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(args.vocabulary, args.width)
        self.places = nn.Embedding(args.length, args.width)
        self.blocks = nn.ModuleList([Block() for _ in range(args.layers)])
        self.end = nn.LayerNorm(args.width)
        self.head = nn.Linear(args.width, args.vocabulary, bias=False)
        self.head.weight = self.tokens.weight
        self.register_buffer("positions", torch.arange(args.length), persistent=False)

    def forward(self, tokens, targets):
        x = self.tokens(tokens) + self.places(self.positions)
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.head(self.end(x)).flatten(0, 1), targets.flatten())


class Text(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        tokens = torch.randint(args.vocabulary, (args.length + 1,))
        return tokens[:-1], tokens[1:]


def main():
    torch.manual_seed(0)
    if args.default_device:
        torch.set_default_device(device)
    model = Gpt().to(device)
    if args.ddp:
        for name, value in (("RANK", 0), ("WORLD_SIZE", 1), ("MASTER_ADDR", "127.0.0.1"),
                            ("MASTER_PORT", 29511), ("USE_LIBUV", 0)):
            os.environ.setdefault(name, str(value))
        if not torch.distributed.is_initialized():
            torch.distributed.init_process_group("nccl" if device == "cuda" else "gloo")
        model = nn.parallel.DistributedDataParallel(model)
    if args.compile:
        model = torch.compile(model)
    optimizer = getattr(torch.optim, args.optimizer)(
        model.parameters(), lr=1e-3, **({"fused": True} if args.fused else {}))
    scaler = torch.amp.GradScaler(device, enabled=args.scaler)
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(args.precision)
    context = torch.autocast(device, dtype=dtype) if dtype else contextlib.nullcontext()
    workers = args.workers and device == "cuda"  # real_peak.py is no main module that Python 3.14 could start anew
    loader = torch.utils.data.DataLoader(Text(), args.batch, num_workers=2 if workers else 0, pin_memory=workers)
    for tokens, targets in loader:
        with context:
            loss = model(tokens.to(device, non_blocking=True), targets.to(device, non_blocking=True))
        scaler.scale(loss).backward()
        if args.clip:
            scaler.unscale_(optimizer)
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            if not torch.isfinite(norm):
                raise SystemExit("the gradients are no numbers")
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)


if __name__ == "__main__":
    main()
