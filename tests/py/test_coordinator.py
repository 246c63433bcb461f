#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The coordinator of `distribute`, on simulated workers and a simulated network.

usage: test_coordinator.py [--seeds N] [--seed N]

Each seed is an epoch. Workers die, stall, join, leave and answer late; messages take any time, overtake each other, come
twice or are lost; the trainer dies and resumes from its last state with another number of workers. Every element must
come exactly once, in the promised order, and never more than `window` of a shard be requested or waiting. A failure names
its seed: `--seed N` runs that epoch alone. The long form is --seeds 10000."""

import argparse
import collections
import heapq
import random

import checks as c
from stoker.data.errors import InvalidArgumentError, UnavailableError
from stoker.data.interop._coordinator import DEATHS_MOST, ELEMENT, END, ERROR, ORDERS, Coordinator, Plan
from stoker.data.interop._maker import Maker

TROUBLED = 1_000  # steps with faults; afterwards an epoch must end soon
STEPS_MOST = 20_000  # of one epoch: more would be a hang
PATIENCE = 40  # how long the trainer waits for a worker that owes an answer


class FakeIterator:
    """Elements of a shard; some fail. Its state is its position, as text."""

    def __init__(self, world, shard, state):
        self.world, self.shard, self.at = world, shard, int(state or b"0")

    def __next__(self):
        if self.at >= self.world.sizes[self.shard]:
            raise StopIteration
        number = self.world.number(self.shard, self.at)
        self.at += 1
        if number % 17 == 5:
            raise ValueError(str(number))
        return number

    def state(self):
        return b"%d" % self.at


class World:
    """One epoch, with everything that happens to it."""

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.shards = rng.choice((1, 2, 3, 4, 7, 16))
        size = rng.choice((0, 1, 5, rng.randint(10, 40)))
        uneven = rng.random() < 0.2
        self.sizes = [max(0, size + (rng.randint(-3, 3) if uneven else -(i > self.shards // 2))) for i in range(self.shards)]
        self.plan = Plan(77, seed, 3, self.shards, rng.choice(ORDERS))
        self.window = rng.choice((1, 2, 4, 4, 9))
        rates = (0, 0, 0.01, 0.05)  # of a step, in which one message arrives; so, faults per message
        self.rates = {k: rng.choice(rates) for k in ("kill", "stall", "lose", "join", "retire", "crash")}
        for k in ("kill", "join", "retire", "crash"):
            self.rates[k] *= 4 / (3 + self.shards * self.window)  # enough messages between them to get ahead
        self.twice = rng.choice((0, 0, 0.3))
        self.now, self.names, self.events, self.order = 0.0, 0, [], 0
        self.given, self.saved = [], (None, 0)
        self.happened = collections.Counter()
        self.start(None)

    def number(self, shard, position):
        return position * self.shards + shard

    def at(self, delay, *event):
        self.order += 1
        heapq.heappush(self.events, (self.now + delay, self.order, event))

    # The trainer

    def start(self, state):
        """A trainer with new workers; messages to the one before it never arrive."""
        self.coordinator = Coordinator(self.plan, self.window, state)
        self.workers, self.retired, self.owed, self.events = {}, set(), {}, []
        for _ in range(self.rng.randint(1, 5)):
            self.hire()

    def hire(self):
        self.names += 1
        self.workers[self.names] = Maker(lambda shard, state: FakeIterator(self, shard, state))
        self.coordinator.join(self.names)

    def send(self):
        for r in self.coordinator.requests():
            self.owed[r.ticket] = (r.worker, self.now)
            self.at(self.rng.expovariate(1.0), "arrives", r)
        for worker, shard in self.coordinator.released():
            if worker in self.workers:
                self.workers[worker].release(shard)
        for s in self.coordinator._shards:
            requested = sum(len(positions) for positions in s.tickets.values())
            if requested + len(s.ready) > self.window:
                raise AssertionError(f"{requested} requested and {len(s.ready)} waiting in a window of {self.window}")

    def take(self):
        got = self.coordinator.take()
        if got is not None:
            kind, value = got
            self.given.append(int(str(value)) if kind == ERROR else value)
            if self.rng.random() < 0.1:
                self.saved = (self.coordinator.state(), len(self.given))
        return got is not None

    def gone(self, worker):
        """The trainer learns that a worker is gone."""
        self.workers.pop(worker, None)
        self.coordinator.leave(worker)
        self.owed = {t: o for t, o in self.owed.items() if o[0] != worker}
        if not set(self.workers) - self.retired:
            self.hire()

    # Messages

    def arrives(self, r):
        if r.worker not in self.workers:
            return
        if self.rng.random() < self.rates["lose"]:
            self.happened["lose"] += 1
            self.at(1, "lost", r.ticket)
            return
        delay = 0.5 + self.rng.expovariate(0.5)
        if self.rng.random() < self.rates["stall"]:
            self.happened["stall"] += 1
            delay += 3 * PATIENCE
        answer = self.workers[r.worker].make(*r[2:])
        self.at(delay, "answer", r.ticket, answer)
        if self.rng.random() < self.twice:
            self.at(delay + self.rng.expovariate(0.3), "answer", r.ticket, answer)

    def answer(self, ticket, answers):
        self.owed.pop(ticket, None)
        self.coordinator.answer(ticket, answers)

    def lost(self, ticket):
        self.owed.pop(ticket, None)
        self.coordinator.failed(ticket)

    # Faults

    def faults(self):
        for what in self.rates:
            if self.rng.random() < self.rates[what]:
                self.happened[what] += 1
                getattr(self, what, lambda: None)()
        for worker in {w for w, since in self.owed.values() if self.now - since > PATIENCE}:
            self.happened["given up"] += 1
            self.gone(worker)

    def kill(self):
        if self.workers:
            self.gone(self.rng.choice(list(self.workers)))

    def join(self):
        if len(self.workers) < 8:
            self.hire()

    def retire(self):
        staying = sorted(set(self.workers) - self.retired)
        if len(staying) > 1:
            worker = self.rng.choice(staying)
            self.retired.add(worker)
            self.coordinator.retire(worker)
        for worker in sorted(self.retired & set(self.workers)):
            if self.coordinator.is_idle(worker):
                self.gone(worker)

    def crash(self):
        """The trainer dies: what it did since its last state didn't happen."""
        state, n = self.saved
        del self.given[n:]
        self.start(state)

    def run(self):
        """The elements given, in order."""
        for step in range(STEPS_MOST):
            self.send()
            if step == TROUBLED:
                self.rates = dict.fromkeys(self.rates, 0)
            self.faults()
            self.send()
            if self.coordinator.is_over:
                return self.given
            if self.rng.random() < 0.7 and self.take():
                continue
            if self.events:
                self.now, _, (what, *more) = heapq.heappop(self.events)
                getattr(self, what)(*more)
            else:
                self.now += 1
        raise AssertionError("it hangs")


