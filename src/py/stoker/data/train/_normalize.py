# SPDX-License-Identifier: Apache-2.0
"""to_device(normalize=...): uint8 components that become float32 after the copy to the device.

One formula everywhere: x * scale + offset in float32, rounded after each operation, with scale = 1 / (max_value * std)
and offset = -mean / std from mean and std in float32, computed in float64 and rounded, as in
image.jpeg_random_resized_crop. A byte has 256 values: the device looks up what the CPU computed for each, so results
have the same bits.
"""

import numpy as np

from ..core import _spec
from ..core._spec import TensorSpec
from ..errors import InvalidArgumentError
from ..ops._ops import cast, do, ensure_shape

CHANNELS_MAX = 65536


def _numbers(name, v):
    a = np.atleast_1d(np.asarray(v, np.float64))
    if a.ndim != 1 or not 1 <= a.size <= CHANNELS_MAX or not np.isfinite(a).all():
        raise InvalidArgumentError(f"{name} is a number, or one for each channel, not {v!r}")
    return a


class Normalize:
    """(x / max_value - mean) / std of uint8 values in float32; a number, or one per channel.

    max_value: 255: mean and std are for values from 0 to 1, as in torchvision; 1: for bytes. planar: (..., height,
    width, channels) becomes (..., channels, height, width).
    """

    def __init__(self, mean, std, max_value=255.0, planar=False):
        mean, std = _numbers("mean", mean), _numbers("std", std)
        if mean.size != std.size and 1 not in (mean.size, std.size):
            raise InvalidArgumentError(f"mean is of {mean.size} channels, std of {std.size}")
        if not np.isfinite(max_value) or max_value <= 0:
            raise InvalidArgumentError(f"max_value is a positive number, not {max_value!r}")
        if (std <= 0).any():
            raise InvalidArgumentError(f"std is positive, not {std.min()!r}")
        mean, std = np.broadcast_arrays(mean, std)
        self.max_value, self.planar = float(max_value), bool(planar)
        self.mean, self.std = tuple(mean.tolist()), tuple(std.tolist())
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            mean, std = (a.astype(np.float32).astype(np.float64) for a in (mean, std))
            self.scale = (1 / (self.max_value * std)).astype(np.float32)
            self.offset = (-mean / std).astype(np.float32)
        if not (np.isfinite(self.scale).all() and np.isfinite(self.offset).all()):
            raise InvalidArgumentError("mean / std or 1 / std is beyond float32")

    @property
    def channels(self):
        """The number of channels; 1: the same for any number."""
        return len(self.mean)

    def table(self):
        """The table from bytes to floats: (channels, 256) float32."""
        x = np.arange(256, dtype=np.float32)
        return x * self.scale[:, None] + self.offset[:, None]

    def of_array(self, x):
        """Normalizes a uint8 array with NumPy."""
        y = self.table()[np.arange(self.channels), x] if self.channels > 1 else self.table()[0][x]
        return np.moveaxis(y, -1, -3).copy() if self.planar else y

    def of_value(self, x):
        """The same for a symbolic value of known rank."""
        scale, offset = self.scale, self.offset
        if self.channels == 1:
            scale, offset = scale[0], offset[0]
        y = cast(x, "float32") * scale + offset
        if self.planar:
            n = len(x.shape)
            y = do.transpose(y, [*range(n - 3), n - 1, n - 3, n - 2])
        return y

    def check(self, what, spec):
        """InvalidArgumentError: a component with that spec can't be normalized like this."""
        if not isinstance(spec, TensorSpec) or spec.dtype != np.uint8:
            raise InvalidArgumentError(f"normalize: {what} is {spec}; uint8 is expected")
        if spec.shape is None and (self.planar or self.channels > 1):
            raise InvalidArgumentError(f"normalize: the rank of {what} must be known; ensure_shape sets it")
        if self.planar and len(spec.shape) < 3:
            raise InvalidArgumentError(
                f"normalize: planar is for (..., height, width, channels), not the shape {spec.shape} of {what}"
            )
        if self.channels > 1 and (not spec.shape or spec.shape[-1] not in (None, self.channels)):
            raise InvalidArgumentError(
                f"normalize: mean and std have {self.channels} channels, "
                f"the last dimension of {what} {spec.shape[-1] if spec.shape else 'is not there'}"
            )

    def spec_of(self, spec):
        """The TensorSpec of the result."""
        if spec.shape is None or not self.planar:
            return TensorSpec(spec.shape, "float32")
        *rest, h, w, c = spec.shape
        return TensorSpec((*rest, c, h, w), "float32")

    def __repr__(self):
        def shown(v):
            return repr(v[0]) if len(v) == 1 else repr(v) if len(v) <= 4 else f"{len(v)} values"

        more = "" if self.max_value == 255 else f", max_value={self.max_value!r}"
        more += ", planar=True" if self.planar else ""
        return f"Normalize(mean={shown(self.mean)}, std={shown(self.std)}{more})"


