// SPDX-License-Identifier: Apache-2.0
// stoker stats sequences: which chains of short kernels are found, and their sums.
#include "answer.h"

static void row_of(struct answer *a, double start_us, double dur_us, const char *name)
{
    synth_device(&a->s, S0, start_us, dur_us, name, STK_KIND_KERNEL, 0, 0);
}

// A long kernel, then three short ones with gaps of 2 us: twice.
static void test_between_long(void)
{
    struct answer a;
    answer_begin(&a);
    for (int i = 0; i < 2; i++) {
        double t = i * 1000;
        row_of(&a, t, 100, "gemm");
        row_of(&a, t + 101, 4, "void add<float>(int)");
        row_of(&a, t + 107, 2, "at::native::mul");
        row_of(&a, t + 111, 6, "relu");
        row_of(&a, t + 300, 5, "alone"); // after a gap of 183 us
    }
    answer_analyse(&a, &stk_stats_sequences);
    CHECK_EQ(a.doc.tables[0].row_count, 1);
    CHECK_STR(answer_cell(&a, 0, "chain")->text, "add > mul > relu");
    CHECK_EQ(NUMBER(&a, 0, "kernels"), 3);
    CHECK_EQ(NUMBER(&a, 0, "count"), 2);
    CHECK_EQ(NUMBER(&a, 0, "total_ns"), 24 * US);
    CHECK_EQ(NUMBER(&a, 0, "mean_gap_ns"), 2 * US);
    CHECK_EQ(NUMBER(&a, 0, "saving_bound_ns"), 20 * US); // 12 + 4 - 6, twice
    CHECK_EQ(answer_figure(&a, "short_chain_ns")->number, 24 * US);
    CHECK_EQ(answer_figure(&a, "chain_kernels")->number, 6);
    CHECK_EQ(answer_figure(&a, "gap_ns")->number, 8 * US);
    CHECK_EQ(PERCENT(answer_figure(&a, "short_chain_share")), 10); // 24 of 234
    answer_end(&a);
}

// An optimizer: the same three kernels for each of 50 parameters, without anything between.
static void test_period(void)
{
    static const char *const names[] = {"mul", "add", "sqrt"};
    struct answer a;
    answer_begin(&a);
    row_of(&a, 0, 3, "zero");
    for (int i = 0; i < 150; i++) {
        row_of(&a, 5 + i * 4, 3, names[i % 3]);
    }
    row_of(&a, 5 + 150 * 4, 3, "mul");
    answer_analyse(&a, &stk_stats_sequences);
    CHECK_EQ(a.doc.tables[0].row_count, 1);
    CHECK_STR(answer_cell(&a, 0, "chain")->text, "mul > add > sqrt");
    CHECK_EQ(NUMBER(&a, 0, "count"), 50);
    CHECK_EQ(NUMBER(&a, 0, "saving_bound_ns"), 50 * 8 * US);
    answer_end(&a);
}

static void test_functors(void)
{
    struct answer a;
    answer_begin(&a);
    for (int i = 0; i < 2; i++) {
        row_of(&a, i * 1000, 3,
               "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add"
               "<float>, at::detail::Array<char*, 3> >(int)");
        row_of(&a, i * 1000 + 4, 3,
               "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add"
               "<double>, at::detail::Array<char*, 3> >(int)");
        row_of(&a, i * 1000 + 8, 3, "<unnamed>::softmax<float>");
    }
    answer_analyse(&a, &stk_stats_sequences);
    CHECK_STR(answer_cell(&a, 0, "chain")->text, "CUDAFunctor_add x2 > softmax");
    answer_end(&a);
}

// Copies, collectives and other streams are no part of a chain; once is no repetition.
static void test_nothing(void)
{
    struct answer a;
    answer_begin(&a);
    for (int i = 0; i < 4; i++) {
        row_of(&a, i * 100, 3, "k");
        synth_device(&a.s, S0, i * 100 + 4, 3, "Memcpy", STK_KIND_MEMCPY, STK_DIR_D2D,
                     STK_MEM_DEVICE);
        synth_device(&a.s, S1, i * 100 + 4, 3, "l", STK_KIND_KERNEL, 0, 0);
    }
    row_of(&a, 500, 3, "m");
    row_of(&a, 504, 3, "n");
    answer_analyse(&a, &stk_stats_sequences);
    CHECK_EQ(a.doc.tables[0].row_count, 0);
    CHECK_EQ(answer_figure(&a, "short_chain_ns")->number, 0);
    CHECK(!a.doc.inconclusive);
    answer_end(&a);
}

// For any stream: chains take no more time than its kernels, and save less than they take.
static void test_random(void)
{
    uint64_t random = 3;
    for (int round = 0; round < 100; round++) {
        struct answer a;
        int64_t kernels_ns = 0, chains_ns = 0;
        double t = 0;
        answer_begin(&a);
        for (int i = 0; i < 300; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            char name[2] = {(char)('a' + (random >> 33) % (2 + (unsigned)round % 4)), 0};
            int dur_us = (int)((random >> 40) % 12) + 1;
            row_of(&a, t, dur_us, name);
            kernels_ns += dur_us * US;
            t += dur_us + (double)((random >> 50) % 60);
        }
        answer_analyse(&a, &stk_stats_sequences);
        for (size_t i = 0; i < a.doc.tables[0].row_count; i++) {
            int64_t total = NUMBER(&a, i, "total_ns"), count = NUMBER(&a, i, "count");
            int64_t gaps =
                (NUMBER(&a, i, "mean_gap_ns") + 1) * count * (NUMBER(&a, i, "kernels") - 1);
            CHECK(count >= 2);
            CHECK(NUMBER(&a, i, "kernels") >= 2 && NUMBER(&a, i, "kernels") <= 32);
            CHECK(NUMBER(&a, i, "saving_bound_ns") < total + gaps);
            chains_ns += total;
        }
        CHECK(chains_ns <= kernels_ns);
        CHECK_EQ(answer_figure(&a, "short_chain_ns")->number, chains_ns);
        answer_end(&a);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_between_long);
    CHECK_RUN(test_period);
    CHECK_RUN(test_functors);
    CHECK_RUN(test_nothing);
    CHECK_RUN(test_random);
    return check_done("unit.stats_sequences");
}
