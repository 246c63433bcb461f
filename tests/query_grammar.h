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
// give the same. A form is SQL in which {a;b} is one of the two and $x is one of the forms of rule
// x; $c is a column, $k the table's own column of words, $T the table.
struct text {
    char *p;
    size_t n, size;
};
static void put(struct text *t, const char *word, size_t length)
{
    size_t room = t->size - t->n - 1, n = length < room ? length : room;
    memcpy(t->p + t->n, word, n);
    t->n += n;
    t->p[t->n] = '\0';
}

#define SIGNS "{ = ; <> ; < ; > ; <= ; >= ; is ; is not ; != ; == }"
#define ARITHMETIC "{ + ; - ; * ; / ; % ; & ; | ;/; << ; < ; = }"
static const char *const plain_words[] = {"name", "name", "'gemm'", "$k", NULL};
static const char *const plain_numbers[] = {
    "{0;1;3;-2;1000;2.5;1e3;0.1;null;9007199254740993;4611686018427387904;1e18;20000}",
    "{dur_ns;dur_ns;step;k.dur_ns}", "$c", NULL};
static const char *const word_forms[] = {
    "$W",
    "$W",
    "$W",
    "substr(name, 1, 4)",
    "upper($w)",
    "case when $t then $W{ else 'other';; else name} end",
    "coalesce($W, 'none')",
    "{name || 'x';substr(name, 2) || step;nullif(name, 'gemm')}",
    NULL};
static const char *const number_forms[] = {
    "$N",
    "$N",
    "$N",
    "($n" ARITHMETIC "$n)",
    "($n" ARITHMETIC "$n)",
    "($n" ARITHMETIC "$n)",
    "$n" ARITHMETIC "$n",
    "{abs;-;+;~;not ;;round;length}($n)",
    "{min;max;coalesce;ifnull;nullif}($n, $n)",
    "case when $t then $n{ else dur_ns;} end",
    "case $N when 7 then dur_ns when 8 then 2 when dur_ns then step else $n end",
    "cast($n as {real;integer;text})",
    "iif($t, dur_ns, $n)",
    "($t)",
    NULL};
static const char *const truth_forms[] = {
    "($w{ = ; <> ; < ; is ; >= }$w)",
    "(name{ like '%e%'; glob '*m*'; not like 'gemm%'; regexp '^g'; = 'gemm' collate nocase;"
    " in ('gemm', 'relu', null);"
    " in (select name from kernels group by name having count(*) > 3)})",
    "({step is null;device is not null;step not null;dur_ns is not null;"
    "dur_ns > (select avg(dur_ns) from kernels);dur_ns = (select k.dur_ns + step)})",
    "($n{ between 100 and 20000; not between 5 and 15000; in (7, 8, 9); not in (1, 2.0, null);"
    " is 7; is not 0; isnull; notnull})",
    "($n" SIGNS "$n)",
    "($n" SIGNS "$n)",
    "($n" SIGNS "$n)",
    "($t{ and ; or ; and not }$t)",
    "($t{ and ; or ; and not }$t)",
    "(not $t)",
    NULL};
static const char *const aggregate_forms[] = {
    "count(*)$B",
    "count(distinct {$w;$n})$B",
    "{min;max;count}($w)$B",
    "{sum;count;total;max}($n) filter (where $t)$B",
    "{sum;avg;min}(distinct $n)$B",
    "{sum;avg;total}(case when $t then {dur_ns * 1.0;2.5;dur_ns / 3e0}"
    "{ else 0; else dur_ns;; when step = 2 then 7 else null} end)$B",
    "{sum;min;max;avg;total;count}($n)$B",
    "{sum;min;max;avg;total;count}($n)$B",
    "{sum;min;max;avg;total;count}($n)$B",
    NULL};
static const char *const behind_aggregates[] = {
    "",
    "",
    "",
    "",
    "{ * 2; / 3; + 1; is null; || 'x'; * 100.0 / (select sum(dur_ns) from events)}",
    NULL};
static const char *const wheres[] = {"", " where $t", " where $t and $t", NULL};
static const char *const havings[] = {
    "", "", " having {count(*) > 2;a is not null;sum(dur_ns) > 10000 and count(*) > 1;a > 5}",
    NULL};
static const char *const group_orders[] = {
    "",
    "{ order by a desc, 1, 2; order by 1 desc; order by max(dur_ns), 1;"
    " order by a, first limit 5; limit 3; order by 1 limit 4 offset 2}",
    NULL};
#define ROW_ORDERS                                                                                 \
    "{dur_ns;dur_ns desc;name;w desc;2;x desc;dur_ns * 2 % 1000;step desc nulls first;"            \
    "step nulls last;stream;name desc, dur_ns;dur_ns / 1000 desc, name, start_ns;-dur_ns / 1e3;"   \
    "w, x}"
