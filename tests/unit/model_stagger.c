// SPDX-License-Identifier: Apache-2.0
// Two devices of a process in steps of 10 ms: one begins at once, the other is launched later. Its
// delay counts if it has nothing to do and waits for its launch.
#include "synth.h"

#include "base/alloc.h"

#define MAIN 1
#define OTHER 2
#define STEPS 8
#define STEP_US 10000

// The second device's first launch so long after the first one's, by `thread`; its kernel begins
// `after_us` behind the launch and goes on for `dur_us`.
static struct stk_stagger stagger(double late_us, int64_t thread, double after_us, double dur_us)
{
    struct synth s;
    synth_begin(&s);
    struct stk_device_facts facts = {.source_id = STK_STR("1"), .name = STK_STR("Test GPU")};
    stk_build_device(s.build, 1, 1, &facts);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * STEP_US;
        synth_step(&s, MAIN, at, STEP_US - 10, k);
        s.device = 0;
        synth_launch(&s, MAIN, at + 100, 5, "gemm", at + 110, 6000, 7);
        s.device = 1;
        synth_launch(&s, thread, at + 100 + late_us, 5, "gemm", at + 100 + late_us + after_us,
                     dur_us, 7);
        synth_launch(&s, thread, at + 110 + late_us, 5, "gemm",
                     at + 100 + late_us + after_us + dur_us, 100, 7);
    }
    const struct stk_rank_sum *r = synth_summarize(&s);
    struct stk_stagger found = r->facts.kernels.stagger;
    CHECK_EQ(r->facts.kernels.devices, 2);
    found.latest = NULL; // goes with the arena
    synth_end(&s);
    return found;
}

static double each_us(const struct stk_stagger *x)
{
    return x->steps ? (double)x->late_ns / 1000 / x->steps : -1;
}

static void is_late(void)
{
    struct stk_stagger x = stagger(2000, MAIN, 10, 5000);
    CHECK_EQ(x.devices, 2);
    CHECK(x.steps >= STEPS - 2 && x.one_thread_steps == x.steps);
    CHECK(each_us(&x) > 1980 && each_us(&x) < 2001); // from the first kernel to the launch
    CHECK(x.latest_ns > 1980 * US && x.latest_ns < 2001 * US);
    CHECK(x.steps_ns >= (int64_t)x.steps * 9900 * US);
}

static void is_not_late(void)
{
    struct stk_stagger x = stagger(20, MAIN, 10, 5000);
    CHECK(x.steps > 0 && each_us(&x) < 20);
    // Launched in time, it waits for something else.
    x = stagger(20, MAIN, 3000, 5000);
    CHECK(x.steps > 0 && each_us(&x) < 1);
    x = stagger(2000, MAIN, 3000, 4000);
    CHECK(x.steps > 0 && each_us(&x) < 1);
    // Still at work when it is launched for, in all steps but the first.
    x = stagger(2000, MAIN, 10, 9890);
    CHECK(x.steps > 0 && each_us(&x) < 2000.0 / x.steps + 20);
}

static void by_threads(void)
{
    struct stk_stagger x = stagger(2000, OTHER, 10, 5000);
    CHECK(x.steps > 0 && x.one_thread_steps == 0);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(is_late);
    CHECK_RUN(is_not_late);
    CHECK_RUN(by_threads);
    return check_done("unit.model_stagger");
}
