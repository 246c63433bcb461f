// SPDX-License-Identifier: Apache-2.0
// All what-ifs, and looking one up by its typed id.
#include <string.h>

#include "base/assert.h"
#include "base/near.h"
#include "base/text.h"
#include "fixes/fixes.h"
#include "answers/replay/price_row.h"
#include "answers/replay/taken.h"

const struct stk_price_row *const stk_price_rows[] = {
#define X(name) &stk_price_##name,
#include "answers/replay/prices.def"
#undef X
};
const int stk_price_row_count = sizeof stk_price_rows / sizeof stk_price_rows[0];

#define HIDES_BELOW 0.02 // of the steps

static bool is_choice(const char *choices, const char *value)
{
    size_t n = strlen(value);
    for (const char *p = choices; n && p;) {
        size_t length = strcspn(p, "|");
        if (length == n && memcmp(p, value, n) == 0) {
            return true;
        }
        p = p[length] ? p + length + 1 : NULL;
    }
    return false;
}

static enum stoker_status take_value(const struct stk_price_row *fix, const char *value,
                                     struct stk_price_asked *out, struct stoker_err *err)
{
    char *end;
    if (fix->choices) {
        if (!(fix->takes ? fix->takes(value) : is_choice(fix->choices, value))) {
            return stk_err_set(err, STOKER_EUSAGE, "%s takes one of %s, not '%.60s'", fix->id,
                               fix->choices, value);
        }
        return STOKER_OK;
    }
    out->value = stk_text_to_real(value, &end);
    if (end == value || *end || !(out->value > 0) || out->value > 1e9) {
        return stk_err_set(err, STOKER_EUSAGE, "%s takes a number above 0, not '%.60s'", fix->id,
                           value);
    }
    return STOKER_OK;
}

const struct stk_price_row *stk_price_find(const char *text)
{
    size_t typed = strcspn(text, "=");
    for (int i = 0; i < stk_price_row_count; i++) {
        const struct stk_price_row *fix = stk_price_rows[i];
        if (strcspn(fix->id, "=") == typed && memcmp(fix->id, text, typed) == 0) {
            return fix;
        }
    }
    return NULL;
}

enum stoker_status stk_price_parse(const char *text, struct stk_price_asked *out,
                                   struct stoker_err *err)
{
    const struct stk_price_row *fix = stk_price_find(text);
    const char *value = strchr(text, '='), *near = NULL;
    *out = (struct stk_price_asked){.fix = fix, .text = text};
    if (fix && fix->value) {
        return take_value(fix, value ? value + 1 : fix->value, out, err);
    }
    if (fix) {
        return value ? stk_err_set(err, STOKER_EUSAGE, "%s takes no value", fix->id) : STOKER_OK;
    }
    for (int i = 0; i < stk_price_row_count; i++) {
        near = stk_near_best(text, near, stk_price_rows[i]->id);
    }
    const char *price = stk_fix_row_link(text, STK_FIX_PRICE); // by the id of advice
    return price ? stk_price_parse(price, out, err)
                 : stk_fix_row_refuse(text, STK_FIX_PRICE, near, err);
}

static const char *refuse_nodes(const struct stk_graph *g, const struct stk_price_asked *set)
{
    const struct stk_price_how how = {STK_PRICE_EXPECTED, set->value, set->text};
    const char *why = set->fix->refuse ? set->fix->refuse(g) : NULL;
    return why || !set->fix->refuse_value ? why : set->fix->refuse_value(g, &how);
}

const char *stk_price_refuse_in(const struct stk_graph *g, const struct stk_price_asked *set)
{
    STK_ASSERT(set->fix && (set->fix->refuse || set->fix->needs_peers));
    if (set->fix->needs_peers && !g->has_peers) {
        return "that needs the profiles of several ranks";
    }
    if (!g->taken) {
        return refuse_nodes(g, set);
    }
    const struct stk_taken_price *price = stk_taken_find(g->taken, set->text);
    return price ? price->refused : "the partial has no estimate of it";
}

