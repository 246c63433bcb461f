#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the fuzz seeds: one small, valid input per reader and flavour, with known content.

Usage: tests/fuzz/make_seeds.py [DIR]   (default: the folder of this file, seeds/)
Each seed is a training job of three steps: launch calls, kernels, a copy, a fetch of the next batch.
Limits: hand-made, so they hold the records of the formats that matter, not all of them.
"""
import gzip
import json
import pathlib
import sqlite3
import struct
import sys
import zlib


def kineto_events():
    """Three steps of 1 ms: fetch 300 us, a launch and a kernel of 400 us, a copy of 50 us."""
    events = [{"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "python3"}}]
    for step in range(3):
        t = 1000000 + 1000 * step

        def add(cat, name, pid, tid, start, dur, **args):
            events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": t + start, "dur": dur, "args": args})

        add("user_annotation", f"ProfilerStep#{step}", 7, 7, 0, 990, **{"External id": 10 + step})
        add("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 7, 7, 5, 300)
        add("cpu_op", "aten::mm", 7, 7, 320, 60, **{"Input Dims": [[8, 8], [8, 8]], "Input type": ["float", "float"], "Concrete Inputs": ["", ""]})
        add("cuda_runtime", "cudaLaunchKernel", 7, 7, 330, 10, cbid=211, correlation=100 + step)
        add("kernel", "sgemm_32x32", 0, 7, 345, 400, device=0, stream=7, correlation=100 + step,
            **{"registers per thread": 32, "shared memory": 2048, "grid": [4, 2, 1], "block": [128, 1, 1], "est. achieved occupancy %": 1})
        add("cuda_runtime", "cudaMemcpyAsync", 7, 7, 400, 12, cbid=41, correlation=200 + step)
        add("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 7, 750, 50, device=0, stream=7, correlation=200 + step, bytes=4096)
        events.append({"ph": "i", "name": "[memory]", "s": "t", "pid": 7, "tid": 7, "ts": t + 350, "args": {"Device Type": 1, "Device Id": 0, "Bytes": 512}})
        events.append({"ph": "s", "id": 100 + step, "pid": 7, "tid": 7, "ts": t + 330, "cat": "ac2g", "name": "ac2g"})
    return events


def memory_events():
    """Three steps with allocations and frees, short kernels, collectives of device and host, counters."""
    events, corr = [], 0

    def add(cat, name, pid, tid, ts, dur, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args})

    def memory(ts, size, addr, total, device=0, kind=1):
        events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts,
                       "args": {"Total Reserved": 1 << 20 if kind else 0, "Total Allocated": total, "Bytes": size, "Addr": addr,
                                "Device Id": device, "Device Type": kind, "Ev Idx": ts}})

    def launch(ts, name, tid, start, dur, **args):
        nonlocal corr
        corr += 1
        add("cuda_runtime", "cudaLaunchKernel", 1, 1, ts, 4, correlation=corr)
        add("kernel", name, 0, tid, start, dur, device=0, stream=tid, correlation=corr, **args)

    message = {"Collective name": "allreduce", "In msg nelems": 1000000, "Out msg nelems": 1000000, "dtype": "Float", "Group size": 4,
               "Process Group Name": "0", "Process Group Ranks": "[0, 1, 2, 3]"}
    for step in range(3):
        t = 1000 * step
        add("user_annotation", f"ProfilerStep#{step}", 1, 1, t, 990)
        add("cpu_op", "aten::mm", 1, 1, t + 10, 40)
        add("cpu_op", "aten::empty", 1, 1, t + 11, 4)
        memory(t + 12, 4096, 140680000000000 + step * 4096, 8192 + 4096)
        for k, (name, start, dur) in enumerate((("gemm", 40, 300), ("void add<float>(float*)", 345, 4), ("relu", 351, 3))):
            launch(t + 20 + k * 5, name, 7, t + start, dur)
        add("cpu_op", "nccl:all_reduce", 1, 1, t + 60, 20)
        add("cpu_op", "record_param_comms", 1, 1, t + 61, 15, **message)
        launch(t + 65, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, t + 400, 200, **message)
        add("cpu_op", "gloo:broadcast", 1, 1, t + 800, 50)
        memory(t + 900, -4096, 140680000000000 + step * 4096, 8192)
        memory(t + 910, 64, 94000000 + step, 64 * (step + 1), -1, 0)
        events.append({"ph": "C", "name": "sm_clock_mhz", "pid": 9, "ts": t + 5, "args": {"value": 1980 - step * 10}})
        events.append({"ph": "C", "name": "power", "pid": 9, "ts": t + 5, "args": {"draw (W)": 300.25 + step, "limit (W)": 700}})
    return events


def write_chrome(out):
    head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Test GPU", "computeMajor": 8, "computeMinor": 0, "numSms": 108}],
            "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1}}
    full = dict(head, traceEvents=kineto_events(), traceName="trace.json")
    (out / "kineto.json").write_text(json.dumps(full, indent=1))
    (out / "array.json").write_text(json.dumps(kineto_events()))
    (out / "kineto.json.gz").write_bytes(gzip.compress(json.dumps(full).encode(), mtime=0))
    broken = json.dumps(full).replace('"aten::mm"', '"aten::\n"mm"').replace('"bytes": 4096}', '"bytes": 4096,}')
    (out / "broken.json").write_text(broken)
    old = [{"ph": "X", "cat": "Kernel", "name": "k", "pid": 0, "tid": "stream 7", "ts": 10, "dur": 5, "args": {"device": 0, "stream": 7, "correlation": 1, "external id": 1}},
           {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 3, "tid": "44", "ts": 5, "dur": 2, "args": {"correlation": 1}}]
    (out / "old.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": old}))
    tf = [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}},
          {"ph": "M", "pid": 1, "tid": 13, "name": "thread_name", "args": {"name": "Stream #13(Compute)"}},
          {"ph": "X", "pid": 1, "tid": 13, "ts": 1.5, "dur": 2.25, "name": "void kernel<float>", "args": {"correlation_id": "9"}}, {}]
    (out / "tensorflow.json").write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": tf}))
    merged = []
    for rank in (0, 1):
        own = {"rank": rank, "pid_raw": 7, "correlation": 5, "stream": 4, "device": 2}
        merged += [{"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": rank * 100000000 + 7, "tid": 1, "ts": 1 + rank, "dur": 1, "args": own},
                   {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_Generic", "pid": rank * 100000000 + 2, "tid": 4, "ts": 3.5, "dur": 9, "args": own}]
    (out / "merged.json").write_text(json.dumps({"traceEvents": merged}, sort_keys=True))
    pairs = [{"ph": "B", "name": "outer", "pid": 1, "tid": "main", "ts": 1}, {"ph": "C", "name": "W", "pid": 1, "ts": 1, "args": {"gpu": 2.5}},
             {"ph": "B", "name": "inner", "pid": 1, "tid": "main", "ts": 2e0}, {"ph": "E", "pid": 1, "tid": "main", "ts": 3},
             {"ph": "X", "cat": "mtia_ccp_events", "name": "dma", "pid": 9, "tid": 801, "ts": 1, "dur": 1},
             {"ph": "E", "pid": 1, "tid": "main", "ts": 4}]
    memory = {"deviceProperties": [{"id": 0, "name": "Test GPU", "totalGlobalMem": 1 << 24}],
              "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 4}, "traceEvents": memory_events()}
    (out / "memory.json").write_text(json.dumps(memory).replace('}, {"ph"', '},\n{"ph"') + "\n")
    (out / "pairs.json").write_text(json.dumps({"a": ["N/A", {"b": "\\\""}], "traceEvents": pairs}).replace('"N/A"', "N/A") + " tail")


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def num(field, value):
    return varint(field << 3) + varint(value)


def blob(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


class Plane:
    """One XPlane: names are interned into its metadata maps."""

    def __init__(self, name, ident):
        self.name, self.ident, self.events, self.stats, self.lines = name, ident, {}, {}, []

    def stat(self, key, value):
        ident = self.stats.setdefault(key, len(self.stats) + 1)
        body = num(1, ident)
        if isinstance(value, str):
            body += blob(5, value)
        elif isinstance(value, float):
            body += varint(2 << 3 | 1) + struct.pack("<d", value)
        else:
            body += num(4, value)
        return blob(4, body)

    def event(self, name, start_us, dur_us, **stats):
        ident = self.events.setdefault(name, len(self.events) + 1)
        return blob(4, num(1, ident) + num(2, int(start_us * 10**6)) + num(3, int(dur_us * 10**6)) + b"".join(self.stat(k, v) for k, v in stats.items()))

    def line(self, ident, name, events):
        self.lines.append(blob(3, num(1, ident) + blob(2, name) + num(3, 1000) + b"".join(events)))

    def encode(self):
        maps = b"".join(blob(4, num(1, i) + blob(2, num(1, i) + blob(2, n))) for n, i in self.events.items())
        maps += b"".join(blob(5, num(1, i) + blob(2, num(1, i) + blob(2, n))) for n, i in self.stats.items())
        return blob(1, num(1, self.ident) + blob(2, self.name) + b"".join(self.lines) + maps)


def write_xplane(out):
    host, gpu = Plane("/host:CPU", 0), Plane("/device:GPU:0", 1)
    main, kernels, copies = [], [], []
    for step in range(3):
        t = 1000 * step
        main.append(host.event("train", t, 990, step_num=step, _r=1))
        main.append(host.event("IteratorGetNextOp::DoCompute", t + 5, 300))
        main.append(host.event("cuLaunchKernel", t + 330, 10, correlation_id=100 + step, device_id=0))
        main.append(host.event("MemcpyH2D", t + 400, 12, correlation_id=200 + step, device_id=0))
        kernels.append(gpu.event("sgemm_32x32", t + 345, 400, correlation_id=100 + step,
                                 kernel_details="regs:38 static_shared:0 dynamic_shared:0 grid:160,1,1 block:1024,1,1 occ_pct:50"))
        copies.append(gpu.event("MemcpyH2D", t + 750, 50, correlation_id=200 + step, memcpy_details="kind_src:pageable kind_dst:device size:4096 dest:0 async:1"))
    host.line(7, "python", main)
    host.line(8, "tf_data_private_threadpool", [host.event("Iterator::Root::Prefetch", 10, 200)])
    gpu.line(13, "Stream #13(Compute)", kernels)
    gpu.line(14, "Stream #14(MemcpyH2D)", copies)
    gpu.line(-559038737, "Steps", [gpu.event("0", 0, 2990)])
    data = host.encode() + gpu.encode() + blob(4, "host0")
    (out / "gpu.xplane.pb").write_bytes(data)
    heap, chip = Plane("/host:CPU", 0), Plane("/device:TPU:0", 1)
    total, blocks = 0, []
    for i in range(6):
        size = 4096 * (i + 1)
        total += size if i % 3 < 2 else -4096
        blocks.append(heap.event("MemoryDeallocation" if i % 3 == 2 else "MemoryAllocation", 100 * i, 0, allocator_name="TPU_0_bfc",
                                 bytes_allocated=total, bytes_available=1 << 20, bytes_reserved=i * 512, fragmentation=0.25, addr=4096 * (i % 3 < 2) * i,
                                 allocation_bytes=size, tf_op="dense/MatMul"))
    heap.line(7, "python", blocks)
    reduce = "%all-reduce.1 = f32[8,4]{1,0:T(8,128)} all-reduce(f32[8,4]{1,0} %x), replica_groups=[2,2]<=[4]"
    chip.line(2, "XLA Ops", [chip.event("%fusion.1 = f32[8]{0} fusion(f32[8]{0} %p)", 10, 5), chip.event(reduce, 20, 40)])
    gauges = Plane("/device:GPU:1", 2)
    gauges.line(9, "_counters_", [gauges.event("power_mw", 50 * i, 0, power_mw=3e5 + i) for i in range(4)])
    (out / "memory.xplane.pb").write_bytes(heap.encode() + chip.encode() + gauges.encode() + blob(4, "host0"))
    (out / "host.xplane.pb").write_bytes(host.encode() + blob(3, "GPU events were dropped") + blob(4, "host0"))
    write_programs(out)


def write_programs(out):
    """Three compiled programs of a function, whose argument x is of another length in each, beside its calls."""
    host, programs = Plane("/host:CPU", 0), b""
    for n in range(3):
        shape = num(2, 11) + blob(3, varint(8) + varint(64 + n))
        parameter = blob(1, "Arg_0.1") + blob(2, "parameter") + blob(3, shape) + blob(7, blob(2, "x"))
        entry = blob(1, "main") + blob(2, parameter) + num(5, 2)
        proto = blob(1, blob(1, "jit_step") + blob(3, entry) + num(5, 2 * n) + num(6, 2))
        meta = num(1, n + 1) + blob(2, f"jit_step({2 * n})") + blob(5, num(1, 4) + blob(6, proto))
        programs += blob(4, num(1, n + 1) + blob(2, meta))
    calls = []
    for n in range(3):
        calls += [host.event("train", 1000 * n, 990, step_num=n, _r=1), host.event("PjitFunction(step)", 1000 * n + 5, 900)]
        calls.append(host.event("backend_compile", 1000 * n + 10, 700))
    host.line(7, "python", calls)
    (out / "programs.xplane.pb").write_bytes(blob(1, num(1, 1) + blob(2, "/host:metadata") + programs) + host.encode())


def fixed(field, data):
    return varint(field << 3 | 1) + struct.pack("<Q", data)


def note(name, value, interned=False):
    """One DebugAnnotation of an event; lists and dictionaries nest."""

    def body(v):
        if isinstance(v, bool):
            return num(2, v)
        if isinstance(v, int):
            return num(4, v)
        if isinstance(v, float):
            return varint(5 << 3 | 1) + struct.pack("<d", v)
        if isinstance(v, str):
            return blob(6, v)
        if isinstance(v, dict):
            return b"".join(blob(11, blob(10, k) + body(x)) for k, x in v.items())
        return b"".join(blob(12, body(x)) for x in v)

    return (num(1, name) if interned else blob(10, name)) + body(value)


def packet(body, time=None, sequence=1, flags=2, **fields):
    head = (b"" if time is None else num(8, time)) + num(10, sequence) + num(13, flags)
    return blob(1, head + b"".join(num(int(k[1:]), v) for k, v in fields.items()) + body)


def track(uuid, pid=None, tid=None, name="", parent=0, counter=None):
    owner = b"" if pid is None else blob(3, num(1, pid) + blob(6, name)) if tid is None else blob(4, num(1, pid) + num(2, tid) + blob(5, name))
    own = num(1, uuid) + (num(5, parent) if parent else b"") + owner + (blob(2, name) if pid is None else b"")
    return packet(blob(60, own + (b"" if counter is None else blob(8, counter))), flags=0)


def interned(table, texts):
    return b"".join(blob(table, num(1, i + 1) + blob(2, t)) for i, t in enumerate(texts))


def write_perfetto(out):
    run = [e for e in kineto_events() if e["ph"] in "Xi"]
    names = sorted({e["name"] for e in run})
    # As PyTorch's first release of it: device work on threads, no categories, all begins of a kind before all ends.
    data = track(1, 7, name="python3") + track(2, 7, 7, "thread 7", 1) + track(3, 0, name="GPU 0") + track(4, 0, 7, "stream 7", 3)
    data += packet(blob(12, interned(2, names)), flags=1)
    for cats in ("user_annotation cpu_op", "cuda_runtime", "kernel", "gpu_memcpy"):
        ends = b""
        for e in (e for e in run if e.get("cat") in cats.split()):
            device = e["cat"] in ("kernel", "gpu_memcpy")
            where, args = num(11, 4 if device else 2), dict(e["args"])
            if e["cat"] in ("cpu_op", "user_annotation"):
                args["External id"] = 3
            flow = fixed(47, args["correlation"]) if "correlation" in args else b""
            data += packet(blob(11, num(9, 1) + where + num(10, names.index(e["name"]) + 1) + flow + b"".join(blob(4, note(*a)) for a in args.items())), e["ts"] * 1000)
            ends += packet(blob(11, num(9, 2) + where), (e["ts"] + e["dur"]) * 1000, flags=0)
        data += ends
    (out / "torch_first.pftrace").write_bytes(data)
    # As its later releases: categories on the host, render stages for the device, a clock, counters of the device.
    cats = ["user_annotation", "cpu_op", "cuda_runtime", "cpu_instant_event"]
    kernels = ["sgemm_32x32"]
    data = packet(blob(6, blob(1, num(1, 6) + num(2, 10**9)) + blob(1, num(1, 1) + num(2, 10**9))), 10**9, flags=0)
    data += track(1, 7, name="python3") + track(2, 7, 7, "thread 7", 1)
    data += packet(blob(12, interned(2, names) + interned(1, cats) + interned(24, ["Kernel", "Memcpy", "stream 7"]) + interned(1000, kernels)
                        + interned(1001, ["registers_per_thread", "shared_mem_dynamic"])), flags=1)
    for e in run:
        at, ident, args = e["ts"] * 1000, num(10, names.index(e["name"]) + 1), e["args"]
        if e["ph"] == "i" or e["cat"] in cats:
            cat = num(3, cats.index(e.get("cat", "cpu_instant_event")) + 1)
            data += packet(blob(11, num(9, 3 if e["ph"] == "i" else 1) + num(11, 2) + cat + ident + b"".join(blob(4, note(*a)) for a in args.items())), at)
            if e["ph"] == "X":
                data += packet(blob(11, num(9, 2) + num(11, 2)), at + e["dur"] * 1000, flags=0)
            continue
        stage = num(1, args["correlation"]) + num(2, e["dur"] * 1000) + num(11, 0) + num(13, 3)
        extra = {"device id": 0, "stream id": 7, "correlation": args["correlation"], **({"bytes": args["bytes"]} if "bytes" in args else {})}
        stage += b"".join(blob(6, blob(1, k) + blob(2, str(v))) for k, v in extra.items())
        if e["cat"] == "kernel":
            sizes = [blob(i, b"".join(num(j + 1, n) for j, n in enumerate(args[k]))) for i, k in ((1, "grid"), (2, "block"))]
            stage += num(14, 1) + num(19, 1) + blob(21, b"".join(sizes) + blob(3, num(1, 1) + num(4, 32)) + blob(3, num(1, 2) + num(4, 2048)))
        else:
            stage += num(14, 2) + num(20, names.index(e["name"]) + 1)
        data += packet(blob(53, stage), at)
    data += packet(blob(52, num(4, 1) + blob(2, num(1, 1) + num(2, 300))), 10**9)
    (out / "torch.pftrace").write_bytes(data)
    # As the SDK writes: sequences that take turns, clocks that count up, defaults, cleared state, lost packets, packed ones.
    clock = packet(blob(6, blob(1, num(1, 6) + num(2, 5 * 10**9)) + blob(1, num(1, 64) + num(2, 7000) + num(3, 1) + num(4, 1000))), sequence=3, flags=0)
    defaults = blob(59, num(58, 64) + blob(11, num(11, 20)))
    first = clock + packet(defaults + blob(12, interned(2, ["frame", "draw"]) + interned(1, ["gpu"]) + interned(3, ["size"])), sequence=3, flags=1)
    first += track(20, 9, 10, "render") + track(21, 9, name="app") + track(22, name="queue", parent=21) + track(23, name="power", parent=21, counter=num(4, 1000) + num(5, 1))
    slices = b""
    for frame in range(4):
        slices += packet(blob(11, num(9, 1) + num(10, 1) + num(3, 1) + blob(4, note(1, frame, True))), 10, 3)
        slices += packet(blob(11, num(9, 1) + num(10, 2) + blob(4, note("shape", {"w": 2, "h": [1.5, "x"]}))), 5, 3)
        slices += packet(blob(11, num(9, 4) + num(11, 23) + num(30, 5)), 1, 3) + packet(blob(11, num(9, 2)), 20, 3) + packet(blob(11, num(9, 2)), 1, 3)
    old = packet(blob(11, num(11, 22) + blob(23, "async") + blob(6, num(2, ord("X")) + num(3, 7))), 5 * 10**9 + 1000, 4, 0)
    old += packet(blob(11, num(9, 1) + num(11, 22) + blob(23, "no end")), 5 * 10**9 + 90000, 4, 0) + packet(blob(11, num(9, 2) + num(11, 99)), 6 * 10**9, 4, 0)
    lost = packet(blob(11, num(9, 3) + num(10, 1)), 3, 3, 2, f42=1) + packet(blob(12, interned(2, ["again"])), 1, 3, 1) + packet(blob(11, num(9, 3) + num(11, 22) + num(10, 1)), 5 * 10**9, 3)
    stage = num(1, 1) + num(2, 4000) + num(3, 1) + num(4, 0) + num(11, 1)
    data = first + slices + packet(blob(53, stage), 5 * 10**9 + 500, 4, 0) + blob(1, blob(50, zlib.compress(old))) + lost + blob(1, blob(1, b"ftrace"))
    (out / "sdk.pftrace").write_bytes(data)
    write_own_perfetto(out)


def write_own_perfetto(out):
    """As stoker export perfetto: categories are kinds, rows of facts say what tracks are."""
    kinds, notes = ["host_op", "runtime", "kernel", "memcpy", "stoker", "stoker_facts", "annotation", "other"], ["bytes", "direction", "launch", "step", "sample of", "grid", "detail: op"]
    data = packet(blob(12, interned(1, kinds) + interned(3, notes)), flags=1)

    def fact(what, **values):
        return packet(blob(11, num(9, 3) + num(11, 1) + num(3, 6) + blob(23, what) + b"".join(blob(4, note(k.replace("_", " "), v)) for k, v in values.items())), 10**9)

    data += fact("trace", producer="a profiler", format="kineto", rank=0, world_size=2, framework=2) + fact("issue", issue="time-invalid", count=2, events_lost=2)
    data += fact("process", number=0, pid=4711, rank=0, name="python") + fact("device", number=0, process=0, ordinal=1, kind=0, source="1", name="Test GPU", multiprocessors=8)
    data += track(10, 4711, 4711, "main") + fact("track", track=10, number=0, kind=0, process=0, device=-1, id=4711, name="main")
    data += track(11, name="stream 7") + fact("track", track=11, number=1, kind=1, process=0, device=0, id=7)
    data += track(12, name="power") + fact("track", track=12, number=2, kind=3, process=0, device=0, id=0)
    data += track(13, name="power: W", counter=b"") + fact("counter", track=13, of_track=12, name="power", series="W", device=-1)

    def event(uuid, cat, name, at, dur, **values):
        body = num(9, 1) + num(11, uuid) + num(3, kinds.index(cat) + 1) + num(10, sum(map(ord, name)))
        body += b"".join(blob(4, note(notes.index(k.replace("_", " ")) + 1, v, True)) for k, v in values.items())
        text = blob(12, blob(2, num(1, sum(map(ord, name))) + blob(2, name)))
        return packet(blob(11, body) + text, 10**9 + at) + packet(blob(11, num(9, 2) + num(11, uuid)), 10**9 + at + dur)

    for step in range(3):
        t = 1000000 * step
        data += event(10, "annotation", f"ProfilerStep#{step}", t, 990000, step=step) + event(10, "runtime", "cudaLaunchKernel", t + 330000, 9000, launch=step + 1)
        data += event(11, "kernel", "sgemm", t + 345000, 400000, launch=step + 1, grid="4 2 1") + event(11, "memcpy", "copy", t + 750000, 50000, bytes=4096, direction="h2d")
        data += packet(blob(11, num(9, 4) + num(11, 13) + varint(44 << 3 | 1) + struct.pack("<d", 250.5) + blob(4, note(5, step + 1, True))), 10**9 + t)
    (out / "own.pftrace").write_bytes(data)


NSYS_TABLES = """
create table StringIds(id integer primary key, value text);
create table META_DATA_EXPORT(name text, value text);
create table CUPTI_ACTIVITY_KIND_KERNEL(start int, end int, deviceId int, contextId int, streamId int, correlationId int, globalPid int, demangledName int, shortName int,
  registersPerThread int, gridX int, gridY int, gridZ int, blockX int, blockY int, blockZ int, staticSharedMemory int, dynamicSharedMemory int);
