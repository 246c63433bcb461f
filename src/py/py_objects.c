// SPDX-License-Identifier: Apache-2.0
// Dataset, Fn and Specs: handles of the engine's objects.
#include "py/py_engine.h"
#include "stoker/device.h"

static PyObject *specs_new(const struct stoker_specs *s, PyObject *owner)
{
    struct stk_py_specs *self = PyObject_New(struct stk_py_specs, &stk_py_specs_type);
    if (self) {
        self->specs = s;
        Py_INCREF(owner);
        self->owner = owner;
    }
    return (PyObject *)self;
}

PyObject *stk_py_spec_out(const struct stoker_spec *s, PyObject *owner)
{
    PyObject *shape, *nested;
    if (s->rank < 0) {
        Py_INCREF(Py_None);
        shape = Py_None;
    } else {
        shape = PyTuple_New(s->rank);
        for (int i = 0; shape && i < s->rank; i++) {
            PyObject *d = s->dim[i] < 0 ? Py_None : PyLong_FromLongLong(s->dim[i]);
            if (d == Py_None) {
                Py_INCREF(d);
            }
            if (!d) {
                Py_CLEAR(shape);
                break;
            }
            PyTuple_SET_ITEM(shape, i, d);
        }
    }
    if (s->nested) {
        nested = specs_new(s->nested, owner);
    } else {
        Py_INCREF(Py_None);
        nested = Py_None;
    }
    if (!shape || !nested) {
        Py_XDECREF(shape);
        Py_XDECREF(nested);
        return NULL;
    }
    return Py_BuildValue("(iNN)", s->dtype, shape, nested);
}

PyObject *stk_py_specs_list(const struct stoker_specs *s, PyObject *owner)
{
    int n = stoker_specs_count(s);
    PyObject *list = PyList_New(n);
    for (int i = 0; list && i < n; i++) {
        struct stoker_spec one;
        stoker_specs_get(s, i, &one);
        PyObject *item = stk_py_spec_out(&one, owner);
        if (!item) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, i, item);
    }
    return list;
}

static void specs_dealloc(PyObject *self)
{
    Py_XDECREF(((struct stk_py_specs *)self)->owner);
    PyObject_Free(self);
}

static PyObject *specs_items(PyObject *self, PyObject *unused)
{
    (void)unused;
    return stk_py_specs_list(((struct stk_py_specs *)self)->specs,
                             ((struct stk_py_specs *)self)->owner);
}

static PyMethodDef specs_methods[] = {
    {"items", specs_items, METH_NOARGS, "The components' specs, each (dtype, shape, nested)."},
    {NULL, NULL, 0, NULL}};

PyTypeObject stk_py_specs_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stoker.data._engine.Specs",
    .tp_basicsize = sizeof(struct stk_py_specs),
    .tp_dealloc = specs_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_methods = specs_methods,
    .tp_doc = "Types and shapes of the components of a dataset's elements.",
};

PyObject *stk_py_dataset_wrap(struct stoker_dataset *ds)
{
    struct stk_py_dataset *self = PyObject_New(struct stk_py_dataset, &stk_py_dataset_type);
    if (!self) {
        stoker_dataset_free(ds);
        return NULL;
    }
    self->ds = ds;
    return (PyObject *)self;
}

// Dataset(kind, inputs, args, where)
static PyObject *dataset_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    const char *kind, *where;
    PyObject *inputs, *dict;
    (void)type;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "sOO!z", &kind, &inputs, &PyDict_Type, &dict, &where)) {
        return NULL;
    }
    PyObject *fast = PySequence_Fast(inputs, "inputs must be a sequence");
    if (!fast) {
        return NULL;
    }
    Py_ssize_t n = PySequence_Fast_GET_SIZE(fast);
    struct stoker_dataset **in = PyMem_Calloc((size_t)n + 1, sizeof in[0]), *out = NULL;
    int ok = in != NULL;
    for (Py_ssize_t i = 0; ok && i < n; i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(fast, i);
        ok = PyObject_TypeCheck(item, &stk_py_dataset_type);
        if (ok) {
            in[i] = ((struct stk_py_dataset *)item)->ds;
        } else {
            PyErr_SetString(PyExc_TypeError, "inputs must be engine datasets");
        }
    }
    struct stoker_args *a = ok ? stk_py_args(dict) : NULL;
    if (a) {
        struct stoker_err err;
        if (stoker_dataset_make(kind, in, (int)n, a, where, &out, &err) != STOKER_OK) {
            stk_py_raise(&err);
            out = NULL;
        }
        stoker_args_free(a);
    }
    PyMem_Free(in);
    Py_DECREF(fast);
    return out ? stk_py_dataset_wrap(out) : NULL;
}

