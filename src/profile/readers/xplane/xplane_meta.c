// SPDX-License-Identifier: Apache-2.0
// The meaning of a plane's maps: stats by their names, and what each event's name says about it.
// Everything is computed once per plane and entry, so decoding an event only takes a lookup.
#include "base/assert.h"
#include "profile/readers/xplane/xplane_plane.h"
#include "profile/readers/xplane/xplane_second.h"

#include "base/alloc.h"
#include "profile/store/names.h"
#include "profile/store/words.h"

enum stk_xp_stat stk_xp_stat_of(struct stk_str name)
{
#define S(text, stat) {{text, sizeof text - 1}, STK_XP_STAT_##stat}
    static const struct {
        struct stk_str name;
        enum stk_xp_stat stat;
    } table[] = {
        S("correlation_id", CORRELATION),
        S("step_num", STEP_NUM),
        S("memcpy_details", MEMCPY),
        S("Memset_details", MEMSET),
        S("memset_details", MEMSET),
        S("memalloc_details", MEMALLOC),
        S("MemAlloc_details", MEMALLOC),
        S("MemFree_details", MEMALLOC),
        S("memfree_details", MEMALLOC),
        S("MemoryResidency_details", MEMALLOC),
        S("allocation_bytes", ALLOCATION_BYTES),
        S("requested_bytes", REQUESTED_BYTES),
        S("cuda_graph_id", GRAPH),
        S("cuda_graph_exec_id", GRAPH),
        S("_ipl_stage_name", INPUT_STAGE),
        S("_ipl_stage_id", INPUT_STAGE),
        S("hlo_category", HLO_CATEGORY),
        S("raw_bytes_accessed", RAW_BYTES_ACCESSED),
        S("bytes_accessed", BYTES_ACCESSED),
        S(STK_XSPACE_OWN_KIND, KIND),
        S("device_vendor", DEVICE_VENDOR),
        S("gpu_device_name", DEVICE_NAME),
        S("device_type_string", DEVICE_TYPE),
        S("core_count", CORE_COUNT),
        S("compute_cap_major", CC_MAJOR),
        S("compute_cap_minor", CC_MINOR),
        S("memory_size", MEMORY_SIZE),
        S("memory_bandwidth", MEMORY_RATE),
        S("peak_teraflops_per_second", PEAK_TERAFLOPS),
        S("peak_hbm_bw_gigabytes_per_second", PEAK_MEMORY_RATE),
        S("profile_start_time", PROFILE_START),
        S("jax_version", JAX_VERSION),
    };
#undef S
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (stk_str_eq(name, table[i].name)) {
            return table[i].stat;
        }
    }
    return STK_XP_STAT_NONE;
}

uint32_t stk_xp_ids_sparse(const struct stk_xp_ids *ids, uint64_t id)
{
    uint32_t *at = stk_map_get(&ids->sparse, id, 0);
    return at ? *at : STK_NONE;
}

#define DENSE_FREE                                                                                 \
    128 // ids that get a direct place for any number of items: there may be many planes

// Items start with their int64 id. A later one with the same id wins, as in every protobuf map.
bool stk_xp_ids_build(struct stk_xp_ids *ids, const struct stk_vec *items)
{
    STK_ASSERT(items->items || items->count == 0);
    uint64_t dense = 0, limit = 4 * (uint64_t)items->count + DENSE_FREE;
    stk_map_init(&ids->sparse, SIZE_MAX);
    for (size_t i = 0; i < items->count; i++) {
        uint64_t id = (uint64_t)*(const int64_t *)stk_vec_at(items, i);
        if (id < limit && id >= dense) {
            dense = id + 1;
        }
    }
    if (dense) {
        ids->dense = stk_alloc_array((size_t)dense, sizeof *ids->dense);
        if (!ids->dense) {
            return false;
        }
        memset(ids->dense, 0xff, (size_t)dense * sizeof *ids->dense);
    }
    ids->dense_count = dense;
    for (size_t i = 0; i < items->count; i++) {
        uint64_t id = (uint64_t)*(const int64_t *)stk_vec_at(items, i);
        uint32_t *slot = id < dense ? &ids->dense[id] : stk_map_put(&ids->sparse, id, 0, 0, NULL);
        if (!slot) {
            return false;
        }
        *slot = (uint32_t)i;
    }
    return true;
}

void stk_xp_ids_deinit(struct stk_xp_ids *ids)
{
    stk_free(ids->dense);
    stk_map_deinit(&ids->sparse);
    *ids = (struct stk_xp_ids){0};
}

