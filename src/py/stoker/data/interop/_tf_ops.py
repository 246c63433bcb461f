# SPDX-License-Identifier: Apache-2.0
"""Translates operations of TensorFlow graphs: numbers, control flow, and randomness (_tf_graph.py runs them).

Most are a row of _SAME: the type, and the name of the function that takes the same inputs. For the others, code
converts inputs and attributes to arguments. An argument that must be known when the graph is made (an axis, a number of
parts) is rejected if it is computed per element.
"""

import numpy as np

from .. import lookup
from ..core import _call, _trace
from ..core._function import cond, numpy_function
from ..core._spec import TensorSpec
from ..core._value import Value
from ..ops._loops import while_loop
from ..ops._ops import do
from ._tf_graph import Resource, operation, plain_array

_SAME = """
Abs:abs Neg:negative Sign:sign Square:square Exp:exp Expm1:math.expm1 Log:log Log1p:math.log1p Sqrt:sqrt
Rsqrt:math.rsqrt Reciprocal:math.reciprocal Inv:math.reciprocal Round:round Rint:math.rint Floor:floor Ceil:ceil
Tanh:tanh Sigmoid:sigmoid Sin:sin Cos:cos Tan:tan Asin:asin Acos:acos Atan:atan Sinh:sinh Cosh:cosh Erf:math.erf
Erfc:math.erfc Relu:nn.relu Softplus:math.softplus Softsign:math.softsign LogicalNot:logical_not
Invert:bitwise.invert IsNan:math.is_nan IsInf:math.is_inf IsFinite:math.is_finite Softmax:nn.softmax
LogSoftmax:nn.log_softmax AddV2:add Add:add Sub:subtract Mul:multiply RealDiv:truediv FloorDiv:floordiv
FloorMod:floormod Pow:pow Maximum:maximum Minimum:minimum SquaredDifference:math.squared_difference
Atan2:atan2 DivNoNan:math.divide_no_nan MulNoNan:math.multiply_no_nan Xdivy:math.xdivy Xlogy:math.xlogy
Equal:equal NotEqual:not_equal Less:less LessEqual:less_equal Greater:greater GreaterEqual:greater_equal
LogicalAnd:logical_and LogicalOr:logical_or BitwiseAnd:bitwise.bitwise_and BitwiseOr:bitwise.bitwise_or
BitwiseXor:bitwise.bitwise_xor LeftShift:bitwise.left_shift RightShift:bitwise.right_shift
Reshape:reshape Tile:tile BroadcastTo:broadcast_to GatherNd:gather_nd Fill:fill Range:range
ClipByValue:clip_by_value Rank:rank ZerosLike:zeros_like OnesLike:ones_like Slice:slice
LinSpace:linspace ScatterNd:scatter_nd TensorScatterUpdate:tensor_scatter_nd_update
TensorScatterAdd:tensor_scatter_nd_add UnsortedSegmentSum:math.unsorted_segment_sum
UnsortedSegmentMax:math.unsorted_segment_max UnsortedSegmentMin:math.unsorted_segment_min
UnsortedSegmentProd:math.unsorted_segment_prod SegmentSum:math.segment_sum SegmentMean:math.segment_mean
SegmentMax:math.segment_max InvertPermutation:math.invert_permutation AddN:add_n
StringStrip:strings.strip ReadFile:io.read_file ParseTensor:io.parse_tensor
RegexReplace:strings.regex_replace RegexFullMatch:strings.regex_full_match
RGBToHSV:image.rgb_to_hsv HSVToRGB:image.hsv_to_rgb AdjustContrastv2:image.adjust_contrast
AdjustHue:image.adjust_hue AdjustSaturation:image.adjust_saturation ComplexAbs:abs RandomShuffle:random.shuffle
"""


def named(path):
    """The operation with that name; None: missing."""
    found = do
    for part in path.split("."):
        found = getattr(found, part, None)
        if found is None:
            return None
    return found


def _same(path):
    def same(at, *inputs):
        f = named(path)
        if f is None:
            at.refuse("it has no equivalent here")
        return f(*inputs) if at.op.type not in ("AddN",) else f(list(inputs))

    return same


for _row in _SAME.split():
    _type, _, _path = _row.partition(":")
    operation(_type)(_same(_path))


