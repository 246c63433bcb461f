// SPDX-License-Identifier: Apache-2.0
// The export formats, and docs/export.md: what each keeps and drops.
#include "api/api.h"
#include "answers/export/export.h"
#include "base/near.h"
#include "stoker/export.h"

static void fill(const struct stk_exporter *e, struct stoker_export_format *out)
{
    *out = (struct stoker_export_format){.name = e->name,
                                         .extension = e->extension,
                                         .summary = e->summary,
                                         .opens_with = e->opens_with,
                                         .keeps = e->keeps,
                                         .drops = e->drops,
                                         .needs_file = e->needs_file,
                                         .is_text = e->is_text,
                                         .takes_args = e->takes_args,
                                         .has_stacks = e->has_stacks,
                                         .wants_gzip = e->wants_gzip};
}

int stoker_export_format(size_t index, struct stoker_export_format *out)
{
    if (index >= (size_t)stk_exporter_count || !out) {
        return 0;
    }
    fill(stk_exporters[index], out);
    return 1;
}

int stoker_export_find(const char *name, struct stoker_export_format *out, struct stoker_err *err)
{
    const char *best = NULL;
    const struct stk_exporter *found = name ? stk_exporter_find(name) : NULL;
    if (found && out) {
        fill(found, out);
        return 1;
    }
    for (int i = 0; name && i < stk_exporter_count; i++) {
        best = stk_near_best(name, best, stk_exporters[i]->name);
    }
    err = stk_err_begin(err, &(struct stoker_err){0});
    if (best) {
        stk_err_set(err, STOKER_EUSAGE, "no format '%.80s'; did you mean '%s'?", name, best);
    } else {
        stk_err_set(err, STOKER_EUSAGE, "no format '%.80s'; 'stoker export' lists them all",
                    name ? name : "");
    }
    stk_err_fail(err);
    return 0;
}

static const char head[] =
    "# Formats that stoker writes\n"
    "\n"
    "`stoker export FORMAT PROFILE... -o FILE` converts a profile from any source to one of the\n"
    "formats below. This page is generated from the program's own tables.\n"
    "\n"
    "* **Events**: every format except the stack formats keeps all selected events, with start "
    "and\n"
    "  duration to the nanosecond. Events that stoker could not read are missing. `stoker why -v`\n"
    "  counts them, and the export prints how many.\n"
    "* **Stacks**, for flame graphs: `collapsed`, `speedscope` and `pprof` hold sums.\n"
    "  * *Host* time: each stack of calls on a host thread (Python functions, ranges, operations,\n"
    "    runtime calls) has the wall time in which nothing was nested inside it, waits included. "
    "A\n"
    "    thread's stacks sum to the time that its events cover.\n"
    "  * *Device* time: a kernel or copy is the innermost frame of the stack that launched it. If "
    "no\n"
    "    launch was recorded, it is under its stream. Concurrent streams each count.\n"
    "  * Time outside the selection is cut off. Events that overlap on a thread without nesting "
    "are\n"
    "    shown next to each other.\n"
    "  * Names drop step numbers and object addresses, so that equal calls share a frame.\n"
    "  * Calls more than 511 deep, and new stacks after the first 524,288, are merged into the\n"
    "    enclosing one. So are stacks with little time if the text would exceed 64 MiB and 256 "
    "bytes\n"
    "    per event. The export prints how many. No time is lost.\n"
    "* **Arguments** of events are left out, except those listed below: bytes, direction, memory,\n"
    "  steps, links, and details of allocator events (address, totals, allocator, operation),\n"
    "  counters (each value), collectives (sizes, group) and tf.data stages (parallelism, buffer,\n"
    "  function). `--args` keeps all of them. stoker then reads each one again from the profile's\n"
    "  file, and unpacks a compressed file to a temporary one first. For Nsight Systems that takes "
    "a\n"
    "  few milliseconds per event, so select steps. Nested arguments are joined with dots, and "
    "texts\n"
    "  that are numbers become numbers.\n"
    "* **Selections** (`--steps`, `--rank`, `--device`, `--from`, `--to`) leave events out. An "
    "event\n"
    "  that overlaps the selected time is written whole, except in stacks. `--device` keeps host\n"
    "  threads. The selection is printed on standard error, and stored if the format has room for "
    "it.\n"
    "* **`--redact`** replaces host names, paths and user-chosen names, as in reports.\n"
    "* **Times** use the profile's clock if the format has one, otherwise they count from the "
    "run's\n"
    "  first event. Several ranks share one clock, unless their clocks differ by more than a day:\n"
    "  then each counts from its own first event.\n"
    "* **Process numbers** are as recorded. If two processes of a run share a number, or it is "
    "below\n"
    "  4096, where devices have theirs, the process gets one from 1,000,000,000 up.\n"
    "* **stoker adds** the verdict, the findings at their evidence, the steps with their parts, "
    "and\n"
    "  the breakdown of each device's time, except in CSV and stacks.\n"
    "* A file gets its name only once it is complete. A name that ends in `.gz` is compressed "
    "(not\n"
    "  SQLite), and `-o -` writes to a pipe.\n";

static void describe(const struct stk_exporter *e, struct stk_sink *sink)
{
    stk_sink_text(sink, "\n## ");
    stk_sink_text(sink, e->name);
    stk_sink_text(sink, "\n\n");
    stk_sink_text(sink, e->summary);
    stk_sink_text(sink, ". Usual extension: `");
    stk_sink_text(sink, e->extension);
    stk_sink_text(sink, "`.\n\n* **Opens with**: ");
    stk_sink_text(sink, e->opens_with);
    stk_sink_text(sink, ".\n* **Keeps**: ");
    stk_sink_text(sink, e->keeps);
    stk_sink_text(sink, ".\n* **Leaves out**: ");
    stk_sink_text(sink, e->drops);
    stk_sink_text(sink, ".\n");
    if (e->one_rank) {
        stk_sink_text(sink, "* Holds one rank: choose one with `--rank`.\n");
    }
}

enum stoker_status stoker_describe_exports(stoker_write_fn write, void *arg, struct stoker_err *err)
{
    if (!write) {
        return stk_err_misuse(err, "stoker_describe_exports needs a callback");
    }
    struct stk_sink sink;
    err = stk_err_begin(err, &(struct stoker_err){0});
    stk_sink_init(&sink, write, arg);
    stk_sink_text(&sink, head);
    for (int i = 0; i < stk_exporter_count; i++) {
        describe(stk_exporters[i], &sink);
    }
    return stk_err_end(err, stk_sink_finish(&sink, err));
}
