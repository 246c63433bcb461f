// SPDX-License-Identifier: Apache-2.0
// The facts of each track before the first query: its rank, its device's id in the report, and the
// steps of its events. Columns that need a pass over all events are built on first use.
#include "answers/query/query_source.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"

STK_ORDER(compare_steps, struct stk_query_step, STK_UP(start_ns) STK_UP(number))

// Sort, and drop what begins inside an earlier one.
static void tidy(struct stk_query_steps *s)
{
    uint32_t kept = 0;
    stk_sort(s->v, s->count, sizeof *s->v, compare_steps);
    for (uint32_t i = 0; i < s->count; i++) {
        if (kept == 0 || s->v[i].start_ns >= s->v[kept - 1].end_ns) {
            s->v[kept++] = s->v[i];
        }
    }
    s->count = kept;
}

// Steps of a rank on one device, or on its host if device is STK_NONE.
static struct stk_query_steps *steps_of(struct stk_query *q, const struct stk_query_rank *rank,
                                        uint32_t device)
{
    const struct stk_rank_sum *sum = rank->sum;
    struct stk_query_steps *out = stk_arena_alloc(&q->arena, sizeof *out);
    if (!out) {
        return NULL;
    }
    out->v = stk_arena_array(&q->arena, (size_t)sum->step_count + 1, sizeof *out->v);
    if (!out->v) {
        return NULL;
    }
    for (uint32_t i = 0; i < sum->step_count; i++) {
        const struct stk_step *s = &sum->steps[i];
        bool host = device == STK_NONE;
        if (host ? s->host_dur_ns < 0 && s->device != STK_NONE : s->device != device) {
            continue;
        }
        bool from_host = host && s->host_dur_ns >= 0;
        int64_t start = from_host ? s->host_start_ns : s->start_ns;
        int64_t dur = from_host ? s->host_dur_ns : s->dur_ns;
        start -= rank->shift_ns;
        out->v[out->count++] = (struct stk_query_step){start, start + dur, s->number};
    }
    tidy(out);
    return out;
}

