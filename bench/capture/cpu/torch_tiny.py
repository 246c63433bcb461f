# SPDX-License-Identifier: Apache-2.0
"""A hand-written LSTM, one time step and one gate after the other. Truth: its time goes into thousands of tiny
operations (compute-bound or host-bound, indistinguishable on a CPU). Fix: nn.LSTM over the whole sequence."""

from watch import Watch

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

WIDTH, TIME = 24, 64


class HandMade(nn.Module):
    def __init__(self):
        super().__init__()
        self.of_input = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.of_state = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, x):
        state = memory = torch.zeros(x.shape[0], WIDTH)
        for t in range(x.shape[1]):
            gates = [a(x[:, t]) + b(state) for a, b in zip(self.of_input, self.of_state)]
            memory = torch.sigmoid(gates[0]) * memory + torch.sigmoid(gates[1]) * torch.tanh(gates[2])
            state = torch.sigmoid(gates[3]) * torch.tanh(memory)
        return state


class WithLSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(WIDTH, WIDTH, batch_first=True)

    def forward(self, x):
        return self.lstm(x)[0][:, -1]


def main():
    watch = Watch(60)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(WithLSTM() if watch.fixed else HandMade(), nn.Linear(WIDTH, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = TensorDataset(torch.randn(8 * 100, TIME, WIDTH), torch.randint(0, 2, (8 * 100,)))
    watch.begins()
    for x, y in watch.input(DataLoader(data, batch_size=8)):
        watch.fetched()
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if watch.ended(loss.item()):
            break
    watch.save()


if __name__ == "__main__":
    main()
