// SPDX-License-Identifier: Apache-2.0
// Random pipelines over include/stoker/data.h alone, from several threads at once: built, run,
// resumed, canceled by another thread, abandoned, and shared between threads. An element is an
// int64; the results are compared with a model, an array. At the end no thread and no file
// descriptor is left.
//
// usage: test_data_api_soak [--seconds S | --minutes M] [--seed N] [--count K] [-v]
// A failure names its seed: --seed N --count 1 -v runs that pipeline alone.
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "check.h"
#include "base/clock.h"
#include "stoker/data.h"

enum { WORKERS = 3, ELEMENTS_MAX = 20000, HANGS_S = 120, STAGES_MAX = 7 };

static bool is_loud;
static atomic_int failures;

struct draw {
    uint64_t state;
};

static uint64_t draw(struct draw *d)
{
    uint64_t x = d->state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static int64_t below(struct draw *d, int64_t n)
{
    return (int64_t)(draw(d) % (uint64_t)n);
}

// A pipeline and what it gives: in that order, or (is_mixed) in any.
struct pipeline {
    uint64_t seed;
    struct draw draw;
    struct stoker_dataset *ds;
    int64_t *values;
    int64_t n;
    bool is_mixed;
    char text[512];
};

static void fail(const struct pipeline *p, const char *what, const struct stoker_err *err)
{
    atomic_fetch_add(&failures, 1);
    fprintf(stderr, "seed %llu: %s:%s%s%s\n", (unsigned long long)p->seed, p->text, what,
            err ? ": " : "", err ? err->message : "");
}

// Functions

static int node(struct stoker_fn *fn, const char *op, const int *in, int n,
                struct stoker_args *args)
{
    struct stoker_err err;
    int first = -1, count = 0;
    if (stoker_fn_add(fn, op, in, n, args, "soak:1", &first, &count, &err) != STOKER_OK) {
        fprintf(stderr, "%s: %s\n", op, err.message);
        atomic_fetch_add(&failures, 1);
    }
    stoker_args_free(args);
    return first;
}

static int number(struct stoker_fn *fn, int64_t value)
{
    struct stoker_tensor t = {.dtype = STOKER_INT64, .data = &value};
    struct stoker_args *a = stoker_args_new();
    stoker_args_tensors(a, "value", &t, 1);
    return node(fn, "const", NULL, 0, a);
}

static int two(struct stoker_fn *fn, const char *op, int x, int64_t value)
{
    int in[2] = {x, number(fn, value)};
    return node(fn, op, in, 2, stoker_args_new());
}

static struct stoker_fn *open_fn(void)
{
    struct stoker_spec spec = {.dtype = STOKER_INT64};
    struct stoker_fn *fn = NULL;
    struct stoker_err err;
    (void)stoker_fn_open(&spec, 1, "f", &fn, &err);
    return fn;
}

static struct stoker_fn *close_fn(struct stoker_fn *fn, int result)
{
    struct stoker_err err;
    if (stoker_fn_finish(fn, &result, 1, &err) != STOKER_OK) {
        fprintf(stderr, "finish: %s\n", err.message);
        atomic_fetch_add(&failures, 1);
    }
    return fn;
}

// x -> x * 3 % 100003 + k
static struct stoker_fn *mixing(int64_t k)
{
    struct stoker_fn *fn = open_fn();
    return close_fn(fn, two(fn, "add", two(fn, "mod", two(fn, "multiply", 0, 3), 100003), k));
}

static int64_t mixed(int64_t x, int64_t k)
{
    return x * 3 % 100003 + k;
}

// x -> range(x, x + k), through a map with `calls` if that is not 0
static struct stoker_fn *nesting(int64_t k, int64_t calls)
{
    static const struct stoker_bytes bound[2] = {{(const unsigned char *)"start", 5},
                                                 {(const unsigned char *)"stop", 4}};
    struct stoker_fn *fn = open_fn();
    int in[2] = {0, two(fn, "add", 0, k)};
    struct stoker_args *a = stoker_args_new();
    stoker_args_text(a, "kind", "range", 5);
    stoker_args_texts(a, "bound", bound, 2);
    int range = node(fn, "make_dataset", in, 2, a);
    if (calls != 0) {
        struct stoker_fn *each = mixing(1);
        a = stoker_args_new();
        stoker_args_text(a, "kind", "map", 3);
        stoker_args_int(a, "n_in", 1);
        stoker_args_fn(a, "fn", each);
        stoker_args_int(a, "num_parallel_calls", calls);
        range = node(fn, "make_dataset", &range, 1, a);
        stoker_fn_free(each);
    }
    return close_fn(fn, range);
}

// Stages

// The stage becomes the pipeline's end. args and fn are used up.
static void put(struct pipeline *p, const char *kind, struct stoker_args *args,
                struct stoker_fn *fn, int64_t k)
{
    struct stoker_err err;
    struct stoker_dataset *to = NULL;
    size_t used = strlen(p->text);
    snprintf(p->text + used, sizeof p->text - used, " %s(%lld)", kind, (long long)k);
    if (fn) {
        stoker_args_fn(args, "fn", fn);
    }
    if (stoker_dataset_make(kind, &p->ds, p->ds != NULL, args, "soak:2", &to, &err) != STOKER_OK) {
        fail(p, " cannot be made", &err);
    } else {
        stoker_dataset_free(p->ds);
        p->ds = to;
    }
    stoker_args_free(args);
    stoker_fn_free(fn);
}

static struct stoker_args *with(const char *name, int64_t value)
{
    struct stoker_args *a = stoker_args_new();
    stoker_args_int(a, name, value);
    return a;
}

static int64_t calls(struct draw *d)
{
    static const int64_t some[] = {0, 0, 1, 2, 4, -1};
    return some[below(d, 6)];
}

static bool resize(struct pipeline *p, int64_t n)
{
    int64_t *more = n > ELEMENTS_MAX ? NULL : realloc(p->values, (size_t)(n + 1) * sizeof *more);
    p->values = more ? more : p->values;
    return more != NULL;
}

static void keep_from(struct pipeline *p, int64_t first, int64_t n)
{
    n = first + n > p->n ? p->n - first : n;
    n = n < 0 ? 0 : n;
    memmove(p->values, p->values + (n ? first : 0), (size_t)n * sizeof *p->values);
    p->n = n;
}

static void put_map(struct pipeline *p, int64_t k)
{
    put(p, "map", with("num_parallel_calls", calls(&p->draw)), mixing(k), k);
    for (int64_t i = 0; i < p->n; i++) {
        p->values[i] = mixed(p->values[i], k);
    }
}

static void put_filter(struct pipeline *p, int64_t k)
{
    struct stoker_fn *fn = open_fn();
    int64_t n = 0;
    put(p, "filter", stoker_args_new(),
        close_fn(fn, two(fn, "not_equal", two(fn, "mod", 0, k + 2), 1)), k);
    for (int64_t i = 0; i < p->n; i++) {
        if (p->values[i] % (k + 2) != 1) {
            p->values[n++] = p->values[i];
        }
    }
    p->n = n;
}

static void put_part(struct pipeline *p, int64_t k)
{
    if (p->is_mixed) {
        return; // which elements are left would depend on their order
    }
    if (k % 2) {
        put(p, "take", with("count", 20 * k), NULL, 20 * k);
        keep_from(p, 0, 20 * k);
    } else {
        put(p, "skip", with("count", k), NULL, k);
        keep_from(p, k, p->n);
    }
}

static void put_repeat(struct pipeline *p, int64_t k)
{
    int64_t times = 1 + k % 3;
    if (!resize(p, p->n * times)) {
        return;
    }
    put(p, "repeat", with("count", times), NULL, times);
    for (int64_t i = p->n; i < p->n * times; i++) {
        p->values[i] = p->values[i - p->n];
    }
    p->n *= times;
}

static void put_shuffle(struct pipeline *p, int64_t k)
{
    put(p, "shuffle", with("buffer_size", k < 30 ? k + 1 : 100000), NULL, k);
    p->is_mixed = true;
}

static void put_plain(struct pipeline *p, int64_t k)
{
    if (k % 3 == 0) {
        put(p, "cache", stoker_args_new(), NULL, 0);
    } else if (k % 3 == 1) {
        put(p, "prefetch", with("buffer_size", k % 5 ? k % 5 : -1), NULL, k % 5);
    } else {
        put(p, "batch", with("batch_size", k), NULL, k);
        put(p, "unbatch", stoker_args_new(), NULL, 0);
    }
}

static void put_flat_map(struct pipeline *p, int64_t k)
{
    int64_t each = k % 3 + 1, inner = calls(&p->draw), n = p->n;
    if (!resize(p, n * each)) {
        return;
    }
    put(p, "flat_map", stoker_args_new(), nesting(each, inner), each);
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t j = each - 1; j >= 0; j--) {
            int64_t x = p->values[i] + j;
            p->values[i * each + j] = inner ? mixed(x, 1) : x;
        }
    }
    p->n = n * each;
}

