# SPDX-License-Identifier: Apache-2.0
"""Beacons: a small transformer on tensors in memory, batches by a random permutation, no DataLoader. record_shapes and
profile_memory are on, no stacks.

Truth: compute-bound, nothing is wrong.
"""

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 3


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    signals, kinds = torch.randn(2048, 48, 64), torch.randint(0, 5, (2048,))
    layer = nn.TransformerEncoderLayer(64, 4, 256, dropout=0.1, batch_first=True)
    body, head = nn.TransformerEncoder(layer, 1), nn.Linear(64, 5)
    optimizer = torch.optim.AdamW([*body.parameters(), *head.parameters()], lr=3e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-3, total_steps=200)
    with StopWatch(WAIT, WARMUP, ACTIVE, record_shapes=True, profile_memory=True) as watch:
        for picked in torch.randperm(2048).split(64):
            batch, wanted = signals[picked], kinds[picked]
            watch.fetched()
            loss = nn.functional.cross_entropy(head(body(batch).mean(1)), wanted)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(body.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
