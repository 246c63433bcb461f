// SPDX-License-Identifier: Apache-2.0
// A management library of NVIDIA's driver without a driver: each call answers from one struct that
// the test fills (fake_nvml.h). A call before the library is initialized, or with a device that was
// not handed out, counts as a misuse. Names and numbers are those of NVML's public reference.
#include "fake_nvml.h"

#include <stddef.h>
#include <stdio.h>

#define NOT_SUPPORTED 3
#define INVALID 2

struct rates {
    unsigned gpu, memory;
};
struct memory {
    unsigned long long total, free, used;
};
struct gpm_support {
    unsigned version, is_supported;
};
struct gpm_metric {
    unsigned id;
    int result;
    double value;
    const char *names[3];
};
struct gpm_get {
    unsigned version, count;
    void *before, *after;
    struct gpm_metric metrics[];
};

static struct fake_nvml state;
static char devices[64], samples[256];

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetName(void *device, char *name, unsigned size);
int nvmlDeviceGetUtilizationRates(void *device, struct rates *out);
int nvmlDeviceGetMemoryInfo(void *device, struct memory *out);
int nvmlDeviceGetClockInfo(void *device, unsigned kind, unsigned *out);
int nvmlDeviceGetMaxClockInfo(void *device, unsigned kind, unsigned *out);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *out);
int nvmlDeviceGetPowerUsage(void *device, unsigned *out);
int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *out);
int nvmlDeviceGetTemperature(void *device, unsigned sensor, unsigned *out);
int nvmlDeviceGetPcieThroughput(void *device, unsigned way, unsigned *out);
int nvmlGpmQueryDeviceSupport(void *device, struct gpm_support *out);
int nvmlGpmSampleAlloc(void **sample);
int nvmlGpmSampleFree(void *sample);
int nvmlGpmSampleGet(void *device, void *sample);
int nvmlGpmMetricsGet(struct gpm_get *get);

struct fake_nvml *fake_nvml_state(void)
{
    return &state;
}

int nvmlInit_v2(void)
{
    state.inits += state.init_result == 0;
    return state.init_result;
}

int nvmlShutdown(void)
{
    state.misuses += state.inits == state.shutdowns;
    state.shutdowns++;
    return 0;
}

// 0, or what a call on this device answers instead.
static int check(const void *device, int may_lack)
{
    const char *d = device;
    if (state.inits == state.shutdowns || d < devices || d >= devices + state.devices) {
        state.misuses++;
        return INVALID;
    }
    return may_lack && state.lacks ? NOT_SUPPORTED : 0;
}

static int answer(const void *device, unsigned value, unsigned *out)
{
    int result = check(device, 1);
    if (result == 0) {
        *out = value;
    }
    return result;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = state.devices;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = &devices[index];
    return index < state.devices ? 0 : INVALID;
}

int nvmlDeviceGetName(void *device, char *name, unsigned size)
{
    snprintf(name, size, "Fake GPU");
    return check(device, 0);
}

int nvmlDeviceGetUtilizationRates(void *device, struct rates *out)
{
    *out = (struct rates){state.utilisation, 0};
    return check(device, 0);
}

int nvmlDeviceGetMemoryInfo(void *device, struct memory *out)
{
    *out = (struct memory){state.memory_total, state.memory_total - state.memory_used,
                           state.memory_used};
    return check(device, 1);
}

int nvmlDeviceGetClockInfo(void *device, unsigned kind, unsigned *out)
{
    return answer(device, kind == 2 ? state.memory_clock : state.sm_clock, out);
}

int nvmlDeviceGetMaxClockInfo(void *device, unsigned kind, unsigned *out)
{
    (void)kind;
    return answer(device, state.sm_clock_max, out);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *out)
{
    *out = state.reasons;
    return check(device, 1);
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *out)
{
    return answer(device, state.milliwatts, out);
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *out)
{
    return answer(device, state.limit_milliwatts, out);
}

int nvmlDeviceGetTemperature(void *device, unsigned sensor, unsigned *out)
{
    (void)sensor;
    return answer(device, state.celsius, out);
}

int nvmlDeviceGetPcieThroughput(void *device, unsigned way, unsigned *out)
{
    return answer(device, way ? state.kilobytes_received : state.kilobytes_sent, out);
}

int nvmlGpmQueryDeviceSupport(void *device, struct gpm_support *out)
{
    state.misuses += out->version != 1;
    out->is_supported = state.has_gpm != 0;
    return check(device, 0);
}

int nvmlGpmSampleAlloc(void **sample)
{
    *sample = &samples[state.samples++ % sizeof samples];
    return 0;
}

int nvmlGpmSampleFree(void *sample)
{
    state.misuses += sample == NULL || state.samples == 0;
    state.samples--;
    return 0;
}

int nvmlGpmSampleGet(void *device, void *sample)
{
    *(char *)sample = 1;
    return check(device, 0);
}

int nvmlGpmMetricsGet(struct gpm_get *get)
{
    state.misuses += get->version != 1 || get->before == get->after || !*(char *)get->before;
    for (unsigned i = 0; i < get->count; i++) {
        get->metrics[i].result = get->metrics[i].id == 2 ? 0 : NOT_SUPPORTED;
        get->metrics[i].value = state.sm_active;
    }
    return 0;
}
