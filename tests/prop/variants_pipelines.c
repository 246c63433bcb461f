// SPDX-License-Identifier: Apache-2.0
// One harness for pipelines: runs each row of the table below as written, on one thread, and
// compares it with the rewritten one, on several threads, and resumed in the middle: the same
// elements bit for bit, errors at the same places. Each existing rewrite (src/engine/rewrites.def)
// must occur in one of them.
//
// A pipeline is text: SOURCE | STAGE name=number ... : FUNCTION | ...
//
// A function is operations separated by ';' and '->' its results. Its arguments are a, b, ...; each
// operation's result is the next letter; #1.5 is a constant of float32, name=1,2 an argument of the
// operation.
#include <ctype.h>
#include <stdbool.h>

#include "check.h"
#include "stoker/data.h"

#define FILES "tests/data/jpeg/"

static const char *const pipelines[] = {
    // Functions.
    "floats | map : identity a; multiply b #2 -> c",
    "floats | map : multiply a a; multiply a a; add b c -> d",
    "floats | map : add a #0.5; multiply b #3; truediv c #7; subtract d #1 -> e",
    "floats | map num_parallel_calls=3 : subtract #1 a; multiply b b -> c b",
    "floats | map : random_uniform shape= dtype=11; add a b; multiply c #2 -> d",
    // Stages.
    "range | skip count=0 | take count=-1 | map : add a a -> b",
    "range | prefetch buffer_size=2 | prefetch buffer_size=4",
    "floats | map : add a #1 -> b | map : multiply a #2 -> b | map : truediv a #3 -> b",
    "floats | map num_parallel_calls=2 : add a #1 -> b | map num_parallel_calls=2 : sqrt a -> b",
    "floats | map : multiply a #3 -> a b | filter : less a b; less a #5 -> d",
    "floats | map : exp a -> a b | filter : greater a #5 -> c | map : add a b -> c",
    "floats | map : random_uniform shape= dtype=11; add a b -> c | map : multiply a #2 -> b",
    "floats | map : add a #1 -> b | shuffle buffer_size=9 | map : multiply a #2 -> b | "
    "map : subtract a #1 -> b | repeat count=3 | batch batch_size=5 | map : reduce_sum a -> b",
    // Images: files that are whole and files that are not.
    "images | map : decode_jpeg a channels=3; crop_to_bounding_box b offset_height=3 "
    "offset_width=5 target_height=9 target_width=11 -> c",
    "images | map : decode_jpeg a channels=3; slice b begin=2,3,0 size=7,9,3; shape b -> c d",
    "images | map : decode_jpeg a channels=3; resize b size=13,17; cast c dtype=11; "
    "multiply d #0.5 -> e",
    "images | map num_parallel_calls=3 : decode_jpeg a channels=1; resize b size=13,17; "
    "random_flip_left_right c; subtract d #127 -> e",
    "images | map : decode_jpeg a channels=3; cast b dtype=11; multiply c #0.5; "
    "random_flip_left_right d; subtract e #127; random_flip_up_down f -> g",
    "images | map : decode_jpeg a channels=3; resize_with_crop_or_pad b target_height=20 "
    "target_width=20; cast c dtype=11; truediv d #255; "
    "random_flip_left_right e; random_brightness f max_delta=0.4; clip_by_value g #0 #1; "
    "random_uniform shape= dtype=11; multiply h i; random_brightness j max_delta=0.1 -> k",
    "images | map : decode_jpeg a channels=3 -> b | map : resize a size=8,8; "
    "flip_left_right b -> c | map : truediv a #255; subtract b #0.5 -> c | ignore_errors | "
    "batch batch_size=3",
};

// ---- from text to a dataset ----

// Of a pipeline that cannot be made nothing else can be said.
static void say(const char *what, enum stoker_status s, const struct stoker_err *err)
{
    CHECK_SAY(s == STOKER_OK, "%s: %s", what, err->message);
    if (s != STOKER_OK) {
        exit(1);
    }
}

static const char *skip_blanks(const char *p)
{
    while (*p == ' ') {
        p++;
    }
    return p;
}

// The next word, and what follows it.
static const char *word(const char *p, char out[64])
{
    size_t n = strcspn(skip_blanks(p), " ");
    snprintf(out, 64, "%.*s", (int)n, skip_blanks(p));
    return skip_blanks(skip_blanks(p) + n);
}

