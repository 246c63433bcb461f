# SPDX-License-Identifier: Apache-2.0
"""Peer: XProf's converters. Usage: peer_xprof.py FILE; prints JSON {quantity: value}, times in ns.

The file is alone in a separate folder: xprof keeps caches next to it. If a step breakdown reports several steps, uses
their mean."""
import gzip
import json
import pathlib
import re
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
    """GPU kernels; occupancy and tensor cores by kernel time."""
    total, tensor, occupied, ns_sum = {}, 0.0, 0.0, 0.0
    for r in rows(tool(path, "kernel_stats")):
        count, ns = total.get(r["kernel_name"], (0, 0))
        own = r["total_duration_us"] * 1e3
        total[r["kernel_name"]] = (count + int(r["occurrences"]), ns + own)
        tensor += own * bool(r["is_kernel_using_tensor_core"])
        occupied += own * (r["occupancy_pct"] or 0) / 100
        ns_sum += own
    if not total:
        return
    out["kernels"] = sum(c for c, _ in total.values())
    out["kernel time, summed"] = ns_sum
    out["kernel time on tensor cores"] = tensor / ns_sum
    out["occupancy, by kernel time"] = occupied / ns_sum
    top = sorted(total.items(), key=lambda k: -k[1][1])[:3]
    out["top"] = [{"name": name, "count": count, "total_ns": ns} for name, (count, ns) in top]


def operations(path, out):
    for placement in ("Host", "Device"):
        own = [r for r in rows(tool(path, "framework_op_stats")[0]) if r["host_or_device"] == placement and r["type"] != "IDLE"]
        out[f"operations' self time, {placement.lower()}"] = sum(r["total_self_time"] for r in own) * 1e3


def memory(path, out):
    found = tool(path, "memory_profile").get("memoryProfilePerAllocator", {})
    peaks = {name: p["profileSummary"]["peakStats"] for name, p in found.items()}
    out["peaks"] = {name: int(p["peakBytesInUse"]) for name, p in peaks.items()}
    if peaks:
        most = max(peaks.values(), key=lambda p: int(p["peakBytesInUse"]))
        out["fragmentation at the peak"] = float(most["fragmentation"] or 0)


def tpu(path, out):
    """Idle time of the overview, and the instructions that take most time; only for a TPU."""
    page = next((t["p"] for t in tool(path, "overview_page") if "device_idle_time_percent" in (t.get("p") or {})), {})
    found = rows(tool(path, "hlo_stats"))
    if found:
        out["device idle"] = float(page["device_idle_time_percent"].rstrip("%")) / 100
        top = sorted(found, key=lambda r: -r["total_self_time"])[:5]
        out["instructions"] = [{"name": r["hlo_op_name"], "count": int(r["occurrences"]), "self_ns": r["total_self_time"] * 1e3} for r in top]


def input_stages(path, out):
    """tf.data's stages, joining the branches of a zipped or repeated pipeline."""
    total = {}
    for table in tool(path, "input_pipeline_analyzer"):
        for r in rows(table) if table.get("cols") else []:
            if r.get("opName", "").startswith("Iterator::"):
                name = re.sub(r"\[\d+\]", "", r["opName"])
                count, ns = total.get(name, (0, 0))
                total[name] = (count + int(r["count"]), ns + r["selfTimeInMs"] * 1e6)
    out["stages"] = [{"name": n, "count": c, "self_ns": ns} for n, (c, ns) in sorted(total.items(), key=lambda s: -s[1][1])[:4]]


def main():
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "host.xplane.pb"
        with (gzip.open if sys.argv[1].endswith(".gz") else open)(sys.argv[1], "rb") as f:
            path.write_bytes(f.read())
        for part in (step_parts, kernels, operations, memory, tpu, input_stages):
            part(path, out)
    print(json.dumps(out))


main()
