# SPDX-License-Identifier: Apache-2.0
"""Ferments: batches are made by two processes of a multiprocessing.Pool and come through imap. with_stack=True.

Truth: input-bound: the processes, which aren't in the profile, make batches more slowly than the model takes them.
"""

import multiprocessing
import time

import numpy as np
import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 1, 7


def brew(n):
    time.sleep(0.07)  # a laboratory's database
    return np.random.default_rng(n).standard_normal((128, 96), dtype=np.float32)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(96, 768), nn.ReLU(), nn.Linear(768, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with multiprocessing.Pool(2) as pool, StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        for batch in pool.imap(brew, range(WAIT + WARMUP + ACTIVE)):
            ferments = torch.from_numpy(batch)
            watch.fetched()
            optimizer.zero_grad()
            model(ferments).square().mean().backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch", "numpy")


if __name__ == "__main__":
    main()
