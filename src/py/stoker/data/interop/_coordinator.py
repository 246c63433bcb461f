# SPDX-License-Identifier: Apache-2.0
"""Who makes which element of an epoch, and which one comes next: the part of `distribute` that knows no Ray.

An epoch is split into shards: shard i of n is every n-th element from i on. A request asks a worker for elements at some
positions of one shard; the answer depends on nothing else, so asking again is always right. What a worker that died owes is
asked again elsewhere, and a second answer is dropped. An element counts as given when `take` returns it; `state` then has
the number given of each shard, and the iterator's state after it. tests/py/test_coordinator.py simulates workers and a network.

Limits. A shard belongs to one worker at a time. At most `window` elements of a shard are requested or waiting, so memory is
bounded by shards x window elements; half of them are one request, to share the cost of a call. A worker that
never answers must be reported as gone."""

import collections
import struct

from ..errors import InvalidArgumentError, UnavailableError

ORDERS = ("round_robin", "first_come")
ELEMENT, ERROR, END = range(3)  # what a worker answers: a value, an exception in its place, the position of the end
DEATHS_MOST = 20  # workers that may die at one element, before it is blamed
_HEAD = "<8sQQQIII"  # magic, fingerprint, seed, epoch, shards, order, whose turn
_SHARD = "<QII"  # given, has it ended, bytes of its iterator's state
_MAGIC = b"stkdist1"

Request = collections.namedtuple("Request", "ticket worker shard position count base state")


class Plan(collections.namedtuple("Plan", "fingerprint seed epoch shards order")):
    """What determines the elements of an epoch, and what a state must agree with."""


