// SPDX-License-Identifier: Apache-2.0
// Diagnoses end to end: the run and its verdict (collect.c), then the report (diagnose.c), or with
// several jobs the list of them (jobs_found.c).
#include <string.h>

#include "api/api.h"
#include "api/job_command.h"
#include "base/alloc.h"
#include "answers/replay/replay.h"
#include "stoker/partial.h"

void stoker_why_options_default(struct stoker_why_options *options)
{
    if (options) {
        *options = (struct stoker_why_options){.limit = 10000};
    }
}

// The parts of the commands that try or estimate a fix. --redact leaves them out.
static void put_commands(struct stoker_result *r, const char *const *paths, size_t count)
{
    struct stk_arena *arena = &r->in.arena;
    if (r->in.job_count > 0) {
        r->report.command = stk_job_command(arena, r->in.jobs[0].path);
    }
    if (count == 1 && strcmp(paths[0], "-") != 0) {
        r->report.given = stk_shell_words(arena, paths, 1);
    }
}

static enum stoker_status why(struct stoker_result *r, const char *const *paths, size_t count,
                              const struct stoker_why_options *options, struct stoker_err *err)
{
    r->in.has_graphs = true;
    r->in.takes_jobs = true;
    enum stoker_status status =
        stk_collect(&r->in, paths, count, options, &stk_replay_brief_hook, err);
    if (status == STOKER_OK && r->in.groups.count) {
        return stk_jobs_found(r, options, err);
    }
    if (status == STOKER_OK && !options->redact) {
        put_commands(r, paths, count);
    }
    return status == STOKER_OK ? stk_diagnose(&r->in, options, &r->report, err) : status;
}

static enum stoker_status open_result(const char *const *paths, size_t count, const char *joined,
                                      const struct stoker_why_options *options,
                                      struct stoker_result **out, struct stoker_err *err)
{
    struct stoker_why_options defaults;
    if (stk_entry_paths("stoker_why", paths, count, out, err) != STOKER_OK) {
        return STOKER_EINVAL;
    }
    *out = NULL;
    stoker_why_options_default(&defaults);
    err = stk_err_begin(err, &(struct stoker_err){0});
    struct stoker_result *r = stk_alloc_zero(1, sizeof *r);
    if (!r) {
        return stk_err_nomem(err);
    }
    stk_arena_init(&r->in.arena, 0);
    r->in.joined = joined;
    uint64_t refused = stk_alloc_refusals();
    if (stk_err_whole(refused, why(r, paths, count, options ? options : &defaults, err), err) !=
        STOKER_OK) {
        stoker_result_free(r);
        return stk_err_fail(err);
    }
    *out = r;
    return STOKER_OK;
}

enum stoker_status stoker_why(const char *const *paths, size_t count,
                              const struct stoker_why_options *options, struct stoker_result **out,
                              struct stoker_err *err)
{
    return open_result(paths, count, NULL, options, out, err);
}

enum stoker_status stoker_plan_why(const char *const *paths, size_t count, const char *joined,
                                   const struct stoker_why_options *options,
                                   struct stoker_result **out, struct stoker_err *err)
{
    return joined ? open_result(paths, count, joined, options, out, err)
                  : stk_err_misuse(err, "stoker_plan_why needs a partial");
}
