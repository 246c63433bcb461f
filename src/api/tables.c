// SPDX-License-Identifier: Apache-2.0
// Runs one analysis, or all at once, end to end: the run (collect.c), then the tables.
#include "stoker/stats.h"

#include <string.h>

#include "api/api.h"
#include "base/alloc.h"
#include "results/print/out.h"
#include "answers/passes/stats/stats_every.h"

static const struct stk_stats *analysis_at(size_t index)
{
    return index < (size_t)stk_stats_count ? stk_stats_all[index] : NULL;
}

const char *stoker_analysis_name(size_t index)
{
    return analysis_at(index) ? analysis_at(index)->name : NULL;
}

const char *stoker_analysis_question(size_t index)
{
    return analysis_at(index) ? analysis_at(index)->question : NULL;
}

const char *stoker_analysis_needs(size_t index)
{
    return analysis_at(index) ? analysis_at(index)->needs : NULL;
}

static enum stoker_status every(struct stoker_tables *t, const char *const *paths, size_t count,
                                const struct stoker_why_options *options, struct stoker_err *err)
{
    struct stk_view_hook hook = stk_stats_every_hook();
    if (options->by) {
        return stk_err_set(err, STOKER_EUSAGE, "a key needs one analysis: name it");
    }
    t->every = stk_arena_array(&t->in.arena, (size_t)stk_stats_count, sizeof *t->every);
    if (!t->every) {
        return stk_err_nomem(err);
    }
    t->every_count = (size_t)stk_stats_count;
    for (size_t i = 0; i < t->every_count; i++) {
        stk_table_doc_init(&t->every[i], &t->in.arena, stk_stats_all[i]->name);
    }
    enum stoker_status status = stk_collect(&t->in, paths, count, options, &hook, err);
    if (status == STOKER_OK) {
        status = stk_stats_every_describe(&t->in.pass, t->every, err);
    }
    if (status == STOKER_OK && options->redact) {
        status = stk_redact_tables(t->every, t->every_count, &t->in.arena, err);
    }
    return status;
}

static enum stoker_status stats(struct stoker_tables *t, const char *name, const char *const *paths,
                                size_t count, const struct stoker_why_options *options,
                                struct stoker_err *err)
{
    if (strcmp(name, STK_STATS_EVERY) == 0) {
        return every(t, paths, count, options, err);
    }
    const struct stk_stats *analysis = stk_stats_find(name);
    if (!analysis) {
        return stk_stats_unknown(name, err);
    }
    stk_table_doc_init(&t->doc, &t->in.arena, analysis->name);
    analysis = stk_stats_by(analysis, options->by, err);
    if (!analysis) {
        return err->code;
    }
    if (analysis->hook.wants & ~t->in.lent_wants) {
        t->in.lender = NULL; // the traces lack what it needs
    }
    enum stoker_status status = stk_collect(&t->in, paths, count, options, &analysis->hook, err);
    if (status == STOKER_OK) {
        status = stk_stats_describe(analysis, &t->in.pass, &t->doc, err);
    }
    if (status == STOKER_OK && options->redact) {
        status = stk_redact_tables(&t->doc, 1, &t->in.arena, err);
    }
    return status;
}

enum stoker_status stk_stats_again(const struct stk_collected *lender, uint32_t lent_wants,
                                   const char *analysis, const char *const *paths, size_t count,
                                   const struct stoker_why_options *options,
                                   struct stoker_tables **out, struct stoker_err *err)
{
    *out = NULL;
    err = stk_err_begin(err, &(struct stoker_err){0});
    struct stoker_tables *t = stk_alloc_zero(1, sizeof *t);
    if (!t) {
        return stk_err_nomem(err);
    }
    stk_arena_init(&t->in.arena, 0);
    t->in.lender = lender;
    t->in.lent_wants = lent_wants;
    uint64_t refused = stk_alloc_refusals();
    if (stk_err_whole(refused, stats(t, analysis, paths, count, options, err), err) != STOKER_OK) {
        stoker_tables_free(t);
        return stk_err_fail(err);
    }
    *out = t;
    return STOKER_OK;
}

enum stoker_status stoker_stats(const char *analysis, const char *const *paths, size_t count,
                                const struct stoker_why_options *options,
                                struct stoker_tables **out, struct stoker_err *err)
{
    struct stoker_why_options defaults;
    if (!analysis) {
        return stk_err_misuse(err, "stoker_stats needs an analysis");
    }
    if (stk_entry_paths("stoker_stats", paths, count, out, err) != STOKER_OK) {
        return STOKER_EINVAL;
    }
    stoker_why_options_default(&defaults);
    return stk_stats_again(NULL, 0, analysis, paths, count, options ? options : &defaults, out,
                           err);
}

void stoker_tables_free(struct stoker_tables *tables)
{
    if (!tables) {
        return;
    }
    stk_table_doc_deinit(&tables->doc);
    for (size_t i = 0; i < tables->every_count; i++) {
        stk_table_doc_deinit(&tables->every[i]);
    }
    if (tables->has_texts) {
        stk_strpool_deinit(&tables->texts);
    }
    stk_collected_free(&tables->in);
    stk_free(tables);
}

const char *const *stoker_table_formats(void)
{
    return stk_out_names("table");
}

static enum stoker_status unknown_table(const struct stk_table_doc *doc, const char *table,
                                        struct stoker_err *err)
{
    char known[200] = "";
    for (size_t i = 0; i < doc->table_count && strlen(known) + 40 < sizeof known; i++) {
        strcat(known, i ? ", " : "");
        strncat(known, doc->tables[i].id, 30);
    }
    return stk_err_set(err, STOKER_EUSAGE, "no table '%.80s' in %s; choose from: %s", table,
                       doc->analysis, known);
}

enum stoker_status stoker_tables_write(const struct stoker_tables *tables, const char *format,
                                       const char *table,
                                       const struct stoker_write_options *options,
                                       stoker_write_fn write, void *arg, struct stoker_err *err)
{
    if (!tables || !format || !write) {
        return stk_err_misuse(err, "stoker_tables_write needs tables, a format and a callback");
    }
    struct stk_sink sink;
    struct stk_out_options out_options = stk_api_out_options(options);
    const struct stk_out *out = stk_out_find("table", format);
    err = stk_err_begin(err, &(struct stoker_err){0});
    if (!out) {
        return stk_err_set(err, STOKER_EUSAGE, "no output format '%.80s' for tables", format);
    }
    if (tables->every && (table || !out->write_list)) {
        stk_err_set(err, STOKER_EUSAGE,
                    "the analyses together have no single table: name one analysis");
        return stk_err_fail(err);
    }
    if (table && !stk_table_find(&tables->doc, table)) {
        unknown_table(&tables->doc, table, err);
        return stk_err_fail(err);
    }
    stk_sink_init(&sink, write, arg);
    if (tables->every) {
        out->write_list(tables->every, tables->every_count, &out_options, &sink);
    } else {
        out_options.table = table;
        out->write(&tables->doc, &out_options, &sink);
    }
    return stk_err_end(err, stk_sink_finish(&sink, err));
}

int stoker_tables_inconclusive(const struct stoker_tables *tables)
{
    for (size_t i = 0; i < tables->every_count; i++) {
        if (!tables->every[i].inconclusive) {
            return false;
        }
    }
    return tables->every || tables->doc.inconclusive;
}
