// SPDX-License-Identifier: Apache-2.0
// stoker.data: input pipelines that feed training. A dataset is an immutable graph of a source and
// transformations; an iterator runs it. This is the C API; the Python module stands on it alone.
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
// An element is a flat list of components, each a tensor; nesting is the caller's affair. Strings
// are arrays of struct stoker_bytes. Objects are reference-counted: `hold` adds a holder, `free`
// takes one away and accepts NULL. Datasets and functions may be used by several threads; an
// iterator by one at a time, except where said.
#ifndef STOKER_DATA_H
#define STOKER_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "stoker/err.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STOKER_RANK_MAX 8
#define STOKER_UNKNOWN (-1) // a dimension, or a rank
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
    STOKER_DATASET, // struct stoker_dataset *, as windows give them
    STOKER_DTYPES
};
const char *stoker_dtype_name(int dtype);          // "float32"; strings are "bytes". NULL: no such
size_t stoker_dtype_bytes(int dtype);              // of a value
int stoker_dtype_find(const char *name, int *out); // 1 if found

struct stoker_bytes {
    const unsigned char *data;
    size_t size;
};

struct stoker_spec {
    int dtype, rank; // rank STOKER_UNKNOWN: dims say nothing
    int64_t dim[STOKER_RANK_MAX];
    const struct stoker_specs *nested; // of datasets as components; borrowed; NULL: none or unknown
};
struct stoker_specs;                                  // of the components of an element
int stoker_specs_count(const struct stoker_specs *s); // of components
// That of component i, from 0 to count - 1; what `nested` points to lives as long as s.
void stoker_specs_get(const struct stoker_specs *s, int i, struct stoker_spec *out);

// A value. As a result it belongs to the receiver until stoker_tensor_release; as an argument it is
// borrowed (`hold` is ignored), unless said.
struct stoker_tensor {
    int dtype, rank;
    int64_t dim[STOKER_RANK_MAX];
    void *data;      // contiguous, C order
    int is_readonly; // memory that others see as well
    void *hold;      // opaque
};
void stoker_tensor_release(struct stoker_tensor *t); // from any thread; zeroes it
// Another holder of the same values: of results, and of what the engine calls a host with.
void stoker_tensor_share(struct stoker_tensor *to, const struct stoker_tensor *from);

// Arguments of datasets and operations, by name. Everything is copied or held, except tensors made
// with stoker_args_memory. Setters return 0 when out of memory, or for a type or rank that
// there is not.
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
// Borrows the memory of values that are no strings until drop(arg[i]) is called for each, from any
// thread; copies strings and calls drop for them at once.
int stoker_args_memory(struct stoker_args *a, const char *name, const struct stoker_tensor *values,
                       size_t n, void (*drop)(void *arg), void *const *arg);
int stoker_args_specs(struct stoker_args *a, const char *name, const struct stoker_spec *specs,
                      size_t n);
int stoker_args_fn(struct stoker_args *a, const char *name, struct stoker_fn *fn);
int stoker_args_datasets(struct stoker_args *a, const char *name, struct stoker_dataset *const *ds,
                         size_t n);
// A value that is computed by the function that makes the dataset: see the operation make_dataset.
int stoker_args_bound(struct stoker_args *a, const char *name, const struct stoker_spec *specs,
                      size_t n);

// Functions: graphs of operations over numbered values; inputs are 0 to n - 1.
enum stoker_status stoker_fn_open(const struct stoker_spec *inputs, int n, const char *name,
                                  struct stoker_fn **out, struct stoker_err *err);
// Adds an operation; *first is the number of its first result, *count how many it has.
// where: source line for messages, or NULL.
enum stoker_status stoker_fn_add(struct stoker_fn *fn, const char *op, const int *inputs, int n,
                                 const struct stoker_args *args, const char *where, int *first,
                                 int *count, struct stoker_err *err);
void stoker_fn_spec(const struct stoker_fn *fn, int value, struct stoker_spec *out);
// 1 and the value if it is known already (constants); *out is the caller's.
int stoker_fn_constant(const struct stoker_fn *fn, int value, struct stoker_tensor *out);
enum stoker_status stoker_fn_finish(struct stoker_fn *fn, const int *results, int n,
                                    struct stoker_err *err);
void stoker_fn_free(struct stoker_fn *fn);
// For plans: nodes in order of evaluation.
int stoker_fn_nodes(const struct stoker_fn *fn);
const char *stoker_fn_node(const struct stoker_fn *fn, int i, const char **where);
int stoker_fn_is_random(const struct stoker_fn *fn);

// One operation on values, now. *n_out: room in `out`, then how many results there are.
enum stoker_status stoker_op_call(const char *op, const struct stoker_tensor *in, int n_in,
                                  const struct stoker_args *args, uint64_t seed,
                                  struct stoker_tensor *out, int *n_out, struct stoker_err *err);
