// SPDX-License-Identifier: Apache-2.0
// Matches texts with the rules of names.def. An index, built once, leads from the text's first byte
// to the rules that are anchored there, and from each pair of adjacent bytes to the rules whose
// pattern begins with it. So one pass over a text checks all rules (a profile may have a million
// distinct names of some hundred bytes).
#include "profile/store/names_match.h"

#include <pthread.h>

#include "base/assert.h"
#include "wire/wire.h"

enum how { HOW_IS, HOW_STARTS, HOW_ENDS, HOW_HAS, HOW_NOCASE, HOW_OP };

struct rule {
    enum stk_name_scope scope;
    enum how how;
    struct stk_str pattern;
    const char *unless;
    uint32_t bits;
};
static const struct rule rules[] = {
#define N(scope, how, pattern, unless, bits, reason)                                               \
    {STK_SCOPE_##scope, HOW_##how, {pattern, sizeof(pattern) - 1}, unless, bits},
#include "profile/store/names.def"
#undef N
};
#define RULE_COUNT (sizeof rules / sizeof *rules)
_Static_assert(RULE_COUNT < UINT16_MAX, "rule numbers fit in 16 bits");

#define PAIRS 1024u

// Heads of chains of rules: number + 1, 0 ends. A rule is in one chain.
static uint16_t anchored[STK_SCOPE_COUNT][256], ending[STK_SCOPE_COUNT];
static uint16_t floating[STK_SCOPE_COUNT][PAIRS];
static uint16_t next_rule[RULE_COUNT];
static pthread_once_t index_once = PTHREAD_ONCE_INIT;

static unsigned lower(char c)
{
    unsigned u = (unsigned char)c;
    return u - 'A' < 26 ? u + ('a' - 'A') : u;
}

static unsigned pair_of(const char *p)
{
    return (lower(p[0]) * 37 + lower(p[1])) % PAIRS;
}

static void build_index(void)
{
    for (size_t i = 0; i < RULE_COUNT; i++) {
        const struct rule *r = &rules[i];
        uint16_t *head;
        if (r->how == HOW_HAS || r->how == HOW_NOCASE) {
            head = &floating[r->scope][pair_of(r->pattern.p)];
        } else if (r->how == HOW_ENDS) {
            head = &ending[r->scope];
        } else {
            head = &anchored[r->scope][(unsigned char)r->pattern.p[0]];
        }
        next_rule[i] = *head;
        *head = (uint16_t)(i + 1);
    }
}

// Any of the '|'-separated parts.
static bool has_any(struct stk_str s, const char *parts)
{
    while (*parts) {
        size_t n = strcspn(parts, "|");
        if (stk_str_contains(s, (struct stk_str){parts, n})) {
            return true;
        }
        parts += n + (parts[n] == '|');
    }
    return false;
}

// Does `rest`, a tail of the text, begin with the pattern? With HOW_ENDS, the pattern is at its
// end.
static bool matches(const struct rule *r, struct stk_str rest)
{
    switch (r->how) {
    case HOW_IS:
        return stk_str_eq(rest, r->pattern);
    case HOW_NOCASE:
        return stk_str_starts_nocase(rest, r->pattern);
    case HOW_ENDS:
        return stk_str_ends(rest, r->pattern);
    case HOW_OP:
        return stk_str_starts(rest, r->pattern) &&
               (rest.n == r->pattern.n || rest.p[r->pattern.n] == '.');
    case HOW_STARTS:
    case HOW_HAS:
        break;
    }
    return stk_str_starts(rest, r->pattern);
}

static uint32_t ask_chain(uint16_t chain, struct stk_str text, struct stk_str rest)
{
    uint32_t bits = 0;
    for (; chain; chain = next_rule[chain - 1]) {
        const struct rule *r = &rules[chain - 1];
        if (matches(r, rest) && !has_any(text, r->unless)) {
            bits |= r->bits;
        }
    }
    return bits;
}

uint32_t stk_names_ask(enum stk_name_scope scope, struct stk_str text)
{
    STK_ASSERT((unsigned)scope < STK_SCOPE_COUNT);
    pthread_once(&index_once, build_index);
    if (!text.n) {
        return 0;
    }
    uint32_t bits = ask_chain(anchored[scope][(unsigned char)text.p[0]], text, text);
    bits |= ask_chain(ending[scope], text, text);
    const uint16_t *heads = floating[scope];
    for (size_t i = 0; i + 1 < text.n; i++) {
        if (heads[pair_of(text.p + i)]) {
            bits |= ask_chain(heads[pair_of(text.p + i)], text,
                              (struct stk_str){text.p + i, text.n - i});
        }
    }
    return bits;
}
