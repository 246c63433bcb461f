// SPDX-License-Identifier: Apache-2.0
// Tiles as base64 under "TRACK/LEVEL/INDEX"; see embed_tiles.h. Tries whole levels from the
// coarsest on, and uses the last one that fits, with few enough tiles for a page to show. The
// coarsest, one or two tiles per track, is used even if it doesn't fit.
#include "serve/embed_tiles.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "results/print/document.h"
#include "results/view.h"
#include "stoker/timeline.h"

enum {
    LEVEL_MAX = 52,
    TILE_BUCKETS = 1024,
    TILES_MAX = 64, // per track: the page shows all of them at once
    TRACKS_MAX = 4000,
    NAMES_AT_ONCE = 10000,
    PHASES_BYTES = 512 << 10,
    RIBBON_CELLS = 4096, // buckets of all devices together
    RIBBON_BUCKETS = 1024,
    RIBBON_DEVICES = 64,
    DEVICE_ID = 64,
    TILE_HEAD = 40,
    TILE_BEFORE_NAMES = 12 // bytes of an item's start, duration and event
};

struct embedding {
    struct stoker_timeline *timeline;
    int64_t tracks[TRACKS_MAX];
    size_t track_count;
    int64_t last_ns;
    struct stk_body tiles; // tiles of the level being tried
    struct stk_vec names;  // int64_t, in the order of the tiles
    size_t bytes;          // of the tiles before encoding
};

static void put_base64(struct stk_body *out, const unsigned char *p, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char four[4];
    for (size_t i = 0; i < n; i += 3) {
        uint32_t bits = (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) |
                        (i + 2 < n ? p[i + 2] : 0);
        four[0] = digits[bits >> 18];
        four[1] = digits[bits >> 12 & 63];
        four[2] = i + 1 < n ? digits[bits >> 6 & 63] : '=';
        four[3] = i + 2 < n ? digits[bits & 63] : '=';
        (void)stk_body_write(out, four, sizeof four);
    }
}

static uint32_t u32_at(const char *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof value); // little-endian, like stoker's machines
    return value;
}

static bool keep_names(struct embedding *e, const struct stoker_blob *tile)
{
    size_t n = u32_at(tile->data + 4);
    const char *names = tile->data + TILE_HEAD + n * TILE_BEFORE_NAMES;
    for (size_t i = 0; i < n; i++) {
        int64_t *to = stk_vec_push(&e->names);
        if (!to) {
            return false;
        }
        *to = u32_at(names + 4 * i);
    }
    return true;
}

static enum stoker_status put_tile(struct embedding *e, int64_t track, int level, int64_t index,
                                   struct stoker_err *err)
{
    struct stoker_blob b = {.data = NULL};
    char key[96];
    enum stoker_status status = stoker_timeline_tile(e->timeline, track, level, index, &b, err);
    if (status == STOKER_OK && b.size >= TILE_HEAD && u32_at(b.data + 4) > 0) {
        snprintf(key, sizeof key, "%s\"%" PRId64 "/%d/%" PRId64 "\":\"", e->tiles.n ? ",\n" : "",
                 track, level, index);
        (void)stk_body_text(&e->tiles, key);
        put_base64(&e->tiles, (const unsigned char *)b.data, b.size);
        (void)stk_body_text(&e->tiles, "\"");
        status = keep_names(e, &b) ? stk_body_end(&e->tiles, status, err) : stk_err_nomem(err);
        e->bytes += b.size;
    }
    stoker_blob_free(&b);
    return status;
}

// *fits: all tiles of the level fit.
static enum stoker_status put_level(struct embedding *e, int level, bool is_least, bool *fits,
                                    struct stoker_err *err)
{
    int64_t span = (int64_t)TILE_BUCKETS << level;
    enum stoker_status status = STOKER_OK;
    stk_body_free(&e->tiles);
    e->names.count = 0;
    e->bytes = 0;
    for (size_t t = 0; status == STOKER_OK && t < e->track_count; t++) {
        for (int64_t i = 0; status == STOKER_OK && i <= e->last_ns / span; i++) {
            status = put_tile(e, e->tracks[t], level, i, err);
            *fits = e->bytes <= STK_EMBED_BYTES;
            if (!*fits && !is_least) {
                return status;
            }
        }
    }
    *fits = true;
    return status;
}

