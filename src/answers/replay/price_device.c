// SPDX-License-Identifier: Apache-2.0
// Another device, by data-sheet peaks (profile/model/device/device_rates.def): matrix products by
// the rate of their precision, other kernels by memory bandwidth, copies by the link to the host,
// collectives by the link between devices.
//
// Method: a kernel changes by a power of the ratio of the two peaks, except for a fixed time. The
// ends differ in how much of the ratio kernels reach. Predictions of other devices from peaks are
// off by a seventh on average, so a step, the sum of many kernels, is rarely off by more than a
// third. If copies from pinned memory show that the host link is slower than its data sheet (a slot
// with fewer lanes, a switch), it may have full speed in the other machine. At best it does. The
// expected value covers the part that a slot with half the lanes explains (on lab/sim's jobs this
// is closer than half of the difference). Collectives that reach less than half of the link's rate
// between devices have another limit (a bus, a network), which only at best disappears with another
// device.
//
// Limits: the host, its launches and staged copies stay unchanged. Other kernels, caches and clocks
// of the other device are ignored, and so is the larger batch that one would choose.
#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "answers/replay/price_messages.h"
#include "answers/replay/price_transfers.h"

#define FIXED_NS 2000    // of a kernel, on any device
#define HALF_SLOT 2.0    // times faster with all lanes
#define PEER_REACHED 0.5 // of the peer link: collectives below it have another limit

// Powers of the ratio of two peaks, if the other device is faster.
static const double reached[STK_PRICE_LEVELS] = {1.05, 0.9, 0.7};

static const char *value_of(const char *text)
{
    const char *at = strchr(text, '=');
    return at ? at + 1 : text;
}

static struct stk_device_rates rates_named(const char *name)
{
    static const struct stk_device_limits unknown;
    return stk_device_rates_of(stk_str_from(name), &unknown);
}

static bool device_takes(const char *value)
{
    return rates_named(value).fp32 > 0;
}

static const char *device_refuse(const struct stk_graph *g)
{
    return !stk_price_finds(g, STK_NODE_KERNEL, -1) ? "no GPU work was recorded"
           : g->rates.fp32 <= 0 || g->rates.memory <= 0
               ? "the profile doesn't name its GPU, or its peak rates aren't known"
               : NULL;
}

static const char *device_refuse_value(const struct stk_graph *g, const struct stk_price_how *how)
{
    (void)g;
    return rates_named(value_of(how->text)).memory <= 0
               ? "the memory rate depends on the exact model: give its full name, as the driver "
                 "shows it"
               : NULL;
}

static double or_fp32(double rate, const struct stk_device_rates *r)
{
    return rate > 0 ? rate : r->fp32;
}

// The peak that limits a node; 0: unknown.
static double peak_of(const struct stk_device_rates *r, const struct stk_node *n)
{
    if (n->kind == STK_NODE_COLLECTIVE) {
        return r->peer_link;
    }
    if (n->kind == STK_NODE_COPY) {
        return n->what == STK_WHAT_H2D || n->what == STK_WHAT_D2H ? r->host_link : 0;
    }
    return n->what == STK_WHAT_MATRIX_32     ? r->fp32
           : n->what == STK_WHAT_MATRIX_TF32 ? or_fp32(r->tf32, r)
           : n->what == STK_WHAT_MATRIX_16   ? or_fp32(r->fp16, r)
                                             : r->memory;
}

// How many times faster copies are.
static double faster_link(const struct stk_scene *s, double from, double to,
                          enum stk_price_level level)
{
    STK_ASSERT((unsigned)level < STK_PRICE_LEVELS);
    double seen = stk_price_link_rate(s, STK_WHAT_H2D), ratio = from > 0 && to > 0 ? to / from : 1;
    double whole = seen > 0 && to > 0 ? STK_LINK_REACHED * to / seen : ratio;
    whole = whole > ratio ? whole : ratio;
    double likely = whole < HALF_SLOT * ratio ? whole : HALF_SLOT * ratio;
    return level == STK_PRICE_LOW ? whole : level == STK_PRICE_EXPECTED ? likely : ratio;
}

// How many times faster; below 1 slower, by all of the ratio or more.
static double faster(double from, double to, enum stk_price_level level)
{
    STK_ASSERT((unsigned)level < STK_PRICE_LEVELS);
    static const double lost[STK_PRICE_LEVELS] = {0.8, 1, 1.2};
    double ratio = from > 0 && to > 0 ? to / from : 1;
    return pow(ratio, ratio > 1 ? reached[level] : lost[level]);
}

// Powers of the ratio of the links between devices.
static double peer_reached(const struct stk_graph *g, const struct stk_message_fit *f,
                           enum stk_price_level level)
{
    if (level != STK_PRICE_EXPECTED || g->group_size < 2 || !f) {
        return level == STK_PRICE_EXPECTED ? 0.5 : level == STK_PRICE_LOW ? 1 : 0;
    }
    double n = (double)g->group_size;
    double rate = f->byte_ns > 0 ? 2 * (n - 1) / n * 1e9 / f->byte_ns : 0;
    return rate < PEER_REACHED * g->rates.peer_link ? 0 : reached[level];
}

static bool device_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    struct stk_device_rates to = rates_named(value_of(how->text));
    double link = faster_link(s, s->g->rates.host_link, to.host_link, how->level);
    struct stk_message_floor f = stk_message_floor(s->g, how->level);
    struct stk_message_fit usual = stk_message_fit(s->g, STK_PRICE_EXPECTED);
    double peers = s->g->rates.peer_link > 0 && to.peer_link > s->g->rates.peer_link
                       ? pow(to.peer_link / s->g->rates.peer_link,
                             peer_reached(s->g, f.is_told ? &usual : NULL, how->level))
                       : 0; // 0: by the peaks
    for (uint32_t i = 0; i < s->g->node_count; i++) {
        struct stk_node *n = &s->nodes[i];
        if (!stk_node_is_device(n)) {
            continue;
        }
        double to_peak = peak_of(&to, n);
        double by = n->kind == STK_NODE_COPY && to_peak > 0 ? link
                    : n->kind == STK_NODE_COLLECTIVE && peers > 0
                        ? peers
                        : faster(peak_of(&s->g->rates, n), to_peak, how->level);
        int64_t fixed = n->kind == STK_NODE_COLLECTIVE
                            ? stk_message_fixed(&f, n->dur_ns, how->level)
                        : n->kind == STK_NODE_COPY ? STK_COPY_SETUP_NS
                                                   : FIXED_NS;
        fixed = fixed < n->dur_ns ? fixed : n->dur_ns;
        n->dur_ns = fixed + stk_price_scaled(n->dur_ns - fixed, 1 / by);
    }
    return true;
}

const struct stk_price_row stk_price_device = {
    .id = "device=",
    .value = "H100",
    .choices = "the names of GPUs with known rates, such as H100, L4 or V100-SXM2",
    .takes = device_takes,
    .what = "run the same job on that GPU, by data-sheet peaks",
    .assumes = "kernels reach the same share of the other GPU's peaks, with the same CPU",
    .is_priced_alone = false,
    .is_supposed = true,
    .may_slow = true,
    .refuse = device_refuse,
    .refuse_value = device_refuse_value,
    .apply = device_apply,
};
