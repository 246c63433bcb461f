// SPDX-License-Identifier: Apache-2.0
// A CUDA driver without a device, for tests of the capture library: work takes no processor, it has
// a time on its stream. As the real one it loads what CUDA_INJECTION64_PATH names as it is
// initialized. What the job did is written to the file that FAKE_TRUTH names, a line of JSON each:
// calls, and the work of each, with whether CUPTI was to record it.
#include "fake/fake_gpu.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STREAMS = 64, DELAY_NS = 1000 };

static const struct {
    int domain;
    uint32_t cbid;
    const char *name;
} names[] = {{FAKE_DRIVER, 307, "cuLaunchKernel"},
             {FAKE_RUNTIME, 211, "cudaLaunchKernel_v7000"},
             {FAKE_RUNTIME, 41, "cudaMemcpyAsync_v3020"},
             {FAKE_RUNTIME, 51, "cudaMemsetAsync_ptsz_v7000"},
             {FAKE_RUNTIME, 311, "cudaGraphLaunch_v10000"},
             {FAKE_RUNTIME, 131, "cudaStreamSynchronize_v3020"},
             {FAKE_RUNTIME, 165, "cudaDeviceSynchronize_v3020"},
             {FAKE_RUNTIME, 10, "cudaGetLastError_v3020"}};
enum { LAUNCH_DRIVER, LAUNCH, COPY, SET, GRAPH, SYNC_STREAM, SYNC_DEVICE, LAST_ERROR };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of everything below
static const struct fake_sink *sink;
static uint64_t busy_until_ns[STREAMS], calls;
static uint32_t correlation;
static FILE *truth;
static int is_initialised;
static pid_t truth_pid;

void fake_gpu_attach(const struct fake_sink *s)
{
    const char *reset = getenv("FAKE_CUPTI_RESET");
    pthread_mutex_lock(&lock);
    sink = s;
    correlation = s && reset ? 0 : correlation; // as after cuptiFinalize
    pthread_mutex_unlock(&lock);
}

const char *fake_gpu_call_name(int domain, uint32_t cbid)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].domain == domain && names[i].cbid == cbid) {
            return names[i].name;
        }
    }
    return NULL;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void open_truth(void)
{
    const char *path = getenv("FAKE_TRUTH");
    char own[4096];
    if (path && *path && truth_pid != getpid()) {
        snprintf(own, sizeof own, "%s.%d", path, (int)getpid());
        truth = fopen(own, "we");
        truth_pid = getpid();
    }
}

// The caller holds the lock.
static void tell_call(int name, const struct fake_call *c, uint64_t number, int is_taken)
{
    open_truth();
    if (truth) {
        fprintf(
            truth,
            "{\"call\": %llu, \"name\": \"%s\", \"thread\": %u, \"start\": %llu, \"dur\": %llu, "
            "\"taken\": %d}\n",
            (unsigned long long)number, names[name].name, c->thread,
            (unsigned long long)c->start_ns, (unsigned long long)(c->end_ns - c->start_ns),
            is_taken);
        fflush(truth);
    }
}

static void give_work(struct fake_work *w, uint64_t number)
{
    int is_taken = sink && sink->takes_work(w->kind);
    open_truth();
    if (truth) {
        fprintf(truth,
                "{\"work\": %llu, \"kind\": %d, \"name\": \"%s\", \"stream\": %u, \"start\": %llu, "
                "\"dur\": %llu, \"bytes\": %llu, \"taken\": %d}\n",
                (unsigned long long)number, w->kind, w->name ? w->name : "", w->stream,
                (unsigned long long)w->start_ns, (unsigned long long)(w->end_ns - w->start_ns),
                (unsigned long long)w->bytes, is_taken);
        fflush(truth);
    }
    if (is_taken) {
        sink->work(w);
    }
}

int cuInit(unsigned flags)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    int (*entry)(void) = NULL;
    (void)flags;
    if (is_initialised++ || !path) {
        return 0;
    }
    const char *first = getenv("FAKE_CORRELATION");
    correlation = first ? (uint32_t)strtoul(first, NULL, 10) : 0;
    void *library = dlopen(path, RTLD_NOW);
    void *symbol = library ? dlsym(library, "InitializeInjection") : NULL;
    memcpy(&entry, &symbol, sizeof entry);
    if (!entry || !entry()) {
        fprintf(stderr, "fake driver: %s: no injection\n", path);
        return 999;
    }
    return 0;
}

int cuDriverGetVersion(int *version)
{
    const char *text = getenv("FAKE_DRIVER_VERSION");
    *version = text ? atoi(text) : 13000;
    return 0;
}

int cuDeviceGetCount(int *n)
{
    *n = 1;
    return is_initialised ? 0 : 3;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return 0;
}

int cuDeviceGetName(char *name, int n, int device)
{
    (void)device;
    snprintf(name, (size_t)n, "Fake H100");
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    *value = attribute == 16    ? 132
             : attribute == 39  ? 2048
             : attribute == 75  ? 9
             : attribute == 81  ? 233472
             : attribute == 82  ? 65536
             : attribute == 106 ? 32
                                : 0;
    return attribute == 76 || *value ? 0 : 1;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = (size_t)80 << 30;
    return 0;
}

