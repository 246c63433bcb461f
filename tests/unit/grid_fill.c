// SPDX-License-Identifier: Apache-2.0
// The unused part of a device while kernels run: small ones alone, next to each other, next to
// unknown ones, and on a device with an unknown number of SMs.
#include "synth.h"

static struct synth s;

// A device of 100 multiprocessors, or of an unknown number.
static void begin(int32_t multiprocessors)
{
    synth_begin(&s);
    struct stk_device_facts facts = {
        .source_id = STK_STR("0"), .name = STK_STR("Test GPU"), .sm_count = multiprocessors};
    stk_build_device(s.build, 1, 0, &facts);
}

// blocks 0: not recorded.
static void kernel(int64_t stream, double start_us, double dur_us, const char *name,
                   enum stk_kind kind, uint32_t blocks)
{
    struct stk_track_key key = {.kind = STK_TRACK_STREAM, .process = 1, .device = 0, .id = stream};
    struct stk_launch_config config = STK_LAUNCH_CONFIG_UNKNOWN;
    struct stk_row_ext ext = {0};
    config.grid[0] = blocks;
    config.grid[1] = config.grid[2] = config.block[1] = config.block[2] = 1;
    config.block[0] = 128;
    if (blocks) {
        stk_shard_set_config(s.shard, &config, &ext);
    }
    synth_row(&s, &key, start_us, dur_us, name, kind, &ext);
}

static struct stk_grid_fill found(void)
{
    const struct stk_rank_sum *r = synth_summarize(&s);
    return r ? r->facts.kernels.grids : (struct stk_grid_fill){0};
}

static void alone(void)
{
    begin(100);
    kernel(7, 0, 100, "small", STK_KIND_KERNEL, 25);
    kernel(7, 100, 100, "full", STK_KIND_KERNEL, 100);
    kernel(7, 200, 100, "several waves", STK_KIND_KERNEL, 4000);
    kernel(7, 300, 100, "tiny", STK_KIND_KERNEL, 10);
    kernel(7, 400, 500, "ncclDevKernel_AllReduce", STK_KIND_COLLECTIVE, 2);
    struct stk_grid_fill g = found();
    CHECK_EQ(g.kernels_ns, 400 * US);
    CHECK_EQ(g.known_ns, 400 * US);
    CHECK_EQ(g.empty_ns, (75 + 90) * US);
    CHECK_EQ(g.kernels, 4);
    CHECK_EQ(g.small, 2);
    CHECK_EQ(g.multiprocessors, 100);
    CHECK_STR(g.emptiest, "tiny");
    CHECK_EQ(g.emptiest_ns, 90 * US);
    synth_end(&s);
}

// What runs at a time adds up, and no more than all is full.
static void beside(void)
{
    begin(100);
    kernel(7, 0, 100, "left", STK_KIND_KERNEL, 50);
    kernel(8, 50, 100, "right", STK_KIND_KERNEL, 20);
    kernel(9, 70, 10, "wide", STK_KIND_KERNEL, 90);
    struct stk_grid_fill g = found();
    CHECK_EQ(g.kernels_ns, 150 * US);
    CHECK_EQ(g.empty_ns, (25 + 12 + 40) * US); // 50 alone, 40 of both, 50 alone
    CHECK_EQ(g.small, 3);
    synth_end(&s);
}

static void unknown(void)
{
    begin(100);
    kernel(7, 0, 100, "small", STK_KIND_KERNEL, 50);
    kernel(8, 40, 20, "not recorded", STK_KIND_KERNEL, 0);
    struct stk_grid_fill g = found();
    CHECK_EQ(g.kernels_ns, 100 * US);
    CHECK_EQ(g.known_ns, 80 * US);
    CHECK_EQ(g.empty_ns, 40 * US);
    synth_end(&s);
    begin(0);
    kernel(7, 0, 100, "small", STK_KIND_KERNEL, 50);
    g = found();
    CHECK_EQ(g.known_ns, 0);
    CHECK_EQ(g.small, 0);
    CHECK(!g.emptiest && g.multiprocessors == 0);
    synth_end(&s);
}

// More at a time than a device runs: it is full.
static void very_many(void)
{
    begin(1000);
    for (int i = 0; i < 300; i++) {
        kernel(i + 1, i, 1000, "one block", STK_KIND_KERNEL, 1);
    }
    struct stk_grid_fill g = found();
    CHECK_EQ(g.kernels, 300);
    CHECK_EQ(g.kernels_ns, 1299 * US);
    CHECK(g.empty_ns > 0 && g.empty_ns < g.known_ns / 2);
    synth_end(&s);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(alone);
    CHECK_RUN(beside);
    CHECK_RUN(unknown);
    CHECK_RUN(very_many);
    return check_done("unit.grid_fill");
}
