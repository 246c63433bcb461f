# SPDX-License-Identifier: Apache-2.0
"""Films: a GRU with clipped gradients and a schedule of its learning rate; batches lie in memory. with_stack=True.

Truth: compute-bound, nothing is wrong.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 12


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.GRU(96, 192, batch_first=True)
        self.judge = nn.Linear(192, 5)

    def forward(self, scenes):
        return self.judge(self.read(scenes)[0][:, -1])


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(
        TensorDataset(torch.randn(1024, 20, 96), torch.randint(0, 5, (1024,))), batch_size=64, shuffle=True
    )
    model = Critic()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    slower = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        for scenes, stars in loader:
            watch.fetched()
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(scenes), stars).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            slower.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
