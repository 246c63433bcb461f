// SPDX-License-Identifier: Apache-2.0
// A run with steps timed by the hooks; see measured.h.
#include "job/prove/measured.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/plain_file.h"
#include "job/capture/parent/hooks.h"
#include "job/capture/parent/scratch.h"
#include "job/capture/parent/step_record.h"

enum { FACTS_BYTES = 4 << 20 }; // read from a file of _stoker_tune.py at most

struct measuring {
    const struct stk_measure *run;
    const char *folder;
};

static bool is_done(void *arg)
{
    const struct measuring *m = arg;
    if (m->run->window) {
        return stk_steps_window_is_over(m->folder);
    }
    return m->run->steps && stk_steps_made(m->folder) >= m->run->steps;
}

static bool stop(void *arg)
{
    const struct measuring *m = arg;
    return m->run->stop && m->run->stop(m->run->arg);
}

static void starts(void *arg, pid_t root)
{
    const struct measuring *m = arg;
    if (m->run->starts) {
        m->run->starts(m->run->arg, root);
    }
}

static enum stoker_status take(void *arg, const char *bytes, size_t n, struct stoker_err *err)
{
    const struct measuring *m = arg;
    return m->run->take ? m->run->take(m->run->arg, bytes, n, err) : STOKER_OK;
}

static void judge(const struct stk_steps *lead, struct stk_measured *to)
{
    STK_ASSERT(lead->judged > 0);
    to->judged = lead->judged;
    to->mean_ns = lead->time_ns / lead->judged;
    to->median_ns = lead->median_ns;
    if (lead->head.has_wait && lead->time_ns) {
        to->wait_share = (double)lead->wait_ns / (double)lead->time_ns;
    }
}

static enum stoker_status read_steps(const char *folder, uint64_t warmup, uint64_t steps_most,
                                     struct stk_measured *to, struct stoker_err *err)
{
    struct stk_steps_of_run steps;
    uint64_t most = steps_most ? steps_most : UINT64_MAX;
    enum stoker_status status = stk_steps_read_first(folder, warmup, most, &steps, err);
    if (status == STOKER_OK && steps.count) {
        const struct stk_steps *lead = &steps.ranks[steps.lead];
        to->ranks = steps.count;
        to->steps = lead->head.kept;
        if (lead->judged && to->steps >= warmup + STK_MEASURE_LEAST) {
            judge(lead, to);
        }
        snprintf(to->framework, sizeof to->framework, "%s", lead->head.framework);
        snprintf(to->versions, sizeof to->versions, "%s", lead->head.versions);
        snprintf(to->notes, sizeof to->notes, "%s", lead->head.notes);
        if (lead->head.window_state == STK_WINDOW_DONE) {
            snprintf(to->profile, sizeof to->profile, "%s", lead->head.profile);
        }
    }
    stk_steps_free(&steps);
    return status;
}

enum stoker_status stk_measure_read(const char *folder, uint64_t warmup, uint64_t steps,
                                    struct stk_measured *to, struct stoker_err *err)
{
    *to = (struct stk_measured){.wait_share = -1};
    return read_steps(folder, warmup, steps, to, err);
}

// Is there a line "applied ..." in a file of _stoker_tune.py?
static bool has_applied(const char *folder)
{
    DIR *d = opendir(folder);
    const struct dirent *e;
    bool found = false;
    while (d && !found && (e = readdir(d))) {
        size_t n;
        char *text = strncmp(e->d_name, "tune-", 5) == 0
                         ? stk_plain_text(dirfd(d), e->d_name, FACTS_BYTES, &n)
                         : NULL;
        for (const char *row = text; row && *row && !found; row += *row == '\n') {
            found = strncmp(row, "applied\t", 8) == 0;
            row += strcspn(row, "\n");
        }
        stk_free(text);
    }
    if (d) {
        closedir(d);
    }
    return found;
}

static enum stoker_status run_in(const struct stk_measure *run, const char *folder,
                                 struct stk_measured *to, struct stoker_err *err)
{
    struct measuring m = {run, folder};
    struct stk_hook_plan plan = {
        .steps = run->window, .warmup = run->warmup, .saves = true, .input = "as-is"};
    struct stk_hooks hooks;
    char text[STK_HOOK_PLAN_MAX];
    stk_hooks_plan(&plan, folder, text);
    enum stoker_status status = stk_hooks_put(folder, &hooks, err);
    char **env = status == STOKER_OK ? stk_hooks_environment(&hooks, run->env, text) : NULL;
    struct stk_trial trial = {.argv = run->argv,
                              .env = env,
                              .timeout_ns = run->timeout_ns,
                              .take = take,
                              .stop = stop,
                              .is_done = is_done,
                              .starts = starts,
                              .arg = &m};
    if (status == STOKER_OK) {
        status = env ? STOKER_OK : stk_err_nomem(err);
    }
    if (status == STOKER_OK) {
        status = stk_trial_run(&trial, &to->trial, err);
    }
    if (status == STOKER_OK) {
        status = read_steps(folder, run->warmup, run->steps, to, err);
    }
    to->is_applied = has_applied(folder);
    to->has_hooks = stk_hooks_seen(&hooks, NULL, 0) > 0;
    stk_hooks_drop(&hooks);
    stk_free(env);
    return status;
}

enum stoker_status stk_measure_run(const struct stk_measure *run, struct stk_measured *measured,
                                   struct stoker_err *err)
{
    struct stk_scratch own = STK_NO_SCRATCH;
    *measured = (struct stk_measured){.wait_share = -1};
    enum stoker_status status = run->folder ? STOKER_OK : stk_scratch_make(NULL, &own, err);
    if (status == STOKER_OK) {
        status = run_in(run, own.path ? own.path : run->folder, measured, err);
    }
    stk_scratch_remove(&own);
    return status;
}

bool stk_measure_failed(const struct stk_measured *m)
{
    const struct stk_trial_result *t = &m->trial;
    return t->is_late || (!t->is_done && (t->signal || t->status));
}
