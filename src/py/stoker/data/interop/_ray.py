# SPDX-License-Identifier: Apache-2.0
"""Dataset.distribute: workers on a Ray cluster make a pipeline's elements; the trainer gets each once per epoch.

`_coordinator.py` decides who makes what; this file sends its requests to actors, and tells it of answers and deaths. A
request is one call of an actor. Elements travel as NumPy arrays through Ray's object store, so on the same node they are
read-only views of it, without a copy. Actors belong to the process that made them, and end with it.

Limits. One pass at a time for each `Distributed`. The head node must live, or its state be kept by Ray; without it, resume
from a state on a new cluster."""

import itertools
import math
import time
import warnings

from ..._version import __version__
from ..core import _limits
from ..core._dataset import method
from ..core._explain import Stats
from ..core._spec import DatasetSpec
from ..errors import FailedPreconditionError, InvalidArgumentError, UnavailableError
from . import _adapters, _maker
from ._coordinator import ERROR, ORDERS, Coordinator, Plan, plan_of
from ._packages import need

_SLICE_S = 0.5  # how often the trainer looks at workers whose answers aren't needed yet
_START_S = 60  # after so long without any worker, a warning says what the cluster has
_STARTS_MOST = 10  # workers in a row that may die while they start
_LOST_MOST = 20  # answers lost in a row before it is an error
_ENOUGH = 0.05  # of the trainer's time: less waiting isn't worth a worker
_ALL = 0.9  # of it: too little is left to say how fast the trainer could be
_BUSY = 0.7  # of the workers' CPU cores: above it they can't do more


class RayCluster:
    """What `sd.ray(...)` returns."""

    def __init__(self, **settings):
        self.__dict__.update(settings)

    def __repr__(self):
        return f"sd.ray({', '.join(f'{k}={v!r}' for k, v in self.__dict__.items())})"


def ray(workers, shards=None, order="round_robin", in_flight=4, num_cpus=1, timeout=None, resources=None):
    """For Dataset.distribute: workers on the Ray cluster that this process is connected to (ray.init).

    workers: actors, each with num_cpus CPU cores and `resources` of Ray ({"cpu_node": 1}). shards: parts of an epoch that
    can be made at the same time, so the most workers that can be used, also later; default: workers. A state needs the
    same number. order: "round_robin" keeps the pipeline's own order; "first_come" gives what is ready first. in_flight:
    elements of a shard that are requested or waiting; half of them are one call, so raise it for small batches. timeout:
    seconds for one element, after which its worker is replaced; default: any time.
    """
    shards = workers if shards is None else shards
    for name, n in (("workers", workers), ("shards", shards), ("in_flight", in_flight)):
        if not isinstance(n, int) or n < 1:
            raise InvalidArgumentError(f"ray: {name} is a positive integer, not {n!r}")
    if order not in ORDERS:
        raise InvalidArgumentError(f"ray: order is one of {', '.join(ORDERS)}, not {order!r}")
    if workers > shards:
        raise InvalidArgumentError(f"ray: {workers} workers can't share {shards} shards; shards is at least the number of workers")
    return RayCluster(
        workers=workers, shards=shards, order=order, in_flight=in_flight, num_cpus=num_cpus, timeout=timeout, resources=resources
    )


class _Worker:
    """The actor. It keeps iterators of one epoch."""

    def __init__(self, dataset, shards, cpus):
        _limits.set_limits(cpus=max(1, round(cpus)))
        self._dataset, self._shards, self._key, self._maker = dataset, shards, None, None

    def hello(self):
        """What must be the same everywhere: version, fingerprint."""
        return __version__, int(self._dataset.fingerprint())

    def make(self, seed, epoch, shard, position, count, base, state):
        if self._key != (seed, epoch):
            self._key = seed, epoch
            self._maker = _maker.Maker(
                lambda shard, state: _maker.shard_of(self._dataset, seed, epoch, self._shards, shard)._plain(state or None)
            )
        return self._maker.make(shard, position, count, base, state)

    def release(self, shard):
        if self._maker:
            self._maker.release(shard)

    def stages(self):
        return self._maker.stages() if self._maker else []


