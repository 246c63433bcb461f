// SPDX-License-Identifier: Apache-2.0
// Which phase of a training step a name tells of (phases.def): TensorFlow's paths and types,
// PyTorch's autograd nodes, losses and optimizer ranges, JAX's jvp and transpose in what a device's
// row records.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "profile/store/trace.h"

// Where a name tells of several, the first of them counts.
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

// Bits 1 << phase of what a host's slice or range is called, and of a device operation's scope.
uint8_t stk_phases_of_name(struct stk_str name);
uint8_t stk_phases_of_scope(struct stk_str path);
enum stk_phase stk_phase_first(uint8_t bits);

// What TensorFlow runs eagerly has the same names in both passes.
bool stk_phase_is_eager(struct stk_str name);

// A thread of tf.data: what runs there prepares batches, also the operations of a map function,
// whose names are like those of the model.
bool stk_phase_is_input_thread(const struct stk_trace *t, uint32_t track);
