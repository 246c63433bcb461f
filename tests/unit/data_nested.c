// SPDX-License-Identifier: Apache-2.0
// Transformations with datasets inside: flat_map, interleave, window, group_by_window; and scan,
// reduce, padded_batch, choosing and sampling.
#include "data_make.h"

static void set_text(struct stk_attrs *a, const char *name, const char *text)
{
    CHECK(stk_attrs_set_text(a, name, text, strlen(text)));
}

static void set_bound(struct stk_attrs *a, const char *name)
{
    struct stk_bytes b = {(const uint8_t *)name, strlen(name)};
    CHECK(stk_attrs_set(
        a, &(struct stk_attr){.name = "bound", .kind = STK_ATTR_TEXTS, .count = 1, .texts = &b}));
}

// Adds an operation to a function; returns the value.
static int add(struct stk_fn *fn, const char *op, const int *in, int n, struct stk_attrs *attrs)
{
    struct stoker_err err;
    int first = -1, count;
    stk_err_init(&err);
    if (stk_fn_add(fn, op, in, n, attrs, NULL, &first, &count, &err) != STOKER_OK) {
        fprintf(stderr, "%s: %s\n", op, err.message);
        CHECK(!"operation is added");
    }
    stk_attrs_drop(attrs);
    return first;
}

static struct stk_fn *fn_over(const struct stk_spec *specs, int n)
{
    struct stoker_err err;
    struct stk_fn *fn = NULL;
    CHECK(stk_fn_open(&fn, specs, n, "f", &err) == STOKER_OK);
    return fn;
}

static struct stk_fn *finish(struct stk_fn *fn, const int *out, int n)
{
    struct stoker_err err;
    CHECK(stk_fn_finish(fn, out, n, &err) == STOKER_OK);
    return fn;
}

// x -> range(x)
static struct stk_fn *range_fn(void)
{
    struct stk_spec x = {.dtype = STK_DT_I64};
    struct stk_fn *fn = fn_over(&x, 1);
    struct stk_attrs *a = stk_attrs_new();
    int in = 0;
    set_text(a, "kind", "range");
    set_bound(a, "stop");
    int v = add(fn, "make_dataset", &in, 1, a);
    return finish(fn, &v, 1);
}

// x -> dataset of one element x, repeated `count` times
static struct stk_fn *repeat_fn(int64_t count)
{
    struct stk_spec x = {.dtype = STK_DT_I64};
    struct stk_fn *fn = fn_over(&x, 1);
    struct stk_attrs *a = stk_attrs_new(), *b = stk_attrs_new();
    int in = 0;
    set_text(a, "kind", "tensors");
    set_bound(a, "components");
    int v = add(fn, "make_dataset", &in, 1, a);
    set_text(b, "kind", "repeat");
    CHECK(stk_attrs_set_int(b, "count", count) && stk_attrs_set_int(b, "n_in", 1));
    v = add(fn, "make_dataset", &v, 1, b);
    return finish(fn, &v, 1);
}

// dataset -> batches of `size` of it
static struct stk_fn *batch_fn(const struct stk_spec *in, int value, int n_in, int64_t size)
{
    struct stk_fn *fn = fn_over(in, n_in);
    struct stk_attrs *a = stk_attrs_new();
    set_text(a, "kind", "batch");
    CHECK(stk_attrs_set_int(a, "batch_size", size) && stk_attrs_set_int(a, "n_in", 1));
    int v = add(fn, "make_dataset", &value, 1, a);
    return finish(fn, &v, 1);
}

static void flat_maps(void)
{
    EXPECT(with_fn("flat_map", RANGE(5), range_fn(), NULL), "0 0 1 0 1 2 0 1 2 3");
    EXPECT(with_fn("flat_map", RANGE(0), range_fn(), NULL), "");
    EXPECT(with_fn("flat_map", RANGE(3), repeat_fn(2), NULL), "0 0 1 1 2 2");
    EXPECT(
        make("take",
             with_fn("flat_map", make("skip", RANGE(9), "count", I(1), NULL), repeat_fn(-1), NULL),
             "count", I(5), NULL),
        "1 1 1 1 1");
    EXPECT(with_fn("flat_map", with_op("map", RANGE(9), OP_FAIL_7, NULL), repeat_fn(1), NULL),
           "0 1 2 3 4 5 6 ! 8");
}

