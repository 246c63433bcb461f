// SPDX-License-Identifier: Apache-2.0
// Every operation on random values, twice: called directly, when everything about its inputs is
// known, and in a function over elements whose shapes are known only at run time. Both give the
// same, or both fail. Under the sanitizers neither reads memory outside its own.
//
// STOKER_CALLS=N for more of each operation than usual, STOKER_SEED=S for another sequence. All
// values of an input are equal (the function fills its shapes); values of random operations aren't
// compared.
#include <string.h>

#include "check.h"
#include "base/err.h"
#include "engine/graph/op.h"
#include "stoker/data.h"

enum {
    ELEMENTS = 3,
    INPUTS = 3,
    RESULTS = 8,
    RANK = STOKER_RANK_MAX,
    LONG = 4
}; // LONG: axes above 1

static uint64_t rng;

static int64_t draw(int64_t n)
{
    return (int64_t)(stk_random_bits(rng++, 11, 5, 0) % (uint64_t)n);
}

// One operation's inputs: a shape and a value for each element. Of those that are ranked the
// function knows how many dimensions there are.
struct given {
    const char *op;
    struct stoker_args *args;
    int n_in;
    int dtype[INPUTS];
    bool is_ranked[INPUTS];
    int64_t rank[INPUTS][ELEMENTS], dim[INPUTS][ELEMENTS][RANK];
    union {
        uint8_t bytes[16];
        struct stoker_bytes text;
    } value[INPUTS][ELEMENTS];
};

// ---- what is drawn ----

