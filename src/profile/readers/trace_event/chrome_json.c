// SPDX-License-Identifier: Apache-2.0
// Forgiving JSON tokens. Repaired and counted: control characters in strings, quotes that should
// have been escaped (a quote ends a string only if what follows could follow a string), missing,
// double and trailing commas, bare words such as N/A, NaN, Infinity. Not repaired: brackets that do
// not match, strings that swallow the next keys of an event. No recursion: brackets are bits.
#include "profile/readers/trace_event/chrome_json.h"

#include "base/alloc.h"
#include "base/assert.h"

void stk_chrome_lexer_init(struct stk_chrome_lexer *x, const char *text, size_t len, size_t pos)
{
    STK_ASSERT(pos <= len);
    memset(x, 0, sizeof *x);
    x->text = text;
    x->len = len;
    x->pos = pos;
}

// Keys that only the event object itself has. "name" and "args" occur inside others too.
static const char *const own_keys[] = {"ph", "ts", "cat", "pid", "tid", "dur"};

static bool is_own_key(const char *p, size_t n)
{
    for (size_t i = 0; i < sizeof own_keys / sizeof *own_keys; i++) {
        if (strlen(own_keys[i]) == n && memcmp(own_keys[i], p, n) == 0) {
            return true;
        }
    }
    return false;
}

// At a quote: end of a short key and its colon. 1 found, 0 not a key, -1 the text ends.
static int short_key(const char *text, size_t len, size_t at, size_t *n)
{
    STK_ASSERT(at < len);
    size_t i = at + 1;
    while (i < len && i - at <= 4 && text[i] != '"') {
        i++;
    }
    if (i >= len) {
        return -1;
    }
    if (text[i] != '"') {
        return 0;
    }
    *n = i - at - 1;
    size_t stop = i + 1 + 64 < len ? i + 1 + 64 : len;
    size_t colon = stk_chrome_skip_space(text, stop, i + 1);
    if (colon >= len) {
        return -1;
    }
    return colon < stop && text[colon] == ':';
}

int stk_chrome_is_event_key(const char *text, size_t len, size_t at)
{
    size_t n = 0;
    int found = short_key(text, len, at, &n);
    if (found != 1) {
        return found;
    }
    return is_own_key(text + at + 1, n) || (n == 4 && memcmp(text + at + 1, "args", 4) == 0);
}

#define PHASE_WITHIN 512 // an event that begins with another key has "ph" within this many bytes

int stk_chrome_is_event_start(const char *text, size_t len, size_t at, char before)
{
    if (before == ':') {
        return 0;
    }
    size_t stop = at + 1 + 256 < len ? at + 1 + 256 : len;
    size_t quote = stk_chrome_skip_space(text, stop, at + 1), n = 0;
    if (quote >= len) {
        return -1;
    }
    if (quote == stop || text[quote] != '"') {
        return 0;
    }
    int found = short_key(text, len, quote, &n);
    if (found != 1) {
        return found;
    }
    if (is_own_key(text + quote + 1, n)) {
        return 1;
    }
    if (n != 4 || (memcmp(text + quote + 1, "name", 4) && memcmp(text + quote + 1, "args", 4))) {
        return 0;
    }
    if (len - at < PHASE_WITHIN + 4) {
        return memmem(text + at, len - at, "\"ph\"", 4) ? 1 : -1;
    }
    return memmem(text + at, PHASE_WITHIN + 4, "\"ph\"", 4) != NULL;
}

static bool is_unescaped(const char *text, size_t start, size_t quote)
{
    STK_ASSERT(start <= quote);
    size_t i = quote;
    while (i > start && text[i - 1] == '\\') {
        i--;
    }
    return (quote - i) % 2 == 0;
}

