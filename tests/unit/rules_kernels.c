// SPDX-License-Identifier: Apache-2.0
// Rules about kinds of kernels, devices that take turns and garbage collection: they fire from
// their thresholds on if the profile has the data, and say so otherwise.
#include "rules_run.h"

static struct fake f;

// A step that only computes; `share` of the kernels' time is of a kind.
static void kernels(enum stk_kernel_kind kind, double share)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    f.devices[0].name = "NVIDIA A100-SXM4-40GB";
    struct stk_kernel_work *k = &f.run.facts.kernels;
    k->all_ns = FAKE_STEPS * FAKE_STEP_NS;
    k->kind_ns[kind] = k->longest_ns[kind] = (int64_t)(share * (double)k->all_ns);
    k->kind_count[kind] = 1200;
    k->longest[kind] = "a_kernel_of_this_kind";
}

static double most_saved(const struct stk_rep_finding *x)
{
    return x->saving.has_high ? x->saving.high_share : -1;
}

static void tensor_cores(void)
{
    kernels(STK_KERNEL_PLAIN, 0.4);
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "tensor-cores-unused");
    CHECK(says(x, "40% of kernel time is in fp32 products") && says(x, "a_kernel_of"));
    CHECK(advises(x, "set_float32_matmul_precision") >= 0);
    CHECK(most_saved(x) > 0.3 && most_saved(x) < 0.4 && x->severity == STK_LEVEL_HIGH);
    x = fake_finding(&f, "compute-bound"); // which has that as an idea, says it no second time
    CHECK(x && advises(x, "set_float32_matmul_precision") < 0 && advises(x, "torch.compile") >= 0);
    fake_done(&f);
    kernels(STK_KERNEL_PLAIN, 0.09);
    fake_ask(&f);
    CHECK(strcmp(fake_state(&f, "tensor-cores-unused"), "passed") == 0);
    fake_done(&f);
    kernels(STK_KERNEL_PLAIN, 0.4);
    f.devices[0].name = "";
    fake_ask(&f);
    CHECK(strcmp(fake_state(&f, "tensor-cores-unused"), "not_applicable") == 0);
    fake_done(&f);
    kernels(STK_KERNEL_PLAIN, 0.4); // of little compute
    fake_part(&f, STK_PART_HOST, 0.95, -1);
    fake_ask(&f);
    CHECK(strcmp(fake_state(&f, "tensor-cores-unused"), "passed") == 0);
    fake_done(&f);
}

// Where mixed precision is on, it is not advised: what falls back from it is.
static void fallen_back(void)
{
    kernels(STK_KERNEL_PLAIN, 0.4);
    f.run.facts.kernels.kind_ns[STK_KERNEL_LOW] = f.run.facts.kernels.all_ns / 10;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "tensor-cores-unused");
    CHECK_STR(x->title, "Some matrix products fall back to fp32");
    CHECK(says(x, "10% of it is products of 16 bits or fewer: mixed precision is on"));
    CHECK(advises(x, "custom_fwd") == 0 && advises(x, "set_float32_matmul_precision") < 0);
    fake_done(&f);
    kernels(STK_KERNEL_PLAIN, 0.4);
    f.run.facts.kernels.kind_ns[STK_KERNEL_LOW] = f.run.facts.kernels.all_ns / 25;
    fake_ask(&f);
    x = fake_finding(&f, "tensor-cores-unused");
    CHECK(advises(x, "custom_fwd") < 0 && advises(x, "set_float32_matmul_precision") == 0);
    fake_done(&f);
}

