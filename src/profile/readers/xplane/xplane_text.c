// SPDX-License-Identifier: Apache-2.0
// Texts in XPlane files. Names and spellings are those of openxla/xla
// (xla/tsl/profiler/utils/xplane_schema.cc, xla/backends/profiler/gpu/cupti_collector.cc,
// rocm_collector.cc), of TensorFlow 2.3 (newlines for spaces, no memory kinds), and of real files.
#include "profile/readers/xplane/xplane_text.h"

#include "profile/store/trace.h"
#include "profile/store/words.h"

static uint8_t mem_of(struct stk_str kind)
{
    if (stk_str_eq_nocase(kind, STK_STR("pageable"))) {
        return STK_MEM_PAGEABLE;
    }
    if (stk_str_eq_nocase(kind, STK_STR("pinned"))) {
        return STK_MEM_PINNED;
    }
    if (stk_str_starts_nocase(kind, STK_STR("device"))) {
        return STK_MEM_DEVICE;
    }
    if (stk_str_eq_nocase(kind, STK_STR("array"))) {
        return STK_MEM_ARRAY;
    }
    if (stk_str_starts_nocase(kind, STK_STR("managed"))) {
        return STK_MEM_MANAGED;
    }
    return STK_MEM_UNKNOWN;
}

static uint8_t dir_of(struct stk_str key)
{
    return stk_str_eq(key, STK_STR("h2d"))   ? STK_DIR_H2D
           : stk_str_eq(key, STK_STR("d2h")) ? STK_DIR_D2H
           : stk_str_eq(key, STK_STR("d2d")) ? STK_DIR_D2D
           : stk_str_eq(key, STK_STR("p2p")) ? STK_DIR_P2P
           : stk_str_eq(key, STK_STR("h2h")) ? STK_DIR_H2H
                                             : STK_DIR_UNKNOWN;
}

static void parse_detail(struct stk_str key, struct stk_str value, struct stk_xp_details *out)
{
    int64_t n;
    if (stk_str_eq(key, STK_STR("size")) || stk_str_eq(key, STK_STR("num_bytes"))) {
        if (stk_str_to_i64(value, &n) && n >= 0) {
            out->has_bytes = true;
            out->bytes = n;
        }
    } else if (stk_str_eq(key, STK_STR("kind_src"))) {
        out->src_mem = mem_of(value);
    } else if (stk_str_eq(key, STK_STR("kind_dst"))) {
        out->dst_mem = mem_of(value);
    } else if (stk_str_eq(key, STK_STR("async"))) {
        if (stk_str_to_i64(value, &n)) {
            out->flags |= n ? STK_EXT_ASYNC : STK_EXT_SYNCHRONOUS;
        }
    } else if (stk_str_eq(key, STK_STR("dir"))) {
        out->dir = dir_of(value);
    } else if (stk_str_eq(key, STK_STR("waits"))) {
        out->flags |= STK_EXT_WAITS;
    }
}

void stk_xp_parse_details(struct stk_str text, struct stk_xp_details *out)
{
    const char *p = text.p, *end = text.p + text.n;
    while (p < end) {
        const char *token = p, *colon = NULL;
        for (; p < end && *p != ' ' && *p != '\n'; p++) {
            if (*p == ':' && !colon) {
                colon = p;
            }
        }
        if (colon) {
            parse_detail((struct stk_str){token, (size_t)(colon - token)},
                         (struct stk_str){colon + 1, (size_t)(p - colon - 1)}, out);
        }
        while (p < end && (*p == ' ' || *p == '\n')) {
            p++;
        }
    }
}

static struct stk_str skip(struct stk_str s, size_t n)
{
    return (struct stk_str){s.p + n, s.n - n};
}

// "<prefix><digits>" to the end of the name.
static bool numbered(struct stk_str name, struct stk_str prefix, int64_t *ordinal)
{
    if (!stk_str_starts(name, prefix)) {
        return false;
    }
    struct stk_str digits = skip(name, prefix.n);
    return digits.n > 0 && digits.p[0] >= '0' && digits.p[0] <= '9' &&
           stk_str_to_i64(digits, ordinal);
}

