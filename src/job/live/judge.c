// SPDX-License-Identifier: Apache-2.0
// One sentence on what limits the job now. Its first half is about the steps, from the hooks: the
// share that waits for input, with the thresholds of a profile's verdict (thresholds.def). The
// second is about the machine: the most severe finding of the rules (answers/rules/rule_live.c), or
// else which processes prepare the input and how busy they are.
//
// The rules see a profile without events, whose breakdown is the hooks' steps. The part of a step
// that isn't waiting counts as the model's work, on the device if the machine has a busy GPU.
#include <math.h>

#include "base/human.h"
#include "job/live/now.h"
#include "answers/rules/on_machine.h"
#include "profile/model/thresholds.h"

#define GPU_USED 0.02 // from here on a GPU counts as busy
#define STANDS_S 3.0  // a step that lasts this long and this many medians hangs
#define STANDS_STEPS 5.0
#define WORKS 0.05 // of a processor: from here on a process is active
#define IDLE 0.02  // of a processor: below it a job does nothing

static bool has_busy_gpu(const struct stk_now *now)
{
    const struct stk_machine_view *v = now->view;
    for (uint32_t i = 0; v && i < v->machine->series_count; i++) {
        if (v->machine->series[i].sample == STK_SAMPLE_OF_GPU_BUSY &&
            v->figures[i].most >= GPU_USED) {
            return true;
        }
    }
    return false;
}

static bool knows_wait(const struct stk_now *now)
{
    return now->lead && now->lead->recent && now->lead->wait_share >= 0;
}

static void ask_rules(struct stk_now *now, struct stk_arena *arena)
{
    struct stk_rep_finding found[STK_NOW_FINDINGS];
    struct stk_verdict verdict = {.kind = STK_VERDICT_CANNOT_TELL, .reason = STK_REASON_EMPTY};
    struct stk_run_sum *run = stk_arena_alloc(arena, sizeof *run); // too large for a stack
    if (!now->view || !run) {
        return;
    }
    *run = (struct stk_run_sum){.machine = now->view, .median_step = STK_NONE};
    run->scope = has_busy_gpu(now) ? STK_SCOPE_STEPS : STK_SCOPE_HOST;
    if (knows_wait(now)) {
        const struct stk_live_rank *lead = now->lead;
        run->wall_ns = (int64_t)(lead->now_ns < INT64_MAX ? lead->now_ns : INT64_MAX);
        run->parts[STK_PART_INPUT] = (int64_t)((double)run->wall_ns * lead->wait_share);
        run->parts[STK_PART_COMPUTE] = run->wall_ns - run->parts[STK_PART_INPUT];
        verdict = (struct stk_verdict){.kind = STK_VERDICT_INPUT};
    }
    struct stk_rule_ctx ctx = {.pass = {.run = run, .verdict = &verdict, .arena = arena}};
    size_t n = stk_rules_live(&ctx, found, STK_NOW_FINDINGS);
    for (size_t i = 0; i < n; i++) {
        const struct stk_rep_evidence *evidence = found[i].evidence.items;
        now->findings[now->finding_count++] = (struct stk_now_finding){
            .id = found[i].id,
            .title = found[i].title,
            .severity = stk_level_key(found[i].severity),
            .text = found[i].evidence.count ? evidence[0].text : found[i].title,
            .is_special = found[i].title != stk_rule_find(found[i].id)->page.title};
    }
}

// ---- the halves of the sentence; NULL: none ----

static const char *say_steps(const struct stk_now *now, struct stk_arena *arena)
{
    char text[STK_HUMAN_MAX], more[STK_HUMAN_MAX];
    const struct stk_live_rank *lead = now->lead;
    if (!lead || (!lead->recent && !lead->in_window)) {
        return NULL;
    }
    double median_s = (double)lead->median_ns * 1e-9;
    if (lead->age_s > STANDS_S && lead->age_s > STANDS_STEPS * median_s && !now->has_ended) {
        return stk_arena_printf(arena, "no step has ended for %s; steps took %s before",
                                stk_human_ns((int64_t)fmin(lead->age_s * 1e9, 9e18), text),
                                stk_human_ns((int64_t)lead->median_ns, more));
    }
    if (!lead->recent) {
        return "the framework's profiler is recording a window of steps";
    }
    if (!knows_wait(now)) {
        return stk_arena_printf(arena, "steps take %s; their input wait is unknown",
                                stk_human_ns((int64_t)lead->now_ns, text));
    }
    double least = stk_threshold_value(has_busy_gpu(now) ? STK_T_LOSS : STK_T_HOST_LOSS);
    stk_human_share(lead->wait_share, text);
    return lead->wait_share >= least
               ? stk_arena_printf(arena, "waits for input %s of the step", text)
               : stk_arena_printf(arena, "barely waits for input: %s of the step", text);
}

