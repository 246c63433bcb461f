// SPDX-License-Identifier: Apache-2.0
// Options of tf.data pipelines. A map or interleave that draws random numbers draws them in another
// order when parallel; elements keep their order unless `deterministic` is off.
#include <stddef.h>
#include <stdio.h>

#include "job/tune/values.h"

static void plain_calls(const struct stk_tune_facts *f, const char *call,
                        struct stk_tune_values *to)
{
    char name[STK_FACT_NAME];
    snprintf(name, sizeof name, "%s.num_parallel_calls", call);
    if (stk_facts_say(f, name, "None")) {
        stk_tune_add(to, "AUTOTUNE");
    } else if (stk_facts_get(f, name)) {
        stk_tune_refuse(to, "all calls in the program are parallel already");
    } else {
        stk_tune_refuse(to, "the program doesn't call it");
    }
}

void stk_values_tfdata_map(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    plain_calls(f, "tfdata.map", to);
}

void stk_values_tfdata_interleave(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    plain_calls(f, "tfdata.interleave", to);
}

static bool iterates(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (!stk_facts_get(f, "tfdata.last")) {
        stk_tune_refuse(to, "the hooks see no loop over a tf.data data set");
        return false;
    }
    return true;
}

void stk_values_tfdata_prefetch(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (!iterates(f, to)) {
        return;
    }
    if (stk_facts_say(f, "tfdata.last", "_PrefetchDataset")) {
        stk_tune_refuse(to, "%s", stk_refusal_text(STK_REFUSAL_ends_in_prefetch));
    } else {
        stk_tune_add(to, "AUTOTUNE");
    }
}

void stk_values_tfdata_cache(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    const char *why = stk_facts_get(f, "tfdata.cache");
    if (stk_facts_say(f, "tfdata.cache", "fits")) {
        stk_tune_add(to, "memory");
    } else {
        stk_tune_refuse(to, "%s", why ? why : "no map comes before another stage of the program");
    }
}

void stk_values_tfdata_threads(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (iterates(f, to)) {
        stk_tune_add_number(to, f->processors, 1, 1024);
    }
}

void stk_values_tfdata_deterministic(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (iterates(f, to)) {
        stk_tune_add(to, "False");
    }
}
