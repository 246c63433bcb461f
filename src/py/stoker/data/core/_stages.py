# SPDX-License-Identifier: Apache-2.0
"""The stages of a pipeline: lists them, and determines their common order and seed."""

from . import _seeds
from ..errors import InvalidArgumentError

REMAINDERS = ("keep", "drop", "pad")  # numbered as in the engine's rows
SHARED_SEED = 0  # for a split order without a seed, like torch's DistributedSampler

# Stages that draw an order or elements at random.
_DRAWING = ("shuffle", "sample_from_datasets", "random", "list_files")


def remainder_number(remainder):
    """The engine's number of a remainder. InvalidArgumentError: unknown name."""
    if remainder not in REMAINDERS:
        raise InvalidArgumentError(
            f"shard: remainder is one of {', '.join(REMAINDERS)}, not {remainder!r}"
        )
    return REMAINDERS.index(remainder)


def stages(dataset):
    """The dataset and everything it is made of, each once, outputs before their inputs."""
    left, seen = [dataset], set()  # a list: pipelines may be deeper than Python's stack
    while left:
        ds = left.pop()
        if id(ds) not in seen:
            seen.add(id(ds))
            yield ds
            left.extend(ds._inputs)


def is_split(ds):
    n = ds._args.get("num_shards")
    return ds._kind == "shard" and isinstance(n, int) and n > 1


def _draws(ds):
    made = ds._function.made if ds._function is not None else ()
    return "seed" not in ds._args and ds._kind in _DRAWING or any(k in _DRAWING for k in made)


def shares_order(dataset):
    """Is an unseeded order split between shards? Then all must draw the same."""
    shards = [ds for ds in stages(dataset) if is_split(ds)]
    return any(_draws(ds) for s in shards for ds in stages(s))


def known_seed(dataset):
    """The seed of its iterators if the options set none; None: each draws its own."""
    seed = _seeds.get_seed()
    if seed is None and shares_order(dataset):
        seed = SHARED_SEED
    if seed is None and any("order" in ds._args for ds in stages(dataset)):  # one order, without a seed
        seed = _seeds.process_seed()
    return seed
