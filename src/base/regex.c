// SPDX-License-Identifier: Apache-2.0
// PCRE2 counts its steps anew at each place where a match may begin, so that one long text could
// take hours: it is searched in goes of some places, and between them the time is looked at.
#include "base/regex.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define STEPS_MAX 1000000          // from one place where a match may begin
#define SEARCH_MAX_NS 10000000000u // of the thread's processor time, for one text
#define GO_NS 20000000u            // a go that took less is followed by one of twice as many places
#define FIRST_GO 64                // places
#define HEAP_MAX_KIB (64 << 10)
#define STACK_MIN_BYTES ((size_t)32 << 10)
#define STACK_MAX_BYTES ((size_t)8 << 20)

struct stk_regex {
    pcre2_general_context *memory;
    pcre2_match_context *limits;
    pcre2_jit_stack *stack;
    pcre2_match_data *found;
    pcre2_code *code;
    bool is_in_goes;
};

static void *allocate(PCRE2_SIZE size, void *arg)
{
    (void)arg;
    return stk_alloc(size);
}

static void release(void *p, void *arg)
{
    (void)arg;
    stk_free(p);
}

void stk_regex_free(struct stk_regex *r)
{
    if (!r) {
        return;
    }
    pcre2_code_free(r->code);
    pcre2_match_data_free(r->found);
    pcre2_jit_stack_free(r->stack);
    pcre2_match_context_free(r->limits);
    pcre2_general_context_free(r->memory);
    stk_free(r);
}

static bool prepare(struct stk_regex *r)
{
    r->memory = pcre2_general_context_create(allocate, release, NULL);
    r->limits = r->memory ? pcre2_match_context_create(r->memory) : NULL;
    r->found = r->limits ? pcre2_match_data_create(1, r->memory) : NULL;
    if (!r->found) {
        return false;
    }
    (void)pcre2_set_match_limit(r->limits, STEPS_MAX);
    (void)pcre2_set_heap_limit(r->limits, HEAP_MAX_KIB);
    return true;
}

struct stk_regex *stk_regex_make(struct stk_str pattern, size_t *at, char why[STK_REGEX_WHY])
{
    struct stk_regex *r = stk_alloc_zero(1, sizeof *r);
    *at = 0;
    *why = 0;
    if (!r || !prepare(r)) {
        stk_regex_free(r);
        return NULL;
    }
    pcre2_compile_context *how = pcre2_compile_context_create(r->memory);
    if (!how) {
        stk_regex_free(r);
        return NULL;
    }
    r->is_in_goes = !memmem(pattern.p, pattern.n, "\\G", 2); // \G: where the search began
    uint32_t options =
        PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C;
    options |= r->is_in_goes ? PCRE2_USE_OFFSET_LIMIT : 0;
    int code;
    PCRE2_SIZE where = 0;
    r->code = pcre2_compile((PCRE2_SPTR)pattern.p, pattern.n, options, &code, &where, how);
    pcre2_compile_context_free(how);
    if (!r->code) {
        (void)pcre2_get_error_message(code, (PCRE2_UCHAR *)why, STK_REGEX_WHY);
        *at = code == PCRE2_ERROR_HEAP_FAILED ? 0 : (size_t)where + 1;
        stk_regex_free(r);
        return NULL;
    }
    if (pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE) == 0) { // slower without
        r->stack = pcre2_jit_stack_create(STACK_MIN_BYTES, STACK_MAX_BYTES, r->memory);
        pcre2_jit_stack_assign(r->limits, NULL, r->stack);
    }
    return r;
}

int stk_regex_find(struct stk_regex *r, struct stk_str text, bool (*stop)(void *), void *arg,
                   char why[STK_REGEX_WHY])
{
    const char *p = text.p ? text.p : "";
    uint64_t began_ns = 0, last_ns = 0;
    *why = 0;
    if (stop && stop(arg)) {
        return -1;
    }
    for (size_t from = 0, go = FIRST_GO;;) {
        size_t end = r->is_in_goes && text.n - from > go ? from + go : text.n;
        while (end < text.n && ((unsigned char)p[end] & 0xc0) == 0x80) { // within a character
            end++;
        }
        if (r->is_in_goes) {
            (void)pcre2_set_offset_limit(r->limits, end < text.n ? end - 1 : PCRE2_UNSET);
        }
        int code = pcre2_match(r->code, (PCRE2_SPTR)p, text.n, from, 0, r->found, r->limits);
        if (code >= 0) {
            return 1;
        }
        if (code == PCRE2_ERROR_NOMATCH && end == text.n) {
            return 0;
        }
        if (code == PCRE2_ERROR_NOMEMORY) {
            return -2;
        }
        if (code != PCRE2_ERROR_NOMATCH) {
            (void)pcre2_get_error_message(code, (PCRE2_UCHAR *)why, STK_REGEX_WHY);
            return -1;
        }
        if (stop && stop(arg)) {
            return -1;
        }
        uint64_t now_ns = stk_clock_of(CLOCK_THREAD_CPUTIME_ID);
        began_ns = began_ns ? began_ns : now_ns;
        if (now_ns - began_ns > SEARCH_MAX_NS) {
            (void)snprintf(why, STK_REGEX_WHY, "the search takes too long");
            return -1;
        }
        go = last_ns && now_ns - last_ns < GO_NS ? go * 2 : FIRST_GO;
        last_ns = now_ns;
        from = end;
    }
}