static int64_t trailing_number(struct stk_str name)
{
    size_t n = name.n;
    while (n > 0 && name.p[n - 1] >= '0' && name.p[n - 1] <= '9') {
        n--;
    }
    int64_t v;
    return n < name.n && stk_str_to_i64(skip(name, n), &v) ? v : -1;
}

enum stk_xp_plane_kind stk_xp_plane_kind(struct stk_str name, int64_t *ordinal)
{
    *ordinal = -1;
    if (numbered(name, STK_STR("/device:GPU:"), ordinal)) {
        return STK_XP_PLANE_GPU;
    }
    if (numbered(name, STK_STR("/device:TPU:"), ordinal)) {
        return STK_XP_PLANE_TPU;
    }
    if (stk_str_eq(name, STK_STR(STK_XSPACE_OWN_PLANE))) {
        return STK_XP_PLANE_STOKER;
    }
    if (stk_str_starts(name, STK_STR("/device:TPU:")) || // SparseCore
        stk_str_starts(name, STK_STR("/device:CUSTOM:MOSAIC:")) ||
        stk_str_starts(name, STK_STR("/virtualdevice:")) ||
        stk_str_starts(name, STK_STR("/custom:"))) {
        return STK_XP_PLANE_OTHER;
    }
    if (stk_str_starts(name, STK_STR("/device:"))) {
        *ordinal = trailing_number(name);
        return STK_XP_PLANE_UNKNOWN_DEVICE;
    }
    if (stk_str_eq(name, STK_STR("/host:NVTX-CUPTI"))) {
        return STK_XP_PLANE_NVTX;
    }
    if (stk_str_eq(name, STK_STR("/host:metadata")) ||
        stk_str_eq(name, STK_STR("Task Environment")) ||
        stk_str_starts(name, STK_STR("/host:__"))) {
        return STK_XP_PLANE_FACTS;
    }
    if (stk_str_eq(name, STK_STR("/host:tfstreamz"))) {
        return STK_XP_PLANE_OTHER;
    }
    return stk_str_starts(name, STK_STR("/host:")) ? STK_XP_PLANE_HOST : STK_XP_PLANE_OTHER;
}

// Lines that the analyzer adds get ids from 0xDEADBEEF (as int32) upwards.
#define DERIVED_ID_FIRST (-559038737)
#define DERIVED_ID_LAST (DERIVED_ID_FIRST + 1023)
#define OVERHEAD_ID (DERIVED_ID_FIRST + 6) // the profiler's own, not tied to a stream

static bool is_derived_name(struct stk_str name)
{
    static const char *const names[] = {
        "Steps",
        "Launch Stats",
        "Framework Name Scope",
        "Framework Ops",
        "XLA Modules",
        "XLA Ops",
        "TensorFlow Name Scope",
        "TensorFlow Ops",
        "Source code",
        "Source",
        "Host Offload Ops",
        "Sparse Core Steps",
        "Sparse Core Modules",
        "Sparse Core Ops",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (stk_str_eq(name, stk_str_from(names[i]))) {
            return true;
        }
    }
    return false;
}

static enum stk_xp_line_kind gpu_line_kind(struct stk_str name)
{
    if (is_derived_name(name) || stk_str_contains(name, STK_STR(" - from #"))) {
        return STK_XP_LINE_DERIVED;
    }
    if (stk_str_eq(name, STK_STR(STK_XSPACE_COUNTERS))) {
        return STK_XP_LINE_COUNTER;
    }
    // "CUPTI overhead" too: if the profiler flushed on a stream once, the stream has this name.
    return STK_XP_LINE_STREAM;
}

