# SPDX-License-Identifier: Apache-2.0
"""The peers of `stoker why`: installation, settings searched, and command of each.

A row is a first look at a profile, or a second one that finds what the peer cached at the first.
"""

import collections
import json
import os
import pathlib
import shutil

import search

HERE = pathlib.Path(__file__).resolve().parent
# packages: name -> version, or None, for pip; label: name in tables; candidates; command(python, path, setting,
# folder): the measured process, with its own files in `folder`; clean(folder): removes caches of earlier looks;
# environment(setting): more variables; again: whether this row measures the second look, after an uncounted one.
Peer = collections.namedtuple(
    "Peer", "env packages label candidates command clean environment again"
)


def collected(base, *changes):
    """Each with and without the garbage collector."""
    each = search.product(base, *changes)
    return each + [{**setting, "collector": False} for setting in each]


JSON = collected({"by": "json.load"}, {"by": "json.loads of text"}, {"by": "json.loads of bytes"}) + [
    {"by": name, "collector": False} for name in ("ujson", "orjson", "msgspec", "simdjson")
]
HTA = collected(
    {"parser": "as it comes"},
    {"parser": "as it comes", "arguments": "minimum"},
    {"parser": "ijson"},
    {"parser": "ijson_batched"},
    {"parser": "ijson_batch_and_compress"},
)
XPROF = search.product(
    {"tool": "overview_page", "file": "copied"},
    {"file": "linked"},
    {"file": "bytes"},
    {"file": "linked", "saved": False},
    {"tool": "input_pipeline_analyzer"},
    {"tool": "input_pipeline_analyzer", "file": "linked"},
    {"tool": "input_pipeline_analyzer", "file": "bytes"},
    {"tool": "input_pipeline_analyzer", "file": "linked", "saved": False},
)
XPROF_AGAIN = [
    {"tool": tool, "file": file, "place": place}
    for tool in ("overview_page", "input_pipeline_analyzer")
    for file in ("copied", "linked")
    for place in ("disk", "memory")
]
NSYSAI = search.product(
    {"command": "diagnose"},
    {"format": "json"},
    {"threads": 1},
    {"threads": 4},
    {"kernel map": "deferred"},
    {"ingest": "sqlite"},
    {"command": "evidence build", "format": "json"},
    {"command": "evidence build", "format": "json", "kernel map": "deferred"},
    {"place": "memory"},
)
NSYSAI_AGAIN = [s for s in NSYSAI if s.get("ingest") != "sqlite"]


def of_script(name):
    def command(python, path, setting, folder):
        given = dict(setting)
        if "place" in given:
            given["folder"] = os.path.join(place_of(given, folder), "xprof")
        return [python, HERE / "peers" / name, path, json.dumps(given)]

    return command


def place_of(setting, folder):
    """The folder of a peer's own files."""
    return f"/dev/shm/{folder.name}" if setting.get("place") == "memory" else str(folder)


def of_nsysai(python, path, setting, folder):
    """A hard link to the profile in the peer's folder: the peer caches next to the file, and rejects symbolic links."""
    place = pathlib.Path(place_of(setting, folder))
    place.mkdir(parents=True, exist_ok=True)
    link = place / path.name
    if not link.exists():
        (shutil.copy if setting.get("place") == "memory" else os.link)(path, link)
    tool = [pathlib.Path(python).parent / "nsys-ai", *setting["command"].split(), link]
    tool += ["--format", setting["format"]] if "format" in setting else []
    return tool + ["--session", place / "session"]


def nsysai_environment(setting):
    names = {"threads": "NSYS_AI_DUCKDB_THREADS", "ingest": "NSYS_AI_INGEST"}
    found = {names[k]: str(v) for k, v in setting.items() if k in names}
    if setting.get("kernel map") == "deferred":
        found["NSYS_AI_DEFER_NVTX_KERNEL_MAP"] = "1"
    return found


def clean_folder(folder):
    for place in (folder, pathlib.Path(f"/dev/shm/{folder.name}")):
        shutil.rmtree(place, ignore_errors=True)
    folder.mkdir(parents=True)


def nothing(setting):
    return {}


def peer(env, packages, label, candidates, command, environment=nothing, again=False):
    return Peer(env, packages, label, candidates, command, clean_folder, environment, again)


HTA_PACKAGES = {"HolisticTraceAnalysis": None, "ijson": None}
# with DuckDB's SQLite extension from PyPI; without it nsys-ai falls back to plain SQLite
NSYSAI_PACKAGES = {
    "nsys-ai": None,
    "duckdb": "1.5.5",
    "duckdb-extensions": "1.5.5",
    "duckdb-extension-sqlite-scanner": "1.5.5",
}
JSON_PACKAGES = {"orjson": None, "msgspec": None, "ujson": None, "pysimdjson": None}
XPROF_PACKAGES = {"xprof": None}
PEERS = {
    "kineto": [
        peer("json", JSON_PACKAGES, "parsing alone, in Python", JSON, of_script("json_load.py")),
        peer("hta", HTA_PACKAGES, "HTA", HTA, of_script("hta_breakdown.py")),
    ],
    "xplane": [
        peer("xprof", XPROF_PACKAGES, "xprof", XPROF, of_script("xprof_overview.py")),
        peer(
            "xprof",
            XPROF_PACKAGES,
            "xprof, a second look",
            XPROF_AGAIN,
            of_script("xprof_overview.py"),
            again=True,
        ),
    ],
    "nsys": [
        peer("nsysai", NSYSAI_PACKAGES, "nsys-ai", NSYSAI, of_nsysai, nsysai_environment),
        peer(
            "nsysai",
            NSYSAI_PACKAGES,
            "nsys-ai, a second look",
            NSYSAI_AGAIN,
            of_nsysai,
            nsysai_environment,
            again=True,
        ),
    ],
}
AFTER_INSTALL = {"nsysai": "import duckdb_extensions as d; d.import_extension('sqlite_scanner')"}