def expected(world):
    """Shards take turns; one that is over is passed over."""
    rows = range(max(world.sizes))
    return [world.number(i, p) for p in rows for i in range(world.shards) if p < world.sizes[i]]


def simulate(seed):
    """One epoch: the counts of what happened. AssertionError: elements are lost, doubled or out of order."""
    world = World(seed)
    given, wanted = world.run(), expected(world)
    if sorted(given) != sorted(wanted):
        doubled = [n for n, k in collections.Counter(given).items() if k > 1]
        raise AssertionError(f"lost {sorted(set(wanted) - set(given))}, doubled {doubled}")
    if world.plan.order == "round_robin" and given != wanted:
        raise AssertionError(f"the order is {given}, not {wanted}")
    last = {}
    for n in given:
        if n < last.get(n % world.shards, -1):
            raise AssertionError(f"shard {n % world.shards} is out of order: {given}")
        last[n % world.shards] = n
    world.happened["elements"] += len(given)
    world.happened["asked again"] += world.coordinator.asked_again
    world.happened["duplicates"] += world.coordinator.duplicates
    return world.happened


def simulations(seeds):
    total = collections.Counter()
    for seed in seeds:
        try:
            total += simulate(seed)
            c.count += 1
        except Exception as e:
            c.fail(f"seed {seed}: {type(e).__name__}: {e}")
    print(", ".join(f"{total[k]:,} {k}" for k in sorted(total)))
    return total


def plan(**changed):
    return Plan(1, 2, 3, 4, "round_robin")._replace(**changed)


def refused():
    """States of other runs, and what can't be a state."""
    state = Coordinator(plan(), 2).state()
    c.same(Coordinator(plan(), 5, state).state(), state, "the window may change")
    for name, value in (("fingerprint", 9), ("seed", 9), ("epoch", 9), ("shards", 9), ("order", "first_come")):
        c.raises(InvalidArgumentError, lambda: Coordinator(plan(**{name: value}), 2, state), name, str(value))
    for wrong in (b"", b"no", state[:-1], state + b"x", b"x" + state[1:]):
        c.raises(InvalidArgumentError, lambda: Coordinator(plan(), 2, wrong), "isn't a state")
    c.raises(InvalidArgumentError, lambda: Coordinator(plan(order="sorted"), 2), "sorted", "round_robin")
    c.raises(InvalidArgumentError, lambda: Coordinator(plan(), 0), "positive")


def blamed():
    """An element at which every worker dies is named, instead of starting workers for ever."""
    it = Coordinator(plan(shards=1), 1)
    for i in range(DEATHS_MOST + 1):
        it.join(i)
        c.same(len(it.requests()), 1)
        it.leave(i)
    it.join("last")
    c.raises(UnavailableError, it.requests, "element 0 of shard 0", "died")


def balanced():
    """A worker that joins gets its share, one that retires gives up its own once it has answered."""
    it = Coordinator(plan(), 1)
    it.join("a")
    first = it.requests()
    c.same({r.worker for r in first}, {"a"})
    it.join("b")
    for r in first:
        it.answer(r.ticket, [(ELEMENT, r.shard, b"1")])
    c.same([it.take() for _ in range(4)], [(ELEMENT, i) for i in range(4)])
    second = it.requests()
    c.same(sorted(r.worker for r in second), ["a", "a", "b", "b"])
    c.same({w for w, _ in it.released()}, {"a"})
    it.retire("a")
    c.true(not it.is_idle("a"), "it still owes answers")
    for r in second:
        it.answer(r.ticket, [(END, 1, b"")])
    c.true(it.is_over, "no shard has a second element")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    total = simulations(range(options.seeds) if options.seed is None else [options.seed])
    if options.seed is None:
        for what in ("kill", "stall", "lose", "join", "retire", "crash", "given up", "duplicates", "asked again"):
            c.true(total[what] > 0, f"{what} never happened")
        refused()
        blamed()
        balanced()
    c.done()


main()
