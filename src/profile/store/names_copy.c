// SPDX-License-Identifier: Apache-2.0
// Names of copies and memsets that a device executed, as CUPTI, ROCm, TensorFlow and Nsight Systems
// write them: "Memcpy HtoD (Pageable -> Device)", "MemcpyH2D", "[CUDA memcpy Host-to-Device]",
// "CopyHostToDevice", "MEMCPYHtoD". Arrays count as device memory. ROCm only has "Host", so pinned
// is unknown there.
#include "base/assert.h"
#include "profile/store/names.h"

struct direction {
    const char *text;
    uint8_t dir;
};
static const struct direction directions[] = {{"HtoD", STK_DIR_H2D},
                                              {"DtoH", STK_DIR_D2H},
                                              {"DtoD", STK_DIR_D2D},
                                              {"HtoH", STK_DIR_H2H},
                                              {"PtoP", STK_DIR_P2P},
                                              {"HtoA", STK_DIR_H2D},
                                              {"AtoH", STK_DIR_D2H},
                                              {"AtoA", STK_DIR_D2D},
                                              {"AtoD", STK_DIR_D2D},
                                              {"DtoA", STK_DIR_D2D},
                                              {"H2D", STK_DIR_H2D},
                                              {"D2H", STK_DIR_D2H},
                                              {"D2D", STK_DIR_D2D},
                                              {"H2H", STK_DIR_H2H},
                                              {"P2P", STK_DIR_P2P},
                                              {"HostToDevice", STK_DIR_H2D},
                                              {"DeviceToHost", STK_DIR_D2H},
                                              {"DeviceToDevice", STK_DIR_D2D},
                                              {"HostToHost", STK_DIR_H2H},
                                              {"PeerToPeer", STK_DIR_P2P},
                                              {"Host-to-Device", STK_DIR_H2D},
                                              {"Device-to-Host", STK_DIR_D2H},
                                              {"Device-to-Device", STK_DIR_D2D},
                                              {"Host-to-Host", STK_DIR_H2H},
                                              {"Peer-to-Peer", STK_DIR_P2P}};

struct memory {
    const char *text;
    uint8_t mem;
};
static const struct memory memories[] = {
    {"Pageable", STK_MEM_PAGEABLE},     {"Pinned", STK_MEM_PINNED}, {"Device", STK_MEM_DEVICE},
    {"Device Static", STK_MEM_DEVICE},  {"Array", STK_MEM_ARRAY},   {"Managed", STK_MEM_MANAGED},
    {"Managed Static", STK_MEM_MANAGED}};

static uint8_t find_memory(struct stk_str s)
{
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) {
        if (stk_str_eq_nocase(s, stk_str_from(memories[i].text))) {
            return memories[i].mem;
        }
    }
    return STK_MEM_UNKNOWN;
}

enum stk_kind stk_name_device_kind(struct stk_str name)
{
    static const struct stk_str copies[] = {{"Memcpy", 6}, {"MEMCPY", 6}, {"hipMemcpy", 9}};
    static const struct stk_str sets[] = {{"Memset", 6}, {"MEMSET", 6}, {"hipMemset", 9}};
    static const struct stk_str rocm[] = {
        {"CopyHostToDevice", 16}, {"CopyDeviceToHost", 16}, {"CopyDeviceToDevice", 18}};
    if (stk_str_starts(name, STK_STR("[CUDA"))) {
        return stk_str_contains(name, STK_STR("memcpy"))   ? STK_KIND_MEMCPY
               : stk_str_contains(name, STK_STR("memset")) ? STK_KIND_MEMSET
                                                           : STK_KIND_KERNEL;
    }
    for (size_t i = 0; i < 3; i++) {
        if (stk_str_starts(name, copies[i]) || stk_str_starts(name, rocm[i])) {
            return STK_KIND_MEMCPY;
        }
        if (stk_str_starts(name, sets[i])) {
            return STK_KIND_MEMSET;
        }
    }
    return STK_KIND_KERNEL;
}

void stk_name_parse_copy(struct stk_str name, uint8_t *dir, uint8_t *src_mem, uint8_t *dst_mem)
{
    STK_ASSERT(dir && src_mem && dst_mem);
    *dir = STK_DIR_UNKNOWN;
    *src_mem = *dst_mem = STK_MEM_UNKNOWN;
    const char *open = name.n ? memchr(name.p, '(', name.n) : NULL;
    struct stk_str head = {name.p, open ? (size_t)(open - name.p) : name.n};
    for (size_t i = 0; i < sizeof directions / sizeof *directions && *dir == STK_DIR_UNKNOWN; i++) {
        if (stk_str_contains(head, stk_str_from(directions[i].text))) {
            *dir = directions[i].dir;
        }
    }
    if (!open) {
        return;
    }
    struct stk_str in = {open + 1, name.n - head.n - 1};
    const char *close = memchr(in.p, ')', in.n);
    if (close) {
        in.n = (size_t)(close - in.p);
    }
    for (size_t i = 0; i + 4 <= in.n; i++) {
        if (memcmp(in.p + i, " -> ", 4) != 0) {
            continue;
        }
        *src_mem = find_memory((struct stk_str){in.p, i});
        *dst_mem = find_memory((struct stk_str){in.p + i + 4, in.n - i - 4});
        return;
    }
}
