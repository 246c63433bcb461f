// SPDX-License-Identifier: Apache-2.0
// A moment as a screen of lines, or as one line. Each line fits the width: it is built from cells
// of one column each, so all names are harmless and cut correctly.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/human.h"
#include "base/text.h"
#include "job/live/now.h"

enum {
    COLUMNS_LEAST = 20,
    COLUMNS_MOST = 240,
    LABEL = 8,
    ROWS_ALL = 1 << 20,
    PROCESSES = 12,
    THREADS = 4,
    BAR = 32
};
#define THREAD_WORTH 0.01 // of a processor: threads below it get no line

struct page {
    const struct stk_now *now;
    struct stk_sink *to;
    int columns, rows; // rows: still free
    bool colour, is_ascii;
    char line[COLUMNS_MOST * 4 + 1];
    size_t n;
    int used; // columns
};

// ---- lines ----

static void add(struct page *p, const char *text)
{
    struct stk_str s = stk_str_from(text);
    struct stk_text_piece piece;
    for (; s.n && p->used < p->columns; s.p += piece.taken, s.n -= piece.taken, p->used++) {
        stk_text_shown(&piece, s, p->is_ascii);
        if (p->n + piece.n >= sizeof p->line) {
            return;
        }
        memcpy(p->line + p->n, piece.text, piece.n);
        p->n += piece.n;
    }
}

static void STK_PRINTF(2, 3) addf(struct page *p, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    stk_text_vprintf(text, sizeof text, fmt, args);
    va_end(args);
    add(p, text);
}

static void pad_to(struct page *p, int column)
{
    while (p->used < column && p->used < p->columns) {
        add(p, " ");
    }
}

// Ends the line and removes blanks at its end; style: an ANSI sequence for the whole line, or NULL.
static void end_line(struct page *p, const char *style)
{
    while (p->n && p->line[p->n - 1] == ' ') {
        p->n--;
    }
    if (p->rows > 0) {
        if (p->colour && style) {
            stk_sink_text(p->to, style);
        }
        stk_sink_put(p->to, p->line, p->n);
        stk_sink_text(p->to, p->colour && style ? "\x1b[0m\n" : "\n");
        p->rows--;
    }
    p->n = 0;
    p->used = 0;
}

static void label(struct page *p, const char *text)
{
    add(p, text);
    pad_to(p, LABEL);
}

// Separates known values: "a, b, c".
static void between(struct page *p, bool *any)
{
    if (*any) {
        add(p, "   ");
    }
    *any = true;
}

static const char *share(double value, char buf[STK_HUMAN_MAX])
{
    return stk_human_share(value, buf);
}

static const char *bytes(double value, char buf[STK_HUMAN_MAX])
{
    return stk_human_bytes((uint64_t)fmin(fmax(value, 0), 1e18), buf);
}

static const char *step(uint64_t ns, char buf[STK_HUMAN_MAX])
{
    return stk_human_ns(ns < INT64_MAX ? (int64_t)ns : INT64_MAX, buf);
}

// ---- the head ----

// Breaks a sentence at blanks.
static void put_sentence(struct page *p, const char *text, const char *style)
{
    while (*text) {
        size_t n = strlen(text), width = (size_t)p->columns;
        if (n > width) {
            n = width;
            while (n > 0 && text[n] != ' ') {
                n--;
            }
            n = n ? n : width;
        }
        char part[COLUMNS_MOST + 1];
        snprintf(part, sizeof part, "%.*s", (int)n, text);
        add(p, part);
        end_line(p, style);
        text += n;
        text += *text == ' ';
    }
}

static void put_head(struct page *p)
{
    const struct stk_now *now = p->now;
    add(p, "stoker top  ");
    if (*now->target->command) {
        add(p, now->target->command);
    } else if (now->steps) {
        add(p, now->steps->folder);
    }
    end_line(p, "\x1b[2m");
    put_sentence(p, now->sentence, "\x1b[1m");
    end_line(p, NULL);
}

// ---- steps ----

static void put_bar(struct page *p, double value)
{
    int full = (int)(value * BAR + 0.5);
    for (int i = 0; i < BAR; i++) {
        add(p, i < full ? p->is_ascii ? "#" : "\xe2\x96\x88" : p->is_ascii ? "." : "\xe2\x96\x91");
    }
}

