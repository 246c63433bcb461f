# SPDX-License-Identifier: Apache-2.0
"""Shapes of a function that chooses with a Python `if` on a value of the element.

Such a function runs as Python for each element, and one element doesn't show which lengths are always the same. It is
traced once for each way its choices can go, up to MOST of them, as AutoGraph traces both sides of an `if`. A loop over
a value runs for none, one or two of its items. Dimensions that agree in all of them are known. Only shapes come from
these traces, and each result is checked against them.
"""

import threading

from . import _spec
from ._spec import TensorSpec

MOST = 16  # traces of a function
_state = threading.local()


def is_following():
    """Is the function traced for its shapes only?"""
    return getattr(_state, "path", None) is not None


class _Path:
    """Truth values that a trace gets: those given, then True."""

    def __init__(self, given):
        self.taken, self.next = list(given), 0

    def choose(self):
        if self.next == len(self.taken):
            self.taken.append(True)
        self.next += 1
        return self.taken[self.next - 1]


def choose():
    """The truth value to go on with; None: ways aren't being followed."""
    path = getattr(_state, "path", None)
    return None if path is None or path.next >= MOST else path.choose()


def _following(given, run):
    """(run() with those choices, or None if that fails, and the choices made)"""
    before = getattr(_state, "path", None)
    _state.path = path = _Path(given)
    try:
        return run(), path.taken
    except Exception:  # this way is an error, perhaps one that no element takes
        return None, path.taken
    finally:
        _state.path = before


def specs(run):
    """What run() returns for each way; None: too many, or one of them can't be traced. Goes on after such a one, for what
    others show about a TensorArray."""
    found, given = [], []
    for _ in range(MOST):
        spec, taken = _following(given, run)
        found.append(spec)
        while taken and not taken[-1]:
            taken.pop()
        if not taken:
            return None if None in found else found
        given = [*taken[:-1], False]
    return None


def refined(sample, found):
    """A sample's spec, with the lengths on which all others agree."""
    leaves = [_spec.flatten(s) for s in found]
    own = _spec.flatten(sample)
    if any(len(other) != len(own) for other in leaves):
        return sample
    made = iter([_agreed(leaf, [other[i] for other in leaves]) for i, leaf in enumerate(own)])
    return _spec.map_structure(lambda _: next(made), sample)


def _agreed(leaf, others):
    if type(leaf) is not TensorSpec or any(type(o) is not TensorSpec or o.shape is None or o.dtype != leaf.dtype for o in others):
        return leaf
    if any(len(o.shape) != len(leaf.shape) for o in others):
        return leaf
    sets = [set(lengths) for lengths in zip(*(o.shape for o in others))]
    return TensorSpec(tuple(s.pop() if len(s) == 1 else None for s in sets), leaf.dtype)
