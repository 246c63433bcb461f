// SPDX-License-Identifier: Apache-2.0
// stoker stats transfers beyond the sums: blocking copies, rates against the link, data that goes
// back and forth; on small traces with known answers, and on real ones.
#include <math.h>

#include "answer.h"

#define PING_PONG 1

static const char head[] =
    "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA A100-SXM4-80GB\","
    "\"computeMajor\":8,\"computeMinor\":0,\"numSms\":108}],\"traceEvents\":[";

struct text {
    char p[32768];
    int id;
};

static void begin(struct text *t)
{
    t->id = 0;
    snprintf(t->p, sizeof t->p, "%s", head);
}

// An operator of 40 us, in it a call and the copy that it starts.
static void add_copy(struct text *t, int at_us, const char *op, const char *call, int call_us,
                     const char *way, int64_t bytes, int copy_us)
{
    size_t n = strlen(t->p);
    t->id++;
    snprintf(t->p + n, sizeof t->p - n,
             "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"pid\":9,\"tid\":9,\"ts\":%d,"
             "\"dur\":40,\"args\":{}},"
             "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"%s\",\"pid\":9,\"tid\":9,"
             "\"ts\":%d,\"dur\":%d,\"args\":{\"correlation\":%d}},"
             "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy %s\",\"pid\":0,\"tid\":7,"
             "\"ts\":%d,\"dur\":%d,\"args\":{\"device\":0,\"stream\":7,\"correlation\":%d,"
             "\"bytes\":%lld}}",
             t->id > 1 ? "," : "", op, at_us, call, at_us + 1, call_us, t->id, way, at_us + 10,
             copy_us, t->id, (long long)bytes);
}

static void add_kernel(struct text *t, int at_us)
{
    size_t n = strlen(t->p);
    t->id++;
    snprintf(t->p + n, sizeof t->p - n,
             ",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,"
             "\"tid\":9,\"ts\":%d,\"dur\":5,\"args\":{\"correlation\":%d}},"
             "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":%d,"
             "\"dur\":9,\"args\":{\"device\":0,\"stream\":7,\"correlation\":%d}}",
             at_us, t->id, at_us + 6, t->id);
}

static void add_step(struct text *t, int number, int at_us, int dur_us)
{
    size_t n = strlen(t->p);
    snprintf(t->p + n, sizeof t->p - n,
             ",{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%d\",\"pid\":9,"
             "\"tid\":9,\"ts\":%d,\"dur\":%d,\"args\":{}}",
             number, at_us, dur_us);
}

static void analyse(struct answer *a, struct text *t)
{
    strcat(t->p, "]}");
    answer_begin(a);
    answer_read_text(a, &stk_stats_transfers, t->p);
    answer_analyse(a, &stk_stats_transfers);
}

static size_t row_of(const struct answer *a, const char *direction, const char *pinned)
{
    size_t r = 0;
    while (r < a->doc.tables[0].row_count &&
           (strcmp(answer_cell(a, r, "direction")->text, direction) != 0 ||
            strcmp(answer_cell(a, r, "pinned")->text, pinned) != 0)) {
        r++;
    }
    CHECK(r < a->doc.tables[0].row_count);
    return r;
}

static void test_blocking(void)
{
    static struct text t;
    struct answer a;
    begin(&t);
    add_copy(&t, 0, "a", "cudaMemcpyAsync", 5, "HtoD (Pinned -> Device)", 315000, 20);
    add_copy(&t, 100, "a", "cudaMemcpyAsync", 35, "DtoH (Device -> Pageable)", 8, 2); // waited
    add_copy(&t, 200, "a", "cudaMemcpy", 4, "HtoD (Pageable -> Device)", 64, 2); // returned early
    add_copy(&t, 300, "a", "cudaMemcpyAsync", 3, "DtoD (Device -> Device)", 1019500, 2);
    analyse(&a, &t);
    size_t pinned = row_of(&a, "h2d", "yes"), pageable = row_of(&a, "h2d", "no");
    size_t down = row_of(&a, "d2h", "no"), within = row_of(&a, "d2d", "unknown");
    CHECK_EQ(NUMBER(&a, pinned, "blocking"), 0);
    CHECK_EQ(NUMBER(&a, pinned, "blocked_ns"), 0);
    CHECK_EQ(NUMBER(&a, down, "blocking"), 1);
    CHECK_EQ(NUMBER(&a, down, "blocked_ns"), 35 * US);
    CHECK_EQ(NUMBER(&a, pageable, "blocking"), 1);
    CHECK_EQ(NUMBER(&a, within, "blocking"), 0);
    // 15.75 GB/s of PCIe 4's 31.5; 509.75 GB/s of half of 2039, each byte is read and written.
    CHECK(fabs(answer_cell(&a, pinned, "link_share")->ratio - 0.5) < 1e-3);
    CHECK(fabs(answer_cell(&a, within, "link_share")->ratio - 0.5) < 1e-3);
    CHECK_EQ(PERCENT(answer_cell(&a, pinned, "exposed_share")), 100);
    CHECK_EQ(answer_figure(&a, "blocking_count")->number, 2);
    CHECK_EQ(answer_figure(&a, "blocked_ns")->number, 39 * US);
    CHECK_EQ(PERCENT(answer_figure(&a, "hidden_share")), 0);
    CHECK_EQ(answer_figure(&a, "ping_pong_pairs")->number, 0);
    answer_end(&a);
}

