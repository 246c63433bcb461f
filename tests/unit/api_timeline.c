// SPDX-License-Identifier: Apache-2.0
// The timeline's answers against the store: tiles count every event once at every level and match
// what each event gives, level 0 reaches every event, links lead both ways, areas and searches
// agree with a pass over all events.
#include "stoker/timeline.h"

#include <math.h>
#include <unistd.h>

#include "api/profiles.h"
#include "check.h"
#include "profile/timeline/timeline.h"

struct side {
    struct stoker_profiles *profiles;
    struct stoker_timeline *timeline;
    struct stk_timeline index; // the same, seen from inside
};

struct tile {
    uint32_t n, merged, events, trace, far_count;
    double from, unit;
    const uint32_t *starts, *durs, *ids, *names, *counts;
    const uint16_t *rows;
    const uint8_t *kinds, *flags;
    const double *far;
};

static bool decode(const char *bytes, size_t size, struct tile *t)
{
    uint32_t words[10];
    if (size < sizeof words) {
        return false;
    }
    memcpy(words, bytes, sizeof words);
    size_t n = t->n = words[1];
    t->merged = words[2];
    t->events = words[3];
    memcpy(&t->from, bytes + 16, 8);
    memcpy(&t->unit, bytes + 24, 8);
    t->trace = words[8];
    t->far_count = words[9];
    t->starts = (const uint32_t *)(const void *)(bytes + sizeof words);
    t->durs = t->starts + n;
    t->ids = t->durs + n;
    t->names = t->ids + n;
    t->counts = t->names + n;
    t->rows = (const uint16_t *)(t->counts + n);
    t->kinds = (const uint8_t *)(t->rows + n);
    t->flags = t->kinds + n;
    t->far = (const double *)(const void *)(t->flags + n);
    return words[0] == STOKER_TILE_MAGIC && size % 8 == 0 &&
           (const char *)(t->far + (size_t)2 * t->far_count) == bytes + size;
}

static double start_of(const struct tile *t, uint32_t i)
{
    return t->flags[i] & STOKER_TILE_FAR ? t->far[2 * t->starts[i]]
                                         : t->from + (double)t->starts[i] * t->unit;
}

static double dur_of(const struct tile *t, uint32_t i)
{
    return t->flags[i] & STOKER_TILE_FAR ? t->far[2 * t->starts[i] + 1] : (double)t->durs[i];
}

static bool open_side(struct side *s, const char *path)
{
    struct stoker_err err;
    memset(s, 0, sizeof *s);
    if (stoker_open(&path, 1, NULL, &s->profiles, &err) != STOKER_OK) {
        return false;
    }
    CHECK_EQ(stoker_timeline_open(s->profiles, &s->timeline, &err), STOKER_OK);
    CHECK_EQ(stk_timeline_make(&s->index, stk_profiles_query(s->profiles), &err), STOKER_OK);
    return s->timeline != NULL;
}

static void close_side(struct side *s)
{
    stk_timeline_free(&s->index);
    stoker_timeline_free(s->timeline);
    stoker_close(s->profiles);
}