static void dataset_dealloc(PyObject *self)
{
    struct stoker_dataset *ds = ((struct stk_py_dataset *)self)->ds;
    PyObject_Free(self);
    stoker_dataset_free(ds);
}

static PyObject *dataset_specs(PyObject *self, PyObject *unused)
{
    (void)unused;
    return stk_py_specs_list(stoker_dataset_specs(((struct stk_py_dataset *)self)->ds), self);
}

static PyObject *dataset_nested(PyObject *self, PyObject *unused)
{
    (void)unused;
    return specs_new(stoker_dataset_specs(((struct stk_py_dataset *)self)->ds), self);
}

static PyObject *dataset_cardinality(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromLongLong(stoker_dataset_cardinality(((struct stk_py_dataset *)self)->ds));
}

static PyObject *dataset_fingerprint(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(
        stoker_dataset_fingerprint(((struct stk_py_dataset *)self)->ds));
}

static PyObject *dataset_kind(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyUnicode_FromString(stoker_dataset_kind(((struct stk_py_dataset *)self)->ds));
}

static PyObject *dataset_where(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("z", stoker_dataset_where(((struct stk_py_dataset *)self)->ds));
}

static PyObject *dataset_inputs(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct stoker_dataset *ds = ((struct stk_py_dataset *)self)->ds;
    int n = stoker_dataset_inputs(ds);
    PyObject *list = PyList_New(n);
    for (int i = 0; list && i < n; i++) {
        PyObject *item = stk_py_dataset_wrap(stoker_dataset_hold(stoker_dataset_input(ds, i)));
        if (!item) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, i, item);
    }
    return list;
}

static PyObject *nodes_list(const struct stoker_fn *fn)
{
    int n = stoker_fn_nodes(fn);
    PyObject *list = PyList_New(n);
    for (int i = 0; list && i < n; i++) {
        const char *where, *name = stoker_fn_node(fn, i, &where);
        PyObject *item = Py_BuildValue("(sz)", name, where);
        if (!item) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, i, item);
    }
    return list;
}

static PyObject *dataset_nodes(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct stoker_fn *fn = stoker_dataset_fn(((struct stk_py_dataset *)self)->ds);
    if (!fn) {
        Py_RETURN_NONE;
    }
    return nodes_list(fn);
}

static int look_for_signals(void *arg, uint64_t elements)
{
    (void)arg;
    (void)elements;
    struct stk_py_attached python;
    if (stk_py_is_leaving()) {
        return 1;
    }
    stk_py_attach(&python);
    stk_py_drain(NULL);
    int is_interrupted = PyErr_CheckSignals() < 0;
    stk_py_detach(&python);
    return is_interrupted;
}

// write(path, options): writes all elements into an indexed file; returns how many.
static PyObject *dataset_write(PyObject *self, PyObject *args)
{
    PyObject *path, *dict;
    struct stoker_run_options o;
    struct stoker_err err;
    uint64_t count = 0;
    enum stoker_status s;
    if (!PyArg_ParseTuple(args, "O&O!", PyUnicode_FSConverter, &path, &PyDict_Type, &dict)) {
        return NULL;
    }
    if (stk_py_run_options(dict, &o) < 0) {
        Py_DECREF(path);
        return NULL;
    }
    struct stoker_dataset *ds = ((struct stk_py_dataset *)self)->ds;
    PyThreadState *unlocked = PyEval_SaveThread();
    s = stoker_dataset_write(ds, &o, PyBytes_AS_STRING(path), look_for_signals, NULL, &count, &err);
    stk_py_resume(unlocked);
    Py_DECREF(path);
    if (PyErr_Occurred()) {
        return NULL;
    }
    return s == STOKER_OK ? PyLong_FromUnsignedLongLong(count) : stk_py_raise(&err);
}

