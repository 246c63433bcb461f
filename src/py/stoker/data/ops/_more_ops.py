# SPDX-License-Identifier: Apache-2.0
"""More TensorFlow operations composed of others: arithmetic, activations, pooling, texts."""

import numpy as np

from ..core import _call, _dtypes
from ..core._call import convert, is_symbolic, same
from ..core._sparse import RaggedTensor
from ..core._trace import TraceError
from ._compose import _rank, _shape
from ._ops import as_float, attribute, cast, do, publish



@publish("realdiv")
def realdiv(x, y, name=None):
    """x / y of floats."""
    return do.truediv(x, y)


@publish("truncatediv")
def truncatediv(x, y, name=None):
    """x / y of integers, truncated toward 0."""
    x, y = same(x, y)
    if x.dtype.kind not in "iu":
        raise TraceError(f"truncatediv takes integers, not {x.dtype.name}")
    down = do.floordiv(x, y)
    zero = np.zeros((), _dtypes.as_dtype(x.dtype))
    is_up = do.logical_and(do.less(down, zero), do.not_equal(do.multiply(down, y), x))
    return do.add(down, cast(is_up, x.dtype))


@publish("truncatemod")
def truncatemod(x, y, name=None):
    """x % y of integers, with the sign of x."""
    x, y = same(x, y)
    return do.subtract(x, do.multiply(truncatediv(x, y), y))


@publish("math.accumulate_n")
def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None):
    """The sum of a list of values."""
    return do.add_n(inputs)


@publish("math.conj")
def conj(x, name=None):
    """The complex conjugate; real values unchanged."""
    return x.conj() if hasattr(x, "conj") and hasattr(x, "real") and not _call.is_typed(x) else do.identity(x)


@publish("math.is_non_decreasing")
def is_non_decreasing(x, name=None):
    """Is no value less than the previous one?"""
    x = do.reshape(convert(x), [-1])
    return do.reduce_all(do.greater_equal(x[1:], x[:-1]))


@publish("math.is_strictly_increasing")
def is_strictly_increasing(x, name=None):
    """Is each value more than the previous one?"""
    x = do.reshape(convert(x), [-1])
    return do.reduce_all(do.greater(x[1:], x[:-1]))


@publish("math.lbeta")
def lbeta(x, name=None):
    """Logarithm of the beta function over the last dimension, with SciPy."""
    x = convert(x)
    return do.subtract(do.reduce_sum(do.math.lgamma(x), axis=-1), do.math.lgamma(do.reduce_sum(x, axis=-1)))


@publish("math.cumulative_logsumexp")
def cumulative_logsumexp(x, axis=0, exclusive=False, reverse=False, name=None):
    """Cumulative sums of exp(x), as logarithms."""
    x = convert(x)
    most = do.reduce_max(x, axis=axis, keepdims=True)
    return do.add(do.log(do.cumsum(do.exp(do.subtract(x, most)), axis, exclusive, reverse)), most)


@publish("shape_n")
def shape_n(input, out_type="int32", name=None):
    """The shapes of a list of values."""
    return [do.shape(v, out_type) for v in input]


@publish("parallel_stack")
def parallel_stack(values, name="parallel_stack"):
    """Stacks values along a new first dimension."""
    return do.stack(values)


@publish("strided_slice")
def strided_slice(input_, begin, end, strides=None, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0,
                  shrink_axis_mask=0, var=None, name=None):  # fmt: skip
    """x[begin:end:strides]; masks have a bit for each dimension."""
    begin, end = (do.unstack(convert(v)) if is_symbolic(v) else list(np.ravel(v)) for v in (begin, end))
    steps = [1] * len(begin) if strides is None else [int(s) for s in np.ravel(attribute(strides, "strides"))]
    key = []
    for i, (a, b, s) in enumerate(zip(begin, end, steps)):
        bit = 1 << i
        if ellipsis_mask & bit:
            key.append(Ellipsis)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            key.append(a if _call.is_symbolic(a) else int(a))
        else:
            a, b = (v if _call.is_symbolic(v) else int(v) for v in (a, b))
            key.append(slice(None if begin_mask & bit else a, None if end_mask & bit else b, s))
    return convert(input_)[tuple(key)]


