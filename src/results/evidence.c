// SPDX-License-Identifier: Apache-2.0
// The sentence of a row of evidence: one walk over its text. The build checked it
// (cmake/evidence.cmake): braces are closed and contain the row's values.
#include "results/evidence.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/human.h"
#include "base/text.h"

#define MOST_BYTES 1e18 // larger rates are meaningless
#define MOST_SHARE 1e6  // and so are larger shares
#define TO "–"

struct writer {
    const struct stk_evidence_row *row;
    const union stk_amount *amounts;
    char *to; // NULL: only counted
    size_t n;
};

enum stk_type stk_unit_type(enum stk_unit unit)
{
    static const enum stk_type types[] = {
        [STK_UNIT_NS] = STK_TYPE_NS,
        [STK_UNIT_BYTES] = STK_TYPE_BYTES,
        [STK_UNIT_BYTES_PER_S] = STK_TYPE_RATIO,
        [STK_UNIT_SHARE] = STK_TYPE_RATIO,
        [STK_UNIT_PERCENT] = STK_TYPE_RATIO,
        [STK_UNIT_COUNT] = STK_TYPE_COUNT,
        [STK_UNIT_NUMBER] = STK_TYPE_NUMBER,
        [STK_UNIT_ROUND] = STK_TYPE_RATIO,
        [STK_UNIT_RATIO] = STK_TYPE_RATIO,
        [STK_UNIT_TEXT] = STK_TYPE_TEXT,
        [STK_UNIT_ID] = STK_TYPE_TEXT,
        [STK_UNIT_FLAG] = STK_TYPE_BOOL,
    };
    return types[unit];
}

bool stk_amount_known(enum stk_unit unit, union stk_amount is)
{
    switch (stk_type_info(stk_unit_type(unit))->holds) {
    case STK_HOLDS_NUMBER:
        return is.whole != STK_NOT_KNOWN;
    case STK_HOLDS_TEXT:
        return is.text != NULL;
    case STK_HOLDS_TRUTH:
        return is.flag;
    default:
        return isfinite(is.real) && is.real != (double)STK_NOT_KNOWN;
    }
}

static void put(struct writer *w, const char *text, size_t n)
{
    if (w->to) {
        memcpy(w->to + w->n, text, n);
    }
    w->n += n;
}

static void put_figure(struct writer *w, enum stk_unit unit, union stk_amount is)
{
    char text[STK_HUMAN_MAX] = "";
    switch (unit) {
    case STK_UNIT_NS:
        stk_human_ns(is.whole, text);
        break;
    case STK_UNIT_BYTES:
        stk_human_bytes(is.count, text);
        break;
    case STK_UNIT_BYTES_PER_S:
        stk_human_bytes(is.real > 0 ? (uint64_t)fmin(is.real, MOST_BYTES) : 0, text);
        put(w, text, strlen(text));
        put(w, "/s", 2);
        return;
    case STK_UNIT_SHARE:
        stk_human_share(is.real, text);
        break;
    case STK_UNIT_PERCENT:
        snprintf(text, sizeof text, "%d%%", (int)(fmin(fmax(is.real, 0), MOST_SHARE) * 100 + 0.5));
        break;
    case STK_UNIT_COUNT:
        stk_human_count(is.count, text);
        break;
    case STK_UNIT_NUMBER:
        snprintf(text, sizeof text, "%" PRId64, is.whole);
        break;
    case STK_UNIT_ROUND:
        stk_text_printf(text, sizeof text, "%.0f", is.real);
        break;
    case STK_UNIT_RATIO:
        stk_text_printf(text, sizeof text, "%.3g", is.real);
        break;
    case STK_UNIT_TEXT:
    case STK_UNIT_ID:
        put(w, is.text ? is.text : "", is.text ? strlen(is.text) : 0);
        return;
    case STK_UNIT_FLAG:
        return;
    }
    put(w, text, strlen(text));
}

// Index of the value in this brace.
static uint32_t value_at(const struct writer *w, const char *brace)
{
    size_t n = strcspn(brace + 1, "|}");
    uint32_t i = 0;
    while (strlen(w->row->values[i].name) != n ||
           memcmp(w->row->values[i].name, brace + 1, n) != 0) {
        i++;
        STK_ASSERT(i < w->row->count);
    }
    return i;
}

// In a range of shares, "10–66%", only the second one has a percent sign.
static bool begins_range(enum stk_unit unit, const char *rest)
{
    return unit == STK_UNIT_SHARE && strncmp(rest, TO "{", strlen(TO "{")) == 0;
}

// Text and values from `at` to `end`, without optional parts.
static void put_part(struct writer *w, const char *at, const char *end)
{
    while (at < end) {
        size_t n = strcspn(at, "{");
        n = n < (size_t)(end - at) ? n : (size_t)(end - at);
        put(w, at, n);
        at += n;
        if (at == end) {
            return;
        }
        uint32_t i = value_at(w, at);
        const char *close = strchr(at, '}'), *one = at + strcspn(at, "|}");
        if (*one == '|') {
            const char *many = one + 1 + strcspn(one + 1, "|");
            bool is_one = w->amounts[i].whole == 1;
            put(w, is_one ? one + 1 : many + 1, (size_t)(is_one ? many - one : close - many) - 1);
        } else {
            put_figure(w, w->row->values[i].unit, w->amounts[i]);
            w->n -= begins_range(w->row->values[i].unit, close + 1);
        }
        at = close + 1;
    }
}

// The bar or bracket that ends the part.
static const char *end_of(const char *part)
{
    while (*part != '|' && *part != ']') {
        STK_ASSERT(*part);
        part = *part == '{' ? strchr(part, '}') + 1 : part + 1;
    }
    return part;
}

static bool is_known(const struct writer *w, const char *at, const char *end)
{
    for (; at < end; at++) {
        uint32_t i = *at == '{' ? value_at(w, at) : 0;
        if (*at == '{' && !stk_amount_known(w->row->values[i].unit, w->amounts[i])) {
            return false;
        }
    }
    return true;
}

// Writes the first part between brackets whose values are known; returns the text after the
// brackets.
static const char *put_choice(struct writer *w, const char *at)
{
    bool is_put = false;
    while (*at != ']') { // at the opening bracket, or a bar
        const char *part = at + 1;
        at = end_of(part);
        if (!is_put && is_known(w, part, at)) {
            put_part(w, part, at);
            is_put = true;
        }
    }
    return at + 1;
}

size_t stk_evidence_write(const struct stk_evidence_row *row, const union stk_amount *amounts,
                          char *to)
{
    struct writer w = {row, amounts, to, 0};
    const char *at = row->sentence;
    while (*at) {
        size_t n = strcspn(at, "[");
        put_part(&w, at, at + n);
        at += n;
        at = *at == '[' ? put_choice(&w, at) : at;
    }
    if (to) {
        to[w.n] = 0;
    }
    return w.n;
}
