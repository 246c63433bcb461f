// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of pipelines as they come out of a pickle or from a caller of
// include/stoker/data.h: datasets of any kind and functions of any operations, made of choices,
// with arguments that may be of another name, type or size than their rows say. What cannot be made
// says why. What can be made has a plan and a fingerprint, and gives the same elements as it is
// written and rewritten, in one go and resumed from a saved state; a state of any bytes is refused
// or leads to an iterator. What takes longer than WATCH_MS of processor time is cancelled from
// another thread: to pass over 2^60 elements of what has no end takes for ever, as it must.
//
// Left out: what reads files, calls the embedding language, or starts threads.
#include "fuzz.h"

#include <pthread.h>
#include <time.h>

#include "stoker/data.h"

enum {
    STAGES_MAX = 4,
    OPS_MAX = 5,
    VALUES_MAX = 40,
    ELEMENTS = 10,
    COMPONENTS_MAX = 16,
    RUN_MAX = 24,
    WATCH_MS = 10 // the few that have no end would else be most of the work
};

// One pipeline; its functions share the choices.
static struct fuzz_choices c;
static bool has_cache; // some stage of it is one

static bool is_left_out(const char *name)
{
    static const char *const names[] = {
        "generator", "csv",      "tar",      "tfrecord",  "text_lines", "fixed_records",
        "indexed",   "prefetch", "snapshot", "read_file", "host_call",  "num_parallel_calls",
        "filename",  "path",     "stand_in", "columns"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static struct stoker_dataset *make_dataset(int depth);
static struct stoker_fn *make_fn(const struct stoker_spec *inputs, int n);

// ---- values ----

// A tensor of the type, of up to 6 values. Its memory is valid until the next but one is made.
static void make_tensor(struct stoker_tensor *t, int dtype)
{
    static _Alignas(16) uint8_t memory[8][128];
    static int next;
    uint8_t *room = memory[next++ % 8];
    struct stoker_bytes *strings = (void *)room;
    size_t count = 1;
    *t = (struct stoker_tensor){.dtype = dtype, .rank = (int)fuzz_choose(&c, 4), .data = room};
    for (int k = 0; k < t->rank; k++) {
        t->dim[k] = k == 0 ? (int64_t)fuzz_choose(&c, 4) : 1 + (int64_t)fuzz_choose(&c, 2);
        count *= (size_t)t->dim[k];
    }
    if (count > 6) {
        t->rank = 1;
        t->dim[0] = (int64_t)(count = 6);
    }
    memset(room, 0, sizeof memory[0]);
    for (size_t i = 0; i < count; i++) {
        int64_t value = fuzz_number(&c);
        float small = (float)value;
        double real = (double)value / 4;
        size_t size = stoker_dtype_bytes(dtype);
        if (dtype == STOKER_STRING) {
            strings[i].data = fuzz_bytes(&c, 12, &strings[i].size);
        } else if (dtype == STOKER_BOOL) {
            room[i] = value & 1;
        } else {
            const void *from = dtype == STOKER_FLOAT32   ? (void *)&small
                               : dtype == STOKER_FLOAT64 ? (void *)&real
                                                         : &value;
            memcpy(room + i * size, from, size);
        }
    }
}

static int some_dtype(void)
{
    static const int usual[] = {STOKER_INT64, STOKER_INT32, STOKER_FLOAT32, STOKER_STRING,
                                STOKER_BOOL,  STOKER_UINT8, STOKER_FLOAT64};
    uint32_t which = fuzz_choose(&c, 24);
    return which < 7 ? usual[which] : (int)(which - 7) % STOKER_DATASET;
}

static void make_spec(struct stoker_spec *s)
{
    *s = (struct stoker_spec){.dtype = some_dtype(), .rank = (int)fuzz_choose(&c, 5) - 1};
    for (int k = 0; k < s->rank; k++) {
        s->dim[k] = (int64_t)fuzz_choose(&c, 5) - 1;
    }
}

// ---- arguments ----

enum arg_kind {
    AS_INT,
    AS_FLOAT,
    AS_TEXT,
    AS_INTS,
    AS_FLOATS,
    AS_TEXTS,
    AS_TENSORS,
    AS_SPECS,
    AS_FN,
    AS_KINDS
};

static void set_arg(struct stoker_args *a, const char *name, enum arg_kind kind,
                    const struct stoker_spec *specs, int n_specs)
{
    int64_t ints[4];
    double floats[4];
    struct stoker_bytes texts[3];
    struct stoker_tensor tensors[2];
    struct stoker_spec some[2];
    size_t n = fuzz_choose(&c, 4), length;
    for (size_t i = 0; i < 4; i++) {
        ints[i] = i < n ? fuzz_number(&c) : 0;
        floats[i] = (double)ints[i] / 8;
    }
    switch (kind) {
    case AS_INT: { // counts are mostly small, to spare the watch
        int64_t value = fuzz_number(&c);
        stoker_args_int(a, name, strcmp(name, "count") == 0 && value & 15 ? value % 100 : value);
        break;
    }
    case AS_FLOAT:
        stoker_args_float(a, name, (double)fuzz_number(&c) / 8);
        break;
    case AS_TEXT: {
        const uint8_t *p = fuzz_bytes(&c, 12, &length);
        stoker_args_text(a, name, (const char *)p, length);
        break;
    }
    case AS_INTS:
        stoker_args_ints(a, name, ints, n);
        break;
    case AS_FLOATS:
        stoker_args_floats(a, name, floats, n);
        break;
    case AS_TEXTS:
        for (size_t i = 0; i < 3; i++) {
            texts[i].data = fuzz_bytes(&c, 6, &texts[i].size);
        }
        stoker_args_texts(a, name, texts, n < 3 ? n : 3);
        break;
    case AS_TENSORS:
        make_tensor(&tensors[0], some_dtype());
        make_tensor(&tensors[1], some_dtype());
        stoker_args_tensors(a, name, tensors, 1 + n % 2);
        break;
    case AS_SPECS:
        make_spec(&some[0]);
        make_spec(&some[1]);
        stoker_args_specs(a, name, some, n % 3);
        break;
    default: {
        struct stoker_fn *fn = make_fn(specs, n_specs);
        if (fn) {
            stoker_args_fn(a, name, fn);
        }
        stoker_fn_free(fn);
    }
    }
}

// What a row asks for.
static enum arg_kind kind_of(const struct stoker_arg_row *row)
{
    static const char *const types[] = {"int", "float", "text", "ints", "floats", "bool", "dtype"};
    static const enum arg_kind kinds[] = {AS_INT,    AS_FLOAT, AS_TEXT, AS_INTS,
                                          AS_FLOATS, AS_INT,   AS_INT};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(row->type, types[i]) == 0) {
            return kinds[i];
        }
    }
    return strstr(row->name, "fn")                                     ? AS_FN
           : strstr(row->name, "specs") || strstr(row->name, "shapes") ? AS_SPECS
           : strstr(row->name, "names") || strstr(row->name, "stages") ? AS_TEXTS
                                                                       : AS_TENSORS;
}

