# SPDX-License-Identifier: Apache-2.0
"""Gardens: reinforcement learning: each update is preceded by a rollout in a simulator of plain Python. with_stack=True.

Truth: most of the step is collect_rollout (Garden.step), before the update. Whether a simulator is called input or host
work is a matter of words.
"""

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE, STEPS = 2, 1, 5, 12


class Garden:
    def __init__(self):
        self.beds = [0.5] * 64

    def step(self, water):
        for _ in range(6):
            dry = [b * 0.98 - 0.001 * n for n, b in enumerate(self.beds)]
            self.beds = [b + 0.01 * water if b < 0.9 else b for b in dry]
        return self.beds, sum(self.beds)


def collect_rollout(garden, policy):
    seen, chosen, rewards = [], [], []
    state = garden.beds
    with torch.no_grad():
        for _ in range(STEPS):
            observed = torch.tensor(state)
            action = int(policy(observed).argmax())
            state, reward = garden.step(action)
            seen.append(observed)
            chosen.append(action)
            rewards.append(reward)
    return torch.stack(seen), torch.tensor(chosen), torch.tensor(rewards)


def update(policy, optimizer, seen, chosen, rewards):
    likely = torch.log_softmax(policy(seen), 1).gather(1, chosen[:, None]).squeeze(1)
    loss = -(likely * (rewards - rewards.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    garden, policy = Garden(), nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 4))
    optimizer = torch.optim.Adam(policy.parameters())
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while not watch.full():
            rollout = collect_rollout(garden, policy)
            watch.fetched()
            update(policy, optimizer, *rollout)
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