// The table of operations, plug-ins' at its end: NULL beyond the last.
const char *stoker_op_name(int i, const char **summary);
// Loads operations of one's own (stoker/plugin.h) out of a shared library, for the rest of the
// process. *first: the number of its first one in the table; *count: how many. A library that is
// loaded already gives the same again.
enum stoker_status stoker_plugin_load(const char *path, int *first, int *count,
                                      struct stoker_err *err);

// A dataset of a kind of the table (stoker_kind_name, stoker_kind_arg; docs/pipelines.md) over n
// inputs, which it holds. Files are not opened yet. where: source line for messages, or NULL.
// STOKER_EUSAGE: no such kind; STOKER_EINVAL: an argument is missing, unknown or out of range, or
// the inputs do not suit, which err says.
enum stoker_status stoker_dataset_make(const char *kind, struct stoker_dataset *const *inputs,
                                       int n, const struct stoker_args *args, const char *where,
                                       struct stoker_dataset **out, struct stoker_err *err);
struct stoker_dataset *stoker_dataset_hold(struct stoker_dataset *ds); // ds; from any thread
void stoker_dataset_free(struct stoker_dataset *ds); // from any thread; takes NULL
const struct stoker_specs *stoker_dataset_specs(const struct stoker_dataset *ds); // borrowed
// Elements, or STOKER_INFINITE, or STOKER_CARDINALITY_UNKNOWN. Reads no file.
int64_t stoker_dataset_cardinality(const struct stoker_dataset *ds);
// Tells datasets apart by what they are made of, the same in every process; it does not see what is
// in files, nor what functions of the embedding language do.
uint64_t stoker_dataset_fingerprint(const struct stoker_dataset *ds);
// For plans. Borrowed.
const char *stoker_dataset_kind(const struct stoker_dataset *ds);
int stoker_dataset_inputs(const struct stoker_dataset *ds);
struct stoker_dataset *stoker_dataset_input(const struct stoker_dataset *ds, int i);
struct stoker_fn *stoker_dataset_fn(const struct stoker_dataset *ds); // NULL: it has none
const char *stoker_dataset_where(const struct stoker_dataset *ds);    // NULL: unknown
// The plan as it runs with these options, as text: stages, the operations of their functions with
// types, shapes and source lines, what was rewritten and why. Freed with stoker_bytes_free.
struct stoker_run_options;
enum stoker_status stoker_dataset_explain(struct stoker_dataset *ds,
                                          const struct stoker_run_options *options,
                                          struct stoker_bytes *out, struct stoker_err *err);
// The table of kinds: NULL beyond the last.
const char *stoker_kind_name(int i, const char **summary);

// What an operation or a kind of dataset takes by name (struct stoker_args).
struct stoker_arg_row {
    const char *name;
    const char *type; // int, bool, float, text, dtype, ints, floats or other
    const char *help;
    const char *choices; // an int: names of 0, 1, ...; a text: all that it may be. Commas between;
                         // NULL: any
    int is_required;
    int is_input_too; // an operation's next input stands for it where it is absent
    int has_fallback; // else `help` says what holds without it
    char fallback[64];
};
// Row k of the i-th of the table. 0: no such row.
int stoker_op_arg(int i, int k, struct stoker_arg_row *out);
int stoker_kind_arg(int i, int k, struct stoker_arg_row *out);
// TensorFlow's names of the i-th operation, with commas between them, and TensorFlow's arguments in
// the form that src/engine/ops.def explains. 0: it has no such name.
int stoker_op_tensorflow(int i, const char **names, const char **arguments, int *is_random);

// What the embedding language does for operations (host_call) and sources (generator). Functions
// are called from the engine's threads, several at once. Returned tensors belong to the engine:
// `hold` is passed to release_hold when it has no more use for `data`.
struct stoker_component { // of n elements: one tensor, whose first dimension they are, or n tensors
    int is_stacked;
    struct stoker_tensor *of;
};
struct stoker_host {
    void *arg;
    // One element: `out` has room for n_out results of the inferred number.
    enum stoker_status (*call)(void *arg, int64_t id, const struct stoker_tensor *in, int n_in,
                               struct stoker_tensor *out, int n_out, struct stoker_err *err);
    enum stoker_status (*gen_open)(void *arg, int64_t id, const struct stoker_tensor *in, int n_in,
                                   void **gen, struct stoker_err *err);
    enum stoker_status (*gen_next)(void *arg, void *gen, struct stoker_tensor *out, int n_out,
                                   int *is_end, struct stoker_err *err);
    void (*gen_close)(void *arg, void *gen);
    void (*release_hold)(void *arg, void *hold);
    // Functions that are added with takes_many: as many of n elements as it sees fit, one at least,
    // in order; *done says how many. An error belongs to the element after those, which still
    // count. out[k].of has room for n tensors. NULL: there are no such functions.
    enum stoker_status (*call_many)(void *arg, int64_t id, int64_t n,
                                    const struct stoker_component *in, int n_in,
                                    struct stoker_component *out, int n_out, int64_t *done,
                                    struct stoker_err *err);
};

