// SPDX-License-Identifier: Apache-2.0
// Real XPlane profiles: counts, sums, unions and bytes per line, against values computed from the
// same files by an independent decoder.
#include "check.h"
#include "xplane_writer.h"

static struct stk_trace *fixture(const char *dir, const char *name, int threads)
{
    char path[4096];
    struct stk_trace *t;
    struct stoker_err err;
    snprintf(path, sizeof path, "%s/xplane/%s", dir, name);
    FILE *f = fopen(path, "rb");
    if (!f) {
        check_skip(name);
        return NULL;
    }
    fclose(f);
    enum stoker_status status = read_xplane_file(path, threads, &t, &err);
    CHECK(status == STOKER_OK);
    if (status != STOKER_OK) {
        fprintf(stderr, "%s: %s\n", name, err.message);
    }
    return t;
}

struct line_sum {
    uint64_t events;
    int64_t sum_ns, union_ns, bytes, first_ns, end_ns;
};

// A track with its sub-rows. Rows of a track are sorted, so sub-rows are merged by a second pass.
static struct line_sum sum_of(const struct stk_trace *t, uint32_t track)
{
    struct line_sum s = {0};
    int64_t until = INT64_MIN;
    const struct stk_track *k = &t->tracks[track];
    for (uint32_t i = k->first; i < k->first + k->count; i++) {
        int64_t start = t->start_ns[i] + t->base_ns, end = start + stk_dur_ns(t, i);
        const struct stk_ext *x = stk_ext_of(t, i);
        s.sum_ns += end - start;
        s.bytes += x && x->flags & STK_EXT_VALUE ? x->value : 0;
        if (end > until) {
            s.union_ns += end - (start > until ? start : until);
        }
        until = end > until ? end : until;
        s.first_ns = s.events++ ? s.first_ns : start;
    }
    s.end_ns = until;
    return s;
}

static uint32_t find_track(const struct stk_trace *t, int64_t device, int64_t id)
{
    for (uint32_t i = 0; i < t->track_count; i++) {
        if (t->tracks[i].id == id && t->tracks[i].parent == STK_NONE &&
            (t->tracks[i].device == STK_NONE ? -1 : t->devices[t->tracks[i].device].ordinal) ==
                device) {
            return i;
        }
    }
    return STK_NONE;
}

// Sums may be off by a nanosecond for each event, since events are rounded first.
#define CHECK_NEAR(got, want, events)                                                              \
    CHECK(llabs((long long)((got) - (want))) <= (long long)(events))

