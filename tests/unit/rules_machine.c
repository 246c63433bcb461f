// SPDX-License-Identifier: Apache-2.0
// Rules on the machine record: each fires with the right words, stays quiet at its threshold and
// without a record, and never claims more than the profile.
#include "machine_world.h"

static void thread(int64_t pid, int64_t tid, const char *name, double cpu, double queue)
{
    counter(STK_SAMPLE_OF_THREAD_CPU, pid, tid, name, cpu);
    counter(STK_SAMPLE_OF_THREAD_QUEUE, pid, tid, name, queue);
}

static void process(int64_t pid, int64_t parent, const char *name)
{
    counter(STK_SAMPLE_OF_PROCESS_PARENT, pid, 0, name, (double)parent);
}

static const struct stk_rep_finding *found(const char *id)
{
    const struct stk_rep_finding *items = f.report.findings.items;
    for (size_t i = 0; i < f.report.findings.count; i++) {
        if (strcmp(items[i].id, id) == 0) {
            return &items[i];
        }
    }
    return NULL;
}

static bool tells(const struct stk_rep_finding *x, const char *text)
{
    const struct stk_rep_evidence *e = x ? x->evidence.items : NULL;
    for (size_t i = 0; x && i < x->evidence.count; i++) {
        if (strstr(e[i].text, text)) {
            return true;
        }
    }
    for (size_t i = 0; x && i < x->evidence.count; i++) {
        fprintf(stderr, "  %s\n", e[i].text);
    }
    return false;
}

static void end(void)
{
    fake_done(&f);
}

static void workers_on_two(double processors, double queue)
{
    of_job(STK_SAMPLE_OF_JOB_PROCESSORS, processors);
    of_job(STK_SAMPLE_OF_JOB_CPU, 1.96);
    of_job(STK_SAMPLE_OF_JOB_QUEUE, 4 * queue);
    of_job(STK_SAMPLE_OF_MACHINE_CPU, 0.2);
    process(10, 1, "python");
    for (int i = 0; i < 4; i++) {
        process(20 + i, 10, "pt_data_worker");
        thread(20 + i, 20 + i, "pt_data_worker", 0.49, queue);
    }
}

static void processors(void)
{
    begin(STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_INPUT, 0.4, -1);
    workers_on_two(2, 0.49);
    ask();
    const struct stk_rep_finding *x = found("processors-short");
    CHECK(tells(x, "The 4 processes pt_data_worker are busy 98% of the time, 50% of it waiting"));
    CHECK(tells(x, "the job may use 2"));
    CHECK(tells(x, "spends 40% waiting for the CPU and input: this can't cost more"));
    CHECK(x && x->severity == STK_LEVEL_HIGH && x->saving.high_share <= 0.41);
    end();
    begin(STK_SCOPE_STEPS); // processors are free
    fake_part(&f, STK_PART_INPUT, 0.4, -1);
    workers_on_two(8, 0.49);
    ask();
    CHECK(!found("processors-short"));
    end();
    begin(STK_SCOPE_STEPS); // hardly a queue
    workers_on_two(2, 0.05);
    ask();
    CHECK(!found("processors-short"));
    end();
    begin(STK_SCOPE_STEPS); // the step does not wait for it
    workers_on_two(2, 0.49);
    ask();
    x = found("processors-short");
    CHECK(x && x->severity == STK_LEVEL_INFO && tells(x, "doesn't delay it"));
    end();
}

// Libraries start threads in each worker: more of them than processors.
static void worker_threads(double cpu, double queue, bool have_threads)
{
    begin(STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_INPUT, 0.4, -1);
    of_job(STK_SAMPLE_OF_JOB_PROCESSORS, 4);
    of_job(STK_SAMPLE_OF_JOB_CPU, 3.9);
    of_job(STK_SAMPLE_OF_JOB_QUEUE, 4 * 2 * queue);
    of_job(STK_SAMPLE_OF_MACHINE_CPU, 0.9);
    process(10, 1, "python");
    for (int i = 0; i < 4; i++) {
        process(20 + i, 10, "pt_data_worker");
        thread(20 + i, 20 + i, "pt_data_worker", cpu, queue);
        thread(20 + i, 30 + i, "python", cpu, queue); // OpenCV's
    }
    ask();
    const struct stk_rep_finding *x = found("processors-short");
    const char *title = "Worker processes start more threads than there are CPU cores";
    CHECK_EQ(x && strcmp(x->title, title) == 0, have_threads);
    if (have_threads) {
        CHECK(tells(x, "Each of the 4 processes pt_data_worker has 2.9 runnable threads"));
        CHECK_EQ(advises(x, "OMP_NUM_THREADS=1"), 0);
    } else {
        CHECK(advises(x, "OMP_NUM_THREADS=1") < 0 && advises(x, "--cpus-per-task") == 0);
    }
    end();
}

