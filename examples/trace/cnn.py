"""A residual network for images in plain PyTorch: `gpuadvise fit --trace -- python cnn.py`."""
import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--pixels", type=int, default=224)
parser.add_argument("--frozen", action="store_true", help="trains the classifier alone")
args = parser.parse_args()


class Images(Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, index):
        return torch.full((3, args.pixels, args.pixels), index / 4096.0), index % 1000


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))
        self.skip = nn.Identity() if inputs == outputs and stride == 1 else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.body(x) + self.skip(x))


def network(classes=1000):
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True),
              nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Residual(inputs, outputs, stride), Residual(outputs, outputs, 1)]
        inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, classes))


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = network().to(device)
    if args.frozen:
        model.requires_grad_(False)
        model[-1].requires_grad_(True)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(trained, lr=0.1, momentum=0.9, weight_decay=1e-4)
    loader = DataLoader(Images(), args.batch, shuffle=True, drop_last=True)
    right = 0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        scores = model(images)
        loss = nn.functional.cross_entropy(scores, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += (scores.argmax(1) == labels).sum().item()


if __name__ == "__main__":
    main()
