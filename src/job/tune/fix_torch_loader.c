// SPDX-License-Identifier: Apache-2.0
// Arguments of PyTorch's DataLoader. Workers draw other random numbers than the process itself
// (transforms that are random), and an IterableDataset that does not share itself out gives each
// worker all of its elements: the hooks refuse that.
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "job/tune/fix.h"

#define NO_LOADER "the job makes no DataLoader"

static bool has_loader(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (!stk_facts_get(f, "torch.dataloader.num_workers")) {
        stk_tune_refuse(to, NO_LOADER);
        return false;
    }
    return true;
}

static bool has_workers(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (has_loader(f, to) && stk_facts_number(f, "torch.dataloader.num_workers", 0) == 0) {
        stk_tune_refuse(to, "it needs workers, and the loader has none");
    }
    return !to->why[0];
}

static void workers(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    long now = stk_facts_number(f, "torch.dataloader.num_workers", 0);
    if (!has_loader(f, to)) {
        return;
    }
    if (now == 0 && stk_facts_say(f, "torch.dataloader.kind", "iterable") &&
        !stk_facts_say(f, "torch.dataloader.kind", "map")) {
        stk_tune_refuse(to, "an IterableDataset would give all of its elements in each worker; "
                            "share them out by get_worker_info() first");
        return;
    }
    stk_tune_add_workers(to, f, now);
    if (now > 0 && to->count < STK_TUNE_VALUES) {
        stk_tune_add_number(to, 4 * f->processors, now + 1, 32); // they may wait, not compute
    }
}

const struct stk_tune_fix stk_tune_fix_torch_num_workers = {
    .id = "torch.dataloader.num_workers",
    .what = "processes that make batches beside the step",
    .framework = "pytorch",
    .changes = STK_CHANGES_ORDER,
    .parts = "input_wait",
    .price = "input-free",
    .call = "torch.dataloader",
    .code = "num_workers={}",
    .is_hooked = true,
    .is_strong = true,
    .values = workers,
};

static void prefetch(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (has_workers(f, to)) {
        stk_tune_add(to, "8");
    }
}

const struct stk_tune_fix stk_tune_fix_torch_prefetch_factor = {
    .id = "torch.dataloader.prefetch_factor",
    .what = "batches that each worker keeps ahead",
    .framework = "pytorch",
    .changes = STK_CHANGES_NOTHING,
    .parts = "input_wait",
    .call = "torch.dataloader",
    .code = "prefetch_factor={}",
    .is_hooked = true,
    .values = prefetch,
};

static void persistent(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    enum { EPOCH_MOST = 1000 }; // batches beyond which the start of workers does not show
    long batches = stk_facts_number(f, "torch.dataloader.batches", 0);
    batches = batches > 0 ? batches : 0;
    if (!has_workers(f, to)) {
        return;
    }
    if (stk_facts_say(f, "torch.dataloader.persistent_workers", "True")) {
        stk_tune_refuse(to, "the workers stay already");
    } else if (batches > EPOCH_MOST) {
        stk_tune_refuse(to, "workers start once in %ld steps; the cost of that does not show",
                        batches);
    } else if (f->run_steps && (uint64_t)batches >= f->run_steps) {
        stk_tune_refuse(to,
                        "a run makes %llu steps and no second epoch of %ld, in which it would "
                        "show (--steps)",
                        (unsigned long long)f->run_steps, batches);
    } else {
        stk_tune_add(to, "True");
    }
}

const struct stk_tune_fix stk_tune_fix_torch_persistent_workers = {
    .id = "torch.dataloader.persistent_workers",
    .what = "workers that stay from epoch to epoch",
    .framework = "pytorch",
    .changes = STK_CHANGES_ORDER,
    .parts = "input_wait",
    .call = "torch.dataloader",
    .code = "persistent_workers=True",
    .is_hooked = true,
    .values = persistent,
};

static void pin(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (!has_loader(f, to)) {
        return;
    }
    if (!f->has_gpu) {
        stk_tune_refuse(to, "there is no GPU to copy to");
    } else if (stk_facts_say(f, "torch.dataloader.pin_memory", "True")) {
        stk_tune_refuse(to, "batches are pinned already");
    } else {
        stk_tune_add(to, "True");
    }
}

const struct stk_tune_fix stk_tune_fix_torch_pin_memory = {
    .id = "torch.dataloader.pin_memory",
    .what = "batches in page-locked memory, for faster copies",
    .framework = "pytorch",
    .changes = STK_CHANGES_NOTHING,
    .parts = "transfer_h2d_exposed input_wait",
    .price = "transfer-pinned",
    .call = "torch.dataloader",
    .code = "pin_memory=True",
    .is_hooked = true,
    .is_strong = true,
    .values = pin,
};
