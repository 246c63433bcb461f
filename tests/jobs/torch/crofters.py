# SPDX-License-Identifier: Apache-2.0
"""Crofters: behind each step the loop prints a status line, and writes the norm and the extremes of every parameter and gradient as
JSON, read one by one with .item(). Stacks on; data in memory.

Truth: host-bound or compute in tiny operations: describe_tensors is the most of the step.
"""

import json

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 6


def describe_tensors(model, step, out):
    figures = {"step": step}
    for name, p in model.named_parameters():
        for kind, t in (("weight", p.detach()), ("grad", p.grad)):
            figures[f"{name}.{kind}"] = [t.norm().item(), t.min().item(), t.max().item()]
    out.write(json.dumps(figures) + "\n")
    print("step", step, {k: round(v[0], 3) for k, v in list(figures.items())[1:4]})


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(*(nn.Sequential(nn.Linear(64, 64), nn.Tanh()) for _ in range(16)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x, step = torch.randn(32, 64), 0
    with open("crofters.jsonl", "w") as out, StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while True:
            loss = model(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            describe_tensors(model, step, out)
            step += 1
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
