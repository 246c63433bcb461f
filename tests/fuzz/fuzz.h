// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share: the input as a file in memory, choices taken from it, and main of
// the program that replays files where there is no libFuzzer (FUZZ_REPLAY).
//
// A target that makes something of choices reaches what bytes alone would not: every input stands
// for a thing that is well made, and changing a byte changes one choice.
#ifndef STK_TESTS_FUZZ_H
#define STK_TESTS_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_REQUIRE(cond)                                                                         \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #cond);                     \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

// Files in memory: nothing is written to a disk, and the path of each stays the same.
// FUZZ_LINKED: one with a name of its own, for SQLite, which follows links before it opens and
// finds no file where a memfd's leads. It is removed at the end, not where the process aborts.
enum fuzz_file { FUZZ_INPUT, FUZZ_OUTPUT, FUZZ_LINKED, FUZZ_FILES };
struct fuzz_open {
    int fd;
    char path[64];
};
static inline struct fuzz_open *fuzz_open(enum fuzz_file which);
static inline void fuzz_unlink(void)
{
    unlink(fuzz_open(FUZZ_LINKED)->path);
}
static inline struct fuzz_open *fuzz_open(enum fuzz_file which)
{
    static struct fuzz_open files[FUZZ_FILES];
    struct fuzz_open *f = &files[which];
    if (!f->path[0] && which == FUZZ_LINKED) {
        snprintf(f->path, sizeof f->path, "/dev/shm/stoker-fuzz-XXXXXX");
        f->fd = mkstemp(f->path);
        FUZZ_REQUIRE(f->fd >= 0 && atexit(fuzz_unlink) == 0);
    } else if (!f->path[0]) {
        f->fd = memfd_create("fuzzed", MFD_CLOEXEC);
        FUZZ_REQUIRE(f->fd >= 0);
        snprintf(f->path, sizeof f->path, "/proc/self/fd/%d", f->fd);
    }
    return f;
}

// The file holds these bytes and no others; its path.
static inline const char *fuzz_put(enum fuzz_file which, const uint8_t *data, size_t size)
{
    struct fuzz_open *f = fuzz_open(which);
    FUZZ_REQUIRE(ftruncate(f->fd, (off_t)size) == 0 &&
                 pwrite(f->fd, data, size, 0) == (ssize_t)size);
    return f->path;
}

// Choices: behind the end of the input all of them are 0.
struct fuzz_choices {
    const uint8_t *p;
    size_t left;
};
static inline uint8_t fuzz_byte(struct fuzz_choices *c)
{
    return c->left ? (c->left--, *c->p++) : 0;
}
static inline uint32_t fuzz_choose(struct fuzz_choices *c, uint32_t below)
{
    uint32_t value = fuzz_byte(c);
    return (below > 256 ? value << 8 | fuzz_byte(c) : value) % below;
}
// A number: small ones, powers of two and their neighbours, or eight bytes as they are.
static inline int64_t fuzz_number(struct fuzz_choices *c)
{
    uint8_t how = fuzz_byte(c);
    uint64_t bits = 0;
    if (how < 200) {
        return how % 100 < 90 ? how % 100 : how % 100 - 100;
    }
    if (how < 240) {
        bits = (uint64_t)1 << how % 64;
        return (int64_t)(bits + fuzz_byte(c) % 3 - 1);
    }
    for (int i = 0; i < 8; i++) {
        bits = bits << 8 | fuzz_byte(c);
    }
    return (int64_t)bits;
}
// Bytes of the input, `most` at most; *n: how many.
static inline const uint8_t *fuzz_bytes(struct fuzz_choices *c, size_t most, size_t *n)
{
    *n = fuzz_choose(c, (uint32_t)most + 1);
    *n = *n < c->left ? *n : c->left;
    const uint8_t *p = c->p;
    c->p += *n;
    c->left -= *n;
    return p;
}

// For FUZZ_MAIN: an input as it is.
static inline void fuzz_once(uint8_t *bytes, size_t n)
{
    LLVMFuzzerTestOneInput(bytes, n);
}

// The end of a target: main, where there is no libFuzzer to bring one. `each` takes each file of
// the command line, then `random` inputs that are the same every time: for targets whose inputs are
// choices, which are not worth writing down. What follows is done at the end.
#ifdef FUZZ_REPLAY
#define FUZZ_MAIN(each, random, ...)                                                               \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        int code = fuzz_replay(argc, argv, each, random);                                          \
        __VA_ARGS__;                                                                               \
        return code;                                                                               \
    }
// The byte before those of a file may be written: a target whose first byte says how sets it there.
static inline int fuzz_replay(int argc, char **argv, void (*each)(uint8_t *bytes, size_t n),
                              int random)
{
    static uint8_t bytes[1 << 20];
    uint64_t seed = 1;
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f) {
            perror(argv[i]);
            return 1;
        }
        size_t n = fread(bytes + 1, 1, sizeof bytes - 1, f);
        fclose(f);
        each(bytes + 1, n);
    }
    for (int i = 0; i < random; i++) {
        size_t n = 16 + (size_t)i % 400;
        for (size_t k = 0; k < n; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bytes[1 + k] = (uint8_t)(seed >> 33);
        }
        each(bytes + 1, n);
    }
    printf("replayed %d files and %d random inputs\n", argc - 1, random);
    return argc < 2 && random == 0;
}
#else // what only replaying needs is compiled all the same
#define FUZZ_MAIN(each, random, ...)                                                               \
    static __attribute__((unused)) void fuzz_not_replayed(void)                                    \
    {                                                                                              \
        (void)(each);                                                                              \
        __VA_ARGS__;                                                                               \
    }
#endif

#endif
