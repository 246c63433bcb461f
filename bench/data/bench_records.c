// SPDX-License-Identifier: Apache-2.0
// Speed of the record layer on one core: CRC-32C by kind, reading TFRecords with and without
// checksums, parsing Examples. Files of small (about 75 bytes), medium (about 820) and large (100
// kB) records are created in a folder and read from the page cache, first by read(2) alone, the
// lower bound for the other figures; or FILE is read and parsed for its features id (int64), x (4
// floats) and name (bytes). Each figure is the best of ROUNDS and the median.
// Usage: stoker_bench_records [-d FOLDER] [-r ROUNDS] [FILE]
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "engine/formats/example.h"

enum { CHUNK = 256, ROUNDS_MAX = 101, MEDIUM_FLOATS = 193 };

static int rounds = 9;

static double now(void)
{
    return stk_clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

static void die(const struct stoker_err *err)
{
    fprintf(stderr, "stoker_bench_records: %s\n", err->message);
    exit(1);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *what, double *seconds, uint64_t records, uint64_t bytes)
{
    qsort(seconds, (size_t)rounds, sizeof *seconds, by_value);
    double best = seconds[0], median = seconds[rounds / 2];
    printf("%-34s", what);
    if (records) {
        printf(" %8.2f M records/s (median %6.2f)", (double)records / best / 1e6,
               (double)records / median / 1e6);
    }
    printf(" %8.2f GB/s (median %6.2f)\n", (double)bytes / best / 1e9,
           (double)bytes / median / 1e9);
}

static void bench_crc(size_t size)
{
    static const char *const names[] = {"tables", "SSE4.2 + PCLMUL", "AVX-512", "ARMv8"};
    uint8_t *p = malloc(size);
    if (!p) {
        exit(1);
    }
    memset(p, 7, size);
    size_t repeat = ((size_t)256 << 20) / size;
    for (int kind = 0; kind < STK_CRC32C_KINDS; kind++) {
        stk_crc32c_fn *fn = stk_crc32c_of_kind((enum stk_crc32c_kind)kind);
        double seconds[ROUNDS_MAX];
        volatile uint32_t sum = 0;
        for (int i = 0; fn && i < rounds; i++) {
            double start = now();
            for (size_t k = 0; k < repeat; k++) {
                sum = fn(sum, p, size);
            }
            seconds[i] = now() - start;
        }
        char what[64];
        snprintf(what, sizeof what, "crc %zu B, %s", size, names[kind]);
        if (fn) {
            report(what, seconds, 0, repeat * size);
        }
    }
    uint8_t *q = malloc(size);
    double seconds[ROUNDS_MAX];
    for (int i = 0; q && i < rounds; i++) {
        double start = now();
        for (size_t k = 0; k < repeat; k++) {
            memcpy(q, p, size);
            __asm__ volatile("" : : "r"(q) : "memory");
        }
        seconds[i] = now() - start;
    }
    char what[64];
    snprintf(what, sizeof what, "memcpy %zu B", size);
    report(what, seconds, 0, repeat * size);
    free(p);
    free(q);
}

// With a parser, reads and parses; without one, only reads.
static void run_once(const char *path, const struct stk_record_opts *opts,
                     struct stk_example_parser *parser, struct stk_example_batch *batch,
                     uint64_t *records, uint64_t *bytes)
{
    struct stoker_err err;
    stk_err_init(&err);
    struct stk_record_reader *r;
    struct stk_record views[CHUNK];
    struct stk_buf *block;
    size_t n, done;
    if (stk_record_open(&r, path, opts, &err)) {
        die(&err);
    }
    do {
        if (stk_record_read(r, views, CHUNK, &n, &block, &err)) {
            die(&err);
        }
        if (parser) {
            stk_example_batch_clear(batch);
            if (stk_example_parse(parser, batch, views, n, false, &done, &err)) {
                die(&err);
            }
        }
        stk_buf_drop(block);
    } while (n > 0);
    *records = stk_record_stats_of(r)->records;
    *bytes = stk_record_stats_of(r)->bytes + STK_RECORD_OVERHEAD * *records;
    stk_record_close(r);
}

static uint64_t bench_file(const char *label, const char *path, const struct stk_record_opts *opts,
                           struct stk_example_parser *parser, struct stk_example_batch *batch)
{
    double seconds[ROUNDS_MAX];
    uint64_t records = 0, bytes = 0;
    for (int i = 0; i < rounds; i++) {
        double start = now();
        run_once(path, opts, parser, batch, &records, &bytes);
        seconds[i] = now() - start;
    }
    report(label, seconds, records, bytes);
    return records;
}

// Reads the file with read(2), in pieces like the reader's.
static void bench_bare(const char *label, const char *path, uint64_t records)
{
    static uint8_t piece[256 << 10];
    double seconds[ROUNDS_MAX];
    uint64_t bytes = 0;
    for (int i = 0; i < rounds; i++) {
        double start = now();
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        bytes = 0;
        for (ssize_t n = fd < 0 ? 0 : 1; n > 0; bytes += n > 0 ? (uint64_t)n : 0) {
            n = read(fd, piece, sizeof piece);
        }
        if (fd >= 0) {
            close(fd);
        }
        seconds[i] = now() - start;
    }
    report(label, seconds, records, bytes);
}

static void bench_all(const char *label, const char *path, enum stk_record_codec codec,
                      const struct stk_example_feature *features, size_t count)
{
    struct stoker_err err;
    stk_err_init(&err);
    struct stk_example_spec *spec;
    struct stk_example_parser *parser = NULL;
    struct stk_example_batch batch;
    if (stk_example_compile(&spec, features, count, &err) ||
        stk_example_parser_open(&parser, spec, STK_EXAMPLE_SINGLE, &err) ||
        stk_example_batch_open(&batch, spec, &err)) {
        die(&err);
    }
    struct stk_record_opts opts = {.codec = codec},
                           unchecked = {.codec = codec, .skip_data_crc = true};
    char what[128];
    snprintf(what, sizeof what, "%s: read, no data crc", label);
    uint64_t records = bench_file(what, path, &unchecked, NULL, NULL);
    snprintf(what, sizeof what, "%s: read(2) alone", label);
    bench_bare(what, path, records);
    snprintf(what, sizeof what, "%s: read", label);
    bench_file(what, path, &opts, NULL, NULL);
    snprintf(what, sizeof what, "%s: read + parse", label);
    bench_file(what, path, &opts, parser, &batch);
    stk_example_batch_close(&batch);
    stk_example_parser_close(parser);
    stk_example_spec_free(spec);
}

static const struct stk_example_feature small_features[] = {
    {.name = "id", .type = STK_EXAMPLE_INT64, .elements = 1},
    {.name = "x", .type = STK_EXAMPLE_FLOAT, .elements = 4},
    {.name = "name", .type = STK_EXAMPLE_BYTES, .elements = 1},
};

static const struct stk_example_feature large_features[] = {
    {.name = "id", .type = STK_EXAMPLE_INT64, .elements = 1},
    {.name = "name", .type = STK_EXAMPLE_BYTES, .elements = 1},
};

static const struct stk_example_feature medium_features[] = {
    {.name = "id", .type = STK_EXAMPLE_INT64, .elements = 1},
    {.name = "x", .type = STK_EXAMPLE_FLOAT, .elements = MEDIUM_FLOATS},
};

// Creates records of `floats` floats and a name of `size` bytes.
static void make_file(const char *path, enum stk_record_codec codec, size_t count, size_t floats,
                      size_t size)
{
    struct stoker_err err;
    stk_err_init(&err);
    struct stk_record_writer *w;
    struct stk_example_buffer buffer = {0};
    uint8_t *bytes = malloc(size);
    if (!bytes || stk_record_create(&w, path, codec, 0, &err)) {
        die(&err);
    }
    uint64_t state = 1;
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)((state = state * 6364136223846793005u + 1442695040888963407u) >> 56);
    }
    for (size_t i = 0; i < count; i++) {
        int64_t id = (int64_t)i;
        float x[MEDIUM_FLOATS] = {(float)i, 1, 2, 3};
        struct stk_example_bytes name = {bytes, size};
        struct stk_example_value values[] = {
            {.name = "id", .type = STK_EXAMPLE_INT64, .values = &id, .count = 1},
            {.name = "x", .type = STK_EXAMPLE_FLOAT, .values = x, .count = floats},
            {.name = "name", .type = STK_EXAMPLE_BYTES, .values = &name, .count = 1},
        };
        if (stk_example_encode(&buffer, STK_EXAMPLE_SINGLE, values, 3, &err) ||
            stk_record_write(w, buffer.data, buffer.size, &err)) {
            die(&err);
        }
    }
    if (stk_record_finish(w, &err)) {
        die(&err);
    }
    stk_example_buffer_free(&buffer);
    free(bytes);
}

