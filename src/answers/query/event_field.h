// SPDX-License-Identifier: Apache-2.0
// Values of one event by field (fields.def).
#pragma once

#include "answers/query/query_source.h"

enum stk_query_field {
#define F(id, column, type, key, meaning) STK_FIELD_##id,
#include "answers/query/fields.def"
#undef F
    STK_FIELD_COUNT
};

// What a field's value depends on.
enum stk_query_key { STK_KEY_TRACK, STK_KEY_NAME, STK_KEY_STEP, STK_KEY_BITS, STK_KEY_NONE };

struct stk_query_field_info {
    const char *column;
    enum stk_type type;
    enum stk_query_key key;
    const char *doc;
};
extern const struct stk_query_field_info stk_query_fields[STK_FIELD_COUNT];

static inline bool stk_query_field_is_text(enum stk_query_field f)
{
    return stk_query_fields[f].type == STK_TYPE_TEXT || stk_query_fields[f].type == STK_TYPE_NAME;
}

// An event with its place.
struct stk_query_event {
    struct stk_query_trace *x;
    uint32_t trace, track, event; // indices
};

// Whole numbers; false: unknown (null).
bool stk_query_number_slow(const struct stk_query_event *v, enum stk_query_field f, int64_t *out);
static inline bool stk_query_number(const struct stk_query_event *v, enum stk_query_field f,
                                    int64_t *out)
{
    const struct stk_trace *t = v->x->t;
    switch (f) {
    case STK_FIELD_START:
        *out = t->start_ns[v->event] + v->x->shift_ns;
        return true;
    case STK_FIELD_DUR:
        *out = stk_dur_ns(t, v->event);
        return true;
    case STK_FIELD_END:
        *out = stk_end_ns(t, v->event) + v->x->shift_ns;
        return true;
    case STK_FIELD_ID:
        *out = stk_query_id(v->trace, v->event);
        return true;
    default:
        return stk_query_number_slow(v, f, out);
    }
}
// Texts; p NULL: unknown.
struct stk_str stk_query_text(const struct stk_query_event *v, enum stk_query_field f);
// The same from its key, for any event: a name's id, or stk_query_bits, or
// stk_query_call_code; the track is v's.
struct stk_str stk_query_text_of_key(const struct stk_query_event *v, enum stk_query_field f,
                                     uint32_t code);
// The id of the name of the event's launch call; without one, the number of names.
uint32_t stk_query_call_code(const struct stk_trace *t, uint32_t event);
void stk_query_value_of(const struct stk_query_event *v, enum stk_query_field f,
                        struct stk_query_value *out);
// Kind, way and memories in one number (13 bits), on which fields with the key BITS depend.
uint32_t stk_query_bits(const struct stk_trace *t, uint32_t event);