// The orders are tf.data's (TensorFlow 2.21).
static void interleaves(int64_t calls)
{
    EXPECT(with_fn("interleave", make("range", NULL, "start", I(1), "stop", I(6), NULL),
                   repeat_fn(6), "cycle_length", I(2), "block_length", I(4), "num_parallel_calls",
                   calls, NULL),
           "1 1 1 1 2 2 2 2 1 1 2 2 3 3 3 3 4 4 4 4 3 3 4 4 5 5 5 5 5 5");
    EXPECT(with_fn("interleave", RANGE(6), range_fn(), "cycle_length", I(3), "num_parallel_calls",
                   calls, NULL),
           "0 0 0 1 1 0 2 1 0 2 1 3 2 3 4");
    EXPECT(with_fn("interleave", RANGE(4), range_fn(), "cycle_length", I(7), "block_length", I(2),
                   "num_parallel_calls", calls, NULL),
           "0 0 1 0 1 2");
    EXPECT(with_fn("interleave", RANGE(4), range_fn(), "cycle_length", I(1), "num_parallel_calls",
                   calls, NULL),
           "0 0 1 0 1 2");
    EXPECT(with_fn("interleave", RANGE(0), range_fn(), "cycle_length", I(3), "num_parallel_calls",
                   calls, NULL),
           "");
}

// Many elements, whole rounds and odd ends: with threads as without.
static void long_interleaves(void)
{
    static const int64_t lengths[] = {0, 1, 2, 3, 7, 64, 100, 501};
    static struct text want, got;
    for (int cycle = 1; cycle < 6; cycle += 2) {
        for (int64_t block = 1; block < 7; block += 2) {
            for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
                for (int64_t calls = 0; calls < 3; calls++) {
                    struct stk_iter *it =
                        open_iter(with_fn("interleave",
                                          make("range", NULL, "start", I(lengths[k]), "stop",
                                               I(lengths[k] + 9), NULL),
                                          range_fn(), "cycle_length", I(cycle), "block_length",
                                          block, "num_parallel_calls", calls, NULL));
                    struct text *t = calls ? &got : &want;
                    t->n = 0;
                    say_all(t, it, k % 2 ? 4096 : 37); // and closes it
                    if (calls) {
                        CHECK_STR(got.at, want.at);
                    }
                }
            }
        }
    }
}

static void windows(void)
{
    EXPECT(make("window", RANGE(7), "size", I(3), NULL), "{0 1 2} {3 4 5} {6}");
    EXPECT(make("window", RANGE(7), "size", I(3), "drop_remainder", I(1), NULL), "{0 1 2} {3 4 5}");
    EXPECT(make("window", RANGE(7), "size", I(3), "shift", I(1), "stride", I(2), "drop_remainder",
                I(1), NULL),
           "{0 2 4} {1 3 5} {2 4 6}");
    EXPECT(make("window", RANGE(5), "size", I(3), "shift", I(1), NULL),
           "{0 1 2} {1 2 3} {2 3 4} {3 4} {4}");
    EXPECT(make("window", RANGE(10), "size", I(2), "shift", I(4), NULL), "{0 1} {4 5} {8 9}");
    EXPECT(make("window", RANGE(0), "size", I(2), NULL), "");
    EXPECT(make("window", make("enumerate", RANGE(3), NULL), "size", I(2), NULL),
           "({0 1},{0 1}) ({2},{2})");
    struct stk_dataset *ds = make("window", RANGE(5), "size", I(2), "shift", I(1), NULL);
    struct stk_fn *fn = batch_fn(ds->specs->items, 0, 1, 2);
    EXPECT(with_fn("flat_map", ds, fn, NULL), "[0 1] [1 2] [2 3] [3 4] [4]");
}

// Groups of two by the remainder of 3, batched by a function of the type `key` and a dataset.
static struct stk_attrs *grouping(struct stk_specs *elements, enum stk_dtype key)
{
    struct stk_spec args[2] = {{.dtype = key}, {.dtype = STK_DT_DATASET, .nested = elements}};
    struct stk_fn *fn = test_fn(elements, OP_MOD_3), *reduce = batch_fn(args, 1, 2, 10);
    struct stk_attrs *a = stk_attrs_new();
    CHECK(stk_attrs_set(a, &(struct stk_attr){.name = "fn", .kind = STK_ATTR_FN, .fn = fn}));
    CHECK(stk_attrs_set(
        a, &(struct stk_attr){.name = "reduce_fn", .kind = STK_ATTR_FN, .fn = reduce}));
    CHECK(stk_attrs_set_int(a, "window_size", 2));
    stk_fn_drop(fn);
    stk_fn_drop(reduce);
    return a;
}

