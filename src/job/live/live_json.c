// SPDX-License-Identifier: Apache-2.0
// A moment as one object on one line, "stoker.live/1". Names of counters are those of the record
// (docs/sampler.md). What is not known is absent.
#include <string.h>

#include "base/json.h"
#include "job/live/now.h"

enum { PROCESSES = 64, THREADS = 8 }; // the busiest are listed

static void put_real(struct stk_json *j, const char *key, double value)
{
    stk_json_key(j, key);
    stk_json_real(j, value);
}

static void put_known(struct stk_json *j, const char *key, double value)
{
    if (value >= 0) {
        put_real(j, key, value);
    }
}

static void put_text(struct stk_json *j, const char *key, const char *text)
{
    stk_json_key(j, key);
    stk_json_text(j, text);
}

static void put_ns(struct stk_json *j, const char *key, uint64_t ns)
{
    if (ns) {
        stk_json_key(j, key);
        stk_json_u64(j, ns);
    }
}

static void put_rank(struct stk_json *j, const struct stk_live_rank *r)
{
    static const char *const windows[] = {"none", "open", "done", "left"};
    stk_json_open(j, '{', true);
    if (r->head.rank >= 0) {
        stk_json_key(j, "rank");
        stk_json_i64(j, r->head.rank);
    }
    stk_json_key(j, "pid");
    stk_json_u64(j, r->head.pid);
    if (*r->head.framework) {
        put_text(j, "framework", r->head.framework);
    }
    stk_json_key(j, "steps");
    stk_json_u64(j, r->head.count);
    put_ns(j, "step_now_ns", r->now_ns);
    put_ns(j, "step_median_ns", r->median_ns);
    put_known(j, "steps_per_second", r->per_second);
    put_known(j, "input_wait_share", r->wait_share);
    put_known(j, "since_last_step_s", r->age_s);
    if (r->head.window_state <= STK_WINDOW_LEFT) {
        put_text(j, "window", windows[r->head.window_state]);
    }
    stk_json_close(j, '}');
}

// Counters of one scope, process (-1) and number that have a value, as members.
static void put_counters(struct stk_json *j, const struct stk_now *now, enum stk_sample_scope scope,
                         int64_t process, int64_t number)
{
    for (int i = 0; i < STK_SAMPLE_COUNT; i++) {
        const struct stk_sample_info *info = stk_sample_info((enum stk_sampled)i);
        double value;
        if (info->scope == scope && info->cadence != STK_SAMPLE_ONCE &&
            stk_now_figure(now, (enum stk_sampled)i, process, number, &value)) {
            put_real(j, strchr(info->name, '.') + 1, value);
        }
    }
}

static void put_scope(struct stk_json *j, const struct stk_now *now, const char *key,
                      enum stk_sample_scope scope)
{
    stk_json_key(j, key);
    stk_json_open(j, '{', true);
    put_counters(j, now, scope, -1, 0);
    stk_json_close(j, '}');
}

static void put_threads(struct stk_json *j, const struct stk_now *now, int64_t pid)
{
    struct stk_now_thread threads[THREADS];
    size_t n = stk_now_threads(now, pid, threads, THREADS);
    stk_json_key(j, "busiest_threads");
    stk_json_open(j, '[', true);
    for (size_t i = 0; i < n; i++) {
        stk_json_open(j, '{', true);
        stk_json_key(j, "tid");
        stk_json_i64(j, threads[i].tid);
        put_text(j, "name", threads[i].name);
        put_real(j, "cpu", threads[i].cpu);
        put_real(j, "queue", threads[i].queue);
        stk_json_key(j, "is_blocked");
        stk_json_bool(j, threads[i].is_blocked);
        stk_json_close(j, '}');
    }
    stk_json_close(j, ']');
}

