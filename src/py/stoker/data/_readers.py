# SPDX-License-Identifier: Apache-2.0
"""Readers in Python, for kinds of files that the engine does not read itself: CSV and tar."""

import contextlib
import csv
import gzip
import io
import os
import tarfile
import zlib

import numpy as np

from . import _dtypes
from .errors import DataLossError, InvalidArgumentError, NotFoundError


@contextlib.contextmanager
def opened(path, compression=None):
    """The file's bytes as a stream. NotFoundError, DataLossError."""
    try:
        f = open(path, "rb")
    except FileNotFoundError as e:
        raise NotFoundError(f"{path}: no such file") from e
    try:
        if compression == "GZIP":
            yield gzip.GzipFile(fileobj=f)
        elif compression == "ZLIB":
            yield io.BytesIO(zlib.decompress(f.read()))
        else:
            yield f
    except (EOFError, gzip.BadGzipFile, zlib.error, tarfile.TarError) as e:
        raise DataLossError(f"{path}: {e}") from e
    finally:
        f.close()


def _field(text, default, dtype, na_value, where):
    if text == "" or text == na_value:
        if default.size == 0:
            raise InvalidArgumentError(f"{where}: the field is empty, and it has no default")
        return default[0]
    if dtype == _dtypes.string:
        return text.encode("utf-8", "surrogateescape")
    try:
        return np.array(int(text) if dtype.kind in "iu" else float(text), dtype)[()]
    except (ValueError, OverflowError) as e:
        raise InvalidArgumentError(f"{where}: {text!r} is no {dtype.name}") from e


def csv_rows(paths, dtypes, defaults, options):
    """Rows of CSV files as tuples of the columns chosen."""
    chosen = options["select_cols"]
    for path in paths:
        with opened(path, options["compression_type"]) as raw:
            lines = io.TextIOWrapper(raw, "utf-8", "surrogateescape", newline="")
            quoting = csv.QUOTE_MINIMAL if options["use_quote_delim"] else csv.QUOTE_NONE
            reader = csv.reader(lines, delimiter=options["field_delim"], quoting=quoting)
            if options["header"]:
                next(reader, None)
            for row in reader:
                where = f"{path}:{reader.line_num}"
                columns = range(len(row)) if chosen is None else chosen
                if len(columns) != len(dtypes) or max(columns, default=-1) >= len(row):
                    raise InvalidArgumentError(
                        f"{where}: {len(row)} fields, expected "
                        f"{len(dtypes) if chosen is None else max(columns) + 1}"
                    )
                yield tuple(
                    _field(row[c], d, t, options["na_value"], where)
                    for c, d, t in zip(columns, defaults, dtypes)
                )


def _sample(path, key, parts, suffixes):
    missing = [s for s in suffixes if s not in parts]
    if missing:
        raise InvalidArgumentError(f"{path}: sample {key} has no .{missing[0]}")
    return {"__key__": os.fsencode(key), **{s: parts[s] for s in suffixes}}


def tar_samples(paths, suffixes):
    """Samples of tar files: members whose names agree up to the first dot, one behind the other."""
    for path in paths:
        with opened(path) as raw, tarfile.open(fileobj=raw, mode="r|*") as tar:
            key, parts = None, {}
            for member in tar:
                if not member.isfile():
                    continue
                folder, name = os.path.split(member.name)
                stem, _, suffix = name.partition(".")
                here = os.path.join(folder, stem)
                if key is not None and here != key:
                    yield _sample(path, key, parts, suffixes)
                    parts = {}
                key = here
                parts[suffix] = tar.extractfile(member).read() if suffix in suffixes else b""
            if key is not None:
                yield _sample(path, key, parts, suffixes)
