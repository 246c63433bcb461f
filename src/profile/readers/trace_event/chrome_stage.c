// SPDX-License-Identifier: Apache-2.0
// Turns the fields of an event into a row: its track, kind and values. Kineto's categories decide.
// Without one (TensorFlow's trace.json, other Chrome traces) the kind stays open until the metadata
// shows which processes are devices.
//
// Not stored, but counted: metadata, flows, async events, the rows of cat "Trace" (they span the
// window), instants of global scope ("Record Window End" may be anywhere).
#include "profile/readers/trace_event/chrome_stage.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "profile/store/names.h"

#define ROWS_MAX (UINT32_MAX - 1)
#define DIGITS_MAX 32 // of a number in a name

// Bits of name_class.
#define CLASS_KNOWN 1u
#define CLASS_STEP 2u
#define CLASS_FETCH 4u
#define CLASS_MARKER 8u // annotation although the category says operator
#define CLASS_COLLECTIVE 16u
#define CLASS_COST 32u
#define CLASS_GRADIENT 64u
#define CLASS_ON_DEVICE 128u // as a kernel's name it is a collective

bool stk_chrome_stager_init(struct stk_chrome_stager *s)
{
    memset(s, 0, sizeof *s);
    stk_arena_init(&s->arena, 0);
    stk_vec_init(&s->tracks, sizeof(struct stk_chrome_track), 1u << 24);
    stk_map_init(&s->track_map, 1u << 24);
    stk_vec_init(&s->rows, sizeof(struct stk_chrome_staged), ROWS_MAX);
    stk_vec_init(&s->details, sizeof(struct stk_chrome_detail), ROWS_MAX);
    stk_vec_init(&s->configs, sizeof(struct stk_chrome_config), ROWS_MAX);
    stk_vec_init(&s->metas, sizeof(struct stk_chrome_meta), ROWS_MAX);
    stk_vec_init(&s->halves, sizeof(struct stk_chrome_half), ROWS_MAX);
    stk_chrome_stage_begin(s);
    return stk_strpool_init(&s->names, 0) == 0;
}

void stk_chrome_stager_deinit(struct stk_chrome_stager *s)
{
    stk_arena_deinit(&s->arena);
    stk_vec_deinit(&s->tracks);
    stk_map_deinit(&s->track_map);
    stk_strpool_deinit(&s->names);
    stk_vec_deinit(&s->rows);
    stk_vec_deinit(&s->details);
    stk_vec_deinit(&s->configs);
    stk_vec_deinit(&s->metas);
    stk_vec_deinit(&s->halves);
    stk_free(s->name_class);
    stk_free(s->name_in_shard);
    stk_free(s->scratch);
}

// A worker's tracks and names are only a cache. If there are very many, it starts over, so that
// only the sink and its shard hold them all.
#define TRACKS_KEPT 16384
#define NAMES_KEPT 65536

static void forget_tracks(struct stk_chrome_stager *s)
{
    s->tracks.count = 0;
    stk_map_deinit(&s->track_map);
    stk_arena_deinit(&s->arena);
    memset(s->recent, 0, sizeof s->recent);
}

static void forget_names(struct stk_chrome_stager *s)
{
    stk_strpool_deinit(&s->names);
    s->failed |= stk_strpool_init(&s->names, 0) != 0;
    if (s->name_class) {
        memset(s->name_class, 0, s->name_classes * sizeof *s->name_class);
    }
    s->shard_number = 0; // of no shard: name_in_shard is filled again
}

void stk_chrome_stage_begin(struct stk_chrome_stager *s)
{
    if (s->tracks.count > TRACKS_KEPT) {
        forget_tracks(s);
    }
    if (s->names.count > NAMES_KEPT) {
        forget_names(s);
    }
    s->rows.count = s->details.count = s->configs.count = s->metas.count = s->halves.count = 0;
    memset(&s->counts, 0, sizeof s->counts);
    memset(s->captures, 0, sizeof s->captures);
    s->block++;
}

static uint32_t intern_name(struct stk_chrome_stager *s, const struct stk_chrome_raw *r)
{
    if (r->name_memo && *r->name_memo < s->names.count) {
        return *r->name_memo;
    }
    struct stk_str name = r->odd_bytes ? stk_chrome_stage_clean(s, r->name) : r->name;
    uint32_t id = stk_strpool_intern(&s->names, name.p, name.n);
    if (id != STK_STRPOOL_FAILED) {
        if (r->name_memo) {
            *r->name_memo = id;
        }
        return id;
    }
    s->failed = true;
    return 0;
}

