// SPDX-License-Identifier: Apache-2.0
// include/stoker/device.h in Python: Stager, an iterator whose arrays are on a CUDA device, and
// DeviceArray, which other libraries import through DLPack or __cuda_array_interface__ without a
// copy.
//
// The structs of DLPack follow its specification (dlpack.h, the version without flags, which every
// consumer accepts). An exported tensor references the batch, not the DeviceArray: consumers
// release it on any thread, with or without the GIL.
#include "py/py_engine.h"
#include "stoker/device.h"

#define SLICE_NS 50000000 // between checks for signals
#define DL_CUDA 2
#define STREAM_LEGACY 1
#define STREAM_NONE (-1)

struct dl_type {
    uint8_t code, bits;
    uint16_t lanes;
};
struct dl_tensor {
    void *data;
    int32_t device_type, device;
    int32_t ndim;
    struct dl_type type;
    int64_t *shape, *strides;
    uint64_t byte_offset;
};
struct dl_managed {
    struct dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *self);
};
struct exported { // contents of a capsule
    struct dl_managed managed;
    struct stoker_device_batch *batch;
    int64_t shape[STOKER_RANK_MAX], strides[STOKER_RANK_MAX];
};

struct device_array {
    PyObject_HEAD struct stoker_device_batch *batch;
    struct stoker_tensor t; // data: a device address
    int device;
};

struct stager {
    PyObject_HEAD struct stoker_stager *s;
    PyObject *dataset, *structure, *replacement; // replacement: NULL if errors are raised
    struct stoker_tensor *out;
    int n, device, is_busy;
    uint64_t replaced, number; // number: the pipeline's
};

PyObject *stk_py_devices(PyObject *module, PyObject *unused)
{
    struct stoker_err err;
    int n = 0;
    (void)module;
    (void)unused;
    return stoker_device_count(&n, &err) == STOKER_OK ? PyLong_FromLong(n) : stk_py_raise(&err);
}

