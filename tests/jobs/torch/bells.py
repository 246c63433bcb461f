# SPDX-License-Identifier: Apache-2.0
"""Bells: an LSTM cell by hand, called for each of sixteen time steps, and each gate a Linear of its own. No stacks.

Truth: the step is thousands of tiny operations; nn.LSTM over the whole sequence does the same at once.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 3


class Cell(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gates = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(4))

    def forward(self, x, h, c):
        both = torch.cat([x, h], 1)
        i, f, o = (torch.sigmoid(gate(both)) for gate in self.gates[:3])
        c = f * c + i * torch.tanh(self.gates[3](both))
        return o * torch.tanh(c), c


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    cell, head = Cell(32), nn.Linear(32, 4)
    optimizer = torch.optim.RMSprop([*cell.parameters(), *head.parameters()], lr=1e-3)
    data = TensorDataset(torch.randn(256, 16, 32), torch.randint(0, 4, (256,)))
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        for x, y in DataLoader(data, batch_size=8):
            watch.fetched()
            h = c = torch.zeros(len(x), 32)
            for t in range(x.shape[1]):
                h, c = cell(x[:, t], h, c)
            loss = nn.functional.cross_entropy(head(h), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