create table CUPTI_ACTIVITY_KIND_MEMCPY(start int, end int, deviceId int, contextId int, streamId int, correlationId int, globalPid int, bytes int, copyKind int, srcKind int, dstKind int);
create table CUPTI_ACTIVITY_KIND_RUNTIME(start int, end int, eventClass int, globalTid int, correlationId int, nameId int, returnValue int);
create table NVTX_EVENTS(start int, end int, eventType int, text text, textId int, globalTid int, domainId int);
"""


def write_nsys(out):
    path = out / "small.sqlite"
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.execute("pragma page_size=512")
    db.executescript(NSYS_TABLES)
    names = {"cudaLaunchKernel_v7000": 1, "cudaMemcpyAsync_v3020": 2, "sgemm_32x32": 3, "void sgemm_32x32<float>(float*)": 4}
    db.executemany("insert into StringIds values(?,?)", [(i, n) for n, i in names.items()])
    db.executemany("insert into META_DATA_EXPORT values(?,?)", [("EXPORT_SCHEMA_VERSION", "3.25.0"), ("EXPORT_PRODUCT_VERSION", "2026.2.1.210")])
    pid, tid = 7 << 24, 7 << 24 | 7
    for step in range(3):
        t = 1000000 * step
        db.execute("insert into NVTX_EVENTS values(?,?,59,?,null,?,0)", (t, t + 990000, f"step {step}", tid))
        db.execute("insert into CUPTI_ACTIVITY_KIND_RUNTIME values(?,?,0,?,?,1,0)", (t + 330000, t + 340000, tid, 100 + step))
        db.execute("insert into CUPTI_ACTIVITY_KIND_KERNEL values(?,?,0,1,7,?,?,4,3,32,4,2,1,128,1,1,0,2048)", (t + 345000, t + 745000, 100 + step, pid))
        db.execute("insert into CUPTI_ACTIVITY_KIND_RUNTIME values(?,?,0,?,?,2,0)", (t + 400000, t + 412000, tid, 200 + step))
        db.execute("insert into CUPTI_ACTIVITY_KIND_MEMCPY values(?,?,0,1,7,?,?,4096,1,0,2)", (t + 750000, t + 800000, 200 + step, pid))
    db.commit()
    db.execute("vacuum")
    db.close()


def crc_of(byte):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    return byte


CRCS = [crc_of(byte) for byte in range(256)]


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRCS[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


class Wire:
    """stoker's own records (src/wire/wire.h), written by one writer."""

    def __init__(self):
        self.sequence, self.next_id = 0, 1
        self.out = struct.pack("<8sHHIQQQ24s", b"stkwire\x01", 1, 64, 0, 7, 10**9, 10**18, b"stoker.data")

    def block(self, kind, records, payload, first=0, last=0):
        head = struct.pack("<IHHIIIIII", 0x424B5453, kind, 0, len(payload), records, 0, self.sequence, crc32c(payload), 0)
        head += struct.pack("<QQ", first, last)
        self.sequence += 1
        self.out += head[:28] + struct.pack("<I", crc32c(head)) + head[32:] + payload

    def string(self, text):
        ident, self.next_id = self.next_id, self.next_id + 1
        data = text.encode()
        self.block(1, 1, struct.pack("<II", ident, len(data)) + data + bytes(-len(data) % 8))
        return ident

    def track(self, number, name, kind=0, device=-1):
        ident, self.next_id = self.next_id, self.next_id + 1
        self.block(2, 1, struct.pack("<IIqiI", ident, kind, number, device, name))
        return ident


