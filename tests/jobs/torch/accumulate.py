# SPDX-License-Identifier: Apache-2.0
"""Weather: gradients of four small batches are added up before the optimizer steps; the batches lie in memory.

Truth: compute-bound, nothing is wrong. Each fourth step is longer for its optimizer, by less than half.
"""

import time

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule
from torch.utils.data import DataLoader, TensorDataset

import truth

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
    rows = []
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=WAIT, warmup=WARMUP, active=ACTIVE, repeat=1),
        on_trace_ready=lambda p: p.export_chrome_trace("log/run.pt.trace.json"),
        record_shapes=True,
    ) as prof:
        start = time.perf_counter()
        for step, (maps, rain) in enumerate(loader):
            fetched = time.perf_counter()
            (nn.functional.mse_loss(model(maps), rain) / ACCUMULATE).backward()
            if step % ACCUMULATE == ACCUMULATE - 1:
                optimizer.step()
                optimizer.zero_grad()
            done = time.perf_counter()
            prof.step()
            rows.append((start, fetched, done))
            if len(rows) == WAIT + WARMUP + ACTIVE:
                break
            start = time.perf_counter()
    truth.save(rows, WAIT + WARMUP, ACTIVE, ["torch"])


if __name__ == "__main__":
    main()
