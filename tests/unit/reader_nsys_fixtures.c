// SPDX-License-Identifier: Apache-2.0
// The Nsight Systems reader on real exports, against the values of an independent analyzer: counts
// by kind, and per device operations, busy time, linked kernels, copies, the largest kernels.
#include "base/alloc.h"
#include "check.h"
#include "profile/readers/reader.h"

static const char *const files[] = {
    "nsys/nsys-ai/h100_2gpu_1s.sqlite", "nsys/nsys-ai/healthy_1pct.sqlite",
    "nsys/pipit/perlmutter-cloverleaf-cuda.sqlite",
    "nsys/pipit/saxpy-mpi-cuda_nsys_perlmutter0.sqlite", "nsys/WeatherBench2/report1.sqlite"};

static char *slurp(const char *dir, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "rb");
    if (!f) {
        return NULL;
    }
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *text = calloc(1, (size_t)n + 1);
    CHECK(text && fread(text, 1, (size_t)n, f) == (size_t)n);
    fclose(f);
    return text;
}

// Integer of the first "key": after p; the JSON has sorted keys and unique ones where it matters.
static int64_t value_after(const char *p, const char *key)
{
    char quoted[100];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    p = p ? strstr(p, quoted) : NULL;
    return p ? strtoll(p + strlen(quoted), NULL, 10) : -1;
}

struct interval {
    int64_t start, end;
};
static int by_start(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

struct sums {
    int64_t busy_ns, first_ns, kernels, memcpys, memsets, linked_kernels, pageable;
};

static struct sums sum_device(const struct stk_trace *t, uint32_t device)
{
    struct sums s = {.first_ns = INT64_MAX};
    struct interval *all = calloc(t->count + 1, sizeof *all);
    size_t n = 0;
    for (uint32_t i = 0; all && i < t->track_count; i++) {
        const struct stk_track *track = &t->tracks[i];
        if (track->kind != STK_TRACK_STREAM || track->device != device) {
            continue;
        }
        for (uint32_t e = track->first; e < track->first + track->count; e++) {
            uint8_t kind = t->kind[e];
            bool kernel = kind == STK_KIND_KERNEL || kind == STK_KIND_COLLECTIVE;
            s.kernels += kernel;
            s.linked_kernels += kernel && stk_link_of(t, e) != STK_NONE;
            s.memcpys += kind == STK_KIND_MEMCPY;
            s.memsets += kind == STK_KIND_MEMSET;
            const struct stk_ext *ext = stk_ext_of(t, e);
            s.pageable += kind == STK_KIND_MEMCPY && ext &&
                          (ext->src_mem == STK_MEM_PAGEABLE || ext->dst_mem == STK_MEM_PAGEABLE);
            all[n++] = (struct interval){t->start_ns[e], stk_end_ns(t, e)};
        }
    }
    qsort(all, n, sizeof *all, by_start);
    int64_t end = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        int64_t from = all[i].start > end ? all[i].start : end;
        s.busy_ns += all[i].end > from ? all[i].end - from : 0;
        end = all[i].end > end ? all[i].end : end;
        s.first_ns = all[i].start < s.first_ns ? all[i].start : s.first_ns;
    }
    free(all);
    return s;
}

static void check_top_kernel(const struct stk_trace *t, uint32_t device, const char *want)
{
    const char *top = strstr(want, "\"top_kernels\": [{\"count\": ");
    if (!top) {
        return;
    }
    int64_t count = value_after(top, "count"), total = value_after(top, "total_ns");
    const char *name = strstr(top, "\"name\": \"") + 9;
    size_t n = strcspn(name, "\"");
    for (uint32_t i = 0; i < t->track_count; i++) {
        if (t->tracks[i].kind != STK_TRACK_STREAM || t->tracks[i].device != device) {
            continue;
        }
        for (uint32_t k = 0; k < t->tracks[i].count; k++) {
            uint32_t e = t->tracks[i].first + k;
            if (stk_str_eq(stk_name_of(t, e), (struct stk_str){name, n})) {
                count--;
                total -= stk_dur_ns(t, e);
            }
        }
    }
    CHECK_EQ(count, 0);
    CHECK_EQ(total, 0);
}

static void check_file(const char *dir, const char *name, const char *expected)
{
    char path[4096], key[200];
    struct stk_trace *t = NULL;
    struct stoker_err err;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    snprintf(key, sizeof key, "\"%s\": {", name);
    const char *want = strstr(expected, key);
    CHECK(want != NULL);
    struct stk_read_ctx ctx = {.path = path, .threads = 2};
    enum stoker_status status = stk_reader_nsys.read(&ctx, &t, &err);
    CHECK_EQ(status, STOKER_OK);
    if (!want || status != STOKER_OK) {
        return;
    }
    const char *counts = strstr(want, "\"counts\":");
    uint64_t kinds[STK_KIND_COUNT] = {0};
    for (uint32_t e = 0; e < t->count; e++) {
        kinds[t->kind[e]]++;
    }
    const char *counts_end = strstr(counts, "\"dataloader_next\"");
    const char *runtime = strstr(counts, "\"runtime\":"), *driver = strstr(counts, "\"driver\":");
    const char *ranges = strstr(counts, "\"user_annotations\":");
    int64_t calls = runtime && runtime < counts_end ? value_after(runtime, "runtime") : 0;
    calls += driver && driver < counts_end ? value_after(driver, "driver") : 0;
    CHECK_EQ(kinds[STK_KIND_RUNTIME], calls);
    if (ranges && ranges < counts_end) {
        CHECK_EQ(kinds[STK_KIND_ANNOTATION], value_after(ranges, "user_annotations"));
    }
    CHECK_EQ(t->dropped, 0);
    for (uint32_t d = 0; d < t->device_count; d++) {
        snprintf(key, sizeof key, "\"%s\": {",
                 stk_strpool_get(&t->strings, t->devices[d].source_id).p);
        const char *device = strstr(strstr(want, "\"devices\":"), key);
        CHECK(device != NULL);
        if (!device) {
            continue;
        }
        struct sums s = sum_device(t, d);
        CHECK_EQ(s.busy_ns, value_after(device, "busy_union_ns"));
        CHECK_EQ(s.kernels, value_after(device, "kernels"));
        CHECK_EQ(s.linked_kernels, value_after(device, "kernels_with_launch"));
        CHECK_EQ(s.memcpys, value_after(device, "memcpys"));
        CHECK_EQ(s.memsets, value_after(device, "memsets"));
        CHECK_EQ(s.pageable, value_after(device, "pageable_copies"));
        check_top_kernel(t, d, device);
    }
    printf("%s: %u events, %u devices\n", name, t->count, t->device_count);
    stk_trace_free(t);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    const char *dir = check_fixtures();
    char *expected = dir ? slurp(dir, "expected.json") : NULL;
    for (size_t i = 0; expected && i < sizeof files / sizeof files[0]; i++) {
        CHECK_RUN(check_file, dir, files[i], expected);
    }
    free(expected);
    return check_done("unit.reader_nsys_fixtures");
}
