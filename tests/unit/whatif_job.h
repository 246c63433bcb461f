// SPDX-License-Identifier: Apache-2.0
// A job of STEPS steps whose what-ifs are priced, for the tests of what-ifs.
#ifndef STK_TESTS_WHATIF_JOB_H
#define STK_TESTS_WHATIF_JOB_H

#include "synth.h"

#include "answers/replay/scenarios.h"

#define MAIN 1
#define STREAM 7
#define STEPS 8
#define SGEMM "ampere_sgemm_128x64_nn"

struct job {
    struct synth s;
    struct stk_run_sum *run;
    struct stk_graph *graph;
    struct stk_arena arena;
    struct stk_pricing pricing;
};

static inline void summarize(struct job *j)
{
    struct synth *s = &j->s;
    CHECK_EQ(stk_build_finish(s->build, 1, &s->trace, &s->err), STOKER_OK);
    CHECK_EQ(stk_model_summarize_with(s->trace, &s->select, &stk_replay_hook, 1, &s->arena,
                                      &s->ranks, &s->rank_count, &s->err),
             STOKER_OK);
    CHECK_EQ(stk_model_merge(s->ranks, s->rank_count, &s->arena, &j->run, &s->err), STOKER_OK);
    j->graph = j->run->ranks[0]->partial;
    stk_arena_init(&j->arena, 0);
    CHECK(stk_pricing_init(&j->pricing, j->run, &(struct stk_verdict){.kind = STK_VERDICT_HOST},
                           true, &j->arena));
    CHECK(j->pricing.gate.ok);
}

static inline void end(struct job *j)
{
    stk_pricing_deinit(&j->pricing);
    stk_arena_deinit(&j->arena);
    synth_end(&j->s);
}

static inline struct stk_price_asked fix(const char *text)
{
    struct stk_price_asked set = {0};
    struct stoker_err err;
    stk_err_init(&err);
    CHECK_EQ(stk_price_parse(text, &set, &err), STOKER_OK);
    return set;
}

static inline struct stk_price price(const struct job *j, const char *text)
{
    struct stk_price_asked set = fix(text);
    struct stk_price out = {0};
    const char *why = stk_price_refuse(&j->pricing, &set);
    CHECK(why == NULL);
    CHECK(stk_price_set(&j->pricing, &set, 1, &out));
    CHECK(out.low <= out.expected && out.expected <= out.high);
    return out;
}

// Why it has no price; "" if it has.
static inline const char *refusal(const struct job *j, const char *text)
{
    struct stk_price_asked set = fix(text);
    const char *why = stk_price_refuse(&j->pricing, &set);
    return why ? why : "";
}

static inline bool near(double x, double y, double by)
{
    return x > y - by && x < y + by;
}

#endif
