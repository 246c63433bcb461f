// SPDX-License-Identifier: Apache-2.0
// AUTOTUNE: how many workers each stage has, and how many pieces may wait; see tuner.c.
#pragma once

#include "engine/run/ring.h"

#define STK_INITIAL_WORKERS 16 // of a stage that is tuned, if there are as many processors

// What a stage with workers shows the tuner.
struct stk_tuned {
    struct stk_iter *it;
    void *owner;
    void (*set_workers)(void *owner, int n); // from any thread
    // Whether the thread that asks for elements does the work itself; from any thread. NULL: it
    // never does. is_free stages, and rings that are tuned, are asked alone.
    void (*set_inline)(void *owner, bool is_inline);
    int limit;              // workers at most
    int workers;            // at work now; atomic
    uint64_t piece_count;   // done; atomic
    uint64_t pauses;        // times a worker gave its processor up while at work; atomic
    struct stk_ring *ring;  // whose room is tuned; NULL: it stays as it is
    struct stk_tuned *next; // of the same place (stk_iter.place), in datasets of one function
};

// The stage joins the run's tuner (made with the first), or leaves it. is_free: the tuner sets the
// workers; else their number is the user's and only counts. False: no memory.
bool stk_tuner_add(struct stk_tuned *s, bool is_free);
void stk_tuner_remove(struct stk_tuned *s);
// What a stage with AUTOTUNE begins with, of at most `limit`; in a dataset that is open beside
// others one worker, since together those have as many as there are datasets.
int stk_tuner_initial(const struct stk_iter *it, int limit);
// Called often, from workers: looks at the rates when it is time, at most once at a time.
void stk_tuner_look(struct stk_run *run);
// As if a trial had come out so (inline_trial.h): for tests, which cannot wait for one. The run has
// a stage that is tuned.
void stk_tuner_be_inline(struct stk_run *run, bool is_inline);
// What the dataset's last run found out about threads is where this one begins (before its stages
// are opened), and what this one found out is kept in it (while it is open).
void stk_tuner_recall(struct stk_run *run, const struct stk_dataset *ds);
void stk_tuner_keep(struct stk_run *run, struct stk_dataset *ds);
void stk_tuner_close(struct stk_tuner *t); // takes NULL