// explain(options, is_staged): the plan as it runs, with or without staging to a device.
static PyObject *dataset_explain(PyObject *self, PyObject *args)
{
    struct stoker_dataset *ds = ((struct stk_py_dataset *)self)->ds;
    PyObject *dict, *text;
    int is_staged;
    struct stoker_run_options o;
    struct stoker_bytes plan;
    struct stoker_err err;
    if (!PyArg_ParseTuple(args, "O!p", &PyDict_Type, &dict, &is_staged) ||
        stk_py_run_options(dict, &o) < 0) {
        return NULL;
    }
    enum stoker_status s = is_staged ? stoker_stager_explain(ds, &o, &plan, &err)
                                     : stoker_dataset_explain(ds, &o, &plan, &err);
    if (s != STOKER_OK) {
        return stk_py_raise(&err);
    }
    text = PyUnicode_DecodeUTF8((const char *)plan.data, (Py_ssize_t)plan.size, "replace");
    stoker_bytes_free(&plan);
    return text;
}

static PyMethodDef dataset_methods[] = {
    {"explain", dataset_explain, METH_VARARGS,
     "explain(options, is_staged) -> the plan as it runs."},
    {"write", dataset_write, METH_VARARGS,
     "write(path, options) -> number of elements in the indexed file."},
    {"specs", dataset_specs, METH_NOARGS, "The components' specs, each (dtype, shape, nested)."},
    {"nested", dataset_nested, METH_NOARGS, "The same as a Specs object."},
    {"cardinality", dataset_cardinality, METH_NOARGS,
     "Number of elements. -1: infinite. -2: unknown."},
    {"fingerprint", dataset_fingerprint, METH_NOARGS, "An int that identifies its structure."},
    {"kind", dataset_kind, METH_NOARGS, "The kind's name."},
    {"where", dataset_where, METH_NOARGS, "The source line that made it, or None."},
    {"inputs", dataset_inputs, METH_NOARGS, "Its input datasets."},
    {"nodes", dataset_nodes, METH_NOARGS, "Its function's (operation, line) pairs, or None."},
    {NULL, NULL, 0, NULL}};

PyTypeObject stk_py_dataset_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stoker.data._engine.Dataset",
    .tp_basicsize = sizeof(struct stk_py_dataset),
    .tp_dealloc = dataset_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_methods = dataset_methods,
    .tp_new = dataset_new,
    .tp_doc = "Dataset(kind, inputs, args, where): a node of the engine's graph.",
};

// Fn(specs, name)
static PyObject *fn_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *list;
    const char *name;
    struct stoker_spec *specs;
    Py_ssize_t n;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "Os", &list, &name) || stk_py_specs_in(list, &specs, &n) < 0) {
        return NULL;
    }
    struct stk_py_fn *self = (struct stk_py_fn *)type->tp_alloc(type, 0);
    struct stoker_err err;
    if (self && stoker_fn_open(specs, (int)n, name, &self->fn, &err) != STOKER_OK) {
        stk_py_raise(&err);
        Py_CLEAR(self);
    }
    PyMem_Free(specs);
    return (PyObject *)self;
}

static void fn_dealloc(PyObject *self)
{
    stoker_fn_free(((struct stk_py_fn *)self)->fn);
    Py_TYPE(self)->tp_free(self);
}