// Read a second time if an analysis asks (xplane_second.h).
static enum stk_xp_second second_of(struct stk_str name)
{
    static const struct {
        struct stk_str name;
        enum stk_xp_second second;
    } names[] = {
#define N(text, second) {{text, sizeof text - 1}, STK_XP_SECOND_##second}
        N("kernel_details", KERNEL_DETAILS),
        N("shape", SHAPE),
        N("tf_op", OP),
        N("level 0", OP),
        N("flops", FLOPS),
        N("bytes_accessed", BYTES),
        // tensorflow/core/kernels/data: the iterators' GetTraceMeMetadata
        N("parallelism", PARALLELISM),
        N("autotune", AUTOTUNE),
        N("buffered_elements", BUFFERED),
        N("buffer_limit", BUFFER_LIMIT),
        N("buffer_size", BUFFER_LIMIT),
        N("max_batch_results", BUFFER_LIMIT),
        N("id", FUNCTION),
#undef N
    };
    for (size_t i = 0; name.n <= 17 && i < sizeof names / sizeof *names; i++) {
        if (name.n == names[i].name.n && memcmp(name.p, names[i].name.p, name.n) == 0) {
            return names[i].second;
        }
    }
    return STK_XP_SECOND_NONE;
}

bool stk_xp_stat_parse(const struct stk_xp_plane *plane, const uint8_t *p, size_t n, int64_t *id,
                       struct stk_xp_value *value)
{
    struct stk_pb_cursor c = {p, p + n};
    struct stk_pb_field f;
    enum stk_pb_step step;
    *id = 0;
    *value = (struct stk_xp_value){.type = STK_XP_ABSENT};
    while ((step = stk_pb_next(&c, &f)) == STK_PB_FIELD) {
        if (f.number == 1 && f.wire == STK_PB_VARINT) {
            *id = (int64_t)f.value;
        } else if (f.number == 2 && f.wire == STK_PB_FIXED64) {
            *value = (struct stk_xp_value){.type = STK_XP_DOUBLE, .bits = f.value};
        } else if ((f.number == 3 || f.number == 4) && f.wire == STK_PB_VARINT) {
            *value = (struct stk_xp_value){.type = f.number == 3 ? STK_XP_U64 : STK_XP_I64,
                                           .bits = f.value};
        } else if ((f.number == 5 || f.number == 6) && f.wire == STK_PB_LEN) {
            *value = (struct stk_xp_value){.type = f.number == 5 ? STK_XP_STR : STK_XP_BYTES,
                                           .text = {(const char *)f.data, (size_t)f.value}};
        } else if (f.number == 7 && f.wire == STK_PB_VARINT) {
            uint32_t at = stk_xp_ids_get(&plane->stat_ids, (int64_t)f.value);
            struct stk_str text = STK_STR("");
            if (at != STK_NONE) {
                text = ((struct stk_xp_stat_meta *)stk_vec_at(&plane->stat_metas, at))->name;
            }
            *value = (struct stk_xp_value){.type = STK_XP_REF, .text = text};
        }
    }
    return step == STK_PB_END;
}

bool stk_xp_value_i64(const struct stk_xp_value *v, int64_t *out)
{
    double d;
    switch (v->type) {
    case STK_XP_I64:
    case STK_XP_U64: // ids and hashes use all 64 bits: the same pattern on both sides
        *out = (int64_t)v->bits;
        return true;
    case STK_XP_DOUBLE:
        memcpy(&d, &v->bits, sizeof d);
        if (!(d > -9.2e18 && d < 9.2e18)) {
            return false;
        }
        *out = (int64_t)d;
        return true;
    case STK_XP_STR:
    case STK_XP_REF:
        return stk_str_to_i64(v->text, out);
    default:
        return false;
    }
}

bool stk_xp_value_text(const struct stk_xp_value *v, struct stk_str *out)
{
    if (v->type != STK_XP_STR && v->type != STK_XP_REF && v->type != STK_XP_BYTES) {
        return false;
    }
    *out = v->text;
    return true;
}

