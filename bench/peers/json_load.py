# SPDX-License-Identifier: Apache-2.0
"""Peer: what merely parsing the file costs in Python. Usage: json_load.py FILE"""
import gzip
import json
import sys

path = sys.argv[1]
with (gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")) as f:
    print(len(json.load(f)["traceEvents"]), "events")
