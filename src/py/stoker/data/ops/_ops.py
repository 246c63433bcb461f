# SPDX-License-Identifier: Apache-2.0
"""Operations under TensorFlow's names: most from the engine's table, others written out."""

import inspect
import types

import numpy as np

from ..core import _call, _dtypes, _eager, _libraries, _spec, _trace
from .. import _engine
from ..core._call import convert, is_symbolic, run, same, static_ints
from ..core._named import hint, named
from ..core._value import Value
from ..errors import InvalidArgumentError

_required = inspect.Parameter.empty


_op_rows = _engine.op_args()
_KINDS = {"int": "a", "bool": "a", "float": "a", "text": "a", "dtype": "d", "ints": "x"}
_LITERALS = {"int": int, "bool": lambda v: v == "true", "float": float}


def _argument(op, name):
    """(default, kind) of an operation's argument, from the engine's row."""
    row = next((r for r in _op_rows[op] if r[0] == name), None)
    if row is None:
        raise KeyError(f"the operation {op} has no argument {name}")
    _, of_type, is_required, is_input_too, default, choices = row
    if is_input_too:
        return _required, {"int": "c", "ints": "h"}[of_type]
    kind = "{" + choices + "}" if choices and of_type == "int" else _KINDS[of_type]
    if is_required or default is None:
        return _required if is_required else None, kind
    return (default if choices else _LITERALS.get(of_type, str)(default)), kind


def _unused(text):
    """The default of an argument without effect."""
    known = {"None": None, "True": True, "False": False}
    return known[text] if text in known else int(text) if text.isdigit() else text


class _Row:
    """An operation under TensorFlow's names (src/engine/ops.def): converts a call to inputs and attributes."""

    def __init__(self, op, names, params, is_random):
        self.op, self.names, self.is_random = op, names.split(","), is_random
        self.params = []
        for p in params.split():
            name, _, kind = p.partition(":")
            name, _, default = name.partition("=")
            name, _, attr = name.partition(">")
            attr = attr or name
            if kind:
                self.params.append((name, _unused(default) if default or kind == "-" else _required, kind, attr))
            else:
                self.params.append((name, *_argument(self.op, attr), attr))
        made = [
            inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=d)
            for n, d, _, _ in self.params
        ]
        self.signature = inspect.Signature(
            made + [inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY, default=None)]
        )

    def bind(self, args, kwargs):
        n = len(self.params)
        if not kwargs and len(args) == n:
            return args
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as e:
            more = hint(str(e), self.signature.parameters)
            raise _trace.TraceError(f"{self.names[0]}: {e}{more}") from None
        bound.apply_defaults()
        return list(bound.arguments.values())[:n]

    def __call__(self, args, kwargs):
        values = self.bind(args, kwargs)
        inputs, attrs = [], {}
        common = iter(same(*[v for v, (_, _, kind, _) in zip(values, self.params) if kind == "T"]))
        for v, (_, _, kind, name) in zip(values, self.params):
            if kind == "T":
                inputs.append(next(common))
            else:
                _PUT[kind[0]](inputs, attrs, name, v, kind)
        out = run(self.op, inputs, attrs, self.is_random)
        return out[0] if len(out) == 1 else tuple(out)


def _put_tensor(inputs, attrs, name, v, kind):
    inputs.append(convert(v))


def as_float(v):
    """A value unchanged; a literal as float32."""
    return convert(v) if _call.is_typed(v) else convert(v, np.dtype("float32"))


def as_type(v, dtype):
    """A value cast to a type; a literal converted to it."""
    return cast(v, dtype) if _call.is_typed(v) else convert(v, dtype)


def _put_float(inputs, attrs, name, v, kind):
    inputs.append(as_float(v))


def _put_string(inputs, attrs, name, v, kind):
    inputs.append(convert(v, _dtypes.string))


def _put_list(inputs, attrs, name, v, kind):
    if not isinstance(v, (list, tuple)):
        v = list(v) if isinstance(v, np.ndarray) else [v]
    inputs.extend(same(*v))