// Cores of the machine that other programs hold are a remark on the recording, behind the job's own
// cause, and promise no more than the job's runnable threads could use.
static void others_hold(double cpu, double queue, bool is_remark, double most)
{
    begin(STK_SCOPE_HOST);
    fake_part(&f, STK_PART_INPUT, 0.4, -1);
    of_job(STK_SAMPLE_OF_JOB_PROCESSORS, 2);
    of_job(STK_SAMPLE_OF_MACHINE_PROCESSORS, 2);
    of_job(STK_SAMPLE_OF_JOB_CPU, cpu);
    of_job(STK_SAMPLE_OF_JOB_QUEUE, queue);
    of_job(STK_SAMPLE_OF_MACHINE_CPU, 0.99);
    ask();
    const struct stk_rep_finding *x = found("processors-short"), *input = found("input-wait");
    CHECK(x && input && input < x);
    if (x) {
        CHECK_EQ(x->kind == STK_TOPIC_RECORDING, is_remark);
        CHECK(x->saving.high_share > most - 0.005 && x->saving.high_share < most + 0.005);
        CHECK_EQ(advises(x, "Record again while nothing else runs") == 0, is_remark);
        CHECK_EQ(advises(x, "Give the job more cores") == 0, !is_remark);
    }
    CHECK(f.report.has_outlook && strcmp(f.report.outlook.finding, "input-wait") == 0);
    CHECK_EQ(f.verdict.confidence == STK_LEVEL_LOW, is_remark);
    if (is_remark && x) {
        CHECK(tells(x, "On free cores a step takes"));
        CHECK(strncmp(x->title, "Other programs hold the cores: alone, a step takes", 50) == 0);
    }
    end();
}

// GPUs of the machine that nobody uses while the job computes on the processor.
static void unused_gpu(double busy, bool fires)
{
    begin(STK_SCOPE_HOST);
    counter(STK_SAMPLE_OF_GPU_BUSY, 1, STK_SAMPLE_NUMBER(STK_SAMPLE_GPU, 0), "H100", busy);
    ask();
    const struct stk_rep_finding *x = found("device-unused");
    CHECK_EQ(x != NULL, fires);
    CHECK(!x || tells(x, "The machine has 1 GPU, busy at most 1.0% of the time"));
    end();
}

// While others hold the processors any step may be long: a few at equal distances are a chance,
// more are a period.
static void returning(uint32_t steps, bool is_told)
{
    begin(STK_SCOPE_HOST);
    for (uint32_t i = 0; i < FAKE_STEPS; i++) {
        f.steps[i].parts[STK_PART_COMPUTE] = f.steps[i].dur_ns;
    }
    for (uint32_t i = 0; i < steps; i++) {
        f.steps[FAKE_STEPS - 1 - i].long_why = "";
        f.steps[FAKE_STEPS - 1 - i].dur_ns = 5 * FAKE_STEP_NS;
        f.steps[FAKE_STEPS - 1 - i].parts[STK_PART_COMPUTE] = 5 * FAKE_STEP_NS;
    }
    fake_total(&f);
    f.run.facts.long_period = 2;
    workers_on_two(2, 0.49);
    ask();
    CHECK_EQ(found("long-steps") != NULL, is_told);
    end();
}

static void throttled(double share)
{
    begin(STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_HOST, 0.5, -1);
    workers_on_two(2, 0.49);
    of_job(STK_SAMPLE_OF_CGROUP_QUOTA, 2);
    of_job(STK_SAMPLE_OF_CGROUP_PERIODS, share);
    of_job(STK_SAMPLE_OF_CGROUP_THROTTLED, 1);
    of_job(STK_SAMPLE_OF_MACHINE_PROCESSORS, 64);
    of_job(STK_SAMPLE_OF_JOB_THREADS, 40);
    ask();
    const struct stk_rep_finding *x = found("cgroup-throttled");
    CHECK((x != NULL) == (share >= 0.05));
    if (x) {
        CHECK(tells(
            x, "The cgroup was throttled 34% of the time: it used up its quota in 31% of periods"));
        CHECK(tells(x, "The quota is 2 CPU cores; the machine has 64, the job 40 threads"));
        CHECK(x->saving.high_share > 0.3 && x->saving.high_share < 0.35);
        CHECK(!found("processors-short"));
    }
    end();
}

