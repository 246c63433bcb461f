// SPDX-License-Identifier: Apache-2.0
// Example and SequenceExample: files that TensorFlow wrote (tests/data/records/make.py has their
// formula), hand-made wire bytes for the rules, messages truncated and with flipped bits, failing
// allocations.
#include "base/alloc.h"
#include "engine/formats/example.h"
#include "record_run.h"

static struct stoker_err err;
static const float maybe_default = -1;

static const struct stk_example_feature plain_features[] = {
    {.name = "id", .type = STK_EXAMPLE_INT64, .elements = 1},
    {.name = "x", .type = STK_EXAMPLE_FLOAT, .elements = 4},
    {.name = "tags", .type = STK_EXAMPLE_BYTES, .kind = STK_EXAMPLE_RAGGED},
    {.name = "big", .type = STK_EXAMPLE_INT64, .kind = STK_EXAMPLE_RAGGED},
    {.name = "maybe",
     .type = STK_EXAMPLE_FLOAT,
     .elements = 1,
     .defaults = &maybe_default,
     .default_count = 1},
    {.name = "never there", .type = STK_EXAMPLE_FLOAT, .kind = STK_EXAMPLE_RAGGED},
};

struct fixture {
    struct stk_example_spec *spec;
    struct stk_example_parser *parser;
    struct stk_example_batch batch;
};

static enum stoker_status set_up(struct fixture *f, const struct stk_example_feature *features,
                                 size_t count, enum stk_example_message message)
{
    *f = (struct fixture){0};
    enum stoker_status status = stk_example_compile(&f->spec, features, count, &err);
    if (!status) {
        status = stk_example_parser_open(&f->parser, f->spec, message, &err);
    }
    if (!status) {
        status = stk_example_batch_open(&f->batch, f->spec, &err);
    }
    return status;
}

static void tear_down(struct fixture *f)
{
    stk_example_batch_close(&f->batch);
    stk_example_parser_close(f->parser);
    stk_example_spec_free(f->spec);
}

static enum stoker_status parse_all(struct fixture *f, const struct record_all *all, bool skip_bad)
{
    enum stoker_status status = STOKER_OK;
    for (size_t i = 0; i < all->count && !status; i++) {
        struct stk_record r = {all->items[i].data, all->items[i].size, all->items[i].offset, i};
        size_t done;
        status = stk_example_parse(f->parser, &f->batch, &r, 1, skip_bad, &done, &err);
        if (!status) {
            CHECK_EQ(done, 1);
        }
    }
    return status;
}

static void check_plain(const struct stk_example_batch *b, size_t rows)
{
    const struct stk_example_column *c = b->columns;
    CHECK_EQ(b->rows, rows);
    size_t tag = 0, big = 0;
    for (size_t i = 0; i < rows; i++) {
        CHECK_EQ(c[0].int64s[i], (int64_t)i - 3);
        for (size_t k = 0; k < 4; k++) {
            CHECK(c[1].floats[4 * i + k] == (float)i + (float)k / 4);
        }
        for (size_t k = 0; k < i % 4; k++, tag++) {
            char want[32];
            size_t n = (size_t)snprintf(want, sizeof want, "tag-%zu-%zu", i, k);
            CHECK(c[2].bytes[tag].size == n && memcmp(c[2].bytes[tag].data, want, n) == 0);
        }
        for (size_t k = 0; k < i % 5; k++, big++) {
            CHECK_EQ(c[3].int64s[big], (k % 2 ? -1 : 1) * ((int64_t)1 << (12 * k + i % 12)));
        }
        CHECK_EQ(c[2].row_splits[i + 1], tag);
        CHECK_EQ(c[3].row_splits[i + 1], big);
        CHECK(c[4].floats[i] == (i % 2 ? -1 : (float)i / 2));
        CHECK_EQ(c[5].row_splits[i + 1], 0);
    }
    CHECK_EQ(c[2].count, tag);
    CHECK_EQ(c[3].count, big);
    CHECK_EQ(c[3].row_max, rows > 4 ? 4 : (int64_t)rows - 1);
}

static struct record_all plain, sequence;

