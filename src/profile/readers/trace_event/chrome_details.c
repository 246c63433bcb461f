// SPDX-License-Identifier: Apache-2.0
// Arguments of allocator events, counters, collectives and operators, read a second time from the
// event's text, only if an analysis asked for them, so they cost nothing otherwise.
#include <stdlib.h>

#include "base/assert.h"
#include "profile/readers/trace_event/chrome_json.h"
#include "profile/readers/trace_event/chrome_stage.h"

#include "base/text.h"

static struct stk_detail *push(struct stk_chrome_stager *s, enum stk_detail_key key)
{
    STK_ASSERT(s->rows.count > 0 && (unsigned)key < STK_DETAIL_COUNT);
    struct stk_chrome_detail *d = stk_vec_push(&s->details);
    if (!d) {
        s->failed = true;
        return NULL;
    }
    d->row = (uint32_t)s->rows.count - 1;
    d->detail.key = key;
    return &d->detail;
}

static void add_number(struct stk_chrome_stager *s, enum stk_detail_key key, int64_t number)
{
    struct stk_detail *d = push(s, key);
    if (d) {
        d->number = number;
    }
}

static void add_text(struct stk_chrome_stager *s, enum stk_detail_key key, struct stk_str text)
{
    text = stk_chrome_stage_clean(s, text);
    uint32_t id = stk_strpool_intern(&s->names, text.p, text.n);
    struct stk_detail *d = id == STK_STRPOOL_FAILED ? NULL : push(s, key);
    if (d) {
        d->text = id;
    } else {
        s->failed = true;
    }
}

static void add_integer(struct stk_chrome_stager *s, enum stk_detail_key key, struct stk_str value)
{
    int64_t number;
    if (stk_chrome_integer(value.p, value.n, &number)) {
        add_number(s, key, number);
    }
}

void stk_chrome_each_value(struct stk_str args, stk_chrome_take_fn *take, void *arg)
{
    struct stk_chrome_lexer x;
    struct stk_str key = {"", 0};
    size_t nested = 0;
    if (args.n == 0 || args.p[0] != '{') {
        return;
    }
    stk_chrome_lexer_init(&x, args.p, args.n, 0);
    do {
        enum stk_chrome_token t = stk_chrome_lexer_next(&x);
        if (t == STK_CHROME_TOK_CUT || t == STK_CHROME_TOK_BROKEN) {
            return;
        }
        if (x.depth == 1 && t == STK_CHROME_TOK_KEY) {
            key = x.str;
        } else if (x.depth == 1 && (t == STK_CHROME_TOK_STRING || t == STK_CHROME_TOK_BARE)) {
            take(arg, key, x.str, t == STK_CHROME_TOK_STRING);
        } else if (x.depth == 2 && t == STK_CHROME_TOK_OPEN) {
            nested = x.at;
        } else if (x.depth == 1 && t == STK_CHROME_TOK_CLOSE) {
            take(arg, key, (struct stk_str){args.p + nested, x.pos - nested}, false);
        }
    } while (x.depth > 0);
}

// A number as JSON writes it; false: not a number.
static bool read_real(struct stk_str value, double *out)
{
    char text[64], *end;
    if (value.n == 0 || value.n >= sizeof text) {
        return false;
    }
    memcpy(text, value.p, value.n);
    text[value.n] = 0;
    if (!strchr("+-.0123456789", text[0])) {
        return false; // null, true, NaN
    }
    *out = stk_text_to_real(text, &end);
    return *end == 0 && *out - *out == 0;
}

// Details that PyTorch has no key for, under stoker export's keys: those of
// profile/store/details.def.
static void take_exported(void *stager, struct stk_str key, struct stk_str value, bool quoted)
{
    struct stk_chrome_stager *s = stager;
    static const struct {
        const char *name;
        enum stk_detail_key key;
    } keys[] = {{"available_bytes", STK_DETAIL_AVAILABLE},
                {"stack_bytes", STK_DETAIL_STACK},
                {"peak_bytes", STK_DETAIL_PEAK},
                {"fragmentation", STK_DETAIL_FRAGMENTATION},
                {"allocator", STK_DETAIL_ALLOCATOR},
                {"op", STK_DETAIL_OP},
                {"element_bytes", STK_DETAIL_ELEMENT_BYTES}};
    double real;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (!stk_str_eq(key, stk_str_from(keys[i].name))) {
            continue;
        }
        enum stk_detail_type type = stk_detail_type_of(keys[i].key);
        struct stk_detail *d;
        if (type == STK_DETAIL_TEXT && quoted && value.n) {
            add_text(s, keys[i].key, value);
        } else if (type == STK_DETAIL_INT) {
            add_integer(s, keys[i].key, value);
        } else if (type == STK_DETAIL_REAL && read_real(value, &real) &&
                   (d = push(s, keys[i].key))) {
            d->real = real;
        }
    }
}

