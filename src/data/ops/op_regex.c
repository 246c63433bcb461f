// SPDX-License-Identifier: Apache-2.0
// string_regex_replace and string_regex_full_match: attributes "pattern", "rewrite" (\0 to \9 stand
// for what the pattern's parts matched) and "replace_global". By PCRE2, set to RE2's meaning where
// TensorFlow's users see it: UTF-8, ASCII classes, `$` only at the end, the search behind an empty
// match. It knows look-around and back-references besides. A match that takes more than ten million
// steps from where it begins is an error of its element, and so is a search of one string beyond
// ten seconds; a result beyond the budget, or 1 GiB, is one of memory. Without PCRE2 the operations
// say so when they are used.
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "data/ops/op_util.h"

enum { ARG_PATTERN, ARG_REWRITE, ARG_REPLACE_GLOBAL };
enum { REPLACE, FULL_MATCH };

static enum stoker_status regex_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 1, 1, err);
    if (s == STOKER_OK && c->in[0].dtype != STK_DT_STRING) {
        s = stk_err_set(err, STOKER_EINVAL, "%s: takes strings, not %s", c->op->name,
                        stk_dtype_name(c->in[0].dtype));
    }
    c->out[0] = (struct stk_spec){.dtype = c->op->arg == FULL_MATCH ? STK_DT_BOOL : STK_DT_STRING,
                                  .shape = c->in[0].shape};
    return s;
}

#if STOKER_HAVE_PCRE2

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define STEPS_MAX 10000000
#define SEARCH_MAX_NS 10000000000 // of the thread's processor time, for one string
#define FIRST_GO 1024 // places where a match may begin; each further go has twice as many
#define HEAP_MAX_KIB (64 << 10)
#define PARTS_MAX 10
#define RESULT_MAX ((size_t)1 << 30)

struct regex {
    pcre2_general_context *memory;
    pcre2_match_context *limits;
    pcre2_code *code;
    struct stk_bytes rewrite;
    bool is_in_goes; // searched from some places at a time, so that the time can be looked at
};

static void *allocate(PCRE2_SIZE size, void *arg)
{
    (void)arg;
    return stk_alloc_zero(1, size);
}

static void release(void *p, void *arg)
{
    (void)arg;
    stk_free(p);
}

static void regex_unprepare(void *prepared)
{
    struct regex *x = prepared;
    pcre2_code_free(x->code);
    pcre2_match_context_free(x->limits);
    pcre2_general_context_free(x->memory);
    stk_free(x);
}

// A rewrite's backslashes stand before digits, of parts that are there, or before themselves.
static bool rewrite_fits(struct stk_bytes s, uint32_t parts)
{
    for (size_t i = 0; i < s.size; i++) {
        if (s.data[i] != '\\') {
            continue;
        }
        if (++i == s.size) {
            return false;
        }
        bool is_part = s.data[i] >= '0' && s.data[i] <= '9' && s.data[i] - '0' <= (int)parts;
        if (s.data[i] != '\\' && !is_part) {
            return false;
        }
    }
    return true;
}