#define GROUPS "select $w as first, count(*) as n, $A as a from $T k$Q group by 1"
// A constant by itself in GROUP BY counts columns.
static const char *const statements[] = {
    "select $A as a, $A from $T k$Q",
    "select {$w;$n} as first, $A as a, $A from $T k$Q group by {first;1}$H$O",
    "select {$w;$n} as first, {$w;$n} as second, $A as a, $A from $T k$Q"
    " group by {first;1}, {second;2}$H$O",
    "select distinct $w, $n as x from $T as k$Q{;; order by 1, 2; order by x desc, 1}",
    "{with g as (" GROUPS ") select x.first, x.n, y.n from g x join g y on x.n = y.n + 1"
    " order by 1, 2, 3;select first, count(*), sum(n) from (" GROUPS ") group by first order by 1}",
    NULL};
static const char *const row_statements[] = {
    "select $w as w, $n as x, start_ns, dur_ns, name from $T k$Q order by " ROW_ORDERS
    "{ limit 5; limit 1; limit 20 offset 3; limit 0; limit 1000;}",
    NULL};

static const struct rule {
    char name;
    uint32_t shallow; // forms that need no depth, the first ones; 0: all
    const char *const *forms;
} rules[] = {{'W', 0, plain_words},
             {'N', 0, plain_numbers},
             {'w', 3, word_forms},
             {'n', 3, number_forms},
             {'t', 7, truth_forms},
             {'A', 0, aggregate_forms},
             {'B', 0, behind_aggregates},
             {'Q', 0, wheres},
             {'H', 0, havings},
             {'O', 0, group_orders},
             {'S', 0, statements},
             {'R', 0, row_statements},
             {0}};

static void expand(struct text *t, const struct choice *c, int depth, const char *form,
                   const char *end);

static void put_rule(struct text *t, const struct choice *c, int depth, char name)
{
    const char *own = name == 'c'        ? column(c)
                      : name == 'T'      ? c->table
                      : name != 'k'      ? NULL
                      : c == &choices[2] ? "direction"
                      : c == &choices[3] ? "call"
                                         : "kind";
    if (own) {
        put(t, own, strlen(own));
        return;
    }
    const struct rule *r = rules;
    while (r->name != name) {
        r++;
    }
    uint32_t count = r->shallow;
    while ((depth > 0 || !r->shallow) && r->forms[count]) {
        count++;
    }
    const char *form = r->forms[world_random(count)];
    expand(t, c, depth - 1, form, form + strlen(form));
}

// One of the alternatives from behind the brace on. Where the closing one stands.
static const char *put_one(struct text *t, const struct choice *c, int depth, const char *form)
{
    const char *starts[24], *p = form;
    uint32_t count = 0;
    starts[count++] = form;
    for (int open = 0; open > 0 || *p != '}'; p++) {
        open += *p == '{' ? 1 : *p == '}' ? -1 : 0;
        if (open == 0 && *p == ';') {
            starts[count++] = p + 1;
        }
    }
    starts[count] = p + 1;
    uint32_t k = world_random(count);
    expand(t, c, depth, starts[k], starts[k + 1] - 1);
    return p;
}

static void expand(struct text *t, const struct choice *c, int depth, const char *form,
                   const char *end)
{
    for (const char *p = form; p < end; p++) {
        if (*p == '$') {
            put_rule(t, c, depth, *++p);
        } else if (*p == '{') {
            p = put_one(t, c, depth, p + 1);
        } else {
            put(t, p, 1);
        }
    }
}

static void expressions(const struct choice *c, char *out, size_t size)
{
    struct text t = {out, 0, size};
    bool rows = world_random(6) == 0;
    *out = '\0';
    // Rows of the table of launches have no columns of their own to be ordered by.
    put_rule(&t, rows && c == &choices[3] ? &choices[1] : c, 4, rows ? 'R' : 'S');
}

// Equal except for the rounding of real numbers, also as text with words after them.
static bool same_answer(const char *a, const char *b)
{
    while (*a && *b) {
        size_t n = strcspn(a, "|\n"), m = strcspn(b, "|\n");
        if (n != m || memcmp(a, b, n) != 0) {
            char *end_a, *end_b;
            double x = strtod(a, &end_a), y = strtod(b, &end_b);
            double most = fabs(x) > fabs(y) ? fabs(x) : fabs(y);
            size_t rest = (size_t)(a + n - end_a);
            if (end_a == a || end_b == b || end_a > a + n || end_b > b + m ||
                rest != (size_t)(b + m - end_b) || memcmp(end_a, end_b, rest) != 0 ||
                fabs(x - y) > 1e-9 * most || !memchr(a, '.', n) != !memchr(b, '.', m)) {
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
