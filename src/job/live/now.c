// SPDX-License-Identifier: Apache-2.0
// Single figures of a moment, for its outputs; see now.h.
#include "job/live/now.h"

#include "base/assert.h"

#include <string.h>

bool stk_now_figure(const struct stk_now *now, enum stk_sampled sample, int64_t process,
                    int64_t number, double *value)
{
    const struct stk_machine_view *v = now->view;
    for (uint32_t i = 0; v && i < v->machine->series_count; i++) {
        const struct stk_machine_series *s = &v->machine->series[i];
        if (s->sample == sample && s->process == process && s->number == number &&
            v->figures[i].samples) {
            *value = v->figures[i].mean;
            return true;
        }
    }
    // A value missing from a look or scan was 0; but if there never was one, it is unknown.
    return false;
}

static struct stk_now_thread *thread_of(struct stk_now_thread *out, size_t *count, size_t most,
                                        const struct stk_machine_series *s)
{
    for (size_t i = 0; i < *count; i++) {
        if (out[i].tid == s->number) {
            return &out[i];
        }
    }
    if (*count == most) {
        return NULL;
    }
    out[*count] = (struct stk_now_thread){.tid = s->number, .name = s->name};
    return &out[(*count)++];
}

static double work_of(const struct stk_now_thread *t)
{
    return t->cpu + t->queue + (t->is_blocked ? 0.001 : 0);
}

static void sort(struct stk_now_thread *out, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct stk_now_thread t = out[i];
        size_t at = i;
        for (; at > 0 && work_of(&out[at - 1]) < work_of(&t); at--) {
            out[at] = out[at - 1];
        }
        out[at] = t;
    }
}

size_t stk_now_threads(const struct stk_now *now, int64_t pid, struct stk_now_thread *out,
                       size_t most)
{
    STK_ASSERT(out && most > 0);
    enum { SEEN = 256 }; // active threads of a process
    struct stk_now_thread all[SEEN];
    const struct stk_machine_view *v = now->view;
    size_t count = 0;
    for (uint32_t i = 0; v && i < v->machine->series_count; i++) {
        const struct stk_machine_series *s = &v->machine->series[i];
        const struct stk_machine_figure *f = &v->figures[i];
        if (s->process != pid || s->info->scope != STK_SAMPLE_THREAD || !f->samples) {
            continue;
        }
        struct stk_now_thread *t = thread_of(all, &count, SEEN, s);
        if (t && s->sample == STK_SAMPLE_OF_THREAD_CPU) {
            t->cpu = f->mean;
        } else if (t && s->sample == STK_SAMPLE_OF_THREAD_QUEUE) {
            t->queue = f->mean;
        } else if (t && s->sample == STK_SAMPLE_OF_THREAD_BLOCKED) {
            t->is_blocked = f->most > 0;
        }
    }
    sort(all, count);
    count = count < most ? count : most;
    memcpy(out, all, count * sizeof *out);
    return count;
}

const char *stk_now_clock_reason(uint64_t bits)
{
    return bits & 0x60u   ? "heat"
           : bits & 0x88u ? "power supply"
           : bits & 0x04u ? "power cap"
           : bits & 0x02u ? "set by a user"
           : bits & 0x01u ? "idle"
                          : "";
}
