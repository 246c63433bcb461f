// SPDX-License-Identifier: Apache-2.0
// Random statements over random traces: the virtual tables, with groups and without, must answer
// as plain SQLite does over a copy of the same rows.
#include "query_grammar.h"

#define WORLDS 6
#define STATEMENTS 1500

static unsigned grouped, answered, invalid;

static void compare(struct query_world *w, const char *sql, bool ties)
{
    struct answers a;
    CHECK(ask_all(w, sql, ties, world_random(2) ? 100 : 0, &a));
    grouped += a.used_batches;
    invalid += strcmp(a.plain, "E") == 0;
    answered += *a.plain && strcmp(a.plain, "E") != 0;
    answers_free(&a);
}

static void test_switch(void)
{
    struct query_world w;
    struct stoker_err err;
    for (int alone = 0; alone < 2; alone++) {
        CHECK(alone ? setenv("STOKER_SQL", "sqlite", 1) == 0 : unsetenv("STOKER_SQL") == 0);
        world_begin_all(&w, 1, 5);
        free(world_ask(&w, "select name, count(*) from events group by name", &err));
        CHECK_EQ(stk_query_used_batches(w.q), !alone);
        world_end(&w);
    }
    CHECK(unsetenv("STOKER_SQL") == 0);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    char sql[4000];
    uint64_t seeds = argc > 1 && !check_is_name(argv[1]) ? strtoull(argv[1], NULL, 10) : WORLDS;
    unsigned used = 0;
    CHECK_RUN(test_switch);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct query_world w;
        world_begin_all(&w, seed, seed % 3 == 0 ? 60 : 5);
        for (size_t c = 0; c < sizeof choices / sizeof choices[0]; c++) {
            world_copy(&w, choices[c].table);
        }
        for (int i = 0; i < STATEMENTS / WORLDS; i++) {
            const struct choice *c = &choices[world_random(4)];
            statement(c, sql, sizeof sql);
            CHECK_RUN(compare, &w, sql, false);
            c = &choices[world_random(3)];
            plain_statement(c, sql, sizeof sql);
            CHECK_RUN(compare, &w, sql, false);
            unsigned before = grouped;
            for (int k = 0; k < 4; k++) {
                expressions(&choices[world_random(4)], sql, sizeof sql);
                CHECK_RUN(compare, &w, sql, strstr(sql, " order by ") || strstr(sql, "distinct "));
            }
            used += grouped - before;
        }
        world_end(&w);
    }
    CHECK(grouped > seeds * STATEMENTS / WORLDS / 2);
    CHECK(used > seeds * STATEMENTS / WORLDS);
    CHECK(answered > seeds * STATEMENTS / WORLDS);
    printf(
        "%u statements have rows, %u are invalid, %u were answered by batches, %u of expressions\n",
        answered, invalid, grouped, used);
    return check_done("prop.query_random");
}
