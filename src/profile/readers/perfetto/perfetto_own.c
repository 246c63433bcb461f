// SPDX-License-Identifier: Apache-2.0
// Files of stoker's own export (answers/export/export_perfetto.c), read back into the original
// rows. Their categories are kinds of the store, and their interned annotations are values of the
// event. Rows of the category STK_PERFETTO_FACTS describe processes, devices, tracks, counters and
// the trace itself, and come before rows that refer to them. Rows of stoker's own findings are
// skipped. One file may contain several ranks: each is a sequence of packets with its own
// numbering.
#include "base/assert.h"
#include "profile/readers/perfetto/perfetto_run.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "profile/store/words.h"

#define FACTS_MAX 40 // values of one row of facts
#define TABLE_MAX (1u << 20)

enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

// The meaning of a text as an annotation's name or as a category.
#define CODE_DETAIL 1000u
#define CODE_UNKNOWN 0xfffeu

struct own_process {
    int64_t pid;
};
struct own_device {
    uint32_t process;
    int64_t ordinal;
};

struct stk_pf_own {
    struct stk_map process_at, device_at; // (sequence, number) -> index
    struct stk_map root_of;               // (hash of a track's key) -> its number
    struct stk_vec processes, devices;
    uint32_t *note_codes, *kind_codes; // per text
    size_t note_size, kind_size;
    uint32_t producer, host; // texts
    const char *format;      // of the exported profile: rules use it
    int64_t clock_ns;
    int64_t rank, world_size, hint;
    uint32_t files;
    // The event whose counter values came last:
    uint64_t sample_event;
    uint32_t sample_row, sample_seq;
};

bool stk_pf_own_begin(struct stk_pf *in)
{
    in->own = stk_alloc_zero(1, sizeof *in->own);
    if (!in->own) {
        in->failed = true;
        return false;
    }
    stk_map_init(&in->own->process_at, TABLE_MAX);
    stk_map_init(&in->own->device_at, TABLE_MAX);
    stk_map_init(&in->own->root_of, TABLE_MAX);
    stk_vec_init(&in->own->processes, sizeof(struct own_process), TABLE_MAX);
    stk_vec_init(&in->own->devices, sizeof(struct own_device), TABLE_MAX);
    in->own->rank = in->own->world_size = -1;
    in->own->sample_row = STK_NONE;
    return true;
}

void stk_pf_own_free(struct stk_pf_own *own)
{
    if (own) {
        stk_map_deinit(&own->process_at);
        stk_map_deinit(&own->device_at);
        stk_map_deinit(&own->root_of);
        stk_vec_deinit(&own->processes);
        stk_vec_deinit(&own->devices);
        stk_free(own->note_codes);
        stk_free(own->kind_codes);
        stk_free(own);
    }
}

// ---- meanings of texts ----

static uint32_t note_code_of(struct stk_str name)
{
    struct stk_str prefix = STK_STR(STK_PERFETTO_DETAIL);
    for (int i = 1; i < STK_PERFETTO_NOTES; i++) {
        if (stk_str_eq(name, stk_str_from(stk_perfetto_note_name((enum stk_perfetto_note)i)))) {
            return (uint32_t)i;
        }
    }
    for (int d = 0; stk_str_starts(name, prefix) && d < STK_DETAIL_COUNT; d++) {
        struct stk_str key = {name.p + prefix.n, name.n - prefix.n};
        if (stk_str_eq(key, stk_str_from(stk_detail_key_text((enum stk_detail_key)d)))) {
            return CODE_DETAIL + (uint32_t)d;
        }
    }
    return CODE_UNKNOWN;
}

static uint32_t kind_code_of(struct stk_str name)
{
    for (int k = 0; k < STK_KIND_COUNT; k++) {
        if (stk_str_eq(name, stk_str_from(stk_kind_key((enum stk_kind)k)))) {
            return (uint32_t)k;
        }
    }
    return CODE_UNKNOWN;
}

