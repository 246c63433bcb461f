// SPDX-License-Identifier: Apache-2.0
// Settings for any process: OpenMP threads, processors and their memory, the allocator and what it
// keeps, large pages.
#include <gnu/libc-version.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/tune/values.h"
#include "job/tune/page_cost.h"

void stk_values_process_omp_num_threads(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    const char *now = getenv("OMP_NUM_THREADS");
    // Tried with TensorFlow 2.21 and jax 0.10: matrix products and convolutions keep all processors
    // busy even with OMP_NUM_THREADS=1, since their threads are Eigen's.
    bool is_heeded = f->framework != STK_FW_TENSORFLOW && f->framework != STK_FW_JAX;
    if (!is_heeded) {
        stk_tune_refuse(to, "TensorFlow's and JAX's threads ignore OMP_NUM_THREADS");
    } else if (!now) {
        stk_tune_refuse(to, "OMP_NUM_THREADS is not set: OpenMP already uses all CPU cores");
    } else if (atol(now) == f->processors) {
        stk_tune_refuse(to, "OMP_NUM_THREADS already equals the number of CPU cores");
    } else if (stk_facts_get(f, "torch.threads.set")) {
        stk_tune_refuse(to, "the program's own set_num_threads takes precedence (torch.threads)");
    } else {
        stk_tune_add_number(to, f->processors, 1, 1024);
    }
}

// Is the program on PATH?
static bool is_installed(const char *name)
{
    const char *path = getenv("PATH");
    char whole[1024];
    for (const char *p = path; p && *p; p += strcspn(p, ":"), p += *p == ':') {
        int n = snprintf(whole, sizeof whole, "%.*s/%s", (int)strcspn(p, ":"), p, name);
        if (n > 0 && (size_t)n < sizeof whole && access(whole, X_OK) == 0) {
            return true;
        }
    }
    return false;
}

void stk_values_process_numa(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    (void)f;
    if (access("/sys/devices/system/node/node1", F_OK) != 0) {
        stk_tune_refuse(to, "the machine has one NUMA node");
    } else if (!is_installed("numactl")) {
        stk_tune_refuse(to, "numactl is not installed");
    } else {
        stk_tune_add(to, "0");
        stk_tune_add(to, "1");
    }
}

void stk_values_process_allocator(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    static const char *const folders[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                                          "/usr/lib64", "/usr/lib", "/usr/local/lib"};
    static const char *const names[] = {"libjemalloc.so.2", "libtcmalloc_minimal.so.4",
                                        "libmimalloc.so.2"};
    const char *now = getenv("LD_PRELOAD");
    char path[STK_TUNE_VALUE];
    (void)f;
    if (now && strstr(now, "malloc")) {
        stk_tune_refuse(to, "another allocator is already preloaded");
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (size_t k = 0; k < sizeof folders / sizeof folders[0]; k++) {
            snprintf(path, sizeof path, "%s/%s", folders[k], names[i]);
            if (access(path, R_OK) == 0) {
                stk_tune_add(to, path);
                break;
            }
        }
    }
    if (!to->count) {
        stk_tune_refuse(
            to, "none is installed; on Debian, install libjemalloc2 or libtcmalloc-minimal4");
    }
}

// Whether an environment variable contains this text.
static bool has_set(const char *name, const char *text)
{
    const char *now = getenv(name);
    return now && strstr(now, text);
}

void stk_values_process_keep_memory(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    (void)f;
    if (has_set("LD_PRELOAD", "malloc")) {
        stk_tune_refuse(to,
                        "another allocator is preloaded, with its own rules for keeping memory");
    } else if (has_set("GLIBC_TUNABLES", "glibc.malloc.trim_threshold") ||
               has_set("GLIBC_TUNABLES", "glibc.malloc.mmap_") ||
               has_set("MALLOC_TRIM_THRESHOLD_", "") || has_set("MALLOC_MMAP_THRESHOLD_", "")) {
        stk_tune_refuse(to, "how much freed memory the C library keeps is already set");
    } else {
        stk_tune_add(to, "");
    }
}

// The cost of the pages that a step allocates again, if one thread allocates them all (measured:
// torch_healthy of bench/capture gains 1.6 us per page; 1.4 are expected).
double stk_saving_process_keep_memory(const struct stk_tune_facts *facts, double step_s)
{
    double faults = (double)stk_facts_number(facts, "process.faults", -1);
    return faults < 0 || step_s <= 0 ? -1 : faults * stk_page_cost_s() / step_s;
}

void stk_values_process_huge_pages(const struct stk_tune_facts *f, struct stk_tune_values *to)
{
    char mode[64] = "";
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    bool has_mode = file && fgets(mode, sizeof mode, file);
    (void)f;
    if (file) {
        fclose(file);
    }
    if (!has_mode || strstr(mode, "[never]")) {
        stk_tune_refuse(to, "huge pages are switched off");
    } else if (strstr(mode, "[always]")) {
        stk_tune_refuse(to, "all programs already get huge pages");
    } else if (strverscmp(gnu_get_libc_version(), "2.35") < 0) {
        stk_tune_refuse(to, "the C library is older than 2.35");
    } else if (has_set("GLIBC_TUNABLES", "glibc.malloc.hugetlb")) {
        stk_tune_refuse(to, "GLIBC_TUNABLES already sets the pages to use");
    } else {
        stk_tune_add(to, "");
    }
}
