// SPDX-License-Identifier: Apache-2.0
// What stoker can advise: one text file per fix, src/fixes/text/ID.txt, from which
// cmake/fixes.cmake writes fixes_data.h into the build folder. A rule's table names the fixes that
// it may give, `[FIX_TPU] = STK_FIX(transfer_exposed_tpu)` for transfer-exposed.tpu, so an id
// without a file doesn't compile.
//
// A file holds lines `key: value`, then `---` and the advice (one paragraph, whose lines are joined
// by a blank; {NAME} is a row of refusals.def, as a sentence), then, if there is code to paste,
// another `---` and that code. Keys; all but the first may be absent:
//   framework  pytorch, tensorflow, jax, cuda, or any
//   price      the what-if that does what the advice says
//   tries      the fix of `stoker tune` that makes this change, where it is another file's
//   snippet    the fix whose code to paste is this one's, too
//   edits      calls of the program that the code to paste edits, a blank between: keys of
//              profile/model/calls_seen.def; no name shows one: the code isn't printed
//   given      a rule whose findings always give it, after the fixes that the rule itself names
//   gained     what it saved of a step in measured jobs, each as tests/jobs/README.md has it
// If `stoker tune` can make exactly this change, the file has tune's id (else RULE.SHORT-NAME), and
// says how the change is made and measured:
//   title      what it is, in a few words
//   changes    what it may change of what the job computes: enum stk_tune_changes
//   shortens   the parts of a step that it can shorten, a space between: the bound of its saving
//   apply      how the program gets it: `hook` (the function of job/capture/inject/python whose
//              name is the id), `env K={}` (K+={} adds to what K holds), `command WORDS {}` in
//              front of the job's, or `edit`: by its own lines alone, so it is never tried
//   call       the call whose line in the program is reported; and with it
//   code       what to write there; "{}" is the value here and in `apply`
//   values     values to try, a comma between, where no function of job/tune works them out
//   needs      gpu: it is tried where there is one
//   marks      strong: who knows the framework has it on, so the strong baseline has it
//              general: nothing in a profile points at it, so it is tried last
//              start: it shortens the start of the job, not its steps
//              steps: its value is a number of steps that come as one
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/terms.h"

enum stk_tune_changes {
    STK_CHANGES_NOTHING,   // the same bits
    STK_CHANGES_ORDER,     // the same distribution: order of samples or sums, streams of randomness
    STK_CHANGES_CALLBACKS, // callbacks and logs see fewer batches
    STK_CHANGES_NUMERICS   // precision, fast math, recompiled kernels
};

// All texts except the first three may be NULL. Files fill all but `most`.
struct stk_rep_fix {
    const char *id;               // "transfer-exposed.tpu"
    enum stk_framework framework; // STK_FW_ANY: for any
    const char *text;
    const char *snippet, *price, *tries; // `tries` is its own id if it is applied from outside
    double most;                   // of the step that it can save, if the rule knows; 0: not known
    enum stk_tune_changes changes; // of `tries`, or of its own change
    const char *what, *parts;      // not NULL if stoker tune knows it
    const char *call, *code, *values, *given, *gained, *edits;
    const char *env, *wrap; // of `apply`
    bool is_tunes;          // stoker tune knows it
    bool is_hooked, is_strong, is_general, is_of_start, is_in_steps, needs_gpu;
};

extern const struct stk_rep_fix stk_fix_rows[]; // by id
extern const int stk_fix_row_count;

const struct stk_rep_fix *stk_fix_row_find(const char *id); // NULL: none

// Why a fix must not be applied: found by a hook, which returns the row's name, or before a trial.
enum stk_refusal {
#define R(name, text) STK_REFUSAL_##name,
#include "fixes/refusals.def"
#undef R
    STK_REFUSALS
};
const char *stk_refusal_text(enum stk_refusal refusal);
// The text of the row with this name; without such a row, `name`, which is then the reason itself.
const char *stk_refusal_of(const char *name);

// Links of a fix besides its advice.
enum stk_fix_link { STK_FIX_PRICE, STK_FIX_TRIES };
// The link of the fix with this id; NULL: it has none, or there is no such fix.
const char *stk_fix_row_link(const char *id, enum stk_fix_link link);
// The error about an `id` that can't be used here: a fix without that link, with the nearest one
// that has it; or an unknown id, with the suggestion `near` (NULL: none). STOKER_EUSAGE.
enum stoker_status stk_fix_row_refuse(const char *id, enum stk_fix_link link, const char *near,
                                      struct stoker_err *err);
// The error about an unknown id: "no fix 'x'; did you mean 'y'?". STOKER_EUSAGE.
enum stoker_status stk_fix_row_unknown(const char *id, const char *near, struct stoker_err *err);
// The nearer of `near` (NULL: none) and all fixes' ids to what was typed (base/near.h).
const char *stk_fix_row_near(const char *id, const char *near);