// All tiles of a track at a level: what they count, and whether each item is what it says.
static uint64_t count_level(const struct side *s, const struct stk_tl_trace *x, uint32_t root,
                            int level, uint8_t *seen)
{
    uint64_t events = 0, wrong = 0;
    int64_t last = s->index.last_ns < 0 ? 0 : s->index.last_ns >> (level + 10);
    for (int64_t index = 0; index <= last; index++) {
        struct stoker_blob b;
        struct tile t = {.n = 0};
        uint64_t counted = 0, merged = 0;
        CHECK_EQ(
            stoker_timeline_tile(s->timeline, stk_query_id(x->index, root), level, index, &b, NULL),
            STOKER_OK);
        CHECK(decode(b.data, b.size, &t));
        for (uint32_t i = 0; i < t.n; i++) {
            uint32_t e = t.ids[i], count = t.counts[i];
            bool before = t.flags[i] & STOKER_TILE_BEFORE;
            double off = (double)stk_tl_start(x, e) - start_of(&t, i);
            wrong += t.trace != x->index || e >= x->t->count || off < 0 || off >= t.unit ||
                     (!x->t->tracks[root].kind && dur_of(&t, i) != (double)stk_dur_ns(x->t, e)) ||
                     t.names[i] != x->name_base + x->t->name[e] || count == 0 ||
                     before != (stk_tl_start(x, e) < index << (level + 10)) * (index > 0);
            wrong += !before && count == 1 && seen && seen[e]++;
            counted += before ? 0 : count;
            merged += !before && count > 1 ? count : 0;
        }
        CHECK_EQ(counted, t.events);
        CHECK_EQ(merged, t.merged);
        events += t.events;
        stoker_blob_free(&b);
    }
    CHECK_EQ(wrong, 0);
    return events;
}

static void tiles_count(const char *path)
{
    struct side s;
    if (!open_side(&s, path)) {
        CHECK(false);
        return;
    }
    uint64_t events = 0;
    int highest = 0;
    while (highest < STK_TL_LEVEL_MAX && s.index.last_ns >> (highest + 10) > 0) {
        highest++;
    }
    for (uint32_t i = 0; i < s.index.trace_count; i++) {
        const struct stk_tl_trace *x = &s.index.traces[i];
        for (uint32_t k = 0; k < x->t->track_count; k++) {
            uint32_t count = x->tracks[k].event_count;
            events += count;
            for (int level = highest; count && level >= 0 && level > highest - 8; level--) {
                CHECK_EQ(count_level(&s, x, k, level, NULL), count);
            }
        }
    }
    CHECK_EQ(events, s.index.events);
    CHECK(events > 0);
    close_side(&s);
}

// A trace short enough for all tiles of level 0, with events that overlap, nest, last no time and
// bear names that are not harmless.
static char made[64] = "/tmp/stoker-timeline-XXXXXX";

static void make_profile(void)
{
    int file = mkstemp(made);
    FILE *f = file < 0 ? NULL : fdopen(file, "wb");
    if (!f) {
        perror(made);
        exit(1);
    }
    fprintf(f, "{\"traceEvents\":[\n");
    for (int i = 0; i < 300; i++) {
        fprintf(f,
                "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"<b>\\\"&%d\\u0001\",\"pid\":1,"
                "\"tid\":1,\"ts\":%d.%03d,\"dur\":%d.5},\n",
                i % 7, i, (i * 37) % 1000, i % 5);
        fprintf(f,
                "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,"
                "\"tid\":2,\"ts\":%d,\"dur\":0.4,\"args\":{\"correlation\":%d}},\n",
                i, i + 1);
        fprintf(f,
                "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,"
                "\"ts\":%d.6,\"dur\":0.%d,\"args\":{\"correlation\":%d,\"device\":0,\"stream\":7}}"
                "%s\n",
                i, i % 9 + 1, i + 1, i < 299 ? "," : "");
    }
    fprintf(f, "]}\n");
    fclose(f);
}

static void level_zero(void)
{
    struct side s;
    CHECK(open_side(&s, made));
    const struct stk_tl_trace *x = &s.index.traces[0];
    uint8_t *seen = calloc(x->t->count + 1, 1);
    for (uint32_t k = 0; k < x->t->track_count; k++) {
        if (x->tracks[k].event_count) {
            CHECK_EQ(count_level(&s, x, k, 0, seen), x->tracks[k].event_count);
        }
    }
    uint32_t missing = 0;
    for (uint32_t e = 0; e < x->t->count; e++) {
        missing += !seen[e];
    }
    CHECK_EQ(x->t->count, 900);
    CHECK_EQ(missing, 0);
    free(seen);
    close_side(&s);
}

