// SPDX-License-Identifier: Apache-2.0
// The SELECTs of one statement: those in parentheses (a table of FROM, WITH, a value, the right
// side of IN) from the inside out, then the statement itself. A SELECT answered by batches is
// replaced by a statement over its rows; the rest stays as written. A SELECT that depends on an
// enclosing one can't be answered alone, and stays.
#include <stdint.h>

#include "base/alloc.h"
#include "answers/query/columns/columns.h"
#include "answers/query/columns/sql_batch.h"

#define DEPTH_MAX 20

// A statement with all of its SELECTs that batches answer, in parentheses or as a whole.
struct stk_columns_answer {
    struct stk_sql_batch all[STK_SQL_ROWS_MAX];
    int count;
    char *sql;  // the rest for SQLite; sqlite3_free
    bool whole; // the last one is the statement itself
    bool interrupted;
};

struct expander {
    struct stk_columns_answer *b;
    struct stk_query *q;
    const struct stk_sql_token *tokens;
    size_t count;
};

static void put_token(sqlite3_str *out, const struct stk_sql_token *t)
{
    sqlite3_str_appendf(out, " %.*s", (int)t->n, t->p);
}

// The parenthesis that closes the one at i.
static size_t close_of(const struct expander *x, size_t i)
{
    int depth = 0;
    for (; i < x->count; i++) {
        depth += stk_sql_token_is(&x->tokens[i], "(") - stk_sql_token_is(&x->tokens[i], ")");
        if (depth == 0) {
            return i;
        }
    }
    return i;
}

// The statement by batches, or NULL.
static const char *answer(struct expander *x, const char *sql, uint64_t rows)
{
    struct stk_columns_answer *b = x->b;
    if (b->count == STK_SQL_ROWS_MAX || b->interrupted) {
        return NULL;
    }
    struct stk_sql_batch *one = &b->all[b->count];
    if (stk_sql_batch_begin(one, x->q, sql, rows, b->count)) {
        x->q->db->rows[b->count++] = &one->rows;
        return one->sql;
    }
    b->interrupted = one->plan.interrupted;
    stk_sql_batch_end(one);
    return NULL;
}

static void expand(struct expander *x, sqlite3_str *out, size_t first, size_t end, int depth)
{
    for (size_t i = first; i < end; i++) {
        put_token(out, &x->tokens[i]);
        if (!stk_sql_token_is(&x->tokens[i], "(") || i + 1 == end || depth == DEPTH_MAX ||
            !stk_sql_token_is(&x->tokens[i + 1], "select")) {
            continue;
        }
        size_t close = close_of(x, i);
        if (close >= end) {
            continue;
        }
        sqlite3_str *inner = sqlite3_str_new(NULL);
        expand(x, inner, i + 1, close, depth + 1);
        char *text = sqlite3_str_finish(inner);
        const char *answered = text ? answer(x, text, 0) : NULL;
        sqlite3_str_appendf(out, " %s", answered ? answered : text ? text : "");
        sqlite3_free(text);
        i = close - 1;
    }
}

// False: no part is answered this way, or interrupted.
static bool answer_parts(struct stk_columns_answer *b, struct stk_query *q, const char *sql,
                         uint64_t rows)
{
    struct stk_sql_token tokens[STK_SQL_TOKENS_MAX];
    struct expander x = {b, q, tokens, stk_sql_lex(sql, tokens, STK_SQL_TOKENS_MAX)};
    if (x.count == SIZE_MAX || x.count == 0 || stk_sql_token_is(&tokens[0], "explain")) {
        return false;
    }
    sqlite3_str *out = sqlite3_str_new(NULL);
    expand(&x, out, 0, x.count, 0);
    b->sql = sqlite3_str_finish(out);
    const char *whole = b->sql ? answer(&x, b->sql, rows) : NULL;
    if (whole) {
        sqlite3_free(b->sql);
        b->sql = sqlite3_mprintf("%s", whole);
        b->whole = true;
    }
    return b->count > 0 && b->sql && !b->interrupted;
}

struct stk_columns_answer *stk_columns_answer_begin(struct stk_query *q, const char *sql,
                                                    uint64_t rows)
{
    struct stk_columns_answer *a = stk_alloc_zero(1, sizeof *a);
    if (a && !answer_parts(a, q, sql, rows)) {
        stk_columns_answer_end(a, q);
        return NULL;
    }
    return a;
}

const char *stk_columns_answer_rest(const struct stk_columns_answer *a)
{
    return a->sql;
}

bool stk_columns_answer_count(const struct stk_columns_answer *a, uint64_t *rows)
{
    const struct stk_sql_batch *last = &a->all[a->count - 1];
    *rows = last->matching;
    return a->whole && last->counted;
}

void stk_columns_answer_end(struct stk_columns_answer *a, struct stk_query *q)
{
    if (!a) {
        return;
    }
    for (int i = 0; i < a->count; i++) {
        q->db->rows[i] = NULL;
        stk_sql_batch_end(&a->all[i]);
    }
    sqlite3_free(a->sql);
    stk_free(a);
}
