// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of the exports. A profile is made of choices and written in the format that
// the first byte says, or now and then in every one: what stoker reads again (chrome, xspace) holds
// the same events and leads to the same verdict; the CSV has a row for each event; the Perfetto
// file is well-formed protobuf; the times of stacks sum to what the events of each track cover; the
// SQLite file, which is written to a disk, has a row for each event.
#include "fuzz_profile.h"
#include "fuzz_sqlite.h"

#include "base/text.h"
#include "profile/model/verdict/verdict.h"
#include "profile/readers/reader.h"
#include "stoker/export.h"

enum { EXPORT_MAX = 1 << 22 };

// ---- the same events, the same verdict ----

struct event {
    int64_t start_ns, dur_ns;
    struct stk_str name;
    uint8_t kind;
};

static int by_all(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    if (a->start_ns != b->start_ns) {
        return a->start_ns < b->start_ns ? -1 : 1;
    }
    if (a->dur_ns != b->dur_ns) {
        return a->dur_ns < b->dur_ns ? -1 : 1;
    }
    int order = memcmp(a->name.p, b->name.p, a->name.n < b->name.n ? a->name.n : b->name.n);
    order = order ? order : (a->name.n > b->name.n) - (a->name.n < b->name.n);
    return order ? order : (a->kind > b->kind) - (a->kind < b->kind);
}

struct seen {
    struct stk_trace *trace;
    struct event *events;
    struct stk_arena arena;
    struct stk_verdict verdict;
    bool has_verdict;
};

static void see(struct seen *s, const char *path)
{
    struct stoker_err err;
    struct stk_rank_sum **ranks;
    struct stk_run_sum *run;
    struct stk_select everything = {0};
    uint32_t count;
    stk_err_init(&err);
    stk_arena_init(&s->arena, 0);
    if (stk_reader_read_path(path, 1, NULL, &s->trace, &err) != STOKER_OK) {
        fprintf(stderr, "%s\n", err.message);
        FUZZ_REQUIRE(!"what was written is read");
    }
    s->events = malloc((s->trace->count + 1) * sizeof *s->events);
    FUZZ_REQUIRE(s->events);
    for (uint32_t i = 0; i < s->trace->count; i++) {
        s->events[i] = (struct event){s->trace->start_ns[i], stk_dur_ns(s->trace, i),
                                      stk_strpool_get(&s->trace->strings, s->trace->name[i]),
                                      s->trace->kind[i]};
    }
    qsort(s->events, s->trace->count, sizeof *s->events, by_all);
    s->has_verdict =
        stk_model_summarize(s->trace, &everything, &s->arena, &ranks, &count, &err) == STOKER_OK &&
        stk_model_merge(ranks, count, &s->arena, &run, &err) == STOKER_OK &&
        stk_verdict_decide(run, &s->arena, &s->verdict, &err) == STOKER_OK;
}

static void forget(struct seen *s)
{
    free(s->events);
    stk_trace_free(s->trace);
    stk_arena_deinit(&s->arena);
}

static void print_event(const char *what, const struct event *e)
{
    fprintf(stderr, "%s %" PRId64 " + %" PRId64 " ns %s '%.*s'\n", what, e->start_ns, e->dur_ns,
            stk_kind_key((enum stk_kind)e->kind), (int)e->name.n, e->name.p);
}

static void compare(const struct seen *a, const struct seen *b)
{
    uint32_t n = a->trace->count < b->trace->count ? a->trace->count : b->trace->count;
    for (uint32_t i = 0; i < n; i++) {
        if (by_all(&a->events[i], &b->events[i]) != 0) {
            print_event("was", &a->events[i]);
            print_event("is", &b->events[i]);
            FUZZ_REQUIRE(!"the same events");
        }
    }
    FUZZ_REQUIRE(a->trace->count == b->trace->count);
    FUZZ_REQUIRE(a->has_verdict == b->has_verdict);
    if (a->has_verdict && strcmp(a->verdict.sentence, b->verdict.sentence) != 0) {
        fprintf(stderr, "was %s\nis %s\n", a->verdict.sentence, b->verdict.sentence);
        FUZZ_REQUIRE(!"the same verdict");
    }
}

// ---- the formats ----

