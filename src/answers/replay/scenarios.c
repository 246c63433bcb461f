// SPDX-License-Identifier: Apache-2.0
// Scenarios from prices (scenarios.h). The way to a target is found greedily: the fix that saves
// most together with those already taken, until the target is reached or nothing is worth taking.
#include "answers/replay/scenarios.h"

#include <string.h>

#include "base/sort.h"

#define MAX_SET 16
#define WORTH 0.005 // of the step: a fix that saves less is not taken towards a target

struct making {
    const struct stk_run_sum *run;
    const struct stk_whatif_asked *asked;
    struct stk_arena *arena;
    struct stk_pricing pricing;
    struct stk_whatif *out;
    struct stoker_err *err;
};

// A fix with the value that is meant without one. False: no memory.
static bool usual(const struct making *m, const struct stk_price_row *fix,
                  struct stk_price_asked *set)
{
    struct stoker_err ignored;
    const char *text =
        fix->value ? stk_arena_printf(m->arena, "%s%s", fix->id, fix->value) : fix->id;
    stk_err_init(&ignored);
    return text && stk_price_parse(text, set, &ignored) == STOKER_OK;
}

static bool texts(struct stk_arena *arena, const char *const *from, size_t count,
                  struct stk_list *out)
{
    const char **items = stk_arena_array(arena, count + 1, sizeof *items);
    for (size_t i = 0; items && i < count; i++) {
        items[i] = from[i];
    }
    *out = (struct stk_list){.items = items, .count = items ? count : 0};
    return items != NULL;
}

static bool path_of(struct stk_arena *arena, const double share[STK_CRITICAL_COUNT],
                    struct stk_list *out)
{
    struct stk_whatif_part *parts = stk_arena_array(arena, STK_CRITICAL_COUNT, sizeof *parts);
    size_t count = 0;
    for (int i = 0; parts && i < STK_CRITICAL_COUNT; i++) {
        if (share[i] > 0) {
            parts[count++] =
                (struct stk_whatif_part){stk_critical_key((enum stk_critical)i), share[i]};
        }
    }
    *out = (struct stk_list){.items = parts, .count = count};
    return parts != NULL;
}

static bool fill_gate(struct making *m)
{
    const struct stk_gate *g = &m->pricing.gate;
    m->out->gate = (struct stk_whatif_gate){.ok = g->ok,
                                            .has_figures = g->has_figures,
                                            .replay_error_share = g->replay_error,
                                            .worst_error_share = g->worst_error,
                                            .unexplained_share = g->unexplained,
                                            .contended_share = g->contended,
                                            .profiler_share = g->profiler,
                                            .start_error_share = g->start_error,
                                            .inferred_share = g->inferred,
                                            .spread_share = g->spread,
                                            .has_transplant = g->has_transplant,
                                            .transplant_error_share = g->transplant_error};
    return texts(m->arena, g->why, (size_t)g->why_count, &m->out->gate.why);
}

static bool fill_base(struct making *m)
{
    const struct stk_gate *g = &m->pricing.gate;
    struct stk_whatif_base *b = &m->out->base;
    struct stk_pricing_step step = stk_pricing_step(&m->pricing, m->run);
    m->out->has_base = g->has_figures && g->measured_ns > 0;
    b->measured_ns = step.measured_ns;
    b->median_ns = m->run->step_mean_ns > 0 ? m->run->step_median_ns : step.measured_ns;
    b->replayed_ns = g->measured_ns > 0
                         ? (int64_t)((double)b->measured_ns * g->replayed_ns / g->measured_ns)
                         : b->measured_ns;
    b->unprofiled_ns = (int64_t)((double)step.measured_ns * step.share);
    b->unprofiled_low_ns = (int64_t)((double)step.measured_ns * step.low_share);
    b->unprofiled_high_ns = (int64_t)((double)step.measured_ns * step.high_share);
    return path_of(m->arena, m->pricing.base_path, &b->path);
}