def attribute(v, name):
    """A value as an attribute: it must be known while tracing."""
    if isinstance(v, Value):
        c = v.constant()
        if c is None:
            raise _trace.TraceError(f"{name} must be known while the function is traced")
        v = c
    if isinstance(v, (bool, np.bool_)):
        return int(v)
    if isinstance(v, np.generic):
        return v.item()
    return v


def _put_attribute(inputs, attrs, name, v, kind):
    attrs[name] = attribute(v, name)


def _put_axis(inputs, attrs, name, v, kind):
    if v is None:
        return
    v = attribute(v, name)
    attrs[name] = (
        ("ints", [int(i) for i in v])
        if isinstance(v, (list, tuple, np.ndarray)) and np.ndim(v)
        else int(v)
    )


def _put_dtype(inputs, attrs, name, v, kind):
    if v is not None:
        attrs[name] = _dtypes.number(v)


_OPEN = {"shape": 1, "size": 99}  # how many lengths may be left open, of a reshape and of a slice


def _check_lengths(name, v, known):
    """ValueError: a length is None, that is, unknown while the function is traced. Then it runs as Python."""
    if name in _OPEN and known.count(-1) <= _OPEN[name] or not any(d is None for d in v):
        return
    raise ValueError(
        f"{name} {list(v)}: a length isn't known while the function is traced; sd.shape(x)[i] instead of x.shape[i] is known "
        "for each element, and x.set_shape tells the length"
    )


def _put_shape(inputs, attrs, name, v, kind):
    known = static_ints(v)
    if known is not None:
        if isinstance(v, (list, tuple)):
            _check_lengths(name, v, known)
        attrs[name] = ("ints", known)
    else:
        inputs.append(convert(v, np.dtype("int32")) if not _call.is_typed(v) else convert(v))


def _put_int(inputs, attrs, name, v, kind):
    known = static_ints(v)
    if known is not None:
        attrs[name] = known[0]
    else:
        inputs.append(convert(v))


def _put_choice(inputs, attrs, name, v, kind):
    choices = kind[1:-1].split(",")
    if str(v).upper() not in choices:
        raise InvalidArgumentError(f"{name} is one of {', '.join(choices)}, not {v!r}")
    attrs[name] = choices.index(str(v).upper())


def _put_nothing(inputs, attrs, name, v, kind):
    pass


_PUT = {
    "t": _put_tensor,
    "F": _put_float,
    "i": _put_tensor,
    "s": _put_string,
    "L": _put_list,
    "a": _put_attribute,
    "x": _put_axis,
    "d": _put_dtype,
    "h": _put_shape,
    "c": _put_int,
    "{": _put_choice,
    "-": _put_nothing,
}

PUBLIC = {}  # "math.add" -> function
do = types.SimpleNamespace()  # the same as attributes, for composed functions: do.math.add(x, y)


def _enter(name, function):
    PUBLIC[name] = function
    group, _, own = name.rpartition(".")
    if group and not hasattr(do, group):
        setattr(do, group, types.SimpleNamespace())
    setattr(getattr(do, group) if group else do, own, function)


def _define(row):
    def function(*args, **kwargs):
        return row(args, kwargs)

    function.__name__ = function.__qualname__ = row.names[0].split(".")[-1]
    function.__signature__ = row.signature
    summary = _libraries.op_names.get(row.op, "")
    function.__doc__ = f"{summary}.\n\nTakes symbolic values, arrays and literals; gives symbolic values inside of a traced\nfunction and NumPy outside. Arguments as TensorFlow's."
    for name in row.names:
        _enter(name, function)
    return function


def publish(name):
    """Decorator: gives the function more public names."""

    def put(f):
        f = named(f)
        for n in name.split(","):
            _enter(n, f)
        return f

    return put


ROWS = [_Row(*row) for row in _engine.op_tensorflow()]
for _row in ROWS:
    _function = _define(_row)
    if "." not in _row.names[0]:
        globals()[_row.names[0]] = _function


