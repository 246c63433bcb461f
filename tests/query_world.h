// SPDX-License-Identifier: Apache-2.0
// A trace of random events opened for queries, and the same tables copied into plain SQLite: what
// both say must agree.
#ifndef STK_TESTS_QUERY_WORLD_H
#define STK_TESTS_QUERY_WORLD_H

#include <regex.h>
#include <sqlite3.h>

#include "answers/query/query.h"
#include "synth.h"

struct query_world {
    struct synth s;
    struct stk_run_sum *run;
    struct stk_query_rank ranks[1];
    struct stk_query *q;
    sqlite3 *plain;
};

static uint64_t world_seed;
static const uint8_t *world_choices; // taken instead of chance; behind their end all are 0
static size_t world_choices_left;
static inline uint32_t world_random(uint32_t below)
{
    if (world_choices) {
        return world_choices_left ? (world_choices_left--, *world_choices++ % below) : 0;
    }
    world_seed = world_seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(world_seed >> 33) % below;
}

// Rows as one text, "a|b\n" each, for comparison; "E" and the status where the query fails.
struct world_text {
    char *p;
    size_t n, cap, columns;
};
static inline void world_put(struct world_text *t, const char *bytes, size_t n)
{
    while (t->n + n + 1 > t->cap) {
        t->p = realloc(t->p, t->cap = t->cap ? 2 * t->cap : 4096);
        if (!t->p) {
            exit(2);
        }
    }
    memcpy(t->p + t->n, bytes, n);
    t->p[t->n += n] = 0;
}
static inline enum stoker_status world_begin(void *arg, const struct stk_query_column *columns,
                                             size_t count, struct stoker_err *err)
{
    (void)columns;
    (void)err;
    ((struct world_text *)arg)->columns = count;
    return STOKER_OK;
}
static inline enum stoker_status world_row(void *arg, const struct stk_query_value *v,
                                           struct stoker_err *err)
{
    struct world_text *t = arg;
    char text[64];
    (void)err;
    for (size_t c = 0; c < t->columns; c++) {
        int n = v[c].kind == STK_VALUE_INT    ? snprintf(text, sizeof text, "%" PRId64, v[c].number)
                : v[c].kind == STK_VALUE_REAL ? snprintf(text, sizeof text, "%.12g", v[c].real)
                                              : 0;
        if (v[c].kind == STK_VALUE_TEXT) {
            world_put(t, v[c].text.p, v[c].text.n);
        } else {
            world_put(t, v[c].kind == STK_VALUE_NULL ? "~" : text,
                      v[c].kind == STK_VALUE_NULL ? 1 : (size_t)n);
        }
        world_put(t, c + 1 < t->columns ? "|" : "\n", 1);
    }
    return STOKER_OK;
}
static inline char *world_ask(struct query_world *w, const char *sql, struct stoker_err *err)
{
    struct world_text t = {.p = NULL};
    struct stk_query_sink sink = {.begin = world_begin, .row = world_row, .arg = &t};
    world_put(&t, "", 0);
    stk_err_init(err);
    if (stk_query_run(w->q, sql, 0, &sink, err) != STOKER_OK) {
        t.n = 0;
        world_put(&t, "E", 1);
    }
    return t.p;
}
static inline char *world_ask_plain(struct query_world *w, const char *sql)
{
    struct world_text t = {.p = NULL};
    sqlite3_stmt *stmt;
    world_put(&t, "", 0);
    if (sqlite3_prepare_v2(w->plain, sql, -1, &stmt, NULL) != SQLITE_OK) {
        if (!world_choices) { // chance knows the tables; choices say anything
            fprintf(stderr, "%s\n  %s\n", sql, sqlite3_errmsg(w->plain));
        }
        world_put(&t, "E", 1);
        return t.p;
    }
    t.columns = (size_t)sqlite3_column_count(stmt);
    int code;
    while ((code = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct stk_query_value v[STK_QUERY_COLUMNS_MAX];
        for (int c = 0; c < (int)t.columns; c++) {
            int type = sqlite3_column_type(stmt, c);
            v[c].kind = type == SQLITE_INTEGER ? STK_VALUE_INT
                        : type == SQLITE_FLOAT ? STK_VALUE_REAL
                        : type == SQLITE_NULL  ? STK_VALUE_NULL
                                               : STK_VALUE_TEXT;
            if (v[c].kind == STK_VALUE_INT) {
                v[c].number = sqlite3_column_int64(stmt, c);
            } else if (v[c].kind == STK_VALUE_REAL) {
                v[c].real = sqlite3_column_double(stmt, c);
            } else if (v[c].kind == STK_VALUE_TEXT) {
                v[c].text = stk_str_from((const char *)sqlite3_column_text(stmt, c));
            }
        }
        world_row(&t, v, NULL);
    }
    if (code != SQLITE_DONE) {
        t.n = 0;
        world_put(&t, "E", 1);
    }
    sqlite3_finalize(stmt);
    return t.p;
}

// A kernel whose launch is known, in part or whole.
static inline void world_configured(struct query_world *w, int64_t stream, double start_us,
                                    double dur_us, const char *name)
{
    struct stk_launch_config config = STK_LAUNCH_CONFIG_UNKNOWN;
    struct stk_track_key key = {
        .kind = STK_TRACK_STREAM, .process = 1, .device = w->s.device, .id = stream};
    struct stk_row_ext ext = {.value = 0};
    config.grid[0] = (uint32_t)stream % 4 * 16;
    config.grid[1] = (uint32_t)stream % 3;
    config.block[0] = 32 * (uint32_t)strlen(name);
    config.registers = (int32_t)dur_us - 1;
    config.shared_bytes = stream % 2 ? 1024 : -1;
    stk_shard_set_config(w->s.shard, &config, &ext);
    synth_row(&w->s, &key, start_us, dur_us, name, STK_KIND_KERNEL, &ext);
}

static inline void world_events(struct query_world *w, int steps)
{
    static const char *const names[] = {"gemm", "GEMM_2", "relu", "a%b", "x_y", "", "longer name"};
    static const char *const host[] = {"aten::mul", "aten::item", "step", "gemm"};
    double t = 0;
    for (int step = 0; step < steps; step++) {
        double begin = t;
        int launches = 20 + (int)world_random(30);
        for (int i = 0; i < launches; i++) {
            int64_t stream = 7 + world_random(3);
            const char *name = names[world_random(7)];
            t += 1 + world_random(20);
            if (world_random(4) == 0) {
                synth_host(&w->s, 1 + world_random(3), t, 0.5 + world_random(40),
                           host[world_random(4)], STK_KIND_HOST_OP);
            }
            if (world_random(5) == 0) {
                synth_launch_as(&w->s, 1, t, 1, "cudaMemcpyAsync", "Memcpy HtoD", t + 3,
                                1 + world_random(9), stream, STK_KIND_MEMCPY,
                                (uint8_t)(1 + world_random(3)), (uint8_t)(1 + world_random(2)));
            } else if (world_random(6) == 0) {
                world_configured(w, stream, t, world_random(30), name);
            } else {
                synth_launch(&w->s, 1 + world_random(2), t, 1, name, t + world_random(9),
                             world_random(100) ? world_random(30) : 5e6, stream);
            }
        }
        synth_step(&w->s, 1, begin, t - begin, step);
        t += 5;
    }
}

static inline void world_copy(struct query_world *w, const char *table)
{
    char sql[200], insert[400], *rows;
    struct stoker_err err;
    struct stk_query_column column;
    size_t index = 0, count = 0;
    char create[2000];
    while (strcmp(stk_query_table_name(index), table) != 0) {
        index++;
    }
    int used = snprintf(create, sizeof create, "create table %s(", table);
    for (; stk_query_table_column(index, count, &column); count++) {
        used += snprintf(create + used, sizeof create - (size_t)used, "%s%s %s", count ? "," : "",
                         column.name,
                         strcmp(stk_type_info(column.type)->key, "text") == 0 ? "text" : "numeric");
    }
    snprintf(create + used, sizeof create - (size_t)used, ")");
    CHECK(sqlite3_exec(w->plain, create, NULL, NULL, NULL) == SQLITE_OK);
    snprintf(sql, sizeof sql, "select * from %s", table);
    rows = world_ask(w, sql, &err);
    used = snprintf(insert, sizeof insert, "insert into %s values(", table);
    for (size_t c = 0; c < count; c++) {
        used += snprintf(insert + used, sizeof insert - (size_t)used, "%s?", c ? "," : "");
    }
    snprintf(insert + used, sizeof insert - (size_t)used, ")");
    sqlite3_stmt *stmt = NULL;
    CHECK(sqlite3_prepare_v2(w->plain, insert, -1, &stmt, NULL) == SQLITE_OK);
    for (char *line = rows; stmt && *line;) {
        for (size_t c = 0; c < count; c++) {
            size_t n = strcspn(line, "|\n");
            if (n == 1 && *line == '~') {
                sqlite3_bind_null(stmt, (int)c + 1);
            } else {
                sqlite3_bind_text(stmt, (int)c + 1, line, (int)n, SQLITE_TRANSIENT);
            }
            line += n + 1;
        }
        CHECK(sqlite3_step(stmt) == SQLITE_DONE);
        sqlite3_reset(stmt);
    }
    sqlite3_finalize(stmt);
    free(rows);
}

static inline void world_regexp(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const char *pattern = (const char *)sqlite3_value_text(argv[0]);
    const char *text = (const char *)sqlite3_value_text(argv[1]);
    regex_t regex;
    (void)argc;
    if (!pattern || !text || regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0) {
        return;
    }
    sqlite3_result_int(context, regexec(&regex, text, 0, NULL, 0) == 0);
    regfree(&regex);
}

static inline void world_begin_all(struct query_world *w, uint64_t seed, int steps)
{
    memset(w, 0, sizeof *w);
    world_seed = seed;
    synth_begin(&w->s);
    world_events(w, steps);
    struct stk_rank_sum *sum = synth_summarize(&w->s);
    struct stoker_err err;
    stk_err_init(&err);
    if (!sum) {
        exit(2);
    }
    sum->rank = 0;
    CHECK_EQ(stk_model_merge(w->s.ranks, 1, &w->s.arena, &w->run, &err), STOKER_OK);
    w->ranks[0] = (struct stk_query_rank){.trace = w->s.trace, .sum = sum, .shift_ns = 1000};
    struct stk_query_source source = {.ranks = w->ranks, .rank_count = 1, .run = w->run};
    CHECK_EQ(stk_query_open(&w->q, &source, &err), STOKER_OK);
    if (!w->q || sqlite3_open(":memory:", &w->plain) != SQLITE_OK ||
        sqlite3_create_function(w->plain, "regexp", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                world_regexp, NULL, NULL) != SQLITE_OK) {
        exit(2);
    }
}

static inline void world_end(struct query_world *w)
{
    sqlite3_close(w->plain);
    stk_query_close(w->q);
    synth_end(&w->s);
}

#endif