static enum stoker_status compile(struct regex *x, const struct stk_attrs *attrs,
                                  struct stoker_err *err)
{
    const struct stk_attr *pattern = stk_attrs_get(attrs, "pattern");
    const struct stk_attr *rewrite = stk_attrs_get(attrs, "rewrite");
    uint32_t options =
        PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C;
    if (!pattern || pattern->kind != STK_ATTR_TEXT) {
        return stk_err_set(err, STOKER_EINVAL, "regex: needs a pattern");
    }
    if (!rewrite) {
        options |= PCRE2_ANCHORED | PCRE2_ENDANCHORED;
    }
    x->is_in_goes = rewrite && !strstr(pattern->text, "\\G"); // \G: where the search began
    options |= x->is_in_goes ? PCRE2_USE_OFFSET_LIMIT : 0;
    x->memory = pcre2_general_context_create(allocate, release, NULL);
    x->limits = x->memory ? pcre2_match_context_create(x->memory) : NULL;
    pcre2_compile_context *how = x->limits ? pcre2_compile_context_create(x->memory) : NULL;
    if (!how) {
        return stk_err_nomem(err);
    }
    (void)pcre2_set_match_limit(x->limits, STEPS_MAX);
    (void)pcre2_set_heap_limit(x->limits, HEAP_MAX_KIB);
    int why;
    PCRE2_SIZE at;
    x->code = pcre2_compile((PCRE2_SPTR)pattern->text, (PCRE2_SIZE)pattern->count, options, &why,
                            &at, how);
    pcre2_compile_context_free(how);
    if (!x->code) {
        PCRE2_UCHAR text[160] = "";
        (void)pcre2_get_error_message(why, text, sizeof text);
        return stk_err_set(err, STOKER_EINVAL, "regex: pattern '%.200s', at %zu: %s", pattern->text,
                           (size_t)at, (const char *)text);
    }
    (void)pcre2_jit_compile(x->code, PCRE2_JIT_COMPLETE); // slower without
    uint32_t parts = 0;
    (void)pcre2_pattern_info(x->code, PCRE2_INFO_CAPTURECOUNT, &parts);
    if (rewrite) {
        x->rewrite = (struct stk_bytes){(const uint8_t *)rewrite->text, (size_t)rewrite->count};
        if (!rewrite_fits(x->rewrite, parts)) {
            return stk_err_set(err, STOKER_EINVAL,
                               "regex: rewrite '%.200s': \\ stands before a digit, up to %u, or "
                               "another \\",
                               rewrite->text, parts < 9 ? parts : 9);
        }
    }
    return STOKER_OK;
}

static enum stoker_status regex_prepare(const struct stk_op_infer *c, void **out,
                                        struct stoker_err *err)
{
    struct regex *x = stk_alloc_zero(1, sizeof *x);
    *out = NULL;
    if (!x) {
        return stk_err_nomem(err);
    }
    enum stoker_status s = compile(x, c->attrs, err);
    if (s != STOKER_OK) {
        regex_unprepare(x);
        return s;
    }
    *out = x;
    return STOKER_OK;
}

struct regex_scratch {
    pcre2_match_data *found;
    pcre2_match_context *limits; // this thread's copy: the go's end is one of them
    uint8_t *text;               // grows
    size_t size, capacity, most;
    int64_t began_ns; // thread's processor time when the string's second go began; 0: not yet
};

static void regex_scratch_end(void *scratch)
{
    struct regex_scratch *s = scratch;
    pcre2_match_data_free(s->found);
    pcre2_match_context_free(s->limits);
    stk_free(s->text);
}

static bool put(struct regex_scratch *s, const uint8_t *p, size_t n)
{
    if (n > s->most - s->size) {
        return false;
    }
    if (n > s->capacity - s->size) {
        size_t capacity = 2 * (s->size + n) + 64;
        uint8_t *text = stk_realloc_array(s->text, capacity, 1);
        if (!text) {
            return false;
        }
        s->text = text;
        s->capacity = capacity;
    }
    if (n) {
        memcpy(s->text + s->size, p, n);
    }
    s->size += n;
    return true;
}

static bool put_rewrite(struct regex_scratch *s, struct stk_bytes rewrite, struct stk_bytes in)
{
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(s->found);
    uint32_t have = pcre2_get_ovector_count(s->found);
    bool ok = true;
    for (size_t i = 0; ok && i < rewrite.size; i++) {
        const uint8_t *p = rewrite.data + i;
        if (*p != '\\') {
            ok = put(s, p, 1);
        } else if (*++p == '\\') {
            ok = put(s, p, 1);
            i++;
        } else {
            uint32_t k = (uint32_t)(*p - '0');
            i++;
            if (k < have && at[2 * k] != PCRE2_UNSET) {
                ok = put(s, in.data + at[2 * k], at[2 * k + 1] - at[2 * k]);
            }
        }
    }
    return ok;
}

// Bytes of the character at p: one where it is none of UTF-8.
static size_t character(const uint8_t *p, size_t left)
{
    size_t n = *p < 0xc2 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 1;
    for (size_t i = 1; i < n; i++) {
        if (i >= left || (p[i] & 0xc0) != 0x80) {
            return 1;
        }
    }
    return n;
}

