// SPDX-License-Identifier: Apache-2.0
// Loads NVIDIA's management library; see nvml_calls.h. A missing optional call is NULL.
#include "job/capture/parent/nvml_calls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void *find(void *library, const char *name, const char *older)
{
    void *call = dlsym(library, name);
    return call || !older ? call : dlsym(library, older);
}

bool stk_nvml_load(struct stk_nvml *n, const char *library, char *why, size_t size)
{
    const char *lacks = NULL;
    memset(n, 0, sizeof *n);
    n->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!n->library) {
        snprintf(why, size, "no NVIDIA driver: %.40s was not found", library);
        return false;
    }
    // Copies a function's address through memory: ISO C can't cast an object pointer to it.
#define C(member, symbol, older, needed, arguments)                                                \
    {                                                                                              \
        void *call = find(n->library, symbol, older);                                              \
        memcpy(&n->member, &call, sizeof call);                                                    \
        lacks = (needed) && !call ? symbol : lacks;                                                \
    }
    STK_NVML_CALLS(C)
#undef C
    int result = lacks ? 0 : n->init();
    if (lacks || result != 0) {
        if (lacks) {
            snprintf(why, size, "the driver's library lacks %s", lacks);
        } else {
            snprintf(why, size, "the driver's library could not be initialized (error %d)", result);
        }
        dlclose(n->library);
        n->library = NULL;
        return false;
    }
    return true;
}

void stk_nvml_unload(struct stk_nvml *n)
{
    if (n->library) {
        n->shutdown();
        dlclose(n->library);
    }
    n->library = NULL;
}
