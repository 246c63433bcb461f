// SPDX-License-Identifier: Apache-2.0
// The graph of a rank, as the prices that were taken of it (answers/replay/taken.h) and what else a
// diagnosis asks of it. Its nodes stay behind.
#include "answers/partial/code_graph.h"

#include <math.h>

#include "answers/replay/taken.h"

static void code_step(struct stk_code *c, struct stk_taken_step *x)
{
    STK_CODE(c, x->mean_ns);
    STK_CODE(c, x->inner_ns);
    STK_CODE(c, x->is_even);
    STK_CODE(c, x->needs_no_batches);
}

static void code_steps(struct stk_code *c, struct stk_taken_step *x)
{
    for (int level = 0; level < STK_PRICE_LEVELS; level++) {
        code_step(c, &x[level]);
    }
}

static void code_gate(struct stk_code *c, struct stk_gate *x)
{
    const int most = (int)(sizeof x->why / sizeof x->why[0]);
    STK_CODE(c, x->ok);
    STK_CODE(c, x->has_figures);
    STK_CODE(c, x->has_transplant);
    STK_CODE(c, x->replay_error);
    STK_CODE(c, x->worst_error);
    STK_CODE(c, x->unexplained);
    STK_CODE(c, x->contended);
    STK_CODE(c, x->start_error);
    STK_CODE(c, x->inferred);
    STK_CODE(c, x->unlinked);
    STK_CODE(c, x->spread);
    STK_CODE(c, x->mean_error);
    STK_CODE(c, x->transplant_error);
    STK_CODE(c, x->measured_ns);
    STK_CODE(c, x->replayed_ns);
    STK_CODE(c, x->slowest_ns);
    stk_code_int_below(c, "why_count", &x->why_count, most + 1);
    STK_CODE_ARRAY(c, x->why, most);
}

static void code_price(struct stk_code *c, struct stk_taken_price *x)
{
    STK_CODE(c, x->text);
    STK_CODE(c, x->refused);
    code_steps(c, x->after);
    code_steps(c, x->before);
}

static void code_replays(struct stk_code *c, struct stk_taken *x)
{
    code_step(c, &x->recorded);
    code_step(c, &x->unprofiled);
    code_steps(c, x->untouched);
    x->prices = stk_code_list(c, "prices", x->prices, &x->price_count, sizeof *x->prices);
    for (uint32_t i = 0; i < x->price_count && !c->failed; i++) {
        code_price(c, &x->prices[i]);
    }
}

static void code_taken(struct stk_code *c, struct stk_taken *x)
{
    code_gate(c, &x->gate);
    code_replays(c, x);
    struct stk_taken *bare = stk_code_one(c, "bare", (void *)(uintptr_t)x->bare, sizeof *bare);
    if (bare) {
        code_replays(c, bare);
    }
    x->bare = bare;
}

void stk_code_graph(struct stk_code *c, struct stk_graph *g)
{
    STK_CODE(c, g->has_device);
    STK_CODE(c, g->is_by_torch);
    STK_CODE(c, g->leaves_first);
    STK_CODE(c, g->counts_rounds);
    STK_CODE(c, g->has_workers);
    STK_CODE(c, g->waited_first);
    STK_CODE(c, g->waited_last);
    STK_CODE(c, g->pace_ns);
    struct stk_taken *taken = stk_code_one(c, "taken", (void *)(uintptr_t)g->taken, sizeof *taken);
    if (taken) {
        code_taken(c, taken);
    }
    g->taken = taken;
}

// The step of a recording; a negative mean is that of a replay that could not run.
static bool is_step_sound(const struct stk_taken_step *x)
{
    return fabs(x->mean_ns) <= STK_CODE_NUMBER_MOST && fabs(x->inner_ns) <= STK_CODE_NUMBER_MOST;
}

static bool are_steps_sound(const struct stk_taken_step *x)
{
    bool ok = true;
    for (int level = 0; level < STK_PRICE_LEVELS; level++) {
        ok &= is_step_sound(&x[level]);
    }
    return ok;
}

static bool are_prices_sound(const struct stk_taken *t)
{
    bool ok = is_step_sound(&t->recorded) && is_step_sound(&t->unprofiled) &&
              are_steps_sound(t->untouched);
    for (uint32_t i = 0; i < t->price_count; i++) {
        const struct stk_taken_price *p = &t->prices[i];
        ok &= p->text && are_steps_sound(p->after) && are_steps_sound(p->before);
    }
    return ok && (!t->bare || are_prices_sound(t->bare));
}

static bool is_gate_sound(const struct stk_gate *g)
{
    const double errors[] = {g->replay_error, g->worst_error,     g->unexplained, g->contended,
                             g->start_error,  g->inferred,        g->unlinked,    g->spread,
                             g->mean_error,   g->transplant_error};
    const double times[] = {g->measured_ns, g->replayed_ns, g->slowest_ns};
    bool ok = true;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        ok &= errors[i] >= 0 && errors[i] <= STK_CODE_NUMBER_MOST;
    }
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        ok &= times[i] >= 0 && times[i] <= STK_CODE_NUMBER_MOST;
    }
    for (int i = 0; i < g->why_count; i++) {
        ok &= g->why[i] != NULL;
    }
    return ok;
}

bool stk_graph_is_sound(const struct stk_graph *g)
{
    const struct stk_taken *t = g->taken;
    return t && is_gate_sound(&t->gate) && are_prices_sound(t);
}
