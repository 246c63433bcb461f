// SPDX-License-Identifier: Apache-2.0
// Takes Arrow streams of other libraries from the capsules of Arrow's PyCapsule interface; from
// then on the engine reads the stream without Python.
// https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html
#include <stddef.h>

#include "py/py_engine.h"

// struct ArrowArrayStream of engine/formats/arrow.h: five pointers; the fourth is release, NULL
// after a move.
struct stream {
    void *get_schema, *get_next, *get_last_error;
    void (*release)(struct stream *s);
    void *private_data;
};

static int move_stream(PyObject *capsule, struct stream *to)
{
    struct stream *from = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (!from) {
        return -1;
    }
    if (!from->release) {
        PyErr_SetString(PyExc_ValueError, "the Arrow stream was used up already");
        return -1;
    }
    *to = *from;
    from->release = NULL;
    return 0;
}

// export_stream(source, address): the address that the engine passed to an opener.
PyObject *stk_py_export_stream(PyObject *module, PyObject *args)
{
    PyObject *source;
    unsigned long long address;
    (void)module;
    if (!PyArg_ParseTuple(args, "OK", &source, &address)) {
        return NULL;
    }
    PyObject *capsule = PyObject_CallMethod(source, "__arrow_c_stream__", NULL);
    if (!capsule) {
        return NULL;
    }
    int failed = move_stream(capsule, (struct stream *)(uintptr_t)address);
    Py_DECREF(capsule);
    if (failed < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}
