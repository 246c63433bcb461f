# SPDX-License-Identifier: Apache-2.0
"""Proteins: a compiled model whose shapes do not change, recorded after it was compiled; batches lie in memory.

Truth: compute-bound, nothing is wrong. The model is compiled already.
"""

import time

import torch
from torch import nn
from torch.profiler import profile, schedule, tensorboard_trace_handler
from torch.utils.data import DataLoader, TensorDataset

import truth

WAIT, WARMUP, ACTIVE = 4, 3, 24


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.randn(4096, 256), torch.randn(4096, 8)), batch_size=128, drop_last=True)
    layers = [nn.Linear(256, 768), nn.GELU(), nn.Linear(768, 512), nn.GELU(), nn.Linear(512, 8)]
    model = torch.compile(nn.Sequential(*layers))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    rows = []
    with profile(
        schedule=schedule(wait=WAIT, warmup=WARMUP, active=ACTIVE, repeat=1),
        on_trace_ready=tensorboard_trace_handler("log"),
    ) as prof:
        start = time.perf_counter()
        for chains, folds in loader:
            fetched = time.perf_counter()
            optimizer.zero_grad()
            nn.functional.mse_loss(model(chains), folds).backward()
            optimizer.step()
            done = time.perf_counter()
            prof.step()
            rows.append((start, fetched, done))
            if len(rows) == WAIT + WARMUP + ACTIVE:
                break
            start = time.perf_counter()
    truth.save(rows, WAIT + WARMUP, ACTIVE, ["torch"])


if __name__ == "__main__":
    main()
