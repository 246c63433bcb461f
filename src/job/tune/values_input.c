// SPDX-License-Identifier: Apache-2.0
// Replaces the whole input. stoker.data takes over a DataLoader with a map-style dataset (same
// batches in the same order, but random numbers in workers of unknown datasets differ; batches of
// an iterable dataset stay with the loader), and a tf.data pipeline if it knows its stages and
// functions (shuffle order and random bits are its own). If it can't take over everything, the
// hooks refuse and give its reason.
#include <stdio.h>

#include "job/tune/values.h"

void stk_values_input_stoker_data_torch(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    static const char *const hows[] = {"threads", "processes"};
    if (!stk_facts_say(f, "torch.dataloader.kind", "map")) {
        stk_tune_refuse(to, "stoker.data can only replace a DataLoader with a map-style dataset, "
                            "and the job has none");
        return;
    }
    for (size_t i = 0; i < sizeof hows / sizeof hows[0]; i++) {
        char value[STK_TUNE_VALUE];
        snprintf(value, sizeof value, "%s=%ld", hows[i], f->processors);
        stk_tune_add(to, value);
    }
}

void stk_values_input_stoker_data_tf(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (stk_facts_get(f, "tfdata.last")) {
        stk_tune_add(to, "");
    } else {
        stk_tune_refuse(to, "the hooks see no loop over a tf.data data set");
    }
}

void stk_values_input_stoker_data(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    (void)f;
    stk_tune_refuse(to, "stoker.data can't take over this framework's pipelines: write the "
                        "program's input with it (docs/data)");
}

void stk_values_input_on_device(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (!f->has_gpu) {
        stk_tune_refuse(to, "there is no GPU");
    } else {
        stk_tune_refuse(to, "only you know which input operations could run on the GPU: `stoker "
                            "whatif --fix input-on-device` estimates it");
    }
}
