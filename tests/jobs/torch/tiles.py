# SPDX-License-Identifier: Apache-2.0
"""Tiles: a TensorDataset in memory, batches of 4096 rows that the DataLoader takes row by row; a small perceptron. No stacks.

Truth: input-bound; rows are fetched one by one and stacked: whole batches (slices, __getitems__) would be the cure, or workers.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 10


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows, targets = torch.randn(80_000, 32), torch.randn(80_000, 1)
    loader = DataLoader(TensorDataset(rows, targets), batch_size=4096, shuffle=True)
    model = nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters())
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        for x, y in loader:
            watch.fetched()
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
