# SPDX-License-Identifier: Apache-2.0
"""tf.train's classes for Examples, for scripts that are written with them."""

from . import io as _io


class Int64List:
    """Integers of a Feature."""

    def __init__(self, value=()):
        import numpy as np

        self.value = np.asarray(list(value), np.int64)


class FloatList:
    """Floats of a Feature."""

    def __init__(self, value=()):
        import numpy as np

        self.value = np.asarray(list(value), np.float32)


class BytesList:
    """Strings of a Feature."""

    def __init__(self, value=()):
        from ._dtypes import strings

        self.value = strings(list(value))


class Feature:
    """One of the three lists, or none."""

    def __init__(self, bytes_list=None, float_list=None, int64_list=None):
        given = [v for v in (bytes_list, float_list, int64_list) if v is not None]
        if len(given) > 1:
            raise ValueError("a Feature has one list")
        self.value = given[0].value if given else None


class Features:
    """Features by name."""

    def __init__(self, feature=None):
        self.feature = dict(feature or {})

    def values(self):
        return {k: f.value for k, f in self.feature.items()}


class FeatureList:
    """A Feature for each step."""

    def __init__(self, feature=()):
        self.feature = list(feature)


class FeatureLists:
    """FeatureLists by name."""

    def __init__(self, feature_list=None):
        self.feature_list = dict(feature_list or {})

    def values(self):
        return {k: [f.value for f in v.feature] for k, v in self.feature_list.items()}


class Example(_io.Example):
    """tf.train.Example(features=Features(...)), or of a dict."""

    def __init__(self, features=None):
        super().__init__(features.values() if isinstance(features, Features) else features)


class SequenceExample(_io.SequenceExample):
    """tf.train.SequenceExample(context=Features(...), feature_lists=FeatureLists(...))."""

    def __init__(self, context=None, feature_lists=None):
        super().__init__(
            context.values() if isinstance(context, Features) else context,
            feature_lists.values() if isinstance(feature_lists, FeatureLists) else feature_lists,
        )