// Host rows with the sizes of a collective.
static bool is_collective_call(struct stk_str name)
{
    static const char *const backends[] = {
        "nccl:", "rccl:", "gloo:", "mpi:", "ucc:", "xccl:", "hccl:"};
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
        if (stk_str_starts(name, stk_str_from(backends[i]))) {
            return true;
        }
    }
    return stk_str_eq(name, STK_STR("record_param_comms"));
}

// The class of a host event's name, looked up once per distinct name.
static uint32_t host_name_class(struct stk_chrome_stager *s, uint32_t id, struct stk_str name)
{
    if (id >= s->name_classes) {
        size_t count = s->name_classes ? s->name_classes * 2 : 1024;
        while (count <= id) {
            count *= 2;
        }
        uint32_t *grown = stk_realloc_array(s->name_class, count, sizeof *grown);
        if (!grown) {
            s->failed = true;
            return 0;
        }
        memset(grown + s->name_classes, 0, (count - s->name_classes) * sizeof *grown);
        s->name_class = grown;
        s->name_classes = count;
    }
    uint32_t *c = &s->name_class[id];
    STK_ASSERT(id < s->name_classes);
    if (!*c) {
        uint32_t bits = stk_name_classify(name, STK_KIND_ANNOTATION);
        *c =
            CLASS_KNOWN | (bits & STK_NAME_STEP ? CLASS_STEP | CLASS_MARKER : 0) |
            (bits & STK_NAME_FETCH ? CLASS_FETCH : 0) |
            (bits & STK_NAME_OPTIMIZER ? CLASS_MARKER : 0) |
            (is_collective_call(name) ? CLASS_COLLECTIVE : 0) |
            (stk_str_eq(name, STK_STR(STK_GRADIENT_OP)) ? CLASS_GRADIENT : 0) |
            (stk_name_classify(name, STK_KIND_KERNEL) & STK_NAME_COLLECTIVE ? CLASS_ON_DEVICE : 0) |
            (stk_chrome_has_cost(name) ? CLASS_COST : 0);
    }
    return *c;
}

void stk_chrome_issue_merge(struct stk_chrome_issue *into, const struct stk_chrome_issue *from)
{
    if (from->count == 0) {
        return;
    }
    if (into->count == 0 || from->first_pos < into->first_pos) {
        into->first_pos = from->first_pos;
        into->note = from->note;
    }
    into->count += from->count;
    into->events_lost += from->events_lost;
}

void stk_chrome_stage_issue(struct stk_chrome_stager *s, enum stk_issue_id id, uint64_t events_lost,
                            uint64_t pos, struct stk_str note)
{
    STK_ASSERT((unsigned)id < STK_ISSUE_COUNT);
    struct stk_chrome_issue one = {1, events_lost, pos, note};
    stk_chrome_issue_merge(&s->counts.issues[id], &one);
}

static void count_only(struct stk_chrome_stager *s, enum stk_kind kind)
{
    STK_ASSERT((unsigned)kind < STK_KIND_COUNT);
    s->counts.by_kind[kind]++;
}

static void drop(struct stk_chrome_stager *s, const struct stk_chrome_raw *r, enum stk_issue_id why)
{
    stk_chrome_stage_issue(s, why, 1, r->pos, r->name);
    count_only(s, STK_KIND_OTHER);
}

// ---- rows ----

// Start and end are rounded, never the duration.
static void set_times(struct stk_row *row, struct stk_chrome_time ts, struct stk_chrome_time dur)
{
    row->start_ns = ts.ns + (ts.ps >= 500);
    int64_t end_ns = ts.ns + dur.ns + (ts.ps + dur.ps + 500) / 1000;
    row->dur_ns = end_ns > row->start_ns ? end_ns - row->start_ns : 0;
}

