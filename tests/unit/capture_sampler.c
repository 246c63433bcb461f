// SPDX-License-Identifier: Apache-2.0
// The sampler on /proc and cgroups written by the test, and on a fake NVML: what it reads from
// them, what it does if something is missing, and that its memory is bounded.
//
// Rates depend on when a sample is taken; the total increase of a counter doesn't.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "job/capture/parent/sampler.h"
#include "check.h"
#include "fake/fake_nvml.h"
#include "profile/model/machine/machine.h"
#include "profile/readers/reader.h"

#define ROOT 100
#define GROUP "cgroup/jobs/train"

static char base[64], path[128], proc[128], cgroup[128];
static struct stk_arena arena;
static struct stk_sampler_totals totals;

// ---- a tree of files ----

static void put(const char *name, const char *fmt, ...)
{
    char file[512], text[8192];
    va_list args;
    snprintf(file, sizeof file, "%s/%s", base, name);
    for (char *at = file + strlen(base) + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        CHECK(mkdir(file, 0700) == 0 || errno == EEXIST);
        *at = '/';
    }
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    int fd = open(file, O_WRONLY | O_CREAT, 0600); // in place: who has it open sees it
    CHECK(fd >= 0 && pwrite(fd, text, (size_t)n, 0) == n && ftruncate(fd, n) == 0);
    close(fd);
}

static int forget(const char *name, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(name);
}

static void clear(void)
{
    nftw(base, forget, 8, FTW_DEPTH | FTW_PHYS);
    CHECK(mkdir(base, 0700) == 0);
}

static void put_thread(int pid, int tid, const char *name, char state, uint64_t cpu_ns,
                       uint64_t wait_ns)
{
    char file[200];
    snprintf(file, sizeof file, "proc/%d/task/%d/schedstat", pid, tid);
    put(file, "%llu %llu 5\n", (unsigned long long)cpu_ns, (unsigned long long)wait_ns);
    snprintf(file, sizeof file, "proc/%d/task/%d/comm", pid, tid);
    put(file, "%s\n", name);
    snprintf(file, sizeof file, "proc/%d/task/%d/stat", pid, tid);
    put(file,
        "%d (%s) x) %c 1 1 1 0 -1 0 10 0 0 0 %llu 0 0 0 20 0 1 0 5 1000 300 0 0 0 0 0 0 0 0 0\n",
        tid, name, state, (unsigned long long)(cpu_ns / 10000000));
}

static void put_process(int pid, int parent, unsigned major, uint64_t read)
{
    char file[200];
    snprintf(file, sizeof file, "proc/%d/stat", pid);
    put(file, "%d (py) thon)) S %d 1 1 0 -1 0 10 0 %u 0 1 0 0 0 20 0 1 0 5 1000 300 0 0 0 0 0\n",
        pid, parent, major);
    snprintf(file, sizeof file, "proc/%d/io", pid);
    put(file, "rchar: %llu\nwchar: 0\nsyscr: 1\nsyscw: 0\nread_bytes: %llu\nwrite_bytes: 0\n",
        (unsigned long long)read * 2, (unsigned long long)read);
    snprintf(file, sizeof file, "proc/%d/status", pid);
    put(file, "Name:\tpython\nCpus_allowed:\tff\nCpus_allowed_list:\t0-2,7\nMems_allowed:\t1\n");
}

static void put_children(int pid, int tid, const char *list)
{
    char file[200];
    snprintf(file, sizeof file, "proc/%d/task/%d/children", pid, tid);
    put(file, "%s", list);
}