// Two steps with data that goes down and up in each, and what must not be taken for it.
static void test_ping_pong(void)
{
    static struct text t;
    struct answer a;
    begin(&t);
    for (int step = 0; step < 4; step++) {
        int at = 1000 * step;
        add_copy(&t, at, "aten::cpu", "cudaMemcpyAsync", 38, "DtoH (Device -> Pageable)", 65536,
                 20);
        add_copy(&t, at + 100, "aten::cuda", "cudaMemcpyAsync", 30, "HtoD (Pageable -> Device)",
                 65536, 10);
        add_copy(&t, at + 200, "aten::item", "cudaMemcpyAsync", 30, "DtoH (Device -> Pageable)", 4,
                 1); // too small
        add_copy(&t, at + 300, "aten::to", "cudaMemcpyAsync", 30, "HtoD (Pageable -> Device)", 4,
                 1);
        add_copy(&t, at + 400, "aten::to", "cudaMemcpyAsync", 30, "HtoD (Pageable -> Device)",
                 9000 + step, 1); // of no other's size
    }
    add_copy(&t, 3500, "x", "cudaMemcpyAsync", 30, "DtoH (Device -> Pageable)", 123456, 1); // once
    add_copy(&t, 3600, "x", "cudaMemcpyAsync", 30, "HtoD (Pageable -> Device)", 123456, 1);
    for (int step = 0; step < 4; step++) {
        add_step(&t, step, 1000 * step, 900);
    }
    analyse(&a, &t);
    CHECK_EQ(a.doc.tables[PING_PONG].row_count, 1);
    CHECK_STR(answer_cell_in(&a, PING_PONG, 0, "order")->text, "d2h, h2d");
    CHECK_STR(answer_cell_in(&a, PING_PONG, 0, "first_op")->text, "aten::cpu");
    CHECK_STR(answer_cell_in(&a, PING_PONG, 0, "second_op")->text, "aten::cuda");
    CHECK_EQ(answer_cell_in(&a, PING_PONG, 0, "bytes")->number, 65536);
    CHECK_EQ(answer_cell_in(&a, PING_PONG, 0, "pairs")->number, 4);
    CHECK(answer_cell_in(&a, PING_PONG, 0, "per_step")->ratio == 1);
    CHECK_EQ(answer_cell_in(&a, PING_PONG, 0, "total_ns")->number, 120 * US);
    CHECK_EQ(answer_figure(&a, "ping_pong_bytes")->number, 4 * 2 * 65536);
    answer_end(&a);
}

// A copy of one step is not answered by one of the next.
static void test_across_steps(bool with_kernels)
{
    static struct text t;
    struct answer a;
    begin(&t);
    for (int step = 0; step < 6; step++) {
        add_copy(&t, 1000 * step, "x", "cudaMemcpyAsync", 38,
                 step % 2 ? "HtoD (Pageable -> Device)" : "DtoH (Device -> Pageable)", 65536, 20);
    }
    for (int step = 0; step < 6; step++) {
        add_step(&t, step, 1000 * step, 900);
        if (with_kernels) {
            add_kernel(&t, 1000 * step + 500);
        }
    }
    analyse(&a, &t);
    CHECK_EQ(a.doc.tables[PING_PONG].row_count, 0);
    answer_end(&a);
}

static void test_without_steps(void)
{
    static struct text t;
    struct answer a;
    begin(&t); // the time between them decides: 200 ms is too long
    for (int i = 0; i < 6; i++) {
        add_copy(&t, 200000 * i, "x", "cudaMemcpyAsync", 38,
                 i % 2 ? "HtoD (Pageable -> Device)" : "DtoH (Device -> Pageable)", 65536, 20);
    }
    analyse(&a, &t);
    CHECK_EQ(a.doc.tables[PING_PONG].row_count, 0);
    answer_end(&a);
}

static void test_fixtures(void)
{
    static const char *const files[] = {"kineto/segment-anything-fast/asdf_True_143a.json.gz",
                                        "nsys/nsys-ai/h100_2gpu_1s.sqlite",
                                        "nsys/pipit/saxpy-mpi-cuda_nsys_perlmutter0.sqlite",
                                        "xplane/profiler/tf_multiworker_8xV100.xplane.pb",
                                        "xplane/TraceLens/jax_conv_minimal_08_tw003.xplane.pb"};
    const char *dir = check_fixtures();
    char path[4096];
    for (size_t i = 0; dir && i < sizeof files / sizeof files[0]; i++) {
        struct answer a;
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        answer_begin(&a);
        answer_read(&a, &stk_stats_transfers, path);
        answer_analyse(&a, &stk_stats_transfers);
        for (size_t r = 0; r < a.doc.tables[0].row_count; r++) {
            const struct stk_cell *link = answer_cell(&a, r, "link_share");
            const struct stk_cell *blocking = answer_cell(&a, r, "blocking");
            CHECK(!link->known || (link->ratio > 0 && link->ratio <= 1));
            CHECK(!blocking->known || blocking->number <= NUMBER(&a, r, "count"));
            double exposed = answer_cell(&a, r, "exposed_share")->ratio;
            CHECK(exposed >= 0 && exposed <= 1);
        }
        answer_end(&a);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_blocking);
    CHECK_RUN(test_ping_pong);
    CHECK_RUN(test_across_steps, false);
    CHECK_RUN(test_across_steps, true);
    CHECK_RUN(test_without_steps);
    CHECK_RUN(test_fixtures);
    return check_done("unit.stats_transfers");
}
