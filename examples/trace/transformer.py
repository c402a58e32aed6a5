"""A small GPT in plain PyTorch: `gpuadvise fit --trace -- python transformer.py --batch {micro_batch}`."""
import argparse
import contextlib

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--layers", type=int, default=12)
parser.add_argument("--width", type=int, default=768)
parser.add_argument("--length", type=int, default=1024)
parser.add_argument("--vocabulary", type=int, default=50304)
parser.add_argument("--checkpoint", action="store_true")
parser.add_argument("--adapters", type=int, default=0, help="rank of LoRA adapters; 0 trains all weights")
parser.add_argument("--optimizer", default="adamw", choices=["adamw", "sgd"])
parser.add_argument("--autocast", action="store_true")
args = parser.parse_args()


class Adapted(nn.Module):
    """A frozen linear layer with a trained low-rank one beside it."""

    def __init__(self, base, rank):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


def linear(inputs, outputs):
    layer = nn.Linear(inputs, outputs, bias=False)
    return Adapted(layer, args.adapters) if args.adapters else layer


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = linear(width, 3 * width), linear(width, width)
        self.up, self.down = linear(width, 4 * width), linear(4 * width, width)

    def attention(self, x):
        batch, length, width = x.shape
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2)
                   for t in self.qkv(x).chunk(3, dim=-1))
        if hasattr(F, "scaled_dot_product_attention"):
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = (q @ k.transpose(-2, -1)) / (width // self.heads) ** 0.5
            mask = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
            mixed = scores.masked_fill(mask, float("-inf")).softmax(-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(args.vocabulary, args.width)
        self.places = nn.Embedding(args.length, args.width)
        self.blocks = nn.ModuleList(Block(args.width, args.width // 64) for _ in range(args.layers))
        self.norm = nn.LayerNorm(args.width)
        self.head = nn.Linear(args.width, args.vocabulary, bias=False)
        if args.adapters:
            for module in (self.tokens, self.places, self.norm, self.head):
                module.requires_grad_(False)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        if args.checkpoint and args.adapters:
            x.requires_grad_(True)
        for block in self.blocks:
            x = checkpoint(block, x) if args.checkpoint else block(x)
        return self.head(self.norm(x))


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Gpt().to(device)
    trained = [p for p in model.parameters() if p.requires_grad]
    if args.optimizer == "adamw":
        optimizer = torch.optim.AdamW(trained, lr=3e-4)
    else:
        optimizer = torch.optim.SGD(trained, lr=0.1, momentum=0.9)
    for step in range(1000):
        tokens = torch.randint(args.vocabulary, (args.batch, args.length + 1)).to(device)
        with torch.autocast("cuda", dtype=torch.bfloat16) if args.autocast else contextlib.nullcontext():
            scores = model(tokens[:, :-1])
            loss = F.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        print(f"step {step} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
