// SPDX-License-Identifier: Apache-2.0
// Matrix products and what moves activations in fewer bits, by class of kernel. Factors as
// published: products without tensor cores a third of the time in 16 bits, memory-bound kernels
// half; from tf32 to 16 bits 1.3 to 1.7. Where the device's peaks are known, products that leave
// fp32 reach the square root of their ratio, which gives those factors for the devices that they
// were published for. The least: products that run without tensor cores keep doing so, as those of
// dimensions that are no multiples of 8 do, which is expected of them where the profile tells
// shapes. The optimizer, copies and gradients that are reduced stay.
//
// Published factors are means over products of all sizes. A product whose shapes and time say that
// it reaches half of its device's peak or more fills the device, and is expected to reach the ratio
// of the two peaks, each times the part that such products achieve: about four fifths on plain
// cores, 60 to 80% on matrix units, in either type (from tf32 to 16 bits, bytes halve as compute
// time does). Where no shapes are recorded, a long kernel with several blocks for each
// multiprocessor, or just one (a persistent kernel), is taken for one. Below a fifth of the peak,
// the published factors hold, in between some of both. More than the peak is a shape that is not
// the kernel's own.
//
// What leaves 32 bits is cast: a third of the products are those of forward, whose weights are cast
// once a step, and at the most their other operand is cast as well. A cast is a short kernel with a
// launch like that of its product, which a step that waits for its launches feels. Where a compiler
// fused what is elementwise, its program launches them, without the work of an operation before:
// what usually is between its launches is added, which is nothing where one call launches many.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "profile/model/median.h"
#include "answers/replay/price_row.h"

#define FIXED_NS 3000               // of a kernel, that no type shortens
#define MOST_WORK_NS (100 * STK_US) // of an operation before its launch
// Of its peak, from where on a product reaches more of the ratio, and all that any does.
#define FILLS_FROM 0.2
#define FILLS_ALL 0.5
#define OVER_PEAK 1.1
#define PLAIN_REACHES 0.8 // of its peak, by products that fill the device
#define UNITS_REACH 0.7