// Why a fix does not apply, as asked for or with the value that is meant without one.
static const char *refusal(struct making *m, const struct stk_price_row *fix,
                           const struct stk_price_asked *asked, size_t count)
{
    struct stk_price_asked set;
    if (!m->pricing.gate.has_figures) {
        return "the steps can't be replayed";
    }
    if (!usual(m, fix, &set)) {
        return "no memory";
    }
    for (size_t k = 0; k < count; k++) {
        set = asked[k].fix == fix ? asked[k] : set;
    }
    return stk_price_refuse(&m->pricing, &set);
}

static bool fill_fixes(struct making *m, const struct stk_price_asked *set, size_t count)
{
    struct stk_whatif_fix *f = stk_arena_array(m->arena, (size_t)stk_price_row_count, sizeof *f);
    for (int i = 0; f && i < stk_price_row_count; i++) {
        const char *why = refusal(m, stk_price_rows[i], set, count);
        f[i] = (struct stk_whatif_fix){stk_price_rows[i]->id, stk_price_rows[i]->what, !why, why,
                                       false};
        for (size_t k = 0; k < count; k++) {
            f[i].is_asked |= set[k].fix == stk_price_rows[i];
        }
    }
    m->out->fixes = (struct stk_list){.items = f, .count = f ? (size_t)stk_price_row_count : 0};
    return f != NULL;
}

static bool price(struct making *m, const struct stk_price_asked *set, size_t count,
                  struct stk_whatif_scenario *out)
{
    struct stk_price p;
    const char *names[MAX_SET], *assumes[MAX_SET];
    if (!stk_price_set(&m->pricing, set, count, &p)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        names[i] = set[i].text;
        assumes[i] = set[i].fix->assumes;
    }
    struct stk_pricing_step step = stk_pricing_step(&m->pricing, m->run);
    bool slows = stk_price_may_slow(set, count);
    *out = (struct stk_whatif_scenario){
        .low_ns = (int64_t)(p.low * (double)step.measured_ns * step.low_share),
        .expected_ns = (int64_t)(p.expected * (double)step.measured_ns * step.share),
        .high_ns = (int64_t)(p.high * (double)step.measured_ns * step.high_share),
        .work = p.work,
        .saving = {p.high < p.work || slows ? 1 - p.high / p.work : 0, 1 - p.expected / p.work,
                   1 - p.low / p.work},
        .next_bottleneck = p.next_bottleneck};
    return texts(m->arena, names, count, &out->fix) &&
           texts(m->arena, assumes, count, &out->assumes) && path_of(m->arena, p.path, &out->path);
}

static int compare(const void *x, const void *y)
{
    const struct stk_whatif_scenario *a = x, *b = y;
    double x_saves = a->saving.expected_share, y_saves = b->saving.expected_share;
    return (x_saves < y_saves) - (x_saves > y_saves);
}

// "a,b=2" as a set; the texts live in the arena.
static enum stoker_status parse(struct making *m, struct stk_price_asked *set, size_t *count)
{
    char *text = stk_arena_strdup(m->arena, m->asked->fixes);
    *count = 0;
    if (!text) {
        return stk_err_nomem(m->err);
    }
    for (char *at = text, *comma; at; at = comma ? comma + 1 : NULL) {
        comma = strchr(at, ',');
        if (comma) {
            *comma = '\0';
        }
        if (*count == MAX_SET) {
            return stk_err_set(m->err, STOKER_EUSAGE, "at most %d what-ifs at once", MAX_SET);
        }
        enum stoker_status status = stk_price_parse(at, &set[(*count)++], m->err);
        if (status != STOKER_OK) {
            return status;
        }
    }
    return STOKER_OK;
}

// The fix as it is priced without being asked for; false: it is not.
static bool alone(const struct making *m, const struct stk_price_row *fix,
                  struct stk_price_asked *set)
{
    return fix->is_priced_alone && usual(m, fix, set) && !stk_price_refuse(&m->pricing, set);
}

