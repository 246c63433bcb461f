# SPDX-License-Identifier: Apache-2.0
"""Ratings: a thread of the job's own fills a queue.Queue, the main thread takes from it. with_stack=True.

Truth: input-bound. The main thread is blocked in Queue.get, which the thread in read_block ends (a sleep stands for
the store across the network); it is not busy, and no compiled model would help.
"""

import queue
import threading
import time

import numpy as np
import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 16


def read_block(rng):
    """A batch from the store: 25 ms away."""
    time.sleep(0.025)
    return rng.standard_normal((256, 512), dtype=np.float32), rng.standard_normal((256, 1), dtype=np.float32)


def fill(batches):
    rng = np.random.default_rng(0)
    while True:
        batches.put(read_block(rng))


def train_step(model, optimizer, users, ratings):
    optimizer.zero_grad(set_to_none=True)
    loss = nn.functional.mse_loss(model(users), ratings)
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.set_num_threads(1)
    batches = queue.Queue(maxsize=4)
    threading.Thread(target=fill, args=(batches,), daemon=True).start()
    model = nn.Sequential(nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while not watch.full():
            users, ratings = batches.get()
            watch.fetched()
            train_step(model, optimizer, torch.from_numpy(users), torch.from_numpy(ratings))
            watch.step()
    watch.save("torch", "numpy")


if __name__ == "__main__":
    main()
