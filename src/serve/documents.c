// SPDX-License-Identifier: Apache-2.0
// Documents by a key that says what was asked for; see documents.h. At most KEPT of them are kept:
// prices of many sets of fixes push the oldest out, never a report.
#include "serve/documents.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "stoker/diff.h"
#include "stoker/query.h"
#include "stoker/stats.h"
#include "stoker/whatif.h"

enum { KEPT = 64, KEY_MAX = 256, QUERY_ROWS = 10000 };
static const int64_t QUERY_NS = 20000000000; // a person waits for it

struct document {
    char key[KEY_MAX];
    struct stk_body bytes;
};

struct stk_documents {
    struct stk_view_plan plan;
    struct stk_body reports[STK_VIEW_SIDES], query;
    struct document kept[KEPT];
    int next; // whose place is taken
    struct stoker_profiles *profiles;
    struct stoker_timeline *timeline;
};

const struct stk_view_plan *stk_documents_plan(const struct stk_documents *d)
{
    return &d->plan;
}

static enum stoker_status read_report(struct stk_documents *d, int side, struct stoker_err *err)
{
    struct stoker_result *result = NULL;
    enum stoker_status status =
        stoker_why(d->plan.paths[side], d->plan.path_count[side], &d->plan.reading, &result, err);
    if (status == STOKER_OK) {
        status = stoker_result_write(result, "json", NULL, stk_body_write, &d->reports[side], err);
    }
    stoker_result_free(result);
    return status;
}

enum stoker_status stk_documents_open(struct stk_documents **out, const struct stk_view_plan *plan,
                                      struct stoker_err *err)
{
    struct stk_documents *d = stk_alloc_zero(1, sizeof *d);
    *out = NULL;
    if (!d) {
        return stk_err_nomem(err);
    }
    d->plan = *plan;
    enum stoker_status status = read_report(d, STK_VIEW_A, err);
    if (status == STOKER_OK && plan->path_count[STK_VIEW_B] > 0) {
        status = read_report(d, STK_VIEW_B, err);
    }
    // Progress was for who waited for the first report.
    d->plan.reading.progress = NULL;
    if (status != STOKER_OK) {
        stk_documents_free(d);
        return status;
    }
    *out = d;
    return STOKER_OK;
}

void stk_documents_free(struct stk_documents *d)
{
    if (!d) {
        return;
    }
    for (int side = 0; side < STK_VIEW_SIDES; side++) {
        stk_body_free(&d->reports[side]);
    }
    for (int i = 0; i < KEPT; i++) {
        stk_body_free(&d->kept[i].bytes);
    }
    stk_body_free(&d->query);
    stoker_timeline_free(d->timeline);
    stoker_close(d->profiles);
    stk_free(d);
}

static enum stoker_status check_side(const struct stk_documents *d, int side,
                                     struct stoker_err *err)
{
    if (d->plan.path_count[side] > 0) {
        return STOKER_OK;
    }
    return stk_err_set(err, STOKER_EUSAGE, "there is no second profile: stoker view A -- B");
}

enum stoker_status stk_documents_report(struct stk_documents *d, int side,
                                        const struct stk_body **out, struct stoker_err *err)
{
    *out = &d->reports[side];
    return check_side(d, side, err);
}

static struct document *find(struct stk_documents *d, const char *key)
{
    for (int i = 0; i < KEPT; i++) {
        if (strcmp(d->kept[i].key, key) == 0) {
            return &d->kept[i];
        }
    }
    return NULL;
}

// An empty one for the key, in the place of the oldest.
static struct document *place(struct stk_documents *d, const char *key)
{
    struct document *doc = &d->kept[d->next];
    d->next = (d->next + 1) % KEPT;
    stk_body_free(&doc->bytes);
    snprintf(doc->key, sizeof doc->key, "%s", key);
    return doc;
}

static enum stoker_status settle(struct document *doc, enum stoker_status status,
                                 const struct stk_body **out)
{
    if (status != STOKER_OK) {
        stk_body_free(&doc->bytes);
        doc->key[0] = 0;
    }
    *out = &doc->bytes;
    return status;
}

