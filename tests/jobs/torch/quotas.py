# SPDX-License-Identifier: Apache-2.0
"""Quotas: a DataLoader with two workers whose samples are cheap, a model that takes longer than they do. No stacks.

Truth: compute-bound; healthy.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 3, 2, 10


class Quotas(Dataset):
    def __len__(self):
        return 64 * 30

    def __getitem__(self, n):
        return torch.full((256,), n / 2000), n % 7


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(Quotas(), batch_size=64, num_workers=2, prefetch_factor=4)
    model = nn.Sequential(nn.Linear(256, 2048), nn.ReLU(), nn.Linear(2048, 1024), nn.ReLU(), nn.Linear(1024, 7))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
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
