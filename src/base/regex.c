// SPDX-License-Identifier: Apache-2.0
// PCRE2 restarts its step count at each place where a match may start, so one long text could take
// hours. So texts are searched a few places at a time, checking the clock in between.
#include "base/regex.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define SEARCH_MAX_NS 10000000000u // CPU time of the thread, for one text
#define GO_NS 20000000u            // after a faster round, the next one covers twice as many places
#define HEAP_MAX_KIB (64 << 10)
#define STACK_MIN_BYTES ((size_t)32 << 10)
#define STACK_MAX_BYTES ((size_t)8 << 20)

struct stk_regex {
    pcre2_general_context *memory;
    pcre2_match_context *limits;
    pcre2_jit_stack *stack;
    pcre2_match_data *found;
    pcre2_code *code; // never changes: forks share it
    struct stk_regex_how how;
    uint32_t parts;
    bool is_in_goes, is_fork;
    uint64_t began_ns; // when the text's second round started; 0: not yet
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
    if (!r->is_fork) {
        pcre2_code_free(r->code);
    }
    pcre2_match_data_free(r->found);
    pcre2_jit_stack_free(r->stack);
    pcre2_match_context_free(r->limits);
    pcre2_general_context_free(r->memory);
    stk_free(r);
}

// Per-thread search state.
static bool prepare(struct stk_regex *r)
{
    uint32_t parts = r->parts + 1 < STK_REGEX_PARTS ? r->parts + 1 : STK_REGEX_PARTS;
    size_t jit = 0;
    r->limits = pcre2_match_context_create(r->memory);
    r->found = pcre2_match_data_create(parts, r->memory);
    if (!r->limits || !r->found) {
        return false;
    }
    (void)pcre2_set_match_limit(r->limits, r->how.steps_max);
    (void)pcre2_set_heap_limit(r->limits, HEAP_MAX_KIB);
    (void)pcre2_pattern_info(r->code, PCRE2_INFO_JITSIZE, &jit);
    if (jit) {
        r->stack = pcre2_jit_stack_create(STACK_MIN_BYTES, STACK_MAX_BYTES, r->memory);
        pcre2_jit_stack_assign(r->limits, NULL, r->stack);
    }
    return true;
}

// False: *at and `why` say what is wrong; *at stays 0 if memory ran out.
static bool compile(struct stk_regex *r, struct stk_str pattern, size_t *at,
                    char why[STK_REGEX_WHY])
{
    r->memory = pcre2_general_context_create(allocate, release, NULL);
    pcre2_compile_context *how = r->memory ? pcre2_compile_context_create(r->memory) : NULL;
    if (!how) {
        return false;
    }
    uint32_t options =
        PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C;
    options |= r->how.is_whole ? PCRE2_ANCHORED | PCRE2_ENDANCHORED : 0;
    options |= r->is_in_goes ? PCRE2_USE_OFFSET_LIMIT : 0;
    int code;
    PCRE2_SIZE where = 0;
    r->code = pcre2_compile((PCRE2_SPTR)pattern.p, pattern.n, options, &code, &where, how);
    pcre2_compile_context_free(how);
    if (!r->code) {
        (void)pcre2_get_error_message(code, (PCRE2_UCHAR *)why, STK_REGEX_WHY);
        *at = code == PCRE2_ERROR_HEAP_FAILED ? 0 : (size_t)where + 1;
        return false;
    }
    (void)pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE); // slower without
    (void)pcre2_pattern_info(r->code, PCRE2_INFO_CAPTURECOUNT, &r->parts);
    return true;
}

struct stk_regex *stk_regex_make(struct stk_str pattern, const struct stk_regex_how *how,
                                 size_t *at, char why[STK_REGEX_WHY])
{
    static const struct stk_regex_how usual = {.steps_max = 1000000, .first_go = 64};
    struct stk_regex *r = stk_alloc_zero(1, sizeof *r);
    *at = 0;
    *why = 0;
    if (!r) {
        return NULL;
    }
    r->how = how ? *how : usual;
    // \G: where the search started
    r->is_in_goes = !r->how.is_whole && !memmem(pattern.p, pattern.n, "\\G", 2);
    if (!compile(r, pattern, at, why) || !prepare(r)) {
        stk_regex_free(r);
        return NULL;
    }
    return r;
}

struct stk_regex *stk_regex_fork(const struct stk_regex *r)
{
    struct stk_regex *fork = stk_alloc_zero(1, sizeof *fork);
    if (!fork) {
        return NULL;
    }
    *fork = (struct stk_regex){.memory = pcre2_general_context_create(allocate, release, NULL),
                               .code = r->code,
                               .how = r->how,
                               .parts = r->parts,
                               .is_in_goes = r->is_in_goes,
                               .is_fork = true};
    if (!fork->memory || !prepare(fork)) {
        stk_regex_free(fork);
        return NULL;
    }
    return fork;
}

uint32_t stk_regex_parts(const struct stk_regex *r)
{
    return r->parts;
}

bool stk_regex_part(const struct stk_regex *r, uint32_t part, size_t *begin, size_t *end)
{
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(r->found);
    if (part >= pcre2_get_ovector_count(r->found) || at[2 * part] == PCRE2_UNSET) {
        return false;
    }
    *begin = at[2 * part];
    *end = at[2 * part + 1] < *begin ? *begin : at[2 * part + 1]; // \K in a look-ahead
    return true;
}

int stk_regex_find(struct stk_regex *r, struct stk_str text, size_t from, bool (*stop)(void *),
                   void *arg, char why[STK_REGEX_WHY])
{
    const char *p = text.p ? text.p : "";
    uint64_t last_ns = 0;
    *why = 0;
    r->began_ns = from ? r->began_ns : 0;
    if (stop && stop(arg)) {
        return -1;
    }
    for (size_t go = r->how.first_go;;) {
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
        r->began_ns = r->began_ns ? r->began_ns : now_ns;
        if (now_ns - r->began_ns > SEARCH_MAX_NS) {
            (void)snprintf(why, STK_REGEX_WHY, "the search takes too long");
            return -1;
        }
        go = last_ns && now_ns - last_ns < GO_NS ? go * 2 : r->how.first_go;
        last_ns = now_ns;
        from = end;
    }
}
