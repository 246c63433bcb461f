// SPDX-License-Identifier: Apache-2.0
// `stoker tune`: the fixes that make a job faster, found by trying them on the job as it is.
//
// Once the job runs under the hooks with a window of the framework's own profiler; the report of
// that window and the prices of the what-ifs say what each fix could save at most, and in this
// order they are tried; what promises little after two pairs has its turn after the others. A fix
// is tried in pairs of fresh, bounded, unprofiled runs, with it and without it, on top of what was
// kept before (greedy). Where it is one of several that make the strong baseline, all of these are
// tried at once. The pairs are judged as those of `stoker prove` (job/prove/paired.h). A trial that
// promises nothing after two pairs ends there: that can only lose a gain, never make one up.
//
// What is kept is faster than the job as it was by the product of its trials' intervals, at the
// search's own error (pairs.h); where that product cannot tell, all of it is proved in fresh pairs.
// However a search ends (done, budget, interrupt, a failing job), its measurements are kept, and
// fixes that weren't tried have a row that says so. Limits: fixes that pay only together are found
// only if one of them pays alone, or all are part of the strong baseline.
#pragma once

#include "job/prove/paired.h"
#include "job/tune/advice.h"
#include "job/tune/losses.h"
#include "job/tune/bounded_run.h"

#define STK_TUNE_GAIN 0.02 // below which a fix is not worth a line
// Why what could have been tried was not.
#define STK_TUNE_NO_TURN "the budget ran out before its turn (--budget)"
#define STK_TUNE_NUMERICS "it changes the computed values; --allow numerics tries it"
#define STK_TUNE_ENDED_BEFORE "the search ended before its turn"
enum { STK_TUNE_PAIRS = 8, STK_TUNE_TRIED = 128, STK_TUNE_WARMUP = 10 };
enum { STK_TUNE_PAIRS_MOST = 16 }; // of a second turn, where the first could not tell

enum stk_tune_state {
    STK_TUNE_KEPT,
    STK_TUNE_NO_EFFECT,
    STK_TUNE_WORSE,
    STK_TUNE_FAILED,
    STK_TUNE_SKIPPED
};
// What ended a search: all had its turn, the budget, somebody, or the job as it is failed.
enum stk_tune_end { STK_TUNE_DONE, STK_TUNE_SPENT, STK_TUNE_INTERRUPTED, STK_TUNE_BROKEN };
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
    bool is_put_off; // it promised little, or was within noise: waits for the others
    bool is_decided;
    bool is_unfinished; // the search ended within its pairs
};

// What was kept against the job as it was, by the pairs of its trials; see pairs.h.
struct stk_tune_chain {
    struct stk_paired ratio; // the product, at the search's error
    int pairs;               // 0: nothing was kept
    double before_s;         // a step of the first trial's runs without
    double start_more_s;
};

struct stk_tune_progress {
    const char *what;   // "torch.dataloader.num_workers=2"
    const char *detail; // ", pair 3"
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
    char sentence[256];    // the verdict of the capture's report, or ""
    bool names_loss;       // the report says what a step loses
    struct stk_vec advice; // struct stk_tune_advice, what its report advises and no trial can do
    double baseline_s;     // a step, as it is
    double noise;          // between two runs of it
    double run_s;          // a whole run
    uint64_t warmup, steps;
    uint64_t memory_most;
    struct stk_bounded original[2]; // for their losses
    int originals;
    struct stk_vec tried; // struct stk_tune_tried
    struct stk_tune_set kept;
    double kept_s; // a step with it, when the last of it was kept
    struct stk_tune_chain chain;
    // All that was kept together: the chain where that can tell, else a last proof.
    bool has_proof;
    bool is_last_proof;
    struct stk_paired proof;
    int pairs;
    double before_s, after_s;
    double start_more_s; // by which the job starts later with it
    // The strong baseline: what the framework's users know to set.
    struct stk_tune_set strong;
    double strong_s; // 0: not measured
    int strong_runs;
    bool is_over_budget;
    bool is_unclear; // a possible gain was within run-to-run noise
    enum stk_tune_verdict verdict;
    enum stk_tune_end end;
    char end_why[256]; // of a job that fails
    uint64_t spent_ns;
    uint64_t verdict_ns; // from the start, until what the verdict stands on was measured
};

// An error where the job as it is cannot be run or measured (STOKER_EINPUT), or somebody
// interrupts: what was measured before is in `tune`, as at any other end, and there is something
// where baseline_s is above 0. Freed with stk_tune_close either way.
STK_MUST_CHECK enum stoker_status stk_tune_run(const struct stk_tune_plan *plan,
                                               struct stk_tune *tune, struct stoker_err *err);
void stk_tune_close(struct stk_tune *tune);
