// SPDX-License-Identifier: Apache-2.0
// The collectives of one rank, to be matched with those of the others: the k-th of each name and
// group of ranks on a device in start order, with the time in which nothing else ran beside it. The
// group is known where the kernel's row names its ranks and was read with STK_WANT_COLLECTIVES.
#include "base/alloc.h"
#include "profile/model/analysis.h"
#include "profile/model/collectives/collectives.h"

#define ANY_DEVICE UINT64_MAX

// Exposed here means: outside the compute of its own device, counted for this collective alone.
static int64_t exposed_of(const struct stk_device_line *line, const int64_t *compute_sums,
                          const struct stk_device_op *op)
{
    return op->end_ns - op->start_ns -
           stk_spans_measure(&line->exposed[STK_PART_COMPUTE], compute_sums, op->start_ns,
                             op->end_ns);
}

struct group {
    uint32_t members; // string id of the list of its ranks, STK_NONE: not recorded
    int64_t size;
};

static struct group group_of(const struct stk_trace *t, uint32_t event)
{
    struct group g = {.members = STK_NONE};
    uint32_t count;
    const struct stk_detail *d = stk_details_of(t, event, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (d[i].key == STK_DETAIL_GROUP_RANKS) {
            g.members = d[i].text;
        } else if (d[i].key == STK_DETAIL_GROUP_SIZE) {
            g.size = d[i].number;
        }
    }
    return g;
}

uint64_t stk_collective_group_hash(struct stk_str members, int64_t size)
{
    return (stk_hash_bytes(members.p, members.n) ^ stk_hash_u64((uint64_t)size)) | 1;
}

static bool list_line(struct stk_analysis *a, uint32_t index, struct stk_map *ordinals)
{
    struct stk_device_line *line = &a->lines[index];
    int64_t *sums = stk_spans_sums(&line->exposed[STK_PART_COMPUTE]);
    bool ok = sums != NULL;
    for (uint32_t i = 0; i < line->op_count && ok; i++) {
        const struct stk_device_op *op = &line->ops[i];
        if (op->part != STK_PART_COMMUNICATION) {
            continue;
        }
        struct stk_str name = stk_name_of(a->t, op->event);
        struct stk_collective *c = &a->sum->collectives[a->sum->collective_count];
        int created, first_seen;
        struct group g = group_of(a->t, op->event);
        uint64_t which = (uint64_t)g.members << 32 | a->t->name[op->event];
        uint32_t *k = stk_map_put(ordinals, which, index, 0, &created);
        c->ordinal = k ? (*k)++ : 0;
        // The name is stored once, with the first collective that has it.
        uint32_t *holder = stk_map_put(ordinals, a->t->name[op->event], ANY_DEVICE,
                                       a->sum->collective_count, &first_seen);
        if (!(ok = k && holder)) {
            break;
        }
        c->name = first_seen ? stk_arena_strndup(a->out, name.p, name.n)
                             : a->sum->collectives[*holder].name;
        if (!(ok = c->name != NULL)) {
            break;
        }
        c->name_hash = stk_hash_bytes(name.p, name.n);
        c->group_hash =
            g.members == STK_NONE
                ? 0
                : stk_collective_group_hash(stk_strpool_get(&a->t->strings, g.members), g.size);
        c->device = index;
        c->start_ns = a->t->base_ns + op->start_ns;
        c->dur_ns = op->end_ns - op->start_ns;
        c->exposed_ns = exposed_of(line, sums, op);
        c->step = STK_NONE;
        c->event = op->event;
        c->bytes = -1;
        a->sum->collective_count++;
    }
    stk_free(sums);
    return ok;
}

enum stoker_status stk_collectives_list(struct stk_analysis *a, struct stoker_err *err)
{
    size_t n = 0;
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        for (uint32_t i = 0; i < a->lines[d].op_count; i++) {
            n += a->lines[d].ops[i].part == STK_PART_COMMUNICATION;
        }
    }
    a->sum->collectives = stk_arena_array(a->out, n + 1, sizeof *a->sum->collectives);
    if (!a->sum->collectives) {
        return stk_err_nomem(err);
    }
    struct stk_map ordinals;
    stk_map_init(&ordinals, 2 * n + 2);
    bool ok = true;
    for (uint32_t d = 0; d < a->sum->device_count && ok; d++) {
        ok = list_line(a, d, &ordinals);
    }
    stk_map_deinit(&ordinals);
    return ok ? STOKER_OK : stk_err_nomem(err);
}
