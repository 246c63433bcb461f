// SPDX-License-Identifier: Apache-2.0
// Envelopes of losses (job/tune/losses.h), fixes as variables and commands (job/tune/choice.h).
#include "job/tune/losses.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "job/tune/choice.h"

enum { STEPS = 32 };

// Losses that fall from 2 to 1 and swing by `noise`, times `scale`; from step `first` on.
static void fill(struct stk_vec *v, int first, double scale, double noise)
{
    stk_vec_init(v, sizeof(struct stk_tune_loss), STEPS);
    for (int i = 0; i < STEPS; i++) {
        struct stk_tune_loss *l = stk_vec_push(v);
        *l = (struct stk_tune_loss){first + i,
                                    scale * (2 - (double)i / STEPS) + (i % 2 ? noise : -noise)};
    }
}

static struct stk_tune_losses compare(double b_scale, double fixed_scale, double noise,
                                      enum stk_tune_changes changes)
{
    struct stk_vec a, b, fixed;
    fill(&a, 1, 1, noise);
    fill(&b, 1, b_scale, noise);
    fill(&fixed, 1, fixed_scale, noise);
    struct stk_tune_losses out = stk_losses_compare(&a, &b, &fixed, changes);
    stk_vec_deinit(&a);
    stk_vec_deinit(&b);
    stk_vec_deinit(&fixed);
    return out;
}

static void equal_losses_are_the_same(void)
{
    struct stk_tune_losses l = compare(1, 1, 0.1, STK_CHANGES_NOTHING);
    CHECK(l.numerics == STK_NUMERICS_SAME && l.is_equal && l.aligned == STEPS);
}

static void what_leaves_the_envelope_is_refused(void)
{
    // Two runs that are equal to the bit leave no room for a fix that must be, too.
    CHECK(compare(1, 1.001, 0, STK_CHANGES_NOTHING).numerics == STK_NUMERICS_DIFFER);
    // Another order of samples moves a mean by its standard error.
    CHECK(compare(1, 1.001, 0.1, STK_CHANGES_ORDER).numerics == STK_NUMERICS_SAME);
    struct stk_tune_losses l = compare(1, 1.5, 0.1, STK_CHANGES_ORDER);
    CHECK(l.numerics == STK_NUMERICS_DIFFER && l.step == 1 && !l.is_equal);
    CHECK(l.off > 0.4 && l.off < 0.6);
    // A fix may differ as much as two runs of the job do.
    CHECK(compare(1.1, 1.18, 0, STK_CHANGES_ORDER).numerics == STK_NUMERICS_SAME);
    CHECK(compare(1.1, 1.4, 0, STK_CHANGES_ORDER).numerics == STK_NUMERICS_DIFFER);
    CHECK(compare(1, (double)NAN, 0, STK_CHANGES_NUMERICS).numerics == STK_NUMERICS_DIFFER);
}

static void losses_are_aligned_on_steps(void)
{
    struct stk_vec a, b, fixed;
    fill(&a, 1, 1, 0);
    fill(&b, 1, 1, 0);
    fill(&fixed, 17, 1, 0); // its first half lies where the others' second one does
    CHECK(stk_losses_compare(&a, &b, &fixed, STK_CHANGES_ORDER).aligned == STEPS / 2);
    CHECK(stk_losses_compare(&a, &b, &fixed, STK_CHANGES_ORDER).numerics == STK_NUMERICS_DIFFER);
    stk_vec_deinit(&fixed);
    fill(&fixed, STEPS - 1, 1, 0);
    struct stk_tune_losses l = stk_losses_compare(&a, &b, &fixed, STK_CHANGES_ORDER);
    CHECK(l.aligned == 2 && l.numerics == STK_NUMERICS_UNKNOWN);
    stk_vec_deinit(&a);
    stk_vec_deinit(&b);
    stk_vec_deinit(&fixed);
}

static const struct stk_rep_fix *find(const char *id)
{
    struct stoker_err err;
    const struct stk_rep_fix *fix = stk_tune_fix_find(id, &err);
    CHECK(fix && strcmp(fix->id, id) == 0);
    return fix;
}

static bool has(char *const *words, const char *word)
{
    for (size_t i = 0; words[i]; i++) {
        if (strcmp(words[i], word) == 0) {
            return true;
        }
    }
    return false;
}

static void fixes_become_variables_and_commands(void)
{
    char home[] = "HOME=/x", preload[] = "LD_PRELOAD=/a.so", flags[] = "XLA_FLAGS=--one";
    char omp[] = "OMP_NUM_THREADS=1", python[] = "python", script[] = "train.py";
    char *env[] = {home, preload, flags, omp, NULL}, *argv[] = {python, script, NULL};
    struct stk_tune_set set = {.count = 0};
    const char *const ids[] = {"process.allocator", "jax.xla_cpu_fast_math",
                               "process.omp_num_threads", "process.numa",
                               "torch.dataloader.num_workers"};
    const char *const values[] = {"/b.so", "", "4", "1", "2"};
    for (int i = 0; i < 5; i++) {
        struct stk_tune_choice choice = {.fix = find(ids[i])};
        strcpy(choice.value, values[i]);
        set = stk_tune_with(&set, &choice);
    }
    char **made = stk_tune_environment(env, &set, 26), **words = stk_tune_command(argv, &set);
    CHECK(has(made, "HOME=/x") && has(made, "LD_PRELOAD=/a.so:/b.so"));
    CHECK(has(made, "XLA_FLAGS=--one --xla_cpu_enable_fast_math=true"));
    CHECK(has(made, "OMP_NUM_THREADS=4") && !has(made, "OMP_NUM_THREADS=1"));
    CHECK(has(made, "STOKER_TUNE=stop=26 fix=torch.dataloader.num_workers=2;"));
    CHECK(strcmp(words[0], "numactl") == 0 && strcmp(words[1], "--cpunodebind=1") == 0);
    CHECK(strcmp(words[3], "python") == 0 && strcmp(words[4], "train.py") == 0 && !words[5]);
    stk_free(made);
    stk_free(words);
}

static void ids_are_unlike(void)
{
    int count = 0;
    for (int i = 0; stk_tune_fix(i); i++, count++) {
        const struct stk_rep_fix *f = stk_tune_fix(i);
        CHECK_SAY(f->is_tunes && f->what && f->parts, "%s", f->id);
        CHECK(!f->tries || strcmp(f->tries, f->id) == 0);
        for (int k = 0; k < i; k++) {
            CHECK(f != stk_tune_fix(k));
        }
    }
    for (int i = 0; i < stk_fix_row_count; i++) {
        count -= stk_fix_rows[i].is_tunes;
    }
    CHECK_EQ(count, 0); // each row of tune's is in the list
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(equal_losses_are_the_same);
    CHECK_RUN(what_leaves_the_envelope_is_refused);
    CHECK_RUN(losses_are_aligned_on_steps);
    CHECK_RUN(fixes_become_variables_and_commands);
    CHECK_RUN(ids_are_unlike);
    return check_done("unit.tune_losses");
}
