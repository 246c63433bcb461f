# SPDX-License-Identifier: Apache-2.0
"""Dredges: a trainer class in the style of Hugging Face's: gradient accumulation, a scheduler, callbacks, and a data collator
that tokenises and pads raw sentences in the training process (num_workers=0). Stacks on.

Truth: input-bound, in SentenceCollator (tokenize): workers would hide it.
"""

import random
import re

import torch
from torch import nn
from torch.utils.data import DataLoader

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 10
WORDS = "the river mud bucket chain crane harbour tide engine barge silt pump shore rope deck winter".split()


class SentenceCollator:
    def __init__(self, vocabulary):
        self.vocabulary = {word: n + 2 for n, word in enumerate(vocabulary)}
        self.pattern = re.compile(r"\w+|[^\w\s]")

    def tokenize(self, text):
        return [self.vocabulary.get(w, 1) for w in self.pattern.findall(text.lower())][:128]

    def __call__(self, rows):
        ids = [torch.tensor(self.tokenize(row["text"])) for row in rows]
        padded = nn.utils.rnn.pad_sequence(ids, batch_first=True)
        return {"input_ids": padded, "labels": torch.tensor([row["label"] for row in rows])}


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.EmbeddingBag(64, 128, padding_idx=0), nn.Sequential(nn.Linear(128, 256), nn.GELU(), nn.Linear(256, 2))

    def forward(self, input_ids, labels):
        logits = self.head(self.embed(input_ids))
        return nn.functional.cross_entropy(logits, labels), logits


class Trainer:
    def __init__(self, model, rows, accumulate=2):
        self.model, self.accumulate, self.losses = model, accumulate, []
        self.loader = DataLoader(rows, batch_size=32, shuffle=True, collate_fn=SentenceCollator(WORDS))
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        self.scheduler = torch.optim.lr_scheduler.LinearLR(self.optimizer)

    def training_step(self, inputs):
        self.model.train()
        loss, _ = self.model(**inputs)
        (loss / self.accumulate).backward()
        return loss.detach()

    def train(self, watch):
        for n, inputs in enumerate(self.loader):
            watch.fetched()
            self.losses.append(self.training_step(inputs))
            if n % self.accumulate == self.accumulate - 1:
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
                self.scheduler.step()
                self.optimizer.zero_grad()
            if watch.step():
                return


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rng = random.Random(0)
    rows = [{"text": " ".join(rng.choices(WORDS, k=150)), "label": n % 2} for n in range(1024)]
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        Trainer(Classifier(), rows).train(watch)
    watch.save("torch")


if __name__ == "__main__":
    main()
