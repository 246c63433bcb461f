// SPDX-License-Identifier: Apache-2.0
// Values: NumPy arrays over the engine's memory, and tensors over NumPy's. Contiguous numbers
// aren't copied in either direction. Strings are bytes objects and object arrays of them; they are
// copied on output and viewed on input.
#include <string.h>

#include "py/py_engine.h"

#define FREE_MAX 64

struct memory { // what an array is based on: releases the engine's memory when the array dies
    PyObject_HEAD struct stoker_tensor t;
};

static struct memory *free_list[FREE_MAX];
static int free_count;
static PyArray_Descr *bfloat16;

STK_PY_HOT static void memory_dealloc(PyObject *self)
{
    struct memory *m = (struct memory *)self;
    stoker_tensor_release(&m->t);
    if (free_count < FREE_MAX) {
        free_list[free_count++] = m;
    } else {
        PyObject_Free(m);
    }
}

PyTypeObject stk_py_memory_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stoker.data._engine.Memory",
    .tp_basicsize = sizeof(struct memory),
    .tp_dealloc = memory_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Engine memory that backs arrays.",
};

STK_PY_HOT static PyObject *memory_new(struct stoker_tensor *t)
{
    struct memory *m = free_count > 0 ? free_list[--free_count] : PyObject_Malloc(sizeof *m);
    if (!m) {
        stoker_tensor_release(t);
        return PyErr_NoMemory();
    }
    PyObject_Init((PyObject *)m, &stk_py_memory_type);
    m->t = *t;
    return (PyObject *)m;
}

PyObject *stk_py_set_bfloat16(PyObject *module, PyObject *descr)
{
    (void)module;
    if (!PyArray_DescrCheck(descr)) {
        PyErr_SetString(PyExc_TypeError, "set_bfloat16 takes a dtype");
        return NULL;
    }
    Py_INCREF(descr);
    Py_XSETREF(bfloat16, (PyArray_Descr *)descr);
    Py_RETURN_NONE;
}

static const int type_numbers[STOKER_DTYPES] = {
    [STOKER_BOOL] = NPY_BOOL,       [STOKER_UINT8] = NPY_UINT8,     [STOKER_INT8] = NPY_INT8,
    [STOKER_UINT16] = NPY_UINT16,   [STOKER_INT16] = NPY_INT16,     [STOKER_UINT32] = NPY_UINT32,
    [STOKER_INT32] = NPY_INT32,     [STOKER_UINT64] = NPY_UINT64,   [STOKER_INT64] = NPY_INT64,
    [STOKER_FLOAT16] = NPY_FLOAT16, [STOKER_BFLOAT16] = NPY_UINT16, [STOKER_FLOAT32] = NPY_FLOAT32,
    [STOKER_FLOAT64] = NPY_FLOAT64, [STOKER_STRING] = NPY_OBJECT,   [STOKER_DATASET] = NPY_OBJECT};

STK_PY_HOT PyArray_Descr *stk_py_descr(int dtype)
{
    if (dtype == STOKER_BFLOAT16 && bfloat16) {
        Py_INCREF(bfloat16);
        return bfloat16;
    }
    static PyArray_Descr *known[STOKER_DTYPES]; // NumPy's own; one of each exists
    if (!known[dtype]) {
        known[dtype] = PyArray_DescrFromType(type_numbers[dtype]);
    }
    Py_XINCREF(known[dtype]);
    return known[dtype];
}

int stk_py_dtype_of(PyArray_Descr *d)
{
    static const struct {
        char kind;
        int size, dtype;
    } rows[] = {{'b', 1, STOKER_BOOL},    {'u', 1, STOKER_UINT8},   {'i', 1, STOKER_INT8},
                {'u', 2, STOKER_UINT16},  {'i', 2, STOKER_INT16},   {'u', 4, STOKER_UINT32},
                {'i', 4, STOKER_INT32},   {'u', 8, STOKER_UINT64},  {'i', 8, STOKER_INT64},
                {'f', 2, STOKER_FLOAT16}, {'f', 4, STOKER_FLOAT32}, {'f', 8, STOKER_FLOAT64}};
    int size = (int)PyDataType_ELSIZE(d);
    if (bfloat16 && d->type_num == bfloat16->type_num) {
        return STOKER_BFLOAT16;
    }
    if (d->kind == 'S' || d->kind == 'U' || d->kind == 'O') {
        return STOKER_STRING;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].kind == d->kind && rows[i].size == size) {
            return rows[i].dtype;
        }
    }
    return -1;
}