// Reads the tracks' ids and the timeline's end from the tracks' document.
static void read_tracks(struct embedding *e, const char *json)
{
    const char *p = strstr(json, "\"last_ns\":");
    e->last_ns = 0;
    if (p) {
        (void)sscanf(p + strlen("\"last_ns\":"), "%" SCNd64, &e->last_ns);
    }
    for (p = strstr(json, "\"id\":"); p && e->track_count < TRACKS_MAX; p = strstr(p, "\"id\":")) {
        p += strlen("\"id\":");
        if (sscanf(p, "%" SCNd64, &e->tracks[e->track_count]) == 1) {
            e->track_count++;
        }
    }
}

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// Sorts ids and removes duplicates.
static void settle_names(struct stk_vec *names)
{
    int64_t *ids = names->items;
    size_t kept = 0;
    qsort(ids, names->count, sizeof *ids, compare_ids);
    for (size_t i = 0; i < names->count; i++) {
        if (kept == 0 || ids[kept - 1] != ids[i]) {
            ids[kept++] = ids[i];
        }
    }
    names->count = kept;
}

// "names": {...} of the tiles, joined from several documents {"names":{...}}.
static enum stoker_status put_names(struct embedding *e, struct stk_body *out,
                                    struct stoker_err *err)
{
    const int64_t *ids = e->names.items;
    enum stoker_status status = STOKER_OK;
    const char *between = "";
    (void)stk_body_text(out, ",\n\"names\": {");
    for (size_t i = 0; status == STOKER_OK && i < e->names.count; i += NAMES_AT_ONCE) {
        struct stoker_blob b = {.data = NULL};
        size_t n = e->names.count - i < NAMES_AT_ONCE ? e->names.count - i : NAMES_AT_ONCE;
        status = stoker_timeline_names(e->timeline, ids + i, n, &b, err);
        const char *open = status == STOKER_OK ? memchr(b.data + 1, '{', b.size - 1) : NULL;
        const char *close = open ? memrchr(open, '}', (size_t)(b.data + b.size - open)) : NULL;
        close = close ? memrchr(open, '}', (size_t)(close - open)) : NULL;
        if (close && close > open + 1) {
            (void)stk_body_text(out, between);
            (void)stk_body_write(out, open + 1, (size_t)(close - open) - 1);
            between = ",\n";
        }
        stoker_blob_free(&b);
    }
    (void)stk_body_text(out, "}");
    return status;
}

// "info": the tracks' object, plus what else the pages need.
static enum stoker_status put_info(struct stk_body *out, const struct stoker_blob *tracks,
                                   int level, struct stoker_err *err)
{
    struct stk_sink sink;
    const struct stk_view_doc doc = {.schema = STK_VIEW_SCHEMA,
                                     .is_single = true,
                                     .level = level,
                                     .tracks = {.json = tracks->data}};
    stk_sink_init(&sink, stk_body_write, out);
    stk_sink_text(&sink, ",\n\"info\": ");
    stk_json_document(&stk_view_doc_info, &doc, true, &sink);
    return stk_sink_finish(&sink, err);
}

// The finest level that fits, into e->tiles.
static enum stoker_status choose_level(struct embedding *e, int *chosen, struct stoker_err *err)
{
    int coarsest = 0;
    bool fits = true;
    while (coarsest < LEVEL_MAX && (int64_t)TILE_BUCKETS << coarsest <= e->last_ns) {
        coarsest++;
    }
    coarsest = coarsest > 42 ? 42 : coarsest; // 1024 of its buckets fit in int64
    *chosen = coarsest;
    enum stoker_status status = STOKER_OK;
    for (int level = coarsest; status == STOKER_OK && fits && level >= 0; level--) {
        if (e->last_ns / ((int64_t)TILE_BUCKETS << level) >= TILES_MAX) {
            break;
        }
        struct embedding trial = *e;
        trial.tiles = (struct stk_body){.p = NULL};
        stk_vec_init(&trial.names, sizeof(int64_t), e->names.max_count);
        status = put_level(&trial, level, level == coarsest, &fits, err);
        if (status == STOKER_OK && fits) {
            struct embedding old = *e;
            *e = trial;
            trial = old;
            *chosen = level;
        }
        stk_body_free(&trial.tiles);
        stk_vec_deinit(&trial.names);
    }
    return status;
}

