// SPDX-License-Identifier: Apache-2.0
// Iterator: the engine's, with elements in the caller's structure.
//
// Elements that are ready are taken on the calling thread. Others may take any time: while blocks
// take less than a millisecond they are made on the calling thread without the GIL; slower ones,
// and those made by Python functions of the pipeline, by a helper thread. The caller waits for it
// in slices, so that Ctrl-C gets through: to the caller, never into a function or generator of the
// pipeline, which it would end. After an interruption the helper continues, and the next call takes
// its result.
//
// A structure is: an int (the component with that number), a tuple or dict of structures, None, or
// a list [callable, structure, ...], called with the parts.
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "py/py_engine.h"
#include "stoker/device.h"

#define SLICE_NS 50000000      // between checks for signals
#define DIRECT_NS 1000000      // slower refills go to the helper
#define FAREWELL_NS 5000000000 // after this, the helper is left to end by itself
#define HOPS_MAX 1000          // most functions waiting for each other's iterators
#define PATIENCE_NS 300000000  // the same while a Python function runs, which can't be canceled

struct helper { // one thread that pulls for an iterator
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    struct stoker_iterator *it;
    int has_job, is_stopping, has_ended, is_orphan, calls_python;
    int n, is_end;
    enum stoker_status status;
    struct stoker_err err;
    struct stoker_tensor *out;
    PyObject *dataset; // an orphan's: keeps alive what the engine borrows
};

struct iterator {
    PyObject_HEAD struct stoker_iterator *it;
    PyObject *dataset, *structure, *replacement; // dataset: owns borrowed memory; replacement: for
                                                 // failed elements
    struct helper *helper;
    int n, is_busy, asked, has_job, is_closed, generation, calls_python;
    int is_bare;                                // the element is its only component
    PyObject *(*give)(struct stoker_tensor *t); // stk_py_eager_out or stk_py_tensor_out
    int64_t refill_ns;                          // moving mean
    unsigned long long replaced;
    uint64_t number, called_from;  // the pipeline's; that of the function that called next(), or 0
    struct iterator *next, **from; // links in the list of live ones
    struct stoker_tensor *out;
};

static struct iterator *live;
static int generation; // number of forks before this process

static void forked(void)
{
    generation++;
}

int stk_py_iterator_setup(void)
{
    return pthread_atfork(NULL, NULL, forked);
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void helper_free(struct helper *h)
{
    pthread_mutex_destroy(&h->lock);
    pthread_cond_destroy(&h->wake);
    pthread_cond_destroy(&h->done);
    free(h->out);
    free(h);
}

// A thread's Python state, kept from the first Python function on, so that calls don't create it
// each time.
struct python_state {
    int is_there;
    struct stk_py_attached attached;
    PyThreadState *saved;
};

static void keep_python(struct python_state *p)
{
    if (!p->is_there && stk_py_come_in()) {
        stk_py_attach(&p->attached);
        stk_py_came_in();
        p->saved = PyEval_SaveThread();
        p->is_there = 1;
    }
}

// If the interpreter is gone, the state is too.
static void drop_python(struct python_state *p)
{
    if (p->is_there && stk_py_come_in()) {
        PyEval_RestoreThread(p->saved);
        stk_py_came_in();
        stk_py_detach(&p->attached);
    }
}

// Pulls on request; frees the engine's iterator when told to stop.
static void *helper_main(void *arg)
{
    struct helper *h = arg;
    struct python_state python = {0};
    pthread_mutex_lock(&h->lock);
    for (;;) {
        while (!h->has_job && !h->is_stopping) {
            pthread_cond_wait(&h->wake, &h->lock);
        }
        if (h->is_stopping) {
            break;
        }
        pthread_mutex_unlock(&h->lock);
        enum stoker_status s = stoker_iterator_next(h->it, h->out, h->n, &h->is_end, &h->err);
        if (stk_py_was_called) {
            keep_python(&python);
        }
        pthread_mutex_lock(&h->lock);
        h->status = s;
        h->calls_python = stk_py_was_called;
        h->has_job = 0;
        pthread_cond_signal(&h->done);
    }
    pthread_mutex_unlock(&h->lock);
    stoker_iterator_free(h->it);
    drop_python(&python);
    pthread_mutex_lock(&h->lock);
    h->has_ended = 1;
    int is_orphan = h->is_orphan;
    pthread_cond_signal(&h->done);
    pthread_mutex_unlock(&h->lock);
    if (is_orphan) {
        stk_py_let_go(h->dataset);
        helper_free(h);
    }
    return NULL;
}

static struct helper *helper_new(struct stoker_iterator *it, int n)
{
    struct helper *h = calloc(1, sizeof *h);
    struct stoker_tensor *out = calloc((size_t)n + 1, sizeof out[0]);
    if (!h || !out) {
        free(h);
        free(out);
        return NULL;
    }
    h->it = it;
    h->n = n;
    h->out = out;
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->wake, NULL);
    pthread_cond_init(&h->done, &attr);
    pthread_condattr_destroy(&attr);
    // Python's main thread handles signals, except faults, which end a process that blocks them.
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&h->thread, NULL, helper_main, h);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        helper_free(h);
        return NULL;
    }
    pthread_detach(h->thread);
    return h;
}

