// SPDX-License-Identifier: Apache-2.0
// Values of one event. A value that the profile lacks is null, never 0.
#include "answers/query/event_field.h"

#include "base/assert.h"
#include "profile/model/device/occupancy.h"

const struct stk_query_field_info stk_query_fields[STK_FIELD_COUNT] = {
#define F(id, column, type, key, meaning) {column, STK_TYPE_##type, STK_KEY_##key, meaning},
#include "answers/query/fields.def"
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
    if (!x || !(x->flags & STK_EXT_VALUE)) {
        return false;
    }
    *out = x->value;
    return true;
}

static bool launch_number(const struct stk_query_event *v, enum stk_query_field f, int64_t *out)
{
    const struct stk_trace *t = v->x->t;
    uint32_t call = launch_of(t, v->event);
    if (call == STK_NONE) {
        return false;
    }
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

// Of a grid or a block; the first is 0 if unknown.
static bool volume(const uint32_t sizes[3], int64_t *out)
{
    *out = sizes[0];
    for (int i = 1; i < 3; i++) {
        if (sizes[i] && __builtin_mul_overflow(*out, (int64_t)sizes[i], out)) {
            return false;
        }
    }
    return sizes[0] != 0;
}

static bool config_number(const struct stk_query_event *v, enum stk_query_field f, int64_t *out)
{
    const struct stk_trace *t = v->x->t;
    const struct stk_launch_config *c = stk_config_of(t, v->event);
    uint32_t device = t->tracks[v->track].device;
    if (!c) {
        return false;
    }
    switch (f) {
    case STK_FIELD_GRID:
        return volume(c->grid, out);
    case STK_FIELD_BLOCK:
        return volume(c->block, out);
    case STK_FIELD_REGISTERS:
        *out = c->registers;
        return c->registers >= 0;
    case STK_FIELD_SHARED_BYTES:
        *out = c->shared_bytes;
        return c->shared_bytes >= 0;
    default: { // OCCUPANCY
        double share = device == STK_NONE ? -1 : stk_occupancy_of(&t->devices[device], c).share;
        *out = share < 0 ? 0 : (int64_t)(share * 100 + 0.5);
        return share >= 0;
    }
    }
}

bool stk_query_number_slow(const struct stk_query_event *v, enum stk_query_field f, int64_t *out)
{
    STK_ASSERT(v->event < v->x->t->count);
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
        if (!parents || parents[v->event] == STK_NONE) {
            return false;
        }
        *out = stk_query_id(v->trace, parents[v->event]);
        return true;
    }
    case STK_FIELD_STEP: {
        const struct stk_query_steps *steps = v->x->tracks[v->track].steps;
        index = stk_query_step_at(steps, t->start_ns[v->event]);
        if (index == STK_NONE) {
            return false;
        }
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
    case STK_FIELD_GRID:
    case STK_FIELD_BLOCK:
    case STK_FIELD_REGISTERS:
    case STK_FIELD_SHARED_BYTES:
    case STK_FIELD_OCCUPANCY:
        return config_number(v, f, out);
    default:
        return false;
    }
}

static const char *pinned(uint32_t from, uint32_t to)
{
    if (from == STK_MEM_PAGEABLE || to == STK_MEM_PAGEABLE) {
        return "no";
    }
    if (from == STK_MEM_PINNED || to == STK_MEM_PINNED) {
        return "yes";
    }
    return "unknown";
}

static const char *text_of_bits(uint32_t bits, enum stk_query_field f)
{
    uint32_t kind = bits & 15, dir = bits >> 4 & 7, from = bits >> 7 & 7, to = bits >> 10 & 7;
    if (f == STK_FIELD_KIND) {
        return stk_kind_key((enum stk_kind)kind);
    }
    if (kind != STK_KIND_MEMCPY) {
        return NULL;
    }
    switch (f) {
    case STK_FIELD_DIRECTION:
        return directions[dir <= STK_DIR_H2H ? dir : 0];
    case STK_FIELD_SOURCE:
        return memories[from <= STK_MEM_MANAGED ? from : 0];
    case STK_FIELD_TARGET:
        return memories[to <= STK_MEM_MANAGED ? to : 0];
    default:
        return pinned(from, to);
    }
}

struct stk_str stk_query_text_of_key(const struct stk_query_event *v, enum stk_query_field f,
                                     uint32_t code)
{
    const struct stk_trace *t = v->x->t;
    switch (f) {
    case STK_FIELD_NAME:
        return stk_strpool_get(&t->strings, code);
    case STK_FIELD_LAUNCH_NAME:
        return code == t->strings.count ? (struct stk_str){NULL, 0}
                                        : stk_strpool_get(&t->strings, code);
    case STK_FIELD_DEVICE:
        return stk_str_from(v->x->tracks[v->track].device);
    case STK_FIELD_TENSOR_CORE:
        return stk_str_from(stk_tensor_core_key(stk_query_traits(v->x, code).tensor_core));
    case STK_FIELD_PRECISION:
        return stk_str_from(stk_query_traits(v->x, code).precision);
    default:
        return stk_str_from(text_of_bits(code, f));
    }
}

uint32_t stk_query_call_code(const struct stk_trace *t, uint32_t event)
{
    STK_ASSERT(event < t->count);
    uint32_t call = launch_of(t, event);
    return call == STK_NONE ? t->strings.count : t->name[call];
}

struct stk_str stk_query_text(const struct stk_query_event *v, enum stk_query_field f)
{
    STK_ASSERT(v->event < v->x->t->count && (unsigned)f < STK_FIELD_COUNT);
    const struct stk_trace *t = v->x->t;
    uint32_t code = 0;
    if (f == STK_FIELD_LAUNCH_NAME) {
        code = stk_query_call_code(t, v->event);
    } else if (stk_query_fields[f].key == STK_KEY_NAME) {
        code = t->name[v->event];
    } else if (stk_query_fields[f].key == STK_KEY_BITS) {
        code = stk_query_bits(t, v->event);
    }
    return stk_query_text_of_key(v, f, code);
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
    STK_ASSERT(event < t->count);
    uint32_t bits = t->kind[event] & 15;
    const struct stk_ext *x = stk_ext_of(t, event);
    if (t->kind[event] == STK_KIND_MEMCPY && x) {
        bits |= (x->dir & 7u) << 4 | (x->src_mem & 7u) << 7 | (x->dst_mem & 7u) << 10;
    }
    return bits;
}