// Where buffers of 64 KiB and more lie, instead of on the heap: memory that a device reads by
// itself, say. Called from any thread, until the iterator and all of its tensors are gone.
struct stoker_memory_source {
    void *arg;
    void *(*get)(void *arg, size_t size); // aligned to 64 bytes. NULL: none left; the heap then
    void (*give)(void *arg, void *memory, size_t size);
};

// Limits of the process, over all iterators that run in it. 0: none. They hold beside the options
// of a run, which hold for it alone, and are never passed: stages wait, do with fewer threads, or
// fail with STOKER_ELIMIT. At first they are what the environment says: STOKER_DATA_CPUS,
// STOKER_DATA_THREADS and STOKER_DATA_RAM (bytes, or with a K, M or G suffix).
struct stoker_data_limits {
    int cpus;           // threads of stages at work at once; those that call `next` come to them
    int threads;        // of stages that exist; without one a stage works on the thread that asks
    uint64_t ram_bytes; // of buffers, free ones too; not arrays that were copied for who keeps them
    uint64_t reserved[4];
};
struct stoker_data_use { // now, and the most it was
    int threads, threads_most;
    uint64_t ram_bytes, ram_peak_bytes;
    uint64_t reserved[4];
};
// From any thread; what runs already keeps what it has, and takes no more.
enum stoker_status stoker_data_limits_set(const struct stoker_data_limits *limits,
                                          struct stoker_err *err);
// Around a wait of a function of the host (struct stoker_host) for another iterator of the process,
// which may need the core of the limit that the function runs on. 1: it had one, to be taken
// back after the wait.
int stoker_data_lend_processor(void);
void stoker_data_take_processor(void);
void stoker_data_limits_get(struct stoker_data_limits *limits, struct stoker_data_use *use);

struct stoker_run_options {  // zero it, then set what is wanted
    int has_seed, is_sloppy; // sloppy: parallel stages may deliver out of order by default
    uint64_t seed;
    int threads;                    // cap over all stages; 0: all processors
    uint64_t ram_bytes;             // cap; 0: half of the memory available
    int skips_errors;               // leave bad elements out and count them
    uint64_t epoch;                 // how many iterators there were of this dataset before
    const struct stoker_host *host; // borrowed until the iterator and its tensors are gone
    // A file for the run's report (*.stk), which `stoker why` reads. NULL: the one that the
    // environment names (STOKER_DATA_RECORD), which all iterators of the process share; "": none.
    const char *record_path;
    // AUTOTUNE: workers of a stage at first (0: as many as processors, 16 at most), and at least;
    // is_untuned: it stays with those.
    int initial_parallelism, min_parallelism, is_untuned;
    int is_as_written; // no rewrites; they change no element, see docs/data/speed.md
    const struct stoker_memory_source *memory; // NULL: the heap. Borrowed as long as it is called
    uint64_t reserved[4];
};
struct stoker_iterator;
enum stoker_status stoker_iterator_open(struct stoker_dataset *ds,
                                        const struct stoker_run_options *options,
                                        struct stoker_iterator **out, struct stoker_err *err);
// The next element's components, `n` of them as the dataset has. *is_end: there was none. An error
// stands for one element; the next call continues after it, or is the end.
enum stoker_status stoker_iterator_next(struct stoker_iterator *it, struct stoker_tensor *out,
                                        int n, int *is_end, struct stoker_err *err);
// Whether the next call would return without waiting. For tests and schedulers.
int stoker_iterator_is_ready(const struct stoker_iterator *it);
int64_t stoker_iterator_held(const struct stoker_iterator *it); // elements made and not given yet
void stoker_iterator_cancel(struct stoker_iterator *it);        // from any thread: waits end soon
void stoker_iterator_free(struct stoker_iterator *it);          // tensors given out stay valid
// The same, and says whether the run's report could be written in full (STOKER_EOUTPUT).
enum stoker_status stoker_iterator_close(struct stoker_iterator *it, struct stoker_err *err);
// Where it stands: a few bytes (*n: room, then length; STOKER_ELIMIT if it is too small).
enum stoker_status stoker_iterator_state(const struct stoker_iterator *it, void *state, size_t *n,
                                         struct stoker_err *err);
