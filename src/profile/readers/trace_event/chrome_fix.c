// SPDX-License-Identifier: Apache-2.0
// Work that needs the whole trace: halves of pairs are joined; device rows get the process that
// drives the device, tracks and processes their names, devices their properties; threads of a
// process named "/device:GPU:0" (TensorFlow's trace.json) become streams.
#include "profile/readers/trace_event/chrome_fix.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "profile/readers/trace_event/chrome_facts.h"
#include "profile/readers/trace_event/chrome_told.h"

struct process {
    struct stk_chrome_id pid;
    int64_t id; // as tracks name it
    uint64_t rows, calls;
    int32_t rank;
    int64_t device; // number of the device that it represents, -1: a host process
    enum stk_device_kind device_kind;
    bool all_streams; // TensorFlow 1 timeline: it repeats every stream
};

struct fixing {
    struct stk_build *b;
    struct stk_chrome_sink *sink;
    const struct stk_chrome_input *in;
    struct stk_vec processes; // struct process
    struct stk_map process_map;
    struct stk_map main_of_rank; // rank -> index of the process that drives its devices; -1: of all
    struct stk_chrome_facts facts;
    bool failed;
};

// ---- pairs ----

static void drop_half(struct fixing *f, const struct stk_chrome_half *half)
{
    struct stk_chrome_issue one = {1, 1, half->pos, {"", 0}};
    stk_chrome_issue_merge(&f->sink->total.issues[STK_ISSUE_TIME_INVALID], &one);
    if (half->begins) { // ends were counted when they were read
        f->sink->total.by_kind[STK_KIND_OTHER]++;
    }
}

static void add_pair(struct fixing *f, const struct stk_chrome_half *begin,
                     struct stk_chrome_time end)
{
    struct stk_row row;
    stk_chrome_pair_row(begin, end, &row);
    stk_chrome_sink_add(f->sink, &row);
}

// Halves are in file order; each track keeps a stack of open begins.
static void join_pairs(struct fixing *f)
{
    struct stk_vec *halves = &f->sink->halves;
    const size_t tracks = f->sink->tracks.count;
    uint32_t *top = halves->count ? stk_alloc_array(tracks, sizeof *top) : NULL;
    if (!top) {
        f->failed |= halves->count > 0;
        return;
    }
    for (size_t i = 0; i < tracks; i++) {
        top[i] = STK_NONE;
    }
    for (size_t i = 0; i < halves->count; i++) {
        struct stk_chrome_half *half = stk_vec_at(halves, i);
        uint32_t *open = &top[half->track];
        if (half->begins) {
            half->below = *open;
            *open = (uint32_t)i;
        } else if (*open != STK_NONE) {
            struct stk_chrome_half *begin = stk_vec_at(halves, *open);
            add_pair(f, begin, half->ts);
            *open = begin->below;
            begin->track = STK_NONE;
        } else {
            drop_half(f, half);
        }
    }
    for (size_t i = 0; i < halves->count; i++) {
        const struct stk_chrome_half *half = stk_vec_at(halves, i);
        if (half->begins && half->track != STK_NONE) {
            drop_half(f, half);
        }
    }
    stk_free(top);
}

// ---- metadata ----

static struct stk_str find_label(const struct fixing *f, enum stk_chrome_label type,
                                 const struct stk_chrome_id *pid, const struct stk_chrome_id *tid)
{
    const struct stk_chrome_id none = {{"", 0}, 0};
    const uint32_t *at = stk_map_get(&f->sink->meta_map, stk_chrome_id_hash(pid) * 4 + type,
                                     stk_chrome_id_hash(tid ? tid : &none));
    if (!at || *at >= f->sink->metas.count) {
        return STK_STR("");
    }
    return ((const struct stk_chrome_meta *)stk_vec_at(&f->sink->metas, *at))->label;
}

// ---- processes ----

