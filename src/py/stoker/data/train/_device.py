# SPDX-License-Identifier: Apache-2.0
"""to_device: elements on a CUDA device, copied ahead of time; without one, in CPU memory."""

import atexit
import contextlib
import os
import warnings
import weakref

import numpy as np

from ..core import _explain, _spec
from ..core._iterator import template
from ..core._options import Options
from .. import _engine
from . import _normalize
from ..errors import InvalidArgumentError, OpError, ResourceExhaustedError

_live = weakref.WeakSet()
KEEP_SHARE = 0.9  # of a device's unused memory that kept elements may take
HOST_SHARE = 0.5  # of CPU memory


@atexit.register
def _close_all():
    for s in list(_live):
        with contextlib.suppress(RuntimeError):  # a daemon thread is inside next()
            s.close()


class _Stager(_engine.Stager):
    """An iterator whose numbers are DeviceArrays; it ends with the interpreter."""


def number_of(device):
    """The number of a CUDA device, None for the CPU. InvalidArgumentError: neither."""
    name = str(device)
    if name == "cpu" or name.startswith("cpu:"):
        return None
    if name == "cuda" or name == "gpu":
        return 0
    kind, colon, number = name.partition(":")
    if kind in ("cuda", "gpu", "GPU", "/gpu", "/GPU") and number.isdigit():
        return int(number)
    raise InvalidArgumentError(f"a device is 'cpu', 'cuda' or 'cuda:N', not {name!r}")


def _replacement(dataset, number, by_leaf):
    """The replacement for failed elements, on the device."""
    policy = dataset._options.on_error

    def leaf(spec, v):
        if hasattr(spec, "parts") or isinstance(v, (bytes, str)):
            return v
        return np.asarray(v, spec.dtype)

    specs = _spec.flatten(dataset.element_spec)
    values = _spec.flatten(policy[1])
    if len(values) == len(specs):
        made = iter([leaf(s, v) for s, v in zip(specs, values)])
        one = type(dataset).from_tensors(_spec.map_structure(lambda _: next(made), policy[1]))
        shape = _spec.map_structure(lambda _: 0, one.element_spec)
    if len(values) != len(specs) or shape != _spec.map_structure(lambda _: 0, dataset.element_spec):
        raise InvalidArgumentError(
            f"on_error=('replace', element): on a device the element must match those of the dataset: "
            f"{dataset.element_spec}"
        )
    for i, rule in by_leaf.items():
        rule.check("the replacement", _spec.flatten(one.element_spec)[i])
    return next(stager(one.with_options(Options()), number, 1, by_leaf))


def stager(dataset, number, depth, by_leaf):
    """An iterator over DeviceArrays; by_leaf: what is normalized while staging (_normalize.rules)."""
    if dataset._engine is None:
        raise TypeError("a dataset that depends on a function's argument cannot be staged")
    options = dataset._run_options(None)
    if "replacement" in options:
        options["replacement"] = _replacement(dataset, number, by_leaf)
    s = _Stager(
        dataset._engine,
        (dataset, dataset._keep),
        template(dataset.element_spec, dataset._keep),
        options,
        number,
        depth,
        _normalize.tables(dataset.element_spec, by_leaf),
    )
    _live.add(s)
    return s


def _bytes_of(element):
    return sum(getattr(v, "nbytes", 0) for v in _spec.flatten(element))


def _unused_bytes(number):
    if number is not None:
        return KEEP_SHARE * _engine.device_memory(number)[0]
    try:
        return HOST_SHARE * os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return float("inf")


def _ahead(dataset, depth):
    """dataset.prefetch(depth), without changing the draws of random operations before it."""
    args = {"buffer_size": depth, "keeps_paths": 1}
    out = dataset._make("prefetch", [dataset], args, dataset.element_spec)
    out._epochs = dataset._epochs
    return out


