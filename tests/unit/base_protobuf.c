// SPDX-License-Identifier: Apache-2.0
// Protobuf primitives: varints of every length, fields, damage, and the walk over a source.
#include "base/cpu.h"
#include "check.h"
#include "base/protobuf.h"
#include "xplane_writer.h"

static uint64_t seed = 0x2545f4914f6cdd1du;
static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static void one_varint(uint64_t v)
{
    struct pb b = {0};
    pb_varint(&b, v);
    size_t n = b.n;
    pb_raw(&b, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
           11); // must not be read as part of it
    uint64_t got = ~v;
    struct stk_pb_cursor c = {b.p, b.p + b.n};
    CHECK(stk_pb_varint(&c, &got) == STK_PB_FIELD);
    CHECK(got == v && c.p == b.p + n);
    c = (struct stk_pb_cursor){b.p, b.p + n}; // the end of the message is near: the slow way
    CHECK(stk_pb_varint(&c, &got) == STK_PB_FIELD && got == v && c.p == c.end);
    c = (struct stk_pb_cursor){b.p, b.p + n - 1};
    CHECK(stk_pb_varint(&c, &got) == STK_PB_CUT);
    free(b.p);
}

// Both ways of reading a varint without looking at its length first.
static void short_varint(uint64_t v)
{
    struct pb b = {0};
    pb_varint(&b, v);
    size_t n = b.n;
    pb_raw(&b, "\xff\x03\xff\xff\xff\xff\xff\xff", 8);
    uint64_t plain = ~v, pext = ~v;
    const uint8_t *end = stk_varint_get8(b.p, &plain);
    CHECK(n > 8 ? end == NULL : end == b.p + n && plain == v);
    if (stk_cpu_has(STK_CPU_PEXT)) {
        CHECK(stk_varint_get8_pext(b.p, &pext) == end);
        CHECK(pext == plain);
    }
    free(b.p);
}

static void varints(void)
{
    for (int bit = 0; bit < 64; bit++) {
        short_varint(1ull << bit);
        short_varint((1ull << bit) - 1);
    }
    for (int i = 0; i < 20000; i++) {
        short_varint(next_random() >> (next_random() & 63));
    }
    for (int bit = 0; bit < 64; bit++) {
        one_varint(1ull << bit);
        one_varint((1ull << bit) - 1);
        one_varint(~(1ull << bit));
    }
    for (int i = 0; i < 20000; i++) {
        one_varint(next_random() >> (next_random() & 63));
    }
    uint64_t v;
    uint8_t endless[16];
    memset(endless, 0xff, sizeof endless);
    struct stk_pb_cursor c = {endless, endless + sizeof endless};
    CHECK(stk_pb_varint(&c, &v) == STK_PB_BAD);
    // Longer than needed is still the same number.
    const uint8_t padded[10] = {0x85, 0x80, 0x80, 0x00, 9, 9, 9, 9, 9, 9};
    c = (struct stk_pb_cursor){padded, padded + 10};
    CHECK(stk_pb_varint(&c, &v) == STK_PB_FIELD && v == 5 && c.p == padded + 4);
}

static void fields(void)
{
    struct pb b = {0};
    pb_int(&b, 1, -1);
    pb_double(&b, 2, 1.5);
    pb_str(&b, 300, "abc");
    pb_varint(&b, 4 << 3 | 5);
    pb_raw(&b, "\x01\x02\x03\x04", 4);
    struct stk_pb_cursor c = {b.p, b.p + b.n};
    struct stk_pb_field f;
    CHECK(stk_pb_next(&c, &f) == STK_PB_FIELD && f.number == 1 && (int64_t)f.value == -1);
    double d;
    CHECK(stk_pb_next(&c, &f) == STK_PB_FIELD && f.number == 2 && f.wire == STK_PB_FIXED64);
    memcpy(&d, &f.value, sizeof d);
    CHECK(d == 1.5);
    CHECK(stk_pb_next(&c, &f) == STK_PB_FIELD && f.number == 300 && f.value == 3);
    CHECK(memcmp(f.data, "abc", 3) == 0);
    CHECK(stk_pb_next(&c, &f) == STK_PB_FIELD && f.number == 4 && f.value == 0x04030201);
    CHECK(stk_pb_next(&c, &f) == STK_PB_END);
    for (size_t n = 0; n < b.n; n++) { // cut anywhere: never a field that is not whole
        c = (struct stk_pb_cursor){b.p, b.p + n};
        enum stk_pb_step step;
        while ((step = stk_pb_next(&c, &f)) == STK_PB_FIELD) {
            CHECK(c.p <= c.end);
        }
        CHECK(step == STK_PB_END || step == STK_PB_CUT);
    }
    free(b.p);
    static const char *const bad[] = {"\x00\x01", "\x0b\x01", "\x0c\x01", "\x0e\x01", "\x0f\x01"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        c = (struct stk_pb_cursor){(const uint8_t *)bad[i], (const uint8_t *)bad[i] + 2};
        CHECK(stk_pb_next(&c, &f) == STK_PB_BAD);
    }
}

// The walk sees what the cursor sees, from a file and from memory, across its window.
static void walks(void)
{
    struct pb b = {0};
    char *large = calloc(1, 300000);
    if (!large) {
        exit(2);
    }
    for (int i = 0; i < 3000; i++) {
        pb_int(&b, 1 + (unsigned)(next_random() % 15), (int64_t)(next_random() >> (i % 64)));
        pb_bytes(&b, 7, large, i % 100 == 0 ? 300000 : (size_t)(next_random() % 300));
    }
    const char *path = file_of(b.p, b.n);
    struct stoker_err err;
    struct stk_stream *s = NULL;
    CHECK(stk_stream_open(&s, path, &(struct stk_stream_opts){0}, &err) == STOKER_OK);
    struct stk_pb_source sources[2] = {{.stream = s, .size = b.n}, {.mem = b.p, .size = b.n}};
    for (int k = 0; k < 2; k++) {
        struct stk_pb_walk w;
        CHECK(stk_pb_walk_init(&w, &sources[k], &err));
        w.end = b.n;
        struct stk_pb_cursor c = {b.p, b.p + b.n};
        struct stk_pb_field f, g;
        enum stk_pb_step step;
        while ((step = stk_pb_next(&c, &f)) == STK_PB_FIELD) {
            CHECK(stk_pb_walk_next(&w, &g) == STK_PB_FIELD);
            CHECK(f.number == g.number && f.wire == g.wire && f.value == g.value);
            if (f.wire == STK_PB_LEN) {
                CHECK_EQ(g.offset, f.data - b.p);
            }
        }
        CHECK(step == STK_PB_END && stk_pb_walk_next(&w, &g) == STK_PB_END);
        stk_pb_walk_deinit(&w);
    }
    stk_stream_close(s);
    unlink(path);
    free(large);
    free(b.p);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(varints);
    CHECK_RUN(fields);
    CHECK_RUN(walks);
    return check_done("unit.base_protobuf");
}
