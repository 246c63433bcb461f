// SPDX-License-Identifier: Apache-2.0
// Arguments of PyTorch's DataLoader. In workers, random transforms draw other numbers than in the
// main process; the class of the change says so.
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "job/tune/values.h"

static bool has_loader(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (!stk_facts_get(f, "torch.dataloader.num_workers")) {
        stk_tune_refuse(to, "the job has no DataLoader");
        return false;
    }
    return true;
}

static bool has_workers(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (has_loader(f, to) && stk_facts_number(f, "torch.dataloader.num_workers", 0) == 0) {
        stk_tune_refuse(to, "%s", stk_refusal_text(STK_REFUSAL_no_workers));
    }
    return !to->why[0];
}

void stk_values_torch_dataloader_num_workers(const struct stk_tune_facts *f,
                                             struct stk_tune_values *to)
{
    long now = stk_facts_number(f, "torch.dataloader.num_workers", 0);
    if (!has_loader(f, to)) {
        return;
    }
    if (now == 0 && stk_facts_say(f, "torch.dataloader.kind", "iterable") &&
        !stk_facts_say(f, "torch.dataloader.kind", "map")) {
        stk_tune_refuse(to, "%s", stk_refusal_text(STK_REFUSAL_iterable));
        return;
    }
    enum { MOST = 32 }; // with more, memory runs out before processors help
    const long all = f->processors, tried[] = {all, 2 * all, all / 2};
    for (int i = 0; i < 3; i++) {
        if (tried[i] != now) {
            stk_tune_add_number(to, tried[i], 1, MOST);
        }
    }
    if (now > 0 && to->count < STK_TUNE_VALUES) {
        stk_tune_add_number(to, 4 * all, now + 1, MOST); // they may wait rather than compute
    }
}

void stk_values_torch_dataloader_prefetch_factor(const struct stk_tune_facts *f,
                                                 struct stk_tune_values *to)
{
    if (has_workers(f, to)) {
        stk_tune_add(to, "8");
    }
}

void stk_values_torch_dataloader_persistent_workers(const struct stk_tune_facts *f,
                                                    struct stk_tune_values *to)
{
    enum { EPOCH_MOST = 1000 }; // with more batches, the start of workers doesn't matter
    long batches = stk_facts_number(f, "torch.dataloader.batches", 0);
    batches = batches > 0 ? batches : 0;
    if (!has_workers(f, to)) {
        return;
    }
    if (stk_facts_say(f, "torch.dataloader.persistent_workers", "True")) {
        stk_tune_refuse(to, "the workers are already persistent");
    } else if (batches > EPOCH_MOST) {
        stk_tune_refuse(to, "workers start only every %ld steps, which costs too little to measure",
                        batches);
    } else if (f->run_steps && (uint64_t)batches >= f->run_steps) {
        stk_tune_refuse(
            to, "a run has %llu steps, and only a second epoch, after %ld, would show it (--steps)",
            (unsigned long long)f->run_steps, batches);
    } else {
        stk_tune_add(to, "True");
    }
}

void stk_values_torch_dataloader_pin_memory(const struct stk_tune_facts *f,
                                            struct stk_tune_values *to)
{
    if (!has_loader(f, to)) {
        return;
    }
    if (!f->has_gpu) {
        stk_tune_refuse(to, "there is no GPU to copy to");
    } else if (stk_facts_say(f, "torch.dataloader.pin_memory", "True")) {
        stk_tune_refuse(to, "batches are already pinned");
    } else {
        stk_tune_add(to, "True");
    }
}