static void disk(double busy, double stalled)
{
    int64_t number = STK_SAMPLE_NUMBER(STK_SAMPLE_DISK, 5);
    begin(STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_INPUT, 0.3, -1);
    counter(STK_SAMPLE_OF_DISK_BUSY, 1, number, "nvme0n1", busy);
    counter(STK_SAMPLE_OF_DISK_READ, 1, number, "nvme0n1", 80e6);
    of_job(STK_SAMPLE_OF_MACHINE_WAIT_IO, stalled);
    process(10, 1, "python");
    f.run.facts.frameworks = stalled > 0.5 ? 1u << STK_FW_TENSORFLOW : 1u << STK_FW_PYTORCH;
    counter(STK_SAMPLE_OF_PROCESS_READ, 10, 0, "python", 78e6);
    ask();
    const struct stk_rep_finding *x = found("disk-busy");
    CHECK((x != NULL) == (busy >= 0.85 && stalled >= 0.1));
    if (x) {
        CHECK(tells(x, "Disk nvme0n1 delivers 80"));
        CHECK(tells(x, "is busy 100% of the time"));
        CHECK(tells(x, "waited for storage 63% of the time"));
        // The text of tfdata.cache names the rule, whose own table stands before it.
        const struct stk_rep_fix *last =
            (const struct stk_rep_fix *)x->fix.items + x->fix.count - 1;
        CHECK(x->fix.count > 1);
        CHECK_STR(last->id, "tfdata.cache");
    }
    end();
}

static void one_thread(double input, double free)
{
    begin(STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_INPUT, input, -1);
    of_job(STK_SAMPLE_OF_JOB_PROCESSORS, 1.05 + free);
    of_job(STK_SAMPLE_OF_JOB_CPU, 1.05);
    process(10, 1, "python");
    counter(STK_SAMPLE_OF_PROCESS_THREADS, 10, 0, "python", 4);
    thread(10, 10, "python", 0.99, 0);
    thread(10, 11, "loader", 0.03, 0);
    thread(10, 12, "loader", 0.03, 0);
    ask();
    const struct stk_rep_finding *x = found("one-thread");
    CHECK((x != NULL) == (input >= 0.1 && free >= 0.7));
    CHECK(!x || tells(x, "is busy 99% of the time, its 3 other threads 6.0% in total"));
    end();
}

// Without a device the busy thread is the step's own: only its input could be made by another.
static void one_thread_of_a_step(double input, double host, bool fires)
{
    begin(STK_SCOPE_HOST);
    fake_part(&f, STK_PART_INPUT, input, -1);
    fake_part(&f, STK_PART_HOST, host, -1);
    of_job(STK_SAMPLE_OF_JOB_PROCESSORS, 4);
    of_job(STK_SAMPLE_OF_JOB_CPU, 1.05);
    process(10, 1, "python");
    thread(10, 10, "python", 0.99, 0);
    ask();
    CHECK((found("one-thread") != NULL) == fires);
    end();
}

static void turns(void)
{
    begin(STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_INPUT, 0.5, -1);
    of_job(STK_SAMPLE_OF_JOB_PROCESSORS, 8);
    of_job(STK_SAMPLE_OF_JOB_CPU, 1);
    process(10, 1, "python");
    for (int i = 0; i < 4; i++) {
        thread(10, 10 + i, "loader", 0.25, 0);
    }
    ask();
    CHECK(tells(found("one-thread"), "4 threads of python (pid 10) took turns"));
    end();
}

