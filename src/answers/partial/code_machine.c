// SPDX-License-Identifier: Apache-2.0
// The record of a machine's sampler, coded. All samples are kept: which of them count is known
// when the profile of the same time is (machine_choose.c).
#include "answers/partial/code_rank.h"

// The series that stands for one that is pointed at: its index + 1, 0 none.
static void code_pointed(struct stk_code *c, const char *name, const struct stk_machine *m,
                         const struct stk_machine_series **pointed)
{
    uint32_t index =
        *pointed && c->mode == STK_CODE_WRITE ? (uint32_t)(*pointed - m->series) + 1 : 0;
    stk_code_u32(c, name, &index);
    if (c->mode == STK_CODE_READ) {
        c->failed |= index > m->series_count;
        *pointed = index && !c->failed ? &m->series[index - 1] : NULL;
    }
}

static void code_series(struct stk_code *c, struct stk_machine_series *x)
{
    stk_code_below(c, "sample", (uint32_t *)&x->sample, STK_SAMPLE_COUNT);
    STK_CODE(c, x->process);
    STK_CODE(c, x->number);
    STK_CODE(c, x->name);
    STK_CODE(c, x->first);
    STK_CODE(c, x->count);
    x->info = c->failed ? NULL : stk_sample_info(x->sample);
}

void stk_code_machine(struct stk_code *c, struct stk_machine *x)
{
    STK_CODE(c, x->first_ns);
    STK_CODE(c, x->last_ns);
    x->series = stk_code_list(c, "series", x->series, &x->series_count, sizeof *x->series);
    for (uint32_t i = 0; i < x->series_count && !c->failed; i++) {
        code_series(c, &x->series[i]);
    }
    uint32_t values = x->sample_count;
    x->time_ns = stk_code_list(c, "time_ns", x->time_ns, &x->sample_count, sizeof *x->time_ns);
    x->value = stk_code_list(c, "value", x->value, &values, sizeof *x->value);
    c->failed |= values != x->sample_count;
    for (uint32_t i = 0; i < x->sample_count && !c->failed; i++) {
        STK_CODE(c, x->time_ns[i]);
        STK_CODE(c, x->value[i]);
    }
    code_pointed(c, "looks", x, &x->looks);
    code_pointed(c, "scans", x, &x->scans);
}

bool stk_machine_is_sound(const struct stk_machine *m)
{
    for (uint32_t i = 0; i < m->series_count; i++) {
        const struct stk_machine_series *s = &m->series[i];
        if (!s->name || s->first > m->sample_count || s->count > m->sample_count - s->first) {
            return false;
        }
    }
    return true;
}
