// SPDX-License-Identifier: Apache-2.0
// Random access: at any time and in any order, read_at gives the bytes that sequential reading
// gives, and does not disturb it. For plain, gzip (one and many members), zstd (one and many
// frames), from files and from a pipe; with marks thinned out, damaged input and little memory.
#include "stream_files.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/stream.h"
#include "base/stream_seek.h"

static struct stk_stream *open_stream(const char *path, bool seekable)
{
    struct stk_stream *s = NULL;
    struct stoker_err err;
    struct stk_stream_opts opts = {.seekable = seekable};
    CHECK_EQ(stk_stream_open(&s, path, &opts, &err), STOKER_OK);
    return s;
}

// One read at `offset`, held against the content up to its end.
static void probe(struct stk_stream *s, struct bytes content, uint64_t offset, size_t n)
{
    static uint8_t buf[1 << 20];
    struct stoker_err err;
    size_t got;
    n = n < sizeof buf ? n : sizeof buf;
    size_t want = offset >= content.n ? 0 : content.n - offset < n ? content.n - offset : n;
    CHECK_EQ(stk_stream_read_at(s, offset, buf, n, &got, &err), STOKER_OK);
    CHECK_EQ(got, want);
    CHECK(got != want || !want || memcmp(buf, content.p + offset, got) == 0);
}

// Reads on in random amounts with random accesses between, then does some hundred more.
static void mix(struct stk_stream *s, struct bytes content, int probes, uint64_t seed)
{
    size_t at = 0, got, most = content.n / (size_t)probes + 1;
    uint8_t *buf = malloc(2 * most);
    struct stoker_err err;
    int wrong = 0;
    do {
        size_t n = 1 + next_random(&seed) % (2 * most);
        CHECK_EQ(stk_stream_read(s, buf, n, &got, &err), STOKER_OK);
        wrong += at + got > content.n || (got && memcmp(buf, content.p + at, got) != 0);
        at += got;
        probe(s, content, next_random(&seed) % content.n, 1 + next_random(&seed) % 3000);
    } while (got > 0 && !wrong);
    CHECK_EQ(wrong, 0);
    CHECK_EQ(at, content.n);
    uint64_t offset = 0;
    for (int i = 0; i < probes; i++) { // ascending and overlapping, as a sorted list of records is
        probe(s, content, offset, 5000);
        offset += next_random(&seed) % (2 * most);
    }
    for (int i = 0; i < probes / 4; i++) {
        probe(s, content, next_random(&seed) % content.n, next_random(&seed) % 700000);
    }
    probe(s, content, content.n, 10);
    probe(s, content, content.n - 1, 10);
    probe(s, content, UINT64_MAX, 10);
    probe(s, content, UINT64_MAX - 5, 10);
    probe(s, content, 0, 0);
    free(buf);
}

static void mix_file(struct bytes file, struct bytes content, int probes, uint64_t seed)
{
    struct stk_stream *s = open_stream(write_file(file.p, file.n), true);
    mix(s, content, probes, seed);
    CHECK(stk_stream_damage(s) == NULL);
    stk_stream_close(s);
}

static void files(void)
{
    struct bytes content = make_content((size_t)26 << 20, 2), one = {0}, many = {0}, big = {0};
    add_gzip(&one, content.p, content.n, 1, true);
    for (size_t at = 0; at < content.n; at += 60000) {
        size_t n = content.n - at < 60000 ? content.n - at : 60000;
        add_gzip(&many, content.p + at, n, 1, false);
    }
    for (size_t at = 0; at < content.n; at += (size_t)11 << 20) {
        size_t n = content.n - at < (size_t)11 << 20 ? content.n - at : (size_t)11 << 20;
        add_gzip(&big, content.p + at, n, 1, true);
    }
    mix_file(content, content, 200, 1);
    mix_file(one, content, 60, 2);
    mix_file(many, content, 60, 3);
    mix_file(big, content, 60, 4);
    one.n = many.n = 0;
    add_zstd(&one, content.p, content.n);
    for (size_t at = 0; at < content.n; at += 1000000) {
        add_zstd(&many, content.p + at, content.n - at < 1000000 ? content.n - at : 1000000);
    }
    mix_file(one, content, 15, 5);
    mix_file(many, content, 60, 6);
    bytes_free(&content);
    bytes_free(&one);
    bytes_free(&many);
    bytes_free(&big);
}

struct feed {
    int fd;
    struct bytes content;
};

static void *feed_pipe(void *p)
{
    struct feed *f = p;
    for (size_t at = 0; at < f->content.n;) {
        ssize_t n = write(f->fd, f->content.p + at, f->content.n - at);
        if (n <= 0) {
            break;
        }
        at += (size_t)n;
    }
    close(f->fd);
    return NULL;
}

static void pipes(void)
{
    struct bytes content = make_content(3000000, 7), gzip = {0};
    add_gzip(&gzip, content.p, content.n, 1, false);
    int kept = dup(STDIN_FILENO);
    for (int compressed = 0; compressed < 2; compressed++) {
        int ends[2];
        pthread_t thread;
        CHECK_EQ(pipe(ends), 0);
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        struct feed feed = {ends[1], compressed ? gzip : content};
        CHECK_EQ(pthread_create(&thread, NULL, feed_pipe, &feed), 0);
        struct stk_stream *s = open_stream("-", true);
        probe(s, content, 2500000, 1000); // far ahead of what was read
        mix(s, content, 50, 9);
        stk_stream_close(s);
        pthread_join(thread, NULL);
    }
    dup2(kept, STDIN_FILENO);
    close(kept);
    bytes_free(&content);
    bytes_free(&gzip);
}

