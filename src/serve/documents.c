// SPDX-License-Identifier: Apache-2.0
// Documents by a key that describes the request; see documents.h. At most KEPT are kept: estimates
// for many sets of fixes push out the oldest, never a report.
#include "serve/documents.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "serve/cache.h"
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

struct side {
    struct stk_cache *cache; // NULL: none
    struct stk_body report;
    struct stoker_profiles *profiles; // NULL: not read, or too large for memory
    struct stoker_timeline *timeline;
    bool came_back;              // the timeline came from the cache
    struct stoker_err no_events; // why there is no timeline
};

struct stk_documents {
    struct stk_view_plan plan;
    struct side sides[STK_VIEW_SIDES];
    struct stk_body query;
    struct document kept[KEPT];
    int next; // the next one to replace
};

const struct stk_view_plan *stk_documents_plan(const struct stk_documents *d)
{
    return &d->plan;
}

bool stk_documents_came_back(const struct stk_documents *d, int side)
{
    return d->sides[side].came_back;
}

// Reads the events, which stay in memory from then on.
static enum stoker_status open_profiles(struct stk_documents *d, int side, struct stoker_err *err)
{
    struct side *s = &d->sides[side];
    return s->profiles ? STOKER_OK
                       : stoker_open_to_view(d->plan.paths[side], d->plan.path_count[side],
                                             &d->plan.reading, &s->profiles, err);
}

// Reads only the report of profiles whose events don't fit into memory.
static enum stoker_status read_report(struct stk_documents *d, int side, struct stoker_err *err)
{
    struct stoker_result *result = NULL;
    enum stoker_status status =
        stoker_why(d->plan.paths[side], d->plan.path_count[side], &d->plan.reading, &result, err);
    if (status == STOKER_OK) {
        status =
            stoker_result_write(result, "json", NULL, stk_body_write, &d->sides[side].report, err);
    }
    stoker_result_free(result);
    return stk_body_end(&d->sides[side].report, status, err);
}

static enum stoker_status read_side(struct stk_documents *d, int side, struct stoker_err *err)
{
    struct side *s = &d->sides[side];
    enum stoker_status status = open_profiles(d, side, err);
    if (status == STOKER_ELIMIT) {
        s->no_events = *err;
        return read_report(d, side, err);
    }
    if (status == STOKER_OK) {
        status = stoker_profiles_write(s->profiles, "json", NULL, stk_body_write, &s->report, err);
        status = stk_body_end(&s->report, status, err);
    }
    if (status == STOKER_OK) {
        // without a timeline, the other pages still work
        (void)stoker_timeline_open(s->profiles, &s->timeline, &s->no_events);
    }
    return status;
}

#define INDEX_FILE "timeline.index"
#define REPORT_FILE "report.json"

// False: the cache doesn't have both, or they are for earlier versions of the profiles.
static bool bring_back(struct side *s)
{
    struct stoker_blob note;
    struct stoker_err err;
    struct stk_cache_path path;
    if (!stk_cache_path(s->cache, INDEX_FILE, &path) ||
        stoker_timeline_load(path.text, &s->timeline, &note, &err) != STOKER_OK) {
        return false;
    }
    const char *wanted = stk_cache_fingerprint(s->cache);
    s->came_back = note.size == strlen(wanted) && memcmp(note.data, wanted, note.size) == 0 &&
                   stk_cache_read(s->cache, REPORT_FILE, &s->report);
    stoker_blob_free(&note);
    if (!s->came_back) {
        stoker_timeline_free(s->timeline);
        s->timeline = NULL;
    }
    return s->came_back;
}

static enum stoker_status open_side(struct stk_documents *d, int side, struct stoker_err *err)
{
    struct side *s = &d->sides[side];
    stk_err_init(&s->no_events);
    if (d->plan.path_count[side] == 0) {
        return STOKER_OK;
    }
    if (d->plan.uses_cache) {
        s->cache =
            stk_cache_open(d->plan.paths[side], d->plan.path_count[side], &d->plan.reading, 0);
    }
    return bring_back(s) ? STOKER_OK : read_side(d, side, err);
}

