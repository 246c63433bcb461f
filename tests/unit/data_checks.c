// SPDX-License-Identifier: Apache-2.0
// Invariants of blocks, columns, rings and functions: a sound one passes, each way to break it is
// reported, and the debugger's printers show it.
#include "base/alloc.h"
#include "engine/graph/fn_check.h"
#include "engine/graph/plan.h"
#include "engine/memory/block_check.h"
#include "engine/run/iter_dump.h"
#include "engine/run/ring.h"
#include "data_make.h"

static struct stk_pool *pool;

static bool says(const char *why, const char *word)
{
    return why && strstr(why, word);
}

// A column of n int64 from 0.
static struct stk_col numbers(int64_t n)
{
    struct stk_col c;
    struct stk_shape scalar = {0};
    CHECK(stk_col_uniform(&c, pool, STK_DT_I64, &scalar, n));
    for (int64_t i = 0; i < n; i++) {
        ((int64_t *)c.data)[i] = i;
    }
    return c;
}

static void uniform_columns(void)
{
    struct stk_col c = numbers(10), broken = c, part;
    CHECK(!stk_col_check(&c));
    stk_col_slice(&part, &c, 7, 3);
    CHECK(!stk_col_check(&part));
    part.n = (int64_t)c.data_buf->size / 8;
    CHECK(says(stk_col_check(&part), "beyond their buffer"));
    part.n = 3;
    stk_col_clear(&part);
    broken.data -= 8;
    CHECK(says(stk_col_check(&broken), "beyond their buffer"));
    broken = c;
    broken.stride = 4;
    CHECK(says(stk_col_check(&broken), "overlap"));
    broken = c;
    broken.shape.rank = STK_UNKNOWN;
    CHECK(says(stk_col_check(&broken), "unknown"));
    broken = c;
    broken.dtype = STK_DT_COUNT;
    CHECK(says(stk_col_check(&broken), "no type"));
    broken = c;
    broken.data = NULL;
    CHECK(says(stk_col_check(&broken), "no values"));
    broken = c;
    c.data_buf->refs = 0;
    CHECK(says(stk_col_check(&broken), "without owner"));
    c.data_buf->refs = 1;
    stk_col_clear(&c);
}

static void varied_columns(void)
{
    struct stk_col c;
    CHECK(stk_col_varied(&c, pool, STK_DT_I32, 3, 8));
    for (int64_t i = 1; i <= 3; i++) {
        struct stk_shape shape = {.rank = 1, .dim = {i}};
        CHECK(stk_col_append(&c, pool, &shape) != NULL);
    }
    CHECK(!stk_col_check(&c));
    c.offsets[2]++;
    CHECK(says(stk_col_check(&c), "number of values"));
    c.offsets[2]--;
    c.shapes[1].dim[0] = STK_UNKNOWN;
    CHECK(says(stk_col_check(&c), "unknown"));
    c.shapes[1].dim[0] = 2;
    CHECK(!stk_col_check(&c));
    stk_col_clear(&c);
}

static void strings(void)
{
    struct stk_col c;
    struct stk_shape scalar = {0};
    CHECK(stk_col_uniform(&c, pool, STK_DT_STRING, &scalar, 2));
    struct stk_bytes *s = (struct stk_bytes *)c.data;
    CHECK(stk_col_own_bytes(&c, pool, "ab", 2, &s[0]));
    CHECK(!stk_col_check(&c));
    s[1].size = 5;
    CHECK(says(stk_col_check(&c), "without bytes"));
    s[1].size = 0;
    c.keep->count = c.keep->capacity + 1;
    CHECK(says(stk_col_check(&c), "too long"));
    c.keep->count = 1;
    stk_col_clear(&c);
}

static void blocks(void)
{
    struct stk_block b = {0};
    char text[2000] = "";
    CHECK(stk_block_reset(&b, 2));
    b.cols[0] = numbers(4);
    b.cols[1] = numbers(4);
    b.n = 4;
    CHECK(!stk_block_check(&b));
    stk_block_assert(&b, __FILE__, __LINE__, __func__); // says nothing
    b.n = 3;
    CHECK(says(stk_block_check(&b), "another length"));
    FILE *to = fmemopen(text, sizeof text, "w");
    stk_block_dump(&b, to);
    fclose(to);
    CHECK(strstr(text, "block n=3 columns=2") &&
          strstr(text, "BROKEN: a column of another length"));
    CHECK(strstr(text, "int64 n=4 () stride=8"));
    stk_block_free(&b);
}