// With a small distance the marks are thinned out many times; they stay sorted, few, and right.
static void thinning(void)
{
    struct bytes content = make_content(6000000, 3), gzip = {0};
    add_gzip(&gzip, content.p, 3000000, 1, false);
    add_gzip(&gzip, content.p + 3000000, 3000000, 1, false);
    static struct stk_seek k;
    struct stk_source source;
    struct stk_decoder d;
    struct stoker_err err;
    stk_seek_init(&k);
    k.distance = 2000;
    CHECK_EQ(stk_source_open(&source, write_file(gzip.p, gzip.n), false, &err), STOKER_OK);
    CHECK_EQ(stk_decoder_open(&d, &source, STK_CODEC_GZIP, 100000, NULL, 0, &err), STOKER_OK);
    static uint8_t buf[100000];
    size_t got, want;
    do {
        want = (size_t)stk_seek_capacity(&k, &d);
        want = want < sizeof buf ? want : sizeof buf;
        CHECK_EQ(stk_decoder_read(&d, buf, want, &got, &err), STOKER_OK);
        stk_seek_note(&k, &d);
    } while (got > 0);
    CHECK(k.distance > 2000);
    CHECK(k.mark_count > STK_SEEK_MARKS_MAX / 3 && k.mark_count <= STK_SEEK_MARKS_MAX);
    for (size_t i = 1; i < k.mark_count; i++) {
        CHECK(k.marks[i].out_pos > k.marks[i - 1].out_pos &&
              k.marks[i].in_pos >= k.marks[i - 1].in_pos);
    }
    uint64_t seed = 5;
    for (int i = 0; i < 500; i++) {
        uint64_t offset = next_random(&seed) % (content.n - 1000);
        CHECK_EQ(stk_seek_read(&k, &source, STK_CODEC_GZIP, offset, buf, 1000, &got, &err),
                 STOKER_OK);
        CHECK(got == 1000 && memcmp(buf, content.p + offset, got) == 0);
    }
    stk_seek_deinit(&k);
    stk_decoder_close(&d);
    stk_source_close(&source);
    bytes_free(&content);
    bytes_free(&gzip);
}

static void refusals(void)
{
    struct bytes content = make_content(200000, 3), gzip = {0};
    add_gzip(&gzip, content.p, content.n, 1, false);
    struct stk_stream *s = open_stream(write_file(gzip.p, gzip.n), false);
    struct stoker_err err;
    size_t got;
    char buf[10];
    CHECK_EQ(stk_stream_read_at(s, 0, buf, 10, &got, &err), STOKER_EINVAL);
    CHECK_EQ(got, 0);
    stk_stream_close(s);
    s = open_stream(write_file(content.p, content.n), false);
    probe(s, content, 150000, 100); // plain files need nothing
    stk_stream_close(s);
    s = open_stream(write_file(gzip.p, gzip.n / 2), true); // cut: what is there can be read
    probe(s, content, 1000, 1000);
    CHECK_EQ(stk_stream_read_at(s, content.n - 10, buf, 10, &got, &err), STOKER_OK);
    CHECK_EQ(got, 0);
    probe(s, content, 500, 1000);
    stk_stream_close(s);
    bytes_free(&content);
    bytes_free(&gzip);
}

// Each allocation of a random access fails once; the next attempt succeeds, and nothing leaks.
static void no_memory(void)
{
    struct bytes content = make_content((size_t)9 << 20, 3), gzip = {0};
    add_gzip(&gzip, content.p, content.n, 1, false);
    for (uint64_t n = 1; n < 20; n++) {
        struct stk_stream *s = open_stream(write_file(gzip.p, gzip.n), true);
        struct stoker_err err;
        static uint8_t buf[9 << 20];
        const uint8_t *head;
        size_t got;
        CHECK_EQ(stk_stream_peek(s, &head), 65536); // the decoder has all it needs
        stk_alloc_fail_at(n == 1, 0);               // the first mark
        CHECK_EQ(stk_stream_read(s, buf, sizeof buf, &got, &err), STOKER_OK);
        CHECK_EQ(got, content.n);
        stk_alloc_fail_at(n, 0);
        enum stoker_status status = stk_stream_read_at(s, 8500000, buf, 1000, &got, &err);
        stk_alloc_fail_at(0, 0);
        CHECK(status == STOKER_OK || status == STOKER_ENOMEM);
        CHECK(n > 1 || status == STOKER_ENOMEM);
        probe(s, content, 8600000, 1000);
        probe(s, content, 5, 1000);
        stk_stream_close(s);
    }
    bytes_free(&content);
    bytes_free(&gzip);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(files);
    CHECK_RUN(pipes);
    CHECK_RUN(thinning);
    CHECK_RUN(refusals);
    CHECK_RUN(no_memory);
    return check_done("unit.base_seek");
}
