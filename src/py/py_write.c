// SPDX-License-Identifier: Apache-2.0
// RecordWriter, and Examples as bytes.
#include "py/py_engine.h"

struct writer {
    PyObject_HEAD struct stoker_record_writer *w;
};

// RecordWriter(path, compression, level)
static PyObject *writer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *path;
    const char *compression;
    int level;
    struct stoker_err err;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O&si", PyUnicode_FSConverter, &path, &compression, &level)) {
        return NULL;
    }
    struct writer *self = (struct writer *)type->tp_alloc(type, 0);
    enum stoker_status s = STOKER_OK;
    if (self) {
        s = stoker_record_create(PyBytes_AS_STRING(path), compression, level, &self->w, &err);
    }
    Py_DECREF(path);
    if (s != STOKER_OK) {
        Py_CLEAR(self);
        return stk_py_raise(&err);
    }
    return (PyObject *)self;
}

static PyObject *writer_finish(PyObject *o, PyObject *unused)
{
    struct writer *self = (struct writer *)o;
    struct stoker_record_writer *w = self->w;
    struct stoker_err err;
    enum stoker_status s;
    (void)unused;
    self->w = NULL;
    PyThreadState *unlocked = PyEval_SaveThread();
    s = w ? stoker_record_finish(w, &err) : STOKER_OK;
    stk_py_resume(unlocked);
    if (s != STOKER_OK) {
        return stk_py_raise(&err);
    }
    Py_RETURN_NONE;
}

static void writer_dealloc(PyObject *o)
{
    struct stoker_err err;
    (void)stoker_record_finish(((struct writer *)o)->w, &err);
    Py_TYPE(o)->tp_free(o);
}

static PyObject *writer_write(PyObject *o, PyObject *record)
{
    struct writer *self = (struct writer *)o;
    Py_buffer b;
    struct stoker_err err;
    if (!self->w) {
        PyErr_SetString(PyExc_ValueError, "the writer is closed");
        return NULL;
    }
    if (PyObject_GetBuffer(record, &b, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    enum stoker_status s = stoker_record_write(self->w, b.buf, (size_t)b.len, &err);
    PyBuffer_Release(&b);
    if (s != STOKER_OK) {
        return stk_py_raise(&err);
    }
    Py_RETURN_NONE;
}

static PyMethodDef writer_methods[] = {
    {"write", writer_write, METH_O, "write(record): bytes or a buffer."},
    {"finish", writer_finish, METH_NOARGS, "Writes what is left and closes the file."},
    {NULL, NULL, 0, NULL}};

PyTypeObject stk_py_writer_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stoker.data._engine.RecordWriter",
    .tp_basicsize = sizeof(struct writer),
    .tp_dealloc = writer_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_methods = writer_methods,
    .tp_new = writer_new,
    .tp_doc = "RecordWriter(path, compression, level): a TFRecord file.",
};

struct feature { // memory that a stoker_feature borrows
    PyObject *name, *hold;
    size_t *steps;
};

// (name, array or None, steps or None)
static int feature_in(PyObject *item, struct stoker_feature *f, struct feature *own)
{
    PyObject *name, *values, *steps;
    struct stoker_tensor t;
    if (!PyArg_ParseTuple(item, "UOO", &name, &values, &steps)) {
        return -1;
    }
    f->name = PyUnicode_AsUTF8(name);
    f->dtype = -1;
    if (!f->name || (values != Py_None && stk_py_tensor_in(values, &t, &own->hold) < 0)) {
        return -1;
    }
    if (values != Py_None) {
        f->dtype = t.dtype;
        f->values = t.data;
        f->count = t.rank == 1 ? (size_t)t.dim[0] : 1;
    }
    if (steps != Py_None) {
        f->is_list = 1;
        f->step_count = (size_t)PyList_Size(steps);
        own->steps = PyMem_Calloc(f->step_count + 1, sizeof own->steps[0]);
        for (size_t i = 0; own->steps && i < f->step_count; i++) {
            own->steps[i] = PyLong_AsSize_t(PyList_GET_ITEM(steps, (Py_ssize_t)i));
        }
        f->steps = own->steps;
    }
    return PyErr_Occurred() ? -1 : 0;
}

PyObject *stk_py_encode(PyObject *module, PyObject *args)
{
    PyObject *list, *result = NULL;
    int is_sequence;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!p", &PyList_Type, &list, &is_sequence)) {
        return NULL;
    }
    Py_ssize_t n = PyList_GET_SIZE(list), done = 0;
    struct stoker_feature *f = PyMem_Calloc((size_t)n + 1, sizeof f[0]);
    struct feature *own = PyMem_Calloc((size_t)n + 1, sizeof own[0]);
    int ok = f && own;
    while (ok && done < n) {
        ok = feature_in(PyList_GET_ITEM(list, done), &f[done], &own[done]) == 0;
        done++;
    }
    if (ok) {
        struct stoker_bytes b;
        struct stoker_err err;
        if (stoker_example_encode(f, (size_t)n, is_sequence, &b, &err) == STOKER_OK) {
            result = PyBytes_FromStringAndSize((const char *)b.data, (Py_ssize_t)b.size);
            stoker_bytes_free(&b);
        } else {
            stk_py_raise(&err);
        }
    }
    for (Py_ssize_t i = 0; own && i < done; i++) {
        Py_XDECREF(own[i].hold);
        PyMem_Free(own[i].steps);
    }
    PyMem_Free(f);
    PyMem_Free(own);
    return result || PyErr_Occurred() ? result : PyErr_NoMemory();
}
