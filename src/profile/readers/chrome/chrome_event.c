// SPDX-License-Identifier: Apache-2.0
// Fields of one event, in one pass over its quotes and brackets. The fast way accepts valid JSON
// and gives up on anything else; the slow way (chrome_json.h) repairs. Both set the same fields; if
// a key occurs twice, the last one counts. Arguments are skipped unless something in them is kept
// for the category.
#include "profile/readers/chrome/chrome_event.h"

#include "base/assert.h"

#define KEY(literal) (n == sizeof(literal) - 1 && memcmp(key, literal, sizeof(literal) - 1) == 0)

enum value_type { VALUE_STRING, VALUE_BARE, VALUE_NESTED };
struct value {
    const char *p; // without quotes
    size_t n;
    enum value_type type;
};

// The usual spellings without a search.
static inline enum stk_chrome_cat find_cat(const char *key, size_t n)
{
    switch (n) {
    case 4:
        return KEY("ac2g") ? STK_CHROME_CAT_FLOW : stk_chrome_cat_find(key, n);
    case 6:
        if (KEY("cpu_op")) {
            return STK_CHROME_CAT_OP;
        }
        return KEY("kernel") ? STK_CHROME_CAT_KERNEL : stk_chrome_cat_find(key, n);
    case 7:
        return KEY("Runtime") ? STK_CHROME_CAT_RUNTIME : stk_chrome_cat_find(key, n);
    case 8:
        return KEY("Operator") ? STK_CHROME_CAT_OP : stk_chrome_cat_find(key, n);
    case 12:
        return KEY("cuda_runtime") ? STK_CHROME_CAT_RUNTIME : stk_chrome_cat_find(key, n);
    case 15:
        return KEY("python_function") ? STK_CHROME_CAT_PYTHON : stk_chrome_cat_find(key, n);
    case 16:
        return KEY("async_cpu_to_gpu") ? STK_CHROME_CAT_FLOW : stk_chrome_cat_find(key, n);
    default:
        return stk_chrome_cat_find(key, n);
    }
}

// Digits and an optional sign, at most 18 of them; returns the byte after, or NULL.
static inline const char *short_integer(const char *p, int64_t *value)
{
    bool negative = *p == '-';
    const char *start = p + negative, *end;
    uint64_t v = stk_chrome_digits(start, &end);
    if (end == start || end - start > 18) {
        return NULL;
    }
    *value = negative ? -(int64_t)v : (int64_t)v;
    return end;
}

static void set_integer(struct stk_chrome_raw *r, const struct value *v, int64_t *out,
                        uint32_t flag)
{
    const char *end = v->n > 0 && v->type != VALUE_NESTED ? short_integer(v->p, out) : NULL;
    if (end == v->p + v->n && end) {
        r->flags |= flag;
        return;
    }
    if (v->type != VALUE_NESTED && stk_chrome_integer(v->p, v->n, out)) {
        r->flags |= flag;
        return;
    }
    *out = 0;
    r->flags &= ~flag;
    if (v->type != VALUE_BARE || v->n != 4 || memcmp(v->p, "null", 4)) {
        r->flags |= STK_CHROME_BAD_FIELD;
    }
}

static void set_id(struct stk_chrome_raw *r, const struct value *v, struct stk_chrome_id *id)
{
    *id = (struct stk_chrome_id){{"", 0}, 0};
    if (v->type == VALUE_NESTED) {
        r->flags |= STK_CHROME_BAD_FIELD;
        return;
    }
    const char *end = v->n > 0 ? short_integer(v->p, &id->number) : NULL;
    if (end && end == v->p + v->n) {
        return;
    }
    if (!stk_chrome_integer(v->p, v->n, &id->number)) {
        id->number = 0;
        id->text = (struct stk_str){v->p, v->n};
        if (v->type == VALUE_BARE) { // a number that is too large, null
            r->flags |= STK_CHROME_BAD_FIELD;
        }
    }
}

