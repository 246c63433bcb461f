// SPDX-License-Identifier: Apache-2.0
// The index in a file of arrays (base/frozen.h), after the query whose traces it indexes. Arrays of
// the events' length stay in the map.
#include "profile/store/trace_frozen.h"
#include "profile/timeline/timeline.h"

struct frozen_timeline {
    uint64_t events;
    int64_t first_ns, last_ns;
};

struct frozen_ribbon {
    uint32_t trace, device;
    int64_t end_ns;
};

struct frozen_index {
    uint32_t name_base, row_count, list_count, step_count, bucket_count;
};

static void freeze_ribbons(const struct stk_timeline *t, struct stk_frost *f)
{
    stk_frost_put(f, &t->ribbon_count, 1, sizeof t->ribbon_count);
    for (uint32_t i = 0; i < t->ribbon_count; i++) {
        const struct stk_tl_ribbon *r = &t->ribbons[i];
        const struct frozen_ribbon head = {r->trace, r->ribbon.device, r->ribbon.end_ns};
        stk_frost_put(f, &head, 1, sizeof head);
        stk_text_freeze(f, r->id);
        stk_text_freeze(f, r->name);
        stk_frost_put(f, r->ribbon.pieces, r->ribbon.count, sizeof *r->ribbon.pieces);
    }
}

void stk_timeline_freeze(const struct stk_timeline *t, struct stk_frost *f)
{
    const struct frozen_timeline head = {t->events, t->first_ns, t->last_ns};
    stk_frost_put(f, &head, 1, sizeof head);
    for (uint32_t i = 0; i < t->trace_count; i++) {
        const struct stk_tl_trace *x = &t->traces[i];
        const struct frozen_index n = {x->name_base, x->row_count, x->list_count, x->step_count,
                                       x->bucket_count};
        stk_frost_put(f, &n, 1, sizeof n);
        stk_frost_put(f, x->tracks, x->t->track_count, sizeof *x->tracks);
        stk_frost_put(f, x->roots, x->t->track_count, sizeof *x->roots);
        stk_frost_put(f, x->row_base, x->t->track_count, sizeof *x->row_base);
        stk_frost_put(f, x->rows, n.row_count, sizeof *x->rows);
        stk_frost_put(f, x->list, n.list_count, sizeof *x->list);
        stk_frost_put(f, x->steps, (size_t)n.step_count + 1, sizeof *x->steps);
        stk_frost_put(f, x->buckets, n.bucket_count, sizeof *x->buckets);
        stk_frost_put(f, x->outliers, x->t->strings.count, sizeof *x->outliers);
    }
    freeze_ribbons(t, f);
}

static void thaw_trace(struct stk_tl_trace *x, struct stk_thaw *thaw)
{
    const struct frozen_index *n = stk_thaw_array(thaw, sizeof *n, 1);
    if (thaw->failed) {
        return;
    }
    x->name_base = n->name_base;
    x->row_count = n->row_count;
    x->list_count = n->list_count;
    x->step_count = n->step_count;
    x->bucket_count = n->bucket_count;
    x->tracks = stk_thaw_array(thaw, sizeof *x->tracks, x->t->track_count);
    x->roots = stk_thaw_array(thaw, sizeof *x->roots, x->t->track_count);
    x->row_base = stk_thaw_array(thaw, sizeof *x->row_base, x->t->track_count);
    x->rows = stk_thaw_array(thaw, sizeof *x->rows, n->row_count);
    x->list = stk_thaw_array(thaw, sizeof *x->list, n->list_count);
    x->steps = stk_thaw_array(thaw, sizeof *x->steps, (size_t)n->step_count + 1);
    x->buckets = stk_thaw_array(thaw, sizeof *x->buckets, n->bucket_count);
    x->outliers = stk_thaw_array(thaw, sizeof *x->outliers, x->t->strings.count);
}

// False: no memory.
static bool thaw_ribbons(struct stk_timeline *t, struct stk_thaw *thaw)
{
    const uint32_t *count = stk_thaw_array(thaw, sizeof *count, 1);
    t->ribbons =
        thaw->failed ? NULL : stk_arena_array(&t->arena, (size_t)*count + 1, sizeof *t->ribbons);
    for (uint32_t i = 0; t->ribbons && i < *count && !thaw->failed; i++) {
        struct stk_tl_ribbon *r = &t->ribbons[i];
        const struct frozen_ribbon *head = stk_thaw_array(thaw, sizeof *head, 1);
        if (thaw->failed || head->trace >= t->trace_count) {
            thaw->failed = true;
            break;
        }
        *r = (struct stk_tl_ribbon){.id = stk_text_thaw(thaw),
                                    .name = stk_text_thaw(thaw),
                                    .trace = head->trace,
                                    .ribbon = {.device = head->device, .end_ns = head->end_ns}};
        r->ribbon.pieces = stk_thaw_take(thaw, sizeof *r->ribbon.pieces, &r->ribbon.count);
        t->ribbon_count++;
    }
    return thaw->failed || t->ribbons;
}

enum stoker_status stk_timeline_thaw(struct stk_timeline *t, struct stk_query *q,
                                     struct stk_thaw *thaw, struct stoker_err *err)
{
    const struct frozen_timeline *head = stk_thaw_array(thaw, sizeof *head, 1);
    *t = (struct stk_timeline){.q = q, .is_thawed = true};
    stk_arena_init(&t->arena, 0);
    t->traces = stk_arena_array(&t->arena, (size_t)q->trace_count + 1, sizeof *t->traces);
    if (!t->traces) {
        return stk_err_nomem(err);
    }
    for (; t->trace_count < q->trace_count && !thaw->failed; t->trace_count++) {
        struct stk_tl_trace *x = &t->traces[t->trace_count];
        *x = (struct stk_tl_trace){.x = &q->traces[t->trace_count],
                                   .t = q->traces[t->trace_count].t,
                                   .index = t->trace_count};
        thaw_trace(x, thaw);
    }
    if (!thaw->failed && !thaw_ribbons(t, thaw)) {
        return stk_err_nomem(err);
    }
    if (thaw->failed) {
        return stk_err_set(err, STOKER_EMISSING, "the index is incomplete");
    }
    t->events = head->events;
    t->first_ns = head->first_ns;
    t->last_ns = head->last_ns;
    return STOKER_OK;
}
