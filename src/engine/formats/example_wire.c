// SPDX-License-Identifier: Apache-2.0
// The part of the protobuf wire format that Example uses: varints, fields to skip, and the three
// lists of values, packed or not. Floats and integers are copied as raw bytes, because all
// supported machines are little-endian.
#include <stdio.h>

#include "engine/formats/example_impl.h"

#define DEPTH_MAX 100 // of groups, as protobuf's own limit

static bool advance(struct stk_example_span *s, size_t n)
{
    if ((size_t)(s->end - s->p) < n) {
        return false;
    }
    s->p += n;
    return true;
}

bool stk_example_skip(struct stk_example_span *s, uint64_t tag)
{
    uint64_t groups[DEPTH_MAX], unused;
    size_t depth = 0;
    struct stk_example_span chunk;
    for (;;) {
        bool good = tag >> 3 != 0 && tag <= UINT32_MAX;
        switch (tag & 7) {
        case 0:
            good = good && stk_example_varint(s, &unused);
            break;
        case 1:
            good = good && advance(s, 8);
            break;
        case 2:
            good = good && stk_example_chunk(s, &chunk);
            break;
        case 3:
            good = good && depth < DEPTH_MAX;
            if (good) {
                groups[depth++] = tag >> 3;
            }
            break;
        case 4:
            good = good && depth > 0 && groups[depth - 1] == tag >> 3;
            depth -= good;
            break;
        case 5:
            good = good && advance(s, 4);
            break;
        default:
            good = false;
            break;
        }
        if (!good || depth == 0) {
            return good;
        }
        if (!stk_example_varint(s, &tag)) {
            return false;
        }
    }
}

// Packed integers, small ones eight at a time.
static bool packed_int64s(struct stk_example_span s, int64_t *out, size_t capacity, size_t *n)
{
    size_t i = *n;
    while (s.p < s.end) {
        uint64_t w;
        if (s.end - s.p >= 8 && i + 8 <= capacity) {
            memcpy(&w, s.p, 8);
            if (!(w & 0x8080808080808080u)) {
                for (int k = 0; k < 8; k++) {
                    out[i + k] = s.p[k];
                }
                i += 8;
                s.p += 8;
                continue;
            }
        }
        if (!stk_example_varint(&s, &w)) {
            return false;
        }
        if (i < capacity) {
            out[i] = (int64_t)w;
        }
        i++;
    }
    *n = i;
    return true;
}

static bool packed_floats(struct stk_example_span s, float *out, size_t capacity, size_t *n)
{
    size_t bytes = (size_t)(s.end - s.p), count = bytes / 4;
    if (bytes % 4) {
        return false;
    }
    size_t fit = *n < capacity ? capacity - *n : 0;
    fit = fit < count ? fit : count;
    if (fit == 1) {
        memcpy(out + *n, s.p, 4);
    } else if (fit) {
        memcpy(out + *n, s.p, fit * 4);
    }
    *n += count;
    return true;
}

static bool one_bytes(struct stk_example_span *s, struct stk_example_bytes *out, size_t capacity,
                      size_t *n)
{
    struct stk_example_span value;
    if (!stk_example_chunk(s, &value)) {
        return false;
    }
    if (*n < capacity) {
        out[*n] = (struct stk_example_bytes){value.p, (size_t)(value.end - value.p)};
    }
    ++*n;
    return true;
}

static bool one_int64(struct stk_example_span *s, int64_t *out, size_t capacity, size_t *n)
{
    uint64_t v;
    if (!stk_example_varint(s, &v)) {
        return false;
    }
    if (*n < capacity) {
        out[*n] = (int64_t)v;
    }
    ++*n;
    return true;
}

static bool one_float(struct stk_example_span *s, float *out, size_t capacity, size_t *n)
{
    const uint8_t *p = s->p;
    if (!advance(s, 4)) {
        return false;
    }
    if (*n < capacity) {
        memcpy(out + *n, p, 4);
    }
    ++*n;
    return true;
}

enum { TAG_CHUNK = 1 << 3 | 2, TAG_VARINT = 1 << 3 | 0, TAG_FIXED32 = 1 << 3 | 5 };

bool stk_example_list(struct stk_example_span list, enum stk_example_type type, void *out,
                      size_t capacity, size_t *n)
{
    while (list.p < list.end) {
        uint64_t tag;
        struct stk_example_span packed;
        bool good = stk_example_varint(&list, &tag);
        if (!good) {
            return false;
        }
        if (tag == TAG_CHUNK && type == STK_EXAMPLE_BYTES) {
            good = one_bytes(&list, out, capacity, n);
        } else if (tag == TAG_CHUNK) {
            good = stk_example_chunk(&list, &packed) &&
                   (type == STK_EXAMPLE_FLOAT ? packed_floats(packed, out, capacity, n)
                                              : packed_int64s(packed, out, capacity, n));
        } else if (tag == TAG_VARINT && type == STK_EXAMPLE_INT64) {
            good = one_int64(&list, out, capacity, n);
        } else if (tag == TAG_FIXED32 && type == STK_EXAMPLE_FLOAT) {
            good = one_float(&list, out, capacity, n);
        } else {
            good = stk_example_skip(&list, tag);
        }
        if (!good) {
            return false;
        }
    }
    return true;
}

// The next length-delimited field with number `want`. False: none is left, or these aren't fields.
static bool find_field(struct stk_example_span *s, uint64_t want, struct stk_example_span *found)
{
    uint64_t tag;
    while (s->p < s->end && stk_example_varint(s, &tag)) {
        if (tag == (want << 3 | 2)) {
            return stk_example_chunk(s, found);
        }
        if (!stk_example_skip(s, tag)) {
            return false;
        }
    }
    return false;
}

void stk_example_names(struct stk_example_span record, bool is_list, char *text, size_t capacity)
{
    struct stk_example_span features, entry, name;
    size_t used = 0;
    text[0] = 0;
    // Example and SequenceExample have their features in field 1, feature lists are in field 2.
    while (find_field(&record, is_list ? 2 : 1, &features)) {
        while (find_field(&features, 1, &entry) && find_field(&entry, 1, &name)) {
            size_t size = (size_t)(name.end - name.p);
            if (capacity - used < size + sizeof ", ...") {
                snprintf(text + used, capacity - used, used ? ", ..." : "...");
                return;
            }
            used += (size_t)snprintf(text + used, capacity - used, "%s%.*s", used ? ", " : "",
                                     (int)size, (const char *)name.p);
        }
    }
}