static void chains(void)
{
    kernels(STK_KERNEL_CHAINED, 0.2);
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "elementwise-unfused");
    CHECK(says(x, "20% of kernel time is elementwise kernels") && most_saved(x) > 0.19);
    CHECK(advises(x, "torch.compile") >= 0);
    x = fake_finding(&f, "compute-bound");
    CHECK(x && advises(x, "torch.compile") < 0 && advises(x, "set_float32_matmul") >= 0);
    f.run.facts.sees_operators = true; // and none of them trains: no optimizer to fuse
    fake_ask(&f);
    x = fake_finding(&f, "elementwise-unfused");
    CHECK(advises(x, "torch.compile") >= 0 && advises(x, "fused=True") < 0);
    f.run.facts.signs[STK_SIGN_COMPILED].count = 3; // what is compiled is not told to compile
    fake_ask(&f);
    x = fake_finding(&f, "elementwise-unfused");
    CHECK(advises(x, "graph_breaks") == 0 && advises(x, "torch.compile(model)") < 0);
    fake_done(&f);
    kernels(STK_KERNEL_CHAINED, 0.14);
    fake_ask(&f);
    CHECK(strcmp(fake_state(&f, "elementwise-unfused"), "passed") == 0);
    fake_done(&f);
}

static void layouts(void)
{
    kernels(STK_KERNEL_LAYOUT, 0.05);
    fake_ask(&f);
    CHECK(advises(fake_finding(&f, "layout-changes"), "channels_last") >= 0);
    fake_done(&f);
    kernels(STK_KERNEL_LAYOUT, 0.01);
    fake_ask(&f);
    CHECK(strcmp(fake_state(&f, "layout-changes"), "passed") == 0);
    fake_done(&f);
}

// `filled` of the multiprocessors have a block; kernels run all the time.
static const char *grids(double filled, double known)
{
    kernels(STK_KERNEL_LAYOUT, 0);
    struct stk_grid_fill *g = &f.run.facts.kernels.grids;
    g->kernels_ns = FAKE_STEPS * FAKE_STEP_NS;
    g->known_ns = (int64_t)(known * (double)g->kernels_ns);
    g->empty_ns = (int64_t)((1 - filled) * (double)g->known_ns);
    g->kernels = 500;
    g->small = 450;
    g->multiprocessors = 108;
    g->emptiest = "a_small_kernel";
    g->emptiest_ns = g->empty_ns / 2;
    fake_ask(&f);
    return fake_state(&f, "small-grid");
}

static void small_grids(void)
{
    CHECK_STR(grids(0.2, 1), "fired");
    const struct stk_rep_finding *x = fake_finding(&f, "small-grid");
    CHECK(says(x, "kernels occupy 20% of the GPU's 108 SMs"));
    CHECK(says(x, "450 of 500 kernels") && says(x, "50% of the unused capacity is in a_small"));
    CHECK(most_saved(x) > 0.79 && most_saved(x) < 0.81 && x->severity == STK_LEVEL_HIGH);
    CHECK(advises(x, "batch=2") == 0 && advises(x, "torch.func.vmap") > 0);
    x = fake_finding(&f, "compute-bound"); // to which it is an idea
    CHECK(x->id && advises(x, "larger batch") < 0);
    fake_done(&f);
    CHECK_STR(grids(0.7, 1), "passed");
    CHECK(advises(fake_finding(&f, "compute-bound"), "larger batch") >= 0);
    fake_done(&f);
    CHECK_STR(grids(1, 1), "passed");
    x = fake_finding(&f, "compute-bound");
    CHECK(x->id && advises(x, "larger batch") < 0);
    fake_done(&f);
    CHECK_STR(grids(0.2, 0.4), "not_applicable");
    fake_done(&f);
    CHECK_STR(grids(0.2, 0), "not_applicable");
    CHECK(advises(fake_finding(&f, "compute-bound"), "larger batch") >= 0);
    fake_done(&f);
}

// Most of the device is empty, for a moment of each step.
static void small_grids_briefly(void)
{
    kernels(STK_KERNEL_LAYOUT, 0);
    f.run.facts.kernels.grids = (struct stk_grid_fill){.kernels_ns = FAKE_STEP_NS / 4,
                                                       .known_ns = FAKE_STEP_NS / 4,
                                                       .empty_ns = FAKE_STEP_NS / 5,
                                                       .kernels = 9,
                                                       .small = 9,
                                                       .multiprocessors = 108};
    fake_part(&f, STK_PART_HOST, 0.95, -1);
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "small-grid"), "passed");
    fake_done(&f);
}

