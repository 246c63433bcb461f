// SPDX-License-Identifier: Apache-2.0
// All NVIDIA GPUs that the driver shows: utilization, clocks and why they are low, power, memory
// and PCIe; from Hopper on, how busy the multiprocessors are (GPM). All figures cover the whole
// GPU, for all its users. The call for PCIe throughput sleeps 20 ms to measure it, so each scan
// asks one GPU, and none with GPM, which counts continuously.
// Limits: no MIG instances; values that the driver doesn't have for a GPU aren't written.
#include <stdio.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "job/capture/parent/nvml_calls.h"
#include "job/capture/parent/watch.h"

#define GPUS_MAX 64

// Metrics of GPM: number, counter, and the size of its unit.
static const struct {
    unsigned id;
    enum stk_sampled sample;
    double unit;
} metrics[] = {
    {2, STK_SAMPLE_OF_GPM_SM, 0.01},         {3, STK_SAMPLE_OF_GPM_OCCUPANCY, 0.01},
    {5, STK_SAMPLE_OF_GPM_TENSOR, 0.01},     {10, STK_SAMPLE_OF_GPM_MEMORY, 0.01},
    {20, STK_SAMPLE_OF_GPU_SENT, 1048576.0}, {21, STK_SAMPLE_OF_GPU_RECEIVED, 1048576.0},
};
enum { METRICS = sizeof metrics / sizeof metrics[0] };
struct gpu {
    void *handle;
    uint32_t track;
    void *samples[2]; // of GPM; NULL: not supported
    bool has_before;  // samples[0] is from the previous scan
};
struct gpus {
    struct stk_nvml nvml;
    struct gpu gpus[GPUS_MAX];
    uint32_t count, turn; // turn: the GPU to ask for PCIe next
    struct stk_nvml_gpm_get get;
};

static void open_gpm(struct stk_nvml *n, struct gpu *g)
{
    struct stk_nvml_gpm_support support = {.version = 1};
    if (!n->gpm_support || !n->gpm_alloc || !n->gpm_free || !n->gpm_sample || !n->gpm_metrics ||
        n->gpm_support(g->handle, &support) != 0 || !support.is_supported) {
        return;
    }
    if (n->gpm_alloc(&g->samples[0]) != 0) {
        g->samples[0] = NULL;
    } else if (n->gpm_alloc(&g->samples[1]) != 0) {
        n->gpm_free(g->samples[0]);
        g->samples[0] = g->samples[1] = NULL;
    }
}

static void add_gpu(struct stk_sampling *s, struct gpus *d, unsigned index)
{
    struct gpu *g = &d->gpus[d->count];
    char name[96] = "GPU";
    if (d->nvml.handle(index, &g->handle) != 0) {
        return;
    }
    if (d->nvml.name(g->handle, name, sizeof name) != 0) {
        snprintf(name, sizeof name, "GPU");
    }
    name[sizeof name - 1] = 0;
    g->track = stk_watch_thing(s, STK_SAMPLE_GPU, index, name);
    open_gpm(&d->nvml, g);
    d->count++;
}

static void nvml_close(void *state)
{
    struct gpus *d = state;
    for (uint32_t i = 0; i < d->count; i++) {
        for (int k = 0; k < 2; k++) {
            if (d->gpus[i].samples[k]) {
                d->nvml.gpm_free(d->gpus[i].samples[k]);
            }
        }
    }
    stk_nvml_unload(&d->nvml);
    stk_free(d);
}

static bool nvml_open(struct stk_sampling *s, void **state, char *why, size_t size)
{
    struct gpus *d = s->no_gpu ? NULL : stk_alloc_zero(1, sizeof *d);
    unsigned count = 0;
    if (!d) {
        snprintf(why, size, "%s", s->no_gpu ? "not requested" : "out of memory");
        return false;
    }
    if (!stk_nvml_load(&d->nvml, s->nvml, why, size)) {
        stk_free(d);
        return false;
    }
    if (d->nvml.count(&count) != 0) {
        count = 0;
    }
    for (unsigned i = 0; i < count && d->count < GPUS_MAX; i++) {
        add_gpu(s, d, i);
    }
    if (d->count == 0) {
        snprintf(why, size, "the driver shows no GPU");
        nvml_close(d);
        return false;
    }
    *state = d;
    return true;
}

// Writes the value of a call that returns one number.
static void put(struct stk_sampling *s, const struct gpu *g, enum stk_sampled id, int result,
                double value)
{
    STK_ASSERT((unsigned)id < STK_SAMPLE_COUNT);
    if (result == 0) {
        stk_watch_put(s, id, g->track, value);
    }
}

