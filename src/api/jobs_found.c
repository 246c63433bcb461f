// SPDX-License-Identifier: Apache-2.0
// Makes the document of several jobs: each is merged and diagnosed as if given alone, and its row
// keeps what the list shows.
#include <string.h>

#include "api/api.h"
#include "api/inputs.h"
#include "api/inputs_impl.h"
#include "api/job_command.h"
#include "answers/passes/run_names.h"
#include "profile/readers/reader.h"
#include "stoker/version.h"

static const char *copy(struct stk_arena *arena, const char *text, bool *failed)
{
    const char *out = text ? stk_arena_strdup(arena, text) : NULL;
    *failed |= text && !out;
    return out;
}

// Length of a file's name without its format: "trace" of "trace.pt.trace.json.gz".
static size_t stem_of(const char *base)
{
    struct stk_str unpacked = stk_reader_unpacked_name(base);
    size_t cut = 0;
    for (int i = 0; i < stk_reader_count; i++) {
        const struct stk_reader_suffix *s = stk_reader_suffix_of(stk_readers[i], base);
        size_t n = s ? strlen(s->text) : 0;
        cut = n > cut && n < unpacked.n ? n : cut;
    }
    return unpacked.n - cut;
}

// "rank0 and 3 more".
static const char *label_of(struct stk_arena *arena, const struct stk_list *paths)
{
    const char *const *path = paths->items;
    const char *base = stk_input_base(path[0]).p;
    int n = (int)stem_of(base);
    return paths->count > 1
               ? stk_arena_printf(arena, "%.*s and %zu more", n, base, paths->count - 1)
               : stk_arena_printf(arena, "%.*s", n, base);
}

static void list_paths(struct stk_arena *arena, const struct stk_collected *part,
                       struct stk_jobs_job *row, bool *failed)
{
    const char **paths = stk_arena_array(arena, part->job_count + 1, sizeof *paths);
    *failed |= !paths;
    for (size_t i = 0; paths && i < part->job_count; i++) {
        paths[i] = copy(arena, part->jobs[i].info.path, failed);
    }
    if (!*failed) {
        row->paths = (struct stk_list){.items = paths, .count = part->job_count};
        row->label = label_of(arena, &row->paths);
        row->format = copy(arena, part->jobs[0].info.format, failed);
    }
    *failed |= !row->label;
}

static void take_verdict(struct stk_arena *arena, const struct stk_report *report,
                         struct stk_jobs_job *row, bool *failed)
{
    const struct stk_rep_finding *f = report->findings.items;
    row->steps = report->steps.used;
    row->has_times = report->steps.has_times;
    row->median_ns = report->steps.median_ns;
    row->has_verdict = true;
    row->verdict.kind = report->verdict.kind;
    row->verdict.sentence = copy(arena, report->verdict.sentence, failed);
    row->verdict.confidence = report->verdict.confidence;
    row->has_finding = report->findings.count > 0;
    if (row->has_finding) {
        row->finding = (struct stk_jobs_finding){.id = copy(arena, f->id, failed),
                                                 .title = copy(arena, f->title, failed),
                                                 .severity = f->severity,
                                                 .has_low = f->saving.has_low,
                                                 .has_expected = f->saving.has_expected,
                                                 .has_high = f->saving.has_high,
                                                 .low_share = f->saving.low_share,
                                                 .expected_share = f->saving.expected_share,
                                                 .high_share = f->saving.high_share};
    }
}

