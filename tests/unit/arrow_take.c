// SPDX-License-Identifier: Apache-2.0
// Arrow record batches as blocks: layouts, nulls, lists, dictionaries, lifetimes, and batches that
// contradict themselves, made one by one and at random. Buffers have the smallest valid size, so
// that a sanitizer finds reads beyond them.
#include "check.h"

#include "base/alloc.h"
#include "engine/formats/arrow.h"

#define ROWS 6
#define VALUES 9 // of all lists

static int released;

static void release(struct ArrowArray *a)
{
    released++;
    a->release = NULL;
}

// A batch: id int32 with a null in row 2, s utf8, l list<int16>, d dictionary of utf8, st struct of
// bool, w fixed list of 2 floats, v views. Its buffers are on the heap.
struct batch {
    struct ArrowSchema schema, kids[7], item, word, flag, pair;
    struct ArrowSchema *kid_list[7], *item_list[1], *flag_list[1], *pair_list[1];
    struct ArrowArray array, cols[7], items, words, flags, pairs;
    struct ArrowArray *col_list[7], *items_list[1], *flags_list[1], *pairs_list[1];
    const void *bufs[11][5];
    void *owned[32];
    int n_owned;
};

static void *keep(struct batch *b, const void *data, size_t size)
{
    void *p = malloc(size ? size : 1);
    CHECK(p != NULL);
    memcpy(p, data, size);
    return b->owned[b->n_owned++] = p;
}

static void put(struct ArrowArray *a, const void **bufs, int64_t length, int n)
{
    *a = (struct ArrowArray){.length = length, .n_buffers = n, .buffers = bufs};
}

static void make_schema(struct batch *b)
{
    static const char *const formats[7] = {"i", "u", "+l", "C", "+s", "+w:2", "vu"};
    static const char *const names[7] = {"id", "s", "l", "d", "st", "w", "v"};
    for (int k = 0; k < 7; k++) {
        b->kids[k] = (struct ArrowSchema){.format = formats[k], .name = names[k]};
        b->kid_list[k] = &b->kids[k];
    }
    b->schema = (struct ArrowSchema){.format = "+s", .n_children = 7, .children = b->kid_list};
    b->item = (struct ArrowSchema){.format = "s"};
    b->word = (struct ArrowSchema){.format = "u"};
    b->flag = (struct ArrowSchema){.format = "b", .name = "flag"};
    b->pair = (struct ArrowSchema){.format = "f"};
    b->item_list[0] = &b->item;
    b->flag_list[0] = &b->flag;
    b->pair_list[0] = &b->pair;
    b->kids[2].n_children = b->kids[4].n_children = b->kids[5].n_children = 1;
    b->kids[2].children = b->item_list;
    b->kids[4].children = b->flag_list;
    b->kids[5].children = b->pair_list;
    b->kids[3].dictionary = &b->word;
}

static void make_strings(struct batch *b)
{
    const int32_t ends[ROWS + 1] = {0, 1, 1, 3, 6, 10, 15};
    const int32_t words[3] = {0, 2, 5};
    const int64_t sizes[1] = {20};
    uint8_t views[ROWS * 16] = {0};
    for (int i = 0; i < ROWS; i++) {
        int32_t far[4] = {i == 3 ? 20 : i, 0, 0, 0};
        memcpy(views + (size_t)i * 16, far, sizeof far);
        if (i != 3) {
            memset(views + (size_t)i * 16 + 4, 'a' + i, (size_t)i);
        }
    }
    b->bufs[2][1] = keep(b, ends, sizeof ends);
    b->bufs[2][2] = keep(b, "abbcccddddeeeee", 15);
    b->bufs[8][1] = keep(b, words, sizeof words);
    b->bufs[8][2] = keep(b, "onetw", 5);
    b->bufs[7][1] = keep(b, views, sizeof views);
    b->bufs[7][2] = keep(b, "xxxxxxxxxxxxxxxxxxxx", 20);
    b->bufs[7][3] = keep(b, sizes, sizeof sizes);
}

