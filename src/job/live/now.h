// SPDX-License-Identifier: Apache-2.0
// A running job at one moment: figures of the last seconds, and a sentence on what limits it.
// Rebuilt at each refresh, in its own arena.
#pragma once

#include "base/arena.h"
#include "base/sink.h"
#include "job/live/live_record.h"
#include "job/live/live_steps.h"
#include "job/live/target.h"
#include "stoker/live.h"

enum { STK_NOW_FINDINGS = 8 };
struct stk_now_finding {
    const char *id, *title, *severity, *text; // text: its first evidence
    bool is_special;                          // the title isn't the rule's usual one
};
struct stk_now {
    const struct stk_live_target *target;
    const struct stk_live_record *record; // or NULL
    const struct stk_live_steps *steps;   // NULL: not a run's folder
    const struct stk_live_rank *lead;     // NULL: no stepping process (yet)
    const struct stk_machine_view *view;  // NULL: nothing sampled yet
    pid_t root;                           // of the job's processes; 0: unknown
    int64_t time_ns;                      // since 1970
    bool is_own_sampler, has_ended;
    double silent_s; // since the record last grew, if too long; else 0
    const char *sentence;
    struct stk_now_finding findings[STK_NOW_FINDINGS];
    size_t finding_count;
};

// Asks the rules what limits the job; fills sentence and findings. False: no memory.
bool stk_now_judge(struct stk_now *now, struct stk_arena *arena);

// An active thread of a process.
struct stk_now_thread {
    int64_t tid;
    const char *name;
    double cpu, queue;
    bool is_blocked; // was seen waiting for a disk (uninterruptible)
};
// The busiest threads of a process, at most `most`, busiest first; returns their number.
size_t stk_now_threads(const struct stk_now *now, int64_t pid, struct stk_now_thread *out,
                       size_t most);
// The mean of a counter of the job, a process (number 0), disk or GPU over these seconds; false:
// unknown.
bool stk_now_figure(const struct stk_now *now, enum stk_sampled sample, int64_t process,
                    int64_t number, double *value);
// Why a GPU's clocks are low, from NVML's bits: "power cap", "heat"; "": nothing of note.
const char *stk_now_clock_reason(uint64_t bits);

void stk_now_json(const struct stk_now *now, struct stk_sink *to);
void stk_now_metrics(const struct stk_now *now, struct stk_sink *to);
void stk_now_text(const struct stk_now *now, const struct stoker_live_write_options *how,
                  struct stk_sink *to);
void stk_now_line(const struct stk_now *now, const struct stoker_live_write_options *how,
                  struct stk_sink *to);