static void set_time(struct stk_chrome_raw *r, const struct value *v, struct stk_chrome_time *t,
                     uint32_t has, uint32_t bad)
{
    r->flags &= ~(has | bad);
    *t = (struct stk_chrome_time){0, 0};
    if (v->type == VALUE_NESTED) {
        r->flags |= bad;
        return;
    }
    const char *end = v->n > 0 ? stk_chrome_time_fast(v->p, t) : NULL;
    int read = end && end == v->p + v->n ? 1 : stk_chrome_time_slow(v->p, v->n, t);
    r->flags |= read > 0 ? has : bad;
    if (has == STK_CHROME_HAS_DUR) {
        r->flags &= ~STK_CHROME_LONG_DUR;
        if (read < 0) {
            r->flags |= STK_CHROME_LONG_DUR;
        }
    }
}

static void set_string(struct stk_chrome_raw *r, const struct value *v, struct stk_str *out)
{
    if (v->type == VALUE_NESTED) {
        r->flags |= STK_CHROME_BAD_FIELD;
        *out = (struct stk_str){"", 0};
    } else {
        *out = (struct stk_str){v->p, v->n};
    }
}

static void set_scope(struct stk_chrome_raw *r, const struct value *v)
{
    r->flags &= ~STK_CHROME_GLOBAL;
    if (v->type == VALUE_STRING && v->n == 1 && *v->p == 'g') {
        r->flags |= STK_CHROME_GLOBAL;
    }
}

// A key of the event itself, other than args.
static inline void set_own(struct stk_chrome_raw *r, const char *key, size_t n,
                           const struct value *v)
{
    switch (n) {
    case 1:
        if (*key == 's') {
            set_scope(r, v);
        }
        break;
    case 2:
        if (KEY("ph")) {
            r->ph = v->type == VALUE_STRING && v->n == 1 ? *v->p : '?';
        } else if (KEY("ts")) {
            set_time(r, v, &r->ts, STK_CHROME_HAS_TS, STK_CHROME_BAD_TS);
        }
        break;
    case 3:
        if (KEY("pid")) {
            set_id(r, v, &r->pid);
            r->flags |= STK_CHROME_HAS_PID;
        } else if (KEY("tid")) {
            set_id(r, v, &r->tid);
        } else if (KEY("dur")) {
            set_time(r, v, &r->dur, STK_CHROME_HAS_DUR, STK_CHROME_BAD_DUR);
        } else if (KEY("cat")) {
            set_string(r, v, &r->cat_text);
            r->cat = (uint8_t)find_cat(r->cat_text.p, r->cat_text.n);
        }
        break;
    case 4:
        if (KEY("name")) {
            set_string(r, v, &r->name);
        }
        break;
    default:
        break;
    }
}

static void set_counter(struct stk_chrome_raw *r, const struct value *v)
{
    if (r->ph == 'C' && !(r->flags & STK_CHROME_HAS_VALUE) && v->type == VALUE_BARE &&
        stk_chrome_integer(v->p, v->n, &r->value)) {
        r->flags |= STK_CHROME_HAS_VALUE;
    }
}

static void set_graph(struct stk_chrome_raw *r, const struct value *v)
{
    int64_t id;
    r->flags &= ~STK_CHROME_IN_GRAPH;
    if (v->type != VALUE_NESTED && stk_chrome_integer(v->p, v->n, &id) && id != 0) {
        r->flags |= STK_CHROME_IN_GRAPH;
    }
}

static void set_memory_place(struct stk_chrome_raw *r, const struct value *v)
{
    int64_t type;
    r->flags &= ~STK_CHROME_DEVICE_MEMORY;
    if (v->type != VALUE_NESTED && stk_chrome_integer(v->p, v->n, &type) && type != 0) {
        r->flags |= STK_CHROME_DEVICE_MEMORY;
    }
}

static inline void keep_launch(struct stk_chrome_raw *r, enum stk_chrome_arg arg,
                               const struct value *v)
{
    unsigned which = arg - STK_CHROME_ARG_GRID;
    r->launch_again |= r->launch_seen & (uint8_t)(1u << which);
    r->launch_seen |= (uint8_t)(1u << which);
    r->launch[which] = (struct stk_str){v->p, v->n};
}