static void make(struct batch *b)
{
    memset(b, 0, sizeof *b);
    const uint8_t valid = 0x3b, bits = 0x15, places[ROWS] = {0, 1, 1, 0, 1, 0};
    const int32_t ids[ROWS] = {10, 11, 12, 13, 14, 15},
                  lists[ROWS + 1] = {0, 2, 2, 5, 5, 6, VALUES};
    const int16_t items[VALUES] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    float pairs[2 * ROWS];
    for (int i = 0; i < 2 * ROWS; i++) {
        pairs[i] = (float)i / 2;
    }
    make_schema(b);
    make_strings(b);
    b->bufs[1][0] = keep(b, &valid, 1);
    b->bufs[1][1] = keep(b, ids, sizeof ids);
    b->bufs[3][1] = keep(b, lists, sizeof lists);
    b->bufs[4][1] = keep(b, places, sizeof places);
    b->bufs[9][1] = keep(b, items, sizeof items);
    b->bufs[10][1] = keep(b, &bits, 1);
    b->bufs[0][1] = keep(b, pairs, sizeof pairs); // of the pairs; [0][0] is the batch's
    put(&b->array, b->bufs[0], ROWS, 1);
    put(&b->cols[0], b->bufs[1], ROWS, 2);
    put(&b->cols[1], b->bufs[2], ROWS, 3);
    put(&b->cols[2], b->bufs[3], ROWS, 2);
    put(&b->cols[3], b->bufs[4], ROWS, 2);
    put(&b->cols[4], b->bufs[5], ROWS, 1);
    put(&b->cols[5], b->bufs[6], ROWS, 1);
    put(&b->cols[6], b->bufs[7], ROWS, 4);
    put(&b->words, b->bufs[8], 2, 3);
    put(&b->items, b->bufs[9], VALUES, 2);
    put(&b->flags, b->bufs[10], ROWS, 2);
    put(&b->pairs, b->bufs[0], 2 * (int64_t)ROWS, 2);
    b->cols[0].null_count = 1;
    b->cols[3].dictionary = &b->words;
    b->items_list[0] = &b->items;
    b->flags_list[0] = &b->flags;
    b->pairs_list[0] = &b->pairs;
    b->cols[2].n_children = b->cols[4].n_children = b->cols[5].n_children = 1;
    b->cols[2].children = b->items_list;
    b->cols[4].children = b->flags_list;
    b->cols[5].children = b->pairs_list;
    for (int k = 0; k < 7; k++) {
        b->col_list[k] = &b->cols[k];
    }
    b->array.n_children = 7;
    b->array.children = b->col_list;
    b->array.release = release;
}

static void end(struct batch *b)
{
    for (int k = 0; k < b->n_owned; k++) {
        free(b->owned[k]);
    }
}

static struct stk_arrow_leaf leaves[7] = {
    {.name = "id", .n_path = 1, .path = {0}, .dtype = STK_DT_I32},
    {.name = "s", .n_path = 1, .path = {1}, .dtype = STK_DT_STRING},
    {.name = "l", .n_path = 1, .path = {2}, .n_levels = 1, .dim = {-1}, .dtype = STK_DT_I16},
    {.name = "d", .n_path = 1, .path = {3}, .dtype = STK_DT_STRING},
    {.name = "st.flag", .n_path = 2, .path = {4, 0}, .dtype = STK_DT_BOOL},
    {.name = "w",
     .n_path = 1,
     .path = {5},
     .n_levels = 1,
     .dim = {2},
     .shape = {.rank = 1, .dim = {2}},
     .dtype = STK_DT_F32},
    {.name = "v", .n_path = 1, .path = {6}, .dtype = STK_DT_STRING}};

static enum stoker_status take(struct batch *b, struct stk_pool *pool, struct stk_arrow_rows *out,
                               struct stoker_err *err)
{
    struct ArrowArray array = b->array;
    struct stk_arrow_import from = {
        .schema = &b->schema, .leaves = leaves, .n_leaves = 7, .pool = pool};
    stk_err_init(err);
    *out = (struct stk_arrow_rows){0};
    enum stoker_status s = stk_arrow_check(&b->schema, leaves, 7, err);
    return s == STOKER_OK ? stk_arrow_take(&from, &array, out, err) : s;
}

static bool is_text(const struct stk_col *c, int64_t i, const char *text)
{
    const struct stk_bytes *s = stk_col_at(c, i);
    return s->size == strlen(text) && memcmp(s->data, text, s->size) == 0;
}

