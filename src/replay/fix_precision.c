// SPDX-License-Identifier: Apache-2.0
// Matrix products and what moves activations in fewer bits, by class of kernel. Factors as
// published: products without tensor cores a third of the time in 16 bits, memory-bound kernels
// half; from tf32 to 16 bits 1.3 to 1.7. Where the device's peaks are known, products that leave
// fp32 for 16 bits reach the square root of their ratio, which gives those factors for the devices
// that they were published for. The least: products that run without tensor cores keep doing so, as
// those of dimensions that are no multiples of 8 do, which is expected of them where the profile
// tells shapes. The optimizer, copies and gradients that are reduced stay.
//
// What leaves 32 bits is cast: a third of the products are those of forward, whose weights are cast
// once a step, and at the most their other operand is cast as well. A cast is a short kernel with a
// launch like that of its product, which a step that waits for its launches feels.
#include <math.h>
#include <string.h>

#include "replay/fix.h"

#define FIXED_NS 3000               // of a kernel, that no type shortens
#define MOST_WORK_NS (100 * STK_US) // of an operation before its launch

enum { FROM_32, FROM_TF32, FROM_16, MEMORY, CLASSES };
static const struct {
    const char *to;
    double factor[CLASSES][STK_FIX_LEVELS]; // the time is divided by it: optimistic first
} rates[] = {
    {"tf32", {{4, 2.5, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}},
    {"fp16", {{6, 3.5, 1}, {2, 1.6, 1.3}, {1, 1, 1}, {2, 1.8, 1.4}}},
    {"bf16", {{6, 3.5, 1}, {2, 1.6, 1.3}, {1, 1, 1}, {2, 1.8, 1.4}}},
    {"fp8", {{9, 5, 1}, {3.2, 2.4, 1.5}, {1.9, 1.5, 1.1}, {2, 1.8, 1.4}}},
};

static const char *precision_refuse(const struct stk_graph *g)
{
    return stk_fix_finds(g, STK_NODE_KERNEL, STK_WHAT_MATRIX_32) ||
                   stk_fix_finds(g, STK_NODE_KERNEL, STK_WHAT_MATRIX_TF32) ||
                   stk_fix_finds(g, STK_NODE_KERNEL, STK_WHAT_MATRIX_16)
               ? NULL
               : "no kernel is known for a matrix product or convolution";
}

// Of products that leave fp32; 0: the table says.
static double by_peaks(const struct stk_graph *g, size_t row, enum stk_level_of_fix level)
{
    static const double reached[STK_FIX_LEVELS] = {0.7, 0.5, 0};
    bool is_half = strcmp(rates[row].to, "fp16") == 0 || strcmp(rates[row].to, "bf16") == 0;
    double to = rates[row].to[0] == 'b' ? g->rates.bf16 : g->rates.fp16;
    return is_half && to > g->rates.fp32 && g->rates.fp32 > 0
               ? pow(to / g->rates.fp32, reached[level])
               : 0;
}

static int class_of(const struct stk_node *n)
{
    return n->kind != STK_NODE_KERNEL                                     ? -1
           : n->what == STK_WHAT_MATRIX_32                                ? FROM_32
           : n->what == STK_WHAT_MATRIX_TF32                              ? FROM_TF32
           : n->what == STK_WHAT_MATRIX_16                                ? FROM_16
           : n->what == STK_WHAT_ELEMENTWISE || n->what == STK_WHAT_FUSED ? MEMORY
                                                                          : -1;
}

// Products of a step for each cast, by level; 0: none is added.
static const uint32_t products_per_cast[STK_FIX_LEVELS] = {0, 3, 2};

// In front of the product: a call like its own, and a kernel of little more than the fixed part.
static void add_cast(struct stk_scene *s, struct stk_node *product)
{
    product->dur_ns += FIXED_NS + s->g->calibration.gap_ns;
    if (product->launch == STK_NONE) {
        return;
    }
    uint32_t launch = product->launch, first = s->g->lanes[s->g->nodes[launch].lane].first;
    const struct stk_node *call = &s->g->nodes[launch];
    bool has_work = launch > first && call[-1].kind == STK_NODE_WORK &&
                    call[-1].what != STK_WHAT_CALLBACK && call[-1].wait == STK_NONE;
    int64_t work_ns = has_work ? call[-1].dur_ns : 0;
    work_ns = work_ns < MOST_WORK_NS ? work_ns : MOST_WORK_NS;
    s->nodes[launch].dur_ns += s->g->calibration.call_ns + work_ns;
}

// Activations that a job in 16 bits has already are not halved again.
static bool is_16(const struct stk_graph *g)
{
    return stk_fix_finds(g, STK_NODE_KERNEL, STK_WHAT_MATRIX_16) &&
           !stk_fix_finds(g, STK_NODE_KERNEL, STK_WHAT_MATRIX_TF32);
}

static bool precision_apply(struct stk_scene *s, const struct stk_fix_how *how)
{
    const char *to = strchr(how->text, '=');
    size_t row = 2;
    bool memory_stays = is_16(s->g);
    for (size_t k = 0; to && k < sizeof rates / sizeof rates[0]; k++) {
        row = strcmp(to + 1, rates[k].to) == 0 ? k : row;
    }
    double peaks = by_peaks(s->g, row, how->level);
    bool casts = strcmp(rates[row].to, "tf32") != 0;
    uint32_t products = 0, per_cast = products_per_cast[how->level];
    for (uint32_t i = 0; i < s->g->node_count; i++) {
        struct stk_node *n = &s->nodes[i];
        int class = class_of(n);
        if (class >= 0 && n->dur_ns > FIXED_NS && !(class == MEMORY && memory_stays)) {
            double by = rates[row].factor[class][how->level];
            by = class == FROM_32 && peaks > 0 ? peaks : by;
            bool stays = class == FROM_32 && n->size == STK_UNALIGNED;
            by = stays && how->level != STK_FIX_LOW ? 1 : by;
            n->dur_ns = FIXED_NS + stk_fix_scaled(n->dur_ns - FIXED_NS, 1 / by);
        }
        if (casts && per_cast && (class == FROM_32 || class == FROM_TF32)) {
            products++;
            if (products % per_cast == 0) {
                add_cast(s, n);
            }
        }
    }
    return true;
}

const struct stk_fix stk_fix_precision = {
    .id = "precision=",
    .value = "bf16",
    .choices = "fp16|bf16|tf32|fp8",
    .what = "matrix products and activations in that type",
    .assumes = "the model trains as well, and the device has units for the type",
    .is_priced_alone = true,
    .may_slow = true,
    .refuse = precision_refuse,
    .apply = precision_apply,
};
