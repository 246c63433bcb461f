// SPDX-License-Identifier: Apache-2.0
// What did the machine do while the job ran: processes, limits, disks, memory, GPUs?
// From the record that a run's sampler leaves next to the profile (machine.stk), over the profile's
// time, or the whole record if they don't overlap. Means are over time, and a value missing from a
// look counts as 0; columns have the units of their counters (docs/sampler.md). Limits: processes
// that live less than a second may be missed; a GPU's figures cover the whole GPU.
#include <string.h>

#include "profile/model/machine/machine.h"
#include "answers/passes/stats/stats.h"

#define PROCESSES_COLUMNS(C, R)                                                                    \
    C(R, process, TEXT, "name of the process's first thread", .is_name = true)                     \
    C(R, pid, NUMBER, "its process number")                                                        \
    C(R, parent, NUMBER, "process number of its parent", .is_detail = true)                        \
    C(R, running, REAL, "CPU cores that its threads used, summed")                                 \
    C(R, waiting, REAL, "runnable threads waiting for a core, on average")                         \
    C(R, busiest_share, SHARE, "share of the time that its busiest thread ran")                    \
    C(R, busiest_thread, TEXT, "name of that thread", .is_name = true, .is_detail = true)          \
    C(R, threads, COUNT, "most threads at once")                                                   \
    C(R, active, COUNT, "threads that ran for 1% of the time or more", .is_detail = true)          \
    C(R, read_bytes_per_s, RATE, "bytes read from storage")                                        \
    C(R, write_bytes_per_s, RATE, "bytes written to storage", .is_detail = true)                   \
    C(R, major_faults_per_s, RATE, "page faults that read from storage", .is_detail = true)        \
    C(R, resident_bytes, BYTES, "peak memory")
STK_TABLE(processes, "Processes by work", PROCESSES_COLUMNS)

#define FIGURES_COLUMNS(C, R)                                                                      \
    C(R, counter, TEXT, "counter, as listed in docs/sampler.md")                                   \
    C(R, of, TEXT, "the disk or GPU; empty for the machine and the job")                           \
    C(R, mean, REAL, "mean over time")                                                             \
    C(R, most, REAL, "largest value")                                                              \
    C(R, last, REAL, "last value", .is_detail = true)                                              \
    C(R, unit, TEXT, "unit of the values")                                                         \
    C(R, samples, COUNT, "values written in that time", .is_detail = true)
STK_TABLE(figures, "Counters of the job and the machine", FIGURES_COLUMNS)

#define ABSENT_COLUMNS(C, R) C(R, source, TEXT, "what couldn't be sampled, and why")
STK_TABLE(absent, "Not sampled", ABSENT_COLUMNS)

#define MACHINE_FIGURES(C, R)                                                                      \
    C(R, sampled_ns, NS, "time that the figures cover", .label = "sampled for")                    \
    C(R, looks, COUNT, "samples in that time", .label = "samples")                                 \
    C(R, of_profile, BOOL, "whether that is the profile's time; otherwise it is the whole record", \
      .label = "covers the profile only")                                                          \
    C(R, processors, REAL, "CPU cores that the job may use", .label = "CPU cores available")       \
    C(R, running, REAL, "CPU cores that its threads used, on average", .label = "CPU cores used")  \
    C(R, waiting, REAL, "runnable threads waiting for a core, on average",                         \
      .label = "threads waiting for a core")                                                       \
    C(R, throttled_share, SHARE, "share of periods in which the cgroup used up its quota",         \
      .label = "periods throttled")                                                                \
    C(R, sampler_share, SHARE, "share of one CPU core that sampling took",                         \
      .label = "sampler cost, of one core")                                                        \
    C(R, other_records, COUNT,                                                                     \
      "records of other machines or times that were passed but aren't shown",                      \
      .label = "other machine records")
STK_SUMMARY(machine, MACHINE_FIGURES)

static const struct stk_missing no_record = {"samples of the machine",
                                             "there is no machine.stk next to the profile",
                                             "start the job with `stoker run -- COMMAND`, which "
                                             "samples the machine, and pass the run's folder"};

// Without the digits that binary fractions add.
static double tidy(double value)
{
    double scale = value < 1e3 && value > -1e3 ? 1e4 : 1;
    return value > 1e15 || value < -1e15
               ? value
               : (double)(int64_t)(value * scale + (value < 0 ? -0.5 : 0.5)) / scale;
}

static int64_t whole(double value)
{
    return value > 0 && value < 9e18 ? (int64_t)value : 0;
}

