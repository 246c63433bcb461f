// SPDX-License-Identifier: Apache-2.0
// From paths to one run: inputs -> summaries -> run -> verdict. Shared by `stoker why` and `stoker
// stats`. The traces are freed before the ranks are merged, unless they are kept.
#include <stdio.h>
#include <string.h>

#include "answers/partial/partial.h"
#include "answers/replay/graph.h"
#include "api/api.h"
#include "api/inputs.h"
#include "api/inputs_impl.h"
#include "base/alloc.h"
#include "profile/model/sum/merge_rows.h"

enum { JOBS_NAMED = 3 }; // in an error

static enum stoker_status to_select(const struct stoker_why_options *o, struct stk_select *out,
                                    struct stoker_err *err)
{
    *out = (struct stk_select){
        .has_steps = o->has_steps,
        .has_rank = o->has_rank,
        .has_device = o->has_device,
        .has_from = o->has_from,
        .has_to = o->has_to,
        .step_first = o->step_first,
        .step_last = o->step_last,
        .rank = (int32_t)o->rank,
        .device = o->device,
        .from_ns = o->from_ns,
        .to_ns = o->to_ns,
    };
    if (o->has_rank && (o->rank < 0 || o->rank > INT32_MAX)) {
        return stk_err_set(err, STOKER_EUSAGE, "a rank is a number, 0 or more");
    }
    if (o->has_steps && o->step_first > o->step_last) {
        return stk_err_set(err, STOKER_EUSAGE, "the first selected step is after the last one");
    }
    if (o->has_from && o->has_to && o->from_ns >= o->to_ns) {
        return stk_err_set(err, STOKER_EUSAGE, "the selected time ends before it begins");
    }
    return STOKER_OK;
}

// Is the file in a directory that the user gave?
static bool was_found(const struct stk_input *in, const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(paths[i]);
        if (n && strncmp(paths[i], in->path, n) == 0 && strlen(in->path) > n &&
            (paths[i][n - 1] == '/' || in->path[n] == '/')) {
            return true;
        }
    }
    return false;
}

static bool was_named(const struct stk_input *in, const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(paths[i], in->path) == 0) {
            return true;
        }
    }
    return false;
}

// The trace of that file in an open run.
static const struct stk_trace *find_lent(const struct stk_collected *lender, const char *path)
{
    for (size_t i = 0; i < lender->job_count; i++) {
        if (lender->jobs[i].trace && strcmp(lender->jobs[i].path, path) == 0) {
            return lender->jobs[i].trace;
        }
    }
    return NULL;
}

enum stoker_status stk_collect_find(struct stk_collected *c, const char *const *paths, size_t count,
                                    const struct stoker_why_options *options,
                                    struct stoker_err *err)
{
    enum stoker_status status = to_select(options, &c->select, err);
    if (status != STOKER_OK) {
        return status;
    }
    struct stk_inputs *inputs = stk_arena_array(&c->arena, 1, sizeof *inputs);
    if (!inputs) {
        return stk_err_nomem(err);
    }
    c->inputs = inputs;
    status = stk_inputs_expand(paths, count, &c->arena, inputs, err);
    if (status != STOKER_OK) {
        return status;
    }
    c->jobs = stk_alloc_zero(inputs->taken, sizeof *c->jobs);
    if (!c->jobs) {
        return stk_err_nomem(err);
    }
    c->job_count = inputs->taken;
    for (size_t i = 0; i < c->job_count; i++) {
        c->jobs[i].path = inputs->entries[i].path;
        c->jobs[i].rank_hint = inputs->entries[i].rank_hint;
        c->jobs[i].is_numbered = inputs->entries[i].is_numbered;
        c->jobs[i].is_found = was_found(&inputs->entries[i], paths, count);
        c->jobs[i].lent = c->lender ? find_lent(c->lender, c->jobs[i].path) : NULL;
    }
    return STOKER_OK;
}