static enum stoker_status describe_job(struct stoker_result *r, size_t k,
                                       const struct stoker_why_options *options,
                                       struct stk_jobs_job *row, struct stoker_err *err)
{
    struct stk_arena *arena = &r->in.arena;
    struct stk_collected part;
    struct stk_report report = {.schema = NULL};
    bool failed = false;
    enum stoker_status status = stk_collect_part(&r->in, k, options, &part, err);
    list_paths(arena, &part, row, &failed);
    row->note = options->redact ? NULL : r->in.groups.notes[k];
    if (status == STOKER_OK) {
        status = stk_diagnose(&part, options, &report, err);
    }
    if (status == STOKER_OK) {
        const char *device = NULL, *framework = NULL;
        failed |= !stk_run_devices(part.run, arena, &device, &row->devices) ||
                  !stk_run_frameworks(part.run, arena, &framework);
        row->device = copy(arena, device, &failed);
        row->framework = framework;
        row->ranks = part.run->rank_count;
        take_verdict(arena, &report, row, &failed);
        enum stoker_level level = stk_report_level(&report);
        r->level = level > r->level ? level : r->level;
    } else if (status != STOKER_ENOMEM && status != STOKER_EINTR) {
        row->error = copy(arena, options->redact ? "it can't be judged" : err->message, &failed);
        stk_err_init(err);
        status = STOKER_OK;
    }
    stk_part_free(&part);
    return failed ? stk_err_nomem(err) : status;
}

static bool was_read(const struct stk_collected *c, const char *path)
{
    const struct stk_jobs_skipped *s = c->groups.skipped.items;
    for (size_t i = 0; i < c->job_count; i++) {
        if (strcmp(c->jobs[i].path, path) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < c->groups.skipped.count; i++) {
        if (strcmp(s[i].path, path) == 0) {
            return true;
        }
    }
    return false;
}

// Files read that belong to no job, then files not read.
static enum stoker_status list_skipped(struct stoker_result *r,
                                       const struct stoker_why_options *options,
                                       struct stoker_err *err)
{
    const struct stk_collected *c = &r->in;
    size_t n = c->groups.skipped.count, most = n + (c->inputs->count - c->inputs->taken);
    struct stk_jobs_skipped *rows = stk_arena_array(&r->in.arena, most + 1, sizeof *rows);
    if (!rows) {
        return stk_err_nomem(err);
    }
    if (n) {
        memcpy(rows, c->groups.skipped.items, n * sizeof *rows);
    }
    for (uint32_t i = c->inputs->taken; i < c->inputs->count; i++) {
        const struct stk_input *in = &c->inputs->entries[i];
        if (!was_read(c, in->path)) {
            rows[n++] = (struct stk_jobs_skipped){in->path, in->why ? in->why : "not a profile"};
        }
    }
    size_t limit = options->redact ? 0 : options->limit ? options->limit : n;
    size_t shown = n < limit ? n : limit;
    r->jobs->skipped = (struct stk_list){.items = rows, .count = shown, .left_out = n - shown};
    return STOKER_OK;
}

enum stoker_status stk_jobs_found(struct stoker_result *r, const struct stoker_why_options *options,
                                  struct stoker_err *err)
{
    size_t count = r->in.groups.count;
    struct stk_jobs_job *rows = stk_arena_array(&r->in.arena, count, sizeof *rows);
    r->jobs = stk_arena_array(&r->in.arena, 1, sizeof *r->jobs);
    if (!rows || !r->jobs) {
        r->jobs = NULL;
        return stk_err_nomem(err);
    }
    r->jobs->schema = STK_JOBS_SCHEMA;
    r->jobs->stoker.version = stoker_version();
    enum stoker_status status = STOKER_OK;
    if (options->redact) { // all at once: names are numbered over all of them
        status = stk_redact(r->in.jobs, r->in.job_count, &r->in.arena, err);
        r->in.is_redacted = true;
    }
    for (size_t k = 0; k < count && status == STOKER_OK; k++) {
        status = describe_job(r, k, options, &rows[k], err);
    }
    r->jobs->jobs = (struct stk_list){.items = rows, .count = count};
    if (status == STOKER_OK && !options->redact) {
        r->jobs->pick = stk_shell_words(&r->in.arena, rows[0].paths.items, rows[0].paths.count);
    }
    return status == STOKER_OK ? list_skipped(r, options, err) : status;
}