static void bench_made(const char *folder, const char *label, enum stk_record_codec codec,
                       size_t count, size_t floats, size_t size,
                       const struct stk_example_feature *features, size_t feature_count)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/stoker-bench-%ld.tfrecord", folder, (long)getpid());
    make_file(path, codec, count, floats, size);
    bench_all(label, path, codec, features, feature_count);
    unlink(path);
}

int main(int argc, char **argv)
{
    const char *folder = "/tmp";
    int c;
    while ((c = getopt(argc, argv, "d:r:")) != -1) {
        if (c == 'd') {
            folder = optarg;
        } else if (c == 'r') {
            rounds = atoi(optarg);
        } else {
            return 2;
        }
    }
    rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
    if (optind < argc) {
        bench_all("file", argv[optind], STK_RECORD_PLAIN, small_features, 3);
        return 0;
    }
    bench_crc(64);
    bench_crc(1024);
    bench_crc((size_t)100 << 10);
    bench_crc((size_t)64 << 20);
    bench_made(folder, "small", STK_RECORD_PLAIN, 1000000, 4, 12, small_features, 3);
    bench_made(folder, "medium", STK_RECORD_PLAIN, 100000, MEDIUM_FLOATS, 12, medium_features, 2);
    bench_made(folder, "large", STK_RECORD_PLAIN, 2000, 4, 100000, large_features, 2);
    bench_made(folder, "small, gzip", STK_RECORD_GZIP, 300000, 4, 12, small_features, 3);
    return 0;
}