void stk_chrome_pair_row(const struct stk_chrome_half *begin, struct stk_chrome_time end,
                         struct stk_row *row)
{
    int64_t end_ns = end.ns + (end.ps >= 500);
    *row = (struct stk_row){.start_ns = begin->ts.ns + (begin->ts.ps >= 500),
                            .pos = begin->pos,
                            .name = begin->name,
                            .track = begin->track,
                            .kind = begin->kind};
    row->dur_ns = end_ns > row->start_ns ? end_ns - row->start_ns : 0;
}

struct stk_chrome_staged *stk_chrome_stage_row(struct stk_chrome_stager *s)
{
    struct stk_chrome_staged *g;
    if (s->rows.count < s->rows.capacity) {
        g = stk_vec_at(&s->rows, s->rows.count++);
    } else {
        g = stk_vec_push(&s->rows);
    }
    if (!g) {
        s->failed = true;
        return NULL;
    }
    g->ext = (struct stk_row_ext){0};
    return g;
}

// Number at the end of the name, after a '#' as in ProfilerStep#12, or alone.
static bool trailing_number(struct stk_str name, int64_t *n)
{
    size_t i = name.n;
    while (i > 0 && name.n - i < DIGITS_MAX && name.p[i - 1] >= '0' && name.p[i - 1] <= '9') {
        i--;
    }
    return i < name.n && (i == 0 || name.p[i - 1] == '#') &&
           stk_str_to_i64((struct stk_str){name.p + i, name.n - i}, n);
}

static void mark_step(struct stk_chrome_staged *g, struct stk_str name)
{
    g->ext.flags |= STK_EXT_STEP;
    if (trailing_number(name, &g->ext.value)) {
        g->ext.flags |= STK_EXT_VALUE;
    }
}

static void stage_annotation(struct stk_chrome_stager *s, const struct stk_chrome_raw *r,
                             struct stk_chrome_staged *g)
{
    uint32_t class = host_name_class(s, g->row.name, r->name);
    g->row.track = stk_chrome_track_host(s, r);
    g->row.kind = r->cat == STK_CHROME_CAT_ANNOTATION || class & CLASS_MARKER ? STK_KIND_ANNOTATION
                                                                              : STK_KIND_HOST_OP;
    if (class & CLASS_FETCH) {
        g->row.kind = STK_KIND_INPUT;
    }
    if (class & CLASS_STEP) {
        mark_step(g, r->name);
    }
    if (r->cat == STK_CHROME_CAT_ANNOTATION && r->flags & STK_CHROME_HAS_STEP) {
        g->ext.flags |= STK_EXT_STEP | STK_EXT_VALUE;
        g->ext.value = r->step;
    }
}

static uint8_t dir_of_key(struct stk_str value)
{
    uint8_t dir = STK_DIR_H2H;
    while (dir && !stk_str_eq(value, stk_str_from(stk_dir_key(dir)))) {
        dir--;
    }
    return dir;
}

// "kind_src:pageable kind_dst:device size:4 dest:0 async:1"; stoker export adds "dir:h2d waits:1".
static void read_details(struct stk_str details, struct stk_row_ext *ext)
{
    size_t i = 0;
    while (i < details.n) {
        size_t end = i, colon = 0;
        for (; end < details.n && details.p[end] != ' ' && details.p[end] != '\n'; end++) {
            if (details.p[end] == ':' && !colon) {
                colon = end;
            }
        }
        struct stk_str key = {details.p + i, colon > i ? colon - i : 0};
        struct stk_str value = {details.p + colon + 1, colon ? end - colon - 1 : 0};
        if (stk_str_eq(key, STK_STR("size")) && stk_str_to_i64(value, &ext->value)) {
            ext->flags |= STK_EXT_VALUE;
        } else if (stk_str_eq(key, STK_STR("async"))) {
            ext->flags |= stk_str_eq(value, STK_STR("0")) ? STK_EXT_SYNCHRONOUS : STK_EXT_ASYNC;
        } else if (stk_str_eq(key, STK_STR("dir"))) {
            ext->dir = dir_of_key(value);
        } else if (stk_str_eq(key, STK_STR("waits"))) {
            ext->flags |= STK_EXT_WAITS;
        } else if (stk_str_eq(key, STK_STR("kind_src")) || stk_str_eq(key, STK_STR("kind_dst"))) {
            uint8_t mem = stk_str_eq(value, STK_STR("pageable"))      ? STK_MEM_PAGEABLE
                          : stk_str_eq(value, STK_STR("pinned"))      ? STK_MEM_PINNED
                          : stk_str_starts(value, STK_STR("device"))  ? STK_MEM_DEVICE
                          : stk_str_eq(value, STK_STR("array"))       ? STK_MEM_ARRAY
                          : stk_str_starts(value, STK_STR("managed")) ? STK_MEM_MANAGED
                                                                      : STK_MEM_UNKNOWN;
            *(key.p[5] == 's' ? &ext->src_mem : &ext->dst_mem) = mem;
        }
        i = end + 1;
    }
}