static void look_clock(struct stk_sampling *s, struct stk_nvml *n, const struct gpu *g)
{
    unsigned value = 0;
    unsigned long long reasons = 0;
    if (n->clock) {
        int result = n->clock(g->handle, STK_NVML_SM, &value);
        put(s, g, STK_SAMPLE_OF_GPU_SM_CLOCK, result, value);
    }
    if (n->reasons) {
        int result = n->reasons(g->handle, &reasons);
        put(s, g, STK_SAMPLE_OF_GPU_REASONS, result, (double)reasons);
    }
}

static void nvml_look(struct stk_sampling *s, void *state)
{
    struct gpus *d = state;
    struct stk_nvml *n = &d->nvml;
    for (uint32_t i = 0; i < d->count; i++) {
        const struct gpu *g = &d->gpus[i];
        struct stk_nvml_rates rates = {0};
        unsigned milliwatts = 0;
        int result = n->rates(g->handle, &rates);
        put(s, g, STK_SAMPLE_OF_GPU_BUSY, result, rates.gpu * 0.01);
        look_clock(s, n, g);
        if (n->power) {
            result = n->power(g->handle, &milliwatts);
            put(s, g, STK_SAMPLE_OF_GPU_POWER, result, milliwatts * 1e-3);
        }
    }
}

static void scan_gpm(struct stk_sampling *s, struct gpus *d, struct gpu *g)
{
    struct stk_nvml *n = &d->nvml;
    struct stk_nvml_gpm_get *get = &d->get;
    if (n->gpm_sample(g->handle, g->samples[1]) != 0) {
        return;
    }
    get->version = 1;
    get->count = METRICS;
    get->before = g->samples[0];
    get->after = g->samples[1];
    for (int i = 0; i < METRICS; i++) {
        get->metrics[i].id = metrics[i].id;
    }
    if (g->has_before && n->gpm_metrics(get) == 0) {
        for (int i = 0; i < METRICS; i++) {
            put(s, g, metrics[i].sample, get->metrics[i].result,
                get->metrics[i].value * metrics[i].unit);
        }
    }
    void *newest = g->samples[1];
    g->samples[1] = g->samples[0];
    g->samples[0] = newest;
    g->has_before = true;
}

static void scan_rest(struct stk_sampling *s, struct stk_nvml *n, const struct gpu *g)
{
    struct stk_nvml_memory memory = {0};
    unsigned value = 0;
    if (n->memory) {
        int result = n->memory(g->handle, &memory);
        put(s, g, STK_SAMPLE_OF_GPU_MEMORY, result, (double)memory.used);
        put(s, g, STK_SAMPLE_OF_GPU_MEMORY_TOTAL, result, (double)memory.total);
    }
    if (n->clock) {
        int result = n->clock(g->handle, STK_NVML_MEMORY_CLOCK, &value);
        put(s, g, STK_SAMPLE_OF_GPU_MEMORY_CLOCK, result, value);
    }
    if (n->clock_max) {
        int result = n->clock_max(g->handle, STK_NVML_SM, &value);
        put(s, g, STK_SAMPLE_OF_GPU_SM_CLOCK_MAX, result, value);
    }
    if (n->power_limit) {
        int result = n->power_limit(g->handle, &value);
        put(s, g, STK_SAMPLE_OF_GPU_POWER_LIMIT, result, value * 1e-3);
    }
    if (n->temperature) {
        int result = n->temperature(g->handle, 0, &value);
        put(s, g, STK_SAMPLE_OF_GPU_TEMPERATURE, result, value);
    }
}

static void scan_pcie(struct stk_sampling *s, struct stk_nvml *n, const struct gpu *g)
{
    static const struct {
        unsigned direction;
        enum stk_sampled sample;
    } ways[] = {{STK_NVML_SENT, STK_SAMPLE_OF_GPU_SENT},
                {STK_NVML_RECEIVED, STK_SAMPLE_OF_GPU_RECEIVED}};
    for (int i = 0; n->pcie && !g->samples[0] && i < 2; i++) {
        unsigned kilobytes = 0;
        int result = n->pcie(g->handle, ways[i].direction, &kilobytes);
        put(s, g, ways[i].sample, result, kilobytes * 1024.0);
    }
}

static void nvml_scan(struct stk_sampling *s, void *state)
{
    struct gpus *d = state;
    for (uint32_t i = 0; i < d->count; i++) {
        scan_rest(s, &d->nvml, &d->gpus[i]);
        if (d->gpus[i].samples[0]) {
            scan_gpm(s, d, &d->gpus[i]);
        }
    }
    scan_pcie(s, &d->nvml, &d->gpus[d->turn]);
    d->turn = (d->turn + 1) % d->count;
}

const struct stk_watch stk_watch_nvml = {
    .name = "nvml", .open = nvml_open, .scan = nvml_scan, .look = nvml_look, .close = nvml_close};