enum stoker_status stk_documents_open(struct stk_documents **out, const struct stk_view_plan *plan,
                                      struct stoker_err *err)
{
    struct stk_documents *d = stk_alloc_zero(1, sizeof *d);
    enum stoker_status status = STOKER_OK;
    *out = NULL;
    if (!d) {
        return stk_err_nomem(err);
    }
    d->plan = *plan;
    for (int side = 0; side < STK_VIEW_SIDES && status == STOKER_OK; side++) {
        status = open_side(d, side, err);
    }
#ifdef __GLIBC__
    malloc_trim(0); // return memory used for reading to the system: the events will stay for hours
#endif
    // progress was for the user who waited for the first report
    d->plan.reading.progress = NULL;
    if (status != STOKER_OK) {
        stk_documents_free(d);
        return status;
    }
    *out = d;
    return STOKER_OK;
}

void stk_documents_keep(struct stk_documents *d, int (*interrupted)(void *arg), void *arg)
{
    for (int side = 0; side < STK_VIEW_SIDES; side++) {
        struct side *s = &d->sides[side];
        struct stk_cache_path path;
        struct stoker_err err;
        const char *fingerprint = stk_cache_fingerprint(s->cache);
        struct stoker_blob note = {(char *)(uintptr_t)fingerprint, strlen(fingerprint)};
        if (s->cache && s->timeline && !s->came_back && stk_cache_is_current(s->cache)) {
            stk_cache_write(s->cache, REPORT_FILE, &s->report);
            // If the cache can't be written, the next start reads the profile again.
            if (stk_cache_path(s->cache, INDEX_FILE, &path)) {
                (void)stoker_timeline_save(s->timeline, path.text, &note, interrupted, arg, &err);
            }
        }
        stk_cache_tidy(s->cache);
    }
}

void stk_documents_free(struct stk_documents *d)
{
    if (!d) {
        return;
    }
    for (int side = 0; side < STK_VIEW_SIDES; side++) {
        struct side *s = &d->sides[side];
        stk_body_free(&s->report);
        stoker_timeline_free(s->timeline);
        stoker_close(s->profiles);
        stk_cache_free(s->cache);
    }
    for (int i = 0; i < KEPT; i++) {
        stk_body_free(&d->kept[i].bytes);
    }
    stk_body_free(&d->query);
    stk_free(d);
}

static enum stoker_status check_side(const struct stk_documents *d, int side,
                                     struct stoker_err *err)
{
    if (d->plan.path_count[side] > 0) {
        return STOKER_OK;
    }
    return stk_err_set(err, STOKER_EUSAGE, "%s",
                       side == STK_VIEW_A
                           ? "no profile was given"
                           : "there is no second profile; start with: stoker view A -- B");
}

