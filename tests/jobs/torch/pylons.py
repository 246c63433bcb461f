# SPDX-License-Identifier: Apache-2.0
"""Pylons: inference: each batch is asked from a service that answers after 20 ms; inference_mode, no optimizer. Stacks on.

Truth: input-bound, in request_rows; it waits for answers.
"""

import time

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 8


def request_rows(n):
    time.sleep(0.02)  # the service answers
    return torch.full((64, 256), n / 30)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)).eval()
    n, total = 0, 0.0
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch, torch.inference_mode():
        while not watch.full():
            x = request_rows(n)
            watch.fetched()
            total += model(x).sum().item()
            n += 1
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
