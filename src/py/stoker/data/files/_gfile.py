# SPDX-License-Identifier: Apache-2.0
"""tf.io.gfile and tf.compat.v1.gfile with Python's own file functions: local files, and names with "file://"."""

import glob as _glob
import os
import shutil
import types

from ..core import _absent, _arguments
from ..errors import InvalidArgumentError, NotFoundError


class GFile:
    """A file, like open() with mode "r" (text), "rb", "w", "wb" or "a", with TensorFlow's methods."""

    def __init__(self, name, mode="r"):
        self._name, self._mode = name, mode
        path = _arguments.local(name)
        try:
            self._file = open(path, mode, **({} if "b" in mode else {"encoding": "utf-8", "newline": ""}))
        except FileNotFoundError as e:
            raise NotFoundError(f"{name}: {e.strerror}") from e

    name = property(lambda self: self._name, doc="The name.")
    mode = property(lambda self: self._mode, doc="The mode.")

    def read(self, n=-1):
        """The next n characters or bytes; all by default."""
        return self._file.read(n)

    def write(self, file_content):
        """Writes text or bytes."""
        self._file.write(file_content)

    def size(self):
        """Size of the file in bytes."""
        self._file.flush() if "r" not in self._mode else None
        return os.path.getsize(_arguments.local(self._name))

    def readline(self):
        """The next line, with its line end."""
        return self._file.readline()

    def readlines(self):
        """All lines."""
        return self._file.readlines()

    def seek(self, offset=None, whence=0, position=None):
        """Moves to a position."""
        self._file.seek(position if offset is None else offset, whence)

    def tell(self):
        """The position."""
        return self._file.tell()

    def seekable(self):
        """Can it move to a position?"""
        return True

    def flush(self):
        """Writes the buffer."""
        self._file.flush()

    def close(self):
        """Closes the file."""
        self._file.close()

    def next(self):
        """The next line."""
        return next(self._file)

    __next__ = next

    def __iter__(self):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()


def _missing(path):
    if not os.path.lexists(path):
        raise NotFoundError(f"{os.fsdecode(path)}: no such file or folder")


def glob(pattern):
    """Names that match a pattern (or several), sorted."""
    patterns = [pattern] if isinstance(pattern, (str, bytes, os.PathLike)) else pattern
    return sorted({n for p in patterns for n in _glob.glob(_arguments.local(p))})


def exists(path):
    """Does a file or folder with that name exist?"""
    return os.path.exists(_arguments.local(path))


def isdir(path):
    """Is it a folder?"""
    return os.path.isdir(_arguments.local(path))


def listdir(path):
    """Names in a folder."""
    path = _arguments.local(path)
    if not os.path.isdir(path):
        raise NotFoundError(f"{os.fsdecode(path)}: no such folder")
    return sorted(os.listdir(path))


def makedirs(path):
    """Creates a folder and its parents."""
    os.makedirs(_arguments.local(path), exist_ok=True)


def mkdir(path):
    """Creates a folder."""
    os.makedirs(_arguments.local(path), exist_ok=True) if exists(path) else os.mkdir(_arguments.local(path))


def remove(path):
    """Deletes a file."""
    path = _arguments.local(path)
    _missing(path)
    os.remove(path)


def rename(src, dst, overwrite=False):
    """Renames a file."""
    if not overwrite and exists(dst):
        raise InvalidArgumentError(f"{dst} exists; overwrite=True replaces it")
    _missing(_arguments.local(src))
    os.replace(_arguments.local(src), _arguments.local(dst))


def copy(src, dst, overwrite=False):
    """Copies a file."""
    if not overwrite and exists(dst):
        raise InvalidArgumentError(f"{dst} exists; overwrite=True replaces it")
    _missing(_arguments.local(src))
    shutil.copyfile(_arguments.local(src), _arguments.local(dst))


def rmtree(path):
    """Deletes a folder and its contents; targets of links stay."""
    _missing(_arguments.local(path))
    shutil.rmtree(_arguments.local(path))


def stat(path):
    """length in bytes, mtime_nsec, is_directory."""
    path = _arguments.local(path)
    _missing(path)
    s = os.stat(path)
    return types.SimpleNamespace(length=s.st_size, mtime_nsec=s.st_mtime_ns, is_directory=os.path.isdir(path))


def walk(top, topdown=True, onerror=None):
    """(folder, names of folders in it, names of files) for a folder and those below it."""
    return os.walk(_arguments.local(top), topdown, onerror)


def join(path, *paths):
    """Joins names of folders and files."""
    return os.path.join(path, *paths)


def get_registered_schemes():
    """Supported prefixes of names."""
    return ["", "file"]


NAMES = {
    f.__name__: f
    for f in (GFile, glob, exists, isdir, listdir, makedirs, mkdir, remove, rename, copy, rmtree, stat, walk, join, get_registered_schemes)
}  # fmt: skip
V1 = {
    "Open": GFile, "GFile": GFile, "FastGFile": GFile, "Exists": exists, "Glob": glob, "IsDirectory": isdir,
    "ListDirectory": listdir, "MakeDirs": makedirs, "MkDir": mkdir, "Remove": remove, "Rename": rename, "Copy": copy,
    "DeleteRecursively": rmtree, "Stat": stat, "Walk": walk,
}  # fmt: skip


class _Answering(type):
    __getattr__ = lambda cls, name: _absent.answers("io.gfile", "stoker.data.io.gfile")(name)


gfile = _Answering("gfile", (), {"__doc__": "Files and folders.", **{n: staticmethod(f) if n != "GFile" else f for n, f in NAMES.items()}})