class _Pool:
    """The actors: as many as wanted, replaced when they die."""

    def __init__(self, ray, dataset, how):
        self.ray, self.how, self.wanted = ray, how, how.workers
        self._actor = ray.remote(_Worker).options(
            num_cpus=how.num_cpus, resources=how.resources, max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD"
        )
        self._dataset = ray.put(dataset)
        self._hello = (__version__, int(dataset.fingerprint()))
        self._names, self._since, self._failed_starts = itertools.count(1), None, 0  # since when there is no worker
        self.ready, self.starting, self.retiring, self.deaths = {}, {}, set(), 0  # name -> actor, (actor, its greeting); names

    def fill(self):
        """Starts workers until there are as many as wanted; those that leave don't count."""
        for _ in range(self.wanted - len(self.starting) - len(set(self.ready) - self.retiring)):
            actor = self._actor.remote(self._dataset, self.how.shards, self.how.num_cpus)
            self.starting[next(self._names)] = actor, actor.hello.remote()

    def started(self):
        """Names of workers that became ready. FailedPreconditionError: another stoker there."""
        refs = {greeting: name for name, (_, greeting) in self.starting.items()}
        done = self.ray.wait(list(refs), num_returns=len(refs), timeout=0)[0] if refs else []
        out = []
        for ref in done:
            actor, _ = self.starting.pop(refs[ref])
            try:
                hello = self.ray.get(ref)
            except self.ray.exceptions.RayActorError as e:
                self.deaths, self._failed_starts = self.deaths + 1, self._failed_starts + 1
                if self._failed_starts > _STARTS_MOST:
                    raise UnavailableError(f"{self._failed_starts} workers in a row died while they started: {e}") from e
                continue
            self._failed_starts = 0
            if hello != self._hello:
                raise FailedPreconditionError(
                    f"a worker has stoker {hello[0]}, and this process {self._hello[0]}: install the same version on all nodes"
                    if hello[0] != self._hello[0]
                    else "a worker rebuilds another pipeline from the pickle: its fingerprint differs"
                )
            self.ready[refs[ref]] = actor
            out.append(refs[ref])
        self._warn_if_none()
        return out

    def _warn_if_none(self):
        """Waiting may be right: the cluster may be about to grow."""
        now = time.monotonic()
        self._since = None if self.ready else now if self._since is None else self._since
        if self._since is not None and now - self._since > _START_S:
            self._since = float("inf")  # once
            free = self.ray.available_resources().get("CPU", 0)
            warnings.warn(
                f"distribute: no worker started within {_START_S} s; the cluster has {free:g} free CPU cores, and a worker takes "
                f"{self.how.num_cpus:g}{f' and {self.how.resources}' if self.how.resources else ''}",
                RuntimeWarning,
                stacklevel=2,
            )

    def remove(self, name):
        """A worker is dead, or no longer wanted."""
        actor = self.ready.pop(name, None)
        self.retiring.discard(name)
        if actor is not None:
            self.ray.kill(actor)

    def close(self):
        for actor in [a for a, _ in self.starting.values()] + list(self.ready.values()):
            self.ray.kill(actor)
        self.starting, self.ready = {}, {}