// Kernels of `each_us` take `share` of the step, what the host does the rest.
static const char *small_step(double share, double each_us)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    struct stk_kernel_work *k = &f.run.facts.kernels;
    k->all_ns = (int64_t)(share * FAKE_STEPS * (double)FAKE_STEP_NS + 0.5);
    k->grids.kernels = (uint64_t)((double)k->all_ns / (each_us * 1e3) + 0.5);
    fake_part(&f, STK_PART_HOST, 1 - share, -1);
    fake_ask(&f);
    return fake_state(&f, "step-too-small");
}

// Without a replay it is no more than a hint.
static void small_steps(void)
{
    CHECK_STR(small_step(0.03, 4), "fired");
    const struct stk_rep_finding *x = fake_finding(&f, "step-too-small");
    CHECK(says(x, "750 kernels take 3.00 ms per step (3.0%), 4.00 us each"));
    CHECK(says(x, "The GPU is idle 97%") && advises(x, "device = 'cpu'") > 0);
    CHECK(x->severity == STK_LEVEL_INFO && strcmp(x->saving.basis, "none") == 0);
    x = fake_finding(&f, "host-bound"); // it has its own advice
    CHECK(x->id && advises(x, "device = 'cpu'") < 0);
    fake_done(&f);
    CHECK_STR(small_step(0.06, 4), "passed");
    fake_done(&f);
    CHECK_STR(small_step(0.03, 40), "passed");
    fake_done(&f);
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "step-too-small"), "not_applicable");
    fake_done(&f);
}

// What waits for its input is no small step.
static void small_steps_wait(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    struct stk_kernel_work *k = &f.run.facts.kernels;
    k->all_ns = FAKE_STEPS * FAKE_STEP_NS / 50;
    k->grids.kernels = (uint64_t)k->all_ns / 4000;
    fake_part(&f, STK_PART_INPUT, 0.9, -1);
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "step-too-small"), "passed");
    fake_done(&f);
}

static void turns(double at_a_time, uint32_t devices, const char *state)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    struct stk_kernel_work *k = &f.run.facts.kernels;
    k->devices = devices;
    k->any_busy_ns = FAKE_STEPS * FAKE_STEP_NS * 8 / 10;
    k->devices_busy_ns = (int64_t)(at_a_time * (double)k->any_busy_ns);
    fake_ask(&f);
    CHECK(strcmp(fake_state(&f, "devices-in-turn"), state) == 0);
    fake_done(&f);
}

static void devices(void)
{
    turns(1.05, 2, "fired");
    turns(1.9, 2, "passed");
    turns(2, 4, "fired");
    turns(1, 1, "not_applicable");
}

// Two devices that work together, one of which begins each step so late (a share of it).
static const char *staggered(double late, double at_a_time, uint32_t one_thread_steps)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    struct stk_kernel_work *k = &f.run.facts.kernels;
    k->devices = 2;
    k->any_busy_ns = FAKE_STEPS * FAKE_STEP_NS * 8 / 10;
    k->devices_busy_ns = (int64_t)(at_a_time * (double)k->any_busy_ns);
    k->stagger = (struct stk_stagger){.devices = 2,
                                      .steps = FAKE_STEPS,
                                      .one_thread_steps = one_thread_steps,
                                      .steps_ns = FAKE_STEPS * FAKE_STEP_NS,
                                      .latest = "0/1",
                                      .latest_ns = 12000000};
    k->stagger.late_ns = (int64_t)(late * (double)k->stagger.steps_ns);
    fake_ask(&f);
    return fake_state(&f, "launches-staggered");
}

