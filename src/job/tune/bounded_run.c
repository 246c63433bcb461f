// SPDX-License-Identifier: Apache-2.0
// Bounded runs; see bounded_run.h.
#include "job/tune/bounded_run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/human.h"
#include "base/remove.h"
#include "job/capture/parent/folder.h"
#include "job/capture/parent/mark.h"
#include "job/capture/parent/step_record.h"
#include "job/prove/measured.h"
#include "job/prove/paired.h"
#include "job/tune/printed.h"
#include "job/tune/tree_memory.h"

enum { LOOK_EVERY = 10 };

extern char **environ;

struct running {
    const struct stk_bounded_plan *plan;
    struct stk_bounded *out;
    char *folder;
    struct stk_tune_printed printed;
    uint64_t start_ns;
    unsigned looks;
    pid_t root; // ancestor of all processes of the job
    bool is_too_large;
    int opened, mark; // of a temporary folder, and its mark; below 0: none
};

static void starts(void *arg, pid_t root)
{
    struct running *r = arg;
    r->root = root;
}

static void look_at_memory(struct running *r)
{
    uint64_t held = stk_tree_memory(r->root);
    r->out->memory = held > r->out->memory ? held : r->out->memory;
    r->is_too_large = r->plan->memory_most && held > r->plan->memory_most;
}

static bool stop(void *arg)
{
    struct running *r = arg;
    if (r->looks++ % LOOK_EVERY == LOOK_EVERY - 1) {
        look_at_memory(r);
    }
    return r->is_too_large || (r->plan->stop && r->plan->stop(r->plan->arg));
}

static enum stoker_status take(void *arg, const char *bytes, size_t n, struct stoker_err *err)
{
    struct running *r = arg;
    return stk_printed_feed(&r->printed, bytes, n, err);
}

// For at least one step. The first steps, and those slowed by a profiler, count only if there are
// no others.
static double median_of(const struct stk_steps_record *records, size_t n, bool with_flagged)
{
    STK_ASSERT(n > 0);
    enum { MOST = 512, FIRST = 2 };
    double values[MOST];
    size_t kept = 0, first = n > FIRST ? FIRST : n - 1;
    for (size_t i = first; i < n && kept < MOST; i++) {
        if (with_flagged || !records[i].flags) {
            values[kept++] = (double)records[i].dur_ns * 1e-9;
        }
    }
    return kept ? stk_paired_median(values, kept) : with_flagged ? 0 : median_of(records, n, true);
}

// The share of waiting for input in the steps, without the first one and those slowed by a
// profiler.
static double wait_share_of(const struct stk_steps_record *records, size_t n)
{
    double wait = 0, all = 0;
    for (size_t i = 1; i < n; i++) {
        if (!records[i].flags) {
            wait += (double)records[i].wait_ns;
            all += (double)records[i].dur_ns;
        }
    }
    return all > 0 ? fmin(1, wait / all) : -1;
}

// If a job ends within the warm-up, the steps after its first quarter are judged.
static enum stoker_status judge(struct running *r, struct stoker_err *err)
{
    struct stk_bounded *m = r->out;
    struct stk_steps_header head;
    struct stk_steps_record *records = NULL;
    enum stoker_status status = stk_steps_records(r->folder, &head, &records, err);
    uint64_t n = head.kept, first = r->plan->warmup;
    first = n >= first + STK_TUNE_STEPS_MIN ? first : n / 4;
    m->all_steps = n;
    m->wait_share = -1;
    if (n) {
        snprintf(m->framework, sizeof m->framework, "%s", head.framework);
        m->facts.framework = stk_framework_find(stk_str_from(m->framework));
        m->has_window = head.window_state == STK_WINDOW_DONE;
        m->median_s = median_of(records, n, false);
        m->wait_share = head.has_wait ? wait_share_of(records, n) : -1;
    }
    if (n >= first + STK_TUNE_STEPS_MIN && first) {
        uint64_t from_ns = records[first - 1].end_ns, span_ns = records[n - 1].end_ns - from_ns;
        m->steps = n - first;
        m->step_s = (double)span_ns * 1e-9 / (double)m->steps;
        m->start_s = from_ns > r->start_ns ? (double)(from_ns - r->start_ns) * 1e-9 : 0;
    }
    stk_free(records);
    return status;
}

