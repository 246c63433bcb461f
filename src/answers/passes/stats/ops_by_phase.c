// SPDX-License-Identifier: Apache-2.0
// Operations by the phase of a training step: input, forward, loss, backward, communication,
// optimizer. Recognized by names (profile/model/phases.def): TensorFlow's paths and types,
// PyTorch's autograd nodes, losses and optimizer ranges around an operator, JAX's jvp and transpose
// in what a device's row records. Any other operation of the model is forward if the profile has a
// backward pass or an optimizer; otherwise its phase is unknown. Eager operations of TensorFlow
// have the same names in both passes, so only their type decides.
// Limits: a loop's own arithmetic on gradients and weights, without an optimizer, counts as
// forward; so do metrics. An XLA executable on the host has no phase, nor does work that JAX's row
// puts neither in jvp nor in transpose (such as the optimizer).
#include <string.h>

#include "profile/model/phase_names.h"
#include "answers/passes/stats/stats_ops_by.h"

#define MEMO_DONE (1u << STK_PHASES) // a name was checked: the lower bits are its phases
_Static_assert(STK_PHASES <= 7, "a bit a phase, and that of MEMO_DONE, fit in a byte");

static uint8_t phases_of(struct stk_op_around *around, uint32_t event)
{
    const struct stk_trace *t = around->view->t;
    uint8_t *memo = &around->memo[t->name[event]];
    if (*memo == 0) {
        *memo = (uint8_t)(MEMO_DONE | stk_phases_of_name(stk_name_of(t, event)));
    }
    return (uint8_t)(*memo & ~MEMO_DONE);
}

static struct stk_str first_phase(uint8_t bits)
{
    return stk_str_from(stk_phase_key(stk_phase_first(bits)));
}

// The name in a device operation's own row; empty if it only repeats the host's.
static struct stk_str device_phase(const struct stk_op_around *around, uint32_t event)
{
    const struct stk_trace *t = around->view->t;
    if (t->kind[event] == STK_KIND_COLLECTIVE) {
        return stk_str_from(stk_phase_key(STK_PHASE_COMMUNICATION));
    }
    struct stk_str path = stk_detail_text(t, event, STK_DETAIL_SCOPE);
    if (!path.n) {
        return path;
    }
    uint8_t bits = stk_phases_of_scope(path);
    return first_phase(bits ? bits : stk_phases_of_name(path));
}

static struct stk_str phase_group(struct stk_op_around *around, uint32_t event)
{
    const struct stk_analysis *view = around->view;
    uint32_t classes = stk_class_of(view, event);
    if (stk_kind_is_device_work(view->t->kind[event])) {
        return device_phase(around, event);
    }
    if (view->t->kind[event] == STK_KIND_INPUT ||
        (classes & (STK_NAME_FETCH | STK_NAME_ITERATOR | STK_NAME_PREP)) ||
        stk_phase_is_input_thread(view->t, stk_track_of(view->t, event))) {
        return stk_str_from(stk_phase_key(STK_PHASE_INPUT));
    }
    if (classes & STK_NAME_HOST_COLL) {
        return stk_str_from(stk_phase_key(STK_PHASE_COMMUNICATION));
    }
    uint8_t bits = phases_of(around, event);
    for (uint32_t i = 0; i < around->count; i++) {
        bits |= phases_of(around, around->events[i]);
    }
    if (!bits && (classes & STK_NAME_MODEL_OP) && !(classes & STK_NAME_XLA_RUN) &&
        !stk_phase_is_eager(stk_name_of(view->t, event))) {
        bits = 1u << STK_PHASE_FORWARD;
    }
    return first_phase(bits);
}

// Without a backward pass or an optimizer, a forward pass can't be recognized as such.
static void check_forward(struct stk_ops_by *p)
{
    struct stk_ops_by_group *forward = NULL, *untold = NULL;
    bool trains = false;
    for (size_t i = 0; i < p->count; i++) {
        const char *name = p->rows[i].sums.name;
        trains |= name && (strcmp(name, stk_phase_key(STK_PHASE_BACKWARD)) == 0 ||
                           strcmp(name, stk_phase_key(STK_PHASE_OPTIMIZER)) == 0);
        forward =
            name && strcmp(name, stk_phase_key(STK_PHASE_FORWARD)) == 0 ? &p->rows[i] : forward;
        untold = !name ? &p->rows[i] : untold;
    }
    if (!forward || trains) {
        return;
    }
    forward->sums.name = NULL;
    if (untold) {
        forward->sums.ops += untold->sums.ops;
        forward->sums.self_ns = stk_add_ns(forward->sums.self_ns, untold->sums.self_ns);
        forward->sums.device_ops += untold->sums.device_ops;
        forward->sums.device_ns = stk_add_ns(forward->sums.device_ns, untold->sums.device_ns);
        *untold = p->rows[--p->count];
    }
}

static enum stoker_status phase_see(const struct stk_analysis *view, struct stk_arena *arena,
                                    void **partial, struct stoker_err *err)
{
    enum stoker_status status = stk_ops_by_see(view, phase_group, NULL, arena, partial, err);
    if (status == STOKER_OK) {
        check_forward(*partial);
    }
    return status;
}

static const struct stk_column phase_columns[] = {
    STK_OPS_BY_COLUMNS(stk_ops_by_row, , "phase",
                       "input, forward, loss, backward, communication or optimizer, judging by the "
                       "operation's name and what surrounds it")};
static const struct stk_table_info phase_table =
    STK_TABLE_INFO("phases", "Operations by phase of the step", stk_ops_by_row, phase_columns);

static const struct stk_missing no_phases = {
    "phases of the step", "almost no operation names a backward pass or an optimizer",
    "TensorFlow: run the step as a tf.function with a GradientTape, or Keras fit; PyTorch: record "
    "ProfilerActivity.CPU; JAX: record a GPU, whose events name jvp and transpose"};

static void phase_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    stk_ops_by_describe(ctx, &phase_table, &no_phases, doc);
}

const struct stk_stats stk_ops_by_phase = {
    .name = "phase",
    .question = "Which phases of the step take the time: forward, loss, backward, optimizer?",
    .needs = "operations whose names show their phase",
    .tables = {&phase_table},
    .summary = &stk_ops_keyed_figures,
    .missing = {&no_phases, &stk_ops_keyed_missing},
    .hook = {.see = phase_see, .wants = STK_WANT_SCOPES},
    .describe = phase_describe,
};
