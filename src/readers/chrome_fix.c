// SPDX-License-Identifier: Apache-2.0
// What a trace says only at its end, or anywhere in it: halves of pairs are joined, device rows get
// the process that drives the device, tracks and processes their names, devices their properties;
// threads of a process named "/device:GPU:0" (TensorFlow's trace.json) turn out to be streams.
#include "readers/chrome_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "readers/chrome_facts.h"
#include "store/names.h"

struct process {
    struct stk_chrome_id pid;
    int64_t id; // as tracks name it
    uint64_t rows, calls;
    int32_t rank;
    int64_t device; // number of the device it stands for, -1: it is a host process
    enum stk_device_kind device_kind;
    bool all_streams; // TensorFlow 1 timeline: every stream once more
};

struct fixing {
    struct stk_build *b;
    struct stk_chrome_stager *workers;
    int count;
    const struct stk_chrome_input *in;
    struct stk_vec processes; // struct process
    struct stk_map process_map;
    struct stk_vec metas; // const struct stk_chrome_meta *
    struct stk_map meta_map;
    struct stk_chrome_facts facts;
    bool failed;
};

// ---- pairs ----

struct end_of_pair {
    const struct stk_chrome_half *half;
    struct stk_chrome_stager *s;
    uint32_t below;
};

static int compare_halves(const void *a, const void *b)
{
    uint64_t x = ((const struct end_of_pair *)a)->half->pos;
    uint64_t y = ((const struct end_of_pair *)b)->half->pos;
    return (x > y) - (x < y);
}

static size_t collect_halves(struct fixing *f, struct end_of_pair *all)
{
    size_t n = 0;
    for (int w = 0; w < f->count; w++) {
        struct stk_chrome_stager *s = &f->workers[w];
        for (size_t i = 0; i < s->halves.count; i++, n++)
            if (all)
                all[n] = (struct end_of_pair){stk_vec_at(&s->halves, i), s, STK_NONE};
    }
    return n;
}

static void drop_half(struct fixing *f, const struct end_of_pair *p)
{
    struct stk_chrome_issue one = {1, 1, p->half->pos, {"", 0}};
    stk_chrome_issue_merge(&f->workers[0].total.issues[STK_ISSUE_TIME_INVALID], &one);
    if (p->half->begins) // ends were counted when they were read
        f->workers[0].total.by_kind[STK_KIND_OTHER]++;
}

static void add_pair(struct end_of_pair *begin, const struct end_of_pair *end)
{
    struct stk_row row;
    struct stk_row_ext none = {0};
    struct stk_chrome_track *t = stk_vec_at(&begin->s->tracks, begin->half->track);
    stk_chrome_pair_row(begin->half, end->half->ts, &row);
    if (t->shard_track == STK_NONE)
        t->shard_track = stk_shard_track(begin->s->shard, &t->key);
    t->rows++;
    row.track = t->shard_track;
    stk_shard_add(begin->s->shard, &row, &none);
}

// Slot that holds the newest open begin of the half's thread.
static uint32_t *open_slot(struct stk_map *open, const struct end_of_pair *p)
{
    const struct stk_chrome_track *t = stk_vec_at(&p->s->tracks, p->half->track);
    return stk_map_put(open, stk_chrome_id_hash(&t->pid), stk_chrome_id_hash(&t->tid), STK_NONE,
                       NULL);
}

static void join_pairs(struct fixing *f)
{
    size_t n = collect_halves(f, NULL);
    if (n == 0)
        return;
    struct stk_map open;
    struct end_of_pair *all = n < UINT32_MAX ? stk_alloc_array(n, sizeof *all) : NULL;
    f->failed |= !all;
    if (!all)
        return;
    stk_map_init(&open, 1u << 24);
    collect_halves(f, all);
    qsort(all, n, sizeof *all, compare_halves);
    for (size_t i = 0; i < n && !f->failed; i++) {
        uint32_t *top = open_slot(&open, &all[i]);
        if (!top) {
            f->failed = true;
        } else if (all[i].half->begins) {
            all[i].below = *top;
            *top = (uint32_t)i;
        } else if (*top != STK_NONE) {
            add_pair(&all[*top], &all[i]);
            uint32_t done = *top;
            *top = all[done].below;
            all[done].half = NULL;
            all[i].half = NULL;
        }
    }
    for (size_t i = 0; i < n; i++)
        if (all[i].half)
            drop_half(f, &all[i]);
    stk_map_deinit(&open);
    stk_free(all);
}

