// SPDX-License-Identifier: Apache-2.0
// The dependency graph of a rank's steps: what a replay needs from a trace. It outlives the trace.
//
// A lane is a host thread that launches work or drives the steps, or a stream of a device. Nodes of
// a lane run one after another. Nodes of a host lane cover all of its time: runtime calls and the
// gaps between them. A node of a stream begins when its lane is free, its launch call began at
// least a latency ago, and the work it waits for has ended.
//
// Method: lanes are made one by one (graph_host.c, graph_device.c), then the edges between them
// (graph_edges.c, graph_waits.c, graph_input.c). Steps beyond the cap on nodes are left out.
#pragma once

#include "base/vec.h"
#include "profile/model/device/device_rates.h"
#include "profile/model/view.h"

enum stk_node_kind {
    STK_NODE_WORK,  // host: between two calls
    STK_NODE_CALL,  // host: a runtime call that doesn't wait for the device
    STK_NODE_WAIT,  // host: a call that waits for device work
    STK_NODE_INPUT, // host: fetching the next batch
    STK_NODE_KERNEL,
    STK_NODE_COPY, // copies and memsets
    STK_NODE_COLLECTIVE
};

// The class of a node, for what-ifs.
enum stk_node_what {
    STK_WHAT_OTHER,
    STK_WHAT_IDLE,        // WORK: no event of the thread shows what it does
    STK_WHAT_CALLBACK,    // WORK: the driving thread between a step's work and the next fetch
    STK_WHAT_STREAM_WAIT, // CALL: a stream must wait for another one
    STK_WHAT_SYNC,        // WAIT: synchronization (allocations, which wait too, are OTHER)
    STK_WHAT_STAGING,     // WAIT: a copy from or to pageable memory
    STK_WHAT_MATRIX_32,   // KERNEL: matrix product or convolution without tensor cores
    STK_WHAT_MATRIX_TF32,
    STK_WHAT_MATRIX_16, // in 16 bits or fewer
    STK_WHAT_ELEMENTWISE,
    STK_WHAT_FUSED, // elementwise, fused from several by a compiler
    STK_WHAT_OPTIMIZER,
    STK_WHAT_SCALING, // checks gradients for infinity or NaN, and divides them by the loss scale
    STK_WHAT_H2D,     // COPY
    STK_WHAT_H2D_PAGEABLE,
    STK_WHAT_D2H,
    STK_WHAT_D2H_PAGEABLE
};

struct stk_node {
    int64_t start_ns, dur_ns; // as recorded; dur_ns of a WAIT or INPUT: only its own work
    uint32_t launch;          // device: the host node that launched it, STK_NONE
    uint32_t wait;            // node whose end it waits for, STK_NONE; INPUT: number of the batch
    uint32_t size;   // of a copy in KiB, 0 not known; COLLECTIVE: its wait for others in us;
                     // KERNEL: stk_node_alignment, stk_node_flops; CALL: what it launched
    uint32_t step;   // index into steps
    int32_t lag_ns;  // device: after the begin of its launch; host: after the end of what it awaits
    int32_t gap_ns;  // device: after the end of the lane's previous node
    int32_t rest_ns; // device: unexplained waiting, which stays; host: the profiler's own
    uint16_t lane;
    uint8_t kind, what;
};
_Static_assert(sizeof(struct stk_node) <= 48, "nodes are what a replay's memory goes into");

// Are the dimensions of a matrix kernel multiples of 8? FILLS, if no shapes are recorded: the
// kernel is long and has several blocks per SM.
enum stk_graph_alignment {
    STK_ALIGNMENT_UNKNOWN,
    STK_ALIGNED,
    STK_UNALIGNED,
    STK_ALIGNMENT_UNKNOWN_FILLS
};

struct stk_lane {
    uint32_t first, count; // its nodes
    uint32_t track;        // of the trace
    int64_t free_ns;       // no node of the lane begins earlier
    bool is_device;
};