static void fail_by(struct running *r, const struct stk_trial_result *result)
{
    struct stk_bounded *m = r->out;
    char held[STK_HUMAN_MAX];
    char tail[160];
    m->has_failed = true;
    stk_printed_end(&r->printed, tail, sizeof tail);
    if (r->is_too_large) {
        snprintf(m->why, sizeof m->why, "it used %s of memory, over the limit of a trial",
                 stk_human_bytes(m->memory, held));
    } else if (result->is_late) {
        snprintf(m->why, sizeof m->why, "it was stopped after %.0f s",
                 (double)r->plan->timeout_ns * 1e-9);
    } else if (result->signal) {
        snprintf(m->why, sizeof m->why, "signal %d ended it%s%s", result->signal,
                 tail[0] ? "; its output ends: " : "", tail);
    } else if (result->status) {
        snprintf(m->why, sizeof m->why, "exit status %d%s%s", result->status,
                 tail[0] ? "; its output ends: " : "", tail);
    } else if (m->all_steps) {
        snprintf(m->why, sizeof m->why, "it ran %llu steps, too few to measure",
                 (unsigned long long)m->all_steps);
    } else {
        snprintf(m->why, sizeof m->why, "no steps were seen");
    }
}

static enum stoker_status read_back(struct running *r, const struct stk_measured *ran,
                                    struct stoker_err *err)
{
    struct stk_bounded *m = r->out;
    const struct stk_trial_result *result = &ran->trial;
    m->has_hooks = ran->has_hooks;
    m->wall_ns = result->wall_ns;
    enum stoker_status status = stk_facts_read(&m->facts, r->folder, err);
    if (status == STOKER_OK) {
        status = stk_printed_losses(&r->printed, &m->facts.losses, err);
    }
    if (status == STOKER_OK) {
        status = judge(r, err);
    }
    if (r->is_too_large || stk_measure_failed(ran) || (!r->plan->window && !m->steps)) {
        fail_by(r, result);
    }
    return status;
}

static enum stoker_status run(struct running *r, const struct stk_tune_set *set,
                              struct stoker_err *err)
{
    const struct stk_bounded_plan *p = r->plan;
    uint64_t together = stk_tune_together(set);
    uint64_t end = p->window ? 0 : (p->warmup + p->steps + together - 1) / together * together;
    char **env = stk_tune_environment(environ, set, end);
    char **argv = stk_tune_command(p->argv, set);
    struct stk_measure measure = {.argv = argv,
                                  .env = env,
                                  .warmup = p->warmup,
                                  .window = p->window,
                                  .folder = r->folder,
                                  .timeout_ns = p->timeout_ns,
                                  .take = take,
                                  .stop = stop,
                                  .starts = starts,
                                  .arg = r};
    struct stk_measured ran;
    enum stoker_status status = env && argv ? STOKER_OK : stk_err_nomem(err);
    r->start_ns = stk_clock_ns();
    if (status == STOKER_OK) {
        status = stk_measure_run(&measure, &ran, err);
        if (status == STOKER_EINTR && r->is_too_large) {
            status = STOKER_OK; // this file itself interrupted it
        }
    }
    if (status == STOKER_OK) {
        status = read_back(r, &ran, err);
    }
    stk_free(argv);
    stk_free(env);
    return status;
}

// A run's folder has a mark, unless its profile is kept, until everything else in it is removed: if
// this process is killed, the next run finds and removes the folder (leftover.h).
static enum stoker_status make_folder(struct running *r, struct stoker_err *err)
{
    if (mkdir(r->folder, 0775) != 0) {
        return stk_err_set(err, stk_err_of_file(errno, STOKER_EOUTPUT), "%s: %s", r->folder,
                           strerror(errno));
    }
    if (!r->plan->window) {
        r->opened = stk_folder_itself(AT_FDCWD, r->folder);
        r->mark = r->opened >= 0 ? stk_mark_put(r->opened) : -1;
    }
    return STOKER_OK;
}

static void remove_folder(struct running *r)
{
    if (r->opened >= 0) {
        (void)stk_remove_contents(r->opened, STK_MARK);
        close(r->opened);
        stk_mark_release(r->mark);
    }
    if (!r->plan->window) {
        (void)stk_remove_tree(AT_FDCWD, r->folder);
    }
}

enum stoker_status stk_bounded_run(const struct stk_bounded_plan *plan,
                                   const struct stk_tune_set *set, const char *name,
                                   struct stk_bounded *out, struct stoker_err *err)
{
    STK_ASSERT(plan->argv && plan->argv[0]);
    STK_ASSERT(set->count >= 0 && set->count <= STK_TUNE_TOGETHER);
    struct running r = {.plan = plan, .out = out, .opened = -1, .mark = -1};
    *out = (struct stk_bounded){.wait_share = -1};
    stk_facts_init(&out->facts);
    r.folder = stk_folder_path(plan->folder, name);
    if (!r.folder) {
        return stk_err_nomem(err);
    }
    enum stoker_status status = make_folder(&r, err);
    if (status == STOKER_OK) {
        status = stk_printed_open(&r.printed, plan->loss, err);
    }
    if (status == STOKER_OK) {
        status = run(&r, set, err);
    }
    remove_folder(&r);
    stk_printed_close(&r.printed);
    stk_free(r.folder);
    return status;
}

void stk_bounded_free(struct stk_bounded *m)
{
    stk_facts_deinit(&m->facts);
}
