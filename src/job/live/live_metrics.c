// SPDX-License-Identifier: Apache-2.0
// A moment as metrics in Prometheus' text format (0.0.4), which OpenTelemetry's collector and the
// node exporter's textfile collector also read: one family after the other, each with HELP and
// TYPE, and "# EOF" after the last, so that a reader of a pipe can separate moments.
//
// Idle time of a GPU by cause: the part of the time that NVML reports as idle is attributed to the
// input, up to the share of the step that waits for it; the rest to the step itself. If no fetch is
// seen, it is unknown.
//
// Counters of the sampler have their name from samples.def, with the unit appended. Those of single
// processes and threads are left out: they would make a series for each one that ever ran.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/text.h"
#include "job/live/now.h"

enum { METRIC_NAME = 96, THING_BITS = 0xffffff };

// The suffix of a counter's name; "": a count. NULL: not a gauge.
static const struct {
    const char *unit, *suffix;
    double factor;
} units[] = {{"", "", 1},
             {"share", "_ratio", 1},
             {"ns", "_seconds", 1e-9},
             {"bytes", "_bytes", 1},
             {"bytes/s", "_bytes_per_second", 1},
             {"1/s", "_per_second", 1},
             {"processors", "_cores", 1},
             {"MHz", "_hertz", 1e6},
             {"W", "_watts", 1},
             {"C", "_celsius", 1},
             {"bits", NULL, 1}};

// ---- the format ----

static void put_family(struct stk_sink *to, const char *name, const char *type, const char *help)
{
    stk_sink_text(to, "# HELP ");
    stk_sink_text(to, name);
    stk_sink_text(to, " ");
    stk_sink_text(to, help); // stoker's own text: no backslash or line end
    stk_sink_text(to, "\n# TYPE ");
    stk_sink_text(to, name);
    stk_sink_text(to, " ");
    stk_sink_text(to, type);
    stk_sink_text(to, "\n");
}

// ="VALUE", escaped: it isn't stoker's own text.
static void put_label(struct stk_sink *to, const char *before, const char *value)
{
    struct stk_str s = stk_str_from(value);
    STK_ASSERT(before && value);
    struct stk_text_piece piece;
    stk_sink_text(to, before);
    stk_sink_text(to, "=\"");
    for (; s.n; s.p += piece.taken, s.n -= piece.taken) {
        stk_text_shown(&piece, s, false);
        if (*piece.text == '"' || *piece.text == '\\') {
            stk_sink_text(to, "\\");
        }
        stk_sink_put(to, piece.text, piece.n);
    }
    stk_sink_text(to, "\"");
}

static void put_value(struct stk_sink *to, const char *before, double value)
{
    stk_sink_text(to, before);
    stk_sink_real(to, isfinite(value) ? value : 0);
    stk_sink_text(to, "\n");
}

// ---- steps ----

static void put_rank(struct stk_sink *to, const char *name, const struct stk_live_rank *r)
{
    stk_sink_text(to, name);
    stk_sink_printf(to, "{rank=\"%lld\",pid=\"%llu\"", (long long)r->head.rank,
                    (unsigned long long)r->head.pid);
    put_label(to, ",framework", r->head.framework);
}

enum step_metric { STEPS, STEP_NOW, STEP_MEDIAN, PER_SECOND, INPUT_WAIT, SINCE_STEP, STEP_METRICS };
static const struct {
    const char *name, *type, *help;
} step_metrics[STEP_METRICS] = {
    {"stoker_steps_total", "counter", "steps that the process has run"},
    {"stoker_step_seconds", "gauge", "mean duration of the steps in the last seconds"},
    {"stoker_step_median_seconds", "gauge", "median duration of the last 512 steps"},
    {"stoker_steps_per_second", "gauge", "steps per second, over the last seconds"},
    {"stoker_input_wait_ratio", "gauge", "share of the step that waits for input"},
    {"stoker_since_last_step_seconds", "gauge", "time since the last step ended"},
};

// False: unknown.
static bool step_value(const struct stk_live_rank *r, enum step_metric which, double *value)
{
    STK_ASSERT(which < STEP_METRICS);
    switch (which) {
    case STEPS:
        *value = (double)r->head.count;
        return true;
    case STEP_NOW:
        *value = (double)r->now_ns * 1e-9;
        return r->now_ns > 0;
    case STEP_MEDIAN:
        *value = (double)r->median_ns * 1e-9;
        return r->median_ns > 0;
    case PER_SECOND:
        *value = r->per_second;
        return r->per_second >= 0;
    case INPUT_WAIT:
        *value = r->wait_share;
        return r->recent && r->wait_share >= 0;
    default:
        *value = r->age_s;
        return r->age_s >= 0;
    }
}

static void put_steps(const struct stk_now *now, struct stk_sink *to)
{
    for (int m = 0; now->steps && m < STEP_METRICS; m++) {
        bool any = false;
        for (size_t i = 0; i < now->steps->count; i++) {
            double value;
            if (!step_value(now->steps->ranks[i], (enum step_metric)m, &value)) {
                continue;
            }
            if (!any) {
                put_family(to, step_metrics[m].name, step_metrics[m].type, step_metrics[m].help);
                any = true;
            }
            put_rank(to, step_metrics[m].name, now->steps->ranks[i]);
            put_value(to, "} ", value);
        }
    }
}

