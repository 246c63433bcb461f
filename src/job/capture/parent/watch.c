// SPDX-License-Identifier: Apache-2.0
// Functions with which the sampler's sources write; see watch.h.
#include "job/capture/parent/watch.h"

#include "base/assert.h"

void stk_watch_put(struct stk_sampling *s, enum stk_sampled id, uint32_t track, double value)
{
    STK_ASSERT((unsigned)id < STK_SAMPLE_COUNT);
    const struct stk_wire_counter c = {
        .time_ns = s->now_ns, .name = s->names[id], .track = track, .value = value};
    stk_wire_put(s->writer, STK_WIRE_COUNTERS, &c, sizeof c, c.time_ns, c.time_ns);
    s->totals.counters++;
}

static uint32_t track(struct stk_sampling *s, int64_t number, int process, const char *name)
{
    uint32_t text = stk_wire_string(s->writer, name);
    return stk_wire_track(s->writer, STK_WIRE_SAMPLED, number, process, text);
}

uint32_t stk_watch_thread(struct stk_sampling *s, pid_t pid, pid_t tid, const char *name)
{
    return track(s, tid, pid, name);
}

uint32_t stk_watch_thing(struct stk_sampling *s, enum stk_sample_scope scope, uint32_t number,
                         const char *name)
{
    return track(s, STK_SAMPLE_NUMBER(scope, number), -1, name);
}

double stk_watch_rate(uint64_t *last, uint64_t now, double seconds)
{
    uint64_t before = *last;
    *last = now;
    return before == STK_WATCH_UNSEEN || now < before || seconds <= 0
               ? -1
               : (double)(now - before) / seconds;
}
