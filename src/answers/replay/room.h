// SPDX-License-Identifier: Apache-2.0
// Memory for replays, kept from one to the next, because fresh pages cost as much as a replay
// itself.
#pragma once

#include "answers/replay/replay.h"

// The memory of one replay.
struct stk_room {
    struct stk_scene scene;
    struct stk_times times;
    int64_t *borders_ns;    // per step, plus one
    struct stk_node *plain; // the nodes that fixes of `plain_of` start with; NULL: not kept
    const struct stk_graph *plain_of;
    struct stk_room *next;
};

// Rooms for any of these graphs, made when a thread needs one.
struct stk_rooms;
struct stk_rooms *stk_rooms_new(const struct stk_graph *const *graphs,
                                uint32_t count);          // NULL: no memory
void stk_rooms_free(struct stk_rooms *rooms);             // accepts NULL; all rooms must have been
                                                          // returned
struct stk_room *stk_rooms_take(struct stk_rooms *rooms); // NULL: no memory
void stk_rooms_give(struct stk_rooms *rooms, struct stk_room *room);
