// SPDX-License-Identifier: Apache-2.0
// The module's table of functions, its constants, and single operations on values.
#define STK_PY_MAIN
#include "py/py_engine.h"

#define OUTPUTS_MAX 256
#define QUICK_BYTES 65536 // with less input, releasing the GIL isn't worth it

static PyObject *values_out(struct stoker_tensor *t, int n)
{
    PyObject *list = PyList_New(n);
    for (int i = 0; i < n; i++) {
        PyObject *v = list ? stk_py_eager_out(&t[i]) : NULL;
        if (!v) {
            stoker_tensor_release(&t[i]);
            Py_CLEAR(list);
            continue;
        }
        PyList_SET_ITEM(list, i, v);
    }
    return list;
}

static size_t bytes_of(const struct stoker_tensor *t)
{
    size_t n = stoker_dtype_bytes(t->dtype);
    for (int i = 0; i < t->rank; i++) {
        n *= (size_t)t->dim[i];
    }
    return n;
}

// op_call(name, inputs, args, seed) -> list of results
static PyObject *op_call(PyObject *module, PyObject *args)
{
    const char *op;
    PyObject *inputs, *dict, *list = NULL;
    unsigned long long seed;
    (void)module;
    if (!PyArg_ParseTuple(args, "sO!O!K", &op, &PyList_Type, &inputs, &PyDict_Type, &dict, &seed)) {
        return NULL;
    }
    Py_ssize_t n = PyList_GET_SIZE(inputs), done = 0;
    struct stoker_tensor *in = PyMem_Calloc((size_t)n + 1, sizeof in[0]);
    struct stoker_tensor *out = PyMem_Calloc(OUTPUTS_MAX, sizeof out[0]);
    PyObject **holds = PyMem_Calloc((size_t)n + 1, sizeof holds[0]);
    struct stoker_args *a = in && out && holds ? stk_py_args(dict) : NULL;
    size_t bytes = 0;
    for (; a && done < n; done++) {
        if (stk_py_tensor_in(PyList_GET_ITEM(inputs, done), &in[done], &holds[done]) < 0) {
            break;
        }
        bytes += bytes_of(&in[done]);
    }
    if (a && done == n) {
        struct stoker_err err;
        int n_out = OUTPUTS_MAX;
        enum stoker_status s;
        int waits = strcmp(op, "read_file") == 0; // for a disk, or for the writer of a pipe
        if (bytes < QUICK_BYTES && !waits) {
            s = stoker_op_call(op, in, (int)n, a, seed, out, &n_out, &err);
        } else {
            PyThreadState *unlocked = PyEval_SaveThread();
            s = stoker_op_call(op, in, (int)n, a, seed, out, &n_out, &err);
            stk_py_resume(unlocked);
        }
        list = s == STOKER_OK ? values_out(out, n_out) : stk_py_raise(&err);
    } else if (!PyErr_Occurred()) {
        PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < done; i++) {
        Py_XDECREF(holds[i]);
    }
    stoker_args_free(a);
    PyMem_Free(in);
    PyMem_Free(out);
    PyMem_Free(holds);
    return list;
}

static PyObject *names(const char *(*at)(int, const char **))
{
    PyObject *d = PyDict_New();
    const char *name, *summary;
    for (int i = 0; d && (name = at(i, &summary)); i++) {
        PyObject *s = PyUnicode_FromString(summary ? summary : "");
        if (!s || PyDict_SetItemString(d, name, s) < 0) {
            Py_CLEAR(d);
        }
        Py_XDECREF(s);
    }
    return d;
}

static PyObject *op_names(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return names(stoker_op_name);
}

