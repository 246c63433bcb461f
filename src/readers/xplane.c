// SPDX-License-Identifier: Apache-2.0
// Reader of XSpace profiles: `*.xplane.pb`, written by TensorFlow (2.2 and later), JAX and XLA.
//
// Format: one protobuf message (tsl/profiler/protobuf/xplane.proto in openxla/xla): planes (a
// device or a host), their lines (stream, thread), their events, with names and stats in maps per
// plane. Seen: TensorFlow 2.3 to 2.21, JAX 0.4 to 0.10, NVIDIA, AMD, TPU v6e, CPU only. Clock:
// line.timestamp_ns + offset_ps; after collection relative to the session, whose Unix time is in
// the plane `Task Environment`. Rounded to nanoseconds once, start and end each. Method: each plane
// is scanned first (maps and places of lines; lines are passed over by length), then events are
// decoded in parallel. A plain file is read in place, whatever its size; compressed input and pipes
// are held in memory one plane at a time. Device work: GPU streams, and the line `XLA Ops` of a
// TPU. Lines that the analyser derives are kept as hints (derived-ignored), accelerators not known
// as other rows (unknown-accelerator). Dropped: events with malformed messages (message-invalid) or
// impossible times (time-invalid); what lies behind the end of a cut file (truncated). Events
// without a place in time (aggregated counts) are counted, not stored.
#include "readers/xplane_parts.h"

#include <stdio.h>

#include "base/alloc.h"
#include "readers/xplane_decode.h"
#include "store/names.h"

#define SPACE_PLANES 1
#define SPACE_ERRORS 2
#define SPACE_WARNINGS 3
#define SPACE_HOSTNAMES 4

#define MAX_PLANES ((size_t)1 << 20)
#define MAX_LINES ((size_t)1 << 26)
// Largest plane held in memory, which only compressed input and pipes need.
#define MAX_HELD_BYTES ((uint64_t)32 << 30)
#define HOLD_STEP_BYTES ((size_t)8 << 20)
#define TEXT_MAX_BYTES ((uint64_t)4096)

struct named_device {
    char *name;
    size_t length;
    int64_t device;
};

struct reading {
    const struct stk_read_ctx *ctx;
    struct stk_build *build;
    struct stk_shard *notes; // issues of the structure
    struct stk_arena arena;  // strings of the planes at hand
    struct stk_arena kept;   // strings needed to the end
    struct stk_vec planes;   // struct stk_xp_plane: those at hand
    struct stk_vec lines;    // struct stk_xp_line: theirs
    struct stk_vec devices;  // struct named_device
    struct stk_pb_source source;
    struct stk_xp_trouble trouble;
    uint64_t plane_count, event_lines, done_bytes, total_bytes;
    int64_t min_timestamp_ns, profile_start_ns;
    struct stk_str host, jax_version;
    uint32_t framework_hint;
    struct stk_err *err;
};

static enum stk_status no_memory(struct reading *r)
{
    return stk_err_nomem(r->err);
}

// A text of the profiler itself, up to 4 KiB of it.
static enum stk_status read_text(struct reading *r, const char *bytes, size_t n, uint32_t field,
                                 uint64_t offset)
{
    struct stk_str text = {bytes, n < TEXT_MAX_BYTES ? n : TEXT_MAX_BYTES};
    if (field == SPACE_HOSTNAMES) {
        if (r->host.n || !n)
            return STK_OK;
        char *host = stk_arena_strndup(&r->kept, text.p, text.n);
        if (!host)
            return no_memory(r);
        r->host = (struct stk_str){host, text.n};
        return STK_OK;
    }
    stk_shard_issue(r->notes,
                    field == SPACE_ERRORS ? STK_ISSUE_PROFILER_ERROR : STK_ISSUE_PROFILER_WARNING,
                    1, 0, (int64_t)offset, text);
    if (stk_str_contains_nocase(text, STK_STR("dropped")))
        stk_shard_issue(r->notes, STK_ISSUE_EVENTS_DROPPED, 1, 0, (int64_t)offset, text);
    return STK_OK;
}