static PyObject *bytes_of(PyObject *item)
{
    if (PyBytes_Check(item)) {
        Py_INCREF(item);
        return item;
    }
    if (PyUnicode_Check(item)) {
        return PyUnicode_AsUTF8String(item);
    }
    if (PyObject_CheckBuffer(item) && !PyArray_CheckScalar(item)) {
        return PyBytes_FromObject(item);
    }
    PyErr_Format(PyExc_TypeError,
                 "arrays of objects must hold bytes or str, not %.100s. Give numbers a dtype",
                 Py_TYPE(item)->tp_name);
    return NULL;
}

// n objects as string views; *hold owns the views and the bytes.
static int strings_in(PyObject **items, Py_ssize_t n, struct stoker_tensor *t, PyObject **hold)
{
    PyObject *views = PyBytes_FromStringAndSize(NULL, n * (Py_ssize_t)sizeof(struct stoker_bytes));
    PyObject *owned = PyList_New(n);
    *hold = views && owned ? PyTuple_Pack(2, views, owned) : NULL;
    Py_XDECREF(views);
    Py_XDECREF(owned);
    if (!*hold) {
        return -1;
    }
    struct stoker_bytes *to = (struct stoker_bytes *)PyBytes_AS_STRING(views);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *b = bytes_of(items[i]);
        if (!b) {
            Py_CLEAR(*hold);
            return -1;
        }
        PyList_SET_ITEM(owned, i, b);
        to[i].data = (const unsigned char *)PyBytes_AS_STRING(b);
        to[i].size = (size_t)PyBytes_GET_SIZE(b);
    }
    t->dtype = STOKER_STRING;
    t->data = to;
    return 0;
}

static int shape_in(PyArrayObject *a, struct stoker_tensor *t)
{
    if (PyArray_NDIM(a) > STOKER_RANK_MAX) {
        PyErr_Format(PyExc_ValueError, "arrays can have at most %d dimensions, not %d",
                     STOKER_RANK_MAX, PyArray_NDIM(a));
        return -1;
    }
    t->rank = PyArray_NDIM(a);
    for (int i = 0; i < t->rank; i++) {
        t->dim[i] = PyArray_DIM(a, i);
    }
    return 0;
}

static int array_in(PyArrayObject *a, struct stoker_tensor *t, PyObject **hold)
{
    PyArray_Descr *d = PyArray_DESCR(a);
    int dtype = stk_py_dtype_of(d);
    if (dtype < 0) {
        PyErr_Format(PyExc_TypeError, "dtype %R is not supported", d);
        return -1;
    }
    if (shape_in(a, t) < 0) {
        return -1;
    }
    if (dtype == STOKER_STRING) {
        PyObject *o = PyArray_FROMANY((PyObject *)a, NPY_OBJECT, 0, 0,
                                      NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_FORCECAST);
        int failed = !o || strings_in(PyArray_DATA((PyArrayObject *)o), PyArray_SIZE(a), t, hold);
        Py_XDECREF(o);
        return failed ? -1 : 0;
    }
    PyArray_Descr *native = PyArray_DescrNewByteorder(d, NPY_NATIVE);
    PyObject *c =
        native ? PyArray_FromArray(a, native, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED) : NULL;
    if (!c) {
        return -1;
    }
    t->dtype = dtype;
    t->data = PyArray_DATA((PyArrayObject *)c);
    t->is_readonly = !PyArray_ISWRITEABLE((PyArrayObject *)c);
    *hold = c;
    return 0;
}

