// SPDX-License-Identifier: Apache-2.0
// Invariants of sets of time, parts, steps and summaries. Each check is linear.
#include "profile/model/model_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

// An argument may be a text that an earlier call returned.
static __attribute__((format(printf, 1, 2))) const char *wrong(const char *format, ...)
{
    static _Thread_local char text[200];
    char made[sizeof text];
    va_list args;
    va_start(args, format);
    vsnprintf(made, sizeof made, format, args);
    va_end(args);
    memcpy(text, made, sizeof text);
    return text;
}

const char *stk_spans_check(const struct stk_spans *s)
{
    if (s->count > s->capacity || (s->count && !s->v)) {
        return wrong("%zu intervals in the room of %zu", s->count, s->capacity);
    }
    for (size_t i = 0; i < s->count; i++) {
        if (s->v[i].start_ns >= s->v[i].end_ns) {
            return wrong("interval %zu is empty: [%" PRId64 ", %" PRId64 ")", i, s->v[i].start_ns,
                         s->v[i].end_ns);
        }
        if (i > 0 && s->v[i].start_ns <= s->v[i - 1].end_ns) {
            return wrong("interval %zu begins at %" PRId64 ", the one before it ends at %" PRId64,
                         i, s->v[i].start_ns, s->v[i - 1].end_ns);
        }
    }
    return NULL;
}

const char *stk_parts_check(const int64_t *parts, int64_t wall_ns)
{
    int64_t sum = 0;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        if (parts[p] < 0) {
            return wrong("part %s is %" PRId64 " ns", stk_part_info((enum stk_part)p)->key,
                         parts[p]);
        }
        if (__builtin_add_overflow(sum, parts[p], &sum)) {
            return "the sum of the parts overflows";
        }
    }
    return sum == wall_ns ? NULL
                          : wrong("parts sum to %" PRId64 " ns and not to %" PRId64, sum, wall_ns);
}

const char *stk_steps_check(const struct stk_step *steps, uint32_t count, uint32_t device_count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct stk_step *s = &steps[i], *before = i ? &steps[i - 1] : NULL;
        if (s->device != STK_NONE && s->device >= device_count) {
            return wrong("row %u of the steps is of device %u of %u", i, s->device, device_count);
        }
        const char *text =
            s->dur_ns < 0 ? "lasts less than nothing" : stk_parts_check(s->parts, s->dur_ns);
        if (text) {
            return wrong("step %" PRId64 " (row %u): %.120s", s->number, i, text);
        }
        int64_t end_ns = INT64_MIN;
        bool is_next = before && before->device == s->device && before->rank == s->rank;
        if ((is_next && __builtin_add_overflow(before->start_ns, before->dur_ns, &end_ns)) ||
            end_ns > s->start_ns) {
            return wrong("step %" PRId64 " (row %u) begins at %" PRId64
                         ", the one before it ends at %" PRId64,
                         s->number, i, s->start_ns, end_ns);
        }
    }
    return NULL;
}

const char *stk_windows_check(const struct stk_window *w, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (w[i].end_ns < w[i].start_ns || (i > 0 && w[i].start_ns != w[i - 1].end_ns)) {
            return wrong("window %u is [%" PRId64 ", %" PRId64
                         "), the one before it ends at %" PRId64,
                         i, w[i].start_ns, w[i].end_ns, i > 0 ? w[i - 1].end_ns : w[i].start_ns);
        }
    }
    return NULL;
}

const char *stk_line_check(const struct stk_device_line *line)
{
    int64_t exposed_ns = 0;
    for (uint32_t i = 0; i < line->op_count; i++) {
        const struct stk_device_op *op = &line->ops[i];
        if (op->end_ns < op->start_ns || op->part >= STK_BUSY_PARTS ||
            (i > 0 && op->start_ns < op[-1].start_ns)) {
            return wrong("operation %u of device %u: [%" PRId64 ", %" PRId64 "), part %u", i,
                         line->device, op->start_ns, op->end_ns, op->part);
        }
    }
    const char *text = stk_spans_check(&line->busy);
    for (int p = 0; p < STK_BUSY_PARTS && !text; p++) {
        text = stk_spans_check(&line->exposed[p]);
        exposed_ns += stk_spans_total(&line->exposed[p]);
    }
    if (!text && exposed_ns != stk_spans_total(&line->busy)) {
        return wrong("device %u is busy for %" PRId64 " ns, its parts for %" PRId64, line->device,
                     stk_spans_total(&line->busy), exposed_ns);
    }
    return text;
}

