# SPDX-License-Identifier: Apache-2.0
"""Peer: xprof's page with its verdict. Usage: xprof_overview.py FILE SETTING

tool: overview_page, or only input_pipeline_analyzer; file: copied, linked, or read and passed as bytes; folder: where
the file is, so that a second look finds the caches that xprof keeps next to it (none: a separate folder without
caches); saved: whether it may use and keep results."""
import json
import os
import pathlib
import shutil
import sys
import tempfile

from xprof.convert import raw_to_tool_data as convert


def placed(folder, setting):
    """Puts the profile alone into a folder; does nothing if it is already there."""
    path = pathlib.Path(folder) / "host.xplane.pb"
    if not path.exists():
        how = os.symlink if setting["file"] == "linked" else shutil.copy
        how(os.path.abspath(sys.argv[1]), path)
    return path


def main():
    setting = json.loads(sys.argv[2])
    params = {"use_saved_result": setting.get("saved", True)}
    with tempfile.TemporaryDirectory() as own:
        if setting["file"] == "bytes":
            content = pathlib.Path(sys.argv[1]).read_bytes()
            data, _ = convert.xspace_to_tools_data_from_byte_string(
                [content], ["host.xplane.pb"], setting["tool"], params
            )
        else:
            folder = setting.get("folder") or own
            os.makedirs(folder, exist_ok=True)
            path = placed(folder, setting)
            data, _ = convert.xspace_to_tool_data([str(path)], setting["tool"], params)
    if not data:
        sys.exit("no data")
    print(len(data), "bytes of", setting["tool"])


main()