static void rings(void)
{
    test_options = (struct stk_run_options){.threads = 1};
    struct stk_iter *it = open_iter(RANGE(10));
    struct stk_ring *r = stk_alloc_zero(1, sizeof *r);
    struct stk_piece p = {0};
    char text[2000] = "";
    uint64_t seq;
    stk_ring_open(r, it, false, 4, 0);
    CHECK(!stk_ring_check(r));
    CHECK(stk_ring_reserve(r, &seq) && stk_ring_reserve(r, &seq));
    CHECK(!stk_ring_check(r));
    CHECK(stk_block_reset(&p.block, 1));
    p.block.cols[0] = numbers(3);
    p.block.n = 3;
    stk_ring_finish(r, 0, &p);
    CHECK(!stk_ring_check(r));
    r->ready++;
    CHECK(says(stk_ring_check(r), "differs from the count"));
    FILE *to = fmemopen(text, sizeof text, "w");
    stk_ring_dump(r, to);
    fclose(to);
    CHECK(strstr(text, "ring of range head=0 tail=2 ready=2") && strstr(text, "BROKEN"));
    r->ready--;
    r->capacity = 0;
    CHECK(says(stk_ring_check(r), "no room"));
    r->capacity = 4;
    r->in_flight = 1;
    CHECK(says(stk_ring_check(r), "without a reservation"));
    r->in_flight = 0;
    r->head = 3;
    CHECK(says(stk_ring_check(r), "before the tail"));
    r->head = 0;
    CHECK(stk_ring_peek(r, 0, false) != NULL);
    stk_ring_pop(r);
    CHECK(!stk_ring_check(r));
    stk_ring_end(r);
    stk_ring_close(r);
    stk_free(r);
    stk_iter_close(it);
}

// (x + x) * x of one number, written at a line of its own.
static struct stk_fn *squares(void)
{
    struct stk_spec number = {.dtype = STK_DT_I64};
    struct stk_fn *fn;
    struct stoker_err err;
    int twice, product, count;
    CHECK(stk_fn_open(&fn, &number, 1, "squares", &err) == STOKER_OK);
    CHECK(stk_fn_add(fn, "add", (int[]){0, 0}, 2, NULL, NULL, &twice, &count, &err) == STOKER_OK);
    CHECK(stk_fn_add(fn, "negative", (int[]){0}, 1, NULL, NULL, &product, &count, &err) ==
          STOKER_OK);
    CHECK(!stk_fn_check(fn));
    CHECK(stk_fn_add(fn, "multiply", (int[]){twice, 0}, 2, NULL, "here.py:7", &product, &count,
                     &err) == STOKER_OK);
    CHECK(stk_fn_finish(fn, &product, 1, &err) == STOKER_OK);
    return fn;
}

static void functions(void)
{
    char text[2000] = "";
    struct stk_fn *fn = squares();
    struct stk_fn_node *last = &fn->nodes[1];
    int first = last->in[0], result = fn->out[0];
    CHECK(!stk_fn_check(fn) && fn->n_nodes == 2); // nothing needs the negative
    last->in[0] = result;
    CHECK(says(stk_fn_check(fn), "nothing before it makes"));
    last->in[0] = first + 1; // what was removed
    CHECK(says(stk_fn_check(fn), "nothing before it makes"));
    FILE *to = fmemopen(text, sizeof text, "w");
    stk_fn_dump(fn, to);
    fclose(to);
    CHECK(strstr(text, "function squares refs=1 inputs=1 values=4 nodes=2  BROKEN: a node takes"));
    CHECK(strstr(text, "  multiply(v2, v0) -> v3 int64 ()  here.py:7\n  gives v3\n"));
    last->in[0] = first;
    fn->last_use[first] = 0;
    CHECK(says(stk_fn_check(fn), "after its last use"));
    fn->last_use[first] = 1;
    fn->out[0] = fn->n_values;
    CHECK(says(stk_fn_check(fn), "result that nothing makes"));
    fn->out[0] = result;
    fn->last_use[result] = 0;
    CHECK(says(stk_fn_check(fn), "forgotten before the end"));
    fn->last_use[result] = fn->n_nodes;
    fn->specs[first].dtype = STK_DT_COUNT;
    CHECK(says(stk_fn_check(fn), "no type"));
    fn->specs[first].dtype = STK_DT_I64;
    last->first_out = first;
    CHECK(says(stk_fn_check(fn), "overlap"));
    last->first_out = result;
    CHECK(!stk_fn_check(fn));
    stk_fn_drop(fn);
}

static void printers(void)
{
    char text[2000] = "";
    struct stk_iter *it = open_iter(make("batch", RANGE(10), "batch_size", I(4), NULL));
    struct stk_block b = {0};
    struct stoker_err err;
    CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK);
    FILE *to = fmemopen(text, sizeof text, "w");
    stk_dataset_dump(it->ds, to);
    stk_iter_dump(it, to);
    fclose(to);
    CHECK(strstr(text, "batch refs=") && strstr(text, "\n  range refs="));
    CHECK(strstr(text, " gave 1 in 1 blocks, 0 failed"));
    stk_block_free(&b);
    stk_iter_close(it);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    pool = stk_pool_open(1 << 20);
    CHECK(pool != NULL);
    CHECK_RUN(uniform_columns);
    CHECK_RUN(varied_columns);
    CHECK_RUN(strings);
    CHECK_RUN(blocks);
    stk_pool_drop(pool);
    pool = stk_pool_open(1 << 20);
    CHECK_RUN(rings);
    CHECK_RUN(functions);
    stk_pool_drop(pool);
    CHECK_RUN(printers);
    return check_done("unit.data_checks");
}
