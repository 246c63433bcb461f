# SPDX-License-Identifier: Apache-2.0
"""Slates: torch.autograd.set_detect_anomaly(True) was left on after a search for a NaN. No stacks.

Truth: the model's operations are small, and the anomaly mode takes more than half of the step: take it out.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 3


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    torch.autograd.set_detect_anomaly(True)
    model = nn.Sequential(
        *(layer for _ in range(12) for layer in (nn.Linear(64, 64), nn.LayerNorm(64), nn.SiLU())), nn.Linear(64, 3)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = TensorDataset(torch.randn(2048, 64), torch.randint(0, 3, (2048,)))
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        for x, y in DataLoader(data, batch_size=16):
            watch.fetched()
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
