// SPDX-License-Identifier: Apache-2.0
// Reader of Chrome JSON traces: PyTorch's profiler (Kineto, 2021 to today, CUDA and ROCm), traces
// merged from several ranks, TensorFlow's and JAX's trace.json, and others of that shape.
//
// Format: an object with the list `traceEvents`, or that list alone; the Trace Event Format as
// Catapult documents it, Kineto's keys as pytorch/kineto writes them
// (libkineto/src/output_json.cpp). Clock: microseconds with up to 3 (Kineto) or 6 (XProf) decimals
// since an arbitrary base, given by `baseTimeNanoseconds` if present; kept as integer nanoseconds.
// Dropped: events without a usable time (time-invalid) or with an absurd duration
// (duration-absurd); records that cannot be read (json-skipped, truncated). Flows, metadata, async
// events and window spans are counted and not stored.
//
//   chrome_pump.c   blocks of text, workers, order
//   chrome_top.c    shape of the file: where the events are, damage between them
//   chrome_event.c  fields of one event        (chrome_scan.c)
// and what other formats with the same events share, in readers/trace_event:
//   chrome_stage.c  event -> row, track, kind
//   chrome_fix.c    facts known only at the end of the input      (chrome_facts.c)
#include "base/alloc.h"
#include "base/assert.h"
#include "profile/readers/chrome/chrome_run.h"

#define WORKERS_MAX 64

static int chrome_sniff(const uint8_t *head, size_t n, const char **why_not)
{
    STK_ASSERT(head || n == 0);
    const char *p = (const char *)head;
    size_t i = n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (n >= 4 && (memcmp(p, "\xff\xfe{", 3) == 0 || memcmp(p, "\xff\xfe[", 3) == 0 ||
                   memcmp(p, "\xfe\xff\0", 3) == 0)) {
        if (why_not) {
            *why_not = "this is JSON in UTF-16; convert it: iconv -f UTF-16 -t UTF-8";
        }
        return 0;
    }
    i = stk_chrome_skip_space(p, n, i);
    if (i >= n || (p[i] != '{' && p[i] != '[')) {
        return 0;
    }
    if (p[i] == '{' && memmem(p, n, "\"traceEvents\"", 13)) {
        return 2;
    }
    size_t next = stk_chrome_skip_space(p, n, i + 1);
    if (p[i] == '[') {
        return next < n && p[next] == '{' && memmem(p, n, "\"ph\"", 4) ? 2 : 1;
    }
    return next >= n || p[next] == '"' || p[next] == '}' ? 1 : 0;
}

static enum stoker_status check_is_trace(const struct stk_chrome_sink *sink,
                                         const struct stk_chrome_input *in,
                                         const struct stk_chrome_place *place,
                                         struct stoker_err *err)
{
    const struct stk_chrome_counts *total = &sink->total;
    if (place->at == STK_CHROME_AT_FOREIGN) {
        return stk_err_set(err, STOKER_EINPUT, "not a JSON trace: it doesn't begin with { or [");
    }
    if (!place->seen_events && in->damage) {
        return stk_err_set(err, STOKER_EINPUT,
                           "the compressed data is damaged before the first event (%s)",
                           in->damage);
    }
    if (!place->seen_events) {
        return stk_err_set(err, STOKER_EINPUT,
                           "this JSON is not a profile: it has no \"traceEvents\" list%s. Give the "
                           "trace that the profiler wrote (*.pt.trace.json, trace.json.gz)",
                           total->issues[STK_ISSUE_TRUNCATED].count ? ", or ends before it" : "");
    }
    uint64_t read = 0;
    for (size_t i = 0; i < sink->tracks.count; i++) {
        read += ((const struct stk_chrome_sink_track *)stk_vec_at(&sink->tracks, i))->rows;
    }
    for (int i = 0; i < STK_KIND_COUNT; i++) {
        read += total->by_kind[i];
    }
    uint64_t lost = total->issues[STK_ISSUE_JSON_SKIPPED].events_lost +
                    total->issues[STK_ISSUE_TRUNCATED].events_lost;
    if (read > 0 && read == lost + total->without_ph) {
        return stk_err_set(
            err, STOKER_EINPUT, "this JSON is not a profile: no event could be read (%s)",
            total->issues[STK_ISSUE_TRUNCATED].events_lost ? "the file ends inside the first one"
                                                           : "its list has no trace events");
    }
    return STOKER_OK;
}

