// SPDX-License-Identifier: Apache-2.0
// TFRecord files written by TensorFlow (tests/data/records), and by our writer: read whole, with
// blocks of all sizes, with views held, cut at every byte, with every bit flipped, with hostile
// lengths, and with allocations that fail.
#include <fcntl.h>

#include "base/alloc.h"
#include "base/crc32c.h"
#include "record_run.h"

static struct record_all all, want;

static void same_as_wanted(void)
{
    CHECK_EQ(all.status, STOKER_OK);
    CHECK_EQ(all.count, want.count);
    for (size_t i = 0; i < all.count && i < want.count; i++) {
        CHECK_EQ(all.items[i].size, want.items[i].size);
        CHECK_EQ(all.items[i].offset, want.items[i].offset);
        CHECK_EQ(all.items[i].number, i);
        CHECK(memcmp(all.items[i].data, want.items[i].data, want.items[i].size) == 0);
    }
}

static void lengths(void)
{
    static const size_t sizes[] = {0, 1, 7, 8, 9, 15, 16, 17, 300, 1000};
    record_read_all(&all, "tests/data/records/lengths.tfrecord", NULL, 64);
    CHECK_EQ(all.status, STOKER_OK);
    CHECK_EQ(all.count, 10);
    for (size_t i = 0; i < all.count; i++) {
        CHECK_EQ(all.items[i].size, sizes[i]);
        for (size_t k = 0; k < all.items[i].size; k++) {
            CHECK_EQ(all.items[i].data[k], k % 251);
        }
    }
    record_drop_all(&all);
    record_read_all(&all, "tests/data/records/empty.tfrecord", NULL, 64);
    CHECK_EQ(all.status, STOKER_OK);
    CHECK_EQ(all.count, 0);
}

static void codecs_and_blocks(void)
{
    record_read_all(&want, "tests/data/records/plain.tfrecord", NULL, 64);
    CHECK_EQ(want.count, 60);
    static const char *const names[] = {"plain", "gzip", "zlib"};
    for (int codec = 0; codec < 3; codec++) {
        char path[128];
        snprintf(path, sizeof path, "tests/data/records/%s.tfrecord", names[codec]);
        for (size_t block = 64; block < 9000; block += block < 400 ? 1 : 997) {
            struct stk_record_opts o = {.codec = (enum stk_record_codec)codec,
                                        .block_bytes = block,
                                        .skip_data_crc = block % 2};
            record_read_all(&all, path, &o, 1 + block % 64);
            same_as_wanted();
            record_drop_all(&all);
        }
    }
}

static void write_back(void)
{
    struct stoker_err err;
    for (int codec = 0; codec < 3; codec++) {
        struct stk_record_writer *w;
        CHECK_EQ(stk_record_create(&w, record_scratch(), (enum stk_record_codec)codec, codec, &err),
                 STOKER_OK);
        for (size_t i = 0; i < want.count; i++) {
            CHECK_EQ(stk_record_write(w, want.items[i].data, want.items[i].size, &err), STOKER_OK);
        }
        CHECK_EQ(stk_record_finish(w, &err), STOKER_OK);
        struct stk_record_opts o = {.codec = (enum stk_record_codec)codec};
        record_read_all(&all, record_scratch(), &o, 64);
        same_as_wanted();
        record_drop_all(&all);
        if (codec != 0) {
            continue;
        }
        size_t n, m;
        uint8_t *ours = record_get(record_scratch(), &n);
        uint8_t *theirs = record_get("tests/data/records/plain.tfrecord", &m);
        CHECK(n == m && memcmp(ours, theirs, n) == 0);
        free(ours);
        free(theirs);
    }
    struct stk_record_writer *w;
    CHECK_EQ(stk_record_create(&w, "/no/such/folder/x", STK_RECORD_PLAIN, 0, &err),
             STOKER_EMISSING);
    CHECK_EQ(stk_record_create(&w, record_scratch(), STK_RECORD_GZIP, 10, &err), STOKER_EINVAL);
    CHECK_EQ(stk_record_create(&w, "/dev/full", STK_RECORD_PLAIN, 0, &err), STOKER_OK);
    CHECK_EQ(stk_record_write(w, "x", 1, &err), STOKER_OK);
    CHECK_EQ(stk_record_finish(w, &err), STOKER_ELIMIT);
}

