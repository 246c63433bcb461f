// SPDX-License-Identifier: Apache-2.0
// A report as GitHub-flavored Markdown, for a pull request or the summary of a CI job: the verdict,
// the step now and with the first fix, a table of findings, and in a fold for each its evidence and
// what to change. Wording may change; programs read the JSON.
#include <stdio.h>
#include <string.h>

#include "results/print/figure.h"
#include "results/print/markdown.h"
#include "results/print/text_parts.h"

#define FINDINGS_SHOWN 12 // without --verbose
#define EVIDENCE_SHOWN 6  // of a finding
#define BAR_COLUMNS 88    // the width that a pull request shows without scrolling

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void put_bars(struct stk_sink *s, const struct stk_report *r)
{
    const struct stk_out_options plain = {.columns = BAR_COLUMNS};
    struct stk_term t = {.sink = s, .options = &plain};
    if (!stk_text_has_breakdown(r)) {
        return;
    }
    stk_sink_text(s, "\n```text\n");
    stk_text_bars(&t, r);
    stk_sink_text(s, "```\n");
}

static void put_place(struct stk_sink *s, const struct stk_rep_finding *f)
{
    char place[200];
    if (!f->has_source) {
        return;
    }
    snprintf(place, sizeof place, "%.150s:%lld", base_name(f->source.file),
             (long long)f->source.line);
    stk_markdown_code(s, place);
}

static void put_row(struct stk_sink *s, const struct stk_rep_finding *f)
{
    char saving[120];
    stk_saving_text(f, saving, sizeof saving);
    stk_sink_printf(s, "| %s | ", stk_level_key(f->severity));
    stk_markdown_plain(s, f->title);
    stk_sink_printf(s, " | %s | ", strncmp(saving, "saves ", 6) == 0 ? saving + 6 : saving);
    put_place(s, f);
    stk_sink_text(s, " |\n");
}

static void put_fix(struct stk_sink *s, const struct stk_rep_fix *fix)
{
    stk_sink_text(s, "\n");
    stk_markdown_plain(s, fix->text);
    stk_sink_text(s, "\n");
    if (fix->snippet) {
        stk_sink_printf(s, "\n```\n%s\n```\n", fix->snippet);
    }
}

static void put_finding(struct stk_sink *s, const struct stk_rep_finding *f)
{
    const struct stk_rep_evidence *e = f->evidence.items;
    stk_sink_printf(s, "\n<details><summary>%s: ", f->id);
    stk_markdown_plain(s, f->title);
    stk_sink_text(s, "</summary>\n\n");
    for (size_t i = 0; i < f->evidence.count && i < EVIDENCE_SHOWN; i++) {
        stk_sink_text(s, "- ");
        stk_markdown_plain(s, e[i].text);
        stk_sink_text(s, "\n");
    }
    if (f->fix.count) {
        put_fix(s, f->fix.items);
    }
    stk_sink_printf(s, "\nMore: `%s`\n\n</details>\n", f->explain);
}

static void put_findings(struct stk_sink *s, const struct stk_report *r, bool all)
{
    const struct stk_rep_finding *f = r->findings.items;
    size_t n = r->findings.count, shown = !all && n > FINDINGS_SHOWN ? FINDINGS_SHOWN : n;
    if (n == 0) {
        stk_sink_text(s, "\nNo findings.\n");
        return;
    }
    stk_sink_text(s, "\n| severity | finding | saves of the step | where |\n|---|---|---|---|\n");
    for (size_t i = 0; i < shown; i++) {
        put_row(s, &f[i]);
    }
    if (shown < n) {
        stk_sink_printf(s, "\n%zu more findings are not shown.\n", n - shown);
    }
    for (size_t i = 0; i < shown; i++) {
        put_finding(s, &f[i]);
    }
}

// What was read, and what limits it.
static void put_footer(struct stk_sink *s, const struct stk_report *r)
{
    const struct stk_rep_input *in = r->profile.inputs.items;
    const char *const *why = r->profile.health.why.items;
    for (size_t i = 0; i < r->profile.health.why.count; i++) {
        stk_sink_text(s, i == 0 ? "\nThe profile is limited:\n\n- " : "- ");
        stk_markdown_plain(s, why[i]);
        stk_sink_text(s, "\n");
    }
    stk_sink_text(s, "\nRead: ");
    stk_markdown_code(s, r->profile.inputs.count ? base_name(in[0].path) : "");
    if (r->profile.inputs.count > 1) {
        stk_sink_printf(s, " and %zu more files", r->profile.inputs.count - 1);
    }
    stk_sink_printf(s, ", %s of %s steps, %s events. stoker %s.\n",
                    stk_figure_count(r->steps.used).text, stk_figure_count(r->steps.count).text,
                    stk_figure_count(r->profile.events.read).text, r->stoker.version);
}

static void write_markdown(const void *object, const struct stk_out_options *options,
                           struct stk_sink *s)
{
    const struct stk_report *r = object;
    stk_sink_printf(s, "### stoker: %s\n\n", stk_verdict_key(r->verdict.kind));
    stk_markdown_plain(s, r->verdict.sentence);
    stk_sink_printf(s, ". Confidence: %s.\n", stk_level_key(r->verdict.confidence));
    if (options->verbosity < 0) {
        return;
    }
    put_bars(s, r);
    put_findings(s, r, options->verbosity > 0);
    put_footer(s, r);
}

const struct stk_out stk_out_report_markdown = {.write = write_markdown};