// "name=1,2": a list where it holds a comma or nothing.
static void set_argument(struct stoker_args *args, const char *text)
{
    const char *equals = strchr(text, '=');
    char name[64];
    int64_t values[8];
    size_t n = 0;
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    for (const char *p = equals; *p && p[1] && n < 8; p = strchr(p + 1, ',')) {
        values[n++] = strtoll(p + 1, NULL, 10);
        if (!strchr(p + 1, ',')) {
            break;
        }
    }
    CHECK(n == 1 ? stoker_args_int(args, name, values[0])
                 : stoker_args_ints(args, name, values, n));
}

static int constant(struct stoker_fn *fn, const char *text)
{
    float value = strtof(text, NULL);
    struct stoker_tensor t = {.dtype = STOKER_FLOAT32, .data = &value};
    struct stoker_args *args = stoker_args_new();
    struct stoker_err err;
    int first = -1, count;
    CHECK(stoker_args_tensors(args, "value", &t, 1));
    say("const", stoker_fn_add(fn, "const", NULL, 0, args, NULL, &first, &count, &err), &err);
    stoker_args_free(args);
    return first;
}

// One operation: its result.
static int operation(struct stoker_fn *fn, const char *text, const int *letters)
{
    struct stoker_args *args = stoker_args_new();
    struct stoker_err err;
    char op[64], part[64];
    int in[8], n = 0, first = -1, count;
    text = word(text, op);
    while (*text && n < 8) {
        text = word(text, part);
        if (strchr(part, '=')) {
            set_argument(args, part);
        } else {
            in[n++] = part[0] == '#' ? constant(fn, part + 1) : letters[part[0] - 'a'];
        }
    }
    say(op, stoker_fn_add(fn, op, in, n, args, op, &first, &count, &err), &err);
    stoker_args_free(args);
    return first;
}

// Cuts the text at the first `mark`: what follows it, or NULL.
static char *cut(char *text, const char *mark)
{
    char *at = strstr(text, mark);
    if (at) {
        *at = '\0';
        at += strlen(mark);
    }
    return at;
}

static struct stoker_fn *function(char *text, const struct stoker_specs *specs)
{
    struct stoker_spec in[4];
    struct stoker_fn *fn = NULL;
    struct stoker_err err;
    int letters[26] = {0}, n = stoker_specs_count(specs), results[4], n_results = 0;
    char *out = cut(text, "->");
    for (int i = 0; i < n; i++) {
        stoker_specs_get(specs, i, &in[i]);
        letters[i] = i;
    }
    say("function", stoker_fn_open(in, n, "f", &fn, &err), &err);
    for (char *next; text; text = next) {
        next = cut(text, ";");
        letters[n++] = operation(fn, text, letters);
    }
    for (; out && *out; out++) {
        if (islower((unsigned char)*out)) {
            results[n_results++] = letters[*out - 'a'];
        }
    }
    say("function", stoker_fn_finish(fn, results, n_results, &err), &err);
    return fn;
}

static struct stoker_dataset *stage(struct stoker_dataset *in, char *text)
{
    struct stoker_args *args = stoker_args_new();
    struct stoker_dataset *out = NULL;
    struct stoker_err err;
    char kind[64], part[64];
    char *body = cut(text, " : ");
    const char *rest = word(text, kind);
    while (*rest) {
        rest = word(rest, part);
        set_argument(args, part);
    }
    if (body) {
        struct stoker_fn *fn = function(body, stoker_dataset_specs(in));
        CHECK(stoker_args_fn(args, "fn", fn));
        stoker_fn_free(fn);
    }
    say(kind, stoker_dataset_make(kind, &in, 1, args, kind, &out, &err), &err);
    stoker_args_free(args);
    stoker_dataset_free(in);
    return out;
}

static struct stoker_dataset *slices(const struct stoker_tensor *of)
{
    struct stoker_args *args = stoker_args_new();
    struct stoker_dataset *out = NULL;
    struct stoker_err err;
    CHECK(stoker_args_tensors(args, "components", of, 1));
    say("source", stoker_dataset_make("tensor_slices", NULL, 0, args, NULL, &out, &err), &err);
    stoker_args_free(args);
    return out;
}

static struct stoker_dataset *floats(void)
{
    static float values[64] = {-0.0f, 1e-42f, 3e38f};
    values[3] = (float)strtod("inf", NULL);
    values[4] = (float)strtod("nan", NULL);
    for (int i = 5; i < 64; i++) {
        values[i] = (float)(i * i % 97) / 8 - 3;
    }
    return slices(
        &(struct stoker_tensor){.dtype = STOKER_FLOAT32, .rank = 1, .dim = {64}, .data = values});
}