// Waits, at most that long, for *flag to become `wanted`. Returns whether it did.
static int helper_wait(struct helper *h, const int *flag, int wanted, int64_t ns)
{
    int64_t end = now_ns() + ns;
    struct timespec until = {(time_t)(end / 1000000000), (long)(end % 1000000000)};
    pthread_mutex_lock(&h->lock);
    int rc = 0, has_lent = *flag != wanted && stoker_data_lend_processor();
    while (*flag != wanted && rc != ETIMEDOUT) {
        rc = pthread_cond_timedwait(&h->done, &h->lock, &until);
    }
    int is_there = *flag == wanted;
    pthread_mutex_unlock(&h->lock);
    if (has_lent) {
        stoker_data_take_processor();
    }
    return is_there;
}

static int has_threads(const struct stoker_iterator *it)
{
    struct stoker_stage stage;
    for (int i = 0; stoker_iterator_stage(it, i, &stage); i++) {
        if (stage.threads > 0) {
            return 1;
        }
    }
    return 0;
}

// Waits for the helper to end: only briefly while Python functions run (anyone's: they are counted
// per process), since nothing can end those early.
static void bid_farewell(struct helper *h)
{
    int64_t start = now_ns(), passed = 0;
    while (passed < FAREWELL_NS && !(passed >= PATIENCE_NS && stk_py_calls_now())) {
        if (helper_wait(h, &h->has_ended, 1, SLICE_NS)) {
            return;
        }
        passed = now_ns() - start;
    }
}

// Frees the engine's iterator; tensors live on. Without the GIL: its threads may need it. They may
// also hang in a disk or a Python function: then the helper is left to wait for them and to release
// the dataset. Returns whether it was left.
static int end_engine(struct stoker_iterator *it, struct helper *h, int n, PyObject *dataset)
{
    if (!h && has_threads(it)) {
        h = helper_new(it, n);
    }
    if (!h) {
        stoker_iterator_free(it);
        return 0;
    }
    stoker_iterator_cancel(it);
    pthread_mutex_lock(&h->lock);
    h->is_stopping = 1;
    pthread_cond_signal(&h->wake);
    pthread_mutex_unlock(&h->lock);
    bid_farewell(h);
    pthread_mutex_lock(&h->lock);
    int has_ended = h->has_ended;
    h->is_orphan = !has_ended; // a Python function hangs: the helper cleans up after it
    h->dataset = dataset;
    pthread_mutex_unlock(&h->lock);
    if (has_ended) {
        helper_free(h);
    }
    return !has_ended;
}

static void take_out_of_list(struct iterator *self)
{
    if (self->from) {
        *self->from = self->next;
        if (self->next) {
            self->next->from = self->from;
        }
        self->from = NULL;
    }
    if (!live) {
        stk_py_forget_strings();
    }
}