static const char *check_device(const struct stk_device_sum *d)
{
    if (d->analysed && d->left_out) {
        return wrong("a device is analyzed and left out: %s", d->left_out);
    }
    if (d->busy_ns < 0 || d->idle_ns < 0 || d->span_ns < d->busy_ns || d->linked_ops > d->ops ||
        d->short_kernels > d->kernels) {
        return wrong("device %s: busy %" PRId64 " ns, idle %" PRId64 ", span %" PRId64 ", %" PRIu64
                     " of %" PRIu64 " operations linked",
                     d->id ? d->id : "?", d->busy_ns, d->idle_ns, d->span_ns, d->linked_ops,
                     d->ops);
    }
    const char *text = d->analysed ? stk_parts_check(d->parts, d->wall_ns) : NULL;
    return text ? wrong("device %s: %.120s", d->id ? d->id : "?", text) : NULL;
}

static bool are_named(const struct stk_cause_name *names, int count, int most)
{
    bool sound = count >= 0 && count <= most;
    for (int i = 0; i < count && sound; i++) {
        sound = names[i].name != NULL && names[i].ns >= 0;
    }
    return sound;
}

static const char *check_cause(const struct stk_cause *c, int part)
{
    if (c->ns < 0 || c->example_count < 0 || c->example_count > STK_CAUSE_EXAMPLES ||
        !are_named(c->names, c->name_count, STK_CAUSE_NAMES) ||
        !are_named(c->owners, c->owner_count, STK_CAUSE_OWNERS)) {
        return wrong("cause %s: %" PRId64 " ns, %d names, %d owners, %d examples",
                     stk_part_info((enum stk_part)part)->key, c->ns, c->name_count, c->owner_count,
                     c->example_count);
    }
    for (int i = 0; i < c->example_count; i++) {
        if (!c->examples[i].name || !c->examples[i].track || c->examples[i].dur_ns < 0) {
            return wrong("cause %s: example %d is not whole",
                         stk_part_info((enum stk_part)part)->key, i);
        }
    }
    return NULL;
}

static const char *check_lists(const struct stk_device_sum *devices, uint32_t device_count,
                               const struct stk_step *steps, uint32_t step_count,
                               const struct stk_cause *causes)
{
    const char *text = stk_steps_check(steps, step_count, device_count);
    for (uint32_t d = 0; d < device_count && !text; d++) {
        text = check_device(&devices[d]);
    }
    for (int p = 0; p < STK_PART_COUNT && !text; p++) {
        text = check_cause(&causes[p], p);
    }
    return text;
}

const char *stk_rank_sum_check(const struct stk_rank_sum *sum)
{
    if (sum->rank < -1 || !sum->host || sum->confidence < 0 || sum->confidence > 1) {
        return wrong("rank %d: confidence of its steps %g", sum->rank, sum->confidence);
    }
    for (uint32_t i = 0; i < sum->collective_count; i++) {
        const struct stk_collective *c = &sum->collectives[i];
        if (stk_collective_class_index(c) >= sum->collective_class_count ||
            stk_collective_class_of(sum, c)->device >= sum->device_count || c->dur_ns < 0 ||
            c->exposed_ns < 0 || (c->step != STK_NONE && c->step >= sum->step_count)) {
            return wrong("collective %u: class %u, step %u, %" PRId64 " ns", i,
                         stk_collective_class_index(c), c->step, (int64_t)c->dur_ns);
        }
    }
    return check_lists(sum->devices, sum->device_count, sum->steps, sum->step_count, sum->causes);
}

const char *stk_run_sum_check(const struct stk_run_sum *run)
{
    if (run->scope > STK_SCOPE_HOST ||
        (run->median_step != STK_NONE && run->median_step >= run->step_count)) {
        return wrong("scope %d, median step %u of %u", (int)run->scope, run->median_step,
                     run->step_count);
    }
    if (run->step_median_ns < -1 || run->step_p95_ns < -1 || run->step_mean_ns < -1 ||
        (run->step_p95_ns >= 0 && run->step_p95_ns < run->step_median_ns)) {
        return wrong("steps: median %" PRId64 " ns, p95%" PRId64, run->step_median_ns,
                     run->step_p95_ns);
    }
    const char *text = stk_parts_check(run->parts, run->wall_ns);
    return text ? text
                : check_lists(run->devices, run->device_count, run->steps, run->step_count,
                              run->causes);
}
