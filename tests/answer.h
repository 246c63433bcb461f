// SPDX-License-Identifier: Apache-2.0
// Analyses of stoker stats for tests, from a small trace to its tables:
//   struct answer a; answer_begin(&a);
//   synth_launch(&a.s, MAIN, ...);
//   answer_analyse(&a, &stk_stats_kernels);
//   CHECK_EQ(NUMBER(&a, 0, "count"), 2);  ...  answer_end(&a);
#ifndef STK_TESTS_ANSWER_H
#define STK_TESTS_ANSWER_H

#include <unistd.h>

#include "answers/passes/stats/stats.h"
#include "profile/readers/reader.h"
#include "synth.h"

enum { MAIN = 1, S0 = 7, S1 = 8 };

struct answer {
    struct synth s;
    struct stk_run_sum *run;
    struct stk_verdict verdict;
    struct stk_table_doc doc;
};

static inline void answer_begin(struct answer *a)
{
    memset(a, 0, sizeof *a);
    synth_begin(&a->s);
}

// Build the trace and look at it.
static inline void answer_see(struct answer *a, const struct stk_stats *stats)
{
    struct synth *s = &a->s;
    if (!s->trace) {
        CHECK_EQ(stk_build_finish(s->build, 1, &s->trace, &s->err), STOKER_OK);
    }
    CHECK_EQ(stk_model_summarize_with(s->trace, &s->select, &stats->hook, 2, &s->arena, &s->ranks,
                                      &s->rank_count, &s->err),
             STOKER_OK);
}

// Take the trace of a file instead, with the details that the analysis wants.
static inline void answer_read(struct answer *a, const struct stk_stats *stats, const char *path)
{
    struct stk_read_ctx ctx = {.path = path, .threads = 1, .wants = stats->hook.wants};
    CHECK_EQ(stk_reader_read(&ctx, &a->s.trace, &a->s.err), STOKER_OK);
    if (!a->s.trace) {
        exit(check_done("answer_read"));
    }
}

// The same for a text, by way of a temporary file.
static inline void answer_read_text(struct answer *a, const struct stk_stats *stats,
                                    const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/stk_answer_%ld", (long)getpid());
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(text, 1, strlen(text), f) != strlen(text) || fclose(f) != 0) {
        abort();
    }
    answer_read(a, stats, path);
    unlink(path);
}

static inline void answer_describe(struct answer *a, const struct stk_stats *stats,
                                   struct stk_rank_sum **ranks, uint32_t count)
{
    struct synth *s = &a->s;
    static const struct stk_input_info input = {.path = "x", .format = "chrome", .read = 1};
    CHECK_EQ(stk_model_merge(ranks, count, &s->arena, &a->run, &s->err), STOKER_OK);
    CHECK_EQ(stk_verdict_decide(a->run, &s->arena, &a->verdict, &s->err), STOKER_OK);
    struct stk_pass_ctx ctx = {.inputs = &input,
                               .input_count = 1,
                               .run = a->run,
                               .verdict = &a->verdict,
                               .select = &s->select,
                               .arena = &s->arena};
    stk_table_doc_init(&a->doc, &s->arena, stats->name);
    CHECK_EQ(stk_stats_describe(stats, &ctx, &a->doc, &s->err), STOKER_OK);
    CHECK(stk_stats_check(stats, &a->doc));
}

static inline void answer_analyse(struct answer *a, const struct stk_stats *stats)
{
    answer_see(a, stats);
    answer_describe(a, stats, a->s.ranks, a->s.rank_count);
}

static inline void answer_end(struct answer *a)
{
    stk_table_doc_deinit(&a->doc);
    synth_end(&a->s);
}

static inline const struct stk_cell *answer_cell_in(const struct answer *a, size_t table,
                                                    size_t row, const char *column)
{
    static const struct stk_cell none;
    const struct stk_table *t = &a->doc.tables[table];
    for (size_t c = 0; c < t->column_count && row < t->row_count; c++) {
        if (strcmp(t->columns[c].id, column) == 0) {
            return stk_vec_at(&t->cells, row * t->column_count + c);
        }
    }
    CHECK(!"there is such a cell");
    return &none;
}

static inline const struct stk_cell *answer_cell(const struct answer *a, size_t row,
                                                 const char *column)
{
    return answer_cell_in(a, 0, row, column);
}

// Row whose first cell is `name`; SIZE_MAX none.
static inline size_t answer_row(const struct answer *a, size_t table, const char *name)
{
    const struct stk_table *t = &a->doc.tables[table];
    for (size_t r = 0; r < t->row_count; r++) {
        const struct stk_cell *c = stk_vec_at(&t->cells, r * t->column_count);
        if (c->known && strcmp(c->text, name) == 0) {
            return r;
        }
    }
    return SIZE_MAX;
}

static inline const struct stk_cell *answer_figure(const struct answer *a, const char *key)
{
    static const struct stk_cell none;
    for (size_t i = 0; i < a->doc.summary_count; i++) {
        if (strcmp(a->doc.summary[i].key, key) == 0) {
            return &a->doc.summary[i].value;
        }
    }
    CHECK(!"there is such a figure");
    return &none;
}

#define NUMBER(a, row, column) answer_cell(a, row, column)->number
#define PERCENT(c) ((int64_t)((c)->ratio * 100 + 0.5))

#endif
