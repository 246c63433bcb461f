// SPDX-License-Identifier: Apache-2.0
// /api/tile, tiles, names, event, area, calls, search, runs, phases, ribbon: the timeline of the
// first run, or of the second with ?side=b. Numbers are checked here; what they refer to is checked
// there (include/stoker/timeline.h).
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "serve/endpoints.h"
#include "stoker/timeline.h"

enum {
    IDS_MAX = 10000,
    TILES_MAX = 256, // at once
    HITS = 500       // of a search, by default
};

static enum stoker_status number(const struct stk_asked *a, const char *name, int64_t *out,
                                 struct stoker_err *err)
{
    const char *text = a->value(a->request, name);
    if (!text || !stk_str_to_i64(stk_str_from(text), out)) {
        return stk_err_set(err, STOKER_EUSAGE, "?%s= is missing, or not a whole number", name);
    }
    return STOKER_OK;
}

// "1,2,3" into out[0, IDS_MAX). A missing list is empty.
static enum stoker_status numbers(const struct stk_asked *a, const char *name, int64_t *out,
                                  size_t *count, struct stoker_err *err)
{
    const char *p = a->value(a->request, name);
    *count = 0;
    while (p && *p) {
        size_t n = strcspn(p, ",");
        if (*count == IDS_MAX || !stk_str_to_i64((struct stk_str){p, n}, &out[*count])) {
            return stk_err_set(err, STOKER_EUSAGE, "?%s= takes at most %d whole numbers", name,
                               IDS_MAX);
        }
        (*count)++;
        p += n + (p[n] == ',');
    }
    return STOKER_OK;
}

static enum stoker_status timeline_of(const struct stk_asked *a, struct stoker_timeline **out,
                                      struct stoker_err *err)
{
    return stk_documents_timeline(a->documents, stk_asked_side(a), out, err);
}

// Moves the blob's bytes to the answer unchanged.
static enum stoker_status hand_over(enum stoker_status status, struct stoker_blob *b,
                                    struct stk_answer *out)
{
    if (status == STOKER_OK) {
        stk_body_adopt(&out->own, b->data, b->size);
        *b = (struct stoker_blob){.data = NULL};
    }
    stoker_blob_free(b);
    return status;
}

enum stoker_status stk_endpoint_tile(const struct stk_asked *a, struct stk_answer *out,
                                     struct stoker_err *err)
{
    struct stoker_timeline *t;
    struct stoker_blob b = {.data = NULL};
    int64_t track, level, index;
    enum stoker_status status = timeline_of(a, &t, err);
    status = status == STOKER_OK ? number(a, "track", &track, err) : status;
    status = status == STOKER_OK ? number(a, "level", &level, err) : status;
    status = status == STOKER_OK ? number(a, "index", &index, err) : status;
    if (status == STOKER_OK && (level < 0 || level > 64)) {
        status = stk_err_set(err, STOKER_EUSAGE, "no such level");
    }
    if (status == STOKER_OK) {
        status = stoker_timeline_tile(t, track, (int)level, index, &b, err);
    }
    out->type = "application/octet-stream";
    return hand_over(status, &b, out);
}

// The same tile of several tracks, in order.
enum stoker_status stk_endpoint_tiles(const struct stk_asked *a, struct stk_answer *out,
                                      struct stoker_err *err)
{
    struct stoker_timeline *t;
    struct stoker_blob b = {.data = NULL};
    int64_t tracks[IDS_MAX], level, index;
    size_t n;
    enum stoker_status status = timeline_of(a, &t, err);
    status = status == STOKER_OK ? number(a, "level", &level, err) : status;
    status = status == STOKER_OK ? number(a, "index", &index, err) : status;
    status = status == STOKER_OK ? numbers(a, "tracks", tracks, &n, err) : status;
    if (status == STOKER_OK && (level < 0 || level > 64 || n > TILES_MAX)) {
        status =
            stk_err_set(err, STOKER_EUSAGE, "no such level, or more than %d tracks", TILES_MAX);
    }
    if (status == STOKER_OK) {
        status = stoker_timeline_tiles(t, tracks, n, (int)level, index, &b, err);
    }
    out->type = "application/octet-stream";
    return hand_over(status, &b, out);
}

enum stoker_status stk_endpoint_names(const struct stk_asked *a, struct stk_answer *out,
                                      struct stoker_err *err)
{
    struct stoker_timeline *t;
    struct stoker_blob b = {.data = NULL};
    int64_t ids[IDS_MAX];
    size_t n;
    enum stoker_status status = timeline_of(a, &t, err);
    status = status == STOKER_OK ? numbers(a, "ids", ids, &n, err) : status;
    status = status == STOKER_OK ? stoker_timeline_names(t, ids, n, &b, err) : status;
    return hand_over(status, &b, out);
}

