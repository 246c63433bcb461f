// SPDX-License-Identifier: Apache-2.0
// Time in which some task of the machine waited for processors, storage or memory: /proc/pressure
// (Linux 4.20, if switched on).
#include <stdio.h>

#include "base/alloc.h"
#include "job/capture/parent/small_file.h"
#include "job/capture/parent/watch.h"

enum { RESOURCES = 3 };
static const char *const names[RESOURCES] = {"pressure/cpu", "pressure/io", "pressure/memory"};
static const enum stk_sampled ids[RESOURCES] = {STK_SAMPLE_OF_MACHINE_WAIT_CPU,
                                                STK_SAMPLE_OF_MACHINE_WAIT_IO,
                                                STK_SAMPLE_OF_MACHINE_WAIT_MEMORY};
struct pressure {
    struct stk_small_file files[RESOURCES];
    uint64_t stalled_us[RESOURCES];
};

static void pressure_close(void *state)
{
    struct pressure *p = state;
    for (int i = 0; i < RESOURCES; i++) {
        stk_small_close(&p->files[i]);
    }
    stk_free(p);
}

static bool pressure_open(struct stk_sampling *s, void **state, char *why, size_t size)
{
    struct pressure *p = stk_alloc_zero(1, sizeof *p);
    char text[512];
    bool any = false;
    if (!p) {
        snprintf(why, size, "out of memory");
        return false;
    }
    for (int i = 0; i < RESOURCES; i++) {
        p->stalled_us[i] = STK_WATCH_UNSEEN;
        any |= stk_small_open(&p->files[i], s->proc, names[i]) &&
               stk_small_read(&p->files[i], text, sizeof text) > 0;
    }
    if (!any) {
        snprintf(why, size, "the kernel doesn't report it (boot with psi=1 to turn it on)");
        pressure_close(p);
        return false;
    }
    *state = p;
    return true;
}

static void pressure_look(struct stk_sampling *s, void *state)
{
    struct pressure *p = state;
    char text[512];
    for (int i = 0; i < RESOURCES; i++) {
        uint64_t stalled;
        if (stk_small_read(&p->files[i], text, sizeof text) && stk_small_pressure(text, &stalled)) {
            double share = stk_watch_rate(&p->stalled_us[i], stalled, s->look_s) * 1e-6;
            if (share > 0) {
                stk_watch_put(s, ids[i], 0, share < 1 ? share : 1);
            }
        }
    }
}

const struct stk_watch stk_watch_pressure = {
    .name = "pressure", .open = pressure_open, .look = pressure_look, .close = pressure_close};