# Activations and losses


def _activation(names, f, doc):
    def op(features, name=None):
        return f(as_float(features))

    op.__name__ = op.__qualname__ = names.split(",")[0].split(".")[-1]
    op.__doc__ = doc
    publish(names)(op)


def _elu(x, scale=1.0, alpha=1.0):
    low = do.multiply(do.math.expm1(do.minimum(x, 0.0)), scale * alpha)
    return do.where(do.greater(x, 0.0), do.multiply(x, scale), low)


_activation("nn.relu6", lambda x: do.minimum(do.maximum(x, 0.0), 6.0), "x between 0 and 6.")
_activation("nn.elu", _elu, "x, or exp(x) - 1 if negative.")
_activation("nn.selu", lambda x: _elu(x, 1.0507009873554805, 1.6732632423543772), "The scaled elu.")
_activation("nn.crelu", lambda x: do.concat([do.nn.relu(x), do.nn.relu(do.negative(x))], -1), "relu of x and of -x, side by side.")


@publish("nn.silu,nn.swish")
def silu(features, beta=1.0, name=None):
    """x times the sigmoid of beta x."""
    x = as_float(features)
    return do.multiply(x, do.sigmoid(do.multiply(x, beta)))


@publish("nn.gelu")
def gelu(features, approximate=False, name=None):
    """x times the probability that a normal value is less."""
    x = as_float(features)
    if approximate:
        inner = do.multiply(do.add(x, do.multiply(do.pow(x, 3.0), 0.044715)), 0.7978845608028654)
        return do.multiply(do.multiply(x, 0.5), do.add(do.tanh(inner), 1.0))
    return do.multiply(do.multiply(x, 0.5), do.add(do.math.erf(do.truediv(x, 1.4142135623730951)), 1.0))


@publish("nn.leaky_relu")
def leaky_relu(features, alpha=0.2, name=None):
    """x, or alpha x if negative."""
    x = as_float(features)
    return do.maximum(do.multiply(x, alpha), x)


@publish("nn.l2_loss")
def l2_loss(t, name=None):
    """Half the sum of squares."""
    return do.truediv(do.reduce_sum(do.square(convert(t))), 2.0)


@publish("nn.bias_add")
def bias_add(value, bias, data_format=None, name=None):
    """x plus a bias along the last dimension."""
    if data_format and str(data_format).startswith("NC"):
        raise NotImplementedError("bias_add of channels first")
    return do.add(value, bias)


@publish("nn.moments")
def moments(x, axes, shift=None, keepdims=False, name=None):
    """(mean, variance) over axes."""
    x = convert(x)
    mean = do.reduce_mean(x, axis=axes, keepdims=True)
    variance = do.reduce_mean(do.math.squared_difference(x, mean), axis=axes, keepdims=keepdims)
    return (mean if keepdims else do.reduce_mean(x, axis=axes)), variance


@publish("nn.embedding_lookup")
def embedding_lookup(params, ids, max_norm=None, name=None):
    """The rows of params with those indices."""
    if max_norm is not None:
        raise NotImplementedError("embedding_lookup with max_norm")
    return do.gather(params, ids)


