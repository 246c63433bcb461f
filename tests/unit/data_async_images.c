// SPDX-License-Identifier: Apache-2.0
// The steady state of a training pipeline over files of different sizes: read, random crop, resize,
// normalize in parallel, batch, prefetch. Once it runs, a batch allocates nothing and touches no
// page for the first time.
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "check.h"
#include "engine/image/image_codec.h"
#include "stoker/data.h"

enum {
    FILES = 24,
    ELEMENTS = 40000,
    BATCH = 16,
    WINDOW = CHECK_ROUNDS(30),
    WINDOWS = 40,
    QUIET = 5
};

static char folder[] = "/tmp/stoker_images_XXXXXX", paths[FILES][64];

// Pictures of a gradient with some grain: files of 10 to 60 KB.
static void write_files(void)
{
    struct stk_image_context *c = stk_image_context_create();
    struct stk_image_jpeg_encoding how;
    uint32_t random = 1;
    stk_image_jpeg_defaults(&how);
    CHECK(c && mkdtemp(folder));
    for (uint32_t k = 0; k < FILES; k++) {
        uint32_t height = 200 + 7 * k, width = 300 - 5 * k;
        struct stoker_err err;
        const uint8_t *bytes;
        size_t size;
        uint8_t *pixels = stk_alloc((size_t)height * width * 3);
        struct stk_image im = {pixels, height, width, 3, STK_IMAGE_U8, (size_t)width * 3};
        for (size_t i = 0; pixels && i < (size_t)height * width * 3; i++) {
            random = random * 1664525 + 1013904223;
            pixels[i] = (uint8_t)(i / 1000 + (random >> 24) % (10 + 4 * k));
        }
        CHECK_EQ(stk_image_encode_jpeg(c, &im, &how, &bytes, &size, &err), STOKER_OK);
        snprintf(paths[k], sizeof paths[k], "%s/%u.jpg", folder, k);
        FILE *f = fopen(paths[k], "wb");
        CHECK(f && fwrite(bytes, 1, size, f) == size && fclose(f) == 0);
        stk_free(pixels);
    }
    stk_image_context_destroy(c);
}

static void remove_files(void)
{
    for (int k = 0; k < FILES; k++) {
        unlink(paths[k]);
    }
    rmdir(folder);
}

static struct stoker_fn *crops(void)
{
    static const int64_t size[] = {96, 96};
    static const double mean[] = {0.485, 0.456, 0.406}, std[] = {0.229, 0.224, 0.225};
    struct stoker_spec path = {.dtype = STOKER_STRING};
    struct stoker_args *a = stoker_args_new();
    struct stoker_fn *fn = NULL;
    int at = 0, count;
    CHECK_EQ(stoker_fn_open(&path, 1, "f", &fn, NULL), STOKER_OK);
    CHECK_EQ(stoker_fn_add(fn, "read_file", &at, 1, NULL, "", &at, &count, NULL), STOKER_OK);
    stoker_args_ints(a, "size", size, 2);
    stoker_args_floats(a, "mean", mean, 3);
    stoker_args_floats(a, "std", std, 3);
    CHECK_EQ(stoker_fn_add(fn, "jpeg_random_resized_crop", &at, 1, a, "", &at, &count, NULL),
             STOKER_OK);
    CHECK_EQ(stoker_fn_finish(fn, &at, 1, NULL), STOKER_OK);
    stoker_args_free(a);
    return fn;
}

// The stage behind `in`, which is used up. args are, too.
static struct stoker_dataset *stage(const char *kind, struct stoker_dataset *in,
                                    struct stoker_args *args)
{
    struct stoker_dataset *ds = NULL;
    struct stoker_err err;
    if (stoker_dataset_make(kind, &in, in != NULL, args, "", &ds, &err) != STOKER_OK) {
        fprintf(stderr, "%s: %s\n", kind, err.message);
    }
    CHECK(ds);
    stoker_args_free(args);
    stoker_dataset_free(in);
    return ds;
}

static struct stoker_dataset *pipeline(int is_ordered)
{
    struct stoker_bytes *names = stk_alloc_array(ELEMENTS, sizeof names[0]);
    struct stoker_tensor t = {.dtype = STOKER_STRING, .rank = 1, .dim = {ELEMENTS}};
    struct stoker_fn *fn = crops();
    for (int i = 0; names && i < ELEMENTS; i++) {
        const char *path = paths[(i * 7 + i / FILES) % FILES];
        names[i] = (struct stoker_bytes){(const unsigned char *)path, strlen(path)};
    }
    t.data = names;
    struct stoker_args *slices = stoker_args_new(), *map = stoker_args_new(),
                       *batch = stoker_args_new(), *ahead = stoker_args_new();
    stoker_args_tensors(slices, "components", &t, 1);
    stoker_args_fn(map, "fn", fn);
    stoker_args_int(map, "num_parallel_calls", 2);
    stoker_args_int(map, "deterministic", is_ordered);
    stoker_args_int(batch, "batch_size", BATCH);
    stoker_args_int(ahead, "buffer_size", 4);
    struct stoker_dataset *ds = stage("tensor_slices", NULL, slices);
    ds = stage("prefetch", stage("batch", stage("map", ds, map), batch), ahead);
    stoker_fn_free(fn);
    stk_free(names);
    return ds;
}

static uint64_t page_faults(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 0; // they keep and color memory of their own
#else
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (uint64_t)u.ru_minflt;
#endif
}

static void windows_without_allocation(int is_ordered)
{
    struct stoker_run_options options = {.has_seed = 1, .seed = 1};
    struct stoker_iterator *it = NULL;
    struct stoker_err err;
    struct stoker_dataset *ds = pipeline(is_ordered);
    CHECK_EQ(stoker_iterator_open(ds, &options, &it, &err), STOKER_OK);
    int quiet = 0;
    for (int w = 0; w < WINDOWS && quiet < QUIET; w++) {
        uint64_t before = stk_alloc_count() + page_faults();
        for (int i = 0; i < WINDOW; i++) {
            struct stoker_tensor t;
            int is_end = 1;
            CHECK(stoker_iterator_next(it, &t, 1, &is_end, &err) == STOKER_OK && !is_end);
            CHECK(t.rank == 4 && t.dim[0] == BATCH);
            stoker_tensor_release(&t);
        }
        quiet = stk_alloc_count() + page_faults() == before ? quiet + 1 : 0;
    }
    CHECK_EQ(quiet, QUIET); // so many stretches without, one behind the other
    stoker_iterator_free(it);
    stoker_dataset_free(ds);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    write_files();
    CHECK_RUN(windows_without_allocation, true);
    CHECK_RUN(windows_without_allocation, false);
    remove_files();
    return check_done("unit.data_async_images");
}