PyObject *stk_py_device_memory(PyObject *module, PyObject *number)
{
    struct stoker_err err;
    uint64_t left, total;
    long device = PyLong_AsLong(number);
    (void)module;
    if (device == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (stoker_device_memory((int)device, &left, &total, &err) != STOKER_OK) {
        return stk_py_raise(&err);
    }
    return Py_BuildValue("(KK)", (unsigned long long)left, (unsigned long long)total);
}

static void array_dealloc(PyObject *o)
{
    struct device_array *a = (struct device_array *)o;
    PyThreadState *unlocked = PyEval_SaveThread();
    stoker_device_batch_free(a->batch);
    stk_py_resume(unlocked);
    Py_TYPE(o)->tp_free(o);
}

static PyObject *array_new(struct stoker_device_batch *b, const struct stoker_tensor *t, int device)
{
    struct device_array *a = PyObject_New(struct device_array, &stk_py_device_array_type);
    if (a) {
        a->batch = stoker_device_batch_hold(b);
        a->t = *t;
        a->device = device;
    }
    return (PyObject *)a;
}

static Py_ssize_t count_of(const struct stoker_tensor *t)
{
    Py_ssize_t n = 1;
    for (int i = 0; i < t->rank; i++) {
        n *= (Py_ssize_t)t->dim[i];
    }
    return n;
}

static PyObject *array_shape(PyObject *o, void *unused)
{
    const struct stoker_tensor *t = &((struct device_array *)o)->t;
    PyObject *shape = PyTuple_New(t->rank);
    (void)unused;
    for (int i = 0; shape && i < t->rank; i++) {
        PyTuple_SET_ITEM(shape, i, PyLong_FromLongLong(t->dim[i]));
    }
    return shape;
}

static PyObject *array_dtype(PyObject *o, void *unused)
{
    (void)unused;
    return (PyObject *)stk_py_descr(((struct device_array *)o)->t.dtype);
}

static PyObject *array_ndim(PyObject *o, void *unused)
{
    (void)unused;
    return PyLong_FromLong(((struct device_array *)o)->t.rank);
}

static PyObject *array_size(PyObject *o, void *unused)
{
    (void)unused;
    return PyLong_FromSsize_t(count_of(&((struct device_array *)o)->t));
}

static PyObject *array_nbytes(PyObject *o, void *unused)
{
    const struct stoker_tensor *t = &((struct device_array *)o)->t;
    (void)unused;
    return PyLong_FromSsize_t(count_of(t) * (Py_ssize_t)stoker_dtype_bytes(t->dtype));
}

static PyObject *array_device(PyObject *o, void *unused)
{
    (void)unused;
    return PyUnicode_FromFormat("cuda:%d", ((struct device_array *)o)->device);
}

static int wait_for_copy(struct device_array *a)
{
    struct stoker_err err;
    enum stoker_status s;
    PyThreadState *unlocked = PyEval_SaveThread();
    s = stoker_device_batch_wait(a->batch, &err);
    stk_py_resume(unlocked);
    if (s != STOKER_OK) {
        stk_py_raise(&err);
        return -1;
    }
    return 0;
}

static PyObject *array_interface(PyObject *o, void *unused)
{
    struct device_array *a = (struct device_array *)o;
    PyObject *shape = NULL, *descr = NULL, *text = NULL, *result = NULL;
    if (wait_for_copy(a) < 0) {
        return NULL;
    }
    shape = array_shape(o, unused);
    descr = array_dtype(o, unused);
    text = descr ? PyObject_GetAttrString(descr, "str") : NULL;
    if (shape && text) {
        result = Py_BuildValue("{s:O,s:O,s:(KO),s:O,s:i,s:O}", "shape", shape, "typestr", text,
                               "data", (unsigned long long)(uintptr_t)a->t.data, Py_False,
                               "strides", Py_None, "version", 3, "stream", Py_None);
    }
    Py_XDECREF(shape);
    Py_XDECREF(descr);
    Py_XDECREF(text);
    return result;
}

static PyObject *array_numpy(PyObject *o, PyObject *unused)
{
    struct device_array *a = (struct device_array *)o;
    npy_intp dims[STOKER_RANK_MAX];
    struct stoker_err err;
    enum stoker_status s;
    (void)unused;
    for (int i = 0; i < a->t.rank; i++) {
        dims[i] = (npy_intp)a->t.dim[i];
    }
    PyObject *out = PyArray_NewFromDescr(&PyArray_Type, stk_py_descr(a->t.dtype), a->t.rank, dims,
                                         NULL, NULL, 0, NULL);
    if (!out) {
        return NULL;
    }
    void *to = PyArray_DATA((PyArrayObject *)out);
    size_t bytes = (size_t)PyArray_NBYTES((PyArrayObject *)out);
    PyThreadState *unlocked = PyEval_SaveThread();
    s = stoker_device_batch_read(a->batch, a->t.data, to, bytes, &err);
    stk_py_resume(unlocked);
    if (s != STOKER_OK) {
        Py_DECREF(out);
        return stk_py_raise(&err);
    }
    return out;
}

static PyObject *array_array(PyObject *o, PyObject *args, PyObject *kwargs)
{
    PyObject *dtype = Py_None, *copy = Py_None;
    static char *names[] = {(char *)"dtype", (char *)"copy", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO", names, &dtype, &copy)) {
        return NULL;
    }
    if (copy == Py_False) {
        PyErr_SetString(PyExc_ValueError,
                        "a device array can't become a NumPy array without a copy");
        return NULL;
    }
    PyObject *a = array_numpy(o, NULL);
    if (a && dtype != Py_None) {
        Py_SETREF(a, PyObject_CallMethod(a, "astype", "O", dtype));
    }
    return a;
}

static struct dl_type dl_type_of(int dtype)
{
    enum { INT, UINT, FLOAT, BFLOAT = 4, BOOL = 6 };
    uint8_t bits = (uint8_t)(8 * stoker_dtype_bytes(dtype));
    uint8_t code = FLOAT;
    switch (dtype) {
    case STOKER_BOOL:
        code = BOOL;
        break;
    case STOKER_UINT8:
    case STOKER_UINT16:
    case STOKER_UINT32:
    case STOKER_UINT64:
        code = UINT;
        break;
    case STOKER_INT8:
    case STOKER_INT16:
    case STOKER_INT32:
    case STOKER_INT64:
        code = INT;
        break;
    case STOKER_BFLOAT16:
        code = BFLOAT;
        break;
    default:
        break;
    }
    return (struct dl_type){code, bits, 1};
}

static void exported_free(struct dl_managed *m)
{
    struct exported *e = m->context;
    stoker_device_batch_free(e->batch);
    PyMem_RawFree(e);
}

static void capsule_free(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor")) { // no consumer took it
        struct dl_managed *m = PyCapsule_GetPointer(capsule, "dltensor");
        m->deleter(m);
    }
}

