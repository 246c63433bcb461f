// SPDX-License-Identifier: Apache-2.0
// The formats that profiles can be written in, and docs/export.md: what each keeps and what not.
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
    struct stoker_err own;
    const char *best = NULL;
    const struct stk_exporter *found = name ? stk_exporter_find(name) : NULL;
    if (found && out) {
        fill(found, out);
        return 1;
    }
    for (int i = 0; name && i < stk_exporter_count; i++) {
        best = stk_near_best(name, best, stk_exporters[i]->name);
    }
    err = stk_err_begin(err, &own);
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
    "`stoker export FORMAT PROFILE... -o FILE` writes profiles, whatever they were recorded with, "
    "in\n"
    "one of the formats below. This page is written from the same tables as the program.\n"
    "\n"
    "* **Events**: all formats but those of stacks hold every event that stoker read and the "
    "selection\n"
    "  did not leave out, with its start and duration to the nanosecond. Events that stoker could "
    "not\n"
    "  read are not in them; `stoker why -v` counts those, and the export says how many there "
    "are.\n"
    "* **Stacks**, for flame graphs: `collapsed`, `speedscope` and `pprof` hold sums instead. Each "
    "stack\n"
    "  of calls on a host thread (Python functions, ranges, operations, calls of the runtime) has "
    "the\n"
    "  time in which nothing was nested inside it: time of the clock, waiting included. A thread's "
    "times\n"
    "  sum to the time that any of its events covers. Beside this *host* time stands *device* "
    "time: a\n"
    "  kernel or copy is the innermost frame of the stack that launched it, and lies under its "
    "stream\n"
    "  where no launch is recorded; streams that work side by side count each. Time outside of "
    "the\n"
    "  selection is cut off. Numbers of steps and addresses of objects are left out of names, so "
    "that\n"
    "  equal calls are one frame. What overlaps on a thread without nesting stands beside it. A "
    "call\n"
    "  more than 511 deep is taken for the one around it, and so is a new stack behind the first "
    "524 288;\n"
    "  stacks with little time are, where all would be more text than 64 MiB and 256 bytes for "
    "each\n"
    "  event, and the export says how many. No time is lost.\n"
    "* **Arguments** that the profiler wrote with an event are not copied, except for what is "
    "named\n"
    "  below: bytes, direction, memory, steps, links, and details of allocator events (address, "
    "totals,\n"
    "  allocator, operation), counters (each value), collectives (sizes, group) and tf.data's "
    "stages\n"
    "  (parallelism, buffer, function). `--args` writes all of them: each is\n"
    "  read again from the profile's file, a compressed one unpacked into a temporary file first;\n"
    "  Nsight Systems' take a few milliseconds for each event, so select steps there.\n"
    "  Nested arguments are joined by dots, texts that are numbers become numbers.\n"
    "* **Selections** (`--steps`, `--rank`, `--device`, `--from`, `--to`) leave events out: an "
    "event\n"
    "  that overlaps the selected time is written whole (not in stacks), with `--device` host "
    "threads\n"
    "  are kept. What was selected stands in the output where the format has a place for it, and "
    "on\n"
    "  standard error.\n"
    "* **`--redact`** replaces host names, paths and names that users chose, as in reports.\n"
    "* **Times** are in the clock of the profile where the format counts from a clock, else from "
    "the\n"
    "  run's first event. Several ranks share one clock, unless their clocks lie more than a day\n"
    "  apart: then each counts from its own first event.\n"
    "* **Process numbers** are as recorded unless two processes of a run share one, or they are\n"
    "  below 4096, where devices have their numbers: those get one from 1 000 000 000 on.\n"
    "* **Of stoker's own** are the verdict, the findings where their evidence lies, the steps "
    "with\n"
    "  their parts, and the parts of each device's time, except in CSV and stacks.\n"
    "* A file appears under its name only when it is complete. A name that ends in `.gz` is\n"
    "  compressed (not SQLite), and `-o -` writes to a pipe.\n";

static void describe(const struct stk_exporter *e, struct stk_sink *sink)
{
    stk_sink_text(sink, "\n## ");
    stk_sink_text(sink, e->name);
    stk_sink_text(sink, "\n\n");
    stk_sink_text(sink, e->summary);
    stk_sink_text(sink, ". Usual ending: `");
    stk_sink_text(sink, e->extension);
    stk_sink_text(sink, "`.\n\n* **Opens with**: ");
    stk_sink_text(sink, e->opens_with);
    stk_sink_text(sink, ".\n* **Keeps**: ");
    stk_sink_text(sink, e->keeps);
    stk_sink_text(sink, ".\n* **Does not keep**: ");
    stk_sink_text(sink, e->drops);
    stk_sink_text(sink, ".\n");
    if (e->one_rank) {
        stk_sink_text(sink, "* Holds one rank: several are refused; choose one with `--rank`.\n");
    }
}

enum stoker_status stoker_describe_exports(stoker_write_fn write, void *arg, struct stoker_err *err)
{
    if (!write) {
        return stk_err_misuse(err, "stoker_describe_exports needs a callback");
    }
    struct stoker_err own;
    struct stk_sink sink;
    err = stk_err_begin(err, &own);
    stk_sink_init(&sink, write, arg);
    stk_sink_text(&sink, head);
    for (int i = 0; i < stk_exporter_count; i++) {
        describe(stk_exporters[i], &sink);
    }
    return stk_err_end(err, stk_sink_finish(&sink, err));
}
