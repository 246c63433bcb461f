// SPDX-License-Identifier: Apache-2.0
// Chooses a CUPTI: only one copy works in a process, and a program breaks if an older one is loaded
// before its own. The order: the one named in STOKER_CUPTI; one already mapped; one next to mapped
// NVIDIA libraries (wheels); the toolkit's ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda); wherever the
// loader finds one. Among versions, that of the program's CUDA runtime comes first, then newer
// before older.
//
// Record lengths: for each kind, the library gets a buffer that starts with a record of that kind,
// followed by known records, and is asked for the second record. Its position is the length of the
// first. A kind that is shorter than the fields read is not used.
#include <ctype.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "job/capture/inject/cupti.h"

struct stk_cupti stk_cupti;

enum { PATH = 1024, NEWEST = 13, OLDEST = 11 };

struct mapped {
    char cupti[PATH];  // "": none
    char nvidia[PATH]; // ".../nvidia" of wheels
    int runtime;       // CUDA major of libcudart or libcublas; 0 unknown
};

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct mapped *m = arg;
    const char *path = info->dlpi_name, *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path, *wheel = strstr(path, "/nvidia/");
    const char *version = NULL;
    (void)size;
    if (strlen(path) >= PATH) {
        return 0;
    }
    if (!m->cupti[0] && strncmp(base, "libcupti.so", 11) == 0) {
        strcpy(m->cupti, path);
    }
    if (!m->nvidia[0] && wheel) {
        memcpy(m->nvidia, path, (size_t)(wheel - path) + 7);
    }
    if (strncmp(base, "libcudart.so.", 13) == 0) {
        version = base + 13;
    } else if (strncmp(base, "libcublas.so.", 13) == 0) {
        version = base + 13;
    }
    if (version && isdigit((unsigned char)*version)) {
        m->runtime = atoi(version);
    }
    return 0;
}