// One of the row's choices, "a,b,c", as a text.
static void set_choice(struct stoker_args *a, const struct stoker_arg_row *row)
{
    const char *p = row->choices;
    for (uint32_t skip = fuzz_choose(&c, 8); skip > 0 && strchr(p, ','); skip--) {
        p = strchr(p, ',') + 1;
    }
    stoker_args_text(a, row->name, p, strcspn(p, ","));
}

static struct stoker_args *make_args(int (*row_of)(int, int, struct stoker_arg_row *), int i,
                                     const struct stoker_spec *specs, int n_specs)
{
    struct stoker_args *a = stoker_args_new();
    struct stoker_arg_row row;
    FUZZ_REQUIRE(a);
    for (int k = 0; row_of(i, k, &row); k++) {
        uint8_t how = fuzz_byte(&c);
        if (is_left_out(row.name) || how % 8 == 7 || (!row.is_required && how % 8 > 2)) {
            continue;
        }
        if (how > 250) {
            set_arg(a, row.name, (enum arg_kind)fuzz_choose(&c, AS_KINDS), specs, n_specs);
        } else if (strcmp(row.type, "text") == 0 && row.choices) {
            set_choice(a, &row);
        } else {
            set_arg(a, row.name, kind_of(&row), specs, n_specs);
        }
    }
    if (fuzz_choose(&c, 64) == 63) {
        stoker_args_int(a, "no_such", 1);
    }
    return a;
}

