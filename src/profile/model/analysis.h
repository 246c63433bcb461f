// SPDX-License-Identifier: Apache-2.0
// Internal to model/: what the steps of summarizing one rank share. Everything here lives in the
// scratch arena or is freed by stk_analysis_deinit; only `sum` outlives the analysis.
//
//   device/   time line, windows and parts of each device; what names and data sheets say about it
//   steps/    where steps begin and end, and which are used
//   threads/  what each host thread did, and was inside of
//   input/    stages of the input pipeline
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "profile/model/intervals.h"
#include "profile/model/summary.h"

#define STK_US 1000
#define STK_MS 1000000
// At most one operation in this many turns a batch into tensors. The model takes far more.
#define STK_BATCH_OPS_FEW 4

// Parts that are busy time come first in parts.def, in the order in which they claim time.
// STK_PART_COLLECTIVE_WAIT is among them and never assigned to a device operation here.
#define STK_BUSY_PARTS (STK_PART_D2D + 1)

// Classes of names that only the model needs, in the bits that profile/store/names.h leaves free.
#define STK_NAME_PJIT (1u << 31)        // call of a jitted function: PjitFunction(f)
#define STK_NAME_GET_NEXT (1u << 30)    // IteratorGetNext*: runs on any thread of TensorFlow
#define STK_NAME_LOADER_NEXT (1u << 29) // enumerate(DataLoader)#...: in the training thread
#define STK_NAME_PY_NEXT (1u << 26)   // Python's next(): a fetch only where nothing better is known
#define STK_NAME_ITER_NEXT (1u << 28) // an iterator that records its __next__ (Grain, DALI)
#define STK_NAME_FUNCTION (1u << 27)  // TensorFlow calls a function of the user's

// One device operation, clipped to the selection.
struct stk_device_op {
    int64_t start_ns, end_ns;
    uint32_t event;
    uint8_t part; // enum stk_part: what it is while it runs
};

// Time line of one device: all its streams together.
struct stk_device_line {
    uint32_t device;         // index into the trace's devices
    const uint32_t *streams; // its tracks with operations
    uint32_t stream_count;
    struct stk_device_op *ops; // by start, longest first
    uint32_t op_count;
    struct stk_spans busy;
    int64_t *busy_sums;                       // for stk_spans_measure
    struct stk_spans exposed[STK_BUSY_PARTS]; // disjoint; their union is `busy`
    uint64_t linked;
    uint64_t queued;       // operations that were launched before the recording began
    int64_t queued_end_ns; // of the last of them; INT64_MIN without any
    struct stk_span hole;  // time before the first operation that belongs to no step; often empty
};

// A step as the host sees it. Inferred steps without launch links have device times instead.
struct stk_host_step {
    int64_t number;
    int64_t start_ns, end_ns; // end: start of the next, the last one's own end
    uint32_t mark;            // event that marks it, STK_NONE
    uint32_t line;            // the one device it belongs to (a->steps_per_device), else unused
    const char *excluded;     // why it is not used, or NULL
    bool is_warm_up;          // one of the first two, left out because it is long
    const char *long_why;     // why a step that is used is long, "" unknown; NULL: it isn't long
};

// A step's time on one device, or on the host where there is no device.
struct stk_window {
    int64_t start_ns, end_ns;
    uint32_t step; // index into host steps, STK_NONE for a span
    uint32_t row;  // index into sum->steps, STK_NONE for a span
    bool used;
};

// Disjoint pieces of host time with the event that fills each.
struct stk_mark {
    int64_t start_ns, end_ns;
    uint32_t event;
};
struct stk_marks {
    struct stk_mark *v;
    size_t count;
};

// A call in which a thread waits for device work (synchronisation, blocking copy).
struct stk_blocking_call {
    int64_t start_ns, end_ns;
    int64_t reach_ns; // latest end of this call and of those before it on its thread
    uint32_t event, thread;
};

// Per track of the trace; meaningful for host threads of the rank (their first row).
struct stk_thread_info {
    uint32_t root;     // the track itself, or the one it is a sub-row of
    uint32_t next_row; // next sub-row of the same thread, STK_NONE
    bool in_rank;      // a host thread of a process of this rank
    bool launches;     // holds launch calls of device work
    bool is_loader;    // belongs to the input pipeline
    bool is_driver;    // holds the marks of steps
    bool
        has_users_code; // functions or ranges of the user's run on it (profile/model/idle/owners.h)
    int64_t first_ns, last_ns;
    uint32_t first_call, call_count; // into `calls`
};

// A piece of a gap between device operations, and the part that it was assigned to.
struct stk_gap_piece {
    int64_t start_ns, end_ns;
    uint32_t line;          // index into sum->devices
    uint32_t event, around; // what fills it, and the operator around that; STK_NONE
    uint8_t part;           // enum stk_part
};

