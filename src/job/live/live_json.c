// SPDX-License-Identifier: Apache-2.0
// A moment as one object on one line (results/live.h). Counters have the names of the record
// (docs/sampler.md). Unknown values are absent.
#include <string.h>

#include "job/live/now.h"
#include "results/live.h"
#include "results/print/document.h"

enum { PROCESSES = 64, THREADS = 8 }; // only the busiest are listed

struct filling {
    const struct stk_now *now;
    struct stk_arena arena;
    struct stk_live_doc doc;
    bool failed; // no memory
};

// Allocates a list; NULL, with f->failed: no memory.
static void *room(struct filling *f, struct stk_list *list, size_t most, size_t size)
{
    void *items = stk_list_room(&f->arena, list, most, size);
    f->failed |= items == NULL;
    return items;
}

static struct stk_live_doc_rank rank_of(const struct stk_live_rank *r)
{
    static const char *const windows[] = {"none", "open", "done", "left"};
    return (struct stk_live_doc_rank){
        .has_rank = r->head.rank >= 0,
        .rank = r->head.rank,
        .pid = r->head.pid,
        .framework = *r->head.framework ? r->head.framework : NULL,
        .steps = r->head.count,
        .has_now = r->now_ns > 0,
        .step_now_ns = stk_field_ns(r->now_ns),
        .has_median = r->median_ns > 0,
        .step_median_ns = stk_field_ns(r->median_ns),
        .has_rate = r->per_second >= 0,
        .steps_per_second = r->per_second,
        .has_wait = r->wait_share >= 0,
        .input_wait_share = r->wait_share,
        .has_age = r->age_s >= 0,
        .since_last_step_s = r->age_s,
        .window = windows[r->head.window_state <= STK_WINDOW_LEFT ? r->head.window_state : 0]};
}

static void fill_ranks(struct filling *f)
{
    const struct stk_live_steps *steps = f->now->steps;
    size_t count = steps ? steps->count : 0;
    struct stk_live_doc_rank *ranks = room(f, &f->doc.ranks, count, sizeof *ranks);
    for (size_t i = 0; ranks && i < count; i++) {
        ranks[f->doc.ranks.count++] = rank_of(steps->ranks[i]);
    }
}

// Counters of one scope, process (-1) and number that have a value.
static void fill_counters(struct filling *f, struct stk_list *list, enum stk_sample_scope scope,
                          int64_t process, int64_t number)
{
    struct stk_entry *entries = room(f, list, STK_SAMPLE_COUNT, sizeof *entries);
    for (int i = 0; entries && i < STK_SAMPLE_COUNT; i++) {
        const struct stk_sample_info *info = stk_sample_info((enum stk_sampled)i);
        double value;
        if (info->scope == scope && info->cadence != STK_SAMPLE_ONCE &&
            stk_now_figure(f->now, (enum stk_sampled)i, process, number, &value)) {
            entries[list->count++] =
                (struct stk_entry){.key = strchr(info->name, '.') + 1, .real = value};
        }
    }
}

static void fill_threads(struct filling *f, struct stk_list *list, int64_t pid)
{
    struct stk_now_thread threads[THREADS];
    size_t n = stk_now_threads(f->now, pid, threads, THREADS);
    struct stk_live_doc_thread *rows = room(f, list, n, sizeof *rows);
    for (size_t i = 0; rows && i < n; i++) {
        rows[list->count++] = (struct stk_live_doc_thread){.tid = threads[i].tid,
                                                           .name = threads[i].name,
                                                           .cpu = threads[i].cpu,
                                                           .queue = threads[i].queue,
                                                           .is_blocked = threads[i].is_blocked};
    }
}

