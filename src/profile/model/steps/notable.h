// SPDX-License-Identifier: Apache-2.0
// The events of a row whose names tell where the step's work is, and where its data come from.
#pragma once

#include "base/vec.h"
#include "profile/model/analysis.h"

// What an event is, by its name: some of these.
#define STK_NOTE_WORK 1u    // of the model: its class is one of STK_WORK_CLASSES
#define STK_NOTE_BLOCKED 2u // a blocking call
#define STK_NOTE_HANDS 4u   // Python that makes a framework's array from host data
#define STK_NOTE_BRINGS 8u  // Python that makes arrays from bytes or a file, or hands them over
#define STK_NOTE_TAKES 16u  // Python that reads the framework's results back
#define STK_NOTE_DATA 32u   // Python of a library of arrays or files
#define STK_NOTE_KEYS 64u   // makes random keys

#define STK_WORK_CLASSES (STK_NAME_MODEL_OP | STK_NAME_PJIT | STK_NAME_FUNCTION | STK_NAME_LAUNCH)

struct stk_note {
    uint32_t event, is; // is: STK_NOTE_*
};

struct stk_notable {
    const struct stk_analysis *a;
    uint8_t *by_name;     // two per string id: of other events, of Python's
    uint32_t row;         // STK_NONE: none yet
    struct stk_vec notes; // struct stk_note, of `row`, in order
};

bool stk_notable_open(struct stk_notable *n, const struct stk_analysis *a); // false: no memory
void stk_notable_close(struct stk_notable *n);
// Those of a row, until another row's are asked for. NULL: no memory.
const struct stk_vec *stk_notable_of(struct stk_notable *n, uint32_t row);
