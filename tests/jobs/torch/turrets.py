# SPDX-License-Identifier: Apache-2.0
"""Turrets: gradients of each sample alone: a Python loop with a backward pass for each of 48 samples. No stacks.

Truth: hundreds of tiny operations and backward passes: the host's calls, or the model's work, as one likes; a batch at once is the cure.
"""

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 5



def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x, y = torch.randn(48, 32), torch.randn(48, 1)
    model = nn.Sequential(nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        while not watch.full():
            clipped = [torch.zeros_like(p) for p in model.parameters()]
            for n in range(len(x)):
                model.zero_grad()
                nn.functional.mse_loss(model(x[n : n + 1]), y[n : n + 1]).backward()
                norm = sum(p.grad.square().sum() for p in model.parameters()).sqrt()
                for total, p in zip(clipped, model.parameters()):
                    total.add_(p.grad / norm.clamp(min=1))
            for total, p in zip(clipped, model.parameters()):
                p.grad = total
            optimizer.step()
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