// Large records among small ones: longer than blocks, and than the writer's buffer.
static void large(void)
{
    struct stoker_err err;
    size_t size = 700000;
    uint8_t *p = malloc(size);
    for (size_t i = 0; i < size; i++) {
        p[i] = (uint8_t)(i * 2654435761u >> 24);
    }
    for (int codec = 0; codec < 3; codec++) {
        struct stk_record_writer *w;
        CHECK_EQ(stk_record_create(&w, record_scratch(), (enum stk_record_codec)codec, 1, &err),
                 STOKER_OK);
        for (size_t i = 0; i < 9; i++) {
            CHECK_EQ(stk_record_write(w, p, i % 3 ? size - i : 10, &err), STOKER_OK);
        }
        CHECK_EQ(stk_record_finish(w, &err), STOKER_OK);
        for (size_t block = 128; block <= (size_t)1 << 20; block *= 8) {
            struct stk_record_opts o = {.codec = (enum stk_record_codec)codec,
                                        .block_bytes = block};
            record_read_all(&all, record_scratch(), &o, 64);
            CHECK_EQ(all.status, STOKER_OK);
            CHECK_EQ(all.count, 9);
            for (size_t i = 0; i < all.count; i++) {
                CHECK_EQ(all.items[i].size, i % 3 ? size - i : 10);
                CHECK(memcmp(all.items[i].data, p, all.items[i].size) == 0);
            }
            record_drop_all(&all);
        }
        struct stk_record_opts capped = {.codec = (enum stk_record_codec)codec,
                                         .max_record_bytes = 1000};
        record_read_all(&all, record_scratch(), &capped, 64);
        CHECK_EQ(all.status, STOKER_EINPUT);
        CHECK_EQ(all.count, 1);
        record_drop_all(&all);
        capped.on_damage = STK_RECORD_SKIP;
        record_read_all(&all, record_scratch(), &capped, 64);
        CHECK_EQ(all.status, STOKER_OK);
        CHECK_EQ(all.count, 3);
        CHECK_EQ(all.stats.lost, 6);
        record_drop_all(&all);
    }
    free(p);
}

// Records of many sizes about those of the blocks, so that blocks end everywhere in them: views of
// a whole file, all held, hold what was written.
static void cut_records(void)
{
    enum { COUNT = 60, SIZE_MAX_HERE = 80000 };
    static struct stk_record views[COUNT];
    static struct stk_buf *held[COUNT];
    uint8_t *p = malloc(SIZE_MAX_HERE + COUNT);
    for (size_t i = 0; i < SIZE_MAX_HERE + COUNT; i++) {
        p[i] = (uint8_t)(i * 7 + i / 251);
    }
    struct stk_record_writer *w;
    struct stoker_err err;
    CHECK_EQ(stk_record_create(&w, record_scratch(), STK_RECORD_PLAIN, 0, &err), STOKER_OK);
    for (size_t i = 0; i < COUNT; i++) {
        CHECK_EQ(stk_record_write(w, p + i, i * 12347 % SIZE_MAX_HERE, &err), STOKER_OK);
    }
    CHECK_EQ(stk_record_finish(w, &err), STOKER_OK);
    for (size_t block = 9000; block < 400000; block += block / 3) {
        struct stk_record_opts o = {.block_bytes = block,
                                    .large_block_bytes = block % 2 ? 0 : 2 * block + 1};
        struct stk_record_reader *r;
        size_t count = 0, blocks = 0, n = 1;
        CHECK_EQ(stk_record_open(&r, record_scratch(), &o, &err), STOKER_OK);
        while (n > 0 && count < COUNT) {
            CHECK_EQ(stk_record_read(r, views + count, COUNT - count, &n, &held[blocks], &err),
                     STOKER_OK);
            count += n;
            blocks += n > 0;
        }
        stk_record_close(r);
        CHECK_EQ(count, COUNT);
        for (size_t i = 0; i < count; i++) {
            CHECK_EQ(views[i].size, i * 12347 % SIZE_MAX_HERE);
            CHECK(memcmp(views[i].data, p + i, views[i].size) == 0);
        }
        for (size_t i = 0; i < blocks; i++) {
            stk_buf_drop(held[i]);
        }
    }
    free(p);
}