def _bits_or_logic(bits, logic):
    def f(x, y):
        x, y = same(x, y)
        return run(logic if _call.dtype_of(x) == np.bool_ else bits, [x, y], {})[0]

    return f


_and = _bits_or_logic("bitwise_and", "logical_and")
_or = _bits_or_logic("bitwise_or", "logical_or")
_xor = _bits_or_logic("bitwise_xor", "logical_xor")


def _invert(x):
    return run("logical_not" if x.dtype == np.bool_ else "invert", [x], {})[0]


@publish("cast,dtypes.cast")
def cast(x, dtype, name=None):
    """Converts the values to another dtype. Floats are truncated toward 0. Complex ones are pairs of floats."""
    if "complex" in PUBLIC and (hasattr(x, "imag") and hasattr(x, "conj") and not _call.is_typed(x) or _is_complex(dtype)):
        return _cast_complex(x, dtype)
    dtype = _dtypes.as_dtype(dtype)
    if not _call.is_typed(x):
        a = np.asarray(x)
        x = a.astype(np.float32) if a.dtype == np.float64 else convert(x)
    x = convert(x)
    return (
        x if _call.dtype_of(x) == dtype else run("cast", [x], {"dtype": _dtypes.number(dtype)})[0]
    )


def _is_complex(dtype):
    return str(getattr(dtype, "name", dtype)).startswith("complex")


def _cast_complex(x, dtype):
    """Complex values from real or complex ones; or the real parts."""
    if not _is_complex(dtype):
        return cast(x.real, dtype)
    part = "float64" if "128" in str(getattr(dtype, "name", dtype)) else "float32"
    real, imag = (x.real, x.imag) if not _call.is_typed(x) and hasattr(x, "imag") else (cast(x, part), None)
    real = cast(real, part)
    return PUBLIC["complex"](real, do.zeros_like(real) if imag is None else cast(imag, part))


@publish("saturate_cast,dtypes.saturate_cast")
def saturate_cast(value, dtype, name=None):
    """Converts the values to another dtype; those out of range become its limits."""
    value, dtype = convert(value), _dtypes.as_dtype(dtype)
    out = run("saturate_cast", [value], {"dtype": _dtypes.number(dtype)})[0]
    if dtype.kind not in "fV" or _call.dtype_of(value).itemsize < dtype.itemsize:
        return out
    wide = cast(out, "float64") if dtype.kind == "V" else out
    most = _LARGEST[dtype.name]
    wide = do.clip_by_value(wide, -most, most)
    return cast(wide, dtype)


_LARGEST = {
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float32": float(np.finfo(np.float32).max),
    "float64": float(np.finfo(np.float64).max),
}


@publish("ensure_shape")
def ensure_shape(x, shape, name=None):
    """x, whose shape must match; unknown dimensions become known."""
    shape = _spec.as_shape(shape)
    if shape is None:
        return convert(x)
    return run(
        "ensure_shape", [convert(x)], {"shape": ("ints", [-1 if d is None else d for d in shape])}
    )[0]


@publish("split")
def split(value, num_or_size_splits, axis=0, num=None, name="split"):
    """Parts along an axis: a number of equal ones, or of the given sizes."""
    attrs = {"axis": attribute(axis, "axis")}
    sizes = attribute(num_or_size_splits, "num_or_size_splits")
    if np.ndim(sizes):
        attrs["sizes"] = ("ints", [int(s) for s in sizes])
    else:
        attrs["num"] = int(sizes)
    return run("split", [convert(value)], attrs)


@publish("unstack")
def unstack(value, num=None, axis=0, name="unstack"):
    """The slices along an axis, as a list."""
    return run("unstack", [convert(value)], {"axis": attribute(axis, "axis"), "num": num})


