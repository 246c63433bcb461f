// SPDX-License-Identifier: Apache-2.0
// What model.compile of Keras is called with, and its own loader in Python.
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "job/tune/fix.h"

#define NO_COMPILE "the program calls no model.compile of Keras"

static void steps(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    static const char id[] = "keras.steps_per_execution";
    long epoch = stk_facts_number(f, "keras.steps", 0);
    if (!stk_facts_get(f, id)) {
        stk_tune_refuse(to, NO_COMPILE);
    } else if (stk_facts_number(f, id, 0) != 1) {
        stk_tune_refuse(to, "several steps run as one already");
    } else if (stk_facts_say(f, "keras.run_eagerly", "True")) {
        stk_tune_refuse(to, "the model runs eagerly, step by step");
    } else if (epoch && epoch < 16) {
        stk_tune_refuse(to, "epochs of %ld steps are too short", epoch);
    } else {
        stk_tune_add_number(to, 16, 1, epoch ? epoch : 16);
        stk_tune_add_number(to, 64, 1, epoch ? epoch / 2 : 64);
    }
}

const struct stk_tune_fix stk_tune_fix_keras_steps_per_execution = {
    .id = "keras.steps_per_execution",
    .what = "several steps in one call of the compiled function",
    .framework = "tensorflow",
    .changes = STK_CHANGES_CALLBACKS,
    .parts = "host_compute kernel_launch host_wait",
    .call = "keras.compile",
    .code = "steps_per_execution={}",
    .is_hooked = true,
    .is_in_steps = true,
    .values = steps,
};

static void jit(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (!stk_facts_get(f, "keras.jit_compile")) {
        stk_tune_refuse(to, NO_COMPILE);
    } else if (stk_facts_say(f, "keras.run_eagerly", "True")) {
        stk_tune_refuse(to, "the model runs eagerly");
    } else {
        stk_tune_add(to, stk_facts_say(f, "keras.jit_compile", "False") ? "True" : "False");
    }
}

const struct stk_tune_fix stk_tune_fix_keras_jit_compile = {
    .id = "keras.jit_compile",
    .what = "XLA compiles the step, or does not",
    .framework = "tensorflow",
    .changes = STK_CHANGES_NUMERICS,
    .parts = "compute host_compute kernel_launch",
    .call = "keras.compile",
    .code = "jit_compile={}",
    .is_hooked = true,
    .values = jit,
};

static void eagerly(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (stk_facts_say(f, "keras.run_eagerly", "True")) {
        stk_tune_add(to, "False");
    } else {
        stk_tune_refuse(to, "no model runs eagerly");
    }
}

const struct stk_tune_fix stk_tune_fix_keras_run_eagerly = {
    .id = "keras.run_eagerly",
    .what = "the step as a graph, not operation by operation",
    .framework = "tensorflow",
    .changes = STK_CHANGES_ORDER,
    .parts = "compute host_compute kernel_launch host_wait",
    .call = "keras.compile",
    .code = "run_eagerly=False",
    .is_hooked = true,
    .values = eagerly,
};

static void precision(const struct stk_tune_facts *f, struct stk_tune_values *to)
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

const struct stk_tune_fix stk_tune_fix_keras_mixed_precision = {
    .id = "keras.mixed_precision",
    .what = "layers compute in half precision, variables stay float32",
    .framework = "tensorflow",
    .changes = STK_CHANGES_NUMERICS,
    .parts = "compute",
    .price = "precision=bf16",
    .code = "keras.mixed_precision.set_dtype_policy(\"{}\") before the model is made",
    .is_hooked = true,
    .values = precision,
};

static void workers(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    long now = stk_facts_number(f, "keras.pydataset.workers", -1);
    if (now < 0) {
        stk_tune_refuse(to, "no PyDataset is given to fit");
        return;
    }
    stk_tune_add_number(to, 2 * f->processors, now + 1, 32);
    stk_tune_add_number(to, 4 * f->processors, now + 1, 32);
    stk_tune_add_number(to, f->processors, now + 1, 32);
    if (!to->count) {
        stk_tune_refuse(to, "it has %ld workers already", now);
    }
}

const struct stk_tune_fix stk_tune_fix_keras_pydataset_workers = {
    .id = "keras.pydataset.workers",
    .what = "threads that make batches of a PyDataset",
    .framework = "tensorflow",
    .changes = STK_CHANGES_ORDER,
    .parts = "input_wait",
    .price = "input-free",
    .call = "keras.pydataset",
    .code = "super().__init__(workers={}) in the PyDataset that is given here",
    .is_hooked = true,
    .is_strong = true,
    .values = workers,
};