static void golden(void)
{
    struct fixture f;
    CHECK_EQ(set_up(&f, plain_features, 6, STK_EXAMPLE_SINGLE), STOKER_OK);
    CHECK_EQ(parse_all(&f, &plain, false), STOKER_OK);
    check_plain(&f.batch, 60);
    // Again into the same memory, which costs no allocation.
    stk_example_batch_clear(&f.batch);
    uint64_t before = stk_alloc_count();
    CHECK_EQ(parse_all(&f, &plain, false), STOKER_OK);
    CHECK_EQ(stk_alloc_count(), before);
    check_plain(&f.batch, 60);
    // Into memory of the caller, which has an end.
    int64_t ids[10];
    stk_example_batch_clear(&f.batch);
    CHECK_EQ(stk_example_bind(&f.batch, 0, ids, 10, &err), STOKER_OK);
    CHECK_EQ(stk_example_bind(&f.batch, 3, ids, 10, &err), STOKER_EINVAL);
    CHECK_EQ(parse_all(&f, &plain, false), STOKER_ELIMIT);
    check_plain(&f.batch, 10);
    CHECK_EQ(ids[9], 6);
    tear_down(&f);
}

static void golden_sequence(void)
{
    static const struct stk_example_feature features[] = {
        {.name = "words", .type = STK_EXAMPLE_BYTES, .kind = STK_EXAMPLE_RAGGED, .is_list = true},
        {.name = "id", .type = STK_EXAMPLE_INT64, .elements = 1},
        {.name = "frames", .type = STK_EXAMPLE_FLOAT, .elements = 2, .is_list = true},
    };
    struct fixture f;
    CHECK_EQ(set_up(&f, features, 3, STK_EXAMPLE_SEQUENCE), STOKER_OK);
    CHECK_EQ(parse_all(&f, &sequence, false), STOKER_OK);
    const struct stk_example_column *c = f.batch.columns;
    size_t step = 0, frame = 0, word = 0;
    for (size_t i = 0; i < 24; i++) {
        CHECK_EQ(c[1].int64s[i], i);
        for (size_t k = 0; k < i % 3; k++, frame++) {
            CHECK(c[2].floats[2 * frame] == (float)i && c[2].floats[2 * frame + 1] == (float)k);
        }
        CHECK_EQ(c[2].row_splits[i + 1], frame);
        for (size_t k = 0; k < i % 4; k++) {
            for (size_t j = 0; j < k; j++, word++) {
                CHECK(c[0].bytes[word].size == 2 && c[0].bytes[word].data[1] == '0' + j);
            }
            CHECK_EQ(c[0].step_splits[++step], word);
        }
        CHECK_EQ(c[0].row_splits[i + 1], step);
    }
    CHECK_EQ(c[0].steps, step);
    CHECK_EQ(c[0].count, word);
    CHECK_EQ(c[2].count, 2 * frame);
    tear_down(&f);
    struct stk_example_feature gone[] = {
        {.name = "gone", .type = STK_EXAMPLE_FLOAT, .elements = 2, .is_list = true}};
    CHECK_EQ(set_up(&f, gone, 1, STK_EXAMPLE_SEQUENCE), STOKER_OK);
    CHECK_EQ(parse_all(&f, &sequence, false), STOKER_EINPUT);
    tear_down(&f);
    gone[0].allow_missing = true;
    CHECK_EQ(set_up(&f, gone, 1, STK_EXAMPLE_SEQUENCE), STOKER_OK);
    CHECK_EQ(parse_all(&f, &sequence, false), STOKER_OK);
    CHECK_EQ(f.batch.columns[0].count, 0);
    tear_down(&f);
}

// Parses one message given as text of its bytes; the column of one int64 feature "a".
static struct fixture one;

static enum stoker_status parse_bytes(const char *bytes, size_t size)
{
    struct stk_record r = {(const uint8_t *)bytes, size, 40, 2};
    size_t done;
    stk_example_batch_clear(&one.batch);
    return stk_example_parse(one.parser, &one.batch, &r, 1, false, &done, &err);
}

#define PARSE(literal) parse_bytes(literal, sizeof literal - 1)

