// SPDX-License-Identifier: Apache-2.0
// XSpace: each line stays in place and repeats its events, later (offset_ps advanced) and with
// fresh correlation ids (rewrites the stats named correlation_id). Lengths come before contents in
// protobuf, so each line is encoded twice: once to count, once to write.
#include <stdlib.h>
#include <string.h>

#include "grow.h"

struct sink {
    FILE *out; // NULL: count only
    uint64_t bytes;
};

struct message {
    const uint8_t *p, *end;
};

struct field {
    uint32_t number, wire;
    uint64_t value;      // varint
    struct message body; // length-delimited, or the 8/4 raw bytes
    const uint8_t *start;
};

static uint64_t take_varint(struct message *m)
{
    uint64_t v = 0;
    for (int shift = 0; m->p < m->end; shift += 7) {
        uint8_t b = *m->p++;
        v |= (uint64_t)(b & 127) << (shift < 63 ? shift : 63);
        if (b < 128) {
            break;
        }
    }
    return v;
}

static int take_field(struct message *m, struct field *f)
{
    if (m->p >= m->end) {
        return 0;
    }
    f->start = m->p;
    uint64_t tag = take_varint(m);
    f->number = (uint32_t)(tag >> 3);
    f->wire = tag & 7;
    size_t n = f->wire == 1 ? 8 : f->wire == 5 ? 4 : 0;
    if (f->wire == 0) {
        f->value = take_varint(m);
        return 1;
    }
    if (f->wire == 2) {
        n = take_varint(m);
    }
    if (n > (size_t)(m->end - m->p)) {
        grow_die("xplane", "truncated input");
    }
    f->body = (struct message){m->p, m->p + n};
    m->p += n;
    return 1;
}

static void put(struct sink *s, const void *p, size_t n)
{
    if (s->out && n) {
        fwrite(p, 1, n, s->out);
    }
    s->bytes += n;
}

static void put_varint(struct sink *s, uint64_t v)
{
    uint8_t b[10];
    size_t n = 0;
    do {
        b[n++] = (uint8_t)((v & 127) | (v > 127 ? 128 : 0));
    } while (v >>= 7);
    put(s, b, n);
}

static void put_head(struct sink *s, uint32_t number, uint64_t length)
{
    put_varint(s, (uint64_t)number << 3 | 2);
    put_varint(s, length);
}

struct plan {
    uint64_t repeats, corr_stat, corr_stride, period_ps;
};

// Writes a stat, advancing it if it is a correlation id.
static void put_stat(struct sink *s, struct message m, const struct plan *plan, uint64_t k)
{
    struct message copy = m;
    struct field f;
    uint64_t id = 0;
    while (take_field(&copy, &f)) {
        if (f.number == 1) {
            id = f.value;
        }
    }
    while (take_field(&m, &f)) {
        if (id == plan->corr_stat && plan->corr_stat && f.wire == 0 && f.number != 1) {
            put_varint(s, (uint64_t)f.number << 3);
            put_varint(s, f.value + k * plan->corr_stride);
        } else {
            put(s, f.start, (size_t)(m.p - f.start));
        }
    }
}

static void put_event(struct sink *s, struct message m, const struct plan *plan, uint64_t k)
{
    struct field f;
    while (take_field(&m, &f)) {
        if (f.number == 2 && f.wire == 0) {
            put_varint(s, 2 << 3);
            put_varint(s, f.value + k * plan->period_ps);
        } else if (f.number == 4 && f.wire == 2) {
            struct sink count = {0};
            put_stat(&count, f.body, plan, k);
            put_head(s, 4, count.bytes);
            put_stat(s, f.body, plan, k);
        } else {
            put(s, f.start, (size_t)(m.p - f.start));
        }
    }
}

static void put_line(struct sink *s, struct message line, const struct plan *plan)
{
    struct field f;
    struct message m = line;
    while (take_field(&m, &f)) {
        if (f.number != 4) {
            put(s, f.start, (size_t)(m.p - f.start));
        }
    }
    for (uint64_t k = 0; k < plan->repeats; k++) {
        for (m = line; take_field(&m, &f);) {
            if (f.number != 4) {
                continue;
            }
            struct sink count = {0};
            put_event(&count, f.body, plan, k);
            put_head(s, 4, count.bytes);
            put_event(s, f.body, plan, k);
        }
    }
}

static void put_plane(struct sink *s, struct message m, const struct plan *plan)
{
    struct field f;
    while (take_field(&m, &f)) {
        if (f.number != 3 || f.wire != 2) {
            put(s, f.start, (size_t)(m.p - f.start));
            continue;
        }
        struct sink count = {0};
        put_line(&count, f.body, plan);
        put_head(s, 3, count.bytes);
        put_line(s, f.body, plan);
    }
}

// Id of the stat named correlation_id in this plane, 0 if none.
static uint64_t find_corr_stat(struct message m)
{
    struct field f, entry, meta;
    while (take_field(&m, &f)) {
        if (f.number != 5 || f.wire != 2) {
            continue;
        }
        uint64_t key = 0;
        struct message body = {0};
        while (take_field(&f.body, &entry)) {
            if (entry.number == 1) {
                key = entry.value;
            } else if (entry.number == 2) {
                body = entry.body;
            }
        }
        while (take_field(&body, &meta)) {
            if (meta.number == 2 && meta.body.end - meta.body.p == 14 &&
                !memcmp(meta.body.p, "correlation_id", 14)) {
                return key;
            }
        }
    }
    return 0;
}

// Longest offset + duration over all lines: the period of the repeats.
static uint64_t find_span_ps(struct message space)
{
    struct field plane, line, event, part;
    uint64_t span = 1;
    while (take_field(&space, &plane)) {
        if (plane.number != 1) {
            continue;
        }
        while (take_field(&plane.body, &line)) {
            if (line.number != 3 || line.wire != 2) {
                continue;
            }
            while (take_field(&line.body, &event)) {
                uint64_t offset = 0, dur = 0;
                if (event.number != 4 || event.wire != 2) {
                    continue;
                }
                while (take_field(&event.body, &part)) {
                    offset = part.number == 2 ? part.value : offset;
                    dur = part.number == 3 ? part.value : dur;
                }
                span = offset + dur > span ? offset + dur : span;
            }
        }
    }
    return span + 1000000;
}

static void put_space(struct sink *s, struct message m, struct plan *plan)
{
    struct field f;
    while (take_field(&m, &f)) {
        if (f.number != 1 || f.wire != 2) {
            put(s, f.start, (size_t)(m.p - f.start));
            continue;
        }
        plan->corr_stat = find_corr_stat(f.body);
        struct sink count = {0};
        put_plane(&count, f.body, plan);
        put_head(s, 1, count.bytes);
        put_plane(s, f.body, plan);
    }
}

uint64_t grow_xplane(const uint8_t *in, size_t size, FILE *out, uint64_t target_bytes)
{
    struct message space = {in, in + size};
    struct plan plan = {.repeats = 2, .corr_stride = 1u << 26, .period_ps = find_span_ps(space)};
    struct sink twice = {0}, s = {.out = out};
    put_space(&twice, space, &plan);
    uint64_t each = twice.bytes > size ? twice.bytes - size : 1; // names are not repeated
    plan.repeats = target_bytes > size ? (target_bytes - size) / each + 2 : 1;
    put_space(&s, space, &plan);
    return plan.repeats;
}
