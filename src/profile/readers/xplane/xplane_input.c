// SPDX-License-Identifier: Apache-2.0
// Stats of tf.data's events, if an analysis asked for them: a stage's parallelism, the fill of its
// buffer, and which function a piece of work belongs to. tf.data numbers each run of a function:
// the event that starts it and every piece of it, on any thread, carry that number as `id`.
#include "base/assert.h"
#include "profile/readers/xplane/xplane_event.h"
#include "profile/readers/xplane/xplane_second.h"

// tensorflow/core/kernels/data: the iterators' GetTraceMeMetadata.
#define STAGE_STATS                                                                                \
    (1u << STK_XP_SECOND_PARALLELISM | 1u << STK_XP_SECOND_AUTOTUNE |                              \
     1u << STK_XP_SECOND_BUFFERED | 1u << STK_XP_SECOND_BUFFER_LIMIT)
#define FUNCTION_STATS (1u << STK_XP_SECOND_FUNCTION)

static enum stk_detail_key key_of(enum stk_xp_second second)
{
    switch (second) {
    case STK_XP_SECOND_PARALLELISM:
        return STK_DETAIL_PARALLELISM;
    case STK_XP_SECOND_AUTOTUNE:
        return STK_DETAIL_AUTOTUNE;
    case STK_XP_SECOND_BUFFERED:
        return STK_DETAIL_BUFFERED;
    case STK_XP_SECOND_BUFFER_LIMIT:
        return STK_DETAIL_BUFFER_LIMIT;
    default:
        return STK_DETAIL_FUNCTION;
    }
}

enum stk_xp_input stk_xp_input_of(struct stk_str name)
{
    return stk_str_starts(name, STK_STR("Iterator::")) ? STK_XP_INPUT_STAGE_OF
           : stk_str_starts(name, STK_STR("InstantiatedCapturedFunction::")) ||
                   stk_str_eq(name, STK_STR("ExecutorState::Process")) ||
                   stk_str_eq(name, STK_STR("ExecutorDoneCallback"))
               ? STK_XP_INPUT_FUNCTION
               : STK_XP_INPUT_NONE;
}

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

size_t stk_xp_input_details(struct stk_xp_decoder *d, enum stk_xp_input input, const uint8_t *p,
                            size_t n, struct stk_detail *out)
{
    STK_ASSERT(input != STK_XP_INPUT_NONE);
    uint32_t wanted = input == STK_XP_INPUT_STAGE_OF ? STAGE_STATS : FUNCTION_STATS;
    struct stk_xp_second_walk w = stk_xp_second_event(d->plane, p, n, wanted);
    struct stk_xp_value v;
    enum stk_xp_second second;
    size_t count = 0;
    size_t most = input == STK_XP_INPUT_STAGE_OF ? STK_XP_DETAILS_MAX : 1;
    while (count < most && (second = stk_xp_second_next(&w, &v)) != STK_XP_SECOND_NONE) {
        int64_t number;
        if (value_of(&v, &number)) {
            out[count++] = (struct stk_detail){.key = key_of(second), .number = number};
        }
    }
    return count;
}