static void stage_device_row(struct stk_chrome_stager *s, const struct stk_chrome_raw *r,
                             struct stk_chrome_staged *g)
{
    g->row.track = stk_chrome_track_device(s, r, STK_TRACK_STREAM);
    g->row.kind = r->cat == STK_CHROME_CAT_MEMCPY   ? STK_KIND_MEMCPY
                  : r->cat == STK_CHROME_CAT_MEMSET ? STK_KIND_MEMSET
                                                    : STK_KIND_KERNEL;
    s->counts.kernels++;
    g->ext.has_corr = (r->flags & STK_CHROME_HAS_CORR) && r->corr != 0;
    g->ext.corr = r->corr;
    if (r->flags & STK_CHROME_HAS_BYTES && r->cat != STK_CHROME_CAT_KERNEL) {
        g->ext.value = r->bytes;
        g->ext.flags |= STK_EXT_VALUE;
    }
    if (r->flags & STK_CHROME_IN_GRAPH) {
        g->ext.flags |= STK_EXT_GRAPH;
    }
    if (r->cat == STK_CHROME_CAT_MEMCPY) {
        stk_name_parse_copy(r->name, &g->ext.dir, &g->ext.src_mem, &g->ext.dst_mem);
        if (r->details.n) {
            read_details(r->details, &g->ext);
        }
    }
}

static bool is_number(struct stk_str name)
{
    for (size_t i = 0; i < name.n && name.n <= DIGITS_MAX; i++) {
        if (name.p[i] < '0' || name.p[i] > '9') {
            return false;
        }
    }
    return name.n > 0 && name.n <= DIGITS_MAX;
}

static bool is_api_name(struct stk_str name)
{
    size_t n = stk_str_starts(name, STK_STR("cuda"))  ? 4
               : stk_str_starts(name, STK_STR("cu"))  ? 2
               : stk_str_starts(name, STK_STR("hip")) ? 3
                                                      : 0;
    return n && name.n > n && name.p[n] >= 'A' && name.p[n] <= 'Z';
}

// No category, or one of another producer.
static void stage_unknown(struct stk_chrome_stager *s, const struct stk_chrome_raw *r,
                          struct stk_chrome_staged *g)
{
    g->row.track = stk_chrome_track_host(s, r);
    g->row.kind = is_api_name(r->name) ? STK_KIND_RUNTIME : STK_KIND_UNSET;
    g->ext.has_corr = (r->flags & STK_CHROME_HAS_CORR) && r->corr != 0;
    g->ext.corr = r->corr;
    if (r->details.n) {
        stk_name_parse_copy(r->name, &g->ext.dir, &g->ext.src_mem, &g->ext.dst_mem);
        read_details(r->details, &g->ext);
    }
    // The rows of TensorFlow's line "Steps" are named by their number.
    bool numbered = r->cat == STK_CHROME_CAT_NONE && is_number(r->name);
    if (numbered || host_name_class(s, g->row.name, r->name) & CLASS_STEP) {
        mark_step(g, r->name);
    }
}

// An unknown accelerator's row, unless kernels appear.
static void note_foreign(struct stk_chrome_stager *s, const struct stk_chrome_raw *r)
{
    if (s->counts.foreign++ == 0) {
        s->counts.foreign_pos = r->pos;
        s->counts.foreign_cat = r->cat_text;
    }
}

static void stage_foreign(struct stk_chrome_stager *s, const struct stk_chrome_raw *r,
                          struct stk_chrome_staged *g)
{
    note_foreign(s, r);
    g->row.kind = STK_KIND_OTHER;
    g->row.track = r->cat == STK_CHROME_CAT_FOREIGN_HOST
                       ? stk_chrome_track_host(s, r)
                       : stk_chrome_track_other(s, r, STK_TRACK_OTHER, r->cat_text);
}