// ---- metadata ----

static void collect_metas(struct fixing *f)
{
    for (int w = 0; w < f->count; w++) {
        for (size_t i = 0; i < f->workers[w].metas.count; i++) {
            const struct stk_chrome_meta *m = stk_vec_at(&f->workers[w].metas, i), **slot;
            int created;
            uint32_t *at =
                stk_map_put(&f->meta_map, stk_chrome_id_hash(&m->pid) * 4 + m->type,
                            stk_chrome_id_hash(&m->tid), (uint32_t)f->metas.count, &created);
            slot = !at ? NULL : created ? stk_vec_push(&f->metas) : stk_vec_at(&f->metas, *at);
            f->failed |= !slot;
            if (slot && (created || (*slot)->pos < m->pos))
                *slot = m;
        }
    }
}

static struct stk_str find_label(const struct fixing *f, enum stk_chrome_label type,
                                 const struct stk_chrome_id *pid, const struct stk_chrome_id *tid)
{
    struct stk_chrome_id none = {{"", 0}, 0};
    const uint32_t *at = stk_map_get(&f->meta_map, stk_chrome_id_hash(pid) * 4 + type,
                                     stk_chrome_id_hash(tid ? tid : &none));
    if (!at)
        return STK_STR("");
    return (*(const struct stk_chrome_meta **)stk_vec_at(&f->metas, *at))->label;
}

// ---- processes ----

static struct process *find_process(struct fixing *f, const struct stk_chrome_track *t)
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
    for (int w = 0; w < f->count; w++) {
        for (size_t i = 0; i < f->workers[w].tracks.count; i++) {
            const struct stk_chrome_track *t = stk_vec_at(&f->workers[w].tracks, i);
            if (t->shard_track == STK_NONE || is_stand_in(t->key.process))
                continue;
            struct process *p = find_process(f, t);
            if (!p)
                return;
            p->rows += t->rows;
            p->calls += t->calls;
            if (t->rank >= 0)
                p->rank = t->rank;
        }
    }
}

// The host process that drives the devices of this rank (-1: of all).
static const struct process *main_process(const struct fixing *f, int32_t rank)
{
    const struct process *best = NULL;
    for (size_t i = 0; i < f->processes.count; i++) {
        const struct process *p = stk_vec_at(&f->processes, i);
        if (p->device >= 0 || (rank >= 0 && p->rank != rank))
            continue;
        if (!best || p->calls > best->calls || (p->calls == best->calls && p->rows > best->rows) ||
            (p->calls == best->calls && p->rows == best->rows && p->id < best->id))
            best = p;
    }
    return best;
}

static int64_t main_process_id(const struct fixing *f, int32_t rank)
{
    const struct process *p = main_process(f, rank);
    return p ? p->id : rank >= 0 ? rank : 0;
}

static int64_t final_process(const struct fixing *f, int64_t process)
{
    if (is_stand_in(process))
        return main_process_id(f, (int32_t)(process - STK_CHROME_STAND_IN(0)));
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
            if (id != p->id)
                stk_build_process_becomes(f->b, p->id, id);
            continue;
        }
        struct stk_str name = find_label(f, STK_CHROME_PROCESS_NAME, &p->pid, NULL);
        if (name.n == 0)
            name = p->pid.text;
        int32_t rank = p->rank >= 0 ? p->rank : f->facts.rank;
        stk_build_process(f->b, p->id, rank, name, f->facts.host);
    }
}

// ---- tracks ----

// A thread of a process that is a device: a stream, or a line computed from streams.
static void turn_into_stream(struct fixing *f, const struct stk_chrome_track *t,
                             const struct process *p, struct stk_str name)
{
    bool stream = p->device_kind == STK_DEVICE_TPU ? stk_str_eq(name, STK_STR("XLA Ops"))
                                                   : stk_str_starts(name, STK_STR("Stream #"));
    struct stk_str process = find_label(f, STK_CHROME_PROCESS_NAME, &p->pid, NULL);
    if (stk_str_contains(process, STK_STR("/stream:")))
        stream = !p->all_streams;
    stk_build_track_becomes(f->b, &t->key, stream ? STK_TRACK_STREAM : STK_TRACK_DERIVED,
                            p->device);
}

