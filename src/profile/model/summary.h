// SPDX-License-Identifier: Apache-2.0
// The facts derived once from a trace, for every analysis and rule: devices, steps, parts and their
// causes. One summary per rank is small (no events) and outlives its trace; merging the summaries
// of all ranks gives the run. Times are ns in the trace's own time; base_ns adds the file's clock.
// Structs that are summed over ranks have their members in summed.def.
#pragma once

#include "base/arena.h"
#include "profile/model/signs.h"
#include "profile/store/names.h"
#include "profile/store/trace.h"

struct stk_machine_view; // profile/model/machine/machine.h

enum stk_part {
#define P(id, key, group, label, phrase, meaning) STK_PART_##id,
#include "profile/model/parts.def"
#undef P
    STK_PART_COUNT
};
enum stk_group {
    STK_GROUP_COMPUTE,
    STK_GROUP_INPUT,
    STK_GROUP_HOST,
    STK_GROUP_SYNC,
    STK_GROUP_TRANSFER,
    STK_GROUP_COMMUNICATION,
    STK_GROUP_COLD,
    STK_GROUP_UNKNOWN,
    STK_GROUP_COUNT
};
struct stk_part_info {
    const char *key, *label, *phrase, *meaning;
    enum stk_group group;
};
const struct stk_part_info *stk_part_info(enum stk_part part);

// What the user selected. Zero-initialised means everything.
struct stk_select {
    bool has_steps, has_rank, has_device, has_from, has_to;
    int64_t step_first, step_last; // inclusive, numbers as in the profile
    int32_t rank;
    int64_t device;         // ordinal
    int64_t from_ns, to_ns; // since the profile's first event
};

// Rows of tables of sums declare their members.
#define BEGIN(tag) struct tag {
#define END(tag)                                                                                   \
    }                                                                                              \
    ;
#define MEMBER(operator, type, name) type name;
#define ARRAY(operator, type, name, count) type name[count];
#define FOLLOW(type, name, operator, leader) type name;
#define FOLLOWS(type, name, count, operator, leader) type name[count];
#define STRUCT(tag, name) struct tag name;
#define STRUCTS(tag, name, count) struct tag name[count];
#define LIST(tag, name, count) struct tag name[count];

// Up to this many examples and names are kept per cause.
#define STK_CAUSE_EXAMPLES 5
#define STK_CAUSE_NAMES 8
#define STK_CAUSE_OWNERS 4
struct stk_example {
    int64_t start_ns, dur_ns;
    const char *name;  // the host event that fills it, or the device operation; "" unknown
    const char *track; // "thread 1890023232", "GPU 0 stream 7"
    int64_t step;      // number, -1 outside any
};
struct stk_cause_name {
    const char *name;
    int64_t ns;
    uint32_t count;
};
// Owners are sorted by this. The loop itself, called once, gets half weight, because the functions
// it calls each time are more specific.
static inline int64_t stk_owner_weight(int64_t ns, uint32_t count)
{
    return count == 1 ? ns / 2 : ns;
}
// Evidence for one part, over the used steps of one rank (merged: of all).
struct stk_cause {
#include "profile/model/cause.def"
    struct stk_cause_name names[STK_CAUSE_NAMES]; // by ns, largest first
    int name_count;
    struct stk_example examples[STK_CAUSE_EXAMPLES]; // longest first
    int example_count;
    // The user's own functions and ranges that it falls in, the innermost at each moment, by
    // weight; count: their calls. Only if Python or the user's ranges were recorded.
    struct stk_cause_name owners[STK_CAUSE_OWNERS];
    int owner_count;
};

// The stage of the input pipeline that keeps the others waiting
// (profile/model/input/input_stages.h), on a rank that waits for its input.
struct stk_slow_stage {
    const char *stage;   // its name; NULL: none is known
    const char *kind;    // stk_input_kind_key
    bool is_pipeline;    // of tf.data
    bool is_async;       // it has workers of its own
    bool is_fetch;       // the fetch itself: its work isn't recorded
    bool is_buffered;    // tf.data hands batches over through a buffer (prefetch)
    bool is_taken_apart; // batches are split before it (unbatch), on its thread
    bool is_windowed;    // a separate data set for each window of data in memory
    int64_t self_ns, elements, parallelism; // parallelism 0, elements -1: not known
    double share;                           // of the work of all stages
    const char *next, *next_kind; // another stage of the same thread with about as much work; NULL
    bool next_is_beside;          // it runs on other threads, with more total work
};

