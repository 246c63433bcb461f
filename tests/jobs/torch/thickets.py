# SPDX-License-Identifier: Apache-2.0
"""Thickets: a graph network whose neighbours are drawn for each batch, in plain Python, before the step. Stacks on.

Truth: input-bound, in sample_neighbours.
"""

import random

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE, NODES = 2, 2, 8, 3000


def sample_neighbours(edges, seeds, rng, fanout=6):
    nodes, index = list(seeds), {n: k for k, n in enumerate(seeds)}
    sources, targets = [], []
    frontier = list(seeds)
    for _ in range(2):
        following = []
        for node in frontier:
            for other in rng.sample(edges[node], min(fanout, len(edges[node]))):
                if other not in index:
                    index[other] = len(nodes)
                    nodes.append(other)
                    following.append(other)
                sources.append(index[other])
                targets.append(index[node])
        frontier = following
    return nodes, sources, targets


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.own, self.others = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, h, sources, targets):
        summed = torch.zeros_like(h).index_add_(0, targets, h[sources])
        return torch.relu(self.own(h) + self.others(summed))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rng = random.Random(0)
    edges = [[rng.randrange(NODES) for _ in range(12)] for _ in range(NODES)]
    features, kinds = torch.randn(NODES, 32), torch.randint(0, 4, (NODES,))
    first, second, head = Layer(32), Layer(32), nn.Linear(32, 4)
    weights = [*first.parameters(), *second.parameters(), *head.parameters()]
    optimizer = torch.optim.SGD(weights, lr=1e-2)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while not watch.full():
            seeds = rng.sample(range(NODES), 64)
            nodes, sources, targets = sample_neighbours(edges, seeds, rng)
            nodes, sources, targets = torch.tensor(nodes), torch.tensor(sources), torch.tensor(targets)
            watch.fetched()
            h = second(first(features[nodes], sources, targets), sources, targets)
            loss = nn.functional.cross_entropy(head(h[:64]), kinds[nodes[:64]])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