static bool is_left_out(const char *name)
{
    static const char *const names[] = {"const",     "make_dataset", "single_element",
                                        "host_call", "read_file",    "read_files",
                                        "cond",      "decode_part",  "stand_in"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

// The far ones are of the size that sums, products and signs of offsets overflow with; none is a
// size that could be allocated.
static int64_t some_int(void)
{
    static const int64_t usual[] = {0, 1, 1, 2, 2, 3, 4, -1, -2, 7, 20};
    static const int64_t far[] = {INT64_MIN,        INT64_MIN + 1,      INT64_MAX,
                                  INT64_MAX - 1,    INT64_C(1) << 62,   -(INT64_C(1) << 62),
                                  INT64_C(1) << 61, -(INT64_C(1) << 61)};
    return draw(12) ? usual[draw(sizeof usual / sizeof usual[0])]
                    : far[draw(sizeof far / sizeof far[0])];
}

static int some_dtype(void)
{
    static const int usual[] = {STOKER_INT64,  STOKER_FLOAT32, STOKER_UINT8,
                                STOKER_STRING, STOKER_INT32,   STOKER_BOOL};
    return draw(4) ? usual[draw(6)] : (int)draw(STOKER_DATASET);
}

static void draw_value(void *to, int dtype)
{
    static const char *const texts[] = {"", "7", "-1.5", "a b", "\xc3\xa4\xff", "AAAA", "1,2"};
    int64_t n = some_int();
    float f = (float)n / 2;
    double d = (double)n / 2;
    const char *text = texts[draw(sizeof texts / sizeof texts[0])];
    struct stoker_bytes s = {(const uint8_t *)text, strlen(text)};
    const void *from = dtype == STOKER_STRING    ? (const void *)&s
                       : dtype == STOKER_FLOAT32 ? (const void *)&f
                       : dtype == STOKER_FLOAT64 ? (const void *)&d
                                                 : (const void *)&n;
    bool is_unsigned = dtype == STOKER_UINT8 || dtype == STOKER_UINT16 || dtype == STOKER_UINT32 ||
                       dtype == STOKER_UINT64;
    n = dtype == STOKER_BOOL ? n & 1 : is_unsigned ? n & 7 : n; // of a shape, 2^32 is much memory
    memcpy(to, from, stoker_dtype_bytes(dtype));
}

// Mostly few dimensions, now and then as many as there may be.
static int some_rank(void)
{
    return (int)(draw(10) ? draw(LONG + 1) : RANK - draw(2));
}

// Mostly inputs of one type, or one and integers; and of shapes that go together.
static void draw_inputs(struct given *g)
{
    int rank = some_rank(), first = some_dtype(), dtype = draw(3) ? first : STOKER_INT64;
    bool is_alike = draw(3) > 0;
    g->n_in = (int)draw(INPUTS + 1);
    for (int k = 0; k < g->n_in; k++) {
        g->dtype[k] = draw(4) == 0 ? some_dtype() : k == 0 ? first : dtype;
        g->is_ranked[k] = draw(2);
        rank = draw(4) ? rank : some_rank();
        for (int i = 0; i < ELEMENTS; i++) {
            g->rank[k][i] = g->is_ranked[k] || draw(3) ? rank : some_rank();
            for (int j = 0; j < RANK; j++) {
                bool copies = k > 0 && is_alike;
                int64_t most = j < LONG ? 3 : 1;
                g->dim[k][i][j] = copies ? g->dim[0][i][j] : draw(5) ? 1 + draw(most) : 0;
            }
            draw_value(&g->value[k][i], g->dtype[k]);
        }
    }
}

// False: the row asks for what is not drawn here.
static bool draw_arg(struct stoker_args *a, const struct stoker_arg_row *row)
{
    int64_t ints[4] = {some_int(), some_int(), some_int(), some_int()};
    double floats[4] = {(double)ints[0] / 2, (double)ints[1] / 2, (double)ints[2] / 2, 0.5};
    static const char *const types[] = {"int", "bool", "dtype", "float", "text", "ints", "floats"};
    int type = 0;
    while (type < 7 && strcmp(row->type, types[type]) != 0) {
        type++;
    }
    switch (type) {
    case 0:
        return stoker_args_int(a, row->name, row->choices ? draw(3) : ints[0]);
    case 1:
        return stoker_args_int(a, row->name, draw(2));
    case 2:
        return stoker_args_int(a, row->name, some_dtype());
    case 3:
        return stoker_args_float(a, row->name, floats[0]);
    case 4:
        return stoker_args_text(a, row->name, row->choices ? row->choices : "a",
                                row->choices ? strcspn(row->choices, ",") : 1);
    case 5:
        return stoker_args_ints(a, row->name, ints, (size_t)draw(5));
    case 6:
        return stoker_args_floats(a, row->name, floats, (size_t)draw(5));
    default:
        return !row->is_required;
    }
}

static bool draw_args(struct given *g, int op)
{
    struct stoker_arg_row row;
    bool can = true;
    g->args = stoker_args_new();
    for (int k = 0; stoker_op_arg(op, k, &row); k++) {
        if (row.is_required ? draw(20) > 0 : draw(3) == 0) {
            can = draw_arg(g->args, &row) && can;
        }
    }
    return can;
}

// ---- the two ways ----

// A number for an element's results; 0: it failed. bare: of types and shapes alone.
static uint64_t mix(uint64_t h, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        h = (h ^ ((const uint8_t *)bytes)[i]) * 1099511628211u;
    }
    return h;
}

static uint64_t number_of(const struct stoker_tensor *t, int n, bool is_bare)
{
    uint64_t h = 14695981039346656037u;
    for (int k = 0; k < n; k++) {
        size_t count = 1;
        h = mix(mix(h, &t[k].dtype, sizeof t[k].dtype), t[k].dim,
                (size_t)t[k].rank * sizeof t[k].dim[0]);
        for (int j = 0; j < t[k].rank; j++) {
            count *= (size_t)t[k].dim[j];
        }
        const struct stoker_bytes *s = t[k].data;
        for (size_t i = 0; t[k].dtype == STOKER_STRING && i < count; i++) {
            h = mix(mix(h, &s[i].size, sizeof s[i].size), s[i].data, is_bare ? 0 : s[i].size);
        }
        if (t[k].dtype != STOKER_STRING && !is_bare) {
            h = mix(h, t[k].data, count * stoker_dtype_bytes(t[k].dtype));
        }
    }
    return h | 1;
}

static uint64_t at_once(const struct given *g, int i, bool is_bare)
{
    struct stoker_tensor in[INPUTS], out[RESULTS];
    struct stoker_err err;
    static uint8_t room[INPUTS][256 * 16]; // at most 3^4 values
    for (int k = 0; k < g->n_in; k++) {
        size_t count = 1, size = stoker_dtype_bytes(g->dtype[k]);
        in[k] = (struct stoker_tensor){
            .dtype = g->dtype[k], .rank = (int)g->rank[k][i], .data = room[k]};
        for (int j = 0; j < in[k].rank; j++) {
            in[k].dim[j] = g->dim[k][i][j];
            count *= (size_t)in[k].dim[j];
        }
        for (size_t v = 0; v < count; v++) {
            memcpy(room[k] + v * size, &g->value[k][i], size);
        }
    }
    int n = RESULTS;
    if (stoker_op_call(g->op, in, g->n_in, g->args, 1, out, &n, &err) != STOKER_OK) {
        CHECK(err.message[0]);
        return 0;
    }
    uint64_t h = number_of(out, n, is_bare);
    for (int k = 0; k < n; k++) {
        stoker_tensor_release(&out[k]);
    }
    return h;
}

// Dimensions, how many of them count, and a value of each input; a row an element.
static struct stoker_dataset *elements_of(const struct given *g, struct stoker_spec *specs)
{
    static uint8_t values[INPUTS][ELEMENTS * 16];
    struct stoker_tensor t[3 * INPUTS];
    struct stoker_args *a = stoker_args_new();
    struct stoker_dataset *ds = NULL;
    struct stoker_err err;
    for (int k = 0; k < g->n_in; k++) {
        size_t size = stoker_dtype_bytes(g->dtype[k]);
        for (int i = 0; i < ELEMENTS; i++) {
            memcpy(values[k] + (size_t)i * size, &g->value[k][i], size);
        }
        const struct stoker_tensor of[] = {
            {.dtype = STOKER_INT64, .rank = 2, .dim = {ELEMENTS, RANK}, .data = (void *)g->dim[k]},
            {.dtype = STOKER_INT64, .rank = 2, .dim = {ELEMENTS, 1}, .data = (void *)g->rank[k]},
            {.dtype = g->dtype[k], .rank = 1, .dim = {ELEMENTS}, .data = values[k]}};
        for (int j = 0; j < 3; j++) {
            t[3 * k + j] = of[j];
            specs[3 * k + j] = (struct stoker_spec){
                .dtype = of[j].dtype, .rank = of[j].rank - 1, .dim = {of[j].dim[1]}};
        }
    }
    stoker_args_tensors(a, "components", t, (size_t)(3 * g->n_in));
    CHECK(stoker_dataset_make("tensor_slices", NULL, 0, a, NULL, &ds, &err) == STOKER_OK);
    stoker_args_free(a);
    return ds;
}

// The input, of which the function knows the rank at most.
static int input_of(const struct given *g, int k, struct stoker_fn *fn)
{
    static const int64_t zero = 0;
    struct stoker_err err;
    struct stoker_args *a = stoker_args_new();
    int shape, value, count, from[] = {3 * k, 3 * k + 1};
    stoker_args_ints(a, "begin", &zero, 1);
    if (g->is_ranked[k]) {
        stoker_args_ints(a, "size", &g->rank[k][0], 1);
    }
    CHECK(stoker_fn_add(fn, "slice", from, g->is_ranked[k] ? 1 : 2, a, NULL, &shape, &count,
                        &err) == STOKER_OK);
    stoker_args_free(a);
    int filled[] = {shape, 3 * k + 2};
    CHECK(stoker_fn_add(fn, "fill", filled, 2, NULL, NULL, &value, &count, &err) == STOKER_OK);
    return value;
}

// NULL: the operation does not take what is known of its inputs.
static struct stoker_fn *function_of(const struct given *g, const struct stoker_spec *specs,
                                     int *n_out)
{
    struct stoker_fn *fn = NULL;
    struct stoker_err err;
    int in[INPUTS], first, results[RESULTS];
    CHECK(stoker_fn_open(specs, 3 * g->n_in, "called", &fn, &err) == STOKER_OK);
    for (int k = 0; k < g->n_in; k++) {
        in[k] = input_of(g, k, fn);
    }
    if (stoker_fn_add(fn, g->op, in, g->n_in, g->args, NULL, &first, n_out, &err) != STOKER_OK ||
        *n_out == 0 || *n_out > RESULTS) {
        stoker_fn_free(fn);
        return NULL;
    }
    for (int k = 0; k < *n_out; k++) {
        results[k] = first + k;
    }
    CHECK(stoker_fn_finish(fn, results, *n_out, &err) == STOKER_OK);
    return fn;
}

static struct stoker_iterator *open_map(struct stoker_dataset *ds, struct stoker_fn *fn)
{
    struct stoker_args *a = stoker_args_new();
    struct stoker_dataset *mapped = NULL;
    struct stoker_iterator *it = NULL;
    struct stoker_err err;
    struct stoker_run_options o = {
        .has_seed = 1, .threads = 1, .is_untuned = 1, .record_path = "", .ram_bytes = 1 << 26};
    stoker_args_fn(a, "fn", fn);
    CHECK(stoker_dataset_make("map", &ds, 1, a, NULL, &mapped, &err) == STOKER_OK);
    CHECK(stoker_iterator_open(mapped, &o, &it, &err) == STOKER_OK);
    stoker_args_free(a);
    stoker_dataset_free(mapped);
    return it;
}

static void say(const struct given *g, int i, uint64_t now, uint64_t later, const char *why)
{
    printf("%s, element %d: at once %llx, in a function %llx (0: failed) %s\n", g->op, i,
           (unsigned long long)now, (unsigned long long)later, why);
    for (int k = 0; k < g->n_in; k++) {
        printf("  %s (", stoker_dtype_name(g->dtype[k]));
        for (int j = 0; j < g->rank[k][i]; j++) {
            printf(" %lld", (long long)g->dim[k][i][j]);
        }
        printf(" )\n");
    }
}

// How many elements were compared.
static int compare(const struct given *g)
{
    struct stoker_spec specs[3 * INPUTS];
    struct stoker_tensor out[RESULTS];
    struct stoker_err err;
    struct stoker_dataset *ds = elements_of(g, specs);
    int n_out = 0, is_end = 0, compared = 0;
    struct stoker_fn *fn = function_of(g, specs, &n_out);
    struct stoker_iterator *it = fn ? open_map(ds, fn) : NULL;
    for (int i = 0; it && i < ELEMENTS && !is_end; i++, compared++) {
        bool is_random = stoker_fn_is_random(fn);
        uint64_t later = 0, now = at_once(g, i, is_random);
        stk_err_init(&err);
        bool came = stoker_iterator_next(it, out, n_out, &is_end, &err) == STOKER_OK && !is_end;
        if (came) {
            later = number_of(out, n_out, is_random);
            for (int k = 0; k < n_out; k++) {
                stoker_tensor_release(&out[k]);
            }
        }
        bool is_cut = !came && (err.code == STOKER_ELIMIT || err.code == STOKER_ENOMEM);
        if (is_cut) { // which ends it
            break;
        }
        if (now != later) {
            say(g, i, now, later, err.message);
        }
        CHECK(now == later && !is_end); // an element's error does not end the others
    }
    stoker_iterator_free(it);
    stoker_fn_free(fn);
    stoker_dataset_free(ds);
    return compared;
}

static void calls(const char *op, int number, int rounds)
{
    int compared = 0;
    for (int r = 0; r < rounds; r++) {
        struct given g = {.op = op};
        draw_inputs(&g);
        if (draw_args(&g, number) && g.n_in > 0) {
            compared += compare(&g);
        }
        stoker_args_free(g.args);
    }
    if (compared == 0) {
        printf("%s: never called\n", op);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    const char *about, *op;
    const char *rounds = getenv("STOKER_CALLS"), *seed = getenv("STOKER_SEED");
    rng = (seed ? strtoull(seed, NULL, 10) : 1) << 32;
    for (int i = 0; (op = stoker_op_name(i, &about)); i++) {
        if (!is_left_out(op)) {
            CHECK_RUN(calls, op, i, rounds ? atoi(rounds) : CHECK_ROUNDS(120));
        }
    }
    return check_done("prop.data_op_calls");
}