enum stoker_status stk_documents_table(struct stk_documents *d, int side, const char *analysis,
                                       const struct stk_body **out, struct stoker_err *err)
{
    char key[KEY_MAX];
    struct stoker_tables *tables = NULL;
    enum stoker_status status = check_side(d, side, err);
    if (status != STOKER_OK) {
        return status;
    }
    if (snprintf(key, sizeof key, "table %d %s", side, analysis) >= KEY_MAX) {
        return stk_err_set(err, STOKER_EUSAGE, "there is no analysis of that name");
    }
    struct document *doc = find(d, key);
    if (doc) {
        *out = &doc->bytes;
        return STOKER_OK;
    }
    doc = place(d, key);
    status = stoker_stats(analysis, d->plan.paths[side], d->plan.path_count[side], &d->plan.reading,
                          &tables, err);
    if (status == STOKER_OK) {
        status = stoker_tables_write(tables, "json", NULL, NULL, stk_body_write, &doc->bytes, err);
    }
    stoker_tables_free(tables);
    return settle(doc, status, out);
}

enum stoker_status stk_documents_whatif(struct stk_documents *d, const char *fixes,
                                        const struct stk_body **out, struct stoker_err *err)
{
    char key[KEY_MAX];
    struct stoker_whatif_options options;
    struct stoker_whatif *whatif = NULL;
    if (snprintf(key, sizeof key, "whatif %s", fixes ? fixes : "") >= KEY_MAX) {
        return stk_err_set(err, STOKER_EUSAGE, "too many fixes at once");
    }
    struct document *doc = find(d, key);
    if (doc) {
        *out = &doc->bytes;
        return STOKER_OK;
    }
    doc = place(d, key);
    stoker_whatif_options_default(&options);
    options.reading = d->plan.reading;
    options.fixes = fixes;
    enum stoker_status status = stoker_whatif(
        d->plan.paths[STK_VIEW_A], d->plan.path_count[STK_VIEW_A], &options, &whatif, err);
    if (status == STOKER_OK) {
        status = stoker_whatif_write(whatif, "json", NULL, stk_body_write, &doc->bytes, err);
    }
    stoker_whatif_free(whatif);
    return settle(doc, status, out);
}

enum stoker_status stk_documents_diff(struct stk_documents *d, const struct stk_body **out,
                                      struct stoker_err *err)
{
    struct stoker_diff_options options;
    struct stoker_diff *diff = NULL;
    enum stoker_status status = check_side(d, STK_VIEW_B, err);
    if (status != STOKER_OK) {
        return status;
    }
    struct document *doc = find(d, "diff");
    if (doc) {
        *out = &doc->bytes;
        return STOKER_OK;
    }
    doc = place(d, "diff");
    stoker_diff_options_default(&options);
    options.reading = d->plan.reading;
    status = stoker_diff(d->plan.paths[STK_VIEW_A], d->plan.path_count[STK_VIEW_A],
                         d->plan.paths[STK_VIEW_B], d->plan.path_count[STK_VIEW_B], &options, &diff,
                         err);
    if (status == STOKER_OK) {
        status = stoker_diff_write(diff, "json", NULL, stk_body_write, &doc->bytes, err);
    }
    stoker_diff_free(diff);
    return settle(doc, status, out);
}

// The events, which stay in memory from here on.
static enum stoker_status open_profiles(struct stk_documents *d, struct stoker_err *err)
{
    return d->profiles ? STOKER_OK
                       : stoker_open(d->plan.paths[STK_VIEW_A], d->plan.path_count[STK_VIEW_A],
                                     &d->plan.reading, &d->profiles, err);
}

enum stoker_status stk_documents_timeline(struct stk_documents *d, struct stoker_timeline **out,
                                          struct stoker_err *err)
{
    enum stoker_status status = open_profiles(d, err);
    if (status == STOKER_OK && !d->timeline) {
        status = stoker_timeline_open(d->profiles, &d->timeline, err);
    }
    *out = d->timeline;
    return status;
}

enum stoker_status stk_documents_query(struct stk_documents *d, const char *sql,
                                       const struct stk_body **out, struct stoker_err *err)
{
    struct stoker_query_options options;
    struct stoker_tables *tables = NULL;
    stoker_query_options_default(&options);
    options.limit = QUERY_ROWS;
    options.timeout_ns = QUERY_NS;
    stk_body_free(&d->query);
    enum stoker_status status = open_profiles(d, err);
    if (status == STOKER_OK) {
        status = stoker_query(d->profiles, sql, &options, &tables, err);
    }
    if (status == STOKER_OK) {
        status = stoker_tables_write(tables, "json", NULL, NULL, stk_body_write, &d->query, err);
    }
    stoker_tables_free(tables);
    *out = &d->query;
    return status;
}
