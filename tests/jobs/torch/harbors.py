# SPDX-License-Identifier: Apache-2.0
"""Harbours: a short job, profiled from its first step on; the two workers of its DataLoader are spawned. No stacks.

Truth: cold-start: the first fetch waits seconds until the workers have started; the others are well fed.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import StopWatch

ACTIVE = 10


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    ships = TensorDataset(torch.randn(640, 256), torch.randint(0, 4, (640,)))
    loader = DataLoader(ships, batch_size=64, num_workers=2, multiprocessing_context="spawn", prefetch_factor=4)
    model = nn.Sequential(nn.Linear(256, 2048), nn.ReLU(), nn.Linear(2048, 1024), nn.ReLU(), nn.Linear(1024, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with StopWatch(0, 0, ACTIVE) as watch:
        for images, kinds in loader:
            watch.fetched()
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images), kinds).backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