def write_stk(out):
    wire = Wire()
    consumer = wire.track(1, wire.string("consumer"))
    worker = wire.track(2, 0)
    following, own = wire.string("stoker.data next"), wire.string("consumer, between two batches")
    outer, inner = wire.string("Iterator::Batch"), wire.string("Iterator::Batch::Map")
    events, steps = [], []
    for step in range(5):
        t = 10**9 + step * 10_000_000
        events += [(t, 6_000_000, following, consumer, 8, 1, 0), (t + 6_000_000, 4_000_000, own, consumer, 0, 0, 0),
                   (t, 5_900_000, outer, worker, 8, 1, 0), (t + 10_000, 5_800_000, inner, worker, 8, 4, 0)]
        steps.append((t, 10_000_000, step, consumer, 0))
    wire.block(3, len(events), b"".join(struct.pack("<QQIIIIQ", *e) for e in events), 10**9, 2 * 10**9)
    wire.block(4, len(steps), b"".join(struct.pack("<QQQII", *s) for s in steps), 10**9, 2 * 10**9)
    wire.block(5, 1, struct.pack("<8Q", 2 * 10**9, 20, 0, 0, 29_000_000, 0, 0, inner | 1 << 32) + struct.pack("<4I", 0, 1, 0, 0))
    wire.block(7, 1, struct.pack("<QII", 3, own, 0))
    wire.block(99, 1, bytes(8))
    wire.block(9, 0, b"")
    (out / "pipeline.stk").write_bytes(wire.out)
    write_device(out)


