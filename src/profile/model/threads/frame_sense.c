// SPDX-License-Identifier: Apache-2.0
// Senses of frames (frame_sense.h): a table by string id, filled on demand.
#include "profile/model/threads/frame_sense.h"

#include "base/alloc.h"
#include "base/assert.h"

bool stk_frame_senses_open(struct stk_frame_senses *s, const struct stk_trace *t)
{
    *s = (struct stk_frame_senses){
        t, stk_alloc_zero((size_t)t->strings.count + 1, sizeof *s->by_name)};
    return s->by_name != NULL;
}

void stk_frame_senses_close(struct stk_frame_senses *s)
{
    stk_free(s->by_name);
    *s = (struct stk_frame_senses){0};
}

const struct stk_frame_sense *stk_frame_sense_of(struct stk_frame_senses *s, uint32_t event)
{
    STK_ASSERT(s->by_name && event < s->t->count);
    struct stk_frame_sense *x = &s->by_name[s->t->name[event]];
    if (!x->is_asked) {
        struct stk_str name = stk_name_of(s->t, event);
        struct stk_str function = stk_python_frame_parse(name).function;
        *x = (struct stk_frame_sense){.is_asked = true,
                                      .may_be_users = stk_python_frame_is_users(name),
                                      .is_expression = stk_str_starts(function, STK_STR("<")),
                                      .owner = (uint8_t)stk_python_frame_owner(name),
                                      .feed = (uint8_t)stk_feed_of(function)};
    }
    return x;
}
