// SPDX-License-Identifier: Apache-2.0
// Calls Python functions and generators from the engine's threads. A function takes arrays and
// returns a list of as many values as the engine expects; a generator's function returns an
// iterator of such lists. A function of many elements is called with their number and, for each
// component, an array of all of them or a list of arrays; it returns how many it processed, a list
// of components in either form, and None or the exception of the element after those. The Python
// files wrap the user's functions accordingly.
//
// A thread may outlive the interpreter (py_iterator.c abandons threads that hang): its calls are
// then errors (py_leave.c).
#include "py/py_engine.h"

static PyObject *functions; // dict: number -> callable
static long long last_id;
static int calls_now;          // atomic
static uint64_t last_pipeline; // under the GIL
_Thread_local int stk_py_was_called;
_Thread_local uint64_t stk_py_inside;

int stk_py_calls_now(void)
{
    return __atomic_load_n(&calls_now, __ATOMIC_RELAXED);
}

struct visit { // of a thread in Python, for a pipeline
    struct stk_py_attached python;
    uint64_t inside; // before
};

// arg: the pipeline's number. 0: the interpreter has exited.
static int enter_python(struct visit *v, void *arg)
{
    if (!stk_py_come_in()) {
        return 0;
    }
    int is_there = Py_IsInitialized();
    if (is_there) {
        __atomic_add_fetch(&calls_now, 1, __ATOMIC_RELAXED);
        stk_py_attach(&v->python);
        v->inside = stk_py_inside;
        stk_py_inside = (uint64_t)(uintptr_t)arg;
    }
    stk_py_came_in();
    return is_there;
}

static void leave_python(const struct visit *v)
{
    stk_py_inside = v->inside;
    stk_py_detach(&v->python);
    __atomic_sub_fetch(&calls_now, 1, __ATOMIC_RELAXED);
}

uint64_t stk_py_host_of_pipeline(struct stoker_host *host)
{
    *host = stk_py_host;
    host->arg = (void *)(uintptr_t)++last_pipeline;
    return last_pipeline;
}

static enum stoker_status has_left(struct stoker_err *err)
{
    *err = (struct stoker_err){.code = STOKER_EINTR, .offset = -1};
    PyOS_snprintf(err->message, sizeof err->message, "the interpreter has exited");
    return STOKER_EINTR;
}

PyObject *stk_py_register(PyObject *module, PyObject *function)
{
    (void)module;
    if (!functions && !(functions = PyDict_New())) {
        return NULL;
    }
    PyObject *id = PyLong_FromLongLong(++last_id);
    if (id && PyDict_SetItem(functions, id, function) < 0) {
        Py_CLEAR(id);
    }
    return id;
}

PyObject *stk_py_unregister(PyObject *module, PyObject *id)
{
    (void)module;
    if (functions && PyDict_DelItem(functions, id) < 0) {
        PyErr_Clear();
    }
    Py_RETURN_NONE;
}

static PyObject *find(int64_t id)
{
    PyObject *key = PyLong_FromLongLong(id);
    PyObject *f = key && functions ? PyDict_GetItem(functions, key) : NULL;
    Py_XDECREF(key);
    if (!f) {
        PyErr_SetString(PyExc_RuntimeError, "the Python function no longer exists");
    }
    Py_XINCREF(f);
    return f;
}

// Arrays over the engine's memory, keeping it alive: the function may keep them.
static PyObject *call_with(PyObject *f, const struct stoker_tensor *in, int n_in)
{
    PyObject *args = PyTuple_New(n_in), *result = NULL;
    for (int i = 0; args && i < n_in; i++) {
        struct stoker_tensor t;
        stoker_tensor_share(&t, &in[i]);
        PyObject *a = stk_py_tensor_out(&t);
        if (!a) {
            Py_CLEAR(args);
            break;
        }
        PyTuple_SET_ITEM(args, i, a);
    }
    if (args) {
        result = PyObject_CallObject(f, args);
        Py_DECREF(args);
    }
    return result;
}

static int results_in(PyObject *list, struct stoker_tensor *out, int n_out)
{
    if (!PyList_Check(list) || PyList_GET_SIZE(list) != n_out) {
        PyErr_Format(PyExc_RuntimeError, "the function must return a list of %d values", n_out);
        return -1;
    }
    for (int i = 0; i < n_out; i++) {
        PyObject *hold;
        if (stk_py_tensor_in(PyList_GET_ITEM(list, i), &out[i], &hold) < 0) {
            while (i-- > 0) {
                Py_CLEAR(out[i].hold);
            }
            return -1;
        }
        out[i].hold = hold;
    }
    return 0;
}

static enum stoker_status host_call(void *arg, int64_t id, const struct stoker_tensor *in, int n_in,
                                    struct stoker_tensor *out, int n_out, struct stoker_err *err)
{
    stk_py_was_called = 1;
    struct visit python;
    if (!enter_python(&python, arg)) {
        return has_left(err);
    }
    PyObject *f = find(id);
    PyObject *list = f ? call_with(f, in, n_in) : NULL;
    int failed = !list || results_in(list, out, n_out) < 0;
    if (failed) {
        stk_py_keep_exception(err);
    }
    Py_XDECREF(list);
    Py_XDECREF(f);
    leave_python(&python);
    return failed ? STOKER_ECALLER : STOKER_OK;
}

// An array of all n elements, or a list of arrays.
static PyObject *component_out(const struct stoker_component *c, int64_t n)
{
    struct stoker_tensor t;
    if (c->is_stacked) {
        stoker_tensor_share(&t, c->of);
        return stk_py_tensor_out(&t);
    }
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (int64_t i = 0; list && i < n; i++) {
        stoker_tensor_share(&t, &c->of[i]);
        PyObject *a = stk_py_tensor_out(&t);
        if (!a) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, (Py_ssize_t)i, a);
    }
    return list;
}

