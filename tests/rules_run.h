// SPDX-License-Identifier: Apache-2.0
// A run built by hand, for tests of rules: a device (or a host) with equal steps of 100 ms that
// only compute, into which losses, causes and facts are then put. The verdict is the model's own.
#ifndef STK_TESTS_RULES_RUN_H
#define STK_TESTS_RULES_RUN_H

#include "check.h"
#include "answers/rules/finding.h"

#define FAKE_STEPS 6
#define FAKE_STEP_NS INT64_C(100000000)
#define FAKE_RANKS 4

struct fake {
    struct stk_arena arena;
    struct stk_rank_sum rank[FAKE_RANKS], *ranks[FAKE_RANKS];
    struct stk_device_sum devices[FAKE_RANKS];
    struct stk_step steps[FAKE_STEPS * FAKE_RANKS];
    struct stk_run_sum run;
    struct stk_verdict verdict;
    struct stk_input_info input;
    struct stk_rule_ctx ctx;
    struct stk_report report;
    const struct stk_pricing *prices;
    bool force_verdict; // verdict.kind is the test's
};

static void fake_total(struct fake *f)
{
    memset(f->run.parts, 0, sizeof f->run.parts);
    f->run.wall_ns = 0;
    for (uint32_t d = 0; d < f->run.rank_count; d++) {
        memset(f->devices[d].parts, 0, sizeof f->devices[d].parts);
    }
    for (uint32_t i = 0; i < f->run.step_count; i++) {
        f->run.wall_ns += f->steps[i].dur_ns;
        for (int p = 0; p < STK_PART_COUNT; p++) {
            f->run.parts[p] += f->steps[i].parts[p];
            f->devices[i / FAKE_STEPS].parts[p] += f->steps[i].parts[p];
        }
    }
}

// `ranks` ranks with a device each (`scope` STK_SCOPE_STEPS), or host steps without one.
static void fake_init(struct fake *f, uint32_t ranks, enum stk_scope scope)
{
    memset(f, 0, sizeof *f);
    stk_arena_init(&f->arena, 0);
    f->run = (struct stk_run_sum){.ranks = f->ranks,
                                  .rank_count = ranks,
                                  .devices = f->devices,
                                  .steps = f->steps,
                                  .step_count = ranks * FAKE_STEPS,
                                  .source = STK_STEPS_ANNOTATED,
                                  .confidence = 1,
                                  .scope = scope,
                                  .step_marks = FAKE_STEPS,
                                  .steps_used = FAKE_STEPS,
                                  .median_step = 0,
                                  .step_median_ns = FAKE_STEP_NS};
    bool device = scope != STK_SCOPE_HOST;
    f->run.device_count = device ? ranks : 0;
    f->run.facts = (struct stk_facts){.events = 9000,
                                      .host_events = 5000,
                                      .device_ops = device ? 600 : 0,
                                      .has_device_rows = device,
                                      .has_host_rows = true,
                                      .has_runtime = device,
                                      .has_launch_rows = device,
                                      .runtime_calls = device ? 700 : 0,
                                      .launches = device ? 600 : 0,
                                      .host_steps = FAKE_STEPS,
                                      .host_event_fill = 1,
                                      .calls_seen = UINT32_MAX,
                                      .frameworks = 1u << STK_FW_PYTORCH};
    for (uint32_t r = 0; r < ranks; r++) {
        f->ranks[r] = &f->rank[r];
        f->rank[r] = (struct stk_rank_sum){.rank = (int32_t)r,
                                           .devices = &f->devices[r],
                                           .device_count = device,
                                           .host_scope = !device};
        f->rank[r].facts.last_ns = FAKE_STEPS * FAKE_STEP_NS;
        f->devices[r] = (struct stk_device_sum){
            .rank = (int32_t)r, .kernels = device ? 500 : 0, .analysed = device};
    }
    for (uint32_t i = 0; i < f->run.step_count; i++) {
        f->steps[i] = (struct stk_step){.number = i % FAKE_STEPS,
                                        .rank = (int32_t)(i / FAKE_STEPS),
                                        .device = device ? i / FAKE_STEPS : STK_NONE,
                                        .dur_ns = FAKE_STEP_NS};
        f->steps[i].parts[STK_PART_COMPUTE] = FAKE_STEP_NS;
    }
    f->input = (struct stk_input_info){.path = "t", .format = "kineto", .read = 10000};
    fake_total(f);
}

// Give a part this share of one step (-1: of every step), at the cost of compute.
static inline void fake_part(struct fake *f, enum stk_part part, double share, int step)
{
    for (uint32_t i = 0; i < f->run.step_count; i++) {
        if (step >= 0 && i != (uint32_t)step) {
            continue;
        }
        int64_t ns = (int64_t)(share * (double)FAKE_STEP_NS);
        f->steps[i].parts[part] += ns;
        f->steps[i].parts[STK_PART_COMPUTE] -= ns;
    }
    fake_total(f);
}

// A name that fills a part, with an example.
static inline void fake_name(struct fake *f, enum stk_part part, const char *name)
{
    struct stk_cause *c = &f->run.causes[part];
    c->names[c->name_count++] = (struct stk_cause_name){name, 5000000, 6};
    c->examples[c->example_count++] = (struct stk_example){1000, 2000000, name, "thread 7", 3};
}

static void fake_ask(struct fake *f)
{
    enum stk_verdict_kind kind = f->verdict.kind;
    struct stoker_err err;
    stk_err_init(&err);
    CHECK(stk_verdict_decide(&f->run, &f->arena, &f->verdict, &err) == STOKER_OK);
    if (f->force_verdict) {
        f->verdict.kind = kind;
    }
    f->ctx = (struct stk_rule_ctx){.pass = {.inputs = &f->input,
                                            .input_count = 1,
                                            .run = &f->run,
                                            .verdict = &f->verdict,
                                            .arena = &f->arena},
                                   .prices = f->prices};
    CHECK(stk_rules_run(&f->ctx, &f->report, &err) == STOKER_OK);
}

static void fake_done(struct fake *f)
{
    stk_arena_deinit(&f->arena);
}

// "fired", "passed", ... of a rule after fake_ask.
static inline const char *fake_state(const struct fake *f, const char *id)
{
    const struct stk_rep_rule *rows = f->report.rules.items;
    for (size_t i = 0; i < f->report.rules.count; i++) {
        if (strcmp(rows[i].id, id) == 0) {
            return rows[i].state;
        }
    }
    return "unknown";
}

// The finding of a rule; an empty one if it did not fire.
static inline const struct stk_rep_finding *fake_finding(const struct fake *f, const char *id)
{
    static const struct stk_rep_finding none;
    const struct stk_rep_finding *rows = f->report.findings.items;
    for (size_t i = 0; i < f->report.findings.count; i++) {
        if (strcmp(rows[i].id, id) == 0) {
            return &rows[i];
        }
    }
    return &none;
}

static inline bool says(const struct stk_rep_finding *f, const char *part)
{
    const struct stk_rep_evidence *e = f->evidence.items;
    for (size_t i = 0; i < f->evidence.count; i++) {
        if (strstr(e[i].text, part)) {
            return true;
        }
    }
    return false;
}

// Position of the fix whose text or snippet holds `part`; -1: not advised.
static inline int advises(const struct stk_rep_finding *f, const char *part)
{
    const struct stk_rep_fix *x = f->fix.items;
    for (size_t i = 0; i < f->fix.count; i++) {
        if (strstr(x[i].text, part) || (x[i].snippet && strstr(x[i].snippet, part))) {
            return (int)i;
        }
    }
    return -1;
}

#endif