// Was the list of events read to its closing bracket? The file may end anywhere after it.
static bool has_all_events(const struct stk_chrome_place *end)
{
    return end->seen_events && (end->at == STK_CHROME_AT_KEYS || end->at == STK_CHROME_AT_SKIP ||
                                end->at == STK_CHROME_AT_END);
}

static enum stoker_status chrome_read(const struct stk_read_ctx *ctx, struct stk_trace **out,
                                      struct stoker_err *err)
{
    int count = ctx->threads < 1 ? 1 : ctx->threads > WORKERS_MAX ? WORKERS_MAX : ctx->threads;
    struct stk_build *b = NULL;
    struct stk_chrome_input in = {0};
    struct stk_chrome_place end = {0};
    struct stk_chrome_sink sink = {0};
    enum stoker_status status = stk_build_new(&b, err);
    if (status != STOKER_OK) {
        return status;
    }
    stk_arena_init(&in.arena, 0);
    if (!stk_chrome_sink_init(&sink, b)) {
        status = stk_err_nomem(err);
    }
    if (status == STOKER_OK) {
        status = stk_chrome_pump(ctx, count, &sink, &in, &end, err);
    }
    if (status == STOKER_OK) {
        status = check_is_trace(&sink, &in, &end, err);
    }
    if (status == STOKER_OK) {
        in.has_all_events = has_all_events(&end);
        status = stk_chrome_fix(&sink, &in, err);
    }
    stk_chrome_sink_deinit(&sink);
    stk_arena_deinit(&in.arena);
    if (status == STOKER_OK) {
        status = stk_build_finish(b, ctx->threads, out, err);
    }
    stk_build_free(b);
    return status;
}

// The bytes of the record at `pos`; the caller frees *text.
static enum stoker_status read_record(struct stk_stream *stream, uint64_t pos, char **text,
                                      size_t *len, struct stoker_err *err)
{
    *text = NULL;
    for (size_t size = 4096; size <= STK_CHROME_EVENT_BYTES; size *= 8) {
        char *grown = stk_realloc_array(*text, size + STK_CHROME_PAD, 1);
        size_t got = 0;
        if (!grown) {
            return stk_err_nomem(err);
        }
        *text = grown;
        enum stoker_status status = stk_stream_read_at(stream, pos, grown, size, &got, err);
        if (status != STOKER_OK) {
            return status;
        }
        memset(grown + got, ' ', STK_CHROME_PAD);
        struct stk_chrome_raw raw;
        unsigned repairs;
        enum stk_chrome_result res = got && grown[0] == '{'
                                         ? stk_chrome_event_slow(grown, got, 0, &raw, len, &repairs)
                                         : STK_CHROME_BAD;
        if (res == STK_CHROME_OK) {
            return STOKER_OK;
        }
        if (res == STK_CHROME_BAD || got < size) {
            break;
        }
    }
    return stk_err_set_at(err, STOKER_EINPUT, (int64_t)pos, "no event at this position");
}

static enum stoker_status chrome_args(struct stk_stream *stream, const char *path,
                                      const struct stk_trace *t, uint32_t event, stk_emit_fn *emit,
                                      void *arg, struct stoker_err *err)
{
    (void)path;
    char *text = NULL;
    size_t len = 0;
    if (event >= t->count) {
        return stk_err_set(err, STOKER_EINVAL, "event %u does not exist", event);
    }
    enum stoker_status status = read_record(stream, stk_pos(t, event), &text, &len, err);
    if (status == STOKER_OK && !stk_chrome_flatten(text, len, STK_STR("args."), emit, arg)) {
        status = stk_err_nomem(err);
    }
    stk_free(text);
    return status;
}

static const struct stk_reader_suffix chrome_suffixes[] = {
    {".pt.trace.json", true}, // torch.profiler's trace handler
    {".json", false},
    {NULL, false},
};

const struct stk_reader stk_reader_chrome = {
    .name = "chrome",
    .summary = "PyTorch Kineto, TensorFlow and other Chrome JSON traces, plain, gzip or zstd",
    .files = "trace *.json (PyTorch, Chrome)",
    .suffixes = chrome_suffixes,
    .mistaken = "JSON, but not a trace",
    .folder_rank = 2,
    .same_run_as = "xplane",
    .sniff = chrome_sniff,
    .read = chrome_read,
    .args = chrome_args,
};
