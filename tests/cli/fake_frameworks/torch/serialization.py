# SPDX-License-Identifier: Apache-2.0
"""As torch.serialization."""


def save(obj, f):
    if isinstance(f, str):
        with open(f, "wb") as file:
            file.write(obj)
    else:
        f.write(obj)
