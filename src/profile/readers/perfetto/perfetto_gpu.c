// SPDX-License-Identifier: Apache-2.0
// GpuRenderStageEvents: work of a device with its launch, and PyTorch's extra data under the keys
// of its JSON. Interned names give its queue and stage (in old traces, specifications that came
// once). Each becomes the same event as in Kineto's JSON. Stages of other producers, including
// graphics, are kernels: they keep the device busy.
#include "profile/readers/perfetto/perfetto_run.h"

#define QUEUE_NAMED 1000000 // queues without a number begin here

struct stage {
    uint64_t id, duration, queue_iid, stage_iid, name_iid, kernel_iid;
    int64_t gpu, queue, stage; // of old traces; -1
    struct stk_str name;
    struct stk_pb_cursor launch;
    bool has_launch;
};

static bool read_stage(struct stk_pb_cursor c, struct stage *g)
{
    struct stk_pb_field f;
    enum stk_pb_step step;
    *g = (struct stage){.queue = -1, .stage = -1, .name = {"", 0}};
    while ((step = stk_pb_next(&c, &f)) == STK_PB_FIELD) {
        bool is_number = f.wire == STK_PB_VARINT, is_bytes = f.wire == STK_PB_LEN;
        if (is_number && f.number == 1) {
            g->id = f.value;
        } else if (is_number && f.number == 2) {
            g->duration = f.value;
        } else if (is_number && f.number == 3) {
            g->queue = (int32_t)f.value;
        } else if (is_number && f.number == 4) {
            g->stage = (int32_t)f.value;
        } else if (is_number && f.number == 11) {
            g->gpu = (int32_t)f.value;
        } else if (is_number && f.number == 13) {
            g->queue_iid = f.value;
        } else if (is_number && f.number == 14) {
            g->stage_iid = f.value;
        } else if (is_number && f.number == 19) {
            g->kernel_iid = f.value;
        } else if (is_number && f.number == 20) {
            g->name_iid = f.value;
        } else if (is_bytes && f.number == 17) {
            g->name = (struct stk_str){(const char *)f.data, (size_t)f.value};
        } else if (is_bytes && f.number == 21) {
            g->has_launch = true;
            g->launch = (struct stk_pb_cursor){f.data, f.data + f.value};
        }
    }
    return step == STK_PB_END;
}

// ---- its category ----

static enum stk_chrome_cat cat_of(struct stk_str stage)
{
    static const struct {
        const char *stage;
        enum stk_chrome_cat cat;
    } known[] = {
        {"Memcpy", STK_CHROME_CAT_MEMCPY},      {"Memset", STK_CHROME_CAT_MEMSET},
        {"Annotation", STK_CHROME_CAT_DERIVED}, {"EventRecord", STK_CHROME_CAT_EVENT},
        {"HostNode", STK_CHROME_CAT_EVENT},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (stk_str_eq(stage, stk_str_from(known[i].stage))) {
            return known[i].cat;
        }
    }
    return STK_CHROME_CAT_KERNEL;
}

static void name_it(struct stk_pf *in, const struct stk_pf_seq *s, const struct stage *g,
                    struct stk_str stage, struct stk_chrome_raw *r)
{
    uint32_t id = g->name_iid ? stk_pf_text_of(in, s, STK_PF_NAMES, g->name_iid) : 0;
    if (!id && !g->name.n && g->kernel_iid) {
        id = stk_pf_text_of(in, s, STK_PF_KERNELS, g->kernel_iid);
    }
    stk_pf_set_name(in, id, g->name.n ? g->name : stage.n ? stage : STK_STR("GPU work"), r);
}

// ---- its properties ----

static void put_number(struct stk_pf *in, const struct stk_pf_seq *s, struct stk_str key,
                       int64_t number)
{
    struct stk_pf_note note = {.text = {"", 0}, .type = STK_PF_INT, .number = number};
    stk_pf_json_note(in, s, key, &note);
}

