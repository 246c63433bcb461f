// SPDX-License-Identifier: Apache-2.0
// Scenarios from prices (scenarios.h). The path to a target is found greedily: repeatedly adds the
// fix that saves most together with those already chosen, until the target is reached or no fix
// saves enough.
#include "answers/replay/scenarios.h"

#include <stdatomic.h>
#include <string.h>

#include "base/assert.h"
#include "base/sort.h"
#include "base/thread.h"

#define MAX_SET 16
#define ROOM_BYTES ((size_t)1 << 30) // of all replays that run at once
#define PAIRED 5                     // fixes that save most alone; pairs of them: ten
#define WORTH 0.005 // of the step: a fix that saves less isn't used toward a target

struct making {
    const struct stk_run_sum *run;
    const struct stk_whatif_asked *asked;
    struct stk_arena *arena;
    struct stk_pricing pricing;
    struct stk_whatif *out;
    struct stoker_err *err;
};

// A fix with its default value. False: no memory.
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
    return path_of(m->arena, m->pricing.base_path, &b->path) &&
           path_of(m->arena, m->pricing.base_exposed, &b->exposed);
}

// Why a fix doesn't apply, as requested or with its default value.
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

// What-ifs that are replayed in parallel: each of the sets, in addition to the fixes that all have
// in common.
struct pricing_job {
    const struct making *m;
    const struct stk_price_asked *common, *last; // `last`: one a set
    size_t common_count;
    struct stk_price *prices;
    atomic_bool no_memory;
};

static void price_one(void *arg, size_t i)
{
    struct pricing_job *job = arg;
    struct stk_price_asked set[MAX_SET];
    size_t n = job->common_count;
    STK_ASSERT(n < MAX_SET);
    if (n) {
        memcpy(set, job->common, n * sizeof *set);
    }
    set[n] = job->last[i];
    if (!stk_price_set(&job->m->pricing, set, n + 1, &job->prices[i])) {
        atomic_store(&job->no_memory, true);
    }
}

// Each thread has a copy of the largest graph and its times.
static int threads_of(const struct making *m)
{
    size_t most = 1;
    for (uint32_t i = 0; i < m->pricing.count; i++) {
        size_t bytes = m->pricing.graphs[i]->node_count * (sizeof(struct stk_node) + 24);
        most = bytes > most ? bytes : most;
    }
    size_t fit = ROOM_BYTES / most + 1;
    int threads = m->asked->threads > 0 ? m->asked->threads : stk_thread_count();
    return (size_t)threads < fit ? threads : (int)fit;
}

static bool price_all(const struct making *m, const struct stk_price_asked *common,
                      size_t common_count, const struct stk_price_asked *last, size_t count,
                      struct stk_price *prices)
{
    struct pricing_job job = {m, common, last, common_count, prices, false};
    stk_thread_each(threads_of(m), count, price_one, &job);
    return !atomic_load(&job.no_memory);
}

static bool fill(struct making *m, const struct stk_price_asked *set, size_t count,
                 const struct stk_price *price, struct stk_whatif_scenario *out)
{
    struct stk_price p = *price;
    const char *names[MAX_SET], *assumes[MAX_SET];
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
           texts(m->arena, assumes, count, &out->assumes) &&
           path_of(m->arena, p.path, &out->path) && path_of(m->arena, p.exposed, &out->exposed);
}