// The code of a text, looked up once.
static uint32_t code_of(struct stk_pf *in, uint32_t **codes, size_t *size, uint32_t text,
                        uint32_t (*find)(struct stk_str name))
{
    STK_ASSERT(*codes || *size == 0);
    if (text >= *size) {
        size_t grown_size = (size_t)text * 2 + 64;
        uint32_t *grown = stk_realloc_array(*codes, grown_size, sizeof *grown);
        if (!grown) {
            in->failed = true;
            return CODE_UNKNOWN;
        }
        memset(grown + *size, 0xff, (grown_size - *size) * sizeof *grown);
        *codes = grown;
        *size = grown_size;
    }
    if ((*codes)[text] == UINT32_MAX) {
        (*codes)[text] = find(stk_pf_text(in, text));
    }
    return (*codes)[text];
}

// ---- rows of facts ----

struct facts {
    struct stk_pf_note v[FACTS_MAX];
    size_t n;
};

static int64_t number_of(const struct facts *f, const char *name, int64_t otherwise)
{
    for (size_t i = 0; i < f->n; i++) {
        if (f->v[i].type == STK_PF_INT && stk_str_eq(f->v[i].name, stk_str_from(name))) {
            return f->v[i].number;
        }
    }
    return otherwise;
}

static int32_t small_of(const struct facts *f, const char *name, int32_t otherwise)
{
    int64_t v = number_of(f, name, otherwise);
    return v >= otherwise && v <= INT32_MAX ? (int32_t)v : otherwise;
}

static struct stk_str text_of(const struct facts *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++) {
        if (f->v[i].type == STK_PF_TEXT && stk_str_eq(f->v[i].name, stk_str_from(name))) {
            return f->v[i].text;
        }
    }
    return STK_STR("");
}

static void *numbered(struct stk_pf *in, struct stk_map *map, struct stk_vec *v, uint32_t seq,
                      int64_t number, bool makes)
{
    uint32_t *at = makes ? stk_map_put(map, seq, (uint64_t)number, (uint32_t)v->count, NULL)
                         : stk_map_get(map, seq, (uint64_t)number);
    if (!at) {
        in->failed |= makes && v->count < TABLE_MAX;
        return NULL;
    }
    return *at < v->count ? stk_vec_at(v, *at) : makes ? stk_vec_push(v) : NULL;
}

static const char *format_of(struct stk_str name)
{
    static const char *const formats[] = {"kineto", "chrome", "nsys", "stk", "xplane"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (stk_str_eq(name, stk_str_from(formats[i]))) {
            return formats[i];
        }
    }
    return "perfetto";
}

static void take_trace(struct stk_pf *in, const struct facts *f)
{
    struct stk_pf_own *o = in->own;
    int64_t clock_ns = number_of(f, "clock before zero", 0);
    if (o->files++ == 0) {
        o->producer = stk_pf_put_text(in, text_of(f, "producer"));
        o->host = stk_pf_put_text(in, text_of(f, "host"));
        o->rank = small_of(f, "rank", -1);
        o->format = format_of(text_of(f, "format"));
        o->clock_ns = clock_ns < 0 && clock_ns > -STK_CHROME_TIME_MAX_NS ? clock_ns : 0;
    } else {
        o->rank = -1;
    }
    o->world_size = small_of(f, "world size", -1);
    o->hint |= number_of(f, "framework", 0);
    for (int k = 0; k < STK_KIND_COUNT; k++) {
        char key[64];
        snprintf(key, sizeof key, STK_PERFETTO_UNSTORED "%s", stk_kind_key((enum stk_kind)k));
        int64_t n = number_of(f, key, 0);
        in->stager.counts.by_kind[k] += n > 0 ? (uint64_t)n : 0;
    }
}

static void take_process(struct stk_pf *in, uint32_t seq, const struct facts *f)
{
    struct own_process *p = numbered(in, &in->own->process_at, &in->own->processes, seq,
                                     number_of(f, "number", 0), true);
    if (!p) {
        return;
    }
    p->pid = number_of(f, "pid", 0);
    stk_build_process(in->sink.build, p->pid, small_of(f, "rank", -1), text_of(f, "name"),
                      text_of(f, "host"));
}