// ---- functions ----

static int table_size(const char *(*name_of)(int, const char **))
{
    const char *about;
    int n = 0;
    while (name_of(n, &about)) {
        n++;
    }
    return n;
}

static void add_constant(struct stoker_fn *fn, int *values)
{
    struct stoker_tensor t;
    struct stoker_args *a = stoker_args_new();
    int first, count;
    make_tensor(&t, some_dtype());
    stoker_args_tensors(a, "value", &t, 1);
    if (stoker_fn_add(fn, "const", NULL, 0, a, NULL, &first, &count, NULL) == STOKER_OK) {
        *values = first + count;
    }
    stoker_args_free(a);
}

static void add_op(struct stoker_fn *fn, int *values)
{
    static int ops;
    ops = ops ? ops : table_size(stoker_op_name);
    const char *about;
    int op = (int)fuzz_choose(&c, (uint32_t)ops), in[4], n = (int)fuzz_choose(&c, 4);
    const char *name = stoker_op_name(op, &about);
    struct stoker_spec specs[4];
    struct stoker_err err;
    int first, count;
    if (is_left_out(name) || (n > 0 && *values == 0)) {
        return;
    }
    for (int k = 0; k < n; k++) {
        in[k] = *values - 1 - (int)fuzz_choose(&c, (uint32_t)*values);
        stoker_fn_spec(fn, in[k], &specs[k]);
    }
    struct stoker_args *a = make_args(stoker_op_arg, op, specs, n);
    if (stoker_fn_add(fn, name, in, n, a, "fuzz:1", &first, &count, &err) == STOKER_OK) {
        FUZZ_REQUIRE(first == *values && count >= 0);
        *values = first + count;
    } else {
        FUZZ_REQUIRE(err.message[0]);
    }
    stoker_args_free(a);
}

// NULL: it cannot be finished.
static struct stoker_fn *make_fn(const struct stoker_spec *inputs, int n)
{
    struct stoker_fn *fn;
    struct stoker_err err;
    int values = n, results[3], n_results = 1 + (int)fuzz_choose(&c, 2);
    static int depth;
    if (depth >= 3 || stoker_fn_open(inputs, n, "fuzzed", &fn, &err) != STOKER_OK) {
        return NULL;
    }
    depth++;
    for (uint32_t ops = 1 + fuzz_choose(&c, OPS_MAX); ops > 0 && values < VALUES_MAX; ops--) {
        if (fuzz_choose(&c, 4) == 3) {
            add_constant(fn, &values);
        } else {
            add_op(fn, &values);
        }
    }
    depth--;
    for (int k = 0; k < n_results; k++) {
        results[k] =
            values ? values - 1 - (int)fuzz_choose(&c, values < 3 ? (uint32_t)values : 3) : 0;
    }
    if (values == 0 || stoker_fn_finish(fn, results, n_results, &err) != STOKER_OK) {
        stoker_fn_free(fn);
        return NULL;
    }
    return fn;
}

// ---- datasets ----

static struct stoker_dataset *finish(const char *kind, struct stoker_dataset **in, int n,
                                     struct stoker_args *a)
{
    struct stoker_dataset *ds = NULL;
    struct stoker_err err;
    if (stoker_dataset_make(kind, in, n, a, "fuzz:2", &ds, &err) != STOKER_OK) {
        FUZZ_REQUIRE(!ds && err.message[0]);
    }
    stoker_args_free(a);
    return ds;
}

static struct stoker_dataset *make_source(void)
{
    struct stoker_args *a = stoker_args_new();
    struct stoker_tensor t[2];
    switch (fuzz_choose(&c, 4)) {
    case 0:
        stoker_args_int(a, "start", fuzz_number(&c));
        stoker_args_int(a, "step", 1 + (int64_t)fuzz_choose(&c, 3));
        stoker_args_int(a, "stop", fuzz_number(&c));
        return finish("range", NULL, 0, a);
    case 1:
        make_tensor(&t[0], some_dtype());
        make_tensor(&t[1], some_dtype());
        t[1].dim[0] =
            t[1].rank && t[0].rank && t[1].dim[0] > t[0].dim[0] ? t[0].dim[0] : t[1].dim[0];
        stoker_args_tensors(a, "components", t, 1 + fuzz_choose(&c, 2));
        return finish(fuzz_choose(&c, 4) ? "tensor_slices" : "tensors", NULL, 0, a);
    default:
        stoker_args_int(a, "stop", 12);
        return finish("range", NULL, 0, a);
    }
}

