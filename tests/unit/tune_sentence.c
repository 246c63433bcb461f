// SPDX-License-Identifier: Apache-2.0
// What a search says: a job whose report names a loss is not said to have nothing to gain; each
// line to change is told once.
#include "tune/tune_out.h"

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
    CHECK_STR(said(false), "nothing to gain above 2 % of a step's time (241 ms)");
}

static void where_the_report_names_a_loss(void)
{
    CHECK_STR(said(true), "no setting gains above 2 % of a step's time (241 ms); what its report "
                          "names is for the program's own lines");
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
    tried->choice.fix = &stk_tune_fix_torch_num_workers;
    tried->state = STK_TUNE_KEPT;
    strcpy(tried->choice.value, "2");
    stk_tune_each_place(&tune, count_line, NULL);
    CHECK_EQ(lines, 2);
    stk_vec_deinit(&tune.tried);
    stk_facts_deinit(&tune.facts);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(where_nothing_is_lost);
    CHECK_RUN(where_the_report_names_a_loss);
    CHECK_RUN(a_line_is_told_once);
    return check_done("unit.tune_sentence");
}
