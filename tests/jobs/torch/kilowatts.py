# SPDX-License-Identifier: Apache-2.0
"""Kilowatts: behind each step the job sleeps, to keep below a power limit. Stacks on.

Truth: host-bound, in throttle_power (sleep).
"""

import time

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 10


def throttle_power(began, share=0.35):
    time.sleep((time.perf_counter() - began) * (1 / share - 1))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x = torch.randn(128, 256)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while not watch.full():
            began = time.perf_counter()
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), x).backward()
            optimizer.step()
            throttle_power(began)
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