static void take_device(struct stk_pf *in, uint32_t seq, const struct facts *f)
{
    const struct own_process *p = numbered(in, &in->own->process_at, &in->own->processes, seq,
                                           number_of(f, "process", -1), false);
    struct own_device *d =
        numbered(in, &in->own->device_at, &in->own->devices, seq, number_of(f, "number", 0), true);
    int64_t kind = number_of(f, "kind", STK_DEVICE_OTHER);
    if (!p || !d) {
        return;
    }
    d->ordinal = number_of(f, "ordinal", 0);
    d->ordinal = d->ordinal < 0 ? 0 : d->ordinal;
    struct stk_device_facts facts = {
        .source_id = text_of(f, "source"),
        .name = text_of(f, "name"),
        .kind =
            kind >= 0 && kind <= STK_DEVICE_OTHER ? (enum stk_device_kind)kind : STK_DEVICE_OTHER,
        .sm_count = small_of(f, "multiprocessors", 0),
        .cc_major = small_of(f, "compute major", 0),
        .cc_minor = small_of(f, "compute minor", 0),
        .memory_bytes = number_of(f, "memory bytes", 0),
        .limits = {.sm_threads = small_of(f, "threads of a multiprocessor", 0),
                   .sm_blocks = small_of(f, "blocks of a multiprocessor", 0),
                   .sm_registers = small_of(f, "registers of a multiprocessor", 0),
                   .sm_shared_bytes = small_of(f, "shared memory of a multiprocessor", 0),
                   .warp_threads = small_of(f, "threads of a warp", 0),
                   .memory_bytes_per_s = number_of(f, "memory bytes per second", 0),
                   .flops_per_s = number_of(f, "operations per second", 0)},
    };
    facts.memory_bytes = facts.memory_bytes < 0 ? 0 : facts.memory_bytes;
    stk_build_device(in->sink.build, p->pid, d->ordinal, &facts);
}

static void take_track(struct stk_pf *in, uint32_t seq, const struct facts *f)
{
    char sid[32] = "";
    const struct own_process *p = numbered(in, &in->own->process_at, &in->own->processes, seq,
                                           number_of(f, "process", -1), false);
    int64_t device = number_of(f, "device", -1), kind = number_of(f, "kind", STK_TRACK_OTHER);
    const struct own_device *d =
        device < 0 ? NULL
                   : numbered(in, &in->own->device_at, &in->own->devices, seq, device, false);
    if (!p || (device >= 0 && !d) || kind < 0 || kind > STK_TRACK_OTHER) {
        return;
    }
    struct stk_track_key key = {.kind = (enum stk_track_kind)kind,
                                .process = p->pid,
                                .device = d ? d->ordinal : -1,
                                .id = number_of(f, "id", 0),
                                .sid = {"", 0}};
    // Tracks that only a text distinguishes.
    uint32_t root = (uint32_t)number_of(f, "number", 0);
    uint64_t a = (uint64_t)key.process * 31 + (uint64_t)key.kind;
    uint64_t b = (uint64_t)key.id * 8191 + (uint64_t)key.device;
    const uint32_t *known = stk_map_put(&in->own->root_of, a, b, root, NULL);
    if (known && *known != root) {
        key.sid = (struct stk_str){sid, (size_t)snprintf(sid, sizeof sid, "%" PRIu32, root)};
    }
    uint32_t own = stk_chrome_track_of_key(&in->stager, &key);
    struct stk_pf_track *t = stk_pf_track_of(in, (uint64_t)number_of(f, "track", 0));
    struct stk_str name = text_of(f, "name");
    if (t && own != STK_NONE) {
        t->own = own;
        if (name.n) {
            stk_build_track_name(in->sink.build, &key, name);
        }
    }
}