struct stk_device_sum {
    const char *id;        // "rank/ordinal"
    const char *source_id; // the file's id
    const char *name;      // "" unknown
    const char *host;
    enum stk_device_kind kind;
    int32_t rank; // -1 unknown is shown as 0
    int64_t ordinal;
    int64_t first_ns, span_ns, busy_ns, idle_ns;
    int64_t kernel_ns, compute_ns, communication_ns, communication_exposed_ns;
    int64_t h2d_ns, d2h_ns, d2d_ns, p2p_ns, transfer_exposed_ns;
    uint64_t kernels, short_kernels, copies, memsets, linked_ops, ops;
    bool analysed;                 // took part in the breakdown
    const char *left_out;          // why not, or NULL
    int64_t parts[STK_PART_COUNT]; // over its used steps (or its span)
    int64_t wall_ns;               // == sum of parts, asserted
};

enum stk_step_source {
    STK_STEPS_NONE,
    STK_STEPS_ANNOTATED,
    STK_STEPS_FRAMEWORK,
    STK_STEPS_INFERRED
};

#define STK_EXCLUDED_UNSELECTED "not selected" // excluded by --steps: not a row of the report
#define STK_EXCLUDED_CUT "the file is truncated: rows of this step may be missing"
struct stk_step {
    int64_t number; // as marked, else counted from 0
    int32_t rank;
    uint32_t device;                    // index into devices; STK_NONE for host steps
    int64_t start_ns, dur_ns;           // window (on the device, or the host without one)
    int64_t host_start_ns, host_dur_ns; // -1, -1 where there is no host step
    int64_t parts[STK_PART_COUNT];      // sum == dur_ns, asserted
    const char *excluded;               // why it is not used, or NULL
    bool is_warm_up;                    // one of the first two, left out because it is long
    const char *long_why; // why a step that is used is long, "" unknown; NULL: it isn't long
};

// The common properties of a rank's collectives. Those of a series are matched with other ranks' by
// ordinal: the k-th of its name in its group, on its device.
struct stk_collective_class {
    const char *name;
    const char *group;     // name of the process group, NULL not known
    int64_t bytes;         // of the whole tensor, -1 not known
    int64_t group_size;    // 0 not known
    uint64_t members_hash; // of the list of ranks, also if only the launch has it; 0 not known
    uint32_t series;       // index into the rank's series
    uint32_t device;       // index into devices, STK_NONE on the host
    uint8_t kind;          // enum stk_collective_kind: as recorded, else by the name
};

// One collective over all its ranks, once they are matched.
struct stk_meeting {
    int64_t shortest_ns; // of the ranks' durations: a rank waits for what it takes longer
    int64_t typical_ns;  // their upper median: a rank with less came late
    uint32_t last_rank,
        brief_rank; // index of the rank that began last, and of the one with the shortest duration
};

struct stk_collective_series {
    uint64_t name_hash;
    uint64_t group_hash; // of the list of participating ranks; 0: not recorded, so all of them
    uint32_t device, count;
    const struct stk_meeting *meetings; // `count` of them; NULL: not matched
};

// One collective of a rank. A job has millions, all in memory: 32 bytes each. Times end at 39
// hours.
#define STK_COLLECTIVE_NS_MAX (((int64_t)1 << 47) - 1)
struct stk_collective {
    int64_t start_ns; // in absolute file time (base added)
    int64_t dur_ns : 48;
    uint64_t class_high : 16;
    int64_t exposed_ns : 48; // not overlapped with compute of its device
    uint64_t class_low : 16;
    uint32_t step;    // index into steps, STK_NONE outside
    uint32_t ordinal; // in its series
};
_Static_assert(sizeof(struct stk_collective) == 32,
               "docs/cluster.md promises how much memory a merge takes");

#define STK_WHAT_SHUFFLE "a shuffle buffer that fills" // a cause of a long step