# Values that are known when the graph is made.


def ints(at, v, what="an argument"):
    """Integers known now, as a list."""
    known = _call.static_ints(v)
    if known is None:
        at.refuse(f"{what} is computed for each element")
    return known


def number(at, v, what="an argument"):
    return ints(at, v, what)[0]


def scalar(at, v, what="an argument"):
    """A value known now, as a Python object."""
    v = v.constant() if hasattr(v, "constant") else v
    if v is None:
        at.refuse(f"{what} is computed for each element")
    v = np.asarray(v).item() if not isinstance(v, bytes) else v
    return v


def as_known(v):
    """The value as an array if it is one, else unchanged."""
    return v[()] if isinstance(v, np.ndarray) and v.ndim == 0 else v


# Control


@operation("Identity", "StopGradient", "PreventGradient", "Snapshot", "PlaceholderWithDefault", "CheckNumerics")
def _identity(at, x, *_):
    return x


@operation("IdentityN")
def _identities(at, *xs):
    return list(xs)


@operation("NoOp", "PrintV2", "Print")
def _nothing(at, *xs):
    return list(xs[:1])


@operation("Const")
def _const(at):
    import tensorflow as tf

    return plain_array(tf.make_ndarray(at.attr("value")))


@operation("Assert")
def _assert(at, condition, *data):
    do.debugging.Assert(condition, list(data))
    return []


def _asserts(at, name):
    """Does a branch only contain an assertion?"""
    body = at.program.bodies.get(at.attr(name).name)
    if body is None:
        at.function(name)
        body = at.program.bodies[at.attr(name).name]
    return any(op.type == "Assert" for op in body.ops)


@operation("If", "StatelessIf")
def _if(at, pred, *values):
    pred = pred if _call.dtype_of(pred) == np.bool_ else do.cast(pred, "bool")
    then, other = at.function("then_branch"), at.function("else_branch")
    if len(at.op.outputs) <= 1 and _asserts(at, "else_branch"):  # TensorFlow's form of an assertion
        do.debugging.Assert(pred, ["an assertion of the function failed"])
        return then(*values) if at.op.outputs else []
    if not at.op.outputs:
        return []
    return list(cond(pred, lambda: tuple(then(*values)), lambda: tuple(other(*values))))


@operation("Case", "StatelessCase")
def _case(at, index, *values):
    branches = [at.program.function(b.name, at.depth + 1) for b in at.attr("branches")]
    last = len(branches) - 1

    def pick(k):
        if k == last:
            return tuple(branches[k](*values))
        is_it = do.equal(index, np.int32(k))
        return cond(is_it, lambda: tuple(branches[k](*values)), lambda: pick(k + 1))

    out_of_range = do.logical_or(do.less(index, np.int32(0)), do.greater(index, np.int32(last)))
    index = do.where(out_of_range, np.int32(last), index)
    return list(pick(0))


@operation("While", "StatelessWhile")
def _while(at, *state):
    test, body = at.function("cond"), at.function("body")
    fixed = [i for i, v in enumerate(state) if isinstance(v, Resource)]
    moving = [i for i in range(len(state)) if i not in fixed]

    def whole(values):
        out = list(state)
        for i, v in zip(moving, values):
            out[i] = v
        return out

    def step(*values):
        made = body(*whole(values))
        return tuple(made[i] for i in moving)

    out = while_loop(lambda *values: test(*whole(values))[0], step, tuple(state[i] for i in moving))
    return whole(out)


@operation("PartitionedCall", "StatefulPartitionedCall")
def _called(at, *values):
    return at.function("f")(*values)


@operation("PyFunc", "PyFuncStateless", "EagerPyFunc")
def _python(at, *values):
    """A Python function called by TensorFlow: the engine calls it, with the same values."""
    from tensorflow.python.ops import script_ops

    function = script_ops._py_funcs._funcs.get(at.attr("token"))
    if function is None:
        at.refuse("its Python function is gone, or belongs to another process")
    specs = [TensorSpec(shape_of(t), name) for t, name in zip(at.op.outputs, at.dtypes("Tout"))]
    return numpy_function(_Called(function, at.op.type == "EagerPyFunc"), list(values), specs)