enum stoker_status stk_documents_report(struct stk_documents *d, int side,
                                        const struct stk_body **out, struct stoker_err *err)
{
    *out = &d->sides[side].report;
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

// An empty entry for the key, replacing the oldest.
static struct document *place(struct stk_documents *d, const char *key)
{
    struct document *doc = &d->kept[d->next];
    d->next = (d->next + 1) % KEPT;
    stk_body_free(&doc->bytes);
    snprintf(doc->key, sizeof doc->key, "%s", key);
    return doc;
}

// A kept document, from this server, or from an earlier one as that file. NULL: none.
static struct document *find_kept(struct stk_documents *d, int side, const char *key,
                                  const char *file)
{
    struct stk_body kept = {.p = NULL};
    struct document *doc = find(d, key);
    if (!doc && stk_cache_read(d->sides[side].cache, file, &kept)) {
        doc = place(d, key);
        doc->bytes = kept;
    }
    return doc;
}

static enum stoker_status settle(struct document *doc, enum stoker_status status,
                                 const struct stk_body **out, struct stoker_err *err)
{
    status = stk_body_end(&doc->bytes, status, err);
    if (status != STOKER_OK) {
        stk_body_free(&doc->bytes);
        doc->key[0] = 0;
    }
    *out = &doc->bytes;
    return status;
}

static enum stoker_status make_table(struct stk_documents *d, int side, const char *analysis,
                                     struct stk_body *out, struct stoker_err *err)
{
    const struct side *s = &d->sides[side];
    struct stoker_tables *tables = NULL;
    enum stoker_status status =
        s->profiles ? stoker_profiles_stats(s->profiles, analysis, &tables, err)
                    : stoker_stats(analysis, d->plan.paths[side], d->plan.path_count[side],
                                   &d->plan.reading, &tables, err);
    if (status == STOKER_OK) {
        status = stoker_tables_write(tables, "json", NULL, NULL, stk_body_write, out, err);
    }
    stoker_tables_free(tables);
    return status;
}

static bool is_analysis(const char *name)
{
    const char *known;
    for (size_t i = 0; (known = stoker_analysis_name(i)) != NULL; i++) {
        if (strcmp(known, name) == 0) {
            return true;
        }
    }
    return false;
}

enum stoker_status stk_documents_table(struct stk_documents *d, int side, const char *analysis,
                                       const struct stk_body **out, struct stoker_err *err)
{
    char key[KEY_MAX], file[KEY_MAX];
    enum stoker_status status = check_side(d, side, err);
    if (status != STOKER_OK) {
        return status;
    }
    // the name becomes a file's: only accept known ones
    if (!is_analysis(analysis)) {
        return stk_err_set(err, STOKER_EUSAGE, "no analysis with that name");
    }
    snprintf(key, sizeof key, "table %d %.80s", side, analysis);
    snprintf(file, sizeof file, "table-%.80s.json", analysis);
    struct document *doc = find_kept(d, side, key, file);
    if (doc) {
        *out = &doc->bytes;
        return STOKER_OK;
    }
    doc = place(d, key);
    status = make_table(d, side, analysis, &doc->bytes, err);
    if (status == STOKER_OK) {
        stk_cache_write(d->sides[side].cache, file, &doc->bytes);
    }
    return settle(doc, status, out, err);
}

static enum stoker_status make_prices(struct stk_documents *d, const char *fixes,
                                      struct stk_body *out, struct stoker_err *err)
{
    struct stoker_whatif_options options;
    struct stoker_whatif *whatif = NULL;
    stoker_whatif_options_default(&options);
    options.reading = d->plan.reading;
    options.fixes = fixes;
    options.pairs = !fixes;
    enum stoker_status status = stoker_whatif(
        d->plan.paths[STK_VIEW_A], d->plan.path_count[STK_VIEW_A], &options, &whatif, err);
    if (status == STOKER_OK) {
        status = stoker_whatif_write(whatif, "json", NULL, stk_body_write, out, err);
    }
    stoker_whatif_free(whatif);
    return status;
}

enum stoker_status stk_documents_whatif(struct stk_documents *d, const char *fixes,
                                        const struct stk_body **out, struct stoker_err *err)
{
    static const char file[] = "whatif.json"; // each fix alone
    char key[KEY_MAX];
    enum stoker_status status = check_side(d, STK_VIEW_A, err);
    if (status == STOKER_OK &&
        snprintf(key, sizeof key, "whatif %s", fixes ? fixes : "") >= KEY_MAX) {
        status = stk_err_set(err, STOKER_EUSAGE, "too many fixes at once");
    }
    if (status != STOKER_OK) {
        return status;
    }
    struct document *doc = fixes ? find(d, key) : find_kept(d, STK_VIEW_A, key, file);
    if (doc) {
        *out = &doc->bytes;
        return STOKER_OK;
    }
    doc = place(d, key);
    status = make_prices(d, fixes, &doc->bytes, err);
    if (status == STOKER_OK && !fixes) {
        stk_cache_write(d->sides[STK_VIEW_A].cache, file, &doc->bytes);
    }
    return settle(doc, status, out, err);
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
    return settle(doc, status, out, err);
}

enum stoker_status stk_documents_timeline(struct stk_documents *d, int side,
                                          struct stoker_timeline **out, struct stoker_err *err)
{
    const struct side *s = &d->sides[side];
    enum stoker_status status = check_side(d, side, err);
    *out = s->timeline;
    if (status == STOKER_OK && !s->timeline) {
        *err = s->no_events;
        status = err->code;
    }
    return status;
}

bool stk_documents_lack(enum stoker_status status)
{
    return status == STOKER_EUSAGE || status == STOKER_ERANGE || status == STOKER_ELIMIT;
}

enum stoker_status stk_documents_query(struct stk_documents *d, int side, const char *sql,
                                       const struct stk_body **out, struct stoker_err *err)
{
    struct stoker_query_options options;
    struct stoker_tables *tables = NULL;
    stoker_query_options_default(&options);
    options.limit = QUERY_ROWS;
    options.timeout_ns = QUERY_NS;
    stk_body_free(&d->query);
    enum stoker_status status = check_side(d, side, err);
    if (status == STOKER_OK) {
        status = open_profiles(d, side, err);
    }
    if (status == STOKER_OK) {
        status = stoker_query(d->sides[side].profiles, sql, &options, &tables, err);
    }
    if (status == STOKER_OK) {
        status = stoker_tables_write(tables, "json", NULL, NULL, stk_body_write, &d->query, err);
    }
    stoker_tables_free(tables);
    *out = &d->query;
    return stk_body_end(&d->query, status, err);
}
