# SPDX-License-Identifier: Apache-2.0
"""Peer: xprof's overview page, the tool that holds its verdict. Usage: xprof_overview.py FILE

The file is taken alone in a folder of its own: xprof keeps caches beside it."""
import pathlib
import shutil
import sys
import tempfile

from xprof.convert import raw_to_tool_data

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "host.xplane.pb"
    shutil.copy(sys.argv[1], path)
    data, _ = raw_to_tool_data.xspace_to_tool_data([str(path)], "overview_page", {})
    print(len(data), "bytes of overview")