// Views stay good while their blocks are held, even past the reader; the pool is a limit.
static void held_blocks(void)
{
    struct stk_pool *pool =
        stk_pool_open(((size_t)192 << 10) + 3 * 256); // of the stream, of blocks
    struct stk_record_opts o = {.block_bytes = 256, .pool = pool};
    struct stk_record_reader *r;
    struct stoker_err err;
    struct stk_record views[3][64];
    struct stk_buf *blocks[3], *none;
    size_t n[3], got;
    CHECK_EQ(stk_record_open(&r, "tests/data/records/plain.tfrecord", &o, &err), STOKER_OK);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(stk_record_read(r, views[i], 64, &n[i], &blocks[i], &err), STOKER_OK);
    }
    CHECK_EQ(stk_record_read(r, views[0], 64, &got, &none, &err), STOKER_ELIMIT);
    CHECK(none == NULL && got == 0);
    stk_buf_drop(blocks[1]);
    size_t first = n[0] + n[1] + n[2];
    CHECK_EQ(stk_record_read(r, views[1], 1, &got, &blocks[1], &err), STOKER_OK);
    CHECK_EQ(got, 1);
    CHECK_EQ(views[1][0].number, first);
    stk_record_close(r);
    CHECK(memcmp(views[2][0].data, want.items[n[0] + n[1]].data, views[2][0].size) == 0);
    CHECK(memcmp(views[1][0].data, want.items[first].data, views[1][0].size) == 0);
    for (int i = 0; i < 3; i++) {
        stk_buf_drop(blocks[i]);
    }
    CHECK_EQ(stk_pool_stats_of(pool).in_use_bytes, 0);
    stk_pool_drop(pool);
}

// Which record a byte of the file belongs to.
static size_t owner(size_t byte)
{
    size_t i = 0;
    while (i + 1 < want.count && want.items[i + 1].offset <= byte) {
        i++;
    }
    return i;
}

static void cut_everywhere(const uint8_t *file, size_t size)
{
    for (size_t n = 0; n < size; n++) {
        record_put(file, n);
        size_t whole = owner(n);
        bool at_end = want.items[whole].offset == n;
        struct stk_record_opts o = {.block_bytes = n % 3 ? 0 : 100};
        record_read_all(&all, record_scratch(), &o, 64);
        CHECK_EQ(all.status, at_end ? STOKER_OK : STOKER_EINPUT);
        CHECK_EQ(all.count, whole);
        if (!at_end) {
            CHECK_EQ(all.err.offset, want.items[whole].offset);
        }
        record_drop_all(&all);
        o.on_damage = STK_RECORD_SKIP;
        record_read_all(&all, record_scratch(), &o, 64);
        CHECK_EQ(all.status, STOKER_OK);
        CHECK_EQ(all.count, whole);
        CHECK_EQ(all.stats.lost, !at_end);
        record_drop_all(&all);
    }
}

