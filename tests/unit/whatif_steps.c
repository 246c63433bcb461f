// SPDX-License-Identifier: Apache-2.0
// What the mean of steps hides: batches that workers return in turn, of which only every fourth is
// waited for, and single host steps that something else delayed; what waits of uneven length show
// about a loader's threads, and the cost of passing batches on.
#include "whatif_job.h"

#define NEXT "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
#define LOADER 2
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

// Steps of 10 ms: a fetch that waits for 0.1 or 1 ms, work, 3 ms of a callback. A thread of the
// loader works for so long on each batch.
static void loader_job(struct job *j, double busy_us)
{
    struct stk_track_key loader = {
        .kind = STK_TRACK_THREAD, .process = 1, .device = -1, .id = LOADER};
    synth_begin(&j->s);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * 10000, fetch = k % 2 ? 1000 : 100;
        synth_step(&j->s, MAIN, at, 9990, k);
        synth_host(&j->s, MAIN, at + 5, fetch, "IteratorGetNext", STK_KIND_HOST_OP);
        synth_host(&j->s, MAIN, at + 1010, 5000, "aten::linear", STK_KIND_HOST_OP);
        synth_host(&j->s, MAIN, at + 6010, 990, "Optimizer.step#SGD.step", STK_KIND_HOST_OP);
        synth_row(&j->s, &loader, at + 5, busy_us, "Iterator::Map", STK_KIND_HOST_OP, NULL);
    }
    stk_build_track_name(j->s.build, &loader, STK_STR("tf_data_private_threadpool"));
    summarize(j);
}

// Where no thread of a loader works for a good part of the time, what a fetch waits for is no pace
// of theirs: they were asked late, or handed over late. Where one always works, it is.
static void check_loader_at_rest(void)
{
    struct job j;
    loader_job(&j, 6000);
    CHECK_EQ(j.graph->feed, STK_FEED_INLINE);
    CHECK(near(price(&j, "callbacks-every=10").expected, 1 - 0.9 * 0.3, 0.01));
    end(&j);
    loader_job(&j, 9900);
    CHECK_EQ(j.graph->feed, STK_FEED_WORKERS);
    CHECK(price(&j, "callbacks-every=10").expected > 0.95);
    end(&j);
}

// Steps of 10 ms: a batch made by the thread itself for so long, then work.
static void inline_job(struct job *j, double fetch_us, bool is_torch)
{
    struct stk_build_facts facts = {.format = "synth",
                                    .rank = -1,
                                    .world_size = -1,
                                    .framework_hint = is_torch ? 1u << STK_FW_PYTORCH : 0};
    synth_begin(&j->s);
    stk_build_facts(j->s.build, &facts);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * 10000;
        synth_step(&j->s, MAIN, at, 9990, k);
        synth_host(&j->s, MAIN, at + 5, fetch_us, "$train.py:3 load_batch", STK_KIND_PYTHON);
        for (int i = 0; i < 2; i++) {
            synth_host(&j->s, MAIN, at + 10 + 100 * i, 90, "aten::stack", STK_KIND_HOST_OP);
        }
        synth_host(&j->s, MAIN, at + 10 + fetch_us, 8990 - fetch_us, "aten::linear",
                   STK_KIND_HOST_OP);
        synth_host(&j->s, MAIN, at + 9000, 980, "Optimizer.step#SGD.step", STK_KIND_HOST_OP);
    }
    summarize(j);
}

// A worker process of PyTorch's takes half a millisecond more for each tensor of a batch, and so
// does who takes it; a thread of another framework's next to nothing.
static void check_handed_over(void)
{
    struct job j;
    inline_job(&j, 8000, true); // the worker is the slower one, but for the first batch
    CHECK(near(price(&j, "input-overlap").expected, ((2.9 + 7 * 8.9) / 80 + 0.89) / 2, 0.01));
    CHECK(price(&j, "input-overlap").low < 0.8);
    end(&j);
    inline_job(&j, 8000, false);
    CHECK(near(price(&j, "input-overlap").expected, ((2 + 7 * 8) / 80.0 + 0.8) / 2, 0.01));
    end(&j);
    inline_job(&j, 3000, true); // the step is
    CHECK(near(price(&j, "input-overlap").expected, 0.79, 0.01));
    end(&j);
}

