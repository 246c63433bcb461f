// SPDX-License-Identifier: Apache-2.0
// Threads and switches of TensorFlow itself.
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "job/tune/fix.h"

static void threads(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    long now = stk_facts_number(f, "tf.threads", 0);
    if (now == 0 || now == f->processors) {
        stk_tune_refuse(to, "operations may use all processors already");
    } else {
        stk_tune_add_number(to, f->processors, 1, 1024);
    }
}

const struct stk_tune_fix stk_tune_fix_tf_threads = {
    .id = "tf.threads",
    .what = "threads of one operation",
    .framework = "tensorflow",
    .changes = STK_CHANGES_ORDER,
    .parts = "compute input_wait",
    .call = "tf.threads",
    .code = "tf.config.threading.set_intra_op_parallelism_threads({})",
    .is_hooked = true,
    .values = threads,
};

static void thread_mode(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (!f->has_gpu) {
        stk_tune_refuse(to, "there is no GPU");
    } else if (getenv("TF_GPU_THREAD_MODE")) {
        stk_tune_refuse(to, "TF_GPU_THREAD_MODE is set already");
    } else {
        stk_tune_add(to, "gpu_private");
    }
}

const struct stk_tune_fix stk_tune_fix_tf_gpu_thread_mode = {
    .id = "tf.gpu_thread_mode",
    .what = "threads of their own launch GPU kernels",
    .framework = "tensorflow",
    .changes = STK_CHANGES_NOTHING,
    .parts = "kernel_launch host_compute",
    .env = "TF_GPU_THREAD_MODE={}",
    .values = thread_mode,
};

static void onednn(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    const char *now = getenv("TF_ENABLE_ONEDNN_OPTS");
    (void)f;
    if (now && strcmp(now, "0") == 0) {
        stk_tune_add(to, "1");
    } else {
        stk_tune_refuse(to, "oneDNN is not switched off");
    }
}

const struct stk_tune_fix stk_tune_fix_tf_onednn = {
    .id = "tf.onednn",
    .what = "oneDNN's kernels on processors",
    .framework = "tensorflow",
    .changes = STK_CHANGES_NUMERICS,
    .parts = "compute",
    .env = "TF_ENABLE_ONEDNN_OPTS={}",
    .values = onednn,
};

static void auto_jit(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (stk_facts_get(f, "keras.jit_compile")) {
        stk_tune_refuse(to, "keras.jit_compile says it for the whole step");
    } else if (getenv("TF_XLA_FLAGS")) {
        stk_tune_refuse(to, "TF_XLA_FLAGS is set already");
    } else {
        stk_tune_add(to, "");
    }
}

const struct stk_tune_fix stk_tune_fix_tf_xla_auto_jit = {
    .id = "tf.xla_auto_jit",
    .what = "XLA compiles clusters of operations",
    .framework = "tensorflow",
    .changes = STK_CHANGES_NUMERICS,
    .parts = "compute host_compute kernel_launch",
    .env = "TF_XLA_FLAGS=--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit",
    .values = auto_jit,
};
