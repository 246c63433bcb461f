// SPDX-License-Identifier: Apache-2.0
// JAX: Grain's loaders, XLA's flags, and the compilation cache.
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "job/tune/values.h"

void stk_values_grain_workers(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    long now = stk_facts_number(f, "grain.workers", -1);
    if (now != 0) {
        stk_tune_refuse(to, now < 0 ? "the job has no loader of Grain" : "it has workers already");
        return;
    }
    stk_tune_add_number(to, f->processors, 1, 32);
    stk_tune_add_number(to, 2 * f->processors, 1, 32);
}

void stk_values_grain_threads(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    long now = stk_facts_number(f, "grain.threads", -1);
    if (now < 0) {
        stk_tune_refuse(to, "the job has no loader of Grain");
    } else if (now >= 16) {
        stk_tune_refuse(to, "it already reads with %ld threads", now);
    } else {
        stk_tune_add(to, "16");
    }
}

void stk_values_jax_prefetch(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (stk_facts_get(f, "grain.workers") || stk_facts_get(f, "tfdata.last") ||
        stk_facts_get(f, "torch.dataloader.num_workers")) {
        stk_tune_refuse(to, "the loader's own workers and prefetch do that");
    } else {
        stk_tune_refuse(
            to, "the program makes its batches itself, which no hook can run ahead of time: make "
                "them in a thread that fills a queue.Queue(2) with jax.device_put(batch)");
    }
}

void stk_values_jax_xla_cpu_fast_math(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (f->has_gpu) {
        stk_tune_refuse(to, "the flag only affects the CPU's compiler");
    } else {
        stk_tune_add(to, "");
    }
}

void stk_values_jax_compilation_cache(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (getenv("JAX_COMPILATION_CACHE_DIR")) {
        stk_tune_refuse(to, "JAX_COMPILATION_CACHE_DIR is set already");
    } else {
        stk_tune_add(to, f->cache_folder);
    }
}