class DistributedIterator:
    """Elements of one epoch. state() and Distributed.iterator(state=) resume exactly."""

    def __init__(self, pool, coordinator):
        self._pool, self._coordinator, self._ray = pool, coordinator, pool.ray
        self._calls, self._heard = {}, {}  # ref -> (ticket, worker, when); worker -> when it answered last
        self._lost, self._looked = 0, time.monotonic()
        self._start, self.startup_ns, self.production_wait_ns, self.transfer_ns, self.given = time.monotonic_ns(), None, 0, 0, 0
        for name in pool.ready:
            coordinator.join(name)

    def __iter__(self):
        return self

    def state(self):
        """What was given, as bytes: about 80 for each shard."""
        return self._coordinator.state()

    def __next__(self):
        if self._pool is None:
            raise FailedPreconditionError("a newer iterator of this distributed dataset was started, or it was closed")
        while True:
            got = self._coordinator.take()
            self._send()
            if got is not None:
                break
            if self._coordinator.is_over:
                raise StopIteration
            self._receive()
        if time.monotonic() - self._looked > _SLICE_S:
            self._look()
        if self.startup_ns is None:  # until the first element; times count from here
            now = time.monotonic_ns()
            self.startup_ns, self._start, self.production_wait_ns, self.transfer_ns = now - self._start, now, 0, 0
        self.given += 1
        kind, value = got
        if kind == ERROR:
            raise value
        return value

    def _send(self):
        pool, plan = self._pool, self._coordinator.plan
        for r in self._coordinator.requests():
            ref = pool.ready[r.worker].make.remote(plan.seed, plan.epoch, *r[2:])
            self._calls[ref] = r.ticket, r.worker, time.monotonic()
        for worker, shard in self._coordinator.released():
            if worker in pool.ready:
                pool.ready[worker].release.remote(shard)

    def _receive(self):
        """Waits for an answer that is needed."""
        needed = set(self._coordinator.next_tickets())
        refs = [ref for ref, (ticket, _, _) in self._calls.items() if ticket in needed]
        start = time.monotonic_ns()
        if refs:
            done, _ = self._ray.wait(refs, num_returns=1, timeout=_SLICE_S, fetch_local=False)
        else:
            done, greetings = [], [greeting for _, greeting in self._pool.starting.values()]
            if greetings:
                self._ray.wait(greetings, num_returns=1, timeout=_SLICE_S)
        self.production_wait_ns += time.monotonic_ns() - start
        for ref in done:
            self._take_in(ref)
        if not done:
            self._look()

    def _look(self):
        """At everything that isn't needed yet: new workers, dead and slow ones."""
        self._looked = time.monotonic()
        pool = self._pool
        if self._calls:
            for ref in self._ray.wait(list(self._calls), num_returns=len(self._calls), timeout=0, fetch_local=False)[0]:
                self._take_in(ref)
        if pool.how.timeout is not None:
            self._give_up_slow()
        for name in list(pool.retiring):
            self._coordinator.retire(name)
            if self._coordinator.is_idle(name):
                self._coordinator.leave(name)
                pool.remove(name)
        pool.fill()
        for name in pool.started():
            self._coordinator.join(name)

    def _give_up_slow(self):
        """Replaces workers that owe an answer, and have given none for too long: calls are answered in turn."""
        how, since = self._pool.how, {}
        for _, worker, when in self._calls.values():
            since[worker] = min(when, since.get(worker, when))
        for worker, when in since.items():
            if self._looked - max(when, self._heard.get(worker, when)) > how.timeout * max(1, how.in_flight // 2):
                self._gone(worker)

    def _take_in(self, ref):
        """An answer, or what came instead of it."""
        if ref not in self._calls:
            return
        ticket, worker, _ = self._calls.pop(ref)
        exceptions, start = self._ray.exceptions, time.monotonic_ns()
        try:
            answers = self._ray.get(ref)
        except exceptions.RayTaskError as e:  # an iterator couldn't be made
            self._coordinator.failed(ticket)
            raise (e.cause or e) from None
        except exceptions.RayActorError:
            self._gone(worker)
        except exceptions.RayError as e:
            self._lost += 1
            if self._lost > _LOST_MOST:
                raise UnavailableError(f"{self._lost} answers in a row were lost: {e}") from e
            self._coordinator.failed(ticket)
        else:
            self._lost, self._heard[worker] = 0, time.monotonic()
            self._coordinator.answer(ticket, answers)
        self.transfer_ns += time.monotonic_ns() - start

    def _gone(self, worker):
        """A worker died or is given up; another one starts."""
        if worker in self._pool.ready:
            self._pool.deaths += 1
            self._pool.remove(worker)
        self._coordinator.leave(worker)
        self._calls = {ref: call for ref, call in self._calls.items() if call[1] != worker}
        self._pool.fill()

    def stats(self):
        """DistributedStats so far."""
        parts, ray, pool = [], self._ray, self._pool
        for actor in list(pool.ready.values()) if pool else ():
            try:
                parts += ray.get(actor.stages.remote())
            except ray.exceptions.RayActorError:
                continue
        return DistributedStats(self, *_maker.summed(parts))

    def _close(self):
        """Another pass begins: answers to this one are dropped."""
        self._calls, self._pool = {}, None


class DistributedStats(Stats):
    """Stats over all workers that live, and the trainer's: given (elements), production_wait_ns and transfer_ns (its time
    blocked until an element is made, and until it is here; Ray Train's words), elapsed_ns since the first element, startup_ns
    before it, workers, deaths, asked_again (requests repeated after a death or loss). advice(): would more workers help?"""

    def __init__(self, it, stages, memory):
        super().__init__(stages, memory)
        self.elapsed_ns = time.monotonic_ns() - it._start
        self.given, self.production_wait_ns, self.transfer_ns = it.given, it.production_wait_ns, it.transfer_ns
        self.startup_ns = it.startup_ns or 0
        self.asked_again = it._coordinator.asked_again
        pool = it._pool
        self.workers, self.deaths = (len(pool.ready), pool.deaths) if pool else (0, 0)
        self._cpus = pool.how.num_cpus if pool else 1

    def advice(self):
        """A sentence: would more workers help?"""
        wait, blocked = self.production_wait_ns / self.elapsed_ns, self.transfer_ns / self.elapsed_ns
        if self.given < 10 or not self.workers:
            return "the run is too short to say whether more workers would help"
        if wait < _ENOUGH:
            end = f"; transfer takes {blocked:.0%}" if blocked > _ENOUGH else ""
            return f"more workers wouldn't help: production wait is {wait:.0%} of the trainer's time{end}"
        busy = sum(s["busy_ns"] for s in self.stages) / (self.elapsed_ns * self.workers * self._cpus)
        start = f"production wait is {wait:.0%} of the trainer's time, and the workers' CPU cores are {busy:.0%} busy"
        if busy < _BUSY:
            return f"more workers may not help: {start}; storage, a serial stage, in_flight, or other programs there limit them"
        if wait > _ALL:
            return f"more workers would help: {start}; the trainer does little else than wait"
        return f"more workers would help: {start}; about {math.ceil(self.workers / (1 - wait))} workers keep up with this trainer"

    def __repr__(self):
        ms = f"production wait {self.production_wait_ns / 1e6:.1f} ms, transfer {self.transfer_ns / 1e6:.1f} ms"
        head = f"{self.workers} workers, {self.given:,} elements given in {self.elapsed_ns / 1e9:.2f} s after a start of {self.startup_ns / 1e9:.1f} s; {ms}"
        return "\n".join([head, f"{self.deaths} deaths, {self.asked_again} requests repeated", self.advice(), super().__repr__()])


class Distributed:
    """A dataset whose elements are made by workers: an iterable with the dataset's length. Each loop is the next epoch."""

    def __init__(self, dataset, how):
        self.dataset, self.how = dataset, how
        self.element_spec = dataset.element_spec
        self._ray = need("ray")
        if not self._ray.is_initialized():
            raise FailedPreconditionError(
                "distribute: this process isn't connected to a Ray cluster; call ray.init(address=...) first, or ray.init() "
                "for one on this machine"
            )
        self._seed, self._epoch = _maker.seed_of(dataset), dataset._first_epoch
        self._fingerprint, self._pool, self._last = int(dataset.fingerprint()), None, None

    def __len__(self):
        return len(self.dataset)

    def __iter__(self):
        return self.iterator()

    def iterator(self, state=None):
        """An iterator over the next epoch; with another iterator's state(), the rest of its epoch. Ends the one before."""
        if state is not None:
            known = plan_of(state)
            self._seed, self._epoch = known.seed, known.epoch
        plan = Plan(self._fingerprint, self._seed, self._epoch, self.how.shards, self.how.order)
        coordinator = Coordinator(plan, self.how.in_flight, state)
        self._epoch += 1
        if self._last is not None:
            self._last._close()
        if self._pool is None:
            self._pool = _Pool(self._ray, self.dataset, self.how)
        self._pool.fill()
        self._last = DistributedIterator(self._pool, coordinator)
        self._last._look()
        return self._last

    def set_epoch(self, epoch):
        """The epoch of the next loop: order and random values follow from it."""
        self._epoch = int(epoch)

    def resize(self, workers):
        """Workers from now on: they join when they have started, and leave when they have answered."""
        if not isinstance(workers, int) or not 1 <= workers <= self.how.shards:
            raise InvalidArgumentError(f"resize: workers is 1 to {self.how.shards}, the number of shards, not {workers!r}")
        self.how.workers = workers
        if self._pool is not None:
            self._pool.wanted = workers
            staying = [n for n in self._pool.ready if n not in self._pool.retiring]
            self._pool.retiring.update(staying[workers:])
            self._pool.fill()

    def stats(self):
        """DistributedStats of the last iterator, over all workers."""
        return self._last.stats() if self._last is not None else Stats([], {})

    def close(self):
        """Ends the workers."""
        if self._last is not None:
            self._last._close()
        if self._pool is not None:
            self._pool.close()
            self._pool = None


@method
def distribute(self, engine):
    """The elements, made by workers on other machines: `ds.distribute(sd.ray(workers=8))` returns a `Distributed`.

    Every element comes once per epoch, also if workers die, join or leave. `it.state()` is for the trainer's checkpoint:
    `iterator(state=...)` of the same pipeline continues after the last element given, with any number of workers. Elements
    are NumPy arrays; on the same node read-only views of Ray's object store.
    """
    if not isinstance(engine, RayCluster):
        raise TypeError(f"distribute takes sd.ray(workers=...), not {type(engine).__name__}")
    _adapters.refuse(self, "distribute", (DatasetSpec,))
    return Distributed(self, engine)
