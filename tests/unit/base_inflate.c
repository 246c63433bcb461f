// SPDX-License-Identifier: Apache-2.0
// The deflate decoders against each other and against the bytes that zlib compressed: with random
// input and output pieces, saved and resumed, on damaged input; and the gzip framing around them.
#include "stream_files.h"

#include <sys/mman.h>

#include "base/alloc.h"
#include "base/inflate.h"
#include "base/stream_gzip.h"

static const struct stk_inflate_engine *const engines[] = {
    &stk_inflate_zlib,
#if STOKER_HAVE_ISAL
    &stk_inflate_isal,
#endif
};
enum { ENGINES = sizeof engines / sizeof *engines, GUARD = 64 };

static size_t piece(uint64_t *seed, size_t most, size_t left)
{
    size_t n = 1 + next_random(seed) % most;
    return n < left ? n : left;
}

// Runs the framing over all of `in`, at most in_most and out_most bytes at a time. With `resume`
// the decoder is now and then saved, closed, and loaded into a new one.
static enum stk_inflate_result inflate_all(const struct stk_inflate_engine *engine, struct bytes in,
                                           size_t in_most, size_t out_most, bool resume,
                                           struct bytes *out)
{
    struct stk_gzip g;
    uint64_t seed = in_most * 31 + out_most;
    uint8_t *buf = malloc(out_most + GUARD);
    size_t used = 0;
    enum stk_inflate_result r = STK_INFLATE_MORE;
    int wrong = 0;
    CHECK_EQ(stk_gzip_open(&g, engine), 0);
    for (int idle = 0; idle < 3 && r != STK_INFLATE_BAD && r != STK_INFLATE_NOMEM;) {
        size_t n = piece(&seed, in_most, in.n - used), capacity = piece(&seed, out_most, out_most);
        memset(buf + capacity, 0xa5, GUARD);
        struct stk_inflate_io io = {in.p + used, n, buf, capacity};
        r = stk_gzip_run(&g, &io);
        idle = io.in_len == n && io.out_len == capacity && r == STK_INFLATE_MORE ? idle + 1 : 0;
        for (int i = 0; i < GUARD; i++) { // the libraries are not built with a sanitizer
            wrong += buf[capacity + (size_t)i] != 0xa5;
        }
        used += n - io.in_len;
        bytes_add(out, buf, capacity - io.out_len);
        if (resume && g.phase == STK_GZIP_BODY && next_random(&seed) % 16 == 0) {
            struct stk_gzip_mark mark;
            struct stk_gzip other;
            CHECK_EQ(stk_gzip_save(&g, &mark), 0);
            CHECK_EQ(stk_gzip_open(&other, engine), 0);
            CHECK_EQ(stk_gzip_load(&other, &mark), 0);
            stk_gzip_close(&g);
            engine->free_saved(mark.saved);
            g = other;
        }
    }
    if (r == STK_INFLATE_MORE && stk_gzip_may_end(&g)) {
        r = STK_INFLATE_END;
    }
    CHECK_EQ(wrong, 0);
    stk_gzip_close(&g);
    free(buf);
    return r;
}

static void pieces(void)
{
    struct bytes content = make_content(250000, 5), in = {0};
    add_gzip(&in, content.p, 100000, 6, true);
    add_gzip(&in, content.p + 100000, 0, 6, false);
    add_gzip(&in, content.p + 100000, 70000, 0, false);
    bytes_add(&in, "\0\0\0", 3); // padding
    add_gzip(&in, content.p + 170000, 1, 9, false);
    add_gzip(&in, content.p + 170001, 79999, 1, true);
    const size_t sizes[][2] = {{1, 1000},     {1000, 1},      {1, 1},
                               {7, 13},       {100, 70000},   {70000, 100},
                               {5000, 33000}, {300, 1000000}, {1000000, 1000000}};
    for (int e = 0; e < ENGINES; e++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            for (int resume = 0; resume < 2; resume++) {
                if (resume && sizes[i][0] < 100) { // slow, and nothing new
                    continue;
                }
                struct bytes out = {0};
                CHECK_EQ(inflate_all(engines[e], in, sizes[i][0], sizes[i][1], resume, &out),
                         STK_INFLATE_END);
                CHECK(out.n == content.n && memcmp(out.p, content.p, out.n) == 0);
                bytes_free(&out);
            }
        }
    }
    bytes_free(&content);
    bytes_free(&in);
}

