// SPDX-License-Identifier: Apache-2.0
// Time lines of the devices: operations of all streams of a device in one order, and what the
// device does at each moment. Where operations overlap, the earlier part of parts.def has the time:
// compute (kernels that are not collectives, memsets), then collectives, then copies by direction.
//
// Method: the tracks of a device are sorted runs, merged pairwise (O(n log tracks)); one interval
// set per part is built from the merged order, and each is cut down by the sets before it, all by
// linear sweeps. Derived tracks and synchronization records are no work and never counted.
// Limits: copies of unknown direction, and host-to-host ones, count as device-to-device.
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/thread.h"
#include "profile/model/device/stream_heads.h"

#define SHORT_KERNEL_NS 10000
#define ANALYSED_PERCENT 5 // of the busiest device's busy time

static enum stk_part copy_part(uint8_t dir)
{
    return dir == STK_DIR_H2D ? STK_PART_H2D : dir == STK_DIR_D2H ? STK_PART_D2H : STK_PART_D2D;
}

// The part of an operation's time. An operation that only waits for a copy counts as that copy.
static enum stk_part op_part(const struct stk_trace *t, uint32_t event)
{
    const struct stk_ext *x = stk_ext_of(t, event);
    if (t->kind[event] == STK_KIND_MEMCPY || (x && (x->flags & STK_EXT_WAITS))) {
        return copy_part(x ? x->dir : STK_DIR_UNKNOWN);
    }
    return t->kind[event] == STK_KIND_COLLECTIVE ? STK_PART_COMMUNICATION : STK_PART_COMPUTE;
}

// Merge neighboring sorted runs until one is left. `runs` holds the start of each run and the end.
static struct stk_device_op *merge_runs(struct stk_device_op *from, struct stk_device_op *to,
                                        uint32_t *runs, uint32_t run_count)
{
    while (run_count > 1) {
        uint32_t kept = 0;
        for (uint32_t r = 0; r < run_count; r += 2) {
            uint32_t i = runs[r], mid = runs[r + 1], j = mid;
            uint32_t end = r + 2 <= run_count ? runs[r + 2] : mid, at = i;
            while (i < mid || j < end) {
                bool left = j >= end || (i < mid && (from[i].start_ns < from[j].start_ns ||
                                                     (from[i].start_ns == from[j].start_ns &&
                                                      from[i].end_ns >= from[j].end_ns)));
                to[at++] = left ? from[i++] : from[j++];
            }
            runs[kept++] = runs[r];
        }
        runs[kept] = runs[run_count];
        run_count = kept;
        struct stk_device_op *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

// Streams with events, grouped by device: those of device d are track[first[d]] to track[first[d +
// 1]].
struct streams {
    uint32_t *first, *track;
};

static bool is_stream(const struct stk_trace *t, uint32_t track)
{
    const struct stk_track *k = &t->tracks[track];
    return k->kind == STK_TRACK_STREAM && k->device < t->device_count && k->count > 0;
}

static bool index_streams(struct stk_analysis *a, struct streams *s)
{
    const struct stk_trace *t = a->t;
    s->first = stk_arena_array(&a->scratch, (size_t)t->device_count + 2, sizeof *s->first);
    s->track = stk_arena_array(&a->scratch, (size_t)t->track_count + 1, sizeof *s->track);
    if (!s->first || !s->track) {
        return false;
    }
    for (uint32_t k = 0; k < t->track_count; k++) {
        if (is_stream(t, k)) {
            s->first[t->tracks[k].device + 2]++;
        }
    }
    for (uint32_t d = 2; d < t->device_count + 2; d++) {
        s->first[d] += s->first[d - 1];
    }
    for (uint32_t k = 0; k < t->track_count; k++) {
        if (is_stream(t, k)) {
            s->track[s->first[t->tracks[k].device + 1]++] = k;
        }
    }
    return true;
}

// Copy the device's operations, track by track; returns the number of runs.
static uint32_t gather_ops(const struct stk_analysis *a, struct stk_device_line *line,
                           uint32_t *runs)
{
    const struct stk_trace *t = a->t;
    uint32_t n = 0, run_count = 0;
    for (uint32_t i = 0; i < line->stream_count; i++) {
        uint32_t k = line->streams[i];
        runs[run_count] = n;
        for (uint32_t e = t->tracks[k].first; e < t->tracks[k].first + t->tracks[k].count; e++) {
            int64_t start = t->start_ns[e], end = stk_end_ns(t, e);
            if (!stk_kind_is_device_work(t->kind[e]) || end < a->from_ns || start >= a->to_ns ||
                (end == a->from_ns && start < end)) {
                continue;
            }
            start = start > a->from_ns ? start : a->from_ns;
            end = end < a->to_ns ? end : a->to_ns;
            line->ops[n++] = (struct stk_device_op){start, end, e, (uint8_t)op_part(t, e)};
        }
        run_count += n > runs[run_count];
    }
    runs[run_count] = n;
    line->op_count = n;
    return run_count;
}

// False: no memory.
static bool sort_ops(const struct stk_analysis *a, struct stk_device_line *line)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < line->stream_count; i++) {
        total += a->t->tracks[line->streams[i]].count;
    }
    struct stk_device_op *spare = NULL;
    uint32_t *runs = stk_alloc_array((size_t)line->stream_count + 2, sizeof *runs);
    line->ops = stk_alloc_large((size_t)total + 1, sizeof *line->ops);
    bool ok = runs && line->ops;
    if (ok) {
        uint32_t run_count = gather_ops(a, line, runs);
        if (run_count > 1) {
            spare = stk_alloc_large((size_t)line->op_count + 1, sizeof *spare);
            ok = spare != NULL;
            if (ok) {
                struct stk_device_op *sorted = merge_runs(line->ops, spare, runs, run_count);
                spare = sorted == line->ops ? spare : line->ops;
                line->ops = sorted;
            }
        }
    }
    stk_free(spare);
    stk_free(runs);
    return ok;
}