// Line base 245,747 ns; offsets and sums in the table are of the file's picoseconds, in ns.
static void bert_lines(const struct stk_trace *t)
{
    static const struct {
        int64_t device, id;
        uint64_t events;
        int64_t sum_ns, union_ns, bytes, first_ns, end_ns;
    } lines[] = {
        {1, 123, 19, 33792, 33792, 3112, 2761530354, 2774947776},
        {4, 63, 2, 5120, 5120, 224, 1821610914, 1824777105},
        {4, 135, 80, 153853, 153853, 37223, 1834954585, 1930580588},
        {4, 134, 665, 14825385, 14825385, 0, 1921054081, 1940919572},
        {4, 136, 12, 39456, 39456, 36944, 1925866278, 1931041642},
        {4, -559038737, 1, 19865491, 19865491, 0, 1921054081, 1940919572},
        {4, -559038734, 665, 14825385, 14825385, 0, 1921054081, 0},
        {4, -559038735, 2450, 137472246, 19843987, 0, 1921054081, 0},
        {6, 143, 99, 197536, 197536, 40335, 2099450336, 2577590798},
        {6, 91, 2, 4096, 4096, 224, 2481178121, 2484281849},
        {6, 142, 665, 14865363, 14865363, 0, 2568609854, 2589920206},
        {6, 144, 12, 37504, 37504, 36944, 2573789762, 2578250603},
        {6, -559038737, 1, 21310352, 21310352, 0, 2568609854, 0},
        {6, -559038734, 665, 14865363, 14865363, 0, 0, 0},
        {6, -559038735, 2436, 143411607, 21287824, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        uint32_t track = find_track(t, lines[i].device, lines[i].id);
        CHECK(track != STK_NONE);
        if (track == STK_NONE) {
            continue;
        }
        struct line_sum s = sum_of(t, track);
        CHECK_EQ(s.events, lines[i].events);
        CHECK_NEAR(s.sum_ns, lines[i].sum_ns, s.events);
        CHECK_NEAR(s.union_ns, lines[i].union_ns, s.events);
        CHECK_EQ(s.bytes, lines[i].bytes);
        if (lines[i].first_ns) {
            CHECK_EQ(s.first_ns, lines[i].first_ns + 245747);
        }
        if (lines[i].end_ns) {
            CHECK_EQ(s.end_ns, lines[i].end_ns + 245747);
        }
        CHECK_EQ(t->tracks[track].kind, lines[i].id < 0 ? STK_TRACK_DERIVED : STK_TRACK_STREAM);
    }
}

// Gaps between consecutive kernels of the two busy GPUs.
static void bert_gaps(const struct stk_trace *t)
{
    static const struct {
        int64_t device, id, sum_ns, short_sum_ns, largest_ns, largest_at_ns, short_kernel_ns;
        int shorts;
    } cases[] = {{4, 134, 5040106, 2814968, 1375200, 1923776000, 593918, 616},
                 {6, 142, 6444989, 2947023, 2382800, 2570208000, 606206, 612}};
    for (size_t c = 0; c < 2; c++) {
        const struct stk_track *k = &t->tracks[find_track(t, cases[c].device, cases[c].id)];
        int64_t sum = 0, short_sum = 0, largest = 0, at = 0, short_kernel = 0;
        int shorts = 0, short_kernels = 0;
        for (uint32_t i = k->first; i + 1 < k->first + k->count; i++) {
            int64_t gap = t->start_ns[i + 1] - stk_end_ns(t, i);
            sum += gap;
            shorts += gap < 10000;
            short_sum += gap < 10000 ? gap : 0;
            at = gap > largest ? stk_end_ns(t, i) + t->base_ns : at;
            largest = gap > largest ? gap : largest;
        }
        for (uint32_t i = k->first; i < k->first + k->count; i++) {
            short_kernels += stk_dur_ns(t, i) < 10000;
            short_kernel += stk_dur_ns(t, i) < 10000 ? stk_dur_ns(t, i) : 0;
        }
        CHECK_NEAR(sum, cases[c].sum_ns, 664);
        CHECK_EQ(shorts, cases[c].shorts);
        CHECK_NEAR(short_sum, cases[c].short_sum_ns, 616);
        CHECK_NEAR(largest, cases[c].largest_ns, 50);
        CHECK_NEAR(at, cases[c].largest_at_ns, 500);
        CHECK_EQ(short_kernels, 155);
        CHECK_NEAR(short_kernel, cases[c].short_kernel_ns, 155);
    }
}

struct named_sum {
    const char *name;
    bool device;
    int64_t count, sum_ns;
};
static void named_sums(const struct stk_trace *t, const struct named_sum *want, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        int64_t count = 0, sum = 0;
        for (uint32_t i = 0; i < t->count; i++) {
            const struct stk_track *track = track_with(t, i);
            if ((track->device != STK_NONE) == want[k].device && track->kind != STK_TRACK_DERIVED &&
                strcmp(text_of(t, t->name[i]), want[k].name) == 0) {
                count++;
                sum += stk_dur_ns(t, i);
            }
        }
        CHECK_EQ(count, want[k].count);
        if (want[k].sum_ns) {
            CHECK_NEAR(sum, want[k].sum_ns, 1000);
        }
    }
}

