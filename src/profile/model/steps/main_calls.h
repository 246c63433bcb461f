// SPDX-License-Identifier: Apache-2.0
// Calls that come once a step, and the one that does a step's work, as the framework names it.
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

// Outermost events that pass, counted per thread; the thread with the most is chosen (ties: first).
// False: no memory; out->marks must be freed then, too.
bool stk_calls_choose(const struct stk_analysis *a, const struct stk_calls_filter *f,
                      struct stk_calls *out);

// The function of a class (jitted, traced) with the largest total over all its traces, if that is
// at least this share of all time of the class: *name is a name of it, else STK_NONE. False: no
// memory.
bool stk_calls_main_function(const struct stk_analysis *a, uint32_t class, double least,
                             uint32_t *name);

// Is it an operation that JAX runs by itself, outside of any compiled function (jnp.asarray, a
// sum)? False where Python was not recorded.
bool stk_call_is_alone(const struct stk_analysis *a, uint32_t event);

// The function of a class that takes most time of those called once a step, or nearly, on the
// driving thread: what makes a batch calls the framework's own by the dozen. Operations that run
// alone come last, however long their calls are: JAX's calls return before the work is done. *name:
// STK_NONE: none. False: no memory.
bool stk_calls_once_a_step(const struct stk_analysis *a, uint32_t class, uint32_t *name);

// Calls of Optimizer.step, else those of the jitted (JAX) or traced (TensorFlow) function that
// holds a third or more of such calls' time (what prepares data calls jitted ones of the
// framework's, too) and more than any other, in `marks` (struct stk_mark, initialized here).
// *class: STK_NAME_OPTIMIZER, _PJIT or _FUNCTION; 0: none. False: no memory; marks must be freed
// then, too.
bool stk_main_calls_find(const struct stk_analysis *a, struct stk_vec *marks, uint32_t *class);