static struct {
    uint8_t bytes[EXPORT_MAX];
    size_t n;
} output;

static int take(void *arg, const char *bytes, size_t n)
{
    (void)arg;
    FUZZ_REQUIRE(output.n + n < EXPORT_MAX);
    memcpy(output.bytes + output.n, bytes, n);
    output.n += n;
    return 0;
}

static void check_again(const struct seen *before)
{
    struct seen after;
    see(&after, fuzz_put(FUZZ_OUTPUT, output.bytes, output.n));
    compare(before, &after);
    forget(&after);
}

static void check_csv(uint64_t events)
{
    uint64_t lines = 0;
    bool is_quoted = false;
    for (size_t i = 0; i < output.n; i++) {
        is_quoted ^= output.bytes[i] == '"';
        lines += !is_quoted && output.bytes[i] == '\n';
    }
    FUZZ_REQUIRE(!is_quoted && lines == events + 1);
}

static size_t varint(size_t *at)
{
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        FUZZ_REQUIRE(*at < output.n && shift < 64);
        value |= (uint64_t)(output.bytes[*at] & 127) << shift;
        if (output.bytes[(*at)++] < 128) {
            return value;
        }
    }
}

// A trace is packets, and nothing else.
static void check_packets(void)
{
    for (size_t at = 0; at < output.n;) {
        FUZZ_REQUIRE(output.bytes[at++] == (1 << 3 | 2));
        size_t n = varint(&at);
        FUZZ_REQUIRE(n <= output.n - at);
        at += n;
    }
}

// Time that the events of threads (0) and streams (1) cover, track by track.
static void sum_covered(const struct stk_trace *t, int64_t sums[2])
{
    for (uint32_t k = 0; k < t->track_count; k++) {
        const struct stk_track *track = &t->tracks[k];
        bool on_device = track->kind == STK_TRACK_STREAM;
        int64_t end_ns = INT64_MIN;
        for (uint32_t e = track->first; e < track->first + track->count; e++) {
            if (on_device ? !stk_kind_is_device_work(t->kind[e])
                          : track->kind != STK_TRACK_THREAD) {
                continue;
            }
            int64_t start_ns = t->start_ns[e] > end_ns ? t->start_ns[e] : end_ns;
            if (stk_end_ns(t, e) > start_ns) {
                sums[on_device] += stk_end_ns(t, e) - start_ns;
                end_ns = stk_end_ns(t, e);
            }
        }
    }
}

// "host;...;... 12": no line holds anything else.
static void sum_collapsed(int64_t sums[2])
{
    for (size_t at = 0; at < output.n;) {
        const char *line = (const char *)output.bytes + at;
        const char *end = memchr(line, '\n', output.n - at);
        FUZZ_REQUIRE(end);
        const char *space = memrchr(line, ' ', (size_t)(end - line));
        struct stk_str text = {line, (size_t)(end - line)};
        bool on_device = stk_str_starts(text, STK_STR("device;"));
        int64_t ns;
        FUZZ_REQUIRE(space && (on_device || stk_str_starts(text, STK_STR("host;"))));
        FUZZ_REQUIRE(stk_str_to_i64((struct stk_str){space + 1, (size_t)(end - space - 1)}, &ns));
        FUZZ_REQUIRE(ns > 0);
        sums[on_device] += ns;
        at += text.n + 1;
    }
}

// Values of the samples: the second field of field 2, a packed list of two.
static void sum_pprof(int64_t sums[2])
{
    for (size_t at = 0; at < output.n;) {
        uint64_t tag = varint(&at), n = varint(&at);
        size_t end = at + ((tag & 7) == 2 ? n : 0);
        FUZZ_REQUIRE(((tag & 7) == 2 || (tag & 7) == 0) && end <= output.n);
        while (tag == (2 << 3 | 2) && at < end) {
            uint64_t field = varint(&at);
            size_t inner_end = varint(&at);
            inner_end += at;
            FUZZ_REQUIRE((field & 7) == 2 && inner_end <= end);
            if (field == (2 << 3 | 2)) {
                sums[0] += (int64_t)varint(&at);
                sums[1] += (int64_t)varint(&at);
                FUZZ_REQUIRE(at == inner_end);
            }
            at = inner_end;
        }
        at = end;
    }
}

