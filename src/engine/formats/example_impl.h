// SPDX-License-Identifier: Apache-2.0
// Internals of the Example parser: compiled specifications, name look-up, wire primitives.
#pragma once

#include <string.h>

#include "base/varint.h"
#include "engine/formats/example.h"

#define STK_EXAMPLE_MEMO 256     // names of one record that are remembered
#define STK_EXAMPLE_NAME_KEPT 64 // bytes of a remembered name that wasn't requested

struct stk_example_name {
    const char *text;
    size_t size;
    uint32_t feature; // index into the spec
};

// Names of one message level (features, or feature lists), open addressing.
struct stk_example_table {
    struct stk_example_name *slots; // text NULL: empty
    uint32_t mask, count;
};

struct stk_example_spec {
    struct stk_example_feature *features; // name and defaults owned
    size_t count;
    uint32_t *plain, *lists; // indices of plain features and of lists
    size_t plain_count, list_count;
    struct stk_example_table plain_names, list_names;
};

#define STK_EXAMPLE_UNKNOWN UINT32_MAX

uint32_t stk_example_find(const struct stk_example_table *t, const uint8_t *name, size_t size);
size_t stk_example_value_size(enum stk_example_type type);
// Room for `more` values after count. 0 ok, -1 no memory or no room in bound memory.
int stk_example_reserve(struct stk_example_column *c, size_t more);
int stk_example_reserve_steps(struct stk_example_column *c, size_t more);
STK_MUST_CHECK enum stoker_status stk_example_reserve_rows(struct stk_example_batch *b, size_t more,
                                                           struct stoker_err *err);

struct stk_example_span {
    const uint8_t *p, *end;
};

// All of these return false for invalid wire format.
bool stk_example_skip(struct stk_example_span *s, uint64_t tag);

static inline bool stk_example_varint(struct stk_example_span *s, uint64_t *v)
{
    const uint8_t *next = stk_varint_get(s->p, s->end, v);
    if (next) {
        s->p = next;
    }
    return next;
}

// Reads a length and that many bytes.
static inline bool stk_example_chunk(struct stk_example_span *s, struct stk_example_span *chunk)
{
    uint64_t n;
    if (!stk_example_varint(s, &n) || n > (uint64_t)(s->end - s->p)) {
        return false;
    }
    chunk->p = s->p;
    chunk->end = s->p += n;
    return true;
}

static inline bool stk_example_same(const uint8_t *a, const char *b, size_t n)
{
    if (n >= 8) {
        uint64_t x, y, u, v;
        for (size_t i = 0; i + 8 <= n; i += 8) {
            memcpy(&x, a + i, 8);
            memcpy(&y, b + i, 8);
            if (x != y) {
                return false;
            }
        }
        memcpy(&u, a + n - 8, 8);
        memcpy(&v, b + n - 8, 8);
        return u == v;
    }
    if (n >= 4) {
        uint32_t x, y, u, v;
        memcpy(&x, a, 4);
        memcpy(&y, b, 4);
        memcpy(&u, a + n - 4, 4);
        memcpy(&v, b + n - 4, 4);
        return x == y && u == v;
    }
    for (size_t i = 0; i < n; i++) {
        if (a[i] != (uint8_t)b[i]) {
            return false;
        }
    }
    return true;
}

// Copies few floats one by one, which is cheaper than a call.
static inline void stk_example_copy_floats(float *to, const uint8_t *from, size_t bytes)
{
    if (bytes > 32) {
        memcpy(to, from, bytes);
        return;
    }
    uint8_t *p = (uint8_t *)to;
    for (size_t i = 0; i < bytes; i += 4) {
        memcpy(p + i, from + i, 4);
    }
}

// The names of a record's features (or feature lists), "a, b, c", cut off with "..." at the
// capacity. "" if it has none or isn't an Example.
void stk_example_names(struct stk_example_span record, bool is_list, char *text, size_t capacity);
// The values of one list message of `type`, appended to out while there is room; *n counts them
// all.
bool stk_example_list(struct stk_example_span list, enum stk_example_type type, void *out,
                      size_t capacity, size_t *n);
