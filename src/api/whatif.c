// SPDX-License-Identifier: Apache-2.0
// Estimates fixes end to end: the run (collect.c) with a graph of each rank, then scenarios.
#include "stoker/whatif.h"

#include <string.h>

#include "api/api.h"
#include "base/alloc.h"
#include "results/print/out.h"
#include "answers/replay/batch_fit.h"
#include "answers/replay/scenarios.h"
#include "stoker/version.h"

struct stoker_whatif {
    struct stk_collected in;
    struct stk_whatif doc;
};

void stoker_whatif_options_default(struct stoker_whatif_options *options)
{
    if (!options) {
        return;
    }
    *options = (struct stoker_whatif_options){.list = 0};
    stoker_why_options_default(&options->reading);
}

// The first graph of the run's ranks.
static struct stk_graph *first_graph(const struct stk_run_sum *run)
{
    struct stk_graph *g = NULL;
    for (uint32_t i = 0; i < run->rank_count && !g; i++) {
        g = run->ranks[i]->partial;
    }
    return g;
}

// Reads the profile of the same job with another batch size: how each class of work scales.
static enum stoker_status fit_batch(struct stoker_whatif *w,
                                    const struct stoker_whatif_options *options,
                                    struct stoker_err *err)
{
    struct stk_collected other = {.job_count = 0};
    struct stk_batch_fit *fit = stk_arena_array(&w->in.arena, 1, sizeof *fit);
    const char *const path = options->other_batch;
    if (!fit) {
        return stk_err_nomem(err);
    }
    if (!(options->other_times > 0) || options->other_times == 1) {
        return stk_err_set(err, STOKER_EUSAGE,
                           "the other profile's batch factor must be above 0 and not 1");
    }
    stk_arena_init(&other.arena, 0);
    enum stoker_status status =
        stk_collect(&other, &path, 1, &options->reading, &stk_replay_hook, err);
    struct stk_graph *to = status == STOKER_OK ? first_graph(w->in.run) : NULL;
    const struct stk_graph *from = status == STOKER_OK ? first_graph(other.run) : NULL;
    const char *why = !to || !from ? "one of the two profiles has nothing to replay"
                                   : stk_batch_fit(to, from, options->other_times, fit);
    if (status == STOKER_OK && why) {
        status = stk_err_set(err, STOKER_EUSAGE, "%.200s doesn't show how the work grows: %s", path,
                             why);
    }
    for (uint32_t i = 0; status == STOKER_OK && i < w->in.run->rank_count; i++) {
        struct stk_graph *g = w->in.run->ranks[i]->partial;
        if (g) {
            g->batch_fit = fit;
        }
    }
    stk_collected_free(&other);
    return status;
}

static enum stoker_status whatif(struct stoker_whatif *w, const char *const *paths, size_t count,
                                 const struct stoker_whatif_options *options,
                                 struct stoker_err *err)
{
    struct stk_report report = {.schema = STK_WHATIF_SCHEMA};
    const struct stk_whatif_asked asked = {.fixes = options->fixes,
                                           .target_ns = options->target_ns,
                                           .threads = options->reading.threads,
                                           .wants_pairs = options->pairs != 0,
                                           .wants_all = options->list != 0,
                                           .wants_path = options->critical != 0};
    const struct stk_view_hook *hook =
        options->critical ? &stk_replay_critical_hook : &stk_replay_hook;
    enum stoker_status status = stk_collect(&w->in, paths, count, &options->reading, hook, err);
    if (status == STOKER_OK) {
        status = stk_pass_profile.describe(&w->in.pass, &report, err);
    }
    w->doc.schema = report.schema;
    w->doc.stoker.version = stoker_version();
    w->doc.profile = report.profile;
    if (status == STOKER_OK && options->other_batch) {
        status = fit_batch(w, options, err);
    }
    if (status == STOKER_OK) {
        status = stk_whatif_make(w->in.run, &w->in.verdict, &asked, &w->in.arena, &w->doc, err);
    }
    if (status == STOKER_OK && options->reading.redact) {
        status = stk_redact_critical(&w->doc.critical, &w->in.arena, err);
    }
    return status;
}

