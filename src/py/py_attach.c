// SPDX-License-Identifier: Apache-2.0
// Attaches engine threads to Python: each has its own thread state while it calls. The interpreter
// guards its list of thread states with a lock, and a forked child inherits that lock's state.
// Python 3.11 takes it in the child before resetting it (PyOS_AfterFork_Child): a deadlock if
// another thread held it at the fork. The forking thread holds the GIL, but creating a state
// doesn't need it. So states are created under our own lock, which forks wait for. States are
// removed with the GIL held.
#include <pthread.h>

#include "py/py_engine.h"

static pthread_mutex_t entering = PTHREAD_MUTEX_INITIALIZER;

static void lock(void)
{
    pthread_mutex_lock(&entering);
}

static void unlock(void)
{
    pthread_mutex_unlock(&entering);
}

static void unlock_child(void)
{
    unlock();
    stk_py_forked_leave();
}

int stk_py_attach_setup(void)
{
    return pthread_atfork(lock, unlock, unlock_child);
}

void stk_py_attach(struct stk_py_attached *a)
{
    *a = (struct stk_py_attached){.is_new = !PyGILState_GetThisThreadState()};
    if (!a->is_new) {
        a->gil = PyGILState_Ensure();
        return;
    }
    lock();
    PyThreadState *state = PyThreadState_New(PyInterpreterState_Main());
    unlock();
    if (!state) {
        Py_FatalError("out of memory for a thread's state");
    }
    PyEval_RestoreThread(state);
}

void stk_py_detach(const struct stk_py_attached *a)
{
    if (!a->is_new) {
        PyGILState_Release(a->gil);
        return;
    }
    PyThreadState_Clear(PyThreadState_Get());
    PyThreadState_DeleteCurrent();
}
