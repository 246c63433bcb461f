// SPDX-License-Identifier: Apache-2.0
// Which values of a fix are tried, by what the job's facts are: nothing that a trial's run could
// not show.
#include "tune/fix.h"

#include <string.h>

#include "check.h"

static struct stk_tune_values values;

// Workers that stay, in a job of two workers and epochs of `batches`.
static bool stays(const char *batches, uint64_t run_steps)
{
    struct stk_tune_facts facts;
    stk_facts_init(&facts);
    stk_facts_set(&facts, "torch.dataloader.num_workers", "2");
    stk_facts_set(&facts, "torch.dataloader.batches", batches);
    facts.run_steps = run_steps;
    values = (struct stk_tune_values){.count = 0};
    stk_tune_fix_torch_persistent_workers.values(&facts, &values);
    stk_facts_deinit(&facts);
    return values.count == 1;
}

static void workers_stay_where_a_run_sees_an_epoch_end(void)
{
    CHECK(stays("20", 54));
    CHECK(stays("53", 54));
    CHECK(!stays("54", 54));
    CHECK(!stays("400", 54));
    CHECK(strstr(values.why, "makes 54 steps and no second epoch of 400"));
    CHECK(!stays("1001", 5000));
    CHECK(strstr(values.why, "start once in 1001 steps"));
    CHECK(stays("400", 0)); // nobody knows yet how long a run is
    CHECK(stays("-3", 54)); // no length
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(workers_stay_where_a_run_sees_an_epoch_end);
    return check_done("unit.tune_values");
}
