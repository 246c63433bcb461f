// SPDX-License-Identifier: Apache-2.0
// What the mean of steps hides: batches that workers give in turn, of which only every fourth is
// waited for, and single steps of a host that something else held up.
#include "whatif_job.h"

#define NEXT "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
#define OWN_NEXT "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

// Workers have four batches every 40 ms; a step takes 5 ms of the device. What is before the first
// wait and behind the last looks as if faster kernels shortened it.
static void check_in_turn(void)
{
    struct job j;
    double at = 0;
    synth_begin(&j.s);
    for (int64_t k = 0; k < 19; k++) {
        double fetch = k % 4 == 3 ? 20000 : 50;
        synth_step(&j.s, MAIN, at, fetch + 5040, k);
        synth_host(&j.s, MAIN, at + 5, fetch, NEXT, STK_KIND_HOST_OP);
        synth_launch(&j.s, MAIN, at + fetch + 10, 5, SGEMM, at + fetch + 20, 5000, STREAM);
        synth_host(&j.s, MAIN, at + fetch + 20, 5010, "cudaStreamSynchronize", STK_KIND_RUNTIME);
        at += fetch + 5050;
    }
    summarize(&j);
    struct stk_price p = price(&j, "kernel-faster=2");
    CHECK(p.expected > 0.98 && p.expected <= 1.0001);
    CHECK(p.low > 0.95);
    p = price(&j, "input-free");
    CHECK(near(p.expected, 5100.0 / 10040, 0.06)); // steps wait for 5 ms in the mean
    end(&j);
}

// Steps of 10 ms, 2 of them a callback; one is held up by 30 ms in its work.
static void check_held_up(void)
{
    struct job j;
    double at = 0;
    synth_begin(&j.s);
    for (int64_t k = 0; k < 12; k++) {
        double work = k == 6 ? 36000 : 6000;
        synth_step(&j.s, MAIN, at, work + 3990, k);
        synth_host(&j.s, MAIN, at + 5, 1000, OWN_NEXT, STK_KIND_HOST_OP);
        synth_host(&j.s, MAIN, at + 1010, work, "aten::linear", STK_KIND_HOST_OP);
        synth_host(&j.s, MAIN, at + 1010 + work, 980, "Optimizer.step#SGD.step", STK_KIND_HOST_OP);
        at += work + 4000;
    }
    summarize(&j);
    struct stk_price p = price(&j, "callbacks-every=10");
    double mean = 0.9 * 2000 / 12500, median = 0.9 * 2000 / 10000;
    CHECK(near(1 - p.expected, (mean + median) / 2, 0.012));
    CHECK(1 - p.low > median - 0.005);
    CHECK(near(price(&j, "none").expected, 1, 1e-9));
    end(&j);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(check_in_turn);
    CHECK_RUN(check_held_up);
    return check_done("unit.whatif_steps");
}