static struct process *find_process(struct fixing *f, const struct stk_chrome_sink_track *t)
{
    int created;
    uint32_t *at = stk_map_put(&f->process_map, (uint64_t)t->key.process, 0,
                               (uint32_t)f->processes.count, &created);
    struct process *p = !at       ? NULL
                        : created ? stk_vec_push(&f->processes)
                                  : stk_vec_at(&f->processes, *at);
    f->failed |= !p;
    if (p && created) {
        *p = (struct process){.pid = t->pid, .id = t->key.process, .rank = -1, .device = -1};
        struct stk_str name = find_label(f, STK_CHROME_PROCESS_NAME, &t->pid, NULL);
        stk_chrome_parse_device(name, &p->device, &p->device_kind);
        p->all_streams = stk_str_contains(name, STK_STR("/stream:all"));
    }
    return p;
}

static bool is_stand_in(int64_t process)
{
    return process < STK_CHROME_STAND_IN(STK_CHROME_RANK_MAX + 1);
}

static void collect_processes(struct fixing *f)
{
    for (size_t i = 0; i < f->sink->tracks.count; i++) {
        const struct stk_chrome_sink_track *t = stk_vec_at(&f->sink->tracks, i);
        struct process *p;
        if (t->rows == 0 || is_stand_in(t->key.process)) {
            continue;
        }
        p = find_process(f, t);
        if (!p) {
            return;
        }
        p->rows += t->rows;
        p->calls += t->calls;
        if (t->rank >= 0) {
            p->rank = t->rank;
        }
    }
}

static bool drives_more(const struct process *p, const struct process *best)
{
    return p->calls != best->calls ? p->calls > best->calls
           : p->rows != best->rows ? p->rows > best->rows
                                   : p->id < best->id;
}

static void propose_main(struct fixing *f, int32_t rank, uint32_t process)
{
    uint32_t *main = stk_map_put(&f->main_of_rank, (uint32_t)rank, 0, process, NULL);
    f->failed |= !main;
    if (main && drives_more(stk_vec_at(&f->processes, process), stk_vec_at(&f->processes, *main))) {
        *main = process;
    }
}

static void find_main_processes(struct fixing *f)
{
    for (size_t i = 0; i < f->processes.count; i++) {
        const struct process *p = stk_vec_at(&f->processes, i);
        if (p->device >= 0) {
            continue;
        }
        propose_main(f, -1, (uint32_t)i);
        if (p->rank >= 0) {
            propose_main(f, p->rank, (uint32_t)i);
        }
    }
}

// The host process that drives the devices of this rank (-1: of all).
static const struct process *main_process(const struct fixing *f, int32_t rank)
{
    const uint32_t *main = stk_map_get(&f->main_of_rank, (uint32_t)(rank < 0 ? -1 : rank), 0);
    return main ? stk_vec_at(&f->processes, *main) : NULL;
}

static int64_t main_process_id(const struct fixing *f, int32_t rank)
{
    const struct process *p = main_process(f, rank);
    return p ? p->id : rank >= 0 ? rank : 0;
}

static int64_t final_process(const struct fixing *f, int64_t process)
{
    if (is_stand_in(process)) {
        return main_process_id(f, (int32_t)(process - STK_CHROME_STAND_IN(0)));
    }
    const uint32_t *at = stk_map_get(&f->process_map, (uint64_t)process, 0);
    const struct process *p = at ? stk_vec_at(&f->processes, *at) : NULL;
    const struct process *main = p && p->device >= 0 ? main_process(f, -1) : NULL;
    return main ? main->id : process;
}

static void name_processes(struct fixing *f)
{
    for (size_t i = 0; i < f->processes.count; i++) {
        const struct process *p = stk_vec_at(&f->processes, i);
        if (p->device >= 0) {
            int64_t id = final_process(f, p->id);
            if (id != p->id) {
                stk_build_process_becomes(f->b, p->id, id);
            }
            continue;
        }
        struct stk_str name = find_label(f, STK_CHROME_PROCESS_NAME, &p->pid, NULL);
        if (name.n == 0) {
            name = p->pid.text;
        }
        int32_t rank = p->rank >= 0 ? p->rank : f->facts.rank;
        stk_build_process(f->b, p->id, rank, name, f->facts.host);
    }
}

// ---- tracks ----

