// SPDX-License-Identifier: Apache-2.0
// The simulator keeps to CUDA's semantics: what must hold of every run, checked on its rows, for
// many random jobs; and what a change of the job may do to its time.
#include "check.h"

#include "answers/replay/price_row.h"
#include "base/alloc.h"
#include "base/vec.h"
#include "sim_fix.h"
#include "sim_random.h"
#include "sim_run.h"
#include "sim_world.h"

enum { ROUNDED_NS = 2000 }; // ends are rounded up to whole nanoseconds, thousands of them in a row

struct run {
    struct stk_vec rows; // of struct sim_row, in the order of their ends
    struct sim_result result;
};

static void keep(void *arg, const struct sim_row *row)
{
    struct sim_row *to = stk_vec_push(arg);
    if (!to) {
        exit(2);
    }
    *to = *row;
}

static void run_begin(struct run *r, const struct sim_job *job)
{
    stk_vec_init(&r->rows, sizeof(struct sim_row), SIZE_MAX / sizeof(struct sim_row));
    sim_run(job, SIM_UNPROFILED, keep, &r->rows, &r->result);
}

static void run_end(struct run *r)
{
    stk_vec_deinit(&r->rows);
    sim_result_free(&r->result);
}

static const struct sim_row *row_at(const struct run *r, size_t i)
{
    return stk_vec_at(&r->rows, i);
}

static int64_t length(const struct sim_row *row)
{
    return row->end_ns - row->start_ns;
}

static int64_t step_ns(const struct sim_job *job)
{
    struct sim_result result;
    sim_run(job, SIM_UNPROFILED, NULL, NULL, &result);
    int64_t ns = result.step_ns;
    sim_result_free(&result);
    return ns;
}

static int64_t whole_ns(const struct sim_job *job, enum sim_profiler profiler)
{
    struct sim_result result;
    sim_run(job, profiler, NULL, NULL, &result);
    int64_t ns = result.bounds_ns[result.steps];
    sim_result_free(&result);
    return ns;
}

static void set(struct sim_job *job, const char *text)
{
    struct stoker_err err;
    char copy[1024];
    stk_err_init(&err);
    snprintf(copy, sizeof copy, "%s", text);
    CHECK_EQ(sim_job_parse(job, copy, &err), STOKER_OK);
}

static void job_of(struct sim_job *job, const char *text)
{
    sim_job_default(job);
    set(job, text);
}

// A small job of any shape.
static void job_random(struct sim_job *job, uint64_t seed)
{
    char text[1024];
    double u[16];
    for (int i = 0; i < 16; i++) {
        u[i] = sim_unit(sim_key(seed, (uint64_t)i, 7));
    }
    snprintf(
        text, sizeof text,
        "seed=%d;steps=6;ranks=%d;layers=%d;matmul_us=%d;elementwise_us=%d;workers=%d;load_us=%d;"
        "pinned=%d;copy_ahead=%d;copies=%d;syncs=%d;graph=%d;backward_thread=%d;bucket_bytes=%d;"
        "comm_overlap=%d;queue_limit=%d;cores=%d;allocs=%d",
        (int)seed, 1 + (int)(u[0] * 3), 1 + (int)(u[1] * 6), 5 + (int)(u[2] * 400),
        2 + (int)(u[3] * 60), (int)(u[4] * 5), (int)(u[5] * 9000), u[6] < 0.5, u[7] < 0.3,
        1 + (int)(u[8] * 4), (int)(u[9] * 3), u[10] < 0.3, u[11] < 0.4,
        1000000 + (int)(u[12] * 9e7), u[13] < 0.5, 4 + (int)(u[14] * 200), 1 + (int)(u[15] * 8),
        (int)(u[3] * 2));
    job_of(job, text);
}

// Operations of a stream follow each other; copies of a direction share an engine; a launch
// precedes its work; all that was launched is done.
static void check_order(const struct run *r, const struct sim_job *job)
{
    int64_t free_ns[8][SIM_STREAMS] = {{0}}, engine_ns[8][2] = {{0}};
    unsigned wrong = 0, device = 0;
    for (size_t i = 0; i < r->rows.count; i++) {
        const struct sim_row *row = row_at(r, i);
        wrong += row->end_ns < row->start_ns;
        if (row->kind < SIM_KERNEL) {
            continue;
        }
        device++;
        wrong += row->start_ns < free_ns[row->rank][row->stream];
        free_ns[row->rank][row->stream] = row->end_ns;
        if (row->kind == SIM_COPY) {
            wrong += row->start_ns < engine_ns[row->rank][row->dir];
            engine_ns[row->rank][row->dir] = row->end_ns;
        }
    }
    CHECK_EQ(wrong, 0);
    CHECK(device >= job->layers * job->ranks);
}