static void gpu(unsigned reasons, double clock, double shown)
{
    int64_t number = STK_SAMPLE_NUMBER(STK_SAMPLE_GPU, 0);
    begin(STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_LAUNCH, 0.59, -1);
    counter(STK_SAMPLE_OF_GPU_BUSY, 1, number, "H100", shown);
    counter(STK_SAMPLE_OF_GPU_REASONS, 1, number, "H100", reasons);
    counter(STK_SAMPLE_OF_GPU_SM_CLOCK, 1, number, "H100", clock);
    counter(STK_SAMPLE_OF_GPU_SM_CLOCK_MAX, 1, number, "H100", 2000);
    counter(STK_SAMPLE_OF_GPU_TEMPERATURE, 1, number, "H100", 88);
    counter(STK_SAMPLE_OF_GPM_SM, 1, number, "H100", 0.38);
    ask();
    const struct stk_rep_finding *clocks = found("gpu-clocks"), *util = found("gpu-utilisation");
    CHECK((clocks != NULL) == (reasons == 0x40 && shown >= 0.2));
    CHECK(!clocks || (tells(clocks, "GPU 0 (H100) ran at 1200 MHz on average, of 2000") &&
                      tells(clocks, "Heat slowed it in 100% of samples, at 88 °C")));
    CHECK((util != NULL) == (shown >= 0.66));
    CHECK(!util || (tells(util, "nvidia-smi shows the GPU 96% busy, but kernels run 41%") &&
                    util->severity == STK_LEVEL_INFO));
    end();
}

// GPU 0 is another's, and empty; GPU 1 is the job's.
static void gpu_memory(double used, double idle, bool fires)
{
    begin(STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_HOST, idle, -1);
    for (int gpu = 0; gpu < 2; gpu++) {
        int64_t number = STK_SAMPLE_NUMBER(STK_SAMPLE_GPU, gpu);
        counter(STK_SAMPLE_OF_GPU_MEMORY, 1, number, "H100", gpu ? used * 80e9 : 1e9);
        counter(STK_SAMPLE_OF_GPU_MEMORY_TOTAL, 1, number, "H100", 80e9);
    }
    ask();
    const struct stk_rep_finding *x = found("memory-low");
    CHECK(!x == !fires);
    CHECK(!x || (tells(x, "At most 40% of the GPU's 80.0 GB of memory was in use") &&
                 tells(x, "The GPU computes 80% of the time")));
    CHECK(!x || x->severity == STK_LEVEL_INFO);
    end();
}

static void memory(double stalled, double faults, double killed)
{
    begin(STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_HOST, 0.3, -1);
    of_job(STK_SAMPLE_OF_CGROUP_WAIT_MEMORY, stalled);
    of_job(STK_SAMPLE_OF_CGROUP_MEMORY, 990e6);
    of_job(STK_SAMPLE_OF_CGROUP_MEMORY_LIMIT, 1000e6);
    process(10, 1, "python");
    counter(STK_SAMPLE_OF_PROCESS_MAJOR, 10, 0, "python", faults);
    if (killed > 0) {
        of_job(STK_SAMPLE_OF_CGROUP_KILLS, killed);
    }
    ask();
    const struct stk_rep_finding *x = found("memory-short");
    CHECK((x != NULL) == (stalled >= 0.05 || faults >= 200 || killed > 0));
    CHECK(!x || tells(x, "The cgroup uses up to 990"));
    CHECK(killed <= 0 || (x && x->severity == STK_LEVEL_HIGH && strstr(x->title, "killed")));
    end();
}

// The whole machine's threads waited: the job's only where memory is short, or it reads pages back.
static void memory_of_machine(double left, double faults, bool fires)
{
    begin(STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_HOST, 0.3, -1);
    of_job(STK_SAMPLE_OF_MACHINE_WAIT_MEMORY, 0.1);
    of_job(STK_SAMPLE_OF_MACHINE_MEMORY, 24e9);
    of_job(STK_SAMPLE_OF_MACHINE_AVAILABLE, left);
    process(10, 1, "python");
    counter(STK_SAMPLE_OF_PROCESS_MAJOR, 10, 0, "python", faults);
    ask();
    CHECK((found("memory-short") != NULL) == fires);
    end();
}

// Nothing is wrong: no finding. And none without a record.
static void healthy(void)
{
    static const char *const ids[] = {"processors-short", "cgroup-throttled", "disk-busy",
                                      "memory-short",     "one-thread",       "gpu-clocks",
                                      "gpu-utilisation"};
    for (int with = 0; with < 2; with++) {
        begin(STK_SCOPE_STEPS);
        of_job(STK_SAMPLE_OF_JOB_PROCESSORS, 8);
        of_job(STK_SAMPLE_OF_JOB_CPU, 1.1);
        of_job(STK_SAMPLE_OF_JOB_QUEUE, 0.02);
        process(10, 1, "python");
        thread(10, 10, "python", 1, 0); // spins until the GPU is done
        counter(STK_SAMPLE_OF_GPU_BUSY, 1, STK_SAMPLE_NUMBER(STK_SAMPLE_GPU, 0), "H100", 0.99);
        counter(STK_SAMPLE_OF_GPU_REASONS, 1, STK_SAMPLE_NUMBER(STK_SAMPLE_GPU, 0), "H100", 4);
        if (with) {
            ask();
        } else {
            fake_ask(&f);
        }
        for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
            CHECK(!found(ids[i]));
        }
        end();
    }
}

