# SPDX-License-Identifier: Apache-2.0
"""Mornings: a compiled model, profiled from its very first step on.

Truth: cold-start: the first step compiles, and holds nearly all of the time; the others are well fed.
"""

import os

os.environ["TORCHINDUCTOR_CACHE_DIR"] = "inductor"  # nothing of an earlier run
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import StopWatch

ACTIVE = 14


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.randn(2048, 256), torch.randn(2048, 4)), batch_size=128, drop_last=True)
    model = torch.compile(nn.Sequential(nn.Linear(256, 1024), nn.SiLU(), nn.Linear(1024, 4)))
    optimizer = torch.optim.AdamW(model.parameters())
    with StopWatch(0, 0, ACTIVE) as watch:
        for hours, clouds in loader:
            watch.fetched()
            optimizer.zero_grad()
            nn.functional.mse_loss(model(hours), clouds).backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