static void take_counter_fact(struct stk_pf *in, const struct facts *f)
{
    const struct stk_pf_track *of = stk_pf_track_known(in, (uint64_t)number_of(f, "of track", 0));
    uint32_t own = of ? of->own : STK_NONE;
    struct stk_pf_track *t = stk_pf_track_of(in, (uint64_t)number_of(f, "track", 0));
    if (t) {
        t->own = own;
        t->name = stk_pf_put_text(in, text_of(f, "name"));
        t->series = stk_pf_put_text(in, text_of(f, "series"));
        t->own_device = number_of(f, "device", -1);
    }
}

static void take_issue(struct stk_pf *in, const struct facts *f)
{
    struct stk_str key = text_of(f, "issue");
    int64_t n = number_of(f, "count", 0), lost = number_of(f, "events lost", 0);
    for (int i = 0; i < STK_ISSUE_COUNT && n > 0 && lost >= 0; i++) {
        if (stk_str_eq(key, stk_str_from(stk_issue_info((enum stk_issue_id)i)->key))) {
            stk_shard_issue(in->sink.shard, (enum stk_issue_id)i, (uint64_t)n, (uint64_t)lost, -1,
                            text_of(f, "note"));
        }
    }
}

static void take_facts(struct stk_pf *in, const struct stk_pf_seq *s, const struct stk_pf_event *e,
                       struct stk_str what)
{
    struct stk_pb_cursor c = e->bytes;
    struct stk_pb_field field;
    struct facts f = {.n = 0};
    while (f.n < FACTS_MAX && stk_pb_next(&c, &field) == STK_PB_FIELD) {
        if (field.number == 4 && field.wire == STK_PB_LEN) {
            stk_pf_note_read(in, s, field.data, (size_t)field.value, &f.v[f.n++]);
        }
    }
    in->events++;
    if (stk_str_eq(what, STK_STR("track"))) {
        take_track(in, s->index, &f);
    } else if (stk_str_eq(what, STK_STR("counter"))) {
        take_counter_fact(in, &f);
    } else if (stk_str_eq(what, STK_STR("process"))) {
        take_process(in, s->index, &f);
    } else if (stk_str_eq(what, STK_STR("device"))) {
        take_device(in, s->index, &f);
    } else if (stk_str_eq(what, STK_STR("trace"))) {
        take_trace(in, &f);
    } else if (stk_str_eq(what, STK_STR("issue"))) {
        take_issue(in, &f);
    }
}

// ---- events ----

static uint8_t word_of(struct stk_str text, const char *(*word)(uint8_t), uint8_t last)
{
    for (uint8_t i = 1; i <= last; i++) {
        if (stk_str_eq(text, stk_str_from(word(i)))) {
            return i;
        }
    }
    return 0;
}

static void read_sizes(struct stk_str text, uint32_t out[3])
{
    size_t at = 0;
    for (int i = 0; i < 3 && at < text.n; i++, at++) {
        uint64_t n = 0;
        for (; at < text.n && text.p[at] >= '0' && text.p[at] <= '9'; at++) {
            n = n > UINT32_MAX ? n : n * 10 + (uint64_t)(text.p[at] - '0');
        }
        out[i] = n > UINT32_MAX ? 0 : (uint32_t)n;
    }
}

struct taken {
    struct stk_row_ext ext;
    struct stk_launch_config config;
    bool has_config;
    uint64_t sample;
};

static int32_t bounded(int64_t v)
{
    return v >= -1 && v <= INT32_MAX ? (int32_t)v : -1;
}

static void take_config(const struct stk_pf_note *v, uint32_t code, struct taken *k)
{
    k->has_config = true;
    switch (code) {
    case STK_PERFETTO_GRID:
        read_sizes(v->text, k->config.grid);
        break;
    case STK_PERFETTO_BLOCK:
        read_sizes(v->text, k->config.block);
        break;
    case STK_PERFETTO_REGISTERS:
        k->config.registers = bounded(v->number);
        break;
    case STK_PERFETTO_SHARED:
        k->config.shared_bytes = bounded(v->number);
        break;
    case STK_PERFETTO_OCCUPANCY:
        k->config.occupancy_pct = bounded(v->number);
        break;
    case STK_PERFETTO_OCCUPANCY_OF_GRID:
        k->config.occupancy_of_grid = v->number != 0;
        break;
    case STK_PERFETTO_FLOPS:
        k->config.flops = v->number < -1 ? -1 : v->number;
        break;
    default:
        k->config.bytes = v->number < -1 ? -1 : v->number;
        break;
    }
}

