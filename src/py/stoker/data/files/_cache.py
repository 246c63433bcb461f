# SPDX-License-Identifier: Apache-2.0
"""Local copies of remote objects, in a folder with a size limit.

Method. A copy's name includes the object's name and version, so a changed object gets another copy. A copy grows as
NAME.part: space for the object, then one byte for each block that has arrived, so another attempt, even by another
process, resumes it. A complete part is renamed. A file being read or written is locked (flock); the least recently used
unlocked files make room for new copies.

Limits. Only the user can access the folder and its files, and links are never followed. A part is valid only until the
machine restarts: after a crash, marks may exist without their blocks. A copy stays locked until HELD_MOST newer ones
were requested; an open file can be removed."""

import collections
import contextlib
import errno
import fcntl
import os
import stat
import threading
import time

from ..errors import DataLossError, PermissionDeniedError, ResourceExhaustedError

HELD_MOST = 32  # most copies that this process keeps locked
HELD_LEAST = 2  # fewest, if space is short
_OPEN = os.O_NOFOLLOW | os.O_CLOEXEC


def _boot():
    try:
        with open("/proc/sys/kernel/random/boot_id") as f:
            return f.read()[:8]
    except OSError:
        return "noboot"


class Cache:
    """The folder of copies; created if missing."""

    def __init__(self, folder, most):
        self.folder, self.most = folder, most
        self._held = collections.OrderedDict()  # name -> descriptor, with a shared lock
        self._lock = threading.Lock()
        os.makedirs(os.path.dirname(folder) or ".", exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        try:
            self._at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | _OPEN)
        except OSError as e:
            if e.errno in (errno.ELOOP, errno.ENOTDIR):
                raise PermissionDeniedError(
                    f"{folder}: the cache of remote files is a link or not a folder; name another one (remote.configure)"
                ) from e
            raise
        of = os.fstat(self._at)
        if of.st_uid != os.getuid() or of.st_mode & 0o022:
            os.close(self._at)
            raise PermissionDeniedError(
                f"{folder}: the cache of remote files must be yours, and writable only by you (chmod 700)"
            )

    def path(self, name):
        """Name of a copy."""
        return os.path.join(self.folder, name)

    def find(self, name, size):
        """The path of a complete copy, which is kept for a while, or None."""
        try:
            fd = os.open(name, os.O_RDONLY | os.O_NONBLOCK | _OPEN, dir_fd=self._at)
        except FileNotFoundError:
            return None
        except OSError as e:
            raise PermissionDeniedError(f"{self.path(name)}: {e.strerror}; remove it from the cache") from e
        try:
            fcntl.flock(fd, fcntl.LOCK_SH)
            of = os.fstat(fd)
            if of.st_nlink == 0:  # removed before it was locked
                os.close(fd)
                return None
            if not stat.S_ISREG(of.st_mode) or of.st_size != size:
                raise DataLossError(
                    f"{self.path(name)}: the copy has {of.st_size} bytes, the object {size}; remove the file"
                )
            os.utime(fd)
        except BaseException:
            with contextlib.suppress(OSError):
                os.close(fd)
            raise
        self.hold(name, fd)
        return self.path(name)

    def hold(self, name, fd):
        """Keeps the copy while its locked descriptor is among the newest."""
        with self._lock:
            old = self._held.pop(name, None)
            self._held[name] = fd
            if old is not None:
                os.close(old)
            while len(self._held) > HELD_MOST:
                os.close(self._held.popitem(last=False)[1])

    def _let_go(self):
        """Unlocks the least recently requested copy. False: only few are left."""
        with self._lock:
            if len(self._held) <= HELD_LEAST:
                return False
            os.close(self._held.popitem(last=False)[1])
            return True

    def part(self, name, size, block, patience):
        """A copy to be filled (Part); None: another process completed it in the meantime."""
        part = f"{name}.{block}.{_boot()}.part"
        end = time.monotonic() + patience
        while True:
            fd = os.open(part, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | _OPEN, 0o600, dir_fd=self._at)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(fd)
                if time.monotonic() > end:
                    raise ResourceExhaustedError(
                        f"{self.path(part)}: another process has been reading this object for {patience} s"
                    ) from None
                time.sleep(0.05)
                continue
            of = os.fstat(fd)
            if not stat.S_ISREG(of.st_mode):
                os.close(fd)
                raise PermissionDeniedError(f"{self.path(part)}: not a plain file; remove it from the cache")
            if self._inode(part) == of.st_ino:
                break
            os.close(fd)  # it was renamed or removed before it was locked
        try:
            if self._inode(name) is not None:
                os.unlink(part, dir_fd=self._at)
                os.close(fd)
                return None
            blocks = -(-size // block)
            if of.st_size != size + blocks:
                self._make_room(size + blocks, part)
                os.ftruncate(fd, 0)
                os.ftruncate(fd, size + blocks)
            return Part(self, fd, part, name, size, block)
        except BaseException:
            with contextlib.suppress(OSError):
                os.close(fd)
            raise

    def _inode(self, name):
        try:
            return os.stat(name, dir_fd=self._at, follow_symlinks=False).st_ino
        except FileNotFoundError:
            return None

    def _entries(self):
        """[(last use, bytes, name)] of the plain files, oldest first."""
        out = []
        for name in os.listdir(self._at):
            with contextlib.suppress(FileNotFoundError):
                of = os.stat(name, dir_fd=self._at, follow_symlinks=False)
                if stat.S_ISREG(of.st_mode):
                    out.append((of.st_mtime_ns, of.st_size, name))
        return sorted(out)

    def _make_room(self, size, but):
        if size > self.most:
            raise ResourceExhaustedError(
                f"an object of {size} bytes is larger than the cache of remote files ({self.most} bytes); remote.configure(cache_bytes=...) sets its size"
            )
        while True:
            entries = self._entries()
            total = sum(n for _, n, name in entries if name != but)
            for _, n, name in entries:
                if total + size <= self.most:
                    return
                if name != but and self._remove(name):
                    total -= n
            if total + size <= self.most:
                return
            if not self._let_go():
                raise ResourceExhaustedError(
                    f"the cache of remote files ({self.most} bytes) is full of files in use, and {size} bytes are needed; remote.configure(cache_bytes=...) sets its size"
                )

    def _remove(self, name):
        """Removes it unless it is in use."""
        try:
            fd = os.open(name, os.O_RDONLY | os.O_NONBLOCK | _OPEN, dir_fd=self._at)
        except OSError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(name, dir_fd=self._at)
            return True
        except OSError:
            return False
        finally:
            os.close(fd)

    def rename(self, part, name):
        """Renames a complete part."""
        os.rename(part, name, src_dir_fd=self._at, dst_dir_fd=self._at)

    def discard(self, name):
        """Drops a useless part."""
        os.unlink(name, dir_fd=self._at)


class Part:
    """A copy being filled, locked by this process."""

    def __init__(self, cache, fd, part, name, size, block):
        self._cache, self._fd, self._part, self._name = cache, fd, part, name
        self.size, self.block = size, block

    def missing(self):
        """[(start, end)] of the missing blocks."""
        count = -(-self.size // self.block)
        marks = os.pread(self._fd, count, self.size)
        starts = (k * self.block for k in range(count) if marks[k : k + 1] != b"\1")
        return [(a, min(a + self.block, self.size)) for a in starts]

    def put(self, start, data):
        """Stores a whole block. On any thread."""
        at = 0
        while at < len(data):
            at += os.pwrite(self._fd, memoryview(data)[at:], start + at)
        os.pwrite(self._fd, b"\1", self.size + start // self.block)

    def finish(self):
        """All blocks have arrived: returns the copy's path; None: it was removed at once."""
        os.ftruncate(self._fd, self.size)
        os.fsync(self._fd)
        self._cache.rename(self._part, self._name)
        fcntl.flock(self._fd, fcntl.LOCK_SH)  # not atomic: another process may lock it in between
        if os.fstat(self._fd).st_nlink == 0:
            return None
        fd, self._fd = self._fd, -1
        self._cache.hold(self._name, fd)
        return self._cache.path(self._name)

    def drop(self):
        """Discards the blocks that have arrived."""
        self._cache.discard(self._part)
        self.close()

    def close(self):
        """Keeps the blocks that have arrived for another attempt."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