// (name, type, required, or an input, its default as text or None, choices or None) of each row.
static PyObject *rows_of(int op)
{
    PyObject *list = PyList_New(0);
    struct stoker_arg_row a;
    for (int k = 0; list && stoker_op_arg(op, k, &a); k++) {
        PyObject *row = Py_BuildValue(
            "(ssOOzz)", a.name, a.type, a.is_required ? Py_True : Py_False,
            a.is_input_too ? Py_True : Py_False, a.has_fallback ? a.fallback : NULL, a.choices);
        if (!row || PyList_Append(list, row) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *op_args(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *d = PyDict_New();
    const char *name, *summary;
    for (int i = 0; d && (name = stoker_op_name(i, &summary)); i++) {
        PyObject *rows = rows_of(i);
        if (!rows || PyDict_SetItemString(d, name, rows) < 0) {
            Py_CLEAR(d);
        }
        Py_XDECREF(rows);
    }
    return d;
}

// (operation, TensorFlow's names, its arguments, is it random) of each that has such names.
static PyObject *op_tensorflow(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    const char *name, *summary, *public, *arguments;
    int is_random;
    for (int i = 0; list && (name = stoker_op_name(i, &summary)); i++) {
        if (!stoker_op_tensorflow(i, &public, &arguments, &is_random)) {
            continue;
        }
        PyObject *row =
            Py_BuildValue("(sssO)", name, public, arguments, is_random ? Py_True : Py_False);
        if (!row || PyList_Append(list, row) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *kind_names(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return names(stoker_kind_name);
}

static PyObject *dtype_names(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(STOKER_DTYPES);
    for (int i = 0; list && i < STOKER_DTYPES; i++) {
        PyList_SET_ITEM(list, i, PyUnicode_FromString(stoker_dtype_name(i)));
    }
    return list;
}

// load_plugin(path) -> names of its operations
static PyObject *load_plugin(PyObject *module, PyObject *arg)
{
    struct stoker_err err;
    PyObject *path;
    int first, count;
    (void)module;
    if (!PyUnicode_FSConverter(arg, &path)) {
        return NULL;
    }
    enum stoker_status s = stoker_plugin_load(PyBytes_AS_STRING(path), &first, &count, &err);
    Py_DECREF(path);
    if (s != STOKER_OK) {
        return stk_py_raise(&err);
    }
    PyObject *list = PyList_New(count);
    for (int i = 0; list && i < count; i++) {
        const char *summary;
        PyList_SET_ITEM(list, i, PyUnicode_FromString(stoker_op_name(first + i, &summary)));
    }
    return list;
}

static PyObject *limits(PyObject *module, PyObject *unused)
{
    struct stoker_data_limits l;
    struct stoker_data_use u;
    (void)module;
    (void)unused;
    stoker_data_limits_get(&l, &u);
    return Py_BuildValue("{s:i,s:i,s:K,s:i,s:i,s:K,s:K}", "cpus", l.cpus, "threads", l.threads,
                         "ram_bytes", (unsigned long long)l.ram_bytes, "threads_now", u.threads,
                         "threads_most", u.threads_most, "ram_bytes_now",
                         (unsigned long long)u.ram_bytes, "ram_bytes_most",
                         (unsigned long long)u.ram_peak_bytes);
}

static PyObject *set_limits(PyObject *module, PyObject *args)
{
    struct stoker_data_limits l = {0};
    struct stoker_err err;
    unsigned long long ram_bytes;
    (void)module;
    if (!PyArg_ParseTuple(args, "iiK", &l.cpus, &l.threads, &ram_bytes)) {
        return NULL;
    }
    l.ram_bytes = ram_bytes;
    if (stoker_data_limits_set(&l, &err) != STOKER_OK) {
        return stk_py_raise(&err);
    }
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"op_call", op_call, METH_VARARGS, "op_call(name, inputs, args, seed) -> list of results"},
    {"op_names", op_names, METH_NOARGS, "Operations and what they do, as a dict."},
    {"op_tensorflow", op_tensorflow, METH_NOARGS,
     "Operations under TensorFlow's names, as a list."},
    {"op_args", op_args, METH_NOARGS, "Operations and their arguments, as a dict."},
    {"kind_names", kind_names, METH_NOARGS, "Kinds of datasets and what they are, as a dict."},
    {"dtype_names", dtype_names, METH_NOARGS, "Names of the types, by number."},
    {"load_plugin", load_plugin, METH_O, "load_plugin(path) -> names of its operations"},
    {"limits", limits, METH_NOARGS, "The process's limits and current use, as a dict."},
    {"set_limits", set_limits, METH_VARARGS,
     "set_limits(cpus, threads, ram_bytes). 0 means no limit."},
    {"register", stk_py_register, METH_O,
     "Registers a function and returns its number for the engine."},
    {"unregister", stk_py_unregister, METH_O, "Unregisters the function with that number."},
    {"set_errors", stk_py_set_errors, METH_VARARGS, "set_errors({code: class}, again)"},
    {"set_bfloat16", stk_py_set_bfloat16, METH_O, "The dtype that stands for bfloat16."},
    {"eager", stk_py_eager, METH_O, "Gives an array, scalar or bytes a numpy() method."},
    {"export_stream", stk_py_export_stream, METH_VARARGS,
     "export_stream(source, address): moves source's Arrow stream to the address."},
    {"encode", stk_py_encode, METH_VARARGS, "encode(features, is_sequence) -> bytes of an Example"},
    {"devices", stk_py_devices, METH_NOARGS, "Number of CUDA devices."},
    {"device_memory", stk_py_device_memory, METH_O, "(free bytes, total bytes) of the device."},
    {"close_all", stk_py_close_all, METH_NOARGS,
     "Closes all iterators, at the interpreter's exit."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_engine",
                                        .m_doc = "include/stoker/data.h as Python objects.",
                                        .m_size = -1, .m_methods = methods};

static int add_type(PyObject *m, const char *name, PyTypeObject *type)
{
    if (PyType_Ready(type) < 0) {
        return -1;
    }
    Py_INCREF(type);
    if (PyModule_AddObject(m, name, (PyObject *)type) < 0) {
        Py_DECREF(type);
        return -1;
    }
    return 0;
}

PyMODINIT_FUNC PyInit__engine(void);

PyMODINIT_FUNC PyInit__engine(void)
{
    import_array();
    PyObject *m = PyModule_Create(&definition);
    if (!m) {
        return NULL;
    }
    if (stk_py_eager_setup() < 0 || PyType_Ready(&stk_py_memory_type) < 0 ||
        add_type(m, "Dataset", &stk_py_dataset_type) < 0 ||
        add_type(m, "Fn", &stk_py_fn_type) < 0 || add_type(m, "Specs", &stk_py_specs_type) < 0 ||
        add_type(m, "Iterator", &stk_py_iterator_type) < 0 ||
        add_type(m, "RecordWriter", &stk_py_writer_type) < 0 ||
        add_type(m, "Stager", &stk_py_stager_type) < 0 ||
        add_type(m, "DeviceArray", &stk_py_device_array_type) < 0 || stk_py_iterator_setup() != 0 ||
        stk_py_attach_setup() != 0) {
        Py_DECREF(m);
        return NULL;
    }
    return m;
}