static void put_text(struct stk_pf *in, const struct stk_pf_seq *s, struct stk_str key,
                     struct stk_str text)
{
    struct stk_pf_note note = {.text = text, .type = STK_PF_TEXT};
    if (stk_str_to_i64(text, &note.number)) {
        note.type = STK_PF_INT;
    }
    stk_pf_json_note(in, s, key, &note);
}

// Keys of PyTorch's that have another name in its JSON.
static struct stk_str key_of(struct stk_str key)
{
    return stk_str_eq(key, STK_STR("device id"))    ? STK_STR("device")
           : stk_str_eq(key, STK_STR("stream id"))  ? STK_STR("stream")
           : stk_str_eq(key, STK_STR("context id")) ? STK_STR("context")
                                                    : key;
}

static void take_extra(struct stk_pf *in, const struct stk_pf_seq *s, const struct stk_pb_field *f,
                       bool wants, struct stk_chrome_raw *r)
{
    struct stk_pb_cursor c = {f->data, f->data + f->value};
    struct stk_pb_field inner;
    struct stk_pf_note note = {.name = {"", 0}, .text = {"", 0}, .type = STK_PF_TEXT};
    while (stk_pb_next(&c, &inner) == STK_PB_FIELD) {
        struct stk_str text = {(const char *)inner.data, (size_t)inner.value};
        if (inner.wire == STK_PB_LEN && inner.number == 1) {
            note.name = key_of(text);
        } else if (inner.wire == STK_PB_LEN && inner.number == 2) {
            note.text = text;
        }
    }
    stk_pf_take_note(&note, r);
    if (wants) {
        put_text(in, s, note.name, note.text);
    }
}

// The three sizes of a grid or a block, as the JSON's list.
static void put_sizes(struct stk_pf *in, const struct stk_pf_seq *s, const char *key,
                      const struct stk_pb_field *f)
{
    uint64_t sizes[3] = {1, 1, 1};
    struct stk_pb_cursor c = {f->data, f->data + f->value};
    struct stk_pb_field inner;
    uint8_t list[3 * 16];
    size_t n = 0;
    while (stk_pb_next(&c, &inner) == STK_PB_FIELD) {
        if (inner.wire == STK_PB_VARINT && inner.number >= 1 && inner.number <= 3) {
            sizes[inner.number - 1] = inner.value & UINT32_MAX;
        }
    }
    for (int i = 0; i < 3; i++) { // array_values { int_value }
        uint8_t *end = stk_varint_put(list + n + 3, sizes[i]);
        list[n] = 12 << 3 | 2;
        list[n + 1] = (uint8_t)(end - (list + n + 2));
        list[n + 2] = 4 << 3;
        n = (size_t)(end - list);
    }
    struct stk_pf_note note = {.text = {"", 0}, .type = STK_PF_LIST, .p = list, .n = n};
    stk_pf_json_note(in, s, stk_str_from(key), &note);
}

struct launch {
    int64_t registers, shared;
    bool has_registers, has_shared;
};

static void take_launch_arg(struct stk_pf *in, const struct stk_pf_seq *s,
                            const struct stk_pb_field *f, struct launch *l)
{
    struct stk_pb_cursor c = {f->data, f->data + f->value};
    struct stk_pb_field inner;
    struct stk_str name = {"", 0};
    int64_t value = 0;
    while (stk_pb_next(&c, &inner) == STK_PB_FIELD) {
        if (inner.wire == STK_PB_VARINT && inner.number == 1) {
            name = stk_pf_text(in, stk_pf_text_of(in, s, STK_PF_KERNEL_ARGS, inner.value));
        } else if (inner.wire == STK_PB_LEN && inner.number == 2) {
            name = (struct stk_str){(const char *)inner.data, (size_t)inner.value};
        } else if (inner.wire == STK_PB_VARINT && (inner.number == 3 || inner.number == 4)) {
            value = (int64_t)inner.value;
        }
    }
    if (stk_str_eq(name, STK_STR("registers_per_thread"))) {
        l->registers = value;
        l->has_registers = true;
    } else if (stk_str_starts(name, STK_STR("shared_mem_")) && value >= 0 && value < INT32_MAX &&
               l->shared < INT32_MAX) {
        l->shared += value;
        l->has_shared = true;
    }
}