struct stk_graph_step {
    int64_t number;   // as marked in the profile, else counted from 0
    uint32_t node;    // first node of the step on the driving lane
    int64_t start_ns; // on the host
    bool used;        // counts for the mean
};

// How batches reach the step.
enum stk_feed { STK_FEED_NONE, STK_FEED_INLINE, STK_FEED_WORKERS };

struct stk_calibration {
    int64_t latency_ns;    // launch call to its work on an idle stream
    int64_t gap_ns;        // between two operations of a stream
    int64_t call_ns;       // median of a launch call
    int64_t quick_call_ns; // the slowest of the fastest tenth
    int64_t fetch_ns;      // shortest time of taking a ready batch
};

// What the gate needs to know about how the graph was built.
struct stk_graph_counts {
    uint64_t device_ops, unlinked, cross_edges, inferred_edges;
    int64_t unexplained_ns;      // device waiting while nothing runs on the device
    int64_t contended_ns;        // the same while other streams run
    int64_t host_unexplained_ns; // calls whose wait has no known cause
    int64_t graphs_ns;           // graph launches: of it, their excess over a graph's own launch
};

// An operation that runs on the host between two copies of data.
struct stk_host_op {
    uint32_t wait, call;         // host nodes: waits for the copy to the host; copies back
    uint32_t to_host, to_device; // these copies
    const char *name;            // NULL: no event shows it
};

// What a collective reduces, if its kernel's row says so.
struct stk_graph_message {
    uint32_t node;
    int64_t bytes;
};

// A step of an optimizer of PyTorch's on the driving thread (graph_updates.c).
struct stk_graph_update {
    int64_t start_ns, end_ns;
    int64_t call_ns;       // cost of calling an operator
    int64_t work_ns;       // of its operators, besides the calls
    uint32_t ops, tensors; // calls of operators; parameters, about
    bool is_foreach, is_fused;
    bool is_torchs, has_fused; // its class is from torch.optim and has such an update
};

// The operator that a kernel belongs to.
struct stk_graph_op {
    uint32_t node, name; // index into op_names
};

struct stk_taken;
struct stk_graph {
    struct stk_node *nodes;
    uint32_t node_count;
    struct stk_lane *lanes;
    uint32_t lane_count;
    struct stk_graph_step *steps; // step_count values, and the end of the last step
    uint32_t step_count, steps_used;
    int64_t base_ns;   // added to its times: the run's clock
    int64_t end_ns;    // host end of the last step
    int64_t *ready_ns; // per batch: when workers have it ready
    uint32_t batch_count;
    uint32_t waited_first, waited_last; // batches that were waited for; STK_NONE: none
    uint32_t round_first, round_last;   // of them, those between which there are whole rounds, if
                                        // known
    uint32_t waits;                     // how many were
    // Steps between two that waited for a batch, if most steps are; otherwise all. Both ends are at
    // the same point of the workers' rounds. A gain before the first wait or after the last, while
    // batches are ready, doesn't last.
    uint32_t mean_from, mean_to;
    enum stk_feed feed;
    bool has_device;
    bool has_peers;   // collectives are matched with those of other ranks
    bool has_workers; // batches come from workers whose pace may be unknown
    bool is_span;     // no steps: the whole recording counts as one
    double beside;    // loader threads that are busy at a time, on average
    double pace_ns;   // of a step: the busiest one's work for it; 0 not known
    double ordinary;  // median over mean time of a batch; 1: even, or not known
    // Without a device: the time outside a step's fetches during which no worker ran, as a share of
    // the mean step's, at least. 1: nothing is known to run in parallel.
    double undisturbed;
    bool leaves_first;  // of the steps: excluded from the mean
    bool counts_rounds; // with several workers: steps outside them are excluded from the mean
    bool has_rounds;    // mean_from and mean_to are long waits, with whole rounds between them
    bool is_by_torch;   // its profiler recorded the operations
    bool is_contended;  // its streams mostly wait while other streams run
    bool is_mixed;      // steps repeatedly take more than twice the median
    uint32_t tensors;   // of a batch, if processes would send them (PyTorch); else 0
    struct stk_host_op *host_ops;
    uint32_t host_op_count;
    double batch_most; // how many times larger a batch fits into GPU memory; 0 unknown
    const struct stk_batch_fit *batch_fit; // of a second profile, or NULL
    struct stk_graph_message *messages;    // of each lane in its order
    uint32_t message_count;
    struct stk_graph_update *updates;
    uint32_t update_count;
    const char **op_names;
    struct stk_graph_op *ops; // of each lane in its order; none in a brief graph
    uint32_t op_name_count, op_count;
    // Of a mean step's operations that TensorFlow runs eagerly: their number, their time, their
    // time if nothing interrupts them, the time without their calls, and a lower bound of that.
    double eager_ops, eager_ns, eager_usual_ns, eager_work_ns, eager_least_ns;
    int64_t group_size;            // ranks that reduce together, 0 not known
    struct stk_device_rates rates; // of the rank's first device; 0 not known
    uint32_t driver;               // lane
    int32_t rank;
    struct stk_calibration calibration;
    struct stk_graph_counts counts;
    struct stk_whatif_critical *critical; // if requested, and the graph can be replayed
    const uint32_t *on_path;              // with it: events on the path of used steps, ascending
    uint32_t on_path_count;
    const char *why_not;           // why there is no graph, or NULL
    const struct stk_taken *taken; // its prices (taken.h) instead of nodes, or NULL
};