// Adds all operations to the sets of their parts and to the busy time.
static bool fill_sets(struct stk_device_line *line)
{
    size_t counts[STK_BUSY_PARTS] = {0};
    for (uint32_t i = 0; i < line->op_count; i++) {
        counts[line->ops[i].part]++;
    }
    bool ok = stk_spans_reserve(&line->busy, line->op_count);
    for (int p = 0; p < STK_BUSY_PARTS && ok; p++) {
        ok = stk_spans_reserve(&line->exposed[p], counts[p]);
    }
    for (uint32_t i = 0; i < line->op_count && ok; i++) {
        const struct stk_device_op *op = &line->ops[i];
        ok = stk_spans_add(&line->exposed[op->part], op->start_ns, op->end_ns) &&
             stk_spans_add(&line->busy, op->start_ns, op->end_ns);
    }
    return ok;
}

// One set per part, each cut down by those before it; their union is the busy time.
static bool build_sets(struct stk_device_line *line, struct stk_device_sum *d)
{
    struct stk_spans next, sum; // sum: union of the parts so far, where there are two or more
    stk_spans_init(&next);
    stk_spans_init(&sum);
    bool ok = fill_sets(line);
    d->compute_ns = stk_spans_total(&line->exposed[STK_PART_COMPUTE]);
    d->communication_ns = stk_spans_total(&line->exposed[STK_PART_COMMUNICATION]);
    const struct stk_spans *taken = NULL;
    int last = STK_BUSY_PARTS - 1;
    while (last > 0 && line->exposed[last].count == 0) {
        last--;
    }
    for (int p = 0; p <= last && ok; p++) {
        struct stk_spans *set = &line->exposed[p], swap;
        if (set->count == 0) {
            continue;
        }
        if (!taken) {
            taken = set;
            continue;
        }
        ok = stk_spans_subtract(set, taken, &next);
        swap = *set, *set = next, next = swap;
        if (p < last && ok) {
            ok = stk_spans_union(taken, set, &next);
            swap = sum, sum = next, next = swap;
            taken = &sum;
        }
    }
    stk_spans_deinit(&next);
    stk_spans_deinit(&sum);
    line->busy_sums = ok ? stk_spans_sums(&line->busy) : NULL;
    return line->busy_sums != NULL;
}

// Running union of the operations of one class, in start order. Only its length is needed.
struct running_union {
    int64_t end_ns, total_ns;
};
static void extend(struct running_union *u, const struct stk_device_op *op)
{
    int64_t start = op->start_ns > u->end_ns ? op->start_ns : u->end_ns;
    if (op->end_ns > start) {
        u->total_ns += op->end_ns - start;
        u->end_ns = op->end_ns;
    }
}