enum stoker_status stoker_whatif(const char *const *paths, size_t count,
                                 const struct stoker_whatif_options *options,
                                 struct stoker_whatif **out, struct stoker_err *err)
{
    struct stoker_whatif_options defaults;
    if (stk_entry_paths("stoker_whatif", paths, count, out, err) != STOKER_OK) {
        return STOKER_EINVAL;
    }
    *out = NULL;
    stoker_whatif_options_default(&defaults);
    err = stk_err_begin(err, &(struct stoker_err){0});
    struct stoker_whatif *w = stk_alloc_zero(1, sizeof *w);
    if (!w) {
        return stk_err_nomem(err);
    }
    stk_arena_init(&w->in.arena, 0);
    uint64_t refused = stk_alloc_refusals();
    if (stk_err_whole(refused, whatif(w, paths, count, options ? options : &defaults, err), err) !=
        STOKER_OK) {
        stoker_whatif_free(w);
        return stk_err_fail(err);
    }
    *out = w;
    return STOKER_OK;
}

void stoker_whatif_free(struct stoker_whatif *whatif)
{
    if (!whatif) {
        return;
    }
    stk_collected_free(&whatif->in);
    stk_free(whatif);
}

const char *const *stoker_whatif_formats(void)
{
    return stk_out_names("whatif");
}

enum stoker_status stoker_whatif_write(const struct stoker_whatif *whatif, const char *format,
                                       const struct stoker_write_options *options,
                                       stoker_write_fn write, void *arg, struct stoker_err *err)
{
    if (!whatif || !format || !write) {
        return stk_err_misuse(err, "stoker_whatif_write needs estimates, a format and a callback");
    }
    return stk_api_write("whatif", " for prices", &whatif->doc, format, options, write, arg, err);
}

int stoker_whatif_ok(const struct stoker_whatif *whatif)
{
    return whatif->doc.gate.ok;
}

int stoker_whatif_saving(const struct stoker_whatif *whatif, const char *fix,
                         struct stoker_saving *saving)
{
    const struct stk_whatif_scenario *s = whatif->doc.scenarios.items;
    for (size_t i = 0; i < whatif->doc.scenarios.count; i++) {
        const char *const *ids = s[i].fix.items;
        if (s[i].fix.count == 1 && strcmp(ids[0], fix) == 0) {
            *saving = (struct stoker_saving){.low_share = s[i].saving.low_share,
                                             .expected_share = s[i].saving.expected_share,
                                             .high_share = s[i].saving.high_share,
                                             .has_low = 1,
                                             .has_expected = 1,
                                             .has_high = 1};
            return 1;
        }
    }
    return 0;
}

// A value's choices in a table cell, where | would end it.
static void put_choices(struct stk_sink *sink, const char *choices)
{
    for (size_t n; *choices; choices += n + (choices[n] == '|')) {
        n = strcspn(choices, "|");
        stk_sink_put(sink, choices, n);
        stk_sink_text(sink, ", ");
    }
}

void stk_describe_prices(struct stk_sink *sink)
{
    stk_sink_text(sink, "\n## What-ifs\n\n"
                        "| fix | value | what changes | condition |\n"
                        "| --- | --- | --- | --- |\n");
    for (int i = 0; i < stk_price_row_count; i++) {
        const struct stk_price_row *f = stk_price_rows[i];
        stk_sink_printf(sink, "| `%s` | ", f->id);
        if (f->choices) {
            put_choices(sink, f->choices);
            stk_sink_text(sink, "else ");
        }
        stk_sink_printf(sink, "%s | %s | %s |\n", f->value ? f->value : "", f->what, f->assumes);
    }
}
