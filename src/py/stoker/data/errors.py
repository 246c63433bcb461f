# SPDX-License-Identifier: Apache-2.0
"""Errors of pipelines, with TensorFlow's names.

A bad argument is an `InvalidArgumentError`, which is also a `ValueError`. The iterator raises an
exception of a Python function as TensorFlow's class for it, which is then also an instance of the
exception's own class. `__cause__` is the exception itself with its traceback.
"""

from . import _engine


class OpError(Exception):
    """Anything that goes wrong in a pipeline. `message` says what, where, and what to do."""

    @property
    def message(self):
        """What went wrong, where, and what to do."""
        return str(self.args[0]) if self.args else ""


class InvalidArgumentError(OpError, ValueError):
    """An argument or a value doesn't fit."""


class NotFoundError(OpError):
    """A missing file."""


class DataLossError(OpError):
    """Damaged data: a wrong checksum, a truncated file, a wrong compression."""


class OutOfRangeError(OpError):
    """Beyond the end of something."""


class ResourceExhaustedError(OpError):
    """Out of memory, or a limit was reached."""


class CancelledError(OpError):
    """The iterator was canceled."""


class AbortedError(OpError):
    """The work was aborted."""


class AlreadyExistsError(OpError):
    """A file to be created already exists."""


class DeadlineExceededError(OpError):
    """A time limit was exceeded."""


class UnauthenticatedError(OpError):
    """Missing authentication."""


class OperatorNotAllowedInGraphError(TypeError):
    """TensorFlow's error for Python code that needs a value while tracing; here such functions run as Python."""


OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED = range(8)
RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS, UNAUTHENTICATED = range(8, 17)


class UnimplementedError(OpError, NotImplementedError):
    """The operation doesn't support the request."""


class PermissionDeniedError(OpError):
    """No permission to read or write a file."""


class FailedPreconditionError(OpError):
    """Not possible in this state."""


class UnavailableError(OpError):
    """A server didn't answer, or answered incorrectly, even after retries."""


class UnknownError(OpError):
    """An exception of a Python function without a matching class here."""


class InternalError(OpError):
    """A bug: please report it."""


class TracingWarning(UserWarning):
    """A pipeline's function uses Python's randomness, a clock or a counter, and so runs as Python for each element.
    warnings.simplefilter("error", TracingWarning) rejects such functions."""


CODES = {
    1: InvalidArgumentError,
    2: InvalidArgumentError,
    3: InvalidArgumentError,
    4: ResourceExhaustedError,
    5: ResourceExhaustedError,
    6: PermissionDeniedError,
    7: CancelledError,
    8: InternalError,
    9: NotFoundError,
    10: DataLossError,
    11: OutOfRangeError,
    12: UnknownError,
    13: PermissionDeniedError,
}

_OF_PYTHON = (
    ((ValueError, TypeError), InvalidArgumentError),
    (StopIteration, OutOfRangeError),
    (MemoryError, ResourceExhaustedError),
    (NotImplementedError, UnimplementedError),
    (FileNotFoundError, NotFoundError),
    (PermissionError, PermissionDeniedError),
    (Exception, UnknownError),
)
_joined = {}


def _joined_class(ours, theirs):
    """A class that `except` catches under both names, or ours if Python can't combine them."""
    if issubclass(ours, theirs) or issubclass(theirs, StopIteration):  # a StopIteration would end a loop
        return ours
    if (ours, theirs) not in _joined:
        try:
            _joined[ours, theirs] = type(
                ours.__name__,
                (ours, theirs),
                {"__module__": __name__, "__str__": Exception.__str__},
            )
        except TypeError:
            _joined[ours, theirs] = ours
    return _joined[ours, theirs]


def _with_way(exception, message):
    """An error of ours that passed through the engine: the same, with the stages it came through."""
    _, way, lines = message.partition("\n  while ")
    if not way:
        return exception
    try:
        e = type(exception)(exception.message + way + lines)
    except Exception:  # a constructor with other arguments
        return exception
    e.__cause__ = exception
    return e


def _again(exception, message):
    """The exception to raise on the consumer's side for an exception of a Python function."""
    if not isinstance(exception, Exception):
        return exception
    if isinstance(exception, OpError):
        return _with_way(exception, message)
    ours = next(c for theirs, c in _OF_PYTHON if isinstance(exception, theirs))
    try:
        e = _joined_class(ours, type(exception))(message)
    except Exception:  # a constructor with other arguments
        e = ours(message)
    e.__cause__ = exception
    return e


_engine.set_errors(CODES, _again)
