# SPDX-License-Identifier: Apache-2.0
"""Kilns: a loop without DataLoader keeps one batch ahead with a ThreadPoolExecutor of one thread. with_stack=True.

Truth: input-bound. Reading takes longer than the step, so that the main thread waits in Future.result for load_firings.
"""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 1, 9


def load_firings(n):
    time.sleep(0.03)  # an object store
    return np.random.default_rng(n).standard_normal((192, 256), dtype=np.float32)


def main():
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256))
    optimizer = torch.optim.Adam(model.parameters())
    with ThreadPoolExecutor(1) as pool, StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        upcoming = pool.submit(load_firings, 0)
        step = 1
        while not watch.full():
            firings = torch.from_numpy(upcoming.result())
            upcoming = pool.submit(load_firings, step)
            watch.fetched()
            optimizer.zero_grad()
            nn.functional.mse_loss(model(firings), firings).backward()
            optimizer.step()
            step += 1
            watch.step()
    watch.save("torch", "numpy")


if __name__ == "__main__":
    main()