@publish("where")
def where(condition, x=None, y=None, name=None):
    """x where the condition holds, else y; with only the condition, the indices where it holds (where numbers are
    nonzero): (n, rank)."""
    if x is None and y is None:
        condition = convert(condition)
        if _call.dtype_of(condition).kind in "iuf":
            condition = cast(condition, np.dtype(bool))
        return run("where", [convert(condition, np.dtype(bool))], {})[0]
    return run("where", [convert(condition, np.dtype(bool))] + same(x, y), {})[0]


@publish("pad")
def pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None):
    """Pads by paddings, (rank, 2): values before and after each dimension."""
    tensor = convert(tensor)
    attrs, inputs = {}, [tensor]
    _put_choice(inputs, attrs, "mode", mode, "{CONSTANT,REFLECT,SYMMETRIC}")
    _put_shape(inputs, attrs, "paddings", paddings, "h")
    if attrs["mode"] == 0 and not (
        isinstance(constant_values, (int, float)) and constant_values == 0
    ):
        inputs.append(convert(constant_values, _call.dtype_of(tensor)))
    return _partly_padded(run("pad", inputs, attrs)[0], tensor, paddings)


def _partly_padded(value, tensor, paddings):
    """value, with the dimensions whose own padding is given as numbers."""
    if not isinstance(value, Value) or not isinstance(paddings, (list, tuple)) or tensor.shape is None:
        return value
    if value.shape is not None and None not in value.shape or len(paddings) != len(tensor.shape):
        return value
    rows = [static_ints(row) for row in paddings]
    lengths = [None if row is None or d is None else d + sum(row) for row, d in zip(rows, tensor.shape)]
    return ensure_shape(value, lengths) if any(n is not None for n in lengths) else value


@publish("one_hot")
def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    """Vectors of `depth` values: on_value at the index, else off_value (1 and 0, float32)."""
    given = next(
        (_call.dtype_of(v) for v in (on_value, off_value) if v is not None and _call.is_typed(v)),
        None,
    )
    dtype = _dtypes.as_dtype(dtype) if dtype is not None else given
    if dtype is None:
        literals = [v for v in (on_value, off_value) if v is not None]
        dtype = convert(literals[0]).dtype if literals else np.dtype("float32")
        dtype = _dtypes.as_dtype(dtype)
    attrs, inputs = {"axis": -1 if axis is None else attribute(axis, "axis")}, [convert(indices)]
    _put_int(inputs, attrs, "depth", depth, "c")
    on = convert(1 if on_value is None else on_value, dtype)
    off = convert(0 if off_value is None else off_value, dtype)
    return run("one_hot", inputs + [on, off], attrs)[0]


@publish("norm,linalg.norm")
def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None):
    """Norm of vectors: the root of the sum of squares along the axes (ord 1: sum of absolute values)."""
    x = convert(tensor)
    attrs = {"keepdims": int(bool(keepdims))}
    _put_axis(None, attrs, "axis", axis, "x")
    if ord in ("euclidean", 2):
        return run("norm", [x], attrs)[0]
    if ord == 1:
        return run("reduce_sum", run("abs", [x], {}), attrs)[0]
    if ord == np.inf:
        return run("reduce_max", run("abs", [x], {}), attrs)[0]
    raise InvalidArgumentError(f"norm: ord is 'euclidean', 1, 2 or inf, not {ord!r}")


def _direction(direction):
    if direction not in ("ASCENDING", "DESCENDING"):
        raise InvalidArgumentError(f"direction is ASCENDING or DESCENDING, not {direction!r}")
    return int(direction == "DESCENDING")


@publish("sort")
def sort(values, axis=-1, direction="ASCENDING", name=None):
    """Sorts the values along an axis."""
    x = convert(values)
    attrs = {"axis": attribute(axis, "axis"), "descending": _direction(direction)}
    return cast(run("sort", [_sortable(x)], attrs)[0], _call.dtype_of(x))


def _sortable(x):
    """Half precision as float32."""
    is_half = _call.dtype_of(x) in (np.dtype("float16"), _dtypes.bfloat16)
    return cast(x, "float32") if is_half else x