void stk_xp_values_take(struct stk_xp_values *values, enum stk_xp_stat stat,
                        const struct stk_xp_value *v)
{
    STK_ASSERT((unsigned)stat < STK_XP_STAT_COUNT);
    int64_t n;
    struct stk_str text;
    bool taken = false;
    switch (stat) {
    case STK_XP_STAT_CORRELATION:
        taken = stk_xp_value_i64(v, &values->correlation) && values->correlation; // 0: none
        break;
    case STK_XP_STAT_STEP_NUM:
        taken = stk_xp_value_i64(v, &values->step_num);
        break;
    case STK_XP_STAT_MEMCPY:
    case STK_XP_STAT_MEMSET:
    case STK_XP_STAT_MEMALLOC:
        taken = stk_xp_value_text(v, &values->details);
        break;
    case STK_XP_STAT_HLO_CATEGORY:
        taken = stk_xp_value_text(v, &values->category);
        break;
    case STK_XP_STAT_KIND:
        taken = stk_xp_value_text(v, &values->kind);
        break;
    case STK_XP_STAT_REQUESTED_BYTES: // the weaker of two
        if (values->present & 1u << STK_XP_STAT_ALLOCATION_BYTES) {
            break;
        }
        if (stk_xp_value_i64(v, &n) && n >= 0) {
            values->bytes = n;
            taken = true;
        }
        break;
    case STK_XP_STAT_BYTES_ACCESSED:
        if (values->present & 1u << STK_XP_STAT_RAW_BYTES_ACCESSED) {
            break;
        }
        // fall through
    case STK_XP_STAT_ALLOCATION_BYTES:
    case STK_XP_STAT_RAW_BYTES_ACCESSED:
        // XLA writes a free as a separate event; exported PyTorch profiles, as negative bytes.
        if (stk_xp_value_i64(v, &n) &&
            (n >= 0 || (stat == STK_XP_STAT_ALLOCATION_BYTES && v->type == STK_XP_I64))) {
            values->bytes = n;
            taken = true;
        }
        break;
    case STK_XP_STAT_GRAPH:
        taken = !stk_xp_value_i64(v, &n) || n != 0;
        break;
    case STK_XP_STAT_INPUT_STAGE:
        taken = true;
        break;
    default:
        (void)text;
        break;
    }
    if (taken) {
        values->present |= 1u << stat;
    }
}

static bool read_defaults(struct stk_xp_plane *plane, struct stk_xp_event_meta *m,
                          struct stk_arena *arena)
{
    struct stk_xp_values values = {0};
    struct stk_pb_cursor c = {(const uint8_t *)m->raw_stats.p,
                              (const uint8_t *)m->raw_stats.p + m->raw_stats.n};
    struct stk_pb_field f;
    while (stk_pb_next(&c, &f) == STK_PB_FIELD) {
        struct stk_xp_value v;
        int64_t id;
        if (f.wire != STK_PB_LEN || !stk_xp_stat_parse(plane, f.data, (size_t)f.value, &id, &v)) {
            continue;
        }
        uint32_t at = stk_xp_ids_get(&plane->stat_ids, id);
        if (at != STK_NONE) {
            stk_xp_values_take(
                &values, ((struct stk_xp_stat_meta *)stk_vec_at(&plane->stat_metas, at))->stat, &v);
        }
    }
    if (!values.present) {
        return true;
    }
    m->defaults = stk_arena_alloc(arena, sizeof values);
    if (!m->defaults) {
        return false;
    }
    *m->defaults = values;
    return true;
}

// CUPTI's own work. It also lists "COMPILER" as overhead, but that is the program's own work.
static bool is_overhead(struct stk_str name)
{
    return stk_str_eq(name, STK_STR("BUFFER_FLUSH")) ||
           stk_str_eq(name, STK_STR("INSTRUMENTATION")) || stk_str_eq(name, STK_STR("RESOURCE"));
}

static uint8_t host_kind(struct stk_str name)
{
    if (name.n && name.p[0] == '$') { // Python tracer: "$file.py:12 function"
        return STK_KIND_PYTHON;
    }
    if (stk_str_eq(name, STK_STR("MemoryAllocation")) ||
        stk_str_eq(name, STK_STR("MemoryDeallocation"))) {
        return STK_KIND_MEMORY;
    }
    if (stk_str_eq(name, STK_STR("TraceContext")) || stk_str_starts(name, STK_STR("NVTX:"))) {
        return STK_KIND_ANNOTATION;
    }
    if (stk_str_starts(name, STK_STR("ThreadpoolListener::"))) {
        return STK_KIND_OTHER; // zero-length marks around a pool thread's work
    }
    if (is_overhead(name)) {
        return STK_KIND_OTHER;
    }
    if (stk_xp_is_runtime_call(name)) {
        return STK_KIND_RUNTIME;
    }
    if (stk_name_classify(name, STK_KIND_HOST_OP) & (STK_NAME_FETCH | STK_NAME_ITERATOR)) {
        return STK_KIND_INPUT;
    }
    return STK_KIND_HOST_OP;
}

