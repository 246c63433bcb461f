// SPDX-License-Identifier: Apache-2.0
// Indexed files: what was written is read again, in order and at random; every flipped byte and
// every truncation is noticed, and nothing else is lost with a damaged record.
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "check.h"
#include "engine/graph/dataset.h"
#include "engine/formats/indexed.h"

#define ELEMENTS 37

static char path[64];

// Element i: int64 i; float32 of shape (i % 3, 2); a string of i bytes.
static void write_file(struct stk_pool *pool)
{
    struct stoker_err err;
    struct stk_indexed_writer *w;
    struct stk_specs *specs = stk_specs_new(3);
    struct stk_block b = {0};
    specs->items[0].dtype = STK_DT_I64;
    specs->items[1] = (struct stk_spec){.dtype = STK_DT_F32, .shape = {2, {STK_UNKNOWN, 2}}};
    specs->items[2].dtype = STK_DT_STRING;
    stk_err_init(&err);
    CHECK(stk_indexed_create(&w, path, specs, &err) == STOKER_OK);
    for (int64_t i = 0; i < ELEMENTS; i++) {
        struct stk_shape scalar = {0}, shape = {2, {i % 3, 2}};
        char text[ELEMENTS];
        memset(text, 'a' + (int)(i % 26), sizeof text);
        CHECK(stk_block_reset(&b, 3) && stk_col_uniform(&b.cols[0], pool, STK_DT_I64, &scalar, 1) &&
              stk_col_uniform(&b.cols[1], pool, STK_DT_F32, &shape, 1) &&
              stk_col_uniform(&b.cols[2], pool, STK_DT_STRING, &scalar, 1));
        *(int64_t *)b.cols[0].data = i;
        for (int64_t k = 0; k < 2 * (i % 3); k++) {
            ((float *)b.cols[1].data)[k] = (float)(i * 10 + k);
        }
        CHECK(stk_col_own_bytes(&b.cols[2], pool, text, (size_t)i,
                                (struct stk_bytes *)b.cols[2].data));
        b.n = 1;
        CHECK(stk_indexed_append(w, &b, &err) == STOKER_OK);
    }
    CHECK(stk_indexed_finish(w, true, &err) == STOKER_OK);
    stk_block_free(&b);
    stk_specs_drop(specs);
}

static bool is_element(const struct stk_block *b, int64_t at, int64_t i)
{
    struct stk_shape shape = stk_col_shape(&b->cols[1], at);
    const float *f = stk_col_at(&b->cols[1], at);
    const struct stk_bytes *s = stk_col_at(&b->cols[2], at);
    bool ok = *(int64_t *)stk_col_at(&b->cols[0], at) == i && shape.rank == 2 &&
              shape.dim[0] == i % 3 && s->size == (size_t)i;
    for (int64_t k = 0; ok && k < 2 * (i % 3); k++) {
        ok = f[k] == (float)(i * 10 + k);
    }
    for (size_t k = 0; ok && k < s->size; k++) {
        ok = s->data[k] == 'a' + i % 26;
    }
    return ok;
}

static void reads_again(struct stk_pool *pool)
{
    struct stoker_err err, why;
    struct stk_indexed *x;
    struct stk_block b = {0};
    int64_t index[ELEMENTS], failed;
    stk_err_init(&err);
    CHECK(stk_indexed_open(&x, path, &err) == STOKER_OK);
    CHECK_EQ(stk_indexed_count(x), ELEMENTS);
    for (int64_t i = 0; i < ELEMENTS; i++) {
        index[i] = i * 5 % ELEMENTS;
    }
    CHECK(stk_indexed_read(x, pool, index, ELEMENTS, &b, &failed, &why, &err) == STOKER_OK);
    CHECK_EQ(failed, ELEMENTS);
    stk_indexed_drop(x); // views keep the file
    for (int64_t i = 0; i < b.n; i++) {
        CHECK(is_element(&b, i, index[i]));
    }
    stk_block_free(&b);
}

// A flipped byte costs its record or the whole file, and never goes unnoticed.
static void every_flip_is_noticed(struct stk_pool *pool)
{
    struct stat info;
    CHECK(stat(path, &info) == 0);
    FILE *f = fopen(path, "r+b");
    for (long at = 0; f && at < info.st_size; at += 3) {
        struct stoker_err err, why;
        struct stk_indexed *x;
        int64_t lost = 0;
        fseek(f, at, SEEK_SET);
        int c = fgetc(f);
        fseek(f, at, SEEK_SET);
        fputc(c ^ 0x10, f);
        fflush(f);
        stk_err_init(&err);
        if (stk_indexed_open(&x, path, &err) != STOKER_OK) {
            lost = ELEMENTS;
        } else {
            for (int64_t i = 0; i < stk_indexed_count(x); i++) {
                struct stk_block b = {0};
                int64_t failed;
                CHECK(stk_indexed_read(x, pool, &i, 1, &b, &failed, &why, &err) == STOKER_OK);
                lost += failed == 0;
                CHECK(failed == 0 || b.count != 3 || is_element(&b, 0, i));
                stk_block_free(&b);
            }
            stk_indexed_drop(x);
        }
        CHECK(lost == 1 || lost == ELEMENTS);
        fseek(f, at, SEEK_SET);
        fputc(c, f);
        fflush(f);
    }
    CHECK(f && fclose(f) == 0);
}

static void truncations_are_refused(void)
{
    struct stat info;
    CHECK(stat(path, &info) == 0);
    for (long size = info.st_size - 1; size >= 0; size -= 97) {
        struct stoker_err err;
        struct stk_indexed *x;
        stk_err_init(&err);
        CHECK(truncate(path, size) == 0);
        CHECK(stk_indexed_open(&x, path, &err) == STOKER_EDAMAGE && err.message[0]);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    struct stk_pool *pool = stk_pool_open(1 << 26);
    strcpy(path, "/tmp/stoker-indexed-XXXXXX");
    CHECK(close(mkstemp(path)) == 0);
    write_file(pool);
    CHECK_RUN(reads_again, pool);
    CHECK_RUN(every_flip_is_noticed, pool);
    CHECK_RUN(truncations_are_refused);
    unlink(path);
    stk_pool_drop(pool);
    return check_done("unit.data_indexed");
}