static bool price_each(struct making *m, struct stk_whatif_scenario *s, size_t *count)
{
    struct stk_price_asked set;
    for (int i = 0; i < stk_price_row_count; i++) {
        if (alone(m, stk_price_rows[i], &set) && !price(m, &set, 1, &s[(*count)++])) {
            return false;
        }
    }
    stk_sort(s, *count, sizeof *s, compare);
    return true;
}

static bool find_way(struct making *m)
{
    struct stk_whatif_target *t = &m->out->target;
    struct stk_price_asked taken[MAX_SET];
    struct stk_whatif_scenario s, best;
    size_t count = 0;
    m->out->has_target = true;
    *t = (struct stk_whatif_target){.target_ns = m->asked->target_ns,
                                    .expected_ns = m->out->base.unprofiled_ns};
    while (count < MAX_SET && t->expected_ns > t->target_ns) {
        struct stk_price_asked chosen = {0};
        best.expected_ns = t->expected_ns - (int64_t)(WORTH * (double)m->out->base.measured_ns);
        for (int i = 0; i < stk_price_row_count; i++) {
            if (!alone(m, stk_price_rows[i], &taken[count])) {
                continue;
            }
            struct stk_price_asked tried = taken[count];
            if (!price(m, taken, count + 1, &s)) {
                return false;
            }
            if (s.expected_ns < best.expected_ns) {
                best = s;
                chosen = tried;
            }
        }
        if (!chosen.fix) {
            break;
        }
        taken[count++] = chosen;
        t->expected_ns = best.expected_ns;
        t->fix = best.fix;
    }
    t->reached = t->expected_ns <= t->target_ns;
    return true;
}

// A set in which one has nothing to change has no price: `fixes` says why.
static bool is_refused(const struct making *m, const struct stk_price_asked *set, size_t count)
{
    bool refused = false;
    for (size_t i = 0; i < count; i++) {
        refused |= stk_price_refuse(&m->pricing, &set[i]) != NULL;
    }
    return refused;
}

static enum stoker_status scenarios(struct making *m, const struct stk_price_asked *set,
                                    size_t count)
{
    struct stk_whatif_scenario *s =
        stk_arena_array(m->arena, (size_t)stk_price_row_count + 1, sizeof *s);
    size_t made = 0;
    bool ok = s != NULL;
    if (ok && m->asked->fixes) {
        ok = is_refused(m, set, count) || price(m, set, count, &s[made++]);
    } else if (ok && m->asked->target_ns == 0) {
        ok = price_each(m, s, &made);
    }
    if (ok && m->asked->target_ns > 0) {
        ok = find_way(m);
    }
    m->out->scenarios = (struct stk_list){.items = s, .count = ok ? made : 0};
    return ok ? STOKER_OK : stk_err_nomem(m->err);
}

enum stoker_status stk_whatif_make(const struct stk_run_sum *run, const struct stk_verdict *verdict,
                                   const struct stk_whatif_asked *asked, struct stk_arena *arena,
                                   struct stk_whatif *out, struct stoker_err *err)
{
    struct making m = {.run = run, .asked = asked, .arena = arena, .out = out, .err = err};
    struct stk_price_asked set[MAX_SET];
    size_t count = 0;
    enum stoker_status status = asked->fixes ? parse(&m, set, &count) : STOKER_OK;
    if (status != STOKER_OK) {
        return status;
    }
    if (!stk_pricing_init(&m.pricing, run, verdict, arena) || !fill_gate(&m) ||
        !fill_fixes(&m, set, count) || !fill_base(&m)) {
        return stk_err_nomem(err);
    }
    const struct stk_graph *g = m.pricing.count ? m.pricing.graphs[0] : NULL;
    out->has_critical = m.pricing.gate.ok && g && g->critical;
    if (out->has_critical) {
        out->critical = *g->critical;
    }
    if (!m.pricing.gate.ok || !out->has_base || asked->wants_all || asked->wants_path) {
        out->gate.ok &= out->has_base;
        return STOKER_OK;
    }
    return scenarios(&m, set, count);
}
