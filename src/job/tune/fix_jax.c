// SPDX-License-Identifier: Apache-2.0
// JAX: Grain's loaders, XLA's flags, and what is kept of compilation.
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "job/tune/fix.h"

static void workers(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    long now = stk_facts_number(f, "grain.workers", -1);
    if (now != 0) {
        stk_tune_refuse(to, now < 0 ? "the job has no loader of Grain" : "it has workers already");
        return;
    }
    stk_tune_add_number(to, f->processors, 1, 32);
    stk_tune_add_number(to, 2 * f->processors, 1, 32);
}

const struct stk_tune_fix stk_tune_fix_grain_workers = {
    .id = "grain.workers",
    .what = "processes that make elements beside the step",
    .framework = "jax",
    .changes = STK_CHANGES_ORDER,
    .parts = "input_wait host_compute host_wait",
    .price = "input-free",
    .call = "grain",
    .code = "worker_count={}; of a MapDataset: "
            ".to_iter_dataset().mp_prefetch(grain.MultiprocessingOptions(num_workers={}))",
    .is_hooked = true,
    .is_strong = true,
    .values = workers,
};

static void threads(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    long now = stk_facts_number(f, "grain.threads", -1);
    if (now < 0) {
        stk_tune_refuse(to, "the job has no loader of Grain");
    } else if (now >= 16) {
        stk_tune_refuse(to, "it reads with %ld threads already", now);
    } else {
        stk_tune_add(to, "16");
    }
}

const struct stk_tune_fix stk_tune_fix_grain_threads = {
    .id = "grain.threads",
    .what = "threads that read elements ahead",
    .framework = "jax",
    .changes = STK_CHANGES_NOTHING,
    .parts = "input_wait host_compute host_wait",
    .price = "input-overlap",
    .call = "grain",
    .code = "read_options=grain.ReadOptions(num_threads={}, prefetch_buffer_size=64)",
    .is_hooked = true,
    .values = threads,
};

static void prefetch(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (stk_facts_get(f, "grain.workers") || stk_facts_get(f, "tfdata.last") ||
        stk_facts_get(f, "torch.dataloader.num_workers")) {
        stk_tune_refuse(to, "the loader's own workers and prefetch do it");
    } else {
        stk_tune_refuse(to, "batches come from the program's own lines, which no hook can run "
                            "ahead: make them in a thread that fills a queue.Queue(2) with "
                            "jax.device_put(batch)");
    }
}

const struct stk_tune_fix stk_tune_fix_jax_prefetch = {
    .id = "jax.prefetch",
    .what = "the next batch is made and copied beside the step",
    .framework = "jax",
    .changes = STK_CHANGES_NOTHING,
    .parts = "input_wait host_compute transfer_h2d_exposed",
    .price = "input-overlap",
    .values = prefetch,
};

static void on_gpu(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (f->has_gpu) {
        stk_tune_add(to, "");
    } else {
        stk_tune_refuse(to, "there is no GPU");
    }
}

const struct stk_tune_fix stk_tune_fix_jax_xla_scheduler = {
    .id = "jax.xla_latency_hiding_scheduler",
    .what = "XLA orders operations so that communication is hidden",
    .framework = "jax",
    .changes = STK_CHANGES_NUMERICS,
    .parts = "communication_exposed compute",
    .price = "comm-overlap",
    .env = "XLA_FLAGS+=--xla_gpu_enable_latency_hiding_scheduler=true",
    .values = on_gpu,
};

static void without_gpu(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (f->has_gpu) {
        stk_tune_refuse(to, "the flag is of the CPU's compiler");
    } else {
        stk_tune_add(to, "");
    }
}

const struct stk_tune_fix stk_tune_fix_jax_xla_fast_math = {
    .id = "jax.xla_cpu_fast_math",
    .what = "XLA may reorder sums and assume that there are no NaN",
    .framework = "jax",
    .changes = STK_CHANGES_NUMERICS,
    .parts = "compute",
    .env = "XLA_FLAGS+=--xla_cpu_enable_fast_math=true",
    .values = without_gpu,
};

static void pgle(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (getenv("JAX_ENABLE_PGLE")) {
        stk_tune_refuse(to, "JAX_ENABLE_PGLE is set already");
    } else {
        on_gpu(f, to);
    }
}

const struct stk_tune_fix stk_tune_fix_jax_pgle = {
    .id = "jax.pgle",
    .what = "JAX profiles its first steps and compiles again by what it saw",
    .framework = "jax",
    .changes = STK_CHANGES_NUMERICS,
    .parts = "communication_exposed compute",
    .price = "comm-overlap",
    .env = "JAX_ENABLE_PGLE=true",
    .values = pgle,
};

static void cache(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (getenv("JAX_COMPILATION_CACHE_DIR")) {
        stk_tune_refuse(to, "JAX_COMPILATION_CACHE_DIR is set already");
    } else {
        stk_tune_add(to, f->cache_folder);
    }
}

const struct stk_tune_fix stk_tune_fix_jax_compilation_cache = {
    .id = "jax.compilation_cache",
    .what = "compiled functions are kept for the next start",
    .framework = "jax",
    .changes = STK_CHANGES_NOTHING,
    .parts = "compile",
    .env = "JAX_COMPILATION_CACHE_DIR={}",
    .is_of_start = true,
    .values = cache,
};
