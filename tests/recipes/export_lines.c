// SPDX-License-Identifier: Apache-2.0
// JSON lines (https://jsonlines.org): an object per event, for shell tools and scripts.
//
// Recipe of an export: src/answers/export/export_lines.c and X(lines) in
// src/answers/export/exports.def. What `stoker export` takes, its list and docs/export.md come from
// the descriptor at the end.
#include "answers/export/export.h"

// A record is whole in memory until stk_ex_record: what is written is never cut within one.
static void put_event(const struct stk_export *x, const struct stk_export_file *f, uint32_t event,
                      struct stk_export_out *out)
{
    const struct stk_trace *t = f->t;
    stk_ex_literal(out, "{\"kind\":");
    stk_ex_json(out, stk_str_from(stk_kind_key((enum stk_kind)t->kind[event])));
    stk_ex_literal(out, ",\"name\":");
    stk_ex_json(out, stk_export_text(f, t->name[event]));
    stk_ex_literal(out, ",\"start_ns\":");
    stk_ex_i64(out, stk_export_clock_ns(x, f, t->start_ns[event]));
    stk_ex_literal(out, ",\"dur_ns\":");
    stk_ex_i64(out, stk_dur_ns(t, event));
    stk_ex_literal(out, "}\n");
    stk_ex_record(out);
}

// Failures to write are remembered by `out` and looked at between tracks.
static enum stoker_status lines_write(struct stk_export *x, struct stk_export_out *out,
                                      struct stoker_err *err)
{
    (void)err;
    for (uint32_t i = 0; i < x->file_count; i++) {
        const struct stk_export_file *f = &x->files[i];
        for (uint32_t k = 0; k < f->t->track_count && !out->failed; k++) {
            const struct stk_track *track = &f->t->tracks[k];
            bool is_taken = stk_export_takes_track(x, f, track);
            for (uint32_t e = track->first; e < track->first + track->count; e++) {
                if (is_taken && stk_export_takes(f->t, &f->processes[track->process], e)) {
                    put_event(x, f, e, out);
                    x->counts.events++;
                } else {
                    x->counts.unselected++;
                }
            }
        }
    }
    return STOKER_OK;
}

const struct stk_exporter stk_exporter_lines = {
    .name = "lines",
    .extension = ".jsonl",
    .summary = "A JSON object per event and line",
    .opens_with = "jq, DuckDB, pandas",
    .keeps = "every event with kind, name, and its times to the nanosecond",
    .drops = "tracks, arguments, links between launches and kernels; everything that is not an "
             "event",
    .is_text = true,
    .write = lines_write,
};
