// SPDX-License-Identifier: Apache-2.0
// Tokens of an SQL statement, enough to recognize its form.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum stk_sql_token_kind {
    STK_SQL_WORD, // keyword or plain identifier
    STK_SQL_NUMERAL,
    STK_SQL_STRING, // '...'
    STK_SQL_SIGN,   // operator or punctuation
    STK_SQL_OTHER   // quoted identifier, parameter, anything unknown
};

struct stk_sql_token {
    enum stk_sql_token_kind kind;
    const char *p;
    size_t n;
};

// The tokens of `sql`, without comments and blanks. Returns their number; SIZE_MAX: more than
// `max`.
size_t stk_sql_lex(const char *sql, struct stk_sql_token *out, size_t max);
// A word matches in any case; a sign must match exactly.
bool stk_sql_token_is(const struct stk_sql_token *t, const char *text);