def write_device(out):
    """What a capture of a device holds: how kernels are launched, work, clocks, windows, and samples of a machine."""
    wire = Wire()
    thread, stream = wire.track(1, wire.string("main")), wire.track(7, 0, kind=1, device=0)
    driver, sampled = wire.track(0, 0, kind=3, device=0), wire.track(1, wire.string("gpu"), kind=2)
    launch, kernel, copy, wait = (wire.string(x) for x in ("cudaLaunchKernel", "gemm", "cudaMemcpyAsync", "cudaStreamSynchronize"))
    clear, step_name, busy = wire.string("memset"), wire.string("StokerStep#"), wire.string("gpu busy")
    config, wire.next_id = wire.next_id, wire.next_id + 1
    wire.block(11, 1, struct.pack("<10I", config, 16, 1, 1, 256, 1, 1, 32, 4096, 0))
    device = struct.pack("<4iQII4I", 0, 108, 8, 0, 40 << 30, wire.string("A card"), 0, 2048, 32, 65536, 164 << 10)
    wire.block(13, 1, device)
    wire.block(12, 2, struct.pack("<6Q", 10**9, 5 * 10**12, 300, 2 * 10**9, 5 * 10**12 + 10**9 + 40, 280))
    wire.block(8, 1, struct.pack("<QQ", 10**9, 10**18))
    events, work, steps, corr = [], [], [], 1
    for step in range(4):
        t = 10**9 + step * 5_000_000
        steps.append((t, 5_000_000, step, thread, 0))
        events.append((t, 4_900_000, step_name, thread, 6, 0, 0))
        for k, (name, kind) in enumerate(((copy, 3), (launch, 2), (launch, 2), (clear, 4))):
            at = t + k * 100_000
            events.append((at, 8_000, name, thread, 1, 0, corr))
            moved = 1 << 20 if kind != 2 else 0
            work.append((at + 20_000, 900_000, name if kind != 2 else kernel, stream, kind, *((1, 1, 3, k % 2) if kind == 3 else (0, 0, 0, 0)),
                         k % 2, 0, moved, corr, config if kind == 2 else 0, 1 if k % 2 else 0))
            corr += 1
        events.append((t + 500_000, 4_000_000, wait, thread, 1, 0, corr))
        work.append((t + 500_000, 4_000_000, wait, driver, 5, 0, 0, 0, 0, 0, 0, 0, corr, 0, 0))
        corr += 1
    wire.block(3, len(events), b"".join(struct.pack("<QQIIIIQ", *e) for e in events), 10**9, 2 * 10**9)
    wire.block(10, len(work), b"".join(struct.pack("<QQIIH6BQQII", *w) for w in work), 10**9, 2 * 10**9)
    wire.block(4, len(steps), b"".join(struct.pack("<QQQII", *s) for s in steps), 10**9, 2 * 10**9)
    wire.block(6, 2, b"".join(struct.pack("<QIId", 10**9 + k, busy, sampled, 41.5 * k) for k in range(2)))
    wire.block(14, 1, struct.pack("<QQII3Q", 10**9, 20_000_000, 1, 0, 40, 2, 90_000))
    wire.block(7, 2, struct.pack("<QIIQII", 2, launch, 1, 1, wire.string("a remark"), 2))
    wire.block(9, 0, b"")
    (out / "device.stk").write_bytes(wire.out)


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent / "seeds"
    for reader, write in (("chrome", write_chrome), ("xplane", write_xplane), ("nsys", write_nsys), ("stk", write_stk), ("perfetto", write_perfetto)):
        (root / reader).mkdir(parents=True, exist_ok=True)
        write(root / reader)
    print(f"{sum(1 for p in root.rglob('*') if p.is_file())} seeds in {root.name}/")


if __name__ == "__main__":
    main()