// The hook that builds the graph of each rank; it is sum->partial.
extern const struct stk_view_hook stk_replay_hook;
// The same for some steps, and only if a what-if could remove something: cheap compared with the
// rest of a diagnosis. sum->partial is NULL if there is nothing to remove.
extern const struct stk_view_hook stk_replay_brief_hook;

// The first hook, plus the critical path of the steps.
extern const struct stk_view_hook stk_replay_critical_hook;

// For viewing a profile: a graph of some steps.
struct stk_replay_path {
    void *priced; // the graph if stk_replay_brief_hook would keep it, or NULL
    const struct stk_whatif_critical *path; // of a typical one of these steps; NULL: none
    int64_t base_ns;                        // subtract it from the path's times to get the trace's
    int64_t step;                           // number of the step
    const uint32_t *events;                 // on the path of all these steps, ascending
    uint32_t event_count;
    const char *why_not; // why there is no path, or NULL
};
// `out` lives in the arena; the same requirements as stk_replay_brief_hook.
STK_MUST_CHECK enum stoker_status stk_replay_path(const struct stk_analysis *a,
                                                  struct stk_arena *arena,
                                                  struct stk_replay_path *out,
                                                  struct stoker_err *err);

// An event inside a node of a host lane: the innermost one for some of the node's time.
struct stk_graph_held {
    uint32_t node, event;
};

// Shared by the builder's files. Memory comes from the caller's arena; `nodes` is scratch.
struct stk_graph_build {
    const struct stk_analysis *a;
    struct stk_arena *arena;
    struct stk_graph *g;
    struct stk_vec nodes, lanes, batches; // struct stk_node, stk_lane; int64_t
    bool wants_events;
    struct stk_vec messages; // struct stk_graph_message
    struct stk_vec updates;  // struct stk_graph_update
    bool wants_ops;
    struct stk_vec ops;     // struct stk_graph_op
    uint16_t *op_index;     // per string: its index in op_names + 1
    struct stk_vec events;  // uint32_t per node, if wanted: the first event that it contains,
                            // STK_NONE
    struct stk_vec held;    // struct stk_graph_held, by node: further events of host nodes
    uint16_t *lane_of;      // per track: its lane + 1, 0 none
    int64_t from_ns, to_ns; // host time of the steps
    uint64_t max_events;    // of the trace, about
    int64_t *starts_ns;     // of the steps, and to_ns
    int64_t *work_ends_ns;  // of the steps: when their work is done; INT64_MAX not known, or NULL
};

