// SPDX-License-Identifier: Apache-2.0
// The functions of NVIDIA's management library that the sampler calls, looked up at run time: the
// build needs no NVIDIA header or library. Names, types and numbers are from its public reference
// (docs.nvidia.com/deploy/nvml-api); all calls return 0 on success.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct stk_nvml_rates {
    unsigned gpu, memory; // percent
};
struct stk_nvml_memory {
    unsigned long long total, free, used; // bytes
};
// GPM (Hopper and later): two samples give the metrics for the time between them.
struct stk_nvml_gpm_support {
    unsigned version, is_supported;
};
struct stk_nvml_gpm_metric {
    unsigned id;
    int result;
    double value;
    const char *names[3];
};
// The library fills the requested metrics; the array has room for those of any version.
enum { STK_NVML_GPM_METRICS = 512 };
struct stk_nvml_gpm_get {
    unsigned version, count;
    void *before, *after;
    struct stk_nvml_gpm_metric metrics[STK_NVML_GPM_METRICS];
};

// C(member, symbol, or the symbol of older libraries, is it needed, arguments)
#define STK_NVML_CALLS(C)                                                                          \
    C(init, "nvmlInit_v2", NULL, true, (void))                                                     \
    C(shutdown, "nvmlShutdown", NULL, true, (void))                                                \
    C(count, "nvmlDeviceGetCount_v2", NULL, true, (unsigned *))                                    \
    C(handle, "nvmlDeviceGetHandleByIndex_v2", NULL, true, (unsigned, void **))                    \
    C(name, "nvmlDeviceGetName", NULL, true, (void *, char *, unsigned))                           \
    C(rates, "nvmlDeviceGetUtilizationRates", NULL, true, (void *, struct stk_nvml_rates *))       \
    C(memory, "nvmlDeviceGetMemoryInfo", NULL, false, (void *, struct stk_nvml_memory *))          \
    C(clock, "nvmlDeviceGetClockInfo", NULL, false, (void *, unsigned, unsigned *))                \
    C(clock_max, "nvmlDeviceGetMaxClockInfo", NULL, false, (void *, unsigned, unsigned *))         \
    C(reasons, "nvmlDeviceGetCurrentClocksEventReasons",                                           \
      "nvmlDeviceGetCurrentClocksThrottleReasons", false, (void *, unsigned long long *))          \
    C(power, "nvmlDeviceGetPowerUsage", NULL, false, (void *, unsigned *))                         \
    C(power_limit, "nvmlDeviceGetEnforcedPowerLimit", NULL, false, (void *, unsigned *))           \
    C(temperature, "nvmlDeviceGetTemperature", NULL, false, (void *, unsigned, unsigned *))        \
    C(pcie, "nvmlDeviceGetPcieThroughput", NULL, false, (void *, unsigned, unsigned *))            \
    C(gpm_support, "nvmlGpmQueryDeviceSupport", NULL, false,                                       \
      (void *, struct stk_nvml_gpm_support *))                                                     \
    C(gpm_alloc, "nvmlGpmSampleAlloc", NULL, false, (void **))                                     \
    C(gpm_free, "nvmlGpmSampleFree", NULL, false, (void *))                                        \
    C(gpm_sample, "nvmlGpmSampleGet", NULL, false, (void *, void *))                               \
    C(gpm_metrics, "nvmlGpmMetricsGet", NULL, false, (struct stk_nvml_gpm_get *))

enum { STK_NVML_GRAPHICS = 0, STK_NVML_SM = 1, STK_NVML_MEMORY_CLOCK = 2 };
enum { STK_NVML_SENT = 0, STK_NVML_RECEIVED = 1 };

struct stk_nvml {
    void *library;
#define C(member, symbol, older, needed, arguments) int(*member) arguments;
    STK_NVML_CALLS(C)
#undef C
};

// Loads and initializes it. False: `why` has a short reason.
bool stk_nvml_load(struct stk_nvml *n, const char *library, char *why, size_t size);
void stk_nvml_unload(struct stk_nvml *n);
