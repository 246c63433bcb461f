// SPDX-License-Identifier: Apache-2.0
// The job as it is; see baseline.h. A run that fails here ends the search.
#include "job/tune/baseline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "job/capture/parent/folder.h"

#define AIM_S 3.0 // that the measured steps of a run take, where the budget is large enough
enum { SEARCH_RUNS = 60 }; // that a search of some fixes takes
enum { WINDOW = 5, STEPS_MIN = 24, STEPS_MAX = 4000 };

static enum stoker_status no_job(const struct stk_bounded *m, struct stoker_err *err)
{
    if (!m->has_hooks) {
        return stk_err_set(err, STOKER_EINPUT,
                           "no Python interpreter of the job loaded the hooks (another program, or "
                           "one with -I, -E or -S), so no step can be measured%s%s",
                           m->has_failed ? ": " : "", m->why);
    }
    return stk_err_set(err, STOKER_EINPUT, "the job as it is cannot be measured: %s",
                       m->why[0] ? m->why : "no steps were seen");
}

// As many steps as take some seconds; whole epochs where these are short.
static uint64_t steps_for(const struct stk_tuning *t, double step_s)
{
    const struct stk_tune *tune = t->tune;
    double share_s =
        (double)t->plan->budget_ns * 1e-9 / SEARCH_RUNS / 2; // half of a run starts the job
    double wanted = step_s > 0 ? fmin(AIM_S, share_s) / step_s : STEPS_MIN;
    uint64_t n = wanted < STEPS_MIN ? STEPS_MIN : wanted > STEPS_MAX ? STEPS_MAX : (uint64_t)wanted;
    long epoch = stk_facts_number(&tune->facts, "torch.dataloader.batches", 0);
    epoch = epoch ? epoch : stk_facts_number(&tune->facts, "keras.steps", 0);
    uint64_t e = epoch > 0 ? (uint64_t)epoch : 1, whole = (n + e - 1) / e * e;
    return whole <= 2 * n ? whole : n;
}

static enum stoker_status capture(struct stk_tuning *t, struct stk_candidates *found,
                                  struct stoker_err *err)
{
    struct stk_tune *tune = t->tune;
    struct stk_bounded m;
    struct stk_tune_set none = {.count = 0};
    struct stk_bounded_plan plan = {.argv = t->plan->argv,
                                    .folder = t->plan->folder,
                                    .loss = t->plan->loss,
                                    .warmup = tune->warmup,
                                    .window = WINDOW,
                                    .memory_most = tune->memory_most,
                                    .timeout_ns = t->plan->timeout_ns ? t->plan->timeout_ns
                                                                      : t->plan->budget_ns / 2,
                                    .stop = t->plan->stop,
                                    .arg = t->plan->arg};
    snprintf(t->what, sizeof t->what, "the job as it is, captured");
    stk_tune_tell(t, "", NULL);
    enum stoker_status status = stk_bounded_run(&plan, &none, "capture", &m, err);
    if (status == STOKER_OK && (m.has_failed || !m.all_steps)) {
        status = no_job(&m, err);
    }
    if (status == STOKER_OK) {
        char *folder = stk_folder_path(t->plan->folder, "capture");
        snprintf(tune->framework, sizeof tune->framework, "%s", m.framework);
        stk_facts_deinit(&tune->facts);
        tune->facts = m.facts;
        snprintf(tune->cache_folder, sizeof tune->cache_folder, "%s/kept", t->plan->folder);
        tune->facts.cache_folder = tune->cache_folder;
        stk_facts_init(&m.facts);
        tune->steps = t->plan->steps ? t->plan->steps : steps_for(t, m.median_s);
        stk_candidates_find(folder ? folder : "", folder && m.has_window, m.wait_share, found);
        snprintf(tune->sentence, sizeof tune->sentence, "%s", found->sentence);
        tune->names_loss = found->names_loss;
        stk_free(folder);
    }
    stk_bounded_free(&m);
    return status;
}

