// SPDX-License-Identifier: Apache-2.0
// The members of a rank's summary, in the order of their structs. Those in summed.def, cause.def
// and step_source.def are coded from these rows, so a new sum needs no line here.
#include "answers/partial/code_rank.h"

#include "base/alloc.h"
#include "profile/model/model_check.h"
#include "profile/store/words.h"

static void code_example(struct stk_code *c, struct stk_example *x)
{
    STK_CODE(c, x->start_ns);
    STK_CODE(c, x->dur_ns);
    STK_CODE(c, x->name);
    STK_CODE(c, x->track);
    STK_CODE(c, x->step);
}

static void code_changed(struct stk_code *c, struct stk_changed *x)
{
    STK_CODE(c, x->name);
    STK_CODE_ARRAY(c, x->types, STK_CHANGED_TYPES);
    STK_CODE(c, x->type_count);
}

static void code_recompiled(struct stk_code *c, struct stk_recompiled *x)
{
    STK_CODE(c, x->name);
    STK_CODE(c, x->function);
    STK_CODE(c, x->count);
    STK_CODE(c, x->later);
    STK_CODE(c, x->ns);
    STK_CODE(c, x->programs);
    STK_CODE(c, x->takes_differ);
    STK_CODE(c, x->changed_count); // of all, also those that aren't kept
    for (int i = 0; i < STK_CHANGED; i++) {
        code_changed(c, &x->changed[i]);
    }
}

static void code_least(struct stk_code *c, const char *name, int64_t *v)
{
    stk_code_maybe(c, name, v, INT64_MAX);
}

