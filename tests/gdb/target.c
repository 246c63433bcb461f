// SPDX-License-Identifier: Apache-2.0
// A program to stop in: reads the profile named on its command line, judges it, and calls stop_here
// with all that the gdb commands show. Built with -g in every preset.
#include <stdio.h>
#include <stdlib.h>

#include "engine/memory/col.h"
#include "profile/model/model_check.h"
#include "profile/model/verdict/verdict.h"
#include "profile/readers/reader.h"
#include "profile/store/trace_check.h"

void stop_here(const struct stk_trace *trace, const struct stk_run_sum *run,
               const struct stk_verdict *verdict, const struct stk_block *block,
               const struct stk_spans *spans, struct stk_str text, const struct stoker_err *err);

__attribute__((noinline)) void
stop_here(const struct stk_trace *trace, const struct stk_run_sum *run,
          const struct stk_verdict *verdict, const struct stk_block *block,
          const struct stk_spans *spans, struct stk_str text, const struct stoker_err *err)
{
    printf("%u events, %u rows of steps, %s, %d columns, %zu intervals, %.*s, %s, %s\n",
           trace->count, run->step_count, stk_verdict_key(verdict->kind), block->count,
           spans->count, (int)text.n, text.p, err->message,
           stk_trace_check(trace) ? "broken" : "sound");
}

int main(int argc, char **argv)
{
    struct stoker_err err;
    struct stk_trace *trace = NULL;
    struct stk_rank_sum **ranks;
    struct stk_run_sum *run;
    struct stk_verdict verdict;
    struct stk_select all = {0};
    struct stk_arena arena;
    uint32_t count;
    struct stk_span v[2] = {{10, 20}, {30, 45}};
    struct stk_spans spans = {v, 2, 2};
    struct stk_block block = {0};
    stk_err_init(&err);
    stk_arena_init(&arena, 0);
    if (argc != 2 || stk_reader_read_path(argv[1], 1, NULL, &trace, &err) != STOKER_OK ||
        stk_model_summarize(trace, &all, &arena, &ranks, &count, &err) != STOKER_OK ||
        stk_model_merge(ranks, count, &arena, &run, &err) != STOKER_OK ||
        stk_verdict_decide(run, &arena, &verdict, &err) != STOKER_OK ||
        !stk_block_reset(&block, 2)) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    (void)stk_err_set(&err, STOKER_EINPUT, "not there");
    stop_here(trace, run, &verdict, &block, &spans, STK_STR("a text"), &err);
    stk_block_free(&block);
    stk_trace_free(trace);
    stk_arena_deinit(&arena);
    return 0;
}
