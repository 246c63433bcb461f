# SPDX-License-Identifier: Apache-2.0
"""Other frameworks: elements for them, and their pipelines taken over."""