static void staggers(void)
{
    CHECK_STR(staggered(0.1, 1.8, FAKE_STEPS), "fired");
    const struct stk_rep_finding *x = fake_finding(&f, "launches-staggered");
    CHECK(says(x, "One thread launches for 2 devices") && says(x, "starts 10.0 ms late"));
    CHECK(says(x, "12.0 ms on device 0/1"));
    CHECK(most_saved(x) > 0.099 && most_saved(x) < 0.101);
    CHECK(advises(x, "DistributedDataParallel") >= 0);
    fake_done(&f);
    CHECK_STR(staggered(0.029, 1.8, FAKE_STEPS), "passed");
    fake_done(&f);
    CHECK_STR(staggered(0.1, 1.8, FAKE_STEPS / 2 - 1), "passed");
    fake_done(&f);
    CHECK_STR(staggered(0.1, 1.1, FAKE_STEPS), "passed"); // told once
    CHECK_STR(fake_state(&f, "devices-in-turn"), "fired");
    fake_done(&f);
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "launches-staggered"), "not_applicable");
    fake_done(&f);
}

static const char *data_parallel(uint64_t events, uint32_t devices)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    f.run.facts.kernels.devices = devices;
    f.run.facts.kernels.any_busy_ns = FAKE_STEPS * FAKE_STEP_NS;
    f.run.facts.kernels.devices_busy_ns = devices * FAKE_STEPS * FAKE_STEP_NS;
    f.run.facts.signs[STK_SIGN_DATA_PARALLEL] = (struct stk_sign_sum){.count = events, .ns = 30000};
    f.devices[0].p2p_ns = 7000000;
    fake_ask(&f);
    return fake_state(&f, "data-parallel");
}

static void one_process(void)
{
    CHECK_STR(data_parallel(6, 2), "fired");
    const struct stk_rep_finding *x = fake_finding(&f, "data-parallel");
    CHECK(says(x, "One process drives 2 GPUs: DataParallel adds 6 events") &&
          says(x, "take 7.00 ms"));
    CHECK(advises(x, "DistributedDataParallel") == 0 && advises(x, "DistributedSampler") == 1);
    CHECK_STR(fake_state(&f, "devices-in-turn"), "passed");
    fake_done(&f);
    CHECK_STR(data_parallel(6, 1), "passed");
    fake_done(&f);
    CHECK_STR(data_parallel(0, 2), "not_applicable");
    fake_done(&f);
}

static void collections(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_HOST, 0.3, -1);
    fake_name(&f, STK_PART_HOST, "aten::add");
    fake_ask(&f);
    CHECK(strcmp(fake_state(&f, "python-gc"), "passed") == 0);
    fake_done(&f);
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_HOST, 0.3, -1);
    fake_name(&f, STK_PART_HOST, "Python GC");
    f.run.causes[STK_PART_HOST].names[0].ns = FAKE_STEPS * FAKE_STEP_NS / 5;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "python-gc");
    CHECK(says(x, "(20%)") && advises(x, "gc.freeze()") == 0);
    CHECK(x->severity == STK_LEVEL_HIGH);
    fake_done(&f);
}

// What saves more comes first.
static void order(void)
{
    kernels(STK_KERNEL_CHAINED, 0.4);
    struct stk_kernel_work *k = &f.run.facts.kernels;
    k->kind_ns[STK_KERNEL_LAYOUT] = k->all_ns / 2;
    k->kind_count[STK_KERNEL_LAYOUT] = 7;
    fake_ask(&f);
    const struct stk_rep_finding *rows = f.report.findings.items;
    CHECK(f.report.findings.count >= 3 && strcmp(rows[0].id, "layout-changes") == 0);
    CHECK(strcmp(rows[1].id, "elementwise-unfused") == 0);
    fake_done(&f);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(tensor_cores);
    CHECK_RUN(fallen_back);
    CHECK_RUN(chains);
    CHECK_RUN(layouts);
    CHECK_RUN(small_grids);
    CHECK_RUN(small_grids_briefly);
    CHECK_RUN(small_steps);
    CHECK_RUN(small_steps_wait);
    CHECK_RUN(devices);
    CHECK_RUN(staggers);
    CHECK_RUN(one_process);
    CHECK_RUN(collections);
    CHECK_RUN(order);
    return check_done("unit.rules_kernels");
}
