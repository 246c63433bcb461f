// SPDX-License-Identifier: Apache-2.0
// How replayed prices change a finding: the first fix saves next to nothing of a large loss; which
// steps the saving refers to.
#include "rules_run.h"
#include "whatif_job.h"

static struct fake f;

// Steps of kernels that are launched ahead and compute nearly all of the time.
static void computing_job(struct job *j)
{
    enum { KERNELS = 20 };
    synth_begin(&j->s);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * 20000;
        synth_step(&j->s, MAIN, at, 19999, k);
        for (int i = 0; i < KERNELS; i++) {
            synth_host(&j->s, MAIN, at + 1 + 10 * i, 9, "aten::mm", STK_KIND_HOST_OP);
            synth_launch(&j->s, MAIN, at + 4 + 10 * i, 5, SGEMM, at + 15 + 998 * i, 997, STREAM);
        }
        synth_host(&j->s, MAIN, at + 300, 19690, "cudaDeviceSynchronize", STK_KIND_RUNTIME);
    }
    summarize(j);
}

// A loss to launches of this share, and prices of steps in which launches are next to nothing.
static void launches(double share, bool is_said)
{
    struct job j;
    computing_job(&j);
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_LAUNCH, share, -1);
    f.prices = &j.pricing;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "host-bound");
    CHECK(!is_said || (strcmp(x->saving.basis, "replay") == 0 && x->saving.high_share < 0.02));
    CHECK_EQ(says(x, "it has no effect here"), is_said);
    fake_done(&f);
    end(&j);
}

// Steps of 20 ms, half of each a wait for the next batch.
static void waiting_job(struct job *j)
{
    synth_begin(&j->s);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * 20000;
        synth_step(&j->s, MAIN, at, 19999, k);
        synth_host(&j->s, MAIN, at + 1, 10000,
                   "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                   STK_KIND_HOST_OP);
        synth_launch(&j->s, MAIN, at + 10010, 8, SGEMM, at + 10020, 9900, STREAM);
        synth_host(&j->s, MAIN, at + 10030, 9900, "cudaDeviceSynchronize", STK_KIND_RUNTIME);
    }
    summarize(j);
}

// The report says so if the replayed mean covers other steps than the reported one.
static void other_steps(double above, bool is_said)
{
    struct job j;
    waiting_job(&j);
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_INPUT, 0.5, -1);
    fake_name(&f, STK_PART_INPUT, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
    j.pricing.base_ns = above * FAKE_STEP_NS;
    f.prices = &j.pricing;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "input-wait");
    CHECK_STR(x->saving.basis, "replay");
    CHECK_EQ(says(x, "between the first and the last wait for a batch"), is_said);
    fake_done(&f);
    end(&j);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(launches, 0.3, true);
    CHECK_RUN(launches, 0.09, false); // no loss that is worth naming
    CHECK_RUN(other_steps, 1.2, true);
    CHECK_RUN(other_steps, 1.0, false);
    return check_done("unit.rules_price");
}
