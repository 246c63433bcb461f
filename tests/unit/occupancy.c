// SPDX-License-Identifier: Apache-2.0
// Occupancy of known launches, by hand from NVIDIA's rules, and rates by the names of devices.
#include <math.h>

#include "check.h"
#include "profile/model/device/device_rates.h"
#include "profile/model/device/occupancy.h"

#define NEAR(a, b) CHECK(fabs((a) - (b)) < 1e-9)

static const struct {
    int32_t major, minor, sms;
    uint32_t grid, block;
    int32_t registers, shared;
    double share, grid_share, waves, tail;
    const char *limit;
} cases[] = {
    // V100: 64 warps, 64 blocks of one warp do not fit, only 32.
    {7, 0, 80, 80000, 32, 16, 0, 0.5, 0.5, 31.25, 0.75, "blocks"},
    // 8 warps with 255 registers: a warp takes 8192, two fit each quarter, 8 in all.
    {7, 0, 80, 80, 256, 255, 0, 0.125, 0.125, 1, -1, "registers"},
    // 33 registers are 1056 a warp, rounded to 1280: 12 of a quarter's, 48 warps.
    {8, 0, 108, 1080, 128, 33, 0, 0.75, 10.0 / 16 < 0.75 ? 10.0 / 16 : 0.75, 10.0 / 12, -1,
     "registers"},
    // 48 KiB and 1 KiB of the system's: 3 blocks of 164 KiB.
    {8, 0, 108, 324, 128, 32, 49152, 0.1875, 0.1875, 1, -1, "shared memory"},
    // Before 8.0 nothing is reserved: 2 blocks of 96 KiB.
    {7, 0, 80, 160, 128, 32, 49152, 0.125, 0.125, 1, -1, "shared memory"},
    // 1.5 waves: the last one leaves half of the device empty.
    {9, 0, 132, 132 * 3, 1024, 32, 0, 1, 1, 1.5, 0.5, NULL},
    // Ada holds 48 warps: one block of 1024 threads leaves 16 over.
    {8, 9, 24, 24, 1024, 32, 0, 32.0 / 48, 32.0 / 48, 1, -1, "block size"},
    // A grid of 8 blocks on 108 multiprocessors.
    {8, 0, 108, 8, 256, 32, 0, 1, 8.0 / 108 * 256 / 2048, 8.0 / 864, -1, NULL},
};

static void test_rules(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct stk_device d = {
            .cc_major = cases[i].major, .cc_minor = cases[i].minor, .sm_count = cases[i].sms};
        struct stk_launch_config c = STK_LAUNCH_CONFIG_UNKNOWN;
        c.grid[0] = cases[i].grid;
        c.block[0] = cases[i].block;
        c.grid[1] = c.grid[2] = c.block[1] = c.block[2] = 1;
        c.registers = cases[i].registers;
        c.shared_bytes = cases[i].shared;
        struct stk_occupancy o = stk_occupancy_of(&d, &c);
        NEAR(o.share, cases[i].share);
        NEAR(o.grid_share, cases[i].grid_share);
        NEAR(o.waves, cases[i].waves);
        NEAR(o.tail_share, cases[i].tail);
        CHECK((o.limit == NULL) == (cases[i].limit == NULL));
        if (o.limit && cases[i].limit) {
            CHECK_STR(o.limit, cases[i].limit);
        }
    }
}

