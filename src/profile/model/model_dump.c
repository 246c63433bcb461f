// SPDX-License-Identifier: Apache-2.0
// Text dumps of what the model derived, for debugging; no program reads them. At most LINES_MAX
// rows of each list, then the count of the rest.
#include <inttypes.h>

#include "profile/model/model_check.h"

#define LINES_MAX 40u

static void more(FILE *to, size_t count)
{
    if (count > LINES_MAX) {
        fprintf(to, "  ... and %zu more\n", count - LINES_MAX);
    }
}

void stk_spans_dump(const struct stk_spans *s, FILE *to)
{
    fprintf(to, "%zu intervals, %" PRId64 " ns in all\n", s->count, stk_spans_total(s));
    for (size_t i = 0; i < s->count && i < LINES_MAX; i++) {
        fprintf(to, "  [%" PRId64 ", %" PRId64 ") %" PRId64 " ns\n", s->v[i].start_ns,
                s->v[i].end_ns, s->v[i].end_ns - s->v[i].start_ns);
    }
    more(to, s->count);
}

void stk_parts_dump(const int64_t *parts, FILE *to)
{
    int64_t sum = 0;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        sum = stk_add_ns(sum, parts[p]);
    }
    for (int p = 0; p < STK_PART_COUNT; p++) {
        if (parts[p]) {
            fprintf(to, "  %-24s %14" PRId64 " ns %5.1f%%\n", stk_part_info((enum stk_part)p)->key,
                    parts[p], sum > 0 ? 100 * (double)parts[p] / (double)sum : 0.0);
        }
    }
    fprintf(to, "  %-24s %14" PRId64 " ns\n", "sum", sum);
}

// The largest part of a step.
static const char *largest(const int64_t *parts)
{
    int most = 0;
    for (int p = 1; p < STK_PART_COUNT; p++) {
        most = parts[p] > parts[most] ? p : most;
    }
    return stk_part_info((enum stk_part)most)->key;
}

void stk_steps_dump(const struct stk_step *steps, uint32_t count, FILE *to)
{
    fprintf(to, "%u rows of steps\n", count);
    for (uint32_t i = 0; i < count && i < LINES_MAX; i++) {
        const struct stk_step *s = &steps[i];
        fprintf(to, "  %u: step %" PRId64 ", rank %d, ", i, s->number, s->rank);
        if (s->device == STK_NONE) {
            fprintf(to, "host");
        } else {
            fprintf(to, "device %u", s->device);
        }
        fprintf(to, ": %" PRId64 " ns + %" PRId64 " ns, mostly %s%s%s\n", s->start_ns, s->dur_ns,
                largest(s->parts), s->excluded ? "; not used: " : "",
                s->excluded ? s->excluded : "");
    }
    more(to, count);
}

void stk_line_dump(const struct stk_device_line *line, FILE *to)
{
    fprintf(to, "device %u of the trace: %u operations, %" PRIu64 " with a launch call\n",
            line->device, line->op_count, line->linked);
    for (int p = 0; p < STK_BUSY_PARTS; p++) {
        fprintf(to, "  %-24s %14" PRId64 " ns\n", stk_part_info((enum stk_part)p)->key,
                stk_spans_total(&line->exposed[p]));
    }
    fprintf(to, "  no step's: [%" PRId64 ", %" PRId64 ")\nbusy: ", line->hole.start_ns,
            line->hole.end_ns);
    stk_spans_dump(&line->busy, to);
}

void stk_gaps_dump(const struct stk_analysis *a, FILE *to)
{
    fprintf(to, "%zu pieces of gaps%s\n", a->gaps.count,
            a->keeps_gaps ? "" : ": they are kept where an analysis asks for them");
    for (size_t i = 0; i < a->gaps.count && i < LINES_MAX; i++) {
        const struct stk_gap_piece *g = stk_vec_at(&a->gaps, i);
        fprintf(to, "  device %u: %" PRId64 " ns + %" PRId64 " ns is %s, event %d inside %d\n",
                g->line, g->start_ns, g->end_ns - g->start_ns,
                stk_part_info((enum stk_part)g->part)->key, (int)g->event, (int)g->around);
    }
    more(to, a->gaps.count);
}

void stk_run_sum_dump(const struct stk_run_sum *run, FILE *to)
{
    static const char *const scopes[] = {"steps", "span", "host"};
    fprintf(to,
            "run: %u ranks, scope %s, %u steps used, median %" PRId64 " ns, wall %" PRId64 " ns\n",
            run->rank_count, (unsigned)run->scope < 3 ? scopes[run->scope] : "?", run->steps_used,
            run->step_median_ns, run->wall_ns);
    stk_parts_dump(run->parts, to);
    for (uint32_t d = 0; d < run->device_count && d < LINES_MAX; d++) {
        const struct stk_device_sum *dev = &run->devices[d];
        fprintf(to, "device %s \"%s\": span %" PRId64 " ns, busy %" PRId64 ", %s\n", dev->id,
                dev->name, dev->span_ns, dev->busy_ns, dev->left_out ? dev->left_out : "analysed");
    }
    more(to, run->device_count);
    stk_steps_dump(run->steps, run->step_count, to);
}
