// SPDX-License-Identifier: Apache-2.0
// What did the machine do while the job ran: processes, limits, disks, memory, GPUs?
// From the record that the sampler of a run leaves beside the profile (machine.stk), over the time
// of the profile, or all of the record where they share none. Means are over time, what was not
// written at a look counts as 0; the columns' units are those of the counter (docs/sampler.md).
// Limits: what lives shorter than a second may be missed; figures of a GPU are of the whole GPU.
#include <string.h>

#include "profile/model/machine/machine.h"
#include "answers/passes/stats/stats.h"

struct processes_row {
    struct stk_cell process, pid, parent, running, waiting, busiest_share, busiest_thread, threads,
        active, read_bytes_per_s, write_bytes_per_s, major_faults_per_s, resident_bytes;
};
static const struct stk_column processes_columns[] = {
    STK_COLUMN(processes_row, process, TEXT, "name of the process's first thread", .is_name = true),
    STK_COLUMN(processes_row, pid, NUMBER, "its process number"),
    STK_COLUMN(processes_row, parent, NUMBER, "process number of its parent", .is_detail = true),
    STK_COLUMN(processes_row, running, REAL, "CPU cores that its threads used, summed"),
    STK_COLUMN(processes_row, waiting, REAL, "runnable threads waiting for a core, on average"),
    STK_COLUMN(processes_row, busiest_share, SHARE,
               "share of the time that its busiest thread ran"),
    STK_COLUMN(processes_row, busiest_thread, TEXT, "name of that thread", .is_name = true,
               .is_detail = true),
    STK_COLUMN(processes_row, threads, COUNT, "most threads at once"),
    STK_COLUMN(processes_row, active, COUNT, "threads that ran for 1% of the time or more",
               .is_detail = true),
    STK_COLUMN(processes_row, read_bytes_per_s, RATE, "bytes read from storage"),
    STK_COLUMN(processes_row, write_bytes_per_s, RATE, "bytes written to storage",
               .is_detail = true),
    STK_COLUMN(processes_row, major_faults_per_s, RATE, "page faults that read from storage",
               .is_detail = true),
    STK_COLUMN(processes_row, resident_bytes, BYTES, "peak memory"),
};
static const struct stk_table_info processes_table =
    STK_TABLE_INFO("processes", "Processes by work", processes_row, processes_columns);

struct figures_row {
    struct stk_cell counter, of, mean, most, last, unit, samples;
};
static const struct stk_column figures_columns[] = {
    STK_COLUMN(figures_row, counter, TEXT, "counter, as listed in docs/sampler.md"),
    STK_COLUMN(figures_row, of, TEXT, "the disk or GPU; empty for the machine and the job"),
    STK_COLUMN(figures_row, mean, REAL, "mean over time"),
    STK_COLUMN(figures_row, most, REAL, "largest value"),
    STK_COLUMN(figures_row, last, REAL, "last value", .is_detail = true),
    STK_COLUMN(figures_row, unit, TEXT, "unit of the values"),
    STK_COLUMN(figures_row, samples, COUNT, "values written in that time", .is_detail = true),
};
static const struct stk_table_info figures_table =
    STK_TABLE_INFO("figures", "Counters of the job and the machine", figures_row, figures_columns);

struct absent_row {
    struct stk_cell source;
};
static const struct stk_column absent_columns[] = {
    STK_COLUMN(absent_row, source, TEXT, "what couldn't be sampled, and why"),
};
static const struct stk_table_info absent_table =
    STK_TABLE_INFO("absent", "Not sampled", absent_row, absent_columns);

struct machine_summary {
    struct stk_cell sampled_ns, looks, of_profile, processors, running, waiting, throttled_share,
        sampler_share, other_records;
};
static const struct stk_column machine_figures[] = {
    STK_COLUMN(machine_summary, sampled_ns, NS, "time that the figures cover",
               .label = "sampled for"),
    STK_COLUMN(machine_summary, looks, COUNT, "samples in that time", .label = "samples"),
    STK_COLUMN(machine_summary, of_profile, BOOL,
               "whether that is the profile's time; otherwise it is the whole record",
               .label = "covers the profile only"),
    STK_COLUMN(machine_summary, processors, REAL, "CPU cores that the job may use",
               .label = "CPU cores available"),
    STK_COLUMN(machine_summary, running, REAL, "CPU cores that its threads used, on average",
               .label = "CPU cores used"),
    STK_COLUMN(machine_summary, waiting, REAL, "runnable threads waiting for a core, on average",
               .label = "threads waiting for a core"),
    STK_COLUMN(machine_summary, throttled_share, SHARE,
               "share of periods in which the cgroup used up its quota",
               .label = "periods throttled"),
    STK_COLUMN(machine_summary, sampler_share, SHARE, "share of one CPU core that sampling took",
               .label = "sampler cost, of one core"),
    STK_COLUMN(machine_summary, other_records, COUNT,
               "records of other machines or times that were passed but aren't shown",
               .label = "other machine records"),
};
static const struct stk_summary_info machine_summary_info =
    STK_SUMMARY_INFO(machine_summary, machine_figures);

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

static bool fill_machine_processes(struct stk_table *table, const struct stk_machine_view *v)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < v->process_count; i++) {
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
        ok = stk_table_put(table, &row);
    }
    return ok;
}

static bool fill_machine_figures(struct stk_table *figures, struct stk_table *absent,
                                 const struct stk_machine_view *v)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < v->machine->series_count; i++) {
        const struct stk_machine_series *s = &v->machine->series[i];
        const struct stk_machine_figure *f = &v->figures[i];
        const struct stk_sample_info *info = s->info;
        if (info->scope == STK_SAMPLE_SOURCE) {
            const struct absent_row row = {.source = stk_cell_text(s->name)};
            ok = stk_table_put(absent, &row);
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
            ok = stk_table_put(figures, &row);
        }
    }
    return ok;
}

static struct stk_cell mean_of(const struct stk_machine_view *v, enum stk_sampled sample)
{
    const struct stk_machine_figure *f = stk_machine_figure_of(v, sample);
    return f ? stk_cell_ratio(tidy(f->mean)) : stk_cell_unknown();
}

static enum stoker_status machine_describe(const struct stk_pass_ctx *ctx,
                                           struct stk_table_doc *doc, struct stoker_err *err)
{
    const struct stk_machine_view *v = ctx->run->machine;
    struct stk_table *processes = stk_table_add(doc, &processes_table);
    struct stk_table *figures = stk_table_add(doc, &figures_table);
    struct stk_table *absent = stk_table_add(doc, &absent_table);
    if (!v) {
        stk_table_lacks(doc, &no_record);
        doc->inconclusive = true;
        return STOKER_OK;
    }
    if (!fill_machine_processes(processes, v) || !fill_machine_figures(figures, absent, v)) {
        return stk_err_nomem(err);
    }
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
    return STOKER_OK;
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
