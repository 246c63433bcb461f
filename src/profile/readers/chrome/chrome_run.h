// SPDX-License-Identifier: Apache-2.0
// The reader of Chrome JSON traces (chrome.c lists its files), while it reads one file: the
// parser's place in the JSON, and what the threads share.
#pragma once

#include "profile/readers/chrome/chrome_event.h"
#include "profile/readers/reader.h"
#include "profile/readers/trace_event/chrome_fix.h"

#define STK_CHROME_BLOCK_BYTES (1u << 20)

// Where the text is, between two units that cannot be split.
enum stk_chrome_at {
    STK_CHROME_AT_START,  // before the first bracket
    STK_CHROME_AT_KEYS,   // in the top-level object
    STK_CHROME_AT_SKIP,   // in a top-level value that is not needed
    STK_CHROME_AT_EVENTS, // in the array of events, between two of them
    STK_CHROME_AT_LOST,   // in the array of events, looking for where the next one begins
    STK_CHROME_AT_END,    // after the last bracket
    STK_CHROME_AT_FOREIGN // not a trace
};
struct stk_chrome_place {
    enum stk_chrome_at at;
    bool bare_array;  // the file is an array of events
    bool seen_events; // an array of events was entered
    bool seen_comma;  // since the last value
    bool skip_string; // SKIP: inside a string
    bool in_garbage;  // KEYS: the previous byte was garbage
    bool complained;  // trailing garbage was counted
    char before;      // LOST: last byte that isn't a space
    uint32_t skip_depth;
};

// Text of the file from byte `pos` on, padded.
struct stk_chrome_text {
    const char *p;
    size_t len;
    uint64_t pos;
    bool last; // nothing follows
};

// Read units from `offset` on and stage them; returns how many bytes are processed. The rest (less
// than a unit) belongs before the next text.
size_t stk_chrome_consume(struct stk_chrome_place *place, struct stk_chrome_stager *s,
                          struct stk_chrome_cursor *c, const struct stk_chrome_text *text);
// A place from which a block that begins with an event can be read.
static inline struct stk_chrome_place stk_chrome_place_events(void)
{
    return (struct stk_chrome_place){
        .at = STK_CHROME_AT_EVENTS, .seen_events = true, .seen_comma = true};
}
// Offset of the last place in the text that looks like the beginning of an event (just after a
// comma and space); 0 if none.
size_t stk_chrome_find_cut(const char *text, size_t len);

// Test hook: size of the blocks (0: as built).
void stk_chrome_use_blocks(size_t bytes);

// Read all of the stream into the sink, with `count` workers; *end: where it ended.
STK_MUST_CHECK enum stoker_status
stk_chrome_pump(const struct stk_read_ctx *ctx, int count, struct stk_chrome_sink *sink,
                struct stk_chrome_input *in, struct stk_chrome_place *end, struct stoker_err *err);
