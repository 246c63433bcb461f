# SPDX-License-Identifier: Apache-2.0
"""Cellars: a thread writes the weights into a store of figures again and again, and holds the lock that the loop needs
for its own figures. with_stack=True.

Truth: the step waits for the lock (record_loss), most of its time. It is no input, and no lack of a compiled model.
"""

import threading
import time

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 1, 9


class Figures:
    def __init__(self):
        self.lock, self.losses, self.norms = threading.Lock(), [], []

    def record_loss(self, loss):
        with self.lock:
            self.losses.append(loss)

    def upload(self, model):
        while True:
            with self.lock:
                time.sleep(0.04)  # a server far away
                self.norms.append(len(list(model.parameters())))
            time.sleep(0.002)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    figures, wines, prices = Figures(), torch.randn(128, 256), torch.randn(128, 1)
    threading.Thread(target=figures.upload, args=(model,), daemon=True).start()
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while not watch.full():
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(wines), prices)
            loss.backward()
            optimizer.step()
            figures.record_loss(loss.item())
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