static int component_in(PyObject *value, struct stoker_component *c, int64_t done)
{
    PyObject *hold;
    c->is_stacked = !PyList_Check(value);
    if (c->is_stacked) {
        if (stk_py_tensor_in(value, c->of, &hold) < 0) {
            return -1;
        }
        c->of->hold = hold;
        if (c->of->rank < 1 || c->of->dim[0] != done) {
            PyErr_SetString(PyExc_RuntimeError, "the function must return all results");
            return -1;
        }
        return 0;
    }
    if (PyList_GET_SIZE(value) != done) {
        PyErr_SetString(PyExc_RuntimeError,
                        "the function must return the same number of values each time");
        return -1;
    }
    for (int64_t i = 0; i < done; i++) {
        if (stk_py_tensor_in(PyList_GET_ITEM(value, i), &c->of[i], &hold) < 0) {
            return -1;
        }
        c->of[i].hold = hold;
    }
    return 0;
}

static PyObject *call_many_with(PyObject *f, int64_t n, const struct stoker_component *in, int n_in)
{
    PyObject *args = PyTuple_New(n_in + 1), *result = NULL;
    for (int i = -1; args && i < n_in; i++) {
        PyObject *a = i < 0 ? PyLong_FromLongLong(n) : component_out(&in[i], n);
        if (!a) {
            Py_CLEAR(args);
            break;
        }
        PyTuple_SET_ITEM(args, i + 1, a);
    }
    if (args) {
        result = PyObject_CallObject(f, args);
        Py_DECREF(args);
    }
    return result;
}

// Takes a function's result for many elements. -1: exception; *done may still be set.
static int many_in(PyObject *result, int64_t n, struct stoker_component *out, int n_out,
                   int64_t *done)
{
    long long count;
    PyObject *values, *failure;
    if (!PyArg_ParseTuple(result, "LO!O", &count, &PyList_Type, &values, &failure)) {
        return -1;
    }
    if (count < 0 || count > n || PyList_GET_SIZE(values) != n_out) {
        PyErr_Format(PyExc_RuntimeError, "the function must return lists of %d values", n_out);
        return -1;
    }
    for (int k = 0; k < n_out; k++) {
        if (component_in(PyList_GET_ITEM(values, k), &out[k], count) < 0) {
            return -1;
        }
    }
    *done = count;
    if (failure != Py_None) {
        PyErr_SetObject((PyObject *)Py_TYPE(failure), failure);
        return -1;
    }
    return 0;
}

static enum stoker_status host_call_many(void *arg, int64_t id, int64_t n,
                                         const struct stoker_component *in, int n_in,
                                         struct stoker_component *out, int n_out, int64_t *done,
                                         struct stoker_err *err)
{
    stk_py_was_called = 1;
    struct visit python;
    if (!enter_python(&python, arg)) {
        return has_left(err);
    }
    PyObject *f = find(id);
    PyObject *result = f ? call_many_with(f, n, in, n_in) : NULL;
    int failed = !result || many_in(result, n, out, n_out, done) < 0;
    if (failed) {
        stk_py_keep_exception(err);
    }
    Py_XDECREF(result);
    Py_XDECREF(f);
    leave_python(&python);
    return failed ? STOKER_ECALLER : STOKER_OK;
}

static enum stoker_status host_gen_open(void *arg, int64_t id, const struct stoker_tensor *in,
                                        int n_in, void **gen, struct stoker_err *err)
{
    struct visit python;
    if (!enter_python(&python, arg)) {
        return has_left(err);
    }
    PyObject *f = find(id);
    *gen = f ? call_with(f, in, n_in) : NULL;
    if (!*gen) {
        stk_py_keep_exception(err);
    }
    Py_XDECREF(f);
    leave_python(&python);
    return *gen ? STOKER_OK : STOKER_ECALLER;
}

static enum stoker_status host_gen_next(void *arg, void *gen, struct stoker_tensor *out, int n_out,
                                        int *is_end, struct stoker_err *err)
{
    stk_py_was_called = 1;
    struct visit python;
    if (!enter_python(&python, arg)) {
        return has_left(err);
    }
    PyObject *list = PyIter_Next(gen);
    int failed = list ? results_in(list, out, n_out) < 0 : PyErr_Occurred() != NULL;
    *is_end = !list && !failed;
    if (failed) {
        stk_py_keep_exception(err);
    }
    Py_XDECREF(list);
    leave_python(&python);
    return failed ? STOKER_ECALLER : STOKER_OK;
}

static void host_gen_close(void *arg, void *gen)
{
    struct visit python;
    if (!enter_python(&python, arg)) {
        return; // the process is ending, and the generator with it
    }
    if (PyObject_HasAttrString(gen, "close")) {
        PyObject *r = PyObject_CallMethod(gen, "close", NULL);
        if (!r) {
            PyErr_WriteUnraisable(gen);
        }
        Py_XDECREF(r);
    }
    Py_DECREF((PyObject *)gen);
    leave_python(&python);
}

static void host_release_hold(void *arg, void *hold)
{
    (void)arg;
    stk_py_let_go(hold);
}

const struct stoker_host stk_py_host = {.call = host_call,
                                        .call_many = host_call_many,
                                        .gen_open = host_gen_open,
                                        .gen_next = host_gen_next,
                                        .gen_close = host_gen_close,
                                        .release_hold = host_release_hold};