// The number of a device in the trace. GPUs and TPUs go by their own; what stoker does not know
// gets its own if that is free, else the next one from 1000 on.
static enum stk_status number_device(struct reading *r, struct stk_xp_plane *plane)
{
    plane->device = -1;
    if (plane->kind != STK_XP_PLANE_GPU && plane->kind != STK_XP_PLANE_TPU &&
        plane->kind != STK_XP_PLANE_UNKNOWN_DEVICE)
        return STK_OK;
    int64_t want = plane->ordinal;
    bool taken = want < 0;
    for (size_t i = 0; i < r->devices.count; i++) {
        const struct named_device *d = stk_vec_at(&r->devices, i);
        if (stk_str_eq((struct stk_str){d->name, d->length}, plane->name)) {
            plane->device = d->device;
            return STK_OK;
        }
        taken |= d->device == want;
    }
    struct named_device *d = stk_vec_push(&r->devices);
    char *name = d ? stk_arena_strndup(&r->kept, plane->name.p, plane->name.n) : NULL;
    if (!name)
        return no_memory(r);
    *d =
        (struct named_device){name, plane->name.n, taken ? 1000 + (int64_t)r->devices.count : want};
    plane->device = d->device;
    return STK_OK;
}

static enum stk_status add_plane(struct reading *r, struct stk_pb_walk *walk, uint64_t offset,
                                 uint64_t size, bool cut)
{
    struct stk_xp_plane *plane = stk_vec_push(&r->planes);
    if (!plane)
        return no_memory(r);
    plane->index = (uint32_t)(r->planes.count - 1);
    r->plane_count++;
    size_t first = r->lines.count;
    enum stk_status status = stk_xp_plane_scan(plane, walk, offset, size, cut, &r->arena, &r->lines,
                                               &r->trouble, r->err);
    if (status == STK_OK)
        status = number_device(r, plane);
    if (status != STK_OK)
        return status;
    for (size_t i = first; i < r->lines.count; i++) {
        const struct stk_xp_line *line = stk_vec_at(&r->lines, i);
        if (line->events >= line->offset + line->size)
            continue;
        if (!r->event_lines++ || line->timestamp_ns < r->min_timestamp_ns)
            r->min_timestamp_ns = line->timestamp_ns;
    }
    if (plane->profile_start_ns > 0)
        r->profile_start_ns = plane->profile_start_ns;
    if (plane->jax_version.n && !r->jax_version.n) {
        char *version = stk_arena_strndup(&r->kept, plane->jax_version.p, plane->jax_version.n);
        if (!version)
            return no_memory(r);
        r->jax_version = (struct stk_str){version, plane->jax_version.n};
    }
    r->framework_hint |= plane->framework_hint;
    return STK_OK;
}

static int32_t small(int64_t v)
{
    return v > 0 && v <= INT32_MAX ? (int32_t)v : 0;
}

static void describe_device(struct reading *r, const struct stk_xp_plane *plane)
{
    struct stk_device_facts facts = {
        .source_id = plane->name,
        .name = plane->device_name.n   ? plane->device_name
                : plane->device_type.n ? plane->device_type
                                       : plane->vendor,
        .kind = plane->kind == STK_XP_PLANE_GPU   ? STK_DEVICE_GPU
                : plane->kind == STK_XP_PLANE_TPU ? STK_DEVICE_TPU
                                                  : STK_DEVICE_OTHER,
        .sm_count = small(plane->core_count),
        .cc_major = small(plane->cc_major),
        .cc_minor = small(plane->cc_minor),
        .memory_bytes = plane->memory_bytes > 0 ? plane->memory_bytes : 0,
    };
    stk_build_device(r->build, STK_XP_PROCESS, plane->device, &facts);
}

// Decode the lines at hand, hand over what is known of their planes, and let go of them.
static enum stk_status finish_planes(struct reading *r)
{
    struct stk_xp_decode_job job = {
        .build = r->build,
        .source = r->source,
        .planes = r->planes.items,
        .plane_count = r->planes.count,
        .lines = r->lines.items,
        .line_count = r->lines.count,
        .threads = r->ctx->threads > 0 ? r->ctx->threads : 1,
        .progress = r->ctx->progress,
        .done_bytes = r->done_bytes,
        .total_bytes = r->total_bytes,
    };
    enum stk_status status = stk_xp_decode_lines(&job, r->err);
    r->done_bytes = job.done_bytes;
    if (job.truncated && r->trouble.cut_offset < 0)
        r->trouble.cut_offset = (int64_t)r->source.size;
    for (size_t i = 0; i < r->lines.count && status == STK_OK; i++) {
        const struct stk_xp_line *line = stk_vec_at(&r->lines, i);
        const struct stk_xp_plane *plane = stk_vec_at(&r->planes, line->plane);
        if (line->events >= line->offset + line->size)
            continue;
        struct stk_track_key key = stk_xp_track_key(plane, line, STK_XP_BESIDE_NOT);
        stk_build_track_name(r->build, &key, line->name);
    }
    for (size_t i = 0; i < r->planes.count; i++) {
        struct stk_xp_plane *plane = stk_vec_at(&r->planes, i);
        if (plane->device >= 0 && status == STK_OK)
            describe_device(r, plane);
        stk_xp_plane_deinit(plane);
    }
    r->planes.count = r->lines.count = 0;
    stk_arena_deinit(&r->arena);
    return status;
}

