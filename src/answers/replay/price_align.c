// SPDX-License-Identifier: Apache-2.0
// Pads dimensions of matrix products and convolutions to multiples of 8, as matrix units need, for
// kernels of operators whose recorded shapes aren't such multiples.
//
// Method: such a kernel may then use matrix units, or waste less of them if it already does. If the
// device's peaks are known, a kernel that moves to matrix units gains a root of the ratio of the
// peaks, as in price_precision.c. Kernel names don't show whether that is in tf32 or in 16 bits, so
// the mean ratio of both is expected. Otherwise it is a prior. At least nothing changes, since the
// type may be the reason, or the library may pad already. Work added by padding isn't counted: it
// is less than 8 of a dimension.
#include <math.h>

#include "base/assert.h"
#include "answers/replay/price_row.h"

#define FIXED_NS 3000 // of a kernel

// Divides the time; optimistic first.
static const double without_units[STK_PRICE_LEVELS] = {6, 2, 1};
static const double with_units[STK_PRICE_LEVELS] = {1.5, 1.15, 1};

static const char *align_refuse(const struct stk_graph *g)
{
    bool known = false;
    for (uint32_t i = 0; i < g->node_count; i++) {
        const struct stk_node *n = &g->nodes[i];
        bool is_kernel = n->kind == STK_NODE_KERNEL;
        if (is_kernel && stk_node_alignment(n) == STK_UNALIGNED) {
            return NULL;
        }
        known |= is_kernel && stk_node_alignment(n) == STK_ALIGNED;
    }
    return known ? "the dimensions of matrix products are multiples of 8 already"
                 : "the profile doesn't have the shapes of matrix products (PyTorch: "
                   "record_shapes=True)";
}

// The speed-up of a kernel that moves to matrix units.
static double by_units(const struct stk_graph *g, enum stk_price_level level)
{
    STK_ASSERT((unsigned)level < STK_PRICE_LEVELS);
    double tf32 = g->rates.tf32, bf16 = g->rates.bf16, fp32 = g->rates.fp32;
    if (level == STK_PRICE_HIGH || fp32 <= 0 || tf32 <= fp32 || bf16 <= fp32) {
        return without_units[level];
    }
    return level == STK_PRICE_LOW ? pow(bf16 / fp32, 0.7) : sqrt(sqrt(tf32 * bf16) / fp32);
}

static bool align_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    for (uint32_t i = 0; i < s->g->node_count; i++) {
        struct stk_node *n = &s->nodes[i];
        if (n->kind == STK_NODE_KERNEL && stk_node_alignment(n) == STK_UNALIGNED &&
            n->dur_ns > FIXED_NS) {
            bool has_units = n->what != STK_WHAT_MATRIX_32;
            double by = has_units ? with_units[how->level] : by_units(s->g, how->level);
            n->dur_ns = FIXED_NS + stk_price_scaled(n->dur_ns - FIXED_NS, 1 / by);
        }
    }
    return true;
}

const struct stk_price_row stk_price_align = {
    .id = "align=",
    .value = "8",
    .choices = "8",
    .what = "pad the dimensions of matrix products to multiples of 8",
    .assumes = "the type has matrix units, and you can pad dimensions",
    .is_priced_alone = true,
    .refuse = align_refuse,
    .apply = align_apply,
};