// Files as they are, without the five bytes that tests/data/jpeg/make.py puts before them, and each
// a second time cut or with bytes changed.
static struct stoker_dataset *images(void)
{
    static const char *const names[] = {"yuv420", "yuv444", "grey",         "progressive",
                                        "yuv422", "flat",   "restarts_rows"};
    enum { COUNT = sizeof names / sizeof names[0] };
    static unsigned char room[2 * COUNT][1 << 16];
    static struct stoker_bytes files[2 * COUNT];
    for (int i = 0; i < COUNT; i++) {
        char path[128];
        snprintf(path, sizeof path, FILES "%s", names[i]);
        FILE *f = fopen(path, "rb");
        size_t n = f && fseek(f, 5, SEEK_SET) == 0 ? fread(room[2 * i], 1, sizeof room[0], f) : 0;
        CHECK(n > 100 && n < sizeof room[0]);
        if (f) {
            fclose(f);
        }
        memcpy(room[2 * i + 1], room[2 * i], n);
        files[2 * i] = (struct stoker_bytes){room[2 * i], n};
        files[2 * i + 1] = (struct stoker_bytes){room[2 * i + 1], i % 2 ? n / 2 : n};
        memset(room[2 * i + 1] + n - 40, 0x55, i % 2 ? 0 : 20);
    }
    return slices(&(struct stoker_tensor){
        .dtype = STOKER_STRING, .rank = 1, .dim = {2 * COUNT}, .data = files});
}

static struct stoker_dataset *source(const char *name)
{
    struct stoker_dataset *out = NULL;
    if (strcmp(name, "floats") == 0) {
        out = floats();
    } else if (strcmp(name, "images") == 0) {
        out = images();
    } else {
        struct stoker_args *args = stoker_args_new();
        struct stoker_err err;
        CHECK(stoker_args_int(args, "stop", 100));
        say(name, stoker_dataset_make(name, NULL, 0, args, NULL, &out, &err), &err);
        stoker_args_free(args);
    }
    return out;
}

static struct stoker_dataset *pipeline(const char *written)
{
    char text[1024], name[64];
    snprintf(text, sizeof text, "%s", written);
    char *rest = cut(text, " | ");
    word(text, name);
    struct stoker_dataset *ds = source(name);
    for (char *next; rest; rest = next) {
        next = cut(rest, " | ");
        ds = stage(ds, rest);
    }
    return ds;
}

// ---- running it ----

// Elements one behind the other, as bytes; where each begins.
struct elements {
    unsigned char *bytes;
    size_t used, capacity, count, starts[1024];
};

static void put(struct elements *e, const void *p, size_t n)
{
    if (e->used + n > e->capacity) {
        e->capacity = 2 * (e->used + n);
        e->bytes = realloc(e->bytes, e->capacity);
        if (!e->bytes) {
            exit(9);
        }
    }
    if (n) {
        memcpy(e->bytes + e->used, p, n);
    }
    e->used += n;
}

static void put_tensor(struct elements *e, const struct stoker_tensor *t)
{
    size_t n = 1;
    for (int i = 0; i < t->rank; i++) {
        n *= (size_t)t->dim[i];
    }
    put(e, &t->dtype, sizeof t->dtype);
    put(e, &t->rank, sizeof t->rank);
    put(e, t->dim, (size_t)t->rank * sizeof t->dim[0]);
    put(e, t->data, n * stoker_dtype_bytes(t->dtype)); // no pipeline above ends in strings
}

// Up to `most` elements; an error is one, of which the code counts.
static void pull(struct stoker_iterator *it, int n, size_t most, struct elements *e)
{
    struct stoker_tensor out[4];
    struct stoker_err err;
    int is_end = 0;
    for (size_t k = 0; k < most && e->count < 1000; k++) {
        enum stoker_status s = stoker_iterator_next(it, out, n, &is_end, &err);
        if (s == STOKER_OK && is_end) {
            break;
        }
        e->starts[e->count++] = e->used;
        put(e, &s, sizeof s);
        for (int i = 0; s == STOKER_OK && i < n; i++) {
            put_tensor(e, &out[i]);
            stoker_tensor_release(&out[i]);
        }
    }
}