static void note_top_level(struct reading *r, enum stk_pb_step step, uint64_t offset)
{
    if (step == STK_PB_CUT && r->trouble.cut_offset < 0)
        r->trouble.cut_offset = (int64_t)offset;
    if (step == STK_PB_BAD && r->trouble.bad++ == 0)
        r->trouble.bad_offset = (int64_t)offset;
}

// A plain file: all planes are scanned in place, then all their lines are decoded together.
static enum stk_status read_in_place(struct reading *r)
{
    struct stk_pb_walk top, inner;
    enum stk_status status = STK_OK;
    bool ready = stk_pb_walk_init(&top, &r->source, r->err);
    ready &= stk_pb_walk_init(&inner, &r->source, r->err);
    enum stk_pb_step step = ready ? STK_PB_FIELD : STK_PB_END;
    if (!ready)
        status = no_memory(r);
    top.end = r->source.size;
    while (step == STK_PB_FIELD && status == STK_OK) {
        struct stk_pb_field f = {0};
        uint64_t at = top.pos;
        step = stk_pb_walk_next(&top, &f);
        if (top.failed)
            status = r->err->code;
        else
            note_top_level(r, step, at);
        if (status != STK_OK || !f.offset || f.wire != STK_PB_LEN)
            continue;
        uint64_t size = step == STK_PB_CUT ? top.end - f.offset : f.value;
        if (f.number == SPACE_PLANES) {
            status = add_plane(r, &inner, f.offset, size, step == STK_PB_CUT);
        } else if (f.number <= SPACE_HOSTNAMES) {
            size_t n = (size_t)(size < TEXT_MAX_BYTES ? size : TEXT_MAX_BYTES);
            const uint8_t *p = stk_pb_walk_bytes(&inner, f.offset, n);
            if (p)
                status = read_text(r, (const char *)p, n, f.number, f.offset);
        }
    }
    stk_pb_walk_deinit(&top);
    stk_pb_walk_deinit(&inner);
    return status == STK_OK ? finish_planes(r) : status;
}

// Bytes taken from the stream in order, for input that cannot be read in place.
struct intake {
    struct reading *r;
    uint8_t *p;
    size_t size; // allocated, without pad
    uint64_t at; // position of the next byte
};

static enum stk_status take(struct intake *in, uint8_t *p, size_t n, size_t *got)
{
    *got = 0;
    while (*got < n) {
        size_t now;
        enum stk_status status =
            stk_stream_read(in->r->ctx->stream, p + *got, n - *got, &now, in->r->err);
        if (status != STK_OK)
            return status;
        if (!now)
            break;
        *got += now;
    }
    in->at += *got;
    return STK_OK;
}

// One varint; STK_PB_END only where the input ends in front of it.
static enum stk_status take_varint(struct intake *in, uint64_t *v, enum stk_pb_step *step)
{
    uint8_t bytes[10];
    struct stk_pb_cursor c;
    for (size_t n = 0; n < sizeof bytes; n++) {
        size_t got;
        enum stk_status status = take(in, &bytes[n], 1, &got);
        if (status != STK_OK)
            return status;
        if (!got) {
            *step = n ? STK_PB_CUT : STK_PB_END;
            return STK_OK;
        }
        if (!(bytes[n] & 0x80)) {
            c = (struct stk_pb_cursor){bytes, bytes + n + 1};
            *step = stk_pb_varint_slow(&c, v);
            return STK_OK;
        }
    }
    *step = STK_PB_BAD;
    return STK_OK;
}

// Up to `want` bytes into the intake's buffer, which grows with what arrives, not with what a
// damaged length promises.
static enum stk_status hold(struct intake *in, uint64_t want, size_t *held)
{
    *held = 0;
    while (*held < want) {
        size_t step = *held > HOLD_STEP_BYTES ? *held : HOLD_STEP_BYTES, got;
        if (step > want - *held)
            step = (size_t)(want - *held);
        if (*held + step > in->size) {
            uint8_t *p = stk_realloc_array(in->p, *held + step + STK_XP_PAD, 1);
            if (!p)
                return no_memory(in->r);
            in->p = p;
            in->size = *held + step;
        }
        enum stk_status status = take(in, in->p + *held, step, &got);
        if (status != STK_OK)
            return status;
        *held += got;
        if (got < step)
            break;
    }
    if (in->p)
        memset(in->p + *held, 0, STK_XP_PAD);
    return STK_OK;
}