static void take_value(const struct stk_pf_note *v, uint32_t code, struct taken *k)
{
    switch (code) {
    case STK_PERFETTO_STEP:
        k->ext.flags |= STK_EXT_STEP | STK_EXT_VALUE;
        k->ext.value = v->number;
        break;
    case STK_PERFETTO_BYTES:
    case STK_PERFETTO_VALUE:
        k->ext.flags |= STK_EXT_VALUE;
        k->ext.value = v->number;
        break;
    case STK_PERFETTO_STEP_MARK:
        k->ext.flags |= STK_EXT_STEP;
        break;
    case STK_PERFETTO_DIR:
        k->ext.dir = word_of(v->text, stk_dir_key, STK_DIR_H2H);
        break;
    case STK_PERFETTO_SRC:
        k->ext.src_mem = word_of(v->text, stk_mem_key, STK_MEM_MANAGED);
        break;
    case STK_PERFETTO_DST:
        k->ext.dst_mem = word_of(v->text, stk_mem_key, STK_MEM_MANAGED);
        break;
    case STK_PERFETTO_ASYNC:
        k->ext.flags |= v->number ? STK_EXT_ASYNC : STK_EXT_SYNCHRONOUS;
        break;
    case STK_PERFETTO_GRAPH:
        k->ext.flags |= STK_EXT_GRAPH;
        break;
    case STK_PERFETTO_WAITS:
        k->ext.flags |= STK_EXT_WAITS;
        break;
    case STK_PERFETTO_LAUNCH:
        k->ext.has_corr = true;
        k->ext.corr = v->number;
        break;
    case STK_PERFETTO_SAMPLE:
        k->sample = (uint64_t)v->number;
        break;
    default:
        take_config(v, code, k);
        break;
    }
}

static uint32_t name_id(struct stk_pf *in, uint32_t text)
{
    uint32_t *memo = stk_pf_memo(in, text);
    struct stk_str name = stk_pf_text(in, text);
    if (memo && *memo == STK_NONE) {
        *memo = stk_strpool_intern(&in->stager.names, name.p, name.n);
        in->failed |= *memo == STK_STRPOOL_FAILED;
    }
    return memo && *memo != STK_STRPOOL_FAILED ? *memo : 0;
}

static void push_detail(struct stk_pf *in, uint32_t row, const struct stk_detail *detail)
{
    STK_ASSERT(row < in->stager.rows.count);
    struct stk_chrome_detail *d = stk_vec_push(&in->stager.details);
    in->failed |= !d;
    if (d) {
        *d = (struct stk_chrome_detail){row, *detail};
    }
}

// A detail has its key's type, even if the file says otherwise.
static void take_detail(struct stk_pf *in, uint32_t row, enum stk_detail_key key,
                        const struct stk_pf_note *v)
{
    STK_ASSERT((unsigned)key < STK_DETAIL_COUNT);
    struct stk_detail d = {.key = key, .number = 0};
    switch (stk_detail_type_of(key)) {
    case STK_DETAIL_INT:
        d.number = v->number;
        break;
    case STK_DETAIL_REAL:
        d.real = v->type == STK_PF_REAL ? v->real : (double)v->number;
        break;
    case STK_DETAIL_TEXT:
        d.text = name_id(in, stk_pf_put_text(in, v->text));
        break;
    }
    push_detail(in, row, &d);
}