static void fill_processes(struct filling *f)
{
    const struct stk_machine_view *v = f->now->view;
    struct stk_list *list = &f->doc.processes;
    uint32_t n = v->process_count < PROCESSES ? v->process_count : PROCESSES;
    struct stk_live_doc_process *rows = room(f, list, n, sizeof *rows);
    for (uint32_t i = 0; rows && i < n; i++) {
        const struct stk_machine_process *p = &v->processes[i];
        struct stk_live_doc_process *row = &rows[list->count++];
        *row = (struct stk_live_doc_process){.pid = p->pid,
                                             .name = p->name,
                                             .has_parent = p->parent >= 0,
                                             .parent = p->parent,
                                             .cpu = p->cpu,
                                             .queue = p->queue};
        fill_counters(f, &row->counters, STK_SAMPLE_PROCESS, p->pid, 0);
        fill_threads(f, &row->busiest_threads, p->pid);
    }
    list->left_out = v->process_count - n;
}

// Disks or GPUs: those with a counter.
static void fill_things(struct filling *f, struct stk_list *list, enum stk_sample_scope scope,
                        enum stk_sampled mark)
{
    const struct stk_machine *m = f->now->view->machine;
    struct stk_live_doc_thing *rows = room(f, list, m->series_count, sizeof *rows);
    for (uint32_t i = 0; rows && i < m->series_count; i++) {
        const struct stk_machine_series *s = &m->series[i];
        if (s->sample == mark) {
            struct stk_live_doc_thing *row = &rows[list->count++];
            *row = (struct stk_live_doc_thing){.number = s->number & 0xffffff, .name = s->name};
            fill_counters(f, &row->counters, scope, s->process, s->number);
        }
    }
}

static void fill_machine(struct filling *f)
{
    const struct stk_machine_view *v = f->now->view;
    struct stk_live_doc *doc = &f->doc;
    size_t absent = 0;
    doc->has_machine = v != NULL;
    if (!v) {
        return;
    }
    doc->window_s = (double)(v->to_ns - v->from_ns) * 1e-9;
    fill_counters(f, &doc->job, STK_SAMPLE_JOB, -1, 0);
    fill_counters(f, &doc->machine, STK_SAMPLE_MACHINE, -1, 0);
    fill_processes(f);
    fill_things(f, &doc->disks, STK_SAMPLE_DISK, STK_SAMPLE_OF_DISK_BUSY);
    fill_things(f, &doc->gpus, STK_SAMPLE_GPU, STK_SAMPLE_OF_GPU_BUSY);
    while (stk_live_record_absent(f->now->record, absent)) {
        absent++;
    }
    const char **texts = room(f, &doc->absent, absent, sizeof *texts);
    for (size_t i = 0; texts && i < absent; i++) {
        texts[doc->absent.count++] = stk_live_record_absent(f->now->record, i);
    }
}

static void fill_findings(struct filling *f)
{
    const struct stk_now *now = f->now;
    struct stk_list *list = &f->doc.findings;
    struct stk_live_doc_finding *rows = room(f, list, now->finding_count, sizeof *rows);
    for (size_t i = 0; rows && i < now->finding_count; i++) {
        rows[list->count++] = (struct stk_live_doc_finding){.id = now->findings[i].id,
                                                            .title = now->findings[i].title,
                                                            .evidence = now->findings[i].text};
    }
}

void stk_now_json(const struct stk_now *now, struct stk_sink *to)
{
    bool has_folder = now->steps && *now->steps->folder;
    struct filling f = {.now = now,
                        .doc = {.schema = STK_LIVE_SCHEMA,
                                .time_ns = now->time_ns,
                                .state = now->has_ended      ? "ended"
                                         : now->silent_s > 0 ? "silent"
                                                             : "running",
                                .sentence = now->sentence,
                                .folder = has_folder ? now->steps->folder : NULL,
                                .sampled_by = now->is_own_sampler ? "stoker top" : "stoker run"}};
    stk_arena_init(&f.arena, 0);
    fill_findings(&f);
    fill_ranks(&f);
    fill_machine(&f);
    if (f.failed) {
        to->failed = true;
    } else {
        stk_json_document(&stk_live_doc_info, &f.doc, true, to);
    }
    stk_arena_deinit(&f.arena);
}