@publish("argsort")
def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None):
    """The indices that would sort the values, int32."""
    return run(
        "argsort",
        [_sortable(convert(values))],
        {"axis": attribute(axis, "axis"), "descending": _direction(direction)},
    )[0]


def _of_type(value, dtype):
    """Converts an array of numbers to another numeric type as TensorFlow would for a tensor: integers to integers and
    floats, floats to floats."""
    if dtype is None or not _call.is_typed(value) or isinstance(value, Value):
        return value
    a = np.asarray(value)
    is_float = dtype.kind == "f" or dtype.name == "bfloat16"
    return a.astype(dtype) if a.dtype.kind in "iu" and (dtype.kind in "iu" or is_float) or a.dtype.kind == "f" and is_float else value


@publish("constant,convert_to_tensor")
def constant(value, dtype=None, shape=None, name="Const", dtype_hint=None):
    """An array: Python values become int32 or float32, unless dtype is given."""
    if is_symbolic(value):
        return convert(value, None if dtype is None else _dtypes.as_dtype(dtype))
    dtype = None if dtype is None else _dtypes.as_dtype(dtype)
    a = convert(_of_type(value, dtype), dtype)
    if shape is not None:
        shape = tuple(shape)
        a = np.broadcast_to(a.reshape(()) if a.size == 1 else a.reshape(shape), shape).copy()
    return _eager.given(a)


@publish("fill")
def fill(dims, value, name=None):
    """One value everywhere."""
    known, value = static_ints(dims), convert(value)
    if known is not None and isinstance(dims, (list, tuple)):
        _check_lengths("dims", dims, known)
    if known is not None and not isinstance(value, Value):
        return _eager.given(np.full(known, value))
    attrs, inputs = {}, []
    _put_shape(inputs, attrs, "dims", dims, "h")
    return partly_shaped(run("fill", inputs + [value], attrs)[0], dims)


def partly_shaped(value, dims):
    """value, with the dimensions that `dims` gives as numbers rather than symbols; or with as many unknown ones as a
    vector of computed dimensions has."""
    if not isinstance(value, Value):
        return value
    if isinstance(dims, Value):
        rank = dims.shape[0] if dims.shape is not None and len(dims.shape) == 1 else None
        return value if value.shape is not None or rank is None else ensure_shape(value, (None,) * rank)
    if not isinstance(dims, (list, tuple)):
        return value
    known = [static_ints(d) for d in dims]
    known = [k[0] if k is not None and len(k) == 1 and k[0] >= 0 else None for k in known]
    have = value.shape
    if have is None:
        return ensure_shape(value, known)
    if len(have) != len(known):
        return value
    is_news = any(k is not None and d is None for k, d in zip(known, have))
    return ensure_shape(value, known) if is_news else value


@publish("zeros")
def zeros(shape, dtype="float32", name=None):
    """Zeros (empty strings, False)."""
    dtype = _dtypes.as_dtype(dtype)
    return fill(
        shape,
        np.asarray(
            b"" if dtype == _dtypes.string else 0,
            dtype=object if dtype == _dtypes.string else dtype,
        ),
    )


@publish("ones")
def ones(shape, dtype="float32", name=None):
    """Ones."""
    return fill(shape, np.asarray(1, dtype=_dtypes.as_dtype(dtype)))


@publish("range")
def _range(start, limit=None, delta=1, dtype=None, name="range"):
    """start, start + delta, ... below limit; range(limit) starts at 0."""
    if limit is None:
        start, limit = 0, start
    if dtype is not None:
        d = _dtypes.as_dtype(dtype)
        start, limit, delta = (
            cast(v, d) if _call.is_typed(v) else convert(v, d) for v in (start, limit, delta)
        )
    start, limit, delta = same(start, limit, delta)
    if not is_symbolic([start, limit, delta]):
        return _eager.given(np.arange(start, limit, delta, dtype=start.dtype))
    return run("range", [start, limit, delta], {})[0]


