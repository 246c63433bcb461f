# SPDX-License-Identifier: Apache-2.0
"""Wharves: a GAN: a step of the discriminator and one of the generator, data in memory. Stacks on.

Truth: compute-bound; healthy.
"""

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 8


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    real = torch.randn(512, 256)
    generator = nn.Sequential(nn.Linear(64, 512), nn.LeakyReLU(0.2), nn.Linear(512, 256))
    critic = nn.Sequential(nn.Linear(256, 512), nn.LeakyReLU(0.2), nn.Linear(512, 1))
    for_generator = torch.optim.Adam(generator.parameters(), lr=2e-4)
    for_critic = torch.optim.Adam(critic.parameters(), lr=2e-4)
    judge = nn.BCEWithLogitsLoss()
    ones, zeros = torch.ones(512, 1), torch.zeros(512, 1)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while not watch.full():
            fake = generator(torch.randn(512, 64))
            for_critic.zero_grad()
            (judge(critic(real), ones) + judge(critic(fake.detach()), zeros)).backward()
            for_critic.step()
            for_generator.zero_grad()
            judge(critic(fake), ones).backward()
            for_generator.step()
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
