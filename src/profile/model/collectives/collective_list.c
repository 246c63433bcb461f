// SPDX-License-Identifier: Apache-2.0
// The collectives of one rank, to be matched with those of the others: the k-th of each name and
// group of ranks on a device in start order, with the time that nothing else overlapped. The group
// is known if the kernel's row names its ranks and was read with STK_WANT_COLLECTIVES.
#include "base/alloc.h"
#include "profile/model/analysis.h"
#include "profile/model/collectives/collective_classes.h"
#include "profile/model/collectives/collective_sizes.h"
#include "profile/model/collectives/collectives.h"

// Exposed here means: outside the compute of its own device, counted for this collective alone.
static int64_t exposed_of(const struct stk_device_line *line, const int64_t *compute_sums,
                          const struct stk_device_op *op)
{
    return op->end_ns - op->start_ns -
           stk_spans_measure(&line->exposed[STK_PART_COMPUTE], compute_sums, op->start_ns,
                             op->end_ns);
}

// Hash of the list of ranks that the row itself has; 0: none.
static uint64_t own_group_hash(const struct stk_trace *t, uint32_t event, uint32_t *members)
{
    int64_t size = 0;
    uint32_t count;
    const struct stk_detail *d = stk_details_of(t, event, &count);
    *members = STK_NONE;
    for (uint32_t i = 0; i < count; i++) {
        if (d[i].key == STK_DETAIL_GROUP_RANKS) {
            *members = d[i].text;
        } else if (d[i].key == STK_DETAIL_GROUP_SIZE) {
            size = d[i].number;
        }
    }
    return *members == STK_NONE
               ? 0
               : stk_collective_group_hash(stk_strpool_get(&t->strings, *members), size);
}

static int64_t short_enough(int64_t ns)
{
    return ns < STK_COLLECTIVE_NS_MAX ? ns : STK_COLLECTIVE_NS_MAX;
}

void stk_collective_fill(struct stk_collective *c, int64_t start_ns, int64_t dur_ns,
                         int64_t exposed_ns)
{
    *c = (struct stk_collective){.start_ns = start_ns,
                                 .dur_ns = short_enough(dur_ns),
                                 .exposed_ns = short_enough(exposed_ns),
                                 .step = STK_NONE};
}

static bool list_line(struct stk_analysis *a, uint32_t index, struct stk_class_list *classes,
                      struct stk_collective_sizes *sizes)
{
    struct stk_device_line *line = &a->lines[index];
    int64_t *sums = stk_spans_sums(&line->exposed[STK_PART_COMPUTE]);
    bool ok = sums != NULL;
    for (uint32_t i = 0; i < line->op_count && ok; i++) {
        const struct stk_device_op *op = &line->ops[i];
        if (op->part != STK_PART_COMMUNICATION) {
            continue;
        }
        struct stk_class_key key = {.name = a->t->name[op->event], .device = index};
        key.group_hash = own_group_hash(a->t, op->event, &key.members);
        stk_collective_size(sizes, op->event, &key);
        struct stk_collective *c = &a->sum->collectives[a->sum->collective_count];
        stk_collective_fill(c, a->t->base_ns + op->start_ns, op->end_ns - op->start_ns,
                            exposed_of(line, sums, op));
        a->collective_events[a->sum->collective_count] = op->event;
        ok = stk_class_list_place(classes, a->t, &key, c);
        a->sum->collective_count += ok;
    }
    stk_free(sums);
    return ok;
}

static bool list_lines(struct stk_analysis *a)
{
    struct stk_class_list classes;
    struct stk_collective_sizes *sizes = stk_collective_sizes_open(a);
    bool ok = stk_class_list_begin(&classes, a->sum, a->out) && sizes;
    for (uint32_t d = 0; d < a->sum->device_count && ok; d++) {
        ok = list_line(a, d, &classes, sizes);
    }
    stk_collective_sizes_close(sizes);
    return stk_class_list_end(&classes, ok, a->sum);
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
    a->collective_events = stk_arena_array(&a->scratch, n + 1, sizeof *a->collective_events);
    bool ok = a->sum->collectives && a->collective_events && (n == 0 || list_lines(a));
    return ok ? STOKER_OK : stk_err_nomem(err);
}