static bool is_out_of_time(struct regex_scratch *s)
{
    int64_t now = (int64_t)stk_clock_of(CLOCK_THREAD_CPUTIME_ID);
    s->began_ns = s->began_ns ? s->began_ns : now;
    return now - s->began_ns > SEARCH_MAX_NS;
}

// One search from byte `from`. PCRE2 counts its steps anew at each place where a match may begin,
// so that a long string could take hours: it is searched in goes, with a look at the time between.
static int find(const struct regex *x, struct regex_scratch *s, struct stk_bytes in, size_t from)
{
    const uint8_t *data = in.data ? in.data : (const uint8_t *)"";
    for (size_t go = FIRST_GO;; go *= 2) {
        size_t end = x->is_in_goes && in.size - from > go ? from + go : in.size;
        while (end < in.size && (data[end] & 0xc0) == 0x80) { // within a character
            end++;
        }
        if (x->is_in_goes) {
            (void)pcre2_set_offset_limit(s->limits, end < in.size ? end - 1 : PCRE2_UNSET);
        }
        int found = pcre2_match(x->code, data, in.size, from, 0, s->found, s->limits);
        if (found != PCRE2_ERROR_NOMATCH || end == in.size) {
            return found;
        }
        if (is_out_of_time(s)) {
            return PCRE2_ERROR_MATCHLIMIT;
        }
        from = end;
    }
}

// The string with its matches replaced, in scratch; *count of them. <0: PCRE2's error.
static int replace(const struct regex *x, struct regex_scratch *s, struct stk_bytes in, bool all,
                   int64_t *count)
{
    size_t p = 0, last_end = SIZE_MAX;
    *count = 0;
    s->size = 0;
    while (p <= in.size && (all || *count == 0)) {
        int found = find(x, s, in, p);
        if (found == PCRE2_ERROR_NOMATCH) {
            break;
        }
        if (found < 0) {
            return found;
        }
        const PCRE2_SIZE *at = pcre2_get_ovector_pointer(s->found);
        size_t first = at[0] < p ? p : at[0], end = at[1] < first ? first : at[1]; // \K moves them
        if (!put(s, in.data + p, first > p ? first - p : 0)) {
            return PCRE2_ERROR_NOMEMORY;
        }
        if (first == last_end && end == first) { // no empty match where the last one ended
            size_t n = p < in.size ? character(in.data + first, in.size - first) : 1;
            if (first < in.size && !put(s, in.data + first, n)) {
                return PCRE2_ERROR_NOMEMORY;
            }
            p = first + n;
            continue;
        }
        if (!put_rewrite(s, x->rewrite, in)) {
            return PCRE2_ERROR_NOMEMORY;
        }
        p = last_end = end;
        ++*count;
    }
    return p >= in.size || put(s, in.data + p, in.size - p) ? 0 : PCRE2_ERROR_NOMEMORY;
}

static enum stoker_status trouble(struct stk_op_run *r, int64_t i, int code, struct stoker_err *err)
{
    PCRE2_UCHAR text[160] = "";
    if (code == PCRE2_ERROR_NOMEMORY) {
        return stk_op_no_memory(r, err);
    }
    (void)pcre2_get_error_message(code, text, sizeof text);
    return stk_op_fail(r, i, STOKER_EINVAL, "the pattern '%.100s' could not be searched for: %s",
                       r->args[ARG_PATTERN].text, (const char *)text);
}