static void iterator_close(struct iterator *self)
{
    if (self->is_closed) {
        return;
    }
    self->is_closed = 1;
    take_out_of_list(self);
    struct stoker_iterator *it = self->it;
    struct helper *h = self->helper;
    self->it = NULL;
    self->helper = NULL;
    if (it && self->generation == generation) { // after a fork its threads don't exist
        PyObject *dataset = self->dataset;
        Py_XINCREF(dataset);
        int is_left;
        PyThreadState *unlocked = PyEval_SaveThread();
        is_left = end_engine(it, h, self->n, dataset);
        stk_py_resume(unlocked);
        if (!is_left) {
            Py_XDECREF(dataset);
        }
    }
    for (int i = 0; self->out && i < self->n; i++) {
        self->out[i] = (struct stoker_tensor){0};
    }
}

// After a fork its threads don't exist, and their locks stay locked.
static void cancel(struct iterator *self)
{
    if (self->it && self->generation == generation) {
        stoker_iterator_cancel(self->it);
    }
}

PyObject *stk_py_close_all(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    stk_py_leave_begin();
    while (live) {
        struct iterator *self = live;
        Py_INCREF(self);     // threads that return from it may release it
        if (self->is_busy) { // another thread's, which rests when it comes back and needs its
                             // memory until then
            take_out_of_list(self);
            cancel(self);
        } else {
            iterator_close(self);
        }
        Py_DECREF(self);
    }
    stk_py_drain(NULL);
    stk_py_leave_end();
    Py_RETURN_NONE;
}

static void iterator_dealloc(PyObject *o)
{
    struct iterator *self = (struct iterator *)o;
    PyObject *type, *value, *traceback;
    PyObject_GC_UnTrack(o);
    PyErr_Fetch(&type, &value, &traceback);
    iterator_close(self);
    PyErr_Restore(type, value, traceback);
    PyMem_Free(self->out);
    Py_CLEAR(self->dataset);
    Py_CLEAR(self->structure);
    Py_CLEAR(self->replacement);
    Py_TYPE(o)->tp_free(o);
}

static int iterator_traverse(PyObject *o, visitproc visit, void *arg)
{
    struct iterator *self = (struct iterator *)o;
    Py_VISIT(self->dataset);
    Py_VISIT(self->structure);
    Py_VISIT(self->replacement);
    return 0;
}

static int option_int(PyObject *dict, const char *name, long long *out)
{
    PyObject *v = PyDict_GetItemString(dict, name);
    if (!v || v == Py_None) {
        return 0;
    }
    *out = (long long)PyLong_AsUnsignedLongLongMask(v);
    return 1;
}

int stk_py_run_options(PyObject *dict, struct stoker_run_options *o)
{
    long long v;
    *o = (struct stoker_run_options){.host = &stk_py_host};
    o->has_seed = option_int(dict, "seed", &v);
    o->seed = o->has_seed ? (uint64_t)v : 0;
    o->is_sloppy = option_int(dict, "is_sloppy", &v) && v;
    o->threads = option_int(dict, "threads", &v) ? (int)v : 0;
    o->ram_bytes = option_int(dict, "ram_bytes", &v) ? (uint64_t)v : 0;
    o->is_as_written = option_int(dict, "is_as_written", &v) && v;
    o->skips_errors = option_int(dict, "skips_errors", &v) && v;
    o->initial_parallelism = option_int(dict, "initial_parallelism", &v) ? (int)v : 0;
    o->min_parallelism = option_int(dict, "min_parallelism", &v) ? (int)v : 0;
    o->is_untuned = option_int(dict, "is_untuned", &v) && v;
    o->epoch = option_int(dict, "epoch", &v) ? (uint64_t)v : 0;
    if (option_int(dict, "pinned_device", &v)) {
        struct stoker_err err;
        if (stoker_device_pinned((int)v, &o->memory, &err) != STOKER_OK) {
            stk_py_raise(&err);
        }
    }
    o->record_path = option_int(dict, "is_unrecorded", &v) && v ? "" : NULL;
    return PyErr_Occurred() ? -1 : 0;
}

