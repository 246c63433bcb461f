// SPDX-License-Identifier: Apache-2.0
// Statements made of choices (world_random), over the tables of query_world.h, and whether the
// virtual tables, with batches and without, answer them as plain SQLite does over a copy of the
// same rows. For the property test, which chooses by chance, and the fuzz target.
#ifndef STK_TESTS_QUERY_GRAMMAR_H
#define STK_TESTS_QUERY_GRAMMAR_H

#include "query_world.h"

#include <math.h>

static const char *const event_columns[] = {
    "id",       "rank",   "track",  "device", "stream", "thread", "kind",  "name",
    "start_ns", "dur_ns", "end_ns", "depth",  "parent", "step",   "value", "launch"};
static const char *const kernel_columns[] = {
    "id",          "rank",      "track",  "device",    "stream",       "kind",
    "name",        "start_ns",  "dur_ns", "end_ns",    "step",         "launch",
    "tensor_core", "precision", "grid",   "registers", "shared_bytes", "occupancy_pct"};
static const char *const transfer_columns[] = {"stream", "name",      "start_ns", "dur_ns",
                                               "step",   "direction", "source",   "pinned",
                                               "bytes",  "launch"};
static const char *const launch_columns[] = {
    "device", "kind", "name", "dur_ns", "step", "call", "call_thread", "call_start_ns", "delay_ns"};

struct choice {
    const char *table;
    const char *const *columns;
    uint32_t count;
};
static const struct choice choices[] = {{"events", event_columns, 16},
                                        {"kernels", kernel_columns, 18},
                                        {"transfers", transfer_columns, 10},
                                        {"launches", launch_columns, 9}};

static const char *column(const struct choice *c)
{
    return c->columns[world_random(c->count)];
}

static void item(const struct choice *c, char *out, size_t size)
{
    static const char *const functions[] = {"sum", "min", "max", "avg", "total", "count"};
    switch (world_random(8)) {
    case 0:
        snprintf(out, size, "count(*)");
        break;
    case 1:
        snprintf(out, size, "count(distinct %s)", column(c));
        break;
    case 2:
        snprintf(out, size, "round(sum(dur_ns)*1.0/count(*), 3)");
        break;
    default:
        snprintf(out, size, "%s(%s)", functions[world_random(6)], column(c));
    }
}

static void constant(char *out, size_t size)
{
    static const char *const constants[] = {"0",        "5",
                                            "7",        "2.5",
                                            "-1",       "20000",
                                            "1e3",      "null",
                                            "'gemm'",   "'7'",
                                            "'kernel'", "'0/0'",
                                            "x'41'",    "9223372036854775807",
                                            "1e30",     "100000",
                                            "-1e30",    "9.2e18",
                                            "''",       "'abc'",
                                            "2*3",      "-9223372036854775808"};
    snprintf(out, size, "%s", constants[world_random(22)]);
}

static void condition(const struct choice *c, char *out, size_t size)
{
    static const char *const signs[] = {"=", "<", "<=", ">", ">=", "<>", "is", "=="};
    static const char *const patterns[] = {"'%gemm%'", "'GEMM%'", "'a\\%b'", "'%'", "''", "'_elu'"};
    static const char *const globs[] = {"'*gemm*'", "'GEMM*'", "'[a-r]*'", "'*'", "null"};
    char a[64], b[64];
    constant(a, sizeof a);
    constant(b, sizeof b);
    switch (world_random(12)) {
    case 0:
        snprintf(out, size, "name like %s", patterns[world_random(6)]);
        break;
    case 1:
        snprintf(out, size, "name glob %s", globs[world_random(5)]);
        break;
    case 2:
        snprintf(out, size, "%s between %s and %s", column(c), a, b);
        break;
    case 3:
        snprintf(out, size, "%s in ('gemm', 7, 'kernel', 0, 'runtime')", column(c));
        break;
    case 4:
        snprintf(out, size, "%s is not null", column(c));
        break;
    case 5:
        snprintf(out, size, "(%s %s %s or %s > %s)", column(c), signs[world_random(8)], a,
                 column(c), b);
        break;
    case 6:
        snprintf(out, size, "%s %s %s", a, signs[world_random(6)], column(c));
        break;
    case 7:
        snprintf(out, size, "dur_ns > %u", world_random(30000));
        break;
    case 8:
        snprintf(out, size, "name not like '%%e%%'");
        break;
    default:
        snprintf(out, size, "%s %s %s", column(c), signs[world_random(8)], a);
    }
}

