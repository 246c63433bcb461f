// SPDX-License-Identifier: Apache-2.0
// Reader of Perfetto's protobuf traces: what PyTorch writes as *.pftrace (torch.profiler's
// export_chrome_trace in newer releases), files of `stoker export perfetto`, without loss, and any
// trace with slices of hosts and devices (TrackEvent, GpuRenderStageEvent).
//
// Format: a stream of TracePacket messages (protos/perfetto/trace in google/perfetto, versions of
// 2018 to 2026). Clock: nanoseconds of the trace's primary clock, other clocks by the snapshots in
// the file. If a snapshot also has the time of day, that is the base. Events become those of
// Kineto's JSON of the same run, so readers/trace_event interprets both.
// Dropped: ends of slices without a begin and events without a time (time-invalid), packets whose
// sequence lost what they refer to (events-dropped), unreadable messages (message-invalid),
// everything after the place where the file ends or is damaged (truncated). Packets of other data
// sources (scheduler, power, heap, logs) are skipped and counted (packets-passed).
//
// Packets come in any order, so durations are known at the end only: until then an event takes
// about 80 bytes and each half of a slice 16, plus the texts, which are kept once.
#include "base/alloc.h"
#include "base/assert.h"
#include "profile/readers/perfetto/perfetto_run.h"

#define READ_BYTES ((size_t)1 << 20)
#define PACKET_MAX ((uint64_t)64 << 20) // longer ones are skipped

struct intake {
    struct stk_pf *in;
    uint8_t *p; // bytes [done, used) are there, STK_PF_PAD readable ones after them
    size_t done, used, size;
    uint64_t pos;  // of p[done] in the input
    uint64_t skip; // bytes to skip
    bool at_end;
};

static int perfetto_sniff(const uint8_t *head, size_t n, const char **why_not)
{
    STK_ASSERT(head || n == 0);
    (void)why_not;
    struct stk_pb_cursor c = {head, head + n};
    struct stk_pb_field f;
    int packets = 0, known = 0;
    while (packets < 8) {
        uint64_t length;
        if (c.end - c.p < 2 || *c.p != (1 << 3 | STK_PB_LEN)) {
            return !known ? 0 : c.p == c.end ? 2 : 1;
        }
        c.p++;
        if (stk_pb_varint(&c, &length) != STK_PB_FIELD) {
            return 0;
        }
        bool is_whole = length <= (uint64_t)(c.end - c.p);
        struct stk_pb_cursor packet = {c.p, is_whole ? c.p + length : c.end};
        enum stk_pb_step step;
        while ((step = stk_pb_next(&packet, &f)) == STK_PB_FIELD) {
            bool is_message = f.wire == STK_PB_LEN;
            if (f.number <= 7 && f.number != 3 && !is_message) { // planes of an XSpace have these
                return 0;
            }
            known += !is_message && (f.number == 8 || f.number == 10 || f.number == 13);
            known += is_message &&
                     (f.number == 11 || f.number == 50 || f.number == 53 || f.number == 60);
        }
        if (step == STK_PB_BAD || (step == STK_PB_CUT && is_whole)) {
            return 0;
        }
        if (!is_whole) {
            return known ? 2 : 0;
        }
        c.p += length;
        packets++;
    }
    return known >= packets ? 2 : known ? 1 : 0;
}

// ---- bytes to packets ----

static bool make_room(struct intake *k, size_t want)
{
    STK_ASSERT(k->done <= k->used && k->used <= k->size);
    if (k->done) {
        memmove(k->p, k->p + k->done, k->used - k->done);
        k->used -= k->done;
        k->done = 0;
    }
    if (k->size - k->used >= want) {
        return true;
    }
    size_t size = k->used + (want > k->used ? want : k->used); // grows with what arrives
    uint8_t *grown = stk_realloc_array(k->p, size + STK_PF_PAD, 1);
    if (!grown) {
        return false;
    }
    k->p = grown;
    k->size = size;
    return true;
}

