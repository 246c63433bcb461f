# SPDX-License-Identifier: Apache-2.0
"""Ratchets: autocast to bfloat16 on the processor, OneCycleLR, the loss read each step; data in memory, no stacks.

Truth: compute-bound; healthy.
"""

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 10


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True, dropout=0.0)
    model = nn.Sequential(nn.TransformerEncoder(layer, 2), nn.Flatten(), nn.Linear(128 * 32, 4))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=100)
    batches = torch.randn(4, 16, 32, 128)
    labels = torch.randint(0, 4, (16,))
    n, history = 0, []
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        while True:
            with torch.autocast("cpu", torch.bfloat16):
                loss = nn.functional.cross_entropy(model(batches[n % 4]), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            history.append(loss.item())
            n += 1
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
