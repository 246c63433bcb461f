// SPDX-License-Identifier: Apache-2.0
// Splits CSV. 64 bytes at a time become a word whose bits mark the characters that may end a field;
// fields are then found bit by bit, without reading the bytes in between.
#include "engine/formats/csv.h"

#include "base/assert.h"
#include "base/cpu.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

uint64_t stk_csv_mask_plain(const uint8_t p[64], uint8_t delim, bool has_quotes)
{
    uint8_t quote = has_quotes ? '"' : '\n';
    uint64_t mask = 0;
    for (int i = 0; i < 64; i++) {
        bool hit = p[i] == delim || p[i] == '\n' || p[i] == '\r' || p[i] == quote;
        mask |= (uint64_t)hit << i;
    }
    return mask;
}

#if defined(__SSE2__)
uint64_t stk_csv_mask(const uint8_t p[64], uint8_t delim, bool has_quotes)
{
    if (!stk_cpu_has(STK_CPU_SSE2)) {
        return stk_csv_mask_plain(p, delim, has_quotes);
    }
    __m128i d = _mm_set1_epi8((char)delim), q = _mm_set1_epi8(has_quotes ? '"' : '\n'),
            n = _mm_set1_epi8('\n'), r = _mm_set1_epi8('\r');
    uint64_t mask = 0;
    for (int i = 0; i < 4; i++) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
        __m128i hit = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, d), _mm_cmpeq_epi8(v, q)),
                                   _mm_or_si128(_mm_cmpeq_epi8(v, n), _mm_cmpeq_epi8(v, r)));
        mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(hit) << (16 * i);
    }
    return mask;
}
#else
uint64_t stk_csv_mask(const uint8_t p[64], uint8_t delim, bool has_quotes)
{
    return stk_csv_mask_plain(p, delim, has_quotes);
}
#endif

static void load(struct stk_csv_scan *s)
{
    STK_ASSERT(s->base <= s->end);
    s->mask = stk_csv_mask(s->base, s->delim, s->has_quotes);
    if (s->end - s->base < 64) {
        s->mask &= ((uint64_t)1 << (s->end - s->base)) - 1;
    }
}

void stk_csv_start(struct stk_csv_scan *s, const uint8_t *data, const uint8_t *end)
{
    STK_ASSERT(data <= end);
    s->at = s->base = data;
    s->end = end;
    s->mask = 0;
    if (data < end) {
        load(s);
    }
}

// Skips past the next special character and returns its place, or the end.
static const uint8_t *pass(struct stk_csv_scan *s)
{
    while (!s->mask) {
        if (s->end - s->base <= 64) {
            return s->end;
        }
        s->base += 64;
        load(s);
    }
    const uint8_t *hit = s->base + __builtin_ctzll(s->mask);
    s->mask &= s->mask - 1;
    return hit;
}

enum stop { FIELD, ROW, SHORT };

// What the special character at `hit` ends. Skips the whole line end.
static enum stop stop_at(struct stk_csv_scan *s, const uint8_t *hit, bool is_last)
{
    if (hit == s->end) {
        s->at = hit;
        return is_last ? ROW : SHORT;
    }
    s->at = hit + 1;
    if (*hit == s->delim) {
        return FIELD;
    }
    if (*hit == '\r') {
        if (s->at == s->end && !is_last) {
            return SHORT; // a \n may follow
        }
        if (s->at < s->end && *s->at == '\n') {
            s->at = pass(s) + 1;
        }
    }
    return ROW;
}

static enum stop take_plain(struct stk_csv_scan *s, bool is_last, struct stk_csv_field *f,
                            const char **why)
{
    f->data = s->at;
    f->is_escaped = false;
    const uint8_t *hit = pass(s);
    while (hit < s->end && *hit == '"' && s->has_quotes && s->delim != '"') {
        *why = *why ? *why : "a quote inside an unquoted field";
        hit = pass(s);
    }
    f->size = (size_t)(hit - f->data);
    return stop_at(s, hit, is_last);
}

static enum stop take_quoted(struct stk_csv_scan *s, bool is_last, struct stk_csv_field *f,
                             const char **why)
{
    f->data = s->at + 1;
    f->is_escaped = false;
    (void)pass(s); // the quote
    for (;;) {
        const uint8_t *hit = pass(s);
        if (hit == s->end) {
            s->at = hit;
            *why = *why || !is_last ? *why : "the file ends inside quotes";
            f->size = 0;
            return is_last ? ROW : SHORT;
        }
        if (*hit != '"') {
            continue;
        }
        f->size = (size_t)(hit - f->data);
        if (hit + 1 == s->end) {
            s->at = s->end;
            return is_last ? ROW : SHORT;
        }
        if (hit[1] == s->delim || hit[1] == '\n' || hit[1] == '\r') {
            return stop_at(s, pass(s), is_last);
        }
        if (hit[1] == '"') {
            (void)pass(s);
            f->is_escaped = true;
        } else {
            *why = *why ? *why : "a quote inside quotes that is not doubled";
        }
    }
}

// Takes unquoted fields that end at a delimiter, from the n-th on. Returns the number of the first
// field that isn't one, or that the buffer doesn't hold whole yet.
static size_t take_simple(struct stk_csv_scan *s, struct stk_csv_field *fields, size_t n,
                          size_t capacity)
{
    const uint8_t *at = s->at;
    uint8_t delim = s->delim;
    while (n < capacity) {
        while (!s->mask && s->end - s->base > 64) {
            s->base += 64;
            load(s);
        }
        uint64_t mask = s->mask;
        const uint8_t *base = s->base;
        for (; mask && n < capacity; mask &= mask - 1) {
            const uint8_t *hit = base + __builtin_ctzll(mask);
            if (*hit != delim) {
                break;
            }
            fields[n++] = (struct stk_csv_field){at, (size_t)(hit - at), false};
            at = hit + 1;
        }
        s->mask = mask;
        if (mask || s->end - s->base <= 64) {
            break;
        }
    }
    s->at = at;
    return n;
}

bool stk_csv_row(struct stk_csv_scan *s, bool is_last, struct stk_csv_field *fields,
                 size_t capacity, size_t *count, const char **why)
{
    STK_ASSERT(s->at <= s->end);
    const uint8_t *first = s->at;
    enum stop stop = FIELD;
    struct stk_csv_field spare;
    size_t n = 0;
    *why = NULL;
    if (s->at == s->end) {
        return false;
    }
    while (stop == FIELD) {
        n = take_simple(s, fields, n, capacity);
        struct stk_csv_field *f = n < capacity ? &fields[n] : &spare;
        bool is_quoted = s->has_quotes && s->at < s->end && *s->at == '"';
        stop = (is_quoted ? take_quoted : take_plain)(s, is_last, f, why);
        n++;
    }
    *count = n;
    if (stop == SHORT) {
        stk_csv_start(s, first, s->end);
    }
    return stop == ROW;
}

size_t stk_csv_unescape(const struct stk_csv_field *field, uint8_t *out)
{
    size_t n = 0;
    for (size_t i = 0; i < field->size; i++) {
        out[n++] = field->data[i];
        i += field->data[i] == '"' && i + 1 < field->size && field->data[i + 1] == '"';
    }
    return n;
}
