// SPDX-License-Identifier: Apache-2.0
// The log of a build with Ninja (.ninja_log): an event for each output that was made.
//
// Recipe of a reader: src/profile/readers/ninja/ninja.c, X(ninja) in
// src/profile/readers/readers.def, and a seed in tests/fuzz/seeds/ninja/. `stoker formats`,
// docs/formats.md, what is taken from a folder, and the tests that fuzz and damage files come from
// the descriptor at the end.
//
// Format: "# ninja log v5" to v7, then lines "start TAB end TAB mtime TAB output TAB hash"
// (https://ninja-build.org/manual.html, src/build_log.cc). Clock: milliseconds since the build
// began. Lines that are no such record are dropped (field-invalid); a last line without its end is
// dropped too (truncated). Edges that ran at the same time are on sub-rows (overlap-subrow).
#include <string.h>

#include "base/alloc.h"
#include "profile/readers/reader.h"

#define MAGIC "# ninja log v"
#define LINE_MAX_BYTES ((size_t)64 << 10)
#define MS INT64_C(1000000)
#define TIME_MAX_MS (INT64_MAX / 4 / MS)

enum { START, END, MTIME, OUTPUT, HASH, FIELDS };

struct reading {
    const struct stk_read_ctx *ctx;
    struct stk_build *build;
    struct stk_shard *shard;
    uint32_t track;
    uint64_t pos; // of bytes[0] in the input
    size_t used;
    char bytes[LINE_MAX_BYTES];
};

static int ninja_sniff(const uint8_t *head, size_t n, const char **why_not)
{
    (void)why_not;
    return stk_str_starts((struct stk_str){(const char *)head, n}, STK_STR(MAGIC)) ? 2 : 0;
}

// The fields of a line without its end. False: there are more or fewer.
static bool split(struct stk_str line, struct stk_str fields[FIELDS])
{
    for (int i = 0; i < FIELDS; i++) {
        const char *tab = memchr(line.p, '\t', line.n);
        if (!tab != (i == FIELDS - 1)) {
            return false;
        }
        size_t n = tab ? (size_t)(tab - line.p) : line.n;
        fields[i] = (struct stk_str){line.p, n};
        line = (struct stk_str){line.p + n + (tab != NULL), line.n - n - (tab != NULL)};
    }
    return true;
}

// Digits up to the longest time that fits; else -1.
static int64_t milliseconds(struct stk_str s)
{
    int64_t value = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || value > TIME_MAX_MS / 10 - 1) {
            return -1;
        }
        value = value * 10 + (s.p[i] - '0');
    }
    return s.n ? value : -1;
}

static void take_line(struct reading *r, struct stk_str line, uint64_t pos)
{
    struct stk_str fields[FIELDS];
    if (!line.n || line.p[0] == '#') {
        return;
    }
    bool is_record = split(line, fields);
    int64_t start = is_record ? milliseconds(fields[START]) : -1;
    int64_t end = is_record ? milliseconds(fields[END]) : -1;
    if (start < 0 || end < start || !fields[OUTPUT].n) {
        stk_shard_count(r->shard, STK_KIND_OTHER, 1); // read, and lost: never silently
        stk_shard_issue(r->shard, STK_ISSUE_FIELD_INVALID, 1, 1, (int64_t)pos,
                        STK_STR("a line is no record of an output"));
        return;
    }
    struct stk_row row = {.start_ns = start * MS,
                          .dur_ns = (end - start) * MS,
                          .pos = pos,
                          .name = stk_shard_intern(r->shard, fields[OUTPUT].p, fields[OUTPUT].n),
                          .track = r->track,
                          .kind = STK_KIND_HOST_OP};
    stk_shard_add(r->shard, &row, NULL); // counts itself as read
}

// Hands on the whole lines among the bytes and keeps the rest.
static void take_lines(struct reading *r)
{
    size_t at = 0;
    const char *end;
    while ((end = memchr(r->bytes + at, '\n', r->used - at)) != NULL) {
        size_t n = (size_t)(end - r->bytes) - at;
        take_line(r, (struct stk_str){r->bytes + at, n}, r->pos + at);
        at += n + 1;
    }
    if (at == 0 && r->used == sizeof r->bytes) { // longer than any line: passed over piece by piece
        take_line(r, (struct stk_str){r->bytes, r->used}, r->pos);
        at = r->used;
    }
    memmove(r->bytes, r->bytes + at, r->used - at);
    r->used -= at;
    r->pos += at;
}