static bool is_sync(struct stk_str name)
{
    static const char *const names[] = {
        "cuEventSynchronize",    "cuStreamWaitEvent",     "cuStreamSynchronize",
        "cuCtxSynchronize",      "cudaEventSynchronize",  "cudaStreamWaitEvent",
        "cudaStreamSynchronize", "cudaDeviceSynchronize", "unknown synchronization event"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (stk_str_eq(name, stk_str_from(names[i]))) {
            return true;
        }
    }
    return false;
}

static void resolve_gpu(struct stk_xp_event_meta *m)
{
    m->kind = STK_KIND_OTHER;
    if (is_sync(m->name)) {
        m->kind = STK_KIND_SYNC;
        m->derived = STK_XP_DERIVED_SYNC;
    } else if (is_overhead(m->name) || stk_str_eq(m->name, STK_STR("COMPILER"))) {
        m->derived = STK_XP_DERIVED_OVERHEAD;
    } else if (stk_str_starts(m->name, STK_STR("UM_"))) {
        m->derived = STK_XP_DERIVED_UNIFIED;
    } else if (stk_str_starts(m->name, STK_STR("Memory ")) ||
               stk_str_starts(m->name, STK_STR("MemoryAlloc")) ||
               stk_str_starts(m->name, STK_STR("MemoryFree")) ||
               stk_str_starts(m->name, STK_STR("MemoryResidency"))) {
        m->kind = STK_KIND_MEMORY;
    } else if (stk_str_starts_nocase(m->name, STK_STR("Memcpy"))) {
        m->kind = STK_KIND_MEMCPY;
        stk_name_parse_copy(m->name, &m->dir, &m->src_mem, &m->dst_mem);
    } else if (stk_str_starts_nocase(m->name, STK_STR("Memset"))) {
        m->kind = STK_KIND_MEMSET;
    } else {
        m->kind = STK_KIND_KERNEL;
        if (stk_str_starts(m->name, STK_STR("CudaGraphExec"))) {
            m->flags |= STK_EXT_GRAPH;
        }
    }
}

static void resolve_tpu(struct stk_xp_event_meta *m)
{
    static const char *const waits[] = {"copy-done", "infeed", "outfeed", "send-done", "recv-done"};
    struct stk_str category = m->defaults && m->defaults->present & 1u << STK_XP_STAT_HLO_CATEGORY
                                  ? m->defaults->category
                                  : STK_STR("");
    struct stk_str op = stk_xp_hlo_op(category, m->shown),
                   named = stk_xp_hlo_op(STK_STR(""), m->shown);
    m->kind = STK_KIND_KERNEL;
    if (stk_xp_hlo_is_container(op)) {
        m->kind = STK_KIND_OTHER;
    } else if (stk_name_device_kind(op) == STK_KIND_COLLECTIVE ||
               stk_name_device_kind(named) == STK_KIND_COLLECTIVE) {
        m->kind = STK_KIND_COLLECTIVE;
    }
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        struct stk_str wait = stk_str_from(waits[i]);
        if (m->kind != STK_KIND_KERNEL || !(stk_str_eq(op, wait) || stk_str_eq(named, wait))) {
            continue;
        }
        m->flags |= STK_EXT_WAITS;
        m->dir = stk_xp_hlo_dir(wait, m->name);
    }
}

static void hint(struct stk_xp_plane *plane, struct stk_str name)
{
    static const struct {
        const char *prefix;
        enum stk_framework framework;
    } table[] = {
        {"PjitFunction", STK_FW_JAX},           {"jit_", STK_FW_JAX},
        {"ExecutorState::", STK_FW_TENSORFLOW}, {"FunctionRun", STK_FW_TENSORFLOW},
        {"EagerExecute", STK_FW_TENSORFLOW},    {"EagerLocalExecute", STK_FW_TENSORFLOW},
        {"TFE_Py_", STK_FW_TENSORFLOW},         {"TraceContext", STK_FW_TENSORFLOW},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (stk_str_starts(name, stk_str_from(table[i].prefix))) {
            plane->framework_hint |= 1u << table[i].framework;
        }
    }
}

