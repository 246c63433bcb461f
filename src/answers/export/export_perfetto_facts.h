// SPDX-License-Identifier: Apache-2.0
// Rows of the Perfetto export with facts about a trace, its processes, devices, tracks and counters
// that don't fit in the format's descriptors. profile/readers/perfetto/perfetto_own.c reads them.
#pragma once

#include "answers/export/export.h"

struct stk_perfetto_facts {
    struct stk_export *x;
    struct stk_export_out *out;
    uint32_t file;
    int64_t at_ns;     // time of the rows: that of the trace's first event
    uint64_t track;    // their track
    uint64_t sequence; // the sequence of the file's packets
};

// The trace, its issues, processes and devices: before everything else.
void stk_perfetto_trace_facts(const struct stk_perfetto_facts *w);
void stk_perfetto_track_fact(const struct stk_perfetto_facts *w, uint32_t track, uint64_t uuid);
void stk_perfetto_counter_fact(const struct stk_perfetto_facts *w, uint64_t uuid, uint64_t of,
                               struct stk_str name, struct stk_str series, int64_t device);
