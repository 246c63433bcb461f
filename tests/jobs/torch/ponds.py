# SPDX-License-Identifier: Apache-2.0
"""Ponds: bfloat16 by autocast, gradients of two small batches added up, a cosine schedule; tensors in memory. No stacks.

Truth: compute-bound, nothing is wrong.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 8


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.randn(2048, 256), torch.randn(2048, 8)), batch_size=64, shuffle=True)
    model = nn.Sequential(nn.Linear(256, 2048), nn.GELU(), nn.Linear(2048, 1024), nn.GELU(), nn.Linear(1024, 8))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 100)
    batches = iter(loader)
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        while not watch.full():
            for _ in range(2):
                with watch.waiting():
                    water, life = next(batches)
                with torch.autocast("cpu", torch.bfloat16):
                    loss = nn.functional.mse_loss(model(water), life) / 2
                loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
