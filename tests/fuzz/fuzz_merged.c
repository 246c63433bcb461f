// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of partial results. The first byte chooses a profile, made of choices or one of
// the seeds and examples, whose partial is written; then numbers of its item are replaced, removed
// and put in by choices, and the item is packed again with the checksum that it needs. Or the item
// is the rest of the input as it is.
//
// Such a partial is refused with an error that says something, or it leads to a report, a
// comparison and a partial again: JSON is JSON, and text holds nothing that a terminal obeys. An
// item that is taken is the same when it is written and read once more.
#include "fuzz_output.h"
#include "fuzz_profile.h"

#include "answers/partial/partial.h"
#include "base/alloc.h"
#include "base/gzip_write.h"
#include "base/varint.h"
#include "stoker/diff.h"
#include "stoker/partial.h"
#include "stoker/version.h"

enum { PROFILES = 8, CHOICES = 900, CHANGES_MAX = 12, FROM_FILE = 240, PLAIN = 255 };

// Jobs of all frameworks, with what only some formats have: stages of tf.data, compiled programs.
static const char *const files[] = {
    "tests/fuzz/seeds/xplane/tfdata.xplane.pb",  "tests/fuzz/seeds/xplane/programs.xplane.pb",
    "tests/fuzz/seeds/xplane/gpu.xplane.pb",     "tests/fuzz/seeds/xplane/host.xplane.pb",
    "tests/fuzz/seeds/chrome/kineto.json",       "tests/fuzz/seeds/chrome/tensorflow.json",
    "tests/fuzz/seeds/perfetto/torch.pftrace",   "tests/fuzz/seeds/nsys/small.sqlite",
    "tests/fuzz/seeds/stk/pipeline.stk",         "examples/profiles/gpu_jax_input.xplane.pb.gz",
    "examples/profiles/keras_input.xplane.pb.gz"};
enum { FILES = sizeof files / sizeof files[0] };

static struct stoker_why_options options;

// ---- an item ----

static int keep(void *arg, const char *bytes, size_t n)
{
    void *to = n ? stk_vec_push_n(arg, n) : NULL;
    FUZZ_REQUIRE(to || n == 0);
    if (to) {
        memcpy(to, bytes, n);
    }
    return 0;
}

// The only item of the file, and its bytes before packing.
static void take_item(const char *path, struct stk_arena *arena, struct stk_vec *whole)
{
    struct stk_partial_file *f;
    struct stk_stream *rest;
    struct stk_partial_packed packed;
    struct stk_partial_item item;
    struct stoker_err err;
    stk_err_init(&err);
    FUZZ_REQUIRE(stk_partial_open(path, stoker_version(), &f, &rest, &err) == STOKER_OK && f);
    FUZZ_REQUIRE(stk_partial_next(f, arena, &packed, &err) == STOKER_OK && packed.size > 0);
    FUZZ_REQUIRE(stk_partial_unpack(&packed, arena, &item, &err) == STOKER_OK);
    FUZZ_REQUIRE(stk_partial_encode(&item, whole));
    stk_partial_close(f);
}

// A profile made of the choices that a number stands for.
static const char *profile_of(uint32_t number)
{
    static uint8_t choices[CHOICES];
    uint64_t seed = number + 1;
    for (size_t i = 0; i < CHOICES; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        choices[i] = (uint8_t)(seed >> 33);
    }
    struct fuzz_choices c = {choices, CHOICES};
    return make_profile(&c);
}

// The item of a profile: those made of choices, then the files. Kept.
static const struct stk_vec *profile_item(uint32_t number)
{
    static struct stk_vec items[PROFILES + FILES];
    struct stk_vec *item = &items[number], file;
    if (item->count > 0) {
        return item;
    }
    struct stk_arena arena;
    struct stoker_err err;
    char named[4096];
    snprintf(named, sizeof named, "%s/%s", FUZZ_SOURCES,
             number < PROFILES ? "" : files[number - PROFILES]);
    const char *path = number < PROFILES ? profile_of(number) : named;
    stk_vec_init(&file, 1, FUZZ_OUTPUT_MAX);
    stk_arena_init(&arena, 0);
    FUZZ_REQUIRE(stoker_partial(&path, 1, &options, keep, &file, &err) == STOKER_OK);
    take_item(fuzz_put(FUZZ_OUTPUT, file.items, file.count), &arena, item);
    stk_arena_deinit(&arena);
    stk_vec_deinit(&file);
    return item;
}

// ---- its changes ----

// Where the number begins that the byte at `at` is of, and what follows it.
static size_t number_at(const uint8_t *bytes, size_t n, size_t *at)
{
    size_t end = *at;
    while (*at > 0 && bytes[*at - 1] > 127) {
        (*at)--;
    }
    while (end < n && bytes[end] > 127) {
        end++;
    }
    return end < n ? end + 1 : n;
}

static size_t put_value(struct fuzz_choices *c, uint8_t *to)
{
    uint64_t value = (uint64_t)fuzz_number(c);
    double real = (double)(int64_t)value;
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return (size_t)(stk_varint_put(to, fuzz_choose(c, 4) == 3 ? __builtin_bswap64(bits) : value) -
                    to);
}