// One worker's results for a device's gaps.
struct stk_gaps_out {
    struct stk_causes *causes;     // where the pieces go
    struct stk_spans compile_idle; // as in struct stk_analysis, of this device
    struct stk_vec pieces;         // struct stk_gap_piece, if they are kept
};

struct stk_analysis {
    const struct stk_trace *t;
    int worker_count;    // threads that may work on it
    bool has_users_code; // any thread has
    const struct stk_select *select;
    struct stk_arena *out;    // results
    struct stk_arena scratch; // temporaries of this rank
    const uint32_t *classes;  // name classes per string id, shared by all ranks
    const uint8_t *signs;     // stk_signs_classify
    const uint8_t *in_rank;   // per process
    struct stk_rank_sum *sum;
    int64_t from_ns, to_ns;        // selection, or everything
    int64_t whole_until_ns;        // rows may be missing from here on; INT64_MAX: none that matter
    struct stk_device_line *lines; // parallel to sum->devices
    struct stk_thread_info *threads;
    struct stk_blocking_call *calls;
    uint32_t call_count;
    struct stk_marks fetches, compiles, overheads, host_collectives;
    uint32_t *collective_events; // parallel to sum->collectives
    struct stk_marks nexts;      // Python's next(), where nothing of the model runs inside
    struct stk_marks waits;      // outermost events in which a thread is blocked, by track and time
    struct stk_marks lets_go;    // events that end a wait of another thread, by track and time
    struct stk_marks step_events; // by track and time: what may mark steps
    uint32_t driver;              // track of the thread that drives the steps, STK_NONE
    struct stk_host_step *steps;
    uint32_t step_count;
    bool steps_on_device;          // times of steps are device times (inferred, no links)
    bool steps_per_device;         // each device has steps of its own, in the order of the devices
    struct stk_causes *causes;     // of the host's steps where they are analyzed
    struct stk_causes *evidence;   // of all
    struct stk_spans compile_idle; // gaps judged compile; in no order until the facts are made
    bool keeps_gaps;               // an analysis asked for them
    struct stk_vec gaps;           // struct stk_gap_piece, by device and time
    bool keeps_ribbon;             // an analysis also asked for what the host does
    struct stk_vec host_pieces;    // struct stk_gap_piece of the host's steps, by time
};

// Name classes of an event.
static inline uint32_t stk_class_of(const struct stk_analysis *a, uint32_t event)
{
    return a->classes[a->t->name[event]];
}
// A step marker says that a step is running, not what it does.
static inline bool stk_is_step_mark(const struct stk_analysis *a, uint32_t event)
{
    const struct stk_ext *x = stk_ext_of(a->t, event);
    return (stk_class_of(a, event) & STK_NAME_STEP) || (x && (x->flags & STK_EXT_STEP));
}
// The call that launched a device operation, STK_NONE if not recorded.
static inline uint32_t stk_launch_of(const struct stk_analysis *a, uint32_t event)
{
    return stk_link_of(a->t, event);
}
// Track of an event, sub-rows resolved to their thread.
static inline uint32_t stk_thread_of(const struct stk_analysis *a, uint32_t event)
{
    uint32_t track = stk_track_of(a->t, event);
    return track == STK_NONE ? STK_NONE : a->threads[track].root;
}
void stk_analysis_deinit(struct stk_analysis *a);

// device_timeline.c: time lines and sums of all devices of the rank; which are analyzed. Scans the
// host in parallel (stk_host_scan).
STK_MUST_CHECK enum stoker_status stk_lines_build(struct stk_analysis *a, struct stoker_err *err);
// The operation that starts at `t`: the longest, one with a launch row if there is a choice; NULL.
// `at` is a cursor that only goes forward, 0 at first.
const struct stk_device_op *stk_line_op_at(const struct stk_analysis *a,
                                           const struct stk_device_line *line, uint32_t *at,
                                           int64_t t_ns);
// collective_list.c
STK_MUST_CHECK enum stoker_status stk_collectives_list(struct stk_analysis *a,
                                                       struct stoker_err *err);
