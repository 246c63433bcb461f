// SPDX-License-Identifier: Apache-2.0
// What a search says: never "nothing to gain" for a job whose report names a loss; fixes that need
// an edit have their estimate and place; each line to change is listed once.
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
    CHECK_STR(said(true), "no setting gains above 2% of a step's time (241 ms); the report's "
                          "advice needs an edit of the program");
}

static const struct stk_rep_fix *fix(const char *id)
{
    struct stoker_err err;
    return stk_tune_fix_find(id, &err);
}

static char printed[8192];

static int take(void *arg, const char *bytes, size_t n)
{
    size_t used = strlen(printed);
    (void)arg;
    n = n < sizeof printed - 1 - used ? n : sizeof printed - 1 - used;
    memcpy(printed + used, bytes, n);
    printed[used + n] = 0;
    return 0;
}

static const char *text_of(const struct stk_tune *tune, bool all)
{
    static char name[] = "job", *argv[] = {name, NULL};
    struct stk_tune_plan plan = {.argv = argv};
    struct stk_sink to;
    struct stoker_err err;
    printed[0] = 0;
    stk_sink_init(&to, take, NULL);
    stk_tune_text(&plan, tune, all, &to);
    CHECK_EQ(stk_sink_finish(&to, &err), STOKER_OK);
    return printed;
}

static void advise(struct stk_vec *to, const char *id, const char *finding, double share, int rank)
{
    struct stk_tune_advice *a = stk_vec_push(to);
    const struct stk_rep_fix *row = stk_fix_row_find(id);
    CHECK(row != NULL);
    *a = (struct stk_tune_advice){.fix = row,
                                  .line = 44,
                                  .saving = {.expected_share = share, .has_expected = 1},
                                  .takes_edit = !row->tries,
                                  .rank = rank};
    strcpy(a->finding, finding);
    strcpy(a->file, "train.py");
}

static void skip(struct stk_vec *to, const char *id, const char *why)
{
    struct stk_tune_tried *t = stk_vec_push(to);
    t->choice.fix = fix(id);
    t->state = STK_TUNE_SKIPPED;
    strcpy(t->why, why);
}

// It stands before all that was tried, and in the sentence; what the job has no place for is a
// line.
static void what_takes_an_edit_is_first(void)
{
    static struct stk_tune tune;
    tune = (struct stk_tune){.verdict = STK_TUNE_CANNOT_TELL,
                             .end = STK_TUNE_SPENT,
                             .is_over_budget = true,
                             .baseline_s = 0.044};
    stk_vec_init(&tune.advice, sizeof(struct stk_tune_advice), 8);
    stk_vec_init(&tune.tried, sizeof(struct stk_tune_tried), 8);
    advise(&tune.advice, "input-wait.own-code", "input-wait", 0.3, 0);
    advise(&tune.advice, "torch.dataloader.num_workers", "input-wait", 0.3, 1);
    advise(&tune.advice, "host-bound.tf-constant", "host-bound", 0.94, 0);
    skip(&tune.tried, "torch.dataloader.pin_memory", "there is no GPU to copy to");
    skip(&tune.tried, "process.numa", "the machine has one NUMA node");
    skip(&tune.tried, "torch.compile", STK_TUNE_NUMERICS);
    skip(&tune.tried, "torch.threads", STK_TUNE_NO_TURN);
    const char *text = text_of(&tune, false);
    const char *edit = strstr(text, "  host-bound.tf-constant   saves 94%   train.py:44\n");
    const char *rest = strstr(text, "  skipped    torch.threads ");
    CHECK(edit && rest && edit < rest);
    CHECK(strstr(text, "  input-wait.own-code   saves 30%"));
    CHECK(!strstr(text, "torch.dataloader.num_workers")); // tune tries it
    CHECK(strstr(text, "  numerics   torch.compile: it changes the computed values"));
    CHECK(strstr(text, "  skipped    2 fixes that don't apply to the job"));
    CHECK(!strstr(text, "process.numa"));
    CHECK(strstr(text, "cannot tell: the budget ran out (--budget) before torch.threads; by hand, "
                       "host-bound.tf-constant saves 94%\n"));
    CHECK(strstr(text_of(&tune, true), "process.numa"));
    // A fix that was kept is another remedy of the first finding.
    struct stk_tune_set kept = {.items = {{.fix = fix("torch.dataloader.num_workers")}},
                                .count = 1};
    stk_advice_answer(&tune.advice, &kept);
    text = text_of(&tune, false);
    CHECK(!strstr(text, "input-wait.own-code") && strstr(text, "host-bound.tf-constant"));
    stk_vec_deinit(&tune.advice);
    stk_vec_deinit(&tune.tried);
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

// Two kept fixes set one variable: it is listed once, with both, and with its old value.
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
    CHECK_RUN(what_takes_an_edit_is_first);
    CHECK_RUN(a_line_is_told_once);
    CHECK_RUN(a_variable_is_told_once);
    return check_done("unit.tune_sentence");
}