static int specs_of(const struct stoker_dataset *ds, struct stoker_spec *out)
{
    const struct stoker_specs *s = stoker_dataset_specs(ds);
    int n = stoker_specs_count(s);
    for (int k = 0; k < n && k < COMPONENTS_MAX; k++) {
        stoker_specs_get(s, k, &out[k]);
    }
    return n <= COMPONENTS_MAX ? n : -1;
}

// The dataset behind one more stage; as it was, where that cannot be made.
static struct stoker_dataset *add_stage(struct stoker_dataset *ds, int depth)
{
    static int kinds;
    kinds = kinds ? kinds : table_size(stoker_kind_name);
    const char *about;
    int kind = (int)fuzz_choose(&c, (uint32_t)kinds), n = 1;
    const char *name = stoker_kind_name(kind, &about);
    struct stoker_dataset *in[3] = {ds};
    struct stoker_spec specs[COMPONENTS_MAX];
    int n_specs = specs_of(ds, specs);
    bool joins =
        !strcmp(name, "zip") || !strcmp(name, "concatenate") || strstr(name, "from_datasets");
    if (is_left_out(name) || n_specs < 0) {
        return ds;
    }
    for (; joins && n < 3 && depth < 2 && fuzz_choose(&c, 3); n++) {
        // Who reads a cache of random elements beside others before it is complete gets its own.
        bool is_same = fuzz_choose(&c, 2) && !has_cache;
        in[n] = is_same ? stoker_dataset_hold(ds) : make_dataset(depth + 1);
        if (!in[n]) {
            break;
        }
    }
    struct stoker_dataset *out =
        finish(name, in, n, make_args(stoker_kind_arg, kind, specs, n_specs));
    for (int k = 1; k < n; k++) {
        stoker_dataset_free(in[k]);
    }
    if (!out) {
        return ds;
    }
    has_cache |= strcmp(name, "cache") == 0;
    stoker_dataset_free(ds);
    return out;
}

static struct stoker_dataset *make_dataset(int depth)
{
    struct stoker_dataset *ds = make_source();
    for (uint32_t n = fuzz_choose(&c, STAGES_MAX + 1); ds && n > 0; n--) {
        ds = add_stage(ds, depth);
    }
    return ds;
}

// ---- running ----

// What came: a number for each element, 1 for an error.
struct run {
    uint64_t seen[RUN_MAX];
    int n;
    bool is_end, is_cut; // is_cut: the watch cancelled it, or memory was short
    uint64_t left_out;   // elements that ignore_errors hid; of the last iterator
};

