// SPDX-License-Identifier: Apache-2.0
// The data behind the tables: the traces of all ranks, and the facts of each track. An event's id
// is the index of its trace * 2^32 + its index; tracks are numbered alike.
#pragma once

#include "base/arena.h"
#include "profile/model/device/kernel_names.h"
#include "answers/query/query.h"

#define STK_QUERY_TRACES_MAX 4096 // so that ids stay below 2^53, exact in JSON

// Times of steps on one device or one rank's host; disjoint, by start; trace's time.
struct stk_query_steps {
    struct stk_query_step {
        int64_t start_ns, end_ns, number;
    } *v;
    uint32_t count;
};

struct stk_query_track {
    bool taken;                          // its process is selected
    int32_t rank;                        // -1 unknown
    uint32_t owner;                      // index of the rank, STK_NONE
    const char *device;                  // "rank/number"; NULL on the host
    const struct stk_query_steps *steps; // NULL: none
};

struct stk_query_trace {
    const struct stk_trace *t;
    int64_t shift_ns;
    uint32_t rank; // index of the first rank with this trace
    struct stk_query_track *tracks;
    uint32_t *parents;                // per event, made at first use
    int64_t *block_ends;              // latest end of each block of events, made at first use
    struct stk_kernel_traits *traits; // per string, made at first use
    uint8_t *traits_known;
    bool *failed; // the query's
};
#define STK_QUERY_BLOCK 256

struct stk_query_db; // sql_open.c

struct stk_query {
    struct stk_query_source source;
    struct stk_arena arena;
    struct stk_query_trace *traces;
    uint32_t trace_count;
    uint64_t event_count;
    bool failed;    // no memory for a lazy column: a returned value is wrong
    bool is_thawed; // the traces are its own (query_frozen.h), and it takes no SQL
    struct stk_query_db *db;
};

static inline int64_t stk_query_id(uint32_t trace, uint32_t index)
{
    return (int64_t)trace << 32 | index;
}
// NULL: no such trace.
static inline struct stk_query_trace *stk_query_trace_of(const struct stk_query *q, int64_t id)
{
    return id >= 0 && id >> 32 < q->trace_count ? &q->traces[id >> 32] : NULL;
}
// Index of the step that contains the time, or STK_NONE.
uint32_t stk_query_step_at(const struct stk_query_steps *steps, int64_t t_ns);

// Fill traces and tracks.
STK_MUST_CHECK enum stoker_status stk_query_source_make(struct stk_query *q,
                                                        struct stoker_err *err);
void stk_query_source_free(struct stk_query *q);
// The lazy ones; NULL: no memory.
const uint32_t *stk_query_parents(struct stk_query_trace *x);
const int64_t *stk_query_block_ends(struct stk_query_trace *x);
struct stk_kernel_traits stk_query_traits(struct stk_query_trace *x, uint32_t name);