class _Called:
    """A function of py_function or numpy_function, called with the arguments it expects."""

    def __init__(self, function, is_eager):
        self.function, self.is_eager = function, is_eager
        self.__name__ = getattr(getattr(function, "_func", function), "__name__", "py_function")

    def __call__(self, *values):
        function = getattr(self.function, "_func", self.function)
        if self.is_eager:
            import tensorflow as tf

            values = [tf.constant(v) for v in values]
        out = function(*values)
        out = out if isinstance(out, (list, tuple)) else [] if out is None else [out]
        return [v.numpy() if hasattr(v, "numpy") else v for v in out]


def shape_of(tensor):
    """A tensor's shape in the form used by specs."""
    return None if tensor.shape.rank is None else tuple(tensor.shape.as_list())


# Resources


@operation("ReadVariableOp")
def _variable(at, resource):
    import tensorflow as tf

    with tf.init_scope():
        read = tf.raw_ops.ReadVariableOp(resource=resource.handle, dtype=at.attr("dtype"))
    return plain_array(read.numpy())


def _table(at, resource, keys, values):
    import tensorflow as tf

    if isinstance(resource, lookup.StaticHashTable):
        return resource.export()
    with tf.init_scope():
        found = tf.raw_ops.LookupTableExportV2(table_handle=resource.handle, Tkeys=keys, Tvalues=values)
    return [np.asarray(v.numpy()) for v in found]


@operation("LookupTableFindV2")
def _find(at, resource, keys, default):
    known = _table(at, resource, at.attr("Tin"), at.attr("Tout"))
    table = lookup.StaticHashTable(lookup.KeyValueTensorInitializer(*known), as_known(default))
    return table.lookup(keys)


@operation("LookupTableSizeV2")
def _table_size(at, resource):
    import tensorflow as tf

    with tf.init_scope():
        return plain_array(tf.raw_ops.LookupTableSizeV2(table_handle=resource.handle).numpy())


# Numbers and shapes


def _reduction(path):
    def reduction(at, x, axis):
        f = named(path)
        return f(x, axis=ints(at, axis, "the axis"), keepdims=bool(at.attr("keep_dims")))

    return reduction


for _type, _path in {
    "Sum": "reduce_sum", "Mean": "reduce_mean", "Prod": "reduce_prod", "Max": "reduce_max", "Min": "reduce_min",
    "Any": "reduce_any", "All": "reduce_all", "EuclideanNorm": "math.reduce_euclidean_norm",
}.items():  # fmt: skip
    operation(_type)(_reduction(_path))


@operation("Div", "TruncateDiv")
def _div(at, a, b):
    if _call.dtype_of(a).kind == "f":
        return do.truediv(a, b)
    whole = do.floordiv(do.abs(a), do.abs(b))
    return do.multiply(do.multiply(do.sign(a), do.sign(b)), whole)


@operation("TruncateMod")
def _truncated_mod(at, a, b):
    return do.multiply(do.sign(a), do.floormod(do.abs(a), do.abs(b)))


@operation("Cast")
def _cast(at, x):
    return do.cast(x, at.dtype("DstT"))


@operation("Bitcast")
def _bitcast(at, x):
    return do.bitcast(x, at.dtype("type"))


@operation("ExpandDims")
def _expand(at, x, axis):
    return do.expand_dims(x, number(at, axis, "the axis"))


@operation("Squeeze")
def _squeeze(at, x):
    axis = list(at.attr("squeeze_dims"))
    return do.squeeze(x, axis or None)


@operation("EnsureShape")
def _ensure(at, x):
    dims = at.attr("shape")
    return x if dims.unknown_rank else do.ensure_shape(x, [None if d.size < 0 else d.size for d in dims.dim])


@operation("Shape")
def _shape(at, x):
    return do.shape(x, out_type=at.dtype("out_type"))


@operation("ShapeN")
def _shapes(at, *xs):
    return [do.shape(x, out_type=at.dtype("out_type")) for x in xs]


@operation("Size")
def _size(at, x):
    return do.size(x, out_type=at.dtype("out_type"))


@operation("Transpose")
def _transpose(at, x, perm):
    return do.transpose(x, ints(at, perm, "the permutation"))


@operation("ConcatV2")
def _concat(at, *values):
    return do.concat(list(values[:-1]), number(at, values[-1], "the axis"))