static int *ids_in(PyObject *list, int *n)
{
    PyObject *fast = PySequence_Fast(list, "value numbers must be a sequence");
    Py_ssize_t count = fast ? PySequence_Fast_GET_SIZE(fast) : 0;
    int *ids = fast ? PyMem_Calloc((size_t)count + 1, sizeof ids[0]) : NULL;
    for (Py_ssize_t i = 0; ids && i < count; i++) {
        ids[i] = (int)PyLong_AsLong(PySequence_Fast_GET_ITEM(fast, i));
        if (PyErr_Occurred()) {
            PyMem_Free(ids);
            ids = NULL;
        }
    }
    *n = (int)count;
    Py_XDECREF(fast);
    if (!ids && !PyErr_Occurred()) {
        PyErr_NoMemory();
    }
    return ids;
}

// add(op, inputs, args, where) -> (first, count)
static PyObject *fn_add(PyObject *self, PyObject *args)
{
    struct stk_py_fn *f = (struct stk_py_fn *)self;
    const char *op, *where;
    PyObject *inputs, *dict;
    int n, first = 0, count = 0;
    if (!PyArg_ParseTuple(args, "sOO!z", &op, &inputs, &PyDict_Type, &dict, &where)) {
        return NULL;
    }
    int *ids = ids_in(inputs, &n);
    struct stoker_args *a = ids ? stk_py_args(dict) : NULL;
    struct stoker_err err;
    int failed = !a;
    if (a && stoker_fn_add(f->fn, op, ids, n, a, where, &first, &count, &err) != STOKER_OK) {
        stk_py_raise(&err);
        failed = 1;
    }
    stoker_args_free(a);
    PyMem_Free(ids);
    return failed ? NULL : Py_BuildValue("(ii)", first, count);
}

static PyObject *fn_spec(PyObject *self, PyObject *arg)
{
    int id = (int)PyLong_AsLong(arg);
    struct stoker_spec s;
    if (PyErr_Occurred()) {
        return NULL;
    }
    stoker_fn_spec(((struct stk_py_fn *)self)->fn, id, &s);
    return stk_py_spec_out(&s, self);
}

static PyObject *fn_constant(PyObject *self, PyObject *arg)
{
    int id = (int)PyLong_AsLong(arg);
    struct stoker_tensor t;
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (!stoker_fn_constant(((struct stk_py_fn *)self)->fn, id, &t)) {
        Py_RETURN_NONE;
    }
    return stk_py_tensor_out(&t);
}

static PyObject *fn_finish(PyObject *self, PyObject *list)
{
    struct stk_py_fn *f = (struct stk_py_fn *)self;
    struct stoker_err err;
    int n, *ids = f->is_finished ? NULL : ids_in(list, &n);
    if (!ids) {
        return PyErr_Occurred() ? NULL : (PyErr_SetString(PyExc_ValueError, "finished"), NULL);
    }
    enum stoker_status s = stoker_fn_finish(f->fn, ids, n, &err);
    PyMem_Free(ids);
    if (s != STOKER_OK) {
        return stk_py_raise(&err);
    }
    f->is_finished = 1;
    Py_RETURN_NONE;
}

static PyObject *fn_nodes(PyObject *self, PyObject *unused)
{
    (void)unused;
    return nodes_list(((struct stk_py_fn *)self)->fn);
}

static PyObject *fn_is_random(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(stoker_fn_is_random(((struct stk_py_fn *)self)->fn));
}

static PyMethodDef fn_methods[] = {
    {"add", fn_add, METH_VARARGS, "add(op, inputs, args, where) -> (first result, count)"},
    {"spec", fn_spec, METH_O, "(dtype, shape, nested) of a value."},
    {"constant", fn_constant, METH_O, "The value if it is already known, else None."},
    {"finish", fn_finish, METH_O, "finish(results): completes the function."},
    {"nodes", fn_nodes, METH_NOARGS, "(operation, source line) pairs in order of evaluation."},
    {"is_random", fn_is_random, METH_NOARGS, "Whether any operation draws random bits."},
    {NULL, NULL, 0, NULL}};

PyTypeObject stk_py_fn_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stoker.data._engine.Fn",
    .tp_basicsize = sizeof(struct stk_py_fn),
    .tp_dealloc = fn_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_methods = fn_methods,
    .tp_new = fn_new,
    .tp_doc = "Fn(specs, name): a graph of operations over numbered values.",
};
