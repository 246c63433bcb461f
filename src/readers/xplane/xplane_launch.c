// SPDX-License-Identifier: Apache-2.0
// How kernels were launched, and what operations compute: read a second time and only where an
// analysis asked for it.
//
// GPU: the stat "kernel_details" as text, words "key:value" between spaces or line breaks (XLA:
// xla/backends/profiler/gpu/cupti_collector.cc and rocm_collector.cc, TensorFlow since 2.2): regs,
// static_shared and dynamic_shared (older: shm; ROCm: group_mem), grid and block as x,y,z, occ_pct,
// which is theoretical occupancy and 0 where it was not computed. Counts with all bits set, as
// early TensorFlow wrote them for what it did not know, are unknown.
// TPU: "flops" and "bytes_accessed" of an operation's metadata, XLA's own cost model; not of those
// that only start what goes on beside them (copy-start), whose time is none of its cost's.
// TensorFlow on a GPU: from the operation's type and the shapes of its inputs (xplane_cost.c).
#include "readers/xplane/xplane_event.h"
#include "store/tf_name.h"

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

// number 0: every field is a stat.
// What an operation of TensorFlow is, and is given.
struct given {
    struct stk_str op, shapes;
};

static void take_stats(struct stk_xp_decoder *d, const uint8_t *p, size_t n, uint32_t number,
                       struct stk_launch_config *c, struct given *g)
{
    struct stk_pb_cursor cursor = {p, p + n};
    struct stk_pb_field f;
    while (stk_pb_next(&cursor, &f) == STK_PB_FIELD) {
        struct stk_xp_value v;
        struct stk_str text;
        int64_t id;
        if ((number && f.number != number) || f.wire != STK_PB_LEN ||
            !stk_xp_stat_parse(d->plane, f.data, (size_t)f.value, &id, &v)) {
            continue;
        }
        uint32_t at = stk_xp_ids_get(&d->plane->stat_ids, id);
        if (at == STK_NONE) {
            continue;
        }
        struct stk_str name =
            ((const struct stk_xp_stat_meta *)stk_vec_at(&d->plane->stat_metas, at))->name;
        if (stk_str_eq(name, STK_STR("kernel_details")) && stk_xp_value_text(&v, &text)) {
            stk_xp_parse_kernel(text, c);
        } else if (stk_str_eq(name, STK_STR("shape"))) {
            stk_xp_value_text(&v, &g->shapes);
        } else if (stk_str_eq(name, STK_STR("tf_op")) || stk_str_eq(name, STK_STR("level 0"))) {
            stk_xp_value_text(&v, &g->op);
        } else if (stk_str_eq(name, STK_STR("flops"))) {
            take_number(&v, &c->flops);
        } else if (stk_str_eq(name, STK_STR("bytes_accessed"))) {
            take_number(&v, &c->bytes);
        }
    }
}

void stk_xp_launch(struct stk_xp_decoder *d, const struct stk_xp_event_meta *m, const uint8_t *p,
                   size_t n, struct stk_row_ext *ext)
{
    struct stk_launch_config c = STK_LAUNCH_CONFIG_UNKNOWN;
    struct given g = {STK_STR(""), STK_STR("")};
    if (m) {
        take_stats(d, (const uint8_t *)m->raw_stats.p, m->raw_stats.n, 0, &c, &g);
    }
    take_stats(d, p, n, 4, &c, &g);
    struct stk_str type = stk_tf_name_parse(g.op).type;
    if (type.n && g.shapes.n && c.flops < 0 && c.bytes < 0) {
        stk_xp_cost(type, g.shapes, &c);
    }
    if (m && d->line->kind == STK_XP_LINE_OPS && memmem(m->shown.p, m->shown.n, "-start", 6)) {
        return;
    }
    if (c.grid[0] || c.block[0] || c.flops >= 0 || c.bytes >= 0) {
        stk_shard_set_config(d->shard, &c, ext);
    }
}
