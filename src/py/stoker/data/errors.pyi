# SPDX-License-Identifier: Apache-2.0
# Written by tools/py-stubs.
from collections.abc import Iterator as _Iterator
from typing import Any

class OpError(Exception):
    """Anything that goes wrong in a pipeline. `message` says what, where, and what to do."""
    @property
    def message(self) -> Any:
        """What went wrong, where, and what to do."""
class CancelledError(OpError):
    """The iterator was cancelled."""
class DataLossError(OpError):
    """Data are damaged: a checksum, a truncation, a wrong compression."""
class FailedPreconditionError(OpError):
    """Not in this state."""
class InternalError(OpError):
    """A bug: please report it."""
class NotFoundError(OpError):
    """A file that is not there."""
class OutOfRangeError(OpError):
    """Beyond the end of something."""
class PermissionDeniedError(OpError):
    """A file may not be read or written."""
class ResourceExhaustedError(OpError):
    """No memory, or a limit was reached."""
class UnknownError(OpError):
    """An exception of a Python function that has no class of its own here."""
class InvalidArgumentError(OpError, ValueError):
    """An argument or a value does not fit."""
class UnimplementedError(OpError, NotImplementedError):
    """Not there yet."""
CODES: Any
