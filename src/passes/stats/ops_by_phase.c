// SPDX-License-Identifier: Apache-2.0
// Operations by the phase of a training step: input, forward, loss, backward, communication,
// optimizer. Told by names (phases.def): TensorFlow's paths and types, PyTorch's autograd nodes,
// losses and optimizer ranges around an operator, JAX's jvp and transpose in what a device's row
// records. An operation of the model that nothing else is said of is forward, where the profile
// shows a backward pass or an optimizer at all; elsewhere its phase is not known. What TensorFlow
// runs eagerly has the same names in both passes: it is told by its type alone.
// Limits: arithmetic that a loop does by itself on gradients and weights, without an optimizer,
// counts as forward; so do metrics. What an XLA executable does on the host has no phase, nor has
// what JAX's row puts into neither jvp nor transpose (the optimizer among it).
#include <string.h>

#include "passes/stats/stats_ops_by.h"
#include "store/tf_name.h"

enum phase { NOT_TOLD, INPUT, COMMUNICATION, OPTIMIZER, BACKWARD, LOSS, FORWARD, PHASES };
static const char *const phase_keys[PHASES] = {
    [NOT_TOLD] = "",           [INPUT] = "input",       [COMMUNICATION] = "communication",
    [OPTIMIZER] = "optimizer", [BACKWARD] = "backward", [LOSS] = "loss",
    [FORWARD] = "forward"};