// A thread of a process that is a device: a stream, or a line computed from streams.
static void turn_into_stream(struct fixing *f, const struct stk_chrome_sink_track *t,
                             const struct process *p, struct stk_str name)
{
    bool stream = p->device_kind == STK_DEVICE_TPU ? stk_str_eq(name, STK_STR("XLA Ops"))
                                                   : stk_str_starts(name, STK_STR("Stream #"));
    struct stk_str process = find_label(f, STK_CHROME_PROCESS_NAME, &p->pid, NULL);
    if (stk_str_contains(process, STK_STR("/stream:"))) {
        stream = !p->all_streams;
    }
    stk_build_track_becomes(f->b, &t->key, stream ? STK_TRACK_STREAM : STK_TRACK_DERIVED,
                            p->device);
}

static void put_device(struct fixing *f, const struct stk_chrome_sink_track *t, int64_t device,
                       enum stk_device_kind kind)
{
    char number[32];
    struct stk_device_facts facts = {.kind = kind, .source_id = t->pid.text};
    stk_chrome_facts_device(&f->facts, device, &facts);
    if (facts.source_id.n == 0) {
        snprintf(number, sizeof number, "%" PRId64, t->pid.number);
        facts.source_id = stk_str_from(number);
    }
    struct stk_str process = find_label(f, STK_CHROME_PROCESS_NAME, &t->pid, NULL);
    if (facts.name.n == 0 && t->key.device < 0) {
        facts.name = stk_chrome_device_name(process);
    }
    stk_build_device(f->b, final_process(f, t->key.process), device, &facts);
}

static void fix_track(struct fixing *f, const struct stk_chrome_sink_track *t)
{
    struct stk_str name = find_label(f, STK_CHROME_THREAD_NAME, &t->pid, &t->tid);
    const uint32_t *at = stk_map_get(&f->process_map, (uint64_t)t->key.process, 0);
    const struct process *p = at ? stk_vec_at(&f->processes, *at) : NULL;
    if (is_stand_in(t->key.process)) {
        int32_t rank = (int32_t)(t->key.process - STK_CHROME_STAND_IN(0));
        int64_t id = main_process_id(f, rank);
        stk_build_process_becomes(f->b, t->key.process, id);
        if (rank >= 0 || !main_process(f, rank)) {
            stk_build_process(f->b, id, rank >= 0 ? rank : f->facts.rank, STK_STR(""),
                              f->facts.host);
        }
        if (t->key.kind == STK_TRACK_STREAM) {
            put_device(f, t, t->key.device, STK_DEVICE_GPU);
        }
    } else if (p && p->device >= 0 && t->key.kind == STK_TRACK_THREAD) {
        turn_into_stream(f, t, p, name);
        put_device(f, t, p->device, p->device_kind);
    }
    if (name.n > 0 && t->key.kind != STK_TRACK_COUNTER) {
        stk_build_track_name(f->b, &t->key, name);
    }
}

static void fix_tracks(struct fixing *f)
{
    for (size_t i = 0; i < f->sink->tracks.count; i++) {
        const struct stk_chrome_sink_track *t = stk_vec_at(&f->sink->tracks, i);
        if (t->rows > 0) {
            fix_track(f, t);
        }
    }
}

// ---- counts and issues ----

// An input that ends early is still complete if it ends after its events, or among the rows that
// Kineto writes after them. If ranks were merged, each has such rows.
static void note_cut(struct fixing *f)
{
    const struct stk_chrome_counts *total = &f->sink->total;
    bool is_cut = total->issues[STK_ISSUE_TRUNCATED].count || f->in->damage;
    bool is_behind =
        !f->in->format && total->raw_pids == 0 && total->span_pos > f->sink->last_row_pos;
    if (is_cut && (f->in->has_all_events || is_behind)) {
        stk_build_cut(f->b, STK_CUT_AT, INT64_MAX);
    }
}

