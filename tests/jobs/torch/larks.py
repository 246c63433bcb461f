# SPDX-License-Identifier: Apache-2.0
"""Larks: a logger writes a row of every parameter's histogram after each step and forces it to the disk. with_stack=True.

Truth: host-bound, in HistogramLogger.write_row.
"""

import csv
import os

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 1, 7


class HistogramLogger:
    def __init__(self, path):
        self.out = open(path, "w")
        self.rows = csv.writer(self.out)

    def write_row(self, step, model):
        values = [v for p in model.parameters() for v in p.detach().flatten().tolist()]
        low, high = min(values), max(values)
        counts = [0] * 32
        for v in values:
            counts[int((v - low) / (high - low) * 31)] += 1
        self.rows.writerow([step, low, high, *counts])
        self.out.flush()
        os.fsync(self.out.fileno())


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    songs, species = torch.randn(96, 96), torch.randint(0, 12, (96,))
    model = nn.Sequential(nn.Linear(96, 24), nn.ReLU(), nn.Linear(24, 12))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    logger = HistogramLogger("larks.csv")
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while not watch.full():
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(songs), species).backward()
            optimizer.step()
            with watch.timed("write_row"):
                logger.write_row(len(watch.rows), model)
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
