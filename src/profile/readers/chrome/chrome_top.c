// SPDX-License-Identifier: Apache-2.0
// The outer shape of a trace: an object with the array `traceEvents` anywhere in it, or that array
// alone. Events go to the stager; a few other top-level values are kept, the rest is skipped.
//
// The text comes in pieces. A unit (an event, or a key with a value that is kept) is read only when
// it is complete; the rest is offered again with more text after it. Every decision depends only on
// the unit's own bytes, so the result doesn't depend on where the file was cut.
//
// Repaired (json-repaired): a damaged key or value outside the events, commas between events, text
// after the end. Skipped (json-skipped): text between the end of the last good event and the
// start of the next. A file that ends inside (truncated) keeps everything before.
#include "base/assert.h"
#include "profile/readers/chrome/chrome_run.h"

#define UNIT_MAX (4u << 20) // a key with its space, a value that is kept

struct reader {
    struct stk_chrome_place *place;
    struct stk_chrome_stager *s;
    struct stk_chrome_cursor *c;
    const struct stk_chrome_text *text;
    size_t at;
    bool wait; // the unit at `at` needs more text
};

static const struct {
    const char *key;
    enum stk_chrome_capture capture;
} captures[] = {
    {"deviceProperties", STK_CHROME_DEVICES},
    {"distributedInfo", STK_CHROME_DISTRIBUTED},
    {"baseTimeNanoseconds", STK_CHROME_BASE_TIME},
    {"host_name", STK_CHROME_HOST_NAME},
    {"schemaVersion", STK_CHROME_SCHEMA},
    {"hip_runtime_version", STK_CHROME_HIP},
    {"hip_driver_version", STK_CHROME_HIP},
    {"roctracer_version", STK_CHROME_HIP},
    {"cuda_runtime_version", STK_CHROME_CUDA},
    {"stoker", STK_CHROME_TOLD},
    {"WARNING", STK_CHROME_WARNING},
    {"ERROR", STK_CHROME_ERROR},
};

static void repaired(struct reader *r, size_t at)
{
    stk_chrome_stage_issue(r->s, STK_ISSUE_JSON_REPAIRED, 0, r->text->pos + at, STK_STR(""));
}

static size_t skip_space(const struct reader *r, size_t at)
{
    return stk_chrome_skip_space(r->text->p, r->text->len, at);
}

static void read_start(struct reader *r)
{
    const char *p = r->text->p;
    if (r->text->pos == 0 && r->at == 0) {
        if (r->text->len < 3 && !r->text->last) {
            r->wait = true;
            return;
        }
        if (r->text->len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) {
            r->at = 3;
        }
    }
    r->at = skip_space(r, r->at);
    if (r->at >= r->text->len) {
        return;
    }
    char c = p[r->at];
    if (c == '{') {
        r->place->at = STK_CHROME_AT_KEYS;
    } else if (c == '[') {
        *r->place = stk_chrome_place_events();
        r->place->bare_array = true;
    } else {
        r->place->at = STK_CHROME_AT_FOREIGN;
    }
    r->at++;
}

// ---- top-level keys ----

static void begin_skip(struct reader *r)
{
    r->place->at = STK_CHROME_AT_SKIP;
    r->place->skip_depth = 0;
    r->place->skip_string = false;
}

// The end of the value at `at`; 0 if the text ends first, SIZE_MAX if it is broken.
static size_t value_end(const struct reader *r, size_t at)
{
    STK_ASSERT(at <= r->text->len);
    struct stk_chrome_lexer x;
    stk_chrome_lexer_init(&x, r->text->p, r->text->len, at);
    do {
        enum stk_chrome_token t = stk_chrome_lexer_next(&x);
        if (t == STK_CHROME_TOK_CUT) {
            return 0;
        }
        if (t == STK_CHROME_TOK_BROKEN) {
            return SIZE_MAX;
        }
    } while (x.depth > 0);
    return x.pos;
}

