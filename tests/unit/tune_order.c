// SPDX-License-Identifier: Apache-2.0
// Which trials a search makes, in which order, and what it reports for each: on invented runs, so
// that a fix's gain is known and no time passes. Fixes that promise little wait until the others
// were tried, and those that no profile suggests come last. A gain below 2% doesn't count. Fixes
// within noise get the rest of the budget. A trial's pairs are its proof if they are conclusive at
// the search's error. However a search ends, its measurements are kept.
#include "job/tune/tune.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "job/tune/pairs.h"

#include "check.h"

#define STEP_S 0.01
#define RUN_S 10.0

// Replaces bounded_run.c in this program: a job whose steps take STEP_S times the factor of each
// active fix.
struct effect {
    const char *id;
    double left;
};
static struct effect effects[4];
static double noise[64]; // of each run's time, as a factor less one, from the first trial on
static int noise_count, runs, trials;
static int ends_at, fails_at; // the trial within which somebody interrupts; that fails. 0: none
static const char *framework;
static char sets[256][96]; // ids of each trial, "" without any

static bool is_on(const struct stk_tune_set *set, const char *id)
{
    for (int i = 0; i < set->count; i++) {
        if (strcmp(set->items[i].fix->id, id) == 0) {
            return true;
        }
    }
    return false;
}

static void apply(const struct stk_tune_set *set, struct stk_bounded *out)
{
    for (int i = 0; i < set->count; i++) {
        struct stk_tune_fact *fact = stk_vec_push(&out->facts.applied);
        strcpy(fact->name, set->items[i].fix->id);
        fact->text[0] = 0;
    }
}

enum stoker_status stk_bounded_run(const struct stk_bounded_plan *plan,
                                   const struct stk_tune_set *set, const char *name,
                                   struct stk_bounded *out, struct stoker_err *err)
{
    enum { ORIGINALS = 2 }; // the capture, and a run as it is; the second is the first pair's
    (void)name;
    *out =
        (struct stk_bounded){.step_s = STEP_S, .median_s = STEP_S, .start_s = 1, .wait_share = -1};
    out->steps = out->all_steps = plan->steps;
    out->all_steps += !out->all_steps;
    out->wall_ns = (uint64_t)(RUN_S * 1e9);
    strcpy(out->framework, framework);
    stk_facts_init(&out->facts);
    out->facts.framework = stk_framework_find(stk_str_from(framework));
    stk_facts_set(&out->facts, "torch.dataloader.num_workers", "2");
    stk_facts_set(&out->facts, "torch.zero_grad.set_to_none", "False");
    apply(set, out);
    if (ends_at && runs >= ORIGINALS && trials + 1 >= ends_at) {
        return stk_err_set(err, STOKER_EINTR, "interrupted");
    }
    out->has_failed = fails_at && runs >= ORIGINALS && trials + 1 == fails_at;
    for (int i = 0; i < 4; i++) {
        out->step_s *= effects[i].id && is_on(set, effects[i].id) ? effects[i].left : 1;
    }
    if (runs++ >= ORIGINALS && trials < 256) {
        out->step_s *= trials < noise_count ? 1 + noise[trials] : 1;
        sets[trials][0] = 0;
        for (int i = 0; i < set->count; i++) {
            strcat(strcat(sets[trials], i ? " " : ""), set->items[i].fix->id);
        }
        trials++;
    }
    return STOKER_OK;
}

void stk_bounded_free(struct stk_bounded *m)
{
    stk_facts_deinit(&m->facts);
}

static char decided[256]; // ids in the order in which they were decided

static void tell(void *arg, const struct stk_tune_progress *progress)
{
    (void)arg;
    if (progress->done) {
        strcat(strcat(decided, decided[0] ? " " : ""), progress->done->choice.fix->id);
    }
}

static struct stk_tune tune;

// A search among `only`, with time for so many runs of the job.
static void search(const char *only, double budget_runs)
{
    static char name[] = "job", *argv[] = {name, NULL};
    struct stk_tune_plan plan = {.argv = argv,
                                 .folder = "/nowhere",
                                 .steps = 16,
                                 .budget_ns = (int64_t)(budget_runs * RUN_S * 1e9),
                                 .only = only,
                                 .tell = tell};
    struct stoker_err err;
    runs = trials = 0;
    decided[0] = 0;
    CHECK_EQ(stk_tune_run(&plan, &tune, &err), ends_at    ? STOKER_EINTR
                                               : fails_at ? STOKER_EINPUT
                                                          : STOKER_OK);
}

