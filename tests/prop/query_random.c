// SPDX-License-Identifier: Apache-2.0
// Random statements over random traces: the virtual tables, with groups and without, must answer
// as plain SQLite does over a copy of the same rows.
#include "query_world.h"

#define WORLDS 6
#define STATEMENTS 1500

static const char *const event_columns[] = {
    "id",       "rank",   "track",  "device", "stream", "thread", "kind",  "name",
    "start_ns", "dur_ns", "end_ns", "depth",  "parent", "step",   "value", "launch"};
static const char *const kernel_columns[] = {"id",   "rank",   "track",       "device",   "stream",
                                             "kind", "name",   "start_ns",    "dur_ns",   "end_ns",
                                             "step", "launch", "tensor_core", "precision"};
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
                                        {"kernels", kernel_columns, 14},
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
    if (c != &choices[3] && world_random(4) == 0)
        by[0] = buckets[world_random(6)];
    uint32_t keys = world_random(3), wheres = world_random(4);
    for (int i = 0; i < 3; i++)
        item(c, items[i], sizeof items[i]);
    for (uint32_t i = 0; i < wheres; i++)
        condition(c, conditions[i], sizeof conditions[i]);
    int n = snprintf(out, size, "select ");
    for (uint32_t k = 0; k < keys; k++)
        n += snprintf(out + n, size - (size_t)n, "%s, ", by[k]);
    n += snprintf(out + n, size - (size_t)n, "%s, %s as other, %s from %s", items[0], items[1],
                  items[2], c->table);
    for (uint32_t i = 0; i < wheres; i++)
        n += snprintf(out + n, size - (size_t)n, "%s%s", i ? " and " : " where ", conditions[i]);
    for (uint32_t k = 0; k < keys; k++)
        n += snprintf(out + n, size - (size_t)n, "%s%s", k ? ", " : " group by ",
                      world_random(3) ? by[k]
                      : k             ? "2"
                                      : "1");
    if (world_random(4) == 0)
        n += snprintf(out + n, size - (size_t)n, keys ? " having count(*) > 2" : "");
    if (keys)
        snprintf(out + n, size - (size_t)n, " order by %s", keys == 2 ? "1, 2" : "1");
}

// Rows as they are, without aggregates: conditions and their pushing down.
static void plain_statement(const struct choice *c, char *out, size_t size)
{
    char conditions[3][160];
    for (int i = 0; i < 3; i++)
        condition(c, conditions[i], sizeof conditions[i]);
    snprintf(out, size,
             "select %s, %s, %s, start_ns, dur_ns from %s where %s and %s and %s "
             "order by 1, 2, 3, 4, 5",
             column(c), column(c), column(c), c == &choices[3] ? "events" : c->table, conditions[0],
             conditions[1], conditions[2]);
}

static unsigned grouped, answered;

static void compare(struct query_world *w, const char *sql)
{
    struct stk_err err;
    char *want = world_ask_plain(w, sql);
    stk_query_set_groups(w->q, false);
    char *slow = world_ask(w, sql, &err);
    stk_query_set_groups(w->q, true);
    char *fast = world_ask(w, sql, &err);
    bool used = stk_query_used_groups(w->q);
    grouped += used;
    answered += *want && strcmp(want, "E") != 0;
    CHECK(strcmp(slow, want) == 0);
    CHECK(strcmp(fast, want) == 0);
    if (strcmp(slow, want) != 0 || strcmp(fast, want) != 0)
        fprintf(stderr, "%s\n  wanted %.300s\n  slow   %.300s\n  %s   %.300s\n  %s\n", sql, want,
                slow, used ? "groups" : "fast  ", fast, err.message);
    free(want);
    free(slow);
    free(fast);
}

int main(void)
{
    char sql[1200];
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        struct query_world w;
        world_begin_all(&w, seed);
        for (size_t c = 0; c < sizeof choices / sizeof choices[0]; c++)
            world_copy(&w, choices[c].table);
        for (int i = 0; i < STATEMENTS / WORLDS; i++) {
            const struct choice *c = &choices[world_random(4)];
            statement(c, sql, sizeof sql);
            compare(&w, sql);
            c = &choices[world_random(3)];
            plain_statement(c, sql, sizeof sql);
            compare(&w, sql);
        }
        world_end(&w);
    }
    CHECK(grouped > STATEMENTS / 10);
    CHECK(answered > STATEMENTS / 2);
    printf("%u of %d statements have rows, %u were answered from groups\n", answered,
           2 * STATEMENTS, grouped);
    return check_done("prop.query_random");
}
