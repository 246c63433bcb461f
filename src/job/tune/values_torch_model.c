// SPDX-License-Identifier: Apache-2.0
// How PyTorch computes: threads, precision, compiled modules, clearing of gradients.
#include <stddef.h>
#include <stdlib.h>

#include "job/tune/values.h"

void stk_values_torch_threads(const struct stk_tune_facts *f, struct stk_tune_values *to)
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
        stk_tune_refuse(to, "there is only one CPU core");
    }
}

void stk_values_torch_optimizer_fused(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (stk_facts_say(f, "torch.optimizer.update", "default")) {
        stk_tune_add(to, "");
    } else if (stk_facts_get(f, "torch.optimizer.update")) {
        stk_tune_refuse(to, "%s", stk_refusal_text(STK_REFUSAL_update_set));
    } else {
        stk_tune_refuse(to, "no optimizer of the job (Adam, AdamW, SGD) has a fused update");
    }
}

void stk_values_torch_zero_grad(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (stk_facts_get(f, "torch.zero_grad.set_to_none")) {
        stk_tune_add(to, "True");
    } else {
        stk_tune_refuse(to, "gradients are already dropped, not cleared");
    }
}