// Entries of a map: "\x0a" length, "\x0a\x01" "a", "\x12" length of the Feature, the Feature.
#define ENTRY_5                                                                                    \
    "\x0a\x0a\x0a\x01"                                                                             \
    "a"                                                                                            \
    "\x12\x05\x1a\x03\x0a\x01\x05" // packed 5
#define ENTRY_7                                                                                    \
    "\x0a\x09\x0a\x01"                                                                             \
    "a"                                                                                            \
    "\x12\x04\x1a\x02\x08\x07" // unpacked 7
#define ENTRY_F                                                                                    \
    "\x0a\x0d\x0a\x01"                                                                             \
    "a"                                                                                            \
    "\x12\x08\x12\x06\x0a\x04\0\0\0\0" // a float
#define ENTRY_NONE                                                                                 \
    "\x0a\x05\x0a\x01"                                                                             \
    "a"                                                                                            \
    "\x12\x00"
#define ENTRY_B                                                                                    \
    "\x0a\x0a\x0a\x01"                                                                             \
    "b"                                                                                            \
    "\x12\x05\x1a\x03\x0a\x01\x05"

static void rules(void)
{
    const struct stk_example_feature a[] = {
        {.name = "a", .type = STK_EXAMPLE_INT64, .elements = 1}};
    CHECK_EQ(set_up(&one, a, 1, STK_EXAMPLE_SINGLE), STOKER_OK);
    const struct stk_example_column *c = one.batch.columns;
#define GIVES(want, literal)                                                                       \
    do {                                                                                           \
        CHECK_EQ(PARSE(literal), STOKER_OK);                                                       \
        CHECK_EQ(c->int64s[0], want);                                                              \
    } while (0)
    GIVES(5, "\x0a\x0c" ENTRY_5);
    GIVES(7, "\x0a\x0b" ENTRY_7);
    GIVES(7, "\x0a\x17" ENTRY_5 ENTRY_7); // the last counts
    GIVES(5, "\x0a\x17" ENTRY_7 ENTRY_5);
    GIVES(5, "\x0a\x0b" ENTRY_7 "\x0a\x0c" ENTRY_5); // two Examples one behind the other
    GIVES(5, "\x0a\x1b" ENTRY_F ENTRY_5);            // also over a wrong one
    GIVES(5, "\x0a\x13" ENTRY_5 ENTRY_NONE);         // nothing hides nothing
    GIVES(5, "\x0a\x18" ENTRY_B ENTRY_5);
    GIVES(5, "\x0a\x0c"
             "\x0a\x0a\x12\x05\x1a\x03\x0a\x01\x05\x0a\x01"
             "a"); // value before key
    GIVES(5, "\x10\x01\x1d"
             "abcd"
             "\x21"
             "abcdefgh"
             "\x0a\x0c" ENTRY_5 "\x23\x2b\x2c\x24"); // unknown
    GIVES(-1, "\x0a\x15\x0a\x13\x0a\x01"
              "a"
              "\x12\x0e\x1a\x0c\x0a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    GIVES(6, "\x0a\x11\x0a\x0f\x0a\x01"
             "a"
             "\x12\x0a\x12\x03\x0a\x01\x05\x1a\x03\x0a\x01\x06"); // oneof
#undef GIVES
    CHECK_EQ(PARSE(""), STOKER_EINPUT);
    CHECK(strstr(err.message, "record 2 at byte 40") &&
          strstr(err.message, "is required but could"));
    CHECK_EQ(PARSE("\x0a\x07" ENTRY_NONE), STOKER_EINPUT); // empty is missing
    CHECK(strstr(err.message, "feature a: (data type: int64) is required") != NULL);
    CHECK_EQ(PARSE("\x0a\x0f" ENTRY_F), STOKER_EINPUT);
    CHECK(strstr(err.message, "Data type: float but expected type: int64") != NULL);
    CHECK_EQ(PARSE("\x0a\x1b" ENTRY_5 ENTRY_F), STOKER_EINPUT);
    CHECK_EQ(PARSE("\x0a\x0d\x0a\x0b\x0a\x01"
                   "a"
                   "\x12\x06\x1a\x04\x0a\x02\x05\x06"),
             STOKER_EINPUT);
    CHECK(strstr(err.message, "Values size: 2 but output shape holds 1") != NULL);
    CHECK_EQ(PARSE("\x0a\x09\x0a\x07\x0a\x01"
                   "a"
                   "\x12\x02\x1a\x00"),
             STOKER_EINPUT); // empty list
    CHECK_EQ(PARSE("\x0a\x0d" ENTRY_5), STOKER_EINPUT);
    CHECK(strstr(err.message, "could not parse") != NULL);
    CHECK_EQ(PARSE("\x0b\x0a\x0c" ENTRY_5), STOKER_EINPUT);     // a group that does not end
    CHECK_EQ(PARSE("\x02\x00\x0a\x0c" ENTRY_5), STOKER_EINPUT); // field 0
    char deep[300];
    memset(deep, 0x23, 150);
    memset(deep + 150, 0x24, 150);
    CHECK_EQ(parse_bytes(deep, 300), STOKER_EINPUT);
    CHECK_EQ(one.batch.rows, 0);
    tear_down(&one);
}

