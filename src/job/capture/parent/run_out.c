// SPDX-License-Identifier: Apache-2.0
// The result of a run; see run_out.h. An unknown figure is absent, and a warning says why.
#include "job/capture/parent/run_out.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/human.h"

static const struct stk_steps *lead_of(const struct stk_run *run)
{
    STK_ASSERT(run->steps.count == 0 || run->steps.lead < run->steps.count);
    return run->steps.count ? &run->steps.ranks[run->steps.lead] : NULL;
}

static const struct stk_steps_header *head_of(const struct stk_run *run)
{
    const struct stk_steps *lead = lead_of(run);
    return lead ? &lead->head : NULL;
}

double stk_run_overhead(const struct stk_run *run)
{
    const struct stk_steps_header *h = head_of(run);
    if (!run->wall_ns || !h || h->last_ns <= h->first_ns) {
        return -1;
    }
    return (double)h->own_ns / (double)(h->last_ns - h->first_ns) +
           (double)run->sampler_cpu_ns / (double)run->wall_ns;
}

static bool has_wait(const struct stk_run *run)
{
    const struct stk_steps *lead = lead_of(run);
    return lead && lead->head.has_wait && lead->time_ns;
}

static double wait_share(const struct stk_steps *s)
{
    return s->time_ns ? (double)s->wait_ns / (double)s->time_ns : 0;
}

struct warnings {
    char (*at)[STK_RUN_SENTENCE];
    int count;
};

static void STK_PRINTF(2, 3) warn(struct warnings *w, const char *fmt, ...)
{
    va_list args;
    if (w->count < STK_RUN_WARNINGS) {
        va_start(args, fmt);
        vsnprintf(w->at[w->count++], STK_RUN_SENTENCE, fmt, args);
        va_end(args);
    }
}

// Whether the interpreter got -I or -E, which make it ignore the environment.
static bool is_deaf(const struct stk_run *run)
{
    const char *base = strrchr(run->command[0], '/');
    base = base ? base + 1 : run->command[0];
    if (strncmp(base, "python", 6) != 0) {
        return false;
    }
    for (int i = 1; run->command[i] && run->command[i][0] == '-'; i++) {
        if (strcmp(run->command[i], "-c") == 0 || strcmp(run->command[i], "-m") == 0) {
            break;
        }
        if (run->command[i][1] != '-' && strpbrk(run->command[i], "IE")) {
            return true;
        }
    }
    return false;
}

static void warn_of_hooks(const struct stk_run *run, struct warnings *w)
{
    if (run->steps.count || run->gpu.recorded) { // the GPU's repetitions show the steps
        return;
    }
    if (!run->processes && is_deaf(run)) {
        warn(w, "no hooks: Python's -I and -E ignore PYTHONPATH, which stoker uses. Leave the "
                "option out");
    } else if (!run->processes) {
        warn(w, "no hooks: no Python interpreter loaded them. The job isn't Python, is frozen, or "
                "runs Python with -I, -E or -S");
    } else {
        warn(w, "no steps seen. stoker recognizes steps of PyTorch, Keras, tf.data and jax.jit; "
                "the job ran none, or ended before the second");
    }
}

// Problems of level 1.
static void warn_of_gpu(const struct stk_run *run, struct warnings *w)
{
    const struct stk_gpu_totals *g = &run->gpu;
    if (!run->no_gpu) {
        return;
    }
    if (run->no_gpu[0]) {
        warn(w, "%s", run->no_gpu);
    } else if (!g->processes) {
        warn(w, "no GPU windows: no process of the job initialized CUDA, so this is a level 0 run");
    } else if (!g->recorded && !g->why_count) {
        warn(w, "no GPU windows: the job ended before the first one (--after, --warmup)");
    }
    for (uint32_t i = 0; i < g->why_count; i++) {
        warn(w, "%s%s", g->recorded ? "GPU windows: " : "no GPU windows: ", g->why[i]);
    }
    if (g->dropped) {
        warn(w, "%llu GPU records were lost: record a shorter window (--steps, --for)",
             (unsigned long long)g->dropped);
    }
    if (g->left_out_processes) {
        warn(w, "%u processes with CUDA were not followed: too many", g->left_out_processes);
    }
}

// The notes of the hooks, each once.
static void warn_of_notes(const struct stk_run *run, struct warnings *w)
{
    for (size_t i = 0; i < run->steps.count; i++) {
        const char *at = run->steps.ranks[i].head.notes;
        while (*at) {
            size_t n = strcspn(at, "\n");
            bool known = false;
            for (int k = 0; k < w->count; k++) {
                known = known || (strncmp(w->at[k], at, n) == 0 && w->at[k][n] == 0);
            }
            if (n && !known) {
                warn(w, "%.*s", (int)(n < STK_RUN_SENTENCE - 1 ? n : STK_RUN_SENTENCE - 1), at);
            }
            at += n + (at[n] == '\n');
        }
    }
}