static void groups(void)
{
    struct stk_dataset *in = RANGE(10);
    struct stk_attrs *a = grouping(in->specs, STK_DT_I64);
    EXPECT(make_with("group_by_window", &in, 1, a), "[0 3] [1 4] [2 5] [6 9] [7] [8]");
}

static void refuses(const char *kind, struct stk_dataset *in, struct stk_attrs *a, const char *why)
{
    struct stoker_err err;
    struct stk_dataset *ds = NULL;
    CHECK(stk_dataset_make(&ds, kind, &in, 1, a, NULL, &err) == STOKER_EINVAL && !ds);
    CHECK_SAY(strstr(err.message, why), "%s: %s", kind, err.message);
    stk_attrs_drop(a);
    stk_dataset_drop(in);
}

// A function is of the types that it was made for: a number read as a dataset is an address.
static void functions_of_others(void)
{
    struct stk_dataset *in = RANGE(10), *pairs = make("enumerate", RANGE(10), NULL);
    refuses("group_by_window", in, grouping(in->specs, STK_DT_DATASET), "a key and a dataset");
    struct stk_spec text = {.dtype = STK_DT_STRING},
                    wide = {.dtype = STK_DT_I64, .shape = {1, {3}}};
    const struct stk_spec *others[] = {&text, &wide};
    for (int i = 0; i < 2; i++) {
        struct stk_attrs *a = stk_attrs_new();
        struct stk_fn *fn = fn_over((struct stk_spec[]){pairs->specs->items[0], *others[i]}, 2);
        int second = 1;
        finish(fn, &second, 1);
        CHECK(stk_attrs_set(a, &(struct stk_attr){.name = "fn", .kind = STK_ATTR_FN, .fn = fn}));
        stk_fn_drop(fn);
        refuses("map", stk_dataset_hold(pairs), a, "another component 1");
    }
    stk_dataset_drop(pairs);
}

// (state, x) -> (state + 1, x), by a node that is exchanged.
static struct stk_dataset *folded(const char *kind, struct stk_dataset *in, int results)
{
    struct stk_spec specs[2] = {{.dtype = STK_DT_I64}, {.dtype = STK_DT_I64}};
    struct stk_fn *fn = fn_over(specs, 2);
    int state = 0, x = 1, out[2];
    out[0] = add(fn, "identity", &state, 1, NULL);
    out[1] = add(fn, "identity", &x, 1, NULL);
    finish(fn, out, results);
    fn->nodes[0].op = &test_ops[OP_PLUS_ONE];
    static int64_t zero = 0;
    struct stk_col c = {.dtype = STK_DT_I64, .n = 1, .stride = 8, .data = (uint8_t *)&zero};
    struct stk_attrs *a = stk_attrs_new();
    CHECK(stk_attrs_set(
        a, &(struct stk_attr){
               .name = "initial_state", .kind = STK_ATTR_COLS, .count = 1, .cols = &c}));
    CHECK(stk_attrs_set(a, &(struct stk_attr){.name = "fn", .kind = STK_ATTR_FN, .fn = fn}));
    stk_fn_drop(fn);
    return make_with(kind, &in, 1, a);
}

