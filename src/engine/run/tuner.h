// SPDX-License-Identifier: Apache-2.0
// AUTOTUNE: how many workers each stage has, and how many pieces may wait; see tuner.c.
#pragma once

#include "engine/run/ring.h"

#define STK_INITIAL_WORKERS 16 // of a tuned stage, if there are as many cores

// What a stage with workers shows the tuner.
struct stk_tuned {
    struct stk_iter *it;
    void *owner;
    void (*set_workers)(void *owner, int n); // from any thread
    // Whether the thread that asks for elements does the work itself; called from any thread. NULL:
    // it never does. Called only for is_free stages and tuned rings.
    void (*set_inline)(void *owner, bool is_inline);
    int limit;              // workers at most
    int workers;            // at work now; atomic
    uint64_t piece_count;   // done; atomic
    uint64_t pauses;        // times a worker gave up its core while at work; atomic
    struct stk_ring *ring;  // whose capacity is tuned; NULL: none
    struct stk_tuned *next; // with the same place (stk_iter.place), in datasets of one function
};

// The stage joins the run's tuner (the first one creates it), or leaves it. is_free: the tuner sets
// the workers; otherwise the user did, and the tuner only counts them. False: no memory.
bool stk_tuner_add(struct stk_tuned *s, bool is_free);
void stk_tuner_remove(struct stk_tuned *s);
// Initial workers of a stage with AUTOTUNE, at most `limit`. In datasets that are open at the same
// time it is one each.
int stk_tuner_initial(const struct stk_iter *it, int limit);
// Workers call it often. Takes a look when one is due; one thread at a time.
void stk_tuner_look(struct stk_run *run);
// Sets the mode as a trial would (inline_trial.h), for tests that can't wait for one. The run must
// have a tuned stage.
void stk_tuner_be_inline(struct stk_run *run, bool is_inline);
// Recall starts the run with the mode that the dataset's last run ended in; call it before stages
// open. Keep stores this run's mode in the dataset; call it while the run is open.
void stk_tuner_recall(struct stk_run *run, const struct stk_dataset *ds);
void stk_tuner_keep(struct stk_run *run, struct stk_dataset *ds);
void stk_tuner_close(struct stk_tuner *t); // takes NULL
