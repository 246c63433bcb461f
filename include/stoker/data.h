// SPDX-License-Identifier: Apache-2.0
// stoker.data: input pipelines that feed training. A dataset is an immutable graph of a source and
// transformations; an iterator runs it. This is the C API, the only one that the Python module
// uses.
//
//   struct stoker_err e; struct stoker_dataset *r, *b; struct stoker_iterator *it;
//   struct stoker_args *a = stoker_args_new();
//   stoker_args_int(a, "stop", 10);
//   stoker_dataset_make("range", NULL, 0, a, NULL, &r, &e);
//   stoker_args_free(a);
//   ... make "batch" of r with batch_size = 3 ...
//   stoker_iterator_open(b, NULL, &it, &e);
//   struct stoker_tensor t[1]; int is_end;
//   while (stoker_iterator_next(it, t, 1, &is_end, &e) == STOKER_OK && !is_end) {
//       use(t[0].data); stoker_tensor_release(&t[0]);
//   }
//
// An element is a flat list of components, each a tensor; nesting is up to the caller. Strings are
// arrays of struct stoker_bytes. Objects are reference-counted: `hold` adds a reference, `free`
// drops one and accepts NULL. Datasets and functions may be used by several threads; an iterator by
// one at a time, unless noted.
#ifndef STOKER_DATA_H
#define STOKER_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "stoker/err.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STOKER_RANK_MAX 8
#define STOKER_UNKNOWN (-1) // a dimension or a rank
#define STOKER_AUTOTUNE (-1)
#define STOKER_INFINITE (-1)            // cardinality
#define STOKER_CARDINALITY_UNKNOWN (-2) // cardinality

enum stoker_dtype { // values are stable
    STOKER_BOOL,
    STOKER_UINT8,
    STOKER_INT8,
    STOKER_UINT16,
    STOKER_INT16,
    STOKER_UINT32,
    STOKER_INT32,
    STOKER_UINT64,
    STOKER_INT64,
    STOKER_FLOAT16,
    STOKER_BFLOAT16,
    STOKER_FLOAT32,
    STOKER_FLOAT64,
    STOKER_STRING,  // struct stoker_bytes
    STOKER_DATASET, // struct stoker_dataset *, as in windows
    STOKER_DTYPES
};
const char *stoker_dtype_name(int dtype);          // "float32"; strings are "bytes". NULL: unknown
                                                   // type
size_t stoker_dtype_bytes(int dtype);              // per value
int stoker_dtype_find(const char *name, int *out); // 1 if found

struct stoker_bytes {
    const unsigned char *data;
    size_t size;
};

struct stoker_spec {
    int dtype, rank; // rank STOKER_UNKNOWN: dims are meaningless
    int64_t dim[STOKER_RANK_MAX];
    const struct stoker_specs *nested; // element specs of datasets as components; borrowed; NULL:
                                       // none or unknown
};
struct stoker_specs;                                  // specs of an element's components
int stoker_specs_count(const struct stoker_specs *s); // number of components
// The spec of component i, from 0 to count - 1; what `nested` points to lives as long as s.
void stoker_specs_get(const struct stoker_specs *s, int i, struct stoker_spec *out);

// A value. A result belongs to the caller until stoker_tensor_release; an argument is borrowed
// (`hold` is ignored), unless noted.
struct stoker_tensor {
    int dtype, rank;
    int64_t dim[STOKER_RANK_MAX];
    void *data;      // contiguous, C order
    int is_readonly; // the memory is shared
    void *hold;      // opaque
};
void stoker_tensor_release(struct stoker_tensor *t); // from any thread; zeroes it
// Adds a reference to the same values. For results, and for the arguments of a host's functions.
void stoker_tensor_share(struct stoker_tensor *to, const struct stoker_tensor *from);

// Arguments of datasets and operations, by name. Everything is copied or referenced, except tensors
// added with stoker_args_memory. Setters return 0 if out of memory, or for an invalid type or rank.
struct stoker_args;
struct stoker_fn;
struct stoker_dataset;
struct stoker_args *stoker_args_new(void);
void stoker_args_free(struct stoker_args *a);
int stoker_args_int(struct stoker_args *a, const char *name, int64_t value);
int stoker_args_float(struct stoker_args *a, const char *name, double value);
int stoker_args_text(struct stoker_args *a, const char *name, const char *text, size_t n);
int stoker_args_ints(struct stoker_args *a, const char *name, const int64_t *values, size_t n);
int stoker_args_floats(struct stoker_args *a, const char *name, const double *values, size_t n);
int stoker_args_texts(struct stoker_args *a, const char *name, const struct stoker_bytes *values,
                      size_t n);
