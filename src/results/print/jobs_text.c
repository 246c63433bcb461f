// SPDX-License-Identifier: Apache-2.0
// Several jobs on a terminal: a line for each, what to do, and the files that belong to none.
// Wording may change; programs read the JSON.
#include <stdio.h>
#include <string.h>

#include "base/bound.h"
#include "results/print/figure.h"
#include "results/jobs.h"
#include "results/print/out.h"
#include "results/print/term.h"
#include "results/print/text_parts.h"

#define SKIPPED_SHOWN 8 // without --verbose

// Columns of the table, except the name, which takes the rest.
enum { FRAMEWORK = 10, DEVICE = 12, STEP = 8, VERDICT = 14, SAVES = 10, NAME_LEAST = 16 };

struct layout {
    int name, device; // device: 0 if there is no room
};

static struct layout lay_out(const struct stk_out_options *options)
{
    int rest = options->columns - STK_TEXT_INDENT - FRAMEWORK - STEP - VERDICT - SAVES - 4;
    bool has_device = rest - DEVICE - 1 >= NAME_LEAST;
    return (struct layout){.name = has_device ? rest - DEVICE - 1 : rest,
                           .device = has_device ? DEVICE : 0};
}

// A cell and the gap after it.
static void cell(struct stk_term *t, const char *text, int width)
{
    int end = t->column + width + 1;
    if (width > 0) {
        stk_term_cut(t, text ? text : "-", width);
        stk_term_to_column(t, end);
    }
}

static void heading(struct stk_term *t, const struct layout *l)
{
    stk_term_to_column(t, STK_TEXT_INDENT);
    cell(t, "job", l->name);
    cell(t, "framework", FRAMEWORK);
    cell(t, "GPU", l->device);
    cell(t, "step", STEP);
    cell(t, "verdict", VERDICT);
    stk_term_text(t, "saves");
    stk_term_line_end(t);
}

// "H100 80GB HBM3": nearly all are of one vendor.
static const char *short_device(const char *device)
{
    return device && strncmp(device, "NVIDIA ", 7) == 0 && device[7] ? device + 7 : device;
}

void stk_jobs_saving_text(const struct stk_jobs_job *job, char *out, size_t size)
{
    const struct stk_jobs_finding *f = &job->finding;
    if (job->has_finding && f->has_low && f->has_high && f->low_share > 0) {
        snprintf(out, size, "%s", stk_figure_range(f->low_share, f->high_share).text);
    } else if (job->has_finding && f->has_high && f->high_share <= STK_BOUND_TELLS) {
        snprintf(out, size, "up to %s", stk_figure_share(f->high_share).text);
    } else if (job->has_finding && f->has_expected) {
        snprintf(out, size, "about %s", stk_figure_share(f->expected_share).text);
    } else {
        snprintf(out, size, "-");
    }
}

static void row(struct stk_term *t, const struct layout *l, const struct stk_jobs_job *job)
{
    char saves[STK_JOBS_SAVING_MAX];
    stk_term_to_column(t, STK_TEXT_INDENT);
    cell(t, job->label, l->name);
    cell(t, job->framework, FRAMEWORK);
    cell(t, short_device(job->device), l->device);
    cell(t, job->has_times ? stk_figure_ns(job->median_ns).text : NULL, STEP);
    cell(t, job->has_verdict ? stk_verdict_key(job->verdict.kind) : NULL, VERDICT);
    stk_jobs_saving_text(job, saves, sizeof saves);
    stk_term_text(t, saves);
    stk_term_line_end(t);
}

static void labelled(struct stk_term *t, const char *label, const char *name, const char *text)
{
    stk_text_label(t, label);
    if (name) {
        stk_term_cut(t, name, (t->options->columns - STK_TEXT_BODY) * 2 / 3);
        stk_term_text(t, ": ");
    }
    stk_term_wrap(t, STK_TEXT_BODY, text);
    stk_term_line_end(t);
}

static void notes(struct stk_term *t, const struct stk_jobs *jobs)
{
    const struct stk_jobs_job *job = jobs->jobs.items;
    for (size_t i = 0; i < jobs->jobs.count; i++) {
        if (job[i].note) {
            labelled(t, "only", job[i].label, job[i].note);
        }
        if (job[i].error) {
            labelled(t, "but", job[i].label, job[i].error);
        }
    }
}

static void what_to_do(struct stk_term *t, const struct stk_jobs *jobs)
{
    stk_term_line_end(t);
    stk_text_label(t, "pick");
    stk_term_text(t, "one: stoker why ");
    stk_term_text(t, jobs->pick ? jobs->pick : "FILE...");
    stk_term_line_end(t);
    labelled(t, "", NULL,
             "or say that all are the ranks of one run: --as-ranks; two of them side by side: "
             "stoker diff A B");
}

static void skipped(struct stk_term *t, const struct stk_jobs *jobs)
{
    const struct stk_jobs_skipped *s = jobs->skipped.items;
    size_t shown = t->options->verbosity > 0 || jobs->skipped.count <= SKIPPED_SHOWN
                       ? jobs->skipped.count
                       : SKIPPED_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        labelled(t, i == 0 ? "skip" : "", s[i].path, s[i].why);
    }
    size_t more = jobs->skipped.count - shown + jobs->skipped.left_out;
    if (more) {
        stk_text_label(t, shown ? "" : "skip");
        stk_term_printf(t, "%s%s files%s", stk_figure_count(more).text, shown ? " more" : "",
                        shown < jobs->skipped.count ? ": -v names them" : "");
        stk_term_line_end(t);
    }
}

static void write_text(const void *object, const struct stk_out_options *options,
                       struct stk_sink *sink)
{
    const struct stk_jobs *jobs = object;
    struct stk_term term = {.sink = sink, .options = options}, *t = &term;
    const struct layout layout = lay_out(options);
    const struct stk_jobs_job *job = jobs->jobs.items;
    stk_term_to_column(t, options->verbosity < 0 ? 0 : STK_TEXT_INDENT);
    stk_term_printf(t, "%zu jobs, not the ranks of one run", jobs->jobs.count);
    if (options->verbosity < 0) {
        stk_term_text(t, ": pick one, or --as-ranks");
        stk_term_line_end(t);
        return;
    }
    stk_term_line_end(t);
    stk_term_line_end(t);
    heading(t, &layout);
    for (size_t i = 0; i < jobs->jobs.count; i++) {
        row(t, &layout, &job[i]);
    }
    what_to_do(t, jobs);
    notes(t, jobs);
    skipped(t, jobs);
}

const struct stk_out stk_out_jobs_text = {.write = write_text};