struct call {
    int64_t start_ns, end_ns;
    uint8_t role;
    bool pinned;
};

// By link: what every operation's call was.
static struct call *calls_of(const struct run *r, uint32_t rank, uint64_t *count)
{
    *count = 0;
    for (size_t i = 0; i < r->rows.count; i++) {
        *count = row_at(r, i)->corr > *count ? row_at(r, i)->corr : *count;
    }
    struct call *calls = stk_alloc_zero(++*count, sizeof *calls);
    if (!calls) {
        exit(2);
    }
    for (size_t i = 0; i < r->rows.count; i++) {
        const struct sim_row *row = row_at(r, i);
        if (row->kind == SIM_RUNTIME && row->rank == rank) {
            calls[row->corr] = (struct call){row->start_ns, row->end_ns, row->role, row->pinned};
        }
    }
    return calls;
}

static void check_launches(const struct run *r, const struct sim_job *job)
{
    uint64_t count;
    struct call *calls = calls_of(r, 0, &count);
    int64_t ends[SIM_STREAMS][1024];
    uint64_t n[SIM_STREAMS] = {0}, last[SIM_STREAMS] = {0};
    unsigned early = 0, beyond = 0, unblocked = 0;
    for (size_t i = 0; i < r->rows.count; i++) {
        const struct sim_row *row = row_at(r, i);
        if (row->kind < SIM_KERNEL || row->rank != 0) {
            continue;
        }
        const struct call *c = &calls[row->corr];
        early += row->start_ns < c->start_ns + (int64_t)(job->latency_us * 1000);
        // A call ends when at most as many before it are open as the queue holds: a graph is one.
        uint64_t limit = (uint64_t)job->queue_limit, *k = &n[row->stream];
        if (row->corr != last[row->stream]) {
            beyond += *k >= limit && c->end_ns < ends[row->stream][(*k - limit) % 1024];
            (*k)++;
        }
        last[row->stream] = row->corr;
        ends[row->stream][(*k - 1) % 1024] = row->end_ns;
        bool staged = row->kind == SIM_COPY && !row->pinned && row->bytes > 100000;
        unblocked += staged && c->end_ns < row->end_ns;
    }
    CHECK_EQ(early, 0);
    CHECK_EQ(beyond, 0);
    CHECK_EQ(unblocked, 0);
    stk_free(calls);
}

// A wait for a stream ends after what was launched there before it began.
static void check_waits(const struct run *r)
{
    unsigned early = 0;
    for (size_t i = 0; i < r->rows.count; i++) {
        const struct sim_row *wait = row_at(r, i);
        if (wait->kind != SIM_RUNTIME ||
            (wait->role != SIM_ROLE_SYNC && wait->role != SIM_ROLE_SYNC_ALL)) {
            continue;
        }
        bool all = wait->role == SIM_ROLE_SYNC_ALL;
        for (size_t k = 0; k < r->rows.count; k++) {
            const struct sim_row *work = row_at(r, k);
            early += work->kind >= SIM_KERNEL && work->rank == wait->rank &&
                     work->corr < wait->corr && (all || work->stream == wait->stream) &&
                     work->end_ns > wait->end_ns;
        }
    }
    CHECK_EQ(early, 0);
}

static void semantics(void)
{
    for (uint64_t seed = 1; seed <= CHECK_ROUNDS(60); seed++) {
        struct sim_job job;
        struct run r;
        job_random(&job, seed);
        run_begin(&r, &job);
        CHECK_EQ(r.result.steps, 6);
        check_order(&r, &job);
        check_launches(&r, &job);
        check_waits(&r);
        run_end(&r);
    }
}

// Without jitter and neighbors the device is busy for exactly the kernels' time.
static void conservation(void)
{
    struct sim_job job;
    struct run r;
    job_of(&job,
           "steps=4;layers=3;matmuls=2;matmul_us=100;elementwise=5;elementwise_us=20;optimizer=2;"
           "optimizer_us=10;jitter=0");
    run_begin(&r, &job);
    int64_t busy = 0, copied = 0;
    for (size_t i = 0; i < r.rows.count; i++) {
        const struct sim_row *row = row_at(&r, i);
        busy += row->kind == SIM_KERNEL ? length(row) : 0;
        copied += row->kind == SIM_COPY ? row->bytes : 0;
    }
    CHECK_EQ(busy, 4 * 3 * (6 * 100 + 10 * 20 + 2 * 10) * INT64_C(1000));
    CHECK_EQ(copied, 4 * INT64_C(4000000));
    run_end(&r);
}