// Kinds that stoker export writes in addition to Kineto's.
static void stage_exported(struct stk_chrome_stager *s, const struct stk_chrome_raw *r,
                           struct stk_chrome_staged *g)
{
    g->row.kind = r->cat == STK_CHROME_CAT_INPUT    ? STK_KIND_INPUT
                  : r->cat == STK_CHROME_CAT_MEMORY ? STK_KIND_MEMORY
                                                    : STK_KIND_OTHER;
    g->row.track = r->cat == STK_CHROME_CAT_ROW
                       ? stk_chrome_track_other(s, r, STK_TRACK_OTHER, r->cat_text)
                       : stk_chrome_track_host(s, r);
    if (r->cat == STK_CHROME_CAT_MEMORY && r->flags & STK_CHROME_HAS_BYTES) {
        g->ext.value = r->bytes;
        g->ext.flags |= STK_EXT_VALUE;
    }
    if (r->cat == STK_CHROME_CAT_MEMORY && s->wants & STK_WANT_MEMORY) {
        stk_chrome_detail_memory(s, r);
    }
}

static void stage_by_cat(struct stk_chrome_stager *s, const struct stk_chrome_raw *r,
                         struct stk_chrome_staged *g)
{
    g->row.kind = STK_KIND_OTHER;
    switch ((enum stk_chrome_cat)r->cat) {
    case STK_CHROME_CAT_OP:
    case STK_CHROME_CAT_ANNOTATION:
        stage_annotation(s, r, g);
        if (stk_wants_messages(s->wants) &&
            host_name_class(s, g->row.name, r->name) &
                (CLASS_COLLECTIVE | (s->wants & STK_WANT_COLLECTIVES ? CLASS_GRADIENT : 0))) {
            stk_chrome_detail_collective(s, r);
        }
        if (s->wants & STK_WANT_SHAPES) {
            stk_chrome_detail_shapes(s, r);
        }
        if (s->wants & STK_WANT_LAUNCHES && host_name_class(s, g->row.name, r->name) & CLASS_COST) {
            stk_chrome_config_operator(s, r);
        }
        break;
    case STK_CHROME_CAT_RUNTIME:
        if (stk_str_starts_nocase(r->cat_text, STK_STR("xpu"))) {
            note_foreign(s, r);
        }
        g->row.track = stk_chrome_track_host(s, r);
        g->row.kind = STK_KIND_RUNTIME;
        g->ext.has_corr = (r->flags & STK_CHROME_HAS_CORR) && r->corr != 0;
        g->ext.corr = r->corr;
        break;
    case STK_CHROME_CAT_PYTHON:
        g->row.track = stk_chrome_track_host(s, r);
        g->row.kind = STK_KIND_PYTHON;
        break;
    case STK_CHROME_CAT_KERNEL:
    case STK_CHROME_CAT_MEMCPY:
    case STK_CHROME_CAT_MEMSET:
        stage_device_row(s, r, g);
        if (stk_wants_messages(s->wants) && r->cat == STK_CHROME_CAT_KERNEL &&
            host_name_class(s, g->row.name, r->name) & CLASS_ON_DEVICE) {
            stk_chrome_detail_collective(s, r);
        }
        if (stk_wants_grids(s->wants) && r->cat == STK_CHROME_CAT_KERNEL) {
            stk_chrome_config_kernel(s, r);
        }
        break;
    case STK_CHROME_CAT_DERIVED:
        g->row.track = stk_chrome_track_device(s, r, STK_TRACK_DERIVED);
        break;
    case STK_CHROME_CAT_SYNC:
        g->row.track = stk_chrome_track_device(s, r, STK_TRACK_OTHER);
        g->row.kind = STK_KIND_SYNC;
        break;
    case STK_CHROME_CAT_EVENT:
        g->row.track = stk_chrome_track_device(s, r, STK_TRACK_OTHER);
        break;
    case STK_CHROME_CAT_OVERHEAD:
        g->row.track = stk_chrome_track_other(s, r, STK_TRACK_OTHER, STK_STR("overhead"));
        break;
    case STK_CHROME_CAT_FOREIGN_HOST:
    case STK_CHROME_CAT_FOREIGN_DEVICE:
        stage_foreign(s, r, g);
        break;
    case STK_CHROME_CAT_INPUT:
    case STK_CHROME_CAT_MEMORY:
    case STK_CHROME_CAT_OTHER:
    case STK_CHROME_CAT_ROW:
        stage_exported(s, r, g);
        break;
    default:
        stage_unknown(s, r, g);
        break;
    }
}

