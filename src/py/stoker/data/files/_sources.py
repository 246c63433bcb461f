# SPDX-License-Identifier: Apache-2.0
"""Datasets of files, as classes. Names may be a text, a list, a dataset of texts or a function's argument. Names known
beforehand may be remote (stoker.data.remote): their copies are read."""

import os

import numpy as np

from ..core import _arguments, _call, _dtypes, _spec, _trace
from .. import _engine
from ..core._dataset import Dataset
from ..core._named import named_class
from ..core._spec import TensorSpec
from ..core._value import Value
from . import _remote
from ..errors import DataLossError, InvalidArgumentError, NotFoundError, PermissionDeniedError


def _names(filenames):
    """A 1-D object array of bytes, or a symbolic value."""
    if isinstance(filenames, Value):
        if filenames.dtype != _dtypes.string:
            raise TypeError(f"filenames are strings, not {filenames.dtype}")
        return filenames
    if isinstance(filenames, os.PathLike):
        filenames = os.fspath(filenames)
    if isinstance(filenames, (list, tuple)):
        filenames = [os.fspath(f) if isinstance(f, os.PathLike) else f for f in filenames]
    if isinstance(filenames, (list, tuple)) and not filenames:
        return np.empty(0, dtype=object)
    if not isinstance(filenames, (str, bytes, list, tuple, np.ndarray)) and not hasattr(
        filenames, "__array__"
    ):
        raise TypeError(
            "filenames are a name, a list or array of names, or a dataset of names, "
            f"not {type(filenames).__name__}"
        )
    return np.atleast_1d(_call.convert(filenames, _dtypes.string))


def _local_names(filenames):
    """The same, with remote objects replaced by copies made now."""
    names = _names(filenames)
    if isinstance(names, Value) or not any(_remote.scheme_of(n) for n in names.ravel()):
        return names
    listed = [os.fsdecode(n) for n in names.ravel()]
    return np.array([os.fsencode(_remote.fetch(n, listed)) for n in listed], dtype=object)


class _FileDataset(Dataset):
    """A dataset that reads files; for a dataset of names, the files in their order."""

    _of_files = None  # kind

    def _read(self, filenames, args, spec, parallel=None):
        if not isinstance(filenames, Dataset):
            filenames = _names(filenames)
            remote = not isinstance(filenames, Value) and {_remote.scheme_of(n) for n in filenames.ravel()} - {None}
            for scheme in remote or ():
                _remote.need(scheme)
            if parallel or remote:
                listed = filenames.ravel() if remote else ()
                filenames = Dataset.from_tensor_slices(filenames)
                if remote:
                    filenames = filenames.map(_fetching(listed))
        if isinstance(filenames, Dataset):
            more = {k: v for k, v in args.items()}
            made = filenames.interleave if parallel else filenames.flat_map
            options = {"cycle_length": parallel, "num_parallel_calls": parallel} if parallel else {}
            ds = made(
                lambda name: Dataset._make(self._of_files, [], dict(more, filenames=name), spec),
                **options,
            )
            self.__dict__.update(ds.__dict__)
            return
        self._init(self._of_files, [], dict(args, filenames=filenames), spec)


def _fetching(names):
    """A function for map: maps names to paths of local copies."""

    def fetched(name):
        return _remote.fetch(name, names)

    return fetched


def _compression(kind):
    if kind not in (None, "", "GZIP", "ZLIB"):
        raise InvalidArgumentError(f'compression_type is "", "GZIP" or "ZLIB", not {kind!r}')
    return kind or None


def _calls(n):
    return None if n is None else _arguments.count(n, "num_parallel_reads", -1)


@named_class
class _RecordFiles(_FileDataset):
    """Files of strings, one after the other; with num_parallel_reads, several in turn."""

    def __init__(
        self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None
    ):
        args = {"compression_type": _compression(compression_type)}
        if self._of_files == "tfrecord":  # the engine splits other files itself
            args["buffer_size"] = buffer_size
        self._read(filenames, args, TensorSpec((), "bytes"), _calls(num_parallel_reads))


class TFRecordDataset(_RecordFiles):
    """Records of TFRecord files: bytes scalars. With num_parallel_reads, alternates between files."""

    _of_files = "tfrecord"


class TextLineDataset(_RecordFiles):
    """Lines of text files, without their line ends: bytes scalars. With num_parallel_reads, alternates between files.
    """

    _of_files = "text_lines"


class FixedLengthRecordDataset(_FileDataset):
    """Records of record_bytes bytes between header_bytes and footer_bytes of each file."""

    _of_files = "fixed_records"

    def __init__(
        self,
        filenames,
        record_bytes,
        header_bytes=None,
        footer_bytes=None,
        buffer_size=None,
        compression_type=None,
        num_parallel_reads=None,
        name=None,
    ):
        args = {
            "record_bytes": _arguments.count(record_bytes, "record_bytes", 1),
            "header_bytes": _arguments.count(header_bytes or 0, "header_bytes", 0),
            "footer_bytes": _arguments.count(footer_bytes or 0, "footer_bytes", 0),
            "compression_type": _compression(compression_type),
        }
        self._read(filenames, args, TensorSpec((), "bytes"), _calls(num_parallel_reads))


