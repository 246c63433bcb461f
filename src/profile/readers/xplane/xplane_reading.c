// SPDX-License-Identifier: Apache-2.0
// Processes a plane: scans it, numbers its device, decodes its lines, and passes on its facts.
#include "profile/readers/xplane/xplane_reading.h"

#include "profile/readers/trace_event/chrome_told.h"
#include "profile/readers/xplane/xplane_decode.h"
#include "profile/store/words.h"

// A text of the profiler itself, up to 4 KiB of it.
enum stoker_status stk_xp_add_text(struct stk_xp_reading *r, const char *bytes, size_t n,
                                   uint32_t field, uint64_t offset)
{
    struct stk_str text = {bytes, n < STK_XP_TEXT_MAX ? n : STK_XP_TEXT_MAX};
    r->has_texts = true;
    if (field == STK_XP_SPACE_HOSTNAMES) {
        if (r->host.n || !n) {
            return STOKER_OK;
        }
        char *host = stk_arena_strndup(&r->kept, text.p, text.n);
        if (!host) {
            return stk_err_nomem(r->err);
        }
        r->host = (struct stk_str){host, text.n};
        return STOKER_OK;
    }
    stk_shard_issue(r->notes,
                    field == STK_XP_SPACE_ERRORS ? STK_ISSUE_PROFILER_ERROR
                                                 : STK_ISSUE_PROFILER_WARNING,
                    1, 0, (int64_t)offset, text);
    if (stk_str_contains_nocase(text, STK_STR("dropped"))) {
        stk_shard_issue(r->notes, STK_ISSUE_EVENTS_DROPPED, 1, 0, (int64_t)offset, text);
    }
    return STOKER_OK;
}

// The number of a device in the trace. GPUs and TPUs keep theirs. An unknown device keeps its
// number if that is free, else it gets the next one from 1000 on.
static enum stoker_status number_device(struct stk_xp_reading *r, struct stk_xp_plane *plane)
{
    plane->device = -1;
    if (plane->kind != STK_XP_PLANE_GPU && plane->kind != STK_XP_PLANE_TPU &&
        plane->kind != STK_XP_PLANE_UNKNOWN_DEVICE) {
        return STOKER_OK;
    }
    uint32_t id = stk_strpool_intern(&r->device_names, plane->name.p, plane->name.n);
    if (id == STK_STRPOOL_FAILED) {
        return stk_err_nomem(r->err);
    }
    if (id <= r->device_numbers.count) { // seen before
        plane->device = *(const int64_t *)stk_vec_at(&r->device_numbers, id - 1);
        return STOKER_OK;
    }
    bool is_free =
        plane->ordinal >= 0 && !stk_map_get(&r->numbers_in_use, (uint64_t)plane->ordinal, 0);
    int64_t *number = stk_vec_push(&r->device_numbers);
    if (!number) {
        return stk_err_nomem(r->err);
    }
    *number = plane->device = is_free ? plane->ordinal : 1000 + (int64_t)r->device_numbers.count;
    return stk_map_put(&r->numbers_in_use, (uint64_t)*number, 0, 0, NULL) ? STOKER_OK
                                                                          : stk_err_nomem(r->err);
}

// Maps usually follow the lines: a plane that was cut among its lines has events without names.
static enum stoker_status note_lost_names(struct stk_xp_reading *r,
                                          const struct stk_xp_plane *plane, bool has_lines)
{
    if (!has_lines || plane->event_metas.count) {
        return STOKER_OK;
    }
    char *note =
        stk_arena_printf(&r->kept, "the names of all events of %.*s are in the missing part",
                         (int)(plane->name.n < 200 ? plane->name.n : 200), plane->name.p);
    if (!note) {
        return stk_err_nomem(r->err);
    }
    r->cut_note = stk_str_from(note);
    return STOKER_OK;
}

