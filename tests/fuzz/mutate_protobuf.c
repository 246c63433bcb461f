// SPDX-License-Identifier: Apache-2.0
// libFuzzer's mutator for formats made of protocol buffers (xplane, perfetto): one field, at any
// depth, is changed, left out, given twice, or put in another's place, and the lengths around it
// are written anew. Bytes changed at random break the length of some message first of all, and are
// not read beyond it.
//
// Limits: a payload that can be read as a message is taken for one, text too. One mutation in four
// is libFuzzer's own, on the bytes as they are: broken lengths are inputs as well.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { FIELDS_MAX = 32768, DEPTH_MAX = 8, VARINT_MAX = 10, ROOM = 1 << 20 };

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

// One field of a message: its tag is at [begin, value), what follows the tag at [value, end), and
// its payload, where it has a length, at [payload, end). parent: the field whose message it is in.
struct field {
    uint32_t begin, value, payload, end;
    int32_t parent;
    uint32_t wire;
};
static struct field fields[FIELDS_MAX];
static int32_t field_count;

static uint64_t random_state;

static uint32_t choose(uint32_t below) // xorshift: Marsaglia 2003
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32) % below;
}

// Bytes that the varint at p takes; 0 where it does not end.
static uint32_t get_varint(const uint8_t *p, uint32_t n, uint64_t *value)
{
    *value = 0;
    for (uint32_t i = 0; i < n && i < VARINT_MAX; i++) {
        *value |= i < 9 || p[i] < 2 ? (uint64_t)(p[i] & 127) << (7 * i) : 0;
        if (p[i] < 128) {
            return i + 1;
        }
    }
    return 0;
}

static uint32_t put_varint(uint8_t *p, uint64_t value)
{
    uint32_t n = 0;
    for (; value > 127; value >>= 7) {
        p[n++] = (uint8_t)(value | 128);
    }
    p[n++] = (uint8_t)value;
    return n;
}

// The field at `at` of a message that ends at `end`; false where there is none.
static bool read_field(const uint8_t *p, uint32_t at, uint32_t end, struct field *f)
{
    uint64_t tag, value;
    uint32_t n = get_varint(p + at, end - at, &tag);
    if (n == 0 || tag >> 3 == 0 || tag >> 3 > 1 << 20) {
        return false;
    }
    *f = (struct field){.begin = at, .value = at + n, .payload = at + n, .wire = tag & 7};
    switch (f->wire) {
    case 0:
        n = get_varint(p + f->value, end - f->value, &value);
        f->end = f->value + n;
        return n > 0;
    case 1:
    case 5:
        f->end = f->value + (f->wire == 1 ? 8 : 4);
        return f->end <= end;
    case 2:
        n = get_varint(p + f->value, end - f->value, &value);
        f->payload = f->value + n;
        f->end = f->payload + (uint32_t)value;
        return n > 0 && value <= end - f->payload;
    default:
        return false;
    }
}

// The fields of the message at [begin, end), and of the messages in it, an outer one before its
// inner ones. False, and none of them is kept, where the bytes are no message.
static bool find_fields(const uint8_t *p, uint32_t begin, uint32_t end, int32_t parent, int depth)
{
    int32_t first = field_count;
    for (uint32_t at = begin; at < end;) {
        struct field f;
        if (field_count == FIELDS_MAX || !read_field(p, at, end, &f)) {
            field_count =
                parent < 0 ? field_count : first; // of the input: as far as it can be read
            return false;
        }
        f.parent = parent;
        int32_t own = field_count++;
        fields[own] = f;
        if (f.wire == 2 && f.end > f.payload && depth < DEPTH_MAX) {
            find_fields(p, f.payload, f.end, own, depth + 1);
        }
        at = f.end;
    }
    return true;
}

// [begin, end) of the buffer of *size bytes becomes n other bytes. False where there is no room.
static bool replace(uint8_t *p, size_t *size, size_t max, uint32_t begin, uint32_t end,
                    const uint8_t *bytes, uint32_t n)
{
    if (*size - (end - begin) + n > max) {
        return false;
    }
    memmove(p + begin + n, p + end, *size - end);
    memcpy(p + begin, bytes, n);
    *size = *size - (end - begin) + n;
    return true;
}

