// SPDX-License-Identifier: Apache-2.0
// Replays a graph: computes when each node begins and ends, given its durations and edges.
//
// Method: each lane runs until a node needs another one that hasn't begun or ended, and is woken by
// that: O(nodes + edges), in any order of waking. Nothing is resolved beforehand: what a call waits
// for, when a batch is ready and whether a queue is full follow from the times of this run. If all
// lanes wait for each other, that is a cycle, and there are no times.
#pragma once

#include "answers/replay/graph.h"

// What determined a node's start, or a call's end.
enum stk_bound { STK_BOUND_LANE, STK_BOUND_LAUNCH, STK_BOUND_WAIT, STK_BOUND_INPUT };

struct stk_times {
    int64_t *begin_ns, *end_ns; // per node
    uint8_t *bound;             // enum stk_bound
    uint16_t *woken;            // scratch: lane that waits for the node + 1, 0 none
};

// A graph with changes, which what-ifs edit. `nodes` and `ready_ns` are copies.
struct stk_scene {
    const struct stk_graph *g;
    struct stk_node *nodes;
    int64_t *ready_ns;
    bool is_even;          // with several ranks, the median one sets the pace, not the slowest
    bool needs_no_batches; // nothing waits for workers, no matter their pace
    double extra_ns;       // of a step, in addition to all lanes
    double floor_ns; // a step takes at least this: work that was removed from all lanes but still
                     // runs
    const struct stk_node *like; // nodes that most of `nodes` still equal, which aren't hashed; or
                                 // NULL
};
bool stk_scene_init(struct stk_scene *s, const struct stk_graph *g); // false: no memory
void stk_scene_deinit(struct stk_scene *s);
// The same in two steps, for a scene that is reused: space for a graph of that size, and the
// recorded graph, which must not be larger.
struct stk_graph_size {
    size_t nodes, batches;
};
struct stk_graph_size stk_graph_size_of(const struct stk_graph *g);
bool stk_scene_alloc(struct stk_scene *s, struct stk_graph_size size); // false: no memory
void stk_scene_reset(struct stk_scene *s, const struct stk_graph *g);
// The same, with other nodes than the recorded ones.
void stk_scene_reset_to(struct stk_scene *s, const struct stk_graph *g,
                        const struct stk_node *nodes);
// Scenes of a graph with the same hash, and the same `like`, have the same replay. Two different
// scenes share a hash with probability 2^-64.
uint64_t stk_scene_hash(const struct stk_scene *s);
// Removes profiling overhead from host nodes, in profiles with a device. Without one, that overhead
// can't be separated from the operations, which are the step.
void stk_scene_unprofile(struct stk_scene *s);

bool stk_times_init(struct stk_times *t, const struct stk_graph *g);
bool stk_times_alloc(struct stk_times *t, struct stk_graph_size size);
void stk_times_deinit(struct stk_times *t);

// False: a cycle (or no memory): the times are invalid.
bool stk_replay_run(const struct stk_scene *s, struct stk_times *t);
// The recorded times, in the same form.
void stk_replay_recorded(const struct stk_graph *g, struct stk_times *t);

// When each step begins on the device (without one, on the host), and when the last one ends:
// step_count + 1 values. A step begins with its host's step or when all earlier steps' work has
// ended, whichever is later.
void stk_replay_steps(const struct stk_graph *g, const struct stk_node *nodes,
                      const struct stk_times *t, int64_t *borders_ns);
// Mean over the used steps.
double stk_replay_mean(const struct stk_graph *g, const int64_t *borders_ns);
// The same, from mean_from to mean_to.
double stk_replay_inner_mean(const struct stk_graph *g, const int64_t *borders_ns);