static void note_track(struct stk_chrome_stager *s, const struct stk_chrome_raw *r,
                       const struct stk_row *row)
{
    if (row->track == STK_NONE) {
        return;
    }
    struct stk_chrome_track *t = stk_vec_at(&s->tracks, row->track);
    if (stk_chrome_is_merged(r)) {
        s->counts.raw_pids++;
        t->rank = (int32_t)r->rank;
    }
}

static void stage_complete(struct stk_chrome_stager *s, const struct stk_chrome_raw *r)
{
    if (r->cat == STK_CHROME_CAT_STOKER) {
        stk_chrome_stage_issue(s, STK_ISSUE_DERIVED_IGNORED, 0, r->pos, r->name);
        count_only(s, STK_KIND_OTHER);
        return;
    }
    if (r->cat == STK_CHROME_CAT_SPAN) {
        s->counts.span_pos = r->pos;
    }
    if (r->cat == STK_CHROME_CAT_SPAN ||
        (r->cat == STK_CHROME_CAT_EVENT && r->ts.ns == 0)) { // no time before CUDA 12.8
        count_only(s, STK_KIND_OTHER);
        return;
    }
    if (r->flags & STK_CHROME_LONG_DUR && r->flags & STK_CHROME_HAS_TS) {
        drop(s, r, STK_ISSUE_DURATION_ABSURD);
        return;
    }
    const uint32_t need = STK_CHROME_HAS_TS | STK_CHROME_HAS_DUR;
    if ((r->flags & need) != need) {
        drop(s, r, STK_ISSUE_TIME_INVALID);
        return;
    }
    struct stk_chrome_staged *g = stk_chrome_stage_row(s);
    if (!g) {
        return;
    }
    set_times(&g->row, r->ts, r->dur);
    g->row.pos = r->pos;
    g->row.name = intern_name(s, r);
    stage_by_cat(s, r, g);
    s->counts.known_cats += r->cat > STK_CHROME_CAT_UNKNOWN;
    note_track(s, r, &g->row);
}

static void stage_instant(struct stk_chrome_stager *s, const struct stk_chrome_raw *r)
{
    if (r->flags & STK_CHROME_GLOBAL) {
        count_only(s, STK_KIND_OTHER);
        return;
    }
    if (!(r->flags & STK_CHROME_HAS_TS)) {
        drop(s, r, STK_ISSUE_TIME_INVALID);
        return;
    }
    bool memory = stk_str_eq(r->name, STK_STR("[memory]"));
    struct stk_chrome_staged *g = stk_chrome_stage_row(s);
    if (!g) {
        return;
    }
    set_times(&g->row, r->ts, (struct stk_chrome_time){0, 0});
    g->row.pos = r->pos;
    g->row.name = intern_name(s, r);
    g->row.track = stk_chrome_track_host(s, r);
    g->row.kind = memory ? STK_KIND_MEMORY : STK_KIND_OTHER;
    if (memory) {
        g->ext.dst_mem = r->flags & STK_CHROME_DEVICE_MEMORY ? STK_MEM_DEVICE : STK_MEM_PAGEABLE;
        if (r->flags & STK_CHROME_HAS_BYTES) {
            g->ext.value = r->bytes;
            g->ext.flags = STK_EXT_VALUE;
        }
        if (s->wants & STK_WANT_MEMORY) {
            stk_chrome_detail_memory(s, r);
        }
    }
}

static void stage_counter(struct stk_chrome_stager *s, const struct stk_chrome_raw *r)
{
    if (!(r->flags & STK_CHROME_HAS_TS)) {
        drop(s, r, STK_ISSUE_TIME_INVALID);
        return;
    }
    struct stk_chrome_staged *g = stk_chrome_stage_row(s);
    if (!g) {
        return;
    }
    set_times(&g->row, r->ts, (struct stk_chrome_time){0, 0});
    g->row.pos = r->pos;
    g->row.name = intern_name(s, r);
    g->row.kind = STK_KIND_OTHER;
    g->row.track = stk_chrome_track_other(s, r, STK_TRACK_COUNTER, r->name);
    if (r->flags & STK_CHROME_HAS_VALUE) {
        g->ext.value = r->value;
        g->ext.flags = STK_EXT_VALUE;
    }
    if (s->wants & STK_WANT_COUNTERS) {
        stk_chrome_detail_counter(s, r);
    }
}

