# SPDX-License-Identifier: Apache-2.0
"""Other frameworks: elements for them, and importing their pipelines."""

from . import _adapters, _keras_layers, _ray  # noqa: F401 - methods of Dataset, what Keras' layers do
