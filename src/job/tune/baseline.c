// SPDX-License-Identifier: Apache-2.0
// The unchanged job; see baseline.h. A run that fails here ends the search.
#include "job/tune/baseline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "job/capture/parent/folder.h"

#define AIM_S 3.0          // of measured steps per run, if the budget is large enough
enum { SEARCH_RUNS = 60 }; // runs of a typical search
enum { WINDOW = 5, STEPS_MIN = 24, STEPS_MAX = 4000 };
// From this step length on, the usual number of steps would use most of the budget. Such runs
// measure three rounds of four workers' batches, after half of the warm-up.
#define LONG_STEP_S 0.25
enum { STEPS_LONG = 12, WARMUP_LONG = 5 };

static enum stoker_status no_job(const struct stk_bounded *m, struct stoker_err *err)
{
    if (!m->has_hooks) {
        return stk_err_set(err, STOKER_EINPUT,
                           "no Python interpreter of the job loaded the hooks (another program, or "
                           "one with -I, -E or -S), so no step can be measured%s%s",
                           m->has_failed ? ": " : "", m->why);
    }
    return stk_err_set(err, STOKER_EINPUT, "the unchanged job can't be measured: %s",
                       m->why[0] ? m->why : "no steps were seen");
}

// Steps for some seconds; complete epochs if these are short. Fewer if steps are long.
static uint64_t steps_for(const struct stk_tuning *t, double step_s)
{
    const struct stk_tune *tune = t->tune;
    if (step_s > LONG_STEP_S) {
        return STEPS_LONG;
    }
    double share_s =
        (double)t->plan->budget_ns * 1e-9 / SEARCH_RUNS / 2; // half of a run is the job's start
    double wanted = step_s > 0 ? fmin(AIM_S, share_s) / step_s : STEPS_MIN;
    uint64_t n = wanted < STEPS_MIN ? STEPS_MIN : wanted > STEPS_MAX ? STEPS_MAX : (uint64_t)wanted;
    long epoch = stk_facts_number(&tune->facts, "torch.dataloader.batches", 0);
    epoch = epoch ? epoch : stk_facts_number(&tune->facts, "keras.steps", 0);
    uint64_t e = epoch > 0 ? (uint64_t)epoch : 1, whole = (n + e - 1) / e * e;
    return whole <= 2 * n ? whole : n;
}

// Takes the facts of the capture over into the search.
static enum stoker_status take_capture(struct stk_tuning *t, struct stk_bounded *m,
                                       struct stk_candidates *found, struct stoker_err *err)
{
    STK_ASSERT(m->all_steps > 0);
    struct stk_tune *tune = t->tune;
    char *folder = stk_folder_path(t->plan->folder, "capture");
    snprintf(tune->framework, sizeof tune->framework, "%s", m->framework);
    stk_facts_deinit(&tune->facts);
    tune->facts = m->facts;
    stk_facts_init(&m->facts);
    snprintf(tune->cache_folder, sizeof tune->cache_folder, "%s/kept", t->plan->folder);
    tune->facts.cache_folder = tune->cache_folder;
    tune->baseline_s = m->median_s;
    tune->warmup = !t->plan->warmup && m->median_s > LONG_STEP_S ? WARMUP_LONG : tune->warmup;
    tune->steps = t->plan->steps ? t->plan->steps : steps_for(t, m->median_s);
    enum stoker_status status = stk_candidates_find(folder ? folder : "", folder && m->has_window,
                                                    m->wait_share, found, &tune->advice, err);
    snprintf(tune->sentence, sizeof tune->sentence, "%s", found->sentence);
    tune->names_loss = found->names_loss;
    stk_free(folder);
    return status;
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
    snprintf(t->what, sizeof t->what, "unchanged job, profiled");
    stk_tune_tell(t, "", NULL);
    enum stoker_status status = stk_bounded_run(&plan, &none, "capture", &m, err);
    if (status == STOKER_OK && (m.has_failed || !m.all_steps)) {
        status = no_job(&m, err);
    }
    if (status == STOKER_OK) {
        status = take_capture(t, &m, found, err);
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

// A run's mean may differ much from the capture's median step: batches come in bursts, epochs end.
static void settle_steps(struct stk_tuning *t, const struct stk_bounded *m)
{
    struct stk_tune *tune = t->tune;
    uint64_t steps = t->plan->steps ? tune->steps : steps_for(t, m->step_s);
    tune->run_s = (double)m->wall_ns * 1e-9;
    tune->baseline_s = m->step_s;
    if (steps > 2 * tune->steps || 2 * steps < tune->steps) {
        tune->run_s += ((double)steps - (double)m->steps) * m->step_s;
        tune->steps = steps;
    }
    tune->facts.run_steps = tune->warmup + tune->steps;
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
    snprintf(t->what, sizeof t->what, "unchanged job, measured");
    stk_tune_tell(t, "", NULL);
    status = run_original(t, &first, err);
    if (status != STOKER_OK) {
        stk_bounded_free(&first);
        return status;
    }
    settle_steps(t, &first);
    stk_tune_take_original(tune, &first);
    stk_candidates_measured(found, &tune->original[0].facts, tune->baseline_s);
    return STOKER_OK;
}

enum stoker_status stk_baseline_measure_again(struct stk_tuning *t, struct stoker_err *err)
{
    struct stk_bounded m;
    if (t->tune->originals != 1) {
        return STOKER_OK;
    }
    snprintf(t->what, sizeof t->what, "unchanged job, second run");
    stk_tune_tell(t, "", NULL);
    enum stoker_status status = run_original(t, &m, err);
    if (status != STOKER_OK || !stk_tune_take_original(t->tune, &m)) {
        stk_bounded_free(&m);
    }
    return status;
}

struct stk_tune_set stk_baseline_strong(const struct stk_tune_facts *facts)
{
    struct stk_tune_set strong = {.count = 0};
    for (int i = 0; stk_tune_fix(i); i++) {
        struct stk_tune_values v = {.count = 0};
        struct stk_tune_choice choice = {.fix = stk_tune_fix(i)};
        if (!choice.fix->is_strong) {
            continue;
        }
        stk_tune_values(choice.fix, facts, &v);
        if (v.count) {
            snprintf(choice.value, sizeof choice.value, "%s", v.at[0]);
            strong = stk_tune_with(&strong, &choice);
        }
    }
    return strong;
}

enum stoker_status stk_baseline_measure_strong(struct stk_tuning *t, struct stoker_err *err)
{
    enum { RUNS = 2 };
    struct stk_tune *tune = t->tune;
    double sum = 0, left_s = (double)stk_tune_left(t) * 1e-9;
    if (!tune->kept.count || !tune->strong.count || tune->strong_s > 0 ||
        left_s < RUNS * tune->run_s || stk_tune_is_same(&tune->strong, &tune->kept)) {
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
        tune->strong_runs = RUNS;
    }
    return STOKER_OK;
}