static bool holds(const struct stoker_blob *b, const char *text)
{
    char *copy = malloc(b->size + 1);
    memcpy(copy, b->data, b->size);
    copy[b->size] = 0;
    bool found = strstr(copy, text) != NULL;
    free(copy);
    return found;
}

static int64_t number_after(const struct stoker_blob *b, const char *key)
{
    char *copy = malloc(b->size + 1);
    memcpy(copy, b->data, b->size);
    copy[b->size] = 0;
    const char *at = strstr(copy, key);
    int64_t number = at ? strtoll(at + strlen(key), NULL, 10) : INT64_MIN;
    free(copy);
    return number;
}

// The tile of a row by a look at each of its events: bucket by bucket the longest of those that are
// merged, and the last one where it is no shorter than the bucket.
struct wanted {
    uint32_t event, count;
};

static uint32_t want_row(const struct stk_tl_trace *x, const struct stk_tl_row *row,
                         bool is_counter, int level, int64_t index, struct wanted *out)
{
    int64_t from = index << (level + 10);
    uint32_t n = 0, before = STK_NONE;
    for (uint32_t at = row->first; at < row->end;) {
        uint32_t event = stk_tl_event(x, row, at), best = event, last = event, end = at;
        int64_t start = stk_tl_start(x, event), bucket = start > 0 ? start >> level : 0;
        for (; end < row->end; end++) {
            last = stk_tl_event(x, row, end);
            int64_t other = stk_tl_start(x, last);
            if ((other > 0 ? other >> level : 0) != bucket) {
                break;
            }
        }
        last = stk_tl_event(x, row, end - 1);
        bool alone = stk_dur_ns(x->t, last) >> level > 0;
        for (uint32_t i = at; i < end - alone; i++) {
            uint32_t e = stk_tl_event(x, row, i);
            best = stk_dur_ns(x->t, e) > stk_dur_ns(x->t, best) ? e : best;
        }
        if (bucket >> 10 == index) {
            if (end - at > alone) {
                out[n++] = (struct wanted){best, end - at - alone};
            }
            if (alone) {
                out[n++] = (struct wanted){last, 1};
            }
        } else if (bucket >> 10 < index) {
            before = last;
        }
        at = end;
    }
    if (before != STK_NONE && (is_counter || stk_tl_end(x, before) > from)) {
        memmove(out + 1, out, n * sizeof *out);
        out[0] = (struct wanted){before, 1};
        n++;
    }
    return n;
}

static uint32_t wrong_items(const struct side *s, const struct stk_tl_trace *x, uint32_t root,
                            int level, int64_t index, struct wanted *wanted)
{
    struct stoker_blob b;
    struct tile t = {.n = 0};
    uint32_t wrong = 0, at = 0;
    bool is_counter = x->t->tracks[root].kind == STK_TRACK_COUNTER;
    CHECK_EQ(
        stoker_timeline_tile(s->timeline, stk_query_id(x->index, root), level, index, &b, NULL),
        STOKER_OK);
    CHECK(decode(b.data, b.size, &t));
    for (uint32_t r = 0; r < x->tracks[root].row_count; r++) {
        const struct stk_tl_row *row = &x->rows[x->tracks[root].first_row + r];
        uint32_t n = want_row(x, row, is_counter, level, index, wanted);
        for (uint32_t i = 0; i < n; i++, at++) {
            wrong += at >= t.n || t.ids[at] != wanted[i].event || t.counts[at] != wanted[i].count ||
                     t.rows[at] != r;
        }
    }
    wrong += at != t.n;
    stoker_blob_free(&b);
    return wrong;
}