// Values of the event; its details go straight to `row`, unless that is STK_NONE.
static void take_notes(struct stk_pf *in, const struct stk_pf_seq *s, struct stk_pb_cursor c,
                       uint32_t row, struct taken *k)
{
    struct stk_pb_field f;
    *k = (struct taken){.config = STK_LAUNCH_CONFIG_UNKNOWN};
    while (stk_pb_next(&c, &f) == STK_PB_FIELD) {
        struct stk_pf_note v;
        if (f.number != 4 || f.wire != STK_PB_LEN) {
            continue;
        }
        stk_pf_note_read(in, s, f.data, (size_t)f.value, &v);
        uint32_t code =
            v.is_inline || !v.name_id
                ? CODE_UNKNOWN
                : code_of(in, &in->own->note_codes, &in->own->note_size, v.name_id, note_code_of);
        if (code >= CODE_DETAIL && code < CODE_DETAIL + STK_DETAIL_COUNT) {
            if (row != STK_NONE && in->ctx->wants) {
                take_detail(in, row, (enum stk_detail_key)(code - CODE_DETAIL), &v);
            }
        } else if (code != CODE_UNKNOWN) {
            take_value(&v, code, k);
        }
    }
}

static uint32_t own_track(struct stk_pf *in, uint64_t uuid)
{
    const struct stk_pf_track *t = stk_pf_track_known(in, uuid);
    for (int i = 0; t && t->own == STK_NONE && t->parent && i < 4; i++) { // slices nested deep
        t = stk_pf_track_known(in, t->parent);
    }
    return t ? t->own : STK_NONE;
}

static uint32_t push_row(struct stk_pf *in, uint32_t track, uint32_t text, uint8_t kind)
{
    struct stk_chrome_staged *g = stk_chrome_stage_row(&in->stager);
    if (!g) {
        in->failed = true;
        return STK_PF_NO_ROW;
    }
    g->row = (struct stk_row){.start_ns = in->now_ns,
                              .pos = in->pos,
                              .name = name_id(in, text),
                              .track = track,
                              .kind = kind};
    in->events++;
    return (uint32_t)in->stager.rows.count - 1;
}

static void take_event(struct stk_pf *in, const struct stk_pf_seq *s, const struct stk_pf_event *e,
                       uint8_t kind, struct stk_pf_track *t)
{
    uint32_t track = own_track(in, e->track), row = STK_PF_NO_ROW;
    if (track != STK_NONE && in->has_time) {
        uint32_t name = e->name_iid ? stk_pf_text_of(in, s, STK_PF_NAMES, e->name_iid) : 0;
        struct taken k;
        row = push_row(in, track, name, kind);
        if (row == STK_PF_NO_ROW) {
            return;
        }
        take_notes(in, s, e->bytes, row, &k);
        struct stk_chrome_staged *g = stk_vec_at(&in->stager.rows, row);
        g->ext = k.ext;
        struct stk_chrome_config *config =
            k.has_config && kind != STK_KIND_RUNTIME && stk_wants_grids(in->ctx->wants)
                ? stk_vec_push(&in->stager.configs)
                : NULL;
        if (config) {
            *config = (struct stk_chrome_config){row, k.config};
        }
    } else {
        stk_pf_issue(in, in->has_time ? STK_ISSUE_FIELD_INVALID : STK_ISSUE_TIME_INVALID, 1,
                     STK_STR("an event without a track"));
        in->stager.counts.by_kind[STK_KIND_OTHER]++;
    }
    if (e->type == TYPE_BEGIN) {
        stk_pf_half(in, t, row);
    }
}

