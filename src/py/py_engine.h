// SPDX-License-Identifier: Apache-2.0
// The Python module stoker.data._engine: include/stoker/data.h as Python objects. Nesting, names
// and defaults are handled by the Python files next to it.
//
// The GIL is released while the engine may wait. Engine threads take it only for Python functions
// and generators; references they release are dropped later, on a thread that has it.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL stk_py_array_api
#ifndef STK_PY_MAIN
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include "stoker/data.h"

#if NPY_ABI_VERSION < 0x02000000
#define PyDataType_ELSIZE(d) ((d)->elsize)
#endif

#define STK_PY_COMPONENTS_MAX 1024
// Functions on every element's path: the linker places them together.
#define STK_PY_HOT __attribute__((hot))

struct stk_py_dataset {
    PyObject_HEAD struct stoker_dataset *ds;
};
struct stk_py_fn {
    PyObject_HEAD struct stoker_fn *fn;
    int is_finished;
};
struct stk_py_specs { // components of a dataset or value; alive as long as its owner
    PyObject_HEAD const struct stoker_specs *specs;
    PyObject *owner;
};
extern PyTypeObject stk_py_dataset_type, stk_py_fn_type, stk_py_specs_type, stk_py_memory_type,
    stk_py_iterator_type, stk_py_writer_type, stk_py_stager_type, stk_py_device_array_type;

// Errors. Python sets the class for each code (set_errors).
PyObject *stk_py_set_errors(PyObject *module, PyObject *args);
PyObject *stk_py_raise(const struct stoker_err *err); // always NULL
// Turns the current Python exception into an error; the consumer's side raises it again.
void stk_py_keep_exception(struct stoker_err *err);

// Releases references without the GIL.
void stk_py_let_go(void *object);
int stk_py_drain(void *unused);

// Values. A tensor over the object's memory; *hold keeps it alive. -1: exception.
int stk_py_tensor_in(PyObject *value, struct stoker_tensor *t, PyObject **hold);
// A NumPy array over the tensor's memory, a NumPy scalar, bytes, or a Dataset. Takes the tensor.
PyObject *stk_py_tensor_out(struct stoker_tensor *t);
// The same, with a numpy() method (py_eager.c).
PyObject *stk_py_eager_out(struct stoker_tensor *t);
extern PyTypeObject stk_py_array_type, stk_py_bytes_type;
PyObject *stk_py_eager_scalar(int dtype, const void *value);
PyObject *stk_py_eager(PyObject *module, PyObject *value);
PyObject *stk_py_bytes(PyTypeObject *type, const struct stoker_bytes *b); // bytes, or that subtype
int stk_py_eager_setup(void);
PyObject *stk_py_export_stream(PyObject *module, PyObject *args);
// Drops the strings kept for reuse.
void stk_py_forget_strings(void);
PyArray_Descr *stk_py_descr(int dtype); // new reference
int stk_py_dtype_of(PyArray_Descr *d);  // -1: unsupported
PyObject *stk_py_set_bfloat16(PyObject *module, PyObject *descr);

// (dtype, shape or None, Specs or None)
PyObject *stk_py_spec_out(const struct stoker_spec *s, PyObject *owner);
int stk_py_specs_in(PyObject *list, struct stoker_spec **out, Py_ssize_t *n); // PyMem_Free *out
PyObject *stk_py_specs_list(const struct stoker_specs *s, PyObject *owner);
PyObject *stk_py_dataset_wrap(struct stoker_dataset *ds); // takes the reference

// Run options from a dict of struct stoker_run_options' fields. -1: exception.
int stk_py_run_options(PyObject *dict, struct stoker_run_options *o);
// Arguments from a dict; NULL: exception.
struct stoker_args *stk_py_args(PyObject *dict);

// Builds an element of the structure (see py_iterator.c) from `leaves`.
PyObject *stk_py_build(PyObject *structure, PyObject **leaves, int n);
// devices() -> their number; device_memory(device) -> (unused bytes, total bytes).
PyObject *stk_py_devices(PyObject *module, PyObject *unused);
PyObject *stk_py_device_memory(PyObject *module, PyObject *number);

// Calls Python functions and generators by number.
extern const struct stoker_host stk_py_host;
// The same for one pipeline, whose functions are called with its number. Returns the number.
uint64_t stk_py_host_of_pipeline(struct stoker_host *host);
extern _Thread_local uint64_t stk_py_inside; // pipeline whose function this thread runs; 0: none
extern _Thread_local int stk_py_was_called;  // this thread has run Python for the engine
int stk_py_calls_now(void); // Python functions and generators now running for the engine
PyObject *stk_py_register(PyObject *module, PyObject *function);
PyObject *stk_py_unregister(PyObject *module, PyObject *id);

// encode([(name, array or None, steps or None)], is sequence): an Example's bytes.
PyObject *stk_py_encode(PyObject *module, PyObject *args);

PyObject *stk_py_close_all(PyObject *module, PyObject *unused); // for atexit
void stk_py_leave_begin(void);     // start and end of close_all (py_leave.c)
void stk_py_leave_end(void);       // with the GIL, which it releases meanwhile
void stk_py_forked_leave(void);    // in the child of a fork
int stk_py_is_leaving(void);       // false on the thread that ends the interpreter
void stk_py_rest_if_leaving(void); // with the GIL; may never return
// After a wait, like PyEval_RestoreThread; the interpreter may have started to end meanwhile.
void stk_py_resume(PyThreadState *state);
// Around a thread's acquisition of the GIL. 0: the interpreter is ending; use nothing of it.
int stk_py_come_in(void);
void stk_py_came_in(void);
int stk_py_iterator_setup(void);
int stk_py_attach_setup(void);

// Lets the calling thread use Python, with the GIL, until it is detached; works even if it already
// could. Like PyGILState_Ensure and _Release, but safe with concurrent forks.
struct stk_py_attached {
    int is_new; // the state was created for this
    PyGILState_STATE gil;
};
void stk_py_attach(struct stk_py_attached *a);
void stk_py_detach(const struct stk_py_attached *a);