class CsvDataset(_FileDataset):
    """Rows of CSV files: tuples of scalars, typed by record_defaults (dtypes or defaults)."""

    _of_files = "csv"

    def __init__(
        self,
        filenames,
        record_defaults,
        compression_type=None,
        buffer_size=None,
        header=False,
        field_delim=",",
        use_quote_delim=True,
        na_value="",
        select_cols=None,
        exclude_cols=None,
    ):
        dtypes, defaults = _arguments.csv_columns(record_defaults)
        args = {
            "dtypes": ("ints", [_dtypes.number(d) for d in dtypes]),
            "defaults": ("tensors", defaults),
            "header": int(header),
            "field_delim": field_delim,
            "use_quote_delim": int(use_quote_delim),
            "na_value": na_value,
            "compression_type": _compression(compression_type),
            "buffer_size": buffer_size,
        }
        spec = tuple(TensorSpec((), d) for d in dtypes)
        for name, columns in (("select_cols", select_cols), ("exclude_cols", exclude_cols)):
            if columns is not None:
                args[name] = ("ints", [int(c) for c in columns])
        self._read(filenames, args, spec)


def braces(pattern):
    """Expands {000..099} and {a,b} in a pattern."""
    import itertools
    import re

    parts = []
    for i, text in enumerate(re.split(r"\{([^{}]*)\}", pattern)):
        ends = text.split("..")
        if i % 2 == 0:
            parts.append([text])
        elif len(ends) == 2 and all(e.isdigit() for e in ends):
            width = len(ends[0]) if ends[0].startswith("0") else 0
            parts.append([str(n).zfill(width) for n in range(int(ends[0]), int(ends[1]) + 1)])
        else:
            parts.append(text.split(","))
    return ["".join(p) for p in itertools.product(*parts)]


class TarDataset(_FileDataset):
    """Samples of tar files (WebDataset shards): dicts of bytes by suffix, and "__key__".

    suffixes: those to read; by default those of the first sample of the first file. Names may contain {000..099}.
    """

    _of_files = "tar"

    def __init__(self, filenames, suffixes=None, num_parallel_reads=None, name=None):
        if isinstance(filenames, (str, os.PathLike)):
            filenames = braces(os.fspath(filenames))
        if suffixes is None:
            if isinstance(filenames, (Value, Dataset)):
                raise InvalidArgumentError(
                    "TarDataset needs suffixes= if the names are still unknown"
                )
            names = _names(filenames)
            if not len(names):
                raise InvalidArgumentError("TarDataset: no names of files")
            suffixes = _first_suffixes(os.fsdecode(_local_names(names[:1])[0]))
        keys = sorted({str(s) for s in suffixes} | {"__key__"})
        for k in keys:
            if k != k.lower() or "/" in k:
                raise InvalidArgumentError(f"suffixes must be lowercase, not {k!r}")
        spec = {k: TensorSpec((), "bytes") for k in keys}
        self._read(filenames, {"suffixes": ("texts", keys)}, spec, _calls(num_parallel_reads))


def _first_suffixes(path):
    """Suffixes of the first sample, grouped like the engine does (source_tar.c)."""
    import tarfile
    import zlib

    found, key = [], None
    try:
        with tarfile.open(path, "r|*") as tar:
            for member in tar:
                folder, name = os.path.split(member.name)
                stem, dot, suffix = name.partition(".")
                is_meta = not folder and name.startswith("__") and name.endswith("__")
                if not member.isfile() or not dot or not stem or is_meta:
                    continue
                if key is not None and (folder, stem) != key:
                    break
                key = (folder, stem)
                found.append(suffix.lower())
    except FileNotFoundError as e:
        raise NotFoundError(f"{path}: no such file") from e
    except (tarfile.TarError, EOFError, OSError, zlib.error) as e:
        if not found:
            raise DataLossError(f"{path}: {e}; suffixes= names a sample's parts") from e
    if not found:
        raise InvalidArgumentError(f"{path}: it contains no sample; suffixes= names a sample's parts")
    return found


def _mapped(path):
    """The array of a .npy file, mapped, as rows."""
    try:
        with np.errstate(all="ignore"):  # a header may claim more than can exist
            array = np.load(path, mmap_mode="r")
    except FileNotFoundError as e:
        raise NotFoundError(f"{path}: no such file") from e
    except PermissionError as e:
        raise PermissionDeniedError(f"{path}: {e.strerror}") from e
    except OSError as e:
        raise InvalidArgumentError(f"{path}: {e.strerror or e}") from e
    except Exception as e:  # NumPy evaluates the header, which may raise anything
        why = str(e) or type(e).__name__
        raise InvalidArgumentError(f"{path}: {_npy_place(path)}: {why}") from e
    if not isinstance(array, np.ndarray):
        array.close()
        raise InvalidArgumentError(f"{path}: an archive of arrays (.npz), not one array (.npy)")
    if array.ndim == 0:
        raise InvalidArgumentError(f"{path}: a scalar has no rows")
    return array if array.flags.c_contiguous and array.dtype.isnative else _read(path)


