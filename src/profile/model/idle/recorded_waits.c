// SPDX-License-Identifier: Apache-2.0
// Assigns the waits of a stoker.data record to the steps of the profile that it accompanies: see
// the header. A step of the record begins with its fetch, so its wait is the first piece of it.
// Method: both lists of steps are in order of time. Each step of the profile gets the waits that
// overlap it, at most as much as its time without events.
// Limits: any thread may have fetched; an event of the profile's driving thread takes precedence.
#include "profile/model/idle/recorded_waits.h"

#include <string.h>

#include "base/assert.h"
#include "profile/model/intervals.h"

#define FETCH "stoker.data next"

static int64_t wait_within(const struct stk_rank_sum *record, int64_t start_ns, int64_t end_ns)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < record->step_count; i++) {
        const struct stk_step *r = &record->steps[i];
        int64_t from = r->start_ns, to = stk_add_ns(from, r->parts[STK_PART_INPUT]);
        from = from > start_ns ? from : start_ns;
        to = to < end_ns ? to : end_ns;
        ns += to > from ? to - from : 0;
    }
    return ns;
}

// A hundredth of a step is what counts as affected (profile/model/idle/causes.c).
static void add_cause(struct stk_rank_sum *rank, const struct stk_step *s, int64_t ns)
{
    struct stk_cause *input = &rank->causes[STK_PART_INPUT];
    struct stk_cause *unknown = &rank->causes[STK_PART_UNKNOWN];
    struct stk_cause_name *name = &input->names[0];
    unknown->ns -= ns < unknown->ns ? ns : unknown->ns;
    input->ns += ns;
    input->intervals++;
    input->steps_affected += ns >= s->dur_ns / 100;
    if (input->name_count == 0) {
        *name = (struct stk_cause_name){.name = FETCH};
        input->name_count = 1;
    }
    if (strcmp(name->name, FETCH) == 0) {
        name->ns += ns;
        name->count++;
    }
}

void stk_recorded_waits_use(struct stk_rank_sum *rank, const struct stk_rank_sum *record)
{
    STK_ASSERT(rank && record);
    if (!rank->host_scope) {
        return;
    }
    for (uint32_t i = 0; i < rank->step_count; i++) {
        struct stk_step *s = &rank->steps[i];
        int64_t wait_ns = wait_within(record, s->start_ns, stk_add_ns(s->start_ns, s->dur_ns));
        int64_t *unknown_ns = &s->parts[STK_PART_UNKNOWN];
        int64_t ns = wait_ns < *unknown_ns ? wait_ns : *unknown_ns;
        *unknown_ns -= ns;
        s->parts[STK_PART_INPUT] += ns;
        if (ns > 0 && !s->excluded) {
            add_cause(rank, s, ns);
        }
    }
    struct stk_cause *unknown = &rank->causes[STK_PART_UNKNOWN];
    unknown->example_count = unknown->name_count = 0; // most of it now has another cause
    rank->facts.has_fetches = true;
    if (!rank->slow_stage.stage) {
        rank->slow_stage = record->slow_stage;
    }
}
