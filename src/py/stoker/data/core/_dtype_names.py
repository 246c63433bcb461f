# SPDX-License-Identifier: Apache-2.0
"""DType: NumPy's dtype with TensorFlow's attributes added (is_floating, min, as_numpy_dtype).

A proxy, because NumPy's dtypes allow neither subclasses nor attributes: it compares, hashes, prints and converts like
its dtype, and NumPy accepts it wherever it accepts a dtype. The public names (sd.float32) and the dtypes of values are
proxies; within the package dtypes are NumPy's own, from _dtypes.as_dtype().
"""

import numpy as np



class DType:
    """A dtype for both NumPy and TensorFlow."""

    __slots__ = ("dtype",)

    def __init__(self, dtype):
        object.__setattr__(self, "dtype", dtype)

    def __setattr__(self, name, value):
        raise AttributeError("a dtype does not change")

    def __getattr__(self, name):
        return getattr(self.dtype, name)

    @property
    def __class__(self):
        return np.dtype  # so that isinstance() treats it as one

    def __reduce__(self):
        return DType, (self.dtype,)

    def __eq__(self, other):
        if type(other) is DType:
            return self.dtype == other.dtype
        if hasattr(other, "as_numpy_dtype"):  # TensorFlow's
            return self.dtype == (np.dtype("S") if other.name == "string" else np.dtype(other.as_numpy_dtype))
        return bool(self.dtype == other)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self.dtype)

    def __repr__(self):
        return repr(self.dtype)

    def __str__(self):
        return str(self.dtype)

    def __dir__(self):
        return sorted({*dir(self.dtype), *(n for n in vars(DType) if not n.startswith("_"))})

    @property
    def as_numpy_dtype(self):
        """The class of NumPy's scalars of this type; `object` for strings."""
        return np.object_ if self.dtype.kind == "S" else self.dtype.type

    @property
    def base_dtype(self):
        """The dtype itself."""
        return self

    @property
    def real_dtype(self):
        """The type of a complex value's parts; else the dtype itself."""
        return DType(np.dtype(f"float{self.dtype.itemsize * 4}")) if self.is_complex else self

    @property
    def is_floating(self):
        """Is it a floating-point type?"""
        return self.dtype.kind == "f" or self.dtype.name == "bfloat16"

    @property
    def is_integer(self):
        """Is it an integer type?"""
        return self.dtype.kind in "iu"

    @property
    def is_unsigned(self):
        """Is it an unsigned integer type?"""
        return self.dtype.kind == "u"

    @property
    def is_bool(self):
        """Is it bool?"""
        return self.dtype.kind == "b"

    @property
    def is_complex(self):
        """Is it a complex type? Complex values are pairs of floats here."""
        return self.dtype.kind == "c"

    is_quantized = property(lambda self: False, doc="No.")

    @property
    def is_numeric(self):
        """Is it a numeric type?"""
        return self.is_integer or self.is_floating or self.is_complex

    @property
    def is_numpy_compatible(self):
        """Does NumPy have arrays of it?"""
        return True

    @property
    def size(self):
        """Bytes of a value; 1 for strings, as in TensorFlow."""
        return self.dtype.itemsize or 1

    @property
    def min(self):
        """The smallest finite value."""
        return self._limit("min")

    @property
    def max(self):
        """The largest finite value."""
        return self._limit("max")

    @property
    def limits(self):
        """The smallest and largest value of images: (0, 1) for floats, (0, largest) for integers."""
        return (0, self.max if self.is_integer else True if self.is_bool else 1)

    def _limit(self, which):
        if self.is_bool:
            return which == "max"
        if self.is_integer:
            return getattr(np.iinfo(self.dtype), which)
        if self.dtype.name == "bfloat16":
            import ml_dtypes

            return float(getattr(ml_dtypes.finfo(self.dtype), which))
        if self.is_floating:
            return getattr(np.finfo(self.dtype), which)
        raise TypeError(f"cannot find the {which}imum value of {self.dtype.name}")

    def is_compatible_with(self, other):
        """Is it the same dtype?"""
        return self == other
