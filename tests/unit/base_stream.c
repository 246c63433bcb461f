// SPDX-License-Identifier: Apache-2.0
// Streams read from beginning to end: every kind of input gives the original bytes for any read
// sizes; truncated and damaged ones give the bytes before the damage; unsuitable ones are rejected.
#include "stream_files.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/stream.h"

// Reads all of it; returns the status of the failing call, or STOKER_OK.
static enum stoker_status read_all(const char *path, bool seekable, bool peek, size_t most,
                                   struct bytes *out, char damage[256])
{
    struct stk_stream *s;
    struct stoker_err err;
    struct stk_stream_opts opts = {.seekable = seekable};
    stk_err_init(&err);
    damage[0] = '\0';
    enum stoker_status status = stk_stream_open(&s, path, &opts, &err);
    if (status) {
        return status;
    }
    const uint8_t *head = NULL;
    uint8_t *kept = NULL;
    size_t head_len = peek ? stk_stream_peek(s, &head) : 0, got;
    if (head_len) {
        kept = malloc(head_len);
        memcpy(kept, head, head_len);
    }
    uint8_t *buf = malloc(most);
    do {
        status = stk_stream_read(s, buf, most, &got, &err);
        bytes_add(out, buf, got);
        CHECK(status || out->n == stk_stream_position(s));
    } while (!status && got > 0);
    if (!status) {
        CHECK(out->n >= head_len && (!head_len || memcmp(out->p, kept, head_len) == 0));
        CHECK(!peek || head_len == (out->n < 65536 ? out->n : 65536));
        CHECK(stk_stream_read(s, buf, most, &got, &err) == STOKER_OK && got == 0); // still the end
        if (stk_stream_size(s) && !stk_stream_damage(s)) {
            CHECK_EQ(stk_stream_consumed(s), stk_stream_size(s));
        }
    }
    if (stk_stream_damage(s)) {
        snprintf(damage, 256, "%s", stk_stream_damage(s));
    }
    free(buf);
    free(kept);
    stk_stream_close(s);
    return status;
}

static void expect(const char *path, struct bytes content)
{
    const size_t sizes[] = {1, 4096, 65536, 100001, 3000000};
    for (size_t i = content.n > 200000; i < sizeof sizes / sizeof *sizes; i++) {
        for (int how = 0; how < 4; how++) {
            struct bytes out = {0};
            char damage[256];
            CHECK_EQ(read_all(path, how & 1, how & 2, sizes[i], &out, damage), STOKER_OK);
            CHECK_STR(damage, "");
            CHECK(out.n == content.n && (!out.n || memcmp(out.p, content.p, out.n) == 0));
            bytes_free(&out);
        }
    }
}

static void kinds(void)
{
    const size_t lengths[] = {0, 1, 3, 65535, 65536, 65537, 2500000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct bytes content = make_content(lengths[i], i + 1), gzip = {0}, zstd = {0};
        size_t third = content.n / 3;
        expect(write_file(content.p, content.n), content);
        add_gzip(&gzip, content.p, third, 1, i % 2);
        add_gzip(&gzip, content.p + third, content.n - third, 6, false);
        bytes_add(&gzip, "\0\0\0\0\0", i % 3 * 2); // padding
        expect(write_file(gzip.p, gzip.n), content);
        bytes_add(&zstd, "\x50\x2a\x4d\x18\x03\0\0\0abc", i % 2 ? 11 : 0); // skippable frame
        add_zstd(&zstd, content.p, third);
        add_zstd(&zstd, content.p + third, content.n - third);
        expect(write_file(zstd.p, zstd.n), content);
        bytes_free(&content);
        bytes_free(&gzip);
        bytes_free(&zstd);
    }
}

static void prefix_with_damage(struct bytes in, size_t n, struct bytes content, bool whole)
{
    struct bytes out = {0};
    char damage[256];
    CHECK_EQ(read_all(write_file(in.p, n), n % 2, n % 3 == 0, 70000, &out, damage), STOKER_OK);
    CHECK(whole ? damage[0] == '\0' : damage[0] != '\0');
    CHECK(out.n <= content.n && (!out.n || memcmp(out.p, content.p, out.n) == 0));
    // Little may be lost that was in the file: deflate and zstd hold at most a block back.
    CHECK(out.n + 140000 >= content.n * n / in.n / 4 * 3);
    bytes_free(&out);
}

