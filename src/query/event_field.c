// SPDX-License-Identifier: Apache-2.0
// Values of one event. A value that the profile does not hold is null, never 0.
#include "query/event_field.h"

const struct stk_query_field_info stk_query_fields[STK_FIELD_COUNT] = {
#define F(id, column, type, key, meaning) {column, STK_QUERY_##type, STK_KEY_##key, meaning},
#include "query/fields.def"
#undef F
};

static const char *const directions[] = {"unknown", "h2d", "d2h", "d2d", "p2p", "h2h"};
static const char *const memories[] = {"unknown", "pageable", "pinned",
                                       "device",  "array",    "managed"};

static uint32_t launch_of(const struct stk_trace *t, uint32_t event)
{
    return stk_kind_is_device_work(t->kind[event]) ? stk_link_of(t, event) : STK_NONE;
}

static bool value_of(const struct stk_trace *t, uint32_t event, int64_t *out)
{
    const struct stk_ext *x = stk_ext_of(t, event);
    if (!x || !(x->flags & STK_EXT_VALUE))
        return false;
    *out = x->value;
    return true;
}

static bool launch_number(const struct stk_query_event *v, enum stk_query_field f, int64_t *out)
{
    const struct stk_trace *t = v->x->t;
    uint32_t call = launch_of(t, v->event);
    if (call == STK_NONE)
        return false;
    switch (f) {
    case STK_FIELD_LAUNCH:
        *out = stk_query_id(v->trace, call);
        return true;
    case STK_FIELD_LAUNCH_START:
        *out = t->start_ns[call] + v->x->shift_ns;
        return true;
    case STK_FIELD_LAUNCH_DUR:
        *out = stk_dur_ns(t, call);
        return true;
    case STK_FIELD_LAUNCH_THREAD:
        *out = t->tracks[stk_track_of(t, call)].id;
        return true;
    default: // DELAY
        *out = t->start_ns[v->event] - t->start_ns[call];
        return true;
    }
}

static bool place_number(const struct stk_query_event *v, enum stk_query_field f, int64_t *out)
{
    const struct stk_track *track = &v->x->t->tracks[v->track];
    const struct stk_query_track *known = &v->x->tracks[v->track];
    switch (f) {
    case STK_FIELD_RANK:
        *out = known->rank;
        return known->rank >= 0;
    case STK_FIELD_TRACK:
        *out = stk_query_id(v->trace, v->track);
        return true;
    default: // STREAM, THREAD
        *out = track->id;
        return f == STK_FIELD_STREAM ? track->kind == STK_TRACK_STREAM
                                     : track->kind == STK_TRACK_THREAD;
    }
}

bool stk_query_number_slow(const struct stk_query_event *v, enum stk_query_field f, int64_t *out)
{
    const struct stk_trace *t = v->x->t;
    uint32_t index;
    switch (f) {
    case STK_FIELD_RANK:
    case STK_FIELD_TRACK:
    case STK_FIELD_STREAM:
    case STK_FIELD_THREAD:
        return place_number(v, f, out);
    case STK_FIELD_DEPTH:
        *out = t->depth[v->event];
        return true;
    case STK_FIELD_PARENT: {
        const uint32_t *parents = stk_query_parents(v->x);
        if (!parents || parents[v->event] == STK_NONE)
            return false;
        *out = stk_query_id(v->trace, parents[v->event]);
        return true;
    }
    case STK_FIELD_STEP: {
        const struct stk_query_steps *steps = v->x->tracks[v->track].steps;
        index = stk_query_step_at(steps, t->start_ns[v->event]);
        if (index == STK_NONE)
            return false;
        *out = steps->v[index].number;
        return true;
    }
    case STK_FIELD_VALUE:
        return value_of(t, v->event, out);
    case STK_FIELD_BYTES:
        return value_of(t, v->event, out) && !(stk_ext_of(t, v->event)->flags & STK_EXT_STEP);
    case STK_FIELD_LAUNCH:
    case STK_FIELD_LAUNCH_START:
    case STK_FIELD_LAUNCH_DUR:
    case STK_FIELD_LAUNCH_THREAD:
    case STK_FIELD_DELAY:
        return launch_number(v, f, out);
    default:
        return false;
    }
}

static const char *pinned(const struct stk_ext *x)
{
    if (x->src_mem == STK_MEM_PAGEABLE || x->dst_mem == STK_MEM_PAGEABLE)
        return "no";
    if (x->src_mem == STK_MEM_PINNED || x->dst_mem == STK_MEM_PINNED)
        return "yes";
    return "unknown";
}

static const char *copy_text(const struct stk_query_event *v, enum stk_query_field f)
{
    static const struct stk_ext none;
    const struct stk_trace *t = v->x->t;
    const struct stk_ext *x = stk_ext_of(t, v->event);
    if (t->kind[v->event] != STK_KIND_MEMCPY)
        return NULL;
    x = x ? x : &none;
    switch (f) {
    case STK_FIELD_DIRECTION:
        return directions[x->dir <= STK_DIR_H2H ? x->dir : 0];
    case STK_FIELD_SOURCE:
        return memories[x->src_mem <= STK_MEM_MANAGED ? x->src_mem : 0];
    case STK_FIELD_TARGET:
        return memories[x->dst_mem <= STK_MEM_MANAGED ? x->dst_mem : 0];
    default:
        return pinned(x);
    }
}

struct stk_str stk_query_text(const struct stk_query_event *v, enum stk_query_field f)
{
    const struct stk_trace *t = v->x->t;
    const char *text = NULL;
    switch (f) {
    case STK_FIELD_NAME:
        return stk_name_of(t, v->event);
    case STK_FIELD_LAUNCH_NAME: {
        uint32_t call = launch_of(t, v->event);
        return call == STK_NONE ? (struct stk_str){NULL, 0} : stk_name_of(t, call);
    }
    case STK_FIELD_KIND:
        text = stk_kind_key(t->kind[v->event]);
        break;
    case STK_FIELD_DEVICE:
        text = v->x->tracks[v->track].device;
        break;
    case STK_FIELD_TENSOR_CORE:
        text = stk_tensor_core_key(stk_query_traits(v->x, t->name[v->event]).tensor_core);
        break;
    case STK_FIELD_PRECISION:
        text = stk_query_traits(v->x, t->name[v->event]).precision;
        break;
    default:
        text = copy_text(v, f);
    }
    return stk_str_from(text);
}

void stk_query_value_of(const struct stk_query_event *v, enum stk_query_field f,
                        struct stk_query_value *out)
{
    if (stk_query_field_is_text(f)) {
        out->text = stk_query_text(v, f);
        out->kind = out->text.p ? STK_VALUE_TEXT : STK_VALUE_NULL;
        return;
    }
    out->kind = stk_query_number(v, f, &out->number) ? STK_VALUE_INT : STK_VALUE_NULL;
}

uint32_t stk_query_bits(const struct stk_trace *t, uint32_t event)
{
    uint32_t bits = t->kind[event] & 15;
    const struct stk_ext *x = stk_ext_of(t, event);
    if (t->kind[event] == STK_KIND_MEMCPY && x)
        bits |= (x->dir & 7u) << 4 | (x->src_mem & 7u) << 7 | (x->dst_mem & 7u) << 10;
    return bits;
}