// Copies the values.
int stoker_args_tensors(struct stoker_args *a, const char *name, const struct stoker_tensor *values,
                        size_t n);
// Borrows the memory of non-string values until drop(arg[i]) is called for each, on any thread;
// copies strings and calls drop for them at once.
int stoker_args_memory(struct stoker_args *a, const char *name, const struct stoker_tensor *values,
                       size_t n, void (*drop)(void *arg), void *const *arg);
int stoker_args_specs(struct stoker_args *a, const char *name, const struct stoker_spec *specs,
                      size_t n);
int stoker_args_fn(struct stoker_args *a, const char *name, struct stoker_fn *fn);
int stoker_args_datasets(struct stoker_args *a, const char *name, struct stoker_dataset *const *ds,
                         size_t n);
// A value computed by the function that makes the dataset: see the operation make_dataset.
int stoker_args_bound(struct stoker_args *a, const char *name, const struct stoker_spec *specs,
                      size_t n);

// Functions: graphs of operations over numbered values; inputs are 0 to n - 1.
enum stoker_status stoker_fn_open(const struct stoker_spec *inputs, int n, const char *name,
                                  struct stoker_fn **out, struct stoker_err *err);
// Adds an operation; *first is the number of its first result, *count its number of results. where:
// source line for messages, or NULL.
enum stoker_status stoker_fn_add(struct stoker_fn *fn, const char *op, const int *inputs, int n,
                                 const struct stoker_args *args, const char *where, int *first,
                                 int *count, struct stoker_err *err);
void stoker_fn_spec(const struct stoker_fn *fn, int value, struct stoker_spec *out);
// 1 and the value if it is already known (a constant); the caller owns *out.
int stoker_fn_constant(const struct stoker_fn *fn, int value, struct stoker_tensor *out);
enum stoker_status stoker_fn_finish(struct stoker_fn *fn, const int *results, int n,
                                    struct stoker_err *err);
void stoker_fn_free(struct stoker_fn *fn);
// For plans: nodes in evaluation order.
int stoker_fn_nodes(const struct stoker_fn *fn);
const char *stoker_fn_node(const struct stoker_fn *fn, int i, const char **where);
int stoker_fn_is_random(const struct stoker_fn *fn);

// Runs one operation on values now. *n_out: room in `out`, then the number of results.
enum stoker_status stoker_op_call(const char *op, const struct stoker_tensor *in, int n_in,
                                  const struct stoker_args *args, uint64_t seed,
                                  struct stoker_tensor *out, int *n_out, struct stoker_err *err);
// The table of operations, plug-ins' at the end; NULL past the end.
const char *stoker_op_name(int i, const char **summary);
// Loads custom operations (stoker/plugin.h) from a shared library, for the rest of the process.
// *first: the index of its first one in the table; *count: how many. Loading a library again
// returns the same.
enum stoker_status stoker_plugin_load(const char *path, int *first, int *count,
                                      struct stoker_err *err);

// A dataset of a kind from the table (stoker_kind_name, stoker_kind_arg; docs/pipelines.md) over n
// inputs, which it references. Opens no files yet. where: source line for messages, or NULL.
// STOKER_EUSAGE: no such kind; STOKER_EINVAL: an argument is missing, unknown or out of range, or
// the inputs don't fit; err says which.
enum stoker_status stoker_dataset_make(const char *kind, struct stoker_dataset *const *inputs,
                                       int n, const struct stoker_args *args, const char *where,
                                       struct stoker_dataset **out, struct stoker_err *err);