// Iterator(engine dataset, owner, structure, options, state): options are the fields of struct
// stoker_run_options by name, `replacement`, and `is_plain`: values have no numpy() method.
static PyObject *iterator_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *dataset, *owner, *structure, *dict;
    const char *state;
    Py_ssize_t state_size;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O!OOO!z#", &stk_py_dataset_type, &dataset, &owner, &structure,
                          &PyDict_Type, &dict, &state, &state_size)) {
        return NULL;
    }
    struct stoker_dataset *ds = ((struct stk_py_dataset *)dataset)->ds;
    struct stoker_run_options o;
    struct stoker_host host;
    stk_py_rest_if_leaving();
    if (stk_py_run_options(dict, &o) < 0) {
        return NULL;
    }
    o.host = &host; // the engine copies it
    struct iterator *self = (struct iterator *)type->tp_alloc(type, 0);
    if (!self) {
        return NULL;
    }
    self->n = stoker_specs_count(stoker_dataset_specs(ds));
    self->out = PyMem_Calloc((size_t)self->n + 1, sizeof self->out[0]);
    self->dataset = PyTuple_Pack(2, dataset, owner);
    Py_INCREF(structure);
    self->structure = structure;
    self->is_bare = self->n == 1 && PyLong_CheckExact(structure) && PyLong_AsLong(structure) == 0;
    self->replacement = PyDict_GetItemString(dict, "replacement");
    Py_XINCREF(self->replacement);
    long long is_plain = 0;
    (void)option_int(dict, "is_plain", &is_plain);
    self->give = is_plain ? stk_py_tensor_out : stk_py_eager_out;
    self->generation = generation;
    self->number = stk_py_host_of_pipeline(&host);
    self->refill_ns = 2 * DIRECT_NS; // unknown: the first may take long
    struct stoker_err err;
    enum stoker_status s;
    PyThreadState *unlocked = PyEval_SaveThread();
    s = state ? stoker_iterator_resume(ds, &o, state, (size_t)state_size, &self->it, &err)
              : stoker_iterator_open(ds, &o, &self->it, &err);
    stk_py_resume(unlocked);
    if (s != STOKER_OK || !self->out || !self->dataset) {
        self->is_closed = 1;
        Py_DECREF(self);
        return s != STOKER_OK ? stk_py_raise(&err) : PyErr_NoMemory();
    }
    self->next = live;
    self->from = &live;
    if (live) {
        live->from = &self->next;
    }
    live = self;
    return (PyObject *)self;
}

static PyObject *build_call(PyObject *s, PyObject **leaves, int n)
{
    Py_ssize_t count = PyList_GET_SIZE(s);
    PyObject *args = PyTuple_New(count - 1), *result = NULL;
    for (Py_ssize_t i = 1; args && i < count; i++) {
        PyObject *part = stk_py_build(PyList_GET_ITEM(s, i), leaves, n);
        if (!part) {
            Py_CLEAR(args);
            break;
        }
        PyTuple_SET_ITEM(args, i - 1, part);
    }
    if (args) {
        result = PyObject_CallObject(PyList_GET_ITEM(s, 0), args);
        Py_DECREF(args);
    }
    return result;
}

static PyObject *build_dict(PyObject *s, PyObject **leaves, int n)
{
    PyObject *d = PyDict_New(), *key, *value;
    Py_ssize_t at = 0;
    while (d && PyDict_Next(s, &at, &key, &value)) {
        PyObject *part = stk_py_build(value, leaves, n);
        if (!part || PyDict_SetItem(d, key, part) < 0) {
            Py_CLEAR(d);
        }
        Py_XDECREF(part);
    }
    return d;
}

