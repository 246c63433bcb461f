// SPDX-License-Identifier: Apache-2.0
// The hooks' record of a run: a file DIR/steps-PID.rec for each stepping process, written by
// capture/inject/python/_stoker_record.py at least every tenth of a second: however the process
// dies, its steps until then are recorded. Little-endian:
//
//   header  4096 bytes: struct stk_steps_header
//   then    `kept` records of 32 bytes: struct stk_steps_record, in the order of the steps
//
// If the job truncated the file, records may be zero. The header's counts may lag by up to
// STK_STEPS_UNCOUNTED records, as the hooks write them less often than records:
// reading a header counts the records beyond `kept`, and assumes that their overhead equals that of
// the steps before. If a process makes more steps than fit in the file, the header still counts
// them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define STK_STEPS_MAGIC "stkhook1"
#define STK_STEPS_VERSION 1

enum stk_steps_source {
    STK_STEPS_UNKNOWN,
    STK_STEPS_OPTIMIZER,
    STK_STEPS_KERAS,
    STK_STEPS_FETCHES,
    STK_STEPS_CALLS
};
enum stk_window_state { STK_WINDOW_NONE, STK_WINDOW_OPEN, STK_WINDOW_DONE, STK_WINDOW_LEFT };

struct stk_steps_header {
    char magic[8];
    uint32_t version, header_bytes;
    uint64_t pid;
    int64_t rank; // -1: none
    uint64_t count;
    uint64_t own_ns;            // the hooks' own time
    uint64_t wait_ns;           // of all steps
    uint64_t step_ns;           // of all steps
    uint64_t first_ns, last_ns; // on the monotonic clock
    uint64_t kept;              // records in the file
    uint64_t window_first, window_steps;
    uint64_t window_state; // enum stk_window_state
    uint64_t source;       // enum stk_steps_source
    uint8_t has_wait;      // the hooks see fetches
    uint8_t runs_ahead;    // calls only launch work: some steps wait for that of earlier ones
    uint8_t reserved[6];
    char framework[32];
    char hooks[1024];   // names, separated by spaces
    char profile[1024]; // of the window
    char notes[1824];   // sentences, one a line
    char versions[64];  // of the framework
};
_Static_assert(sizeof(struct stk_steps_header) == 4096,
               "the header's fields lie where Python puts them");

enum { STK_STEPS_HEADER_BYTES = 4096, STK_STEPS_UNCOUNTED = 64 };
enum { STK_STEPS_IN_WINDOW = 1, STK_STEPS_TOLD = 2, STK_STEPS_ASIDE = 4 };
struct stk_steps_record {
    uint64_t end_ns, dur_ns, wait_ns;
    uint64_t flags; // IN_WINDOW; TOLD: the profiler started or wrote in this step; ASIDE: other
                    // work in it
};

// Adds times. A damaged record may have any value, so the sum stops at the largest number instead
// of wrapping.
static inline uint64_t stk_steps_add(uint64_t sum_ns, uint64_t more_ns)
{
    return more_ns < UINT64_MAX - sum_ns ? sum_ns + more_ns : UINT64_MAX;
}

// One process.
struct stk_steps {
    struct stk_steps_header head;
    uint64_t median_ns, window_median_ns; // after the warm-up and outside the window; in it. Their
                                          // means, if the loop runs ahead of its work
    uint64_t wait_ns, time_ns;            // of the same steps as median_ns
    uint64_t judged;                      // their number
    bool in_warmup;                       // they are of the warm-up's second half
};

struct stk_steps_of_run {
    struct stk_steps *ranks; // by rank, then by process
    size_t count;
    size_t lead; // the one whose figures represent the run
};

// Reads the folder's records; steps before `warmup` aren't judged if there are others. Damaged
// parts are left out. Free with stk_steps_free.
STK_MUST_CHECK enum stoker_status stk_steps_read(const char *folder, uint64_t warmup,
                                                 struct stk_steps_of_run *out,
                                                 struct stoker_err *err);
// The same for only the first `most` steps of each process.
STK_MUST_CHECK enum stoker_status stk_steps_read_first(const char *folder, uint64_t warmup,
                                                       uint64_t most, struct stk_steps_of_run *out,
                                                       struct stoker_err *err);
// All `head->kept` records of the process with the most steps, perhaps none. Free *records with
// stk_free.
STK_MUST_CHECK enum stoker_status stk_steps_records(const char *folder,
                                                    struct stk_steps_header *head,
                                                    struct stk_steps_record **records,
                                                    struct stoker_err *err);
// The number of steps of the process with the most so far; cheap enough for each tick.
uint64_t stk_steps_made(const char *folder);
void stk_steps_free(struct stk_steps_of_run *run);
// Reads the header of one record, with counts limited to the file's content; the job may still
// write it. False: not a header, or not written yet. errno is left alone unless a call failed.
bool stk_steps_read_head(int fd, struct stk_steps_header *h);
// Whether every training process has finished its window; cheap enough for each tick.
bool stk_steps_window_is_over(const char *folder);
// The same, and at least one has recorded it: failed windows count as finished.
bool stk_steps_window_is_recorded(const char *folder);
