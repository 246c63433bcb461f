// SPDX-License-Identifier: Apache-2.0
// Threads while the interpreter ends. Python's own daemon threads wait in next() without the GIL,
// and engine threads call Python functions; from some point on neither may touch the interpreter.
//
// Three phases. Running. Leaving: the exit handler closes iterators, and running functions may
// finish; a Python thread that returns from a wait rests instead. Left: no engine thread enters
// Python any more. Once finalization has started, a resting thread never returns, on any Python
// version: up to 3.13 the interpreter would end it, or crash, when it asks for the GIL. Until then
// it rests at most GRACE_NS, because a later exit handler may wait for it.
//
// From checking the phase until it has the GIL, a thread counts as coming; the handler waits for
// those. The thread that ends the interpreter always passes.
#include <pthread.h>
#include <time.h>

#include "py/py_engine.h"

#define GRACE_NS 5000000000
#define PATIENCE_NS 300000000 // for Python functions of canceled pipelines
#define COMING_NS 1000000000
#define NAP_NS 1000000

enum { RUNNING, LEAVING, LEFT };

static int phase;      // atomic
static pthread_t ends; // the thread that ends the interpreter, from LEAVING on
static int coming;     // atomic

static int is_finalizing(void)
{
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing();
#else
    return _Py_IsFinalizing();
#endif
}

static int phase_here(void)
{
    int now = __atomic_load_n(&phase, __ATOMIC_SEQ_CST);
    return now != RUNNING && pthread_equal(pthread_self(), ends) ? RUNNING : now;
}

int stk_py_is_leaving(void)
{
    return phase_here() != RUNNING;
}

void stk_py_forked_leave(void)
{
    __atomic_store_n(&coming, 0, __ATOMIC_SEQ_CST); // those threads don't exist in this process
}

// Call it without the GIL.
static void rest(void)
{
    const struct timespec nap = {0, 10 * NAP_NS};
    for (int64_t rested = 0; rested < GRACE_NS || is_finalizing(); rested += 10 * NAP_NS) {
        nanosleep(&nap, NULL);
    }
}

int stk_py_come_in(void)
{
    __atomic_add_fetch(&coming, 1, __ATOMIC_SEQ_CST);
    if (phase_here() == LEFT) {
        stk_py_came_in();
        return 0;
    }
    return 1;
}

void stk_py_came_in(void)
{
    __atomic_sub_fetch(&coming, 1, __ATOMIC_SEQ_CST);
}

void stk_py_resume(PyThreadState *state)
{
    __atomic_add_fetch(&coming, 1, __ATOMIC_SEQ_CST);
    if (stk_py_is_leaving()) {
        stk_py_came_in();
        rest();
        PyEval_RestoreThread(state);
        return;
    }
    PyEval_RestoreThread(state);
    stk_py_came_in();
}

void stk_py_rest_if_leaving(void)
{
    if (stk_py_is_leaving()) {
        stk_py_resume(PyEval_SaveThread());
    }
}

// Waits, at most that long, until `count` is 0.
static void wait_for(int (*count)(void), int64_t ns)
{
    const struct timespec nap = {0, NAP_NS};
    for (int64_t waited = 0; waited < ns && count() > 0; waited += NAP_NS) {
        nanosleep(&nap, NULL);
    }
}

static int coming_now(void)
{
    return __atomic_load_n(&coming, __ATOMIC_SEQ_CST);
}

void stk_py_leave_begin(void)
{
    ends = pthread_self();
    __atomic_store_n(&phase, LEAVING, __ATOMIC_SEQ_CST);
}

void stk_py_leave_end(void)
{
    PyThreadState *state = PyEval_SaveThread();
    wait_for(stk_py_calls_now, PATIENCE_NS);
    __atomic_store_n(&phase, LEFT, __ATOMIC_SEQ_CST);
    wait_for(coming_now, COMING_NS);
    PyEval_RestoreThread(state);
}