// Every kind of tile: of buckets that were made, of single events, beyond the last level.
static void items(const char *path)
{
    struct side s;
    CHECK(open_side(&s, path));
    uint32_t wrong = 0, made_rows = 0;
    for (uint32_t i = 0; i < s.index.trace_count; i++) {
        const struct stk_tl_trace *x = &s.index.traces[i];
        struct wanted *wanted = calloc((size_t)x->t->count + 2, sizeof *wanted);
        for (uint32_t r = 0; r < x->row_count; r++) {
            made_rows += x->rows[r].levels > 0;
        }
        for (uint32_t k = 0; k < x->t->track_count; k++) {
            for (int level = 0; x->tracks[k].event_count && level <= 42; level++) {
                int64_t last = s.index.last_ns >> (level + 10), step = last / 5 + 1;
                for (int64_t index = 0; index <= last; index += step) {
                    wrong += wrong_items(&s, x, k, level, index, wanted);
                }
            }
        }
        free(wanted);
    }
    CHECK_EQ(wrong, 0);
    CHECK(made_rows > 0);
    close_side(&s);
}

// A counter's value holds until the next one: a tile that none begins in has the one before.
static void counters(void)
{
    char path[] = "/tmp/stoker-counters-XXXXXX";
    int file = mkstemp(path);
    FILE *f = file < 0 ? NULL : fdopen(file, "wb");
    CHECK(f != NULL);
    fprintf(f,
            "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,"
            "\"ts\":0,\"dur\":90}");
    for (int i = 0; i < 3; i++) {
        fprintf(f, ",{\"ph\":\"C\",\"name\":\"watts\",\"pid\":1,\"ts\":%d,\"args\":{\"W\":%d.5}}",
                i * 20, i + 7);
    }
    fprintf(f, "]}\n");
    fclose(f);
    struct side s;
    CHECK(open_side(&s, path));
    const struct stk_tl_trace *x = &s.index.traces[0];
    uint32_t found = 0;
    for (uint32_t k = 0; k < x->t->track_count; k++) {
        if (x->t->tracks[k].kind == STK_TRACK_COUNTER && x->tracks[k].event_count) {
            for (int64_t index = 0; index < 58; index++) { // of 1.024 us
                struct stoker_blob b;
                struct tile t = {.n = 0};
                CHECK_EQ(stoker_timeline_tile(s.timeline, k, 0, index, &b, NULL), STOKER_OK);
                CHECK(decode(b.data, b.size, &t));
                CHECK(t.n == 1 || (t.n == 2 && t.events == 1));
                CHECK(t.flags[0] & STOKER_TILE_FAR);
                CHECK_EQ(!(t.flags[0] & STOKER_TILE_BEFORE), index == 0);
                CHECK(dur_of(&t, 0) == 7.5 + (double)((index * 1024 - 1) / 20000) || index == 0);
                stoker_blob_free(&b);
                found++;
            }
        }
    }
    CHECK_EQ(found, 58);
    close_side(&s);
    unlink(path);
}

// Several at once: each the same as alone, regardless of thread order.
static void several(const char *path)
{
    enum { MOST = 400 };
    struct side s;
    struct stoker_blob all, one;
    int64_t tracks[MOST];
    size_t n = 0, at = 0;
    CHECK(open_side(&s, path));
    const struct stk_tl_trace *x = &s.index.traces[0];
    for (uint32_t k = 0; n < MOST; k = (k + 1) % x->t->track_count) {
        if (x->tracks[k].event_count) {
            tracks[n++] = k;
        }
    }
    CHECK_EQ(stoker_timeline_tiles(s.timeline, tracks, n, 12, 1, &all, NULL), STOKER_OK);
    for (size_t i = 0; i < n; i++) {
        uint64_t length = 0;
        CHECK(at + 8 <= all.size);
        memcpy(&length, all.data + at, sizeof length);
        CHECK_EQ(stoker_timeline_tile(s.timeline, tracks[i], 12, 1, &one, NULL), STOKER_OK);
        CHECK_EQ(length, one.size);
        CHECK(at + 8 + length <= all.size && memcmp(all.data + at + 8, one.data, length) == 0);
        at += 8 + length;
        stoker_blob_free(&one);
    }
    CHECK_EQ(at, all.size);
    stoker_blob_free(&all);
    tracks[n - 1] = 1 << 30;
    CHECK_EQ(stoker_timeline_tiles(s.timeline, tracks, n, 12, 1, &all, NULL), STOKER_EUSAGE);
    CHECK_EQ(stoker_timeline_tiles(s.timeline, tracks, 0, 12, 1, &all, NULL), STOKER_OK);
    CHECK_EQ(all.size, 0);
    stoker_blob_free(&all);
    close_side(&s);
}

