// SPDX-License-Identifier: Apache-2.0
// Cuts an SQL statement into tokens.
#include "answers/query/sql_lex.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/assert.h"

static size_t quoted(const char *p, char end)
{
    size_t n = 1;
    while (p[n] && (p[n] != end || p[n + 1] == end)) {
        n += p[n] == end ? 2 : 1;
    }
    return p[n] ? n + 1 : n;
}

static size_t blank(const char *p)
{
    if (isspace((unsigned char)*p)) {
        return 1;
    }
    if (p[0] == '-' && p[1] == '-') {
        return strcspn(p, "\n");
    }
    if (p[0] == '/' && p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        return end ? (size_t)(end - p) + 2 : strlen(p);
    }
    return 0;
}

static size_t numeral(const char *p)
{
    size_t n = strspn(p, "0123456789.");
    if ((p[n] == 'e' || p[n] == 'E') &&
        isdigit((unsigned char)p[n + 1 + (p[n + 1] == '+' || p[n + 1] == '-')])) {
        n += 1 + (p[n + 1] == '+' || p[n + 1] == '-');
    }
    while (isalnum((unsigned char)p[n]) || p[n] == '_') {
        n++;
    }
    return n;
}

static size_t word(const char *p)
{
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_' || (unsigned char)p[n] >= 0x80) {
        n++;
    }
    return n;
}

static struct stk_sql_token token(const char *p)
{
    static const char *const pairs[] = {"<=", ">=", "<>", "!=", "==", "||", "<<", ">>"};
    if (isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)p[1]))) {
        return (struct stk_sql_token){STK_SQL_NUMERAL, p, numeral(p)};
    }
    if (word(p)) {
        return (struct stk_sql_token){STK_SQL_WORD, p, word(p)};
    }
    if (*p == '\'') {
        return (struct stk_sql_token){STK_SQL_STRING, p, quoted(p, '\'')};
    }
    if (*p == '"' || *p == '`') {
        return (struct stk_sql_token){STK_SQL_OTHER, p, quoted(p, *p)};
    }
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (strncmp(p, pairs[i], 2) == 0) {
            return (struct stk_sql_token){STK_SQL_SIGN, p, 2};
        }
    }
    return (struct stk_sql_token){strchr("()*,.+-/%<>=;&|~", *p) ? STK_SQL_SIGN : STK_SQL_OTHER, p,
                                  1};
}

size_t stk_sql_lex(const char *sql, struct stk_sql_token *out, size_t max)
{
    STK_ASSERT(sql && (max == 0 || out));
    size_t count = 0, skipped;
    while (*sql) {
        if ((skipped = blank(sql)) > 0) {
            sql += skipped;
            continue;
        }
        if (count == max) {
            return SIZE_MAX;
        }
        out[count] = token(sql);
        sql += out[count++].n;
    }
    return count;
}

bool stk_sql_token_is(const struct stk_sql_token *t, const char *text)
{
    return (t->kind == STK_SQL_WORD || t->kind == STK_SQL_SIGN) && strlen(text) == t->n &&
           strncasecmp(t->p, text, t->n) == 0;
}
