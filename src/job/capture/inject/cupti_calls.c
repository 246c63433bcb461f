// SPDX-License-Identifier: Apache-2.0
// Which CUDA calls are recorded: those that give work to a device, wait for it, or are known to
// take long (memory, modules, graphs). The others are frequent and short (cudaGetDevice,
// cudaGetLastError): recording them costs more than it shows. Calls are chosen by name, which CUPTI
// gives for a number; numbers differ between versions.
#include <string.h>

#include "base/assert.h"
#include "job/capture/inject/cupti.h"
#include "job/capture/inject/inject.h"

static struct stk_cupti_call calls[2][STK_CUPTI_CALLS_MAX];

// The start of the name after "cuda" or "cu", or a part of the name.
static const char *const starts[] = {
    "Launch",      "GraphLaunch", "Memcpy",       "Memset",      "Malloc",           "Free",
    "MemAlloc",    "MemFree",     "MemHostAlloc", "HostAlloc",   "HostRegister",     "MemPrefetch",
    "ModuleLoad",  "LibraryLoad", "ModuleUnload", "ModuleGet",   "GraphInstantiate", "CtxCreate",
    "MemcpyAsync", "MallocHost",  "FreeHost",     "LinkComplete"};

static bool is_of_interest(const char *name)
{
    const char *rest = strncmp(name, "cuda", 4) == 0 ? name + 4
                       : strncmp(name, "cu", 2) == 0 ? name + 2
                                                     : NULL;
    if (!rest) {
        return false;
    }
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        if (strncmp(rest, starts[i], strlen(starts[i])) == 0) {
            return true;
        }
    }
    return strstr(rest, "Synchronize") != NULL;
}

static const char *name_of(int domain, uint32_t cbid)
{
    const char *name = NULL;
    return cbid && cbid < STK_CUPTI_CALLS_MAX && stk_cupti.call_name(domain, cbid, &name) == 0
               ? name
               : NULL;
}

bool stk_cupti_call_is_unwanted(int domain, uint32_t cbid)
{
    const char *name = name_of(domain, cbid);
    return name && !is_of_interest(name);
}

// "cudaLaunchKernel_ptsz_v7000" becomes cudaLaunchKernel; "_v2" of the driver stays, as in other
// profilers.
static uint32_t plain_name(const char *name)
{
    char plain[128];
    size_t n = strnlen(name, sizeof plain - 1);
    memcpy(plain, name, n);
    plain[n] = 0;
    size_t digits = 0;
    while (digits < n && plain[n - 1 - digits] >= '0' && plain[n - 1 - digits] <= '9') {
        digits++;
    }
    if (digits >= 4 && n > digits + 2 && memcmp(plain + n - digits - 2, "_v", 2) == 0) {
        n -= digits + 2;
        plain[n] = 0;
    }
    if (n > 5 && (strcmp(plain + n - 5, "_ptsz") == 0 || strcmp(plain + n - 5, "_ptds") == 0)) {
        plain[n - 5] = 0;
    }
    return stk_names_text(plain);
}

const struct stk_cupti_call *stk_cupti_call_of(int domain, uint32_t cbid)
{
    STK_ASSERT(domain == STK_CUPTI_DOMAIN_RUNTIME || domain == STK_CUPTI_DOMAIN_DRIVER);
    static const struct stk_cupti_call none;
    if (cbid >= STK_CUPTI_CALLS_MAX) {
        return &none;
    }
    struct stk_cupti_call *c = &calls[domain == STK_CUPTI_DOMAIN_RUNTIME][cbid];
    if (!c->is_asked) {
        const char *name = name_of(domain, cbid);
        c->is_asked = true;
        c->name = name && is_of_interest(name) ? plain_name(name) : 0;
    }
    return c;
}

void stk_cupti_calls_reset(void)
{
    memset(calls, 0, sizeof calls);
}
