// SPDX-License-Identifier: Apache-2.0
// shuffle and cache: permutations, buffer semantics, seeds and epochs; what is kept.
#include "engine/graph/permute.h"
#include "data_make.h"

#define N 5000

// All of a dataset of int64 scalars. Returns how many.
static int64_t all_of(struct stk_dataset *ds, int64_t want, int64_t skip, int64_t *to,
                      int64_t capacity)
{
    struct stk_iter *it = open_iter(stk_dataset_hold(ds));
    struct stk_block b = {0};
    struct stoker_err err;
    int64_t n = 0, done = 0;
    if (skip) {
        CHECK(stk_iter_skip(it, skip, &done, &err) == STOKER_OK);
        CHECK_EQ(done, skip);
    }
    for (;;) {
        CHECK(stk_iter_next(it, want, &b, &err) == STOKER_OK);
        if (b.n == 0) {
            break;
        }
        for (int64_t i = 0; i < b.n && n < capacity; i++) {
            to[n++] = *(int64_t *)stk_col_at(&b.cols[0], i);
        }
    }
    stk_block_free(&b);
    stk_iter_close(it);
    return n;
}

static bool is_permutation(const int64_t *v, int64_t n)
{
    static bool seen[2 * N];
    memset(seen, 0, sizeof seen);
    for (int64_t i = 0; i < n; i++) {
        if (v[i] < 0 || v[i] >= n || seen[v[i]]) {
            return false;
        }
        seen[v[i]] = true;
    }
    return true;
}

static struct stk_dataset *shuffled(int64_t n, int64_t buffer, int64_t seed, bool is_stream)
{
    struct stk_dataset *in = RANGE(n);
    if (is_stream) {
        in = make("repeat", in, "count", I(1), NULL); // cannot be read by position
    }
    return make("shuffle", in, "buffer_size", buffer, "seed", seed, NULL);
}

static void permutes(int64_t n, int64_t buffer, bool is_stream)
{
    static int64_t a[N], b[N], c[N];
    struct stk_dataset *ds = shuffled(n, buffer, 1, is_stream);
    struct stk_dataset *other = shuffled(n, buffer, 2, is_stream);
    CHECK_EQ(all_of(ds, 100, 0, a, N), n);
    CHECK(is_permutation(a, n));
    CHECK_EQ(all_of(ds, 7, 0, b, N), n);
    CHECK(memcmp(a, b, (size_t)n * sizeof a[0]) == 0);
    CHECK_EQ(all_of(other, 7, 0, b, N), n);
    CHECK(n < 20 || buffer == 1 || memcmp(a, b, (size_t)n * sizeof a[0]) != 0);
    CHECK_EQ(all_of(ds, 7, n / 3, c, N), n - n / 3);
    CHECK(memcmp(a + n / 3, c, (size_t)(n - n / 3) * sizeof a[0]) == 0);
    for (int64_t i = 0; is_stream && i < n; i++) {
        CHECK(a[i] < i + buffer);
    }
    int64_t fixed = 0;
    for (int64_t i = 0; i < n; i++) {
        fixed += a[i] == i;
    }
    CHECK(buffer < 1000 || n < 1000 || fixed < 12);
    stk_dataset_drop(ds);
    stk_dataset_drop(other);
}

static void epochs(bool reshuffles)
{
    static int64_t v[2 * N];
    struct stk_dataset *ds = make("repeat",
                                  make("shuffle", RANGE(N), "buffer_size", I(N), "seed", I(3),
                                       "reshuffle_each_iteration", I(reshuffles), NULL),
                                  "count", I(2), NULL);
    CHECK_EQ(all_of(ds, 64, 0, v, 2 * N), 2 * N);
    CHECK(is_permutation(v, N) && is_permutation(v + N, N));
    CHECK((memcmp(v, v + N, N * sizeof v[0]) == 0) == !reshuffles);
    stk_dataset_drop(ds);
}

static void permutation_is_even(void)
{
    struct stk_permutation p;
    static int hits[64];
    for (uint64_t seed = 0; seed < 6400; seed++) {
        stk_permutation_open(&p, 64, seed);
        hits[stk_permutation_at(&p, 5)]++;
    }
    double chi = 0;
    for (int i = 0; i < 64; i++) {
        chi += (hits[i] - 100.0) * (hits[i] - 100.0) / 100.0;
    }
    CHECK(chi < 120); // 63 degrees of freedom: p = 1e-5
    for (uint64_t n = 1; n < 300; n++) {
        static int64_t v[300];
        stk_permutation_open(&p, n, n);
        for (uint64_t i = 0; i < n; i++) {
            v[i] = (int64_t)stk_permutation_at(&p, i);
        }
        CHECK(is_permutation(v, (int64_t)n));
    }
}

