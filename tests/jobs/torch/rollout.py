# SPDX-License-Identifier: Apache-2.0
"""Mazes: between updates of its policy an agent plays in plain Python, and learns from what it saw. with_stack=True.

Truth: more than half of the step is play_games, on the main thread. It makes the batch, by no name that says so: whether
that is input or other work of the host is a matter of words, and the wait is not compared.
"""

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE, SIZE = 2, 2, 14, 24


def play_games(walls, moves):
    """Where 64 games end, and what they saw on the way."""
    seen, ends = [], []
    for game in moves:
        path = [0]
        for move in game:
            at = (path[-1] * 5 + move) % (SIZE * SIZE)
            path += [at if not walls[at] else path[-1]]
        seen += [[walls[(at + n) % (SIZE * SIZE)] for at in path[-12:] for n in range(16)]]
        ends += [path[-1] / (SIZE * SIZE)]
    return torch.tensor(seen, dtype=torch.float32), torch.tensor(ends)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    walls = (torch.rand(SIZE * SIZE) < 0.2).tolist()
    policy = nn.Sequential(nn.Linear(192, 512), nn.Tanh(), nn.Linear(512, 1))
    optimizer = torch.optim.Adam(policy.parameters())
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while not watch.full():
            with watch.timed("play_games"):
                seen, ends = play_games(walls, torch.randint(0, 9, (64, 800)).tolist())
            optimizer.zero_grad()
            nn.functional.mse_loss(policy(seen).squeeze(1), ends).backward()
            optimizer.step()
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
