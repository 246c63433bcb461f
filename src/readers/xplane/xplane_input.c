// SPDX-License-Identifier: Apache-2.0
// Stats of tf.data's events, where an analysis asked for them: how wide a stage runs, how full its
// buffer is, and which function a piece of work belongs to. tf.data numbers each run of a function:
// the event that starts it and every piece of it, on whatever thread, carry that number as `id`.
#include "readers/xplane/xplane_event.h"

struct wanted {
    struct stk_str name;
    enum stk_detail_key key;
};
#define W(text, key) {{text, sizeof text - 1}, STK_DETAIL_##key}

// tensorflow/core/kernels/data: the iterators' GetTraceMeMetadata.
static const struct wanted of_stages[] = {
    W("parallelism", PARALLELISM),    W("autotune", AUTOTUNE),
    W("buffered_elements", BUFFERED), W("buffer_limit", BUFFER_LIMIT),
    W("buffer_size", BUFFER_LIMIT),   W("max_batch_results", BUFFER_LIMIT),
};
static const struct wanted of_functions[] = {W("id", FUNCTION)};

static bool value_of(const struct stk_xp_value *v, int64_t *out)
{
    struct stk_str text;
    if (v->type == STK_XP_U64) { // numbers of functions use all bits
        *out = (int64_t)v->bits;
    } else if (stk_xp_value_i64(v, out)) {
        return true;
    } else if (stk_xp_value_text(v, &text) && stk_str_eq(text, STK_STR("true"))) {
        *out = 1;
    } else if (stk_xp_value_text(v, &text) && stk_str_eq(text, STK_STR("false"))) {
        *out = 0;
    } else {
        return false;
    }
    return true;
}

size_t stk_xp_input_details(struct stk_xp_decoder *d, const struct stk_xp_event_meta *m,
                            const uint8_t *p, size_t n, struct stk_detail *out)
{
    bool is_stage = stk_str_starts(m->name, STK_STR("Iterator::"));
    const struct wanted *wanted = is_stage ? of_stages : of_functions;
    size_t wanted_count = is_stage ? sizeof of_stages / sizeof *of_stages : 1, count = 0;
    if (!is_stage && !stk_str_starts(m->name, STK_STR("InstantiatedCapturedFunction::")) &&
        !stk_str_eq(m->name, STK_STR("ExecutorState::Process")) &&
        !stk_str_eq(m->name, STK_STR("ExecutorDoneCallback"))) {
        return 0;
    }
    struct stk_pb_cursor c = {p, p + n};
    struct stk_pb_field f;
    while (stk_pb_next(&c, &f) == STK_PB_FIELD && count < STK_XP_DETAILS_MAX) {
        struct stk_xp_value v;
        int64_t id, number;
        if (f.number != 4 || f.wire != STK_PB_LEN ||
            !stk_xp_stat_parse(d->plane, f.data, (size_t)f.value, &id, &v)) {
            continue;
        }
        uint32_t at = stk_xp_ids_get(&d->plane->stat_ids, id);
        if (at == STK_NONE) {
            continue;
        }
        struct stk_str name =
            ((const struct stk_xp_stat_meta *)stk_vec_at(&d->plane->stat_metas, at))->name;
        for (size_t i = 0; i < wanted_count; i++) {
            if (stk_str_eq(name, wanted[i].name) && value_of(&v, &number)) {
                out[count++] = (struct stk_detail){.key = wanted[i].key, .number = number};
                break;
            }
        }
    }
    return count;
}