static void put_machine(uint64_t busy, uint64_t idle, uint64_t sectors, uint64_t busy_ms)
{
    put("proc/stat", "cpu  %llu 0 0 %llu 0 0 0 0 0 0\ncpu0 1 0\ncpu1 1 0\ncpu2 1 0\nintr 5\n",
        (unsigned long long)busy, (unsigned long long)idle);
    put("proc/meminfo", "MemTotal:       1000 kB\nMemFree: 10 kB\nMemAvailable:    400 kB\n");
    put("proc/vmstat", "nr_free_pages 5\npswpin 7\npswpout 3\n");
    put("proc/diskstats",
        "   7 0 loop0 9 9 9999999 9 9 9 9999999 9 0 9999999 9\n"
        " 259 0 nvme0n1 10 0 %llu 5 10 0 80 5 0 %llu 20 0 0 0 0 0 0\n"
        " 259 1 nvme0n1p1 10 0 %llu 5 10 0 80 5 0 %llu 20 0 0 0 0 0 0\n",
        (unsigned long long)sectors, (unsigned long long)busy_ms, (unsigned long long)sectors,
        (unsigned long long)busy_ms);
}

static void put_pressure(const char *prefix, uint64_t stalled_us)
{
    static const char *const names[] = {"cpu", "io", "memory"};
    for (int i = 0; i < 3; i++) {
        char file[200];
        snprintf(file, sizeof file, "%s%s%s", prefix, names[i],
                 strstr(prefix, "proc") ? "" : ".pressure");
        put(file, "some avg10=0.00 avg60=0.00 avg300=0.00 total=%llu\nfull avg10=0 total=9\n",
            (unsigned long long)stalled_us);
    }
}

static void put_group(const char *max, uint64_t periods, uint64_t throttled, uint64_t kills)
{
    put("proc/100/cgroup", "1:name=systemd:/else\n0::/jobs/train\n");
    put("cgroup/cpu.stat", "usage_usec 5\n");
    put("cgroup/jobs/cpu.max", "%s\n", max);
    put("cgroup/jobs/cpu.stat",
        "usage_usec 9\nnr_periods %llu\nnr_throttled %llu\nthrottled_usec "
        "%llu\n",
        (unsigned long long)periods, (unsigned long long)throttled,
        (unsigned long long)throttled * 1000);
    put(GROUP "/cpu.max", "max 100000\n");
    put(GROUP "/cpu.stat", "usage_usec 9\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n");
    put(GROUP "/memory.current", "900\n");
    put(GROUP "/memory.max", "1000\n");
    put(GROUP "/memory.events", "low 0\nhigh 0\nmax %llu\noom 1\noom_kill %llu\n",
        (unsigned long long)kills * 10, (unsigned long long)kills);
}

// ---- sampling it ----

static void wait_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static struct stk_sampler *begin(const char *nvml, uint32_t threads_max)
{
    struct stk_sampler *s = NULL;
    struct stoker_err err;
    struct stk_sampler_options o = {.period_ns = 20000000,
                                    .cost_share = 1,
                                    .threads_max = threads_max,
                                    .no_gpu = nvml == NULL,
                                    .proc = proc,
                                    .cgroup = cgroup,
                                    .nvml = nvml};
    stk_err_init(&err);
    CHECK_EQ(stk_sampler_start(&s, ROOT, &o, path, &err), STOKER_OK);
    return s;
}

static struct stk_machine_view *end(struct stk_sampler *s)
{
    struct stk_trace *t = NULL;
    struct stoker_err err;
    stk_err_init(&err);
    CHECK_EQ(stk_sampler_stop(s, &totals, &err), STOKER_OK);
    if (stk_reader_read_path(path, 1, NULL, &t, &err) != STOKER_OK) {
        CHECK(false);
        exit(1);
    }
    struct stk_machine *m = stk_machine_see(t, &arena);
    stk_trace_free(t);
    struct stk_machine_view *v = m ? stk_machine_look(m, 0, 0, &arena) : NULL;
    if (!v) {
        CHECK(false);
        exit(1);
    }
    return v;
}

// What a counter grew by: its mean over the time that looks (or scans) cover.
static double grown(const struct stk_machine_view *v, enum stk_sampled id, int64_t process)
{
    bool scan = stk_sample_info(id)->cadence == STK_SAMPLE_SCAN;
    const struct stk_machine_series *moments = scan ? v->machine->scans : v->machine->looks;
    double covered = 0, mean = 0;
    for (uint32_t i = 0; moments && i < moments->count; i++) {
        covered += v->machine->value[moments->first + i] * 1e-9;
    }
    for (uint32_t i = 0; i < v->machine->series_count; i++) {
        const struct stk_machine_series *s = &v->machine->series[i];
        mean += s->sample == id && (process < 0 || s->process == process) ? v->figures[i].mean : 0;
    }
    return mean * covered;
}

