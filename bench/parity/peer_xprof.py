# SPDX-License-Identifier: Apache-2.0
"""Peer: XProf's converters. Usage: peer_xprof.py FILE; prints JSON {quantity: value}, times in ns.

The file is taken alone in a folder of its own: xprof keeps caches beside it. A step breakdown in
which several steps are reported is their mean."""
import json
import pathlib
import shutil
import sys
import tempfile

from xprof.convert import raw_to_tool_data


def tool(path, name):
    data, _ = raw_to_tool_data.xspace_to_tool_data([str(path)], name, {})
    return json.loads(data.replace(b"-nan", b"null") if isinstance(data, bytes) else data)


def rows(table):
    """Rows as dicts by column id."""
    ids = [c["id"] for c in table["cols"]]
    return [dict(zip(ids, [c.get("v") for c in row["c"]])) for row in table["rows"]]


def step_parts(path, out):
    for table in tool(path, "input_pipeline_analyzer"):
        found = rows(table) if table.get("cols") else []
        if found and "stepTimeMs" in found[0]:
            for key, column in (("step", "stepTimeMs"), ("device compute of a step", "deviceComputeTimeMs"),
                                ("input of a step", "infeedTimeMs"), ("kernel launch of a step", "kernelLaunchTimeMs"),
                                ("host compute of a step", "hostComputeTimeMs"), ("all others of a step", "otherTimeMs")):
                out[key] = sum(float(r[column]) for r in found) / len(found) * 1e6
        if (table.get("p") or {}).get("input_conclusion"):
            out["verdict"] = table["p"]["input_conclusion"]


def kernels(path, out):
    total = {}
    for r in rows(tool(path, "kernel_stats")):
        count, ns = total.get(r["kernel_name"], (0, 0))
        total[r["kernel_name"]] = (count + int(r["occurrences"]), ns + r["total_duration_us"] * 1e3)
    out["kernels"] = sum(c for c, _ in total.values())
    out["kernel time, summed"] = sum(ns for _, ns in total.values())
    top = sorted(total.items(), key=lambda k: -k[1][1])[:3]
    out["top"] = [{"name": name, "count": count, "total_ns": ns} for name, (count, ns) in top]


def operations(path, out):
    for placement in ("Host", "Device"):
        own = [r for r in rows(tool(path, "framework_op_stats")[0]) if r["host_or_device"] == placement and r["type"] != "IDLE"]
        out[f"operations' self time, {placement.lower()}"] = sum(r["total_self_time"] for r in own) * 1e3


def memory(path, out):
    found = tool(path, "memory_profile").get("memoryProfilePerAllocator", {})
    out["peaks"] = {name: int(p["profileSummary"]["peakStats"]["peakBytesInUse"]) for name, p in found.items()}


def main():
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "host.xplane.pb"
        shutil.copy(sys.argv[1], path)
        for part in (step_parts, kernels, operations, memory):
            part(path, out)
    print(json.dumps(out))


main()
