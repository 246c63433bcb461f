// SPDX-License-Identifier: Apache-2.0
// Reader of XSpace profiles: `*.xplane.pb`, written by TensorFlow (2.2 and later), JAX and XLA.
//
// Format: one protobuf message (tsl/profiler/protobuf/xplane.proto in openxla/xla): planes (a
// device or a host), their lines (stream, thread), their events, with names and stats in maps per
// plane. Seen: TensorFlow 2.3 (NVIDIA V100) and 2.21 (CPU), JAX 0.8 (AMD MI300X) and 0.10 (CPU),
// TPU v6e. Clock: line.timestamp_ns + offset_ps; after collection relative to the session, whose
// Unix time is in the plane `Task Environment`. Rounded to nanoseconds once, start and end each.
// Method: each plane is scanned first (maps and positions of lines; lines are skipped by length),
// then events are decoded in parallel. A plain file is read in place, also a large one; compressed
// input and pipes are held in memory one plane at a time. Device work: GPU streams, and the line
// `XLA Ops` of a TPU. Lines that the analyzer derives are kept as hints (derived-ignored),
// unknown accelerators become other rows (unknown-accelerator). Dropped: events with malformed
// messages (message-invalid) or impossible times (time-invalid); the missing end of a cut file
// (truncated). Events without a time (aggregated counts) are counted, not stored.
#include "profile/readers/xplane/xplane_parts.h"

#include <stdio.h>

#include "profile/readers/xplane/xplane_event.h"
#include "profile/readers/xplane/xplane_reading.h"

// A plain file: all planes are scanned in place, then all their lines are decoded together.
static enum stoker_status read_in_place(struct stk_xp_reading *r)
{
    struct stk_pb_walk top, inner;
    enum stoker_status status = STOKER_OK;
    bool ready = stk_pb_walk_init(&top, &r->source, r->err);
    ready &= stk_pb_walk_init(&inner, &r->source, r->err);
    enum stk_pb_step step = ready ? STK_PB_FIELD : STK_PB_END;
    if (!ready) {
        status = stk_err_nomem(r->err);
    }
    top.end = r->source.size;
    while (step == STK_PB_FIELD && status == STOKER_OK) {
        struct stk_pb_field f = {0};
        uint64_t at = top.pos;
        step = stk_pb_walk_next(&top, &f);
        if (top.failed) {
            status = r->err->code;
        } else {
            stk_xp_note_space(r, step, at);
        }
        if (status != STOKER_OK || !f.offset || f.wire != STK_PB_LEN) {
            continue;
        }
        uint64_t size = step == STK_PB_CUT ? top.end - f.offset : f.value;
        if (f.number == STK_XP_SPACE_PLANES) {
            status = stk_xp_add_plane(r, &inner, f.offset, size, step == STK_PB_CUT);
        } else if (f.number <= STK_XP_SPACE_HOSTNAMES) {
            size_t n = (size_t)(size < STK_XP_TEXT_MAX ? size : STK_XP_TEXT_MAX);
            const uint8_t *p = n ? stk_pb_walk_bytes(&inner, f.offset, n) : NULL;
            if (p) {
                status = stk_xp_add_text(r, (const char *)p, n, f.number, f.offset);
            }
        }
    }
    stk_pb_walk_deinit(&top);
    stk_pb_walk_deinit(&inner);
    return status == STOKER_OK ? stk_xp_finish_planes(r) : status;
}

static void note_trouble(struct stk_xp_reading *r)
{
    const char *damage = stk_stream_damage(r->ctx->stream);
    if (damage) {
        stk_shard_issue(r->notes, STK_ISSUE_COMPRESSION_DAMAGED, 1, 0, -1, stk_str_from(damage));
    }
    if (r->trouble.cut_offset >= 0) {
        stk_shard_issue(r->notes, STK_ISSUE_TRUNCATED, 1, 0, r->trouble.cut_offset, r->cut_note);
    }
    if (damage || r->trouble.cut_offset >= 0 || r->ends_badly) {
        // Planes are sequential, devices before the host, so any may be missing. The profiler's
        // texts follow all planes.
        stk_build_cut(r->build, STK_CUT_AT, r->has_texts ? INT64_MAX : INT64_MIN);
    }
    if (r->trouble.limited) {
        stk_shard_issue(r->notes, STK_ISSUE_LIMIT_REACHED, 1, 0, -1,
                        STK_STR("planes, lines or names beyond what profilers write"));
    }
    if (r->trouble.lines_left_out) {
        stk_shard_issue(r->notes, STK_ISSUE_TRACKS_LEFT_OUT, r->trouble.lines_left_out, 0, -1,
                        STK_STR(""));
    }
    if (r->trouble.bad) {
        stk_shard_issue(r->notes, STK_ISSUE_MESSAGE_INVALID, r->trouble.bad, 0,
                        r->trouble.bad_offset, STK_STR(""));
    }
}

static void describe_trace(struct stk_xp_reading *r)
{
    char producer[64] = "XLA profiler";
    bool jax = r->framework_hint & 1u << STK_FW_JAX || r->jax_version.n;
    if (r->jax_version.n) {
        snprintf(producer, sizeof producer, "JAX %.*s",
                 (int)(r->jax_version.n < 40 ? r->jax_version.n : 40), r->jax_version.p);
    } else if (jax) {
        snprintf(producer, sizeof producer, "JAX");
    } else if (r->framework_hint & 1u << STK_FW_TENSORFLOW) {
        snprintf(producer, sizeof producer, "TensorFlow");
    }
    // Times are relative to the session unless the writer ended before converting them.
    bool relative = r->profile_start_ns > 0 && r->min_timestamp_ns < r->profile_start_ns / 2;
    struct stk_build_facts facts = {
        .format = stk_reader_xplane.name,
        .producer = stk_str_from(producer),
        .host = r->host,
        .rank = -1,
        .world_size = -1,
        .framework_hint = r->framework_hint | (jax ? 1u << STK_FW_JAX : 0),
        .told = r->told,
        .clock_base_ns = relative ? r->profile_start_ns : 0,
    };
    stk_build_facts(r->build, &facts);
    stk_build_process(r->build, STK_XP_PROCESS, -1, STK_STR(""), r->host);
}

