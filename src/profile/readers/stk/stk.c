// SPDX-License-Identifier: Apache-2.0
// stoker's own records (*.stk), written by an input pipeline of stoker.data, the sampler, or the
// capture library of `stoker run --level 1`. Zeros between blocks are reserved space.
//
// Format: src/wire/wire.h, version 1. Clock: the writer's monotonic one; the header's anchor gives
// the time of day. Damaged or cut blocks are skipped (wire-damaged). Unknown types and kinds are
// counted as records of no kind. A file without an end mark is read to its last complete block
// (truncated). Counters are events of length 0 on the tracks of their subjects. Steps become ranges
// named StokerStep#N. A stage's final counts are events of length 0 on the track "stages": name of
// the stage, value its elements. The number of elements that a call returned is a detail, -1 if the
// file's header doesn't announce it. Arguments on demand: none.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "profile/readers/stk/stk_in.h"

#define NAMES_MAX ((size_t)1 << 24)
#define CONFIGS_MAX ((size_t)1 << 20)
#define FIRST_BYTES ((size_t)1 << 20)
#define STAGE_TRACK INT64_C(-7)
#define COUNTER_TRACK INT64_C(-8)

static int stk_sniff(const uint8_t *head, size_t n, const char **why_not)
{
    STK_ASSERT(head || n == 0);
    struct stk_wire_header h;
    if (!stk_wire_is_header(head, n, &h)) {
        return 0;
    }
    if (h.version != STK_WIRE_VERSION) {
        *why_not = "written by a newer stoker: update stoker";
        return 0;
    }
    return 2;
}

// More bytes after those that are left. The buffer grows up to a block's largest size.
static enum stoker_status read_more(struct stk_in *in, struct stoker_err *err)
{
    STK_ASSERT(in->done <= in->used && in->used <= in->capacity);
    size_t most = sizeof(struct stk_wire_block) + STK_WIRE_BLOCK_MAX, got;
    if (in->done) {
        memmove(in->bytes, in->bytes + in->done, in->used - in->done);
        in->used -= in->done;
        in->done = 0;
    }
    if (in->used == in->capacity && in->capacity < most) {
        size_t capacity = in->capacity ? 2 * in->capacity : FIRST_BYTES;
        uint8_t *bytes = stk_realloc_array(in->bytes, capacity < most ? capacity : most, 1);
        if (!bytes) {
            return stk_err_nomem(err);
        }
        in->bytes = bytes;
        in->capacity = capacity < most ? capacity : most;
    }
    enum stoker_status s =
        stk_stream_read(in->ctx->stream, in->bytes + in->used, in->capacity - in->used, &got, err);
    in->used += s == STOKER_OK ? got : 0;
    in->at_end = got == 0;
    return s;
}

static void drop_bytes(struct stk_in *in, size_t n)
{
    STK_ASSERT(n <= in->used - in->done);
    in->done += n;
    in->pos += n;
}

static void take_strings(struct stk_in *in, const uint8_t *p, size_t n, uint32_t count)
{
    STK_ASSERT(p || n == 0);
    for (uint32_t k = 0; k < count; k++) {
        struct stk_wire_string s;
        int created;
        if (n < sizeof s) {
            stk_in_count_bad(in, count - k);
            return;
        }
        memcpy(&s, p, sizeof s);
        size_t whole = sizeof s + (((size_t)s.bytes + 7) & ~(size_t)7);
        if (whole > n) {
            stk_in_count_bad(in, count - k);
            return;
        }
        struct stk_str text = {(const char *)p + sizeof s, s.bytes};
        if (in->is_capture && stk_str_eq(text, STK_STR(STK_WIRE_NEXT))) {
            text = STK_STR("loader.__next__"); // of any of them
        }
        uint32_t id = stk_shard_intern(in->shard, text.p, text.n);
        (void)stk_map_put(&in->strings, s.id, 0, id, &created);
        p += whole;
        n -= whole;
    }
    stk_shard_count(in->shard, STK_KIND_OTHER, count);
}

// Subjects of counters: see wire/samples.h.
static void take_sampled_track(struct stk_in *in, const struct stk_wire_track *t)
{
    struct stk_track_key key = {.kind = STK_TRACK_COUNTER,
                                .process = t->device >= 0 ? t->device : (int64_t)in->header.pid,
                                .device = -1,
                                .id = t->number};
    int created;
    uint32_t *track =
        stk_map_put(&in->tracks, t->id, 0, stk_shard_track(in->shard, &key), &created);
    if (track && t->name) {
        stk_build_track_name(in->build, &key, stk_shard_text(in->shard, stk_in_name(in, t->name)));
    }
    stk_shard_count(in->shard, STK_KIND_OTHER, 1);
}

