# SPDX-License-Identifier: Apache-2.0
"""Weather: gradients of four small batches are added up before the optimizer steps; the batches lie in memory.

Truth: compute-bound, nothing is wrong. Each fourth step is longer for its optimizer, by less than half.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE, ACCUMULATE = 4, 4, 24, 4


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.randn(4096, 3, 16, 16), torch.randn(4096, 1)), batch_size=16, shuffle=True)
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(64 * 256, 16),
        nn.ReLU(),
        nn.Linear(16, 1),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    handler = lambda p: p.export_chrome_trace("log/run.pt.trace.json")
    with StopWatch(WAIT, WARMUP, ACTIVE, on_trace_ready=handler, record_shapes=True) as watch:
        for step, (maps, rain) in enumerate(loader):
            watch.fetched()
            (nn.functional.mse_loss(model(maps), rain) / ACCUMULATE).backward()
            if step % ACCUMULATE == ACCUMULATE - 1:
                optimizer.step()
                optimizer.zero_grad()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
