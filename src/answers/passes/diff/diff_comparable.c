// SPDX-License-Identifier: Apache-2.0
// Do the two sides measure the same thing?
// The comparison is refused if the step's time isn't the same quantity: other devices, another
// number of them, another framework, host steps on one side and device steps on the other,
// completely different work, no steps at all. Facts that may influence it are named, and lower the
// confidence.
#include <string.h>

#include "base/assert.h"
#include "profile/model/device/kernel_names.h"
#include "answers/passes/diff/diff_impl.h"
#include "answers/passes/run_names.h"

#define MAX_REASONS 16
#define MAX_MODELS 16
#define FEW_STEPS 5         // with fewer the interval means little
#define COUNTS_APART 4      // times as many steps: perhaps another phase of the run was recorded
#define SAME_WORK 0.5       // share of kernel time in common names; below it a remark
#define OTHER_WORK 0.1      // below it, for kernels and operations: another program
#define PRECISION_FROM 0.05 // of the kernel time, in kernels whose name has a precision

struct judge {
    struct stk_diff_work *w;
    struct stk_diff_reason *rows;
    size_t count;
    bool refuses, failed;
};

static void comparable_add(struct judge *j, const char *id, bool refuses, const char *text,
                           const char *a, const char *b)
{
    if (j->count == MAX_REASONS) {
        return;
    }
    j->rows[j->count++] =
        (struct stk_diff_reason){.id = id, .refuses = refuses, .text = text, .a = a, .b = b};
    j->refuses |= refuses;
}

static const char *comparable_number(struct judge *j, uint64_t n, const char *one, const char *many)
{
    char *text =
        stk_arena_printf(j->w->arena, "%llu %s", (unsigned long long)n, n == 1 ? one : many);
    j->failed |= !text;
    return text;
}

static uint32_t frameworks_of(const struct stk_diff_work *w, int side)
{
    return w->in[side]->pass->run->facts.frameworks & ((1u << STK_FW_COUNT) - 1);
}

// Names the precision of matrix products and convolutions, which matter most for it.
static void name_precision(const struct stk_run_sum *run, struct stk_diff_side *out)
{
    const char *names[MAX_MODELS] = {NULL};
    int64_t ns[MAX_MODELS] = {0}, all_ns = 0;
    size_t n = 0, best = 0;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct stk_diff_partial *p = run->ranks[r]->partial;
        for (uint32_t i = 0; p && i < p->kernels->row_count; i++) {
            const struct stk_kernel_row *k = &p->kernels->rows[i];
            struct stk_kernel_traits t = stk_kernel_traits_of(stk_str_from(k->name));
            size_t at = 0;
            all_ns += k->total_ns;
            if (!t.precision || t.tensor_core == STK_TENSOR_NO) {
                continue;
            }
            while (at < n && strcmp(names[at], t.precision) != 0) {
                at++;
            }
            if (at == MAX_MODELS) {
                continue;
            }
            names[at] = t.precision;
            ns[at] += k->total_ns;
            n = at == n ? n + 1 : n;
        }
    }
    for (size_t i = 1; i < n; i++) {
        best = ns[i] > ns[best] ? i : best;
    }
    if (n && (double)ns[best] >= PRECISION_FROM * (double)all_ns) {
        out->precision = names[best];
    }
}

bool stk_diff_facts_make(struct stk_diff_work *w, int side)
{
    STK_ASSERT(side == 0 || side == 1);
    const struct stk_run_sum *run = w->in[side]->pass->run;
    struct stk_diff_side *out = stk_diff_side_of(w, side);
    out->ranks = run->rank_count;
    name_precision(run, out);
    return stk_run_devices(run, w->arena, &out->device, &out->devices) &&
           stk_run_frameworks(run, w->arena, &out->framework);
}

static bool differ(const char *a, const char *b)
{
    return a && b && strcmp(a, b) != 0;
}

static int32_t world_of(const struct stk_diff_work *w, int side)
{
    const struct stk_run_sum *run = w->in[side]->pass->run;
    int32_t world = -1;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        world = run->ranks[r]->world_size > world ? run->ranks[r]->world_size : world;
    }
    return world;
}