static enum stoker_status regex_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct regex *x = r->prepared;
    struct regex_scratch *s = r->scratch;
    const struct stk_col *in = r->in[0];
    void *out = stk_op_out(r, 0, r->spec[0].dtype, &in->shape, err);
    int64_t each = stk_shape_count(&in->shape);
    bool all = r->op->arg == REPLACE && r->args[ARG_REPLACE_GLOBAL].i != 0;
    struct stk_col_capacity capacity = {0};
    if (!out) {
        return err->code;
    }
    struct stk_pool_stats pool = stk_pool_stats_of(r->pool);
    s->most = pool.cap_bytes < RESULT_MAX ? pool.cap_bytes : RESULT_MAX;
    s->found = s->found ? s->found : pcre2_match_data_create(PARTS_MAX, x->memory);
    s->limits = s->limits ? s->limits : pcre2_match_context_copy(x->limits);
    if (!s->found || !s->limits || !stk_keep_join(&r->out[0].keep, in->keep)) {
        return stk_err_nomem(err);
    }
    for (int64_t k = 0; k < r->n * each && k / each < r->failed; k++) {
        struct stk_bytes text = ((struct stk_bytes *)stk_col_at(in, k / each))[k % each];
        s->began_ns = 0;
        if (r->op->arg == FULL_MATCH) {
            int found = find(x, s, text, 0);
            if (found < 0 && found != PCRE2_ERROR_NOMATCH) {
                return trouble(r, k / each, found, err);
            }
            ((uint8_t *)out)[k] = found >= 0;
            continue;
        }
        int64_t count;
        int code = replace(x, s, text, all, &count);
        if (code < 0) {
            return trouble(r, k / each, code, err);
        }
        ((struct stk_bytes *)out)[k] = text;
        if (count) {
            uint8_t *to = stk_col_capacity_for(&r->out[0], r->pool, &capacity, s->size);
            if (!to) {
                return stk_op_no_memory(r, err);
            }
            if (s->size) {
                memcpy(to, s->text, s->size);
            }
            ((struct stk_bytes *)out)[k] = (struct stk_bytes){to, s->size};
        }
    }
    return STOKER_OK;
}

#define SCRATCH_BYTES sizeof(struct regex_scratch)

#else

#define SCRATCH_BYTES 0

static void regex_unprepare(void *nothing)
{
    (void)nothing;
}

static void regex_scratch_end(void *nothing)
{
    (void)nothing;
}

static enum stoker_status regex_prepare(const struct stk_op_infer *c, void **out,
                                        struct stoker_err *err)
{
    (void)c;
    *out = NULL;
    return stk_err_set(err, STOKER_EINVAL,
                       "regular expressions need PCRE2, which was not there when this was built");
}

static enum stoker_status regex_run(struct stk_op_run *r, struct stoker_err *err)
{
    return stk_op_no_memory(r, err); // nothing is ever prepared
}

#endif

static const struct stk_arg_row replace_args[] = {
    [ARG_PATTERN] = {.name = "pattern",
                     .type = STK_ARG_TEXT,
                     .is_required = true,
                     .help = "a regular expression of PCRE2"},
    [ARG_REWRITE] = {.name = "rewrite",
                     .type = STK_ARG_TEXT,
                     .is_required = true,
                     .help = "what takes its place; \\\\0 to \\\\9 are parts of the match"},
    [ARG_REPLACE_GLOBAL] = {.name = "replace_global",
                            .type = STK_ARG_BOOL,
                            .fallback = 1,
                            .help = "all of them, not the first alone"},
    {0}};
static const struct stk_arg_row match_args[] = {
    [ARG_PATTERN] = {.name = "pattern",
                     .type = STK_ARG_TEXT,
                     .is_required = true,
                     .help = "a regular expression of PCRE2"},
    {0}};

const struct stk_op stk_op_string_regex_replace = {
    .name = "string_regex_replace",
    .summary = "Strings with what a pattern matches replaced",
    .is_elementwise = true,
    .cost_ns = 500,
    .infer = regex_infer,
    .prepare = regex_prepare,
    .unprepare = regex_unprepare,
    .scratch_bytes = SCRATCH_BYTES,
    .scratch_end = regex_scratch_end,
    .run = regex_run,
    .arg = REPLACE,
    .args = replace_args};
const struct stk_op stk_op_string_regex_full_match = {
    .name = "string_regex_full_match",
    .summary = "Whether a pattern matches the whole string",
    .is_elementwise = true,
    .cost_ns = 200,
    .infer = regex_infer,
    .prepare = regex_prepare,
    .unprepare = regex_unprepare,
    .scratch_bytes = SCRATCH_BYTES,
    .scratch_end = regex_scratch_end,
    .run = regex_run,
    .arg = FULL_MATCH,
    .args = match_args};