static void values(void)
{
    struct stk_pool *pool = stk_pool_open(1 << 20);
    struct stk_arrow_rows r;
    struct stoker_err err;
    struct batch b;
    make(&b);
    released = 0;
    CHECK_EQ(take(&b, pool, &r, &err), STOKER_OK);
    CHECK_EQ(r.block.n, ROWS);
    CHECK_EQ(r.block.count, 7);
    CHECK_EQ(r.n_failed, 1); // a null that nothing stands for
    CHECK(r.failed && r.failed[2] == 1 && r.failed[1] == 0);
    const struct stk_col *c = r.block.cols;
    CHECK_EQ(*(int32_t *)stk_col_at(&c[0], 5), 15);
    CHECK(is_text(&c[1], 1, "") && is_text(&c[1], 5, "eeeee"));
    CHECK(stk_col_shape(&c[2], 2).dim[0] == 3 && stk_col_shape(&c[2], 3).dim[0] == 0);
    CHECK_EQ(*(int16_t *)stk_col_at(&c[2], 4), 6);
    CHECK(is_text(&c[3], 0, "on") && is_text(&c[3], 4, "etw"));
    CHECK(*(uint8_t *)stk_col_at(&c[4], 2) == 1 && *(uint8_t *)stk_col_at(&c[4], 3) == 0);
    CHECK(((float *)stk_col_at(&c[5], 3))[1] > 3.4f && c[5].shape.dim[0] == 2);
    CHECK(is_text(&c[6], 2, "cc") && is_text(&c[6], 3, "xxxxxxxxxxxxxxxxxxxx"));
    CHECK(c[5].data == b.bufs[0][1]); // not copied
    struct stk_col last;
    stk_col_slice(&last, &c[1], 5, 1);
    stk_arrow_rows_free(&r);
    CHECK_EQ(released, 0);
    CHECK(is_text(&last, 0, "eeeee"));
    stk_col_clear(&last);
    CHECK_EQ(released, 1);
    stk_pool_drop(pool);
    end(&b);
}

static void fills_nulls(void)
{
    struct stk_pool *pool = stk_pool_open(1 << 20);
    struct stk_arrow_rows r;
    struct stoker_err err;
    struct stk_shape scalar = {0};
    struct stk_col fill;
    struct batch b;
    make(&b);
    CHECK(stk_col_uniform(&fill, pool, STK_DT_I32, &scalar, 1));
    *(int32_t *)fill.data = -7;
    leaves[0].fill = &fill;
    CHECK_EQ(take(&b, pool, &r, &err), STOKER_OK);
    CHECK_EQ(r.n_failed, 0);
    CHECK_EQ(*(int32_t *)stk_col_at(&r.block.cols[0], 2), -7);
    CHECK_EQ(*(int32_t *)stk_col_at(&r.block.cols[0], 3), 13);
    leaves[0].fill = NULL;
    stk_arrow_rows_free(&r);
    stk_col_clear(&fill);
    stk_pool_drop(pool);
    end(&b);
}

// One thing wrong: the batch is refused, and given back once.
static void refused(const char *words, void (*spoil)(struct batch *b))
{
    struct stk_pool *pool = stk_pool_open(1 << 20);
    struct stk_arrow_rows r;
    struct stoker_err err;
    struct batch b;
    make(&b);
    spoil(&b);
    released = 0;
    enum stoker_status s = take(&b, pool, &r, &err);
    CHECK(s == STOKER_EDAMAGE || s == STOKER_EINVAL);
    CHECK(strstr(err.message, words) != NULL);
    CHECK(r.block.cols == NULL);
    CHECK_EQ(released, s == STOKER_EDAMAGE);
    stk_pool_drop(pool);
    end(&b);
}

#define SPOIL(name, ...)                                                                           \
    static void name(struct batch *b)                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
SPOIL(short_column, b->cols[0].length = 5;)
SPOIL(negative_length, b->array.length = -1;)
SPOIL(huge_offset, b->cols[1].offset = INT64_MAX;)
SPOIL(no_buffers, b->cols[0].n_buffers = 0;)
SPOIL(no_values, b->bufs[1][1] = NULL;)
SPOIL(falling_strings, ((int32_t *)(uintptr_t)b->bufs[2][1])[3] = 9;)
SPOIL(lists_beyond, ((int32_t *)(uintptr_t)b->bufs[3][1])[ROWS] = VALUES + 1;)
SPOIL(falling_lists, ((int32_t *)(uintptr_t)b->bufs[3][1])[2] = 1;)
SPOIL(no_child, b->cols[2].n_children = 0;)
SPOIL(null_child, b->items_list[0] = NULL;)
SPOIL(no_dictionary, b->cols[3].dictionary = NULL;)
SPOIL(place_beyond, ((uint8_t *)(uintptr_t)b->bufs[4][1])[1] = 2;)
SPOIL(no_field, b->cols[4].n_children = 0;)
SPOIL(few_pairs, b->pairs.length = 2 * ROWS - 1;)
SPOIL(view_beyond, ((int32_t *)(uintptr_t)b->bufs[7][1])[4 * 3 + 3] = 1;)
SPOIL(other_type, b->kids[0].format = "l";)
SPOIL(other_depth, b->item.format = "+l";)

