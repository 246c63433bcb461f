// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of `stoker query` and `stoker find` over a small trace. The first byte chooses:
// a statement made of choices, which the tables and the batches must answer as plain SQLite does;
// the bytes as a statement, which ends in rows or in an error that says something; a search, by a
// part of the name or a regular expression.
#include "fuzz_sqlite.h"

#include "base/hash.h"
#include "query_grammar.h"

enum { SQL_MAX = 4000, TIMEOUT_NS = 4 * 1000 * 1000, FOUND_MAX = 100 };

static struct query_world *world(void)
{
    static struct query_world w;
    if (!w.q) {
        world_begin_all(&w, 1, 2); // a join of three tables takes a millisecond
        for (size_t c = 0; c < sizeof choices / sizeof choices[0]; c++) {
            world_copy(&w, choices[c].table);
        }
        FUZZ_REQUIRE(check_failures == 0);
    }
    return &w;
}

// Whether two answers hold the same rows in any order: a number that is the same for both.
static uint64_t rows_of(const char *answer)
{
    uint64_t sum = 0;
    for (const char *p = answer; *p;) {
        size_t n = strcspn(p, "\n") + 1;
        sum += stk_hash_bytes(p, p[n - 1] ? n : n - 1);
        p += p[n - 1] ? n : n - 1;
    }
    return sum;
}

static void statement_of_choices(struct query_world *w, uint8_t how)
{
    char sql[SQL_MAX];
    struct answers a;
    const struct choice *c = &choices[world_random(4)];
    if (how % 4 == 0) {
        statement(c, sql, sizeof sql);
    } else if (how % 4 == 1) {
        plain_statement(&choices[world_random(3)], sql, sizeof sql);
    } else {
        expressions(c, sql, sizeof sql);
    }
    bool ties = how % 4 > 1 && (strstr(sql, " order by ") || strstr(sql, "distinct "));
    bool same = ask_all(w, sql, ties, 0, &a);
    // Sums and means of real numbers depend on their order in the last digit, rows on that, and
    // which are left behind a limit.
    if (!same && strstr(sql, " order by ") && (strpbrk(sql, "/.") || strstr(sql, "avg("))) {
        same = rows_of(a.plain) == rows_of(a.slow) &&
               (strstr(sql, " limit ") || rows_of(a.plain) == rows_of(a.fast));
    }
    FUZZ_REQUIRE(same);
    answers_free(&a);
}

static void left_out(void *arg, uint64_t rows)
{
    (void)arg;
    FUZZ_REQUIRE(rows > 0);
}

static void any_statement(struct query_world *w, const uint8_t *data, size_t size)
{
    char sql[SQL_MAX];
    struct world_text t = {.p = NULL};
    struct stk_query_sink sink = {
        .begin = world_begin, .row = world_row, .arg = &t, .limit = 50, .left_out = left_out};
    size = size < SQL_MAX ? size : SQL_MAX - 1;
    memcpy(sql, data, size);
    sql[size] = 0;
    for (int batches = 0; batches < 2; batches++) {
        struct stoker_err err;
        stk_err_init(&err);
        stk_query_set_batches(w->q, batches, 0);
        if (stk_query_run(w->q, sql, TIMEOUT_NS, &sink, &err) != STOKER_OK) {
            FUZZ_REQUIRE(err.message[0]);
        }
    }
    free(t.p);
}

static void search(struct query_world *w, struct fuzz_choices *c)
{
    struct world_text t = {.p = NULL};
    struct stk_query_sink sink = {.begin = world_begin, .row = world_row, .arg = &t};
    struct stk_find find = {.kind = (int)fuzz_choose(c, STK_KIND_COUNT + 1) - 1,
                            .max_dur_ns = INT64_MAX,
                            .limit = fuzz_choose(c, FOUND_MAX)};
    struct stk_found found = {.count = 0};
    struct stoker_err err;
    uint8_t how = fuzz_byte(c);
    find.has_steps = how & 1;
    find.has_device = how & 2;
    find.has_from = how & 4;
    find.has_to = how & 8;
    find.has_track = how & 16;
    find.by_time = how & 32;
    int64_t *numbers[] = {&find.step_first, &find.step_last, &find.device,    &find.from_ns,
                          &find.to_ns,      &find.track,     &find.min_dur_ns};
    for (size_t i = 0; how && i < sizeof numbers / sizeof numbers[0]; i++) {
        *numbers[i] = fuzz_number(c);
    }
    find.pattern = (struct stk_str){(const char *)c->p, c->left};
    stk_err_init(&err);
    if (stk_query_find(w->q, &find, &sink, &found, &err) != STOKER_OK) {
        FUZZ_REQUIRE(err.message[0]);
    } else {
        uint64_t rows = 0;
        for (size_t i = 0; i < t.n; i++) {
            rows += t.p[i] == '\n';
        }
        FUZZ_REQUIRE(rows <= found.count && (find.limit == 0 || rows <= find.limit));
    }
    free(t.p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct query_world *w = world();
    struct fuzz_choices c = {data, size};
    uint8_t how = fuzz_byte(&c);
    // The statements of seeds begin with a letter: 's' of select.
    if (how % 4 == 's' % 4) {
        any_statement(w, data, size);
    } else if (how % 4 == 0) {
        search(w, &c);
    } else {
        world_choices = c.p;
        world_choices_left = c.left;
        statement_of_choices(w, how / 4);
        world_choices = NULL;
    }
    return 0;
}

FUZZ_MAIN(fuzz_once, 1000, world_end(world()))
