// SPDX-License-Identifier: Apache-2.0
// The definitions that the service has written to the record: texts by content (the profiler reuses
// pointers for other kernels), tracks, and launch configurations of kernels. The tables have a
// fixed size and are allocated at the first window. If they are full, a text is defined again each
// time it occurs, and a configuration is left out.
//
// C++ names are demangled if the process has the function for it, as any program with libstdc++
// does, even if only a module loaded it (an interpreter opens modules locally, so the function
// isn't among the program's global symbols). It is never loaded for this.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "job/capture/inject/inject.h"

enum { TEXTS = 1 << 16, TEXT_BYTES = 16 << 20, TRACKS = 1 << 12, CONFIGS = 1 << 14, PROBES = 64 };

struct text {
    uint64_t hash;
    uint32_t at, length, id; // id 0: free
};
struct track {
    int64_t number;
    int32_t device;
    uint32_t kind, id;
};
static struct tables {
    struct text texts[TEXTS];
    struct track tracks[TRACKS];
    struct stk_wire_config configs[CONFIGS];
    char bytes[TEXT_BYTES];
    uint32_t used;
} *tables;
static char *(*demangle)(const char *, char *, size_t *, int *);

uint64_t stk_names_hash(const char *text, size_t n)
{
    uint64_t h = UINT64_C(0x9e3779b97f4a7c15) ^ n;
    for (; n >= 8; text += 8, n -= 8) {
        uint64_t word;
        memcpy(&word, text, 8);
        h = (h ^ word) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
    }
    for (; n; text++, n--) {
        h = (h ^ (unsigned char)*text) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 29;
    }
    return h ^ h >> 31;
}

static void find_demangle(void)
{
    void *found = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    void *loaded = found ? NULL : dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    // Stays open: its function is called until the process ends.
    found = loaded ? dlsym(loaded, "__cxa_demangle") : found;
    memcpy(&demangle, &found, sizeof demangle);
}

void stk_names_reset(void)
{
    if (!tables) {
        void *memory = mmap(NULL, sizeof *tables, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        tables = memory == MAP_FAILED ? NULL : memory;
    } else {
        memset(tables->texts, 0, sizeof tables->texts);
        memset(tables->tracks, 0, sizeof tables->tracks);
        memset(tables->configs, 0, sizeof tables->configs);
        tables->used = 0;
    }
    if (!demangle) {
        find_demangle();
    }
}

static uint32_t define(const char *text, size_t n)
{
    int status = -1;
    char *plain = demangle && n > 2 && text[0] == '_' && text[1] == 'Z'
                      ? demangle(text, NULL, NULL, &status)
                      : NULL;
    uint32_t id = status == 0 && plain
                      ? stk_wire_slab_string(&stk_inject.writer, plain, strlen(plain))
                      : stk_wire_slab_string(&stk_inject.writer, text, n);
    free(plain);
    return id;
}

uint32_t stk_names_text(const char *text)
{
    text = text ? text : "(no name)";
    size_t n = strlen(text);
    uint64_t hash = stk_names_hash(text, n);
    for (uint32_t k = 0; tables && k < PROBES; k++) {
        struct text *t = &tables->texts[(hash + k) % TEXTS];
        if (t->id && t->hash == hash && t->length == n &&
            memcmp(tables->bytes + t->at, text, n) == 0) {
            return t->id;
        }
        if (!t->id) {
            uint32_t id = define(text, n);
            if (id && n <= TEXT_BYTES - tables->used) {
                *t = (struct text){hash, tables->used, (uint32_t)n, id};
                memcpy(tables->bytes + tables->used, text, n);
                tables->used += (uint32_t)n;
            }
            return id;
        }
    }
    return define(text, n);
}

uint32_t stk_names_track(enum stk_wire_track_kind kind, int device, int64_t number)
{
    const uint64_t key[] = {(uint64_t)kind << 32 | (uint32_t)device, (uint64_t)number};
    uint64_t hash = stk_names_hash((const char *)key, sizeof key);
    for (uint32_t k = 0; tables && k < PROBES; k++) {
        struct track *t = &tables->tracks[(hash + k) % TRACKS];
        if (t->id && t->kind == (uint32_t)kind && t->device == device && t->number == number) {
            return t->id;
        }
        if (!t->id) {
            *t = (struct track){number, device, (uint32_t)kind,
                                stk_wire_slab_track(&stk_inject.writer, kind, number, device, 0)};
            return t->id;
        }
    }
    return stk_wire_slab_track(&stk_inject.writer, kind, number, device, 0);
}

uint32_t stk_names_config(const struct stk_wire_config *c)
{
    struct stk_wire_config plain = *c;
    plain.id = 0;
    uint64_t hash = stk_names_hash((const char *)&plain, sizeof plain);
    for (uint32_t k = 0; tables && k < PROBES; k++) {
        struct stk_wire_config *t = &tables->configs[(hash + k) % CONFIGS];
        if (t->id && memcmp(&t->grid, &plain.grid, sizeof plain - sizeof plain.id) == 0) {
            return t->id;
        }
        if (!t->id) {
            void *room =
                stk_wire_slab_put(&stk_inject.writer, STK_WIRE_CONFIGS, sizeof plain, 0, 0);
            if (!room) {
                return 0;
            }
            plain.id = atomic_fetch_add(&stk_inject.slabs.next_id, 1);
            memcpy(room, &plain, sizeof plain);
            *t = plain;
            return plain.id;
        }
    }
    return 0;
}
