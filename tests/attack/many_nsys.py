# SPDX-License-Identifier: Apache-2.0
"""SQLite exports of Nsight Systems with many different things of one kind. MAKERS: name -> writes about `size` bytes."""
import itertools
import os
import sqlite3

PROCESS = 7 << 24 | 1 << 48
TABLES = {
    "StringIds": "id INTEGER PRIMARY KEY, value TEXT",
    "CUPTI_ACTIVITY_KIND_KERNEL": "start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, "
                                  "globalPid INTEGER, demangledName INTEGER, gridX INTEGER, blockX INTEGER",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, "
                                  "globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": "start INTEGER, end INTEGER, globalPid INTEGER, streamId INTEGER, syncType INTEGER",
    "CUDA_GPU_MEMORY_USAGE_EVENTS": "start INTEGER, globalPid INTEGER, deviceId INTEGER, bytes INTEGER, "
                                    "memoryOperationType INTEGER, memKind INTEGER, address INTEGER",
    "NVTX_EVENTS": "start INTEGER, end INTEGER, eventType INTEGER, globalTid INTEGER, text TEXT, textId INTEGER",
    "OSRT_API": "start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER",
    "GPU_METRICS": "timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER",
    "TARGET_INFO_GPU_METRICS": "typeId INTEGER, metricId INTEGER, metricName TEXT",
    "TARGET_INFO_GPU": "id INTEGER, cuDevice INTEGER, name TEXT, smCount INTEGER",
    "TARGET_INFO_CUDA_DEVICE": "gpuId INTEGER, cudaId INTEGER, pid INTEGER",
    "PROCESSES": "globalPid INTEGER, pid INTEGER, name TEXT",
    "ThreadNames": "globalTid INTEGER, nameId INTEGER",
    "DIAGNOSTIC_EVENT": "timestamp INTEGER, severity INTEGER, text TEXT",
}


def call(k, thread=PROCESS | 7, name=1):
    return "CUPTI_ACTIVITY_KIND_RUNTIME", (k * 20_000, k * 20_000 + 5000, thread, k, name)


def kernel(k, device=0, stream=7, process=PROCESS, name=2, grid=1):
    return "CUPTI_ACTIVITY_KIND_KERNEL", (k * 20_000 + 6000, k * 20_000 + 15_000, device, stream, k, process, name, grid, 128)


def nvtx(k, text, thread=PROCESS | 7):
    return "NVTX_EVENTS", (k * 20_000, k * 20_000 + 19_000, 59, thread, text, None)


def string(k, text):
    return "StringIds", (k + 10, text)


def process_of(k):
    return 1 << 48 | (k & 0xFFFFFF) << 24


KINDS = {
    "threads": lambda k: [("OSRT_API", (k, k + 1, PROCESS | k & 0xFFFFFF, 1))],
    "threads-launch": lambda k: [call(k, thread=PROCESS | k & 0xFFFFFF), kernel(k)],
    "processes": lambda k: [("OSRT_API", (k, k + 1, process_of(k) | 7, 1))],
    "processes-work": lambda k: [call(k, thread=process_of(k % 4000) | 7), kernel(k, process=process_of(k % 4000))],
    "process-names": lambda k: [("PROCESSES", (process_of(k), k, f"p{k}")), ("OSRT_API", (k, k + 1, process_of(k) | 7, 1))],
    "thread-names": lambda k: [("ThreadNames", (PROCESS | k & 0xFFFFFF, 1)), ("OSRT_API", (k, k + 1, PROCESS | k & 0xFFFFFF, 1))],
    "devices": lambda k: [call(k), kernel(k, device=k)] + ([nvtx(k, f"step {k // 500}")] if k % 500 == 0 else []),
    "streams": lambda k: [call(k), kernel(k, stream=k)],
    "names": lambda k: [string(k, f"n{k}"), ("OSRT_API", (k * 9, k * 9 + 1, PROCESS | 7, k + 10))],
    "names-only": lambda k: [string(k, f"n{k}")],
    "names-kernel": lambda k: [string(k, f"kernel_{k}"), call(k), kernel(k, name=k + 10)],
    "names-runtime": lambda k: [string(k, f"cudaCall{k}_v3020"), call(k, name=k + 10)],
    "ranges": lambda k: [nvtx(k, f"range {k} of a run")],
    "steps": lambda k: [nvtx(k, f"step {k}"), call(k), kernel(k)],
    "step-families": lambda k: [nvtx(k, f"epoch {k} step {k}")],
    "correlations": lambda k: [call(2 * k), kernel(2 * k + 1)],
    "configs": lambda k: [call(k), kernel(k, grid=k + 1)],
    "copies": lambda k: [("CUPTI_ACTIVITY_KIND_MEMCPY", (k * 9, k * 9 + 5, 0, 7, k, PROCESS, k, 1, 1, 2))],
    "syncs": lambda k: [("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", (k, k + 1, process_of(k), k, 1))],
    "addresses": lambda k: [("CUDA_GPU_MEMORY_USAGE_EVENTS", (k, PROCESS, 0, 512, 0, 2, 4096 * k))],
    "memory-devices": lambda k: [("CUDA_GPU_MEMORY_USAGE_EVENTS", (k, PROCESS, k, 512, 0, 2, 4096))],
    "metrics": lambda k: [("TARGET_INFO_GPU_METRICS", (1 << 48, k, f"metric {k} [%]")), ("GPU_METRICS", (k, 1 << 48, k, k % 100))],
    "metric-types": lambda k: [("GPU_METRICS", (k, k << 8, 1, k % 100))],
    "gpus": lambda k: [("TARGET_INFO_GPU", (k, k, f"GPU {k}", 108)), ("TARGET_INFO_CUDA_DEVICE", (k, k, 7))],
    "messages": lambda k: [("DIAGNOSTIC_EVENT", (k, 2, f"message {k}"))],
}


def database(rows_of):
    def make(path, size):
        if os.path.exists(path):
            os.remove(path)
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        db.execute("BEGIN")
        made = set()

        def put(table, rows):
            if table not in made:
                made.add(table)
                db.execute(f"CREATE TABLE {table} ({TABLES[table]})")
            db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)

        put("StringIds", [(1, "cudaLaunchKernel_v7000"), (2, "gemm")])
        for first in itertools.count(1, 2000):
            batch = {}
            for k in range(first, first + 2000):
                for table, row in rows_of(k):
                    batch.setdefault(table, []).append(row)
            for table, rows in batch.items():
                put(table, rows)
            if db.execute("PRAGMA page_count").fetchone()[0] * 4096 >= size:
                break
        if "OSRT_API" not in made and "CUPTI_ACTIVITY_KIND_RUNTIME" not in made:
            put(*(lambda table, row: (table, [row]))(*call(1)))
        db.execute("COMMIT")
        db.close()
    return make


MAKERS = {f"nsys-{kind}": database(rows_of) for kind, rows_of in KINDS.items()}
