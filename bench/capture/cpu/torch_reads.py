# SPDX-License-Identifier: Apache-2.0
"""Samples read from separate files, four bytes at a time. Truth: input-bound (small reads). Fix: read each file at
once."""

import os
import struct
import tempfile

from watch import Watch

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

WIDTH, FILES = 768, 64


class Records(Dataset):
    def __init__(self, folder, at_once):
        self.paths, self.at_once = [os.path.join(folder, f"{n}.rec") for n in range(FILES)], at_once
        for n, path in enumerate(self.paths):
            with open(path, "wb") as out:
                out.write(torch.randn(WIDTH, generator=torch.Generator().manual_seed(n)).numpy().tobytes())

    def __len__(self):
        return 32 * 400

    def __getitem__(self, n):
        with open(self.paths[n % FILES], "rb", buffering=0) as file:
            if self.at_once:
                values = struct.unpack(f"{WIDTH}f", file.read())
            else:
                values = [struct.unpack("f", file.read(4))[0] for _ in range(WIDTH)]
        return torch.tensor(values), n % 8


def main():
    watch = Watch(80)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(WIDTH, 1536), nn.ReLU(), nn.Linear(1536, 8))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    with tempfile.TemporaryDirectory() as folder:
        loader = DataLoader(Records(folder, watch.fixed), batch_size=32)
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