// Figures of a time: sums of what is written, weighted by what it covers; states that hold on.
static void figures(void)
{
    begin(STK_SCOPE_STEPS);
    of_job(STK_SAMPLE_OF_JOB_CPU, 2);
    w.machine.sample_count -= LOOKS / 2; // the second half of the looks wrote nothing
    w.series[2].count = LOOKS / 2;
    of_job(STK_SAMPLE_OF_JOB_PROCESSORS, 4);
    w.series[3].count = 1; // stated once, at the first look
    struct stk_machine_view *v = stk_machine_look(&w.machine, 0, 0, &f.arena);
    CHECK(v && !v->is_of_profile && v->looks == LOOKS);
    CHECK_EQ(stk_machine_mean(v, STK_SAMPLE_OF_JOB_CPU), 1);
    CHECK_EQ(stk_machine_mean(v, STK_SAMPLE_OF_JOB_PROCESSORS), 4);
    v = stk_machine_look(&w.machine, 12 * SECOND, 15 * SECOND, &f.arena);
    CHECK(v && v->is_of_profile && v->looks == 4);
    CHECK_EQ(stk_machine_mean(v, STK_SAMPLE_OF_JOB_CPU), 0);
    CHECK_EQ(stk_machine_mean(v, STK_SAMPLE_OF_JOB_PROCESSORS), 4);
    CHECK(stk_machine_figure_of(v, STK_SAMPLE_OF_JOB_CPU) == NULL);
    end();
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(processors);
    CHECK_RUN(worker_threads, 0.5, 0.95, true);
    CHECK_RUN(worker_threads, 0.3, 0.3, false);
    CHECK_RUN(others_hold, 0.4, 1.0, true, 1 - 0.4 / 1.4);
    CHECK_RUN(others_hold, 0.4, 3.0, true, 1 - 0.4 / 2);    // more threads than it has cores
    CHECK_RUN(others_hold, 1.4, 2.0, false, 1 - 1.4 / 3.4); // most of the queue is its own
    CHECK_RUN(unused_gpu, 0.01, true);
    CHECK_RUN(unused_gpu, 0.02, false);
    CHECK_RUN(returning, 2, false);
    CHECK_RUN(returning, 4, true);
    CHECK_RUN(throttled, 0.31);
    CHECK_RUN(throttled, 0.04);
    CHECK_RUN(disk, 1, 0.63);
    CHECK_RUN(disk, 0.8, 0.63);
    CHECK_RUN(disk, 1, 0.05);
    CHECK_RUN(one_thread, 0.5, 3);
    CHECK_RUN(one_thread, 0.05, 3);
    CHECK_RUN(one_thread, 0.5, 0.5);
    CHECK_RUN(one_thread_of_a_step, 0.4, 0.05, true);
    CHECK_RUN(one_thread_of_a_step, 0.04, 0.4, false);
    CHECK_RUN(turns);
    CHECK_RUN(gpu, 0x40, 1200, 0.96);
    CHECK_RUN(gpu, 0x01, 1200, 0.6);
    CHECK_RUN(gpu, 0x40, 1200, 0.1);
    CHECK_RUN(gpu_memory, 0.4, 0.2, true);
    CHECK_RUN(gpu_memory, 0.6, 0.2, false);
    CHECK_RUN(gpu_memory, 0.4, 0.05, false);
    CHECK_RUN(memory_of_machine, 20e9, 2, false);
    CHECK_RUN(memory_of_machine, 1e9, 2, true);
    CHECK_RUN(memory_of_machine, 20e9, 40, true);
    CHECK_RUN(memory, 0.2, 3, 0);
    CHECK_RUN(memory, 0.01, 300, 0);
    CHECK_RUN(memory, 0, 0, 2);
    CHECK_RUN(memory, 0.04, 100, 0);
    CHECK_RUN(healthy);
    CHECK_RUN(figures);
    return check_done("unit.rules_machine");
}
