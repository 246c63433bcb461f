// SPDX-License-Identifier: Apache-2.0
// Threads and options of TensorFlow itself.
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "job/tune/values.h"

void stk_values_tf_threads(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    long now = stk_facts_number(f, "tf.threads", 0);
    if (now == 0 || now == f->processors) {
        stk_tune_refuse(to, "operations may already use all CPU cores");
    } else {
        stk_tune_add_number(to, f->processors, 1, 1024);
    }
}

void stk_values_tf_function(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    const char *step = stk_facts_get(f, "tf.step"); // "eager", or why not
    if (step && strcmp(step, "eager") == 0) {
        stk_tune_add(to, "");
    } else {
        stk_tune_refuse(to, "%s", step ? step : "no tape of TensorFlow's is opened in the program");
    }
}

void stk_values_tf_onednn(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    const char *now = getenv("TF_ENABLE_ONEDNN_OPTS");
    (void)f;
    if (now && strcmp(now, "0") == 0) {
        stk_tune_add(to, "1");
    } else {
        stk_tune_refuse(to, "oneDNN is not switched off");
    }
}

void stk_values_tf_xla_auto_jit(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (stk_facts_get(f, "keras.jit_compile")) {
        stk_tune_refuse(to, "keras.jit_compile does it for the whole step");
    } else if (getenv("TF_XLA_FLAGS")) {
        stk_tune_refuse(to, "TF_XLA_FLAGS is already set");
    } else {
        stk_tune_add(to, "");
    }
}