enum { FROM_32, FROM_TF32, FROM_16, MEMORY, CLASSES };
static const struct {
    const char *to;
    double factor[CLASSES][STK_PRICE_LEVELS]; // the time is divided by it: optimistic first
} rates[] = {
    {"tf32", {{4, 2.5, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}},
    {"fp16", {{6, 3.5, 1}, {2, 1.6, 1.3}, {1, 1, 1}, {2, 1.8, 1.4}}},
    {"bf16", {{6, 3.5, 1}, {2, 1.6, 1.3}, {1, 1, 1}, {2, 1.8, 1.4}}},
    {"fp8", {{9, 5, 1}, {3.2, 2.4, 1.5}, {1.9, 1.5, 1.1}, {2, 1.8, 1.4}}},
};

struct change {
    size_t row; // of rates
    const char *type;
    enum stk_price_level level;
};

static const char *precision_refuse(const struct stk_graph *g)
{
    return stk_price_finds(g, STK_NODE_KERNEL, STK_WHAT_MATRIX_32) ||
                   stk_price_finds(g, STK_NODE_KERNEL, STK_WHAT_MATRIX_TF32) ||
                   stk_price_finds(g, STK_NODE_KERNEL, STK_WHAT_MATRIX_16)
               ? NULL
               : "no kernel is known to be a matrix product or convolution";
}

static double peak_of(const struct stk_device_rates *peaks, const char *type)
{
    return strcmp(type, "tf32") == 0   ? peaks->tf32
           : strcmp(type, "fp16") == 0 ? peaks->fp16
           : strcmp(type, "bf16") == 0 ? peaks->bf16
                                       : 0; // fp8 scales as well: the table says
}

static const char *type_of(const struct stk_price_how *how)
{
    const char *at = strchr(how->text, '=');
    return at ? at + 1 : "bf16";
}

static const char *precision_refuse_value(const struct stk_graph *g,
                                          const struct stk_price_how *how)
{
    bool is_tf32 = strcmp(type_of(how), "tf32") == 0;
    return is_tf32 && g->rates.fp32 > 0 && g->rates.tf32 <= g->rates.fp32
               ? "the GPU computes no faster in tf32 than in fp32"
               : NULL;
}

// Of the peak of its type, 0 to 1: how far the kernel fills the device. 0: not known.
static double fills(const struct stk_node *n, double peak)
{
    if (stk_node_alignment(n) == STK_ALIGNMENT_UNKNOWN_FILLS) {
        return 1;
    }
    double reached =
        peak > 0 && n->dur_ns > 0 ? stk_node_flops(n) / ((double)n->dur_ns / 1e9) / peak : 0;
    double part = (reached - FILLS_FROM) / (FILLS_ALL - FILLS_FROM);
    return reached > OVER_PEAK ? 0 : part < 0 ? 0 : part > 1 ? 1 : part;
}

// By which a product that fills the device is faster, of the ratio of two peaks.
static double filled_factor(const struct stk_node *n, int class, double ratio,
                            enum stk_price_level level)
{
    STK_ASSERT(class >= 0 && (unsigned)level < STK_PRICE_LEVELS);
    double reached = class == FROM_32 ? ratio * UNITS_REACH / PLAIN_REACHES : ratio;
    // What uses matrix units already has dimensions that suit them.
    bool is_aligned = class == FROM_TF32 || stk_node_alignment(n) == STK_ALIGNED;
    return level == STK_PRICE_LOW        ? pow(ratio, 1.1) // what a product reads halves, too
           : level == STK_PRICE_EXPECTED ? fmax(reached, 1)
                                         : pow(ratio, is_aligned ? 0.6 : 0.25);
}

// By which a product is faster in another type, the table's factor where no peak is known: of
// kernels that fill the device and of others.
static double product_factor(const struct stk_graph *g, const struct stk_node *n, int class,
                             const struct change *c)
{
    bool is_aligned = class == FROM_TF32 || stk_node_alignment(n) == STK_ALIGNED;
    const double usual[STK_PRICE_LEVELS] = {0.7, 0.5, is_aligned ? 0.25 : 0}; // powers of the ratio
    double from = class == FROM_32 ? g->rates.fp32 : class == FROM_TF32 ? g->rates.tf32 : 0;
    double to = peak_of(&g->rates, c->type), by = rates[c->row].factor[class][c->level];
    if (from <= 0 || to <= from) {
        return by;
    }
    double ratio = to / from, part = fills(n, from);
    by = class == FROM_32 ? pow(ratio, usual[c->level]) : by;
    return pow(by, 1 - part) * pow(filled_factor(n, class, ratio, c->level), part);
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
static const uint32_t products_per_cast[STK_PRICE_LEVELS] = {0, 3, 2};

static bool is_full_product(const struct stk_node *n)
{
    int class = class_of(n);
    return class == FROM_32 || class == FROM_TF32;
}

// Of the host's operation before the product's launch; 0: it launches without.
static int64_t work_before(const struct stk_graph *g, const struct stk_node *product)
{
    uint32_t launch = product->launch;
    if (launch == STK_NONE || launch == g->lanes[g->nodes[launch].lane].first) {
        return 0;
    }
    const struct stk_node *before = &g->nodes[launch - 1];
    bool has_work = before->kind == STK_NODE_WORK && before->what != STK_WHAT_CALLBACK &&
                    before->wait == STK_NONE;
    return !has_work ? 0 : before->dur_ns < MOST_WORK_NS ? before->dur_ns : MOST_WORK_NS;
}

// The median of it, where a call that launches many has it for the first alone. False: no memory.
static bool usual_work(const struct stk_graph *g, int64_t *out)
{
    int64_t *ns = stk_alloc_array((size_t)g->node_count + 1, sizeof *ns);
    uint32_t n = 0, launch = STK_NONE;
    for (uint32_t i = 0; ns && i < g->node_count; i++) {
        if (is_full_product(&g->nodes[i])) {
            bool is_same = g->nodes[i].launch == launch;
            launch = g->nodes[i].launch;
            ns[n++] = is_same ? 0 : work_before(g, &g->nodes[i]);
        }
    }
    *out = n ? stk_median_low(ns, n) : 0;
    stk_free(ns);
    return ns != NULL;
}

// In front of the product: a call like its own, and a kernel of little more than the fixed part.
static void add_cast(struct stk_scene *s, struct stk_node *product, int64_t most_work_ns)
{
    product->dur_ns += FIXED_NS + s->g->calibration.gap_ns;
    if (product->launch != STK_NONE) {
        int64_t work_ns = work_before(s->g, product);
        work_ns = work_ns < most_work_ns ? work_ns : most_work_ns;
        s->nodes[product->launch].dur_ns += s->g->calibration.call_ns + work_ns;
    }
}

// Activations that a job in 16 bits has already are not halved again.
static bool is_16(const struct stk_graph *g)
{
    return stk_price_finds(g, STK_NODE_KERNEL, STK_WHAT_MATRIX_16) &&
           !stk_price_finds(g, STK_NODE_KERNEL, STK_WHAT_MATRIX_TF32);
}

static void shorten(struct stk_scene *s, uint32_t i, int class, const struct change *c)
{
    STK_ASSERT(i < s->g->node_count && class >= 0);
    struct stk_node *n = &s->nodes[i];
    bool is_product = class == FROM_32 || class == FROM_TF32;
    double by = is_product ? product_factor(s->g, &s->g->nodes[i], class, c)
                           : rates[c->row].factor[class][c->level];
    bool stays = class == FROM_32 && stk_node_alignment(n) == STK_UNALIGNED;
    by = stays && c->level != STK_PRICE_LOW ? 1 : by;
    n->dur_ns = FIXED_NS + stk_price_scaled(n->dur_ns - FIXED_NS, 1 / by);
}

static bool precision_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    struct change c = {.row = 2, .type = type_of(how), .level = how->level};
    bool memory_stays = is_16(s->g);
    for (size_t k = 0; k < sizeof rates / sizeof rates[0]; k++) {
        c.row = strcmp(c.type, rates[k].to) == 0 ? k : c.row;
    }
    bool casts = strcmp(c.type, "tf32") != 0;
    int64_t most_work_ns = MOST_WORK_NS;
    if (stk_price_finds(s->g, STK_NODE_KERNEL, STK_WHAT_FUSED) &&
        !usual_work(s->g, &most_work_ns)) {
        return false;
    }
    uint32_t products = 0, per_cast = products_per_cast[how->level];
    for (uint32_t i = 0; i < s->g->node_count; i++) {
        struct stk_node *n = &s->nodes[i];
        int class = class_of(n);
        if (class >= 0 && n->dur_ns > FIXED_NS && !(class == MEMORY && memory_stays)) {
            shorten(s, i, class, &c);
        }
        if (casts && per_cast && is_full_product(n) && ++products % per_cast == 0) {
            add_cast(s, n, most_work_ns);
        }
    }
    return true;
}

const struct stk_price_row stk_price_precision = {
    .id = "precision=",
    .value = "bf16",
    .choices = "fp16|bf16|tf32|fp8",
    .what = "compute matrix products and activations in this type",
    .assumes = "the model trains as well, and the GPU has units for the type",
    .is_priced_alone = true,
    .may_slow = true,
    .refuse = precision_refuse,
    .refuse_value = precision_refuse_value,
    .apply = precision_apply,
};