// Takes the structure's leaves from `leaves`.
STK_PY_HOT PyObject *stk_py_build(PyObject *s, PyObject **leaves, int n)
{
    if (PyLong_CheckExact(s)) {
        long i = PyLong_AsLong(s);
        PyObject *leaf = i >= 0 && i < n ? leaves[i] : NULL;
        if (!leaf) {
            PyErr_SetString(PyExc_IndexError, "no such component");
        }
        Py_XINCREF(leaf);
        return leaf;
    }
    if (PyTuple_CheckExact(s)) {
        Py_ssize_t count = PyTuple_GET_SIZE(s);
        PyObject *t = PyTuple_New(count);
        for (Py_ssize_t i = 0; t && i < count; i++) {
            PyObject *part = stk_py_build(PyTuple_GET_ITEM(s, i), leaves, n);
            if (!part) {
                Py_CLEAR(t);
                break;
            }
            PyTuple_SET_ITEM(t, i, part);
        }
        return t;
    }
    if (PyDict_CheckExact(s)) {
        return build_dict(s, leaves, n);
    }
    if (PyList_CheckExact(s) && PyList_GET_SIZE(s) > 0) {
        return build_call(s, leaves, n);
    }
    Py_INCREF(s);
    return s;
}

// The tensors in self->out as one Python value.
STK_PY_HOT static PyObject *element(struct iterator *self)
{
    PyObject *few[16], **leaves = few, *result = NULL;
    if (self->is_bare) {
        return self->give(&self->out[0]);
    }
    memset(few, 0, sizeof few);
    if (self->n > 16 && !(leaves = PyMem_Calloc((size_t)self->n, sizeof leaves[0]))) {
        return PyErr_NoMemory();
    }
    int ok = 1;
    for (int i = 0; i < self->n; i++) {
        if (ok) {
            leaves[i] = self->give(&self->out[i]);
            ok = leaves[i] != NULL;
        } else {
            stoker_tensor_release(&self->out[i]);
        }
    }
    if (ok) {
        result = stk_py_build(self->structure, leaves, self->n);
    }
    for (int i = 0; i < self->n; i++) {
        Py_XDECREF(leaves[i]);
    }
    if (leaves != few) {
        PyMem_Free(leaves);
    }
    return result;
}

// Pulls on the helper. -1: a signal handler raised; the helper continues.
static int pull_slowly(struct iterator *self, enum stoker_status *s, int *is_end,
                       struct stoker_err *err)
{
    struct helper *h = self->helper;
    int is_done = 0;
    if (!self->has_job) {
        self->has_job = 1;
        pthread_mutex_lock(&h->lock);
        h->has_job = 1;
        pthread_cond_signal(&h->wake);
        pthread_mutex_unlock(&h->lock);
    }
    while (!is_done) {
        PyThreadState *unlocked = PyEval_SaveThread();
        is_done = helper_wait(h, &h->has_job, 0, SLICE_NS);
        stk_py_resume(unlocked);
        stk_py_drain(NULL);
        if (!is_done && PyErr_CheckSignals() < 0) {
            return -1;
        }
    }
    self->has_job = 0;
    self->calls_python = h->calls_python;
    *s = h->status;
    *is_end = h->is_end;
    *err = h->err;
    for (int i = 0; i < self->n && h->status == STOKER_OK; i++) {
        self->out[i] = h->out[i];
    }
    return 0;
}

STK_PY_HOT static int pull(struct iterator *self, enum stoker_status *s, int *is_end,
                           struct stoker_err *err)
{
    if (self->has_job) { // from an interrupted call
        return pull_slowly(self, s, is_end, err);
    }
    if (stoker_iterator_is_ready(self->it)) { // no wait: not worth releasing the GIL
        *s = stoker_iterator_next(self->it, self->out, self->n, is_end, err);
        return 0;
    }
    int64_t start = now_ns();
    int is_direct = self->refill_ns < DIRECT_NS && !self->calls_python, failed = 0;
    if (!is_direct && !self->helper) {
        self->helper = helper_new(self->it, self->n);
    }
    if (is_direct || !self->helper) {
        PyThreadState *unlocked = PyEval_SaveThread();
        *s = stoker_iterator_next(self->it, self->out, self->n, is_end, err);
        stk_py_resume(unlocked);
    } else {
        failed = pull_slowly(self, s, is_end, err);
    }
    self->refill_ns += (now_ns() - start - self->refill_ns) / 2;
    return failed;
}