static enum stoker_status run_original(struct stk_tuning *t, struct stk_bounded *m,
                                       struct stoker_err *err)
{
    struct stk_tune_set none = {.count = 0};
    enum stoker_status status = stk_tune_try(t, &none, 1, m, err);
    return status == STOKER_OK && m->has_failed ? no_job(m, err) : status;
}

enum stoker_status stk_baseline_measure(struct stk_tuning *t, struct stk_candidates *found,
                                        struct stoker_err *err)
{
    STK_ASSERT(t->plan && t->tune);
    struct stk_tune *tune = t->tune;
    struct stk_bounded first;
    *found = (struct stk_candidates){.count = 0};
    enum stoker_status status = capture(t, found, err);
    if (status != STOKER_OK) {
        return status;
    }
    snprintf(t->what, sizeof t->what, "the job as it is, measured");
    stk_tune_tell(t, "", NULL);
    // Files come into the page cache, and the number of steps is settled.
    status = run_original(t, &first, err);
    tune->run_s = (double)first.wall_ns * 1e-9;
    if (status == STOKER_OK && !t->plan->steps) {
        tune->steps = steps_for(t, first.step_s);
        tune->run_s += fmax(0, ((double)tune->steps - (double)first.steps) * first.step_s);
    }
    stk_bounded_free(&first);
    while (status == STOKER_OK && tune->originals < 2) {
        status = run_original(t, &tune->original[tune->originals++], err);
    }
    if (status == STOKER_OK) {
        double a = tune->original[0].step_s, b = tune->original[1].step_s;
        tune->facts.run_steps = tune->warmup + tune->steps;
        tune->baseline_s = (a + b) / 2;
        tune->noise = fabs(a - b) / (a + b);
        tune->run_s = (double)(tune->original[0].wall_ns + tune->original[1].wall_ns) * 1e-9 / 2;
        stk_candidates_measured(found, &tune->original[0].facts, tune->baseline_s);
    }
    return status;
}

// The first value of each strong fix that has a place in the job.
static void find_strong(struct stk_tuning *t, const struct stk_tune_facts *facts)
{
    struct stk_tune *tune = t->tune;
    for (int i = 0; stk_tune_fix(i); i++) {
        struct stk_tune_values v = {.count = 0};
        struct stk_tune_choice choice = {.fix = stk_tune_fix(i)};
        if (!choice.fix->is_strong) {
            continue;
        }
        stk_tune_values(choice.fix, facts, &v);
        if (v.count) {
            snprintf(choice.value, sizeof choice.value, "%s", v.at[0]);
            tune->strong = stk_tune_with(&tune->strong, &choice);
        }
    }
}

enum stoker_status stk_baseline_measure_strong(struct stk_tuning *t, double reserve_s,
                                               struct stoker_err *err)
{
    STK_ASSERT(t->tune && reserve_s >= 0);
    enum { RUNS = 2 };
    struct stk_tune *tune = t->tune;
    double sum = 0, left_s = (double)stk_tune_left(t) * 1e-9;
    if (!tune->strong.count) {
        find_strong(t, &tune->original[0].facts);
    }
    if (!tune->strong.count || tune->strong_s > 0 || left_s < reserve_s + RUNS * tune->run_s ||
        stk_tune_is_same(&tune->strong, &tune->kept)) {
        return STOKER_OK;
    }
    snprintf(t->what, sizeof t->what, "the strong baseline");
    for (int i = 0; i < RUNS; i++) {
        struct stk_bounded m;
        char why[STK_TUNE_WHY];
        stk_tune_tell(t, "", NULL);
        enum stoker_status status =
            stk_tune_try(t, &tune->strong, stk_tune_together(&tune->kept), &m, err);
        bool is_good =
            status == STOKER_OK && !m.has_failed && stk_tune_took_hold(&tune->strong, &m, why);
        sum += is_good ? m.step_s : 0;
        stk_bounded_free(&m);
        if (!is_good) {
            return status;
        }
        tune->strong_s = i + 1 == RUNS ? sum / RUNS : 0;
    }
    return STOKER_OK;
}
