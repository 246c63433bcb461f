# SPDX-License-Identifier: Apache-2.0
"""Tutors: distillation: a teacher without gradients, a student with them, data in memory. No stacks.

Truth: compute-bound; healthy.
"""

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 8


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x = torch.randn(256, 256)
    teacher = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 16)).eval()
    student = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 16))
    optimizer = torch.optim.AdamW(student.parameters(), lr=1e-3)
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        while not watch.full():
            with torch.no_grad():
                wanted = torch.softmax(teacher(x) / 2, 1)
            loss = nn.functional.kl_div(torch.log_softmax(student(x) / 2, 1), wanted, reduction="batchmean")
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