// The iterator that elements are taken of, for the thread that cancels it.
static struct {
    pthread_mutex_t lock;
    struct stoker_iterator *it;
    int64_t since_ms;
    bool has_thread, has_cancelled;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int64_t now_ms(void) // of processor time: a busy machine cuts nothing short
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void *watching(void *none)
{
    for (;;) {
        nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
        pthread_mutex_lock(&watch.lock);
        if (watch.it && !watch.has_cancelled && now_ms() - watch.since_ms > WATCH_MS) {
            stoker_iterator_cancel(watch.it);
            watch.has_cancelled = true;
        }
        pthread_mutex_unlock(&watch.lock);
    }
    return none;
}

// STOKER_THREADS=1: under an emulator that hangs where a thread is created. There is no watch then.
static bool is_on_one_thread(void)
{
    const char *threads = getenv("STOKER_THREADS");
    return threads && strcmp(threads, "1") == 0;
}

static void watch_begin(struct stoker_iterator *it)
{
    pthread_t thread;
    pthread_mutex_lock(&watch.lock);
    watch.it = it;
    watch.since_ms = now_ms();
    watch.has_cancelled = false;
    if (!watch.has_thread && !is_on_one_thread()) {
        FUZZ_REQUIRE(pthread_create(&thread, NULL, watching, NULL) == 0);
        pthread_detach(thread);
        watch.has_thread = true;
    }
    pthread_mutex_unlock(&watch.lock);
}

static bool watch_end(void)
{
    pthread_mutex_lock(&watch.lock);
    watch.it = NULL;
    bool has_cancelled = watch.has_cancelled;
    pthread_mutex_unlock(&watch.lock);
    return has_cancelled;
}

static uint64_t mix(uint64_t h, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    for (; n >= 8; n -= 8, p += 8) { // padded elements may have 100 MB
        uint64_t word;
        memcpy(&word, p, sizeof word);
        h = (h ^ word) * 1099511628211u;
        h ^= h >> 32;
    }
    for (size_t i = 0; i < n; i++) {
        h = (h ^ p[i]) * 1099511628211u;
    }
    return h;
}

static uint64_t number_of(const struct stoker_tensor *t)
{
    size_t count = 1;
    uint64_t h = mix(14695981039346656037u, &t->dtype, sizeof t->dtype);
    h = mix(h, t->dim, (size_t)t->rank * sizeof t->dim[0]);
    for (int k = 0; k < t->rank; k++) {
        FUZZ_REQUIRE(t->dim[k] >= 0);
        count *= (size_t)t->dim[k];
    }
    if (t->dtype == STOKER_STRING) {
        const struct stoker_bytes *s = t->data;
        for (size_t i = 0; i < count; i++) {
            h = mix(mix(h, &s[i].size, sizeof s[i].size), s[i].data, s[i].size);
        }
    } else if (t->dtype != STOKER_DATASET) {
        h = mix(h, t->data, count * stoker_dtype_bytes(t->dtype));
    }
    return h | 2;
}

static uint64_t left_out_by(const struct stoker_iterator *it)
{
    struct stoker_stage stage;
    uint64_t n = 0;
    for (int i = 0; stoker_iterator_stage(it, i, &stage); i++) {
        n += strcmp(stage.kind, "ignore_errors") == 0 ? stage.skipped : 0;
    }
    return n;
}

static void take(struct stoker_iterator *it, int components, int most, struct run *r)
{
    struct stoker_tensor out[COMPONENTS_MAX];
    watch_begin(it);
    for (int is_end = 0; r->n < most && !r->is_end;) {
        struct stoker_err err = {.code = STOKER_OK};
        uint64_t h = 0;
        enum stoker_status status = stoker_iterator_next(it, out, components, &is_end, &err);
        if (status != STOKER_OK) {
            FUZZ_REQUIRE(err.message[0]);
            if (getenv("STOKER_FUZZ_SHOW")) {
                fprintf(stderr, "element %d: %s\n", r->n, err.message);
            }
            r->is_cut |= status == STOKER_ELIMIT || status == STOKER_ENOMEM;
            r->seen[r->n++] = 1;
            continue;
        }
        r->is_end = is_end;
        for (int k = 0; k < components && !is_end; k++) {
            h = h * 31 + number_of(&out[k]);
            stoker_tensor_release(&out[k]);
        }
        if (!is_end) {
            r->seen[r->n++] = h | 2;
        }
    }
    r->is_cut |= watch_end();
    r->left_out = left_out_by(it);
}

static struct stoker_iterator *open_run(struct stoker_dataset *ds, bool as_written,
                                        const void *state, size_t n)
{
    struct stoker_run_options o = {.has_seed = 1,
                                   .seed = 7,
                                   .threads = 1,
                                   .ram_bytes = 1 << 20, // what fills it fills it soon
                                   .is_untuned = 1,
                                   .record_path = "",
                                   .is_as_written = as_written};
    struct stoker_iterator *it = NULL;
    struct stoker_err err;
    enum stoker_status s = state ? stoker_iterator_resume(ds, &o, state, n, &it, &err)
                                 : stoker_iterator_open(ds, &o, &it, &err);
    FUZZ_REQUIRE(s == STOKER_OK || (!it && err.message[0]));
    return it;
}

static bool same(const struct run *a, const struct run *b)
{
    return a->n == b->n && a->is_end == b->is_end &&
           memcmp(a->seen, b->seen, (size_t)a->n * sizeof a->seen[0]) == 0;
}

static int errors_of(const struct run *r)
{
    int errors = 0;
    for (int i = 0; i < r->n; i++) {
        errors += r->seen[i] == 1;
    }
    return errors;
}

// Both gave the same, else the plans are told, with the first element that differs.
static void show(struct stoker_dataset *ds)
{
    struct stoker_bytes plan;
    for (int is_as_written = 0; is_as_written < 2; is_as_written++) {
        struct stoker_run_options o = {.is_as_written = is_as_written};
        if (stoker_dataset_explain(ds, &o, &plan, NULL) == STOKER_OK) {
            fprintf(stderr, "%s:\n%.*s\n", is_as_written ? "as written" : "rewritten",
                    (int)plan.size, (const char *)plan.data);
            stoker_bytes_free(&plan);
        }
    }
}

static void require_same(struct stoker_dataset *ds, const struct run *a, const struct run *b)
{
    int at = 0;
    if (a->is_cut || b->is_cut || same(a, b)) {
        return;
    }
    while (at < a->n && at < b->n && a->seen[at] == b->seen[at]) {
        at++;
    }
    show(ds);
    fprintf(stderr, "differ from element %d of %d and %d on: %llx, %llx (1: an error)\n", at, a->n,
            b->n, at < a->n ? (unsigned long long)a->seen[at] : 0,
            at < b->n ? (unsigned long long)b->seen[at] : 0);
    FUZZ_REQUIRE(!"the same elements");
}

// From the saved state of an iterator that gave some of its elements.
static void run_resumed(struct stoker_dataset *ds, int components, const struct run *whole)
{
    struct run parts = {.n = 0};
    struct stoker_iterator *it = open_run(ds, false, NULL, 0);
    uint8_t state[256];
    size_t n = sizeof state;
    struct stoker_err err;
    take(it, components, (int)fuzz_choose(&c, ELEMENTS), &parts);
    FUZZ_REQUIRE(stoker_iterator_state(it, state, &n, &err) == STOKER_OK);
    stoker_iterator_free(it);
    if (!parts.is_end) {
        it = open_run(ds, false, state, n);
        FUZZ_REQUIRE(it);
        take(it, components, ELEMENTS, &parts);
        stoker_iterator_free(it);
        require_same(ds, whole, &parts);
    }
    // The same state with a byte of it changed.
    state[fuzz_choose(&c, (uint32_t)n)] ^= fuzz_byte(&c);
    it = open_run(ds, false, state, n - fuzz_choose(&c, 16) / 15);
    if (it) {
        stoker_iterator_cancel(it); // it may have to pass over 2^60 elements
        struct run any = {.n = 0};
        take(it, components, 1, &any);
    }
    stoker_iterator_free(it);
}

static void run_all(struct stoker_dataset *ds)
{
    struct run rewritten = {.n = 0}, written = {.n = 0};
    struct stoker_bytes plan;
    struct stoker_spec specs[COMPONENTS_MAX];
    int components = specs_of(ds, specs);
    uint64_t fingerprint = stoker_dataset_fingerprint(ds);
    FUZZ_REQUIRE(fingerprint == stoker_dataset_fingerprint(ds));
    FUZZ_REQUIRE(stoker_dataset_cardinality(ds) >= STOKER_CARDINALITY_UNKNOWN);
    if (getenv("STOKER_FUZZ_SHOW")) {
        show(ds);
    }
    if (stoker_dataset_explain(ds, NULL, &plan, NULL) == STOKER_OK) {
        FUZZ_REQUIRE(plan.size > 0);
        stoker_bytes_free(&plan);
    }
    struct stoker_iterator *it = components < 0 ? NULL : open_run(ds, false, NULL, 0);
    if (!it) {
        return;
    }
    take(it, components, ELEMENTS, &rewritten);
    stoker_iterator_free(it);
    it = open_run(ds, true, NULL, 0);
    FUZZ_REQUIRE(it);
    take(it, components, ELEMENTS, &written);
    stoker_iterator_free(it);
    // Where elements fail, fewer may as rewritten: what nothing needs any more is not computed.
    if (errors_of(&rewritten) >= errors_of(&written) && rewritten.left_out >= written.left_out) {
        require_same(ds, &rewritten, &written);
    }
    run_resumed(ds, components, &rewritten);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    c = (struct fuzz_choices){data, size};
    has_cache = false;
    struct stoker_dataset *ds = make_dataset(0);
    if (ds) {
        run_all(ds);
    }
    stoker_dataset_free(ds);
    return 0;
}

FUZZ_MAIN(fuzz_once, 3000)