int stk_py_tensor_in(PyObject *value, struct stoker_tensor *t, PyObject **hold)
{
    *t = (struct stoker_tensor){0};
    *hold = NULL;
    if (PyArray_Check(value)) {
        return array_in((PyArrayObject *)value, t, hold);
    }
    if (PyBytes_Check(value) || PyUnicode_Check(value)) {
        return strings_in(&value, 1, t, hold);
    }
    if (PyObject_TypeCheck(value, &stk_py_dataset_type)) {
        t->dtype = STOKER_DATASET;
        t->data = &((struct stk_py_dataset *)value)->ds;
        Py_INCREF(value);
        *hold = value;
        return 0;
    }
    PyObject *a = PyArray_FROM_O(value);
    int failed = !a || array_in((PyArrayObject *)a, t, hold);
    Py_XDECREF(a);
    return failed ? -1 : 0;
}

// Long strings: the C library returns memory of that size to the system, and touching it again
// costs several times the copy. So references to the last ones are kept, and a string that has no
// other reference is filled again. Oldest first; KEPT_BYTES_MAX in total; none is kept while no
// iterator is alive.
#define KEPT_MIN 4096
#define KEPT_MAX (1 << 20)
#define KEPT_COUNT 512
#define KEPT_LOOKS 4 // checks the oldest ones
#define KEPT_BYTES_MAX (32 << 20)

static struct {
    PyObject *items[KEPT_COUNT];
    Py_ssize_t capacity[KEPT_COUNT]; // their allocated sizes
    int first, count;
    Py_ssize_t bytes;
} longs;

static void longs_drop_first(void)
{
    int i = longs.first;
    longs.first = (longs.first + 1) % KEPT_COUNT;
    longs.count--;
    longs.bytes -= longs.capacity[i];
    Py_CLEAR(longs.items[i]);
}

void stk_py_forget_strings(void)
{
    while (longs.count > 0) {
        longs_drop_first();
    }
}

static void longs_append(PyObject *o, Py_ssize_t capacity)
{
    int i = (longs.first + longs.count) % KEPT_COUNT;
    longs.items[i] = o;
    longs.capacity[i] = capacity;
    longs.count++;
    longs.bytes += capacity;
}

// A string of that size without other references; NULL: none. Others that were checked become the
// newest.
static PyObject *longs_take(Py_ssize_t size, Py_ssize_t *capacity)
{
    for (int k = 0; k < KEPT_LOOKS && longs.count > 0; k++) {
        PyObject *o = longs.items[longs.first];
        Py_ssize_t has = longs.capacity[longs.first];
        Py_INCREF(o);
        longs_drop_first();
        if (Py_REFCNT(o) > 1) {
            longs_append(o, has);
        } else if (has >= size && has / 2 <= size) {
            *capacity = has;
            return o;
        } else {
            Py_DECREF(o); // of another size
        }
    }
    return NULL;
}

// A bytes object, or its subtype in py_eager.c, which has the same layout.
STK_PY_HOT static PyObject *fill_string(PyObject *o, PyTypeObject *type,
                                        const struct stoker_bytes *b)
{
    Py_SET_TYPE(o, type);
    Py_SET_SIZE(o, (Py_ssize_t)b->size);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    ((PyBytesObject *)o)->ob_shash = -1;
#pragma GCC diagnostic pop
    if (b->size) {
        memcpy(PyBytes_AS_STRING(o), b->data, b->size);
    }
    PyBytes_AS_STRING(o)[b->size] = 0;
    return o;
}

PyObject *stk_py_bytes(PyTypeObject *type, const struct stoker_bytes *b)
{
    if (type == &PyBytes_Type) {
        return PyBytes_FromStringAndSize((const char *)b->data, (Py_ssize_t)b->size);
    }
    PyObject *o = PyObject_Malloc(sizeof(PyBytesObject) + b->size);
    if (!o) {
        return PyErr_NoMemory();
    }
    return fill_string((PyObject *)PyObject_InitVar((PyVarObject *)o, type, (Py_ssize_t)b->size),
                       type, b);
}

static PyObject *long_string(PyTypeObject *type, const struct stoker_bytes *b)
{
    Py_ssize_t size = (Py_ssize_t)b->size, capacity = size;
    PyObject *o = longs_take(size, &capacity);
    o = o ? fill_string(o, type, b) : stk_py_bytes(type, b);
    while (longs.count == KEPT_COUNT ||
           (longs.count > 0 && longs.bytes + capacity > KEPT_BYTES_MAX)) {
        longs_drop_first();
    }
    if (o) {
        Py_INCREF(o);
        longs_append(o, capacity);
    }
    return o;
}