static void determinism(void)
{
    struct sim_job job;
    struct run a, b;
    job_random(&job, 5);
    run_begin(&a, &job);
    run_begin(&b, &job);
    CHECK_EQ(a.rows.count, b.rows.count);
    unsigned differ = 0;
    for (size_t i = 0; i < a.rows.count; i++) {
        const struct sim_row *x = row_at(&a, i), *y = row_at(&b, i);
        differ += x->start_ns != y->start_ns || x->end_ns != y->end_ns || x->corr != y->corr;
    }
    CHECK_EQ(differ, 0);
    int64_t before = a.result.step_ns;
    job.seed = 6;
    CHECK(step_ns(&job) != before);
    run_end(&a);
    run_end(&b);
}

// Kernels keep their times when something else is changed.
static void common_random_numbers(void)
{
    struct sim_job job;
    struct run a, b;
    job_of(&job, "steps=5;layers=4;load_us=90000;workers=1;pinned=0;syncs=2");
    run_begin(&a, &job);
    set(&job, "constant_input=1;pinned=1;launch_us=2");
    run_begin(&b, &job);
    size_t k = 0, compared = 0, differ = 0;
    for (size_t i = 0; i < a.rows.count; i++) {
        if (row_at(&a, i)->kind == SIM_KERNEL) {
            while (k < b.rows.count && row_at(&b, k)->kind != SIM_KERNEL) {
                k++;
            }
            differ += length(row_at(&a, i)) != length(row_at(&b, k++));
            compared++;
        }
    }
    CHECK(compared > 100);
    CHECK_EQ(differ, 0);
    run_end(&a);
    run_end(&b);
}

// All ranks leave a collective together, as long after the last arrival as the transfer takes.
static void collectives(void)
{
    struct sim_job job;
    struct run r;
    job_of(&job, "steps=5;ranks=4;layers=4;slow_rank=2;slow_factor=1.4;jitter=0;comm_contention=0;"
                 "gradient_bytes=4e7;bucket_bytes=1e7");
    run_begin(&r, &job);
    enum { MOST = 64 };
    int64_t last[MOST] = {0}, end[MOST] = {0};
    unsigned ranks[MOST] = {0}, apart = 0;
    for (size_t i = 0; i < r.rows.count; i++) {
        const struct sim_row *row = row_at(&r, i);
        if (row->kind != SIM_COLLECTIVE || row->ordinal >= MOST) {
            continue;
        }
        apart += ranks[row->ordinal] > 0 && end[row->ordinal] != row->end_ns;
        end[row->ordinal] = row->end_ns;
        last[row->ordinal] =
            row->start_ns > last[row->ordinal] ? row->start_ns : last[row->ordinal];
        ranks[row->ordinal]++;
    }
    CHECK_EQ(apart, 0);
    for (int i = 0; i < 5 * 4; i++) {
        CHECK_EQ(ranks[i], 4);
        CHECK(end[i] - last[i] - (int64_t)sim_collective_ns(&job, 1e7) <= 1);
        CHECK(end[i] - last[i] - (int64_t)sim_collective_ns(&job, 1e7) >= -1);
    }
    run_end(&r);
}

// Less work is never slower where nothing is shared; the profiler only adds.
static void less_work(void)
{
    static const char *const less[] = {
        "kernel_factor=2", "load_us=10", "syncs=0",   "launch_us=1",      "op_us=1",
        "python_us=0",     "allocs=0",   "load_us=0", "batch_bytes=1000", "elementwise_us=2"};
    for (uint64_t seed = 1; seed <= CHECK_ROUNDS(40); seed++) {
        struct sim_job job;
        job_random(&job, seed);
        set(&job, "cores=64;compute_contention=0;comm_contention=0");
        int64_t before = whole_ns(&job, SIM_UNPROFILED);
        for (size_t i = 0; i < sizeof less / sizeof less[0]; i++) {
            struct sim_job changed = job;
            set(&changed, less[i]);
            CHECK(whole_ns(&changed, SIM_UNPROFILED) <= before + ROUNDED_NS);
        }
        CHECK(whole_ns(&job, SIM_PROFILED) >= before - ROUNDED_NS);
    }
}