static bool capture_value(struct reader *r, struct stk_str key, size_t value)
{
    for (size_t i = 0; i < sizeof captures / sizeof *captures; i++) {
        if (!stk_str_eq(key, stk_str_from(captures[i].key))) {
            continue;
        }
        size_t end = value_end(r, value);
        if (end == 0 && !r->text->last && r->text->len - value <= UNIT_MAX) {
            r->wait = true;
            return true;
        }
        if (end == 0 || end == SIZE_MAX || end - value > UNIT_MAX) {
            return false;
        }
        r->s->captures[captures[i].capture] = (struct stk_str){r->text->p + value, end - value};
        r->at = end;
        return true;
    }
    return false;
}

// Where the value of the key at r->at begins; 0 if it isn't a key; *wait if the text ends first.
static size_t find_value(struct reader *r, struct stk_str *key)
{
    const char *p = r->text->p;
    const size_t left = r->text->len - r->at;
    const size_t stop = left > UNIT_MAX ? r->at + UNIT_MAX : r->text->len;
    size_t i = r->at + 1;
    while (i < stop && p[i] != '"') {
        i += p[i] == '\\' ? 2 : 1;
    }
    size_t value = i < stop ? stk_chrome_skip_space(p, stop, i + 1) : stop;
    if (value < stop && p[value] != ':') {
        return 0;
    }
    value = value < stop ? stk_chrome_skip_space(p, stop, value + 1) : stop;
    if (value < stop) {
        *key = (struct stk_str){p + r->at + 1, i - r->at - 1};
        return value;
    }
    r->wait = left <= UNIT_MAX;
    return 0;
}

// A garbage byte between the top-level values; consecutive ones count once.
static void garbage(struct reader *r)
{
    if (!r->place->in_garbage) {
        repaired(r, r->at);
    }
    r->place->in_garbage = true;
    r->at++;
}

static void read_key(struct reader *r)
{
    struct stk_str key;
    size_t value = find_value(r, &key);
    if (r->wait) {
        return;
    }
    if (value == 0) { // not a key: the quote is left over from damage
        garbage(r);
        return;
    }
    r->place->in_garbage = false;
    if (stk_str_eq(key, STK_STR("traceEvents")) && r->text->p[value] == '[') {
        r->place->at = STK_CHROME_AT_EVENTS;
        r->place->seen_events = true;
        r->place->seen_comma = true;
        r->at = value + 1;
        return;
    }
    if (capture_value(r, key, value)) {
        return;
    }
    r->at = value;
    begin_skip(r);
}

static void read_keys(struct reader *r)
{
    r->at = skip_space(r, r->at);
    if (r->at >= r->text->len) {
        return;
    }
    char c = r->text->p[r->at];
    if (c == '"') {
        read_key(r);
    } else if (c == '}') {
        r->place->at = STK_CHROME_AT_END;
        r->at++;
    } else if (c == ',') {
        r->place->in_garbage = false;
        r->at++;
    } else {
        garbage(r);
    }
}

// At a quote: the key of the events, its colon and bracket? 1 yes, 0 no, -1 the text ends.
static int is_events_key(const struct reader *r)
{
    static const char key[] = "\"traceEvents\"";
    const size_t n = sizeof key - 1, left = r->text->len - r->at;
    if (memcmp(r->text->p + r->at, key, left < n ? left : n) != 0) {
        return 0;
    }
    size_t stop = r->at + n + 64 < r->text->len ? r->at + n + 64 : r->text->len;
    size_t colon = left < n ? r->text->len : stk_chrome_skip_space(r->text->p, stop, r->at + n);
    if (colon < stop && r->text->p[colon] != ':') {
        return 0;
    }
    size_t bracket = colon < stop ? stk_chrome_skip_space(r->text->p, stop, colon + 1) : stop;
    if (bracket < stop) {
        return r->text->p[bracket] == '[';
    }
    return stop < r->text->len ? 0 : -1;
}