// The kind that stoker export wrote, if the plane can have such events; otherwise it stays as
// found.
static void resolve_written(const struct stk_xp_plane *plane, struct stk_xp_event_meta *m)
{
    if (!m->defaults || !(m->defaults->present & 1u << STK_XP_STAT_KIND)) {
        return;
    }
    bool on_device = plane->kind == STK_XP_PLANE_GPU || plane->kind == STK_XP_PLANE_TPU;
    for (int k = 0; k < STK_KIND_COUNT; k++) {
        bool is_work = stk_kind_is_device_work((uint8_t)k) || k == STK_KIND_SYNC;
        bool fits = k == STK_KIND_OTHER || k == STK_KIND_MEMORY || is_work == on_device;
        if (!fits || !stk_str_eq(m->defaults->kind, stk_str_from(stk_kind_key((enum stk_kind)k)))) {
            continue;
        }
        m->kind = (uint8_t)k;
        if (plane->kind != STK_XP_PLANE_GPU || stk_kind_is_device_work((uint8_t)k)) {
            m->derived = STK_XP_DERIVED_NOT;
        } else if (m->derived == STK_XP_DERIVED_NOT) {
            m->derived = k == STK_KIND_SYNC ? STK_XP_DERIVED_SYNC : STK_XP_DERIVED_OVERHEAD;
        }
    }
}

static void resolve_event(struct stk_xp_plane *plane, struct stk_xp_event_meta *m)
{
    m->shown = m->name;
    if (plane->kind == STK_XP_PLANE_TPU && m->display.n) {
        m->shown = m->display; // the name is the whole HLO instruction
    }
    if (!m->shown.n) {
        m->shown = m->display;
    }
    switch (plane->kind) {
    case STK_XP_PLANE_HOST:
    case STK_XP_PLANE_NVTX:
        m->kind = host_kind(m->name);
        break;
    case STK_XP_PLANE_GPU:
        resolve_gpu(m);
        break;
    case STK_XP_PLANE_TPU:
        resolve_tpu(m);
        break;
    default:
        m->kind = STK_KIND_OTHER;
    }
    resolve_written(plane, m);
    hint(plane, m->name);
}

// Stats that affect an event, by plane; all others are skipped.
static uint32_t stats_wanted(enum stk_xp_plane_kind kind)
{
    if (kind == STK_XP_PLANE_HOST || kind == STK_XP_PLANE_NVTX) {
        return 1u << STK_XP_STAT_CORRELATION | 1u << STK_XP_STAT_STEP_NUM |
               1u << STK_XP_STAT_ALLOCATION_BYTES | 1u << STK_XP_STAT_REQUESTED_BYTES |
               1u << STK_XP_STAT_INPUT_STAGE;
    }
    if (kind == STK_XP_PLANE_GPU) {
        return 1u << STK_XP_STAT_CORRELATION | 1u << STK_XP_STAT_MEMCPY | 1u << STK_XP_STAT_MEMSET |
               1u << STK_XP_STAT_MEMALLOC | 1u << STK_XP_STAT_GRAPH;
    }
    if (kind == STK_XP_PLANE_TPU) { // written by stoker export alone
        return 1u << STK_XP_STAT_MEMCPY;
    }
    return 0;
}

bool stk_xp_plane_resolve(struct stk_xp_plane *plane, struct stk_arena *arena)
{
    uint32_t wanted = plane->stats_wanted = stats_wanted(plane->kind);
    for (size_t i = 0; i < plane->stat_metas.count; i++) {
        struct stk_xp_stat_meta *m = stk_vec_at(&plane->stat_metas, i);
        m->stat = stk_xp_stat_of(m->name);
        m->second = (uint8_t)second_of(m->name);
    }
    if (!stk_xp_ids_build(&plane->stat_ids, &plane->stat_metas) ||
        !stk_xp_ids_build(&plane->event_ids, &plane->event_metas)) {
        return false;
    }
    size_t dense_count = (size_t)plane->stat_ids.dense_count;
    plane->stat_by_id = stk_arena_alloc(arena, dense_count);
    plane->second_by_id = stk_arena_alloc(arena, dense_count);
    if (!plane->stat_by_id || !plane->second_by_id) {
        return false;
    }
    for (uint64_t id = 0; id < plane->stat_ids.dense_count; id++) {
        uint32_t at = plane->stat_ids.dense[id];
        if (at != STK_NONE) {
            const struct stk_xp_stat_meta *m = stk_vec_at(&plane->stat_metas, at);
            plane->stat_by_id[id] = wanted >> m->stat & 1 ? (uint8_t)m->stat : STK_XP_STAT_NONE;
            plane->second_by_id[id] = m->second;
        }
    }
    for (size_t i = 0; i < plane->event_metas.count; i++) {
        struct stk_xp_event_meta *m = stk_vec_at(&plane->event_metas, i);
        if (m->raw_stats.n && !read_defaults(plane, m, arena)) {
            return false;
        }
        resolve_event(plane, m);
    }
    return true;
}