// An argument that differs between the compiled programs of a function.
#define STK_CHANGED_TYPES 3
struct stk_changed {
    const char *name;                     // "x", "argument 7"; NULL: no more
    const char *types[STK_CHANGED_TYPES]; // "f32[8,82,64]"; the first ones
    uint32_t type_count;                  // of all programs
};

// A function that was traced or compiled: the number of such calls, of those after the first two
// steps, and the time. If the profile has its compiled programs, also how they differ.
#define STK_RECOMPILED 3
#define STK_CHANGED 2
struct stk_recompiled {
    const char *name;     // NULL: no more
    const char *function; // "train_step" of JAX's call "PjitFunction(train_step)"; else NULL
    uint32_t count, later;
    int64_t ns;
    uint32_t programs;                       // compared; 0: fewer than two are known
    bool takes_differ;                       // they take different numbers of arrays
    uint32_t changed_count;                  // arguments of another type or shape in some of them
    struct stk_changed changed[STK_CHANGED]; // those with the most types
};

// Kernels whose names show what could be better.
enum stk_kernel_kind {
    STK_KERNEL_PLAIN,   // a matrix product or convolution that leaves tensor cores unused
    STK_KERNEL_CHAINED, // elementwise, one of several in a row on a stream
    STK_KERNEL_LAYOUT,  // changes the layout of a tensor
    STK_KERNEL_LOW,     // a matrix product or convolution on tensor cores, of 16 bits or fewer
    STK_KERNEL_KINDS
};
#include "profile/model/summed.def"

struct stk_rank_sum {
    int32_t rank;       // -1 unknown
    int32_t world_size; // -1 unknown
    const char *host;
    int64_t base_ns;
    struct stk_device_sum *devices;
    uint32_t device_count;
#include "profile/model/step_source.def"
    struct stk_step *steps; // a row per step and analyzed device, or per host step without a device
    uint32_t step_count;
    struct stk_collective *collectives, *host_collectives; // host: of a rank without a device
    uint32_t collective_count, host_collective_count;
    struct stk_collective_class *collective_classes;
    struct stk_collective_series *collective_series;
    uint32_t collective_class_count, collective_series_count;
    struct stk_cause causes[STK_PART_COUNT];
    struct stk_facts facts;
    struct stk_slow_stage slow_stage;
    bool host_scope;        // judged on host steps: no device in the profile
    int64_t cold_ns;        // the time that counts as cold start: see verdict
    void *partial;          // an analysis' data of this rank (profile/model/view.h), or NULL
    const uint8_t *in_rank; // per process of the trace: it belongs to this rank
    uint32_t devices_left_out, steps_left_out; // beyond those analyzed step by step
};

// Everything about the run, ranks merged. Arrays are concatenated over ranks (device indices
// adjusted), so report and rules don't have to handle ranks.
enum stk_scope { STK_SCOPE_STEPS, STK_SCOPE_SPAN, STK_SCOPE_HOST };
struct stk_straggler {
    bool fired;
    int32_t rank; // the late rank: the latest of late_ranks
    uint32_t late_count;
    const uint32_t *late_ranks; // indices of all late ranks, latest first
    int64_t wait_ns;            // sum of waits over the other ranks
    double wait_share;          // of the longest device span, per waiting rank
    double held_share;          // share of the waiting held by those ranks
    int64_t late_ns;     // how much later the latest rank comes than the typical one, in total
    uint32_t late_steps; // used steps with such lateness; 0: the profile has no steps
    double late_first;   // the share of that at the first collective of a step; -1
                         // where steps have fewer than two
    double
        recurring_share; // the smallest share of a late rank's lateness outside of its worst step
    uint32_t matched, last_count;
    bool clocks_agree; // ends of matched collectives agree: a rank may be named
};
struct stk_run_sum {
    struct stk_rank_sum **ranks; // rank_count, then again_count records of the same ranks' input
    uint32_t rank_count, again_count;
    struct stk_device_sum *devices;
    uint32_t device_count;
    struct stk_step *steps;
    uint32_t step_count;
#include "profile/model/step_source.def"
    uint32_t steps_used; // of the rank with the most
    enum stk_scope scope;
    int64_t parts[STK_PART_COUNT], wall_ns;            // sum == wall, asserted
    uint32_t median_step;                              // index into steps, STK_NONE
    int64_t step_median_ns, step_mean_ns, step_p95_ns; // of used steps; -1 none
    struct stk_cause causes[STK_PART_COUNT];
    struct stk_facts facts;           // summed or maximised over ranks
    struct stk_slow_stage slow_stage; // of the rank that waits most
    struct stk_worker_sum workers;    // of records that belong to the run; set by their reader
    const struct stk_machine_view *machine; // the machine's record; NULL: none; set like `workers`
    struct stk_straggler straggler;
    const int64_t
        *clock_ns; // per rank: its clock minus the median rank's; see collectives/rank_clocks.h
    uint64_t rank_events_unequal; // collectives left out because their counts differ between ranks
};