static void judge_machines(struct judge *j)
{
    const struct stk_diff_side *a = &j->w->out->a, *b = &j->w->out->b;
    int32_t wa = world_of(j->w, 0), wb = world_of(j->w, 1);
    uint32_t fa = frameworks_of(j->w, 0), fb = frameworks_of(j->w, 1), plain = 1u << STK_FW_CUDA;
    if (differ(a->scope, b->scope)) {
        comparable_add(j, "scope", true,
                       "one profile has the GPU's steps, the other only the CPU's", a->scope,
                       b->scope);
    }
    if (differ(a->device, b->device)) {
        comparable_add(j, "device", true, "they ran on different devices", a->device, b->device);
    }
    if (wa > 0 && wb > 0 && wa != wb) {
        comparable_add(j, "world-size", true, "the jobs had different numbers of ranks",
                       comparable_number(j, (uint64_t)wa, "rank", "ranks"),
                       comparable_number(j, (uint64_t)wb, "rank", "ranks"));
    } else if (a->devices != b->devices) {
        comparable_add(j, "device-count", wa <= 0 || wa != wb,
                       "the profiles have different numbers of devices",
                       comparable_number(j, a->devices, "device", "devices"),
                       comparable_number(j, b->devices, "device", "devices"));
    } else if (a->ranks != b->ranks) {
        comparable_add(j, "rank-count", wa <= 0 || wa != wb,
                       "the profiles have different numbers of ranks",
                       comparable_number(j, a->ranks, "rank", "ranks"),
                       comparable_number(j, b->ranks, "rank", "ranks"));
    }
    if (!(fa & fb) && fa && fb && fa != plain && fb != plain) {
        comparable_add(j, "framework", true, "they use different frameworks", a->framework,
                       b->framework);
    }
}

static void judge_work(struct judge *j)
{
    const struct stk_diff_overlap *o = &j->w->overlap;
    const struct stk_diff_side *a = &j->w->out->a, *b = &j->w->out->b;
    bool known = o->kernels_most >= 0 || o->ops_most >= 0;
    if (known && o->kernels_most < OTHER_WORK && o->ops_most < OTHER_WORK) {
        comparable_add(j, "work", true, "the two jobs share hardly any kernels or operations", NULL,
                       NULL);
    } else if (o->kernels_least >= 0 && o->kernels_least < SAME_WORK) {
        comparable_add(j, "kernels", false,
                       "most kernel time is in kernels that only one of them runs", NULL, NULL);
    }
    if (differ(a->precision, b->precision)) {
        comparable_add(j, "precision", false, "their matrix products use different precisions",
                       a->precision, b->precision);
    }
}

static void judge_steps(struct judge *j)
{
    const struct stk_diff_side *a = &j->w->out->a, *b = &j->w->out->b;
    uint64_t few = a->used < b->used ? a->used : b->used;
    uint64_t many = a->used < b->used ? b->used : a->used;
    const char *na = comparable_number(j, a->used, "step", "steps"),
               *nb = comparable_number(j, b->used, "step", "steps");
    if (few == 0) {
        comparable_add(j, "no-steps", true,
                       many ? "one has no usable steps" : "neither has usable steps", na, nb);
        return;
    }
    if (differ(a->source, b->source)) {
        comparable_add(j, "step-source", false, "their steps were found in different ways",
                       a->source, b->source);
    }
    if (few < FEW_STEPS) {
        comparable_add(j, "few-steps", false, "few steps: record 10 or more for each", na, nb);
    } else if (many / few >= COUNTS_APART) {
        comparable_add(j, "step-count", false, "their numbers of steps differ a lot", na, nb);
    }
}

static const char *format_of(const struct stk_diff_side *s)
{
    const struct stk_rep_input *in = s->profile.inputs.items;
    return s->profile.inputs.count ? in[0].format : NULL;
}

static void judge_captures(struct judge *j)
{
    const struct stk_diff_side *a = &j->w->out->a, *b = &j->w->out->b;
    enum stk_verdict_kind va = a->verdict.kind, vb = b->verdict.kind;
    bool pa = j->w->in[0]->pass->run->facts.has_python;
    bool pb = j->w->in[1]->pass->run->facts.has_python;
    if (va == STK_VERDICT_CANNOT_TELL || vb == STK_VERDICT_CANNOT_TELL) {
        comparable_add(j, "cannot-tell", false,
                       "one side's profile doesn't show where the time goes", stk_verdict_key(va),
                       stk_verdict_key(vb));
    }
    if (differ(format_of(a), format_of(b))) {
        comparable_add(j, "format", false, "different profilers recorded them", format_of(a),
                       format_of(b));
    }
    if (pa != pb) {
        comparable_add(j, "python", false,
                       "only one side recorded Python calls, which slows the CPU",
                       pa ? "with Python" : "without", pb ? "with Python" : "without");
    }
}

bool stk_diff_comparable_judge(struct stk_diff_work *w)
{
    struct judge j = {.w = w};
    j.rows = stk_arena_array(w->arena, MAX_REASONS, sizeof *j.rows);
    if (!j.rows) {
        return false;
    }
    judge_machines(&j);
    judge_steps(&j);
    judge_work(&j);
    judge_captures(&j);
    w->out->comparable = (struct stk_diff_comparable){
        .status = j.refuses ? "no"
                  : j.count ? "limited"
                            : "yes",
        .forced = j.refuses && w->force && w->steps[0].count && w->steps[1].count,
        .reasons = {.items = j.rows, .count = j.count},
    };
    return !j.failed;
}
