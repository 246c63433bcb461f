// SPDX-License-Identifier: Apache-2.0
// Shared by the outputs of a comparison for people; see diff_lines.h.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/print/diff_lines.h"

void stk_diff_share_text(double share, char *out)
{
    char size[STK_HUMAN_MAX];
    if (fabs(share) < 0.0005) {
        snprintf(out, STK_HUMAN_MAX, share == 0 ? "0%%" : "0.0%%");
        return;
    }
    stk_human_share(fabs(share) < 0.001 ? 0.001 : fabs(share), size);
    snprintf(out, STK_HUMAN_MAX, "%s%.20s", share > 0 ? "+" : "-", size);
}

void stk_diff_ns_text(int64_t ns, char *out)
{
    char size[STK_HUMAN_MAX];
    stk_human_ns(ns, size);
    snprintf(out, STK_HUMAN_MAX, "%s%.20s", ns > 0 ? "+" : "", ns ? size : "0");
}

static void time_line(struct stk_diff_line *l, const char *label, int64_t a_ns, int64_t b_ns,
                      double share)
{
    *l = (struct stk_diff_line){.is_part = false};
    snprintf(l->label, sizeof l->label, "%s", label);
    stk_human_ns(a_ns, l->a);
    stk_human_ns(b_ns, l->b);
    stk_diff_ns_text(b_ns - a_ns, l->change);
    stk_diff_share_text(share, l->share);
}

static double share_of(int64_t a_ns, int64_t b_ns)
{
    return a_ns > 0 ? (double)(b_ns - a_ns) / (double)a_ns : 0;
}

size_t stk_diff_lines(const struct stk_diff *d, struct stk_diff_line *out)
{
    const struct stk_diff_part *p = d->parts.items;
    bool mean = strcmp(d->verdict.basis, "mean") == 0;
    const struct stk_diff_measure *m = mean ? &d->step.mean : &d->step.median;
    const struct stk_diff_measure *other = mean ? &d->step.median : &d->step.mean;
    size_t n = 0;
    time_line(&out[n++], mean ? "step (mean)" : "step (median)", m->a_ns, m->b_ns, m->change_share);
    for (size_t i = 0; i < d->parts.count && n < STK_DIFF_LINES - 3; i++) {
        if (p[i].a_ns == 0 && p[i].b_ns == 0) {
            continue;
        }
        time_line(&out[n], p[i].label, p[i].a_ns, p[i].b_ns, p[i].change_share);
        out[n].is_part = true;
        out[n++].is_noise = p[i].change_ns != 0 && !p[i].beyond_noise;
    }
    time_line(&out[n++], mean ? "median" : "mean", other->a_ns, other->b_ns, other->change_share);
    time_line(&out[n++], "p95", d->a.p95_ns, d->b.p95_ns, share_of(d->a.p95_ns, d->b.p95_ns));
    if (d->a.has_busy && d->b.has_busy) {
        struct stk_diff_line *l = &out[n++];
        *l = (struct stk_diff_line){.label = "device busy"};
        stk_human_share(d->a.busy_share, l->a);
        stk_human_share(d->b.busy_share, l->b);
        stk_diff_share_text(d->b.busy_share - d->a.busy_share, l->change);
        l->change[strcspn(l->change, "%")] = 0;
        strcat(l->change, "pp");
    }
    return n;
}

size_t stk_diff_names_shown(const struct stk_list *names, const struct stk_out_options *options)
{
    const struct stk_diff_name *row = names->items;
    size_t n = 0;
    while (n < names->count &&
           (options->verbosity > 0 || fabs(row[n].change_share) >= STK_DIFF_SHOWN_FROM)) {
        n++;
    }
    return n;
}
