// SPDX-License-Identifier: Apache-2.0
// Merging the sums of ranks: any grouping gives the same run bit for bit, and so does any order if
// summed.def says so. Random structs are made, merged and compared row by row, so a new row is
// tested as soon as it is added.
#include "check.h"

#include "profile/model/sum/merge_causes.h"
#include "profile/model/sum/merge_rows.h"

enum { ROUNDS = 3000, MOST = 9, NAMES = 30 };

static uint64_t state = 88172645463325252u;
static uint64_t below(uint64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % n;
}

// Small numbers, so that there are equal ones, and such that sums of them meet INT64_MAX.
static int64_t any_number(void)
{
    static const int64_t tops[] = {1, 3, 1000, INT64_C(600000000000000), INT64_MAX};
    return (int64_t)below((uint64_t)tops[below(5)]);
}
static double any_real(void)
{
    return (double)below(1000) / 8;
}
static bool any_bool(void)
{
    return below(2);
}
static const char *any_name(void)
{
    static const char names[NAMES][4] = {"a", "b",  "c",  "d",  "e",  "f",  "g",  "h",  "i",  "j",
                                         "k", "l",  "m",  "n",  "o",  "p",  "q",  "r",  "s",  "t",
                                         "u", "aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh", "ii"};
    return below(3) ? names[below(NAMES)] : NULL;
}

// ---- structs of rows ----

#define ANY(x)                                                                                     \
    x = _Generic((x),                                                                              \
        const char *: any_name,                                                                    \
        double: any_real,                                                                          \
        bool: any_bool,                                                                            \
        default: any_number)();
#define EACH(n, statement)                                                                         \
    for (size_t i = 0; i < (size_t)(n); i++) {                                                     \
        statement                                                                                  \
    }
static void fill_stk_example(struct stk_example *x)
{
    *x = (struct stk_example){.dur_ns = any_number(), .name = any_name(), .step = any_number()};
}
static void fill_stk_recompiled(struct stk_recompiled *x)
{
    for (size_t i = 0; i < STK_RECOMPILED; i++) {
        x[i] = (struct stk_recompiled){.name = any_name(), .later = (uint32_t)below(3)};
        x[i].ns = any_number();
    }
}

