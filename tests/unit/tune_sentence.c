// SPDX-License-Identifier: Apache-2.0
// What a search says: a job whose report names a loss is not said to have nothing to gain; each
// line to change is told once.
#include "job/tune/tune_out.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

static const char *said(bool names_loss)
{
    static char text[STK_TUNE_SENTENCE];
    static struct stk_tune tune;
    tune = (struct stk_tune){
        .verdict = STK_TUNE_NOTHING, .baseline_s = 0.241, .names_loss = names_loss};
    stk_tune_sentence(&tune, text);
    return text;
}

static void where_nothing_is_lost(void)
{
    CHECK_STR(said(false), "nothing to gain above 2% of a step's time (241 ms)");
}

static void where_the_report_names_a_loss(void)
{
    CHECK_STR(said(true), "no setting gains above 2% of a step's time (241 ms); what its report "
                          "names is for the program's own lines");
}

static const struct stk_rep_fix *fix(const char *id)
{
    struct stoker_err err;
    return stk_tune_fix_find(id, &err);
}

static int lines;

static void count_line(void *arg, const char *file, int64_t line, const char *text)
{
    (void)arg;
    CHECK_STR(file, "train.py");
    CHECK_STR(text, "num_workers=2");
    CHECK(line == 43 || line == 50);
    lines++;
}

// Each rank tells its own calls.
static void a_line_is_told_once(void)
{
    static struct stk_tune tune;
    stk_facts_init(&tune.facts);
    stk_vec_init(&tune.tried, sizeof(struct stk_tune_tried), 4);
    for (int rank = 0; rank < 4; rank++) {
        struct stk_tune_place *p = stk_vec_push(&tune.facts.places);
        *p = (struct stk_tune_place){
            .call = "torch.dataloader", .file = "train.py", .line = rank == 3 ? 50 : 43};
    }
    struct stk_tune_tried *tried = stk_vec_push(&tune.tried);
    tried->choice.fix = fix("torch.dataloader.num_workers");
    tried->state = STK_TUNE_KEPT;
    strcpy(tried->choice.value, "2");
    stk_tune_each_place(&tune, count_line, NULL);
    CHECK_EQ(lines, 2);
    stk_vec_deinit(&tune.tried);
    stk_facts_deinit(&tune.facts);
}

// Two that were kept set one variable: it is said once, with both, and with what it held.
static void a_variable_is_told_once(void)
{
    static struct stk_tune tune;
    char text[STK_TUNE_LINE];
    setenv("GLIBC_TUNABLES", "a=1", true);
    stk_vec_init(&tune.tried, sizeof(struct stk_tune_tried), 4);
    const struct stk_rep_fix *const fixes[] = {
        fix("process.omp_num_threads"), fix("process.huge_pages"), fix("process.keep_memory")};
    for (int i = 0; i < 3; i++) {
        struct stk_tune_tried *tried = stk_vec_push(&tune.tried);
        tried->choice.fix = fixes[i];
        tried->state = STK_TUNE_KEPT;
    }
    CHECK(stk_tune_variable(&tune, 0, text, sizeof text));
    CHECK_STR(text, "OMP_NUM_THREADS=");
    CHECK(stk_tune_variable(&tune, 1, text, sizeof text));
    CHECK_STR(text, "GLIBC_TUNABLES=a=1:glibc.malloc.hugetlb=1:glibc.malloc.mmap_max=0:"
                    "glibc.malloc.trim_threshold=4294967296");
    CHECK(!stk_tune_variable(&tune, 2, text, sizeof text));
    struct stk_tune_tried *tried = tune.tried.items;
    tried[1].state = STK_TUNE_WORSE;
    CHECK(!stk_tune_variable(&tune, 1, text, sizeof text));
    CHECK(stk_tune_variable(&tune, 2, text, sizeof text));
    unsetenv("GLIBC_TUNABLES");
    stk_vec_deinit(&tune.tried);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(where_nothing_is_lost);
    CHECK_RUN(where_the_report_names_a_loss);
    CHECK_RUN(a_line_is_told_once);
    CHECK_RUN(a_variable_is_told_once);
    return check_done("unit.tune_sentence");
}
