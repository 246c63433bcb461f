// SPDX-License-Identifier: Apache-2.0
// Elements with the methods numpy() and get_shape(), for code written for eager tensors: NumPy's
// arrays and scalars and Python's bytes in every other respect.
//
// Method: creates subtypes of ndarray and of each scalar type, without a dict, so each costs as
// much as its base plus one branch. Strings get a subtype of numpy.bytes_, a bytes subclass: NumPy
// treats other subtypes of bytes as numbers. They pickle, copy and print like their bases, so
// loading a file doesn't need this module. NumPy's own types aren't modified: a method added to
// those would be visible to all code that checks for it.
//
// Python may derive from these types: core/_eager.py does, for what Python functions get.
//
// Limits: arithmetic on a scalar returns NumPy's own scalar (on an array, such an array). Bool
// scalars stay NumPy's, which compares them by address, and bfloat16 ones ml_dtypes'.
#include "py/py_engine.h"

#include <numpy/arrayscalars.h>
#include <stddef.h>
#include <string.h>

union scalar { // room for a value of any of NumPy's scalar types
    npy_longdouble align;
    char bytes[32];
};

static PyObject *array_numpy(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyArrayObject *a = (PyArrayObject *)self;
    if (PyArray_NDIM(a) == 0) {
        return PyArray_Scalar(PyArray_DATA(a), PyArray_DESCR(a), self);
    }
    return PyArray_View(a, NULL, &PyArray_Type);
}

static PyObject *plain_array(PyObject *self)
{
    return PyArray_View((PyArrayObject *)self, NULL, &PyArray_Type);
}

static PyObject *plain_scalar(PyObject *self)
{
    PyArray_Descr *d = PyArray_DescrFromScalar(self);
    union scalar value;
    PyArray_ScalarAsCtype(self, &value);
    PyObject *out = d ? PyArray_Scalar(&value, d, NULL) : NULL;
    Py_XDECREF(d);
    return out;
}

static PyObject *plain_bytes(PyObject *self)
{
    return PyBytes_FromStringAndSize(PyBytes_AS_STRING(self), PyBytes_GET_SIZE(self));
}

static PyObject *plain(PyObject *self)
{
    return PyArray_Check(self)   ? plain_array(self)
           : PyBytes_Check(self) ? plain_bytes(self)
                                 : plain_scalar(self);
}

static PyObject *any_numpy(PyObject *self, PyObject *unused)
{
    (void)unused;
    return plain(self);
}

static PyObject *any_get_shape(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *specs = PyImport_ImportModule("stoker.data.core._spec");
    PyObject *shape = specs ? PyObject_GetAttrString(self, "shape") : NULL;
    PyObject *out = shape ? PyObject_CallMethod(specs, "as_shape", "(O)", shape) : NULL;
    Py_XDECREF(shape);
    Py_XDECREF(specs);
    return out;
}

// Pickles and copies like the base type.
static PyObject *any_reduce(PyObject *self, PyObject *protocol)
{
    PyObject *p = plain(self), *out = NULL;
    if (p && PyBytes_Check(p)) { // pickle handles bytes itself
        out = Py_BuildValue("O(O)", &PyBytes_Type, p);
    } else if (p) {
        out = PyObject_CallMethod(p, "__reduce_ex__", "O", protocol);
    }
    Py_XDECREF(p);
    return out;
}

static PyObject *any_repr(PyObject *self)
{
    PyObject *p = plain(self), *text = p ? PyObject_Repr(p) : NULL;
    Py_XDECREF(p);
    return text;
}

// Results of NumPy functions on such an array: also such an array; a scalar if without dimensions,
// as for its own arrays.
static PyObject *array_wrap(PyObject *self, PyObject *args)
{
    PyObject *made, *context = NULL, *is_scalar = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!|OO", &PyArray_Type, &made, &context, &is_scalar)) {
        return NULL;
    }
    PyArrayObject *a = (PyArrayObject *)made;
    if (PyArray_NDIM(a) > 0) {
        return PyArray_View(a, NULL, &stk_py_array_type);
    }
    PyObject *scalar = PyArray_Scalar(PyArray_DATA(a), PyArray_DESCR(a), made);
    PyObject *out = scalar ? stk_py_eager(NULL, scalar) : NULL;
    Py_XDECREF(scalar);
    return out;
}

// Adds numpy() to an item of such an array. Takes the reference.
static PyObject *as_item(PyObject *value)
{
    if (!value || !(PyBytes_CheckExact(value) || PyArray_IsScalar(value, Generic))) {
        return value;
    }
    PyObject *out = stk_py_eager(NULL, value);
    Py_DECREF(value);
    return out;
}

static PyObject *array_at(PyObject *self, PyObject *key)
{
    return as_item(PyArray_Type.tp_as_mapping->mp_subscript(self, key));
}

static PyObject *array_item(PyObject *self, Py_ssize_t i)
{
    return as_item(PyArray_Type.tp_as_sequence->sq_item(self, i));
}

static PyMappingMethods array_mapping = {.mp_subscript = array_at};
static PySequenceMethods array_sequence = {.sq_item = array_item};