static struct stk_dataset *texts(void)
{
    struct stk_bytes v[6];
    static const char *const words[] = {"a", "", "ccc", "dd", "eeeeeeeeeeeeeeeeeeeeeeeeeeee", "f"};
    for (int i = 0; i < 6; i++) {
        v[i] = (struct stk_bytes){(const uint8_t *)words[i], strlen(words[i])};
    }
    struct stk_col c = {.dtype = STK_DT_STRING, .n = 1, .stride = sizeof v, .data = (uint8_t *)v};
    c.shape = (struct stk_shape){.rank = 1, .dim = {6}};
    struct stk_pool *pool = stk_pool_open(1 << 20);
    struct stk_attrs *a = stk_attrs_new();
    CHECK(stk_col_own(&c, pool));
    CHECK(stk_attrs_set(
        a,
        &(struct stk_attr){.name = "components", .kind = STK_ATTR_COLS, .count = 1, .cols = &c}));
    stk_col_clear(&c);
    stk_pool_drop(pool);
    return make_with("tensor_slices", NULL, 0, a);
}

static void strings_and_shapes(void)
{
    struct stk_dataset *ds =
        make("shuffle", make("repeat", texts(), "count", I(1), NULL), "buffer_size", I(1), NULL);
    EXPECT(ds, "'a' '' 'ccc' 'dd' 'eeeeeeeeeeeeeeeeeeeeeeeeeeee' 'f'");
    ds = make("shuffle", make("repeat", texts(), "count", I(1), NULL), "buffer_size", I(4), "seed",
              I(5), NULL);
    struct text t = {.n = 0};
    say_all(&t, open_iter(ds), 3);
    CHECK_EQ(t.n, strlen("'a' '' 'ccc' 'dd' 'eeeeeeeeeeeeeeeeeeeeeeeeeeee' 'f'"));
    // Elements of different shapes.
    ds = pair_of("concatenate", make("batch", RANGE(2), "batch_size", I(2), NULL),
                 make("batch", RANGE(3), "batch_size", I(3), NULL));
    EXPECT(make("shuffle", ds, "buffer_size", I(1), NULL), "[0 1] [0 1 2]");
    // An error is not shuffled: it comes when it is met.
    EXPECT(make("shuffle", with_op("map", RANGE(9), OP_FAIL_7, "num_parallel_calls", I(1), NULL),
                "buffer_size", I(1), NULL),
           "0 1 2 3 4 5 ! 6 8");
}

// Memory that is short for a while costs no element, and changes no draw: pairs of a number and its
// text.
static void short_of_memory(bool is_short)
{
    static const char *const words[] = {"a", "", "ccc", "dd", "eeeeeeeeeeeeeeeeeeeeeeeeeeee", "f"};
    static int64_t first[600];
    struct stk_dataset *pairs =
        pair_of("zip", RANGE(600), make("repeat", texts(), "count", I(100), NULL));
    struct stk_iter *it =
        open_iter(make("shuffle", pairs, "buffer_size", I(50), "seed", I(3), NULL));
    struct stk_pool *pool = it->run->pool;
    struct stk_block b = {0};
    struct stoker_err err;
    int64_t order[600], n = 0, errors = 0;
    for (int calls = 0; n < 600 && calls < 2000; calls++) {
        struct stk_pool_stats stats = stk_pool_stats_of(pool);
        size_t rest = (size_t)(stats.cap_bytes - stats.in_use_bytes);
        bool claims = is_short && calls % 2 == 0 && n > 0;
        for (size_t k = rest; claims && k > 0; k /= 2) {
            while (stk_pool_claim(pool, k)) {
            }
        }
        size_t claimed =
            claims ? (size_t)(stk_pool_stats_of(pool).in_use_bytes - stats.in_use_bytes) : 0;
        enum stoker_status s = stk_iter_next(it, 7, &b, &err);
        stk_pool_unclaim(pool, claimed);
        CHECK(s == STOKER_OK || (s == STOKER_ELIMIT && claims && b.n == 0));
        errors += s != STOKER_OK;
        for (int64_t i = 0; i < b.n && n < 600; i++) {
            int64_t number = *(const int64_t *)stk_col_at(&b.cols[0], i);
            const struct stk_bytes *text = stk_col_at(&b.cols[1], i);
            CHECK(number >= 0 && number < 600);
            CHECK(text->size == strlen(words[number % 6]) &&
                  memcmp(text->data, words[number % 6], text->size) == 0);
            order[n++] = number;
        }
    }
    CHECK_EQ(n, 600);
    CHECK(is_permutation(order, n));
    CHECK(is_short ? errors > 10 : errors == 0);
    if (is_short) {
        CHECK(memcmp(order, first, sizeof order) == 0);
    } else {
        memcpy(first, order, sizeof order);
    }
    stk_block_free(&b);
    stk_iter_close(it);
}