// Does this thread run a function of the iterator's own pipeline, or one that such a function waits
// for through other iterators? Its next() would wait for itself.
static int is_inside(const struct iterator *self)
{
    uint64_t number = stk_py_inside;
    for (int hops = 0; number && number != self->number && hops < HOPS_MAX; hops++) {
        const struct iterator *at = live;
        while (at && !(at->number == number && at->is_busy)) {
            at = at->next;
        }
        number = at ? at->called_from : 0;
    }
    return number && number == self->number;
}

// One caller at a time; others wait, next() after those that ask for the state.
STK_PY_HOT static int enter(struct iterator *self, int is_next)
{
    if (stk_py_inside && is_inside(self)) {
        PyErr_SetString(PyExc_RuntimeError,
                        "a function in a pipeline called next() on its own iterator, which would "
                        "wait for itself. Use another iterator of the dataset there");
        return -1;
    }
    stk_py_rest_if_leaving();
    while (self->is_busy || (is_next && self->asked)) {
        PyThreadState *unlocked = PyEval_SaveThread();
        struct timespec t = {0, 200000};
        nanosleep(&t, NULL);
        stk_py_resume(unlocked);
        if (PyErr_CheckSignals() < 0) {
            return -1;
        }
    }
    if (self->generation != generation) {
        PyErr_SetString(PyExc_RuntimeError,
                        "this iterator was started before a fork, so its threads are not in this "
                        "process. Make a new one from the dataset here");
        return -1;
    }
    if (self->is_closed) {
        PyErr_SetString(PyExc_RuntimeError, "the iterator is closed");
        return -1;
    }
    self->is_busy = 1;
    self->called_from = stk_py_inside;
    return 0;
}

STK_PY_HOT static PyObject *iterator_next(PyObject *o)
{
    struct iterator *self = (struct iterator *)o;
    struct stoker_err err;
    enum stoker_status s = STOKER_OK;
    int is_end = 0;
    PyObject *result = NULL;
    if (enter(self, 1) < 0) {
        return NULL;
    }
    if (pull(self, &s, &is_end, &err) == 0) {
        if (s != STOKER_OK && s != STOKER_EINTR && self->replacement) {
            self->replaced++;
            Py_INCREF(self->replacement);
            result = self->replacement;
        } else if (s != STOKER_OK) {
            stk_py_raise(&err);
        } else if (!is_end) {
            result = element(self);
        }
    }
    self->is_busy = 0;
    return result;
}

static PyObject *iterator_state(PyObject *o, PyObject *unused)
{
    struct iterator *self = (struct iterator *)o;
    char few[1024];
    size_t n = sizeof few;
    struct stoker_err err;
    (void)unused;
    self->asked++;
    int failed = enter(self, 0) < 0;
    self->asked--;
    if (failed) {
        return NULL;
    }
    self->is_busy = 0;
    if (self->has_job) {
        PyErr_SetString(PyExc_RuntimeError,
                        "an interrupted next() is still running; call next() first");
        return NULL;
    }
    enum stoker_status s = stoker_iterator_state(self->it, few, &n, &err);
    if (s == STOKER_ELIMIT) {
        PyObject *b = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)n);
        if (b && stoker_iterator_state(self->it, PyBytes_AS_STRING(b), &n, &err) != STOKER_OK) {
            Py_DECREF(b);
            return stk_py_raise(&err);
        }
        return b;
    }
    return s == STOKER_OK ? PyBytes_FromStringAndSize(few, (Py_ssize_t)n) : stk_py_raise(&err);
}