static void put_device(struct fixing *f, const struct stk_chrome_track *t, int64_t device,
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
    if (facts.name.n == 0 && t->key.device < 0)
        facts.name = stk_chrome_device_name(process);
    stk_build_device(f->b, final_process(f, t->key.process), device, &facts);
}

static void fix_track(struct fixing *f, const struct stk_chrome_track *t)
{
    struct stk_str name = find_label(f, STK_CHROME_THREAD_NAME, &t->pid, &t->tid);
    const uint32_t *at = stk_map_get(&f->process_map, (uint64_t)t->key.process, 0);
    const struct process *p = at ? stk_vec_at(&f->processes, *at) : NULL;
    if (is_stand_in(t->key.process)) {
        int32_t rank = (int32_t)(t->key.process - STK_CHROME_STAND_IN(0));
        int64_t id = main_process_id(f, rank);
        stk_build_process_becomes(f->b, t->key.process, id);
        if (rank >= 0 || !main_process(f, rank))
            stk_build_process(f->b, id, rank >= 0 ? rank : f->facts.rank, STK_STR(""),
                              f->facts.host);
        if (t->key.kind == STK_TRACK_STREAM)
            put_device(f, t, t->key.device, STK_DEVICE_GPU);
    } else if (p && p->device >= 0 && t->key.kind == STK_TRACK_THREAD) {
        turn_into_stream(f, t, p, name);
        put_device(f, t, p->device, p->device_kind);
    }
    if (name.n > 0 && t->key.kind != STK_TRACK_COUNTER)
        stk_build_track_name(f->b, &t->key, name);
}

static void fix_tracks(struct fixing *f)
{
    for (int w = 0; w < f->count; w++)
        for (size_t i = 0; i < f->workers[w].tracks.count; i++) {
            const struct stk_chrome_track *t = stk_vec_at(&f->workers[w].tracks, i);
            if (t->shard_track != STK_NONE)
                fix_track(f, t);
        }
}

// ---- counts and issues ----

static void merge_totals(struct fixing *f)
{
    struct stk_chrome_tally *to = &f->workers[0].total;
    for (int w = 1; w < f->count; w++) {
        const struct stk_chrome_tally *from = &f->workers[w].total;
        for (int i = 0; i < STK_KIND_COUNT; i++)
            to->by_kind[i] += from->by_kind[i];
        for (int i = 0; i < STK_ISSUE_COUNT; i++)
            stk_chrome_issue_merge(&to->issues[i], &from->issues[i]);
        if (from->foreign && (!to->foreign || from->foreign_pos < to->foreign_pos)) {
            to->foreign_pos = from->foreign_pos;
            to->foreign_cat = from->foreign_cat;
        }
        to->foreign += from->foreign;
        to->kernels += from->kernels;
        to->known_cats += from->known_cats;
        to->raw_pids += from->raw_pids;
    }
}

static void put_issues(struct fixing *f)
{
    struct stk_chrome_tally *total = &f->workers[0].total;
    struct stk_shard *shard = f->workers[0].shard;
    if (f->in->damage)
        total->issues[STK_ISSUE_TRUNCATED].count = 0;
    for (int i = 0; i < STK_KIND_COUNT; i++)
        stk_shard_count(shard, (enum stk_kind)i, total->by_kind[i]);
    for (int i = 0; i < STK_ISSUE_COUNT; i++) {
        const struct stk_chrome_issue *issue = &total->issues[i];
        if (issue->count)
            stk_shard_issue(shard, (enum stk_issue_id)i, issue->count, issue->events_lost,
                            (int64_t)issue->first_pos, issue->note);
    }
    if (f->in->damage)
        stk_shard_issue(shard, STK_ISSUE_COMPRESSION_DAMAGED, 1,
                        total->issues[STK_ISSUE_TRUNCATED].events_lost, (int64_t)f->in->bytes,
                        stk_str_from(f->in->damage));
    if (total->foreign && total->kernels == 0)
        stk_shard_issue(shard, STK_ISSUE_UNKNOWN_ACCELERATOR, total->foreign, 0,
                        (int64_t)total->foreign_pos, total->foreign_cat);
    if (f->facts.warnings)
        stk_shard_issue(shard, STK_ISSUE_PROFILER_WARNING, f->facts.warnings, 0, -1,
                        f->facts.first_warning);
    if (f->facts.errors)
        stk_shard_issue(shard, STK_ISSUE_PROFILER_ERROR, f->facts.errors, 0, -1,
                        f->facts.first_error);
}