#define NUMPY_DOC "Returns the NumPy value (or bytes), like TensorFlow's eager tensors."
#define SHAPE_DOC "Returns the shape, a TensorShape, like TensorFlow's eager tensors."
static PyMethodDef array_methods[] = {{"numpy", array_numpy, METH_NOARGS, NUMPY_DOC},
                                      {"get_shape", any_get_shape, METH_NOARGS, SHAPE_DOC},
                                      {"__array_wrap__", array_wrap, METH_VARARGS, "Results."},
                                      {"__reduce_ex__", any_reduce, METH_O, "Like the base class."},
                                      {NULL, NULL, 0, NULL}};
static PyMethodDef other_methods[] = {{"numpy", any_numpy, METH_NOARGS, NUMPY_DOC},
                                      {"get_shape", any_get_shape, METH_NOARGS, SHAPE_DOC},
                                      {"__reduce_ex__", any_reduce, METH_O, "Like the base class."},
                                      {NULL, NULL, 0, NULL}};

PyTypeObject stk_py_array_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stoker.data.ndarray",
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_methods = array_methods,
    .tp_as_mapping = &array_mapping, // missing slots are inherited
    .tp_as_sequence = &array_sequence,
    .tp_repr = any_repr,
    .tp_doc = "A NumPy array that also has numpy().",
};
PyTypeObject stk_py_bytes_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stoker.data.bytes",
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_methods = other_methods,
    .tp_repr = any_repr,
    .tp_str = any_repr, // like bytes: keeps zeros at the end
    .tp_doc = "Bytes that also have numpy().",
};

#define SCALARS(X)                                                                                 \
    X(STOKER_UINT8, uint8, UInt8)                                                                  \
    X(STOKER_INT8, int8, Int8)                                                                     \
    X(STOKER_UINT16, uint16, UInt16)                                                               \
    X(STOKER_INT16, int16, Int16)                                                                  \
    X(STOKER_UINT32, uint32, UInt32)                                                               \
    X(STOKER_INT32, int32, Int32)                                                                  \
    X(STOKER_UINT64, uint64, UInt64)                                                               \
    X(STOKER_INT64, int64, Int64)                                                                  \
    X(STOKER_FLOAT16, float16, Half)                                                               \
    X(STOKER_FLOAT32, float32, Float32)                                                            \
    X(STOKER_FLOAT64, float64, Float64)

#define SCALAR(dtype, name, Numpy)                                                                 \
    [dtype] = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "stoker.data." #name,                      \
               .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, .tp_methods = other_methods,  \
               .tp_repr = any_repr, .tp_doc = "A NumPy scalar that also has numpy()."},
static PyTypeObject scalar_types[STOKER_DTYPES] = {SCALARS(SCALAR)};
#define AT(dtype, name, Numpy) [dtype] = offsetof(Py##Numpy##ScalarObject, obval),
static const size_t value_at[STOKER_DTYPES] = {SCALARS(AT)};

STK_PY_HOT PyObject *stk_py_eager_scalar(int dtype, const void *value)
{
    PyTypeObject *type = &scalar_types[dtype];
    if (!type->tp_alloc) { // without our type for it
        PyArray_Descr *d = stk_py_descr(dtype);
        PyObject *out = PyArray_Scalar((void *)(uintptr_t)value, d, NULL);
        Py_DECREF(d);
        return out;
    }
    PyObject *o = type->tp_alloc(type, 0);
    if (o) {
        memcpy((char *)o + value_at[dtype], value, stoker_dtype_bytes(dtype));
    }
    return o;
}

PyObject *stk_py_eager(PyObject *module, PyObject *value)
{
    (void)module;
    if (PyArray_CheckExact(value)) {
        return PyArray_View((PyArrayObject *)value, NULL, &stk_py_array_type);
    }
    if (PyBytes_CheckExact(value)) {
        struct stoker_bytes b = {(const unsigned char *)PyBytes_AS_STRING(value),
                                 (size_t)PyBytes_GET_SIZE(value)};
        return stk_py_bytes(&stk_py_bytes_type, &b);
    }
    PyArray_Descr *d = PyArray_IsScalar(value, Generic) ? PyArray_DescrFromScalar(value) : NULL;
    int dtype = d ? stk_py_dtype_of(d) : -1;
    Py_XDECREF(d);
    if (dtype >= 0 && dtype < STOKER_DTYPES && scalar_types[dtype].tp_alloc) {
        union scalar v;
        PyArray_ScalarAsCtype(value, &v);
        return stk_py_eager_scalar(dtype, &v);
    }
    Py_INCREF(value);
    return value;
}

int stk_py_eager_setup(void)
{
#define BASE(dtype, name, Numpy) scalar_types[dtype].tp_base = &Py##Numpy##ArrType_Type;
    SCALARS(BASE)
    stk_py_array_type.tp_base = &PyArray_Type;
    stk_py_bytes_type.tp_base = &PyStringArrType_Type;
    stk_py_bytes_type.tp_free = PyBytes_Type.tp_free;
    for (int i = 0; i < STOKER_DTYPES; i++) {
        if (scalar_types[i].tp_base && PyType_Ready(&scalar_types[i]) < 0) {
            return -1;
        }
    }
    if (PyType_Ready(&stk_py_array_type) < 0 || PyType_Ready(&stk_py_bytes_type) < 0) {
        return -1;
    }
    if ((size_t)stk_py_bytes_type.tp_basicsize >
        sizeof(PyBytesObject)) { // they are filled like bytes
        PyErr_SetString(PyExc_ImportError, "numpy.bytes_ no longer has the layout of bytes");
        return -1;
    }
    return 0;
}
