# SPDX-License-Identifier: Apache-2.0
"""Ermines: a mean of the weights (EMA) is kept by a Python loop over some 200 small tensors, behind each step. Stacks on; data
in memory.

Truth: compute or host, in about equal parts of tiny operations: update_ema is the most of the step; torch._foreach or
torch.optim.swa_utils with multi_avg_fn would make few of them.
"""

import copy

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 6


@torch.no_grad()
def update_ema(ema, model, decay):
    of_model = dict(model.named_parameters())
    for name, mean in ema.named_parameters():
        mean.mul_(decay).add_(of_model[name].detach(), alpha=1 - decay)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(*(nn.Sequential(nn.Linear(24, 24), nn.LayerNorm(24)) for _ in range(50)))
    ema = copy.deepcopy(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, foreach=True)
    x = torch.randn(16, 24)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while True:
            loss = model(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            update_ema(ema, model, 0.999)
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
