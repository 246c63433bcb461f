# SPDX-License-Identifier: Apache-2.0
"""Sequence packing: Dataset.pack. The engine's pack turns each component into three; this file names them."""

from ..core import _arguments as _arg
from ..core import _spec
from ..core._dataset import method
from ..core._spec import DatasetSpec, TensorSpec
from ..errors import InvalidArgumentError
from ._groups import _like, _values

METHODS = ("first_fit", "best_fit", "chop")
PARTS = ("", "_segment_ids", "_positions")  # suffixes of a component's names in a dict


def _lengths(length, spec):
    one = isinstance(length, (tuple, dict))
    out = _like(length, spec, "length") if one else [length] * len(_spec.components(spec))
    return [_arg.count(n, "length", 1) for n in out]


def _is_flat(spec):
    return isinstance(spec, dict) and all(isinstance(s, TensorSpec) for s in spec.values())


def _named(spec, parts):
    """A dict's result: NAME, NAME_segment_ids, NAME_positions. parts: each component's, in order."""
    out = {}
    for key, three in zip(_spec.sorted_keys(spec), parts):
        for end, part in zip(PARTS, three):
            if key + end in out or end and key + end in spec:
                raise InvalidArgumentError(f"pack: {key + end!r} names a component, and what pack makes of {key!r}")
            out[key + end] = part
    return out


def _structured(spec, parts):
    """Any other result: (values, segment ids, positions), each in the elements' structure."""
    sides = [iter(side) for side in zip(*parts)]
    return tuple(_spec.map_structure(lambda _: next(side), spec) for side in sides)  # noqa: B023


def _checked(spec):
    for place, leaf in _spec.places(spec):
        if isinstance(leaf, DatasetSpec) or hasattr(leaf, "parts"):
            raise TypeError(
                f"pack takes dense sequences, not {leaf!r}{place and ' of '}{place}; unbatch() gives the rows of "
                "a ragged batch"
            )


@method
def pack(self, length, method="first_fit", bins=64, padding_values=None, max_sequences=None, name=None):
    """Packs several sequences into rows of `length` values, with segment ids and positions, both int32.

    An element's components are sequences along their first dimension (a scalar is one value). A dict yields NAME,
    NAME_segment_ids and NAME_positions for each; any other element yields (values, segment_ids, positions). Segment ids
    number a row's sequences from 1, and are 0 in the padding. Positions count from 0 in each sequence.

    length: of the rows, one for all components, or in the elements' structure. Components missing from a dict are also
    missing from the result.
    method: "first_fit" puts a sequence into the first of `bins` rows that has space for it in every
    component, "best_fit" into the fullest of them; when none has space, the rows become elements. "chop" leaves no
    gaps: a row ends when a component is full, and the rest of the sequence starts the next row. padding_values: as in
    padded_batch. max_sequences: most sequences in a row.
    """
    if method not in METHODS:
        raise InvalidArgumentError(f"pack: method is one of {', '.join(METHODS)}, not {method!r}")
    ds, spec = self, self.element_spec
    if isinstance(spec, dict) and isinstance(length, dict) and set(length) < set(spec):
        ds = self.map(lambda e: {k: e[k] for k in length})
        spec = ds.element_spec
    _checked(spec)
    lengths, components = _lengths(length, spec), _spec.components(spec)
    args = {
        "lengths": ("ints", lengths),
        "method": METHODS.index(method),
        "max_sequences": 0 if max_sequences is None else _arg.count(max_sequences, "max_sequences", 1),
    }
    if method != "chop":
        args["bins"] = _arg.count(bins, "bins", 1)
    if padding_values is not None:
        args["padding_values"] = ("tensors", _values(spec, padding_values))
    arrange = _named if _is_flat(spec) else _structured
    places = arrange(spec, [[3 * k + j for j in range(3)] for k in range(len(components))])
    args["outputs"] = ("ints", _spec.flatten(places))
    # the engine determines the components; this is only how they are nested
    return ds._then("pack", args, _spec.map_structure(lambda _: TensorSpec(), places))
