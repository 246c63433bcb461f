// SPDX-License-Identifier: Apache-2.0
// Chrome JSON: the text of the events is split once into literal pieces and numbers that change
// (times, ids, step numbers); each repeat writes the pieces again with the numbers advanced.
// Metadata rows are written once. Assumes that the file is valid JSON with a traceEvents array.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

enum moves { MOVE_NONE, MOVE_TIME, MOVE_ID, MOVE_STEP };

struct piece {
    const uint8_t *text; // literal before the number
    size_t length;
    int64_t value; // the number (times: its integer part)
    enum moves moves;
    int once; // first repeat only (metadata)
};

struct cuts {
    struct piece *pieces;
    size_t count, capacity;
    int64_t first_ts, last_ts, max_id, steps;
};

static void add_piece(struct cuts *c, struct piece p)
{
    if (c->count == c->capacity) {
        c->capacity = c->capacity ? 2 * c->capacity : 1 << 16;
        c->pieces = realloc(c->pieces, c->capacity * sizeof *c->pieces);
        if (!c->pieces) {
            grow_die("json", "out of memory");
        }
    }
    c->pieces[c->count++] = p;
}

static const uint8_t *skip_string(const uint8_t *p, const uint8_t *end)
{
    for (p++; p < end && *p != '"'; p++) {
        p += *p == '\\';
    }
    return p + 1;
}

static enum moves key_moves(const uint8_t *key, size_t n)
{
    static const char *const ids[] = {"correlation", "External id",     "external id",
                                      "id",          "Ev Idx",          "Record function id",
                                      "Python id",   "Python parent id"};
    if (n == 2 && memcmp(key, "ts", 2) == 0) {
        return MOVE_TIME;
    }
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        if (strlen(ids[i]) == n && memcmp(ids[i], key, n) == 0) {
            return MOVE_ID;
        }
    }
    return MOVE_NONE;
}

static void note(struct cuts *c, enum moves moves, int64_t value)
{
    if (moves == MOVE_TIME && value > 0) {
        c->first_ts = value < c->first_ts ? value : c->first_ts;
        c->last_ts = value > c->last_ts ? value : c->last_ts;
    } else if (moves == MOVE_ID && value > c->max_id) {
        c->max_id = value;
    } else if (moves == MOVE_STEP) {
        c->steps++;
    }
}

// Splits one event's text [p, end) at every number that changes.
static void cut_event(struct cuts *c, const uint8_t *p, const uint8_t *end)
{
    const uint8_t *literal = p;
    size_t n = end > p ? (size_t)(end - p) : 0;
    int once = memmem(p, n, "\"ph\": \"M\"", 9) || memmem(p, n, "\"ph\":\"M\"", 8);
    while (p < end && !once) {
        if (*p != '"') {
            p++;
            continue;
        }
        const uint8_t *key = p + 1, *after = skip_string(p, end);
        enum moves moves = key_moves(key, (size_t)(after - key) - 1);
        const uint8_t *number = after;
        if (after - key > 14 && memcmp(key, "ProfilerStep#", 13) == 0) {
            moves = MOVE_STEP;
            number = key + 13;
        } else {
            while (number < end && (*number == ':' || *number == ' ')) {
                number++;
            }
        }
        p = after;
        if (moves == MOVE_NONE || number >= end || *number < '0' || *number > '9') {
            continue;
        }
        char *stop;
        int64_t value = strtoll((const char *)number, &stop, 10);
        add_piece(c, (struct piece){literal, (size_t)(number - literal), value, moves, 0});
        note(c, moves, value);
        literal = (const uint8_t *)stop;
        p = literal > after ? literal : after;
    }
    add_piece(c, (struct piece){literal, (size_t)(end - literal), 0, MOVE_NONE, once});
}

static const uint8_t *event_end(const uint8_t *p, const uint8_t *end)
{
    int depth = 0;
    while (p < end) {
        if (*p == '"') {
            p = skip_string(p, end);
            continue;
        }
        depth += *p == '{' || *p == '[';
        depth -= *p == '}' || *p == ']';
        p++;
        if (depth == 0) {
            return p;
        }
    }
    return end;
}

// Splits all events; returns where the array ends.
static const uint8_t *cut_array(struct cuts *c, const uint8_t *p, const uint8_t *end)
{
    while (p < end && *p != ']') {
        if (*p != '{') {
            p++;
            continue;
        }
        const uint8_t *stop = event_end(p, end);
        cut_event(c, p, stop);
        p = stop;
    }
    return p;
}

static uint64_t write_repeat(const struct cuts *c, uint64_t k, FILE *out)
{
    int64_t period = c->last_ts - c->first_ts + 1000;
    uint64_t bytes = 0;
    int at_start = 1;
    for (size_t i = 0; i < c->count; i++) {
        const struct piece *p = &c->pieces[i];
        if (p->once && k > 0) {
            continue;
        }
        if (at_start && (k > 0 || i > 0)) {
            bytes += fwrite(",\n", 1, 2, out);
        }
        bytes += fwrite(p->text, 1, p->length, out);
        int64_t add = p->moves == MOVE_TIME ? period
                      : p->moves == MOVE_ID ? c->max_id + 1
                                            : c->steps;
        if (p->moves != MOVE_NONE) {
            bytes += (uint64_t)fprintf(
                out, "%" PRId64,
                p->moves == MOVE_ID && p->value == 0 ? 0 : p->value + (int64_t)k * add);
        }
        at_start = p->moves == MOVE_NONE;
    }
    return bytes;
}

uint64_t grow_json(const uint8_t *in, size_t size, FILE *out, uint64_t target_bytes)
{
    const uint8_t *end = in + size;
    const uint8_t *key = memmem(in, size, "\"traceEvents\"", 13);
    const uint8_t *array = key ? memchr(key, '[', (size_t)(end - key)) : memchr(in, '[', size);
    if (!array) {
        grow_die("json", "no traceEvents");
    }
    struct cuts c = {.first_ts = INT64_MAX};
    const uint8_t *tail = cut_array(&c, array + 1, end);
    uint64_t bytes = fwrite(in, 1, (size_t)(array + 1 - in), out), k = 0;
    while (bytes < target_bytes || k == 0) {
        bytes += write_repeat(&c, k++, out);
    }
    fwrite(tail, 1, (size_t)(end - tail), out);
    free(c.pieces);
    return k;
}