static void put_steps(struct page *p, const struct stk_live_rank *r)
{
    char a[STK_HUMAN_MAX], b[STK_HUMAN_MAX];
    bool any = false;
    label(p, "steps");
    if (r->now_ns) {
        between(p, &any);
        addf(p, "now %s", step(r->now_ns, a));
    }
    if (r->median_ns) {
        between(p, &any);
        addf(p, "median %s", step(r->median_ns, b));
    }
    if (r->per_second >= 0) {
        between(p, &any);
        addf(p, "%.3g/s", r->per_second);
    }
    between(p, &any);
    addf(p, "%s of them", stk_human_count(r->head.count, a));
    if (*r->head.framework) {
        between(p, &any);
        add(p, r->head.framework);
    }
    if (r->in_window) {
        add(p, "   being profiled");
    }
    end_line(p, NULL);
    label(p, "input");
    if (r->wait_share >= 0 && r->recent) {
        put_bar(p, r->wait_share);
        addf(p, " %s of the step", share(r->wait_share, a));
    } else {
        add(p, r->head.source == STK_STEPS_KERAS
                   ? "wait unknown: Keras fetches inside the compiled step"
                   : "wait unknown: no fetch seen");
    }
    end_line(p, NULL);
}

static void put_ranks(struct page *p)
{
    const struct stk_live_steps *s = p->now->steps;
    char a[STK_HUMAN_MAX], b[STK_HUMAN_MAX];
    uint64_t least = UINT64_MAX, most = 0;
    double wait_least = 2, wait_most = -1;
    for (size_t i = 0; i < s->count; i++) {
        const struct stk_live_rank *r = s->ranks[i];
        if (r->now_ns) {
            least = r->now_ns < least ? r->now_ns : least;
            most = r->now_ns > most ? r->now_ns : most;
        }
        if (r->wait_share >= 0 && r->recent) {
            wait_least = fmin(wait_least, r->wait_share);
            wait_most = fmax(wait_most, r->wait_share);
        }
    }
    label(p, "ranks");
    addf(p, "%zu", s->count);
    if (most) {
        addf(p, "   steps %s to %s", step(least, a), step(most, b));
    }
    if (wait_most >= 0) {
        addf(p, "   input wait %s to %s", share(wait_least, a), share(wait_most, b));
    }
    end_line(p, NULL);
}

static void put_no_steps(struct page *p)
{
    label(p, "steps");
    add(p, p->now->steps ? "none seen yet; the hooks report them once the job trains"
                         : "unknown; start the job with `stoker run -- COMMAND` to see them");
    end_line(p, "\x1b[2m");
}

// ---- the machine ----

static bool known(const struct page *p, enum stk_sampled sample, double *value)
{
    return stk_now_figure(p->now, sample, -1, 0, value);
}

static void put_load(struct page *p)
{
    char a[STK_HUMAN_MAX];
    double cpu, queue, own, all, steal;
    label(p, "cpu");
    if (known(p, STK_SAMPLE_OF_JOB_CPU, &cpu)) {
        addf(p, "%.2f", cpu);
        if (known(p, STK_SAMPLE_OF_JOB_PROCESSORS, &own)) {
            addf(p, " of %.3g", own);
        }
        add(p, " cores in use");
    }
    if (known(p, STK_SAMPLE_OF_JOB_QUEUE, &queue)) {
        addf(p, ", %.2f threads waiting", queue);
    }
    if (known(p, STK_SAMPLE_OF_MACHINE_CPU, &all)) {
        addf(p, "   machine %s", share(all, a));
    }
    if (known(p, STK_SAMPLE_OF_MACHINE_STEAL, &steal) && steal >= 0.01) {
        addf(p, "   stolen %s", share(steal, a));
    }
    end_line(p, NULL);
}

