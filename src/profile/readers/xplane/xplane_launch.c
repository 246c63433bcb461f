// SPDX-License-Identifier: Apache-2.0
// How kernels were launched, and what operations compute: read a second time, only if an analysis
// asked for it.
//
// GPU: the stat "kernel_details" as text, words "key:value" between spaces or line breaks (XLA:
// xla/backends/profiler/gpu/cupti_collector.cc and rocm_collector.cc, TensorFlow since 2.2): regs,
// static_shared and dynamic_shared (older: shm; ROCm: group_mem), grid and block as x,y,z, occ_pct,
// which is theoretical occupancy, and 0 if it wasn't computed. Counts with all bits set, which
// early TensorFlow wrote for unknown values, are unknown.
// TPU: "flops" and "bytes_accessed" of an operation's metadata, XLA's own cost model; not of
// operations that only start asynchronous work (copy-start), whose own time isn't that work's.
// TensorFlow on a GPU: from the operation's type and the shapes of its inputs (xplane_cost.c).
#include "profile/readers/xplane/xplane_event.h"
#include "profile/readers/xplane/xplane_second.h"
#include "profile/store/tf_name.h"

static const char *next_number(const char *p, const char *end, uint64_t *out)
{
    const char *from = p;
    uint64_t n = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        if (__builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n)) {
            n = UINT64_MAX;
        }
    }
    *out = n;
    return p > from ? p : NULL;
}

static void read_sizes(struct stk_str text, uint32_t *out)
{
    const char *p = text.p, *end = text.p + text.n;
    uint32_t sizes[3];
    for (int i = 0; i < 3; i++) {
        uint64_t n;
        if (i && (p == end || *p++ != ',')) {
            return;
        }
        if (!(p = next_number(p, end, &n)) || n > INT32_MAX) {
            return;
        }
        sizes[i] = (uint32_t)n;
    }
    memcpy(out, sizes, sizeof sizes);
}

static void add_shared(uint64_t n, struct stk_launch_config *c)
{
    int32_t sum, before = c->shared_bytes > 0 ? c->shared_bytes : 0;
    if (n <= INT32_MAX && !__builtin_add_overflow(before, (int32_t)n, &sum)) {
        c->shared_bytes = sum;
    }
}

void stk_xp_parse_kernel(struct stk_str text, struct stk_launch_config *c)
{
    size_t i = 0;
    while (i < text.n) {
        size_t end = i, colon = 0;
        for (; end < text.n && text.p[end] != ' ' && text.p[end] != '\n'; end++) {
            if (text.p[end] == ':' && !colon) {
                colon = end;
            }
        }
        struct stk_str key = {text.p + i, colon ? colon - i : 0};
        struct stk_str value = {text.p + colon + 1, colon ? end - colon - 1 : 0};
        uint64_t n;
        bool number = colon && next_number(value.p, value.p + value.n, &n);
        if (stk_str_eq(key, STK_STR("grid"))) {
            read_sizes(value, c->grid);
        } else if (stk_str_eq(key, STK_STR("block"))) {
            read_sizes(value, c->block);
        } else if (number && stk_str_eq(key, STK_STR("regs")) && n > 0 && n <= 65536) {
            c->registers = (int32_t)n;
        } else if (number &&
                   (stk_str_eq(key, STK_STR("shm")) || stk_str_eq(key, STK_STR("group_mem")) ||
                    stk_str_eq(key, STK_STR("static_shared")) ||
                    stk_str_eq(key, STK_STR("dynamic_shared")))) {
            add_shared(n, c);
        } else if (number && stk_str_eq(key, STK_STR("occ_pct")) && n > 0 && n <= 100) {
            c->occupancy_pct = (int32_t)n;
        }
        i = end + 1;
    }
}

static void take_number(const struct stk_xp_value *v, int64_t *out)
{
    int64_t n;
    double real;
    if (v->type == STK_XP_DOUBLE) {
        memcpy(&real, &v->bits, sizeof real);
        if (real >= 0 && real < 9e18) {
            *out = (int64_t)real;
        }
    } else if (stk_xp_value_i64(v, &n) && n >= 0) {
        *out = n;
    }
}

// A TensorFlow operation and its inputs. `lasting`: texts in the plane's own tables, which live as
// long as the decoder.
struct given {
    struct stk_str op, shapes;
    bool op_lasts, shapes_last;
};