static void compile_errors(void)
{
    struct stk_example_spec *spec;
    struct stk_example_parser *parser;
    struct stk_example_feature f[2] = {{.name = "a", .type = STK_EXAMPLE_INT64, .elements = 1},
                                       {.name = "a", .type = STK_EXAMPLE_INT64, .elements = 1}};
    CHECK_EQ(stk_example_compile(&spec, f, 2, &err), STOKER_EINVAL);
    f[1].is_list = true; // another level
    CHECK_EQ(stk_example_compile(&spec, f, 2, &err), STOKER_OK);
    CHECK_EQ(stk_example_parser_open(&parser, spec, STK_EXAMPLE_SINGLE, &err), STOKER_EINVAL);
    stk_example_spec_free(spec);
    int64_t two[2] = {1, 2};
    f[0].defaults = two;
    f[0].default_count = 2;
    CHECK_EQ(stk_example_compile(&spec, f, 1, &err), STOKER_EINVAL);
    f[0].type = 7;
    CHECK_EQ(stk_example_compile(&spec, f, 1, &err), STOKER_EINVAL);
    f[0].name = NULL;
    CHECK_EQ(stk_example_compile(&spec, f, 1, &err), STOKER_EINVAL);
}

// Bad rows among good ones leave no trace in any column; bytes defaults; names in changing order.
static void skipping(void)
{
    struct fixture f;
    const struct stk_example_bytes fallback = {(const uint8_t *)"none", 4};
    const struct stk_example_feature features[] = {
        {.name = "n", .type = STK_EXAMPLE_INT64, .elements = 2},
        {.name = "r", .type = STK_EXAMPLE_INT64, .kind = STK_EXAMPLE_RAGGED},
        {.name = "s",
         .type = STK_EXAMPLE_BYTES,
         .elements = 2,
         .defaults = &fallback,
         .default_count = 1},
        {.name = "steps", .type = STK_EXAMPLE_FLOAT, .kind = STK_EXAMPLE_RAGGED, .is_list = true},
    };
    CHECK_EQ(set_up(&f, features, 4, STK_EXAMPLE_SEQUENCE), STOKER_OK);
    struct stk_example_buffer buffer = {0};
    size_t good = 0, ragged = 0, floats = 0;
    for (int64_t i = 0; i < 200; i++) {
        int64_t n[300];
        for (int64_t k = 0; k < 300; k++) {
            n[k] = i * (k % 9 ? 1 : -1);
        }
        float x[3] = {(float)i, 1, 2};
        size_t steps[2] = {1, 2};
        struct stk_example_value v[3] = {
            {.name = "n", .type = STK_EXAMPLE_INT64, .values = n, .count = i % 5 ? 2 : 3},
            {.name = "r",
             .type = STK_EXAMPLE_INT64,
             .values = n,
             .count = (size_t)i,
             .is_unpacked = i % 7 == 0},
            {.name = "steps",
             .type = STK_EXAMPLE_FLOAT,
             .values = x,
             .count = 3,
             .is_list = true,
             .steps = steps,
             .step_count = 2},
        };
        struct stk_example_value swapped[3] = {v[2], v[1], v[0]};
        CHECK_EQ(stk_example_encode(&buffer, STK_EXAMPLE_SEQUENCE, i % 3 ? v : swapped, 3, &err),
                 STOKER_OK);
        uint8_t *copy = malloc(buffer.size);
        memcpy(copy, buffer.data, buffer.size);
        struct stk_record r = {copy, buffer.size, 0, (uint64_t)i};
        size_t done;
        CHECK_EQ(stk_example_parse(f.parser, &f.batch, &r, 1, true, &done, &err), STOKER_OK);
        CHECK_EQ(done, 1);
        free(copy);
        const struct stk_example_column *c = f.batch.columns;
        if (i % 5) {
            good++;
            ragged += (size_t)i;
            floats += 3;
            CHECK_EQ(c[0].int64s[2 * good - 1], i);
            CHECK(i == 0 || c[1].int64s[ragged - 1] == n[i - 1]);
            CHECK(c[3].floats[floats - 3] == (float)i);
            CHECK(memcmp(c[2].bytes[2 * good - 1].data, "none", 4) == 0);
        }
        CHECK_EQ(f.batch.rows, good);
        CHECK_EQ(f.batch.skipped, (uint64_t)i + 1 - good);
        CHECK_EQ(c[0].count, 2 * good);
        CHECK_EQ(c[1].count, ragged);
        CHECK_EQ(c[1].row_splits[good], ragged);
        CHECK_EQ(c[3].count, floats);
        CHECK_EQ(c[3].steps, 2 * good);
        CHECK_EQ(c[3].row_splits[good], 2 * good);
    }
    stk_example_buffer_free(&buffer);
    tear_down(&f);
}