// With a cycle of one it is flat_map; otherwise the model knows what comes, not when.
static void put_interleave(struct pipeline *p, int64_t k)
{
    int64_t each = k % 3 + 1, inner = calls(&p->draw), cycle = k % 5 + 1, n = p->n;
    if (!resize(p, n * each)) {
        return;
    }
    struct stoker_args *a = with("cycle_length", cycle);
    stoker_args_int(a, "block_length", 1 + k % 2);
    stoker_args_int(a, "num_parallel_calls", calls(&p->draw));
    put(p, "interleave", a, nesting(each, inner), cycle);
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t j = each - 1; j >= 0; j--) {
            int64_t x = p->values[i] + j;
            p->values[i * each + j] = inner ? mixed(x, 1) : x;
        }
    }
    p->n = n * each;
    p->is_mixed = p->is_mixed || (cycle > 1 && each > 1);
}

static bool make(struct pipeline *p, uint64_t seed)
{
    static void (*const stages[])(struct pipeline *, int64_t) = {
        put_map,     put_map,   put_filter,   put_part,      put_repeat,
        put_shuffle, put_plain, put_flat_map, put_interleave};
    static const int64_t sizes[] = {0, 1, 7, 64, 257, 1500};
    int before = atomic_load(&failures);
    *p = (struct pipeline){.seed = seed, .draw = {seed}};
    p->n = sizes[below(&p->draw, 6)];
    p->values = malloc((size_t)(p->n + 1) * sizeof *p->values);
    for (int64_t i = 0; i < p->n; i++) {
        p->values[i] = i;
    }
    put(p, "range", with("stop", p->n), NULL, p->n);
    for (int64_t i = below(&p->draw, STAGES_MAX); i > 0 && p->ds; i--) {
        stages[below(&p->draw, sizeof stages / sizeof stages[0])](p, 1 + below(&p->draw, 40));
    }
    return p->ds && atomic_load(&failures) == before;
}