struct stoker_dataset *stoker_dataset_hold(struct stoker_dataset *ds); // returns ds; on any thread
void stoker_dataset_free(struct stoker_dataset *ds);                   // on any thread; takes NULL
const struct stoker_specs *stoker_dataset_specs(const struct stoker_dataset *ds); // borrowed
// Number of elements, STOKER_INFINITE, or STOKER_CARDINALITY_UNKNOWN. Reads no file.
int64_t stoker_dataset_cardinality(const struct stoker_dataset *ds);
// Identifies datasets by what they are made of, the same in every process. It doesn't cover the
// contents of files, or what functions of the embedding language do.
uint64_t stoker_dataset_fingerprint(const struct stoker_dataset *ds);
// For plans. Borrowed.
const char *stoker_dataset_kind(const struct stoker_dataset *ds);
int stoker_dataset_inputs(const struct stoker_dataset *ds);
struct stoker_dataset *stoker_dataset_input(const struct stoker_dataset *ds, int i);
struct stoker_fn *stoker_dataset_fn(const struct stoker_dataset *ds); // NULL: it has none
const char *stoker_dataset_where(const struct stoker_dataset *ds);    // NULL: unknown
// The plan as it runs with these options, as text: stages, their functions' operations with types,
// shapes and source lines, and what was rewritten and why. Free it with stoker_bytes_free.
struct stoker_run_options;
enum stoker_status stoker_dataset_explain(struct stoker_dataset *ds,
                                          const struct stoker_run_options *options,
                                          struct stoker_bytes *out, struct stoker_err *err);
// The table of kinds; NULL past the end.
const char *stoker_kind_name(int i, const char **summary);

// An argument that an operation or a kind of dataset takes by name (struct stoker_args).
struct stoker_arg_row {
    const char *name;
    const char *type; // int, bool, float, text, dtype, ints, floats or other
    const char *help;
    const char *choices; // an int: names of 0, 1, ...; a text: its allowed values. Comma-separated;
                         // NULL: any
    int is_required;
    int is_input_too; // if absent, an operation's next input takes its place
    int has_fallback; // else `help` says what happens without it
    char fallback[64];
};
// Row k of the i-th operation. 0: no such row.
int stoker_op_arg(int i, int k, struct stoker_arg_row *out);
int stoker_kind_arg(int i, int k, struct stoker_arg_row *out);
// TensorFlow's names of the i-th operation, comma-separated, and TensorFlow's arguments in the form
// that src/engine/ops.def explains. 0: it has no such name.
int stoker_op_tensorflow(int i, const char **names, const char **arguments, int *is_random);

// Calls into the embedding language for operations (host_call) and sources (generator). They come
// from the engine's threads, several at once. Returned tensors belong to the engine: it passes
// `hold` to release_hold when it no longer needs `data`.
struct stoker_component { // of n elements: one tensor with them as first dimension, or n tensors
    int is_stacked;
    struct stoker_tensor *of;
};
struct stoker_host {
    void *arg;
    // One element: `out` has room for n_out results, the inferred number.
    enum stoker_status (*call)(void *arg, int64_t id, const struct stoker_tensor *in, int n_in,
                               struct stoker_tensor *out, int n_out, struct stoker_err *err);
    enum stoker_status (*gen_open)(void *arg, int64_t id, const struct stoker_tensor *in, int n_in,
                                   void **gen, struct stoker_err *err);
    enum stoker_status (*gen_next)(void *arg, void *gen, struct stoker_tensor *out, int n_out,
                                   int *is_end, struct stoker_err *err);
    void (*gen_close)(void *arg, void *gen);
    void (*release_hold)(void *arg, void *hold);
    // Functions added with takes_many: processes the first of n elements, at least one, in order;
    // *done says how many. An error belongs to the element after those, whose results still count.
    // out[k].of has room for n tensors. NULL: no such functions.
    enum stoker_status (*call_many)(void *arg, int64_t id, int64_t n,
                                    const struct stoker_component *in, int n_in,
                                    struct stoker_component *out, int n_out, int64_t *done,
                                    struct stoker_err *err);
};

// Where to allocate buffers of 64 KiB and more instead of on the heap, such as memory that a device
// can read directly. Called on any thread, until the iterator and all of its tensors are gone.
struct stoker_memory_source {
    void *arg;
    void *(*get)(void *arg, size_t size); // aligned to 64 bytes. NULL: none left; uses the heap
                                          // then
    void (*give)(void *arg, void *memory, size_t size);
};

// Limits of the process, over all of its iterators. 0: none. They apply in addition to a run's own
// options and are never exceeded: stages wait, do with fewer threads, or fail with STOKER_ELIMIT.
// Initial values come from the environment: STOKER_DATA_CPUS, STOKER_DATA_THREADS and
// STOKER_DATA_RAM (bytes, or with a K, M or G suffix).
struct stoker_data_limits {
    int cpus;           // stage threads at work at once; threads that call `next` come on top
    int threads;        // stage threads in total; without one, a stage works on the calling thread
    uint64_t ram_bytes; // of buffers, including free ones; not of copies made for a caller that
                        // keeps them
    uint64_t reserved[4];
};
struct stoker_data_use { // now, and the maximum
    int threads, threads_most;
    uint64_t ram_bytes, ram_peak_bytes;
    uint64_t reserved[4];
};
// On any thread; running iterators keep what they have, but get no more.
enum stoker_status stoker_data_limits_set(const struct stoker_data_limits *limits,
                                          struct stoker_err *err);