// Consecutive values of one event of a counter become its details.
static void take_sample(struct stk_pf *in, const struct stk_pf_seq *s, const struct stk_pf_event *e,
                        const struct stk_pf_track *t)
{
    struct stk_pf_own *o = in->own;
    struct taken k;
    take_notes(in, s, e->bytes, STK_NONE, &k);
    if (t->own == STK_NONE || !in->has_time) {
        stk_pf_issue(in, STK_ISSUE_FIELD_INVALID, 1, STK_STR("a value without a counter"));
        in->stager.counts.by_kind[STK_KIND_OTHER]++;
        return;
    }
    bool same = k.sample && k.sample == o->sample_event && s->index == o->sample_seq &&
                o->sample_row + 1 == in->stager.rows.count;
    if (!same) {
        o->sample_row = push_row(in, t->own, t->name, STK_KIND_OTHER);
        o->sample_event = k.sample;
        o->sample_seq = s->index;
        if (o->sample_row == STK_PF_NO_ROW) {
            return;
        }
        struct stk_chrome_staged *g = stk_vec_at(&in->stager.rows, o->sample_row);
        g->ext = k.ext;
        if (e->has_value && !(k.ext.flags & STK_EXT_VALUE)) {
            g->ext.flags |= STK_EXT_VALUE;
            g->ext.value = e->value;
        }
    }
    if (!e->has_real || !(in->ctx->wants & STK_WANT_COUNTERS)) {
        return;
    }
    if (t->own_device >= 0) {
        push_detail(in, o->sample_row,
                    &(struct stk_detail){.key = STK_DETAIL_DEVICE, .number = t->own_device});
    }
    if (t->series) {
        push_detail(in, o->sample_row,
                    &(struct stk_detail){.key = STK_DETAIL_SERIES, .text = name_id(in, t->series)});
    }
    push_detail(in, o->sample_row, &(struct stk_detail){.key = STK_DETAIL_VALUE, .real = e->real});
}

void stk_pf_own_event(struct stk_pf *in, const struct stk_pf_seq *s, const struct stk_pf_event *e)
{
    if (e->type == TYPE_INSTANT &&
        stk_str_eq(stk_pf_text(in, e->category), STK_STR(STK_PERFETTO_FACTS))) {
        take_facts(in, s, e, e->name);
        return;
    }
    struct stk_pf_track *t = stk_pf_track_of(in, e->track);
    if (!t) {
        stk_pf_issue(in, STK_ISSUE_TRACKS_LEFT_OUT, 1, STK_STR(""));
        in->stager.counts.by_kind[STK_KIND_OTHER]++;
        return;
    }
    uint32_t kind = e->category ? code_of(in, &in->own->kind_codes, &in->own->kind_size,
                                          e->category, kind_code_of)
                                : CODE_UNKNOWN;
    if (e->type == TYPE_END) {
        stk_pf_half(in, t, STK_PF_END);
    } else if (e->type == TYPE_COUNTER) {
        take_sample(in, s, e, t);
    } else if (kind == CODE_UNKNOWN) { // stoker's own findings
        in->events++;
        if (e->type == TYPE_BEGIN) {
            stk_pf_half(in, t, STK_PF_NO_ROW);
        }
    } else {
        take_event(in, s, e, (uint8_t)kind, t);
    }
}

void stk_pf_own_finish(struct stk_pf *in, const struct stk_chrome_input *input)
{
    struct stk_pf_own *o = in->own;
    struct stk_chrome_counts *total = &in->sink.total;
    for (int i = 0; i < STK_KIND_COUNT; i++) {
        stk_shard_count(in->sink.shard, (enum stk_kind)i, total->by_kind[i]);
    }
    for (int i = 0; i < STK_ISSUE_COUNT; i++) {
        const struct stk_chrome_issue *issue = &total->issues[i];
        if (issue->count) {
            stk_shard_issue(in->sink.shard, (enum stk_issue_id)i, issue->count, issue->events_lost,
                            (int64_t)issue->first_pos, issue->note);
        }
    }
    if (input->damage) {
        stk_shard_issue(in->sink.shard, STK_ISSUE_COMPRESSION_DAMAGED, 1, 0, (int64_t)input->bytes,
                        stk_str_from(input->damage));
    }
    stk_build_facts(in->sink.build,
                    &(struct stk_build_facts){.format = o->format ? o->format : "perfetto",
                                              .producer = stk_pf_text(in, o->producer),
                                              .host = stk_pf_text(in, o->host),
                                              .rank = (int32_t)o->rank,
                                              .world_size = (int32_t)o->world_size,
                                              .framework_hint = (uint32_t)o->hint,
                                              .clock_base_ns = o->clock_ns});
}