@operation("Pack")
def _pack(at, *values):
    return do.stack(list(values), axis=at.attr("axis"))


@operation("Unpack")
def _unpack(at, x):
    return list(do.unstack(x, at.attr("num"), axis=at.attr("axis")))


@operation("Split")
def _split(at, axis, x):
    return list(do.split(x, at.attr("num_split"), axis=number(at, axis, "the axis")))


@operation("SplitV")
def _split_sizes(at, x, sizes, axis):
    return list(do.split(x, ints(at, sizes, "the sizes"), axis=number(at, axis, "the axis")))


@operation("StridedSlice")
def _strided(at, x, begin, end, strides):
    masks = {n: at.attr(n + "_mask") for n in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    count = len(ints(at, strides, "the strides"))

    def part(v, i):
        known = _call.static_ints(v)
        return v[i] if known is None else known[i]

    index = []
    for i in range(count):
        bit = 1 << i
        if masks["ellipsis"] & bit:
            index.append(Ellipsis)
        elif masks["new_axis"] & bit:
            index.append(None)
        elif masks["shrink_axis"] & bit:
            index.append(part(begin, i))
        else:
            first = None if masks["begin"] & bit else part(begin, i)
            last = None if masks["end"] & bit else part(end, i)
            index.append(slice(first, last, ints(at, strides)[i]))
    if isinstance(x, (np.ndarray, np.generic, bytes)):
        x = _call.convert(x)
        if not any(_call.is_symbolic(v) for i in index for v in _bounds(i)):
            return plain_array(x[tuple(index)])
        graph = _trace.current()
        x = Value(graph, graph.constant(x))
    return x[tuple(index)]


def _bounds(index):
    return (index.start, index.stop) if isinstance(index, slice) else (index,)


@operation("GatherV2", "Gather", "ResourceGather")
def _gather(at, params, indices, axis=0):
    return do.gather(params, indices, axis=number(at, axis, "the axis"), batch_dims=at.attr("batch_dims", 0))


@operation("ReverseV2")
def _reverse(at, x, axis):
    return do.reverse(x, ints(at, axis, "the axis"))


@operation("Where")
def _where(at, condition):
    return do.where(condition)


@operation("SelectV2", "Select")
def _select(at, condition, x, y):
    if at.op.type == "Select" and np.ndim(condition) == 1 and np.ndim(x) > 1:
        condition = do.reshape(condition, [-1] + [1] * (np.ndim(x) - 1))
    return do.where(condition, x, y)


@operation("OneHot")
def _one_hot(at, indices, depth, on, off):
    return do.one_hot(indices, depth, on_value=on, off_value=off, axis=at.attr("axis"), dtype=at.dtype("T"))


@operation("ArgMax", "ArgMin")
def _arg(at, x, axis):
    f = do.argmax if at.op.type == "ArgMax" else do.argmin
    return f(x, axis=number(at, axis, "the axis"), output_type=at.dtype("output_type"))


@operation("Cumsum")
def _cumsum(at, x, axis):
    more = {n: bool(at.attr(n)) for n in ("exclusive", "reverse")}
    return do.cumsum(x, axis=number(at, axis, "the axis"), **more)


@operation("Pad", "PadV2")
def _pad(at, x, paddings, value=0):
    return do.pad(x, paddings, constant_values=as_known(value))


@operation("MirrorPad")
def _mirror(at, x, paddings):
    return do.pad(x, paddings, mode=at.text("mode"))


@operation("MatMul", "BatchMatMulV2", "BatchMatMul")
def _matmul(at, a, b):
    ways = [at.attr(n) if at.attr(n) is not None else at.attr(m) for n, m in (("transpose_a", "adj_x"), ("transpose_b", "adj_y"))]
    return do.matmul(a, b, transpose_a=bool(ways[0]), transpose_b=bool(ways[1]))


@operation("TopKV2")
def _top(at, x, k):
    return list(do.math.top_k(x, number(at, k, "k"), sorted=bool(at.attr("sorted"))))


@operation("Unique", "UniqueWithCounts")
def _unique(at, x):
    f = do.unique if at.op.type == "Unique" else do.unique_with_counts
    return list(f(x, out_idx=at.dtype("out_idx")))


@operation("Bincount", "DenseBincount")
def _bincount(at, x, size, weights):
    if at.attr("binary_output", False) or not isinstance(weights, np.ndarray) or weights.size:
        at.refuse("with weights, or binary")
    known, dtype = _call.static_ints(size), at.dtype("T")
    if known is not None:
        return do.math.bincount(x, minlength=known[0], maxlength=known[0], dtype=dtype)
    places, ordered = do.range(do.reshape(size, [])), do.sort(do.reshape(do.cast(x, _call.dtype_of(size)), [-1]))
    ends = [do.searchsorted(ordered, places, side=side, out_type="int64") for side in ("left", "right")]
    return do.cast(do.subtract(ends[1], ends[0]), dtype)


@operation("Roll")
def _roll(at, x, shift, axis):
    return do.roll(x, shift, ints(at, axis, "the axis"))


@operation("BroadcastArgs")
def _broadcast(at, a, b):
    return plain_array(np.array(np.broadcast_shapes(tuple(ints(at, a)), tuple(ints(at, b))), at.dtype("T")))


@operation("LowerBound", "UpperBound")
def _bound(at, rows, values):
    side = "left" if at.op.type == "LowerBound" else "right"
    return do.searchsorted(rows, values, side=side, out_type=at.dtype("out_type"))


@operation("Bucketize")
def _bucketize(at, x):
    edges = np.asarray(at.attr("boundaries"), np.float32)
    flat = do.searchsorted(edges, do.reshape(do.cast(x, "float32"), [-1]), side="right", out_type="int32")
    return do.reshape(flat, do.shape(x))


@operation("RFFT")
def _rfft(at, x, length):
    return do.signal.rfft(x, [number(at, length, "the length")])


# Random values


def _seed(at):
    """The seed that a function passed to its operation; None: none."""
    seeds = at.attr("seed", 0), at.attr("seed2", 0)
    return seeds[1] if any(seeds) else None


def _random():
    from .. import random

    return random


@operation("RandomUniform")
def _uniform(at, shape):
    return _random().uniform(shape, dtype=at.dtype("dtype"), seed=_seed(at))


@operation("RandomUniformInt")
def _uniform_int(at, shape, low, high):
    return _random().uniform(shape, low, high, dtype=at.dtype("Tout"), seed=_seed(at))


@operation("RandomStandardNormal")
def _normal(at, shape):
    return _random().normal(shape, dtype=at.dtype("dtype"), seed=_seed(at))


@operation("TruncatedNormal")
def _truncated(at, shape):
    return _random().truncated_normal(shape, dtype=at.dtype("dtype"), seed=_seed(at))


@operation("Multinomial")
def _multinomial(at, logits, n):
    return _random().categorical(logits, number(at, n), dtype=at.dtype("output_dtype"), seed=_seed(at))


@operation("StatelessMultinomial")
def _stateless_multinomial(at, logits, n, seed):
    return _random().stateless_categorical(logits, number(at, n), seed, dtype=at.dtype("output_dtype"))


@operation("StatelessRandomGetKeyCounter")
def _key(at, seed):
    return [seed, None]


@operation("StatelessRandomGetAlg")
def _algorithm(at):
    return np.int32(1)


@operation("StatelessRandomUniformV2")
def _stateless_uniform(at, shape, key, counter, alg):
    return _random().stateless_uniform(shape, key, dtype=at.dtype("dtype"))


@operation("StatelessRandomUniformIntV2")
def _stateless_int(at, shape, key, counter, alg, low, high):
    return _random().stateless_uniform(shape, key, low, high, dtype=at.dtype("dtype"))


@operation("StatelessRandomUniformFullIntV2")
def _stateless_full(at, shape, key, counter, alg):
    return _random().stateless_uniform(shape, key, None, None, dtype=at.dtype("dtype"))


@operation("StatelessRandomNormalV2")
def _stateless_normal(at, shape, key, counter, alg):
    return _random().stateless_normal(shape, key, dtype=at.dtype("dtype"))


@operation("StatelessTruncatedNormalV2")
def _stateless_truncated(at, shape, key, counter, alg):
    return _random().stateless_truncated_normal(shape, key, dtype=at.dtype("dtype"))

