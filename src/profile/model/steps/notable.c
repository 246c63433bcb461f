// SPDX-License-Identifier: Apache-2.0
// Events whose names tell something (notable.h). Most of a thread's events don't: library frames,
// small operations. What looks for work, data and hand-overs walks only these.
//
// Method: one pass over the row's names and kinds, five bytes an event. A name is parsed once, as
// a Python function and as another event separately.
#include "profile/model/steps/notable.h"

#include "base/alloc.h"
#include "profile/model/threads/feed_words.h"
#include "profile/model/threads/python_frame.h"

#define ASKED 128u

bool stk_notable_open(struct stk_notable *n, const struct stk_analysis *a)
{
    *n = (struct stk_notable){.a = a, .row = STK_NONE};
    stk_vec_init(&n->notes, sizeof(struct stk_note), UINT32_MAX);
    n->by_name = stk_alloc_zero(2 * ((size_t)a->t->strings.count + 1), 1);
    return n->by_name != NULL;
}

void stk_notable_close(struct stk_notable *n)
{
    stk_free(n->by_name);
    stk_vec_deinit(&n->notes);
    *n = (struct stk_notable){0};
}

static uint32_t of_python(struct stk_str name)
{
    struct stk_str called = stk_python_frame_called(name);
    bool hands = stk_feed_hands_over(name);
    uint32_t is = stk_feed_makes_keys(name)          ? STK_NOTE_KEYS
                  : stk_feed_brings(called) || hands ? STK_NOTE_BRINGS
                  : stk_feed_takes(called)           ? STK_NOTE_TAKES
                  : stk_python_frame_is_data(name)   ? STK_NOTE_DATA
                                                     : 0;
    return is | (hands ? STK_NOTE_HANDS : 0);
}

static uint8_t ask(const struct stk_analysis *a, uint32_t event, bool is_python)
{
    struct stk_str name = stk_name_of(a->t, event);
    uint32_t class = stk_class_of(a, event);
    uint32_t is = is_python                                              ? of_python(name)
                  : (class & STK_NAME_PJIT) && stk_feed_makes_keys(name) ? STK_NOTE_KEYS
                                                                         : 0;
    is |= class & STK_WORK_CLASSES ? STK_NOTE_WORK : 0;
    is |= class & STK_NAME_BLOCKED ? STK_NOTE_BLOCKED : 0;
    return (uint8_t)(ASKED | is);
}

const struct stk_vec *stk_notable_of(struct stk_notable *n, uint32_t row)
{
    const struct stk_trace *t = n->a->t;
    const struct stk_track *k = &t->tracks[row];
    const uint8_t *kind = t->kind;
    const uint32_t *name = t->name;
    uint8_t *by_name = n->by_name;
    if (n->row == row) {
        return &n->notes;
    }
    n->row = row;
    n->notes.count = 0;
    for (uint32_t e = k->first, end = e + k->count; e < end; e++) {
        bool is_python = kind[e] == STK_KIND_PYTHON;
        uint8_t *known = &by_name[2 * (size_t)name[e] + is_python];
        if (*known == ASKED) {
            continue;
        }
        if (*known == 0) {
            *known = ask(n->a, e, is_python);
        }
        if (*known != ASKED) {
            struct stk_note *x = stk_vec_push_raw(&n->notes);
            if (!x) {
                n->row = STK_NONE;
                return NULL;
            }
            *x = (struct stk_note){e, *known & ~ASKED};
        }
    }
    return &n->notes;
}