static void names(void)
{
    struct side s;
    struct stoker_blob b;
    CHECK(open_side(&s, made));
    const struct stk_tl_trace *x = &s.index.traces[0];
    int64_t ids[] = {x->t->name[0], 99999999, -1};
    CHECK_EQ(stoker_timeline_names(s.timeline, ids, 3, &b, NULL), STOKER_OK);
    CHECK(holds(&b, "\"names\""));
    CHECK(!holds(&b, "99999999"));
    stoker_blob_free(&b);
    for (uint32_t e = 0; e < x->t->count; e++) {
        ids[0] = x->t->name[e];
        CHECK_EQ(stoker_timeline_names(s.timeline, ids, 1, &b, NULL), STOKER_OK);
        const char *name = stk_name_of(x->t, e).p;
        CHECK(holds(&b, name[0] == '<' ? "<b>\\\"&" : name));
        stoker_blob_free(&b);
    }
    close_side(&s);
}

static void links(void)
{
    struct side s;
    struct stoker_blob b;
    char id[64];
    uint32_t found = 0;
    CHECK(open_side(&s, made));
    const struct stk_tl_trace *x = &s.index.traces[0];
    for (uint32_t e = 0; e < x->t->count; e++) {
        if (x->t->kind[e] != STK_KIND_KERNEL) {
            continue;
        }
        CHECK_EQ(stoker_timeline_event(s.timeline, e, &b, NULL), STOKER_OK);
        CHECK(holds(&b, "\"dir\": \"from\""));
        uint32_t call = stk_link_of(x->t, e);
        snprintf(id, sizeof id, "\"id\": %u,", call);
        CHECK(holds(&b, id));
        CHECK(holds(&b, "correlation"));
        stoker_blob_free(&b);
        CHECK_EQ(stoker_timeline_event(s.timeline, call, &b, NULL), STOKER_OK);
        CHECK(holds(&b, "\"dir\": \"to\""));
        snprintf(id, sizeof id, "\"id\": %u,", e);
        CHECK(holds(&b, id));
        stoker_blob_free(&b);
        found++;
    }
    CHECK_EQ(found, 300);
    close_side(&s);
}

// Neighbors: along a row each event's next has it as its previous one.
static void neighbours(void)
{
    struct side s;
    struct stoker_blob b;
    CHECK(open_side(&s, made));
    const struct stk_tl_trace *x = &s.index.traces[0];
    uint32_t ends = 0;
    for (uint32_t e = 0; e < x->t->count; e++) {
        CHECK_EQ(stoker_timeline_event(s.timeline, e, &b, NULL), STOKER_OK);
        bool is_last = holds(&b, "\"next\": null");
        int64_t next = is_last ? 0 : number_after(&b, "\"next\": ");
        stoker_blob_free(&b);
        ends += is_last;
        if (!is_last) {
            CHECK_EQ(stoker_timeline_event(s.timeline, next, &b, NULL), STOKER_OK);
            CHECK_EQ(number_after(&b, "\"prev\": "), e);
            stoker_blob_free(&b);
        }
    }
    CHECK_EQ(ends, x->row_count);
    close_side(&s);
}

