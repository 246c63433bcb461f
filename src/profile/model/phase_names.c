// SPDX-License-Identifier: Apache-2.0
// Names compared with the patterns of phases.def; see phase_names.h. A device operation's scope may
// have several such words: the backward pass also names the forward pass and the loss that it
// belongs to.
#include "profile/model/phase_names.h"

#include <stdbool.h>
#include <string.h>

#include "base/assert.h"
#include "profile/store/tf_name.h"

static const char *const phase_keys[STK_PHASES] = {[STK_PHASE_NOT_TOLD] = "",
                                                   [STK_PHASE_INPUT] = "input",
                                                   [STK_PHASE_COMMUNICATION] = "communication",
                                                   [STK_PHASE_OPTIMIZER] = "optimizer",
                                                   [STK_PHASE_BACKWARD] = "backward",
                                                   [STK_PHASE_LOSS] = "loss",
                                                   [STK_PHASE_FORWARD] = "forward"};

const char *stk_phase_key(enum stk_phase phase)
{
    return phase_keys[phase];
}

enum where { WHERE_PART, WHERE_TYPE, WHERE_HOST, WHERE_SCOPE };
enum how { HOW_IS, HOW_STARTS, HOW_ENDS, HOW_HAS, HOW_ENDS_NUMBERED };
static const struct phase_word {
    struct stk_str pattern;
    uint8_t phase, where, how;
} phase_words[] = {
#define F(phase, where, how, pattern)                                                              \
    {{pattern, sizeof pattern - 1}, STK_PHASE_##phase, WHERE_##where, HOW_##how},
#include "profile/model/phases.def"
#undef F
};

static bool matches(const struct phase_word *w, struct stk_str s)
{
    switch (w->how) {
    case HOW_IS:
        return stk_str_eq(s, w->pattern);
    case HOW_STARTS:
        return stk_str_starts(s, w->pattern);
    case HOW_ENDS:
        return stk_str_ends(s, w->pattern);
    case HOW_ENDS_NUMBERED:
        while (s.n && s.p[s.n - 1] >= '0' && s.p[s.n - 1] <= '9') {
            s.n--;
        }
        return stk_str_ends(s, w->pattern);
    default:
        return stk_str_contains(s, w->pattern);
    }
}

static uint8_t phases_said(enum where where, struct stk_str s)
{
    uint8_t bits = 0;
    for (size_t i = 0; i < sizeof phase_words / sizeof *phase_words; i++) {
        if (phase_words[i].where == where && s.n && matches(&phase_words[i], s)) {
            bits |= (uint8_t)(1u << phase_words[i].phase);
        }
    }
    return bits;
}

// A part of a path in lower case, without the number that makes it unique.
static uint8_t part_phases(struct stk_str part)
{
    char text[64];
    size_t n = part.n;
    while (n && part.p[n - 1] >= '0' && part.p[n - 1] <= '9') {
        n--;
    }
    n = n && n < part.n && part.p[n - 1] == '_' ? n - 1 : part.n;
    if (n > sizeof text) {
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        char c = part.p[i];
        text[i] = c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
    }
    return phases_said(WHERE_PART, (struct stk_str){text, n});
}

static uint8_t path_phases(struct stk_str path)
{
    uint8_t bits = 0;
    for (size_t i = 0; i < path.n;) {
        const char *slash = memchr(path.p + i, '/', path.n - i);
        size_t end = slash ? (size_t)(slash - path.p) : path.n;
        bits |= part_phases((struct stk_str){path.p + i, end - i});
        i = end + 1;
    }
    return bits;
}

static const struct stk_str eager = {"EagerLocalExecute: ", 19};

bool stk_phase_is_eager(struct stk_str name)
{
    return stk_str_starts(name, eager);
}

bool stk_phase_is_input_thread(const struct stk_trace *t, uint32_t track)
{
    STK_ASSERT(track < t->track_count);
    return stk_str_starts(stk_strpool_get(&t->strings, t->tracks[track].name), STK_STR("tf_data_"));
}

uint8_t stk_phases_of_name(struct stk_str name)
{
    struct stk_tf_name tf = stk_tf_name_parse(name);
    if (stk_phase_is_eager(name)) {
        return phases_said(WHERE_TYPE, (struct stk_str){name.p + eager.n, name.n - eager.n});
    }
    return tf.type.n ? path_phases(tf.path) | phases_said(WHERE_TYPE, tf.type)
                     : phases_said(WHERE_HOST, name);
}

uint8_t stk_phases_of_scope(struct stk_str path)
{
    return phases_said(WHERE_SCOPE, path);
}

enum stk_phase stk_phase_first(uint8_t bits)
{
    for (int phase = STK_PHASE_INPUT; phase < STK_PHASES; phase++) {
        if (bits >> phase & 1) {
            return (enum stk_phase)phase;
        }
    }
    return STK_PHASE_NOT_TOLD;
}
