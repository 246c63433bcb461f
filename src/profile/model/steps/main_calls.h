// SPDX-License-Identifier: Apache-2.0
// Calls made once a step, and the one that does a step's work, by the framework's names.
#pragma once

#include "profile/model/analysis.h"

// The marks of one class on one thread, outermost only.
struct stk_calls {
    struct stk_vec marks; // struct stk_mark
    uint32_t thread;
};

struct stk_calls_filter {
    uint32_t class; // any of these bits, or 0
    bool marker;    // STK_EXT_STEP or STK_NAME_STEP instead
    bool by_name;   // only events named `name`, with any trace number
    uint32_t name;
};

// The outermost events that pass, of the thread with the most of them (ties: the first). False: no
// memory; out->marks must be freed even then.
bool stk_calls_choose(const struct stk_analysis *a, const struct stk_calls_filter *f,
                      struct stk_calls *out);

// The function of a class (jitted, traced) with the largest total over all its traces, if that is
// at least this share of all time of the class: *name is a name of it, else STK_NONE. False: no
// memory.
bool stk_calls_main_function(const struct stk_analysis *a, uint32_t class, double least,
                             uint32_t *name);

// Is it an operation that JAX runs alone, outside of any compiled function (jnp.asarray, a sum)?
// False if Python wasn't recorded.
bool stk_call_is_alone(const struct stk_analysis *a, uint32_t event);

// The function of a class that takes most time, of those called about once a step on the driving
// thread: code that makes a batch calls the framework's functions by the dozen. Operations that run
// alone come last, however long their calls are: JAX's calls return before the work is done. *name:
// STK_NONE: none. False: no memory.
bool stk_calls_once_a_step(const struct stk_analysis *a, uint32_t class, uint32_t *name);

// Calls of Optimizer.step, else those of the jitted (JAX) or traced (TensorFlow) function that
// takes a third or more of such calls' time, and more than any other (code that prepares data also
// calls the framework's jitted functions). In `marks` (struct stk_mark, initialized here).
// *class: STK_NAME_OPTIMIZER, _PJIT or _FUNCTION; 0: none. False: no memory; marks must be freed
// even then.
bool stk_main_calls_find(const struct stk_analysis *a, struct stk_vec *marks, uint32_t *class);
