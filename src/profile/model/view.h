// SPDX-License-Identifier: Apache-2.0
// An analysis' view of one rank while its trace is in memory: the trace, and what the model derived
// from it (name classes, timelines of the devices, threads, steps). Data that outlives the trace
// must be copied into the summaries' arena.
#pragma once

#include "profile/model/analysis.h"

// Called once per rank, after its summary is complete and before its trace is freed. What `see`
// stores in *partial becomes sum->partial. May run on any thread, one call per trace at a time.
struct stk_view_hook {
    enum stoker_status (*see)(const struct stk_analysis *view, struct stk_arena *arena,
                              void **partial,
                              struct stoker_err *err); // may be NULL
    bool wants_gaps;                                   // keep view->gaps
    bool wants_ribbon; // with the gaps, what stk_ribbons_make needs (profile/model/ribbon.h)
    bool diagnoses;    // also find the input's limiting stage, as without a hook
    uint32_t wants;    // bits STK_WANT_... (profile/store/trace.h)
};

// As stk_model_summarize; `hook` may be NULL. Uses up to `threads` threads. The result doesn't
// depend on their number.
STK_MUST_CHECK enum stoker_status
stk_model_summarize_with(const struct stk_trace *t, const struct stk_select *select,
                         const struct stk_view_hook *hook, int threads, struct stk_arena *arena,
                         struct stk_rank_sum ***ranks, uint32_t *count, struct stoker_err *err);

// Whether the device was selected.
bool stk_view_has_device(const struct stk_analysis *view, uint32_t line);
// Time that was selected on a device, as a set: the windows of the selected steps, or all time.
// False: no memory. `out` must be initialized.
bool stk_view_selected(const struct stk_analysis *view, uint32_t line, struct stk_spans *out);
// Time of the host's steps, as a set: the used ones, or the selected ones. Empty if steps were only
// found on the device. False: no memory.
bool stk_view_host_steps(const struct stk_analysis *view, bool used_only, struct stk_spans *out);
// Selected time on the host, in the same way. Steps that were only found on the device don't select
// host time.
bool stk_view_selected_host(const struct stk_analysis *view, struct stk_spans *out);
// Time of the used steps on a device, and on the host; without steps, the selected time.
bool stk_view_used(const struct stk_analysis *view, uint32_t line, struct stk_spans *out);
bool stk_view_used_host(const struct stk_analysis *view, struct stk_spans *out);

// Walks a device's selected time with operations in start order. An operation counts by its start.
struct stk_view_cursor {
    const struct stk_spans *selected;
    size_t at;
};
static inline bool stk_view_in(struct stk_view_cursor *c, int64_t start_ns)
{
    while (c->at < c->selected->count && c->selected->v[c->at].end_ns <= start_ns) {
        c->at++;
    }
    return c->at < c->selected->count && c->selected->v[c->at].start_ns <= start_ns;
}
