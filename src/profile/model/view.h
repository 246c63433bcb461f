// SPDX-License-Identifier: Apache-2.0
// What an analysis may see of one rank while its trace is in memory: the trace, and what the model
// derived from it (name classes, time lines of the devices, threads, steps). Everything that has to
// outlive the trace must be copied, into the summaries' arena.
#pragma once

#include "profile/model/analysis.h"

// Called once per rank, after its summary is complete and before what it was made from is freed.
// What `see` stores in *partial becomes sum->partial. May run on any thread, one call per trace at
// a time.
struct stk_view_hook {
    enum stoker_status (*see)(const struct stk_analysis *view, struct stk_arena *arena,
                              void **partial,
                              struct stoker_err *err); // may be NULL
    bool wants_gaps;                                   // keep view->gaps
    bool wants_ribbon; // with the gaps, what stk_ribbons_make needs (profile/model/ribbon.h)
    bool diagnoses;    // the stage of the input that limits is found, too, as without a hook
    uint32_t wants;    // bits STK_WANT_... (profile/store/trace.h)
};

// As stk_model_summarize; `hook` may be NULL. Up to `threads` threads work on it; what comes out
// does not depend on how many.
STK_MUST_CHECK enum stoker_status
stk_model_summarize_with(const struct stk_trace *t, const struct stk_select *select,
                         const struct stk_view_hook *hook, int threads, struct stk_arena *arena,
                         struct stk_rank_sum ***ranks, uint32_t *count, struct stoker_err *err);

// Whether the device was selected.
bool stk_view_has_device(const struct stk_analysis *view, uint32_t line);
// Time that was selected on a device, as a set: the windows of the selected steps, or all time.
// False: no memory. `out` must be initialized.
bool stk_view_selected(const struct stk_analysis *view, uint32_t line, struct stk_spans *out);
// Time of the host's steps, as a set: of those that are used, or that are selected. Empty where
// steps were found on the device alone. False: no memory.
bool stk_view_host_steps(const struct stk_analysis *view, bool used_only, struct stk_spans *out);
// Time that was selected on the host, in the same way. Steps found on the device alone say nothing
// of the host's time.
bool stk_view_selected_host(const struct stk_analysis *view, struct stk_spans *out);
// Time of the used steps on a device, and on the host; what was selected where there are no steps.
bool stk_view_used(const struct stk_analysis *view, uint32_t line, struct stk_spans *out);
bool stk_view_used_host(const struct stk_analysis *view, struct stk_spans *out);

// Goes along a device's selected time with operations in start order: an operation counts where it
// starts.
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