// None: unknown.
static PyObject *known_rate(double per_s)
{
    if (per_s > 0) {
        return PyFloat_FromDouble(per_s);
    }
    Py_RETURN_NONE;
}

static PyObject *iterator_stages(PyObject *o, PyObject *unused)
{
    struct iterator *self = (struct iterator *)o;
    struct stoker_stage t;
    (void)unused;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && self->it && stoker_iterator_stage(self->it, i, &t); i++) {
        PyObject *d = Py_BuildValue(
            "{s:s,s:z,s:i,s:K,s:K,s:K,s:K,s:K,s:K,s:I,s:I,s:I,s:I,s:N,s:N,s:N}", "kind", t.kind,
            "where", t.where, "depth", t.depth, "elements", (unsigned long long)t.elements,
            "errors", (unsigned long long)t.errors, "skipped", (unsigned long long)t.skipped,
            "busy_ns", (unsigned long long)t.busy_ns, "wait_ns", (unsigned long long)t.wait_ns,
            "starve_ns", (unsigned long long)t.starve_ns, "threads", t.threads, "fill", t.fill,
            "capacity", t.capacity, "binding", t.binding, "predicted_per_s",
            known_rate(t.predicted_per_s), "achieved_per_s", known_rate(t.achieved_per_s),
            "keeps_nothing", PyBool_FromLong(t.keeps_nothing));
        if (!d || PyList_Append(list, d) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(d);
    }
    return list;
}

static PyObject *iterator_memory(PyObject *o, PyObject *unused)
{
    struct iterator *self = (struct iterator *)o;
    struct stoker_memory m = {0};
    (void)unused;
    if (self->it) {
        stoker_iterator_memory(self->it, &m);
    }
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:K,s:K}", "in_use_bytes", (unsigned long long)m.in_use_bytes,
        "peak_bytes", (unsigned long long)m.peak_bytes, "cap_bytes",
        (unsigned long long)m.cap_bytes, "fresh_buffers", (unsigned long long)m.fresh_buffers,
        "copied", (unsigned long long)m.copied, "replaced", self->replaced);
}

static PyObject *iterator_ready(PyObject *o, PyObject *unused)
{
    struct iterator *self = (struct iterator *)o;
    (void)unused;
    return PyBool_FromLong(self->it && !self->has_job && stoker_iterator_is_ready(self->it));
}

static PyObject *iterator_cancel(PyObject *o, PyObject *unused)
{
    struct iterator *self = (struct iterator *)o;
    (void)unused;
    cancel(self);
    Py_RETURN_NONE;
}

static PyObject *iterator_end(PyObject *o, PyObject *unused)
{
    (void)unused;
    if (((struct iterator *)o)->is_busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is in next(); call cancel() first");
        return NULL;
    }
    iterator_close((struct iterator *)o);
    Py_RETURN_NONE;
}

static PyMethodDef iterator_methods[] = {
    {"state", iterator_state, METH_NOARGS, "Its position, as bytes for Dataset.iterator(state=)."},
    {"stages", iterator_stages, METH_NOARGS,
     "Counts of each stage, as a list of dicts, parents first."},
    {"memory", iterator_memory, METH_NOARGS, "Bytes in use, at the peak and allowed, as a dict."},
    {"is_ready", iterator_ready, METH_NOARGS, "Whether next() would return without waiting."},
    {"cancel", iterator_cancel, METH_NOARGS, "Ends any wait. Call it from any thread."},
    {"close", iterator_end, METH_NOARGS, "Closes it now. Arrays it returned stay valid."},
    {NULL, NULL, 0, NULL}};

PyTypeObject stk_py_iterator_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stoker.data._engine.Iterator",
    .tp_basicsize = sizeof(struct iterator),
    .tp_dealloc = iterator_dealloc,
    .tp_traverse = iterator_traverse,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = iterator_next,
    .tp_methods = iterator_methods,
    .tp_new = iterator_new,
    .tp_doc = "An iterator over a dataset's elements.",
};