// Damage anywhere: both decoders end the same way. Where one stops, the other may have found out a
// few symbols earlier or later, but what both delivered agrees.
static void damage(void)
{
    struct bytes content = make_content(60000, 9), in = {0};
    add_gzip(&in, content.p, content.n, 6, true);
    // The input ends where its pages do: reading beyond it ends the test.
    size_t capacity = (in.n + 65535) & ~(size_t)65535;
    uint8_t *pages =
        mmap(NULL, capacity + 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + capacity, 65536, PROT_NONE)) {
        exit(9);
    }
    memcpy(pages + capacity - in.n, in.p, in.n);
    free(in.p);
    in.p = pages + capacity - in.n;
    uint64_t seed = 77;
    for (int round = 0; round < 800; round++) {
        size_t at = next_random(&seed) % in.n, sizes[] = {50, 2000, 100000};
        uint8_t old = in.p[at];
        in.p[at] ^= (uint8_t)(1u << next_random(&seed) % 8);
        struct bytes out[ENGINES] = {{0}};
        enum stk_inflate_result r[ENGINES];
        for (int e = 0; e < ENGINES; e++) {
            r[e] = inflate_all(engines[e], in, sizes[round % 3], sizes[(round + 1) % 3], false,
                               &out[e]);
        }
        for (int e = 1; e < ENGINES; e++) {
            size_t n = out[e].n < out[0].n ? out[e].n : out[0].n;
            CHECK((r[e] == STK_INFLATE_END) == (r[0] == STK_INFLATE_END));
            CHECK(n == 0 || memcmp(out[e].p, out[0].p, n) == 0);
            CHECK(out[e].n + 600 > out[0].n && out[0].n + 600 > out[e].n);
        }
        if (r[0] == STK_INFLATE_END) {
            CHECK(out[0].n == content.n && memcmp(out[0].p, content.p, content.n) == 0);
        }
        for (int e = 0; e < ENGINES; e++) {
            bytes_free(&out[e]);
        }
        in.p[at] = old;
    }
    bytes_free(&content);
    munmap(pages, capacity + 65536);
}

static const char *why_of(struct bytes in, const char **text)
{
    struct stk_gzip g;
    static uint8_t buf[100000];
    CHECK_EQ(stk_gzip_open(&g, STK_INFLATE_DEFAULT), 0);
    struct stk_inflate_io io = {in.p, in.n, buf, sizeof buf};
    enum stk_inflate_result r;
    while ((r = stk_gzip_run(&g, &io)) == STK_INFLATE_END)
        ;
    *text = r == STK_INFLATE_BAD ? g.why : "";
    stk_gzip_close(&g);
    return *text;
}

static void framing(void)
{
    struct bytes content = make_content(3000, 3), in = {0};
    const char *why;
    add_gzip(&in, content.p, content.n, 6, false);
    CHECK_STR(why_of(in, &why), "");
    in.p[2] = 9;
    CHECK(strstr(why_of(in, &why), "method"));
    in.p[2] = 8;
    in.p[3] = 0x80;
    CHECK(strstr(why_of(in, &why), "flags"));
    in.p[3] = 0;
    in.p[in.n - 8] ^= 1;
    CHECK(strstr(why_of(in, &why), "checksum"));
    in.p[in.n - 8] ^= 1;
    in.p[in.n - 4] ^= 1;
    CHECK(strstr(why_of(in, &why), "length"));
    in.p[in.n - 4] ^= 1;
    bytes_add(&in, "\0\0junk", 6);
    CHECK(strstr(why_of(in, &why), "not gzip"));
    in.p[0] = 'x';
    CHECK(strstr(why_of(in, &why), "no gzip header"));
    bytes_free(&content);
    bytes_free(&in);
}

// Every allocation fails once: the run ends in NOMEM or does not start, and nothing leaks.
static void no_memory(void)
{
    struct bytes content = make_content(100000, 3), in = {0};
    add_gzip(&in, content.p, content.n, 6, false);
    for (int e = 0; e < ENGINES; e++) {
        bool all = false;
        for (uint64_t n = 1; !all && n < 100; n++) {
            struct stk_gzip g = {0};
            struct stk_gzip_mark mark = {0};
            uint8_t *buf = malloc(content.n);
            struct stk_inflate_io io = {in.p, in.n / 2, buf, content.n};
            stk_alloc_fail_at(n, 0);
            if (stk_gzip_open(&g, engines[e]) == 0) {
                enum stk_inflate_result r = stk_gzip_run(&g, &io);
                CHECK(r == STK_INFLATE_MORE || r == STK_INFLATE_NOMEM);
                all = r == STK_INFLATE_MORE && stk_gzip_save(&g, &mark) == 0 &&
                      stk_gzip_load(&g, &mark) == 0;
                if (!all && mark.saved) { // load failed: a restart must work, or say why not
                    stk_gzip_restart(&g, 0);
                    io = (struct stk_inflate_io){in.p, in.n / 2, buf, content.n};
                    CHECK_EQ(stk_gzip_run(&g, &io), STK_INFLATE_MORE);
                }
                engines[e]->free_saved(mark.saved);
            }
            stk_gzip_close(&g);
            free(buf);
            CHECK(n < 99);
        }
    }
    stk_alloc_fail_at(0, 0);
    bytes_free(&content);
    bytes_free(&in);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(pieces);
    CHECK_RUN(damage);
    CHECK_RUN(framing);
    CHECK_RUN(no_memory);
    return check_done("unit.base_inflate");
}