static void flip_everywhere(uint8_t *file, size_t size)
{
    size_t wrong = 0;
    for (size_t bit = 0; bit < 8 * size; bit++) {
        file[bit / 8] ^= (uint8_t)(1 << bit % 8);
        record_put(file, size);
        file[bit / 8] ^= (uint8_t)(1 << bit % 8);
        size_t lost = owner(bit / 8), k = 0;
        struct stk_record_opts o = {.on_damage = STK_RECORD_SKIP, .block_bytes = bit % 5 ? 0 : 90};
        record_read_all(&all, record_scratch(), &o, 64);
        bool good = all.status == STOKER_OK && all.count == want.count - 1 && all.stats.lost == 1;
        for (size_t i = 0; i < want.count && good; i++) {
            if (i == lost) {
                continue;
            }
            good = all.items[k].offset == want.items[i].offset &&
                   all.items[k].size == want.items[i].size &&
                   memcmp(all.items[k].data, want.items[i].data, want.items[i].size) == 0;
            k++;
        }
        size_t passed =
            (lost + 1 < want.count ? want.items[lost + 1].offset : size) - want.items[lost].offset;
        good = good && all.stats.lost_bytes == passed;
        wrong += !good;
        record_drop_all(&all);
        if (bit % 7 == 0) { // and stopping, which names the place
            o.on_damage = STK_RECORD_STOP;
            record_read_all(&all, record_scratch(), &o, 64);
            CHECK_EQ(all.status, STOKER_EINPUT);
            CHECK_EQ(all.count, lost);
            CHECK_EQ(all.err.offset, want.items[lost].offset);
            record_drop_all(&all);
        }
    }
    CHECK_EQ(wrong, 0);
}

static void damage(void)
{
    size_t size;
    uint8_t *file = record_get("tests/data/records/plain.tfrecord", &size);
    size = want.items[12].offset; // twelve records are enough
    want.count = 13;              // so that the end of the file has an owner
    cut_everywhere(file, size);
    want.count = 12;
    free(want.items[12].data);
    flip_everywhere(file, size);
    free(file);
}

// Compressed files, cut and flipped: the output is a prefix of the original, and the damage is
// reported.
static void compressed_damage(void)
{
    static const char *const names[] = {"", "gzip", "zlib"};
    for (int codec = 1; codec < 3; codec++) {
        char path[128];
        snprintf(path, sizeof path, "tests/data/records/%s.tfrecord", names[codec]);
        size_t size;
        uint8_t *file = record_get(path, &size);
        for (size_t n = 0; n < 2 * size; n++) {
            bool flip = n >= size;
            if (flip) {
                file[n - size] ^= 0x10;
            }
            record_put(file, flip ? size : n);
            if (flip) {
                file[n - size] ^= 0x10;
            }
            for (int policy = 0; policy < 2; policy++) {
                struct stk_record_opts o = {.codec = (enum stk_record_codec)codec,
                                            .on_damage = (enum stk_record_policy)policy};
                record_read_all(&all, record_scratch(), &o, 64);
                // Some bits mean nothing (gzip's time stamp), or the same bytes from elsewhere.
                bool harmless = flip && all.count == want.count;
                for (size_t i = 0; i < want.count && harmless; i++) {
                    harmless = all.items[i].size == want.items[i].size &&
                               !memcmp(all.items[i].data, want.items[i].data, all.items[i].size);
                }
                if (!flip && n == 0) { // a file of no bytes has no records
                    harmless = all.status == STOKER_OK && all.count == 0;
                }
                CHECK(harmless || (policy ? all.stats.lost > 0 : all.status == STOKER_EINPUT));
                record_drop_all(&all);
            }
        }
        struct stk_record_opts plain = {.codec = STK_RECORD_PLAIN};
        record_read_all(&all, path, &plain, 64);
        CHECK_EQ(all.status, STOKER_EINPUT);
        CHECK(strstr(all.err.message, codec == 1 ? "GZIP" : "ZLIB") != NULL);
        file = realloc(file, size + 1);
        file[size] = 'x';
        record_put(file, size + 1);
        struct stk_record_opts o = {.codec = (enum stk_record_codec)codec};
        record_read_all(&all, record_scratch(), &o, 64);
        CHECK_EQ(all.status, STOKER_EINPUT);
        CHECK_EQ(all.count, 60);
        record_drop_all(&all);
        record_read_all(&all, "tests/data/records/plain.tfrecord", &o, 64);
        CHECK_EQ(all.status, STOKER_EINPUT);
        CHECK_EQ(all.count, 0);
        free(file);
    }
}