// A key of args.
static inline void set_arg(struct stk_chrome_raw *r, const char *key, size_t n,
                           const struct value *v)
{
    enum stk_chrome_arg arg = stk_chrome_arg_find(key, n);
    switch (arg) {
    case STK_CHROME_ARG_RANK:
        set_integer(r, v, &r->rank, STK_CHROME_HAS_RANK);
        break;
    case STK_CHROME_ARG_LABEL:
        set_string(r, v, &r->label);
        break;
    case STK_CHROME_ARG_BYTES:
        set_integer(r, v, &r->bytes, STK_CHROME_HAS_BYTES);
        break;
    case STK_CHROME_ARG_DEVICE:
        set_integer(r, v, &r->device, STK_CHROME_HAS_DEVICE);
        break;
    case STK_CHROME_ARG_STREAM:
        set_integer(r, v, &r->stream, STK_CHROME_HAS_STREAM);
        break;
    case STK_CHROME_ARG_RAW_PID:
        r->flags |= STK_CHROME_HAS_RAW_PID;
        break;
    case STK_CHROME_ARG_GRAPH:
        set_graph(r, v);
        break;
    case STK_CHROME_ARG_STEP:
        set_integer(r, v, &r->step, STK_CHROME_HAS_STEP);
        break;
    case STK_CHROME_ARG_CORR:
        set_integer(r, v, &r->corr, STK_CHROME_HAS_CORR);
        break;
    case STK_CHROME_ARG_MEMORY_PLACE:
        set_memory_place(r, v);
        break;
    case STK_CHROME_ARG_DETAILS:
        set_string(r, v, &r->details);
        break;
    case STK_CHROME_ARG_GRID:
    case STK_CHROME_ARG_BLOCK:
    case STK_CHROME_ARG_REGISTERS:
    case STK_CHROME_ARG_SHARED:
    case STK_CHROME_ARG_OCCUPANCY:
        keep_launch(r, arg, v);
        break;
    default:
        break;
    }
    if (r->ph == 'C') {
        set_counter(r, v);
    }
}

// Flags tell which of the other fields are set.
static inline void clear_raw(struct stk_chrome_raw *r)
{
    r->flags = 0;
    r->launch_seen = r->launch_again = 0;
    r->name_memo = NULL;
    r->ph = 0;
    r->cat = STK_CHROME_CAT_NONE;
    r->pid.number = r->tid.number = 0;
    r->name.n = r->cat_text.n = r->pid.text.n = r->tid.text.n = r->label.n = r->details.n = 0;
    r->args = (struct stk_str){"", 0};
    r->name.p = r->cat_text.p = r->pid.text.p = r->tid.text.p = r->label.p = r->details.p = "";
}

