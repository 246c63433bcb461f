// SPDX-License-Identifier: Apache-2.0
// Launch configurations: kernels of one name are launched in few ways, so each configuration is
// kept once and events have its index. A shard numbers its own; finish() renumbers all of them, in
// the order of the shards.
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/hash.h"
#include "profile/store/build_impl.h"

void stk_configs_init(struct stk_config_set *set)
{
    stk_vec_init(&set->items, sizeof(struct stk_launch_config), STK_CONFIGS_MAX);
    stk_map_init(&set->known, STK_CONFIGS_MAX);
    memset(set->recent, 0, sizeof set->recent);
}

void stk_configs_deinit(struct stk_config_set *set)
{
    stk_vec_deinit(&set->items);
    stk_map_deinit(&set->known);
}

static bool is_same(const struct stk_launch_config *a, const struct stk_launch_config *b)
{
    return a->flops == b->flops && a->bytes == b->bytes &&
           memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 && a->registers == b->registers &&
           a->shared_bytes == b->shared_bytes && a->occupancy_pct == b->occupancy_pct &&
           a->occupancy_of_grid == b->occupancy_of_grid;
}

static uint64_t hash_of(const struct stk_launch_config *c)
{
    const uint64_t words[] = {(uint64_t)c->flops,
                              (uint64_t)c->bytes,
                              (uint64_t)c->grid[0] << 32 | c->grid[1],
                              (uint64_t)c->grid[2] << 32 | c->block[0],
                              (uint64_t)c->block[1] << 32 | c->block[2],
                              (uint64_t)(uint32_t)c->registers << 32 | (uint32_t)c->shared_bytes,
                              (uint64_t)(uint32_t)c->occupancy_pct << 1 | c->occupancy_of_grid};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        hash = stk_hash_table_pair(hash, words[i]);
    }
    return hash;
}

// Consecutive kernels have few configurations: recent ones are found without a hash. Their slot is
// a sum of the fields that differ most. A collision only costs the search.
static uint32_t *recent_of(struct stk_config_set *set, const struct stk_launch_config *c)
{
    uint32_t sum = c->grid[0] * 31 + c->grid[1] * 7 + c->block[0] * 3 + (uint32_t)c->registers;
    return &set->recent[(sum ^ sum >> 6 ^ (uint32_t)c->shared_bytes >> 8) % STK_CONFIGS_RECENT];
}

static uint32_t put(struct stk_config_set *set, const struct stk_launch_config *config)
{
    uint64_t hash = hash_of(config);
    for (uint64_t twin = 0;; twin++) { // others with the same hash
        int created;
        uint32_t *at = stk_map_put(&set->known, hash, twin, (uint32_t)set->items.count, &created);
        struct stk_launch_config *item = !at       ? NULL
                                         : created ? stk_vec_push(&set->items)
                                                   : stk_vec_at(&set->items, *at);
        if (!item || *at >= set->items.count) { // memory ran out before
            return STK_NONE;
        }
        if (created) {
            *item = *config;
        }
        if (created || is_same(item, config)) {
            return *at;
        }
    }
}

uint32_t stk_configs_put(struct stk_config_set *set, const struct stk_launch_config *config)
{
    uint32_t *recent = recent_of(set, config); // index + 1, 0 none
    if (*recent && is_same(stk_vec_at(&set->items, *recent - 1), config)) {
        return *recent - 1;
    }
    uint32_t id = put(set, config);
    *recent = id == STK_NONE ? 0 : id + 1;
    return id;
}

void stk_shard_set_config(struct stk_shard *s, const struct stk_launch_config *config,
                          struct stk_row_ext *ext)
{
    STK_ASSERT(config->registers >= -1 && config->shared_bytes >= -1);
    uint32_t id = ext->flags & STK_EXT_VALUE ? STK_NONE : stk_configs_put(&s->configs, config);
    if (id != STK_NONE) {
        ext->value = id;
        ext->flags |= STK_EXT_CONFIG;
    } else if (!(ext->flags & STK_EXT_VALUE) && s->configs.items.count < STK_CONFIGS_MAX) {
        s->failure = STOKER_ENOMEM;
    }
}

enum stoker_status stk_build_configs(struct stk_finish *f, struct stoker_err *err)
{
    struct stk_config_set all;
    bool ok = true;
    stk_configs_init(&all);
    all.items.max_count = all.known.max_count = UINT32_MAX - 1;
    for (size_t i = 0; i < f->b->shards.count && ok; i++) {
        struct stk_shard *s = stk_build_shard_at(f->b, i);
        uint32_t n = (uint32_t)s->configs.items.count;
        s->config_map = n ? stk_alloc_array(n, sizeof *s->config_map) : NULL;
        ok = s->config_map || n == 0;
        for (uint32_t k = 0; k < n && ok; k++) {
            s->config_map[k] = stk_configs_put(&all, stk_vec_at(&s->configs.items, k));
            ok = s->config_map[k] != STK_NONE;
        }
        stk_configs_deinit(&s->configs);
    }
    if (ok) {
        f->t->configs = all.items.items;
        f->t->config_count = (uint32_t)all.items.count;
        all.items.items = NULL;
    }
    stk_configs_deinit(&all);
    return ok ? STOKER_OK : stk_err_nomem(err);
}
