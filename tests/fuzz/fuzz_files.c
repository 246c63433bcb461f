// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of CSV and tar files and of operations that read strings. The first byte chooses
// which, and how. A file's elements and errors must be as many whether they are made one by one,
// many at once, or passed over; every byte of a string is looked at.

#include "fuzz.h"

#include "engine/run/iter_open.h"
#include "engine/run/pull.h"
#include "engine/run/run_open.h"

static const char *path;
static volatile uint8_t sink;

static void look(const struct stk_bytes *s)
{
    for (size_t i = 0; i < s->size; i++) {
        sink ^= s->data[i];
    }
}

static struct stk_dataset *csv(uint8_t how)
{
    static const int64_t dtypes[] = {STK_DT_STRING, STK_DT_F32, STK_DT_I64}, chosen[] = {0, 2, 3};
    static double value;
    static struct stk_bytes text = {(const uint8_t *)"none", 4};
    struct stk_col defaults[3] = {{.dtype = STK_DT_STRING, .n = 1, .data = (uint8_t *)&text},
                                  {.dtype = STK_DT_F32, .n = 1, .data = (uint8_t *)&value},
                                  {.dtype = STK_DT_I64, .n = 1, .shape = {1, {0}}}};
    struct stk_attrs *a = stk_attrs_new();
    struct stk_dataset *ds;
    if (!a || !stk_attrs_set_text(a, "filenames", path, strlen(path)) ||
        !stk_attrs_set(a,
                       &(struct stk_attr){
                           .name = "dtypes", .kind = STK_ATTR_INTS, .count = 3, .ints = dtypes}) ||
        !stk_attrs_set(a, &(struct stk_attr){.name = "defaults",
                                             .kind = STK_ATTR_COLS,
                                             .count = 3,
                                             .cols = defaults}) ||
        !stk_attrs_set_int(a, "use_quote_delim", how & 1) ||
        !stk_attrs_set_int(a, "header", how >> 1 & 1) ||
        !stk_attrs_set_text(a, "na_value", "NA", 2) ||
        ((how & 4) && !stk_attrs_set(a, &(struct stk_attr){.name = "select_cols",
                                                           .kind = STK_ATTR_INTS,
                                                           .count = 3,
                                                           .ints = chosen})) ||
        stk_dataset_make(&ds, "csv", NULL, 0, a, NULL, NULL)) {
        abort();
    }
    stk_attrs_drop(a);
    return ds;
}

static struct stk_dataset *tar(void)
{
    static const struct stk_bytes suffixes[] = {
        {(const uint8_t *)"__key__", 7}, {(const uint8_t *)"cls", 3}, {(const uint8_t *)"jpg", 3}};
    struct stk_attrs *a = stk_attrs_new();
    struct stk_dataset *ds;
    if (!a || !stk_attrs_set_text(a, "filenames", path, strlen(path)) ||
        !stk_attrs_set(a, &(struct stk_attr){.name = "suffixes",
                                             .kind = STK_ATTR_TEXTS,
                                             .count = 3,
                                             .texts = suffixes}) ||
        stk_dataset_make(&ds, "tar", NULL, 0, a, NULL, NULL)) {
        abort();
    }
    stk_attrs_drop(a);
    return ds;
}

// Elements, and errors in the upper half. want 0: they are passed over.
static uint64_t count(struct stk_dataset *ds, int64_t want)
{
    struct stk_run_options options = {.has_seed = true, .ram_bytes = (size_t)4 << 20};
    struct stk_run *run;
    struct stk_iter *it;
    struct stk_block b = {0};
    struct stoker_err err;
    uint64_t n = 0;
    stk_err_init(&err);
    if (stk_run_open(&run, &options, NULL) || stk_iter_open(&it, ds, run, 0, 0, NULL)) {
        abort();
    }
    for (;;) {
        int64_t done;
        enum stoker_status s =
            want ? stk_iter_next(it, want, &b, &err) : stk_iter_skip(it, 100000, &done, &err);
        done = want ? b.n : done;
        n += (uint64_t)done + ((uint64_t)(s != STOKER_OK) << 32);
        for (int64_t i = 0; want && i < b.n; i++) {
            for (int k = 0; k < b.count; k++) {
                if (b.cols[k].dtype == STK_DT_STRING) {
                    look(stk_col_at(&b.cols[k], i));
                }
            }
        }
        if (s == STOKER_OK && done == 0) {
            break;
        }
    }
    stk_block_free(&b);
    stk_iter_close(it);
    stk_run_drop(run);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    bool is_tar = data[0] & 0x80;
    path = fuzz_put(FUZZ_INPUT, data + 1, size - 1);
    struct stk_dataset *ds = is_tar ? tar() : csv(data[0]);
    uint64_t one = count(ds, 1), many = count(ds, 1000), passed = count(ds, 0);
    // Passed over, rows of CSV whose fields are no good are not told from others.
    uint64_t sum = (one >> 32) + (uint32_t)one;
    if (one != many || sum != (passed >> 32) + (uint32_t)passed) {
        abort();
    }
    stk_dataset_drop(ds);
    return 0;
}

// As it is, behind every interesting first byte.
static void each(uint8_t *bytes, size_t n)
{
    for (int how = 0; how <= 8; how++) {
        bytes[-1] = (uint8_t)(how == 8 ? 0x80 : how);
        LLVMFuzzerTestOneInput(bytes - 1, n + 1);
    }
}

FUZZ_MAIN(each, 0)
