// SPDX-License-Identifier: Apache-2.0
// Arguments of Keras' model.compile, and of its own loader in Python.
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "job/tune/values.h"

#define NO_COMPILE "the program doesn't call Keras' model.compile"

void stk_values_keras_steps_per_execution(const struct stk_tune_facts *f,
                                          struct stk_tune_values *to)
{
    static const char id[] = "keras.steps_per_execution";
    long epoch = stk_facts_number(f, "keras.steps", 0);
    if (!stk_facts_get(f, id)) {
        stk_tune_refuse(to, NO_COMPILE);
    } else if (stk_facts_number(f, id, 0) != 1) {
        stk_tune_refuse(to, "several steps already run as one");
    } else if (stk_facts_say(f, "keras.run_eagerly", "True")) {
        stk_tune_refuse(to, "the model runs eagerly, step by step");
    } else if (epoch && epoch < 16) {
        stk_tune_refuse(to, "epochs of %ld steps are too short", epoch);
    } else {
        stk_tune_add_number(to, 16, 1, epoch ? epoch : 16);
        stk_tune_add_number(to, 64, 1, epoch ? epoch / 2 : 64);
    }
}

void stk_values_keras_jit_compile(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (!stk_facts_get(f, "keras.jit_compile")) {
        stk_tune_refuse(to, NO_COMPILE);
    } else if (stk_facts_say(f, "keras.run_eagerly", "True")) {
        stk_tune_refuse(to, "the model runs eagerly");
    } else {
        stk_tune_add(to, stk_facts_say(f, "keras.jit_compile", "False") ? "True" : "False");
    }
}

void stk_values_keras_run_eagerly(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (stk_facts_say(f, "keras.run_eagerly", "True")) {
        stk_tune_add(to, "False");
    } else {
        stk_tune_refuse(to, "no model runs eagerly");
    }
}

void stk_values_keras_mixed_precision(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (!stk_facts_get(f, "keras.jit_compile")) {
        stk_tune_refuse(to, NO_COMPILE);
        return;
    }
    stk_tune_add(to, "mixed_bfloat16");
    if (f->has_gpu) {
        stk_tune_add(to, "mixed_float16");
    }
}

void stk_values_keras_pydataset_workers(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    long now = stk_facts_number(f, "keras.pydataset.workers", -1);
    if (now < 0) {
        stk_tune_refuse(to, "fit gets no PyDataset");
        return;
    }
    stk_tune_add_number(to, 2 * f->processors, now + 1, 32);
    stk_tune_add_number(to, 4 * f->processors, now + 1, 32);
    stk_tune_add_number(to, f->processors, now + 1, 32);
    if (!to->count) {
        stk_tune_refuse(to, "it already has %ld workers", now);
    }
}
