# SPDX-License-Identifier: Apache-2.0
"""Proteins: a compiled model whose shapes do not change, recorded after it was compiled; batches lie in memory.

Truth: compute-bound, nothing is wrong. The model is compiled already.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 4, 3, 12


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.randn(4096, 256), torch.randn(4096, 8)), batch_size=128, drop_last=True)
    layers = [nn.Linear(256, 768), nn.GELU(), nn.Linear(768, 512), nn.GELU(), nn.Linear(512, 8)]
    model = torch.compile(nn.Sequential(*layers))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        for chains, folds in loader:
            watch.fetched()
            optimizer.zero_grad()
            nn.functional.mse_loss(model(chains), folds).backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