// Keeps the newest of several consecutive recordings, and notes what was left out.
static enum stoker_status choose_run(struct stk_collected *c, struct stoker_err *err)
{
    struct stk_inputs *inputs = c->inputs;
    const char *note = NULL;
    size_t before = c->job_count;
    enum stoker_status status = stk_runs_choose(c->jobs, &c->job_count, &c->arena, &note, err);
    if (status != STOKER_OK || !note) {
        return status;
    }
    inputs->left_out += (uint32_t)(before - c->job_count);
    inputs->note = inputs->note ? stk_arena_printf(&c->arena, "%s; %s", inputs->note, note) : note;
    return inputs->note ? STOKER_OK : stk_err_nomem(err);
}

static bool is_job(const struct stk_collected *c, const char *path)
{
    for (size_t k = 0; k < c->job_count; k++) {
        if (strcmp(c->jobs[k].path, path) == 0) {
            return true;
        }
    }
    return false;
}

// Files not taken become issues: a file named by the user failed, others in a directory are only
// left out. (A file given twice was taken once: not a failure.)
static enum stoker_status record_left_out(struct stk_collected *c, const char *const *paths,
                                          size_t count, struct stoker_err *err)
{
    const struct stk_inputs *inputs = c->inputs;
    struct stk_input_info *info = &c->jobs[0].info;
    uint64_t failed = 0;
    for (uint32_t i = inputs->taken; i < inputs->count; i++) {
        const struct stk_input *in = &inputs->entries[i];
        if (is_job(c, in->path) || !was_named(in, paths, count)) {
            continue;
        }
        failed++;
        info->issues[STK_ISSUE_INPUT_FAILED].count++;
        if (info->issue_notes[STK_ISSUE_INPUT_FAILED]) {
            continue;
        }
        info->issue_notes[STK_ISSUE_INPUT_FAILED] =
            stk_arena_printf(&c->arena, "%s: %s", in->path, in->why ? in->why : "not a profile");
        if (!info->issue_notes[STK_ISSUE_INPUT_FAILED]) {
            return stk_err_nomem(err);
        }
    }
    if (inputs->left_out > failed) {
        info->issues[STK_ISSUE_FILE_SKIPPED].count += inputs->left_out - failed;
        info->issue_notes[STK_ISSUE_FILE_SKIPPED] = inputs->note;
    }
    return STOKER_OK;
}

// A selection that matches nothing is a mistake, not an inconclusive profile.
static enum stoker_status check_selection(const struct stk_run_sum *run,
                                          const struct stk_select *select, struct stoker_err *err)
{
    bool any = !select->has_steps;
    for (uint32_t i = 0; i < run->step_count && !any; i++) {
        any =
            !run->steps[i].excluded || strcmp(run->steps[i].excluded, STK_EXCLUDED_UNSELECTED) != 0;
    }
    if (!any && select->step_last == INT64_MAX) {
        return stk_err_set(err, STOKER_EUSAGE, "the profile has no step %lld or later",
                           (long long)select->step_first);
    }
    if (!any) {
        return stk_err_set(err, STOKER_EUSAGE, "the profile has no step from %lld to %lld",
                           (long long)select->step_first, (long long)select->step_last);
    }
    any = !select->has_device;
    for (uint32_t i = 0; i < run->device_count && !any; i++) {
        any = run->devices[i].ordinal == select->device;
    }
    if (!any) {
        return stk_err_set(err, STOKER_EUSAGE, "the profile has no device %lld",
                           (long long)select->device);
    }
    return STOKER_OK;
}

// Damage that left nothing to read is an input error; an empty but valid profile isn't.
static enum stoker_status check_events(const struct stk_collected *c, struct stoker_err *err)
{
    uint64_t read = 0;
    const char *damage = NULL;
    for (size_t i = 0; i < c->job_count; i++) {
        read += c->jobs[i].info.read;
        for (int id = 0; id < STK_ISSUE_COUNT; id++) {
            if (c->jobs[i].info.issues[id].count &&
                stk_issue_info(id)->severity != STK_SEVERITY_INFO && !damage) {
                damage = stk_issue_info(id)->meaning;
            }
        }
    }
    if (read > 0 || !damage) {
        return STOKER_OK;
    }
    return stk_err_set(err, STOKER_EINPUT, "%s: no event could be read: %s", c->jobs[0].path,
                       damage);
}

