# SPDX-License-Identifier: Apache-2.0
# Written by tools/py-stubs.
from builtins import bool as _bool
from collections.abc import Callable as _Callable, Iterator as _Iterator, Sequence as _Sequence
from typing import Any, overload as _overload

import numpy as np

from ._op_types import Array as _Array, Int64 as _Int64, Bytes as _Bytes, Value as _Value, Symbolic as _Symbolic, Plain as _Plain, Tensor as _Tensor, Int as _Int, Flag as _Flag, Float as _Float, Ints as _Ints, PlainInt as _PlainInt, PlainInts as _PlainInts, DType as _DType, U as _U, Drawn as _Drawn, Unique as _Unique, UniqueWithCounts as _UniqueWithCounts, TopK as _TopK
from . import (
    Assert as _Assert,
    abs as _abs,
    acos as _acos,
    acosh as _acosh,
    add as _add,
    add_n as _add_n,
    argmax as _argmax,
    argmin as _argmin,
    as_string as _as_string,
    asin as _asin,
    asinh as _asinh,
    assert_equal as _assert_equal,
    assert_greater as _assert_greater,
    assert_less as _assert_less,
    atan as _atan,
    atan2 as _atan2,
    atanh as _atanh,
    cast as _cast,
    ceil as _ceil,
    cos as _cos,
    cosh as _cosh,
    cumsum as _cumsum,
    divide as _divide,
    equal as _equal,
    exp as _exp,
    eye as _eye,
    floor as _floor,
    floordiv as _floordiv,
    floormod as _floormod,
    greater as _greater,
    greater_equal as _greater_equal,
    less as _less,
    less_equal as _less_equal,
    log as _log,
    logical_and as _logical_and,
    logical_not as _logical_not,
    logical_or as _logical_or,
    matmul as _matmul,
    maximum as _maximum,
    minimum as _minimum,
    mod as _mod,
    multiply as _multiply,
    negative as _negative,
    norm as _norm,
    not_equal as _not_equal,
    pow as _pow,
    reduce_all as _reduce_all,
    reduce_any as _reduce_any,
    reduce_logsumexp as _reduce_logsumexp,
    reduce_max as _reduce_max,
    reduce_mean as _reduce_mean,
    reduce_min as _reduce_min,
    reduce_prod as _reduce_prod,
    reduce_sum as _reduce_sum,
    round as _round,
    saturate_cast as _saturate_cast,
    scalar_mul as _scalar_mul,
    sigmoid as _sigmoid,
    sign as _sign,
    sin as _sin,
    sinh as _sinh,
    sqrt as _sqrt,
    square as _square,
    subtract as _subtract,
    tan as _tan,
    tanh as _tanh,
    truediv as _truediv,
)

