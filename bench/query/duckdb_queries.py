# SPDX-License-Identifier: Apache-2.0
"""The peer of stoker_bench_query: the same statements in DuckDB over the same rows.

Usage: duckdb_queries.py CSV THREADS REPEATS SQL... Loads the CSV into an in-memory table `kernels`
(names dictionary-compressed by DuckDB itself), then prints one line of JSON: DuckDB's version, and
for each statement its best seconds (elapsed, and of all
processors), its rows and the sum of its last column.
"""
import json
import sys
import time

import duckdb


def main(path, threads, repeats, *statements):
    con = duckdb.connect()
    con.execute(f"set threads = {int(threads)}")
    con.execute(f"create table kernels as select * from read_csv('{path}', header = true)")
    out = []
    for sql in statements:
        best, cpu, rows = float("inf"), float("inf"), []
        for _ in range(int(repeats)):
            start, used = time.perf_counter(), time.process_time()
            rows = con.execute(sql).fetchall()
            best, cpu = min(best, time.perf_counter() - start), min(cpu, time.process_time() - used)
        out.append({"seconds": best, "cpu_seconds": cpu, "rows": len(rows), "sum": float(sum(r[-1] or 0 for r in rows))})
    print(json.dumps({"version": duckdb.__version__, "queries": out}))


if __name__ == "__main__":
    main(*sys.argv[1:])
