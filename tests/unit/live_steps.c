// SPDX-License-Identifier: Apache-2.0
// Following a record of steps with arbitrary times: figures are valid or absent, and no arithmetic
// on them is undefined (presets.asan).
#include "job/live/live_steps.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

enum { STEPS = 30, DUR_NS = 1000 };
#define NOW_NS INT64_C(1000000000000)

static char folder[] = "/tmp/stk-live-steps-XXXXXX", path[64];
static struct stk_steps_header head;
static struct stk_steps_record steps[STEPS];
static struct stk_live_steps live;

// A record of steps that ended just now.
static void usual(void)
{
    head = (struct stk_steps_header){.version = STK_STEPS_VERSION,
                                     .header_bytes = STK_STEPS_HEADER_BYTES,
                                     .pid = 7,
                                     .count = STEPS,
                                     .kept = STEPS,
                                     .has_wait = 1,
                                     .first_ns = 1,
                                     .last_ns = NOW_NS};
    memcpy(head.magic, STK_STEPS_MAGIC, sizeof head.magic);
    for (uint64_t i = 0; i < STEPS; i++) {
        steps[i] =
            (struct stk_steps_record){NOW_NS - (STEPS - 1 - i) * DUR_NS, DUR_NS, DUR_NS / 4, 0};
    }
}

static const struct stk_live_rank *follow(int64_t now_ns, int64_t window_ns)
{
    struct stoker_err err;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(write(fd, &head, sizeof head) == sizeof head &&
          write(fd, steps, sizeof steps) == sizeof steps);
    close(fd);
    CHECK_EQ(stk_live_steps_open(&live, folder, &err), STOKER_OK);
    CHECK_EQ(stk_live_steps_follow(&live, now_ns, window_ns, &err), STOKER_OK);
    CHECK_EQ(live.count, 1);
    return live.ranks[0];
}

static void sound_times(void)
{
    usual();
    const struct stk_live_rank *r = follow(NOW_NS, 10 * DUR_NS);
    CHECK(r->recent == 11 && r->now_ns == DUR_NS && r->median_ns == DUR_NS);
    CHECK(fabs(r->wait_share - 0.25) < 1e-9 && fabs(r->age_s) < 1e-9);
    stk_live_steps_close(&live);
}

// A step that ends ahead of all clocks ended just now; it does not end the looking for others.
static void steps_from_the_future(void)
{
    static const uint64_t ends[] = {UINT64_MAX, (uint64_t)INT64_MAX, (uint64_t)INT64_MAX + 1,
                                    (uint64_t)INT64_MAX + 2 * NOW_NS};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        usual();
        steps[STEPS - 1 - 7].end_ns = ends[i];
        CHECK_EQ(follow(NOW_NS, 10 * DUR_NS)->recent, 11);
        stk_live_steps_close(&live);
    }
}

static void ages(void)
{
    static const struct {
        uint64_t last_ns;
        double age_s; // below 0: not known
    } cases[] = {{0, -1},
                 {NOW_NS - 5000000000, 5},
                 {NOW_NS + 5000000000, 0},
                 {NOW_NS + UINT64_C(61000000000), -1},
                 {INT64_MAX, -1},
                 {(uint64_t)INT64_MAX + 1, -1},
                 {UINT64_MAX, -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        usual();
        head.last_ns = cases[i].last_ns;
        double age_s = follow(NOW_NS, 10 * DUR_NS)->age_s;
        CHECK(cases[i].age_s < 0 ? age_s < 0 : fabs(age_s - cases[i].age_s) < 1e-9);
        stk_live_steps_close(&live);
    }
}

// For any clock and window.
static void clocks(void)
{
    static const int64_t times[] = {0, 1, NOW_NS, INT64_MAX - 1, INT64_MAX};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        for (size_t k = 1; k < sizeof times / sizeof *times; k++) {
            usual();
            const struct stk_live_rank *r = follow(times[i], times[k]);
            CHECK(r->recent >= 5 && r->now_ns == DUR_NS);
            stk_live_steps_close(&live);
        }
    }
}

// Eight steps whose sum is beyond 64 bits.
static void vast_times(void)
{
    usual();
    for (uint64_t i = 0; i < STEPS; i++) {
        steps[i].dur_ns = UINT64_C(1) << 61;
        steps[i].wait_ns = UINT64_C(1) << 59;
    }
    const struct stk_live_rank *r = follow(NOW_NS, 7 * DUR_NS);
    CHECK_EQ(r->recent, 8);
    CHECK(r->now_ns >= UINT64_C(1) << 60);
    CHECK(isfinite(r->per_second) && r->per_second > 0);
    CHECK(r->wait_share >= 0 && r->wait_share <= 1);
    stk_live_steps_close(&live);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/steps-7.rec", folder);
    CHECK_RUN(sound_times);
    CHECK_RUN(steps_from_the_future);
    CHECK_RUN(ages);
    CHECK_RUN(clocks);
    CHECK_RUN(vast_times);
    unlink(path);
    rmdir(folder);
    return check_done("unit.live_steps");
}