@publish("add_n,math.add_n")
def add_n(inputs, name=None):
    """The sum of a list of values."""
    total = inputs[0]
    for x in inputs[1:]:
        total = do.add(total, x)
    return total


@publish("linspace")
def linspace(start, stop, num, name=None, axis=0):
    """num values from start to stop, both included."""
    return np.linspace(start, stop, num, axis=axis).astype(
        np.float32 if not _call.is_typed(start) else convert(start).dtype
    )


globals()["range"] = _range


@publish("image.resize_with_pad")
def resize_with_pad(image, target_height, target_width, method="bilinear", antialias=False):
    """Resized with its proportions to fit, and padded with zeros."""
    image = convert(image)
    shape = run("shape", [image], {"out_type": _dtypes.number("int32")})[0]
    known = static_ints(shape)
    rank = len(image.shape)
    height, width = known[rank - 3 : rank - 1] if known else (shape[rank - 3], shape[rank - 2])
    targets = [attribute(target_height, "target_height"), attribute(target_width, "target_width")]
    sides = [cast(v, "float32") for v in (height, width)]
    ratio = do.maximum(sides[1] / np.float32(targets[1]), sides[0] / np.float32(targets[0]))
    fitted = [v / ratio for v in sides]
    size = [cast(do.floor(v), "int32") for v in fitted]
    before = [
        do.maximum(cast(do.floor((np.float32(t) - v) / 2), "int32"), 0)
        for t, v in zip(targets, fitted)
    ]
    resized = do.image.resize(image, do.stack(size), method, False, antialias)
    return do.image.pad_to_bounding_box(resized, *before, *targets)


class ResizeMethod:
    """Methods of image.resize."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


_enter("image.ResizeMethod", ResizeMethod)


def _crop_attrs(size, scale, ratio, flip, mean, std, planar, method, seed):
    """The arguments shared by both random resized crops."""
    attrs = {
        "size": ("ints", [int(s) for s in size]),
        "scale": ("floats", [float(s) for s in scale]),
        "ratio": ("floats", [float(r) for r in ratio]),
        "flip": float(flip),
        "planar": int(planar),
        "method": method,
        "seed": None if seed is None else int(seed),
    }
    for name, v in (("mean", mean), ("std", std)):
        if v is not None:
            attrs[name] = ("floats", [float(x) for x in v])
    return attrs


@publish("image.random_resized_crop")
def random_resized_crop(
    image,
    size,
    scale=(0.08, 1.0),
    ratio=(3 / 4, 4 / 3),
    flip=0.0,
    mean=None,
    std=None,
    planar=False,
    method="pil_bilinear",
    seed=None,
):
    """A uint8 image's (height, width, 1 to 4 channels) first training steps in one: a random crop, resized, and
    mirrored with probability `flip` (0: never). (height, width, channels) uint8; float32, minus mean and over std (of
    values in [0, 1], one for each channel), if those are given; planar: (channels, height, width)."""
    attrs = _crop_attrs(size, scale, ratio, flip, mean, std, planar, method, seed)
    return run("random_resized_crop", [convert(image)], attrs, True)[0]


@publish("image.jpeg_random_resized_crop")
def jpeg_random_resized_crop(
    contents,
    size,
    scale=(0.08, 1.0),
    ratio=(3 / 4, 4 / 3),
    flip=0.0,
    mean=None,
    std=None,
    planar=False,
    method="pil_bilinear",
    fast=False,
    seed=None,
):
    """A JPEG's first training steps in one: decodes what a random crop needs, resizes it, mirrors it with probability
    `flip` (0: never). (height, width, 3) uint8; float32, minus mean and over std (of values in [0, 1]), if those are
    given; planar: (3, height, width)."""
    attrs = _crop_attrs(size, scale, ratio, flip, mean, std, planar, method, seed)
    attrs["fast"] = int(fast)
    return run("jpeg_random_resized_crop", [convert(contents, _dtypes.string)], attrs, True)[0]