// Around a wait, in a function of the host (struct stoker_host), for another iterator of the
// process: lends it the core that this function holds under the limit. 1: it had one, to be taken
// back after the wait.
int stoker_data_lend_processor(void);
void stoker_data_take_processor(void);
void stoker_data_limits_get(struct stoker_data_limits *limits, struct stoker_data_use *use);

struct stoker_run_options {  // zero it, then set what you need
    int has_seed, is_sloppy; // sloppy: parallel stages may deliver out of order by default
    uint64_t seed;
    int threads;                    // most over all stages; 0: one per core
    uint64_t ram_bytes;             // most; 0: half of the available memory
    int skips_errors;               // skip bad elements and count them
    uint64_t epoch;                 // how many iterators of this dataset there were before
    const struct stoker_host *host; // borrowed until the iterator and its tensors are gone
    // File for the run's recording (*.stk), which `stoker why` reads. NULL: the one named by the
    // environment (STOKER_DATA_RECORD), shared by all iterators of the process; "": none.
    const char *record_path;
    // AUTOTUNE: a stage's initial workers (0: one per core, at most 16), and its fewest;
    // is_untuned: it keeps the initial number.
    int initial_parallelism, min_parallelism, is_untuned;
    int is_as_written; // no rewrites; they never change elements, see docs/data/speed.md
    const struct stoker_memory_source *memory; // NULL: the heap. Borrowed while it may be called
    uint64_t reserved[4];
};
struct stoker_iterator;
enum stoker_status stoker_iterator_open(struct stoker_dataset *ds,
                                        const struct stoker_run_options *options,
                                        struct stoker_iterator **out, struct stoker_err *err);
// The next element's components, `n` as in the dataset. *is_end: there was none. An error stands
// for one element; the next call continues after it, or is the end.
enum stoker_status stoker_iterator_next(struct stoker_iterator *it, struct stoker_tensor *out,
                                        int n, int *is_end, struct stoker_err *err);
// Would the next call return without waiting? For tests and schedulers.
int stoker_iterator_is_ready(const struct stoker_iterator *it);
int64_t stoker_iterator_held(const struct stoker_iterator *it); // elements made but not returned
                                                                // yet
void stoker_iterator_cancel(struct stoker_iterator *it);        // on any thread: waits end soon
void stoker_iterator_free(struct stoker_iterator *it);          // returned tensors stay valid
// The same, and reports whether the run's recording was completely written (STOKER_EOUTPUT).
enum stoker_status stoker_iterator_close(struct stoker_iterator *it, struct stoker_err *err);
// Its position, as a few bytes (*n: room, then length; STOKER_ELIMIT if it is too small).
enum stoker_status stoker_iterator_state(const struct stoker_iterator *it, void *state, size_t *n,
                                         struct stoker_err *err);
// A new iterator at the position of another. The dataset must be the same except for threads,
// buffers, folders of files, and a shard's index (STOKER_EINVAL: it differs). The first
// stoker_iterator_next skips the elements; stoker_iterator_cancel ends that.
enum stoker_status stoker_iterator_resume(struct stoker_dataset *ds,
                                          const struct stoker_run_options *options,
                                          const void *state, size_t n, struct stoker_iterator **out,
                                          struct stoker_err *err);

// Writes all elements of a dataset into an indexed file (the kind "indexed" reads it), under a
// temporary name next to it that is renamed at the end. progress: called now and then with the
// number of elements written; non-zero interrupts. *count: elements written.
enum stoker_status stoker_dataset_write(struct stoker_dataset *ds,
                                        const struct stoker_run_options *options, const char *path,
                                        int (*progress)(void *arg, uint64_t elements), void *arg,
                                        uint64_t *count, struct stoker_err *err);