static enum stk_status skip(struct intake *in, uint64_t n)
{
    uint8_t bytes[4096];
    while (n > 0) {
        size_t got, want = n < sizeof bytes ? (size_t)n : sizeof bytes;
        enum stk_status status = take(in, bytes, want, &got);
        if (status != STK_OK)
            return status;
        if (got < want) {
            note_top_level(in->r, STK_PB_CUT, in->at);
            return STK_OK;
        }
        n -= got;
    }
    return STK_OK;
}

static enum stk_status held_plane(struct intake *in, uint64_t offset, uint64_t size)
{
    struct reading *r = in->r;
    uint64_t want = size < MAX_HELD_BYTES ? size : MAX_HELD_BYTES;
    size_t held;
    enum stk_status status = hold(in, want, &held);
    if (status != STK_OK)
        return status;
    if (held < want)
        note_top_level(r, STK_PB_CUT, in->at);
    if (want < size)
        stk_shard_issue(r->notes, STK_ISSUE_LIMIT_REACHED, 1, 0, (int64_t)in->at,
                        STK_STR("a plane above 32 GiB in compressed input: decompress it first"));
    r->source = (struct stk_pb_source){.mem = in->p, .mem_start = offset, .size = offset + held};
    struct stk_pb_walk walk;
    if (!stk_pb_walk_init(&walk, &r->source, r->err))
        return no_memory(r);
    status = add_plane(r, &walk, offset, held, held < size);
    stk_pb_walk_deinit(&walk);
    if (status == STK_OK)
        status = finish_planes(r);
    return status == STK_OK ? skip(in, held == want ? size - want : 0) : status;
}

// One field of the space. *more is false at its end.
static enum stk_status held_field(struct intake *in, bool *more)
{
    struct reading *r = in->r;
    uint64_t at = in->at, tag, size = 0;
    enum stk_pb_step step;
    enum stk_status status = take_varint(in, &tag, &step);
    *more = false;
    if (status != STK_OK || step == STK_PB_END)
        return status;
    uint32_t wire = tag & 7;
    if (step == STK_PB_FIELD && (tag < 8 || tag > UINT32_MAX || wire == 3 || wire == 4 || wire > 5))
        step = STK_PB_BAD;
    if (step == STK_PB_FIELD && (wire == STK_PB_VARINT || wire == STK_PB_LEN))
        status = take_varint(in, &size, &step);
    if (status != STK_OK)
        return status;
    if (step != STK_PB_FIELD) {
        note_top_level(r, step == STK_PB_BAD ? STK_PB_BAD : STK_PB_CUT, at);
        return STK_OK;
    }
    *more = true;
    if (wire == STK_PB_FIXED64 || wire == STK_PB_FIXED32)
        return skip(in, wire == STK_PB_FIXED64 ? 8 : 4);
    if (wire != STK_PB_LEN)
        return STK_OK;
    if (tag >> 3 == SPACE_PLANES)
        return held_plane(in, in->at, size);
    uint64_t offset = in->at, keep = size < TEXT_MAX_BYTES ? size : TEXT_MAX_BYTES;
    size_t held;
    status = hold(in, keep, &held);
    if (status == STK_OK && held < keep)
        note_top_level(r, STK_PB_CUT, at);
    if (status == STK_OK && tag >> 3 <= SPACE_HOSTNAMES && held)
        status = read_text(r, (const char *)in->p, held, (uint32_t)(tag >> 3), offset);
    return status == STK_OK && held == keep ? skip(in, size - keep) : status;
}

static enum stk_status read_in_order(struct reading *r)
{
    struct intake in = {.r = r};
    enum stk_status status = STK_OK;
    bool more = true;
    while (more && status == STK_OK)
        status = held_field(&in, &more);
    stk_free(in.p);
    return status;
}

static void note_trouble(struct reading *r)
{
    const char *damage = stk_stream_damage(r->ctx->stream);
    if (damage)
        stk_shard_issue(r->notes, STK_ISSUE_COMPRESSION_DAMAGED, 1, 0, -1, stk_str_from(damage));
    if (r->trouble.cut_offset >= 0)
        stk_shard_issue(r->notes, STK_ISSUE_TRUNCATED, 1, 0, r->trouble.cut_offset, STK_STR(""));
    if (r->trouble.bad)
        stk_shard_issue(r->notes, STK_ISSUE_MESSAGE_INVALID, r->trouble.bad, 0,
                        r->trouble.bad_offset, STK_STR(""));
}