// Recordings of a loader's workers belong to the run of the process that trains.
static enum stoker_status add_workers(struct stk_collected *c, uint32_t rank_count,
                                      struct stoker_err *err)
{
    for (size_t i = 0; i < c->job_count; i++) {
        stk_worker_sum_merge(&c->run->workers, &c->jobs[i].workers);
    }
    if (rank_count == 0 && c->run->workers.workers > 0) {
        return stk_err_set(
            err, STOKER_EUSAGE,
            "%s records a DataLoader worker: give it together with the training process's profile",
            c->jobs[0].path);
    }
    return STOKER_OK;
}

static enum stoker_status merge(struct stk_collected *c, const struct stoker_why_options *options,
                                struct stoker_err *err)
{
    struct stk_rank_sum **ranks = NULL;
    uint32_t rank_count = 0, again_count = 0;
    enum stoker_status status = stk_ranks_collect(c->jobs, c->job_count, &c->select, &c->arena,
                                                  &ranks, &rank_count, &again_count, err);
    if (status == STOKER_OK && options->redact && !c->is_redacted) {
        status = stk_redact(c->jobs, c->job_count, &c->arena, err);
    }
    if (status == STOKER_OK) {
        status = stk_model_merge(ranks, rank_count, &c->arena, &c->run, err);
    }
    if (status == STOKER_OK) {
        status = add_workers(c, rank_count, err);
    }
    if (status == STOKER_OK) {
        status = stk_machine_choose(c->jobs, c->job_count, c->run, &c->arena, err);
    }
    if (status == STOKER_OK) {
        c->run->ranks = ranks; // the ranks, and their duplicates
        c->run->again_count = again_count;
        status = check_selection(c->run, &c->select, err);
    }
    if (status == STOKER_OK) {
        status = stk_verdict_decide(c->run, &c->arena, &c->verdict, err);
    }
    if (status != STOKER_OK) {
        return status;
    }
    struct stk_input_info *infos = stk_arena_array(&c->arena, c->job_count, sizeof *infos);
    if (!infos) {
        return stk_err_nomem(err);
    }
    for (size_t i = 0; i < c->job_count; i++) {
        infos[i] = c->jobs[i].info;
    }
    c->pass = (struct stk_pass_ctx){.inputs = infos,
                                    .input_count = (uint32_t)c->job_count,
                                    .run = c->run,
                                    .verdict = &c->verdict,
                                    .select = &c->select,
                                    .limit = options->limit,
                                    .arena = &c->arena};
    return STOKER_OK;
}

// "gpu_jax.xplane.pb, trace.json and 5 more".
static enum stoker_status refuse_jobs(const struct stk_collected *c, struct stoker_err *err)
{
    char names[200] = "";
    size_t n = 0, shown = 0;
    for (; shown < c->groups.count && shown < JOBS_NAMED; shown++) {
        struct stk_str base = stk_input_base(c->jobs[c->groups.first[shown]].path);
        int more = snprintf(names + n, sizeof names - n, "%s%.50s", shown ? ", " : "", base.p);
        n += more > 0 ? (size_t)more : 0;
    }
    if (shown < c->groups.count) {
        snprintf(names + n, sizeof names - n, " and %zu more", c->groups.count - shown);
    }
    return stk_err_set(err, STOKER_EUSAGE,
                       "the profiles are of %zu jobs, not the ranks of one run: %s. Choose one of "
                       "them (stoker why lists them), or use --as-ranks",
                       c->groups.count, names);
}

