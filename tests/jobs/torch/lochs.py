# SPDX-License-Identifier: Apache-2.0
"""Lochs: a module and a trainer in Lightning's style; a logger writes each metric and each weight's norm as a row of CSV, and
syncs the file, behind every batch. Stacks on; data in memory.

Truth: host-bound, in CsvLogger.log_metrics, from on_train_batch_end.
"""

import csv
import os

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 10


class CsvLogger:
    def __init__(self, path):
        self.file = open(path, "a", newline="")
        self.writer = csv.writer(self.file)

    def log_metrics(self, metrics, step):
        for name, value in metrics.items():
            self.writer.writerow([step, name, f"{value:.6g}"])
            self.file.flush()
            os.fsync(self.file.fileno())


class LitAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 32))
        self.decoder = nn.Sequential(nn.Linear(32, 512), nn.ReLU(), nn.Linear(512, 128))

    def training_step(self, batch, batch_idx):
        return nn.functional.mse_loss(self.decoder(self.encoder(batch)), batch)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)

    def on_train_batch_end(self, trainer, loss, batch_idx):
        norms = {name: p.detach().abs().mean().item() for name, p in self.named_parameters()}
        trainer.logger.log_metrics({"loss": loss.item(), **norms}, batch_idx)


class LitTrainer:
    def __init__(self, logger):
        self.logger = logger

    def fit(self, module, batches, watch):
        optimizer = module.configure_optimizers()
        for n, batch in enumerate(batches):
            watch.fetched()
            loss = module.training_step(batch, n)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            module.on_train_batch_end(self, loss, n)
            if watch.step():
                break


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    batches = list(torch.randn(40, 64, 128))
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        LitTrainer(CsvLogger("lochs.csv")).fit(LitAutoencoder(), batches, watch)
    watch.save("torch")


if __name__ == "__main__":
    main()