enum stoker_status stk_endpoint_event(const struct stk_asked *a, struct stk_answer *out,
                                      struct stoker_err *err)
{
    struct stoker_timeline *t;
    struct stoker_blob b = {.data = NULL};
    int64_t id;
    enum stoker_status status = timeline_of(a, &t, err);
    status = status == STOKER_OK ? number(a, "id", &id, err) : status;
    status = status == STOKER_OK ? stoker_timeline_event(t, id, &b, err) : status;
    return hand_over(status, &b, out);
}

enum stoker_status stk_endpoint_runs(const struct stk_asked *a, struct stk_answer *out,
                                     struct stoker_err *err)
{
    struct stoker_timeline *t;
    struct stoker_blob b = {.data = NULL};
    int64_t id;
    enum stoker_status status = timeline_of(a, &t, err);
    status = status == STOKER_OK ? number(a, "id", &id, err) : status;
    status = status == STOKER_OK ? stoker_timeline_runs(t, id, &b, err) : status;
    return hand_over(status, &b, out);
}

struct area {
    int64_t from, to, tracks[IDS_MAX];
    size_t track_count;
};

static enum stoker_status area_of(const struct stk_asked *a, struct area *out,
                                  struct stoker_err *err)
{
    enum stoker_status status = number(a, "t0", &out->from, err);
    status = status == STOKER_OK ? number(a, "t1", &out->to, err) : status;
    return status == STOKER_OK ? numbers(a, "tracks", out->tracks, &out->track_count, err) : status;
}

// Statistics of an area.
static enum stoker_status
answer_area(const struct stk_asked *a,
            enum stoker_status (*ask)(struct stoker_timeline *t, int64_t t0_ns, int64_t t1_ns,
                                      const int64_t *tracks, size_t count, struct stoker_blob *out,
                                      struct stoker_err *err),
            struct stk_answer *out, struct stoker_err *err)
{
    struct stoker_timeline *t;
    struct stoker_blob b = {.data = NULL};
    struct area area;
    enum stoker_status status = timeline_of(a, &t, err);
    status = status == STOKER_OK ? area_of(a, &area, err) : status;
    if (status == STOKER_OK) {
        status = ask(t, area.from, area.to, area.tracks, area.track_count, &b, err);
    }
    return hand_over(status, &b, out);
}

enum stoker_status stk_endpoint_area(const struct stk_asked *a, struct stk_answer *out,
                                     struct stoker_err *err)
{
    return answer_area(a, stoker_timeline_area, out, err);
}

// The call tree of an area.
enum stoker_status stk_endpoint_calls(const struct stk_asked *a, struct stk_answer *out,
                                      struct stoker_err *err)
{
    return answer_area(a, stoker_timeline_calls, out, err);
}

enum stoker_status stk_endpoint_search(const struct stk_asked *a, struct stk_answer *out,
                                       struct stoker_err *err)
{
    struct stoker_timeline *t;
    struct stoker_blob b = {.data = NULL};
    const char *pattern = a->value(a->request, "q");
    int64_t limit = HITS;
    enum stoker_status status = timeline_of(a, &t, err);
    if (status == STOKER_OK && a->value(a->request, "limit")) {
        status = number(a, "limit", &limit, err);
    }
    if (status == STOKER_OK && limit < 0) {
        status = stk_err_set(err, STOKER_EUSAGE, "?limit= is below 0");
    }
    if (status == STOKER_OK) {
        status = stoker_timeline_search(t, pattern ? pattern : "", (size_t)limit, &b, err);
    }
    return hand_over(status, &b, out);
}

enum stoker_status stk_endpoint_phases(const struct stk_asked *a, struct stk_answer *out,
                                       struct stoker_err *err)
{
    struct stoker_timeline *t;
    struct stoker_blob b = {.data = NULL};
    enum stoker_status status = timeline_of(a, &t, err);
    status = status == STOKER_OK ? stoker_timeline_phases(t, &b, err) : status;
    return hand_over(status, &b, out);
}

enum { BUCKETS = 1024 }; // of a ribbon, by default

enum stoker_status stk_endpoint_ribbon(const struct stk_asked *a, struct stk_answer *out,
                                       struct stoker_err *err)
{
    struct stoker_timeline *t;
    struct stoker_blob b = {.data = NULL};
    int64_t from, to, buckets = BUCKETS;
    enum stoker_status status = timeline_of(a, &t, err);
    status = status == STOKER_OK ? number(a, "t0", &from, err) : status;
    status = status == STOKER_OK ? number(a, "t1", &to, err) : status;
    if (status == STOKER_OK && a->value(a->request, "buckets")) {
        status = number(a, "buckets", &buckets, err);
    }
    if (status == STOKER_OK) {
        size_t n = buckets > 0 ? (size_t)buckets : 0;
        status = stoker_timeline_ribbon(t, a->value(a->request, "device"), from, to, n, &b, err);
    }
    return hand_over(status, &b, out);
}
