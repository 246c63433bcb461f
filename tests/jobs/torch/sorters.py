# SPDX-License-Identifier: Apache-2.0
"""Sorters: random_split, a loader without workers over tensors in memory, a model that takes longer than it. Stacks on.

Truth: compute-bound; healthy.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 8



def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows = TensorDataset(torch.randn(2000, 256), torch.randint(0, 5, (2000,)))
    train, _ = random_split(rows, [1600, 400])
    loader = DataLoader(train, batch_size=64, shuffle=True)
    model = nn.Sequential(nn.Linear(256, 2048), nn.GELU(), nn.Linear(2048, 1024), nn.GELU(), nn.Linear(1024, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        for x, y in loader:
            watch.fetched()
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