static void statement(const struct choice *c, char *out, size_t size)
{
    char items[3][80], conditions[3][160] = {{0}};
    const char *by[2] = {column(c), column(c)};
    static const char *const buckets[] = {"start_ns/20000",       "dur_ns / 5000", "2+start_ns/7",
                                          "(start_ns/100000)*10", "start_ns/0",    "-start_ns/900"};
    if (c != &choices[3] && world_random(4) == 0) {
        by[0] = buckets[world_random(6)];
    }
    uint32_t keys = world_random(3), wheres = world_random(4);
    for (int i = 0; i < 3; i++) {
        item(c, items[i], sizeof items[i]);
    }
    for (uint32_t i = 0; i < wheres; i++) {
        condition(c, conditions[i], sizeof conditions[i]);
    }
    int n = snprintf(out, size, "select ");
    for (uint32_t k = 0; k < keys; k++) {
        n += snprintf(out + n, size - (size_t)n, "%s, ", by[k]);
    }
    n += snprintf(out + n, size - (size_t)n, "%s, %s as other, %s from %s", items[0], items[1],
                  items[2], c->table);
    for (uint32_t i = 0; i < wheres; i++) {
        n += snprintf(out + n, size - (size_t)n, "%s%s", i ? " and " : " where ", conditions[i]);
    }
    for (uint32_t k = 0; k < keys; k++) {
        n += snprintf(out + n, size - (size_t)n, "%s%s", k ? ", " : " group by ",
                      world_random(3) ? by[k]
                      : k             ? "2"
                                      : "1");
    }
    if (world_random(4) == 0) {
        n += snprintf(out + n, size - (size_t)n, keys ? " having count(*) > 2" : "");
    }
    if (keys) {
        snprintf(out + n, size - (size_t)n, " order by %s", keys == 2 ? "1, 2" : "1");
    }
}

// Rows as they are, without aggregates: conditions and their pushing down.
static void plain_statement(const struct choice *c, char *out, size_t size)
{
    char conditions[3][160];
    for (int i = 0; i < 3; i++) {
        condition(c, conditions[i], sizeof conditions[i]);
    }
    snprintf(out, size,
             "select %s, %s, %s, start_ns, dur_ns from %s where %s and %s and %s "
             "order by 1, 2, 3, 4, 5",
             column(c), column(c), column(c), c == &choices[3] ? "events" : c->table, conditions[0],
             conditions[1], conditions[2]);
}

