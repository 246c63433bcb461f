// SPDX-License-Identifier: Apache-2.0
// What a frame's name shows: whose code it is, and whether it prepares data. Computed once per
// name, since names repeat by the thousand and each needs a path parsed.
#pragma once

#include "profile/model/threads/feed_words.h"
#include "profile/model/threads/python_frame.h"
#include "profile/store/trace.h"

struct stk_frame_sense {
    bool is_asked;
    bool may_be_users;   // the job's own file, or one without a known owner
    bool is_expression;  // <listcomp>: a part of a function, without its own name
    uint8_t owner, feed; // enum stk_python_owner, enum stk_feed
};

struct stk_frame_senses {
    const struct stk_trace *t;
    struct stk_frame_sense *by_name; // per string id
};

bool stk_frame_senses_open(struct stk_frame_senses *s,
                           const struct stk_trace *t); // false: no memory
void stk_frame_senses_close(struct stk_frame_senses *s);
const struct stk_frame_sense *stk_frame_sense_of(struct stk_frame_senses *s, uint32_t event);