static void put_limits(struct page *p)
{
    char a[STK_HUMAN_MAX], b[STK_HUMAN_MAX];
    double quota, periods = 0, memory, limit, kills;
    bool any = false;
    label(p, "limits");
    if (known(p, STK_SAMPLE_OF_CGROUP_QUOTA, &quota)) {
        between(p, &any);
        known(p, STK_SAMPLE_OF_CGROUP_PERIODS, &periods);
        addf(p, "quota %.3g cores, throttled in %s of its periods", quota, share(periods, a));
    }
    if (known(p, STK_SAMPLE_OF_CGROUP_MEMORY, &memory)) {
        between(p, &any);
        addf(p, "memory %s", bytes(memory, a));
        if (known(p, STK_SAMPLE_OF_CGROUP_MEMORY_LIMIT, &limit)) {
            addf(p, " of %s", bytes(limit, b));
        }
    }
    if (known(p, STK_SAMPLE_OF_CGROUP_KILLS, &kills) && kills > 0) {
        between(p, &any);
        addf(p, "out-of-memory kills: %.0f", kills);
    }
    if (any) {
        end_line(p, NULL);
    }
    p->n = 0;
    p->used = 0;
}

// Pressure: of the job's group if the kernel reports it, else of the machine.
static void put_pressure(struct page *p)
{
    static const struct {
        const char *name;
        enum stk_sampled own, all;
    } rows[] = {{"a core", STK_SAMPLE_OF_CGROUP_WAIT_CPU, STK_SAMPLE_OF_MACHINE_WAIT_CPU},
                {"storage", STK_SAMPLE_OF_CGROUP_WAIT_IO, STK_SAMPLE_OF_MACHINE_WAIT_IO},
                {"memory", STK_SAMPLE_OF_CGROUP_WAIT_MEMORY, STK_SAMPLE_OF_MACHINE_WAIT_MEMORY}};
    char a[STK_HUMAN_MAX];
    bool any = false;
    label(p, "waits");
    for (int i = 0; i < 3; i++) {
        double value;
        if (known(p, rows[i].own, &value) || known(p, rows[i].all, &value)) {
            add(p, any ? ", " : "");
            any = true;
            addf(p, "for %s %s", rows[i].name, share(value, a));
        }
    }
    if (any) {
        add(p, " of the time");
        end_line(p, NULL);
    }
    p->n = 0;
    p->used = 0;
}

static void put_disk(struct page *p, const struct stk_machine_series *s, double busy)
{
    char a[STK_HUMAN_MAX];
    double read = 0, write = 0;
    stk_now_figure(p->now, STK_SAMPLE_OF_DISK_READ, s->process, s->number, &read);
    stk_now_figure(p->now, STK_SAMPLE_OF_DISK_WRITE, s->process, s->number, &write);
    label(p, "disk");
    add(p, s->name);
    addf(p, "   busy %s", share(busy, a));
    addf(p, "   read %s/s", bytes(read, a));
    addf(p, "   written %s/s", bytes(write, a));
    end_line(p, NULL);
}

static void put_clock(struct page *p, const struct stk_machine_series *s)
{
    double clock, most, reasons;
    if (!stk_now_figure(p->now, STK_SAMPLE_OF_GPU_SM_CLOCK, s->process, s->number, &clock)) {
        return;
    }
    addf(p, "   %.0f", clock);
    if (stk_now_figure(p->now, STK_SAMPLE_OF_GPU_SM_CLOCK_MAX, s->process, s->number, &most)) {
        addf(p, " of %.0f", most);
    }
    add(p, " MHz");
    for (uint32_t i = 0; i < p->now->view->machine->series_count; i++) {
        const struct stk_machine_series *r = &p->now->view->machine->series[i];
        reasons = p->now->view->figures[i].last;
        if (r->sample == STK_SAMPLE_OF_GPU_REASONS && r->number == s->number && reasons > 0 &&
            reasons < 0x1p63 && *stk_now_clock_reason((uint64_t)reasons)) {
            addf(p, " (%s)", stk_now_clock_reason((uint64_t)reasons));
        }
    }
}

