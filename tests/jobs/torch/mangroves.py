# SPDX-License-Identifier: Apache-2.0
"""Mangroves: a Prefetcher class of the job's own: one thread asks a store (24 ms a batch) and fills a queue of two; the loop
takes from it. Stacks on.

Truth: input-bound; the thread waits for the store in load_patch, several at once would be needed.
"""

import queue
import threading
import time

import numpy as np
import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 10


def load_patch(n):
    time.sleep(0.024)  # the tile server answers
    return torch.from_numpy(np.full((32, 256), n, np.float32))


class Prefetcher:
    def __init__(self, load, count):
        self.queue = queue.Queue(2)
        self.thread = threading.Thread(target=self.run, args=(load, count), daemon=True)
        self.thread.start()

    def run(self, load, count):
        for n in range(count):
            self.queue.put(load(n))
        self.queue.put(None)

    def __iter__(self):
        return self

    def __next__(self):
        batch = self.queue.get()
        if batch is None:
            raise StopIteration
        return batch


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        for x in Prefetcher(load_patch, 100):
            watch.fetched()
            loss = nn.functional.mse_loss(model(x), x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
