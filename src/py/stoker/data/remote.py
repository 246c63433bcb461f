# SPDX-License-Identifier: Apache-2.0
"""Remote files: s3://, gs://, az://, hf://, http:// and others that the package fsspec supports.

Sources of files (TFRecordDataset, TextLineDataset, ...) and Dataset.list_files take such names. Objects are copied to a
cache in blocks, and read from there. The network is used only for names given by the program, while its pipeline runs
or lists them.
"""

import copy as _copy
import os as _os

from .core import _arguments as _arg
from .errors import InvalidArgumentError
from .files import _remote

fetch, glob = _remote.fetch, _remote.glob


def configure(cache=None, cache_bytes=None, block_bytes=None, connections=None, ahead=None, timeout=None,
              retries=None, storage_options=None):  # fmt: skip
    """Sets this process's options, for files opened from now on; None: unchanged.

    cache: the folder of copies (default $STOKER_DATA_CACHE, else ~/.cache/stoker/remote), at most cache_bytes
    (10 GiB). block_bytes: per request (8 MiB); connections: requests at once (8); ahead: objects copied while one is
    read (4); timeout: seconds per request (30); retries: of a failed request (5). storage_options: fsspec's arguments
    by scheme, {"s3": {"anon": True}}; they are kept in memory only.
    """
    new = _copy.copy(_remote.settings)
    if cache is not None:
        new.cache = _os.path.abspath(_arg.local(cache))
    least = {"cache_bytes": 1, "block_bytes": 4096, "connections": 1, "ahead": 0, "retries": 0}
    given = {"cache_bytes": cache_bytes, "block_bytes": block_bytes, "connections": connections, "ahead": ahead,
             "retries": retries}  # fmt: skip
    for name, value in given.items():
        if value is not None:
            setattr(new, name, _arg.count(value, name, least[name]))
    if timeout is not None:
        if not timeout > 0:
            raise InvalidArgumentError(f"timeout is a positive number of seconds, not {timeout!r}")
        new.timeout = float(timeout)
    if storage_options is not None:
        if not all(isinstance(v, dict) for v in dict(storage_options).values()):
            raise InvalidArgumentError('storage_options are arguments by scheme, {"s3": {"anon": True}}')
        new.storage_options = {str(k): dict(v) for k, v in storage_options.items()}
    _remote.configure(new)


def forget(name):
    """Accepts a new version of an object that this process has already read."""
    _remote.remote().forget(_os.fsdecode(name))