// Cut at every byte and with every bit flipped: an answer, never a read past the end; a cut within
// the top message never parses.
static void damage(void)
{
    struct fixture f;
    CHECK_EQ(set_up(&f, plain_features, 6, STK_EXAMPLE_SINGLE), STOKER_OK);
    for (size_t i = 0; i < 20; i++) {
        const struct record_copy *item = &plain.items[i];
        for (size_t n = 0; n < item->size + 8 * item->size; n++) {
            size_t size = n < item->size ? n : item->size, done;
            uint8_t *copy = malloc(size ? size : 1);
            memcpy(copy, item->data, size);
            if (n >= item->size) {
                copy[(n - size) / 8] ^= (uint8_t)(1 << (n - size) % 8);
            }
            struct stk_record r = {copy, size, 0, i};
            stk_example_batch_clear(&f.batch);
            enum stoker_status status =
                stk_example_parse(f.parser, &f.batch, &r, 1, false, &done, &err);
            CHECK(status == STOKER_EINPUT || (status == STOKER_OK && n >= item->size));
            CHECK_EQ(f.batch.rows, status == STOKER_OK);
            free(copy);
        }
    }
    tear_down(&f);
}

static void failing_allocations(void)
{
    for (uint64_t n = 1; n < 60; n++) {
        struct fixture f;
        stk_alloc_fail_at(n, n % 2);
        enum stoker_status status = set_up(&f, plain_features, 6, STK_EXAMPLE_SINGLE);
        size_t rows = 0;
        if (!status) {
            status = parse_all(&f, &plain, false);
            rows = f.batch.rows;
        }
        stk_alloc_fail_at(0, 0);
        CHECK(status == STOKER_OK || status == STOKER_ENOMEM);
        if (rows > 0) {
            check_plain(&f.batch, rows);
        }
        tear_down(&f);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    record_read_all(&plain, "tests/data/records/plain.tfrecord", NULL, 64);
    record_read_all(&sequence, "tests/data/records/sequence.tfrecord", NULL, 64);
    CHECK_EQ(plain.count, 60);
    CHECK_EQ(sequence.count, 24);
    CHECK_RUN(golden);
    CHECK_RUN(golden_sequence);
    CHECK_RUN(rules);
    CHECK_RUN(compile_errors);
    CHECK_RUN(skipping);
    CHECK_RUN(damage);
    CHECK_RUN(failing_allocations);
    record_drop_all(&plain);
    record_drop_all(&sequence);
    return check_done("unit.example_parse");
}
