"""A denoising U-Net in plain PyTorch: `gpuadvise fit --trace -- python unet.py`. The data loader says the batch."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--width", type=int, default=64)
parser.add_argument("--pixels", type=int, default=64)
parser.add_argument("--checkpoint", action="store_true")
args = parser.parse_args()


class Images(Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, index):
        return torch.full((3, args.pixels, args.pixels), index / 4096.0)


class Block(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(1, inputs), nn.GroupNorm(8, outputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.time = nn.Linear(128, outputs)
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, time):
        h = self.conv1(F.silu(self.norm1(x))) + self.time(time)[:, :, None, None]
        return self.skip(x) + self.conv2(F.silu(self.norm2(h)))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        w = args.width
        sizes = [w, 2 * w, 4 * w]
        self.first = nn.Conv2d(3, w, 3, padding=1)
        self.down = nn.ModuleList(Block(a, b) for a, b in zip([w, w, 2 * w], sizes))
        self.middle = Block(4 * w, 4 * w)
        self.up = nn.ModuleList(Block(a + b, b) for a, b in zip([4 * w, 4 * w, 2 * w], reversed(sizes)))
        self.last = nn.Conv2d(w, 3, 3, padding=1)

    def run(self, block, x, time):
        return checkpoint(block, x, time) if args.checkpoint and x.requires_grad else block(x, time)

    def forward(self, x, time):
        x, kept = self.first(x), []
        for block in self.down:
            x = self.run(block, x, time)
            kept.append(x)
            x = F.avg_pool2d(x, 2)
        x = self.run(self.middle, x, time)
        for block in self.up:
            x = F.interpolate(x, scale_factor=2, mode="nearest")
            x = self.run(block, torch.cat([x, kept.pop()], dim=1), time)
        return self.last(x)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = UNet().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    loader = DataLoader(Images(), batch_size=args.batch, shuffle=True, num_workers=4, pin_memory=True)
    for images in loader:
        images = images.to(device, non_blocking=True)
        noise = torch.randn_like(images)
        time = torch.randn(len(images), 128, device=device)
        loss = F.mse_loss(model(images + noise, time), noise)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
