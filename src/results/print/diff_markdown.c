// SPDX-License-Identifier: Apache-2.0
// A comparison as GitHub-flavored Markdown, for the summary of a CI job: the verdict, a table of
// causes, and the changed kernels and operations in a fold.
#include <stdio.h>
#include <string.h>

#include "results/print/diff_lines.h"
#include "results/print/figure.h"
#include "results/print/markdown.h"

static void put_side(struct stk_sink *s, const char *label, const struct stk_diff_side *d)
{
    const struct stk_rep_input *in = d->profile.inputs.items;
    const char *slash = d->profile.inputs.count ? strrchr(in[0].path, '/') : NULL;
    stk_sink_printf(s, "- **%s**: ", label);
    stk_markdown_code(s, !d->profile.inputs.count ? ""
                         : slash && slash[1]      ? slash + 1
                                                  : in[0].path);
    if (d->profile.inputs.count > 1) {
        stk_sink_printf(s, " and %zu more files", d->profile.inputs.count - 1);
    }
    if (d->devices && d->device) {
        stk_sink_printf(s, ", %llu x ", (unsigned long long)d->devices);
        stk_markdown_plain(s, d->device);
    }
    stk_sink_printf(s, ", %llu steps: ", (unsigned long long)d->used);
    stk_markdown_plain(s, d->verdict.sentence);
    stk_sink_text(s, "\n");
}

static void put_reasons(struct stk_sink *s, const struct stk_list *list)
{
    const struct stk_diff_reason *r = list->items;
    for (size_t i = 0; i < list->count; i++) {
        stk_sink_text(s, "- But ");
        stk_markdown_plain(s, r[i].text);
        if (r[i].a && r[i].b) {
            stk_sink_text(s, " (A: ");
            stk_markdown_plain(s, r[i].a);
            stk_sink_text(s, ", B: ");
            stk_markdown_plain(s, r[i].b);
            stk_sink_text(s, ")");
        }
        stk_sink_text(s, "\n");
    }
}

static void put_causes(struct stk_sink *s, const struct stk_diff *d)
{
    struct stk_diff_line l[STK_DIFF_LINES];
    size_t n = stk_diff_lines(d, l);
    stk_sink_text(s, "\n| in a step | A | B | change | of A's step |\n|---|--:|--:|--:|--:|\n");
    for (size_t i = 0; i < n; i++) {
        const char *strong = i == 0 ? "**" : "";
        stk_sink_printf(s, "| %s%s%s%s | %s | %s | %s%s%s%s | %s |\n", strong,
                        l[i].is_part ? "- " : "", l[i].label, strong, l[i].a, l[i].b, strong,
                        l[i].change, strong, l[i].is_noise ? " (noise)" : "", l[i].share);
    }
}

static void put_findings(struct stk_sink *s, const struct stk_list *list)
{
    const struct stk_diff_finding *f = list->items;
    if (list->count) {
        stk_sink_text(s, "\n| finding | A | B |\n|---|---|---|\n");
    }
    for (size_t i = 0; i < list->count; i++) {
        stk_sink_printf(s, "| `%s`: ", f[i].id);
        stk_markdown_plain(s, f[i].title);
        const char *a = stk_level_key(f[i].a_severity), *b = stk_level_key(f[i].b_severity);
        stk_sink_printf(s, " | %s | %s |\n", a ? a : "-", b ? b : "-");
    }
}

static void put_names(struct stk_sink *s, const char *title, const struct stk_list *list,
                      const struct stk_out_options *options)
{
    const struct stk_diff_name *row = list->items;
    size_t n = stk_diff_names_shown(list, options);
    char change[STK_HUMAN_MAX];
    if (n == 0) {
        return;
    }
    stk_sink_printf(s,
                    "\n<details><summary>%s</summary>\n\n| a step of A | of B | change | name "
                    "|\n|--:|--:|--:|---|\n",
                    title);
    for (size_t i = 0; i < n; i++) {
        stk_diff_ns_text(row[i].change_ns, change);
        stk_sink_printf(s, "| %s | %s | %s | ",
                        row[i].in_a ? stk_figure_ns(row[i].a_ns).text : "new",
                        row[i].in_b ? stk_figure_ns(row[i].b_ns).text : "gone", change);
        if (row[i].placement) {
            stk_sink_printf(s, "%s ", row[i].placement);
        }
        stk_markdown_code(s, row[i].name);
        stk_sink_text(s, " |\n");
    }
    stk_sink_text(s, "\n</details>\n");
}

static void write_markdown(const void *object, const struct stk_out_options *options,
                           struct stk_sink *s)
{
    const struct stk_diff *d = object;
    stk_sink_printf(s, "### stoker diff: %s\n\n", d->verdict.kind);
    stk_markdown_plain(s, d->verdict.sentence);
    stk_sink_printf(s, ". Confidence: %s.\n\n", stk_level_key(d->verdict.confidence));
    if (options->verbosity < 0) {
        return;
    }
    put_side(s, "A", &d->a);
    put_side(s, "B", &d->b);
    put_reasons(s, &d->comparable.reasons);
    if (!d->is_compared) {
        return;
    }
    put_causes(s, d);
    put_findings(s, &d->findings);
    put_names(s, "Kernels that changed most", &d->kernels, options);
    put_names(s, "Operations that changed most (self time)", &d->ops, options);
}

const struct stk_out stk_out_diff_markdown = {.write = write_markdown};
