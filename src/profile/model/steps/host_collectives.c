// SPDX-License-Identifier: Apache-2.0
// The collectives of a rank without a device (gloo, MPI, XLA and TensorFlow on the CPU), to be
// matched with those of the other ranks: the k-th of each name in start order. If both the call
// and its work are recorded (c10d::allreduce_, gloo:all_reduce), the work counts.
//
// Method: one pass over the host's events, only if there is a collective. Its exposed time is the
// steps' communication time while it ran.
#include "base/sort.h"
#include "profile/model/analysis.h"
#include "profile/model/collectives/collective_classes.h"
#include "profile/model/collectives/collectives.h"

static bool is_call(struct stk_str name)
{
    static const struct stk_str calls[] = {{"c10d::", 6},
                                           {"c10d_functional::", 17},
                                           {"_c10d_functional::", 18},
                                           {"record_param_comms", 18}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (stk_str_starts(name, calls[i])) {
            return true;
        }
    }
    return false;
}

// Calls, or their work; false: no memory.
static bool collect(const struct stk_analysis *a, bool calls, struct stk_vec *out)
{
    const struct stk_trace *t = a->t;
    for (uint32_t k = 0; k < t->track_count; k++) {
        const struct stk_track *row = &t->tracks[k];
        int64_t end_ns = INT64_MIN; // of the outermost
        for (uint32_t e = row->first; a->threads[k].in_rank && e < row->first + row->count; e++) {
            if (!(stk_class_of(a, e) & STK_NAME_HOST_COLL) || t->start_ns[e] < end_ns ||
                is_call(stk_name_of(t, e)) != calls || t->start_ns[e] < a->from_ns ||
                t->start_ns[e] >= a->to_ns) {
                continue;
            }
            struct stk_mark *m = stk_vec_push(out);
            if (!m) {
                return false;
            }
            *m = (struct stk_mark){t->start_ns[e], stk_end_ns(t, e), e};
            end_ns = m->end_ns;
        }
    }
    return true;
}

STK_ORDER(by_start, struct stk_mark, STK_UP(start_ns) STK_UP(event))

// Row of the host's step that contains a time; STK_NONE: none. Times and `at` only go forward.
static uint32_t row_at(const struct stk_rank_sum *sum, int64_t t_ns, uint32_t *at)
{
    while (*at < sum->step_count && (sum->steps[*at].device != STK_NONE ||
                                     sum->steps[*at].start_ns + sum->steps[*at].dur_ns <= t_ns)) {
        (*at)++;
    }
    return *at < sum->step_count && sum->steps[*at].start_ns <= t_ns ? *at : STK_NONE;
}

static bool list(struct stk_analysis *a, const struct stk_vec *marks, const struct stk_spans *spans)
{
    struct stk_class_list classes;
    uint32_t step = 0;
    bool ok = stk_class_list_begin(&classes, a->sum, a->out);
    for (size_t i = 0; i < marks->count && ok; i++) {
        const struct stk_mark *m = stk_vec_at(marks, i);
        const struct stk_class_key key = {.name = a->t->name[m->event],
                                          .group = STK_NONE,
                                          .members = STK_NONE,
                                          .device = STK_NONE,
                                          .bytes = -1};
        struct stk_collective *c = &a->sum->host_collectives[a->sum->host_collective_count];
        stk_collective_fill(c, a->t->base_ns + m->start_ns, m->end_ns - m->start_ns,
                            stk_spans_overlap(spans, m->start_ns, m->end_ns));
        c->step = row_at(a->sum, m->start_ns, &step);
        ok = stk_class_list_place(&classes, a->t, &key, c);
        a->sum->host_collective_count += ok;
    }
    return stk_class_list_end(&classes, ok, a->sum);
}

// Do several threads of the process run the same collective at once? Then its peers are devices of
// the same process (virtual JAX devices on the CPU), and it waits for no other rank. PyTorch's
// threads work for one rank.
static bool are_within(const struct stk_analysis *a, const struct stk_vec *marks)
{
    size_t shared = 0;
    if (a->t->framework_hint & (1u << STK_FW_PYTORCH)) {
        return false;
    }
    for (size_t i = 1; i < marks->count; i++) {
        const struct stk_mark *last = stk_vec_at(marks, i - 1), *m = stk_vec_at(marks, i);
        shared += a->t->name[last->event] == a->t->name[m->event] &&
                  stk_thread_of(a, last->event) != stk_thread_of(a, m->event) &&
                  m->start_ns < last->end_ns;
    }
    return 2 * shared >= marks->count && shared > 0;
}

bool stk_host_collectives_list(struct stk_analysis *a, const struct stk_spans *communication)
{
    struct stk_vec marks;
    if (a->host_collectives.count == 0) {
        return true;
    }
    stk_vec_init(&marks, sizeof(struct stk_mark), UINT32_MAX - 1);
    bool ok = collect(a, false, &marks) && (marks.count > 0 || collect(a, true, &marks));
    stk_sort(marks.items, marks.count, sizeof(struct stk_mark), by_start);
    if (ok && are_within(a, &marks)) {
        a->sum->facts.host_collective_ns = 0;
        marks.count = 0;
    }
    a->sum->host_collectives =
        stk_arena_array(a->out, marks.count + 1, sizeof *a->sum->host_collectives);
    ok = ok && a->sum->host_collectives && list(a, &marks, communication);
    stk_vec_deinit(&marks);
    return ok;
}