static void put_launch(struct stk_pf *in, const struct stk_pf_seq *s, struct stk_pb_cursor c)
{
    struct stk_pb_field f;
    struct launch l = {0};
    while (stk_pb_next(&c, &f) == STK_PB_FIELD) {
        if (f.wire != STK_PB_LEN) {
            continue;
        }
        if (f.number == 1) {
            put_sizes(in, s, "grid", &f);
        } else if (f.number == 2) {
            put_sizes(in, s, "block", &f);
        } else if (f.number == 3) {
            take_launch_arg(in, s, &f, &l);
        }
    }
    if (l.has_registers) {
        put_number(in, s, STK_STR("registers per thread"), l.registers);
    }
    if (l.has_shared) {
        put_number(in, s, STK_STR("shared memory"), l.shared);
    }
}

static void take_notes(struct stk_pf *in, const struct stk_pf_seq *s, const struct stage *g,
                       struct stk_pb_cursor c, struct stk_chrome_raw *r)
{
    struct stk_pb_field f;
    bool wants = in->wants_json;
    if (wants) {
        stk_pf_json_begin(in, (size_t)(c.end - c.p));
    }
    while (stk_pb_next(&c, &f) == STK_PB_FIELD) {
        if (f.number == 6 && f.wire == STK_PB_LEN) {
            take_extra(in, s, &f, wants, r);
        }
    }
    if (wants && g->has_launch) {
        put_launch(in, s, g->launch);
    }
    if (wants) {
        stk_pf_json_end(in, r);
    }
}

void stk_pf_stage_notes(struct stk_pf *in, const struct stk_pf_seq *s, struct stk_pb_cursor c,
                        struct stk_chrome_raw *r)
{
    struct stage g;
    if (read_stage(c, &g)) {
        take_notes(in, s, &g, c, r);
    }
}

void stk_pf_render_stage(struct stk_pf *in, const struct stk_pf_seq *s, struct stk_pb_cursor c)
{
    struct stage g;
    if (!read_stage(c, &g)) {
        stk_pf_issue(in, STK_ISSUE_MESSAGE_INVALID, 1, STK_STR("a render stage"));
        in->stager.counts.by_kind[STK_KIND_OTHER]++;
        return;
    }
    struct stk_str stage = stk_pf_text(in, stk_pf_text_of(in, s, STK_PF_STAGES, g.stage_iid));
    struct stk_str queue = stk_pf_text(in, stk_pf_text_of(in, s, STK_PF_STAGES, g.queue_iid));
    struct stk_chrome_raw r = {.ph = 'X',
                               .pos = in->pos,
                               .cat = (uint8_t)cat_of(stage),
                               .cat_text = stage,
                               .name = {"", 0},
                               .label = {"", 0},
                               .details = {"", 0},
                               .args = {"", 0},
                               .device = g.gpu,
                               .pid.text = {"", 0},
                               .tid.text = queue,
                               .flags = STK_CHROME_HAS_DUR | STK_CHROME_HAS_DEVICE};
    r.flags |= in->has_time ? STK_CHROME_HAS_TS : 0;
    r.ts = (struct stk_chrome_time){in->now_ns, 0};
    r.dur.ns = g.duration <= STK_CHROME_TIME_MAX_NS ? (int64_t)g.duration : 0;
    r.flags |= g.duration > STK_CHROME_TIME_MAX_NS ? STK_CHROME_LONG_DUR : 0;
    if (!queue.n) {
        r.tid.number = g.queue >= 0 ? g.queue : QUEUE_NAMED + (int64_t)(g.queue_iid & UINT32_MAX);
    }
    name_it(in, s, &g, stage, &r);
    take_notes(in, s, &g, c, &r);
    if (!(r.flags & STK_CHROME_HAS_CORR) && g.id) { // its launch may refer to it by this id
        r.flags |= STK_CHROME_HAS_CORR;
        r.corr = (int64_t)g.id;
    }
    stk_pf_stage(in, &r);
}