static bool has_device_process(const struct fixing *f)
{
    for (size_t i = 0; i < f->processes.count; i++)
        if (((const struct process *)stk_vec_at(&f->processes, i))->device >= 0)
            return true;
    return false;
}

static void put_facts(struct fixing *f)
{
    const struct stk_chrome_tally *total = &f->workers[0].total;
    bool merged = total->raw_pids > 0;
    bool kineto = !merged && (f->facts.is_kineto || total->known_cats > 0);
    struct stk_build_facts facts = {
        .format = kineto ? "kineto" : "chrome",
        .producer = kineto                  ? STK_STR("PyTorch Kineto")
                    : merged                ? STK_STR("PyTorch Kineto, ranks merged")
                    : has_device_process(f) ? STK_STR("TensorFlow or JAX trace viewer")
                                            : STK_STR(""),
        .host = f->facts.host,
        .rank = merged ? -1 : f->facts.rank,
        .world_size = f->facts.world_size,
        .framework_hint = kineto || total->known_cats ? 1u << STK_FW_PYTORCH : 0,
        .clock_base_ns = f->facts.base_ns,
    };
    stk_build_facts(f->b, &facts);
}

static enum stk_status check_is_trace(const struct fixing *f, struct stk_err *err)
{
    const struct stk_chrome_tally *total = &f->workers[0].total;
    const struct stk_chrome_place *place = &f->in->place;
    if (place->at == STK_CHROME_AT_FOREIGN)
        return stk_err_set(err, STK_EINPUT, "this is no JSON trace: it does not begin with { or [");
    if (!place->seen_events && f->in->damage)
        return stk_err_set(err, STK_EINPUT,
                           "the compressed data is damaged before the first event (%s)",
                           f->in->damage);
    if (!place->seen_events)
        return stk_err_set(err, STK_EINPUT,
                           "this JSON is no profile: it has no list \"traceEvents\"%s; give the "
                           "trace that the profiler wrote (*.pt.trace.json, trace.json.gz)",
                           total->issues[STK_ISSUE_TRUNCATED].count ? ", or ends before it" : "");
    uint64_t events = 0;
    for (int w = 0; w < f->count; w++)
        for (size_t i = 0; i < f->workers[w].tracks.count; i++)
            events += ((const struct stk_chrome_track *)stk_vec_at(&f->workers[w].tracks, i))->rows;
    uint64_t skipped = total->issues[STK_ISSUE_JSON_SKIPPED].count;
    if (events == 0 && skipped > 0 && total->by_kind[STK_KIND_OTHER] == skipped)
        return stk_err_set(
            err, STK_EINPUT,
            "this JSON is no profile: no event of a trace could be read in its list");
    return STK_OK;
}

enum stk_status stk_chrome_fix(struct stk_build *b, struct stk_chrome_stager *workers, int count,
                               const struct stk_chrome_input *in, struct stk_err *err)
{
    struct fixing f = {.b = b, .workers = workers, .count = count, .in = in};
    stk_vec_init(&f.processes, sizeof(struct process), 1u << 24);
    stk_map_init(&f.process_map, 1u << 24);
    stk_vec_init(&f.metas, sizeof(struct stk_chrome_meta *), UINT32_MAX);
    stk_map_init(&f.meta_map, UINT32_MAX);
    merge_totals(&f);
    enum stk_status status = check_is_trace(&f, err);
    if (status == STK_OK && !stk_chrome_facts_read(&f.facts, in))
        status = stk_err_nomem(err);
    if (status == STK_OK) {
        join_pairs(&f);
        collect_metas(&f);
        collect_processes(&f);
        name_processes(&f);
        fix_tracks(&f);
        put_issues(&f);
        put_facts(&f);
        if (f.failed)
            status = stk_err_nomem(err);
    }
    stk_chrome_facts_free(&f.facts);
    stk_vec_deinit(&f.processes);
    stk_map_deinit(&f.process_map);
    stk_vec_deinit(&f.metas);
    stk_map_deinit(&f.meta_map);
    return status;
}