class _Shard:
    """Positions below `given` were given; those in `ready` came and wait; `asked` is the next one to request."""

    def __init__(self, number, given=0, state=b"", is_over=False):
        self.number, self.given, self.asked = number, given, given
        self.state = state  # of the iterator after the elements given
        self.ready, self.tickets = {}, {}  # position -> (kind, value, state); ticket -> positions, a range
        self.end = given if is_over else None  # the position after the last one
        self.owner, self.is_moving, self.deaths = None, False, 0

    @property
    def is_done(self):
        return self.end is not None and self.given >= self.end

    def wants(self, window):
        """How many positions to request now. Fewer than half the window only if they are needed, or fill a hole."""
        if self.owner is None or self.is_moving:
            return 0
        pending, whole = self.pending(), max(1, window // 2)
        most = self.given + window if self.end is None else min(self.given + window, self.end)
        at = self.asked
        while at < min(most, self.asked + whole) and at not in self.ready and at not in pending:
            at += 1
        is_part = at == self.given + window and at - self.asked < whole and self.asked > self.given
        return 0 if is_part else at - self.asked

    def pending(self):
        return {p for positions in self.tickets.values() for p in positions}

    def look_for_next(self):
        """Sets `asked` to the first position that neither came nor is requested: answers come in any order."""
        pending = self.pending()
        self.asked = self.given
        while self.asked in self.ready or self.asked in pending:
            self.asked += 1

    def base(self):
        """(position, iterator's state there): the furthest one up to which everything has come."""
        at, state = self.given, self.state
        while at in self.ready:
            state, at = self.ready[at][2], at + 1
        return at, state


class Coordinator:
    """One epoch. plan: a Plan; window: elements of a shard that are requested or waiting at most; state: of an earlier run."""

    def __init__(self, plan, window, state=None):
        if plan.order not in ORDERS:
            raise InvalidArgumentError(f"order is one of {', '.join(ORDERS)}, not {plan.order!r}")
        if plan.shards < 1 or window < 1:
            raise InvalidArgumentError(f"shards and in_flight are positive, not {plan.shards} and {window}")
        self.plan, self.window, self._turn = plan, window, 0
        self._shards = [_Shard(i) for i in range(plan.shards)]
        self._tickets, self._number = {}, 0  # ticket -> shard
        self._workers = {}  # name -> shards that it has, in the order of joining
        self._retiring, self._released = set(), []
        self._arrived = collections.deque()  # shards whose next element is ready, for first_come
        self.duplicates = self.asked_again = 0
        if state is not None:
            self._resume(state)

    # Workers

    def join(self, worker):
        """A worker is ready to answer. Shards of the busiest workers move to it."""
        self._workers[worker] = set()
        self._balance()

    def leave(self, worker):
        """A worker is gone, and so are the answers that it owes."""
        mine = [self._shards[shard] for shard in self._workers.pop(worker, ())]
        oldest = min((t for s in mine for t in s.tickets), default=None)
        for s in mine:
            s.deaths += oldest in s.tickets  # requests are answered in turn: it was making this one
            for ticket in list(s.tickets):
                self._forget(ticket)
            s.owner, s.is_moving = None, False
        self._retiring.discard(worker)
        self._balance()

    def retire(self, worker):
        """A worker shall leave: it answers what it owes, and gets nothing more. See `is_idle`."""
        if worker in self._workers:
            self._retiring.add(worker)
            self._balance()

    def is_idle(self, worker):
        """Does it hold no shard that goes on?"""
        return all(self._shards[i].is_done for i in self._workers.get(worker, ()))

    def released(self):
        """(worker, shard) pairs that moved away since the last call: the worker may drop its iterator."""
        out, self._released = self._released, []
        return out

    def _eligible(self):
        return [w for w in self._workers if w not in self._retiring]

    def _give(self, s, worker):
        if s.owner is not None:
            self._workers[s.owner].discard(s.number)
            self._released.append((s.owner, s.number))
        s.owner, s.is_moving = worker, False
        self._workers[worker].add(s.number)

    def _balance(self):
        """Gives every shard a worker, and moves shards until no worker has two more than another."""
        free = self._eligible()
        if not free:
            return
        load = {w: sum(not (self._shards[i].is_done or self._shards[i].is_moving) for i in self._workers[w]) for w in self._workers}
        for s in self._shards:
            if s.owner is None and not s.is_done:
                least = min(free, key=load.__getitem__)
                self._give(s, least)
                load[least] += 1
        for s in self._shards:
            if s.is_done or s.owner is None or s.is_moving:
                continue
            least = min(free, key=load.__getitem__)
            if s.owner in self._retiring or load[s.owner] > load[least] + 1:
                load[s.owner] -= 1
                load[least] += 1
                s.is_moving = True  # once its answers have come
        for s in self._shards:
            self._settle(s)

    def _settle(self, s):
        """A shard that moves, and for which nothing is requested, gets its new worker."""
        if s.is_moving and not s.tickets:
            free = self._eligible()
            if free:
                self._give(s, min(free, key=lambda w: len(self._workers[w])))

    # Requests and answers

    def requests(self):
        """Requests to send now, the elements needed first before the others."""
        out = []
        while True:
            wanted = [(s, n) for s in self._shards for n in (s.wants(self.window),) if n]
            if not wanted:
                return out
            out.extend(self._ask(s, n) for s, n in sorted(wanted, key=self._urgency))

    def _urgency(self, wanted):
        s = wanted[0]
        return s.asked, (s.number - self._turn) % len(self._shards)

    def _ask(self, s, count):
        if s.deaths > DEATHS_MOST:
            raise UnavailableError(
                f"{s.deaths} workers died while making element {s.given} of shard {s.number} of {self.plan.shards}; their "
                "logs say why (out of memory, or a crash in a function of the pipeline)"
            )
        base, state = s.base()
        self._number += 1
        s.tickets[self._number] = range(s.asked, s.asked + count)
        self._tickets[self._number] = s
        out = Request(self._number, s.owner, s.number, s.asked, count, base, state)
        s.look_for_next()
        return out

    def _forget(self, ticket):
        """A request won't be answered: its positions are asked again."""
        s = self._tickets.pop(ticket)
        del s.tickets[ticket]
        self.asked_again += 1
        s.look_for_next()

    def failed(self, ticket):
        """The call, or its result, was lost, though the worker lives."""
        s = self._tickets.get(ticket)
        if s is not None:
            self._forget(ticket)
            self._settle(s)

    def answer(self, ticket, answers):
        """A worker's answer: (kind, value, iterator's state after it) of each position; the last may be END, with the position
        of the end as its value. A second answer, or one of a worker that is gone, is dropped."""
        s = self._tickets.pop(ticket, None)
        if s is None:
            self.duplicates += 1
            return
        for position, (kind, value, state) in zip(s.tickets.pop(ticket), answers):
            if kind == END:
                s.end = value if s.end is None else min(s.end, value)
                continue
            s.deaths = 0
            s.ready[position] = kind, value, state
            if position == s.given:
                self._arrived.append(s)
        s.look_for_next()
        self._settle(s)

    # What comes next

    def take(self):
        """(kind, value) of the next element, which counts as given; None: it hasn't come yet, or the epoch is over."""
        s = self._next_shard()
        if s is None or s.given not in s.ready:
            return None
        kind, value, s.state = s.ready.pop(s.given)
        s.given += 1
        if s.given in s.ready:
            self._arrived.append(s)
        self._turn = (s.number + 1) % len(self._shards)
        return kind, value

    def _next_shard(self):
        if self.plan.order == "first_come":
            return self._arrived.popleft() if self._arrived else None
        for k in range(len(self._shards)):
            s = self._shards[(self._turn + k) % len(self._shards)]
            if not s.is_done:
                return s
        return None

    def next_tickets(self):
        """Tickets of the requests whose answers `take` waits for, if it gave None."""
        if self.plan.order == "first_come":
            return list(self._tickets)
        s = self._next_shard()
        return [] if s is None else [t for t, positions in s.tickets.items() if s.given in positions]

    @property
    def is_over(self):
        return all(s.is_done for s in self._shards)

    @property
    def waiting(self):
        """Elements that came and were not given yet."""
        return sum(len(s.ready) for s in self._shards)

    # States

    def state(self):
        """What was given, as bytes: `Coordinator(plan, window, state)` gives the rest."""
        p = self.plan
        parts = [struct.pack(_HEAD, _MAGIC, p.fingerprint, p.seed, p.epoch, p.shards, ORDERS.index(p.order), self._turn)]
        for s in self._shards:
            parts += [struct.pack(_SHARD, s.given, s.is_done, len(s.state)), s.state]
        return b"".join(parts)

    def _resume(self, state):
        known, self._turn, shards = _unpacked(state)
        for name, have, want in zip(Plan._fields, known, self.plan):
            if have != want:
                raise InvalidArgumentError(f"this state is of another run: its {name} is {have}, not {want}")
        self._shards = [_Shard(i, *parts) for i, parts in enumerate(shards)]


def _unpacked(state):
    """(plan, whose turn, [(given, iterator's state, is over)]) of a state. InvalidArgumentError: it isn't one."""
    wrong = InvalidArgumentError(f"this isn't a state of a distributed iterator ({len(state)} bytes)")
    at = struct.calcsize(_HEAD)
    if len(state) < at or not state.startswith(_MAGIC):
        raise wrong
    _, fingerprint, seed, epoch, n, order, turn = struct.unpack_from(_HEAD, state)
    shards = []
    for _ in range(n):
        if len(state) < at + struct.calcsize(_SHARD):
            raise wrong
        given, is_over, size = struct.unpack_from(_SHARD, state, at)
        at += struct.calcsize(_SHARD)
        shards.append((given, state[at : at + size], bool(is_over)))
        at += size
    if at != len(state) or order >= len(ORDERS) or turn >= max(n, 1):
        raise wrong
    return Plan(fingerprint, seed, epoch, n, ORDERS[order]), turn, shards


def plan_of(state):
    """The Plan of a state."""
    return _unpacked(state)[0]
