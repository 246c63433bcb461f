// SPDX-License-Identifier: Apache-2.0
// How many times larger a batch fits into GPU memory, from recorded allocations: the minimum in use
// (weights, optimizer state) stays, and the rest grows with the batch. Limits: the profile doesn't
// show memory of other processes or of libraries, or memory that allocators hold unused. Workspaces
// that don't grow count as if they did.
#include "answers/replay/graph.h"

#define FEW_EVENTS 32 // with fewer, the least and the most in use show nothing

struct in_use {
    int64_t least, most, all; // bytes
    uint32_t events;
};

static void add_event(const struct stk_graph_build *b, uint32_t event, uint32_t process,
                      struct in_use *o)
{
    const struct stk_trace *t = b->a->t;
    const struct stk_detail *total = stk_detail_find(t, event, STK_DETAIL_TOTAL);
    const struct stk_detail *device = stk_detail_find(t, event, STK_DETAIL_DEVICE);
    if (!total || !device || device->number < 0 || t->start_ns[event] < b->from_ns ||
        t->start_ns[event] >= b->to_ns) {
        return;
    }
    o->least = !o->events || total->number < o->least ? total->number : o->least;
    o->most = total->number > o->most ? total->number : o->most;
    o->events++;
    for (uint32_t d = 0; d < t->device_count; d++) { // files may give devices a separate process
        bool is_it = t->devices[d].ordinal == device->number &&
                     (t->devices[d].process == process || t->device_count == 1);
        o->all = is_it ? t->devices[d].memory_bytes : o->all;
    }
}

void stk_graph_memory(struct stk_graph_build *b)
{
    const struct stk_analysis *a = b->a;
    const struct stk_trace *t = a->t;
    struct in_use o = {0};
    for (uint32_t k = 0; k < t->track_count; k++) {
        const struct stk_track *row = &t->tracks[k];
        bool wanted = t->detail_count && a->threads[k].in_rank;
        for (uint32_t e = row->first; wanted && e < row->first + row->count; e++) {
            if (t->kind[e] == STK_KIND_MEMORY) {
                add_event(b, e, row->process, &o);
            }
        }
    }
    bool grows = o.events >= FEW_EVENTS && o.most > o.least && o.all > o.most;
    b->g->batch_most = grows ? (double)(o.all - o.least) / (double)(o.most - o.least) : 0;
}