static void put_header(uint8_t *p, uint64_t length)
{
    for (int i = 0; i < 8; i++) {
        p[i] = (uint8_t)(length >> 8 * i);
    }
    uint32_t crc = stk_crc32c_mask(stk_crc32c(0, p, 8));
    for (int i = 0; i < 4; i++) {
        p[8 + i] = (uint8_t)(crc >> 8 * i);
    }
}

// Lengths whose checksum is right and that no file can hold: no memory is taken for them.
static void hostile_lengths(void)
{
    static const uint64_t lengths_tried[] = {
        UINT64_MAX,        UINT64_MAX - 15,   UINT64_MAX - 27,
        INT64_MAX,         (uint64_t)1 << 40, ((uint64_t)1 << 30) + 1,
        (uint64_t)1 << 30, 1000000,           2000};
    size_t size;
    uint8_t *file = record_get("tests/data/records/plain.tfrecord", &size);
    uint8_t *spoiled = malloc(size + 12);
    put_header(spoiled, 0);
    for (size_t i = 0; i < sizeof lengths_tried / sizeof *lengths_tried; i++) {
        size_t at = want.items[3].offset, end = want.items[8].offset;
        memcpy(spoiled, file, end);
        put_header(spoiled + at, lengths_tried[i]);
        record_put(spoiled, end);
        struct stk_record_opts o = {.on_damage = STK_RECORD_SKIP};
        record_read_all(&all, record_scratch(), &o, 64);
        CHECK_EQ(all.status, STOKER_OK);
        CHECK_EQ(all.count, 7);
        CHECK_EQ(all.stats.lost, 1);
        record_drop_all(&all);
        o.on_damage = STK_RECORD_STOP;
        record_read_all(&all, record_scratch(), &o, 64);
        CHECK_EQ(all.status, STOKER_EINPUT);
        CHECK_EQ(all.count, 3);
        record_drop_all(&all);
    }
    free(spoiled);
    free(file);
}

static void failing_allocations(void)
{
    static const char *const names[] = {"plain", "gzip", "zlib"};
    for (int codec = 0; codec < 3; codec++) {
        char path[128];
        snprintf(path, sizeof path, "tests/data/records/%s.tfrecord", names[codec]);
        for (uint64_t n = 1; n < 40; n++) {
            struct stk_record_opts o = {.codec = (enum stk_record_codec)codec, .block_bytes = 64};
            stk_alloc_fail_at(n, n % 2);
            record_read_all(&all, path, &o, 64);
            stk_alloc_fail_at(0, 0);
            CHECK(all.status == STOKER_ENOMEM || (all.status == STOKER_OK && all.count == 60));
            record_drop_all(&all);
            struct stk_record_writer *w;
            struct stoker_err err;
            stk_alloc_fail_at(n, 1);
            enum stoker_status status =
                stk_record_create(&w, record_scratch(), (enum stk_record_codec)codec, 0, &err);
            if (!status) {
                status = stk_record_finish(w, &err);
            }
            stk_alloc_fail_at(0, 0);
            CHECK(status == STOKER_OK || status == STOKER_ENOMEM);
        }
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(lengths);
    CHECK_RUN(codecs_and_blocks);
    write_back();
    CHECK_RUN(large);
    CHECK_RUN(cut_records);
    CHECK_RUN(held_blocks);
    CHECK_RUN(failing_allocations);
    CHECK_RUN(compressed_damage);
    CHECK_RUN(hostile_lengths);
    CHECK_RUN(damage);
    record_drop_all(&want);
    return check_done("unit.record_files");
}