static PyObject *string_out(PyTypeObject *type, const struct stoker_bytes *b)
{
#ifndef Py_GIL_DISABLED // references are counted elsewhere, too
    if (b->size >= KEPT_MIN && b->size <= KEPT_MAX) {
        return long_string(type, b);
    }
#endif
    return stk_py_bytes(type, b);
}

static PyObject *dataset_out(struct stoker_dataset *ds)
{
    return stk_py_dataset_wrap(stoker_dataset_hold(ds));
}

// Output types: NumPy's and Python's own, or those of py_eager.c.
struct form {
    PyTypeObject *array, *bytes;
    int is_eager;
};

static PyObject *objects_out(const struct stoker_tensor *t, const npy_intp *dims,
                             const struct form *f)
{
    PyObject *a = PyArray_New(f->array, t->rank, (npy_intp *)(uintptr_t)dims, NPY_OBJECT, NULL,
                              NULL, 0, 0, NULL);
    if (!a) {
        return NULL;
    }
    PyObject **to = PyArray_DATA((PyArrayObject *)a);
    npy_intp n = PyArray_SIZE((PyArrayObject *)a);
    for (npy_intp i = 0; i < n; i++) {
        PyObject *item = t->dtype == STOKER_STRING
                             ? string_out(&PyBytes_Type, (const struct stoker_bytes *)t->data + i)
                             : dataset_out(((struct stoker_dataset **)t->data)[i]);
        if (!item) {
            Py_DECREF(a);
            return NULL;
        }
        Py_XSETREF(to[i], item);
    }
    return a;
}

static PyObject *copied_out(struct stoker_tensor *t, const npy_intp *dims, const struct form *f)
{
    PyObject *out;
    if (t->rank > 0 && (t->dtype == STOKER_STRING || t->dtype == STOKER_DATASET)) {
        out = objects_out(t, dims, f);
    } else if (t->rank > 0) { // no values: no memory to keep
        out = PyArray_NewFromDescr(f->array, stk_py_descr(t->dtype), t->rank, dims, NULL, NULL, 0,
                                   NULL);
    } else if (t->dtype == STOKER_STRING) {
        out = string_out(f->bytes, t->data);
    } else if (t->dtype == STOKER_DATASET) {
        out = dataset_out(*(struct stoker_dataset **)t->data);
    } else if (f->is_eager) {
        out = stk_py_eager_scalar(t->dtype, t->data);
    } else {
        PyArray_Descr *d = stk_py_descr(t->dtype);
        out = PyArray_Scalar(t->data, d, NULL);
        Py_DECREF(d);
    }
    stoker_tensor_release(t);
    return out;
}

STK_PY_HOT static PyObject *out_as(struct stoker_tensor *t, const struct form *f)
{
    npy_intp dims[STOKER_RANK_MAX], count = 1;
    for (int i = 0; i < t->rank; i++) {
        dims[i] = (npy_intp)t->dim[i];
        count *= dims[i];
    }
    if (t->rank == 0 || count == 0 || t->dtype == STOKER_STRING || t->dtype == STOKER_DATASET) {
        return copied_out(t, dims, f);
    }
    int flags = t->is_readonly ? NPY_ARRAY_CARRAY_RO : NPY_ARRAY_CARRAY, rank = t->rank;
    void *data = t->data;
    PyArray_Descr *d = stk_py_descr(t->dtype);
    PyObject *base = memory_new(t);
    PyObject *a =
        base ? PyArray_NewFromDescr(f->array, d, rank, dims, NULL, data, flags, NULL) : NULL;
    if (!a) {
        Py_XDECREF(base);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)a, base) < 0) { // takes base in any case
        Py_DECREF(a);
        return NULL;
    }
    return a;
}

STK_PY_HOT PyObject *stk_py_tensor_out(struct stoker_tensor *t)
{
    const struct form own = {&PyArray_Type, &PyBytes_Type, 0};
    return out_as(t, &own);
}

STK_PY_HOT PyObject *stk_py_eager_out(struct stoker_tensor *t)
{
    const struct form eager = {&stk_py_array_type, &stk_py_bytes_type, 1};
    return out_as(t, &eager);
}