bool stk_price_is_supposed(const struct stk_price_asked *set, size_t count)
{
    bool is = count > 0;
    for (size_t i = 0; i < count; i++) {
        is &= set[i].fix->is_supposed;
    }
    return is;
}

bool stk_price_may_slow(const struct stk_price_asked *set, size_t count)
{
    bool may = false;
    for (size_t i = 0; i < count; i++) {
        may |= set[i].fix->may_slow;
    }
    return may;
}

bool stk_price_changes_model(const struct stk_price_asked *set, size_t count)
{
    bool does = false;
    for (size_t i = 0; i < count; i++) {
        does |= set[i].fix->changes_model;
    }
    return does;
}

double stk_price_work(const struct stk_price_asked *set, size_t count)
{
    double work = 1;
    for (size_t i = 0; i < count; i++) {
        work *= set[i].fix->is_more_work ? set[i].value : 1;
    }
    return work;
}

bool stk_price_finds(const struct stk_graph *g, enum stk_node_kind kind, int what)
{
    for (uint32_t i = 0; i < g->node_count; i++) {
        if (g->nodes[i].kind == kind && (what < 0 || g->nodes[i].what == what)) {
            return true;
        }
    }
    return false;
}

bool stk_price_may_hide(const struct stk_graph *g, enum stk_node_kind kind, int what)
{
    if (g->has_device || g->driver == STK_NONE) {
        return false;
    }
    const struct stk_lane *lane = &g->lanes[g->driver];
    double seen_ns = 0, all_ns = 0;
    for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
        const struct stk_node *n = &g->nodes[i];
        bool is_last = i + 1 == lane->first + lane->count;
        // Including its wait, which dur_ns lacks.
        double ns = (double)((is_last ? stk_node_end(n) : g->nodes[i + 1].start_ns) - n->start_ns);
        all_ns += ns;
        seen_ns += n->kind == kind && (what < 0 || n->what == what) ? ns : 0;
    }
    return seen_ns < HIDES_BELOW * all_ns;
}

const char *stk_price_refuse_input(const struct stk_graph *g)
{
    return g->feed == STK_FEED_NONE ? "the profile shows no step that fetches a batch"
           : stk_price_may_hide(g, STK_NODE_INPUT, -1)
               ? "less than 2% of the step is recorded as input; other preparation of batches "
                 "isn't visible"
               : NULL;
}

double stk_price_drop_pace(struct stk_scene *s)
{
    uint32_t first = s->g->round_first, last = s->g->round_last; // a part of one weighs it
    double ns = first == last || first == STK_NONE
                    ? 0
                    : (double)(s->ready_ns[last] - s->ready_ns[first]) / (last - first);
    for (uint32_t k = 0; k < s->g->batch_count; k++) {
        s->ready_ns[k] = INT64_MIN;
    }
    return ns;
}

void stk_price_undisturb(struct stk_scene *s, enum stk_price_level level, double gone)
{
    STK_ASSERT((unsigned)level < STK_PRICE_LEVELS);
    static const double hoped[STK_PRICE_LEVELS] = {1, 0.4, 0};
    double factor = 1 - (1 - s->g->undisturbed) * gone * hoped[level];
    for (uint32_t i = 0; factor < 1 && i < s->g->node_count; i++) {
        struct stk_node *n = &s->nodes[i];
        if (!stk_node_is_device(n) && n->kind != STK_NODE_INPUT) {
            n->dur_ns = stk_price_scaled(n->dur_ns, factor);
        }
    }
}

void stk_price_drop_call(struct stk_scene *s, uint32_t call)
{
    STK_ASSERT(call < s->g->node_count);
    struct stk_node *n = &s->nodes[call];
    uint32_t first = s->g->lanes[n->lane].first;
    n->dur_ns = 0;
    if (call > first && n[-1].kind == STK_NODE_WORK && n[-1].what == STK_WHAT_OTHER) {
        n[-1].dur_ns = 0;
    }
}
