// SPDX-License-Identifier: Apache-2.0
// What an event's name says about the input pipeline: input_kinds.def, and which events make
// stages.
#pragma once

#include "profile/store/names.h"

enum stk_input_kind {
#define K(id, key, meaning) STK_INPUT_##id,
#include "profile/model/input/input_kinds.def"
    STK_INPUT_KINDS
};
const char *stk_input_kind_key(enum stk_input_kind kind);

enum stk_input_role {
    STK_ROLE_NONE,
    STK_ROLE_STAGE,     // a call of a stage
    STK_ROLE_INSIDE,    // a stage, if something of the input is around it
    STK_ROLE_PRODUCE,   // a worker makes an element for the stage downstream of what it calls
    STK_ROLE_RUN_AWAY,  // starts a function on other threads
    STK_ROLE_RUN_HERE,  // starts a function and waits for it
    STK_ROLE_FUNCTION,  // a function runs
    STK_ROLE_OPERATION, // an operation of a function: work of a kind, no stage
    STK_ROLE_NEXT       // Python's next(): a stage where it is the fetch
};

struct stk_input_name {
    uint8_t role, kind; // enum stk_input_role, enum stk_input_kind
    bool is_pipeline;   // an iterator of tf.data
    bool is_async;      // its calls wait for other threads, which do its work
};
// `event_kind` and `classes` are those of the event with this name.
struct stk_input_name stk_input_classify(struct stk_str name, uint8_t event_kind, uint32_t classes,
                                         bool is_next);

// A stage's name: the event's name without the numbers of passes, files and objects:
// "Iterator::A::B" for "Iterator::A[2]::B" (the index of an input, Zip[1], stays). At most size - 1
// bytes; returns the length.
size_t stk_input_stage_text(struct stk_str name, struct stk_input_name what, char *out,
                            size_t size);

// The stage itself: "ParallelMapV2" of "Iterator::Root::Prefetch::ParallelMapV2".
const char *stk_input_stage_itself(const char *stage);
// Is it a source in memory, which reads no files?
bool stk_input_is_in_memory(const char *stage);
