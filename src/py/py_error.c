// SPDX-License-Identifier: Apache-2.0
// Converts engine errors to Python exceptions, and carries Python's exceptions through the engine:
// they are kept here under a number, which is in the error's message, until the consumer's side
// raises them again. Exceptions that are never fetched (skipped elements) make room for newer ones.
#include <stdatomic.h>
#include <string.h>

#include "py/py_engine.h"

#define KEPT_MAX 64
#define MARK "python exception #"

static PyObject *classes; // dict: code -> exception class
static PyObject *again;   // callable(exception, message): the exception to raise for it
static struct {
    long id;
    PyObject *exception;
} kept[KEPT_MAX];
static long kept_count;

PyObject *stk_py_set_errors(PyObject *module, PyObject *args)
{
    PyObject *c, *a;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O", &PyDict_Type, &c, &a)) {
        return NULL;
    }
    Py_INCREF(c);
    Py_XSETREF(classes, c);
    Py_INCREF(a);
    Py_XSETREF(again, a);
    Py_RETURN_NONE;
}

// The pending exception, with its traceback set; NULL: none.
static PyObject *take_exception(void)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value && traceback) {
        PyException_SetTraceback(value, traceback);
    }
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return value;
}

void stk_py_keep_exception(struct stoker_err *err)
{
    PyObject *exception = take_exception();
    PyObject *text = exception ? PyObject_Str(exception) : NULL;
    const char *words = text ? PyUnicode_AsUTF8(text) : NULL;
    long id = ++kept_count;
    PyErr_Clear();
    Py_XSETREF(kept[id % KEPT_MAX].exception, exception);
    kept[id % KEPT_MAX].id = id;
    err->code = STOKER_ECALLER;
    err->offset = -1;
    PyOS_snprintf(err->message, sizeof err->message, MARK "%ld: %.60s: %.380s", id,
                  exception ? Py_TYPE(exception)->tp_name : "unknown", words ? words : "");
    Py_XDECREF(text);
}

static PyObject *find_kept(const char *message)
{
    const char *at = strstr(message, MARK);
    long id = at ? strtol(at + strlen(MARK), NULL, 10) : 0;
    PyObject *found = id > 0 && kept[id % KEPT_MAX].id == id ? kept[id % KEPT_MAX].exception : NULL;
    if (found) {
        kept[id % KEPT_MAX].exception = NULL;
    }
    return found;
}

// "python exception #3: ValueError: no" without the number, with the error's context.
static PyObject *message_of(const struct stoker_err *err)
{
    const char *text = err->message, *at = strstr(text, MARK), *colon = at ? strchr(at, ':') : NULL;
    char plain[sizeof err->message];
    if (colon) {
        PyOS_snprintf(plain, sizeof plain, "%.*s%s", (int)(at - text), text, colon + 2);
        text = plain;
    }
    PyObject *message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    for (int i = 0; message && i < err->contexts && i < 4; i++) {
        const char *c = err->context[i];
        PyObject *way = PyUnicode_DecodeUTF8(c, (Py_ssize_t)strlen(c), "replace");
        PyObject *longer = way ? PyUnicode_FromFormat("%U\n  while %U", message, way) : NULL;
        Py_XDECREF(way);
        Py_SETREF(message, longer);
    }
    return message;
}

PyObject *stk_py_raise(const struct stoker_err *err)
{
    PyObject *message = message_of(err);
    PyObject *original = err->code == STOKER_ECALLER ? find_kept(err->message) : NULL;
    if (message && original && again) {
        PyObject *e = PyObject_CallFunctionObjArgs(again, original, message, NULL);
        if (e) {
            PyErr_SetObject((PyObject *)Py_TYPE(e), e);
            Py_DECREF(e);
        }
    } else if (message) {
        PyObject *code = PyLong_FromLong(err->code);
        PyObject *class = code && classes ? PyDict_GetItem(classes, code) : NULL;
        PyErr_SetObject(class ? class : PyExc_RuntimeError, message);
        Py_XDECREF(code);
    }
    Py_XDECREF(original);
    Py_XDECREF(message);
    return NULL;
}

struct gone { // a reference to drop once a thread has the GIL
    struct gone *next;
    PyObject *object;
};
static _Atomic(struct gone *) gone_list;

void stk_py_let_go(void *object)
{
    if (!object || !stk_py_come_in()) {
        return; // the object ends with the interpreter
    }
    if (PyGILState_Check()) {
        stk_py_came_in(); // dropping the object may wait
        Py_DECREF((PyObject *)object);
        return;
    }
    struct gone *g = PyMem_RawMalloc(sizeof *g); // NULL: leaks the object
    if (g) {
        g->object = object;
        g->next = atomic_load(&gone_list);
        while (!atomic_compare_exchange_weak(&gone_list, &g->next, g)) {
        }
        Py_AddPendingCall(stk_py_drain, NULL);
    }
    stk_py_came_in();
}

int stk_py_drain(void *unused)
{
    (void)unused;
    struct gone *g = atomic_exchange(&gone_list, NULL);
    while (g) {
        struct gone *next = g->next;
        Py_DECREF(g->object);
        PyMem_RawFree(g);
        g = next;
    }
    return 0;
}
