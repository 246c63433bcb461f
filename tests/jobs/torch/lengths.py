# SPDX-License-Identifier: Apache-2.0
"""Sentences: a compiled encoder gets a batch of another length in almost every step, and is compiled for each.

Truth: host-bound by compilation that recurs (dynamic=False). The cure is dynamic shapes, or a few padded lengths; what
is cached between runs does not help, and the model is compiled already.
"""

import os

os.environ["TORCHINDUCTOR_CACHE_DIR"] = "inductor"  # nothing of an earlier run
import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 1, 1, 8
torch._dynamo.config.recompile_limit = 64


def sentences():
    """Batches as they come, now and then of a length that was there before."""
    generator = torch.Generator().manual_seed(0)
    for n in range(WAIT + WARMUP + ACTIVE):
        length = 24 + 3 * (n if n % 4 else n // 2)
        yield torch.randint(0, 500, (16, length), generator=generator), torch.randint(0, 2, (16,), generator=generator)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(500, 64)
        self.mix = nn.Linear(64, 64)
        self.head = nn.Linear(64, 2)

    def forward(self, tokens):
        x = torch.tanh(self.mix(self.embed(tokens)))
        return self.head(x.mean(1))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = torch.compile(Encoder(), dynamic=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        for tokens, labels in sentences():
            watch.fetched()
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(tokens), labels)
            loss.backward()
            optimizer.step()
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
