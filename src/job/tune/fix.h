// SPDX-License-Identifier: Apache-2.0
// A fix that `stoker tune` can try without editing the program: told to the hooks inside of the job
// (capture/inject/python/_stoker_fix_*.py know it by its id), by variables, or by a command in
// front. To add one: a descriptor `const struct stk_tune_fix stk_tune_fix_<name>` in a fix_*.c, one
// line X(<name>) in fixes.def, and, where hooks apply it, its id in their file.
#ifndef STK_TUNE_FIX_H
#define STK_TUNE_FIX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "job/tune/job_facts.h"

enum { STK_TUNE_VALUES = 4, STK_TUNE_VALUE = 256, STK_TUNE_WHY = 320 };

// What a fix may change of what the job computes.
enum stk_tune_changes {
    STK_CHANGES_NOTHING,   // the same bits
    STK_CHANGES_ORDER,     // the same distribution: order of samples or sums, streams of randomness
    STK_CHANGES_CALLBACKS, // callbacks and logs see fewer batches
    STK_CHANGES_NUMERICS   // precision, fast maths, recompiled kernels
};

struct stk_tune_values {
    char at[STK_TUNE_VALUES][STK_TUNE_VALUE]; // "" for a fix without a value
    int count;                                // 0: it cannot be tried
    char why[STK_TUNE_WHY];                   // then
};

struct stk_tune_fix {
    const char *id;        // "torch.dataloader.num_workers"
    const char *what;      // in a few words
    const char *framework; // "pytorch", "tensorflow", "jax"; NULL: any
    enum stk_tune_changes changes;
    const char *parts; // of a step, that it can shorten, a space between: the bound of its saving
    const char *price; // the what-if that prices it; NULL: none
    const char *call;  // whose line the hooks tell; NULL: none
    const char *code;  // what to write there; "{}" is the value
    const char *env;   // "K={}", or "K+={}" to add to what K holds; NULL: none
    const char *wrap;  // a command in front of the job's: "numactl --cpunodebind={}"; NULL: none
    bool is_hooked;    // the hooks apply it, and say whether it took hold
    bool is_strong;    // who knows the framework has this on: a part of the strong baseline
    bool is_general;   // nothing in a profile points at it: tried last
    bool is_of_start;  // it shortens the start of the job, not its steps
    bool is_in_steps;  // its value is a number of steps that come as one
    // Values worth trying, the likeliest first.
    void (*values)(const struct stk_tune_facts *facts, struct stk_tune_values *to);
    // What it could save by what the hooks saw of a run without a profiler, share of its steps of
    // step_s; below 0: unknown. NULL: the profile says.
    double (*saving)(const struct stk_tune_facts *facts, double step_s);
};

#define X(name) extern const struct stk_tune_fix stk_tune_fix_##name;
#include "job/tune/fixes.def"
#undef X
extern const struct stk_tune_fix *const stk_tune_fixes[]; // ends with NULL

// Whether a list of ids with a comma between (NULL: all) asks for the fix: by its id, by what
// several begin with ("torch.dataloader"), or by the id of an advice that it tries (fixes/fixes.h).
bool stk_tune_is_asked(const char *list, const struct stk_tune_fix *fix);
// The fix that an id or an advice's id stands for. NULL: none, and the error says why.
const struct stk_tune_fix *stk_tune_fix_find(const char *id, struct stoker_err *err);
// Does the list name fixes, each of its ids at least one?
STK_MUST_CHECK enum stoker_status stk_tune_check_asked(const char *list, struct stoker_err *err);

// For `values`: adds one, unless it is there or is what the job has; says why there is none.
void stk_tune_add(struct stk_tune_values *to, const char *value);
void stk_tune_add_number(struct stk_tune_values *to, long number, long least, long most);
void stk_tune_refuse(struct stk_tune_values *to, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
// Half as many as processors, as many, twice as many, without `now` of them.
void stk_tune_add_workers(struct stk_tune_values *to, const struct stk_tune_facts *facts, long now);

#endif