#define BEGIN(tag)                                                                                 \
    static void fill_##tag(struct tag *x)                                                          \
    {
#define END(tag) }
#define MEMBER(operator, type, name) ANY(x->name)
#define ARRAY(operator, type, name, count) EACH(count, ANY(x->name[i]))
#define FOLLOW(type, name, operator, leader) ANY(x->name)
#define FOLLOWS(type, name, count, operator, leader) EACH(count, ANY(x->name[i]))
#define STRUCT(tag, name) fill_##tag(&x->name);
#define STRUCTS(tag, name, count) EACH(count, fill_##tag(&x->name[i]);)
#define LIST(tag, name, count) fill_##tag(x->name);
#include "profile/model/summed.def"
#undef BEGIN
#undef END
#undef MEMBER
#undef ARRAY
#undef FOLLOW
#undef FOLLOWS
#undef STRUCT
#undef STRUCTS
#undef LIST

// The first member that differs, or NULL; of those that do without an order alone where `any` is
// set.
#define NEEDS_ORDER_SUM false
#define NEEDS_ORDER_TIME false
#define NEEDS_ORDER_MAX false
#define NEEDS_ORDER_MIN false
#define NEEDS_ORDER_OR false
#define NEEDS_ORDER_AND false
#define NEEDS_ORDER_FIRST true
#define SAME(operator, name)                                                                       \
    if (!(any && NEEDS_ORDER_##operator) && a->name != b->name) {                                  \
        return #name;                                                                              \
    }
#define SAME_INSIDE(tag, pa, pb)                                                                   \
    {                                                                                              \
        const char *inside = same_##tag(pa, pb, any);                                              \
        if (inside) {                                                                              \
            return inside;                                                                         \
        }                                                                                          \
    }
static const char *same_stk_example(const struct stk_example *a, const struct stk_example *b,
                                    bool any)
{
    return any || (a->name == b->name && a->dur_ns == b->dur_ns && a->step == b->step) ? NULL
                                                                                       : "example";
}
static const char *same_stk_recompiled(const struct stk_recompiled *a,
                                       const struct stk_recompiled *b, bool any)
{
    return any || memcmp(a, b, STK_RECOMPILED * sizeof *a) == 0 ? NULL : "recompiled";
}

#define BEGIN(tag)                                                                                 \
    static const char *same_##tag(const struct tag *a, const struct tag *b, bool any)              \
    {
#define END(tag)                                                                                   \
    return NULL;                                                                                   \
    }
#define MEMBER(operator, type, name) SAME(operator, name)
#define ARRAY(operator, type, name, count) EACH(count, SAME(operator, name[i]))
#define FOLLOW(type, name, operator, leader) SAME(FIRST, name)
#define FOLLOWS(type, name, count, operator, leader) EACH(count, SAME(FIRST, name[i]))
#define STRUCT(tag, name) SAME_INSIDE(tag, &a->name, &b->name)
#define STRUCTS(tag, name, count) EACH(count, SAME_INSIDE(tag, &a->name[i], &b->name[i]))
#define LIST(tag, name, count) SAME_INSIDE(tag, a->name, b->name)
#include "profile/model/summed.def"

// Merges x[0..n) in groups that are chosen at random: each merge joins two neighbors.
#define TEST_OF(tag)                                                                               \
    static void test_##tag(void)                                                                   \
    {                                                                                              \
        static struct tag x[MOST], groups[MOST];                                                   \
        for (int round = 0; round < CHECK_ROUNDS(ROUNDS); round++) {                               \
            size_t n = 2 + below(MOST - 1);                                                        \
            for (size_t i = 0; i < n; i++) {                                                       \
                memset(&x[i], 0, sizeof x[i]);                                                     \
                fill_##tag(&x[i]);                                                                 \
            }                                                                                      \
            struct tag one_by_one = x[0];                                                          \
            for (size_t i = 1; i < n; i++) {                                                       \
                tag##_merge(&one_by_one, &x[i]);                                                   \
            }                                                                                      \
            memcpy(groups, x, sizeof x);                                                           \
            for (size_t left = n; left > 1; left--) {                                              \
                size_t at = below(left - 1);                                                       \
                tag##_merge(&groups[at], &groups[at + 1]);                                         \
                memmove(&groups[at + 1], &groups[at + 2], (left - at - 2) * sizeof *groups);       \
            }                                                                                      \
            CHECK_TEXT(same_##tag(&one_by_one, &groups[0], false));                                \
            for (size_t i = n; i > 1; i--) {                                                       \
                size_t k = below(i);                                                               \
                struct tag swapped = x[k];                                                         \
                x[k] = x[i - 1];                                                                   \
                x[i - 1] = swapped;                                                                \
            }                                                                                      \
            for (size_t i = 1; i < n; i++) {                                                       \
                tag##_merge(&x[0], &x[i]);                                                         \
            }                                                                                      \
            CHECK_TEXT(same_##tag(&one_by_one, &x[0], true));                                      \
        }                                                                                          \
    }
#define CHECK_TEXT(call)                                                                           \
    do {                                                                                           \
        const char *differs = (call);                                                              \
        CHECK(!differs);                                                                           \
        if (differs) {                                                                             \
            printf("differs: %s\n", differs);                                                      \
        }                                                                                          \
    } while (0)
TEST_OF(stk_sign_sum)
TEST_OF(stk_grid_fill)
TEST_OF(stk_stagger)
TEST_OF(stk_kernel_work)
TEST_OF(stk_worker_sum)
TEST_OF(stk_facts)

// ---- causes ----

static void any_cause(struct stk_cause *c)
{
    *c = (struct stk_cause){.ns = any_number(), .intervals = (uint32_t)below(100)};
    for (int *n = &c->name_count; *n < (int)below(STK_CAUSE_NAMES + 1); ++*n) {
        const char *name = any_name();
        c->names[*n] = (struct stk_cause_name){name ? name : "", (int64_t)below(1u << 30) + 1, 1};
    }
    for (int *n = &c->owner_count; *n < (int)below(STK_CAUSE_OWNERS + 1); ++*n) {
        const char *name = any_name();
        c->owners[*n] = (struct stk_cause_name){name ? name : "", (int64_t)below(1u << 30) + 1, 2};
    }
    for (int *n = &c->example_count; *n < (int)below(STK_CAUSE_EXAMPLES + 1); ++*n) {
        c->examples[*n] = (struct stk_example){.dur_ns = (int64_t)below(1u << 30)};
    }
}

static void gather(const struct stk_cause *x, const size_t *order, size_t n, struct stk_cause *out)
{
    struct stk_gathered g;
    stk_gathered_init(&g);
    for (size_t i = 0; i < n; i++) {
        stk_gathered_add(&g, &x[order[i]]);
    }
    CHECK(stk_gathered_finish(&g, out));
}

// Sums that differ, as these random ones do, leave nothing to the order.
static void test_causes(void)
{
    static struct stk_cause x[MOST];
    for (int round = 0; round < CHECK_ROUNDS(ROUNDS); round++) {
        size_t n = 1 + below(MOST), order[MOST];
        struct stk_cause a, b;
        for (size_t i = 0; i < n; i++) {
            any_cause(&x[i]);
            order[i] = i;
        }
        gather(x, order, n, &a);
        for (size_t i = n; i > 1; i--) {
            size_t k = below(i), swapped = order[k];
            order[k] = order[i - 1];
            order[i - 1] = swapped;
        }
        gather(x, order, n, &b);
        CHECK(a.ns == b.ns && a.intervals == b.intervals && a.name_count == b.name_count &&
              a.owner_count == b.owner_count && a.example_count == b.example_count);
        for (int i = 0; i < a.name_count; i++) {
            CHECK(strcmp(a.names[i].name, b.names[i].name) == 0);
            CHECK(a.names[i].ns == b.names[i].ns && a.names[i].count == b.names[i].count);
            CHECK(i == 0 || a.names[i - 1].ns >= a.names[i].ns);
        }
        for (int i = 0; i < a.owner_count; i++) {
            CHECK(strcmp(a.owners[i].name, b.owners[i].name) == 0);
        }
        for (int i = 0; i < a.example_count; i++) {
            CHECK(a.examples[i].dur_ns == b.examples[i].dur_ns);
        }
    }
}

// A function that is the ninth on each rank, and the first of the run: it was cut away.
static void test_small_everywhere(void)
{
    enum { RANKS = 6 };
    static struct stk_rank_sum ranks[RANKS];
    struct stk_rank_sum *list[RANKS];
    struct stk_arena arena;
    struct stk_run_sum *run = NULL;
    struct stoker_err err;
    stk_arena_init(&arena, 0);
    for (int r = 0; r < RANKS; r++) {
        struct stk_cause *c = &ranks[r].causes[STK_PART_HOST];
        ranks[r] = (struct stk_rank_sum){.rank = r, .host_scope = true};
        for (int i = 0; i < STK_CAUSE_NAMES - 1; i++) {
            c->names[i] = (struct stk_cause_name){
                stk_arena_printf(&arena, "rank %d function %d", r, i), 100 - i, 1};
        }
        c->names[STK_CAUSE_NAMES - 1] = (struct stk_cause_name){"everywhere", 50, 1};
        c->name_count = STK_CAUSE_NAMES;
        list[r] = &ranks[r];
    }
    CHECK_EQ(stk_model_merge(list, RANKS, &arena, &run, &err), STOKER_OK);
    const struct stk_cause_name *first = run ? &run->causes[STK_PART_HOST].names[0] : NULL;
    CHECK(first && strcmp(first->name, "everywhere") == 0 && first->ns == 50 * RANKS);
    stk_arena_deinit(&arena);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_stk_sign_sum);
    CHECK_RUN(test_stk_grid_fill);
    CHECK_RUN(test_stk_stagger);
    CHECK_RUN(test_stk_kernel_work);
    CHECK_RUN(test_stk_worker_sum);
    CHECK_RUN(test_stk_facts);
    CHECK_RUN(test_causes);
    CHECK_RUN(test_small_everywhere);
    return check_done("prop.merge_order");
}
