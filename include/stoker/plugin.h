// SPDX-License-Identifier: Apache-2.0
// Custom operations for stoker.data, in C: a shared library that exports a table of them. They work
// in traced functions like the built-in ones, on blocks of elements, on several threads at once,
// and without Python.
//
//   static int infer(struct stoker_plugin_infer *c) {       // once, while a function is built
//       c->out[0] = c->in[0];                               // same type and shape
//       return c->in[0].dtype == STOKER_FLOAT32 ? 0 : c->fail(c, "takes float32");
//   }
//   static int run(struct stoker_plugin_run *r) {           // for n elements
//       float *out = r->make(r, 0, r->in[0].dim);
//       for (int64_t i = 0; out && i < r->n; i++) {
//           const float *in = stoker_plugin_at(&r->in[0], i);
//           for (int64_t k = 0; k < r->in[0].count; k++) *out++ = 2 * in[k];
//       }
//       return out ? 0 : -1;
//   }
//   static const struct stoker_plugin_op ops[] = {
//       {.name = "twice", .summary = "Twice the values", .infer = infer, .run = run}};
//   STOKER_PLUGIN(ops)
//
//   cc -shared -fPIC -O2 -I$(python3 -c "import stoker.data as sd; print(sd.get_include())")
//   twice.c -o twice.so twice = sd.load_op_library("./twice.so").twice; ds.map(lambda x: twice(x))
//
// The library stays loaded until the process ends. It needs only this header of stoker: all calls
// go through pointers. Fields are only ever added at the end of structures.
#ifndef STOKER_PLUGIN_H
#define STOKER_PLUGIN_H

#include "stoker/data.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STOKER_PLUGIN_VERSION 1

enum stoker_plugin_flags {
    STOKER_PLUGIN_RANDOM = 1,  // draws random bits: not folded to a constant
    STOKER_PLUGIN_STATEFUL = 2 // has side effects: never removed
};

// Inference, while a function is built: inputs and outputs.
struct stoker_plugin_infer {
    int n_in;
    const struct stoker_spec *in; // a rank of STOKER_UNKNOWN, or such dimensions: unknown so far
    int n_out;                    // starts as 1; at most 16
    struct stoker_spec *out;      // set dtype, rank and dim; starts with unknown shapes
    // Attributes of the call; the fallback if the call has no attribute with that name.
    int64_t (*attr_int)(const void *attrs, const char *name, int64_t fallback);
    double (*attr_float)(const void *attrs, const char *name, double fallback);
    const char *(*attr_text)(const void *attrs, const char *name, const char *fallback);
    // A list of numbers; returns how many there are (0: none), and writes up to `capacity` of them.
    int64_t (*attr_ints)(const void *attrs, const char *name, int64_t *values, int64_t capacity);
    int64_t (*attr_floats)(const void *attrs, const char *name, double *values, int64_t capacity);
    const void *attrs;
    // Reports why types or shapes don't fit; returns -1, for `return c->fail(c, "...")`.
    int (*fail)(struct stoker_plugin_infer *c, const char *why);
    void *engine;
};

struct stoker_plugin_column { // n elements of one type and shape
    int dtype, rank;
    const int64_t *dim; // `rank` dimensions
    int64_t count;      // values per element
    const void *data;   // element i begins at data + i * stride; C order
    size_t stride;      // bytes; 0 if all elements share one value
};

// A run on one block.
struct stoker_plugin_run {
    int64_t n;
    int n_in, n_out;
    const struct stoker_plugin_column *in; // strings are struct stoker_bytes
    const struct stoker_spec *spec;        // inferred specs of the results
    void *prepared;                        // what op->prepare made
    void *scratch;                         // op->scratch_bytes per thread; zeroed at first
    int64_t first_index;                   // index of element 0 in the dataset
    int64_t (*attr_int)(const void *attrs, const char *name, int64_t fallback);
    double (*attr_float)(const void *attrs, const char *name, double fallback);
    const char *(*attr_text)(const void *attrs, const char *name, const char *fallback);
    int64_t (*attr_ints)(const void *attrs, const char *name, int64_t *values, int64_t capacity);
    int64_t (*attr_floats)(const void *attrs, const char *name, double *values, int64_t capacity);
    const void *attrs;
    // Two ways to make a result; it starts uninitialized, strings empty. NULL: no memory, or a
    // shape that differs from the inferred one; then return -1. All n elements at once, with one
    // shape, contiguous:
    void *(*make)(struct stoker_plugin_run *r, int k, const int64_t *dim);
    // Or element by element, in order, each with its own shape:
    void *(*add)(struct stoker_plugin_run *r, int k, const int64_t *dim);
    // Memory for a string of result k, living as long as the result. NULL: no memory.
    unsigned char *(*bytes)(struct stoker_plugin_run *r, int k, size_t size);
    // From now on, strings of result k may point into those of input j. 0: no memory.
    int (*borrow)(struct stoker_plugin_run *r, int k, int j);
    // Element i can't be made; skip later ones. The dataset continues after it. Returns 0, for
    // `return r->fail(r, i, "...")`.
    int (*fail)(struct stoker_plugin_run *r, int64_t i, const char *why);
    // 64 random bits for element i: the same for the same seed and position, on any thread.
    uint64_t (*bits)(struct stoker_plugin_run *r, int64_t i, uint64_t draw);
    void *engine;
};

struct stoker_plugin_op {
    const char *name; // letters, digits, underscores; not a built-in name
    const char *summary;
    unsigned flags;
    double cost_ns; // rough, per element; 0: unknown
    // Both return 0, or -1 after an error.
    int (*infer)(struct stoker_plugin_infer *c);
    int (*run)(struct stoker_plugin_run *r);
    // Optional: prepares something once per use of the operation, shared by threads; and frees it.
    // NULL is an error, after calling `fail`.
    void *(*prepare)(struct stoker_plugin_infer *c);
    void (*unprepare)(void *prepared);
    size_t scratch_bytes;
};

struct stoker_plugin {
    int version;    // STOKER_PLUGIN_VERSION
    size_t op_size; // sizeof(struct stoker_plugin_op) when the library was built
    int count;
    const struct stoker_plugin_op *ops;
};

// What the library exports.
const struct stoker_plugin *stoker_plugin(void);

#if defined(__GNUC__)
#define STOKER_PLUGIN_VISIBLE __attribute__((visibility("default")))
#else
#define STOKER_PLUGIN_VISIBLE
#endif
#define STOKER_PLUGIN(table)                                                                       \
    STOKER_PLUGIN_VISIBLE const struct stoker_plugin *stoker_plugin(void)                          \
    {                                                                                              \
        static const struct stoker_plugin all = {                                                  \
            STOKER_PLUGIN_VERSION, sizeof(struct stoker_plugin_op),                                \
            (int)(sizeof(table) / sizeof((table)[0])), table};                                     \
        return &all;                                                                               \
    }

static inline const void *stoker_plugin_at(const struct stoker_plugin_column *c, int64_t i)
{
    return (const char *)c->data + (size_t)i * c->stride;
}

#ifdef __cplusplus
}
#endif
#endif