// host_scan.c: threads, blocking calls, fetches, compilation, overhead, facts of the host.
STK_MUST_CHECK enum stoker_status stk_host_scan(struct stk_analysis *a, struct stoker_err *err);
// Sort marks and make them disjoint: the one that starts first (ties: the longest) keeps its time.
void stk_marks_flatten(struct stk_marks *m);
// preparation.c: drops marks of functions that are named after preparing data and do not feed the
// step. Called once the steps are known. False: no memory.
bool stk_preparation_check(struct stk_analysis *a);
// block_end.c: waits of the training thread that end when another thread has prepared data become
// fetches. Called once the driver is known. False: no memory.
bool stk_block_ends_find(struct stk_analysis *a);
// eager_next.c: without a device, the fetches of a loop over a TensorFlow dataset become whole
// next() calls. Called once the fetches are known.
void stk_eager_nexts_widen(struct stk_analysis *a);
// eager_rounds.c: iterations of a Python loop that calls TensorFlow operations one by one. False:
// no memory.
bool stk_eager_rounds_count(struct stk_analysis *a);
// eager_work.c: how long such operations would take in one graph. False: no memory.
bool stk_eager_work_find(struct stk_analysis *a);
// copied_batch.c: batches that operators on the host make right before the copy to the device
// become fetches. Called once the other fetches are known. False: no memory.
bool stk_copied_batches_find(struct stk_analysis *a);
// fetch_calls.c: the training thread's calls in its fetches. Called once these are known. False: no
// memory.
bool stk_fetch_calls_count(struct stk_analysis *a);
// first_use.c: adds to the compile marks the calls that are slow because they are the first.
STK_MUST_CHECK enum stoker_status stk_first_use_find(struct stk_analysis *a,
                                                     struct stoker_err *err);
// steps.c: host steps by marker or framework; period.c: inferred from the device operations.
STK_MUST_CHECK enum stoker_status stk_steps_find(struct stk_analysis *a, struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_steps_infer(struct stk_analysis *a, struct stoker_err *err);
// steps_derived.c: steps that the profiler derived for each device (XPlane's line "Steps").
STK_MUST_CHECK enum stoker_status stk_steps_from_derived(struct stk_analysis *a,
                                                         struct stoker_err *err);
// training.c: whether operators are recorded, and whether they train.
void stk_training_find(struct stk_analysis *a);
// cut.c: a->whole_until_ns. Called once the lines are built. False: no memory.
bool stk_cut_find(struct stk_analysis *a);
// exclude.c: decide which steps are not used, by their lengths. False: no memory.
bool stk_steps_exclude(struct stk_analysis *a, const int64_t *length_ns);
// step_excess.c: names what makes the excluded first step long, and the longest used step. False:
// no memory.
bool stk_long_steps_name(struct stk_analysis *a);
// windows.c: a window per step on one device; `windows` has step_count (or 1) entries.
// False: no memory.
bool stk_windows_place(struct stk_analysis *a, uint32_t line, struct stk_window *windows,
                       uint32_t *count);
// True if the copy call returned only after its copy was done: it held its thread.
bool stk_copy_call_blocked(const struct stk_trace *t, uint32_t event);
// device_steps.c: the time of every analyzed device, step by step.
STK_MUST_CHECK enum stoker_status stk_devices_attribute(struct stk_analysis *a,
                                                        struct stoker_err *err);
// Rows of the steps for one device (STK_NONE: the host), and the check that their parts sum up.
void stk_step_rows_make(struct stk_analysis *a, uint32_t device, struct stk_window *windows,
                        uint32_t count);
STK_MUST_CHECK enum stoker_status stk_step_rows_check(const struct stk_analysis *a, uint32_t first,
                                                      uint32_t end, struct stoker_err *err);
// idle_cause.c: every gap of one device inside the windows gets its parts. Changes only *out, so
// that devices, and shares of one device's gaps, can be processed in parallel: this is share number
// `share` of `shares`, in time order. False: no memory.
bool stk_gaps_attribute(const struct stk_analysis *a, uint32_t line, int64_t from_ns, int64_t to_ns,
                        uint32_t share, uint32_t shares, struct stk_gaps_out *out);
// host_steps.c: parts of host steps in a profile without a device.
STK_MUST_CHECK enum stoker_status stk_host_steps_attribute(struct stk_analysis *a,
                                                           struct stk_window *windows,
                                                           uint32_t count, struct stoker_err *err);
// host_collectives.c: the host's collectives, from the set of time assigned to communication.
// False: no memory.
bool stk_host_collectives_list(struct stk_analysis *a, const struct stk_spans *communication);
// recompiled.c: which functions were compiled, and how often after `settled_ns`. False: no memory.
bool stk_recompiled_find(struct stk_analysis *a, int64_t settled_ns);
// kernel_work.c: facts.kernels. False: no memory.
bool stk_kernel_work_find(struct stk_analysis *a);
// recompiled_why.c: how its compiled programs differ. False: no memory.
bool stk_recompiled_explain(struct stk_analysis *a, struct stk_recompiled *r);
// facts.c
STK_MUST_CHECK enum stoker_status stk_facts_collect(struct stk_analysis *a, struct stoker_err *err);