// What a byte of a value without quotes may be.
enum { BARE_DIGIT = 1, BARE_NUMBER = 2, BARE_LETTER = 4 };
static const uint8_t bare_bytes[256] = {
    ['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1, ['7'] = 1,
    ['8'] = 1, ['9'] = 1, ['.'] = 2, ['-'] = 2, ['+'] = 2, ['e'] = 2, ['a'] = 4, ['f'] = 4,
    ['l'] = 4, ['n'] = 4, ['r'] = 4, ['s'] = 4, ['t'] = 4, ['u'] = 4};

// Numbers and literals only: other words are for the slow way.
static inline bool is_plain_bare(const char *p, size_t n, unsigned kinds)
{
    if (n == 0) {
        return false;
    }
    if (!(kinds & BARE_LETTER)) {
        size_t first = *p == '-';
        return n > first && bare_bytes[(unsigned char)p[first]] == BARE_DIGIT &&
               bare_bytes[(unsigned char)p[n - 1]] == BARE_DIGIT;
    }
    return (n == 4 && (!memcmp(p, "true", 4) || !memcmp(p, "null", 4))) ||
           (n == 5 && !memcmp(p, "false", 5));
}

static inline bool ends_value(char c)
{
    return c == ',' || c == '}' || c == '\n' || c == ' ';
}

// Numbers of the event itself in their usual form, read in the pass that finds their end: 0 if this
// isn't one.
static inline size_t usual_number(struct stk_chrome_cursor *c, const char *key, size_t n, size_t at,
                                  struct stk_chrome_raw *r)
{
    const char *p = c->text + at, *end;
    uint32_t flag = 0;
    if (n == 3 && key[1] == 'i' && key[2] == 'd' && (key[0] == 'p' || key[0] == 't')) {
        struct stk_chrome_id *id = key[0] == 'p' ? &r->pid : &r->tid;
        id->text.n = 0;
        end = short_integer(p, &id->number);
        flag = key[0] == 'p' ? STK_CHROME_HAS_PID : 0;
    } else if (n == 2 && key[0] == 't' && key[1] == 's') {
        end = stk_chrome_time_fast(p, &r->ts);
        flag = STK_CHROME_HAS_TS;
        r->flags &= ~STK_CHROME_BAD_TS;
    } else if (n == 3 && key[0] == 'd' && key[1] == 'u' && key[2] == 'r') {
        end = stk_chrome_time_fast(p, &r->dur);
        flag = STK_CHROME_HAS_DUR;
        r->flags &= ~(STK_CHROME_BAD_DUR | STK_CHROME_LONG_DUR);
    } else {
        return 0;
    }
    size_t i = end ? (size_t)(end - c->text) : 0;
    if (i == 0 || i >= c->len || !ends_value(*end) || (unsigned char)(end[-1] - '0') > 9) {
        return 0;
    }
    r->flags |= flag;
    return i;
}

// The value whose text begins at `at`, in cursor order; *end is just after it.
static inline enum stk_chrome_result fast_value(struct stk_chrome_cursor *c, size_t at,
                                                struct value *v, size_t *end)
{
    const char *text = c->text;
    char ch = text[at];
    if (ch == '"') {
        size_t open = stk_chrome_cursor_next(c), close = stk_chrome_cursor_next(c);
        if (close == STK_CHROME_END) {
            return STK_CHROME_MORE;
        }
        if (open != at) {
            return STK_CHROME_BAD;
        }
        *v = (struct value){text + at + 1, close - at - 1, VALUE_STRING};
        *end = close + 1;
        return STK_CHROME_OK;
    }
    if (ch == '{' || ch == '[') {
        size_t open = stk_chrome_cursor_next(c);
        if (open != at) {
            return open == STK_CHROME_END ? STK_CHROME_MORE : STK_CHROME_BAD;
        }
        size_t close = stk_chrome_cursor_skip(c, at);
        if (close == STK_CHROME_END) {
            return STK_CHROME_MORE;
        }
        *v = (struct value){text + at, close + 1 - at, VALUE_NESTED};
        *end = close + 1;
        return STK_CHROME_OK;
    }
    size_t i = at;
    unsigned kinds = 0, kind;
    while ((kind = bare_bytes[(unsigned char)text[i]]) != 0) { // the padding has none
        kinds |= kind;
        i++;
    }
    if (i >= c->len) {
        return STK_CHROME_MORE;
    }
    *v = (struct value){text + at, i - at, VALUE_BARE};
    *end = i;
    return is_plain_bare(text + at, i - at, kinds) ? STK_CHROME_OK : STK_CHROME_BAD;
}

// From after a key's closing quote to its value.
static inline enum stk_chrome_result to_value(const struct stk_chrome_cursor *c, size_t *at)
{
    const char *text = c->text;
    size_t i = *at;
    if (text[i] != ':') {
        i = stk_chrome_skip_space(text, c->len, i);
    }
    if (i >= c->len) {
        return STK_CHROME_MORE;
    }
    if (text[i] != ':') {
        return STK_CHROME_BAD;
    }
    i++;
    if (text[i] == ' ') {
        i++;
    }
    if (stk_chrome_is_space(text[i])) {
        i = stk_chrome_skip_space(text, c->len, i);
    }
    *at = i;
    return i >= c->len ? STK_CHROME_MORE : STK_CHROME_OK;
}

// After a value: over the comma to the next key (*closed false, *at on its quote) or to the
// closing brace (*closed true).
static inline enum stk_chrome_result to_key(struct stk_chrome_cursor *c, size_t *at, bool *closed)
{
    const char *text = c->text;
    size_t i = *at;
    if (stk_chrome_is_space(text[i])) {
        i = stk_chrome_skip_space(text, c->len, i);
    }
    if (i >= c->len) {
        return STK_CHROME_MORE;
    }
    *closed = text[i] == '}';
    if (!*closed) {
        if (text[i] != ',') {
            return STK_CHROME_BAD;
        }
        i++;
        if (stk_chrome_is_space(text[i])) {
            i = stk_chrome_skip_space(text, c->len, i + 1);
        }
        if (i >= c->len) {
            return STK_CHROME_MORE;
        }
        if (text[i] != '"') {
            return STK_CHROME_BAD;
        }
    }
    size_t next = stk_chrome_cursor_next(c);
    *at = i;
    return next == i ? STK_CHROME_OK : next == STK_CHROME_END ? STK_CHROME_MORE : STK_CHROME_BAD;
}

// First key of an object, or its end.
static inline enum stk_chrome_result first_key(struct stk_chrome_cursor *c, size_t *at,
                                               bool *closed)
{
    size_t i = stk_chrome_skip_space(c->text, c->len, *at + 1);
    if (i >= c->len) {
        return STK_CHROME_MORE;
    }
    *closed = c->text[i] == '}';
    if (!*closed && c->text[i] != '"') {
        return STK_CHROME_BAD;
    }
    size_t next = stk_chrome_cursor_next(c);
    *at = i;
    return next == i ? STK_CHROME_OK : next == STK_CHROME_END ? STK_CHROME_MORE : STK_CHROME_BAD;
}

// The args object whose brace is at `at` and was not taken from the cursor yet.
static enum stk_chrome_result fast_args(struct stk_chrome_cursor *c, size_t at,
                                        struct stk_chrome_raw *r, size_t *end)
{
    bool closed;
    if (stk_chrome_cursor_next(c) != at) {
        return STK_CHROME_BAD;
    }
    enum stk_chrome_result res = first_key(c, &at, &closed);
    while (res == STK_CHROME_OK && !closed) {
        size_t key = at + 1, quote = stk_chrome_cursor_next(c);
        if (quote == STK_CHROME_END) {
            return STK_CHROME_MORE;
        }
        at = quote + 1;
        struct value v;
        res = to_value(c, &at);
        if (res == STK_CHROME_OK) {
            res = fast_value(c, at, &v, &at);
        }
        if (res != STK_CHROME_OK) {
            return res;
        }
        set_arg(r, c->text + key, quote - key, &v);
        res = to_key(c, &at, &closed);
    }
    *end = at + 1;
    r->flags |= r->launch_again ? 0 : STK_CHROME_HAS_LAUNCH;
    return res;
}

// Args that came before the category was known.
static bool late_args(const char *text, size_t at, size_t end, struct stk_chrome_raw *r)
{
    struct stk_chrome_lexer x;
    struct stk_str key = {"", 0};
    stk_chrome_lexer_init(&x, text, end, at);
    do {
        enum stk_chrome_token t = stk_chrome_lexer_next(&x);
        if (t == STK_CHROME_TOK_CUT || t == STK_CHROME_TOK_BROKEN) {
            return false;
        }
        if (x.depth == 1 && t == STK_CHROME_TOK_KEY) {
            key = x.str;
        } else if (x.depth == 1 && (t == STK_CHROME_TOK_STRING || t == STK_CHROME_TOK_BARE)) {
            struct value v = {x.str.p, x.str.n,
                              t == STK_CHROME_TOK_STRING ? VALUE_STRING : VALUE_BARE};
            set_arg(r, key.p, key.n, &v);
        } else if (x.depth == 2 && t == STK_CHROME_TOK_OPEN) {
            struct value v = {"", 0, VALUE_NESTED};
            set_arg(r, key.p, key.n, &v);
        }
    } while (x.depth > 0);
    return true;
}

static inline bool wants_args(const struct stk_chrome_raw *r)
{
    return stk_chrome_cat_has_args(r->cat) && r->ph != 's' && r->ph != 'f';
}

static bool has_control_in_string(const char *text, size_t start, size_t end)
{
    STK_ASSERT(start <= end);
    bool inside = false;
    for (size_t i = start; i < end; i++) {
        if (text[i] == '"') {
            inside = !inside;
        } else if (inside && text[i] == '\\') {
            i++;
        } else if (inside && (unsigned char)text[i] < 0x20) {
            return true;
        }
    }
    return false;
}

struct late {
    size_t from, to;
};

// One key of the event and its value; *at is on the key's quote, then after the value.
static inline enum stk_chrome_result fast_field(struct stk_chrome_cursor *c, size_t *at,
                                                struct stk_chrome_raw *r, struct late *late)
{
    size_t from = *at + 1, quote = stk_chrome_cursor_next(c);
    if (quote == STK_CHROME_END) {
        return STK_CHROME_MORE;
    }
    const char *key = c->text + from;
    size_t n = quote - from, i = quote + 1;
    enum stk_chrome_result res = to_value(c, &i);
    if (res != STK_CHROME_OK) {
        return res;
    }
    if ((unsigned char)(c->text[i] - '0') < 10 && (*at = usual_number(c, key, n, i, r)) != 0) {
        return STK_CHROME_OK;
    }
    *at = i;
    bool is_args = n == 4 && memcmp(key, "args", 4) == 0;
    if (is_args && c->text[i] == '{' && r->ph && wants_args(r)) {
        late->from = 0;
        enum stk_chrome_result read = fast_args(c, i, r, at);
        r->args = (struct stk_str){c->text + i, read == STK_CHROME_OK ? *at - i : 0};
        return read;
    }
    struct value v;
    res = fast_value(c, i, &v, at);
    if (res == STK_CHROME_OK && !is_args) {
        set_own(r, key, n, &v);
    } else if (res == STK_CHROME_OK && v.type == VALUE_NESTED) {
        *late = (struct late){i, *at};
        r->args = (struct stk_str){c->text + i, *at - i};
    }
    return res;
}

enum stk_chrome_result stk_chrome_event_fast(struct stk_chrome_cursor *c, size_t start,
                                             struct stk_chrome_raw *r, size_t *end)
{
    STK_ASSERT(start < c->len);
    size_t at = start;
    struct late late = {0, 0};
    bool closed;
    clear_raw(r);
    stk_chrome_cursor_begin(c);
    enum stk_chrome_result res = first_key(c, &at, &closed);
    while (res == STK_CHROME_OK && !closed) {
        res = fast_field(c, &at, r, &late);
        if (res == STK_CHROME_OK) {
            res = to_key(c, &at, &closed);
        }
    }
    if (res != STK_CHROME_OK) {
        return res;
    }
    *end = at + 1;
    r->odd_bytes = c->odd;
    if (*end - start > STK_CHROME_FAST_BYTES) {
        return STK_CHROME_BAD;
    }
    if (c->control && has_control_in_string(c->text, start, *end)) {
        return STK_CHROME_BAD;
    }
    if (late.from && wants_args(r) && !late_args(c->text, late.from, late.to, r)) {
        return STK_CHROME_BAD;
    }
    return STK_CHROME_OK;
}

enum stk_chrome_result stk_chrome_event_slow(const char *text, size_t len, size_t start,
                                             struct stk_chrome_raw *r, size_t *end,
                                             unsigned *repairs)
{
    STK_ASSERT(start < len);
    struct stk_chrome_lexer x;
    struct stk_str key = {"", 0};
    size_t args = 0;
    clear_raw(r);
    r->odd_bytes = true;
    stk_chrome_lexer_init(&x, text, len, start);
    do {
        enum stk_chrome_token t = stk_chrome_lexer_next(&x);
        if (t == STK_CHROME_TOK_CUT) {
            return len - start > STK_CHROME_EVENT_BYTES ? STK_CHROME_BAD : STK_CHROME_MORE;
        }
        if (t == STK_CHROME_TOK_BROKEN) {
            return STK_CHROME_BAD;
        }
        bool nested = t == STK_CHROME_TOK_OPEN;
        if (x.depth - nested != 1 || t == STK_CHROME_TOK_CLOSE) {
            continue;
        }
        if (t == STK_CHROME_TOK_KEY) {
            key = x.str;
        } else if (nested && stk_str_eq(key, STK_STR("args"))) {
            args = x.at;
        } else {
            struct value v = {x.str.p, x.str.n,
                              t == STK_CHROME_TOK_STRING ? VALUE_STRING : VALUE_BARE};
            if (nested) {
                v = (struct value){"", 0, VALUE_NESTED};
            }
            set_own(r, key.p, key.n, &v);
        }
    } while (x.depth > 0);
    *end = x.pos;
    *repairs = x.repairs;
    if (*end - start > STK_CHROME_EVENT_BYTES) {
        return STK_CHROME_BAD;
    }
    if (args) {
        r->args = (struct stk_str){text + args, *end - args};
    }
    if (args && wants_args(r) && !late_args(text, args, *end, r)) {
        return STK_CHROME_BAD;
    }
    return STK_CHROME_OK;
}
