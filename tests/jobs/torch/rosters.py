# SPDX-License-Identifier: Apache-2.0
"""Rosters: a trainer class that writes its whole state (a log that grows) as JSON after each step, as trainer_state.json.
Stacks on.

Truth: host-bound, in save_state; rarely would be the cure.
"""

import dataclasses
import json

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 8


@dataclasses.dataclass
class State:
    step: int = 0
    best: float = 1e9
    log_history: list = dataclasses.field(default_factory=list)


class Trainer:
    def __init__(self, model, watch):
        self.model, self.watch, self.state = model, watch, State()
        self.state.log_history = [{"step": -n, "loss": n / 7, "lr": 1e-3 / (n + 1)} for n in range(200)]
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def save_state(self, path):
        with open(path, "w") as out:
            json.dump(dataclasses.asdict(self.state), out, indent=2, sort_keys=True)

    def training_step(self, x):
        loss = nn.functional.mse_loss(self.model(x), x)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss

    def train(self, x):
        while not self.watch.full():
            loss = self.training_step(x)
            self.state.step += 1
            self.state.log_history.append({"step": self.state.step, "loss": loss.item(), "lr": 1e-3})
            self.save_state("trainer_state.json")
            self.watch.step()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128))
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        Trainer(model, watch).train(torch.randn(128, 128))
    watch.save("torch")


if __name__ == "__main__":
    main()
