// SPDX-License-Identifier: Apache-2.0
// PyTorch's optimizers by name (optimizer_name.h). Limits: a class that the job or a library
// derives from another is called by its own name, and whether it updates one by one is not known.
#include "profile/model/steps/optimizer_name.h"

#include <string.h>

static const struct stk_optimizer_kind kinds[] = {
    {"AdamW", true},     {"Adam", true},     {"SGD", true},    {"Adagrad", true},
    {"Adadelta", false}, {"Adamax", false},  {"ASGD", false},  {"NAdam", false},
    {"RAdam", false},    {"RMSprop", false}, {"Rprop", false},
};

struct stk_str stk_optimizer_named(struct stk_str name)
{
    static const struct stk_str before[] = {
        {"Optimizer.step#", 15}, {"Optimizer.zero_grad#", 20}, {"_single_tensor_", 15}};
    for (size_t k = 0; k < sizeof before / sizeof before[0]; k++) {
        const char *at = name.n ? memmem(name.p, name.n, before[k].p, before[k].n) : NULL;
        if (at) {
            at += before[k].n;
            size_t left = (size_t)(name.p + name.n - at), n = 0;
            while (n < left && !memchr(".( ", at[n], 3)) {
                n++;
            }
            return (struct stk_str){at, n};
        }
    }
    return (struct stk_str){0};
}

const struct stk_optimizer_kind *stk_optimizer_kind_of(struct stk_str class)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (stk_str_eq_nocase(class, stk_str_from(kinds[i].class))) {
            return &kinds[i];
        }
    }
    return NULL;
}
