// SPDX-License-Identifier: Apache-2.0
// Facts about a run from the hooks of `stoker tune` (DIR/tune-PID.txt, see
// capture/inject/python/_stoker_tune.py), and about the machine.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/terms.h"
#include "base/vec.h"

enum { STK_FACT_NAME = 64, STK_FACT_TEXT = 304 };

struct stk_tune_fact {
    char name[STK_FACT_NAME];
    char text[STK_FACT_TEXT];
};
struct stk_tune_place {
    char call[STK_FACT_NAME];
    char file[STK_FACT_TEXT];
    int64_t line;
};
struct stk_tune_loss {
    int64_t step;
    double value;
};

struct stk_tune_facts {
    struct stk_vec facts;   // struct stk_tune_fact
    struct stk_vec places;  // struct stk_tune_place
    struct stk_vec applied; // struct stk_tune_fact
    struct stk_vec refused; // the same, with the reason
    struct stk_vec losses;  // struct stk_tune_loss, sorted, one per step
    long processors;        // available to a job
    uint64_t run_steps;     // per run of a trial; 0: not set yet
    bool has_gpu;
    enum stk_framework framework; // of the run; STK_FW_COUNT: none
    const char *cache_folder;     // for files kept between runs
};

// Without the job's facts, with the machine's.
void stk_facts_init(struct stk_tune_facts *facts);
void stk_facts_deinit(struct stk_tune_facts *facts);
// Adds the facts in a run's folder. Damaged lines are skipped.
STK_MUST_CHECK enum stoker_status stk_facts_read(struct stk_tune_facts *facts, const char *folder,
                                                 struct stoker_err *err);
// The first value of a name; NULL: none.
const char *stk_facts_get(const struct stk_tune_facts *facts, const char *name);
bool stk_facts_say(const struct stk_tune_facts *facts, const char *name, const char *text);
long stk_facts_number(const struct stk_tune_facts *facts, const char *name, long otherwise);
// Sets or replaces a fact.
void stk_facts_set(struct stk_tune_facts *facts, const char *name, const char *text);
bool stk_facts_applied(const struct stk_tune_facts *facts, const char *fix);
// Why the hooks refused a fix; NULL: they didn't.
const char *stk_facts_refused(const struct stk_tune_facts *facts, const char *fix);