enum stoker_status stk_xp_add_plane(struct stk_xp_reading *r, struct stk_pb_walk *walk,
                                    uint64_t offset, uint64_t size, bool cut)
{
    if (r->plane_count >= STK_XP_PLANES_MAX) {
        r->trouble.limited = true;
        return STOKER_OK;
    }
    struct stk_xp_plane *plane = stk_vec_push(&r->planes);
    if (!plane) {
        return stk_err_nomem(r->err);
    }
    plane->index = (uint32_t)(r->planes.count - 1);
    r->has_texts = false; // spaces may be concatenated
    size_t first = r->lines.count;
    enum stoker_status status = stk_xp_plane_scan(plane, walk, offset, size, cut, &r->arena,
                                                  &r->lines, &r->trouble, r->err);
    if (status == STOKER_OK) {
        status = number_device(r, plane);
    }
    if (status == STOKER_OK && plane->kind == STK_XP_PLANE_FACTS) {
        status = stk_xp_read_programs(r, walk, offset, size);
    }
    if (status != STOKER_OK) {
        return status;
    }
    for (size_t i = first; i < r->lines.count; i++) {
        const struct stk_xp_line *line = stk_vec_at(&r->lines, i);
        if (!r->event_lines++ || line->timestamp_ns < r->min_timestamp_ns) {
            r->min_timestamp_ns = line->timestamp_ns;
        }
    }
    if (plane->lines_ignored) {
        stk_shard_issue(r->notes, STK_ISSUE_DERIVED_IGNORED, plane->lines_ignored, 0,
                        (int64_t)plane->offset, plane->name);
    }
    if (plane->profile_start_ns > 0) {
        r->profile_start_ns = plane->profile_start_ns;
    }
    if (plane->jax_version.n && !r->jax_version.n) {
        char *version = stk_arena_strndup(&r->kept, plane->jax_version.p, plane->jax_version.n);
        if (!version) {
            return stk_err_nomem(r->err);
        }
        r->jax_version = (struct stk_str){version, plane->jax_version.n};
    }
    r->framework_hint |= plane->framework_hint;
    if (stk_str_starts(plane->name, STK_STR(STK_XSPACE_TOLD_PLANE))) {
        struct stk_str json = {plane->name.p + sizeof STK_XSPACE_TOLD_PLANE - 1,
                               plane->name.n - (sizeof STK_XSPACE_TOLD_PLANE - 1)};
        if (!stk_chrome_told_read(json, &r->kept, &r->told)) {
            return stk_err_nomem(r->err);
        }
    }
    status = cut ? note_lost_names(r, plane, r->lines.count > first) : STOKER_OK;
    if (r->lines.count == first) { // it has only facts, no lines
        stk_xp_plane_deinit(plane);
        r->planes.count--;
    } else {
        r->plane_count++;
    }
    return status;
}

static int32_t small(int64_t v)
{
    return v > 0 && v <= INT32_MAX ? (int32_t)v : 0;
}

static void describe_device(struct stk_xp_reading *r, const struct stk_xp_plane *plane)
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
        .limits = {.memory_bytes_per_s = plane->memory_bytes_per_s,
                   .flops_per_s = plane->flops_per_s},
    };
    stk_build_device(r->build, STK_XP_PROCESS, plane->device, &facts);
}

// Decodes the collected lines, passes on the facts of their planes, and frees them.
enum stoker_status stk_xp_finish_planes(struct stk_xp_reading *r)
{
    struct stk_xp_decode_job job = {
        .build = r->build,
        .source = r->source,
        .planes = r->planes.items,
        .plane_count = r->planes.count,
        .lines = r->lines.items,
        .line_count = r->lines.count,
        .threads = r->ctx->threads > 0 ? r->ctx->threads : 1,
        .wants = r->ctx->wants,
        .progress = r->ctx->progress,
        .done_bytes = r->done_bytes,
        .total_bytes = r->total_bytes,
    };
    enum stoker_status status = stk_xp_decode_lines(&job, r->err);
    r->done_bytes = job.done_bytes;
    if (job.truncated && r->trouble.cut_offset < 0) {
        r->trouble.cut_offset = (int64_t)r->source.size;
    }
    for (size_t i = 0; i < r->lines.count && status == STOKER_OK; i++) {
        const struct stk_xp_line *line = stk_vec_at(&r->lines, i);
        const struct stk_xp_plane *plane = stk_vec_at(&r->planes, line->plane);
        struct stk_track_key key = stk_xp_track_key(plane, line, STK_XP_DERIVED_NOT);
        stk_build_track_name(r->build, &key, line->name);
    }
    for (size_t i = 0; i < r->planes.count; i++) {
        struct stk_xp_plane *plane = stk_vec_at(&r->planes, i);
        if (plane->device >= 0 && status == STOKER_OK) {
            describe_device(r, plane);
        }
        stk_xp_plane_deinit(plane);
    }
    r->planes.count = r->lines.count = 0;
    stk_arena_deinit(&r->arena);
    return status;
}

void stk_xp_note_space(struct stk_xp_reading *r, enum stk_pb_step step, uint64_t offset)
{
    if (step == STK_PB_CUT && r->trouble.cut_offset < 0) {
        r->trouble.cut_offset = (int64_t)offset;
    }
    if (step == STK_PB_BAD && r->trouble.bad++ == 0) {
        r->trouble.bad_offset = (int64_t)offset;
    }
    r->ends_badly |= step == STK_PB_BAD;
}