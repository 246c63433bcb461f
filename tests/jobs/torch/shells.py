# SPDX-License-Identifier: Apache-2.0
"""Shells: two workers; one sample in two hundred takes 0.4 s to decode, and the batches must come in order. No stacks.

Truth: input-bound, by single slow samples: most steps do not wait, some wait long.
"""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 24


class Shells(Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, i):
        time.sleep(0.4 if i % 200 == 130 else 0.0002)
        return torch.full((128,), i / 4096)


def main():
    torch.set_num_threads(1)
    loader = DataLoader(Shells(), batch_size=32, num_workers=2)
    model = nn.Sequential(nn.Linear(128, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        for x in loader:
            watch.fetched()
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
