// SPDX-License-Identifier: Apache-2.0
// A program that trains nothing on the fake driver. Each step of each thread: a gap as if it waited
// for a batch, a copy to the device, kernels, a memset, a synchronization; with NVTX a range
// around.
//
// Usage: fake_job [OPTION VALUE]...
//   steps N (20)  kernels N (6)  threads N (1)  gap-us N (2000)  kernel-us N (300)  graph 0|1
//   nvtx 0|1      fork-at STEP   kill-at STEP   exit-at STEP (in a range: within a hook's reach)
//   wait-ms N     after the steps, without a synchronization
//   cxx 0|1       libstdc++ is loaded, for the module alone that asked for it
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake/fake_gpu.h"

static struct option {
    const char *name;
    long value;
} options[] = {{"steps", 20},      {"kernels", 6},  {"threads", 1}, {"gap-us", 2000},
               {"kernel-us", 300}, {"graph", 0},    {"nvtx", 0},    {"fork-at", -1},
               {"kill-at", -1},    {"exit-at", -1}, {"wait-ms", 0}, {"cxx", 0}};
enum { STEPS, KERNELS, THREADS, GAP, KERNEL, IN_GRAPH, NVTX, FORK_AT, KILL_AT, EXIT_AT, WAIT, CXX };

static const struct fake_kernel kernels[] = {{"_Z11gemm_kernelILi128EEvPKfS1_Pf", 0, 128},
                                             {"relu_kernel", 0, 24},
                                             {"softmax_kernel", 0, 40},
                                             {"conv_fprop_kernel", 0, 96},
                                             {"bias_kernel", 0, 16},
                                             {"adam_kernel", 0, 32}};
enum { DIFFERENT = sizeof kernels / sizeof kernels[0] };

// ---- NVTX as its headers do it: a table of function pointers that an injection fills ----

typedef int push_fn(const char *text);
typedef int pop_fn(void);
static void *core[16], *core2[16];
static void **core_table[16], **core2_table[16];

static int table_of(int module, void ****table, unsigned *n)
{
    *table = module == 1 ? core_table : module == 5 ? core2_table : NULL;
    *n = 16;
    return *table != NULL;
}

static const struct {
    size_t struct_size;
    int (*table)(int, void ****, unsigned *);
} callbacks = {sizeof callbacks, table_of};

static const void *export_table(uint32_t id)
{
    return id == 1 ? &callbacks : NULL;
}

static void start_nvtx(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    int (*entry)(const void *(*)(uint32_t)) = NULL;
    for (int i = 0; i < 16; i++) {
        core_table[i] = &core[i];
        core2_table[i] = &core2[i];
    }
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    void *symbol = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;
    memcpy(&entry, &symbol, sizeof entry);
    if (entry) {
        entry(export_table);
        dlclose(library); // it must stay anyhow
    }
}

static void push(const char *text)
{
    push_fn *f = NULL;
    memcpy(&f, &core[9], sizeof f);
    if (options[NVTX].value && f) {
        f(text);
    }
}

static void pop(void)
{
    pop_fn *f = NULL;
    memcpy(&f, &core[11], sizeof f);
    if (options[NVTX].value && f) {
        f();
    }
}

static void sleep_us(long us)
{
    const struct timespec t = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&t, NULL);
}

static void fork_once(void)
{
    pid_t pid = fork();
    if (pid == 0) { // a loader's worker: NVTX may be called, CUDA not
        push("in the child");
        pop();
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void at_step(long step)
{
    if (step == options[FORK_AT].value) {
        fork_once();
    }
    if (step == options[KILL_AT].value) {
        sleep_us(1500000); // past two flushes
        raise(SIGKILL);
    }
    if (step == options[EXIT_AT].value) {
        exit(5);
    }
}

static void *train(void *arg)
{
    uintptr_t stream = 7 + (uintptr_t)arg;
    for (long step = 0; step < options[STEPS].value; step++) {
        sleep_us(options[GAP].value);
        push("step");
        cudaMemcpyAsync(1000000, 1, stream);
        if (options[IN_GRAPH].value) {
            struct fake_kernel some[DIFFERENT];
            for (int k = 0; k < DIFFERENT; k++) {
                some[k] = kernels[k];
                some[k].dur_ns = (uint64_t)options[KERNEL].value * 1000;
            }
            cudaGraphLaunch(some, DIFFERENT, stream);
        }
        for (long k = 0; k < options[KERNELS].value; k++) {
            static _Thread_local struct fake_kernel one;
            one = kernels[k % DIFFERENT];
            one.dur_ns = (uint64_t)(options[KERNEL].value * 1000 + k * 7 + 1);
            if (k % 2) {
                cuLaunchKernel(&one, 64, 1, 1, 256, 1, 1, 0, (void *)stream, NULL, NULL);
            } else {
                cudaLaunchKernel(&one, 128, 128, stream);
            }
            cudaGetLastError();
        }
        cudaMemsetAsync(4096, stream);
        at_step(step);
        if (step + 1 < options[STEPS].value || !options[WAIT].value) {
            cudaStreamSynchronize(stream);
        }
        pop();
    }
    return NULL;
}

static int read_options(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        size_t k = 0;
        while (k < sizeof options / sizeof options[0] && strcmp(options[k].name, argv[i]) != 0) {
            k++;
        }
        if (k == sizeof options / sizeof options[0]) {
            fprintf(stderr, "fake_job: no option %s\n", argv[i]);
            return 2;
        }
        options[k].value = atol(argv[i + 1]);
    }
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[64];
    if (read_options(argc, argv) != 0) {
        return 2;
    }
    if (options[NVTX].value) {
        start_nvtx();
    }
    if (options[CXX].value && !dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL)) {
        return 4;
    }
    if (cuInit(0) != 0) {
        return 3;
    }
    long n = options[THREADS].value < 64 ? options[THREADS].value : 64;
    for (long i = 1; i < n; i++) {
        pthread_create(&threads[i], NULL, train, (void *)i);
    }
    train(NULL);
    for (long i = 1; i < n; i++) {
        pthread_join(threads[i], NULL);
    }
    sleep_us(options[WAIT].value * 1000);
    return 0;
}
