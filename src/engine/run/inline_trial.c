// SPDX-License-Identifier: Apache-2.0
// Tries threads against the caller's thread; see inline_trial.h.
#include "engine/run/inline_trial.h"

#include "base/assert.h"

#define GREEDY                                                                                     \
    0.25                    // a trial starts only if the consumer is away for at most this share of
                            // the time
#define BUSY_AGAIN 0.35     // inline ends above this share
#define IDLE_CORES 0.7      // inline: below this, the thread waits for something
#define GAIN 0.98           // inline wins with at most this much of the threads' time; or
#define AS_FAST 1.03        // with this much of it,
#define GAIN_CPU 0.85       // and this much of their CPU time
#define SLOWER 1.05         // inline ends above this much of the threads' time
#define CHECK_LOOKS 8       // inline is compared with threads after every so many looks
#define ELEMENTS_LEAST 20.0 // a trial is decided after this many elements,
#define LOOKS_MAX 10        // or this many looks
#define WAIT_FIRST 2        // looks
#define WAIT_FAILED 16
#define WAIT_MAX 1024
#define WAIT_BUSY 8
#define INLINE_LOOKS 100 // looks before threads are tried again

static void enter(struct stk_trial *t, enum stk_trial_mode mode, int wait)
{
    t->mode = mode;
    t->looks = 0;
    t->wait = wait;
    t->threads_ns = mode == STK_TRIAL_THREADS ? 0 : t->threads_ns;
    t->ns = t->cpu_ns = t->elements = 0;
}

// Back to threads. After each failure in a row, the next trial is twice as far away.
static void fail(struct stk_trial *t)
{
    int wait = t->last_wait > 0 ? 2 * t->last_wait : WAIT_FAILED;
    t->last_wait = wait < WAIT_MAX ? wait : WAIT_MAX;
    enter(t, STK_TRIAL_THREADS, t->last_wait);
}

static void step_threads(struct stk_trial *t, const struct stk_trial_look *look)
{
    int least = t->wait > 0 ? t->wait : WAIT_FIRST;
    if (!look->is_allowed || look->away > GREEDY || look->cores > STK_TRIAL_CORES) {
        t->looks = 0; // only looks in a row are compared
        t->wait = least;
        return;
    }
    if (t->looks >= 2) { // skip the first look: it may be partial
        double each = look->ns / look->elements, cpu = look->cores * each;
        t->threads_cpu_ns = t->threads_ns > 0 ? (t->threads_cpu_ns + cpu) / 2 : cpu;
        t->threads_ns = t->threads_ns > 0 ? (t->threads_ns + each) / 2 : each;
    }
    if (t->looks > least && t->threads_ns > 0) {
        enter(t, STK_TRIAL_TRYING, 0);
    }
}

static bool has_won(const struct stk_trial *t)
{
    double each = t->ns / t->elements, cpu = t->cpu_ns / t->elements;
    return each < GAIN * t->threads_ns ||
           (each < AS_FAST * t->threads_ns && cpu < GAIN_CPU * t->threads_cpu_ns);
}

static void step_trying(struct stk_trial *t, const struct stk_trial_look *look)
{
    if (!look->is_allowed) {
        enter(t, STK_TRIAL_THREADS, WAIT_BUSY);
        return;
    }
    if (t->looks < 2) {
        return; // it includes what threads had started
    }
    t->ns += look->ns;
    t->cpu_ns += look->cores * look->ns;
    t->elements += look->elements;
    if (t->looks < 3 || (t->elements < ELEMENTS_LEAST && t->looks < LOOKS_MAX)) {
        return;
    }
    if (has_won(t)) {
        enter(t, STK_TRIAL_INLINE, 0);
    } else {
        fail(t);
    }
}

// A short trial may have been lucky, or elements may now cost so much that threads gain.
static bool is_slower(struct stk_trial *t, const struct stk_trial_look *look)
{
    t->ns += look->ns;
    t->elements += look->elements;
    if (t->looks % CHECK_LOOKS != 0) {
        return false;
    }
    bool is = t->ns / t->elements > SLOWER * t->threads_ns;
    t->last_wait = is ? t->last_wait : 0;
    t->ns = t->elements = 0;
    return is;
}

static void step_inline(struct stk_trial *t, const struct stk_trial_look *look)
{
    bool has_lost = is_slower(t, look);
    if (!look->is_allowed || look->away > BUSY_AGAIN || look->cores < IDLE_CORES) {
        enter(t, STK_TRIAL_THREADS, WAIT_BUSY);
    } else if (has_lost) {
        fail(t);
    } else if (t->looks >= INLINE_LOOKS) {
        enter(t, STK_TRIAL_THREADS, WAIT_FIRST);
    }
}

bool stk_trial_step(struct stk_trial *t, const struct stk_trial_look *look)
{
    STK_ASSERT(look->elements > 0 && look->ns >= 0);
    t->looks++;
    if (t->mode == STK_TRIAL_THREADS) {
        step_threads(t, look);
    } else if (t->mode == STK_TRIAL_TRYING) {
        step_trying(t, look);
    } else {
        step_inline(t, look);
    }
    return t->mode != STK_TRIAL_THREADS;
}