// A quote in a value that is skipped. If the value seems to contain the events, its quotes or
// brackets are damaged: leave the value here.
static bool skip_quote(struct reader *r)
{
    int found = r->place->seen_events ? 0 : is_events_key(r);
    if (found < 0 && !r->text->last) {
        r->wait = true;
        return false;
    }
    if (found > 0) {
        repaired(r, r->at);
        r->place->at = STK_CHROME_AT_KEYS;
        return false;
    }
    r->place->skip_string = !r->place->skip_string;
    return true;
}

static void read_skip(struct reader *r)
{
    struct stk_chrome_place *place = r->place;
    for (; r->at < r->text->len; r->at++) {
        char c = r->text->p[r->at];
        if (c == '"') {
            if (!skip_quote(r)) {
                return;
            }
        } else if (place->skip_string) {
            if (c != '\\') {
                continue;
            }
            if (r->at + 1 == r->text->len && !r->text->last) {
                r->wait = true;
                return;
            }
            r->at++;
        } else if (c == '{' || c == '[') {
            place->skip_depth++;
        } else if (c == '}' || c == ']' || c == ',') {
            if (place->skip_depth == 0) { // of the top-level object
                place->at = STK_CHROME_AT_KEYS;
                return;
            }
            place->skip_depth -= c != ',';
            if (place->skip_depth == 0) {
                r->at++;
                place->at = STK_CHROME_AT_KEYS;
                return;
            }
        }
    }
}

// ---- events ----

// Give up on the unit at r->at and search for the next event.
static void lose(struct reader *r, size_t from)
{
    STK_ASSERT(r->at < r->text->len);
    STK_ASSERT(from <= r->text->len);
    stk_chrome_stage_issue(r->s, STK_ISSUE_JSON_SKIPPED, 1, r->text->pos + r->at, STK_STR(""));
    r->s->counts.by_kind[STK_KIND_OTHER]++;
    r->place->at = STK_CHROME_AT_LOST;
    r->place->before = r->text->p[r->at];
    r->at = from;
}

static void read_lost(struct reader *r)
{
    const char *p = r->text->p;
    for (; r->at < r->text->len; r->at++) {
        char c = p[r->at];
        if (c == '{') {
            int starts = stk_chrome_is_event_start(p, r->text->len, r->at, r->place->before);
            if (starts < 0 && !r->text->last) {
                r->wait = true;
                return;
            }
            if (starts > 0) {
                r->place->at = STK_CHROME_AT_EVENTS;
                r->place->seen_comma = true;
                return;
            }
        }
        if (!stk_chrome_is_space(c)) {
            r->place->before = c;
        }
    }
}

// The slow way, for an event that the fast way rejected.
static bool read_event_slowly(struct reader *r, struct stk_chrome_raw *raw, size_t *end)
{
    unsigned repairs = 0;
    enum stk_chrome_result res =
        stk_chrome_event_slow(r->text->p, r->text->len, r->at, raw, end, &repairs);
    if (res == STK_CHROME_MORE) {
        r->wait = true;
        return false;
    }
    if (res == STK_CHROME_BAD) {
        lose(r, r->at + 1);
        return false;
    }
    for (; repairs > 0; repairs--) {
        repaired(r, r->at);
    }
    return true;
}