static void take_track(struct stk_in *in, const struct stk_wire_track *t)
{
    if (t->kind == STK_WIRE_SAMPLED) {
        take_sampled_track(in, t);
        return;
    }
    struct stk_track_key key = {.kind = t->kind == STK_WIRE_DEVICE  ? STK_TRACK_STREAM
                                        : t->kind == STK_WIRE_ASIDE ? STK_TRACK_OTHER
                                                                    : STK_TRACK_THREAD,
                                .process = (int64_t)in->header.pid,
                                .device = t->kind == STK_WIRE_DEVICE ? t->device : -1,
                                .id = t->number};
    int created;
    (void)stk_map_put(&in->tracks, t->id, 0, stk_shard_track(in->shard, &key), &created);
    stk_shard_count(in->shard, STK_KIND_OTHER, 1);
}

static enum stk_kind kind_of(uint32_t kind)
{
    static const enum stk_kind kinds[] = {STK_KIND_HOST_OP,    STK_KIND_RUNTIME, STK_KIND_KERNEL,
                                          STK_KIND_MEMCPY,     STK_KIND_MEMSET,  STK_KIND_SYNC,
                                          STK_KIND_ANNOTATION, STK_KIND_PYTHON,  STK_KIND_INPUT};
    return kind < sizeof kinds / sizeof kinds[0] ? kinds[kind] : STK_KIND_OTHER;
}

static void take_event(struct stk_in *in, const struct stk_wire_event *e)
{
    const uint32_t *track = stk_map_get(&in->tracks, e->track, 0);
    if (!track || !stk_in_is_time(e->start_ns, e->dur_ns)) {
        if (track) {
            stk_in_bad_time(in, kind_of(e->kind));
        } else {
            stk_in_count_bad(in, 1);
        }
        return;
    }
    struct stk_row row = {.start_ns = (int64_t)e->start_ns,
                          .dur_ns = (int64_t)e->dur_ns,
                          .pos = in->pos,
                          .name = stk_in_name(in, e->name),
                          .track = *track,
                          .kind = (uint8_t)kind_of(e->kind)};
    struct stk_row_ext ext = {.has_corr = e->correlation != 0, .corr = (int64_t)e->correlation};
    struct stk_detail given = {.key = STK_DETAIL_ELEMENTS, .number = -1};
    if (in->header.flags & STK_WIRE_HAS_ELEMENTS) {
        given.number = e->value;
    }
    bool has_given = e->kind == STK_WIRE_INPUT && in->ctx->wants & STK_WANT_INPUT;
    stk_shard_add_detailed(in->shard, &row, e->correlation ? &ext : NULL, &given, has_given);
}

static void take_step(struct stk_in *in, const struct stk_wire_step *s)
{
    const uint32_t *track = stk_map_get(&in->tracks, s->track, 0);
    char name[40];
    if (!track || !stk_in_is_time(s->start_ns, s->dur_ns)) {
        if (track) {
            stk_in_bad_time(in, STK_KIND_ANNOTATION);
        } else {
            stk_in_count_bad(in, 1);
        }
        return;
    }
    int n = snprintf(name, sizeof name, STK_WIRE_STEP_NAME "%llu", (unsigned long long)s->number);
    struct stk_row row = {.start_ns = (int64_t)s->start_ns,
                          .dur_ns = (int64_t)s->dur_ns,
                          .pos = in->pos,
                          .name = stk_shard_intern(in->shard, name, (size_t)n),
                          .track = *track,
                          .kind = STK_KIND_ANNOTATION};
    stk_shard_add(in->shard, &row, NULL);
}

static void take_stage(struct stk_in *in, const struct stk_wire_stage *s)
{
    struct stk_track_key key = {.kind = STK_TRACK_DERIVED,
                                .process = (int64_t)in->header.pid,
                                .device = -1,
                                .id = STAGE_TRACK};
    if (!stk_in_is_time(s->time_ns, 0)) {
        stk_in_bad_time(in, STK_KIND_OTHER);
        return;
    }
    struct stk_row row = {.start_ns = (int64_t)s->time_ns,
                          .pos = in->pos,
                          .name = stk_in_name(in, s->name),
                          .track = stk_shard_track(in->shard, &key),
                          .kind = STK_KIND_OTHER};
    struct stk_row_ext ext = {.value = s->elements > INT64_MAX ? INT64_MAX : (int64_t)s->elements};
    stk_shard_add(in->shard, &row, &ext);
    stk_build_track_name(in->build, &key, STK_STR("stages"));
}

