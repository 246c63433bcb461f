// SPDX-License-Identifier: Apache-2.0
// Several sets of time, counted: see span_layers.h.
#include "profile/model/idle/span_layers.h"

void stk_layer_deinit(struct stk_layer *layer)
{
    stk_spans_deinit(&layer->once);
    stk_spans_deinit(&layer->twice);
}

void stk_layers_init(struct stk_layers *l, bool counts_two)
{
    *l = (struct stk_layers){.counts_two = counts_two}; // empty sets
}

void stk_layers_deinit(struct stk_layers *l)
{
    for (int i = 0; i < STK_LAYERS; i++) {
        stk_layer_deinit(&l->level[i]);
    }
    stk_spans_deinit(&l->both);
    stk_spans_deinit(&l->next);
}

static void swap_spans(struct stk_spans *a, struct stk_spans *b)
{
    struct stk_spans c = *a;
    *a = *b;
    *b = c;
}

static bool unite(struct stk_layers *l, struct stk_spans *into, const struct stk_spans *other)
{
    bool ok = stk_spans_union(into, other, &l->next);
    swap_spans(into, &l->next);
    return ok;
}

// `other` is empty then.
static bool join(struct stk_layers *l, struct stk_layer *into, struct stk_layer *other)
{
    bool ok = !l->counts_two ||
              (stk_spans_intersect(&into->once, &other->once, &l->both) &&
               unite(l, &into->twice, &other->twice) && unite(l, &into->twice, &l->both));
    ok = ok && unite(l, &into->once, &other->once);
    other->once.count = other->twice.count = 0;
    return ok;
}

bool stk_layers_add(struct stk_layers *l, struct stk_spans *set)
{
    struct stk_layer one = {*set, {0}};
    bool ok = true;
    int i = 0;
    *set = (struct stk_spans){0};
    for (; ok && one.once.count && l->level[i].once.count; i++) {
        ok = join(l, &one, &l->level[i]);
    }
    if (one.once.count) {
        swap_spans(&l->level[i].once, &one.once);
        swap_spans(&l->level[i].twice, &one.twice);
    }
    stk_layer_deinit(&one);
    return ok;
}

bool stk_layers_end(struct stk_layers *l, struct stk_layer *all)
{
    bool ok = true;
    *all = (struct stk_layer){{0}, {0}};
    for (int i = 0; ok && i < STK_LAYERS; i++) {
        ok = join(l, all, &l->level[i]);
    }
    return ok;
}