int stk_run_warnings(const struct stk_run *run, char warnings[][STK_RUN_SENTENCE])
{
    struct warnings w = {warnings, 0};
    const struct stk_steps_header *h = head_of(run);
    warn_of_hooks(run, &w);
    warn_of_gpu(run, &w);
    if (h && !h->has_wait) {
        warn(&w, h->source == STK_STEPS_KERAS
                     ? "the whole run's input wait is unknown: Keras fetches batches inside the "
                       "compiled step. The profiled window shows it"
                     : "the whole run's input wait is unknown: the loop's batches come from no "
                       "loader that stoker knows");
    }
    if (h && strcmp(run->input_mode, "as-is") != 0 && !strstr(h->hooks, ".input")) {
        warn(&w,
             "--input had no effect: stoker found no DataLoader (PyTorch), Keras, tf.data or Grain "
             "data set with a known length above 10 batches. A custom generator can't be replaced");
    }
    if (h && h->count > 0 && run->has_window && h->window_state == STK_WINDOW_NONE) {
        warn(&w,
             "no window was recorded: the job ended after %llu steps, within the warm-up "
             "(--warmup)",
             (unsigned long long)h->count);
    } else if (h && h->window_state == STK_WINDOW_OPEN) {
        warn(&w, "the window is lost: it was still open when the job ended");
    }
    warn_of_notes(run, &w);
    return w.count;
}

double stk_run_cost(const struct stk_run_compared *c)
{
    STK_ASSERT(c->step_ns > 0);
    return 1 - (double)c->free_ns / (double)c->step_ns;
}

static double share_of(uint64_t part_ns, uint64_t whole_ns)
{
    return whole_ns ? (double)part_ns / (double)whole_ns : 0;
}

// A window of few steps may also be faster than the rest; the profiler isn't the cause of that.
static void put_window_pace(const struct stk_steps *lead, struct stk_sink *to)
{
    char a[STK_HUMAN_MAX], b[STK_HUMAN_MAX];
    double slower = (double)lead->window_median_ns / (double)lead->median_ns - 1;
    stk_sink_printf(to, "; %s per step in the profiled window of %llu, ",
                    stk_human_ns((int64_t)lead->window_median_ns, a),
                    (unsigned long long)lead->head.window_steps);
    if (slower < 0) {
        stk_sink_text(to, "which happened to be faster");
    } else {
        stk_sink_printf(to, "%s slower", stk_human_share(slower, b));
    }
}

static void put_gpu_line(const struct stk_gpu_totals *g, struct stk_sink *to)
{
    char a[STK_HUMAN_MAX], b[STK_HUMAN_MAX];
    stk_sink_printf(to, "; GPU windows: %u, %s in total, %s records", g->windows,
                    stk_human_ns((int64_t)g->inside_ns, a), stk_human_count(g->records, b));
    stk_sink_printf(to, ", stoker's overhead %s inside them",
                    stk_human_share(share_of(g->own_inside_ns, g->inside_ns), a));
    if (g->outside_ns) {
        stk_sink_printf(to, ", %s outside",
                        stk_human_share(share_of(g->own_outside_ns, g->outside_ns), a));
    }
}

void stk_run_line(const struct stk_run *run, struct stk_sink *to)
{
    char a[STK_HUMAN_MAX], b[STK_HUMAN_MAX];
    const struct stk_steps *lead = lead_of(run);
    if (!lead || lead->head.count == 0) { // a process without steps, with only a message
        stk_sink_text(to, run->gpu.recorded ? "no steps seen by hooks" : "no steps seen");
        if (run->gpu.recorded) {
            put_gpu_line(&run->gpu, to);
        }
        return;
    }
    stk_sink_printf(to, "%s steps", stk_human_count(lead->head.count, a));
    if (lead->median_ns) {
        stk_sink_printf(to, " of %s%s%s", stk_human_ns((int64_t)lead->median_ns, b),
                        lead->in_warmup ? " in the warm-up" : "",
                        lead->head.runs_ahead
                            ? " by their results (the queue of launched work was drained)"
                            : "");
    } else {
        stk_sink_text(to, ", all of them in the warm-up or the window");
    }
    if (has_wait(run)) {
        stk_sink_printf(to, ", %s waiting for input", stk_human_share(wait_share(lead), a));
    }
    if (lead->head.window_state == STK_WINDOW_DONE && lead->median_ns && lead->window_median_ns) {
        put_window_pace(lead, to);
    }
    if (run->steps.count > 1) {
        stk_sink_printf(to, "; %zu ranks", run->steps.count);
    }
    double overhead = stk_run_overhead(run);
    if (overhead >= 0) {
        stk_sink_printf(to, "; stoker's overhead outside it %s", stk_human_share(overhead, a));
    }
    if (run->gpu.recorded) {
        put_gpu_line(&run->gpu, to);
    }
}

void stk_run_compared_line(const struct stk_run *run, struct stk_sink *to)
{
    const struct stk_run_compared *c = &run->compared;
    char a[STK_HUMAN_MAX], b[STK_HUMAN_MAX], cost[STK_HUMAN_MAX];
    if (!c->step_ns) {
        return;
    }
    stk_sink_printf(to, "with free input the step takes %s instead of %s: ",
                    stk_human_ns((int64_t)c->free_ns, a), stk_human_ns((int64_t)c->step_ns, b));
    if (c->free_ns >= c->step_ns) {
        stk_sink_text(to, "the input costs nothing");
    } else {
        stk_sink_printf(to, "the input costs %s", stk_human_share(stk_run_cost(c), cost));
    }
    if (c->has_said) {
        stk_sink_printf(to, "; stoker why saw %s of the step waiting for it",
                        stk_human_share(c->said_share, a));
    }
    if (c->has_predicted) {
        stk_sink_printf(to, "; stoker whatif input-free estimated %.0f%% [%.0f, %.0f]",
                        100 * c->expected, 100 * c->low, 100 * c->high);
    }
}