struct stoker_stage { // a stage of the iterator tree, parents before inputs; counts since the start
    const char *kind, *where; // borrowed from the dataset; where may be NULL
    int depth;
    uint64_t elements, errors, skipped;
    uint64_t busy_ns, wait_ns, starve_ns;   // own CPU time; blocked on its input; its consumer
                                            // blocked on it
    uint32_t threads, fill, capacity;       // now; fill and capacity in blocks
    uint32_t block_max;                     // most elements in a block, now
    uint32_t binding;                       // enum stoker_binding
    double predicted_per_s, achieved_per_s; // elements of this stage; 0: the run was too short
    int keeps_nothing;                      // a cache whose elements don't fit the budget
};
enum stoker_binding { // what limits a pipeline's rate
    STOKER_BINDING_UNKNOWN,
    STOKER_BINDING_CPU,      // all cores are busy
    STOKER_BINDING_SERIAL,   // a part that only one thread at a time can do
    STOKER_BINDING_CONSUMER, // the consumer takes no more
    STOKER_BINDING_THREADS,  // threads wait for something other than a core, and there may be no
                             // more of them
    STOKER_BINDING_MEMORY    // the budget is used up
};
int stoker_iterator_stage(const struct stoker_iterator *it, int i,
                          struct stoker_stage *out); // 0: none
struct stoker_memory {
    uint64_t in_use_bytes, peak_bytes, cap_bytes, fresh_buffers;
    uint64_t copied; // tensors returned as copies outside the budget, because it was mostly used
};
// Memory of its buffers, in bytes.
void stoker_iterator_memory(const struct stoker_iterator *it, struct stoker_memory *out);

// Writes TFRecord files. compression: "", "GZIP" or "ZLIB"; level: 1 to 9, 0: the default. One
// thread at a time.
struct stoker_record_writer;
enum stoker_status stoker_record_create(const char *path, const char *compression, int level,
                                        struct stoker_record_writer **out, struct stoker_err *err);
enum stoker_status stoker_record_write(struct stoker_record_writer *w, const void *data,
                                       size_t size, struct stoker_err *err);
// Writes the rest; closes and frees in any case. Takes NULL.
enum stoker_status stoker_record_finish(struct stoker_record_writer *w, struct stoker_err *err);

struct stoker_feature { // of an Example; of a SequenceExample's context, or its lists (is_list)
    const char *name;
    int dtype;          // STOKER_INT64, STOKER_FLOAT32, STOKER_STRING; -1: a feature without a list
    const void *values; // int64_t, float or struct stoker_bytes
    size_t count;
    int is_list;
    const size_t *steps; // is_list: number of values in each step; they add up to count
    size_t step_count;
};
// Encodes a tf.train.Example (or SequenceExample); free it with stoker_bytes_free.
enum stoker_status stoker_example_encode(const struct stoker_feature *features, size_t n,
                                         int is_sequence, struct stoker_bytes *out,
                                         struct stoker_err *err);
void stoker_bytes_free(struct stoker_bytes *b); // empties it; takes NULL

// What a file of training data contains: TFRecords and indexed files.
enum { STOKER_FEATURE_BYTES = 1, STOKER_FEATURE_FLOAT, STOKER_FEATURE_INT64 }; // as in the proto
struct stoker_data_summary {
    const char *format;      // "tfrecord", "indexed"
    const char *compression; // "", "GZIP", "ZLIB"
    uint64_t records, bytes; // good records; bytes of their data, 0 if unknown
    uint64_t record_min, record_max, damaged;
    uint64_t examples; // tf.train.Examples among the first thousand records
    char first_damage[480];
};
struct stoker_data_feature { // a feature of the Examples among the first thousand records
    const char *name;
    int type, is_mixed; // STOKER_FEATURE_...; mixed: records disagree
    uint64_t records, values_min, values_max;
};
struct stoker_inspection;
// Reads the whole file. progress: called now and then; non-zero interrupts.
enum stoker_status stoker_inspect(const char *path, int (*progress)(void *arg, uint64_t records),
                                  void *arg, struct stoker_inspection **out,
                                  struct stoker_err *err);
const struct stoker_data_summary *stoker_inspection_summary(const struct stoker_inspection *x);
// In the order of their first record; NULL past the end.
const struct stoker_data_feature *stoker_inspection_feature(const struct stoker_inspection *x,
                                                            size_t i);
const struct stoker_specs *
stoker_inspection_specs(const struct stoker_inspection *x); // indexed; or NULL
void stoker_inspection_free(struct stoker_inspection *x);   // takes NULL

#ifdef __cplusplus
}
#endif
#endif