static void put_processes(struct stk_json *j, const struct stk_now *now)
{
    const struct stk_machine_view *v = now->view;
    uint32_t n = v->process_count < PROCESSES ? v->process_count : PROCESSES;
    stk_json_key(j, "processes");
    stk_json_open(j, '[', true);
    for (uint32_t i = 0; i < n; i++) {
        const struct stk_machine_process *p = &v->processes[i];
        stk_json_open(j, '{', true);
        stk_json_key(j, "pid");
        stk_json_i64(j, p->pid);
        put_text(j, "name", p->name);
        if (p->parent >= 0) {
            stk_json_key(j, "parent");
            stk_json_i64(j, p->parent);
        }
        put_real(j, "cpu", p->cpu);
        put_real(j, "queue", p->queue);
        put_counters(j, now, STK_SAMPLE_PROCESS, p->pid, 0);
        put_threads(j, now, p->pid);
        stk_json_close(j, '}');
    }
    stk_json_close(j, ']');
    stk_json_key(j, "processes_left_out");
    stk_json_u64(j, v->process_count - n);
}

// Disks or GPUs: one object for each that has a counter.
static void put_things(struct stk_json *j, const struct stk_now *now, const char *key,
                       enum stk_sample_scope scope, enum stk_sampled mark)
{
    const struct stk_machine_view *v = now->view;
    stk_json_key(j, key);
    stk_json_open(j, '[', true);
    for (uint32_t i = 0; i < v->machine->series_count; i++) {
        const struct stk_machine_series *s = &v->machine->series[i];
        if (s->sample != mark) {
            continue;
        }
        stk_json_open(j, '{', true);
        stk_json_key(j, "number");
        stk_json_i64(j, s->number & 0xffffff);
        put_text(j, "name", s->name);
        put_counters(j, now, scope, s->process, s->number);
        stk_json_close(j, '}');
    }
    stk_json_close(j, ']');
}

static void put_machine(struct stk_json *j, const struct stk_now *now)
{
    if (!now->view) {
        return;
    }
    put_real(j, "window_s", (double)(now->view->to_ns - now->view->from_ns) * 1e-9);
    put_scope(j, now, "job", STK_SAMPLE_JOB);
    put_scope(j, now, "machine", STK_SAMPLE_MACHINE);
    put_processes(j, now);
    put_things(j, now, "disks", STK_SAMPLE_DISK, STK_SAMPLE_OF_DISK_BUSY);
    put_things(j, now, "gpus", STK_SAMPLE_GPU, STK_SAMPLE_OF_GPU_BUSY);
    stk_json_key(j, "absent");
    stk_json_open(j, '[', true);
    for (size_t i = 0; stk_live_record_absent(now->record, i); i++) {
        stk_json_text(j, stk_live_record_absent(now->record, i));
    }
    stk_json_close(j, ']');
}

static void put_findings(struct stk_json *j, const struct stk_now *now)
{
    stk_json_key(j, "findings");
    stk_json_open(j, '[', true);
    for (size_t i = 0; i < now->finding_count; i++) {
        stk_json_open(j, '{', true);
        put_text(j, "id", now->findings[i].id);
        put_text(j, "title", now->findings[i].title);
        put_text(j, "evidence", now->findings[i].text);
        stk_json_close(j, '}');
    }
    stk_json_close(j, ']');
}

void stk_now_json(const struct stk_now *now, struct stk_sink *to)
{
    struct stk_json j;
    stk_json_init(&j, to);
    stk_json_open(&j, '{', true);
    put_text(&j, "schema", "stoker.live/1");
    stk_json_key(&j, "time_ns");
    stk_json_i64(&j, now->time_ns);
    put_text(&j, "state", now->has_ended ? "ended" : now->silent_s > 0 ? "silent" : "running");
    put_text(&j, "sentence", now->sentence);
    if (now->steps && *now->steps->folder) {
        put_text(&j, "folder", now->steps->folder);
    }
    put_text(&j, "sampled_by", now->is_own_sampler ? "stoker top" : "stoker run");
    put_findings(&j, now);
    stk_json_key(&j, "ranks");
    stk_json_open(&j, '[', true);
    for (size_t i = 0; now->steps && i < now->steps->count; i++) {
        put_rank(&j, now->steps->ranks[i]);
    }
    stk_json_close(&j, ']');
    put_machine(&j, now);
    stk_json_close(&j, '}');
    stk_sink_text(to, "\n");
}
