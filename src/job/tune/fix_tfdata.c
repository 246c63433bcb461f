// SPDX-License-Identifier: Apache-2.0
// Options of tf.data pipelines. A map or interleave that draws random numbers draws them in another
// order once it is parallel; elements keep their order unless `deterministic` is off.
#include <stddef.h>
#include <stdio.h>

#include "job/tune/fix.h"

static void plain_calls(const struct stk_tune_facts *f, const char *call,
                        struct stk_tune_values *to)
{
    char name[STK_FACT_NAME];
    snprintf(name, sizeof name, "%s.num_parallel_calls", call);
    if (stk_facts_say(f, name, "None")) {
        stk_tune_add(to, "AUTOTUNE");
    } else if (stk_facts_get(f, name)) {
        stk_tune_refuse(to, "each of the program's own is parallel already");
    } else {
        stk_tune_refuse(to, "the program has none of its own");
    }
}

static void map(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    plain_calls(f, "tfdata.map", to);
}

const struct stk_tune_fix stk_tune_fix_tfdata_map = {
    .id = "tfdata.map",
    .what = "map works on several elements at once",
    .framework = "tensorflow",
    .changes = STK_CHANGES_ORDER,
    .parts = "input_wait",
    .price = "input-free",
    .call = "tfdata.map",
    .code = "num_parallel_calls=tf.data.AUTOTUNE",
    .is_hooked = true,
    .is_strong = true,
    .values = map,
};

static void interleave(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    plain_calls(f, "tfdata.interleave", to);
}

const struct stk_tune_fix stk_tune_fix_tfdata_interleave = {
    .id = "tfdata.interleave",
    .what = "interleave reads several files at once",
    .framework = "tensorflow",
    .changes = STK_CHANGES_ORDER,
    .parts = "input_wait",
    .price = "input-free",
    .call = "tfdata.interleave",
    .code = "num_parallel_calls=tf.data.AUTOTUNE",
    .is_hooked = true,
    .is_strong = true,
    .values = interleave,
};

static bool iterates(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (!stk_facts_get(f, "tfdata.last")) {
        stk_tune_refuse(to, "no data set of tf.data is iterated where hooks see it");
        return false;
    }
    return true;
}

static void prefetch(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (!iterates(f, to)) {
        return;
    }
    if (stk_facts_say(f, "tfdata.last", "_PrefetchDataset")) {
        stk_tune_refuse(to, "the data set ends in prefetch already");
    } else {
        stk_tune_add(to, "AUTOTUNE");
    }
}

const struct stk_tune_fix stk_tune_fix_tfdata_prefetch = {
    .id = "tfdata.prefetch",
    .what = "the next batch is made beside the step",
    .framework = "tensorflow",
    .changes = STK_CHANGES_NOTHING,
    .parts = "input_wait",
    .price = "input-overlap",
    .call = "tfdata.last",
    .code = ".prefetch(tf.data.AUTOTUNE) behind the data set's last stage",
    .is_hooked = true,
    .is_strong = true,
    .values = prefetch,
};

static void cache(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    const char *why = stk_facts_get(f, "tfdata.cache");
    if (stk_facts_say(f, "tfdata.cache", "fits")) {
        stk_tune_add(to, "memory");
    } else {
        stk_tune_refuse(to, "%s", why ? why : "no map stands before a stage of the program's own");
    }
}

const struct stk_tune_fix stk_tune_fix_tfdata_cache = {
    .id = "tfdata.cache",
    .what = "what map gives is kept in memory for the next epoch",
    .framework = "tensorflow",
    .changes = STK_CHANGES_NOTHING,
    .parts = "input_wait",
    .price = "input-free",
    .call = "tfdata.cache",
    .code = ".cache() before this stage",
    .is_hooked = true,
    .values = cache,
};

static void threads(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (iterates(f, to)) {
        stk_tune_add_number(to, f->processors, 1, 1024);
    }
}

const struct stk_tune_fix stk_tune_fix_tfdata_threads = {
    .id = "tfdata.threads",
    .what = "threads of the pipeline's own, apart from the model's",
    .framework = "tensorflow",
    .changes = STK_CHANGES_NOTHING,
    .parts = "input_wait",
    .call = "tfdata.last",
    .code = "options.threading.private_threadpool_size = {} (tf.data.Options, with_options)",
    .is_hooked = true,
    .values = threads,
};

static void deterministic(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (iterates(f, to)) {
        stk_tune_add(to, "False");
    }
}

const struct stk_tune_fix stk_tune_fix_tfdata_deterministic = {
    .id = "tfdata.deterministic",
    .what = "elements come as they are ready, not in order",
    .framework = "tensorflow",
    .changes = STK_CHANGES_ORDER,
    .parts = "input_wait",
    .call = "tfdata.last",
    .code = "options.deterministic = False (tf.data.Options, with_options)",
    .is_hooked = true,
    .values = deterministic,
};