static void count_ops(const struct stk_analysis *a, struct stk_device_line *line,
                      struct stk_device_sum *d)
{
    const struct stk_trace *t = a->t;
    struct running_union kernels = {INT64_MIN, 0}, dirs[STK_DIR_H2H + 1];
    for (int i = 0; i <= STK_DIR_H2H; i++) {
        dirs[i] = (struct running_union){INT64_MIN, 0};
    }
    for (uint32_t i = 0; i < line->op_count; i++) {
        const struct stk_device_op *op = &line->ops[i];
        uint8_t kind = t->kind[op->event];
        const struct stk_ext *x = stk_ext_of(t, op->event);
        line->linked += stk_launch_of(a, op->event) != STK_NONE;
        if (kind == STK_KIND_KERNEL || kind == STK_KIND_COLLECTIVE) {
            d->kernels++;
            d->short_kernels += stk_dur_ns(t, op->event) < SHORT_KERNEL_NS;
            extend(&kernels, op);
        }
        d->copies += kind == STK_KIND_MEMCPY;
        d->memsets += kind == STK_KIND_MEMSET;
        if (op->part >= STK_PART_H2D) {
            extend(&dirs[x && x->dir <= STK_DIR_H2H ? x->dir : STK_DIR_UNKNOWN], op);
        }
    }
    d->kernel_ns = kernels.total_ns;
    d->h2d_ns = dirs[STK_DIR_H2D].total_ns;
    d->d2h_ns = dirs[STK_DIR_D2H].total_ns;
    d->d2d_ns =
        dirs[STK_DIR_D2D].total_ns + dirs[STK_DIR_UNKNOWN].total_ns + dirs[STK_DIR_H2H].total_ns;
    d->p2p_ns = dirs[STK_DIR_P2P].total_ns;
}

void stk_line_find_queued(const struct stk_analysis *a, struct stk_device_line *line,
                          struct stk_stream_head *heads)
{
    line->queued = 0;
    line->queued_end_ns = INT64_MIN;
    stk_stream_heads_find(a, line, heads);
    for (uint32_t k = 0; k < line->stream_count; k++) {
        const struct stk_stream_head *h = &heads[line->streams[k]];
        if (stk_stream_head_is_queue(a, h)) {
            line->queued += h->count;
            line->queued_end_ns = h->end_ns > line->queued_end_ns ? h->end_ns : line->queued_end_ns;
        }
    }
}

static void sum_device(const struct stk_analysis *a, struct stk_device_line *line,
                       struct stk_device_sum *d)
{
    d->ops = line->op_count;
    d->first_ns = line->op_count ? line->ops[0].start_ns : 0;
    int64_t last_ns = d->first_ns;
    for (uint32_t i = 0; i < line->op_count; i++) {
        last_ns = line->ops[i].end_ns > last_ns ? line->ops[i].end_ns : last_ns;
    }
    d->span_ns = last_ns - d->first_ns;
    d->busy_ns = stk_spans_total(&line->busy);
    d->idle_ns = d->span_ns - d->busy_ns;
    count_ops(a, line, d);
    d->linked_ops = line->linked;
    d->communication_exposed_ns = stk_spans_total(&line->exposed[STK_PART_COMMUNICATION]);
    d->transfer_exposed_ns = stk_spans_total(&line->exposed[STK_PART_H2D]) +
                             stk_spans_total(&line->exposed[STK_PART_D2H]) +
                             stk_spans_total(&line->exposed[STK_PART_D2D]);
}

const struct stk_device_op *stk_line_op_at(const struct stk_analysis *a,
                                           const struct stk_device_line *line, uint32_t *at,
                                           int64_t t_ns)
{
    STK_ASSERT(*at <= line->op_count);
    while (*at < line->op_count && line->ops[*at].start_ns < t_ns) {
        (*at)++;
    }
    const struct stk_device_op *found = NULL;
    for (uint32_t i = *at; i < line->op_count && line->ops[i].start_ns == t_ns; i++) {
        const struct stk_device_op *op = &line->ops[i];
        if (op->end_ns == op->start_ns) {
            break;
        }
        if (stk_launch_of(a, op->event) != STK_NONE) {
            return op;
        }
        found = found ? found : op;
    }
    return found;
}

static const char *text(struct stk_analysis *a, uint32_t string)
{
    struct stk_str s = stk_strpool_get(&a->t->strings, string);
    return s.n ? stk_arena_strndup(a->out, s.p, s.n) : "";
}

