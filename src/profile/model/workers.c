// SPDX-License-Identifier: Apache-2.0
// Sums over one worker's record: see workers.h. Its batches are sequential on one thread, and
// contain the items and their collation.
#include "profile/model/workers.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "profile/model/intervals.h"
#include "profile/model/summary.h"
#include "wire/wire.h"

static uint32_t find(const struct stk_trace *t, const char *name)
{
    return stk_strpool_find(&t->strings, name, strlen(name));
}

bool stk_workers_is_record(const struct stk_trace *t)
{
    STK_ASSERT(t);
    return find(t, STK_WIRE_WORKER_BATCH) < t->strings.count;
}

static bool name_item(const struct stk_trace *t, const int64_t *item_ns, struct stk_arena *arena,
                      struct stk_worker_sum *out)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < t->strings.count; i++) {
        best = item_ns[i] > item_ns[best] ? i : best;
    }
    if (item_ns[best] == 0) {
        return true;
    }
    struct stk_str name = stk_strpool_get(&t->strings, best);
    out->most_ns = item_ns[best];
    out->item = stk_arena_strndup(arena, name.p, name.n);
    return out->item != NULL;
}

bool stk_workers_see(const struct stk_trace *t, struct stk_arena *arena, struct stk_worker_sum *out)
{
    STK_ASSERT(t && out);
    uint32_t batch = find(t, STK_WIRE_WORKER_BATCH), collate = find(t, STK_WIRE_WORKER_COLLATE);
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    int64_t *item_ns = stk_alloc_zero((size_t)t->strings.count + 1, sizeof *item_ns);
    *out = (struct stk_worker_sum){.workers = 1};
    if (!item_ns) {
        return false;
    }
    for (uint32_t e = 0; e < t->count; e++) {
        int64_t dur_ns = stk_dur_ns(t, e);
        if (t->name[e] == batch) {
            out->batches++;
            out->batch_ns = stk_add_ns(out->batch_ns, dur_ns);
            first_ns = t->start_ns[e] < first_ns ? t->start_ns[e] : first_ns;
            last_ns = stk_end_ns(t, e) > last_ns ? stk_end_ns(t, e) : last_ns;
        } else if (t->name[e] == collate) {
            out->collate_ns = stk_add_ns(out->collate_ns, dur_ns);
        } else if (t->kind[e] == STK_KIND_PYTHON) {
            out->items++;
            out->item_ns = stk_add_ns(out->item_ns, dur_ns);
            item_ns[t->name[e]] = stk_add_ns(item_ns[t->name[e]], dur_ns);
        }
    }
    out->wall_ns = first_ns < last_ns ? last_ns - first_ns : 0;
    bool ok = name_item(t, item_ns, arena, out);
    stk_free(item_ns);
    return ok;
}
