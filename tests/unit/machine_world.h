// SPDX-License-Identifier: Apache-2.0
// A machine record made by hand beside a fake run (rules_run.h): one look a second, and the same
// value in all looks.
#ifndef STK_TESTS_MACHINE_WORLD_H
#define STK_TESTS_MACHINE_WORLD_H

#include "profile/model/machine/machine.h"
#include "rules_run.h"

#define SECOND INT64_C(1000000000)
#define LOOKS 20

// A record of one look a second; values are of all looks.
struct world {
    struct stk_machine machine;
    struct stk_machine_series series[64];
    int64_t time_ns[64 * LOOKS];
    double value[64 * LOOKS];
};
static struct world w;
static struct fake f;

static inline void counter(enum stk_sampled sample, int64_t process, int64_t number,
                           const char *name, double value)
{
    struct stk_machine *m = &w.machine;
    struct stk_machine_series *s = &w.series[m->series_count++];
    CHECK(m->series_count <= 64);
    *s = (struct stk_machine_series){.sample = sample,
                                     .process = process,
                                     .number = number,
                                     .name = name,
                                     .first = m->sample_count,
                                     .count = LOOKS};
    for (int i = 0; i < LOOKS; i++) {
        w.time_ns[m->sample_count] = (i + 1) * SECOND;
        w.value[m->sample_count++] = value;
    }
}

static inline void of_job(enum stk_sampled sample, double value)
{
    counter(sample, 1, -8, "", value);
}

static inline void begin(enum stk_scope scope)
{
    memset(&w, 0, sizeof w);
    fake_init(&f, 1, scope);
    w.machine = (struct stk_machine){.first_ns = SECOND,
                                     .last_ns = LOOKS * SECOND,
                                     .series = w.series,
                                     .time_ns = w.time_ns,
                                     .value = w.value};
    of_job(STK_SAMPLE_OF_TICK, SECOND);
    of_job(STK_SAMPLE_OF_SCAN, SECOND);
    w.machine.looks = &w.series[0];
    w.machine.scans = &w.series[1];
}

static inline void ask(void)
{
    f.run.machine = stk_machine_look(&w.machine, SECOND, LOOKS * SECOND, &f.arena);
    CHECK(f.run.machine != NULL);
    fake_ask(&f);
}

#endif