def _rule(v):
    """A Normalize from it or from (mean, std)."""
    if isinstance(v, Normalize):
        return v
    if not isinstance(v, (tuple, list)) or len(v) != 2:
        raise InvalidArgumentError(
            f"normalize is (mean, std), a Normalize, or a dict of them by component, not {v!r}"
        )
    rule = Normalize(*v)
    if max(map(abs, rule.mean)) > 1 or max(rule.std) > 1:
        raise InvalidArgumentError(
            f"normalize=(mean, std) is of values from 0 to 1, not {v!r}; "
            "sd.Normalize(mean, std, max_value=1) takes those of bytes"
        )
    return rule


def _places(spec, at=()):
    """(path, leaf) of each leaf in order."""
    if spec is None:
        return []
    if isinstance(spec, tuple):
        return [p for i, part in enumerate(spec) for p in _places(part, at + (i,))]
    if isinstance(spec, dict):
        return [p for k in _spec.sorted_keys(spec) for p in _places(spec[k], at + (k,))]
    return [(at, spec)]


def _named(path):
    return "".join(f"[{k!r}]" for k in path) or "the component"


def rules(normalize, spec):
    """{number of the leaf: Normalize} for elements of that spec."""
    if normalize is None:
        return {}
    places = _places(spec)
    if isinstance(normalize, dict):
        wanted = {k if isinstance(k, tuple) else (k,): _rule(v) for k, v in normalize.items()}
        found = [i for i, (path, _) in enumerate(places) if path in wanted]
        missing = set(wanted) - {path for path, _ in places}
        if missing:
            raise InvalidArgumentError(
                f"normalize: no component {', '.join(sorted(map(_named, missing)))}; "
                f"there are {', '.join(_named(p) for p, _ in places)}"
            )
        out = {i: wanted[places[i][0]] for i in found}
    else:
        rule = _rule(normalize)
        found = [
            i for i, (_, s) in enumerate(places) if isinstance(s, TensorSpec) and s.dtype == np.uint8
        ]
        if len(found) != 1:
            names = ", ".join(f"{_named(p)} {getattr(s, 'dtype', s)}" for p, s in places)
            raise InvalidArgumentError(
                f"normalize=(mean, std) is for elements with one uint8 component, not {len(found)} "
                f"({names}); a dict says which"
            )
        out = {found[0]: rule}
    for i, rule in out.items():
        rule.check(_named(places[i][0]), places[i][1])
    return out


def changed(structure, f, numbers):
    """The structure with the leaves of these numbers replaced by f(number, leaf)."""
    count = iter(range(len(_spec.flatten(structure))))

    def leaf(v):
        i = next(count)
        return f(i, v) if i in numbers else v

    return _spec.map_structure(leaf, structure)


def spec_after(spec, by_leaf):
    """The spec of normalized elements."""
    return changed(spec, lambda i, s: by_leaf[i].spec_of(s), by_leaf)


def _mapped(dataset, f, numbers):
    """dataset.map of f(number, leaf), without changing the draws of random operations before it."""
    is_spread = type(dataset.element_spec) is tuple

    def each(*args):
        return changed(args if is_spread else args[0], f, numbers)

    each.__name__ = "normalize"
    args = {"num_parallel_calls": -1, "keeps_paths": 1}
    out = dataset._mapped("map", each, args)
    out._epochs = dataset._epochs
    return out


def before_staging(dataset, by_leaf):
    """The dataset, with an error for each element whose channels differ from those expected."""
    leaves = _spec.flatten(dataset.element_spec)
    unknown = {i for i, r in by_leaf.items() if r.channels > 1 and leaves[i].shape[-1] is None}
    if not unknown:
        return dataset
    def leaf(i, v):
        return ensure_shape(v, (*leaves[i].shape[:-1], by_leaf[i].channels))

    return _mapped(dataset, leaf, unknown)


def on_host(dataset, by_leaf):
    """The dataset with its components normalized by the engine's threads; also its replacement."""
    if not by_leaf:
        return dataset
    dataset = before_staging(dataset, by_leaf)
    out = _mapped(dataset, lambda i, v: by_leaf[i].of_value(v), by_leaf)
    policy = out._options.on_error
    if isinstance(policy, tuple):

        def leaf(i, v):
            v = np.asarray(v)
            by_leaf[i].check("the replacement", TensorSpec(v.shape, v.dtype))
            return by_leaf[i].of_array(v)

        options = type(out._options)()
        options.on_error = (policy[0], changed(policy[1], leaf, by_leaf))
        epochs, out = out._epochs, out.with_options(options)
        out._epochs = epochs
    return out


def tables(spec, by_leaf):
    """(component, channels, planar, bytes) of each, for _engine.Stager."""
    sizes = [len(s.parts()) if hasattr(s, "parts") else 1 for s in _spec.flatten(spec)]
    return tuple(
        (sum(sizes[:i]), r.channels, r.planar, np.ascontiguousarray(r.table()).tobytes())
        for i, r in sorted(by_leaf.items())
    )


def lines(spec, by_leaf, where):
    """Describes it for explain()."""
    places = _places(spec)
    return [
        f"  * normalize {_named(places[i][0])}: {places[i][1]} becomes {r.spec_of(places[i][1])} "
        f"{where}, x * scale + offset: {r!r}"
        for i, r in sorted(by_leaf.items())
    ]
