// SPDX-License-Identifier: Apache-2.0
// Details of events, collected from all shards and ordered by the value row they belong to:
// counted, then placed, so the cost is linear and a lookup is one step.
#include "base/alloc.h"
#include "profile/store/build_impl.h"

static bool count_details(struct stk_finish *f, uint64_t *total)
{
    *total = 0;
    for (size_t i = 0; i < f->b->shards.count; i++) {
        *total += stk_build_shard_at(f->b, i)->detail_count;
    }
    return *total < UINT32_MAX;
}

static void count_by_value(struct stk_finish *f, uint32_t *first)
{
    for (size_t i = 0; i < f->b->shards.count; i++) {
        const struct stk_shard *s = stk_build_shard_at(f->b, i);
        for (uint32_t k = 0; k < s->detail_count; k++) {
            const struct stk_raw_detail *d = stk_shard_detail(s, k);
            if (d->ext != STK_NONE) {
                first[d->ext + 1]++;
            }
        }
    }
}

enum stoker_status stk_build_details(struct stk_finish *f, struct stoker_err *err)
{
    struct stk_trace *t = f->t;
    uint64_t total;
    if (!count_details(f, &total)) {
        return stk_err_set(err, STOKER_ELIMIT, "the profile has too many event values");
    }
    if (total == 0) {
        return STOKER_OK;
    }
    t->detail_first = stk_alloc_zero((size_t)t->ext_count + 2, sizeof *t->detail_first);
    t->details = stk_alloc_array((size_t)total, sizeof *t->details);
    if (!t->detail_first || !t->details) {
        return stk_err_nomem(err);
    }
    // Counts are kept two places up, so that putting a value moves the start of its own row to the
    // start of the next one.
    count_by_value(f, t->detail_first + 1);
    for (uint32_t i = 1; i <= t->ext_count + 1; i++) {
        t->detail_first[i] += t->detail_first[i - 1];
    }
    t->detail_count = t->detail_first[t->ext_count + 1];
    for (size_t i = 0; i < f->b->shards.count; i++) {
        struct stk_shard *s = stk_build_shard_at(f->b, i);
        for (uint32_t k = 0; k < s->detail_count; k++) {
            const struct stk_raw_detail *d = stk_shard_detail(s, k);
            if (d->ext != STK_NONE) {
                t->details[t->detail_first[d->ext + 1]++] = d->detail;
            }
        }
        stk_shard_free_details(s);
    }
    return STOKER_OK;
}
