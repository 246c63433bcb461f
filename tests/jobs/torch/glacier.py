# SPDX-License-Identifier: Apache-2.0
"""Glaciers: a small residual CNN, fed by two workers that are far ahead. No stacks recorded.

Truth: compute-bound, nothing is wrong.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 3, 3, 16


class Scenes(Dataset):
    def __len__(self):
        return 2048

    def __getitem__(self, i):
        return torch.full((4, 32, 32), i / 2048), i % 6


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)
        self.second = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        return torch.relu(x + self.second(torch.relu(self.norm(self.first(x)))))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(4, 32, 3, 2), Block(32), Block(32), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 6)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    loader = DataLoader(Scenes(), batch_size=24, shuffle=True, num_workers=2, persistent_workers=True)
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        for scenes, kinds in loader:
            watch.fetched()
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(scenes), kinds).backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