// ---- GPUs ----

static void put_idle(const struct stk_now *now, struct stk_sink *to)
{
    static const char *const name = "stoker_gpu_idle_ratio";
    const struct stk_live_rank *lead = now->lead;
    bool is_known = lead && lead->recent && lead->wait_share >= 0, any = false;
    for (uint32_t i = 0; now->view && i < now->view->machine->series_count; i++) {
        const struct stk_machine_series *s = &now->view->machine->series[i];
        if (s->sample != STK_SAMPLE_OF_GPU_BUSY || !now->view->figures[i].samples) {
            continue;
        }
        double idle = fmin(fmax(1 - now->view->figures[i].mean, 0), 1);
        double input = is_known ? fmin(idle, lead->wait_share) : 0;
        if (!any) {
            put_family(to, name, "gauge",
                       "share of the time in which the GPU ran nothing, by what the step waited "
                       "for; the causes of a GPU add up to its idle time");
            any = true;
        }
        stk_sink_printf(to, "%s{gpu=\"%lld\",cause=\"input\"", name,
                        (long long)(s->number & THING_BITS));
        put_value(to, "} ", input);
        stk_sink_printf(to, "%s{gpu=\"%lld\",cause=\"%s\"", name,
                        (long long)(s->number & THING_BITS), is_known ? "other" : "unknown");
        put_value(to, "} ", idle - input);
    }
}

// ---- the sampler's counters ----

// Makes "stoker_gpu_power_watts" from "gpu.power"; false: not a gauge.
static bool name_counter(const struct stk_sample_info *info, char name[METRIC_NAME], double *factor)
{
    STK_ASSERT(info->name && info->unit);
    for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
        if (strcmp(units[u].unit, info->unit) == 0) {
            snprintf(name, METRIC_NAME, "stoker_%s%s", info->name,
                     units[u].suffix ? units[u].suffix : "");
            for (char *dot = name; (dot = strchr(dot, '.'));) {
                *dot = '_';
            }
            *factor = units[u].factor;
            return units[u].suffix != NULL;
        }
    }
    return false;
}

static void put_counter(const struct stk_now *now, enum stk_sampled id, struct stk_sink *to)
{
    const struct stk_sample_info *info = stk_sample_info(id);
    const char *label = info->scope == STK_SAMPLE_GPU    ? "gpu"
                        : info->scope == STK_SAMPLE_DISK ? "disk"
                                                         : NULL;
    char name[METRIC_NAME];
    double factor;
    bool any = false;
    STK_ASSERT(id < STK_SAMPLE_COUNT && now->view);
    if (!name_counter(info, name, &factor)) {
        return;
    }
    for (uint32_t i = 0; i < now->view->machine->series_count; i++) {
        const struct stk_machine_series *s = &now->view->machine->series[i];
        if (s->sample != id || !now->view->figures[i].samples) {
            continue;
        }
        if (!any) {
            put_family(to, name, "gauge", info->meaning);
            any = true;
        }
        stk_sink_text(to, name);
        if (label) {
            stk_sink_printf(to, "{%s=\"%lld\"", label, (long long)(s->number & THING_BITS));
            put_label(to, ",name", s->name);
        }
        put_value(to, label ? "} " : " ", now->view->figures[i].mean * factor);
    }
}

static void put_counters(const struct stk_now *now, struct stk_sink *to)
{
    for (int i = 0; now->view && i < STK_SAMPLE_COUNT; i++) {
        const struct stk_sample_info *info = stk_sample_info((enum stk_sampled)i);
        bool is_single = info->scope == STK_SAMPLE_PROCESS || info->scope == STK_SAMPLE_THREAD ||
                         info->scope == STK_SAMPLE_SOURCE;
        if (!is_single && info->cadence != STK_SAMPLE_ONCE) {
            put_counter(now, (enum stk_sampled)i, to);
        }
    }
}

// ---- the job ----

static void put_state(const struct stk_now *now, struct stk_sink *to)
{
    static const char *const states[] = {"running", "silent", "ended"};
    int state = now->has_ended ? 2 : now->silent_s > 0 ? 1 : 0;
    put_family(to, "stoker_job_state", "gauge",
               "1 for the job's current state; silent: its record doesn't grow");
    for (int i = 0; i < 3; i++) {
        stk_sink_printf(to, "stoker_job_state{state=\"%s\"} %d\n", states[i], i == state);
    }
}

static void put_findings(const struct stk_now *now, struct stk_sink *to)
{
    if (now->finding_count) {
        put_family(to, "stoker_finding", "gauge", "1 for each machine rule that fires");
    }
    for (size_t i = 0; i < now->finding_count; i++) {
        put_label(to, "stoker_finding{rule", now->findings[i].id);
        put_label(to, ",severity", now->findings[i].severity);
        stk_sink_text(to, "} 1\n");
    }
}

void stk_now_metrics(const struct stk_now *now, struct stk_sink *to)
{
    put_state(now, to);
    put_steps(now, to);
    put_idle(now, to);
    put_findings(now, to);
    put_counters(now, to);
    stk_sink_text(to, "# EOF\n");
}
