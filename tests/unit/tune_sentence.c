// SPDX-License-Identifier: Apache-2.0
// The last line of a search that found nothing: a job whose report names a loss is not said to have
// nothing to gain.
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

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(where_nothing_is_lost);
    CHECK_RUN(where_the_report_names_a_loss);
    return check_done("unit.tune_sentence");
}