// A function per struct of summed.def: code_stk_facts and others.
#define code_stk_example code_example
#define code_stk_recompiled code_recompiled
#define BEGIN(tag)                                                                                 \
    static void code_##tag(struct stk_code *c, struct tag *x)                                      \
    {
#define END(tag) }
#define CODE_AND STK_CODE
#define CODE_FIRST STK_CODE
#define CODE_MAX STK_CODE
#define CODE_OR STK_CODE
#define CODE_SUM STK_CODE
#define CODE_TIME STK_CODE
#define CODE_MIN(c, member)                                                                        \
    _Generic((member), int64_t: code_least, double: stk_code_f64)((c), #member, &(member))
#define MEMBER(operator, type, name) CODE_##operator(c, x->name);
#define ARRAY(operator, type, name, count) STK_CODE_ARRAY(c, x->name, count)
#define FOLLOW(type, name, operator, leader) STK_CODE(c, x->name);
#define FOLLOWS(type, name, count, operator, leader) STK_CODE_ARRAY(c, x->name, count)
#define STRUCT(tag, name) code_##tag(c, &x->name);
#define STRUCTS(tag, name, count)                                                                  \
    for (size_t i = 0; i < (size_t)(count); i++) {                                                 \
        code_##tag(c, &x->name[i]);                                                                \
    }
#define LIST(tag, name, count) STRUCTS(tag, name, count)
#include "profile/model/summed.def"

void stk_code_worker_sum(struct stk_code *c, struct stk_worker_sum *workers)
{
    code_stk_worker_sum(c, workers);
}

static void code_cause_name(struct stk_code *c, struct stk_cause_name *x)
{
    STK_CODE(c, x->name);
    STK_CODE(c, x->ns);
    STK_CODE(c, x->count);
}

static void code_cause(struct stk_code *c, struct stk_cause *x)
{
#include "profile/model/cause.def"
    stk_code_int_below(c, "name_count", &x->name_count, STK_CAUSE_NAMES + 1);
    for (int i = 0; i < STK_CAUSE_NAMES; i++) {
        code_cause_name(c, &x->names[i]);
    }
    stk_code_int_below(c, "example_count", &x->example_count, STK_CAUSE_EXAMPLES + 1);
    for (int i = 0; i < STK_CAUSE_EXAMPLES; i++) {
        code_example(c, &x->examples[i]);
    }
    stk_code_int_below(c, "owner_count", &x->owner_count, STK_CAUSE_OWNERS + 1);
    for (int i = 0; i < STK_CAUSE_OWNERS; i++) {
        code_cause_name(c, &x->owners[i]);
    }
}

static void code_slow_stage(struct stk_code *c, struct stk_slow_stage *x)
{
    STK_CODE(c, x->stage);
    STK_CODE(c, x->kind);
    STK_CODE(c, x->is_pipeline);
    STK_CODE(c, x->is_async);
    STK_CODE(c, x->is_fetch);
    STK_CODE(c, x->is_buffered);
    STK_CODE(c, x->is_taken_apart);
    STK_CODE(c, x->is_windowed);
    STK_CODE(c, x->self_ns);
    STK_CODE(c, x->elements);
    STK_CODE(c, x->parallelism);
    STK_CODE(c, x->share);
    STK_CODE(c, x->next);
    STK_CODE(c, x->next_kind);
    STK_CODE(c, x->next_is_beside);
}

static void code_device(struct stk_code *c, struct stk_device_sum *x)
{
    STK_CODE(c, x->id);
    STK_CODE(c, x->source_id);
    STK_CODE(c, x->name);
    STK_CODE(c, x->host);
    stk_code_below(c, "kind", (uint32_t *)&x->kind, STK_DEVICE_OTHER + 1);
    STK_CODE(c, x->rank);
    STK_CODE(c, x->ordinal);
    STK_CODE(c, x->first_ns);
    STK_CODE(c, x->span_ns);
    STK_CODE(c, x->busy_ns);
    STK_CODE(c, x->idle_ns);
    STK_CODE(c, x->kernel_ns);
    STK_CODE(c, x->compute_ns);
    STK_CODE(c, x->communication_ns);
    STK_CODE(c, x->communication_exposed_ns);
    STK_CODE(c, x->h2d_ns);
    STK_CODE(c, x->d2h_ns);
    STK_CODE(c, x->d2d_ns);
    STK_CODE(c, x->p2p_ns);
    STK_CODE(c, x->transfer_exposed_ns);
    STK_CODE(c, x->kernels);
    STK_CODE(c, x->short_kernels);
    STK_CODE(c, x->copies);
    STK_CODE(c, x->memsets);
    STK_CODE(c, x->linked_ops);
    STK_CODE(c, x->ops);
    STK_CODE(c, x->analysed);
    STK_CODE(c, x->left_out);
    STK_CODE_ARRAY(c, x->parts, STK_PART_COUNT);
    STK_CODE(c, x->wall_ns);
}

static void code_step(struct stk_code *c, struct stk_step *x)
{
    STK_CODE(c, x->number);
    STK_CODE(c, x->rank);
    STK_CODE(c, x->device);
    STK_CODE(c, x->start_ns);
    STK_CODE(c, x->dur_ns);
    STK_CODE(c, x->host_start_ns);
    STK_CODE(c, x->host_dur_ns);
    STK_CODE_ARRAY(c, x->parts, STK_PART_COUNT);
    STK_CODE(c, x->excluded);
    STK_CODE(c, x->is_warm_up);
    STK_CODE(c, x->long_why);
}

static void code_class(struct stk_code *c, struct stk_collective_class *x)
{
    STK_CODE(c, x->name);
    STK_CODE(c, x->group);
    STK_CODE(c, x->bytes);
    STK_CODE(c, x->group_size);
    STK_CODE(c, x->members_hash);
    STK_CODE(c, x->series);
    STK_CODE(c, x->device);
    STK_CODE(c, x->kind);
}

static void code_series(struct stk_code *c, struct stk_collective_series *x)
{
    STK_CODE(c, x->name_hash);
    STK_CODE(c, x->group_hash);
    STK_CODE(c, x->device);
    STK_CODE(c, x->count);
}

// Starts and steps follow each other closely, and much of a collective is exposed, so differences
// are small: about 12 bytes in all, before packing.
static void code_collectives(struct stk_code *c, struct stk_collective **list, uint32_t *count)
{
    uint64_t last_ns = 0;
    uint32_t last_step = 0;
    *list = stk_code_list(c, "collectives", *list, count, sizeof **list);
    for (uint32_t i = 0; i < *count && !c->failed; i++) {
        struct stk_collective *x = &(*list)[i];
        int64_t start = (int64_t)((uint64_t)x->start_ns - last_ns), dur = x->dur_ns;
        int64_t hidden = x->dur_ns - x->exposed_ns;
        int32_t step = (int32_t)(x->step - last_step);
        uint32_t class = stk_collective_class_index(x);
        stk_code_date(c, "start", &start);
        STK_CODE(c, dur);
        STK_CODE(c, hidden);
        STK_CODE(c, step);
        STK_CODE(c, class);
        if (c->mode == STK_CODE_READ) {
            c->failed |= dur < 0 || dur > STK_COLLECTIVE_NS_MAX || hidden < 0 || hidden > dur;
            x->start_ns = (int64_t)((uint64_t)start + last_ns);
            c->failed |= x->start_ns > STK_CODE_DATE_MOST || x->start_ns < -STK_CODE_DATE_MOST;
            x->dur_ns = c->failed ? 0 : dur;
            x->exposed_ns = c->failed ? 0 : dur - hidden;
            x->step = (uint32_t)step + last_step;
            stk_collective_set_class(x, class);
        }
        last_ns = (uint64_t)x->start_ns;
        last_step = x->step;
    }
}

#define LIST_OF(c, items, count, code_item)                                                        \
    do {                                                                                           \
        (items) = stk_code_list((c), #items, (items), &(count), sizeof *(items));                  \
        for (uint32_t i_ = 0; i_ < (count) && !(c)->failed; i_++) {                                \
            code_item((c), &(items)[i_]);                                                          \
        }                                                                                          \
    } while (0)

void stk_code_rank(struct stk_code *c, struct stk_rank_sum *x)
{
    STK_CODE(c, x->rank);
    STK_CODE(c, x->world_size);
    STK_CODE(c, x->host);
    stk_code_date(c, "base_ns", &x->base_ns);
    LIST_OF(c, x->devices, x->device_count, code_device);
    stk_code_below(c, "source", (uint32_t *)&x->source, STK_STEPS_INFERRED + 1);
    STK_CODE(c, x->confidence);
    STK_CODE(c, x->step_marks);
    LIST_OF(c, x->steps, x->step_count, code_step);
    LIST_OF(c, x->collective_classes, x->collective_class_count, code_class);
    LIST_OF(c, x->collective_series, x->collective_series_count, code_series);
    code_collectives(c, &x->collectives, &x->collective_count);
    code_collectives(c, &x->host_collectives, &x->host_collective_count);
    for (int i = 0; i < STK_PART_COUNT; i++) {
        code_cause(c, &x->causes[i]);
    }
    code_stk_facts(c, &x->facts);
    code_slow_stage(c, &x->slow_stage);
    STK_CODE(c, x->host_scope);
    STK_CODE(c, x->cold_ns);
    STK_CODE(c, x->devices_left_out);
    STK_CODE(c, x->steps_left_out);
}

static bool is_of(uint32_t index, uint32_t count)
{
    return index < count || index == STK_NONE;
}

static bool classes_are_sound(const struct stk_rank_sum *r)
{
    for (uint32_t i = 0; i < r->collective_class_count; i++) {
        const struct stk_collective_class *k = &r->collective_classes[i];
        if (!k->name || k->group_size < 0 || k->kind >= STK_COLLECTIVE_COUNT ||
            k->series >= r->collective_series_count || !is_of(k->device, r->device_count) ||
            k->device != r->collective_series[k->series].device) {
            return false;
        }
    }
    return true;
}

// Collectives are numbered within their series in list order, so numbers aren't stored.
static bool number(struct stk_rank_sum *r, struct stk_collective *list, uint32_t count,
                   bool on_host, uint32_t *seen)
{
    for (uint32_t i = 0; i < count; i++) {
        struct stk_collective *x = &list[i];
        if (stk_collective_class_index(x) >= r->collective_class_count ||
            !is_of(x->step, r->step_count)) {
            return false;
        }
        const struct stk_collective_class *k = stk_collective_class_of(r, x);
        if ((k->device == STK_NONE) != on_host ||
            seen[k->series] >= r->collective_series[k->series].count) {
            return false;
        }
        x->ordinal = seen[k->series]++;
    }
    return true;
}

static bool collectives_are_sound(struct stk_rank_sum *r)
{
    uint32_t *seen = stk_alloc_zero((size_t)r->collective_series_count + 1, sizeof *seen);
    bool ok = seen && classes_are_sound(r) &&
              number(r, r->collectives, r->collective_count, false, seen) &&
              number(r, r->host_collectives, r->host_collective_count, true, seen);
    for (uint32_t i = 0; i < r->collective_series_count && ok; i++) {
        ok = seen[i] == r->collective_series[i].count;
    }
    stk_free(seen);
    return ok;
}

// What limits, and its neighbor on the same thread, are of a kind.
static bool is_stage_sound(const struct stk_slow_stage *s)
{
    return (!s->stage || s->kind) && (!s->next || s->next_kind) && s->self_ns >= 0;
}

// The order of steps is checked among those of one rank, and a rank's number may change later.
static bool are_of_rank(const struct stk_rank_sum *r)
{
    for (uint32_t i = 0; i < r->step_count; i++) {
        if (r->steps[i].rank != r->rank) {
            return false;
        }
    }
    return true;
}

bool stk_rank_is_sound(struct stk_rank_sum *r)
{
    for (uint32_t i = 0; i < r->device_count; i++) {
        const struct stk_device_sum *d = &r->devices[i];
        if (!d->id || !d->source_id || !d->name || !d->host) {
            return false;
        }
    }
    return stk_facts_are_sound(&r->facts) && is_stage_sound(&r->slow_stage) &&
           collectives_are_sound(r) && are_of_rank(r) && !stk_rank_sum_check(r);
}
