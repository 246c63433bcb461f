# SPDX-License-Identifier: Apache-2.0
"""Fraud: a module and callbacks with hooks, as Lightning has them; one callback compares all pairs of scores after each
batch. with_stack=True.

Truth: host-bound, in PairwiseAuc.on_train_batch_end (count_pairs), more than half of the step. The data are in memory.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 12


def count_pairs(frauds, others):
    return sum([a > b for a in frauds for b in others])


class FraudModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 1))

    def training_step(self, batch, batch_idx):
        payments, labels = batch
        scores = self.net(payments).squeeze(1)
        return {"loss": nn.functional.binary_cross_entropy_with_logits(scores, labels), "scores": scores.detach()}

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


class PairwiseAuc:
    def __init__(self):
        self.scores, self.labels = torch.randn(2500).tolist(), (torch.arange(2500) % 3 == 0).tolist()  # of yesterday
        self.history = []

    def on_train_batch_end(self, outputs, batch, batch_idx):
        self.scores = (self.scores + outputs["scores"].tolist())[-2500:]
        self.labels = (self.labels + batch[1].tolist())[-2500:]
        frauds = [s for s, label in zip(self.scores, self.labels) if label]
        others = [s for s, label in zip(self.scores, self.labels) if not label]
        self.history.append(count_pairs(frauds, others) / (len(frauds) * len(others)))


def fit(module, loader, callbacks, watch):
    optimizer = module.configure_optimizers()
    for batch_idx, batch in enumerate(loader):
        watch.fetched()
        outputs = module.training_step(batch, batch_idx)
        optimizer.zero_grad()
        outputs["loss"].backward()
        optimizer.step()
        for callback in callbacks:
            with watch.timed("on_train_batch_end"):
                callback.on_train_batch_end(outputs, batch, batch_idx)
        if watch.step():
            break


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    payments = TensorDataset(torch.randn(2048, 256), (torch.rand(2048) < 0.3).float())
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        fit(FraudModule(), DataLoader(payments, batch_size=16, drop_last=True), [PairwiseAuc()], watch)
    watch.save("torch")


if __name__ == "__main__":
    main()
