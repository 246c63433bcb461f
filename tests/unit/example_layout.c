// SPDX-License-Identifier: Apache-2.0
// Records parsed by the layout of earlier ones, against the walk over their fields: a parser that
// has seen many gives, or rejects, the same as one that has seen none. Also, what counts as a
// layout.
#include "base/alloc.h"
#include "check.h"
#include "engine/formats/example_layout.h"

enum { FLOATS_MAX = 5000 };

static struct stoker_err err;
static uint64_t state = 42;

static uint64_t draw(uint64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
}

static const float fallback = 7;

struct fixture {
    struct stk_example_spec *spec;
    struct stk_example_parser *parser;
    struct stk_example_batch batch;
};

static void set_up(struct fixture *f, size_t floats, size_t missing)
{
    const struct stk_example_feature features[] = {
        {.name = "x", .type = STK_EXAMPLE_FLOAT, .elements = floats},
        {.name = "y", .type = STK_EXAMPLE_INT64, .elements = 1},
        {.name = "name", .type = STK_EXAMPLE_BYTES, .elements = 1},
        {.name = "maybe",
         .type = STK_EXAMPLE_FLOAT,
         .elements = 1,
         .defaults = &fallback,
         .default_count = 1},
    };
    CHECK_EQ(stk_example_compile(&f->spec, features, 3 + missing, &err), STOKER_OK);
    CHECK_EQ(stk_example_parser_open(&f->parser, f->spec, STK_EXAMPLE_SINGLE, &err), STOKER_OK);
    CHECK_EQ(stk_example_batch_open(&f->batch, f->spec, &err), STOKER_OK);
}

static void tear_down(struct fixture *f)
{
    stk_example_batch_close(&f->batch);
    stk_example_parser_close(f->parser);
    stk_example_spec_free(f->spec);
}

// A record of x, y and name, in one of two orders, with a feature that nobody asks for.
static void make(struct stk_example_buffer *out, size_t floats, bool is_other_order)
{
    static const int64_t spread[] = {0, 1, 100, 127, 128, 200, 300, 16384, -1};
    float x[FLOATS_MAX];
    for (size_t i = 0; i < floats; i++) {
        x[i] = (float)draw(1000);
    }
    int64_t y = spread[draw(9)], other = (int64_t)draw(100);
    uint8_t text[200];
    struct stk_example_bytes name = {text, draw(8) ? 3 : draw(200)};
    for (size_t i = 0; i < name.size; i++) {
        text[i] = (uint8_t)draw(256);
    }
    struct stk_example_value v[] = {
        {.name = "x", .type = STK_EXAMPLE_FLOAT, .values = x, .count = floats},
        {.name = "other", .type = STK_EXAMPLE_INT64, .values = &other, .count = 1},
        {.name = "y", .type = STK_EXAMPLE_INT64, .values = &y, .count = 1},
        {.name = "name", .type = STK_EXAMPLE_BYTES, .values = &name, .count = 1},
    };
    struct stk_example_value swapped[] = {v[3], v[1], v[0], v[2]};
    CHECK_EQ(stk_example_encode(out, STK_EXAMPLE_SINGLE, is_other_order ? swapped : v, 4, &err),
             STOKER_OK);
}

// The last row of both is the same: values, and texts by their bytes.
static void check_same(const struct fixture *a, const struct fixture *b, size_t row)
{
    for (size_t k = 0; k < a->batch.column_count; k++) {
        const struct stk_example_column *c = &a->batch.columns[k], *d = &b->batch.columns[k];
        size_t bytes = c->elements * stk_example_value_size(c->type);
        CHECK_EQ(c->count, (row + 1) * c->elements);
        CHECK_EQ(d->count, c->elements);
        if (c->type == STK_EXAMPLE_BYTES) {
            CHECK(c->bytes[row].data == d->bytes[0].data && c->bytes[row].size == d->bytes[0].size);
        } else {
            CHECK(memcmp((const char *)c->values + row * bytes, d->values, bytes) == 0);
        }
    }
}

// Records of one kind, some of them damaged, to a parser that has seen the others and to a new one.
static void against_walk(size_t floats, size_t missing)
{
    struct fixture old;
    struct stk_example_buffer buffer = {0};
    size_t good = 0, bad = 0;
    set_up(&old, floats, missing);
    for (int i = 0; i < 1500; i++) {
        make(&buffer, floats, draw(20) == 0);
        size_t size = buffer.size, done;
        uint64_t what = draw(6);
        if (what == 0) {
            buffer.data[draw(size)] ^= (uint8_t)(1u << draw(8));
        } else if (what == 1) { // at the start, where the lengths are
            buffer.data[draw(size < 24 ? size : 24)] ^= (uint8_t)(1u << draw(8));
        } else if (what == 2) {
            size = draw(size);
        }
        uint8_t *copy = malloc(size + 1); // its end is where sanitizers look
        memcpy(copy, buffer.data, size);
        struct stk_record r = {copy, size, 0, (uint64_t)i};
        struct fixture fresh;
        set_up(&fresh, floats, missing);
        struct stoker_err why;
        enum stoker_status s =
            stk_example_parse(fresh.parser, &fresh.batch, &r, 1, false, &done, &why);
        CHECK_EQ(stk_example_parse(old.parser, &old.batch, &r, 1, false, &done, &err), s);
        CHECK_EQ(old.batch.rows, good + (s == STOKER_OK));
        if (s == STOKER_OK) {
            check_same(&old, &fresh, good++);
        } else {
            CHECK_STR(err.message, why.message);
        }
        bad += s != STOKER_OK;
        tear_down(&fresh);
        free(copy);
        if (good == 50) {
            stk_example_batch_clear(&old.batch);
            good = 0;
        }
    }
    CHECK(bad > 100);
    stk_example_buffer_free(&buffer);
    tear_down(&old);
}

