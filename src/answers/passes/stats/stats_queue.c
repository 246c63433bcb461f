// SPDX-License-Identifier: Apache-2.0
// Work that is launched but hasn't begun: it enters the queue when its launch call begins and
// leaves it when the device begins it. Sorting is needed only if several threads launch.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "answers/passes/stats/stats_launches.h"

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

bool stk_queue_collect(const struct stk_analysis *v, uint32_t line, struct stk_spans *selected,
                       struct stk_queue *queue)
{
    const struct stk_device_line *l = &v->lines[line];
    struct stk_view_cursor cursor = {selected, 0};
    bool sorted = true;
    size_t n = 0;
    *queue = (struct stk_queue){.count = 0};
    if (!stk_view_selected(v, line, selected)) {
        return false;
    }
    queue->launches = stk_alloc_array((size_t)l->op_count + 1, sizeof *queue->launches);
    queue->starts = stk_alloc_array((size_t)l->op_count + 1, sizeof *queue->starts);
    if (!queue->launches || !queue->starts) {
        return false;
    }
    for (uint32_t i = 0; i < l->op_count; i++) {
        uint32_t call = stk_launch_of(v, l->ops[i].event);
        if (call == STK_NONE || !stk_view_in(&cursor, l->ops[i].start_ns)) {
            continue;
        }
        int64_t start_ns = l->ops[i].start_ns, launch_ns = v->t->start_ns[call];
        queue->launches[n] = launch_ns < start_ns ? launch_ns : start_ns;
        queue->starts[n] = start_ns;
        sorted = sorted && (n == 0 || queue->launches[n] >= queue->launches[n - 1]);
        n++;
    }
    if (!sorted) {
        stk_sort(queue->launches, n, sizeof *queue->launches, by_value);
    }
    queue->count = n;
    return true;
}

void stk_queue_deinit(struct stk_queue *queue)
{
    stk_free(queue->launches);
    stk_free(queue->starts);
    *queue = (struct stk_queue){.count = 0};
}

static int64_t bin_end(const struct stk_queue_bin *b)
{
    return b->start_ns + b->dur_ns;
}

size_t stk_queue_bins(const struct stk_queue *q, struct stk_queue_bin *bins, size_t count)
{
    size_t in = 0, out = 0, at = 0;
    int64_t span_ns;
    if (q->count == 0 || count == 0 ||
        __builtin_sub_overflow(q->starts[q->count - 1], q->launches[0], &span_ns) || span_ns <= 0) {
        return 0;
    }
    int64_t now_ns = q->launches[0], end_ns = q->starts[q->count - 1];
    count = (int64_t)count > span_ns ? (size_t)span_ns : count;
    for (size_t i = 0; i < count; i++) {
        int64_t from = (int64_t)((double)span_ns * (double)i / (double)count);
        int64_t to =
            i + 1 == count ? span_ns : (int64_t)((double)span_ns * (double)(i + 1) / (double)count);
        bins[i] = (struct stk_queue_bin){.start_ns = now_ns + from, .dur_ns = to - from};
    }
    while (now_ns < end_ns) {
        while (in < q->count && q->launches[in] <= now_ns) {
            in++;
        }
        while (out < q->count && q->starts[out] <= now_ns) {
            out++;
        }
        int64_t depth = (int64_t)(in - out), next_ns = bin_end(&bins[at]);
        if (in < q->count && q->launches[in] < next_ns) {
            next_ns = q->launches[in];
        }
        if (out < q->count && q->starts[out] < next_ns) {
            next_ns = q->starts[out];
        }
        bins[at].mean += (double)depth * (double)(next_ns - now_ns);
        bins[at].most = depth > bins[at].most ? depth : bins[at].most;
        now_ns = next_ns;
        at += now_ns == bin_end(&bins[at]) && at + 1 < count;
    }
    for (size_t i = 0; i < count; i++) {
        bins[i].mean = bins[i].dur_ns > 0 ? bins[i].mean / (double)bins[i].dur_ns : 0;
    }
    return count;
}
