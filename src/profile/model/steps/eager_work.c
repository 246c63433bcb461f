// SPDX-License-Identifier: Apache-2.0
// How long operations that TensorFlow runs eagerly on the host would take as one graph: their work,
// without the calls.
//
// Method: such an event covers the operation's kernel and a call, which costs about the same for
// all operations. The smallest median of all names is that cost. An operation's work is its name's
// median less that cost; the median excludes delays by other programs. The lower bound is its
// name's shortest event less the shortest of all. One pass over the events.
// Limits: operations of one name with different shapes count as the median one.
#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "profile/model/analysis.h"

struct run {
    uint32_t name;
    int64_t ns;
};

STK_ORDER(compare_runs, struct run, STK_UP(name) STK_UP(ns))

static bool collect(const struct stk_analysis *a, struct stk_vec *out)
{
    const struct stk_trace *t = a->t;
    for (uint32_t k = 0; k < t->track_count; k++) {
        const struct stk_track *row = &t->tracks[k];
        for (uint32_t e = row->first; a->threads[k].in_rank && e < row->first + row->count; e++) {
            if (t->kind[e] != STK_KIND_HOST_OP || a->signs[t->name[e]] != STK_SIGN_EAGER_OP + 1) {
                continue;
            }
            struct run *r = stk_vec_push(out);
            if (!r) {
                return false;
            }
            *r = (struct run){t->name[e], stk_end_ns(t, e) - t->start_ns[e]};
        }
    }
    return true;
}

static size_t end_of_name(const struct run *r, size_t at, size_t count)
{
    size_t end = at;
    while (end < count && r[end].name == r[at].name) {
        end++;
    }
    return end;
}

// Runs are sorted by name, then time.
static void sum(const struct run *r, size_t count, struct stk_facts *to)
{
    int64_t least_ns = INT64_MAX, call_ns = INT64_MAX;
    for (size_t at = 0, end; at < count; at = end) {
        end = end_of_name(r, at, count);
        int64_t median_ns = r[at + (end - at - 1) / 2].ns;
        least_ns = r[at].ns < least_ns ? r[at].ns : least_ns;
        call_ns = median_ns < call_ns ? median_ns : call_ns;
    }
    for (size_t at = 0, end; at < count; at = end) {
        end = end_of_name(r, at, count);
        int64_t n = (int64_t)(end - at), median_ns = r[at + (end - at - 1) / 2].ns;
        STK_ASSERT(r[at].ns >= least_ns && median_ns >= call_ns);
        to->eager_least_ns = stk_add_ns(to->eager_least_ns, n * (r[at].ns - least_ns));
        to->eager_work_ns = stk_add_ns(to->eager_work_ns, n * (median_ns - call_ns));
        to->eager_usual_ns = stk_add_ns(to->eager_usual_ns, n * median_ns);
        for (size_t i = at; i < end; i++) {
            to->eager_ns = stk_add_ns(to->eager_ns, r[i].ns);
        }
    }
}

bool stk_eager_work_find(struct stk_analysis *a)
{
    struct stk_vec runs;
    if (a->step_count == 0 || a->sum->facts.signs[STK_SIGN_EAGER_OP].count == 0) {
        return true;
    }
    stk_vec_init(&runs, sizeof(struct run), UINT32_MAX);
    bool ok = collect(a, &runs);
    if (ok) {
        stk_sort(runs.items, runs.count, sizeof(struct run), compare_runs);
        sum(runs.items, runs.count, &a->sum->facts);
    }
    stk_vec_deinit(&runs);
    return ok;
}