static enum stoker_status read_more(struct intake *k, struct stoker_err *err)
{
    const struct stk_read_ctx *ctx = k->in->ctx;
    const struct stk_progress *progress = ctx->progress;
    size_t got = 0;
    stk_chrome_sink_take_counts(&k->in->sink, &k->in->stager); // issues quote these bytes
    if (!make_room(k, READ_BYTES)) {
        return stk_err_nomem(err);
    }
    enum stoker_status status =
        stk_stream_read(ctx->stream, k->p + k->used, k->size - k->used, &got, err);
    if (status != STOKER_OK) {
        return status;
    }
    k->used += got;
    STK_ASSERT(k->used <= k->size);
    k->at_end = got == 0;
    memset(k->p + k->used, 0, STK_PF_PAD);
    if (progress && progress->update &&
        progress->update(progress->arg, stk_stream_consumed(ctx->stream),
                         stk_stream_size(ctx->stream))) {
        return stk_err_set(err, STOKER_EINTR, "interrupted");
    }
    return STOKER_OK;
}

static void pass(struct intake *k, size_t n)
{
    STK_ASSERT(n <= k->used - k->done);
    k->done += n;
    k->pos += n;
}

enum took { TOOK_FIELD, TOOK_NEEDS_MORE, TOOK_BAD };

// The field at k->done, if it is complete.
static enum took take_field(struct intake *k)
{
    struct stk_pb_cursor c = {k->p + k->done, k->p + k->used};
    const uint8_t *start = c.p;
    struct stk_pb_field f = {0};
    uint64_t tag;
    enum stk_pb_step step = stk_pb_varint(&c, &tag);
    if (step == STK_PB_FIELD && tag >> 3 == 1 && (tag & 7) == STK_PB_LEN) {
        step = stk_pb_varint(&c, &f.value);
        if (step == STK_PB_FIELD && f.value > PACKET_MAX) {
            k->in->pos = k->pos;
            stk_pf_issue(k->in, STK_ISSUE_LIMIT_REACHED, 1, STK_STR("a packet above 64 MiB"));
            k->in->stager.counts.by_kind[STK_KIND_OTHER]++;
            k->skip = f.value;
            pass(k, (size_t)(c.p - start));
            return TOOK_FIELD;
        }
        if (step == STK_PB_FIELD && f.value > (uint64_t)(c.end - c.p)) {
            return TOOK_NEEDS_MORE;
        }
        if (step == STK_PB_FIELD) {
            k->in->pos = k->pos;
            stk_pf_packet(k->in, c.p, (size_t)f.value);
            pass(k, (size_t)(c.p - start) + (size_t)f.value);
            return TOOK_FIELD;
        }
    } else if (step == STK_PB_FIELD) {
        c.p = start;
        step = stk_pb_next(&c, &f);
        if (step == STK_PB_FIELD) {
            pass(k, (size_t)(c.p - start));
            return TOOK_FIELD;
        }
    }
    return step == STK_PB_CUT || step == STK_PB_END ? TOOK_NEEDS_MORE : TOOK_BAD;
}

static void note_end(struct intake *k, enum stk_issue_id issue, const char *what)
{
    k->in->pos = k->pos;
    stk_pf_issue(k->in, issue, 1, stk_str_from(what));
    k->in->stager.counts.by_kind[STK_KIND_OTHER]++;
}

static enum stoker_status take_all(struct intake *k, struct stoker_err *err)
{
    while (!k->in->failed && !k->in->stager.failed) {
        if (k->skip) {
            size_t n = k->skip < k->used - k->done ? (size_t)k->skip : k->used - k->done;
            pass(k, n);
            k->skip -= n;
        }
        enum took took = k->done == k->used ? TOOK_NEEDS_MORE : take_field(k);
        if (took == TOOK_BAD) {
            note_end(k, STK_ISSUE_MESSAGE_INVALID, "the rest is not a valid packet");
            stk_build_cut(k->in->sink.build, STK_CUT_SOMEWHERE, INT64_MAX);
            return STOKER_OK;
        }
        if (took == TOOK_NEEDS_MORE && k->at_end) {
            if (k->done < k->used || k->skip) {
                note_end(k, STK_ISSUE_TRUNCATED, "");
            }
            return STOKER_OK;
        }
        if (took == TOOK_NEEDS_MORE) {
            enum stoker_status status = read_more(k, err);
            if (status != STOKER_OK) {
                return status;
            }
        }
    }
    return stk_err_nomem(err);
}

