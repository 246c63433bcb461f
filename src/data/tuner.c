// SPDX-License-Identifier: Apache-2.0
// AUTOTUNE.
#include "data/tuner.h"

bool stk_tuner_add(struct stk_async *a, bool is_free)
{
    (void)a;
    (void)is_free;
    return true;
}
void stk_tuner_remove(struct stk_async *a)
{
    (void)a;
}
void stk_tuner_look(struct stk_run *run)
{
    (void)run;
}
void stk_tuner_close(struct stk_tuner *t)
{
    (void)t;
}
