// SPDX-License-Identifier: Apache-2.0
// Converts profiles to another format: the run with its traces (open.c), its report, the pieces of
// each device's time, then one of the exporters.
#include "stoker/export.h"

#include <string.h>

#include "base/alloc.h"
#include "api/export_parts.h"
#include "api/export_run.h"
#include "api/path_pieces.h"
#include "stoker/version.h"

static enum stoker_status fetch_args(void *arg, uint32_t file, uint32_t event,
                                     stk_export_emit_fn *emit, void *emit_arg,
                                     struct stoker_err *err)
{
    struct stoker_export *e = arg;
    uint32_t rank = 0; // any that has the file
    while (e->x.ranks[rank].file != file) {
        rank++;
    }
    const struct stk_open_rank *from = &e->run.ranks[rank];
    return stk_query_args_fetch(&e->args, from->job->path, from->trace, event, emit, emit_arg, err);
}

// ---- opening ----

static uint32_t file_of(struct stk_export *x, const struct stk_open_rank *rank)
{
    for (uint32_t i = 0; i < x->file_count; i++) {
        if (x->files[i].t == rank->trace) {
            return i;
        }
    }
    x->files[x->file_count] = (struct stk_export_file){
        .t = rank->trace, .path = rank->job->info.path, .shift_ns = rank->shift_ns};
    return x->file_count++;
}

// The time of the selected steps, on the CPU and on devices; in the run's time.
static void steps_time(const struct stk_select *select, const struct stk_rank_sum *sum,
                       int64_t *from_ns, int64_t *to_ns)
{
    *from_ns = INT64_MAX;
    *to_ns = INT64_MIN;
    for (uint32_t i = 0; i < sum->step_count; i++) {
        const struct stk_step *s = &sum->steps[i];
        if (s->number < select->step_first || s->number > select->step_last) {
            continue;
        }
        bool on_host = s->host_dur_ns >= 0;
        int64_t start = on_host && s->host_start_ns < s->start_ns ? s->host_start_ns : s->start_ns;
        int64_t end = s->start_ns + s->dur_ns;
        if (on_host && s->host_start_ns + s->host_dur_ns > end) {
            end = s->host_start_ns + s->host_dur_ns;
        }
        *from_ns = start < *from_ns ? start : *from_ns;
        *to_ns = end > *to_ns ? end : *to_ns;
    }
}

void stk_export_run_select(const struct stk_select *select, const struct stk_open_rank *rank,
                           struct stk_export_file *f)
{
    int64_t from_ns = INT64_MIN, to_ns = INT64_MAX;
    if (select->has_steps) {
        steps_time(select, rank->sum, &from_ns, &to_ns);
        if (from_ns < to_ns) {
            from_ns -= rank->shift_ns;
            to_ns -= rank->shift_ns;
        }
    }
    // --from and --to count from the trace's own first event, as for every analysis.
    if (select->has_from && select->from_ns > from_ns) {
        from_ns = select->from_ns;
    }
    if (select->has_to && select->to_ns < to_ns) {
        to_ns = select->to_ns;
    }
    for (uint32_t p = 0; p < rank->trace->process_count; p++) {
        if (rank->sum->in_rank[p]) {
            f->processes[p] = (struct stk_export_process){
                .rank = rank->sum->rank, .taken = true, .from_ns = from_ns, .to_ns = to_ns};
        }
    }
}

static enum stoker_status place_ranks(struct stoker_export *e, bool redact, struct stoker_err *err)
{
    struct stk_export *x = &e->x;
    size_t n = (size_t)e->run.rank_count + 1;
    x->files = stk_arena_array(&e->arena, n, sizeof *x->files);
    x->ranks = stk_arena_array(&e->arena, n, sizeof *x->ranks);
    if (!x->files || !x->ranks) {
        return stk_err_nomem(err);
    }
    for (uint32_t i = 0; i < e->run.rank_count; i++) {
        const struct stk_open_rank *rank = &e->run.ranks[i];
        const struct stk_export_parts *parts = rank->sum->partial;
        uint32_t file = file_of(x, rank);
        struct stk_export_file *f = &x->files[file];
        if (!f->processes) {
            f->processes = stk_arena_array(&e->arena, (size_t)rank->trace->process_count + 1,
                                           sizeof *f->processes);
        }
        if (!f->processes) {
            return stk_err_nomem(err);
        }
        stk_export_run_select(&e->run.in.select, rank, f);
        x->ranks[x->rank_count++] = (struct stk_export_rank){
            .file = file,
            .sum = rank->sum,
            .pieces = parts ? parts->v : NULL,
            .piece_count = parts ? parts->count : 0,
        };
        if (parts) {
            x->ranks[x->rank_count - 1].path = stk_path_pieces_shown(&parts->path, redact);
        }
    }
    return STOKER_OK;
}

