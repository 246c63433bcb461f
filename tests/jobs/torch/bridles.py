# SPDX-License-Identifier: Apache-2.0
"""Bridles: four micro-batches are summed for each step of the optimizer, a TensorDataset in a DataLoader; the profiler is told of a
step behind the optimizer only. No stacks.

Truth: compute-bound; healthy.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE, MICRO = 1, 2, 6, 4


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(4096, 256), torch.randint(0, 10, (4096,)))
    loader = DataLoader(data, batch_size=64, shuffle=True)
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    batches = iter(loader)
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        while True:
            for _ in range(MICRO):
                with watch.waiting():
                    x, y = next(batches)
                loss = nn.functional.cross_entropy(model(x), y) / MICRO
                loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
