// SPDX-License-Identifier: Apache-2.0
// The result of a run, for programs (results/run.h). An unknown figure is absent, and a warning
// says why.
#include <string.h>

#include "base/arena.h"
#include "job/capture/parent/run_out.h"
#include "results/print/document.h"
#include "results/run.h"

// Splits names of hooks at spaces; false: no memory.
static bool fill_words(struct stk_arena *arena, const char *text, struct stk_list *to)
{
    const char **words = stk_list_room(arena, to, strlen(text) / 2 + 1, sizeof *words);
    for (size_t n; words && *(text += strspn(text, " ")); text += n) {
        n = strcspn(text, " ");
        words[to->count] = stk_arena_strndup(arena, text, n);
        if (!words[to->count++]) {
            return false;
        }
    }
    return words != NULL;
}

static void fill_steps(struct stk_run_doc *doc, const struct stk_steps *lead)
{
    const struct stk_steps_header *h = &lead->head;
    doc->framework = h->framework[0] ? h->framework : "none";
    doc->steps = (struct stk_run_doc_steps){.count = h->count,
                                            .median_ns = stk_field_ns(lead->median_ns),
                                            .source = "hooks",
                                            .has_warmup_alone = lead->in_warmup,
                                            .in_warmup = lead->in_warmup,
                                            .has_results = h->runs_ahead,
                                            .by_results = h->runs_ahead};
    doc->has_input = h->has_wait && lead->time_ns;
    if (doc->has_input) {
        doc->input.wait_ns = stk_field_ns(h->wait_ns);
        doc->input.wait_share = (double)lead->wait_ns / (double)lead->time_ns;
    }
    doc->has_window = h->window_state == STK_WINDOW_DONE;
    doc->window =
        (struct stk_run_doc_window){.first_step = h->window_first,
                                    .steps = h->window_steps,
                                    .profile = h->profile,
                                    .has_slowdown = lead->median_ns && lead->window_median_ns};
    if (doc->window.has_slowdown) {
        doc->window.slowdown_share = (double)lead->window_median_ns / (double)lead->median_ns - 1;
    }
}

static double share_of(uint64_t part_ns, uint64_t whole_ns)
{
    return whole_ns ? (double)part_ns / (double)whole_ns : 0;
}

static struct stk_run_doc_gpu gpu_of(const struct stk_gpu_totals *g)
{
    return (struct stk_run_doc_gpu){
        .processes = g->processes,
        .windows = g->windows,
        .window_ns = stk_field_ns(g->inside_ns),
        .records = g->records,
        .dropped = g->dropped,
        .left_out = g->left_out,
        .bytes = g->bytes,
        .has_cupti = g->cupti_version > 0,
        .cupti_version = g->cupti_version,
        .has_inside = g->inside_ns > 0,
        .overhead_share_in_windows = share_of(g->own_inside_ns, g->inside_ns),
        .cupti_share_in_windows = share_of(g->profiler_ns, g->inside_ns),
        .has_outside = g->outside_ns > 0,
        .overhead_share_outside = share_of(g->own_outside_ns, g->outside_ns)};
}

static struct stk_run_doc_compared compared_of(const struct stk_run_compared *c)
{
    return (struct stk_run_doc_compared){.dir = c->folder,
                                         .step_ns = stk_field_ns(c->step_ns),
                                         .free_step_ns = stk_field_ns(c->free_ns),
                                         .input_cost_share = stk_run_cost(c),
                                         .has_said = c->has_said,
                                         .why_input_wait_share = c->said_share,
                                         .has_predicted = c->has_predicted,
                                         .predicted = {c->low, c->expected, c->high}};
}

void stk_run_json(const struct stk_run *run, struct stk_sink *to)
{
    char texts[STK_RUN_WARNINGS][STK_RUN_SENTENCE];
    const char *warnings[STK_RUN_WARNINGS];
    const struct stk_steps *lead = run->steps.count ? &run->steps.ranks[run->steps.lead] : NULL;
    size_t count = (size_t)stk_run_warnings(run, texts);
    double overhead = stk_run_overhead(run);
    struct stk_arena arena;
    for (size_t i = 0; i < count; i++) {
        warnings[i] = texts[i];
    }
    struct stk_run_doc doc = {.schema = STK_RUN_SCHEMA,
                              .command = stk_list_texts(run->command),
                              .exit_status = run->exit_status,
                              .signal = run->signal,
                              .dir = run->folder,
                              .framework = "none",
                              .input_mode = run->input_mode,
                              .steps = {.source = "none"},
                              .has_gpu = run->no_gpu != NULL,
                              .gpu = gpu_of(&run->gpu),
                              .has_overhead = overhead >= 0,
                              .overhead_share = overhead,
                              .has_compared = run->compared.step_ns > 0,
                              .ranks = run->steps.count,
                              .wall_ns = stk_field_ns(run->wall_ns),
                              .warnings = {.items = warnings, .count = count}};
    if (lead) {
        fill_steps(&doc, lead);
    }
    if (doc.has_compared) {
        doc.compared = compared_of(&run->compared);
    }
    stk_arena_init(&arena, 0);
    if (fill_words(&arena, lead ? lead->head.hooks : "", &doc.hooks)) {
        stk_json_document(&stk_run_doc_info, &doc, false, to);
    } else {
        to->failed = true; // no memory
    }
    stk_arena_deinit(&arena);
}
