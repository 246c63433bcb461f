# SPDX-License-Identifier: Apache-2.0
"""Peer: HolisticTraceAnalysis. Usage: peer_hta.py FILE; prints JSON {mode: {quantity: value}}, times in ns.

Modes: "default", "all steps" (include_last_profiler_step=True), "all steps, exact" (and
HTA_DISABLE_NS_ROUNDING=1). One rank. HTA logs to standard output; the JSON is the last line."""
import json
import os
import sys

from hta.trace_analysis import TraceAnalysis


def breakdown(analysis, out):
    t = analysis.get_temporal_breakdown(visualize=False).iloc[0]
    out["device span"] = t["kernel_time(us)"] * 1e3
    out["device idle"] = t["idle_time(us)"] * 1e3
    out["device busy"] = out["device span"] - out["device idle"]
    out["compute"] = t["compute_time(us)"] * 1e3
    out["busy without compute"] = t["non_compute_time(us)"] * 1e3


def kernels(analysis, out):
    kinds, top = analysis.get_gpu_kernel_breakdown(visualize=False, num_kernels=10)
    by_kind = list(zip(kinds["kernel_type"], kinds["sum"]))
    out["communication"] = float(sum(us for kind, us in by_kind if "COMMUNICATION" in kind)) * 1e3
    named = top[(top["name"] != "others") & (top["kernel_type"] != "MEMORY")]
    named = named.sort_values("sum (us)", ascending=False).head(3)
    out["top"] = [{"name": n, "total_ns": us * 1e3} for n, us in zip(named["name"], named["sum (us)"])]
    share = analysis.get_comm_comp_overlap(visualize=False).iloc[0]["comp_comm_overlap_pctg"]
    if share == share:
        out["communication hidden by compute"] = share / 100


def idle_and_launches(analysis, out):
    idle = analysis.get_idle_time_breakdown(ranks=[0], visualize=False)[0]
    out["idle of streams, summed"] = float(idle["idle_time"].sum()) * 1e3
    for category, us in idle.groupby("idle_category", observed=True)["idle_time"].sum().items():
        out[f"idle of streams, {str(category).replace('_', ' ')}"] = float(us) * 1e3
    launches = analysis.get_cuda_kernel_launch_stats(visualize=False)[0]
    out["launches with their work"] = len(launches)
    out["launched work under 10 us"] = int((launches["gpu_duration"] < 10).sum())
    out["launch delay, median"] = float(launches["launch_delay"].median()) * 1e3
    queue = analysis.get_queue_length_summary()
    if queue is not None and len(queue):
        out["queue length, most"] = float(queue[("queue_length", "max")].max())


def bandwidth(analysis, out):
    """Mean over the copies' rates."""
    summary = analysis.get_memory_bw_summary()
    for (_, name), row in summary.iterrows() if summary is not None else []:
        if name.startswith("Memcpy"):
            out[f"rate of copies, {name.split()[1].replace('to', '2').lower()}"] = float(row[("memory_bw_gbps", "mean")]) * 1e9


def main():
    found = {}
    for mode, all_steps, exact in (("default", False, "0"), ("all steps", True, "0"), ("all steps, exact", True, "1")):
        os.environ["HTA_DISABLE_NS_ROUNDING"] = exact
        out = found[mode] = {}
        analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir=".", include_last_profiler_step=all_steps)
        for part in (breakdown, kernels, idle_and_launches, bandwidth):
            try:
                part(analysis, out)
            except Exception as e:  # a failing analysis must not stop the others
                out[f"failed: {part.__name__}"] = repr(e)[:200]
    print()
    print(json.dumps(found))


main()