static void put_gpu(struct page *p, const struct stk_machine_series *s, double busy)
{
    static const struct {
        enum stk_sampled used, most;
        const char *text;
        double unit;
    } pairs[] = {{STK_SAMPLE_OF_GPU_POWER, STK_SAMPLE_OF_GPU_POWER_LIMIT, "W", 1},
                 {STK_SAMPLE_OF_GPU_MEMORY, STK_SAMPLE_OF_GPU_MEMORY_TOTAL, "GB", 1e-9}};
    char a[STK_HUMAN_MAX];
    double value, most;
    addf(p, "gpu %lld", (long long)(s->number & 0xffffff));
    pad_to(p, LABEL);
    addf(p, "busy %s", share(busy, a));
    if (stk_now_figure(p->now, STK_SAMPLE_OF_GPM_SM, s->process, s->number, &value)) {
        addf(p, ", SMs %s", share(value, a));
    }
    put_clock(p, s);
    for (int i = 0; i < 2; i++) {
        if (stk_now_figure(p->now, pairs[i].used, s->process, s->number, &value)) {
            addf(p, "   %.3g", value * pairs[i].unit);
            if (stk_now_figure(p->now, pairs[i].most, s->process, s->number, &most)) {
                addf(p, " of %.3g", most * pairs[i].unit);
            }
            addf(p, " %s", pairs[i].text);
        }
    }
    if (stk_now_figure(p->now, STK_SAMPLE_OF_GPU_RECEIVED, s->process, s->number, &value)) {
        addf(p, "   PCIe in %s/s", bytes(value, a));
    }
    if (stk_now_figure(p->now, STK_SAMPLE_OF_GPU_SENT, s->process, s->number, &value)) {
        addf(p, " out %s/s", bytes(value, a));
    }
    end_line(p, NULL);
}

static void put_things(struct page *p)
{
    const struct stk_machine_view *v = p->now->view;
    for (uint32_t i = 0; i < v->machine->series_count; i++) {
        const struct stk_machine_series *s = &v->machine->series[i];
        if (s->sample == STK_SAMPLE_OF_GPU_BUSY) {
            put_gpu(p, s, v->figures[i].mean);
        } else if (s->sample == STK_SAMPLE_OF_DISK_BUSY && v->figures[i].mean >= 0.001) {
            put_disk(p, s, v->figures[i].mean);
        }
    }
    for (size_t i = 0; stk_live_record_absent(p->now->record, i); i++) {
        const char *text = stk_live_record_absent(p->now->record, i);
        if (strncmp(text, "nvml: ", 6) == 0) {
            label(p, "gpu");
            add(p, "not visible: ");
            add(p, text + 6);
            end_line(p, "\x1b[2m");
        }
    }
}

// ---- processes and threads ----

// Columns: name, processor, queue, read, written, faults, memory.
enum { AT_CPU = 32, AT_QUEUE = 40, AT_READ = 48, AT_WRITTEN = 58, AT_FAULTS = 68, AT_MEMORY = 78 };

static void cell(struct page *p, int end, const char *text)
{
    pad_to(p, end - (int)strlen(text));
    add(p, text);
}

static void put_heading(struct page *p)
{
    add(p, "process");
    cell(p, AT_CPU, "cpu");
    cell(p, AT_QUEUE, "queue");
    cell(p, AT_READ, "read/s");
    cell(p, AT_WRITTEN, "written/s");
    cell(p, AT_FAULTS, "faults/s");
    cell(p, AT_MEMORY, "memory");
    end_line(p, "\x1b[2m");
}

static void put_name(struct page *p, const char *indent, int64_t number, const char *name)
{
    char text[128];
    int most = AT_CPU - 7;
    snprintf(text, sizeof text, "%s%lld ", indent, (long long)number);
    add(p, text);
    int columns = p->columns;
    p->columns = most < columns ? most : columns; // cuts the name, not the cells after it
    add(p, name);
    p->columns = columns;
}

static void put_process(struct page *p, const struct stk_machine_process *process)
{
    char a[STK_HUMAN_MAX];
    double minor = 0;
    put_name(p, "", process->pid, process->name);
    cell(p, AT_CPU, share(process->cpu, a));
    cell(p, AT_QUEUE, share(process->queue, a));
    cell(p, AT_READ, bytes(process->read, a));
    cell(p, AT_WRITTEN, bytes(process->write, a));
    stk_now_figure(p->now, STK_SAMPLE_OF_PROCESS_MINOR, process->pid, 0, &minor);
    snprintf(a, sizeof a, "%.0f", fmin(process->major + minor, 1e9));
    cell(p, AT_FAULTS, a);
    cell(p, AT_MEMORY, bytes(process->resident, a));
    end_line(p, NULL);
}