static enum stoker_status put_timeline(struct embedding *e, struct stk_body *out,
                                       struct stoker_err *err)
{
    struct stoker_blob tracks = {.data = NULL};
    int level = 0;
    enum stoker_status status = stoker_timeline_tracks(e->timeline, &tracks, err);
    if (status == STOKER_OK) {
        read_tracks(e, tracks.data);
        status = choose_level(e, &level, err);
    }
    if (status == STOKER_OK) {
        status = put_info(out, &tracks, level, err);
    }
    if (status == STOKER_OK) {
        settle_names(&e->names);
        status = put_names(e, out, err);
    }
    if (status == STOKER_OK) {
        (void)stk_body_text(out, ",\n\"tiles\": {");
        (void)stk_body_text(out, e->tiles.p ? e->tiles.p : "");
        (void)stk_body_text(out, "}");
    }
    stoker_blob_free(&tracks);
    return status;
}

// The phases, unless there are too many for a file.
static enum stoker_status put_phases(struct embedding *e, struct stk_body *out,
                                     struct stoker_err *err)
{
    struct stoker_blob phases = {.data = NULL};
    enum stoker_status status = stoker_timeline_phases(e->timeline, &phases, err);
    if (status == STOKER_OK && phases.size <= PHASES_BYTES) {
        (void)stk_body_text(out, ",\n\"phases\": ");
        (void)stk_body_write(out, phases.data, phases.size);
    }
    stoker_blob_free(&phases);
    return status;
}

// Ids of the devices that have a ribbon, from one device's document; at most `most`.
static size_t read_devices(const char *json, char (*ids)[DEVICE_ID], size_t most)
{
    size_t n = 0;
    const char *p = strstr(json, "\"devices\":");
    for (p = p ? strstr(p, "\"id\":") : NULL; p && n < most; p = strstr(p, "\"id\":")) {
        p += strlen("\"id\":");
        if (sscanf(p, " \"%63[^\"]\"", ids[n]) == 1) {
            n++;
        }
    }
    return n;
}

// "ribbons": {"0/0": {...}}, each device's whole recording.
static enum stoker_status put_ribbons(struct embedding *e, struct stk_body *out,
                                      struct stoker_err *err)
{
    struct stoker_blob first = {.data = NULL};
    char ids[RIBBON_DEVICES][DEVICE_ID];
    int64_t end = e->last_ns + 1;
    enum stoker_status status = stoker_timeline_ribbon(e->timeline, NULL, 0, end, 1, &first, err);
    if (status != STOKER_OK) {
        return stk_documents_lack(status) ? STOKER_OK : status; // a timeline out of range has none
    }
    size_t n = read_devices(first.data, ids, RIBBON_DEVICES);
    size_t buckets = n ? RIBBON_CELLS / n : 0;
    buckets = buckets < RIBBON_BUCKETS ? buckets : RIBBON_BUCKETS;
    (void)stk_body_text(out, ",\n\"ribbons\": {");
    for (size_t i = 0; i < n && status == STOKER_OK; i++) {
        struct stoker_blob b = {.data = NULL};
        status = stoker_timeline_ribbon(e->timeline, ids[i], 0, end, buckets, &b, err);
        if (status == STOKER_OK) {
            (void)stk_body_text(out, i ? ",\n\"" : "\"");
            (void)stk_body_text(out, ids[i]);
            (void)stk_body_text(out, "\": ");
            (void)stk_body_write(out, b.data, b.size);
        }
        stoker_blob_free(&b);
    }
    (void)stk_body_text(out, "}");
    stoker_blob_free(&first);
    return status;
}

enum stoker_status stk_embed_tiles(struct stk_documents *d, struct stk_body *out,
                                   struct stoker_err *err)
{
    struct embedding *e = stk_alloc_zero(1, sizeof *e);
    if (!e) {
        return stk_err_nomem(err);
    }
    stk_vec_init(&e->names, sizeof(int64_t), STK_EMBED_BYTES);
    enum stoker_status status = stk_documents_timeline(d, STK_VIEW_A, &e->timeline, err);
    if (stk_documents_lack(status)) {
        status = STOKER_OK; // without a timeline, the other pages still work
    } else if (status == STOKER_OK) {
        status = put_timeline(e, out, err);
        status = status == STOKER_OK ? put_phases(e, out, err) : status;
        status = status == STOKER_OK ? put_ribbons(e, out, err) : status;
        status = stk_body_end(out, status, err);
    }
    stk_body_free(&e->tiles);
    stk_vec_deinit(&e->names);
    stk_free(e);
    return status;
}