// Kernels of one name are launched in the same few ways, and writers refer to the text in the
// plane's tables. So the parsed result is cached by the text's address.
static void take_details(struct stk_xp_decoder *d, const struct stk_xp_value *v,
                         struct stk_launch_config *c)
{
    struct stk_xp_parsed *known = &d->parsed[(uintptr_t)v->text.p / 8 % STK_XP_PARSED];
    bool is_first = c->grid[0] == 0 && c->block[0] == 0 && c->shared_bytes < 0 &&
                    c->registers < 0 && c->occupancy_pct < 0;
    if (v->type != STK_XP_REF || !is_first) {
        stk_xp_parse_kernel(v->text, c);
        return;
    }
    if (known->text != v->text.p || known->n != v->text.n) {
        struct stk_launch_config parsed = STK_LAUNCH_CONFIG_UNKNOWN;
        stk_xp_parse_kernel(v->text, &parsed);
        *known = (struct stk_xp_parsed){v->text.p, v->text.n, parsed};
    }
    int64_t flops = c->flops, bytes = c->bytes;
    *c = known->config;
    c->flops = flops;
    c->bytes = bytes;
}

#define GRID_STATS (1u << STK_XP_SECOND_KERNEL_DETAILS)
#define COST_STATS                                                                                 \
    (1u << STK_XP_SECOND_SHAPE | 1u << STK_XP_SECOND_OP | 1u << STK_XP_SECOND_FLOPS |              \
     1u << STK_XP_SECOND_BYTES)

static void take_stats(struct stk_xp_decoder *d, struct stk_xp_second_walk w,
                       struct stk_launch_config *c, struct given *g)
{
    struct stk_xp_value v;
    struct stk_str text;
    enum stk_xp_second second;
    while ((second = stk_xp_second_next(&w, &v)) != STK_XP_SECOND_NONE) {
        bool is_text = stk_xp_value_text(&v, &text), lasts = v.type == STK_XP_REF;
        if (second == STK_XP_SECOND_KERNEL_DETAILS && is_text) {
            take_details(d, &v, c);
        } else if (second == STK_XP_SECOND_SHAPE && is_text) {
            g->shapes = text;
            g->shapes_last = lasts;
        } else if (second == STK_XP_SECOND_OP && is_text) {
            g->op = text;
            g->op_lasts = lasts;
        } else if (second == STK_XP_SECOND_FLOPS) {
            take_number(&v, &c->flops);
        } else if (second == STK_XP_SECOND_BYTES) {
            take_number(&v, &c->bytes);
        }
    }
}

// Flops and bytes of the operation, if they aren't recorded.
static void take_cost(struct stk_xp_decoder *d, const struct given *g, struct stk_launch_config *c)
{
    if (!g->op.n || !g->shapes.n || c->flops >= 0 || c->bytes >= 0) {
        return;
    }
    uintptr_t sum = (uintptr_t)g->op.p / 8 * 31 + (uintptr_t)g->shapes.p / 8;
    struct stk_xp_costed *known = &d->costed[sum % STK_XP_PARSED];
    bool lasts = g->op_lasts && g->shapes_last;
    if (lasts && known->op == g->op.p && known->shapes == g->shapes.p && known->op_n == g->op.n &&
        known->shapes_n == g->shapes.n) {
        c->flops = known->flops;
        c->bytes = known->bytes;
        return;
    }
    struct stk_str type = stk_tf_name_parse(g->op).type;
    if (type.n) {
        stk_xp_cost(type, g->shapes, c);
    }
    if (lasts) {
        *known =
            (struct stk_xp_costed){g->op.p, g->shapes.p, g->op.n, g->shapes.n, c->flops, c->bytes};
    }
}

void stk_xp_launch(struct stk_xp_decoder *d, const struct stk_xp_event_meta *m, const uint8_t *p,
                   size_t n, struct stk_row_ext *ext)
{
    struct stk_launch_config c = STK_LAUNCH_CONFIG_UNKNOWN;
    struct given g = {.op = STK_STR(""), .shapes = STK_STR("")};
    uint32_t wanted = GRID_STATS | (d->wants & STK_WANT_LAUNCHES ? COST_STATS : 0);
    if (m && m->raw_stats.n) {
        take_stats(d, stk_xp_second_meta(d->plane, m->raw_stats, wanted), &c, &g);
    }
    take_stats(d, stk_xp_second_event(d->plane, p, n, wanted), &c, &g);
    take_cost(d, &g, &c);
    if (m && d->line->kind == STK_XP_LINE_OPS && memmem(m->shown.p, m->shown.n, "-start", 6)) {
        return;
    }
    if (c.grid[0] || c.block[0] || c.flops >= 0 || c.bytes >= 0) {
        stk_shard_set_config(d->shard, &c, ext);
    }
}