static void job(const char *of, struct effect a, struct effect b, struct effect c)
{
    framework = of;
    effects[0] = a;
    effects[1] = b;
    effects[2] = c;
    noise_count = 0;
}

// The fix's runs of the first pairs take so much more, in turn.
static void spread(int pairs, double even, double odd)
{
    noise_count = 2 * pairs;
    for (int pair = 0; pair < pairs; pair++) { // the fix is first in every other pair
        noise[2 * pair + pair % 2] = pair % 2 ? odd : even;
        noise[2 * pair + 1 - pair % 2] = 0;
    }
}

static const struct stk_tune_tried *row(const char *id)
{
    const struct stk_tune_tried *t = tune.tried.items;
    for (size_t i = 0; i < tune.tried.count; i++) {
        if (strcmp(t[i].choice.fix->id, id) == 0) {
            return &t[i];
        }
    }
    static struct stk_tune_tried none;
    return &none;
}

#define PREFETCH "torch.dataloader.prefetch_factor"
#define GRAD "torch.zero_grad"
#define KEEP "process.keep_memory"
#define CACHE "jax.compilation_cache"
#define NONE (struct effect){NULL, 1}

static void what_promises_little_waits(void)
{
    job("pytorch", (struct effect){PREFETCH, 0.97}, (struct effect){GRAD, 0.8}, NONE);
    search(PREFETCH "," GRAD, 1000);
    CHECK_STR(decided, GRAD " " PREFETCH);
    CHECK_STR(sets[0], PREFETCH); // the table's first, two pairs
    CHECK_STR(sets[3], PREFETCH);
    CHECK_STR(sets[4], GRAD);
    CHECK_EQ(row(PREFETCH)->state, STK_TUNE_KEPT);
    CHECK_EQ(row(PREFETCH)->pairs, 4); // again, on top of what was kept: the two don't count
    CHECK_STR(sets[12], GRAD " " PREFETCH);
    CHECK_EQ(tune.verdict, STK_TUNE_FASTER);
    stk_tune_close(&tune);
}

static void of_two_that_wait_the_better_is_first(void)
{
    job("pytorch", (struct effect){PREFETCH, 0.975}, (struct effect){GRAD, 0.96}, NONE);
    search(PREFETCH "," GRAD, 1000);
    CHECK_STR(decided, GRAD " " PREFETCH);
    stk_tune_close(&tune);
}

// What shortens the start is nothing that a step's profile points at.
static void what_nothing_points_at_is_last(void)
{
    job("jax", (struct effect){KEEP, 0.97}, (struct effect){CACHE, 0.5}, NONE);
    search(KEEP "," CACHE, 1000);
    CHECK_EQ((int)strncmp(decided, KEEP " ", strlen(KEEP) + 1), 0);
    CHECK_STR(strstr(decided, CACHE) ? "there" : "not there", "there");
    CHECK_EQ(row(KEEP)->state, STK_TUNE_KEPT);
    stk_tune_close(&tune);
}

// Between what ends after two pairs (1.5%) and a gain.
static void less_than_two_percent_is_none(void)
{
    job("pytorch", (struct effect){GRAD, 0.983}, NONE, NONE);
    search(GRAD, 1000);
    CHECK_EQ(row(GRAD)->state, STK_TUNE_NO_EFFECT);
    CHECK_EQ(row(GRAD)->pairs, 4);
    CHECK_EQ(tune.verdict, STK_TUNE_NOTHING);
    stk_tune_close(&tune);
    spread(8, 0.03, -0.03); // so that four pairs cannot tell
    search(GRAD, 1000);
    CHECK_EQ(row(GRAD)->state, STK_TUNE_NO_EFFECT);
    CHECK_EQ(row(GRAD)->pairs, 4);
    stk_tune_close(&tune);
    noise_count = 0;
    search(GRAD, 7); // no time for a second turn
    CHECK_EQ(row(GRAD)->state, STK_TUNE_NO_EFFECT);
    CHECK_EQ(row(GRAD)->pairs, 2);
    CHECK_EQ(tune.verdict, STK_TUNE_NOTHING);
    stk_tune_close(&tune);
}

static void more_has_to_be_proved(void)
{
    job("pytorch", (struct effect){GRAD, 0.975}, NONE, NONE);
    search(GRAD, 7);
    CHECK_EQ(row(GRAD)->state, STK_TUNE_SKIPPED);
    CHECK(strstr(row(GRAD)->why, "the budget ran out before it could be proved"));
    CHECK_EQ(tune.verdict, STK_TUNE_CANNOT_TELL);
    stk_tune_close(&tune);
    search(GRAD, 1000);
    CHECK_EQ(row(GRAD)->state, STK_TUNE_KEPT);
    stk_tune_close(&tune);
}