static void truncation(void)
{
    struct bytes content = make_content(600000, 4), gzip = {0}, zstd = {0};
    add_gzip(&gzip, content.p, 250000, 6, true);
    size_t gzip_member = gzip.n;
    add_gzip(&gzip, content.p + 250000, 350000, 6, true);
    add_zstd(&zstd, content.p, 250000);
    size_t zstd_frame = zstd.n;
    add_zstd(&zstd, content.p + 250000, 350000);
    for (size_t n = 4; n < gzip.n; n += n < 400 || gzip.n - n < 30 ? 1 : 5003) {
        prefix_with_damage(gzip, n, content, n == gzip_member);
    }
    prefix_with_damage(gzip, gzip_member, content, true);
    for (size_t n = 4; n < zstd.n; n += n < 100 || zstd.n - n < 30 ? 1 : 5003) {
        prefix_with_damage(zstd, n, content, n == zstd_frame);
    }
    prefix_with_damage(zstd, zstd_frame, content, true);
    bytes_free(&content);
    bytes_free(&gzip);
    bytes_free(&zstd);
}

// A flipped bit: the stream ends, and either all is right or the damage is reported.
static void damage_is_told(void)
{
    struct bytes content = make_content(90000, 6), in[2] = {{0}};
    add_gzip(&in[0], content.p, content.n, 6, false);
    add_zstd(&in[1], content.p, content.n);
    uint64_t seed = 3;
    for (int round = 0; round < 600; round++) {
        struct bytes *b = &in[round % 2], out = {0};
        char damage[256];
        size_t at = 4 + next_random(&seed) % (b->n - 4);
        uint8_t old = b->p[at];
        b->p[at] ^= (uint8_t)(1u << next_random(&seed) % 8);
        CHECK_EQ(read_all(write_file(b->p, b->n), false, false, 30000, &out, damage), STOKER_OK);
        bool right = out.n == content.n && memcmp(out.p, content.p, out.n) == 0;
        CHECK(right || damage[0]);
        bytes_free(&out);
        b->p[at] = old;
    }
    bytes_add(&in[0], "trailing", 8);
    struct bytes out = {0};
    char damage[256];
    CHECK_EQ(read_all(write_file(in[0].p, in[0].n), false, false, 30000, &out, damage), STOKER_OK);
    CHECK(out.n == content.n && memcmp(out.p, content.p, out.n) == 0);
    CHECK(strstr(damage, "after its last member") != NULL);
    bytes_free(&out);
    bytes_free(&content);
    bytes_free(&in[0]);
    bytes_free(&in[1]);
}

