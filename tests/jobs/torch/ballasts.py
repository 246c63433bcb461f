# SPDX-License-Identifier: Apache-2.0
"""Ballasts: the loop pickles model and optimizer into bytes after each step, for a restart, by torch.save into a BytesIO. Stacks on.

Truth: host-bound, in remember_state.
"""

import io

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 8


def remember_state(model, optimizer):
    out = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, out)
    return out.getvalue()



def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x = torch.randn(32, 512)
    model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512))
    optimizer = torch.optim.Adam(model.parameters())
    kept = b""
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while not watch.full():
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), x).backward()
            optimizer.step()
            kept = remember_state(model, optimizer)
            watch.step()
    assert kept
    watch.save("torch")


if __name__ == "__main__":
    main()