// Against a pass over all events.
static void area(const char *path, int64_t from_share, int64_t to_share)
{
    struct side s;
    struct stoker_err err;
    struct stk_arena arena;
    struct stk_tl_area_row *rows;
    size_t n;
    CHECK(open_side(&s, path));
    int64_t t0 = s.index.last_ns * from_share / 16, t1 = s.index.last_ns * to_share / 16 + 1;
    stk_arena_init(&arena, 0);
    CHECK_EQ(stk_tl_area(&s.index, t0, t1, NULL, 0, &arena, &rows, &n, &err), STOKER_OK);
    int64_t count = 0, total = 0, listed = 0, listed_total = 0;
    for (uint32_t i = 0; i < s.index.trace_count; i++) {
        const struct stk_tl_trace *x = &s.index.traces[i];
        for (uint32_t e = 0; e < x->t->count; e++) {
            int64_t start = stk_tl_start(x, e), end = stk_tl_end(x, e);
            if (start < t1 && (end > t0 || start >= t0)) {
                count++;
                total += (end < t1 ? end : t1) - (start > t0 ? start : t0);
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        listed += rows[i].count;
        listed_total += rows[i].total_ns;
        CHECK(rows[i].union_ns <= rows[i].total_ns && rows[i].union_ns <= t1 - t0);
        CHECK(rows[i].min_ns <= rows[i].median_ns && rows[i].median_ns <= rows[i].p95_ns);
        CHECK(rows[i].p95_ns <= rows[i].max_ns && rows[i].max_ns <= t1 - t0);
        CHECK(i == 0 || rows[i - 1].total_ns >= rows[i].total_ns);
    }
    CHECK_EQ(listed, count);
    CHECK_EQ(listed_total, total);
    CHECK(count > 0);
    stk_arena_deinit(&arena);
    close_side(&s);
}

// The union of one name, nanosecond by nanosecond.
static void area_union(void)
{
    enum { FROM = 20000, TO = 60000 };
    static uint8_t covered[TO - FROM];
    struct side s;
    struct stoker_blob b;
    struct stk_arena arena;
    struct stk_tl_area_row *rows;
    size_t n;
    CHECK(open_side(&s, made));
    const struct stk_tl_trace *x = &s.index.traces[0];
    stk_arena_init(&arena, 0);
    CHECK_EQ(stk_tl_area(&s.index, FROM, TO, NULL, 0, &arena, &rows, &n, NULL), STOKER_OK);
    CHECK(n >= 9);
    for (size_t i = 0; i < n; i++) {
        int64_t sum = 0;
        memset(covered, 0, sizeof covered);
        for (uint32_t e = 0; e < x->t->count; e++) {
            bool same = strcmp(stk_name_of(x->t, e).p, rows[i].name) == 0;
            for (int64_t t = stk_tl_start(x, e); same && t < stk_tl_end(x, e); t++) {
                if (t >= FROM && t < TO) {
                    covered[t - FROM] = 1;
                }
            }
        }
        for (size_t t = 0; t < sizeof covered; t++) {
            sum += covered[t];
        }
        CHECK_EQ(rows[i].union_ns, sum);
    }
    stk_arena_deinit(&arena);
    CHECK_EQ(stoker_timeline_area(s.timeline, FROM, TO, NULL, 0, &b, NULL), STOKER_OK);
    CHECK(holds(&b, "stoker.table/1") && holds(&b, "union_ns"));
    stoker_blob_free(&b);
    close_side(&s);
}

// Threads that run the same code share one tree; a marker of a step is no call.
static void calls(void)
{
    static char nest[64] = "/tmp/stoker-timeline-XXXXXX";
    int file = mkstemp(nest);
    FILE *f = file < 0 ? NULL : fdopen(file, "wb");
    struct side s;
    struct stoker_blob b;
    CHECK(f != NULL);
    fprintf(f, "{\"traceEvents\":[");
    for (int i = 0; f && i < 4; i++) {
        const int tid = i / 2 + 1, at = i % 2 * 100;
        fprintf(
            f,
            "%s{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%d\",\"pid\":1,"
            "\"tid\":%d,\"ts\":%d,\"dur\":90},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"f\","
            "\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":50},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":"
            "\"g\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":20}",
            i ? "," : "", i % 2, tid, at, tid, at + 10, tid, at + 20);
    }
    fprintf(f, "]}\n");
    fclose(f);
    CHECK(open_side(&s, nest));
    CHECK_EQ(stoker_timeline_calls(s.timeline, 0, 300000, NULL, 0, &b, NULL), STOKER_OK);
    CHECK(holds(&b, "[-1, \"f\", \"host_op\", 200000, 120000, 4,"));
    CHECK(holds(&b, "[0, \"g\", \"host_op\", 80000, 80000, 4,"));
    CHECK(!holds(&b, "ProfilerStep"));
    stoker_blob_free(&b);
    // From the middle of g of the second step on: what began before is there, and clipped.
    CHECK_EQ(stoker_timeline_calls(s.timeline, 130000, 300000, NULL, 0, &b, NULL), STOKER_OK);
    CHECK(holds(&b, "[-1, \"f\", \"host_op\", 60000, 40000, 2,"));
    CHECK(holds(&b, "[0, \"g\", \"host_op\", 20000, 20000, 2,"));
    stoker_blob_free(&b);
    close_side(&s);
    unlink(nest);
}