// Runs

static struct stoker_run_options options_of(struct draw *d)
{
    struct stoker_run_options o = {.has_seed = 1, .seed = 7, .record_path = ""};
    static const int threads[] = {0, 1, 2, 4};
    o.threads = threads[below(d, 4)];
    o.ram_bytes = below(d, 4) ? 0 : 8u << 20;
    o.is_as_written = below(d, 3) == 0;
    o.is_untuned = below(d, 4) == 0;
    o.initial_parallelism = (int)below(d, 4);
    return o;
}

// Takes up to n elements. Returns how many; less at the end, -1 after an error that was not wanted.
static int64_t take(const struct pipeline *p, struct stoker_iterator *it, int64_t *to, int64_t n,
                    bool may_cancel)
{
    struct stoker_err err;
    struct stoker_tensor t;
    int is_end = 0;
    int64_t i = 0;
    for (; i < n; i++) {
        enum stoker_status s = stoker_iterator_next(it, &t, 1, &is_end, &err);
        if (s == STOKER_EINTR && may_cancel) {
            return i;
        }
        if (s != STOKER_OK) {
            fail(p, " an element failed", &err);
            return -1;
        }
        if (is_end) {
            break;
        }
        to[i] = *(const int64_t *)t.data;
        stoker_tensor_release(&t);
    }
    return i;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void compare(const struct pipeline *p, int64_t *got, int64_t n)
{
    int64_t *want = malloc((size_t)(p->n + 1) * sizeof *want);
    memcpy(want, p->values, (size_t)p->n * sizeof *want);
    if (p->is_mixed && n >= 0) {
        qsort(got, (size_t)n, sizeof *got, by_value);
        qsort(want, (size_t)p->n, sizeof *want, by_value);
    }
    if (n >= 0 && (n != p->n || memcmp(got, want, (size_t)n * sizeof *want) != 0)) {
        fail(p, n != p->n ? " another number of elements" : " other elements", NULL);
    }
    free(want);
}

static struct stoker_iterator *open_it(const struct pipeline *p, const struct stoker_run_options *o)
{
    struct stoker_iterator *it = NULL;
    struct stoker_err err;
    if (stoker_iterator_open(p->ds, o, &it, &err) != STOKER_OK) {
        fail(p, " cannot be opened", &err);
    }
    return it;
}

static void look_at(struct stoker_iterator *it)
{
    struct stoker_stage stage;
    struct stoker_memory memory;
    for (int i = 0; stoker_iterator_stage(it, i, &stage); i++) {
    }
    stoker_iterator_memory(it, &memory);
}

// All of it; resumed in the middle where `at` is not negative.
static void run_all(const struct pipeline *p, struct draw *d, int64_t at)
{
    struct stoker_run_options o = options_of(d);
    int64_t *got = malloc((size_t)(ELEMENTS_MAX + 1) * sizeof *got), n = 0, more;
    struct stoker_iterator *it = open_it(p, &o), *again = NULL;
    struct stoker_err err;
    unsigned char state[256];
    size_t size = sizeof state;
    if (it && at >= 0) {
        n = take(p, it, got, at, false);
        look_at(it);
        if (stoker_iterator_state(it, state, &size, &err) != STOKER_OK ||
            stoker_iterator_resume(p->ds, &o, state, size, &again, &err) != STOKER_OK) {
            fail(p, " cannot be resumed", &err);
        }
        stoker_iterator_free(it);
        it = again;
    }
    more = it && n >= 0 ? take(p, it, got + n, ELEMENTS_MAX - n + 1, false) : -1;
    if (it) {
        look_at(it);
    }
    stoker_iterator_free(it);
    compare(p, got, more < 0 ? -1 : n + more);
    free(got);
}

struct canceller {
    struct stoker_iterator *it;
    useconds_t after_us;
};

static void *cancel(void *arg)
{
    struct canceller *c = arg;
    usleep(c->after_us);
    stoker_iterator_cancel(c->it);
    return NULL;
}

// Canceled by another thread while it runs, or left half-way; what was given stays valid.
static void run_part(const struct pipeline *p, struct draw *d)
{
    struct stoker_run_options o = options_of(d);
    struct canceller c = {open_it(p, &o), (useconds_t)below(d, 3000)};
    int64_t *got = malloc((size_t)(ELEMENTS_MAX + 1) * sizeof *got);
    struct stoker_tensor kept = {0};
    struct stoker_err err;
    pthread_t thread;
    int is_end = 0;
    if (!c.it) {
        free(got);
        return;
    }
    bool is_cancelled = below(d, 2) && pthread_create(&thread, NULL, cancel, &c) == 0;
    enum stoker_status s = stoker_iterator_next(c.it, &kept, 1, &is_end, &err);
    if (s != STOKER_OK && s != STOKER_EINTR) {
        fail(p, " the first element failed", &err);
    }
    (void)take(p, c.it, got, below(d, 300), is_cancelled);
    if (is_cancelled) {
        pthread_join(thread, NULL);
    }
    stoker_iterator_free(c.it);
    if (s == STOKER_OK && !is_end && !p->is_mixed && *(const int64_t *)kept.data != p->values[0]) {
        fail(p, " a tensor that outlived its iterator changed", NULL);
    }
    stoker_tensor_release(&kept);
    free(got);
}

struct shared {
    const struct pipeline *p;
    struct draw draw;
};

static void *run_shared(void *arg)
{
    struct shared *s = arg;
    run_all(s->p, &s->draw, -1);
    return NULL;
}

static void one(uint64_t seed)
{
    struct pipeline p;
    if (make(&p, seed)) {
        struct draw *d = &p.draw;
        if (is_loud) {
            printf("seed %llu:%s: %lld elements\n", (unsigned long long)seed, p.text,
                   (long long)p.n);
            fflush(stdout);
        }
        run_all(&p, d, below(d, 2) ? below(d, p.n + 2) : -1);
        run_part(&p, d);
        if (below(d, 3) == 0) { // one dataset, and its cache, in two threads
            struct shared other = {&p, {draw(d)}};
            pthread_t thread;
            bool has_thread = pthread_create(&thread, NULL, run_shared, &other) == 0;
            run_all(&p, d, -1);
            if (has_thread) {
                pthread_join(thread, NULL);
            }
        }
    }
    stoker_dataset_free(p.ds);
    free(p.values);
}

static atomic_ullong next_seed;
static uint64_t end_seed;
static double end_s;
static _Thread_local uint64_t my_seed;

static void *work(void *arg)
{
    (void)arg;
    while (stk_clock_seconds(CLOCK_MONOTONIC) < end_s && atomic_load(&failures) < 10) {
        my_seed = atomic_fetch_add(&next_seed, 1);
        if (my_seed >= end_seed) {
            break;
        }
        alarm(HANGS_S);
        one(my_seed);
    }
    return NULL;
}

static void hangs(int signal)
{
    (void)signal;
    static const char text[] = "a pipeline hangs; -v names it\n";
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(1);
}

static int entries_of(const char *folder)
{
    DIR *d = opendir(folder);
    int n = 0;
    while (d && readdir(d)) {
        n++;
    }
    if (d) {
        closedir(d);
    }
    return n;
}

int main(int argc, char **argv)
{
    double seconds = 6;
    uint64_t seed = (uint64_t)time(NULL) % 1000000 * 100000;
    end_seed = UINT64_MAX;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        is_loud = is_loud || strcmp(argv[i], "-v") == 0;
        seconds = strcmp(argv[i], "--seconds") == 0 ? atof(value) : seconds;
        seconds = strcmp(argv[i], "--minutes") == 0 ? atof(value) * 60 : seconds;
        seed = strcmp(argv[i], "--seed") == 0 ? strtoull(value, NULL, 10) : seed;
        end_seed = strcmp(argv[i], "--count") == 0 ? strtoull(value, NULL, 10) : end_seed;
    }
    end_seed = end_seed == UINT64_MAX ? end_seed : seed + end_seed;
    atomic_store(&next_seed, seed);
    signal(SIGALRM, hangs);
    pthread_t workers[WORKERS];
    if (pthread_create(&workers[0], NULL, work, NULL) == 0) { // end_s is 0: it does nothing, but
        pthread_join(workers[0], NULL); // sanitizers have a thread of their own from then on
    }
    int files = entries_of("/proc/self/fd"), threads = entries_of("/proc/self/task");
    end_s = stk_clock_seconds(CLOCK_MONOTONIC) + seconds;
    int count = 0;
    for (; count < WORKERS && pthread_create(&workers[count], NULL, work, NULL) == 0; count++) {
    }
    for (int i = 0; i < count; i++) {
        pthread_join(workers[i], NULL);
    }
    alarm(0);
    CHECK_EQ(atomic_load(&failures), 0);
    CHECK_EQ(entries_of("/proc/self/fd"), files);
    for (int i = 0; i < 100 && entries_of("/proc/self/task") > threads; i++) {
        usleep(10000); // a thread that was joined may still be listed
    }
    CHECK(entries_of("/proc/self/task") <= threads);
    uint64_t ran = atomic_load(&next_seed) - seed;
    printf("%llu pipelines from seed %llu on\n", (unsigned long long)ran, (unsigned long long)seed);
    CHECK(ran > 0);
    return check_done("prop.data_api_soak");
}