// Counters without a subject share one track of the recording process.
static void take_counter(struct stk_in *in, const struct stk_wire_counter *c)
{
    struct stk_track_key key = {.kind = STK_TRACK_COUNTER,
                                .process = (int64_t)in->header.pid,
                                .device = -1,
                                .id = COUNTER_TRACK};
    const uint32_t *track = c->track ? stk_map_get(&in->tracks, c->track, 0) : NULL;
    if (c->track && !track) {
        stk_in_count_bad(in, 1);
        return;
    }
    if (!stk_in_is_time(c->time_ns, 0) || !isfinite(c->value)) {
        stk_in_bad_time(in, STK_KIND_OTHER);
        return;
    }
    struct stk_row row = {.start_ns = (int64_t)c->time_ns,
                          .pos = in->pos,
                          .name = stk_in_name(in, c->name),
                          .track = track ? *track : stk_shard_track(in->shard, &key),
                          .kind = STK_KIND_OTHER};
    struct stk_detail value = {.key = STK_DETAIL_VALUE, .real = c->value};
    stk_shard_add_detailed(in->shard, &row, NULL, &value, 1);
}

static void take_loss(struct stk_in *in, const struct stk_wire_loss *l)
{
    struct stk_str what = stk_shard_text(in->shard, stk_in_name(in, l->what));
    stk_shard_count(in->shard, STK_KIND_OTHER, 1);
    if (l->kind == STK_WIRE_DROPPED) {
        stk_shard_issue(in->shard, STK_ISSUE_EVENTS_DROPPED, l->count, l->count, -1, what);
    } else if (l->kind == STK_WIRE_REMARK) {
        stk_shard_issue(in->shard, STK_ISSUE_PROFILER_WARNING, l->count, 0, -1, what);
    } else {
        stk_shard_issue(in->shard, STK_ISSUE_WIRE_LEFT_OUT, l->count, 0, -1,
                        STK_STR("calls too short or too many to record"));
    }
}

// Facts that this version doesn't know are only counted as records.
static void take_fact(struct stk_in *in, const struct stk_wire_fact *f)
{
    struct stk_str key = stk_shard_text(in->shard, stk_in_name(in, f->key));
    struct stk_str value = stk_shard_text(in->shard, stk_in_name(in, f->value));
    enum stk_framework framework = stk_framework_find(value);
    if (stk_str_eq(key, STK_STR(STK_WIRE_FRAMEWORK)) && framework < STK_FW_COUNT) {
        in->frameworks |= 1u << framework;
    }
    stk_shard_count(in->shard, STK_KIND_OTHER, 1);
}

// Passes on each record of a block of one size.
#define EACH(type, take)                                                                           \
    for (uint32_t k = 0; k < b->count; k++) {                                                      \
        type record;                                                                               \
        if (((size_t)k + 1) * sizeof record > b->length) {                                         \
            stk_in_count_bad(in, b->count - k);                                                    \
            break;                                                                                 \
        }                                                                                          \
        memcpy(&record, p + (size_t)k * sizeof record, sizeof record);                             \
        take(in, &record);                                                                         \
    }

static void take_block(struct stk_in *in, const struct stk_wire_block *b, const uint8_t *p)
{
    switch (b->type) {
    case STK_WIRE_STRINGS:
        take_strings(in, p, b->length, b->count);
        break;
    case STK_WIRE_TRACKS:
        EACH(struct stk_wire_track, take_track) break;
    case STK_WIRE_EVENTS:
        EACH(struct stk_wire_event, take_event) break;
    case STK_WIRE_STEPS:
        EACH(struct stk_wire_step, take_step) break;
    case STK_WIRE_STAGES:
        EACH(struct stk_wire_stage, take_stage) break;
    case STK_WIRE_COUNTERS:
        EACH(struct stk_wire_counter, take_counter) break;
    case STK_WIRE_LOSSES:
        EACH(struct stk_wire_loss, take_loss) break;
    case STK_WIRE_WORK:
        EACH(struct stk_wire_work, stk_in_take_work) break;
    case STK_WIRE_CONFIGS:
        EACH(struct stk_wire_config, stk_in_take_config) break;
    case STK_WIRE_DEVICES:
        EACH(struct stk_wire_device, stk_in_take_device) break;
    case STK_WIRE_FACTS:
        EACH(struct stk_wire_fact, take_fact) break;
    case STK_WIRE_END:
        in->has_end_mark = true;
        break;
    default:
        stk_shard_count(in->shard, STK_KIND_OTHER, b->count);
        break;
    }
}

static enum stoker_status progress(const struct stk_in *in, struct stoker_err *err)
{
    const struct stk_progress *p = in->ctx->progress;
    if (p && p->update &&
        p->update(p->arg, stk_stream_consumed(in->ctx->stream), stk_stream_size(in->ctx->stream))) {
        return stk_err_set(err, STOKER_EINTR, "interrupted");
    }
    return STOKER_OK;
}