static bool near(double a, double b)
{
    bool is_near = fabs(a - b) <= 1e-6 * (fabs(a) + fabs(b)) + 1e-9;
    if (!is_near) {
        printf("%.9g is not %.9g\n", a, b);
    }
    return is_near;
}

static const char *absent_why(const char *source)
{
    for (uint32_t i = 0; i < totals.absent_count; i++) {
        if (strcmp(totals.absent[i].source, source) == 0) {
            return totals.absent[i].why;
        }
    }
    return NULL;
}

static void put_all(int when)
{
    put_thread(ROOT, ROOT, "python", 'S', when * 5000000, when * 2000000);
    put_thread(ROOT, 101, "a (b) c", 'D', when * 1000000, 0);
    put_process(ROOT, 1, 5 + (unsigned)when * 3, 4096 + (uint64_t)when * 8192);
    put_children(ROOT, ROOT, "200 ");
    put_children(ROOT, 101, "");
    put_thread(200, 200, "pt_data_worker", 'R', when * 3000000, when * 1000000);
    put_process(200, ROOT, 0, 0);
    put_children(200, 200, "");
    put_machine(1000 + (uint64_t)when * 30, 1000 + (uint64_t)when * 10, 100 + (uint64_t)when * 64,
                50 + (uint64_t)when * 4);
    put_pressure("proc/pressure/", 100 + (uint64_t)when * 3000);
    put_pressure(GROUP "/", 100 + (uint64_t)when * 1000);
    put_group("250000 100000", 10 + (uint64_t)when * 100, 5 + (uint64_t)when * 31,
              2 + (uint64_t)when);
}

// Everything is there, and moves once.
static void whole(void)
{
    clear();
    put_all(0);
    struct stk_sampler *s = begin(NULL, 0);
    wait_ms(300); // the first look has come
    put_all(1);
    wait_ms(1200);
    struct stk_machine_view *v = end(s);
    CHECK(near(grown(v, STK_SAMPLE_OF_THREAD_CPU, ROOT), 0.006));
    CHECK(near(grown(v, STK_SAMPLE_OF_THREAD_CPU, 200), 0.003));
    CHECK(near(grown(v, STK_SAMPLE_OF_JOB_CPU, -1), 0.009));
    CHECK(near(grown(v, STK_SAMPLE_OF_JOB_QUEUE, -1), 0.003));
    CHECK(near(grown(v, STK_SAMPLE_OF_PROCESS_READ, ROOT), 8192));
    CHECK(near(grown(v, STK_SAMPLE_OF_PROCESS_CALLS_READ, ROOT), 16384));
    CHECK(near(grown(v, STK_SAMPLE_OF_PROCESS_MAJOR, ROOT), 3));
    CHECK(near(grown(v, STK_SAMPLE_OF_DISK_READ, -1), 64 * 512));
    CHECK(near(grown(v, STK_SAMPLE_OF_DISK_BUSY, -1), 0.004));
    CHECK(near(grown(v, STK_SAMPLE_OF_MACHINE_WAIT_IO, -1), 0.003));
    CHECK(near(grown(v, STK_SAMPLE_OF_CGROUP_WAIT_CPU, -1), 0.001));
    CHECK(near(grown(v, STK_SAMPLE_OF_CGROUP_THROTTLED, -1), 0.031));
    CHECK(near(stk_machine_figure_of(v, STK_SAMPLE_OF_CGROUP_PERIODS)->most, 0.31));
    CHECK(near(stk_machine_figure_of(v, STK_SAMPLE_OF_MACHINE_CPU)->most, 0.75));
    CHECK(near(stk_machine_mean(v, STK_SAMPLE_OF_CGROUP_QUOTA), 2.5));
    CHECK(near(stk_machine_mean(v, STK_SAMPLE_OF_JOB_PROCESSORS), 2.5)); // of 4 by affinity
    CHECK(near(stk_machine_mean(v, STK_SAMPLE_OF_MACHINE_PROCESSORS), 3));
    CHECK(near(stk_machine_mean(v, STK_SAMPLE_OF_MACHINE_AVAILABLE), 400 * 1024));
    CHECK(near(stk_machine_mean(v, STK_SAMPLE_OF_CGROUP_MEMORY_LIMIT), 1000));
    CHECK(near(stk_machine_mean(v, STK_SAMPLE_OF_CGROUP_MEMORY), 900));
    CHECK(near(stk_machine_figure_of(v, STK_SAMPLE_OF_CGROUP_KILLS)->last, 1));
    CHECK(stk_machine_figure_of(v, STK_SAMPLE_OF_THREAD_BLOCKED) != NULL);
    CHECK(v->to_ns > v->from_ns && v->to_ns - v->from_ns < INT64_C(60000000000));
    CHECK_EQ(v->process_count, 2);
    CHECK(v->processes[0].pid == ROOT && v->processes[1].pid == 200);
    CHECK(strcmp(v->processes[1].name, "pt_data_worker") == 0 && v->processes[1].parent == ROOT);
    CHECK_EQ(totals.threads_seen, 3);
    CHECK_EQ(totals.absent_count, 1); // the GPU
}