static void test_unknown(void)
{
    struct stk_device none = {.name = 0}, amd = {.sm_count = 304};
    struct stk_launch_config c = STK_LAUNCH_CONFIG_UNKNOWN;
    struct stk_occupancy o = stk_occupancy_of(&none, &c);
    CHECK(o.share < 0 && o.grid_share < 0 && o.waves < 0 && o.sm_share < 0 && !o.limit);
    memcpy(c.grid, (uint32_t[]){152, 1, 1}, sizeof c.grid);
    memcpy(c.block, (uint32_t[]){256, 1, 1}, sizeof c.block);
    o = stk_occupancy_of(&amd, &c);
    CHECK(o.share < 0);
    NEAR(o.sm_share, 0.5);
    c.occupancy_pct = 40; // the file's own
    o = stk_occupancy_of(&none, &c);
    NEAR(o.share, 0.4);
    CHECK(o.grid_share < 0);
    c.occupancy_of_grid = true;
    o = stk_occupancy_of(&none, &c);
    NEAR(o.grid_share, 0.4);
    // Nonsense, and sizes whose product no integer holds.
    struct stk_device v100 = {.cc_major = 7, .sm_count = 80};
    c.registers = INT32_MAX / 32;
    c.shared_bytes = INT32_MAX;
    CHECK(stk_occupancy_of(&v100, &c).share < 0);
    memset(c.grid, 0xff, sizeof c.grid);
    c.registers = 32;
    c.shared_bytes = 0;
    o = stk_occupancy_of(&v100, &c);
    CHECK(o.share > 0 && o.share <= 1 && o.waves > 1e20 && o.tail_share >= 0 && o.tail_share <= 1);
    memset(c.block, 0xff, sizeof c.block);
    CHECK(stk_occupancy_of(&v100, &c).share < 0);
}

// The device's own limits go before those of its compute capability.
static void test_limits(void)
{
    struct stk_device d = {.cc_major = 8, .cc_minor = 6, .sm_count = 10};
    struct stk_launch_config c = STK_LAUNCH_CONFIG_UNKNOWN;
    memcpy(c.grid, (uint32_t[]){1000, 1, 1}, sizeof c.grid);
    memcpy(c.block, (uint32_t[]){512, 1, 1}, sizeof c.block);
    c.registers = 16;
    c.shared_bytes = 0;
    CHECK_EQ(stk_occupancy_of(&d, &c).blocks, 3); // 48 warps
    d.limits.sm_threads = 2048;
    CHECK_EQ(stk_occupancy_of(&d, &c).blocks, 4);
    d.limits.sm_blocks = 1;
    CHECK_EQ(stk_occupancy_of(&d, &c).blocks, 1);
    d.limits.warp_threads = 64; // none of NVIDIA's
    CHECK(stk_occupancy_of(&d, &c).share < 0);
}

static void test_rates(void)
{
    static const struct {
        const char *name;
        double bf16, memory, host_link;
    } rows[] = {{"NVIDIA H100 80GB HBM3", 989.4e12, 3352e9, 63.0e9},
                {"NVIDIA H100 PCIe", 756e12, 2039e9, 63.0e9},
                {"NVIDIA A100-SXM4-40GB", 312e12, 1555e9, 31.5e9},
                {"NVIDIA A10", 125e12, 600e9, 31.5e9},
                {"NVIDIA L4", 121e12, 300e9, 31.5e9},
                {"NVIDIA L40S", 362e12, 864e9, 31.5e9},
                {"Tesla V100-SXM2-16GB", 0, 900e9, 15.75e9},
                {"NVIDIA GeForce RTX 4060", 30.2e12, 272e9, 15.75e9},
                {"NVIDIA GH200 480GB", 989.4e12, 0, 450e9},
                {"AMD Instinct MI300X", 1307.4e12, 5325e9, 63.0e9},
                {"AMD GPU", 0, 0, 0},
                {"", 0, 0, 0}};
    struct stk_device_limits none = {0}, own = {.memory_bytes_per_s = 7, .flops_per_s = 9};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct stk_device_rates r = stk_device_rates_of(stk_str_from(rows[i].name), &none);
        CHECK(fabs(stk_device_flops(&r, "bf16") - rows[i].bf16) <= 1e6);
        CHECK(fabs(r.memory - rows[i].memory) <= 1e6);
        CHECK(fabs(r.host_link - rows[i].host_link) <= 0.01 * rows[i].host_link);
        CHECK(stk_device_flops(&r, NULL) == 0 && stk_device_flops(&r, "fp64") == 0);
    }
    struct stk_device_rates r = stk_device_rates_of(STK_STR("NVIDIA L4"), &own);
    CHECK(r.memory == 7 && stk_device_flops(&r, NULL) == 9);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_rules);
    CHECK_RUN(test_unknown);
    CHECK_RUN(test_limits);
    CHECK_RUN(test_rates);
    return check_done("unit.occupancy");
}
