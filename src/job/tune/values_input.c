// SPDX-License-Identifier: Apache-2.0
// The whole input by something else. stoker.data takes over a DataLoader with a map-style dataset
// (the same batches in the same order; what items of unknown datasets draw at random in workers is
// drawn otherwise; batches of an iterable dataset would stay the loader's own) and
// a tf.data pipeline whose stages and functions it knows (order of shuffles and random bits are its
// own); the hooks refuse with its reason what it does not take over whole.
#include <stdio.h>

#include "job/tune/values.h"

void stk_values_input_stoker_data_torch(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    static const char *const hows[] = {"threads", "processes"};
    if (!stk_facts_say(f, "torch.dataloader.kind", "map")) {
        stk_tune_refuse(to, "stoker.data makes the batches of a DataLoader with a map-style "
                            "dataset, and the job makes none; others would stay as they are");
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
        stk_tune_refuse(to, "no data set of tf.data is iterated where hooks see it");
    }
}

void stk_values_input_stoker_data(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    (void)f;
    stk_tune_refuse(to,
                    "stoker.data takes over no pipeline of this framework as it is: the program's "
                    "input must be written with it (docs/data)");
}

void stk_values_input_on_device(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    if (!f->has_gpu) {
        stk_tune_refuse(to, "there is no GPU");
    } else {
        stk_tune_refuse(to, "which operations of the input could run on the GPU is the program's "
                            "to say: `stoker whatif --fix input-on-device` prices it");
    }
}