static void *try_file(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *try_folder(const char *folder, const char *below, int major)
{
    STK_ASSERT(below);
    char path[PATH + 64];
    if (!folder || !*folder || strlen(folder) >= PATH) {
        return NULL;
    }
    snprintf(path, sizeof path, "%s%s/libcupti.so.%d", folder, below, major);
    return access(path, R_OK) == 0 ? try_file(path) : NULL;
}

static void *try_major(const struct mapped *m, int major)
{
    const char *toolkits[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    char below[32], name[32];
    void *library = NULL;
    snprintf(below, sizeof below, "/cu%d/lib", major);
    if (!(library = try_folder(m->nvidia, below, major))) {
        library = try_folder(m->nvidia, "/cuda_cupti/lib", major);
    }
    for (size_t i = 0; !library && i < sizeof toolkits / sizeof toolkits[0]; i++) {
        if (!(library = try_folder(toolkits[i], "/extras/CUPTI/lib64", major))) {
            library = try_folder(toolkits[i], "/lib64", major);
        }
    }
    if (!library && major == OLDEST) { // its file name had the minor version
        static const char *const names[] = {
            "libcupti.so.11.8", "libcupti.so.11.7", "libcupti.so.11.6",
            "libcupti.so.11.5", "libcupti.so.11.4", "libcupti.so.11.3",
            "libcupti.so.11.2", "libcupti.so.11.1", "libcupti.so.11.0"};
        for (size_t i = 0; !library && i < sizeof names / sizeof names[0]; i++) {
            library = try_file(names[i]);
        }
        return library;
    }
    snprintf(name, sizeof name, "libcupti.so.%d", major);
    return library ? library : try_file(name);
}

// The newest CUDA major version that the driver supports.
static int driver_major(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    int (*version)(int *) = NULL, n = 0;
    if (driver) {
        void *call = dlsym(driver, "cuDriverGetVersion");
        memcpy(&version, &call, sizeof version);
        if (!version || version(&n) != 0) {
            n = 0;
        }
        dlclose(driver);
    }
    return n / 1000;
}

static void *find(char *why, size_t size)
{
    struct mapped m = {0};
    const char *named = getenv("STOKER_CUPTI");
    void *library;
    if (named && *named) {
        if (strcmp(named, "off") == 0) {
            snprintf(why, size, "STOKER_CUPTI=off");
            return NULL;
        }
        library = try_file(named);
        if (!library) {
            snprintf(why, size, "STOKER_CUPTI names %.120s, which can't be loaded", named);
        }
        return library;
    }
    dl_iterate_phdr(look_at, &m);
    if (m.cupti[0] && (library = dlopen(m.cupti, RTLD_NOW | RTLD_NOLOAD))) {
        return library;
    }
    int driver = driver_major(), most = driver ? driver : NEWEST;
    most = most < NEWEST ? most : NEWEST;
    library = m.runtime >= OLDEST && m.runtime <= NEWEST ? try_major(&m, m.runtime) : NULL;
    for (int major = most; !library && major >= OLDEST; major--) {
        library = try_major(&m, major);
    }
    if (!library) {
        snprintf(why, size,
                 "CUPTI not found: no libcupti.so.%d or older. Run pip install "
                 "nvidia-cuda-cupti-cu%d, or set STOKER_CUPTI to its path",
                 most, most);
    }
    return library;
}

// ---- record lengths ----

enum { PROBE = 8192 };

static uint32_t size_of(const struct stk_cupti *c, uint32_t kind)
{
    static _Alignas(8) uint8_t buffer[PROBE];
    const uint64_t known = STK_CUPTI_RUNTIME;
    void *record = NULL;
    for (size_t at = 0; at < PROBE; at += sizeof known) {
        memcpy(buffer + at, &known, sizeof known);
    }
    memcpy(buffer, &kind, sizeof kind);
    if (c->next(buffer, PROBE, &record) != STK_CUPTI_OK || record != (void *)buffer ||
        c->next(buffer, PROBE, &record) != STK_CUPTI_OK || !record) {
        return 0;
    }
    size_t size = (size_t)((uint8_t *)record - buffer);
    return size < PROBE ? (uint32_t)size : 0;
}

static void probe(struct stk_cupti *c)
{
    static const struct {
        uint32_t kind, least;
    } used[] = {{STK_CUPTI_MEMCPY, sizeof(struct stk_cupti_memcpy)},
                {STK_CUPTI_MEMSET, sizeof(struct stk_cupti_memset)},
                {STK_CUPTI_DRIVER, sizeof(struct stk_cupti_api)},
                {STK_CUPTI_RUNTIME, sizeof(struct stk_cupti_api)},
                {STK_CUPTI_KERNEL, sizeof(struct stk_cupti_kernel)},
                {STK_CUPTI_OVERHEAD, sizeof(struct stk_cupti_overhead)},
                {STK_CUPTI_MEMCPY2, sizeof(struct stk_cupti_memcpy2)},
                {STK_CUPTI_SYNC, sizeof(struct stk_cupti_sync)}};
    memset(c->size, 0, sizeof c->size);
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++) {
        uint32_t size = size_of(c, used[i].kind);
        c->size[used[i].kind] = size >= used[i].least ? size : 0;
    }
}

static const char *missing(struct stk_cupti *c)
{
    const char *lacks = NULL;
    // Copies a function's address through memory: ISO C can't cast an object pointer to it.
#define C(member, symbol, needed, arguments)                                                       \
    {                                                                                              \
        void *call = dlsym(c->library, symbol);                                                    \
        memcpy(&c->member, &call, sizeof call);                                                    \
        lacks = (needed) && !call ? symbol : lacks;                                                \
    }
    STK_CUPTI_CALLS(C)
#undef C
    return lacks;
}

bool stk_cupti_load(char *why, size_t size)
{
    struct stk_cupti *c = &stk_cupti;
    if (c->library) {
        return true;
    }
    c->library = find(why, size);
    if (!c->library) {
        return false;
    }
    const char *lacks = missing(c);
    if (lacks) {
        snprintf(why, size, "this process's CUPTI doesn't have %s", lacks);
    } else if (c->version(&c->api_version) != STK_CUPTI_OK) {
        snprintf(why, size, "CUPTI doesn't report its version");
        lacks = why;
    } else if (c->api_version == STK_CUPTI_13_0) {
        snprintf(why, size,
                 "CUPTI 13.0 without update 1 can hang a program when a window closes: update it");
        lacks = why;
    } else {
        probe(c);
        if (!c->size[STK_CUPTI_KERNEL] || !c->size[STK_CUPTI_RUNTIME]) {
            snprintf(why, size, "stoker doesn't know the record layout of CUPTI version %u",
                     c->api_version);
            lacks = why;
        }
    }
    if (lacks) { // stays loaded, since the program may use it
        c->library = NULL;
    }
    return !lacks;
}