static void contradictions(void)
{
    refused("column 'id'", short_column);
    refused("record batch", negative_length);
    refused("column 's'", huge_offset);
    refused("column 'id'", no_buffers);
    refused("has no values", no_values);
    refused("strings that fall", falling_strings);
    refused("lie beyond", lists_beyond);
    refused("that fall", falling_lists);
    refused("column 'l'", no_child);
    refused("column 'l'", null_child);
    refused("has no dictionary", no_dictionary);
    refused("outside of its dictionary", place_beyond);
    refused("lacks a field", no_field);
    refused("column 'w'", few_pairs);
    refused("outside of its buffers", view_beyond);
    refused("of another type", other_type);
    refused("of another structure", other_depth);
}

static uint64_t state;

static uint64_t draw(uint64_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % n;
}

static int64_t number(void)
{
    static const int64_t odd[] = {-1, 0, 1, 2, 5, 7, 100, INT32_MAX, INT64_MAX, INT64_MIN};
    return odd[draw(sizeof odd / sizeof odd[0])];
}

static void put32(const void *to, uint64_t i, int64_t value)
{
    if (to) { // it may have been taken away before
        ((int32_t *)(uintptr_t)to)[i] = (int32_t)value;
    }
}

// Any one number or pointer of the batch becomes another one. Lengths of what holds values grow
// only where something else limits them, and offsets don't: the interface can't tell how large
// buffers are.
static void spoil_any(struct batch *b)
{
    struct ArrowArray *arrays[] = {&b->array,   &b->cols[0], &b->cols[1], &b->cols[2],
                                   &b->cols[3], &b->cols[4], &b->cols[5], &b->cols[6],
                                   &b->words,   &b->items,   &b->flags,   &b->pairs};
    struct ArrowArray *a = arrays[draw(12)];
    int64_t was = a->length;
    switch (draw(9)) {
    case 0:
        a->length = number();
        a->length = a == &b->words && a->length > was ? was : a->length;
        break;
    case 1:
        a->offset = number();
        a->offset = a->offset > 0 && a->offset < INT64_MAX ? -a->offset : a->offset;
        break;
    case 2:
        a->n_buffers = number() % 3;
        break;
    case 3:
        a->n_children = number() % 8 - 1;
        a->n_children =
            a->n_children > 7 || (a != &b->array && a->n_children > 1) ? 0 : a->n_children;
        break;
    case 4:
        b->bufs[draw(11)][draw(4)] = NULL;
        break;
    case 5:
        put32(b->bufs[2][1], draw(ROWS), number());
        break;
    case 6:
        put32(b->bufs[3][1], draw(ROWS + 1), number());
        break;
    case 7:
        put32(b->bufs[4][1], 0, number());
        break;
    default:
        put32(b->bufs[7][1], draw((uint64_t)ROWS * 4), number());
    }
}

static void mutations(void)
{
    struct stk_pool *pool = stk_pool_open(1 << 20);
    int refusals = 0;
    for (int round = 0; round < CHECK_ROUNDS(20000); round++) {
        struct stk_arrow_rows r;
        struct stoker_err err;
        struct batch b;
        state = (uint64_t)round;
        make(&b);
        for (uint64_t k = draw(3) + 1; k > 0; k--) {
            spoil_any(&b);
        }
        released = 0;
        enum stoker_status s = take(&b, pool, &r, &err);
        refusals += s != STOKER_OK;
        CHECK(s == STOKER_OK || s == STOKER_EDAMAGE || s == STOKER_EINVAL || s == STOKER_ELIMIT);
        stk_arrow_rows_free(&r);
        CHECK_EQ(released, 1);
        end(&b);
    }
    CHECK(refusals > 100);
    stk_pool_drop(pool);
}

static void formats(void)
{
    struct stk_arrow_type t;
    CHECK(stk_arrow_type_of("tsu:UTC", &t) && t.dtype == STK_DT_I64);
    CHECK(stk_arrow_type_of("w:12", &t) && t.width == 12);
    static const char *const none[] = {"",   "w:",   "w:-1", "w:1x", "d:10,2",
                                       "+l", "tsx:", "ts",   "n",    "w:99999999999999999999"};
    for (size_t k = 0; k < sizeof none / sizeof none[0]; k++) {
        CHECK(!stk_arrow_type_of(none[k], &t));
    }
    CHECK(!stk_arrow_type_of(NULL, &t));
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(values);
    CHECK_RUN(fills_nulls);
    CHECK_RUN(contradictions);
    CHECK_RUN(mutations);
    CHECK_RUN(formats);
    return check_done("unit.arrow_take");
}
