// SPDX-License-Identifier: Apache-2.0
// string_regex_replace and string_regex_full_match: attributes "pattern", "rewrite" (\0 to \9 stand
// for what the pattern's parts matched) and "replace_global". Uses PCRE2, configured to behave like
// RE2 where TensorFlow's users would notice: UTF-8, ASCII classes, `$` only at the end, the search
// after an empty match. It also supports look-around and back-references. An element fails if a
// match takes more than ten million steps from its start, or if searching one string takes more
// than ten seconds (base/regex.h). A result beyond the budget, or 1 GiB, is an out-of-memory error.
#include <string.h>

#include "base/alloc.h"
#include "base/regex.h"
#include "engine/ops/op_util.h"

enum { ARG_PATTERN, ARG_REWRITE, ARG_REPLACE_GLOBAL };
enum { REPLACE, FULL_MATCH };

#define RESULT_MAX ((size_t)1 << 30)

struct regex {
    struct stk_regex *pattern; // each thread searches with a fork
    struct stk_bytes rewrite;
};

static void regex_unprepare(void *prepared)
{
    struct regex *x = prepared;
    stk_regex_free(x->pattern);
    stk_free(x);
}

// In a rewrite, a backslash must be followed by the digit of an existing part, or by a backslash.
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

static bool is_text(const struct stk_attr *a)
{
    return a && a->kind == STK_ATTR_TEXT;
}

static enum stoker_status compile(struct regex *x, const struct stk_op_infer *c,
                                  struct stoker_err *err)
{
    const struct stk_attr *pattern = c->args[ARG_PATTERN].attr;
    const struct stk_attr *rewrite = c->op->arg == REPLACE ? c->args[ARG_REWRITE].attr : NULL;
    const struct stk_regex_how how = {
        .is_whole = c->op->arg == FULL_MATCH, .steps_max = 10000000, .first_go = 1024};
    char why[STK_REGEX_WHY];
    size_t at;
    if (!is_text(pattern) || (!how.is_whole && !is_text(rewrite))) {
        return stk_err_set(err, STOKER_EINVAL, "regex: pattern and rewrite are texts");
    }
    x->pattern =
        stk_regex_make((struct stk_str){pattern->text, (size_t)pattern->count}, &how, &at, why);
    if (!x->pattern) {
        return at ? stk_err_set(err, STOKER_EINVAL, "regex: pattern '%.200s', at %zu: %s",
                                pattern->text, at - 1, why)
                  : stk_err_nomem(err);
    }
    if (how.is_whole) {
        return STOKER_OK;
    }
    uint32_t parts = stk_regex_parts(x->pattern);
    x->rewrite = (struct stk_bytes){(const uint8_t *)rewrite->text, (size_t)rewrite->count};
    return rewrite_fits(x->rewrite, parts)
               ? STOKER_OK
               : stk_err_set(err, STOKER_EINVAL,
                             "regex: rewrite '%.200s': \\ must precede a digit, up to %u, or "
                             "another \\",
                             rewrite->text, parts < 9 ? parts : 9);
}

static enum stoker_status regex_prepare(const struct stk_op_infer *c, void **out,
                                        struct stoker_err *err)
{
    struct regex *x = stk_alloc_zero(1, sizeof *x);
    *out = NULL;
    if (!x) {
        return stk_err_nomem(err);
    }
    enum stoker_status s = compile(x, c, err);
    if (s != STOKER_OK) {
        regex_unprepare(x);
        return s;
    }
    *out = x;
    return STOKER_OK;
}

struct regex_scratch {
    struct stk_regex *search;
    uint8_t *text; // grows
    size_t size, capacity, most;
};

static void regex_scratch_end(void *scratch)
{
    struct regex_scratch *s = scratch;
    stk_regex_free(s->search);
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
    bool ok = true;
    for (size_t i = 0; ok && i < rewrite.size; i++) {
        const uint8_t *p = rewrite.data + i;
        size_t begin, end;
        if (*p != '\\') {
            ok = put(s, p, 1);
        } else if (*++p == '\\') {
            ok = put(s, p, 1);
            i++;
        } else {
            i++;
            if (stk_regex_part(s->search, (uint32_t)(*p - '0'), &begin, &end)) {
                ok = put(s, in.data + begin, end - begin);
            }
        }
    }
    return ok;
}

// Bytes of the character at p; 1 if it isn't UTF-8.
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

static int find(struct regex_scratch *s, struct stk_bytes in, size_t from, char why[STK_REGEX_WHY])
{
    return stk_regex_find(s->search, (struct stk_str){(const char *)in.data, in.size}, from, NULL,
                          NULL, why);
}