// Fetches take nine tenths of the loop's own time, and XLA's threads work for eight tenths of it.
static void check_model_beside(void)
{
    struct job j;
    synth_begin(&j.s);
    for (int k = 0; k < 12; k++) {
        double at = 10000 * k;
        synth_step(&j.s, MAIN, at, 9999, k);
        synth_host(&j.s, MAIN, at + 5, 9000, "PrefetchDatasetIterator.__next__", STK_KIND_HOST_OP);
        synth_host(&j.s, MAIN, at + 9100, 600, "PjitFunction(train_step)", STK_KIND_HOST_OP);
        synth_host(&j.s, MAIN + 1, at + 500, 8000, "ThunkExecutor::Execute", STK_KIND_HOST_OP);
    }
    summarize(&j);
    struct stk_price p = price(&j, "input-free");
    CHECK(near(p.expected, 0.8, 0.02));
    CHECK(p.high >= p.expected && p.low > 0.7);
    end(&j);
}

// Sixty operations a step that TensorFlow runs eagerly, each 30 us and after 130 us of Python; one
// works for a millisecond, and one is interrupted for 4 ms.
static void check_step_graph(void)
{
    static const char *const names[] = {"EagerLocalExecute: Mul", "EagerLocalExecute: AddV2",
                                        "EagerLocalExecute: Relu"};
    struct job j;
    double at = 0;
    synth_begin(&j.s);
    for (int k = 0; k < 8; k++) {
        synth_step(&j.s, MAIN, at, 60 * 160 + 1000 + 4000, k);
        for (int i = 0; i < 60; i++) {
            double us = i == 7 ? 1030 : i == 20 + k ? 4030 : 30;
            synth_host(&j.s, MAIN, at + 1, us, i == 7 ? "EagerLocalExecute: MatMul" : names[i % 3],
                       STK_KIND_HOST_OP);
            at += us + 130;
        }
        at += 10;
    }
    summarize(&j);
    struct stk_price p = price(&j, "step-graph");
    double step = 60 * 160 + 1000 + 4000;
    CHECK(near(p.expected, 1300 / step, 0.02)); // the one that works, and a call
    CHECK(p.low < 1300 / step && p.high > 2000 / step && p.high < 0.6);
    struct stk_rank_sum **brief = NULL; // a diagnosis prices it too
    uint32_t ranks = 0;
    CHECK_EQ(stk_model_summarize_with(j.s.trace, &j.s.select, &stk_replay_brief_hook, 1, &j.arena,
                                      &brief, &ranks, &j.s.err),
             STOKER_OK);
    CHECK(ranks == 1 && brief[0]->partial != NULL);
    struct stk_price_asked set = fix("steps-per-launch=10");
    CHECK(stk_price_refuse(&j.pricing, &set) != NULL); // no call holds a whole step
    end(&j);
}

// Steps of 10 ms, of which an optimizer's loop over forty tensors takes 5: ten operators for each,
// 5 us long, one every 12 us. The last tensor's take `last_us`.
static void looping_job(struct job *j, const char *record, const char *first_op, double last_us)
{
    static const char *const ops[] = {"aten::mul_", "aten::lerp_", "aten::addcmul_", "aten::sqrt",
                                      "aten::div",  "aten::add_",  "aten::addcdiv_", "aten::sub",
                                      "aten::neg",  "aten::pow"};
    synth_begin(&j->s);
    for (int k = 0; k < 8; k++) {
        double at = 10000.0 * k;
        synth_step(&j->s, MAIN, at, 9999, k);
        synth_host(&j->s, MAIN, at + 10, 4000, "aten::mm", STK_KIND_HOST_OP);
        synth_host(&j->s, MAIN, at + 4900, 5000, record, STK_KIND_HOST_OP);
        synth_host(&j->s, MAIN, at + 4905, 5, first_op, STK_KIND_HOST_OP);
        for (int i = 0; i < 400; i++) {
            synth_host(&j->s, MAIN, at + 4912 + 12 * i, i < 390 ? 5 : last_us, ops[i % 10],
                       STK_KIND_HOST_OP);
        }
    }
    summarize(j);
}

