// SPDX-License-Identifier: Apache-2.0
// One thread does the host's work while CPU cores are free: a single thread at its limit, or
// several that take turns, like Python threads under the GIL. A thread that polls the GPU in a loop
// looks busy too, so the profile must show that the step waits for the host or its input. Without a
// device, the busy thread's work is the step itself, and only its input could move to another.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/on_machine.h"

enum { BUSY, BESIDE, TURNS_LEAST, TURNS_MOST, FREE, HELD };
static const struct stk_threshold thresholds[] = {
    [BUSY] = {"busiest thread", "share of a core", 0.9, "it can't be busier"},
    [BESIDE] = {"its process's other threads", "share of a core", 0.5,
                "beyond that, several threads do the work already"},
    [TURNS_LEAST] = {"threads that take turns, together", "processors", 0.85,
                     "a lock that is always held leaves one core's worth"},
    [TURNS_MOST] = {"threads that take turns, together", "processors", 1.15,
                    "a lock wouldn't let several run at once"},
    [FREE] = {"free cores", "on average", 0.7, "without them, more threads gain nothing"},
    [HELD] = {"waiting for the CPU or input", "share of the step", 0.1,
              "a thread that spins until the GPU is done is healthy"},
    {0},
};

enum { FIX_TORCH, FIX_TF, FIX_ELSEWHERE };
static const struct stk_rep_fix fixes[] = {
    [FIX_TORCH] = STK_FIX(one_thread_torch_workers),
    [FIX_TF] = STK_FIX(one_thread_tf_map),
    [FIX_ELSEWHERE] = STK_FIX(one_thread_elsewhere),
    {0},
};

static bool takes_turns(const struct stk_machine_process *p)
{
    return p->active >= 3 && p->busiest < thresholds[BUSY].value &&
           p->cpu >= thresholds[TURNS_LEAST].value && p->cpu <= thresholds[TURNS_MOST].value;
}

static bool is_alone(const struct stk_machine_process *p)
{
    return p->busiest >= thresholds[BUSY].value && p->cpu - p->busiest < thresholds[BESIDE].value;
}

// Workers and parallel maps make batches, so they only help if the input is late.
static void choose_fixes(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, double held)
{
    if (2 * stk_rule_group_share(ctx, STK_GROUP_INPUT) >= held) {
        stk_finding_fix(ctx, f, &fixes[FIX_TORCH]);
        stk_finding_fix(ctx, f, &fixes[FIX_TF]);
    }
    stk_finding_fix(ctx, f, &fixes[FIX_ELSEWHERE]);
}

static enum stk_rule_state one_thread_check(const struct stk_rule_ctx *ctx,
                                            struct stk_rep_finding *f, const char **why)
{
    const struct stk_machine_view *v = stk_rule_machine(ctx, why);
    if (!v || v->process_count == 0) {
        return STK_RULE_NOT_APPLICABLE;
    }
    const struct stk_machine_process *p = NULL;
    double free = stk_machine_mean(v, STK_SAMPLE_OF_JOB_PROCESSORS) -
                  stk_machine_mean(v, STK_SAMPLE_OF_JOB_CPU);
    enum stk_held what = stk_rule_on_host(ctx) ? STK_HELD_INPUT : STK_HELD_HOST;
    double held = stk_rule_held(ctx, what);
    for (uint32_t i = 0; i < v->process_count && !p; i++) {
        p = takes_turns(&v->processes[i]) || is_alone(&v->processes[i]) ? &v->processes[i] : NULL;
    }
    *why = "no thread is saturated while the others wait";
    if (!p || free < thresholds[FREE].value) {
        return STK_RULE_PASSED;
    }
    if (stk_rule_queue_share(v) > 0) {
        *why = "the job's threads wait for CPU cores: see processors-short";
        return STK_RULE_PASSED;
    }
    if (held < thresholds[HELD].value) {
        *why = "a thread is always busy, but the step doesn't wait for work that another could do";
        return STK_RULE_PASSED;
    }
    if (is_alone(p)) {
        stk_say_thread_is_busy(ctx, f, stk_rule_name(ctx, p->busiest_name),
                               stk_rule_name(ctx, p->name), p->pid, p->busiest,
                               p->threads ? p->threads - 1 : 0, p->cpu - p->busiest, free);
    } else {
        f->title = "Threads of one process take turns: one lock may hold them up";
        stk_say_threads_take_turns(ctx, f, p->active, stk_rule_name(ctx, p->name), p->pid, p->cpu,
                                   free);
    }
    choose_fixes(ctx, f, held);
    stk_finding_held(ctx, f, what, held);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_one_thread = {
    .page = STK_PAGE(one_thread),
    .thresholds = thresholds,
    .fixes = fixes,
    .is_live = true,
    .check = one_thread_check,
};