static bool price(struct making *m, const struct stk_price_asked *set, size_t count,
                  struct stk_whatif_scenario *out)
{
    struct stk_price p;
    return stk_price_set(&m->pricing, set, count, &p) && fill(m, set, count, &p, out);
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

// The fix in its default form; false: it isn't priced by default.
static bool alone(const struct making *m, const struct stk_price_row *fix,
                  struct stk_price_asked *set)
{
    return fix->is_priced_alone && usual(m, fix, set) && !stk_price_refuse(&m->pricing, set);
}

// All fixes that are priced by default; may write one more than is counted.
static size_t all_alone(const struct making *m, struct stk_price_asked *sets)
{
    size_t count = 0;
    for (int i = 0; i < stk_price_row_count; i++) {
        count += alone(m, stk_price_rows[i], &sets[count]);
    }
    return count;
}

static bool price_each(struct making *m, struct stk_whatif_scenario *s, size_t *count)
{
    size_t most = (size_t)stk_price_row_count + 1;
    struct stk_price_asked *sets = stk_arena_array(m->arena, most, sizeof *sets);
    struct stk_price *prices = stk_arena_array(m->arena, most, sizeof *prices);
    *count = sets && prices ? all_alone(m, sets) : 0;
    bool ok = sets && prices && price_all(m, NULL, 0, sets, *count, prices);
    for (size_t i = 0; ok && i < *count; i++) {
        ok = fill(m, &sets[i], 1, &prices[i], &s[i]);
    }
    if (ok) {
        stk_sort(s, *count, sizeof *s, compare);
    }
    return ok;
}

// The fixes worth pairing, out of `s`, the best first. False: no memory.
static bool pairs_with(struct making *m, const struct stk_whatif_scenario *s, size_t count,
                       size_t first, struct stk_whatif_scenario *pairs, size_t *n)
{
    struct stk_price_asked set[2], last[PAIRED];
    struct stk_price prices[PAIRED];
    size_t others = 0;
    for (size_t k = first; k < count && k < PAIRED; k++) {
        const char *const *text = s[k].fix.items;
        STK_ASSERT(s[k].fix.count == 1);
        if (s[k].saving.expected_share >= WORTH &&
            stk_price_parse(text[0], &last[others], m->err) == STOKER_OK) {
            others++;
        }
    }
    if (others < 2) {
        return true;
    }
    bool ok = price_all(m, last, 1, last + 1, others - 1, prices);
    set[0] = last[0];
    for (size_t k = 1; ok && k < others; k++) {
        set[1] = last[k];
        ok = fill(m, set, 2, &prices[k - 1], &pairs[*n]);
        *n += ok && pairs[*n].saving.expected_share - s[first].saving.expected_share >= WORTH;
    }
    return ok;
}

// Pairs of the best fixes. Pairs that save hardly more than the better one are left out. `s` has
// the single fixes, the best first.
static bool price_pairs(struct making *m, const struct stk_whatif_scenario *s, size_t count)
{
    struct stk_whatif_scenario *pairs = stk_arena_array(m->arena, PAIRED * PAIRED, sizeof *pairs);
    bool ok = pairs != NULL;
    size_t n = 0;
    m->out->has_pairs = true;
    for (size_t i = 0; ok && i < count && i < PAIRED; i++) {
        ok = pairs_with(m, s, count, i, pairs, &n);
    }
    if (ok) {
        stk_sort(pairs, n, sizeof *pairs, compare);
        m->out->pairs = (struct stk_list){.items = pairs, .count = n};
    }
    return ok;
}

static bool find_way(struct making *m)
{
    struct stk_whatif_target *t = &m->out->target;
    size_t most = (size_t)stk_price_row_count + 1, count = 0;
    struct stk_price_asked taken[MAX_SET];
    struct stk_price_asked *sets = stk_arena_array(m->arena, most, sizeof *sets);
    struct stk_price *prices = stk_arena_array(m->arena, most, sizeof *prices);
    struct stk_whatif_scenario s, best;
    if (!sets || !prices) {
        return false;
    }
    m->out->has_target = true;
    *t = (struct stk_whatif_target){.target_ns = m->asked->target_ns,
                                    .expected_ns = m->out->base.unprofiled_ns};
    while (count < MAX_SET && t->expected_ns > t->target_ns) {
        struct stk_price_asked chosen = {0};
        best.expected_ns = t->expected_ns - (int64_t)(WORTH * (double)m->out->base.measured_ns);
        size_t n = all_alone(m, sets);
        bool ok = price_all(m, taken, count, sets, n, prices);
        for (size_t i = 0; i < n && ok; i++) {
            taken[count] = sets[i];
            ok = fill(m, taken, count + 1, &prices[i], &s);
            if (ok && s.expected_ns < best.expected_ns) {
                best = s;
                chosen = sets[i];
            }
        }
        if (!ok) {
            return false;
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

// A set with a fix that has nothing to change has no price: `fixes` shows why.
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
        ok = price_each(m, s, &made) && (!m->asked->wants_pairs || price_pairs(m, s, made));
    }
    if (ok && m->asked->target_ns > 0) {
        ok = find_way(m);
    }
    m->out->scenarios = (struct stk_list){.items = s, .count = ok ? made : 0};
    return ok ? STOKER_OK : stk_err_nomem(m->err);
}

static enum stoker_status make(struct making *m, const struct stk_price_asked *set, size_t count)
{
    if (!fill_gate(m) || !fill_fixes(m, set, count) || !fill_base(m)) {
        return stk_err_nomem(m->err);
    }
    const struct stk_graph *g = m->pricing.count ? m->pricing.graphs[0] : NULL;
    m->out->has_critical = m->pricing.gate.ok && g && g->critical;
    if (m->out->has_critical) {
        m->out->critical = *g->critical;
    }
    if (!m->pricing.gate.ok || !m->out->has_base || m->asked->wants_all || m->asked->wants_path) {
        m->out->gate.ok &= m->out->has_base;
        return STOKER_OK;
    }
    return scenarios(m, set, count);
}

enum stoker_status stk_whatif_make(const struct stk_run_sum *run, const struct stk_verdict *verdict,
                                   const struct stk_whatif_asked *asked, struct stk_arena *arena,
                                   struct stk_whatif *out, struct stoker_err *err)
{
    struct making m = {.run = run, .asked = asked, .arena = arena, .out = out, .err = err};
    struct stk_price_asked set[MAX_SET];
    size_t count = 0;
    enum stoker_status status = asked->fixes ? parse(&m, set, &count) : STOKER_OK;
    if (status == STOKER_OK && !stk_pricing_init(&m.pricing, run, verdict, true, arena)) {
        return stk_err_nomem(err);
    }
    if (status == STOKER_OK) {
        status = make(&m, set, count);
        stk_pricing_deinit(&m.pricing);
    }
    return status;
}
