# SPDX-License-Identifier: Apache-2.0
"""Reading and writing: TFRecord, tf.train.Example, files."""

from . import _ops


class TFRecordWriter:
    """Writes TFRecord files."""


for _n, _f in _ops.PUBLIC.items():
    if _n.startswith("io."):
        globals()[_n.split(".")[1]] = _f