static void search(void)
{
    static const char *const patterns[] = {"gemm", "<b>", "/cuda.*Kernel/", "", "nothing of it"};
    struct side s;
    struct stoker_blob b;
    CHECK(open_side(&s, made));
    const struct stk_tl_trace *x = &s.index.traces[0];
    for (size_t i = 0; i < 5; i++) {
        int64_t count = 0;
        const char *p = i == 2 ? "cudaLaunchKernel" : patterns[i];
        for (uint32_t e = 0; e < x->t->count; e++) {
            count += strstr(stk_name_of(x->t, e).p, p) != NULL;
        }
        CHECK_EQ(stoker_timeline_search(s.timeline, patterns[i], 10, &b, NULL), STOKER_OK);
        CHECK_EQ(number_after(&b, "\"count\": "), count);
        CHECK_EQ(holds(&b, "\"start_ns\""), count > 0);
        stoker_blob_free(&b);
    }
    close_side(&s);
}

static void runs(void)
{
    struct side s;
    struct stoker_blob b;
    CHECK(open_side(&s, made));
    const struct stk_tl_trace *x = &s.index.traces[0];
    for (uint32_t e = 0; e < x->t->count; e += 17) {
        int64_t count = 0, min = INT64_MAX, max = 0;
        for (uint32_t o = 0; o < x->t->count; o++) {
            if (x->t->name[o] == x->t->name[e] && x->t->kind[o] == x->t->kind[e]) {
                int64_t dur = stk_dur_ns(x->t, o);
                count++;
                min = dur < min ? dur : min;
                max = dur > max ? dur : max;
            }
        }
        CHECK_EQ(stoker_timeline_runs(s.timeline, e, &b, NULL), STOKER_OK);
        CHECK_EQ(number_after(&b, "\"count\": "), count);
        CHECK_EQ(number_after(&b, "\"min_ns\": "), min);
        CHECK_EQ(number_after(&b, "\"max_ns\": "), max);
        int64_t binned = 0;
        char *copy = calloc(b.size + 1, 1);
        memcpy(copy, b.data, b.size);
        for (char *at = strstr(copy, "\"bins\""); (at = strstr(at, "\"count\": ")); at += 9) {
            binned += strtoll(at + 9, NULL, 10);
        }
        CHECK_EQ(binned, count);
        free(copy);
        stoker_blob_free(&b);
    }
    close_side(&s);
}