static void describe_trace(struct reading *r)
{
    char producer[64] = "XLA profiler";
    bool jax = r->framework_hint & 1u << STK_FW_JAX || r->jax_version.n;
    if (r->jax_version.n)
        snprintf(producer, sizeof producer, "JAX %.*s",
                 (int)(r->jax_version.n < 40 ? r->jax_version.n : 40), r->jax_version.p);
    else if (jax)
        snprintf(producer, sizeof producer, "JAX");
    else if (r->framework_hint & 1u << STK_FW_TENSORFLOW)
        snprintf(producer, sizeof producer, "TensorFlow");
    // Times are relative to the session unless the writer never got to make them so.
    bool relative = r->profile_start_ns > 0 && r->min_timestamp_ns < r->profile_start_ns / 2;
    struct stk_build_facts facts = {
        .format = stk_reader_xplane.name,
        .producer = stk_str_from(producer),
        .host = r->host,
        .rank = -1,
        .world_size = -1,
        .framework_hint = r->framework_hint | (jax ? 1u << STK_FW_JAX : 0),
        .clock_base_ns = relative ? r->profile_start_ns : 0,
    };
    stk_build_facts(r->build, &facts);
    stk_build_process(r->build, STK_XP_PROCESS, -1, STK_STR(""), r->host);
}

static enum stk_status refuse_empty(const struct reading *r, const struct stk_trace *t)
{
    if (t->read || (r->trouble.cut_offset < 0 && !r->trouble.bad))
        return STK_OK;
    int64_t at = r->trouble.bad ? r->trouble.bad_offset : r->trouble.cut_offset;
    return stk_err_set_at(
        r->err, STK_EINPUT, at,
        "%s: this XPlane profile is %s before its first event (byte %lld); copy it "
        "again in binary mode, or record again",
        r->ctx->path, r->trouble.bad ? "damaged" : "cut off", (long long)at);
}

static enum stk_status read_xplane(const struct stk_read_ctx *ctx, struct stk_trace **out,
                                   struct stk_err *err)
{
    struct stk_err own;
    struct reading r = {
        .ctx = ctx, .err = err ? err : &own, .host = STK_STR(""), .jax_version = STK_STR("")};
    struct stk_trace *t = NULL;
    r.trouble = (struct stk_xp_trouble){.bad_offset = -1, .cut_offset = -1};
    stk_err_init(r.err);
    stk_arena_init(&r.arena, (size_t)16 << 30);
    stk_arena_init(&r.kept, 0);
    stk_vec_init(&r.planes, sizeof(struct stk_xp_plane), MAX_PLANES);
    stk_vec_init(&r.lines, sizeof(struct stk_xp_line), MAX_LINES);
    stk_vec_init(&r.devices, sizeof(struct named_device), MAX_PLANES);
    r.total_bytes = stk_stream_size(ctx->stream);
    enum stk_status status = stk_build_new(&r.build, r.err);
    if (status != STK_OK)
        goto done;
    r.notes = stk_build_shard(r.build);
    if (!r.notes) {
        status = no_memory(&r);
        goto done;
    }
    if (stk_stream_codec(ctx->stream) == STK_CODEC_PLAIN && r.total_bytes) {
        r.source = (struct stk_pb_source){.stream = ctx->stream, .size = r.total_bytes};
        status = read_in_place(&r);
    } else {
        status = read_in_order(&r);
    }
    if (status != STK_OK)
        goto done;
    note_trouble(&r);
    describe_trace(&r);
    status = stk_build_finish(r.build, ctx->threads > 0 ? ctx->threads : 1, &t, r.err);
    if (status == STK_OK)
        status = refuse_empty(&r, t);
    if (status == STK_OK) {
        *out = t;
        t = NULL;
    }
done:
    for (size_t i = 0; i < r.planes.count; i++)
        stk_xp_plane_deinit(stk_vec_at(&r.planes, i));
    stk_trace_free(t);
    stk_build_free(r.build);
    stk_vec_deinit(&r.planes);
    stk_vec_deinit(&r.lines);
    stk_vec_deinit(&r.devices);
    stk_arena_deinit(&r.arena);
    stk_arena_deinit(&r.kept);
    return status;
}

const struct stk_reader stk_reader_xplane = {
    .name = "xplane",
    .summary = "TensorFlow, JAX and XLA profiles (XSpace protobuf)",
    .extensions = "*.xplane.pb",
    .sniff = stk_xp_sniff,
    .read = read_xplane,
    .args = stk_xp_args,
};
