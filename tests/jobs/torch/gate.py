# SPDX-License-Identifier: Apache-2.0
"""Sensors: a thread publishes figures and holds a lock meanwhile, for which the main thread waits in each step.
with_stack=True.

Truth: blocked, in take_figures, by publish; more than half of the step. Nothing of it is work, nor input. A lock that a
with statement takes leaves no event of its own, so that the function can be named, and the lock cannot.
"""

import threading
import time

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 16
figures, guard = {}, threading.Lock()


def publish():
    while True:
        with guard:
            time.sleep(0.02)  # a slow receiver
            figures.clear()
        time.sleep(0.002)


def take_figures(loss):
    with guard:
        figures["loss"] = loss


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    threading.Thread(target=publish, daemon=True).start()
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    values, wanted = torch.randn(256, 256), torch.randn(256, 1)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while not watch.full():
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(values), wanted)
            loss.backward()
            optimizer.step()
            with watch.timed("take_figures"):
                take_figures(loss.item())
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