class math:
    """Operations of tf.math."""
    abs = _abs
    acos = _acos
    acosh = _acosh
    add = _add
    add_n = _add_n
    @_overload
    @staticmethod
    def angle(input: _Symbolic, name: str | None = None) -> _Value:
        """The angle of complex values, in radians; of real ones 0, or pi where they are negative."""
    @_overload
    @staticmethod
    def angle(input: _Plain, name: str | None = None) -> _Array:
        """The angle of complex values, in radians; of real ones 0, or pi where they are negative."""
    argmax = _argmax
    argmin = _argmin
    asin = _asin
    asinh = _asinh
    atan = _atan
    atan2 = _atan2
    atanh = _atanh
    @_overload
    @staticmethod
    def bincount(arr: _Symbolic, weights: _Tensor | None = None, minlength: Any = None, maxlength: Any = None, dtype: _DType = 'int32', name: str | None = None) -> _Value:
        """How often each number from 0 on comes in a vector; with weights, their sums."""
    @_overload
    @staticmethod
    def bincount(arr: _Tensor, weights: _Symbolic, minlength: Any = None, maxlength: Any = None, dtype: _DType = 'int32', name: str | None = None) -> _Value:
        """How often each number from 0 on comes in a vector; with weights, their sums."""
    @_overload
    @staticmethod
    def bincount(arr: _Plain, weights: _Plain | None = None, minlength: Any = None, maxlength: Any = None, dtype: _DType = 'int32', name: str | None = None) -> _Array:
        """How often each number from 0 on comes in a vector; with weights, their sums."""
    ceil = _ceil
    cos = _cos
    cosh = _cosh
    @_overload
    @staticmethod
    def count_nonzero(input: _Symbolic, axis: _Ints | None = None, keepdims: _Flag | None = None, dtype: _DType = 'int64', name: str | None = None) -> _Value:
        """How many values are not 0."""
    @_overload
    @staticmethod
    def count_nonzero(input: _Plain, axis: _Ints | None = None, keepdims: _Flag | None = None, dtype: _DType = 'int64', name: str | None = None) -> _Array:
        """How many values are not 0."""
    cumsum = _cumsum
    divide = _divide
    @_overload
    @staticmethod
    def divide_no_nan(x: _Symbolic, y: _Tensor, name: str | None = None) -> _Value:
        """x / y, 0 where y is 0; integers as truediv divides them."""
    @_overload
    @staticmethod
    def divide_no_nan(x: _Tensor, y: _Symbolic, name: str | None = None) -> _Value:
        """x / y, 0 where y is 0; integers as truediv divides them."""
    @_overload
    @staticmethod
    def divide_no_nan(x: _Plain, y: _Plain, name: str | None = None) -> _Array:
        """x / y, 0 where y is 0; integers as truediv divides them."""
    equal = _equal
    @_overload
    @staticmethod
    def erf(x: _Symbolic, *, name: str | None = None) -> _Value:
        """Gauss error function."""
    @_overload
    @staticmethod
    def erf(x: _Plain, *, name: str | None = None) -> _Array:
        """Gauss error function."""
    @_overload
    @staticmethod
    def erfc(x: _Symbolic, name: str | None = None) -> _Value:
        """1 less erf(x)."""
    @_overload
    @staticmethod
    def erfc(x: _Plain, name: str | None = None) -> _Array:
        """1 less erf(x)."""
    exp = _exp
    @_overload
    @staticmethod
    def expm1(x: _Symbolic, *, name: str | None = None) -> _Value:
        """e to the power x, less 1."""
    @_overload
    @staticmethod
    def expm1(x: _Plain, *, name: str | None = None) -> _Array:
        """e to the power x, less 1."""
    floor = _floor
    floordiv = _floordiv
    floormod = _floormod
    greater = _greater
    greater_equal = _greater_equal
    @_overload
    @staticmethod
    def imag(input: _Symbolic, name: str | None = None) -> _Value:
        """The imaginary part: of real values 0."""
    @_overload
    @staticmethod
    def imag(input: _Plain, name: str | None = None) -> _Array:
        """The imaginary part: of real values 0."""
    @_overload
    @staticmethod
    def is_finite(x: _Symbolic, *, name: str | None = None) -> _Value:
        """Is it a finite number?."""
    @_overload
    @staticmethod
    def is_finite(x: _Plain, *, name: str | None = None) -> _Array:
        """Is it a finite number?."""
    @_overload
    @staticmethod
    def is_inf(x: _Symbolic, *, name: str | None = None) -> _Value:
        """Is it infinite?."""
    @_overload
    @staticmethod
    def is_inf(x: _Plain, *, name: str | None = None) -> _Array:
        """Is it infinite?."""
    @_overload
    @staticmethod
    def is_nan(x: _Symbolic, *, name: str | None = None) -> _Value:
        """Is it not a number?."""
    @_overload
    @staticmethod
    def is_nan(x: _Plain, *, name: str | None = None) -> _Array:
        """Is it not a number?."""
    @_overload
    @staticmethod
    def l2_normalize(x: _Symbolic, axis: _Ints | None = None, epsilon: Any = 1e-12, name: str | None = None) -> _Value:
        """x over its length along the axes."""
    @_overload
    @staticmethod
    def l2_normalize(x: _Plain, axis: _Ints | None = None, epsilon: Any = 1e-12, name: str | None = None) -> _Array:
        """x over its length along the axes."""
    less = _less
    less_equal = _less_equal
    log = _log
    @_overload
    @staticmethod
    def log1p(x: _Symbolic, *, name: str | None = None) -> _Value:
        """Natural logarithm of 1 + x."""
    @_overload
    @staticmethod
    def log1p(x: _Plain, *, name: str | None = None) -> _Array:
        """Natural logarithm of 1 + x."""
    @_overload
    @staticmethod
    def log_sigmoid(x: _Symbolic, name: str | None = None) -> _Value:
        """log(sigmoid(x))."""
    @_overload
    @staticmethod
    def log_sigmoid(x: _Plain, name: str | None = None) -> _Array:
        """log(sigmoid(x))."""
    @_overload
    @staticmethod
    def log_softmax(logits: _Symbolic, axis: _Ints | None = None, name: str | None = None) -> _Value:
        """log of softmax along an axis, by default the last."""
    @_overload
    @staticmethod
    def log_softmax(logits: _Plain, axis: _Ints | None = None, name: str | None = None) -> _Array:
        """log of softmax along an axis, by default the last."""
    logical_and = _logical_and
    logical_not = _logical_not
    logical_or = _logical_or
    @_overload
    @staticmethod
    def logical_xor(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
        """Exactly one is true."""
    @_overload
    @staticmethod
    def logical_xor(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
        """Exactly one is true."""
    @_overload
    @staticmethod
    def logical_xor(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
        """Exactly one is true."""
    maximum = _maximum
    minimum = _minimum
    mod = _mod
    multiply = _multiply
    @_overload
    @staticmethod
    def multiply_no_nan(x: _Symbolic, y: _Tensor, name: str | None = None) -> _Value:
        """x * y, 0 where y is 0."""
    @_overload
    @staticmethod
    def multiply_no_nan(x: _Tensor, y: _Symbolic, name: str | None = None) -> _Value:
        """x * y, 0 where y is 0."""
    @_overload
    @staticmethod
    def multiply_no_nan(x: _Plain, y: _Plain, name: str | None = None) -> _Array:
        """x * y, 0 where y is 0."""
    negative = _negative
    not_equal = _not_equal
    @_overload
    @staticmethod
    def polyval(coeffs: Any, x: _Symbolic, name: str | None = None) -> _Value:
        """A polynomial's value: coeffs from the highest power on."""
    @_overload
    @staticmethod
    def polyval(coeffs: Any, x: _Plain, name: str | None = None) -> _Array:
        """A polynomial's value: coeffs from the highest power on."""
    pow = _pow
    @_overload
    @staticmethod
    def real(input: _Symbolic, name: str | None = None) -> _Value:
        """The real part."""
    @_overload
    @staticmethod
    def real(input: _Plain, name: str | None = None) -> _Array:
        """The real part."""
    @_overload
    @staticmethod
    def reciprocal(x: _Symbolic, *, name: str | None = None) -> _Value:
        """1 / x."""
    @_overload
    @staticmethod
    def reciprocal(x: _Plain, *, name: str | None = None) -> _Array:
        """1 / x."""
    @_overload
    @staticmethod
    def reciprocal_no_nan(x: _Symbolic, name: str | None = None) -> _Value:
        """1 / x, 0 where x is 0."""
    @_overload
    @staticmethod
    def reciprocal_no_nan(x: _Plain, name: str | None = None) -> _Array:
        """1 / x, 0 where x is 0."""
    reduce_all = _reduce_all
    reduce_any = _reduce_any
    @_overload
    @staticmethod
    def reduce_euclidean_norm(input_tensor: _Symbolic, axis: _Ints | None = None, keepdims: _Flag = False, name: str | None = None) -> _Value:
        """The root of the sum of squares along axes."""
    @_overload
    @staticmethod
    def reduce_euclidean_norm(input_tensor: _Plain, axis: _Ints | None = None, keepdims: _Flag = False, name: str | None = None) -> _Array:
        """The root of the sum of squares along axes."""
    reduce_logsumexp = _reduce_logsumexp
    reduce_max = _reduce_max
    reduce_mean = _reduce_mean
    reduce_min = _reduce_min
    reduce_prod = _reduce_prod
    @_overload
    @staticmethod
    def reduce_std(input_tensor: _Symbolic, axis: _Ints | None = None, keepdims: _Flag = False, *, name: str | None = None) -> _Value:
        """Standard deviation along axes."""
    @_overload
    @staticmethod
    def reduce_std(input_tensor: _Plain, axis: _Ints | None = None, keepdims: _Flag = False, *, name: str | None = None) -> _Array:
        """Standard deviation along axes."""
    reduce_sum = _reduce_sum
    @_overload
    @staticmethod
    def reduce_variance(input_tensor: _Symbolic, axis: _Ints | None = None, keepdims: _Flag = False, *, name: str | None = None) -> _Value:
        """Variance along axes."""
    @_overload
    @staticmethod
    def reduce_variance(input_tensor: _Plain, axis: _Ints | None = None, keepdims: _Flag = False, *, name: str | None = None) -> _Array:
        """Variance along axes."""
    @_overload
    @staticmethod
    def rint(x: _Symbolic, name: str | None = None) -> _Value:
        """To the nearest integer, ties to even."""
    @_overload
    @staticmethod
    def rint(x: _Plain, name: str | None = None) -> _Array:
        """To the nearest integer, ties to even."""
    round = _round
    @_overload
    @staticmethod
    def rsqrt(x: _Symbolic, *, name: str | None = None) -> _Value:
        """1 / square root."""
    @_overload
    @staticmethod
    def rsqrt(x: _Plain, *, name: str | None = None) -> _Array:
        """1 / square root."""
    scalar_mul = _scalar_mul
    sigmoid = _sigmoid
    sign = _sign
    sin = _sin
    sinh = _sinh
    @_overload
    @staticmethod
    def softmax(logits: _Symbolic, axis: _Ints | None = None, name: str | None = None) -> _Value:
        """exp(x) over its sum along an axis, by default the last."""
    @_overload
    @staticmethod
    def softmax(logits: _Plain, axis: _Ints | None = None, name: str | None = None) -> _Array:
        """exp(x) over its sum along an axis, by default the last."""
    @_overload
    @staticmethod
    def softplus(features: _Symbolic, *, name: str | None = None) -> _Value:
        """log(1 + exp(x))."""
    @_overload
    @staticmethod
    def softplus(features: _Plain, *, name: str | None = None) -> _Array:
        """log(1 + exp(x))."""
    @_overload
    @staticmethod
    def softsign(x: _Symbolic, name: str | None = None) -> _Value:
        """x / (1 + |x|)."""
    @_overload
    @staticmethod
    def softsign(x: _Plain, name: str | None = None) -> _Array:
        """x / (1 + |x|)."""
    sqrt = _sqrt
    square = _square
    @_overload
    @staticmethod
    def squared_difference(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
        """(x - y) squared."""
    @_overload
    @staticmethod
    def squared_difference(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
        """(x - y) squared."""
    @_overload
    @staticmethod
    def squared_difference(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
        """(x - y) squared."""
    subtract = _subtract
    tan = _tan
    tanh = _tanh
    @_overload
    @staticmethod
    def top_k(input: _Symbolic, k: Any = 1, sorted: Any = True, index_type: Any = 'int32', name: str | None = None) -> _TopK[_Value]:
        """(values, indices): the k largest values of each row (the last dimension), the largest first."""
    @_overload
    @staticmethod
    def top_k(input: _Plain, k: Any = 1, sorted: Any = True, index_type: Any = 'int32', name: str | None = None) -> _TopK[_Array]:
        """(values, indices): the k largest values of each row (the last dimension), the largest first."""
    truediv = _truediv
    @_overload
    @staticmethod
    def xdivy(x: _Symbolic, y: _Tensor, name: str | None = None) -> _Value:
        """x / y, 0 where x is 0."""
    @_overload
    @staticmethod
    def xdivy(x: _Tensor, y: _Symbolic, name: str | None = None) -> _Value:
        """x / y, 0 where x is 0."""
    @_overload
    @staticmethod
    def xdivy(x: _Plain, y: _Plain, name: str | None = None) -> _Array:
        """x / y, 0 where x is 0."""
    @_overload
    @staticmethod
    def xlog1py(x: _Symbolic, y: _Tensor, name: str | None = None) -> _Value:
        """x * log(1 + y), 0 where x is 0."""
    @_overload
    @staticmethod
    def xlog1py(x: _Tensor, y: _Symbolic, name: str | None = None) -> _Value:
        """x * log(1 + y), 0 where x is 0."""
    @_overload
    @staticmethod
    def xlog1py(x: _Plain, y: _Plain, name: str | None = None) -> _Array:
        """x * log(1 + y), 0 where x is 0."""
    @_overload
    @staticmethod
    def xlogy(x: _Symbolic, y: _Tensor, name: str | None = None) -> _Value:
        """x * log(y), 0 where x is 0."""
    @_overload
    @staticmethod
    def xlogy(x: _Tensor, y: _Symbolic, name: str | None = None) -> _Value:
        """x * log(y), 0 where x is 0."""
    @_overload
    @staticmethod
    def xlogy(x: _Plain, y: _Plain, name: str | None = None) -> _Array:
        """x * log(y), 0 where x is 0."""
    @_overload
    @staticmethod
    def zero_fraction(value: _Symbolic, name: str | None = None) -> _Value:
        """The share of values that are 0."""
    @_overload
    @staticmethod
    def zero_fraction(value: _Plain, name: str | None = None) -> _Array:
        """The share of values that are 0."""
class strings:
    """Operations of tf.strings."""
    as_string = _as_string
    @staticmethod
    def bytes_split(input: _Tensor, name: str | None = None) -> Any:
        """The bytes of a string, each as a string."""
    @_overload
    @staticmethod
    def join(inputs: _Plain, separator: Any = '', name: str | None = None) -> _Array:  # type: ignore[overload-overlap]
        """Strings of several values, one behind the other, with a separator between."""
    @_overload
    @staticmethod
    def join(inputs: _Value | _Sequence[_Tensor], separator: Any = '', name: str | None = None) -> _Value:
        """Strings of several values, one behind the other, with a separator between."""
    @_overload
    @staticmethod
    def length(input: _Symbolic, unit: str = 'BYTE', *, name: str | None = None) -> _Value:
        """Bytes, or characters, of each string."""
    @_overload
    @staticmethod
    def length(input: _Plain, unit: str = 'BYTE', *, name: str | None = None) -> _Array:
        """Bytes, or characters, of each string."""
    @_overload
    @staticmethod
    def lower(input: _Symbolic, encoding: Any = '', name: str | None = None) -> _Value:
        """Letters made small: ASCII ones, or with encoding="utf-8" all, which Python then does."""
    @_overload
    @staticmethod
    def lower(input: _Plain, encoding: Any = '', name: str | None = None) -> _Array:
        """Letters made small: ASCII ones, or with encoding="utf-8" all, which Python then does."""
    @_overload
    @staticmethod
    def reduce_join(inputs: _Symbolic, axis: _Ints | None = None, keepdims: _Flag = False, separator: str = '', *, name: str | None = None) -> _Value:
        """Strings along axes as one."""
    @_overload
    @staticmethod
    def reduce_join(inputs: _Plain, axis: _Ints | None = None, keepdims: _Flag = False, separator: str = '', *, name: str | None = None) -> _Array:
        """Strings along axes as one."""
    @_overload
    @staticmethod
    def regex_full_match(input: _Symbolic, pattern: str, *, name: str | None = None) -> _Value:
        """Whether a pattern matches the whole string."""
    @_overload
    @staticmethod
    def regex_full_match(input: _Plain, pattern: str, *, name: str | None = None) -> _Array:
        """Whether a pattern matches the whole string."""
    @_overload
    @staticmethod
    def regex_replace(input: _Symbolic, pattern: str, rewrite: str, replace_global: _Flag = True, *, name: str | None = None) -> _Value:
        """Strings with what a pattern matches replaced."""
    @_overload
    @staticmethod
    def regex_replace(input: _Plain, pattern: str, rewrite: str, replace_global: _Flag = True, *, name: str | None = None) -> _Array:
        """Strings with what a pattern matches replaced."""
    @staticmethod
    def split(input: _Tensor, sep: Any = None, maxsplit: Any = -1, name: str | None = None) -> Any:
        """The parts between separators (white space by default, runs of it as one)."""
    @_overload
    @staticmethod
    def strip(input: _Symbolic, *, name: str | None = None) -> _Value:
        """Without white space at both ends."""
    @_overload
    @staticmethod
    def strip(input: _Plain, *, name: str | None = None) -> _Array:
        """Without white space at both ends."""
    @_overload
    @staticmethod
    def substr(input: _Symbolic, pos: _Tensor, len: _Tensor, unit: str = 'BYTE', *, name: str | None = None) -> _Value:
        """`len` bytes, or characters, from `pos` on."""
    @_overload
    @staticmethod
    def substr(input: _Tensor, pos: _Symbolic, len: _Tensor, unit: str = 'BYTE', *, name: str | None = None) -> _Value:
        """`len` bytes, or characters, from `pos` on."""
    @_overload
    @staticmethod
    def substr(input: _Tensor, pos: _Tensor, len: _Symbolic, unit: str = 'BYTE', *, name: str | None = None) -> _Value:
        """`len` bytes, or characters, from `pos` on."""
    @_overload
    @staticmethod
    def substr(input: _Plain, pos: _Plain, len: _Plain, unit: str = 'BYTE', *, name: str | None = None) -> _Array:
        """`len` bytes, or characters, from `pos` on."""
    @_overload
    @staticmethod
    def to_hash_bucket(input: _Symbolic, num_buckets: _Int, *, name: str | None = None) -> _Value:
        """MurmurHash of each string modulo `num_buckets`."""
    @_overload
    @staticmethod
    def to_hash_bucket(input: _Plain, num_buckets: _Int, *, name: str | None = None) -> _Array:
        """MurmurHash of each string modulo `num_buckets`."""
    @_overload
    @staticmethod
    def to_hash_bucket_fast(input: _Symbolic, num_buckets: _Int, *, name: str | None = None) -> _Value:
        """FarmHash of each string modulo `num_buckets`."""
    @_overload
    @staticmethod
    def to_hash_bucket_fast(input: _Plain, num_buckets: _Int, *, name: str | None = None) -> _Array:
        """FarmHash of each string modulo `num_buckets`."""
    @_overload
    @staticmethod
    def to_hash_bucket_strong(input: _Symbolic, num_buckets: _Int, key: _Ints, *, name: str | None = None) -> _Value:
        """SipHash of each string, by `key`, modulo `num_buckets`."""
    @_overload
    @staticmethod
    def to_hash_bucket_strong(input: _Plain, num_buckets: _Int, key: _Ints, *, name: str | None = None) -> _Array:
        """SipHash of each string, by `key`, modulo `num_buckets`."""
    @_overload
    @staticmethod
    def to_number(input: _Symbolic, out_type: _DType = 'float32', *, name: str | None = None) -> _Value:
        """The number a string shows."""
    @_overload
    @staticmethod
    def to_number(input: _Plain, out_type: _DType = 'float32', *, name: str | None = None) -> _Array:
        """The number a string shows."""
    @staticmethod
    def unicode_decode(input: _Tensor, input_encoding: Any, errors: Any = 'replace', replacement_char: Any = 65533, replace_control_characters: Any = False, name: str | None = None) -> Any:
        """The numbers of a string's characters, int32."""
    @staticmethod
    def unicode_split(input: _Tensor, input_encoding: Any, errors: Any = 'replace', replacement_char: Any = 65533, name: str | None = None) -> Any:
        """The characters of a string, each as a string."""
    @_overload
    @staticmethod
    def upper(input: _Symbolic, encoding: Any = '', name: str | None = None) -> _Value:
        """Letters made capital: ASCII ones, or with encoding="utf-8" all, which Python then does."""
    @_overload
    @staticmethod
    def upper(input: _Plain, encoding: Any = '', name: str | None = None) -> _Array:
        """Letters made capital: ASCII ones, or with encoding="utf-8" all, which Python then does."""
class image:
    """Operations of tf.image."""
    ResizeMethod: Any
    @_overload
    @staticmethod
    def adjust_brightness(image: _Symbolic, delta: _Tensor, *, name: str | None = None) -> _Value:
        """Brighter by delta."""
    @_overload
    @staticmethod
    def adjust_brightness(image: _Tensor, delta: _Symbolic, *, name: str | None = None) -> _Value:
        """Brighter by delta."""
    @_overload
    @staticmethod
    def adjust_brightness(image: _Plain, delta: _Plain, *, name: str | None = None) -> _Array:
        """Brighter by delta."""
    @_overload
    @staticmethod
    def adjust_contrast(images: _Symbolic, contrast_factor: _Tensor, *, name: str | None = None) -> _Value:
        """Contrast by a factor."""
    @_overload
    @staticmethod
    def adjust_contrast(images: _Tensor, contrast_factor: _Symbolic, *, name: str | None = None) -> _Value:
        """Contrast by a factor."""
    @_overload
    @staticmethod
    def adjust_contrast(images: _Plain, contrast_factor: _Plain, *, name: str | None = None) -> _Array:
        """Contrast by a factor."""
    @_overload
    @staticmethod
    def adjust_gamma(image: _Symbolic, gamma: _Float = 1.0, gain: _Float = 1.0, *, name: str | None = None) -> _Value:
        """gain * x to the power gamma."""
    @_overload
    @staticmethod
    def adjust_gamma(image: _Plain, gamma: _Float = 1.0, gain: _Float = 1.0, *, name: str | None = None) -> _Array:
        """gain * x to the power gamma."""
    @_overload
    @staticmethod
    def adjust_hue(image: _Symbolic, delta: _Tensor, *, name: str | None = None) -> _Value:
        """Hue turned by delta."""
    @_overload
    @staticmethod
    def adjust_hue(image: _Tensor, delta: _Symbolic, *, name: str | None = None) -> _Value:
        """Hue turned by delta."""
    @_overload
    @staticmethod
    def adjust_hue(image: _Plain, delta: _Plain, *, name: str | None = None) -> _Array:
        """Hue turned by delta."""
    @_overload
    @staticmethod
    def adjust_jpeg_quality(image: _Symbolic, jpeg_quality: Any, dct_method: Any = '', name: str | None = None) -> _Value:
        """What an image looks like after it was a JPEG of that quality (a number)."""
    @_overload
    @staticmethod
    def adjust_jpeg_quality(image: _Plain, jpeg_quality: Any, dct_method: Any = '', name: str | None = None) -> _Array:
        """What an image looks like after it was a JPEG of that quality (a number)."""
    @_overload
    @staticmethod
    def adjust_saturation(image: _Symbolic, saturation_factor: _Tensor, *, name: str | None = None) -> _Value:
        """Saturation by a factor."""
    @_overload
    @staticmethod
    def adjust_saturation(image: _Tensor, saturation_factor: _Symbolic, *, name: str | None = None) -> _Value:
        """Saturation by a factor."""
    @_overload
    @staticmethod
    def adjust_saturation(image: _Plain, saturation_factor: _Plain, *, name: str | None = None) -> _Array:
        """Saturation by a factor."""
    @_overload
    @staticmethod
    def adjust_sharpness(image: _Symbolic, sharpness_factor: Any) -> _Value:
        """0: smoothed, 1: as it is, 2: twice as sharp. Pixels at the edge stay."""
    @_overload
    @staticmethod
    def adjust_sharpness(image: _Plain, sharpness_factor: Any) -> _Array:
        """0: smoothed, 1: as it is, 2: twice as sharp. Pixels at the edge stay."""
    @_overload
    @staticmethod
    def affine(image: _Symbolic, angle: Any = 0.0, translate: Any = ..., scale: Any = 1.0, shear: Any = ..., interpolation: Any = 'nearest', fill: Any = 0.0, center: Any = None) -> _Value:
        """Turned clockwise by `angle` degrees, sheared (degrees along x and y), scaled, then moved by"""
    @_overload
    @staticmethod
    def affine(image: _Plain, angle: Any = 0.0, translate: Any = ..., scale: Any = 1.0, shear: Any = ..., interpolation: Any = 'nearest', fill: Any = 0.0, center: Any = None) -> _Array:
        """Turned clockwise by `angle` degrees, sheared (degrees along x and y), scaled, then moved by"""
    @_overload
    @staticmethod
    def autocontrast(image: _Symbolic) -> _Value:
        """Each channel stretched to the whole range of values."""
    @_overload
    @staticmethod
    def autocontrast(image: _Plain) -> _Array:
        """Each channel stretched to the whole range of values."""
    @_overload
    @staticmethod
    def central_crop(image: _Symbolic, central_fraction: _Float, *, name: str | None = None) -> _Value:
        """The middle part."""
    @_overload
    @staticmethod
    def central_crop(image: _Plain, central_fraction: _Float, *, name: str | None = None) -> _Array:
        """The middle part."""
    @_overload
    @staticmethod
    def convert_image_dtype(image: _Symbolic, dtype: _DType, saturate: _Flag = False, name: str | None = None) -> _Value:
        """Values of another type that stand for the same brightness: floats 0 to 1, integers 0 to their"""
    @_overload
    @staticmethod
    def convert_image_dtype(image: _Plain, dtype: _DType, saturate: _Flag = False, name: str | None = None) -> _Array:
        """Values of another type that stand for the same brightness: floats 0 to 1, integers 0 to their"""
    @_overload
    @staticmethod
    def crop_and_resize(image: _Symbolic, boxes: _Tensor, box_indices: _Tensor, crop_size: _Ints, method: str = 'bilinear', extrapolation_value: _Float = 0.0, *, name: str | None = None) -> _Value:
        """Boxes of images, resized to one size."""
    @_overload
    @staticmethod
    def crop_and_resize(image: _Tensor, boxes: _Symbolic, box_indices: _Tensor, crop_size: _Ints, method: str = 'bilinear', extrapolation_value: _Float = 0.0, *, name: str | None = None) -> _Value:
        """Boxes of images, resized to one size."""
    @_overload
    @staticmethod
    def crop_and_resize(image: _Tensor, boxes: _Tensor, box_indices: _Symbolic, crop_size: _Ints, method: str = 'bilinear', extrapolation_value: _Float = 0.0, *, name: str | None = None) -> _Value:
        """Boxes of images, resized to one size."""
    @_overload
    @staticmethod
    def crop_and_resize(image: _Tensor, boxes: _Tensor, box_indices: _Tensor, crop_size: _Value, method: str = 'bilinear', extrapolation_value: _Float = 0.0, *, name: str | None = None) -> _Value:
        """Boxes of images, resized to one size."""
    @_overload
    @staticmethod
    def crop_and_resize(image: _Plain, boxes: _Plain, box_indices: _Plain, crop_size: _PlainInts, method: str = 'bilinear', extrapolation_value: _Float = 0.0, *, name: str | None = None) -> _Array:  # type: ignore[overload-overlap]
        """Boxes of images, resized to one size."""
    @_overload
    @staticmethod
    def crop_and_resize(image: _Tensor, boxes: _Tensor, box_indices: _Tensor, crop_size: _Ints, method: str = 'bilinear', extrapolation_value: _Float = 0.0, *, name: str | None = None) -> _Value:
        """Boxes of images, resized to one size."""
    @_overload
    @staticmethod
    def crop_to_bounding_box(image: _Symbolic, offset_height: _Int, offset_width: _Int, target_height: _Int, target_width: _Int, *, name: str | None = None) -> _Value:
        """A box of the image."""
    @_overload
    @staticmethod
    def crop_to_bounding_box(image: _Tensor, offset_height: _Value, offset_width: _Int, target_height: _Int, target_width: _Int, *, name: str | None = None) -> _Value:
        """A box of the image."""
    @_overload
    @staticmethod
    def crop_to_bounding_box(image: _Tensor, offset_height: _Int, offset_width: _Value, target_height: _Int, target_width: _Int, *, name: str | None = None) -> _Value:
        """A box of the image."""
    @_overload
    @staticmethod
    def crop_to_bounding_box(image: _Tensor, offset_height: _Int, offset_width: _Int, target_height: _Value, target_width: _Int, *, name: str | None = None) -> _Value:
        """A box of the image."""
    @_overload
    @staticmethod
    def crop_to_bounding_box(image: _Tensor, offset_height: _Int, offset_width: _Int, target_height: _Int, target_width: _Value, *, name: str | None = None) -> _Value:
        """A box of the image."""
    @_overload
    @staticmethod
    def crop_to_bounding_box(image: _Plain, offset_height: _PlainInt, offset_width: _PlainInt, target_height: _PlainInt, target_width: _PlainInt, *, name: str | None = None) -> _Array:
        """A box of the image."""
    @staticmethod
    def cutmix(images: _Tensor, labels: _Tensor, alpha: Any = 1.0, num_classes: Any = None, seed: Any = None) -> Any:
        """(images, labels) of a batch, each with a box of the one before it; labels in proportion to the"""
    @_overload
    @staticmethod
    def decode_and_crop_jpeg(contents: _Symbolic, crop_window: _Tensor, channels: _Int = 0, ratio: _Int = 1, fancy_upscaling: _Flag = True, try_recover_truncated: _Flag = False, acceptable_fraction: _Float = 1.0, dct_method: str = '', *, name: str | None = None) -> _Value:
        """Pixels of a part of a JPEG file."""
    @_overload
    @staticmethod
    def decode_and_crop_jpeg(contents: _Tensor, crop_window: _Symbolic, channels: _Int = 0, ratio: _Int = 1, fancy_upscaling: _Flag = True, try_recover_truncated: _Flag = False, acceptable_fraction: _Float = 1.0, dct_method: str = '', *, name: str | None = None) -> _Value:
        """Pixels of a part of a JPEG file."""
    @_overload
    @staticmethod
    def decode_and_crop_jpeg(contents: _Plain, crop_window: _Plain, channels: _Int = 0, ratio: _Int = 1, fancy_upscaling: _Flag = True, try_recover_truncated: _Flag = False, acceptable_fraction: _Float = 1.0, dct_method: str = '', *, name: str | None = None) -> _Array:
        """Pixels of a part of a JPEG file."""
    @_overload
    @staticmethod
    def decode_bmp(contents: _Symbolic, channels: Any = 0, name: str | None = None) -> _Value:
        """Pixels of a BMP file: uint8."""
    @_overload
    @staticmethod
    def decode_bmp(contents: _Plain, channels: Any = 0, name: str | None = None) -> _Array:
        """Pixels of a BMP file: uint8."""
    @_overload
    @staticmethod
    def decode_image(contents: _Symbolic, channels: _Int | None = None, dtype: _DType = 'uint8', name: str | None = None, expand_animations: _Flag = True) -> _Value:
        """Pixels of a JPEG, PNG, BMP or GIF (its first picture): uint8, uint16, or floats of 0 to 1."""
    @_overload
    @staticmethod
    def decode_image(contents: _Plain, channels: _Int | None = None, dtype: _DType = 'uint8', name: str | None = None, expand_animations: _Flag = True) -> _Array:
        """Pixels of a JPEG, PNG, BMP or GIF (its first picture): uint8, uint16, or floats of 0 to 1."""
    @_overload
    @staticmethod
    def decode_jpeg(contents: _Symbolic, channels: _Int = 0, ratio: _Int = 1, fancy_upscaling: _Flag = True, try_recover_truncated: _Flag = False, acceptable_fraction: _Float = 1.0, dct_method: str = '', *, name: str | None = None) -> _Value:
        """Pixels of a JPEG file."""
    @_overload
    @staticmethod
    def decode_jpeg(contents: _Plain, channels: _Int = 0, ratio: _Int = 1, fancy_upscaling: _Flag = True, try_recover_truncated: _Flag = False, acceptable_fraction: _Float = 1.0, dct_method: str = '', *, name: str | None = None) -> _Array:
        """Pixels of a JPEG file."""
    @_overload
    @staticmethod
    def decode_png(contents: _Symbolic, channels: _Int = 0, dtype: _DType = 'uint8', *, name: str | None = None) -> _Value:
        """Pixels of a PNG file."""
    @_overload
    @staticmethod
    def decode_png(contents: _Plain, channels: _Int = 0, dtype: _DType = 'uint8', *, name: str | None = None) -> _Array:
        """Pixels of a PNG file."""
    @_overload
    @staticmethod
    def decode_webp(contents: _Symbolic, channels: Any = 0, dtype: _DType = 'uint8', name: str | None = None) -> _Value:
        """Pixels of a WebP file: uint8, 3 channels or 4."""
    @_overload
    @staticmethod
    def decode_webp(contents: _Plain, channels: Any = 0, dtype: _DType = 'uint8', name: str | None = None) -> _Array:
        """Pixels of a WebP file: uint8, 3 channels or 4."""
    @_overload
    @staticmethod
    def encode_jpeg(image: _Symbolic, format: str = '', quality: _Int = 95, progressive: _Flag = False, optimize_size: _Flag = False, chroma_downsampling: _Flag = True, density_unit: str = 'in', x_density: _Int = 300, y_density: _Int = 300, xmp_metadata: Any = '', *, name: str | None = None) -> _Value:
        """An image as a JPEG file."""
    @_overload
    @staticmethod
    def encode_jpeg(image: _Plain, format: str = '', quality: _Int = 95, progressive: _Flag = False, optimize_size: _Flag = False, chroma_downsampling: _Flag = True, density_unit: str = 'in', x_density: _Int = 300, y_density: _Int = 300, xmp_metadata: Any = '', *, name: str | None = None) -> _Array:
        """An image as a JPEG file."""
    @_overload
    @staticmethod
    def encode_png(image: _Symbolic, compression: _Int = -1, *, name: str | None = None) -> _Value:
        """An image as a PNG file."""
    @_overload
    @staticmethod
    def encode_png(image: _Plain, compression: _Int = -1, *, name: str | None = None) -> _Array:
        """An image as a PNG file."""
    @_overload
    @staticmethod
    def equalize(image: _Symbolic) -> _Value:
        """A uint8 image whose values are spread so that about as many pixels have each, by channel."""
    @_overload
    @staticmethod
    def equalize(image: _Plain) -> _Array:
        """A uint8 image whose values are spread so that about as many pixels have each, by channel."""
    @_overload
    @staticmethod
    def extract_jpeg_shape(contents: _Symbolic, output_type: _DType = 'int32', *, name: str | None = None) -> _Value:
        """Height, width and channels of a JPEG file."""
    @_overload
    @staticmethod
    def extract_jpeg_shape(contents: _Plain, output_type: _DType = 'int32', *, name: str | None = None) -> _Array:
        """Height, width and channels of a JPEG file."""
    @_overload
    @staticmethod
    def extract_patches(images: _Symbolic, sizes: Any, strides: Any, rates: Any, padding: Any, name: str | None = None) -> _Value:
        """Windows of images, (n, height, width, depth): (n, rows, columns, values of a window)."""
    @_overload
    @staticmethod
    def extract_patches(images: _Plain, sizes: Any, strides: Any, rates: Any, padding: Any, name: str | None = None) -> _Array:
        """Windows of images, (n, height, width, depth): (n, rows, columns, values of a window)."""
    @_overload
    @staticmethod
    def flip_left_right(image: _Symbolic, *, name: str | None = None) -> _Value:
        """Mirrored left to right."""
    @_overload
    @staticmethod
    def flip_left_right(image: _Plain, *, name: str | None = None) -> _Array:
        """Mirrored left to right."""
    @_overload
    @staticmethod
    def flip_up_down(image: _Symbolic, *, name: str | None = None) -> _Value:
        """Mirrored top to bottom."""
    @_overload
    @staticmethod
    def flip_up_down(image: _Plain, *, name: str | None = None) -> _Array:
        """Mirrored top to bottom."""
    @_overload
    @staticmethod
    def gaussian_blur(image: _Symbolic, kernel_size: Any, sigma: Any = None) -> _Value:
        """Blurred: weights of a normal curve over kernel_size pixels (odd; or x and y), mirrored at edges."""
    @_overload
    @staticmethod
    def gaussian_blur(image: _Plain, kernel_size: Any, sigma: Any = None) -> _Array:
        """Blurred: weights of a normal curve over kernel_size pixels (odd; or x and y), mirrored at edges."""
    @_overload
    @staticmethod
    def grayscale_to_rgb(images: _Symbolic, *, name: str | None = None) -> _Value:
        """One channel to three."""
    @_overload
    @staticmethod
    def grayscale_to_rgb(images: _Plain, *, name: str | None = None) -> _Array:
        """One channel to three."""
    @_overload
    @staticmethod
    def hsv_to_rgb(images: _Symbolic, *, name: str | None = None) -> _Value:
        """And back."""
    @_overload
    @staticmethod
    def hsv_to_rgb(images: _Plain, *, name: str | None = None) -> _Array:
        """And back."""
    @_overload
    @staticmethod
    def invert(image: _Symbolic) -> _Value:
        """Dark becomes light: 255 (or 1) less each value."""
    @_overload
    @staticmethod
    def invert(image: _Plain) -> _Array:
        """Dark becomes light: 255 (or 1) less each value."""
    @_overload
    @staticmethod
    def is_jpeg(contents: _Symbolic, name: str | None = None) -> _Value:
        """Whether a file's bytes begin as a JPEG's."""
    @_overload
    @staticmethod
    def is_jpeg(contents: _Plain, name: str | None = None) -> _Array:
        """Whether a file's bytes begin as a JPEG's."""
    @_overload
    @staticmethod
    def jpeg_random_resized_crop(contents: _Symbolic, size: Any, scale: Any = ..., ratio: Any = ..., flip: Any = 0.0, mean: Any = None, std: Any = None, planar: Any = False, method: Any = 'pil_bilinear', fast: Any = False, seed: Any = None) -> _Value:
        """A JPEG's first steps in training, in one: decodes what a random crop needs, resizes it,"""
    @_overload
    @staticmethod
    def jpeg_random_resized_crop(contents: _Plain, size: Any, scale: Any = ..., ratio: Any = ..., flip: Any = 0.0, mean: Any = None, std: Any = None, planar: Any = False, method: Any = 'pil_bilinear', fast: Any = False, seed: Any = None) -> _Drawn:
        """A JPEG's first steps in training, in one: decodes what a random crop needs, resizes it,"""
    @staticmethod
    def mixup(images: _Tensor, labels: _Tensor, alpha: Any = 1.0, num_classes: Any = None, seed: Any = None) -> Any:
        """(images, labels) of a batch of float images, each mixed with the one before it: a share drawn of"""
    @_overload
    @staticmethod
    def pad_to_bounding_box(image: _Symbolic, offset_height: _Int, offset_width: _Int, target_height: _Int, target_width: _Int, *, name: str | None = None) -> _Value:
        """The image within zeros."""
    @_overload
    @staticmethod
    def pad_to_bounding_box(image: _Tensor, offset_height: _Value, offset_width: _Int, target_height: _Int, target_width: _Int, *, name: str | None = None) -> _Value:
        """The image within zeros."""
    @_overload
    @staticmethod
    def pad_to_bounding_box(image: _Tensor, offset_height: _Int, offset_width: _Value, target_height: _Int, target_width: _Int, *, name: str | None = None) -> _Value:
        """The image within zeros."""
    @_overload
    @staticmethod
    def pad_to_bounding_box(image: _Tensor, offset_height: _Int, offset_width: _Int, target_height: _Value, target_width: _Int, *, name: str | None = None) -> _Value:
        """The image within zeros."""
    @_overload
    @staticmethod
    def pad_to_bounding_box(image: _Tensor, offset_height: _Int, offset_width: _Int, target_height: _Int, target_width: _Value, *, name: str | None = None) -> _Value:
        """The image within zeros."""
    @_overload
    @staticmethod
    def pad_to_bounding_box(image: _Plain, offset_height: _PlainInt, offset_width: _PlainInt, target_height: _PlainInt, target_width: _PlainInt, *, name: str | None = None) -> _Array:
        """The image within zeros."""
    @_overload
    @staticmethod
    def per_image_standardization(image: _Symbolic, *, name: str | None = None) -> _Value:
        """Mean 0, deviation 1."""
    @_overload
    @staticmethod
    def per_image_standardization(image: _Plain, *, name: str | None = None) -> _Array:
        """Mean 0, deviation 1."""
    @_overload
    @staticmethod
    def perspective(image: _Symbolic, startpoints: Any, endpoints: Any, interpolation: Any = 'bilinear', fill: Any = 0.0) -> _Value:
        """The image with four of its points (x, y), clockwise from the top left one, moved to others."""
    @_overload
    @staticmethod
    def perspective(image: _Plain, startpoints: Any, endpoints: Any, interpolation: Any = 'bilinear', fill: Any = 0.0) -> _Array:
        """The image with four of its points (x, y), clockwise from the top left one, moved to others."""
    @_overload
    @staticmethod
    def posterize(image: _Symbolic, bits: Any) -> _Value:
        """A uint8 image with the upper `bits` bits of each value, 0 to 8."""
    @_overload
    @staticmethod
    def posterize(image: _Plain, bits: Any) -> _Array:
        """A uint8 image with the upper `bits` bits of each value, 0 to 8."""
    @_overload
    @staticmethod
    def psnr(a: _Symbolic, b: _Tensor, max_val: Any, name: str | None = None) -> _Value:
        """Peak signal to noise ratio of two images, in decibels."""
    @_overload
    @staticmethod
    def psnr(a: _Tensor, b: _Symbolic, max_val: Any, name: str | None = None) -> _Value:
        """Peak signal to noise ratio of two images, in decibels."""
    @_overload
    @staticmethod
    def psnr(a: _Plain, b: _Plain, max_val: Any, name: str | None = None) -> _Array:
        """Peak signal to noise ratio of two images, in decibels."""
    @_overload
    @staticmethod
    def rand_augment(image: _Symbolic, num_ops: Any = 2, magnitude: Any = 9, num_magnitude_bins: Any = 31, interpolation: Any = 'nearest', fill: Any = 0.0, seed: Any = None) -> _Value:
        """num_ops changes drawn at random, each of `magnitude` (below num_magnitude_bins): RandAugment."""
    @_overload
    @staticmethod
    def rand_augment(image: _Plain, num_ops: Any = 2, magnitude: Any = 9, num_magnitude_bins: Any = 31, interpolation: Any = 'nearest', fill: Any = 0.0, seed: Any = None) -> _Drawn:
        """num_ops changes drawn at random, each of `magnitude` (below num_magnitude_bins): RandAugment."""
    @_overload
    @staticmethod
    def random_brightness(image: _Symbolic, max_delta: _Float, seed: _Int | None = None, *, name: str | None = None) -> _Value:
        """Brighter by up to max_delta."""
    @_overload
    @staticmethod
    def random_brightness(image: _Plain, max_delta: _Float, seed: _Int | None = None, *, name: str | None = None) -> _Drawn:
        """Brighter by up to max_delta."""
    @_overload
    @staticmethod
    def random_contrast(image: _Symbolic, lower: _Float, upper: _Float, seed: _Int | None = None, *, name: str | None = None) -> _Value:
        """Contrast by lower to upper."""
    @_overload
    @staticmethod
    def random_contrast(image: _Plain, lower: _Float, upper: _Float, seed: _Int | None = None, *, name: str | None = None) -> _Drawn:
        """Contrast by lower to upper."""
    @_overload
    @staticmethod
    def random_crop(value: _Symbolic, size: Any, seed: Any = None, name: str | None = None) -> _Value:
        """A part of that size, at a random place."""
    @_overload
    @staticmethod
    def random_crop(value: _Plain, size: Any, seed: Any = None, name: str | None = None) -> _Drawn:
        """A part of that size, at a random place."""
    @_overload
    @staticmethod
    def random_erasing(image: _Symbolic, p: Any = 0.5, scale: Any = ..., ratio: Any = ..., value: _Tensor = 0, seed: Any = None) -> _Value:
        """With a chance of p a random rectangle of `value`: of that part of the image's area, and that"""
    @_overload
    @staticmethod
    def random_erasing(image: _Plain, p: Any = 0.5, scale: Any = ..., ratio: Any = ..., value: _Plain = 0, seed: Any = None) -> _Drawn:
        """With a chance of p a random rectangle of `value`: of that part of the image's area, and that"""
    @_overload
    @staticmethod
    def random_flip_left_right(image: _Symbolic, seed: _Int | None = None, *, name: str | None = None) -> _Value:
        """Mirrored left to right, or not."""
    @_overload
    @staticmethod
    def random_flip_left_right(image: _Plain, seed: _Int | None = None, *, name: str | None = None) -> _Drawn:
        """Mirrored left to right, or not."""
    @_overload
    @staticmethod
    def random_flip_up_down(image: _Symbolic, seed: _Int | None = None, *, name: str | None = None) -> _Value:
        """Mirrored top to bottom, or not."""
    @_overload
    @staticmethod
    def random_flip_up_down(image: _Plain, seed: _Int | None = None, *, name: str | None = None) -> _Drawn:
        """Mirrored top to bottom, or not."""
    @_overload
    @staticmethod
    def random_hue(image: _Symbolic, max_delta: _Float, seed: _Int | None = None, *, name: str | None = None) -> _Value:
        """Hue turned by up to max_delta."""
    @_overload
    @staticmethod
    def random_hue(image: _Plain, max_delta: _Float, seed: _Int | None = None, *, name: str | None = None) -> _Drawn:
        """Hue turned by up to max_delta."""
    @_overload
    @staticmethod
    def random_resized_crop(image: _Symbolic, size: Any, scale: Any = ..., ratio: Any = ..., flip: Any = 0.0, mean: Any = None, std: Any = None, planar: Any = False, method: Any = 'pil_bilinear', seed: Any = None) -> _Value:
        """A uint8 image's (height, width, 1 to 4 channels) first steps in training, in one: a random"""
    @_overload
    @staticmethod
    def random_resized_crop(image: _Plain, size: Any, scale: Any = ..., ratio: Any = ..., flip: Any = 0.0, mean: Any = None, std: Any = None, planar: Any = False, method: Any = 'pil_bilinear', seed: Any = None) -> _Drawn:
        """A uint8 image's (height, width, 1 to 4 channels) first steps in training, in one: a random"""
    @_overload
    @staticmethod
    def random_saturation(image: _Symbolic, lower: _Float, upper: _Float, seed: _Int | None = None, *, name: str | None = None) -> _Value:
        """Saturation by lower to upper."""
    @_overload
    @staticmethod
    def random_saturation(image: _Plain, lower: _Float, upper: _Float, seed: _Int | None = None, *, name: str | None = None) -> _Drawn:
        """Saturation by lower to upper."""
    @_overload
    @staticmethod
    def resize(images: _Symbolic, size: _Ints, method: str = 'bilinear', preserve_aspect_ratio: _Flag = False, antialias: _Flag = False, name: str | None = None) -> _Value:
        """Images, or one, at another size: float32; 'nearest' keeps the type."""
    @_overload
    @staticmethod
    def resize(images: _Tensor, size: _Value, method: str = 'bilinear', preserve_aspect_ratio: _Flag = False, antialias: _Flag = False, name: str | None = None) -> _Value:
        """Images, or one, at another size: float32; 'nearest' keeps the type."""
    @_overload
    @staticmethod
    def resize(images: _Plain, size: _PlainInts, method: str = 'bilinear', preserve_aspect_ratio: _Flag = False, antialias: _Flag = False, name: str | None = None) -> _Array:  # type: ignore[overload-overlap]
        """Images, or one, at another size: float32; 'nearest' keeps the type."""
    @_overload
    @staticmethod
    def resize(images: _Tensor, size: _Ints, method: str = 'bilinear', preserve_aspect_ratio: _Flag = False, antialias: _Flag = False, name: str | None = None) -> _Value:
        """Images, or one, at another size: float32; 'nearest' keeps the type."""
    @_overload
    @staticmethod
    def resize_with_crop_or_pad(image: _Symbolic, target_height: _Int, target_width: _Int, *, name: str | None = None) -> _Value:
        """To a size by cutting or padding around the middle."""
    @_overload
    @staticmethod
    def resize_with_crop_or_pad(image: _Tensor, target_height: _Value, target_width: _Int, *, name: str | None = None) -> _Value:
        """To a size by cutting or padding around the middle."""
    @_overload
    @staticmethod
    def resize_with_crop_or_pad(image: _Tensor, target_height: _Int, target_width: _Value, *, name: str | None = None) -> _Value:
        """To a size by cutting or padding around the middle."""
    @_overload
    @staticmethod
    def resize_with_crop_or_pad(image: _Plain, target_height: _PlainInt, target_width: _PlainInt, *, name: str | None = None) -> _Array:
        """To a size by cutting or padding around the middle."""
    @_overload
    @staticmethod
    def resize_with_pad(image: _Symbolic, target_height: Any, target_width: Any, method: Any = 'bilinear', antialias: Any = False) -> _Value:
        """Resized with its proportions to fit, and filled up with zeros around."""
    @_overload
    @staticmethod
    def resize_with_pad(image: _Plain, target_height: Any, target_width: Any, method: Any = 'bilinear', antialias: Any = False) -> _Array:
        """Resized with its proportions to fit, and filled up with zeros around."""
    @_overload
    @staticmethod
    def rgb_to_grayscale(images: _Symbolic, *, name: str | None = None) -> _Value:
        """Three channels to one."""
    @_overload
    @staticmethod
    def rgb_to_grayscale(images: _Plain, *, name: str | None = None) -> _Array:
        """Three channels to one."""
    @_overload
    @staticmethod
    def rgb_to_hsv(images: _Symbolic, *, name: str | None = None) -> _Value:
        """Hue, saturation, value of float images."""
    @_overload
    @staticmethod
    def rgb_to_hsv(images: _Plain, *, name: str | None = None) -> _Array:
        """Hue, saturation, value of float images."""
    @_overload
    @staticmethod
    def rgb_to_yiq(images: _Symbolic) -> _Value:
        """YIQ of float RGB in [0, 1]."""
    @_overload
    @staticmethod
    def rgb_to_yiq(images: _Plain) -> _Array:
        """YIQ of float RGB in [0, 1]."""
    @_overload
    @staticmethod
    def rgb_to_yuv(images: _Symbolic, name: str | None = None) -> _Value:
        """Brightness and two differences of colour, of float RGB in [0, 1]."""
    @_overload
    @staticmethod
    def rgb_to_yuv(images: _Plain, name: str | None = None) -> _Array:
        """Brightness and two differences of colour, of float RGB in [0, 1]."""
    @_overload
    @staticmethod
    def rot90(image: _Symbolic, k: _Int = 1, *, name: str | None = None) -> _Value:
        """Turned counter-clockwise by k right angles."""
    @_overload
    @staticmethod
    def rot90(image: _Plain, k: _Int = 1, *, name: str | None = None) -> _Array:
        """Turned counter-clockwise by k right angles."""
    @_overload
    @staticmethod
    def rotate(image: _Symbolic, angle: Any, interpolation: Any = 'nearest', fill: Any = 0.0, center: Any = None) -> _Value:
        """Turned counter-clockwise by `angle` degrees, about its middle or center (x, y); `fill` outside."""
    @_overload
    @staticmethod
    def rotate(image: _Plain, angle: Any, interpolation: Any = 'nearest', fill: Any = 0.0, center: Any = None) -> _Array:
        """Turned counter-clockwise by `angle` degrees, about its middle or center (x, y); `fill` outside."""
    @staticmethod
    def sample_distorted_bounding_box(image_size: Any, bounding_boxes: Any, seed: Any = 0, min_object_covered: Any = 0.1, aspect_ratio_range: Any = None, area_range: Any = None, max_attempts: Any = None, use_image_if_no_bounding_boxes: Any = None, name: Any = None) -> Any:
        """(begin, size, bboxes): a random crop for `slice`, in which some object is seen, and its box."""
    @_overload
    @staticmethod
    def solarize(image: _Symbolic, threshold: Any) -> _Value:
        """Values from threshold on inverted."""
    @_overload
    @staticmethod
    def solarize(image: _Plain, threshold: Any) -> _Array:
        """Values from threshold on inverted."""
    @_overload
    @staticmethod
    def stateless_random_brightness(image: _Symbolic, max_delta: Any, seed: Any) -> _Value:
        """adjust_brightness by what a seed draws of -max_delta to max_delta."""
    @_overload
    @staticmethod
    def stateless_random_brightness(image: _Plain, max_delta: Any, seed: Any) -> _Array:
        """adjust_brightness by what a seed draws of -max_delta to max_delta."""
    @_overload
    @staticmethod
    def stateless_random_contrast(image: _Symbolic, lower: Any, upper: Any, seed: Any) -> _Value:
        """adjust_contrast by what a seed draws of lower to upper."""
    @_overload
    @staticmethod
    def stateless_random_contrast(image: _Plain, lower: Any, upper: Any, seed: Any) -> _Array:
        """adjust_contrast by what a seed draws of lower to upper."""
    @_overload
    @staticmethod
    def stateless_random_crop(value: _Symbolic, size: Any, seed: Any, name: str | None = None) -> _Value:
        """A part of that size, at a place that a seed draws."""
    @_overload
    @staticmethod
    def stateless_random_crop(value: _Plain, size: Any, seed: Any, name: str | None = None) -> _Array:
        """A part of that size, at a place that a seed draws."""
    @_overload
    @staticmethod
    def stateless_random_flip_left_right(image: _Symbolic, seed: Any) -> _Value:
        """Mirrored for half of the seeds (two integers): the same seed, the same result."""
    @_overload
    @staticmethod
    def stateless_random_flip_left_right(image: _Plain, seed: Any) -> _Array:
        """Mirrored for half of the seeds (two integers): the same seed, the same result."""
    @_overload
    @staticmethod
    def stateless_random_flip_up_down(image: _Symbolic, seed: Any) -> _Value:
        """Upside down for half of the seeds."""
    @_overload
    @staticmethod
    def stateless_random_flip_up_down(image: _Plain, seed: Any) -> _Array:
        """Upside down for half of the seeds."""
    @_overload
    @staticmethod
    def stateless_random_hue(image: _Symbolic, max_delta: Any, seed: Any) -> _Value:
        """adjust_hue by what a seed draws of -max_delta to max_delta."""
    @_overload
    @staticmethod
    def stateless_random_hue(image: _Plain, max_delta: Any, seed: Any) -> _Array:
        """adjust_hue by what a seed draws of -max_delta to max_delta."""
    @_overload
    @staticmethod
    def stateless_random_saturation(image: _Symbolic, lower: Any, upper: Any, seed: Any = None) -> _Value:
        """adjust_saturation by what a seed draws of lower to upper."""
    @_overload
    @staticmethod
    def stateless_random_saturation(image: _Plain, lower: Any, upper: Any, seed: Any = None) -> _Array:
        """adjust_saturation by what a seed draws of lower to upper."""
    @_overload
    @staticmethod
    def total_variation(images: _Symbolic, name: str | None = None) -> _Value:
        """The sum of the differences of neighbouring pixels."""
    @_overload
    @staticmethod
    def total_variation(images: _Plain, name: str | None = None) -> _Array:
        """The sum of the differences of neighbouring pixels."""
    @_overload
    @staticmethod
    def transpose(image: _Symbolic, *, name: str | None = None) -> _Value:
        """Rows become columns."""
    @_overload
    @staticmethod
    def transpose(image: _Plain, *, name: str | None = None) -> _Array:
        """Rows become columns."""
    @_overload
    @staticmethod
    def trivial_augment(image: _Symbolic, num_magnitude_bins: Any = 31, interpolation: Any = 'nearest', fill: Any = 0.0, seed: Any = None) -> _Value:
        """One change of one strength, both drawn at random: TrivialAugment (wide)."""
    @_overload
    @staticmethod
    def trivial_augment(image: _Plain, num_magnitude_bins: Any = 31, interpolation: Any = 'nearest', fill: Any = 0.0, seed: Any = None) -> _Drawn:
        """One change of one strength, both drawn at random: TrivialAugment (wide)."""
    @_overload
    @staticmethod
    def yiq_to_rgb(images: _Symbolic) -> _Value:
        """RGB of YIQ."""
    @_overload
    @staticmethod
    def yiq_to_rgb(images: _Plain) -> _Array:
        """RGB of YIQ."""
    @_overload
    @staticmethod
    def yuv_to_rgb(images: _Symbolic, name: str | None = None) -> _Value:
        """RGB of YUV."""
    @_overload
    @staticmethod
    def yuv_to_rgb(images: _Plain, name: str | None = None) -> _Array:
        """RGB of YUV."""
class nn:
    """Operations of tf.nn."""
    @_overload
    @staticmethod
    def l2_normalize(x: _Symbolic, axis: _Ints | None = None, epsilon: Any = 1e-12, name: str | None = None) -> _Value:
        """x over its length along the axes."""
    @_overload
    @staticmethod
    def l2_normalize(x: _Plain, axis: _Ints | None = None, epsilon: Any = 1e-12, name: str | None = None) -> _Array:
        """x over its length along the axes."""
    @_overload
    @staticmethod
    def log_sigmoid(x: _Symbolic, name: str | None = None) -> _Value:
        """log(sigmoid(x))."""
    @_overload
    @staticmethod
    def log_sigmoid(x: _Plain, name: str | None = None) -> _Array:
        """log(sigmoid(x))."""
    @_overload
    @staticmethod
    def log_softmax(logits: _Symbolic, axis: _Ints | None = None, name: str | None = None) -> _Value:
        """log of softmax along an axis, by default the last."""
    @_overload
    @staticmethod
    def log_softmax(logits: _Plain, axis: _Ints | None = None, name: str | None = None) -> _Array:
        """log of softmax along an axis, by default the last."""
    @_overload
    @staticmethod
    def relu(features: _Symbolic, *, name: str | None = None) -> _Value:
        """x, or 0 if negative."""
    @_overload
    @staticmethod
    def relu(features: _Plain, *, name: str | None = None) -> _Array:
        """x, or 0 if negative."""
    sigmoid = _sigmoid
    @_overload
    @staticmethod
    def softmax(logits: _Symbolic, axis: _Ints | None = None, name: str | None = None) -> _Value:
        """exp(x) over its sum along an axis, by default the last."""
    @_overload
    @staticmethod
    def softmax(logits: _Plain, axis: _Ints | None = None, name: str | None = None) -> _Array:
        """exp(x) over its sum along an axis, by default the last."""
    @_overload
    @staticmethod
    def softplus(features: _Symbolic, *, name: str | None = None) -> _Value:
        """log(1 + exp(x))."""
    @_overload
    @staticmethod
    def softplus(features: _Plain, *, name: str | None = None) -> _Array:
        """log(1 + exp(x))."""
    @_overload
    @staticmethod
    def softsign(x: _Symbolic, name: str | None = None) -> _Value:
        """x / (1 + |x|)."""
    @_overload
    @staticmethod
    def softsign(x: _Plain, name: str | None = None) -> _Array:
        """x / (1 + |x|)."""
    tanh = _tanh
    @_overload
    @staticmethod
    def top_k(input: _Symbolic, k: Any = 1, sorted: Any = True, index_type: Any = 'int32', name: str | None = None) -> _TopK[_Value]:
        """(values, indices): the k largest values of each row (the last dimension), the largest first."""
    @_overload
    @staticmethod
    def top_k(input: _Plain, k: Any = 1, sorted: Any = True, index_type: Any = 'int32', name: str | None = None) -> _TopK[_Array]:
        """(values, indices): the k largest values of each row (the last dimension), the largest first."""
    @_overload
    @staticmethod
    def zero_fraction(value: _Symbolic, name: str | None = None) -> _Value:
        """The share of values that are 0."""
    @_overload
    @staticmethod
    def zero_fraction(value: _Plain, name: str | None = None) -> _Array:
        """The share of values that are 0."""
class linalg:
    """Operations of tf.linalg."""
    eye = _eye
    @_overload
    @staticmethod
    def l2_normalize(x: _Symbolic, axis: _Ints | None = None, epsilon: Any = 1e-12, name: str | None = None) -> _Value:
        """x over its length along the axes."""
    @_overload
    @staticmethod
    def l2_normalize(x: _Plain, axis: _Ints | None = None, epsilon: Any = 1e-12, name: str | None = None) -> _Array:
        """x over its length along the axes."""
    matmul = _matmul
    norm = _norm
class bitwise:
    """Operations of tf.bitwise."""
    @_overload
    @staticmethod
    def bitwise_and(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
        """Bits set in both."""
    @_overload
    @staticmethod
    def bitwise_and(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
        """Bits set in both."""
    @_overload
    @staticmethod
    def bitwise_and(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
        """Bits set in both."""
    @_overload
    @staticmethod
    def bitwise_or(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
        """Bits set in one."""
    @_overload
    @staticmethod
    def bitwise_or(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
        """Bits set in one."""
    @_overload
    @staticmethod
    def bitwise_or(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
        """Bits set in one."""
    @_overload
    @staticmethod
    def bitwise_xor(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
        """Bits set in exactly one."""
    @_overload
    @staticmethod
    def bitwise_xor(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
        """Bits set in exactly one."""
    @_overload
    @staticmethod
    def bitwise_xor(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
        """Bits set in exactly one."""
    @_overload
    @staticmethod
    def invert(x: _Symbolic, *, name: str | None = None) -> _Value:
        """Every bit turned over."""
    @_overload
    @staticmethod
    def invert(x: _Plain, *, name: str | None = None) -> _Array:
        """Every bit turned over."""
    @_overload
    @staticmethod
    def left_shift(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
        """Bits moved up."""
    @_overload
    @staticmethod
    def left_shift(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
        """Bits moved up."""
    @_overload
    @staticmethod
    def left_shift(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
        """Bits moved up."""
    @_overload
    @staticmethod
    def right_shift(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
        """Bits moved down, the sign kept."""
    @_overload
    @staticmethod
    def right_shift(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
        """Bits moved down, the sign kept."""
    @_overload
    @staticmethod
    def right_shift(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
        """Bits moved down, the sign kept."""
class sparse:
    """Operations of tf.sparse."""
    SparseTensor: Any
    @staticmethod
    def to_dense(sp_input: Any, default_value: Any = None, validate_indices: Any = True, name: Any = None) -> Any:
        """The dense value of a sparse one, default_value (0, empty strings) elsewhere."""
class dtypes:
    """Operations of tf.dtypes."""
    cast = _cast
    saturate_cast = _saturate_cast
class debugging:
    """Operations of tf.debugging."""
    Assert = _Assert
    assert_equal = _assert_equal
    assert_greater = _assert_greater
    @_overload
    @staticmethod
    def assert_greater_equal(x: _Symbolic, y: _Tensor, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Value:
        """An element for which x >= y does not hold everywhere is an error."""
    @_overload
    @staticmethod
    def assert_greater_equal(x: _Tensor, y: _Symbolic, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Value:
        """An element for which x >= y does not hold everywhere is an error."""
    @_overload
    @staticmethod
    def assert_greater_equal(x: _Plain, y: _Plain, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Array:
        """An element for which x >= y does not hold everywhere is an error."""
    assert_less = _assert_less
    @_overload
    @staticmethod
    def assert_less_equal(x: _Symbolic, y: _Tensor, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Value:
        """An element for which x <= y does not hold everywhere is an error."""
    @_overload
    @staticmethod
    def assert_less_equal(x: _Tensor, y: _Symbolic, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Value:
        """An element for which x <= y does not hold everywhere is an error."""
    @_overload
    @staticmethod
    def assert_less_equal(x: _Plain, y: _Plain, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Array:
        """An element for which x <= y does not hold everywhere is an error."""
    @_overload
    @staticmethod
    def assert_negative(x: _Symbolic, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Value:
        """An element for which x < 0 does not hold everywhere is an error."""
    @_overload
    @staticmethod
    def assert_negative(x: _Plain, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Array:
        """An element for which x < 0 does not hold everywhere is an error."""
    @_overload
    @staticmethod
    def assert_non_negative(x: _Symbolic, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Value:
        """An element for which x >= 0 does not hold everywhere is an error."""
    @_overload
    @staticmethod
    def assert_non_negative(x: _Plain, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Array:
        """An element for which x >= 0 does not hold everywhere is an error."""
    @_overload
    @staticmethod
    def assert_non_positive(x: _Symbolic, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Value:
        """An element for which x <= 0 does not hold everywhere is an error."""
    @_overload
    @staticmethod
    def assert_non_positive(x: _Plain, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Array:
        """An element for which x <= 0 does not hold everywhere is an error."""
    @_overload
    @staticmethod
    def assert_none_equal(x: _Symbolic, y: _Tensor, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Value:
        """An element for which x != y does not hold everywhere is an error."""
    @_overload
    @staticmethod
    def assert_none_equal(x: _Tensor, y: _Symbolic, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Value:
        """An element for which x != y does not hold everywhere is an error."""
    @_overload
    @staticmethod
    def assert_none_equal(x: _Plain, y: _Plain, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Array:
        """An element for which x != y does not hold everywhere is an error."""
    @_overload
    @staticmethod
    def assert_positive(x: _Symbolic, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Value:
        """An element for which x > 0 does not hold everywhere is an error."""
    @_overload
    @staticmethod
    def assert_positive(x: _Plain, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Array:
        """An element for which x > 0 does not hold everywhere is an error."""
class audio:
    """Operations of tf.audio."""
    @_overload
    @staticmethod
    def decode_wav(contents: _Symbolic, desired_channels: Any = -1, desired_samples: Any = -1, name: str | None = None) -> _Value:
        """(audio, sample_rate) of a WAV file of 16 bits a sample: float32 (samples, channels), int32."""
    @_overload
    @staticmethod
    def decode_wav(contents: _Plain, desired_channels: Any = -1, desired_samples: Any = -1, name: str | None = None) -> _Array:
        """(audio, sample_rate) of a WAV file of 16 bits a sample: float32 (samples, channels), int32."""
class signal:
    """Operations of tf.signal."""
    @_overload
    @staticmethod
    def frame(signal: _Symbolic, frame_length: Any, frame_step: Any, pad_end: Any = False, pad_value: Any = 0, axis: _Ints = -1, name: str | None = None) -> _Value:
        """Overlapping parts of the last dimension: (..., frames, frame_length)."""
    @_overload
    @staticmethod
    def frame(signal: _Plain, frame_length: Any, frame_step: Any, pad_end: Any = False, pad_value: Any = 0, axis: _Ints = -1, name: str | None = None) -> _Array:
        """Overlapping parts of the last dimension: (..., frames, frame_length)."""
    @staticmethod
    def hamming_window(window_length: Any, periodic: Any = True, dtype: Any = 'float32', name: Any = None) -> Any:
        """Weights of a Hamming window."""
    @staticmethod
    def hann_window(window_length: Any, periodic: Any = True, dtype: Any = 'float32', name: Any = None) -> Any:
        """Weights of a Hann window."""
    @staticmethod
    def linear_to_mel_weight_matrix(num_mel_bins: Any = 20, num_spectrogram_bins: Any = 129, sample_rate: Any = 8000, lower_edge_hertz: Any = 125.0, upper_edge_hertz: Any = 3800.0, dtype: Any = 'float32', name: Any = None) -> Any:
        """(num_spectrogram_bins, num_mel_bins): a spectrogram times this is one of mel bins."""
    @_overload
    @staticmethod
    def rfft(input_tensor: _Symbolic, fft_length: Any = None, name: str | None = None) -> _Value:
        """Fourier transforms of the last dimension of real values: Complex (..., fft_length / 2 + 1)."""
    @_overload
    @staticmethod
    def rfft(input_tensor: _Plain, fft_length: Any = None, name: str | None = None) -> _Array:
        """Fourier transforms of the last dimension of real values: Complex (..., fft_length / 2 + 1)."""
    @_overload
    @staticmethod
    def stft(signals: _Symbolic, frame_length: Any, frame_step: Any, fft_length: Any = None, window_fn: Any = ..., pad_end: Any = False, name: str | None = None) -> _Value:
        """Fourier transforms of windows of signals (..., samples): Complex (..., frames, bins)."""
    @_overload
    @staticmethod
    def stft(signals: _Plain, frame_length: Any, frame_step: Any, fft_length: Any = None, window_fn: Any = ..., pad_end: Any = False, name: str | None = None) -> _Array:
        """Fourier transforms of windows of signals (..., samples): Complex (..., frames, bins)."""
class ragged:
    """Operations of tf.ragged."""
    @staticmethod
    def constant(pylist: Any, dtype: Any = None, ragged_rank: Any = None, inner_shape: Any = None, name: Any = None, row_splits_dtype: Any = 'int64') -> Any:
        """A RaggedTensor of nested lists whose rows differ in length."""
    @staticmethod
    def range(starts: Any, limits: Any = None, deltas: Any = 1, dtype: Any = None, name: Any = None, row_splits_dtype: Any = 'int64') -> Any:
        """Rows of numbers, each from its start up to its limit; with one argument from 0 on."""
