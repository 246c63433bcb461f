// SPDX-License-Identifier: Apache-2.0
// The phase of a training step that a name indicates (phases.def): TensorFlow's paths and types,
// PyTorch's autograd nodes, losses and optimizer ranges, JAX's jvp and transpose in a device row's
// scope.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "profile/store/trace.h"

// If a name indicates several, the first of these counts.
enum stk_phase {
    STK_PHASE_NOT_TOLD,
    STK_PHASE_INPUT,
    STK_PHASE_COMMUNICATION,
    STK_PHASE_OPTIMIZER,
    STK_PHASE_BACKWARD,
    STK_PHASE_LOSS,
    STK_PHASE_FORWARD,
    STK_PHASES
};
const char *stk_phase_key(enum stk_phase phase); // "" for STK_PHASE_NOT_TOLD

// Bits 1 << phase, from the name of a host slice or range, or a device operation's scope.
uint8_t stk_phases_of_name(struct stk_str name);
uint8_t stk_phases_of_scope(struct stk_str path);
enum stk_phase stk_phase_first(uint8_t bits);

// TensorFlow's eager operations have the same names in both passes.
bool stk_phase_is_eager(struct stk_str name);

// A thread of tf.data: what runs there prepares batches, also the operations of a map function,
// whose names are like those of the model.
bool stk_phase_is_input_thread(const struct stk_trace *t, uint32_t track);