// Threads that share cores, and the same with cores enough.
static void cores(void)
{
    struct sim_job job;
    job_of(&job, "steps=12;cores=2;workers=6;load_us=30000;layers=6;matmul_us=20;elementwise_us=4");
    int64_t shared = step_ns(&job);
    set(&job, "cores=16");
    int64_t enough = step_ns(&job);
    CHECK(shared > enough);
    // Six loaders of 30 ms each on two cores cannot give a batch more often than every 15 ms.
    CHECK(shared >= 13 * INT64_C(1000000));
}

// With nothing random and no overlap, more ranks add what the collective's formula says.
static void scaling(void)
{
    struct sim_job job;
    job_of(&job, "steps=6;layers=4;jitter=0;host_jitter=0;comm_overlap=0;gradient_bytes=1e8;bucket_"
                 "bytes=1e9;"
                 "comm_contention=0;compute_contention=0;cores=512;workers=1;load_us=0");
    int64_t one = step_ns(&job);
    for (double ranks = 2; ranks <= 256; ranks *= 4) {
        job.ranks = ranks;
        int64_t more = step_ns(&job) - one, formula = (int64_t)sim_collective_ns(&job, 1e8);
        CHECK(more >= formula - 2000);  // a gap of the stream is over meanwhile
        CHECK(more <= formula + 30000); // its launch's latency, gaps, two waits between streams
    }
}

// A fix is what its row says; the null fix is nothing; unknown ones are refused with the nearest.
static void fixes(void)
{
    struct sim_job job, changed;
    struct stoker_err err;
    const char *value;
    stk_err_init(&err);
    job_of(&job, "layers=4;load_us=9000;workers=0");
    const struct sim_fix *f = sim_fix_find("none", &value, &err);
    changed = job;
    CHECK(f && sim_fix_apply(f, value, &changed, &err));
    CHECK(memcmp(&changed, &job, sizeof job) == 0);
    f = sim_fix_find("input-faster=3", &value, &err);
    CHECK(f && sim_fix_apply(f, value, &changed, &err));
    CHECK_EQ((int64_t)changed.load_us, 3000);
    f = sim_fix_find("input-overlap", &value, &err);
    CHECK(f && sim_fix_apply(f, value, &changed, &err));
    CHECK(changed.workers == 1 && changed.prefetch == job.prefetch);
    CHECK(sim_truth_ns(&changed) < sim_truth_ns(&job));
    CHECK(!sim_fix_find("input-fre", &value, &err));
    CHECK(strstr(err.message, "did you mean 'input-free'") != NULL);
    f = sim_fix_find("precision=fp12", &value, &err);
    CHECK(f && !sim_fix_apply(f, value, &changed, &err));
    for (int i = 0; i < sim_fix_count; i++) { // every row can be done to some job
        changed = job;
        CHECK(sim_fix_apply(&sim_fixes[i], sim_fixes[i].value, &changed, &err));
        struct stk_price_asked asked; // stoker whatif takes the same
        char text[64];
        snprintf(text, sizeof text, "%s%s", sim_fixes[i].id, sim_fixes[i].value);
        CHECK_SAY(stk_price_parse(text, &asked, &err) == STOKER_OK, "%s", text);
    }
}

static void descriptions(void)
{
    struct sim_job job;
    struct stoker_err err;
    char unknown[] = "layer=3", high[] = "steps=1", word[] = "precision=fp12", bare[] = "steps";
    char fine[] = "# a job; with a comment\nsteps = 9 # many\n\nprecision = bf16;layers=3\n";
    stk_err_init(&err);
    sim_job_default(&job);
    CHECK_EQ(sim_job_parse(&job, fine, &err), STOKER_OK);
    CHECK(job.steps == 9 && job.layers == 3 && job.precision == SIM_BF16);
    CHECK_EQ(sim_job_parse(&job, unknown, &err), STOKER_EINVAL);
    CHECK(strstr(err.message, "did you mean 'layers'") != NULL);
    CHECK_EQ(sim_job_parse(&job, high, &err), STOKER_EINVAL);
    CHECK_EQ(sim_job_parse(&job, word, &err), STOKER_EINVAL);
    CHECK_EQ(sim_job_parse(&job, bare, &err), STOKER_EINVAL);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(semantics);
    CHECK_RUN(conservation);
    CHECK_RUN(determinism);
    CHECK_RUN(common_random_numbers);
    CHECK_RUN(collectives);
    CHECK_RUN(less_work);
    CHECK_RUN(cores);
    CHECK_RUN(scaling);
    CHECK_RUN(fixes);
    CHECK_RUN(descriptions);
    return check_done("lab.simulator");
}