static void refused(void)
{
    struct side s;
    struct stoker_blob b;
    struct stoker_err err;
    int64_t none = 1000000;
    CHECK(open_side(&s, made));
    int64_t root = s.index.traces[0].roots[stk_track_of(s.index.traces[0].t, 0)];
    const int64_t bad[][3] = {{none, 0, 0},  {-1, 0, 0},    {INT64_MAX, 0, 0},
                              {root, -1, 0}, {root, 53, 0}, {root, 0, -1}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_EQ(stoker_timeline_tile(s.timeline, bad[i][0], (int)bad[i][1], bad[i][2], &b, &err),
                 STOKER_EUSAGE);
        CHECK(err.message[0] && !b.data);
    }
    CHECK_EQ(stoker_timeline_tile(s.timeline, root, 52, INT64_MAX, &b, &err), STOKER_OK);
    CHECK_EQ(b.size, 40); // beyond the end
    stoker_blob_free(&b);
    for (int64_t id = -1; id <= INT64_MAX / 2; id = id < 0 ? 900 : id * 1000 + 7) {
        CHECK_EQ(stoker_timeline_event(s.timeline, id, &b, &err), STOKER_EUSAGE);
        CHECK_EQ(stoker_timeline_runs(s.timeline, id, &b, &err), STOKER_EUSAGE);
        CHECK(err.message[0] && !b.data);
        if (id > INT64_MAX / 2000) {
            break;
        }
    }
    CHECK_EQ(stoker_timeline_area(s.timeline, 5, 5, NULL, 0, &b, &err), STOKER_EUSAGE);
    CHECK_EQ(stoker_timeline_area(s.timeline, 0, 5, &none, 1, &b, &err), STOKER_EUSAGE);
    CHECK_EQ(stoker_timeline_calls(s.timeline, 5, 5, NULL, 0, &b, &err), STOKER_EUSAGE);
    CHECK_EQ(stoker_timeline_calls(s.timeline, 0, 5, &none, 1, &b, &err), STOKER_EUSAGE);
    CHECK(err.message[0] && !b.data);
    CHECK_EQ(stoker_timeline_search(s.timeline, "a", 10001, &b, &err), STOKER_EUSAGE);
    CHECK_EQ(stoker_timeline_search(s.timeline, "/(/", 10, &b, &err), STOKER_EUSAGE);
    CHECK_EQ(stoker_timeline_names(s.timeline, &none, 10001, &b, &err), STOKER_EUSAGE);
    CHECK_EQ(stoker_timeline_tracks(s.timeline, &b, &err), STOKER_OK);
    CHECK(b.data && b.data[b.size] == 0); // text ends
    CHECK(holds(&b, "\"group\": \"device\"") && holds(&b, "\"group\": \"host\""));
    CHECK_EQ(number_after(&b, "\"events\": "), 900);
    stoker_blob_free(&b);
    close_side(&s);
}

int main(int argc, char **argv)
{
    static const char torch[] = "examples/profiles/sim_gpu_torch_input.pt.trace.json.gz";
    static const char keras[] = "examples/profiles/keras_input.xplane.pb.gz";
    check_begin(argc, argv);
    make_profile();
    CHECK_RUN(level_zero);
    CHECK_RUN(items, made);
    CHECK_RUN(several, made);
    CHECK_RUN(counters);
    CHECK_RUN(names);
    CHECK_RUN(links);
    CHECK_RUN(neighbours);
    CHECK_RUN(area_union);
    CHECK_RUN(calls);
    CHECK_RUN(search);
    CHECK_RUN(runs);
    CHECK_RUN(refused);
    CHECK_RUN(tiles_count, made);
    CHECK_RUN(area, made, 3, 9);
    if (access(torch, R_OK) == 0) {
        CHECK_RUN(tiles_count, torch);
        CHECK_RUN(tiles_count, keras);
        CHECK_RUN(items, torch);
        CHECK_RUN(items, keras);
        CHECK_RUN(several, torch);
        CHECK_RUN(area, torch, 0, 16);
        CHECK_RUN(area, torch, 5, 6);
        CHECK_RUN(area, keras, 2, 11);
    } else {
        check_skip("run it in the root of the repository: examples/profiles is not here");
    }
    unlink(made);
    return check_done("unit.api_timeline");
}