#undef BEGIN
#undef END
#undef MEMBER
#undef ARRAY
#undef FOLLOW
#undef FOLLOWS
#undef STRUCT
#undef STRUCTS
#undef LIST

static inline uint32_t stk_collective_class_index(const struct stk_collective *c)
{
    return (uint32_t)c->class_high << 16 | (uint32_t)c->class_low;
}
static inline void stk_collective_set_class(struct stk_collective *c, uint32_t index)
{
    c->class_high = index >> 16;
    c->class_low = index & 0xffff;
}
static inline const struct stk_collective_class *
stk_collective_class_of(const struct stk_rank_sum *rank, const struct stk_collective *c)
{
    return &rank->collective_classes[stk_collective_class_index(c)];
}
// NULL: it is not matched.
static inline const struct stk_meeting *stk_meeting_of(const struct stk_rank_sum *rank,
                                                       const struct stk_collective *c)
{
    const struct stk_collective_series *s =
        &rank->collective_series[stk_collective_class_of(rank, c)->series];
    return s->meetings ? &s->meetings[c->ordinal] : NULL;
}
// How long a rank waits in a collective for the last of the others; 0 if it isn't matched.
static inline int64_t stk_collective_wait_ns(const struct stk_rank_sum *rank,
                                             const struct stk_collective *c)
{
    const struct stk_meeting *m = stk_meeting_of(rank, c);
    return m ? c->dur_ns - m->shortest_ns : 0;
}

// The share of the breakdown in which ranks wait for each other.
static inline double stk_straggler_share(const struct stk_run_sum *run)
{
    int64_t wait_ns = run->parts[STK_PART_COLLECTIVE_WAIT];
    return wait_ns > 0 ? (double)wait_ns / (double)run->wall_ns : run->straggler.wait_share;
}

// Are the steps' fetches known? Either the profile has them, or the hooks, which see every loader,
// found none.
static inline bool stk_knows_fetches(const struct stk_facts *f)
{
    return f->has_fetches || (f->told[STK_TOLD_LINE] && !f->told[STK_TOLD_LOOP]);
}

// Evaluation's share of the steps' time: over the whole run if the hooks recorded how often it
// evaluates, else over the used steps.
static inline double stk_evaluation_share(const struct stk_run_sum *run)
{
    const struct stk_facts *f = &run->facts;
    if (f->told_numbers[STK_TOLD_EVALUATION_EVERY] > 0) {
        return f->told_permille[STK_TOLD_EVALUATION] / 1000.0;
    }
    return f->evaluation_ns < f->evaluation_of_ns
               ? (double)f->evaluation_ns / (double)f->evaluation_of_ns
               : f->evaluation_of_ns > 0;
}

// Summaries of the ranks in one trace (usually one), allocated in `arena`, which must outlive them.
STK_MUST_CHECK enum stoker_status stk_model_summarize(const struct stk_trace *t,
                                                      const struct stk_select *select,
                                                      struct stk_arena *arena,
                                                      struct stk_rank_sum ***ranks, uint32_t *count,
                                                      struct stoker_err *err);
// Merge: collective waits are taken out of exposed communication, totals and medians computed.
STK_MUST_CHECK enum stoker_status stk_model_merge(struct stk_rank_sum *const *ranks, uint32_t count,
                                                  struct stk_arena *arena, struct stk_run_sum **out,
                                                  struct stoker_err *err);
