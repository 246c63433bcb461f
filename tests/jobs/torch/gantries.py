# SPDX-License-Identifier: Apache-2.0
"""Gantries: each item of the Dataset is asked of an object store (12 ms until it answers), by two workers; the training process
waits for them. Stacks on.

Truth: input-bound; the workers wait for the store: more of them, or several requests at once (__getitems__), cost no core.
"""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 10


class StoredObjects(Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, n):
        time.sleep(0.012)  # the store answers
        return torch.full((128,), n / 4096), n % 4


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(StoredObjects(), batch_size=8, num_workers=2)
    model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        for x, y in loader:
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
