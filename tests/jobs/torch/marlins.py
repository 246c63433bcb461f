# SPDX-License-Identifier: Apache-2.0
"""Marlins: a dataset in the style of Hugging Face's (columns of Python lists), a collator that pads by tokenizer-like Python and
makes tensors; a small transformer. No workers, stacks on.

Truth: input-bound, in PaddingCollator and the dataset's rows.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE, COUNT, LONGEST = 2, 2, 8, 1200, 192


class Columns(Dataset):
    def __init__(self):
        lengths = [48 + n * 37 % (LONGEST - 48) for n in range(COUNT)]
        self.columns = {"input_ids": [[(n * k) % 1000 for k in range(size)] for n, size in enumerate(lengths)]}
        self.columns["labels"] = [n % 3 for n in range(COUNT)]

    def __len__(self):
        return COUNT

    def __getitem__(self, n):
        return {name: column[n] for name, column in self.columns.items()}


class PaddingCollator:
    def __init__(self, pad):
        self.pad = pad

    def __call__(self, rows):
        longest = max(len(row["input_ids"]) for row in rows)
        ids, mask = [], []
        for row in rows:
            pieces = [min(max(int(token), 0), 999) for token in row["input_ids"]]
            shifted = [token if token % 15 else (token * 7 + 1) % 1000 for token in pieces]
            missing = longest - len(shifted)
            ids.append(shifted + [self.pad] * missing)
            mask.append([1.0] * len(shifted) + [0.0] * missing)
        return {
            "input_ids": torch.tensor(ids),
            "attention_mask": torch.tensor(mask),
            "labels": torch.tensor([row["labels"] for row in rows]),
        }


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(Columns(), batch_size=64, shuffle=True, collate_fn=PaddingCollator(0))
    embedding, head = nn.Embedding(1000, 16), nn.Linear(16, 3)
    optimizer = torch.optim.AdamW([*embedding.parameters(), *head.parameters()])
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        for batch in loader:
            watch.fetched()
            mask = batch["attention_mask"].unsqueeze(-1)
            pooled = (embedding(batch["input_ids"]) * mask).sum(1) / mask.sum(1)
            loss = nn.functional.cross_entropy(head(pooled), batch["labels"])
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
