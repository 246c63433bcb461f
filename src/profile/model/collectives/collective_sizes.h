// SPDX-License-Identifier: Apache-2.0
// How many bytes collectives move, among how many ranks, and how many cross each link. Only this
// module knows.
#pragma once

#include "profile/model/analysis.h"
#include "profile/model/collectives/collective_classes.h"
#include "profile/store/words.h"

// Smaller messages don't show a link's rate: they take longer to start than to send.
#define STK_COLLECTIVE_LARGE_BYTES 1000000

// The contents of one row; 0 and STK_NONE: not recorded.
struct stk_collective_said {
    int64_t in, out, element_bytes, bytes, group_size;
    uint32_t collective, group, members; // string ids
};
struct stk_collective_said stk_collective_said_of(const struct stk_trace *t, uint32_t event);
// Bytes of the whole tensor; -1: not known.
int64_t stk_collective_said_bytes(const struct stk_collective_said *s,
                                  enum stk_collective_kind kind);

// The open collective rows of a host thread. Each has the fields of those around it.
#define STK_SAID_DEPTH 64
struct stk_said_stack {
    struct {
        int64_t end_ns;
        struct stk_collective_said said;
    } open[STK_SAID_DEPTH];
    uint32_t depth;
};
// Closes the rows that have ended at that time.
void stk_said_close(struct stk_said_stack *stack, int64_t at_ns);
// Opens a row, and returns its contents.
struct stk_collective_said stk_said_open(struct stk_said_stack *stack, const struct stk_trace *t,
                                         uint32_t event);

// From the names that NCCL, RCCL, oneCCL, XLA and PyTorch use.
enum stk_collective_kind stk_collective_kind_of(const char *name);
// Bytes that cross each link, as a share of the tensor's: 2 (n - 1) / n for an all_reduce.
double stk_collective_bus_factor(enum stk_collective_kind kind, int64_t group_size);

// Size, group and kind of the rank's collectives on devices. NULL: no memory.
struct stk_collective_sizes *stk_collective_sizes_open(struct stk_analysis *a);
void stk_collective_size(struct stk_collective_sizes *s, uint32_t event, struct stk_class_key *key);
void stk_collective_sizes_close(struct stk_collective_sizes *s); // takes NULL
// The class of the collective that begins on a line at that time; NULL: none.
const struct stk_collective_class *stk_collective_of(const struct stk_analysis *a, uint32_t line,
                                                     int64_t start_ns, uint32_t event);
