// SPDX-License-Identifier: Apache-2.0
// Fixes as words, variables and commands; see choice.h.
#include "job/tune/choice.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

void stk_tune_label(const struct stk_tune_choice *choice, char to[STK_TUNE_LABEL])
{
    snprintf(to, STK_TUNE_LABEL, choice->value[0] ? "%s=%s" : "%s", choice->fix->id, choice->value);
}

void stk_tune_fill(const char *text, const char *value, char *to, size_t size)
{
    STK_ASSERT(size > 0);
    size_t n = 0;
    while (*text && n + 1 < size) {
        if (text[0] == '{' && text[1] == '}') {
            int put = snprintf(to + n, size - n, "%s", value);
            n += (size_t)put < size - n ? (size_t)put : size - n - 1;
            text += 2;
        } else {
            to[n++] = *text++;
        }
    }
    to[n] = 0;
}

struct stk_tune_set stk_tune_with(const struct stk_tune_set *set,
                                  const struct stk_tune_choice *choice)
{
    STK_ASSERT(set->count >= 0 && set->count <= STK_TUNE_TOGETHER);
    struct stk_tune_set made = *set;
    if (made.count < STK_TUNE_TOGETHER) {
        made.items[made.count++] = *choice;
    }
    return made;
}

static bool has(const struct stk_tune_set *set, const struct stk_tune_choice *choice)
{
    for (int i = 0; i < set->count; i++) {
        if (set->items[i].fix == choice->fix && strcmp(set->items[i].value, choice->value) == 0) {
            return true;
        }
    }
    return false;
}

bool stk_tune_covers(const struct stk_tune_set *all, const struct stk_tune_set *some)
{
    bool covers = true;
    for (int i = 0; covers && i < some->count; i++) {
        covers = has(all, &some->items[i]);
    }
    return covers;
}

bool stk_tune_is_same(const struct stk_tune_set *a, const struct stk_tune_set *b)
{
    return a->count == b->count && stk_tune_covers(a, b);
}

enum stk_tune_changes stk_tune_changes_of(const struct stk_tune_set *set)
{
    enum stk_tune_changes most = STK_CHANGES_NOTHING;
    for (int i = 0; i < set->count; i++) {
        enum stk_tune_changes one = set->items[i].fix->changes;
        one = one == STK_CHANGES_CALLBACKS ? STK_CHANGES_ORDER : one;
        most = one > most ? one : most;
    }
    return most;
}

uint64_t stk_tune_together(const struct stk_tune_set *set)
{
    STK_ASSERT(set->count <= STK_TUNE_TOGETHER);
    for (int i = 0; i < set->count; i++) {
        long n = 0;
        if (set->items[i].fix->is_in_steps && sscanf(set->items[i].value, "%ld", &n) == 1 &&
            n > 1) {
            return (uint64_t)n;
        }
    }
    return 1;
}

static const char *value_in(char *const *env, const char *name, size_t n)
{
    for (size_t i = 0; env[i]; i++) {
        if (strncmp(env[i], name, n) == 0 && env[i][n] == '=') {
            return env[i] + n + 1;
        }
    }
    return NULL;
}

size_t stk_tune_name_length(const struct stk_rep_fix *fix)
{
    STK_ASSERT(fix->env);
    return strcspn(fix->env, "+=");
}

// With "+" it is appended to K's value, after a colon if K is a list of files or of the C library's
// settings, else after a space.
void stk_tune_set_variable(const struct stk_tune_choice *choice, const char *now, char *to,
                           size_t size)
{
    STK_ASSERT(size > 0);
    char filled[STK_TUNE_LINE];
    stk_tune_fill(choice->fix->env, choice->value, filled, sizeof filled);
    size_t n = stk_tune_name_length(choice->fix);
    STK_ASSERT(filled[n] == '=' || (filled[n] == '+' && filled[n + 1] == '='));
    bool adds = filled[n] == '+';
    const char *value = filled + n + 1 + adds;
    bool has_colons =
        strncmp(filled, "LD_PRELOAD", n) == 0 || strncmp(filled, "GLIBC_TUNABLES", n) == 0;
    if (adds && now && *now) {
        snprintf(to, size, "%.*s=%s%s%s", (int)n, filled, now, has_colons ? ":" : " ", value);
    } else {
        snprintf(to, size, "%.*s=%s", (int)n, filled, value);
    }
}

// "STOKER_TUNE=stop=N fix=...", in the hooks' syntax.
static void plan_of(const struct stk_tune_set *set, uint64_t stop, char *to, size_t size)
{
    size_t n = (size_t)snprintf(to, size, "STOKER_TUNE=stop=%llu fix=", (unsigned long long)stop);
    for (int i = 0; i < set->count && n < size; i++) {
        if (set->items[i].fix->is_hooked) {
            n += (size_t)snprintf(to + n, size - n, "%s=%s;", set->items[i].fix->id,
                                  set->items[i].value);
        }
    }
}

char **stk_tune_environment(char *const *env, const struct stk_tune_set *set, uint64_t stop)
{
    enum { LINE = 2048, MORE = STK_TUNE_TOGETHER + 2 };
    size_t count = 0, kept = 0;
    while (env[count]) {
        count++;
    }
    char **made = stk_alloc_zero(1, (count + MORE) * sizeof *made + (size_t)MORE * LINE);
    if (!made) {
        return NULL;
    }
    char *text = (char *)(made + count + MORE);
    memcpy(made, env, count * sizeof *made);
    kept = count;
    for (int i = -1; i < set->count; i++, text += LINE) {
        if (i < 0) {
            plan_of(set, stop, text, LINE);
        } else if (set->items[i].fix->env) {
            const struct stk_tune_choice *one = &set->items[i];
            const char *now = value_in(made, one->fix->env, stk_tune_name_length(one->fix));
            stk_tune_set_variable(one, now, text, LINE);
        } else {
            continue;
        }
        size_t name = strcspn(text, "=") + 1, at = 0;
        while (at < kept && strncmp(made[at], text, name) != 0) {
            at++;
        }
        made[at] = text;
        kept += at == kept;
    }
    return made;
}

char **stk_tune_command(char *const *argv, const struct stk_tune_set *set)
{
    enum { WORDS = 64 };
    size_t count = 0, front = 0;
    while (argv[count]) {
        count++;
    }
    char **made = stk_alloc_zero(1, (count + WORDS + 1) * sizeof *made +
                                        (size_t)STK_TUNE_TOGETHER * STK_TUNE_LINE);
    char *text = made ? (char *)(made + count + WORDS + 1) : NULL;
    for (int i = 0; made && i < set->count; i++, text += STK_TUNE_LINE) {
        if (!set->items[i].fix->wrap) {
            continue;
        }
        stk_tune_fill(set->items[i].fix->wrap, set->items[i].value, text, STK_TUNE_LINE);
        char *rest = NULL;
        for (char *word = strtok_r(text, " ", &rest); word && front < WORDS;
             word = strtok_r(NULL, " ", &rest)) {
            made[front++] = word;
        }
    }
    if (made) {
        memcpy(made + front, argv, count * sizeof *made);
    }
    return made;
}