class OnDevice:
    """A dataset's elements on a device: an iterable with the dataset's length.

    Each number is a DeviceArray (shape, dtype, `__dlpack__`, `__cuda_array_interface__`, `numpy()`).
    Without such a device it is a NumPy array. `device` is "cuda:0" or "cpu".
    Random operations draw the same values on both.
    """

    def __init__(self, dataset, device, depth=2, keep=False, normalize=None):
        self.dataset, self.depth, self.keep = dataset, depth, keep
        self._made_with = (dataset, device, depth, keep, normalize)
        self._rules = _normalize.rules(normalize, dataset.element_spec)
        self._number, self._kept, self._last = number_of(device), None, None
        if not isinstance(depth, int) or isinstance(depth, bool):
            raise TypeError(f"depth is an integer, not {type(depth).__name__}")
        if not 1 <= depth <= 64:
            raise InvalidArgumentError(f"depth is 1 to 64, not {depth}")
        if self._number is not None:
            try:
                n = _engine.devices()
                if self._number >= n:
                    raise InvalidArgumentError(f"no device {device}: found {n}")
            except OpError as e:
                if isinstance(e, InvalidArgumentError) and "no device" in str(e):
                    raise
                warnings.warn(
                    f"to_device({str(device)!r}): no GPU is usable, so elements stay in CPU memory: "
                    f"{e}",
                    RuntimeWarning,
                    stacklevel=4,  # the user's line, above the wrapper of _named.py
                )
                self._number = None
        self.device = "cpu" if self._number is None else f"cuda:{self._number}"
        if self._number is None:
            self._source = _ahead(_normalize.on_host(dataset, self._rules), depth)
        else:
            self._source = _normalize.before_staging(dataset, self._rules)

    def __reduce__(self):
        return OnDevice, self._made_with

    def __getattr__(self, name):
        """Wraps a Dataset method that returns a dataset: applied on the CPU, before the copy."""
        own = None if name.startswith("_") else getattr(type(self.__dict__.get("dataset")), name, None)
        if not callable(own):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}; its dataset has Dataset's")
        _, device, depth, keep, normalize = self._made_with
        if normalize is not None:
            raise AttributeError(f"{name} after to_device(normalize=): call {name} before to_device")

        def applied(*args, **kwargs):
            out = own(self.dataset, *args, **kwargs)
            return OnDevice(out, device, depth, keep) if hasattr(out, "to_device") else out

        applied.__name__, applied.__doc__ = name, own.__doc__
        return applied

    @property
    def element_spec(self):
        """The elements' structure, shapes and dtypes: the dataset's, with float32 for what is normalized."""
        return _normalize.spec_after(self.dataset.element_spec, self._rules)

    def explain(self):
        """What is done while staging to the device, and the dataset's plan, as text."""
        kept = ", kept there" if self.keep else ""
        first = f"to_device: {self.depth} elements ahead on {self.device}{kept}"
        where = "on the host" if self._number is None else "on the device, bytes are copied"
        lines = _normalize.lines(self.dataset.element_spec, self._rules, where)
        return "\n".join([first, *lines, "", _explain.explain(self._source, self._number is not None)])

    def __len__(self):
        return len(self.dataset)

    def cardinality(self):
        """The dataset's specs."""
        return self.dataset.cardinality()

    def stats(self):
        """Counts of the last pass: dict of elements, copies, copied_bytes, direct_bytes (read by the device from the
        pipeline's own buffers), starve_ns, slot_ns, device_bytes, unpinned, launches (of kernels that normalize),
        replaced (by on_error). On the CPU: {}.
        """
        return {} if self._last is None else self._last.stats()

    def _pass(self):
        if self._number is None:
            return iter(self._source)
        self._last = stager(self._source, self._number, self.depth, self._rules)
        return self._last

    def __iter__(self):
        if not self.keep:
            return self._pass()
        return iter(self._kept) if self._kept is not None else self._keeping()

    def _keeping(self):
        """The first pass; keeps its elements for the next one, if they all fit."""
        kept, it, room = [], self._pass(), _unused_bytes(self._number)
        n = self.dataset.cardinality()
        if n == -1:
            raise InvalidArgumentError("keep=True needs a finite dataset; use take(n)")
        while True:
            try:
                element = next(it)
            except StopIteration:
                break
            except ResourceExhaustedError:
                if kept is None:
                    raise
                kept = self._give_up("the device is full")
                continue
            if kept is not None:
                size = _bytes_of(element)
                kept.append(element)
                if size * max(n, len(kept)) > room:
                    kept = self._give_up(
                        f"{size * max(n, len(kept)):,} bytes would be kept and {int(room):,} may be"
                    )
            yield element
        self._kept = None if kept is None else tuple(kept)

    def _give_up(self, why):
        warnings.warn(
            f"to_device: the dataset doesn't fit, so each pass makes its elements again: {why}",
            RuntimeWarning,
            stacklevel=3,
        )
        self.keep = False
        return None