// Ends of the profiles, each named after whose time it holds.
static void sum_speedscope(int64_t sums[2])
{
    static const char name[] = "{\"type\":\"sampled\",\"name\":\"", total[] = "\"endValue\":";
    output.bytes[output.n] = 0; // take() leaves room
    const char *at = (const char *)output.bytes;
    while ((at = strstr(at, name)) != NULL) {
        at += sizeof name - 1;
        bool on_device = strncmp(at, "device: ", 8) == 0;
        FUZZ_REQUIRE((on_device || strncmp(at, "host: ", 6) == 0) && strstr(at, total));
        sums[on_device] += strtoll(strstr(at, total) + sizeof total - 1, NULL, 10);
    }
}

static void check_stacks(const char *format, const struct stk_trace *t)
{
    int64_t want[2] = {0, 0}, got[2] = {0, 0};
    sum_covered(t, want);
    if (strcmp(format, "collapsed") == 0) {
        sum_collapsed(got);
    } else if (strcmp(format, "pprof") == 0) {
        sum_pprof(got);
    } else {
        sum_speedscope(got);
    }
    FUZZ_REQUIRE(got[0] == want[0] && got[1] == want[1]);
}

static void check_sqlite(struct stoker_export *x, uint64_t events)
{
    char path[] = "/tmp/stoker-fuzz-XXXXXX";
    struct stoker_err err;
    sqlite3 *db;
    sqlite3_stmt *stmt;
    int fd = mkstemp(path);
    FUZZ_REQUIRE(fd >= 0);
    FUZZ_REQUIRE(stoker_export_write(x, "sqlite", NULL, path, NULL, NULL, &err) == STOKER_OK);
    FUZZ_REQUIRE(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    FUZZ_REQUIRE(sqlite3_prepare_v2(db, "SELECT count(*) FROM events", -1, &stmt, NULL) ==
                     SQLITE_OK &&
                 sqlite3_step(stmt) == SQLITE_ROW);
    FUZZ_REQUIRE((uint64_t)sqlite3_column_int64(stmt, 0) == events);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    close(fd);
    unlink(path);
}

// One format of those that are there, or every one; with SQLite's file, which takes longest, for
// one length in eight, since libFuzzer likes such inputs.
enum { IN_ALL = 252, WITH_SQLITE = 255, SQLITE_LENGTH = 6 };

static void export_some(struct stoker_export *x, const struct seen *before, uint8_t how,
                        size_t size)
{
    struct stoker_export_format f;
    struct stoker_export_counts counts;
    struct stoker_err err;
    size_t formats = 0;
    while (stoker_export_format(formats, &f)) {
        formats++;
    }
    for (size_t i = 0; stoker_export_format(i, &f); i++) {
        if (f.needs_file || (how < IN_ALL && how % formats != i)) {
            continue;
        }
        output.n = 0;
        FUZZ_REQUIRE(stoker_export_write(x, f.name, NULL, NULL, take, NULL, &err) == STOKER_OK);
        stoker_export_counts(x, &counts);
        FUZZ_REQUIRE(counts.bytes == output.n &&
                     (f.has_stacks ? counts.events <= before->trace->count
                                   : counts.events == before->trace->count));
        if (f.has_stacks) {
            check_stacks(f.name, before->trace);
        } else if (strcmp(f.name, "csv") == 0) {
            check_csv(counts.events);
        } else if (strcmp(f.name, "perfetto") == 0) {
            check_packets();
        } else {
            check_again(before);
        }
    }
    if (how == WITH_SQLITE && size % 8 == SQLITE_LENGTH) {
        check_sqlite(x, before->trace->count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_choices c = {data, size};
    struct stoker_why_options options;
    struct stoker_export *x;
    struct stoker_err err;
    struct seen before;
    uint8_t how = fuzz_byte(&c);
    const char *path = make_profile(&c);
    stoker_why_options_default(&options);
    options.threads = 1;
    see(&before, path);
    if (stoker_export_open(&path, 1, &options, &x, &err) == STOKER_OK) {
        export_some(x, &before, how, size);
        stoker_export_free(x);
    } else {
        FUZZ_REQUIRE(err.message[0]);
    }
    forget(&before);
    return 0;
}

FUZZ_MAIN(fuzz_once, 6000)
