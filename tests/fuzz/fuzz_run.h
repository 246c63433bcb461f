// SPDX-License-Identifier: Apache-2.0
// A run's folder made of choices: a sampler's record (machine.stk) with good checksums, the hooks'
// records of steps, and files of any bytes. The folder is in memory (/dev/shm), the same for all
// inputs of a program. Each input starts with an empty one.
//
// Limits: a record holds RECORD_MAX bytes; a block that does not fit is left out.
#ifndef STK_TESTS_FUZZ_RUN_H
#define STK_TESTS_FUZZ_RUN_H

#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/crc32c.h"
#include "job/capture/parent/step_record.h"
#include "wire/samples.h"
#include "wire/wire.h"

// ---- the folder ----

static char fuzz_folder_path[64];
static inline void fuzz_folder_clear(int folder)
{
    DIR *d = fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    FUZZ_REQUIRE(d != NULL);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) {
            continue;
        }
        if (unlinkat(folder, e->d_name, 0) != 0) {
            int inner = openat(folder, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            FUZZ_REQUIRE(inner >= 0);
            fuzz_folder_clear(inner);
            close(inner);
            FUZZ_REQUIRE(unlinkat(folder, e->d_name, AT_REMOVEDIR) == 0);
        }
    }
    closedir(d);
}
static inline void fuzz_folder_remove(void)
{
    int folder = open(fuzz_folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        fuzz_folder_clear(folder);
        close(folder);
        rmdir(fuzz_folder_path);
    }
}
// The folder's descriptor.
static inline int fuzz_folder(void)
{
    static int folder = -1;
    if (folder < 0) {
        snprintf(fuzz_folder_path, sizeof fuzz_folder_path, "/dev/shm/stoker-run-XXXXXX");
        FUZZ_REQUIRE(mkdtemp(fuzz_folder_path) && atexit(fuzz_folder_remove) == 0);
        folder = open(fuzz_folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        FUZZ_REQUIRE(folder >= 0);
    }
    return folder;
}

static inline void fuzz_put_file(int folder, const char *name, const void *bytes, size_t n)
{
    int fd = openat(folder, name,
                    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd >= 0) { // else a link, a pipe or a folder is there
        FUZZ_REQUIRE(write(fd, bytes, n) == (ssize_t)n);
        close(fd);
    }
}

// ---- a sampler's record ----

enum { FUZZ_RECORD_MAX = 1 << 20, FUZZ_CROWD = 12, FUZZ_PIDS = 6 };
struct fuzz_record {
    uint8_t bytes[FUZZ_RECORD_MAX];
    size_t n;
    bool is_good; // its header
    uint32_t sequence, next_track;
    uint64_t now_ns;
};

static inline void fuzz_record_block(struct fuzz_record *r, uint16_t type, const void *payload,
                                     size_t n)
{
    static const uint8_t zeros[8];
    size_t padded = (n + 7) & ~(size_t)7;
    struct stk_wire_block b = {.magic = STK_WIRE_BLOCK_MAGIC, .type = type};
    if (sizeof b + padded > sizeof r->bytes - r->n) {
        return;
    }
    b.length = (uint32_t)padded;
    b.sequence = r->sequence++;
    b.crc = stk_crc32c(n ? stk_crc32c(0, payload, n) : 0, zeros, padded - n);
    b.head_crc = stk_crc32c(0, &b, sizeof b);
    memcpy(r->bytes + r->n, &b, sizeof b);
    if (n) {
        memcpy(r->bytes + r->n + sizeof b, payload, n);
    }
    memcpy(r->bytes + r->n + sizeof b + n, zeros, padded - n);
    r->n += sizeof b + padded;
}

static inline uint32_t fuzz_sample_name(uint32_t sample) // its string's id
{
    return sample + 1;
}

static inline void fuzz_record_names(struct fuzz_record *r, uint32_t first, uint32_t count)
{
    static uint8_t payload[STK_SAMPLE_COUNT * 64];
    size_t at = 0;
    for (uint32_t i = first; i < STK_SAMPLE_COUNT && i < first + count; i++) {
        const char *name = stk_sample_info((enum stk_sampled)i)->name;
        struct stk_wire_string s = {fuzz_sample_name(i), (uint32_t)strlen(name)};
        FUZZ_REQUIRE(at + sizeof s + s.bytes + 8 <= sizeof payload);
        memcpy(payload + at, &s, sizeof s);
        memcpy(payload + at + sizeof s, name, s.bytes);
        size_t end = at + sizeof s + s.bytes;
        at = (end + 7) & ~(size_t)7;
        memset(payload + end, 0, at - end);
    }
    fuzz_record_block(r, STK_WIRE_STRINGS, payload, at);
}

// Its header, mostly good, and the names of all counters or of some.
static inline void fuzz_record_begin(struct fuzz_record *r, struct fuzz_choices *c)
{
    struct stk_wire_header h = {.magic = STK_WIRE_MAGIC,
                                .version = STK_WIRE_VERSION,
                                .header_bytes = sizeof h,
                                .pid = 7,
                                .producer = STK_SAMPLE_PRODUCER " 1"};
    r->n = r->sequence = 0;
    r->next_track = 1;
    r->now_ns = 1000000000;
    r->is_good = true;
    if (fuzz_choose(c, 16) == 15) {
        uint8_t bad = fuzz_byte(c);
        ((uint8_t *)&h)[fuzz_choose(c, sizeof h)] ^= bad;
        r->is_good = bad == 0;
    }
    memcpy(r->bytes, &h, sizeof h);
    r->n = sizeof h;
    if (fuzz_choose(c, 8) < 7) {
        fuzz_record_names(r, 0, STK_SAMPLE_COUNT);
    } else {
        uint32_t first = fuzz_choose(c, STK_SAMPLE_COUNT);
        fuzz_record_names(r, first, fuzz_choose(c, STK_SAMPLE_COUNT));
    }
}

static inline double fuzz_value(struct fuzz_choices *c)
{
    static const double some[] = {0,      0.5,    1,      -1,     2e8,    1e9,    1e18,
                                  -1e18,  1e300,  -1e300, 1e308,  4e12,   -0.0,   97,
                                  1e-300, 0x1p31, 0x1p32, 0x1p63, 0x1p64, -0x1p64};
    uint32_t which = fuzz_choose(c, 40);
    double value;
    if (which < sizeof some / sizeof some[0]) {
        return some[which];
    }
    if (which < 36) {
        return (double)fuzz_byte(c) / 64;
    }
    int64_t bits = fuzz_number(c);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t fuzz_record_track(struct fuzz_record *r, struct fuzz_choices *c)
{
    uint32_t used = r->next_track - 1;
    return used == 0 || fuzz_choose(c, 16) == 15 ? fuzz_byte(c) : 1 + fuzz_choose(c, used);
}

// A new track, named just before, as a sampler does; of a process, a thread, a disk or a GPU.
static inline void fuzz_record_add_track(struct fuzz_record *r, struct fuzz_choices *c)
{
    uint8_t name[8 + 64 + 8] = {0};
    size_t n;
    const uint8_t *text = fuzz_bytes(c, 63, &n);
    struct stk_wire_string s = {1000 + r->next_track, (uint32_t)n};
    memcpy(name, &s, sizeof s);
    if (n) {
        memcpy(name + sizeof s, text, n);
    }
    fuzz_record_block(r, STK_WIRE_STRINGS, name, sizeof s + ((n + 7) & ~(size_t)7));
    struct stk_wire_track t = {.id = r->next_track++, .kind = STK_WIRE_SAMPLED, .name = s.id};
    uint32_t scope = fuzz_choose(c, 8);
    if (scope == 7) {
        t.id = fuzz_choose(c, 4) ? t.id : fuzz_byte(c);
        t.device = (int32_t)fuzz_number(c);
        t.number = fuzz_number(c);
    } else if (scope < 5) {
        t.device = 100 + (int32_t)fuzz_choose(c, FUZZ_PIDS);
        t.number = scope < 2 ? 0 : (int64_t)fuzz_choose(c, 5);
    } else {
        t.device = -1;
        t.number =
            STK_SAMPLE_NUMBER(scope == 5 ? STK_SAMPLE_DISK : STK_SAMPLE_GPU, fuzz_choose(c, 3));
    }
    fuzz_record_block(r, STK_WIRE_TRACKS, &t, sizeof t);
}

// A moment: the looks' own counter, and others.
static inline void fuzz_record_look(struct fuzz_record *r, struct fuzz_choices *c)
{
    enum { MOST = 24 };
    struct stk_wire_counter counters[MOST];
    uint32_t n = 0, more = fuzz_choose(c, MOST - 2), passed = fuzz_choose(c, 64);
    double ns = passed == 63 ? (double)(r->now_ns / 2) : passed * 2e8;
    r->now_ns += (uint64_t)ns;
    if (passed == 62) {
        r->now_ns = (uint64_t)fuzz_number(c);
    }
    counters[n++] = (struct stk_wire_counter){r->now_ns, fuzz_sample_name(STK_SAMPLE_OF_TICK), 0,
                                              passed == 61 ? fuzz_value(c) : ns};
    if (passed % 4 == 3) {
        counters[n++] = (struct stk_wire_counter){r->now_ns, fuzz_sample_name(STK_SAMPLE_OF_SCAN),
                                                  0, passed == 59 ? fuzz_value(c) : 4 * ns};
    }
    for (uint32_t i = 0; i < more; i++) {
        uint32_t sample = fuzz_choose(c, STK_SAMPLE_COUNT + 1);
        uint32_t track = fuzz_choose(c, 4) ? fuzz_record_track(r, c) : 0;
        counters[n++] =
            (struct stk_wire_counter){r->now_ns, fuzz_sample_name(sample), track, fuzz_value(c)};
    }
    fuzz_record_block(r, STK_WIRE_COUNTERS, counters, n * sizeof counters[0]);
}

// Many processes at once, each with counters: what fills the tables.
static inline void fuzz_record_crowd(struct fuzz_record *r, struct fuzz_choices *c)
{
    uint32_t count = (1u << fuzz_choose(c, FUZZ_CROWD)) + fuzz_byte(c);
    uint32_t samples = 1 + fuzz_choose(c, 4), pid = 1000 * (1 + fuzz_choose(c, 20));
    for (uint32_t i = 0; i < count; i++) {
        struct stk_wire_counter counters[4];
        struct stk_wire_track t = {.id = r->next_track++,
                                   .kind = STK_WIRE_SAMPLED,
                                   .device = (int32_t)(pid + i),
                                   .name = fuzz_sample_name(0)};
        fuzz_record_block(r, STK_WIRE_TRACKS, &t, sizeof t);
        for (uint32_t k = 0; k < samples; k++) {
            uint32_t sample =
                (k ? STK_SAMPLE_OF_PROCESS_PARENT : STK_SAMPLE_OF_PROCESS_THREADS) + k;
            counters[k] = (struct stk_wire_counter){r->now_ns, fuzz_sample_name(sample), t.id, 1};
        }
        fuzz_record_block(r, STK_WIRE_COUNTERS, counters, samples * sizeof counters[0]);
    }
}

// One thing more.
static inline void fuzz_record_more(struct fuzz_record *r, struct fuzz_choices *c)
{
    size_t n;
    uint32_t what = fuzz_choose(c, 64);
    const uint8_t *bytes;
    if (what < 30) {
        fuzz_record_look(r, c);
    } else if (what < 50) {
        fuzz_record_add_track(r, c);
    } else if (what < 56) { // any block
        uint16_t type = fuzz_byte(c);
        bytes = fuzz_bytes(c, 255, &n);
        fuzz_record_block(r, type, bytes, n);
    } else if (what < 59) { // no block
        bytes = fuzz_bytes(c, 255, &n);
        n = n < sizeof r->bytes - r->n ? n : 0;
        if (n) {
            memcpy(r->bytes + r->n, bytes, n);
        }
        r->n += n;
    } else if (what < 61) { // room
        n = 8 * (size_t)fuzz_byte(c);
        n = n < sizeof r->bytes - r->n ? n : 0;
        memset(r->bytes + r->n, 0, n);
        r->n += n;
    } else if (what < 62) {
        fuzz_record_crowd(r, c);
    } else if (what < 63) {
        fuzz_record_block(r, STK_WIRE_END, NULL, 0);
    } else { // a byte of the last block, or of one before it
        uint32_t back = fuzz_choose(c, 400);
        size_t at = back < r->n ? r->n - 1 - back : 0;
        r->bytes[at] ^= fuzz_byte(c);
        r->is_good = r->is_good && at >= sizeof(struct stk_wire_header);
    }
}

// ---- the hooks' record of a process' steps ----

static inline uint64_t fuzz_moment(struct fuzz_choices *c)
{
    uint32_t how = fuzz_choose(c, 8);
    return how == 7 ? (uint64_t)fuzz_number(c) : 1000000 * (uint64_t)fuzz_choose(c, 4000);
}

static inline void fuzz_steps_text(char *to, size_t size, struct fuzz_choices *c)
{
    size_t n;
    const uint8_t *text = fuzz_bytes(c, 40, &n);
    if (fuzz_choose(c, 8) == 7) {
        memset(to, 'A', size); // without an end
    }
    if (n) {
        memcpy(to, text, n < size ? n : size);
    }
}

// steps-N.rec with a header and records of choices.
static inline void fuzz_put_steps(int folder, struct fuzz_choices *c)
{
    enum { MOST = 700 };
    static struct {
        struct stk_steps_header head;
        struct stk_steps_record records[MOST];
    } file;
    char name[48];
    uint32_t pid = 1 + fuzz_choose(c, 4), many = fuzz_choose(c, 16);
    uint32_t n = many == 15 ? MOST - (uint32_t)fuzz_byte(c) : fuzz_choose(c, 24);
    uint64_t at = fuzz_moment(c), usual = fuzz_moment(c);
    file.head = (struct stk_steps_header){.magic = STK_STEPS_MAGIC,
                                          .version = STK_STEPS_VERSION,
                                          .header_bytes = STK_STEPS_HEADER_BYTES,
                                          .pid = fuzz_choose(c, 16) == 15 ? fuzz_moment(c) : pid,
                                          .rank = (int64_t)fuzz_choose(c, 5) - 1,
                                          .count = fuzz_choose(c, 4) == 3 ? fuzz_moment(c) : n,
                                          .kept = fuzz_choose(c, 4) == 3 ? fuzz_moment(c) : n};
    file.head.own_ns = fuzz_moment(c);
    file.head.wait_ns = fuzz_moment(c);
    file.head.step_ns = fuzz_moment(c);
    file.head.first_ns = fuzz_moment(c);
    file.head.last_ns = fuzz_moment(c);
    file.head.window_state = fuzz_choose(c, 6);
    file.head.source = fuzz_choose(c, 6);
    file.head.has_wait = (uint8_t)fuzz_choose(c, 3);
    file.head.runs_ahead = (uint8_t)fuzz_choose(c, 3);
    fuzz_steps_text(file.head.framework, sizeof file.head.framework, c);
    fuzz_steps_text(file.head.notes, sizeof file.head.notes, c);
    fuzz_steps_text(file.head.profile, sizeof file.head.profile, c);
    fuzz_steps_text(file.head.versions, sizeof file.head.versions, c);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t odd = i < 24 ? fuzz_choose(c, 32) : 0;
        uint64_t dur = odd > 24 ? fuzz_moment(c) : usual;
        at = odd == 31 ? fuzz_moment(c) : at + dur;
        file.records[i] =
            (struct stk_steps_record){at, dur, odd > 16 ? fuzz_moment(c) : dur / 4, odd % 8};
    }
    size_t size = sizeof file.head + n * sizeof file.records[0];
    if (fuzz_choose(c, 16) == 15) {
        ((uint8_t *)&file)[fuzz_choose(c, (uint32_t)size)] ^= fuzz_byte(c);
        size = fuzz_choose(c, 2) ? fuzz_choose(c, (uint32_t)size) : size;
    }
    snprintf(name, sizeof name, "steps-%u.rec", (unsigned)pid);
    fuzz_put_file(folder, name, &file, size);
}

#endif
