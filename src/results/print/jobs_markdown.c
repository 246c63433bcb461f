// SPDX-License-Identifier: Apache-2.0
// Several jobs as GitHub-flavored Markdown: a row for each, then the files that couldn't be read.
// Wording may change; programs read the JSON.
#include "results/jobs.h"
#include "results/print/figure.h"
#include "results/print/markdown.h"
#include "results/print/out.h"
#include "results/print/text_parts.h"

static void put_cell(struct stk_sink *s, const char *text)
{
    stk_sink_text(s, " | ");
    stk_markdown_plain(s, text ? text : "-");
}

static void put_row(struct stk_sink *s, const struct stk_jobs_job *job)
{
    char saves[STK_JOBS_SAVING_MAX];
    stk_jobs_saving_text(job, saves, sizeof saves);
    stk_sink_text(s, "| ");
    stk_markdown_code(s, job->label ? job->label : "-");
    put_cell(s, job->framework);
    put_cell(s, job->device);
    put_cell(s, job->has_times ? stk_figure_ns(job->median_ns).text : NULL);
    put_cell(s, job->has_verdict ? stk_verdict_key(job->verdict.kind) : NULL);
    put_cell(s, saves);
    stk_sink_text(s, " |\n");
}

static void put_problems(struct stk_sink *s, const struct stk_jobs *jobs)
{
    const struct stk_jobs_job *job = jobs->jobs.items;
    for (size_t i = 0; i < jobs->jobs.count; i++) {
        if (job[i].error) {
            stk_sink_text(s, "\n");
            stk_markdown_code(s, job[i].label ? job[i].label : "-");
            stk_sink_text(s, ": ");
            stk_markdown_plain(s, job[i].error);
            stk_sink_text(s, "\n");
        }
    }
}

static void write_markdown(const void *object, const struct stk_out_options *options,
                           struct stk_sink *sink)
{
    const struct stk_jobs *jobs = object;
    const struct stk_jobs_job *job = jobs->jobs.items;
    (void)options;
    stk_sink_text(
        sink, "These profiles are of several jobs.\n\n"
              "| job | framework | GPU | step | verdict | saves |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < jobs->jobs.count; i++) {
        put_row(sink, &job[i]);
    }
    put_problems(sink, jobs);
}

const struct stk_out stk_out_jobs_markdown = {.write = write_markdown};
