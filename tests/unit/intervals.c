// SPDX-License-Identifier: Apache-2.0
// Interval sets against a bitmap of the same time, on random sets and on the edges by hand.
#include "check.h"

#include "base/alloc.h"
#include "profile/model/intervals.h"
#include "profile/model/median.h"

#define SIZE 200

static uint64_t seed = 0x9e3779b97f4a7c15u;
static uint32_t next_random(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 33) % below;
}

static void random_set(struct stk_spans *s, uint8_t *bits)
{
    uint32_t n = next_random(12);
    memset(bits, 0, SIZE);
    stk_spans_init(s);
    for (uint32_t i = 0; i < n; i++) {
        int64_t start = next_random(SIZE), end = start + next_random(30);
        end = end < SIZE ? end : SIZE;
        CHECK(stk_spans_reserve(s, s->count + 1));
        s->v[s->count++] = (struct stk_span){start, end};
        for (int64_t k = start; k < end; k++) {
            bits[k] = 1;
        }
    }
    stk_spans_normalize(s);
}

// The set is sorted, disjoint, not even touching, and is exactly the bitmap.
static void check_set(const struct stk_spans *s, const uint8_t *want)
{
    uint8_t bits[SIZE] = {0};
    for (size_t i = 0; i < s->count; i++) {
        CHECK(s->v[i].start_ns < s->v[i].end_ns);
        CHECK(i == 0 || s->v[i - 1].end_ns < s->v[i].start_ns);
        for (int64_t k = s->v[i].start_ns; k < s->v[i].end_ns; k++) {
            bits[k] = 1;
        }
    }
    CHECK(memcmp(bits, want, SIZE) == 0);
}

static void check_random(void)
{
    for (int round = 0; round < 2000; round++) {
        struct stk_spans a, b, out;
        uint8_t in_a[SIZE], in_b[SIZE], want[SIZE];
        random_set(&a, in_a);
        random_set(&b, in_b);
        stk_spans_init(&out);
        check_set(&a, in_a);
        CHECK(stk_spans_union(&a, &b, &out));
        for (int k = 0; k < SIZE; k++) {
            want[k] = in_a[k] | in_b[k];
        }
        check_set(&out, want);
        CHECK(stk_spans_subtract(&a, &b, &out));
        for (int k = 0; k < SIZE; k++) {
            want[k] = in_a[k] & !in_b[k];
        }
        check_set(&out, want);
        CHECK(stk_spans_intersect(&a, &b, &out));
        for (int k = 0; k < SIZE; k++) {
            want[k] = in_a[k] & in_b[k];
        }
        check_set(&out, want);
        int64_t from = next_random(SIZE), to = from + next_random(60), inside = 0;
        for (int64_t k = 0; k < SIZE; k++) {
            want[k] = in_a[k] && k >= from && k < to;
            inside += want[k];
        }
        CHECK(stk_spans_clip(&a, from, to, &out));
        check_set(&out, want);
        CHECK_EQ(stk_spans_overlap(&a, from, to), inside);
        int64_t *sums = stk_spans_sums(&a);
        CHECK_EQ(stk_spans_measure(&a, sums, from, to), inside);
        CHECK_EQ(stk_spans_measure(&a, sums, to, from), 0);
        CHECK_EQ(stk_spans_measure(&a, sums, -5, SIZE + 5), stk_spans_total(&a));
        stk_free(sums);
        stk_spans_deinit(&a);
        stk_spans_deinit(&b);
        stk_spans_deinit(&out);
    }
}

static void check_edges(void)
{
    struct stk_spans s, out;
    stk_spans_init(&s);
    stk_spans_init(&out);
    CHECK_EQ(stk_spans_total(&s), 0);
    CHECK_EQ(stk_spans_find(&s, 0), 0);
    CHECK(stk_spans_union(&s, &s, &out));
    CHECK_EQ(out.count, 0);
    CHECK(stk_spans_add(&s, 10, 20));
    CHECK(stk_spans_add(&s, 20, 25)); // touching: one interval
    CHECK(stk_spans_add(&s, 22, 22)); // empty: nothing
    CHECK_EQ(s.count, 1);
    CHECK_EQ(s.v[0].end_ns, 25);
    CHECK_EQ(stk_spans_find(&s, 24), 0);
    CHECK_EQ(stk_spans_find(&s, 25), 1); // half open
    stk_spans_deinit(&s);
    stk_spans_deinit(&out);
}

static int compare(const void *pa, const void *pb)
{
    int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    return a < b ? -1 : a > b;
}

static void check_median(void)
{
    int64_t v[64], sorted[64];
    for (int round = 0; round < 2000; round++) {
        size_t n = 1 + next_random(64);
        for (size_t i = 0; i < n; i++) {
            sorted[i] = v[i] = (int64_t)next_random(1 + next_random(50)) - 10;
        }
        qsort(sorted, n, sizeof *sorted, compare);
        size_t k = next_random((uint32_t)n);
        CHECK_EQ(stk_nth_value(v, n, k), sorted[k]);
        CHECK_EQ(stk_median_low(v, n), sorted[(n - 1) / 2]);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(check_edges);
    CHECK_RUN(check_random);
    CHECK_RUN(check_median);
    return check_done("unit.intervals");
}