// The processes that prepare the input: those below the stepping one, else itself.
static const char *say_workers(const struct stk_now *now, struct stk_arena *arena)
{
    const struct stk_machine_view *v = now->view;
    struct stk_crew crew;
    char share[STK_HUMAN_MAX];
    int64_t lead = now->lead ? (int64_t)now->lead->head.pid : 0;
    if (stk_rule_crew(v, &crew)) {
        return stk_arena_printf(arena, "the %u %s processes each use %s of a core", crew.count,
                                crew.name, stk_human_share(crew.cpu, share));
    }
    for (uint32_t i = 0; i < v->process_count; i++) {
        const struct stk_machine_process *p = &v->processes[i];
        if (p->parent == lead && p->cpu + p->queue >= WORKS) {
            return stk_arena_printf(arena, "the only worker uses %s of a core",
                                    stk_human_share(p->cpu, share));
        }
    }
    for (uint32_t i = 0; i < v->process_count; i++) {
        if (v->processes[i].pid == lead) {
            return stk_arena_printf(arena, "no workers; the process itself uses %s of a core",
                                    stk_human_share(v->processes[i].cpu, share));
        }
    }
    return NULL;
}

// For a job without known steps.
static const char *say_load(const struct stk_now *now, struct stk_arena *arena)
{
    const struct stk_machine_view *v = now->view;
    double cpu = stk_machine_mean(v, STK_SAMPLE_OF_JOB_CPU);
    double own = stk_machine_mean(v, STK_SAMPLE_OF_JOB_PROCESSORS);
    char share[STK_HUMAN_MAX];
    if (v->process_count == 0) {
        return "none of its processes is running";
    }
    if (cpu < IDLE) {
        return "idle: its threads use no CPU time";
    }
    const struct stk_machine_process *p = &v->processes[0];
    const char *busiest =
        stk_arena_printf(arena,
                         "the busiest thread, %s of process %lld, uses %s "
                         "of a core",
                         p->busiest_name, (long long)p->pid, stk_human_share(p->busiest, share));
    return busiest && own > 0
               ? stk_arena_printf(arena, "%s; " STK_NUMBER " of " STK_NUMBER " cores in use",
                                  busiest, cpu, own)
               : busiest;
}

// In special cases the title has the answer; otherwise the first evidence has the figures.
static const char *say_finding(const struct stk_now_finding *f, struct stk_arena *arena)
{
    if (!f->is_special) {
        return f->text;
    }
    char *title = stk_arena_strdup(arena, f->title);
    if (title && title[0] >= 'A' && title[0] <= 'Z') {
        title[0] = (char)(title[0] - 'A' + 'a');
    }
    return title;
}

static const char *say_machine(const struct stk_now *now, struct stk_arena *arena)
{
    if (!now->view) {
        return NULL;
    }
    if (now->finding_count) {
        return say_finding(&now->findings[0], arena);
    }
    double least = stk_threshold_value(has_busy_gpu(now) ? STK_T_LOSS : STK_T_HOST_LOSS);
    if (knows_wait(now)) {
        return now->lead->wait_share >= least ? say_workers(now, arena) : NULL;
    }
    return say_load(now, arena);
}

bool stk_now_judge(struct stk_now *now, struct stk_arena *arena)
{
    char share[STK_HUMAN_MAX];
    ask_rules(now, arena);
    const char *steps = say_steps(now, arena), *machine = say_machine(now, arena);
    now->sentence = steps && machine ? stk_arena_printf(arena, "%s; %s", steps, machine)
                    : steps          ? steps
                    : machine        ? machine
                                     : "nothing seen yet";
    if (now->has_ended) {
        now->sentence = stk_arena_printf(arena, "the job has ended; last seen: %s", now->sentence);
    } else if (now->silent_s > 0) {
        now->sentence = stk_arena_printf(
            arena, "its record hasn't changed for %s; last seen: %s",
            stk_human_ns((int64_t)fmin(now->silent_s * 1e9, 9e18), share), now->sentence);
    }
    return now->sentence != NULL;
}
