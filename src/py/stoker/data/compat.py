# SPDX-License-Identifier: Apache-2.0
"""tf.compat: TensorFlow 1's names for this module's features (compat.v1), as_bytes, as_str.

A name of compat.v1 is version 1's own if its arguments or results differ, else the one of this module. Sessions,
placeholders and variable collections are missing: pipelines have no graph to run.
"""

import logging as _logging
import os as _os

from .core import _absent, _dtypes
from .core._dataset import Dataset, method
from .core._spec import map_structure
from .files import _gfile
from .ops._context_ops import tuple_of
from .ops._v1_ops import V1
from . import io, random, train


def as_bytes(bytes_or_text, encoding="utf-8"):
    """Encodes a str; returns bytes unchanged."""
    return bytes_or_text.encode(encoding) if isinstance(bytes_or_text, str) else bytes(bytes_or_text)


def as_text(bytes_or_text, encoding="utf-8"):
    """Decodes bytes; returns a str unchanged."""
    return bytes_or_text if isinstance(bytes_or_text, str) else bytes(bytes_or_text).decode(encoding)


as_str = as_text


def as_str_any(value, encoding="utf-8"):
    """str() of it, bytes decoded."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path):
    """A path as a str."""
    return _os.fspath(path)


def dimension_value(dimension):
    """A dimension as an int or None."""
    return dimension


def dimension_at_index(shape, index):
    """A dimension of a shape."""
    return shape[index]


def forward_compatible(year, month, day):
    """True."""
    return True


def _nothing(*args, **kwargs):
    """Accepted, without an effect."""


class _Logging:
    """tf.compat.v1.logging: Python's logger "stoker.data"."""

    DEBUG, INFO, WARN, ERROR, FATAL = _logging.DEBUG, _logging.INFO, _logging.WARNING, _logging.ERROR, _logging.CRITICAL
    _logger = _logging.getLogger("stoker.data")
    debug, info, warn, warning, error, fatal, log = (
        _logger.debug, _logger.info, _logger.warning, _logger.warning, _logger.error, _logger.critical, _logger.log,
    )  # fmt: skip

    @classmethod
    def set_verbosity(cls, level):
        """Messages from this level on."""
        cls._logger.setLevel(level)

    @classmethod
    def get_verbosity(cls):
        """The level."""
        return cls._logger.getEffectiveLevel()

    @classmethod
    def log_first_n(cls, level, msg, n, *args):
        """The message."""
        cls._logger.log(level, msg, *args)

    log_every_n = log_first_n
    vlog = _logger.log
    TaskLevelStatusMessage = _logger.info
    flush = staticmethod(_nothing)

    @classmethod
    def log_if(cls, level, msg, condition, *args):
        """The message, if the condition holds."""
        if condition:
            cls._logger.log(level, msg, *args)


def tf_record_iterator(path, options=None):
    """The records of a TFRecord file."""
    from .files._sources import TFRecordDataset

    kind = options if isinstance(options, str) or options is None else options.compression_type
    return TFRecordDataset(path, kind or "").as_numpy_iterator()


def parse_single_example(serialized, features, name=None, example_names=None):
    """A dict of the features of one serialized Example."""
    return io.parse_single_example(serialized, features)


def parse_example(serialized, features, name=None, example_names=None):
    """The same for a vector of them."""
    return io.parse_example(serialized, features)


def _structure_of(leaf):
    return lambda ds: map_structure(leaf, ds.element_spec)


_of = {
    "types": _structure_of(lambda s: _dtypes.public(s.dtype)),
    "shapes": _structure_of(lambda s: s.shape),
    "classes": _structure_of(type),
}
for _n, _f in _of.items():
    setattr(Dataset, f"output_{_n}", property(_f, doc=f"The {_n} of the components: version 1's name for parts of element_spec."))


@method
def make_one_shot_iterator(self):
    """iter(self) under version 1's name; get_next() returns elements."""
    return iter(self)


@method
def make_initializable_iterator(self, shared_name=None):
    """iter(self) under version 1's name; it needs no initializer."""
    return iter(self)


@method
def map_with_legacy_function(self, map_func, num_parallel_calls=None, deterministic=None):
    """map: version 1's name."""
    return self.map(map_func, num_parallel_calls, deterministic)


@method
def filter_with_legacy_function(self, predicate):
    """filter: version 1's name."""
    return self.filter(predicate)


@method
@staticmethod
def from_sparse_tensor_slices(sparse_tensor):
    """One element for each row of a SparseTensor; version 1's name."""
    return Dataset.from_tensor_slices(sparse_tensor)


class ModeKeys:
    """tf.estimator.ModeKeys: what an input function is asked for."""

    TRAIN, EVAL, PREDICT = "train", "eval", "infer"


