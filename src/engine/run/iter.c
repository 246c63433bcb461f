// SPDX-License-Identifier: Apache-2.0
// The iterators' places in their tree, and the seeds derived from them; see iter.h.
#include "engine/run/iter.h"

#include "base/assert.h"
#include "base/str.h"

uint64_t stk_path_mix(uint64_t path, uint64_t part)
{
    return stk_hash_u64(path * 0x9e3779b97f4a7c15u + part + 0x632be59bd9b4e019u);
}

uint64_t stk_iter_input_path(const struct stk_iter *it, int i)
{
    STK_ASSERT(i >= 0);
    uint64_t path = i == 0 ? it->path : stk_path_mix(it->path, (uint64_t)i);
    for (int k = -1; i == 0 && k < it->ds->hops; k++) {
        path = stk_path_mix(path, 0);
    }
    return path;
}

uint64_t stk_iter_seed_at(const struct stk_run *run, uint64_t path, uint64_t epoch, int64_t seed)
{
    uint64_t base = seed >= 0 ? stk_hash_u64((uint64_t)seed + 1) : run->seed ^ path;
    return stk_path_mix(base, epoch);
}

uint64_t stk_iter_seed_below(const struct stk_iter *it, int64_t hops, int64_t seed)
{
    STK_ASSERT(hops >= 0);
    uint64_t path = it->path;
    for (int64_t k = 0; k < hops; k++) {
        path = stk_path_mix(path, 0);
    }
    return stk_iter_seed_at(it->run, path, it->epoch, seed);
}

enum stoker_status stk_stage_no_memory(const struct stk_iter *it, struct stoker_err *err)
{
    struct stk_pool_stats s = stk_pool_stats_of(it->run->pool);
    return stk_err_set(err, STOKER_ELIMIT, "%s: out of memory (%llu of %llu bytes of %s in use)",
                       it->kind->name, (unsigned long long)s.in_use_bytes,
                       (unsigned long long)s.cap_bytes, s.cap_name);
}

void stk_iter_hint_final(struct stk_iter *it)
{
    while (it) {
        it->is_final = true;
        it = stk_dataset_role_hands_on(it->kind->role) && it->n_in > 0 ? it->in[0] : NULL;
    }
}
