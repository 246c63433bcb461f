# SPDX-License-Identifier: Apache-2.0
"""Foundries: cross-validation: each fold of five steps makes a new model and compiles it. No stacks recorded.

Truth: host-bound, by compilation in the first step of every fold.
"""

import os

os.environ["TORCHINDUCTOR_CACHE_DIR"] = "inductor"  # nothing of an earlier run
import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE, EACH = 5, 5, 15, 5


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    alloys, strengths = torch.randn(256, 64), torch.randn(256, 1)
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        for fold in range((WAIT + WARMUP + ACTIVE) // EACH):
            model = torch.compile(nn.Sequential(nn.Linear(64, 64 + 16 * fold), nn.ReLU(), nn.Linear(64 + 16 * fold, 1)))
            optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
            for _ in range(EACH):
                optimizer.zero_grad()
                nn.functional.mse_loss(model(alloys), strengths).backward()
                optimizer.step()
                watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