// The fix's runs take alternately 14% less and 2% more, so eight pairs are inconclusive. Then the
// machine is quiet, and the fix shows no gain.
static void what_noise_hides_has_the_rest_of_the_budget(void)
{
    job("pytorch", NONE, NONE, NONE);
    spread(8, -0.14, 0.02);
    search(GRAD, 1000);
    CHECK_EQ(row(GRAD)->state, STK_TUNE_NO_EFFECT);
    CHECK_EQ(tune.verdict, STK_TUNE_NOTHING);
    CHECK(trials > 16);
    stk_tune_close(&tune);
    search(GRAD, 7); // no time for a second turn
    CHECK_EQ(trials, 16);
    CHECK_EQ(row(GRAD)->pairs, 8);
    CHECK_EQ(tune.verdict, STK_TUNE_CANNOT_TELL);
    CHECK(strstr(row(GRAD)->why, "cannot tell after 8 pairs"));
    stk_tune_close(&tune);
}

// One slow run of the fix's, of a pair that alone would end the trial, does not hide what it gains.
static void a_slow_run_does_not_end_a_trial(void)
{
    job("pytorch", (struct effect){GRAD, 0.8}, NONE, NONE);
    noise_count = 1;
    noise[0] = 0.8;
    search(GRAD, 1000);
    CHECK_EQ(row(GRAD)->state, STK_TUNE_KEPT);
    stk_tune_close(&tune);
    job("pytorch", (struct effect){GRAD, 1.6}, NONE, NONE);
    search(GRAD, 1000);
    CHECK_EQ(row(GRAD)->state, STK_TUNE_WORSE);
    CHECK_EQ(row(GRAD)->pairs, 1);
    stk_tune_close(&tune);
    job("pytorch", (struct effect){GRAD, 1.1}, NONE, NONE);
    search(GRAD, 1000);
    CHECK_EQ(row(GRAD)->state, STK_TUNE_WORSE);
    CHECK_EQ(row(GRAD)->pairs, 2);
    stk_tune_close(&tune);
}

// Half of a step in four pairs: no run is made for a last proof, and the interval of the search is
// wider than the trial's own.
static void a_trial_is_its_proof(void)
{
    job("pytorch", (struct effect){GRAD, 0.5}, NONE, NONE);
    spread(4, 0.02, -0.02);
    search(GRAD, 1000);
    CHECK_EQ(tune.verdict, STK_TUNE_FASTER);
    CHECK_EQ(tune.pairs, 4);
    CHECK(!tune.is_last_proof);
    CHECK_EQ(trials, 8 + 2); // the strong baseline comes after it
    CHECK(tune.proof.low < row(GRAD)->ratio.low && tune.proof.high > row(GRAD)->ratio.high);
    CHECK(tune.verdict_ns <= tune.spent_ns);
    CHECK_EQ(tune.end, STK_TUNE_DONE);
    stk_tune_close(&tune);
}

// A gain that four pairs show at their own error, and not at the search's: a last proof tells, by
// fresh runs. Here the machine is quiet by then.
static void what_a_trial_cannot_prove_is_proved(void)
{
    job("pytorch", (struct effect){GRAD, 0.8}, NONE, NONE);
    spread(4, 0.06, -0.06);
    search(GRAD, 1000);
    CHECK_EQ(row(GRAD)->state, STK_TUNE_KEPT);
    CHECK(tune.is_last_proof);
    CHECK_EQ(tune.verdict, STK_TUNE_FASTER);
    stk_tune_close(&tune);
}

// The same where the gain was luck: what the last proof does not confirm is not kept.
static void what_is_not_confirmed_is_dropped(void)
{
    job("pytorch", NONE, NONE, NONE);
    noise_count = 8;
    for (int pair = 0; pair < 4; pair++) {
        noise[2 * pair + pair % 2] = pair % 2 ? -0.23 : -0.14;
        noise[2 * pair + 1 - pair % 2] = 0;
    }
    search(GRAD, 1000);
    CHECK(tune.is_last_proof);
    CHECK(row(GRAD)->state != STK_TUNE_KEPT);
    CHECK_EQ(tune.kept.count, 0);
    CHECK_EQ(tune.verdict, STK_TUNE_NOTHING);
    stk_tune_close(&tune);
}