static PyObject *export(struct device_array *a)
{
    struct exported *e = PyMem_RawCalloc(1, sizeof *e);
    int64_t stride = 1;
    if (!e) {
        return PyErr_NoMemory();
    }
    for (int i = a->t.rank - 1; i >= 0; i--) {
        e->shape[i] = a->t.dim[i];
        e->strides[i] = stride;
        stride *= a->t.dim[i];
    }
    e->batch = stoker_device_batch_hold(a->batch);
    e->managed = (struct dl_managed){.tensor = {.data = a->t.data,
                                                .device_type = DL_CUDA,
                                                .device = a->device,
                                                .ndim = a->t.rank,
                                                .type = dl_type_of(a->t.dtype),
                                                .shape = e->shape,
                                                .strides = e->strides},
                                     .context = e,
                                     .deleter = exported_free};
    PyObject *capsule = PyCapsule_New(&e->managed, "dltensor", capsule_free);
    if (!capsule) {
        exported_free(&e->managed);
    }
    return capsule;
}

// Makes the consumer's stream wait for the copy. -1: exception.
static int await_stream(struct device_array *a, PyObject *stream)
{
    long long number = stream == Py_None ? STREAM_LEGACY : PyLong_AsLongLong(stream);
    struct stoker_err err;
    if (number == -1 && PyErr_Occurred()) {
        return -1;
    }
    if (number == 0 || number < STREAM_NONE) {
        PyErr_Format(PyExc_ValueError,
                     "stream must be None, -1, 1 (legacy default), 2 (per-thread default) or a "
                     "stream's address, not %lld",
                     number);
        return -1;
    }
    if (number == STREAM_NONE) {
        return wait_for_copy(a);
    }
    if (stoker_device_batch_await(a->batch, (void *)(intptr_t)number, &err) != STOKER_OK) {
        stk_py_raise(&err);
        return -1;
    }
    return 0;
}

static PyObject *array_dlpack(PyObject *o, PyObject *args, PyObject *kwargs)
{
    struct device_array *a = (struct device_array *)o;
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    static char *names[] = {(char *)"stream", (char *)"max_version", (char *)"dl_device",
                            (char *)"copy", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO", names, &stream, &version, &device,
                                     &copy)) {
        return NULL;
    }
    if (device != Py_None) {
        int type, number;
        if (!PyArg_ParseTuple(device, "ii", &type, &number)) {
            return NULL;
        }
        if (type != DL_CUDA || number != a->device) {
            PyErr_Format(PyExc_BufferError, "this array is on cuda:%d; use numpy() to copy it",
                         a->device);
            return NULL;
        }
    }
    if (copy == Py_True) {
        PyErr_SetString(PyExc_BufferError, "copy=True: the consumer must copy, not this array");
        return NULL;
    }
    return await_stream(a, stream) < 0 ? NULL : export(a);
}

static PyObject *array_dlpack_device(PyObject *o, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("(ii)", DL_CUDA, ((struct device_array *)o)->device);
}

static PyObject *array_repr(PyObject *o)
{
    PyObject *shape = array_shape(o, NULL), *dtype = array_dtype(o, NULL);
    PyObject *text = shape && dtype
                         ? PyUnicode_FromFormat("<DeviceArray cuda:%d shape=%R dtype=%S>",
                                                ((struct device_array *)o)->device, shape, dtype)
                         : NULL;
    Py_XDECREF(shape);
    Py_XDECREF(dtype);
    return text;
}

static Py_ssize_t array_length(PyObject *o)
{
    const struct stoker_tensor *t = &((struct device_array *)o)->t;
    if (t->rank == 0) {
        PyErr_SetString(PyExc_TypeError, "a scalar has no length");
        return -1;
    }
    return (Py_ssize_t)t->dim[0];
}

static PyGetSetDef array_getset[] = {
    {"shape", array_shape, NULL, "Shape, as a tuple.", NULL},
    {"dtype", array_dtype, NULL, "NumPy dtype.", NULL},
    {"ndim", array_ndim, NULL, "Number of dimensions.", NULL},
    {"size", array_size, NULL, "Number of values.", NULL},
    {"nbytes", array_nbytes, NULL, "Size in bytes.", NULL},
    {"device", array_device, NULL, "The device, such as \"cuda:0\".", NULL},
    {"__cuda_array_interface__", array_interface, NULL,
     "For CuPy, Numba and others. Waits on the CPU for the copy.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef array_methods[] = {
    {"numpy", array_numpy, METH_NOARGS, "A copy in CPU memory."},
    {"__array__", (PyCFunction)(void (*)(void))array_array, METH_VARARGS | METH_KEYWORDS,
     "A copy in CPU memory."},
    {"__dlpack__", (PyCFunction)(void (*)(void))array_dlpack, METH_VARARGS | METH_KEYWORDS,
     "__dlpack__(stream=None) -> capsule. Later work on that stream runs after the copy. The "
     "memory is reused only after the work on it when the last reference is dropped."},
    {"__dlpack_device__", array_dlpack_device, METH_NOARGS, "(2, device number)"},
    {NULL, NULL, 0, NULL}};

static PySequenceMethods array_sequence = {.sq_length = array_length};

PyTypeObject stk_py_device_array_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stoker.data._engine.DeviceArray",
    .tp_basicsize = sizeof(struct device_array),
    .tp_dealloc = array_dealloc,
    .tp_repr = array_repr,
    .tp_as_sequence = &array_sequence,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_methods = array_methods,
    .tp_getset = array_getset,
    .tp_doc = "Values on a CUDA device. torch.from_dlpack(a), jax.dlpack.from_dlpack(a) and "
              "cupy.from_dlpack(a) share them without a copy. a.numpy() copies them to CPU memory.",
};

