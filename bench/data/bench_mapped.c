// SPDX-License-Identifier: Apache-2.0
// Compares mapping and reading files of records: the cost of copying a record to its place in a
// batch.
//
// Usage: stoker_bench_mapped [FOLDER [MIB]]: a file of 256 MiB in FOLDER ("."), removed at the end
//
// mapped: memcpy from a mapping. read: pread to the place. States: "cold": nothing is in the page
// cache (posix_fadvise DONTNEED, confirmed by mincore); "first": it is in the cache and the mapping
// is new; "warm": mapped and touched before, as in later epochs. Orders: sequential and shuffled.
// Median of the rounds and their spread, in microseconds per record; the two alternate. The rows of
// 1 MiB "in place" apply to files of records without an index: a sum of all bytes in place, in the
// mapping or in a block that was read.
//
// Limits: one thread; the contents of the disk's own cache are unknown, so "cold" is specific to
// this machine.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 5
#define COLD_RECORDS_MAX 2048 // in a shuffled pass
#define BATCH_BYTES ((size_t)8 << 20)
#define IN_PLACE_BYTES ((size_t)1 << 20)

enum state { COLD, FIRST, WARM, STATES };
static const char *const state_names[] = {"cold", "first", "warm"};

struct file {
    int fd;
    size_t size;
    uint8_t *map, *batch;
    size_t *order; // positions of records
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static uint64_t next_random(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    return *s ^= *s << 17;
}

static void make(struct file *f, const char *folder, size_t mib)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/bench_mapped.XXXXXX", folder);
    f->fd = mkstemp(path);
    f->size = mib << 20;
    f->batch = malloc(BATCH_BYTES);
    f->order = malloc(f->size / 1024 * sizeof f->order[0]);
    if (f->fd < 0 || unlink(path) || !f->batch || !f->order) {
        die(path);
    }
    memset(f->batch, 0, BATCH_BYTES);
    uint64_t seed = 88172645463325252u;
    for (size_t at = 0; at < f->size; at += BATCH_BYTES) {
        for (size_t i = 0; i < BATCH_BYTES; i += 8) {
            uint64_t bits = next_random(&seed);
            memcpy(f->batch + i, &bits, 8);
        }
        if (pwrite(f->fd, f->batch, BATCH_BYTES, (off_t)at) != (ssize_t)BATCH_BYTES) {
            die("write");
        }
    }
    if (fsync(f->fd)) {
        die("fsync");
    }
}

static void map(struct file *f)
{
    f->map = mmap(NULL, f->size, PROT_READ, MAP_SHARED, f->fd, 0);
    if (f->map == MAP_FAILED) {
        die("mmap");
    }
}

static void evict(struct file *f)
{
    static unsigned char in_core[1 << 20];
    size_t pages = f->size / 4096, left = 0;
    if (posix_fadvise(f->fd, 0, 0, POSIX_FADV_DONTNEED)) {
        die("posix_fadvise");
    }
    map(f);
    if (pages > sizeof in_core || mincore(f->map, f->size, in_core)) {
        die("mincore");
    }
    for (size_t i = 0; i < pages; i++) {
        left += in_core[i] & 1;
    }
    munmap(f->map, f->size);
    if (left > pages / 100) {
        fprintf(stderr, "%zu of %zu pages are still in the cache\n", left, pages);
        exit(1);
    }
}

// One pass over n records in the order; returns microseconds per record.
static double pass_copied(struct file *f, int is_mapped, size_t bytes, size_t n)
{
    size_t to = 0;
    double start = now_us();
    for (size_t i = 0; i < n; i++) {
        if (is_mapped) {
            memcpy(f->batch + to, f->map + f->order[i], bytes);
        } else if (pread(f->fd, f->batch + to, bytes, (off_t)f->order[i]) != (ssize_t)bytes) {
            die("read");
        }
        to = to + 2 * bytes > BATCH_BYTES ? 0 : to + bytes;
    }
    return (now_us() - start) / (double)n;
}