// ---- the end ----

// Names from descriptors, as the JSON's metadata.
static void put_names(struct stk_pf *in)
{
    for (size_t i = 0; i < in->tracks.count; i++) {
        const struct stk_pf_track *t = stk_vec_at(&in->tracks, i);
        if (!t->name || t->is_counter || (!t->is_process && !t->is_thread)) {
            continue;
        }
        struct stk_chrome_meta *m = stk_vec_push(&in->stager.metas);
        if (!m) {
            in->failed = true;
            return;
        }
        *m = (struct stk_chrome_meta){.type = t->is_thread ? STK_CHROME_THREAD_NAME
                                                           : STK_CHROME_PROCESS_NAME,
                                      .pid = {{"", 0}, t->pid},
                                      .tid = {{"", 0}, t->is_thread ? t->tid : 0},
                                      .label = stk_pf_text(in, t->name)};
    }
}

static enum stoker_status finish(struct stk_pf *in, uint64_t bytes, struct stoker_err *err)
{
    struct stk_chrome_input input = {.bytes = bytes,
                                     .damage = stk_stream_damage(in->ctx->stream),
                                     .format = "perfetto",
                                     .clock_base_ns = in->has_wall_clock ? in->wall_ns : 0};
    if (in->packets == 0 || (in->events == 0 && input.damage)) {
        return stk_err_set(err, STOKER_EINPUT,
                           "this is not a Perfetto trace: no packet can be read%s%s",
                           input.damage ? ": " : "", input.damage ? input.damage : "");
    }
    stk_pf_join(in);
    if (!in->own) {
        put_names(in);
    }
    stk_chrome_sink_take(&in->sink, &in->stager);
    if (in->failed || in->sink.failed) {
        return stk_err_nomem(err);
    }
    if (in->own) {
        stk_pf_own_finish(in, &input);
        return in->failed ? stk_err_nomem(err) : STOKER_OK;
    }
    return stk_chrome_fix(&in->sink, &input, err);
}

static enum stoker_status perfetto_read(const struct stk_read_ctx *ctx, struct stk_trace **out,
                                        struct stoker_err *err)
{
    struct stk_build *b = NULL;
    struct stk_pf in = {0};
    enum stoker_status status = stk_build_new(&b, err);
    if (status != STOKER_OK) {
        return status;
    }
    struct intake k = {.in = &in};
    if (!stk_pf_init(&in, ctx, b)) {
        status = stk_err_nomem(err);
    }
    if (status == STOKER_OK) {
        status = take_all(&k, err);
    }
    if (status == STOKER_OK) {
        stk_chrome_sink_take_counts(&in.sink, &in.stager); // issues quote these bytes
    }
    stk_free(k.p);
    if (status == STOKER_OK) {
        status = finish(&in, k.pos, err);
    }
    stk_pf_deinit(&in);
    if (status == STOKER_OK) {
        status = stk_build_finish(b, ctx->threads, out, err);
    }
    stk_build_free(b);
    return status;
}

static const struct stk_reader_suffix perfetto_suffixes[] = {
    {".pftrace", true},
    {".perfetto-trace", true},
    {NULL, false},
};

const struct stk_reader stk_reader_perfetto = {
    .name = "perfetto",
    .summary =
        "Perfetto's protobuf traces: PyTorch's *.pftrace, stoker's own export, others with GPU "
        "slices; plain, gzip or zstd",
    .files = "*.pftrace (Perfetto, PyTorch)",
    .suffixes = perfetto_suffixes,
    .mistaken = "not a Perfetto trace",
    .folder_rank = 3,
    .same_run_as = "chrome",
    .sniff = perfetto_sniff,
    .read = perfetto_read,
    .args_open = stk_pf_args_open,
    .args_next = stk_pf_args_next,
    .args_close = stk_pf_args_close,
};
