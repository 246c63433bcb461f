// SPDX-License-Identifier: Apache-2.0
// Fuzz entry of one reader row: the bytes are given to the reader named by FUZZ_READER as a file in
// memory, and what it makes of them is taken all the way to the verdict. Built once per row.
//
// With libFuzzer (preset fuzz) this is LLVMFuzzerTestOneInput; with FUZZ_REPLAY it is a plain
// program that replays files given on the command line: seeds and regressions, in every test run.
#include "fuzz_sqlite.h"

#include "profile/model/model_check.h"
#include "profile/model/verdict/verdict.h"
#include "profile/readers/reader.h"
#include "profile/store/trace_check.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define READER JOIN(stk_reader_, FUZZ_READER)

// What must hold of every trace, however broken its file was.
static void require_sound(const char *text)
{
    if (text) {
        fprintf(stderr, "broken: %s\n", text);
        abort();
    }
}

static void check_model(const struct stk_trace *t)
{
    struct stk_arena arena;
    struct stoker_err err;
    struct stk_rank_sum **ranks;
    struct stk_run_sum *run;
    struct stk_verdict verdict;
    uint32_t count;
    struct stk_select everything = {0};
    stk_arena_init(&arena, 0);
    stk_err_init(&err);
    if (stk_model_summarize(t, &everything, &arena, &ranks, &count, &err) == STOKER_OK &&
        stk_model_merge(ranks, count, &arena, &run, &err) == STOKER_OK &&
        stk_verdict_decide(run, &arena, &verdict, &err) == STOKER_OK) {
        for (uint32_t r = 0; r < count; r++) {
            require_sound(stk_rank_sum_check(ranks[r]));
        }
        require_sound(stk_run_sum_check(run));
        FUZZ_REQUIRE(verdict.sentence && verdict.kind < STK_VERDICT_COUNT);
    }
    stk_arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_put(READER.opens_path ? FUZZ_LINKED : FUZZ_INPUT, data, size);
    struct stoker_err err;
    stk_err_init(&err);
    struct stk_stream *stream = NULL;
    struct stk_trace *trace = NULL;
    if (!READER.opens_path && stk_stream_open(&stream, path, NULL, &err) != STOKER_OK) {
        return 0;
    }
    struct stk_read_ctx ctx = {.path = path,
                               .stream = stream,
                               .threads = 1,
                               .wants = STK_WANT_MEMORY | STK_WANT_COUNTERS | STK_WANT_COLLECTIVES |
                                        STK_WANT_INPUT | STK_WANT_LAUNCHES};
    if (stream) {
        const uint8_t *head;
        const char *why = NULL;
        size_t n = stk_stream_peek(stream, &head);
        int sure = READER.sniff(head, n, &why);
        FUZZ_REQUIRE(sure >= 0 && sure <= 2);
    }
    if (READER.read(&ctx, &trace, &err) == STOKER_OK) {
        FUZZ_REQUIRE(trace);
        require_sound(stk_trace_check(trace));
        check_model(trace);
        stk_trace_free(trace);
    }
    stk_stream_close(stream);
    return 0;
}

FUZZ_MAIN(fuzz_once, 0)
