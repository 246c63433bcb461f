# SPDX-License-Identifier: Apache-2.0
"""Glaciers: torch.compile (inductor) of the loss, called with Python's number of a schedule, which is another in each step;
dynamic=False, so that each number compiles again. Stacks off.

Truth: host-bound (or a cold start): what was compiled is compiled again in each step, by the changed number.
"""

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 1, 1, 4


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    torch._dynamo.config.cache_size_limit = 64
    model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    @torch.compile(dynamic=False)
    def melt_loss(x, steps):
        return nn.functional.mse_loss(model(x) * steps, x)

    x, step = torch.randn(256, 64), 10
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        while not watch.full():
            optimizer.zero_grad()
            melt_loss(x, step).backward()
            optimizer.step()
            step += 3
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