@publish("nn.sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None):
    """The loss of each label (0 to 1)."""
    z, x = same(labels, logits)
    return do.add(do.subtract(do.nn.relu(x), do.multiply(x, z)), do.math.log1p(do.exp(do.negative(do.abs(x)))))


@publish("nn.softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None):
    """The loss of each row of probabilities."""
    labels, logits = same(labels, logits)
    return do.negative(do.reduce_sum(do.multiply(labels, do.math.log_softmax(logits, axis)), axis=axis))


@publish("nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(labels, logits, name=None):
    """The loss of each row for its class number."""
    x = convert(logits)
    wanted = do.one_hot(labels, do.shape(x)[-1], dtype=x.dtype)
    return softmax_cross_entropy_with_logits(wanted, x)


@publish("nn.space_to_depth")
def space_to_depth(input, block_size, data_format="NHWC", name=None):
    """Moves blocks of pixels to channels."""
    x, b = convert(input), int(attribute(block_size, "block_size"))
    n, h, w, d = (_shape(x)[i] for i in range(4))
    x = do.reshape(x, do.stack([n, h // b, np.int32(b), w // b, np.int32(b), d]))
    return do.reshape(do.transpose(x, [0, 1, 3, 2, 4, 5]), do.stack([n, h // b, w // b, d * b * b]))


@publish("nn.depth_to_space")
def depth_to_space(input, block_size, data_format="NHWC", name=None):
    """Moves channels to blocks of pixels."""
    x, b = convert(input), int(attribute(block_size, "block_size"))
    n, h, w, d = (_shape(x)[i] for i in range(4))
    x = do.reshape(x, do.stack([n, h, w, np.int32(b), np.int32(b), d // (b * b)]))
    return do.reshape(do.transpose(x, [0, 1, 3, 2, 4, 5]), do.stack([n, h * b, w * b, d // (b * b)]))


def _spatial(v):
    v = [int(i) for i in np.ravel(v)]
    return v * 2 if len(v) == 1 else v if len(v) == 2 else v[1:3]


def _pool(input, ksize, strides, padding, reduce, outside):
    x = convert(input)
    if x.shape is None or len(x.shape) != 4 or padding not in ("VALID", "SAME"):
        raise NotImplementedError("pooling of other than (n, height, width, channels), VALID or SAME")
    sizes, steps = [1, *_spatial(ksize), 1], [1, *_spatial(strides), 1]
    depth = x.shape[3]
    if depth is None:
        raise TraceError("pooling: the number of channels must be known")
    taken = lambda v: do.image.extract_patches(v, sizes, steps, [1, 1, 1, 1], padding)
    patches = taken(x)
    dims = _shape(patches)
    windows = lambda p: do.reshape(p, do.stack([dims[0], dims[1], dims[2], np.int32(sizes[1] * sizes[2]), np.int32(depth)]))
    inside = windows(taken(do.ones_like(x))) if padding == "SAME" else None
    return reduce(windows(patches), inside)


@publish("nn.max_pool,nn.max_pool2d")
def max_pool(input, ksize, strides, padding, data_format=None, name=None):
    """The largest value of each window, (n, height, width, channels)."""

    def most(w, inside):
        if inside is not None:
            w = do.where(do.greater(inside, convert(0, w.dtype)), w, convert(_dtypes.public(_dtypes.as_dtype(w.dtype)).min, w.dtype))
        return do.reduce_max(w, axis=3)

    return _pool(input, ksize, strides, padding, most, None)


@publish("nn.avg_pool,nn.avg_pool2d")
def avg_pool(input, ksize, strides, padding, data_format=None, name=None):
    """The mean of each window, (n, height, width, channels)."""

    def mean(w, inside):
        if inside is None:
            return do.reduce_mean(w, axis=3)
        return do.truediv(do.reduce_sum(w, axis=3), do.reduce_sum(inside, axis=3))

    return _pool(input, ksize, strides, padding, mean, None)


def _windows(x, sizes, strides, padding, dilations):
    """(n, rows, columns, positions in a window, channels) of images."""
    depth = x.shape[3] if x.shape is not None and len(x.shape) == 4 else None
    if depth is None or padding not in ("VALID", "SAME"):
        raise TraceError("a filter takes (n, height, width, channels) of known channels, and VALID or SAME")
    steps, rates = [1, *_spatial(strides), 1], [1, *_spatial(dilations or 1), 1]
    patches = do.image.extract_patches(x, [1, *sizes, 1], steps, rates, padding)
    dims = _shape(patches)
    return do.reshape(patches, do.stack([dims[0], dims[1], dims[2], np.int32(sizes[0] * sizes[1]), np.int32(depth)]))


@publish("nn.depthwise_conv2d")
def depthwise_conv2d(input, filter, strides, padding, data_format=None, dilations=None, name=None):
    """Convolves each channel of images with its own filters: (height, width, channels, filters of each)."""
    x, kernel = same(input, filter)
    height, width, depth, count = (int(d) for d in kernel.shape)
    windows = do.expand_dims(_windows(x, [height, width], strides, padding, dilations), -1)
    out = do.reduce_sum(do.multiply(windows, do.reshape(kernel, [height * width, depth, count])), axis=3)
    sizes = _shape(out)
    return do.reshape(out, do.stack([sizes[0], sizes[1], sizes[2], np.int32(depth * count)]))


@publish("nn.conv2d")
def conv2d(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None):
    """Convolves images with filters: (height, width, channels, results)."""
    x, kernel = same(input, filters)
    height, width, depth, count = (int(d) for d in kernel.shape)
    windows = _windows(x, [height, width], strides, padding, dilations)
    sizes = _shape(windows)
    rows = do.reshape(windows, [-1, height * width * depth])
    out = do.matmul(rows, do.reshape(kernel, [height * width * depth, count]))
    return do.reshape(out, do.stack([sizes[0], sizes[1], sizes[2], np.int32(count)]))


# Texts


@publish("strings.format")
def strings_format(template, inputs, placeholder="{}", summarize=3, name=None):
    """The template with its placeholders replaced by scalars; strings are quoted, as in TensorFlow."""
    inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    parts = template.split(placeholder)
    if len(parts) != len(inputs) + 1:
        raise ValueError(f"{template!r} has {len(parts) - 1} placeholders, {len(inputs)} values were given")
    out = convert(parts[0], _dtypes.string)
    for v, text in zip(inputs, parts[1:]):
        out = do.strings.join([out, _shown(convert(v)), text])
    return out


def _shown(x):
    if x.shape is None or len(x.shape) > 1:
        raise NotImplementedError("strings.format of more than a vector")
    is_text = x.dtype == _dtypes.string or x.dtype == object
    text = do.strings.join(['"', x, '"']) if is_text else do.as_string(x, shortest=x.dtype.kind == "f")
    if not len(x.shape):
        return text
    return do.strings.join(["[", do.strings.reduce_join(text, separator=" "), "]"])


@publish("strings.ngrams")
def ngrams(data, ngram_width, separator=" ", pad_values=None, padding_width=None, preserve_short_sequences=False, name=None):
    """Joins each run of n consecutive strings of a vector."""
    if isinstance(data, RaggedTensor) or preserve_short_sequences:
        raise NotImplementedError("ngrams of a RaggedTensor, or with preserve_short_sequences")
    x = convert(data, _dtypes.string)
    widths = ngram_width if isinstance(ngram_width, (list, tuple)) else [ngram_width]
    if _rank(x, "ngrams") != 1:
        raise NotImplementedError("ngrams of more than a vector")
    out = []
    for n in widths:
        y = x
        if pad_values is not None:
            left, right = pad_values if isinstance(pad_values, tuple) else (pad_values, pad_values)
            count = n - 1 if padding_width is None else min(padding_width, n - 1)
            y = do.concat([[left] * count, y, [right] * count], 0) if count else y
        rows = do.signal.frame(do.range(do.shape(y)[0]), n, 1)
        out.append(do.strings.reduce_join(do.gather(y, rows), axis=1, separator=separator))
    return out[0] if len(out) == 1 else do.concat(out, 0)


def _offsets(parts):
    ends = do.cumsum(cast(do.strings.length(parts), "int64"), exclusive=True)
    return ends


@publish("strings.unicode_split_with_offsets")
def unicode_split_with_offsets(input, input_encoding, errors="replace", replacement_char=65533, name=None):
    """(the characters of a string, each one's start: int64)."""
    parts = do.strings.unicode_split(input, input_encoding, errors, replacement_char)
    if hasattr(parts, "parts"):
        raise NotImplementedError("unicode_split_with_offsets of more than one string")
    return parts, _offsets(parts)


@publish("strings.unicode_decode_with_offsets")
def unicode_decode_with_offsets(input, input_encoding, errors="replace", replacement_char=65533,
                                replace_control_characters=False, name=None):  # fmt: skip
    """(the code points of a string's characters, each one's start: int64)."""
    numbers = do.strings.unicode_decode(input, input_encoding, errors, replacement_char, replace_control_characters)
    return numbers, unicode_split_with_offsets(input, input_encoding)[1]