// Could the quote at `q` end a value? 1 yes, 0 no, -1 the text ends.
static int may_end_value(const struct stk_chrome_lexer *x, size_t q)
{
    size_t i = stk_chrome_skip_space(x->text, x->len, q + 1);
    if (i >= x->len) {
        return -1;
    }
    if (x->text[i] == '}' || x->text[i] == ']') {
        return 1;
    }
    bool object = stk_chrome_lexer_in_object(x);
    if (x->text[i] == ',') {
        if (!object) {
            return 1;
        }
        i = stk_chrome_skip_space(x->text, x->len, i + 1);
        if (i >= x->len) {
            return -1;
        }
        return x->text[i] == '"' || x->text[i] == '}';
    }
    if (x->text[i] != '"' || !object) {
        return 0;
    }
    // A comma is missing if a key follows.
    const char *end = memchr(x->text + i + 1, '"', x->len - i - 1);
    if (!end) {
        return -1;
    }
    size_t colon = stk_chrome_skip_space(x->text, x->len, (size_t)(end - x->text) + 1);
    if (colon >= x->len) {
        return -1;
    }
    return x->text[colon] == ':';
}

static int may_end_key(const struct stk_chrome_lexer *x, size_t q)
{
    size_t i = stk_chrome_skip_space(x->text, x->len, q + 1);
    if (i >= x->len) {
        return -1;
    }
    return x->text[i] == ':';
}

static bool has_control(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)p[i] < 0x20) {
            return true;
        }
    }
    return false;
}

// x->pos is after the opening quote; afterwards, after the closing one.
static enum stk_chrome_token read_string(struct stk_chrome_lexer *x, bool key)
{
    STK_ASSERT(x->pos <= x->len);
    size_t start = x->pos, p = start;
    bool repaired = false;
    for (;;) {
        const char *hit = p < x->len ? memchr(x->text + p, '"', x->len - p) : NULL;
        if (!hit) {
            return STK_CHROME_TOK_CUT;
        }
        size_t q = (size_t)(hit - x->text);
        p = q + 1;
        if (!is_unescaped(x->text, start, q)) {
            continue;
        }
        int ends = key ? may_end_key(x, q) : may_end_value(x, q);
        if (ends < 0) {
            return STK_CHROME_TOK_CUT;
        }
        if (ends) {
            x->str = (struct stk_str){x->text + start, q - start};
            x->pos = q + 1;
            x->repairs += repaired || has_control(x->str.p, x->str.n);
            return key ? STK_CHROME_TOK_KEY : STK_CHROME_TOK_STRING;
        }
        int swallowed = stk_chrome_is_event_key(x->text, x->len, q);
        if (swallowed) {
            return swallowed < 0 ? STK_CHROME_TOK_CUT : STK_CHROME_TOK_BROKEN;
        }
        repaired = true;
    }
}

static bool is_json_word(struct stk_str s)
{
    if (stk_str_eq(s, STK_STR("true")) || stk_str_eq(s, STK_STR("false")) ||
        stk_str_eq(s, STK_STR("null"))) {
        return true;
    }
    for (size_t i = 0; i < s.n; i++) {
        if (!strchr("+-.eE0123456789", s.p[i])) {
            return false;
        }
    }
    return s.n > 0 && s.p[s.n - 1] >= '0' && s.p[s.n - 1] <= '9';
}

static enum stk_chrome_token read_bare(struct stk_chrome_lexer *x)
{
    size_t start = x->pos, i = start;
    while (i < x->len && !stk_chrome_is_space(x->text[i]) && !strchr(",:{}[]\"", x->text[i])) {
        i++;
    }
    if (i >= x->len) {
        return STK_CHROME_TOK_CUT;
    }
    if (i == start) { // a NUL byte, which strchr finds
        return STK_CHROME_TOK_BROKEN;
    }
    x->str = (struct stk_str){x->text + start, i - start};
    x->pos = i;
    x->repairs += !is_json_word(x->str);
    return STK_CHROME_TOK_BARE;
}

static enum stk_chrome_token open_bracket(struct stk_chrome_lexer *x, bool object)
{
    STK_ASSERT(x->depth <= STK_CHROME_DEPTH);
    if (x->depth == STK_CHROME_DEPTH) {
        return STK_CHROME_TOK_BROKEN;
    }
    uint64_t bit = (uint64_t)1 << (x->depth % 64);
    if (object) {
        x->objects[x->depth / 64] |= bit;
    } else {
        x->objects[x->depth / 64] &= ~bit;
    }
    x->depth++;
    x->pos++;
    x->after_value = x->after_comma = x->after_key = false;
    return STK_CHROME_TOK_OPEN;
}