static bool name_device(struct stk_analysis *a, struct stk_device_line *line,
                        struct stk_device_sum *d)
{
    const struct stk_device *dev = &a->t->devices[line->device];
    d->rank = a->sum->rank;
    d->ordinal = dev->ordinal;
    d->kind = dev->kind;
    d->id = stk_arena_printf(a->out, "%d/%lld", d->rank < 0 ? 0 : (int)d->rank,
                             (long long)dev->ordinal);
    d->source_id = text(a, dev->source_id);
    d->name = text(a, dev->name);
    uint32_t host = a->t->processes[dev->process].host;
    d->host = text(a, host ? host : a->t->host);
    return d->id && d->source_id && d->name && d->host;
}

static bool is_selected(const struct stk_analysis *a, const struct stk_device_sum *d)
{
    return !a->select->has_device || a->select->device == d->ordinal;
}

// Otherwise a device that only receives a few copies would halve all shares.
static void choose_analysed(struct stk_analysis *a)
{
    int64_t most_ns = 0;
    for (uint32_t i = 0; i < a->sum->device_count; i++) {
        const struct stk_device_sum *d = &a->sum->devices[i];
        if (is_selected(a, d) && d->kernels && d->busy_ns > most_ns) {
            most_ns = d->busy_ns;
        }
    }
    for (uint32_t i = 0; i < a->sum->device_count; i++) {
        struct stk_device_sum *d = &a->sum->devices[i];
        if (!is_selected(a, d)) {
            d->left_out = "not selected";
        } else if (d->ops == 0) {
            d->left_out = "no operations in the selected time";
        } else if (d->kernels == 0) {
            d->left_out = "no kernels on it";
        } else if (d->busy_ns < most_ns / 100 * ANALYSED_PERCENT) {
            d->left_out = "busy for less than 5% of the busiest device's time";
        } else {
            d->analysed = true;
        }
    }
}

static uint32_t find_devices(struct stk_analysis *a, const struct streams *streams)
{
    const struct stk_trace *t = a->t;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->device_count; i++) {
        if (streams->first[i] < streams->first[i + 1] && a->in_rank[t->devices[i].process]) {
            a->lines[n++] =
                (struct stk_device_line){.device = i,
                                         .streams = streams->track + streams->first[i],
                                         .stream_count = streams->first[i + 1] - streams->first[i]};
        }
    }
    return n;
}

struct line_job {
    struct stk_analysis *a;
    struct stk_stream_head *heads; // per track
    enum stoker_status host_status;
    struct stoker_err host_err;
    atomic_bool no_memory;
};

// Task 0 scans the host meanwhile.
static void build_line(void *arg, size_t task)
{
    struct line_job *job = arg;
    if (task == 0) {
        job->host_status = stk_host_scan(job->a, &job->host_err);
        return;
    }
    struct stk_device_line *line = &job->a->lines[task - 1];
    struct stk_device_sum *d = &job->a->sum->devices[task - 1];
    if (sort_ops(job->a, line) && build_sets(line, d)) {
        stk_line_find_queued(job->a, line, job->heads);
        sum_device(job->a, line, d);
    } else {
        atomic_store(&job->no_memory, true);
    }
}

enum stoker_status stk_lines_build(struct stk_analysis *a, struct stoker_err *err)
{
    struct line_job job = {.a = a};
    struct streams streams;
    a->lines = stk_arena_array(&a->scratch, (size_t)a->t->device_count + 1, sizeof *a->lines);
    job.heads = stk_arena_array(&a->scratch, (size_t)a->t->track_count + 1, sizeof *job.heads);
    if (!a->lines || !job.heads || !index_streams(a, &streams)) {
        return stk_err_nomem(err);
    }
    uint32_t n = find_devices(a, &streams);
    a->sum->devices = stk_arena_array(a->out, (size_t)n + 1, sizeof *a->sum->devices);
    if (!a->sum->devices) {
        return stk_err_nomem(err);
    }
    a->sum->device_count = n; // what deinit must free
    for (uint32_t i = 0; i < n; i++) {
        if (!name_device(a, &a->lines[i], &a->sum->devices[i])) {
            return stk_err_nomem(err);
        }
    }
    stk_err_init(&job.host_err);
    stk_thread_each(a->worker_count, (size_t)n + 1, build_line, &job);
    if (atomic_load(&job.no_memory)) {
        return stk_err_nomem(err);
    }
    if (job.host_status != STOKER_OK) {
        if (err) {
            *err = job.host_err;
        }
        return job.host_status;
    }
    choose_analysed(a);
    return STOKER_OK;
}
