// SPDX-License-Identifier: Apache-2.0
// What the driver says about its devices, once it is initialized. Attribute numbers are from the
// public reference of CUDA's driver.
#include <dlfcn.h>
#include <string.h>

#include "job/capture/inject/cupti.h"
#include "job/capture/inject/inject.h"

enum {
    SM_COUNT = 16,
    SM_THREADS = 39,
    CC_MAJOR = 75,
    CC_MINOR = 76,
    SM_SHARED = 81,
    SM_REGISTERS = 82,
    SM_BLOCKS = 106
};
enum { DEVICES = 64 };

struct driver {
    int (*count)(int *);
    int (*get)(int *, int);
    int (*name)(char *, int, int);
    int (*attribute)(int *, int, int);
    int (*memory)(size_t *, int);
};

static bool find(void *library, struct driver *d)
{
    static const char *const names[] = {"cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName",
                                        "cuDeviceGetAttribute", "cuDeviceTotalMem_v2"};
    void *calls[sizeof names / sizeof names[0]];
    _Static_assert(sizeof calls == sizeof *d, "one pointer each");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        calls[i] = dlsym(library, names[i]);
        if (!calls[i]) {
            return false;
        }
    }
    memcpy(d, calls, sizeof calls);
    return true;
}

static int ask(const struct driver *d, int attribute, int device)
{
    int value = 0;
    return d->attribute(&value, attribute, device) == 0 && value > 0 ? value : 0;
}

static void write_one(const struct driver *d, int ordinal)
{
    int device;
    size_t bytes = 0;
    char name[128] = "";
    if (d->get(&device, ordinal) != 0) {
        return;
    }
    struct stk_wire_device w = {.ordinal = ordinal,
                                .sm_count = ask(d, SM_COUNT, device),
                                .cc_major = ask(d, CC_MAJOR, device),
                                .cc_minor = ask(d, CC_MINOR, device),
                                .sm_threads = (uint32_t)ask(d, SM_THREADS, device),
                                .sm_blocks = (uint32_t)ask(d, SM_BLOCKS, device),
                                .sm_registers = (uint32_t)ask(d, SM_REGISTERS, device),
                                .sm_shared_bytes = (uint32_t)ask(d, SM_SHARED, device)};
    w.memory_bytes = d->memory(&bytes, device) == 0 ? bytes : 0;
    if (d->name(name, sizeof name, device) == 0 && name[0]) {
        name[sizeof name - 1] = 0;
        w.name = stk_names_text(name);
    }
    void *room = stk_wire_slab_put(&stk_inject.writer, STK_WIRE_DEVICES, sizeof w, 0, 0);
    if (room) {
        memcpy(room, &w, sizeof w);
    }
}

bool stk_device_facts_write(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    struct driver d;
    int n = 0;
    bool known = library && find(library, &d) && d.count(&n) == 0;
    for (int i = 0; known && i < n && i < DEVICES; i++) {
        write_one(&d, i);
    }
    if (library) {
        dlclose(library);
    }
    return known;
}