static void stager_end(struct stager *self)
{
    struct stoker_stager *s = self->s;
    self->s = NULL;
    PyThreadState *unlocked = PyEval_SaveThread();
    stoker_stager_free(s);
    stk_py_resume(unlocked);
}

static void stager_dealloc(PyObject *o)
{
    struct stager *self = (struct stager *)o;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    stager_end(self);
    PyErr_Restore(type, value, traceback);
    PyMem_Free(self->out);
    Py_CLEAR(self->dataset);
    Py_CLEAR(self->structure);
    Py_CLEAR(self->replacement);
    Py_TYPE(o)->tp_free(o);
}

// A list of (component, channels, is planar, table as bytes of float32).
static struct stoker_byte_table *tables_in(PyObject *list, Py_ssize_t *n)
{
    PyObject *fast = PySequence_Fast(list, "tables must be a sequence");
    *n = fast ? PySequence_Fast_GET_SIZE(fast) : 0;
    struct stoker_byte_table *out = fast ? PyMem_Calloc((size_t)*n + 1, sizeof *out) : NULL;
    int ok = out != NULL;
    for (Py_ssize_t i = 0; ok && i < *n; i++) {
        struct stoker_byte_table *t = &out[i];
        PyObject *bytes;
        ok = PyArg_ParseTuple(PySequence_Fast_GET_ITEM(fast, i), "iipS", &t->component,
                              &t->channels, &t->is_planar, &bytes);
        if (ok && PyBytes_GET_SIZE(bytes) != (Py_ssize_t)(256 * sizeof(float)) * t->channels) {
            PyErr_SetString(PyExc_ValueError, "a table needs 256 values for each channel");
            ok = 0;
        } else if (ok) {
            t->values = (const float *)(const void *)PyBytes_AS_STRING(bytes);
        }
    }
    Py_XDECREF(fast); // the caller keeps `list` and so the tables alive
    if (!ok) {
        PyMem_Free(out);
        return PyErr_Occurred() ? NULL : (PyErr_NoMemory(), NULL);
    }
    return out;
}

// Stager(engine dataset, owner, structure, options, device, depth, tables): next() returns options'
// `replacement` for an element that fails.
static PyObject *stager_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *dataset, *owner, *structure, *dict, *list;
    struct stoker_run_options o;
    struct stoker_host host;
    struct stoker_err err;
    enum stoker_status s;
    Py_ssize_t n_tables;
    int device, depth;
    (void)kwargs;
    stk_py_rest_if_leaving();
    if (!PyArg_ParseTuple(args, "O!OOO!iiO!", &stk_py_dataset_type, &dataset, &owner, &structure,
                          &PyDict_Type, &dict, &device, &depth, &PyTuple_Type, &list) ||
        stk_py_run_options(dict, &o) < 0) {
        return NULL;
    }
    struct stoker_dataset *ds = ((struct stk_py_dataset *)dataset)->ds;
    struct stager *self = (struct stager *)type->tp_alloc(type, 0);
    if (!self) {
        return NULL;
    }
    self->n = stoker_specs_count(stoker_dataset_specs(ds));
    self->device = device;
    self->number = stk_py_host_of_pipeline(&host);
    o.host = &host; // the engine copies it
    self->out = PyMem_Calloc((size_t)self->n + 1, sizeof self->out[0]);
    self->dataset = PyTuple_Pack(2, dataset, owner);
    Py_INCREF(structure);
    self->structure = structure;
    self->replacement = PyDict_GetItemString(dict, "replacement");
    Py_XINCREF(self->replacement);
    if (!self->out || !self->dataset) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    struct stoker_byte_table *tables = tables_in(list, &n_tables);
    if (!tables) {
        Py_DECREF(self);
        return NULL;
    }
    PyThreadState *unlocked = PyEval_SaveThread();
    s = stoker_stager_open_tables(ds, &o, device, depth, tables, (int)n_tables, &self->s, &err);
    stk_py_resume(unlocked);
    PyMem_Free(tables);
    if (s != STOKER_OK) {
        Py_DECREF(self);
        return stk_py_raise(&err);
    }
    return (PyObject *)self;
}