// The same in place: sequential, block by block.
static double pass_in_place(struct file *f, int is_mapped)
{
    static volatile uint64_t total;
    uint64_t sum = 0;
    size_t n = f->size / IN_PLACE_BYTES;
    double start = now_us();
    for (size_t i = 0; i < n; i++) {
        const uint8_t *at = is_mapped ? f->map + i * IN_PLACE_BYTES : f->batch;
        if (!is_mapped && pread(f->fd, f->batch, IN_PLACE_BYTES, (off_t)(i * IN_PLACE_BYTES)) !=
                              (ssize_t)IN_PLACE_BYTES) {
            die("read");
        }
        for (size_t k = 0; k < IN_PLACE_BYTES; k += 8) {
            uint64_t word;
            memcpy(&word, at + k, 8);
            sum += word;
        }
    }
    total = sum;
    (void)total;
    return (now_us() - start) / (double)n;
}

static double pass(struct file *f, int is_mapped, size_t bytes, size_t n)
{
    return bytes == IN_PLACE_BYTES ? pass_in_place(f, is_mapped)
                                   : pass_copied(f, is_mapped, bytes, n);
}

static double measure(struct file *f, enum state state, int is_mapped, size_t bytes, size_t n)
{
    if (state == COLD) {
        evict(f);
    }
    if (is_mapped) {
        map(f);
    }
    if (state != COLD && !is_mapped) {
        pass(f, 0, bytes, n); // everything is in the cache
    } else if (state == WARM) {
        pass(f, 1, bytes, n);
    }
    double us = pass(f, is_mapped, bytes, n);
    if (is_mapped) {
        munmap(f->map, f->size);
    }
    return us;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fill_order(struct file *f, size_t bytes, int is_shuffled)
{
    uint64_t seed = 2463534242u;
    size_t all = f->size / bytes;
    for (size_t i = 0; i < all; i++) {
        f->order[i] = i * bytes;
    }
    for (size_t i = all; is_shuffled && i-- > 1;) {
        size_t k = next_random(&seed) % (i + 1), x = f->order[i];
        f->order[i] = f->order[k];
        f->order[k] = x;
    }
}

static void row(struct file *f, size_t bytes, int is_shuffled, enum state state)
{
    double us[2][ROUNDS];
    size_t n = f->size / bytes;
    fill_order(f, bytes, is_shuffled);
    n = state == COLD && is_shuffled && n > COLD_RECORDS_MAX ? COLD_RECORDS_MAX : n;
    if (state == FIRST) {
        pass(f, 0, bytes, n);
    }
    for (int r = 0; r < ROUNDS; r++) {
        for (int way = 0; way < 2; way++) {
            int is_mapped = way ^ (r & 1); // each is first in every other round
            us[is_mapped][r] = measure(f, state, is_mapped, bytes, n);
        }
    }
    printf("%8zu %9s %6s", bytes,
           bytes == IN_PLACE_BYTES ? "in place"
           : is_shuffled           ? "shuffled"
                                   : "in order",
           state_names[state]);
    for (int way = 1; way >= 0; way--) {
        qsort(us[way], ROUNDS, sizeof us[way][0], by_value);
        printf("  %9.2f (%.2f to %.2f)", us[way][ROUNDS / 2], us[way][0], us[way][ROUNDS - 1]);
    }
    printf("  %.2f\n", us[0][ROUNDS / 2] / us[1][ROUNDS / 2]);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {1024, 16384, 150528, IN_PLACE_BYTES};
    struct file f;
    size_t mib = argc > 2 ? strtoul(argv[2], NULL, 10) : 256;
    mib = (mib < 8 ? 8 : mib > 4096 ? 4096 : mib) / 8 * 8;
    make(&f, argc > 1 ? argv[1] : ".", mib);
    printf("   bytes     order  state  mapped us (least to most)  read us (least to most)  "
           "read/mapped\n");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int is_shuffled = 0; is_shuffled < (sizes[i] == IN_PLACE_BYTES ? 1 : 2);
             is_shuffled++) {
            for (int state = COLD; state < STATES; state++) {
                row(&f, sizes[i], is_shuffled, (enum state)state);
            }
        }
    }
    close(f.fd);
    free(f.batch);
    free(f.order);
    return 0;
}