static void bert(const char *dir)
{
    static const struct named_sum names[] = {
        {"ExecutorPropagateOutputs", false, 5568, 0},
        {"MemoryAllocation", false, 1859, 0},
        {"MemoryDeallocation", false, 634, 0},
        {"MemcpyH2D", false, 202, 3025879},
        {"MemcpyD2H", false, 24, 2844926},
        {"FunctionRun", false, 7, 0},
        {"IteratorGetNextAsOptionalOp::DoCompute", false, 2, 13735229},
        {"Iterator::Prefetch", false, 2, 13602000},
        {"PrefetchConsume", false, 2, 0},
        {"MemcpyH2D", true, 202, 394397},
        {"MemcpyD2H", true, 24, 76960},
    };
    struct stk_trace *t = fixture(dir, "profiler/tf_multiworker_8xV100.xplane.pb", 2);
    if (!t) {
        return;
    }
    CHECK_EQ(t->read, 23128);
    CHECK_EQ(t->count, 23128);
    CHECK_EQ(t->dropped, 0);
    CHECK_EQ(t->by_kind[STK_KIND_KERNEL], 1330);
    CHECK_EQ(t->by_kind[STK_KIND_MEMCPY], 226);
    CHECK_EQ(t->by_kind[STK_KIND_RUNTIME], 1556);
    CHECK_EQ(t->by_kind[STK_KIND_OTHER], 6218);
    CHECK_EQ(t->by_kind[STK_KIND_MEMORY], 2493);
    CHECK_EQ(t->issues[STK_ISSUE_DERIVED_IGNORED].count, 6218);
    CHECK_STR(text_of(t, t->host), "34.83.195.179:6003");
    CHECK_STR(text_of(t, t->producer), "TensorFlow");
    CHECK_EQ(t->base_ns, 128685703);
    CHECK_EQ(t->device_count, 3);
    for (uint32_t i = 0; i < t->device_count; i++) {
        CHECK_EQ(t->devices[i].sm_count, 80);
        CHECK_EQ(t->devices[i].memory_bytes, 16945512448);
        CHECK_EQ(t->devices[i].cc_major, 7);
    }
    for (uint32_t i = 0; i < t->count; i++) {
        if (stk_kind_is_device_work(t->kind[i])) {
            CHECK(stk_link_of(t, i) != STK_NONE);
        }
    }
    bert_lines(t);
    bert_gaps(t);
    named_sums(t, names, sizeof names / sizeof names[0]);
    stk_trace_free(t);
}

static void tpu(const char *dir)
{
    static const struct {
        int64_t device, line;
        uint64_t events;
        int64_t sum_ns;
    } lines[] = {{0, 2, 105, 0},
                 {0, 3, 1504, 78784927636},
                 {0, 6, 108, 0},
                 {1, 2, 103, 0},
                 {1, 3, 1503, 78789509322},
                 {1, 6, 106, 0},
                 {2, 3, 1503, 78781986874},
                 {3, 3, 1503, 78766281688},
                 {3, 6, 106, 0}};
    struct stk_trace *t = fixture(dir, "xprof/tpu_inference_2.v1.xplane.pb", 2);
    if (!t) {
        return;
    }
    CHECK_EQ(t->read, 26723);
    CHECK_EQ(t->count, 26723);
    CHECK_EQ(t->device_count, 4);
    CHECK_EQ(t->by_kind[STK_KIND_KERNEL] + t->by_kind[STK_KIND_COLLECTIVE], 6013);
    CHECK_EQ(t->by_kind[STK_KIND_OTHER], 600 + 414 + 426);
    CHECK_STR(text_of(t, t->devices[0].name), "TPU v6 Lite");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        uint32_t track = find_track(t, lines[i].device, lines[i].line);
        CHECK(track != STK_NONE);
        if (track == STK_NONE) {
            continue;
        }
        struct line_sum s = sum_of(t, track);
        CHECK_EQ(s.events, lines[i].events);
        if (lines[i].sum_ns) {
            CHECK_NEAR(s.sum_ns, lines[i].sum_ns, s.events);
        }
        CHECK((t->tracks[track].kind == STK_TRACK_STREAM) == (lines[i].line == 3));
    }
    // Of TPU:0, 76 s are waiting for copies, each way known.
    int64_t waits = 0;
    uint64_t ways[6] = {0};
    const struct stk_track *ops = &t->tracks[find_track(t, 0, 3)];
    for (uint32_t i = ops->first; i < ops->first + ops->count; i++) {
        const struct stk_ext *x = stk_ext_of(t, i);
        if (!x || !(x->flags & STK_EXT_WAITS)) {
            continue;
        }
        waits += stk_dur_ns(t, i);
        ways[x->dir]++;
        CHECK_EQ(x->value, 5368709120);
    }
    CHECK_NEAR(waits, 76048366582, 600);
    CHECK_EQ(ways[STK_DIR_H2D], 300);
    CHECK_EQ(ways[STK_DIR_D2H], 300);
    stk_trace_free(t);
}

