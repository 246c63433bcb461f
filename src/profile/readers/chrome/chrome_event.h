// SPDX-License-Identifier: Apache-2.0
// One event of traceEvents, from text to fields.
#pragma once

#include "profile/readers/chrome/chrome_scan.h"
#include "profile/readers/trace_event/chrome_json.h"
#include "profile/readers/trace_event/chrome_raw.h"

// Longer events are read only by the forgiving path. Above the second limit they are skipped.
#define STK_CHROME_FAST_BYTES 32768
#define STK_CHROME_EVENT_BYTES (32u << 20)

enum stk_chrome_result {
    STK_CHROME_OK,   // *end is just after its brace
    STK_CHROME_MORE, // the text ends first
    STK_CHROME_BAD   // not an event that can be read
};

// The event whose opening brace the cursor returned last, at `start`. BAD: try the slow way.
enum stk_chrome_result stk_chrome_event_fast(struct stk_chrome_cursor *c, size_t start,
                                             struct stk_chrome_raw *r, size_t *end);
// The same from text alone, with repairs, counted in *repairs.
enum stk_chrome_result stk_chrome_event_slow(const char *text, size_t len, size_t start,
                                             struct stk_chrome_raw *r, size_t *end,
                                             unsigned *repairs);