// Events from the brace at r->at on, while the next one follows in the usual way.
static void read_events_run(struct reader *r)
{
    const char *p = r->text->p;
    struct stk_chrome_raw raw;
    stk_chrome_cursor_set(r->c, p, r->text->len, r->at);
    for (;;) {
        size_t start = r->at, end = 0;
        bool slow = false;
        if (stk_chrome_cursor_next(r->c) != start) {
            return; // can't happen: there is a brace
        }
        enum stk_chrome_result res = stk_chrome_event_fast(r->c, start, &raw, &end);
        if (res == STK_CHROME_MORE && !r->text->last &&
            r->text->len - start <= STK_CHROME_FAST_BYTES) {
            r->wait = true;
            return;
        }
        if (res != STK_CHROME_OK) {
            if (!read_event_slowly(r, &raw, &end)) {
                return;
            }
            slow = true;
        }
        raw.pos = r->text->pos + start;
        stk_chrome_stage_event(r->s, &raw);
        r->place->seen_comma = false;
        r->at = end;
        if (slow) {
            return;
        }
        // The usual: a comma, space, a brace.
        size_t i = end;
        if (stk_chrome_is_space(p[i])) {
            i = skip_space(r, i);
        }
        if (p[i] != ',') {
            return;
        }
        i++;
        if (stk_chrome_is_space(p[i])) {
            i = skip_space(r, i + 1);
        }
        if (i >= r->text->len || p[i] != '{') {
            return;
        }
        r->place->seen_comma = true;
        r->at = i;
    }
}

static void read_events(struct reader *r)
{
    r->at = skip_space(r, r->at);
    if (r->at >= r->text->len) {
        return;
    }
    char c = r->text->p[r->at];
    if (c == '{') {
        if (!r->place->seen_comma) {
            repaired(r, r->at);
        }
        r->place->seen_comma = true; // counted, should the event be offered again
        read_events_run(r);
    } else if (c == ',') {
        if (r->place->seen_comma) {
            repaired(r, r->at);
        }
        r->place->seen_comma = true;
        r->at++;
    } else if (c == ']') {
        r->place->at = r->place->bare_array ? STK_CHROME_AT_END : STK_CHROME_AT_KEYS;
        r->at++;
    } else {
        lose(r, r->at + 1);
    }
}

static void read_end(struct reader *r)
{
    r->at = skip_space(r, r->at);
    if (r->at >= r->text->len) {
        return;
    }
    if (!r->place->complained) {
        repaired(r, r->at);
    }
    r->place->complained = true;
    r->at = r->text->len;
}

size_t stk_chrome_consume(struct stk_chrome_place *place, struct stk_chrome_stager *s,
                          struct stk_chrome_cursor *c, const struct stk_chrome_text *text)
{
    STK_ASSERT(text->p || text->len == 0);
    STK_ASSERT(place && s);
    struct reader r = {.place = place, .s = s, .c = c, .text = text};
    static void (*const read[])(struct reader *) = {
        [STK_CHROME_AT_START] = read_start, [STK_CHROME_AT_KEYS] = read_keys,
        [STK_CHROME_AT_SKIP] = read_skip,   [STK_CHROME_AT_EVENTS] = read_events,
        [STK_CHROME_AT_LOST] = read_lost,   [STK_CHROME_AT_END] = read_end};
    // An escape at the very end steps over it.
    while (r.at < text->len && !r.wait && !s->failed && place->at != STK_CHROME_AT_FOREIGN) {
        read[place->at](&r);
    }
    if (place->at == STK_CHROME_AT_FOREIGN) {
        r.at = text->len;
    }
    return r.at < text->len ? r.at : text->len;
}

// ---- cuts ----

#define CUT_WITHIN (128u << 10)

static size_t back_over_space(const char *text, size_t i)
{
    while (i > 0 && stk_chrome_is_space(text[i - 1])) {
        i--;
    }
    return i;
}

size_t stk_chrome_find_cut(const char *text, size_t len)
{
    const size_t stop = len > CUT_WITHIN ? len - CUT_WITHIN : 0;
    for (size_t i = len; i-- > stop;) {
        if (text[i] != '{') {
            continue;
        }
        size_t comma = back_over_space(text, i);
        if (comma == 0 || text[comma - 1] != ',') {
            continue;
        }
        size_t brace = back_over_space(text, comma - 1);
        if (brace == 0 || text[brace - 1] != '}') {
            continue;
        }
        size_t quote = stk_chrome_skip_space(text, len, i + 1);
        if (quote < len && text[quote] == '"') {
            return i;
        }
    }
    return 0;
}
