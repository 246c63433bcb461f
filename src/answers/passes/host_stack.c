// SPDX-License-Identifier: Apache-2.0
// The host stack around an event. Parents precede their children in a row, so an event's parent is
// the last earlier one with less depth. Limits: looks back over a bounded number of events, so
// outer ones may be missing; ignores the thread's other rows (events that overlap without nesting).
#include "answers/passes/host_stack.h"

#include <string.h>

#include "profile/model/threads/python_frame.h"

#define LEVELS 8
#define LOOK_BACK (1u << 17)
#define NAME_BYTES 96

static size_t name_text(const struct stk_trace *t, uint32_t event, char *out)
{
    struct stk_str name = stk_name_of(t, event);
    if (t->kind[event] == STK_KIND_PYTHON) {
        return stk_python_frame_text(name, out, NAME_BYTES);
    }
    size_t n = name.n < NAME_BYTES ? name.n : NAME_BYTES - 1;
    while (n < name.n && n > 0 && ((unsigned char)name.p[n] & 0xc0) == 0x80) {
        n--; // don't split a character
    }
    memcpy(out, name.p, n);
    return n;
}

const char *stk_host_stack_text(const struct stk_analysis *view, uint32_t event,
                                struct stk_arena *arena)
{
    const struct stk_trace *t = view->t;
    uint32_t track = stk_track_of(t, event), levels[LEVELS] = {event}, count = 1;
    uint32_t depth = t->depth[event], first = track == STK_NONE ? event : t->tracks[track].first;
    first = event - first > LOOK_BACK ? event - LOOK_BACK : first;
    for (uint32_t e = event; e-- > first && depth > 0 && count < LEVELS;) {
        if (t->depth[e] < depth && stk_end_ns(t, e) >= stk_end_ns(t, event)) {
            depth = t->depth[e];
            levels[count++] = e;
        }
    }
    char text[LEVELS * (NAME_BYTES + 3)];
    size_t n = 0;
    while (count-- > 0) {
        if (n) {
            memcpy(text + n, " > ", 3);
            n += 3;
        }
        n += name_text(t, levels[count], text + n);
    }
    return stk_arena_strndup(arena, text, n);
}
