# SPDX-License-Identifier: Apache-2.0
"""Clinic: one record in 150 is far away, all others are in memory. No workers, no stacks.

Truth: a single step holds a third of the recorded time, in its fetch; the median step is well fed.
"""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 36


class Records(Dataset):
    def __init__(self):
        self.values = torch.randn(160, 512)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        if i == 97:
            time.sleep(0.35)
        return self.values[i], i % 2


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 1024), nn.ReLU(), nn.Linear(1024, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        for values, labels in DataLoader(Records(), batch_size=4):
            watch.fetched()
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(values), labels).backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