// The same, of what lies in the message of `parent`; the lengths of all around it are mended.
static bool splice(uint8_t *p, size_t *size, size_t max, int32_t parent, uint32_t begin,
                   uint32_t end, const uint8_t *bytes, uint32_t n)
{
    uint8_t length[VARINT_MAX];
    int64_t grown = (int64_t)n - (end - begin);
    if (!replace(p, size, max, begin, end, bytes, n)) {
        return false;
    }
    for (; parent >= 0; parent = fields[parent].parent) {
        const struct field *f = &fields[parent];
        uint32_t k = put_varint(length, (uint64_t)((int64_t)(f->end - f->payload) + grown));
        if (!replace(p, size, max, f->value, f->payload, length, k)) {
            return false;
        }
        grown += (int64_t)k - (f->payload - f->value);
    }
    return true;
}

static uint64_t other_number(const uint8_t *p, uint64_t value)
{
    const struct field *f = &fields[choose((uint32_t)field_count)];
    switch (choose(6)) {
    case 0:
        return choose(16);
    case 1:
        return value + choose(8) - 4;
    case 2:
        return (uint64_t)1 << choose(64);
    case 3:
        return value ^ (uint64_t)1 << choose(40);
    case 4:
        return value * 2 / (1 + choose(4));
    default: // as another field has it: references between messages are numbers
        if (f->wire == 0) {
            get_varint(p + f->value, f->end - f->value, &value);
        }
        return value;
    }
}

static bool change_value(uint8_t *p, size_t *size, size_t max, const struct field *f, uint8_t *room)
{
    uint64_t value;
    uint32_t n = f->end - f->payload, head = 0;
    if (f->wire == 0) {
        get_varint(p + f->value, n, &value);
        n = put_varint(room, other_number(p, value));
    } else if (f->wire == 2) {
        uint8_t *payload = room + VARINT_MAX;
        memcpy(payload, p + f->payload, n);
        n = (uint32_t)LLVMFuzzerMutate(payload, n, n + 64);
        head = put_varint(room, n);
        memmove(room + head, payload, n);
    } else {
        memcpy(room, p + f->value, n);
        LLVMFuzzerMutate(room, n, n);
        n = f->end - f->value;
    }
    return splice(p, size, max, f->parent, f->value, f->end, room, head + n);
}

// A field whose tag is the same, if some tries find one; else any.
static const struct field *like(const uint8_t *p, const struct field *f)
{
    const struct field *other = f;
    for (int i = 0; i < 24; i++) {
        other = &fields[choose((uint32_t)field_count)];
        if (other->value - other->begin == f->value - f->begin &&
            memcmp(p + other->begin, p + f->begin, f->value - f->begin) == 0) {
            break;
        }
    }
    return other;
}

static bool mutate_field(uint8_t *p, size_t *size, size_t max, uint8_t *room)
{
    const struct field *f = &fields[choose((uint32_t)field_count)], *other;
    uint32_t n;
    switch (choose(8)) {
    case 0:
        return splice(p, size, max, f->parent, f->begin, f->end, room, 0);
    case 1: // another, or itself, before it
        other = choose(2) ? f : &fields[choose((uint32_t)field_count)];
        n = other->end - other->begin;
        memcpy(room, p + other->begin, n);
        return splice(p, size, max, f->parent, f->begin, f->begin, room, n);
    case 2:
    case 3:
        other = like(p, f);
        n = other->end - other->begin;
        memcpy(room, p + other->begin, n);
        return splice(p, size, max, f->parent, f->begin, f->end, room, n);
    default:
        return change_value(p, size, max, f, room);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    static uint8_t changed[ROOM + 64], room[ROOM + 128];
    random_state = (uint64_t)seed << 16 | 0x9e37;
    choose(2); // seeds are small numbers: the first draws of such are alike
    field_count = 0;
    if (size > ROOM || max > ROOM || choose(4) == 0) {
        return LLVMFuzzerMutate(data, size, max);
    }
    find_fields(data, 0, (uint32_t)size, -1, 0);
    if (field_count == 0) {
        return LLVMFuzzerMutate(data, size, max);
    }
    size_t n = size;
    memcpy(changed, data, size);
    if (!mutate_field(changed, &n, max, room)) {
        return LLVMFuzzerMutate(data, size, max);
    }
    memcpy(data, changed, n);
    return n;
}
