// SPDX-License-Identifier: Apache-2.0
// Stats that are read a second time, only if an analysis asked for them: a kernel's launch, an
// operation's inputs, the parallelism of a tf.data stage.
//
// Their names are resolved once per plane, so a walk looks at the id of each stat and parses those
// few that its caller wants. Most events have none.
#pragma once

#include "profile/readers/xplane/xplane_plane.h"

enum stk_xp_second {
    STK_XP_SECOND_NONE,
    STK_XP_SECOND_KERNEL_DETAILS,
    STK_XP_SECOND_SHAPE,
    STK_XP_SECOND_OP, // "tf_op", "level 0"
    STK_XP_SECOND_FLOPS,
    STK_XP_SECOND_BYTES,
    STK_XP_SECOND_PARALLELISM,
    STK_XP_SECOND_AUTOTUNE,
    STK_XP_SECOND_BUFFERED,
    STK_XP_SECOND_BUFFER_LIMIT,
    STK_XP_SECOND_FUNCTION
};

// The stats of an event's message (`number` 4), or those of its metadata (0: every field is one).
struct stk_xp_second_walk {
    const struct stk_xp_plane *plane;
    const uint8_t *p, *end;
    const uint8_t *readable; // up to here bytes may be read: an event has STK_XP_PAD after it
    uint32_t number;
    uint32_t wanted; // bits 1 << enum stk_xp_second
};
static inline struct stk_xp_second_walk
stk_xp_second_event(const struct stk_xp_plane *plane, const uint8_t *p, size_t n, uint32_t wanted)
{
    return (struct stk_xp_second_walk){plane, p, p + n, p + n + 8, 4, wanted};
}
static inline struct stk_xp_second_walk stk_xp_second_meta(const struct stk_xp_plane *plane,
                                                           struct stk_str raw, uint32_t wanted)
{
    const uint8_t *p = (const uint8_t *)raw.p;
    return (struct stk_xp_second_walk){plane, p, p + raw.n, p + raw.n, 0, wanted};
}
// The next wanted stat; STK_XP_SECOND_NONE: no more. `value` borrows.
enum stk_xp_second stk_xp_second_next(struct stk_xp_second_walk *w, struct stk_xp_value *value);