static enum stoker_status refuse_empty(const struct stk_xp_reading *r, const struct stk_trace *t)
{
    if (t->read || (r->trouble.cut_offset < 0 && !r->trouble.bad)) {
        return STOKER_OK;
    }
    int64_t at = r->trouble.bad ? r->trouble.bad_offset : r->trouble.cut_offset;
    return stk_err_set_at(
        r->err, STOKER_EINPUT, at,
        "%s: this XPlane profile is %s before its first event (byte %lld). Copy it "
        "again in binary mode, or record again",
        r->ctx->path, r->trouble.bad ? "damaged" : "cut off", (long long)at);
}

static enum stoker_status read_xplane(const struct stk_read_ctx *ctx, struct stk_trace **out,
                                      struct stoker_err *err)
{
    struct stoker_err own;
    struct stk_xp_reading r = {.ctx = ctx,
                               .err = err ? err : &own,
                               .host = STK_STR(""),
                               .jax_version = STK_STR(""),
                               .cut_note = STK_STR("")};
    struct stk_trace *t = NULL;
    r.trouble = stk_xp_trouble_none();
    stk_err_init(r.err);
    stk_arena_init(&r.arena, STK_XP_ARENA_MAX);
    stk_arena_init(&r.kept, 0);
    stk_vec_init(&r.planes, sizeof(struct stk_xp_plane), STK_XP_PLANES_MAX + 1);
    stk_vec_init(&r.lines, sizeof(struct stk_xp_line), STK_TRACKS_MAX + 1);
    stk_vec_init(&r.device_numbers, sizeof(int64_t), UINT32_MAX);
    stk_map_init(&r.numbers_in_use, UINT32_MAX);
    r.total_bytes = stk_stream_size(ctx->stream);
    enum stoker_status status = stk_strpool_init(&r.device_names, 0)
                                    ? stk_err_nomem(r.err)
                                    : stk_build_new(&r.build, r.err);
    if (status != STOKER_OK) {
        goto done;
    }
    r.notes = stk_build_shard(r.build);
    if (!r.notes) {
        status = stk_err_nomem(r.err);
        goto done;
    }
    if (stk_stream_codec(ctx->stream) == STK_CODEC_PLAIN && r.total_bytes) {
        r.source = (struct stk_pb_source){.stream = ctx->stream, .size = r.total_bytes};
        status = read_in_place(&r);
    } else {
        status = stk_xp_read_in_order(&r);
    }
    if (status != STOKER_OK) {
        goto done;
    }
    note_trouble(&r);
    describe_trace(&r);
    status = stk_build_finish(r.build, ctx->threads > 0 ? ctx->threads : 1, &t, r.err);
    if (status == STOKER_OK) {
        status = refuse_empty(&r, t);
    }
    if (status == STOKER_OK) {
        *out = t;
        t = NULL;
    }
done:
    for (size_t i = 0; i < r.planes.count; i++) {
        stk_xp_plane_deinit(stk_vec_at(&r.planes, i));
    }
    stk_trace_free(t);
    stk_build_free(r.build);
    stk_vec_deinit(&r.planes);
    stk_vec_deinit(&r.lines);
    stk_strpool_deinit(&r.device_names);
    stk_vec_deinit(&r.device_numbers);
    stk_map_deinit(&r.numbers_in_use);
    stk_arena_deinit(&r.arena);
    stk_arena_deinit(&r.kept);
    return status;
}

static const struct stk_reader_suffix xplane_suffixes[] = {{".xplane.pb", true}, {NULL, false}};

#define DERIVED "a tool derived it from a profile"
static const struct stk_reader_stranger xplane_refuses[] = {
    {.suffix = ".riegeli",
     .magic = "\x83\xaf\x70\xd1\x0d\x88\x4a\x3f",
     .magic_size = 8,
     .text = "Riegeli containers are not supported. Record with a version that "
             "writes *.xplane.pb, or convert it"},
    {.part = ".SSTABLE", .text = "a cache of the viewer"},
    {.part = ".op_stats", .text = DERIVED},
    {.part = ".overview_page.", .text = DERIVED},
    {.part = ".input_pipeline.", .text = DERIVED},
    {.part = ".kernel_stats.", .text = DERIVED},
    {.part = ".memory_profile.", .text = DERIVED},
    {.part = ".tensorflow_stats.", .text = DERIVED},
    {.part = ".hlo_proto.pb", .text = "a compiled program, not a profile"},
    {.part = ".pod_viewer.", .text = DERIVED},
    {.part = "tfevents", .text = "a TensorBoard event file, not a profile"},
    {.text = NULL},
};

const struct stk_reader stk_reader_xplane = {
    .name = "xplane",
    .summary = "TensorFlow, JAX and XLA profiles (XSpace protobuf)",
    .files = "*.xplane.pb (TensorFlow, JAX)",
    .suffixes = xplane_suffixes,
    .refuses = xplane_refuses,
    .mistaken = "not an XSpace profile",
    .folder_rank = 1,
    .is_per_host = true,
    .sniff = stk_xp_sniff,
    .read = read_xplane,
    .args_open = stk_xp_args_open,
    .args_next = stk_xp_args_next,
    .args_close = stk_xp_args_close,
};