// A new iterator that stands where the other one stood. The dataset must be the same except for
// threads, buffers, folders of files, and which part a shard is (STOKER_EINVAL: its description
// differs). Elements are passed over by the first stoker_iterator_next, which
// stoker_iterator_cancel ends.
enum stoker_status stoker_iterator_resume(struct stoker_dataset *ds,
                                          const struct stoker_run_options *options,
                                          const void *state, size_t n, struct stoker_iterator **out,
                                          struct stoker_err *err);

// Writes all elements of a dataset into an indexed file (kind "indexed" reads it), next to it first
// and renamed at the end. progress: called now and then with the elements written; non-zero
// interrupts. *count: elements written.
enum stoker_status stoker_dataset_write(struct stoker_dataset *ds,
                                        const struct stoker_run_options *options, const char *path,
                                        int (*progress)(void *arg, uint64_t elements), void *arg,
                                        uint64_t *count, struct stoker_err *err);

struct stoker_stage { // of the iterator tree, parents before their inputs; counts since the start
    const char *kind, *where; // borrowed from the dataset; where may be NULL
    int depth;
    uint64_t elements, errors, skipped;
    uint64_t busy_ns, wait_ns, starve_ns;   // own CPU; blocked on its input; its consumer on it
    uint32_t threads, fill, capacity;       // now; the latter two in blocks
    uint32_t block_max;                     // elements of a block at most, now
    uint32_t binding;                       // enum stoker_binding
    double predicted_per_s, achieved_per_s; // elements of this stage; 0: too short a run to say
    int keeps_nothing; // a cache whose elements are more than the budget has room for
};
enum stoker_binding { // what keeps a pipeline from being faster
    STOKER_BINDING_UNKNOWN,
    STOKER_BINDING_CPU,      // all processors are at work
    STOKER_BINDING_SERIAL,   // a part that one thread at a time can do
    STOKER_BINDING_CONSUMER, // the consumer takes no more
    STOKER_BINDING_THREADS,  // threads wait for something else, and there may be no more of them
    STOKER_BINDING_MEMORY    // the budget is used up
};
int stoker_iterator_stage(const struct stoker_iterator *it, int i,
                          struct stoker_stage *out); // 0: none
struct stoker_memory {
    uint64_t in_use_bytes, peak_bytes, cap_bytes, fresh_buffers;
    uint64_t copied; // tensors handed out as copies beside the budget, since it was mostly in use
};
// Bytes of its buffers.
void stoker_iterator_memory(const struct stoker_iterator *it, struct stoker_memory *out);

// Writing TFRecord files. compression: "", "GZIP" or "ZLIB"; level: 1 to 9, 0: its default. One
// thread at a time.
struct stoker_record_writer;
enum stoker_status stoker_record_create(const char *path, const char *compression, int level,
                                        struct stoker_record_writer **out, struct stoker_err *err);
enum stoker_status stoker_record_write(struct stoker_record_writer *w, const void *data,
                                       size_t size, struct stoker_err *err);
// Writes what is left, and closes and frees in any case. Takes NULL.
enum stoker_status stoker_record_finish(struct stoker_record_writer *w, struct stoker_err *err);

struct stoker_feature { // of an Example; of a SequenceExample's context, or its lists (is_list)
    const char *name;
    int dtype;          // STOKER_INT64, STOKER_FLOAT32, STOKER_STRING; -1: a feature without a list
    const void *values; // int64_t, float or struct stoker_bytes
    size_t count;
    int is_list;
    const size_t *steps; // is_list: values in each step; their sum is count
    size_t step_count;
};
// tf.train.Example (or SequenceExample) as bytes, freed with stoker_bytes_free.
enum stoker_status stoker_example_encode(const struct stoker_feature *features, size_t n,
                                         int is_sequence, struct stoker_bytes *out,
                                         struct stoker_err *err);
void stoker_bytes_free(struct stoker_bytes *b); // empties it; takes NULL

// What a file of training data holds: TFRecords and indexed files.
enum { STOKER_FEATURE_BYTES = 1, STOKER_FEATURE_FLOAT, STOKER_FEATURE_INT64 }; // as in the proto
struct stoker_data_summary {
    const char *format;      // "tfrecord", "indexed"
    const char *compression; // "", "GZIP", "ZLIB"
    uint64_t records, bytes; // of good records; bytes of their data, 0 where unknown
    uint64_t record_min, record_max, damaged;
    uint64_t examples; // of the first thousand records: those that are tf.train.Examples
    char first_damage[480];
};
struct stoker_data_feature { // of the Examples among the first thousand records
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
// In the order of their first record; NULL beyond the last.
const struct stoker_data_feature *stoker_inspection_feature(const struct stoker_inspection *x,
                                                            size_t i);
const struct stoker_specs *
stoker_inspection_specs(const struct stoker_inspection *x); // indexed; or NULL
void stoker_inspection_free(struct stoker_inspection *x);   // takes NULL

#ifdef __cplusplus
}
#endif
#endif