// Finds which jobs the files belong to, unless the user says that they are ranks.
static enum stoker_status find_jobs(struct stk_collected *c,
                                    const struct stoker_why_options *options,
                                    const struct stk_view_hook *hook, struct stoker_err *err)
{
    if (options->as_ranks) {
        return STOKER_OK;
    }
    enum stoker_status status = stk_beside_read(c, options, hook, err);
    if (status == STOKER_OK) {
        status = stk_groups_make(c->jobs, &c->job_count, &c->arena, &c->groups, err);
    }
    return status == STOKER_OK && c->groups.count && !c->takes_jobs ? refuse_jobs(c, err) : status;
}

static enum stoker_status read_inputs(struct stk_collected *c, const char *const *paths,
                                      size_t count, const struct stoker_why_options *options,
                                      const struct stk_view_hook *hook, struct stoker_err *err)
{
    const struct stk_view_hook *reads =
        options->partial && hook == &stk_replay_brief_hook ? &stk_partial_hook : hook;
    enum stoker_status status = stk_collect_find(c, paths, count, options, err);
    if (status == STOKER_OK && c->joined) { // instead of the files that were found
        c->job_count = 1;
        c->jobs[0] = (struct stk_job){.path = c->joined, .rank_hint = -1};
    }
    if (status == STOKER_OK) {
        c->stdin_name = options->stdin_name;
        status = stk_partials_expand(c, hook, err);
    }
    if (status == STOKER_OK) {
        status =
            stk_jobs_read(c->jobs, c->job_count, options, &c->select, reads, c->keep_bytes, err);
    }
    return status == STOKER_OK && reads != hook ? stk_partials_hand_on(c, options, hook, err)
                                                : status;
}

enum stoker_status stk_collect(struct stk_collected *c, const char *const *paths, size_t count,
                               const struct stoker_why_options *options,
                               const struct stk_view_hook *hook, struct stoker_err *err)
{
    enum stoker_status status = read_inputs(c, paths, count, options, hook, err);
    if (status == STOKER_OK) {
        status = find_jobs(c, options, hook, err);
    }
    if (status != STOKER_OK || c->groups.count) {
        return status;
    }
    status = options->as_ranks ? STOKER_OK : choose_run(c, err);
    if (status == STOKER_OK) {
        status = check_events(c, err);
    }
    if (status == STOKER_OK) {
        status = record_left_out(c, paths, count, err);
    }
    return status == STOKER_OK ? merge(c, options, err) : status;
}

enum stoker_status stk_collect_items(struct stk_collected *c, const char *const *paths,
                                     size_t count, const struct stoker_why_options *options,
                                     const struct stk_view_hook *hook, struct stoker_err *err)
{
    enum stoker_status status = read_inputs(c, paths, count, options, hook, err);
    for (uint32_t i = c->inputs ? c->inputs->taken : 0; status == STOKER_OK && i < c->inputs->count;
         i++) {
        const struct stk_input *in = &c->inputs->entries[i];
        if (was_named(in, paths, count) && !is_job(c, in->path)) {
            return stk_err_set(err, STOKER_EINPUT, "%s: %s", in->path,
                               in->why ? in->why : "not a profile");
        }
    }
    return status == STOKER_OK ? record_left_out(c, paths, count, err) : status;
}

enum stoker_status stk_collect_part(struct stk_collected *c, size_t k,
                                    const struct stoker_why_options *options,
                                    struct stk_collected *part, struct stoker_err *err)
{
    *part = (struct stk_collected){.jobs = c->jobs + c->groups.first[k],
                                   .job_count = c->groups.first[k + 1] - c->groups.first[k],
                                   .select = c->select,
                                   .has_graphs = c->has_graphs,
                                   .is_redacted = c->is_redacted};
    stk_arena_init(&part->arena, 0);
    enum stoker_status status = check_events(part, err);
    return status == STOKER_OK ? merge(part, options, err) : status;
}

void stk_part_free(struct stk_collected *part)
{
    stk_arena_deinit(&part->arena); // the jobs belong to the other run
}

void stk_collected_free(struct stk_collected *c)
{
    stk_jobs_free(c->jobs, c->job_count);
    stk_arena_deinit(&c->arena);
}
