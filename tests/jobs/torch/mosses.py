# SPDX-License-Identifier: Apache-2.0
"""Mosses: a process of the job's own puts batches into a multiprocessing.Queue. with_stack=True.

Truth: input-bound: that process, which isn't in the profile, is slower than the step.
"""

import multiprocessing
import time

import numpy as np
import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 1, 7


def gather(batches):
    rng = np.random.default_rng(0)
    while True:
        time.sleep(0.03)  # a herbarium's server
        batches.put(rng.standard_normal((64, 128), dtype=np.float32))


def main():
    torch.set_num_threads(1)
    batches = multiprocessing.Queue(2)
    multiprocessing.Process(target=gather, args=(batches,), daemon=True).start()
    model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while not watch.full():
            mosses = torch.from_numpy(batches.get())
            watch.fetched()
            optimizer.zero_grad()
            model(mosses).square().mean().backward()
            optimizer.step()
            watch.step()
    watch.save("torch", "numpy")


if __name__ == "__main__":
    main()