// A call, with the work that it gives: `n` pieces one behind the other on a stream.
static int call_with(int name, struct fake_work *works, int n, uintptr_t stream, uint64_t wait_ns)
{
    struct fake_call c = {.domain = names[name].domain,
                          .cbid = names[name].cbid,
                          .thread = (uint32_t)syscall(SYS_gettid),
                          .start_ns = now_ns()};
    if (wait_ns > c.start_ns) {
        const struct timespec t = {(time_t)((wait_ns - c.start_ns) / 1000000000u),
                                   (long)((wait_ns - c.start_ns) % 1000000000u)};
        nanosleep(&t, NULL);
    }
    pthread_mutex_lock(&lock);
    uint64_t number = ++calls, *busy = &busy_until_ns[stream % STREAMS];
    c.correlation = ++correlation ? correlation : ++correlation;
    int is_taken = sink && sink->takes_call(c.domain, c.cbid);
    c.end_ns = now_ns();
    tell_call(name, &c, number, is_taken);
    for (int i = 0; i < n; i++) {
        uint64_t dur_ns = works[i].end_ns;
        works[i].start_ns = *busy > c.end_ns + DELAY_NS ? *busy : c.end_ns + DELAY_NS;
        works[i].end_ns = works[i].start_ns + dur_ns;
        if (works[i].kind == FAKE_SYNC) { // of the host's side
            works[i].start_ns = c.start_ns;
            works[i].end_ns = c.end_ns;
        } else {
            *busy = works[i].end_ns;
        }
        works[i].stream = (uint32_t)stream;
        works[i].correlation = c.correlation;
        give_work(&works[i], number);
    }
    if (is_taken) {
        sink->call(&c);
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

static struct fake_work kernel_work(const struct fake_kernel *k, unsigned grid, unsigned block)
{
    return (struct fake_work){.kind = FAKE_KERNEL,
                              .end_ns = k->dur_ns,
                              .name = k->name,
                              .grid = {grid, 1, 1},
                              .block = {block, 1, 1},
                              .registers = k->registers,
                              .shared_bytes = 1024};
}

int cuLaunchKernel(const void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                   unsigned by, unsigned bz, unsigned shared, void *stream, void **args,
                   void **more)
{
    struct fake_work w = kernel_work(kernel, gx * gy * gz, bx * by * bz);
    (void)shared;
    (void)args;
    (void)more;
    return call_with(LAUNCH_DRIVER, &w, 1, (uintptr_t)stream, 0);
}

int cudaLaunchKernel(const struct fake_kernel *kernel, unsigned grid, unsigned block,
                     uintptr_t stream)
{
    struct fake_work w = kernel_work(kernel, grid, block);
    return call_with(LAUNCH, &w, 1, stream, 0);
}

int cudaMemcpyAsync(size_t bytes, int direction, uintptr_t stream)
{
    struct fake_work w = {.kind = FAKE_MEMCPY,
                          .end_ns = bytes / 10,
                          .bytes = bytes,
                          .direction = (uint8_t)direction,
                          .from = direction == 1 ? 1 : 3,
                          .to = direction == 2 ? 1 : 3,
                          .flags = 1};
    return call_with(COPY, &w, 1, stream, 0);
}

int cudaMemsetAsync(size_t bytes, uintptr_t stream)
{
    struct fake_work w = {.kind = FAKE_MEMSET, .end_ns = bytes / 100, .bytes = bytes, .to = 3};
    return call_with(SET, &w, 1, stream, 0);
}

int cudaGraphLaunch(const struct fake_kernel *kernels, int n, uintptr_t stream)
{
    struct fake_work works[32];
    n = n < 32 ? n : 32;
    for (int i = 0; i < n; i++) {
        works[i] = kernel_work(&kernels[i], 8, 256);
        works[i].in_graph = 1;
    }
    return call_with(GRAPH, works, n, stream, 0);
}

static uint64_t busy_of(uintptr_t stream)
{
    pthread_mutex_lock(&lock);
    uint64_t ns = busy_until_ns[stream % STREAMS];
    pthread_mutex_unlock(&lock);
    return ns;
}

int cudaStreamSynchronize(uintptr_t stream)
{
    struct fake_work w = {.kind = FAKE_SYNC, .sync_type = 3};
    return call_with(SYNC_STREAM, &w, 1, stream, busy_of(stream));
}

int cudaDeviceSynchronize(void)
{
    struct fake_work w = {.kind = FAKE_SYNC, .sync_type = 4};
    uint64_t latest_ns = 0;
    for (uintptr_t s = 0; s < STREAMS; s++) {
        uint64_t ns = busy_of(s);
        latest_ns = ns > latest_ns ? ns : latest_ns;
    }
    return call_with(SYNC_DEVICE, &w, 1, 0, latest_ns);
}

int cudaGetLastError(void)
{
    return call_with(LAST_ERROR, NULL, 0, 0, 0);
}