static struct elements run(struct stoker_dataset *ds, struct stoker_run_options o, size_t resume_at)
{
    struct elements e = {0};
    struct stoker_iterator *it = NULL, *later = NULL;
    struct stoker_err err;
    int n = stoker_specs_count(stoker_dataset_specs(ds));
    o.has_seed = 1;
    o.seed = 11;
    say("open", stoker_iterator_open(ds, &o, &it, &err), &err);
    if (it && resume_at) {
        char state[512];
        size_t size = sizeof state;
        pull(it, n, resume_at, &e);
        say("state", stoker_iterator_state(it, state, &size, &err), &err);
        say("resume", stoker_iterator_resume(ds, &o, state, size, &later, &err), &err);
        stoker_iterator_free(it);
        it = later;
    }
    if (it) {
        pull(it, n, SIZE_MAX, &e);
    }
    stoker_iterator_free(it);
    return e;
}

static void check_same(const char *written, const char *how, const struct elements *want,
                       const struct elements *have)
{
    bool is_same = want->count == have->count && want->used == have->used &&
                   memcmp(want->bytes, have->bytes, want->used) == 0;
    CHECK(is_same);
    if (!is_same) {
        size_t k = 0;
        while (k + 1 < want->count && k + 1 < have->count &&
               want->starts[k + 1] == have->starts[k + 1] &&
               memcmp(want->bytes + want->starts[k], have->bytes + want->starts[k],
                      want->starts[k + 1] - want->starts[k]) == 0) {
            k++;
        }
        fprintf(stderr, "%s\n  %s: element %zu differs (%zu elements, not %zu)\n", written, how, k,
                have->count, want->count);
    }
}

static void check_variants(const char *written, struct stoker_dataset *ds, int skips_errors)
{
    static const struct {
        const char *how;
        int is_as_written, threads;
        size_t resume_at;
    } variants[] = {{"rewritten", 0, 1, 0},
                    {"rewritten, 3 threads", 0, 3, 0},
                    {"as written, 3 threads", 1, 3, 0},
                    {"rewritten, resumed", 0, 2, 5},
                    {"as written, resumed", 1, 1, 5}};
    struct elements want = run(
        ds,
        (struct stoker_run_options){.is_as_written = 1, .threads = 1, .skips_errors = skips_errors},
        0);
    CHECK_SAY(want.count > 2, "%s: %zu elements", written, want.count);
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        struct elements have =
            run(ds,
                (struct stoker_run_options){.is_as_written = variants[i].is_as_written,
                                            .threads = variants[i].threads,
                                            .skips_errors = skips_errors},
                variants[i].resume_at);
        check_same(written, variants[i].how, &want, &have);
        free(have.bytes);
    }
    free(want.bytes);
}

// ---- which rewrites were made ----

static struct {
    const char *title;
    int made;
} rewrites[] = {
#define FIRST(id, title, why) {title, 0},
#define SECOND(id, title, why) {title, 0},
#define STAGE(id, title, why) {title, 0},
#include "engine/rewrites.def"
};

static void note_rewrites(struct stoker_dataset *ds)
{
    struct stoker_bytes plan = {0};
    struct stoker_err err;
    say("explain", stoker_dataset_explain(ds, NULL, &plan, &err), &err);
    for (size_t i = 0; plan.data && i < sizeof rewrites / sizeof rewrites[0]; i++) {
        char line[128];
        snprintf(line, sizeof line, "* %s:", rewrites[i].title);
        rewrites[i].made += strstr((const char *)plan.data, line) != NULL;
    }
    stoker_bytes_free(&plan);
}

static void every_pipeline(void)
{
    for (size_t i = 0; i < sizeof pipelines / sizeof pipelines[0]; i++) {
        struct stoker_dataset *ds = pipeline(pipelines[i]);
        check_variants(pipelines[i], ds, 0);
        check_variants(pipelines[i], ds, 1);
        stoker_dataset_free(ds);
    }
}

static void every_rewrite(void)
{
    for (size_t i = 0; i < sizeof pipelines / sizeof pipelines[0]; i++) {
        struct stoker_dataset *ds = pipeline(pipelines[i]);
        note_rewrites(ds);
        stoker_dataset_free(ds);
    }
    for (size_t i = 0; i < sizeof rewrites / sizeof rewrites[0]; i++) {
        CHECK_SAY(rewrites[i].made > 0, "no pipeline of the table makes \"%s\"", rewrites[i].title);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(every_pipeline);
    CHECK_RUN(every_rewrite);
    return check_done("prop.variants_pipelines");
}
