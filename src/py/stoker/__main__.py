# SPDX-License-Identifier: Apache-2.0
"""`python -m stoker ...` and the wheel's command: replaces this process with the program."""

import os
import sys
from typing import NoReturn

from ._program import program


def main() -> NoReturn:
    try:
        path = program()
    except FileNotFoundError as e:
        sys.exit(f"stoker: {e}")
    sys.stdout.flush()
    os.execv(path, ["stoker", *sys.argv[1:]])


if __name__ == "__main__":
    main()
