# SPDX-License-Identifier: Apache-2.0
"""Kayaks: samples are rows of a SQLite table, asked one by one and unpickled in __getitem__. DataLoader without workers.
with_stack=True.

Truth: input-bound, in Kayaks.__getitem__.
"""

import pickle
import sqlite3

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE, COUNT = 2, 2, 10, 2000


def write_table(path):
    with sqlite3.connect(path) as table:
        table.execute("drop table if exists trips")
        table.execute("create table trips (id integer primary key, blob blob, speed real)")
        rows = ((n, pickle.dumps([(n * k % 17) / 17 for k in range(256)]), n % 9) for n in range(COUNT))
        table.executemany("insert into trips values (?, ?, ?)", rows)


class Kayaks(Dataset):
    def __init__(self, path):
        self.table = sqlite3.connect(path)

    def __len__(self):
        return COUNT

    def __getitem__(self, n):
        blob, speed = self.table.execute("select blob, speed from trips where id = ?", (n,)).fetchone()
        return torch.tensor(pickle.loads(blob)), torch.tensor([speed])


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    write_table("kayaks.db")
    loader = DataLoader(Kayaks("kayaks.db"), batch_size=128, shuffle=True)
    model = nn.Sequential(nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
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
