# SPDX-License-Identifier: Apache-2.0
"""Peer: the cost of only parsing the file in Python. Usage: json_load.py FILE SETTING (JSON)

by: json.load of the file, json.loads of its bytes or text, or another parser; collector: whether
Python's garbage collector runs meanwhile."""
import gc
import gzip
import importlib
import json
import sys

path, setting = sys.argv[1], json.loads(sys.argv[2])
if not setting.get("collector", True):
    gc.disable()
with (gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")) as f:
    if setting["by"] == "json.load":
        found = json.load(f)
    elif setting["by"] == "json.loads of text":
        found = json.loads(f.read().decode())
    elif setting["by"] == "json.loads of bytes":
        found = json.loads(f.read())
    elif setting["by"] == "msgspec":
        found = importlib.import_module("msgspec").json.decode(f.read())
    elif setting["by"] == "simdjson":
        found = importlib.import_module("simdjson").loads(f.read())
    else:
        found = importlib.import_module(setting["by"]).loads(f.read())
print(len(found["traceEvents"]), "events")