static void fill_machine_processes(struct stk_table *table, const struct stk_machine_view *v)
{
    for (uint32_t i = 0; i < v->process_count; i++) {
        const struct stk_machine_process *p = &v->processes[i];
        const struct processes_row row = {
            .process = stk_cell_text(p->name),
            .pid = stk_cell_number(p->pid),
            .parent = stk_cell_from_zero(p->parent),
            .running = stk_cell_ratio(tidy(p->cpu)),
            .waiting = stk_cell_ratio(tidy(p->queue)),
            .busiest_share = stk_cell_ratio(p->busiest < 1 ? p->busiest : 1),
            .busiest_thread = p->busiest > 0 ? stk_cell_text(p->busiest_name) : stk_cell_unknown(),
            .threads = stk_cell_number(p->threads),
            .active = stk_cell_number(p->active),
            .read_bytes_per_s = stk_cell_ratio(tidy(p->read)),
            .write_bytes_per_s = stk_cell_ratio(tidy(p->write)),
            .major_faults_per_s = stk_cell_ratio(tidy(p->major)),
            .resident_bytes = stk_cell_number(whole(p->resident)),
        };
        stk_table_put(table, &row);
    }
}

static void fill_machine_figures(struct stk_table *figures, struct stk_table *absent,
                                 const struct stk_machine_view *v)
{
    for (uint32_t i = 0; i < v->machine->series_count; i++) {
        const struct stk_machine_series *s = &v->machine->series[i];
        const struct stk_machine_figure *f = &v->figures[i];
        const struct stk_sample_info *info = s->info;
        if (info->scope == STK_SAMPLE_SOURCE) {
            const struct absent_row row = {.source = stk_cell_text(s->name)};
            stk_table_put(absent, &row);
        } else if (info->scope != STK_SAMPLE_THREAD && info->scope != STK_SAMPLE_PROCESS &&
                   f->samples) {
            bool is_thing = info->scope == STK_SAMPLE_DISK || info->scope == STK_SAMPLE_GPU;
            const struct figures_row row = {
                .counter = stk_cell_text(info->name),
                .of = is_thing ? stk_cell_text(s->name) : stk_cell_unknown(),
                .mean = stk_cell_ratio(tidy(f->mean)),
                .most = stk_cell_ratio(tidy(f->most)),
                .last = stk_cell_ratio(tidy(f->last)),
                .unit = *info->unit ? stk_cell_text(info->unit) : stk_cell_unknown(),
                .samples = stk_cell_number(f->samples),
            };
            stk_table_put(figures, &row);
        }
    }
}

static struct stk_cell mean_of(const struct stk_machine_view *v, enum stk_sampled sample)
{
    const struct stk_machine_figure *f = stk_machine_figure_of(v, sample);
    return f ? stk_cell_ratio(tidy(f->mean)) : stk_cell_unknown();
}

static void machine_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    const struct stk_machine_view *v = ctx->run->machine;
    struct stk_table *processes = stk_table_add(doc, &processes_table);
    struct stk_table *figures = stk_table_add(doc, &figures_table);
    struct stk_table *absent = stk_table_add(doc, &absent_table);
    if (!v) {
        stk_table_lacks(doc, &no_record);
        doc->inconclusive = true;
        return;
    }
    fill_machine_processes(processes, v);
    fill_machine_figures(figures, absent, v);
    double cost = stk_machine_mean(v, STK_SAMPLE_OF_COST);
    const struct stk_machine_figure *quota = stk_machine_figure_of(v, STK_SAMPLE_OF_CGROUP_QUOTA);
    double throttled = stk_machine_mean(v, STK_SAMPLE_OF_CGROUP_PERIODS);
    const struct machine_summary summary = {
        .sampled_ns = stk_cell_number(v->to_ns - v->from_ns),
        .looks = stk_cell_number(v->looks),
        .of_profile = stk_cell_truth(v->is_of_profile),
        .processors = mean_of(v, STK_SAMPLE_OF_JOB_PROCESSORS),
        .running = mean_of(v, STK_SAMPLE_OF_JOB_CPU),
        .waiting = mean_of(v, STK_SAMPLE_OF_JOB_QUEUE),
        .throttled_share =
            quota ? stk_cell_ratio(throttled < 1 ? throttled : 1) : stk_cell_unknown(),
        .sampler_share = stk_cell_ratio(cost < 1 ? cost : 1),
        .other_records = stk_cell_number(v->left_out),
    };
    stk_table_summarize(doc, &machine_summary_info, &summary);
}

const struct stk_stats stk_stats_machine = {
    .name = "machine",
    .question = "What did the machine do while the job ran: processes, limits, disks, GPUs?",
    .needs = "a machine record (machine.stk) next to the profile",
    .tables = {&processes_table, &figures_table, &absent_table},
    .summary = &machine_summary_info,
    .missing = {&no_record},
    .describe = machine_describe,
};