def _summary(*args, **kwargs):
    """Accepted, without an effect: a pipeline writes no summaries."""


def batch_and_drop_remainder(batch_size):
    """For Dataset.apply: batch(batch_size, drop_remainder=True)."""
    return lambda ds: ds.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size, padded_shapes, padding_values=None):
    """For Dataset.apply: padded_batch(..., drop_remainder=True)."""
    return lambda ds: ds.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


_EFFECTLESS = (
    "enable_eager_execution disable_eager_execution enable_v2_behavior disable_v2_behavior enable_resource_variables disable_resource_variables "
    "enable_control_flow_v2 disable_control_flow_v2 enable_v2_tensorshape disable_v2_tensorshape enable_tensor_equality "
    "disable_tensor_equality reset_default_graph tables_initializer"
).split()
_V1 = {
    **V1,
    **{n: _nothing for n in _EFFECTLESS},
    **{f"summary.{n}": _summary for n in ("scalar", "histogram", "image", "audio", "text")},
    **{f"gfile.{n}": f for n, f in _gfile.V1.items()},
    "parse_single_example": parse_single_example, "io.parse_single_example": parse_single_example,
    "parse_example": parse_example, "io.parse_example": parse_example,
    "parse_single_sequence_example": io.parse_single_sequence_example, "parse_tensor": io.parse_tensor,
    "serialize_tensor": io.serialize_tensor, "decode_csv": io.decode_csv, "write_file": io.write_file,
    "FixedLenFeature": io.FixedLenFeature, "VarLenFeature": io.VarLenFeature, "SparseFeature": io.SparseFeature,
    "FixedLenSequenceFeature": io.FixedLenSequenceFeature, "logging": _Logging,
    "python_io.TFRecordWriter": io.TFRecordWriter, "python_io.TFRecordOptions": io.TFRecordOptions,
    "python_io.tf_record_iterator": tf_record_iterator, "io.tf_record_iterator": tf_record_iterator,
    "set_random_seed": random.set_seed, "random.set_random_seed": random.set_seed,
    "dimension_value": dimension_value, "dimension_at_index": dimension_at_index, "Dimension": dimension_value,
    "data.make_one_shot_iterator": iter, "data.make_initializable_iterator": iter,
    "data.get_output_types": _of["types"], "data.get_output_shapes": _of["shapes"], "data.get_output_classes": _of["classes"],
    "estimator.ModeKeys": ModeKeys, "contrib.data.batch_and_drop_remainder": batch_and_drop_remainder,
    "contrib.data.padded_batch_and_drop_remainder": padded_batch_and_drop_remainder,
    "tuple": tuple_of, "train.Example": train.Example, "executing_eagerly_outside_functions": lambda: True,
}  # fmt: skip
_groups = {n.rpartition(".")[0] for n in _V1 if "." in n} | {"contrib"}
_HOMES = {"contrib.data": "data.experimental"}  # where other names of a group are today
_modern = {}  # the public module, set by __init__.py


class _Group:
    """A module of tf.compat.v1."""

    def __init__(self, name):
        self._name = name

    def _full(self, name):
        return f"{self._name}.{name}" if self._name else name

    def __getattr__(self, name):
        full = self._full(name)
        if full in _V1:
            return _V1[full]
        found = _absent.installed(full)
        if found is not None:
            return found
        if full in _absent.V1_WAYS and full not in _groups:
            raise _absent.Absent(f"tf.compat.v1.{full} is not available; use instead: {_absent.V1_WAYS[full]}")
        where = _modern["module"]
        for part in _HOMES.get(self._name, self._name).split("."):
            where = getattr(where, part, None) if part else where
        if full in _groups:
            return _Group(full)
        where = None if isinstance(where, _Group) else where
        if where is not None and not name.startswith("__"):
            own = where.__dict__.get(name) if hasattr(where, "__dict__") else None
            if own is not None and not hasattr(own, "__path__"):
                return _Group(full) if type(own).__name__ == "module" and name != "compat" else own
            return getattr(where, name)
        raise _absent.Absent(f"tf.compat.v1.{full} is not available{_absent.nearest(name, self._name)}")

    def __dir__(self):
        names = [n for n in _V1 if n.rpartition(".")[0] == self._name]
        return sorted({n.rpartition(".")[2] for n in names})

    def __repr__(self):
        return f"<names of tf.compat.v1{'.' * bool(self._name)}{self._name}>"


v1 = _Group("")


def old_name(name):
    """Version 1's function, for a top-level name that only version 1 has, or None."""
    return _V1.get(name) or (_Group(name) if name in ("python_io", "gfile", "contrib", "estimator") else None)
