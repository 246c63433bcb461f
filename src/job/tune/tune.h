// SPDX-License-Identifier: Apache-2.0
// `stoker tune`: the fixes that make a job faster, found by trying them on the job as it is.
//
// Once the job runs under the hooks with a window of the framework's own profiler; the report of
// that window and the prices of the what-ifs say what each fix could save at most, and in this
// order they are tried; what promises little after two pairs has its turn behind the others. A fix
// is tried in pairs of fresh, bounded, unprofiled runs, with it and without it, on top of what was
// kept before (greedy); what was kept is proved once more against the job as it was. The pairs are
// judged as those of `stoker prove` (job/prove/paired.h). A trial that promises nothing after two
// pairs ends there: that can only lose a gain, never make one up. Limits: fixes that only pay
// together are found only where one of them pays alone, or all are a part of the strong baseline.
#ifndef STK_TUNE_TUNE_H
#define STK_TUNE_TUNE_H

#include "job/prove/paired.h"
#include "job/tune/losses.h"
#include "job/tune/bounded_run.h"

#define STK_TUNE_GAIN 0.02 // below which a fix is not worth a line
enum { STK_TUNE_PAIRS = 8, STK_TUNE_TRIED = 128, STK_TUNE_WARMUP = 10 };
enum { STK_TUNE_PAIRS_MOST = 16 }; // of a second turn, where the first could not tell

enum stk_tune_state {
    STK_TUNE_KEPT,
    STK_TUNE_NO_EFFECT,
    STK_TUNE_WORSE,
    STK_TUNE_FAILED,
    STK_TUNE_SKIPPED
};
enum stk_tune_verdict { STK_TUNE_FASTER, STK_TUNE_NOTHING, STK_TUNE_CANNOT_TELL };

struct stk_tune_tried {
    struct stk_tune_choice choice;
    enum stk_tune_state state;
    char why[STK_TUNE_WHY];
    struct stk_paired ratio; // time after over before, where there are pairs; from
    int pairs;               // STK_PAIRED_MIN of them on with an interval
    double saving;           // what it was expected to save; below 0: unknown
    bool is_priced;          // by a what-if; else it is a bound
    struct stk_tune_losses losses;
    bool has_losses; // they were compared
    bool is_put_off; // it promised little, or could not be told from noise: waits for the others
};

struct stk_tune_progress {
    const char *what; // "torch.dataloader.num_workers=2, pair 3"
    int tried, all;
    uint64_t spent_ns;
    const struct stk_tune_tried *done; // where one has just been decided, else NULL
};

struct stk_tune_plan {
    char *const *argv;
    const char *folder;     // where the capture stays; runs are below it while they last
    const char *loss;       // or NULL
    uint64_t steps, warmup; // steps 0: as many as take some seconds
    int64_t budget_ns;
    int64_t timeout_ns; // of a run; 0: three times what the job as it is takes, and a minute
    bool allows_numerics;
    const char *only; // ids with a comma between: nothing else is tried; NULL: all
    bool (*stop)(void *arg);
    void (*tell)(void *arg, const struct stk_tune_progress *progress);
    void *arg;
};

struct stk_tune {
    struct stk_tune_facts facts; // of the capture, and of what was kept
    char framework[32];
    char cache_folder[STK_TUNE_VALUE];
    char sentence[256]; // the verdict of the capture's report; "" where there is none
    bool names_loss;    // the report says what a step loses
    double baseline_s;  // a step, as it is
    double noise;       // between two runs of it
    double run_s;       // a whole run
    uint64_t warmup, steps;
    uint64_t memory_most;
    struct stk_bounded original[2]; // for their losses
    int originals;
    struct stk_vec tried; // struct stk_tune_tried
    struct stk_tune_set kept;
    double kept_s; // a step with it, when the last of it was kept
    // The last proof of all that was kept together.
    bool has_proof;
    struct stk_paired proof;
    int pairs;
    double before_s, after_s;
    double start_more_s; // by which the job starts later with it
    // The strong baseline: what the framework's users know to set.
    struct stk_tune_set strong;
    double strong_s; // 0: not measured
    bool is_over_budget;
    bool is_unclear; // something that could gain could not be told from noise
    enum stk_tune_verdict verdict;
    uint64_t spent_ns;
};

// An error where the job as it is cannot be run or measured (STOKER_EINPUT), or somebody
// interrupts. Freed with stk_tune_close either way.
STK_MUST_CHECK enum stoker_status stk_tune_run(const struct stk_tune_plan *plan,
                                               struct stk_tune *tune, struct stoker_err *err);
void stk_tune_close(struct stk_tune *tune);

#endif
