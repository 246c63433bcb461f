// SPDX-License-Identifier: Apache-2.0
// A running job at one moment: figures of the last seconds, and the sentence that says what limits
// it. Rebuilt at each refresh, in its own arena.
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
    bool is_special;                          // the title is not the rule's usual one
};
struct stk_now {
    const struct stk_live_target *target;
    const struct stk_live_record *record; // or NULL
    const struct stk_live_steps *steps;   // NULL: no folder of a run
    const struct stk_live_rank *lead;     // NULL: no process steps (yet)
    const struct stk_machine_view *view;  // NULL: nothing was sampled yet
    pid_t root;                           // of the job's processes; 0: not known
    int64_t time_ns;                      // since 1970
    bool is_own_sampler, has_ended;
    double silent_s; // since the record grew last, where that is longer than it should be; else 0
    const char *sentence;
    struct stk_now_finding findings[STK_NOW_FINDINGS];
    size_t finding_count;
};

// Asks the rules, and says what holds the job; fills sentence and findings. False: no memory.
bool stk_now_judge(struct stk_now *now, struct stk_arena *arena);

// A thread of a process that did something in the time.
struct stk_now_thread {
    int64_t tid;
    const char *name;
    double cpu, queue;
    bool is_blocked; // seen waiting for a disk, uninterruptibly
};
// The busiest threads of a process, busiest first; returns how many of `most`.
size_t stk_now_threads(const struct stk_now *now, int64_t pid, struct stk_now_thread *out,
                       size_t most);
// Mean of a counter of the job, a process (number 0), disk or GPU over the time; false: not known.
bool stk_now_figure(const struct stk_now *now, enum stk_sampled sample, int64_t process,
                    int64_t number, double *value);
// Why a GPU's clocks are low, from NVML's bits: "power cap", "heat"; "" nothing of note.
const char *stk_now_clock_reason(uint64_t bits);

void stk_now_json(const struct stk_now *now, struct stk_sink *to);
void stk_now_metrics(const struct stk_now *now, struct stk_sink *to);
void stk_now_text(const struct stk_now *now, const struct stoker_live_write_options *how,
                  struct stk_sink *to);
void stk_now_line(const struct stk_now *now, const struct stoker_live_write_options *how,
                  struct stk_sink *to);