static void put_threads(struct page *p, int64_t pid)
{
    struct stk_now_thread threads[THREADS];
    char a[STK_HUMAN_MAX];
    size_t n = stk_now_threads(p->now, pid, threads, THREADS);
    for (size_t i = 0; i < n; i++) {
        const struct stk_now_thread *t = &threads[i];
        if ((n == 1 && t->tid == pid) || t->cpu + t->queue < THREAD_WORTH) {
            continue;
        }
        put_name(p, "  ", t->tid, t->name);
        cell(p, AT_CPU, share(t->cpu, a));
        cell(p, AT_QUEUE, share(t->queue, a));
        if (t->is_blocked) {
            cell(p, AT_WRITTEN, "blocked on disk");
        }
        end_line(p, "\x1b[2m");
    }
}

static void put_processes(struct page *p)
{
    const struct stk_machine_view *v = p->now->view;
    uint32_t n = v->process_count < PROCESSES ? v->process_count : PROCESSES;
    if (!n) {
        return;
    }
    end_line(p, NULL);
    put_heading(p);
    for (uint32_t i = 0; i < n && p->rows > 0; i++) {
        if (p->rows == 1 && i + 1 < v->process_count) {
            n = i;
            break;
        }
        put_process(p, &v->processes[i]);
        put_threads(p, v->processes[i].pid);
    }
    if (n < v->process_count) {
        addf(p, "%u more", v->process_count - n);
        end_line(p, "\x1b[2m");
    }
}

// ---- the outputs ----

static void init(struct page *p, const struct stk_now *now,
                 const struct stoker_live_write_options *how, struct stk_sink *to)
{
    int columns = how->columns > 0 ? how->columns : 80;
    memset(p, 0, sizeof *p);
    p->now = now;
    p->to = to;
    p->columns = columns < COLUMNS_LEAST  ? COLUMNS_LEAST
                 : columns > COLUMNS_MOST ? COLUMNS_MOST
                                          : columns;
    p->rows = how->rows > 0 ? how->rows : ROWS_ALL;
    p->colour = how->colour;
    p->is_ascii = how->ascii;
}

void stk_now_text(const struct stk_now *now, const struct stoker_live_write_options *how,
                  struct stk_sink *to)
{
    struct page p;
    init(&p, now, how, to);
    put_head(&p);
    if (now->lead) {
        put_steps(&p, now->lead);
        if (now->steps->count > 1) {
            put_ranks(&p);
        }
    } else {
        put_no_steps(&p);
    }
    if (now->view) {
        put_load(&p);
        put_limits(&p);
        put_pressure(&p);
        put_things(&p);
        put_processes(&p);
    }
}

// "12:03:04  step 20.5 ms  48.8/s  input 84%  cpu 1.02  gpu 96%  waits for input ..."
void stk_now_line(const struct stk_now *now, const struct stoker_live_write_options *how,
                  struct stk_sink *to)
{
    struct page p;
    char a[STK_HUMAN_MAX];
    double value;
    init(&p, now, how, to);
    p.columns = COLUMNS_MOST; // cut far beyond any text
    if (now->lead && now->lead->now_ns) {
        addf(&p, "step %s  %.3g/s  ", step(now->lead->now_ns, a), now->lead->per_second);
        if (now->lead->wait_share >= 0) {
            addf(&p, "input %s  ", share(now->lead->wait_share, a));
        }
    }
    if (known(&p, STK_SAMPLE_OF_JOB_CPU, &value)) {
        addf(&p, "cpu %.2f  ", value);
    }
    for (uint32_t i = 0; now->view && i < now->view->machine->series_count; i++) {
        if (now->view->machine->series[i].sample == STK_SAMPLE_OF_GPU_BUSY) {
            addf(&p, "gpu %s  ", share(now->view->figures[i].mean, a));
        }
    }
    add(&p, now->sentence);
    end_line(&p, NULL);
}