// Kernels without schedstat and lists of children; no control group, no pressure, no disks.
static void sparse(void)
{
    clear();
    put_thread(ROOT, ROOT, "python", 'S', 1000000000, 0);
    put_process(ROOT, 1, 0, 0);
    put_thread(300, 300, "worker", 'R', 0, 0);
    put_process(300, ROOT, 0, 0);
    put_thread(301, 301, "grandchild", 'R', 0, 0);
    put_process(301, 300, 0, 0);
    put_thread(400, 400, "stranger", 'R', 0, 0);
    put_process(400, 1, 0, 0);
    for (int i = 0; i < 3; i++) {
        char file[200];
        int pid = i == 0 ? ROOT : 299 + i;
        snprintf(file, sizeof file, "%s/proc/%d/task/%d/schedstat", base, pid, pid);
        CHECK(unlink(file) == 0);
    }
    struct stk_sampler *s = begin(NULL, 0);
    wait_ms(1300);
    struct stk_machine_view *v = end(s);
    CHECK_EQ(v->process_count, 3);
    for (uint32_t i = 0; i < v->process_count; i++) {
        CHECK(v->processes[i].pid != 400);
    }
    CHECK(absent_why("cgroup") && absent_why("pressure") && absent_why("disks"));
    CHECK(absent_why("memory") && absent_why("processors") && !absent_why("tasks"));
    CHECK(stk_machine_figure_of(v, STK_SAMPLE_OF_JOB_QUEUE) == NULL);
    uint32_t told = 0;
    for (uint32_t i = 0; i < v->machine->series_count; i++) {
        told += v->machine->series[i].sample == STK_SAMPLE_OF_ABSENT;
    }
    CHECK_EQ(told, totals.absent_count);
}

// More threads than are followed; names and files that are not what they should be.
static void many(void)
{
    clear();
    for (int i = 0; i < 100; i++) {
        put_thread(ROOT, ROOT + i, "t", 'S', 0, 0);
    }
    put_process(ROOT, 1, 0, 0);
    put_children(ROOT, ROOT, "not numbers 7");
    put("proc/pressure/cpu", "nonsense");
    put("proc/diskstats", "8 0\n\n8 0 sda 1 2 3\n");
    put("proc/meminfo", "MemTotal: many\n");
    put("proc/stat", "cpu\n");
    put("proc/100/cgroup", "garbage\n0::\n");
    put("cgroup/cpu.stat", "nr_periods x\n");
    put("cgroup/cpu.max", "0 0\n");
    struct stk_sampler *s = begin(NULL, 10);
    wait_ms(200);
    struct stk_machine_view *v = end(s);
    CHECK(totals.lost >= 90);
    CHECK_EQ(totals.threads_seen, 10);
    CHECK_EQ(v->process_count, 1);
    CHECK(stk_machine_figure_of(v, STK_SAMPLE_OF_CGROUP_QUOTA) == NULL);
    CHECK(stk_machine_figure_of(v, STK_SAMPLE_OF_MACHINE_CPU) == NULL);
}