static void take_memory(void *stager, struct stk_str key, struct stk_str value, bool quoted)
{
    struct stk_chrome_stager *s = stager;
    if (stk_str_eq(key, STK_STR("Addr"))) {
        add_integer(s, STK_DETAIL_ADDRESS, value);
    } else if (stk_str_eq(key, STK_STR("Device Id"))) {
        add_integer(s, STK_DETAIL_DEVICE, value);
    } else if (stk_str_eq(key, STK_STR("Total Allocated"))) {
        add_integer(s, STK_DETAIL_TOTAL, value);
    } else if (stk_str_eq(key, STK_STR("Total Reserved"))) {
        add_integer(s, STK_DETAIL_RESERVED, value);
    } else {
        take_exported(s, key, value, quoted);
    }
}

void stk_chrome_detail_memory(struct stk_chrome_stager *s, const struct stk_chrome_raw *r)
{
    stk_chrome_each_value(r->args, take_memory, s);
}

static void take_counter(void *stager, struct stk_str key, struct stk_str value, bool quoted)
{
    struct stk_chrome_stager *s = stager;
    double real;
    if (quoted || !read_real(value, &real)) {
        return;
    }
    add_text(s, STK_DETAIL_SERIES, key);
    struct stk_detail *d = push(s, STK_DETAIL_VALUE);
    if (d) {
        d->real = real;
    }
}

void stk_chrome_detail_counter(struct stk_chrome_stager *s, const struct stk_chrome_raw *r)
{
    stk_chrome_each_value(r->args, take_counter, s);
}

// Bytes of an element by the names of PyTorch's scalar types and by those of C++; 0: not known.
int64_t stk_chrome_element_bytes(struct stk_str type)
{
    static const struct {
        const char *name;
        int64_t bytes;
    } types[] = {{"Byte", 1},           {"Char", 1},          {"Bool", 1},
                 {"Half", 2},           {"BFloat16", 2},      {"Short", 2},
                 {"UInt16", 2},         {"Float", 4},         {"Int", 4},
                 {"UInt32", 4},         {"Double", 8},        {"Long", 8},
                 {"UInt64", 8},         {"ComplexHalf", 4},   {"ComplexFloat", 8},
                 {"ComplexDouble", 16}, {"unsigned char", 1}, {"signed char", 1},
                 {"char", 1},           {"bool", 1},          {"c10::Half", 2},
                 {"c10::BFloat16", 2},  {"short", 2},         {"short int", 2},
                 {"float", 4},          {"int", 4},           {"double", 8},
                 {"long", 8},           {"long int", 8},      {"c10::complex<float>", 8}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (stk_str_eq(type, stk_str_from(types[i].name))) {
            return types[i].bytes;
        }
    }
    bool is_byte =
        stk_str_starts(type, STK_STR("Float8")) || stk_str_starts(type, STK_STR("c10::Float8"));
    return is_byte ? 1 : 0;
}

static void take_collective(void *stager, struct stk_str key, struct stk_str value, bool quoted)
{
    struct stk_chrome_stager *s = stager;
    if (stk_str_eq(key, STK_STR("Collective name"))) {
        add_text(s, STK_DETAIL_COLLECTIVE, value);
    } else if (stk_str_eq(key, STK_STR("In msg nelems")) ||
               stk_str_eq(key, STK_STR("In msg size"))) {
        add_integer(s, STK_DETAIL_IN_ELEMENTS, value);
    } else if (stk_str_eq(key, STK_STR("Out msg nelems")) ||
               stk_str_eq(key, STK_STR("Out msg size"))) {
        add_integer(s, STK_DETAIL_OUT_ELEMENTS, value);
    } else if (stk_str_eq(key, STK_STR("dtype")) && stk_chrome_element_bytes(value)) {
        add_number(s, STK_DETAIL_ELEMENT_BYTES, stk_chrome_element_bytes(value));
    } else if (stk_str_eq(key, STK_STR("Group size"))) {
        add_integer(s, STK_DETAIL_GROUP_SIZE, value);
    } else if (stk_str_eq(key, STK_STR("Process Group Name")) && value.n) {
        add_text(s, STK_DETAIL_GROUP, value);
    } else if (stk_str_eq(key, STK_STR("Process Group Ranks")) && value.n) {
        add_text(s, STK_DETAIL_GROUP_RANKS, value);
    } else {
        take_exported(s, key, value, quoted);
    }
}