static enum stk_chrome_token close_bracket(struct stk_chrome_lexer *x, bool object)
{
    if (x->depth == 0 || object != stk_chrome_lexer_in_object(x)) {
        return STK_CHROME_TOK_BROKEN;
    }
    x->repairs += x->after_comma || x->after_key;
    x->depth--;
    x->pos++;
    x->after_value = true;
    x->after_comma = x->after_key = false;
    return STK_CHROME_TOK_CLOSE;
}

static enum stk_chrome_token read_key(struct stk_chrome_lexer *x)
{
    x->repairs += x->after_value; // a comma is missing
    x->pos++;
    enum stk_chrome_token t = read_string(x, true);
    if (t != STK_CHROME_TOK_KEY) {
        return t;
    }
    x->pos = stk_chrome_skip_space(x->text, x->len, x->pos) + 1;
    x->after_value = x->after_comma = false;
    x->after_key = true;
    return t;
}

static enum stk_chrome_token read_value(struct stk_chrome_lexer *x, char c)
{
    x->repairs += x->after_value;
    enum stk_chrome_token t;
    if (c == '"') {
        x->pos++;
        t = read_string(x, false);
    } else {
        t = read_bare(x);
    }
    x->after_value = true;
    x->after_comma = x->after_key = false;
    return t;
}

enum stk_chrome_token stk_chrome_lexer_next(struct stk_chrome_lexer *x)
{
    for (;;) {
        x->pos = stk_chrome_skip_space(x->text, x->len, x->pos);
        if (x->pos >= x->len) {
            return STK_CHROME_TOK_CUT;
        }
        char c = x->text[x->pos];
        x->at = x->pos;
        if (c == ',') {
            x->repairs += !x->after_value;
            x->after_comma = x->after_value;
            x->after_value = false;
            x->pos++;
            continue;
        }
        bool object = stk_chrome_lexer_in_object(x);
        if (c == '}' || c == ']') {
            return close_bracket(x, c == '}');
        }
        if (object && !x->after_key) {
            return c == '"' ? read_key(x) : STK_CHROME_TOK_BROKEN;
        }
        if (c == '{' || c == '[') {
            x->repairs += x->after_value;
            return open_bracket(x, c == '{');
        }
        return c == ':' ? STK_CHROME_TOK_BROKEN : read_value(x, c);
    }
}

static size_t put_utf8(char *out, uint32_t c)
{
    if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
        c = 0xfffd;
    }
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 63));
        out[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 63));
    out[2] = (char)(0x80 | (c >> 6 & 63));
    out[3] = (char)(0x80 | (c & 63));
    return 4;
}

// Length of the UTF-8 sequence at p (2-4), 0 if invalid.
static size_t utf8_length(const unsigned char *p, size_t n)
{
    STK_ASSERT(n > 0);
    size_t want = p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 : 0;
    if (p[0] >= 0xf0 && p[0] < 0xf5) {
        want = 4;
    }
    if (want == 0 || want > n) {
        return 0;
    }
    for (size_t i = 1; i < want; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f)) {
        return 0;
    }
    return want;
}

// Four hex digits at p, or -1.
static int32_t read_hex4(const char *p, size_t n)
{
    int32_t v = 0;
    if (n < 4) {
        return -1;
    }
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9'                 ? c - '0'
                    : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                         : -1;
        if (digit < 0) {
            return -1;
        }
        v = v << 4 | digit;
    }
    return v;
}

// raw[0] is a backslash; *used counts the bytes of the escape.
static size_t put_escape(const char *raw, size_t n, char *out, size_t *used)
{
    STK_ASSERT(n > 0 && raw[0] == '\\');
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    *used = n < 2 ? 1 : 2;
    if (n < 2) {
        return put_utf8(out, '\\');
    }
    const char *simple = raw[1] ? strchr(from, raw[1]) : NULL;
    if (simple) {
        return put_utf8(out, (unsigned char)to[simple - from]);
    }
    int32_t high = raw[1] == 'u' ? read_hex4(raw + 2, n - 2) : -1;
    if (high < 0) { // not a JSON escape (a Windows path): keep the backslash
        *used = 1;
        return put_utf8(out, '\\');
    }
    *used = 6;
    if (high >= 0xd800 && high < 0xdc00 && n >= 12 && raw[6] == '\\' && raw[7] == 'u') {
        int32_t low = read_hex4(raw + 8, n - 8);
        if (low >= 0xdc00 && low < 0xe000) {
            *used = 12;
            return put_utf8(out, 0x10000 + (uint32_t)((high - 0xd800) << 10 | (low - 0xdc00)));
        }
    }
    return put_utf8(out, (uint32_t)high);
}

