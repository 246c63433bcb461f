// SPDX-License-Identifier: Apache-2.0
// Matrix products and activations in fewer bits, by class of kernel. Published factors: products
// without tensor cores take a third of the time in 16 bits, memory-bound kernels half; from tf32 to
// 16 bits the factor is 1.3 to 1.7. If the device's peaks are known, products that leave fp32 gain
// the square root of the ratio of the peaks, which gives those factors for the devices that they
// were published for. At worst, products without tensor cores stay without them, as products with
// dimensions that aren't multiples of 8 do; if the profile has shapes, that is expected of those.
// The optimizer, copies and reductions of gradients stay.
//
// Published factors are averages over products of all sizes. A product whose shapes and time show
// that it reaches half of its device's peak or more fills the device. It is expected to gain the
// ratio of the two peaks, each times the share that such products reach: about four fifths on plain
// cores, 60 to 80% on matrix units, in either type (from tf32 to 16 bits, bytes halve as compute
// time does). If no shapes are recorded, a long kernel with several blocks per SM, or just one (a
// persistent kernel), is assumed to fill the device. Below a fifth of the peak the published
// factors apply, in between a mix of both. More than the peak means that the shape isn't the
// kernel's own.
//
// Leaving 32 bits needs casts. A third of the products belong to forward; their weights are cast
// once per step, and at most their other operand as well. A cast is a short kernel with a launch
// like its product's, which matters to a step that waits for launches. If a compiler fused the
// elementwise work, its program launches the kernels without operations in between: then the usual
// time between its launches is added, which is nothing if one call launches many.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "profile/model/median.h"
#include "answers/replay/price_row.h"

#define FIXED_NS 3000               // of a kernel: the part that no type shortens
#define MOST_WORK_NS (100 * STK_US) // of an operation before its launch
// Share of its peak from which a product gains more of the ratio, and the share from which it gains
// all that any does.
#define FILLS_FROM 0.2
#define FILLS_ALL 0.5
#define OVER_PEAK 1.1
#define PLAIN_REACHES 0.8 // of its peak, for products that fill the device
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
                                       : 0; // fp8 also scales: the table has its factor
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

// How much of its type's peak the kernel reaches, 0 to 1. 0: not known.
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

// The speed-up of a product that fills the device, from the ratio of two peaks.
static double filled_factor(const struct stk_node *n, int class, double ratio,
                            enum stk_price_level level)
{
    STK_ASSERT(class >= 0 && (unsigned)level < STK_PRICE_LEVELS);
    double reached = class == FROM_32 ? ratio * UNITS_REACH / PLAIN_REACHES : ratio;
    // A product that uses matrix units already has suitable dimensions.
    bool is_aligned = class == FROM_TF32 || stk_node_alignment(n) == STK_ALIGNED;
    return level == STK_PRICE_LOW        ? pow(ratio, 1.1) // its inputs halve, too
           : level == STK_PRICE_EXPECTED ? fmax(reached, 1)
                                         : pow(ratio, is_aligned ? 0.6 : 0.25);
}

// A product's speed-up in another type; the table's factor if no peak is known. For kernels that
// fill the device, and for others.
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

// A step's products per cast, by level; 0: no casts are added.
static const uint32_t products_per_cast[STK_PRICE_LEVELS] = {0, 3, 2};

static bool is_full_product(const struct stk_node *n)
{
    int class = class_of(n);
    return class == FROM_32 || class == FROM_TF32;
}

// The host operation's time before the product's launch; 0: it launches without one.
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

// The median of it. A call that launches many kernels counts for the first only. False: no memory.
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

// Adds a call like the product's own before it, and a kernel of little more than the fixed time.
static void add_cast(struct stk_scene *s, struct stk_node *product, int64_t most_work_ns)
{
    product->dur_ns += FIXED_NS + s->g->calibration.gap_ns;
    if (product->launch != STK_NONE) {
        int64_t work_ns = work_before(s->g, product);
        work_ns = work_ns < most_work_ns ? work_ns : most_work_ns;
        s->nodes[product->launch].dur_ns += s->g->calibration.call_ns + work_ns;
    }
}

// A job in 16 bits already has such activations: they aren't halved again.
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