static void group_v1(void)
{
    clear();
    put_thread(ROOT, ROOT, "python", 'S', 0, 0);
    put_process(ROOT, 1, 0, 0);
    put_children(ROOT, ROOT, "");
    put("proc/100/cgroup", "4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n");
    // A container sees its own group at the top, not at the path that the host calls it by.
    put("cgroup/cpu,cpuacct/cpu.cfs_quota_us", "150000\n");
    put("cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    put("cgroup/cpu,cpuacct/cpu.stat", "nr_periods 5\nnr_throttled 1\nthrottled_time 1000\n");
    put("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("cgroup/memory/memory.usage_in_bytes", "12345\n");
    struct stk_sampler *s = begin(NULL, 0);
    wait_ms(100);
    put("cgroup/cpu,cpuacct/cpu.stat", "nr_periods 15\nnr_throttled 6\nthrottled_time 5001000\n");
    wait_ms(100);
    struct stk_machine_view *v = end(s);
    CHECK(near(stk_machine_mean(v, STK_SAMPLE_OF_CGROUP_QUOTA), 1.5));
    CHECK(near(stk_machine_figure_of(v, STK_SAMPLE_OF_CGROUP_PERIODS)->most, 0.5));
    CHECK(near(grown(v, STK_SAMPLE_OF_CGROUP_THROTTLED, -1), 0.005));
    CHECK(near(stk_machine_mean(v, STK_SAMPLE_OF_CGROUP_MEMORY), 12345));
    CHECK(stk_machine_figure_of(v, STK_SAMPLE_OF_CGROUP_MEMORY_LIMIT) == NULL);
}

// ---- the GPU ----

static struct fake_nvml *fake;

static void put_job(void)
{
    clear();
    put_thread(ROOT, ROOT, "python", 'S', 0, 0);
    put_process(ROOT, 1, 0, 0);
    put_children(ROOT, ROOT, "");
}

static void gpus(bool has_gpm, bool lacks)
{
    put_job();
    *fake = (struct fake_nvml){.devices = 2,
                               .has_gpm = has_gpm,
                               .lacks = lacks,
                               .utilisation = 96,
                               .sm_clock = 1200,
                               .sm_clock_max = 1980,
                               .memory_clock = 2619,
                               .reasons = 0x40,
                               .milliwatts = 350500,
                               .limit_milliwatts = 700000,
                               .celsius = 85,
                               .memory_used = 1 << 30,
                               .memory_total = 80ull << 30,
                               .kilobytes_sent = 2048,
                               .kilobytes_received = 4096,
                               .sm_active = 41};
    struct stk_sampler *s = begin(FAKE_NVML, 0);
    wait_ms(1500);
    struct stk_machine_view *v = end(s);
    int64_t second = STK_SAMPLE_NUMBER(STK_SAMPLE_GPU, 1);
    CHECK(near(stk_machine_figure_at(v, STK_SAMPLE_OF_GPU_BUSY, second)->mean, 0.96));
    CHECK(fake->inits == 1 && fake->shutdowns == 1 && fake->misuses == 0 && fake->samples == 0);
    CHECK(!absent_why("nvml"));
    CHECK((stk_machine_figure_of(v, STK_SAMPLE_OF_GPU_POWER) == NULL) == lacks);
    const struct stk_machine_figure *sm = stk_machine_figure_of(v, STK_SAMPLE_OF_GPM_SM);
    CHECK((sm != NULL) == has_gpm);
    CHECK(!has_gpm || near(sm->mean, 0.41));
    if (lacks) {
        return;
    }
    CHECK(near(stk_machine_mean(v, STK_SAMPLE_OF_GPU_POWER), 350.5));
    CHECK(near(stk_machine_mean(v, STK_SAMPLE_OF_GPU_SM_CLOCK), 1200));
    CHECK(near(stk_machine_mean(v, STK_SAMPLE_OF_GPU_MEMORY), 1 << 30));
    const struct stk_machine_figure *sent = stk_machine_figure_of(v, STK_SAMPLE_OF_GPU_SENT);
    CHECK((sent != NULL) == !has_gpm && (!sent || near(sent->mean, 2048 * 1024)));
    for (uint32_t i = 0; i < v->machine->series_count; i++) {
        const struct stk_machine_series *series = &v->machine->series[i];
        if (series->sample == STK_SAMPLE_OF_GPU_REASONS) {
            CHECK(strcmp(series->name, "Fake GPU") == 0);
            CHECK(near(stk_machine_share_of_bits(v, series, 0x40), 1));
            CHECK(near(stk_machine_share_of_bits(v, series, 0x4), 0));
        }
    }
}

static void no_gpu(void)
{
    put_job();
    *fake = (struct fake_nvml){.init_result = 9};
    end(begin(FAKE_NVML, 0));
    CHECK(absent_why("nvml") && strstr(absent_why("nvml"), "error 9"));
    *fake = (struct fake_nvml){0};
    end(begin(FAKE_NVML, 0));
    CHECK(absent_why("nvml") && strstr(absent_why("nvml"), "shows no GPU"));
    CHECK(fake->inits == fake->shutdowns && fake->misuses == 0);
    end(begin("libof-no-driver.so.1", 0));
    CHECK(absent_why("nvml") && strstr(absent_why("nvml"), "no NVIDIA driver"));
    end(begin("libm.so.6", 0));
    CHECK(absent_why("nvml") && strstr(absent_why("nvml"), "lacks nvml"));
}

// Each counter is explained on the page.
static void page(void)
{
    static char text[1 << 16];
    FILE *f = fopen("docs/sampler.md", "r");
    CHECK(f != NULL);
    text[f ? fread(text, 1, sizeof text - 1, f) : 0] = 0;
    for (int i = 0; i < STK_SAMPLE_COUNT; i++) {
        const struct stk_sample_info *info = stk_sample_info((enum stk_sampled)i);
        char row[600];
        snprintf(row, sizeof row, "| `%s` | %s | %s |", info->name, info->unit, info->meaning);
        CHECK(strstr(text, row) != NULL);
    }
    if (f) {
        fclose(f);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    stk_arena_init(&arena, 0);
    strcpy(base, "/tmp/stoker-proc-XXXXXX");
    CHECK(mkdtemp(base) != NULL);
    snprintf(path, sizeof path, "%s.stk", base);
    snprintf(proc, sizeof proc, "%s/proc", base);
    snprintf(cgroup, sizeof cgroup, "%s/cgroup", base);
    void *library = dlopen(FAKE_NVML, RTLD_NOW | RTLD_LOCAL);
    struct fake_nvml *(*state)(void) = NULL;
    void *symbol = library ? dlsym(library, "fake_nvml_state") : NULL;
    memcpy(&state, &symbol, sizeof symbol);
    CHECK(state != NULL);
    fake = state ? state() : NULL;
    CHECK_RUN(whole);
    CHECK_RUN(sparse);
    CHECK_RUN(many);
    CHECK_RUN(group_v1);
    CHECK_RUN(page);
    if (fake) {
        CHECK_RUN(gpus, true, false);
        CHECK_RUN(gpus, false, false);
        CHECK_RUN(gpus, false, true);
        CHECK_RUN(no_gpu);
        dlclose(library);
    }
    nftw(base, forget, 8, FTW_DEPTH | FTW_PHYS);
    unlink(path);
    stk_arena_deinit(&arena);
    return check_done("unit.capture_sampler");
}
