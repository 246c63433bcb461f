# SPDX-License-Identifier: Apache-2.0
"""Tundra: samples are kept as lists of dictionaries, and after each step memory is tidied up with gc.collect, as a
forum advised. with_stack=True.

Truth: host-bound, in tidy_up (gc.collect), more than half of the step.
"""

import gc

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 1, 9


def tidy_up():
    gc.collect()


def train_step(model, optimizer, soil, frost):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(soil), frost)
    loss.backward()
    optimizer.step()
    return loss


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    stations = [{"at": [n, n + 1], "soil": {"depth": [n % 7], "kind": [n % 3]}} for n in range(60000)]
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    soil, frost = torch.randn(len(stations) // 1000, 256), torch.randn(len(stations) // 1000, 1)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while not watch.full():
            train_step(model, optimizer, soil, frost)
            with watch.timed("tidy_up"):
                tidy_up()
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
