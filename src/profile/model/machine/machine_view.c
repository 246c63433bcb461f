// SPDX-License-Identifier: Apache-2.0
// Figures of a record of the machine over a time; see machine.h.
//
// A value that is written at each look (scan) covers the time since the previous one, which is
// recorded; a missing value is 0. So its mean is the sum of value times covered time, over the time
// of all looks. A state lasts until its next value. Its mean is weighted by that time, and includes
// the value from before the range.
#include "base/map.h"
#include "base/sort.h"
#include "profile/model/intervals.h"
#include "profile/model/machine/machine.h"

#define LEAST_LOOKS 2
#define ACTIVE 0.01 // of a CPU core

// The first sample of the series at or after a time.
static uint32_t find_from(const struct stk_machine *m, const struct stk_machine_series *s,
                          int64_t time_ns)
{
    uint32_t low = s->first, high = s->first + s->count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (m->time_ns[mid] < time_ns) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

// Samples of a series in the view's time.
static uint32_t range(const struct stk_machine_view *v, const struct stk_machine_series *s,
                      uint32_t *first)
{
    *first = find_from(v->machine, s, v->from_ns);
    return find_from(v->machine, s, stk_add_ns(v->to_ns, 1)) - *first;
}

// The time that a sample covers, in ns; 0: no look (scan) is recorded at that moment.
static double covered(const struct stk_machine *m, const struct stk_machine_series *moments,
                      int64_t time_ns)
{
    uint32_t at = find_from(m, moments, time_ns);
    return at < moments->first + moments->count && m->time_ns[at] == time_ns ? m->value[at] : 0;
}

static double total_covered(const struct stk_machine_view *v,
                            const struct stk_machine_series *moments)
{
    uint32_t first, count = range(v, moments, &first);
    double total = 0;
    for (uint32_t i = first; i < first + count; i++) {
        total += v->machine->value[i];
    }
    return total;
}

static void average_moments(const struct stk_machine_view *v, const struct stk_machine_series *s,
                            const struct stk_machine_series *moments, double total,
                            struct stk_machine_figure *out)
{
    const struct stk_machine *m = v->machine;
    uint32_t first, count = range(v, s, &first);
    double sum = 0;
    for (uint32_t i = first; moments && i < first + count; i++) {
        sum += m->value[i] * covered(m, moments, m->time_ns[i]);
        out->most = m->value[i] > out->most ? m->value[i] : out->most;
        out->last = m->value[i];
    }
    out->samples = count;
    out->mean = total > 0 ? sum / total : 0;
}

static void average_state(const struct stk_machine_view *v, const struct stk_machine_series *s,
                          struct stk_machine_figure *out)
{
    const struct stk_machine *m = v->machine;
    uint32_t first, count = range(v, s, &first);
    if (first > s->first) { // the value from before the range
        first--;
        count++;
    }
    double sum = 0, time = 0;
    for (uint32_t i = first; i < first + count; i++) {
        int64_t from = m->time_ns[i] > v->from_ns ? m->time_ns[i] : v->from_ns;
        int64_t to = i + 1 < first + count ? m->time_ns[i + 1] : v->to_ns;
        double holds = to > from ? (double)(to - from) : 0;
        sum += m->value[i] * holds;
        time += holds;
        out->most = i == first || m->value[i] > out->most ? m->value[i] : out->most;
        out->last = m->value[i];
    }
    out->samples = count;
    out->mean = time > 0 ? sum / time : out->last;
}

static void fill_figures(struct stk_machine_view *v)
{
    const struct stk_machine *m = v->machine;
    double looks = m->looks ? total_covered(v, m->looks) : 0;
    double scans = m->scans ? total_covered(v, m->scans) : 0;
    for (uint32_t i = 0; i < m->series_count; i++) {
        const struct stk_machine_series *s = &m->series[i];
        switch (stk_sample_info(s->sample)->cadence) {
        case STK_SAMPLE_LOOK:
            average_moments(v, s, m->looks, looks, &v->figures[i]);
            break;
        case STK_SAMPLE_SCAN:
            average_moments(v, s, m->scans, scans, &v->figures[i]);
            break;
        default:
            average_state(v, s, &v->figures[i]);
            break;
        }
    }
}

// NULL: no memory.
static struct stk_machine_process *process_of(struct stk_machine_view *v, struct stk_map *known,
                                              int64_t pid)
{
    int created;
    uint32_t *at = stk_map_put(known, (uint64_t)pid, 0, v->process_count, &created);
    if (!at) {
        return NULL;
    }
    struct stk_machine_process *p = &v->processes[*at];
    if (created) {
        *p = (struct stk_machine_process){.pid = pid, .parent = -1, .name = "", .busiest_name = ""};
        v->process_count++;
    }
    return p;
}

static void add_thread(struct stk_machine_process *p, const struct stk_machine_series *s,
                       const struct stk_machine_figure *f)
{
    if (s->sample == STK_SAMPLE_OF_THREAD_QUEUE) {
        p->queue += f->mean;
    } else if (s->sample == STK_SAMPLE_OF_THREAD_CPU) {
        p->cpu += f->mean;
        p->active += f->mean >= ACTIVE;
        if (f->mean > p->busiest) {
            p->busiest = f->mean;
            p->busiest_name = s->name;
        }
    }
}

static void add_process(struct stk_machine_process *p, const struct stk_machine_series *s,
                        const struct stk_machine_figure *f)
{
    p->name = s->name;
    switch (s->sample) {
    case STK_SAMPLE_OF_PROCESS_PARENT:
        p->parent = f->last >= 0 && f->last < 0x1p63 ? (int64_t)f->last : -1;
        break;
    case STK_SAMPLE_OF_PROCESS_THREADS:
        p->threads = f->most >= 0 && f->most < 0x1p32 ? (uint32_t)f->most : 0;
        break;
    case STK_SAMPLE_OF_PROCESS_RESIDENT:
        p->resident = f->most;
        break;
    case STK_SAMPLE_OF_PROCESS_READ:
        p->read = f->mean;
        break;
    case STK_SAMPLE_OF_PROCESS_WRITE:
        p->write = f->mean;
        break;
    case STK_SAMPLE_OF_PROCESS_MAJOR:
        p->major = f->mean;
        break;
    default:
        break;
    }
}

static int by_work(const void *pa, const void *pb)
{
    const struct stk_machine_process *a = pa, *b = pb;
    double wa = a->cpu + a->queue, wb = b->cpu + b->queue;
    return wa != wb ? (wa > wb ? -1 : 1) : a->pid < b->pid ? -1 : a->pid > b->pid;
}

static bool fill_processes(struct stk_machine_view *v, struct stk_arena *arena)
{
    const struct stk_machine *m = v->machine;
    struct stk_map known;
    stk_map_init(&known, (size_t)m->series_count + 1);
    v->processes = stk_arena_array(arena, (size_t)m->series_count + 1, sizeof *v->processes);
    bool ok = v->processes != NULL;
    for (uint32_t i = 0; ok && i < m->series_count; i++) {
        const struct stk_machine_series *s = &m->series[i];
        enum stk_sample_scope scope = stk_sample_info(s->sample)->scope;
        if (scope != STK_SAMPLE_THREAD && scope != STK_SAMPLE_PROCESS) {
            continue;
        }
        struct stk_machine_process *p = process_of(v, &known, s->process);
        ok = p != NULL;
        if (ok && scope == STK_SAMPLE_THREAD) {
            add_thread(p, s, &v->figures[i]);
        } else if (ok) {
            add_process(p, s, &v->figures[i]);
        }
    }
    if (ok) {
        stk_sort(v->processes, v->process_count, sizeof *v->processes, by_work);
    }
    stk_map_deinit(&known);
    return ok;
}

struct stk_machine_view *stk_machine_look(const struct stk_machine *m, int64_t from_ns,
                                          int64_t to_ns, struct stk_arena *arena)
{
    struct stk_machine_view *v = stk_arena_alloc(arena, sizeof *v);
    if (!v) {
        return NULL;
    }
    *v = (struct stk_machine_view){.machine = m, .from_ns = from_ns, .to_ns = to_ns};
    uint32_t first, looks = m->looks && from_ns < to_ns ? range(v, m->looks, &first) : 0;
    v->is_of_profile = looks >= LEAST_LOOKS;
    if (!v->is_of_profile) {
        v->from_ns = m->first_ns;
        v->to_ns = m->last_ns;
        looks = m->looks ? range(v, m->looks, &first) : 0;
    }
    v->from_ns = v->from_ns > m->first_ns ? v->from_ns : m->first_ns;
    v->to_ns = v->to_ns < m->last_ns ? v->to_ns : m->last_ns;
    v->looks = looks;
    v->figures = stk_arena_array(arena, (size_t)m->series_count + 1, sizeof *v->figures);
    if (!v->figures) {
        return NULL;
    }
    fill_figures(v);
    return fill_processes(v, arena) ? v : NULL;
}

const struct stk_machine_figure *stk_machine_figure_at(const struct stk_machine_view *v,
                                                       enum stk_sampled sample, int64_t number)
{
    for (uint32_t i = 0; i < v->machine->series_count; i++) {
        const struct stk_machine_series *s = &v->machine->series[i];
        if (s->sample == sample && (number < 0 || s->number == number)) {
            return v->figures[i].samples ? &v->figures[i] : NULL;
        }
    }
    return NULL;
}

const struct stk_machine_figure *stk_machine_figure_of(const struct stk_machine_view *v,
                                                       enum stk_sampled sample)
{
    return stk_machine_figure_at(v, sample, -1);
}

double stk_machine_mean(const struct stk_machine_view *v, enum stk_sampled sample)
{
    const struct stk_machine_figure *f = stk_machine_figure_of(v, sample);
    return f ? f->mean : 0;
}

double stk_machine_crowded_share(const struct stk_machine_view *v)
{
    double cpu = stk_machine_mean(v, STK_SAMPLE_OF_JOB_CPU);
    double wanted = cpu + stk_machine_mean(v, STK_SAMPLE_OF_JOB_QUEUE);
    double own = stk_machine_mean(v, STK_SAMPLE_OF_JOB_PROCESSORS);
    double used = wanted < own ? wanted : own; // on free cores
    return used > 0 ? 1 - cpu / used : 0;
}

double stk_machine_share_of_bits(const struct stk_machine_view *v,
                                 const struct stk_machine_series *s, uint64_t mask)
{
    uint32_t first, count = range(v, s, &first), hits = 0;
    for (uint32_t i = first; i < first + count; i++) {
        double value = v->machine->value[i];
        hits += value >= 0 && value < 0x1p63 && ((uint64_t)value & mask) != 0;
    }
    return count ? (double)hits / count : 0;
}