def _read(path):
    """The array of a .npy file whose axis or byte order the engine doesn't support: it is copied anyway, and reading,
    unlike a mapping, survives a truncation meanwhile."""
    try:
        return np.ascontiguousarray(np.load(path))
    except (OSError, ValueError) as e:
        raise InvalidArgumentError(f"{path}: {e}") from e


def _npy_place(path):
    """Converts what can be wrong in a .npy file to an error that names it."""
    with open(path, "rb") as f:
        head = f.read(12)
    if len(head) < 12 or head[:6] != b"\x93NUMPY":
        return "its first bytes aren't those of an .npy file"
    start, size = (10, head[8:10]) if head[6] == 1 else (12, head[8:12])
    return f"the header, bytes {start} to {start + int.from_bytes(size, 'little')}, does not fit the file"


class NpyDataset(_FileDataset):
    """Rows of .npy files, one file after another, with random access. Memory-mapped: only what is used is read. Files
    must agree in dtype and row shape."""

    _of_files = "npy"

    def __init__(self, filenames, name=None):
        names = _local_names(filenames)
        if isinstance(names, Value):
            raise InvalidArgumentError("NpyDataset needs names that are known")
        arrays = [_mapped(os.fsdecode(n)) for n in names]
        if not arrays:
            raise InvalidArgumentError("NpyDataset: no names of files")
        for n, a in zip(names, arrays):
            if (a.dtype, a.shape[1:]) != (arrays[0].dtype, arrays[0].shape[1:]):
                raise InvalidArgumentError(
                    f"{os.fsdecode(n)}: {a.dtype.name}{a.shape} and {arrays[0].dtype.name}"
                    f"{arrays[0].shape}; files agree in dtype and in the shape of a row"
                )
        parts = []
        for n, a in zip(names, arrays):
            try:
                parts.append(Dataset._of_tensors("tensor_slices", a, {"is_mapped": int(isinstance(a, np.memmap))}))
            except _trace.TraceError as e:  # a type that the engine doesn't support
                raise InvalidArgumentError(f"{os.fsdecode(n)}: {e}") from e
        ds = parts[0]
        if len(parts) > 1:
            ds = Dataset._make("concatenate", parts, {}, parts[0].element_spec)
        self.__dict__.update(ds.__dict__)


# the engine's types in order (include/stoker/data.h)
_TYPES = (
    "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 bfloat16 float32 float64 bytes"
).split()


def _indexed_spec(path):
    """The element spec in an indexed file's header: a TensorSpec, or a tuple of them.

    Raises NotFoundError and DataLossError; the engine checks the rest of the file.
    """
    try:
        head = np.fromfile(path, np.uint8, 16 + 1024 * 80)
    except FileNotFoundError as e:
        raise NotFoundError(f"{path}: no such file") from e
    count = int(head[8:16].view(np.int64)[0]) if head.size >= 16 else -1
    if head[:8].tobytes() != b"stkidx\0\1" or not 0 < count <= 1024 or head.size < 16 + 80 * count:
        raise DataLossError(f"{path}: not an indexed file")
    specs = []
    for kind, rank, *dims in head[16 : 16 + 80 * count].view(np.int64).reshape(count, 10).tolist():
        if not 0 <= kind < len(_TYPES) or not -1 <= rank <= 8:
            raise DataLossError(f"{path}: a component of unknown type or shape")
        shape = None if rank < 0 else tuple(None if d < 0 else d for d in dims[:rank])
        specs.append(TensorSpec(shape, _TYPES[kind]))
    return specs[0] if count == 1 else tuple(specs)


class IndexedDataset(_FileDataset):
    """Elements of files in the engine's own format (Dataset.save, `stoker data convert`), with random access: shuffling
    and resuming are by position.

    element_spec: the elements' structure; by default a single component, or a tuple of them.
    """

    _of_files = "indexed"

    def __init__(self, filenames, element_spec=None, name=None):
        names = _local_names(filenames)
        if isinstance(names, Value):
            raise InvalidArgumentError("IndexedDataset needs names that are known")
        parts = _engine.Dataset("indexed", [], {"filenames": names}, None).specs()
        spec = tuple(TensorSpec() for _ in parts) if len(parts) > 1 else TensorSpec()
        if element_spec is not None:
            spec = _spec.type_spec(element_spec)
            if len(_spec.components(spec)) != len(parts):
                raise InvalidArgumentError(f"the file has {len(parts)} components, not as {spec}")
        self._init("indexed", [], {"filenames": names}, spec)