// Expressions of any depth over all columns: what is not understood is SQLite's anyway, and must
// give the same.
struct text {
    char *p;
    size_t n, size;
};
static void put(struct text *t, const char *word)
{
    int n = snprintf(t->p + t->n, t->size - t->n, "%s", word);
    t->n += (size_t)n < t->size - t->n ? (size_t)n : t->size - t->n - 1;
}
static const char *pick(const char *const *words, uint32_t count)
{
    return words[world_random(count)];
}
#define PICK(...)                                                                                  \
    pick((const char *const[]){__VA_ARGS__},                                                       \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void number(struct text *t, const struct choice *c, int depth);
static void truth(struct text *t, const struct choice *c, int depth);

static void words(struct text *t, const struct choice *c, int depth)
{
    switch (depth > 0 ? world_random(8) : 0) {
    case 1:
        put(t, "substr(name, 1, 4)");
        break;
    case 2:
        put(t, "upper(");
        words(t, c, depth - 1);
        put(t, ")");
        break;
    case 3:
        put(t, "case when ");
        truth(t, c, depth - 1);
        put(t, " then ");
        words(t, c, 0);
        put(t, PICK(" else 'other' end", " end", " else name end"));
        break;
    case 4:
        put(t, "coalesce(");
        words(t, c, 0);
        put(t, ", 'none')");
        break;
    case 5:
        put(t, PICK("name || 'x'", "substr(name, 2) || step", "nullif(name, 'gemm')"));
        break;
    default:
        put(t, PICK("name", "name", "'gemm'",
                    c == &choices[2]   ? "direction"
                    : c == &choices[3] ? "call"
                                       : "kind"));
    }
}

static void plain_number(struct text *t, const struct choice *c)
{
    if (world_random(3) == 0) {
        put(t, PICK("0", "1", "3", "-2", "1000", "2.5", "1e3", "0.1", "null", "9007199254740993",
                    "4611686018427387904", "1e18", "20000"));
    } else if (world_random(2)) {
        put(t, PICK("dur_ns", "dur_ns", "step", "k.dur_ns"));
    } else {
        put(t, column(c));
    }
}

static void number(struct text *t, const struct choice *c, int depth)
{
    bool opened = false;
    switch (depth > 0 ? world_random(14) : 0) {
    case 1:
    case 2:
    case 3:
    case 4:
        opened = world_random(3) > 0;
        put(t, opened ? "(" : "");
        number(t, c, depth - 1);
        put(t, PICK(" + ", " - ", " * ", " / ", " % ", " & ", " | ", "/", " << ", " < ", " = "));
        number(t, c, depth - 1);
        break;
    case 5:
        put(t, PICK("abs(", "-(", "+(", "~(", "not (", "(", "round(", "length("));
        number(t, c, depth - 1);
        put(t, ")");
        return;
    case 6:
        put(t, PICK("min(", "max(", "coalesce(", "ifnull(", "nullif("));
        number(t, c, depth - 1);
        put(t, ", ");
        number(t, c, depth - 1);
        put(t, ")");
        return;
    case 7:
        put(t, "case when ");
        truth(t, c, depth - 1);
        put(t, " then ");
        number(t, c, depth - 1);
        put(t, world_random(2) ? " else dur_ns end" : " end");
        return;
    case 8:
        put(t, "case ");
        number(t, c, 0);
        put(t, " when 7 then dur_ns when 8 then 2 when dur_ns then step else ");
        number(t, c, depth - 1);
        put(t, " end");
        return;
    case 9:
        put(t, "cast(");
        number(t, c, depth - 1);
        put(t, PICK(" as real)", " as integer)", " as text)"));
        return;
    case 10:
        put(t, "iif(");
        truth(t, c, depth - 1);
        put(t, ", dur_ns, ");
        number(t, c, depth - 1);
        put(t, ")");
        return;
    case 11:
        put(t, "(");
        truth(t, c, depth - 1);
        put(t, ")");
        return;
    default:
        plain_number(t, c);
        return;
    }
    put(t, opened ? ")" : "");
}

static void truth(struct text *t, const struct choice *c, int depth)
{
    put(t, "(");
    switch (world_random(depth > 0 ? 10 : 6)) {
    case 0:
        words(t, c, depth - 1);
        put(t, PICK(" = ", " <> ", " < ", " is ", " >= "));
        words(t, c, depth - 1);
        break;
    case 1:
        put(t, PICK("name like '%e%'", "name glob '*m*'", "name not like 'gemm%'", "step is null",
                    "device is not null", "name regexp '^g'", "name = 'gemm' collate nocase",
                    "step not null", "dur_ns is not null", "name in ('gemm', 'relu', null)",
                    "dur_ns > (select avg(dur_ns) from kernels)",
                    "name in (select name from kernels group by name having count(*) > 3)",
                    "dur_ns = (select k.dur_ns + step)"));
        break;
    case 2:
        number(t, c, depth - 1);
        put(t, PICK(" between 100 and 20000", " not between 5 and 15000", " in (7, 8, 9)",
                    " not in (1, 2.0, null)", " is 7", " is not 0", " isnull", " notnull"));
        break;
    case 6:
    case 7:
        truth(t, c, depth - 1);
        put(t, PICK(" and ", " or ", " and not "));
        truth(t, c, depth - 1);
        break;
    case 8:
        put(t, "not ");
        truth(t, c, depth - 1);
        break;
    default:
        number(t, c, depth - 1);
        put(t,
            PICK(" = ", " <> ", " < ", " > ", " <= ", " >= ", " is ", " is not ", " != ", " == "));
        number(t, c, depth - 1);
    }
    put(t, ")");
}

static void aggregate(struct text *t, const struct choice *c)
{
    switch (world_random(9)) {
    case 0:
        put(t, "count(*)");
        break;
    case 1:
        put(t, "count(distinct ");
        world_random(2) ? words(t, c, 2) : number(t, c, 2);
        put(t, ")");
        break;
    case 2:
        put(t, PICK("min(", "max(", "count("));
        words(t, c, 2);
        put(t, ")");
        break;
    case 3:
        put(t, PICK("sum(", "count(", "total(", "max("));
        number(t, c, 2);
        put(t, ") filter (where ");
        truth(t, c, 1);
        put(t, ")");
        break;
    case 4:
        put(t, PICK("sum(distinct ", "avg(distinct ", "min(distinct "));
        number(t, c, 1);
        put(t, ")");
        break;
    case 5:
        put(t, PICK("sum(case when ", "avg(case when ", "total(case when "));
        truth(t, c, 1);
        put(t, PICK(" then dur_ns * 1.0", " then 2.5", " then dur_ns / 3e0 "));
        put(t, PICK(" else 0 end)", " else dur_ns end)", " end)",
                    " when step = 2 then 7 else null end)"));
        break;
    default:
        put(t, PICK("sum(", "min(", "max(", "avg(", "total(", "count("));
        number(t, c, 3);
        put(t, ")");
    }
    if (world_random(5) == 0) {
        put(t, PICK(" * 2", " / 3", " + 1", " is null", " || 'x'",
                    " * 100.0 / (select sum(dur_ns) from events)"));
    }
}

static void where(struct text *t, const struct choice *c)
{
    for (uint32_t i = 0, n = world_random(3); i < n; i++) {
        put(t, i ? " and " : " where ");
        truth(t, c, 2);
    }
}

static void grouped_expressions(struct text *t, const struct choice *c)
{
    char keys[2][400] = {"", ""};
    uint32_t count = world_random(3);
    put(t, "select ");
    for (uint32_t i = 0; i < count; i++) {
        struct text key = {keys[i], 0, sizeof keys[i]};
        world_random(2) ? words(&key, c, 2) : number(&key, c, 2);
        put(t, keys[i]);
        put(t, i ? " as second, " : " as first, ");
    }
    aggregate(t, c);
    put(t, " as a, ");
    aggregate(t, c);
    put(t, " from ");
    put(t, c->table);
    put(t, " k");
    where(t, c);
    // A constant by itself counts columns.
    for (uint32_t i = 0; i < count; i++) {
        put(t, i ? ", " : " group by ");
        put(t, world_random(2) ? (i ? "second" : "first") : i ? "2" : "1");
    }
    if (count && world_random(3) == 0) {
        put(t, " having ");
        put(t,
            PICK("count(*) > 2", "a is not null", "sum(dur_ns) > 10000 and count(*) > 1", "a > 5"));
    }
    if (count && world_random(2)) {
        put(t, PICK(" order by a desc, 1, 2", " order by 1 desc", " order by max(dur_ns), 1",
                    " order by a, first limit 5", " limit 3", " order by 1 limit 4 offset 2"));
    }
}

// A table of FROM or WITH that is a SELECT itself.
static void nested(struct text *t, const struct choice *c)
{
    bool with = world_random(2);
    put(t, with ? "with g as (" : "select first, count(*), sum(n) from (");
    put(t, "select ");
    words(t, c, 2);
    put(t, " as first, count(*) as n, ");
    aggregate(t, c);
    put(t, " as a from ");
    put(t, c->table);
    put(t, " k");
    where(t, c);
    put(t, " group by 1");
    put(t, with ? ") select x.first, x.n, y.n from g x join g y on x.n = y.n + 1 order by 1, 2, 3"
                : ") group by first order by 1");
}

static void distinct_rows(struct text *t, const struct choice *c)
{
    put(t, "select distinct ");
    words(t, c, 2);
    put(t, ", ");
    number(t, c, 2);
    put(t, " as x from ");
    put(t, c->table);
    put(t, " as k");
    where(t, c);
    put(t, PICK("", "", " order by 1, 2", " order by x desc, 1"));
}

static void first_rows(struct text *t, const struct choice *c)
{
    put(t, "select ");
    words(t, c, 2);
    put(t, " as w, ");
    number(t, c, 2);
    put(t, " as x, start_ns, dur_ns, name from ");
    put(t, c == &choices[3] ? "events" : c->table);
    put(t, " k");
    where(t, c == &choices[3] ? &choices[0] : c);
    put(t, " order by ");
    put(t, PICK("dur_ns", "dur_ns desc", "name", "w desc", "2", "x desc", "dur_ns * 2 % 1000",
                "step desc nulls first", "step nulls last", "stream", "name desc, dur_ns",
                "dur_ns / 1000 desc, name, start_ns", "-dur_ns / 1e3", "w, x"));
    put(t, PICK(" limit 5", " limit 1", " limit 20 offset 3", " limit 0", " limit 1000", ""));
}

static void expressions(const struct choice *c, char *out, size_t size)
{
    struct text t = {out, 0, size};
    *out = 0;
    switch (world_random(6)) {
    case 0:
        distinct_rows(&t, c);
        break;
    case 2:
        nested(&t, c);
        break;
    case 1:
        first_rows(&t, c == &choices[3] ? &choices[1] : c);
        break;
    default:
        grouped_expressions(&t, c);
    }
}

// Equal but for the rounding of real numbers.
static bool same_answer(const char *a, const char *b)
{
    while (*a && *b) {
        size_t n = strcspn(a, "|\n"), m = strcspn(b, "|\n");
        if (n != m || memcmp(a, b, n) != 0) {
            char *end_a, *end_b;
            double x = strtod(a, &end_a), y = strtod(b, &end_b);
            double most = fabs(x) > fabs(y) ? fabs(x) : fabs(y);
            if (end_a != a + n || end_b != b + m || fabs(x - y) > 1e-9 * most ||
                !memchr(a, '.', n) != !memchr(b, '.', m)) {
                return false;
            }
        }
        a += n + (a[n] != 0);
        b += m + (b[m] != 0);
    }
    return *a == *b;
}

// What each says: plain SQLite, the virtual tables, the batches.
struct answers {
    char *plain, *slow, *fast;
    bool used_batches;
    struct stoker_err err; // of the batches
};

static void answers_free(struct answers *a)
{
    free(a->plain);
    free(a->slow);
    free(a->fast);
}

// Whether all say the same. `ties`: rows that are equal in the order may come in another one, where
// SQLite looks for each value of an IN.
static bool ask_all(struct query_world *w, const char *sql, bool ties, uint32_t events_per_thread,
                    struct answers *a)
{
    a->plain = world_ask_plain(w, sql);
    stk_query_set_batches(w->q, false, 0);
    a->slow = world_ask(w, sql, &a->err);
    stk_query_set_batches(w->q, true, events_per_thread);
    a->fast = world_ask(w, sql, &a->err);
    a->used_batches = stk_query_used_batches(w->q);
    bool same = same_answer(a->plain, a->fast) || (ties && same_answer(a->slow, a->fast));
    same = same && (ties || same_answer(a->plain, a->slow));
    if (!same) {
        fprintf(stderr, "%s\n  wanted %.300s\n  slow   %.300s\n  %s   %.300s\n  %s\n", sql,
                a->plain, a->slow, a->used_batches ? "batch" : "fast ", a->fast, a->err.message);
    }
    return same;
}

#endif
