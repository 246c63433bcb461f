// SPDX-License-Identifier: Apache-2.0
// A larger batch from the profiles of two sizes: each class of work grows as observed.
#include "whatif_job.h"

#include "answers/replay/batch_fit.h"

#define STEP_US 20000

// A product of `product_us` and an elementwise kernel of `chain_us` in each step, `kernels` times.
static void begin(struct job *j, double product_us, double chain_us, int kernels)
{
    synth_begin(&j->s);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * STEP_US, device = at + 200;
        synth_step(&j->s, MAIN, at, STEP_US - 10, k);
        for (int i = 0; i < kernels; i++) {
            synth_launch(&j->s, MAIN, at + 20 * i + 10, 5, SGEMM, device, product_us, STREAM);
            device += product_us + 1;
            synth_launch(&j->s, MAIN, at + 20 * i + 16, 3, "vectorized_elementwise_kernel", device,
                         chain_us, STREAM);
            device += chain_us + 1;
        }
        synth_host(&j->s, MAIN, at + 400, device - at - 395, "cudaStreamSynchronize",
                   STK_KIND_RUNTIME);
    }
    summarize(j);
}

// Products grow by half for twice the batch, the others not at all.
static void check_line(void)
{
    struct job small, large;
    struct stk_batch_fit fit;
    begin(&small, 1000, 500, 4);
    begin(&large, 1500, 500, 4);
    CHECK(stk_batch_fit(small.graph, large.graph, 2, &fit) == NULL);
    CHECK(near(fit.grows[STK_WHAT_MATRIX_32], 0.5, 0.01));
    CHECK(near(fit.grows[STK_WHAT_ELEMENTWISE], 0, 0.01));
    CHECK(fit.grows[STK_WHAT_H2D] < 0);
    small.graph->batch_fit = &fit;
    double step_ms = small.pricing.base_ns / 1e6;
    struct stk_price twice = price(&small, "batch=2"), four = price(&small, "batch=4");
    CHECK(near(twice.expected, 1 + 2 / step_ms, 0.02));
    CHECK(near(four.expected, 1 + 6 / step_ms, 0.02));
    CHECK(four.high - four.low > twice.high - twice.low);
    struct stk_price_asked set = fix("batch=2");
    small.graph->batch_fit = NULL;
    CHECK(stk_price_set(&small.pricing, &set, 1, &four));
    CHECK(four.high - four.low > 2 * (twice.high - twice.low)); // one size tells less
    end(&small);
    end(&large);
}

static void check_other_job(void)
{
    struct job small, other;
    struct stk_batch_fit fit;
    begin(&small, 1000, 500, 4);
    begin(&other, 1000, 500, 6);
    CHECK(strstr(stk_batch_fit(small.graph, other.graph, 2, &fit), "a different job") != NULL);
    end(&small);
    end(&other);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(check_line);
    CHECK_RUN(check_other_job);
    return check_done("unit.whatif_batch");
}
