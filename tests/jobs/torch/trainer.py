# SPDX-License-Identifier: Apache-2.0
"""Reviews: a trainer class with callbacks, and a collator that masks tokens in plain Python. with_stack=True.

Truth: input-bound, in mask_tokens, which the DataLoader without workers runs for each batch.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE, MASK = 2, 2, 12, 3
SALTS = range(104729, 104759)


def mask_tokens(tokens):
    """One token in seven is hidden, and the rest is no target."""
    hashes = [(t * 7919 + n * salt) % 7 for salt in SALTS for n, t in enumerate(tokens)]
    hidden = [h == 0 for h in hashes[: len(tokens)]]
    return [MASK if h else t for h, t in zip(hidden, tokens)], [t if h else -100 for h, t in zip(hidden, tokens)]


class MaskingCollator:
    def __call__(self, reviews):
        masked = [mask_tokens(review) for review in reviews]
        return {"tokens": torch.tensor([m[0] for m in masked]), "labels": torch.tensor([m[1] for m in masked])}


class LossHistory:
    def __init__(self):
        self.losses = []

    def on_step_end(self, loss):
        self.losses.append(loss.item())


class Trainer:
    def __init__(self, model, reviews, collator, callbacks):
        self.model, self.callbacks = model, callbacks
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        self.loader = DataLoader(reviews, batch_size=16, shuffle=True, collate_fn=collator)

    def compute_loss(self, batch):
        return nn.functional.cross_entropy(self.model(batch["tokens"]).flatten(0, 1), batch["labels"].flatten())

    def training_step(self, batch):
        self.model.train()
        loss = self.compute_loss(batch)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.detach()

    def train(self, watch):
        for batch in self.loader:
            watch.fetched()
            loss = self.training_step(batch)
            for callback in self.callbacks:
                callback.on_step_end(loss)
            if watch.step():
                break


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    reviews = torch.randint(4, 40, (512, 300)).tolist()
    model = nn.Sequential(nn.Embedding(40, 12), nn.Linear(12, 40))
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        Trainer(model, reviews, MaskingCollator(), [LossHistory()]).train(watch)
    watch.save("torch")


if __name__ == "__main__":
    main()