// Where what was kept needs a last proof, the pairs of a later trial end before they take its time.
static void pairs_leave_the_last_proof_its_time(enum stk_paired_verdict kept, double runs_left,
                                                int pairs)
{
    job("pytorch", NONE, NONE, NONE);
    search(GRAD, 1000);
    struct stk_tune_plan plan = {.budget_ns = (int64_t)(runs_left * RUN_S * 1e9)};
    struct stk_tuning t = {.plan = &plan, .tune = &tune, .begun_ns = stk_clock_ns()};
    struct stk_tune_set none = {.count = 0};
    struct stk_tune_pairs p = {.first = NULL};
    struct stoker_err err;
    const struct stk_tune_match match = {&none, &none, STK_TUNE_PAIRS, STK_TUNE_SECOND, false};
    tune.run_s = RUN_S;
    tune.chain.pairs = STK_PAIRED_MIN;
    tune.chain.ratio.verdict = kept;
    spread(8, -0.2, -0.1); // a gain, so that nothing but the budget ends them early
    runs = 2;
    trials = 0;
    CHECK_EQ(stk_tune_pair_up(&t, &match, &p, &err), STOKER_OK);
    CHECK(pairs == 1 ? p.count == 1 && p.is_spent : p.count >= pairs && !p.is_spent);
    stk_tune_close(&tune);
}

// Somebody interrupts the second fix's third pair: the first is kept and proved, the second says
// how far it came, the third that it wasn't tried.
static void an_interrupt_keeps_what_was_measured(void)
{
    job("pytorch", (struct effect){PREFETCH, 0.5}, (struct effect){GRAD, 0.8}, NONE);
    ends_at = 8 + 5;
    search(PREFETCH "," GRAD "," KEEP, 1000);
    ends_at = 0;
    CHECK_EQ(tune.end, STK_TUNE_INTERRUPTED);
    CHECK_EQ(row(PREFETCH)->state, STK_TUNE_KEPT);
    CHECK_EQ(tune.verdict, STK_TUNE_FASTER);
    CHECK_EQ(tune.pairs, 4);
    CHECK(row(GRAD)->is_unfinished && row(GRAD)->state == STK_TUNE_SKIPPED);
    CHECK_EQ(row(GRAD)->pairs, 2);
    CHECK_STR(row(KEEP)->why, STK_TUNE_ENDED_BEFORE);
    stk_tune_close(&tune);
}

// The job as it is fails within a trial.
static void a_job_that_fails_keeps_what_was_measured(void)
{
    job("pytorch", (struct effect){PREFETCH, 0.5}, (struct effect){GRAD, 0.8}, NONE);
    fails_at = 3; // of the second pair the first run is the one without
    search(PREFETCH "," GRAD, 1000);
    fails_at = 0;
    CHECK_EQ(tune.end, STK_TUNE_BROKEN);
    CHECK(strstr(tune.end_why, "the job ran before, but failed now"));
    CHECK_EQ(row(PREFETCH)->pairs, 1);
    CHECK(row(PREFETCH)->is_unfinished);
    CHECK_STR(row(GRAD)->why, STK_TUNE_ENDED_BEFORE);
    CHECK_EQ(tune.verdict, STK_TUNE_CANNOT_TELL);
    stk_tune_close(&tune);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    unsetenv("GLIBC_TUNABLES");
    unsetenv("LD_PRELOAD");
    unsetenv("JAX_COMPILATION_CACHE_DIR");
    CHECK_RUN(what_promises_little_waits);
    CHECK_RUN(of_two_that_wait_the_better_is_first);
    CHECK_RUN(what_nothing_points_at_is_last);
    CHECK_RUN(less_than_two_percent_is_none);
    CHECK_RUN(more_has_to_be_proved);
    CHECK_RUN(what_noise_hides_has_the_rest_of_the_budget);
    CHECK_RUN(a_slow_run_does_not_end_a_trial);
    CHECK_RUN(a_trial_is_its_proof);
    CHECK_RUN(what_a_trial_cannot_prove_is_proved);
    CHECK_RUN(what_is_not_confirmed_is_dropped);
    CHECK_RUN(pairs_leave_the_last_proof_its_time, STK_PAIRED_CANNOT_TELL, 2 * STK_PAIRED_MIN + 1.5,
              1);
    CHECK_RUN(pairs_leave_the_last_proof_its_time, STK_PAIRED_FASTER, 2 * STK_PAIRED_MIN + 1.5,
              STK_PAIRED_MIN);
    CHECK_RUN(an_interrupt_keeps_what_was_measured);
    CHECK_RUN(a_job_that_fails_keeps_what_was_measured);
    return check_done("unit.tune_order");
}