static enum stoker_status open_run(struct stoker_export *e, const char *const *paths, size_t count,
                                   const struct stoker_why_options *options, struct stoker_err *err)
{
    static const struct stk_view_hook hook = {
        .see = stk_export_parts_see,
        .wants_gaps = true,
        .wants = STK_WANT_MEMORY | STK_WANT_COUNTERS | STK_WANT_COLLECTIVES | STK_WANT_INPUT |
                 STK_WANT_LAUNCHES,
    };
    struct stk_export *x = &e->x;
    enum stoker_status status = stk_open_run_read(&e->run, paths, count, options, &hook, err);
    if (status == STOKER_OK) {
        status = stk_diagnose(&e->run.in, options, &e->report, err);
    }
    if (status == STOKER_OK) {
        status = place_ranks(e, options->redact, err);
    }
    if (status != STOKER_OK) {
        return status;
    }
    x->report = &e->report;
    x->base_ns = x->rank_count ? x->ranks[0].sum->base_ns : 0;
    x->has_device = e->run.in.select.has_device;
    x->device = e->run.in.select.device;
    x->selection = e->report.profile.selection.items;
    x->selection_count = e->report.profile.selection.count;
    x->args = fetch_args;
    x->args_arg = e;
    e->args.redact = options->redact;
    e->args.spools = true;
    x->version = stoker_version();
    x->arena = &e->arena;
    return stk_export_plan(x, err);
}

enum stoker_status stoker_export_open(const char *const *paths, size_t count,
                                      const struct stoker_why_options *options,
                                      struct stoker_export **out, struct stoker_err *err)
{
    struct stoker_why_options defaults;
    if (stk_entry_paths("stoker_export_open", paths, count, out, err) != STOKER_OK) {
        return STOKER_EINVAL;
    }
    *out = NULL;
    stoker_why_options_default(&defaults);
    err = stk_err_begin(err, &(struct stoker_err){0});
    struct stoker_export *export_ = stk_alloc_zero(1, sizeof *export_);
    if (!export_) {
        return stk_err_nomem(err);
    }
    stk_arena_init(&export_->arena, 0);
    uint64_t refused = stk_alloc_refusals();
    if (stk_err_whole(refused, open_run(export_, paths, count, options ? options : &defaults, err),
                      err) != STOKER_OK) {
        stoker_export_free(export_);
        return stk_err_fail(err);
    }
    *out = export_;
    return STOKER_OK;
}

void stoker_export_free(struct stoker_export *export_)
{
    if (!export_) {
        return;
    }
    stk_query_args_free(&export_->args);
    stk_open_run_free(&export_->run);
    stk_arena_deinit(&export_->arena);
    stk_free(export_);
}

// ---- writing ----

static enum stoker_status check(const struct stoker_export *e, const struct stk_exporter *exporter,
                                const char *path, stoker_write_fn write, struct stoker_err *err)
{
    if (exporter->needs_file ? !path : !write) {
        return stk_err_set(err, STOKER_EUSAGE, "%s is written %s", exporter->name,
                           exporter->needs_file ? "to a file, not a stream: give -o FILE"
                                                : "through a callback");
    }
    if (e->x.with_args && !exporter->takes_args) {
        return stk_err_set(err, STOKER_EUSAGE, "%s can't hold arguments: leave out --args",
                           exporter->name);
    }
    if (exporter->one_rank && e->x.rank_count > 1) {
        return stk_err_set(err, STOKER_EUSAGE,
                           "%s holds one rank: choose one of the %u with --rank N", exporter->name,
                           (unsigned)e->x.rank_count);
    }
    return STOKER_OK;
}

enum stoker_status stk_export_run_write(struct stoker_export *e,
                                        const struct stk_exporter *exporter, const char *path,
                                        stoker_write_fn write, void *arg, struct stoker_err *err)
{
    struct stk_export_out out;
    stk_ex_init(&out, write, arg);
    out.path = path;
    e->x.counts = (struct stk_export_counts){0};
    enum stoker_status status = exporter->write(&e->x, &out, err);
    if (status == STOKER_OK) {
        status = stk_ex_finish(&out, err);
    }
    e->bytes = out.total;
    stk_ex_deinit(&out);
    return status;
}

enum stoker_status stoker_export_write(struct stoker_export *export_, const char *format,
                                       const struct stoker_export_options *options,
                                       const char *path, stoker_write_fn write, void *arg,
                                       struct stoker_err *err)
{
    if (!export_ || !format) {
        return stk_err_misuse(err, "stoker_export_write needs an export and a format");
    }
    struct stoker_export_format known;
    if (!stoker_export_find(format, &known, err)) {
        return STOKER_EUSAGE;
    }
    const struct stk_exporter *exporter = stk_exporter_find(format);
    export_->x.with_args = options && options->args;
    export_->x.csv_raw = options && options->csv_raw;
    err = stk_err_begin(err, &(struct stoker_err){0});
    if (check(export_, exporter, path, write, err) != STOKER_OK) {
        return stk_err_fail(err);
    }
    return stk_err_end(err, stk_export_run_write(export_, exporter, path, write, arg, err));
}

void stoker_export_counts(const struct stoker_export *export_, struct stoker_export_counts *out)
{
    const struct stk_export_counts *c = &export_->x.counts;
    *out = (struct stoker_export_counts){.events = c->events,
                                         .unselected = c->unselected,
                                         .rows_added = c->lane_rows,
                                         .overlaps = c->overlaps,
                                         .bytes = export_->bytes,
                                         .dropped = export_->report.profile.events.dropped,
                                         .stacks = c->stacks,
                                         .folded = c->folded};
}

const char *stoker_export_selection(const struct stoker_export *export_, size_t index)
{
    return index < export_->x.selection_count ? export_->x.selection[index] : NULL;
}