static enum stk_xp_line_kind tpu_line_kind(struct stk_str name)
{
    if (stk_str_eq(name, STK_STR("XLA Ops"))) {
        return STK_XP_LINE_OPS;
    }
    return is_derived_name(name) ? STK_XP_LINE_DERIVED : STK_XP_LINE_OTHER;
}

enum stk_xp_line_kind stk_xp_line_kind(enum stk_xp_plane_kind plane, struct stk_str name,
                                       int64_t id)
{
    if (id == OVERHEAD_ID) {
        return STK_XP_LINE_OTHER;
    }
    if (id >= DERIVED_ID_FIRST && id <= DERIVED_ID_LAST) {
        return STK_XP_LINE_DERIVED;
    }
    switch (plane) {
    case STK_XP_PLANE_HOST:
        return stk_str_ends(name, STK_STR("/NVTX")) ? STK_XP_LINE_RANGES : STK_XP_LINE_THREAD;
    case STK_XP_PLANE_NVTX:
        return STK_XP_LINE_RANGES;
    case STK_XP_PLANE_GPU:
        return gpu_line_kind(name);
    case STK_XP_PLANE_TPU:
        return tpu_line_kind(name);
    case STK_XP_PLANE_OTHER:
        return stk_str_eq(name, STK_STR(STK_XSPACE_COUNTERS)) ? STK_XP_LINE_COUNTER
                                                              : STK_XP_LINE_OTHER;
    default:
        return STK_XP_LINE_OTHER;
    }
}

struct stk_str stk_xp_hlo_op(struct stk_str category, struct stk_str name)
{
    if (category.n) {
        return category;
    }
    size_t n = name.n;
    while (n > 0 && name.p[n - 1] >= '0' && name.p[n - 1] <= '9') {
        n--;
    }
    if (n > 0 && n < name.n && name.p[n - 1] == '.') {
        name.n = n - 1;
    }
    return name;
}

bool stk_xp_hlo_is_container(struct stk_str op)
{
    return stk_str_eq(op, STK_STR("while")) || stk_str_eq(op, STK_STR("conditional")) ||
           stk_str_eq(op, STK_STR("call"));
}

static bool in_host_memory(struct stk_str shape)
{
    return stk_str_contains(shape, STK_STR("S(5)"));
}

uint8_t stk_xp_hlo_dir(struct stk_str op, struct stk_str text)
{
    if (stk_str_starts(op, STK_STR("infeed"))) {
        return STK_DIR_H2D;
    }
    if (stk_str_starts(op, STK_STR("outfeed"))) {
        return STK_DIR_D2H;
    }
    bool send = stk_str_starts(op, STK_STR("send")), recv = stk_str_starts(op, STK_STR("recv"));
    if (send || recv) {
        if (!stk_str_contains(text, STK_STR("is_host_transfer=true"))) {
            return STK_DIR_P2P;
        }
        return send ? STK_DIR_D2H : STK_DIR_H2D;
    }
    // "%name = RESULT copy-done((DESTINATION, SOURCE, CONTEXT) %copy-start)"
    const char *eq = text.n ? memmem(text.p, text.n, " = ", 3) : NULL;
    const char *call = eq ? memmem(eq, (size_t)(text.p + text.n - eq), " copy", 5) : NULL;
    if (!call) {
        return STK_DIR_UNKNOWN;
    }
    if (in_host_memory((struct stk_str){eq, (size_t)(call - eq)})) {
        return STK_DIR_D2H;
    }
    return in_host_memory((struct stk_str){call, (size_t)(text.p + text.n - call)}) ? STK_DIR_H2D
                                                                                    : STK_DIR_D2D;
}

bool stk_xp_is_runtime_call(struct stk_str name)
{
    static const char *const prefixes[] = {"cuda", "cu", "hip"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        struct stk_str prefix = stk_str_from(prefixes[i]);
        if (stk_str_starts(name, prefix) && name.n > prefix.n && name.p[prefix.n] >= 'A' &&
            name.p[prefix.n] <= 'Z') {
            return true;
        }
    }
    return false;
}