enum where { WHERE_PART, WHERE_TYPE, WHERE_HOST, WHERE_SCOPE };
enum how { HOW_IS, HOW_STARTS, HOW_ENDS, HOW_HAS, HOW_ENDS_NUMBERED };
static const struct phase_word {
    struct stk_str pattern;
    uint8_t phase, where, how;
} phase_words[] = {
#define F(phase, where, how, pattern)                                                              \
    {{pattern, sizeof pattern - 1}, phase, WHERE_##where, HOW_##how},
#include "passes/stats/phases.def"
#undef F
};
#define MEMO_DONE (1u << PHASES) // a name was looked at: the bits below are its phases
_Static_assert(PHASES <= 7, "a bit a phase, and that of MEMO_DONE, fit in a byte");

static bool matches(const struct phase_word *w, struct stk_str s)
{
    switch (w->how) {
    case HOW_IS:
        return stk_str_eq(s, w->pattern);
    case HOW_STARTS:
        return stk_str_starts(s, w->pattern);
    case HOW_ENDS:
        return stk_str_ends(s, w->pattern);
    case HOW_ENDS_NUMBERED:
        while (s.n && s.p[s.n - 1] >= '0' && s.p[s.n - 1] <= '9') {
            s.n--;
        }
        return stk_str_ends(s, w->pattern);
    default:
        return stk_str_contains(s, w->pattern);
    }
}

static uint8_t phases_said(enum where where, struct stk_str s)
{
    uint8_t bits = 0;
    for (size_t i = 0; i < sizeof phase_words / sizeof *phase_words; i++) {
        if (phase_words[i].where == where && s.n && matches(&phase_words[i], s)) {
            bits |= (uint8_t)(1u << phase_words[i].phase);
        }
    }
    return bits;
}

// A part of a path in lower case, without the number that makes it unlike another.
static uint8_t part_phases(struct stk_str part)
{
    char text[64];
    size_t n = part.n;
    while (n && part.p[n - 1] >= '0' && part.p[n - 1] <= '9') {
        n--;
    }
    n = n && n < part.n && part.p[n - 1] == '_' ? n - 1 : part.n;
    if (n > sizeof text) {
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        char c = part.p[i];
        text[i] = c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
    }
    return phases_said(WHERE_PART, (struct stk_str){text, n});
}

static uint8_t path_phases(struct stk_str path)
{
    uint8_t bits = 0;
    for (size_t i = 0; i < path.n;) {
        const char *slash = memchr(path.p + i, '/', path.n - i);
        size_t end = slash ? (size_t)(slash - path.p) : path.n;
        bits |= part_phases((struct stk_str){path.p + i, end - i});
        i = end + 1;
    }
    return bits;
}

static const struct stk_str eager = {"EagerLocalExecute: ", 19};

static uint8_t name_phases(struct stk_str name)
{
    struct stk_tf_name tf = stk_tf_name_parse(name);
    if (stk_str_starts(name, eager)) {
        return phases_said(WHERE_TYPE, (struct stk_str){name.p + eager.n, name.n - eager.n});
    }
    return tf.type.n ? path_phases(tf.path) | phases_said(WHERE_TYPE, tf.type)
                     : phases_said(WHERE_HOST, name);
}

static uint8_t phases_of(struct stk_op_around *around, uint32_t event)
{
    const struct stk_trace *t = around->view->t;
    uint8_t *memo = &around->memo[t->name[event]];
    if (*memo == 0) {
        *memo = (uint8_t)(MEMO_DONE | name_phases(stk_name_of(t, event)));
    }
    return (uint8_t)(*memo & ~MEMO_DONE);
}

static struct stk_str first_phase(uint8_t bits)
{
    int phase = INPUT;
    while (phase < PHASES && !(bits >> phase & 1)) {
        phase++;
    }
    return stk_str_from(phase_keys[phase < PHASES ? phase : NOT_TOLD]);
}

// What a device operation's own row says; nothing where it only repeats the host's.
static struct stk_str device_phase(const struct stk_op_around *around, uint32_t event)
{
    const struct stk_trace *t = around->view->t;
    if (t->kind[event] == STK_KIND_COLLECTIVE) {
        return stk_str_from(phase_keys[COMMUNICATION]);
    }
    struct stk_str path = stk_detail_text(t, event, STK_DETAIL_SCOPE);
    if (!path.n) {
        return path;
    }
    // Scopes of the backward pass name the forward one, and the loss, that they are of.
    uint8_t bits = phases_said(WHERE_SCOPE, path);
    return first_phase(bits ? bits : name_phases(path));
}

static struct stk_str phase_group(struct stk_op_around *around, uint32_t event)
{
    const struct stk_analysis *view = around->view;
    uint32_t classes = stk_class_of(view, event);
    if (stk_kind_is_device_work(view->t->kind[event])) {
        return device_phase(around, event);
    }
    if (view->t->kind[event] == STK_KIND_INPUT ||
        (classes & (STK_NAME_FETCH | STK_NAME_ITERATOR | STK_NAME_PREP))) {
        return stk_str_from(phase_keys[INPUT]);
    }
    if (classes & STK_NAME_HOST_COLL) {
        return stk_str_from(phase_keys[COMMUNICATION]);
    }
    uint8_t bits = phases_of(around, event);
    for (uint32_t i = 0; i < around->count; i++) {
        bits |= phases_of(around, around->events[i]);
    }
    if (!bits && (classes & STK_NAME_MODEL_OP) && !(classes & STK_NAME_XLA_RUN) &&
        !stk_str_starts(stk_name_of(view->t, event), eager)) {
        bits = 1u << FORWARD;
    }
    return first_phase(bits);
}

// Without a backward pass or an optimizer nothing tells a training step's forward pass.
static void check_forward(struct stk_ops_by *p)
{
    struct stk_ops_by_group *forward = NULL, *untold = NULL;
    bool trains = false;
    for (size_t i = 0; i < p->count; i++) {
        const char *name = p->rows[i].sums.name;
        trains |= name && (strcmp(name, phase_keys[BACKWARD]) == 0 ||
                           strcmp(name, phase_keys[OPTIMIZER]) == 0);
        forward = name && strcmp(name, phase_keys[FORWARD]) == 0 ? &p->rows[i] : forward;
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

static const struct stk_column phase_columns[] = {STK_OPS_BY_COLUMNS(
    stk_ops_by_row, , "phase",
    "input, forward, loss, backward, communication, optimizer, as the operations' names and what "
    "is around them tell; not known where they do not")};
static const struct stk_table_info phase_table =
    STK_TABLE_INFO("phases", "Operations by phase of the step", stk_ops_by_row, phase_columns);

static const struct stk_missing no_phases = {
    "phases of the step", "hardly any operation tells a backward pass or an optimizer",
    "TensorFlow: run the step as a tf.function with a GradientTape, or Keras fit; PyTorch: record "
    "ProfilerActivity.CPU; JAX: a profile of a device, whose rows record jvp and transpose"};

static enum stoker_status phase_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc,
                                         struct stoker_err *err)
{
    return stk_ops_by_describe(ctx, &phase_table, &no_phases, doc, err);
}

const struct stk_stats stk_ops_by_phase = {
    .name = "phase",
    .question = "Which phases of the step take the time: forward, loss, backward, optimizer?",
    .needs = "operations whose names tell their phase",
    .tables = {&phase_table},
    .summary = &stk_ops_keyed_figures,
    .missing = {&no_phases, &stk_ops_keyed_missing},
    .hook = {.see = phase_see, .wants = STK_WANT_SCOPES},
    .describe = phase_describe,
};