// The element in self->out, whose numbers are in the batch's memory.
static PyObject *staged(struct stager *self, struct stoker_device_batch *batch)
{
    PyObject **leaves = PyMem_Calloc((size_t)self->n + 1, sizeof leaves[0]), *result = NULL;
    int ok = leaves != NULL;
    for (int i = 0; i < self->n; i++) {
        struct stoker_tensor *t = &self->out[i];
        int is_number = t->dtype != STOKER_STRING && t->dtype != STOKER_DATASET;
        if (ok && !is_number) {
            leaves[i] = stk_py_tensor_out(t);
        } else if (ok) {
            leaves[i] = array_new(batch, t, self->device);
        } else {
            stoker_tensor_release(t);
        }
        ok = ok && leaves[i];
    }
    if (ok) {
        result = stk_py_build(self->structure, leaves, self->n);
    }
    for (int i = 0; leaves && i < self->n; i++) {
        Py_XDECREF(leaves[i]);
    }
    PyMem_Free(leaves);
    return result;
}

static PyObject *stager_next(PyObject *o)
{
    struct stager *self = (struct stager *)o;
    struct stoker_device_batch *batch = NULL;
    struct stoker_err err;
    int is_end = 0, is_ready = 0;
    PyObject *result = NULL;
    stk_py_rest_if_leaving();
    if (!self->s || self->is_busy || stk_py_inside == self->number) {
        PyErr_SetString(PyExc_RuntimeError, !self->s ? "the iterator is closed"
                                            : stk_py_inside == self->number
                                                ? "a function in the pipeline called its next()"
                                                : "another thread is in next()");
        return NULL;
    }
    self->is_busy = 1;
    while (!is_ready) {
        PyThreadState *unlocked = PyEval_SaveThread();
        is_ready = stoker_stager_wait(self->s, SLICE_NS);
        stk_py_resume(unlocked);
        stk_py_drain(NULL);
        if (!is_ready && PyErr_CheckSignals() < 0) {
            self->is_busy = 0;
            return NULL;
        }
    }
    if (stoker_stager_next(self->s, self->out, self->n, &batch, &is_end, &err) != STOKER_OK) {
        if (self->replacement && stoker_stager_lost_element(self->s)) {
            self->replaced++;
            Py_INCREF(self->replacement);
            result = self->replacement;
        } else {
            stk_py_raise(&err);
        }
    } else if (!is_end) {
        result = staged(self, batch);
        stoker_device_batch_free(batch);
    }
    self->is_busy = 0;
    return result;
}

static PyObject *stager_stats(PyObject *o, PyObject *unused)
{
    struct stager *self = (struct stager *)o;
    struct stoker_stager_stats t = {0};
    (void)unused;
    if (self->s) {
        stoker_stager_stats(self->s, &t);
    }
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K}", "elements", (unsigned long long)t.elements,
        "copies", (unsigned long long)t.copies, "copied_bytes", (unsigned long long)t.copied_bytes,
        "direct_bytes", (unsigned long long)t.direct_bytes, "starve_ns",
        (unsigned long long)t.starve_ns, "slot_ns", (unsigned long long)t.slot_ns, "device_bytes",
        (unsigned long long)t.device_bytes, "unpinned", (unsigned long long)t.unpinned, "launches",
        (unsigned long long)t.launches, "replaced", (unsigned long long)self->replaced);
}

static PyObject *stager_close(PyObject *o, PyObject *unused)
{
    (void)unused;
    if (((struct stager *)o)->is_busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is in next()");
        return NULL;
    }
    stager_end((struct stager *)o);
    Py_RETURN_NONE;
}

static PyMethodDef stager_methods[] = {
    {"stats", stager_stats, METH_NOARGS, "Counts since the start, as a dict. Times are in ns."},
    {"close", stager_close, METH_NOARGS, "Closes it now. Arrays it returned stay valid."},
    {NULL, NULL, 0, NULL}};

PyTypeObject stk_py_stager_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stoker.data._engine.Stager",
    .tp_basicsize = sizeof(struct stager),
    .tp_dealloc = stager_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = stager_next,
    .tp_methods = stager_methods,
    .tp_new = stager_new,
    .tp_doc = "An iterator whose elements are on a CUDA device.",
};
