# SPDX-License-Identifier: Apache-2.0
"""Mullions: after each step a table of all layers' statistics is formatted as text and put into a file of progress. Stacks on.

Truth: host-bound, in show_progress.
"""

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 8


def show_progress(out, step, loss, model):
    lines = [f"step {step:6} loss {loss:10.6f}"]
    for name, p in model.named_parameters():
        for row in p.detach()[:12].reshape(-1, 32)[:24].tolist():
            lines.append(f"{name:40} " + " ".join(f"{v:9.5f}" for v in row))
    out.seek(0)
    out.write("\n".join(lines))



def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x = torch.randn(64, 256)
    model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    step = 0
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch, open("progress.txt", "w") as out:
        while not watch.full():
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), x)
            loss.backward()
            optimizer.step()
            show_progress(out, step, loss.item(), model)
            step += 1
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