uint32_t stk_query_step_at(const struct stk_query_steps *steps, int64_t t_ns)
{
    uint32_t low = 0, high = steps ? steps->count : 0;
    while (low < high) { // first that starts later
        uint32_t mid = low + (high - low) / 2;
        if (steps->v[mid].start_ns <= t_ns) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low > 0 && t_ns < steps->v[low - 1].end_ns ? low - 1 : STK_NONE;
}

// Tracks of one rank in its trace.
static bool place_rank(struct stk_query *q, struct stk_query_trace *x, uint32_t index)
{
    const struct stk_query_rank *rank = &q->source.ranks[index];
    const struct stk_trace *t = x->t;
    const struct stk_rank_sum *sum = rank->sum;
    const struct stk_query_steps *host = steps_of(q, rank, STK_NONE), **lines;
    const uint32_t n = sum->device_count;
    lines = stk_arena_array(&q->arena, (size_t)n + 1, sizeof *lines);
    if (!host || !lines) {
        return false;
    }
    for (uint32_t d = 0; d < n; d++) {
        if (!(lines[d] = steps_of(q, rank, d))) {
            return false;
        }
    }
    for (uint32_t k = 0; k < t->track_count; k++) {
        const struct stk_track *track = &t->tracks[k];
        struct stk_query_track *out = &x->tracks[k];
        if (!sum->in_rank[track->process]) {
            continue;
        }
        *out = (struct stk_query_track){
            .taken = true, .rank = sum->rank, .owner = index, .steps = host};
        if (track->device == STK_NONE) {
            continue;
        }
        out->steps = NULL;
        for (uint32_t d = 0; d < n; d++) {
            if (sum->devices[d].ordinal == t->devices[track->device].ordinal) {
                out->device = sum->devices[d].id;
                out->steps = lines[d];
            }
        }
    }
    return true;
}

// Devices that aren't in any rank's summary, and processes without a rank.
static bool place_rest(struct stk_query *q, struct stk_query_trace *x)
{
    const struct stk_trace *t = x->t;
    const char **ids = stk_arena_array(&q->arena, (size_t)t->device_count + 1, sizeof *ids);
    if (!ids) {
        return false;
    }
    for (uint32_t k = 0; k < t->track_count; k++) {
        struct stk_query_track *out = &x->tracks[k];
        if (!out->taken) {
            out->rank = -1;
            out->owner = STK_NONE;
            out->taken = !q->source.one_rank;
        }
        uint32_t d = t->tracks[k].device;
        if (d == STK_NONE || out->device) {
            continue;
        }
        if (!ids[d]) {
            ids[d] = stk_arena_printf(&q->arena, "%d/%lld", out->rank < 0 ? 0 : (int)out->rank,
                                      (long long)t->devices[d].ordinal);
        }
        if (!ids[d]) {
            return false;
        }
        out->device = ids[d];
    }
    return true;
}

enum stoker_status stk_query_source_make(struct stk_query *q, struct stoker_err *err)
{
    const struct stk_query_source *s = &q->source;
    q->traces = stk_arena_array(&q->arena, (size_t)s->rank_count + 1, sizeof *q->traces);
    if (!q->traces) {
        return stk_err_nomem(err);
    }
    for (uint32_t r = 0; r < s->rank_count; r++) {
        struct stk_query_trace *x = q->trace_count ? &q->traces[q->trace_count - 1] : NULL;
        if (!x || x->t != s->ranks[r].trace) {
            if (q->trace_count == STK_QUERY_TRACES_MAX) {
                return stk_err_set(err, STOKER_ELIMIT, "more than %d profiles are open",
                                   STK_QUERY_TRACES_MAX);
            }
            x = &q->traces[q->trace_count++];
            *x = (struct stk_query_trace){.t = s->ranks[r].trace,
                                          .shift_ns = s->ranks[r].shift_ns,
                                          .rank = r,
                                          .failed = &q->failed};
            x->tracks =
                stk_arena_array(&q->arena, (size_t)x->t->track_count + 1, sizeof *x->tracks);
            if (!x->tracks) {
                return stk_err_nomem(err);
            }
            q->event_count += x->t->count;
        }
        if (!place_rank(q, x, r)) {
            return stk_err_nomem(err);
        }
    }
    for (uint32_t i = 0; i < q->trace_count; i++) {
        if (!place_rest(q, &q->traces[i])) {
            return stk_err_nomem(err);
        }
    }
    return STOKER_OK;
}

void stk_query_source_free(struct stk_query *q)
{
    for (uint32_t i = 0; q->traces && i < q->trace_count; i++) {
        stk_free(q->traces[i].parents);
        stk_free(q->traces[i].block_ends);
        stk_free(q->traces[i].traits);
        stk_free(q->traces[i].traits_known);
        if (q->is_thawed) {
            stk_trace_free((struct stk_trace *)(uintptr_t)q->traces[i].t);
        }
    }
}

const uint32_t *stk_query_parents(struct stk_query_trace *x)
{
    const struct stk_trace *t = x->t;
    uint32_t open[256] = {0}; // the last event of each depth; depths are saturated at 255
    if (x->parents) {
        return x->parents;
    }
    x->parents = stk_alloc_array((size_t)t->count + 1, sizeof *x->parents);
    *x->failed |= !x->parents;
    for (uint32_t k = 0; x->parents && k < t->track_count; k++) {
        for (uint32_t i = 0; i < t->tracks[k].count; i++) {
            uint32_t e = t->tracks[k].first + i;
            uint8_t depth = i == 0 ? 0 : t->depth[e];
            x->parents[e] = depth ? open[depth - 1] : STK_NONE;
            open[depth] = e;
        }
    }
    return x->parents;
}

const int64_t *stk_query_block_ends(struct stk_query_trace *x)
{
    const struct stk_trace *t = x->t;
    size_t blocks = (size_t)t->count / STK_QUERY_BLOCK + 1;
    if (x->block_ends) {
        return x->block_ends;
    }
    x->block_ends = stk_alloc_array(blocks, sizeof *x->block_ends);
    for (size_t b = 0; x->block_ends && b < blocks; b++) {
        int64_t latest = INT64_MIN;
        for (size_t e = b * STK_QUERY_BLOCK; e < (b + 1) * STK_QUERY_BLOCK && e < t->count; e++) {
            int64_t end = stk_end_ns(t, (uint32_t)e);
            latest = end > latest ? end : latest;
        }
        x->block_ends[b] = latest;
    }
    return x->block_ends;
}

struct stk_kernel_traits stk_query_traits(struct stk_query_trace *x, uint32_t name)
{
    STK_ASSERT(name <= x->t->strings.count);
    size_t n = (size_t)x->t->strings.count + 1;
    struct stk_str text = stk_strpool_get(&x->t->strings, name);
    if (!x->traits_known) {
        x->traits_known = stk_alloc_zero(n, 1);
    }
    if (!x->traits) {
        x->traits = stk_alloc_zero(n, sizeof *x->traits);
    }
    if (!x->traits || !x->traits_known) {
        return stk_kernel_traits_of(text); // slower, and right
    }
    if (!x->traits_known[name]) {
        x->traits[name] = stk_kernel_traits_of(text);
        x->traits_known[name] = 1;
    }
    return x->traits[name];
}
