// SPDX-License-Identifier: Apache-2.0
// Sources that read files: their elements from files written here, complete, truncated and damaged.
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "check.h"
#include "engine/formats/record.h"
#include "engine/run/iter_open.h"
#include "engine/run/pull.h"
#include "engine/run/run_open.h"

static char path[64];

static void put_file(const char *bytes, size_t n)
{
    strcpy(path, "/tmp/stoker-sources-XXXXXX");
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && close(fd) == 0);
}

static struct stk_iter *open_kind(const char *kind, const char *name, const char *arg,
                                  int64_t value, const char *codec)
{
    struct stoker_err err;
    struct stk_dataset *ds;
    struct stk_run *run;
    struct stk_iter *it = NULL;
    struct stk_attrs *a = stk_attrs_new();
    stk_err_init(&err);
    CHECK(stk_attrs_set_text(a, "filenames", name, strlen(name)));
    CHECK(stk_attrs_set_text(a, "compression_type", codec, strlen(codec)));
    CHECK(!arg || stk_attrs_set_int(a, arg, value));
    CHECK(stk_dataset_make(&ds, kind, NULL, 0, a, NULL, &err) == STOKER_OK);
    CHECK(stk_run_open(&run, NULL, &err) == STOKER_OK);
    CHECK(stk_iter_open(&it, ds, run, 0, 0, &err) == STOKER_OK);
    stk_run_drop(run);
    stk_dataset_drop(ds);
    stk_attrs_drop(a);
    return it;
}

// Elements as text: "ab,c,!EDAMAGE,d"; pulled `want` at a time. Ends after a hundred items.
static void drain(struct stk_iter *it, int64_t want, char *text, size_t capacity)
{
    struct stk_block b = {0};
    struct stoker_err err;
    size_t used = 0;
    text[0] = 0;
    for (int items = 0; items < 100; items++) {
        stk_err_init(&err);
        enum stoker_status s = stk_iter_next(it, want, &b, &err);
        if (s != STOKER_OK) {
            used += (size_t)snprintf(text + used, capacity - used, "!%d,", (int)s);
            continue;
        }
        if (b.n == 0) {
            break;
        }
        for (int64_t i = 0; i < b.n; i++) {
            const struct stk_bytes *v = stk_col_at(&b.cols[0], i);
            used += (size_t)snprintf(text + used, capacity - used, "%.*s,", (int)v->size,
                                     (const char *)v->data);
        }
    }
    stk_block_free(&b);
    stk_iter_close(it);
}

static void lines(const char *bytes, const char *want)
{
    char text[1000];
    put_file(bytes, strlen(bytes));
    for (int64_t n = 1; n < 5; n++) {
        drain(open_kind("text_lines", path, NULL, 0, ""), n, text, sizeof text);
        CHECK_STR(text, want);
    }
    unlink(path);
}

static void fixed(const char *bytes, int64_t record, const char *want)
{
    char text[1000];
    put_file(bytes, strlen(bytes));
    drain(open_kind("fixed_records", path, "record_bytes", record, ""), 2, text, sizeof text);
    CHECK_STR(text, want);
    unlink(path);
}

// Ten records "r0" to "r9"; byte `at` is flipped (-1: none), the file cut to `size` (0: whole).
static void records(enum stk_record_codec codec, const char *word, long at, long size,
                    const char *want)
{
    struct stoker_err err;
    struct stk_record_writer *w;
    char text[1000];
    stk_err_init(&err);
    put_file("", 0);
    CHECK(stk_record_create(&w, path, codec, 0, &err) == STOKER_OK);
    for (int i = 0; i < 10; i++) {
        char r[8];
        snprintf(r, sizeof r, "r%d", i);
        CHECK(stk_record_write(w, r, 2, &err) == STOKER_OK);
    }
    CHECK(stk_record_finish(w, &err) == STOKER_OK);
    if (at >= 0) {
        FILE *f = fopen(path, "r+b");
        CHECK(f && fseek(f, at, SEEK_SET) == 0);
        int c = fgetc(f);
        CHECK(fseek(f, at, SEEK_SET) == 0 && fputc(c ^ 1, f) != EOF && fclose(f) == 0);
    }
    CHECK(size == 0 || truncate(path, size) == 0);
    for (int64_t n = 1; n < 20; n += 6) {
        drain(open_kind("tfrecord", path, NULL, 0, word), n, text, sizeof text);
        CHECK_STR(text, want);
    }
    unlink(path);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    char text[100];
    CHECK_RUN(lines, "a\nbc\r\n\nd", "a,bc,,d,");
    CHECK_RUN(lines, "", "");
    CHECK_RUN(lines, "\n", ",");
    CHECK_RUN(lines, "x\ry\n", "xy,");
    CHECK_RUN(fixed, "aabbcc", 2, "aa,bb,cc,");
    CHECK_RUN(fixed, "aabbc", 2, "!2,");
    CHECK_RUN(fixed, "", 2, "");
    CHECK_RUN(records, STK_RECORD_PLAIN, "", -1, 0, "r0,r1,r2,r3,r4,r5,r6,r7,r8,r9,");
    CHECK_RUN(records, STK_RECORD_GZIP, "GZIP", -1, 0, "r0,r1,r2,r3,r4,r5,r6,r7,r8,r9,");
    CHECK_RUN(records, STK_RECORD_ZLIB, "ZLIB", -1, 0, "r0,r1,r2,r3,r4,r5,r6,r7,r8,r9,");
    CHECK_RUN(records, STK_RECORD_PLAIN, "", 3 * 18 + 12, 0, "r0,r1,r2,!10,r4,r5,r6,r7,r8,r9,");
    CHECK_RUN(records, STK_RECORD_PLAIN, "", 0, 0, "!10,r1,r2,r3,r4,r5,r6,r7,r8,r9,");
    CHECK_RUN(records, STK_RECORD_PLAIN, "", -1, 2 * 18 + 5, "r0,r1,!10,");
    CHECK_RUN(drain, open_kind("tfrecord", "/no/such/file", NULL, 0, ""), 1, text, sizeof text);
    CHECK_STR(text, "!9,");
    CHECK_RUN(drain, open_kind("text_lines", "/", NULL, 0, ""), 1, text, sizeof text);
    CHECK_STR(text, "!3,");
    return check_done("unit.data_sources");
}
