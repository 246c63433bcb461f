# SPDX-License-Identifier: Apache-2.0
"""DuckDB's side: the same statements over the same rows, in the settings that bench/query/run searches.

Answers requests in bench/data/side.py's protocol: "query" with a statement, a setting and repeats returns the best
seconds (elapsed and CPU), the rows and the sum of the last column. Tables are made on first use and stay in memory;
making them isn't timed.
"""

import os
import sys
import time

import duckdb

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data"))
import side  # noqa: E402

# how the rows are stored: types as the CSV reader finds them, the smallest that fit, names as an ENUM (with its values
# in order, so that min and max agree), sorted, or in a Parquet file
READ = "select * from read_csv('{path}', header = true)"
SMALL = """select device{device} as device, stream::smallint as stream, name{name} as name,
    start_ns::bigint as start_ns, dur_ns::integer as dur_ns from as_read"""
ENUMS = SMALL.format(device="::devices", name="::names")
TABLES = {
    "as read": "create table {table} as " + READ,
    "small types": "create table {table} as " + SMALL.format(device="", name=""),
    "enum": "create table {table} as " + ENUMS,
    "enum, by start": "create table {table} as " + ENUMS + " order by start_ns",
    "enum, by name": "create table {table} as " + ENUMS + " order by name",
    "enum, by stream": "create table {table} as "
    + ENUMS
    + " order by device, stream, start_ns",
    "Parquet": "create view {table} as select * from read_parquet('{path}.parquet')",
}
connection, made = duckdb.connect(), {}


def table_of(how, path):
    """The name of the table or view, created on first use."""
    if how in made:
        return made[how]
    name = how.replace(" ", "_").replace(",", "")
    if how != "as read":
        table_of("as read", path)
    if how.startswith("enum") and not any(h.startswith("enum") for h in made):
        for type_, column in (("names", "name"), ("devices", "device")):
            values = f"select distinct {column}::varchar from as_read order by 1"
            connection.execute(f"create type {type_} as enum ({values})")
    if how == "Parquet" and not os.path.exists(f"{path}.parquet"):
        connection.execute(f"copy as_read to '{path}.parquet' (format parquet)")
    connection.execute(TABLES[how].format(table=name, path=path))
    made[how] = name
    return name


def fetched(setting, sql):
    """(rows, sum of the last column) of one execution."""
    cursor = connection.execute(sql)
    if setting["fetch"] == "fetchnumpy":
        last = list(cursor.fetchnumpy().values())[-1]
        return len(last), lambda: float(sum(float(x) for x in last))
    rows = cursor.fetchall()
    return len(rows), lambda: float(sum(r[-1] or 0 for r in rows))


def query(path, sql, setting, repeats):
    table = table_of(setting["table"], path)
    connection.execute(f"set threads = {setting['threads']}")
    is_ordered = "true" if setting.get("in order", True) else "false"
    connection.execute(f"set preserve_insertion_order = {is_ordered}")
    text = sql.replace("from kernels", f"from {table}")
    if setting.get("prepared"):
        connection.execute(f"prepare asked as {text}")
        text = "execute asked"

    def run():
        best, cpu, count, total = float("inf"), float("inf"), 0, lambda: 0.0
        for _ in range(repeats):
            start, used = time.perf_counter(), time.process_time()
            count, total = fetched(setting, text)
            best = min(best, time.perf_counter() - start)
            cpu = min(cpu, time.process_time() - used)
        return {"seconds": best, "cpu_seconds": cpu, "rows": count, "sum": total()}

    return run


if __name__ == "__main__":
    side.serve({"query": query}, lambda: {"DuckDB": duckdb.__version__})