static const char *refused(struct job *j, const char *text)
{
    struct stk_price_asked set = fix(text);
    return stk_price_refuse(&j->pricing, &set);
}

// A loop that only calls becomes a few calls; what it works stays in part.
static void check_optimizer(void)
{
    struct job j;
    looping_job(&j, "Optimizer.step#AdamW.step", "aten::neg", 5);
    struct stk_price p = price(&j, "optimizer=fused");
    CHECK(near(p.expected, 1 - (5000 - 5 * (25 + 2 * 40)) / 10000.0, 0.01));
    CHECK(p.low < p.expected && p.high > p.expected && p.high < 0.8);
    CHECK(near(price(&j, "optimizer=foreach").expected, 1 - (5000 - 5 * (40 + 0.8 * 401)) / 10000.0,
               0.01));
    end(&j);
    looping_job(&j, "Optimizer.step#AdamW.step", "aten::neg", 11); // 60 us of work
    CHECK(price(&j, "optimizer=fused").expected > p.expected);
    end(&j);
    looping_job(&j, "Optimizer.step#RMSprop.step", "aten::neg", 5);
    CHECK(refused(&j, "optimizer=fused") && !refused(&j, "optimizer=foreach"));
    end(&j);
    looping_job(&j, "Optimizer.step#Mine.step", "aten::neg", 5);
    CHECK(refused(&j, "optimizer=fused") && refused(&j, "optimizer=foreach"));
    end(&j);
    looping_job(&j, "Optimizer.step#AdamW.step", "aten::_fused_adamw_", 5);
    CHECK(refused(&j, "optimizer=fused") && refused(&j, "optimizer=foreach"));
    end(&j);
    looping_job(&j, "Optimizer.step#AdamW.step", "aten::_foreach_add_", 5);
    CHECK(!refused(&j, "optimizer=fused") && refused(&j, "optimizer=foreach"));
    end(&j);
}

// A closure's forward and backward pass, inside of the optimizer's step, are not its loop.
static void check_closure(void)
{
    struct job j;
    synth_begin(&j.s);
    for (int k = 0; k < 8; k++) {
        double at = 10000.0 * k;
        synth_step(&j.s, MAIN, at, 9999, k);
        synth_host(&j.s, MAIN, at + 10, 9900, "Optimizer.step#Adam.step", STK_KIND_HOST_OP);
        synth_host(&j.s, MAIN, at + 20, 3000, "aten::mm", STK_KIND_HOST_OP);
        synth_host(&j.s, MAIN, at + 3100, 5800, "autograd::engine::evaluate_function: MmBackward0",
                   STK_KIND_HOST_OP);
        for (int i = 0; i < 80; i++) {
            synth_host(&j.s, MAIN, at + 8910 + 12 * i, 5, i % 2 ? "aten::mul_" : "aten::add_",
                       STK_KIND_HOST_OP);
        }
    }
    summarize(&j);
    CHECK(price(&j, "optimizer=fused").low > 0.89); // of the last tenth alone
    CHECK(price(&j, "optimizer=fused").expected < 0.98);
    end(&j);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(check_in_turn);
    CHECK_RUN(check_model_beside);
    CHECK_RUN(check_step_graph);
    CHECK_RUN(check_optimizer);
    CHECK_RUN(check_closure);
    CHECK_RUN(check_held_up);
    CHECK_RUN(check_loader_at_rest);
    CHECK_RUN(check_handed_over);
    return check_done("unit.whatif_steps");
}