// Writes the string with its matches replaced into scratch; returns how many, or below 0 like
// stk_regex_find.
static int64_t replace(const struct regex *x, struct regex_scratch *s, struct stk_bytes in,
                       bool all, char why[STK_REGEX_WHY])
{
    size_t p = 0, last_end = SIZE_MAX, first, end;
    int64_t count = 0;
    s->size = 0;
    while (p <= in.size && (all || count == 0)) {
        int found = find(s, in, p, why);
        if (found < 0) {
            return found;
        }
        if (!found) {
            break;
        }
        (void)stk_regex_part(s->search, 0, &first, &end);
        first = first < p ? p : first; // \K can move them
        end = end < first ? first : end;
        if (!put(s, in.data + p, first > p ? first - p : 0)) {
            return -2;
        }
        if (first == last_end && end == first) { // no empty match where the last one ended
            size_t n = p < in.size ? character(in.data + first, in.size - first) : 1;
            if (first < in.size && !put(s, in.data + first, n)) {
                return -2;
            }
            p = first + n;
            continue;
        }
        if (!put_rewrite(s, x->rewrite, in)) {
            return -2;
        }
        p = last_end = end;
        count++;
    }
    return p >= in.size || put(s, in.data + p, in.size - p) ? count : -2;
}

static enum stoker_status trouble(struct stk_op_run *r, int64_t i, int64_t found, const char *why,
                                  struct stoker_err *err)
{
    return found == -2 ? stk_op_no_memory(r, err)
                       : stk_op_fail(r, i, STOKER_EINVAL,
                                     "the pattern '%.100s' could not be searched for: %s",
                                     r->args[ARG_PATTERN].text, why);
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
    char why[STK_REGEX_WHY];
    if (!out) {
        return err->code;
    }
    struct stk_pool_stats pool = stk_pool_stats_of(r->pool);
    s->most = pool.cap_bytes < RESULT_MAX ? pool.cap_bytes : RESULT_MAX;
    s->search = s->search ? s->search : stk_regex_fork(x->pattern);
    if (!s->search || !stk_keep_join(&r->out[0].keep, in->keep)) {
        return stk_err_nomem(err);
    }
    for (int64_t k = 0; k < r->n * each && k / each < r->failed; k++) {
        struct stk_bytes text = ((struct stk_bytes *)stk_col_at(in, k / each))[k % each];
        int64_t found =
            r->op->arg == FULL_MATCH ? find(s, text, 0, why) : replace(x, s, text, all, why);
        if (found < 0) {
            return trouble(r, k / each, found, why, err);
        }
        if (r->op->arg == FULL_MATCH) {
            ((uint8_t *)out)[k] = found > 0;
            continue;
        }
        ((struct stk_bytes *)out)[k] = text;
        if (found) {
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

#define PATTERN_ROW STK_ARG("pattern", TEXT, "a PCRE2 regular expression", .is_required = true)
static const struct stk_arg_row replace_args[] = {
    [ARG_PATTERN] = PATTERN_ROW,
    [ARG_REWRITE] = STK_ARG("rewrite", TEXT, "replacement; \\\\0 to \\\\9 are groups of the match",
                            .is_required = true),
    [ARG_REPLACE_GLOBAL] =
        STK_ARG("replace_global", BOOL, "replace all matches, not only the first", .fallback = 1),
    {0}};
static const struct stk_arg_row match_args[] = {[ARG_PATTERN] = PATTERN_ROW, {0}};

const struct stk_op stk_op_string_regex_replace = {.name = "string_regex_replace",
                                                   .summary =
                                                       "Replaces a pattern's matches in strings",
                                                   .is_elementwise = true,
                                                   .cost_ns = 500,
                                                   .signature = "string -> same",
                                                   .prepare = regex_prepare,
                                                   .unprepare = regex_unprepare,
                                                   .scratch_bytes = sizeof(struct regex_scratch),
                                                   .scratch_end = regex_scratch_end,
                                                   .run = regex_run,
                                                   .arg = REPLACE,
                                                   .args = replace_args};
const struct stk_op stk_op_string_regex_full_match = {
    .name = "string_regex_full_match",
    .summary = "Whether a pattern matches the whole string",
    .is_elementwise = true,
    .cost_ns = 200,
    .signature = "string -> bool",
    .prepare = regex_prepare,
    .unprepare = regex_unprepare,
    .scratch_bytes = sizeof(struct regex_scratch),
    .scratch_end = regex_scratch_end,
    .run = regex_run,
    .arg = FULL_MATCH,
    .args = match_args};
