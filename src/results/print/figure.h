// SPDX-License-Identifier: Apache-2.0
// Figures as values, so that several fit into one printf.
#pragma once

#include <stdio.h>
#include <string.h>

#include "base/human.h"

struct stk_figure {
    char text[2 * STK_HUMAN_MAX];
};

static inline struct stk_figure stk_figure_ns(int64_t ns)
{
    struct stk_figure f;
    stk_human_ns(ns, f.text);
    return f;
}
static inline struct stk_figure stk_figure_count(uint64_t n)
{
    struct stk_figure f;
    stk_human_count(n, f.text);
    return f;
}
static inline struct stk_figure stk_figure_bytes(uint64_t bytes)
{
    struct stk_figure f;
    stk_human_bytes(bytes, f.text);
    return f;
}
static inline struct stk_figure stk_figure_share(double share)
{
    struct stk_figure f;
    stk_human_share(share, f.text);
    return f;
}
// "15–24%"; one figure if both have the same text.
static inline struct stk_figure stk_figure_range(double low, double high)
{
    struct stk_figure a = stk_figure_share(low), b = stk_figure_share(high), f;
    if (strcmp(a.text, b.text) == 0) {
        return a;
    }
    a.text[strcspn(a.text, "%")] = 0;
    snprintf(f.text, sizeof f.text, "%.30s–%.40s", a.text, b.text);
    return f;
}