size_t stk_chrome_unescape(const char *raw, size_t n, char *out)
{
    size_t o = 0;
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)raw[i];
        if (c == '\\') {
            size_t used;
            o += put_escape(raw + i, n - i, out + o, &used);
            i += used;
        } else if (c < 0x80) {
            o += put_utf8(out + o, c);
            i++;
        } else {
            size_t k = utf8_length((const unsigned char *)raw + i, n - i);
            if (k == 0) {
                o += put_utf8(out + o, 0xfffd);
                i++;
                continue;
            }
            memcpy(out + o, raw + i, k);
            o += k;
            i += k;
        }
    }
    return o;
}

#define PATH_CAP 1024
struct flattening {
    char path[PATH_CAP];
    size_t path_len;
    size_t marks[STK_CHROME_DEPTH + 1]; // path length at each open bracket
    struct stk_str skip_prefix;
    stk_emit_fn *emit;
    void *arg;
};

static void emit_value(struct flattening *f, struct stk_str raw, bool quoted)
{
    struct stk_str key = {f->path, f->path_len};
    if (stk_str_starts(key, f->skip_prefix)) {
        key.p += f->skip_prefix.n;
        key.n -= f->skip_prefix.n;
    }
    char *clean = quoted ? stk_alloc(raw.n * 3 + 1) : NULL;
    struct stk_str value = raw;
    if (clean) {
        value = (struct stk_str){clean, stk_chrome_unescape(raw.p, raw.n, clean)};
    }
    f->emit(f->arg, key, value);
    stk_free(clean);
}

static void push_key(struct flattening *f, struct stk_str key, unsigned depth)
{
    f->path_len = f->marks[depth];
    if (f->path_len > 0 && f->path_len < PATH_CAP) {
        f->path[f->path_len++] = '.';
    }
    size_t capacity = PATH_CAP - f->path_len, n = key.n < capacity / 3 ? key.n : capacity / 3;
    f->path_len += stk_chrome_unescape(key.p, n, f->path + f->path_len);
}

bool stk_chrome_flatten(const char *text, size_t len, struct stk_str skip_prefix, stk_emit_fn *emit,
                        void *arg)
{
    struct stk_chrome_lexer *x = stk_alloc(sizeof *x);
    struct flattening *f = stk_alloc_zero(1, sizeof *f);
    bool ok = x && f;
    unsigned array_depth = 0; // of the array that is being skipped; 0 none
    size_t array_at = 0;
    if (!ok) {
        goto done;
    }
    f->skip_prefix = skip_prefix;
    f->emit = emit;
    f->arg = arg;
    stk_chrome_lexer_init(x, text, len, 0);
    do {
        enum stk_chrome_token t = stk_chrome_lexer_next(x);
        if (t == STK_CHROME_TOK_CUT || t == STK_CHROME_TOK_BROKEN) {
            ok = false;
        } else if (array_depth) {
            if (t == STK_CHROME_TOK_CLOSE && x->depth < array_depth) {
                emit_value(f, (struct stk_str){text + array_at, x->pos - array_at}, false);
                array_depth = 0;
            }
        } else if (t == STK_CHROME_TOK_OPEN) {
            f->marks[x->depth] = f->path_len;
            if (!stk_chrome_lexer_in_object(x)) {
                array_depth = x->depth;
                array_at = x->at;
            }
        } else if (t == STK_CHROME_TOK_KEY) {
            push_key(f, x->str, x->depth);
        } else if (t != STK_CHROME_TOK_CLOSE) {
            emit_value(f, x->str, t == STK_CHROME_TOK_STRING);
        }
    } while (ok && x->depth > 0);
done:
    stk_free(x);
    stk_free(f);
    return ok;
}
