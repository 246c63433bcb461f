# SPDX-License-Identifier: Apache-2.0
"""Tables: the job is run, fixed and run again, into the same log directory, as everybody does.

The first run reads each row with a pause of 2 ms; the second keeps all rows in memory. Truth: compute-bound, that of
the newer run; the files are two runs, not two ranks.
"""

import subprocess
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 16


class Rows(Dataset):
    def __init__(self, far):
        self.values, self.labels, self.far = torch.randn(2048, 512), torch.randint(0, 5, (2048,)), far

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        if self.far:
            time.sleep(0.002)
        return self.values[i], self.labels[i]


def train(far):
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512), nn.ReLU(), nn.Linear(512, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        for values, labels in DataLoader(Rows(far), batch_size=64, shuffle=True):
            watch.fetched()
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(values), labels).backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        subprocess.run([sys.executable, __file__, "far"], check=True)
    train(far=len(sys.argv) > 1)
