// SPDX-License-Identifier: Apache-2.0
// `stoker tune`: finds fixes that make a job faster by trying them on the unchanged job.
//
// First the job runs once under the hooks with a window of the framework's own profiler. The report
// of that window and the prices of the what-ifs say how much each fix could save at most; fixes are
// tried in this order, but one that promises little after two pairs comes after the others. A fix
// is tried in pairs of fresh, bounded, unprofiled runs, with and without it, in addition to what
// was kept before (greedy). If it is one of several fixes in the strong baseline, all of these are
// tried at once. The pairs are judged as in `stoker prove` (job/prove/paired.h). A trial that
// promises nothing after two pairs ends there: that can only miss a gain, never invent one.
//
// The total gain over the unchanged job is the product of the trials' intervals, at the search's
// own error (pairs.h); if that product gives no verdict, new pairs compare all kept fixes with the
// unchanged job. However a search ends (done, budget, interrupt, a failing job), its measurements
// are kept, and fixes that weren't tried have a row that says so. Limits: fixes that only help
// together are found only if one of them helps alone, or all are part of the strong baseline.
#pragma once

#include "job/prove/paired.h"
#include "job/tune/advice.h"
#include "job/tune/losses.h"
#include "job/tune/bounded_run.h"

#define STK_TUNE_GAIN 0.02 // smaller gains aren't worth a line
// Why a possible fix wasn't tried.
#define STK_TUNE_NO_TURN "the budget ran out before its turn (--budget)"
#define STK_TUNE_NUMERICS "it changes the computed values; --allow numerics tries it"
#define STK_TUNE_ENDED_BEFORE "the search ended before its turn"
enum { STK_TUNE_PAIRS = 8, STK_TUNE_TRIED = 128, STK_TUNE_WARMUP = 10 };
enum { STK_TUNE_PAIRS_MOST = 16 }; // in a second turn, if the first gave no verdict

enum stk_tune_state {
    STK_TUNE_KEPT,
    STK_TUNE_NO_EFFECT,
    STK_TUNE_WORSE,
    STK_TUNE_FAILED,
    STK_TUNE_SKIPPED
};
// What ended a search: all fixes had their turn, the budget, the user, or a failure of the
// unchanged job.
enum stk_tune_end { STK_TUNE_DONE, STK_TUNE_SPENT, STK_TUNE_INTERRUPTED, STK_TUNE_BROKEN };
enum stk_tune_verdict { STK_TUNE_FASTER, STK_TUNE_NOTHING, STK_TUNE_CANNOT_TELL };

struct stk_tune_tried {
    struct stk_tune_choice choice;
    enum stk_tune_state state;
    char why[STK_TUNE_WHY];
    struct stk_paired ratio; // time after over before, if there are pairs; from
    int pairs;               // STK_PAIRED_MIN pairs on with an interval
    double saving;           // expected; below 0: unknown
    bool is_priced;          // by a what-if; otherwise it is a bound
    struct stk_tune_losses losses;
    bool has_losses; // losses were compared
    bool is_put_off; // promised little, or was within noise: waits for the others
    bool is_decided;
    bool is_unfinished; // the search ended during its pairs
};

// The kept fixes compared with the unchanged job, from the pairs of the trials; see pairs.h.
struct stk_tune_chain {
    struct stk_paired ratio; // the product, at the search's error
    int pairs;               // 0: nothing was kept
    double before_s;         // a step in the first trial's runs without its fix
    double start_more_s;
};

struct stk_tune_progress {
    const char *what;   // "torch.dataloader.num_workers=2"
    const char *detail; // ", pair 3"
    int tried, all;
    uint64_t spent_ns;
    const struct stk_tune_tried *done; // a fix that was just decided, else NULL
};

struct stk_tune_plan {
    char *const *argv;
    const char *folder;     // for the capture, and for runs while they last
    const char *loss;       // or NULL
    uint64_t steps, warmup; // steps 0: enough for some seconds
    int64_t budget_ns;
    int64_t timeout_ns; // per run; 0: three times the unchanged job's time, plus a minute
    bool allows_numerics;
    const char *only; // tries only these ids, separated by commas; NULL: all
    bool (*stop)(void *arg);
    void (*tell)(void *arg, const struct stk_tune_progress *progress);
    void *arg;
};

struct stk_tune {
    struct stk_tune_facts facts; // of the capture, and of kept fixes
    char framework[32];
    char cache_folder[STK_TUNE_VALUE];
    char sentence[256];    // the verdict of the capture's report, or ""
    bool names_loss;       // the report names a loss
    struct stk_vec advice; // struct stk_tune_advice: the report's advice that no trial can make
    double baseline_s;     // a step of the unchanged job
    double noise;          // between two runs of it
    double run_s;          // a whole run
    uint64_t warmup, steps;
    uint64_t memory_most;
    struct stk_bounded original[2]; // for their losses
    int originals;
    struct stk_vec tried; // struct stk_tune_tried
    struct stk_tune_set kept;
    double kept_s; // a step with all kept fixes, when the last was kept
    struct stk_tune_chain chain;
    // All kept fixes together: the chain if it gives a verdict, else a final comparison.
    bool has_proof;
    bool is_last_proof;
    struct stk_paired proof;
    int pairs;
    double before_s, after_s;
    double start_more_s; // by how much the job starts later with them
    // The strong baseline: settings that experts use anyway.
    struct stk_tune_set strong;
    double strong_s; // 0: not measured
    int strong_runs;
    bool is_over_budget;
    bool is_unclear; // a possible gain was within run-to-run noise
    enum stk_tune_verdict verdict;
    enum stk_tune_end end;
    char end_why[256]; // of a job that fails
    uint64_t spent_ns;
    uint64_t verdict_ns; // from the start to the last measurement for the verdict
};

// An error: the unchanged job can't be run or measured (STOKER_EINPUT), or the user interrupted it.
// The measurements so far are in `tune`, as at any other end; there are some if baseline_s is above
// 0. Call stk_tune_close in any case.
STK_MUST_CHECK enum stoker_status stk_tune_run(const struct stk_tune_plan *plan,
                                               struct stk_tune *tune, struct stoker_err *err);
void stk_tune_close(struct stk_tune *tune);