static enum stoker_status read_all(struct reading *r, struct stoker_err *err)
{
    const struct stk_progress *p = r->ctx->progress;
    struct stk_stream *stream = r->ctx->stream;
    size_t got = 1;
    while (got && !stk_shard_failed(r->shard)) {
        enum stoker_status s =
            stk_stream_read(stream, r->bytes + r->used, sizeof r->bytes - r->used, &got, err);
        if (s != STOKER_OK) {
            return s;
        }
        r->used += got;
        take_lines(r);
        if (p && p->update &&
            p->update(p->arg, stk_stream_consumed(stream), stk_stream_size(stream))) {
            return stk_err_set(err, STOKER_EINTR, "interrupted");
        }
    }
    if (r->used) {
        stk_shard_issue(r->shard, STK_ISSUE_TRUNCATED, 1, 0, (int64_t)r->pos, STK_STR(""));
    }
    if (stk_stream_damage(stream)) {
        stk_shard_issue(r->shard, STK_ISSUE_COMPRESSION_DAMAGED, 1, 0, (int64_t)r->pos,
                        stk_str_from(stk_stream_damage(stream)));
    }
    return STOKER_OK;
}

static enum stoker_status ninja_read(const struct stk_read_ctx *ctx, struct stk_trace **out,
                                     struct stoker_err *err)
{
    static const struct stk_track_key key = {
        .kind = STK_TRACK_THREAD, .process = 0, .device = -1, .id = 1};
    struct reading *r = stk_alloc_zero(1, sizeof *r);
    *out = NULL;
    if (!r) {
        return stk_err_nomem(err);
    }
    r->ctx = ctx;
    enum stoker_status s = stk_build_new(&r->build, err);
    if (s == STOKER_OK) {
        r->shard = stk_build_shard(r->build);
        s = r->shard ? STOKER_OK : stk_err_nomem(err);
    }
    if (s == STOKER_OK) {
        r->track = stk_shard_track(r->shard, &key);
        stk_build_track_name(r->build, &key, STK_STR("build"));
        stk_build_facts(r->build, &(struct stk_build_facts){.format = "ninja",
                                                            .producer = STK_STR("Ninja"),
                                                            .rank = -1,
                                                            .world_size = -1});
        s = read_all(r, err);
    }
    s = s == STOKER_OK ? stk_build_finish(r->build, ctx->threads, out, err) : s;
    stk_build_free(r->build);
    stk_free(r);
    return s;
}

// What is not kept in memory is read again, at the event's place in the file.
static enum stoker_status
ninja_args(struct stk_stream *stream, const char *path, const struct stk_trace *t, uint32_t event,
           void (*emit)(void *arg, struct stk_str key, struct stk_str value), void *arg,
           struct stoker_err *err)
{
    char bytes[4096];
    size_t got;
    struct stk_str fields[FIELDS];
    (void)path;
    enum stoker_status s =
        stk_stream_read_at(stream, stk_pos(t, event), bytes, sizeof bytes, &got, err);
    const char *end = s == STOKER_OK ? memchr(bytes, '\n', got) : NULL;
    if (end && split((struct stk_str){bytes, (size_t)(end - bytes)}, fields)) {
        emit(arg, STK_STR("mtime_ns"), fields[MTIME]);
        emit(arg, STK_STR("hash"), fields[HASH]);
    }
    return s;
}

static const struct stk_reader_suffix ninja_suffixes[] = {{".ninja_log", true}, {NULL, false}};

const struct stk_reader stk_reader_ninja = {
    .name = "ninja",
    .summary = "log of a build with Ninja",
    .files = "*.ninja_log (Ninja)",
    .suffixes = ninja_suffixes,
    .mistaken = "not a log of Ninja",
    .folder_rank = 9,
    .sniff = ninja_sniff,
    .read = ninja_read,
    .args = ninja_args,
};