static void rocm(const char *dir)
{
    static const struct {
        const char *name;
        uint64_t events, kernels, runtime, devices;
    } files[] = {{"TraceLens/jax08_attention_tw003.xplane.pb", 4380, 105, 105, 1},
                 {"TraceLens/jax08_elementwise_tw003.xplane.pb", 4623, 75, 75, 1},
                 {"TraceLens/jax_conv_minimal_08_tw003.xplane.pb", 3650, 235, 234, 8}};
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        struct stk_trace *t = fixture(dir, files[k].name, 2);
        if (!t) {
            continue;
        }
        CHECK_EQ(t->read, files[k].events);
        CHECK_EQ(t->count, files[k].events);
        CHECK_EQ(t->by_kind[STK_KIND_KERNEL], files[k].kernels);
        CHECK_EQ(t->by_kind[STK_KIND_RUNTIME], files[k].runtime);
        CHECK_EQ(t->device_count, files[k].devices);
        CHECK_STR(text_of(t, t->producer), "JAX");
        for (uint32_t i = 0; i < t->count; i++) {
            if (stk_kind_is_device_work(t->kind[i])) {
                CHECK(stk_link_of(t, i) != STK_NONE);
            }
        }
        stk_trace_free(t);
    }
}

static bool same_columns(const struct stk_trace *a, const struct stk_trace *b)
{
    size_t n = a->count;
    return a->count == b->count && a->ext_count == b->ext_count &&
           a->track_count == b->track_count && a->base_ns == b->base_ns &&
           a->strings.count == b->strings.count &&
           !memcmp(a->start_ns, b->start_ns, n * sizeof *a->start_ns) &&
           !memcmp(a->dur_low, b->dur_low, n * sizeof *a->dur_low) &&
           !memcmp(a->name, b->name, n * sizeof *a->name) &&
           !memcmp(a->ref, b->ref, n * sizeof *a->ref) &&
           !memcmp(a->pos_low, b->pos_low, n * sizeof *a->pos_low) &&
           !memcmp(a->kind, b->kind, n) && !memcmp(a->depth, b->depth, n);
}

// The same trace from one worker, from several, and from compressed input.
static void same_from_all_sides(void)
{
    struct pb space = {0}, plane = pb_plane("/host:CPU");
    for (int l = 0; l < 5; l++) { // one line larger than a task, others small
        struct pb line = pb_line(l, "thread", 10);
        for (int64_t i = 0; i < (l == 2 ? 1000000 : 2000); i++) {
            struct pb e = pb_event(1 + i % 40, i * 7000 + i % 11, i % 3 ? 6000 : 6000000);
            if (i % 5 == 0) {
                pb_stat_int(&e, 4, 1, 3, i);
            }
            pb_msg(&line, 4, &e);
        }
        pb_msg(&plane, 3, &line);
    }
    for (int i = 1; i <= 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "op %d", i);
        pb_named(&plane, 4, i, name);
    }
    pb_named(&plane, 5, 1, "correlation_id");
    pb_msg(&space, 1, &plane);
    struct stk_trace *one, *t;
    struct stoker_err err;
    struct pb z = pb_gzip(space.p, space.n);
    CHECK(read_xplane_bytes(space.p, space.n, 1, &one, &err) == STOKER_OK);
    CHECK_EQ(one->count, 1008000);
    for (int threads = 1; threads <= 4; threads++) {
        CHECK(read_xplane_bytes(space.p, space.n, threads, &t, &err) == STOKER_OK);
        CHECK(same_columns(one, t));
        stk_trace_free(t);
        CHECK(read_xplane_bytes(z.p, z.n, threads, &t, &err) == STOKER_OK);
        CHECK(same_columns(one, t));
        stk_trace_free(t);
    }
    stk_trace_free(one);
    free(z.p);
    free(space.p);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(same_from_all_sides);
    const char *dir = check_fixtures();
    if (dir) {
        CHECK_RUN(bert, dir);
        CHECK_RUN(tpu, dir);
        CHECK_RUN(rocm, dir);
    }
    return check_done("unit.xplane_fixtures");
}