static enum stoker_status read_blocks(struct stk_in *in, struct stoker_err *err)
{
    bool was_damaged = false;
    enum stoker_status s = STOKER_OK;
    while (s == STOKER_OK && !stk_shard_failed(in->shard)) {
        struct stk_wire_block block;
        size_t use;
        enum stk_wire_found found =
            stk_wire_find(in->bytes + in->done, in->used - in->done, in->at_end, &block, &use);
        if (found == STK_WIRE_MORE && in->at_end) {
            return STOKER_OK;
        }
        if (found == STK_WIRE_BLOCK) {
            take_block(in, &block, in->bytes + in->done + sizeof block);
        } else if (found == STK_WIRE_DAMAGE && !was_damaged) {
            stk_shard_issue(in->shard, STK_ISSUE_WIRE_DAMAGED, 1, 0, (int64_t)in->pos, STK_STR(""));
        }
        was_damaged = found == STK_WIRE_DAMAGE || (was_damaged && found == STK_WIRE_ROOM);
        drop_bytes(in, use);
        if (found == STK_WIRE_MORE) {
            s = read_more(in, err);
            s = s == STOKER_OK ? progress(in, err) : s;
        }
    }
    return s;
}

static enum stoker_status read_header(struct stk_in *in, struct stoker_err *err)
{
    enum stoker_status s = STOKER_OK;
    while (s == STOKER_OK && in->used < sizeof in->header && !in->at_end) {
        s = read_more(in, err);
    }
    if (s != STOKER_OK) {
        return s;
    }
    if (!stk_wire_is_header(in->bytes, in->used, &in->header) ||
        in->header.header_bytes > in->used) {
        return stk_err_set(err, STOKER_EINPUT,
                           "%s: not a file of stoker records: it begins differently",
                           in->ctx->path);
    }
    // The capture library once used stoker.data's name for every iterator's fetch.
    in->is_capture = strncmp(in->header.producer, "stoker capture ", 15) == 0;
    drop_bytes(in, in->header.header_bytes);
    return STOKER_OK;
}

static void state_facts(struct stk_in *in)
{
    char producer[sizeof in->header.producer + 1] = {0};
    memcpy(producer, in->header.producer, sizeof in->header.producer);
    stk_build_facts(in->build,
                    &(struct stk_build_facts){
                        .format = "stk",
                        .producer = stk_str_from(producer),
                        .framework_hint = in->frameworks,
                        .rank = -1,
                        .world_size = -1,
                        .clock_base_ns = (int64_t)(in->header.real_ns - in->header.mono_ns)});
    if (!in->has_end_mark) {
        stk_shard_issue(in->shard, STK_ISSUE_TRUNCATED, 1, 0, (int64_t)in->pos,
                        STK_STR("the run was killed, or is still going"));
    }
}

static enum stoker_status stk_read(const struct stk_read_ctx *ctx, struct stk_trace **out,
                                   struct stoker_err *err)
{
    struct stk_in in = {.ctx = ctx};
    *out = NULL;
    stk_map_init(&in.strings, NAMES_MAX);
    stk_map_init(&in.tracks, NAMES_MAX);
    stk_map_init(&in.configs, NAMES_MAX);
    stk_vec_init(&in.config, sizeof(struct stk_launch_config), CONFIGS_MAX);
    enum stoker_status s = stk_build_new(&in.build, err);
    if (s == STOKER_OK) {
        in.shard = stk_build_shard(in.build);
        s = in.shard ? read_header(&in, err) : stk_err_nomem(err);
    }
    s = s == STOKER_OK ? read_blocks(&in, err) : s;
    if (s == STOKER_OK) {
        state_facts(&in);
        s = stk_build_finish(in.build, ctx->threads, out, err);
    }
    stk_build_free(in.build);
    stk_map_deinit(&in.strings);
    stk_map_deinit(&in.tracks);
    stk_map_deinit(&in.configs);
    stk_vec_deinit(&in.config);
    stk_free(in.bytes);
    return s;
}

static const struct stk_reader_suffix stk_suffixes[] = {{".stk", false}, {NULL, false}};

const struct stk_reader stk_reader_stk = {
    .name = "stk",
    .summary = "stoker's own records: input pipelines of stoker.data, samples of the machine, GPUs",
    .files = "*.stk (stoker's own records)",
    .suffixes = stk_suffixes,
    .mistaken = "not stoker's own records",
    .folder_rank = 4,
    .goes_along = true,
    .sniff = stk_sniff,
    .read = stk_read,
};
