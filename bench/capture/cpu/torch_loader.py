# SPDX-License-Identifier: Apache-2.0
"""A DataLoader without workers, with samples from a remote store. Truth: input-bound. Fix: num_workers=2."""

import time

from watch import Watch

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Scans(Dataset):
    def __len__(self):
        return 16 * 400

    def __getitem__(self, n):
        time.sleep(0.0015)  # the store
        generator = torch.Generator().manual_seed(n)
        return torch.randn(1024, generator=generator), n % 10


def main():
    watch = Watch(120)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(1024, 2048), nn.ReLU(), nn.Linear(2048, 1024), nn.ReLU(), nn.Linear(1024, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Scans(), batch_size=16, num_workers=2 if watch.fixed else 0)
    watch.begins()
    for x, y in watch.input(loader):
        watch.fetched()
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if watch.ended(loss.item()):
            break
    watch.save()


if __name__ == "__main__":
    main()
