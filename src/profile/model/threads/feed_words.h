// SPDX-License-Identifier: Apache-2.0
// What the words of a function's name say about its purpose (feeds.def).
#pragma once

#include "base/str.h"

enum stk_feed { STK_FEED_UNKNOWN, STK_FEED_DATA, STK_FEED_OTHER };
// Whether a function prepares data, or does something else (saves, logs, evaluates). A word for
// something else takes precedence: save_batch.
enum stk_feed stk_feed_of(struct stk_str function);
// Whether a function without such words controls how the job runs (train, schedule, throttle).
bool stk_feed_rules(struct stk_str function);
// Whether a library's function makes arrays from bytes or a file, by its name.
bool stk_feed_brings(struct stk_str function);
// Whether a library's function reads a framework's results back, by its name.
bool stk_feed_takes(struct stk_str function);
// Is a row of a Python tracer, by its full name, a call that makes a framework's array from CPU
// data? torch.tensor and jnp.asarray are; numpy.array isn't.
bool stk_feed_hands_over(struct stk_str row);
// Whether a row of a framework's own tracer, by its whole name, takes a host array.
bool stk_feed_puts(struct stk_str row);
// Whether a row, by its whole name, makes random keys: a JAX function in a Python tracer, or its
// operation.
bool stk_feed_makes_keys(struct stk_str row);