// ---- pairs ----

static void end_half(struct stk_chrome_stager *s, const struct stk_chrome_half *half)
{
    struct stk_chrome_track *t = stk_vec_at(&s->tracks, half->track);
    if (t->block == s->block && t->open_begin != STK_NONE) {
        struct stk_chrome_half *begin = stk_vec_at(&s->halves, t->open_begin);
        struct stk_chrome_staged *g = stk_chrome_stage_row(s);
        if (!g) {
            return;
        }
        stk_chrome_pair_row(begin, half->ts, &g->row);
        t->open_begin = begin->below;
        begin->track = STK_NONE;
        return;
    }
    struct stk_chrome_half *kept = stk_vec_push(&s->halves);
    if (kept) {
        *kept = *half;
    }
    s->failed |= !kept;
}

static void begin_half(struct stk_chrome_stager *s, struct stk_chrome_half *half)
{
    struct stk_chrome_track *t = stk_vec_at(&s->tracks, half->track);
    if (t->block != s->block) {
        t->block = s->block;
        t->open_begin = STK_NONE;
    }
    half->below = t->open_begin;
    t->open_begin = (uint32_t)s->halves.count;
    struct stk_chrome_half *kept = stk_vec_push(&s->halves);
    if (kept) {
        *kept = *half;
    }
    s->failed |= !kept;
}

static void stage_half(struct stk_chrome_stager *s, const struct stk_chrome_raw *r)
{
    if (!(r->flags & STK_CHROME_HAS_TS)) {
        drop(s, r, STK_ISSUE_TIME_INVALID);
        return;
    }
    struct stk_chrome_half half = {.ts = r->ts,
                                   .pos = r->pos,
                                   .track = stk_chrome_track_host(s, r),
                                   .begins = r->ph == 'B',
                                   .kind = STK_KIND_UNSET,
                                   .below = STK_NONE};
    if (half.track == STK_NONE) {
        return;
    }
    if (!half.begins) {
        count_only(s, STK_KIND_OTHER);
        end_half(s, &half);
        return;
    }
    half.name = intern_name(s, r);
    if (r->cat == STK_CHROME_CAT_RUNTIME || is_api_name(r->name)) {
        half.kind = STK_KIND_RUNTIME;
    }
    begin_half(s, &half);
}

// ---- metadata ----

static void stage_meta(struct stk_chrome_stager *s, const struct stk_chrome_raw *r)
{
    count_only(s, STK_KIND_OTHER);
    enum stk_chrome_label type;
    if (stk_str_eq(r->name, STK_STR("process_name"))) {
        type = STK_CHROME_PROCESS_NAME;
    } else if (stk_str_eq(r->name, STK_STR("thread_name"))) {
        type = STK_CHROME_THREAD_NAME;
    } else {
        return;
    }
    if (r->label.n == 0) {
        return;
    }
    struct stk_chrome_meta *m = stk_vec_push(&s->metas);
    s->failed |= !m;
    if (m) {
        *m = (struct stk_chrome_meta){type, r->pid, r->tid, r->label};
    }
}

void stk_chrome_stage_event(struct stk_chrome_stager *s, const struct stk_chrome_raw *r)
{
    STK_ASSERT(r->name.n == 0 || r->name.p);
    if (r->flags & STK_CHROME_BAD_FIELD) {
        stk_chrome_stage_issue(s, STK_ISSUE_FIELD_INVALID, 0, r->pos, r->name);
    }
    s->counts.without_ph += r->ph == 0;
    switch (r->ph) {
    case 'X':
        stage_complete(s, r);
        break;
    case 'M':
        stage_meta(s, r);
        break;
    case 'i':
    case 'I':
        stage_instant(s, r);
        break;
    case 'C':
        stage_counter(s, r);
        break;
    case 'B':
    case 'E':
        stage_half(s, r);
        break;
    default:
        count_only(s, STK_KIND_OTHER);
        break;
    }
}
