// SPDX-License-Identifier: Apache-2.0
// The record of a machine's sampler, coded. All samples are kept: which of them count depends on
// the profile of the same time (machine_choose.c).
#include "answers/partial/code_rank.h"

#include <math.h>
#include <string.h>

#define FLOAT_MANTISSA 23 // bits

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

// What it is after the one before: a date or a value. Returns it.
static int64_t code_rise(struct stk_code *c, const char *name, int64_t value, int64_t last)
{
    int64_t rise = (int64_t)((uint64_t)value - (uint64_t)last);
    stk_code_date(c, name, &rise);
    value = (int64_t)((uint64_t)last + (uint64_t)rise);
    c->failed |= value > STK_CODE_DATE_MOST || value < -STK_CODE_DATE_MOST;
    return c->failed ? 0 : value;
}

// A value that is no whole number has the precision of a float (machine.c): its exponents repeat.
static void code_fraction(struct stk_code *c, double *value)
{
    float narrow = (float)*value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    uint16_t exponent = (uint16_t)(bits >> FLOAT_MANTISSA);
    uint32_t mantissa = bits & ((1u << FLOAT_MANTISSA) - 1);
    stk_code_u16(c, "exponent", &exponent);
    stk_code_below(c, "mantissa", &mantissa, 1u << FLOAT_MANTISSA);
    bits = (uint32_t)exponent << FLOAT_MANTISSA | mantissa;
    memcpy(&narrow, &bits, sizeof narrow);
    c->failed |= !isfinite(narrow);
    *value = c->failed ? 0 : (double)narrow;
}

// Most values are whole, and change little.
static int64_t code_value(struct stk_code *c, double *value, int64_t last)
{
    bool is_whole = c->mode == STK_CODE_WRITE && stk_machine_is_whole(*value);
    stk_code_bool(c, "is_whole", &is_whole);
    if (!is_whole) {
        code_fraction(c, value);
        return last;
    }
    last = code_rise(c, "rise", c->mode == STK_CODE_WRITE ? (int64_t)*value : 0, last);
    *value = (double)last;
    return last;
}

// Times are those of looks, which all series share, and most values change little: as differences,
// and a column after the other, they pack to a third.
static void code_samples(struct stk_code *c, struct stk_machine *x)
{
    uint32_t values = x->sample_count;
    int64_t last_ns = 0, last = 0;
    x->time_ns = stk_code_list(c, "time_ns", x->time_ns, &x->sample_count, sizeof *x->time_ns);
    x->value = stk_code_list(c, "value", x->value, &values, sizeof *x->value);
    c->failed |= values != x->sample_count;
    for (uint32_t i = 0; i < x->sample_count && !c->failed; i++) {
        last_ns = code_rise(c, "time_ns", x->time_ns[i], last_ns);
        x->time_ns[i] = last_ns;
    }
    for (uint32_t i = 0; i < x->sample_count && !c->failed; i++) {
        last = code_value(c, &x->value[i], last);
    }
}

void stk_code_machine(struct stk_code *c, struct stk_machine *x)
{
    stk_code_date(c, "first_ns", &x->first_ns);
    stk_code_date(c, "last_ns", &x->last_ns);
    x->series = stk_code_list(c, "series", x->series, &x->series_count, sizeof *x->series);
    for (uint32_t i = 0; i < x->series_count && !c->failed; i++) {
        code_series(c, &x->series[i]);
    }
    code_samples(c, x);
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
