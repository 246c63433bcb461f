// SPDX-License-Identifier: Apache-2.0
// Rooms (room.h): a list of unused ones, protected by a lock. Each has space for the largest graph.
// There are as many as threads that ever replayed at the same time.
#include "answers/replay/room.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/assert.h"

struct stk_rooms {
    pthread_mutex_t lock;
    struct stk_room *unused;
    struct stk_graph_size most;
    uint32_t steps;
};

static void free_room(struct stk_room *room)
{
    stk_scene_deinit(&room->scene);
    stk_times_deinit(&room->times);
    stk_free(room->borders_ns);
    stk_free(room->plain);
    stk_free(room);
}

static struct stk_room *new_room(const struct stk_rooms *rooms)
{
    struct stk_room *room = stk_alloc_zero(1, sizeof *room);
    if (!room) {
        return NULL;
    }
    room->borders_ns = stk_alloc_array((size_t)rooms->steps + 1, sizeof *room->borders_ns);
    if (room->borders_ns && stk_scene_alloc(&room->scene, rooms->most) &&
        stk_times_alloc(&room->times, rooms->most)) {
        return room;
    }
    free_room(room);
    return NULL;
}

struct stk_rooms *stk_rooms_new(const struct stk_graph *const *graphs, uint32_t count)
{
    struct stk_rooms *rooms = stk_alloc_zero(1, sizeof *rooms);
    if (!rooms) {
        return NULL;
    }
    pthread_mutex_init(&rooms->lock, NULL);
    for (uint32_t i = 0; i < count; i++) {
        struct stk_graph_size size = stk_graph_size_of(graphs[i]);
        rooms->most.nodes = size.nodes > rooms->most.nodes ? size.nodes : rooms->most.nodes;
        rooms->most.batches =
            size.batches > rooms->most.batches ? size.batches : rooms->most.batches;
        rooms->steps = graphs[i]->step_count > rooms->steps ? graphs[i]->step_count : rooms->steps;
    }
    return rooms;
}

void stk_rooms_free(struct stk_rooms *rooms)
{
    if (!rooms) {
        return;
    }
    for (struct stk_room *room = rooms->unused, *next; room; room = next) {
        next = room->next;
        free_room(room);
    }
    pthread_mutex_destroy(&rooms->lock);
    stk_free(rooms);
}

struct stk_room *stk_rooms_take(struct stk_rooms *rooms)
{
    STK_ASSERT(rooms);
    pthread_mutex_lock(&rooms->lock);
    struct stk_room *room = rooms->unused;
    rooms->unused = room ? room->next : NULL;
    pthread_mutex_unlock(&rooms->lock);
    return room ? room : new_room(rooms);
}

void stk_rooms_give(struct stk_rooms *rooms, struct stk_room *room)
{
    STK_ASSERT(rooms && room);
    pthread_mutex_lock(&rooms->lock);
    room->next = rooms->unused;
    rooms->unused = room;
    pthread_mutex_unlock(&rooms->lock);
}
