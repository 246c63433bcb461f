// SPDX-License-Identifier: Apache-2.0
// Converts Python values to the engine's named arguments, by their type:
//
//   None                     left out          bool, int            a number
//   float                    a number          str, bytes           a text
//   numpy.ndarray            one tensor        Fn                   a function
//   (tag, sequence)          "ints" "floats" "texts" "tensors" "specs" "bound" "datasets"
//
// Specs are (dtype, shape or None, Specs or None), with None for unknown dimensions.
#include "py/py_engine.h"

static int dim_in(PyObject *d, int64_t *out)
{
    *out = d == Py_None ? STOKER_UNKNOWN : PyLong_AsLongLong(d);
    return PyErr_Occurred() ? -1 : 0;
}

static int spec_in(PyObject *item, struct stoker_spec *s)
{
    PyObject *shape, *nested;
    *s = (struct stoker_spec){.rank = STOKER_UNKNOWN};
    if (!PyTuple_Check(item) || !PyArg_ParseTuple(item, "iOO", &s->dtype, &shape, &nested)) {
        PyErr_SetString(PyExc_TypeError, "a spec must be (dtype, shape, nested)");
        return -1;
    }
    if (s->dtype < 0 || s->dtype >= STOKER_DTYPES) {
        PyErr_SetString(PyExc_ValueError, "unknown dtype");
        return -1;
    }
    if (PyObject_TypeCheck(nested, &stk_py_specs_type)) {
        s->nested = ((struct stk_py_specs *)nested)->specs;
    }
    if (shape == Py_None) {
        return 0;
    }
    if (!PyTuple_Check(shape) || PyTuple_GET_SIZE(shape) > STOKER_RANK_MAX) {
        PyErr_Format(PyExc_ValueError, "a shape must be a tuple of at most %d dimensions",
                     STOKER_RANK_MAX);
        return -1;
    }
    s->rank = (int)PyTuple_GET_SIZE(shape);
    for (int i = 0; i < s->rank; i++) {
        if (dim_in(PyTuple_GET_ITEM(shape, i), &s->dim[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

int stk_py_specs_in(PyObject *list, struct stoker_spec **out, Py_ssize_t *n)
{
    PyObject *fast = PySequence_Fast(list, "specs must be a sequence");
    *n = fast ? PySequence_Fast_GET_SIZE(fast) : 0;
    *out = fast ? PyMem_Calloc((size_t)*n + 1, sizeof **out) : NULL;
    int failed = !*out;
    for (Py_ssize_t i = 0; !failed && i < *n; i++) {
        failed = spec_in(PySequence_Fast_GET_ITEM(fast, i), &(*out)[i]) < 0;
    }
    Py_XDECREF(fast);
    if (failed) {
        PyMem_Free(*out);
        *out = NULL;
        return PyErr_Occurred() ? -1 : (PyErr_NoMemory(), -1);
    }
    return 0;
}

static int put_ints(struct stoker_args *a, const char *name, PyObject *fast, Py_ssize_t n)
{
    int64_t *values = PyMem_Calloc((size_t)n + 1, sizeof values[0]);
    int ok = values != NULL;
    for (Py_ssize_t i = 0; ok && i < n; i++) {
        values[i] = PyLong_AsLongLong(PySequence_Fast_GET_ITEM(fast, i));
        ok = !PyErr_Occurred();
    }
    ok = ok && stoker_args_ints(a, name, values, (size_t)n);
    PyMem_Free(values);
    return ok;
}

static int put_floats(struct stoker_args *a, const char *name, PyObject *fast, Py_ssize_t n)
{
    double *values = PyMem_Calloc((size_t)n + 1, sizeof values[0]);
    int ok = values != NULL;
    for (Py_ssize_t i = 0; ok && i < n; i++) {
        values[i] = PyFloat_AsDouble(PySequence_Fast_GET_ITEM(fast, i));
        ok = !PyErr_Occurred();
    }
    ok = ok && stoker_args_floats(a, name, values, (size_t)n);
    PyMem_Free(values);
    return ok;
}

static int text_in(PyObject *item, struct stoker_bytes *b)
{
    Py_ssize_t n = 0;
    char *at = NULL;
    if (PyUnicode_Check(item)) {
        at = (char *)(uintptr_t)PyUnicode_AsUTF8AndSize(item, &n);
    } else if (PyBytes_AsStringAndSize(item, &at, &n) < 0) {
        return -1;
    }
    *b = (struct stoker_bytes){(const unsigned char *)at, (size_t)n};
    return at ? 0 : -1;
}

static int put_texts(struct stoker_args *a, const char *name, PyObject *fast, Py_ssize_t n)
{
    struct stoker_bytes *values = PyMem_Calloc((size_t)n + 1, sizeof values[0]);
    int ok = values != NULL;
    for (Py_ssize_t i = 0; ok && i < n; i++) {
        ok = text_in(PySequence_Fast_GET_ITEM(fast, i), &values[i]) == 0;
    }
    ok = ok && stoker_args_texts(a, name, values, (size_t)n);
    PyMem_Free(values);
    return ok;
}

// Lends the arrays' memory: the engine releases the holds when it is done.
static int put_tensors(struct stoker_args *a, const char *name, PyObject *const *items,
                       Py_ssize_t n)
{
    struct stoker_tensor *t = PyMem_Calloc((size_t)n + 1, sizeof t[0]);
    PyObject **holds = PyMem_Calloc((size_t)n + 1, sizeof holds[0]);
    int ok = t && holds;
    for (Py_ssize_t i = 0; ok && i < n; i++) {
        ok = stk_py_tensor_in(items[i], &t[i], &holds[i]) == 0;
    }
    if (ok) {
        ok = stoker_args_memory(a, name, t, (size_t)n, stk_py_let_go, (void **)holds);
    } else {
        for (Py_ssize_t i = 0; holds && i < n; i++) {
            Py_XDECREF(holds[i]);
        }
    }
    PyMem_Free(t);
    PyMem_Free(holds);
    return ok;
}

static int put_specs(struct stoker_args *a, const char *name, PyObject *list, int is_bound)
{
    struct stoker_spec *specs;
    Py_ssize_t n;
    if (stk_py_specs_in(list, &specs, &n) < 0) {
        return 0;
    }
    int ok = is_bound ? stoker_args_bound(a, name, specs, (size_t)n)
                      : stoker_args_specs(a, name, specs, (size_t)n);
    PyMem_Free(specs);
    return ok;
}

static int put_datasets(struct stoker_args *a, const char *name, PyObject *fast, Py_ssize_t n)
{
    struct stoker_dataset **ds = PyMem_Calloc((size_t)n + 1, sizeof ds[0]);
    int ok = ds != NULL;
    for (Py_ssize_t i = 0; ok && i < n; i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(fast, i);
        ok = PyObject_TypeCheck(item, &stk_py_dataset_type);
        if (ok) {
            ds[i] = ((struct stk_py_dataset *)item)->ds;
        } else {
            PyErr_SetString(PyExc_TypeError, "expected datasets");
        }
    }
    ok = ok && stoker_args_datasets(a, name, ds, (size_t)n);
    PyMem_Free(ds);
    return ok;
}

static int put_tagged(struct stoker_args *a, const char *name, PyObject *value)
{
    const char *tag;
    PyObject *list;
    if (!PyArg_ParseTuple(value, "sO", &tag, &list)) {
        return 0;
    }
    if (!strcmp(tag, "specs") || !strcmp(tag, "bound")) {
        return put_specs(a, name, list, tag[0] == 'b');
    }
    PyObject *fast = PySequence_Fast(list, "expected a list of values");
    if (!fast) {
        return 0;
    }
    Py_ssize_t n = PySequence_Fast_GET_SIZE(fast);
    int ok = 0;
    if (!strcmp(tag, "ints")) {
        ok = put_ints(a, name, fast, n);
    } else if (!strcmp(tag, "floats")) {
        ok = put_floats(a, name, fast, n);
    } else if (!strcmp(tag, "texts")) {
        ok = put_texts(a, name, fast, n);
    } else if (!strcmp(tag, "tensors")) {
        ok = put_tensors(a, name, PySequence_Fast_ITEMS(fast), n);
    } else if (!strcmp(tag, "datasets")) {
        ok = put_datasets(a, name, fast, n);
    } else {
        PyErr_Format(PyExc_ValueError, "unknown kind of argument '%s'", tag);
    }
    Py_DECREF(fast);
    return ok;
}

static int put(struct stoker_args *a, const char *name, PyObject *value)
{
    if (value == Py_None) {
        return 1;
    }
    if (PyLong_Check(value)) { // also bool
        long long v = PyLong_AsLongLong(value);
        return !PyErr_Occurred() && stoker_args_int(a, name, v);
    }
    if (PyFloat_Check(value)) {
        return stoker_args_float(a, name, PyFloat_AS_DOUBLE(value));
    }
    if (PyUnicode_Check(value) || PyBytes_Check(value)) {
        struct stoker_bytes b;
        return text_in(value, &b) == 0 && stoker_args_text(a, name, (const char *)b.data, b.size);
    }
    if (PyObject_TypeCheck(value, &stk_py_fn_type)) {
        return stoker_args_fn(a, name, ((struct stk_py_fn *)value)->fn);
    }
    if (PyArray_Check(value)) {
        return put_tensors(a, name, &value, 1);
    }
    if (PyTuple_Check(value)) {
        return put_tagged(a, name, value);
    }
    PyErr_Format(PyExc_TypeError, "argument %s can't be a %.100s", name, Py_TYPE(value)->tp_name);
    return 0;
}

struct stoker_args *stk_py_args(PyObject *dict)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    struct stoker_args *a = stoker_args_new();
    int ok = a != NULL;
    while (ok && dict != Py_None && PyDict_Next(dict, &at, &key, &value)) {
        const char *name = PyUnicode_AsUTF8(key);
        ok = name && put(a, name, value);
    }
    if (!ok) {
        stoker_args_free(a);
        if (!PyErr_Occurred()) {
            PyErr_NoMemory();
        }
        return NULL;
    }
    return a;
}
