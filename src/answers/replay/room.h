// SPDX-License-Identifier: Apache-2.0
// Memory that replays use, kept from one to the next: fresh pages cost as much as a replay itself.
#pragma once

#include "answers/replay/replay.h"

// What one replay needs.
struct stk_room {
    struct stk_scene scene;
    struct stk_times times;
    int64_t *borders_ns; // of the steps, one more than there are
    struct stk_room *next;
};

// Rooms for any of these graphs, made as threads ask for them.
struct stk_rooms;
struct stk_rooms *stk_rooms_new(const struct stk_graph *const *graphs,
                                uint32_t count);          // NULL: no memory
void stk_rooms_free(struct stk_rooms *rooms);             // takes NULL; all rooms are given back
struct stk_room *stk_rooms_take(struct stk_rooms *rooms); // NULL: no memory
void stk_rooms_give(struct stk_rooms *rooms, struct stk_room *room);