static inline int64_t stk_node_end(const struct stk_node *n)
{
    return n->start_ns + n->dur_ns;
}
static inline bool stk_node_is_device(const struct stk_node *n)
{
    return n->kind >= STK_NODE_KERNEL;
}
// For a matrix product's kernel: whether its dimensions are multiples of 8, and its operations, 0
// not known. Both are packed into `size`: two bits, and millions of operations.
static inline enum stk_graph_alignment stk_node_alignment(const struct stk_node *n)
{
    return (enum stk_graph_alignment)(n->size & 3);
}
static inline double stk_node_flops(const struct stk_node *n)
{
    return (double)(n->size >> 2) * 1e6;
}
static inline int32_t stk_graph_clamp(int64_t ns)
{
    return ns > INT32_MAX ? INT32_MAX : ns < INT32_MIN ? INT32_MIN : (int32_t)ns;
}
// The node of a host lane at a time; STK_NONE outside.
uint32_t stk_graph_node_at(const struct stk_graph_build *b, uint16_t lane, int64_t t_ns);

// Do batches come from worker processes, judged by the fetches' names?
bool stk_graph_has_processes(const struct stk_graph_build *b); // graph_input.c
// The step at a host time of the graph.
uint32_t stk_graph_step_at(const struct stk_graph_build *b, int64_t t_ns); // graph_work.c

// Per host node, the work that it launched last, STK_NONE; the caller frees it. NULL: no memory.
uint32_t *stk_graph_launched(const struct stk_node *nodes, size_t count); // graph_waits.c
// graph_ops.c: the operator of a kernel, launched by the event `launch` (STK_NONE). False: no
// memory.
bool stk_graph_op(struct stk_graph_build *b, uint32_t event, uint32_t launch, uint32_t node);
// graph_messages.c: a collective's bytes. False: no memory.
bool stk_graph_message(struct stk_graph_build *b, uint32_t line, const struct stk_device_op *op,
                       uint32_t node);
// graph_shapes.c: `size` of a kernel, by the operator around its launch call.
uint32_t stk_graph_shapes(const struct stk_trace *t, uint32_t launch);
void stk_graph_memory(struct stk_graph_build *b); // graph_memory.c: room for larger batches

// The purpose of a graph.
#define STK_GRAPH_BRIEF_EVENTS 200000 // prices weren't requested
struct stk_graph_wish {
    uint64_t max_events; // of the trace, about
    bool wants_path;     // its critical path, too
    // Called once the time of the graph is known. Returns why it isn't built, or NULL. May be NULL.
    const char *(*refuse)(const struct stk_graph_build *b);
};
STK_MUST_CHECK enum stoker_status stk_graph_make(const struct stk_analysis *a,
                                                 const struct stk_graph_wish *wish,
                                                 struct stk_arena *arena, void **partial,
                                                 struct stoker_err *err); // graph.c

// Each false: no memory.
bool stk_graph_work_ends(struct stk_graph_build *b); // graph_work.c: without a device
bool stk_graph_beside(struct stk_graph_build *b);    // graph_beside.c: the loader's threads
bool stk_graph_hosts(struct stk_graph_build *b);     // graph_host.c
bool stk_graph_devices(struct stk_graph_build *b);   // graph_device.c
bool stk_graph_edges(struct stk_graph_build *b);     // graph_edges.c: calibration, edges of streams
bool stk_graph_waits(struct stk_graph_build *b);     // graph_waits.c: calls that wait
bool stk_graph_first(struct stk_graph_build *b);     // graph_first.c: does the first step count?
bool stk_graph_host_ops(struct stk_graph_build *b);  // graph_host_ops.c: between two copies
bool stk_graph_input(struct stk_graph_build *b);     // graph_input.c: how batches arrive
bool stk_graph_updates(struct stk_graph_build *b);   // graph_updates.c: the optimizer's loops
// critical_tables.c: the critical path of the unchanged graph, as tables of names and as events of
// a step, while the trace exists. Sets g->critical if the graph can be replayed.
bool stk_critical_tables(struct stk_graph_build *b);