// Elements of all tensors of "[[4, 2], [[8], [8]], []]". An empty list isn't a tensor. 0: not
// known.
static int64_t count_elements(struct stk_str dims)
{
    int64_t total = 0, product = 1;
    bool any = false;
    for (size_t i = 0; i < dims.n; i++) {
        char c = dims.p[i];
        if (c >= '0' && c <= '9') {
            int64_t size = 0;
            for (; i < dims.n && dims.p[i] >= '0' && dims.p[i] <= '9'; i++) {
                if (__builtin_mul_overflow(size, 10, &size) ||
                    __builtin_add_overflow(size, dims.p[i] - '0', &size)) {
                    return 0;
                }
            }
            if (__builtin_mul_overflow(product, size, &product)) {
                return 0;
            }
            any = true;
            i--;
        } else if (c == ']') {
            if (any && __builtin_add_overflow(total, product, &total)) {
                return 0;
            }
            product = 1;
            any = false;
        }
    }
    return total;
}

static bool is_dims(struct stk_str key)
{
    return stk_str_eq(key, STK_STR("Input Dims")) || stk_str_eq(key, STK_STR("Input dims"));
}

static void take_dims(void *stager, struct stk_str key, struct stk_str value, bool quoted)
{
    if (!quoted && is_dims(key)) {
        add_text(stager, STK_DETAIL_SHAPES, value);
    }
}

// The end of a list of lists of numbers; NULL: it is anything else.
static const char *end_of_lists(const char *p, const char *end)
{
    int depth = 0;
    for (; p < end; p++) {
        if (*p == '[') {
            depth++;
        } else if (*p == ']') {
            depth--;
        } else if (!(*p >= '0' && *p <= '9') && *p != ',' && *p != ' ') {
            return NULL;
        }
        if (depth == 0) {
            return *p == ']' ? p + 1 : NULL;
        }
    }
    return NULL;
}

// The key of dimensions, at its quote; NULL: the text hasn't got it.
static const char *find_dims(struct stk_str args)
{
    const char *at = args.p, *end = args.p + args.n;
    while ((at = memmem(at, (size_t)(end - at), "\"Input ", 7))) {
        if (end - at > 12 && (at[7] == 'D' || at[7] == 'd') && !memcmp(at + 8, "ims\"", 4)) {
            return at;
        }
        at += 7;
    }
    return NULL;
}

// Most operators have no dimensions, or PyTorch's usual list, so values needn't be parsed one by
// one. They are parsed if another object or an escape comes before the key, or if the value is
// unusual.
void stk_chrome_detail_shapes(struct stk_chrome_stager *s, const struct stk_chrome_raw *r)
{
    const char *end = r->args.p + r->args.n, *at = r->args.n ? find_dims(r->args) : NULL;
    if (!at) {
        return;
    }
    size_t before = (size_t)(at - r->args.p);
    const char *value = at + 12, *stop = NULL;
    if (end - value > 2 && value[0] == ':') {
        value += value[1] == ' ' ? 2 : 1;
        stop = *value == '[' ? end_of_lists(value, end) : NULL;
    }
    bool is_plain = stop && before && r->args.p[0] == '{' && !memchr(r->args.p, '\\', before) &&
                    !memchr(r->args.p + 1, '{', before - 1);
    if (is_plain) {
        add_text(s, STK_DETAIL_SHAPES, (struct stk_str){value, (size_t)(stop - value)});
    } else {
        stk_chrome_each_value(r->args, take_dims, s);
    }
}

// A backend's annotations ("nccl:all_reduce") have the shape and type of the data sent.
static void take_shape(void *stager, struct stk_str key, struct stk_str value, bool quoted)
{
    struct stk_chrome_stager *s = stager;
    if (quoted) {
        return;
    }
    if (is_dims(key)) {
        int64_t elements = count_elements(value);
        if (elements > 0) {
            add_number(s, STK_DETAIL_IN_ELEMENTS, elements);
        }
    } else if (stk_str_eq(key, STK_STR("Input type"))) {
        const char *first = memchr(value.p, '"', value.n), *end = value.p + value.n;
        const char *last = first ? memchr(first + 1, '"', (size_t)(end - first - 1)) : NULL;
        int64_t bytes =
            last ? stk_chrome_element_bytes((struct stk_str){first + 1, (size_t)(last - first - 1)})
                 : 0;
        if (bytes) {
            add_number(s, STK_DETAIL_ELEMENT_BYTES, bytes);
        }
    }
}

void stk_chrome_detail_collective(struct stk_chrome_stager *s, const struct stk_chrome_raw *r)
{
    if (memmem(r->args.p, r->args.n, "Collective name", 15)) {
        stk_chrome_each_value(r->args, take_collective, s);
    } else if (r->cat != STK_CHROME_CAT_KERNEL &&
               !stk_str_eq(r->name, STK_STR("record_param_comms"))) {
        stk_chrome_each_value(r->args, take_shape, s);
    }
}
