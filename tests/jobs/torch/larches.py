# SPDX-License-Identifier: Apache-2.0
"""Larches: rows of a CSV file are parsed by the csv module in a generator of the job's own; no loader, and no stacks.

Truth: about two thirds are read_rows, of which the profile holds nothing: with_stack=True would show it.
"""

import csv

import numpy as np
import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 14


def read_rows(path, batch):
    rows = []
    while True:
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                rows.append([float(row[name]) for name in row])
                if len(rows) == batch:
                    yield torch.tensor(rows)
                    rows = []


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    names = [f"f{n}" for n in range(48)]
    table = np.random.default_rng(0).standard_normal((1000, 48)).round(4)
    np.savetxt("larches.csv", table, delimiter=",", header=",".join(names), comments="")
    model = nn.Sequential(nn.Linear(47, 512), nn.ReLU(), nn.Linear(512, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        for rows in read_rows("larches.csv", 256):
            watch.fetched()
            loss = nn.functional.mse_loss(model(rows[:, :-1]).squeeze(1), rows[:, -1])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