static bool known(struct stk_example_layouts *l, const struct stk_example_batch *b, const char *p,
                  size_t size)
{
    struct stk_record r = {.data = (const uint8_t *)p, .size = size};
    return stk_example_layouts_take(l, b, &r);
}

// Bytes of the form "<x:4 bytes>y" between marks, where x is a float and y an integer.
static void places(void)
{
    static struct stk_example_layouts l;
    struct fixture f;
    const char *p = "ab1234cde5f";
    struct stk_record r = {.data = (const uint8_t *)p, .size = 11};
    set_up(&f, 1, 0);
    CHECK_EQ(stk_example_reserve_rows(&f.batch, 1, &err), STOKER_OK);
    stk_example_layouts_init(&l);
    CHECK(!known(&l, &f.batch, p, 11));
    CHECK(!stk_example_layouts_begin(&l, &r)); // that length has no layout
    for (int i = 0; i < 2; i++) {
        struct stk_example_layout *made = stk_example_layouts_begin(&l, &r);
        CHECK(made != NULL);
        CHECK(!known(&l, &f.batch, p, 11)); // it is not made yet
        struct stk_example_span x = {r.data + 2, r.data + 6}, y = {r.data + 9, r.data + 10};
        CHECK(stk_example_layout_note(made, 0, x));
        CHECK(stk_example_layout_note(made, 1, y));
        stk_example_layout_end(made, &r);
        CHECK(known(&l, &f.batch,
                    "ab5678cde\x07"
                    "f",
                    11));
        CHECK(memcmp(f.batch.columns[0].values, "5678", 4) == 0);
        CHECK_EQ(f.batch.columns[1].int64s[0], 7);
    }
    CHECK(!known(&l, &f.batch,
                 "ab5678cde\x87"
                 "f",
                 11)); // a longer integer
    CHECK(!known(&l, &f.batch,
                 "aB5678cde\x07"
                 "f",
                 11));
    CHECK(!known(&l, &f.batch, "ab5678cde\x07g", 11));
    CHECK(!known(&l, &f.batch,
                 "ab5678cde\x07"
                 "ff",
                 12));
    tear_down(&f);
}

// Layouts that are never of use are not made for ever; those that are pay for new ones.
static void credit(void)
{
    static struct stk_example_layouts l;
    struct stk_record r = {.data = (const uint8_t *)"abcdefgh", .size = 8};
    int made = 0;
    stk_example_layouts_init(&l);
    for (int i = 0; i < 1000; i++) {
        made += stk_example_layouts_begin(&l, &r) != NULL;
    }
    CHECK(made > 0 && made < 20);
}

// More values, or more between them, than there is room for.
static void limits(void)
{
    static struct stk_example_layouts l;
    static uint8_t bytes[STK_EXAMPLE_LAYOUT_FRAMES + 2];
    struct stk_record r = {.data = bytes, .size = sizeof bytes};
    stk_example_layouts_init(&l);
    (void)stk_example_layouts_begin(&l, &r);
    struct stk_example_layout *made = stk_example_layouts_begin(&l, &r);
    struct stk_example_span value = {bytes, bytes};
    for (int i = 0; i < STK_EXAMPLE_LAYOUT_STEPS; i++) {
        CHECK(stk_example_layout_note(made, STK_EXAMPLE_UNKNOWN, value));
    }
    CHECK(!stk_example_layout_note(made, STK_EXAMPLE_UNKNOWN, value));
    made = stk_example_layouts_begin(&l, &r);
    value = (struct stk_example_span){bytes + 1, bytes + 2};
    CHECK(stk_example_layout_note(made, STK_EXAMPLE_UNKNOWN, value));
    stk_example_layout_end(made, &r);
    CHECK(!known(&l, NULL, (const char *)bytes, sizeof bytes)); // one byte too many after it
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(places);
    CHECK_RUN(credit);
    CHECK_RUN(limits);
    CHECK_RUN(against_walk, 4, 0);
    CHECK_RUN(against_walk, 193, 0);
    CHECK_RUN(against_walk, 193, 1); // a feature that is never there has its default
    CHECK_RUN(against_walk, FLOATS_MAX, 0);
    return check_done("unit.example_layout");
}
