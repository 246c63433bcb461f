# SPDX-License-Identifier: Apache-2.0
"""Lakes: an IterableDataset, sharded over two workers, which cannot keep up (a sleep stands for the store). No stacks.

Truth: input-bound, with workers; what they do is not in the profile.
"""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 4, 2, 20


class Gauges(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        for n in range(info.id, 4096, info.num_workers):
            time.sleep(0.005)
            yield torch.full((24, 8), n / 4096), torch.tensor([n % 2.0])


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    lstm, head = nn.LSTM(8, 64, batch_first=True), nn.Linear(64, 1)
    optimizer = torch.optim.RMSprop([*lstm.parameters(), *head.parameters()])
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        for levels, floods in DataLoader(Gauges(), batch_size=16, num_workers=2):
            watch.fetched()
            hidden = lstm(levels)[0][:, -1]
            loss = nn.functional.binary_cross_entropy_with_logits(head(hidden), floods)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