static void folds(void)
{
    EXPECT(folded("reduce", RANGE(7), 1), "7");
    EXPECT(folded("reduce", RANGE(0), 1), "0");
    EXPECT(folded("scan", RANGE(20), 2), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19");
    EXPECT(folded("reduce", with_op("map", RANGE(9), OP_FAIL_7, NULL), 1), "!");
}

static struct stk_dataset *batches_of_growing_size(void)
{
    struct stk_dataset *in[4];
    for (int64_t i = 0; i < 4; i++) {
        in[i] = make("batch", RANGE(i + 1), "batch_size", i + 1, NULL);
    }
    return make_with("concatenate", in, 4, stk_attrs_new());
}

static void padding(void)
{
    EXPECT(make("padded_batch", batches_of_growing_size(), "batch_size", I(3), NULL),
           "[[0 0 0] [0 1 0] [0 1 2]] [[0 1 2 3]]");
    EXPECT(make("padded_batch", batches_of_growing_size(), "batch_size", I(3), "drop_remainder",
                I(1), NULL),
           "[[0 0 0] [0 1 0] [0 1 2]]");
    EXPECT(make("padded_batch", RANGE(3), "batch_size", I(2), NULL), "[0 1] [2]");
    struct stk_specs *shapes = stk_specs_new(1);
    shapes->items[0].shape = (struct stk_shape){.rank = 1, .dim = {3}};
    struct stk_attrs *a = stk_attrs_new();
    static int64_t minus = -1;
    struct stk_col c = {.dtype = STK_DT_I64, .n = 1, .stride = 8, .data = (uint8_t *)&minus};
    CHECK(stk_attrs_set_int(a, "batch_size", 2));
    CHECK(stk_attrs_set(
        a, &(struct stk_attr){.name = "padded_shapes", .kind = STK_ATTR_SPECS, .specs = shapes}));
    CHECK(stk_attrs_set(
        a, &(struct stk_attr){
               .name = "padding_values", .kind = STK_ATTR_COLS, .count = 1, .cols = &c}));
    struct stk_dataset *in = batches_of_growing_size();
    EXPECT(make_with("padded_batch", &in, 1, a), "[[0 -1 -1] [0 1 -1]] !");
    stk_specs_drop(shapes);
}

static struct stk_dataset *choosing(const char *kind, struct stk_dataset *first,
                                    struct stk_dataset *second, struct stk_dataset *third,
                                    int64_t stops)
{
    struct stk_dataset *in[3] = {first, second, third};
    struct stk_attrs *a = stk_attrs_new();
    CHECK(stk_attrs_set_int(a, "stop_on_empty_dataset", stops) && stk_attrs_set_int(a, "seed", 4));
    return make_with(kind, in, third ? 3 : 2, a);
}

static void choices(void)
{
    struct stk_dataset *tens = make("range", NULL, "start", I(10), "stop", I(12), NULL);
    struct stk_dataset *ds = choosing("choose_from_datasets",
                                      with_op("map", RANGE(9), OP_MOD_3, NULL), RANGE(3), tens, 0);
    struct stoker_err err;
    struct stk_block b = {0};
    struct stk_iter *it = open_iter(ds);
    CHECK(stk_iter_next(it, 9, &b, &err) == STOKER_OK && b.n == 2);
    CHECK(stk_iter_next(it, 9, &b, &err) == STOKER_EINVAL); // choice 2 of 2
    stk_block_free(&b);
    stk_iter_close(it);
    struct stk_dataset *zeros = with_fn("flat_map", RANGE(1), repeat_fn(4), NULL);
    struct stk_dataset *ones = with_fn(
        "flat_map", make("range", NULL, "start", I(1), "stop", I(2), NULL), repeat_fn(4), NULL);
    struct stk_dataset *both = pair_of("concatenate", zeros, ones);
    tens = make("range", NULL, "start", I(10), "stop", I(12), NULL);
    EXPECT(choosing("choose_from_datasets", stk_dataset_hold(both), stk_dataset_hold(tens),
                    RANGE(3), 0),
           "10 11 0 1 2");
    EXPECT(choosing("choose_from_datasets", both, tens, RANGE(3), 1), "10 11");
    struct stk_dataset *sampled = choosing("sample_from_datasets", RANGE(500), RANGE(500), NULL, 0);
    CHECK_EQ(stk_dataset_cardinality(sampled), STK_CARDINALITY_UNKNOWN);
    const char *all = elements_after(sampled, 100, 0), *again = elements_after(sampled, 3, 0);
    CHECK(strcmp(all, again) == 0);
    int64_t n = 1;
    for (const char *p = all; *p; p++) {
        n += *p == ' ';
    }
    CHECK_EQ(n, 1000);
    stk_dataset_drop(sampled);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(flat_maps);
    CHECK_RUN(interleaves, 0);
    CHECK_RUN(interleaves, 1);
    CHECK_RUN(interleaves, 3);
    CHECK_RUN(interleaves, -1);
    CHECK_RUN(long_interleaves);
    CHECK_RUN(windows);
    CHECK_RUN(groups);
    CHECK_RUN(functions_of_others);
    CHECK_RUN(folds);
    CHECK_RUN(padding);
    CHECK_RUN(choices);
    return check_done("unit.data_nested");
}
