// SPDX-License-Identifier: Apache-2.0
// What PyTorch computes with: threads, precision, compiled modules, how gradients are cleared.
#include <stddef.h>
#include <stdlib.h>

#include "job/tune/fix.h"

static void threads(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    const char *omp = getenv("OMP_NUM_THREADS");
    long now = stk_facts_number(f, "torch.threads.set", omp ? atol(omp) : f->processors);
    const long tried[] = {f->processors, f->processors / 2, 1};
    for (int i = 0; i < 3; i++) {
        if (tried[i] != now) {
            stk_tune_add_number(to, tried[i], 1, f->processors);
        }
    }
    if (!to->count) {
        stk_tune_refuse(to, "there is one processor");
    }
}

const struct stk_tune_fix stk_tune_fix_torch_threads = {
    .id = "torch.threads",
    .what = "threads of one operation",
    .framework = "pytorch",
    .changes = STK_CHANGES_ORDER,
    .parts = "compute host_compute",
    .call = "torch.set_num_threads",
    .code = "torch.set_num_threads({})",
    .is_hooked = true,
    .values = threads,
};

static void zero_grad(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (stk_facts_get(f, "torch.zero_grad.set_to_none")) {
        stk_tune_add(to, "True");
    } else {
        stk_tune_refuse(to, "gradients are dropped, not cleared, already");
    }
}

const struct stk_tune_fix stk_tune_fix_torch_zero_grad = {
    .id = "torch.zero_grad",
    .what = "gradients are dropped instead of filled with zeros",
    .framework = "pytorch",
    .changes = STK_CHANGES_NOTHING,
    .parts = "compute host_compute kernel_launch",
    .call = "torch.zero_grad",
    .code = "zero_grad(set_to_none=True)",
    .is_hooked = true,
    .values = zero_grad,
};

static void on_gpu(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (f->has_gpu) {
        stk_tune_add(to, "True");
    } else {
        stk_tune_refuse(to, "there is no GPU");
    }
}

const struct stk_tune_fix stk_tune_fix_torch_cudnn_benchmark = {
    .id = "torch.cudnn_benchmark",
    .what = "cuDNN tries its algorithms for each shape",
    .framework = "pytorch",
    .changes = STK_CHANGES_ORDER,
    .parts = "compute",
    .code = "torch.backends.cudnn.benchmark = True",
    .is_hooked = true,
    .values = on_gpu,
};

const struct stk_tune_fix stk_tune_fix_torch_tf32 = {
    .id = "torch.tf32",
    .what = "matrix products of float32 in TF32",
    .framework = "pytorch",
    .changes = STK_CHANGES_NUMERICS,
    .parts = "compute",
    .price = "precision=tf32",
    .code = "torch.set_float32_matmul_precision(\"high\")",
    .is_hooked = true,
    .is_strong = true,
    .values = on_gpu,
};

static void always(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    (void)f;
    stk_tune_add(to, "True");
}

const struct stk_tune_fix stk_tune_fix_torch_autocast = {
    .id = "torch.autocast",
    .what = "the model's forward pass in bfloat16 where PyTorch thinks it safe",
    .framework = "pytorch",
    .changes = STK_CHANGES_NUMERICS,
    .parts = "compute",
    .price = "precision=bf16",
    .call = "torch.model",
    .code = "with torch.autocast(device, dtype=torch.bfloat16): around this call",
    .is_hooked = true,
    .values = always,
};

const struct stk_tune_fix stk_tune_fix_torch_compile = {
    .id = "torch.compile",
    .what = "the model compiled",
    .framework = "pytorch",
    .changes = STK_CHANGES_NUMERICS,
    .parts = "compute host_compute kernel_launch",
    .price = "fuse",
    .call = "torch.model",
    .code = "model.compile() before this call",
    .is_hooked = true,
    .values = always,
};