static void put_issues(struct fixing *f)
{
    struct stk_chrome_counts *total = &f->sink->total;
    struct stk_shard *shard = f->sink->shard;
    note_cut(f);
    if (f->in->damage) {
        total->issues[STK_ISSUE_TRUNCATED].count = 0;
    }
    for (int i = 0; i < STK_KIND_COUNT; i++) {
        stk_shard_count(shard, (enum stk_kind)i, total->by_kind[i]);
    }
    for (int i = 0; i < STK_ISSUE_COUNT; i++) {
        const struct stk_chrome_issue *issue = &total->issues[i];
        if (issue->count) {
            stk_shard_issue(shard, (enum stk_issue_id)i, issue->count, issue->events_lost,
                            (int64_t)issue->first_pos, issue->note);
        }
    }
    if (f->in->damage) {
        stk_shard_issue(shard, STK_ISSUE_COMPRESSION_DAMAGED, 1,
                        total->issues[STK_ISSUE_TRUNCATED].events_lost, (int64_t)f->in->bytes,
                        stk_str_from(f->in->damage));
    }
    if (total->foreign && total->kernels == 0) {
        stk_shard_issue(shard, STK_ISSUE_UNKNOWN_ACCELERATOR, total->foreign, 0,
                        (int64_t)total->foreign_pos, total->foreign_cat);
    }
    if (f->facts.warnings) {
        stk_shard_issue(shard, STK_ISSUE_PROFILER_WARNING, f->facts.warnings, 0, -1,
                        f->facts.first_warning);
    }
    if (f->facts.errors) {
        stk_shard_issue(shard, STK_ISSUE_PROFILER_ERROR, f->facts.errors, 0, -1,
                        f->facts.first_error);
    }
}

static bool has_device_process(const struct fixing *f)
{
    for (size_t i = 0; i < f->processes.count; i++) {
        if (((const struct process *)stk_vec_at(&f->processes, i))->device >= 0) {
            return true;
        }
    }
    return false;
}

static void put_facts(struct fixing *f)
{
    const struct stk_chrome_counts *total = &f->sink->total;
    bool merged = total->raw_pids > 0;
    bool kineto = !merged && (f->facts.is_kineto || total->known_cats > 0);
    struct stk_build_facts facts = {
        .format = f->in->format ? f->in->format
                  : kineto      ? "kineto"
                                : "chrome",
        .producer = kineto                  ? STK_STR("PyTorch Kineto")
                    : merged                ? STK_STR("PyTorch Kineto, ranks merged")
                    : has_device_process(f) ? STK_STR("TensorFlow or JAX trace viewer")
                                            : STK_STR(""),
        .host = f->facts.host,
        .rank = merged ? -1 : f->facts.rank,
        .world_size = f->facts.world_size,
        .framework_hint = kineto || total->known_cats ? 1u << STK_FW_PYTORCH : 0,
        .clock_base_ns = f->facts.base_ns ? f->facts.base_ns : f->in->clock_base_ns,
    };
    f->failed |=
        !stk_chrome_told_read(f->in->captures[STK_CHROME_TOLD], &f->facts.arena, &facts.told);
    stk_build_facts(f->b, &facts);
}

enum stoker_status stk_chrome_fix(struct stk_chrome_sink *sink, const struct stk_chrome_input *in,
                                  struct stoker_err *err)
{
    struct fixing f = {.b = sink->build, .sink = sink, .in = in};
    stk_vec_init(&f.processes, sizeof(struct process), 1u << 24);
    stk_map_init(&f.process_map, 1u << 24);
    stk_map_init(&f.main_of_rank, 1u << 24);
    enum stoker_status status = STOKER_OK;
    if (!stk_chrome_facts_read(&f.facts, in)) {
        status = stk_err_nomem(err);
    }
    if (status == STOKER_OK) {
        join_pairs(&f);
        collect_processes(&f);
        find_main_processes(&f);
        name_processes(&f);
        fix_tracks(&f);
        put_issues(&f);
        put_facts(&f);
        if (f.failed) {
            status = stk_err_nomem(err);
        }
    }
    stk_chrome_facts_free(&f.facts);
    stk_vec_deinit(&f.processes);
    stk_map_deinit(&f.process_map);
    stk_map_deinit(&f.main_of_rank);
    return status;
}
