# SPDX-License-Identifier: Apache-2.0
"""A package with the names and call paths of PyTorch that stoker run's hooks know, and no function."""

from . import autograd, optim, utils  # noqa: F401
from ._tensor import Tensor  # noqa: F401
from .serialization import save  # noqa: F401