// One number is another, goes, or is there twice.
static size_t change(struct fuzz_choices *c, uint8_t *bytes, size_t n)
{
    uint8_t value[STK_VARINT_MAX];
    uint32_t place = fuzz_choose(c, 65536);
    size_t at = (size_t)place * n / 65536, end = number_at(bytes, n, &at), size = 0;
    uint32_t how = fuzz_choose(c, 8);
    if (how == 1) {
        size = end - at < sizeof value ? end - at : sizeof value;
        memcpy(value, bytes + at, size);
        end = at;
    } else if (how != 0) {
        size = put_value(c, value);
    }
    memmove(bytes + at + size, bytes + end, n - end);
    memcpy(bytes + at, value, size);
    return n - (end - at) + size;
}

static size_t changed_item(struct fuzz_choices *c, bool is_from_file, uint8_t **bytes)
{
    const struct stk_vec *item =
        profile_item(is_from_file ? PROFILES + fuzz_choose(c, FILES) : fuzz_choose(c, PROFILES));
    size_t n = item->count;
    *bytes = malloc(n + CHANGES_MAX * STK_VARINT_MAX);
    FUZZ_REQUIRE(*bytes);
    memcpy(*bytes, item->items, n);
    for (uint32_t left = fuzz_choose(c, CHANGES_MAX); left > 0 && n > 0; left--) {
        n = change(c, *bytes, n);
    }
    return n;
}

// ---- what is made of it ----

static const char *put_file(const uint8_t *bytes, size_t n)
{
    struct stk_vec packed, file;
    struct stk_sink sink;
    struct stoker_err err;
    stk_vec_init(&packed, 1, FUZZ_OUTPUT_MAX);
    stk_vec_init(&file, 1, FUZZ_OUTPUT_MAX);
    struct stk_gzip_write *gzip = stk_gzip_write_open(STK_GZIP_FAST, keep, &packed);
    FUZZ_REQUIRE(gzip && stk_gzip_write_bytes(gzip, (const char *)bytes, n) == 0 &&
                 stk_gzip_write_finish(gzip) == 0);
    stk_gzip_write_close(gzip);
    const struct stk_partial_packed item = {0, "a", packed.items, (uint32_t)packed.count,
                                            (uint32_t)n};
    stk_sink_init(&sink, keep, &file);
    stk_partial_begin(&sink, stoker_version());
    stk_partial_put(&sink, &item);
    stk_partial_end(&sink);
    FUZZ_REQUIRE(stk_sink_finish(&sink, &err) == STOKER_OK);
    const char *path = fuzz_put(FUZZ_INPUT, file.items, file.count);
    stk_vec_deinit(&packed);
    stk_vec_deinit(&file);
    return path;
}

static void comes_back(const uint8_t *bytes, size_t n)
{
    struct stk_partial_item item, again;
    struct stk_arena arena;
    struct stk_vec once, twice;
    stk_arena_init(&arena, 0);
    if (stk_partial_decode(bytes, n, &arena, &item)) {
        FUZZ_REQUIRE(stk_partial_encode(&item, &once));
        FUZZ_REQUIRE(stk_partial_decode(once.items, once.count, &arena, &again));
        FUZZ_REQUIRE(stk_partial_encode(&again, &twice) && once.count == twice.count &&
                     memcmp(once.items, twice.items, once.count) == 0);
        stk_vec_deinit(&once);
        stk_vec_deinit(&twice);
    }
    stk_arena_deinit(&arena);
}

static void reports(const char *path, bool is_json)
{
    struct stoker_result *result = NULL;
    struct stoker_err err;
    if (stoker_why(&path, 1, &options, &result, &err) != STOKER_OK) {
        FUZZ_REQUIRE(err.message[0]);
        return;
    }
    fuzz_output.n = 0;
    FUZZ_REQUIRE(stoker_result_write(result, is_json ? "json" : "text", NULL, fuzz_take, NULL,
                                     &err) == STOKER_OK);
    if (is_json) {
        fuzz_check_json();
    } else {
        fuzz_check_text(false, false, 0);
    }
    stoker_result_free(result);
}

static void compares(const char *path)
{
    struct stoker_diff *diff = NULL;
    struct stoker_err err;
    if (stoker_diff(&path, 1, &path, 1, NULL, &diff, &err) != STOKER_OK) {
        FUZZ_REQUIRE(err.message[0]);
        return;
    }
    fuzz_output.n = 0;
    FUZZ_REQUIRE(stoker_diff_write(diff, "json", NULL, fuzz_take, NULL, &err) == STOKER_OK);
    fuzz_check_json();
    stoker_diff_free(diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_choices c = {data, size};
    uint8_t *made = NULL;
    stoker_why_options_default(&options);
    options.threads = 1;
    uint8_t how = fuzz_byte(&c);
    size_t n = how == PLAIN ? c.left : changed_item(&c, how >= FROM_FILE, &made);
    const uint8_t *bytes = how == PLAIN ? c.p : made;
    comes_back(bytes, n);
    const char *path = put_file(bytes, n);
    reports(path, how % 2 == 0);
    compares(path);
    free(made);
    return 0;
}

FUZZ_MAIN(fuzz_once, 6000)
