// SPDX-License-Identifier: Apache-2.0
// stoker doctor: what this build and this machine can do, and what is missing. GPU libraries are
// searched for as a program would find them (dlopen); reading profiles needs none of them.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/human.h"
#include "base/thread.h"
#include "cli/cli.h"
#include "cli/screen.h"
#include "stoker/version.h"

static void machine(void)
{
    char total[STK_HUMAN_MAX], available[STK_HUMAN_MAX];
    long page = sysconf(_SC_PAGESIZE), all = sysconf(_SC_PHYS_PAGES),
         free_pages = sysconf(_SC_AVPHYS_PAGES);
    printf("CPU cores   %d for stoker, %ld in the machine\n", stk_thread_count(),
           sysconf(_SC_NPROCESSORS_ONLN));
    if (page > 0 && all > 0 && free_pages >= 0) {
        printf("memory      %s, %s of it free\n",
               stk_human_bytes((uint64_t)all * (uint64_t)page, total),
               stk_human_bytes((uint64_t)free_pages * (uint64_t)page, available));
    }
}

// The instruction sets by which loops are chosen at run time.
static void instructions(void)
{
    static const struct {
        unsigned flag;
        const char *name;
    } sets[] = {{STK_CPU_SSE2, "SSE2"}, {STK_CPU_SSE42, "SSE4.2"},
                {STK_CPU_AVX2, "AVX2"}, {STK_CPU_AVX512, "AVX-512"},
                {STK_CPU_VBMI, "VBMI"}, {STK_CPU_VPCLMUL, "VPCLMULQDQ"},
                {STK_CPU_NEON, "NEON"}, {STK_CPU_CRC, "CRC32"}};
    const char *mask = getenv("STOKER_CPU"), *between = "";
    printf("vectors     ");
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (stk_cpu_has(sets[i].flag)) {
            printf("%s%s", between, sets[i].name);
            between = ", ";
        }
    }
    printf("%s%s%s\n", *between ? "" : "none", mask && *mask ? "; STOKER_CPU=" : "",
           mask && *mask ? mask : "");
}

static void temporary_space(void)
{
    struct statvfs fs;
    char space[STK_HUMAN_MAX];
    const char *dir = getenv("TMPDIR");
    dir = dir && *dir ? dir : "/tmp";
    if (statvfs(dir, &fs) == 0) {
        printf("temporary   %s: %s free\n", dir,
               stk_human_bytes((uint64_t)fs.f_bavail * fs.f_frsize, space));
    } else {
        printf("temporary   %s: can't be used; set TMPDIR to another folder\n", dir);
    }
}

// Version as CUDA encodes it: 1000 major + 10 minor.
static void driver_version(void *cuda)
{
    int version = 0;
    union {
        void *object;
        int (*call)(int *);
    } get = {.object = dlsym(cuda, "cuDriverGetVersion")}; // ISO C can't cast one to the other
    if (get.object && get.call(&version) == 0) {
        printf(" (driver for CUDA %d.%d)", version / 1000, version % 1000 / 10);
    }
}

static int gpu_libraries(void)
{
    static const struct {
        const char *file, *purpose;
    } libraries[] = {
        {"libcuda.so.1", "NVIDIA driver"},
        {"libnvidia-ml.so.1", "NVIDIA management library"},
        {"libcupti.so", "CUPTI, which GPU profilers use"},
        {"libamdhip64.so", "AMD HIP runtime"},
    };
    int found = 0;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        void *handle = dlopen(libraries[i].file, RTLD_LAZY | RTLD_LOCAL);
        printf("%-11s %s, %s", i == 0 ? "gpu" : "", libraries[i].file, libraries[i].purpose);
        printf(handle ? ": found" : ": not found");
        if (handle && i == 0) {
            driver_version(handle);
        }
        printf("\n");
        found += handle != NULL;
    }
    return found;
}

static int doctor_run(const struct stk_args *args)
{
    (void)args;
    printf("stoker      %s\n", stoker_version());
    for (int i = 0; stoker_library(i); i++) {
        printf("%-11s %s\n", i == 0 ? "built with" : "", stoker_library(i));
    }
    machine();
    instructions();
    temporary_space();
    printf("terminal    %d columns, %s, %s\n", stk_screen_columns(STDOUT_FILENO),
           stk_screen_ascii() ? "ASCII only (the locale is not UTF-8)" : "UTF-8",
           stk_screen_colour(STDOUT_FILENO, false) ? "colors" : "no colors");
    if (gpu_libraries() == 0) {
        printf("            no GPU here: stoker still reads profiles from other machines\n");
    }
    printf("For stoker.data, run: python3 -m stoker.data\n");
    return STK_EXIT_DONE;
}

const struct stk_cmd stk_cmd_doctor = {
    .name = "doctor",
    .summary = "check what this build and this machine support",
    .words = "",
    .description = "Prints the version, the built-in libraries, CPU cores, memory, temporary "
                   "space, the terminal's abilities and the GPU libraries found. Reading profiles "
                   "needs no GPU. For the Python module stoker.data, run python3 -m stoker.data.",
    .examples = "stoker doctor\tfor a bug report\n",
    .options = {STK_OPT_ID_NONE},
    .run = doctor_run,
};