// More than 4 GiB from one gzip member: 32-bit counters inside must not matter. The member is built
// from copies of one independent piece (full flush). Its text repeats every 32 kB, so matches reach
// far back; around 4 GiB it is read in small bites, so they do so just after a counter wrapped.
static void beyond_4_gib(void)
{
    enum { PIECE = 10000019, COPIES = 432 };
    struct bytes text = make_content(32011, 11), piece = {0}, in = {0};
    while (piece.n < PIECE) {
        bytes_add(&piece, text.p, text.n);
    }
    piece.n = PIECE;
    z_stream z = {.next_in = piece.p, .avail_in = PIECE};
    CHECK_EQ(deflateInit2(&z, 1, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
    size_t capacity = deflateBound(&z, PIECE) + 100;
    uint8_t *packed = malloc(capacity);
    z.next_out = packed;
    z.avail_out = (uInt)capacity;
    CHECK_EQ(deflate(&z, Z_FULL_FLUSH), Z_OK);
    size_t packed_len = capacity - z.avail_out;
    deflateEnd(&z);
    bytes_add(&in, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
    uLong crc = crc32(0, NULL, 0), piece_crc = crc32(crc, piece.p, PIECE);
    for (int i = 0; i < COPIES; i++) {
        bytes_add(&in, packed, packed_len);
        crc = crc32_combine(crc, piece_crc, PIECE);
    }
    uint64_t total = (uint64_t)PIECE * COPIES;
    uint8_t trailer[8];
    for (int i = 0; i < 4; i++) {
        trailer[i] = (uint8_t)(crc >> 8 * i);
        trailer[4 + i] = (uint8_t)(total >> 8 * i);
    }
    bytes_add(&in, "\x03\0", 2); // an empty final block
    bytes_add(&in, trailer, 8);
    struct stk_stream *s;
    struct stoker_err err;
    size_t got;
    CHECK_EQ(stk_stream_open(&s, write_file(in.p, in.n), NULL, &err), STOKER_OK);
    do {
        uint64_t at = stk_stream_position(s);
        bool near = at + 2 * PIECE > UINT32_MAX && at < UINT32_MAX + (uint64_t)PIECE;
        CHECK_EQ(stk_stream_read(s, piece.p, near ? 5003 : PIECE, &got, &err), STOKER_OK);
    } while (got > 0);
    CHECK_EQ(stk_stream_position(s), total);
    CHECK(stk_stream_damage(s) == NULL);
    stk_stream_close(s);
    free(packed);
    bytes_free(&text);
    bytes_free(&piece);
    bytes_free(&in);
}

static void refuse(const char *path, const char *word)
{
    struct stk_stream *s;
    struct stoker_err err;
    CHECK_EQ(stk_stream_open(&s, path, NULL, &err), STOKER_EINPUT);
    CHECK(s == NULL && strstr(err.message, word) != NULL && strstr(err.message, path) != NULL);
}

static void unfit(void)
{
    refuse("/", "directory");
    refuse("/no/such/file", "No such file");
    refuse("/dev/null", "device");
    const char *path = write_file((const uint8_t *)"x", 1);
    chmod(path, 0);
    if (geteuid() != 0) {
        refuse(path, "Permission denied");
    }
    chmod(path, 0600);
}

struct feed {
    int fd;
    struct bytes content;
};

static void *feed_pipe(void *p)
{
    struct feed *f = p;
    uint64_t seed = 1;
    for (size_t at = 0; at < f->content.n;) {
        size_t n = 1 + next_random(&seed) % 90000;
        n = n < f->content.n - at ? n : f->content.n - at;
        if (write(f->fd, f->content.p + at, n) != (ssize_t)n) {
            break;
        }
        at += n;
    }
    close(f->fd);
    return NULL;
}

// Standard input as a pipe, and as a file that somebody has begun to read.
static void standard_input(void)
{
    struct bytes content = make_content(900000, 8), gzip = {0};
    add_gzip(&gzip, content.p, content.n, 6, false);
    int kept = dup(STDIN_FILENO);
    for (int how = 0; how < 4; how++) {
        int ends[2];
        pthread_t thread;
        CHECK_EQ(pipe(ends), 0);
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        struct feed feed = {ends[1], how & 1 ? gzip : content};
        CHECK_EQ(pthread_create(&thread, NULL, feed_pipe, &feed), 0);
        struct bytes out = {0};
        char damage[256];
        CHECK_EQ(read_all("-", how & 2, true, 50000, &out, damage), STOKER_OK);
        CHECK(out.n == content.n && memcmp(out.p, content.p, out.n) == 0 && !damage[0]);
        bytes_free(&out);
        pthread_join(thread, NULL);
    }
    int fd = open(write_file(content.p, content.n), O_RDONLY);
    CHECK_EQ(lseek(fd, 1000, SEEK_SET), 1000);
    dup2(fd, STDIN_FILENO);
    struct bytes out = {0};
    char damage[256];
    CHECK_EQ(read_all("-", false, true, 50000, &out, damage), STOKER_OK);
    CHECK(out.n == content.n - 1000 && memcmp(out.p, content.p + 1000, out.n) == 0);
    bytes_free(&out);
    close(fd);
    dup2(kept, STDIN_FILENO);
    close(kept);
    bytes_free(&content);
    bytes_free(&gzip);
}

// The n-th allocation fails: opening or reading says so, and nothing leaks.
static void no_memory(void)
{
    struct bytes content = make_content(200000, 2), in[3] = {{0}};
    bytes_add(&in[0], content.p, content.n);
    add_gzip(&in[1], content.p, content.n, 6, false);
    add_zstd(&in[2], content.p, content.n);
    for (int kind = 0; kind < 3; kind++) {
        for (int sticky = 0; sticky < 2; sticky++) {
            const char *path = write_file(in[kind].p, in[kind].n);
            enum stoker_status status = STOKER_ENOMEM;
            uint64_t n = 1;
            for (; status == STOKER_ENOMEM && n < 50; n++) {
                struct bytes out = {0};
                char damage[256];
                stk_alloc_fail_at(n, sticky);
                status = read_all(path, true, true, 50000, &out, damage);
                bytes_free(&out);
            }
            CHECK_EQ(status, STOKER_OK);
            CHECK(n > 2);
        }
    }
    stk_alloc_fail_at(0, 0);
    bytes_free(&content);
    for (int kind = 0; kind < 3; kind++) {
        bytes_free(&in[kind]);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(kinds);
    CHECK_RUN(truncation);
    CHECK_RUN(damage_is_told);
    CHECK_RUN(beyond_4_gib);
    CHECK_RUN(unfit);
    CHECK_RUN(standard_input);
    CHECK_RUN(no_memory);
    return check_done("unit.base_stream");
}