static void caches(void)
{
    struct stk_dataset *ds = make("cache", with_op("map", RANGE(5), OP_PLUS_ONE, NULL), NULL);
    EXPECT(stk_dataset_hold(ds), "1 2 3 4 5");
    EXPECT(make("repeat", stk_dataset_hold(ds), "count", I(2), NULL), "1 2 3 4 5 1 2 3 4 5");
    CHECK(ds->shared != NULL);
    struct stk_iter *it = open_iter(ds);
    struct stk_block b = {0};
    struct stoker_err err;
    CHECK(stk_iter_next(it, 2, &b, &err) == STOKER_OK && b.cols[0].data_buf->is_readonly);
    CHECK_EQ(it->in[0]->stats.elements, 0);
    stk_block_free(&b);
    stk_iter_close(it);
    EXPECT(make("take", make("cache", texts(), NULL), "count", I(2), NULL), "'a' ''");
    EXPECT(make("cache", with_op("map", RANGE(9), OP_FAIL_7, NULL), NULL), "0 1 2 3 4 5 6 ! 8");
}

static struct stk_dataset *kept_in(const char *kind, const char *name, const char *path,
                                   struct stk_dataset *in)
{
    struct stk_attrs *a = stk_attrs_new();
    CHECK(stk_attrs_set_text(a, name, path, strlen(path)));
    return make_with(kind, &in, 1, a);
}

// Another pipeline over the same path: a cache gives what the file holds, a snapshot keeps files
// apart by what the pipelines are.
static void another(const char *kind, const char *name, const char *path)
{
    if (strcmp(kind, "snapshot") == 0) {
        EXPECT(kept_in(kind, name, path, make("take", texts(), "count", I(2), NULL)), "'a' ''");
        EXPECT(kept_in(kind, name, path, RANGE(3)), "0 1 2");
        EXPECT(kept_in(kind, name, path, RANGE(4)), "0 1 2 3");
        return;
    }
    struct stk_block b = {0};
    struct stoker_err err;
    EXPECT(kept_in(kind, name, path, make("skip", texts(), "count", I(3), NULL)), "'a' '' 'ccc'");
    EXPECT(make("repeat", kept_in(kind, name, path, make("skip", texts(), "count", I(3), NULL)),
                "count", I(2), NULL),
           "'a' '' 'ccc' 'a' '' 'ccc'");
    struct stk_iter *it = open_iter(kept_in(kind, name, path, RANGE(3)));
    CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_EINVAL &&
          strstr(err.message, "another") != NULL);
    stk_block_free(&b);
    stk_iter_close(it);
}

static void files(const char *kind, const char *name)
{
    char dir[] = "/tmp/stoker-cache-XXXXXX", path[64];
    CHECK(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/kept", dir);
    struct stk_dataset *ds = kept_in(kind, name, path, make("take", texts(), "count", I(3), NULL));
    struct stk_iter *it = open_iter(stk_dataset_hold(ds));
    struct stk_block b = {0};
    struct stoker_err err;
    CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK && b.n == 1);
    stk_block_free(&b);
    stk_iter_close(it); // given up: nothing is kept
    CHECK_STR(elements_after(ds, 2, 0), "'a' '' 'ccc'");
    stk_dataset_drop(ds);
    another(kind, name, path);
    snprintf(path, sizeof path, "rm -rf %s", dir);
    CHECK(system(path) == 0);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    for (int is_stream = 0; is_stream < 2; is_stream++) {
        CHECK_RUN(permutes, N, N, is_stream);
        CHECK_RUN(permutes, N, 2 * N, is_stream);
        CHECK_RUN(permutes, N, 100, is_stream);
        CHECK_RUN(permutes, 1, 10, is_stream);
        CHECK_RUN(permutes, 0, 10, is_stream);
        CHECK_RUN(permutes, 17, 1, is_stream);
    }
    CHECK_RUN(epochs, true);
    CHECK_RUN(epochs, false);
    CHECK_RUN(permutation_is_even);
    CHECK_RUN(strings_and_shapes);
    CHECK_RUN(short_of_memory, false);
    CHECK_RUN(short_of_memory, true);
    CHECK_RUN(caches);
    CHECK_RUN(files, "cache", "filename");
    CHECK_RUN(files, "snapshot", "path");
    return check_done("unit.data_shuffle");
}
