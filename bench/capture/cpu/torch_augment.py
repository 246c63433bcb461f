# SPDX-License-Identifier: Apache-2.0
"""A pixel-by-pixel augmentation in plain Python, in the training process's loader. Truth: input-bound. Fix:
num_workers=2, which gives it its own core."""

import random

from watch import Watch

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Plates(Dataset):
    def __len__(self):
        return 8 * 400

    def __getitem__(self, n):
        rng = random.Random(n)
        gain, shift = rng.uniform(0.8, 1.2), rng.uniform(-0.1, 0.1)
        rows = [[min(1.0, max(-1.0, rng.gauss(0, 1) * gain + shift)) for _ in range(48)] for _ in range(48)]
        return torch.tensor(rows).reshape(1, 48, 48), n % 4


def main():
    watch = Watch(80)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 44 * 44, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    loader = DataLoader(Plates(), batch_size=8, num_workers=2 if watch.fixed else 0)
    watch.begins()
    for x, y in watch.input(loader):
        watch.fetched()
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if watch.ended(loss.item()):
            break
    watch.save()


if __name__ == "__main__":
    main()
