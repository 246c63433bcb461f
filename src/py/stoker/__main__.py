# SPDX-License-Identifier: Apache-2.0
"""`python -m stoker ...` and the wheel's command: replaces this process with the program."""

import os
import sys
import sysconfig
from typing import NoReturn

from ._program import program


def _users_path() -> str:
    """PATH without the environment that `uvx stoker` made for this package: the `python` of `stoker run -- python ...`
    is the user's, not the one that runs stoker. uv sets UV and puts that environment first; VIRTUAL_ENV names the one
    that the user works in."""
    first, _, rest = os.environ["PATH"].partition(os.pathsep)
    is_own = os.environ.get("UV") and sys.prefix != sys.base_prefix and os.environ.get("VIRTUAL_ENV") != sys.prefix
    return rest if is_own and rest and first == sysconfig.get_path("scripts") else os.environ["PATH"]


def main() -> NoReturn:
    try:
        path = program()
    except FileNotFoundError as e:
        sys.exit(f"stoker: {e}")
    sys.stdout.flush()
    if "PATH" in os.environ:
        os.environ["PATH"] = _users_path()
    os.execv(path, ["stoker", *sys.argv[1:]])


if __name__ == "__main__":
    main()
