// SPDX-License-Identifier: Apache-2.0
// AUTOTUNE: how many workers each stage has; see tuner.c.
#ifndef STK_DATA_TUNER_H
#define STK_DATA_TUNER_H

#include "data/async.h"

// The stage joins the run's tuner (made with the first), or leaves it. is_free: the tuner sets the
// workers; else their number is the user's and only counts. False: no memory.
bool stk_tuner_add(struct stk_async *a, bool is_free);
void stk_tuner_remove(struct stk_async *a);
// Called often, from workers: looks at the rates when it is time, at most once at a time.
void stk_tuner_look(struct stk_run *run);
void stk_tuner_close(struct stk_tuner *t); // takes NULL

#endif
